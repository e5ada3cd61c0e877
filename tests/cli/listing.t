#!/bin/sh
# listing: which skills the clients list, and which are for searches alone. [G4].
. "$(dirname "$0")/../lib/cli.sh"

s=$T/src
U=https://github.com/acme/cat/tree/main
for name in pdf csv aws-ec2 aws-login; do
    skill "$s/skills/$name" 'scope: acme'
done
skill "$s/skills/uses" 'scope: acme' 'dependencies:' '  skills:' "    - $U/skills/aws-ec2"
skill "$s/skills/ask" 'scope: acme'
cat >"$s/skills/ask/SKILL.star" <<'STAR'
def run(input):
    return "it ran"
STAR
agent "$s/agents/helper" 'scope: acme'
make_repo acme/cat "$s"
start_githost

LISTED=.agents/skills
SEARCHED=.agents/.mapm/skills

json()
{
    printf '%s\n' "$out" | python3 -S -c "import json, sys; d = json.load(sys.stdin); print($1)"
}
# listing TEXT: the first line of mapm.yaml.
listing()
{
    sed -i '/^listing:/d' mapm.yaml
    [ -z "$1" ] || sed -i "1i listing: $1" mapm.yaml
}
# in_folder FOLDER: the names there.
in_folder()
{
    ls "$1" 2>/dev/null | tr '\n' ' ' | sed 's/ $//'
}
start()
{
    rm -rf "$T/ws" && mkdir -p "$T/ws/.claude" && cd "$T/ws" || exit 1
    mapm install --yes acme/cat "$@" >/dev/null 2>&1
}

# --- the words ---------------------------------------------------------------------

for text in search client '{search: ["aws-*"]}' '{search: [pdf, acme/csv]}' '{client: [pdf]}' \
    '{search: ["acme/*"], client: [pdf]}'; do
    rm -rf "$T/words" && mkdir "$T/words"
    echo "listing: $text" >"$T/words/mapm.yaml"
    exits "mapm.yaml accepts listing: $text" 0 mapm -C "$T/words" list
done
for text in none '' '[search]' '{}' '{search: aws}' '{search: [""]}' '{find: [x]}' '{search: ["../x"]}' \
    '{search: ["a b"]}' '{search: [Pdf]}' '{search: ["skill a*"]}' '{client: [3]}' 'true'; do
    echo "listing: $text" >"$T/words/mapm.yaml"
    run mapm -C "$T/words" list
    isnt "\"$text\" is refused" "$status" 0
    like 'the error of an invalid listing names the line' "$err" 'mapm\.yaml:1:'
done
echo 'listing: search' >"$T/words/mapm.local.yaml" && echo >"$T/words/mapm.yaml"
exits 'listing in mapm.local.yaml is refused' 1 mapm -C "$T/words" list

# --- all ---------------------------------------------------------------------------

start --all
is 'install without listing puts all skills into the folder of clients' "$(in_folder $LISTED)" 'ask aws-ec2 aws-login csv pdf uses'
exits 'budget --json succeeds before listing changes' 0 mapm budget --json
before=$(json '[c["sent_chars"] for c in d["clients"] if c["name"] == "claude"][0]')
cp mapm.lock "$T/lock"
listing search
exits 'verify exits with 3 after a change of listing before the install' 3 mapm verify
like 'verify names a skill that is missing in the folder for searches' "$out$err" "$SEARCHED/pdf"
unlike 'verify does not report a package outside of the lock' "$out$err" 'not in the lock'
exits 'install with listing: search succeeds' 0 mapm install
like 'install reports each skill that moves as search only' "$out" '~ skill acme/pdf 1\.0\.0 .*\(search only\)'
like 'install warns that no client lists the skills and suggests --with-server' "$err" '6 skills are in no client.s list.*--with-server'
is 'the warning appears once' "$(printf '%s\n' "$err" | grep -c 'no client')" 1
unlike 'install with listing: search reports no removal' "$out" '^ *- '
is '[F13] listing: search leaves mapm.lock unchanged' "$(cat mapm.lock)" "$(cat "$T/lock")"
not_ok 'listing: search leaves no folder of skills for clients' test -e $LISTED
is 'listing: search leaves no links to skills for the client' "$(in_folder .claude/skills)" ''
is 'listing: search keeps agents in their folder' "$(in_folder .agents/agents)" helper
is 'listing: search puts all skills into the folder for searches' "$(in_folder $SEARCHED)" 'ask aws-ec2 aws-login csv pdf uses'
exits 'a second install with listing: search succeeds' 0 mapm install
like 'a second install with listing: search reports nothing to do' "$err" 'nothing to do'
unlike 'a second install does not repeat the warning' "$err" 'no client'
exits 'verify succeeds with listing: search' 0 mapm verify
exits 'list succeeds with listing: search' 0 mapm list
like 'list marks a skill as search only' "$out" 'skill acme/pdf .*\(search only\)'
unlike 'list does not mark an agent as search only' "$out" 'agent .*search only'
exits 'list --json succeeds with listing: search' 0 mapm list --json
is 'list --json shows path and listing of a skill' "$(json '[(p["path"], p["listing"]) for p in d["packages"] if p["name"] == "acme/pdf"]')" \
    "[('$SEARCHED/pdf', 'search')]"
exits 'doctor succeeds with listing: search' 0 mapm doctor
like 'doctor reports the skills that no client lists' "$out" 'listing .*6 skills'
exits 'budget --json succeeds with listing: search' 0 mapm budget --json
saved='[(c["search_only"], c["sent_chars"] + c["saved_chars"], c["saved_tokens"] == c["saved_chars"] // 4) for c in d["clients"] if c["name"] == "claude"]'
is 'budget --json shows the saved characters and tokens' "$(json "$saved")" "[(6, $before, True)]"
exits 'budget succeeds with listing: search' 0 mapm budget
like 'budget shows what the skills for searches save' "$out" 'without 6 skills for searches only, which saves [0-9]+ characters \([0-9]+ tokens\)'

exits 'skill search succeeds with listing: search' 0 mapm skill search pdf
like 'skill search finds a skill that no client lists' "$out" 'pdf'
exits 'skill show succeeds for a skill that no client lists' 0 mapm skill show pdf
exits 'skill load succeeds for a skill that no client lists' 0 mapm skill load pdf
exits 'skill list succeeds with listing: search' 0 mapm skill list
like 'skill list has the skills that no client lists' "$out" 'aws-login'
exits 'trust succeeds for a metaskill that no client lists' 0 mapm trust --yes acme/ask
exits 'run by name succeeds for a metaskill that no client lists' 0 mapm run acme/ask --input '{}'
like 'run prints the answer of a metaskill that no client lists' "$out" 'it ran'
exits 'run by path succeeds for a metaskill that no client lists' 0 mapm run ./$SEARCHED/ask --input '{}'
python3 -S - "$ROOT/tests/lib" "$MAPM" >"$T/mcp" 2>&1 <<'PYTHON'
import json, subprocess, sys
def talk(calls):
    lines = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-06-18",
              "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}},
             {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    lines += [{"jsonrpc": "2.0", "id": i + 1, **c} for i, c in enumerate(calls)]
    p = subprocess.run([sys.argv[2], "mcp"], input="".join(json.dumps(x) + "\n" for x in lines), text=True,
                       stdout=subprocess.PIPE)
    got = {m["id"]: m for m in map(json.loads, p.stdout.splitlines()) if "id" in m}
    return [got[i + 1]["result"] for i in range(len(calls))]
def run(call):
    return talk([call])[0]
def ask(*calls):
    calls = [{"method": "tools/call", "params": {"name": n, "arguments": a}} for n, a in calls]
    return [r["content"][0]["text"] for r in talk(calls)]
found, loaded = ask(("skill_search", {"query": "aws ec2"}), ("skill_load", {"name": "aws-ec2"}))
everything = run({"method": "skills/list", "params": {}})["skills"]
print(" ".join(sorted(x["frontmatter"]["name"] for x in everything)))
print("found" if "aws-ec2" in found else found)
print("loaded" if "aws-ec2" in loaded else loaded)
PYTHON
is 'mapm mcp lists, finds and loads skills that no client lists' "$(cat "$T/mcp")" \
    "$(printf 'ask aws-ec2 aws-login csv pdf uses\nfound\nloaded')"

exits 'install --with-server succeeds with listing: search' 0 mapm install --with-server
exits 'doctor succeeds with the server' 0 mapm doctor
like 'doctor reports the listing as ok with the server' "$out" 'ok +listing +6 skills for searches only'
exits 'verify succeeds with the server' 0 mapm verify

# --- by name -----------------------------------------------------------------------

listing '{search: ["aws-*", acme/csv], client: [aws-login]}'
exits 'install with patterns under search and client succeeds' 0 mapm install
like 'install reports a skill that moves back as listed by clients' "$out" '~ skill acme/pdf 1\.0\.0 .*\(listed by clients\)'
is 'skills that no search pattern matches are in the folder of clients' "$(in_folder $LISTED)" 'ask aws-login pdf uses'
is 'the client has links to the listed skills alone' "$(in_folder .claude/skills)" 'ask aws-login pdf uses'
is 'skills that a search pattern matches are in the folder for searches' "$(in_folder $SEARCHED)" 'aws-ec2 csv'
exits 'verify succeeds with patterns' 0 mapm verify
listing '{client: [pdf]}'
exits 'install with a pattern under client alone succeeds' 0 mapm install
is 'a pattern under client alone lists the matching skills alone' "$(in_folder $LISTED)" pdf
listing client
exits 'install with listing: client succeeds' 0 mapm install
not_ok 'listing: client leaves no folder for searches' test -e $SEARCHED
ok 'listing: client keeps the record of mapm' test -f .agents/.mapm/state
is '[F13] changes of listing leave mapm.lock unchanged' "$(cat mapm.lock)" "$(cat "$T/lock")"

# --- edits, diff, restore, patches, remove ------------------------------------------

listing search
mapm install >/dev/null 2>&1
echo 'An edit.' >>$SEARCHED/pdf/SKILL.md
exits 'verify exits with 3 for an edited skill for searches' 3 mapm verify
like 'verify names the edited file in the folder for searches' "$out$err" "$SEARCHED/pdf/SKILL.md"
run mapm diff
like 'diff names the edited file in the folder for searches' "$out" "$SEARCHED/pdf/SKILL.md"
like 'diff shows the edit as a patch' "$out" '^\+An edit\.'
cp -r . "$T/edited"
exits 'restore of a skill for searches succeeds' 0 mapm restore acme/pdf
unlike 'restore removes the edit from the skill for searches' "$(cat $SEARCHED/pdf/SKILL.md)" 'An edit\.'
exits 'verify succeeds after the restore' 0 mapm verify
echo 'An edit.' >>$SEARCHED/pdf/SKILL.md
listing client
exits 'install fails when a change of listing would move an edited skill' 1 mapm install
like 'the error names the edited file' "$err" "$SEARCHED/pdf/SKILL.md was changed"
ok 'a refused change of listing moves no skill' test -f $SEARCHED/csv/SKILL.md
listing search
exits 'patch of a skill for searches succeeds' 0 mapm patch acme/pdf
ok 'patch writes a patch file for a skill for searches' test -f .mapm/patches/skill-acme__pdf.patch
listing client
exits 'install with listing: client moves a patched skill' 0 mapm install
like 'the patched skill keeps its edit in the folder of clients' "$(cat $LISTED/pdf/SKILL.md)" 'An edit\.'
exits 'verify succeeds with the patched skill in the folder of clients' 0 mapm verify
listing search
exits 'install with listing: search moves the patched skill back' 0 mapm install
like 'the patched skill keeps its edit in the folder for searches' "$(cat $SEARCHED/pdf/SKILL.md)" 'An edit\.'
cd "$T/edited" || exit 1
listing client
exits 'install --force with an edited skill for searches succeeds' 0 mapm install --force
like 'install --force keeps a copy of the edited skill' "$(cat .agents/.mapm/backup/*/$SEARCHED/pdf/SKILL.md)" 'An edit\.'
unlike 'install --force moves the unedited skill to the folder of clients' "$(cat $LISTED/pdf/SKILL.md)" 'An edit\.'
listing search
mapm install >/dev/null 2>&1
rm $SEARCHED/csv/SKILL.md
exits 'install succeeds after a file of a skill for searches was deleted' 0 mapm install
ok 'install brings back the deleted file' test -f $SEARCHED/csv/SKILL.md
exits 'remove of a skill for searches succeeds' 0 mapm remove acme/csv
not_ok 'remove deletes the folder of the skill for searches' test -e $SEARCHED/csv
like 'remove names the removed skill' "$out" '- skill acme/csv'
rm -rf .agents
exits 'install succeeds after .agents was deleted' 0 mapm install
is 'install puts the locked skills into the folder for searches again' "$(in_folder $SEARCHED)" 'ask aws-ec2 aws-login pdf uses'

# --- update ----------------------------------------------------------------------------

start --skill pdf
listing search
mapm install >/dev/null 2>&1
echo 'The next version.' >>"$s/skills/pdf/SKILL.md"
make_repo acme/cat "$s"
exits 'update of a skill for searches succeeds' 0 mapm update
like 'update changes the skill in the folder for searches' "$(cat $SEARCHED/pdf/SKILL.md)" 'The next version\.'
like 'update reports the skill as search only' "$out" '~ skill acme/pdf .*\(search only\)'
unlike 'update does not repeat the warning that no client lists the skills' "$err" 'no client'
not_ok 'update does not put the skill into the folder of clients' test -e $LISTED/pdf
echo '{"mcpServers": {}}' >.mcp.json
exits 'remove of the last skill for searches succeeds' 0 mapm remove acme/pdf
not_ok 'remove of the last skill deletes the folder .agents' test -e .agents

# --- packages of the workspace, and the user's --------------------------------------

start --skill pdf
skill skills/ours
skill $LISTED/mine
listing search
exits 'install of a skill of the workspace with listing: search succeeds' 0 mapm install ./skills/ours
is 'a skill of the workspace is a link in the folder for searches' "$(readlink $SEARCHED/ours)" ../../../skills/ours
ok 'the link in the folder for searches leads to the skill' test -f $SEARCHED/ours/SKILL.md
is 'a skill made by hand stays in the folder of clients' "$(in_folder $LISTED)" mine
is 'a skill made by hand is linked for the client' "$(in_folder .claude/skills)" mine
exits 'skill load succeeds for a skill of the workspace for searches' 0 mapm skill load ours
exits 'verify succeeds with a skill of the workspace for searches' 0 mapm verify
listing ''
exits 'install succeeds after the key listing is removed' 0 mapm install
is 'the skill of the workspace is a link in the folder of clients again' "$(readlink $LISTED/ours)" ../../skills/ours

# --- hostile -------------------------------------------------------------------------

start --skill pdf
listing search
rm -rf $LISTED && mkdir -p "$T/outside" .agents/.mapm && ln -s "$T/outside" $SEARCHED
exits 'install exits with 4 when the folder for searches is a link' 4 mapm install
is 'install writes nothing through that link' "$(in_folder "$T/outside")" ''
rm $SEARCHED && mkdir -p $SEARCHED/pdf && echo mine >$SEARCHED/pdf/SKILL.md
exits 'install fails when the folder for searches has a folder of the user' 1 mapm install
is 'the folder of the user stays unchanged' "$(cat $SEARCHED/pdf/SKILL.md)" mine

# --- members -------------------------------------------------------------------------

rm -rf "$T/ws" && mkdir -p "$T/ws/apps/web" "$T/ws/apps/cli" && cd "$T/ws" || exit 1
printf 'listing: search\nmembers: [apps/*]\n' >mapm.yaml
printf 'dependencies:\n  skills:\n    - %s/skills/pdf\n' "$U" | tee apps/web/mapm.yaml >apps/cli/mapm.yaml
echo 'listing: client' >>apps/cli/mapm.yaml
exits 'install in a workspace with members and listing succeeds' 0 mapm install
is 'a member inherits listing of the root' "$(in_folder apps/web/$SEARCHED)" pdf
is 'a member with its own listing does not inherit' "$(in_folder apps/cli/$LISTED)" pdf
is 'a skill with different listings has one lock entry' "$(grep -c 'name: acme/pdf' mapm.lock)" 1
exits 'a second install with members succeeds' 0 mapm install
like 'a second install with members reports nothing to do' "$err" 'nothing to do'
sed -i '/listing/d' mapm.yaml
exits 'install succeeds after the root loses listing' 0 mapm install
like 'install reports the skill of the member as listed by clients' "$out" '~ skill acme/pdf \(apps/web\) 1\.0\.0 .*\(listed by clients\)'
is 'the skill of the member moves to the folder of clients' "$(in_folder apps/web/$LISTED)" pdf
exits 'verify in that member succeeds' 0 mapm -C apps/web verify

# --- the user's library ----------------------------------------------------------------

cd "$T/ws" || exit 1
mapm install --global --yes "$U/skills/pdf" >/dev/null 2>&1
sed -i '1i listing: search' "$MAPM_HOME/global/mapm.yaml"
exits 'install --global with listing: search succeeds' 0 mapm install --global
is 'listing: search holds in the library of the user' "$(in_folder "$MAPM_HOME/global/$SEARCHED")" pdf
mkdir "$T/else" && cd "$T/else" || exit 1
exits 'skill load finds a skill of the library from another folder' 0 mapm skill load pdf

# --- many ------------------------------------------------------------------------------

many=$T/many
for i in $(seq 300); do
    mkdir -p "$many/skills/s-$i"
    printf -- '---\nname: s-%s\nscope: acme\nversion: 1.0.0\ndescription: "Number %s of many."\n---\nBody.\n' "$i" "$i" \
        >"$many/skills/s-$i/SKILL.md"
done
make_repo acme/many "$many"
rm -rf "$T/ws" && mkdir -p "$T/ws/.claude" && cd "$T/ws" || exit 1
echo 'listing: {search: ["s-*"], client: [s-7]}' >mapm.yaml
exits 'install --all of 300 skills with patterns succeeds' 0 mapm install --yes acme/many --all
is '299 of 300 skills are in the folder for searches' "$(ls $SEARCHED | wc -l)" 299
is 'the one skill under client is in the folder of clients' "$(in_folder $LISTED)" s-7
is 'the client has a link to the one listed skill' "$(in_folder .claude/skills)" s-7
exits 'skill search succeeds with 299 skills for searches' 0 mapm skill search 'number 211'
like 'skill search finds one of 299 skills' "$out" 's-211'
sed -i '/^listing/d' mapm.yaml
exits 'install succeeds when 300 skills move' 0 mapm install
is 'one install moves all skills to the folders of clients' "$(ls $LISTED | wc -l) $(ls .claude/skills | wc -l)" '300 300'
done_testing

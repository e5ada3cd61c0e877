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
    exits "$text is read" 0 mapm -C "$T/words" list
done
for text in none '' '[search]' '{}' '{search: aws}' '{search: [""]}' '{find: [x]}' '{search: ["../x"]}' \
    '{search: ["a b"]}' '{search: [Pdf]}' '{search: ["skill a*"]}' '{client: [3]}' 'true'; do
    echo "listing: $text" >"$T/words/mapm.yaml"
    run mapm -C "$T/words" list
    isnt "\"$text\" is refused" "$status" 0
    like 'and names the line' "$err" 'mapm\.yaml:1:'
done
echo 'listing: search' >"$T/words/mapm.local.yaml" && echo >"$T/words/mapm.yaml"
exits 'not in mapm.local.yaml' 1 mapm -C "$T/words" list

# --- all ---------------------------------------------------------------------------

start --all
is 'without the key all are listed' "$(in_folder $LISTED)" 'ask aws-ec2 aws-login csv pdf uses'
exits 'budget before' 0 mapm budget --json
before=$(json '[c["sent_chars"] for c in d["clients"] if c["name"] == "claude"][0]')
cp mapm.lock "$T/lock"
listing search
exits 'verify before the install' 3 mapm verify
like 'says what is missing' "$out$err" "$SEARCHED/pdf"
unlike 'not that a package is left' "$out$err" 'not in the lock'
exits 'install' 0 mapm install
like 'says what moves' "$out" '~ skill acme/pdf 1\.0\.0 .*\(search only\)'
like 'that only the server has them, once' "$err" '6 skills are in no client.s list.*--with-server'
is 'in one line' "$(printf '%s\n' "$err" | grep -c 'no client')" 1
unlike 'removes none' "$out" '^ *- '
is '[F13] mapm.lock stays' "$(cat mapm.lock)" "$(cat "$T/lock")"
not_ok 'the clients have no folder' test -e $LISTED
is 'nor links' "$(in_folder .claude/skills)" ''
is 'agents stay' "$(in_folder .agents/agents)" helper
is 'the skills are there' "$(in_folder $SEARCHED)" 'ask aws-ec2 aws-login csv pdf uses'
exits 'again' 0 mapm install
like 'is in place' "$err" 'nothing to do'
unlike 'and says it no more' "$err" 'no client'
exits 'verify' 0 mapm verify
exits 'list' 0 mapm list
like 'marks them' "$out" 'skill acme/pdf .*\(search only\)'
unlike 'not agents' "$out" 'agent .*search only'
exits 'list --json' 0 mapm list --json
is 'says where they are' "$(json '[(p["path"], p["listing"]) for p in d["packages"] if p["name"] == "acme/pdf"]')" \
    "[('$SEARCHED/pdf', 'search')]"
exits 'doctor' 0 mapm doctor
like 'says that the server is missing' "$out" 'listing .*6 skills'
exits 'budget' 0 mapm budget --json
saved='[(c["search_only"], c["sent_chars"] + c["saved_chars"], c["saved_tokens"] == c["saved_chars"] // 4) for c in d["clients"] if c["name"] == "claude"]'
is 'shows the saving' "$(json "$saved")" "[(6, $before, True)]"
exits 'budget for people' 0 mapm budget
like 'says it' "$out" 'without 6 skills for searches only, which saves [0-9]+ characters \([0-9]+ tokens\)'

exits 'skill search' 0 mapm skill search pdf
like 'finds them' "$out" 'pdf'
exits 'skill show' 0 mapm skill show pdf
exits 'skill load' 0 mapm skill load pdf
exits 'skill list' 0 mapm skill list
like 'has all' "$out" 'aws-login'
exits 'trust' 0 mapm trust --yes acme/ask
exits 'a metaskill runs' 0 mapm run acme/ask --input '{}'
like 'as ever' "$out" 'it ran'
exits 'by its path, too' 0 mapm run ./$SEARCHED/ask --input '{}'
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
is 'mapm mcp lists, finds and loads them' "$(cat "$T/mcp")" \
    "$(printf 'ask aws-ec2 aws-login csv pdf uses\nfound\nloaded')"

exits 'install --with-server' 0 mapm install --with-server
exits 'doctor' 0 mapm doctor
like 'is content' "$out" 'ok +listing +6 skills for searches only'
exits 'verify' 0 mapm verify

# --- by name -----------------------------------------------------------------------

listing '{search: ["aws-*", acme/csv], client: [aws-login]}'
exits 'patterns' 0 mapm install
like 'bring some back' "$out" '~ skill acme/pdf 1\.0\.0 .*\(listed by clients\)'
is 'those that no pattern fits are listed' "$(in_folder $LISTED)" 'ask aws-login pdf uses'
is 'for clients, too' "$(in_folder .claude/skills)" 'ask aws-login pdf uses'
is 'the rest is searched' "$(in_folder $SEARCHED)" 'aws-ec2 csv'
exits 'verify' 0 mapm verify
listing '{client: [pdf]}'
exits 'client alone' 0 mapm install
is 'lists only these' "$(in_folder $LISTED)" pdf
listing client
exits 'client' 0 mapm install
not_ok 'leaves no folder' test -e $SEARCHED
ok 'but the record' test -f .agents/.mapm/state
is '[F13] mapm.lock is as before' "$(cat mapm.lock)" "$(cat "$T/lock")"

# --- edits, diff, restore, patches, remove ------------------------------------------

listing search
mapm install >/dev/null 2>&1
echo 'An edit.' >>$SEARCHED/pdf/SKILL.md
exits 'verify' 3 mapm verify
like 'finds an edit' "$out$err" "$SEARCHED/pdf/SKILL.md"
run mapm diff
like 'diff shows it' "$out" "$SEARCHED/pdf/SKILL.md"
like 'as a patch' "$out" '^\+An edit\.'
cp -r . "$T/edited"
exits 'restore' 0 mapm restore acme/pdf
unlike 'takes it back' "$(cat $SEARCHED/pdf/SKILL.md)" 'An edit\.'
exits 'verify' 0 mapm verify
echo 'An edit.' >>$SEARCHED/pdf/SKILL.md
listing client
exits 'a move would lose it' 1 mapm install
like 'so it is refused' "$err" "$SEARCHED/pdf/SKILL.md was changed"
ok 'and nothing moves' test -f $SEARCHED/csv/SKILL.md
listing search
exits 'patch' 0 mapm patch acme/pdf
ok 'is written' test -f .mapm/patches/skill-acme-pdf.patch -o -n "$(ls .mapm/patches)"
listing client
exits 'with a patch it moves' 0 mapm install
like 'patched' "$(cat $LISTED/pdf/SKILL.md)" 'An edit\.'
exits 'verify' 0 mapm verify
listing search
exits 'and back' 0 mapm install
like 'patched' "$(cat $SEARCHED/pdf/SKILL.md)" 'An edit\.'
cd "$T/edited" || exit 1
listing client
exits 'install --force' 0 mapm install --force
like 'keeps a copy' "$(cat .agents/.mapm/backup/*/$SEARCHED/pdf/SKILL.md)" 'An edit\.'
unlike 'and moves it' "$(cat $LISTED/pdf/SKILL.md)" 'An edit\.'
listing search
mapm install >/dev/null 2>&1
rm $SEARCHED/csv/SKILL.md
exits 'install' 0 mapm install
ok 'repairs' test -f $SEARCHED/csv/SKILL.md
exits 'remove' 0 mapm remove acme/csv
not_ok 'takes it away' test -e $SEARCHED/csv
like 'says which' "$out" '- skill acme/csv'
rm -rf .agents
exits 'after a clone' 0 mapm install
is 'they are put there' "$(in_folder $SEARCHED)" 'ask aws-ec2 aws-login pdf uses'

# --- update ----------------------------------------------------------------------------

start --skill pdf
listing search
mapm install >/dev/null 2>&1
echo 'The next version.' >>"$s/skills/pdf/SKILL.md"
make_repo acme/cat "$s"
exits 'update' 0 mapm update
like 'is in the same place' "$(cat $SEARCHED/pdf/SKILL.md)" 'The next version\.'
like 'is an update' "$out" '~ skill acme/pdf .*\(search only\)'
unlike 'that needs no word on the server' "$err" 'no client'
not_ok 'and not listed' test -e $LISTED/pdf
echo '{"mcpServers": {}}' >.mcp.json
exits 'removed with the last one' 0 mapm remove acme/pdf
not_ok 'no folder stays' test -e .agents

# --- packages of the workspace, and the user's --------------------------------------

start --skill pdf
skill skills/ours
skill $LISTED/mine
listing search
exits 'an own package' 0 mapm install ./skills/ours
is 'is a link' "$(readlink $SEARCHED/ours)" ../../../skills/ours
ok 'that leads there' test -f $SEARCHED/ours/SKILL.md
is 'what people put there stays' "$(in_folder $LISTED)" mine
is 'and is linked' "$(in_folder .claude/skills)" mine
exits 'skill load' 0 mapm skill load ours
exits 'verify' 0 mapm verify
listing ''
exits 'listed' 0 mapm install
is 'again' "$(readlink $LISTED/ours)" ../../skills/ours

# --- hostile -------------------------------------------------------------------------

start --skill pdf
listing search
rm -rf $LISTED && mkdir -p "$T/outside" .agents/.mapm && ln -s "$T/outside" $SEARCHED
exits 'a link in place of the folder' 4 mapm install
is 'nothing is written through it' "$(in_folder "$T/outside")" ''
rm $SEARCHED && mkdir -p $SEARCHED/pdf && echo mine >$SEARCHED/pdf/SKILL.md
exits 'a folder that mapm did not make' 1 mapm install
is 'stays' "$(cat $SEARCHED/pdf/SKILL.md)" mine

# --- members -------------------------------------------------------------------------

rm -rf "$T/ws" && mkdir -p "$T/ws/apps/web" "$T/ws/apps/cli" && cd "$T/ws" || exit 1
printf 'listing: search\nmembers: [apps/*]\n' >mapm.yaml
printf 'dependencies:\n  skills:\n    - %s/skills/pdf\n' "$U" | tee apps/web/mapm.yaml >apps/cli/mapm.yaml
echo 'listing: client' >>apps/cli/mapm.yaml
exits 'members' 0 mapm install
is 'have that of the root' "$(in_folder apps/web/$SEARCHED)" pdf
is 'or their own' "$(in_folder apps/cli/$LISTED)" pdf
is 'with one entry' "$(grep -c 'name: acme/pdf' mapm.lock)" 1
exits 'again' 0 mapm install
like 'is in place' "$err" 'nothing to do'
sed -i '/listing/d' mapm.yaml
exits 'without it' 0 mapm install
like 'one moves' "$out" '~ skill acme/pdf \(apps/web\) 1\.0\.0 .*\(listed by clients\)'
is 'to its clients' "$(in_folder apps/web/$LISTED)" pdf
exits 'verify of one' 0 mapm -C apps/web verify

# --- the user's library ----------------------------------------------------------------

cd "$T/ws" || exit 1
mapm install --global --yes "$U/skills/pdf" >/dev/null 2>&1
sed -i '1i listing: search' "$MAPM_HOME/global/mapm.yaml"
exits 'the library of the user' 0 mapm install --global
is 'has it, too' "$(in_folder "$MAPM_HOME/global/$SEARCHED")" pdf
mkdir "$T/else" && cd "$T/else" || exit 1
exits 'skill load' 0 mapm skill load pdf

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
exits '300 skills' 0 mapm install --yes acme/many --all
is 'are there' "$(ls $SEARCHED | wc -l)" 299
is 'but for one' "$(in_folder $LISTED)" s-7
is 'which the client has' "$(in_folder .claude/skills)" s-7
exits 'skill search' 0 mapm skill search 'number 211'
like 'finds one' "$out" 's-211'
sed -i '/^listing/d' mapm.yaml
exits 'all move' 0 mapm install
is 'at once' "$(ls $LISTED | wc -l) $(ls .claude/skills | wc -l)" '300 300'
done_testing

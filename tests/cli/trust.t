#!/bin/sh
# mapm trust: programs of packages, by name and content [X27, K37, row 21], and
# what a workspace allows itself (DESIGN.md 3.1).
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/terminal.sh"

start_githost
S=$T/src/skills/deploy
URL=https://github.com/acme/catalog/tree/main/skills

# version N: the program of version N of acme/deploy.
version()
{
    printf 'def run(input):\n    return {"status": "ok", "result": "v%s"}\n' \
        "$1" >"$S/SKILL.star"
}
skill "$S" 'scope: acme'
version 1
mkdir "$S/scripts"
echo one >"$S/scripts/one.sh"
skill "$T/src/skills/notes"
skill "$S/inner" 'metaskill: SKILL.star'
cp "$S/SKILL.star" "$S/inner/SKILL.star"
agent "$T/src/agents/deploy" 'scope: acme'
make_repo acme/catalog "$T/src"
mapm install --yes "$URL/deploy" "$URL/notes" >/dev/null 2>&1

# --- by name ------------------------------------------------------------------------

exits 'trust --list succeeds before anything is trusted' 0 mapm trust --list
is 'trust --list says that nothing is trusted on this machine' "$err" 'nothing is trusted on this machine'
exits 'trust without a terminal and without --yes is refused' 4 mapm trust deploy
like '[row 21] trust shows the origin of the metaskill' "$out" "origin +$URL/deploy\$"
like 'trust shows the commit of the metaskill' "$out" "commit +$COMMIT\$"
like 'trust shows the file and the size of the program' "$out" 'program +SKILL.star, 2 lines, 60 B'
like '[D19] trust shows the text of the program' "$out" '^    \| def run\(input\):$'
like 'the hint of a refused trust names --yes' "$err" 'hint: .*--yes'
exits 'trust --list --json succeeds after a refused trust' 0 mapm trust --list --json
like 'trust --list --json has an empty list after a refused trust' "$out" '"trusted": \[\]'

on_terminal n "$MAPM" trust deploy
is 'trust exits 4 when the answer on the terminal is no' "$status" 4
like 'trust asks on the terminal and defaults to no' "$out" 'Trust this program to run on this machine\? \[y/N\]'
on_terminal y "$MAPM" trust deploy
is 'trust succeeds when the answer on the terminal is yes' "$status" 0
like 'trust confirms the trusted metaskill by name' "$out" '^trusted acme/deploy$'
exits 'trust --list succeeds after a metaskill was trusted' 0 mapm trust --list
like 'trust --list prints name, digest, date and workspace' "$out" \
    "^metaskill  acme/deploy  sha256:[0-9a-f]{12}  20[0-9]{2}-[0-9]{2}-[0-9]{2}  in $T/ws\$"
exits 'trust of a trusted metaskill succeeds without a question' 0 mapm trust acme/deploy
is 'trust says that the metaskill is trusted already' "$err" 'acme/deploy is trusted already'

exits 'trust fails for a skill without a program' 1 mapm trust --yes notes
like 'the error says that the skill has no runnable program' "$err" 'no runnable program'
mapm install --yes https://github.com/acme/catalog/tree/main/agents/deploy >/dev/null 2>&1
exits 'trust chooses the skill when an agent has the same name' 0 mapm trust acme/deploy
exits 'trust fails for an agent' 1 mapm trust --yes 'agent acme/deploy'
like 'the error says that the agent is not a metaskill' "$err" 'is not a metaskill'
mapm remove --yes 'agent acme/deploy' >/dev/null 2>&1
exits 'trust fails for an unknown name' 1 mapm trust --yes deplyo
like 'the error of trust suggests the nearest name' "$err" 'did you mean acme/deploy'
exits 'trust fails for two names of which one has no program' 1 mapm trust --yes deploy notes

# --- another version --------------------------------------------------------------------

version 2
printf '    # \033[31m\342\200\256 hidden\n' >>"$S/SKILL.star"
echo 'One line more.' >>"$S/SKILL.md"
mv "$S/scripts/one.sh" "$S/scripts/two.sh"
chmod +x "$S/SKILL.md"
make_repo acme/catalog "$T/src"
mapm update --yes >/dev/null 2>&1
exits '[X27] trust asks again for a program with another digest' 4 mapm trust deploy
like 'trust names the version that was trusted before' "$out" 'another version since 20..-..-.., sha256:[0-9a-f]{12}$'
like '[row 21] trust shows the removed line of the program' "$out" '^    -    return \{"status": "ok", "result": "v1"\}$'
like 'trust shows the added line of the program' "$out" '^    \+    return \{"status": "ok", "result": "v2"\}$'
like 'trust shows hidden characters as escapes' "$out" '\\x1b\[31m\\u\{202e\} hidden$'
like 'trust shows the added line of SKILL.md' "$out" '^    \+One line more\.$'
like 'trust shows the file that was removed' "$out" '^    removed scripts/one.sh$'
like 'trust shows the file that was added' "$out" '^    added scripts/two.sh$'
exits 'trust --yes --json succeeds for the new version' 0 mapm trust --yes --json deploy
like 'trust --yes --json marks the trust as new' "$out" '"new": true'
is 'trust --yes --json prints nothing on standard error' "$err" ''
is 'trust --yes --json prints a document with schema and trusted names' "$(printf '%s' "$out" | python3 -S -c 'import json, sys
d = json.load(sys.stdin)
print(d["schema"], d["command"], [(t["kind"], t["name"]) for t in d["trusted"]])')" \
    "mapm.trust/1 trust [('metaskill', 'acme/deploy')]"
exits 'trust --list succeeds with two versions trusted' 0 mapm trust --list
is 'trust --list prints the newer version first' "$(printf '%s\n' "$out" | sed 's/.*  //')" "in $T/ws
not installed"

version 3
make_repo acme/catalog "$T/src"
mapm update --yes >/dev/null 2>&1
find "$MAPM_HOME/store" -type f -exec touch -d '2 days ago' {} +
mapm store gc >/dev/null
exits 'trust asks again when the trusted version was collected from the store' 4 mapm trust deploy
like 'trust says that the earlier version is no longer in the store' "$out" 'no longer in the store'

# --- the library of the user ---------------------------------------------------------------

mkdir "$T/empty"
mapm install -g --yes "$URL/deploy" >/dev/null 2>&1
exits '[K37] trust --yes succeeds for a metaskill of the user library' 0 mapm -C "$T/empty" trust --yes deploy
exits 'trust -g looks for the name in the user library' 0 mapm trust -g deploy
is 'trust -g says that the metaskill is trusted already' "$err" 'acme/deploy is trusted already'
skill "$T/mine/draft" 'scope: acme'
cp "$S/SKILL.star" "$T/mine/draft"
mapm install --yes "$T/mine/draft" >/dev/null 2>&1
exits '[X27] trust fails for a metaskill installed from a folder' 1 mapm trust --yes draft
like 'the error says that the metaskill needs no trust to run' "$err" 'needs no trust to run'

# --- a workspace ------------------------------------------------------------------------------

exits 'trust --workspace is refused in a workspace without rules' 4 mapm trust --workspace
like 'trust --workspace says that nothing needs to be accepted' "$out" 'allows nothing that needs to be accepted'
mkdir -p .agents/skills/own
sed 's/^name: .*/name: own/' "$S/SKILL.md" >.agents/skills/own/SKILL.md
cp "$S/SKILL.star" .agents/skills/own
cat >>mapm.yaml <<'END'
policy:
  commands:
    allow:
      - [git, diff, "*"]
      - [make, "a b\u202E"]
    deny: [[git, push, "*"]]
  network: true
END
exits 'trust --workspace without a terminal is refused in a workspace with rules' 4 mapm trust --workspace
like '[X27] trust --workspace shows the metaskill offered over MCP' "$out" '^    own  \.agents/skills/own$'
unlike 'trust --workspace does not say that there is none' "$out" 'none now'
unlike 'trust --workspace leaves an installed metaskill out of the local ones' "$out" 'deploy'
like 'trust --workspace shows an allowed command with its line in mapm.yaml' "$out" 'allow \["git","diff","\*"\]   \(mapm.yaml:[0-9]+\)$'
like 'trust --workspace prints a word with a blank in quotation marks' "$out" 'allow \["make","a b.*202[eE].*"\]'
like 'trust --workspace shows a denied command' "$out" 'deny  \["git","push","\*"\]'
like 'trust --workspace shows the network rule' "$out" 'network: true'
on_terminal yes "$MAPM" trust --workspace
is 'trust --workspace succeeds when the answer on the terminal is yes' "$status" 0
exits 'trust --list --json succeeds after a workspace was trusted' 0 mapm trust --list --json
is 'trust --list has the policy with a digest and the workspace without one' "$(printf '%s' "$out" | python3 -S -c 'import json, sys
for t in json.load(sys.stdin)["trusted"]:
    if t["kind"] != "metaskill":
        print(t["kind"], t["name"], "digest" in t)')" "policy $T/ws True
workspace $T/ws False"
exits 'trust --workspace succeeds again for unchanged rules' 0 mapm trust --workspace
like 'trust --workspace says that unchanged rules are trusted already' "$err" 'trusted already'
sed -i 's/git, push/git, pull/' mapm.yaml
exits 'trust --workspace is refused without consent to a changed rule' 4 mapm trust --workspace
unlike 'trust --workspace does not ask about the unchanged folder again' "$out" 'over MCP'
like 'trust --workspace shows the changed rule' "$out" 'deny  \["git","pull","\*"\]'
mkdir "$T/nowhere"
exits 'trust --workspace fails in a folder that is no workspace' 1 mapm -C "$T/nowhere" trust --workspace --yes
mkdir -p "$T/bare/.claude/skills/own"
cp .agents/skills/own/* "$T/bare/.claude/skills/own"
exits 'trust --workspace accepts a folder of skills without a mapm.yaml' 0 mapm -C "$T/bare" trust --workspace --yes
exits 'trust --list succeeds with a trusted folder without mapm.yaml' 0 mapm trust --list
like 'trust --list prints the trusted folder without mapm.yaml' "$out" "$T/bare"
exits 'trust --workspace --revoke succeeds for that folder' 0 mapm -C "$T/bare" trust --workspace --revoke

# metaskill FOLDER: one below $T/seen.
metaskill()
{
    mkdir -p "$T/seen/$1"
    sed "s/^name: .*/name: ${1##*/}/" "$S/SKILL.md" >"$T/seen/$1/SKILL.md"
    cp "$S/SKILL.star" "$T/seen/$1"
}
mkdir "$T/seen"
mapm -C "$T/seen" install --yes "$URL/deploy" >/dev/null 2>&1
exits '[X27] trust --workspace asks although no local metaskill is offered' 4 mapm -C "$T/seen" trust --workspace
like 'trust --workspace says that there is no local metaskill now' "$out" '^    there is none now$'
metaskill .claude/skills/beside
metaskill .swival/skills/third
metaskill hidden/linked
ln -s ../../hidden/linked "$T/seen/.agents/skills/linked"
mapm -C "$T/seen" install --yes "$T/mine/draft" >/dev/null 2>&1
metaskill .claude/skills/split
mv "$T/seen/.claude/skills/split" "$T/seen/.claude/skills/a
  mapm.yaml allows nothing"
exits '[X27] trust --workspace asks about local metaskills of all client folders' 4 mapm -C "$T/seen" trust --workspace
like 'trust --workspace shows a metaskill of .claude/skills' "$out" '^    beside  \.claude/skills/beside$'
like 'trust --workspace shows a metaskill of .swival/skills' "$out" '^    third  \.swival/skills/third$'
like 'trust --workspace shows where a link to a metaskill leads' "$out" '^    linked  \.agents/skills/linked -> hidden/linked$'
like 'trust --workspace shows a metaskill installed from a folder' "$out" '^    draft  \.agents/skills/draft$'
unlike 'trust --workspace does not show a metaskill installed from elsewhere' "$out" 'deploy'
like 'trust --workspace prints a folder name with a line break in one line' "$out" '^    split  \.claude/skills/a\\x0a  mapm.yaml allows nothing$'
is 'a folder name cannot imitate a line of mapm' "$(printf '%s\n' "$out" | grep -c '^  mapm.yaml allows nothing')" 1
unlike 'trust --workspace does not warn about the home folder elsewhere' "$err" 'home folder'
for n in $(seq 10 30); do
    metaskill ".claude/skills/m$n"
done
exits '[X27] trust --workspace asks about more than twenty metaskills' 4 mapm -C "$T/seen" trust --workspace
is 'trust --workspace prints at most twenty metaskills' "$(printf '%s\n' "$out" | grep -c '^    [a-z0-9]*  \.')" 20
like 'trust --workspace counts the metaskills that it does not print' "$out" '^    \.\.\. and 6 more$'
exits '[X27] trust --workspace --yes accepts the home folder' 0 \
    env HOME="$T/seen" "$MAPM" -C "$T/seen" trust --workspace --yes
like 'trust --workspace warns that the workspace is the home folder' "$err" 'warning: this workspace is your home folder'
exits 'trust --workspace --revoke succeeds for the home folder' 0 mapm -C "$T/seen" trust --workspace --revoke
if can_chown; then
    chown 12345 "$T/bare"
    exits '[row 15] trust --workspace refuses a folder of another user' 4 mapm -C "$T/bare" trust --workspace --yes
    like 'the error names the folder and the user id of its owner' "$err" 'bare belongs to another user \(uid 12345\)'
    exits '[row 15] trust --list succeeds after the folder was refused' 0 mapm trust --list
    unlike 'trust --list does not have the refused folder' "$out" "$T/bare"
    chown 0 "$T/bare"
else
    skip 'a workspace of another user' 'cannot change owners'
fi

# --- taking it back -----------------------------------------------------------------------------

exits 'trust --revoke fails for an unknown name' 1 mapm trust --revoke deplyo
like 'the error of trust --revoke suggests the nearest name' "$err" 'did you mean acme/deploy'
exits 'trust --revoke --json succeeds for a metaskill of several versions' 0 mapm trust --revoke deploy --json
like 'trust --revoke --json counts the revoked versions' "$out" '"versions": 3'
exits 'trust asks again for a revoked metaskill' 4 mapm trust deploy
unlike 'trust does not compare a revoked metaskill with an earlier version' "$out" 'another version'
exits 'trust --revoke --workspace succeeds' 0 mapm trust --revoke --workspace
exits 'trust --list succeeds after everything was revoked' 0 mapm trust --list
is 'trust --list prints nothing after everything was revoked' "$out" ''
mapm trust --yes deploy >/dev/null 2>&1
exits 'trust --revoke --all succeeds' 0 mapm trust --revoke --all
like 'trust --revoke --all names each metaskill that it revokes' "$err" '^metaskill acme/deploy is no longer trusted$'
exits 'trust --revoke --all succeeds when nothing is trusted' 0 mapm trust --revoke --all
is 'trust --revoke --all says that nothing is trusted' "$err" 'nothing is trusted on this machine'

for line in '' '--list deploy' '--list --revoke' '--all' '--revoke' \
    '--workspace deploy' '--revoke --all deploy' '--workspace --global'; do
    # shellcheck disable=SC2086
    exits "mapm trust $line is a usage error" 2 mapm trust $line
done

# --- running [K34, K37, X27, row 21] ------------------------------------------------------------

# fresh: another workspace, with acme/deploy in it; nothing is trusted.
fresh()
{
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
    mapm trust --revoke --all >/dev/null 2>&1
    mapm install --yes "$URL/deploy" >/dev/null 2>&1
}
PLACE=.agents/skills/deploy
INPUT='--input {}'

fresh
exits '[row 21] run refuses an installed metaskill that is not trusted' 4 mapm run deploy $INPUT
is '[K34] run prints the error text that hosts recognise' "$out" \
    "$(sed -n '/^```text K34 policy$/{n;s/{name}/deploy/;s/{policy}/trusted/;p}' "$ROOT/docs/requirements.md")"
like 'the hint of run names mapm trust' "$err" 'hint: mapm trust acme/deploy'
exits 'run --yes does not replace trust' 4 mapm run --yes deploy $INPUT
exits 'run by the path of the folder does not replace trust' 4 mapm run "./$PLACE" $INPUT
ln -s "$PLACE" elsewhere
exits 'run by a link to the folder does not replace trust' 4 mapm run ./elsewhere $INPUT
exits '[row 21] run refuses a second program in the folder of a package' 4 mapm run "./$PLACE/inner" $INPUT
like 'the error names the package that the second program is a part of' "$out" 'inner is a part of acme/deploy'
exits 'run refuses the second program by a link' 4 mapm run ./elsewhere/inner $INPUT
mapm trust --yes deploy >/dev/null 2>&1
exits 'run succeeds for a metaskill that is installed and trusted' 0 mapm run deploy $INPUT
like 'run prints the result of the trusted program' "$out" 'v3'
exits '[row 21] trust of a metaskill does not extend to a program inside it' 4 mapm run "./$PLACE/inner" $INPUT
for name in acme/deploy "$URL/deploy" "./$PLACE" "$T/ws/$PLACE" "$PLACE/SKILL.star" ./elsewhere; do
    exits "run finds the trusted metaskill under the name $name" 0 mapm run "$name" $INPUT
done
exits '[K34] run fails for an unknown name' 1 mapm run deplyo $INPUT
is 'run prints the text for unknown metaskills that hosts recognise' "$out" "error: unknown metaskill: 'deplyo'"
like 'the error of run suggests the nearest name' "$err" 'acme/deploy'

# a version that is not the one that was trusted
version 4
make_repo acme/catalog "$T/src"
mapm update --yes >/dev/null 2>&1
exits '[X27] run refuses a metaskill that an update changed' 4 mapm run deploy $INPUT
like 'the error says that the metaskill has changed since it was trusted' "$err" 'has changed since it was trusted'
on_terminal n "$MAPM" run deploy $INPUT
is 'run on a terminal exits 4 when the answer is no' "$status" 4
like 'run on a terminal shows the origin of the metaskill' "$out" "origin +$URL/deploy\$"
like 'run on a terminal shows the commit of the metaskill' "$out" 'commit +[0-9a-f]{40}$'
like 'run on a terminal shows the changed line' "$out" '^    \+    return \{"status": "ok", "result": "v4"\}$'
like 'run on a terminal says that the metaskill did not run' "$out" 'was not trusted: it did not run'
like 'run on a terminal names the command that shows all of the program' "$out" 'mapm trust --verbose .* shows all of it'
on_terminal y "$MAPM" --quiet run deploy $INPUT
is 'run --quiet on a terminal succeeds when the answer is yes' "$status" 0
like 'run --quiet on a terminal still shows the changed line' "$out" '^    \+    return \{"status": "ok", "result": "v4"\}$'
exits 'run asks no second time after the answer yes' 0 mapm run deploy $INPUT

# what is not as it was installed
cp -r .agents "$T/whole"
restore()
{
    rm -rf .agents && cp -r "$T/whole" .agents
}
echo '# mine' >>$PLACE/SKILL.star
exits 'run fails when a file of the metaskill was edited' 1 mapm run deploy $INPUT
like 'the error names the edited file' "$err" "$PLACE/SKILL.star was changed"
like 'the hint names mapm install --force' "$err" 'hint: .*mapm install --force'
restore
rm $PLACE/scripts/two.sh
exits 'run fails when a file of the metaskill is missing' 1 mapm run deploy $INPUT
like 'the error names the missing file' "$err" 'scripts/two.sh is missing'
chmod +x $PLACE/SKILL.star
exits 'run by path fails when a file was made executable' 1 mapm run "./$PLACE" $INPUT
like 'the error names the file that was made executable' "$err" 'SKILL.star was made executable'
rm -r $PLACE
exits 'run fails when the folder of the metaskill is missing' 1 mapm run deploy $INPUT
like 'the hint says that mapm install puts the folder back' "$err" 'hint: mapm install puts back what is missing'
mapm install >/dev/null 2>&1
exits 'run succeeds after mapm install put the folder back' 0 mapm run deploy $INPUT
mkdir $PLACE/__pycache__
echo x >$PLACE/__pycache__/x.pyc
exits 'run ignores a __pycache__ folder inside the metaskill' 0 mapm run deploy $INPUT
rm -r $PLACE/__pycache__
rm -rf "$MAPM_HOME"/store/objects/* "$MAPM_HOME"/store/packs
exits 'run succeeds for an unchanged metaskill that the store has lost' 0 mapm run deploy $INPUT
echo x >$PLACE/extra
exits 'run fails for an added file when the store cannot be compared' 1 mapm run deploy $INPUT
like 'the error names the digest that the store lacks' "$err" 'the store does not have sha256:'
rm $PLACE/extra

mapm install --yes "$URL/notes" >/dev/null 2>&1
cp $PLACE/SKILL.star .agents/skills/notes
exits 'run fails for a program added to a skill without one' 1 mapm run notes $INPUT
like 'the error says that the program is not part of the package' "$err" 'notes/SKILL.star is not part of the package'
rm .agents/skills/notes/SKILL.star
exits '[K34] run fails for a skill without a program' 1 mapm run notes $INPUT
is 'run prints the text for skills without a program' "$out" "error: skill 'notes' is not a metaskill"

# two of the same short name: the later one's copy has another [X2, X9]
skill "$T/two/skills/deploy" 'scope: other'
printf 'def run(input):\n    return {"status": "ok", "result": "other"}\n' \
    >"$T/two/skills/deploy/SKILL.star"
make_repo other/catalog "$T/two"
mapm install --yes https://github.com/other/catalog/tree/main/skills/deploy >/dev/null 2>&1
copy=$(cd .agents/skills && ls -d *other*)
exits '[X9] trust --yes succeeds for a metaskill under another folder name' 0 mapm trust --yes other/deploy
exits 'run succeeds for a metaskill under another folder name' 0 mapm run other/deploy $INPUT
like 'run executes the program of the named scope' "$out" 'other'
exits 'run accepts the folder name of the renamed copy' 0 mapm run "$copy" $INPUT
exits 'run of a short name that two metaskills share is a usage error' 2 mapm run deploy $INPUT
like 'the error lists the full name of a candidate' "$err" 'acme/deploy'
echo more >>".agents/skills/$copy/SKILL.md"
exits 'run fails when a file of the renamed copy was edited' 1 mapm run other/deploy $INPUT
like 'the error names the edited file of the renamed copy' "$err" "$copy/SKILL.md was changed"

# local ones, and the user's library
fresh
mkdir -p .agents/skills/own
sed 's/^name: .*/name: own/' "$S/SKILL.md" >.agents/skills/own/SKILL.md
cp "$S/SKILL.star" .agents/skills/own
exits '[X27] run needs no trust for a metaskill written in the workspace' 0 mapm run own $INPUT
exits 'run finds the workspace metaskill by its full name' 0 mapm run acme/own $INPUT
exits 'run accepts any folder given by its path' 0 mapm -C "$T/empty" run "$S" $INPUT
mkdir -p skills && cp -r .agents/skills/own skills/thing
sed -i 's/^name: .*/name: thing/' skills/thing/SKILL.md
exits 'run does not read skills/thing as the path of a folder' 1 mapm run skills/thing $INPUT
like 'the error suggests ./ before the path of the folder' "$err" 'say \./skills/thing'
mapm install --yes "$T/mine/draft" >/dev/null 2>&1
exits '[X27] run needs no trust for a metaskill installed from a folder' 0 mapm run draft $INPUT
exits '[K37] run refuses a metaskill of the user library that is not trusted' 4 mapm -C "$T/empty" run deploy $INPUT
mapm install -g --yes "$URL/deploy" >/dev/null 2>&1
mapm trust -g --yes deploy >/dev/null 2>&1
exits 'run succeeds for a trusted metaskill of the user library' 0 mapm -C "$T/empty" run deploy $INPUT
mkdir -p "$T/empty/skills/deploy"
cp "$S/SKILL.md" "$T/empty/skills/deploy"
sed -i 's/^name: .*/name: deploy/' "$T/empty/skills/deploy/SKILL.md"
printf 'def run(input):\n    return "planted"\n' >"$T/empty/skills/deploy/SKILL.star"
exits '[row 21] run succeeds beside a program planted in the skills folder' 0 \
    mapm -C "$T/empty" run deploy $INPUT
unlike 'run does not execute the planted program' "$out" planted
like 'run names the planted folder as another metaskill' "$err" '\./skills/deploy is another'
rm -r "$T/empty/skills"
rm "$HOME/$PLACE/SKILL.star"
exits 'run fails when the program of the user library is missing' 1 mapm -C "$T/empty" run deploy $INPUT
like 'the hint for the user library names mapm install --global' "$err" 'mapm install --global'

# the policy of the user and of the workspace
mapm trust --revoke --all >/dev/null 2>&1
mkdir -p "$XDG_CONFIG_HOME/mapm"
echo 'runtime: {metaskills: all}' >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits 'run succeeds when the user configuration allows all metaskills' 0 mapm run deploy $INPUT
printf 'runtime: {metaskills: local}\n' >>mapm.yaml
exits 'run is refused when the workspace allows local metaskills alone' 4 mapm run deploy $INPUT
is 'the error names the policy of the workspace' "$out" \
    "error: external metaskill 'deploy' is not allowed (policy: local)"
sed -i '/^runtime:/d' mapm.yaml
rm "$XDG_CONFIG_HOME/mapm/config.yaml"

# --- [row 26] what is not a cache ------------------------------------------------------------------

mapm trust --yes deploy >/dev/null 2>&1
rm -f "$MAPM_HOME"/mapm.db-*
head -c 20000 /dev/urandom >"$MAPM_HOME/mapm.db"
exits '[row 26] trust --list succeeds with a damaged mapm.db' 0 mapm trust --list
like 'trust --list warns about the loss and names the damaged file' "$err" "warning: mapm.db was damaged: .*lost.*$MAPM_HOME/mapm.db.damaged-[0-9]+"
is 'trust --list prints no entries of a damaged mapm.db' "$out" ''
ok 'the damaged mapm.db is kept under the name in the warning' test -s "$(printf '%s\n' "$err" | sed -n 's/.*file is now //p')"
exits 'trust --list succeeds again after the damaged mapm.db was moved' 0 mapm trust --list
is 'trust --list no longer warns about the damaged mapm.db' "$err" 'nothing is trusted on this machine'
exits '[row 24] trust refuses a MAPM_HOME that others may write to' 4 sh -c \
    'chmod 777 "$MAPM_HOME" && "$MAPM" trust --yes deploy'
chmod 700 "$MAPM_HOME"
done_testing

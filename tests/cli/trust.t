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

exits 'nothing is trusted at first' 0 mapm trust --list
is 'and says so' "$err" 'nothing is trusted on this machine'
exits 'without a terminal and without --yes: refused' 4 mapm trust deploy
like '[row 21] the origin is shown' "$out" "origin +$URL/deploy\$"
like 'the commit' "$out" "commit +$COMMIT\$"
like 'the program' "$out" 'program +SKILL.star, 2 lines, 60 B'
like '[D19] and its text' "$out" '^    \| def run\(input\):$'
like 'the way out is named' "$err" 'hint: .*--yes'
exits 'still nothing' 0 mapm trust --list --json
like 'in JSON' "$out" '"trusted": \[\]'

on_terminal n "$MAPM" trust deploy
is 'a no is no' "$status" 4
like 'it was asked' "$out" 'Trust this program to run on this machine\? \[y/N\]'
on_terminal y "$MAPM" trust deploy
is 'a yes is yes' "$status" 0
like 'and is said' "$out" '^trusted acme/deploy$'
exits 'it is listed' 0 mapm trust --list
like 'with name, digest, date and place' "$out" \
    "^metaskill  acme/deploy  sha256:[0-9a-f]{12}  20[0-9]{2}-[0-9]{2}-[0-9]{2}  in $T/ws\$"
exits 'once more is no question' 0 mapm trust acme/deploy
is 'but a remark' "$err" 'acme/deploy is trusted already'

exits 'a skill without a program' 1 mapm trust --yes notes
like 'says why' "$err" 'no runnable program'
mapm install --yes https://github.com/acme/catalog/tree/main/agents/deploy >/dev/null 2>&1
exits 'of an agent of the same name the skill is meant' 0 mapm trust acme/deploy
exits 'an agent has none' 1 mapm trust --yes 'agent acme/deploy'
like 'says that' "$err" 'is not a metaskill'
mapm remove --yes 'agent acme/deploy' >/dev/null 2>&1
exits 'an unknown name' 1 mapm trust --yes deplyo
like 'has a near one' "$err" 'did you mean acme/deploy'
exits 'one of several fails: none is trusted' 1 mapm trust --yes deploy notes

# --- another version --------------------------------------------------------------------

version 2
printf '    # \033[31m\342\200\256 hidden\n' >>"$S/SKILL.star"
echo 'One line more.' >>"$S/SKILL.md"
mv "$S/scripts/one.sh" "$S/scripts/two.sh"
chmod +x "$S/SKILL.md"
make_repo acme/catalog "$T/src"
mapm update --yes >/dev/null 2>&1
exits '[X27] another digest is asked for again' 4 mapm trust deploy
like 'what was trusted is named' "$out" 'another version since 20..-..-.., sha256:[0-9a-f]{12}$'
like '[row 21] the program differs' "$out" '^    -    return \{"status": "ok", "result": "v1"\}$'
like 'both sides' "$out" '^    \+    return \{"status": "ok", "result": "v2"\}$'
like 'hidden characters are visible' "$out" '\\x1b\[31m\\u\{202e\} hidden$'
like 'SKILL.md differs' "$out" '^    \+One line more\.$'
like 'a file is gone' "$out" '^    removed scripts/one.sh$'
like 'a file is new' "$out" '^    added scripts/two.sh$'
exits 'the digest, in JSON' 0 mapm trust --yes --json deploy
like 'is new' "$out" '"new": true'
is 'and nothing else is printed' "$err" ''
is 'it is JSON' "$(printf '%s' "$out" | python3 -S -c 'import json, sys
d = json.load(sys.stdin)
print(d["schema"], d["command"], [(t["kind"], t["name"]) for t in d["trusted"]])')" \
    "mapm.trust/1 trust [('metaskill', 'acme/deploy')]"
exits 'both versions are listed' 0 mapm trust --list
is 'the newer first' "$(printf '%s\n' "$out" | sed 's/.*  //')" "in $T/ws
not installed"

version 3
make_repo acme/catalog "$T/src"
mapm update --yes >/dev/null 2>&1
find "$MAPM_HOME/store" -type f -exec touch -d '2 days ago' {} +
mapm store gc >/dev/null
exits 'an earlier version that gc took' 4 mapm trust deploy
like 'cannot be compared, and that is said' "$out" 'no longer in the store'

# --- the library of the user ---------------------------------------------------------------

mkdir "$T/empty"
mapm install -g --yes "$URL/deploy" >/dev/null 2>&1
exits '[K37] the library of the user needs it, too' 0 mapm -C "$T/empty" trust --yes deploy
exits '--global looks there alone' 0 mapm trust -g deploy
is 'it is trusted by now' "$err" 'acme/deploy is trusted already'
skill "$T/mine/draft" 'scope: acme'
cp "$S/SKILL.star" "$T/mine/draft"
mapm install --yes "$T/mine/draft" >/dev/null 2>&1
exits '[X27] what came from a folder needs none' 1 mapm trust --yes draft
like 'and that is said' "$err" 'needs no trust to run'

# --- a workspace ------------------------------------------------------------------------------

exits 'a workspace without rules' 4 mapm trust --workspace
like 'has nothing to accept' "$out" 'allows nothing that needs to be accepted'
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
exits 'one with rules' 4 mapm trust --workspace
like '[X27] what is offered over MCP' "$out" '^    own  \.agents/skills/own$'
unlike 'and no more than there is' "$out" 'none now'
unlike 'what was installed is not local' "$out" 'deploy'
like 'each rule, with its line' "$out" 'allow \["git","diff","\*"\]   \(mapm.yaml:[0-9]+\)$'
like 'no word passes for two' "$out" 'allow \["make","a b.*202[eE].*"\]'
like 'what is forbidden' "$out" 'deny  \["git","push","\*"\]'
like 'the network' "$out" 'network: true'
on_terminal yes "$MAPM" trust --workspace
is 'it is accepted' "$status" 0
exits 'twice: the folder, and these rules' 0 mapm trust --list --json
is 'by digest and without' "$(printf '%s' "$out" | python3 -S -c 'import json, sys
for t in json.load(sys.stdin)["trusted"]:
    if t["kind"] != "metaskill":
        print(t["kind"], t["name"], "digest" in t)')" "policy $T/ws True
workspace $T/ws False"
exits 'the same again' 0 mapm trust --workspace
like 'is no question' "$err" 'trusted already'
sed -i 's/git, push/git, pull/' mapm.yaml
exits 'a rule changed' 4 mapm trust --workspace
unlike 'the folder is as it was' "$out" 'over MCP'
like 'the rules are shown' "$out" 'deny  \["git","pull","\*"\]'
mkdir "$T/nowhere"
exits 'no workspace' 1 mapm -C "$T/nowhere" trust --workspace --yes
mkdir -p "$T/bare/.claude/skills/own"
cp .agents/skills/own/* "$T/bare/.claude/skills/own"
exits 'a folder of skills without a mapm.yaml' 0 mapm -C "$T/bare" trust --workspace --yes
exits 'is one all the same' 0 mapm trust --list
like 'and trusted' "$out" "$T/bare"
exits 'until it is not' 0 mapm -C "$T/bare" trust --workspace --revoke

# metaskill FOLDER: one below $T/seen.
metaskill()
{
    mkdir -p "$T/seen/$1"
    sed "s/^name: .*/name: ${1##*/}/" "$S/SKILL.md" >"$T/seen/$1/SKILL.md"
    cp "$S/SKILL.star" "$T/seen/$1"
}
mkdir "$T/seen"
mapm -C "$T/seen" install --yes "$URL/deploy" >/dev/null 2>&1
exits '[X27] where nothing would be offered' 4 mapm -C "$T/seen" trust --workspace
like 'that is said' "$out" '^    there is none now$'
metaskill .claude/skills/beside
metaskill .swival/skills/third
metaskill hidden/linked
ln -s ../../hidden/linked "$T/seen/.agents/skills/linked"
mapm -C "$T/seen" install --yes "$T/mine/draft" >/dev/null 2>&1
metaskill .claude/skills/split
mv "$T/seen/.claude/skills/split" "$T/seen/.claude/skills/a
  mapm.yaml allows nothing"
exits '[X27] all that would be offered is shown' 4 mapm -C "$T/seen" trust --workspace
like 'of every folder of skills' "$out" '^    beside  \.claude/skills/beside$'
like 'each of them' "$out" '^    third  \.swival/skills/third$'
like 'of a link also where it leads' "$out" '^    linked  \.agents/skills/linked -> hidden/linked$'
like 'what came from a folder, too' "$out" '^    draft  \.agents/skills/draft$'
unlike 'what was installed from elsewhere is not' "$out" 'deploy'
like 'each on one line' "$out" '^    split  \.claude/skills/a\\x0a  mapm.yaml allows nothing$'
is 'and nothing passes for a line of ours' "$(printf '%s\n' "$out" | grep -c '^  mapm.yaml allows nothing')" 1
unlike 'it is not the home folder' "$err" 'home folder'
for n in $(seq 10 30); do
    metaskill ".claude/skills/m$n"
done
exits '[X27] of many' 4 mapm -C "$T/seen" trust --workspace
is 'twenty are shown' "$(printf '%s\n' "$out" | grep -c '^    [a-z0-9]*  \.')" 20
like 'and the others counted' "$out" '^    \.\.\. and 6 more$'
exits '[X27] of the home folder there is a warning' 0 \
    env HOME="$T/seen" "$MAPM" -C "$T/seen" trust --workspace --yes
like 'that says why' "$err" 'warning: this workspace is your home folder'
exits 'it can be taken back' 0 mapm -C "$T/seen" trust --workspace --revoke
if can_chown; then
    chown 12345 "$T/bare"
    exits '[row 15] a folder of another user is not accepted' 4 mapm -C "$T/bare" trust --workspace --yes
    like 'and why' "$err" 'bare belongs to another user \(uid 12345\)'
    exits '[row 15] and nothing' 0 mapm trust --list
    unlike 'is remembered' "$out" "$T/bare"
    chown 0 "$T/bare"
else
    skip 'a workspace of another user' 'cannot change owners'
fi

# --- taking it back -----------------------------------------------------------------------------

exits 'a name that is none' 1 mapm trust --revoke deplyo
like 'has a near one' "$err" 'did you mean acme/deploy'
exits 'revoked in all versions' 0 mapm trust --revoke deploy --json
like 'in JSON' "$out" '"versions": 3'
exits 'asked for again' 4 mapm trust deploy
unlike 'from the start' "$out" 'another version'
exits 'the workspace' 0 mapm trust --revoke --workspace
exits 'nothing is left' 0 mapm trust --list
is 'of all that' "$out" ''
mapm trust --yes deploy >/dev/null 2>&1
exits 'all' 0 mapm trust --revoke --all
like 'each is named' "$err" '^metaskill acme/deploy is no longer trusted$'
exits 'all of nothing' 0 mapm trust --revoke --all
is 'is nothing' "$err" 'nothing is trusted on this machine'

for line in '' '--list deploy' '--list --revoke' '--all' '--revoke' \
    '--workspace deploy' '--revoke --all deploy' '--workspace --global'; do
    # shellcheck disable=SC2086
    exits "usage: mapm trust $line" 2 mapm trust $line
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
exits '[row 21] installed, and not trusted' 4 mapm run deploy $INPUT
is '[K34] the text that hosts know' "$out" \
    "$(sed -n '/^```text K34 policy$/{n;s/{name}/deploy/;s/{policy}/trusted/;p}' "$ROOT/docs/requirements.md")"
like 'the way out is named' "$err" 'hint: mapm trust acme/deploy'
exits '--yes says nothing about trust' 4 mapm run --yes deploy $INPUT
exits 'nor does the path of the folder' 4 mapm run "./$PLACE" $INPUT
ln -s "$PLACE" elsewhere
exits 'nor a link to it' 4 mapm run ./elsewhere $INPUT
exits '[row 21] nor does a second program in the folder run' 4 mapm run "./$PLACE/inner" $INPUT
like 'of whatever package' "$out" 'inner is a part of acme/deploy'
exits 'also by a link' 4 mapm run ./elsewhere/inner $INPUT
mapm trust --yes deploy >/dev/null 2>&1
exits 'the whole way: installed, trusted, run' 0 mapm run deploy $INPUT
like 'it ran' "$out" 'v3'
exits '[row 21] what was trusted is that program alone' 4 mapm run "./$PLACE/inner" $INPUT
for name in acme/deploy "$URL/deploy" "./$PLACE" "$T/ws/$PLACE" "$PLACE/SKILL.star" ./elsewhere; do
    exits "named as $name" 0 mapm run "$name" $INPUT
done
exits '[K34] an unknown name' 1 mapm run deplyo $INPUT
is 'the text that hosts know, too' "$out" "error: unknown metaskill: 'deplyo'"
like 'and a near one' "$err" 'acme/deploy'

# a version that is not the one that was trusted
version 4
make_repo acme/catalog "$T/src"
mapm update --yes >/dev/null 2>&1
exits '[X27] an update is not trusted' 4 mapm run deploy $INPUT
like 'and that it was once is said' "$err" 'has changed since it was trusted'
on_terminal n "$MAPM" run deploy $INPUT
is 'on a terminal it is asked for' "$status" 4
like 'with its origin' "$out" "origin +$URL/deploy\$"
like 'and its commit' "$out" 'commit +[0-9a-f]{40}$'
like 'with what changed' "$out" '^    \+    return \{"status": "ok", "result": "v4"\}$'
like 'a no is no' "$out" 'was not trusted: it did not run'
like 'and it is said how to look first' "$out" 'mapm trust --verbose .* shows all of it'
on_terminal y "$MAPM" --quiet run deploy $INPUT
is 'a yes is yes' "$status" 0
like 'the changes are shown, quiet or not' "$out" '^    \+    return \{"status": "ok", "result": "v4"\}$'
exits 'and it is remembered' 0 mapm run deploy $INPUT

# what is not as it was installed
cp -r .agents "$T/whole"
restore()
{
    rm -rf .agents && cp -r "$T/whole" .agents
}
echo '# mine' >>$PLACE/SKILL.star
exits 'a program that was changed' 1 mapm run deploy $INPUT
like 'is named' "$err" "$PLACE/SKILL.star was changed"
like 'so is the way out' "$err" 'hint: .*mapm install --force'
restore
rm $PLACE/scripts/two.sh
exits 'a file that is missing' 1 mapm run deploy $INPUT
like 'is named' "$err" 'scripts/two.sh is missing'
chmod +x $PLACE/SKILL.star
exits 'and one that was made executable' 1 mapm run "./$PLACE" $INPUT
like 'is, too' "$err" 'SKILL.star was made executable'
rm -r $PLACE
exits 'the whole folder' 1 mapm run deploy $INPUT
like 'is put back' "$err" 'hint: mapm install puts back what is missing'
mapm install >/dev/null 2>&1
exits 'by that' 0 mapm run deploy $INPUT
mkdir $PLACE/__pycache__
echo x >$PLACE/__pycache__/x.pyc
exits 'what a command left there does no harm' 0 mapm run deploy $INPUT
rm -r $PLACE/__pycache__
rm -rf "$MAPM_HOME"/store/objects/* "$MAPM_HOME"/store/packs
exits 'nor does a store that lost it' 0 mapm run deploy $INPUT
echo x >$PLACE/extra
exits 'unless it has to be compared with' 1 mapm run deploy $INPUT
like 'and that is said' "$err" 'the store does not have sha256:'
rm $PLACE/extra

mapm install --yes "$URL/notes" >/dev/null 2>&1
cp $PLACE/SKILL.star .agents/skills/notes
exits 'a program put beside a skill that has none' 1 mapm run notes $INPUT
like 'is no part of the package' "$err" 'notes/SKILL.star is not part of the package'
rm .agents/skills/notes/SKILL.star
exits '[K34] a skill without a program' 1 mapm run notes $INPUT
is 'has its text' "$out" "error: skill 'notes' is not a metaskill"

# two of the same short name: the later one's copy has another [X2, X9]
skill "$T/two/skills/deploy" 'scope: other'
printf 'def run(input):\n    return {"status": "ok", "result": "other"}\n' \
    >"$T/two/skills/deploy/SKILL.star"
make_repo other/catalog "$T/two"
mapm install --yes https://github.com/other/catalog/tree/main/skills/deploy >/dev/null 2>&1
copy=$(cd .agents/skills && ls -d *other*)
exits '[X9] a renamed copy' 0 mapm trust --yes other/deploy
exits 'runs' 0 mapm run other/deploy $INPUT
like 'its own program' "$out" 'other'
exits 'by its folder, too' 0 mapm run "$copy" $INPUT
exits 'a short name of two' 2 mapm run deploy $INPUT
like 'names both' "$err" 'acme/deploy'
echo more >>".agents/skills/$copy/SKILL.md"
exits 'a renamed copy that was changed' 1 mapm run other/deploy $INPUT
like 'is found' "$err" "$copy/SKILL.md was changed"

# local ones, and the user's library
fresh
mkdir -p .agents/skills/own
sed 's/^name: .*/name: own/' "$S/SKILL.md" >.agents/skills/own/SKILL.md
cp "$S/SKILL.star" .agents/skills/own
exits '[X27] one written in the workspace runs' 0 mapm run own $INPUT
exits 'by its full name, too' 0 mapm run acme/own $INPUT
exits 'and any folder given by its path' 0 mapm -C "$T/empty" run "$S" $INPUT
mkdir -p skills && cp -r .agents/skills/own skills/thing
sed -i 's/^name: .*/name: thing/' skills/thing/SKILL.md
exits 'a folder named like a qualified name' 1 mapm run skills/thing $INPUT
like 'is not meant by it' "$err" 'say \./skills/thing'
mapm install --yes "$T/mine/draft" >/dev/null 2>&1
exits '[X27] one installed from a folder runs' 0 mapm run draft $INPUT
exits '[K37] one of the library of the user does not' 4 mapm -C "$T/empty" run deploy $INPUT
mapm install -g --yes "$URL/deploy" >/dev/null 2>&1
mapm trust -g --yes deploy >/dev/null 2>&1
exits 'unless it is trusted' 0 mapm -C "$T/empty" run deploy $INPUT
mkdir -p "$T/empty/skills/deploy"
cp "$S/SKILL.md" "$T/empty/skills/deploy"
sed -i 's/^name: .*/name: deploy/' "$T/empty/skills/deploy/SKILL.md"
printf 'def run(input):\n    return "planted"\n' >"$T/empty/skills/deploy/SKILL.star"
exits '[row 21] what lies in skills, where commands may write' 0 \
    mapm -C "$T/empty" run deploy $INPUT
unlike 'does not take its place' "$out" planted
like 'and is named' "$err" '\./skills/deploy is another'
rm -r "$T/empty/skills"
rm "$HOME/$PLACE/SKILL.star"
exits 'and whole' 1 mapm -C "$T/empty" run deploy $INPUT
like 'else the way out is of the library' "$err" 'mapm install --global'

# the policy of the user and of the workspace
mapm trust --revoke --all >/dev/null 2>&1
mkdir -p "$XDG_CONFIG_HOME/mapm"
echo 'runtime: {metaskills: all}' >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits 'a user may let all run' 0 mapm run deploy $INPUT
printf 'runtime: {metaskills: local}\n' >>mapm.yaml
exits 'a workspace may not let these run' 4 mapm run deploy $INPUT
is 'and the text names the policy' "$out" \
    "error: external metaskill 'deploy' is not allowed (policy: local)"
sed -i '/^runtime:/d' mapm.yaml
rm "$XDG_CONFIG_HOME/mapm/config.yaml"

# --- [row 26] what is not a cache ------------------------------------------------------------------

mapm trust --yes deploy >/dev/null 2>&1
rm -f "$MAPM_HOME"/mapm.db-*
head -c 20000 /dev/urandom >"$MAPM_HOME/mapm.db"
exits '[row 26] a damaged mapm.db' 0 mapm trust --list
like 'its loss is said' "$err" "warning: mapm.db was damaged: .*lost.*$MAPM_HOME/mapm.db.damaged-[0-9]+"
is 'nothing is guessed' "$out" ''
ok 'it is kept' test -s "$(printf '%s\n' "$err" | sed -n 's/.*file is now //p')"
exits 'once' 0 mapm trust --list
is 'then no more' "$err" 'nothing is trusted on this machine'
exits '[row 24] what others may write to is refused' 4 sh -c \
    'chmod 777 "$MAPM_HOME" && "$MAPM" trust --yes deploy'
chmod 700 "$MAPM_HOME"
done_testing

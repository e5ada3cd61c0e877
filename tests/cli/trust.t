#!/bin/sh
# mapm trust: programs of packages, by name and content (X27, K37, row 21), and
# what a workspace allows itself (DESIGN.md 3.1).
. "$(dirname "$0")/../lib/cli.sh"

# on_terminal ANSWER COMMAND...: runs it on a terminal, answers each question.
# What it printed is in $out, its status in $status.
on_terminal()
{
    out=$(python3 - "$@" <<'PYTHON'
import os, pty, select, sys, time
answer, command = sys.argv[1], sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
text, asked, end = b"", 0, time.time() + 60
while time.time() < end:
    if not select.select([fd], [], [], 1)[0]:
        continue
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    text += data
    if text.count(b"[y/N]") > asked:
        asked += 1
        os.write(fd, answer.encode() + b"\n")
sys.stdout.write(text.decode("utf-8", "replace").replace("\r\n", "\n"))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PYTHON
    )
    status=$?
}

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
agent "$T/src/agents/deploy" 'scope: acme'
make_repo acme/catalog "$T/src"
mapm install --yes "$URL/deploy" "$URL/notes" >/dev/null 2>&1

# --- by name ------------------------------------------------------------------------

exits 'nothing is trusted at first' 0 mapm trust --list
is 'and says so' "$err" 'nothing is trusted on this machine'
exits 'without a terminal and without --yes: refused' 4 mapm trust deploy
like 'row 21: the origin is shown' "$out" "origin +$URL/deploy\$"
like 'the commit' "$out" "commit +$COMMIT\$"
like 'the program' "$out" 'program +SKILL.star, 2 lines, 60 B'
unlike 'not its text' "$out" 'def run'
like 'the way out is named' "$err" 'hint: .*--yes'
exits 'still nothing' 0 mapm trust --list --json
like 'in JSON' "$out" '"trusted": \[\]'

exits '--verbose shows the program' 4 mapm trust --verbose acme/deploy
like 'behind a margin' "$out" '^    \| def run\(input\):$'
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
like 'says why' "$err" 'no program that can run'
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
exits 'X27: another digest is asked for again' 4 mapm trust deploy
like 'what was trusted is named' "$out" 'another version since 20..-..-.., sha256:[0-9a-f]{12}$'
like 'row 21: the program differs' "$out" '^    -    return \{"status": "ok", "result": "v1"\}$'
like 'both sides' "$out" '^    \+    return \{"status": "ok", "result": "v2"\}$'
like 'hidden characters are visible' "$out" '\\x1b\[31m\\u\{202e\} hidden$'
like 'SKILL.md differs' "$out" '^    \+One line more\.$'
like 'a file is gone' "$out" '^    removed scripts/one.sh$'
like 'a file is new' "$out" '^    added scripts/two.sh$'
exits 'the digest, in JSON' 0 mapm trust --yes --json deploy
like 'is new' "$out" '"new": true'
is 'and nothing else is printed' "$err" ''
is 'it is JSON' "$(printf '%s' "$out" | python3 -c 'import json, sys
d = json.load(sys.stdin)
print(d["schema"], d["command"], [(t["kind"], t["name"]) for t in d["trusted"]])')" \
    "mapm.trust/1 trust [('metaskill', 'acme/deploy')]"
exits 'both versions are listed' 0 mapm trust --list
is 'the newer first' "$(printf '%s\n' "$out" | sed 's/.*  //')" "in $T/ws
not installed"

version 3
make_repo acme/catalog "$T/src"
mapm update --yes >/dev/null 2>&1
find "$MAPM_HOME/store/objects" -type f -exec touch -d '2 days ago' {} +
mapm store gc >/dev/null
exits 'an earlier version that gc took' 4 mapm trust deploy
like 'cannot be compared, and that is said' "$out" 'no longer in the store'

# --- the library of the user ---------------------------------------------------------------

mkdir "$T/empty"
mapm install -g --yes "$URL/deploy" >/dev/null 2>&1
exits 'K37: the library of the user needs it, too' 0 mapm -C "$T/empty" trust --yes deploy
exits '--global looks there alone' 0 mapm trust -g deploy
is 'it is trusted by now' "$err" 'acme/deploy is trusted already'
skill "$T/mine/draft" 'scope: acme'
cp "$S/SKILL.star" "$T/mine/draft"
mapm install --yes "$T/mine/draft" >/dev/null 2>&1
exits 'X27: what came from a folder needs none' 1 mapm trust --yes draft
like 'and that is said' "$err" 'runs without'

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
like 'X27: what is offered over MCP' "$out" '^    own$'
unlike 'what was installed is not local' "$out" '^    deploy$'
like 'each rule, with its line' "$out" 'allow \["git","diff","\*"\]   \(mapm.yaml:[0-9]+\)$'
like 'no word passes for two' "$out" 'allow \["make","a b.*202[eE].*"\]'
like 'what is forbidden' "$out" 'deny  \["git","push","\*"\]'
like 'the network' "$out" 'network: true'
on_terminal yes "$MAPM" trust --workspace
is 'it is accepted' "$status" 0
exits 'twice: the folder, and these rules' 0 mapm trust --list --json
is 'by digest and without' "$(printf '%s' "$out" | python3 -c 'import json, sys
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

# --- row 26: what is not a cache ------------------------------------------------------------------

mapm trust --yes deploy >/dev/null 2>&1
rm -f "$MAPM_HOME"/mapm.db-*
head -c 20000 /dev/urandom >"$MAPM_HOME/mapm.db"
exits 'row 26: a damaged mapm.db' 0 mapm trust --list
like 'its loss is said' "$err" "warning: mapm.db was damaged: .*lost.*$MAPM_HOME/mapm.db.damaged-[0-9]+"
is 'nothing is guessed' "$out" ''
ok 'it is kept' test -s "$(printf '%s\n' "$err" | sed -n 's/.*file is now //p')"
exits 'once' 0 mapm trust --list
is 'then no more' "$err" 'nothing is trusted on this machine'
exits 'row 24: what others may write to is refused' 4 sh -c \
    'chmod 777 "$MAPM_HOME" && "$MAPM" trust --yes deploy'
chmod 700 "$MAPM_HOME"
done_testing

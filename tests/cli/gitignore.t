#!/bin/sh
# mapm init --gitignore, and who is told of it [D20].
. "$(dirname "$0")/../lib/cli.sh"

# at_terminal COMMAND...: on a terminal; what it prints, without CR.
at_terminal()
{
    python3 -S -c '
import pty, sys
sys.exit(pty.spawn(sys.argv[1:]) != 0)' "$@" </dev/null | tr -d '\r'
}
offer='mapm init --gitignore adds'

skill "$T/src/skills/hello"
skill "$T/src/skills/other"
skill "$T/src/skills/third"
agent "$T/src/agents/helper"
mcp "$T/src/mcps/io.acme_tool.json" io.acme/tool npx '${workspaceDir}'
start_githost
make_repo acme/catalog "$T/src"
at=https://github.com/acme/catalog/tree/main

exits 'no workspace' 1 mapm init --gitignore
like 'is told' "$err" 'no mapm.yaml'
exits 'no folder besides' 2 mapm init --gitignore x
echo 'dependencies: {}' >mapm.yaml
exits 'no repository' 1 mapm init --gitignore
like 'is told, too' "$err" 'in no git repository'
git init -q . 2>/dev/null
exits 'nothing is installed' 0 mapm init --gitignore
like 'there is nothing to add' "$err" 'nothing to add'
not_ok 'no file' test -e .gitignore
mkdir -p .agents/skills
skill .agents/skills/own
exits 'without a terminal' 0 mapm install --yes $at/skills/hello $at/agents/helper $at/mcps/io.acme_tool.json
unlike '[D20] nothing is offered' "$err" "$offer"
not_ok 'and nothing is written' test -e .gitignore
is '[D20] at a terminal --yes accepts no offer' \
    "$(at_terminal "$MAPM" install --yes $at/skills/other | grep -c "$offer")" 0
like 'without it there is one' "$(at_terminal "$MAPM" install $at/skills/third)" \
    "paths that mapm install makes again are not in .gitignore: $offer them"
not_ok 'that writes nothing' test -e .gitignore
MAPM_HOME=$T/elsewhere # where it was not told
rm -rf .agents/skills/third
is 'nor with --locked' "$(at_terminal "$MAPM" install --locked | grep -c "$offer")" 0
rm -rf .agents/skills/third
is 'nor with CI' "$(at_terminal env CI=1 "$MAPM" install | grep -c "$offer")" 0
for value in false 0 ''; do
    rm -rf .agents/skills/third "$T/elsewhere"
    is "[D20] CI=$value is no CI" \
        "$(at_terminal env CI=$value "$MAPM" install | grep -c "$offer")" 1
done
rm -rf .agents/skills/third "$T/elsewhere"
is 'nor for a dry run' "$(at_terminal "$MAPM" install --dry-run | grep -c "$offer")" 0
like 'but there, too' "$(at_terminal "$MAPM" install)" "$offer"
rm -rf .agents/skills/third
is '[D4] once on a machine' "$(at_terminal "$MAPM" install | grep -c "$offer")" 0
MAPM_HOME=$T/mapm
mapm install >/dev/null 2>&1

# --- the lines ----------------------------------------------------------------------

printf '# ours\n*.o' >.gitignore
mkdir -p src
git add -f .agents/skills/other >/dev/null 2>&1
exits 'mapm init --gitignore' 0 mapm init --gitignore
is '[D20] generated files, nothing that is tracked, no skill of our own' "$(cat .gitignore)" \
    '# ours
*.o
# mapm: generated files
/.agents/.mapm/
/mapm.local.*
/.agents/agents/helper
/.agents/skills/hello
/.agents/skills/third
/.claude/agents/helper.md
/.claude/skills/hello
/.claude/skills/other
/.claude/skills/own
/.claude/skills/third
/.mcp.json
# mapm: end'
is 'git ignores them' "$(git status --porcelain -uall | sed 's/^...//' | grep -v ^.agents/skills/other)" \
    '.agents/skills/own/SKILL.md
.gitignore
mapm.lock
mapm.yaml'
cp .gitignore "$T/before"
exits 'again' 0 mapm init --gitignore
like 'adds nothing' "$err" 'nothing to add'
ok 'not a byte' cmp .gitignore "$T/before"
rm -rf .agents/skills/third
is 'and then nothing is offered' "$(at_terminal "$MAPM" install | grep -c "$offer")" 0
echo '# below' >>.gitignore
skill "$T/src/skills/later"
make_repo acme/catalog "$T/src"
mapm install --yes $at/skills/later >/dev/null 2>&1
exits 'one more package' 0 mapm init --gitignore --json
is 'as JSON' "$(printf '%s\n' "$out" | tr -d '\n ')" \
    '{"schema":"mapm.init/1","command":"gitignore","path":".gitignore","changed":true,"added":[".agents/skills/later",".claude/skills/later"]}'
is 'in its place, other lines around it stay' "$(sed -n '1,2p;$p' .gitignore | tr '\n' ' ')" '# ours *.o # below '
is 'in one block' "$(grep -c '^# mapm' .gitignore)" 2
echo 'servers: start' >>mapm.yaml
mapm install >/dev/null 2>&1
sed -i /hello/d .gitignore
exits 'with servers: start' 0 mapm init --gitignore
not_ok '[D20] a client file without paths is for the team' grep -q mcp.json .gitignore
sed -i '/mapm: end/d;/later/d' .gitignore
cp .gitignore "$T/before"
exits 'a block without its end' 1 mapm init --gitignore
ok 'is left alone' cmp .gitignore "$T/before"
rm .gitignore && ln -s "$T/before" .gitignore
exits 'a link' 4 mapm init --gitignore
ok 'is not followed' cmp "$T/before" .gitignore
rm .gitignore
printf '.agents\n.claude\n.mcp.json\n' >.gitignore
exits 'what is ignored in other words' 0 mapm init --gitignore
is 'is left to them' "$(wc -l <.gitignore)" 3

# --- a hostile repository -------------------------------------------------------------

rm .gitignore
git config core.fsmonitor "touch $T/monitor"
git config core.hooksPath "$T"
exits 'a repository that configures a program' 0 mapm init --gitignore
not_ok '[D20] does not run it' test -e "$T/monitor"
rm .gitignore
exits 'variables of git do not count' 0 env GIT_DIR=/nowhere GIT_INDEX_FILE=/nowhere GIT_CONFIG_COUNT=1 \
    GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0="touch $T/monitor" "$MAPM" init --gitignore
ok 'and the file is written' test -s .gitignore
not_ok 'nor what they would run' test -e "$T/monitor"
rm .gitignore && cp -r . "$T/clone" && cd "$T/clone" || exit 1
exits 'a record that came with the repository' 0 mapm init --gitignore
like 'names nothing' "$err" 'nothing to add'

done_testing

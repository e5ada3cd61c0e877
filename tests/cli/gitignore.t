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

exits 'init --gitignore without a workspace fails' 1 mapm init --gitignore
like 'the error says that there is no mapm.yaml' "$err" 'no mapm.yaml'
exits 'init --gitignore with a folder is a usage error' 2 mapm init --gitignore x
echo 'dependencies: {}' >mapm.yaml
exits 'init --gitignore without a git repository fails' 1 mapm init --gitignore
like 'the error says that there is no git repository' "$err" 'in no git repository'
git init -q . 2>/dev/null
exits 'init --gitignore without packages succeeds' 0 mapm init --gitignore
like 'init --gitignore without packages has nothing to add' "$err" 'nothing to add'
not_ok 'init --gitignore without packages creates no .gitignore' test -e .gitignore
mkdir -p .agents/skills
skill .agents/skills/own
exits 'install without a terminal succeeds' 0 mapm install --yes $at/skills/hello $at/agents/helper $at/mcps/io.acme_tool.json
unlike '[D20] install without a terminal does not suggest --gitignore' "$err" "$offer"
not_ok 'install without a terminal writes no .gitignore' test -e .gitignore
is '[D20] install --yes on a terminal does not suggest --gitignore' \
    "$(at_terminal "$MAPM" install --yes $at/skills/other | grep -c "$offer")" 0
like 'install on a terminal suggests --gitignore' "$(at_terminal "$MAPM" install $at/skills/third)" \
    "paths that mapm install makes again are not in .gitignore: $offer them"
not_ok 'the suggestion writes no .gitignore' test -e .gitignore
MAPM_HOME=$T/elsewhere # where it was not told
rm -rf .agents/skills/third
is 'install --locked on a terminal does not suggest --gitignore' "$(at_terminal "$MAPM" install --locked | grep -c "$offer")" 0
rm -rf .agents/skills/third
is 'install with CI set does not suggest --gitignore' "$(at_terminal env CI=1 "$MAPM" install | grep -c "$offer")" 0
for value in false 0 ''; do
    rm -rf .agents/skills/third "$T/elsewhere"
    is "[D20] install with CI=$value suggests --gitignore" \
        "$(at_terminal env CI=$value "$MAPM" install | grep -c "$offer")" 1
done
rm -rf .agents/skills/third "$T/elsewhere"
is 'install --dry-run on a terminal does not suggest --gitignore' "$(at_terminal "$MAPM" install --dry-run | grep -c "$offer")" 0
like 'install after --dry-run suggests --gitignore' "$(at_terminal "$MAPM" install)" "$offer"
rm -rf .agents/skills/third
is '[D4] the suggestion is made once on a machine' "$(at_terminal "$MAPM" install | grep -c "$offer")" 0
MAPM_HOME=$T/mapm
mapm install >/dev/null 2>&1

# --- the lines ----------------------------------------------------------------------

printf '# ours\n*.o' >.gitignore
mkdir -p src
git add -f .agents/skills/other >/dev/null 2>&1
exits 'init --gitignore with packages succeeds' 0 mapm init --gitignore
is '[D20] the block lists generated files, no tracked and no own skill' "$(cat .gitignore)" \
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
is 'git ignores the listed files and sees the others' "$(git status --porcelain -uall | sed 's/^...//' | grep -v ^.agents/skills/other)" \
    '.agents/skills/own/SKILL.md
.gitignore
mapm.lock
mapm.yaml'
cp .gitignore "$T/before"
exits 'a second init --gitignore succeeds' 0 mapm init --gitignore
like 'a second init --gitignore has nothing to add' "$err" 'nothing to add'
ok 'a second init --gitignore leaves .gitignore unchanged' cmp .gitignore "$T/before"
rm -rf .agents/skills/third
is 'install after init --gitignore does not suggest it' "$(at_terminal "$MAPM" install | grep -c "$offer")" 0
echo '# below' >>.gitignore
skill "$T/src/skills/later"
make_repo acme/catalog "$T/src"
mapm install --yes $at/skills/later >/dev/null 2>&1
exits 'init --gitignore --json after one more package succeeds' 0 mapm init --gitignore --json
is 'init --gitignore --json lists the added paths' "$(printf '%s\n' "$out" | tr -d '\n ')" \
    '{"schema":"mapm.init/1","command":"gitignore","path":".gitignore","changed":true,"added":[".agents/skills/later",".claude/skills/later"]}'
is 'lines around the block stay' "$(sed -n '1,2p;$p' .gitignore | tr '\n' ' ')" '# ours *.o # below '
is '.gitignore has one block of mapm' "$(grep -c '^# mapm' .gitignore)" 2
echo 'servers: start' >>mapm.yaml
mapm install >/dev/null 2>&1
sed -i /hello/d .gitignore
exits 'init --gitignore with servers: start succeeds' 0 mapm init --gitignore
not_ok '[D20] a client file without local paths is not ignored' grep -q mcp.json .gitignore
sed -i '/mapm: end/d;/later/d' .gitignore
cp .gitignore "$T/before"
exits 'init --gitignore fails with a block without its end' 1 mapm init --gitignore
ok 'the file with a block without its end is unchanged' cmp .gitignore "$T/before"
rm .gitignore && ln -s "$T/before" .gitignore
exits 'init --gitignore refuses a link in place of .gitignore' 4 mapm init --gitignore
ok 'the target of the link is unchanged' cmp "$T/before" .gitignore
rm .gitignore
printf '.agents\n.claude\n.mcp.json\n' >.gitignore
exits 'init --gitignore with broader patterns of the user succeeds' 0 mapm init --gitignore
is 'init --gitignore adds no line beside broader patterns' "$(wc -l <.gitignore)" 3

# --- a hostile repository -------------------------------------------------------------

rm .gitignore
git config core.fsmonitor "touch $T/monitor"
git config core.hooksPath "$T"
exits 'init --gitignore in a repository that configures programs succeeds' 0 mapm init --gitignore
not_ok '[D20] init --gitignore runs no configured program' test -e "$T/monitor"
rm .gitignore
exits 'init --gitignore with variables of git succeeds' 0 env GIT_DIR=/nowhere GIT_INDEX_FILE=/nowhere GIT_CONFIG_COUNT=1 \
    GIT_CONFIG_KEY_0=core.fsmonitor GIT_CONFIG_VALUE_0="touch $T/monitor" "$MAPM" init --gitignore
ok 'init --gitignore writes the file despite variables of git' test -s .gitignore
not_ok 'init --gitignore runs no program of the variables' test -e "$T/monitor"
rm .gitignore && cp -r . "$T/clone" && cd "$T/clone" || exit 1
exits 'init --gitignore with a copied record succeeds' 0 mapm init --gitignore
like 'init --gitignore adds nothing from a copied record' "$err" 'nothing to add'

done_testing

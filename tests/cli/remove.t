#!/bin/sh
# remove: by any of its names, with what only it needed, and never what is the
# user's. [M34, X19, X21]; THREATS 1.7, [row 28].
. "$(dirname "$0")/../lib/cli.sh"
s=$T/src
U=https://github.com/acme/catalog/tree/main

for name in base shared lone; do
    skill "$s/skills/$name" 'scope: acme'
    echo notes >"$s/skills/$name/notes.txt"
done
skill "$s/skills/mid" 'scope: acme' 'dependencies:' '  skills:' "    - $U/skills/base" "    - $U/skills/shared"
skill "$s/skills/user" 'scope: acme' 'dependencies:' '  skills:' "    - $U/skills/shared"
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool
agent "$s/agents/boss" 'scope: acme' 'dependencies:' '  skills:' "    - $U/skills/mid" '  mcps:' \
    "    - $U/mcps/io.acme_tool.json"
make_repo acme/catalog "$s"
start_githost

# workspace: all of it, fresh.
workspace()
{
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
    printf '%s\n' '{' '  // mine' '  "mcpServers": {' '    "own": { "command": "own" }' '  }' '}' >.mcp.json
    sed -i '/mine/d' .mcp.json
    cp .mcp.json "$T/mcp.before"
    mapm install -q --yes "$U/agents/boss" "$U/skills/user" "$U/skills/lone" || fail 'the workspace is set up'
}

# --- what is needed stays -----------------------------------------------------------

workspace
snapshot . >"$T/before"
exits 'remove fails for a package that others need' 1 mapm remove shared
like 'the error names the first package that needs it' "$err" 'skill acme/mid needs it'
like 'the error names the second package that needs it' "$err" 'skill acme/user needs it'
like 'the error gives a hint' "$err" 'hint: '
run mapm remove shared --json
like 'remove --json has the code has-dependents' "$out" '"has-dependents"'
is 'a refused remove changes nothing' "$(snapshot .)" "$(cat "$T/before")"
exits 'install of the needed package as a root succeeds' 0 mapm install "$U/skills/shared"
exits 'remove fails for a root that others need' 1 mapm remove shared
like 'mapm.yaml keeps the needed root' "$(cat mapm.yaml)" 'skills/shared'
exits 'remove succeeds for a package together with all that need it' 0 mapm remove shared user boss
is 'remove deletes the dependencies that nothing else needs' "$(ls .agents/skills)" lone
ok 'remove restores .mcp.json byte for byte' cmp .mcp.json "$T/mcp.before"

# --- by its names ----------------------------------------------------------------------

for name in boss acme/boss "$U/agents/boss" 'agent acme/boss'; do
    workspace
    reset_log
    exits "remove succeeds by the name $name" 0 mapm remove "$name"
    is "remove of $name sends no request" "$(requests)" 0
    not_ok "remove of $name deletes the agent" test -e .agents/agents/boss
    not_ok "remove of $name deletes the sub-agent of the client" test -e .claude/agents/boss.md
    is "remove of $name deletes skills that only the agent needed" "$(ls .agents/skills | tr '\n' ' ')" 'lone shared user '
    ok "remove of $name deletes the server that only the agent needed" cmp .mcp.json "$T/mcp.before"
    unlike "remove of $name deletes the root from mapm.yaml" "$(cat mapm.yaml)" boss
    unlike "remove of $name deletes the entries from mapm.lock" "$(cat mapm.lock)" 'boss|acme/mid|acme/base'
done
exits 'remove fails for a package that was removed before' 1 mapm remove boss
like 'the error says that nothing has the name' "$err" 'nothing named "boss"'
exits 'remove fails for a misspelt name' 1 mapm remove lnoe
like 'remove of a misspelt name suggests the nearest one' "$err" 'did you mean acme/lone'
exits 'remove without a name is a usage error' 2 mapm remove
exits 'remove --dry-run succeeds' 0 mapm remove --dry-run lone
like 'remove --dry-run prints the package that it would remove' "$out" '- skill acme/lone'
ok 'remove --dry-run keeps the package' test -f .agents/skills/lone/SKILL.md
exits 'remove --json succeeds' 0 mapm remove --json lone
printf '%s\n' "$out" >"$T/out.json"
is 'remove --json has the removed package' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
print(d["command"], [(p["name"], p["action"]) for p in d["packages"] if p["action"] != "keep"], d["kept"])
P
)" "remove [('acme/lone', 'remove')] []"
exits 'remove of the last package succeeds' 0 mapm remove user
not_ok 'remove of the last package leaves no empty folder of skills' test -e .agents/skills
not_ok 'remove of the last package leaves no empty folder of a client' test -e .claude

# --- what the user changed stays ----------------------------------------------------------

workspace
echo mine >>.agents/skills/base/SKILL.md
exits 'remove succeeds for a package with an edited dependency' 0 mapm remove boss
like 'remove warns about the edited file' "$err" '\.agents/skills/base/SKILL\.md was changed'
like 'remove keeps the edited file' "$(tail -n 1 .agents/skills/base/SKILL.md)" mine
ok 'remove keeps the folder of the edited file' test -f .agents/skills/base/notes.txt
not_ok 'remove deletes the client link to the edited skill' test -L .claude/skills/base
not_ok 'remove deletes the dependency without edits' test -e .agents/skills/mid
unlike 'remove deletes the edited dependency from mapm.lock' "$(cat mapm.lock)" acme/base
exits 'verify succeeds beside the edited folder' 0 mapm verify
exits 'install succeeds beside the edited folder' 0 mapm install
ok 'install keeps the edited folder' test -f .agents/skills/base/SKILL.md
workspace
echo extra >.agents/skills/lone/mine.txt
exits 'remove succeeds for a package with an added file' 0 mapm remove lone
like 'remove warns about the added file' "$err" 'lone/mine\.txt was added'
ok 'remove keeps the added file' test -f .agents/skills/lone/mine.txt
workspace
echo mine >>.agents/skills/lone/SKILL.md
exits 'remove succeeds beside an edited package' 0 mapm remove boss
unlike 'remove does not mention an edited package that stays' "$err" 'lone'
exits 'verify still exits 3 for the edited package' 3 mapm verify
snapshot . >"$T/before"
exits 'install succeeds beside an edited package' 0 mapm install
like 'install says that the edited package is left as it is' "$err" 'skill acme/lone was edited and is left as it is'
is 'install writes nothing into the workspace' "$(snapshot .)" "$(cat "$T/before")"
workspace
sed -i 's/"tool"/"tool", "--mine"/' .mcp.json
exits 'remove succeeds beside an edited server' 0 mapm remove lone
like 'remove keeps the edit of a server that stays' "$(cat .mcp.json)" '"--mine"'
exits 'install succeeds beside an edited server' 0 mapm install
like 'install says that the edited server is left as it is' "$err" 'mcp io\.acme/tool was edited and is left as it is \(\.mcp\.json#io-acme-tool was changed\)'
workspace
echo mine >>.agents/skills/lone/SKILL.md
exits 'remove --force succeeds for an edited package' 0 mapm remove --force lone
not_ok 'remove --force deletes the edited package' test -e .agents/skills/lone
like 'remove --force names the folder of the backup' "$err" '\.agents/\.mapm/backup'
workspace
sed -i 's/"tool"/"tool", "--mine"/' .mcp.json
exits 'remove succeeds for an agent with an edited server' 0 mapm remove boss
like 'remove warns about the edited server' "$err" '\.mcp\.json#io-acme-tool was changed'
like 'remove keeps the edited server' "$(cat .mcp.json)" '"--mine"'
workspace
echo mine >>.claude/agents/boss.md
exits 'remove succeeds for an agent with an edited sub-agent' 0 mapm remove boss
like 'remove keeps the edited sub-agent' "$(tail -n 1 .claude/agents/boss.md)" mine
workspace
rm -rf .agents/skills/lone .claude/skills/lone
exits 'remove succeeds for a package whose files are gone' 0 mapm remove lone
unlike 'remove deletes the missing package from mapm.lock' "$(cat mapm.lock)" acme/lone
exits 'verify succeeds for the remaining packages' 0 mapm verify

# mapm's own server, which no package is.
workspace
printf '# mine\r\n' >>mapm.yaml
cp mapm.yaml "$T/yaml.before" && cp .mcp.json "$T/mcp.with"
mapm install -q --yes --with-server 2>/dev/null
like 'install --with-server writes the server of mapm' "$(cat .mcp.json)" '"mapm"'
sed -i 's/^server: true$/server: true # why/' mapm.yaml
exits '[H7] remove of the server of mapm succeeds' 0 mapm remove mapm
ok '[H7] remove deletes the line of the server from mapm.yaml alone' cmp mapm.yaml "$T/yaml.before"
ok '[H7] remove deletes the entry of the server from .mcp.json' cmp .mcp.json "$T/mcp.with"
exits '[H7] verify succeeds after the removal of the server' 0 mapm verify
exits '[H7] a second remove of the server fails' 1 mapm remove mapm
skill "$T/own/mapm"
mapm install -q --yes --with-server "$T/own/mapm"
exits '[H7] remove succeeds for a package that is also named mapm' 0 mapm remove mapm
not_ok '[H7] remove prefers the package over the server of mapm' test -e .agents/skills/mapm
like '[H7] the server of mapm stays after the package was removed' "$(cat .mcp.json)" '"mapm"'
exits '[H7] remove accepts mapm/mcp as the name of the server' 0 mapm remove mapm/mcp
ok '[H7] remove of mapm/mcp deletes the entry from .mcp.json' cmp .mcp.json "$T/mcp.with"

# What a restore kept stays out of git when the last package has gone.
cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
mapm install -q --yes "$U/skills/lone"
echo mine >>.agents/skills/lone/notes.txt
exits '[D4] restore of an edited package succeeds' 0 mapm restore lone
exits 'remove of the restored package succeeds' 0 mapm remove lone
like 'the backup of the edit remains after remove' "$(cat .agents/.mapm/backup/*/.agents/skills/lone/notes.txt)" mine
is 'git ignores the backup after remove' "$(cat .agents/.mapm/.gitignore)" '*'

# A name of a file is one line, whatever it holds.
workspace
touch ".agents/skills/lone/$(printf 'x\n0 packages differ: fine')"
run mapm verify
is '[F3] (f) verify prints a file name with a line break in one line' "$out" '.agents/skills/lone/x\x0a0 packages differ: fine: extra'
run mapm remove lone
unlike '[F3] (f) remove prints no line that a file name forges' "$err" '^0 packages differ'
like '[F3] (f) remove escapes the line break in a warning' "$err" '^warning: .*lone/x\\x0a0 packages differ: fine was added: kept$'
done_testing

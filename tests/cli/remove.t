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
    mapm install -q --yes "$U/agents/boss" "$U/skills/user" "$U/skills/lone" || fail 'set up'
}

# --- what is needed stays -----------------------------------------------------------

workspace
snapshot . >"$T/before"
exits 'a needed one stays' 1 mapm remove shared
like 'each that needs it' "$err" 'skill acme/mid needs it'
like 'and the other' "$err" 'skill acme/user needs it'
like 'what to do' "$err" 'hint: '
run mapm remove shared --json
like 'a code' "$out" '"has-dependents"'
is 'nothing changed' "$(snapshot .)" "$(cat "$T/before")"
exits 'also when a root, too' 0 mapm install "$U/skills/shared"
exits 'is needed' 1 mapm remove shared
like 'it is still a root' "$(cat mapm.yaml)" 'skills/shared'
exits 'with all that need it, it goes' 0 mapm remove shared user boss
is 'and all that came along' "$(ls .agents/skills)" lone
ok 'the user has .mcp.json as it was' cmp .mcp.json "$T/mcp.before"

# --- by its names ----------------------------------------------------------------------

for name in boss acme/boss "$U/agents/boss" 'agent acme/boss'; do
    workspace
    reset_log
    exits "by name: $name" 0 mapm remove "$name"
    is "no request: $name" "$(requests)" 0
    not_ok "it is gone: $name" test -e .agents/agents/boss
    not_ok "its sub-agent, too: $name" test -e .claude/agents/boss.md
    is "so are its orphans: $name" "$(ls .agents/skills | tr '\n' ' ')" 'lone shared user '
    ok "and its server: $name" cmp .mcp.json "$T/mcp.before"
    unlike "mapm.yaml: $name" "$(cat mapm.yaml)" boss
    unlike "mapm.lock: $name" "$(cat mapm.lock)" 'boss|acme/mid|acme/base'
done
exits 'again' 1 mapm remove boss
like 'there is none' "$err" 'nothing named "boss"'
exits 'a near name' 1 mapm remove lnoe
like 'is named' "$err" 'did you mean acme/lone'
exits 'no name' 2 mapm remove
exits 'dry run' 0 mapm remove --dry-run lone
like 'says what would go' "$out" '- skill acme/lone'
ok 'and leaves it' test -f .agents/skills/lone/SKILL.md
exits 'for programs' 0 mapm remove --json lone
printf '%s\n' "$out" >"$T/out.json"
is 'JSON' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
print(d["command"], [(p["name"], p["action"]) for p in d["packages"] if p["action"] != "keep"], d["kept"])
P
)" "remove [('acme/lone', 'remove')] []"
exits 'the last one' 0 mapm remove user
not_ok 'leaves no empty folders' test -e .agents/skills
not_ok 'nor for clients' test -e .claude

# --- what the user changed stays ----------------------------------------------------------

workspace
echo mine >>.agents/skills/base/SKILL.md
exits 'an edited file is no obstacle' 0 mapm remove boss
like 'it is named' "$err" '\.agents/skills/base/SKILL\.md was changed'
like 'and stays' "$(tail -n 1 .agents/skills/base/SKILL.md)" mine
ok 'with its folder' test -f .agents/skills/base/notes.txt
not_ok 'nothing links to it' test -L .claude/skills/base
not_ok 'the rest is gone' test -e .agents/skills/mid
unlike 'also from the lock' "$(cat mapm.lock)" acme/base
exits 'it is no finding' 0 mapm verify
exits 'and in nobody way' 0 mapm install
ok 'still there' test -f .agents/skills/base/SKILL.md
workspace
echo extra >.agents/skills/lone/mine.txt
exits 'so does a file added' 0 mapm remove lone
like 'named' "$err" 'lone/mine\.txt was added'
ok 'there' test -f .agents/skills/lone/mine.txt
workspace
echo mine >>.agents/skills/lone/SKILL.md
exits 'an edit elsewhere is no obstacle' 0 mapm remove boss
unlike 'nor worth a word' "$err" 'lone'
exits 'verify still knows it' 3 mapm verify
snapshot . >"$T/before"
exits 'install leaves it, too' 0 mapm install
like 'with a note' "$err" 'skill acme/lone was edited and is left as it is'
is 'nothing was written' "$(snapshot .)" "$(cat "$T/before")"
workspace
sed -i 's/"tool"/"tool", "--mine"/' .mcp.json
exits 'a changed server is no obstacle' 0 mapm remove lone
like 'and stays' "$(cat .mcp.json)" '"--mine"'
exits 'nor to install' 0 mapm install
like 'noted' "$err" 'mcp io\.acme/tool was edited and is left as it is \(\.mcp\.json#io-acme-tool was changed\)'
workspace
echo mine >>.agents/skills/lone/SKILL.md
exits 'nor when it goes by force' 0 mapm remove --force lone
not_ok 'gone' test -e .agents/skills/lone
like 'with a copy kept' "$err" '\.agents/\.mapm/backup'
workspace
sed -i 's/"tool"/"tool", "--mine"/' .mcp.json
exits 'a server that was changed' 0 mapm remove boss
like 'is named' "$err" '\.mcp\.json#io-acme-tool was changed'
like 'and stays' "$(cat .mcp.json)" '"--mine"'
workspace
echo mine >>.claude/agents/boss.md
exits 'a sub-agent that was changed' 0 mapm remove boss
like 'stays' "$(tail -n 1 .claude/agents/boss.md)" mine
workspace
rm -rf .agents/skills/lone .claude/skills/lone
exits 'what is gone already is no fault' 0 mapm remove lone
unlike 'gone from the lock' "$(cat mapm.lock)" acme/lone
exits 'what is left verifies' 0 mapm verify

# mapm's own server, which no package is.
workspace
printf '# mine\r\n' >>mapm.yaml
cp mapm.yaml "$T/yaml.before" && cp .mcp.json "$T/mcp.with"
mapm install -q --yes --with-server 2>/dev/null
like 'the server of --with-server' "$(cat .mcp.json)" '"mapm"'
sed -i 's/^server: true$/server: true # why/' mapm.yaml
exits '[H7] may be removed' 0 mapm remove mapm
ok '[H7] its line goes alone' cmp mapm.yaml "$T/yaml.before"
ok '[H7] and its entry' cmp .mcp.json "$T/mcp.with"
exits '[H7] what is left verifies' 0 mapm verify
exits '[H7] once' 1 mapm remove mapm
skill "$T/own/mapm"
mapm install -q --yes --with-server "$T/own/mapm"
exits '[H7] a package of that name' 0 mapm remove mapm
not_ok '[H7] precedes it' test -e .agents/skills/mapm
like '[H7] which stays' "$(cat .mcp.json)" '"mapm"'
exits '[H7] and has another name' 0 mapm remove mapm/mcp
ok '[H7] that takes it out' cmp .mcp.json "$T/mcp.with"

# What a restore kept stays out of git when the last package has gone.
cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
mapm install -q --yes "$U/skills/lone"
echo mine >>.agents/skills/lone/notes.txt
exits '[D4] an edit is kept' 0 mapm restore lone
exits 'of a package that goes' 0 mapm remove lone
like 'it is there' "$(cat .agents/.mapm/backup/*/.agents/skills/lone/notes.txt)" mine
is 'and ignored' "$(cat .agents/.mapm/.gitignore)" '*'

# A name of a file is one line, whatever it holds.
workspace
touch ".agents/skills/lone/$(printf 'x\n0 packages differ: fine')"
run mapm verify
is '[F3] (f) verify forges no line' "$out" '.agents/skills/lone/x\x0a0 packages differ: fine: extra'
run mapm remove lone
unlike '[F3] (f) nor does a warning' "$err" '^0 packages differ'
like '[F3] (f) which escapes it' "$err" '^warning: .*lone/x\\x0a0 packages differ: fine was added: kept$'
done_testing

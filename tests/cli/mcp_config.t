#!/bin/sh
# mapm itself in the clients' files: mapm mcp --print-config, mapm install
# --with-server (docs/clients.md 2 to 4); and fetched metaskills over MCP [X27].
. "$(dirname "$0")/../lib/cli.sh"

# mcp METHOD PARAMS: one request of a fresh session.
mcp()
{
    python3 -S "$ROOT/tests/lib/mcp_client.py" -- "$@"
}
# get KEY...: of the JSON on standard input.
get()
{
    python3 -S -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1:]:
    value = value[int(key) if isinstance(value, list) else key]
print(value if isinstance(value, str) else json.dumps(value))' "$@"
}
toml()
{
    python3 -S -c '
import json, sys, tomllib
print(json.dumps(tomllib.loads(sys.stdin.read())))'
}

# --- what to paste -----------------------------------------------------------------

for client in claude gemini copilot qwen cline cursor; do
    exits "a file for $client" 0 mapm mcp --print-config $client
    is 'which starts the server' "$(printf %s "$out" | get mcpServers mapm args)" '["mcp"]'
    is 'by its own path, as it is not on PATH' \
        "$(printf %s "$out" | get mcpServers mapm command)" "$(realpath "$MAPM")"
done
exits 'for amp' 0 mapm mcp --print-config amp
is 'with its own key' "$(printf %s "$out" | get amp.mcpServers mapm args)" '["mcp"]'
exits 'for vscode' 0 mapm mcp --print-config vscode
is 'with a type' "$(printf %s "$out" | get servers mapm type)" stdio
exits 'for opencode' 0 mapm mcp --print-config opencode
is 'one list' "$(printf %s "$out" | get mcp mapm command 1)" mcp
is 'with the time of a run' "$(printf %s "$out" | get mcp mapm timeout)" 300000
exits 'for codex' 0 mapm mcp --print-config codex
is 'its hard limit on a call is above that of a run' \
    "$(printf %s "$out" | toml | get mcp_servers mapm tool_timeout_sec)" 300
exits 'claude, too' 0 mapm mcp --print-config claude
is 'in milliseconds' "$(printf %s "$out" | get mcpServers mapm timeout)" 300000
exits 'options become those of the server' 0 \
    mapm mcp --allow 'git diff *' --allow 'say "hi"' --ask claude --watch --print-config codex
is 'each word as it was' "$(printf %s "$out" | toml | get mcp_servers mapm args)" \
    '["mcp", "--ask", "claude", "--allow", "git diff *", "--allow", "say \"hi\"", "--watch"]'
exits 'a folder' 0 mapm mcp --root ../x --print-config codex
is 'is the same from wherever the client starts it' "$(printf %s "$out" | toml | get mcp_servers mapm args 2)" "$(cd .. && pwd)/x"
tag=$(printf 'git \363\240\201\201 \177 "q" \\\\')
exits 'what nobody sees' 0 mapm mcp --allow "$tag" --print-config codex
is 'is in TOML what it was' "$(printf %s "$out" | toml | get mcp_servers mapm args 2)" "$tag"
exits 'and in JSON' 0 mapm mcp --allow "$tag" --print-config claude
is 'too' "$(printf %s "$out" | get mcpServers mapm args 2)" "$tag"
exits 'a rule that is none' 2 mapm mcp --allow '' --print-config claude
exits 'what is no UTF-8' 2 mapm mcp --root "$(printf '/x\377')" --print-config claude
like 'is refused' "$err" 'is not UTF-8'
exits 'what a client may expand' 0 mapm mcp --root '/x/${HOME}' --print-config claude
like 'is told of' "$err" '^warning: claude may put something else in place of what is in braces in /x/\$\{HOME\}$'
PATH=$(dirname "$(realpath "$MAPM")"):$PATH exits 'on PATH' 0 mapm mcp --print-config claude
is 'its name is enough' "$(printf %s "$out" | get mcpServers mapm command)" mapm
exits 'no such client' 2 mapm mcp --print-config nobody
not_ok 'nothing was written for all that' test -e "$MAPM_HOME"

# --- in the workspace ----------------------------------------------------------------

mkdir .codex .gemini
echo '{"mcpServers": {"mine": {"command": "mine"}}}' >.mcp.json
printf '# mine\nclients: [cursor]\n' >mapm.yaml
exits '--with-server' 0 mapm install --with-server
like 'that there is no mapm on the PATH is told' "$err" '^warning: clients look for mapm on the PATH'
is 'a line in mapm.yaml' "$(cat mapm.yaml)" '# mine
clients: [cursor]
server: true'
is 'an entry in .mcp.json' "$(get mcpServers mapm args <.mcp.json)" '["mcp"]'
is 'by its name: the file can be committed' "$(get mcpServers mapm command <.mcp.json)" mapm
is 'beside what was there' "$(get mcpServers mine command <.mcp.json)" mine
is 'and for codex' "$(toml <.codex/config.toml | get mcp_servers mapm tool_timeout_sec)" 300
is 'for gemini' "$(get mcpServers mapm timeout <.gemini/settings.json)" 300000
is 'for cursor' "$(get mcpServers mapm command <.cursor/mcp.json)" mapm
exits 'a second time' 0 mapm install --with-server
like 'there is nothing to do' "$err" 'nothing to do'
exits 'mapm verify knows it' 0 mapm verify
exits 'install keeps it' 0 mapm install
is 'as it was' "$(get mcpServers mapm command <.mcp.json)" mapm
sed -i 's/"mcp"/"other"/' .mcp.json
exits 'mapm verify sees a change' 3 mapm verify
exits 'and --force mends it' 0 mapm install --force
is 'to what it was' "$(get mcpServers mapm args <.mcp.json)" '["mcp"]'
sed -i /server/d mapm.yaml
exits 'without the line' 0 mapm install
not_ok 'it goes' grep -q mapm .mcp.json
ok 'what was there stays' grep -q mine .mcp.json
not_ok 'its own files with it' test -e .gemini/settings.json
exits '[H8] at user level, too' 0 mapm install -g --with-server
echo '{clients: [cursor]}' >mapm.yaml
exits 'a file in one line' 1 mapm install --with-server
like 'is for a person to change' "$err" 'server: true'
is 'and stays' "$(cat mapm.yaml)" '{clients: [cursor]}'
echo 'server: maybe' >mapm.yaml
exits 'server is true or false' 1 mapm install
like 'and that is said' "$err" 'mapm.yaml:1: server must be true or false'
rm mapm.yaml

# --- fetched metaskills ------------------------------------------------------------------

start_githost
skill "$T/src/skills/deploy" 'scope: acme'
printf 'def run(input):\n    return "deployed"\n' >"$T/src/skills/deploy/SKILL.star"
sed -i '2i metaskill: SKILL.star' "$T/src/skills/deploy/SKILL.md"
make_repo acme/catalog "$T/src"
mapm install --yes https://github.com/acme/catalog/tree/main/skills/deploy >/dev/null 2>&1
tools() { mcp tools/list | get tools; }
deploy() { mcp tools/call '{"name":"run_metaskill","arguments":{"name":"deploy","input":{"a":1}}}'; }
mapm trust --workspace --yes >/dev/null 2>&1
without=$(tools)
like 'there are tools' "$without" skill_search
unlike '[X27] trust in a workspace is none in what is fetched' "$without" '"deploy"'
is '[X27, K34] it does not run' "$(deploy | get content 0 text)" \
    "error: external metaskill 'deploy' is not allowed (policy: trusted)"
like 'and what to do stands behind it' "$(deploy | get content 1 text)" 'mapm trust acme/deploy'
mapm trust --yes acme/deploy >/dev/null 2>&1
like '[X27] once its digest is trusted it is offered' "$(tools)" '"enum": \["deploy"\]'
is 'and runs' "$(deploy | get structuredContent answer)" deployed
is 'its address has its scope' "$(mcp skills/list | get skills 0 uri)" skill://acme/deploy/SKILL.md
echo '# changed' >>.agents/skills/deploy/SKILL.star
like '[X27, row 21] what was changed since does not' "$(deploy | get content 0 text)" \
    "^error: metaskill 'deploy': .*not what was installed"
echo 'runtime: {metaskills: local}' >mapm.yaml
mapm install --force --yes https://github.com/acme/catalog/tree/main/skills/deploy >/dev/null 2>&1
is '[K37] policy local' "$(deploy | get content 0 text)" \
    "error: external metaskill 'deploy' is not allowed (policy: local)"

done_testing

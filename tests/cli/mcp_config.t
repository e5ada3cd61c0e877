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
    exits "mcp --print-config $client succeeds" 0 mapm mcp --print-config $client
    is 'the printed configuration starts mapm mcp' "$(printf %s "$out" | get mcpServers mapm args)" '["mcp"]'
    is 'the printed configuration has the path of mapm, which is not on PATH' \
        "$(printf %s "$out" | get mcpServers mapm command)" "$(realpath "$MAPM")"
done
exits 'mcp --print-config amp succeeds' 0 mapm mcp --print-config amp
is 'the configuration for amp has the key of amp' "$(printf %s "$out" | get amp.mcpServers mapm args)" '["mcp"]'
exits 'mcp --print-config vscode succeeds' 0 mapm mcp --print-config vscode
is 'the configuration for vscode has a type' "$(printf %s "$out" | get servers mapm type)" stdio
exits 'mcp --print-config opencode succeeds' 0 mapm mcp --print-config opencode
is 'the configuration for opencode has command and arguments in one list' "$(printf %s "$out" | get mcp mapm command 1)" mcp
is 'the configuration for opencode has a timeout' "$(printf %s "$out" | get mcp mapm timeout)" 300000
exits 'mcp --print-config codex succeeds' 0 mapm mcp --print-config codex
is 'the configuration for codex has a timeout of tools in seconds' \
    "$(printf %s "$out" | toml | get mcp_servers mapm tool_timeout_sec)" 300
exits 'mcp --print-config claude prints a configuration with a timeout' 0 mapm mcp --print-config claude
is 'the timeout for claude is in milliseconds' "$(printf %s "$out" | get mcpServers mapm timeout)" 300000
exits 'mcp --print-config with options succeeds' 0 \
    mapm mcp --allow 'git diff *' --allow 'say "hi"' --ask claude --watch --print-config codex
is 'the printed arguments have each option as it was given' "$(printf %s "$out" | toml | get mcp_servers mapm args)" \
    '["mcp", "--ask", "claude", "--allow", "git diff *", "--allow", "say \"hi\"", "--watch"]'
exits 'mcp --print-config with a relative --root succeeds' 0 mapm mcp --root ../x --print-config codex
is 'the printed --root is absolute' "$(printf %s "$out" | toml | get mcp_servers mapm args 2)" "$(cd .. && pwd)/x"
tag=$(printf 'git \363\240\201\201 \177 "q" \\\\')
exits 'mcp --print-config codex with invisible characters in a rule succeeds' 0 mapm mcp --allow "$tag" --print-config codex
is 'TOML keeps the invisible characters of a rule' "$(printf %s "$out" | toml | get mcp_servers mapm args 2)" "$tag"
exits 'mcp --print-config claude with invisible characters in a rule succeeds' 0 mapm mcp --allow "$tag" --print-config claude
is 'JSON keeps the invisible characters of a rule' "$(printf %s "$out" | get mcpServers mapm args 2)" "$tag"
exits 'mcp --print-config exits with 2 for an empty rule' 2 mapm mcp --allow '' --print-config claude
exits 'mcp --print-config exits with 2 for an argument that is not UTF-8' 2 mapm mcp --root "$(printf '/x\377')" --print-config claude
like 'the error says that the argument is not UTF-8' "$err" 'is not UTF-8'
exits 'mcp --print-config with ${HOME} in an argument succeeds' 0 mapm mcp --root '/x/${HOME}' --print-config claude
like 'mcp --print-config warns that a client may expand the braces' "$err" '^warning: claude may put something else in place of what is in braces in /x/\$\{HOME\}$'
PATH=$(dirname "$(realpath "$MAPM")"):$PATH exits 'on PATH' 0 mapm mcp --print-config claude
is 'the printed command is the name of mapm when it is on PATH' "$(printf %s "$out" | get mcpServers mapm command)" mapm
exits 'mcp --print-config exits with 2 for an unknown client' 2 mapm mcp --print-config nobody
not_ok 'mcp --print-config writes no data folder' test -e "$MAPM_HOME"

# --- in the workspace ----------------------------------------------------------------

mkdir .codex .gemini
echo '{"mcpServers": {"mine": {"command": "mine"}}}' >.mcp.json
printf '# mine\nclients: [cursor]\n' >mapm.yaml
exits 'install --with-server succeeds' 0 mapm install --with-server
like 'install --with-server warns that no mapm is on the PATH' "$err" '^warning: clients look for mapm on the PATH'
is 'install --with-server adds a line to mapm.yaml' "$(cat mapm.yaml)" '# mine
clients: [cursor]
server: true'
is 'install --with-server adds an entry to .mcp.json' "$(get mcpServers mapm args <.mcp.json)" '["mcp"]'
is 'the entry in .mcp.json has the name of mapm, not its path' "$(get mcpServers mapm command <.mcp.json)" mapm
is 'the other entry in .mcp.json stays' "$(get mcpServers mine command <.mcp.json)" mine
is 'install --with-server configures codex with a timeout' "$(toml <.codex/config.toml | get mcp_servers mapm tool_timeout_sec)" 300
is 'install --with-server configures gemini with a timeout' "$(get mcpServers mapm timeout <.gemini/settings.json)" 300000
is 'install --with-server configures cursor' "$(get mcpServers mapm command <.cursor/mcp.json)" mapm
exits 'a second install --with-server succeeds' 0 mapm install --with-server
like 'a second install --with-server reports nothing to do' "$err" 'nothing to do'
exits 'verify accepts the entry of mapm' 0 mapm verify
exits 'install keeps the entry of mapm' 0 mapm install
is 'the entry of mapm is unchanged after install' "$(get mcpServers mapm command <.mcp.json)" mapm
sed -i 's/"mcp"/"other"/' .mcp.json
exits 'verify exits with 3 for an edited entry of mapm' 3 mapm verify
exits 'install --force repairs the entry of mapm' 0 mapm install --force
is 'the repaired entry of mapm has its arguments' "$(get mcpServers mapm args <.mcp.json)" '["mcp"]'
sed -i /server/d mapm.yaml
exits 'install succeeds after server is removed from mapm.yaml' 0 mapm install
not_ok 'install removes the entry of mapm from .mcp.json' grep -q mapm .mcp.json
ok 'install keeps the other entry in .mcp.json' grep -q mine .mcp.json
not_ok 'install removes a file that had the entry of mapm alone' test -e .gemini/settings.json
exits '[H8] install -g --with-server succeeds' 0 mapm install -g --with-server
echo '{clients: [cursor]}' >mapm.yaml
exits 'install --with-server fails when mapm.yaml is one line' 1 mapm install --with-server
like 'the error shows the key that a person has to add' "$err" 'server: true'
is 'install --with-server leaves such a mapm.yaml unchanged' "$(cat mapm.yaml)" '{clients: [cursor]}'
echo 'server: maybe' >mapm.yaml
exits 'install fails for a server key that is neither true nor false' 1 mapm install
like 'the error says that server must be true or false' "$err" 'mapm.yaml:1: server must be true or false'
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
like 'mapm mcp in a trusted workspace has tools' "$without" skill_search
unlike '[X27] trust in the workspace does not offer a fetched metaskill' "$without" '"deploy"'
is '[X27, K34] run_metaskill refuses a fetched metaskill without trust' "$(deploy | get content 0 text)" \
    "error: external metaskill 'deploy' is not allowed (policy: trusted)"
like 'the refusal suggests mapm trust with the name of the package' "$(deploy | get content 1 text)" 'mapm trust acme/deploy'
mapm trust --yes acme/deploy >/dev/null 2>&1
like '[X27] a trusted fetched metaskill is offered' "$(tools)" '"enum": \["deploy"\]'
is 'run_metaskill runs the trusted fetched metaskill' "$(deploy | get structuredContent answer)" deployed
is 'the URI of a fetched skill has its scope' "$(mcp skills/list | get skills 0 uri)" skill://acme/deploy/SKILL.md
echo '# changed' >>.agents/skills/deploy/SKILL.star
like '[X27, row 21] run_metaskill refuses a fetched metaskill that has changed' "$(deploy | get content 0 text)" \
    "^error: metaskill 'deploy': .*not what was installed"
echo 'runtime: {metaskills: local}' >mapm.yaml
mapm install --force --yes https://github.com/acme/catalog/tree/main/skills/deploy >/dev/null 2>&1
is '[K37] metaskills: local refuses a fetched metaskill' "$(deploy | get content 0 text)" \
    "error: external metaskill 'deploy' is not allowed (policy: local)"

done_testing

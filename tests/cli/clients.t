#!/bin/sh
# What each client gets, and what of its files stays: [M20, M21, M22, M23, X8, X19]
# [X20, X21, X22]; CLIENTS 2 to 4; [row 15].
. "$(dirname "$0")/../lib/cli.sh"
s=$T/src
U=https://github.com/acme/catalog/tree/main

skill "$s/skills/base" 'scope: acme'
agent "$s/agents/boss" 'scope: acme' 'description: "Says \"go\": to all."' 'dependencies:' '  skills:' \
    "    - $U/skills/base" '  mcps:' "    - $U/mcps/io.acme_tool.json"
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool '${workspaceDir}/data' '${sharedDir}/x'
agent "$s/agents/pair" 'scope: acme' 'dependencies:' '  mcps:' "    - $U/mcps/io.acme_two.json"
mcp "$s/mcps/io.acme_two.json" io.acme/two npx -y two
make_repo acme/catalog "$s"
start_githost

# --- the user's own files, with everything that a rewriting tool would lose --------------

mkdir -p .codex .gemini .vscode .cursor
cat >.mcp.json <<'X'
{ "mcpServers":   {
        "own":{"command":"own","args":[ 1e2,  "ä\u00e4" ]}
  },
  "other": [ ] }
X
cat >.codex/config.toml <<'X'
# my codex
model = "x"   # the best

[mcp_servers.own]
command = 'own'  # mine
args = [
  "a", # first
]

[[profiles]]
name = "p"
X
cat >.gemini/settings.json <<'X'
{
	// tabs, and a comment
	"theme": "dark",
	"mcpServers": { "own": { "command": "own" } }
}
X
cat >opencode.json <<'X'
{
  // mine
  "$schema": "https://opencode.ai/config.json",
  "mcp": {
    "own": { "type": "local", "command": ["own"] }, // trailing
  },
}
X
cat >.vscode/mcp.json <<'X'
{
    // inputs stay
    "inputs": [ { "id": "k", "type": "promptString" } ],
    "servers": {
        "own": { "command": "own" }
    }
}
X
printf '{"mcpServers":{"own":{"command":"own"}}}' >.cursor/mcp.json
files='.mcp.json .codex/config.toml .gemini/settings.json opencode.json .vscode/mcp.json .cursor/mcp.json'
mkdir "$T/saved"
for f in $files; do
    mkdir -p "$T/saved/$(dirname "$f")" && cp "$f" "$T/saved/$f"
done
printf '%s\n' 'clients: [codex, gemini, opencode, vscode, cursor] # all' >mapm.yaml

exits 'all clients at once' 0 mapm install --yes "$U/agents/boss"
like 'it says that Gemini wants a yes to an agent' "$err" 'gemini uses agents of a project after a person has acknowledged them'
like 'mapm.yaml keeps its word' "$(cat mapm.yaml)" '^clients: .* # all$'
for f in $files; do
    like "$f: the server is there" "$(cat "$f")" 'io-acme-tool'
    like "$f: the own one, too" "$(cat "$f")" '(^|[^a-z])own'
    # Every line of before is there still (a comma may have come after it).
    lost=$(sed 's/,*[[:space:]]*$//' "$T/saved/$f" | while IFS= read -r line; do
        grep -qF -- "$line" "$f" || printf '%s\n' "$line"
    done)
    case $f in
    .gemini/settings.json) like "$f: its tab" "$(cat "$f")" "^	// tabs, and a comment" ;;
    .cursor/mcp.json) like "$f: on its one line" "$(head -n 1 "$f")" '^\{"mcpServers":\{"own":\{"command":"own"\}' ;;
    *) is "$f: no line was lost" "$lost" '' ;;
    esac
    like "$f: the path of the workspace" "$(cat "$f")" "$T/ws/data"
    unlike "$f: no placeholder" "$(cat "$f")" '\$\{(workspaceDir|sharedDir)'
done
ok 'TOML is TOML' python3 -S -c 'import tomllib
d = tomllib.load(open(".codex/config.toml", "rb"))
assert d["mcp_servers"]["io-acme-tool"]["command"] == "npx", d
assert d["mcp_servers"]["own"]["args"] == ["a"] and d["profiles"][0]["name"] == "p"'
ok 'JSON is JSON' python3 -S -c 'import json
assert json.load(open(".mcp.json"))["mcpServers"]["io-acme-tool"]["command"] == "npx"
assert json.load(open(".cursor/mcp.json"))["mcpServers"]["io-acme-tool"]["command"] == "npx"'

# --- the agent, as each of them reads it ----------------------------------------------------

for f in .claude/agents/boss.md .codex/agents/boss.toml .gemini/agents/boss.md \
    .opencode/agent*/boss.md .cursor/agents/boss.md .github/agents/boss*.md; do
    ok "a sub-agent: $f" test -f "$f"
    like "$f says where it is from" "$(cat "$f" 2>/dev/null)" 'mapm'
    like "$f has its text" "$(cat "$f" 2>/dev/null)" 'Do what boss does'
done
ok 'the one for Codex is TOML' python3 -S -c 'import tomllib
d = tomllib.load(open(".codex/agents/boss.toml", "rb"))
assert d["description"] == "Says \"go\": to all.", d'
is 'skills are in one place' "$(find . -name SKILL.md -type f | grep -v '^./.agents/skills/')" ''
exits 'verify' 0 mapm verify
snapshot . >"$T/before"
exits 'again' 0 mapm install
unlike 'without new agents it does not' "$err" 'acknowledged'
is 'not a byte' "$(snapshot .)" "$(cat "$T/before")"

# --- and it goes again --------------------------------------------------------------------------

exits 'remove' 0 mapm remove boss
for f in $files; do
    ok "$f is as it was, byte for byte" cmp "$f" "$T/saved/$f"
done
is 'no agent is left' "$(find . -name 'boss*')" ''

# --- whatever its shape was ---------------------------------------------------------------------

f=.gemini/settings.json
cp $f "$T/kept"
rm -f .mcp.json opencode.json
shape() {
    printf "$2" >$f
    cp $f "$T/saved/shape"
    exits "$f, $1" 0 mapm install --yes "$U/agents/boss"
    like 'has the server' "$(cat $f)" '"io-acme-tool"'
    exits 'is edited once more' 0 mapm install --yes "$U/agents/pair"
    like 'for another one' "$(cat $f)" '"io-acme-two"'
    exits 'they are removed' 0 mapm remove boss
    exits 'one by one' 0 mapm remove pair
    ok "and $1 is as it was, byte for byte [D20]" cmp $f "$T/saved/shape"
}
shape 'an empty object' '{}'
shape 'an empty object on two lines' '{\n}\n'
shape 'a blank object' '{ }\n\n'
shape 'an empty object with CRLF' '{\r\n}\r\n'
shape 'CRLF' '{\r\n  "theme": "dark",\r\n  "x": [1, 2]\r\n}\r\n'
shape 'CRLF and servers' '{\r\n  "mcpServers": {\r\n    "own": {\r\n      "command": "own"\r\n    }\r\n  }\r\n}\r\n'
shape 'no final newline' '{\n  "theme": "dark"\n}'
shape 'tabs' '{\n\t"theme": "dark",\n\t"mcpServers": {\n\t\t"own": { "command": "own" }\n\t}\n}\n'
shape 'comments everywhere' '// first\n{\n  // theme\n  "theme": "dark", // why\n  /* it */ "mcpServers": {\n    // mine\n    "own": { "command": "own" } // last\n    // end\n  } // after\n  /* rest */\n}\n// done\n'
shape 'a comment alone' '{\n  // nothing yet\n}\n'
shape 'a comment behind the last member' '{\n  "a": 1 // one\n}\n'
shape 'a comment that holds braces' '{\n  "a": "}{", // } { "mcpServers": {}\n  "b": 2\n}\n'
shape 'no servers yet' '{\n  "mcpServers": {}\n}\n'
shape 'blank servers' '{ "mcpServers": { }, "a": 1 }'
shape 'servers on two lines' '{\n  "mcpServers": {\n  },\n  "b": null\n}\n'
shape 'servers of a comment' '{\n  "mcpServers": {\n    // nothing yet\n  }\n}\n'
shape 'one line' '{"mcpServers":{"own":{"command":"own"}},"theme":"dark"}'
shape 'commas in front' '{\n    "a": 1\n  , "mcpServers": { "z": {"command":"z"}\n    , "y": {"command":"y"}\n    }\n}\n'
printf '{\n  "a": 1,\n}\n' >$f
cp $f "$T/saved/shape"
exits 'a trailing comma, which Gemini does not accept' 1 mapm install --yes "$U/agents/boss"
ok 'is refused, and stays' cmp $f "$T/saved/shape"
cp "$T/kept" $f
for f in .mcp.json opencode.json; do
    cp "$T/saved/$f" $f
done

# --- a server of the user's under our key ----------------------------------------------------------

for f in .mcp.json .vscode/mcp.json .codex/config.toml; do
    sed 's/"own"/"io-acme-tool"/; s/servers\.own/servers.io-acme-tool/' "$T/saved/$f" >"$f"
    snapshot . >"$T/before"
    exits "$f: a foreign server of that key" 1 mapm install --yes "$U/agents/boss"
    like "$f: is named" "$err" "$f .*\"io-acme-tool\""
    is "$f: and nothing changed" "$(snapshot .)" "$(cat "$T/before")"
    cp "$T/saved/$f" "$f"
done
echo '{ broken' >.cursor/mcp.json
snapshot . >"$T/before"
exits 'a file that cannot be read' 1 mapm install --yes "$U/agents/boss"
like 'is named' "$err" '\.cursor/mcp\.json'
is 'and nothing changed' "$(snapshot .)" "$(cat "$T/before")"
cp "$T/saved/.cursor/mcp.json" .cursor/mcp.json

# --- which clients -------------------------------------------------------------------------------------

echo 'clients: [codx]' >mapm.yaml
exits 'an unknown client' 1 mapm install --yes "$U/agents/boss"
like 'those that are known' "$err" 'codex.*gemini'
cd "$T" && mkdir plain && cd plain || exit 1
exits 'without a word' 0 mapm install --yes "$U/agents/boss"
is 'the common ones' "$(ls -A | tr '\n' ' ')" '.agents .claude .mcp.json mapm.lock mapm.yaml '
mkdir .gemini
exits 'a folder of its own' 0 mapm install
ok 'is a word' test -f .gemini/agents/boss.md
like 'for servers, too' "$(cat .gemini/settings.json)" 'io-acme-tool'
cd "$T" && mkdir user && cd user || exit 1
mkdir -p "$XDG_CONFIG_HOME/mapm" && echo 'clients: [cursor]' >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits 'the user may name some for all workspaces' 0 mapm install --yes "$U/agents/boss"
ok 'there' test -f .cursor/mcp.json

# --- files that a colleague committed, with the paths of another machine ---------------------------

rm "$XDG_CONFIG_HOME/mapm/config.yaml"
cd "$T" && mkdir theirs && cd theirs || exit 1
echo 'clients: [codex, gemini, opencode, vscode, cursor]' >mapm.yaml
exits 'somewhere else' 0 env MAPM_HOME="$T/their-home" "$MAPM" install --yes "$U/agents/boss"
files='.mcp.json .codex/config.toml .gemini/settings.json opencode.json .vscode/mcp.json .cursor/mcp.json'
for file in $files; do
    like "$file is named" "$err" "$file"
done
committed()
{
    rm -rf "$T/mine" && cp -a "$T/theirs" "$T/mine" && cd "$T/mine" && rm -rf .agents
}
committed
exits 'a colleague installs' 0 mapm install --locked
for file in $files; do
    is "$file has the paths of this machine" "$(grep -c -e "$T/theirs" -e "$T/their-home" "$file")" 0
    ok 'all of them' grep -q "$T/mine/data" "$file"
    ok 'and ours' grep -q "$MAPM_HOME/shared/x" "$file"
done
exits 'all is well' 0 mapm verify
for file in $files; do
    committed
    sed -i 's/"npx"/"evil"/' "$file"
    exits "another command in $file is no path" 1 mapm install --locked
    like 'and not ours' "$err" "$file already has a server"
    committed
    sed -i 's|/theirs/data"|/theirs/data/more"|' "$file"
    exits "nor is another folder below it" 1 mapm install --locked
done
committed
sed -i "s|$T/theirs/data|\${HOME}/data|" .mcp.json
exits 'nor what a client would expand' 1 mapm install --locked

# --- a client that follows no links ------------------------------------------------------

mkdir "$T/copied" && cd "$T/copied" && echo 'clients: [claude, continue]' >mapm.yaml
exits '[H6] beside one that does' 0 mapm install --yes "$U/skills/base"
ok '[H6] the other gets a link' test -L .claude/skills/base
not_ok '[H6] and it a folder' test -L .continue/skills/base
same_tree '[H6] with the same files' .agents/skills/base .continue/skills/base
exits '[H6] once' 0 mapm install
like '[H6] and no more' "$err" 'nothing to do'
exits '[H6] as verify says' 0 mapm verify
echo edited >>.continue/skills/base/SKILL.md
exits '[H6] an edit is found' 3 mapm verify
exits '[H6] and undone' 0 mapm restore base
exits '[H6] to the byte' 0 mapm verify
rm -r .continue/skills/base && ln -s ../../.agents/skills/base .continue/skills/base
exits '[H6] a link of somebody stays' 1 mapm install
ok '[H6] as it is' test -L .continue/skills/base
rm .continue/skills/base
exits '[H6] where nothing is, there is a folder again' 0 mapm install
exits '[H6] it goes' 0 mapm remove base
not_ok '[H6] with all that was made for it' test -e .continue

# --- an agent of two files, and beside its package --------------------------------------

mkdir "$T/prompts" && cd "$T/prompts" && git init -q . || exit 1
echo 'clients: [claude, vibe, antigravity]' >mapm.yaml
exits '[H6] Vibe and Antigravity' 0 mapm install --yes "$U/agents/pair"
is '[H6] the summary has the agent and what it needs' "$(printf '%s\n' "$out" | grep -c '^  + ')" 2
like '[H6] a prompt' "$(cat .vibe/agents/pair.toml)" '^system_prompt_id = "mapm-pair"$'
ok '[H6] has its file' test -f .vibe/prompts/mapm-pair.md
is '[H6] a file beside the folder' "$(ls -d .agents/agents/pair*)" '.agents/agents/pair
.agents/agents/pair.md'
echo more >>.vibe/prompts/mapm-pair.md
exits '[H6] an edited prompt is found' 3 mapm verify
exits '[H6] and undone' 0 mapm restore pair
mv mapm.yaml team.yaml && grep -v '^clients' team.yaml >mapm.yaml
mkdir -p "$XDG_CONFIG_HOME/mapm" && echo 'clients: [vibe, antigravity]' >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits '[H7] where config.yaml names them' 0 mapm install --yes "$U/agents/boss"
is '[H7] git does not see their files, and those alone' \
    "$(sed -n '/^# mapm: clients/,/^# mapm: end/p' .git/info/exclude | grep / | sort | tr '\n' ' ')" \
    '/.agents/agents/boss.md /.agents/agents/pair.md /.agents/mcp_config.json /.vibe/agents/boss.toml /.vibe/agents/pair.toml /.vibe/prompts/mapm-boss.md /.vibe/prompts/mapm-pair.md '
exits '[H6] they go' 0 mapm remove --yes boss pair
not_ok '[H6] all of them' test -e .vibe
is '[H6] and the folder' "$(ls -A .agents)" .mapm
rm "$XDG_CONFIG_HOME/mapm/config.yaml"

# --- a file that is there, and empty -----------------------------------------------------

mkdir "$T/empty" "$T/empty/.cursor" && cd "$T/empty" && echo 'clients: [claude, cursor]' >mapm.yaml
printf ' \n\n' >.mcp.json && printf '\357\273\277' >.cursor/mcp.json && cp .mcp.json "$T/blank" &&
    cp .cursor/mcp.json "$T/mark"
exits '[H8] servers go into it' 0 mapm install --yes "$U/agents/pair"
ok '[H8] and are there' grep -q io-acme-two .mcp.json .cursor/mcp.json
exits '[H8] once more' 0 mapm install
like '[H8] is nothing to do' "$err" 'nothing to do'
exits '[H8] they go' 0 mapm remove pair
ok '[H8] and it is as empty as before' cmp .mcp.json "$T/blank"
ok '[H8] but for a byte order mark' cmp -s .cursor/mcp.json "$T/mark"

# --- a client that expands no variables ---------------------------------------------------

mkdir -p "$T/vars" "$T/plugin/.claude-plugin" && cd "$T/vars"
echo '{"name": "vars", "version": "1.0.0"}' >"$T/plugin/.claude-plugin/plugin.json"
cat >"$T/plugin/.mcp.json" <<'X'
{"mcpServers": {"far": {"type": "http", "url": "https://mcp.example.com/",
  "headers": {"Authorization": "Bearer ${FAR_TOKEN}"}}}}
X
echo 'clients: [claude, codex, cursor, qwen, zed]' >mapm.yaml
exits '[H8] a server that takes variables' 0 mapm install --yes "$T/plugin"
like '[H8] who leaves them so is named' "$err" 'are not expanded by qwen, zed: '
ok '[H8, V50, C6] others have them in their syntax' grep -qF 'Bearer ${env:FAR_TOKEN}' .cursor/mcp.json
exits '[H8] once more' 0 mapm install
unlike '[H8] once' "$err" 'are not expanded'
done_testing

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

exits 'install for all clients at once succeeds' 0 mapm install --yes "$U/agents/boss"
like 'install reports that Gemini wants project agents to be acknowledged' "$err" 'gemini uses agents of a project after a person has acknowledged them'
like 'mapm.yaml keeps its comment beside the clients' "$(cat mapm.yaml)" '^clients: .* # all$'
for f in $files; do
    like "$f: the server of the package is added" "$(cat "$f")" 'io-acme-tool'
    like "$f: the server of the user stays" "$(cat "$f")" '(^|[^a-z])own'
    # Every line of before is there still (a comma may have come after it).
    lost=$(sed 's/,*[[:space:]]*$//' "$T/saved/$f" | while IFS= read -r line; do
        grep -qF -- "$line" "$f" || printf '%s\n' "$line"
    done)
    case $f in
    .gemini/settings.json) like "$f: its tab" "$(cat "$f")" "^	// tabs, and a comment" ;;
    .cursor/mcp.json) like "$f: on its one line" "$(head -n 1 "$f")" '^\{"mcpServers":\{"own":\{"command":"own"\}' ;;
    *) is "$f: no line was lost" "$lost" '' ;;
    esac
    like "$f: the path of the workspace is written" "$(cat "$f")" "$T/ws/data"
    unlike "$f: no placeholder is left" "$(cat "$f")" '\$\{(workspaceDir|sharedDir)'
done
ok '.codex/config.toml is valid TOML with both servers' python3 -S -c 'import tomllib
d = tomllib.load(open(".codex/config.toml", "rb"))
assert d["mcp_servers"]["io-acme-tool"]["command"] == "npx", d
assert d["mcp_servers"]["own"]["args"] == ["a"] and d["profiles"][0]["name"] == "p"'
ok '.mcp.json and .cursor/mcp.json are valid JSON with the server' python3 -S -c 'import json
assert json.load(open(".mcp.json"))["mcpServers"]["io-acme-tool"]["command"] == "npx"
assert json.load(open(".cursor/mcp.json"))["mcpServers"]["io-acme-tool"]["command"] == "npx"'

# --- the agent, as each of them reads it ----------------------------------------------------

for f in .claude/agents/boss.md .codex/agents/boss.toml .gemini/agents/boss.md \
    .opencode/agent*/boss.md .cursor/agents/boss.md .github/agents/boss*.md; do
    ok "install writes a sub-agent to $f" test -f "$f"
    like "$f says that mapm wrote it" "$(cat "$f" 2>/dev/null)" 'mapm'
    like "$f has the text of the agent" "$(cat "$f" 2>/dev/null)" 'Do what boss does'
done
ok 'the sub-agent for Codex is valid TOML with its description' python3 -S -c 'import tomllib
d = tomllib.load(open(".codex/agents/boss.toml", "rb"))
assert d["description"] == "Says \"go\": to all.", d'
is 'skills are copied to .agents/skills only' "$(find . -name SKILL.md -type f | grep -v '^./.agents/skills/')" ''
exits 'verify with all clients succeeds' 0 mapm verify
snapshot . >"$T/before"
exits 'a second install for all clients succeeds' 0 mapm install
unlike 'install without new agents does not mention acknowledgement' "$err" 'acknowledged'
is 'a second install leaves the workspace unchanged' "$(snapshot .)" "$(cat "$T/before")"

# --- and it goes again --------------------------------------------------------------------------

exits 'remove of the agent succeeds' 0 mapm remove boss
for f in $files; do
    ok "remove restores $f byte for byte" cmp "$f" "$T/saved/$f"
done
is 'remove leaves no file of the agent' "$(find . -name 'boss*')" ''

# --- whatever its shape was ---------------------------------------------------------------------

f=.gemini/settings.json
cp $f "$T/kept"
rm -f .mcp.json opencode.json
shape() {
    printf "$2" >$f
    cp $f "$T/saved/shape"
    exits "install into $f succeeds: $1" 0 mapm install --yes "$U/agents/boss"
    like '.gemini/settings.json has the first server' "$(cat $f)" '"io-acme-tool"'
    exits 'install of a second server into the same file succeeds' 0 mapm install --yes "$U/agents/pair"
    like '.gemini/settings.json has the second server' "$(cat $f)" '"io-acme-two"'
    exits 'remove of the first server succeeds' 0 mapm remove boss
    exits 'remove of the second server succeeds' 0 mapm remove pair
    ok "remove restores the file byte for byte: $1 [D20]" cmp $f "$T/saved/shape"
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
exits 'install into JSON with a trailing comma for Gemini is refused' 1 mapm install --yes "$U/agents/boss"
ok 'the file with a trailing comma is unchanged' cmp $f "$T/saved/shape"
cp "$T/kept" $f
for f in .mcp.json opencode.json; do
    cp "$T/saved/$f" $f
done

# --- a server of the user's under our key ----------------------------------------------------------

for f in .mcp.json .vscode/mcp.json .codex/config.toml; do
    sed 's/"own"/"io-acme-tool"/; s/servers\.own/servers.io-acme-tool/' "$T/saved/$f" >"$f"
    snapshot . >"$T/before"
    exits "$f: install fails when the user has a server of that key" 1 mapm install --yes "$U/agents/boss"
    like "$f: the error names the file and the key" "$err" "$f .*\"io-acme-tool\""
    is "$f: a refused install leaves the workspace unchanged" "$(snapshot .)" "$(cat "$T/before")"
    cp "$T/saved/$f" "$f"
done
echo '{ broken' >.cursor/mcp.json
snapshot . >"$T/before"
exits 'install fails with a file of a client that is not valid JSON' 1 mapm install --yes "$U/agents/boss"
like 'the error names the file that is not valid JSON' "$err" '\.cursor/mcp\.json'
is 'install with an invalid file leaves the workspace unchanged' "$(snapshot .)" "$(cat "$T/before")"
cp "$T/saved/.cursor/mcp.json" .cursor/mcp.json

# --- which clients -------------------------------------------------------------------------------------

echo 'clients: [codx]' >mapm.yaml
exits 'install with an unknown client in mapm.yaml fails' 1 mapm install --yes "$U/agents/boss"
like 'the error lists the known clients' "$err" 'codex.*gemini'
cd "$T" && mkdir plain && cd plain || exit 1
exits 'install without a choice of clients succeeds' 0 mapm install --yes "$U/agents/boss"
is 'install without a choice writes files for Claude Code only' "$(ls -A | tr '\n' ' ')" '.agents .claude .mcp.json mapm.lock mapm.yaml '
mkdir .gemini
exits 'install with a folder of Gemini in the workspace succeeds' 0 mapm install
ok 'the folder of Gemini makes install write its sub-agent' test -f .gemini/agents/boss.md
like 'the folder of Gemini makes install write its servers' "$(cat .gemini/settings.json)" 'io-acme-tool'
cd "$T" && mkdir user && cd user || exit 1
mkdir -p "$XDG_CONFIG_HOME/mapm" && echo 'clients: [cursor]' >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits 'install with clients in the user configuration succeeds' 0 mapm install --yes "$U/agents/boss"
ok 'the client of the user configuration has its file' test -f .cursor/mcp.json

# --- files that a colleague committed, with the paths of another machine ---------------------------

rm "$XDG_CONFIG_HOME/mapm/config.yaml"
cd "$T" && mkdir theirs && cd theirs || exit 1
echo 'clients: [codex, gemini, opencode, vscode, cursor]' >mapm.yaml
exits 'install in the workspace of a colleague succeeds' 0 env MAPM_HOME="$T/their-home" "$MAPM" install --yes "$U/agents/boss"
files='.mcp.json .codex/config.toml .gemini/settings.json opencode.json .vscode/mcp.json .cursor/mcp.json'
for file in $files; do
    like "install reports $file with paths of the machine" "$err" "$file"
done
committed()
{
    rm -rf "$T/mine" && cp -a "$T/theirs" "$T/mine" && cd "$T/mine" && rm -rf .agents
}
committed
exits 'install --locked with files of another machine succeeds' 0 mapm install --locked
for file in $files; do
    is "$file has no path of the other machine" "$(grep -c -e "$T/theirs" -e "$T/their-home" "$file")" 0
    ok 'the file has the path of this workspace' grep -q "$T/mine/data" "$file"
    ok 'the file has the shared folder of this machine' grep -q "$MAPM_HOME/shared/x" "$file"
done
exits 'verify after the paths are replaced succeeds' 0 mapm verify
for file in $files; do
    committed
    sed -i 's/"npx"/"evil"/' "$file"
    exits "install --locked refuses another command in $file" 1 mapm install --locked
    like 'the error says that $file already has a server' "$err" "$file already has a server"
    committed
    sed -i 's|/theirs/data"|/theirs/data/more"|' "$file"
    exits "install --locked refuses a path below the folder of the server" 1 mapm install --locked
done
committed
sed -i "s|$T/theirs/data|\${HOME}/data|" .mcp.json
exits 'install --locked refuses a path that a client would expand' 1 mapm install --locked

# --- a client that follows no links ------------------------------------------------------

mkdir "$T/copied" && cd "$T/copied" && echo 'clients: [claude, continue]' >mapm.yaml
exits '[H6] install for a client with links and one without succeeds' 0 mapm install --yes "$U/skills/base"
ok '[H6] the client that follows links gets a link' test -L .claude/skills/base
not_ok '[H6] the client that follows no links gets a folder' test -L .continue/skills/base
same_tree '[H6] the folder of that client has the same files' .agents/skills/base .continue/skills/base
exits '[H6] a second install with a copied folder succeeds' 0 mapm install
like '[H6] a second install with a copied folder has nothing to do' "$err" 'nothing to do'
exits '[H6] verify with a copied folder succeeds' 0 mapm verify
echo edited >>.continue/skills/base/SKILL.md
exits '[H6] verify fails with an edit in the copied folder' 3 mapm verify
exits '[H6] restore of the skill with an edited copy succeeds' 0 mapm restore base
exits '[H6] verify succeeds after restore of the copied folder' 0 mapm verify
rm -r .continue/skills/base && ln -s ../../.agents/skills/base .continue/skills/base
exits '[H6] install fails with a foreign link in place of the copied folder' 1 mapm install
ok '[H6] install leaves the foreign link as it is' test -L .continue/skills/base
rm .continue/skills/base
exits '[H6] install after the removal of the foreign link succeeds' 0 mapm install
exits '[H6] remove of the copied skill succeeds' 0 mapm remove base
not_ok '[H6] remove deletes the folder of that client' test -e .continue

# --- an agent of two files, and beside its package --------------------------------------

mkdir "$T/prompts" && cd "$T/prompts" && git init -q . || exit 1
echo 'clients: [claude, vibe, antigravity]' >mapm.yaml
exits '[H6] install of an agent for Vibe and Antigravity succeeds' 0 mapm install --yes "$U/agents/pair"
is '[H6] the summary lists the agent and its server' "$(printf '%s\n' "$out" | grep -c '^  + ')" 2
like '[H6] the agent of Vibe refers to its prompt' "$(cat .vibe/agents/pair.toml)" '^system_prompt_id = "mapm-pair"$'
ok '[H6] the prompt of Vibe has its own file' test -f .vibe/prompts/mapm-pair.md
is '[H6] the agent of Antigravity is a file beside the folder' "$(ls -d .agents/agents/pair*)" '.agents/agents/pair
.agents/agents/pair.md'
echo more >>.vibe/prompts/mapm-pair.md
exits '[H6] verify fails with an edited prompt' 3 mapm verify
exits '[H6] restore of the agent with an edited prompt succeeds' 0 mapm restore pair
mv mapm.yaml team.yaml && grep -v '^clients' team.yaml >mapm.yaml
mkdir -p "$XDG_CONFIG_HOME/mapm" && echo 'clients: [vibe, antigravity]' >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits '[H7] install with both clients in the user configuration succeeds' 0 mapm install --yes "$U/agents/boss"
is '[H7] .git/info/exclude lists exactly the files of these clients' \
    "$(sed -n '/^# mapm: clients/,/^# mapm: end/p' .git/info/exclude | grep / | sort | tr '\n' ' ')" \
    '/.agents/agents/boss.md /.agents/agents/pair.md /.agents/mcp_config.json /.vibe/agents/boss.toml /.vibe/agents/pair.toml /.vibe/prompts/mapm-boss.md /.vibe/prompts/mapm-pair.md '
exits '[H6] remove of both agents succeeds' 0 mapm remove --yes boss pair
not_ok '[H6] remove deletes the folder of Vibe' test -e .vibe
is '[H6] remove leaves only .mapm in .agents' "$(ls -A .agents)" .mapm
rm "$XDG_CONFIG_HOME/mapm/config.yaml"

# --- a file that is there, and empty -----------------------------------------------------

mkdir "$T/empty" "$T/empty/.cursor" && cd "$T/empty" && echo 'clients: [claude, cursor]' >mapm.yaml
printf ' \n\n' >.mcp.json && printf '\357\273\277' >.cursor/mcp.json && cp .mcp.json "$T/blank" &&
    cp .cursor/mcp.json "$T/mark"
exits '[H8] install into empty files of clients succeeds' 0 mapm install --yes "$U/agents/pair"
is '[H8] both empty files have the server' "$(grep -l io-acme-two .mcp.json .cursor/mcp.json | wc -l)" 2
exits '[H8] a second install into these files succeeds' 0 mapm install
like '[H8] a second install into these files has nothing to do' "$err" 'nothing to do'
exits '[H8] remove from files that were empty succeeds' 0 mapm remove pair
ok '[H8] remove restores the blank file byte for byte' cmp .mcp.json "$T/blank"
ok '[H8] remove restores the file with only a byte order mark' cmp -s .cursor/mcp.json "$T/mark"

# --- a client that expands no variables ---------------------------------------------------

mkdir -p "$T/vars" "$T/plugin/.claude-plugin" && cd "$T/vars"
echo '{"name": "vars", "version": "1.0.0"}' >"$T/plugin/.claude-plugin/plugin.json"
cat >"$T/plugin/.mcp.json" <<'X'
{"mcpServers": {"far": {"type": "http", "url": "https://mcp.example.com/",
  "headers": {"Authorization": "Bearer ${FAR_TOKEN}"}}}}
X
echo 'clients: [claude, codex, cursor, qwen, zed]' >mapm.yaml
exits '[H8] install of a server with variables succeeds' 0 mapm install --yes "$T/plugin"
like '[H8] the warning names the clients that do not expand variables' "$err" 'are not expanded by qwen, zed: '
ok '[H8, V50, C6] the variable has the syntax of Cursor' grep -qF 'Bearer ${env:FAR_TOKEN}' .cursor/mcp.json
exits '[H8] a second install of a server with variables succeeds' 0 mapm install
unlike '[H8] a second install does not repeat the warning of variables' "$err" 'are not expanded'
done_testing

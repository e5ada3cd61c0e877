#!/bin/sh
# Files of clients that a team commits: servers: start, and mapm start [D20].
. "$(dirname "$0")/../lib/cli.sh"

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
# probe FOLDER: the server, which prints what it was given.
probe()
{
    mkdir -p "$1/bin"
    cat >"$1/bin/probe" <<'SH'
#!/bin/sh
for word; do printf 'arg %s\n' "$word"; done
echo "AT=${AT-none} pwd=$PWD pid=$$ umask=$(umask)"
grep '^SigIgn' /proc/$$/status
[ ! -p /dev/stdin ] || cat
SH
    chmod 755 "$1/bin/probe"
}
one_line() { is "$1" "$(printf '%s\n' "$err" | wc -l)" 1; }
consent() { mapm install >/dev/null 2>&1; }

src=$T/src/mcps
mkdir -p "$src"
cat >"$src/io.acme_tool.json" <<'JSON'
{
  "_meta": {
    "name": "io.acme/tool"
  },
  "command": "${workspaceDir}/bin/probe",
  "args": [
    "${workspaceDir}/a b",
    "plain",
    "${sharedDir}"
  ],
  "env": {
    "AT": "${workspaceDir}"
  }
}
JSON
mcp "$src/io.acme_plain.json" io.acme/plain npx -y plain
sed -i 's/"type"/"timeout": 5000, "type"/' "$src/io.acme_plain.json"
mcp "$src/io.acme_again.json" io.acme/again mapm start io-acme-again
mcp "$src/io.acme_other.json" io.acme/other no-such-program '${sharedDir}'
start_githost
make_repo acme/team "$T/src"
at=https://github.com/acme/team/tree/main/mcps

# --- the files ------------------------------------------------------------------

printf 'servers: start\nclients: [codex, gemini, opencode, vscode, cursor]\n' >mapm.yaml
mine='{"mcpServers": {"team":   {"command":"theirs" , "args":[ ]}},
 "else": [1,2]}'
printf '%s\n' "$mine" >.mcp.json
probe .
exits 'installs' 0 mapm install --yes $at/io.acme_tool.json $at/io.acme_plain.json
like 'what runs is shown' "$out" "runs: '\\$\{workspaceDir\}/bin/probe'"
key=io-acme-tool
is '[D20] an entry with placeholders becomes mapm start' \
    "$(get mcpServers $key <.mcp.json)" '{"command": "mapm", "args": ["start", "io-acme-tool"]}'
is 'another is written plainly' "$(get mcpServers io-acme-plain command <.mcp.json)" npx
is 'with all of it' "$(get mcpServers io-acme-plain timeout <.mcp.json)" 5000
is 'for gemini' "$(get mcpServers $key args <.gemini/settings.json)" '["start", "io-acme-tool"]'
is 'for cursor' "$(get mcpServers $key command <.cursor/mcp.json)" mapm
is 'for vscode' "$(get servers $key <.vscode/mcp.json)" \
    '{"type": "stdio", "command": "mapm", "args": ["start", "io-acme-tool"]}'
is 'for opencode' "$(get mcp $key command <opencode.json)" '["mapm", "start", "io-acme-tool"]'
is 'for codex' "$(toml <.codex/config.toml | get mcp_servers $key args)" '["start", "io-acme-tool"]'
not_ok 'no path of this machine is in them' grep -rqF "$T" .mcp.json .gemini .cursor .vscode .codex opencode.json
unlike 'nor is that told' "$err" 'paths of this machine'
ok "[D20] the team's own entry is the same bytes" grep -qF '"team":   {"command":"theirs" , "args":[ ]}' .mcp.json
exits 'mapm verify knows them' 0 mapm verify
before=$(snapshot . "$MAPM_HOME/store")
exits 'again' 0 mapm install
like 'there is nothing to do' "$err" 'nothing to do'
is 'and nothing changes' "$(snapshot . "$MAPM_HOME/store")" "$before"
like 'what may start is listed' "$(mapm trust --list)" "^server +$T/ws +sha256:.* mcp io.acme/tool\$"
like 'with its name for programs' "$(mapm trust --list --json)" '"server": "io.acme/tool"'

# --- it runs --------------------------------------------------------------------

mkdir -p deep/er
before=$(snapshot . "$HOME" "$MAPM_HOME")
exits 'mapm start' 0 mapm start $key
is '[D20] its arguments are those of the catalog' "$(printf '%s\n' "$out" | grep ^arg)" \
    "arg $T/ws/a b
arg plain
arg $MAPM_HOME/shared"
like 'its environment, too' "$out" "^AT=$T/ws pwd=$T/ws "
is 'no word of mapm' "$err" ''
is '[D20] it writes nothing' "$(snapshot . "$HOME" "$MAPM_HOME")" "$before"
exits 'from below' 0 mapm -C deep/er start $key
like 'the working folder stays' "$out" " pwd=$T/ws/deep/er "
like 'the workspace is found' "$out" "^AT=$T/ws "
cd / || exit 1
exits 'from elsewhere' 1 mapm start $key
one_line 'one line says'
like 'that there is no workspace' "$err" 'no mapm.yaml in / or above it'
ln -s "$T/ws/deep" "$T/link"
exits '[D20] CLAUDE_PROJECT_DIR leads to it, by a link' 0 \
    env CLAUDE_PROJECT_DIR="$T/link/er" "$MAPM" start $key
like 'by its real path' "$out" "^AT=$T/ws "
cd "$T/ws" || exit 1
exits 'where it leads nowhere the working folder counts' 0 \
    env CLAUDE_PROJECT_DIR="$T/nowhere" "$MAPM" start $key
is '[D20] it is the same process' \
    "$(sh -c 'echo $$; exec "$0" start io-acme-tool' "$MAPM" | sed -n '1p;s/.* pid=\([0-9]*\) .*/\1/p' | uniq | wc -l)" 1
is 'standard input is its own' "$(printf 'to it' | mapm start $key | tail -n 1)" 'to it'
like '[D20] its umask is that of the client' "$(umask 077; mapm start $key)" 'umask=0077'
is 'signals are as they were' "$(mapm start $key | grep SigIgn)" "$(grep SigIgn /proc/self/status)"
is 'also ignored ones' "$(trap '' USR1; mapm start $key | grep SigIgn)" \
    "$(trap '' USR1; grep SigIgn /proc/self/status)"

# --- it does not run ------------------------------------------------------------

exits 'an unknown key' 1 mapm start nothing
one_line 'in one line'
for odd in '' ' ' '../../x' 'a"b' '$(x)' "$(printf 'a\033[31mb')" "$(printf 'a\nb')" \
    "$(head -c 5000 /dev/zero | tr '\0' k)"; do
    exits '[D20] an odd key' 1 mapm start "$odd"
    one_line 'takes one line'
    unlike 'without its controls' "$err" "$(printf '\033')"
done
exits 'no key' 2 mapm start
mv bin/probe bin/gone
exits '[D20] a program that is missing' 127 mapm start $key
is 'is named' "$err" "mapm: there is no program $T/ws/bin/probe"
mv bin/gone bin/probe
chmod 644 bin/probe
exits 'or cannot be run' 127 mapm start $key
chmod 755 bin/probe
mapm install --yes $at/io.acme_other.json $at/io.acme_again.json >/dev/null 2>&1
exits 'a name that is not on the PATH' 127 mapm start io-acme-other
like 'is told with the PATH' "$err" "^mapm: there is no program \"no-such-program\" on the PATH: /"
ln -s "$MAPM" bin/mapm
exits '[D20] a server that starts itself' 4 env PATH="$PWD/bin:$PATH" "$MAPM" start io-acme-again
one_line 'is refused once'
like 'with the reason' "$err" 'its command is mapm start'

# The same repository on another machine's folder: committed, never installed.
cp -r . "$T/clone" && rm -rf "$T/clone/.agents"
cd "$T/clone" || exit 1
exits '[D20] a clone has no consent' 4 mapm start $key
one_line 'one line'
like 'says what to do' "$err" 'run mapm install once$'
exits 'with no data of mapm' 4 env MAPM_HOME="$T/fresh" "$MAPM" start $key
like 'the same' "$err" 'run mapm install once$'
not_ok 'and none is made' test -e "$T/fresh"
exits 'a dry run' 0 mapm install --dry-run
exits 'gives none' 4 mapm start $key
exits 'mapm install' 0 mapm install --locked
like '[D20] shows what may run' "$out" "runs: '\\$\{workspaceDir\}/bin/probe'"
like 'and says so' "$err" 'mapm start may execute these servers on this machine now'
exits 'then it runs' 0 mapm start $key
like 'in this folder' "$out" "^AT=$T/clone "
exits 'and the committed files stay' 0 diff -r .mcp.json "$T/ws/.mcp.json"

cp mapm.lock "$T/lock"
digest=$(sed -n "/name: io.acme\/plain/,/key:/s/.*digest: //p" mapm.lock)
sed -i "/name: io.acme\/tool/,/key:/s/digest: .*/digest: $digest/" mapm.lock
exits '[D20] a lock with the digest of another server' 4 mapm start $key
like 'has no consent' "$err" 'run mapm install once$'
sed "s/digest: sha256:..../digest: sha256:0000/" "$T/lock" >mapm.lock
exits 'nor has an unknown digest' 4 mapm start $key
sed "s/key: io-acme-plain/key: x/;s/key: io-acme-tool/key: io-acme-plain/;s/key: x/key: io-acme-tool/" "$T/lock" >mapm.lock
exits 'nor have two keys that were swapped' 4 mapm start $key
printf '<<<<<<< ours\n' >>mapm.lock
exits 'a lock that is none' 1 mapm start $key
one_line 'takes one line'
cp "$T/lock" mapm.lock

mv "$T/clone" "$T/moved" && cd "$T/moved" || exit 1
exits '[D20] a folder that was moved' 4 mapm start $key
consent
exits 'is installed once more' 0 mapm start $key
like 'and its paths are new' "$out" "^AT=$T/moved "
mv "$T/moved" "$T/aside" && cp -r "$T/aside" "$T/moved" && cd "$T/moved" || exit 1
exits 'another folder in its place' 4 mapm start $key
like 'is told of' "$err" 'the folder was replaced'
rm -rf "$T/moved" && mv "$T/aside" "$T/moved" && cd "$T/moved" || exit 1
exits 'the old one still runs' 0 mapm start $key
mapm trust --revoke --workspace >/dev/null 2>&1
exits 'until its trust is revoked' 4 mapm start $key
consent
if can_chown; then
    chown 12345 mapm.lock
    exits '[D20] a lock of another user' 4 mapm start $key
    one_line 'takes one line'
    like 'with its owner' "$err" 'mapm.lock'
    chown 0 mapm.lock
    chown 12345 mapm.yaml
    exits 'a mapm.yaml of another user' 4 mapm start $key
    mkdir -p below
    exits 'above the working folder, too' 4 mapm -C below start $key
    one_line 'one line'
    chown 0 mapm.yaml
    chown 12345 .
    exits 'a folder of another user' 4 mapm start $key
    chown 0 .
else
    skip 'files of another user' 'this user cannot give files away'
fi
exits 'it runs again' 0 mapm start $key
find "$MAPM_HOME/store" -name '*.pack' -o -path '*/objects/*' -type f | while read -r file; do
    chmod u+w "$file" && sed -i 's/plain/PLAIN/g' "$file"
done
exits '[D20] a store with other bytes' 4 mapm start $key
one_line 'one line'
like 'names the way out' "$err" 'run mapm install --force once$'
exits 'which works' 0 mapm install --force
exits 'then it runs' 0 mapm start $key

# --- what cannot be written -----------------------------------------------------

bad() # FILE JSON: an MCP file
{
    printf '%s\n' "$2" >"$T/$1"
}
mkdir "$T/two" && cd "$T/two" || exit 1
echo 'servers: start' >mapm.yaml
bad io.acme_far.json '{"_meta": {"name": "io.acme/far"}, "type": "http", "url": "https://x.example/${workspaceDir}"}'
bad io.acme_more.json '{"_meta": {"name": "io.acme/more"}, "command": "npx", "args": ["${sharedDir}"], "roots": ["${workspaceDir}/x"]}'
bad io.acme_typo.json '{"_meta": {"name": "io.acme/typo"}, "command": "npx", "args": ["${workspaceDirs}", "${sharedDir}"]}'
exits '[D20] a remote server with a placeholder' 1 mapm install --yes "$T/io.acme_far.json"
like 'is refused with the reason' "$err" 'is a remote server with \$\{workspaceDir\}'
exits 'so is one in what only the client reads' 1 mapm install --yes "$T/io.acme_more.json"
like 'which is named' "$err" '"roots" holds "\$\{workspaceDir\}/x"'
exits '[D20, M22] a misspelt placeholder' 1 mapm install --yes "$T/io.acme_typo.json"
like 'is refused here' "$err" 'workspaceDirs'
echo 'servers: direct' >mapm.yaml
exits '[M22] and with servers: direct' 1 mapm install --yes "$T/io.acme_typo.json"
is 'nothing was written' "$(ls -A)" mapm.yaml
echo 'servers: maybe' >mapm.yaml
exits 'another value' 1 mapm install
like 'is told of' "$err" 'mapm.yaml:1: servers must be'

# --- from one to the other ------------------------------------------------------

mkdir "$T/three" && cd "$T/three" || exit 1
echo 'servers: direct' >mapm.yaml
mapm install --yes $at/io.acme_tool.json >/dev/null 2>&1
is 'direct is the path itself' "$(get mcpServers $key args 0 <.mcp.json)" "$T/three/a b"
exits 'and no consent to mapm start' 4 mapm start $key
cp -r . "$T/four"
sed -i s/direct/start/ mapm.yaml
exits 'to start' 0 mapm install
is 'without a path' "$(get mcpServers $key args 0 <.mcp.json)" start
cp .mcp.json "$T/four/.mcp.json"
rm -rf .agents && cp "$T/four/.mcp.json" . 
cd "$T/four" || exit 1
exits 'a colleague back to direct' 0 mapm install
is 'has own paths' "$(get mcpServers $key args 0 <.mcp.json)" "$T/four/a b"
rm -rf .agents
sed -i s/direct/start/ mapm.yaml
exits 'a clone with committed paths, to start' 0 mapm install
is 'has none' "$(get mcpServers $key args 0 <.mcp.json)" start

# --- where mapm is found ----------------------------------------------------------

mkdir -p "$T/five/.vscode" "$T/home/bin" && cd "$T/five" || exit 1
ln -sf "$MAPM" "$T/home/bin/mapm"
# A mapm in the session's folders is found by what is started from the desktop.
session=$(sed -n 's/^PATH="*\([^"]*\)"*$/\1/p' /etc/environment 2>/dev/null | tail -n 1)
there=$(PATH=${session:-/usr/local/bin:/usr/bin:/bin} command -v mapm)
case $there in
/*) expect=unlike ;;
*) expect=like ;;
esac
echo 'servers: start' >mapm.yaml
exits 'no mapm on the PATH' 0 env PATH="/usr/bin:/bin:$PATH" "$MAPM" install --yes $at/io.acme_tool.json
[ -n "$there" ] || like '[D20] is warned of' "$err" '^warning: clients look for mapm on the PATH, where there is none'
rm -rf .mcp.json .agents .vscode/mcp.json
exits 'only below the home folder' 0 env PATH="$HOME/bin:$PATH" "$MAPM" install
$expect '[D20] is told of the client of a desktop' "$err" \
    "^warning: vscode, started from the desktop, may not find mapm: it is $HOME/bin/mapm"
run env PATH="$HOME/bin:$PATH" "$MAPM" doctor
$expect 'mapm doctor tells it, too' "$out" "-> sudo ln -s $HOME/bin/mapm /usr/local/bin/mapm"
rm -rf .mcp.json .agents .vscode
exits 'a client in a terminal' 0 env PATH="$HOME/bin:$PATH" "$MAPM" install
unlike 'has the PATH of its shell' "$err" 'from the desktop'
run env PATH="$HOME/bin:$PATH" "$MAPM" doctor
like 'and is fine' "$out" "ok +mapm on PATH +$HOME/bin/mapm"

# --- a remote server ----------------------------------------------------------------

mkdir "$T/remote" && cd "$T/remote" || exit 1
bad io.acme_web.json '{"_meta": {"name": "io.acme/web"}, "type": "http", "url": "https://x.example/mcp"}'
exits '[D20] a remote server' 0 mapm install --yes "$T/io.acme_web.json"
exits '[D20] is not started' 4 mapm start io-acme-web
like '[D20] and mapm install is no way to it' "$err" 'io-acme-web is a remote server: clients connect to it'

done_testing

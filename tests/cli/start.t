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
exits 'install of two servers with servers: start succeeds' 0 mapm install --yes $at/io.acme_tool.json $at/io.acme_plain.json
like 'install shows the command of the server' "$out" "runs: '\\$\{workspaceDir\}/bin/probe'"
key=io-acme-tool
is '[D20] .mcp.json runs mapm start for an entry with placeholders' \
    "$(get mcpServers $key <.mcp.json)" '{"command": "mapm", "args": ["start", "io-acme-tool"]}'
is '.mcp.json has the plain command of an entry without placeholders' "$(get mcpServers io-acme-plain command <.mcp.json)" npx
is '.mcp.json has the timeout of an entry without placeholders' "$(get mcpServers io-acme-plain timeout <.mcp.json)" 5000
is 'the file of gemini runs mapm start' "$(get mcpServers $key args <.gemini/settings.json)" '["start", "io-acme-tool"]'
is 'the file of cursor runs mapm start' "$(get mcpServers $key command <.cursor/mcp.json)" mapm
is 'the file of vscode runs mapm start' "$(get servers $key <.vscode/mcp.json)" \
    '{"type": "stdio", "command": "mapm", "args": ["start", "io-acme-tool"]}'
is 'the file of opencode runs mapm start' "$(get mcp $key command <opencode.json)" '["mapm", "start", "io-acme-tool"]'
is 'the file of codex runs mapm start' "$(toml <.codex/config.toml | get mcp_servers $key args)" '["start", "io-acme-tool"]'
not_ok 'the files of clients contain no path of this machine' grep -rqF "$T" .mcp.json .gemini .cursor .vscode .codex opencode.json
unlike 'install does not warn about paths of this machine' "$err" 'paths of this machine'
ok "[D20] an entry that the team wrote keeps its bytes" grep -qF '"team":   {"command":"theirs" , "args":[ ]}' .mcp.json
exits 'verify succeeds for entries of mapm start' 0 mapm verify
before=$(snapshot . "$MAPM_HOME/store")
exits 'a second install succeeds' 0 mapm install
like 'a second install has nothing to do' "$err" 'nothing to do'
is 'a second install leaves workspace and store unchanged' "$(snapshot . "$MAPM_HOME/store")" "$before"
like 'trust --list shows the server that may start' "$(mapm trust --list)" "^server +$T/ws +sha256:.* mcp io.acme/tool\$"
like 'trust --list --json has the name of the server' "$(mapm trust --list --json)" '"server": "io.acme/tool"'

# --- it runs --------------------------------------------------------------------

mkdir -p deep/er
before=$(snapshot . "$HOME" "$MAPM_HOME")
exits 'mapm start succeeds for an installed server' 0 mapm start $key
is '[D20] mapm start passes the arguments of the catalog' "$(printf '%s\n' "$out" | grep ^arg)" \
    "arg $T/ws/a b
arg plain
arg $MAPM_HOME/shared"
like 'mapm start sets the environment of the catalog' "$out" "^AT=$T/ws pwd=$T/ws "
is 'mapm start prints nothing of its own' "$err" ''
is '[D20] mapm start writes nothing' "$(snapshot . "$HOME" "$MAPM_HOME")" "$before"
exits 'mapm start succeeds in a subfolder' 0 mapm -C deep/er start $key
like 'mapm start keeps the working folder' "$out" " pwd=$T/ws/deep/er "
like 'mapm start finds the workspace above the working folder' "$out" "^AT=$T/ws "
cd / || exit 1
exits 'mapm start fails outside a workspace' 1 mapm start $key
one_line 'the error of mapm start outside a workspace takes one line'
like 'the error says that no mapm.yaml is above the folder' "$err" 'no mapm.yaml in / or above it'
ln -s "$T/ws/deep" "$T/link"
exits '[D20] mapm start finds the workspace by CLAUDE_PROJECT_DIR' 0 \
    env CLAUDE_PROJECT_DIR="$T/link/er" "$MAPM" start $key
like 'mapm start resolves a link in CLAUDE_PROJECT_DIR' "$out" "^AT=$T/ws "
cd "$T/ws" || exit 1
exits 'mapm start uses the working folder when CLAUDE_PROJECT_DIR is missing' 0 \
    env CLAUDE_PROJECT_DIR="$T/nowhere" "$MAPM" start $key
is '[D20] the server runs in the process of mapm start' \
    "$(sh -c 'echo $$; exec "$0" start io-acme-tool' "$MAPM" | sed -n '1p;s/.* pid=\([0-9]*\) .*/\1/p' | uniq | wc -l)" 1
is 'the server inherits standard input' "$(printf 'to it' | mapm start $key | tail -n 1)" 'to it'
like '[D20] the server inherits the umask of the client' "$(umask 077; mapm start $key)" 'umask=0077'
is 'the server inherits the default handling of signals' "$(mapm start $key | grep SigIgn)" "$(grep SigIgn /proc/self/status)"
is 'the server inherits ignored signals' "$(trap '' USR1; mapm start $key | grep SigIgn)" \
    "$(trap '' USR1; grep SigIgn /proc/self/status)"

# --- it does not run ------------------------------------------------------------

exits 'mapm start fails for an unknown key' 1 mapm start nothing
one_line 'the error for an unknown key takes one line'
like '[D20] the error for an unknown key names the keys of the lock' "$err" 'no MCP server "nothing"; it has io-acme-plain, io-acme-tool$'
for odd in '' ' ' '../../x' 'a"b' '$(x)' "$(printf 'a\033[31mb')" "$(printf 'a\nb')" \
    "$(head -c 5000 /dev/zero | tr '\0' k)"; do
    exits '[D20] mapm start fails for an odd key' 1 mapm start "$odd"
    one_line 'the error for an odd key takes one line'
    unlike 'the error for an odd key contains no escape character' "$err" "$(printf '\033')"
done
exits 'mapm start without a key is a usage error' 2 mapm start
mv bin/probe bin/gone
exits '[D20] mapm start exits 127 when the program is missing' 127 mapm start $key
is 'the error names the missing program' "$err" "mapm: there is no program $T/ws/bin/probe"
mv bin/gone bin/probe
chmod 644 bin/probe
exits 'mapm start exits 127 when the program is not executable' 127 mapm start $key
chmod 755 bin/probe
mapm install --yes $at/io.acme_other.json $at/io.acme_again.json >/dev/null 2>&1
exits 'mapm start exits 127 when the program is not on the PATH' 127 mapm start io-acme-other
like 'the error prints the PATH that lacks the program' "$err" "^mapm: there is no program \"no-such-program\" on the PATH: /"
ln -s "$MAPM" bin/mapm
exits '[D20] mapm start refuses a server that starts itself' 4 env PATH="$PWD/bin:$PATH" "$MAPM" start io-acme-again
one_line 'the error for a server that starts itself takes one line'
like 'the error says that the command is mapm start' "$err" 'its command is mapm start'

# The same repository on another machine's folder: committed, never installed.
cp -r . "$T/clone" && rm -rf "$T/clone/.agents"
cd "$T/clone" || exit 1
exits '[D20] mapm start in a clone is refused without consent' 4 mapm start $key
one_line 'the refusal in a clone takes one line'
like 'the refusal in a clone advises to run mapm install' "$err" 'run mapm install once$'
exits 'mapm start without data of mapm is refused' 4 env MAPM_HOME="$T/fresh" "$MAPM" start $key
like 'the refusal without data of mapm advises to run mapm install' "$err" 'run mapm install once$'
not_ok 'mapm start creates no data of mapm' test -e "$T/fresh"
exits 'install --dry-run succeeds in a clone' 0 mapm install --dry-run
exits 'install --dry-run gives no consent to mapm start' 4 mapm start $key
exits 'install --locked succeeds in a clone' 0 mapm install --locked
like '[D20] install shows the command that may run' "$out" "runs: '\\$\{workspaceDir\}/bin/probe'"
like 'install says that mapm start may execute the servers now' "$err" 'mapm start may execute these servers on this machine now'
exits 'mapm start succeeds in a clone after install' 0 mapm start $key
like 'mapm start uses the paths of the clone' "$out" "^AT=$T/clone "
exits 'install in a clone leaves the committed .mcp.json unchanged' 0 diff -r .mcp.json "$T/ws/.mcp.json"

cp mapm.lock "$T/lock"
digest=$(sed -n "/name: io.acme\/plain/,/key:/s/.*digest: //p" mapm.lock)
sed -i "/name: io.acme\/tool/,/key:/s/digest: .*/digest: $digest/" mapm.lock
exits '[D20] mapm start refuses a lock with the digest of another server' 4 mapm start $key
like 'the refusal of another digest advises to run mapm install' "$err" 'run mapm install once$'
sed "s/digest: sha256:..../digest: sha256:0000/" "$T/lock" >mapm.lock
exits 'mapm start refuses a lock with an unknown digest' 4 mapm start $key
sed "s/key: io-acme-plain/key: x/;s/key: io-acme-tool/key: io-acme-plain/;s/key: x/key: io-acme-tool/" "$T/lock" >mapm.lock
exits 'mapm start refuses a lock with two swapped keys' 4 mapm start $key
printf '<<<<<<< ours\n' >>mapm.lock
exits 'mapm start fails for a malformed lock' 1 mapm start $key
one_line 'the error for a malformed lock takes one line'
cp "$T/lock" mapm.lock

mv "$T/clone" "$T/moved" && cd "$T/moved" || exit 1
exits '[D20] mapm start is refused in a folder that was moved' 4 mapm start $key
consent
exits 'mapm start succeeds in the moved folder after install' 0 mapm start $key
like 'mapm start uses the paths of the moved folder' "$out" "^AT=$T/moved "
mv "$T/moved" "$T/aside" && cp -r "$T/aside" "$T/moved" && cd "$T/moved" || exit 1
exits 'mapm start is refused in a copy that replaced the folder' 4 mapm start $key
like 'the refusal says that the folder was replaced' "$err" 'the folder was replaced'
rm -rf "$T/moved" && mv "$T/aside" "$T/moved" && cd "$T/moved" || exit 1
exits 'mapm start succeeds when the original folder is back' 0 mapm start $key
mapm trust --revoke --workspace >/dev/null 2>&1
exits 'mapm start is refused after the trust was revoked' 4 mapm start $key
consent
if can_chown; then
    chown 12345 mapm.lock
    exits '[D20] mapm start refuses a lock of another user' 4 mapm start $key
    one_line 'the refusal of a foreign lock takes one line'
    like 'the refusal names mapm.lock' "$err" 'mapm.lock'
    chown 0 mapm.lock
    chown 12345 mapm.yaml
    exits 'mapm start refuses a mapm.yaml of another user' 4 mapm start $key
    mkdir -p below
    exits 'mapm start refuses a foreign mapm.yaml above the working folder' 4 mapm -C below start $key
    one_line 'the refusal of a foreign mapm.yaml takes one line'
    chown 0 mapm.yaml
    chown 12345 .
    exits 'mapm start refuses a workspace folder of another user' 4 mapm start $key
    chown 0 .
else
    skip 'files of another user' 'this user cannot give files away'
fi
exits 'mapm start succeeds once the files are owned by the user again' 0 mapm start $key
find "$MAPM_HOME/store" -name '*.pack' -o -path '*/objects/*' -type f | while read -r file; do
    chmod u+w "$file" && sed -i 's/plain/PLAIN/g' "$file"
done
exits '[D20] mapm start refuses a store with altered bytes' 4 mapm start $key
one_line 'the refusal of an altered store takes one line'
like 'the refusal advises to run mapm install --force' "$err" 'run mapm install --force once$'
exits 'install --force repairs the altered store' 0 mapm install --force
exits 'mapm start succeeds after install --force' 0 mapm start $key

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
exits '[D20] install rejects a remote server with a placeholder' 1 mapm install --yes "$T/io.acme_far.json"
like 'the error says that the server is remote' "$err" 'is a remote server with \$\{workspaceDir\}'
exits 'install rejects a placeholder in a field for the client' 1 mapm install --yes "$T/io.acme_more.json"
like 'the error names the field with the placeholder' "$err" '"roots" holds "\$\{workspaceDir\}/x"'
exits '[D20, M22] install with servers: start rejects a misspelt placeholder' 1 mapm install --yes "$T/io.acme_typo.json"
like 'the error names the misspelt placeholder' "$err" 'workspaceDirs'
echo 'servers: direct' >mapm.yaml
exits '[M22] install with servers: direct rejects a misspelt placeholder' 1 mapm install --yes "$T/io.acme_typo.json"
is 'rejected servers leave the workspace unchanged' "$(ls -A)" mapm.yaml
echo 'servers: maybe' >mapm.yaml
exits 'install rejects another value of servers' 1 mapm install
like 'the error gives the line of servers in mapm.yaml' "$err" 'mapm.yaml:1: servers must be'

# --- from one to the other ------------------------------------------------------

mkdir "$T/three" && cd "$T/three" || exit 1
echo 'servers: direct' >mapm.yaml
mapm install --yes $at/io.acme_tool.json >/dev/null 2>&1
is 'servers: direct writes the path of this machine' "$(get mcpServers $key args 0 <.mcp.json)" "$T/three/a b"
exits 'mapm start is refused for a server written directly' 4 mapm start $key
cp -r . "$T/four"
sed -i s/direct/start/ mapm.yaml
exits 'install succeeds after the change from direct to start' 0 mapm install
is 'servers: start replaces the path of this machine' "$(get mcpServers $key args 0 <.mcp.json)" start
cp .mcp.json "$T/four/.mcp.json"
rm -rf .agents && cp "$T/four/.mcp.json" . 
cd "$T/four" || exit 1
exits 'install with servers: direct succeeds over a committed start entry' 0 mapm install
is 'install with servers: direct writes the path of the own machine' "$(get mcpServers $key args 0 <.mcp.json)" "$T/four/a b"
rm -rf .agents
sed -i s/direct/start/ mapm.yaml
exits 'install succeeds in a clone with committed paths' 0 mapm install
is 'servers: start replaces the committed path' "$(get mcpServers $key args 0 <.mcp.json)" start

# --- removal as the first command of a clone ----------------------------------------

# The record of what mapm wrote is not committed, so a clone has none.
rm -rf "$T/team" && mkdir "$T/team" && cd "$T/team" || exit 1
printf 'servers: start\nclients: [codex, vscode]\n' >mapm.yaml
printf '%s\n' "$mine" >.mcp.json
cp .mcp.json "$T/mine.json"
mapm install --yes $at/io.acme_tool.json $at/io.acme_plain.json >/dev/null 2>&1
cp .mcp.json "$T/both.json"
rm -rf .agents
exits '[D20] remove succeeds as the first command of a clone' 0 mapm remove io.acme/tool
like 'the removal is named' "$out" "- mcp io.acme/tool"
exits 'the removed server has no entry in .mcp.json' 1 grep -q "$key" .mcp.json
exits 'the removed server has no entry in the file of codex' 1 grep -q "$key" .codex/config.toml
exits 'the removed server has no entry in the file of vscode' 1 grep -q "$key" .vscode/mcp.json
is 'the other server stays in .mcp.json' "$(get mcpServers io-acme-plain command <.mcp.json)" npx
rm -rf .agents
exits 'remove of the last server succeeds as the first command of a clone' 0 mapm remove io.acme/plain
ok 'the entries of the team are what they were' cmp .mcp.json "$T/mine.json"

# Without its file in the store only an entry with mapm start is known.
printf 'servers: start\n' >mapm.yaml
mapm install --yes $at/io.acme_tool.json >/dev/null 2>&1
rm -rf .agents
exits 'remove succeeds as the first command of a clone with an empty store' 0 \
    env XDG_CACHE_HOME="$T/empty" XDG_DATA_HOME="$T/empty" "$MAPM" remove io.acme/tool
ok 'the entry that runs mapm start is removed' cmp .mcp.json "$T/mine.json"

# An entry that someone changed is not mapm's.
printf 'servers: start\n' >mapm.yaml
mapm install --yes $at/io.acme_tool.json >/dev/null 2>&1
rm -rf .agents
sed -i 's/"start"/"start", "-v"/' .mcp.json
cp .mcp.json "$T/changed.json"
exits 'remove succeeds in a clone with a changed entry' 0 mapm remove io.acme/tool
ok 'the changed entry stays' cmp .mcp.json "$T/changed.json"

# --- removal of an edited server -----------------------------------------------------

rm -rf "$T/edited" && mkdir "$T/edited" && cd "$T/edited" || exit 1
mapm install --yes $at/io.acme_again.json $at/io.acme_plain.json >/dev/null 2>&1
sed -i 's/"start"/"start", "-v"/' .mcp.json
exits 'remove succeeds for an edited server beside another one' 0 mapm remove io.acme/again
like 'remove names the edited server' "$err" '\.mcp\.json#io-acme-again was changed'
is 'remove keeps the edited server' "$(get mcpServers io-acme-again args 1 <.mcp.json)" -v
exits 'verify succeeds for the server that stays' 0 mapm verify
exits 'remove succeeds for the server beside it' 0 mapm remove io.acme/plain
exits 'the server beside it is removed' 1 grep -q io-acme-plain .mcp.json

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
exits 'install succeeds without mapm on the PATH' 0 env PATH="/usr/bin:/bin:$PATH" "$MAPM" install --yes $at/io.acme_tool.json
[ -n "$there" ] || like '[D20] install warns that mapm is not on the PATH' "$err" '^warning: clients look for mapm on the PATH, where there is none'
rm -rf .mcp.json .agents .vscode/mcp.json
exits 'install succeeds with mapm below the home folder alone' 0 env PATH="$HOME/bin:$PATH" "$MAPM" install
$expect '[D20] is told of the client of a desktop' "$err" \
    "^warning: vscode, started from the desktop, may not find mapm: it is $HOME/bin/mapm"
run env PATH="$HOME/bin:$PATH" "$MAPM" doctor
$expect 'mapm doctor tells it, too' "$out" "-> sudo ln -s $HOME/bin/mapm /usr/local/bin/mapm"
rm -rf .mcp.json .agents .vscode
exits 'install succeeds for a client in a terminal' 0 env PATH="$HOME/bin:$PATH" "$MAPM" install
unlike 'install does not warn a client in a terminal' "$err" 'from the desktop'
run env PATH="$HOME/bin:$PATH" "$MAPM" doctor
like 'doctor finds mapm on the PATH of the shell' "$out" "ok +mapm on PATH +$HOME/bin/mapm"

# --- a remote server ----------------------------------------------------------------

mkdir "$T/remote" && cd "$T/remote" || exit 1
bad io.acme_web.json '{"_meta": {"name": "io.acme/web"}, "type": "http", "url": "https://x.example/mcp"}'
exits '[D20] install of a remote server succeeds' 0 mapm install --yes "$T/io.acme_web.json"
exits '[D20] mapm start refuses a remote server' 4 mapm start io-acme-web
like '[D20] the refusal says that clients connect to a remote server' "$err" 'io-acme-web is a remote server: clients connect to it'

done_testing

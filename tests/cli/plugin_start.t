#!/bin/sh
# Servers of plugins, as clients start them: probes that print how they were started.
# [G12, V44]
. "$(dirname "$0")/../lib/cli.sh"
start_githost

has()   # WHAT TEXT PART
{
    case $2 in *"$3"*) pass "$1" ;; *) fail "$1"; diag "no \"$3\" in: $2" ;; esac
}

PLUGIN='https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'
MCP='https://agent-plugins.org/schemas/1.0.0/mcp.schema.json'
# probe FILE: a server that says how it was started.
probe()
{
    cat >"$1" <<'SH'
#!/bin/sh
echo "cwd=$(pwd -P)"
for arg; do echo "arg=<$arg>"; done
echo "root=$PLUGIN_ROOT"
echo "data=$PLUGIN_DATA"
echo "value=$VALUE"
echo "self=$0"
[ -d "$PLUGIN_DATA" ] && echo run >>"$PLUGIN_DATA/log" && echo "log=$(wc -l <"$PLUGIN_DATA/log")"
cat
SH
    chmod +x "$1"
}
# plugin FOLDER NAME
plugin()
{
    mkdir -p "$1/bin" "$1/sub"
    printf '{"$schema": "%s", "name": "%s", "version": "1.0.0"}\n' "$PLUGIN" "$2" >"$1/plugin.json"
    cat >"$1/mcp.json" <<JSON
{"\$schema": "$MCP", "mcpServers": {
  "p": {"type": "stdio", "command": "./bin/pro be", "args": ["", "a b",
    "\${PLUGIN_ROOT}/x", "\${PLUGIN_ROOT_SUFFIX}", "\$VALUE", "\${X}"],
    "env": {"VALUE": "\${PLUGIN_DATA}/v"}},
  "sub": {"type": "stdio", "command": "./bin/pro be", "cwd": "./sub"},
  "root": {"type": "stdio", "command": "./bin/pro be", "cwd": "\${PLUGIN_ROOT}/sub"},
  "data": {"type": "stdio", "command": "./bin/pro be", "cwd": "\${PLUGIN_DATA}"},
  "inner": {"type": "stdio", "command": "./bin/pro be", "cwd": "\${PLUGIN_DATA}/out"},
  "exit": {"type": "stdio", "command": "./bin/exit"},
  "signal": {"type": "stdio", "command": "./bin/signal"},
  "bare": {"type": "stdio", "command": "no-such-program"},
  "up": {"type": "stdio", "command": "./bin/../../x"},
  "tmp": {"type": "stdio", "command": "./bin/pro be", "cwd": "/tmp"},
  "climb": {"type": "stdio", "command": "./bin/pro be", "cwd": "\${PLUGIN_DATA}/.."},
  "plain": {"type": "stdio", "command": "./bin/plain"},
  "self": {"type": "stdio", "command": "./bin/pro be", "env": {"PLUGIN_ROOT": "/"}},
  "load": {"type": "stdio", "command": "./bin/pro be", "env": {"LD_PRELOAD": "x"}},
  "in": {"type": "stdio", "command": "\${PLUGIN_ROOT}/bin/x"}}}
JSON
    probe "$1/bin/pro be"
    printf '#!/bin/sh\nexit 7\n' >"$1/bin/exit"
    printf '#!/bin/sh\necho $$\nexec tail -f /dev/null\n' >"$1/bin/signal"
    chmod +x "$1/bin/exit" "$1/bin/signal"
    echo plain >"$1/bin/plain"
    echo s >"$1/sub/s"
}
plugin "$T/src/plugins/one" one
plugin "$T/src/plugins/two" two
make_repo acme/p "$T/src" >/dev/null
exits 'a standard plugin is installed [G12, P26]' 0 mapm install --yes acme/p/plugins/one
for name in up tmp climb plain self load in; do
    has "the server $name is left out and named [P8, P29, P33, P49, V28, V34, V38, row 36, row 37]" "$err" "mcp $name is left out"
done
run mapm start one-p
is 'it starts' "$status" 0
root=$(printf '%s\n' "$out" | sed -n 's/^root=//p')
data=$(printf '%s\n' "$out" | sed -n 's/^data=//p')
is '[V33, P32, P44] in the root of the plugin' "$(printf '%s\n' "$out" | sed -n 's/^cwd=//p')" "$root"
is '[V35, P4, P31, P34, P47, P48] with its arguments as they are' "$(printf '%s\n' "$out" | grep '^arg')" "arg=<>
arg=<a b>
arg=<$root/x>
arg=<\${PLUGIN_ROOT_SUFFIX}>
arg=<\$VALUE>
arg=<\${X}>"
has '[V40, P34, P46] values of its environment are expanded' "$out" "value=$data/v"
has '[V37, P31] a blank in the path is no end of a word' "$out" "self=$root/bin/pro be"
is 'the root cannot be written' "$(stat -c %a "$root/plugin.json")" 444
is 'the data folder is of this user alone [P45, row 38]' "$(stat -c %a "$data")" 700
is 'nothing of it is in the workspace' "$(find . -name 'pro be')" ''
run mapm start one-sub
has '[V34, P33] a cwd in the plugin' "$out" "cwd=$root/sub"
run mapm start one-root
has '[V34, P33] or by its placeholder' "$out" "cwd=$root/sub"
run mapm start one-data
has '[V34, P33] a cwd in the data' "$out" "cwd=$data"
has 'which all servers of a plugin share' "$out" "log=4"
ln -s "$T" "$data/out"
run mapm start one-inner
is 'no link leads out of the data [V34, P33, row 38]' "$status" 1
is '[V43] stdout is the client'\''s' "$out" ''
run mapm start one-bare
is '[V39, P41] a program that is not there' "$status" 127
echo input >"$T/in"
is '[V39, V43, P41] stdin reaches the other server, and its end' "$(mapm start one-p <"$T/in" | tail -1)" input
VALUE=base PLUGIN_ROOT=/evil PLUGIN_DATA=/evil "$MAPM" start one-p </dev/null >"$T/o"
is '[V40, P46] what the client has of these names does not count' \
    "$(sed -n 's/^root=//p; s/^data=//p; s/^value=//p' "$T/o")" "$root
$data
$data/v"
run mapm start one-exit
is '[V43] its exit status comes back' "$status" 7
"$MAPM" start one-signal >"$T/signal" 2>&1 &
server=$!
await test -s "$T/signal"
kill "$server"
wait "$server" 2>/dev/null
is '[V43] a signal reaches the server, which mapm has become' "$? $(cat "$T/signal")" "143 $server"

# --- the root is what was installed -------------------------------------------------

chmod u+w "$root/bin/pro be" && echo 'echo edited' >>"$root/bin/pro be"
is 'an edit of the root is undone before the start [V42, row 37]' \
    "$(mapm start one-p </dev/null | grep -c edited)" 0
touch "$root/sub/more"
run mapm start one-p
not_ok 'so is a file that was added' test -e "$root/sub/more"
chmod 755 "$MAPM_HOME/plugins"
run mapm start one-p
is 'a folder that others may look into is refused [row 38]' "$status" 4
chmod 700 "$MAPM_HOME/plugins"

# --- consent -------------------------------------------------------------------------

sed 's/key: one-sub/key: one-new/' mapm.lock >"$T/lock"
cp mapm.lock "$T/good"
cp "$T/lock" mapm.lock
run mapm start one-new
is 'the lock alone is no consent [row 46]' "$status" 4
cp "$T/good" mapm.lock
mkdir "$T/other" && cp mapm.yaml mapm.lock "$T/other"
run mapm start one-p -C "$T/other"
is 'nor is that of another workspace [row 46]' "$status" 4
(cd "$T/other" && mapm install --yes --quiet)
mapm start one-p -C "$T/other" </dev/null >"$T/o"
isnt '[V41, P44] each workspace has its data [row 38]' "$(sed -n 's/^data=//p' "$T/o")" "$data"
is 'and all one root' "$(sed -n 's/^root=//p' "$T/o")" "$root"
exits 'another plugin' 0 mapm install --yes --quiet acme/p/plugins/two
isnt '[V41] has other data' "$(mapm start two-p </dev/null | sed -n 's/^data=//p')" "$data"

echo new >>"$T/src/plugins/one/bin/pro be"
make_repo acme/p "$T/src" >/dev/null
exits 'an update of the plugin' 0 mapm update --yes --quiet
run mapm start one-p
has '[V41, P45] keeps its data' "$out" "data=$data"
isnt 'and has another root' "$(printf '%s\n' "$out" | sed -n 's/^root=//p')" "$root"
exits 'remove' 0 mapm remove one
ok '[V41] leaves the data' test -s "$data/log"
exits 'once more' 0 mapm install --yes --quiet acme/p/plugins/one
other=$(mapm start two-p </dev/null | sed -n 's/^data=//p')
exits 'remove --purge, tried' 0 mapm remove --purge --dry-run one
has '[G10] names the data' "$err" "would delete the data of a plugin: $data"
ok '[G10] and leaves them' test -s "$data/log"
exits 'remove --purge' 0 mapm remove --purge --json one
has '[G10] says what it deletes' "$out" "\"$data\""
not_ok '[G10] the data of the plugin are gone' test -e "$data"
ok '[G10] those of others stay' test -d "$other"
is '[G10] also of this plugin elsewhere' "$(ls "$MAPM_HOME/plugin-data" | grep -c -- '-one$')" 1

# --- paths that look like placeholders, and a name of another owner -------------------------

make_repo globex/p "$T/src" >/dev/null
mkdir "$T/odd" && cd "$T/odd" || exit 1
odd="$T/\${PLUGIN_ROOT}"
MAPM_HOME=$odd "$MAPM" install --yes --quiet globex/p/plugins/one 2>/dev/null
is '[V36, P47] what a path holds is not expanded again' \
    "$(MAPM_HOME=$odd "$MAPM" start one-p </dev/null 2>/dev/null | sed -n "s|^value=$odd/||p" | grep -c '^plugin-data/.*/v$')" 1
cd "$T/ws" && mv "$T/ws/mapm.yaml" "$T/ws/mapm.lock" "$T/odd" || exit 1
rm -rf .agents .mcp.json
mapm install --yes --quiet globex/p/plugins/one 2>/dev/null
isnt '[V41, row 38] one of that name by another owner has other data' \
    "$(mapm start one-p </dev/null 2>/dev/null | sed -n 's/^data=//p')" "$data"

# --- a server that is of no plugin ----------------------------------------------------

mkdir -p "$T/src/mcps"
echo '{"_meta": {"name": "a/b", "plugin": {"standard": true, "server": "p", "name": "one",
 "root": "'"$(sed -n 's/^    digest: //p' mapm.lock | head -n 1)"'", "data": "x"}},
 "command": "npx", "args": ["-y", "tool"]}' >"$T/src/mcps/a_b.json"
make_repo acme/p "$T/src" >/dev/null
exits 'what claims to be of a plugin is refused [row 37]' 1 mapm install --yes acme/p/mcps/a_b.json
has 'it would start in a folder that nobody was shown' "$err" '_meta.plugin is what mapm notes'
mkdir mcps && cp "$T/src/mcps/a_b.json" mcps
exits 'so is one of the workspace' 1 mapm install --yes ./mcps/a_b.json
done_testing

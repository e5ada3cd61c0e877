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
exits 'install of a standard plugin succeeds [G12, P26]' 0 mapm install --yes acme/p/plugins/one
for name in up tmp climb plain self load in; do
    has "install leaves out the server $name [P8, P29, P33, P49, V28, V34, V38, row 36, row 37]" "$err" "mcp $name is left out"
done
run mapm start one-p
is 'mapm start succeeds for a server of the plugin' "$status" 0
root=$(printf '%s\n' "$out" | sed -n 's/^root=//p')
data=$(printf '%s\n' "$out" | sed -n 's/^data=//p')
is '[V33, P32, P44] the server starts in the root of the plugin' "$(printf '%s\n' "$out" | sed -n 's/^cwd=//p')" "$root"
is '[V35, P4, P31, P34, P47, P48] the server receives its arguments with PLUGIN_ROOT alone expanded' "$(printf '%s\n' "$out" | grep '^arg')" "arg=<>
arg=<a b>
arg=<$root/x>
arg=<\${PLUGIN_ROOT_SUFFIX}>
arg=<\$VALUE>
arg=<\${X}>"
has '[V40, P34, P46] placeholders in the environment are expanded' "$out" "value=$data/v"
has '[V37, P31] a blank in the command path does not split it' "$out" "self=$root/bin/pro be"
is 'files of the plugin root are read-only' "$(stat -c %a "$root/plugin.json")" 444
is 'the data folder is private to the user [P45, row 38]' "$(stat -c %a "$data")" 700
is 'no program of the plugin is in the workspace' "$(find . -name 'pro be')" ''
run mapm start one-sub
has '[V34, P33] a relative cwd is below the plugin root' "$out" "cwd=$root/sub"
run mapm start one-root
has '[V34, P33] a cwd with PLUGIN_ROOT is below the plugin root' "$out" "cwd=$root/sub"
run mapm start one-data
has '[V34, P33] a cwd with PLUGIN_DATA is the data folder' "$out" "cwd=$data"
has 'all servers of a plugin share the data folder' "$out" "log=4"
ln -s "$T" "$data/out"
run mapm start one-inner
is 'mapm start fails for a cwd behind a link out of the data [V34, P33, row 38]' "$status" 1
is '[V43] a failed start prints nothing to a standard output that is the client'\''s' "$out" ''
run mapm start one-bare
is '[V39, P41] mapm start exits 127 when the program does not exist' "$status" 127
echo input >"$T/in"
is '[V39, V43, P41] the server reads standard input up to its end' "$(mapm start one-p <"$T/in" | tail -1)" input
VALUE=base PLUGIN_ROOT=/evil PLUGIN_DATA=/evil "$MAPM" start one-p </dev/null >"$T/o"
is '[V40, P46] variables of the client do not replace those of the plugin' \
    "$(sed -n 's/^root=//p; s/^data=//p; s/^value=//p' "$T/o")" "$root
$data
$data/v"
run mapm start one-exit
is '[V43] mapm start returns the exit code of the server' "$status" 7
"$MAPM" start one-signal >"$T/signal" 2>&1 &
server=$!
await test -s "$T/signal"
kill "$server"
wait "$server" 2>/dev/null
is '[V43] a signal to mapm start ends the server in its process' "$? $(cat "$T/signal")" "143 $server"

# --- the root is what was installed -------------------------------------------------

chmod u+w "$root/bin/pro be" && echo 'echo edited' >>"$root/bin/pro be"
is 'mapm start undoes an edit of the plugin root [V42, row 37]' \
    "$(mapm start one-p </dev/null | grep -c edited)" 0
touch "$root/sub/more"
run mapm start one-p
not_ok 'mapm start deletes a file added to the plugin root' test -e "$root/sub/more"
chmod 755 "$MAPM_HOME/plugins"
run mapm start one-p
is 'mapm start refuses a plugin folder that others may read [row 38]' "$status" 4
chmod 700 "$MAPM_HOME/plugins"

# --- consent -------------------------------------------------------------------------

sed 's/key: one-sub/key: one-new/' mapm.lock >"$T/lock"
cp mapm.lock "$T/good"
cp "$T/lock" mapm.lock
run mapm start one-new
is 'mapm start refuses a key that only the lock has [row 46]' "$status" 4
cp "$T/good" mapm.lock
mkdir "$T/other" && cp mapm.yaml mapm.lock "$T/other"
run mapm start one-p -C "$T/other"
is 'mapm start refuses a server of another workspace without consent [row 46]' "$status" 4
(cd "$T/other" && mapm install --yes --quiet)
mapm start one-p -C "$T/other" </dev/null >"$T/o"
isnt '[V41, P44] another workspace has its own data folder [row 38]' "$(sed -n 's/^data=//p' "$T/o")" "$data"
is 'workspaces share the plugin root' "$(sed -n 's/^root=//p' "$T/o")" "$root"
exits 'install of a second plugin succeeds' 0 mapm install --yes --quiet acme/p/plugins/two
isnt '[V41] the second plugin has its own data folder' "$(mapm start two-p </dev/null | sed -n 's/^data=//p')" "$data"

echo new >>"$T/src/plugins/one/bin/pro be"
make_repo acme/p "$T/src" >/dev/null
exits 'update of the plugin succeeds' 0 mapm update --yes --quiet
run mapm start one-p
has '[V41, P45] the updated plugin keeps its data folder' "$out" "data=$data"
isnt 'the updated plugin has another root' "$(printf '%s\n' "$out" | sed -n 's/^root=//p')" "$root"
exits 'remove of the plugin succeeds' 0 mapm remove one
ok '[V41] remove keeps the data of the plugin' test -s "$data/log"
exits 'install of the removed plugin succeeds' 0 mapm install --yes --quiet acme/p/plugins/one
other=$(mapm start two-p </dev/null | sed -n 's/^data=//p')
exits 'remove --purge --dry-run succeeds' 0 mapm remove --purge --dry-run one
has '[G10] remove --purge --dry-run names the data folder' "$err" "would delete the data of a plugin: $data"
ok '[G10] remove --purge --dry-run keeps the data' test -s "$data/log"
exits 'remove --purge --json succeeds' 0 mapm remove --purge --json one
has '[G10] remove --purge --json names the deleted data folder' "$out" "\"$data\""
not_ok '[G10] remove --purge deletes the data of the plugin' test -e "$data"
ok '[G10] remove --purge keeps the data of another plugin' test -d "$other"
is '[G10] remove --purge keeps the data of the plugin in another workspace' "$(ls "$MAPM_HOME/plugin-data" | grep -c -- '-one$')" 1

# --- paths that look like placeholders, and a name of another owner -------------------------

make_repo globex/p "$T/src" >/dev/null
mkdir "$T/odd" && cd "$T/odd" || exit 1
odd="$T/\${PLUGIN_ROOT}"
MAPM_HOME=$odd "$MAPM" install --yes --quiet globex/p/plugins/one 2>/dev/null
is '[V36, P47] a placeholder in the path of MAPM_HOME is not expanded' \
    "$(MAPM_HOME=$odd "$MAPM" start one-p </dev/null 2>/dev/null | sed -n "s|^value=$odd/||p" | grep -c '^plugin-data/.*/v$')" 1
cd "$T/ws" && mv "$T/ws/mapm.yaml" "$T/ws/mapm.lock" "$T/odd" || exit 1
rm -rf .agents .mcp.json
mapm install --yes --quiet globex/p/plugins/one 2>/dev/null
isnt '[V41, row 38] a plugin of the same name by another owner has other data' \
    "$(mapm start one-p </dev/null 2>/dev/null | sed -n 's/^data=//p')" "$data"

# --- a server that is of no plugin ----------------------------------------------------

mkdir -p "$T/src/mcps"
echo '{"_meta": {"name": "a/b", "plugin": {"standard": true, "server": "p", "name": "one",
 "root": "'"$(sed -n 's/^    digest: //p' mapm.lock | head -n 1)"'", "data": "x"}},
 "command": "npx", "args": ["-y", "tool"]}' >"$T/src/mcps/a_b.json"
make_repo acme/p "$T/src" >/dev/null
exits 'install rejects a server that claims to be of a plugin [row 37]' 1 mapm install --yes acme/p/mcps/a_b.json
has 'the error names the field _meta.plugin' "$err" '_meta.plugin is what mapm notes'
mkdir mcps && cp "$T/src/mcps/a_b.json" mcps
exits 'install rejects such a server in the workspace' 1 mapm install --yes ./mcps/a_b.json
done_testing

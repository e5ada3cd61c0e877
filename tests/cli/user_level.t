#!/bin/sh
# mapm install -g: skills, sub-agents and servers where the clients of a user look.
# Nothing of a home with files of every client is lost, however it ends. [H8]
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/terminal.sh"

s=$T/src
skill "$s/skills/pdf" 'scope: acme'
agent "$s/agents/boss" 'scope: acme'
mcp "$s/io.acme_tool.json" io.acme/tool npx -y tool
mcp "$s/io.acme_here.json" io.acme/here npx '${workspaceDir}/x'
mcp "$s/io.acme_shared.json" io.acme/shared npx '${sharedDir}/x'
ALL="$s/skills/pdf $s/agents/boss $s/io.acme_tool.json"
NAMES='pdf boss io.acme/tool'
homes=$T/homes
mkdir -p "$homes"
PATH=$T/bin:/usr/bin:/bin
export XDG_STATE_HOME="$T/states"
mkdir "$T/bin" && ln -s "$MAPM" "$T/bin/mapm"

# fresh: a home without a client, and an empty library.
fresh()
{
    rm -rf "$HOME" "$MAPM_HOME" "$XDG_STATE_HOME"
    mkdir -p "$HOME"
}
# with_all: every client of the table, verified or not.
with_all()
{
    mkdir -p "$MAPM_HOME/global"
    echo "clients: [$known]" >"$MAPM_HOME/global/mapm.yaml"
}
seen()
{
    snapshot "$HOME"
}

# --- the table ----------------------------------------------------------------------

fresh
mkdir -p "$MAPM_HOME/global"
echo 'clients: [none-such]' >"$MAPM_HOME/global/mapm.yaml"
run mapm install -g "$s/skills/pdf"
known=$(printf '%s\n' "$err" | sed -n 's/.*known: *//p' | sed 's/  */, /g')
like 'the error of an unknown client lists the known clients' "$known" 'claude, .*cursor'
with_all
exits 'install -g for every known client succeeds' 0 mapm install -g --yes $ALL
ok 'the skill in the home is a copy and no link' test -f "$HOME/.agents/skills/pdf/SKILL.md" -a ! -L "$HOME/.agents/skills/pdf"
is 'links in the home lead to the skill there, none into the store' "$(find "$HOME" -type l -exec readlink -f {} + | sort -u)" \
    "$HOME/.agents/skills/pdf"
find "$HOME" -type f ! -path '*/skills/*' ! -name '*boss*' >"$T/files"
ok 'install -g writes more than seven files of servers' test "$(wc -l <"$T/files")" -gt 7
ok 'a client that follows no links has a copy of the skill' test -f "$HOME/.continue/skills/pdf/SKILL.md" -a ! -L "$HOME/.continue/skills/pdf"
is 'the files of servers have mode 600' "$(xargs stat -c %a <"$T/files" | sort -u)" 600

# What people have: a server of their own, in the shape of each client.
sed -i 's/io-acme-tool/mine/g' $(cat "$T/files")
for file in $(cat "$T/files"); do
    case $file in
    *.toml) printf '# kept\n\n' | cat - "$file" >"$T/new" ;;
    *) cp "$file" "$T/new" && chmod 644 "$file" ;;
    esac
    cat "$T/new" >"$file"
done
rm -rf "$HOME/.agents" "$HOME/.continue/skills" && find "$HOME" -type l -delete
find "$HOME" -name '*boss*' -delete
find "$HOME" -mindepth 1 -type d -empty -delete
cp -a "$HOME" "$homes/all"
home_of_all()
{
    rm -rf "$HOME" "$MAPM_HOME"
    cp -a "$homes/all" "$HOME"
    with_all
}

home_of_all
seen >"$T/old"
exits 'install -g beside servers of the user succeeds' 0 mapm install -g --yes $ALL
is 'each file still has the server of the user' "$(grep -c 'mine' $(cat "$T/files") | grep -c ':0')" 0
seen >"$T/new.state"
exits 'verify -g beside servers of the user succeeds' 0 mapm verify -g
exits 'a second install -g succeeds' 0 mapm install -g
like 'a second install -g reports that there is nothing to do' "$err" 'nothing to do'
exits 'remove -g of all packages succeeds' 0 mapm remove -g $NAMES
is 'remove -g restores the home byte by byte' "$(seen | diff - "$T/old")" ''

# --- killed --------------------------------------------------------------------------

# killed_at COMMAND…: at every so many calls; then another command finishes or undoes.
killed_at()
{
    n=1 odd=0 broken=0 ends=0
    while :; do
        rm -rf "$HOME" "$MAPM_HOME" && cp -a "$T/from.home" "$HOME" && cp -a "$T/from.mapm" "$MAPM_HOME"
        rm -rf "$T/calls" "$T/calls.counts" "$XDG_STATE_HOME"
        env LD_PRELOAD="$MAPM_BUILD/calls.so" CALLS_LOG="$T/calls" CALLS_BELOW="$HOME:$MAPM_HOME/global:$T/states" \
            CALLS_FAIL="cwmn:$n:kill" "$MAPM" "$@" >/dev/null 2>&1
        [ $? -ne 0 ] || break
        ends=$((ends + 1))
        run mapm list -g || { broken=$((broken + 1)); show_run; }
        seen >"$T/state"
        cmp -s "$T/state" "$T/old" || cmp -s "$T/state" "$T/new.state" || {
            odd=$((odd + 1))
            diag "killed at $n: $(diff "$T/state" "$T/old" | head -n 5)"
        }
        [ ! -e "$MAPM_HOME/global/.agents/.mapm/journal" ] || broken=$((broken + 1))
        n=$((n + STEP))
    done
    ok 'the command is killed at more than five of its calls' test $ends -gt 5
    is "killed $ends times in $1: the home is the old one or the new one" $odd 0
    is 'the command after a kill succeeds and leaves no journal' $broken 0
}
MAPM_BUILD=${MAPM_BUILD:-${MAPM%/*}}
STEP=13
home_of_all
cp -a "$HOME" "$T/from.home" && cp -a "$MAPM_HOME" "$T/from.mapm"
killed_at install -g --yes $ALL
rm -rf "$T/from.home" "$T/from.mapm"
cp -a "$HOME" "$T/from.home" && cp -a "$MAPM_HOME" "$T/from.mapm"
killed_at remove -g $NAMES
is 'remove -g after the kills restores the home from before' "$(seen | diff - "$T/old")" ''

# --- which clients, and where ---------------------------------------------------------

fresh
exits 'install -g on a machine without clients succeeds' 0 mapm install -g --yes $ALL
is 'the skill is in .agents and .claude on a machine without clients' "$(find "$HOME" -name pdf | sort)" "$HOME/.agents/skills/pdf
$HOME/.claude/skills/pdf"
exits 'a second install -g on a machine without clients succeeds' 0 mapm install -g
is 'folders that mapm made do not count as a client' "$(find "$HOME" -name '*.json')" ''
mkdir "$HOME/.codex" && printf '#!/bin/sh\n' >"$T/bin/cursor" && chmod 755 "$T/bin/cursor"
exits 'install -g with one client by folder and one by PATH succeeds' 0 mapm install -g
like 'install -g names the client found by folder and the one by PATH' "$err" 'for .*codex, .*cursor'
ok 'the client found by its folder has the server' grep -q io-acme-tool "$HOME/.codex/config.toml"
ok 'the client found on the PATH has the server' grep -q io-acme-tool "$HOME/.cursor/mcp.json"
rm "$T/bin/cursor"
exits 'install -g without the client on the PATH succeeds' 0 mapm install -g
ok 'a client that left the PATH keeps its server' grep -q io-acme-tool "$HOME/.cursor/mcp.json"
exits 'remove -g of all packages from two clients succeeds' 0 mapm remove -g $NAMES
is 'remove -g leaves only the folder that was there before' "$(cd "$HOME" && find . -mindepth 1)" './.codex'

fresh
mkdir "$HOME/.codex"
exits 'install -g refuses a relative path in CODEX_HOME' 4 env CODEX_HOME=codex "$MAPM" install -g --yes $ALL
like 'the error names CODEX_HOME and its relative path' "$err" 'CODEX_HOME is "codex", a relative path'
is 'a refused install -g writes no file into the home' "$(find "$HOME" -type f)" ''
exits 'install -g with an absolute CODEX_HOME succeeds' 0 env CODEX_HOME="$T/moved" "$MAPM" install -g --yes $ALL
ok 'CODEX_HOME decides the place of the file of servers' grep -q io-acme-tool "$T/moved/config.toml"
exits 'install -g after CODEX_HOME is unset succeeds' 0 mapm install -g
ok 'the server is in the default file after CODEX_HOME is unset' grep -q io-acme-tool "$HOME/.codex/config.toml"
is 'the folder of the earlier CODEX_HOME is removed' "$(find "$T/moved" 2>/dev/null)" ''
mkdir -p "$T/xdg/opencode"
exits 'install -g with XDG_CONFIG_HOME succeeds' 0 env XDG_CONFIG_HOME="$T/xdg" "$MAPM" install -g
ok 'XDG_CONFIG_HOME decides the place of the file of servers' grep -q io-acme-tool "$T/xdg/opencode/opencode.json"
exits 'remove -g with XDG_CONFIG_HOME succeeds' 0 env XDG_CONFIG_HOME="$T/xdg" "$MAPM" remove -g $NAMES
is 'remove -g leaves no file below XDG_CONFIG_HOME' "$(find "$T/xdg" -type f)" ''

# --- files that stay as they are --------------------------------------------------------

fresh
mkdir -p "$HOME/.codex" "$HOME/.cursor" "$HOME/.qwen" "$HOME/.gemini" "$HOME/dotfiles" "$T/else"
echo '{ "mcpServers": ' >"$HOME/.cursor/mcp.json"
echo '{}' >"$T/else/settings.json" && ln -s "$T/else/settings.json" "$HOME/.qwen/settings.json"
echo 'model = "x"' >"$HOME/dotfiles/codex.toml" && ln -s ../dotfiles/codex.toml "$HOME/.codex/config.toml"
head -c 5000000 /dev/zero | tr '\0' ' ' >"$HOME/.gemini/settings.json"
seen >"$T/before"
exits 'install -g with files that cannot be edited ends with exit code 3' 3 mapm install -g --yes $ALL
like 'the error names the file that does not parse' "$err" '\.cursor/mcp\.json was left as it is: cannot read'
like 'the error names the file that links out of the home' "$err" '\.qwen/settings\.json was left as it is: .*leads out of your home'
like 'the error names the file that is too large' "$err" '\.gemini/settings\.json was left as it is: .*larger'
like 'the error shows the entry that belongs in the files' "$err" '"io-acme-tool"'
ok 'install -g edits another file through a link inside the home' grep -q io-acme-tool "$HOME/dotfiles/codex.toml"
ok 'install -g keeps the link inside the home' test -L "$HOME/.codex/config.toml"
is 'the files that cannot be edited are unchanged' "$(cat "$HOME/.cursor/mcp.json" "$T/else/settings.json")" '{ "mcpServers": 
{}'
exits 'verify -g fails with files that lack the server' 3 mapm verify -g
like '[H8] verify -g suggests the commands for the user level' "$err" 'mapm install -g puts back .* mapm diff -g shows .* mapm restore -g NAME'
exits 'a second install -g with files that cannot be edited ends with exit code 3' 3 mapm install -g
exits 'remove -g with files that cannot be edited succeeds' 0 mapm remove -g $NAMES
is 'remove -g leaves the home with such files as it was' "$(seen | diff - "$T/before")" ''

fresh
with_all
mkdir -p "$HOME/.config/goose" "$HOME/.hermes"
printf 'a: 1\nextensions:  {\n}  # mine\n' >"$HOME/.config/goose/config.yaml"
printf ' {}\n\n' >"$HOME/.hermes/config.yaml"
seen >"$T/before"
exits '[H8] install -g into YAML with empty braces succeeds' 0 mapm install -g --yes $ALL
is '[H8] YAML with empty braces has a block with the server' "$(grep -c io-acme-tool: "$HOME/.config/goose/config.yaml" "$HOME/.hermes/config.yaml")" \
    "$(printf '%s:1\n' "$HOME/.config/goose/config.yaml" "$HOME/.hermes/config.yaml")"
exits '[H8] install -g of a second server into such YAML succeeds' 0 mapm install -g --yes "$s/io.acme_shared.json"
exits '[H8] remove -g of the servers from such YAML succeeds' 0 mapm remove -g $NAMES io.acme/shared
is '[H8] remove -g restores the empty braces of the YAML' "$(seen | diff - "$T/before")" ''

fresh
mkdir -p "$HOME/.agents/skills/pdf" "$HOME/.cursor"
cp "$s/skills/pdf/SKILL.md" "$HOME/.agents/skills/pdf"
exits 'install -g fails when the user has an equal skill of that name' 1 mapm install -g --yes $ALL
like 'the error names the skill that is there already' "$err" 'skills/pdf is there already'
rm -r "$HOME/.agents"
echo '{"mcpServers": {"io-acme-tool": {"command": "other"}}}' >"$HOME/.cursor/mcp.json"
exits 'install -g fails when the user has another server of that key' 1 mapm install -g --yes $ALL
like 'the error names the server that is there already' "$err" 'already has a server "io-acme-tool"'
fresh
exits 'install -g of a server with ${workspaceDir} fails' 1 mapm install -g --yes "$s/io.acme_here.json"
like 'the error says that workspaceDir is no folder at user level' "$err" 'workspaceDir.* is no folder at user level'
mkdir -p "$T/mixed/skills" "$T/mixed/mcps"
cp -R "$s/skills/pdf" "$T/mixed/skills/"
cp "$s/io.acme_here.json" "$T/mixed/mcps/"
exits '[H8] install -g of a catalog with such a server ends with exit code 3' 3 mapm install -g -v --yes --all "$T/mixed"
ok '[H8] install -g of a catalog installs the skill beside such a server' test -f "$HOME/.agents/skills/pdf/SKILL.md"
like '[H8] install -g reports that the server of the catalog is left out' "$err$out" 'workspaceDir.* is no folder at user level'
fresh
mkdir "$HOME/.cursor"
exits 'install -g of a server with ${sharedDir} succeeds' 0 mapm install -g --yes "$s/io.acme_shared.json"
ok 'the file of the client has the path for sharedDir' grep -q "$MAPM_HOME/shared/x" "$HOME/.cursor/mcp.json"
sed -i 's#/x"#/y"#' "$HOME/.cursor/mcp.json"
exits 'remove -g of a server that the user edited succeeds' 0 mapm remove -g io.acme/shared
ok 'remove -g leaves a server that the user edited' grep -q "$MAPM_HOME/shared/y" "$HOME/.cursor/mcp.json"

fresh
mkdir -p "$HOME/.claude" "$MAPM_HOME/global"
echo 'clients: [gemini]' >"$MAPM_HOME/global/mapm.yaml"
exits '[H8] install -g with one configured client succeeds' 0 mapm install -g --yes "$s/agents/boss" "$s/skills/pdf"
is '[H8] the configured client has the agent, and claude only the skill' \
    "$(cd "$HOME" && find . ! -type d \( -name 'boss*' -o -name pdf \) | sort | tr '\n' ' ')" \
    './.claude/skills/pdf ./.gemini/agents/boss.md '

# --- homes that cannot be written, or not all in one piece ------------------------------

# The home, the data folder and the folders of two clients on file systems of their
# own; a folder of a third one is the same disk, mounted again.
fresh
mkdir -p "$HOME/.cursor" "$HOME/.claude" "$HOME/.qwen" "$HOME/.codex" "$MAPM_HOME" "$T/again"
cat >"$T/mounted" <<'SH'
for folder in "$HOME/.cursor" "$HOME/.qwen" "$MAPM_HOME"; do
    mount -t tmpfs -o mode=755 none "$folder" || exit 1
done
mount --bind "$T/again" "$HOME/.claude" || exit 1
echo '{"mcpServers": {"mine": {"command": "x"}}}' | tee "$HOME/.cursor/mcp.json" "$HOME/.qwen/settings.json" >"$HOME/.claude.json"
echo 'model = "x"' >"$HOME/.codex/config.toml"
SH
cat >"$T/kills" <<'SH'
look()
{
    (cd "$HOME" && find . -printf '%y %m %p -> %l\n' -type f -exec sha256sum {} + | sort)
}
# killed FROM COMMAND...: at every so many calls
killed()
{
    n=1 odd=0 ends=0 from=$1
    shift
    while back "$from"; do
        rm -rf "$T/calls" "$T/calls.counts" "$XDG_STATE_HOME"
        env LD_PRELOAD="$MAPM_BUILD/calls.so" CALLS_LOG="$T/calls" CALLS_BELOW="$HOME:$MAPM_HOME/global:$XDG_STATE_HOME" \
            CALLS_FAIL="cwmn:$n:kill" "$MAPM" "$@" >/dev/null 2>&1
        [ $? -ne 0 ] || break
        ends=$((ends + 1))
        "$MAPM" list -g >/dev/null 2>"$T/err" || odd=$((odd + 1))
        look >"$T/now"
        cmp -s "$T/now" "$T/before" || cmp -s "$T/now" "$T/after" || {
            odd=$((odd + 1))
            { echo "killed at $n:" && diff "$T/before" "$T/now"; } >>"$T/odd"
        }
        n=$((n + 7))
    done
    [ "$ends" -gt 15 ] && echo "$odd"
}
SH
cat >"$T/apart" <<'SH'
. "$T/mounted"
. "$T/kills"
# keep TO, and back FROM: all of it, also where a mount cannot be replaced
keep()
{
    mkdir -p "$1" && cp -a "$HOME" "$1/home" && cp -a "$MAPM_HOME" "$1/data"
}
back()
{
    find "$HOME" "$MAPM_HOME" -mindepth 1 -depth -delete 2>/dev/null
    cp -a "$1/home/." "$HOME" && cp -a "$1/data/." "$MAPM_HOME"
}
look >"$T/before"
keep "$T/first"
"$MAPM" install -g --yes $ALL >/dev/null 2>"$T/err"
echo "$?"
look >"$T/after"
keep "$T/second"
grep -c io-acme-tool "$HOME/.codex/config.toml" "$HOME/.cursor/mcp.json" "$HOME/.qwen/settings.json" | sed 's/.*://'
readlink "$HOME/.claude/skills/pdf"
"$MAPM" verify -g >/dev/null 2>&1
echo "$?"
echo edited >>"$HOME/.agents/skills/pdf/SKILL.md"
"$MAPM" install -g --force >/dev/null 2>"$T/err"
echo "$?" $(find "$MAPM_HOME/global/.agents/.mapm/backup" -name SKILL.md -exec tail -n 1 {} +)
"$MAPM" remove -g $NAMES >/dev/null 2>&1
look | cmp "$T/before" - && echo unchanged
killed "$T/first" install -g --yes $ALL
killed "$T/second" remove -g $NAMES
SH
if T=$T unshare -rm sh "$T/mounted" 2>/dev/null; then
    rm "$HOME/.claude.json" "$HOME/.codex/config.toml"
    is '[H8] a home of several file systems stays whole when commands are killed' \
        "$(T=$T ALL=$ALL NAMES=$NAMES MAPM_BUILD=$MAPM_BUILD unshare -rm sh "$T/apart" | tr '\n' ' ')" \
        '0 1 1 1 ../../.agents/skills/pdf 0 0 edited unchanged 0 0 '
    [ ! -e "$T/odd" ] || diag "$(head -n 20 "$T/odd")"
    fresh
    mkdir "$HOME/.cursor" "$HOME/.codex"
    echo '{}' >"$HOME/.cursor/mcp.json"
    cat >"$T/bound" <<'SH'
mount --bind "$HOME/.cursor/mcp.json" "$HOME/.cursor/mcp.json" || exit 1
"$MAPM" install -g --yes $ALL >/dev/null 2>"$T/err"
echo "$?" "$(cat "$HOME/.cursor/mcp.json")" "$(grep -c io-acme-tool "$HOME/.codex/config.toml")"
SH
    is '[H8] a mounted file is left as it is while another client gets the server' \
        "$(T=$T ALL=$ALL unshare -rm sh "$T/bound")" '3 {} 1'
    like '[H8] the error says that the file is a mount point' "$(cat "$T/err")" 'it is a mount point'

    # Folders of an image: an overlay renames none of its lower layer.
    fresh
    skill "$s/skills/layered" 'scope: acme'
    mkdir -p "$s/skills/layered/a/b" "$HOME/.continue" "$T/ws" "$T/layers/up" "$T/layers/work"
    echo one | tee "$s/skills/layered/a/x" >"$s/skills/layered/a/b/y"
    (cd "$T/ws" && mapm install --yes "$s/skills/layered" && mapm install -g --yes "$s/skills/layered") >/dev/null 2>&1
    cp -a "$HOME" "$T/layers/home" && cp -a "$MAPM_HOME" "$T/layers/data" && cp -a "$T/ws" "$T/layers/ws"
    echo two | tee "$s/skills/layered/a/b/y" >"$s/skills/layered/new"
    rm "$s/skills/layered/a/x"
    cat >"$T/layered" <<'SH'
. "$T/kills"
LAYERED="$HOME $MAPM_HOME $T/ws"
back()
{
    umount $LAYERED 2>/dev/null
    rm -rf "$T/layers/up" "$T/layers/work"
    for folder in home:$HOME data:$MAPM_HOME ws:$T/ws; do
        up=$T/layers/up/${folder%%:*} work=$T/layers/work/${folder%%:*}
        mkdir -p "$up" "$work" &&
            mount -t overlay -o "lowerdir=$T/layers/${folder%%:*},upperdir=$up,workdir=$work,userxattr" none "${folder#*:}" || exit 1
    done
}
back
look >"$T/before"
mv "$HOME/.agents/skills/layered" "$HOME/.agents/skills/away" && mv "$HOME/.agents/skills/away" "$HOME/.agents/skills/layered"
[ "${1-}" ] || exit 0
back
(cd "$T/ws" && "$MAPM" update --yes && cat .agents/skills/layered/new && ls .agents/skills/layered/a &&
    "$MAPM" verify && "$MAPM" remove layered && [ ! -e .agents ] && echo gone) 2>&1 | grep -v '^ *[0-9~-] \|^clients\|^[0-9]'
"$MAPM" update -g --yes >/dev/null 2>&1
echo "$?" $(cat "$HOME/.agents/skills/layered/new" "$HOME/.continue/skills/layered/a/b/y")
look >"$T/after"
killed x update -g --yes
"$MAPM" verify -g >/dev/null 2>&1
echo "$?"
back
"$MAPM" remove -g layered >/dev/null 2>&1
look >"$T/after"
killed x remove -g layered
SH
    if ! T=$T unshare -rm sh "$T/layered" 2>/dev/null; then
        skip '[H8] folders of the lower layer of an overlay' 'no overlay can be mounted'
    else
        is '[H8] folders of the lower layer of an overlay' "$(T=$T MAPM_BUILD=$MAPM_BUILD unshare -rm sh "$T/layered" all | tr '\n' ' ')" \
            'two b .agents/skills/layered: digest only gone 0 two two 0 0 0 '
    fi
    [ ! -e "$T/odd" ] || diag "$(head -n 20 "$T/odd")"
else
    skip '[H8] a home of several file systems' 'needs user namespaces'
fi

# As a user whom modes hold back.
nobody=
obeys_modes || nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
if $nobody true 2>/dev/null; then
    fresh
    mkdir -p "$HOME/.cursor" "$MAPM_HOME" "$XDG_STATE_HOME"
    [ -z "$nobody" ] || { chmod 755 "$T" && chown -R 65534:65534 "$HOME" "$MAPM_HOME" "$XDG_STATE_HOME" "$s"; }
    chmod 555 "$HOME" "$HOME/.cursor"
    seen >"$T/before"
    exits '[H8] install -g into a read-only home fails' 1 $nobody "$MAPM" install -g --yes $ALL
    like '[H8] the error names the path of the home without permission' "$err" "because: .*$HOME/\.[a-z]*.*: Permission denied"
    is '[H8] a failed install -g leaves the read-only home unchanged' "$(seen | diff - "$T/before")" ''
    chmod 755 "$HOME" "$HOME/.cursor"
    exits '[H8] install -g succeeds when the home is writable again' 0 $nobody "$MAPM" install -g --yes $ALL
    ok '[H8] install -g writes the server when the home is writable again' grep -q io-acme-tool "$HOME/.cursor/mcp.json"
    exits '[H8] remove -g from that home succeeds' 0 $nobody "$MAPM" remove -g $NAMES
    [ -z "$nobody" ] || chown -R 0:0 "$s"
fi

# --- copies of what was there ---------------------------------------------------------------

copies()
{
    find "$XDG_STATE_HOME/mapm/backup" -type f "$@"
}
fresh
mkdir -p "$HOME/.codex" "$HOME/.cursor"
printf 'model = "x"' >"$HOME/.codex/config.toml" && cp "$HOME/.codex/config.toml" "$T/mine"
exits 'install -g --dry-run succeeds' 0 mapm install -g --yes --dry-run $ALL
not_ok 'install -g --dry-run makes no copies' test -e "$XDG_STATE_HOME"
exits 'install -g with one existing and one new file succeeds' 0 mapm install -g --yes $ALL
ok 'install -g copies the file that was there before' cmp -s "$(copies)" "$T/mine"
like 'the name of the copy has the time, the client and a hash' "$(copies)" '/mapm/backup/[0-9]{4}-[0-9T-]*Z/codex-[0-9a-f]{32}$'
is 'the copy and its folders are for the user only' "$(copies -perm 600 | wc -l) $(find "$XDG_STATE_HOME" -type d ! -perm 700)" '1 '
exits 'install -g of another server succeeds' 0 mapm install -g --yes "$s/io.acme_shared.json"
is 'a second change of a file makes no second copy' "$(copies | wc -l)" 1
rm -rf "$XDG_STATE_HOME"
exits 'remove -g after the copies were deleted succeeds' 0 mapm remove -g io.acme/shared
is 'remove -g copies the file as it was before the removal' "$(grep -c '^.mcp_servers' "$(copies)")" 2
exits 'remove -g of all packages after the copies were deleted succeeds' 0 mapm remove -g $NAMES
ok 'remove -g restores the file of the user' cmp -s "$HOME/.codex/config.toml" "$T/mine"

rm -rf "$XDG_STATE_HOME"
for n in 01 02 03 04 05 06 07 08 09 10 11; do
    mkdir -p "$XDG_STATE_HOME/mapm/backup/2020-01-${n}T00-00-00Z"
done
mkdir "$XDG_STATE_HOME/mapm/backup/2020" && ln -s "$T/else" "$XDG_STATE_HOME/mapm/backup/2020-01-00T00-00-00Z"
exits 'install -g with eleven older copies succeeds' 0 mapm install -g --yes $ALL
is 'the ten newest copies and other folders are kept' "$(find "$XDG_STATE_HOME/mapm/backup" -mindepth 1 -maxdepth 1 -type d | sort | sed 's/.*backup.//; 2q')" \
    "2020
2020-01-03T00-00-00Z"
ok 'the pruning of copies does not follow a link' test -e "$T/else/settings.json"
cp "$HOME/.codex/config.toml" "$T/edited"
exits 'doctor --restore-user without a terminal needs --yes' 4 mapm doctor --restore-user </dev/null
like 'doctor --restore-user without a terminal shows the difference' "$out" '^-.mcp_servers'
ok 'doctor --restore-user without a terminal changes no file' cmp -s "$HOME/.codex/config.toml" "$T/edited"
exits 'doctor --restore-user --json without --yes ends with exit code 4' 4 mapm doctor --restore-user --json </dev/null
like 'doctor --restore-user --json reports that nothing was restored' "$out" '"restored": false'
on_terminal n "$MAPM" doctor --restore-user
is 'a no to doctor --restore-user on a terminal changes no file' "$status $(cmp "$HOME/.codex/config.toml" "$T/edited")" '4 '
exits 'doctor --restore-user for a client without a copy succeeds' 0 mapm doctor --restore-user cursor --yes
like 'doctor --restore-user reports that there is nothing to put back' "$err" 'nothing to put back'
exits 'doctor --restore-user of an unknown client is a usage error' 2 mapm doctor --restore-user none-such --yes
exits 'doctor with a client but without --restore-user is a usage error' 2 mapm doctor codex
exits 'doctor --restore-user --yes succeeds' 0 mapm doctor --restore-user codex --yes
ok 'doctor --restore-user --yes restores the file of the user' cmp -s "$HOME/.codex/config.toml" "$T/mine"
ok 'doctor --restore-user keeps a copy of the file that it replaces' cmp -s "$(printf '%s\n' "$err" | sed -n 's/.*what it replaces is //p')" "$T/edited"
exits 'a second doctor --restore-user --yes succeeds' 0 mapm doctor --restore-user --yes
like 'a second doctor --restore-user reports that there is nothing to put back' "$err" 'nothing to put back'
rm -r "$HOME/.codex"
exits 'doctor --restore-user of a deleted file succeeds' 0 mapm doctor --restore-user --yes
ok 'doctor --restore-user restores a deleted file' cmp -s "$HOME/.codex/config.toml" "$T/mine"
cp "$T/edited" "$HOME/.codex/config.toml"
on_terminal y "$MAPM" doctor --restore-user
is 'a yes to doctor --restore-user on a terminal restores the file' "$status $(cmp "$HOME/.codex/config.toml" "$T/mine")" '0 '
printf '# %02000d\n' 1 >"$HOME/.codex/config.toml"
cp "$HOME/.codex/config.toml" "$T/long"
exits 'doctor --restore-user fails when no copy of the file can be written' 1 sh -c 'ulimit -f 2; exec "$@" >/dev/null' sh "$MAPM" doctor --restore-user --yes
ok 'a file without a copy is not replaced' cmp "$HOME/.codex/config.toml" "$T/long"
rm "$HOME/.codex/config.toml" && ln -s "$T/mine" "$HOME/.codex/config.toml"
echo other >"$T/mine"
exits 'doctor --restore-user with a link out of the home ends with exit code 3' 3 mapm doctor --restore-user --yes
like 'the error names the file that was left as it is' "$err" 'config.toml was left as it is'
is 'the target of the link out of the home is unchanged' "$(cat "$T/mine")" other

# --- a list of servers ----------------------------------------------------------------

# Continue's `cn` starts the servers of this list alone.
fresh
mkdir -p "$HOME/.continue"
printf 'name: mine # kept\nversion: 1.0.0\nmcpServers:\n- name: own # one\n  command: npx\nmodels: [{name: m}]\n' >"$HOME/.continue/config.yaml"
cp "$HOME/.continue/config.yaml" "$T/mine"
exits '[H6] install -g into a file with a list of servers succeeds' 0 mapm install -g --yes "$s/io.acme_tool.json"
is '[H6] the new server is the last of the list' "$(diff "$T/mine" "$HOME/.continue/config.yaml" | sed 1d)" '> - name: io-acme-tool
>   command: npx
>   args:
>     - -y
>     - tool'
like '[H7] client list -g counts one server for continue' "$(mapm client list -g)" '^continue +in use +machine +1 server$'
exits '[H8] install -g --with-server beside another server succeeds' 0 mapm install -g --yes --with-server
exits '[H8] verify -g with the server of mapm in a list succeeds' 0 mapm verify -g
exits '[H8] remove -g of a server and of mapm itself succeeds' 0 mapm remove -g io.acme/tool mapm --yes
not_ok '[H8] remove -g of mapm removes the server line from mapm.yaml' grep -q server "$MAPM_HOME/global/mapm.yaml"
exits '[H8] remove -g of mapm fails when it is not installed' 1 mapm remove -g mapm --yes
like '[H8] the error says that nothing named mapm is installed' "$err" 'nothing named "mapm" is installed here'
ok '[H8] remove -g of both servers restores the file byte by byte' cmp "$HOME/.continue/config.yaml" "$T/mine"
rm "$HOME/.continue/config.yaml"
exits '[H6] install -g without the configuration file of continue succeeds' 0 mapm install -g --yes "$s/io.acme_tool.json"
not_ok '[H6] install -g does not create the configuration file of continue' test -e "$HOME/.continue/config.yaml"

# --- files that nobody verified ---------------------------------------------------------

fresh
mkdir -p "$HOME/.pi/agent" "$HOME/.cursor"
echo '{}' >"$HOME/.pi/agent/mcp.json"
exits '[H6] install -g for the clients on this machine succeeds' 0 mapm install -g --yes "$s/io.acme_tool.json" --with-server
is '[H6] install -g leaves an unverified file as it is' "$(cat "$HOME/.pi/agent/mcp.json")" '{}'
like '[H6] only clients with verified files start mapm' "$err" '^cursor start mapm mcp --global from now on'
like '[H7] client list -g gives the option for the unverified file' "$(mapm client list -g)" '^pi +in use +machine +nothing, servers only with --client pi$'
exits '[H6] install -g --client all succeeds' 0 mapm install -g --yes --client all "$s/skills/pdf"
is '[H6] --client all leaves an unverified file as it is' "$(cat "$HOME/.pi/agent/mcp.json")" '{}'
exits '[H6] install -g --client of one client succeeds' 0 mapm install -g --yes --client pi "$s/skills/pdf"
like '[H6] a client named alone gets the server in its unverified file' "$(cat "$HOME/.pi/agent/mcp.json")" io-acme-tool
like '[H6] a warning says that the file is unverified' "$err" '\.pi/agent/mcp\.json is unverified'
exits '[H6] a later install -g succeeds' 0 mapm install -g --yes "$s/agents/boss"
like '[H6] a later install -g keeps the server in the unverified file' "$(cat "$HOME/.pi/agent/mcp.json")" io-acme-tool
exits '[H6] remove -g of all packages succeeds' 0 mapm remove -g --yes $NAMES mapm
is '[H6] remove restores the unverified file' "$(cat "$HOME/.pi/agent/mcp.json")" '{}'

# --- which clients ------------------------------------------------------------------

config=$XDG_CONFIG_HOME/mapm/config.yaml
fresh
exits '[H8] install -g without a client on the machine succeeds' 0 mapm install -g --yes $ALL
is '[H8] client list -g shows claude with the skill and the hint for servers' "$(mapm client list -g)" \
    'claude            in use  -        1 skill, agents only with --client claude, servers only with --client claude'
fresh
mkdir -p "$HOME/.codex" "$HOME/.cursor"
on_terminal no "$MAPM" install -g "$s/skills/pdf" "$s/io.acme_tool.json"
is '[H8] a no to install -g on a terminal ends with exit code 4' "$status" 4
like '[H8] install -g on a terminal asks one question with yes and all' "$out" \
    'Let your agents start this MCP server for claude \(yes\), or for codex, cursor, too \(all\)\? \(y\)es'
is '[H8] a no to install -g on a terminal writes no file' "$(find "$HOME" -type f ! -path '*/state/*')" ''
on_terminal yes "$MAPM" install -g "$s/skills/pdf" "$s/io.acme_tool.json"
is '[H8] a yes to install -g writes nothing for the other clients' "$status $(ls -A "$HOME/.codex" "$HOME/.cursor" | tr -d '\n')" "0 $HOME/.codex:$HOME/.cursor:"
like '[H8] a yes to install -g reports the packages for claude' "$out" '^2 packages for claude'
is '[H8] a yes to install -g is remembered in the user configuration' "$(cat "$config")" 'clients: [claude]'
exits '[H8] a later install -g of an agent succeeds' 0 mapm install -g --yes "$s/agents/boss"
not_ok '[H8] a later install -g is for the remembered client only' test -e "$HOME/.cursor/agents"
fresh
mkdir -p "$HOME/.codex" "$HOME/.cursor"
on_terminal all "$MAPM" install -g "$s/skills/pdf" "$s/io.acme_tool.json"
is '[H8] the answer all to install -g writes files for all clients' "$status $(ls "$HOME/.codex" "$HOME/.cursor" | grep -c 'config.toml\|mcp.json')" '0 2'
is '[H8] the answer all is remembered in the user configuration' "$(cat "$config")" 'clients: [claude, codex, cursor]'
on_terminal all "$MAPM" install -g "$s/agents/boss"
unlike '[H8] a later install -g asks no question about clients' "$out" '\(y\)es'
for word in --yes CI; do
    fresh
    mkdir -p "$HOME/.codex" "$HOME/.cursor"
    case $word in
    CI) CI=1 on_terminal yes "$MAPM" install -g "$s/skills/pdf" "$s/io.acme_tool.json" ;;
    *) on_terminal yes "$MAPM" install -g $word "$s/skills/pdf" "$s/io.acme_tool.json" ;;
    esac
    unlike "[H8] with $word install -g asks no question about clients" "$out" '\(all\)'
    is "[H8] install -g without a question is for all clients of the machine" "$(ls "$HOME/.codex" "$HOME/.cursor" | grep -c 'config.toml\|mcp.json')" 2
    not_ok '[H8] install -g without a question writes no user configuration' test -e "$config"
done
fresh
mkdir -p "$HOME/.codex" "$HOME/.cursor" "${config%/*}" && echo 'clients: [-codex]' >"$config"
exits '[H8] install -g with one client excluded succeeds' 0 mapm install -g --yes "$s/io.acme_tool.json"
is '[H8] the excluded client has no file and the other one has it' "$(ls "$HOME/.codex" "$HOME/.cursor" | grep -c 'config.toml\|mcp.json')" 1

for how in file link; do
    fresh
    mkdir -p "$HOME/.codex" "$HOME/.cursor"
    echo 'model = "x"' >"$HOME/.codex/config.toml"
    if [ $how = file ]; then
        : >"$XDG_STATE_HOME"
    else
        mkdir -p "$XDG_STATE_HOME/mapm" && ln -s "$T/else" "$XDG_STATE_HOME/mapm/backup"
    fi
    exits "install -g ends with exit code 3 when copies have no place: a $how" 3 mapm install -g --yes $ALL
    like 'the error says that no copy of the file can be kept' "$err" 'config.toml was left as it is: .*no copy of it can be kept'
    is 'the file without a copy is unchanged' "$(cat "$HOME/.codex/config.toml")" 'model = "x"'
    ok 'another client still gets the server' grep -q io-acme-tool "$HOME/.cursor/mcp.json"
    rm -rf "$XDG_STATE_HOME"
done
is 'no copy is written through the link' "$(ls "$T/else")" settings.json

# --- a client that writes its file all the time -------------------------------------------

fresh
echo '{"n": 0}' >"$HOME/.claude.json"
mkdir "$HOME/.claude"
cat >"$T/writer.py" <<'PYTHON'
import json, os, sys, time
path, stop = sys.argv[1:]
n = lost = 0
while not os.path.exists(stop):
    with open(path) as f:
        d = json.load(f)
    lost += d["n"] != n
    n += 1
    d["n"] = n
    with open(path + ".new", "w") as f:
        json.dump(d, f)
    os.replace(path + ".new", path)
    if n == 1:
        print("writes", flush=True)
    time.sleep(.005) # as fast as clients do; a loop would win each race
print("lost", lost, flush=True)
PYTHON
python3 -S "$T/writer.py" "$HOME/.claude.json" "$T/stop" >"$T/writer" &
writer=$!
await grep -q writes "$T/writer"
exits 'install -g succeeds while a client writes its file every 5 ms' 0 mapm install -g --yes $ALL
: >"$T/stop" && wait $writer
is 'no write of the client is lost during install -g' "$(tail -n 1 "$T/writer")" 'lost 0'
# What it had read before, it may have written over the new entry.
exits 'the next install -g succeeds after the writes of the client' 0 mapm install -g
is 'the file has the server after the next install -g' "$(grep -c io-acme-tool "$HOME/.claude.json")" 1

# --- mapm itself -------------------------------------------------------------------------

fresh
mkdir "$HOME/.cursor"
exits 'install -g --with-server succeeds' 0 mapm install -g --yes --with-server "$s/skills/pdf"
like 'the server of mapm has its path and --global' "$(tr -d ' \n' <"$HOME/.cursor/mcp.json")" "\"command\":\"$T/bin/mapm\",\"args\":\\[\"mcp\",\"--global\"\\]"
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}' \
    '{"jsonrpc":"2.0","id":2,"method":"resources/list"}' >"$T/calls.in"
mkdir -p .agents/skills && cp -r "$s/skills/pdf" .agents/skills/other
is 'mcp --global lists a skill of the library once, none of the workspace' \
    "$("$MAPM" mcp --global <"$T/calls.in" 2>/dev/null | grep -o '"uri":"[^"]*"')" '"uri":"skill://acme/pdf/SKILL.md"'

mkdir -p "$s/skills/echo"
printf -- '---\nname: echo\nscope: acme\ndescription: Says it again.\nversion: 1.0.0\nmetaskill: SKILL.star\n---\nx\n' >"$s/skills/echo/SKILL.md"
echo 'def run(input): return input' >"$s/skills/echo/SKILL.star"
sed -i 's#resources/list#tools/list#' "$T/calls.in"
exits 'install -g of a metaskill succeeds' 0 mapm install -g --yes "$s/skills/echo"
like 'mcp --global offers the metaskill as a tool [H9]' "$("$MAPM" mcp --global <"$T/calls.in" 2>/dev/null)" '"enum":\["echo"\]'

if obeys_modes; then
    fresh
    chmod 555 "$HOME"
    exits 'install -g into a home that cannot be written fails' 1 mapm install -g --yes $ALL
    chmod 755 "$HOME"
    is 'a failed install -g leaves the home empty' "$(ls -A "$HOME")" ''
    not_ok 'a failed install -g writes no lock into the library' test -e "$MAPM_HOME/global/mapm.local.lock"
fi

# --- links into the store -----------------------------------------------------------------

fresh
exits '[H8] install -g --link-mode hardlink is refused' 2 mapm install -g --yes --link-mode hardlink "$s/skills/pdf"
like '[H8] the error says that the link mode is for a workspace' "$err" 'is for a workspace'
not_ok '[H8] a refused link mode leaves no .agents folder' test -e "$HOME/.agents"
done_testing

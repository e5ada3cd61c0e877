#!/bin/sh
# The store: shared by workspaces and by processes, and never trusted. DESIGN
# 4; [row 8, row 16, row 26]; issue 2, 4 and 7.
. "$(dirname "$0")/../lib/cli.sh"
s=$T/src
U=https://github.com/acme/catalog/tree/main

for name in one two three; do
    skill "$s/skills/$name" 'scope: acme'
    for i in 1 2 3 4 5; do
        echo "$name $i" >"$s/skills/$name/$i.txt"
    done
done
skill "$s/skills/top" 'scope: acme' 'dependencies:' '  skills:' \
    "    - $U/skills/one" "    - $U/skills/two" "    - $U/skills/three"
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool
make_repo acme/catalog "$s"
skill "$T/src-b/skills/far" 'scope: beta'
make_repo beta/tools "$T/src-b"
start_githost

# object FILE: where the store keeps these bytes, as a file of their own.
object()
{
    sha256sum <"$1" | sed "s,^\\(..\\)\\([0-9a-f]*\\).*,$MAPM_HOME/store/objects/\\1/\\2,"
}
# stored WORD FILE: tests/lib/store_object.
stored()
{
    "$ROOT/tests/lib/store_object" "$@"
}
# damage FILE: other bytes of the same length in its object.
damage()
{
    stored damage "$1"
}

# --- path, stats -------------------------------------------------------------------

is "path" "$(mapm store path)" "$MAPM_HOME/store"
is 'for programs' "$(mapm store path --json | python3 -S -c 'import json, sys; print(json.load(sys.stdin)["path"])')" "$MAPM_HOME/store"
exits 'install' 0 mapm install "$U/skills/top"
mkdir "$T/saved" && cp mapm.yaml mapm.lock "$T/saved"
exits 'stats: how large it is [L16]' 0 mapm store stats
like 'objects' "$out" '^objects +[1-9]'
like 'workspaces' "$out" '^workspaces +1$'
exits 'for programs' 0 mapm store stats --json
printf '%s\n' "$out" >"$T/out.json"
is 'JSON' "$(python3 -S -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(d["workspaces"], d["objects"] >= 19, d["bytes"] > 0)' "$T/out.json")" '1 True True'
stored cat "$s/skills/one/1.txt" >"$T/stored"
ok 'an object is its hash' cmp "$T/stored" "$s/skills/one/1.txt"
is 'nobody writes it' "$(stat -c %a "$(stored where "$s/skills/one/1.txt")")" 444
is '[F8] what one fetch brought is one file' \
    "$(find "$MAPM_HOME/store" -type f ! -name lock ! -path '*/locks/*' | wc -l)" 1
exits 'verify' 0 mapm store verify
exits 'an unknown one' 2 mapm store frobnicate

pack=$(find "$MAPM_HOME/store/packs" -name '*.pack' | tail -n 1)
printf 'no pack' >"$MAPM_HOME/store/packs/$(printf %064d 7).pack"
exits 'a file that is no pack' 3 mapm store verify
like 'counts as damaged' "$err" '1 damaged'
exits 'and is set aside' 0 mapm store verify
ok 'alone' test -f "$pack"
rm -rf "$MAPM_HOME/store/damaged"

# --- damage is found and mended -------------------------------------------------------

damage "$s/skills/one/3.txt"
exits 'verify finds it' 3 mapm store verify
like 'and names it' "$out" "damaged: $(sha256sum <"$s/skills/one/3.txt" | cut -c1-64)"
not_ok 'it is no object any more' stored has "$s/skills/one/3.txt"
exits 'and is kept' 0 mapm store stats
like 'aside' "$out" '^damaged +1 '
reset_log
mkdir ../mended && cd ../mended || exit 1
exits 'the next install' 0 mapm install "$U/skills/top"
ok 'has the right bytes' diff -r "$s/skills/one" .agents/skills/one
at_most 'and fetched little' "$(requests)" 3
stored cat "$s/skills/one/3.txt" >"$T/stored"
ok 'the object is there again' cmp "$T/stored" "$s/skills/one/3.txt"

# Not found by verify, but by the install itself: it must not fail.
n=0
for way in --locked '' "$U/skills/top"; do
    n=$((n + 1))
    for file in skills/one/1.txt skills/two/SKILL.md; do
        damage "$s/$file"
    done
    rm -rf "$T/hurt$n" && mkdir "$T/hurt$n" && cd "$T/hurt$n" || exit 1
    [ "$n" = 3 ] || cp "$T/saved/mapm.yaml" "$T/saved/mapm.lock" .
    # shellcheck disable=SC2086
    exits "damaged objects ($n): the install mends them" 0 mapm install $way
    for name in one two three; do
        ok "damaged objects ($n): $name" diff -r "$s/skills/$name" ".agents/skills/$name"
    done
    like "damaged objects ($n): it is told" "$err" 'damaged'
done
exits 'all is well again' 0 mapm store verify
damage "$s/skills/two/2.txt"
mkdir ../offline && cd ../offline || exit 1
cp "$T/saved/mapm.yaml" "$T/saved/mapm.lock" .
exits 'offline there is no other' 1 mapm install --offline
like 'it says so' "$err" 'not in the store'
is 'and nothing is half done' "$(ls -A | tr '\n' ' ')" 'mapm.lock mapm.yaml '
exits 'with the network there is' 0 mapm install
ok 'the bytes' diff -r "$s/skills/two" .agents/skills/two
rm -rf "$MAPM_HOME/store/objects/"* "$MAPM_HOME/store/packs/"*
mkdir ../lost && cd ../lost || exit 1
cp "$T/saved/mapm.yaml" "$T/saved/mapm.lock" .
exits 'all objects lost' 0 mapm install --locked
ok 'are fetched' diff -r "$s/skills/two" .agents/skills/two
for f in "$MAPM_HOME"/mapm.db*; do
    echo 'this is no database' >"$f"
done
mkdir ../nodb && cd ../nodb || exit 1
exits 'a damaged index' 0 mapm install "$U/skills/top"
ok 'is made anew' diff -r "$s/skills/two" .agents/skills/two
exits 'and works' 0 mapm store stats

# --- gc -----------------------------------------------------------------------------------

exits 'another package' 0 mapm install beta/tools/skills/far
far=$(object "$T/src-b/skills/far/SKILL.md")
find "$MAPM_HOME/store" -type f -exec touch -d '2 hours ago' {} +
exits 'gc keeps what a workspace needs' 0 mapm store gc
ok 'here' test -f "$far"
exits 'remove it' 0 mapm remove far
exits 'a dry gc' 0 mapm store gc --dry-run
like 'says what would go' "$out" 'would remove [1-9]'
ok 'and leaves it' test -f "$far"
exits 'gc' 0 mapm store gc
not_ok 'removes it' test -e "$far"
ok 'the rest is needed' stored has "$s/skills/two/2.txt"
exits 'which works without the network' 0 mapm install --offline
mkdir ../doomed && cd ../doomed || exit 1
exits 'a workspace' 0 mapm install beta/tools/skills/far
ok 'has brought it back' test -f "$far"
cd ../nodb && rm -rf ../doomed
exits 'what is young stays' 0 mapm store gc
ok 'though nobody needs it' test -f "$far"
find "$MAPM_HOME/store" -type f -exec touch -d '2 hours ago' {} +
exits 'later' 0 mapm store gc
not_ok 'a workspace that is gone needs nothing' test -e "$far"
mkdir -p "$MAPM_HOME/shared/x" && echo data >"$MAPM_HOME/shared/x/y"
exits 'gc' 0 mapm store gc
ok 'leaves shared data alone' test -f "$MAPM_HOME/shared/x/y"
exits 'a lock that cannot be read' 0 mapm install "$U/skills/top"
cp mapm.lock "$T/good.lock" && echo '<<<<<<<' >>mapm.lock
exits 'stops gc' 1 mapm store gc
like 'it names the workspace' "$err" "$T/nodb"
cp "$T/good.lock" mapm.lock

mkfifo "$T/said"
exec 9<"$MAPM_HOME/store/lock"
flock -s 9
(exec 9<&-; mapm store gc >"$T/gc.out" 2>"$T/said"; echo $? >"$T/gc.status") &
exec 8<"$T/said"
read -r said <&8
exec 9<&-
wait $!
exec 8<&-
is '[F3] gc waits for a process that uses the store, and says so' "$said" \
    'waiting for another mapm that uses the store ...'
is '[F3] and then collects' "$(cat "$T/gc.status")" 0

mkfifo "$T/requests"
"$MAPM" mcp <"$T/requests" >"$T/answers" 2>/dev/null &
user=$!
exec 9>"$T/requests"
echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}' >&9
await test -s "$T/answers"
(exec 9>&-; mapm store gc >"$T/gc.out" 2>"$T/said"; echo $? >"$T/gc.status") &
collector=$!
exec 8<"$T/said"
read -r said <&8
exec 9>&-
wait $user $collector
exec 8<&-
like '[F3] gc names the process that uses the store' "$said" \
    "^waiting for process $user \\(.* that uses the store \.\.\.$"
is '[F3] and collects at its end' "$(cat "$T/gc.status")" 0

# --- a signal while a file is opened --------------------------------------------------------

mkdir ../signal && cd ../signal || exit 1
# (LeakSanitizer cannot look while another process traces.)
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    own=$(($(ldd "$MAPM" | grep -c ' => ') + 2)) # the loader takes the first
    for args in "install --offline $U/skills/top" 'verify' 'list' 'store gc'; do
        exits "[F3] EINTR of every other openat: $args" 0 \
            env ASAN_OPTIONS=detect_leaks=0 strace -qq -o "$T/trace" -e trace=openat \
            -e inject=openat:error=EINTR:when=$own+2 "$MAPM" $args
        ok '[F3] there was one' grep -q 'EINTR.*INJECTED' "$T/trace"
    done
else
    skip '[F3] EINTR of every other openat' 'no strace'
fi
cd ../nodb || exit 1

# --- many at once --------------------------------------------------------------------------

# at_once PREFIX FOLDER-PATTERN: eight installs, %d in the pattern; all succeed.
at_once()
{
    pids='' bad=0
    for i in 1 2 3 4 5 6 7 8; do
        # shellcheck disable=SC2059
        dir=$(printf "$2" $i)
        mkdir -p "$dir"
        mapm -C "$dir" install --yes "$U/skills/top" "$U/mcps/io.acme_tool.json" \
            beta/tools/skills/far >"$T/at-once.$i" 2>&1 </dev/null &
        pids="$pids $!"
    done
    for pid in $pids; do
        wait "$pid" || bad=$((bad + 1))
    done
    is "$1: all succeed" "$bad" 0
    [ "$bad" = 0 ] || diag "$(cat "$T"/at-once.*)"
}
# complete WHAT FOLDER
complete()
{
    good=yes
    for name in one two three top; do
        diff -r "$s/skills/$name" "$2/.agents/skills/$name" >/dev/null || good="no: $name"
    done
    diff -r "$T/src-b/skills/far" "$2/.agents/skills/far" >/dev/null || good='no: far'
    is "$1: nothing is lost" "$good" yes
    is "$1: the lock has all" "$(grep -c '^  - type:' "$2/mapm.lock")" 6
    exits "$1: it verifies" 0 mapm -C "$2" verify
}
MAPM_HOME=$T/many
export MAPM_HOME
cd "$T" || exit 1
at_once 'different workspaces, cold store' "$T/par/%d"
for i in 1 4 8; do
    complete "different workspaces, $i" "$T/par/$i"
done
exits 'the store is sound' 0 mapm store verify
is 'nothing is left behind' "$(ls -A "$MAPM_HOME/store/incoming")" ''
at_once 'the same workspace, warm store' "$T/same"
complete 'the same workspace' "$T/same"
MAPM_HOME=$T/many2
at_once 'the same workspace, cold store' "$T/same2"
complete 'the same workspace, cold' "$T/same2"
is 'nothing is left behind there' "$(ls -A "$MAPM_HOME/store/incoming")" ''
is 'nor in the workspace' "$(find "$T/same2/.agents/.mapm" -name 'stage*' -o -name 'journal*')" ''
# --- a store that is gone -----------------------------------------------------
mkdir "$T/bare" && cd "$T/bare" || exit 1
run mapm install "$U/skills/one"
rm -rf "$(mapm store path)"
exits 'the workspace needs no store' 0 mapm install
exits 'verify misses it' 3 mapm verify
like 'and says the way' "$err" 'mapm install --force'
exits 'which fills it again' 0 mapm install --force --yes
exits 'so that all is well' 0 mapm verify
mkdir "$T/nowhere"
exits 'verify of nothing is an error' 1 mapm -C "$T/nowhere" verify
like 'that says so' "$err" 'there is no mapm.yaml'
exits 'so is an update of nothing' 1 mapm -C "$T/nowhere" update
exits 'and a look at what moved' 1 mapm -C "$T/nowhere" outdated

# --- no folder where packs belong ----------------------------------------------------

MAPM_HOME=$T/odd
for how in file fifo link; do
    rm -rf "$T/odd" "$T/odd-$how" && mkdir -p "$T/odd/store" "$T/odd-$how" && cd "$T/odd-$how" || exit 1
    case $how in
    file) echo x >"$T/odd/store/packs" ;;
    fifo) mkfifo "$T/odd/store/packs" ;;
    link) ln -s "$T/bare" "$T/odd/store/packs" ;;
    esac
    exits "[F3] store/packs is a $how: install" 0 mapm install "$U/skills/top"
    is "[F3] store/packs is a $how: it is set aside" "$(ls "$T/odd/store" | grep -c '^packs.damaged-')" 1
    is "[F3] store/packs is a $how: a folder is there" "$(ls "$T/odd/store/packs" | grep -c 'pack$')" 1
    ok "[F3] store/packs is a $how: not a link" test ! -h "$T/odd/store/packs"
done

done_testing

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

is "store path prints the folder of the store" "$(mapm store path)" "$MAPM_HOME/store"
is 'store path --json has the folder of the store' "$(mapm store path --json | python3 -S -c 'import json, sys; print(json.load(sys.stdin)["path"])')" "$MAPM_HOME/store"
exits 'install of a skill with three dependencies succeeds' 0 mapm install "$U/skills/top"
mkdir "$T/saved" && cp mapm.yaml mapm.lock "$T/saved"
exits 'store stats succeeds [L16]' 0 mapm store stats
like 'store stats prints the number of objects' "$out" '^objects +[1-9]'
like 'store stats counts one workspace' "$out" '^workspaces +1$'
exits 'store stats --json succeeds' 0 mapm store stats --json
printf '%s\n' "$out" >"$T/out.json"
is 'store stats --json has workspaces, objects and bytes' "$(python3 -S -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(d["workspaces"], d["objects"] >= 19, d["bytes"] > 0)' "$T/out.json")" '1 True True'
stored cat "$s/skills/one/1.txt" >"$T/stored"
ok 'a stored object has the bytes of its file' cmp "$T/stored" "$s/skills/one/1.txt"
is 'a stored object is read-only' "$(stat -c %a "$(stored where "$s/skills/one/1.txt")")" 444
is '[F8] the objects of one fetch are one file' \
    "$(find "$MAPM_HOME/store" -type f ! -name lock ! -path '*/locks/*' | wc -l)" 1
exits 'store verify succeeds for a sound store' 0 mapm store verify
exits 'store with an unknown subcommand is a usage error' 2 mapm store frobnicate

pack=$(find "$MAPM_HOME/store/packs" -name '*.pack' | tail -n 1)
printf 'no pack' >"$MAPM_HOME/store/packs/$(printf %064d 7).pack"
exits 'store verify exits 3 for a malformed pack' 3 mapm store verify
like 'store verify counts the malformed pack as damaged' "$err" '1 damaged'
exits 'a second store verify succeeds' 0 mapm store verify
ok 'store verify keeps the sound pack' test -f "$pack"
rm -rf "$MAPM_HOME/store/damaged"

# --- damage is found and mended -------------------------------------------------------

damage "$s/skills/one/3.txt"
exits 'store verify exits 3 for a damaged object' 3 mapm store verify
like 'store verify names the damaged object' "$out" "damaged: $(sha256sum <"$s/skills/one/3.txt" | cut -c1-64)"
not_ok 'the damaged object is no longer in the store' stored has "$s/skills/one/3.txt"
exits 'store stats succeeds with a damaged object' 0 mapm store stats
like 'store stats counts the damaged object as kept aside' "$out" '^damaged +1 '
reset_log
mkdir ../mended && cd ../mended || exit 1
exits 'install succeeds after a damaged object was set aside' 0 mapm install "$U/skills/top"
ok 'install places the right bytes in place of the damaged ones' diff -r "$s/skills/one" .agents/skills/one
at_most 'install fetches the damaged object in at most three requests' "$(requests)" 3
stored cat "$s/skills/one/3.txt" >"$T/stored"
ok 'the store has the right bytes of the object again' cmp "$T/stored" "$s/skills/one/3.txt"

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
    exits "damaged objects ($n): install succeeds" 0 mapm install $way
    for name in one two three; do
        ok "damaged objects ($n): install places the right bytes of $name" diff -r "$s/skills/$name" ".agents/skills/$name"
    done
    like "damaged objects ($n): install reports the damage" "$err" 'damaged'
done
exits 'store verify succeeds after the installs' 0 mapm store verify
damage "$s/skills/two/2.txt"
mkdir ../offline && cd ../offline || exit 1
cp "$T/saved/mapm.yaml" "$T/saved/mapm.lock" .
exits 'install --offline fails for a damaged object' 1 mapm install --offline
like 'the error says that the object is not in the store' "$err" 'not in the store'
is 'a failed install --offline leaves no files' "$(ls -A | tr '\n' ' ')" 'mapm.lock mapm.yaml '
exits 'install with a network succeeds afterwards' 0 mapm install
ok 'install with a network places the right bytes' diff -r "$s/skills/two" .agents/skills/two
rm -rf "$MAPM_HOME/store/objects/"* "$MAPM_HOME/store/packs/"*
mkdir ../lost && cd ../lost || exit 1
cp "$T/saved/mapm.yaml" "$T/saved/mapm.lock" .
exits 'install --locked succeeds when every object is lost' 0 mapm install --locked
ok 'install --locked fetches the lost objects' diff -r "$s/skills/two" .agents/skills/two
for f in "$MAPM_HOME"/mapm.db*; do
    echo 'this is no database' >"$f"
done
mkdir ../nodb && cd ../nodb || exit 1
exits 'install succeeds with a damaged mapm.db' 0 mapm install "$U/skills/top"
ok 'install with a damaged mapm.db places the right bytes' diff -r "$s/skills/two" .agents/skills/two
exits 'store stats succeeds after mapm.db was created anew' 0 mapm store stats

# --- gc -----------------------------------------------------------------------------------

exits 'install of another package succeeds' 0 mapm install beta/tools/skills/far
far=$(object "$T/src-b/skills/far/SKILL.md")
find "$MAPM_HOME/store" -type f -exec touch -d '2 hours ago' {} +
exits 'store gc succeeds while a workspace needs the package' 0 mapm store gc
ok 'store gc keeps an object that a workspace needs' test -f "$far"
exits 'remove of the package succeeds' 0 mapm remove far
exits 'store gc --dry-run succeeds' 0 mapm store gc --dry-run
like 'store gc --dry-run counts what it would remove' "$out" 'would remove [1-9]'
ok 'store gc --dry-run keeps the object' test -f "$far"
exits 'store gc succeeds when no workspace needs the package' 0 mapm store gc
not_ok 'store gc removes an object that no workspace needs' test -e "$far"
ok 'store gc keeps the objects of other packages' stored has "$s/skills/two/2.txt"
exits 'install --offline succeeds after store gc' 0 mapm install --offline
mkdir ../doomed && cd ../doomed || exit 1
exits 'install of the collected package succeeds' 0 mapm install beta/tools/skills/far
ok 'install brings the collected object back' test -f "$far"
cd ../nodb && rm -rf ../doomed
exits 'store gc succeeds after the workspace was deleted' 0 mapm store gc
ok 'store gc keeps a young object that no workspace needs' test -f "$far"
find "$MAPM_HOME/store" -type f -exec touch -d '2 hours ago' {} +
exits 'store gc succeeds when the object is old' 0 mapm store gc
not_ok 'store gc removes the objects of a deleted workspace' test -e "$far"
mkdir -p "$MAPM_HOME/shared/x" && echo data >"$MAPM_HOME/shared/x/y"
exits 'store gc succeeds beside shared data' 0 mapm store gc
ok 'store gc keeps shared data' test -f "$MAPM_HOME/shared/x/y"
exits 'install succeeds before its lock becomes unreadable' 0 mapm install "$U/skills/top"
cp mapm.lock "$T/good.lock" && echo '<<<<<<<' >>mapm.lock
exits 'store gc fails when a lock cannot be read' 1 mapm store gc
like 'the error of store gc names the workspace of the lock' "$err" "$T/nodb"
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
is '[F3] store gc says that it waits for another process' "$said" \
    'waiting for another mapm that uses the store ...'
is '[F3] store gc succeeds after the other process has finished' "$(cat "$T/gc.status")" 0

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
like '[F3] store gc names the process that uses the store' "$said" \
    "^waiting for process $user \\(.* that uses the store \.\.\.$"
is '[F3] store gc succeeds after mapm mcp has ended' "$(cat "$T/gc.status")" 0

# --- a signal while a file is opened --------------------------------------------------------

mkdir ../signal && cd ../signal || exit 1
# (LeakSanitizer cannot look while another process traces.)
if command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null; then
    own=$(($(ldd "$MAPM" | grep -c ' => ') + 2)) # the loader takes the first
    for args in "install --offline $U/skills/top" 'verify' 'list' 'store gc'; do
        exits "[F3] mapm $args succeeds when every other openat is interrupted" 0 \
            env ASAN_OPTIONS=detect_leaks=0 strace -qq -o "$T/trace" -e trace=openat \
            -e inject=openat:error=EINTR:when=$own+2 "$MAPM" $args
        ok '[F3] an openat was interrupted' grep -q 'EINTR.*INJECTED' "$T/trace"
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
    is "$1: all installs at the same time succeed" "$bad" 0
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
    is "$1: no file is lost" "$good" yes
    is "$1: the lock has all packages" "$(grep -c '^  - type:' "$2/mapm.lock")" 6
    exits "$1: verify succeeds" 0 mapm -C "$2" verify
}
MAPM_HOME=$T/many
export MAPM_HOME
cd "$T" || exit 1
at_once 'different workspaces with a cold store' "$T/par/%d"
for i in 1 4 8; do
    complete "different workspaces, $i" "$T/par/$i"
done
exits 'store verify succeeds after installs at the same time' 0 mapm store verify
is 'installs at the same time leave nothing in the transfer folder' "$(ls -A "$MAPM_HOME/store/incoming")" ''
at_once 'the same workspace with a warm store' "$T/same"
complete 'the same workspace with a warm store' "$T/same"
MAPM_HOME=$T/many2
at_once 'the same workspace with a cold store' "$T/same2"
complete 'the same workspace with a cold store' "$T/same2"
is 'installs with a cold store leave nothing in the transfer folder' "$(ls -A "$MAPM_HOME/store/incoming")" ''
is 'installs leave no stage or journal in the workspace' "$(find "$T/same2/.agents/.mapm" -name 'stage*' -o -name 'journal*')" ''
# --- a store that is gone -----------------------------------------------------
mkdir "$T/bare" && cd "$T/bare" || exit 1
run mapm install "$U/skills/one"
rm -rf "$(mapm store path)"
exits 'install succeeds in an installed workspace without a store' 0 mapm install
exits 'verify exits 3 without a store' 3 mapm verify
like 'verify advises to run mapm install --force' "$err" 'mapm install --force'
exits 'install --force --yes succeeds without a store' 0 mapm install --force --yes
exits 'verify succeeds after install --force' 0 mapm verify
mkdir "$T/nowhere"
exits 'verify fails outside a workspace' 1 mapm -C "$T/nowhere" verify
like 'the error of verify says that there is no mapm.yaml' "$err" 'there is no mapm.yaml'
exits 'update fails outside a workspace' 1 mapm -C "$T/nowhere" update
exits 'outdated fails outside a workspace' 1 mapm -C "$T/nowhere" outdated

# --- no folder where packs belong ----------------------------------------------------

MAPM_HOME=$T/odd
for how in file fifo link; do
    rm -rf "$T/odd" "$T/odd-$how" && mkdir -p "$T/odd/store" "$T/odd-$how" && cd "$T/odd-$how" || exit 1
    case $how in
    file) echo x >"$T/odd/store/packs" ;;
    fifo) mkfifo "$T/odd/store/packs" ;;
    link) ln -s "$T/bare" "$T/odd/store/packs" ;;
    esac
    exits "[F3] install succeeds when store/packs is a $how" 0 mapm install "$U/skills/top"
    is "[F3] install sets aside a store/packs that is a $how" "$(ls "$T/odd/store" | grep -c '^packs.damaged-')" 1
    is "[F3] install creates a folder in place of a store/packs that is a $how" "$(ls "$T/odd/store/packs" | grep -c 'pack$')" 1
    ok "[F3] the new store/packs is no link (before: $how)" test ! -h "$T/odd/store/packs"
done

done_testing

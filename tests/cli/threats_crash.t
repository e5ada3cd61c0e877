#!/bin/sh
# Killed, interrupted, without room, without power: the old state or the new
# one, and the next command puts it right.
# [row 27, row 28]; section 1.7.
. "$(dirname "$0")/../lib/cli.sh"

i=1
while [ $i -le 20 ]; do
    skill "$T/src/skills/s$i" 'scope: acme' 'dependencies:' '  mcps:' \
        "    - https://github.com/acme/cat/tree/main/mcps/io.acme_m$((i % 4)).json"
    head -c $((i * 3000)) /dev/urandom >"$T/src/skills/s$i/data.bin"
    i=$((i + 1))
done
for i in 0 1 2 3; do
    mcp "$T/src/mcps/io.acme_m$i.json" io.acme/m$i npx -y tool$i '${workspaceDir}/x'
done
skill "$T/old/skills/base"
make_repo acme/cat "$T/src"
make_repo acme/old "$T/old"
start_githost
ALL=https://github.com/acme/cat
BASE=https://github.com/acme/old/tree/main/skills/base

fresh()
{
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
    mkdir .claude
    echo '{"mcpServers": {"mine": {"command": "x"}}}' >.mcp.json
}
# what there is to see in a workspace, without our own record
seen()
{
    snapshot . | grep -v '\.agents/\.mapm'
}
lasting()
{
    find . -name '.mapm-tmp-*' -o -path './.agents/.mapm/stage-*' -o -path './.agents/.mapm/journal'
}
# in milliseconds, since when
now()
{
    date +%s%N | cut -c1-13
}

fresh
start=$(now)
exits 'install of the old state succeeds' 0 mapm install --yes "$BASE"
seen >"$T/old.state"
start=$(now)
exits 'install of the new state succeeds' 0 mapm install --yes --all "$ALL"
cold=$(($(now) - start))
seen >"$T/new.state"
rm -rf .agents .claude/skills mapm.* .mcp.json && mkdir -p .claude
start=$(now)
exits 'install of the new state succeeds with a filled store' 0 mapm install --yes --all "$ALL"
warm=$(($(now) - start))
diag "cold $cold ms, warm $warm ms"

# --- [row 27] SIGKILL at any moment ----------------------------------------------------

# killed ROUNDS MS COLD: installs over the old state, each killed at a later moment.
killed()
{
    old=0 new=0 odd=0 left=0 broken=0 round=0
    while [ $round -lt "$1" ]; do
        round=$((round + 1))
        fresh
        mapm install --yes "$BASE" >/dev/null 2>&1
        [ "$3" = warm ] || rm -rf "$MAPM_HOME"
        setsid "$MAPM" install --yes --all "$ALL" >/dev/null 2>&1 &
        victim=$!
        sleep "$(awk "BEGIN { printf \"%.4f\", ($2 + 20) * $round / $1 / 1000 }")"
        kill -9 $victim 2>/dev/null
        wait $victim 2>/dev/null
        # the next command, whatever it is, finishes or undoes
        if ! run timeout 60 "$MAPM" verify; then
            [ "$status" -eq 3 ] || { broken=$((broken + 1)); show_run; }
        fi
        seen >"$T/state"
        if cmp -s "$T/state" "$T/old.state"; then
            old=$((old + 1))
        elif cmp -s "$T/state" "$T/new.state"; then
            new=$((new + 1))
        else
            odd=$((odd + 1))
            diag "round $round: neither old nor new"
            diag "$(diff "$T/state" "$T/new.state" | head -n 20)"
        fi
        # and the install itself goes through
        if ! run timeout 60 "$MAPM" install --yes --all "$ALL" ||
            ! { seen | cmp -s - "$T/new.state"; }; then
            broken=$((broken + 1))
            show_run
        fi
        [ -z "$(lasting)" ] || { left=$((left + 1)); diag "left: $(lasting | head -n 3)"; }
    done
    diag "$3: $old times the old state, $new times the new one"
    is "[row 27] killed $1 times, $3: the state is the old or the new one" $odd 0
    is "[row 27] killed $1 times, $3: no temporary files remain" $left 0
    is "[row 27] killed $1 times, $3: the next install is complete" $broken 0
}
killed 20 $cold cold
killed 20 $warm warm
exits '[row 27] store verify succeeds after the kills' 0 mapm store verify
find "$MAPM_HOME/store/incoming" -mindepth 1 -exec touch -d '2 hours ago' {} +
exits '[row 27] store gc succeeds after the kills' 0 mapm store gc
is '[row 27] store gc empties the transfer folder' "$(ls -A "$MAPM_HOME/store/incoming")" ''

is_alone()
{
    ! pgrep -f "$T/mapm/store/incoming"
}

# --- [row 27] Ctrl-C ---------------------------------------------------------------------

fresh
mapm install --yes "$BASE" >/dev/null 2>&1
rm -rf "$MAPM_HOME"
mapm store stats >/dev/null
for match in ls-refs fetch; do
    fault '{"kind": "hold", "times": -1, "match": {"cmd": "'$match'"}}'
    # (a background job of a shell ignores SIGINT)
    python3 -S - "$MAPM" "$ALL" <<'PYTHON' >"$T/int.out" 2>&1 &
import signal, subprocess, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
p = subprocess.Popen([sys.argv[1], "install", "--yes", "--all", sys.argv[2]])
print(p.pid, flush=True)
print("status", p.wait())
PYTHON
    interrupted=$!
    await_held 1
    kill -INT "$(head -n 1 "$T/int.out")"
    wait $interrupted
    like '[row 27] SIGINT ends install with exit code 130 while the server is silent' "$(cat "$T/int.out")" 'status 130'
    clear_faults
    is '[row 27] SIGINT leaves the old state' "$(seen)" "$(cat "$T/old.state")"
    is '[row 27] SIGINT leaves nothing in the store' "$(find "$MAPM_HOME/store" -mindepth 2 ! -path "*/locks/*")" ''
    await is_alone
    pass '[row 27] SIGINT leaves no process'
done

# --- [row 28] at the same time -------------------------------------------------------------

rm -rf "$MAPM_HOME"
cd "$T" || exit 1
for i in 1 2 3 4; do
    rm -rf "$T/w$i" && mkdir -p "$T/w$i/.claude"
    echo '{"mcpServers": {"mine": {"command": "x"}}}' >"$T/w$i/.mcp.json"
done
pids=
for i in 1 2 3 4 1 2; do
    (cd "$T/w$i" && exec "$MAPM" install --yes --all "$ALL" >"$T/w$i.log" 2>&1) &
    pids="$pids $!"
done
(while :; do "$MAPM" store gc; sleep 0.02; done >/dev/null 2>&1) &
gc=$!
bad=0
for pid in $pids; do
    wait "$pid" || bad=$((bad + 1))
done
kill $gc 2>/dev/null
wait $gc 2>/dev/null
is '[row 28] six installs succeed beside a repeated store gc' $bad 0
[ $bad -eq 0 ] || diag "$(cat "$T"/w?.log)"
for i in 1 2 3 4; do
    cd "$T/w$i" || exit 1
    exits "[row 28] verify succeeds in workspace $i" 0 mapm verify
    is "[row 28] workspace $i has the same skills as the first" "$(snapshot .agents/skills)" "$(snapshot "$T/w1/.agents/skills")"
done
exits '[row 28] store verify succeeds after installs at the same time' 0 mapm store verify

# --- [row 27] no room --------------------------------------------------------------------------

fresh
if [ "$(id -u)" -eq 0 ] && mkdir "$T/small" && mount -t tmpfs -o size=400k,mode=700 mapm-test "$T/small" 2>/dev/null; then
    trap 'umount -l "$T/small" "$T/cut" 2>/dev/null; leave' EXIT
    mkdir "$T/small/ws" && cd "$T/small/ws" || exit 1
    echo mine >mine.txt
    mapm install --yes "$BASE" >/dev/null 2>&1
    snapshot . >"$T/before"
    run mapm install --yes --all "$ALL"
    is '[row 27] install fails on a full disk of the workspace' "$status" 1
    like '[row 27] the error names the full disk of the workspace' "$err" 'No space left'
    is '[row 27] install leaves the workspace on a full disk unchanged' "$(snapshot .)" "$(cat "$T/before")"
    exits '[row 27] verify succeeds in the workspace on a full disk' 0 mapm verify
    # every size of what is left
    bad=0 done=0
    for free in 0 4 8 12 16 24 32 48 64 96 128 160; do
        rm -f filler
        room=$(df -k --output=avail . | tail -n 1)
        [ "$room" -le $free ] || head -c $(((room - free) * 1024)) /dev/zero >filler
        snapshot . >"$T/before"
        if run mapm install --yes "$ALL/tree/main/skills/s10"; then
            done=$((done + 1))
            mapm remove s10 >/dev/null 2>&1
        elif [ "$(snapshot .)" != "$(cat "$T/before")" ]; then
            bad=$((bad + 1))
            diag "$free kB free: changed"
            diag "$(snapshot . | diff "$T/before" - | head -n 10)"
            show_run
        fi
    done
    is '[row 27] install on a nearly full disk writes all or nothing' $bad 0
    isnt '[row 27] install succeeds with enough space left' $done 0
    rm -rf "$T/small/ws"
    fresh
    echo mine >mine.txt
    snapshot . >"$T/before"
    run env MAPM_HOME="$T/small/store" "$MAPM" install --yes --all "$ALL"
    is '[row 27] install fails on a full disk of the store' "$status" 1
    like '[row 27] the error names the full disk of the store' "$err" 'No space left'
    is '[row 27] install with a full store leaves the workspace unchanged' "$(snapshot .)" "$(cat "$T/before")"
    is '[row 27] install with a full store leaves no files in the store' "$(find "$T/small/store/store" -type f ! -path "*/lock*")" ''
    umount "$T/small"
else
    skip '[row 27] a full disk' 'needs root and tmpfs'
fi

# --- [row 27] a power cut ------------------------------------------------------------------------

# The loop device reads and writes its file past the page cache, so the file is
# what is on the disk. A copy of it in the moment of success is the power cut.
fresh
power_cut()
{
    command -v mkfs.ext4 >/dev/null && command -v losetup >/dev/null || return 1
    [ "$(id -u)" -eq 0 ] || return 1
    truncate -s 64M "$T/disk" && mkfs.ext4 -q -F "$T/disk" || return 1
    device=$(losetup --direct-io=on --show -f "$T/disk" 2>/dev/null) || return 1
    [ "$(cat "/sys/block/${device##*/}/loop/dio" 2>/dev/null)" = 1 ] &&
        mkdir "$T/cut" && mount -o commit=300,noauto_da_alloc "$device" "$T/cut"
}
if power_cut; then
    trap 'umount -l "$T/cut" "$T/after" 2>/dev/null; losetup -d "$device" 2>/dev/null; leave' EXIT
    mkdir "$T/cut/ws" "$T/after" && cd "$T/cut/ws" || exit 1
    echo '{"mcpServers": {"mine": {"command": "x"}}}' >.mcp.json
    sync -f .
    mapm install --yes "$BASE" >/dev/null 2>&1
    cp "$T/disk" "$T/disk.old"
    seen >"$T/old.seen"
    run mapm install --yes --all "$ALL"
    cp "$T/disk" "$T/disk.new"
    is '[row 27] install succeeds on a disk of its own' "$status" 0
    seen >"$T/new.seen"
    for which in old new; do
        mount -o loop "$T/disk.$which" "$T/after" || { fail "[row 27] the disk of the $which state can be mounted"; continue; }
        cd "$T/after/ws" || exit 1
        is "[row 27] after a power cut, $which: every file is there" "$(seen)" "$(cat "$T/$which.seen")"
        # (the path of the workspace is another one, so verify there would differ)
        exits "[row 27] after a power cut, $which: list succeeds" 0 mapm list
        is "[row 27] after a power cut, $which: no temporary files remain" "$(lasting)" ''
        cd "$T" && umount "$T/after"
    done
    # a dozen files: what safety costs
    cd "$T/cut/ws" || exit 1
    best=100000
    for round in 1 2 3 4 5; do
        mapm remove s1 s2 s3 s4 s5 s6 >/dev/null 2>&1
        start=$(now)
        mapm install --yes $ALL/tree/main/skills/s1 $ALL/tree/main/skills/s2 $ALL/tree/main/skills/s3 \
            $ALL/tree/main/skills/s4 $ALL/tree/main/skills/s5 $ALL/tree/main/skills/s6 >/dev/null 2>&1
        took=$(($(now) - start))
        [ $took -ge $best ] || best=$took
    done
    diag "a dozen files, synced: $best ms"
    cd "$T" && umount "$T/cut" && losetup -d "$device"
else
    skip '[row 27] a power cut' 'needs root, ext4 and a loop device with direct I/O'
fi
done_testing

#!/bin/sh
# What a run may cost: time, memory, pages of the history. All of it is compared
# with another program or another run, and with room to spare: docs/measurements.md
# and bench/run have the numbers.
. "$(dirname "$0")/../lib/cli.sh"

# least COUNT COMMAND... [-- COMMAND...]: the least processor time of each, in
# microseconds of user and system, taken in turns.
least()
{
    python3 -S - "$@" <<'PYTHON'
import os, sys
count, words, commands = int(sys.argv[1]), sys.argv[2:], [[]]
for word in words:
    if word == "--":
        commands.append([])
    else:
        commands[-1].append(word)
null = os.open("/dev/null", os.O_RDWR)
times = [[] for _ in commands]
for _ in range(count):
    for i, command in enumerate(commands):
        pid = os.posix_spawnp(command[0], command, os.environ, file_actions=[
            (os.POSIX_SPAWN_DUP2, null, 0), (os.POSIX_SPAWN_DUP2, null, 1)])
        status, usage = os.wait4(pid, 0)[1:]
        if status:
            sys.exit(f"{command}: {status}")
        times[i].append(usage.ru_utime + usage.ru_stime)
print(*(int(min(t) * 1e6) for t in times))
PYTHON
}

# start NAME INPUT: the metaskill in the background, until it prints "ready" and
# goes on for ever; its number in $pid.   stop: ends it.
start()
{
    : >"$T/err" # that of the one before says "ready", too
    "$MAPM" run "./skills/$1" --input "$2" --trace --allow '*' >"$T/out" 2>"$T/err" &
    pid=$!
    tries=0
    until grep -q ready "$T/err" || ! kill -0 $pid 2>/dev/null || [ $tries -gt 600 ]; do
        tries=$((tries + 1))
        sleep 0.05
    done
}
stop()
{
    kill -TERM $pid
    wait $pid
}
# peak NAME INPUT: KiB of memory at most, of mapm and its interpreter.
peak()
{
    start "$@"
    sum=0
    for process in $pid $(cat "/proc/$pid/task/$pid/children"); do
        kib=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\).*/\1/p' "/proc/$process/status")
        sum=$((sum + ${kib:-0}))
    done
    echo $sum
    stop
}

# program NAME: a metaskill of the workspace; standard input is its program.
program()
{
    skill "$T/ws/skills/$1" 'metaskill: SKILL.star'
    cat >"$T/ws/skills/$1/SKILL.star"
}

program done <<'STAR'
def run(input):
    return "done"
STAR

# --- time, and the history ----------------------------------------------------------

i=0
while [ $i -lt 120 ]; do
    mapm run ./skills/done --input '{}' >/dev/null || break
    i=$((i + 1))
done
is '120 runs of a trivial metaskill succeed' "$i" 120
is 'the history has all 120 runs' "$(mapm runs --limit 1000 2>/dev/null | grep -c ' done ')" 120

# It goes with its last page, and is there again with the next one.
log_bytes()
{
    if [ -f "$MAPM_HOME/mapm.db-wal" ]; then wc -c <"$MAPM_HOME/mapm.db-wal"; else echo 0; fi
}
# The log has 4,120 bytes a page. Whoever opens it reads it whole.
at_most 'the log of mapm.db has at most 80 pages' "$(log_bytes)" $((80 * 4120))
before=$(log_bytes)
mapm run ./skills/done --input '{}' >/dev/null
after=$(log_bytes)
if [ "$after" -gt "$before" ]; then
    at_most 'a run adds at most eight pages to the log of mapm.db' $((after - before)) $((8 * 4120))
fi

set -- $(least 40 git --version -- "$MAPM" run ./skills/done --input '{}')
diag "git --version $1 us, mapm run $2 us of processors"
at_most 'a trivial run takes less than 4 times the processor time of git --version' \
    "$2" $(($1 * 4))

# --- what is mapped -----------------------------------------------------------------

program endless <<'STAR'
def run(input):
    print("ready")
    for i in range(1 << 60):
        pass
STAR
start endless '{}'
maps=$(cat "/proc/$pid/maps")
like 'the memory maps of a run have libc' "$maps" 'libc'
unlike 'the memory maps of a run have neither libcurl nor libgit2' "$maps" 'libcurl|libgit2'
stop
is '[K30] SIGTERM ends a run within a loop with exit code 130' "$?" 130

# --- [K28] traces ----------------------------------------------------------------------

program traces <<'STAR'
def run(input):
    for i in range(input["n"]):
        trace("step", {"i": i})
    print("ready")
    for i in range(input.get("more", 0)):
        pass
STAR
program calls <<'STAR'
def step(kind, data):
    pass
def run(input):
    for i in range(input["n"]):
        step("step", {"i": i})
STAR
mapm run ./skills/traces --input '{"n": 1000000}' --json >"$T/out"
is '[K28] 100 of a million traces are kept' "$(tr '{' '\n' <"$T/out" | grep -c '"kind":"step"')" 100
set -- $(least 3 "$MAPM" run ./skills/traces --input '{"n": 1000000}' \
    -- "$MAPM" run ./skills/calls --input '{"n": 1000000}')
diag "1,000,000 traces $1 us, as many calls of a function $2 us"
at_most 'a million traces take less than 10 times as long as calls of a function' "$1" $(($2 * 10))
few=$(peak traces '{"n": 100, "more": 1000000000000}')
many=$(peak traces '{"n": 1000000, "more": 1000000000000}')
diag "100 traces $few KiB, 1,000,000 $many KiB"
at_most 'a million traces take at most 4 MiB more memory than 100' "$many" $((few + 4096))

# --- [K29] a long output ----------------------------------------------------------------

program output <<'STAR'
def run(input):
    r = command(["head", "-c", input["bytes"], "/dev/zero"])
    print("ready")
    for i in range(input.get("more", 0)):
        pass
    return str(r["truncated"]) + " " + str(len(r["result"]))
STAR
mapm run ./skills/output --input '{"bytes": "100000000"}' --allow '*' >"$T/out"
if grep -q 'commands cannot be confined' "$T/out"; then
    skip '[K29] 100 MB of output' 'no sandbox here'
else
    like '[K29] 100 MB of output are cut to 20,000 characters' "$(cat "$T/out")" '"answer":"True 20000"'
    few=$(peak output '{"bytes": "100000", "more": 1000000000000}')
    many=$(peak output '{"bytes": "100000000", "more": 1000000000000}')
    diag "100 KB $few KiB, 100 MB $many KiB"
    at_most '100 MB of output take at most 4 MiB more memory than 100 KB' "$many" $((few + 4096))

    program commands <<'STAR'
def run(input):
    for i in range(5):
        if not command(["true"])["ok"]:
            fail("not ok")
STAR
    set -- $(least 7 "$MAPM" run ./skills/commands --input '{}' --allow '*')
    alone=$1
    python3 -S - <<'PYTHON'
import os
for top in ("node_modules", ".git/objects/many"):
    for i in range(100):
        os.makedirs(f"{top}/{i}")
        for j in range(60):
            open(f"{top}/{i}/{j}", "w").close()
PYTHON
    set -- $(least 7 "$MAPM" run ./skills/commands --input '{}' --allow '*')
    diag "5 commands $alone us; beside 12,000 files in .git and node_modules $1 us"
    at_most '12,000 files in .git and node_modules at most double the time of commands' "$1" $((alone * 2))
fi

# --- a large folder ----------------------------------------------------------------------

mkdir skills/done/references
python3 -S - <<'PYTHON'
for i in range(4990):
    with open(f"skills/done/references/{i}.md", "w") as f:
        f.write(f"{i}\n" * 200)
PYTHON
set -- $(least 5 sh -c 'find skills/done -type f -print0 | xargs -0 sha256sum' \
    -- "$MAPM" run ./skills/done --input '{}')
diag "sha256sum of 4,992 files $1 us, mapm run $2 us"
at_most 'a run of a folder of 4,992 files takes less than twice the time of sha256sum' \
    "$2" $(($1 * 2))

done_testing

#!/bin/sh
# Many processes that install the same at once: one of them downloads.
# [F11]; DESIGN.md 4.
. "$(dirname "$0")/../lib/cli.sh"
GH=https://github.com
HELLO=$GH/acme/catalog/tree/main/skills/hello
N=32

skill "$T/src/skills/base"
skill "$T/src/skills/hello" 'dependencies:' '  skills:' "    - \"$GH/acme/catalog/tree/main/skills/base\""
make_repo acme/catalog "$T/src"
skill "$T/other/skills/third"
make_repo acme/other "$T/other"
start_githost

# hold COUNT [SIGNAL-PID]: holds the repository's lock until COUNT processes have
# its file open; it is there when this returns.
cat >"$T/hold.py" <<'PYTHON'
import fcntl, glob, hashlib, os, sys, time
home, count, ready = sys.argv[1], int(sys.argv[2]), sys.argv[3]
os.makedirs(home + "/store/locks", 0o700, exist_ok=True)
path = home + "/store/locks/" + hashlib.sha256(b"github.com/acme/catalog").hexdigest()[:32]
fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
if len(sys.argv) < 5:
    fcntl.flock(fd, fcntl.LOCK_EX)
open(ready, "w").close()
def holders():
    n = 0
    for link in glob.glob("/proc/[0-9]*/fd/*"):
        try:
            n += os.readlink(link) == path
        except OSError:
            pass
    return n - 1
while holders() < count:
    time.sleep(0.02)
PYTHON
hold()
{
    rm -f "$T/ready"
    python3 "$T/hold.py" "$MAPM_HOME" "$1" "$T/ready" &
    holder=$!
    await test -e "$T/ready"
}
# many ARG...: N processes, in ws1 …, with the lock held until all wait.
many()
{
    reset_log
    hold $N
    pids=
    i=0
    while [ $i -lt $N ]; do
        i=$((i + 1))
        (cd "$T/ws$i" && exec "$MAPM" "$@" >"$T/out$i" 2>&1) &
        pids="$pids $!"
    done
    wait "$holder"
    failed=0
    for pid in $pids; do
        wait "$pid" || failed=$((failed + 1))
    done
}
all_have()
{
    for i in $(seq $N); do
        cmp -s "$T/ws$i/.agents/skills/$1/SKILL.md" "$T/src/skills/$1/SKILL.md" || echo "ws$i"
    done
}

mapm store stats >/dev/null
for i in $(seq $N); do mkdir "$T/ws$i"; done
many install "$HELLO"
is "[F11] $N cold installs at the same time succeed" $failed 0
is '[F11] each workspace has the skill and its dependency' "$(all_have hello)$(all_have base)" ''
at_most '[F11] cold installs at the same time send at most eight requests' "$(requests)" 8
ok '[F11] cold installs at the same time write the same lock' cmp "$T/ws1/mapm.lock" "$T/ws$N/mapm.lock"

rm -rf "$MAPM_HOME"
mapm store stats >/dev/null
for i in $(seq $N); do rm -rf "$T/ws$i/.agents" "$T/ws$i/.claude"; done
many install --locked
is "[F11] $N cold installs --locked at the same time succeed" $failed 0
is '[F11] install --locked: each workspace has both skills' "$(all_have hello)$(all_have base)" ''
at_most '[F11] install --locked: at most eight requests are sent' "$(requests)" 8

again()
{
    rm -rf "$MAPM_HOME"
    mapm store stats >/dev/null
    for i in $(seq $N); do rm -rf "$T/ws$i" && mkdir "$T/ws$i"; done
}
for which in "$GH/acme/catalog" acme/catalog/skills; do
    again
    many install --all "$which"
    is "[F11] $N cold installs of all of $which at the same time succeed" $failed 0
    is "[F11] all of $which: each workspace has both skills" "$(all_have hello)$(all_have base)" ''
    at_most "[F11] all of $which: at most eight requests are sent" "$(requests)" 8
    ok "[F11] all of $which: every workspace has the same lock" cmp "$T/ws1/mapm.lock" "$T/ws$N/mapm.lock"
done
again
many install "$HELLO" "$GH/acme/other/tree/main/skills/third"
is "[F11] $N cold installs from two repositories at the same time succeed" $failed 0
is '[F11] two repositories: each workspace has both skills of the first' "$(all_have hello)$(all_have base)" ''
at_most '[F11] two repositories: at most eight requests are sent' "$(requests)" 8

# --- an answer counts for processes that ran already ------------------------------
mkdir "$T/later" "$T/later-all"
echo more >>"$T/src/skills/base/SKILL.md"
make_repo acme/catalog "$T/src"
reset_log
cd "$T/later" || exit 1
exits '[F11] install succeeds in a process that starts later' 0 mapm install "$HELLO"
like '[F11] the later process installs the new commit of the branch' "$(cat mapm.lock)" "commit: $COMMIT"
isnt '[F11] the later process asks the host for the branch' "$(request_log | grep -c ls-refs)" 0
reset_log
cd "$T/later-all" || exit 1
exits '[F11] install --all succeeds in a process that starts later' 0 mapm install --all acme/catalog
isnt '[F11] the later install --all asks the host for the branch' "$(request_log | grep -c ls-refs)" 0

# --- a holder that ends, a waiter that is ended ------------------------------------
mkdir "$T/one" "$T/two"
rm -rf "$MAPM_HOME"
mapm store stats >/dev/null
reset_log
fault '{"kind": "stall", "after": 0, "seconds": 300, "match": {"cmd": "ls-refs"}}'
(cd "$T/one" && exec "$MAPM" install "$HELLO" >"$T/out-one" 2>&1) &
one=$!
python3 "$T/hold.py" "$MAPM_HOME" 1 "$T/ready" watch
(cd "$T/two" && exec "$MAPM" install "$HELLO" >"$T/out-two" 2>&1) &
two=$!
python3 "$T/hold.py" "$MAPM_HOME" 2 "$T/ready" watch
kill -9 $one
wait $one 2>/dev/null
wait $two
is '[F11] install succeeds after the process with the lock was killed' $? 0
ok '[F11] the waiting process fetches the package itself' test -f "$T/two/.agents/skills/hello/SKILL.md"
clear_faults

rm -rf "$MAPM_HOME" "$T/two/"* "$T/two/".[a-z]*
mapm store stats >/dev/null
hold 1000
(cd "$T/two" && exec "$MAPM" install "$HELLO" >"$T/out-two" 2>&1) &
two=$!
python3 "$T/hold.py" "$MAPM_HOME" 2 "$T/ready" watch
kill -TERM $two
wait $two
is '[F11] a process that waits for the lock ends on SIGTERM' $? 130
is '[F11] the interrupted process leaves no files' "$(ls -A "$T/two")" ''
kill $holder
wait $holder 2>/dev/null
exits '[F11] store gc succeeds after the interruptions' 0 mapm store gc
done_testing

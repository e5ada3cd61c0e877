#!/bin/sh
# A store and a data folder that cannot be written: what only reads works, and
# what has to write says so (F3 j). By mode, and on a read-only mount.
. "$(dirname "$0")/../lib/cli.sh"

# Root is not held by modes: so all of it is done as another user.
as_nobody

mkdir .claude
skill "$T/src/plain"
mapm install --yes "$T/src/plain" >/dev/null 2>&1
mapm skill load plain --session s >/dev/null 2>&1
mapm trust --workspace --yes >/dev/null 2>&1

# What fails of all that only reads, in one line.
cat >"$T/reads" <<'SH'
for command in verify list tree 'why plain' install outdated \
    'skill list' 'skill load plain' 'trust --list' runs events 'store stats' \
    'store path' doctor; do
    timeout 20 "$MAPM" $command >"$T/out" 2>"$T/err" </dev/null ||
        echo "$command: $? $(head -n 2 "$T/err" | tr '\n' ' ')"
done
SH
# What succeeds of all that must write.
cat >"$T/writes" <<'SH'
for command in 'trust --revoke --workspace' 'skill load plain --session t' \
    'store gc' 'install -g --yes ../src/plain'; do
    timeout 20 "$MAPM" $command >"$T/out" 2>"$T/err" </dev/null &&
        echo "$command: $(head -n 2 "$T/err" | tr '\n' ' ')"
done
true
SH
cat >"$T/mounted" <<'SH'
mount --bind "$MAPM_HOME" "$MAPM_HOME" && mount -o remount,ro,bind "$MAPM_HOME" || exit 1
! touch "$MAPM_HOME/x" 2>/dev/null || exit 1
. "$1"
SH

without_modes() { sed 's/^\([a-z]\) [0-7]* /\1 /' | LC_ALL=C sort; }

# check WHAT: as the data folder is now.
check()
{
    before=$(snapshot "$MAPM_HOME")
    chmod -R a-w "$MAPM_HOME"
    if ! obeys_modes; then
        skip "[F3] (j) $1, by mode" 'root writes everywhere'
    else
        is "[F3] (j) $1, by mode: commands that only read succeed" "$(. "$T/reads")" ''
        is "[F3] (j) $1, by mode: commands that write fail" "$(. "$T/writes")" ''
    fi
    chmod -R u+w "$MAPM_HOME"
    is "[F3] (j) $1, by mode: the data folder is unchanged" \
        "$(snapshot "$MAPM_HOME" | without_modes)" "$(printf '%s\n' "$before" | without_modes)"
    if T=$T unshare -rm sh "$T/mounted" /dev/null 2>/dev/null; then
        is "[F3] (j) $1, mounted: commands that only read succeed" "$(T=$T unshare -rm sh "$T/mounted" "$T/reads")" ''
        is "[F3] (j) $1, mounted: commands that write fail" "$(T=$T unshare -rm sh "$T/mounted" "$T/writes")" ''
    else
        skip '[F3] (j) a read-only mount' 'needs user namespaces'
    fi
}

ok 'mapm.db has a write-ahead log' test -s "$MAPM_HOME/mapm.db-wal"
check 'with the log of mapm.db'
mapm trust --list >"$T/listed" 2>&1
like 'trust --list shows the workspace that the log has' "$(cat "$T/listed")" "^workspace  $T/ws"
run mapm store gc
python3 -S - "$MAPM_HOME/mapm.db" <<'PYTHON' 2>/dev/null ||
import sqlite3, sys
d = sqlite3.connect(sys.argv[1])
d.execute("pragma wal_checkpoint(truncate)")
d.close()
PYTHON
    sqlite3 "$MAPM_HOME/mapm.db" 'pragma wal_checkpoint(truncate)' >/dev/null 2>&1
if [ -s "$MAPM_HOME/mapm.db-wal" ]; then
    skip '[F3] (j) without a log' 'needs python3 or sqlite3'
else
    rm -f "$MAPM_HOME"/mapm.db-*
    check 'without a log'
    chmod -R a-w "$MAPM_HOME"
    is '[F3] (j) trust --list shows the workspace without a log' "$(mapm trust --list 2>&1)" "$(cat "$T/listed")"
    chmod -R u+w "$MAPM_HOME"
fi
rm -f "$MAPM_HOME"/mapm.db*
check 'without mapm.db'
rm -rf "$MAPM_HOME/store/incoming" "$MAPM_HOME/store/lock"
check 'without the lock and the folder for incoming data'
chmod -R a-w "$MAPM_HOME"
rm -rf .agents
exits '[F3] (j) verify with a read-only data folder reports missing files' 3 mapm verify
chmod -R u+w "$MAPM_HOME"
exits '[F3] (j) install succeeds after the data folder is writable again' 0 mapm install
exits '[F3] (j) verify succeeds after the data folder is writable again' 0 mapm verify

done_testing

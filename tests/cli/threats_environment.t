#!/bin/sh
# Odd environments, other users, damaged stores.
# [row 24, row 25, row 26, row 29]. T13's layers aside, nothing of it may
# change what is installed, and what cannot work is an error before any change.
. "$(dirname "$0")/../lib/cli.sh"

LOCAL=$T/src/skills/hello
skill "$LOCAL" 'scope: acme' 'dependencies:' '  mcps:' "    - file:$T/src/mcps/io.acme_tool.json"
mcp "$T/src/mcps/io.acme_tool.json" io.acme/tool npx -y tool '${workspaceDir}/x' '${sharedDir}/y'
skill "$T/git/skills/hi"
make_repo acme/cat "$T/git"
start_githost
HI=https://github.com/acme/cat/tree/main/skills/hi

fresh()
{
    cd "$T" && rm -rf "./${1:-ws}" && mkdir -- "./${1:-ws}" && cd -- "./${1:-ws}" || exit 1
}
# works WHAT COMMAND...: it installs both packages.
works()
{
    what=$1
    shift
    exits "[row 29] install succeeds: $what" 0 timeout 60 "$@" install --yes "$LOCAL" "$HI"
    ok "[row 29] install writes packages and lock: $what" \
        test -f .agents/skills/hello/SKILL.md -a -f .agents/skills/hi/SKILL.md -a -f mapm.lock
}
# fails WHAT REGEX COMMAND...: it says why, and the folder stays empty.
fails()
{
    what=$1 regex=$2
    shift 2
    run timeout 60 "$@" install --yes "$LOCAL" "$HI"
    like "[row 29] install fails: $what" "$status" '^[14]$'
    like "[row 29] the error gives the reason: $what" "$err" "$regex"
    is "[row 29] install writes nothing: $what" "$(ls -A)" ''
}
fresh
works 'as usual' "$MAPM"
snapshot .agents/skills >"$T/usual"

# --- [row 29] descriptors ----------------------------------------------------------

for closed in '<&-' '2>&-' '<&- 2>&-'; do
    fresh
    works "closed: $closed" sh -c "exec \"\$@\" $closed" sh "$MAPM"
    is "[row 29] install places the same bytes with closed: $closed" "$(snapshot .agents/skills)" "$(cat "$T/usual")"
done
for closed in '>&-' '>&- 2>&-' '<&- >&- 2>&-'; do
    fresh
    run sh -c "exec \"\$@\" $closed" sh "$MAPM" install --yes "$LOCAL" "$HI"
    is "[row 29] install fails when standard output is closed: $closed" "$status" 1
    is "[row 29] install writes nothing when standard output is closed: $closed" "$(ls -A)" ''
done
# Some number is enough, and below it nothing is half-done. Each one: where it
# runs out depends on what is in the store and on what we were started with.
for n in $(seq 4 32) 40 64; do
    fresh
    run sh -c "ulimit -n $n; exec \"\$@\"" sh "$MAPM" install --yes "$LOCAL" "$HI"
    if [ "$status" -eq 0 ]; then
        is "[row 29] install with $n descriptors is complete" "$(snapshot .agents/skills)" "$(cat "$T/usual")"
        last=all
    else
        is "[row 29] install with $n descriptors fails and writes nothing" "$(ls -A)" ''
        last=none
    fi
done
is '[row 29] install succeeds with 64 descriptors' $last all
fresh
works 'a low soft limit is raised' sh -c 'ulimit -S -n 8; exec "$@"' sh "$MAPM"

# --- [row 29] limits, umask ------------------------------------------------------------

fresh
works 'a small stack' sh -c 'ulimit -s 128; exec "$@"' sh "$MAPM"
fresh
head -c 100000 /dev/urandom >"$LOCAL/data.bin"
fails 'a small file size limit' 'File too large|larger than' sh -c 'ulimit -f 40; exec "$@"' sh "$MAPM"
rm "$LOCAL/data.bin"
for mask in 000 077 777; do
    rm -rf "$MAPM_HOME"
    fresh
    works "umask $mask" sh -c "umask $mask; exec \"\$@\"" sh "$MAPM"
    is "[row 29] umask $mask does not change modes in the workspace" "$(snapshot .agents/skills)" "$(cat "$T/usual")"
    is "[row 24] umask $mask: folders of the store are private to the user" \
        "$(find "$MAPM_HOME" -type d ! -perm 0700)" ''
    is "[row 24] umask $mask: objects of the store are read-only" \
        "$(find "$MAPM_HOME/store/"[op]* -type f ! -perm 0444)" ''
done

# --- [row 29] variables ------------------------------------------------------------------

fresh
works 'no PATH' env -u PATH "$MAPM"
fresh
works 'an empty PATH' env PATH= "$MAPM"
fresh
works 'another language' env LC_ALL=tr_TR.UTF-8 LANG=tr_TR.UTF-8 "$MAPM"
fresh
works 'the C locale' env LC_ALL=C "$MAPM"
fresh
run env -u HOME -u XDG_CONFIG_HOME "$MAPM" install --yes "$LOCAL"
is '[row 29] install succeeds without HOME when MAPM_HOME is set' "$status" 0
fresh
fails 'nothing at all' 'HOME is not an absolute path' env -i "$MAPM"
for home in '' relative ./x '~'; do
    fresh
    fails "HOME=$home" 'HOME is not an absolute path' \
        env -u MAPM_HOME -u XDG_DATA_HOME HOME="$home" XDG_DATA_HOME=also/relative "$MAPM"
done
fresh
works 'a relative MAPM_HOME is ignored' env MAPM_HOME=relative "$MAPM"
not_ok '[row 29] a relative MAPM_HOME is not created' test -e relative
fresh
works 'relative XDG folders are ignored' env -u MAPM_HOME XDG_DATA_HOME=data XDG_CONFIG_HOME=config \
    XDG_CACHE_HOME=cache "$MAPM"
not_ok '[row 29] relative XDG folders are not created' test -e data -o -e config -o -e cache

# --- [row 29] where we are ----------------------------------------------------------------

mkdir "$T/gone" && cd "$T/gone" && rmdir "$T/gone"
for command in list "install $LOCAL" 'check .' verify; do
    # shellcheck disable=SC2086
    exits "[row 29] mapm $command fails in a deleted working folder" 1 "$MAPM" $command
    like '[row 29] the error names the deleted working folder' "$err" 'current folder|No such file|removed'
done
exits '[row 29] help succeeds in a deleted working folder' 0 "$MAPM" help
exits '[row 29] -C works in a deleted working folder' 0 "$MAPM" -C "$T/ws" list
for name in 'with space' "quo'te" 'dq"x' '$(id)' '-rf' 'ünï' 'a;b' '~' '*' '%s%n' '#x' '&y' '!'; do
    fresh "$name"
    works "a folder named $name" "$MAPM"
    is "[row 29] the arguments of a server have the path of the folder $name" \
        "$(python3 -S -c 'import json; print(json.load(open(".mcp.json"))["mcpServers"]["io-acme-tool"]["args"][2])')" \
        "$T/$name/x"
    exits "[row 29] verify succeeds in the folder $name" 0 "$MAPM" verify
    ok "[row 29] list --json prints valid JSON in the folder $name" sh -c '"$MAPM" list --json | python3 -S -m json.tool'
    cd "$T" && rm -rf "./$name"
done
for name in '${HOME}' '$HOME' 'back\slash' 'new
line' "$(printf 'latin-\351')" "$(printf 'esc-\033[31m')"; do
    fresh "$name"
    fails "a path that no client's file can hold" 'io.acme/tool: .*(client|path)' "$MAPM"
    exits '[row 29] install of a skill alone succeeds in such a folder' 0 "$MAPM" install "$HI"
    exits '[row 29] verify succeeds in such a folder' 0 "$MAPM" verify
    run "$MAPM" list --json
    not_ok '[row 7] list --json prints no raw control byte' env LC_ALL=C grep -Pq '[\x00-\x08\x0b-\x1f\x7f]' "$T/out" "$T/err"
    ok '[row 29] list --json prints valid UTF-8' python3 -S -c 'import json, sys; json.loads(open(sys.argv[1], "rb").read().decode())' "$T/out"
    cd "$T" && rm -rf "./$name"
done
fresh
deep=$(printf '%0200d/' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
mkdir -p "$deep" && cd "$deep" || exit 1
run "$MAPM" install --yes "$LOCAL" "$HI"
like '[row 29] install in a very long path succeeds or fails with exit code 1' "$status" '^[01]$'

# --- [row 24, row 25] whose store it is ------------------------------------------------------

fresh
chmod 770 "$MAPM_HOME"
fails '[row 24] a store that a group may write' 'others may write' "$MAPM"
chmod 707 "$MAPM_HOME"
fails '[row 24] or anybody' 'others may write' "$MAPM"
chmod 700 "$MAPM_HOME"
chmod 777 "$MAPM_HOME/store/objects"
fails '[row 24] or its objects' 'others may write' "$MAPM"
chmod 700 "$MAPM_HOME/store/objects"
mv "$MAPM_HOME/store" "$T/elsewhere" && ln -s "$T/elsewhere" "$MAPM_HOME/store"
fails '[row 24] a link in its place' 'open store' "$MAPM"
rm "$MAPM_HOME/store" && mv "$T/elsewhere" "$MAPM_HOME/store"
works '[row 24] sound again' "$MAPM"
if can_chown; then
    fresh
    chown 12345 "$MAPM_HOME/store"
    fails '[row 24] the store of another user' 'belongs to another user \(uid 12345\)' "$MAPM"
    chown 0 "$MAPM_HOME/store"
    rm -rf "$HOME/.local"
    chown 12345 "$HOME"
    fails '[row 25] HOME of another user' 'HOME .*belongs to user 12345' \
        env -u MAPM_HOME -u XDG_DATA_HOME "$MAPM"
    not_ok '[row 25] root leaves nothing in the HOME of another user' test -e "$HOME/.local"
    chown 0 "$HOME"
    fresh
    SUDO_UID=1000 SUDO_USER=somebody
    export SUDO_UID SUDO_USER
    works '[row 25] under sudo, with a HOME of its own' "$MAPM"
    like '[row 25] install warns about sudo' "$err" 'sudo'
    is '[row 25] install under sudo writes no files of another owner' "$(find . ! -user 0)" ''
    unset SUDO_UID SUDO_USER
else
    skip '[row 24] the store of another user' 'cannot change owners'
    skip '[row 25] HOME of another user' 'cannot change owners'
fi

# --- [row 26] a damaged store -----------------------------------------------------------------

# hurt WHAT: after the damage that stdin does, an install is still right.
hurt()
{
    fresh
    sh -s "$MAPM_HOME"
    run timeout 120 "$MAPM" install --yes "$LOCAL" "$HI"
    is "[row 26] install succeeds with $1" "$status" 0
    [ "$status" -eq 0 ] || show_run
    is "[row 26] install places the right bytes with $1" "$(snapshot .agents/skills)" "$(cat "$T/usual")"
}
hurt 'flipped objects' <<'END'
find "$1/store/objects" -type f -exec chmod 644 {} + -exec sh -c 'for f; do printf X | dd of="$f" bs=1 conv=notrunc status=none; done' sh {} +
END
hurt 'emptied objects' <<'END'
find "$1/store/objects" -type f -exec chmod 644 {} + -exec sh -c 'for f; do : >"$f"; done' sh {} +
END
hurt 'links in place of objects' <<'END'
find "$1/store/objects" -type f -exec sh -c 'for f; do ln -sf /etc/passwd "$f"; done' sh {} +
END
hurt 'FIFOs in place of objects' <<'END'
find "$1/store/objects" -type f -exec sh -c 'for f; do rm "$f"; mkfifo "$f"; done' sh {} +
END
hurt 'folders in place of objects' <<'END'
find "$1/store/objects" -type f -exec sh -c 'for f; do rm -f "$f"; mkdir -p "$f/x"; done' sh {} +
END
hurt 'missing objects' <<'END'
rm -rf "$1"/store/objects/*
END
hurt 'a missing store beside its index' <<'END'
rm -rf "$1"/store
END
hurt 'an index of garbage' <<'END'
rm -f "$1"/mapm.db-*; head -c 100000 /dev/urandom >"$1/mapm.db"
END
hurt 'an empty index' <<'END'
rm -f "$1"/mapm.db-*; : >"$1/mapm.db"
END
hurt 'a truncated index' <<'END'
truncate -s 5000 "$1/mapm.db"
END
hurt 'an index with overwritten pages' <<'END'
dd if=/dev/urandom of="$1/mapm.db" bs=512 seek=9 count=20 conv=notrunc status=none
END
hurt 'a link in place of the index' <<'END'
mv "$1/mapm.db" "$1/other.db"; ln -s other.db "$1/mapm.db"
END
hurt 'a folder in place of the index' <<'END'
rm -f "$1"/mapm.db* "$1/other.db"; mkdir "$1/mapm.db"
END
rm -rf "$MAPM_HOME/mapm.db"
hurt 'a FIFO in place of the index' <<'END'
rm -rf "$1"/mapm.db*; mkfifo "$1/mapm.db"
END
rm -f "$MAPM_HOME/mapm.db"
hurt 'another program'"'"'s database' <<'END'
rm -f "$1"/mapm.db*
python3 -S -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1] + "/mapm.db")
d.execute("create table x(y)")
d.execute("pragma application_id=1")
d.commit()' "$1"
END
hurt 'triggers in the index' <<'END'
python3 -S -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1] + "/mapm.db")
for t in ("packages", "refs", "blobs", "workspaces"):
    d.execute("create trigger evil_%s after insert on %s begin delete from packages; end" % (t, t))
d.commit()' "$1"
END
fresh
python3 -S -c 'import sqlite3, sys
d = sqlite3.connect(sys.argv[1] + "/mapm.db")
d.execute("pragma user_version=99")
d.commit()' "$MAPM_HOME"
cp "$MAPM_HOME/mapm.db" "$T/newer.db"
fails '[row 26] a newer index' 'version 99' "$MAPM"
ok '[row 26] a newer index stays unchanged' cmp "$MAPM_HOME/mapm.db" "$T/newer.db"
hurt 'a missing index' <<'END'
rm -f "$1"/mapm.db*
END
python3 -S -c 'import sqlite3, sys, time
d = sqlite3.connect(sys.argv[1] + "/mapm.db", isolation_level=None)
d.execute("begin immediate")
open(sys.argv[2], "w").close()
time.sleep(2)' "$MAPM_HOME" "$T/locked" &
while ! [ -e "$T/locked" ]; do sleep 0.05; done
fresh
works '[row 26] the index is locked: it waits' "$MAPM"
wait $!
done_testing

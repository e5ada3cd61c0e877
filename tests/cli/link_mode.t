#!/bin/sh
# --link-mode of install, update and remove: what the files of a workspace share with
# the store, and that they are the same files in each mode. [row 26]
. "$(dirname "$0")/../lib/cli.sh"

U=https://github.com/acme/catalog/tree/main/skills
skill "$T/src/skills/large"
head -c 3000000 /dev/urandom >"$T/src/skills/large/data"
head -c 3000000 /dev/urandom >"$T/src/skills/large/tool" && chmod 755 "$T/src/skills/large/tool"
skill "$T/src/skills/small"
make_repo acme/catalog "$T/src"
start_githost
LARGE=.agents/skills/large

# anew: another workspace, with the same store.
anew()
{
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
}
links()
{
    stat -c %h "$1"
}

exits 'no such mode' 2 mapm install --link-mode symlink "$U/large"
like 'the modes are named' "$err" 'auto.*copy.*hardlink.*reflink'
is 'nothing is written' "$(ls -A)" ''

for mode in auto copy; do
    anew
    exits "$mode" 0 mapm install --link-mode $mode "$U/large"
    is "$mode: no file is shared" "$(links $LARGE/data) $(links $LARGE/SKILL.md)" '1 1'
    echo x >>$LARGE/data
    exits "$mode: an edit is none of the store" 0 mapm store verify
    cp -r "$T/src/skills/large/data" $LARGE/data
    exits "$mode: and can be taken back" 0 mapm verify
done
snapshot .agents/skills >"$T/copied"

anew
exits 'hardlink' 0 mapm install --link-mode hardlink "$U/large"
is 'hardlink: each file is one with that of the store' "$(links $LARGE/data) $(links $LARGE/SKILL.md)" '2 2'
ok 'hardlink: by its inode' test -n "$(find "$MAPM_HOME/store" -inum "$(stat -c %i $LARGE/data)")"
is 'hardlink: with its mode, which lets nobody write' "$(stat -c %a $LARGE/data $LARGE/SKILL.md | tr '\n' ' ')" '444 444 '
is 'hardlink: a program has a mode of its own, and is a copy' "$(links $LARGE/tool) $(stat -c %a $LARGE/tool)" '1 755'
is 'hardlink: the same files' "$(snapshot .agents/skills | sed 's/^f 444/f 644/')" "$(cat "$T/copied")"
exits 'hardlink: which are verified' 0 mapm verify
exits 'hardlink: install again changes nothing' 0 mapm install
is 'hardlink: they stay shared' "$(links $LARGE/data)" 2
exits 'hardlink: update' 0 mapm update --link-mode hardlink
exits 'hardlink: another package is removed' 0 mapm install --link-mode hardlink "$U/small"
exits 'hardlink: remove' 0 mapm remove --link-mode hardlink small
is 'hardlink: what stays is shared' "$(links $LARGE/data)" 2
chmod u+w $LARGE/data && echo x >>$LARGE/data
exits '[row 26] hardlink: an edit in place reaches the store' 3 mapm store verify
anew
mapm install --link-mode copy "$U/large" >/dev/null 2>&1
is '[row 26] hardlink: the next reader gets the right bytes' "$(snapshot .agents/skills)" "$(cat "$T/copied")"

anew
run mapm install --link-mode reflink "$U/large"
if cp --reflink=always $LARGE/SKILL.md "$T/clone" 2>/dev/null ||
    cp --reflink=always "$T/src/skills/large/data" "$T/clone" 2>/dev/null; then
    is 'reflink' "$status" 0
    is 'reflink: the same files' "$(snapshot .agents/skills)" "$(cat "$T/copied")"
else
    is 'reflink: where the file system cannot' "$status" 1
    like 'reflink: it is said' "$err" 'cannot share blocks'
    not_ok 'reflink: nothing is installed' test -e $LARGE
    not_ok 'reflink: nor locked' test -e mapm.lock
fi
done_testing

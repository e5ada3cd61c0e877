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

exits 'install with an unknown link mode is a usage error' 2 mapm install --link-mode symlink "$U/large"
like 'the error lists the link modes' "$err" 'auto.*copy.*hardlink.*reflink'
is 'install with an unknown link mode writes nothing' "$(ls -A)" ''

for mode in auto copy; do
    anew
    exits "$mode: install succeeds" 0 mapm install --link-mode $mode "$U/large"
    is "$mode: no file is shared with the store" "$(links $LARGE/data) $(links $LARGE/SKILL.md)" '1 1'
    echo x >>$LARGE/data
    exits "$mode: an edit leaves the store intact" 0 mapm store verify
    cp -r "$T/src/skills/large/data" $LARGE/data
    exits "$mode: verify succeeds after the edit is undone" 0 mapm verify
done
snapshot .agents/skills >"$T/copied"

anew
exits 'install --link-mode hardlink succeeds' 0 mapm install --link-mode hardlink "$U/large"
is 'hardlink: files are shared with the store' "$(links $LARGE/data) $(links $LARGE/SKILL.md)" '2 2'
ok 'hardlink: the shared file has an inode of the store' test -n "$(find "$MAPM_HOME/store" -inum "$(stat -c %i $LARGE/data)")"
is 'hardlink: shared files are read-only' "$(stat -c %a $LARGE/data $LARGE/SKILL.md | tr '\n' ' ')" '444 444 '
is 'hardlink: an executable file is a copy with its own mode' "$(links $LARGE/tool) $(stat -c %a $LARGE/tool)" '1 755'
is 'hardlink: the files equal those of a copy' "$(snapshot .agents/skills | sed 's/^f 444/f 644/')" "$(cat "$T/copied")"
exits 'hardlink: verify succeeds' 0 mapm verify
exits 'hardlink: a second install succeeds' 0 mapm install
is 'hardlink: files stay shared after a second install' "$(links $LARGE/data)" 2
exits 'hardlink: update succeeds' 0 mapm update --link-mode hardlink
exits 'hardlink: install of another package succeeds' 0 mapm install --link-mode hardlink "$U/small"
exits 'hardlink: remove of the other package succeeds' 0 mapm remove --link-mode hardlink small
is 'hardlink: files of the remaining package stay shared' "$(links $LARGE/data)" 2
chmod u+w $LARGE/data && echo x >>$LARGE/data
exits '[row 26] hardlink: store verify fails after an edit in place' 3 mapm store verify
anew
mapm install --link-mode copy "$U/large" >/dev/null 2>&1
is '[row 26] hardlink: a later copy has the right bytes' "$(snapshot .agents/skills)" "$(cat "$T/copied")"

anew
run mapm install --link-mode reflink "$U/large"
if cp --reflink=always $LARGE/SKILL.md "$T/clone" 2>/dev/null ||
    cp --reflink=always "$T/src/skills/large/data" "$T/clone" 2>/dev/null; then
    is 'reflink: install succeeds where the file system can share blocks' "$status" 0
    is 'reflink: the files equal those of a copy' "$(snapshot .agents/skills)" "$(cat "$T/copied")"
else
    is 'reflink: install fails where the file system cannot share blocks' "$status" 1
    like 'reflink: the error says that the blocks cannot be shared' "$err" 'cannot share blocks'
    not_ok 'reflink: a failed install writes no package' test -e $LARGE
    not_ok 'reflink: a failed install writes no lock' test -e mapm.lock
fi
done_testing

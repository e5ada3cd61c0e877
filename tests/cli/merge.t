#!/bin/sh
# A mapm.lock that git could not merge: what one side changed is that side's, of
# what both changed the commit that descends from the other. [D13, F1].
. "$(dirname "$0")/../lib/cli.sh"

s=$T/src
U=https://github.com/acme/catalog/tree/main/skills
for name in base bit dot end mid; do
    skill "$s/skills/$name" 'scope: acme'
done
skill "$T/src-b/skills/far" 'scope: beta'
skill "$T/src-b/skills/dot" 'scope: beta'
make_repo acme/catalog "$s"
make_repo beta/tools "$T/src-b"
start_githost

git()
{
    command git -c user.name=t -c user.email=t@example.com -c core.autocrlf=false \
        -c init.defaultBranch=main "$@"
}
save()
{
    git add mapm.yaml mapm.lock && git commit -qm "$1"
}
# publish VERSION NAME...: a commit of the catalog in which these have changed.
publish()
{
    version=$1
    shift
    for name in "$@"; do
        sed -i "s/^version:.*/version: $version/" "$s/skills/$name/SKILL.md"
    done
    make_repo acme/catalog "$s"
}
# meet STYLE: theirs into ours; the lock is in conflict.
meet()
{
    git checkout -q ours
    git -c merge.conflictStyle="$1" merge -q theirs >"$T/merge.log" 2>&1
    # Of mapm.yaml the union: both sides add roots alone.
    if grep -q '^<<<<<<<' mapm.yaml; then
        sed -i -e '/^|||||||/,/^=======/{/^=======/!d}' -e '/^[<>=]\{7\}/d' mapm.yaml
    fi
    ok 'mapm.lock has a merge conflict after the merge' grep -q '^<<<<<<<' mapm.lock
}
# again: both branches at the common commit.
again()
{
    git merge --abort 2>/dev/null
    git reset -q --hard
    git checkout -q main
    git branch -f ours main
    git branch -f theirs main
    mapm install -q || diag 'cannot go back'
}
field()
{
    sed -n "/name: $(echo "$1" | sed 's,/,\\/,')\$/,/^  - /s/^    $2: //p" mapm.lock | head -n 1
}
whole()
{
    not_ok "$1: mapm.lock has no conflict markers" grep -q '^[<=>|]\{7\}' mapm.lock
    exits "$1: install --locked accepts the lock" 0 mapm install --locked
    exits "$1: verify succeeds" 0 mapm verify
}

git init -q .
printf '%s\n' .agents .claude >.gitignore
git add .gitignore
mapm install -q --yes "$U/base" "$U/end" || diag 'no workspace'
save first
git branch ours && git branch theirs

# --- each side adds ------------------------------------------------------------------

git checkout -q ours && mapm install -q "$U/bit" && save 'ours: bit'
git checkout -q theirs && mapm install -q "$U/dot" && save 'theirs: dot'
meet merge
cp mapm.lock "$T/conflict.lock"
snapshot . >"$T/before"
exits '[D13] install --locked refuses a lock in conflict' 1 mapm install --locked
like 'the error names the line of the conflict' "$err" 'mapm\.lock:[0-9]*: a merge conflict'
like 'the error says that mapm install resolves the conflict' "$err" 'mapm install resolves it'
CI=true
export CI
exits '[D13] install with CI set refuses a lock in conflict' 1 mapm install
exits 'install of an origin with CI set refuses a lock in conflict' 1 mapm install "$U/mid"
unset CI
for words in 'list' 'update' 'verify' 'remove bit'; do
    run mapm $words
    isnt "$words refuses a lock in conflict" "$status" 0
    like 'the error reports a merge conflict' "$err" 'a merge conflict'
done
exits 'install with --ours and --theirs is a usage error' 2 mapm install --ours --theirs
exits 'install with --locked and --ours is a usage error' 2 mapm install --locked --ours
is 'refused commands leave the workspace unchanged' "$(snapshot .)" "$(cat "$T/before")"
exits 'install --dry-run with a lock in conflict succeeds' 0 mapm install --dry-run
like 'install --dry-run reports that the conflict can be resolved' "$err" 'the merge conflict can be resolved'
is 'install --dry-run leaves the workspace unchanged' "$(snapshot .)" "$(cat "$T/before")"
exits '[D13] install resolves a conflict of entries that both sides added' 0 mapm install
like 'install reports that the conflict is resolved' "$err" 'the merge conflict is resolved'
ok 'the packages of both sides are installed' test -f .agents/skills/bit/SKILL.md -a -f .agents/skills/dot/SKILL.md
whole 'entries added on both sides'
exits 'a second install after the merge succeeds' 0 mapm install
like 'a second install after the merge has nothing to do' "$err" 'nothing to do'

# CRLF, and both styles.
cp "$T/conflict.lock" mapm.lock && sed -i 's/$/\r/' mapm.lock
exits '[D13] install resolves a conflict with CRLF' 0 mapm install
whole 'a conflict with CRLF'

# --- one side changes an entry --------------------------------------------------------

again
git checkout -q theirs
publish 1.1.0 base
mapm update -q base && mapm install -q "$U/bit" && save 'theirs: newer base, bit'
git checkout -q ours && mapm install -q "$U/dot" && mapm remove -q end && save 'ours: dot'
git checkout -q theirs
old=$(field acme/base commit)
meet diff3
sed -i '/skills\/end$/d' mapm.yaml
exits '[D13] install resolves an entry changed on one side' 0 mapm install --json
printf '%s\n' "$out" >"$T/out.json"
is 'install takes the commit of the side that changed' "$(field acme/base commit)" "$old"
is 'install --json reports no entry in dispute' "$(python3 -S -c 'import json,sys; print(json.load(open(sys.argv[1]))["merged"])' "$T/out.json")" '[]'
not_ok 'a package that one side removed is not installed' test -e .agents/skills/end
whole 'an entry changed on one side'

# A side that goes back is a change, too: the base says so.
again
publish 1.2.0 base end
mapm update -q && cp mapm.lock "$T/base.lock"
publish 1.3.0 end
mapm update -q end && cp mapm.lock "$T/theirs.lock"
git checkout -q main -- mapm.lock && mapm install -q
first=$(field acme/base commit)
{
    echo '<<<<<<< HEAD' && cat mapm.lock
    echo '||||||| 0123abc' && cat "$T/base.lock"
    echo '=======' && cat "$T/theirs.lock"
    echo '>>>>>>> theirs'
} >"$T/conflict.lock"
cp "$T/conflict.lock" mapm.lock
exits '[D13] install resolves an entry that one side took back' 0 mapm install
is 'install takes the older commit of the side that went back' "$(field acme/base commit)" "$first"
whole 'an entry that one side took back'
sed '/^|||||||/,/^=======/{/^=======/!d}' "$T/conflict.lock" >mapm.lock
exits '[D13] install resolves a conflict without a base section' 0 mapm install
is 'install takes the newer version without a base section' "$(field acme/base version)" 1.2.0
whole 'a conflict without a base section'

# --- both sides change it ---------------------------------------------------------------

for style in merge diff3 zdiff3; do
    for newer in ours theirs; do
        again
        older=theirs
        [ $newer = ours ] || older=ours
        publish "2.$((number = ${number:-0} + 1)).0" end
        git checkout -q $older && mapm update -q end && save older
        publish "2.$((number = number + 1)).0" end
        git checkout -q $newer && mapm update -q end && save newer
        descendant=$(field acme/end commit)
        meet $style
        reset_log
        exits "[D13] install resolves an entry changed on both, newer is $newer ($style)" 0 mapm install
        is 'install takes the commit that descends from the other' "$(field acme/end commit)" "$descendant"
        like 'the report says that install took $newer' "$err" "skill acme/end: changed on both sides, took $newer: 2\\."
        at_most 'the merge sends at most four requests' "$(requests)" 4
        whole "$newer, $style"
    done
done

# --- commits that do not descend from each other -------------------------------------------

again
mapm update -q && save 'main: all newest' && again
fork=$(repo acme/catalog rev-parse main)
publish 3.0.0 end mid
git checkout -q ours && mapm update -q end && save 'ours: 3.0'
ours=$(field acme/end commit)
repo acme/catalog branch kept main
repo acme/catalog update-ref refs/heads/main "$fork"
publish 3.1.0 end
git checkout -q theirs && mapm update -q end && save 'theirs: 3.1'
theirs=$(field acme/end commit)
meet merge
snapshot . >"$T/before"
exits '[D13] install fails when neither commit descends from the other' 1 mapm install
like 'the error names both commits of the entry' "$err" "skill acme/end: ours 3\\.0\\.0 \\($(echo "$ours" | cut -c1-10)\\), theirs 3\\.1\\.0 \\($(echo "$theirs" | cut -c1-10)\\), and neither descends"
like 'the error suggests --ours and --theirs' "$err" 'mapm install --ours .*--theirs'
is 'the failed merge leaves the workspace unchanged' "$(snapshot .)" "$(cat "$T/before")"
cp mapm.lock "$T/split.lock"
exits '[D13] install --theirs of such a conflict succeeds' 0 mapm install --theirs
is 'install --theirs takes the commit of the other side' "$(field acme/end commit)" "$theirs"
whole 'a conflict resolved by --theirs'
cp "$T/split.lock" mapm.lock
exits '[D13] install --ours --json of such a conflict succeeds' 0 mapm install --ours --json
printf '%s\n' "$out" >"$T/out.json"
is 'install --ours takes the commit of this side' "$(field acme/end commit)" "$ours"
is 'install --json has both commits, the choice and its reason' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
m, = json.load(open(sys.argv[1]))["merged"]
print(m["type"], m["name"], m["ours"], m["theirs"], m["taken"], m["why"])
P
)" "skill acme/end $ours $theirs ours option"
whole 'a conflict resolved by --ours'
cp "$T/split.lock" mapm.lock
snapshot . >"$T/before"
exits '[D13] install --offline of a conflict between commits fails' 1 mapm install --offline
like 'the error says that --offline does not ask the host' "$err" '--offline does not ask'
exits '[D13] install --offline --theirs succeeds' 0 mapm install --offline --theirs
is 'install --offline --theirs takes the commit of the other side' "$(field acme/end commit)" "$theirs"
cp "$T/split.lock" mapm.lock
fault '{"kind": "status", "status": 404, "match": {"repo": "acme/*"}, "times": -1}'
exits 'install fails when the host does not have the repository' 1 mapm install
like 'the error says that there is no such repository' "$err" 'no such repository'
clear_faults

# --- what packages need ----------------------------------------------------------------------

again
sed -i '/^version:/a dependencies:\n  skills:\n    - '"$U/mid" "$s/skills/end/SKILL.md"
publish 4.0.0 end
git checkout -q ours && mapm update -q end && save 'ours: needs mid'
sed -i "s,$U/mid,https://github.com/beta/tools/tree/main/skills/far," "$s/skills/end/SKILL.md"
publish 4.1.0 end
git checkout -q theirs && mapm update -q end && save 'theirs: needs far'
meet merge
exits '[D13] install resolves a conflict of entries with different needs' 0 mapm install
is 'the merged entry has the needs of the side that was taken' "$(field acme/end needs)" '[skill beta/far]'
not_ok 'a package that nothing needs is not in the lock' grep -q acme/mid mapm.lock
ok 'the needed skill is installed, the other one is not' test ! -e .agents/skills/mid -a -e .agents/skills/far
whole 'an entry with different needs'

# --- what git joins without a conflict ----------------------------------------------------------

# block NAME: its lines of mapm.lock.
block()
{
    awk -v name="    name: $1" '
        /^  - / { if (is_it) printf "%s", text; text = ""; is_it = 0; is_block = 1 }
        $0 == name { is_it = 1 }
        is_block { text = text $0 "\n" }
        END { if (is_it) printf "%s", text }' mapm.lock
}
# joined WHAT SAYS: only install resolves the lock that is there.
joined()
{
    cp mapm.lock "$T/joined.lock"
    exits "[D13] $1: install --locked refuses the lock" 1 mapm install --locked
    like 'the error names line and fault of the lock' "$err" "^mapm: mapm\\.lock:[0-9]*: $2"
    like 'the hint says that mapm install resolves joined edits' "$err" 'hint: where git joined two edits, mapm install resolves it'
    run env CI=true "$MAPM" install
    is "[D13] $1: install with CI set refuses the lock" "$status" 1
    exits "$1: list refuses the lock" 1 mapm list
    ok 'refused commands leave the joined lock unchanged' cmp mapm.lock "$T/joined.lock"
}
git merge --abort 2>/dev/null
git checkout -q -f main && mapm install -q
cp mapm.lock "$T/good.lock"
block acme/base >>mapm.lock
joined 'an entry that is there twice' 'skill acme/base is not in its order'
exits '[D13] install resolves equal entries' 0 mapm install
like 'install reports two edits that git joined' "$err" 'is not in its order: taken for two edits that git joined'
ok 'install leaves one of equal entries' cmp mapm.lock "$T/good.lock"
publish 5.0.0 base
block acme/base >"$T/block" && mapm update -q base
cp mapm.lock "$T/newer.lock"
sed "/^packages:/r $T/block" "$T/newer.lock" >mapm.lock
joined 'two entries of one package with different content' 'skill acme/base is given twice'
exits '[D13] install resolves two entries of one package' 0 mapm install
like 'install reports a conflict of two entries of one package' "$err" 'acme/base: changed on both sides, took theirs: 5.0.0'
ok 'install takes the entry whose commit descends from the other' cmp mapm.lock "$T/newer.lock"
git checkout -q main -- mapm.lock && mapm install -q

# merged: theirs into ours; the lock is not in conflict, mapm.yaml is the union.
merged()
{
    git checkout -q ours
    git merge -q theirs >"$T/merge.log" 2>&1
    sed -i '/^[<>=]\{7\}/d' mapm.yaml
    not_ok 'git joins the lock without a conflict' grep -q '^[<=>]\{7\}' mapm.lock
}
again
git checkout -q ours && mapm install -q "$U/dot" && save 'ours: acme/dot'
git checkout -q theirs
mapm install -q --yes https://github.com/beta/tools/tree/main/skills/dot && save 'theirs: beta/dot'
merged
joined 'two packages in one folder' '".agents/skills/dot" belongs to two packages'
exits '[D13] install resolves two packages in one folder' 0 mapm install
is 'each of both packages gets its own folder' "$(field acme/dot path) $(field beta/dot path)" '.agents/skills/dot .agents/skills/beta-dot'
whole 'two packages that were in one folder'

git reset -q --hard && again
mapm update -q && save 'main: end needs far' && again
agent "$s/agents/boss" 'scope: acme' 'dependencies:' '  skills:' '    - https://github.com/beta/tools/tree/main/skills/far'
make_repo acme/catalog "$s"
git checkout -q ours && mapm remove -q end && save 'ours: no end'
git checkout -q theirs && mapm install -q "${U%skills}agents/boss" && save 'theirs: boss'
merged
joined 'a needed package that the other side removed' 'acme/boss needs skill beta/far, which is not in this file'
exits '[D13] install resolves a need that the other side removed' 0 mapm install
ok 'the needed package is installed again' test -f .agents/skills/far/SKILL.md -a ! -e .agents/skills/end
whole 'a need that the other side had removed'

# --- a lock that lies ---------------------------------------------------------------------------

cp "$T/split.lock" mapm.lock
git checkout -q main -- mapm.yaml
sed -i "/^>>>>>>> /,\$b; s/^    tree: .*/    tree: $(printf '%040d' 7)/" mapm.lock
snapshot . >"$T/before"
exits '[D13, F1] install --theirs refuses an entry that its commit does not prove' 1 mapm install --theirs
like 'the error names the entry that does not fit its commit' "$err" 'is not what its commit holds|has another digest|does not'
is 'the refused install leaves the workspace unchanged' "$(snapshot .)" "$(cat "$T/before")"
cp "$T/split.lock" mapm.lock
sed -i 's/^=======$/=======\n=======/' mapm.lock
exits 'install fails with conflict markers out of place' 1 mapm install
like 'the error names the line of the markers out of place' "$err" 'mapm\.lock:[0-9]*: a merge conflict with markers out of place'
printf '%s\n' '<<<<<<< a' 'clients: []' '=======' 'clients: [claude]' '>>>>>>> b' >>mapm.yaml
exits '[D13] install fails with a conflict in mapm.yaml, which is the user'"'"'s' 1 mapm install
like 'the error names the conflict in mapm.yaml before the lock' "$err" 'mapm\.yaml:[0-9]*: a merge conflict'
done_testing

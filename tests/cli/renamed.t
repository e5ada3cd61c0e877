#!/bin/sh
# A repository that its host knows by another name now: [M32, D2, row 13].
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/terminal.sh"
s=$T/src
O=https://github.com/old/kit/tree/main
N=https://github.com/new/kit/tree/main
secret=s3cr3t-0123456789

skill "$s/skills/base"
skill "$s/skills/solo"
agent "$s/agents/boss" 'dependencies:' '  skills:' "    - $N/skills/base" "    - $O/skills/solo"
make_repo new/kit "$s"
start_githost --moved old/kit=new/kit --token "$secret" --private new/kit
export GH_TOKEN=$secret MAPM_GITHUB_HOSTS=127.0.0.1

exits 'a catalog that moved, and names itself both ways' 0 mapm install --yes "$O/agents/boss"
like 'the user is told' "$err" 'old/kit has moved to new/kit'
unlike 'of a lock that is new' "$err" 'mapm.lock has'
is 'once' "$(printf '%s\n' "$err" | grep -c 'has moved')" 1
is 'the host redirects once' "$(request_log | grep -c '^301')" 1
is 'and is asked for refs once' "$(request_log | grep -c '^200 ls-refs')" 1
ok 'what it names by the new name is there' test -f .agents/skills/base/SKILL.md
ok 'and by the old one' test -f .agents/skills/solo/SKILL.md
unlike 'no secret is shown' "$out$err$(cat mapm.lock)" "$secret"
is 'all are of one commit' "$(sed -n 's/^    commit: //p' mapm.lock | sort -u | wc -l | tr -d ' ')" 1
rm -rf .agents .claude
exits 'the lock is installed' 0 mapm install --locked
exits 'nothing is outdated' 0 mapm outdated
rm -rf .agents .claude "$MAPM_HOME"
exits 'also on another machine' 0 mapm install --locked --yes
is 'with all of it' "$(ls .agents/skills | tr '\n' ' ')" 'base solo '

echo 'More.' >>"$s/skills/base/SKILL.md"
sed -i 's/^version: .*/version: 1.1.0/' "$s/skills/base/SKILL.md"
make_repo new/kit "$s"
exits 'what changed' 3 mapm outdated
exits 'is updated' 0 mapm update --yes
is 'in the one that changed' "$(grep -c 'version: 1.1.0' mapm.lock)" 1
exits 'and done' 0 mapm outdated

# --- one name ---------------------------------------------------------------------

origins()
{
    grep -c "$1: .*github.com/$2/" mapm.lock
}
# As it is with the lock of another machine.
elsewhere()
{
    rm -rf .agents .claude "$MAPM_HOME"
}
is '[D2] the lock has the name of now' "$(origins '^    origin' new)" 3
is 'and the former one of what is asked for by it' "$(origins formerly old)" 2
is 'mapm.yaml stays' "$(cat mapm.yaml)" "$(printf 'dependencies:\n  agents:\n    - %s' "$O/agents/boss")"
cp mapm.lock "$T/settled"
for words in 'install' 'install --locked' 'update' 'update solo' 'verify' 'verify --remote' 'outdated'; do
    exits "[D2] $words" 0 mapm $words
    ok 'changes nothing' cmp mapm.lock "$T/settled"
done
like 'it is found by its former name' "$(mapm why "$O/skills/solo")" 'agent boss -> skill solo'

# --- mapm.yaml gets the name of now --------------------------------------------------

printf '# ours\ndependencies:\n  agents: # one\n    - "%s" # kept\n' "$O/agents/boss" >mapm.yaml
cp mapm.yaml "$T/yaml" && cp mapm.lock "$T/locked"
exits '[D2] without a terminal' 0 mapm update
like 'the option is named' "$err" 'mapm update --rewrite-origins'
mapm update --json --dry-run >"$T/json" 2>"$T/said"
like '--json has it' "$(tr -d ' \n' <"$T/json")" '{"from":"github.com/old/kit","to":"new/kit","origins":1}'
exits 'nor with --yes' 0 mapm update --yes
on_terminal n "$MAPM" update
like 'a person is asked' "$out" 'which is new/kit now: write that instead'
ok 'after a no it stays' cmp mapm.yaml "$T/yaml"
CI=1 on_terminal y "$MAPM" update
unlike 'not with CI' "$out" 'write that instead'
ok 'where it stays' cmp mapm.yaml "$T/yaml"
ok 'as the lock does' cmp mapm.lock "$T/locked"
on_terminal y "$MAPM" update
is '[D2] after a yes' "$status" 0
is 'it has the new name, and all else' "$(cat mapm.yaml)" "$(sed "s#\".*\"#$N/agents/boss#" "$T/yaml")"
is 'the lock has no former one of it' "$(origins '^    formerly' old)" 1
exits 'which is what --locked takes' 0 mapm install --locked
cp "$T/yaml" mapm.yaml && cp "$T/locked" mapm.lock
exits '[D2] with the option' 0 mapm update --rewrite-origins --yes
is 'nobody is asked' "$(grep -c "$N/agents/boss # kept" mapm.yaml)" 1

# Killed at each call: both files are the old ones, or both are the new ones.
: "${MAPM_BUILD:=$ROOT/build}"
[ -f "$MAPM_BUILD/calls.so" ] || broken 'no calls.so'
cp mapm.yaml "$T/yaml.new" && cp mapm.lock "$T/locked.new"
at=0 old=0 new=0 odd=0 was=137
while [ $was -eq 137 ] && [ $at -lt 300 ]; do
    at=$((at + 1))
    cp "$T/yaml" mapm.yaml && cp "$T/locked" mapm.lock
    rm -f "$T/calls" "$T/calls.counts"
    env LD_PRELOAD="$MAPM_BUILD/calls.so" CALLS_BELOW="$PWD" CALLS_LOG="$T/calls" CALLS_FAIL="cwmns:$at:kill" \
        "$MAPM" update -q --rewrite-origins --yes >/dev/null 2>&1
    was=$?
    run mapm install --locked # finishes or undoes it
    if [ "$status" -ne 0 ]; then
        show_run
    elif cmp -s mapm.yaml "$T/yaml" && cmp -s mapm.lock "$T/locked"; then
        old=$((old + 1)) && continue
    elif cmp -s mapm.yaml "$T/yaml.new" && cmp -s mapm.lock "$T/locked.new"; then
        new=$((new + 1)) && continue
    fi
    odd=$((odd + 1)) && diag "at $at: $was, $status"
done
is '[D2, F2] killed at each call it leaves a pair that --locked takes' "$odd" 0
ok '[D2, F2] both pairs are met' test "$old" -gt 5 -a "$new" -gt 1 -a "$was" -eq 0
diag "$at calls: $old old, $new new"

# All manifests get it, also of members that this update does not provision.
mkdir -p "$T/many/app" && cp "$T/yaml" "$T/many/app/mapm.yaml"
{ echo 'members: [app]' && cat "$T/yaml"; } >"$T/many/mapm.yaml"
exits '[D2, D10] in a workspace with members' 0 mapm -C "$T/many" install --yes
exits 'from the root alone' 0 mapm -C "$T/many" update --member . --rewrite-origins --yes
is 'all have the name of now' "$(cat "$T/many/mapm.yaml" "$T/many/app/mapm.yaml" | grep -c "$N/agents/boss # kept")" 2
exits 'and --locked takes them' 0 mapm -C "$T/many" install --locked
rm -rf "$T/many"
cp "$T/yaml" mapm.yaml && sed -i 's/"//g' mapm.yaml && cp "$T/locked" mapm.lock

# --- locked before it moved -----------------------------------------------------

sed '/^    formerly/d; s#github.com/new/#github.com/old/#; s/^version: 2/version: 1/' "$T/settled" >"$T/before"
sed -i "s#$N#$O#" "$s/agents/boss/AGENTS.md"
make_repo new/kit "$s" && mapm update -q boss && cp mapm.lock "$T/settled"
sed '/^    formerly/d; s#github.com/new/#github.com/old/#; s/^version: 2/version: 1/' "$T/settled" >"$T/before"
cp "$T/before" mapm.lock
elsewhere
exits '[D2] a lock from before' 0 mapm install --locked
exits 'a plain install' 0 mapm install
ok 'leaves its names' cmp mapm.lock "$T/before"
exits 'an update that only looks' 0 mapm update --dry-run
like '[D4] names what it would write' "$err" '^mapm.lock would have 3 packages by the new name of their repository'
exits 'an update' 0 mapm update
like '[D4] names what it wrote' "$err" '^mapm.lock has 3 packages by the new name of their repository, and the former one as formerly'
ok '[D2] takes the one of now for all of it' cmp mapm.lock "$T/settled"
exits 'another one' 0 mapm update
unlike '[D4] has nothing to name' "$err" 'new name of'
cp "$T/before" mapm.lock
elsewhere
echo 'More.' >>"$s/skills/solo/SKILL.md"
make_repo new/kit "$s"
exits 'so where one changed' 0 mapm update
is 'for all' "$(origins '^    origin' new) $(origins '^    origin' old)" '3 0'
cp mapm.lock "$T/newer"

# Two clones, of which one has updated before.
{
    echo 'version: 2' && echo '<<<<<<< HEAD' && sed 1d "$T/before" && echo ======= &&
        sed 1d "$T/newer" && echo '>>>>>>> theirs'
} >mapm.lock
exits '[D2, D13] the former name and the one of now merge' 0 mapm install
ok 'to the later' cmp mapm.lock "$T/newer"

# --- requests ------------------------------------------------------------------------

# asked WHAT WANT: what was sent since reset_log, in any order.
asked()
{
    is "$1" "$(request_log | cut -d' ' -f1-3 | sort | uniq -c | tr -s ' \n' ' ')" "$2"
}
cp "$T/newer" mapm.lock
elsewhere && reset_log
exits '[D2] what is settled, on another machine' 0 mapm install --locked
asked '[D2, F1] is asked for by the name of now, beside one redirect' ' 2 200 fetch new/kit 1 301 ls-refs old/kit '
reset_log
exits 'then' 0 mapm install --locked
is 'nothing is asked' "$(requests)" 0

# A whole catalog, which needs all trees of the commit.
cp -r "$T/repos/new/kit.git" "$T/repos/old-kit.git"
mkdir -p "$T/repos/past" "$T/catalog" && mv "$T/repos/old-kit.git" "$T/repos/past/kit.git"
cd "$T/catalog" || exit 1
exits 'a catalog' 0 mapm install --yes --all past/kit
rm -rf "$T/repos/past"
start_githost --moved old/kit=new/kit --moved past/kit=new/kit --token "$secret" --private new/kit
exits 'that moves' 0 mapm update
is 'is locked by the name of now' "$(grep -c 'origin: .*github.com/new/' mapm.lock)" 3
reset_log
exits '[D2] then outdated' 0 mapm outdated
asked '[D2] needs no trees again' ' 1 200 ls-refs new/kit 1 301 ls-refs past/kit '
cd "$T/ws" || exit 1
start_githost --moved old/kit=new/kit --token "$secret" --private new/kit

mkdir "$T/both" && cd "$T/both" || exit 1
printf '%s\n' dependencies: '  skills:' "    - $O/skills/base" "    - $N/skills/solo" >mapm.yaml
elsewhere && reset_log
exits '[D2] both names at once' 0 mapm install --yes
asked '[D2] fetch the repository once' ' 2 200 fetch new/kit 1 200 ls-refs new/kit 1 301 ls-refs old/kit '
is 'it has one name' "$(origins '^    origin' new) $(origins '^    origin' old)" '2 0'
cp mapm.lock "$T/one"
# As it was locked before the repository moved, and the second one after that.
sed "/formerly/d; s#$N/skills/base#$O/skills/base#; s/^version: 2/version: 1/" "$T/one" >mapm.lock
cp mapm.lock "$T/two"
for words in 'env -u CI "$0" install --locked' 'env CI=1 "$0" install'; do
    elsewhere
    exits "[D2] a lock with both names: $words" 0 sh -c "$words" "$MAPM"
    ok 'stays as it is' cmp mapm.lock "$T/two"
done
elsewhere
exits '[D2] a plain install' 0 mapm install
ok '[D2] settles on the name of now' cmp mapm.lock "$T/one"
exits 'which stays' 0 mapm install --locked
like 'proved' "$err" 'nothing to do'
exits 'and is verified' 0 mapm verify
elsewhere
exits 'also elsewhere' 0 mapm install --locked

# It moves once more.
cp -r "$T/repos/new" "$T/repos/newer"
start_githost --moved old/kit=newer/kit --moved new/kit=newer/kit --token "$secret" --private newer/kit
elsewhere
exits '[D2] both names lead to a third one' 0 mapm install --locked
ok 'which changes nothing' cmp mapm.lock "$T/one"
start_githost --moved old/kit=newer/kit --token "$secret" --private newer/kit --private new/kit
elsewhere
exits '[D2, row 14] one of them alone' 1 mapm install --locked
start_githost --moved old/kit=new/kit --token "$secret" --private new/kit
rm -rf "$T/repos/newer"
cd "$T/ws" || exit 1

# --- what a lock says of names is no proof -----------------------------------------

cp -r "$T/repos/new/kit.git" "$T/repos/new/evil.git"
forged()
{
    sed "s#origin: $N/skills/solo#origin: https://github.com/new/evil/tree/main/skills/solo#" "$T/newer" >mapm.lock
    exits "[D2, row 14] $1: another name" 1 mapm install --locked
    like 'is refused' "$err" 'skill solo is not locked as it is'
    isnt 'verify says so' "$(mapm verify 2>&1)" '3 packages verified'
    sed "s#$O/skills/solo\]#$O/skills/other]#" "$T/newer" >mapm.lock
    exits "$1: a former name of another path" 1 mapm install --locked
    like 'is damage' "$err" 'not another name of the repository'
}
forged 'on this machine'
elsewhere
forged 'on another'
exits 'what is forged does not last' 0 sh -c 'cp "$0" mapm.lock && "$MAPM" install --locked' "$T/newer"
echo 'policy: {sources: [github.com/old/*]}' >>mapm.yaml
exits '[D9] another owner' 4 mapm install
like 'is one that policy.sources has to allow' "$err" 'does not allow new/kit'
sed -i '/^policy/d' mapm.yaml

# --- someone else takes the name ------------------------------------------------------

cp -r "$T/repos/new" "$T/repos/old"
start_githost --token "$secret" --private new/kit
exits '[D2, row 14] a name that leads elsewhere' 3 mapm update
like 'is not followed' "$err" 'old/kit does not lead to new/kit any more'
ok 'and nothing changes' cmp mapm.lock "$T/newer"
# A mirror that does not redirect looks the same: what is locked is proved by its
# commit, which has to hold it by both names.
elsewhere
exits '[D2, F1] what is locked is, by both names' 0 mapm install --locked
ok 'as it was' cmp mapm.lock "$T/newer"
exits 'and stays so' 0 mapm install --locked
like 'without the network' "$err" 'nothing to do'
exits 'which verify finds' 0 mapm verify
exits 'an update still says' 3 mapm update
like 'that it leads elsewhere' "$err" 'old/kit does not lead to new/kit any more'
exits 'by name it is' 0 mapm update boss base solo
is 'the repository of that name' "$(origins '^    origin' old)" 3
exits 'from then on' 0 mapm update

cp "$T/newer" mapm.lock
elsewhere
rm -rf "$T/repos/old/kit.git"
skill "$T/other/skills/base" && agent "$T/other/agents/boss"
make_repo old/kit "$T/other"
for words in 'install --locked' install; do
    exits "[D2, row 14] $words: a name that lacks the commit" 4 mapm $words
    like 'it says what to do' "$err" 'run mapm update boss'
done
done_testing

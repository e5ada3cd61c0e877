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

exits 'install from a repository that moved succeeds' 0 mapm install --yes "$O/agents/boss"
like 'install warns that the repository has moved' "$err" 'old/kit has moved to new/kit'
unlike 'install of a new lock does not mention entries of the lock' "$err" 'mapm.lock has'
is 'the warning of the move is printed once' "$(printf '%s\n' "$err" | grep -c 'has moved')" 1
is 'the host redirects one request' "$(request_log | grep -c '^301')" 1
is 'the host answers one request for refs' "$(request_log | grep -c '^200 ls-refs')" 1
ok 'the dependency under the new name is installed' test -f .agents/skills/base/SKILL.md
ok 'the dependency under the old name is installed' test -f .agents/skills/solo/SKILL.md
unlike 'output and lock show no secret' "$out$err$(cat mapm.lock)" "$secret"
is 'all packages are of one commit' "$(sed -n 's/^    commit: //p' mapm.lock | sort -u | wc -l | tr -d ' ')" 1
rm -rf .agents .claude
exits 'install --locked with a moved repository succeeds' 0 mapm install --locked
exits 'outdated with a moved repository finds no update' 0 mapm outdated
rm -rf .agents .claude "$MAPM_HOME"
exits 'install --locked of a moved repository on another machine succeeds' 0 mapm install --locked --yes
is 'install --locked on another machine installs all skills' "$(ls .agents/skills | tr '\n' ' ')" 'base solo '

echo 'More.' >>"$s/skills/base/SKILL.md"
sed -i 's/^version: .*/version: 1.1.0/' "$s/skills/base/SKILL.md"
make_repo new/kit "$s"
exits 'outdated with a change in the moved repository ends with exit code 3' 3 mapm outdated
exits 'update from a moved repository succeeds' 0 mapm update --yes
is 'update takes the new version of the changed package only' "$(grep -c 'version: 1.1.0' mapm.lock)" 1
exits 'outdated after the update finds no update' 0 mapm outdated

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
is '[D2] the lock has the new name at all packages' "$(origins '^    origin' new)" 3
is 'the lock has the former name where an origin uses it' "$(origins formerly old)" 2
is 'mapm.yaml keeps the old name' "$(cat mapm.yaml)" "$(printf 'dependencies:\n  agents:\n    - %s' "$O/agents/boss")"
cp mapm.lock "$T/settled"
for words in 'install' 'install --locked' 'update' 'update solo' 'verify' 'verify --remote' 'outdated'; do
    exits "[D2] $words with a settled lock succeeds" 0 mapm $words
    ok 'the command leaves the settled lock unchanged' cmp mapm.lock "$T/settled"
done
like 'why accepts the former name of a package' "$(mapm why "$O/skills/solo")" 'agent boss -> skill solo'

# --- mapm.yaml gets the name of now --------------------------------------------------

printf '# ours\ndependencies:\n  agents: # one\n    - "%s" # kept\n' "$O/agents/boss" >mapm.yaml
cp mapm.yaml "$T/yaml" && cp mapm.lock "$T/locked"
exits '[D2] update without a terminal succeeds with an old name in mapm.yaml' 0 mapm update
like 'update without a terminal suggests --rewrite-origins' "$err" 'mapm update --rewrite-origins'
mapm update --json --dry-run >"$T/json" 2>"$T/said"
like 'update --json has the old and the new name' "$(tr -d ' \n' <"$T/json")" '{"from":"github.com/old/kit","to":"new/kit","origins":1}'
exits 'update --yes succeeds with an old name in mapm.yaml' 0 mapm update --yes
on_terminal n "$MAPM" update
like 'update on a terminal asks to write the new name' "$out" 'which is new/kit now: write that instead'
ok 'a no to the question leaves mapm.yaml unchanged' cmp mapm.yaml "$T/yaml"
CI=1 on_terminal y "$MAPM" update
unlike 'update with CI set asks no question on a terminal' "$out" 'write that instead'
ok 'update with CI set leaves mapm.yaml unchanged' cmp mapm.yaml "$T/yaml"
ok 'update with CI set leaves the lock unchanged' cmp mapm.lock "$T/locked"
on_terminal y "$MAPM" update
is '[D2] update succeeds after a yes to the new name' "$status" 0
is 'a yes writes the new name into mapm.yaml and nothing else' "$(cat mapm.yaml)" "$(sed "s#\".*\"#$N/agents/boss#" "$T/yaml")"
is 'the lock has a former name for the other origin only' "$(origins '^    formerly' old)" 1
exits 'install --locked succeeds after the rewrite' 0 mapm install --locked
cp "$T/yaml" mapm.yaml && cp "$T/locked" mapm.lock
exits '[D2] update --rewrite-origins succeeds' 0 mapm update --rewrite-origins --yes
is 'update --rewrite-origins writes the new name without a question' "$(grep -c "$N/agents/boss # kept" mapm.yaml)" 1

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
is '[D2, F2] an update killed at any call leaves files that --locked accepts' "$odd" 0
ok '[D2, F2] kills leave both the old and the new pair of files' test "$old" -gt 5 -a "$new" -gt 1 -a "$was" -eq 0
diag "$at calls: $old old, $new new"

# All manifests get it, also of members that this update does not provision.
mkdir -p "$T/many/app" && cp "$T/yaml" "$T/many/app/mapm.yaml"
{ echo 'members: [app]' && cat "$T/yaml"; } >"$T/many/mapm.yaml"
exits '[D2, D10] install in a workspace with members succeeds' 0 mapm -C "$T/many" install --yes
exits 'update --rewrite-origins from the root member succeeds' 0 mapm -C "$T/many" update --member . --rewrite-origins --yes
is 'the manifests of root and member have the new name' "$(cat "$T/many/mapm.yaml" "$T/many/app/mapm.yaml" | grep -c "$N/agents/boss # kept")" 2
exits 'install --locked after the rewrite of both manifests succeeds' 0 mapm -C "$T/many" install --locked
rm -rf "$T/many"
cp "$T/yaml" mapm.yaml && sed -i 's/"//g' mapm.yaml && cp "$T/locked" mapm.lock

# --- locked before it moved -----------------------------------------------------

sed '/^    formerly/d; s#github.com/new/#github.com/old/#; s/^version: 2/version: 1/' "$T/settled" >"$T/before"
sed -i "s#$N#$O#" "$s/agents/boss/AGENTS.md"
make_repo new/kit "$s" && mapm update -q boss && cp mapm.lock "$T/settled"
sed '/^    formerly/d; s#github.com/new/#github.com/old/#; s/^version: 2/version: 1/' "$T/settled" >"$T/before"
cp "$T/before" mapm.lock
elsewhere
exits '[D2] install --locked with a lock from before the move succeeds' 0 mapm install --locked
exits 'install with a lock from before the move succeeds' 0 mapm install
ok 'install leaves the old names in the lock' cmp mapm.lock "$T/before"
exits 'update --dry-run with a lock from before the move succeeds' 0 mapm update --dry-run
like '[D4] update --dry-run reports the packages that would get the new name' "$err" '^mapm.lock would have 3 packages by the new name of their repository'
exits 'update with a lock from before the move succeeds' 0 mapm update
like '[D4] update reports the packages that got the new name' "$err" '^mapm.lock has 3 packages by the new name of their repository, and the former one as formerly'
ok '[D2] update writes the new name for all packages into the lock' cmp mapm.lock "$T/settled"
exits 'a second update after the move succeeds' 0 mapm update
unlike '[D4] a second update reports no new name' "$err" 'new name of'
cp "$T/before" mapm.lock
elsewhere
echo 'More.' >>"$s/skills/solo/SKILL.md"
make_repo new/kit "$s"
exits 'update of a changed package with an old lock succeeds' 0 mapm update
is 'update of a changed package writes the new name for all' "$(origins '^    origin' new) $(origins '^    origin' old)" '3 0'
cp mapm.lock "$T/newer"

# Two clones, of which one has updated before.
{
    echo 'version: 2' && echo '<<<<<<< HEAD' && sed 1d "$T/before" && echo ======= &&
        sed 1d "$T/newer" && echo '>>>>>>> theirs'
} >mapm.lock
exits '[D2, D13] install resolves a lock conflict of the former and the new name' 0 mapm install
ok 'install resolves the conflict to the later lock' cmp mapm.lock "$T/newer"

# --- requests ------------------------------------------------------------------------

# asked WHAT WANT: what was sent since reset_log, in any order.
asked()
{
    is "$1" "$(request_log | cut -d' ' -f1-3 | sort | uniq -c | tr -s ' \n' ' ')" "$2"
}
cp "$T/newer" mapm.lock
elsewhere && reset_log
exits '[D2] install --locked of a settled lock on another machine succeeds' 0 mapm install --locked
asked '[D2, F1] requests use the new name beside one redirect' ' 2 200 fetch new/kit 1 301 ls-refs old/kit '
reset_log
exits 'a second install --locked of a settled lock succeeds' 0 mapm install --locked
is 'a second install --locked sends no request' "$(requests)" 0

# A whole catalog, which needs all trees of the commit.
cp -r "$T/repos/new/kit.git" "$T/repos/old-kit.git"
mkdir -p "$T/repos/past" "$T/catalog" && mv "$T/repos/old-kit.git" "$T/repos/past/kit.git"
cd "$T/catalog" || exit 1
exits 'install --all of a catalog before its move succeeds' 0 mapm install --yes --all past/kit
rm -rf "$T/repos/past"
start_githost --moved old/kit=new/kit --moved past/kit=new/kit --token "$secret" --private new/kit
exits 'update of a catalog after its move succeeds' 0 mapm update
is 'update locks the catalog by its new name' "$(grep -c 'origin: .*github.com/new/' mapm.lock)" 3
reset_log
exits '[D2] outdated with a moved catalog succeeds' 0 mapm outdated
asked '[D2] outdated fetches no trees of the moved catalog again' ' 1 200 ls-refs new/kit 1 301 ls-refs past/kit '
cd "$T/ws" || exit 1
start_githost --moved old/kit=new/kit --token "$secret" --private new/kit

mkdir "$T/both" && cd "$T/both" || exit 1
printf '%s\n' dependencies: '  skills:' "    - $O/skills/base" "    - $N/skills/solo" >mapm.yaml
elsewhere && reset_log
exits '[D2] install with the old and the new name at once succeeds' 0 mapm install --yes
asked '[D2] install with both names fetches the repository once' ' 2 200 fetch new/kit 1 200 ls-refs new/kit 1 301 ls-refs old/kit '
is 'the lock has the new name for both origins' "$(origins '^    origin' new) $(origins '^    origin' old)" '2 0'
cp mapm.lock "$T/one"
# As it was locked before the repository moved, and the second one after that.
sed "/formerly/d; s#$N/skills/base#$O/skills/base#; s/^version: 2/version: 1/" "$T/one" >mapm.lock
cp mapm.lock "$T/two"
for words in 'env -u CI "$0" install --locked' 'env CI=1 "$0" install'; do
    elsewhere
    exits "[D2] a lock with both names is accepted by: $words" 0 sh -c "$words" "$MAPM"
    ok 'the lock with both names is unchanged' cmp mapm.lock "$T/two"
done
elsewhere
exits '[D2] install with a lock of both names succeeds' 0 mapm install
ok '[D2] install writes the new name for both into the lock' cmp mapm.lock "$T/one"
exits 'install --locked succeeds with one name in the lock' 0 mapm install --locked
like 'install --locked has nothing to do with one name in the lock' "$err" 'nothing to do'
exits 'verify succeeds with one name in the lock' 0 mapm verify
elsewhere
exits 'install --locked with one name on another machine succeeds' 0 mapm install --locked

# It moves once more.
cp -r "$T/repos/new" "$T/repos/newer"
start_githost --moved old/kit=newer/kit --moved new/kit=newer/kit --token "$secret" --private newer/kit
elsewhere
exits '[D2] install --locked succeeds after a second move of both names' 0 mapm install --locked
ok 'install --locked leaves the lock unchanged after a second move' cmp mapm.lock "$T/one"
start_githost --moved old/kit=newer/kit --token "$secret" --private newer/kit --private new/kit
elsewhere
exits '[D2, row 14] install --locked fails when one of both names moved elsewhere' 1 mapm install --locked
start_githost --moved old/kit=new/kit --token "$secret" --private new/kit
rm -rf "$T/repos/newer"
cd "$T/ws" || exit 1

# --- what a lock says of names is no proof -----------------------------------------

cp -r "$T/repos/new/kit.git" "$T/repos/new/evil.git"
forged()
{
    sed "s#origin: $N/skills/solo#origin: https://github.com/new/evil/tree/main/skills/solo#" "$T/newer" >mapm.lock
    exits "[D2, row 14] $1: install --locked refuses a forged name" 1 mapm install --locked
    like 'the error says that the skill is not locked as it is' "$err" 'skill solo is not locked as it is'
    isnt 'verify reports the forged name' "$(mapm verify 2>&1)" '3 packages verified'
    sed "s#$O/skills/solo\]#$O/skills/other]#" "$T/newer" >mapm.lock
    exits "$1: install --locked refuses a former name of another path" 1 mapm install --locked
    like 'the error says that it is not another name of the repository' "$err" 'not another name of the repository'
}
forged 'on this machine'
elsewhere
forged 'on another machine'
exits 'install --locked succeeds after the forged lock is replaced' 0 sh -c 'cp "$0" mapm.lock && "$MAPM" install --locked' "$T/newer"
echo 'policy: {sources: [github.com/old/*]}' >>mapm.yaml
exits '[D9] policy.sources refuses a repository that moved to another owner' 4 mapm install
like 'the error says that the policy does not allow the new name' "$err" 'does not allow new/kit'
sed -i '/^policy/d' mapm.yaml

# --- someone else takes the name ------------------------------------------------------

cp -r "$T/repos/new" "$T/repos/old"
start_githost --token "$secret" --private new/kit
exits '[D2, row 14] update fails when the old name leads to another repository' 3 mapm update
like 'the error says that the old name leads elsewhere' "$err" 'old/kit does not lead to new/kit any more'
ok 'update leaves the lock unchanged when the old name leads elsewhere' cmp mapm.lock "$T/newer"
# A mirror that does not redirect looks the same: what is locked is proved by its
# commit, which has to hold it by both names.
elsewhere
exits '[D2, F1] install --locked succeeds though the old name leads elsewhere' 0 mapm install --locked
ok 'install --locked leaves the lock unchanged' cmp mapm.lock "$T/newer"
exits 'a second install --locked succeeds' 0 mapm install --locked
like 'a second install --locked has nothing to do' "$err" 'nothing to do'
exits 'verify succeeds though the old name leads elsewhere' 0 mapm verify
exits 'a second update fails when the old name leads elsewhere' 3 mapm update
like 'the second error says that the old name leads elsewhere' "$err" 'old/kit does not lead to new/kit any more'
exits 'update of the packages by name succeeds' 0 mapm update boss base solo
is 'update by name takes the repository that has the old name' "$(origins '^    origin' old)" 3
exits 'a later update succeeds' 0 mapm update

cp "$T/newer" mapm.lock
elsewhere
rm -rf "$T/repos/old/kit.git"
skill "$T/other/skills/base" && agent "$T/other/agents/boss"
make_repo old/kit "$T/other"
for words in 'install --locked' install; do
    exits "[D2, row 14] $words fails when the old name lacks the commit" 4 mapm $words
    like 'the error suggests mapm update of the root' "$err" 'run mapm update boss'
done
done_testing

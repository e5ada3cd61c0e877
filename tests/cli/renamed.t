#!/bin/sh
# A repository that its host knows by another name now: [M32, row 13].
. "$(dirname "$0")/../lib/cli.sh"
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
done_testing

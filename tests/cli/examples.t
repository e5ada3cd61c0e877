#!/bin/sh
# The example catalog, judged and installed as quickstart does it: the main job
# on packages that a person wrote. [M1, M12, M20, M21, M29, M30, K1, K3, X8].
. "$(dirname "$0")/../lib/cli.sh"
catalog=$ROOT/examples/catalog
url=https://github.com/mapm-examples/catalog/tree/main

exits 'the catalog may be published as it is' 0 \
    mapm check --profile publish "$catalog"
for name in require-heading require-checklist test-fix review-diff; do
    exits "$name is a metaskill" 0 mapm check --profile metaskill "$catalog/skills/$name"
    exits "$name is an Agent Skill" 0 mapm check --profile agentskills "$catalog/skills/$name"
done
like 'check knows a metaskill' \
    "$(mapm check --json "$catalog/skills/test-fix")" '"metaskill": *true'
like 'and a static skill' \
    "$(mapm check --json "$catalog/skills/git-pr")" '"metaskill": *false'

make_repo mapm-examples/catalog "$catalog"
repo mapm-examples/catalog tag v1 main
start_githost

exits 'MCP servers need consent' 4 mapm install "$url/agents/code-reviewer"
is 'and nothing was written' "$(ls -A)" ''

reset_log
exits 'the agent installs' 0 mapm install --yes "$url/agents/code-reviewer"
at_most 'in few requests' "$(requests)" 4
ok 'the agent is there' diff -r "$catalog/agents/code-reviewer" .agents/agents/code-reviewer
is 'with every skill it needs, and no other' \
    "$(ls .agents/skills | tr '\n' ' ')" \
    'changelog-entry commit-message find-bugs git-pr review-diff semver-bump test-fix '
for name in $(ls .agents/skills); do
    ok "$name is there byte for byte" diff -r "$catalog/skills/$name" ".agents/skills/$name"
    ok "$name is where Claude Code looks" \
        diff -r "$catalog/skills/$name" ".claude/skills/$name/."
done
like 'a server has the path of the workspace' "$(cat .mcp.json)" \
    "\"$T/ws/.playwright/profile\""
like 'another one the path all projects share' "$(cat .mcp.json)" \
    "\"$MAPM_HOME/shared/memory/reviews.jsonl\""
unlike 'no placeholder is left' "$(cat .mcp.json)" '\$\{'
like 'mapm.yaml names the root' "$(cat mapm.yaml)" "$url/agents/code-reviewer"
unlike 'and nothing else' "$(cat mapm.yaml)" 'semver-bump'
like 'why leads to the root' "$(mapm why semver-bump)" 'code-reviewer'
exits 'it verifies' 0 mapm verify

reset_log
exits 'once more is nothing to do' 0 mapm install
is 'and no request' "$(requests)" 0

mkdir ../colleague
cp mapm.yaml mapm.lock ../colleague/
export MAPM_HOME="$T/other"
exits 'a colleague gets it from the lock' 0 mapm -C ../colleague install --locked --yes
ok 'the same bytes' diff -r .agents/skills ../colleague/.agents/skills
ok 'the same lock' cmp mapm.lock ../colleague/mapm.lock

exits 'a skill of the other agent joins' 0 \
    mapm install --yes "$url/agents/release-writer" \
    https://github.com/mapm-examples/catalog/tree/v1/skills/page-check
ok 'with what only it needs' test -f .agents/skills/require-heading/SKILL.star
exits 'and goes again' 0 mapm remove release-writer
not_ok 'with what only it needed' test -e .agents/skills/require-heading
ok 'and not with what others need' test -f .agents/skills/semver-bump/SKILL.md
done_testing

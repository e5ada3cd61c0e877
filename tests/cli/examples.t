#!/bin/sh
# The example catalog, judged and installed as quickstart does it: the main job
# on packages that a person wrote. [M1, M12, M20, M21, M29, M30, K1, K3, X8].
. "$(dirname "$0")/../lib/cli.sh"
catalog=$ROOT/examples/catalog
url=https://github.com/mapm-examples/catalog/tree/main

exits 'check --profile publish accepts the example catalog' 0 \
    mapm check --profile publish "$catalog"
for name in require-heading require-checklist test-fix review-diff; do
    exits "check --profile metaskill accepts $name" 0 mapm check --profile metaskill "$catalog/skills/$name"
    exits "check --profile agentskills accepts $name" 0 mapm check --profile agentskills "$catalog/skills/$name"
done
like 'check --json reports test-fix as a metaskill' \
    "$(mapm check --json "$catalog/skills/test-fix")" '"metaskill": *true'
like 'check --json reports git-pr as a static skill' \
    "$(mapm check --json "$catalog/skills/git-pr")" '"metaskill": *false'

make_repo mapm-examples/catalog "$catalog"
repo mapm-examples/catalog tag v1 main
start_githost

exits 'install of an agent with MCP servers exits with 4 without consent' 4 mapm install "$url/agents/code-reviewer"
is 'install without consent writes nothing' "$(ls -A)" ''

reset_log
exits 'install --yes of the agent succeeds' 0 mapm install --yes "$url/agents/code-reviewer"
at_most 'install of the agent takes at most four requests' "$(requests)" 4
ok 'install provisions the agent byte for byte' diff -r "$catalog/agents/code-reviewer" .agents/agents/code-reviewer
is 'install provisions each skill that the agent needs, and no other' \
    "$(ls .agents/skills | tr '\n' ' ')" \
    'changelog-entry commit-message find-bugs git-pr review-diff semver-bump test-fix '
for name in $(ls .agents/skills); do
    ok "install provisions $name byte for byte" diff -r "$catalog/skills/$name" ".agents/skills/$name"
    ok "install provisions $name for Claude Code" \
        diff -r "$catalog/skills/$name" ".claude/skills/$name/."
done
like 'the configuration of a server has the path of the workspace' "$(cat .mcp.json)" \
    "\"$T/ws/.playwright/profile\""
like 'the configuration of a server has the path that all projects share' "$(cat .mcp.json)" \
    "\"$MAPM_HOME/shared/memory/reviews.jsonl\""
unlike '.mcp.json has no placeholder' "$(cat .mcp.json)" '\$\{'
like 'mapm.yaml names the agent as root' "$(cat mapm.yaml)" "$url/agents/code-reviewer"
unlike 'mapm.yaml does not name a dependency' "$(cat mapm.yaml)" 'semver-bump'
like 'why of a dependency leads to the agent' "$(mapm why semver-bump)" 'code-reviewer'
exits 'verify accepts the installed agent' 0 mapm verify

reset_log
exits 'a second install succeeds' 0 mapm install
is 'a second install sends no request' "$(requests)" 0

mkdir ../colleague
cp mapm.yaml mapm.lock ../colleague/
export MAPM_HOME="$T/other"
exits 'install --locked from a copied lock succeeds with an empty store' 0 mapm -C ../colleague install --locked --yes
ok 'install --locked provisions the same bytes' diff -r .agents/skills ../colleague/.agents/skills
ok 'install --locked leaves mapm.lock unchanged' cmp mapm.lock ../colleague/mapm.lock

exits 'install --yes of another agent and a skill succeeds' 0 \
    mapm install --yes "$url/agents/release-writer" \
    https://github.com/mapm-examples/catalog/tree/v1/skills/page-check
ok 'install provisions a skill that the other agent alone needs' test -f .agents/skills/require-heading/SKILL.star
exits 'remove of the other agent succeeds' 0 mapm remove release-writer
not_ok 'remove takes away a skill that the other agent alone needed' test -e .agents/skills/require-heading
ok 'remove keeps a skill that the first agent needs' test -f .agents/skills/semver-bump/SKILL.md
done_testing

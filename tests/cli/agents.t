#!/bin/sh
# [D12] Agents that need agents: order, lock, removal, and what is refused.
. "$(dirname "$0")/../lib/cli.sh"

# agent NAME [LINE...]: the lines stand below "dependencies:".
agent()
{
    file=$T/src/agents/$1/AGENTS.md
    mkdir -p "${file%/*}"
    printf -- '---\nname: %s\nscope: acme\nversion: 1.0.0\ndescription: The agent %s.\n' \
        "$1" "$1" >"$file"
    shift
    [ $# -eq 0 ] || { echo 'dependencies:' && printf '  %s\n' "$@"; } >>"$file"
    printf -- '---\nIt does what is asked.\n' >>"$file"
}
names()
{
    mapm list --json |
        python3 -S -c 'import json, sys; print(*[p["type"] + " " + p["name"] for p in json.load(sys.stdin)["packages"]], sep=", ")'
}

u=https://github.com/acme/catalog/tree/main
skill "$T/src/skills/notes"
agent worker 'skills:' "  - $u/skills/notes"
agent boss 'agents:' "  - $u/agents/worker"
agent ring 'agents:' "  - $u/agents/rung"
agent rung 'agents:' "  - $u/agents/ring"
skill "$T/src/skills/bossy" "dependencies: {agents: [$u/agents/worker]}"
make_repo acme/catalog "$T/src"
start_githost

exits '[D12] an agent is installed' 0 mapm install --yes "$u/agents/boss"
is '[D12] with the agent that it needs, and what that one needs' "$(names)" \
    'agent acme/boss, agent acme/worker, skill notes'
ok '[D12] each in its place' test -f .agents/agents/boss/AGENTS.md -a \
    -f .agents/agents/worker/AGENTS.md -a -f .agents/skills/notes/SKILL.md
like '[D12] the lock names the need' "$(cat mapm.lock)" '^    needs: \[agent acme/worker\]$'
like '[D12] in version 2' "$(head -n 1 mapm.lock)" '^version: 2$'
like '[D12] why names the chain' "$(mapm why worker)" 'boss'
exits '[D12] nothing else to do' 0 mapm install --locked
rm -rf .agents .claude
exits '[D12] from the lock alone' 0 env MAPM_HOME="$T/cold" "$MAPM" install --locked
exits '[D12] and it is verified' 0 mapm verify
exits '[D12] an agent that is needed stays' 1 mapm remove worker
exits '[D12] all of it goes' 0 mapm remove boss
is '[D12] leaving nothing' "$(names)" ''

exits '[D12] a cycle is refused' 1 mapm install --yes "$u/agents/ring"
like '[D12] and named' "$err" 'acme/ring -> acme/rung -> acme/ring'
exits '[D12] a catalog without it' 3 mapm install --yes --all acme/catalog
is '[D12] gives the others' "$(names)" \
    'agent acme/boss, agent acme/worker, skill bossy, skill notes'
unlike '[D12] a skill needs no agents' "$(sed -n '/name: bossy/,$p' mapm.lock | head -n 8)" 'needs'

exits '[D12] check has nothing against it' 0 mapm check "$T/src/agents/boss"
exits '[D12] an extension' 0 mapm check --profile metaagents "$T/src/agents/boss"
like '[D12] for MetaAgents' "$out$err" 'deps-agents'
exits '[D12] of a skill' 0 mapm check "$T/src/skills/bossy"
like '[D12] it is ignored' "$out$err" 'deps-unknown-kind'

done_testing

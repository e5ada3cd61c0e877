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

exits '[D12] install of an agent that needs an agent succeeds' 0 mapm install --yes "$u/agents/boss"
is '[D12] install adds the needed agent and its skill' "$(names)" \
    'agent acme/boss, agent acme/worker, skill notes'
ok '[D12] each package is in its own folder' test -f .agents/agents/boss/AGENTS.md -a \
    -f .agents/agents/worker/AGENTS.md -a -f .agents/skills/notes/SKILL.md
like '[D12] the lock records the needed agent' "$(cat mapm.lock)" '^    needs: \[agent acme/worker\]$'
like '[D12] the lock has version 2' "$(head -n 1 mapm.lock)" '^version: 2$'
like '[D12] why names the agent that needs the other' "$(mapm why worker)" 'boss'
exits '[D12] install --locked accepts the lock' 0 mapm install --locked
rm -rf .agents .claude
exits '[D12] install --locked succeeds on another machine' 0 env MAPM_HOME="$T/cold" "$MAPM" install --locked
exits '[D12] verify succeeds for agents that need agents' 0 mapm verify
exits '[D12] remove fails for an agent that another needs' 1 mapm remove worker
exits '[D12] remove of the root agent succeeds' 0 mapm remove boss
is '[D12] remove of the root agent removes every package' "$(names)" ''

exits '[D12] install fails for a cycle of agents' 1 mapm install --yes "$u/agents/ring"
like '[D12] the error names the cycle of agents' "$err" 'acme/ring -> acme/rung -> acme/ring'
exits '[D12] install --all exits 3 for a catalog with a cycle' 3 mapm install --yes --all acme/catalog
is '[D12] install --all installs the packages outside the cycle' "$(names)" \
    'agent acme/boss, agent acme/worker, skill bossy, skill notes'
unlike '[D12] the lock records no need of agents for a skill' "$(sed -n '/name: bossy/,$p' mapm.lock | head -n 8)" 'needs'

exits '[D12] check succeeds for an agent that needs an agent' 0 mapm check "$T/src/agents/boss"
exits '[D12] check --profile metaagents succeeds for such an agent' 0 mapm check --profile metaagents "$T/src/agents/boss"
like '[D12] check --profile metaagents reports deps-agents' "$out$err" 'deps-agents'
exits '[D12] check succeeds for a skill that lists agents' 0 mapm check "$T/src/skills/bossy"
like '[D12] check reports the agents of a skill as an unknown kind' "$out$err" 'deps-unknown-kind'

done_testing

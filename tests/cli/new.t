#!/bin/sh
# mapm new: packages that may be published once their texts are written. [M1, M2, M3, M4, M5]
# [M6, M7, M16, M17, M18, M29, K1, K3, K8].
. "$(dirname "$0")/../lib/cli.sh"

exits 'new skill succeeds' 0 mapm new skill git-notes
is 'new skill prints the files that it wrote' "$out" 'wrote skills/git-notes/SKILL.md
wrote skills/git-notes/CHANGELOG.md'
like 'new skill prints the next step' "$err" '^next: '
exits 'new metaskill succeeds with a scope' 0 mapm new metaskill mend-it --scope io.example
ok '[K1] new metaskill writes a program' test -f skills/mend-it/SKILL.star
exits 'new agent succeeds with scope and description' 0 mapm new agent helper --scope acme --description 'Helps: "always", it says # never.'
exits 'new mcp succeeds' 0 mapm new mcp io.example/mcp --description 'Serves.'
ok '[M17] new mcp writes a file named after the server' test -f mcps/io.example_mcp.json
today=$(date +%Y-%m-%d)
like '[M29] the changelog has the date of today' "$(cat skills/git-notes/CHANGELOG.md)" "^## 0\.1\.0 \(($today|$(date +%Y-%m-%d))\)$"
is 'new writes no other files' "$(find . -type f | sort)" './agents/helper/AGENTS.md
./agents/helper/CHANGELOG.md
./mcps/io.example_mcp.json
./skills/git-notes/CHANGELOG.md
./skills/git-notes/SKILL.md
./skills/mend-it/CHANGELOG.md
./skills/mend-it/SKILL.md
./skills/mend-it/SKILL.star
./skills/mend-it/tests/accepted.jsonl'
exits '[K39] test of a new metaskill succeeds' 0 mapm test mend-it
like 'test replays the tape of the new metaskill' "$out" '^  ok      tests/accepted.jsonl$'
for profile in install metaagents; do
    exits "check --profile $profile succeeds for new packages" 0 mapm check -v --profile $profile
    like 'check prints no warning for new packages' "$out" '^checked 4: 0 errors, 0 warnings$'
done
exits '[D16] check --profile publish exits 3 for new packages' 3 mapm check -v --profile publish
is '[D16] check --profile publish reports placeholders alone' "$(printf '%s\n' "$out" | grep -v -e '\[placeholder\]$' -e '^checked')" ''
for profile in agentskills metis lm-kit metaskill; do
    exits "check --strict --profile $profile succeeds for new skills" 0 mapm check --strict --profile $profile skills
done
run mapm check --json skills/mend-it agents/helper
like '[K3] check --json marks the new metaskill' "$out" '"metaskill": true'
like 'check --json has the full name with scope' "$out" '"fqn": "io.example/mend-it"'
like 'check --json has the description unchanged' "$out" '"description": "Helps: \\"always\\", it says # never."'
like '[K8] SKILL.md of a new metaskill lists its input keys' "$(cat skills/mend-it/SKILL.md)" '^Input keys:'

before=$(snapshot .)
while IFS='|' read -r what status kind name scope description; do
    set -- "$kind" "$name"
    [ -z "$scope" ] || set -- "$@" --scope "$scope"
    [ -z "$description" ] || set -- "$@" --description "$description"
    exits "new is refused: $what" "$status" mapm new "$@"
    isnt 'a refused new prints the reason' "$err" ''
done <<EOF2
a skill that is there|1|skill|git-notes||
a metaskill in its place|1|metaskill|git-notes||
an agent that is there|1|agent|helper||
an MCP that is there|1|mcp|io.example/mcp||
capitals|1|skill|Notes||
two hyphens|1|agent|a--b||
65 characters|1|skill|$(printf 'a%.0s' $(seq 65))||
a path|1|skill|../x||
a scope in the name|1|skill|acme/x||
an MCP without namespace|1|mcp|mcp||
an MCP that climbs|1|mcp|../mcp||
a bad scope|1|skill|fine|Acme|
a scope for an MCP|2|mcp|io.example/other|acme|
hidden characters|4|skill|fine||a$(printf '\342\200\256')b
1,025 characters|1|skill|fine||$(printf 'd%.0s' $(seq 1025))
another kind|2|widget|x||
EOF2
exits 'new skill fails for an empty scope' 1 mapm new skill fine --scope ''
exits 'new skill fails for an empty description' 1 mapm new skill fine --description ' '
exits 'new skill without a name is a usage error' 2 mapm new skill
is '[M3] a refused new writes nothing' "$(snapshot .)" "$before"

exits 'new skill accepts a name of 64 characters' 0 mapm new skill "$(printf 'a%.0s' $(seq 64))"
exits 'new skill accepts a name that YAML reads as a number' 0 mapm new skill 365
exits 'new skill accepts the name null' 0 mapm new skill null
exits 'new mcp accepts the name of a shell' 0 mapm new mcp io.example/bash
run mapm check --strict --profile publish
is 'check --profile publish reports placeholders alone for these names' \
    "$(printf '%s\n' "$out" | grep -v -e '\[placeholder\]$' -e '^checked')" ''
exits 'new --json succeeds' 0 mapm new --json mcp acme/cli
is 'new --json prints one document' "$out" '{
  "schema": "mapm.new/1",
  "type": "mcp",
  "fqn": "acme/cli",
  "path": "mcps/acme_cli.json",
  "files": [
    "mcps/acme_cli.json"
  ]
}'

mkdir pl && cd pl || exit
run mapm new --help
for kind in skill metaskill agent mcp plugin; do
    like "new --help lists the kind $kind" "$out" "^  $kind NAME  "
done
exits '[G13] new plugin succeeds' 0 mapm new plugin deploy-it
is 'new plugin writes both manifests, mcp.json and a skill' "$(find plugins -type f | LC_ALL=C sort | tr '\n' ' ')" \
    'plugins/deploy-it/.claude-plugin/plugin.json plugins/deploy-it/mcp.json plugins/deploy-it/plugin.json plugins/deploy-it/skills/deploy-it/CHANGELOG.md plugins/deploy-it/skills/deploy-it/SKILL.md '
for profile in install agent-plugin claude-plugin; do
    exits "[G13] check --profile $profile succeeds for the new plugin" 0 mapm check --strict --profile $profile plugins/deploy-it
    like 'check prints no warning for the new plugin' "$out" '^checked [12]: 0 errors, 0 warnings$'
done
exits '[G13] init succeeds beside the new plugin' 0 mapm init
exits 'install of the new plugin succeeds' 0 mapm install ./plugins/deploy-it
like 'list shows the skill of the new plugin' "$(mapm list)" 'deploy-it/deploy-it'
exits 'new plugin fails when the plugin exists' 1 mapm new plugin deploy-it
exits '[G13] new plugin with a scope is a usage error' 2 mapm new plugin --scope acme other
exits '[G13] new plugin fails for a name with a capital letter' 1 mapm new plugin Deploy
exits '[G13] new plugin accepts a description' 0 mapm new plugin --description 'Say "x".' two --json
is 'both manifests have the description' "$(grep -c 'Say \\"x\\"' plugins/two/plugin.json plugins/two/.claude-plugin/plugin.json | tr '\n' ' ')" \
    'plugins/two/plugin.json:1 plugins/two/.claude-plugin/plugin.json:1 '
cd ..

mkdir fresh linked away && ln -s ../away linked/skills
exits '[row 1] new refuses a folder of skills that is a link' 4 mapm -C linked new skill x
is 'new writes nothing behind the link' "$(ls -A away)" ''
exits 'new skill fails for a name with a capital letter' 1 mapm -C fresh new skill X
is 'a refused new creates no folder of skills' "$(ls -A fresh)" ''
if (ulimit -f 0) 2>/dev/null; then
    (trap '' XFSZ; cd fresh && ulimit -f 0 && "$MAPM" new metaskill x) >"$T/out" 2>"$T/err"
    is '[row 27] new metaskill fails when the disk is full' $? 1
    is 'new metaskill leaves no files when the disk is full' "$(ls -A fresh)" ''
else
    skip 'a disk that is full' 'ulimit -f is missing'
fi
done_testing

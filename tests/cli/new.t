#!/bin/sh
# mapm new: packages that may be published once their texts are written. [M1, M2, M3, M4, M5]
# [M6, M7, M16, M17, M18, M29, K1, K3, K8].
. "$(dirname "$0")/../lib/cli.sh"

exits 'a skill' 0 mapm new skill git-notes
is 'its files are named' "$out" 'wrote skills/git-notes/SKILL.md
wrote skills/git-notes/CHANGELOG.md'
like 'and what comes next' "$err" '^next: '
exits 'a metaskill' 0 mapm new metaskill mend-it --scope io.example
ok '[K1] with its program' test -f skills/mend-it/SKILL.star
exits 'an agent' 0 mapm new agent helper --scope acme --description 'Helps: "always", it says # never.'
exits 'an MCP' 0 mapm new mcp io.example/mcp --description 'Serves.'
ok '[M17] under its name' test -f mcps/io.example_mcp.json
today=$(date +%Y-%m-%d)
like '[M29] dated today' "$(cat skills/git-notes/CHANGELOG.md)" "^## 0\.1\.0 \(($today|$(date +%Y-%m-%d))\)$"
is 'nothing else is here' "$(find . -type f | sort)" './agents/helper/AGENTS.md
./agents/helper/CHANGELOG.md
./mcps/io.example_mcp.json
./skills/git-notes/CHANGELOG.md
./skills/git-notes/SKILL.md
./skills/mend-it/CHANGELOG.md
./skills/mend-it/SKILL.md
./skills/mend-it/SKILL.star
./skills/mend-it/tests/accepted.jsonl'
exits '[K39] its tape is what the program does' 0 mapm test mend-it
like 'the one that was written' "$out" '^  ok      tests/accepted.jsonl$'
for profile in install metaagents; do
    exits "all is fine under $profile" 0 mapm check -v --profile $profile
    like 'no warning' "$out" '^checked 4: 0 errors, 0 warnings$'
done
exits '[D16] for publish' 3 mapm check -v --profile publish
is '[D16] only its texts are left to write' "$(printf '%s\n' "$out" | grep -v -e '\[placeholder\]$' -e '^checked')" ''
for profile in agentskills metis lm-kit metaskill; do
    exits "skills are fine under $profile" 0 mapm check --strict --profile $profile skills
done
run mapm check --json skills/mend-it agents/helper
like '[K3] it has a program' "$out" '"metaskill": true'
like 'the scope' "$out" '"fqn": "io.example/mend-it"'
like 'the description is kept' "$out" '"description": "Helps: \\"always\\", it says # never."'
like '[K8] the keys are listed' "$(cat skills/mend-it/SKILL.md)" '^Input keys:'

before=$(snapshot .)
while IFS='|' read -r what status kind name scope description; do
    set -- "$kind" "$name"
    [ -z "$scope" ] || set -- "$@" --scope "$scope"
    [ -z "$description" ] || set -- "$@" --description "$description"
    exits "$what" "$status" mapm new "$@"
    isnt 'it says why' "$err" ''
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
exits 'a scope that is empty' 1 mapm new skill fine --scope ''
exits 'a description that is empty' 1 mapm new skill fine --description ' '
exits 'no name' 2 mapm new skill
is '[M3] nothing was written' "$(snapshot .)" "$before"

exits '64 characters' 0 mapm new skill "$(printf 'a%.0s' $(seq 64))"
exits 'a name that YAML takes for something else' 0 mapm new skill 365
exits 'and another' 0 mapm new skill null
exits 'and one of a shell' 0 mapm new mcp io.example/bash
run mapm check --strict --profile publish
is 'all of them but for their texts may be published' \
    "$(printf '%s\n' "$out" | grep -v -e '\[placeholder\]$' -e '^checked')" ''
exits 'as JSON' 0 mapm new --json mcp acme/cli
is 'is one document' "$out" '{
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
    like "help names the kind $kind" "$out" "^  $kind NAME  "
done
exits '[G13] a plugin' 0 mapm new plugin deploy-it
is 'of these files' "$(find plugins -type f | LC_ALL=C sort | tr '\n' ' ')" \
    'plugins/deploy-it/.claude-plugin/plugin.json plugins/deploy-it/mcp.json plugins/deploy-it/plugin.json plugins/deploy-it/skills/deploy-it/CHANGELOG.md plugins/deploy-it/skills/deploy-it/SKILL.md '
for profile in install agent-plugin claude-plugin; do
    exits "[G13] it is fine under $profile" 0 mapm check --strict --profile $profile plugins/deploy-it
    like 'without a word' "$out" '^checked [12]: 0 errors, 0 warnings$'
done
exits '[G13] it can be installed' 0 mapm init
exits 'as it is' 0 mapm install ./plugins/deploy-it
like 'with its skill' "$(mapm list)" 'deploy-it/deploy-it'
exits 'nothing is overwritten' 1 mapm new plugin deploy-it
exits '[G13] it takes no scope' 2 mapm new plugin --scope acme other
exits '[G13] and no name of another grammar' 1 mapm new plugin Deploy
exits '[G13] its description' 0 mapm new plugin --description 'Say "x".' two --json
is 'is in both manifests' "$(grep -c 'Say \\"x\\"' plugins/two/plugin.json plugins/two/.claude-plugin/plugin.json | tr '\n' ' ')" \
    'plugins/two/plugin.json:1 plugins/two/.claude-plugin/plugin.json:1 '
cd ..

mkdir fresh linked away && ln -s ../away linked/skills
exits '[row 1] a bucket that is a link' 4 mapm -C linked new skill x
is 'is not followed' "$(ls -A away)" ''
exits 'a refusal' 1 mapm -C fresh new skill X
is 'leaves no bucket' "$(ls -A fresh)" ''
if (ulimit -f 0) 2>/dev/null; then
    (trap '' XFSZ; cd fresh && ulimit -f 0 && "$MAPM" new metaskill x) >"$T/out" 2>"$T/err"
    is '[row 27] a disk that is full' $? 1
    is 'leaves nothing behind' "$(ls -A fresh)" ''
else
    skip 'a disk that is full' 'ulimit -f is missing'
fi
done_testing

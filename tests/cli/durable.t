#!/bin/sh
# What is written, synced and named in which order, from a record of the calls; what
# a crash may leave of it; and each call failing in turn. [F2, row 27]. Needs no
# rights and no device: tests/lib/calls.c. The disk itself: tests/cli/threats_crash.t.
. "$(dirname "$0")/../lib/cli.sh"

s=$T/src
U=https://github.com/acme/cat/tree/main
for name in stays changes goes; do
    skill "$s/skills/$name" 'scope: acme'
    mkdir "$s/skills/$name/more" && echo "of $name" >"$s/skills/$name/more/notes.md"
done
agent "$s/agents/boss" 'scope: acme' 'dependencies:' '  skills:' "    - $U/skills/stays" \
    "    - $U/skills/changes" "    - $U/skills/goes" '  mcps:' "    - $U/mcps/io.acme_tool.json"
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool '${workspaceDir}/x'
make_repo acme/cat "$s"
start_githost
MAPM_TEST_SOURCE=$s MAPM_TEST_TOP=$T MAPM_TEST_URL=$U python3 -S "$ROOT/tests/lib/durable.py"

#!/bin/sh
# The helpers of tests/lib/cli.sh themselves, with git as the client: what the
# other tests of this folder stand on.
. "$(dirname "$0")/../lib/cli.sh"

# a world of its own
is 'HOME is below the test folder' "${HOME#"$T"}" /home
is 'the working folder is empty' "$(ls -A)" ''
run sh -c 'echo out; echo err >&2; exit 7'
is 'run keeps the status' "$status" 7
is 'run keeps both outputs' "$out/$err" out/err

# packages
skill "$T/src/skills/hello" 'version: 2.1.0'
agent "$T/src/agents/greeter" 'scope: acme' 'dependencies:' '  skills:' \
    '    - "https://github.com/acme/catalog/tree/main/skills/hello"'
mcp "$T/src/mcps/io.example_mcp.json" io.example/mcp npx -y '@example/mcp'
is 'a given line replaces the default' \
    "$(grep -c '^version:' "$T/src/skills/hello/SKILL.md")" 1
like 'an agent has its dependencies' "$(cat "$T/src/agents/greeter/AGENTS.md")" \
    '^    - "https://github.com/acme/'
like 'an MCP file has 2 spaces' "$(cat "$T/src/mcps/io.example_mcp.json")" '^  "command": "npx"'

# repositories
mkdir -p "$T/src/bin"
printf '#!/bin/sh\n' >"$T/src/bin/tool" && chmod 755 "$T/src/bin/tool"
ln -s ../skills/hello/SKILL.md "$T/src/bin/link"
make_repo acme/catalog "$T/src"
first=$COMMIT
like 'make_repo gives a commit' "$first" '^[0-9a-f]{40}$'
like 'modes and links are kept' "$(repo acme/catalog ls-tree -r main)" \
    '^120000 blob .*bin/link$'
make_repo other/twin "$T/src"
is 'the same folder gives the same commit' "$COMMIT" "$first"
skill "$T/src/skills/hello" 'version: 2.2.0'
make_repo acme/catalog "$T/src"
is 'the next commit stands on the first' \
    "$(repo acme/catalog rev-parse main~1)" "$first"

# the host
start_githost
refs=$(git ls-remote https://github.com/acme/catalog)
like 'git reaches it under the name of GitHub' "$refs" "^$COMMIT.refs/heads/main$"
is 'its requests are counted' "$(requests)" 2
is 'by command too' "$(stat_of by_cmd.ls-refs)" 1
like 'and listed' "$(request_log)" '^200 ls-refs acme/catalog '
reset_log
is 'until the log is reset' "$(requests)" 0
git clone -q https://github.com/acme/catalog clone
is 'a clone has the bytes' "$(cat clone/skills/hello/SKILL.md)" \
    "$(cat "$T/src/skills/hello/SKILL.md")"
same_tree 'and the modes' clone "$T/src"

fault '{"kind": "status", "status": 503, "times": 1}'
not_ok 'a fault strikes' git ls-remote -q https://github.com/acme/catalog
ok 'as often as asked' git ls-remote -q https://github.com/acme/catalog
fault '{"kind": "status", "status": 503, "times": -1}'
clear_faults
ok 'or until cleared' git ls-remote -q https://github.com/acme/catalog

before=$(snapshot clone)
echo more >>clone/skills/hello/SKILL.md
isnt 'snapshot sees a change' "$(snapshot clone)" "$before"

url=$GITHOST_URL
start_githost --tls
like 'it speaks TLS when asked' "$GITHOST_URL" '^https://'
ok 'and git trusts it' git ls-remote -q https://github.com/acme/catalog
isnt 'the old address is gone' \
    "$(git config --get-all "url.$url/.insteadOf")" https://github.com/
stop_githost
not_ok 'once stopped nobody answers' git -c http.lowSpeedTime=5 \
    ls-remote "$GITHOST_URL/acme/catalog"
done_testing

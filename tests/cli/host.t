#!/bin/sh
# The helpers of tests/lib/cli.sh themselves, with git as the client: what the
# other tests of this folder stand on.
. "$(dirname "$0")/../lib/cli.sh"

# a world of its own
is 'HOME is below the test folder' "${HOME#"$T"}" /home
is 'the working folder is empty' "$(ls -A)" ''
run sh -c 'echo out; echo err >&2; exit 7'
is 'run keeps the exit status' "$status" 7
is 'run keeps standard output and standard error' "$out/$err" out/err

# packages
skill "$T/src/skills/hello" 'version: 2.1.0'
agent "$T/src/agents/greeter" 'scope: acme' 'dependencies:' '  skills:' \
    '    - "https://github.com/acme/catalog/tree/main/skills/hello"'
mcp "$T/src/mcps/io.example_mcp.json" io.example/mcp npx -y '@example/mcp'
is 'a line that is given to skill replaces the default' \
    "$(grep -c '^version:' "$T/src/skills/hello/SKILL.md")" 1
like 'a made agent has the given dependencies' "$(cat "$T/src/agents/greeter/AGENTS.md")" \
    '^    - "https://github.com/acme/'
like 'a made MCP file is indented by 2 spaces' "$(cat "$T/src/mcps/io.example_mcp.json")" '^  "command": "npx"'

# repositories
mkdir -p "$T/src/bin"
printf '#!/bin/sh\n' >"$T/src/bin/tool" && chmod 755 "$T/src/bin/tool"
ln -s ../skills/hello/SKILL.md "$T/src/bin/link"
make_repo acme/catalog "$T/src"
first=$COMMIT
like 'make_repo sets COMMIT to a commit id' "$first" '^[0-9a-f]{40}$'
like 'make_repo keeps modes and links' "$(repo acme/catalog ls-tree -r main)" \
    '^120000 blob .*bin/link$'
make_repo other/twin "$T/src"
is 'make_repo gives the same commit for the same folder' "$COMMIT" "$first"
skill "$T/src/skills/hello" 'version: 2.2.0'
make_repo acme/catalog "$T/src"
is 'a second make_repo adds a commit to the first' \
    "$(repo acme/catalog rev-parse main~1)" "$first"

# the host
start_githost
refs=$(git ls-remote https://github.com/acme/catalog)
like 'git reaches the test host under the name of GitHub' "$refs" "^$COMMIT.refs/heads/main$"
is 'requests counts the requests to the test host' "$(requests)" 2
is 'stat_of counts the requests of one command' "$(stat_of by_cmd.ls-refs)" 1
like 'request_log lists the requests' "$(request_log)" '^200 ls-refs acme/catalog '
reset_log
is 'reset_log sets the number of requests to 0' "$(requests)" 0
git clone -q https://github.com/acme/catalog clone
is 'a clone from the test host has the bytes of the source' "$(cat clone/skills/hello/SKILL.md)" \
    "$(cat "$T/src/skills/hello/SKILL.md")"
same_tree 'a clone from the test host has the modes of the source' clone "$T/src"

fault '{"kind": "status", "status": 503, "times": 1}'
not_ok 'a fault makes a request fail' git ls-remote -q https://github.com/acme/catalog
ok 'a fault with times 1 does not affect a second request' git ls-remote -q https://github.com/acme/catalog
fault '{"kind": "status", "status": 503, "times": -1}'
clear_faults
ok 'clear_faults removes an endless fault' git ls-remote -q https://github.com/acme/catalog

before=$(snapshot clone)
echo more >>clone/skills/hello/SKILL.md
isnt 'snapshot changes with the content of a file' "$(snapshot clone)" "$before"

url=$GITHOST_URL
start_githost --tls
like 'start_githost --tls gives an https: address' "$GITHOST_URL" '^https://'
ok 'git trusts the certificate of the test host' git ls-remote -q https://github.com/acme/catalog
isnt 'start_githost replaces the former address in the git configuration' \
    "$(git config --get-all "url.$url/.insteadOf")" https://github.com/
stop_githost
not_ok 'a stopped test host does not answer' git -c http.lowSpeedTime=5 \
    ls-remote "$GITHOST_URL/acme/catalog"
done_testing

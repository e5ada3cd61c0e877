#!/bin/sh
# mapm check --fix: MCP files are laid out and named, and nothing else is
# touched. [M17, M18].
. "$(dirname "$0")/../lib/cli.sh"

mkdir -p mcps other
printf '\r\n{"_meta":{"name":"io.x/y","io.modelcontextprotocol.registry/publisher":{"n":1.0,"big":12345678901234567890}},\n\t"zeta":[1e3,[],{}],"type":"stdio","command":"npx","args":["-y","caf\303\251 \\u00e9"]}' >mcps/wrong.json
chmod 600 mcps/wrong.json
exits 'without --fix' 3 mapm check mcps
like 'the name is a finding' "$out" 'mcp-filename'
like 'the layout a warning' "$out" 'warning:.*mcp-format'
exits 'with it' 0 mapm check --fix mcps
like 'it says what it did' "$err" '^mcps/wrong.json: laid out with 2 spaces'
like 'to which file' "$err" '^mcps/wrong.json: renamed to io.x_y.json$'
like 'and judges it afterwards' "$out" '^checked 1: 0 errors, 0 warnings$'
is 'the same keys, order and numbers, 2 spaces, a final newline' "$(cat mcps/io.x_y.json; echo .)" \
    '{
  "_meta": {
    "name": "io.x/y",
    "io.modelcontextprotocol.registry/publisher": {
      "n": 1.0,
      "big": 12345678901234567890
    }
  },
  "zeta": [
    1e3,
    [],
    {}
  ],
  "type": "stdio",
  "command": "npx",
  "args": [
    "-y",
    "café é"
  ]
}
.'
is 'the mode stays' "$(stat -c %a mcps/io.x_y.json)" 600
is 'one file, no rubbish' "$(ls -A mcps)" io.x_y.json
before=$(snapshot mcps)
exits 'once more' 0 mapm check --fix mcps
is 'changes nothing' "$(snapshot mcps)" "$before"
is 'and says nothing' "$err" ''

cp mcps/io.x_y.json mcps/twin.json
exits 'a name that is taken' 3 mapm check --fix mcps
like 'is said' "$err" '^mcps/twin.json: not renamed: io.x_y.json already exists$'
ok 'and both stay' test -f mcps/twin.json -a -f mcps/io.x_y.json
rm mcps/twin.json

printf '{"_meta": {"name": "io.x/z"}, ' >mcps/io.x_z.json
printf '{"_meta": {"name": "../../x"}, "type": "stdio", "command": "npx"}' >mcps/up.json
cp mcps/io.x_y.json other/linked.json
ln -s ../other/linked.json mcps/link.json
mkfifo mcps/pipe.json
before=$(sha256sum mcps/io.x_z.json other/linked.json)
exits 'what cannot be mended' 3 mapm check --fix --json mcps
is 'stays as it was' "$(sha256sum mcps/io.x_z.json other/linked.json)" "$before"
ok 'links stay links' test -L mcps/link.json
is '[row 1] a name leads nowhere' "$(ls mcps | tr '\n' ' ')" \
    'io.x_y.json io.x_z.json link.json pipe.json up.json '
like 'JSON stays JSON' "$(python3 -S -c 'import json, sys; print(json.load(open(sys.argv[1]))["schema"])' "$T/out")" mapm.check/1

printf '{"name":"x","version":"1"}' >package.json
before=$(cat package.json)
exits 'a file of another kind' 3 mapm check --fix package.json
is 'is not laid out' "$(cat package.json)" "$before"

mkdir -p skills/untidy
printf -- '---\nname:   untidy\ndescription: x\n---\n\n\nbody   \n' >skills/untidy/SKILL.md
before=$(snapshot skills)
exits "an author's text" 0 mapm check --fix skills
is 'is not touched' "$(snapshot skills)" "$before"

as_other='setpriv --reuid=65534 --regid=65534 --clear-groups'
if ! obeys_modes && ! $as_other true 2>/dev/null; then
    skip 'a folder that cannot be written' 'root writes everywhere'
else
    mkdir -p sealed/mcps && printf '{"_meta":{"name":"io.x/y"},"type":"stdio","command":"npx"}' >sealed/mcps/a.json
    cp "$MAPM" "$T/mapm-copy" && chmod 755 "$T" && chmod 555 sealed/mcps
    user=
    obeys_modes || user=$as_other
    run $user "$T/mapm-copy" check --fix "$T/ws/sealed"
    is 'a folder that cannot be written' "$status" 3
    like 'is said' "$err" 'not mended: '
    is 'and left alone' "$(ls -A sealed/mcps)" a.json
fi
done_testing

#!/bin/sh
# mapm check --fix: MCP files are laid out and named, and nothing else is
# touched. [M17, M18].
. "$(dirname "$0")/../lib/cli.sh"

mkdir -p mcps other
printf '\r\n{"_meta":{"name":"io.x/y","io.modelcontextprotocol.registry/publisher":{"n":1.0,"big":12345678901234567890}},\n\t"zeta":[1e3,[],{}],"type":"stdio","command":"npx","args":["-y","caf\303\251 \\u00e9"]}' >mcps/wrong.json
chmod 600 mcps/wrong.json
exits 'check without --fix exits 3 for a misnamed MCP file' 3 mapm check mcps
like 'check reports the name of the MCP file' "$out" 'mcp-filename'
like 'check warns about the layout of the MCP file' "$out" 'warning:.*mcp-format'
exits 'check --fix succeeds' 0 mapm check --fix mcps
like 'check --fix says that it laid out the file' "$err" '^mcps/wrong.json: laid out with 2 spaces'
like 'check --fix says how it renamed the file' "$err" '^mcps/wrong.json: renamed to io.x_y.json$'
like 'check --fix checks the file afterwards' "$out" '^checked 1: 0 errors, 0 warnings$'
is 'check --fix keeps keys, order and numbers and indents by 2 spaces' "$(cat mcps/io.x_y.json; echo .)" \
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
is 'check --fix keeps the mode of the file' "$(stat -c %a mcps/io.x_y.json)" 600
is 'check --fix leaves no other file' "$(ls -A mcps)" io.x_y.json
before=$(snapshot mcps)
exits 'a second check --fix succeeds' 0 mapm check --fix mcps
is 'a second check --fix changes nothing' "$(snapshot mcps)" "$before"
is 'a second check --fix prints no message' "$err" ''

cp mcps/io.x_y.json mcps/twin.json
exits 'check --fix exits 3 when the right name is taken' 3 mapm check --fix mcps
like 'check --fix says that the right name is taken' "$err" '^mcps/twin.json: not renamed: io.x_y.json already exists$'
ok 'check --fix keeps both files' test -f mcps/twin.json -a -f mcps/io.x_y.json
rm mcps/twin.json

printf '{"_meta": {"name": "io.x/z"}, ' >mcps/io.x_z.json
printf '{"_meta": {"name": "../../x"}, "type": "stdio", "command": "npx"}' >mcps/up.json
cp mcps/io.x_y.json other/linked.json
ln -s ../other/linked.json mcps/link.json
mkfifo mcps/pipe.json
before=$(sha256sum mcps/io.x_z.json other/linked.json)
exits 'check --fix --json exits 3 for files that it cannot correct' 3 mapm check --fix --json mcps
is 'check --fix leaves these files unchanged' "$(sha256sum mcps/io.x_z.json other/linked.json)" "$before"
ok 'check --fix keeps a link' test -L mcps/link.json
is '[row 1] check --fix renames no file to a path outside its folder' "$(ls mcps | tr '\n' ' ')" \
    'io.x_y.json io.x_z.json link.json pipe.json up.json '
like 'check --fix --json prints JSON alone' "$(python3 -S -c 'import json, sys; print(json.load(open(sys.argv[1]))["schema"])' "$T/out")" mapm.check/1

printf '{"name":"x","version":"1"}' >package.json
before=$(cat package.json)
exits 'check --fix exits 3 for a file of another kind' 3 mapm check --fix package.json
is 'check --fix leaves a file of another kind unchanged' "$(cat package.json)" "$before"

mkdir -p skills/untidy
printf -- '---\nname:   untidy\ndescription: x\n---\n\n\nbody   \n' >skills/untidy/SKILL.md
before=$(snapshot skills)
exits "check --fix succeeds for an untidy SKILL.md" 0 mapm check --fix skills
is 'check --fix leaves SKILL.md unchanged' "$(snapshot skills)" "$before"

as_other='setpriv --reuid=65534 --regid=65534 --clear-groups'
if ! obeys_modes && ! $as_other true 2>/dev/null; then
    skip 'a folder that cannot be written' 'root writes everywhere'
else
    mkdir -p sealed/mcps && printf '{"_meta":{"name":"io.x/y"},"type":"stdio","command":"npx"}' >sealed/mcps/a.json
    cp "$MAPM" "$T/mapm-copy" && chmod 755 "$T" && chmod 555 sealed/mcps
    user=
    obeys_modes || user=$as_other
    run $user "$T/mapm-copy" check --fix "$T/ws/sealed"
    is 'check --fix exits 3 in a read-only folder' "$status" 3
    like 'check --fix says that the file was not corrected' "$err" 'not mended: '
    is 'check --fix leaves the read-only folder unchanged' "$(ls -A sealed/mcps)" a.json
fi
done_testing

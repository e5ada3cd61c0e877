#!/bin/sh
# mapm check, end to end: every code, what is found in a tree, both outputs
# and exit codes. [L8, T11, T12, M1, M2, M3, M4, M5, M6, M7, M8, M9, M10]
# [M11, M12, M13, M14, M15, M16, M17, M18, M19, K2, K3, K4, K5, K6, K7, K8, K9, K10]
# [K11, A1, A2, A3, A4, A5, X2, X3, X4, X5, X6, X7, X10, X15, X16, X17, X18, X19]
# [X20, X24, G13, row 1, row 7, row 16].
. "$(dirname "$0")/../lib/cli.sh"

# has WHAT LEVEL CODE: the last run complained so. Messages may have lines.
has()
{
    like "$1" "$(printf '%s\n' "$out" | tr '\n' ' ')" "$2: [^[]*\[$3\]|$2:.* \[$3\]"
}
# field PATH EXPRESSION: of the JSON in $out; d is the document with that path.
field()
{
    python3 -S - "$T/out" "$@" <<'PYTHON'
import json, sys
whole = json.load(open(sys.argv[1]))
d = next(x for x in whole["documents"] if x["path"] == sys.argv[2])
print(json.dumps(eval(sys.argv[3])))
PYTHON
}

# --- codes ------------------------------------------------------------------

cases=$ROOT/tests/cases/check/codes.txt
python3 -S "$ROOT/tests/lib/unpack_cases.py" "$cases" "$T/cases" >"$T/list"
while read -r number code level profile; do
    run timeout 20 "$MAPM" -C "$T/cases/$number" check --profile "$profile"
    has "$code is a $level under $profile (case $number)" "$level" "$code"
    if [ "$level" = error ]; then
        is "case $number is a finding" "$status" 3
    fi
done <"$T/list"
ok 'there are a hundred of them' test "$(wc -l <"$T/list")" -ge 95

# Each code that the program knows has its case, and each case its code.
missing=
for code in $(sed -n '/^} table\[\]/,/^};/s/^ *{"\([a-z0-9-]*\)",.*/\1/p' \
    "$ROOT/manifest/level.c"); do
    grep -q "^== $code " "$cases" || missing="$missing $code"
done
is 'no code is without a case' "$missing" ''

# --- plugins -----------------------------------------------------------------

# plugin FOLDER [MORE]: an Agent Plugin with one skill.
plugin()
{
    skill "$1/skills/one"
    printf '{"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", "name": "a.-b"%s}\n' \
        "${2-}" >"$1/plugin.json"
}
plugin good ', "version": "1.0.0-rc.1", "license": "?", "homepage": "-", "author": {"email": "@"},
    "keywords": [], "extensions": {"com.example": {"x": 1}}'
cat >good/mcp.json <<'JSON'
{"$schema": "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json", "mcpServers": {
    "a b": {"type": "stdio", "command": "./bin/a b", "args": ["", "$X", "${PLUGIN_ROOT_SUFFIX}"],
        "env": {"plugin_root": "x"}, "cwd": "${PLUGIN_DATA}/x"},
    "l": {"type": "sse", "url": "http://127.0.0.2:80/?v=$X"},
    "m": {"type": "streamable-http", "url": "http://[::1]/", "headers": {"A": ""}},
    "n": {"type": "streamable-http", "url": "http://localhost/"}}}
JSON
mkdir good/bin && : >'good/bin/a b'
ln -s ../shared good/skills/two && mkdir good/shared
exits '[G13] a plugin with all that is legal' 0 mapm check -v --profile agent-plugin good
like 'and its skill' "$out" '^checked 2: 0 errors'
like 'without a word' "$out" '^good/plugin.json: ok$'
exits '[G13] found in a tree without a profile' 0 mapm check -v .
like 'by its schema' "$out" '^good/plugin.json: ok$'
mkdir other && echo '{"name": 7}' >other/plugin.json
exits '[G13] a plugin.json of another program' 0 mapm check --profile agent-plugin .
unlike 'is none' "$out" 'other'
exits '[G13] but one that is named is judged' 3 mapm check --profile agent-plugin other/plugin.json
has 'it is none' error plugin-schema
echo '{"x": 1}' >good/mcp.json
exits '[G13] a file beside it' 3 mapm check --profile agent-plugin good/plugin.json
like 'is named' "$out" '^good/mcp.json:1: error: .*.P27. \[plugin-mcp-field\]$'
exits '[G13] as JSON' 3 mapm check --json --profile agent-plugin good
is 'of its kind' "$(field good/plugin.json '[d["type"], d["name"], d["errors"][0]["file"]]')" \
    '["plugin", "a.-b", "mcp.json"]'
exits '[G13] strictly' 3 mapm check --strict --profile agent-plugin good
rm -rf good other
mkdir -p cc/.claude-plugin cc/s/one cc/agents && skill cc/s/one
cat >cc/.claude-plugin/plugin.json <<'JSON'
{"name": "Some.Plugin_1", "version": "banana", "author": {"name": "x", "more": 1}, "skills": ["./s", "./"],
 "mcpServers": {"a": {"command": "x", "more": 1}, "b": {"type": "streamable-http", "url": "https://x.example"}},
 "dependencies": ["a", "a@b", "a@b@^1", {"name": "x", "version": "^1.0.0"}],
 "userConfig": {"k": {"type": "string", "title": "t", "description": "d", "sensitive": true}}}
JSON
printf -- '---\ndescription: x\n---\n' >cc/agents/x.md
exits '[G13] a plugin of Claude Code' 0 mapm check -v --profile claude-plugin cc
like 'without a word' "$out" '^cc/.claude-plugin/plugin.json: ok$'
mkdir -p bare/agents && skill bare/skills/one && echo '[' >bare/.mcp.json
exits '[G13] one without a manifest (C1)' 3 mapm check --profile claude-plugin bare
like 'by what it holds' "$out" 'bare/.mcp.json.*claude-file-json'
rm bare/.mcp.json
exits '[G13] which may be fine' 0 mapm check -v --profile claude-plugin bare
rm -r bare/agents bare/skills && touch bare/x
run mapm check --profile claude-plugin bare
unlike '[G13] no other folder is one' "$out$err" 'plugin.json: ok'
rm -r bare
mkdir -p .claude-plugin .github/plugin
cat >.claude-plugin/marketplace.json <<'JSON'
{"name": "m", "owner": {"name": "o"}, "metadata": {"pluginRoot": "./"}, "renames": {"old": "a", "gone": null},
 "plugins": [{"name": "a", "source": "./cc", "dependencies": ["b", "x@y"]}, {"name": "b", "source": "cc", "version": "banana"},
    {"name": "c", "source": {"source": "git-subdir", "url": "a/b", "path": "x",
        "sha": "0123456789012345678901234567890123456789"}}]}
JSON
echo '{"name": "m", "plugins": [{"name": "a", "source": "cc"}]}' >.github/plugin/marketplace.json
exits '[G13] two marketplaces' 0 mapm check -v --profile marketplace .
like 'a plugin with two names (C8)' "$out" 'market-entry-alias.*'
sed -i 's/"Some.Plugin_1"/"a"/; s/"name": "b", "source": "cc"/"name": "b", "source": "dd"/' \
    cc/.claude-plugin/plugin.json .claude-plugin/marketplace.json
mkdir -p dd/.claude-plugin && echo '{"name": "b"}' >dd/.claude-plugin/plugin.json
exits '[G13] with one each' 0 mapm check -v --profile marketplace .
like 'the one of Claude' "$out" '^.claude-plugin/marketplace.json: ok$'
like 'the one of Copilot, whose sources need no "./"' "$out" '^.github/plugin/marketplace.json: ok$'
exits '[G13] one by its name' 0 mapm check .claude-plugin/marketplace.json
like 'alone' "$out" '^checked 1: 0 errors, 0 warnings$'
rm -rf cc .claude-plugin .github

# --- what is found ----------------------------------------------------------

mkdir tree && cd tree || exit
skill skills/writer
skill skills/writer/nested/deep
skill .agents/skills/hidden
skill .git/skills/git
skill .mapm/skills/mapm
agent agents/boss
mcp mcps/io.example_mcp.json io.example/mcp npx -y x
mcp other/io.example_mcp.json io.example/mcp npx -y x
printf '# How to build this\n' >AGENTS.md
printf '# How to test this\n' >skills/AGENTS.md
agent sub/reviewer
ln -s skills/writer linked
ln -s . loop
exits 'a tree' 0 mapm check -v
is 'all packages, sorted, each once' "$(printf '%s\n' "$out" | sed 's/: .*//')" \
    '.agents/skills/hidden/SKILL.md
agents/boss/AGENTS.md
mcps/io.example_mcp.json
skills/writer/SKILL.md
skills/writer/nested/deep/SKILL.md
sub/reviewer/AGENTS.md
checked 6'
exits 'quietly' 0 mapm check -q
is 'nothing to say' "$out" ''
exits 'the same from outside' 0 mapm -C .. check -v ./tree//
like 'paths begin as they were named' "$out" '^tree/mcps/io.example_mcp.json: ok$'
exits 'a folder of a catalog' 0 mapm check -v agents
like 'knows where it is' "$out" '^agents/boss/AGENTS.md: ok$'
exits 'inside of it as well' 0 mapm -C mcps check -v
like 'MCP files' "$out" '^io.example_mcp.json: ok$'
exits 'a package' 0 mapm check -v skills/writer
like 'and what it carries' "$out" '^checked 2:'
exits 'a document by itself' 0 mapm check -v skills/writer/SKILL.md
like 'alone' "$out" '^checked 1:'
exits 'an MCP file anywhere, when it is named' 0 mapm check other/io.example_mcp.json
exits 'a link that is named is followed' 0 mapm check linked
exits 'some of them, once each' 0 mapm check -v skills skills/writer ./skills/writer/SKILL.md
like 'not twice' "$out" '^checked 2:'
exits "a project's own instructions, named" 3 mapm check AGENTS.md
has 'are no package' error no-frontmatter
mkdir plain && printf '# Build\n' >plain/AGENTS.md
exits 'and alone in a folder' 3 mapm check plain
rm -rf plain
mkdir -p new/agents new/skills
exits 'an empty catalog is fine' 0 mapm check new
mkdir hollow
exits 'an empty folder is not' 3 mapm check hollow
has 'it says so' error no-anchor
exits '[X7] a path that is not there' 1 mapm check skills nowhere neither
like 'is named' "$err" 'nowhere'
like 'each of them' "$err" 'neither'
is 'and nothing is judged' "$out" ''
exits 'another file' 3 mapm check ../tree/.agents/../skills/AGENTS.md
printf 'x\n' >notes.txt
exits 'of another kind' 3 mapm check notes.txt
has 'is none of ours' error no-anchor
cd ..

# --- links, and what hangs --------------------------------------------------

mkdir -p links/shared links/skills/one links/skills/two
skill links/shared/one
ln -s ../../shared/one/SKILL.md links/skills/one/SKILL.md
exits '[A4] a link to SKILL.md inside what was named' 0 mapm check -v links
like 'is read' "$out" '^links/skills/one/SKILL.md: ok$'
exits 'from the package alone it leaves it' 3 mapm check links/skills/one
git init -q links
exits 'unless a repository holds both' 0 mapm check links/skills/one
ln -s /etc/hostname links/skills/two/SKILL.md
exits '[row 1] a link out of the repository' 3 mapm check links
has 'is not followed' error unreadable
unlike 'nor shown' "$out" "$(cat /etc/hostname)"
mkdir "$(printf 'evil\033[31m\nname')"
exits '[row 7] names do not reach the terminal' 3 mapm check "$(printf 'evil\033[31m\nname')"
is 'on one line' "$(printf '%s\n' "$out" | wc -l)" 2
unlike 'without escapes' "$out" "$(printf '\033')"

cp "$MAPM" "$T/mapm-copy"
chmod 755 "$T"
mkdir -p closed/skills/secret
skill closed/skills/open
chmod 0 closed/skills/secret
if obeys_modes; then
    user=
else
    user='setpriv --reuid=65534 --regid=65534 --clear-groups'
fi
if $user true 2>/dev/null; then
    run $user "$T/mapm-copy" check "$T/ws/closed"
    is 'a folder that cannot be read' "$status" 0
    has 'is a warning in a tree' warning unreadable-folder
    run $user "$T/mapm-copy" check --strict "$T/ws/closed"
    is 'an error when strict' "$status" 3
    run $user "$T/mapm-copy" check "$T/ws/closed/skills/secret"
    is 'and when it is named' "$status" 3
    has 'that is its code' error unreadable-folder
else
    skip 'a folder that cannot be read' 'root reads everything'
fi
chmod 755 closed/skills/secret
deep=$(printf 'd/%.0s' $(seq 70))
mkdir -p "deep/$deep"
skill deep/top
exits 'too many folders in each other' 0 mapm check deep
has 'are left alone' warning unreadable-folder

# --- levels -----------------------------------------------------------------

skill levels/skills/plain 'description: "x"'
sed -i '/^version/d' levels/skills/plain/SKILL.md
exits 'warnings alone' 0 mapm check levels
exits '[X6] are errors when strict' 3 mapm check --strict levels
exits 'and for who wants a version' 3 mapm check --profile metaagents levels
exits 'not for who does not' 0 mapm check --profile agentskills levels
exits 'an unknown profile' 2 mapm check --profile nobody levels

# --- JSON -------------------------------------------------------------------

mkdir -p json/skills/shown json/mcps
cat >json/skills/shown/SKILL.md <<'SKILL'
---
name: shown
scope: acme
description: " Shows it all. "
version: 1.2.3
allowed-tools: Read Bash(git:*)
---
hello
SKILL
printf 'def run(input): return "x"\n' >json/skills/shown/SKILL.star
printf '{' >json/mcps/a_b.json
mkdir json/skills/bad && printf -- '---\nname: Bad\ndescription: ""\nversion: 1\nscope: A\n---\n' >json/skills/bad/SKILL.md
exits 'JSON has the same exit code' 3 mapm check --json json
p=json/skills/shown/SKILL.md
is 'the schema' "$(field $p 'whole["schema"]')" '"mapm.check/1"'
is 'what is known' "$(field $p '[d[k] for k in ("ok", "type", "name", "scope", "fqn", "description", "version", "metaskill")]')" \
    '[true, "skill", "shown", "acme", "acme/shown", "Shows it all.", "1.2.3", true]'
hash=$(printf 'hello\n' | sha256sum | cut -c1-16)
is '[T11] the hash of the body' "$(field $p 'd["skill_version"]')" "\"$hash\""
is '[T12] its size' "$(field $p 'd["load_size_tokens"]')" 1
is '[L8] the tools as a list' "$(field $p 'd["allowed_tools"]')" '["Read", "Bash(git:*)"]'
is 'just these keys' "$(field $p 'list(d)')" \
    '["path", "ok", "errors", "warnings", "hints", "type", "name", "scope", "fqn", "description", "version", "skill_version", "load_size_tokens", "allowed_tools", "metaskill"]'
p=json/skills/bad/SKILL.md
is '[L8] all errors at once' "$(field $p 'sorted({x["code"] for x in d["errors"]} - {"name-folder"})')" \
    '["description-empty", "name-grammar", "scope-grammar", "version-format"]'
is 'each with these keys' "$(field $p 'list(d["errors"][0])')" '["code", "field", "file", "line", "column", "message", "hint"]'
is 'the line' "$(field $p '[x["line"] for x in d["errors"] if x["code"] == "description-empty"]')" '[3]'
is 'the field' "$(field $p '[x["field"] for x in d["errors"] if x["code"] == "description-empty"]')" '["description"]'
p=json/mcps/a_b.json
is 'what is not known is null' "$(field $p '[d[k] for k in ("ok", "type", "name", "version", "skill_version", "load_size_tokens", "allowed_tools", "metaskill")]')" \
    '[false, "mcp", null, null, null, null, [], false]'
skill one/body
sed -i '/^---$/,$!d' one/body/SKILL.md
run mapm check --json one
first=$(field one/body/SKILL.md 'd["skill_version"]')
sed -i 's/^description: .*/description: Another one./' one/body/SKILL.md
run mapm check --json one
is '[T11] the description does not count' "$(field one/body/SKILL.md 'd["skill_version"]')" "$first"
{ head -n 5 one/body/SKILL.md && head -c 20003 /dev/zero | tr '\0' b; } >one/long && mv one/long one/body/SKILL.md
run mapm check --json one
is '[T12] 20,003 characters' "$(field one/body/SKILL.md '[d["load_size_tokens"], len(d["warnings"])]')" '[5000, 0]'
printf b >>one/body/SKILL.md
run mapm check --json one
is '[T12] 20,004 characters' "$(field one/body/SKILL.md '[d["load_size_tokens"], len(d["warnings"])]')" '[5001, 1]'

# --- names ------------------------------------------------------------------

while read -r code name; do
    [ "$name" = '""' ] && name=
    [ "$code" = fine ] && want=0 || want=3
    exits "[L8] the name \"$name\"" $want mapm check --name "$name"
    [ "$code" = fine ] || has 'for its reason' error "$code"
done <<EOF2
fine a
fine pdf-2-text
fine $(printf 'a%.0s' $(seq 64))
name-too-long $(printf 'a%.0s' $(seq 65))
name-too-long $(printf 'ab-%.0s' $(seq 40))c
name-empty ""
name-grammar -a
name-grammar a-
name-grammar a--b
name-grammar A
name-grammar a_b
name-grammar acme/x
name-grammar caf$(printf '\303\251')
EOF2
exits '[D16, L8] a name under another profile' 0 mapm check --profile lm-kit --name a--b
exits '[D16, L8] letters of any script' 0 mapm check --profile skills-ref --name "caf$(printf '\303\251')"
exits '[D16, L8] but no capitals' 3 mapm check --profile skills-ref --name "$(printf '\303\211')t"
exits '[D16, L8] a long one is a warning for a metaskill' 0 mapm check --profile metaskill --name "$(printf 'a%.0s' $(seq 65))"
has '[D16, L8] with its code' warning name-too-long
exits 'with reasons for programs' 3 mapm check --json --name a_b --name ok
like 'the code' "$out" '"code": "name-grammar"'
like 'the name' "$out" '"name": "ok"'

# --- many (what they cost: growth.t) --------------------------------------------

python3 -S - <<'PYTHON'
import os
for i in range(2000):
    d = f"large/g{i // 500}/skills/skill-{i}"
    os.makedirs(d)
    with open(d + "/SKILL.md", "w") as f:
        f.write(f"---\nname: skill-{i}\ndescription: \"Does {i}, and says when.\"\n"
                "version: 1.0.0\nallowed-tools: Read Bash(git:*)\nmetadata:\n  author: me\n"
                f"---\n# {i}\n\nA line that an agent would read.\n")
PYTHON
exits 'all of them' 0 mapm check large
like 'in one call' "$out" '^checked 2000: 0 errors, 0 warnings$'
(ulimit -n 40 && "$MAPM" check -q large/g*/skills/*) >"$T/out" 2>&1
is 'with few descriptors, each named by itself' "$(cat "$T/out")" ''
# --- hosts that the user's own configuration names [row 10] -------------------
skill "$T/ghe/skills/x" 'scope: acme' 'dependencies:' '  skills:' \
    '    - https://ghe.example.com/acme/catalog/tree/main/skills/y'
exits 'a host that nobody named' 3 mapm check "$T/ghe"
mkdir -p "$XDG_CONFIG_HOME/mapm"
echo 'hosts: [ghe.example.com]' >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits 'a host of config.yaml' 0 mapm check "$T/ghe"
rm "$XDG_CONFIG_HOME/mapm/config.yaml"
MAPM_GITHUB_HOSTS=ghe.example.com
export MAPM_GITHUB_HOSTS
exits 'a host of the environment' 0 mapm check "$T/ghe"
unset MAPM_GITHUB_HOSTS

done_testing

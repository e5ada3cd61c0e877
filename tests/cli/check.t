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
        is "check exits with 3 for the error of case $number" "$status" 3
    fi
done <"$T/list"
ok 'the file of cases has at least 95 of them' test "$(wc -l <"$T/list")" -ge 95

# Each code that the program knows has its case, and each case its code.
missing=
for code in $(sed -n '/^} table\[\]/,/^};/s/^ *{"\([a-z0-9-]*\)",.*/\1/p' \
    "$ROOT/manifest/level.c"); do
    grep -q "^== $code " "$cases" || missing="$missing $code"
done
is 'each code of the program has a case' "$missing" ''

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
exits '[G13] check accepts an Agent Plugin with all legal fields' 0 mapm check -v --profile agent-plugin good
like 'check of a plugin counts its skill, too' "$out" '^checked 2: 0 errors'
like 'check reports the plugin.json of an Agent Plugin as ok' "$out" '^good/plugin.json: ok$'
exits '[G13] check without a profile finds the plugin in a tree' 0 mapm check -v .
like 'check recognizes an Agent Plugin by its schema' "$out" '^good/plugin.json: ok$'
mkdir other && echo '{"name": 7}' >other/plugin.json
exits '[G13] check of a folder ignores a plugin.json of another program' 0 mapm check --profile agent-plugin .
unlike 'the output does not name the plugin.json of another program' "$out" 'other'
exits '[G13] check of a named plugin.json of another program exits with 3' 3 mapm check --profile agent-plugin other/plugin.json
has 'check reports the named file as an error of the schema' error plugin-schema
echo '{"x": 1}' >good/mcp.json
exits '[G13] check exits with 3 for a wrong mcp.json of a plugin' 3 mapm check --profile agent-plugin good/plugin.json
like 'check reports the wrong field of mcp.json with its line' "$out" '^good/mcp.json:1: error: .*.P27. \[plugin-mcp-field\]$'
exits '[G13] check --json exits with 3 for a wrong mcp.json of a plugin' 3 mapm check --json --profile agent-plugin good
is 'check --json shows type and name of the plugin and the file of the error' "$(field good/plugin.json '[d["type"], d["name"], d["errors"][0]["file"]]')" \
    '["plugin", "a.-b", "mcp.json"]'
exits '[G13] check --strict exits with 3 for a wrong mcp.json of a plugin' 3 mapm check --strict --profile agent-plugin good
rm -rf good other
mkdir -p cc/.claude-plugin cc/s/one cc/agents && skill cc/s/one
cat >cc/.claude-plugin/plugin.json <<'JSON'
{"name": "Some.Plugin_1", "version": "banana", "author": {"name": "x", "more": 1}, "skills": ["./s", "./"],
 "mcpServers": {"a": {"command": "x", "more": 1}, "b": {"type": "streamable-http", "url": "https://x.example"}},
 "dependencies": ["a", "a@b", "a@b@^1", {"name": "x", "version": "^1.0.0"}],
 "userConfig": {"k": {"type": "string", "title": "t", "description": "d", "sensitive": true}}}
JSON
printf -- '---\ndescription: x\n---\n' >cc/agents/x.md
exits '[G13] check accepts a plugin of Claude Code with all legal fields' 0 mapm check -v --profile claude-plugin cc
like 'check reports the plugin.json of Claude Code as ok' "$out" '^cc/.claude-plugin/plugin.json: ok$'
mkdir -p bare/agents && skill bare/skills/one && echo '[' >bare/.mcp.json
exits '[G13] check exits with 3 for a plugin without a manifest and a bad .mcp.json (C1)' 3 mapm check --profile claude-plugin bare
like 'check reports the malformed .mcp.json of a plugin without a manifest' "$out" 'bare/.mcp.json.*claude-file-json'
rm bare/.mcp.json
exits '[G13] check accepts a plugin without a manifest' 0 mapm check -v --profile claude-plugin bare
rm -r bare/agents bare/skills && touch bare/x
run mapm check --profile claude-plugin bare
unlike '[G13] a folder without parts of a plugin is not reported as a plugin' "$out$err" 'plugin.json: ok'
rm -r bare
mkdir -p .claude-plugin .github/plugin
cat >.claude-plugin/marketplace.json <<'JSON'
{"name": "m", "owner": {"name": "o"}, "metadata": {"pluginRoot": "./"}, "renames": {"old": "a", "gone": null},
 "plugins": [{"name": "a", "source": "./cc", "dependencies": ["b", "x@y"]}, {"name": "b", "source": "cc", "version": "banana"},
    {"name": "c", "source": {"source": "git-subdir", "url": "a/b", "path": "x",
        "sha": "0123456789012345678901234567890123456789"}}]}
JSON
echo '{"name": "m", "plugins": [{"name": "a", "source": "cc"}]}' >.github/plugin/marketplace.json
exits '[G13] check accepts two marketplaces in one repository' 0 mapm check -v --profile marketplace .
like 'check reports a plugin with different names in marketplace and manifest (C8)' "$out" 'market-entry-alias.*'
sed -i 's/"Some.Plugin_1"/"a"/; s/"name": "b", "source": "cc"/"name": "b", "source": "dd"/' \
    cc/.claude-plugin/plugin.json .claude-plugin/marketplace.json
mkdir -p dd/.claude-plugin && echo '{"name": "b"}' >dd/.claude-plugin/plugin.json
exits '[G13] check accepts marketplaces whose plugins have one name' 0 mapm check -v --profile marketplace .
like 'check reports the marketplace of Claude as ok' "$out" '^.claude-plugin/marketplace.json: ok$'
like 'check accepts a marketplace of Copilot whose sources lack "./"' "$out" '^.github/plugin/marketplace.json: ok$'
exits '[G13] check accepts one marketplace by its path' 0 mapm check .claude-plugin/marketplace.json
like 'check of one marketplace checks that file alone' "$out" '^checked 1: 0 errors, 0 warnings$'
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
exits 'check of a tree succeeds' 0 mapm check -v
is 'check lists each package of a tree once, in sorted order' "$(printf '%s\n' "$out" | sed 's/: .*//')" \
    '.agents/skills/hidden/SKILL.md
agents/boss/AGENTS.md
mcps/io.example_mcp.json
skills/writer/SKILL.md
skills/writer/nested/deep/SKILL.md
sub/reviewer/AGENTS.md
checked 6'
exits 'check -q of a tree succeeds' 0 mapm check -q
is 'check -q of a correct tree prints nothing' "$out" ''
exits 'check of a tree from outside succeeds' 0 mapm -C .. check -v ./tree//
like 'paths in the output begin as they were given' "$out" '^tree/mcps/io.example_mcp.json: ok$'
exits 'check of a folder of a catalog succeeds' 0 mapm check -v agents
like 'check of the folder agents finds its agents' "$out" '^agents/boss/AGENTS.md: ok$'
exits 'check inside of a folder of a catalog succeeds' 0 mapm -C mcps check -v
like 'check inside of the folder mcps finds the MCP files' "$out" '^io.example_mcp.json: ok$'
exits 'check of a package succeeds' 0 mapm check -v skills/writer
like 'check of a package checks the packages inside of it, too' "$out" '^checked 2:'
exits 'check of a single document succeeds' 0 mapm check -v skills/writer/SKILL.md
like 'check of a single document checks that document alone' "$out" '^checked 1:'
exits 'check accepts a named MCP file in any folder' 0 mapm check other/io.example_mcp.json
exits 'check follows a link that is named' 0 mapm check linked
exits 'check of overlapping paths succeeds' 0 mapm check -v skills skills/writer ./skills/writer/SKILL.md
like 'check of overlapping paths checks each document once' "$out" '^checked 2:'
exits "a project's own instructions, named" 3 mapm check AGENTS.md
has 'the error says that the file has no frontmatter' error no-frontmatter
mkdir plain && printf '# Build\n' >plain/AGENTS.md
exits 'check exits with 3 for a folder with the instructions of a project alone' 3 mapm check plain
rm -rf plain
mkdir -p new/agents new/skills
exits 'check accepts an empty catalog' 0 mapm check new
mkdir hollow
exits 'check exits with 3 for an empty folder' 3 mapm check hollow
has 'check reports an empty folder as an error without a package' error no-anchor
exits '[X7] check of missing paths exits with 1' 1 mapm check skills nowhere neither
like 'the error names the first missing path' "$err" 'nowhere'
like 'the error names the second missing path' "$err" 'neither'
is 'check of missing paths judges no other path' "$out" ''
exits 'check exits with 3 for a named AGENTS.md in a folder of skills' 3 mapm check ../tree/.agents/../skills/AGENTS.md
printf 'x\n' >notes.txt
exits 'check exits with 3 for a named file of another kind' 3 mapm check notes.txt
has 'check reports a file of another kind as an error without a package' error no-anchor
cd ..

# --- links, and what hangs --------------------------------------------------

mkdir -p links/shared links/skills/one links/skills/two
skill links/shared/one
ln -s ../../shared/one/SKILL.md links/skills/one/SKILL.md
exits '[A4] check of a tree accepts a SKILL.md that is a link inside of it' 0 mapm check -v links
like 'check reports the linked SKILL.md as ok' "$out" '^links/skills/one/SKILL.md: ok$'
exits 'check of the package alone exits with 3 for a link that leaves it' 3 mapm check links/skills/one
git init -q links
exits 'check accepts such a link inside of a git repository' 0 mapm check links/skills/one
ln -s /etc/hostname links/skills/two/SKILL.md
exits '[row 1] check exits with 3 for a link that leaves the repository' 3 mapm check links
has 'check reports the link as unreadable' error unreadable
unlike 'check does not print the content behind the link' "$out" "$(cat /etc/hostname)"
mkdir "$(printf 'evil\033[31m\nname')"
exits '[row 7] check exits with 3 for a folder with control characters in its name' 3 mapm check "$(printf 'evil\033[31m\nname')"
is 'check prints a name with a newline on one line' "$(printf '%s\n' "$out" | wc -l)" 2
unlike 'check prints no escape character of a name' "$out" "$(printf '\033')"

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
    is 'check of a tree with an unreadable folder exits with 0' "$status" 0
    has 'check of a tree warns of the unreadable folder' warning unreadable-folder
    run $user "$T/mapm-copy" check --strict "$T/ws/closed"
    is 'check --strict of a tree with an unreadable folder exits with 3' "$status" 3
    run $user "$T/mapm-copy" check "$T/ws/closed/skills/secret"
    is 'check of a named unreadable folder exits with 3' "$status" 3
    has 'check reports a named unreadable folder as an error' error unreadable-folder
else
    skip 'a folder that cannot be read' 'root reads everything'
fi
chmod 755 closed/skills/secret
deep=$(printf 'd/%.0s' $(seq 70))
mkdir -p "deep/$deep"
skill deep/top
exits 'check of a tree of 70 nested folders succeeds' 0 mapm check deep
has 'check warns that it does not enter folders beyond the limit of depth' warning unreadable-folder

# --- levels -----------------------------------------------------------------

skill levels/skills/plain 'description: "x"'
sed -i '/^version/d' levels/skills/plain/SKILL.md
exits 'check with warnings alone exits with 0' 0 mapm check levels
exits '[X6] check --strict exits with 3 for warnings' 3 mapm check --strict levels
exits 'check --profile metaagents exits with 3 for a missing version' 3 mapm check --profile metaagents levels
exits 'check --profile agentskills accepts a missing version' 0 mapm check --profile agentskills levels
exits 'check exits with 2 for an unknown profile' 2 mapm check --profile nobody levels

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
exits 'check --json exits with 3 for errors' 3 mapm check --json json
p=json/skills/shown/SKILL.md
is 'check --json names its schema' "$(field $p 'whole["schema"]')" '"mapm.check/1"'
is 'check --json shows the facts of a skill' "$(field $p '[d[k] for k in ("ok", "type", "name", "scope", "fqn", "description", "version", "metaskill")]')" \
    '[true, "skill", "shown", "acme", "acme/shown", "Shows it all.", "1.2.3", true]'
hash=$(printf 'hello\n' | sha256sum | cut -c1-16)
is '[T11] check --json shows the hash of the body' "$(field $p 'd["skill_version"]')" "\"$hash\""
is '[T12] check --json shows the size of the body in tokens' "$(field $p 'd["load_size_tokens"]')" 1
is '[L8] check --json shows the allowed tools as a list' "$(field $p 'd["allowed_tools"]')" '["Read", "Bash(git:*)"]'
is 'an entry of check --json has exactly these keys' "$(field $p 'list(d)')" \
    '["path", "ok", "errors", "warnings", "hints", "type", "name", "scope", "fqn", "description", "version", "skill_version", "load_size_tokens", "allowed_tools", "metaskill"]'
p=json/skills/bad/SKILL.md
is '[L8] check --json shows all errors of a document' "$(field $p 'sorted({x["code"] for x in d["errors"]} - {"name-folder"})')" \
    '["description-empty", "name-grammar", "scope-grammar", "version-format"]'
is 'an error of check --json has exactly these keys' "$(field $p 'list(d["errors"][0])')" '["code", "field", "file", "line", "column", "message", "hint"]'
is 'an error of check --json has its line' "$(field $p '[x["line"] for x in d["errors"] if x["code"] == "description-empty"]')" '[3]'
is 'an error of check --json has its field' "$(field $p '[x["field"] for x in d["errors"] if x["code"] == "description-empty"]')" '["description"]'
p=json/mcps/a_b.json
is 'check --json shows null for unknown facts of a malformed document' "$(field $p '[d[k] for k in ("ok", "type", "name", "version", "skill_version", "load_size_tokens", "allowed_tools", "metaskill")]')" \
    '[false, "mcp", null, null, null, null, [], false]'
skill one/body
sed -i '/^---$/,$!d' one/body/SKILL.md
run mapm check --json one
first=$(field one/body/SKILL.md 'd["skill_version"]')
sed -i 's/^description: .*/description: Another one./' one/body/SKILL.md
run mapm check --json one
is '[T11] a change of the description leaves the hash of the body unchanged' "$(field one/body/SKILL.md 'd["skill_version"]')" "$first"
{ head -n 5 one/body/SKILL.md && head -c 20003 /dev/zero | tr '\0' b; } >one/long && mv one/long one/body/SKILL.md
run mapm check --json one
is '[T12] a body of 20,003 characters has 5000 tokens and no warning' "$(field one/body/SKILL.md '[d["load_size_tokens"], len(d["warnings"])]')" '[5000, 0]'
printf b >>one/body/SKILL.md
run mapm check --json one
is '[T12] a body of 20,004 characters has 5001 tokens and a warning' "$(field one/body/SKILL.md '[d["load_size_tokens"], len(d["warnings"])]')" '[5001, 1]'

# --- names ------------------------------------------------------------------

while read -r code name; do
    [ "$name" = '""' ] && name=
    [ "$code" = fine ] && want=0 || want=3
    exits "[L8] the name \"$name\"" $want mapm check --name "$name"
    [ "$code" = fine ] || has 'check --name reports the code of the wrong name' error "$code"
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
exits '[D16, L8] check --profile lm-kit accepts a name with a double hyphen' 0 mapm check --profile lm-kit --name a--b
exits '[D16, L8] check --profile skills-ref accepts letters of any script' 0 mapm check --profile skills-ref --name "caf$(printf '\303\251')"
exits '[D16, L8] check --profile skills-ref refuses a capital letter' 3 mapm check --profile skills-ref --name "$(printf '\303\211')t"
exits '[D16, L8] check --profile metaskill accepts a name of 65 characters' 0 mapm check --profile metaskill --name "$(printf 'a%.0s' $(seq 65))"
has '[D16, L8] check --profile metaskill warns of a name of 65 characters' warning name-too-long
exits 'check --json --name exits with 3 for one wrong name of two' 3 mapm check --json --name a_b --name ok
like 'check --json --name shows the code of the wrong name' "$out" '"code": "name-grammar"'
like 'check --json --name shows the correct name, too' "$out" '"name": "ok"'

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
exits 'check of a folder with 2000 skills succeeds' 0 mapm check large
like 'one check counts 2000 skills without errors or warnings' "$out" '^checked 2000: 0 errors, 0 warnings$'
(ulimit -n 40 && "$MAPM" check -q large/g*/skills/*) >"$T/out" 2>&1
is 'check -q of 2000 named folders with 40 descriptors prints nothing' "$(cat "$T/out")" ''
# --- hosts that the user's own configuration names [row 10] -------------------
skill "$T/ghe/skills/x" 'scope: acme' 'dependencies:' '  skills:' \
    '    - https://ghe.example.com/acme/catalog/tree/main/skills/y'
exits 'check exits with 3 for a dependency on an unknown host' 3 mapm check "$T/ghe"
mkdir -p "$XDG_CONFIG_HOME/mapm"
echo 'hosts: [ghe.example.com]' >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits 'check accepts a dependency on a host of config.yaml' 0 mapm check "$T/ghe"
rm "$XDG_CONFIG_HOME/mapm/config.yaml"
MAPM_GITHUB_HOSTS=ghe.example.com
export MAPM_GITHUB_HOSTS
exits 'check accepts a dependency on a host of MAPM_GITHUB_HOSTS' 0 mapm check "$T/ghe"
unset MAPM_GITHUB_HOSTS

done_testing

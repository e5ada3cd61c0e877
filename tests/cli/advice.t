#!/bin/sh
# What a user is told of a package, and what its author: the advice of mapm check
# is not repeated by install, and following it leaves a package that installs. The
# codes are those of manifest/level.c whose packages may install; those of plugins and
# marketplaces have cases in tests/cases/check/codes.txt. [D15].
. "$(dirname "$0")/../lib/cli.sh"

D='description: Writes notes. Use when notes are asked for.'
U=https://github.com/acme/cat/tree
skill "$T/src/skills/y" 'version: 1.2.0'
make_repo acme/cat "$T/src"
repo acme/cat tag v1.2.0
start_githost
git config --global --add "url.$GITHOST_URL/.insteadOf" https://gitlab.com/

# many COUNT TEXT: the text so many times.
many()
{
    head -c "$1" /dev/zero | sed "s/\\x0/$2/g"
}
# document ANCHOR BODY LINE...: with these lines of frontmatter; name and
# description are given where they are not.
document()
{
    anchor=$1 body=$2
    shift 2
    given=$(printf '%s\n' "$@")
    {
        echo ---
        for line in 'name: x' "$D"; do
            printf '%s\n' "$given" | grep -q "^${line%%:*}:" || echo "$line"
        done
        printf '%s\n' "$@" | grep .
        printf -- '---\n%b\n' "$body"
    } >"$P/$anchor"
}
lines() { document SKILL.md 'Do it.' "$@"; }
body() { document SKILL.md "$@"; }
log() { printf '# Changelog\n\n%s\n' "$1" >"$P/CHANGELOG.md"; }
# program NAME: a metaskill with the program $1 as SKILL.star.
program()
{
    printf 'def run(input):\n    return 1\n' >"$P/SKILL.star"
    body 'Input keys: none.' "$@"
}
server() { printf '%s\n' "$1" >"$P/io.acme_x.json"; }

# put CODE before|after: the package in $P, as it has the code, and as the advice
# says. What the author has to write once it is followed is written.
put()
{
    rm -rf skills mcps
    P=./skills/x
    case $1 in
    mcp-*) P=./mcps ;;
    name-from-folder) P=$T/elsewhere/x ;; # in the workspace it is refused
    esac
    mkdir -p "$P"
    case "$1 $2" in
    'bom before') lines && sed -i '1s/^/\xef\xbb\xbf/' "$P/SKILL.md" ;;
    'bom after') lines ;;
    'yaml-repaired before') lines 'description: Writes notes. Use when: asked.' ;;
    'yaml-repaired after') lines 'description: "Writes notes. Use when: asked."' ;;
    'unknown-field before') lines 'flavour: sweet' ;;
    'unknown-field after') lines 'x_flavour: sweet' ;;
    'claim before') lines 'dependancies:' '  skills:' "    - $U/main/skills/y" ;;
    'claim after') lines 'version: 1.0.0' 'dependencies:' '  skills:' "    - $U/main/skills/y" ;;
    'zero-width before') lines "$(printf '%s\342\200\213.' "$D")" ;;
    'zero-width after') lines ;;
    'name-folder before') lines 'name: other' ;;
    'name-folder after') lines ;;
    'name-from-folder before') lines 'name: "Bad Name!"' ;;
    'name-from-folder after') lines ;;
    'description-too-long before') lines "$D $(many 1100 d)" ;;
    'description-too-long after') body "$(many 1100 d)" ;;
    'description-when before') lines 'description: Writes notes.' ;;
    'description-when after') lines 'description: Writes notes. Use it when notes are asked for.' ;;
    'compatibility-type before') lines 'compatibility: [a]' ;;
    'compatibility-type after') lines 'compatibility: "[a]"' ;;
    'compatibility-empty before') lines 'compatibility: ""' ;;
    'compatibility-empty after') lines ;;
    'compatibility-too-long before') lines "compatibility: $(many 501 c)" ;;
    'compatibility-too-long after') lines "compatibility: $(many 500 c)" ;;
    'license-type before') lines 'license: [MIT]' ;;
    'license-type after') lines 'license: "MIT"' ;;
    'metadata-type before') lines 'metadata: text' ;;
    'metadata-type after') lines 'metadata:' '  key: value' ;;
    'metadata-key before') lines 'metadata: {1: a}' ;;
    'metadata-key after') lines 'metadata: {"1": a}' ;;
    'metadata-value before') lines 'metadata: {a: [b]}' ;;
    'metadata-value after') lines 'metadata: {a: "b"}' ;;
    'metadata-scalar before') lines 'metadata: {a: 1.0}' ;;
    'metadata-scalar after') lines 'metadata: {a: "1.0"}' ;;
    'allowed-tools-type before') lines 'allowed-tools: {Read: true}' ;;
    'allowed-tools-type after') lines 'allowed-tools: Read' ;;
    'allowed-tools-list before') lines 'allowed-tools: [Read, Grep]' ;;
    'allowed-tools-list after') lines 'allowed-tools: Read Grep' ;;
    'bool-type before') lines 'disable-model-invocation: "yes"' ;;
    'bool-type after') lines 'disable-model-invocation: true' ;;
    'context-value before') lines 'context: other' ;;
    'context-value after') lines 'context: fork' ;;
    'version-missing before') lines ;;
    'version-missing after') lines 'version: 1.0.0' ;;
    'version-format before') lines 'version: 1.0' ;;
    'version-format after') lines 'version: 1.0.0' ;;
    'scope-grammar before') lines 'scope: Bad Scope' 'version: 1.0.0' ;;
    'scope-grammar after') lines 'scope: io.example' 'version: 1.0.0' ;;
    'scope-too-long before') lines "scope: $(many 300 s)" 'version: 1.0.0' ;;
    'scope-too-long after') lines 'scope: s' 'version: 1.0.0' ;;
    'prereqs-type before') lines 'prereqs: [git]' ;;
    'prereqs-type after') lines 'prereqs: "git"' ;;
    'prereqs-on-agent before') document AGENTS.md 'Do it.' 'version: 1.0.0' 'prereqs: git' ;;
    'prereqs-on-agent after') document AGENTS.md '## Setup\n\ngit' 'version: 1.0.0' ;;
    'deps-not-mapping before') lines 'dependencies:' "  - $U/main/skills/y" ;;
    'deps-not-mapping after') lines 'version: 1.0.0' 'dependencies:' '  skills:' "    - $U/main/skills/y" ;;
    'deps-not-list before') lines 'version: 1.0.0' 'dependencies:' "  skills: $U/main/skills/y" ;;
    'deps-not-list after') lines 'version: 1.0.0' 'dependencies:' '  skills:' "    - $U/main/skills/y" ;;
    'deps-unknown-kind before') lines 'dependencies:' '  npm: [left-pad]' ;;
    'deps-unknown-kind after') lines ;;
    'deps-agents before') agent skills/other "$D" && document AGENTS.md 'Do it.' 'version: 1.0.0' 'dependencies: {agents: [./skills/other]}' ;;
    'deps-agents after') document AGENTS.md 'Do it.' 'version: 1.0.0' ;;
    'dep-not-string before') lines 'version: 1.0.0' 'dependencies: {skills: [5]}' ;;
    'dep-not-string after') lines 'version: 1.0.0' "dependencies: {skills: ['$U/main/skills/y']}" ;;
    'dep-bad-origin before') lines 'version: 1.0.0' 'dependencies: {skills: ["git@github.com:acme/cat.git"]}' ;;
    'dep-bad-origin after') lines 'version: 1.0.0' "dependencies: {skills: ['$U/main/skills/y']}" ;;
    'dep-object-form before') lines 'version: 1.0.0' "dependencies: {skills: [{origin: '$U/main/skills/y'}]}" ;;
    'dep-object-form after') lines 'version: 1.0.0' "dependencies: {skills: ['$U/main/skills/y']}" ;;
    'dep-file-origin before') lines 'version: 1.0.0' "dependencies: {skills: ['file:$T/src/skills/y']}" ;;
    'dep-file-origin after') lines 'version: 1.0.0' "dependencies: {skills: ['$U/main/skills/y']}" ;;
    'dep-range before') lines 'version: 1.0.0' "dependencies: {skills: ['$U/^1.2/skills/y']}" ;;
    'dep-range after') lines 'version: 1.0.0' "dependencies: {skills: ['$U/v1.2.0/skills/y']}" ;;
    'dep-host before') lines 'version: 1.0.0' "dependencies: {skills: ['https://gitlab.com/acme/cat/-/tree/main/skills/y']}" ;;
    'dep-host after') lines 'version: 1.0.0' "dependencies: {skills: ['$U/main/skills/y']}" ;;
    'changelog-missing before') lines 'version: 1.0.0' ;;
    'changelog-no-entry before') lines 'version: 1.0.0' && log '' ;;
    'changelog-version before') lines 'version: 1.0.0' && log '## 1.1.0 (2026-01-01)' ;;
    changelog-*' after') lines 'version: 1.0.0' && log '## 1.0.0 (2026-01-01)' ;;
    'metaskill-type before') program 'metaskill: [SKILL.star]' ;;
    'metaskill-not-relative before') program 'metaskill: /SKILL.star' ;;
    'metaskill-escapes before') program 'metaskill: ../SKILL.star' ;;
    'metaskill-not-found before') program 'metaskill: SKIL.star' ;;
    'metaskill-unreadable before') program 'metaskill: SKILL.star' && rm "$P/SKILL.star" && mkdir "$P/SKILL.star" && echo x >"$P/SKILL.star/x" ;;
    'metaskill-not-utf8 before') program 'metaskill: SKILL.star' && printf '# \377\n' >>"$P/SKILL.star" ;;
    'metaskill-frontmatter before') program 'metaskill: SKILL.star' && sed -i '1i ---' "$P/SKILL.star" ;;
    'metaskill-size before') program 'metaskill: SKILL.star' && { echo "# $(many 65536 x)" >>"$P/SKILL.star"; } ;;
    'metaskill-language before') program 'metaskill: SKILL.star' 'metaskill_language: lua' ;;
    'metaskill-input-keys before') program 'metaskill: SKILL.star' && body 'Do it.' 'metaskill: SKILL.star' ;;
    metaskill-*' after') program 'metaskill: SKILL.star' ;;
    'body-tokens before') body "$(many 30000 word-)" ;;
    'body-tokens after') body 'See [details](details.md).' && many 30000 word- >"$P/details.md" ;;
    'body-lines before') body "$(many 600 'x\\n')" ;;
    'body-lines after') body 'See [details](details.md).' && many 600 'x\n' >"$P/details.md" ;;
    'body-truncated before') program 'metaskill: SKILL.star' && body "Input keys: none. $(many 70000 x)" 'metaskill: SKILL.star' ;;
    'body-truncated after') program 'metaskill: SKILL.star' ;;
    'body-client-path before') body 'Run ~/.claude/skills/x/go.sh.' ;;
    'body-client-path after') body 'Run <SKILL_DIR>/go.sh.' ;;
    'reference-depth before') body 'See [one](one.md).' && echo '[two](two.md)' >"$P/one.md" && echo 2 >"$P/two.md" ;;
    'reference-depth after') body 'See [one](one.md) and [two](two.md).' && echo '[two](two.md)' >"$P/one.md" && echo 2 >"$P/two.md" ;;
    'mcp-consent before') mcp "$P/io.acme_x.json" io.acme/x npx -y x && sed -i '2i \  "autoApprove": ["a"],' "$P/io.acme_x.json" ;;
    'mcp-consent after') mcp "$P/io.acme_x.json" io.acme/x npx -y x ;;
    'mcp-format before') server '{"_meta": {"name": "io.acme/x"}, "type": "stdio", "command": "npx", "args": ["-y", "x"]}' ;;
    'mcp-format after') put mcp-format before && mapm check -q --fix "$P" && return ;;
    *) fail "[D15] $1 has a case in tests/cli/advice.t" && return 1 ;;
    esac
    case $1 in mcp-*) P=./mcps/io.acme_x.json ;; esac
}
# What a user is told: what is installed is not what was asked for, or cannot be used.
is_told()
{
    case $1 in
    metaskill-size | metaskill-input-keys) return 1 ;;
    name-folder | name-from-folder | zero-width | deps-not-mapping | deps-unknown-kind | dep-bad-origin | metaskill-*) ;;
    *) return 1 ;;
    esac
}

# The codes, each with its severity for install and the last profile that has it.
sed -n 's/^    {"\([a-z0-9-]*\)", *"\([^"]*\)"},$/\1 \2/p' "$ROOT/manifest/level.c" >"$T/table"
at_least=$(wc -l <"$T/table")
ok 'the table of severities has at least 90 codes' test "$at_least" -ge 90
while read -r code levels; do
    level=$(printf '%.1s' "$levels")
    profile=install
    i=0
    for name in install agentskills skills-ref metis metaagents lm-kit metaskill publish; do
        i=$((i + 1))
        [ "$(printf %s "$levels" | cut -c$i)" = - ] || profile=$name
    done
    case $code in plugin-* | claude-* | market-*) continue ;; esac
    case $level in
    E) continue ;;
    i) before=1 ;;
    *) before=0 ;;
    esac
    put "$code" before || continue
    run mapm check --profile $profile "$P"
    like "[D15] $code: check reports the code to the author" "$out$err" "\[$code\]"
    exits "[D15] $code: install of the package as it is has the expected exit code" $before mapm install --yes "$P"
    if [ $before = 0 ]; then
        if is_told "$code"; then
            like "[D15] $code: install warns the user" "$err" 'warning: '
        else
            unlike "[D15] $code: install does not warn the user" "$err" 'warning'
        fi
        rm -rf mapm.* .agents .mcp.json .claude
    fi
    put "$code" after
    run mapm check --profile $profile "$P"
    unlike "[D15] $code: check does not report the code after its advice was followed" "$out$err" "\[$code\]"
    exits "[D15] $code: install succeeds after the advice was followed" 0 mapm install --yes "$P"
    rm -rf mapm.* .agents .mcp.json .claude
done <"$T/table"

# What makes a package one of MetaAgents says what that demands.
put claim before
exits '[D15] install succeeds for a package with a misspelt field' 0 mapm install --yes ./skills/x
run mapm check --profile publish skills/x
like '[D15] check says that the corrected field needs a version' "$out" \
    'did you mean "dependencies"\? \(a package with it needs a version such as 1\.0\.0, too\)'
put claim after
exits '[D15] install succeeds after field and version were corrected' 0 mapm install --yes ./skills/x
run mapm check --profile publish skills/x
unlike '[D15] check reports no unknown field after the correction' "$out" 'unknown-field'
rm -rf mapm.* .agents .claude

# --- what a user can act on ---------------------------------------------------------

put name-folder before
exits '[D15] install succeeds for a name that differs from its folder' 0 mapm install ./skills/x
like '[D15] install warns about the name that differs from its folder' "$err" 'warning: .*the name "other" is not that of its folder'
exits '[D15] list succeeds for the installed package' 0 mapm list
is '[D15] list prints no advice about the installed package' "$err" ''
mapm remove -q other
put deps-unknown-kind before
exits '[D15] install succeeds with dependencies of an unknown kind' 0 mapm install ./skills/x
like '[D15] install warns that the unknown kind is ignored' "$err" 'warning: .*"npm" is ignored'
mapm remove -q x
put metaskill-language before
exits '[D15] install succeeds for a program in an unknown language' 0 mapm install ./skills/x
like '[D15] install warns about the program in an unknown language' "$err" 'warning: .*only "starlark" programs'
exits '[D15] skill show succeeds for the installed package' 0 mapm skill show x
unlike '[D15] skill show prints no advice for the author' "$out$err" '\[description|\[version'

# --- packages of others, beside those of the workspace ------------------------------

rm -rf mapm.* .agents .claude skills
skill "$T/theirs"
sed -i '/^version:/d' "$T/theirs/SKILL.md"
skill skills/mine
sed -i '/^version:/d' skills/mine/SKILL.md
sed -i '2a rating: 5' "$T/theirs/SKILL.md"
exits '[D15] install succeeds for a package from another folder' 0 mapm install --yes "$T/theirs"
exits '[D15] check of the workspace succeeds' 0 mapm check
like '[D15] check lists warnings about packages of the workspace' "$out" '^skills/mine/SKILL.md:1: warning: '
unlike '[D15] check lists no warnings about installed packages' "$out" '^.agents'
like '[D15] check counts the warnings about installed packages' "$out" '^1 installed package: 0 errors, 1 warning \(-v lists them\)$'
like '[D15] check counts the warnings about all packages' "$out" '^checked 2: 0 errors, 2 warnings$'
unlike '[D15, K12] check -v prints no hints about installed packages' "$(mapm check -v)" 'hint: '
like '[D15] check -v lists warnings about installed packages' "$(mapm check -v)" '^.agents/skills/theirs/SKILL.md:1: warning: '
like '[D15] check of the folder .agents lists its warnings' "$(mapm check .agents)" '^.agents/skills/theirs/SKILL.md:1: warning: '
done_testing

#!/bin/sh
# What a user is told of a package, and what its author: the advice of mapm check
# is not repeated by install, and following it leaves a package that installs.
# [D15].
. "$(dirname "$0")/../lib/cli.sh"

# write NAME LINE...: a skill in ./skills/NAME with these lines of frontmatter.
write()
{
    name=$1
    shift
    rm -rf "skills/$name" && mkdir -p "skills/$name"
    {
        echo ---
        printf '%s\n' "$@"
        printf -- '---\nDo it.\n'
    } >"skills/$name/SKILL.md"
}
D='description: Writes notes. Use when notes are asked for.'

# advice CODE BEFORE AFTER: of the line BEFORE; AFTER is what the advice says.
advice()
{
    write x 'name: x' "$D" 'version: 1.0.0' "$2"
    run mapm check --strict --profile publish skills/x
    like "[D15] $1: the author is told" "$out$err" "\[$1\]"
    exits "[D15] $1: installs" 0 mapm install --force ./skills/x
    unlike "[D15] $1: the user is not told" "$err" 'warning'
    exits "[D15] $1: is shown" 0 mapm skill show x
    unlike "[D15] $1: without it, too" "$out$err" '^warnings'
    write x 'name: x' "$D" 'version: 1.0.0' "$3"
    run mapm check --strict --profile publish skills/x
    unlike "[D15] $1: once followed, it is not repeated" "$out$err" "\[$1\]"
    exits "[D15] $1: it still installs" 0 mapm install --force ./skills/x
    exits "[D15] $1: and goes" 0 mapm remove x
}
advice compatibility-type 'compatibility: [a]' 'compatibility: a'
advice license-type 'license: [MIT]' 'license: MIT'
advice metadata-type 'metadata: text' 'metadata: {a: "text"}'
advice metadata-value 'metadata: {a: [b]}' 'metadata: {a: "b"}'
advice unknown-field 'flavour: sweet' 'metadata: {flavour: "sweet"}'
advice allowed-tools-list 'allowed-tools: [Read, Grep]' 'allowed-tools: Read Grep'

# --- what a user can act on ---------------------------------------------------------

write y 'name: other' "$D" 'version: 1.0.0'
exits '[D15] another name' 0 mapm install ./skills/y
like '[D15] is told' "$err" 'warning: .*the name "other" is not that of its folder'
write z 'name: z' "$D" 'version: 1.0.0' 'dependencies:' '  npm: [left-pad]'
exits '[D15] ignored dependencies' 0 mapm install ./skills/z
like '[D15] are told' "$err" 'warning: .*"npm" is ignored'
write w 'name: w' "$D" 'version: 1.0.0' 'metaskill_language: lua' 'metaskill: SKILL.lua'
echo x >skills/w/SKILL.lua
exits '[D15] a program that cannot be used' 0 mapm install ./skills/w
like '[D15] is told' "$err" 'warning: .*only "starlark" programs'
exits '[D15] what is installed' 0 mapm list
is '[D15] is listed without advice' "$err" ''
done_testing

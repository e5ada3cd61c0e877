#!/bin/sh
# One plan, one question; and offers that are told once. D4.
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/terminal.sh"

U=https://github.com/acme/catalog/tree/main
questions()
{
    printf '%s\n' "$out" | grep -c '\[y/N\]'
}
skill "$T/src/skills/pdf"
skill "$T/src/skills/docx" 'prereqs: Needs git 2.40.'
skill "$T/src/skills/third"
mcp "$T/src/mcps/io.acme_tool.json" io.acme/tool npx -y tool
make_repo acme/catalog "$T/src"
start_githost
git init -q .

# --- commands of servers, prereqs, and an offer ------------------------------------

on_terminal n "$MAPM" install acme/catalog --all
is '[D4] a no' "$status" 4
is '[D4] to one question' "$(questions)" 1
like '[D4] changes nothing' "$out" 'nothing was changed'
not_ok '[D4] not a file' test -e mapm.yaml
on_terminal y "$MAPM" install acme/catalog --all
is '[D4] servers and prereqs' "$status" 0
is '[D4] are one question' "$(questions)" 1
like '[D4] about all that was shown' "$out" 'Let your agents start this MCP server'
is '[D4] an offer is one line with its command' \
    "$(printf '%s\n' "$out" | grep -c 'mapm init --gitignore adds')" 1
on_terminal y "$MAPM" remove third
on_terminal y "$MAPM" install acme/catalog/skills/third
is '[D4] with nothing to ask there is no question' "$status $(questions)" '0 0'
is '[D4] and the offer was told' \
    "$(printf '%s\n' "$out" | grep -c 'mapm init --gitignore adds')" 0
exits '[D4] which is no trust' 0 mapm trust --list
unlike '[D4] that is listed' "$out$err" hint

# --- a folder of the user, and a server ------------------------------------------------

cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
mkdir -p .claude/skills && cp -r "$T/src/skills/pdf" .claude/skills/
exits 'import of a folder' 0 mapm import --from acme/catalog
sed "s|^dependencies:|&\\n  mcps: [$U/mcps/io.acme_tool.json]|" mapm.yaml >"$T/yaml"
cp "$T/yaml" mapm.yaml
exits '[D4] without a terminal' 4 mapm remove pdf
like '[D4] the folder is named' "$err" 'a folder that was there before requires consent'
like '[D4] and the server' "$err" 'mcp io.acme/tool would run: npx'
on_terminal n "$MAPM" remove pdf
is '[D4] a no' "$status $(questions)" '4 1'
ok '[D4] leaves it' test -f .claude/skills/pdf/SKILL.md
on_terminal y "$MAPM" remove pdf
is '[D4] both are one question' "$status $(questions)" '0 1'
like '[D4] that names both' "$out" 'Delete this folder, and let your agents start this MCP server\?'
not_ok '[D4] and then it goes' test -e .claude/skills/pdf/SKILL.md

done_testing

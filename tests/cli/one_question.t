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
is '[D4] no to an install exits with 4' "$status" 4
is '[D4] an install with a server and prereqs asks one question' "$(questions)" 1
like '[D4] no reports that nothing was changed' "$out" 'nothing was changed'
not_ok '[D4] no writes no mapm.yaml' test -e mapm.yaml
on_terminal y "$MAPM" install acme/catalog --all
is '[D4] yes to an install with a server and prereqs exits with 0' "$status" 0
is '[D4] yes answers the one question of the install' "$(questions)" 1
like '[D4] the question is about the MCP server' "$out" 'Let your agents start this MCP server'
is '[D4] the offer of a .gitignore is one line with its command' \
    "$(printf '%s\n' "$out" | grep -c 'mapm init --gitignore adds')" 1
on_terminal y "$MAPM" remove third
on_terminal y "$MAPM" install acme/catalog/skills/third
is '[D4] an install without a server asks no question' "$status $(questions)" '0 0'
is '[D4] the offer of a .gitignore is not repeated' \
    "$(printf '%s\n' "$out" | grep -c 'mapm init --gitignore adds')" 0
exits '[D4] trust --list succeeds after the offer' 0 mapm trust --list
unlike '[D4] trust --list does not list the offer' "$out$err" hint

# --- a folder of the user, and a server ------------------------------------------------

cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
mkdir -p .claude/skills && cp -r "$T/src/skills/pdf" .claude/skills/
exits 'import of a folder of a client succeeds' 0 mapm import --from acme/catalog
sed "s|^dependencies:|&\\n  mcps: [$U/mcps/io.acme_tool.json]|" mapm.yaml >"$T/yaml"
cp "$T/yaml" mapm.yaml
exits '[D4] remove without a terminal exits with 4' 4 mapm remove pdf
like '[D4] the error names the folder that requires consent' "$err" 'a folder that was there before requires consent'
like '[D4] the error shows the command of the server that requires consent' "$err" 'mcp io.acme/tool would run: npx'
on_terminal n "$MAPM" remove pdf
is '[D4] no to a remove exits with 4 after one question' "$status $(questions)" '4 1'
ok '[D4] no to a remove keeps the folder' test -f .claude/skills/pdf/SKILL.md
on_terminal y "$MAPM" remove pdf
is '[D4] yes to a remove exits with 0 after one question' "$status $(questions)" '0 1'
like '[D4] the question names the folder and the server' "$out" 'Delete this folder, and let your agents start this MCP server\?'
not_ok '[D4] yes to a remove deletes the folder' test -e .claude/skills/pdf/SKILL.md

done_testing

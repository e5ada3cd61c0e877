#!/bin/sh
# The rows of clients/table.c: what other programs read in the file that each
# client gets [H6], and docs/clients.md, which has the same rows.
. "$(dirname "$0")/../lib/cli.sh"

mkdir files
exits 'client_table writes a file for each client' 0 "$MAPM_BUILD/client_table" files files
printf '%s\n' "$out" >list
is 'the file of each client has the form that the client reads' "$(python3 "$ROOT/tests/lib/client_table.py" files <list 2>&1)" ''
exits 'client_table prints the table of the documentation' 0 "$MAPM_BUILD/client_table" doc
printf '%s\n' "$out" >table
is 'docs/clients.md has the table of the code' "$(sed -n '/^| client | known/,/^$/p' "$ROOT/docs/clients.md" |
    sed '/^$/d')" "$(cat table)"

# --- a workspace that has files of its own ------------------------------------------------

mkdir ws && cd ws || exit 1
mkdir -p .kiro/settings .kilo .vibe
printf '// mine\r\n{\r\n\t"mcp": {}, // none\r\n}' >.kilo/kilo.jsonc
printf '\357\273\277{"mcpServers": {"mine": {"command": "x"}}}' >.kiro/settings/mcp.json
printf '[[mcp_servers]]\nname = "mine"\n# end' >.vibe/config.toml
cp -a . ../before
printf 'clients: [junie, goose]\n' >mapm.yaml
exits 'install --with-server for six clients succeeds' 0 mapm install --with-server
for file in .kiro/settings/mcp.json .kilo/kilo.jsonc .vibe/config.toml .junie/mcp/mcp.json \
    .agents/plugins/mapm/.mcp.json .mcp.json; do
    like "$file has the server of mapm" "$(cat $file)" mapm
done
is 'install warns of both unverified clients' "$(printf '%s\n' "$err" | grep -c 'is unverified: what ')" 2
exits 'a second install succeeds' 0 mapm install
like 'a second install reports nothing to do' "$err" 'nothing to do'
rm mapm.yaml
exits 'install --yes without mapm.yaml succeeds' 0 mapm install --yes
rm -rf .agents mapm.lock .gitignore .claude
is 'install without mapm.yaml restores every byte of the files of the user' "$(diff -r . ../before)" ''
done_testing

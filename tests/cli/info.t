#!/bin/sh
# What a package is, without installing it. [G7]
. "$(dirname "$0")/../lib/cli.sh"
start_githost

has()   # WHAT TEXT PART
{
    case $2 in *"$3"*) pass "$1" ;; *) fail "$1"; diag "no \"$3\" in: $2" ;; esac
}
hasnt()
{
    case $2 in *"$3"*) fail "$1"; diag "\"$3\" is in: $2" ;; *) pass "$1" ;; esac
}
field() # EXPRESSION: of the document in $out
{
    printf '%s\n' "$out" >"$T/out.json"
    python3 -S -c "import json, sys
d = json.load(open(sys.argv[1]))
print($1)" "$T/out.json"
}

S=$T/src
U=https://github.com/acme/market/tree/main
skill "$S/skills/pdf" 'license: Proprietary. LICENSE.txt has complete terms' \
    'allowed-tools: Read' 'dependencies:' '  skills:' "    - $U/skills/free"
printf '\302\251 2025 X, PBC. All rights reserved.\n' >"$S/skills/pdf/LICENSE.txt"
mkdir "$S/skills/pdf/scripts" && echo 'touch /ran' >"$S/skills/pdf/scripts/run.sh"
chmod +x "$S/skills/pdf/scripts/run.sh"
skill "$S/skills/free" 'hooks: {}'
printf 'MIT License\n\nPermission is hereby granted …\n' >"$S/skills/free/LICENSE"
skill "$S/skills/worse" 'description: "red \e[31m and \u202e turned"'
skill "$S/skills/evil"
printf 'raw \033]0;title\007 \342\200\256 text\n' >>"$S/skills/evil/SKILL.md"
skill "$S/skills/broken" 'description: 7'
mcp "$S/mcps/io.acme_tool.json" io.acme/tool npx -y tool
mkdir "$S/.claude-plugin"
cat >"$S/.claude-plugin/marketplace.json" <<'JSON'
{"name": "m", "owner": {"name": "x"}, "plugins": [
  {"name": "docs", "source": "./", "strict": false, "description": "Documents",
   "skills": ["./skills/pdf"]},
  {"name": "far", "source": {"source": "github", "repo": "acme/demo"}},
  {"name": "gone", "source": {"source": "github", "repo": "acme/gone"}},
  {"name": "npm", "source": {"source": "npm", "package": "x"}}]}
JSON
make_repo acme/market "$S"
D=$T/plug
mkdir -p "$D/.claude-plugin" "$D/hooks" "$D/agents"
skill "$D/skills/a"
echo '{}' >"$D/hooks/hooks.json"
echo '# Read me' >"$D/README.md"
printf -- '---\nname: helper\ndescription: helps\n---\nDo it\n' >"$D/agents/helper.md"
cat >"$D/.claude-plugin/plugin.json" <<'JSON'
{"name": "demo", "version": "1.2.0", "description": "A demo", "license": "MIT", "mcpServers": {
  "web": {"type": "http", "url": "https://example.com/mcp"},
  "bad": {"command": "bash", "args": ["-c", "x"]}}}
JSON
make_repo acme/demo "$D"
mkdir -p "$T/list/.claude-plugin"
cp "$S/.claude-plugin/marketplace.json" "$T/list/.claude-plugin"
make_repo acme/list "$T/list"
# Manifests at the root of what is no plugin: a link that leads nowhere, and no part.
for repo in circle bare; do
    mkdir -p "$T/$repo/.claude-plugin"
    echo '{"name": "whole", "skills": ["./none"]}' >"$T/$repo/.claude-plugin/plugin.json"
    skill "$T/$repo/lib/one"
    skill "$T/$repo/lib/two"
done
ln -s LICENSE "$T/circle/LICENSE"
make_repo acme/circle "$T/circle"
make_repo acme/bare "$T/bare"

# --- a package ---------------------------------------------------------------------

exits 'info of a skill succeeds' 0 mapm info acme/market/skills/pdf
has 'info prints type, name and version' "$out" 'skill pdf 1.0.0'
has 'info prints the description' "$out" 'The pdf package of a test, used by it.'
has 'info prints the full origin' "$out" "$U/skills/pdf"
like 'info prints commit, ref and date' "$out" '^commit +[0-9a-f]{40} \(main, 20[0-9]{2}-[0-9]{2}-[0-9]{2}\)$'
has 'info prints the license and the kind of its file' "$out" 'Proprietary. LICENSE.txt has complete terms (LICENSE.txt: proprietary)'
like 'info advises to read the terms of a proprietary license' "$out" 'read its terms'
like 'info prints what the skill needs' "$out" "^needs +skill $U/skills/free\$"
like 'info prints the tools that the skill asks for' "$out" '^tools +Read$'
like 'info prints the tokens of the skill' "$out" '^tokens +about [0-9]+ when it is loaded, [0-9]+ in a client'
like 'info prints the number of files and of executable ones' "$out" '^files +3 \([0-9]+ B\), 1 executable$'
like 'info marks an executable file' "$out" '\* scripts/run.sh$'
is 'info writes nothing into the workspace' "$(ls -A)" ''
reset_log
exits 'a second info succeeds' 0 mapm info acme/market/skills/pdf
at_most 'a second info sends at most one request' "$(requests)" 1
exits 'info of another skill succeeds' 0 mapm info acme/market/skills/free
has 'info recognizes the license by its file' "$out" 'LICENSE: MIT'
unlike 'info does not call an MIT license proprietary' "$out" 'proprietary'
like 'info reports hooks in SKILL.md' "$out" '^hooks +in SKILL.md'
exits 'info of a server succeeds' 0 mapm info acme/market/mcps/io.acme_tool.json
like 'info prints the command of a server' "$out" '^runs +npx -y tool$'
exits 'info fails for an invalid skill' 1 mapm info acme/market/skills/broken
has 'the error names the invalid field' "$err" 'description'
exits 'info fails for a missing path' 1 mapm info acme/market/skills/none
exits 'info fails for a word that is neither a name nor an origin' 1 mapm info none
has 'the error shows the form of an origin' "$err" 'mapm info owner/repo/path'
has '[G7] the error names mapm search for the word' "$err" 'mapm search none'
exits 'info without an argument is a usage error' 2 mapm info

# --- for programs --------------------------------------------------------------------

exits 'info --json succeeds' 0 mapm info acme/market/skills/pdf --json
is 'info --json has license, tools and schema of the skill' "$(field '[d[k] for k in ("schema", "type", "name", "license_file", "license_text", "proprietary", "installed_as", "allowed_tools")]')" \
    "['mapm.info/1', 'skill', 'pdf', 'LICENSE.txt', 'proprietary', True, None, 'Read']"
is 'info --json lists the files with their executable bits' "$(field '[(f["path"], f["executable"]) for f in d["files"]]')" \
    "[('LICENSE.txt', False), ('SKILL.md', False), ('scripts/run.sh', True)]"
is 'info --json lists what the skill needs' "$(field 'd["needs"]')" "[{'type': 'skill', 'origin': '$U/skills/free'}]"

# --- hostile text ----------------------------------------------------------------------

exits 'info is refused for a description with escape sequences' 4 mapm info acme/market/skills/worse
has 'the error names the control character of the description [row 7]' "$err" 'description contains U+001B'
exits 'info succeeds for a text with hidden characters' 0 mapm info acme/market/skills/evil
has 'info warns about the hidden characters' "$err" 'hidden characters'
exits 'info --readme succeeds for a text with control characters' 0 mapm info acme/market/skills/evil --readme
has 'info --readme prints control characters as escapes' "$out" 'raw \x1b]0;title\x07 \u{202e} text'
has 'info --readme prints the heading of the text' "$out" '# evil'
exits 'info --readme --json succeeds' 0 mapm info acme/market/skills/evil --readme --json
has 'info --readme --json has the text unchanged' "$(field 'd["readme"].encode()')" '\x1b]0;title\x07 \xe2\x80\xae text'

# --- plugins ---------------------------------------------------------------------------

exits 'info of a plugin succeeds' 0 mapm info acme/demo
has 'info prints type, name and version of the plugin' "$out" 'plugin demo 1.2.0'
like 'info lists the skills of the plugin' "$out" '^  skill a .*The a package of a test, used by it\.$'
like 'info lists the sub-agents of the plugin' "$out" '^  agent helper '
like 'info lists the servers of the plugin' "$out" '^  mcp   web +https://example.com/mcp$'
has 'info says which server would be left out and why' "$out" 'left out: command is "bash"'
has 'info lists the hooks that are not installed' "$out" '1 hooks in hooks/hooks.json'
exits 'info --readme of a plugin succeeds' 0 mapm info acme/demo --readme
is 'info --readme of a plugin prints its README.md' "$out" '# Read me'
exits 'info --json of a plugin succeeds' 0 mapm info acme/demo --json
is 'info --json has what is not installed and what has a problem' "$(field '(d["not_installed"], [p["name"] for p in d["parts"] if p["problem"]], d["hooks"])')" \
    "([{'kind': 'hooks', 'count': 1, 'where': 'hooks/hooks.json'}], ['bad'], 'hooks/hooks.json')"
exits 'info --plugin of a marketplace succeeds' 0 mapm info acme/market --plugin docs
like 'info --plugin lists the skill of the entry' "$out" '^  skill pdf '
hasnt 'info --plugin lists no skill outside the entry' "$out" 'skill free'
hasnt '[G7] info does not list the stored marketplace entry as a file' "$out" 'marketplace-entry'
exits 'info --plugin of an entry in another repository succeeds' 0 mapm info acme/market --plugin far
has 'info --plugin prints the other repository' "$out" 'https://github.com/acme/demo'

exits 'info --plugin fails for an entry whose repository is missing' 1 mapm info acme/market --plugin gone
has '[G7] the error names the plugin and its marketplace' "$err" 'plugin gone of acme/market'
has '[G7] the error names the missing repository' "$err" 'acme/gone'

# --- catalogs ----------------------------------------------------------------------------

exits 'info of a catalog succeeds' 0 mapm info acme/market
has 'info of a catalog counts its packages by type' "$out" '5 skills, 0 agents, 1 MCP server, 4 plugins'
like 'info of a catalog prints its commit' "$out" '^commit +[0-9a-f]{40} \(main, 20'
like 'info of a catalog prints each package with its description' "$out" "^skill +free +$U/skills/free  The free package of a test, used by it\\.\$"
like 'info of a catalog prints the command of a server' "$out" "^mcp +io.acme_tool +.*  npx -y tool\$"
like 'info of a catalog marks an invalid skill as not installable' "$out" '^skill +broken .*not installable: '
like 'info of a catalog hides a hostile description' "$out" '^skill +worse .*not installable: .*U\+001B'
like 'info of a catalog lists its plugins' "$out" '^plugin +docs .*Documents$'
like 'info of a catalog marks an npm plugin as not installable' "$out" '^plugin +npm .*not installable: '
exits 'info --json of a catalog succeeds' 0 mapm info acme/market --json
is 'info --json names the plugin of a package' "$(field '[(o["name"], o["plugin"]) for o in d["offers"]]')" \
    "[('io.acme_tool', None), ('broken', None), ('evil', None), ('free', None), ('pdf', 'docs'), ('worse', None)]"
exits 'info --readme of a catalog is a usage error' 2 mapm info acme/market --readme
exits 'info of a marketplace without other packages succeeds' 0 mapm info acme/list
has 'info of a marketplace counts its plugins' "$out" '0 skills, 0 agents, 0 MCP servers, 4 plugins'
exits '[F4] install --all fails for a marketplace without other packages' 1 mapm install acme/list --all --yes
has '[F4] the error says how plugins are chosen' "$err" 'mapm install acme/list lists what it offers; plugins are chosen with --plugin'
for repo in circle bare; do
    exits "[G7] info succeeds for the repository $repo, which is not one plugin" 0 mapm info "acme/$repo"
    like "[G7, G10] info shows the repository $repo as a catalog" "$out" '^2 skills, '
    has "[G7] info says why the repository $repo is not one plugin" "$err" " is not installed as one plugin: "
done
exits 'info of a local folder succeeds' 0 mapm info "$S"
has 'info of a local folder counts its packages by type' "$out" '5 skills, 0 agents, 1 MCP server, 4 plugins'
is 'info of several origins leaves the workspace empty' "$(ls -A)" ''

# --- what is installed -----------------------------------------------------------------

mapm install --yes acme/market/skills/pdf acme/demo >/dev/null 2>&1
before=$(snapshot .)
stop_githost
exits 'info of an installed package succeeds without a network' 0 mapm info pdf
like 'info prints the name of the installed package' "$out" '^installed +as pdf$'
like 'info prints commit and date of the installed package' "$out" '^commit +[0-9a-f]{40} \((main, )?20'
exits 'info --offline of an installed plugin succeeds' 0 mapm info demo --offline
has 'info --offline lists the hooks that are not installed' "$out" '1 hooks in hooks/hooks.json'
exits 'info --offline of a part of a plugin succeeds' 0 mapm info demo/web --offline
like 'info --offline prints the URL of a remote server' "$out" '^connects to +https://example.com/mcp$'
exits 'info --offline fails for a package that is not installed' 1 mapm info --offline acme/other/skills/x
exits 'info --offline fails for a catalog' 1 mapm info --offline acme/market
is 'info leaves the installed workspace unchanged' "$(snapshot .)" "$before"

done_testing

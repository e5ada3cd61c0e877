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

exits 'a skill' 0 mapm info acme/market/skills/pdf
has 'its name and version' "$out" 'skill pdf 1.0.0'
has 'its description' "$out" 'The pdf package of a test, used by it.'
has 'its origin in full' "$out" "$U/skills/pdf"
like 'commit, ref and date' "$out" '^commit +[0-9a-f]{40} \(main, 20[0-9]{2}-[0-9]{2}-[0-9]{2}\)$'
has 'its license' "$out" 'Proprietary. LICENSE.txt has complete terms (LICENSE.txt: proprietary)'
like 'that it is proprietary' "$out" 'read its terms'
like 'what it needs' "$out" "^needs +skill $U/skills/free\$"
like 'the tools it asks for' "$out" '^tools +Read$'
like 'its tokens' "$out" '^tokens +about [0-9]+ when it is loaded, [0-9]+ in a client'
like 'its files' "$out" '^files +3 \([0-9]+ B\), 1 executable$'
like 'which are programs' "$out" '\* scripts/run.sh$'
is 'nothing is written' "$(ls -A)" ''
reset_log
exits 'again' 0 mapm info acme/market/skills/pdf
at_most 'asks what the ref names' "$(requests)" 1
exits 'another one' 0 mapm info acme/market/skills/free
has 'a license by its file' "$out" 'LICENSE: MIT'
unlike 'is not proprietary' "$out" 'proprietary'
like 'hooks of a skill are named' "$out" '^hooks +in SKILL.md'
exits 'a server' 0 mapm info acme/market/mcps/io.acme_tool.json
like 'what it runs' "$out" '^runs +npx -y tool$'
exits 'one that is not valid' 1 mapm info acme/market/skills/broken
has 'says why' "$err" 'description'
exits 'none' 1 mapm info acme/market/skills/none
exits 'what is neither name nor origin' 1 mapm info none
has 'says what it may be' "$err" 'mapm info owner/repo/path'
has '[G7] and that catalogs are searched by name' "$err" 'mapm search none'
exits 'no argument' 2 mapm info

# --- for programs --------------------------------------------------------------------

exits 'JSON' 0 mapm info acme/market/skills/pdf --json
is 'has it all' "$(field '[d[k] for k in ("schema", "type", "name", "license_file", "license_text", "proprietary", "installed_as", "allowed_tools")]')" \
    "['mapm.info/1', 'skill', 'pdf', 'LICENSE.txt', 'proprietary', True, None, 'Read']"
is 'files with sizes' "$(field '[(f["path"], f["executable"]) for f in d["files"]]')" \
    "[('LICENSE.txt', False), ('SKILL.md', False), ('scripts/run.sh', True)]"
is 'needs' "$(field 'd["needs"]')" "[{'type': 'skill', 'origin': '$U/skills/free'}]"

# --- hostile text ----------------------------------------------------------------------

exits 'a description with escape sequences' 4 mapm info acme/market/skills/worse
has 'is refused [row 7]' "$err" 'description contains U+001B'
exits 'hidden characters in its text' 0 mapm info acme/market/skills/evil
has 'are told of' "$err" 'hidden characters'
exits 'its text' 0 mapm info acme/market/skills/evil --readme
has 'with control characters visible' "$out" 'raw \x1b]0;title\x07 \u{202e} text'
has 'all of it' "$out" '# evil'
exits 'as JSON' 0 mapm info acme/market/skills/evil --readme --json
has 'as it is' "$(field 'd["readme"].encode()')" '\x1b]0;title\x07 \xe2\x80\xae text'

# --- plugins ---------------------------------------------------------------------------

exits 'a plugin' 0 mapm info acme/demo
has 'what it is' "$out" 'plugin demo 1.2.0'
like 'its skills' "$out" '^  skill a .*The a package of a test, used by it\.$'
like 'its sub-agents' "$out" '^  agent helper '
like 'its servers' "$out" '^  mcp   web +https://example.com/mcp$'
has 'what would be left out' "$out" 'left out: command is "bash"'
has 'what is not installed' "$out" '1 hooks in hooks/hooks.json'
exits 'its README' 0 mapm info acme/demo --readme
is 'is its text' "$out" '# Read me'
exits 'JSON' 0 mapm info acme/demo --json
is 'has what is missing' "$(field '(d["not_installed"], [p["name"] for p in d["parts"] if p["problem"]], d["hooks"])')" \
    "([{'kind': 'hooks', 'count': 1, 'where': 'hooks/hooks.json'}], ['bad'], 'hooks/hooks.json')"
exits 'a plugin of a marketplace' 0 mapm info acme/market --plugin docs
like 'has what is listed' "$out" '^  skill pdf '
hasnt 'and nothing else' "$out" 'skill free'
hasnt '[G7] the entry that is stored with it is no file of the plugin' "$out" 'marketplace-entry'
exits 'one from elsewhere' 0 mapm info acme/market --plugin far
has 'says where it is from' "$out" 'https://github.com/acme/demo'

exits 'one whose repository cannot be had' 1 mapm info acme/market --plugin gone
has '[G7] is named, not only its marketplace' "$err" 'plugin gone of acme/market'
has '[G7] with the repository' "$err" 'acme/gone'

# --- catalogs ----------------------------------------------------------------------------

exits 'a catalog' 0 mapm info acme/market
has 'counts what it has' "$out" '5 skills, 0 agents, 1 MCP server, 4 plugins'
like 'its commit' "$out" '^commit +[0-9a-f]{40} \(main, 20'
like 'each package with its description' "$out" "^skill +free +$U/skills/free  The free package of a test, used by it\\.\$"
like 'each server with what it runs' "$out" "^mcp +io.acme_tool +.*  npx -y tool\$"
like 'what is not valid' "$out" '^skill +broken .*not installable: '
like 'a hostile description is not shown' "$out" '^skill +worse .*not installable: .*U\+001B'
like 'plugins' "$out" '^plugin +docs .*Documents$'
like 'those that cannot be had' "$out" '^plugin +npm .*not installable: '
exits 'JSON' 0 mapm info acme/market --json
is 'says which plugin has it' "$(field '[(o["name"], o["plugin"]) for o in d["offers"]]')" \
    "[('io.acme_tool', None), ('broken', None), ('evil', None), ('free', None), ('pdf', 'docs'), ('worse', None)]"
exits 'has no text of its own' 2 mapm info acme/market --readme
exits 'a list of plugins alone' 0 mapm info acme/list
has 'is a catalog, too' "$out" '0 skills, 0 agents, 0 MCP servers, 4 plugins'
exits '[F4] --all of plugins alone' 1 mapm install acme/list --all --yes
has '[F4] says how plugins are chosen' "$err" 'mapm install acme/list lists what it offers; plugins are chosen with --plugin'
for repo in circle bare; do
    exits "[G7] a folder that is no plugin as a whole: $repo" 0 mapm info "acme/$repo"
    like "[G7, G10] $repo is the catalog that an install takes it for" "$out" '^2 skills, '
    has "[G7] $repo: with the reason" "$err" " is not installed as one plugin: "
done
exits 'a folder of this machine' 0 mapm info "$S"
has 'the same' "$out" '5 skills, 0 agents, 1 MCP server, 4 plugins'
is 'nothing was written' "$(ls -A)" ''

# --- what is installed -----------------------------------------------------------------

mapm install --yes acme/market/skills/pdf acme/demo >/dev/null 2>&1
before=$(snapshot .)
stop_githost
exits 'by its name, without the network' 0 mapm info pdf
like 'as what it is installed' "$out" '^installed +as pdf$'
like 'with its date' "$out" '^commit +[0-9a-f]{40} \((main, )?20'
exits 'so is a plugin' 0 mapm info demo --offline
has 'with what is not installed' "$out" '1 hooks in hooks/hooks.json'
exits 'and a part of it' 0 mapm info demo/web --offline
like 'with what clients connect to' "$out" '^connects to +https://example.com/mcp$'
exits 'what is not there' 1 mapm info --offline acme/other/skills/x
exits 'a catalog needs its host' 1 mapm info --offline acme/market
is 'nothing changes' "$(snapshot .)" "$before"

done_testing

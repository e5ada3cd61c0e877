#!/bin/sh
# Plugins and marketplaces: one package with its parts. [G10, G11]
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
same()  # WHAT FILE FILE
{
    ok "$1" cmp "$2" "$3"
}

S=$T/src
D=$S/plugins/demo
mkdir -p "$D/agents" "$D/.claude-plugin" "$D/hooks" "$S/.claude-plugin"
skill "$D/skills/a"
skill "$D/skills/b"
cat >"$D/agents/h.md" <<'MD'
---
name: Helper One
description: helps: a lot
tools: Read
hooks: {}
permissionMode: bypassPermissions
---
Do it
MD
echo '{}' >"$D/hooks/hooks.json"
cat >"$D/.claude-plugin/plugin.json" <<'JSON'
{"name": "demo", "version": "1.2.0", "mcpServers": {
  "web": {"type": "http", "url": "https://example.com/mcp"},
  "loc": {"command": "node", "args": ["${CLAUDE_PLUGIN_ROOT}/s.js"]},
  "bad": {"command": "bash", "args": ["-c", "x"]}}}
JSON
echo 1 >"$D/s.js"
market()
{
    cat >"$S/.claude-plugin/marketplace.json" <<JSON
{"name": "m", "owner": {"name": "o"}, "renames": {"old": "demo"}, "plugins": [
  {"name": "demo", "source": "./plugins/demo"${1:-}},
  {"name": "two", "source": "./", "skills": ["./plugins/demo/skills/a"]},
  {"name": "npm", "source": {"source": "npm", "package": "x"}},
  {"name": "up", "source": "./../x"},
  {"name": "sha", "source": {"source": "github", "repo": "acme/market",
    "sha": "0123456789012345678901234567890123456789"}}]}
JSON
}
market
make_repo acme/market "$S" >/dev/null
URL=https://github.com/acme/market/tree/main
kinds() { sed -n 's/^  - type: //p' mapm.lock | sort | uniq -c | tr -s ' \n' ' '; }

# --- a folder with a manifest is a plugin ----------------------------------------

exits 'a folder with a manifest is installed whole [G10]' 0 \
    mapm install --yes "$URL/plugins/demo"
is 'its parts have entries of their own' "$(kinds)" ' 1 agent 2 mcp 1 plugin 2 skill '
has 'mapm.yaml names the plugin' "$(cat mapm.yaml)" 'plugins:'
has 'a server that a shell runs is named [row 36]' "$err" 'mcp bad is left out'
has 'hooks are named and not installed [row 39]' "$err" '1 hooks (hooks/hooks.json) not installed'
has 'the lock says what was skipped' "$(cat mapm.lock)" 'skipped: [mcp bad]'
has 'the lock says what kinds are not installed' "$(cat mapm.lock)" 'not_installed: [hooks]'
has 'a program out of the plugin is started by mapm [G12]' "$(cat .mcp.json)" '"start",'
hasnt 'no path of this machine is in the file' "$(cat .mcp.json)" "$T"
has 'a remote server is written plainly' "$(cat .mcp.json)" 'https://example.com/mcp'
has 'a sub-agent is an agent' "$(cat .agents/agents/helper-one/AGENTS.md)" 'tools: Read'
hasnt 'without what widens its rights [row 42]' \
    "$(cat .agents/agents/helper-one/AGENTS.md)" 'permissionMode'
cp mapm.lock "$T/lock"
exits 'another install changes nothing' 0 mapm install
same 'the lock stays' mapm.lock "$T/lock"
exits '--locked accepts it' 0 mapm install --locked
rm -rf "$MAPM_HOME" .agents .mcp.json
exits 'a clone gets the same on another machine' 0 mapm install --locked --yes
same 'byte for byte' mapm.lock "$T/lock"
ok 'with the skills' test -f .agents/skills/a/SKILL.md -a -f .agents/skills/b/SKILL.md
has 'list has the parts' "$(mapm list)" 'skill demo/a'
has 'why names the plugin' "$(mapm why demo/a)" 'plugin demo -> skill demo/a'
has 'tree draws plugins' "$(mapm tree --format dot 2>/dev/null || mapm tree --dot)" 'shape=folder'
has 'list of a plugin says what is not installed' "$(mapm list demo)" 'not installed: hooks'
has 'and what is left out' "$(mapm list -v)" 'left out: mcp bad'
exits 'verify hashes plugin and parts' 0 mapm verify
exits 'and asks the repository for it' 0 mapm verify --remote
echo x >>.agents/skills/a/SKILL.md
exits 'diff of a plugin is that of its parts' 0 mapm diff demo
has 'as it says' "$out" '.agents/skills/a/SKILL.md'
exits 'restore undoes it' 0 mapm restore demo
exits 'all is as it was' 0 mapm verify
has 'JSON says what is not installed' "$(mapm list --json | tr -d ' \n')" '"not_installed":["hooks"]'

# --- the lock is no word of what a plugin holds -----------------------------------

sed 's/needs: \[agent/needs: [agent/; s/, skill demo\/b\]/]/' "$T/lock" >mapm.lock
rm -rf "$MAPM_HOME" .agents
exits 'a part that the lock leaves out is noticed [row 34]' 1 mapm install --locked --yes
cp "$T/lock" mapm.lock
other=$(printf '%064d' 7)
sed "/name: demo\\/loc/,/digest/ s/digest: .*/digest: sha256:$other/" "$T/lock" >mapm.lock
exits 'so is another digest of a server [row 46]' 1 mapm install --locked --yes
cp "$T/lock" mapm.lock
exits 'the true lock is fine' 0 mapm install --locked --yes
exits 'remove takes its parts' 0 mapm remove demo
is 'nothing is left of them' "$(find .agents -name SKILL.md 2>/dev/null)" ''

# --- a marketplace -----------------------------------------------------------------

exits 'entries of a marketplace by name [G11]' 0 mapm install --yes acme/market --plugin demo two
has 'mapm.yaml names marketplace and entry' "$(cat mapm.yaml)" \
    "{catalog: $URL, plugin: two}"
has 'the lock has the commit of the marketplace' "$(cat mapm.lock)" 'catalog_commit: '
is 'the plugin of a listing has what is listed [row 34]' \
    "$(sed -n '/name: two/,/needs/ s/    needs: //p' mapm.lock)" '[skill demo/a]'
is 'a skill of two plugins is one package' "$(ls .agents/skills | tr '\n' ' ')" 'a b '
cp mapm.lock "$T/lock"
exits 'nothing is outdated' 0 mapm outdated
exits 'an update changes nothing' 0 mapm update --yes
same 'and leaves the lock' mapm.lock "$T/lock"
rm -rf "$MAPM_HOME" .agents .mcp.json
exits 'a clone reads the marketplace as it was' 0 mapm install --locked --yes
same 'with the same lock' mapm.lock "$T/lock"

market ', "description": "new words"'
make_repo acme/market "$S" >/dev/null
exits 'a changed entry alone is outdated [row 34]' 3 mapm outdated
has 'it names the plugin' "$out" 'plugin demo'
exits 'and is taken by update' 0 mapm update --yes
hasnt 'the digest covers the entry' "$(cat mapm.lock)" \
    "$(sed -n '/name: demo$/,/digest/ s/.*digest: //p' "$T/lock")"
exits 'the skill stays while one plugin has it' 0 mapm remove demo
is 'under the name of the other' "$(sed -n 's/    as: //p' mapm.lock)" 'two/a'
exits 'and goes with the last' 0 mapm remove two
is 'no skill is left' "$(find .agents -name SKILL.md 2>/dev/null)" ''

# --- folders of this machine and of the workspace -----------------------------------

exits 'a plugin of this machine [G10]' 0 mapm install --yes "file:$D"
ok 'is in the local lock' grep -q 'type: plugin' mapm.local.lock
exits 'an entry of a marketplace of this machine' 0 mapm install --yes "file:$S" --plugin two
exits 'they go' 0 mapm remove demo two
rm -f mapm.local.yaml mapm.local.lock
cp -r "$D" mine
exits 'a plugin of the workspace' 0 mapm install --yes ./mine
has 'is a root by its place' "$(cat mapm.yaml)" '- ./mine'
is 'its skills are links' "$(readlink .agents/skills/a)" ../../mine/skills/a
exits 'it is locked' 0 mapm install --locked
exits 'and goes' 0 mapm remove demo
exits 'one for the user' 0 mapm install -g --yes "$URL/plugins/demo"
exits 'is removed likewise' 0 mapm remove -g demo

# --- another repository, another manifest, another version ---------------------------

mkdir -p "$T/far/.claude-plugin" "$T/far/.cursor-plugin" "$T/lead/.claude-plugin"
skill "$T/far/skills/far"
echo '{"name": "far", "version": "1.0.0"}' >"$T/far/.claude-plugin/plugin.json"
echo '{"name": "other", "skills": "./nothing"}' >"$T/far/.cursor-plugin/plugin.json"
make_repo globex/far "$T/far" >/dev/null
cat >"$T/lead/.claude-plugin/marketplace.json" <<'JSON'
{"plugins": [{"name": "far", "source": {"source": "github", "repo": "globex/far"}},
  {"name": "demo", "source": {"source": "github", "repo": "globex/far"}}]}
JSON
make_repo acme/lead "$T/lead" >/dev/null
rm -f mapm.yaml mapm.lock
exits 'an entry that leads to another repository [row 32]' 0 \
    mapm install --yes -v acme/lead --plugin far
has 'says where it is from' "$err" 'plugin far of https://github.com/acme/lead/tree/main is from'
has 'the manifest that is not read is named [row 40]' "$err" '.cursor-plugin/plugin.json is not read'
has 'the lock has both' "$(cat mapm.lock)" 'origin: https://github.com/globex/far/tree/main'
mkdir -p "$T/far/hooks" && echo '{}' >"$T/far/hooks/hooks.json"
echo '{"s": {"type": "http", "url": "https://example.com/new"}}' >"$T/far/.mcp.json"
make_repo globex/far "$T/far" >/dev/null
exits 'a new server needs consent [row 39]' 4 mapm update
has 'it is shown' "$out" 'https://example.com/new'
exits 'with it' 0 mapm update --yes
has 'a new hook is said to be new [row 39]' "$err" '1 hooks (hooks/hooks.json) not installed, new in this version'
cp mapm.yaml "$T/yaml"
printf 'policy:\n  sources: [github.com/acme/*]\n' >>mapm.yaml
exits 'policy.sources holds for where it leads [row 32]' 4 mapm install
cp "$T/yaml" mapm.yaml
exits 'a plugin of that name from elsewhere [row 35]' 1 \
    mapm install --yes acme/lead --plugin demo acme/market/plugins/demo
has 'is a conflict, not an update' "$err" 'demo'
exits 'it goes' 0 mapm remove far

# --- two plugins of the same parts --------------------------------------------------------

for p in one two; do
    mkdir -p "$T/pair/$p/.claude-plugin"
    echo "{\"name\": \"$p\"}" >"$T/pair/$p/.claude-plugin/plugin.json"
    skill "$T/pair/$p/skills/s" "description: of $p"
    skill "$T/pair/$p/skills/same"
done
make_repo acme/pair "$T/pair" >/dev/null
PAIR=https://github.com/acme/pair/tree/main
names() { sed -n 's/^    as: //p' mapm.lock | tr '\n' ' '; }
rm -rf mapm.yaml mapm.lock .agents
mapm install --yes --quiet "$PAIR/one" && mapm install --yes --quiet "$PAIR/two"
is 'the first plugin in byte order names what both have [G10]' "$(names)" 'one/s one/same two/s '
rm -rf mapm.yaml mapm.lock .agents
mapm install --yes --quiet "$PAIR/two" && mapm install --yes --quiet "$PAIR/one"
is 'whatever came first' "$(names)" 'one/s one/same two/s '
exits 'the lock is complete' 0 mapm install --locked
exits 'a part becomes a root' 0 mapm install --yes "$PAIR/two/skills/same"
is 'and has the name of a root' "$(names)" 'one/s two/s '
exits 'one plugin goes' 0 mapm remove two
exits 'and the other' 0 mapm remove one
is 'the root stays' "$(ls .agents/skills)" same
exits 'until it goes, too' 0 mapm remove same
rm -rf mapm.yaml mapm.lock .agents

# --- beside a catalog -------------------------------------------------------------------

exits '--all of a repository takes its packages' 0 mapm install --yes acme/market --all
has 'and says that there are plugins [G11]' "$err" "has a marketplace of plugins: --plugin '*'"
is 'no plugin is among them' "$(grep -c 'type: plugin' mapm.lock)" 0
rm -rf mapm.yaml mapm.lock .agents
exits 'a glob takes the entries that can be installed [G11]' 3 \
    mapm install --yes acme/market --plugin '*'
is 'these are two' "$(grep -c 'type: plugin' mapm.lock)" 2
exits 'they go, too' 0 mapm remove demo two

# --- what is refused --------------------------------------------------------------------

exits 'a name that no entry has' 1 mapm install --yes acme/market --plugin dema
has 'has a near one [G11]' "$err" 'did you mean demo?'
exits 'an npm package is not fetched' 4 mapm install --yes acme/market --plugin npm
exits 'a source that leads out of the repository [row 31]' 4 \
    mapm install --yes acme/market --plugin up
exits 'a commit that the repository does not have [row 33]' 1 \
    mapm install --yes acme/market --plugin sha
ok 'nothing was changed by these' test ! -s mapm.lock -o "$(grep -c type mapm.lock)" = 0
exits '--strict refuses what would be left out [G10]' 4 \
    mapm install --yes --strict acme/market --plugin demo
exits 'an entry that was renamed is found' 0 mapm install --yes acme/market --plugin old
has 'and says so' "$err" 'plugin old is called demo now'
exits 'it goes again' 0 mapm remove demo

# --- patterns, and manifests of nothing -------------------------------------------------

exits 'what a pattern matches is installed where it can be [G11]' 3 \
    mapm install --yes acme/market --plugin '*'
is 'as roots of their own' "$(grep -o 'plugin: [a-z]*' mapm.yaml | tr '\n' ' ')" \
    'plugin: demo plugin: two '
has 'the others are named by their entries' "$err" 'left out, refused: npm, up'
has 'with their number' "$err" '3 of 5 chosen packages are left out'
exits 'that lock is complete' 0 mapm install --locked
exits 'a pattern with --strict takes all or nothing' 4 \
    mapm install --yes --strict acme/market --plugin 'u*'
exits 'all of them go' 0 mapm remove demo two

mkdir -p "$T/hull/.claude-plugin"
echo '{"name": "hull"}' >"$T/hull/.claude-plugin/plugin.json"
skill "$T/hull/one"
skill "$T/hull/two"
make_repo acme/hull "$T/hull" >/dev/null
exits 'a manifest that names nothing hides no catalog' 0 mapm install acme/hull
has 'it is listed' "$out" 'acme/hull/tree/main/one'
has 'with the reason' "$err" 'is not installed as one plugin: plugin hull has no skill'
ln -s ../nowhere "$T/hull/two/gone"
make_repo acme/hull "$T/hull" >/dev/null
exits 'nor does a plugin that is refused' 0 mapm install acme/hull
has 'it is listed, too' "$out" 'acme/hull/tree/main/two'
exits 'a folder of this machine likewise' 0 mapm install "$T/hull"
has 'with its packages' "$out" 'one'
rm -r "$T/hull/one" "$T/hull/two"
make_repo acme/hull "$T/hull" >/dev/null
exits 'one without packages is an error' 1 mapm install acme/hull
has 'that names the plugin' "$err" 'plugin hull has no skill'
exits '--all of what holds nothing [F6]' 1 mapm install --all acme/hull
hasnt 'is given no hint to choose of it' "$err" 'choose what to take'

# --- folders of plugins give names [F4] ------------------------------------------

mkdir -p "$T/fleet/plugins/east/.claude-plugin" "$T/fleet/plugins/west"
echo '{"name": "Harbour Tools"}' >"$T/fleet/plugins/east/.claude-plugin/plugin.json"
for at in east west; do
    skill "$T/fleet/plugins/$at/skills/pilot"
    echo "$at" >>"$T/fleet/plugins/$at/skills/pilot/SKILL.md"
done
make_repo acme/fleet "$T/fleet" >/dev/null
mkdir "$T/fleet-ws" && cd "$T/fleet-ws" || exit 1
names() { sed -n 's/^    as: //p' mapm.lock | sort | tr '\n' ' '; }
exits 'two skills of one name' 0 mapm install --yes --quiet --all acme/fleet
is '[G10, F4] the name of the plugin, or of a folder that is none' "$(names)" \
    'harbour-tools/pilot west/pilot '
exits '[G10, F4] which is locked' 0 mapm install --locked
rm -r "$MAPM_HOME"
exits '[G10, F4] for all' 0 mapm install --locked --yes
rm -r .agents
exits '[G10, F4] proved names are not asked for again' 0 mapm install --locked --offline --yes
cp mapm.lock "$T/fleet.lock"
sed -i 's|harbour-tools/pilot|evil/pilot|; s|harbour-tools-pilot|evil-pilot|' mapm.lock
rm -r .agents
exits '[G10, F13] no plugin has given this name' 1 mapm install --locked --yes
has '[G10, F13] which is said' "$err" 'evil/pilot: neither a folder nor a plugin nor a root gives it'
exits '[G10, F13] without its host nobody knows' 1 mapm install --locked --yes --offline
cp "$T/fleet.lock" mapm.lock
echo '{"name": "docks"}' >"$T/fleet/plugins/east/.claude-plugin/plugin.json"
echo '{"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", "name": "sails"}' \
    >"$T/fleet/plugins/west/plugin.json"
echo more >>"$T/fleet/plugins/east/skills/pilot/SKILL.md"
make_repo acme/fleet "$T/fleet" >/dev/null
exits 'other names of both' 0 mapm update --yes --quiet
is '[G10, F4] names that are recorded stay' "$(names)" 'harbour-tools/pilot west/pilot '
mkdir "$T/fleet-2" && cd "$T/fleet-2" || exit 1
exits 'elsewhere' 0 mapm install --yes --quiet --all acme/fleet
is '[G10, F4] new ones are by the names of today' "$(names)" 'docks/pilot sails/pilot '
mkdir "$T/fleet-3" && cd "$T/fleet-3" || exit 1
exits 'of a folder' 0 mapm install --yes --quiet --all "$T/fleet"
is '[G10, F4] likewise' "$(sed -n 's/^    as: //p' mapm.local.lock | sort | tr '\n' ' ')" \
    'docks/pilot sails/pilot '
done_testing

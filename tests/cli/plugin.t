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
has 'hooks are named and not installed [V65, row 39]' "$err" '1 hooks (hooks/hooks.json) not installed'
has 'the lock says what was skipped' "$(cat mapm.lock)" 'skipped: [mcp bad]'
has 'the lock says what kinds are not installed' "$(cat mapm.lock)" 'not_installed: [hooks]'
has 'a program out of the plugin is started by mapm [G12]' "$(cat .mcp.json)" '"start",'
hasnt 'no path of this machine is in the file' "$(cat .mcp.json)" "$T"
has 'a remote server is written plainly' "$(cat .mcp.json)" 'https://example.com/mcp'
has '[G12] and no consent to mapm start' "$err" 'mapm start may execute this server on'
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
has '[V65] JSON says what is not installed' "$(mapm list --json | tr -d ' \n')" '"not_installed":["hooks"]'

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
cp -a . "$T/placed"
# fields: each row of the input: the package, its line, and what is there instead; "-"
# is nothing. In $T/lock and $T/placed is the workspace as it was.
fields()
{
    while read -r name key value; do
        [ "$value" = - ] && change="/^    $key: /d" || change="s|^    $key: .*|    $key: $value|"
        for state in 'cold --yes' 'place --offline'; do
            cp -a "$T/placed/." . && rm -f mapm.lock
            sed "/^    \\(name\\|as\\): $(echo "$name" | sed 's,/,\\/,')\$/,/^  - /{
$change
}" "$T/lock" >mapm.lock
            not_ok "[F1] $name $key is another" cmp -s mapm.lock "$T/lock"
            home=$MAPM_HOME
            [ "$state" = 'place --offline' ] || { rm -rf .agents .mcp.json && home=$T/none; }
            exits "[F1] $name $key, ${state% *}" 1 env MAPM_HOME="$home" "$MAPM" install --locked "${state#* }"
            rm -rf "$T/none"
        done
        run mapm verify
        isnt "[F1] $name $key, verify" "$status" 0
    done
}
fields <<ROWS
demo/helper-one commit 0123456789012345678901234567890123456789
demo/helper-one tree $(sed -n '/name: a$/,/tree:/s/.*tree: //p' "$T/lock")
demo/helper-one version 9.9.9
demo/helper-one version -
demo/helper-one path .agents/agents/elsewhere
demo/loc tree $(sed -n '/name: a$/,/tree:/s/.*tree: //p' "$T/lock")
demo/loc key demo-locx
demo/loc server web
demo/loc plugin other
demo origin $URL/plugins/none
demo origin https://github.com/acme/market/tree/next/plugins/demo
demo commit 0123456789012345678901234567890123456789
demo manifest .codex-plugin/plugin.json
demo manifest -
demo skipped -
demo skipped [mcp bad, mcp other]
demo not_installed -
demo not_installed [commands, hooks]
demo/a plugin -
ROWS
rm -rf .agents .mcp.json && cp -a "$T/placed/." .
exits 'remove takes its parts' 0 mapm remove demo
is 'nothing is left of them' "$(find .agents -name SKILL.md 2>/dev/null)" ''

# --- a marketplace -----------------------------------------------------------------

exits 'entries of a marketplace by name [G11]' 0 mapm install --yes acme/market --plugin demo two
has 'mapm.yaml names marketplace and entry' "$(cat mapm.yaml)" \
    "{catalog: $URL, plugin: two}"
has 'the lock has the commit of the marketplace' "$(cat mapm.lock)" 'catalog_commit: '
is 'the plugin of a listing has what is listed [row 34]' \
    "$(sed -n '/name: two/,/needs/ s/    needs: //p' mapm.lock)" '[skill demo/a]'
is '[V47, C16] a skill of two plugins is one package' "$(ls .agents/skills | tr '\n' ' ')" 'a b '
cp mapm.lock "$T/lock"
rm -rf "$T/placed" && cp -a . "$T/placed"
fields <<ROWS
demo catalog https://github.com/acme/market/tree/other
demo catalog_commit 0123456789012345678901234567890123456789
demo catalog_commit -
demo entry two
demo needs [skill demo/a]
demo/helper-one digest sha256:$other
two commit 0123456789012345678901234567890123456789
ROWS
rm -rf .agents .mcp.json && cp -a "$T/placed/." .
sed '/^    entry: demo/s/$/\n    hidden: allowed/' "$T/lock" >mapm.lock
exits '[F1] a consent to hidden characters of a plugin, which has no text' 1 mapm install --locked
cp "$T/lock" mapm.lock
rm -rf .agents .mcp.json && cp -a "$T/placed/." .
exits 'nothing is outdated' 0 mapm outdated
exits 'an update changes nothing' 0 mapm update --yes
same 'and leaves the lock' mapm.lock "$T/lock"
sed '/^    needs: \[agent/s/, skill demo\/b//' "$T/lock" >mapm.lock
not_ok 'a lock that denies a part' cmp -s mapm.lock "$T/lock"
for words in outdated 'update --dry-run'; do
    exits "[row 34] does not keep $words asking for ever" 0 mapm $words
done
at_most '[row 34] nor its host busy' "$(requests)" 200
cp "$T/lock" mapm.lock
rm -rf "$MAPM_HOME" .agents .mcp.json
exits 'a clone reads the marketplace as it was' 0 mapm install --locked --yes
same 'with the same lock' mapm.lock "$T/lock"
mkdir "$T/lock-alone" && cd "$T/lock-alone" && cp "$T/lock" mapm.lock || exit 1
exits 'a lock without a manifest, on a machine that has nothing' 0 \
    env MAPM_HOME="$T/alone" "$MAPM" install --yes acme/market --plugin demo two
same 'whose entries are as locked' mapm.lock "$T/lock"
cd "$T/ws" || exit 1

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
mkdir -p "$T/some/.claude-plugin"
cat >"$T/some/.claude-plugin/marketplace.json" <<'JSON'
{"plugins": [{"name": "far", "source": {"source": "github", "repo": "globex/far"}},
  {"name": "gone", "source": {"source": "github", "repo": "globex/gone"}}]}
JSON
make_repo acme/some "$T/some" >/dev/null
exits 'a marketplace of which one repository is gone' 3 \
    mapm install --dry-run acme/some --plugin '*'
has '[G10] says where what it installs is from' "$err" 'plugin far of https://github.com/acme/some/tree/main is from'
hasnt '[G10] and not where what is left out would be from' "$err" 'plugin gone of'
has '[G10] which is named with its reason' "$err" 'left out, not-authorized: gone'
cp mapm.lock "$T/far.lock"
exits 'it is not outdated [G11]' 0 mapm outdated
exits 'nor changed by an update [G11]' 0 mapm update --yes
rm -rf "$MAPM_HOME" .agents
exits 'another machine takes it from there [G11]' 0 mapm install --locked --yes
same 'as it is locked' mapm.lock "$T/far.lock"
mkdir -p "$T/far/hooks" && echo '{}' >"$T/far/hooks/hooks.json"
echo '{"s": {"type": "http", "url": "https://example.com/new"}}' >"$T/far/.mcp.json"
make_repo globex/far "$T/far" >/dev/null
exits 'a new server needs consent [row 39]' 4 mapm update
has 'it is shown as what clients connect to' "$out" 'connects to: https://example.com/new'
exits 'with it' 0 mapm update --yes
has 'a new hook is said to be new [V67, row 39]' "$err" '1 hooks (hooks/hooks.json) not installed, new in this version'
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
is 'the first plugin in byte order names what both have [G10, V70]' "$(names)" 'one/s one/same two/s '
rm -rf mapm.yaml mapm.lock .agents
mapm install --yes --quiet "$PAIR/two" && mapm install --yes --quiet "$PAIR/one"
is '[V70] whatever came first' "$(names)" 'one/s one/same two/s '
exits 'the lock is complete' 0 mapm install --locked
exits 'a part becomes a root' 0 mapm install --yes "$PAIR/two/skills/same"
is 'and has the name of a root' "$(names)" 'one/s two/s '
exits 'it is verified as a part of them [G10]' 0 mapm verify
grep -v 'origin:\|also:\|path:' mapm.lock >after
rm -rf mapm.yaml mapm.lock .agents
mapm install --yes --quiet "$PAIR/two/skills/same"
mapm install --yes --quiet "$PAIR/one" && mapm install --yes --quiet "$PAIR/two"
is 'a root whose plugins come later has the same names [G10]' \
    "$(grep -v 'origin:\|also:\|path:' mapm.lock)" "$(cat after)"
like 'and stays the origin of what they share [D2]' "$(cat mapm.lock)" 'origin: .*/two/skills/same$'
exits 'and is verified' 0 mapm verify
cp mapm.lock before
exits 'nothing changes' 0 mapm install
is 'the lock' "$(cat mapm.lock)" "$(cat before)"
rm -rf mapm.yaml mapm.lock .agents
mapm install --yes --quiet acme/pair --all && mapm install --yes --quiet "$PAIR/two"
exits 'a catalog with a plugin of it is verified' 0 mapm verify
cp mapm.lock before
exits 'it installs again' 0 mapm install
is 'with the same lock [F4]' "$(cat mapm.lock)" "$(cat before)"
rm -rf .agents
exits 'and without files' 0 mapm install --locked
rm -rf mapm.yaml mapm.lock .agents
mapm install --yes --quiet "$PAIR/one" && mapm install --yes --quiet "$PAIR/two" "$PAIR/two/skills/same"
exits 'one plugin goes' 0 mapm remove two
exits 'and the other' 0 mapm remove one
is '[V69] the root stays' "$(ls .agents/skills)" same
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

H=$T/hollow
mkdir -p "$H/plugins/ext" "$H/.claude-plugin"
skill "$H/skills/beside"
echo '{"name": "h", "owner": {"name": "o"}, "plugins": [{"name": "ext", "source": "./plugins/ext"}]}' \
    >"$H/.claude-plugin/marketplace.json"
cat >"$H/plugins/ext/plugin.json" <<'JSON'
{"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", "name": "ext",
 "extensions": {"com.example.client": {"skills": ["./skills/beside/"]}}}
JSON
make_repo acme/hollow "$H" >/dev/null
exits 'parts that only the extension of a client names [G10]' 1 mapm install --yes acme/hollow --plugin ext
has 'are named' "$err" 'what it has: com.example.client 1 (plugin.json)'
has 'with where they may be' "$err" 'mapm install --list https://github.com/acme/hollow/tree/main lists'
mkdir -p "$H/below/.claude-plugin" "$H/below/there"
skill "$H/away/skills/away"
skill "$H/below/there/skills/there"
cat >"$H/below/.claude-plugin/marketplace.json" <<'JSON'
{"name": "b", "owner": {"name": "o"}, "plugins": [{"name": "there", "source": "./there"},
 {"name": "away", "source": "./away"}, {"name": "gone", "source": "./gone"}]}
JSON
make_repo acme/hollow "$H" >/dev/null
exits 'a folder that only the top of the repository has [G11]' 1 \
    mapm install --yes acme/hollow/below --plugin away
has 'is not that of a marketplace in a folder' "$err" 'there is no "away" in "below"'
exits 'a folder that is nowhere' 1 mapm install --yes acme/hollow/below --plugin gone
has 'is not the whole repository' "$err" 'there is no "gone" in "below"'
exits 'a folder beside it' 0 mapm install --yes acme/hollow/below --plugin there
exits 'is proved at its path [F1]' 0 mapm verify --remote
exits 'it goes again' 0 mapm remove there
exits 'a name that no entry has' 1 mapm install --yes acme/market --plugin dema
has 'has a near one [G11, V63]' "$err" 'did you mean demo?'
exits 'one that is near none' 1 mapm install --yes acme/market --plugin zzzzzzzz
like 'has the command that lists them' "$err" 'hint: mapm install [^ ]*acme/market[^ ]* --list shows what it offers$'
exits '[C14] an npm package is not fetched' 4 mapm install --yes acme/market --plugin npm
exits 'a source that leads out of the repository [row 31]' 4 \
    mapm install --yes acme/market --plugin up
exits 'a commit that the repository does not have [V58, row 33]' 1 \
    mapm install --yes acme/market --plugin sha
ok 'nothing was changed by these' test ! -s mapm.lock -o "$(grep -c type mapm.lock)" = 0
exits '--strict refuses what would be left out [G10, V66]' 4 \
    mapm install --yes --strict acme/market --plugin demo
exits '[V59, C10] an entry that was renamed is found' 0 mapm install --yes acme/market --plugin old
has 'and says so' "$err" 'plugin old is called demo now'
exits 'it goes again' 0 mapm remove demo

# --- parts that are left out [X45] ------------------------------------------------------

rm -rf mapm.yaml mapm.lock .agents .mcp.json
D_URL=$URL/plugins/demo
exits '[X45] a plugin without some of its parts' 0 \
    mapm install --yes "$D_URL" --without 'skill b' 'mcp bad' --without 'agent helper-one'
has '[X45] mapm.yaml has them' "$(cat mapm.yaml)" \
    "{origin: $D_URL, without: [agent helper-one, mcp bad, skill b]}"
has '[X45, F13] so has the lock, in its place' "$(tr '\n' '~' <mapm.lock)" \
    '~    without: [agent helper-one, mcp bad, skill b]~    not_installed: [hooks]~'
is '[X45] the others are installed' "$(kinds)" ' 2 mcp 1 plugin 1 skill '
has '[X45] the install says so' "$err" \
    'plugin demo is installed without agent helper-one, mcp bad, skill b, as mapm.yaml says'
hasnt '[X45] and no part is refused twice' "$err" 'mcp bad is left out:'
cp mapm.lock "$T/without"
exits '[X45] a part is not removed alone' 1 mapm remove demo/a
has '[X45] but left out' "$err" "mapm install $D_URL --without 'skill a'"
exits '[X45] each install says it' 0 mapm install
has '[X45] again' "$err" 'is installed without agent helper-one'
exits '[X45] --locked accepts it' 0 mapm install --locked
same '[X45] the lock stays' mapm.lock "$T/without"
rm -rf "$MAPM_HOME" .agents .mcp.json
exits '[X45] so it does on another machine' 0 mapm install --locked --yes
is '[X45] with the same parts' "$(ls .agents/skills)$(ls .agents/agents 2>/dev/null)" a
exits '[X45] verify knows it' 0 mapm verify --remote
exits '[X45] nothing is outdated' 0 mapm outdated
exits '[X45] nor changed by an update' 0 mapm update --yes
same '[X45] which leaves the lock' mapm.lock "$T/without"
for command in list tree 'why demo' 'info demo'; do
    has "[X45] $command shows it" "$(mapm $command)" 'without agent helper-one, mcp bad, skill b'
done
for part in b 'skill b' demo/b 'skill demo/b' 'agent helper-one'; do
    exits "[X45] why $part" 1 mapm why "$part"
    has '[X45] says that it is left out' "$err" 'plugin demo is installed without'
    has '[X45] and where' "$err" 'take it out of "without" in mapm.yaml'
done
exits '[X45] a part of another type is none of it' 1 mapm why 'mcp b'
has '[X45] as one that never was' "$err" 'nothing named "mcp b"'
has '[X45] as JSON, too' "$(mapm list --json | tr -d ' \n')" \
    '"without":["agenthelper-one","mcpbad","skillb"]'
has '[X45] and that of an install' "$(mapm install --json 2>/dev/null | tr -d ' \n')" \
    '"without":[{"plugin":"demo","parts":["agenthelper-one","mcpbad","skillb"]}]'
sed -i 's/, skill b\]/]/' mapm.yaml
exits '[X45] a list that the lock does not fit' 1 mapm install --locked
has '[X45] is named by --locked' "$err" 'plugin demo leaves out other parts'
exits '[X45] a part comes back' 0 mapm install --yes
ok '[X45] from the locked commit' test -f .agents/skills/b/SKILL.md
has '[X45] the rest stays' "$(cat mapm.lock)" 'without: [agent helper-one, mcp bad]'
exits '[X45] that lock is complete' 0 mapm install --locked --offline
exits '[X45] the list of a root becomes another one' 0 \
    mapm install --yes "$D_URL" --without 'skill a'
has '[X45] in mapm.yaml' "$(cat mapm.yaml)" "{origin: $D_URL, without: [skill a]}"
is '[X45] and in the workspace' "$(ls .agents/skills .agents/agents | tr '\n' ' ')" \
    '.agents/agents: helper-one  .agents/skills: b '
exits '[X45] an install without the option keeps it' 0 mapm install --yes "$D_URL"
has '[X45] as it is' "$(cat mapm.yaml)" 'without: [skill a]'
sed -i 's/skill a\]/skill aa]/' mapm.yaml
exits '[X45] a part that there is not' 1 mapm install
has '[X45] is an error' "$err" 'plugin demo has no part "skill aa" to leave out'
is '[D18, X45] and names the plugin once' "$(printf '%s\n' "$err" | grep -cF "$D_URL")" 1
has '[X45] which names the parts' "$err" 'its parts are: mcp web, mcp loc, skill a, skill b, agent helper-one'
sed -i 's/skill aa\]/skills a]/' mapm.yaml
exits '[X45] what is no part' 1 mapm install
has '[X45] is one of the file' "$err" 'mapm.yaml:3: not a part of a plugin: "skills a"'
sed -i 's/skills a\]/skill a]/' mapm.yaml
echo more >>"$D/skills/b/SKILL.md"
make_repo acme/market "$S" >/dev/null
exits '[X45] an update' 0 mapm update --yes
is '[X45] brings no part back' "$(ls .agents/skills)" b
exits '[X45] a bundle has it' 0 mapm bundle "$T/without.mapm"
mkdir "$T/without-2" && cd "$T/without-2" || exit 1
exits '[X45] where there is nothing yet' 0 mapm install --from "$T/without.mapm" --yes
is '[X45] likewise' "$(ls .agents/skills)$(grep -c 'without: \[skill a\]' mapm.yaml mapm.lock | tr '\n' ' ')" \
    'bmapm.yaml:1 mapm.lock:1 '
cd - >/dev/null || exit 1
exits '[X45] the plugin goes' 0 mapm remove demo
is '[X45] with all its parts' "$(find .agents -name '*.md' 2>/dev/null)" ''
exits '[X45] an entry of a marketplace likewise' 0 \
    mapm install --yes acme/market --plugin demo --without 'skill a'
has '[X45] is written so' "$(cat mapm.yaml)" \
    "{catalog: $URL, plugin: demo, without: [skill a]}"
exits '[X45] again' 0 mapm install --yes acme/market --plugin demo --without 'skill b'
has '[X45] with another list' "$(cat mapm.yaml)" "plugin: demo, without: [skill b]}"
is '[X45] and other parts' "$(ls .agents/skills)" a
exits '[X45] it goes, too' 0 mapm remove demo
exits '[X45] one that is left without any part' 1 mapm install --yes acme/market --plugin two \
    --without 'skill a'
has '[X45] is an error' "$err" 'what it has: skill a (left out)'
exits '[X45] a skill has no parts' 2 mapm install --yes "$D_URL/skills/a" --without 'skill a'
exits '[X45] nor has more than one plugin' 2 \
    mapm install --yes acme/market --plugin demo two --without 'skill a'
exits '[X45] a word that is no part' 2 mapm install --yes "$D_URL" --without slack
has '[X45] says how it is written' "$err" "--without 'mcp slack'"
mkdir -p one-ws/a one-ws/b && cd one-ws || exit 1
printf 'members: [a, b]\n' >mapm.yaml
printf 'dependencies:\n  plugins: [{origin: %s, without: [skill a]}]\n' "$D_URL" | tee a/mapm.yaml >b/mapm.yaml
exits '[X45, D10] members that agree' 0 mapm install --yes -r
is '[X45, D10] have it so' "$(ls a/.agents/skills b/.agents/skills | tr '\n' ' ')" \
    'a/.agents/skills: b  b/.agents/skills: b '
sed -i 's/skill a/skill b/' b/mapm.yaml
exits '[X45, D10] members that do not' 1 mapm install --yes -r
has '[X45, D10] are told' "$err" 'two members leave out different parts'
cd .. || exit 1
rm -rf mapm.yaml mapm.lock .agents one-ws

# --- what plugins need [X35] -------------------------------------------------------------

N=$T/needs
plugin()  # NAME VERSION MANIFEST: in $N/plugins
{
    mkdir -p "$N/plugins/$1/.claude-plugin"
    echo "{\"name\": \"$1\", \"version\": \"$2\"${3:-}}" \
        >"$N/plugins/$1/.claude-plugin/plugin.json"
    skill "$N/plugins/$1/skills/$1-skill" "description: of $2"
}
needs_market()
{
    cat >"$N/.claude-plugin/marketplace.json" <<JSON
{"name": "needs", "owner": {"name": "o"}, "plugins": [
  {"name": "app", "source": "./plugins/app"},
  {"name": "late", "source": "./plugins/late"},
  {"name": "most", "source": "./plugins/most"},
  {"name": "cross", "source": "./plugins/cross"},
  {"name": "loop", "source": "./plugins/loop"},
  {"name": "base", "source": "./plugins/base"}]}
JSON
}
mkdir -p "$N/.claude-plugin"
needs_market
plugin base 1.0.0
plugin app 1.0.0 ', "dependencies": ["base"]'
plugin late 1.0.0 ', "dependencies": [{"name": "base", "version": "^1.0.0"}]'
plugin most 1.0.0 ', "dependencies": [{"name": "base", "version": "1.1.0"}, "base@needs"]'
plugin cross 1.0.0 ', "dependencies": ["demo@m"]'
plugin loop 1.0.0 ', "dependencies": ["loop"]'
tag_needs() { make_repo acme/needs "$N" && repo acme/needs tag "$1" main; }
tag_needs base--v1.0.0
plugin base 1.1.0 && tag_needs base--v1.1.0
plugin base 1.2.0 && tag_needs base--v1.2.0
plugin base 2.0.0 && tag_needs base--v2.0.0
rm -rf mapm.yaml mapm.lock .agents .mcp.json
version() { sed -n "/name: $1\$/,/version:/ s/    version: //p" mapm.lock; }

exits '[X35] a plugin that needs another of its marketplace' 0 \
    mapm install --yes acme/needs --plugin app
is '[X35] gets it, at the same commit' "$(version base)" 2.0.0
is '[X35] with its skills' "$(ls .agents/skills | tr '\n' ' ')" 'app-skill base-skill '
has '[X35] which the lock says' "$(cat mapm.lock)" 'needs: [plugin base, skill app/app-skill]'
exits '[X35] the lock is complete' 0 mapm install --locked
exits '[X35, C9] a range' 0 mapm install --yes acme/needs --plugin late
is '[X35] is the highest tag that fits' "$(version base)" 1.2.0
has '[X35] which the lock names' "$(cat mapm.lock)" 'needs/tree/base--v1.2.0/plugins/base'
cp mapm.lock "$T/needs.lock"
exits '[X35] nothing is outdated' 0 mapm outdated
exits '[X35] an update keeps to the range' 0 mapm update --yes
same '[X35] byte for byte' mapm.lock "$T/needs.lock"
rm -rf "$MAPM_HOME" .agents
exits '[X35] another machine has the same' 0 mapm install --locked --yes
same '[X35] lock' mapm.lock "$T/needs.lock"
exits '[X35] a version in all ranges' 0 mapm install --yes acme/needs --plugin most
is '[X35] is chosen' "$(version base)" 1.1.0
plugin base 1.3.0 && tag_needs base--v1.3.0
exits '[X35] the narrow range goes' 0 mapm remove most
exits '[X35] a newer tag is outdated' 3 mapm outdated
has '[X35] by its plugin' "$out" 'base'
exits '[X35] and taken by update' 0 mapm update --yes
is '[X35] in the range' "$(version base)" 1.3.0
plugin late 1.1.0 ', "dependencies": [{"name": "base", "version": "^9.0.0"}]'
make_repo acme/needs "$N"
rm -rf mapm.yaml mapm.lock .agents
exits '[X35] a range that no tag fits' 1 mapm install --yes acme/needs --plugin late
has '[X35] is said' "$err" 'no version of it is in the range; the newest is base--v2.0.0'
exits '[X35, M25] a plugin that needs itself' 1 mapm install --yes acme/needs --plugin loop
exits '[X35] one of a marketplace that nobody named' 4 mapm install --yes acme/needs --plugin cross
has '[X35] is named' "$err" 'plugin demo of the marketplace "m", which is not one of your catalogs'
has '[X35] with the command that adds it' "$err" 'mapm catalog add'
mapm catalog add acme/market >/dev/null 2>&1
exits '[X35] one that the user has named' 0 mapm install --yes acme/needs --plugin cross
has '[X35] is used' "$(cat mapm.lock)" 'plugin demo, skill cross/cross-skill]'
rm -rf "$MAPM_HOME" .agents .mcp.json
exits '[X35] on another machine by the lock' 0 mapm install --locked --yes
exits '[X35] verify knows it' 0 mapm verify
rm -rf mapm.yaml mapm.lock .agents .mcp.json
mkdir -p "$N/std" "$N/mcps" "$N/ring"
own()  # NAME LISTS: a standard plugin in $N that needs these origins
{
    skill "$N/$1/skills/$1-skill"
    cat >"$N/$1/plugin.json" <<JSON
{"\$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", "name": "$1",
 "extensions": {"dev.mapm": {"dependencies": {$2}}}}
JSON
}
AT=https://github.com/acme/needs/tree/main
mcp "$N/mcps/io.acme_clock.json" io.acme/clock npx -y clock
own std "\"plugins\": [\"$AT/plugins/base\"], \"skills\": [\"$AT/plugins/late/skills/late-skill\"],
    \"mcps\": [\"$AT/mcps/io.acme_clock.json\"]"
own ring "\"plugins\": [\"$AT/rung\"]"
own rung "\"plugins\": [\"$AT/ring\"]"
own both "\"plugins\": [\"$AT/plugins/base\", \"$AT/other/base\"]"
mkdir -p "$N/other" && cp -r "$N/plugins/base" "$N/other/base" && echo more >"$N/other/base/more"
make_repo acme/needs "$N"
exits '[X35] a standard plugin names origins' 0 mapm install --yes acme/needs/std
has '[X35] of plugins, skills and servers' "$(cat mapm.lock)" \
    'needs: [mcp io.acme/clock, plugin base, skill late-skill, skill std/std-skill]'
is '[X35] which are installed' "$(ls .agents/skills | tr '\n' ' ')" 'base-skill late-skill std-skill '
exits '[X35] why tells' 0 mapm why base
has '[X35] the way' "$out" 'plugin std -> plugin base'
exits '[X35] that lock is complete' 0 mapm install --locked
exits '[X35] they go with it' 0 mapm remove std
is '[X35] all of them' "$(find .agents -name SKILL.md 2>/dev/null)" ''
exits '[X35, M25] two plugins that need each other' 1 mapm install --yes acme/needs/ring
has '[X35, M25] are a cycle' "$err" 'cycle'
exits '[X35, M27] two plugins of one name' 1 mapm install --yes acme/needs/both
has '[X35, M27] are a conflict' "$err" 'plugin base'
rm -rf mapm.yaml mapm.lock .agents .mcp.json
exits '[X35] a folder has no marketplace' 0 mapm install --yes acme/needs/plugins/app
has '[X35] what it needs is named' "$err" '1 dependencies (.claude-plugin/plugin.json) not installed'
has '[X35] info names it' "$(mapm info acme/needs --plugin cross)" 'demo@m'
exits '[X35] it goes' 0 mapm remove app
rm -rf mapm.yaml mapm.lock .agents .mcp.json

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
# Its name is none of theirs, though it ends as theirs would.
mkdir -p "$T/fleet/.agents/plugins"
echo '{"name": "navy", "plugins": [{"name": "west", "source": "./plugins/west"}]}' \
    >"$T/fleet/.agents/plugins/marketplace.json"
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

# One server in plugins that the marketplace does not list in byte order.
mkdir -p "$T/shared/.claude-plugin"
echo '{"name": "m", "owner": {"name": "o"}, "plugins": [{"name": "zeta", "source": "./zeta"}, {"name": "alpha", "source": "./alpha"}, {"name": "mid", "source": "./mid"}]}' \
    >"$T/shared/.claude-plugin/marketplace.json"
for at in zeta alpha mid; do
    mkdir -p "$T/shared/$at/.claude-plugin"
    printf '{"name": "%s", "mcpServers": {"web": {"type": "http", "url": "https://example.com/mcp"}}}' \
        "$at" >"$T/shared/$at/.claude-plugin/plugin.json"
done
make_repo acme/shared "$T/shared" >/dev/null
mkdir "$T/shared-ws" && cd "$T/shared-ws" || exit 1
exits 'one server of three plugins' 0 mapm install --yes --quiet acme/shared --plugin '*'
is '[G10] has the name of the first in byte order' "$(mapm list | sed -n 's/^mcp *\([^ ]*\) .*/\1/p')" alpha/web
exits '[G10] and the lock gives it that name' 0 mapm verify
exits '[G10] again' 0 mapm install --locked --yes
rm -r "$MAPM_HOME" .agents
exits '[G10] on another machine' 0 mapm install --locked --yes
exits '[V68] one of them goes: nothing else starts, no question' 0 mapm remove alpha
is '[V68] the server stays, under the name of the next' "$(mapm list | sed -n 's/^mcp *\([^ ]*\) .*/\1/p')" mid/web
has '[V68] in the file of the clients' "$(cat .mcp.json)" https://example.com/mcp
# --- of the workspace: the copy of a sub-agent --------------------------------------

mkdir -p "$T/copies/plug/.claude-plugin" "$T/copies/plug/agents" && cd "$T/copies" || exit 1
echo '{"name": "plug", "version": "1.0.0", "description": "A plugin."}' >plug/.claude-plugin/plugin.json
printf '%s\n' --- 'name: helper' 'description: Helps. Use it for help.' --- 'Do it.' >plug/agents/helper.md
exits '[G10] a plugin of the workspace' 0 mapm install --yes ./plug
exits '[F1] is as it was installed' 0 mapm verify
echo other >>.agents/agents/helper/AGENTS.md
exits '[F1] an edit of the copy of its sub-agent' 3 mapm verify
like '[F1] is found' "$out" '^\.agents/agents/helper/AGENTS\.md: changed$'
exits '[F1] what is installed again' 0 mapm install --force --yes
exits '[F1] is as it should be' 0 mapm verify
echo more >>plug/agents/helper.md
exits '[F1] a source that changed since' 3 mapm verify
like '[F1] is found' "$out" '^\.agents/agents/helper/AGENTS\.md: changed$'
exits '[F1] an install takes it' 0 mapm install --yes
exits '[F1] and it is as it should be' 0 mapm verify
done_testing

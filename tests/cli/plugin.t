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

exits 'install of a folder with a plugin manifest succeeds [G10]' 0 \
    mapm install --yes "$URL/plugins/demo"
is 'every part of an installed plugin has its own lock entry' "$(kinds)" ' 1 agent 2 mcp 1 plugin 2 skill '
has 'mapm.yaml lists the installed plugin' "$(cat mapm.yaml)" 'plugins:'
has 'install names a server that a shell would run as left out [row 36]' "$err" 'mcp bad is left out'
has 'install names the hooks that it does not install [V65, row 39]' "$err" '1 hooks (hooks/hooks.json) not installed'
has 'the lock records the server that was skipped' "$(cat mapm.lock)" 'skipped: [mcp bad]'
has 'the lock records the kinds of parts that are not installed' "$(cat mapm.lock)" 'not_installed: [hooks]'
has '.mcp.json starts a server of the plugin folder through mapm start [G12]' "$(cat .mcp.json)" '"start",'
hasnt '.mcp.json contains no absolute path of this machine' "$(cat .mcp.json)" "$T"
has '.mcp.json holds the plain URL of a remote server' "$(cat .mcp.json)" 'https://example.com/mcp'
has '[G12] install says that mapm start may execute the server' "$err" 'mapm start may execute this server on'
has 'a sub-agent of the plugin is installed as an agent' "$(cat .agents/agents/helper-one/AGENTS.md)" 'tools: Read'
hasnt 'the installed sub-agent lacks fields that widen its rights [row 42]' \
    "$(cat .agents/agents/helper-one/AGENTS.md)" 'permissionMode'
cp mapm.lock "$T/lock"
exits 'a second install succeeds' 0 mapm install
same 'a second install leaves mapm.lock unchanged' mapm.lock "$T/lock"
exits 'install --locked accepts the lock of the plugin' 0 mapm install --locked
rm -rf "$MAPM_HOME" .agents .mcp.json
exits 'install --locked --yes succeeds on another machine' 0 mapm install --locked --yes
same 'install --locked leaves mapm.lock unchanged byte for byte' mapm.lock "$T/lock"
ok 'install --locked restores both skills of the plugin' test -f .agents/skills/a/SKILL.md -a -f .agents/skills/b/SKILL.md
has 'list shows the parts of the plugin' "$(mapm list)" 'skill demo/a'
has 'why shows the way from the plugin to its skill' "$(mapm why demo/a)" 'plugin demo -> skill demo/a'
has 'tree draws a plugin as a folder in its graph' "$(mapm tree --format dot 2>/dev/null || mapm tree --dot)" 'shape=folder'
has 'list of a plugin shows the kinds that are not installed' "$(mapm list demo)" 'not installed: hooks'
has 'list -v shows the parts that are left out' "$(mapm list -v)" 'left out: mcp bad'
exits 'verify succeeds for an unchanged plugin' 0 mapm verify
exits 'verify --remote succeeds for an unchanged plugin' 0 mapm verify --remote
echo x >>.agents/skills/a/SKILL.md
exits 'diff of a plugin succeeds with an edited part' 0 mapm diff demo
has 'diff of a plugin shows the changed file of its part' "$out" '.agents/skills/a/SKILL.md'
exits 'restore of a plugin succeeds with an edited part' 0 mapm restore demo
exits 'verify succeeds after the restore of a plugin' 0 mapm verify
has '[V65] list --json has the kinds that are not installed' "$(mapm list --json | tr -d ' \n')" '"not_installed":["hooks"]'

# --- the lock is no word of what a plugin holds -----------------------------------

sed 's/needs: \[agent/needs: [agent/; s/, skill demo\/b\]/]/' "$T/lock" >mapm.lock
rm -rf "$MAPM_HOME" .agents
exits 'install --locked fails when the lock omits a part of a plugin [row 34]' 1 mapm install --locked --yes
cp "$T/lock" mapm.lock
other=$(printf '%064d' 7)
sed "/name: demo\\/loc/,/digest/ s/digest: .*/digest: sha256:$other/" "$T/lock" >mapm.lock
exits 'install --locked fails when the digest of a server differs [row 46]' 1 mapm install --locked --yes
cp "$T/lock" mapm.lock
exits 'install --locked succeeds with the true lock' 0 mapm install --locked --yes
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
            not_ok "[F1] the case of $name $key alters the lock" cmp -s mapm.lock "$T/lock"
            home=$MAPM_HOME
            [ "$state" = 'place --offline' ] || { rm -rf .agents .mcp.json && home=$T/none; }
            exits "[F1] install --locked rejects another $key of $name, ${state% *}" 1 env MAPM_HOME="$home" "$MAPM" install --locked "${state#* }"
            rm -rf "$T/none"
        done
        run mapm verify
        isnt "[F1] verify rejects another $key of $name" "$status" 0
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
exits 'remove of a plugin succeeds' 0 mapm remove demo
is 'remove of a plugin leaves none of its skills' "$(find .agents -name SKILL.md 2>/dev/null)" ''

# --- a marketplace -----------------------------------------------------------------

exits 'install of two marketplace entries by name succeeds [G11]' 0 mapm install --yes acme/market --plugin demo two
has 'mapm.yaml records the marketplace and the entry' "$(cat mapm.yaml)" \
    "{catalog: $URL, plugin: two}"
has 'the lock records the commit of the marketplace' "$(cat mapm.lock)" 'catalog_commit: '
is 'a plugin whose entry lists skills has those skills alone [row 34]' \
    "$(sed -n '/name: two/,/needs/ s/    needs: //p' mapm.lock)" '[skill demo/a]'
is '[V47, C16] a skill that two plugins share is installed once' "$(ls .agents/skills | tr '\n' ' ')" 'a b '
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
exits '[F1] install --locked rejects a consent to hidden characters for a plugin' 1 mapm install --locked
cp "$T/lock" mapm.lock
rm -rf .agents .mcp.json && cp -a "$T/placed/." .
exits 'outdated reports nothing for plugins of an unchanged marketplace' 0 mapm outdated
exits 'update --yes succeeds when nothing is newer' 0 mapm update --yes
same 'update --yes leaves mapm.lock unchanged when nothing is newer' mapm.lock "$T/lock"
sed '/^    needs: \[agent/s/, skill demo\/b//' "$T/lock" >mapm.lock
not_ok 'the case of a lock that omits a part alters the lock' cmp -s mapm.lock "$T/lock"
for words in outdated 'update --dry-run'; do
    exits "[row 34] $words succeeds with a lock that omits a part" 0 mapm $words
done
at_most '[row 34] outdated and update send a bounded number of requests' "$(requests)" 200
cp "$T/lock" mapm.lock
rm -rf "$MAPM_HOME" .agents .mcp.json
exits 'install --locked --yes reads the marketplace at its locked commit' 0 mapm install --locked --yes
same 'install --locked --yes leaves the lock of the marketplace unchanged' mapm.lock "$T/lock"
mkdir "$T/lock-alone" && cd "$T/lock-alone" && cp "$T/lock" mapm.lock || exit 1
exits 'install with a lock alone succeeds on a new machine' 0 \
    env MAPM_HOME="$T/alone" "$MAPM" install --yes acme/market --plugin demo two
same 'install with a lock alone keeps the locked entries' mapm.lock "$T/lock"
cd "$T/ws" || exit 1

market ', "description": "new words"'
make_repo acme/market "$S" >/dev/null
exits 'outdated reports a changed marketplace entry [row 34]' 3 mapm outdated
has 'outdated names the plugin of the changed entry' "$out" 'plugin demo'
exits 'update --yes takes the changed entry' 0 mapm update --yes
hasnt 'the digest of a plugin covers its marketplace entry' "$(cat mapm.lock)" \
    "$(sed -n '/name: demo$/,/digest/ s/.*digest: //p' "$T/lock")"
exits 'remove of one of two plugins with a common skill succeeds' 0 mapm remove demo
is 'the common skill takes the name from the plugin that remains' "$(sed -n 's/    as: //p' mapm.lock)" 'two/a'
exits 'remove of the last plugin with the common skill succeeds' 0 mapm remove two
is 'no skill remains after both plugins are removed' "$(find .agents -name SKILL.md 2>/dev/null)" ''

# --- folders of this machine and of the workspace -----------------------------------

exits 'install of a plugin of this machine succeeds [G10]' 0 mapm install --yes "file:$D"
ok 'mapm.local.lock has the plugin of this machine' grep -q 'type: plugin' mapm.local.lock
exits 'install of a marketplace entry of this machine succeeds' 0 mapm install --yes "file:$S" --plugin two
exits 'remove of two plugins of this machine succeeds' 0 mapm remove demo two
rm -f mapm.local.yaml mapm.local.lock
cp -r "$D" mine
exits 'install of a plugin of the workspace succeeds' 0 mapm install --yes ./mine
has 'mapm.yaml lists a plugin of the workspace by its path' "$(cat mapm.yaml)" '- ./mine'
is 'skills of a plugin of the workspace are links' "$(readlink .agents/skills/a)" ../../mine/skills/a
exits 'install --locked accepts a plugin of the workspace' 0 mapm install --locked
exits 'remove of a plugin of the workspace succeeds' 0 mapm remove demo
exits 'install -g of a plugin succeeds' 0 mapm install -g --yes "$URL/plugins/demo"
exits 'remove -g of a plugin succeeds' 0 mapm remove -g demo

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
exits 'install of an entry that leads to another repository succeeds [row 32]' 0 \
    mapm install --yes -v acme/lead --plugin far
has 'install says which marketplace the plugin is from' "$err" 'plugin far of https://github.com/acme/lead/tree/main is from'
has 'install -v names the manifest that it does not read [row 40]' "$err" '.cursor-plugin/plugin.json is not read'
has 'the lock has the origin in the other repository' "$(cat mapm.lock)" 'origin: https://github.com/globex/far/tree/main'
mkdir -p "$T/some/.claude-plugin"
cat >"$T/some/.claude-plugin/marketplace.json" <<'JSON'
{"plugins": [{"name": "far", "source": {"source": "github", "repo": "globex/far"}},
  {"name": "gone", "source": {"source": "github", "repo": "globex/gone"}}]}
JSON
make_repo acme/some "$T/some" >/dev/null
exits 'a dry run of a marketplace whose second repository is gone exits 3' 3 \
    mapm install --dry-run acme/some --plugin '*'
has '[G10] the dry run says which marketplace the plugin is from' "$err" 'plugin far of https://github.com/acme/some/tree/main is from'
hasnt '[G10] the dry run does not say where the left out plugin is from' "$err" 'plugin gone of'
has '[G10] the dry run names the left out plugin with the reason' "$err" 'left out, not-authorized: gone'
cp mapm.lock "$T/far.lock"
exits 'outdated reports nothing for a plugin of another repository [G11]' 0 mapm outdated
exits 'update --yes succeeds for an unchanged plugin of another repository [G11]' 0 mapm update --yes
rm -rf "$MAPM_HOME" .agents
exits 'install --locked --yes fetches the plugin from its own repository [G11]' 0 mapm install --locked --yes
same 'install and update leave the lock of that plugin unchanged' mapm.lock "$T/far.lock"
mkdir -p "$T/far/hooks" && echo '{}' >"$T/far/hooks/hooks.json"
echo '{"s": {"type": "http", "url": "https://example.com/new"}}' >"$T/far/.mcp.json"
make_repo globex/far "$T/far" >/dev/null
exits 'update fails without consent to a new server of the plugin [row 39]' 4 mapm update
has 'update shows the URL that clients would connect to' "$out" 'connects to: https://example.com/new'
exits 'update --yes accepts the new server' 0 mapm update --yes
has 'update marks a hook that is new in this version [V67, row 39]' "$err" '1 hooks (hooks/hooks.json) not installed, new in this version'
cp mapm.yaml "$T/yaml"
printf 'policy:\n  sources: [github.com/acme/*]\n' >>mapm.yaml
exits 'policy.sources refuses the repository that the entry leads to [row 32]' 4 mapm install
cp "$T/yaml" mapm.yaml
exits 'install fails for a second plugin of the same name and other origin [row 35]' 1 \
    mapm install --yes acme/lead --plugin demo acme/market/plugins/demo
has 'the conflict names the plugin' "$err" 'demo'
exits 'remove of the plugin of another repository succeeds' 0 mapm remove far

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
is 'the first plugin in byte order names the parts of both [G10, V70]' "$(names)" 'one/s one/same two/s '
rm -rf mapm.yaml mapm.lock .agents
mapm install --yes --quiet "$PAIR/two" && mapm install --yes --quiet "$PAIR/one"
is '[V70] the order of installation does not change the names of parts' "$(names)" 'one/s one/same two/s '
exits 'install --locked accepts the lock of two plugins with common parts' 0 mapm install --locked
exits 'install of a part of a plugin as a root succeeds' 0 mapm install --yes "$PAIR/two/skills/same"
is 'a part that becomes a root has the name of a root' "$(names)" 'one/s two/s '
exits 'verify succeeds for a root that is also a part of plugins [G10]' 0 mapm verify
grep -v 'origin:\|also:\|path:' mapm.lock >after
rm -rf mapm.yaml mapm.lock .agents
mapm install --yes --quiet "$PAIR/two/skills/same"
mapm install --yes --quiet "$PAIR/one" && mapm install --yes --quiet "$PAIR/two"
is 'a root has the same names when its plugins are installed later [G10]' \
    "$(grep -v 'origin:\|also:\|path:' mapm.lock)" "$(cat after)"
like 'the root remains the origin of the shared skill [D2]' "$(cat mapm.lock)" 'origin: .*/two/skills/same$'
exits 'verify succeeds for a root whose plugins were installed later' 0 mapm verify
cp mapm.lock before
exits 'a further install of root and plugins succeeds' 0 mapm install
is 'a further install of root and plugins leaves mapm.lock unchanged' "$(cat mapm.lock)" "$(cat before)"
rm -rf mapm.yaml mapm.lock .agents
mapm install --yes --quiet acme/pair --all && mapm install --yes --quiet "$PAIR/two"
exits 'verify succeeds for a catalog together with one of its plugins' 0 mapm verify
cp mapm.lock before
exits 'install succeeds again for a catalog together with its plugin' 0 mapm install
is 'install leaves the lock of catalog and plugin unchanged [F4]' "$(cat mapm.lock)" "$(cat before)"
rm -rf .agents
exits 'install --locked restores catalog and plugin after .agents is deleted' 0 mapm install --locked
rm -rf mapm.yaml mapm.lock .agents
mapm install --yes --quiet "$PAIR/one" && mapm install --yes --quiet "$PAIR/two" "$PAIR/two/skills/same"
exits 'remove of the plugin that contains a root succeeds' 0 mapm remove two
exits 'remove of the other plugin succeeds' 0 mapm remove one
is '[V69] the root remains after its plugins are removed' "$(ls .agents/skills)" same
exits 'remove of the root succeeds' 0 mapm remove same
rm -rf mapm.yaml mapm.lock .agents

# --- beside a catalog -------------------------------------------------------------------

exits 'install --all of a repository with a marketplace succeeds' 0 mapm install --yes acme/market --all
has 'install --all mentions the marketplace and the option --plugin [G11]' "$err" "has a marketplace of plugins: --plugin '*'"
is 'install --all of a repository installs no plugin' "$(grep -c 'type: plugin' mapm.lock)" 0
rm -rf mapm.yaml mapm.lock .agents
exits 'install --plugin with a glob exits 3 when some entries are left out [G11]' 3 \
    mapm install --yes acme/market --plugin '*'
is 'install --plugin with a glob installs the two entries that it can' "$(grep -c 'type: plugin' mapm.lock)" 2
exits 'remove of the two plugins of the glob succeeds' 0 mapm remove demo two

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
exits 'install fails for a plugin with parts in a client extension alone [G10]' 1 mapm install --yes acme/hollow --plugin ext
has 'the error names the client extension and its manifest' "$err" 'what it has: com.example.client 1 (plugin.json)'
has 'the error gives the command that lists the packages of the repository' "$err" 'mapm install --list https://github.com/acme/hollow/tree/main lists'
mkdir -p "$H/below/.claude-plugin" "$H/below/there"
skill "$H/away/skills/away"
skill "$H/below/there/skills/there"
cat >"$H/below/.claude-plugin/marketplace.json" <<'JSON'
{"name": "b", "owner": {"name": "o"}, "plugins": [{"name": "there", "source": "./there"},
 {"name": "away", "source": "./away"}, {"name": "gone", "source": "./gone"}]}
JSON
make_repo acme/hollow "$H" >/dev/null
exits 'install fails for an entry whose folder exists only at the repository top [G11]' 1 \
    mapm install --yes acme/hollow/below --plugin away
has 'the error names the folder that the marketplace folder lacks' "$err" 'there is no "away" in "below"'
exits 'install fails for an entry whose folder does not exist' 1 mapm install --yes acme/hollow/below --plugin gone
has 'the error names the folder that does not exist' "$err" 'there is no "gone" in "below"'
exits 'install of an entry beside its marketplace file succeeds' 0 mapm install --yes acme/hollow/below --plugin there
exits 'verify --remote proves the plugin at its path [F1]' 0 mapm verify --remote
exits 'remove of the plugin beside its marketplace file succeeds' 0 mapm remove there
exits 'install --plugin fails for an unknown entry' 1 mapm install --yes acme/market --plugin dema
has 'the error suggests the nearest entry of the marketplace [G11, V63]' "$err" 'did you mean demo?'
exits 'install --plugin fails for an entry that resembles none' 1 mapm install --yes acme/market --plugin zzzzzzzz
like 'the error gives the command that lists the marketplace' "$err" 'hint: mapm install [^ ]*acme/market[^ ]* --list shows what it offers$'
exits '[C14] install refuses an npm package' 4 mapm install --yes acme/market --plugin npm
exits 'install refuses a source that leads out of the repository [row 31]' 4 \
    mapm install --yes acme/market --plugin up
exits 'install fails for a commit that the repository lacks [V58, row 33]' 1 \
    mapm install --yes acme/market --plugin sha
ok 'refused installs leave the lock without packages' test ! -s mapm.lock -o "$(grep -c type mapm.lock)" = 0
exits 'install --strict refuses a plugin with parts that would be left out [G10, V66]' 4 \
    mapm install --yes --strict acme/market --plugin demo
exits '[V59, C10] install finds an entry by its former name' 0 mapm install --yes acme/market --plugin old
has 'install says the present name of a renamed entry' "$err" 'plugin old is called demo now'
exits 'remove of the renamed plugin succeeds' 0 mapm remove demo

# --- parts that are left out [X45] ------------------------------------------------------

rm -rf mapm.yaml mapm.lock .agents .mcp.json
D_URL=$URL/plugins/demo
exits '[X45] install --without leaves out parts of a plugin' 0 \
    mapm install --yes "$D_URL" --without 'skill b' 'mcp bad' --without 'agent helper-one'
has '[X45] mapm.yaml lists the parts that are left out' "$(cat mapm.yaml)" \
    "{origin: $D_URL, without: [agent helper-one, mcp bad, skill b]}"
has '[X45, F13] the lock lists the parts that are left out' "$(tr '\n' '~' <mapm.lock)" \
    '~    without: [agent helper-one, mcp bad, skill b]~    not_installed: [hooks]~'
is '[X45] the other parts are installed' "$(kinds)" ' 2 mcp 1 plugin 1 skill '
has '[X45] install names the parts that are left out' "$err" \
    'plugin demo is installed without agent helper-one, mcp bad, skill b, as mapm.yaml says'
hasnt '[X45] install does not report a left out server a second time' "$err" 'mcp bad is left out:'
cp mapm.lock "$T/without"
exits '[X45] remove of a single part of a plugin fails' 1 mapm remove demo/a
has '[X45] the error gives the install command that leaves the part out' "$err" "mapm install $D_URL --without 'skill a'"
exits '[X45] a second install of the plugin succeeds' 0 mapm install
has '[X45] a second install names the left out parts again' "$err" 'is installed without agent helper-one'
exits '[X45] install --locked accepts left out parts' 0 mapm install --locked
same '[X45] install leaves the lock with left out parts unchanged' mapm.lock "$T/without"
rm -rf "$MAPM_HOME" .agents .mcp.json
exits '[X45] install --locked --yes succeeds on another machine' 0 mapm install --locked --yes
is '[X45] install --locked installs the same parts on another machine' "$(ls .agents/skills)$(ls .agents/agents 2>/dev/null)" a
exits '[X45] verify --remote accepts left out parts' 0 mapm verify --remote
exits '[X45] outdated reports nothing for a plugin with left out parts' 0 mapm outdated
exits '[X45] update --yes succeeds for a plugin with left out parts' 0 mapm update --yes
same '[X45] update --yes leaves the lock with left out parts unchanged' mapm.lock "$T/without"
for command in list tree 'why demo' 'info demo'; do
    has "[X45] $command shows the left out parts" "$(mapm $command)" 'without agent helper-one, mcp bad, skill b'
done
for part in b 'skill b' demo/b 'skill demo/b' 'agent helper-one'; do
    exits "[X45] why $part fails for a left out part" 1 mapm why "$part"
    has '[X45] why says that the part is left out' "$err" 'plugin demo is installed without'
    has '[X45] why says how to bring the part back' "$err" 'take it out of "without" in mapm.yaml'
done
exits '[X45] why fails for a left out name of another type' 1 mapm why 'mcp b'
has '[X45] why treats that name as unknown' "$err" 'nothing named "mcp b"'
has '[X45] list --json has the left out parts' "$(mapm list --json | tr -d ' \n')" \
    '"without":["agenthelper-one","mcpbad","skillb"]'
has '[X45] install --json has the left out parts' "$(mapm install --json 2>/dev/null | tr -d ' \n')" \
    '"without":[{"plugin":"demo","parts":["agenthelper-one","mcpbad","skillb"]}]'
sed -i 's/, skill b\]/]/' mapm.yaml
exits '[X45] install --locked fails when mapm.yaml leaves out other parts' 1 mapm install --locked
has '[X45] the error names the plugin whose left out parts differ' "$err" 'plugin demo leaves out other parts'
exits '[X45] install --yes succeeds when a part is no longer left out' 0 mapm install --yes
ok '[X45] install --yes installs the part that was left out' test -f .agents/skills/b/SKILL.md
has '[X45] the lock keeps the remaining left out parts' "$(cat mapm.lock)" 'without: [agent helper-one, mcp bad]'
exits '[X45] install --locked --offline accepts the new lock' 0 mapm install --locked --offline
exits '[X45] install --without with another list succeeds' 0 \
    mapm install --yes "$D_URL" --without 'skill a'
has '[X45] mapm.yaml has the new list of left out parts' "$(cat mapm.yaml)" "{origin: $D_URL, without: [skill a]}"
is '[X45] the workspace has the parts of the new list' "$(ls .agents/skills .agents/agents | tr '\n' ' ')" \
    '.agents/agents: helper-one  .agents/skills: b '
exits '[X45] install without the option succeeds for the same plugin' 0 mapm install --yes "$D_URL"
has '[X45] install without the option keeps the list in mapm.yaml' "$(cat mapm.yaml)" 'without: [skill a]'
sed -i 's/skill a\]/skill aa]/' mapm.yaml
exits '[X45] install fails for a left out part that the plugin lacks' 1 mapm install
has '[X45] the error names the part that the plugin lacks' "$err" 'plugin demo has no part "skill aa" to leave out'
is '[D18, X45] the error names the plugin exactly once' "$(printf '%s\n' "$err" | grep -cF "$D_URL")" 1
has '[X45] the error lists the parts of the plugin' "$err" 'its parts are: mcp web, mcp loc, skill a, skill b, agent helper-one'
sed -i 's/skill aa\]/skills a]/' mapm.yaml
exits '[X45] install fails when mapm.yaml leaves out a malformed part' 1 mapm install
has '[X45] the error gives the line of mapm.yaml and the malformed part' "$err" 'mapm.yaml:3: not a part of a plugin: "skills a"'
sed -i 's/skills a\]/skill a]/' mapm.yaml
echo more >>"$D/skills/b/SKILL.md"
make_repo acme/market "$S" >/dev/null
exits '[X45] update --yes succeeds for a changed plugin with a left out part' 0 mapm update --yes
is '[X45] update brings no left out part back' "$(ls .agents/skills)" b
exits '[X45] bundle succeeds for a plugin with a left out part' 0 mapm bundle "$T/without.mapm"
mkdir "$T/without-2" && cd "$T/without-2" || exit 1
exits '[X45] install --from the bundle succeeds in an empty folder' 0 mapm install --from "$T/without.mapm" --yes
is '[X45] install --from the bundle keeps the left out part' "$(ls .agents/skills)$(grep -c 'without: \[skill a\]' mapm.yaml mapm.lock | tr '\n' ' ')" \
    'bmapm.yaml:1 mapm.lock:1 '
cd - >/dev/null || exit 1
exits '[X45] remove of a plugin with a left out part succeeds' 0 mapm remove demo
is '[X45] remove deletes every part of the plugin' "$(find .agents -name '*.md' 2>/dev/null)" ''
exits '[X45] install --without succeeds for a marketplace entry' 0 \
    mapm install --yes acme/market --plugin demo --without 'skill a'
has '[X45] mapm.yaml records the left out parts of the entry' "$(cat mapm.yaml)" \
    "{catalog: $URL, plugin: demo, without: [skill a]}"
exits '[X45] install --without succeeds again with another list for the entry' 0 mapm install --yes acme/market --plugin demo --without 'skill b'
has '[X45] mapm.yaml has the new list of the entry' "$(cat mapm.yaml)" "plugin: demo, without: [skill b]}"
is '[X45] the workspace has the parts of the new list of the entry' "$(ls .agents/skills)" a
exits '[X45] remove of the marketplace entry succeeds' 0 mapm remove demo
exits '[X45] install fails when every part of a plugin is left out' 1 mapm install --yes acme/market --plugin two \
    --without 'skill a'
has '[X45] the error lists the parts as left out' "$err" 'what it has: skill a (left out)'
exits '[X45] install --without is a usage error for a skill' 2 mapm install --yes "$D_URL/skills/a" --without 'skill a'
exits '[X45] install --without is a usage error for two plugins' 2 \
    mapm install --yes acme/market --plugin demo two --without 'skill a'
exits '[X45] install --without is a usage error for a word that is no part' 2 mapm install --yes "$D_URL" --without slack
has '[X45] the error shows how a part is written' "$err" "--without 'mcp slack'"
mkdir -p one-ws/a one-ws/b && cd one-ws || exit 1
printf 'members: [a, b]\n' >mapm.yaml
printf 'dependencies:\n  plugins: [{origin: %s, without: [skill a]}]\n' "$D_URL" | tee a/mapm.yaml >b/mapm.yaml
exits '[X45, D10] install -r succeeds for members that leave out the same part' 0 mapm install --yes -r
is '[X45, D10] install -r installs the remaining part in both members' "$(ls a/.agents/skills b/.agents/skills | tr '\n' ' ')" \
    'a/.agents/skills: b  b/.agents/skills: b '
sed -i 's/skill a/skill b/' b/mapm.yaml
exits '[X45, D10] install -r fails for members that leave out different parts' 1 mapm install --yes -r
has '[X45, D10] the error says that two members leave out different parts' "$err" 'two members leave out different parts'
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

exits '[X35] install of a plugin that needs another of its marketplace succeeds' 0 \
    mapm install --yes acme/needs --plugin app
is '[X35] the needed plugin is installed from the same commit' "$(version base)" 2.0.0
is '[X35] the skills of the needed plugin are installed' "$(ls .agents/skills | tr '\n' ' ')" 'app-skill base-skill '
has '[X35] the lock records the needed plugin' "$(cat mapm.lock)" 'needs: [plugin base, skill app/app-skill]'
exits '[X35] install --locked accepts the lock of both plugins' 0 mapm install --locked
exits '[X35, C9] install of a plugin that needs a range of versions succeeds' 0 mapm install --yes acme/needs --plugin late
is '[X35] the highest tag within the range is chosen' "$(version base)" 1.2.0
has '[X35] the lock records the chosen tag in the origin' "$(cat mapm.lock)" 'needs/tree/base--v1.2.0/plugins/base'
cp mapm.lock "$T/needs.lock"
exits '[X35] outdated reports nothing when a newer tag is outside the range' 0 mapm outdated
exits '[X35] update --yes succeeds with a newer tag outside the range' 0 mapm update --yes
same '[X35] update --yes leaves mapm.lock unchanged within the range' mapm.lock "$T/needs.lock"
rm -rf "$MAPM_HOME" .agents
exits '[X35] install --locked --yes succeeds with ranges on another machine' 0 mapm install --locked --yes
same '[X35] install --locked --yes leaves the lock with ranges unchanged' mapm.lock "$T/needs.lock"
exits '[X35] install of a second plugin with a narrower range succeeds' 0 mapm install --yes acme/needs --plugin most
is '[X35] the version within both ranges is chosen' "$(version base)" 1.1.0
plugin base 1.3.0 && tag_needs base--v1.3.0
exits '[X35] remove of the plugin with the narrow range succeeds' 0 mapm remove most
exits '[X35] outdated reports a newer tag within the range' 3 mapm outdated
has '[X35] outdated names the plugin of the newer tag' "$out" 'base'
exits '[X35] update --yes takes the newer tag' 0 mapm update --yes
is '[X35] update --yes chooses the newest tag within the range' "$(version base)" 1.3.0
plugin late 1.1.0 ', "dependencies": [{"name": "base", "version": "^9.0.0"}]'
make_repo acme/needs "$N"
rm -rf mapm.yaml mapm.lock .agents
exits '[X35] install fails when no tag fits the range' 1 mapm install --yes acme/needs --plugin late
has '[X35] the error names the newest tag outside the range' "$err" 'no version of it is in the range; the newest is base--v2.0.0'
exits '[X35, M25] install fails for a plugin that needs itself' 1 mapm install --yes acme/needs --plugin loop
exits '[X35] install refuses a need in an unknown marketplace' 4 mapm install --yes acme/needs --plugin cross
has '[X35] the error names the plugin and the unknown marketplace' "$err" 'plugin demo of the marketplace "m", which is not one of your catalogs'
has '[X35] the error gives the command that adds a catalog' "$err" 'mapm catalog add'
mapm catalog add acme/market >/dev/null 2>&1
exits '[X35] install succeeds when the marketplace is one of the catalogs' 0 mapm install --yes acme/needs --plugin cross
has '[X35] the lock records the plugin of the added marketplace' "$(cat mapm.lock)" 'plugin demo, skill cross/cross-skill]'
rm -rf "$MAPM_HOME" .agents .mcp.json
exits '[X35] install --locked needs no added catalog on another machine' 0 mapm install --locked --yes
exits '[X35] verify succeeds for a plugin of another marketplace' 0 mapm verify
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
exits '[X35] install of a standard plugin that names origins succeeds' 0 mapm install --yes acme/needs/std
has '[X35] the lock records needed plugins, skills and servers' "$(cat mapm.lock)" \
    'needs: [mcp io.acme/clock, plugin base, skill late-skill, skill std/std-skill]'
is '[X35] the needed skills are installed' "$(ls .agents/skills | tr '\n' ' ')" 'base-skill late-skill std-skill '
exits '[X35] why succeeds for a needed plugin' 0 mapm why base
has '[X35] why shows which plugin needs the other' "$out" 'plugin std -> plugin base'
exits '[X35] install --locked accepts the lock of the standard plugin' 0 mapm install --locked
exits '[X35] remove of the standard plugin succeeds' 0 mapm remove std
is '[X35] remove deletes everything that only the plugin needed' "$(find .agents -name SKILL.md 2>/dev/null)" ''
exits '[X35, M25] install fails for two plugins that need each other' 1 mapm install --yes acme/needs/ring
has '[X35, M25] the error calls the two plugins a cycle' "$err" 'cycle'
exits '[X35, M27] install fails for two needed plugins of one name' 1 mapm install --yes acme/needs/both
has '[X35, M27] the conflict names the plugin' "$err" 'plugin base'
rm -rf mapm.yaml mapm.lock .agents .mcp.json
exits '[X35] install of a plugin by its folder succeeds without a marketplace' 0 mapm install --yes acme/needs/plugins/app
has '[X35] install by folder names the dependencies that it does not install' "$err" '1 dependencies (.claude-plugin/plugin.json) not installed'
has '[X35] info names the needed plugin and its marketplace' "$(mapm info acme/needs --plugin cross)" 'demo@m'
exits '[X35] remove of the plugin installed by its folder succeeds' 0 mapm remove app
rm -rf mapm.yaml mapm.lock .agents .mcp.json

# --- patterns, and manifests of nothing -------------------------------------------------

exits 'install --plugin with * exits 3 when some entries cannot be installed [G11]' 3 \
    mapm install --yes acme/market --plugin '*'
is 'mapm.yaml lists each installed entry as a root' "$(grep -o 'plugin: [a-z]*' mapm.yaml | tr '\n' ' ')" \
    'plugin: demo plugin: two '
has 'the message names the entries that are left out' "$err" 'left out, refused: npm, up'
has 'the message counts the entries that are left out' "$err" '3 of 5 chosen packages are left out'
exits 'install --locked accepts the lock of a pattern' 0 mapm install --locked
exits 'install --strict refuses a pattern with an entry that cannot be installed' 4 \
    mapm install --yes --strict acme/market --plugin 'u*'
exits 'remove of every plugin of the pattern succeeds' 0 mapm remove demo two

mkdir -p "$T/hull/.claude-plugin"
echo '{"name": "hull"}' >"$T/hull/.claude-plugin/plugin.json"
skill "$T/hull/one"
skill "$T/hull/two"
make_repo acme/hull "$T/hull" >/dev/null
exits 'install succeeds for a catalog whose manifest names no part' 0 mapm install acme/hull
has 'install lists a skill of the catalog despite the empty manifest' "$out" 'acme/hull/tree/main/one'
has 'install says why the folder is not installed as one plugin' "$err" 'is not installed as one plugin: plugin hull has no skill'
ln -s ../nowhere "$T/hull/two/gone"
make_repo acme/hull "$T/hull" >/dev/null
exits 'install succeeds for a catalog whose plugin is refused' 0 mapm install acme/hull
has 'install lists a skill of the catalog despite the refused plugin' "$out" 'acme/hull/tree/main/two'
exits 'install of a local catalog with an empty manifest succeeds' 0 mapm install "$T/hull"
has 'install lists the packages of the local catalog' "$out" 'one'
rm -r "$T/hull/one" "$T/hull/two"
make_repo acme/hull "$T/hull" >/dev/null
exits 'install fails for an empty plugin without packages' 1 mapm install acme/hull
has 'the error names the empty plugin' "$err" 'plugin hull has no skill'
exits 'install --all fails for a repository that holds nothing [F6]' 1 mapm install --all acme/hull
hasnt 'the error gives no hint to choose from nothing' "$err" 'choose what to take'

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
exits 'install --all of two skills with the same name succeeds' 0 mapm install --yes --quiet --all acme/fleet
is '[G10, F4] a skill is named after its plugin or else after its folder' "$(names)" \
    'harbour-tools/pilot west/pilot '
exits '[G10, F4] install --locked accepts names from plugins and folders' 0 mapm install --locked
rm -r "$MAPM_HOME"
exits '[G10, F4] install --locked --yes accepts these names on another machine' 0 mapm install --locked --yes
rm -r .agents
exits '[G10, F4] install --offline accepts names that were proved before' 0 mapm install --locked --offline --yes
cp mapm.lock "$T/fleet.lock"
sed -i 's|harbour-tools/pilot|evil/pilot|; s|harbour-tools-pilot|evil-pilot|' mapm.lock
rm -r .agents
exits '[G10, F13] install --locked rejects a name that no plugin or folder gives' 1 mapm install --locked --yes
has '[G10, F13] the error says that nothing gives the name' "$err" 'evil/pilot: neither a folder nor a plugin nor a root gives it'
exits '[G10, F13] install --offline rejects a name that was not proved' 1 mapm install --locked --yes --offline
cp "$T/fleet.lock" mapm.lock
echo '{"name": "docks"}' >"$T/fleet/plugins/east/.claude-plugin/plugin.json"
echo '{"$schema": "https://agent-plugins.org/schemas/1.0.0/plugin.schema.json", "name": "sails"}' \
    >"$T/fleet/plugins/west/plugin.json"
echo more >>"$T/fleet/plugins/east/skills/pilot/SKILL.md"
make_repo acme/fleet "$T/fleet" >/dev/null
exits 'update --yes succeeds when both plugins change their names' 0 mapm update --yes --quiet
is '[G10, F4] update keeps the names that the lock records' "$(names)" 'harbour-tools/pilot west/pilot '
mkdir "$T/fleet-2" && cd "$T/fleet-2" || exit 1
exits 'install --all of the renamed plugins succeeds in another workspace' 0 mapm install --yes --quiet --all acme/fleet
is '[G10, F4] a new workspace takes the present names of the plugins' "$(names)" 'docks/pilot sails/pilot '
mkdir "$T/fleet-3" && cd "$T/fleet-3" || exit 1
exits 'install --all of a local folder with two plugins succeeds' 0 mapm install --yes --quiet --all "$T/fleet"
is '[G10, F4] skills of the local folder are named after their plugins' "$(sed -n 's/^    as: //p' mapm.local.lock | sort | tr '\n' ' ')" \
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
exits 'install of three plugins with one common server succeeds' 0 mapm install --yes --quiet acme/shared --plugin '*'
is '[G10] the first plugin in byte order names the common server' "$(mapm list | sed -n 's/^mcp *\([^ ]*\) .*/\1/p')" alpha/web
exits '[G10] verify accepts the name of the common server' 0 mapm verify
exits '[G10] install --locked accepts the name of the common server' 0 mapm install --locked --yes
rm -r "$MAPM_HOME" .agents
exits '[G10] install --locked --yes accepts that name on another machine' 0 mapm install --locked --yes
exits '[V68] remove of the plugin that names the server asks no question' 0 mapm remove alpha
is '[V68] the server remains under the name of the next plugin' "$(mapm list | sed -n 's/^mcp *\([^ ]*\) .*/\1/p')" mid/web
has '[V68] .mcp.json keeps the server' "$(cat .mcp.json)" https://example.com/mcp
# --- of the workspace: the copy of a sub-agent --------------------------------------

mkdir -p "$T/copies/plug/.claude-plugin" "$T/copies/plug/agents" && cd "$T/copies" || exit 1
echo '{"name": "plug", "version": "1.0.0", "description": "A plugin."}' >plug/.claude-plugin/plugin.json
printf '%s\n' --- 'name: helper' 'description: Helps. Use it for help.' --- 'Do it.' >plug/agents/helper.md
exits '[G10] install of a workspace plugin with a sub-agent succeeds' 0 mapm install --yes ./plug
exits '[F1] verify succeeds for an unchanged workspace plugin' 0 mapm verify
echo other >>.agents/agents/helper/AGENTS.md
exits '[F1] verify fails after an edit of the copy of the sub-agent' 3 mapm verify
like '[F1] verify names the edited copy of the sub-agent' "$out" '^\.agents/agents/helper/AGENTS\.md: changed$'
exits '[F1] install --force --yes succeeds over the edited copy' 0 mapm install --force --yes
exits '[F1] verify succeeds after install --force' 0 mapm verify
echo more >>plug/agents/helper.md
exits '[F1] verify fails after the source of the sub-agent changed' 3 mapm verify
like '[F1] verify names the copy whose source changed' "$out" '^\.agents/agents/helper/AGENTS\.md: changed$'
exits '[F1] install --yes takes the changed source' 0 mapm install --yes
exits '[F1] verify succeeds after the install of the changed source' 0 mapm verify
done_testing

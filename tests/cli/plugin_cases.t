#!/bin/sh
# Cases of plugins and marketplaces that have no other test. [G10, G11]
. "$(dirname "$0")/../lib/cli.sh"
start_githost

has()   # WHAT TEXT PART
{
    case $2 in *"$3"*) pass "$1" ;; *) fail "$1"; diag "no \"$3\" in: $2" ;; esac
}
SCHEMA='https://agent-plugins.org/schemas/1.0.0/plugin.schema.json'
standard()  # FOLDER NAME
{
    mkdir -p "$1"
    printf '{"$schema": "%s", "name": "%s"}\n' "$SCHEMA" "$2" >"$1/plugin.json"
}
claude()  # FOLDER NAME
{
    mkdir -p "$1/.claude-plugin"
    echo "{\"name\": \"$2\"}" >"$1/.claude-plugin/plugin.json"
}
market()  # FOLDER ENTRY...: its marketplace, with each entry as JSON.
{
    mkdir -p "$1/.claude-plugin"
    folder=$1
    shift
    printf '{"name": "m", "owner": {"name": "o"}, "plugins": [' >"$folder/.claude-plugin/marketplace.json"
    for entry; do printf '%s%s' "$separator" "$entry" && separator=,; done >>"$folder/.claude-plugin/marketplace.json"
    separator=
    echo ']}' >>"$folder/.claude-plugin/marketplace.json"
}
separator=
fresh() { rm -rf .agents .claude .mcp.json mapm.*; }
skills() { ls .agents/skills | tr '\n' ' '; }

# --- skills of a standard plugin ------------------------------------------------------

P=$T/src
standard "$P/one" one
for name in good fine; do skill "$P/one/skills/$name"; done
mkdir -p "$P/one/skills/broken" "$P/one/skills/other-folder" "$P/two/skills"
printf -- '---\nname: broken\n---\nText\n' >"$P/one/skills/broken/SKILL.md"
printf -- '---\nname: its-name\ndescription: Has another folder.\n---\nText\n' >"$P/one/skills/other-folder/SKILL.md"
standard "$P/two" two
skill "$P/two/skills/own"
mkdir -p "$P/one/skills/borrowed" "$P/one/shared"
ln -s ../../../two/skills/own/SKILL.md "$P/one/skills/borrowed/SKILL.md"
skill "$P/one/shared/within"
ln -s ../shared/within "$P/one/skills/within"
make_repo acme/plugins "$P" >/dev/null
exits '[P1, V18] install of a plugin with one broken skill succeeds' 0 mapm install --yes acme/plugins/one
is '[V18, V19, P2] install provisions the other skills and a link that stays inside' "$(skills)" 'fine good its-name within '
has '[V18, P25] the broken one is named' "$err" 'skill broken is left out'
has '[V20, P7] so is one whose text is that of another plugin' "$err" 'skill borrowed is left out'
has '[V21] one that is not called as its folder is warned of' "$err" \
    'the name "its-name" is not that of its folder, "other-folder"'
fresh
exits '[V13, P15] install --offline of a standard plugin of this machine succeeds' 0 mapm install --yes --offline "file:$P/two"
is '[V13, P15] install --offline provisions the skill without the schema' "$(skills)" 'own '
fresh

# --- entries that change ---------------------------------------------------------------

M=$T/market
claude "$M/a" a && claude "$M/b" b
skill "$M/a/skills/sa" && skill "$M/b/skills/sb"
A='{"name": "a", "source": "./a"}' B='{"name": "b", "source": "./b"}'
market "$M" "$A" "$B" '{"name": 1}' '{"name": "bad"}'
make_repo acme/m "$M" >/dev/null
exits '[V56, C10] install of good entries beside bad ones succeeds' 0 mapm install --yes acme/m --plugin a b
is '[V56] install provisions the skills of the good entries' "$(skills)" 'sa sb '
cp mapm.lock "$T/both.lock"
market "$M" "$B"
make_repo acme/m "$M" >/dev/null
exits '[V62] install --locked succeeds when the entry of a plugin is gone' 0 mapm install --locked
exits '[V62] outdated exits with 3 when the entry of a plugin is gone' 3 mapm outdated
like '[V62] outdated shows the plugin as gone' "$out" '^plugin a .* -> gone$'
exits '[V62] update exits with 3 when the entry of a plugin is gone' 3 mapm update --yes
is '[V62] update keeps the plugin whose entry is gone' "$(skills)" 'sa sb '
has '[V62] and names it' "$err" 'plugin a'
exits '[V62] remove of the plugin whose entry is gone succeeds' 0 mapm remove a
is '[V62] remove takes away the skills of that plugin' "$(skills)" 'sb '
exits '[V62, V63] install of a plugin whose entry is gone fails' 1 mapm install --yes acme/m --plugin a
fresh

mkdir -p "$T/emoji" && skill "$T/emoji/skills/s"
market "$T/emoji" '{"name": "two words", "source": "./"}' '{"name": "ä", "source": "./"}'
make_repo acme/emoji "$T/emoji" >/dev/null
for word in two '*'; do
    exits "[V55] install fails when all entries have invalid names: --plugin $word" 1 mapm install --yes acme/emoji --plugin "$word"
    has "[V55] are counted" "$err" "hint: 2 entries of its marketplace are left out: names are unique"
done
exits '[V55] info of a marketplace with invalid names succeeds' 0 mapm info acme/emoji
has '[V55] counts them, too' "$err" '2 entries of its marketplace are left out: names are unique, of at most 100 ASCII'
exits '[V55] install --list of a marketplace with invalid names succeeds' 0 mapm install --list acme/emoji
has '[V55] likewise' "$err" '2 entries of its marketplace are left out'
like '[V55] info --json counts the entries that are left out' "$(mapm info acme/emoji --json)" '"left_out": 2$'

# --- tags and commits --------------------------------------------------------------------

market "$M" "$A" "$B"
make_repo acme/m "$M" >/dev/null && repo acme/m tag v1 main
first=$(repo acme/m rev-parse main)
echo later >>"$M/a/skills/sa/SKILL.md"
market "$M" "$A" "$B" "{\"name\": \"old\", \"source\": {\"source\": \"git-subdir\", \"url\": \"acme/m\", \"path\": \"a\", \"ref\": \"main\", \"sha\": \"$first\"}}" \
    "{\"name\": \"upper\", \"source\": {\"source\": \"github\", \"repo\": \"acme/m\", \"sha\": \"$(echo "$first" | tr a-f A-F)\"}}" \
    '{"name": "short", "source": {"source": "github", "repo": "acme/m", "sha": "0123456"}}'
make_repo acme/m "$M" >/dev/null
exits '[V57] install of a plugin of a marketplace at a tag succeeds' 0 mapm install --yes https://github.com/acme/m/tree/v1 --plugin a
not_ok '[V57] the plugin has the content of the commit of the tag' grep -q later .agents/skills/sa/SKILL.md
has '[V57, C17] which the lock has for both' "$(grep -c "ommit: $first" mapm.lock)" 3
fresh
exits '[V58, C13, row 33] install of an entry whose ref does not match its sha succeeds' 0 mapm install --yes acme/m --plugin old
not_ok '[V58, C13, row 33] the sha of the entry has precedence over its ref' grep -q later .agents/skills/sa/SKILL.md
for entry in upper short; do
    exits "[V58, row 33] install exits with 4 for a sha that is $entry" 4 mapm install --yes acme/m --plugin $entry
    has '[V58, row 33] is refused' "$err" '40 lower-case'
done
fresh

# --- two catalogs, and one that moved -------------------------------------------------------

mkdir -p "$T/other" && cp -R "$M/." "$T/other" && echo "other" >>"$T/other/a/skills/sa/SKILL.md"
make_repo globex/m "$T/other" >/dev/null
exits '[V60] catalog add of two catalogs with one plugin name succeeds' 0 mapm catalog add acme/m globex/m
exits '[V60] search of a plugin name in two catalogs succeeds' 0 mapm search --json a
is '[V60] search finds the plugin in both catalogs' "$(printf '%s' "$out" | grep -c '"name": "a"')" 2
exits '[V60] install of the plugin from one catalog succeeds' 0 mapm install --yes acme/m --plugin a
exits '[V60, row 35] install of the same name from the other catalog fails' 1 mapm install --yes globex/m --plugin a
has '[V60, row 35] the error names the plugin that both catalogs offer' "$err" 'claim the name of plugin a'
like '[V60, row 35] the hint has a command for each way out' "$err" 'mapm install https://github.com/globex/m/tree/main --plugin a --as NAME; .* mapm remove a$'
exits '[V60, row 35] the plugin of the other catalog is installed under another name' 0 \
    mapm install --yes https://github.com/globex/m/tree/main --plugin a --as other
is '[V60, row 35] both plugins are installed' "$(mapm list --json | grep -c '"type": "plugin"')" 2
like '[V60] mapm.yaml has the other name of the plugin' "$(cat mapm.yaml)" 'plugin: a, as: other|as: other'
is '[V60] its skill has its name as a scope' "$(skills)" 'other-sa sa '
exits '[V60] install --locked of a renamed plugin succeeds' 0 mapm install --locked
exits '[V60] --as with two plugins is a usage error' 2 mapm install --yes acme/m --plugin a --plugin b --as x
exits '[V60] --as with a pattern of plugins is a usage error' 2 mapm install --yes acme/m --plugin '*' --as x
exits '[V60] remove by the other name succeeds' 0 mapm remove other
fresh
stop_githost
start_githost --moved acme/m=acme/moved
mv "$T/repos/acme/m.git" "$T/repos/acme/moved.git" 2>/dev/null
exits '[V61] install from a marketplace that moved succeeds' 0 mapm install --yes acme/m --plugin a
is '[V61] install provisions the skill of the marketplace that moved' "$(skills)" 'sa '
fresh

# --- a catalog without a manifest ---------------------------------------------------------------

mkdir -p "$T/plain" && skill "$T/plain/skills/p" && skill "$T/plain/skills/q"
make_repo acme/plain "$T/plain" >/dev/null
exits '[V72] install --all of a catalog without a manifest succeeds' 0 mapm install --yes --all acme/plain
is '[V72] the lock of a catalog without a manifest has no plugin' "$(grep -c 'plugin' mapm.lock)" 0
fresh

# --- ten thousand entries ---------------------------------------------------------------------

python3 -S - "$M/.claude-plugin/marketplace.json" <<'PY'
import json, sys
json.dump({"name": "m", "owner": {"name": "o"}, "plugins":
           [{"name": f"plugin-{i}", "source": "./a"} for i in range(10000)]}, open(sys.argv[1], "w"))
PY
make_repo acme/many "$M" >/dev/null
exits '[V64, row 43] install of an unknown plugin from 10,000 entries fails' 1 mapm install --yes acme/many --plugin plugin-x
has '[V63] has the nearest of their names' "$err" 'did you mean plugin-'
exits '[V63] install of a part of a plugin name fails' 1 mapm install --yes acme/many --plugin n-999
has '[V63] has names that contain it' "$err" 'did you mean plugin-999, plugin-9990, plugin-9991?'
done_testing

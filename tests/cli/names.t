#!/bin/sh
# Names that a lock gives packages, and roots of equal content. F1, F4, F13.
. "$(dirname "$0")/../lib/cli.sh"

U=https://github.com/acme
start_githost
fresh()
{
    cd "$T" && rm -rf w && mkdir w && cd w || exit 1
}
names()
{
    sed -n 's/^    name: //p; s/^    as: /  as /p' mapm.lock | tr '\n' ' '
}
# named FROM TO: the lock, with another name; the store is cold.
named()
{
    cd "$T" && rm -rf edited cold && cp -r w edited && cd edited || exit 1
    rm -rf .agents
    sed -i "s|$1|$2|" mapm.lock
    MAPM_HOME=$T/cold
}

# --- what `as` may say --------------------------------------------------------

t=$T/twins
skill "$t/plugins/box/skills/ai"
skill "$t/plugins/jam/skills/ai" 'description: Another one.'
skill "$t/plugins/pin/skills/ai"
make_repo acme/twins "$t"
mcp "$T/tool/mcps/io.acme_tool.json" io.acme/tool npx -y tool
make_repo acme/tool "$T/tool"
fresh
exits 'an MCP server' 0 mapm install --yes $U/tool/tree/main/mcps/io.acme_tool.json
exits 'folders of one name' 0 mapm install acme/twins --all --yes
is '[F4] have names' "$(names)" 'io.acme/tool ai   as box/ai ai   as jam/ai '
for name in evil/ai jam/evil pin-x/ai; do
    MAPM_HOME=$T/mapm
    named "as: jam/ai" "as: $name"
    sed -i "s|skills/jam-ai|skills/$(echo $name | tr / -)|" mapm.lock
    exits "[F13] as: $name is no name of that folder" 1 mapm install --locked
    like '[F13] and the entry is named' "$err" 'mapm.lock:'
    not_ok '[F13] nothing is there' test -e .agents
done
MAPM_HOME=$T/mapm
named "as: jam/ai" "as: evil/ai"
MAPM_HOME=$T/mapm
MAPM_HOME=$T/mapm
exits '[F13] warm, too' 1 mapm install --locked
named "    name: io.acme/tool" "    name: io.acme/tool\n    as: io.evil/tool"
exits '[F13] an MCP server has no other name without a root that gives it' 1 mapm install --locked
MAPM_HOME=$T/mapm

# --- judged by the folder -------------------------------------------------------

t=$T/odd
for n in alpha beta; do
    mkdir -p "$t/skills/$n"
    printf -- '---\nname: My Odd Skill\ndescription: "text here"\n---\nBody\n' \
        >"$t/skills/$n/SKILL.md"
done
make_repo acme/odd "$t"
fresh
exits 'equal files in two folders' 0 mapm install --yes \
    $U/odd/tree/main/skills/alpha $U/odd/tree/main/skills/beta
is '[F1] have the names of their folders' "$(names)" 'alpha beta '
rm -rf .agents
exits '[F1] each is judged by its own' 0 mapm install --locked
fresh
exits 'one of them' 0 mapm install --yes $U/odd/tree/main/skills/alpha
sed -i 's|name: alpha|name: beta|; s|skills/alpha$|skills/beta|' mapm.lock
sed -i 's|origin: \(.*\)/beta|origin: \1/alpha|' mapm.lock
rm -rf .agents
exits '[F1] and has no other name' 1 mapm install --locked
like '[F1] than its own' "$err" 'is named alpha'

# --- roots of equal content ------------------------------------------------------

roots()
{
    sed -n 's|^    origin: ||p; s|^    also: \[\(.*\)\]|\1|p' mapm.lock | tr , '\n' |
        sed 's|.*/tree/||; s|#.*||' | sort | tr '\n' ' '
}
t=$T/dup
skill "$t/skills/one"
skill "$t/plugins/x/skills/one"
skill "$t/skills/two"
make_repo acme/dup "$t"
repo acme/dup tag v1
fresh
exits 'one of two equal folders' 0 mapm install --yes $U/dup/tree/main/plugins/x/skills/one
exits 'and the other' 0 mapm install --yes $U/dup/tree/main/skills/one
exits '[F4] chosen again from the catalog' 0 mapm install --yes $U/dup/tree/main/skills --all
is '[F4] no root of another path goes' "$(roots)" \
    'main/plugins/x/skills/one main/skills/one main/skills/two '
exits '[F4] another ref of one' 0 mapm install --yes $U/dup/tree/v1/skills/two
is '[F4] replaces that alone' "$(roots)" \
    'main/plugins/x/skills/one main/skills/one v1/skills/two '
echo changed >>"$t/plugins/x/skills/one/SKILL.md"
make_repo acme/dup "$t"
exits '[F4] chosen when they differ' 0 mapm install --yes acme/dup --skill two
exits '[F4] chosen all when they differ' 0 mapm install --yes acme/dup --all
is '[F4] each root stays' "$(roots)" \
    'main/plugins/x/skills/one main/skills/one main/skills/two '

# --- one of two roots of equal content -------------------------------------------

t=$T/eq
skill "$t/a/skills/one"
skill "$t/b/skills/one"
skill "$t/c/skills/three"
make_repo acme/eq "$t"
for first in a b; do
    fresh
    exits 'a catalog with equal folders' 0 mapm install acme/eq --all --yes
    exits "[F4] remove of one root, $first" 0 mapm remove $U/eq/tree/main/$first/skills/one
    other=$(echo $first | tr ab ba)
    is '[F4] leaves the other' "$(roots)" "main/$other/skills/one main/c/skills/three "
    is '[F4] and its package' "$(names)" 'one three '
    exits '[F4] as the lock says' 0 mapm install --locked
    exits '[F4] remove of the last one' 0 mapm remove $U/eq/tree/main/$other/skills/one
    is '[F4] takes it out' "$(names)" 'three '
done

# --- equal folders that differ later -----------------------------------------------

for how in '' one; do
    rm -rf "$t"
    skill "$t/a/skills/one"
    skill "$t/b/skills/one"
    skill "$t/c/skills/three"
    make_repo acme/eq "$t"
    fresh
    exits 'a catalog with equal folders' 0 mapm install acme/eq --all --yes
    echo changed >>"$t/b/skills/one/SKILL.md"
    make_repo acme/eq "$t"
    exits "[F4] update $how of what differs now" 0 mapm update $how
    is '[F4] the recorded name stays, the other gets one' "$(names)" 'one   as b/one one three '
    is '[F4] of all roots' "$(roots)" 'main/a/skills/one main/b/skills/one main/c/skills/three '
    exits '[F4] as the lock says' 0 mapm install --locked
    rm -rf .agents
    exits '[F4] in a fresh workspace, too' 0 mapm install --locked
    exits '[F4] verify of it' 0 mapm verify
    exits '[F4] remove of the first' 0 mapm remove $U/eq/tree/main/a/skills/one
    is '[F4] the recorded name stays' "$(names)" 'one   as b/one three '
done

# --- a name goes with its folder ----------------------------------------------------

t=$T/twins
cd "$T" && fresh
exits 'folders of one name' 0 mapm install acme/twins --all --yes
is '[F4] have names' "$(names)" 'ai   as box/ai ai   as jam/ai '
exits '[F4] remove of the folder that gave it' 0 mapm remove $U/twins/tree/main/plugins/box/skills/ai
is '[F4] then the equal one has its own' "$(names)" 'ai   as jam/ai ai   as pin/ai '
rm -rf .agents
exits '[F4] and the lock fits' 0 mapm install --locked
fresh
exits 'folders of one name' 0 mapm install acme/twins --all --yes
echo '      exclude: [plugins/box]' >>mapm.yaml
exits '[F4] taken out by hand' 0 mapm install
is '[F4] it is the same' "$(names)" 'ai   as jam/ai ai   as pin/ai '
rm -rf .agents
exits '[F4] and the lock fits, too' 0 mapm install --locked

# --- folders that give no name --------------------------------------------------------

t=$T/bad
skill "$t/box/skills/pdf"
skill "$t/jam/skills/pdf" 'description: Another one.'
skill "$t/BAD/skills/pdf" 'description: A third one.'
make_repo acme/bad "$t"
fresh
exits '[F4] folders of one name, one without a scope' 3 mapm install acme/bad --all --yes
is '[F4] the others have names' "$(names)" 'pdf   as box/pdf pdf   as jam/pdf '
like '[F4] and it is left out' "$err" 'left out, origin-conflict: .*BAD/skills/pdf'

# --- the plugin of an equal folder gives the name --------------------------------------

t=$T/tools
skill "$t/.tool/skills/ai"
skill "$t/suite/browser/skills/ai"
skill "$t/suite/other/skills/ai" 'description: Another one.'
mkdir -p "$t/suite/browser/.claude-plugin"
echo '{"name": "web"}' >"$t/suite/browser/.claude-plugin/plugin.json"
make_repo acme/tools "$t"
fresh
exits '[F4] equal folders, the second one in a plugin' 0 mapm install acme/tools --all --yes
is '[G10] have the name of the plugin' "$(names)" 'ai   as other/ai ai   as web/ai '
like '[F4] with the first folder as origin' "$(cat mapm.lock)" 'origin: .*/\.tool/skills/ai'
cp mapm.lock before
exits '[F4] again' 0 mapm install --locked
exits '[F4] without --locked' 0 mapm install
is '[F4] nothing changes' "$(cat mapm.lock)" "$(cat before)"
exits '[F4] verify' 0 mapm verify
MAPM_HOME=$T/other
rm -rf .agents
exits '[F4] in a new store' 0 mapm install --locked
named 'as: web/ai' 'as: zip/ai'
exits '[F13] a name that neither has' 1 mapm install --locked
like '[F13] is not taken' "$err" 'neither a folder nor a plugin'
MAPM_HOME=$T/mapm

# --- hints -------------------------------------------------------------------------

fresh
MAPM_HOME=$T/never
exits '[F6] --all of a catalog that is not here' 1 mapm install acme/eq --all --offline
like '[F6] has the hint of its cause' "$err" 'packages by their own names'
exits '[F6] --all of a ref that is not there' 1 mapm install acme/eq@nowhere --all
unlike '[F6] has no other hint' "$err" 'choose what to take'
MAPM_HOME=$T/mapm

done_testing

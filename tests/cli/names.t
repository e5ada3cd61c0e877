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
exits 'install of an MCP server succeeds' 0 mapm install --yes $U/tool/tree/main/mcps/io.acme_tool.json
exits 'install --all of folders with one name succeeds' 0 mapm install acme/twins --all --yes
is '[F4] folders of one name have different names in the lock' "$(names)" 'io.acme/tool ai   as box/ai ai   as jam/ai '
for name in evil/ai jam/evil pin-x/ai; do
    MAPM_HOME=$T/mapm
    named "as: jam/ai" "as: $name"
    sed -i "s|skills/jam-ai|skills/$(echo $name | tr / -)|" mapm.lock
    exits "[F13] install --locked refuses the name $name for another folder" 1 mapm install --locked
    like '[F13] the error names the entry of the lock' "$err" 'mapm.lock:'
    not_ok '[F13] install --locked with a wrong name installs nothing' test -e .agents
done
MAPM_HOME=$T/mapm
named "as: jam/ai" "as: evil/ai"
sed -i 's|skills/jam-ai|skills/evil-ai|' mapm.lock
exits '[F13] install --locked refuses a wrong name with a warm store' 1 mapm install --locked
named "    name: io.acme/tool" "    name: io.acme/tool\n    as: io.evil/tool"
exits '[F13] install --locked refuses an alias of a server without a root' 1 mapm install --locked
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
exits 'install of equal files in two folders succeeds' 0 mapm install --yes \
    $U/odd/tree/main/skills/alpha $U/odd/tree/main/skills/beta
is '[F1] equal files have the names of their folders' "$(names)" 'alpha beta '
rm -rf .agents
exits '[F1] install --locked of equal files succeeds' 0 mapm install --locked
fresh
exits 'install of one of both folders succeeds' 0 mapm install --yes $U/odd/tree/main/skills/alpha
sed -i 's|name: alpha|name: beta|; s|skills/alpha$|skills/beta|' mapm.lock
sed -i 's|origin: \(.*\)/beta|origin: \1/alpha|' mapm.lock
rm -rf .agents
exits '[F1] install --locked refuses the name of the other folder' 1 mapm install --locked
like '[F1] the error gives the name of the folder' "$err" 'is named alpha'

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
exits 'install of one of two equal folders succeeds' 0 mapm install --yes $U/dup/tree/main/plugins/x/skills/one
exits 'install of the second of two equal folders succeeds' 0 mapm install --yes $U/dup/tree/main/skills/one
exits '[F4] install --all of a part of the catalog succeeds' 0 mapm install --yes $U/dup/tree/main/skills --all
is '[F4] install --all keeps the root of another path' "$(roots)" \
    'main/plugins/x/skills/one main/skills/one main/skills/two '
exits '[F4] install of one root at another ref succeeds' 0 mapm install --yes $U/dup/tree/v1/skills/two
is '[F4] another ref replaces that root alone' "$(roots)" \
    'main/plugins/x/skills/one main/skills/one v1/skills/two '
echo changed >>"$t/plugins/x/skills/one/SKILL.md"
make_repo acme/dup "$t"
exits '[F4] install of another skill succeeds after equal folders differ' 0 mapm install --yes acme/dup --skill two
exits '[F4] install --all succeeds after equal folders differ' 0 mapm install --yes acme/dup --all
is '[F4] install --all keeps each root after equal folders differ' "$(roots)" \
    'main/plugins/x/skills/one main/skills/one main/skills/two '

# --- one of two roots of equal content -------------------------------------------

t=$T/eq
skill "$t/a/skills/one"
skill "$t/b/skills/one"
skill "$t/c/skills/three"
make_repo acme/eq "$t"
for first in a b; do
    fresh
    exits 'install --all of a catalog with equal folders succeeds' 0 mapm install acme/eq --all --yes
    exits "[F4] remove of one of two equal roots succeeds: $first" 0 mapm remove $U/eq/tree/main/$first/skills/one
    other=$(echo $first | tr ab ba)
    is '[F4] remove of one equal root keeps the other root' "$(roots)" "main/$other/skills/one main/c/skills/three "
    is '[F4] remove of one equal root keeps the package' "$(names)" 'one three '
    exits '[F4] install --locked after the removal of one equal root succeeds' 0 mapm install --locked
    exits '[F4] remove of the second equal root succeeds' 0 mapm remove $U/eq/tree/main/$other/skills/one
    is '[F4] remove of the second equal root removes the package' "$(names)" 'three '
done

# --- equal folders that differ later -----------------------------------------------

for how in '' one; do
    rm -rf "$t"
    skill "$t/a/skills/one"
    skill "$t/b/skills/one"
    skill "$t/c/skills/three"
    make_repo acme/eq "$t"
    fresh
    exits 'install --all of a catalog with equal folders, later changed, succeeds' 0 mapm install acme/eq --all --yes
    echo changed >>"$t/b/skills/one/SKILL.md"
    make_repo acme/eq "$t"
    exits "[F4] update $how of equal folders that differ now succeeds" 0 mapm update $how
    is '[F4] the recorded name stays and the other folder gets a new name' "$(names)" 'one   as b/one one three '
    is '[F4] the lock has the roots of all folders' "$(roots)" 'main/a/skills/one main/b/skills/one main/c/skills/three '
    exits '[F4] install --locked after equal folders differ succeeds' 0 mapm install --locked
    rm -rf .agents
    exits '[F4] install --locked without .agents succeeds after equal folders differ' 0 mapm install --locked
    exits '[F4] verify succeeds after equal folders differ' 0 mapm verify
    exits '[F4] remove of the first root succeeds after equal folders differ' 0 mapm remove $U/eq/tree/main/a/skills/one
    is '[F4] remove of the first root keeps the recorded name of the other' "$(names)" 'one   as b/one three '
done

# --- a name goes with its folder ----------------------------------------------------

t=$T/twins
cd "$T" && fresh
exits 'install --all of equal and different folders succeeds' 0 mapm install acme/twins --all --yes
is '[F4] equal folders share one name, the other folder has its own' "$(names)" 'ai   as box/ai ai   as jam/ai '
exits '[F4] remove of the folder that gave the name succeeds' 0 mapm remove $U/twins/tree/main/plugins/box/skills/ai
is '[F4] the equal folder gets its own name' "$(names)" 'ai   as jam/ai ai   as pin/ai '
rm -rf .agents
exits '[F4] install --locked with the new name succeeds' 0 mapm install --locked
fresh
exits 'install --all before an exclusion by hand succeeds' 0 mapm install acme/twins --all --yes
echo '      exclude: [plugins/box]' >>mapm.yaml
exits '[F4] install with the folder excluded by hand succeeds' 0 mapm install
is '[F4] the exclusion by hand leads to the same names' "$(names)" 'ai   as jam/ai ai   as pin/ai '
rm -rf .agents
exits '[F4] install --locked after the exclusion by hand succeeds' 0 mapm install --locked

# --- folders that give no name --------------------------------------------------------

t=$T/bad
skill "$t/box/skills/pdf"
skill "$t/jam/skills/pdf" 'description: Another one.'
skill "$t/BAD/skills/pdf" 'description: A third one.'
make_repo acme/bad "$t"
fresh
exits '[F4] install --all with one folder that is no scope succeeds' 0 mapm install acme/bad --all --yes
is '[F4] the only folder that is no scope leaves the package its own name' "$(names)" \
    'pdf   as box/pdf pdf   as jam/pdf pdf '
exits '[F4] install --locked with the own name of one folder succeeds' 0 mapm install --locked
exits '[F4] verify with the own name of one folder succeeds' 0 mapm verify
skill "$t/WORSE/skills/pdf" 'description: A fourth one.'
make_repo acme/bad "$t"
exits '[F4] update of a catalog with a new folder that is no scope succeeds' 0 mapm update
is '[F4] update keeps the own name and leaves out the new folder' "$(names)" \
    'pdf   as box/pdf pdf   as jam/pdf pdf '
like '[F4] the own name stays with its folder' "$(cat mapm.lock)" 'origin: .*/BAD/skills/pdf'
fresh
exits '[F4] install --all with two folders that are no scopes ends with exit code 3' 3 mapm install acme/bad --all --yes
is '[F4] the folders that are scopes give names' "$(names)" 'pdf   as box/pdf pdf   as jam/pdf '
like '[F4] the report names both folders that are no scopes as left out' "$err" \
    'left out, origin-conflict: .*BAD/skills/pdf, .*WORSE/skills/pdf'

# --- the plugin of an equal folder gives the name --------------------------------------

t=$T/tools
skill "$t/.tool/skills/ai"
skill "$t/suite/browser/skills/ai"
skill "$t/suite/other/skills/ai" 'description: Another one.'
mkdir -p "$t/suite/browser/.claude-plugin"
echo '{"name": "web"}' >"$t/suite/browser/.claude-plugin/plugin.json"
make_repo acme/tools "$t"
fresh
exits '[F4] install --all of equal folders, one in a plugin, succeeds' 0 mapm install acme/tools --all --yes
is '[G10] the equal folders have the name of the plugin' "$(names)" 'ai   as other/ai ai   as web/ai '
like '[F4] the lock has the first folder as origin' "$(cat mapm.lock)" 'origin: .*/\.tool/skills/ai'
cp mapm.lock before
exits '[F4] install --locked with the name of the plugin succeeds' 0 mapm install --locked
exits '[F4] install with the name of the plugin succeeds' 0 mapm install
is '[F4] install leaves the lock with the name of the plugin unchanged' "$(cat mapm.lock)" "$(cat before)"
exits '[F4] verify with the name of the plugin succeeds' 0 mapm verify
MAPM_HOME=$T/other
rm -rf .agents
exits '[F4] install --locked with the name of the plugin succeeds in a new store' 0 mapm install --locked
named 'as: web/ai' 'as: zip/ai'
exits '[F13] install --locked refuses a name of neither folder nor plugin' 1 mapm install --locked
like '[F13] the error says that neither folder nor plugin has the name' "$err" 'neither a folder nor a plugin'
MAPM_HOME=$T/mapm

# --- a folder with a dot gives a name where no other does ---------------------------

t=$T/dots
skill "$t/.agents/skills/auth"
skill "$t/.apm/skills/auth" 'description: Another one.'
skill "$t/.gemini/skills/web"
skill "$t/suite/browser/skills/web"
skill "$t/.github/skills/web" 'description: Another one.'
skill "$t/top"
skill "$t/.claude/skills/top" 'description: Another one.'
make_repo acme/dots "$t"
fresh
exits '[F4] install --all of folders below dot folders succeeds' 0 mapm install acme/dots --all --yes
is '[F4] the dot folder gives the name where no equal folder gives one' "$(names)" \
    'auth   as agents/auth auth   as apm/auth web   as browser/web top   as claude/top web   as github/web top '
cp mapm.lock before
exits '[F4] install with names of dot folders succeeds' 0 mapm install
is '[F4] install leaves the lock with names of dot folders unchanged' "$(cat mapm.lock)" "$(cat before)"
exits '[F4] verify with names of dot folders succeeds' 0 mapm verify
exits '[F4] update with names of dot folders succeeds' 0 mapm update
is '[F4] update keeps the names of dot folders' "$(cat mapm.lock)" "$(cat before)"
MAPM_HOME=$T/dotless
rm -rf .agents
exits '[F4] install --locked with names of dot folders succeeds in a new store' 0 mapm install --locked
exits '[F4] install --offline with names of dot folders succeeds' 0 mapm install --offline
named 'as: apm/auth' 'as: api/auth'
sed -i 's|skills/apm-auth|skills/api-auth|' mapm.lock
exits '[F13] install --locked refuses the name of another dot folder' 1 mapm install --locked
like '[F13] the error names the entry of the lock' "$err" 'mapm.lock:'
MAPM_HOME=$T/mapm

# --- hints -------------------------------------------------------------------------

fresh
MAPM_HOME=$T/never
exits '[F6] install --all --offline of an unfetched catalog fails' 1 mapm install acme/eq --all --offline
like '[F6] the hint suggests packages by their own names' "$err" 'packages by their own names'
exits '[F6] install --all at an absent ref fails' 1 mapm install acme/eq@nowhere --all
unlike '[F6] the error of an absent ref has no hint about choices' "$err" 'choose what to take'
MAPM_HOME=$T/mapm

done_testing

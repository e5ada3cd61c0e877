#!/bin/sh
# Catalogs as roots: D11.
. "$(dirname "$0")/../lib/cli.sh"

U=https://github.com/acme
start_githost
t=$T/src
for n in alpha beta gamma pdf-a pdf-b; do skill "$t/skills/$n"; done
agent "$t/agents/boss" \
    "dependencies: {skills: [$U/catalog/tree/main/skills/alpha]}"
mcp "$t/mcps/io.acme_tool.json" io.acme/tool npx -y tool
make_repo acme/catalog "$t"
fresh()
{
    cd "$T" && rm -rf w && mkdir w && cd w || exit 1
}
names()
{
    mapm list --json | python3 -S -c 'import json, sys
print(*[p["name"] for p in json.load(sys.stdin)["packages"]])'
}

# --- written once, locked package by package -------------------------------------

fresh
exits '[D11] install --all of a catalog succeeds' 0 mapm install --yes acme/catalog --all
is '[D11] install --all writes the catalog as one root' "$(cat mapm.yaml)" "dependencies:
  catalogs:
    - origin: $U/catalog/tree/main"
is '[D11] install --all installs all packages of the catalog' "$(names)" 'boss io.acme/tool alpha beta gamma pdf-a pdf-b'
is '[D11] the lock has the catalog at each package' "$(grep -c "^    catalog: $U/catalog/tree/main\$" mapm.lock)" 7
like '[F13, D11] a lock with a catalog is of version 2' "$(head -n 1 mapm.lock)" '^version: 2$'
cp mapm.lock "$T/was"
reset_log
exits '[D11] a second install with a catalog succeeds' 0 mapm install
like '[D11] a second install with a catalog has nothing to do' "$err" 'nothing to do, 7 packages'
exits '[D11] install --locked with a catalog succeeds' 0 mapm install --locked
is '[D11] repeated installs with a catalog send no request' "$(requests)" 0
skill "$t/skills/delta"
make_repo acme/catalog "$t"
exits '[D11] install succeeds when the catalog has a new package' 0 mapm install
rm -rf .agents
exits '[D11] install --locked --offline in a fresh clone succeeds' 0 mapm install --locked --offline
is '[D11] install adds no new package of the catalog' "$(names)" 'boss io.acme/tool alpha beta gamma pdf-a pdf-b'
ok '[D11] install leaves the lock unchanged when the catalog has a new package' cmp -s mapm.lock "$T/was"

# --- what is new -------------------------------------------------------------------

exits '[D11] outdated with a new package in the catalog succeeds' 0 mapm outdated
like '[D11] outdated names the new package of the catalog' "$err" "new in the catalog $U/catalog/tree/main: skill delta\$"
exits '[D11] outdated --json with a new package in the catalog succeeds' 0 mapm outdated --json
like '[D11] outdated --json lists the new package as available' "$(printf '%s' "$out" | tr -d ' \n')" '"packages":\[\],"available":\[\{"type":"skill","name":"delta"'
exits '[D11] update of one package by name succeeds' 0 mapm update alpha
is '[D11] update of one package adds no new package of the catalog' "$(names)" 'boss io.acme/tool alpha beta gamma pdf-a pdf-b'
exits '[D11] update with a new package in the catalog succeeds' 0 mapm update
like '[D11] update marks the added package as new in the catalog' "$out" 'skill delta 1.0.0 .*, new in acme/catalog'
is '[D11] update adds the new package of the catalog' "$(names)" 'boss io.acme/tool alpha beta delta gamma pdf-a pdf-b'
is '[D2, D11] update removes no line from the lock' \
    "$(diff "$T/was" mapm.lock | grep -c '^<')" 0
exits '[D11] outdated after the update succeeds' 0 mapm outdated
unlike '[D11] outdated after the update names no new package' "$err" 'new in'

# --- excluded --------------------------------------------------------------------------

exits '[D11] remove of one package of a catalog succeeds' 0 mapm remove gamma
like '[D11] remove reports that mapm.yaml now excludes the package' "$err" "mapm.yaml excludes skills/gamma from the catalog $U/catalog/tree/main now"
is '[D11] remove writes the exclusion into mapm.yaml' "$(cat mapm.yaml)" "dependencies:
  catalogs:
    - origin: $U/catalog/tree/main
      exclude:
        - skills/gamma"
exits '[D11] remove --json of two packages of a catalog succeeds' 0 mapm remove --json pdf-a io.acme/tool
like '[D11] remove --json has the pattern that is excluded' "$out" '"pattern": ?"mcps/io.acme_tool.json"'
is '[D11] the excluded packages are removed' "$(names)" 'boss alpha beta delta pdf-b'
exits '[D11] update after an exclusion succeeds' 0 mapm update
is '[D11] update adds no excluded package' "$(names)" 'boss alpha beta delta pdf-b'
exits '[D11] remove of a package that another one needs fails' 1 mapm remove alpha
like '[D11] the error says that the package is still needed' "$err" 'is still needed'
exits '[D11] why for a package of a catalog succeeds' 0 mapm why alpha
is '[D11] why shows the chains from the catalog' "$out" "catalog $U/catalog/tree/main -> agent boss -> skill alpha
catalog $U/catalog/tree/main -> skill alpha"
exits '[D11] why --json for a package of a catalog succeeds' 0 mapm why --json beta
like '[D11] why --json has the catalog in the chain' "$out" "\"type\": ?\"catalog\""
exits '[D11] tree with a catalog succeeds' 0 mapm tree
is '[D11] tree shows the catalog as a root' "$(printf '%s\n' "$out" | head -n 2)" "catalog $U/catalog/tree/main
├── agent boss 1.0.0"
exits '[D11] install --all of a catalog with exclusions succeeds' 0 mapm install --yes acme/catalog --all
is '[D11] install --all deletes the exclusions from mapm.yaml' "$(cat mapm.yaml)" "dependencies:
  catalogs:
    - origin: $U/catalog/tree/main"
is '[D11] install --all installs the packages that were excluded' "$(names)" 'boss io.acme/tool alpha beta delta gamma pdf-a pdf-b'
exits '[D11] remove of a catalog succeeds' 0 mapm remove acme/catalog
is '[D11] remove of a catalog removes all its packages' "$(names)" ''
is '[D11] remove of the last catalog removes its list from mapm.yaml' "$(cat mapm.yaml)" 'dependencies:'
exits '[D11] remove of a catalog that is not installed fails' 1 mapm remove acme/catalog

# --- patterns ---------------------------------------------------------------------------

fresh
exits '[D11] install --skill with a glob and --skip succeeds' 0 mapm install --yes acme/catalog --skill 'pdf-*' --skip pdf-b
is '[D11] mapm.yaml has the glob under include and the skip under exclude' "$(cat mapm.yaml)" "dependencies:
  catalogs:
    - origin: $U/catalog/tree/main
      include:
        - skill pdf-*
      exclude:
        - pdf-b"
is '[D11] install --skill with a glob installs what fits it' "$(names)" 'pdf-a'
exits '[D11] install of further globs from the same catalog succeeds' 0 mapm install --yes acme/catalog --skill 'b*' --agent '*'
is '[D11] mapm.yaml has the further globs behind the first one' "$(sed -n '/include/,/exclude/p' mapm.yaml)" '      include:
        - skill pdf-*
        - agent *
        - skill b*
      exclude:'
is '[D11] install of further globs adds what fits them' "$(names)" 'boss alpha beta pdf-a'
exits '[D11] install --skill with an exact name succeeds' 0 mapm install --yes acme/catalog --skill gamma
like '[D11] an exact name becomes a root of its own' "$(cat mapm.yaml)" "^    - $U/catalog/tree/main/skills/gamma\$"
exits '[D11] remove of all packages of a catalog succeeds' 0 mapm remove boss beta pdf-a
like '[D11] remove reports that it was the last package of the catalog' "$err" 'the last one of the catalog'
is '[D11] remove of the catalog leaves the root of its own' "$(names)" 'gamma'
fresh
run mapm install --yes acme/catalog --all
exits '[D11] install --all --skip of an installed catalog succeeds' 0 mapm install --yes acme/catalog --all --skip 'pdf-*' --skip alpha
is '[D11] --skip removes what the catalog chose before, but for dependencies' "$(names)" 'boss io.acme/tool alpha beta delta gamma'
exits '[D11] install --locked succeeds after --skip of an installed catalog' 0 mapm install --locked
cp mapm.lock "$T/was"
exits '[D11] a further install succeeds after --skip of an installed catalog' 0 mapm install
ok '[D11] a further install leaves the lock unchanged' cmp -s mapm.lock "$T/was"
fresh
cat >mapm.yaml <<Y
# what we use
dependencies:
  skills:
    - $U/catalog/tree/main/skills/alpha # the first
  catalogs: # all of it
    - {origin: $U/catalog/tree/main, include: [skills/*, "mcp *"], exclude: [pdf-?]}
Y
cp mapm.yaml "$T/yaml"
exits '[D11] install --locked with a catalog written by hand fails' 1 mapm install --locked
exits '[D11] install with a catalog written by hand succeeds' 0 mapm install --yes
is '[D11] patterns of paths and of names choose the packages' "$(names)" 'io.acme/tool alpha beta delta gamma'
ok '[D11] install leaves mapm.yaml unchanged' cmp -s mapm.yaml "$T/yaml"
exits '[D11] install --locked after the install succeeds' 0 mapm install --locked
sed -i 's/pdf-?/pdf-?, delta/' mapm.yaml
exits '[D11] install after an exclusion by hand succeeds' 0 mapm install
is '[D11] install removes the package excluded by hand' "$(names)" 'io.acme/tool alpha beta gamma'
exits '[D11] remove of a package of a catalog in braces succeeds' 0 mapm remove beta
is '[D11] remove keeps comments and braces in mapm.yaml' "$(cat mapm.yaml)" "# what we use
dependencies:
  skills:
    - $U/catalog/tree/main/skills/alpha # the first
  catalogs: # all of it
    - {origin: $U/catalog/tree/main, include: [skills/*, \"mcp *\"], exclude: [pdf-?, delta, skills/beta]}"
exits '[D11] remove of a root that the catalog offers, too, succeeds' 0 mapm remove alpha
is '[D11] remove takes out the root and the choice of the catalog' "$(names)" 'io.acme/tool gamma'
sed -i 's/skills\/\*, "mcp \*"/nothing-*/' mapm.yaml
sed -i /catalog:/d mapm.lock
exits '[D11] install of a catalog without a matching package fails' 1 mapm install
like '[D11] the error names the line of the catalog in mapm.yaml' "$err" 'mapm.yaml:5: the catalog .* offers nothing that fits'

# --- a lock adds nothing to what mapm.yaml says -------------------------------------------

fresh
exits 'install of a pattern from a catalog succeeds' 0 mapm install --yes acme/catalog --skill 'pdf-*'
skill "$T/evil/skills/pdf-evil"
make_repo evil/catalog "$T/evil"
mkdir "$T/kept" && cp mapm.yaml mapm.lock "$T/kept"
exits 'install of another root succeeds' 0 mapm install https://github.com/evil/catalog/tree/main/skills/pdf-evil
sed -n '/name: pdf-evil/,$p' mapm.lock >"$T/block"
cp "$T/kept/mapm.yaml" "$T/kept/mapm.lock" .
{ echo '  - type: skill'; sed "s|^    path.*|&\n    catalog: $U/catalog/tree/main|" "$T/block"; } >>mapm.lock
exits '[D11, row 15] install --locked refuses a package of elsewhere under a catalog' 1 mapm install --locked
exits '[D11, row 15] install without --locked succeeds with such a lock' 0 mapm install
is '[D11, row 15] install removes the package that the catalog does not have' "$(names)" 'pdf-a pdf-b'
sed -i "s|catalog: .*|catalog: $U/catalog/tree/main, x|" mapm.lock
exits '[D11] list fails with a damaged catalog key in the lock' 1 mapm list
like '[D11] the error names the line of the damaged key' "$err" 'mapm.lock:[0-9]*: not'

# --- names, refs, ranges, replacements ---------------------------------------------------

fresh
make_repo acme/grow "$t"
repo acme/grow tag v1.0.0
exits '[D6, D11] install of a catalog with a range succeeds' 0 mapm install --yes acme/grow@^1 --skill '*'
like '[D6, D11] mapm.yaml has the range in the origin of the catalog' "$(cat mapm.yaml)" 'origin: .*/acme/grow/tree/\^1$'
mkdir "$t/plugins"
skill "$t/plugins/x/skills/beta" 'description: Another one of that name.'
skill "$t/skills/epsilon"
rm -rf "$t/skills/pdf-b"
make_repo acme/grow "$t"
exits '[D6, D11] update without a new tag succeeds' 0 mapm update
repo acme/grow tag v1.1.0
exits '[D3, D11] update ends with exit code 3 when a package has vanished' 3 mapm update
like '[D3, D11] update keeps the package that has vanished' "$err" 'skill pdf-b is gone, and stays'
like '[D6, D11] update adds the package that is new at the tag' "$out" 'skill epsilon 1.0.0 .*, new in acme/grow'
is '[F4, D11] update changes no name for a new folder of an old name' "$(names)" 'alpha beta delta epsilon gamma pdf-a pdf-b'
exits '[D6, D11] install --locked after the update succeeds' 0 mapm install --locked
exits '[D11] install of a catalog at another ref succeeds' 0 mapm install --yes acme/grow@main --skill '*'
is '[D11] install at another ref replaces the origin in mapm.yaml' "$(cat mapm.yaml)" "dependencies:
  catalogs:
    - origin: $U/grow/tree/main
      include:
        - skill *"
is '[D11] install at another ref drops packages that are absent there' "$(names)" 'alpha beta delta epsilon gamma pdf-a'
exits '[D6, D11] install of one package at another ref succeeds' 0 mapm install alpha@v1.0.0
like '[D11] the catalog excludes the package at another ref' "$(cat mapm.yaml)" '^        - skills/alpha$'
exits '[D11] update of the catalog succeeds beside the excluded package' 0 mapm update
like '[D11] update leaves the package at its own ref' "$(cat mapm.yaml)" 'tree/v1.0.0/skills/alpha$'
fresh
make_repo fork/grow "$t"
cat >mapm.yaml <<Y
replace: [{from: $U/grow, to: https://github.com/fork/grow}]
dependencies: {catalogs: [{origin: $U/grow/tree/main, include: [skill p*, skill e*]}]}
Y
reset_log
exits '[D9, D11] install of a catalog from a fork succeeds' 0 mapm install
is '[D9, D11] install has all chosen packages from the fork' "$(names)" 'epsilon pdf-a'
is '[D9, D11] install from a fork sends no request to the original' "$(request_log | grep -c acme/grow)" 0
exits '[D9, D11] install --locked from a fork succeeds' 0 mapm install --locked
exits '[D9, D11] outdated with a fork succeeds' 0 mapm outdated

# --- folders ------------------------------------------------------------------------------

fresh
mkdir ../local && cp -r "$t/skills" ../local
exits '[D11] install --all of a local folder succeeds' 0 mapm install ../local --all
like '[D11] mapm.local.yaml has the local folder as a catalog' "$(cat mapm.local.yaml)" "^    - origin: file:$T/local\$"
exits '[D11] a second install of a local folder succeeds' 0 mapm install
like '[D11] a second install of a local folder has nothing to do' "$err" 'nothing to do'
skill ../local/skills/zeta
exits '[D11] install with a new skill in the local folder succeeds' 0 mapm install
is '[D11] install adds no new skill of the local folder' "$(names)" 'alpha beta delta epsilon gamma pdf-a'
exits '[D11] outdated with a new skill in the local folder succeeds' 0 mapm outdated
like '[D11] outdated names the new skill of the local folder' "$err" 'skill zeta$'
exits '[D11] update with a new skill in the local folder succeeds' 0 mapm update
is '[D11] update adds the new skill of the local folder' "$(names)" 'alpha beta delta epsilon gamma pdf-a zeta'
exits '[D11] remove of the local folder succeeds' 0 mapm remove ../local
is '[D11] remove of the local folder removes all its packages' "$(names)" ''

# --- without the network -----------------------------------------------------------------

exits '[D11] install of patterns from a catalog succeeds' 0 mapm install acme/grow --skill '[ab]*' --agent '*'
exits '[D11] install --offline of the locked patterns succeeds' 0 mapm install --offline acme/grow --skill '[ab]*' --agent '*'
exits '[D11] install --offline of another catalog fails' 1 mapm install --offline acme/catalog --all
like '[D11] the error says that only the host of a catalog has its offer' "$err" 'only its host knows what a catalog offers'
exits '[D11] update --offline with a catalog succeeds' 0 mapm update --offline


# --- into what mapm init writes, and in brackets -----------------------------------------

fresh
exits 'init of a new workspace succeeds' 0 mapm init
exits '[D11] install of a pattern into the file of mapm init succeeds' 0 \
    mapm install --yes acme/catalog --skill 'pdf-*'
is '[D11] the catalog is written as lines into the file of mapm init' "$(sed -n '/catalogs:/,/^$/p' mapm.yaml)" "  catalogs:
    - origin: $U/catalog/tree/main
      include:
        - skill pdf-*"
exits '[D11] install of a second pattern into the file of mapm init succeeds' 0 mapm install --yes acme/catalog --skill 'b*'
exits '[D11] install of a skill beside the catalog succeeds' 0 mapm install --yes acme/catalog/skills/gamma
exits '[D11] install --locked of the catalog and the skill succeeds' 0 mapm install --locked
fresh
printf 'dependencies:\n  skills: [%s]\n' "$U/catalog/tree/main/skills/alpha" >mapm.yaml
exits '[D11] install of a pattern beside a list in brackets succeeds' 0 mapm install --yes acme/catalog --skill 'p*'
like '[D11] the catalog is written in brackets beside a list in brackets' "$(cat mapm.yaml)" \
    "catalogs: .\\{origin: $U/catalog/tree/main, include: .*\\}.\$"
# --- one name in three folders -------------------------------------------------------------

for place in docs/pdf docs/pdf-a docs/pdf-b more/pdf; do
    skill "$T/thrice/skills/$place"
    printf '%s\n' --- 'name: pdf' 'description: "Reads a text."' --- Text. >"$T/thrice/skills/$place/SKILL.md"
done
echo 'More.' >>"$T/thrice/skills/more/pdf/SKILL.md"
echo 'Differs.' >>"$T/thrice/skills/docs/pdf-b/SKILL.md"
skill "$T/thrice/skills/other"
make_repo acme/thrice "$T/thrice"
rm -rf "$T/ws3" && mkdir "$T/ws3" && cd "$T/ws3" || exit 1
exits '[F4] install --all of a name in three folders ends with exit code 3' 3 mapm install --yes --all acme/thrice
is 'the lock has the folder of another scope and none of the three' "$(sed -n 's,^    origin: .*/skills/,,p' mapm.lock | tr '\n' ' ')" 'more/pdf other '
cp mapm.lock "$T/thrice.lock"
exits '[D11] update with a name in three folders succeeds' 0 mapm update
ok 'update adds no package with the name of three folders' cmp mapm.lock "$T/thrice.lock"
reset_log
exits '[D1, D11] outdated with a name in three folders succeeds' 0 mapm outdated
is 'outdated reports no change for a name in three folders' "$out$err" 'nothing has changed'
skill "$T/thrice/skills/fine" "dependencies: {skills: [https://github.com/acme/thrice/tree/main/skills/other]}"
skill "$T/thrice/skills/lost" "dependencies: {skills: [https://github.com/acme/thrice/tree/main/skills/none]}"
skill "$T/thrice/skills/broken"
printf 'text\n' >"$T/thrice/skills/broken/SKILL.md"
skill "$T/thrice/skills/taken"
echo 'Newer.' >>"$T/thrice/skills/other/SKILL.md"
make_repo acme/thrice "$T/thrice"
mkdir -p .agents/skills/taken && echo mine >.agents/skills/taken/SKILL.md
for home in mapm cold-thrice; do
    reset_log
    exits "[D1, D11] outdated with new packages ends with exit code 3 ($home)" 3 env MAPM_HOME="$T/$home" "$MAPM" outdated
    like 'outdated lists the changed package' "$out" '^skill other .*main$'
    like 'outdated lists the new package that can be installed' "$err" 'new in the catalog [^ ]*: skill fine$'
    is '[D1] outdated with new packages sends three requests' "$(requests)" 3
done
exits '[D1, D11] update with valid and invalid new packages succeeds' 0 mapm update
is 'update adds the new package that can be installed' "$(sed -n 's,^    origin: .*/skills/,,p' mapm.lock | tr '\n' ' ')" 'fine more/pdf other '
is 'update changes three lines of the lock beside the new ones' "$(diff "$T/thrice.lock" mapm.lock | grep -c '^<')" 3
exits '[D1, D11] outdated after the update of new packages succeeds' 0 mapm outdated
is 'outdated after the update reports no change in the catalog' "$out$err" 'nothing has changed'

# --- equal names in plugins ------------------------------------------------------------------

# box DIR: a plugin that calls itself so in capitals, with a skill of a name that others have.
box()
{
    skill "$T/boxes/plugins/$1/skills/run" "description: Runs $1." && mkdir -p "$T/boxes/plugins/$1/.claude-plugin" &&
        printf '{"name": "the-%s"}\n' "$1" >"$T/boxes/plugins/$1/.claude-plugin/plugin.json"
}
box red
skill "$T/boxes/plugins/red/skills/old"
make_repo acme/boxes "$T/boxes"
rm -rf "$T/ws4" && mkdir "$T/ws4" && cd "$T/ws4" || exit 1
exits 'install --all of a catalog of plugins succeeds' 0 mapm install --yes --all acme/boxes
box green
box blue
echo 'Newer.' >>"$T/boxes/plugins/red/skills/old/SKILL.md"
make_repo acme/boxes "$T/boxes"
for words in outdated update; do
    reset_log
    run mapm $words
    is "[D1] $words with new packages of one name sends three requests" "$(request_log | cut -d' ' -f2 | tr '\n' ' ')" 'ls-refs fetch fetch '
    like '[D11] the new packages of one name are named by their plugins' "$(printf '%s' "$out$err" | tr '\n' ' ')" 'skill the-blue/run.*skill the-green/run'
done
done_testing

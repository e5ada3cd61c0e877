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
exits '[D11] all of a catalog' 0 mapm install --yes acme/catalog --all
is '[D11] is one root' "$(cat mapm.yaml)" "dependencies:
  catalogs:
    - origin: $U/catalog/tree/main"
is '[D11] with all packages' "$(names)" 'boss io.acme/tool alpha beta gamma pdf-a pdf-b'
is '[D11] the lock has it at each' "$(grep -c "^    catalog: $U/catalog/tree/main\$" mapm.lock)" 7
like '[F13, D11] as a key of version 2' "$(head -n 1 mapm.lock)" '^version: 2$'
cp mapm.lock "$T/was"
reset_log
exits '[D11] again' 0 mapm install
like '[D11] nothing to do' "$err" 'nothing to do, 7 packages'
exits '[D11] as the lock says' 0 mapm install --locked
is '[D11] without a request' "$(requests)" 0
skill "$t/skills/delta"
make_repo acme/catalog "$t"
exits '[D11] with a new package upstream' 0 mapm install
rm -rf .agents
exits '[D11] and in a fresh clone' 0 mapm install --locked --offline
is '[D11] an install adds nothing' "$(names)" 'boss io.acme/tool alpha beta gamma pdf-a pdf-b'
ok '[D11] and leaves the lock' cmp -s mapm.lock "$T/was"

# --- what is new -------------------------------------------------------------------

exits '[D11] outdated' 0 mapm outdated
like '[D11] names what is new' "$err" "new in the catalog $U/catalog/tree/main: skill delta\$"
exits '[D11] outdated for programs' 0 mapm outdated --json
like '[D11] has it apart' "$(printf '%s' "$out" | tr -d ' \n')" '"packages":\[\],"available":\[\{"type":"skill","name":"delta"'
exits '[D11] an update of one package' 0 mapm update alpha
is '[D11] looks for nothing new' "$(names)" 'boss io.acme/tool alpha beta gamma pdf-a pdf-b'
exits '[D11] an update' 0 mapm update
like '[D11] says that it is new' "$out" 'skill delta 1.0.0 .*, new in acme/catalog'
is '[D11] and adds it' "$(names)" 'boss io.acme/tool alpha beta delta gamma pdf-a pdf-b'
is '[D2, D11] with no other change of the lock' \
    "$(diff "$T/was" mapm.lock | grep -c '^<')" 0
exits '[D11] then nothing is new' 0 mapm outdated
unlike '[D11] and nothing is named' "$err" 'new in'

# --- excluded --------------------------------------------------------------------------

exits '[D11] remove of one' 0 mapm remove gamma
like '[D11] is shown' "$err" "mapm.yaml excludes skills/gamma from the catalog $U/catalog/tree/main now"
is '[D11] and written' "$(cat mapm.yaml)" "dependencies:
  catalogs:
    - origin: $U/catalog/tree/main
      exclude:
        - skills/gamma"
exits '[D11] remove of two' 0 mapm remove --json pdf-a io.acme/tool
like '[D11] for programs, too' "$out" '"pattern": ?"mcps/io.acme_tool.json"'
is '[D11] they are gone' "$(names)" 'boss alpha beta delta pdf-b'
exits '[D11] and stay so' 0 mapm update
is '[D11] whatever the catalog offers' "$(names)" 'boss alpha beta delta pdf-b'
exits '[D11] what another needs' 1 mapm remove alpha
like '[D11] is refused' "$err" 'is still needed'
exits '[D11] why' 0 mapm why alpha
is '[D11] begins at the catalog' "$out" "catalog $U/catalog/tree/main -> agent boss -> skill alpha
catalog $U/catalog/tree/main -> skill alpha"
exits '[D11] why for programs' 0 mapm why --json beta
like '[D11] has the catalog, too' "$out" "\"type\": ?\"catalog\""
exits '[D11] tree' 0 mapm tree
is '[D11] has it as a root' "$(printf '%s\n' "$out" | head -n 2)" "catalog $U/catalog/tree/main
├── agent boss 1.0.0"
exits '[D11] an exclude taken back by --all' 0 mapm install --yes acme/catalog --all
is '[D11] is gone' "$(cat mapm.yaml)" "dependencies:
  catalogs:
    - origin: $U/catalog/tree/main"
is '[D11] and its packages are there' "$(names)" 'boss io.acme/tool alpha beta delta gamma pdf-a pdf-b'
exits '[D11] remove of the catalog' 0 mapm remove acme/catalog
is '[D11] takes all' "$(names)" ''
is '[D11] with its list' "$(cat mapm.yaml)" 'dependencies:'
exits '[D11] a catalog that is not there' 1 mapm remove acme/catalog

# --- patterns ---------------------------------------------------------------------------

fresh
exits '[D11] a glob' 0 mapm install --yes acme/catalog --skill 'pdf-*' --skip pdf-b
is '[D11] is a pattern' "$(cat mapm.yaml)" "dependencies:
  catalogs:
    - origin: $U/catalog/tree/main
      include:
        - skill pdf-*
      exclude:
        - pdf-b"
is '[D11] of what it fits' "$(names)" 'pdf-a'
exits '[D11] another one' 0 mapm install --yes acme/catalog --skill 'b*' --agent '*'
is '[D11] comes behind it' "$(sed -n '/include/,/exclude/p' mapm.yaml)" '      include:
        - skill pdf-*
        - agent *
        - skill b*
      exclude:'
is '[D11] and adds what it fits' "$(names)" 'boss alpha beta pdf-a'
exits '[D11] a name' 0 mapm install --yes acme/catalog --skill gamma
like '[D11] is a root of its own' "$(cat mapm.yaml)" "^    - $U/catalog/tree/main/skills/gamma\$"
exits '[D11] remove of the last ones' 0 mapm remove boss beta pdf-a
like '[D11] takes the catalog along' "$err" 'the last one of the catalog'
is '[D11] the list stays' "$(names)" 'gamma'
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
exits '[D11] by hand, with --locked' 1 mapm install --locked
exits '[D11] by hand' 0 mapm install --yes
is '[D11] paths and names' "$(names)" 'io.acme/tool alpha beta delta gamma'
ok '[D11] the file stays as it is' cmp -s mapm.yaml "$T/yaml"
exits '[D11] --locked then' 0 mapm install --locked
sed -i 's/pdf-?/pdf-?, delta/' mapm.yaml
exits '[D11] excluded by hand' 0 mapm install
is '[D11] is gone' "$(names)" 'io.acme/tool alpha beta gamma'
exits '[D11] remove of one in braces' 0 mapm remove beta
is '[D11] keeps comments and style' "$(cat mapm.yaml)" "# what we use
dependencies:
  skills:
    - $U/catalog/tree/main/skills/alpha # the first
  catalogs: # all of it
    - {origin: $U/catalog/tree/main, include: [skills/*, \"mcp *\"], exclude: [pdf-?, delta, skills/beta]}"
exits '[D11] remove of a root that is chosen, too' 0 mapm remove alpha
is '[D11] takes both' "$(names)" 'io.acme/tool gamma'
sed -i 's/skills\/\*, "mcp \*"/nothing-*/' mapm.yaml
sed -i /catalog:/d mapm.lock
exits '[D11] a catalog that offers nothing that fits' 1 mapm install
like '[D11] is named with its line' "$err" 'mapm.yaml:5: the catalog .* offers nothing that fits'

# --- a lock adds nothing to what mapm.yaml says -------------------------------------------

fresh
exits 'a pattern' 0 mapm install --yes acme/catalog --skill 'pdf-*'
skill "$T/evil/skills/pdf-evil"
make_repo evil/catalog "$T/evil"
mkdir "$T/kept" && cp mapm.yaml mapm.lock "$T/kept"
exits 'another root' 0 mapm install https://github.com/evil/catalog/tree/main/skills/pdf-evil
sed -n '/name: pdf-evil/,$p' mapm.lock >"$T/block"
cp "$T/kept/mapm.yaml" "$T/kept/mapm.lock" .
{ echo '  - type: skill'; sed "s|^    path.*|&\n    catalog: $U/catalog/tree/main|" "$T/block"; } >>mapm.lock
exits '[D11, row 15] a lock with a package of elsewhere' 1 mapm install --locked
exits '[D11, row 15] and without --locked' 0 mapm install
is '[D11, row 15] takes it for no root' "$(names)" 'pdf-a pdf-b'
sed -i "s|catalog: .*|catalog: $U/catalog/tree/main, x|" mapm.lock
exits '[D11] a damaged key' 1 mapm list
like '[D11] is named' "$err" 'mapm.lock:[0-9]*: not'

# --- names, refs, ranges, replacements ---------------------------------------------------

fresh
make_repo acme/grow "$t"
repo acme/grow tag v1.0.0
exits '[D6, D11] a range' 0 mapm install --yes acme/grow@^1 --skill '*'
like '[D6, D11] is that of the catalog' "$(cat mapm.yaml)" 'origin: .*/acme/grow/tree/\^1$'
mkdir "$t/plugins"
skill "$t/plugins/x/skills/beta" 'description: Another one of that name.'
skill "$t/skills/epsilon"
rm -rf "$t/skills/pdf-b"
make_repo acme/grow "$t"
exits '[D6, D11] without a new tag' 0 mapm update
repo acme/grow tag v1.1.0
exits '[D3, D11] an update where one vanished' 3 mapm update
like '[D3, D11] keeps it' "$err" 'skill pdf-b is gone, and stays'
like '[D6, D11] and adds what is new' "$out" 'skill epsilon 1.0.0 .*, new in acme/grow'
is '[F4, D11] no name changes' "$(names)" 'alpha beta delta epsilon gamma pdf-a pdf-b'
exits '[D6, D11] as the lock says' 0 mapm install --locked
exits '[D11] at another ref' 0 mapm install --yes acme/grow@main --skill '*'
is '[D11] it moves as a whole' "$(cat mapm.yaml)" "dependencies:
  catalogs:
    - origin: $U/grow/tree/main
      include:
        - skill *"
is '[D11] without what is not there' "$(names)" 'alpha beta delta epsilon gamma pdf-a'
exits '[D6, D11] one of it at another ref' 0 mapm install alpha@v1.0.0
like '[D11] is excluded there' "$(cat mapm.yaml)" '^        - skills/alpha$'
exits '[D11] and an update leaves it alone' 0 mapm update
like '[D11] as it is' "$(cat mapm.yaml)" 'tree/v1.0.0/skills/alpha$'
fresh
make_repo fork/grow "$t"
cat >mapm.yaml <<Y
replace: [{from: $U/grow, to: https://github.com/fork/grow}]
dependencies: {catalogs: [{origin: $U/grow/tree/main, include: [skill p*, skill e*]}]}
Y
reset_log
exits '[D9, D11] from a fork' 0 mapm install
is '[D9, D11] has it all' "$(names)" 'epsilon pdf-a'
is '[D9, D11] and asks that alone' "$(request_log | grep -c acme/grow)" 0
exits '[D9, D11] as the lock says' 0 mapm install --locked
exits '[D9, D11] outdated' 0 mapm outdated

# --- folders ------------------------------------------------------------------------------

fresh
mkdir ../local && cp -r "$t/skills" ../local
exits '[D11] a catalog of this machine' 0 mapm install ../local --all
like '[D11] stands in the local file' "$(cat mapm.local.yaml)" "^    - origin: file:$T/local\$"
exits '[D11] again' 0 mapm install
like '[D11] nothing to do' "$err" 'nothing to do'
skill ../local/skills/zeta
exits '[D11] an install' 0 mapm install
is '[D11] adds nothing' "$(names)" 'alpha beta delta epsilon gamma pdf-a'
exits '[D11] outdated' 0 mapm outdated
like '[D11] names it' "$err" 'skill zeta$'
exits '[D11] an update' 0 mapm update
is '[D11] adds it' "$(names)" 'alpha beta delta epsilon gamma pdf-a zeta'
exits '[D11] remove' 0 mapm remove ../local
is '[D11] takes all' "$(names)" ''

# --- without the network -----------------------------------------------------------------

exits '[D11] a catalog' 0 mapm install acme/grow --skill '[ab]*' --agent '*'
exits '[D11] offline, as the lock has it' 0 mapm install --offline acme/grow --skill '[ab]*' --agent '*'
exits '[D11] another one offline' 1 mapm install --offline acme/catalog --all
like '[D11] says why' "$err" 'only its host knows what a catalog offers'
exits '[D11] update offline' 0 mapm update --offline


# --- into what mapm init writes, and in brackets -----------------------------------------

fresh
exits 'a new workspace' 0 mapm init
exits '[D11] patterns into what mapm init wrote' 0 \
    mapm install --yes acme/catalog --skill 'pdf-*'
is '[D11] as lines' "$(sed -n '/catalogs:/,/^$/p' mapm.yaml)" "  catalogs:
    - origin: $U/catalog/tree/main
      include:
        - skill pdf-*"
exits '[D11] one more' 0 mapm install --yes acme/catalog --skill 'b*'
exits '[D11] another kind beside it' 0 mapm install --yes acme/catalog/skills/gamma
exits '[D11] all of it in the lock' 0 mapm install --locked
fresh
printf 'dependencies:\n  skills: [%s]\n' "$U/catalog/tree/main/skills/alpha" >mapm.yaml
exits '[D11] patterns beside a list in brackets' 0 mapm install --yes acme/catalog --skill 'p*'
like '[D11] are in brackets' "$(cat mapm.yaml)" \
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
exits '[F4] a name of three folders, of which two are equal' 3 mapm install --yes --all acme/thrice
is 'is none of them' "$(sed -n 's,^    origin: .*/skills/,,p' mapm.lock | tr '\n' ' ')" 'more/pdf other '
cp mapm.lock "$T/thrice.lock"
exits '[D11] an update' 0 mapm update
ok 'takes none either' cmp mapm.lock "$T/thrice.lock"
reset_log
exits '[D1, D11] outdated' 0 mapm outdated
is 'names none of them' "$out$err" 'nothing has changed'
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
    exits "[D1, D11] with new packages ($home)" 3 env MAPM_HOME="$T/$home" "$MAPM" outdated
    like 'what changed is listed' "$out" '^skill other .*main$'
    like 'and what can be installed' "$err" 'new in the catalog [^ ]*: skill fine$'
    is '[D1] by three requests' "$(requests)" 3
done
exits '[D1, D11] an update' 0 mapm update
is 'adds that' "$(sed -n 's,^    origin: .*/skills/,,p' mapm.lock | tr '\n' ' ')" 'fine more/pdf other '
is 'and changes nothing else' "$(diff "$T/thrice.lock" mapm.lock | grep -c '^<')" 3
exits '[D1, D11] then nothing is new' 0 mapm outdated
is 'in the catalog either' "$out$err" 'nothing has changed'

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
exits 'a catalog of plugins' 0 mapm install --yes --all acme/boxes
box green
box blue
echo 'Newer.' >>"$T/boxes/plugins/red/skills/old/SKILL.md"
make_repo acme/boxes "$T/boxes"
for words in outdated update; do
    reset_log
    run mapm $words
    is "[D1] $words of new packages of one name" "$(request_log | cut -d' ' -f2 | tr '\n' ' ')" 'ls-refs fetch fetch '
    like '[D11] which their plugins name' "$(printf '%s' "$out$err" | tr '\n' ' ')" 'skill the-blue/run.*skill the-green/run'
done
done_testing

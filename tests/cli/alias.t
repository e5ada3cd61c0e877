#!/bin/sh
# Roots with a name of this workspace: {origin: URL, as: NAME}. [D9, D15]
. "$(dirname "$0")/../lib/cli.sh"

U=https://github.com
start_githost
fresh()
{
    cd "$T" && rm -rf w && mkdir w && cd w || exit 1
}
names()
{
    sed -n 's/^    name: //p; s/^    as: /  as /p' mapm.lock | tr '\n' ' '
}
folders()
{
    (cd .agents/skills 2>/dev/null && echo *)
}
skill "$T/one/skills/pdf"
skill "$T/one/skills/user" 'dependencies:' '  skills:' "    - $U/a/one/tree/main/skills/pdf"
mcp "$T/one/mcps/io.acme_tool.json" io.acme/tool npx -y tool
make_repo a/one "$T/one"
skill "$T/two/skills/pdf" 'description: Another pdf.'
mcp "$T/two/mcps/io.acme_tool.json" io.acme/tool npx -y other
skill "$T/two/skills/old-name" 'name: renamed'
make_repo b/two "$T/two"

# --- a name that is not that of the folder -----------------------------------------

fresh
exits 'without an alias' 0 mapm install --yes b/two/skills/old-name --dry-run
like '[D15] it is told' "$err" 'it is installed under its name'
exits 'with one' 0 mapm install --yes b/two/skills/old-name --as mine
is '[D9, D15] it is called as its root says' "$(names)" 'renamed   as mine '
unlike '[D9, D15] and nothing is told of other names' "$err" warning

# --- two packages of one name -------------------------------------------------

fresh
exits 'the first' 0 mapm install --yes a/one/skills/pdf
exits '[D9] another one of its name is refused' 1 mapm install --yes b/two/skills/pdf
like '[D9] with both origins' "$err" 'a/one/tree/main/skills/pdf'
like '[D9] of them' "$err" 'b/two/tree/main/skills/pdf'
like '[D9] and the way out' "$err" 'mapm install .*b/two/tree/main/skills/pdf --as NAME'
exits '[D9] install --as takes both' 0 mapm install --yes b/two/skills/pdf --as pdf-two
is '[D9] the lock has both names' "$(names)" 'pdf pdf   as pdf-two '
like '[D9] in version 2' "$(head -n 1 mapm.lock)" '^version: 2$'
is '[D9] each has its folder' "$(folders)" 'pdf pdf-two'
like '[D9] whose copy is named after it' "$(cat .agents/skills/pdf-two/SKILL.md)" '^name: "?pdf-two"?$'
like '[D9] mapm.yaml says so' "$(cat mapm.yaml)" \
    '^ *- \{origin: https://github.com/b/two/tree/main/skills/pdf, as: pdf-two\}$'
exits '[D9] verify agrees' 0 mapm verify
cp mapm.lock lock.before
exits '[D9] nothing to do' 0 mapm install
like '[D9] says so' "$err" 'nothing to do'
rm -rf .agents
MAPM_HOME=$T/cold
exits '[D9] a clone installs the same' 0 mapm install --locked --yes
MAPM_HOME=$T/mapm
ok '[D9] and the lock stays' cmp lock.before mapm.lock
is '[D9] with the same folders' "$(folders)" 'pdf pdf-two'
exits '[D9] update keeps it' 0 mapm update --yes
ok '[D9] byte for byte' cmp lock.before mapm.lock
exits '[D9] list has the name' 0 mapm list
like '[D9] of this workspace' "$out" 'pdf-two'
exits '[D9] the skill is found by it' 0 mapm skill show pdf-two

# --- changed, dropped, removed ------------------------------------------------

exits '[D9] another name' 0 mapm install --yes b/two/skills/pdf --as acme/pdf
is '[D9] replaces the first' "$(names)" 'pdf   as acme/pdf pdf '
is '[D9] and the folder is scoped' "$(folders)" 'acme-pdf pdf'
exits '[D9] without --as it stays' 0 mapm install --yes b/two/skills/pdf
is '[D9] as it was' "$(names)" 'pdf   as acme/pdf pdf '
repo b/two branch v1 main
exits '[D9] another ref' 0 mapm install --yes b/two/skills/pdf@v1
is '[D9] inherits the name' "$(names)" 'pdf   as acme/pdf pdf '
like '[D9] in mapm.yaml' "$(cat mapm.yaml)" 'tree/v1/skills/pdf, as: acme/pdf'
exits 'remove takes a name' 0 mapm remove --yes acme/pdf
unlike '[D9] the item goes whole' "$(cat mapm.yaml)" 'as:|two'
is '[D9] version 1 again' "$(head -n 1 mapm.lock)" 'version: 1'

fresh
exits 'one alone' 0 mapm install --yes a/one/skills/pdf --as my-pdf
is 'has its name' "$(names)" 'pdf   as my-pdf '
exits '[D9] what needs it' 0 mapm install --yes a/one/skills/user
like '[D9] needs it by its name here' "$(cat mapm.lock)" 'needs: \[skill my-pdf\]'
exits 'the root goes' 0 mapm remove --yes "$U/a/one/tree/main/skills/pdf"
is '[D9] and with it the name' "$(names)" 'pdf user '
sed -i 's|^\( *\)- .*skills/user|&\n\1- {origin: https://github.com/a/one/tree/main/skills/pdf, as: x-pdf}|' mapm.yaml
exits '[D9] a name written by hand' 0 mapm install --yes
is '[D9] counts' "$(names)" 'user pdf   as x-pdf '
sed -i '/x-pdf/d' mapm.yaml
exits '[D9] --locked says that the lock does not fit' 1 mapm install --locked
exits '[D9] and taken out by hand' 0 mapm install --yes
is '[D9] it is gone' "$(names)" 'pdf user '

# --- servers, folders of this machine ------------------------------------------

fresh
exits 'a server' 0 mapm install --yes a/one/mcps/io.acme_tool.json
exits '[D9] another one of its name' 1 mapm install --yes b/two/mcps/io.acme_tool.json
exits '[D9] and with another name' 0 mapm install --yes b/two/mcps/io.acme_tool.json --as io.two/tool
like '[D9] has a key of its own' "$(cat mapm.lock)" 'as: io.two/tool'
is '[D9] in the clients files' "$(grep -c '"command"' .mcp.json)" 2
exits '[D9] verify' 0 mapm verify
exits '[D9] a folder of this machine' 0 mapm install --yes "$T/one/skills/pdf" --as local-pdf
like '[D9] in mapm.local.yaml' "$(cat mapm.local.yaml)" 'as: local-pdf'
is '[D9] with its folder' "$(folders)" local-pdf

# --- refused ---------------------------------------------------------------------

fresh
exits '[D9] no name' 1 mapm install --yes a/one/skills/pdf --as 'No Name'
like '[D9] is said' "$err" 'not a name of a skill: No Name'
exits '[D9] --as and two' 2 mapm install --yes a/one/skills/pdf a/one/skills/user --as x
exits '[D9] --as and --locked' 2 mapm install --locked a/one/skills/pdf --as x
exits '[D9] --as and a catalog' 2 mapm install a/one --as x
exits '[D9] --as and a choice' 2 mapm install a/one --all --as x
exits 'a package' 0 mapm install --yes a/one/skills/pdf
exits '[D9] a name that is taken' 1 mapm install --yes b/two/skills/pdf --as pdf
like '[D9] names both' "$err" 'b/two/tree/main/skills/pdf'
like '[D9] origins' "$err" 'a/one/tree/main/skills/pdf'
cat >mapm.yaml <<YAML
dependencies:
  skills:
    - {origin: $U/a/one/tree/main/skills/pdf, as: x}
    - origin: $U/b/two/tree/main/skills/pdf
      as: x
YAML
exits '[D9] one name for two roots' 1 mapm install --yes
like '[D9] names both' "$err" 'mapm.yaml:5: x is the name of .*a/one/.* already, not of .*b/two/'
for item in '{as: x}' '{origin: https://github.com/a/one/tree/main/skills/pdf, to: x}' \
    '{origin: https://github.com/a/one/tree/main/skills/pdf, as: ../x}' \
    '{origin: https://github.com/a/one/tree/main/skills/pdf, as: [x]}'; do
    printf 'dependencies:\n  skills:\n    - %s\n' "$item" >mapm.yaml
    exits "[D9] refused: $item" 1 mapm install --yes
    like '[D9] with its line' "$err" 'mapm.yaml:3: '
done
cp -r "$T/one" "$T/evil"
skill "$T/evil/skills/evil" 'dependencies:' '  skills:' \
    "    - {origin: $U/a/one/tree/main/skills/pdf, as: other}"
make_repo e/evil "$T/evil"
fresh
run mapm install --yes e/evil/skills/evil
not_ok '[D9] a package gives no names' grep -q 'as:' mapm.lock
done_testing

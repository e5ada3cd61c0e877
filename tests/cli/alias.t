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
exits 'install --dry-run of a skill with another name than its folder succeeds' 0 mapm install --yes b/two/skills/old-name --dry-run
like '[D15] install warns that the skill is installed under its name' "$err" 'it is installed under its name'
exits 'install --as of such a skill succeeds' 0 mapm install --yes b/two/skills/old-name --as mine
is '[D9, D15] the lock has the name and the alias' "$(names)" 'renamed   as mine '
unlike '[D9, D15] install --as causes no warning of names' "$err" warning

# --- two packages of one name -------------------------------------------------

fresh
exits 'install of the first skill named pdf succeeds' 0 mapm install --yes a/one/skills/pdf
exits '[D9] install of a second skill of the same name fails' 1 mapm install --yes b/two/skills/pdf
like '[D9] the error has the origin of the first skill' "$err" 'a/one/tree/main/skills/pdf'
like '[D9] the error has the origin of the second skill' "$err" 'b/two/tree/main/skills/pdf'
like '[D9] the error suggests --as NAME' "$err" 'mapm install .*b/two/tree/main/skills/pdf --as NAME'
exits '[D9] install --as of the second skill succeeds' 0 mapm install --yes b/two/skills/pdf --as pdf-two
is '[D9] the lock has both packages, the second with its alias' "$(names)" 'pdf pdf   as pdf-two '
like '[D9] a lock with an alias is of version 2' "$(head -n 1 mapm.lock)" '^version: 2$'
is '[D9] each of both skills has its folder' "$(folders)" 'pdf pdf-two'
like '[D9] the copy of the second skill is named after its alias' "$(cat .agents/skills/pdf-two/SKILL.md)" '^name: "?pdf-two"?$'
like '[D9] mapm.yaml has the origin with the alias' "$(cat mapm.yaml)" \
    '^ *- \{origin: https://github.com/b/two/tree/main/skills/pdf, as: pdf-two\}$'
exits '[D9] verify with an alias succeeds' 0 mapm verify
cp mapm.lock lock.before
exits '[D9] a second install with an alias succeeds' 0 mapm install
like '[D9] a second install with an alias has nothing to do' "$err" 'nothing to do'
rm -rf .agents
MAPM_HOME=$T/cold
exits '[D9] install --locked with an alias on another machine succeeds' 0 mapm install --locked --yes
MAPM_HOME=$T/mapm
ok '[D9] install --locked leaves the lock with an alias unchanged' cmp lock.before mapm.lock
is '[D9] install --locked creates the same folders' "$(folders)" 'pdf pdf-two'
exits '[D9] update with an alias succeeds' 0 mapm update --yes
ok '[D9] update leaves the lock with an alias unchanged' cmp lock.before mapm.lock
exits '[D9] list with an alias succeeds' 0 mapm list
like '[D9] list shows the alias' "$out" 'pdf-two'
exits '[D9] skill show accepts the alias' 0 mapm skill show pdf-two

# --- changed, dropped, removed ------------------------------------------------

exits '[D9] install --as with another alias succeeds' 0 mapm install --yes b/two/skills/pdf --as acme/pdf
is '[D9] another alias replaces the first one' "$(names)" 'pdf   as acme/pdf pdf '
is '[D9] an alias with a scope gives the folder a prefix' "$(folders)" 'acme-pdf pdf'
exits '[D9] install without --as of an aliased root succeeds' 0 mapm install --yes b/two/skills/pdf
is '[D9] install without --as keeps the alias' "$(names)" 'pdf   as acme/pdf pdf '
repo b/two branch v1 main
exits '[D9] install of an aliased root at another ref succeeds' 0 mapm install --yes b/two/skills/pdf@v1
is '[D9] another ref keeps the alias' "$(names)" 'pdf   as acme/pdf pdf '
like '[D9] mapm.yaml has the other ref with the alias' "$(cat mapm.yaml)" 'tree/v1/skills/pdf, as: acme/pdf'
exits 'remove accepts an alias' 0 mapm remove --yes acme/pdf
unlike '[D9] remove deletes the whole entry from mapm.yaml' "$(cat mapm.yaml)" 'as:|two'
is '[D9] the lock is of version 1 again without an alias' "$(head -n 1 mapm.lock)" 'version: 1'

fresh
exits 'install --as of a single skill succeeds' 0 mapm install --yes a/one/skills/pdf --as my-pdf
is 'the single skill has its alias in the lock' "$(names)" 'pdf   as my-pdf '
exits '[D9] install of a skill that needs the aliased one succeeds' 0 mapm install --yes a/one/skills/user
like '[D9] the lock refers to the dependency by its alias' "$(cat mapm.lock)" 'needs: \[skill my-pdf\]'
exits 'remove of the aliased root by its origin succeeds' 0 mapm remove --yes "$U/a/one/tree/main/skills/pdf"
is '[D9] the dependency has its own name without the aliased root' "$(names)" 'pdf user '
sed -i 's|^\( *\)- .*skills/user|&\n\1- {origin: https://github.com/a/one/tree/main/skills/pdf, as: x-pdf}|' mapm.yaml
exits '[D9] install with an alias written by hand succeeds' 0 mapm install --yes
is '[D9] the alias written by hand is in the lock' "$(names)" 'user pdf   as x-pdf '
sed -i '/x-pdf/d' mapm.yaml
exits '[D9] install --locked fails after the alias is deleted from mapm.yaml' 1 mapm install --locked
exits '[D9] install after the alias is deleted from mapm.yaml succeeds' 0 mapm install --yes
is '[D9] the deleted alias is not in the lock' "$(names)" 'pdf user '

# --- servers, folders of this machine ------------------------------------------

fresh
exits 'install of an MCP server succeeds' 0 mapm install --yes a/one/mcps/io.acme_tool.json
exits '[D9] install of a second server of the same name fails' 1 mapm install --yes b/two/mcps/io.acme_tool.json
exits '[D9] install --as of the second server succeeds' 0 mapm install --yes b/two/mcps/io.acme_tool.json --as io.two/tool
like '[D9] the lock has the alias of the server' "$(cat mapm.lock)" 'as: io.two/tool'
is '[D9] .mcp.json has both servers' "$(grep -c '"command"' .mcp.json)" 2
exits '[D9] verify with an aliased server succeeds' 0 mapm verify
exits '[D9] install --as of a local folder succeeds' 0 mapm install --yes "$T/one/skills/pdf" --as local-pdf
like '[D9] mapm.local.yaml has the alias of the local folder' "$(cat mapm.local.yaml)" 'as: local-pdf'
is '[D9] the local skill is in the folder of its alias' "$(folders)" local-pdf

# --- refused ---------------------------------------------------------------------

fresh
exits '[D9] install --as with an invalid name fails' 1 mapm install --yes a/one/skills/pdf --as 'No Name'
like '[D9] the error quotes the invalid name' "$err" 'not a name of a skill: No Name'
exits '[D9] install --as with two origins is a usage error' 2 mapm install --yes a/one/skills/pdf a/one/skills/user --as x
exits '[D9] install --as with --locked is a usage error' 2 mapm install --locked a/one/skills/pdf --as x
exits '[D9] install --as with a catalog is a usage error' 2 mapm install a/one --as x
exits '[D9] install --as with --all is a usage error' 2 mapm install a/one --all --as x
exits 'install of a skill before the conflict of aliases succeeds' 0 mapm install --yes a/one/skills/pdf
exits '[D9] install --as with a name that is taken fails' 1 mapm install --yes b/two/skills/pdf --as pdf
like '[D9] the error has the origin of the new skill' "$err" 'b/two/tree/main/skills/pdf'
like '[D9] the error has the origin of the skill that has the name' "$err" 'a/one/tree/main/skills/pdf'
cat >mapm.yaml <<YAML
dependencies:
  skills:
    - {origin: $U/a/one/tree/main/skills/pdf, as: x}
    - origin: $U/b/two/tree/main/skills/pdf
      as: x
YAML
exits '[D9] install of two roots with one alias fails' 1 mapm install --yes
like '[D9] the error names the line and both origins' "$err" 'mapm.yaml:5: x is the name of .*a/one/.* already, not of .*b/two/'
for item in '{as: x}' '{origin: https://github.com/a/one/tree/main/skills/pdf, to: x}' \
    '{origin: https://github.com/a/one/tree/main/skills/pdf, as: ../x}' \
    '{origin: https://github.com/a/one/tree/main/skills/pdf, as: [x]}'; do
    printf 'dependencies:\n  skills:\n    - %s\n' "$item" >mapm.yaml
    exits "[D9] install refuses the entry $item" 1 mapm install --yes
    like '[D9] the error names the line of the entry' "$err" 'mapm.yaml:3: '
done
cp -r "$T/one" "$T/evil"
skill "$T/evil/skills/evil" 'dependencies:' '  skills:' \
    "    - {origin: $U/a/one/tree/main/skills/pdf, as: other}"
make_repo e/evil "$T/evil"
fresh
run mapm install --yes e/evil/skills/evil
not_ok '[D9] an alias in the dependencies of a package is not taken' grep -q 'as:' mapm.lock
done_testing

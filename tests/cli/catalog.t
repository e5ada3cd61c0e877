#!/bin/sh
# Origins that hold many packages: what they offer, and how to choose. [M1, X13],
# REQUIREMENTS 4.3; issue 2, 6.
. "$(dirname "$0")/../lib/cli.sh"
s=$T/src
U=https://github.com/acme/catalog/tree/main

skill "$s/skills/alpha" 'scope: acme'
skill "$s/skills/beta" 'scope: acme' 'dependencies:' '  skills:' "    - $U/skills/alpha"
skill "$s/skills/gamma" 'scope: acme'
skill "$s/skills/gamma/inner/nested"
agent "$s/agents/boss" 'scope: acme'
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool
mkdir -p "$s/docs" && echo '# How to work on this' >"$s/AGENTS.md"
skill "$s/docs/skills-not-offered"
make_repo acme/catalog "$s"
skill "$T/many/plugins/one/skills/deep-one"
skill "$T/many/.curated/two"
mkdir -p "$T/many/none" && echo x >"$T/many/none/README.md"
make_repo acme/many "$T/many"
skill "$T/whole" 'name: whole-thing'
mkdir -p "$T/whole/scripts" && echo 'echo hi' >"$T/whole/scripts/run.sh"
make_repo acme/whole-thing "$T/whole"
mkdir "$T/nothing" && echo x >"$T/nothing/README.md"
make_repo acme/nothing "$T/nothing"
start_githost
fresh()
{
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
}

# --- it lists ----------------------------------------------------------------------

for origin in acme/catalog https://github.com/acme/catalog https://github.com/acme/catalog/ \
    https://github.com/acme/catalog.git "$U" acme/catalog@main; do
    exits "[M1] install lists the catalog of $origin" 0 mapm install "$origin"
    is "the list of $origin has exactly the packages of the catalog" "$(printf '%s\n' "$out" | awk '{print $1, $2}' | tr '\n' ',')" \
        'agent boss,mcp io.acme_tool,skill alpha,skill beta,skill gamma,'
    is "install without a choice writes nothing for $origin" "$(ls -A)" ''
done
like 'the list has the origin and the description of each package' "$out" "^skill +alpha +$U/skills/alpha  The alpha package of a test, used by it\.\$"
like 'the message names the options that choose packages' "$err" '--all, --skill NAME'
exits 'install lists the catalog of a subfolder' 0 mapm install "$U/skills"
is 'the list of a subfolder has its packages alone' "$(printf '%s\n' "$out" | awk '{print $2}' | tr '\n' ' ')" 'alpha beta gamma '
exits 'install --json lists a catalog' 0 mapm install --json acme/catalog
printf '%s\n' "$out" >"$T/out.json"
is 'install --json has type, name, path and origin of each package' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
print(d["schema"], len(d["offers"]), d["offers"][0]["type"], d["offers"][0]["name"], d["offers"][0]["path"], d["offers"][0]["origin"])
P
)" "mapm.offers/1 5 agent boss agents/boss $U/agents/boss"
exits 'install lists a repository with skills in any folder' 0 mapm install acme/many
is 'the list has the skills of any folder' "$(printf '%s\n' "$out" | awk '{print $2}' | tr '\n' ' ')" 'two deep-one '
exits 'install fails for a repository without packages' 1 mapm install acme/nothing
like 'the error says that there is no SKILL.md or AGENTS.md' "$err" 'no SKILL\.md or AGENTS\.md'

# --- to choose -----------------------------------------------------------------------

exits 'install --skill of one skill succeeds' 0 mapm install acme/catalog --skill gamma
is 'mapm.yaml has the chosen skill as its root' "$(grep https mapm.yaml)" "    - $U/skills/gamma"
ok 'the chosen skill includes the skills below it' test -f .agents/skills/gamma/inner/nested/SKILL.md
fresh
exits 'install --skill with two names succeeds' 0 mapm install acme/catalog --skill alpha gamma
is 'install --skill with two names installs both skills' "$(ls .agents/skills | tr '\n' ' ')" 'alpha gamma '
fresh
exits 'install --skill with a comma succeeds' 0 mapm install acme/catalog --skill alpha,gamma
is 'install --skill with a comma installs both skills' "$(ls .agents/skills | tr '\n' ' ')" 'alpha gamma '
fresh
exits 'install with two --skill options succeeds' 0 mapm install --skill alpha --skill=gamma acme/catalog
is 'install with two --skill options installs both skills' "$(ls .agents/skills | tr '\n' ' ')" 'alpha gamma '
fresh
exits 'install accepts --skill and --agent before the origin' 0 mapm install --skill beta --agent boss https://github.com/acme/catalog
is 'install --skill also installs the dependency of the skill' "$(ls .agents/skills | tr '\n' ' ')" 'alpha beta '
ok 'install --agent installs the agent' test -f .agents/agents/boss/AGENTS.md
for name in io.acme_tool io.acme_tool.json io.acme/tool; do
    fresh
    exits "install --mcp $name succeeds" 0 mapm install --yes acme/catalog --mcp "$name"
    like "install --mcp $name writes the server to .mcp.json" "$(cat .mcp.json)" '"io-acme-tool"'
done
MAPM_HOME=$T/cold-one
fresh
reset_log
exits 'install of a skill with a dependency succeeds' 0 mapm install acme/catalog/skills/beta
at_most 'install of a skill with a dependency takes at most four requests' "$(requests)" 4
# numbers COMMAND...: requests and bytes, as mapm says and as the host does.
numbers()
{
    reset_log
    run "$@" --json
    printf '%s\n' "$out" >"$T/out.json"
    said=$(python3 -S -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(d["requests"], d["bytes"])' "$T/out.json")
    is "the reported requests and bytes are those of the host: $*" "$said" "$(requests) $(stat_of body_out)"
}
for i in 1 2 3 4 5; do
    MAPM_HOME=$T/count$i
    fresh
    numbers mapm install --yes --all acme/catalog acme/many
    MAPM_HOME=$T/count-again$i
    rm -rf .agents .claude
    numbers mapm install --locked
done
MAPM_HOME=$T/mapm
fresh
exits 'install --skill with a ref in the origin succeeds' 0 mapm install acme/catalog@main --skill alpha
like 'mapm.yaml has the ref in the origin' "$(cat mapm.yaml)" "$U/skills/alpha"
fresh
exits 'install --all without consent to the server is refused' 4 mapm install --all acme/catalog
is 'install --all without consent writes nothing' "$(ls -A)" ''
MAPM_HOME=$T/cold-all
reset_log
exits 'install --all --yes succeeds' 0 mapm install --all --yes acme/catalog
is 'install --all --yes takes three requests' "$(requests)" 3
is '[D11] mapm.yaml has the catalog as its root' "$(sed 1d mapm.yaml)" "  catalogs:
    - origin: https://github.com/acme/catalog/tree/main"
exits 'a second install --all succeeds' 0 mapm install --all acme/catalog
like 'a second install --all has nothing to do' "$err" 'nothing to do'
fresh
exits 'install --skill fails for an unknown skill' 1 mapm install acme/catalog --skill gama
like 'the error suggests the nearest skill' "$err" 'did you mean gamma'
is 'install --skill of an unknown skill writes nothing' "$(ls -A)" ''
exits 'install --agent fails for the name of a skill' 1 mapm install acme/catalog --agent alpha
like 'the error says that no agent has the name' "$err" 'no agent named "alpha"'
exits 'install --skill with the origin of a package is a usage error' 2 mapm install acme/catalog/skills/alpha --skill beta
like 'the error says that --skill chooses from a catalog' "$err" 'choose from a catalog'
exits 'install --skill without an origin is a usage error' 2 mapm install --skill alpha
like 'the error says that an origin is needed' "$err" 'owner/repo'
fresh
exits 'install --json of two catalogs succeeds' 0 mapm install acme/catalog acme/many --json
printf '%s\n' "$out" >"$T/out.json"
is 'install --json lists two catalogs in one document' "$(python3 -S -c 'import json, sys
print(len(json.load(open(sys.argv[1]))["offers"]))' "$T/out.json")" 7
exits 'install --skill with two catalogs succeeds' 0 mapm install acme/catalog acme/many --skill alpha two
is 'install --skill takes each name from the catalog that has it' "$(ls .agents/skills | tr '\n' ' ')" 'alpha two '

# --- a repository that is one skill ------------------------------------------------------

fresh
exits 'install of a repository that is a skill succeeds' 0 mapm install acme/whole-thing
ok 'the installed skill is the whole repository' diff -r "$T/whole" .agents/skills/whole-thing
like 'mapm.yaml has the URL of the repository with its branch' "$(cat mapm.yaml)" 'https://github.com/acme/whole-thing/tree/main$'
fresh
exits 'install by the bare URL of the repository succeeds' 0 mapm install https://github.com/acme/whole-thing
ok 'install by the bare URL places the files of the skill' test -f .agents/skills/whole-thing/scripts/run.sh
exits 'update succeeds for a repository that is a skill' 0 mapm update
repo acme/whole-thing tag v1 main
exits 'install of another ref of the same repository succeeds' 0 mapm install acme/whole-thing@v1
is 'the other ref replaces the root in mapm.yaml' "$(grep -c https mapm.yaml)" 1
like 'mapm.yaml has the tag of the other ref' "$(cat mapm.yaml)" 'tree/v1$'

# --- a folder on this machine -----------------------------------------------------------------

fresh
exits 'install lists a local folder' 0 mapm install "$s"
is 'the list of the local folder has the packages of the catalog' "$(printf '%s\n' "$out" | awk '{print $1, $2}' | tr '\n' ',')" \
    'agent boss,mcp io.acme_tool,skill alpha,skill beta,skill gamma,'
exits 'install --skill from a local folder succeeds' 0 mapm install "$s" --skill gamma
ok 'install --skill from a local folder installs the skill' test -f .agents/skills/gamma/SKILL.md
fresh
exits 'install lists a local folder with skills anywhere' 0 mapm install "$T/many"
is 'the list of the local folder has the skills of any folder' "$(printf '%s\n' "$out" | awk '{print $2}' | tr '\n' ' ')" 'two deep-one '
exits 'install fails for a local folder without packages' 1 mapm install "$T/nothing"
done_testing

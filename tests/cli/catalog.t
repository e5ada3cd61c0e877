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
    exits "[M1] it lists: $origin" 0 mapm install "$origin"
    is "all of it, and nothing else: $origin" "$(printf '%s\n' "$out" | awk '{print $1, $2}' | tr '\n' ',')" \
        'agent boss,mcp io.acme_tool,skill alpha,skill beta,skill gamma,'
    is "nothing is written: $origin" "$(ls -A)" ''
done
like 'each with what to type' "$out" "^skill +alpha +$U/skills/alpha  The alpha package of a test, used by it\.\$"
like 'and how to choose' "$err" '--all, --skill NAME'
exits 'part of it' 0 mapm install "$U/skills"
is 'lists that part' "$(printf '%s\n' "$out" | awk '{print $2}' | tr '\n' ' ')" 'alpha beta gamma '
exits 'for programs' 0 mapm install --json acme/catalog
printf '%s\n' "$out" >"$T/out.json"
is 'JSON' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
print(d["schema"], len(d["offers"]), d["offers"][0]["type"], d["offers"][0]["name"], d["offers"][0]["path"], d["offers"][0]["origin"])
P
)" "mapm.offers/1 5 agent boss agents/boss $U/agents/boss"
exits 'skills may lie anywhere' 0 mapm install acme/many
is 'all are found' "$(printf '%s\n' "$out" | awk '{print $2}' | tr '\n' ' ')" 'two deep-one '
exits 'a repository without any' 1 mapm install acme/nothing
like 'says so' "$err" 'no SKILL\.md or AGENTS\.md'

# --- to choose -----------------------------------------------------------------------

exits 'one skill' 0 mapm install acme/catalog --skill gamma
is 'is the root' "$(grep https mapm.yaml)" "    - $U/skills/gamma"
ok 'with all below it' test -f .agents/skills/gamma/inner/nested/SKILL.md
fresh
exits 'two' 0 mapm install acme/catalog --skill alpha gamma
is 'both' "$(ls .agents/skills | tr '\n' ' ')" 'alpha gamma '
fresh
exits 'two with a comma' 0 mapm install acme/catalog --skill alpha,gamma
is 'both' "$(ls .agents/skills | tr '\n' ' ')" 'alpha gamma '
fresh
exits 'two options' 0 mapm install --skill alpha --skill=gamma acme/catalog
is 'both' "$(ls .agents/skills | tr '\n' ' ')" 'alpha gamma '
fresh
exits 'before the origin' 0 mapm install --skill beta --agent boss https://github.com/acme/catalog
is 'with what it needs' "$(ls .agents/skills | tr '\n' ' ')" 'alpha beta '
ok 'and the agent' test -f .agents/agents/boss/AGENTS.md
for name in io.acme_tool io.acme_tool.json io.acme/tool; do
    fresh
    exits "a server as $name" 0 mapm install --yes acme/catalog --mcp "$name"
    like "is there: $name" "$(cat .mcp.json)" '"io-acme-tool"'
done
MAPM_HOME=$T/cold-one
fresh
reset_log
exits 'one that needs another' 0 mapm install acme/catalog/skills/beta
at_most 'one more for what it needs' "$(requests)" 4
# numbers COMMAND...: requests and bytes, as mapm says and as the host does.
numbers()
{
    reset_log
    run "$@" --json
    printf '%s\n' "$out" >"$T/out.json"
    said=$(python3 -S -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(d["requests"], d["bytes"])' "$T/out.json")
    is "mapm counts what it asks and receives: $*" "$said" "$(requests) $(stat_of body_out)"
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
exits 'of another ref' 0 mapm install acme/catalog@main --skill alpha
like 'that is in its URL' "$(cat mapm.yaml)" "$U/skills/alpha"
fresh
exits 'all wants a yes for the server' 4 mapm install --all acme/catalog
is 'nothing was written' "$(ls -A)" ''
MAPM_HOME=$T/cold-all
reset_log
exits 'all' 0 mapm install --all --yes acme/catalog
is 'in three requests: refs, trees, files' "$(requests)" 3
is '[D11] the catalog is the root' "$(sed 1d mapm.yaml)" "  catalogs:
    - origin: https://github.com/acme/catalog/tree/main"
exits 'again' 0 mapm install --all acme/catalog
like 'nothing to do' "$err" 'nothing to do'
fresh
exits 'no such skill' 1 mapm install acme/catalog --skill gama
like 'a near name' "$err" 'did you mean gamma'
is 'nothing was written' "$(ls -A)" ''
exits 'no such agent' 1 mapm install acme/catalog --agent alpha
like 'it says what it is looking for' "$err" 'no agent named "alpha"'
exits 'a choice of a package' 2 mapm install acme/catalog/skills/alpha --skill beta
like 'makes no sense' "$err" 'choose from a catalog'
exits 'a choice without an origin' 2 mapm install --skill alpha
like 'neither' "$err" 'owner/repo'
fresh
exits 'two catalogs for programs' 0 mapm install acme/catalog acme/many --json
printf '%s\n' "$out" >"$T/out.json"
is 'are one document' "$(python3 -S -c 'import json, sys
print(len(json.load(open(sys.argv[1]))["offers"]))' "$T/out.json")" 7
exits 'two catalogs' 0 mapm install acme/catalog acme/many --skill alpha two
is 'each gives what it has' "$(ls .agents/skills | tr '\n' ' ')" 'alpha two '

# --- a repository that is one skill ------------------------------------------------------

fresh
exits 'the whole repository' 0 mapm install acme/whole-thing
ok 'is the skill' diff -r "$T/whole" .agents/skills/whole-thing
like 'its URL' "$(cat mapm.yaml)" 'https://github.com/acme/whole-thing/tree/main$'
fresh
exits 'by its bare URL' 0 mapm install https://github.com/acme/whole-thing
ok 'too' test -f .agents/skills/whole-thing/scripts/run.sh
exits 'a moved branch' 0 mapm update
repo acme/whole-thing tag v1 main
exits 'another ref takes its place' 0 mapm install acme/whole-thing@v1
is 'one root' "$(grep -c https mapm.yaml)" 1
like 'the tag' "$(cat mapm.yaml)" 'tree/v1$'

# --- a folder on this machine -----------------------------------------------------------------

fresh
exits 'lists as well' 0 mapm install "$s"
is 'the same' "$(printf '%s\n' "$out" | awk '{print $1, $2}' | tr '\n' ',')" \
    'agent boss,mcp io.acme_tool,skill alpha,skill beta,skill gamma,'
exits 'and lets choose' 0 mapm install "$s" --skill gamma
ok 'it' test -f .agents/skills/gamma/SKILL.md
fresh
exits 'skills anywhere' 0 mapm install "$T/many"
is 'are found' "$(printf '%s\n' "$out" | awk '{print $2}' | tr '\n' ' ')" 'two deep-one '
exits 'a folder with nothing' 1 mapm install "$T/nothing"
done_testing

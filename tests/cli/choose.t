#!/bin/sh
# What is valid is installed, the rest is named: --all, globs and --skip. [F4]
. "$(dirname "$0")/../lib/cli.sh"
U=https://github.com/acme/catalog/tree/main
s=$T/src

fresh()
{
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
}
# field PATH-EXPRESSION: of the JSON on standard output.
field()
{
    printf '%s\n' "$out" | python3 -S -c '
import json, sys
d = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"
}
installed()
{
    (cd .agents/skills 2>/dev/null && echo *)
}

# --- a catalog with good and bad packages ------------------------------------

skill "$s/skills/good"
skill "$s/skills/other" 'dependencies:' '  skills:' "    - $U/skills/good"
mkdir -p "$s/skills/other/scripts" && echo 'echo' >"$s/skills/other/scripts/a.sh"
mkdir -p "$s/skills/plain" && echo 'Just text.' >"$s/skills/plain/SKILL.md"
head -c 300000 /dev/urandom >"$s/skills/plain/big.bin"
skill "$s/skills/needs-plain" 'dependencies:' '  skills:' "    - $U/skills/plain"
head -c 300000 /dev/urandom >"$s/skills/needs-plain/big.bin"
skill "$s/skills/needs-needs" 'dependencies:' '  skills:' "    - $U/skills/needs-plain"
skill "$s/skills/ring-a" 'dependencies:' '  skills:' "    - $U/skills/ring-b"
skill "$s/skills/ring-b" 'dependencies:' '  skills:' "    - $U/skills/ring-a"
skill "$s/skills/nuxt-ui"
skill "$s/skills/nuxt-seo"
skill "$s/skills/metaskill" 'metaskill: flow.star'
printf 'def run(input):\n    return "\377"\n' >"$s/skills/metaskill/flow.star"
make_repo acme/catalog "$s"
start_githost

MAPM_HOME=$T/cold
reset_log
exits '[F4] install --all with invalid packages ends with exit code 3' 3 mapm install acme/catalog --all --yes
is '[F4] install --all installs all valid packages' "$(installed)" 'good nuxt-seo nuxt-ui other'
like '[F4] the report groups packages without frontmatter by reason' "$err" \
    'left out, no-frontmatter: needs-needs needs .* needs plain, needs-plain needs plain, plain'
like '[F4] the report lists a cycle of dependencies' "$err" 'left out, cyclic-dependency: .*ring-a'
like '[F4] the report lists a metaskill that is not UTF-8' "$err" 'left out, metaskill-not-utf8: metaskill'
like '[F4] the report counts the packages that are left out' "$err" '6 of 10 chosen packages are left out'
at_most '[F4] the transfer is at most 60000 bytes as only documents of invalid packages are fetched' "$(stat_of body_out)" 60000
exits '[F4] a second install after packages were left out succeeds' 0 mapm install
exits '[F4] install --locked after packages were left out succeeds' 0 mapm install --locked
rm -rf .agents
exits '[F4] install --locked without an .agents folder succeeds' 0 mapm install --locked
is '[F4] install --locked installs the same packages' "$(installed)" 'good nuxt-seo nuxt-ui other'
exits '[F4] a second install --all with invalid packages ends with exit code 3' 3 mapm install acme/catalog --all --yes
like '[F4] a second install --all has nothing to do' "$err" 'nothing to do'
exits '[F4] verify after packages were left out succeeds' 0 mapm verify

fresh
exits '[F4] install --all -v with invalid packages ends with exit code 3' 3 mapm install acme/catalog --all --yes -v
like '[F4] -v names each package left out by its URL' "$err" "left out, no-frontmatter: skill $U/skills/needs-needs\$"
like '[F4] -v shows the first dependency of the chain' "$err" "^ *needs: skill $U/skills/needs-plain\$"
like '[F4] -v shows the last dependency of the chain' "$err" "^ *needs: skill $U/skills/plain\$"
like '[F4] -v shows the reason at the end of the chain' "$err" '^ *because: .*does not start with'
fresh
exits '[F4] install --all --json with invalid packages ends with exit code 3' 3 mapm install acme/catalog --all --yes --json
is '[F4] --json lists six packages left out and four installed' "$(field 'len(d["left_out"]), len(d["packages"])')" '(6, 4)'
is '[F4] --json gives code and chain of a package left out' \
    "$(field '[(x["type"], x["path"], x["code"], [c.split("/")[-1] for c in x["chain"]]) for x in d["left_out"] if x["name"] == "needs-needs"]')" \
    "[('skill', 'skills/needs-needs', 'no-frontmatter', ['needs-needs', 'needs-plain', 'plain'])]"
fresh
exits '[F4] install --all --dry-run with invalid packages ends with exit code 3' 3 mapm install acme/catalog --all --yes --dry-run
is '[F4] install --dry-run writes nothing' "$(ls -A)" ''
exits '[F4] install --all --strict with invalid packages fails' 1 mapm install acme/catalog --all --yes --strict
is '[F4] install --strict writes nothing' "$(ls -A)" ''
exits '[F4] install of an invalid package by its exact name fails' 1 mapm install acme/catalog --skill plain good
is '[F4] install of an invalid package by its exact name writes nothing' "$(ls -A)" ''
exits '[F4] install of an exact invalid name beside a glob fails' 1 mapm install acme/catalog --skill plain 'nuxt-*'
is '[F4] install of an exact invalid name beside a glob writes nothing' "$(ls -A)" ''
exits '[F4] install of a glob that fits only invalid packages ends with exit code 3' 3 mapm install acme/catalog --skill 'ring-*'
ok '[F4] install of only invalid packages installs nothing' test ! -e .agents/skills

# --- globs -------------------------------------------------------------------

exits '[F4] install of a glob over names succeeds' 0 mapm install acme/catalog --skill 'nuxt-*'
is '[F4] a glob over names installs what fits' "$(installed)" 'nuxt-seo nuxt-ui'
fresh
exits '[F4] install of a glob over paths and one over names succeeds' 0 mapm install acme/catalog --skill 'skills/*-ui' 'g[o]od'
is '[F4] a glob over paths and one over names install what fits' "$(installed)" 'good nuxt-ui'
fresh
exits '[F4] install with --skip alone succeeds' 0 mapm install acme/catalog --yes \
    --skip '*plain' --skip 'needs-*' 'ring-?' metaskill
is '[F4] --skip alone installs all packages but those that fit' "$(installed)" 'good nuxt-seo nuxt-ui other'
fresh
exits '[F4] install --skill of a folder with a trailing slash succeeds' 0 mapm install acme/catalog \
    --dry-run --skill skills/nuxt-ui/
like '[F4] --skill with a trailing slash chooses that folder' "$out" 'skill nuxt-ui'
exits '[F4] install --all --skip of a folder with a slash ends with exit code 3' 3 mapm install acme/catalog --all --dry-run --skip skills/nuxt-ui/
unlike '[F4] --skip with a trailing slash leaves out that folder' "$out" 'nuxt-ui'
like '[F4] --skip with a trailing slash keeps another package' "$out" 'nuxt-seo'
exits '[F4] install of a glob with --skip succeeds' 0 mapm install acme/catalog --skill 'nuxt-*' --skip '*-ui'
is '[F4] --skip takes out a package that the glob chooses' "$(installed)" 'nuxt-seo'
exits '[F4] install of a glob that fits nothing fails' 1 mapm install acme/catalog --skill 'vue-*'
like '[F4] the error quotes the glob that fits nothing' "$err" 'no skill that fits "vue-\*"'
exits '[F4] install with a --skip that fits nothing succeeds' 0 mapm install acme/catalog --skill 'nuxt-*' --skip vue
like '[F4] a --skip that fits nothing causes a warning' "$err" 'warning: --skip vue'

# --- the network -------------------------------------------------------------

skill "$T/far/skills/near"
skill "$T/far/skills/far" 'dependencies:' '  skills:' \
    '    - https://github.com/acme/nowhere/tree/main/skills/x'
make_repo acme/far "$T/far"
fresh
exits '[F4] install --all with a dependency in an absent repository ends with exit code 3' 3 \
    mapm install acme/far --all
like '[F4] the report names the dependency in the absent repository' "$err" 'far needs x'
is '[F4] install --all installs the rest' "$(installed)" near
fresh
MAPM_HOME=$T/cold-far
fault '{"kind": "status", "status": 500, "match": {"repo": "acme/nowhere"}, "times": -1}'
exits '[F4] install --all fails when a host answers with an error' 1 mapm install acme/far --all
like '[F4] the error has the HTTP status of the host' "$err" 'HTTP 500'
is '[F4] install --all writes nothing when a host fails' "$(ls -A)" ''
clear_faults

# --- folders of one name -----------------------------------------------------

t=$T/twins
skill "$t/plugins/box/skills/ai"
skill "$t/plugins/jam/skills/ai" 'description: Another one.'
skill "$t/plugins/pin/skills/ai"
skill "$t/plugins/pin/skills/alone"
skill "$t/.agents/skills/dup"
skill "$t/skills-of-ours/.hidden/dup" 'description: Of a folder that has a name.'
skill "$t/Bad_Name/dup" 'description: Of one whose name is not a scope.'
skill "$t/Worse_Name/dup" 'description: Of another one.'
make_repo acme/twins "$t"
repo acme/twins tag v1
fresh
exits '[F4] install --all of folders with one name ends with exit code 3' 3 mapm install acme/twins --all --yes
is '[F4] folders of one name have different folders in the workspace' "$(installed)" 'ai alone dup jam-ai skills-of-ours-dup'
is '[F4] folders of one name get different names, equal content one name' \
    "$(mapm list --json | python3 -S -c 'import json, sys; print([p["name"] for p in json.load(sys.stdin)["packages"]])')" \
    "['agents/dup', 'alone', 'box/ai', 'jam/ai', 'skills-of-ours/dup']"
like '[F4] the copy of a renamed package has its new name' "$(cat .agents/skills/jam-ai/SKILL.md)" '^name: jam-ai$'
like '[F4] the lock has the new name of a renamed package' "$(cat mapm.lock)" '^    as: jam/ai$'
like '[F4] the lock has both origins of equal content' "$(cat mapm.lock)" 'also: \[.*plugins/pin/skills/ai'
like '[F4] the report has the URLs of folders that find no name' "$err" \
    'left out, origin-conflict: https://github.com/acme/twins/tree/main/Bad_Name/dup,.*Worse_Name/dup$'
before=$(cat mapm.lock)
exits '[F4] install --locked with renamed packages succeeds' 0 mapm install --locked
rm -rf .agents
exits '[F4] install --locked of renamed packages without .agents succeeds' 0 mapm install --locked
is '[F4] install --locked creates the same folders' "$(installed)" 'ai alone dup jam-ai skills-of-ours-dup'
exits '[F4] verify with renamed packages succeeds' 0 mapm verify
exits '[F4] why accepts the new name of a package' 0 mapm why jam/ai
skill "$t/plugins/aaa/skills/alone" 'description: A new one of an old name.'
rm -rf "$t/plugins/box"
skill "$t/plugins/jam/skills/ai" 'description: Another one, newer.'
make_repo acme/twins "$t"
exits '[D3] update ends with exit code 3 when a folder is gone' 3 mapm update
like '[D3] update reports the package of the folder that is gone' "$err" 'skill box/ai is gone, and stays'
like '[D3] update updates the other package of the old name' "$(cat .agents/skills/jam-ai/SKILL.md)" 'Another one, newer'
like '[F4] update keeps the new name in the lock' "$(cat mapm.lock)" '^    as: jam/ai$'
exits '[F4] install of a new folder with an old name succeeds' 0 mapm install acme/twins --skill 'a*'
is '[F4] the new folder gets a new name, others keep theirs' \
    "$(mapm list --json | python3 -S -c 'import json, sys; print([p["name"] for p in json.load(sys.stdin)["packages"]])')" \
    "['aaa/alone', 'agents/dup', 'alone', 'box/ai', 'jam/ai', 'skills-of-ours/dup']"
fresh
cat >mapm.yaml <<Y
dependencies:
  skills:
    - https://github.com/acme/twins/tree/main/plugins/aaa/skills/alone
    - https://github.com/acme/twins/tree/main/plugins/pin/skills/alone
Y
exits '[F4] install of two skills with one name without a lock succeeds' 0 mapm install
is '[F4] the names without a lock follow the same rule' \
    "$(mapm list --json | python3 -S -c 'import json, sys; print([p["name"] for p in json.load(sys.stdin)["packages"]])')" \
    "['aaa/alone', 'pin/alone']"
exits '[F4] remove of both renamed packages succeeds' 0 mapm remove aaa/alone pin/alone

fresh
exits '[F4] install --all of a tag with folders of one name ends with exit code 3' 3 mapm install acme/twins@v1 --all --yes
was=$(mapm list --json | python3 -S -c 'import json, sys; print([p["name"] for p in json.load(sys.stdin)["packages"]])')
exits '[F4] install --all of the branch over the tag ends with exit code 3' 3 mapm install acme/twins --all --yes
is '[F4] the packages of the tag have names by the same rule' "$was" \
    "['agents/dup', 'alone', 'box/ai', 'jam/ai', 'skills-of-ours/dup']"
is '[F4, D11] install of the branch replaces the packages of the tag' \
    "$(mapm list --json | python3 -S -c 'import json, sys; print([p["name"] for p in json.load(sys.stdin)["packages"]])')" \
    "['aaa/alone', 'agents/dup', 'alone', 'jam/ai', 'pin/ai', 'skills-of-ours/dup']"
unlike '[F4] mapm.yaml has no origin of the tag after the branch' "$(cat mapm.yaml)" 'tree/v1/plugins/(jam|pin/skills/alone)'
exits '[F4] install of a skill from another catalog succeeds' 0 mapm install acme/catalog --skill 'g*'
skill "$T/rival/skills/good" 'description: A rival.'
skill "$T/rival/skills/nuxt-ui"
skill "$T/rival/skills/new"
make_repo acme/rival "$T/rival"
exits '[F4] install --all from a rival catalog ends with exit code 3' 3 mapm install acme/rival --all
like '[F4] the report names the package whose name is taken' "$err" 'left out, origin-conflict: https://github.com/acme/rival/tree/main/skills/good'
like '[F4] the report suggests mapm remove of the package that has the name' "$err" 'differs: to get this one, mapm remove good first$'
ok '[F4] install --all installs the rest of the rival catalog' test -f .agents/skills/new/SKILL.md

for name in one two; do
    skill "$T/copies/_a/skills/$name"
    skill "$T/copies/_b/skills/$name" "description: Another $name."
done
skill "$T/copies/x/same" 'name: pair' && skill "$T/copies/x/other" 'name: pair' 'description: Other.'
for folder in p q r; do
    mkdir -p "$T/copies/$folder/doc" && echo 'No frontmatter.' >"$T/copies/$folder/doc/SKILL.md"
done
make_repo acme/copies "$T/copies"
fresh
exits '[F4] install --all of folders that find no name ends with exit code 3' 3 mapm install acme/copies --all --yes
like '[F4] the report lists equal names once with their number' "$err" 'left out, no-frontmatter: doc \(3 times\)$'
like '[F4] the report gives the reason of equal names' "$err" '^  because: line 1: it does not start with'
like '[F4] the report gives one example of several reasons' "$err" \
    "^  for example: .*/_b/skills/one already, which differs: add --skip _b/skills/one to get this one, or --skip _a/skills/ to get the others\$"
is '[F4] no package of folders that find no name is installed' "$(installed)" ''
exits '[F4] install with the suggested --skip ends with exit code 3' 3 mapm install acme/copies --all --yes --skip _a/skills/
is '[F4] the suggested --skip lets the other packages be installed' "$(installed)" 'one two'
skill "$T/copies/x y/three" 'name: three' && skill "$T/copies/\$(x)/three" 'name: three' 'description: Other.'
make_repo acme/odd "$T/copies"
exits '[F4] install of folders with unusual names ends with exit code 3' 3 mapm install acme/odd --all --dry-run -v
unlike '[F4] the report suggests no --skip with an unusual folder name' "$err" 'skip .*(x y|\$)'
exits '[F4] install --skip of a folder without a slash ends with exit code 3' 3 mapm install acme/copies --all --dry-run --skip _a
like '[F4] the warning suggests the folder with a slash' "$err" 'warning: --skip _a: nothing that is chosen has this name; the folder is --skip _a/$'
fresh
exits '[F4] install of two equal names below one folder ends with exit code 3' 3 mapm install acme/copies --yes --all --skip '_?/*' --skip doc -v
like '[F4] the report tells equal names apart by path' "$err" "which differs: add --skip x/same to get this one\$"
exits '[F4] install with --skip of one path succeeds' 0 mapm install acme/copies --yes --all --skip '_?/*' --skip doc --skip x/same
is '[F4] --skip of one path installs the other package' "$(installed)" pair

b=$T/beside
skill "$b/skills/x"
skill "$b/plugins/one/skills/x" 'description: Another one.'
make_repo acme/beside "$b"
fresh
exits '[F4] install of one folder of two with one name succeeds' 0 mapm install https://github.com/acme/beside/tree/main/plugins/one/skills/x
exits '[F4] install of the other folder by its exact origin fails' 1 \
    mapm install https://github.com/acme/beside/tree/main/skills/x
like '[F4] the error names the folder that has the name' "$err" 'plugins/one/skills/x'

# --- below a SKILL.md at the top ----------------------------------------------

r=$T/root
skill "$r" 'name: whole'
skill "$r/skills/one"
skill "$r/skills/two"
skill "$r/skills/two/inner"
make_repo acme/whole "$r"
fresh
exits '[F4] install of a repository that is a skill succeeds' 0 mapm install acme/whole
is '[F4] a repository that is a skill is installed as one package' "$(installed)" 'whole'
like '[F4] install reports the packages below the SKILL.md at the top' "$err" 'offers 2 packages below its SKILL.md'
exits '[F4] install --skill of a skill below the top succeeds' 0 mapm install acme/whole --skill one
is '[F4] the skill below the top is installed beside the whole' "$(installed)" 'one whole'
fresh
exits '[F4] install --all of a repository that is a skill succeeds' 0 mapm install acme/whole --all
is '[F4] --all installs the whole and the skills below, none nested in those' "$(installed)" 'one two whole'
exits '[F4] install --locked of nested skills succeeds' 0 mapm install --locked
fresh
exits '[F4] install --all by the full URL succeeds' 0 mapm install https://github.com/acme/whole/tree/main --all
is '[F4] --all by the full URL installs the same packages' "$(installed)" 'one two whole'
fresh
exits '[F4] install --all of a local folder that is a skill succeeds' 0 mapm install "$r" --all
is '[F4] --all of a local folder installs the same packages' "$(installed)" 'one two whole'

# --- an AGENTS.md for those who work on the repository -------------------------

p=$T/project
mkdir -p "$p/src"
echo '# How to work on this' >"$p/AGENTS.md"
head -c 400000 /dev/urandom >"$p/src/data.bin"
make_repo acme/project "$p"
fresh
MAPM_HOME=$T/cold-project
reset_log
exits '[F4] install of a project without packages fails' 1 mapm install acme/project
like '[F4] the error says that the project offers no package' "$err" 'offers no skill, agent or MCP server'
at_most '[F4] a project without packages costs at most 20000 bytes' "$(stat_of body_out)" 20000
printf -- '---\nname: boss\ndescription: An agent.\nversion: 1.0.0\n---\n\nDo it.\n' >"$p/AGENTS.md"
make_repo acme/boss "$p"
exits '[F4] install of a repository that is an agent succeeds' 0 mapm install acme/boss
ok '[F4] install of a repository that is an agent installs its files' test -f .agents/agents/boss/src/data.bin
# --- a branch with a slash, and a path that could begin earlier ------------------

rm -rf "$s"
skill "$s/skills/pdf"
skill "$s/skills/docx"
skill "$s/x/skills/pdf"
make_repo acme/slashes "$s" feature/x
make_repo acme/slashes "$s" main
fresh
MAPM_HOME=$T/slashes
exits '[F4] install --all leaves out an ambiguous path of a branch with a slash' 3 \
    mapm install --yes --all https://github.com/acme/slashes/tree/feature/x
like '[F4] the report names the package with the ambiguous path' "$err" 'left out, .*pdf'
is '[F4] install --all installs the packages with clear paths' "$(installed)" docx
rm -rf .agents
MAPM_HOME=$T/slashes-colleague
exits '[F1] install --locked on another machine succeeds' 0 mapm install --locked
exits '[F1] verify --remote on another machine succeeds' 0 mapm verify --remote
# --- deeper than is looked ---------------------------------------------------------

rm -rf "$s"
skill "$s/x/near"
skill "$s/1/2/3/4/5/6/7/8/9/10/11/12/13/deep"
make_repo acme/deep "$s"
fresh
MAPM_HOME=$T/cold-deep
exits '[F4] install --all of a deep repository succeeds' 0 mapm install --yes --all acme/deep
is '[F4] install --all installs the package near the top' "$(installed)" near
like '[F4] install --all reports that a deep folder may offer more' "$err" 'may offer more: "1/2/3/4/5/6/7/8/9/10/11/12/13"'
is '[F4] install --all reports the deep folder once' "$(printf '%s\n' "$err" | grep -c 'may offer more')" 1

# --- the words of other tools -----------------------------------------------------

fresh
exits '[D17] install of owner/repo@skill fails as an unknown ref' 1 mapm install acme/catalog@good
like '[D17] the error suggests --skill for a skill of that name' "$err" 'mapm install acme/catalog --skill good'
exits '[D17] install --skill with the glob for all ends with exit code 3' 3 mapm install acme/catalog --skill '*' --yes
like '[D17] ls lists a skill installed by the glob for all' "$(mapm ls)" '^skill +good '

# --- what mapm.lock could not name --------------------------------------------

fresh
skill "$T/sharp/skills/sharp"
mkdir "$T/sharp/skills/c#"
sed 's/^name: .*/name: csharp/' "$T/sharp/skills/sharp/SKILL.md" >"$T/sharp/skills/c#/SKILL.md"
skill "$T/sharp/skills/thin"
printf -- '---\nname: thin\ndescription: d\nversion: "1\342\200\213"\n---\n' >"$T/sharp/skills/thin/SKILL.md"
make_repo acme/sharp "$T/sharp"
exits '[F4] a folder that no origin can name' 3 mapm install --yes acme/sharp --all
like '[F4] is left out' "$err" 'its path "skills/c#" has a character that origins cannot have'
is '[F4] the others are there' "$(installed)" 'sharp thin'
exits '[F4] and the lock can be read' 0 mapm install --locked

done_testing

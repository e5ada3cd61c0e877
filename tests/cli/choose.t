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
exits '[F4] --all installs what is valid and says 3' 3 mapm install acme/catalog --all --yes
is '[F4] all that is valid' "$(installed)" 'good nuxt-seo nuxt-ui other'
like '[F4] the rest is grouped by reason' "$err" \
    'left out, no-frontmatter: needs-needs needs .* needs plain, needs-plain needs plain, plain'
like '[F4] a cycle, too' "$err" 'left out, cyclic-dependency: .*ring-a'
like '[F4] what shows in the files only' "$err" 'left out, metaskill-not-utf8: metaskill'
like '[F4] and counted' "$err" '6 of 10 chosen packages are left out'
at_most '[F4] of what is refused the documents alone are fetched' "$(stat_of body_out)" 60000
exits '[F4] install of the resulting lock is done' 0 mapm install
exits '[F4] and --locked' 0 mapm install --locked
rm -rf .agents
exits '[F4] and --locked in a fresh workspace' 0 mapm install --locked
is '[F4] with the same packages' "$(installed)" 'good nuxt-seo nuxt-ui other'
exits '[F4] chosen again' 3 mapm install acme/catalog --all --yes
like '[F4] with nothing to do' "$err" 'nothing to do'
exits '[F4] verify' 0 mapm verify

fresh
exits '[F4] -v names each' 3 mapm install acme/catalog --all --yes -v
like '[F4] by its URL' "$err" "left out, no-frontmatter: skill $U/skills/needs-needs\$"
like '[F4] with the chain' "$err" "^ *needs: skill $U/skills/needs-plain\$"
like '[F4] to its end' "$err" "^ *needs: skill $U/skills/plain\$"
like '[F4] and the reason' "$err" '^ *because: .*does not start with'
fresh
exits '[F4] --json' 3 mapm install acme/catalog --all --yes --json
is '[F4] lists them' "$(field 'len(d["left_out"]), len(d["packages"])')" '(6, 4)'
is '[F4] each with code and chain' \
    "$(field '[(x["type"], x["path"], x["code"], [c.split("/")[-1] for c in x["chain"]]) for x in d["left_out"] if x["name"] == "needs-needs"]')" \
    "[('skill', 'skills/needs-needs', 'no-frontmatter', ['needs-needs', 'needs-plain', 'plain'])]"
fresh
exits '[F4] --dry-run' 3 mapm install acme/catalog --all --yes --dry-run
is '[F4] writes nothing' "$(ls -A)" ''
exits '[F4] --strict refuses' 1 mapm install acme/catalog --all --yes --strict
is '[F4] and writes nothing' "$(ls -A)" ''
exits '[F4] a package named exactly fails' 1 mapm install acme/catalog --skill plain good
is '[F4] and nothing is written' "$(ls -A)" ''
exits '[F4] also beside a glob' 1 mapm install acme/catalog --skill plain 'nuxt-*'
is '[F4] and again nothing' "$(ls -A)" ''
exits '[F4] nothing of it valid' 3 mapm install acme/catalog --skill 'ring-*'
ok '[F4] and nothing installed' test ! -e .agents/skills

# --- globs -------------------------------------------------------------------

exits '[F4] a glob over names' 0 mapm install acme/catalog --skill 'nuxt-*'
is '[F4] takes what fits' "$(installed)" 'nuxt-seo nuxt-ui'
fresh
exits '[F4] a glob over paths' 0 mapm install acme/catalog --skill 'skills/*-ui' 'g[o]od'
is '[F4] and one more' "$(installed)" 'good nuxt-ui'
fresh
exits '[F4] --skip alone takes the rest' 0 mapm install acme/catalog --yes \
    --skip '*plain' --skip 'needs-*' 'ring-?' metaskill
is '[F4] but what fits' "$(installed)" 'good nuxt-seo nuxt-ui other'
fresh
exits '[F4] a folder as the shell completes it, with a slash' 0 mapm install acme/catalog \
    --dry-run --skill skills/nuxt-ui/
like '[F4] is that folder' "$out" 'skill nuxt-ui'
exits '[F4] so for --skip' 3 mapm install acme/catalog --all --dry-run --skip skills/nuxt-ui/
unlike '[F4] it is left out' "$out" 'nuxt-ui'
like '[F4] and the rest taken' "$out" 'nuxt-seo'
exits '[F4] --skip of what a glob takes' 0 mapm install acme/catalog --skill 'nuxt-*' --skip '*-ui'
is '[F4] without it' "$(installed)" 'nuxt-seo'
exits '[F4] a glob that fits nothing is a mistake' 1 mapm install acme/catalog --skill 'vue-*'
like '[F4] and says so' "$err" 'no skill that fits "vue-\*"'
exits '[F4] --skip that fits nothing is told' 0 mapm install acme/catalog --skill 'nuxt-*' --skip vue
like '[F4] as a warning' "$err" 'warning: --skip vue'

# --- the network -------------------------------------------------------------

skill "$T/far/skills/near"
skill "$T/far/skills/far" 'dependencies:' '  skills:' \
    '    - https://github.com/acme/nowhere/tree/main/skills/x'
make_repo acme/far "$T/far"
fresh
exits '[F4] what needs a repository that is not there is left out' 3 \
    mapm install acme/far --all
like '[F4] and the one at fault named' "$err" 'far needs x'
is '[F4] the rest is installed' "$(installed)" near
fresh
MAPM_HOME=$T/cold-far
fault '{"kind": "status", "status": 500, "match": {"repo": "acme/nowhere"}, "times": -1}'
exits '[F4] a host that fails is no fault of a package' 1 mapm install acme/far --all
like '[F4] and is told' "$err" 'HTTP 500'
is '[F4] nothing is written' "$(ls -A)" ''
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
make_repo acme/twins "$t"
repo acme/twins tag v1
fresh
exits '[F4] folders of one name' 3 mapm install acme/twins --all --yes
is '[F4] each is installed' "$(installed)" 'ai alone dup jam-ai'
is '[F4] under a name of its own, equal content under one' \
    "$(mapm list --json | python3 -S -c 'import json, sys; print([p["name"] for p in json.load(sys.stdin)["packages"]])')" \
    "['alone', 'box/ai', 'jam/ai', 'skills-of-ours/dup']"
like '[F4] whose copy has it' "$(cat .agents/skills/jam-ai/SKILL.md)" '^name: jam-ai$'
like '[F4] the lock says so' "$(cat mapm.lock)" '^    as: jam/ai$'
like '[F4] and has both origins of what is equal' "$(cat mapm.lock)" 'also: \[.*plugins/pin/skills/ai'
like '[F4] what finds no name is listed with its URL' "$err" \
    'left out, origin-conflict: https://github.com/acme/twins/tree/main/.agents/skills/dup,.*Bad_Name/dup'
before=$(cat mapm.lock)
exits '[F4] --locked takes it' 0 mapm install --locked
rm -rf .agents
exits '[F4] in a fresh workspace, too' 0 mapm install --locked
is '[F4] with the same folders' "$(installed)" 'ai alone dup jam-ai'
exits '[F4] verify of it' 0 mapm verify
exits '[F4] its name is a name' 0 mapm why jam/ai
skill "$t/plugins/aaa/skills/alone" 'description: A new one of an old name.'
rm -rf "$t/plugins/box"
skill "$t/plugins/jam/skills/ai" 'description: Another one, newer.'
make_repo acme/twins "$t"
exits '[D3] update' 3 mapm update
like '[D3] of a folder that is gone names it' "$err" 'skill box/ai is gone, and stays'
like '[D3] and moves the other' "$(cat .agents/skills/jam-ai/SKILL.md)" 'Another one, newer'
like '[F4] keeps its name' "$(cat mapm.lock)" '^    as: jam/ai$'
exits '[F4] a new folder of an old name' 0 mapm install acme/twins --skill 'a*'
is '[F4] gets one, and recorded ones stay' \
    "$(mapm list --json | python3 -S -c 'import json, sys; print([p["name"] for p in json.load(sys.stdin)["packages"]])')" \
    "['aaa/alone', 'alone', 'box/ai', 'jam/ai', 'skills-of-ours/dup']"
fresh
cat >mapm.yaml <<Y
dependencies:
  skills:
    - https://github.com/acme/twins/tree/main/plugins/aaa/skills/alone
    - https://github.com/acme/twins/tree/main/plugins/pin/skills/alone
Y
exits '[F4] without a lock they get names, too' 0 mapm install
is '[F4] by the same rule' \
    "$(mapm list --json | python3 -S -c 'import json, sys; print([p["name"] for p in json.load(sys.stdin)["packages"]])')" \
    "['aaa/alone', 'pin/alone']"
exits '[F4] and all of it goes' 0 mapm remove aaa/alone pin/alone

fresh
exits '[F4] of a tag' 3 mapm install acme/twins@v1 --all --yes
was=$(mapm list --json | python3 -S -c 'import json, sys; print([p["name"] for p in json.load(sys.stdin)["packages"]])')
exits '[F4] and then of the branch, where some have changed' 3 mapm install acme/twins --all --yes
is '[F4] each takes the place of the old one, with its name' "$was" \
    "['alone', 'box/ai', 'jam/ai', 'skills-of-ours/dup']"
is '[F4, D11] nothing is there twice, and the folder that is gone takes its name along' \
    "$(mapm list --json | python3 -S -c 'import json, sys; print([p["name"] for p in json.load(sys.stdin)["packages"]])')" \
    "['aaa/alone', 'alone', 'jam/ai', 'pin/ai', 'skills-of-ours/dup']"
unlike '[F4] and nothing of the tag' "$(cat mapm.yaml)" 'tree/v1/plugins/(jam|pin/skills/alone)'
exits '[F4] another catalog' 0 mapm install acme/catalog --skill 'g*'
skill "$T/rival/skills/good" 'description: A rival.'
skill "$T/rival/skills/nuxt-ui"
skill "$T/rival/skills/new"
make_repo acme/rival "$T/rival"
exits '[F4] what the layer has is not replaced' 3 mapm install acme/rival --all
like '[F4] and told' "$err" 'left out, origin-conflict: https://github.com/acme/rival/tree/main/skills/good'
like '[F4] and what gives it up' "$err" 'differs: to get this one, mapm remove good first$'
ok '[F4] the rest is there' test -f .agents/skills/new/SKILL.md

for name in one two; do
    skill "$T/copies/.a/skills/$name"
    skill "$T/copies/.b/skills/$name" "description: Another $name."
done
skill "$T/copies/x/same" 'name: pair' && skill "$T/copies/x/other" 'name: pair' 'description: Other.'
for folder in p q r; do
    mkdir -p "$T/copies/$folder/doc" && echo 'No frontmatter.' >"$T/copies/$folder/doc/SKILL.md"
done
make_repo acme/copies "$T/copies"
fresh
exits '[F4] folders without a name of their own' 3 mapm install acme/copies --all --yes
like '[F4] equal names are listed once' "$err" 'left out, no-frontmatter: doc \(3 times\)$'
like '[F4] with the reason' "$err" '^  because: line 1: it does not start with'
like '[F4] of several reasons one' "$err" \
    "^  for example: .*/\\.b/skills/one already, which differs: add --skip \\.b/skills/one to get this one, or --skip \\.a/skills/ to get the others\$"
is '[F4] and none is there' "$(installed)" ''
exits '[F4] what it says helps' 3 mapm install acme/copies --all --yes --skip .a/skills/
is '[F4] with all of them' "$(installed)" 'one two'
skill "$T/copies/x y/three" 'name: three' && skill "$T/copies/\$(x)/three" 'name: three' 'description: Other.'
make_repo acme/odd "$T/copies"
exits '[F4] a folder whose name is no plain word' 3 mapm install acme/odd --all --dry-run -v
unlike '[F4] is in no option to be pasted' "$err" 'skip .*(x y|\$)'
exits '[F4] a folder without the slash' 3 mapm install acme/copies --all --dry-run --skip .a
like '[F4] is no name, and told' "$err" 'warning: --skip \.a: nothing that is chosen has this name; the folder is --skip \.a/$'
fresh
exits '[F4] names below one folder' 3 mapm install acme/copies --yes --all --skip '.?/*' --skip doc -v
like '[F4] are told apart by their paths' "$err" "which differs: add --skip x/same to get this one\$"
exits '[F4] which helps, too' 0 mapm install acme/copies --yes --all --skip '.?/*' --skip doc --skip x/same
is '[F4] with the other one' "$(installed)" pair

b=$T/beside
skill "$b/skills/x"
skill "$b/plugins/one/skills/x" 'description: Another one.'
make_repo acme/beside "$b"
fresh
exits '[F4] a folder' 0 mapm install https://github.com/acme/beside/tree/main/plugins/one/skills/x
exits '[F4] another one of its name, named exactly, fails' 1 \
    mapm install https://github.com/acme/beside/tree/main/skills/x
like '[F4] as a conflict, and takes no place' "$err" 'plugins/one/skills/x'

# --- below a SKILL.md at the top ----------------------------------------------

r=$T/root
skill "$r" 'name: whole'
skill "$r/skills/one"
skill "$r/skills/two"
skill "$r/skills/two/inner"
make_repo acme/whole "$r"
fresh
exits '[F4] a repository that is a skill is installed as one' 0 mapm install acme/whole
is '[F4] with all that it holds' "$(installed)" 'whole'
like '[F4] and it says that there are others' "$err" 'offers 2 packages below its SKILL.md'
exits '[F4] skills below it are offered' 0 mapm install acme/whole --skill one
is '[F4] one of them' "$(installed)" 'one whole'
fresh
exits '[F4] and all of them' 0 mapm install acme/whole --all
is '[F4] with it, but none inside of one' "$(installed)" 'one two whole'
exits '[F4] --locked' 0 mapm install --locked
fresh
exits '[F4] also by its full URL' 0 mapm install https://github.com/acme/whole/tree/main --all
is '[F4] the same' "$(installed)" 'one two whole'
fresh
exits '[F4] and of a local folder' 0 mapm install "$r" --all
is '[F4] the same again' "$(installed)" 'one two whole'

# --- an AGENTS.md for those who work on the repository -------------------------

p=$T/project
mkdir -p "$p/src"
echo '# How to work on this' >"$p/AGENTS.md"
head -c 400000 /dev/urandom >"$p/src/data.bin"
make_repo acme/project "$p"
fresh
MAPM_HOME=$T/cold-project
reset_log
exits '[F4] a project is no package' 1 mapm install acme/project
like '[F4] and says what it offers' "$err" 'offers no skill, agent or MCP server'
at_most '[F4] before its files are fetched' "$(stat_of body_out)" 20000
printf -- '---\nname: boss\ndescription: An agent.\nversion: 1.0.0\n---\n\nDo it.\n' >"$p/AGENTS.md"
make_repo acme/boss "$p"
exits '[F4] an agent at the top is one' 0 mapm install acme/boss
ok '[F4] with its files' test -f .agents/agents/boss/src/data.bin
# --- a branch with a slash, and a path that could begin earlier ------------------

rm -rf "$s"
skill "$s/skills/pdf"
skill "$s/skills/docx"
skill "$s/x/skills/pdf"
make_repo acme/slashes "$s" feature/x
make_repo acme/slashes "$s" main
fresh
MAPM_HOME=$T/slashes
exits '[F4] --all of a branch with a slash leaves the ambiguous out' 3 \
    mapm install --yes --all https://github.com/acme/slashes/tree/feature/x
like '[F4] and says so' "$err" 'left out, .*pdf'
is '[F4] the others are installed' "$(installed)" docx
rm -rf .agents
MAPM_HOME=$T/slashes-colleague
exits '[F1] a colleague installs that lock' 0 mapm install --locked
exits '[F1] and verifies it' 0 mapm verify --remote
# --- deeper than is looked ---------------------------------------------------------

rm -rf "$s"
skill "$s/x/near"
skill "$s/1/2/3/4/5/6/7/8/9/10/11/12/13/deep"
make_repo acme/deep "$s"
fresh
MAPM_HOME=$T/cold-deep
exits '[F4] --all of a deep repository' 0 mapm install --yes --all acme/deep
is '[F4] takes what is near' "$(installed)" near
like '[F4] and says that there may be more' "$err" 'may offer more: "1/2/3/4/5/6/7/8/9/10/11/12/13"'
is '[F4] once' "$(printf '%s\n' "$err" | grep -c 'may offer more')" 1

# --- the words of other tools -----------------------------------------------------

fresh
exits '[D17] owner/repo@skill is a ref here' 1 mapm install acme/catalog@good
like '[D17] and for a skill there is another way' "$err" 'mapm install acme/catalog --skill good'
exits '[D17] each skill by a glob' 3 mapm install acme/catalog --skill '*' --yes
like '[D17] is installed' "$(mapm ls)" '^skill +good '

done_testing

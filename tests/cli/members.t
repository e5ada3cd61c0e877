#!/bin/sh
# A workspace with members: one mapm.lock, one version of an origin, a layer for
# each; what is refused; killed at any instant. [D10, M27, F13, D20, row 2, row 15].
. "$(dirname "$0")/../lib/cli.sh"

s=$T/src
U=https://github.com/acme/cat/tree
for name in pdf csv doc; do
    skill "$s/skills/$name" 'scope: acme'
done
skill "$s/skills/uses" 'scope: acme' 'dependencies:' '  skills:' "    - $U/main/skills/pdf"
skill "$T/other/skills/pdf" 'scope: acme' 'description: "Another one of that name."'
mcp "$s/mcps/io.acme_files.json" io.acme/files node '${workspaceDir}/files.js'
make_repo acme/cat "$s"
repo acme/cat tag v1.0.0 main
make_repo acme/other "$T/other"
start_githost
O=https://github.com/acme/other/tree/main/skills/pdf

json()
{
    printf '%s\n' "$out" | python3 -S -c "import json, sys; d = json.load(sys.stdin); print($1)"
}
# field NAME KEY: of the first entry of the lock with this name.
field()
{
    sed -n "/name: $(echo "$1" | sed 's,/,\\/,')\$/,/^  - /s/^    $2: //p" mapm.lock | head -n 1
}
# yaml FOLDER SKILL...: its mapm.yaml.
yaml()
{
    mkdir -p "$1"
    file=$1/mapm.yaml
    shift
    {
        echo 'dependencies:'
        echo '  skills:'
        for origin in "$@"; do
            echo "    - $origin"
        done
    } >"$file"
}
start()
{
    rm -rf "$T/ws" && mkdir "$T/ws" && cd "$T/ws" || exit 1
    printf 'members: [apps/*, services/api]\n' >mapm.yaml
    mkdir -p apps/web apps/cli apps/plain services/api
    for folder in apps/web apps/cli services/api; do
        echo '# of a member' >$folder/mapm.yaml
    done
}

# --- a layer each ------------------------------------------------------------------

start
exits 'install in a member' 0 mapm -C apps/web install acme/cat/skills/uses
like 'says of which' "$out" '\+ skill acme/uses \(apps/web\) 1\.0\.0'
like 'adds to its mapm.yaml' "$(cat apps/web/mapm.yaml)" "$U/main/skills/uses"
is 'not to that of the root' "$(cat mapm.yaml)" 'members: [apps/*, services/api]'
ok 'is provisioned there' test -f apps/web/.agents/skills/pdf/SKILL.md
not_ok 'not at the root' test -e .agents/skills
ok 'the lock is at the root' test -f mapm.lock
not_ok 'and nowhere else' test -e apps/web/mapm.lock
is '[F13] of version 2' "$(head -n 1 mapm.lock)" 'version: 2'
is '[F13] an entry says whose it is' "$(field acme/uses member)" '[apps/web]'
is '[F13] between path and needs' "$(sed -n '/name: acme\/uses/,$s/^    \([a-z]*\):.*/\1/p' mapm.lock | tail -n 3 | tr '\n' ' ')" \
    'path member needs '
exits 'another member' 0 mapm -C apps/cli install "$U/main/skills/pdf"
is 'has the same entry' "$(field acme/pdf member)" '[apps/cli, apps/web]'
is 'once' "$(grep -c 'name: acme/pdf' mapm.lock)" 1
exits 'the root' 0 mapm install "$U/main/skills/csv" --member .
like 'has entries without members' "$(sed -n '/name: acme\/csv/,$p' mapm.lock)" 'version: 1\.0\.0
'
is 'alone' "$(field acme/csv member)" ''
exits 'a package of the root and of a member' 0 mapm install --member . "$U/main/skills/pdf"
is 'names both' "$(field acme/pdf member)" '[., apps/cli, apps/web]'
cp mapm.lock "$T/lock"
snapshot . >"$T/before"
exits 'all again' 0 mapm install
like 'is in place' "$err" 'nothing to do'
is 'not a byte was written' "$(snapshot .)" "$(cat "$T/before")"

exits 'list at the root' 0 mapm list --member .
is 'is of the root' "$(printf '%s\n' "$out" | awk '{print $2}' | tr '\n' ' ')" 'acme/csv acme/pdf '
exits 'list in a member' 0 mapm -C apps/web list
is 'is of the member' "$(printf '%s\n' "$out" | awk '{print $2}' | tr '\n' ' ')" 'acme/pdf acme/uses '
exits 'tree in a member' 0 mapm -C apps/web tree
unlike 'has nothing of the root' "$out" csv
exits 'why in a member' 0 mapm -C apps/web why pdf
like 'has its chain' "$out" acme/uses
exits 'why of another one' 1 mapm -C apps/cli why uses
exits 'verify in a member' 0 mapm -C apps/web verify
like 'counts its packages' "$err$out" '^2 packages'
exits 'verify at the root' 0 mapm verify
exits 'doctor in a member' 0 mapm -C apps/web doctor
exits 'outdated in a member' 0 mapm -C apps/web outdated
exits 'nothing was edited there' 0 mapm -C apps/web diff --exit-code
echo edited >>apps/web/.agents/skills/pdf/SKILL.md
exits 'an edit in a member' 3 mapm -C apps/web diff --exit-code
exits 'is none of another one' 0 mapm -C apps/cli diff --exit-code
exits 'restore undoes it' 0 mapm -C apps/web restore pdf
exits 'and it is as before' 0 mapm -C apps/web diff --exit-code
edit()
{
    for f in . apps/web apps/cli; do echo edited >>$f/.agents/skills/pdf/SKILL.md; done
}
edited=$(printf '%s\n' '.agents/skills/pdf' 'apps/cli/.agents/skills/pdf' 'apps/web/.agents/skills/pdf')
edit
exits '[D5, D10] a dry restore of all members' 0 mapm -C apps/web restore -r --dry-run pdf
is 'has paths from the root' "$(printf '%s\n' "$out" | sed 's/^would restore //' | sort)" "$edited"
exits '[D5, D10] restore --member' 0 mapm restore --member cli pdf
exits 'restores that one' 0 mapm -C apps/cli diff --exit-code
exits 'and no other' 3 mapm -C apps/web diff --exit-code
edit
exits '[D5, D10] restore -r' 0 mapm -C apps/web restore -r --json pdf
is 'restores all' "$(json '"\n".join(sorted(d["restored"]) + [d["backup"]])')" "$edited
.agents/.mapm/backup/1"
exits 'as they were' 0 mapm diff --exit-code
edit
exits '[D5, D10] restore at the root' 0 mapm restore pdf uses
exits 'is of all, by names of any' 0 mapm diff --exit-code
exits 'a name that none has' 1 mapm restore -r pdf nothing
exits 'a member without it' 1 mapm restore --member cli uses
rm -rf .agents/.mapm/backup

# --- what is provisioned -------------------------------------------------------------

rm -rf .agents apps/*/.agents services/api/.agents
exits 'install in a member provisions it' 0 mapm -C apps/web install
ok 'alone' test -e apps/web/.agents -a ! -e apps/cli/.agents -a ! -e .agents
exits '--member does, too' 0 mapm install --member cli
ok 'by its last name' test -e apps/cli/.agents/skills/pdf -a ! -e .agents
exits '-r in a member provisions all' 0 mapm -C apps/web install -r
ok 'the root, too' test -f .agents/skills/csv/SKILL.md
rm -rf .agents apps/*/.agents
exits 'and so does the root' 0 mapm install
ok 'of all' test -e .agents -a -e apps/web/.agents -a -e apps/cli/.agents
ok 'with one lock' cmp -s mapm.lock "$T/lock"
exits '--locked' 0 mapm install --locked
yaml apps/cli "$U/main/skills/pdf" "$U/main/skills/doc"
exits '--locked is about all members' 1 mapm -C apps/web install --locked
like 'and names the one' "$err" 'doc'
exits 'install in one locks the others' 0 mapm -C apps/web install
like 'and says that it does' "$out" 'acme/doc \(apps/cli, locked only\)'
is '[D10, D4] and counts those of its member' "$(sed -n 's/^\([0-9]*\) package.* in .*\/apps\/web.*/\1/p' "$T/err")" \
    "$(mapm -C apps/web list | grep -c .)"
is 'in the lock' "$(field acme/doc member)" '[apps/cli]'
not_ok 'not in the folder' test -e apps/cli/.agents/skills/doc
exits 'which has it later' 0 mapm -C apps/cli install --locked
ok 'from the lock' test -f apps/cli/.agents/skills/doc/SKILL.md
exits '--json' 0 mapm install --json
is 'has the member of each' "$(json 'sorted(set(p["member"] for p in d["packages"]))')" "['.', 'apps/cli', 'apps/web']"
exits 'dry run' 0 mapm -C apps/web install --dry-run "$U/main/skills/csv" --json
is 'has paths from the root' "$(json '[c["path"] for c in d["changes"] if ".agents/skills" in c["path"]]')" \
    "['apps/web/.agents/skills/csv']"
exits 'a subfolder' 0 mapm -C apps/plain install --dry-run
like 'uses the root, and says so' "$err" 'is the workspace: there is no mapm.yaml here \(mapm init makes one\)'
mkdir apps/web/src
exits 'a subfolder of a member' 0 mapm -C apps/web/src install --dry-run
like 'uses the member' "$err" '/apps/web is the workspace'
exits 'mapm init' 0 mapm -C apps/plain init
exits 'makes a new one' 0 mapm -C apps/plain install --dry-run
unlike 'and that is used' "$err" 'is the workspace'

# --- remove, update --------------------------------------------------------------------

exits 'remove in a member' 0 mapm -C apps/cli remove pdf
is 'leaves it to the others' "$(field acme/pdf member)" '[., apps/web]'
ok 'which have it' test -e apps/web/.agents/skills/pdf -a ! -e apps/cli/.agents/skills/pdf
exits 'remove of another ones' 1 mapm -C apps/cli remove uses
like 'says who has it' "$err" 'mapm remove --member apps/web uses'
exits 'remove from all' 0 mapm remove -r doc
not_ok 'is from all' grep -q acme/doc mapm.lock
exits 'nobody has it' 1 mapm remove -r doc

sed -i 's/^version:.*/version: 2.0.0/' "$s/skills/pdf/SKILL.md" "$s/skills/csv/SKILL.md"
make_repo acme/cat "$s"
repo acme/cat tag v2.0.0 main
exits 'outdated names those of the member' 3 mapm -C apps/web outdated
unlike 'alone' "$out" csv
exits 'update in a member' 0 mapm -C apps/web update
is 'moves what it has' "$(field acme/pdf version)" 2.0.0
is 'in all members: one version' "$(grep -c 'name: acme/pdf' mapm.lock)" 1
is 'and nothing else' "$(field acme/csv version)" 1.0.0
ok 'is provisioned there' grep -q 2.0.0 apps/web/.agents/skills/pdf/SKILL.md
ok 'alone' grep -q 1.0.0 .agents/skills/pdf/SKILL.md
exits 'update of a name at the root' 0 mapm update csv
is 'moves it' "$(field acme/csv version)" 2.0.0
ok 'and brings all members in step' grep -q 2.0.0 .agents/skills/pdf/SKILL.md
exits 'nothing is outdated' 0 mapm outdated

# --- names are a layer's own [M27] -------------------------------------------------------

start
yaml apps/web "$U/main/skills/pdf"
yaml apps/cli "$O"
exits 'one name of two packages' 0 mapm install
is 'is an entry each' "$(grep -c 'name: acme/pdf' mapm.lock)" 2
ok 'with the short name' test -f apps/web/.agents/skills/pdf/SKILL.md -a -f apps/cli/.agents/skills/pdf/SKILL.md
ok 'of another content' grep -q Another apps/cli/.agents/skills/pdf/SKILL.md
not_ok 'each' grep -q Another apps/web/.agents/skills/pdf/SKILL.md
exits 'is as it is locked' 0 mapm install --locked
exits 'is verified' 0 mapm -C apps/cli verify
exits '[S4] both are vendored' 0 mapm vendor
is '[S4] each with its digest in the name' "$(ls vendor/mapm/skill)" \
    "$(sed -n 's/^ *digest: sha256:\(.\{12\}\).*/acme__pdf@\1/p' mapm.lock | sort)"
exits '[S4] and installed from there' 0 env MAPM_HOME="$T/none" "$MAPM" install --vendored
rm -rf vendor
yaml apps/cli "$O" "$U/main/skills/uses"
exits 'in one member it is a conflict' 1 mapm install
like 'of that member' "$err" 'member apps/cli'
like 'as ever' "$err" 'claim the name of skill acme/pdf'
yaml apps/web "$U/v1.0.0/skills/uses"
yaml apps/cli "$U/main/skills/uses"
exits 'what two members need by other refs' 0 mapm install
yaml apps/web "{origin: $O, as: acme/second}"
yaml apps/cli "$O"
exits 'an alias' 0 mapm install
ok 'is the name of its origin' test -e apps/web/.agents/skills/second -a -e apps/cli/.agents/skills/second
yaml apps/cli "{origin: $O, as: acme/third}"
exits 'two of one origin' 1 mapm install
like 'are refused' "$err" 'is named acme/(second|third) by one member and acme/(second|third) by another'

# --- packages of the workspace itself, ranges, replacements -------------------------------

start
skill apps/web/skills/mine
skill apps/cli/skills/mine
skill apps/cli/skills/more 'dependencies:' '  skills:' '    - ./skills/mine'
exits 'an own package of a member' 0 mapm -C apps/web install ./skills/mine
like 'counts from its folder' "$(cat apps/web/mapm.yaml)" '- \./skills/mine$'
is 'and in the lock from the root' "$(field mine origin)" ./apps/web/skills/mine
is 'is linked' "$(readlink apps/web/.agents/skills/mine)" ../../skills/mine
exits 'another of the name, by need' 0 mapm -C apps/cli install ./skills/more
is 'is in the member, too' "$(readlink apps/cli/.agents/skills/mine)" ../../skills/mine
exits 'verify of it' 0 mapm -C apps/cli verify
exits 'remove of it' 0 mapm -C apps/web remove ./skills/mine
unlike 'takes the line' "$(cat apps/web/mapm.yaml)" mine
yaml apps/web "$U/^1/skills/pdf"
yaml apps/cli "$U/%3E=1.0/skills/pdf"
exits 'ranges of two members' 0 mapm install
is 'have one tag' "$(field acme/pdf tag)" v1.0.0
yaml apps/cli "$U/^2/skills/pdf"
exits 'or are a conflict' 1 mapm install
like 'of all' "$err" 'no version of .* is allowed by all'
start
yaml apps/web "$U/main/skills/pdf"
printf 'replace:\n  - from: https://github.com/acme/cat\n    to: https://github.com/acme/other\n' >>mapm.yaml
exits 'replace of the root' 0 mapm install
ok 'holds in members' grep -q Another apps/web/.agents/skills/pdf/SKILL.md
printf 'replace:\n  - from: https://github.com/acme/other\n    to: https://github.com/acme/cat\n' >>apps/web/mapm.yaml
exits 'replace of a member' 4 mapm install
like 'is refused' "$err" 'apps/web/mapm.yaml:5: "replace" is not for members'
start
yaml apps/web "$U/main/skills/pdf"
printf 'policy:\n  sources: [github.com/acme/other]\n' >>mapm.yaml
exits 'policy of the root' 4 mapm -C apps/web install
like 'holds in members' "$err" 'policy.sources does not allow'
start
yaml apps/web "file:$s/skills/doc"
mv apps/web/mapm.yaml apps/web/mapm.local.yaml && printf '{}\n' >apps/web/mapm.yaml
exits 'a folder of this machine' 0 mapm -C apps/web install
ok 'is in the lock of that member' grep -q acme/doc apps/web/mapm.local.lock
unlike 'and not in that of all' "$(cat mapm.lock 2>/dev/null)" acme/doc
exits 'as it is listed there' 0 mapm -C apps/web list
like 'alone' "$out" acme/doc

# --- servers -----------------------------------------------------------------------------

start
mkdir -p apps/web/.claude
exits 'a server of a member' 0 mapm -C apps/web install -y "$U/main/mcps/io.acme_files.json"
like 'has its folder as ${workspaceDir}' "$(cat apps/web/.mcp.json)" "$T/ws/apps/web/files.js"
not_ok 'and is not at the root' test -e .mcp.json
echo 'servers: start' >>mapm.yaml
exits '[D20] servers: start of the root' 0 mapm install -y
like '[D20] holds in members' "$(cat apps/web/.mcp.json)" '"start"'
printf '#!/bin/sh\necho "$@"\n' >"$T/node" && chmod +x "$T/node"
PATH=$T:$PATH exits '[D20] mapm start in a member' 0 mapm -C apps/web start io-acme-files
is '[D20] has its folder' "$out" "$T/ws/apps/web/files.js"
exits '[D20] mapm start at the root' 1 mapm start io-acme-files
printf 'dependencies:\n  mcps:\n    - %s\n' "$U/main/mcps/io.acme_files.json" >apps/cli/mapm.yaml
exits 'a server that only another member gets' 4 mapm -C apps/web install
like 'needs consent all the same' "$err" 'mcp io.acme/files would run'

# --- what is refused ------------------------------------------------------------------------

# refused WHAT STATUS MESSAGE: install at the root, and nothing is written
refused()
{
    snapshot . >"$T/before"
    exits "$1" "$2" mapm install
    like "$1: is refused" "$err" "$3"
    is "$1: and nothing is written" "$(snapshot .)" "$(cat "$T/before")"
}
for pattern in ../x /tmp 'apps/../..' . .. .git/x 'apps/.hidden' '**' 'apps/**' 'apps//web' 'a\b' -x; do
    start
    printf "members: ['%s']\n" "$pattern" >mapm.yaml
    refused "[row 2] members: $pattern" 1 'mapm.yaml:1: not a folder of members'
done
start
printf 'members: apps\n' >mapm.yaml
refused 'members that are no list' 1 'mapm.yaml:1: '
start
mkdir "$T/outside" && yaml "$T/outside" "$U/main/skills/pdf"
ln -s "$T/outside" apps/out
exits '[row 2] a link among the members' 0 mapm install
not_ok '[row 2] is passed over' test -e "$T/outside/.agents"
printf 'members: [apps/out]\n' >mapm.yaml
refused '[row 2] a link that is named' 4 'apps/out'
not_ok '[row 2] leads nowhere' test -e "$T/outside/.agents"
start
ln -s "$T/outside" services/link
printf 'members: [services/link/*]\n' >mapm.yaml
yaml "$T/outside/in" "$U/main/skills/pdf"
exits '[row 2] a pattern through a link' 0 mapm install
not_ok '[row 2] finds nothing' test -e "$T/outside/in/.agents"
start
rm apps/web/mapm.yaml && printf '{}\n' >"$T/real.yaml" && ln -s "$T/real.yaml" apps/web/mapm.yaml
exits 'a mapm.yaml that is a link' 0 mapm install
start
rm services/api/mapm.yaml
refused 'a named folder without mapm.yaml' 1 'services/api has no mapm.yaml'
like 'is told what to do' "$err" 'mapm init services/api'
start
printf 'members: [apps/*, apps/web, apps/w*]\n' >mapm.yaml
exits 'a folder that three patterns fit' 0 mapm -C apps/web install acme/cat/skills/csv
is 'is one member' "$(field acme/csv member)" '[apps/web]'
start
printf 'members: [apps, apps/web]\n' >mapm.yaml && printf '{}\n' >apps/mapm.yaml
refused 'a member in a member' 4 'apps/web lies in another member'
start
printf 'members: [x]\n' >apps/web/mapm.yaml
refused 'members of a member' 4 'apps/web/mapm.yaml:1: a member has no members'
start
printf 'version: 1\npackages: []\n' >apps/web/mapm.lock
refused 'a lock of a member' 1 'apps/web has a mapm.lock of its own'
like 'has a way out' "$err" 'remove apps/web/mapm.lock and run mapm install'
start
exits 'an unknown member' 1 mapm install --member nope
like 'is told the others' "$err" 'apps/cli'
mkdir -p services/web && printf '{}\n' >services/web/mapm.yaml
printf 'members: [apps/*, services/*]\n' >mapm.yaml
exits 'a name of two members' 2 mapm install --member web
like 'is told both' "$err" 'services/web'
start
i=0
while [ $i -le 500 ]; do
    mkdir -p many/m$i && echo '{}' >many/m$i/mapm.yaml
    i=$((i + 1))
done
printf 'members: [many/*]\n' >mapm.yaml
refused 'too many' 1 'more than 500 members'
mapm init "$T/plain" -q >/dev/null 2>&1
exits '--member without members' 1 mapm -C "$T/plain" install --member x
like 'says how to have some' "$err" 'members: \[apps/\*\]'
start
printf 'members:\n  - apps/web\n  - apps/web\n' >mapm.yaml
exits 'a folder that is named twice' 0 mapm install

# A clone is not a member of what lies around it unless that says so.
mkdir -p vendor/clone && yaml vendor/clone "$U/main/skills/pdf"
exits 'a workspace that no pattern fits' 0 mapm -C vendor/clone install
ok 'has a lock of its own' test -f vendor/clone/mapm.lock

# --- a hostile lock ---------------------------------------------------------------------------

start
yaml apps/web "$U/main/skills/uses"
yaml apps/cli "$U/main/skills/pdf"
mapm install -q
cp mapm.lock "$T/good"
# damaged SED MESSAGE
damaged()
{
    sed "$1" "$T/good" >mapm.lock
    exits "[F13] a lock with $1" 1 mapm install ${3-}
    like '[F13] is refused' "$err" "$2"
}
damaged 's/member: \[apps\/web\]/member: [..\/x]/' 'not a member, or not in order'
damaged 's/member: \[apps\/web\]/member: [.]/' 'names the root alone'
damaged 's/member: \[apps\/cli, apps\/web\]/member: [apps\/web, apps\/cli]/' 'not in order'
damaged 's/member: \[apps\/cli, apps\/web\]/member: [apps\/cli]/' 'needs skill acme/pdf, which is not in this file' --locked
damaged 's/^version: 2/version: 1/' 'needs version 2'
cp "$T/good" mapm.lock
exits 'the good one' 0 mapm install --locked
# A second entry of an origin with another folder: its name could not lead there.
python3 -S - "$T/good" <<'PYTHON' >mapm.lock
import re, sys
text = open(sys.argv[1]).read()
entry = re.search(r"  - type: skill\n    name: acme/pdf\n(?:    .*\n)*", text).group()
one = entry.replace("[apps/cli, apps/web]", "[apps/cli]").replace("path: .agents/skills/pdf", "path: .agents/skills/trusted")
print(text.replace(entry, one + entry.replace("[apps/cli, apps/web]", "[apps/web]")), end="")
PYTHON
exits 'a folder that no name leads to' 1 mapm install --locked

# --- catalogs, patches -----------------------------------------------------------------------

start
exits '[D11] a catalog of a member' 0 mapm -C apps/web install acme/cat --skill 'c*'
like '[D11] is in its mapm.yaml' "$(cat apps/web/mapm.yaml)" 'origin: https://github.com/acme/cat/tree/main'
printf 'dependencies:\n  catalogs:\n    - %s\n' "$U/main" >apps/cli/mapm.yaml
exits '[D11] one of another member' 0 mapm install -y
ok '[D11] is chosen from at the root' test -f apps/cli/.agents/skills/doc/SKILL.md
skill "$s/skills/chart" 'scope: acme'
make_repo acme/cat "$s"
sed -i 's/^version:.*/version: 2.5.0/' "$s/skills/csv/SKILL.md"
make_repo acme/cat "$s"
exits '[D1, D10] outdated at the root' 3 mapm outdated
like '[D1, D10] shows what the members have' "$out" '^skill acme/csv .* -> 2\.5\.0 '
like '[D11] and what is new in their catalogs' "$err" 'acme/cat/tree/main: skill .*chart'
exits '[D11] update at the root' 0 mapm update -y
exits '[D1, D10] then nothing is' 0 mapm outdated
ok '[D11] takes what is new for both' test -d apps/web/.agents/skills/chart -a -d apps/cli/.agents/skills/chart
exits '[D11] as it is locked' 0 mapm install --locked
echo 'Ours.' >>apps/web/.agents/skills/csv/SKILL.md
exits '[D7] a patch in a member' 0 mapm -C apps/web patch csv
ok '[D7] is there' test -f apps/web/.mapm/patches/skill-acme__csv.patch
is '[D7] and makes an entry of its own' "$(grep -c 'name: acme/csv' mapm.lock)" 2
exits '[D7] as it is locked' 0 mapm install --locked
not_ok '[D7] without it for others' grep -q 'Ours' apps/cli/.agents/skills/csv/SKILL.md
rm -rf apps/web/.agents
exits '[D7] made again' 0 mapm -C apps/web install --locked
ok '[D7] with it' grep -q 'Ours' apps/web/.agents/skills/csv/SKILL.md
sed -i 's/^version:.*/version: 3.0.0/' "$s/skills/csv/SKILL.md"
make_repo acme/cat "$s"
exits '[D7] an update of another member' 0 mapm -C apps/cli update -y
exits '[D7] leaves all as it is locked' 0 mapm install --locked
ok '[D7] patched' grep -q 'Ours' apps/web/.agents/skills/csv/SKILL.md
ok '[D7] and new' grep -q '3.0.0' apps/web/.agents/skills/csv/SKILL.md

# --- merge ---------------------------------------------------------------------------------------

start
git()
{
    command git -c user.name=t -c user.email=t@example.com -c init.defaultBranch=main "$@"
}
yaml apps/web "$U/main/skills/pdf"
mapm install -q && git init -q . && git add mapm.yaml mapm.lock apps services && git commit -qm one
git checkout -qb theirs && mapm -C apps/cli install -q "$U/main/skills/csv" "$U/main/skills/pdf" &&
    git add -A . && git commit -qm theirs
git checkout -q main && mapm -C services/api install -q "$U/main/skills/doc" "$U/main/skills/pdf" &&
    git add -A . && git commit -qm ours
git merge -q theirs >"$T/merge.log" 2>&1
ok 'two branches' grep -q '^<<<<<<<' mapm.lock
exits '[D13] install merges them' 0 mapm install
is '[D13] with the members of both' "$(field acme/pdf member)" '[apps/cli, apps/web, services/api]'
exits '[D13] to what it would be' 0 mapm install --locked

# --- killed, and many --------------------------------------------------------------------------------

start
yaml apps/web "$U/main/skills/pdf"
yaml apps/cli "$U/main/skills/pdf" "$U/main/skills/csv"
yaml services/api "$U/main/skills/doc"
MAPM_TEST_TOP=$T MAPM_TEST_URL=$U python3 -S "$ROOT/tests/lib/members.py" >"$T/killed"
cat "$T/killed" | sed 's/^/# /'
ok 'killed at any instant: the old or the new state of all members' grep -q '^fine$' "$T/killed"

# many COUNT: members with ten packages each; the seconds of a plan.
rm -rf "$T/ws" && mkdir "$T/ws" && cd "$T/ws" || exit 1
i=0
while [ $i -lt 10 ]; do
    skill "$T/wide/skills/w$i" 'scope: wide'
    i=$((i + 1))
done
make_repo acme/wide "$T/wide"
python3 -S - <<'PYTHON'
import os
for i in range(100):
    os.makedirs(f"apps/m{i}")
    with open(f"apps/m{i}/mapm.yaml", "w") as file:
        file.write("dependencies:\n  skills:\n")
        for k in range(10):
            file.write(f"    - https://github.com/acme/wide/tree/main/skills/w{k}\n")
PYTHON
echo 'members: [apps/*]' >mapm.yaml
before=$(requests)
exits '100 members with 10 packages each' 0 mapm install
is 'are 1000 folders' "$(ls -d apps/*/.agents/skills/w* | wc -l)" 1000
is 'and 10 entries' "$(grep -c 'type:' mapm.lock)" 10
at_most 'asked for once' $(($(requests) - before)) 4
exits 'again' 0 mapm install
like 'is in place' "$err" 'nothing to do, 1000 packages'
(ulimit -n 256 && mapm remove -r w0 >/dev/null 2>"$T/err")
is 'with few descriptors' "$(ls -d apps/*/.agents/skills/w* 2>/dev/null | wc -l)" 900
# --- only what is provisioned is fetched -------------------------------------------------

start
yaml apps/web "$U/main/skills/uses"
yaml apps/cli "$U/main/skills/pdf" "$U/main/skills/csv"
exits 'members with packages of their own' 0 mapm install
cp mapm.lock "$T/locked"
for option in '' --locked; do
    rm -rf "$MAPM_HOME" apps/*/.agents apps/*/.claude
    exits "[D10] a cold install in one${option:+, $option}" 0 mapm -C apps/web install $option
    ok 'has what it needs' test -f apps/web/.agents/skills/pdf/SKILL.md
    ok 'the lock is as it was' cmp mapm.lock "$T/locked"
    isnt 'of the other nothing was fetched' "$(mapm -C apps/cli --offline install >/dev/null 2>&1; echo $?)" 0
    exits 'which takes it when it is its turn' 0 mapm -C apps/cli install $option
    ok 'as all' test -f apps/cli/.agents/skills/csv/SKILL.md
    exits 'then all is there' 0 mapm install --locked
done

# --- commands that look ------------------------------------------------------------------

echo 'Edited.' >>apps/web/.agents/skills/pdf/SKILL.md
for words in list tree verify diff; do
    at_root=$(mapm $words 2>&1)
    is "[D10] $words at the root and with -r are one" "$(cd apps/cli && mapm $words -r 2>&1)" "$at_root"
    isnt 'and more than one member' "$(mapm $words --member cli 2>&1)" "$at_root"
    is 'which is what it sees itself' "$(cd apps/cli && mapm $words 2>&1)" "$(mapm $words --member cli 2>&1)"
done
like '[D10] list names members' "$(mapm list)" '^apps/cli:$'
like 'and so does tree' "$(mapm tree)" '^apps/web:$'
is '[D10] why has the chains of all' "$(mapm why pdf)" "$(printf 'member apps/cli -> skill acme/pdf\nmember apps/web -> skill acme/uses -> skill acme/pdf')"
like '[D10] verify names paths from the root' "$(mapm verify)" '^apps/web/.agents/skills/pdf/SKILL.md: changed'
mapm diff >"$T/patch"
ok '[D10] diff is a patch of the root' git apply --unsafe-paths -R --check "$T/patch"
is 'of a name, too' "$(mapm diff pdf)" "$(cat "$T/patch")"
exits 'a name that no member has' 1 mapm diff nothing
exits '[D10] list as JSON' 0 mapm list --json
is 'has members' "$(json 'sorted({p["member"] for p in d["packages"]})')" "['apps/cli', 'apps/web']"
exits 'tree as JSON' 0 mapm tree --json
is 'has them at roots' "$(json 'sorted({p["member"] for p in d["roots"]})')" "['apps/cli', 'apps/web']"
exits 'why as JSON' 0 mapm why pdf --json
is 'begins with them' "$(json 'd["chains"][0][0]')" "{'type': 'member', 'name': 'apps/cli'}"
exits '[D10] a picture' 2 mapm tree --dot
like 'is of one member' "$err" 'choose it with --member'
exits 'which is named' 0 mapm tree --dot --member web
for words in list tree 'why pdf' verify diff outdated; do
    exits "$words of no member" 1 mapm $words --member nobody
done
publish_pdf='description: "Changed."'
skill "$s/skills/pdf" 'scope: acme' "$publish_pdf"
make_repo acme/cat "$s"
exits '[D10] outdated in a member that has it not' 0 mapm outdated --member .
exits 'at the root' 3 mapm outdated
exits 'with -r' 3 mapm -C apps/cli outdated -r

# --- what verify must not pass -------------------------------------------------------------

# What install --locked refuses, verify names, and the other way round.
both()
{
    what=$1
    isnt "[D10, D2] --locked refuses $what" "$(mapm install --locked >/dev/null 2>&1; echo $?)" 0
    exits "verify names $what" 3 mapm verify
    like 'as of the manifest' "$(mapm verify --json)" '"differs": "(manifest|lock)"'
}
mapm restore -q --member web pdf
exits 'first all is well' 0 mapm verify
cp mapm.lock "$T/good"
sed -i 's#^    member: \[apps/cli\]#    member: [apps/gone]#' mapm.lock
both 'an entry of a missing member'
cp "$T/good" mapm.lock
sed -i 's/^    needs: .*//; /^$/d' mapm.lock
both 'an entry that lost its needs'
cp "$T/good" mapm.lock
cp apps/cli/mapm.yaml "$T/cli.yaml"
sed -i '/csv/d' apps/cli/mapm.yaml
both 'an entry that mapm.yaml has no more'
cp "$T/cli.yaml" apps/cli/mapm.yaml
echo 'policy: {sources: [github.com/other/*]}' >>mapm.yaml
both 'what policy.sources does not allow'
sed -i '/^policy/d' mapm.yaml
exits 'then all is well again' 0 mapm verify
done_testing

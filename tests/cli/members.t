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
exits 'install in a member succeeds' 0 mapm -C apps/web install acme/cat/skills/uses
like 'install in a member names the member of each added package' "$out" '\+ skill acme/uses \(apps/web\) 1\.0\.0'
like 'install in a member adds the origin to the mapm.yaml of the member' "$(cat apps/web/mapm.yaml)" "$U/main/skills/uses"
is 'install in a member leaves the mapm.yaml of the root unchanged' "$(cat mapm.yaml)" 'members: [apps/*, services/api]'
ok 'install in a member provisions the needed skill in the folder of the member' test -f apps/web/.agents/skills/pdf/SKILL.md
not_ok 'install in a member provisions nothing at the root' test -e .agents/skills
ok 'install in a member writes mapm.lock at the root' test -f mapm.lock
not_ok 'install in a member writes no mapm.lock in the member' test -e apps/web/mapm.lock
is '[F13] the lock of a workspace with members has version 2' "$(head -n 1 mapm.lock)" 'version: 2'
is '[F13] a lock entry names the member that has the package' "$(field acme/uses member)" '[apps/web]'
is '[F13] the member key of a lock entry stands between path and needs' "$(sed -n '/name: acme\/uses/,$s/^    \([a-z]*\):.*/\1/p' mapm.lock | tail -n 3 | tr '\n' ' ')" \
    'path member needs '
exits 'install of the same package in a second member succeeds' 0 mapm -C apps/cli install "$U/main/skills/pdf"
is 'a package of two members has one lock entry that names both' "$(field acme/pdf member)" '[apps/cli, apps/web]'
is 'a package of two members appears once in the lock' "$(grep -c 'name: acme/pdf' mapm.lock)" 1
exits 'install --member . at the root succeeds' 0 mapm install "$U/main/skills/csv" --member .
like 'the lock entry of a package of the root ends with its version' "$(sed -n '/name: acme\/csv/,$p' mapm.lock)" 'version: 1\.0\.0
'
is 'the lock entry of a package of the root alone has no member key' "$(field acme/csv member)" ''
exits 'install --member . of a package that members have succeeds' 0 mapm install --member . "$U/main/skills/pdf"
is 'a lock entry of the root and of members lists all of them' "$(field acme/pdf member)" '[., apps/cli, apps/web]'
cp mapm.lock "$T/lock"
snapshot . >"$T/before"
exits 'a second install with nothing to change succeeds' 0 mapm install
like 'a second install reports nothing to do' "$err" 'nothing to do'
is 'a second install with nothing to change writes no byte' "$(snapshot .)" "$(cat "$T/before")"

exits 'list --member . succeeds' 0 mapm list --member .
is 'list --member . lists the packages of the root alone' "$(printf '%s\n' "$out" | awk '{print $2}' | tr '\n' ' ')" 'acme/csv acme/pdf '
exits 'list in a member succeeds' 0 mapm -C apps/web list
is 'list in a member lists the packages of that member alone' "$(printf '%s\n' "$out" | awk '{print $2}' | tr '\n' ' ')" 'acme/pdf acme/uses '
exits 'tree in a member succeeds' 0 mapm -C apps/web tree
unlike 'tree in a member shows no package of the root' "$out" csv
exits 'why in a member succeeds' 0 mapm -C apps/web why pdf
like 'why in a member shows the chain through the package of the member' "$out" acme/uses
exits 'why in a member fails for a package of another member' 1 mapm -C apps/cli why uses
exits 'verify in a member succeeds' 0 mapm -C apps/web verify
like 'verify in a member counts the packages of that member' "$err$out" '^2 packages'
exits 'verify at the root succeeds' 0 mapm verify
exits 'doctor in a member succeeds' 0 mapm -C apps/web doctor
exits 'outdated in a member succeeds where nothing is outdated' 0 mapm -C apps/web outdated
exits 'diff --exit-code in an unedited member exits with 0' 0 mapm -C apps/web diff --exit-code
echo edited >>apps/web/.agents/skills/pdf/SKILL.md
exits 'diff --exit-code in an edited member exits with 3' 3 mapm -C apps/web diff --exit-code
exits 'diff --exit-code in a member ignores an edit in another member' 0 mapm -C apps/cli diff --exit-code
exits 'restore in an edited member succeeds' 0 mapm -C apps/web restore pdf
exits 'restore in a member leaves no difference there' 0 mapm -C apps/web diff --exit-code
edit()
{
    for f in . apps/web apps/cli; do echo edited >>$f/.agents/skills/pdf/SKILL.md; done
}
edited=$(printf '%s\n' '.agents/skills/pdf' 'apps/cli/.agents/skills/pdf' 'apps/web/.agents/skills/pdf')
edit
exits '[D5, D10] restore -r --dry-run in a member succeeds' 0 mapm -C apps/web restore -r --dry-run pdf
is 'restore -r --dry-run lists the paths of all members relative to the root' "$(printf '%s\n' "$out" | sed 's/^would restore //' | sort)" "$edited"
exits '[D5, D10] restore --member at the root succeeds' 0 mapm restore --member cli pdf
exits 'restore --member restores the named member' 0 mapm -C apps/cli diff --exit-code
exits 'restore --member leaves the edit in another member' 3 mapm -C apps/web diff --exit-code
edit
exits '[D5, D10] restore -r --json in a member succeeds' 0 mapm -C apps/web restore -r --json pdf
is 'restore -r --json lists each restored path and the backup' "$(json '"\n".join(sorted(d["restored"]) + [d["backup"]])')" "$edited
.agents/.mapm/backup/1"
exits 'restore -r leaves no difference in any member' 0 mapm diff --exit-code
edit
exits '[D5, D10] restore at the root accepts names of different members' 0 mapm restore pdf uses
exits 'restore at the root restores the packages of all members' 0 mapm diff --exit-code
exits 'restore -r fails for a name that no member has' 1 mapm restore -r pdf nothing
exits 'restore --member fails for a package that this member does not have' 1 mapm restore --member cli uses
rm -rf .agents/.mapm/backup

# --- what is provisioned -------------------------------------------------------------

rm -rf .agents apps/*/.agents services/api/.agents
exits 'install in a member without provisioned folders succeeds' 0 mapm -C apps/web install
ok 'install in a member provisions neither other members nor the root' test -e apps/web/.agents -a ! -e apps/cli/.agents -a ! -e .agents
exits 'install --member at the root succeeds' 0 mapm install --member cli
ok 'install --member accepts the last component of the path of a member' test -e apps/cli/.agents/skills/pdf -a ! -e .agents
exits 'install -r in a member succeeds' 0 mapm -C apps/web install -r
ok 'install -r in a member provisions the root, too' test -f .agents/skills/csv/SKILL.md
rm -rf .agents apps/*/.agents
exits 'install at the root of unprovisioned members succeeds' 0 mapm install
ok 'install at the root provisions the root and its members' test -e .agents -a -e apps/web/.agents -a -e apps/cli/.agents
ok 'provisioning member by member leaves mapm.lock unchanged' cmp -s mapm.lock "$T/lock"
exits 'install --locked at the root succeeds with a current lock' 0 mapm install --locked
yaml apps/cli "$U/main/skills/pdf" "$U/main/skills/doc"
exits 'install --locked in one member fails when another member is not locked' 1 mapm -C apps/web install --locked
like 'the error of install --locked names the package that is not locked' "$err" 'doc'
exits 'install in one member succeeds when another member has a new package' 0 mapm -C apps/web install
like 'install in one member reports a package of another member as locked only' "$out" 'acme/doc \(apps/cli, locked only\)'
is '[D10, D4] install in a member counts the packages of that member' "$(sed -n 's/^\([0-9]*\) package.* in .*\/apps\/web.*/\1/p' "$T/err")" \
    "$(mapm -C apps/web list | grep -c .)"
is 'install in one member locks the new package of another member' "$(field acme/doc member)" '[apps/cli]'
not_ok 'install in one member does not provision the package of another member' test -e apps/cli/.agents/skills/doc
exits 'install --locked in the other member succeeds afterwards' 0 mapm -C apps/cli install --locked
ok 'install --locked provisions a package that another member locked' test -f apps/cli/.agents/skills/doc/SKILL.md
exits 'install --json at the root succeeds' 0 mapm install --json
is 'install --json names the member of each package' "$(json 'sorted(set(p["member"] for p in d["packages"]))')" "['.', 'apps/cli', 'apps/web']"
exits 'install --dry-run --json in a member succeeds' 0 mapm -C apps/web install --dry-run "$U/main/skills/csv" --json
is 'install --dry-run --json in a member has paths relative to the root' "$(json '[c["path"] for c in d["changes"] if ".agents/skills" in c["path"]]')" \
    "['apps/web/.agents/skills/csv']"
exits 'install --dry-run in a subfolder without mapm.yaml succeeds' 0 mapm -C apps/plain install --dry-run
like 'install in a subfolder without mapm.yaml says that the root is the workspace' "$err" 'is the workspace: there is no mapm.yaml here \(mapm init makes one\)'
mkdir apps/web/src
exits 'install --dry-run in a subfolder of a member succeeds' 0 mapm -C apps/web/src install --dry-run
like 'install in a subfolder of a member says that the member is the workspace' "$err" '/apps/web is the workspace'
exits 'init in a subfolder without mapm.yaml succeeds' 0 mapm -C apps/plain init
exits 'install --dry-run in a subfolder after init succeeds' 0 mapm -C apps/plain install --dry-run
unlike 'install in a subfolder after init names no other folder as the workspace' "$err" 'is the workspace'

# --- remove, update --------------------------------------------------------------------

exits 'remove in a member succeeds' 0 mapm -C apps/cli remove pdf
is 'remove in a member keeps the lock entry for the others' "$(field acme/pdf member)" '[., apps/web]'
ok 'remove in a member removes its folder alone' test -e apps/web/.agents/skills/pdf -a ! -e apps/cli/.agents/skills/pdf
exits 'remove in a member fails for a package of another member' 1 mapm -C apps/cli remove uses
like 'the error of remove shows the command for the member that has the package' "$err" 'mapm remove --member apps/web uses'
exits 'remove -r at the root succeeds' 0 mapm remove -r doc
not_ok 'remove -r removes the package from the lock' grep -q acme/doc mapm.lock
exits 'remove -r fails for a package that no member has' 1 mapm remove -r doc

sed -i 's/^version:.*/version: 2.0.0/' "$s/skills/pdf/SKILL.md" "$s/skills/csv/SKILL.md"
make_repo acme/cat "$s"
repo acme/cat tag v2.0.0 main
exits 'outdated in a member exits with 3 for a new version of its package' 3 mapm -C apps/web outdated
unlike 'outdated in a member does not list an outdated package of the root' "$out" csv
exits 'update in a member succeeds' 0 mapm -C apps/web update
is 'update in a member moves its package to the new version' "$(field acme/pdf version)" 2.0.0
is 'update in a member leaves one lock entry for all members' "$(grep -c 'name: acme/pdf' mapm.lock)" 1
is 'update in a member leaves a package of the root at its version' "$(field acme/csv version)" 1.0.0
ok 'update in a member provisions the new version there' grep -q 2.0.0 apps/web/.agents/skills/pdf/SKILL.md
ok 'update in a member does not provision the new version at the root' grep -q 1.0.0 .agents/skills/pdf/SKILL.md
exits 'update of a name at the root succeeds' 0 mapm update csv
is 'update of a name at the root moves that package to the new version' "$(field acme/csv version)" 2.0.0
ok 'update at the root provisions the locked version of other packages, too' grep -q 2.0.0 .agents/skills/pdf/SKILL.md
exits 'outdated exits with 0 after all packages are updated' 0 mapm outdated

# --- names are a layer's own [M27] -------------------------------------------------------

start
yaml apps/web "$U/main/skills/pdf"
yaml apps/cli "$O"
exits 'install succeeds when two members have different packages of one name' 0 mapm install
is 'packages of one name in two members have a lock entry each' "$(grep -c 'name: acme/pdf' mapm.lock)" 2
ok 'packages of one name keep the short name in their members' test -f apps/web/.agents/skills/pdf/SKILL.md -a -f apps/cli/.agents/skills/pdf/SKILL.md
ok 'the second member has the content of its own package' grep -q Another apps/cli/.agents/skills/pdf/SKILL.md
not_ok 'the first member does not have the content of the other package' grep -q Another apps/web/.agents/skills/pdf/SKILL.md
exits 'install --locked accepts packages of one name in two members' 0 mapm install --locked
exits 'verify in a member accepts packages of one name in two members' 0 mapm -C apps/cli verify
exits '[S4] vendor succeeds with packages of one name in two members' 0 mapm vendor
is '[S4] vendored packages of one name have their digest in the folder name' "$(ls vendor/mapm/skill)" \
    "$(sed -n 's/^ *digest: sha256:\(.\{12\}\).*/acme__pdf@\1/p' mapm.lock | sort)"
exits '[S4] install --vendored of packages of one name succeeds with an empty store' 0 env MAPM_HOME="$T/none" "$MAPM" install --vendored
rm -rf vendor
yaml apps/cli "$O" "$U/main/skills/uses"
exits 'install fails when one member gets two packages of one name' 1 mapm install
like 'the error of a name conflict names the member' "$err" 'member apps/cli'
like 'the error of a name conflict says that both claim the name' "$err" 'claim the name of skill acme/pdf'
yaml apps/web "$U/v1.0.0/skills/uses"
yaml apps/cli "$U/main/skills/uses"
exits 'install succeeds when members need a package by different refs' 0 mapm install
yaml apps/web "{origin: $O, as: acme/second}"
yaml apps/cli "$O"
exits 'install succeeds with an alias in one member' 0 mapm install
ok 'an alias in one member names that origin in all members' test -e apps/web/.agents/skills/second -a -e apps/cli/.agents/skills/second
yaml apps/cli "{origin: $O, as: acme/third}"
exits 'install fails when two members give one origin different aliases' 1 mapm install
like 'the error of different aliases names both' "$err" 'is named acme/(second|third) by one member and acme/(second|third) by another'

# --- packages of the workspace itself, ranges, replacements -------------------------------

start
skill apps/web/skills/mine
skill apps/cli/skills/mine
skill apps/cli/skills/more 'dependencies:' '  skills:' '    - ./skills/mine'
exits 'install of a package of the member by a relative path succeeds' 0 mapm -C apps/web install ./skills/mine
like 'a relative path in the mapm.yaml of a member is relative to that member' "$(cat apps/web/mapm.yaml)" '- \./skills/mine$'
is 'the lock has the path of a package of a member relative to the root' "$(field mine origin)" ./apps/web/skills/mine
is 'a package of a member is provisioned as a link to its folder' "$(readlink apps/web/.agents/skills/mine)" ../../skills/mine
exits 'install of another package of that name by need in a second member succeeds' 0 mapm -C apps/cli install ./skills/more
is 'the second member has a link to its own package of that name' "$(readlink apps/cli/.agents/skills/mine)" ../../skills/mine
exits 'verify in a member accepts its linked package' 0 mapm -C apps/cli verify
exits 'remove by relative path in a member succeeds' 0 mapm -C apps/web remove ./skills/mine
unlike 'remove by relative path takes the line out of the mapm.yaml' "$(cat apps/web/mapm.yaml)" mine
yaml apps/web "$U/^1/skills/pdf"
yaml apps/cli "$U/%3E=1.0/skills/pdf"
exits 'install succeeds when ranges of two members overlap' 0 mapm install
is 'ranges of two members resolve to one tag' "$(field acme/pdf tag)" v1.0.0
yaml apps/cli "$U/^2/skills/pdf"
exits 'install fails when ranges of two members do not overlap' 1 mapm install
like 'the error says that no version is allowed by all ranges' "$err" 'no version of .* is allowed by all'
start
yaml apps/web "$U/main/skills/pdf"
printf 'replace:\n  - from: https://github.com/acme/cat\n    to: https://github.com/acme/other\n' >>mapm.yaml
exits 'install succeeds with replace in the mapm.yaml of the root' 0 mapm install
ok 'replace of the root holds in members' grep -q Another apps/web/.agents/skills/pdf/SKILL.md
printf 'replace:\n  - from: https://github.com/acme/other\n    to: https://github.com/acme/cat\n' >>apps/web/mapm.yaml
exits 'install fails with replace in the mapm.yaml of a member' 4 mapm install
like 'the error says that replace is not for members' "$err" 'apps/web/mapm.yaml:5: "replace" is not for members'
start
yaml apps/web "$U/main/skills/pdf"
printf 'policy:\n  sources: [github.com/acme/other]\n' >>mapm.yaml
exits 'install in a member fails for a source that the root does not allow' 4 mapm -C apps/web install
like 'the error in the member names policy.sources of the root' "$err" 'policy.sources does not allow'
start
yaml apps/web "file:$s/skills/doc"
mv apps/web/mapm.yaml apps/web/mapm.local.yaml && printf '{}\n' >apps/web/mapm.yaml
exits 'install of an origin in mapm.local.yaml of a member succeeds' 0 mapm -C apps/web install
ok 'a package of mapm.local.yaml is in the mapm.local.lock of the member' grep -q acme/doc apps/web/mapm.local.lock
unlike 'a package of mapm.local.yaml is not in the shared mapm.lock' "$(cat mapm.lock 2>/dev/null)" acme/doc
exits 'list in a member with mapm.local.yaml succeeds' 0 mapm -C apps/web list
like 'list in a member shows its package of mapm.local.yaml' "$out" acme/doc

# --- servers -----------------------------------------------------------------------------

start
mkdir -p apps/web/.claude
exits 'install -y of a server in a member succeeds' 0 mapm -C apps/web install -y "$U/main/mcps/io.acme_files.json"
like 'a server of a member gets the folder of the member as ${workspaceDir}' "$(cat apps/web/.mcp.json)" "$T/ws/apps/web/files.js"
not_ok 'a server of a member is not configured at the root' test -e .mcp.json
echo 'servers: start' >>mapm.yaml
exits '[D20] install succeeds with servers: start in the mapm.yaml of the root' 0 mapm install -y
like '[D20] servers: start of the root holds in members' "$(cat apps/web/.mcp.json)" '"start"'
printf '#!/bin/sh\necho "$@"\n' >"$T/node" && chmod +x "$T/node"
PATH=$T:$PATH exits '[D20] mapm start in a member' 0 mapm -C apps/web start io-acme-files
is '[D20] mapm start in a member passes the folder of the member' "$out" "$T/ws/apps/web/files.js"
exits '[D20] mapm start at the root fails for a server of a member' 1 mapm start io-acme-files
printf 'dependencies:\n  mcps:\n    - %s\n' "$U/main/mcps/io.acme_files.json" >apps/cli/mapm.yaml
exits 'install in one member exits with 4 for a new server of another member' 4 mapm -C apps/web install
like 'the error shows the command that the server of another member would run' "$err" 'mcp io.acme/files would run'

# --- what is refused ------------------------------------------------------------------------

# refused WHAT STATUS MESSAGE: install at the root, and nothing is written
refused()
{
    snapshot . >"$T/before"
    exits "$1" "$2" mapm install
    like "$1: the error names the reason" "$err" "$3"
    is "$1: nothing is written" "$(snapshot .)" "$(cat "$T/before")"
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
exits '[row 2] install succeeds when a pattern for members matches a link' 0 mapm install
not_ok '[row 2] a link that a pattern for members matches is passed over' test -e "$T/outside/.agents"
printf 'members: [apps/out]\n' >mapm.yaml
refused '[row 2] a link that is named' 4 'apps/out'
not_ok '[row 2] nothing is written behind a link that members names' test -e "$T/outside/.agents"
start
ln -s "$T/outside" services/link
printf 'members: [services/link/*]\n' >mapm.yaml
yaml "$T/outside/in" "$U/main/skills/pdf"
exits '[row 2] install succeeds when a pattern for members passes through a link' 0 mapm install
not_ok '[row 2] a pattern for members finds nothing behind a link' test -e "$T/outside/in/.agents"
start
rm apps/web/mapm.yaml && printf '{}\n' >"$T/real.yaml" && ln -s "$T/real.yaml" apps/web/mapm.yaml
exits 'install passes over a member whose mapm.yaml is a link' 0 mapm install
start
rm services/api/mapm.yaml
refused 'a named folder without mapm.yaml' 1 'services/api has no mapm.yaml'
like 'the error of a member without mapm.yaml shows the init command' "$err" 'mapm init services/api'
start
printf 'members: [apps/*, apps/web, apps/w*]\n' >mapm.yaml
exits 'install succeeds when three patterns match one folder' 0 mapm -C apps/web install acme/cat/skills/csv
is 'a folder that three patterns match is one member' "$(field acme/csv member)" '[apps/web]'
start
printf 'members: [apps, apps/web]\n' >mapm.yaml && printf '{}\n' >apps/mapm.yaml
refused 'a member in a member' 4 'apps/web lies in another member'
start
printf 'members: [x]\n' >apps/web/mapm.yaml
refused 'members of a member' 4 'apps/web/mapm.yaml:1: a member has no members'
start
printf 'version: 1\npackages: []\n' >apps/web/mapm.lock
refused 'a lock of a member' 1 'apps/web has a mapm.lock of its own'
like 'the error of a lock of a member says how to repair it' "$err" 'remove apps/web/mapm.lock and run mapm install'
start
exits 'install --member fails for an unknown member' 1 mapm install --member nope
like 'the error of an unknown member lists the members' "$err" 'apps/cli'
mkdir -p services/web && printf '{}\n' >services/web/mapm.yaml
printf 'members: [apps/*, services/*]\n' >mapm.yaml
exits 'install --member exits with 2 for a name of two members' 2 mapm install --member web
like 'the error of an ambiguous member lists both paths' "$err" 'services/web'
start
i=0
while [ $i -le 500 ]; do
    mkdir -p many/m$i && echo '{}' >many/m$i/mapm.yaml
    i=$((i + 1))
done
printf 'members: [many/*]\n' >mapm.yaml
refused 'too many' 1 'more than 500 members'
mapm init "$T/plain" -q >/dev/null 2>&1
exits 'install --member fails in a workspace without members' 1 mapm -C "$T/plain" install --member x
like 'the error of --member without members shows how to declare members' "$err" 'members: \[apps/\*\]'
start
printf 'members:\n  - apps/web\n  - apps/web\n' >mapm.yaml
exits 'install succeeds when members lists a folder twice' 0 mapm install

# A clone is not a member of what lies around it unless that says so.
mkdir -p vendor/clone && yaml vendor/clone "$U/main/skills/pdf"
exits 'install in a workspace that no member pattern matches succeeds' 0 mapm -C vendor/clone install
ok 'a workspace that no member pattern matches gets its own mapm.lock' test -f vendor/clone/mapm.lock

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
    like '[F13] the error names the damage of the lock' "$err" "$2"
}
damaged 's/member: \[apps\/web\]/member: [..\/x]/' 'not a member, or not in order'
damaged 's/member: \[apps\/web\]/member: [.]/' 'names the root alone'
damaged 's/member: \[apps\/cli, apps\/web\]/member: [apps\/web, apps\/cli]/' 'not in order'
damaged 's/member: \[apps\/cli, apps\/web\]/member: [apps\/cli]/' 'needs skill acme/pdf, which is not in this file' --locked
damaged 's/^version: 2/version: 1/' 'needs version 2'
cp "$T/good" mapm.lock
exits 'install --locked accepts the undamaged lock' 0 mapm install --locked
# A second entry of an origin with another folder: its name could not lead there.
python3 -S - "$T/good" <<'PYTHON' >mapm.lock
import re, sys
text = open(sys.argv[1]).read()
entry = re.search(r"  - type: skill\n    name: acme/pdf\n(?:    .*\n)*", text).group()
one = entry.replace("[apps/cli, apps/web]", "[apps/cli]").replace("path: .agents/skills/pdf", "path: .agents/skills/trusted")
print(text.replace(entry, one + entry.replace("[apps/cli, apps/web]", "[apps/web]")), end="")
PYTHON
exits 'install --locked refuses a second entry of an origin with another folder' 1 mapm install --locked

# --- catalogs, patches -----------------------------------------------------------------------

start
exits '[D11] install of a catalog in a member succeeds' 0 mapm -C apps/web install acme/cat --skill 'c*'
like '[D11] the catalog is written to the mapm.yaml of the member' "$(cat apps/web/mapm.yaml)" 'origin: https://github.com/acme/cat/tree/main'
printf 'dependencies:\n  catalogs:\n    - %s\n' "$U/main" >apps/cli/mapm.yaml
exits '[D11] install -y succeeds with a catalog of another member' 0 mapm install -y
ok '[D11] install -y at the root installs the skills of a catalog of a member' test -f apps/cli/.agents/skills/doc/SKILL.md
skill "$s/skills/chart" 'scope: acme'
make_repo acme/cat "$s"
sed -i 's/^version:.*/version: 2.5.0/' "$s/skills/csv/SKILL.md"
make_repo acme/cat "$s"
exits '[D1, D10] outdated at the root exits with 3 for packages of members' 3 mapm outdated
like '[D1, D10] outdated at the root lists an outdated package of a member' "$out" '^skill acme/csv .* -> 2\.5\.0 '
like '[D11] outdated at the root names new skills in the catalogs of members' "$err" 'acme/cat/tree/main: skill .*chart'
exits '[D11] update -y at the root succeeds' 0 mapm update -y
exits '[D1, D10] outdated exits with 0 after the update' 0 mapm outdated
ok '[D11] update -y at the root adds new skills of a catalog to both members' test -d apps/web/.agents/skills/chart -a -d apps/cli/.agents/skills/chart
exits '[D11] install --locked succeeds after the update' 0 mapm install --locked
echo 'Ours.' >>apps/web/.agents/skills/csv/SKILL.md
exits '[D7] patch in a member succeeds' 0 mapm -C apps/web patch csv
ok '[D7] patch in a member writes the patch file in that member' test -f apps/web/.mapm/patches/skill-acme__csv.patch
is '[D7] a patched package of one member has a lock entry of its own' "$(grep -c 'name: acme/csv' mapm.lock)" 2
exits '[D7] install --locked succeeds with a patch in one member' 0 mapm install --locked
not_ok '[D7] a patch of one member does not change the files of another' grep -q 'Ours' apps/cli/.agents/skills/csv/SKILL.md
rm -rf apps/web/.agents
exits '[D7] install --locked in the member provisions the patched package again' 0 mapm -C apps/web install --locked
ok '[D7] a patched package that is provisioned again has the patch' grep -q 'Ours' apps/web/.agents/skills/csv/SKILL.md
sed -i 's/^version:.*/version: 3.0.0/' "$s/skills/csv/SKILL.md"
make_repo acme/cat "$s"
exits '[D7] update in another member succeeds beside a patch' 0 mapm -C apps/cli update -y
exits '[D7] install --locked succeeds after the update beside a patch' 0 mapm install --locked
ok '[D7] the patched package keeps its patch after the update' grep -q 'Ours' apps/web/.agents/skills/csv/SKILL.md
ok '[D7] the patched package has the new version after the update' grep -q '3.0.0' apps/web/.agents/skills/csv/SKILL.md

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
ok 'a merge of two branches leaves conflict markers in mapm.lock' grep -q '^<<<<<<<' mapm.lock
exits '[D13] install resolves conflict markers in mapm.lock' 0 mapm install
is '[D13] the merged lock has the members of both branches' "$(field acme/pdf member)" '[apps/cli, apps/web, services/api]'
exits '[D13] install --locked accepts the merged lock' 0 mapm install --locked

# --- killed, and many --------------------------------------------------------------------------------

start
yaml apps/web "$U/main/skills/pdf"
yaml apps/cli "$U/main/skills/pdf" "$U/main/skills/csv"
yaml services/api "$U/main/skills/doc"
MAPM_TEST_TOP=$T MAPM_TEST_URL=$U python3 -S "$ROOT/tests/lib/members.py" >"$T/killed"
cat "$T/killed" | sed 's/^/# /'
ok 'a kill at any instant leaves the old or the new state of all members' grep -q '^fine$' "$T/killed"

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
exits 'install of 100 members with 10 packages each succeeds' 0 mapm install
is 'install of 100 members with 10 packages each provisions 1000 folders' "$(ls -d apps/*/.agents/skills/w* | wc -l)" 1000
is '100 members with the same 10 packages have 10 lock entries' "$(grep -c 'type:' mapm.lock)" 10
at_most '100 members with the same packages need at most 4 requests' $(($(requests) - before)) 4
exits 'a second install of 100 members succeeds' 0 mapm install
like 'a second install of 100 members reports nothing to do' "$err" 'nothing to do, 1000 packages'
(ulimit -n 256 && mapm remove -r w0 >/dev/null 2>"$T/err")
is 'remove -r in 100 members succeeds with 256 descriptors' "$(ls -d apps/*/.agents/skills/w* 2>/dev/null | wc -l)" 900
# --- only what is provisioned is fetched -------------------------------------------------

start
yaml apps/web "$U/main/skills/uses"
yaml apps/cli "$U/main/skills/pdf" "$U/main/skills/csv"
exits 'install of members with different packages succeeds' 0 mapm install
cp mapm.lock "$T/locked"
for option in '' --locked; do
    rm -rf "$MAPM_HOME" apps/*/.agents apps/*/.claude
    exits "[D10] a cold install in one member succeeds${option:+, $option}" 0 mapm -C apps/web install $option
    ok 'a cold install in one member provisions what it needs' test -f apps/web/.agents/skills/pdf/SKILL.md
    ok 'a cold install in one member leaves mapm.lock unchanged' cmp mapm.lock "$T/locked"
    isnt 'a cold install in one member fetches nothing for another member' "$(mapm -C apps/cli --offline install >/dev/null 2>&1; echo $?)" 0
    exits 'a later install in the other member succeeds' 0 mapm -C apps/cli install $option
    ok 'a later install in the other member provisions its package' test -f apps/cli/.agents/skills/csv/SKILL.md
    exits 'install --locked at the root succeeds after the installs in members' 0 mapm install --locked
done

# --- commands that look ------------------------------------------------------------------

echo 'Edited.' >>apps/web/.agents/skills/pdf/SKILL.md
for words in list tree verify diff; do
    at_root=$(mapm $words 2>&1)
    is "[D10] $words at the root and with -r in a member print the same" "$(cd apps/cli && mapm $words -r 2>&1)" "$at_root"
    isnt 'each of these commands prints less with --member than at the root' "$(mapm $words --member cli 2>&1)" "$at_root"
    is 'each of these commands prints the same in a member as with --member' "$(cd apps/cli && mapm $words 2>&1)" "$(mapm $words --member cli 2>&1)"
done
like '[D10] list at the root has a heading for each member' "$(mapm list)" '^apps/cli:$'
like 'tree at the root has a heading for each member' "$(mapm tree)" '^apps/web:$'
is '[D10] why at the root shows the chains of all members' "$(mapm why pdf)" "$(printf 'member apps/cli -> skill acme/pdf\nmember apps/web -> skill acme/uses -> skill acme/pdf')"
like '[D10] verify at the root names paths relative to the root' "$(mapm verify)" '^apps/web/.agents/skills/pdf/SKILL.md: changed'
mapm diff >"$T/patch"
ok '[D10] diff at the root is a patch that applies at the root' git apply --unsafe-paths -R --check "$T/patch"
is 'diff of a name at the root equals the diff of all' "$(mapm diff pdf)" "$(cat "$T/patch")"
exits 'diff fails for a name that no member has' 1 mapm diff nothing
exits '[D10] list --json at the root succeeds' 0 mapm list --json
is 'list --json has the member of each package' "$(json 'sorted({p["member"] for p in d["packages"]})')" "['apps/cli', 'apps/web']"
exits 'tree --json at the root succeeds' 0 mapm tree --json
is 'tree --json has the member of each root' "$(json 'sorted({p["member"] for p in d["roots"]})')" "['apps/cli', 'apps/web']"
exits 'why --json at the root succeeds' 0 mapm why pdf --json
is 'each chain of why --json begins with the member' "$(json 'd["chains"][0][0]')" "{'type': 'member', 'name': 'apps/cli'}"
exits '[D10] tree --dot at the root exits with 2' 2 mapm tree --dot
like 'the error of tree --dot suggests --member' "$err" 'choose it with --member'
exits 'tree --dot --member succeeds' 0 mapm tree --dot --member web
for words in list tree 'why pdf' verify diff outdated; do
    exits "$words of an unknown member fails" 1 mapm $words --member nobody
done
publish_pdf='description: "Changed."'
skill "$s/skills/pdf" 'scope: acme' "$publish_pdf"
make_repo acme/cat "$s"
exits '[D10] outdated --member . exits with 0 when the root lacks the package' 0 mapm outdated --member .
exits 'outdated at the root exits with 3 for a package of a member' 3 mapm outdated
exits 'outdated -r in a member exits with 3 for a package of another member' 3 mapm -C apps/cli outdated -r

# --- what verify must not pass -------------------------------------------------------------

# What install --locked refuses, verify names, and the other way round.
both()
{
    what=$1
    isnt "[D10, D2] --locked refuses $what" "$(mapm install --locked >/dev/null 2>&1; echo $?)" 0
    exits "verify reports $what" 3 mapm verify
    like 'verify --json reports a difference of manifest or lock' "$(mapm verify --json)" '"differs": "(manifest|lock)"'
}
mapm restore -q --member web pdf
exits 'verify succeeds before the lock is changed' 0 mapm verify
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
exits 'verify succeeds with the restored lock and manifest' 0 mapm verify
done_testing

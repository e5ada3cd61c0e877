#!/bin/sh
# A month of a team: two machines with a clone each, five catalogs, and what happens to
# them. After each step the other clone installs by the lock alone and has the same
# bytes; mapm.lock is never edited by hand. [D1, D2, D3, D4, D5, D6, D7, D8, D9, D10, D11, D13, D14, D20].
. "$(dirname "$0")/../lib/cli.sh"

U=https://github.com
git()
{
    command git -c user.name=t -c user.email=t@example.com -c core.autocrlf=false \
        -c init.defaultBranch=main -c merge.conflictStyle=merge -c advice.detachedHead=false "$@"
}
# at WHO: on the machine of one of them.
at()
{
    who=$1
    cd "$T/$who" && MAPM_HOME=$T/home-$who && export MAPM_HOME
}
# publish OWNER/NAME [VERSION SKILL...]: its folder as the next commit, in which these have changed.
publish()
{
    catalog=$1 version=${2-}
    [ $# -lt 2 ] || shift
    shift
    for name; do
        sed -i "s/^version:.*/version: $version/" "$T/src/$catalog/skills/$name/SKILL.md"
    done
    make_repo "$catalog" "$T/src/$catalog"
}
# block NAME: its entry in mapm.lock.
block()
{
    awk -v name="    name: $1" '/^  - type/ {if (keep) exit; text = ""} {text = text $0 "\n"}
        $0 == name {keep = 1} END {if (keep) printf "%s", text}' mapm.lock
}
field()
{
    block "$1" | sed -n "s/^    $2: //p"
}
# provisioned: all that is in this clone, without records of mapm and git.
provisioned()
{
    find . \( -path ./.git -o -path '*/.agents/.mapm' \) -prune -o ! -type d -printf '%m %p -> %l\n' |
        LC_ALL=C sort
    find . \( -path ./.git -o -path '*/.agents/.mapm' \) -prune -o -type f -print0 |
        LC_ALL=C sort -z | xargs -0 sha256sum
}
# same WHAT: both clones hold by the lock alone, with the same bytes.
same()
{
    for clone in ann bob; do
        at $clone
        exits "$1: install --locked succeeds for $clone" 0 mapm install --locked
        exits "$1: verify succeeds for $clone" 0 mapm verify
        provisioned >"$T/provisioned-$clone"
        is "$1: git status is clean after install and verify" "$(git status --porcelain)" ''
    done
    ok "$1: both clones have the same bytes" cmp "$T/provisioned-ann" "$T/provisioned-bob"
}
# save: a commit of all there is.   share WHAT: pushes it, and the other pulls.
save()
{
    git add -A && git commit -qm "$1"
}
share()
{
    author=$who
    git push -q --tags origin main || diag 'cannot push'
    for clone in ann bob; do
        [ $clone = "$author" ] || { at $clone && git pull -q --ff-only || diag 'cannot pull'; }
    done
    same "$1"
    at "$author"
}

# --- five catalogs --------------------------------------------------------------------

c=$T/src/acme/catalog
mcp "$c/mcps/io.acme_tool.json" io.acme/tool npx -y tool '${workspaceDir}'
for name in pdf docx notes; do
    skill "$c/skills/$name" 'scope: acme'
done
agent "$c/agents/boss" 'scope: acme' 'dependencies:' \
    '  mcps:' "    - $U/acme/catalog/tree/main/mcps/io.acme_tool.json" \
    '  skills:' "    - $U/acme/catalog/tree/main/skills/pdf" "    - $U/beta/tools/tree/main/skills/far"
skill "$T/src/beta/tools/skills/far" 'scope: beta'
skill "$T/src/beta/tools/skills/wide" 'scope: beta'
skill "$T/src/old/kit/skills/spin" 'scope: kit'
skill "$T/src/old/kit/skills/turn" 'scope: kit'
skill "$T/src/delta/forced/skills/alpha"
skill "$T/src/delta/forced/skills/gamma"
skill "$T/src/eps/ranged/skills/x" 'version: 1.2.0'
for catalog in acme/catalog beta/tools old/kit delta/forced eps/ranged; do
    publish $catalog
done
repo eps/ranged tag v1.2.0
start_githost
git init -q --bare "$T/team.git"
for who in ann bob; do
    git clone -q "$T/team.git" "$T/$who" 2>/dev/null
done

at ann
printf '%s\n' .agents .claude '/mapm.local.*' >.gitignore
printf 'clients: [claude]\nservers: start\n' >mapm.yaml
exits 'install --yes of packages of five catalogs succeeds' 0 mapm install --yes acme/catalog/agents/boss acme/catalog/skills/docx \
    acme/catalog/skills/notes beta/tools/skills/wide old/kit/skills/spin old/kit/skills/turn \
    delta/forced/skills/alpha delta/forced/skills/gamma 'eps/ranged/skills/x@^1.2'
ok 'install provisions the dependencies of an agent' test -f .agents/skills/pdf/SKILL.md -a -f .agents/skills/far/SKILL.md
mkdir "$T/bin"
printf '#!/bin/sh\necho "$@"\n' >"$T/bin/npx" && chmod 755 "$T/bin/npx"
exits '[D20] start of an installed server succeeds' 0 env PATH="$T/bin:$PATH" "$MAPM" start io-acme-tool
is '[D20] a server gets the path of its clone' "$out" "-y tool $T/ann"
save 'packages'
git push -q origin main
at bob
git pull -q
exits '[D20] start in a new clone exits with 4 before an install' 4 mapm start io-acme-tool
exits 'install --locked in a second clone succeeds' 0 mapm install --locked
like 'install --locked shows the command of the server' "$out" "runs: npx -y tool '\\$\{workspaceDir\}'"
same 'the first install'

# --- updates --------------------------------------------------------------------------

at ann
publish acme/catalog 1.1.0 pdf
exits '[D1] outdated exits with 3 after a release of one package' 3 mapm outdated
is 'outdated lists the released package alone' "$(printf '%s\n' "$out" | sed 's/([^)]*)//g; s/  */ /g')" 'skill acme/pdf 1.0.0 -> 1.1.0 main'
exits '[D5] update --diff succeeds' 0 mapm update --diff
like 'update --diff shows the change as a patch' "$out" '^\+version: 1\.1\.0$'
cp mapm.lock "$T/before.lock"
exits 'update of one released package succeeds' 0 mapm update
is '[D2] update changes four lines of the lock' "$(diff "$T/before.lock" mapm.lock | grep -c '^>')" 4
save 'pdf 1.1'
share 'an update'
exits '[D1] outdated exits with 0 after the update' 0 mapm outdated

# Two branches, each with another commit of the catalog.
git checkout -q -b ann-docx
publish acme/catalog 1.1.0 docx
exits 'update by name succeeds on the branch of ann' 0 mapm update acme/docx
save 'docx 1.1'
at bob
git checkout -q -b bob-far
publish beta/tools 1.1.0 far
echo 'no package' >"$c/README.md" && publish acme/catalog
exits 'update by name succeeds on the branch of bob' 0 mapm update far
save 'far 1.1'
git push -q origin bob-far
git checkout -q main
at ann
git fetch -q
ok '[D2] branches with updates of different packages merge' git merge -q -m 'far' origin/bob-far
exits 'install --locked accepts the merged lock' 0 mapm install --locked
like '[D4] install --locked reports the version that the merge brought' "$out$err" 'far 1\.0\.0 -> 1\.1\.0'
git checkout -q main && git merge -q ann-docx
share 'two branches'

# --- a conflict -----------------------------------------------------------------------

publish acme/catalog 1.2.0 notes
exits 'update of notes by ann succeeds' 0 mapm update notes
save 'notes 1.2'
git push -q origin main
at bob
publish acme/catalog 1.3.0 notes
exits 'a later update of notes by bob succeeds' 0 mapm update notes
newest=$(field acme/notes commit)
save 'notes 1.3'
git pull -q --no-rebase >/dev/null 2>&1
ok 'a merge of two updates of one package leaves conflict markers in mapm.lock' grep -q '^<<<<<<<' mapm.lock
exits '[D13] install --locked fails for conflict markers in mapm.lock' 1 mapm install --locked
exits '[D13] install resolves conflict markers in mapm.lock' 0 mapm install
is 'install resolves the conflict to the descendant commit' "$(field acme/notes commit)" "$newest"
save 'merged'
share 'a conflict'

# --- edits ----------------------------------------------------------------------------

at bob
echo 'A word of ours.' >>.agents/skills/pdf/SKILL.md
exits '[D5] diff of an edited skill succeeds' 0 mapm diff pdf
like 'diff shows the edited line' "$out" '^\+A word of ours\.$'
exits 'verify exits with 3 for an edited skill' 3 mapm verify
exits '[D5] restore of an edited skill succeeds' 0 mapm restore pdf
same 'an edit taken back'

# --- patches ----------------------------------------------------------------------------

at ann
printf '%s\n' '' '## Rules' '' 'One.' '' 'Two.' '' 'Three.' '' 'Four.' '' 'Five.' >>"$c/skills/notes/SKILL.md"
publish acme/catalog 1.4.0 notes
exits 'update to a longer text succeeds' 0 mapm update notes
save 'notes 1.4'
share 'before patches'
at bob
echo 'In the words of the team.' >>.agents/skills/notes/SKILL.md
exits '[D7] patch of an edited skill succeeds' 0 mapm patch notes
save 'notes, in our words'
git push -q origin main
at ann
git pull -q
exits '[D7] install --locked with the patch of another clone succeeds' 0 mapm install --locked
like '[D7] install --locked names the patch file' "$out$err" 'skill-acme__notes\.patch'
like '[D7] install --locked applies the patch' "$(cat .agents/skills/notes/SKILL.md)" '^In the words of the team\.$'
same 'a patch'
at ann
publish acme/catalog 1.5.0 notes
exits '[D7] update of a patched package succeeds' 0 mapm update notes
is '[D7] update moves the patched package to the new version' "$(field acme/notes version)" 1.5.0
like '[D7] update keeps the text of the patch' "$(cat .agents/skills/notes/SKILL.md)" '^In the words of the team\.$'
save 'notes 1.5'
share 'a patch on something newer'
# Both machines: one edits the patched text, the other updates the package.
at bob
sed -i 's/^One\.$/First./' .agents/skills/notes/SKILL.md
exits '[D7] patch of another edit succeeds' 0 mapm patch notes
save 'notes: first'
git push -q origin main
at ann
sed -i 's/^Three\.$/Third./' "$c/skills/notes/SKILL.md"
publish acme/catalog 1.6.0 notes
exits '[D7] update in the other clone succeeds meanwhile' 0 mapm update notes
save 'notes 1.6'
git pull -q --no-rebase >/dev/null 2>&1
is '[D7] the patch and the update merge without conflict' "$(git status --porcelain)" ''
share 'a patch and an update at once'
for words in 'First.' 'Third.' 'In the words of the team.'; do
    ok "[D7] the merged skill has the line: $words" grep -qxF "$words" .agents/skills/notes/SKILL.md
done
# Both edit the same line.
at bob
sed -i 's/^Four\.$/IV./' .agents/skills/notes/SKILL.md
exits '[D7] patch of a line in one clone succeeds' 0 mapm patch notes
save 'notes: IV'
git push -q origin main
at ann
sed -i 's/^Four\.$/4./' .agents/skills/notes/SKILL.md
exits '[D7] patch of the same line in the other clone succeeds' 0 mapm patch notes
save 'notes: 4'
git pull -q --no-rebase >/dev/null 2>&1
ok '[D7] two patches of one line conflict in the patch file' grep -q '^<<<<<<<' .mapm/patches/skill-acme__notes.patch
exits '[D7] install fails for conflict markers in a patch' 1 mapm install
like '[D7] the error names the patch file with the conflict' "$err" 'skill-acme__notes\.patch'
git checkout -q --theirs .mapm/patches/skill-acme__notes.patch
exits '[D7, D13] install succeeds after one side of the patch is chosen' 0 mapm install
ok '[D7, D13] install applies the chosen side of the patch' grep -qx 'IV\.' .agents/skills/notes/SKILL.md
save 'notes, merged'
share 'a conflict of patches'
at bob
sed -i 's/^In the words of the team\.$/In any words./; s/^Two\.$/2./' "$c/skills/notes/SKILL.md"
sed -i 's/^Two\.$/Second./' .agents/skills/notes/SKILL.md
exits '[D7] patch of a line that upstream changes succeeds' 0 mapm patch notes
publish acme/catalog 1.7.0 notes
cp mapm.lock "$T/before.lock"
exits '[D7] update exits with 3 when upstream changed the patched line' 3 mapm update notes
ok '[D7] update with a conflicting patch leaves mapm.lock unchanged' cmp mapm.lock "$T/before.lock"
exits '[D7] patch --remove succeeds' 0 mapm patch --remove notes
exits '[D7] update succeeds after the patch is removed' 0 mapm update notes
not_ok '[D7] patch --remove deletes the patch file' test -e .mapm/patches/skill-acme__notes.patch
save 'notes 1.7'
share 'a patch removed'

# --- packages of the team -------------------------------------------------------------

at ann
skill skills/house 'dependencies:' '  skills:' "    - $U/beta/tools/tree/main/skills/wide"
exits '[D8] install of a skill of the workspace succeeds' 0 mapm install ./skills/house
mkdir -p mcps && mcp mcps/io.team_db.json io.team/db npx -y db
exits '[D8] install --yes of a server of the workspace succeeds' 0 mapm install --yes ./mcps/io.team_db.json
save 'house'
git push -q origin main
at bob
git pull -q
exits 'install --locked of packages of the workspace succeeds in the other clone' 0 mapm install --locked
like 'install --locked shows the command of the server of the workspace' "$out" 'runs: npx -y db'
same 'packages of the team'
at bob
echo 'Live.' >>skills/house/SKILL.md
save 'house, edited'
share 'an edit of it'
mcp mcps/io.team_db.json io.team/db npx -y db2
exits '[D8] install --yes of a changed server of the workspace succeeds' 0 mapm install --yes
save 'db2'
git push -q origin main
at ann
git pull -q
exits 'install --locked of the changed server succeeds in the other clone' 0 mapm install --locked
like 'install --locked shows the changed command of the server' "$out" 'runs: npx -y db2'
same 'another command'

# --- gone upstream ----------------------------------------------------------------------

at ann
rm -r "$T/src/beta/tools/skills/wide"
publish beta/tools 1.2.0 far
exits '[D3] update exits with 3 for a package that is gone' 3 mapm update
like 'update names the package that is gone and its version' "$err" 'skill beta/wide is gone, and stays at 1\.0\.0'
is 'update moves the other package of the repository' "$(field beta/far version)" 1.2.0
save 'far 1.2'
share 'gone upstream'
exits 'outdated exits with 3 for a package that is gone' 3 mapm outdated
like 'outdated shows the package as gone' "$out" '^skill +beta/wide .*gone'
sed -i '/^dependencies:/,/skills\/wide$/d' skills/house/SKILL.md
exits 'install succeeds after the dependency is removed from its dependent' 0 mapm install
exits '[D3] remove of the package that is gone succeeds' 0 mapm remove beta/wide
save 'without wide'
share 'removed'

# --- renames ----------------------------------------------------------------------------

mkdir -p "$T/src/new" "$T/repos/new"
mv "$T/src/old/kit" "$T/src/new/kit" && mv "$T/repos/old/kit.git" "$T/repos/new/kit.git"
stop_githost
start_githost --moved old/kit=new/kit
exits 'install --locked follows a renamed repository' 0 mapm install --locked
publish new/kit 1.1.0 spin
exits 'update from a renamed repository succeeds' 0 mapm update
is 'update moves a package of the renamed repository' "$(field kit/spin version)" 1.1.0
save 'kit has moved'
share 'a repository that moved'
mv "$T/src/new/kit/skills/turn" "$T/src/new/kit/skills/whirl"
sed -i 's/turn/whirl/' "$T/src/new/kit/skills/whirl/SKILL.md"
publish new/kit
exits '[D3] update exits with 3 for a renamed package' 3 mapm update
like 'update names the former package as gone' "$err" 'skill kit/turn is gone, and stays at 1\.0\.0'
exits 'install of the renamed package succeeds' 0 mapm install new/kit/skills/whirl
exits 'remove of the former package succeeds' 0 mapm remove kit/turn
save 'whirl'
share 'a package that was renamed'

# --- a forced push ----------------------------------------------------------------------

echo 'Later.' >>"$T/src/delta/forced/skills/gamma/SKILL.md"
orphan=$(git -C "$T/src" hash-object -t tree /dev/null)
repo delta/forced update-ref -d refs/heads/main
publish delta/forced
repo delta/forced reflog expire --expire=now --all
repo delta/forced gc -q --prune=now
same 'a forced push'
at carl 2>/dev/null || { git clone -q "$T/team.git" "$T/carl" && at carl; }
exits '[D2] install --locked in a new clone fails after a forced push' 1 mapm install --locked --yes
like 'the error says that the commit is no longer served' "$err" 'its commit is no longer served'
like 'the error suggests an update by name' "$err" 'run mapm update (alpha|gamma)'
at ann
exits '[D2] update of both packages by name succeeds after a forced push' 0 mapm update alpha gamma
save 'forced'
share 'after the forced push'
at carl
git pull -q
exits '[D2] install --locked in the new clone succeeds after that update' 0 mapm install --locked --yes

# --- replacements -----------------------------------------------------------------------

at ann
cp -r "$c" "$T/desk"
echo 'A try.' >>"$T/desk/skills/docx/SKILL.md"
printf 'replace:\n  - {from: %s/acme/catalog//skills/docx, to: %s/desk/skills/docx}\n' $U "$T" >mapm.local.yaml
cp mapm.lock "$T/before.lock"
exits '[D9] install with a replacement in mapm.local.yaml succeeds' 0 mapm install
like 'install provisions the content of the replacement' "$(cat .agents/skills/docx/SKILL.md)" '^A try\.$'
ok 'a replacement leaves mapm.lock unchanged' cmp mapm.lock "$T/before.lock"
is 'git status is clean with a replacement' "$(git status --porcelain)" ''
exits 'install --locked accepts the replacement' 0 mapm install --locked
exits 'verify accepts the replacement' 0 mapm verify
publish acme/catalog 1.4.0 pdf
exits 'update of another package beside a replacement succeeds' 0 mapm update pdf
like 'update of another package keeps the replacement' "$(cat .agents/skills/docx/SKILL.md)" '^A try\.$'
save 'pdf 1.4'
git push -q origin main
at bob
git pull -q
exits 'install --locked succeeds in the clone without the replacement' 0 mapm install --locked
unlike 'the clone without the replacement has the locked content' "$(cat .agents/skills/docx/SKILL.md)" '^A try\.$'
exits 'verify succeeds in the clone without the replacement' 0 mapm verify
at ann
rm mapm.local.yaml
exits 'install succeeds after the replacement is removed' 0 mapm install
same 'a replacement and back'

# --- what another package manager locked ------------------------------------------------

at bob
skill "$c/skills/csv" 'scope: acme'
publish acme/catalog
cat >skills-lock.json <<J
{"version": 1, "skills": {"csv": {"source": "acme/catalog", "sourceType": "github",
 "skillPath": "skills/csv/SKILL.md", "computedHash": "$(
    { printf SKILL.md && cat "$c/skills/csv/SKILL.md"; } | sha256sum | cut -d' ' -f1)"}}}
J
exits '[D14] import of skills-lock.json succeeds' 0 mapm import
like 'import reports the same content as locked' "$err" 'csv: same content as locked'
rm skills-lock.json
save 'csv'
share 'an import'

# --- ranges -----------------------------------------------------------------------------

publish eps/ranged 1.3.0 x && repo eps/ranged tag v1.3.0
publish eps/ranged 2.0.0 x && repo eps/ranged tag v2.0.0
exits '[D6] outdated exits with 3 for a new tag in the range' 3 mapm outdated
like 'outdated shows the tag in the range and the newest tag' "$out" '^skill +x +v1\.2\.0 -> v1\.3\.0 -> v2\.0\.0'
exits '[D6] update of a package with a range succeeds' 0 mapm update x
is 'update stays in the range' "$(field x tag)" v1.3.0
save 'x 1.3'
git tag before-x-2
share 'a range'
exits '[D6] install of the package with another range succeeds' 0 mapm install 'eps/ranged/skills/x@^2'
is 'another range moves the package to its tag' "$(field x tag)" v2.0.0
save 'x 2'
share 'a range that moved'

# --- a catalog as a root ------------------------------------------------------------------

z=$T/src/zeta/all
for name in csv-read csv-write other; do
    skill "$z/skills/$name" 'scope: zeta'
done
publish zeta/all
at ann
exits '[D11] install of a catalog with a pattern succeeds' 0 mapm install zeta/all --skill 'csv-*'
like '[D11] a pattern makes the catalog one root of mapm.yaml' "$(cat mapm.yaml)" '^ +- origin: https://github.com/zeta/all/tree/main$'
save 'csv skills'
share 'a catalog'
skill "$z/skills/csv-join" 'scope: zeta'
publish zeta/all 1.1.0 csv-read
# One adds what is new, the other updates a package.
at bob
exits '[D11] update of one package of a catalog by name succeeds' 0 mapm update csv-read
not_ok '[D11] update by name adds no new package of the catalog' test -e .agents/skills/csv-join
save 'csv-read 1.1'
git push -q origin main
at ann
exits '[D11] update of all succeeds with a new package in the catalog' 0 mapm update
ok '[D11] update of all adds the new package of the catalog' test -f .agents/skills/csv-join/SKILL.md
save 'csv-join'
git pull -q --no-rebase >/dev/null 2>&1
[ -z "$(git status --porcelain)" ] || { mapm install && save 'merged'; } >"$T/merge.log" 2>&1
share 'a catalog on both sides'
rm -r "$z/skills/csv-write"
publish zeta/all
exits '[D3, D11] update exits with 3 for a package that left the catalog' 3 mapm update
like '[D3, D11] update names the package that left the catalog' "$err" 'zeta/csv-write'
ok '[D3, D11] update keeps the package that left the catalog' test -f .agents/skills/csv-write/SKILL.md
same 'a catalog without one'
at ann

# --- members ------------------------------------------------------------------------------

at ann
mkdir -p apps/web apps/cli
echo 'members: [apps/*]' >>mapm.yaml
echo '# of the web' >apps/web/mapm.yaml
echo '# of the command' >apps/cli/mapm.yaml
exits '[D10] install in a member succeeds' 0 mapm -C apps/web install acme/catalog/skills/csv
ok '[D10] install in a member provisions the package there' test -f apps/web/.agents/skills/csv/SKILL.md
exits '[D10, D20] install --yes of a server in a member succeeds' 0 mapm -C apps/web install --yes acme/catalog/mcps/io.acme_tool.json
save 'apps/web'
git push -q origin main
at bob
git pull -q
exits '[D10] install --locked in the other clone succeeds with a member' 0 mapm install --locked
exits '[D10, D20] start of the server in the member succeeds' 0 env PATH="$T/bin:$PATH" "$MAPM" -C apps/web start io-acme-tool
is '[D10, D20] the server gets the folder of the member' "$out" "-y tool $T/bob/apps/web"
same 'a member'
# Each in another member.
at bob
exits '[D10] install in another member succeeds' 0 mapm -C apps/cli install beta/tools/skills/far
save 'apps/cli'
git push -q origin main
at ann
publish acme/catalog 1.2.0 csv
exits '[D10] update in the first member succeeds meanwhile' 0 mapm -C apps/web update csv
save 'csv 1.2'
git pull -q --no-rebase >/dev/null 2>&1
[ -z "$(git status --porcelain)" ] || { mapm install && save 'merged'; } >"$T/merge.log" 2>&1
share 'two members'
ok '[D10] both members have their packages after the merge' test -f apps/cli/.agents/skills/far/SKILL.md -a -f apps/web/.agents/skills/csv/SKILL.md

# --- a switch of branches -----------------------------------------------------------------

at bob
git checkout -q before-x-2
exits '[D4] install --locked succeeds after a checkout of an older state' 0 mapm install --locked
like 'install --locked reports the older version' "$out$err" 'skill x 2\.0\.0 -> 1\.3\.0'
exits 'verify succeeds at the older state' 0 mapm verify
git checkout -q main
exits 'install --locked succeeds after the checkout of main' 0 mapm install --locked
same 'a switch of branches'
is 'list shows each package of the lock at the end' \
    "$(mapm list | awk '$1 ~ /^(agent|skill|mcp|plugin)$/ {print $1, $2}' | sort -u | wc -l)" "$(grep -c '^  - type' mapm.lock)"

done_testing

#!/bin/sh
# Ranges of versions over tags: what is chosen, what the lock says, one version of
# a package for all that need it. [D6]; HOSTS 10.
. "$(dirname "$0")/../lib/cli.sh"
s=$T/src
U=https://github.com/acme/catalog/tree
w=$PWD

# version NUMBER...: a commit in which skills/x is of this version, with its tags.
version()
{
    number=$1
    shift
    skill "$s/skills/x" 'scope: acme'
    sed -i "s/^version:.*/version: $number/" "$s/skills/x/SKILL.md"
    make_repo acme/catalog "$s"
    for tag; do repo acme/catalog tag "$tag" main; done
}
lock_of() { sed -n "/name: acme\/$1\$/,/^  - /p" mapm.lock | sed -n "s/^    $2: //p"; }
commit_of() { repo acme/catalog rev-parse "$1^{commit}"; }

skill "$s/skills/y" 'scope: acme'
version 1.2.0 v1.2.0 v1
version 1.3.0 v1.3.0
version 1.4.2
repo acme/catalog -c user.name=A -c user.email=a@example.org tag -a -m 'Version 1.4.2' v1.4.2 main
version 2.0.0 v2.0.0 v2.1.0-rc.1 v9 nightly-2026.1.1
start_githost

# --- one package -----------------------------------------------------------------

reset_log
exits 'install of a skill with a range of versions succeeds' 0 mapm install --yes 'acme/catalog/skills/x@^1.2'
range_requests=$(requests)
is 'the lock has the highest tag in the range' "$(lock_of x tag)" v1.4.2
is 'the lock has the commit of an annotated tag, not the tag object' "$(lock_of x commit)" "$(commit_of v1.4.2)"
is 'the lock has the origin of mapm.yaml with the range' "$(lock_of x origin)" "$U/^1.2/skills/x"
like 'mapm.yaml has the range in the origin' "$(cat mapm.yaml)" 'tree/\^1\.2/skills/x'
like 'a lock with a tag is of version 2' "$(head -n 1 mapm.lock)" 'version: 2'
like 'the installed skill is of the highest version in the range' "$(cat .agents/skills/x/SKILL.md)" '1\.4\.2'
cp mapm.lock "$T/lock"
reset_log
exits 'a second install with a range succeeds' 0 mapm install
is 'a second install with a range sends no request' "$(requests)" 0
ok 'a second install with a range leaves the lock unchanged' cmp mapm.lock "$T/lock"
mkdir "$T/tagged" && cd "$T/tagged" || exit 1
MAPM_HOME=$T/home2; export MAPM_HOME
reset_log
exits 'install of a skill with an exact tag succeeds' 0 mapm install --yes 'acme/catalog/skills/x@v1.4.2'
is 'install with a tag sends as many requests as with a range' "$range_requests" "$(requests)"
like 'a lock with an exact tag is of version 1' "$(head -n 1 mapm.lock)" 'version: 1'
cd "$w" || exit 1
unset MAPM_HOME

# --- the lock --------------------------------------------------------------------

rm -rf "$T/clone" && mkdir "$T/clone" && cp mapm.yaml mapm.lock "$T/clone" && cd "$T/clone" || exit 1
MAPM_HOME=$T/home3; export MAPM_HOME
version 1.5.0 v1.5.0
reset_log
exits 'install --locked of a range on another machine succeeds' 0 mapm install --locked --yes
is 'install --locked of a range lists no refs of the host' "$(stat_of by_cmd.ls-refs)" 0
like 'install --locked of a range installs the locked version' "$(cat .agents/skills/x/SKILL.md)" '1\.4\.2'
exits 'verify --remote of a locked range succeeds' 0 mapm verify --remote
for change in 's/tag: v1.4.2/tag: v2.0.0/' 's/tag: v1.4.2/tag: main/' '/tag: v1.4.2/d' 's/tag: .*/tag: -x/'; do
    cp "$T/lock" mapm.lock && sed -i "$change" mapm.lock
    exits "install fails with the lock changed by $change" 1 mapm install
    like 'the error names the wrong or missing tag in the lock' "$err" '(its tag|it has no tag|not a tag)'
done
cp "$T/lock" mapm.lock && sed -i 's/^version: 2/version: 1/' mapm.lock
exits 'install fails with a tag in a lock of version 1' 1 mapm install
like 'the error says that the tag needs version 2' "$err" '"tag" needs version 2'
cp "$T/lock" mapm.lock
cd "$w" || exit 1
unset MAPM_HOME

# --- update ----------------------------------------------------------------------

exits 'update of a range after a new tag succeeds' 0 mapm update --yes
is 'update takes the highest tag in the range' "$(lock_of x tag)" v1.5.0
is 'update writes the commit of the new tag into the lock' "$(lock_of x commit)" "$(commit_of v1.5.0)"
like 'update leaves the range in mapm.yaml unchanged' "$(cat mapm.yaml)" 'tree/\^1\.2/skills/x'
cp mapm.lock "$T/lock"
exits 'a second update of a range succeeds' 0 mapm update --yes
ok 'a second update leaves the lock unchanged' cmp mapm.lock "$T/lock"
repo acme/catalog tag -f v1.5.0 main~1 >/dev/null
exits 'install succeeds when the locked tag was moved' 0 mapm install
exits 'update fails when the locked tag was moved' 3 mapm update --yes
like 'the error names both commits and --accept-moved-tag' "$err" "tag v1\.5\.0 was moved from $(lock_of x commit | cut -c1-12) to $(commit_of v1.5.0 | cut -c1-12): .*mapm update --accept-moved-tag acme/x"
exits 'outdated fails when the locked tag was moved' 3 mapm outdated
like 'outdated reports the moved tag' "$err" 'acme/x: tag v1\.5\.0 was moved'
ok 'update and outdated with a moved tag leave the lock unchanged' cmp mapm.lock "$T/lock"
exits 'update --accept-moved-tag with a name succeeds' 0 mapm update --yes --accept-moved-tag x
is 'update --accept-moved-tag writes the new commit into the lock' "$(lock_of x commit)" "$(commit_of v1.5.0)"
repo acme/catalog tag -f v1.5.0 main >/dev/null
exits 'update --accept-moved-tag without a name succeeds' 0 mapm update --yes --accept-moved-tag
# a tag of the same content, after a history was rewritten
repo acme/catalog tag -f v1.5.0 "$(repo acme/catalog -c user.name=a -c user.email=a@b.c commit-tree -m empty 'main^{tree}')" >/dev/null
exits 'update fails when the locked tag was moved to the same content' 3 mapm update --yes
exits 'update --accept-moved-tag succeeds for the same content' 0 mapm update --yes --accept-moved-tag x
is 'update --accept-moved-tag writes the commit of the same content into the lock' "$(lock_of x commit)" "$(commit_of v1.5.0)"
exits 'update succeeds after --accept-moved-tag for the same content' 0 mapm update --yes
repo acme/catalog tag -d v1.5.0 >/dev/null
exits 'update succeeds when the locked tag is gone' 0 mapm update --yes
is 'update chooses the highest remaining tag when the locked tag is gone' "$(lock_of x tag)" v1.4.2
repo acme/catalog tag v1.5.0 main

# --- outdated ----------------------------------------------------------------------

reset_log
exits 'outdated with a newer tag in the range ends with exit code 3' 3 mapm outdated
like 'outdated shows the locked, the allowed and the newest tag' "$out" 'skill +acme/x +v1\.4\.2 -> v1\.5\.0 -> v2\.0\.0'
exits 'outdated --json with a newer tag in the range ends with exit code 3' 3 mapm outdated --json
like 'outdated --json has the allowed and the newest tag' "$(printf '%s' "$out" | tr -d '\n ')" '"tag":"v1\.4\.2","newest":"v2\.0\.0"'
exits 'update to the newest tag in the range succeeds' 0 mapm update --yes
exits 'outdated ends with exit code 0 when only a tag outside the range is newer' 0 mapm outdated
like 'outdated shows the newest tag outside the range' "$out" 'acme/x +v1\.5\.0 -> v1\.5\.0 -> v2\.0\.0'
cp mapm.lock "$T/lock"
skill "$s/skills/y" 'scope: acme' 'license: MIT'
make_repo acme/catalog "$s"
repo acme/catalog tag v1.6.0 main
exits 'outdated ends with exit code 0 when a newer tag has the same objects' 0 mapm outdated
like 'outdated shows no update for a newer tag with the same objects' "$out" 'v1\.5\.0 -> v1\.5\.0'
exits 'update succeeds when a newer tag has the same objects' 0 mapm update --yes
ok 'update leaves tag and commit in the lock for the same objects' cmp mapm.lock "$T/lock"
exits 'install --locked succeeds when a newer tag has the same objects' 0 mapm install --locked
repo acme/catalog tag -d v1.6.0 >/dev/null

# --- another ref for a root -------------------------------------------------------

exits 'install of NAME@RANGE for an installed root succeeds' 0 mapm install --yes 'x@>=2,<3'
is 'install of NAME@RANGE moves the root to a tag in the range' "$(lock_of x tag)" v2.0.0
is 'install of NAME@RANGE replaces the origin in mapm.yaml' "$(grep -c skills/x mapm.yaml)" 1
like 'mapm.yaml has the comma of a range escaped' "$(cat mapm.yaml)" 'tree/>=2%2C<3/skills/x'
exits 'install --locked reads the range with an escaped comma' 0 mapm install --locked
exits 'install of a package at another tag succeeds' 0 mapm install --yes 'acme/catalog/skills/x@v1.3.0'
is 'the lock has no tag for a root at an exact tag' "$(lock_of x tag)" ''
exits 'install of NAME@=VERSION succeeds' 0 mapm install --yes 'x@=1.4.2'
like 'mapm.yaml has the tag of the version for NAME@=VERSION' "$(cat mapm.yaml)" 'tree/v1\.4\.2/skills/x'
exits 'install of NAME@BRANCH succeeds' 0 mapm install --yes x@main
like 'mapm.yaml has the branch for NAME@BRANCH' "$(cat mapm.yaml)" 'tree/main/skills/x'
exits 'install of an unknown NAME@RANGE fails' 1 mapm install 'nothing@^1'
like 'the error names the unknown package' "$err" 'nothing'
exits 'install of a root at an unknown ref fails' 1 mapm install 'x@nothing'
is 'install of a root at an unknown ref leaves mapm.yaml unchanged' "$(grep -c tree/main/skills/x mapm.yaml)" 1

# --- what is refused ---------------------------------------------------------------

while read -r range hint; do
    exits "install refuses the range $range" 1 mapm install "acme/catalog/skills/x@$range"
    like 'the error suggests a valid range or names the newest tag' "$err" "$hint"
done <<'E'
^1.x \^1
1.x that is "\^1"$
v2.1.x that is "~2\.1"$
^1||^2 one range
==1.2.3 =1\.2\.3
=1.2 three numbers
^v1.2 without "v"
^3 newest is v2\.0\.0
^2.1 newest is v2\.0\.0
=7.0.0 newest is v2\.0\.0
E
exits 'install refuses a range with blanks' 1 mapm install 'acme/catalog/skills/x@>=1.2, <2'
like 'the error says that a range is written without blanks' "$err" 'without blanks'
exits 'install of a range that names a pre-release succeeds' 0 mapm install --yes --dry-run 'acme/catalog/skills/x@^2.1.0-rc.1'
exits 'install of a range that only a pre-release satisfies fails' 1 mapm install --yes --dry-run 'acme/catalog/skills/x@^2.1'
like 'the error suggests the range that allows the pre-release' "$err" 'v2\.1\.0-rc\.1 is a pre-release: \^2\.1\.0-0 allows it'
exits 'install of the suggested range with the pre-release succeeds' 0 mapm install --yes --dry-run 'acme/catalog/skills/x@^2.1.0-0'

# --- tags of a package --------------------------------------------------------------

version 3.0.0 v3.0.0 x-v0.1.0 x-v0.2.0 y-v9.9.9
exits 'install fails when no tag of the package itself is in the range' 1 mapm install 'x@^1'
like 'the error names the newest tag of the package itself' "$err" 'newest is x-v0\.2\.0'
exits 'install of a range over tags of the package succeeds' 0 mapm install --yes 'x@^0.1'
is 'the lock has the tag of the package in the range' "$(lock_of x tag)" x-v0.1.0
exits 'install of NAME@* succeeds' 0 mapm install --yes 'x@*'
is 'install of NAME@* takes the highest tag of the package' "$(lock_of x tag)" x-v0.2.0
repo acme/catalog tag -d x-v0.1.0 x-v0.2.0 y-v9.9.9 >/dev/null
repo acme/catalog tag 3.0.0 main~1
exits 'install fails when two tags of one version name two commits' 1 mapm install 'x@^3'
like 'the error names both tags of one version' "$err" 'v3\.0\.0 and 3\.0\.0 are one version on two commits'
repo acme/catalog tag -d 3.0.0 >/dev/null

# --- one version for all ------------------------------------------------------------

skill "$T/src-n/skills/narrow" 'dependencies:' '  skills:' "    - $U/~1.3/skills/x"
skill "$T/src-n/skills/wide" 'dependencies:' '  skills:' "    - $U/^1.2/skills/x"
skill "$T/src-n/skills/high" 'dependencies:' '  skills:' "    - $U/^2/skills/x"
skill "$T/src-n/skills/top" 'dependencies:' '  skills:' '    - https://github.com/beta/need/tree/main/skills/high'
skill "$T/src-n/skills/tag" 'dependencies:' '  skills:' "    - $U/v1.4.2/skills/x"
make_repo beta/need "$T/src-n"
rm -rf "$T/one" && mkdir "$T/one" && cd "$T/one" || exit 1
exits 'install of a skill that needs a wide range succeeds' 0 mapm install --yes beta/need/skills/wide
is 'the dependency has the highest tag in the wide range' "$(lock_of x tag)" v1.5.0
exits 'install of a second skill that needs a narrow range succeeds' 0 mapm install --yes beta/need/skills/narrow
is 'the dependency has the highest tag in both ranges' "$(lock_of x tag)" v1.3.0
is 'the lock has the shared dependency once' "$(grep -c 'name: acme/x' mapm.lock)" 1
like 'the lock has the second origin of the shared dependency' "$(cat mapm.lock)" 'also: \[.*/skills/x#'
cp mapm.lock "$T/lock"
exits 'install --locked with a dependency of two ranges succeeds' 0 mapm install --locked
ok 'install --locked leaves the lock with two ranges unchanged' cmp mapm.lock "$T/lock"
exits 'update with a dependency of two ranges succeeds' 0 mapm update --yes
ok 'update leaves the lock with two ranges unchanged' cmp mapm.lock "$T/lock"
exits 'verify --remote with a dependency of two ranges succeeds' 0 mapm verify --remote
MAPM_HOME=$T/home4; export MAPM_HOME
rm -rf .agents
exits 'install --locked of two ranges on another machine succeeds' 0 mapm install --locked --yes
unset MAPM_HOME
exits 'install of an exact tag outside the other ranges fails' 1 mapm install --yes beta/need/skills/tag
like 'the error says that no version of the dependency is allowed by all' "$err" 'no version of github\.com/acme/catalog skills/x is allowed by all'
like 'the error names the skill that needs the exact tag' "$err" '=1\.4\.2: tag'
exits 'install of a skill with a disjoint range fails' 1 mapm install --yes beta/need/skills/top
like 'the error lists the skill with the narrow range' "$err" '~1\.3: narrow'
like 'the error lists the skill with the wide range' "$err" '\^1\.2: wide'
like 'the error lists the disjoint range with the path from its root' "$err" '\^2: top -> high'
like '[D6] the error says that no version is in all ranges and names the newest' "$err" 'no version of it is in all of these ranges; the newest is v[0-9]'
ok 'the failed installs leave the lock unchanged' cmp mapm.lock "$T/lock"
exits 'remove of the skill with the narrow range succeeds' 0 mapm remove narrow
is 'remove of the narrow range leaves the tag of the dependency' "$(lock_of x tag)" v1.3.0
exits 'install of an exact tag within the other range succeeds' 0 mapm install --yes beta/need/skills/tag
is 'the dependency has the exact tag that is within the range' "$(lock_of x tag)" v1.4.2
exits 'update with an exact tag and a range succeeds' 0 mapm update --yes
is 'update keeps the exact tag that is within the range' "$(lock_of x tag)" v1.4.2
exits 'remove of the skill with the exact tag succeeds' 0 mapm remove tag
exits 'install of a range that the locked version satisfies succeeds' 0 mapm install --yes 'acme/catalog/skills/x@^1.3'
like 'list shows the origin of mapm.yaml with the range' "$(mapm list x)" "$(grep -o 'https:.*/x$' mapm.yaml | sed 's/\^/\\^/')"
is 'install of a range prefers the locked version to a higher one' "$(lock_of x tag)" v1.4.2
exits 'update after the exact tag is gone succeeds' 0 mapm update --yes
is 'update takes the highest tag after the exact tag is gone' "$(lock_of x tag)" v1.5.0

rm -rf "$T/one" && mkdir "$T/one" && cd "$T/one" || exit 1
exits 'install with patterns whose skills share a dependency succeeds' 0 mapm install --yes --skill 'w*' --skill 'n*' beta/need
is 'the dependency has one version for all skills of the patterns' "$(lock_of x tag)" v1.3.0
exits 'install --locked of skills by patterns succeeds' 0 mapm install --locked
rm -rf "$T/one" && mkdir "$T/one" && cd "$T/one" || exit 1
exits 'install --all ends with exit code 3 when ranges conflict' 3 mapm install --yes --all beta/need
is 'the first of the conflicting ranges decides the version' "$(lock_of x tag)" v2.0.0
is 'install --all installs the skills that agree with the first range' "$(ls .agents/skills | tr '\n' ' ')" 'high top x '
exits 'install --all --json ends with exit code 3 when ranges conflict' 3 mapm install --yes --all --json beta/need
is 'install --all --json lists the other skills as left out' "$(printf '%s\n' "$out" | python3 -c 'import json, sys
print(sorted((x["name"], x["code"]) for x in json.load(sys.stdin)["left_out"]))')" \
    "[('narrow', 'origin-conflict'), ('tag', 'origin-conflict'), ('wide', 'origin-conflict')]"
like 'install --all --json lists the ranges that conflict' "$out" 'no version of github\.com/acme/catalog skills/x is allowed by all that need it: .*~1\.3: narrow'
exits 'install --all --strict fails when ranges conflict' 1 mapm install --yes --all --strict beta/need
exits 'install --locked succeeds after skills were left out' 0 mapm install --locked
rm -rf "$T/one" && mkdir "$T/one" && cd "$T/one" || exit 1
exits 'install of a root with a narrow range succeeds' 0 mapm install --yes beta/need/skills/narrow
exits 'install --all beside a locked root ends with exit code 3' 3 mapm install --yes --all beta/need
is 'the locked version of the root decides the version' "$(lock_of x tag)" v1.3.0
is 'install --all adds the skills that agree with the locked version' "$(ls .agents/skills | tr '\n' ' ')" 'narrow wide x '

# --- catalogs -------------------------------------------------------------------------

rm -rf "$T/cat" && mkdir "$T/cat" && cd "$T/cat" || exit 1
MAPM_HOME=$T/home5; export MAPM_HOME
exits 'install --all of a catalog with a range succeeds' 0 mapm install --yes 'acme/catalog@^1.2' --all
is 'all packages of the catalog have the highest tag in the range' "$(lock_of x tag) $(lock_of y tag)" 'v1.5.0 v1.5.0'

fresh()
{
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
}
fresh
exits 'install --skill from a catalog with a range succeeds' 0 mapm install --yes 'acme/catalog@~1.3' --skill x
is 'the one skill of the catalog has the tag in the range' "$(lock_of x tag) $(lock_of y tag)" 'v1.3.0 '
like 'mapm.yaml has the skill of the catalog with the range' "$(cat mapm.yaml)" 'tree/~1\.3/skills/x$'
exits 'install --skill with a pattern and a range succeeds' 0 mapm install --yes 'acme/catalog@~1.3' --skill 'y*'
is 'the skill of the pattern has the tag in the range' "$(lock_of y tag)" v1.3.0
exits 'install --all of the catalog with another range succeeds' 0 mapm install --yes 'acme/catalog@^1.2,<1.5' --all
is '[D11] install --all with another range moves catalog and root in one entry' "$(lock_of x tag) $(lock_of y tag) $(grep -c tree/ mapm.yaml)" 'v1.4.2 v1.4.2 1'
exits 'install --locked of the catalog with another range succeeds' 0 mapm install --locked
exits 'install of a catalog with a range that no tag satisfies fails' 1 mapm install --yes 'acme/catalog@^7' --all
like 'the error names the newest tag of the catalog' "$err" 'the newest is v3\.0\.0'

# --- what shows the tag ----------------------------------------------------------------

exits 'list of a package with a tag succeeds' 0 mapm list
like 'list shows the tag of a package' "$out" 'acme/x .*\(tag v1\.4\.2\)'
exits 'list --json of a package with a tag succeeds' 0 mapm list --json
like 'list --json has the tag of a package' "$out" '"tag": "v1\.4\.2"'
exits 'tree of a package with a tag succeeds' 0 mapm tree
like 'tree shows the tag of a package' "$out" 'skill acme/x 1\.4\.2 \(tag v1\.4\.2\)'
exits 'tree --json of a package with a tag succeeds' 0 mapm tree --json
like 'tree --json has the tag of a package' "$out" '"tag": "v1\.4\.2"'
exits 'why for a package with a tag succeeds' 0 mapm why acme/x
like 'why shows the tag of a package' "$out" ' -> skill acme/x \(tag v1\.4\.2\)'
exits 'why --json for a package with a tag succeeds' 0 mapm why acme/x --json
like 'why --json has the tag of a package' "$out" '"tag": "v1\.4\.2"'

# --- replace: ----------------------------------------------------------------------------

make_repo fork/catalog "$s"
repo fork/catalog tag v1.2.9 main
mkdir -p "$T/repos/mirror" && git clone -q --mirror "$T/repos/acme/catalog.git" "$T/repos/mirror/catalog.git"
fresh
cat >mapm.yaml <<YAML
dependencies:
  skills:
    - $U/^1.2/skills/x
replace:
  - {from: https://github.com/acme/catalog, to: https://github.com/fork/catalog}
YAML
exits 'install with replace: and a fork succeeds' 0 mapm install --yes
is 'the lock has a tag and a commit of the fork' "$(lock_of x tag) $(lock_of x commit)" "v1.2.9 $(repo fork/catalog rev-parse main)"
is 'the lock has the origin in the fork' "$(lock_of x from)" 'https://github.com/fork/catalog/tree/^1.2/skills/x'
exits 'install --locked with a fork on another machine succeeds' 0 env MAPM_HOME="$T/home6" "$MAPM" install --locked --yes
exits 'verify --remote with a fork succeeds' 0 mapm verify --remote
repo fork/catalog tag v1.2.10 main
exits 'outdated ends with exit code 0 for a new tag of the fork with the same objects' 0 mapm outdated
sed -i 's/^version:.*/version: 1.9.0/' "$s/skills/x/SKILL.md"
make_repo fork/catalog "$s"
repo fork/catalog tag v1.9.0 main
exits 'outdated ends with exit code 3 for a new version in the fork' 3 mapm outdated
like 'outdated shows the tags of the fork' "$out" 'acme/x +v1\.2\.9 -> v1\.9\.0 -> v1\.9\.0'
exits 'update with a fork succeeds' 0 mapm update --yes
is 'update takes the highest tag of the fork' "$(lock_of x tag)" v1.9.0
like 'list shows the tag and the fork' "$(mapm list)" '\(tag v1\.9\.0\) \(from https://github.com/fork/catalog'
sed -i '/^replace/,$d' mapm.yaml
exits 'install after the removal of replace: succeeds' 0 mapm install --yes
is 'the lock has a tag of the original after the removal of replace:' "$(lock_of x tag) $(lock_of x from)" 'v1.5.0 '
cp mapm.lock "$T/lock"
mkdir -p "$XDG_CONFIG_HOME/mapm"
printf 'replace:\n  - {from: %s, to: %s}\n' https://github.com/acme/catalog https://github.com/mirror/catalog \
    >"$XDG_CONFIG_HOME/mapm/config.yaml"
rm -rf .agents && MAPM_HOME=$T/home7
exits 'install --locked with a mirror in the user configuration succeeds' 0 mapm install --locked --yes
ok 'install --locked with a mirror leaves the lock unchanged' cmp mapm.lock "$T/lock"
not_ok 'install --locked with a mirror writes no mapm.local.lock' test -e mapm.local.lock
exits 'verify --remote with a mirror succeeds' 0 mapm verify --remote
exits 'update with a mirror succeeds' 0 mapm update --yes
ok 'update with a mirror leaves the lock unchanged' cmp mapm.lock "$T/lock"
repo mirror/catalog tag -f v1.5.0 v1.2.0 >/dev/null
exits 'update fails when the mirror moved a tag' 3 mapm update --yes
like 'the error says that the tag was moved' "$err" 'tag v1\.5\.0 was moved from'
ok 'update with a tag moved by the mirror leaves the lock unchanged' cmp mapm.lock "$T/lock"
rm "$XDG_CONFIG_HOME/mapm/config.yaml" && MAPM_HOME=$T/mapm

# --- an update in conflict ----------------------------------------------------------------

# needs NAME RANGE VERSION: a skill of beta/team that needs x.
needs()
{
    skill "$T/src-t/skills/$1" "version: $3" 'dependencies:' '  skills:' "    - $U/$2/skills/x"
}
needs wide '^1.2' 1.0.0 && needs narrow '~1.3' 1.0.0
skill "$T/src-t/skills/user" 'dependencies:' '  skills:' '    - https://github.com/beta/team/tree/main/skills/narrow'
skill "$T/src-t/skills/other"
make_repo beta/team "$T/src-t"
fresh
exits 'install of three skills of a team succeeds' 0 mapm install --yes beta/team/skills/wide beta/team/skills/user beta/team/skills/other
is 'the dependency has the tag that satisfies all skills of the team' "$(lock_of x tag)" v1.3.0
before=$COMMIT
needs wide '^1.3' 1.1.0 && needs narrow '^2' 2.0.0 && skill "$T/src-t/skills/other" 'version: 3.0.0'
make_repo beta/team "$T/src-t"
block() { awk -v name="    name: $1" '/^  - type/ {if (keep) exit; text = ""} {text = text $0 "\n"}
    $0 == name {keep = 1} END {if (keep) printf "%s", text}' mapm.lock; }
narrow_before=$(block narrow)
exits 'update ends with exit code 3 when new ranges conflict' 3 mapm update --yes
like 'update holds the root that causes the conflict' "$err" 'skill user stays as it is, with all that it needs: no version of github\.com/acme/catalog skills/x'
like 'the error shows the chain of the root that is held' "$err" '\^2: user -> narrow'
like 'the error shows the other range of the conflict' "$err" '\^1\.3: wide'
like 'the error suggests mapm remove of the root that is held' "$err" 'mapm remove user'
is 'the lock entry of the dependency of the held root is unchanged' "$(block narrow)" "$narrow_before"
is 'the held root keeps the version of the shared dependency' "$(lock_of x tag)" v1.3.0
like 'update with a held root updates another package' "$(block other)" 'version: 3\.0\.0'
like 'update with a held root updates a package with a compatible range' "$(block wide)" 'version: 1\.1\.0'
exits 'install --locked succeeds after an update with a held root' 0 mapm install --locked
exits 'update --json ends with exit code 3 when a root is held' 3 mapm update --yes --json
like 'update --json lists the held root with the chains of the conflict' "$(printf '%s' "$out" | tr -d '\n ')" '"held":.*"name":"user".*"root":true.*"chains":\["\^1.3:wide","\^2:user->narrow","[^"]*newestisv3'
is 'update --json lists one package as unresolvable' "$(printf '%s\n' "$out" | grep -c unresolvable)" 1
exits 'outdated with a held root ends with exit code 3' 3 mapm outdated
like 'outdated shows the dependency of the held root' "$out" narrow
needs narrow '~1.3' 2.0.1
make_repo beta/team "$T/src-t"
exits 'update after the conflict is resolved succeeds' 0 mapm update --yes
like 'update after the conflict is resolved updates the dependency' "$(block narrow)" 'version: 2\.0\.1'
for name in wide narrow; do needs "$name" '^9' 9.0.0; done
skill "$T/src-t/skills/other" 'version: 4.0.0'
make_repo beta/team "$T/src-t"
exits 'update ends with exit code 3 for ranges that no tag satisfies' 3 mapm update --yes
is 'the shared dependency keeps its version when no tag satisfies' "$(lock_of x tag)" v1.3.0
like 'update updates a package beside ranges that no tag satisfies' "$(block other)" 'version: 4\.0\.0'

# --- versions of packages and of their tags -------------------------------------------------

fresh
skill "$T/src-v/skills/high" 'version: 2.5.0'
skill "$T/src-v/skills/low" 'version: 0.9.0'
skill "$T/src-v/skills/own" 'version: 1.0.0'
make_repo beta/versions "$T/src-v"
for tag in v2.0.0 own-v1.0.1; do repo beta/versions tag "$tag" main; done
exits 'install of a skill with a version above its tag succeeds' 0 mapm install --yes 'beta/versions@*' --skill high
like 'a version above its tag causes a warning' "$err" 'warning: .*skills/high: its version 2\.5\.0 exceeds that of its tag v2\.0\.0'
exits 'a second install of a skill with a version above its tag succeeds' 0 mapm install
unlike 'a second install does not repeat the warning of the version' "$err" exceeds
exits 'install of a skill with a version below the tag of the repository succeeds' 0 mapm install --yes 'beta/versions@*' --skill low
unlike 'a version below the tag of the repository causes no warning' "$err" 'its version'
exits 'install of a skill with a version below its own tag succeeds' 0 mapm install --yes 'beta/versions@*' --skill own
is 'the lock has the tag of the package itself' "$(lock_of own tag; sed -n 's/^    tag: own/own/p' mapm.lock)" own-v1.0.1
like 'a version below the tag of the package itself causes a warning' "$err" 'its version 1\.0\.0 is below that of its tag own-v1\.0\.1'
sed -i 's/^version: 1.0.0/version: 1.0.2/' "$T/src-v/skills/own/SKILL.md"
make_repo beta/versions "$T/src-v"
for tag in own-v1.0.2 v3.0.0; do repo beta/versions tag "$tag" main; done
exits 'outdated with a newer tag of the package itself ends with exit code 3' 3 mapm outdated
like 'outdated shows the tags of the package itself' "$out" 'skill +own +own-v1\.0\.1 -> own-v1\.0\.2 -> own-v1\.0\.2'
unlike 'outdated shows no update for a package with equal objects' "$out" ' high .* v3'
exits 'update to a newer tag of the package itself succeeds' 0 mapm update --yes
is 'update takes the newer tag of the package itself' "$(sed -n 's/^    tag: own/own/p' mapm.lock)" own-v1.0.2
unlike 'a version that agrees with its tag causes no warning' "$err" 'own.*its version'
repo beta/versions tag -f own-v1.0.2 own-v1.0.1 >/dev/null
exits 'update fails when a tag of the package itself was moved' 3 mapm update --yes
like 'the error says that the tag of the package was moved' "$err" 'tag own-v1\.0\.2 was moved from'
done_testing

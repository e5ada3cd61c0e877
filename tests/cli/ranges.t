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
exits 'a range on the command line' 0 mapm install --yes 'acme/catalog/skills/x@^1.2'
range_requests=$(requests)
is 'the highest in it' "$(lock_of x tag)" v1.4.2
is 'an annotated tag names its commit' "$(lock_of x commit)" "$(commit_of v1.4.2)"
is 'the lock has the origin of mapm.yaml' "$(lock_of x origin)" "$U/^1.2/skills/x"
like 'which has the range' "$(cat mapm.yaml)" 'tree/\^1\.2/skills/x'
like 'version 2' "$(head -n 1 mapm.lock)" 'version: 2'
like 'its content' "$(cat .agents/skills/x/SKILL.md)" '1\.4\.2'
cp mapm.lock "$T/lock"
reset_log
exits 'install again' 0 mapm install
is 'looks at no tag' "$(requests)" 0
ok 'and leaves the lock' cmp mapm.lock "$T/lock"
mkdir "$T/tagged" && cd "$T/tagged" || exit 1
MAPM_HOME=$T/home2; export MAPM_HOME
reset_log
exits 'a tag' 0 mapm install --yes 'acme/catalog/skills/x@v1.4.2'
is 'costs as many requests' "$range_requests" "$(requests)"
like 'and a lock of version 1' "$(head -n 1 mapm.lock)" 'version: 1'
cd "$w" || exit 1
unset MAPM_HOME

# --- the lock --------------------------------------------------------------------

rm -rf "$T/clone" && mkdir "$T/clone" && cp mapm.yaml mapm.lock "$T/clone" && cd "$T/clone" || exit 1
MAPM_HOME=$T/home3; export MAPM_HOME
version 1.5.0 v1.5.0
reset_log
exits 'a clone on another machine' 0 mapm install --locked --yes
is 'asks for no ref' "$(stat_of by_cmd.ls-refs)" 0
like 'and has what is locked' "$(cat .agents/skills/x/SKILL.md)" '1\.4\.2'
exits 'verify --remote' 0 mapm verify --remote
for change in 's/tag: v1.4.2/tag: v2.0.0/' 's/tag: v1.4.2/tag: main/' '/tag: v1.4.2/d' 's/tag: .*/tag: -x/'; do
    cp "$T/lock" mapm.lock && sed -i "$change" mapm.lock
    exits "a lock with $change" 1 mapm install
    like 'is refused' "$err" '(its tag|it has no tag|not a tag)'
done
cp "$T/lock" mapm.lock && sed -i 's/^version: 2/version: 1/' mapm.lock
exits 'a tag in version 1' 1 mapm install
like 'is a key of version 2' "$err" '"tag" needs version 2'
cp "$T/lock" mapm.lock
cd "$w" || exit 1
unset MAPM_HOME

# --- update ----------------------------------------------------------------------

exits 'update' 0 mapm update --yes
is 'takes the highest in range' "$(lock_of x tag)" v1.5.0
is 'and its commit' "$(lock_of x commit)" "$(commit_of v1.5.0)"
like 'the origin stays' "$(cat mapm.yaml)" 'tree/\^1\.2/skills/x'
cp mapm.lock "$T/lock"
exits 'again' 0 mapm update --yes
ok 'nothing to do' cmp mapm.lock "$T/lock"
repo acme/catalog tag -f v1.5.0 main~1 >/dev/null
exits 'install looks at no tag' 0 mapm install
exits 'a moved tag' 3 mapm update --yes
like 'is refused, with the way out' "$err" "tag v1\.5\.0 was moved from $(lock_of x commit | cut -c1-12) to $(commit_of v1.5.0 | cut -c1-12): .*mapm update --accept-moved-tag acme/x"
exits 'outdated' 3 mapm outdated
like 'says so, too' "$err" 'acme/x: tag v1\.5\.0 was moved'
ok 'and nothing was changed' cmp mapm.lock "$T/lock"
exits 'accepted' 0 mapm update --yes --accept-moved-tag x
is 'it moves' "$(lock_of x commit)" "$(commit_of v1.5.0)"
repo acme/catalog tag -f v1.5.0 main >/dev/null
exits 'and back' 0 mapm update --yes --accept-moved-tag
repo acme/catalog tag -d v1.5.0 >/dev/null
exits 'a tag that is gone' 0 mapm update --yes
is 'is no longer chosen' "$(lock_of x tag)" v1.4.2
repo acme/catalog tag v1.5.0 main

# --- outdated ----------------------------------------------------------------------

reset_log
exits 'outdated' 3 mapm outdated
like 'shows locked, allowed and newest' "$out" 'skill +acme/x +v1\.4\.2 -> v1\.5\.0 -> v2\.0\.0'
exits 'for programs' 3 mapm outdated --json
like 'has them, too' "$(printf '%s' "$out" | tr -d '\n ')" '"tag":"v1\.4\.2","newest":"v2\.0\.0"'
exits 'update' 0 mapm update --yes
exits 'only the newest is beyond' 0 mapm outdated
like 'and shown' "$out" 'acme/x +v1\.5\.0 -> v1\.5\.0 -> v2\.0\.0'
cp mapm.lock "$T/lock"
skill "$s/skills/y" 'scope: acme' 'license: MIT'
make_repo acme/catalog "$s"
repo acme/catalog tag v1.6.0 main
exits 'a newer tag with the same objects' 0 mapm outdated
like 'is no update' "$out" 'v1\.5\.0 -> v1\.5\.0'
exits 'nor for update' 0 mapm update --yes
ok 'tag and commit stay' cmp mapm.lock "$T/lock"
exits 'and install' 0 mapm install --locked
repo acme/catalog tag -d v1.6.0 >/dev/null

# --- another ref for a root -------------------------------------------------------

exits 'NAME@RANGE' 0 mapm install --yes 'x@>=2,<3'
is 'moves the root' "$(lock_of x tag)" v2.0.0
is 'and replaces it' "$(grep -c skills/x mapm.yaml)" 1
like 'a comma is escaped' "$(cat mapm.yaml)" 'tree/>=2%2C<3/skills/x'
exits 'and is read' 0 mapm install --locked
exits 'NAME@TAG' 0 mapm install --yes 'acme/catalog/skills/x@v1.3.0'
is 'has no tag in the lock' "$(lock_of x tag)" ''
exits 'NAME@=VERSION' 0 mapm install --yes 'x@=1.4.2'
like 'is stored as its tag' "$(cat mapm.yaml)" 'tree/v1\.4\.2/skills/x'
exits 'NAME@BRANCH' 0 mapm install --yes x@main
like 'is the branch' "$(cat mapm.yaml)" 'tree/main/skills/x'
exits 'a name that is not there' 1 mapm install 'nothing@^1'
like 'says so' "$err" 'nothing'
exits 'an unknown ref of a root' 1 mapm install 'x@nothing'
is 'leaves it' "$(grep -c tree/main/skills/x mapm.yaml)" 1

# --- what is refused ---------------------------------------------------------------

while read -r range hint; do
    exits "$range" 1 mapm install "acme/catalog/skills/x@$range"
    like 'says what to write' "$err" "$hint"
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
exits 'blanks' 1 mapm install 'acme/catalog/skills/x@>=1.2, <2'
like 'say so' "$err" 'without blanks'
exits 'a pre-release that is named' 0 mapm install --yes --dry-run 'acme/catalog/skills/x@^2.1.0-rc.1'
exits 'one that is not' 1 mapm install --yes --dry-run 'acme/catalog/skills/x@^2.1'
like 'is the hint' "$err" 'v2\.1\.0-rc\.1 is a pre-release: \^2\.1\.0-0 allows it'
exits 'which is right' 0 mapm install --yes --dry-run 'acme/catalog/skills/x@^2.1.0-0'

# --- tags of a package --------------------------------------------------------------

version 3.0.0 v3.0.0 x-v0.1.0 x-v0.2.0 y-v9.9.9
exits 'tags of its own come first' 1 mapm install 'x@^1'
like 'and are not mixed with others' "$err" 'newest is x-v0\.2\.0'
exits 'one of them' 0 mapm install --yes 'x@^0.1'
is 'is its version' "$(lock_of x tag)" x-v0.1.0
exits 'any' 0 mapm install --yes 'x@*'
is 'is the highest' "$(lock_of x tag)" x-v0.2.0
repo acme/catalog tag -d x-v0.1.0 x-v0.2.0 y-v9.9.9 >/dev/null
repo acme/catalog tag 3.0.0 main~1
exits 'two tags of one version' 1 mapm install 'x@^3'
like 'are named both' "$err" 'v3\.0\.0 and 3\.0\.0 are one version on two commits'
repo acme/catalog tag -d 3.0.0 >/dev/null

# --- one version for all ------------------------------------------------------------

skill "$T/src-n/skills/narrow" 'dependencies:' '  skills:' "    - $U/~1.3/skills/x"
skill "$T/src-n/skills/wide" 'dependencies:' '  skills:' "    - $U/^1.2/skills/x"
skill "$T/src-n/skills/high" 'dependencies:' '  skills:' "    - $U/^2/skills/x"
skill "$T/src-n/skills/top" 'dependencies:' '  skills:' '    - https://github.com/beta/need/tree/main/skills/high'
skill "$T/src-n/skills/tag" 'dependencies:' '  skills:' "    - $U/v1.4.2/skills/x"
make_repo beta/need "$T/src-n"
rm -rf "$T/one" && mkdir "$T/one" && cd "$T/one" || exit 1
exits 'a wide range' 0 mapm install --yes beta/need/skills/wide
is 'the highest' "$(lock_of x tag)" v1.5.0
exits 'and a narrow one' 0 mapm install --yes beta/need/skills/narrow
is 'one version for both' "$(lock_of x tag)" v1.3.0
is 'once' "$(grep -c 'name: acme/x' mapm.lock)" 1
like 'with both ranges' "$(cat mapm.lock)" 'also: \[.*/skills/x#'
cp mapm.lock "$T/lock"
exits 'a lock that says so' 0 mapm install --locked
ok 'stays' cmp mapm.lock "$T/lock"
exits 'update' 0 mapm update --yes
ok 'agrees' cmp mapm.lock "$T/lock"
exits 'verify --remote' 0 mapm verify --remote
MAPM_HOME=$T/home4; export MAPM_HOME
rm -rf .agents
exits 'on another machine' 0 mapm install --locked --yes
unset MAPM_HOME
exits 'a tag beside ranges' 1 mapm install --yes beta/need/skills/tag
like 'is a conflict' "$err" 'no version of github\.com/acme/catalog skills/x is allowed by all'
like 'which names it' "$err" '=1\.4\.2: tag'
exits 'without a common version' 1 mapm install --yes beta/need/skills/top
like 'every way is told' "$err" '~1\.3: narrow'
like 'each with its range' "$err" '\^1\.2: wide'
like 'from its root' "$err" '\^2: top -> high'
like '[D6] and that none is in all' "$err" 'no version of it is in all of these ranges; the newest is v[0-9]'
ok 'nothing was changed' cmp mapm.lock "$T/lock"
exits 'without the narrow one' 0 mapm remove narrow
is 'nothing moves' "$(lock_of x tag)" v1.3.0
exits 'a tag and a range that has it' 0 mapm install --yes beta/need/skills/tag
is 'is its version' "$(lock_of x tag)" v1.4.2
exits 'which is kept' 0 mapm update --yes
is 'by update' "$(lock_of x tag)" v1.4.2
exits 'without the tag' 0 mapm remove tag
exits 'the lock is preferred' 0 mapm install --yes 'acme/catalog/skills/x@^1.3'
like 'list has the origin of mapm.yaml' "$(mapm list x)" "$(grep -o 'https:.*/x$' mapm.yaml | sed 's/\^/\\^/')"
is 'to a higher version' "$(lock_of x tag)" v1.4.2
exits 'until the update' 0 mapm update --yes
is 'which takes it' "$(lock_of x tag)" v1.5.0

rm -rf "$T/one" && mkdir "$T/one" && cd "$T/one" || exit 1
exits 'patterns that share a package' 0 mapm install --yes --skill 'w*' --skill 'n*' beta/need
is 'one version for all' "$(lock_of x tag)" v1.3.0
exits 'a lock that says so' 0 mapm install --locked
rm -rf "$T/one" && mkdir "$T/one" && cd "$T/one" || exit 1
exits 'all, where ranges conflict' 3 mapm install --yes --all beta/need
is 'the first decides' "$(lock_of x tag)" v2.0.0
is 'with all that goes with it' "$(ls .agents/skills | tr '\n' ' ')" 'high top x '
exits 'for programs' 3 mapm install --yes --all --json beta/need
is 'the others are left out' "$(printf '%s\n' "$out" | python3 -c 'import json, sys
print(sorted((x["name"], x["code"]) for x in json.load(sys.stdin)["left_out"]))')" \
    "[('narrow', 'origin-conflict'), ('tag', 'origin-conflict'), ('wide', 'origin-conflict')]"
like 'with every way' "$out" 'no version of github\.com/acme/catalog skills/x is allowed by all that need it: .*~1\.3: narrow'
exits 'all or nothing' 1 mapm install --yes --all --strict beta/need
exits 'the lock is whole' 0 mapm install --locked
rm -rf "$T/one" && mkdir "$T/one" && cd "$T/one" || exit 1
exits 'beside a root' 0 mapm install --yes beta/need/skills/narrow
exits 'all, where one is there' 3 mapm install --yes --all beta/need
is 'what is locked decides' "$(lock_of x tag)" v1.3.0
is 'and what goes with it comes' "$(ls .agents/skills | tr '\n' ' ')" 'narrow wide x '

# --- catalogs -------------------------------------------------------------------------

rm -rf "$T/cat" && mkdir "$T/cat" && cd "$T/cat" || exit 1
MAPM_HOME=$T/home5; export MAPM_HOME
exits 'a catalog in a range' 0 mapm install --yes 'acme/catalog@^1.2' --all
is 'its packages have it' "$(lock_of x tag) $(lock_of y tag)" 'v1.5.0 v1.5.0'

fresh()
{
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
}
fresh
exits 'one skill of it' 0 mapm install --yes 'acme/catalog@~1.3' --skill x
is 'has the version' "$(lock_of x tag) $(lock_of y tag)" 'v1.3.0 '
like 'the root has the range' "$(cat mapm.yaml)" 'tree/~1\.3/skills/x$'
exits 'a pattern of it' 0 mapm install --yes 'acme/catalog@~1.3' --skill 'y*'
is 'has it, too' "$(lock_of y tag)" v1.3.0
exits 'another range for all' 0 mapm install --yes 'acme/catalog@^1.2,<1.5' --all
is '[D11] moves catalog and root' "$(lock_of x tag) $(lock_of y tag) $(grep -c tree/ mapm.yaml)" 'v1.4.2 v1.4.2 1'
exits 'and is locked' 0 mapm install --locked
exits 'a range that no tag satisfies' 1 mapm install --yes 'acme/catalog@^7' --all
like 'says what there is' "$err" 'the newest is v3\.0\.0'

# --- what shows the tag ----------------------------------------------------------------

exits 'list' 0 mapm list
like 'has the tag' "$out" 'acme/x .*\(tag v1\.4\.2\)'
exits 'list --json' 0 mapm list --json
like 'has the tag' "$out" '"tag": "v1\.4\.2"'
exits 'tree' 0 mapm tree
like 'has the tag' "$out" 'skill acme/x 1\.4\.2 \(tag v1\.4\.2\)'
exits 'tree --json' 0 mapm tree --json
like 'has the tag' "$out" '"tag": "v1\.4\.2"'
exits 'why' 0 mapm why acme/x
like 'has the tag' "$out" ' -> skill acme/x \(tag v1\.4\.2\)'
exits 'why --json' 0 mapm why acme/x --json
like 'has the tag' "$out" '"tag": "v1\.4\.2"'

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
exits 'a fork' 0 mapm install --yes
is 'has tags of its own' "$(lock_of x tag) $(lock_of x commit)" "v1.2.9 $(repo fork/catalog rev-parse main)"
is 'and stands in the lock' "$(lock_of x from)" 'https://github.com/fork/catalog/tree/^1.2/skills/x'
exits 'which is proved' 0 env MAPM_HOME="$T/home6" "$MAPM" install --locked --yes
exits 'verify --remote asks it' 0 mapm verify --remote
repo fork/catalog tag v1.2.10 main
exits 'outdated: the same objects' 0 mapm outdated
sed -i 's/^version:.*/version: 1.9.0/' "$s/skills/x/SKILL.md"
make_repo fork/catalog "$s"
repo fork/catalog tag v1.9.0 main
exits 'outdated asks it' 3 mapm outdated
like 'for its tags' "$out" 'acme/x +v1\.2\.9 -> v1\.9\.0 -> v1\.9\.0'
exits 'update, too' 0 mapm update --yes
is 'takes them' "$(lock_of x tag)" v1.9.0
like 'list shows both' "$(mapm list)" '\(tag v1\.9\.0\) \(from https://github.com/fork/catalog'
sed -i '/^replace/,$d' mapm.yaml
exits 'without it' 0 mapm install --yes
is 'the original decides' "$(lock_of x tag) $(lock_of x from)" 'v1.5.0 '
cp mapm.lock "$T/lock"
mkdir -p "$XDG_CONFIG_HOME/mapm"
printf 'replace:\n  - {from: %s, to: %s}\n' https://github.com/acme/catalog https://github.com/mirror/catalog \
    >"$XDG_CONFIG_HOME/mapm/config.yaml"
rm -rf .agents && MAPM_HOME=$T/home7
exits 'a mirror' 0 mapm install --locked --yes
ok 'leaves the lock' cmp mapm.lock "$T/lock"
not_ok 'and mapm.local.lock' test -e mapm.local.lock
exits 'verify --remote asks the mirror' 0 mapm verify --remote
exits 'update asks it' 0 mapm update --yes
ok 'and finds the same' cmp mapm.lock "$T/lock"
repo mirror/catalog tag -f v1.5.0 v1.2.0 >/dev/null
exits 'a tag that the mirror moved' 3 mapm update --yes
like 'is refused' "$err" 'tag v1\.5\.0 was moved from'
ok 'and nothing changes' cmp mapm.lock "$T/lock"
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
exits 'a team' 0 mapm install --yes beta/team/skills/wide beta/team/skills/user beta/team/skills/other
is 'one version' "$(lock_of x tag)" v1.3.0
before=$COMMIT
needs wide '^1.3' 1.1.0 && needs narrow '^2' 2.0.0 && skill "$T/src-t/skills/other" 'version: 3.0.0'
make_repo beta/team "$T/src-t"
block() { awk -v name="    name: $1" '/^  - type/ {if (keep) exit; text = ""} {text = text $0 "\n"}
    $0 == name {keep = 1} END {if (keep) printf "%s", text}' mapm.lock; }
narrow_before=$(block narrow)
exits 'its update in conflict' 3 mapm update --yes
like 'holds the root that causes it' "$err" 'skill user stays as it is, with all that it needs: no version of github\.com/acme/catalog skills/x'
like 'names its chain' "$err" '\^2: user -> narrow'
like 'and the others' "$err" '\^1\.3: wide'
like 'with the ways out' "$err" 'mapm remove user'
is 'which keeps what it needs' "$(block narrow)" "$narrow_before"
is 'at its version' "$(lock_of x tag)" v1.3.0
like 'the others are updated' "$(block other)" 'version: 3\.0\.0'
like 'also those with a range' "$(block wide)" 'version: 1\.1\.0'
exits 'the lock is whole' 0 mapm install --locked
exits 'for programs' 3 mapm update --yes --json
like 'with the chains' "$(printf '%s' "$out" | tr -d '\n ')" '"held":.*"name":"user".*"root":true.*"chains":\["\^1.3:wide","\^2:user->narrow","[^"]*newestisv3'
is 'nothing else is held' "$(printf '%s\n' "$out" | grep -c unresolvable)" 1
exits 'outdated still shows it' 3 mapm outdated
like 'what was held' "$out" narrow
needs narrow '~1.3' 2.0.1
make_repo beta/team "$T/src-t"
exits 'without a conflict' 0 mapm update --yes
like 'it is updated' "$(block narrow)" 'version: 2\.0\.1'
for name in wide narrow; do needs "$name" '^9' 9.0.0; done
skill "$T/src-t/skills/other" 'version: 4.0.0'
make_repo beta/team "$T/src-t"
exits 'ranges that no tag satisfies' 3 mapm update --yes
is 'hold all that ask so' "$(lock_of x tag)" v1.3.0
like 'and nothing else' "$(block other)" 'version: 4\.0\.0'

# --- versions of packages and of their tags -------------------------------------------------

fresh
skill "$T/src-v/skills/high" 'version: 2.5.0'
skill "$T/src-v/skills/low" 'version: 0.9.0'
skill "$T/src-v/skills/own" 'version: 1.0.0'
make_repo beta/versions "$T/src-v"
for tag in v2.0.0 own-v1.0.1; do repo beta/versions tag "$tag" main; done
exits 'a version above its tag' 0 mapm install --yes 'beta/versions@*' --skill high
like 'is a warning' "$err" 'warning: .*skills/high: its version 2\.5\.0 exceeds that of its tag v2\.0\.0'
exits 'once' 0 mapm install
unlike 'not again' "$err" exceeds
exits 'a version below the tag of the repository' 0 mapm install --yes 'beta/versions@*' --skill low
unlike 'is none' "$err" 'its version'
exits 'below a tag of its own' 0 mapm install --yes 'beta/versions@*' --skill own
is 'which is taken' "$(lock_of own tag; sed -n 's/^    tag: own/own/p' mapm.lock)" own-v1.0.1
like 'is a warning' "$err" 'its version 1\.0\.0 is below that of its tag own-v1\.0\.1'
sed -i 's/^version: 1.0.0/version: 1.0.2/' "$T/src-v/skills/own/SKILL.md"
make_repo beta/versions "$T/src-v"
for tag in own-v1.0.2 v3.0.0; do repo beta/versions tag "$tag" main; done
exits 'outdated with tags of a package' 3 mapm outdated
like 'shows these' "$out" 'skill +own +own-v1\.0\.1 -> own-v1\.0\.2 -> own-v1\.0\.2'
unlike 'and no equal package' "$out" ' high .* v3'
exits 'update' 0 mapm update --yes
is 'takes it' "$(sed -n 's/^    tag: own/own/p' mapm.lock)" own-v1.0.2
unlike 'what agrees is no warning' "$err" 'own.*its version'
repo beta/versions tag -f own-v1.0.2 own-v1.0.1 >/dev/null
exits 'a moved tag of a package' 3 mapm update --yes
like 'is refused' "$err" 'tag own-v1\.0\.2 was moved from'
done_testing

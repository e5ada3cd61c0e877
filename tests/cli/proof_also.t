#!/bin/sh
# What `also` says in a lock is the lock's word alone, until this machine was
# shown the same content at just that origin. F1.
. "$(dirname "$0")/../lib/cli.sh"

s=$T/src
U=https://github.com/acme/catalog/tree
WARM=$T/warm

# catalog NAME: a fresh repository and workspace; $s is to be filled.
catalog()
{
    rm -rf "$T/src" "$T/repos/acme/catalog.git" "$WARM" "$T/$1"
    mkdir -p "$T/$1" && cd "$T/$1" || exit 1
    MAPM_HOME=$WARM && export MAPM_HOME
}
# also PATTERN ORIGIN: the entry of this name gets it.
also()
{
    sed -i "/name: $(echo "$1" | sed 's,/,\\/,')\$/,/^  - /s|^    commit: |    also: [$2]\\n&|" mapm.lock
}
# without NAME: its entry is gone.
without()
{
    python3 -S - "$1" <<'Y'
import re, sys
head, *entries = re.split(r"(?m)^(?=  - )", open("mapm.lock").read())
kept = [e for e in entries if "name: %s\n" % sys.argv[1] not in e]
open("mapm.lock", "w").write(head + "".join(kept))
Y
}
# refused WHAT: the edited workspace, on a machine that knows all and on one
# that knows nothing.
refused()
{
    rm -rf .agents .claude
    isnt "$1: the edited lock differs from the original" "$(cat mapm.lock)" "$good"
    cp mapm.lock "$T/edited.lock"
    for state in warm cold; do
        MAPM_HOME=$WARM
        [ $state = warm ] || MAPM_HOME=$T/cold
        exits "[F1] $1: install --locked refuses the lock, $state" 1 mapm install --locked
        not_ok "[F1] $1: install --locked provisions nothing, $state" test -e .agents
        exits "[F1] $1: verify exits with 3, $state" 3 mapm verify
        run mapm install --yes
        not_ok "[F1] $1: install without --locked provisions the right content, $state" grep -rq EVIL .agents
        rm -rf .agents .claude "$T/cold"
        cp "$T/edited.lock" mapm.lock
    done
    MAPM_HOME=$WARM
}

# swapped WHAT BAD GOOD: the lock has the entry of BAD, and GOOD as its `also`.
swapped()
{
    exits "$1: install of the wrong package alone succeeds" 0 mapm install --yes "$2"
    cp mapm.lock "$T/bad.lock"
    rm -rf .agents .claude mapm.lock mapm.yaml
    exits "$1: install of the right package alone succeeds" 0 mapm install --yes "$3"
    good=$(cat mapm.lock)
    cp "$T/bad.lock" mapm.lock && also acme/pdf "$3"
    refused "$1"
}

start_githost
catalog twins
skill "$s/b/pdf" 'scope: other'
echo EVIL >>"$s/b/pdf/SKILL.md"
skill "$s/zz/pdf" 'scope: zgood'
make_repo acme/catalog "$s"
exits 'install of two packages with one folder name succeeds' 0 mapm install --yes "$U/main/b/pdf" "$U/main/zz/pdf"
good=$(cat mapm.lock)
without zgood/pdf && also other/pdf "$U/main/zz/pdf"
rm -rf .agents .claude
for state in warm cold; do
    [ $state = warm ] || MAPM_HOME=$T/cold
    exits "[F1] install --locked refuses a folder of the same name in also, $state" 1 mapm install --locked
    not_ok "[F1] install --locked with such an entry provisions nothing, $state" test -e .agents
    exits "[F1] verify exits with 3 for a folder of the same name in also, $state" 3 mapm verify
    exits "[F1] verify --remote exits with 3 for a folder of the same name in also, $state" 3 mapm verify --remote
done

catalog nested
skill "$s/skills/pdf" 'scope: acme'
skill "$s/tests/bad/skills/pdf" 'scope: acme'
echo EVIL >>"$s/tests/bad/skills/pdf/SKILL.md"
make_repo acme/catalog "$s"
make_repo acme/catalog "$s" topic
swapped 'a longer path for a shorter' "$U/main/tests/bad/skills/pdf" "$U/main/skills/pdf"

catalog refs
skill "$s/skills/pdf" 'scope: acme'
make_repo acme/catalog "$s"
echo EVIL >>"$s/skills/pdf/SKILL.md"
make_repo acme/catalog "$s" topic
swapped 'another branch' "$U/topic/skills/pdf" "$U/main/skills/pdf"

catalog commit
skill "$s/pdf" 'scope: other'
echo EVIL >>"$s/pdf/SKILL.md"
skill "$s/skills/pdf" 'scope: zgood'
make_repo acme/catalog "$s"
c=$COMMIT
exits 'install of a package by its commit succeeds' 0 mapm install --yes "$U/main/pdf" "$U/$c/skills/pdf"
good=$(cat mapm.lock)
without zgood/pdf && also other/pdf "$U/$c/skills/pdf"
rm -rf .agents .claude
exits '[F1] install --locked refuses a shorter path of a commit in also' 1 mapm install --locked
not_ok '[F1] install --locked of such an entry provisions nothing' test -e .agents
exits '[F1] verify --remote exits with 3 for a shorter path of a commit in also' 3 mapm verify --remote

# --- what is equal stays one entry -----------------------------------------------------

catalog equal
skill "$s/a/pdf" 'scope: acme'
cp -r "$s/a" "$s/b"
make_repo acme/catalog "$s"
repo acme/catalog branch v1
exits 'install of three origins with equal content succeeds' 0 mapm install --yes "$U/main/a/pdf" "$U/main/b/pdf" "$U/v1/a/pdf"
good=$(cat mapm.lock)
like 'origins with equal content are one lock entry with also' "$good" 'also: \['
reset_log
exits '[F1] install --locked accepts origins with equal content' 0 mapm install --locked
exits '[F1] install --locked --offline accepts origins with equal content' 0 mapm install --locked --offline
is '[F1] install --locked of equal content sends no request' "$(requests)" 0
exits '[F1] verify accepts origins with equal content' 0 mapm verify
exits '[F1] verify --remote accepts origins with equal content' 0 mapm verify --remote
rm -rf .agents .claude
MAPM_HOME=$T/cold
exits '[F1] install --locked of equal content succeeds with an empty store' 0 mapm install --locked
is '[F1] install --locked of equal content leaves mapm.lock unchanged' "$(cat mapm.lock)" "$good"
reset_log
exits '[F1] a second install --locked of equal content succeeds' 0 mapm install --locked
is '[F1] a second install --locked of equal content sends no request' "$(requests)" 0

# --- verify: the manifest, the lock and the workspace name the same --------------------

catalog lacks
skill "$s/skills/pdf" 'scope: acme'
skill "$s/skills/docx" 'scope: acme'
make_repo acme/catalog "$s"
exits 'install of two skills succeeds' 0 mapm install --yes "$U/main/skills/pdf" "$U/main/skills/docx"
exits 'verify accepts the workspace after the install' 0 mapm verify
good=$(cat mapm.lock)
printf 'version: 1\npackages: []\n' >mapm.lock
exits '[F1] verify exits with 3 for an empty lock' 3 mapm verify
like '[F1] verify names the root that the empty lock lacks' "$out" "^$U/main/skills/pdf: not in the lock\$"
like '[F1] verify suggests an install for an empty lock' "$err" '^the lock lacks what mapm\.yaml or the workspace has: .*mapm install$'
like '[F1] verify names the provisioned folder that the empty lock lacks' "$out" '^\.agents/skills/pdf: not in the lock$'
exits '[F1] verify --remote exits with 3 for an empty lock' 3 mapm verify --remote
cp mapm.yaml "$T/saved.yaml"
: >mapm.yaml
exits '[F1] verify exits with 3 for an empty lock and manifest beside provisioned folders' 3 mapm verify
cp "$T/saved.yaml" mapm.yaml
printf '%s\n' "$good" >mapm.lock && without acme/docx
exits '[F1] verify exits with 3 for a lock that lacks one root' 3 mapm verify
like '[F1] verify names the root that the lock lacks' "$out" "^$U/main/skills/docx: not in the lock\$"
like '[F1] verify names the provisioned folder that the lock lacks' "$out" '^\.agents/skills/docx: not in the lock$'
is '[F1] verify names nothing beside that root and its folder' "$(printf '%s\n' "$out" | wc -l)" 2
printf '%s\n' "$good" >mapm.lock
exits '[F1] verify accepts the restored lock' 0 mapm verify

cp -r .agents/skills/pdf "$T/pdf" && echo EVIL >>"$T/pdf/SKILL.md"
mkdir "$T/far" && cd "$T/far" || exit 1
exits 'install of a local folder succeeds' 0 mapm install "$T/pdf"
exits '[F1] verify accepts a local folder in mapm.local.lock' 0 mapm verify
like '[F1] verify reports a local folder as digest only' "$out" 'digest only$'
sed "s|^    digest|    also: [$U/main/skills/pdf]\n&|" mapm.local.lock >"$T/lacks/mapm.lock"
cd "$T/lacks" || exit 1
exits '[F1] verify exits with 3 for the entry of a local folder in mapm.lock' 3 mapm verify
like '[F1] verify says that the entry in mapm.lock has a file: origin' "$out" '^\.agents/skills/pdf: from a file: origin, in mapm\.lock$'
unlike '[F1] verify does not report that entry as digest only' "$out" 'digest only'
mkdir "$T/lib" && cd "$T/lib" || exit 1
skill "$T/mine"
exits 'install -g of two skills succeeds' 0 mapm install -g --yes "$T/mine" "$U/main/skills/docx"
exits '[F1] verify -g accepts the library' 0 mapm verify -g

# --- the same content in another object: a folder with a link, and one with a copy ---

S=$T/twins
skill "$S/b/skills/x"
mkdir -p "$S/a/skills/x" "$T/twin"
ln -s ../../../b/skills/x/SKILL.md "$S/a/skills/x/SKILL.md"
make_repo acme/twins "$S"
W=https://github.com/acme/twins/tree/main
cd "$T/twin" || exit 1
exits 'install of a skill that is a link succeeds' 0 mapm install --yes "$W/a/skills/x"
skill "$S/c/skills/y"
make_repo acme/twins "$S"
exits 'install of its copy at a later commit succeeds' 0 mapm install --yes "$W/b/skills/x"
like '[F1] also has the copy with its commit' "$(cat mapm.lock)" "also: .$W/b/skills/x#$COMMIT"
exits '[F1] verify accepts a copy in also' 0 mapm verify
exits '[F1] verify --remote accepts a copy in also' 0 mapm verify --remote
echo more >>"$S/b/skills/x/SKILL.md"
make_repo acme/twins "$S"
rm -rf .agents .claude
exits '[F1] install --locked with an empty store accepts a copy that changed later' 0 \
    env MAPM_HOME="$T/other" "$MAPM" install --locked
exits '[F1] verify on the other machine accepts the copy' 0 env MAPM_HOME="$T/other" "$MAPM" verify
exits '[F1] verify --remote on the other machine accepts the copy' 0 env MAPM_HOME="$T/other" "$MAPM" verify --remote
reset_log
exits '[F1] a second install --locked on the other machine succeeds' 0 env MAPM_HOME="$T/other" "$MAPM" install --locked
is '[F1] a second install --locked on the other machine sends no request' "$(requests)" 0
mkdir "$T/both" && cd "$T/both" || exit 1
rm "$S/b/skills/x/SKILL.md" && skill "$S/b/skills/x"
make_repo acme/twins "$S"
exits 'install of a link and its copy at one commit succeeds' 0 mapm install --yes "$W/a/skills/x" "$W/b/skills/x"
exits '[F1] verify --remote accepts a link and its copy at one commit' 0 mapm verify --remote

# What is there now is no package: outdated and update say the same.
rm -r "$S/b/skills/x" && make_repo acme/twins "$S"
exits '[D3] outdated exits with 3 for a link whose target is gone' 3 mapm outdated
like '[D3] outdated shows the skill as gone' "$out" '^skill +x +.* -> gone$'
like '[D3] outdated says that the link names nothing in the repository' "$err" '^  x: the link .* names nothing in the repository$'
exits '[D3] update exits with 3 for a link whose target is gone' 3 mapm update
like '[D3] update suggests to pin the skill by the path of the link' "$err" 'mapm install .*/tree/[0-9a-f]{40}/a/skills/x pins it'
done_testing

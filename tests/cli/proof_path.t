#!/bin/sh
# Which path an origin means: the lock does not say where the ref ends. A shorter
# path counts only where the commit has nothing at the longer ones.
. "$(dirname "$0")/../lib/cli.sh"

s=$T/src
U=https://github.com/acme/catalog/tree

skill "$s/skills/base"
printf 'another one\n' >"$s/skills/base/notes.md"
# The same name at each shorter path.
skill "$s/base"
cp "$s/base/SKILL.md" "$s/SKILL.md"
make_repo acme/catalog "$s"
git --git-dir "$T/repos/acme/catalog.git" branch release/2.x
start_githost
MAPM_HOME=$T/store
export MAPM_HOME

workspace()
{
    cd "$T" && rm -rf "$1" && mkdir "$1" && cd "$1" || exit 1
}
of()
{
    sed -n "s/^    $1: //p" mapm.lock | head -n 1
}
# Digests of what is at the shorter paths, which the store has and knows.
workspace short
exits 'install of the package at the shorter path succeeds' 0 mapm install --yes "$U/main/base"
short_tree=$(of tree) short_digest=$(of digest)
workspace root
exits 'install of the repository itself succeeds' 0 mapm install --yes "$U/main"
root_tree=$(of tree) root_digest=$(of digest)

workspace good
exits 'install of the package at the full path succeeds' 0 mapm install --yes "$U/main/skills/base"
good_tree=$(of tree) good_digest=$(of digest)
isnt 'the packages at the full and the shorter path have different digests' "$good_digest" "$short_digest"

# refused WHAT TREE DIGEST
refused()
{
    for how in cold warm offline; do
        workspace edited
        sed "s/$good_tree/$2/; s/$good_digest/$3/" ../good/mapm.lock >mapm.lock
        cp ../good/mapm.yaml .
        case $how in
        cold) MAPM_HOME=$T/cold mapm install --locked >out 2>err ;;
        warm) mapm install --locked >out 2>err ;;
        offline) mapm install --locked --offline >out 2>err ;;
        esac
        is "[F1] install --locked refuses a lock with the tree of $1, $how" $? 1
        not_ok "[F1] install --locked of a lock with the tree of $1 provisions nothing, $how" test -e .agents
        rm -rf "$T/cold"
    done
}
refused 'the folder at a shorter path' "$short_tree" "$short_digest"
refused 'the repository itself' "$root_tree" "$root_digest"

# A ref of two segments: the commit has nothing at 2.x/skills/base.
workspace slash
exits 'install at a ref with a slash succeeds' 0 mapm install --yes "$U/release/2.x/skills/base"
is '[F1] a ref with a slash gives the same digest' "$(of digest)" "$good_digest"
reset_log
exits '[F1] install --locked at a ref with a slash succeeds' 0 mapm install --locked
is '[F1] install --locked at a ref with a slash sends no request' "$(requests)" 0
exits '[F1] verify accepts a ref with a slash' 0 mapm verify
exits 'store gc succeeds' 0 mapm store gc
exits '[F1] install --locked --offline at a ref with a slash succeeds after gc' 0 mapm install --locked --offline
workspace slash2 && cp ../slash/mapm.* .
MAPM_HOME=$T/cold2 mapm install --locked >out 2>&1
is '[F1] install --locked at a ref with a slash succeeds with an empty store' $? 0
workspace slash3 && cp ../slash/mapm.* .
MAPM_HOME=$T/cold2 mapm install --locked --offline >out 2>&1
is '[F1] the locked install proves the package for --offline' $? 0

workspace short_form
exits 'install of a short origin with that ref succeeds' 0 mapm install --yes acme/catalog/skills/base@release/2.x
reset_log
exits '[F1] install --locked of a short origin with that ref succeeds' 0 mapm install --locked
is '[F1] install --locked of a short origin with that ref sends no request' "$(requests)" 0

# The commit has something at both.
mkdir -p "$s/2.x/skills" && cp -r "$s/skills/base" "$s/2.x/skills/base"
make_repo acme/catalog "$s" release/2.x
MAPM_HOME=$T/cold3
workspace both
exits '[F1] install fails when ref and folder could both be meant' 1 mapm install --yes "$U/release/2.x/skills/base"
like '[F1] the error says that the origin is ambiguous' "$err" 'ambiguous: the ref "release/2.x" leads to "skills/base", and its commit has "2.x/skills/base" as well'
not_ok '[F1] install of an ambiguous origin provisions nothing' test -e .agents
exits '[F1] install of the same path by its commit succeeds' 0 mapm install --yes "$U/$COMMIT/skills/base"

# --- refs of many segments: each leaves one more path possible ---------------------------

# segments N: a/a/…
segments()
{
    python3 -S -c "print('/'.join('a' * $1))"
}
MAPM_HOME=$T/many
repo acme/catalog branch "$(segments 16)" main
workspace many
exits '[F1] install at a ref of 16 segments succeeds' 0 mapm install --yes "$U/$(segments 16)/skills/base"
MAPM_HOME=$T/cold4
exits '[F1] verify --remote with an empty store exits with 3 for a ref of 16 segments' 3 mapm verify --remote
rm -rf .agents .claude
exits '[F1] install --locked at a ref of 16 segments succeeds with an empty store' 0 mapm install --locked
MAPM_HOME=$T/cold5
rm -rf .agents .claude
sed -i "s|$(segments 16)|$(segments 17)|" mapm.lock mapm.yaml
exits '[F1] install --locked refuses a missing ref of 17 segments' 1 mapm install --locked
not_ok '[F1] install --locked at a ref of 17 segments provisions nothing' test -e .agents
repo acme/catalog update-ref -d "refs/heads/$(segments 16)"
repo acme/catalog branch "$(segments 17)" main
exits '[F1] install --locked refuses an existing ref of 17 segments' 1 mapm install --locked
workspace many2
exits '[F1] install at a ref of 17 segments fails' 1 mapm install --yes "$U/$(segments 17)/skills/base" "$U/main/base"
like '[F1] the error says that the ref has more than 16 segments' "$err" 'the name of its ref has more than 16 segments'
exits '[F1] install at another ref succeeds beside a ref of 17 segments' 0 mapm install --yes "$U/main/base"
repo acme/catalog symbolic-ref HEAD "refs/heads/$(segments 17)"
exits '[F1] install at a default branch of 17 segments fails' 1 mapm install --yes acme/catalog/skills/base
like '[F1] the error of such a default branch names the 16 segments' "$err" 'more than 16 segments'
done_testing

#!/bin/sh
# A lock installs what it says, wherever the refs of its origins are by now: each
# origin of an entry has a commit, of its own where it is another one. F1.
. "$(dirname "$0")/../lib/cli.sh"

s=$T/src
U=https://github.com/acme/catalog/tree
B=https://github.com/beta/tools/tree
WARM=$T/warm

# catalog NAME: fresh repositories and a workspace; $s is to be filled.
catalog()
{
    rm -rf "$T/src" "$T/repos/acme/catalog.git" "$T/repos/beta/tools.git" "$WARM" "$T/$1"
    mkdir -p "$T/$1" && cd "$T/$1" || exit 1
    MAPM_HOME=$WARM && export MAPM_HOME
}
# colleague: the two committed files, on a machine that knows nothing.
colleague()
{
    rm -rf "$T/cold" "$T/theirs" && mkdir "$T/theirs" && cp mapm.yaml mapm.lock "$T/theirs"
    cd "$T/theirs" || exit 1
    MAPM_HOME=$T/cold
}
# installs WHAT: cold, warm and offline, and proved.
installs()
{
    colleague
    lock=$(cat mapm.lock)
    exits "[F1] $1: install --locked succeeds on a cold machine" 0 mapm install --locked
    is "[F1] $1: install --locked leaves mapm.lock unchanged" "$(cat mapm.lock)" "$lock"
    reset_log
    exits "[F1] $1: a second install --locked succeeds" 0 mapm install --locked
    rm -rf .agents .claude
    exits "[F1] $1: install --locked succeeds with a filled store" 0 mapm install --locked
    rm -rf .agents .claude
    exits "[F1] $1: install --locked --offline succeeds" 0 mapm install --locked --offline
    is "[F1] $1: the later installs send no request" "$(requests)" 0
    exits "[F1] $1: verify succeeds" 0 mapm verify
}
# refused WHAT: the edited lock, cold, warm and offline.
refused()
{
    cp mapm.lock "$T/edited.lock"
    rm -rf "$T/cold" .agents .claude
    for state in cold warm; do
        MAPM_HOME=$T/cold
        [ $state = cold ] || MAPM_HOME=$WARM
        exits "[F1] $1: install --locked fails, $state" 1 mapm install --locked
        exits "[F1] $1: install --locked --offline fails, $state" 1 mapm install --locked --offline
        not_ok "[F1] $1: nothing is installed, $state" test -e .agents
        exits "[F1] $1: verify exits 3, $state" 3 mapm verify
        cp "$T/edited.lock" mapm.lock
    done
}
start_githost

# --- two folders of one catalog ---------------------------------------------------------

catalog twins
skill "$s/a/pdf" 'scope: acme'
cp -r "$s/a" "$s/b"
make_repo acme/catalog "$s"
exits 'install of two equal folders of a catalog succeeds' 0 mapm install --yes "$U/main/a/pdf" "$U/main/b/pdf"
like '[F13] the lock of two equal folders has version 1' "$(cat mapm.lock)" '^version: 1$'
like '[F13] the second origin has no commit of its own' "$(cat mapm.lock)" 'also: \[[^#]*\]'
exits 'verify --remote succeeds for two equal folders' 0 mapm verify --remote
echo later >>"$s/b/pdf/SKILL.md"
make_repo acme/catalog "$s"
installs 'the branch moved'
reset_log
exits '[F1] verify --remote succeeds after the branch moved' 0 mapm verify --remote
both=$(requests)
sed -i '/also:/d' mapm.lock
reset_log
run mapm verify --remote
is '[F1] verify --remote sends no further request for a second origin' "$both" "$(requests)"
echo later >>"$s/a/pdf/SKILL.md"
make_repo acme/catalog "$s"
cd "$T/twins" || exit 1
installs 'both folders changed'

# --- two repositories -------------------------------------------------------------------

catalog two
skill "$s/skills/pdf" 'scope: acme'
make_repo acme/catalog "$s"
acme=$COMMIT
echo x >"$s/readme"
make_repo beta/tools "$s"
beta=$COMMIT
exits 'install of one content from two repositories succeeds' 0 mapm install --yes "$U/main/skills/pdf" "$B/main/skills/pdf"
like '[F13] the lock of two repositories has version 2' "$(cat mapm.lock)" '^version: 2$'
like '[F1] the second origin has its own commit' "$(cat mapm.lock)" "also: \\[$B/main/skills/pdf#$beta\\]"
exits '[F1] verify --remote succeeds for two repositories' 0 mapm verify --remote
mkdir "$T/saved" && cp mapm.lock "$T/saved"
echo later >>"$s/skills/pdf/SKILL.md"
make_repo beta/tools "$s"
installs 'the second repository moved'
exits '[F1] verify --remote succeeds after the second repository moved' 0 mapm verify --remote
repo beta/tools update-ref -d refs/heads/main
make_repo beta/tools "$s"
exits '[F1] verify --remote exits 3 when the second repository lost its history' 3 mapm verify --remote
like '[F1] verify --remote names the commit outside the history' "$out" "^\\.agents/skills/pdf: commit $beta is not in the history"
cd "$T/two" || exit 1

sed -i "s/#$beta/#$acme/" mapm.lock
refused 'the commit of another repository'
cp "$T/saved/mapm.lock" .
sed -i "s/#$beta/#$COMMIT/" mapm.lock
refused 'a commit with other content'
cp "$T/saved/mapm.lock" .
exits 'install --locked succeeds with the original lock' 0 mapm install --locked
exits '[F1] remove of the first origin succeeds' 0 mapm remove "$U/main/skills/pdf"
like '[F1] the entry has the commit of the second origin' "$(cat mapm.lock)" "^    commit: $beta\$"
like '[F13] the lock of the remaining origin has version 1' "$(cat mapm.lock)" '^version: 1$'

# --- two refs ---------------------------------------------------------------------------

catalog refs
skill "$s/skills/pdf" 'scope: acme'
make_repo acme/catalog "$s"
first=$COMMIT
repo acme/catalog branch v1
echo x >"$s/readme"
make_repo acme/catalog "$s"
printf '%s\n' dependencies: '  skills:' "    - $U/main/skills/pdf" "    - $U/v1/skills/pdf" \
    "    - $U/$first/skills/pdf" >mapm.yaml
exits 'install of one content at three refs succeeds' 0 mapm install --yes
like '[F1] a branch has its commit and a commit id has none' "$(cat mapm.lock)" \
    "also: \\[$U/$first/skills/pdf, $U/v1/skills/pdf#$first\\]"
echo later >>"$s/skills/pdf/SKILL.md"
make_repo acme/catalog "$s" v1
installs 'the other branch moved'
exits '[F1] verify --remote succeeds after the other branch moved' 0 mapm verify --remote

# --- a lock of before: no commit behind another ref -------------------------------------

catalog before
skill "$s/skills/pdf" 'scope: acme'
make_repo acme/catalog "$s"
echo x >"$s/readme"
make_repo beta/tools "$s"
exits 'install of one content for a lock in the old form succeeds' 0 mapm install --yes "$U/main/skills/pdf" "$B/main/skills/pdf"
sed -i 's/#[0-9a-f]*//; s/^version: 2/version: 1/' mapm.lock
lock=$(cat mapm.lock)
reset_log
exits '[F1] install --locked accepts a lock in the old form' 0 mapm install --locked
rm -rf .agents .claude
exits '[F1] install --locked accepts a lock in the old form on a cold machine' 0 env MAPM_HOME="$T/cold" "$MAPM" install --locked
is '[F1] install --locked leaves a lock in the old form unchanged' "$(cat mapm.lock)" "$lock"
exits '[F1] verify --remote accepts a lock in the old form' 0 mapm verify --remote
echo later >>"$s/skills/pdf/SKILL.md"
make_repo beta/tools "$s"
exits '[F1] verify --remote exits 3 for the old form after the repository moved' 3 mapm verify --remote
like '[F1] verify --remote names the origin that is not proved' "$out" "not proved at the path of $B/main/skills/pdf"
rm -rf "$T/cold" .agents .claude
exits '[F1] install --locked fails for the old form after the repository moved' 1 env MAPM_HOME="$T/cold" "$MAPM" install --locked
not_ok '[F1] install --locked installs nothing for the old form' test -e .agents
exits '[F1] remove of the first origin succeeds for a lock in the old form' 0 mapm remove "$U/main/skills/pdf"
like '[F1] the entry has the commit of the repository that remains' "$(cat mapm.lock)" "^    commit: $COMMIT\$"
done_testing

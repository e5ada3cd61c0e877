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
    exits "[F1] $1: cold" 0 mapm install --locked
    is "[F1] $1: the lock stays" "$(cat mapm.lock)" "$lock"
    reset_log
    exits "[F1] $1: then nothing to do" 0 mapm install --locked
    rm -rf .agents .claude
    exits "[F1] $1: warm" 0 mapm install --locked
    rm -rf .agents .claude
    exits "[F1] $1: offline" 0 mapm install --locked --offline
    is "[F1] $1: without a request" "$(requests)" 0
    exits "[F1] $1: verify" 0 mapm verify
}
# refused WHAT: the edited lock, cold, warm and offline.
refused()
{
    cp mapm.lock "$T/edited.lock"
    rm -rf "$T/cold" .agents .claude
    for state in cold warm; do
        MAPM_HOME=$T/cold
        [ $state = cold ] || MAPM_HOME=$WARM
        exits "[F1] $1: $state" 1 mapm install --locked
        exits "[F1] $1: $state, offline" 1 mapm install --locked --offline
        not_ok "[F1] $1: $state, nothing is there" test -e .agents
        exits "[F1] $1: $state, verify" 3 mapm verify
        cp "$T/edited.lock" mapm.lock
    done
}
start_githost

# --- two folders of one catalog ---------------------------------------------------------

catalog twins
skill "$s/a/pdf" 'scope: acme'
cp -r "$s/a" "$s/b"
make_repo acme/catalog "$s"
exits 'equal ones' 0 mapm install --yes "$U/main/a/pdf" "$U/main/b/pdf"
like '[F13] of one ref and commit: version 1' "$(cat mapm.lock)" '^version: 1$'
like '[F13] of one ref and commit: nothing behind it' "$(cat mapm.lock)" 'also: \[[^#]*\]'
exits 'equal ones: verify --remote' 0 mapm verify --remote
echo later >>"$s/b/pdf/SKILL.md"
make_repo acme/catalog "$s"
installs 'the branch moved'
reset_log
exits '[F1] the branch moved: verify --remote' 0 mapm verify --remote
both=$(requests)
sed -i '/also:/d' mapm.lock
reset_log
run mapm verify --remote
is '[F1] verify --remote: an origin more is no request more' "$both" "$(requests)"
echo later >>"$s/a/pdf/SKILL.md"
make_repo acme/catalog "$s"
cd "$T/twins" || exit 1
installs 'both moved'

# --- two repositories -------------------------------------------------------------------

catalog two
skill "$s/skills/pdf" 'scope: acme'
make_repo acme/catalog "$s"
acme=$COMMIT
echo x >"$s/readme"
make_repo beta/tools "$s"
beta=$COMMIT
exits 'one content of two repositories' 0 mapm install --yes "$U/main/skills/pdf" "$B/main/skills/pdf"
like '[F13] with its commit: version 2' "$(cat mapm.lock)" '^version: 2$'
like '[F1] the other origin has its commit' "$(cat mapm.lock)" "also: \\[$B/main/skills/pdf#$beta\\]"
exits '[F1] verify --remote' 0 mapm verify --remote
mkdir "$T/saved" && cp mapm.lock "$T/saved"
echo later >>"$s/skills/pdf/SKILL.md"
make_repo beta/tools "$s"
installs 'the other one moved'
exits '[F1] the other one moved: verify --remote' 0 mapm verify --remote
repo beta/tools update-ref -d refs/heads/main
make_repo beta/tools "$s"
exits '[F1] the other one forgot its history: verify --remote' 3 mapm verify --remote
like '[F1] it names the commit' "$out" "^\\.agents/skills/pdf: commit $beta is not in the history"
cd "$T/two" || exit 1

sed -i "s/#$beta/#$acme/" mapm.lock
refused 'the commit of another repository'
cp "$T/saved/mapm.lock" .
sed -i "s/#$beta/#$COMMIT/" mapm.lock
refused 'a commit with other content'
cp "$T/saved/mapm.lock" .
exits 'as it was' 0 mapm install --locked
exits '[F1] the first origin is no longer wanted' 0 mapm remove "$U/main/skills/pdf"
like '[F1] the other one is there with its own commit' "$(cat mapm.lock)" "^    commit: $beta\$"
like '[F13] and nothing needs version 2' "$(cat mapm.lock)" '^version: 1$'

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
exits 'two refs' 0 mapm install --yes
like '[F1] another ref has its commit, and a commit is one' "$(cat mapm.lock)" \
    "also: \\[$U/$first/skills/pdf, $U/v1/skills/pdf#$first\\]"
echo later >>"$s/skills/pdf/SKILL.md"
make_repo acme/catalog "$s" v1
installs 'the other branch moved'
exits '[F1] the other branch moved: verify --remote' 0 mapm verify --remote

# --- a lock of before: no commit behind another ref -------------------------------------

catalog before
skill "$s/skills/pdf" 'scope: acme'
make_repo acme/catalog "$s"
echo x >"$s/readme"
make_repo beta/tools "$s"
exits 'one content of two repositories' 0 mapm install --yes "$U/main/skills/pdf" "$B/main/skills/pdf"
sed -i 's/#[0-9a-f]*//; s/^version: 2/version: 1/' mapm.lock
lock=$(cat mapm.lock)
reset_log
exits '[F1] a lock of before: as it is' 0 mapm install --locked
rm -rf .agents .claude
exits '[F1] a lock of before: cold' 0 env MAPM_HOME="$T/cold" "$MAPM" install --locked
is '[F1] a lock of before: it stays' "$(cat mapm.lock)" "$lock"
exits '[F1] a lock of before: verify --remote' 0 mapm verify --remote
echo later >>"$s/skills/pdf/SKILL.md"
make_repo beta/tools "$s"
exits '[F1] a lock of before, and it moved: verify --remote' 3 mapm verify --remote
like '[F1] it says where' "$out" "not proved at the path of $B/main/skills/pdf"
rm -rf "$T/cold" .agents .claude
exits '[F1] a lock of before, and it moved: cold' 1 env MAPM_HOME="$T/cold" "$MAPM" install --locked
not_ok '[F1] a lock of before, and it moved: nothing is there' test -e .agents
exits '[F1] a lock of before: the first is no longer wanted' 0 mapm remove "$U/main/skills/pdf"
like '[F1] then it has the commit of its own repository' "$(cat mapm.lock)" "^    commit: $COMMIT\$"
done_testing

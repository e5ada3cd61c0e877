#!/bin/sh
# Servers with fewer capabilities: the same packages with more bytes, and nothing
# asked for twice. [H3, row 51, row 53]; HOSTS 6, 9, 13.
. "$(dirname "$0")/../lib/cli.sh"

. "$ROOT/tests/lib/fetch.sh"

# A lock of a commit that is no tip any more; a version whose tag is annotated.
repo acme/catalog -c user.name=A -c user.email=a@example.org tag -a -m one v1.2.0 "$main"
echo changed >>"$T/src/skills/other/notes.md"
make_repo acme/catalog "$T/src"
tip=$COMMIT
OTHER=$GH/acme/catalog/tree/main/skills/other
VERSION=$GH/acme/catalog/tree/^1.0/skills/hello
start_githost
repo acme/catalog update-ref refs/heads/main "$main"
exits 'install at an older commit makes the lock' 0 mapm install --yes "$OTHER" "$VERSION"
cp mapm.lock "$T/old.lock"
cp mapm.yaml "$T/old.yaml"
repo acme/catalog update-ref refs/heads/main "$tip"
echo other >"$T/notes"

# host WORDS: github.com is a server with these options of tests/githost.
at=
host()
{
    git config --global --remove-section "url.$GITHOST_URL/$at" 2>/dev/null
    at=_as/$1/
    git config --global "url.$GITHOST_URL/$at.insteadOf" $GH/
    host="[H3] ${1:-all}"
}
# fresh: an empty store and workspace.   clone: one with the lock of long ago.
fresh()
{
    rm -rf "$T/ws" "$T/mapm"
    mkdir "$T/ws" && cd "$T/ws" || exit 1
}
clone()
{
    rm -rf "$T/ws"
    mkdir "$T/ws" && cd "$T/ws" || exit 1
    cp "$T/old.yaml" mapm.yaml
    cp "$T/old.lock" mapm.lock
}

# --- the sixteen combinations of version 0, and two of version 2 -------------------
combination()
{
    host "$1"
    fresh
    exits "$host: install succeeds" 0 mapm install --yes "$OTHER" "$VERSION"
    [ -f "$T/lock" ] || cp mapm.lock "$T/lock"
    ok "$host: mapm.lock is the same as from other servers" cmp mapm.lock "$T/lock"
    rm -rf "$T/mapm"
    clone
    exits "$host: install --locked succeeds for a commit that is not a tip" 0 mapm install --locked
    ok "$host: install --locked provisions the content of that commit" cmp -s .agents/skills/other/notes.md "$T/notes"
}
# more: what asks for refs, tags and history.
more()
{
    exits "$host: outdated exits with 3" 3 mapm outdated
    exits "$host: verify --remote succeeds" 0 mapm verify --remote
    exits "$host: update succeeds" 0 mapm update --yes
    is "$host: update locks the commit of the tip" "$(grep -c "commit: $tip" mapm.lock)" 1
    sed "s/^\( *commit: \)$main/\1$tip/" "$T/old.lock" >mapm.lock
    rm -rf "$T/mapm" .agents
    exits "$host: [F1] install --locked fails for a lock with another commit" 1 mapm install --locked
    like "$host: [F1] the error says that the entry is not what its commit holds" "$err" 'is not what its commit holds'
}
combination ''
combination no-filter
combination no-filter,without-shallow
for filter in '' ,no-filter; do
    for shallow in '' ,without-shallow; do
        for any in '' ,no-any-oid; do
            for ack in '' ,multi-ack; do
                combination "no-v2$filter$shallow$any$ack"
            done
        done
    done
    more
done

# As JGit does: found out by a refusal, and then known.
host tips-only
fresh
exits '[H3] install from a host that serves tips alone succeeds' 0 mapm install --yes "$OTHER" "$VERSION"
ok '[H3] mapm.lock from a host that serves tips alone is the same' cmp mapm.lock "$T/lock"
clone
exits '[H3] install --locked from such a host succeeds for a commit that is not a tip' 0 mapm install --locked
ok '[H3] install --locked from such a host provisions the content of that commit' cmp -s .agents/skills/other/notes.md "$T/notes"
# A commit that has no tag either, on a machine that knows nothing of the host.
skill "$T/moved/skills/one"
make_repo acme/moved "$T/moved"
before=$COMMIT
skill "$T/moved/skills/two"
make_repo acme/moved "$T/moved"
for options in tips-only tips-only,no-filter tips-only,no-v2; do
    host $options
    fresh
    exits "[H3] $options: install of a commit behind a branch succeeds" 0 mapm install --yes "$GH/acme/moved/tree/$before/skills/one"
    rm -rf "$T/mapm" .agents .claude
    exits "[H3] $options: install --locked of that commit succeeds with an empty store" 0 mapm install --locked
    ok "[H3] $options: the skill equals its source" cmp -s .agents/skills/one/SKILL.md "$T/moved/skills/one/SKILL.md"
done

# A commit of nobody's: of a fork, say.
stray=$(repo acme/catalog -c user.name=A -c user.email=a@example.org commit-tree -m stray "$main^{tree}")
host no-v2,no-filter,no-any-oid
fresh
exits '[H3] install exits with 4 for a commit that no ref names' 4 mapm install --yes "$GH/acme/catalog/tree/$stray/skills/other"
like '[H3] the error says that the commit is in no branch or tag' "$err" 'is in no branch or tag of acme/catalog'
clone
sed "s/^\( *commit: \)$main/\1$stray/" "$T/old.lock" >mapm.lock
exits '[H3] install --locked fails for a lock with a commit that no ref names' 1 mapm install --locked
like '[H3] the error says that the host does not serve such commits' "$err" '127.0.0.1 does not give out commits that no ref names, and [0-9a-f]{12} is in no branch or tag'

# --- what a host can do is kept for a week, and what it costs is said -----------------
host no-filter
fresh
reset_log
exits '[H3] install from a host without partial clones succeeds' 0 mapm install --yes --verbose "$OTHER"
is '[H3] install -v reports once that the host has no partial clones' "$(printf '%s\n' "$err" | grep -c 'no partial clone')" 1
like '[H3] install -v compares the received bytes with the needed ones' "$err" '127\.0\.0\.1:[0-9]* has no partial clone: 4[0-9]\.. kB instead of [0-9]{3} B$'
is '[H3] install from a new host takes two requests and two for its abilities' "$(requests)" 4
skill "$T/two/skills/one"
make_repo acme/second "$T/two"
reset_log
exits '[H3] install from another repository of the host succeeds' 0 mapm install --yes "$GH/acme/second/tree/main/skills/one"
is '[H3] install from another repository does not ask for the abilities again' "$(request_log | grep -c info-refs)" 0
is '[H3] install from another repository takes two requests' "$(requests)" 2
python3 - "$MAPM_HOME/mapm.db" <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE hosts SET since_s = since_s - 7 * 24 * 3600")
db.commit()
PYTHON
skill "$T/two/skills/two"
make_repo acme/second "$T/two"
reset_log
exits '[H3] install from the host succeeds a week later' 0 mapm install --yes "$GH/acme/second/tree/main/skills/two"
is '[H3] install a week later asks for the abilities again' "$(request_log | grep -c info-refs)" 1
host ''
skill "$T/two/skills/three"
make_repo acme/second "$T/two"
reset_log
host no-v2,no-any-oid
exits '[H3] install succeeds when the host has fewer abilities than before' 0 mapm install --yes "$GH/acme/second/tree/main/skills/three"
is '[H3] install asks a host with fewer abilities once again' "$(request_log | grep -c info-refs)" 1
exits '[H3] install succeeds for a commit that the store has in part' 0 mapm install --yes "$GH/acme/second/tree/main/skills/two"

# --- addresses -----------------------------------------------------------------------
git config --global --remove-section "url.$GITHOST_URL/$at"
start_githost --prefix /git/lab --dot-git drop
fresh
exits '[H3] install follows a redirect that drops .git' 0 mapm install --yes "$OTHER"
unlike '[H3] a redirect that drops .git is not reported as moved' "$err" moved
is '[H3] a redirect that drops .git is followed once' "$(request_log | grep -c '^301')" 1

# --- servers of version 0 that mean harm [row 53] --------------------------------------
stop_githost
hostile()
{
    rm -f "$T/hostile"
    python3 -S "$ROOT/tests/lib/hostile.py" "$1" "$T/hostile" "$T/pack" &
    hostile_pid=$!
    await test -s "$T/hostile"
    url=$(cat "$T/hostile")
    git config --global "url.$url/.insteadOf" $GH/
    want "[H3] $2" "$4" "$3" "$HELLO"
    unlike "[H3] $2: the output has no raw escape character" "$out" "$(printf '\033')"
    kill "$hostile_pid"
    wait "$hostile_pid" 2>/dev/null
    git config --global --remove-section "url.$url/"
}
{
    repo acme/catalog rev-list --objects --max-count=1 "$tip" --no-object-names
    head -c 30000 /dev/urandom | repo acme/catalog hash-object -w --stdin
} | repo acme/catalog pack-objects --stdout -q >"$T/pack"
echo "$tip" >"$T/pack.tip"
hostile v0-refs 'endless refs' '\[limit\] .*more than 1000000 refs' 1
hostile v0-long 'refs of many bytes' '\[limit\] .*more than 64 MiB of refs' 1
hostile v0-shallow-refs 'endless cuts among the refs' '\[limit\] .*more than 64 MiB of refs' 1
hostile v0-shallow 'endless cuts' '\[limit\] .*lines' 1
hostile v0-acks 'endless acknowledgements' '\[limit\] .*bytes' 1
hostile v0-unasked 'a cut that was not asked for' 'not a git server' 1
hostile v0-strangers 'a file that nobody requested' '^DONE' 0
is '[H3] a file that was not requested is not written' "$(cat "$T/incoming"/* | wc -c)" "$(repo acme/catalog ls-tree -r -l "$tip" | awk '{n += $4} END {print n}')"
hostile v0-wrong 'another commit than the ref names' '\[damaged\] .*left out the commit 0123456789abcdef' 1
done_testing

#!/bin/sh
# Servers with fewer capabilities: the same packages with more bytes, and nothing
# asked for twice. [H3, row 51, row 53]; HOSTS 6, 9, 13.
. "$(dirname "$0")/../lib/cli.sh"

. "$ROOT/tests/lib/fetch.sh"

# --- the sixteen combinations of version 0, and two of version 2 -------------------
# A lock of a commit that is no tip any more; a version whose tag is annotated.
repo acme/catalog -c user.name=A -c user.email=a@example.org tag -a -m one v1.2.0 "$main"
echo changed >>"$T/src/skills/other/notes.md"
make_repo acme/catalog "$T/src"
tip=$COMMIT
OTHER=$GH/acme/catalog/tree/main/skills/other
VERSION=$GH/acme/catalog/tree/^1.0/skills/hello
start_githost
repo acme/catalog update-ref refs/heads/main "$main"
exits 'a lock of long ago' 0 mapm install --yes "$OTHER" "$VERSION"
cp mapm.lock "$T/old.lock"
cp mapm.yaml "$T/old.yaml"
repo acme/catalog update-ref refs/heads/main "$tip"

# fresh: an empty store and workspace.   clone: one with the lock of long ago.
fresh()
{
    rm -rf "$T/ws" "$T/mapm"
    mkdir "$T/ws" && cd "$T/ws" || exit 1
}
clone()
{
    fresh
    cp "$T/old.yaml" mapm.yaml
    cp "$T/old.lock" mapm.lock
}
combination()
{
    host="[H3] $*"
    start_githost "$@"
    fresh
    exits "$host: installs" 0 mapm install --yes "$OTHER" "$VERSION"
    [ -f "$T/lock" ] || cp mapm.lock "$T/lock"
    is "$host: the same lock" "$(cat mapm.lock)" "$(cat "$T/lock")"
    clone
    exits "$host: a locked commit that is no tip" 0 mapm install --locked
    ok "$host: as it was then" cmp -s .agents/skills/other/notes.md "$T/notes"
}
# more: what asks for refs, tags and history.
more()
{
    exits "$host: outdated" 3 mapm outdated
    exits "$host: verify --remote" 0 mapm verify --remote
    exits "$host: update" 0 mapm update --yes
    is "$host: to the same commit" "$(grep -c "commit: $tip" mapm.lock)" 1
    sed "s/^\( *commit: \)$main/\1$tip/" "$T/old.lock" >mapm.lock
    rm -rf "$T/mapm" .agents
    exits "$host: [F1] not what the commit holds" 1 mapm install --locked
    like "$host: [F1] says so" "$err" 'is not what its commit holds'
}
echo other >"$T/notes"
combination --rtt-ms 0
combination --no-filter
more
combination --no-filter --without shallow

# As JGit does: found out by a refusal, and then known.
start_githost --tips-only
fresh
exits '[H3] a host that gives out tips alone' 0 mapm install --yes "$OTHER" "$VERSION"
is '[H3] the same lock' "$(cat mapm.lock)" "$(cat "$T/lock")"
rm -rf .agents
cp "$T/old.yaml" mapm.yaml
cp "$T/old.lock" mapm.lock
exits '[H3] a locked commit that is no tip' 0 mapm install --locked
ok '[H3] as it was then' cmp -s .agents/skills/other/notes.md "$T/notes"

for filter in '' --no-filter; do
    for shallow in '' '--without shallow'; do
        for any in '' --no-any-oid; do
            for ack in '' --multi-ack; do
                # shellcheck disable=SC2086
                combination --no-v2 $filter $shallow $any $ack
            done
        done
    done
    more
done

# --- what a host can do is kept for a week, and how much it costs is said ------------
start_githost --no-filter
fresh
exits '[H3] a host without a filter' 0 mapm install --yes --verbose "$OTHER"
like '[H3] says what that costs, once' "$(printf '%s\n' "$err" | grep -c 'no partial clone')" '^1$'
like '[H3] against what it would cost' "$err" '127\.0\.0\.1:[0-9]* has no partial clone: 4[0-9]\.. kB instead of [0-9]{3} B$'
is '[H3] three requests, and one to find out' "$(requests)" 4
exits '[H3] another package of the commit' 0 mapm install --yes --quiet "$VERSION"
repo acme/catalog branch next main
reset_log
exits '[H3] another branch, of the same commit' 0 mapm install --yes --quiet "$GH/acme/catalog/tree/next/skills/hello//" || true
reset_log
rm -rf "$T/ws/.agents" "$T/ws/mapm.yaml" "$T/ws/mapm.lock"
skill "$T/two/skills/one"
make_repo acme/second "$T/two"
exits '[H3] another repository of the host' 0 mapm install --yes "$GH/acme/second/tree/main/skills/one"
is '[H3] is not asked what the host can do' "$(request_log | grep -c info-refs)" 0
is '[H3] two requests' "$(requests)" 2
sqlite_set()
{
    python3 - "$MAPM_HOME/mapm.db" "$1" <<'PYTHON'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute(sys.argv[2])
db.commit()
PYTHON
}
skill "$T/two/skills/two"
make_repo acme/second "$T/two"
if sqlite_set 'UPDATE hosts SET since_s = since_s - 7 * 24 * 3600'; then
    reset_log
    exits '[H3] a week later' 0 mapm install --yes "$GH/acme/second/tree/main/skills/two"
    is '[H3] it is asked again' "$(request_log | grep -c info-refs)" 1
fi
done_testing

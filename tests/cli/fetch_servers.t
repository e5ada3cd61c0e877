#!/bin/sh
# mapm-fetch against servers that hold too much, mean harm or can do less.
# FETCH 3, 8; [row 4, row 13, row 14].
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/fetch.sh"

# --- limits [row 4] ---------------------------------------------------------
start_githost
skill "$T/large/skills/small"
skill "$T/large/skills/large"
head -c 33554433 /dev/zero >"$T/large/skills/large/zeros"
skill "$T/large/skills/many"
python3 -S - "$T/large/skills/many" <<'PYTHON'
import os, sys
for i in range(5000):
    os.makedirs("%s/%d" % (sys.argv[1], i // 500), exist_ok=True)
    open("%s/%d/%d" % (sys.argv[1], i // 500, i), "w").close()
PYTHON
make_repo acme/large "$T/large"
drive "$T/incoming" "$GH/acme/large/tree/main/skills/small" \
    "$GH/acme/large/tree/main/skills/large" "$GH/acme/large/tree/main/skills/many"
like 'a skill with a file of 32 MiB and a byte is refused' "$out" '^FAILED .*skills/large \[limit\] .*33554432'
like 'a skill of 5,001 files is refused' "$out" '^FAILED .*skills/many \[limit\]'
like 'another skill of the same repository is fetched' "$out" '^DONE .*skills/small'

# a repository of 20,000 folders: only the way to the package is fetched
git init -q --bare "$T/repos/acme/wide.git"
python3 -S - <<'PYTHON' | repo acme/wide fast-import --quiet
print("commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx")
def put(path, text):
    print("M 100644 inline %s\ndata %d\n%s" % (path, len(text), text))
for i in range(20100):
    put("junk/%d/%d/f" % (i % 200, i), "x%d" % i)
put("skills/hello/SKILL.md", "---\nname: hello\ndescription: Says hello.\n---\n")
put("skills/hello/docs/more.md", "more")
PYTHON
repo acme/wide symbolic-ref HEAD refs/heads/main
want 'a skill of a repository with 20,000 folders is fetched' 0 '^DONE' "$GH/acme/wide/tree/main/skills/hello"
like 'the skill of a wide repository is complete' "$out" '^  644 docs/more.md 4$'
at_most 'a wide repository takes few fetches' "$(stat_of by_cmd.fetch)" 12
drive --catalog "$T/incoming" "$GH/acme/wide"
like 'the wide repository lists its packages' "$out" '^  skill skills/hello$'
stop_githost

# --- servers that mean harm [row 13, row 14] -----------------------------------
hostile()
{
    rm -f "$T/hostile"
    python3 -S "$ROOT/tests/lib/hostile.py" "$1" "$T/hostile" "${5:-}" &
    hostile_pid=$!
    await test -s "$T/hostile"
    url=$(cat "$T/hostile")
    git config --global "url.$url/.insteadOf" $GH/
    want "$2" 1 "$3" "${4:-$HELLO}"
    unlike "$2: the output has no escape character" "$out" "$(printf '\033')"
    kill "$hostile_pid"
    wait "$hostile_pid" 2>/dev/null
    git config --global --remove-section "url.$url/"
}
commit=0123456789abcdef0123456789abcdef01234567
locked="$HELLO#$commit:$commit"
hostile headers 'endless headers' '\[limit\] .*headers|\[fetch\]'
hostile refs 'endless refs' '\[limit\] .*refs'
hostile pullrefs 'endless refs of no use' '\[limit\] .*refs'
hostile progress 'endless progress' '\[limit\]' "$locked"
hostile keepalive '[F3] packets without content, without end' '\[limit\] .*bytes' "$locked"
hostile cut '[F3] progress text, cut, and again: counted over all tries' '\[limit\] .*progress' "$locked"
hostile blocks '[F3] a pack whose bytes inflate to nothing' '\[damaged\] .*more bytes than it has' "$locked"
hostile longlines '[F3] long lines before the pack' '\[limit\] .*bytes' "$locked"
hostile pack 'an endless pack' '\[limit\]|\[damaged\]' "$locked"
hostile info 'endless sections' '\[fetch\]|\[limit\]' "$locked"
hostile lines 'endless lines' '\[fetch\]|\[limit\]' "$locked"
hostile longpkt 'a packet that is too long' 'not a git server'
hostile loop 'a redirect to itself' '\[fetch\] .*circle'
hostile hops 'redirects without end' '\[fetch\] .*circle'
hostile redirects 'a redirect with a password' '\[refused\] .*another (host|port|scheme)'
unlike 'the password of the redirect is not shown' "$out" secret
hostile gzip 'a compressed answer' 'not a git server'
[ -z "${SLOW:-}" ] || hostile drip 'a slow drip' 'too slow|Operation too slow|\[fetch\]'

# [F3] A pack with the locked folder, the trees that prove it and 20,000 blobs that
# nobody requested.
object=$(repo acme/catalog rev-parse main:skills/hello)
git init -q --bare "$T/strangers.git"
python3 -S - <<'PYTHON' | git --git-dir="$T/strangers.git" fast-import --quiet
for i in range(20000):
    print("blob\ndata %d\nstranger %d" % (len("stranger %d" % i), i))
PYTHON
git --git-dir="$T/strangers.git" fetch -q "$T/repos/acme/catalog.git" main
pack_of()
{
    {
        echo "$main"
        git --git-dir="$T/strangers.git" rev-parse "$main^{tree}"
        git --git-dir="$T/strangers.git" ls-tree -r -t "$main" | awk '$2 == "tree" {print $3}'
        git --git-dir="$T/strangers.git" ls-tree -r -t "$object" | awk -v left="${1:-}" '$4 != left {print $3}'
        git --git-dir="$T/strangers.git" cat-file --batch-all-objects --batch-check | awk '$2 == "blob" {print $1}' | grep -vxF "$(git --git-dir="$T/strangers.git" ls-tree -r "$object" | awk '{print $3}')"
    } | git --git-dir="$T/strangers.git" pack-objects --stdout -q >"$T/strangers.pack"
}
pack_of
rm -f "$T/hostile"
python3 -S "$ROOT/tests/lib/hostile.py" strangers "$T/hostile" "$T/strangers.pack" &
hostile_pid=$!
await test -s "$T/hostile"
url=$(cat "$T/hostile")
git config --global "url.$url/.insteadOf" $GH/
want '[F3] a pack with 20,000 objects that nobody requested is accepted' 0 '^DONE' "$HELLO#$main:$object"
is '[F3] no object that nobody requested is stored' "$(grep -arl stranger "$T/incoming" | wc -l)" 0
pack_of SKILL.md
want '[F3] a pack with other content in place of a file is refused' 1 \
    '\[damaged\] .*objects that were not requested: content that does not match its id' "$HELLO#$main:$object"
like '[F3] the error names the file with other content' "$out" '\(SKILL.md\)'
like '[F3] the error suggests git fsck' "$out" 'git fsck'
kill "$hostile_pid"
wait "$hostile_pid" 2>/dev/null
git config --global --remove-section "url.$url/"

# --- lesser servers (FETCH 8) -----------------------------------------------
lesser()
{
    what=$1
    shift
    start_githost "$@"
    want "$what: a skill is fetched" 0 '^DONE .* skill$' "$HELLO"
    unlike "$what: no damage is reported" "$out" DAMAGED
    want "$what: two packages, one by its commit, are fetched" 0 '^DONE .*skills/other' \
        "$HELLO" "$GH/acme/catalog/tree/$main/skills/other"
    want "$what: a locked package is fetched" 0 '^DONE' "$HELLO#$main:$object"
    drive "$T/incoming" "$GH/acme/catalog/tree/nope/skills/hello"
    like "$what: an absent ref is reported" "$out" '\[ref-not-found\]'
}
object=$(repo acme/catalog rev-parse main:skills/hello)
lesser 'no filter' --no-filter
lesser 'no id but those of refs' --no-any-oid
lesser 'version 0 only' --no-v2
lesser 'version 0, no filter' --no-v2 --no-filter
lesser 'as GitHub filters' --filters blob:none,blob:limit,tree:0
start_githost --dumb
want 'a dumb server is refused' 1 '\[fetch\] .*"dumb" server' "$HELLO"
start_githost --dumb application/octet-stream
want '[H3] a dumb server without a type for its files is refused' 1 '\[fetch\] .*"dumb" server' "$HELLO"
start_githost --dumb text/html
want 'a server that sends pages is refused as no git server' 1 '\[fetch\] .*is not a git server: it sent text/html' "$HELLO"
git init -q --bare --object-format=sha256 "$T/repos/acme/new.git"
empty=$(repo acme/new mktree </dev/null)
repo acme/new update-ref refs/heads/main \
    "$(repo acme/new -c user.name=a -c user.email=a@example.org commit-tree -m x "$empty")"
for protocol in '' --no-v2; do
    start_githost $protocol
    want "[H3] a repository with SHA-256 ids is refused by name $protocol" 1 'acme/new names objects by SHA-256' \
        "$GH/acme/new/tree/main/skills/hello"
done
start_githost
git init -q --bare "$T/repos/acme/empty.git"
want 'an empty repository is refused' 1 '\[ref-not-found\] .*empty' "$GH/acme/empty"
done_testing

#!/bin/sh
# mapm-fetch, driven without the rest of mapm (tests/lib/fetch_drive.c), against
# a host that behaves well. tests/cli/fetch_faults.t has those that do not.
. "$(dirname "$0")/../lib/cli.sh"

DRIVE=${MAPM_BUILD:-$ROOT/build}/fetch_drive
[ -x "$DRIVE" ] || broken 'fetch_drive is not built'
GH=https://github.com

# drive ARG...: a new incoming folder, the events in $out.
drive()
{
    rm -rf "$T/incoming"
    mkdir "$T/incoming"
    run "$DRIVE" "$@"
}

skill "$T/src/skills/hello"
printf '#!/bin/sh\necho hi\n' >"$T/src/skills/hello/run.sh"
chmod 755 "$T/src/skills/hello/run.sh"
mkdir -p "$T/src/skills/hello/docs"
echo more >"$T/src/skills/hello/docs/more.md"
skill "$T/src/skills/other"
agent "$T/src/agents/greeter" 'dependencies:' '  skills:' \
    "    - \"$GH/acme/catalog/tree/main/skills/hello\""
mcp "$T/src/mcps/io.example_mcp.json" io.example/mcp npx -y '@example/mcp'
make_repo acme/catalog "$T/src"
main=$COMMIT
start_githost

# one folder: refs, trees, blobs
drive "$T/incoming" "$GH/acme/catalog/tree/main/skills/hello"
is 'mapm-fetch succeeds for a skill' "$status" 0
like 'the result has ref, commit and path of the skill' "$out" "^DONE .* ref=main commit=$main path=skills/hello .* skill$"
like 'the result lists a file in a subfolder with its size' "$out" '^  644 docs/more.md 5$'
like 'the result keeps the executable bit' "$out" '^  755 run.sh 18$'
unlike 'no file of the skill is damaged' "$out" DAMAGED
is 'a skill takes three requests' "$(requests)" 3
like 'mapm-fetch lists only the refs of the wanted name' "$(control GET /log)" '"prefixes": \["refs/heads/main", "refs/tags/main"\]'
is 'the three requests use one connection' "$(stat_of connections)" 1
like 'mapm-fetch reports the requests and the connection' "$out" '^IDLE .*requests=3 connections=1 '
is '[F8] the fetched objects are stored in one file' "$(ls "$T/incoming")" part-0

# more of one repository: one conversation
reset_log
drive "$T/incoming" "$GH/acme/catalog/tree/main/skills/hello" \
    "$GH/acme/catalog/tree/main/skills/other" "$GH/acme/catalog/tree/main/agents/greeter" \
    "$GH/acme/catalog/tree/main/mcps/io.example_mcp.json" "$GH/Acme/Catalog/tree/main/skills/hello"
is 'five packages of one repository are fetched' "$(printf '%s\n' "$out" | grep -c '^DONE')" 5
is 'five packages of one repository take three requests' "$(requests)" 3
like 'an MCP file is fetched as a single file' "$out" '^  644 io.example_mcp.json '
reset_log
drive --closure "$T/incoming" "$GH/acme/catalog/tree/main/agents/greeter"
is 'the closure of an agent contains its dependency' "$(printf '%s\n' "$out" | grep -c '^DONE')" 2
at_most 'the closure takes at most four requests' "$(requests)" 4

# --- refs (FETCH 6; [X13]) ----------------------------------------------------
repo acme/catalog branch release/1.x main
repo acme/catalog branch release-2 main
repo acme/catalog tag v1 main
repo acme/catalog -c user.name=A -c user.email=a@example.org tag -a -m one v1-annotated main
skill "$T/src/skills/late"
make_repo acme/catalog "$T/src"
late=$COMMIT
repo acme/catalog branch both main
repo acme/catalog tag both "$main"
repo acme/catalog branch "$main" main
found()
{
    drive --ref "$T/incoming" "$GH/acme/catalog$2"
    like "$1" "$out" "^REF .* ref=$3 commit=$4 path=$5 "
}
found 'a branch is resolved to its commit' /tree/main/skills/hello main "$late" skills/hello
found 'a branch with a slash is resolved to its commit' /tree/release/1.x/skills/hello release/1.x "$main" skills/hello
found 'an escaped slash is part of the branch name' /tree/release%2F1.x/skills/hello release/1.x "$main" skills/hello
found 'a tag is resolved to its commit' /tree/v1/skills/hello v1 "$main" skills/hello
found 'an annotated tag is resolved to its commit' /tree/v1-annotated/skills/hello v1-annotated "$main" skills/hello
found 'a missing ref means the default branch' '' main "$late" ''
found 'a branch takes precedence over a tag of the same name' /tree/both/skills/late both "$late" skills/late
like 'a note says that the name is a branch and a tag' "$out" 'note: "both" is a branch and a tag'
found '40 digits mean a commit, never a branch of that name' "/tree/$main/skills/hello" '' "$main" skills/hello
repo acme/catalog update-ref -d "refs/heads/$main"
answers()
{
    drive "$T/incoming" "$GH/acme/catalog/tree/$2"
    like "$1" "$out" "$3"
}
answers 'an unknown ref fails with the nearest name' mian/skills/hello '\[ref-not-found\] .*did you mean "main"'
answers 'the prefix of a branch name is not a ref' release/skills/hello '\[ref-not-found\]'
answers 'an abbreviated commit id is refused' "$(printf %.10s "$main")/skills/hello" '\[ref-not-found\] .*use all 40 digits'
# (two requests at a time: the first answer that refuses it says why)
answers 'an unknown commit fails with a reason' 0123456789012345678901234567890123456789/skills/hello 'FAILED .*(acme/catalog has no commit 012345678901|\[refused\] .*in no branch or tag)'
answers 'the id of a tree is not accepted as a commit' "$(repo acme/catalog rev-parse main^{tree})/skills/hello" '\[ref-not-found\] .*tree, not a commit|\[refused\] .*in no branch or tag'
answers 'an unknown path fails with the nearest name' main/skills/helo '\[path-not-found\] .*hello'
answers 'a folder without SKILL.md or AGENTS.md fails' main/skills/hello/docs '\[path-not-found\] .*no SKILL.md or AGENTS.md'
answers '[H1] the path of a document means its package' main/skills/hello/SKILL.md '^DONE .* path=skills/hello '
drive --kinds 1 "$T/incoming" "$GH/acme/catalog/tree/main/skills/hello"
like 'a package of another kind fails with its kind' "$out" '\[path-not-found\] .*is a skill'

part=$(printf '%0200d' 7)
long=$part/$part/$part/$part/$part/$part
repo acme/catalog branch "$long" main
drive "$T/incoming" "$GH/acme/catalog/tree/$long/skills/hello" "$GH/acme/catalog/tree/main/skills/hello"
like '[F1] a ref name that is too long fails its own package' "$out" '^FAILED .*\[ref-not-found\] .*1205 bytes, more than 1024'
like '[F1] a ref name that is too long does not fail another package' "$out" '^DONE'
repo acme/catalog symbolic-ref HEAD "refs/heads/$long"
drive "$T/incoming" acme/catalog/skills/hello "$GH/acme/catalog/tree/main/skills/hello"
like '[F1] a default branch with a name that is too long fails its package' "$out" '^FAILED .*\[ref-not-found\] .*1205 bytes'
like '[F1] such a default branch does not fail another package' "$out" '^DONE'
repo acme/catalog symbolic-ref HEAD refs/heads/main
repo acme/catalog branch -q -D "$long"

# --- commits of forks [row 12] ----------------------------------------------
drive "$T/incoming" "$GH/acme/catalog/tree/$late/skills/hello"
like 'the tip of a branch is accepted by its commit id' "$out" '^DONE'
drive "$T/incoming" "$GH/acme/catalog/tree/$main/skills/hello"
like 'an ancestor of a branch is accepted by its commit id' "$out" '^DONE'
make_repo acme/catalog "$T/src" feature
repo acme/catalog update-ref -d refs/heads/feature
rm -rf "$T/fork" && cp -r "$T/src" "$T/fork" && echo evil >>"$T/fork/skills/hello/SKILL.md"
make_repo acme/catalog "$T/fork" side
make_repo acme/catalog "$T/fork" side
side=$(repo acme/catalog rev-parse side~1)
drive "$T/incoming" "$GH/acme/catalog/tree/$side/skills/hello"
like 'an ancestor of another branch is accepted by its commit id' "$out" '^DONE'
repo acme/catalog update-ref refs/pull/1/head side
repo acme/catalog update-ref -d refs/heads/side
drive "$T/incoming" "$GH/acme/catalog/tree/$side/skills/hello"
like 'a commit outside every branch is refused' "$out" '\[refused\] .*no branch or tag of acme/catalog'
unlike 'no manifest of the refused commit is returned' "$out" '^MANIFEST'
kept=$T/kept
mkdir "$kept"
drive --store "$kept" "$T/incoming" "$GH/acme/catalog/tree/$main/skills/hello"
reset_log
drive --store "$kept" "$T/incoming" "$GH/acme/catalog/tree/$main/skills/hello"
like 'a commit that was proved before is accepted' "$out" '^DONE'
is 'a commit that was proved before needs no request' "$(requests)" 0

# --- locked (DESIGN 6) ------------------------------------------------------
pin()
{
    echo "$GH/acme/catalog/tree/main/$1#$main:$(repo acme/catalog rev-parse "$main:$1")"
}
reset_log
drive "$T/incoming" "$(pin skills/hello)" "$(pin skills/other)" "$(pin agents/greeter)" "$(pin mcps/io.example_mcp.json)"
is 'four locked packages are fetched' "$(printf '%s\n' "$out" | grep -c '^DONE')" 4
is '[F1] four locked packages take two requests' "$(requests)" 2
like 'the locked packages are fetched at their commit' "$out" "^DONE .* commit=$main "
drive "$T/incoming" "$GH/acme/catalog/tree/main/skills/hello#$main:0123456789012345678901234567890123456789"
like 'a locked tree that does not exist fails' "$out" '^FAILED'
drive "$T/incoming" "$(pin skills/hello)" "$GH/acme/catalog/tree/main/skills/hello#$main:0123456789012345678901234567890123456789"
is 'a locked tree that does not exist does not fail another package' "$(printf '%s\n' "$out" | grep -c '^DONE')" 1

# What the commit does not lead to, though the host has it: a deleted branch.
make_repo acme/catalog "$T/fork" gone
gone=$(repo acme/catalog rev-parse gone:skills/hello)
repo acme/catalog update-ref -d refs/heads/gone
true_object=$(repo acme/catalog rev-parse "$main:skills/hello")
drive "$T/incoming" "$GH/acme/catalog/tree/main/skills/hello#$main:$gone"
like '[F1] a locked tree outside the commit fails with both trees' "$out" "^FAILED .*\[locked\] . commit $(printf %.12s "$main") of acme/catalog has tree $true_object at \"skills/hello\", and mapm.lock says $gone"
is '[F1] no manifest of the tree outside the commit is returned' "$(printf '%s\n' "$out" | grep -c '^MANIFEST')" 0
drive "$T/incoming" "$GH/acme/catalog/tree/main/skills/none#$main:$true_object"
like '[F1] a locked tree at another path fails' "$out" '^FAILED .*\[locked\] .* has nothing at "skills/none"'
drive "$T/incoming" "$GH/acme/catalog/tree/main/skills/hello#0123456789012345678901234567890123456789:$true_object"
like '[F1] a locked commit that does not exist fails' "$out" '^FAILED .*has no commit 012345678901'
drive "$T/incoming" "$GH/acme/catalog/tree/main/mcps/io.example_mcp.json#$main:$(repo acme/catalog rev-parse "$main:skills/hello/SKILL.md")"
like '[F1] a locked blob of another file fails' "$out" '^FAILED .*\[locked\] .* has blob '
# In two parts, as packages without a lock are fetched: the document, then the files.
for part in --document --files; do
    drive $part "$T/incoming" "$(pin skills/hello)"
    like "[F1] $part of a locked package succeeds" "$out" '^(OUTLINE|DONE) .* path=skills/hello '
    drive $part "$T/incoming" "$GH/acme/catalog/tree/main/skills/hello#$main:$gone"
    like "[F1, F2] $part of another object than the locked one fails" "$out" '^FAILED .* skills/hello is not the object that is locked'
    unlike "[F1, F2] $part of another object returns nothing of it" "$out" '^(OUTLINE|MANIFEST|DONE)'
done

# --- what the store has -----------------------------------------------------
rm -rf "$kept" && mkdir "$kept"
drive --store "$kept" "$T/incoming" "$GH/acme/catalog/tree/main/skills/hello"
reset_log
drive --store "$kept" "$T/incoming" "$GH/acme/catalog/tree/main/skills/hello"
is 'a stored package takes a single request' "$(requests)" 1
like 'the files of a stored package are marked as stored' "$out" '^  644 SKILL.md .* stored$'
is 'no file is written for a stored package' "$(ls "$T/incoming" | wc -l)" 0
drive --store "$kept" "$T/incoming" "$GH/acme/catalog/tree/main/skills/other"
like 'stored trees save a request for another package' "$out" 'requests=2 '
rm "$kept/$(repo acme/catalog rev-parse main:skills/hello/docs/more.md)"
reset_log
drive --store "$kept" "$T/incoming" "$GH/acme/catalog/tree/main/skills/hello"
is 'a single missing file is the only object that is wanted' "$(control GET /log | grep '"fetch"' | grep -o '"wants": [0-9]*')" '"wants": 1'
skill "$T/wide/skills/wide"
mkdir "$T/wide/skills/wide/docs"
for n in 1 2 3; do echo $n >"$T/wide/skills/wide/docs/$n.md"; done
make_repo acme/wide "$T/wide"
# wide WHAT COUNT FILE...: these are missing, and so many objects are wanted for them.
wide()
{
    what=$1 count=$2
    shift 2
    rm -rf "$T/kept2" && mkdir "$T/kept2"
    drive --store "$T/kept2" "$T/incoming" "$GH/acme/wide/tree/main/skills/wide"
    for f in "$@"; do rm "$T/kept2/$(repo acme/wide rev-parse "main:skills/wide/$f")"; done
    reset_log
    drive --store "$T/kept2" "$T/incoming" "$GH/acme/wide/tree/main/skills/wide"
    like "$what: the fetch succeeds" "$out" '^DONE'
    is "$what: the fetch wants as few objects as possible" "$(control GET /log | sed -n 's/.*"wants": \([1-9][0-9]*\).*/\1/p')" "$count"
}
wide 'a folder is missing' 1 docs/1.md docs/2.md docs/3.md
wide 'a part of a folder is missing' 2 docs/1.md docs/2.md
wide 'all files are missing' 1 SKILL.md docs/1.md docs/2.md docs/3.md
for f in "$kept"/trees-*; do echo x >>"$f"; done
drive --store "$kept" "$T/incoming" "$GH/acme/catalog/tree/main/skills/hello"
like 'damaged stored trees are fetched again' "$out" '^DONE'

# --- what a repository offers -----------------------------------------------
drive --catalog "$T/incoming" "$GH/acme/catalog"
is 'a catalog lists its packages by kind and path' "$(printf '%s\n' "$out" | grep '^  ')" "  agent agents/greeter
  mcp mcps/io.example_mcp.json
  skill skills/hello
  skill skills/late
  skill skills/other"
drive "$T/incoming" acme/catalog
like 'a repository without a package at its root offers its catalog' "$out" '^OFFERS'
mkdir -p "$T/many/.curated" "$T/many/a/deep/place"
skill "$T/many/.curated/one"
skill "$T/many/a/deep/place/two"
echo '# For those who work on it' >"$T/many/AGENTS.md"
make_repo acme/many "$T/many"
drive "$T/incoming" acme/many
is 'a tree of skills in any folder lists them all' "$(printf '%s\n' "$out" | grep '^  ')" "  skill .curated/one
  skill a/deep/place/two"
skill "$T/alone/lone"
make_repo acme/lone "$T/alone/lone"
drive "$T/incoming" acme/lone
like 'a repository that is a skill is fetched as a package' "$out" '^DONE acme/lone .* path= .* skill$'
unlike 'a repository that is a skill offers nothing else' "$out" 'offers'
skill "$T/alone/lone/skills/inner"
make_repo acme/lone "$T/alone/lone"
drive "$T/incoming" acme/lone
like 'a note counts the packages below the SKILL.md of the root' "$out" '  note: .* offers 1 package below its SKILL.md'
drive --files "$T/incoming" acme/lone
unlike 'the note about packages below the root appears once' "$out" 'below its SKILL.md'
drive "$T/incoming" acme/many/a/deep/place/two@main
like 'the short form of an origin resolves path and ref' "$out" '^DONE .* path=a/deep/place/two '

# --- links, submodules, large files -------------------------------
skill "$T/odd/skills/linked"
mkdir -p "$T/odd/docs"
echo text >"$T/odd/docs/guide.md"
ln -s ../../docs/guide.md "$T/odd/skills/linked/guide.md"
ln -s ../../docs "$T/odd/skills/linked/docs"
mkdir "$T/odd/skills/whole"
ln -s ../linked/SKILL.md "$T/odd/skills/whole/SKILL.md"
skill "$T/odd/skills/leaves"
ln -s ../../../x "$T/odd/skills/leaves/x"
skill "$T/odd/skills/absolute"
ln -s /etc/passwd "$T/odd/skills/absolute/x"
skill "$T/odd/skills/dangles"
ln -s nothing "$T/odd/skills/dangles/x"
skill "$T/odd/skills/large"
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:%064d\nsize 9\n' 1 >"$T/odd/skills/large/model.bin"
make_repo acme/odd "$T/odd"
odd()
{
    drive "$T/incoming" "$GH/acme/odd/tree/main/skills/$2"
    like "$1" "$out" "$3"
}
odd 'a link to a folder inside the repository is replaced by its files' linked '^  644 docs/guide.md 5$'
like 'a link to a file inside the repository is replaced by the file' "$out" '^  644 guide.md 5$'
odd 'a SKILL.md that is a link is replaced by the file' whole '^  644 SKILL.md '
odd 'a link out of the repository is refused' leaves '\[refused\]'
odd 'an absolute link is refused' absolute '\[refused\]'
odd 'a link to nothing is refused' dangles '\[refused\]|\[path-not-found\]'
odd 'a pointer of Git LFS is marked' large '^  644 model.bin [0-9]* lfs$'
object=$(repo acme/odd rev-parse main:skills/linked)
drive "$T/incoming" "$GH/acme/odd/tree/main/skills/linked#$COMMIT:$object"
like 'links of a locked package are replaced by their targets' "$out" '^  644 guide.md 5$'
object=$(repo acme/odd rev-parse main:skills/whole)
drive "$T/incoming" "$GH/acme/odd/tree/main/skills/whole#$COMMIT:$object"
like 'a locked package of links alone is fetched' "$out" '^  644 SKILL.md '
rm -rf "$kept" && mkdir "$kept"
drive --serial --store "$kept" "$T/incoming" "$GH/acme/odd/tree/main/skills/linked" "$GH/acme/odd/tree/main/skills/whole"
is 'a manifest that was taken in the meantime serves both packages' "$(printf '%s\n' "$out" | grep -c '^DONE')" 2
rm -rf "$kept" && mkdir "$kept"
drive --serial --store "$kept" "$T/incoming" "$GH/acme/odd/tree/main/docs" "$GH/acme/odd/tree/main/skills/linked"
like 'a link whose target was taken in the meantime is resolved' "$out" '^  644 guide.md 5'
anchor=$(repo acme/odd rev-parse main:skills/large/SKILL.md)
sub=$(printf '100644 blob %s\tSKILL.md\n160000 commit %s\tsub\n' "$anchor" "$COMMIT" | repo acme/odd mktree --missing)
top=$(printf '040000 tree %s\tsub\n' "$sub" | repo acme/odd mktree)
bad=$(GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a repo acme/odd commit-tree -m x "$top")
repo acme/odd update-ref refs/heads/sub "$bad"
drive "$T/incoming" "$GH/acme/odd/tree/sub/sub"
like 'a submodule is refused' "$out" '\[refused\] .*submodule'
target=$(head -c 5000 /dev/zero | tr '\0' a | repo acme/odd hash-object -w --stdin)
long=$(printf '100644 blob %s\tSKILL.md\n120000 blob %s\tx\n' "$anchor" "$target" | repo acme/odd mktree)
top=$(printf '040000 tree %s\tlong\n' "$long" | repo acme/odd mktree)
bad=$(GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a repo acme/odd commit-tree -m x "$top")
repo acme/odd update-ref refs/heads/long "$bad"
drive "$T/incoming" "$GH/acme/odd/tree/long/long"
like '[F3] a link with a target of 5000 bytes is refused' "$out" '\[refused\] .*symbolic link in acme/odd .* has a target of 5000 bytes, more than 4096'
like '[F3] the error says that the link has to be corrected' "$out" 'has to be corrected in the repository'
drive "$T/incoming" "$GH/acme/odd/tree/long/long#$bad:$long"
like '[F3] a locked link with a target of 5000 bytes is refused' "$out" '\[refused\] .*has a target of 5000 bytes'

# --- many repositories at once ----------------------------------------------
for n in 1 2 3 4 5 6; do make_repo "acme/r$n" "$T/src"; done
set --
for n in 1 2 3 4 5 6; do set -- "$@" "$GH/acme/r$n/tree/main/skills/hello"; done
fault '{"kind": "hold", "times": 6}'
drive "$T/incoming" "$@" &
await_held 6
pass 'six repositories are asked at the same time'
clear_faults
wait $!
is 'all six repositories are fetched' "$(grep -c '^DONE' "$T/out")" 6

# --- Ctrl-C, a worker that dies [row 27] ------------------------------------
fault '{"kind": "hold", "times": -1}'
rm -rf "$T/incoming" && mkdir "$T/incoming"
"$DRIVE" "$T/incoming" "$GH/acme/catalog/tree/main/skills/hello" >"$T/out" 2>&1 &
pid=$!
await_held 1
child=$(tr -d ' ' <"/proc/$pid/task/$pid/children")
like 'the worker runs with no_new_privs' "$(cat "/proc/$child/status")" '^NoNewPrivs:.1$'
like 'the worker runs under a seccomp filter' "$(cat "/proc/$child/status")" '^Seccomp:.2$'
kill -TERM "$pid"
wait "$pid"
# (a shell starts what runs beside it without SIGINT)
is 'an interrupt during a stall ends the driver' "$?" 130
not_ok 'an interrupt during a stall also ends mapm-fetch' kill -0 "$child"
"$DRIVE" "$T/incoming" "$GH/acme/catalog/tree/main/skills/hello" >"$T/out" 2>&1 &
pid=$!
await_held 2
kill -9 "$(cat "/proc/$pid/task/$pid/children")"
wait "$pid"
is 'the driver fails when the worker is killed' "$?" 3
like 'the error names the signal that ended the worker' "$(cat "$T/out")" 'mapm-fetch was ended by signal 9'
clear_faults
done_testing

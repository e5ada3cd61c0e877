#!/bin/sh
# The way from a commit to a package in a repository whose trees are larger than
# one should take: 64 KB of them, then only those on the way.
. "$(dirname "$0")/../lib/cli.sh"

DRIVE=${MAPM_BUILD:-$ROOT/build}/fetch_drive
[ -x "$DRIVE" ] || broken 'fetch_drive is not built'
U=https://github.com/acme/large/tree

# pad REPOSITORY FILES: a commit on main with so many more files, each with an id
# of its own, in folders that come before and after all others.
pad()
{
    {
        printf 'commit refs/heads/main\ncommitter a <a@example.org> 1700000000 +0000\n'
        printf 'data 3\npad\nfrom refs/heads/main^0\n'
        awk -v n="$2" 'BEGIN { for (i = 0; i < n; i++) {
            printf "M 100644 inline %s/%d/file-%d\ndata %d\n%s\n", i % 2 ? "aaa" : "zzz",
                i % 40, i, length(i), i } }'
    } | repo "$1" fast-import --quiet
    COMMIT=$(repo "$1" rev-parse main)
}
drive()
{
    rm -rf "$T/incoming"
    mkdir "$T/incoming"
    run "$DRIVE" "$@"
}
# bytes that came, as mapm-fetch counts them: 64 KB, what it had read beyond, 16 KB at
# most, and the way.
received()
{
    printf '%s\n' "$out" | sed -n 's/.*bytes=\([0-9]*\).*/\1/p' | tail -n 1
}

s=$T/src
skill "$s/skills/base"
mkdir "$s/skills/base/docs"
echo more >"$s/skills/base/docs/more.md"
skill "$s/skills/other"
skill "$s/skills/linked"
mkdir -p "$s/shared/texts"
echo text >"$s/shared/texts/guide.md"
ln -s ../../shared/texts "$s/skills/linked/texts"
skill "$s/deep/one/two/skills/far" 'dependencies:' '  skills:' "    - \"$U/main/skills/base\""
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool
make_repo acme/large "$s"
pad acme/large 12000
start_githost

drive "$T/incoming" "$U/main/skills/base"
like '[F10] a skill of a large repository is fetched' "$out" '^DONE .* path=skills/base '
like '[F10] the skill of a large repository is complete' "$out" '^  644 docs/more.md '
at_most '[F10] the fetch of the skill takes at most five requests' "$(requests)" 5
at_most '[F10] the fetch of the skill receives little beyond 64 KB of trees' "$(received)" 83500
reset_log
drive "$T/incoming" "$U/main/skills/base" "$U/main/skills/other" "$U/main/mcps/io.acme_tool.json" "$U/main/deep/one/two/skills/far"
is '[F10] four packages of a large repository are fetched' "$(printf '%s\n' "$out" | grep -c '^DONE')" 4
at_most '[F10] four packages share the requests of a level' "$(requests)" 11
drive "$T/incoming" "$U/main/skills/linked"
like '[F10] a file behind a link is fetched' "$out" '^  644 texts/guide.md '
at_most '[F10] the folders beside the target of the link are not fetched' "$(received)" 83500
drive "$T/incoming" "$U/main/skills/bas"
like '[F10] a missing path is reported with a suggestion' "$out" '\[path-not-found\] .*did you mean'
reset_log
drive --catalog "$T/incoming" acme/large
like '[F10] a whole repository lists its packages' "$out" '^  skill skills/other'
is '[F10] a whole repository takes two requests' "$(requests)" 2
drive --catalog "$T/incoming" "$U/main/deep/one"
like '[F10] a folder of a repository lists its packages' "$out" '^  skill deep/one/two/skills/far'
at_most '[F10] other folders of the repository are not fetched' "$(received)" 83500
drive --closure "$T/incoming" "$U/main/deep/one/two/skills/far"
is '[F10] a dependency is fetched with its package' "$(printf '%s\n' "$out" | grep -c '^DONE')" 2

# --- locked: the object, and beside it the way ---------------------------------------

pin()
{
    echo "$U/main/$1#$COMMIT:$(repo acme/large rev-parse "$COMMIT:$1")"
}
reset_log
drive "$T/incoming" "$(pin skills/base)" "$(pin skills/other)" "$(pin mcps/io.acme_tool.json)"
is '[F1] three locked packages are fetched' "$(printf '%s\n' "$out" | grep -c '^DONE')" 3
is '[F1] locked packages take a request for objects and one a level' "$(requests)" 3
at_most '[F1] locked packages need only the trees on their way' "$(received)" 83500
drive "$T/incoming" "$(pin skills/linked)"
like '[F1] a file behind a link of a locked package is fetched' "$out" '^  644 texts/guide.md '
wrong=$(repo acme/large rev-parse "$COMMIT:skills/other")
drive "$T/incoming" "$U/main/skills/base#$COMMIT:$wrong"
like '[F1] a locked package with another object at its path is refused' "$out" '^FAILED .*\[locked\] .*at "skills/base"'
object=$(repo acme/large rev-parse "$COMMIT:skills/base")
for lock in "$COMMIT" "$COMMIT:$object"; do
    for count in 16 17; do
        drive "$T/incoming" "${U}$(printf '/r%.0s' $(seq $count))/skills/base#$lock"
        case $count in
        16) like "[F1] a ref of 16 segments: ${lock#$COMMIT}" "$out" '^DONE .* path=skills/base ' ;;
        17) like "[F1] a ref has no more: ${lock#$COMMIT}" "$out" '^FAILED ' ;;
        esac
    done
done

# --- many commits of one repository, in one lock ----------------------------------------

# commits REPOSITORY COUNT PADDING: as many commits, each of which brings a skill, and
# so many other files first.
commits()
{
    git init -q --bare -b main "$T/repos/$1.git"
    awk -v n="$2" -v padding="$3" 'BEGIN { for (i = 1; i <= n; i++) {
        text = sprintf("---\nname: s%d\ndescription: Number %d.\n---\n\n# s%d\n", i, i, i)
        printf "commit refs/heads/main\ncommitter a <a@example.org> %d +0000\ndata 1\nx\n", 1700000000 + i
        if (i == 1)
            for (k = 0; k < padding; k++)
                printf "M 100644 inline pad/%d/file-%d\ndata %d\n%s\n", k % 40, k, length(k), k
        printf "M 100644 inline skills/s%d/SKILL.md\ndata %d\n%s\n", i, length(text), text
    } }' | git -C "$T/repos/$1.git" fast-import --quiet
}
# pins REPOSITORY COUNT [same]: skill i at commit i, or all at the last one.
pins()
{
    at=main
    for i in $(seq "$2"); do
        [ "${3-}" = same ] || at=main~$(($2 - i))
        echo "https://github.com/$1/tree/main/skills/s$i#$(repo "$1" rev-parse "$at"):$(repo "$1" rev-parse "$at:skills/s$i")"
    done
}
commits acme/fifty 50 0
commits acme/fifty-large 50 4000
for which in same each; do
    reset_log
    drive "$T/incoming" $(pins acme/fifty 50 $which)
    is "[F1] 50 locked entries of $which commit are fetched" "$(printf '%s\n' "$out" | grep -c '^DONE')" 50
    is "[F1] 50 locked entries of $which commit take two requests" "$(requests)" 2
    reset_log
    drive "$T/incoming" $(pins acme/fifty-large 50 $which)
    is "[F1] 50 locked entries of large trees, $which commit, are fetched" "$(printf '%s\n' "$out" | grep -c '^DONE')" 50
    at_most "[F1] 50 locked entries of large trees, $which commit, take at most four requests" "$(requests)" 4
done

# --- many packages of one commit --------------------------------------------------------

# origins REPOSITORY COUNT: skills 1 ... COUNT of the branch, which nothing pins.
origins()
{
    seq "$2" | sed "s,.*,https://github.com/$1/tree/main/skills/s&,"
}
reset_log
drive "$T/incoming" $(origins acme/fifty-large 50)
is '[F7] 50 packages of a large repository are fetched' "$(printf '%s\n' "$out" | grep -c '^DONE')" 50
at_most '[F7] 50 packages of a large repository take at most three requests' "$(requests)" 3
sent=$(control GET /log | grep '"ev": "req"' | sed -n 's/.*"in": \([0-9]*\).*/\1/p' | sort -n | tail -n 1)
at_most '[F7] a long request is compressed to at most 1800 bytes' "$sent" 1800
drive "$T/incoming" $(origins acme/fifty-large 15)
is '[F10] 15 packages of a large repository are fetched' "$(printf '%s\n' "$out" | grep -c '^DONE')" 15
at_most '[F10] 15 packages of a large repository need only the trees on their way' "$(received)" 90000

# A chain of 40: the packages that its first one leads to are many only later.
git -C "$T/repos/acme" clone -q --bare fifty-large.git chain.git
awk 'BEGIN {
    printf "commit refs/heads/main\ncommitter a <a@example.org> 1700001000 +0000\ndata 1\nx\nfrom refs/heads/main^0\n"
    for (i = 1; i <= 40; i++) {
        text = sprintf("---\nname: c%d\ndescription: Number %d.\nversion: 1.0.0\n", i, i)
        if (i < 40)
            text = text sprintf("dependencies:\n  skills:\n    - \"https://github.com/acme/chain/tree/main/chain/c%d/skill\"\n", i + 1)
        text = text sprintf("---\n\n# c%d\n", i)
        printf "M 100644 inline chain/c%d/skill/SKILL.md\ndata %d\n%s\n", i, length(text), text
    }
}' | repo acme/chain fast-import --quiet
reset_log
drive --closure "$T/incoming" https://github.com/acme/chain/tree/main/chain/c1/skill
is '[F7] a chain of 40 dependencies is fetched' "$(printf '%s\n' "$out" | grep -c '^DONE')" 40
at_most '[F7] a chain of 40 dependencies takes at most 50 requests' "$(requests)" 50
done_testing

#!/bin/sh
# What an update changes, and what it leaves: content, not commits. [D1, D2, D3, F1]
. "$(dirname "$0")/../lib/cli.sh"
s=$T/src
U=https://github.com/acme/catalog/tree

# fresh NAME: a new workspace.
fresh()
{
    mkdir "$T/$1" && cd "$T/$1" || exit 1
}
# entry NAME: its block of the lock.
entry()
{
    sed -n "\\,^    name: $1\$,,/^  - /p" "${2:-mapm.lock}" | grep -v '^  - '
}

# --- links ----------------------------------------------------------------------

skill "$s/skills/plain"
skill "$s/real/alpha" 'name: linked'
mkdir -p "$s/skills/linked" "$s/shared"
ln -s ../../real/alpha/SKILL.md "$s/skills/linked/SKILL.md"
skill "$s/skills/guide"
echo one >"$s/shared/guide.md"
ln -s ../../shared/guide.md "$s/skills/guide/guide.md"
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool
make_repo acme/catalog "$s"
start_githost
exits 'a workspace' 0 mapm install --yes "$U/main/skills/plain" "$U/main/skills/linked" \
    "$U/main/skills/guide" "$U/main/mcps/io.acme_tool.json"
cp mapm.lock "$T/first.lock"
echo x >"$s/README.md"
make_repo acme/catalog "$s"
exits '[D1] a commit that touches none of them' 0 mapm outdated
like '[D1] says so' "$err" 'nothing has changed'
exits '[D2] and an update' 0 mapm update
ok '[D2] leaves the lock' cmp mapm.lock "$T/first.lock"
exits '[D1] on a machine that has nothing' 0 env MAPM_HOME="$T/none" "$MAPM" outdated
sed -i 's/^version:.*/version: 1.1.0/' "$s/real/alpha/SKILL.md"
make_repo acme/catalog "$s"
reset_log
exits '[D1] the target of a linked SKILL.md' 3 mapm outdated
is '[D1] is a change' "$(printf '%s\n' "$out" | sed 's/([^)]*)//g; s/  */ /g')" 'skill linked 1.0.0 -> 1.1.0 main'
at_most '[D1] found with two more requests' "$(requests)" 3
exits '[D1] with nothing in the store' 3 env MAPM_HOME="$T/none2" "$MAPM" outdated
is '[D1] too' "$(printf '%s\n' "$out" | wc -l)" 1
exits '[D1] an update' 0 mapm update
like '[D1] takes it' "$(cat .agents/skills/linked/SKILL.md)" '^version: 1.1.0$'
is '[D2] and nothing else' "$(diff "$T/first.lock" mapm.lock | grep -c '^>')" 3
echo two >"$s/shared/guide.md"
make_repo acme/catalog "$s"
exits '[D1] so is that of another file' 3 mapm outdated
like '[D1] of that package' "$out" '^skill +guide '
is '[D1] alone' "$(printf '%s\n' "$out" | wc -l)" 1
exits '[D1] which an update takes' 0 mapm update
is '[D1] whole' "$(cat .agents/skills/guide/guide.md)" two

# --- folders of this machine ----------------------------------------------------------

fresh folders
skill "$T/mine/local"
exits 'a folder' 0 mapm install "$T/mine/local"
exits '[D1] that stays' 0 mapm outdated
sed -i 's/^version:.*/version: 2.0.0/' "$T/mine/local/SKILL.md"
exits '[D1] that changes' 3 mapm outdated
like '[D1] is outdated' "$out" '^skill +local +1\.0\.0 -> 2\.0\.0$'
exits '[D1] for programs' 3 mapm outdated --json
like '[D1] without a commit' "$out" '"new_version": *"2\.0\.0"'
like '[D1] at all' "$out" '"locked": *null'
exits '[D1] offline, as there is nothing else to ask' 3 mapm outdated --offline
exits 'an update' 0 mapm update
exits '[D1] and it is as it should be' 0 mapm outdated
rm -r "$T/mine/local"
exits '[D3] a folder that is gone' 3 mapm outdated
like '[D3] is shown as gone' "$out" '^skill +local +2\.0\.0 -> gone$'

# --- two branches -------------------------------------------------------------------

fresh team
git init -q -b main . && git config user.name x && git config user.email x@example.com
exits 'a team' 0 mapm install --yes "$U/main/skills/plain" "$U/main/skills/linked" "$U/main/skills/guide"
git add mapm.yaml mapm.lock && git commit -qm first
git checkout -q -b one
echo y >"$s/README.md" && make_repo acme/catalog "$s"
exits '[D2] an update at one commit' 0 mapm update
git commit -q --allow-empty -am one
git checkout -q main && git checkout -q -b two
echo z >"$s/README.md" && make_repo acme/catalog "$s"
exits '[D2] and one at another' 0 mapm update
git commit -q --allow-empty -am two
ok '[D2] merge' git merge -q one
git checkout -q main && git checkout -q -b three
echo later >>"$s/skills/plain/SKILL.md" && make_repo acme/catalog "$s"
exits '[D2] a package that changed on one branch' 0 mapm update
git commit -qam three && git checkout -q -b four main
echo later >>"$s/shared/guide.md" && make_repo acme/catalog "$s"
exits '[D2] and another on the other' 0 mapm update guide
git commit -qam four
ok '[D2] merge, too' git merge -q -m merge three
exits '[D2] to a lock that holds' 0 mapm install --locked
rm -rf .agents .claude
exits '[D2] cold, as well' 0 env MAPM_HOME="$T/cold" "$MAPM" install --locked

# A team that commits .agents: a checkout brings the lock and the folders of another
# branch, and the record on this machine is of neither.
fresh kept
git init -q -b main . && git config user.name x && git config user.email x@example.com
exits 'a team' 0 mapm install --yes "$U/main/skills/plain" "$U/main/skills/guide"
git add . && git commit -qm first && git checkout -q -b other
for text in one two; do
    echo "$text" >>"$s/skills/plain/SKILL.md" && make_repo acme/catalog "$s"
    [ "$text" = two ] || mapm update -q
done
git commit -qam other && git checkout -q main
exits 'installed on a branch' 0 mapm install
git checkout -q other
exits '[D4] an update on another' 0 mapm update
like '[D4] takes what the lock of that branch names' "$(tail -n 1 .agents/skills/plain/SKILL.md)" two
not_ok '[D4] with nothing to keep a copy of' test -e .agents/.mapm/backup
git checkout -q . && echo mine >>.agents/skills/plain/SKILL.md
exits '[D4] an edit on that branch' 0 mapm update
like '[D4] is named' "$err" 'plain was edited and is left as it is'
is '[D4] and still there' "$(tail -n 1 .agents/skills/plain/SKILL.md)" mine
git checkout -q .
exits '[D4] a remove there' 0 mapm remove plain
not_ok '[D4] takes the folder' test -e .agents/skills/plain
rm -rf "$T/cloned" && git checkout -q . && git clone -q . "$T/cloned" && cd "$T/cloned" || exit 1
exits '[D4] an update in a clone' 0 mapm update
like '[D4] without a record' "$(tail -n 1 .agents/skills/plain/SKILL.md)" two
like '[D4] takes it as well' "$out" '~ skill plain'
# What leaves the lock goes, though the record on this machine has nothing of it.
for at in "$T/kept" "$T/cloned"; do
    cd "$at" && git checkout -q . || exit 1
    [ "$at" = "$T/cloned" ] && rm -rf .agents/.mapm || { git checkout -q -b gone$$ && mapm remove -q plain && git checkout -q -f other; }
    exits '[D4] a remove of what a checkout brought' 0 mapm remove plain
    not_ok '[D4] takes the folder' test -e .agents/skills/plain
    not_ok '[D4] and the link of a client' test -L .claude/skills/plain
    ok '[D4] others stay' test -e .claude/skills/guide/SKILL.md
    git checkout -q . && rm -rf .agents/.mapm && echo mine >.agents/skills/plain/mine.md
    exits '[D4] with a file of the user' 0 env MAPM_HOME="$T/cold-gone" "$MAPM" remove plain
    is '[D4] the folder stays' "$(cat .agents/skills/plain/mine.md)" mine
    like '[D4] which is said' "$err" 'plain/mine\.md'
done

# --- many commits -----------------------------------------------------------------------

fresh many
m=$T/many-src
for i in 1 2 3 4 5 6 7 8; do skill "$m/skills/s$i"; done
make_repo acme/many "$m"
exits 'a catalog' 0 mapm install --yes --all acme/many
for i in 1 2 3 4 5 6; do
    echo "$i" >>"$m/skills/s$i/SKILL.md" && make_repo acme/many "$m"
    run mapm update
done
is '[D2] a lock of many commits' "$(sed -n 's/.*commit: //p' mapm.lock | sort -u | wc -l)" 7
rm -rf .agents
reset_log
exits '[D2] cold' 0 env MAPM_HOME="$T/cold-many" "$MAPM" install --locked
is '[F1] takes two requests' "$(requests)" 2
reset_log
echo 7 >>"$m/skills/s7/SKILL.md" && make_repo acme/many "$m"
exits '[D1] outdated' 3 env MAPM_HOME="$T/cold-many" "$MAPM" outdated
is '[D1] takes one, and two for the ref' "$(requests)" 3
reset_log
exits '[D2] an update where the store has nothing' 0 env MAPM_HOME="$T/cold-many2" "$MAPM" update
at_most '[D2] takes no more' "$(requests)" 3
like '[D2] and moves what has changed' "$(entry s7)" "commit: $COMMIT"
unlike '[D2] alone' "$(entry s8)" "commit: $COMMIT"
exits '[D2] which is proved' 0 env MAPM_HOME="$T/cold-many2" "$MAPM" verify

# --- a repository in another order ---------------------------------------------------

fresh order
o=$T/order-src
skill "$o/skills/s-01"
for i in $(seq -w 2 21); do
    mkdir "$o/skills/s-$i" && sed "s/s-01/s-$i/" "$o/skills/s-01/SKILL.md" >"$o/skills/s-$i/SKILL.md"
done
make_repo acme/order "$o"
exits 'a catalog' 0 mapm install --yes --all acme/order
mkdir "$o/plugins" && mv "$o/skills" "$o/plugins/all"
make_repo acme/order "$o"
exits '[D3] all of it is elsewhere' 3 mapm update
is '[D3] one line names them' "$(printf '%s\n' "$err" | grep -c gone)" 1
like '[D3] each' "$err" '^warning: 21 packages of acme/order are gone, and stay as they are: s-01, .*, s-21$'
like '[D3] and the ways out' "$err" 'mapm remove s-01, mapm install pins it, as in mapm install .*/skills/s-01 '
like '[D3] and where they are now' "$err" '21 of them are at another path, as s-01 at .*/plugins/all/s-01 '
exits '[D3] for programs' 3 mapm update --json
is '[D3] all places' "$(printf '%s\n' "$out" | grep -c '"moved_to": ".*/plugins/all/s-')" 21
exits '[D3] with -v' 3 mapm update -v
is '[D3] a place each' "$(printf '%s\n' "$err" | grep -c 'then mapm install .*/plugins/all/s-')" 21
is '[D3] a line each' "$(printf '%s\n' "$err" | grep -c ' is gone, and stays at ')" 21
run mapm install "$(printf '%s\n' "$err" | sed -n 's/.*mapm install \(.*s-21\) pins it/\1/p')"
is '[D3] one that is pinned' "$status" 0
exits '[D3] is not gone' 3 mapm outdated
unlike '[D3] any more' "$out" '^skill +s-21 '

# --- a forced push ----------------------------------------------------------------------

fresh forced
f=$T/forced-src
skill "$f/skills/alpha"
skill "$f/skills/beta"
make_repo acme/forced "$f"
exits 'a workspace' 0 mapm install --yes --all acme/forced
mkdir "$T/alone" && (cd "$T/alone" && mapm install acme/forced/skills/alpha 2>/dev/null)
echo later >>"$f/skills/beta/SKILL.md"
orphaned()
{
    make_repo acme/forced "$f"
    orphan=$(repo acme/forced -c user.name=x -c user.email=x@example.com commit-tree -m new 'main^{tree}')
    repo acme/forced update-ref refs/heads/main "$orphan"
    repo acme/forced reflog expire --expire=now --all
    repo acme/forced gc -q --prune=now
}
orphaned
rm -rf .agents
reset_log
exits '[D2] a locked commit that is no longer served' 0 mapm install --locked
is '[D2] needs no request where it is proved' "$(requests)" 0
cp mapm.lock "$T/proved.lock"
reset_log
exits '[D2] outdated, with an empty store' 3 env MAPM_HOME="$T/cold-outdated" "$MAPM" outdated
is '[D2] asks once more for what the server says is gone' "$(requests)" 4
exits '[D2] an update' 0 mapm update
is '[D2] leaves what has not changed' "$(entry alpha)" "$(entry alpha "$T/proved.lock")"
exits '[D2] one by name' 0 mapm update alpha
like '[D2] takes the commit that others get' "$(entry alpha)" "commit: $orphan"
cp mapm.lock "$T/named.lock"
exits '[D2] once more' 0 mapm update alpha
ok '[D2] changes nothing' cmp mapm.lock "$T/named.lock"
cp "$T/proved.lock" mapm.lock
rm -rf .agents
exits '[D2] where it is not' 1 env MAPM_HOME="$T/cold-forced" "$MAPM" install --locked
like '[D2] it is refused' "$err" 'skill alpha: its commit is no longer served, and was never proved on this machine'
like '[D2] with the way out' "$err" 'run mapm update (alpha|beta)'
not_ok '[D2] and nothing is there' test -e .agents
cp mapm.lock "$T/forced.lock"
exits '[D2] which helps' 0 env MAPM_HOME="$T/cold-forced" "$MAPM" update alpha beta
like '[D2] at the new commit' "$(entry alpha)" "commit: $orphan"
exits '[D2] so for all' 0 env MAPM_HOME="$T/cold-forced" "$MAPM" update
exits '[D2] and then for others' 0 env MAPM_HOME="$T/cold-forced2" "$MAPM" install --locked


# the proof is there, the content is not
exits '[D2] a store' 0 mapm store gc
find "$MAPM_HOME/store/packs" "$MAPM_HOME/store/objects" -type f -exec rm -f {} +
cd "$T/alone" && rm -rf .agents || exit 1
exits '[D2] with the proof alone' 0 mapm install --locked
like '[D2] takes the content, and says so' "$err" 'its locked commit is no longer served: taken as it was proved'
same_tree '[D2] as it was' .agents/skills/alpha "$f/skills/alpha"
exits '[D2] verified' 0 mapm verify
exits '[D2] which proves it no less' 0 mapm install --locked --offline
cd "$T/forced" && cp "$T/forced.lock" mapm.lock && rm -rf .agents || exit 1
exits '[D2] content that is gone, too' 1 mapm install --locked
like '[D2] is refused' "$err" 'skill beta: its commit is no longer served, nor is its content'
like '[D2] with the way out as well' "$err" 'run mapm update beta'

# --- closures that cannot be resolved ---------------------------------------------------

fresh closures
MAPM_HOME=$T/mapm
c=$T/closures-src
C=https://github.com/acme/closures/tree
skill "$c/skills/base" 'scope: acme'
skill "$c/skills/deep" 'scope: acme'
skill "$c/skills/mid" 'scope: acme' 'dependencies:' '  skills:' "    - $C/main/skills/deep"
agent "$c/agents/boss" 'scope: acme' 'dependencies:' '  skills:' "    - $C/main/skills/mid" "    - $C/main/skills/base"
skill "$c/skills/free" 'scope: acme'
skill "$c/skills/other" 'scope: acme' 'dependencies:' '  skills:' "    - $C/main/skills/base"
make_repo acme/closures "$c"
exits 'roots' 0 mapm install --yes "$C/main/agents/boss" "$C/main/skills/free" "$C/main/skills/other"
cp mapm.lock "$T/closures.lock"
change()
{
    for name in "$@"; do
        sed -i 's/^version:.*/version: 2.0.0/' "$c/skills/$name/SKILL.md"
    done
}
change base deep free
skill "$c/skills/mid" 'scope: acme' 'version: 2.0.0' 'dependencies:' '  skills:' "    - $C/main/skills/nowhere"
make_repo acme/closures "$c"
reset_log
exits '[D3] a root that needs something that is not there' 3 mapm update
at_most '[D3] asks no more' "$(requests)" 4
like '[D3] is named' "$err" 'agent acme/boss stays as it is, with all that it needs: there is no "nowhere"'
like '[D3] with the ways out' "$err" 'mapm remove acme/boss takes it out, mapm install .*/agents/boss pins it'
unlike '[D3] others are not' "$err" 'acme/(free|other) stays'
like '[D3] and updated' "$(entry acme/free)" 'version: 2.0.0'
for name in acme/boss acme/mid acme/deep acme/base; do
    is "[D3] its closure is whole: $name" "$(entry $name)" "$(entry $name "$T/closures.lock")"
done
exits '[D3] --json' 3 mapm update --json
printf '%s\n' "$out" >"$T/out.json"
is '[D3] has it' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
print([(h["type"], h["name"], h["state"], h["root"]) for h in d["held"]])
P
)" "[('agent', 'acme/boss', 'unresolvable', True)]"
exits '[D3] the lock holds' 0 mapm install --locked
exits '[D3] elsewhere, too' 0 env MAPM_HOME="$T/cold-closures" "$MAPM" install --locked
exits '[D3] --diff' 3 mapm update --diff
like '[D3] names it, too' "$err" 'agent acme/boss stays'
exits '[D3] by name' 3 mapm update acme/mid
like '[D3] the same' "$err" 'agent acme/boss stays'
skill "$c/skills/mid" 'scope: acme' 'version: 2.0.0'
skill "$c/skills/free" 'scope: acme' 'version: 3.0.0' 'dependencies:' '  skills:' \
    "    - https://github.com/acme/rival/tree/main/skills/base"
skill "$T/rival/skills/base" 'scope: acme' 'description: "A rival."'
make_repo acme/rival "$T/rival"
make_repo acme/closures "$c"
exits '[D3] a root that brings a name of another package' 3 mapm update
like '[D3] is named' "$err" 'skill acme/free stays as it is'
like '[D3] and stays' "$(entry acme/free)" 'version: 2.0.0'
like '[D3] the one before is updated' "$(entry acme/mid)" 'version: 2.0.0'
like '[D3] with what it needs' "$(entry acme/base)" 'version: 2.0.0'
skill "$c/skills/free" 'scope: acme' 'version: 4.0.0' 'dependencies:' '  skills:' "    - $C/main/skills/other"
skill "$c/skills/other" 'scope: acme' 'dependencies:' '  skills:' "    - $C/main/skills/free"
make_repo acme/closures "$c"
exits '[D3] two that form a cycle' 3 mapm update
like '[D3] stay' "$(entry acme/free)" 'version: 2.0.0'
fault '{"kind": "status", "status": 500, "match": {"cmd": "ls-refs"}, "times": -1}'
exits '[D3] a host that fails is no reason to hold' 1 mapm update
clear_faults
rm -r "$c/skills/base"
skill "$c/skills/other" 'scope: acme' 'version: 5.0.0' 'dependencies:' '  skills:' "    - $C/main/skills/base"
skill "$c/skills/free" 'scope: acme' 'version: 5.0.0'
make_repo acme/closures "$c"
exits '[D3] a dependency that is gone' 3 mapm update
like '[D3] is named' "$err" 'skill acme/base is gone, and stays at 2\.0\.0'
like '[D3] with what needs it' "$err" 'mapm why acme/base'
like '[D3] which is updated' "$(entry acme/other)" 'version: 5.0.0'
exits '[D3] the lock holds again' 0 env MAPM_HOME="$T/cold-closures" "$MAPM" install --locked

# --- many repositories ------------------------------------------------------------------

stop_githost
rm -rf "$T/repos"
"$ROOT/tests/githost/catalog-gen" --out "$T/repos" --repos 10 --skills 190 --mcps 0 --agents 10 >/dev/null
start_githost
fresh ten
python3 -S - "$T/repos/index.json" >mapm.yaml <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
print("dependencies:\n  skills:")
for u, n in sorted(d["nodes"].items()):
    if n["path"].startswith("skills/"):
        print("    - " + u)
P
exits 'packages of ten repositories' 0 mapm install --yes
at_least=$(grep -c '^  - type' mapm.lock)
ok '[D1] nearly 200' test "$at_least" -ge 190
reset_log
exits '[D1] outdated' 0 mapm outdated
is '[D1] takes a request a repository' "$(requests)" 10
# push REPOSITORY PATH TEXT: a commit on main that adds or replaces a file.
push()
{
    GIT_INDEX_FILE=$T/index
    export GIT_INDEX_FILE
    rm -f "$T/index"
    repo "$1" read-tree main
    repo "$1" update-index --add --cacheinfo \
        "100644,$(printf '%s\n' "$3" | repo "$1" hash-object -w --stdin),$2"
    repo "$1" update-ref refs/heads/main "$(repo "$1" -c user.name=x -c user.email=x@example.com \
        commit-tree -p main -m new "$(repo "$1" write-tree)")"
    unset GIT_INDEX_FILE
}
# most: the requests of the repository with the most of them.
most()
{
    request_log | cut -d' ' -f3 | sort | uniq -c | sort -n | sed -n '$s/^ *\([0-9]*\) .*/\1/p'
}
ten=$(cd "$T/repos" && ls -d */*.git | sed 's/\.git$//')
is 'there are ten' "$(printf '%s\n' "$ten" | wc -l)" 10
for name in $ten; do
    push "$name" README.md 'no package'
    push "$name" docs/more.md 'nor is this'
done
cp mapm.lock "$T/ten.lock"
# All connections to a host are in use before any has an answer: 30 requests are
# at most 6 round trips.
reset_log
fault '{"kind": "hold", "match": {"cmd": "ls-refs"}, "times": -1}'
mapm outdated >"$T/out" 2>"$T/err" &
pid=$!
await_held 8
clear_faults
wait $pid
is '[D1] all refs have moved, and no content' "$?" 0
is '[D1] which is said' "$(cat "$T/out" "$T/err")" 'nothing has changed'
at_most '[D1] with at most two more requests for each' "$(requests)" 30
at_most '[D1] one after the other' "$(most)" 3
reset_log
exits '[D2] an update' 0 mapm update
at_most '[D2] takes no more' "$(requests)" 30
ok '[D2] and leaves the lock' cmp mapm.lock "$T/ten.lock"
changed=0
for name in $(printf '%s\n' "$ten" | head -n 4); do
    for path in $(sed -n "s,^    origin: https://github.com/$name/tree/main/,,p" mapm.lock |
        grep ^skills | head -n 3); do
        push "$name" "$path/notes.md" 'new' && changed=$((changed + 1))
    done
done
isnt 'some change' $changed 0
for home in mapm cold-ten; do
    reset_log
    exits "[D1] content of $changed packages ($home)" 3 env MAPM_HOME="$T/$home" "$MAPM" outdated
    is '[D1] which are listed' "$(printf '%s\n' "$out" | wc -l)" $changed
    at_most '[D1] with no more requests' "$(requests)" 30
    at_most '[D1] of a repository' "$(most)" 3
done
reset_log
exits '[D1] and by an update' 0 mapm update
is '[D2] these entries change' "$(diff "$T/ten.lock" mapm.lock | grep -c '^> .*commit:')" $changed
exits '[D1] then nothing is outdated' 0 mapm outdated

done_testing

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
exits 'install of linked skills and a server succeeds' 0 mapm install --yes "$U/main/skills/plain" "$U/main/skills/linked" \
    "$U/main/skills/guide" "$U/main/mcps/io.acme_tool.json"
cp mapm.lock "$T/first.lock"
echo x >"$s/README.md"
make_repo acme/catalog "$s"
exits '[D1] outdated exits with 0 after a commit that touches no package' 0 mapm outdated
like '[D1] outdated reports that nothing has changed' "$err" 'nothing has changed'
exits '[D2] update succeeds after a commit that touches no package' 0 mapm update
ok '[D2] update leaves mapm.lock unchanged when no content has changed' cmp mapm.lock "$T/first.lock"
exits '[D1] outdated with an empty store exits with 0 when no content has changed' 0 env MAPM_HOME="$T/none" "$MAPM" outdated
sed -i 's/^version:.*/version: 1.1.0/' "$s/real/alpha/SKILL.md"
make_repo acme/catalog "$s"
reset_log
exits '[D1] outdated exits with 3 when the target of a linked SKILL.md changes' 3 mapm outdated
is '[D1] outdated lists the skill with the changed link target alone' "$(printf '%s\n' "$out" | sed 's/([^)]*)//g; s/  */ /g')" 'skill linked 1.0.0 -> 1.1.0 main'
at_most '[D1] outdated compares link targets with two more requests' "$(requests)" 3
exits '[D1] outdated with an empty store exits with 3 for a changed link target' 3 env MAPM_HOME="$T/none2" "$MAPM" outdated
is '[D1] outdated with an empty store lists one package' "$(printf '%s\n' "$out" | wc -l)" 1
exits '[D1] update succeeds after a change of a link target' 0 mapm update
like '[D1] update provisions the changed link target' "$(cat .agents/skills/linked/SKILL.md)" '^version: 1.1.0$'
is '[D2] update changes three lines of the lock' "$(diff "$T/first.lock" mapm.lock | grep -c '^>')" 3
echo two >"$s/shared/guide.md"
make_repo acme/catalog "$s"
exits '[D1] outdated exits with 3 when another linked file changes' 3 mapm outdated
like '[D1] outdated lists the skill with the changed linked file' "$out" '^skill +guide '
is '[D1] outdated lists no other skill' "$(printf '%s\n' "$out" | wc -l)" 1
exits '[D1] update succeeds after a change of a linked file' 0 mapm update
is '[D1] update provisions the new content of the linked file' "$(cat .agents/skills/guide/guide.md)" two

# --- folders of this machine ----------------------------------------------------------

fresh folders
skill "$T/mine/local"
exits 'install of a local folder succeeds' 0 mapm install "$T/mine/local"
exits '[D1] outdated exits with 0 for an unchanged local folder' 0 mapm outdated
sed -i 's/^version:.*/version: 2.0.0/' "$T/mine/local/SKILL.md"
exits '[D1] outdated exits with 3 for a changed local folder' 3 mapm outdated
like '[D1] outdated shows the old and the new version of a local folder' "$out" '^skill +local +1\.0\.0 -> 2\.0\.0$'
exits '[D1] outdated --json exits with 3 for a changed local folder' 3 mapm outdated --json
like '[D1] outdated --json shows the new version of a local folder' "$out" '"new_version": *"2\.0\.0"'
like '[D1] outdated --json has no locked commit for a local folder' "$out" '"locked": *null'
exits '[D1] outdated --offline exits with 3 for a changed local folder' 3 mapm outdated --offline
exits 'update of a changed local folder succeeds' 0 mapm update
exits '[D1] outdated exits with 0 after the update of a local folder' 0 mapm outdated
rm -r "$T/mine/local"
exits '[D3] outdated exits with 3 for a local folder that is gone' 3 mapm outdated
like '[D3] outdated shows a missing local folder as gone' "$out" '^skill +local +2\.0\.0 -> gone$'

# --- two branches -------------------------------------------------------------------

fresh team
git init -q -b main . && git config user.name x && git config user.email x@example.com
exits 'install of three skills in a repository succeeds' 0 mapm install --yes "$U/main/skills/plain" "$U/main/skills/linked" "$U/main/skills/guide"
git add mapm.yaml mapm.lock && git commit -qm first
git checkout -q -b one
echo y >"$s/README.md" && make_repo acme/catalog "$s"
exits '[D2] update on one branch at one commit succeeds' 0 mapm update
git commit -q --allow-empty -am one
git checkout -q main && git checkout -q -b two
echo z >"$s/README.md" && make_repo acme/catalog "$s"
exits '[D2] update on another branch at another commit succeeds' 0 mapm update
git commit -q --allow-empty -am two
ok '[D2] branches with updates that changed no content merge' git merge -q one
git checkout -q main && git checkout -q -b three
echo later >>"$s/skills/plain/SKILL.md" && make_repo acme/catalog "$s"
exits '[D2] update of a changed package on one branch succeeds' 0 mapm update
git commit -qam three && git checkout -q -b four main
echo later >>"$s/shared/guide.md" && make_repo acme/catalog "$s"
exits '[D2] update of another changed package on another branch succeeds' 0 mapm update guide
git commit -qam four
ok '[D2] branches with updates of different packages merge' git merge -q -m merge three
exits '[D2] install --locked accepts the merged lock' 0 mapm install --locked
rm -rf .agents .claude
exits '[D2] install --locked of the merged lock succeeds with an empty store' 0 env MAPM_HOME="$T/cold" "$MAPM" install --locked

# A team that commits .agents: a checkout brings the lock and the folders of another
# branch, and the record on this machine is of neither.
fresh kept
git init -q -b main . && git config user.name x && git config user.email x@example.com
exits 'install in a repository with a committed .agents succeeds' 0 mapm install --yes "$U/main/skills/plain" "$U/main/skills/guide"
git add . && git commit -qm first && git checkout -q -b other
for text in one two; do
    echo "$text" >>"$s/skills/plain/SKILL.md" && make_repo acme/catalog "$s"
    [ "$text" = two ] || mapm update -q
done
git commit -qam other && git checkout -q main
exits 'install succeeds after a checkout of another branch' 0 mapm install
git checkout -q other
exits '[D4] update succeeds after a checkout of another branch' 0 mapm update
like '[D4] update replaces the content that the lock of the branch names' "$(tail -n 1 .agents/skills/plain/SKILL.md)" two
not_ok '[D4] update of an unedited checkout makes no backup' test -e .agents/.mapm/backup
git checkout -q . && echo mine >>.agents/skills/plain/SKILL.md
exits '[D4] update succeeds with an edited skill of the checkout' 0 mapm update
like '[D4] update warns that the edited skill is left as it is' "$err" 'plain was edited and is left as it is'
is '[D4] update keeps the edited file' "$(tail -n 1 .agents/skills/plain/SKILL.md)" mine
git checkout -q .
exits '[D4] remove of a skill of the checkout succeeds' 0 mapm remove plain
not_ok '[D4] remove takes away the folder of the checkout' test -e .agents/skills/plain
rm -rf "$T/cloned" && git checkout -q . && git clone -q . "$T/cloned" && cd "$T/cloned" || exit 1
exits '[D4] update in a clone without a record succeeds' 0 mapm update
like '[D4] update in a clone provisions the new content' "$(tail -n 1 .agents/skills/plain/SKILL.md)" two
like '[D4] update in a clone reports the changed skill' "$out" '~ skill plain'
# What leaves the lock goes, though the record on this machine has nothing of it.
for at in "$T/kept" "$T/cloned"; do
    cd "$at" && git checkout -q . || exit 1
    [ "$at" = "$T/cloned" ] && rm -rf .agents/.mapm || { git checkout -q -b gone$$ && mapm remove -q plain && git checkout -q -f other; }
    exits '[D4] remove of a skill that a checkout brought succeeds' 0 mapm remove plain
    not_ok '[D4] remove takes away the folder that a checkout brought' test -e .agents/skills/plain
    not_ok '[D4] remove takes away the link of a client that a checkout brought' test -L .claude/skills/plain
    ok '[D4] remove keeps the other skills of the checkout' test -e .claude/skills/guide/SKILL.md
    git checkout -q . && rm -rf .agents/.mapm && echo mine >.agents/skills/plain/mine.md
    exits '[D4] remove succeeds when the folder has a file of the user' 0 env MAPM_HOME="$T/cold-gone" "$MAPM" remove plain
    is '[D4] remove keeps the file of the user' "$(cat .agents/skills/plain/mine.md)" mine
    like '[D4] remove warns of the file of the user' "$err" 'plain/mine\.md'
done

# --- many commits -----------------------------------------------------------------------

fresh many
m=$T/many-src
for i in 1 2 3 4 5 6 7 8; do skill "$m/skills/s$i"; done
make_repo acme/many "$m"
exits 'install --all of a catalog of eight skills succeeds' 0 mapm install --yes --all acme/many
for i in 1 2 3 4 5 6; do
    echo "$i" >>"$m/skills/s$i/SKILL.md" && make_repo acme/many "$m"
    run mapm update
done
is '[D2] updates over six commits leave seven commits in the lock' "$(sed -n 's/.*commit: //p' mapm.lock | sort -u | wc -l)" 7
rm -rf .agents
reset_log
exits '[D2] install --locked of seven commits succeeds with an empty store' 0 env MAPM_HOME="$T/cold-many" "$MAPM" install --locked
is '[F1] install --locked of seven commits of a repository takes two requests' "$(requests)" 2
reset_log
echo 7 >>"$m/skills/s7/SKILL.md" && make_repo acme/many "$m"
exits '[D1] outdated exits with 3 for one changed skill of the catalog' 3 env MAPM_HOME="$T/cold-many" "$MAPM" outdated
is '[D1] outdated takes one request for content and two for the ref' "$(requests)" 3
reset_log
exits '[D2] update succeeds with an empty store' 0 env MAPM_HOME="$T/cold-many2" "$MAPM" update
at_most '[D2] update with an empty store takes at most three requests' "$(requests)" 3
like '[D2] update moves the changed skill to the new commit' "$(entry s7)" "commit: $COMMIT"
unlike '[D2] update leaves an unchanged skill at its commit' "$(entry s8)" "commit: $COMMIT"
exits '[D2] verify succeeds after the update with an empty store' 0 env MAPM_HOME="$T/cold-many2" "$MAPM" verify

# --- a repository in another order ---------------------------------------------------

fresh order
o=$T/order-src
skill "$o/skills/s-01"
for i in $(seq -w 2 21); do
    mkdir "$o/skills/s-$i" && sed "s/s-01/s-$i/" "$o/skills/s-01/SKILL.md" >"$o/skills/s-$i/SKILL.md"
done
make_repo acme/order "$o"
exits 'install --all of a catalog of 21 skills succeeds' 0 mapm install --yes --all acme/order
mkdir "$o/plugins" && mv "$o/skills" "$o/plugins/all"
make_repo acme/order "$o"
exits '[D3] update exits with 3 when all skills have moved in the repository' 3 mapm update
is '[D3] update reports all moved skills in one line' "$(printf '%s\n' "$err" | grep -c gone)" 1
like '[D3] the warning names the moved skills' "$err" '^warning: 21 packages of acme/order are gone, and stay as they are: s-01, .*, s-21$'
like '[D3] the warning suggests remove or a pinned install' "$err" 'mapm remove s-01, mapm install pins it, as in mapm install .*/skills/s-01 '
like '[D3] the warning shows the new path of the moved skills' "$err" '21 of them are at another path, as s-01 at .*/plugins/all/s-01 '
exits '[D3] update --json exits with 3 when all skills have moved' 3 mapm update --json
is '[D3] update --json shows the new place of each skill' "$(printf '%s\n' "$out" | grep -c '"moved_to": ".*/plugins/all/s-')" 21
exits '[D3] update -v exits with 3 when all skills have moved' 3 mapm update -v
is '[D3] update -v shows the new place of each skill' "$(printf '%s\n' "$err" | grep -c 'then mapm install .*/plugins/all/s-')" 21
is '[D3] update -v has one line for each moved skill' "$(printf '%s\n' "$err" | grep -c ' is gone, and stays at ')" 21
run mapm install "$(printf '%s\n' "$err" | sed -n 's/.*mapm install \(.*s-21\) pins it/\1/p')"
is '[D3] the install command of the warning succeeds' "$status" 0
exits '[D3] outdated exits with 3 for the other moved skills' 3 mapm outdated
unlike '[D3] outdated does not list the pinned skill' "$out" '^skill +s-21 '

# --- a forced push ----------------------------------------------------------------------

fresh forced
f=$T/forced-src
skill "$f/skills/alpha"
skill "$f/skills/beta"
make_repo acme/forced "$f"
exits 'install --all of two skills succeeds' 0 mapm install --yes --all acme/forced
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
exits '[D2] install --locked succeeds when a proved commit is no longer served' 0 mapm install --locked
is '[D2] install --locked of a proved commit sends no request' "$(requests)" 0
cp mapm.lock "$T/proved.lock"
reset_log
exits '[D2] outdated with an empty store exits with 3 after a forced push' 3 env MAPM_HOME="$T/cold-outdated" "$MAPM" outdated
is '[D1] outdated after a forced push takes three requests' "$(requests)" 3
exits '[D2] update after a forced push succeeds' 0 mapm update
is '[D2] update after a forced push leaves the entry of an unchanged skill' "$(entry alpha)" "$(entry alpha "$T/proved.lock")"
exits '[D2] update of an unchanged skill by name succeeds' 0 mapm update alpha
like '[D2] update by name moves an unchanged skill to the served commit' "$(entry alpha)" "commit: $orphan"
cp mapm.lock "$T/named.lock"
exits '[D2] a second update by name succeeds' 0 mapm update alpha
ok '[D2] a second update by name leaves mapm.lock unchanged' cmp mapm.lock "$T/named.lock"
cp "$T/proved.lock" mapm.lock
rm -rf .agents
exits '[D2] install --locked fails when a commit is neither served nor proved' 1 env MAPM_HOME="$T/cold-forced" "$MAPM" install --locked
like '[D2] the error says that the commit is no longer served and was never proved' "$err" 'skill alpha: its commit is no longer served, and was never proved on this machine'
like '[D2] the error suggests an update by name' "$err" 'run mapm update (alpha|beta)'
not_ok '[D2] install --locked of an unproved commit provisions nothing' test -e .agents
cp mapm.lock "$T/forced.lock"
exits '[D2] update of both skills by name succeeds with an empty store' 0 env MAPM_HOME="$T/cold-forced" "$MAPM" update alpha beta
like '[D2] update by name locks the served commit' "$(entry alpha)" "commit: $orphan"
exits '[D2] update of all succeeds after the update by name' 0 env MAPM_HOME="$T/cold-forced" "$MAPM" update
exits '[D2] install --locked of the updated lock succeeds with an empty store' 0 env MAPM_HOME="$T/cold-forced2" "$MAPM" install --locked


# the proof is there, the content is not
exits '[D2] store gc succeeds before the content is removed' 0 mapm store gc
find "$MAPM_HOME/store/packs" "$MAPM_HOME/store/objects" -type f -exec rm -f {} +
cd "$T/alone" && rm -rf .agents || exit 1
exits '[D2] install --locked succeeds when the store has the proof but no content' 0 mapm install --locked
like '[D2] install --locked says that the content is taken as it was proved' "$err" 'its locked commit is no longer served: taken as it was proved'
same_tree '[D2] the skill that was taken by its proof equals the source' .agents/skills/alpha "$f/skills/alpha"
exits '[D2] verify accepts the skill that was taken by its proof' 0 mapm verify
exits '[D2] install --locked --offline accepts the skill that was taken by its proof' 0 mapm install --locked --offline
cd "$T/forced" && cp "$T/forced.lock" mapm.lock && rm -rf .agents || exit 1
exits '[D2] install --locked fails when the proved content is no longer served' 1 mapm install --locked
like '[D2] the error says that neither the commit nor its content is served' "$err" 'skill beta: its commit is no longer served, nor is its content'
like '[D2] the error of lost content suggests an update by name' "$err" 'run mapm update beta'

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
exits 'install of an agent and skills with dependencies succeeds' 0 mapm install --yes "$C/main/agents/boss" "$C/main/skills/free" "$C/main/skills/other"
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
exits '[D3] update exits with 3 when a root needs a missing package' 3 mapm update
at_most '[D3] update with a root that does not resolve takes at most four requests' "$(requests)" 4
like '[D3] the warning names the root that stays and the missing need' "$err" 'agent acme/boss stays as it is, with all that it needs: there is no "nowhere"'
like '[D3] the warning suggests remove or a pinned install of the root' "$err" 'mapm remove acme/boss takes it out, mapm install .*/agents/boss pins it'
unlike '[D3] the warning does not name the other roots' "$err" 'acme/(free|other) stays'
like '[D3] update moves a root that resolves' "$(entry acme/free)" 'version: 2.0.0'
for name in acme/boss acme/mid acme/deep acme/base; do
    is "[D3] update keeps the lock entry of $name with its root" "$(entry $name)" "$(entry $name "$T/closures.lock")"
done
exits '[D3] update --json exits with 3 when a root does not resolve' 3 mapm update --json
printf '%s\n' "$out" >"$T/out.json"
is '[D3] update --json lists the root as unresolvable' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
print([(h["type"], h["name"], h["state"], h["root"]) for h in d["held"]])
P
)" "[('agent', 'acme/boss', 'unresolvable', True)]"
exits '[D3] install --locked accepts the partly updated lock' 0 mapm install --locked
exits '[D3] install --locked of the partly updated lock succeeds with an empty store' 0 env MAPM_HOME="$T/cold-closures" "$MAPM" install --locked
exits '[D3] update --diff exits with 3 when a root does not resolve' 3 mapm update --diff
like '[D3] update --diff names the root that stays' "$err" 'agent acme/boss stays'
exits '[D3] update of a package of that root by name exits with 3' 3 mapm update acme/mid
like '[D3] update by name names the root that stays' "$err" 'agent acme/boss stays'
skill "$c/skills/mid" 'scope: acme' 'version: 2.0.0'
skill "$c/skills/free" 'scope: acme' 'version: 3.0.0' 'dependencies:' '  skills:' \
    "    - https://github.com/acme/rival/tree/main/skills/base"
skill "$T/rival/skills/base" 'scope: acme' 'description: "A rival."'
make_repo acme/rival "$T/rival"
make_repo acme/closures "$c"
exits '[D3] update exits with 3 when a root needs a second package of one name' 3 mapm update
like '[D3] the warning names the root with the name conflict' "$err" 'skill acme/free stays as it is'
like '[D3] update keeps the version of the root with the name conflict' "$(entry acme/free)" 'version: 2.0.0'
like '[D3] update moves the root that resolves again' "$(entry acme/mid)" 'version: 2.0.0'
like '[D3] update moves a dependency of the root that resolves again' "$(entry acme/base)" 'version: 2.0.0'
skill "$c/skills/free" 'scope: acme' 'version: 4.0.0' 'dependencies:' '  skills:' "    - $C/main/skills/other"
skill "$c/skills/other" 'scope: acme' 'dependencies:' '  skills:' "    - $C/main/skills/free"
make_repo acme/closures "$c"
exits '[D3] update exits with 3 when two roots form a cycle' 3 mapm update
like '[D3] update keeps the version of a root in the cycle' "$(entry acme/free)" 'version: 2.0.0'
fault '{"kind": "status", "status": 500, "match": {"cmd": "ls-refs"}, "times": -1}'
exits '[D3] update fails when the host answers with an error' 1 mapm update
clear_faults
rm -r "$c/skills/base"
skill "$c/skills/other" 'scope: acme' 'version: 5.0.0' 'dependencies:' '  skills:' "    - $C/main/skills/base"
skill "$c/skills/free" 'scope: acme' 'version: 5.0.0'
make_repo acme/closures "$c"
exits '[D3] update exits with 3 when a dependency is gone' 3 mapm update
like '[D3] the warning names the dependency that is gone and its version' "$err" 'skill acme/base is gone, and stays at 2\.0\.0'
like '[D3] the warning suggests the why command for the dependency' "$err" 'mapm why acme/base'
like '[D3] update moves the root that needs the missing dependency' "$(entry acme/other)" 'version: 5.0.0'
exits '[D3] install --locked accepts the lock with a missing dependency' 0 env MAPM_HOME="$T/cold-closures" "$MAPM" install --locked

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
exits 'install of packages of ten repositories succeeds' 0 mapm install --yes
at_least=$(grep -c '^  - type' mapm.lock)
ok '[D1] the workspace has at least 190 packages' test "$at_least" -ge 190
reset_log
exits '[D1] outdated exits with 0 for ten unchanged repositories' 0 mapm outdated
is '[D1] outdated takes one request for each unchanged repository' "$(requests)" 10
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
is 'the catalog has ten repositories' "$(printf '%s\n' "$ten" | wc -l)" 10
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
is '[D1] outdated exits with 0 when all refs moved without a change of content' "$?" 0
is '[D1] outdated reports that nothing has changed in ten repositories' "$(cat "$T/out" "$T/err")" 'nothing has changed'
at_most '[D1] outdated takes at most three requests for each moved repository' "$(requests)" 30
at_most '[D1] no repository gets more than three requests' "$(most)" 3
reset_log
exits '[D2] update of ten moved repositories succeeds' 0 mapm update
at_most '[D2] update takes at most three requests for each moved repository' "$(requests)" 30
ok '[D2] update of moved refs leaves mapm.lock unchanged' cmp mapm.lock "$T/ten.lock"
changed=0
for name in $(printf '%s\n' "$ten" | head -n 4); do
    for path in $(sed -n "s,^    origin: https://github.com/$name/tree/main/,,p" mapm.lock |
        grep ^skills | head -n 3); do
        push "$name" "$path/notes.md" 'new' && changed=$((changed + 1))
    done
done
isnt 'some packages have changed' $changed 0
for home in mapm cold-ten; do
    reset_log
    exits "[D1] outdated exits with 3 for $changed changed packages ($home)" 3 env MAPM_HOME="$T/$home" "$MAPM" outdated
    is '[D1] outdated lists each changed package' "$(printf '%s\n' "$out" | wc -l)" $changed
    at_most '[D1] outdated takes at most 30 requests for changed packages' "$(requests)" 30
    at_most '[D1] no repository with changed packages gets more than three requests' "$(most)" 3
done
reset_log
exits '[D1] update of the changed packages succeeds' 0 mapm update
is '[D2] update changes the lock entries of the changed packages alone' "$(diff "$T/ten.lock" mapm.lock | grep -c '^> .*commit:')" $changed
exits '[D1] outdated exits with 0 after the update of the changed packages' 0 mapm outdated

done_testing

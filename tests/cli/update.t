#!/bin/sh
# update and outdated: branches and tags that move, and what that brings along.
# DESIGN 6; [M13, M27]; THREATS 1.5.
. "$(dirname "$0")/../lib/cli.sh"
s=$T/src
U=https://github.com/acme/catalog/tree

skill "$s/skills/base" 'scope: acme'
skill "$s/skills/free" 'scope: acme'
skill "$s/skills/later" 'scope: acme'
skill "$s/skills/mid" 'scope: acme' 'dependencies:' '  skills:' "    - $U/main/skills/base"
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool
skill "$T/src-b/skills/far" 'scope: beta'
make_repo acme/catalog "$s"
first=$COMMIT
repo acme/catalog tag v1 main
make_repo beta/tools "$T/src-b"
start_githost
exits 'install --yes of skills and a server succeeds' 0 mapm install --yes "$U/main/skills/mid" "$U/v1/skills/free" \
    "$U/main/mcps/io.acme_tool.json" beta/tools/skills/far
reset_log
exits 'outdated exits with 0 when no ref has moved' 0 mapm outdated
is 'outdated takes one request for each repository' "$(requests)" 2
exits 'update succeeds when no ref has moved' 0 mapm update
like 'update reports nothing to do when no ref has moved' "$err" 'update: nothing to do'
snapshot . >"$T/before"

# --- a branch moves ---------------------------------------------------------------

sed -i 's/^version:.*/version: 1.1.0/' "$s/skills/base/SKILL.md"
make_repo acme/catalog "$s"
second=$COMMIT
reset_log
exits 'outdated exits with 3 after a branch has moved' 3 mapm outdated
is '[D1] outdated takes two more requests for a moved repository' "$(requests)" 4
like '[D1] outdated shows both versions, both commits and the branch' "$out" "skill +acme/base +1\.0\.0 \($(echo "$first" | cut -c1-10)\) -> 1\.1\.0 \($(echo "$second" | cut -c1-10)\)  main\$"
unlike '[D1] outdated does not list packages with the same content' "$out" 'acme/mid|io\.acme/tool'
unlike 'outdated does not list a package at an unmoved tag' "$out" 'acme/free'
unlike 'outdated does not list a package of the other repository' "$out" 'beta/far'
exits 'outdated --json exits with 3 after a branch has moved' 3 mapm outdated --json
printf '%s\n' "$out" >"$T/out.json"
is 'outdated --json shows refs, commits, state and versions' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
p = {x["name"]: x for x in d["packages"]}["acme/base"]
print(d["schema"], len(d["packages"]), p["type"], p["ref"], p["locked"], p["current"], p["origin"],
      p["state"], p["version"], p["new_version"])
P
)" "mapm.outdated/1 1 skill main $first $second $U/main/skills/base changed 1.0.0 1.1.0"
is 'outdated writes nothing to the workspace' "$(snapshot .)" "$(cat "$T/before")"
exits 'install succeeds after a branch has moved' 0 mapm install
is 'install keeps the locked version and writes no byte' "$(snapshot .)" "$(cat "$T/before")"
exits 'update --dry-run succeeds' 0 mapm update --dry-run
like 'update --dry-run shows the old and the new version' "$out" \
    "~ skill acme/base 1\.0\.0 \($(echo "$first" | cut -c1-10)\) -> 1\.1\.0 \($(echo "$second" | cut -c1-10)\)"
is 'update --dry-run writes nothing to the workspace' "$(snapshot .)" "$(cat "$T/before")"
exits 'update --dry-run --json succeeds' 0 mapm update --dry-run --json
printf '%s\n' "$out" >"$T/out.json"
is 'update --dry-run --json shows old and new versions and commits' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
p = {x["name"]: x for x in d["packages"]}["acme/base"]
print(d["command"], d["dry_run"], p["action"], p["old_version"], p["version"], p["old_commit"], p["commit"])
P
)" "update True update 1.0.0 1.1.0 $first $second"
exits 'update by name of packages that have not changed succeeds' 0 mapm update acme/free beta/far
is 'update by name does not change other packages' "$(cat .agents/skills/base/SKILL.md)" \
    "$(repo acme/catalog show "$first:skills/base/SKILL.md")"
echo mine >>.agents/skills/base/SKILL.md
echo mine >>.agents/skills/free/SKILL.md
exits 'update of an edited skill fails' 1 mapm update base
like 'the error names the edited file' "$err" 'base/SKILL\.md was changed'
unlike 'the error does not name an edited skill that has no update' "$err" 'free/SKILL\.md'
repo acme/catalog show "$first:skills/base/SKILL.md" >.agents/skills/base/SKILL.md
exits 'update by name of one changed skill succeeds' 0 mapm update base
like 'update warns that another edited skill is left as it is' "$err" 'skill acme/free was edited and is left as it is'
like 'update keeps the edit in the other skill' "$(tail -n 1 .agents/skills/free/SKILL.md)" mine
repo acme/catalog show v1:skills/free/SKILL.md >.agents/skills/free/SKILL.md
ok 'update by name provisions the new content' diff -r "$s/skills/base" .agents/skills/base
is 'update by name keeps the locked commit of other packages' "$(sed -n '/name: acme\/mid/,/commit/s/.*commit: //p' mapm.lock)" "$first"
before=$(cat mapm.lock)
exits 'update of all succeeds when the content is the same' 0 mapm update
like '[D2] update reports nothing to do when the content is the same' "$err" 'update: nothing to do'
is '[D2] update leaves mapm.lock unchanged when the content is the same' "$(cat mapm.lock)" "$before"
is '[D2] one package alone has the new commit in the lock' "$(grep -c "commit: $second" mapm.lock)" 1
is 'a package at a tag keeps its commit' "$(sed -n '/name: acme\/free/,/commit/s/.*commit: //p' mapm.lock)" "$first"
exits 'outdated exits with 0 after the update' 0 mapm outdated
exits 'update of an unknown name fails' 1 mapm update bse
like 'the error of an unknown name suggests a similar one' "$err" 'did you mean acme/base'

# --- dependencies come and go --------------------------------------------------------

skill "$s/skills/mid" 'scope: acme' 'version: 2.0.0' 'dependencies:' '  skills:' "    - $U/main/skills/later"
make_repo acme/catalog "$s"
exits 'update succeeds when dependencies have changed' 0 mapm update
like 'update reports the dependency that it adds' "$out" '\+ skill acme/later 1\.0\.0'
like 'update reports the dependency that it removes' "$out" '- skill acme/base'
ok 'update provisions the new dependency' test -f .agents/skills/later/SKILL.md
not_ok 'update removes the former dependency' test -e .agents/skills/base
not_ok 'update removes the link of a client to the former dependency' test -L .claude/skills/base

# --- servers ---------------------------------------------------------------------------

mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool --more
make_repo acme/catalog "$s"
snapshot . >"$T/before"
exits 'update with a changed command of a server exits with 4' 4 mapm update
like 'update shows the former command' "$out" 'ran:  npx -y tool$'
like 'update shows the new command' "$out" 'runs: npx -y tool --more$'
is 'update without consent changes nothing' "$(snapshot .)" "$(cat "$T/before")"
exits 'update --yes with a changed command succeeds' 0 mapm update --yes
like 'update --yes writes the new command to .mcp.json' "$(cat .mcp.json)" '"--more"'

# --- a tag moves, history is rewritten ----------------------------------------------------

sed -i 's/^version:.*/version: 1.5.0/' "$s/skills/free/SKILL.md"
make_repo acme/catalog "$s"
repo acme/catalog tag -f v1 main >/dev/null 2>&1
exits 'outdated exits with 3 for a moved tag' 3 mapm outdated
like 'outdated lists the package at the moved tag' "$out" 'acme/free .* v1$'
exits 'update of a package at a moved tag succeeds' 0 mapm update free
like 'update locks the new commit of the tag' "$(cat mapm.lock)" "commit: $COMMIT"
orphan=$(repo acme/catalog -c user.name=x -c user.email=x@example.com commit-tree -m new 'main^{tree}')
repo acme/catalog update-ref refs/heads/main "$orphan"
repo acme/catalog reflog expire --expire=now --all
repo acme/catalog gc -q --prune=now
before=$(cat mapm.lock)
exits '[D2] update succeeds after a forced push of the same content' 0 mapm update
is '[D2] a forced push of the same content leaves mapm.lock unchanged' "$(cat mapm.lock)" "$before"
repo acme/catalog update-ref -d refs/tags/v1
echo later >>"$s/skills/mid/SKILL.md"
make_repo acme/catalog "$s"
forced=$COMMIT
repo acme/catalog update-ref refs/heads/main "$orphan"
exits '[D3] outdated exits with 3 for a deleted tag' 3 mapm outdated
like '[D3] outdated warns that there is no such branch or tag' "$err" 'no branch or tag "v1'
like '[D3] outdated shows the package of the deleted tag as gone' "$out" '^skill +acme/free .* -> gone$'
repo acme/catalog update-ref refs/heads/main "$forced"
exits '[D3] outdated exits with 3 for a deleted tag and a moved branch' 3 mapm outdated
like '[D3] outdated lists the package of the moved branch, too' "$out" 'acme/mid .* main$'
repo acme/catalog update-ref refs/heads/main "$orphan"
snapshot . >"$T/before"
exits '[D3] update exits with 3 for a deleted tag' 3 mapm update
like '[D3] update says that the package is gone and stays at its version' "$err" 'skill acme/free is gone, and stays at 1\.5\.0'
like '[D3] update suggests remove or a pinned install' "$err" "mapm remove acme/free takes it out, mapm install $U/[0-9a-f]{40}/skills/free pins it"
is '[D3] update for a deleted tag changes nothing' "$(snapshot .)" "$(cat "$T/before")"
exits 'install succeeds after the tag is deleted' 0 mapm install
exits 'update of another package by name succeeds after the tag is deleted' 0 mapm update far

# --- pinned ------------------------------------------------------------------------------------

mkdir ../pinned && cd ../pinned || exit 1
exits 'install of a skill by its commit succeeds' 0 mapm install "$U/$orphan/skills/later"
exits 'update of a package that is pinned to a commit fails' 1 mapm update later
like 'the error says that the package is installed by its commit' "$err" 'by its commit'
run mapm update later --json
like 'update --json has the code of an immutable origin' "$out" '"immutable-origin"'
exits 'update of all succeeds with a pinned package' 0 mapm update
exits 'outdated exits with 0 for a pinned package' 0 mapm outdated
exits 'outdated --offline exits with 0 for a pinned package' 0 mapm outdated --offline
cd ../ws || exit 1
exits 'outdated --offline fails for a package at a branch' 1 mapm outdated --offline
like 'the error of outdated --offline names the network' "$err" 'network'
# --- a package that its repository lost or broke -------------------------------------------

c=$T/lost
for name in one two three; do skill "$c/skills/$name"; done
make_repo acme/lost "$c"
cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
run mapm install --yes --all acme/lost
rm -r "$c/skills/two" && skill "$c/skills/one" 'description: "A newer one."'
make_repo acme/lost "$c"
exits '[D3] outdated exits with 3 for a changed and a missing package' 3 mapm outdated
like '[D3] outdated lists the changed package' "$out" '^skill +one '
like '[D3] outdated shows the missing package as gone' "$out" '^skill +two .* -> gone$'
exits '[D3] outdated --json exits with 3 for a missing package' 3 mapm outdated --json
like '[D3] outdated --json has the state gone' "$(printf '%s' "$out" | tr -d ' \n')" '"name":"two","origin":"[^"]*","state":"gone"'
exits '[D1] outdated of one missing package by name exits with 3' 3 mapm outdated two
is '[D1] outdated by name lists that package alone' "$(echo "$out" | cut -c1-9)" 'skill two'
reset_log
exits '[D1] outdated of an unchanged package by name exits with 0' 0 mapm outdated three
like '[D1] outdated by name reports that nothing has changed' "$err" '^nothing has changed$'
is '[D1] outdated by name takes one request' "$(requests)" 1
exits '[D1] outdated --json of several names exits with 3' 3 mapm outdated --json three 'skill one'
is '[D1] outdated --json of several names lists the changed one alone' "$(echo "$out" | grep -o '"name": .*')" '"name": "one",'
exits '[D1] outdated of a catalog by name exits with 3' 3 mapm outdated acme/lost
is '[D1] outdated of a catalog lists its changed and missing packages' "$(echo "$out" | wc -l | tr -d ' ')" 2
exits '[D1] outdated of an unknown name fails' 1 mapm outdated tow
like '[D1] the error of outdated suggests a similar name' "$err" 'did you mean two'
entry=$(sed -n '/name: two$/,/path:/p' mapm.lock)
exits '[D3] update --dry-run --json exits with 3 for a missing package' 3 mapm update --dry-run --json
printf '%s\n' "$out" >"$T/out.json"
is '[D3] update --json lists the package that stays, with code and pin' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
print([(h["name"], h["state"], h["root"], h["code"], h["pin"].split("/")[-3:][1:]) for h in d["held"]])
P
)" "[('two', 'gone', True, 'path-not-found', ['skills', 'two'])]"
exits '[D3] update exits with 3 for a missing package' 3 mapm update
like '[D3] update names the missing package and its version' "$err" 'skill two is gone, and stays at 1\.0\.0'
like '[D3] update suggests remove or a pinned install of the missing package' "$err" 'mapm remove two takes it out, mapm install https.*/skills/two pins it'
like '[D3] update moves the changed package' "$(cat .agents/skills/one/SKILL.md)" 'A newer one'
is '[D3] update keeps the lock entry of the missing package' "$(sed -n '/name: two$/,/path:/p' mapm.lock)" "$entry"
exits '[D3] install --locked accepts the lock with a missing package' 0 mapm install --locked
exits '[D3] install --locked with an empty store accepts the same lock' 0 env MAPM_HOME="$T/elsewhere" "$MAPM" install --locked
exits '[D3] the suggested pinned install succeeds' 0 $(mapm update 2>&1 | sed -n 's/.*\(mapm install [^ ]*\) pins it/\1/p')
exits '[D3] update succeeds after the missing package is pinned' 0 mapm update
exits '[D3] remove of the missing package succeeds' 0 mapm remove two
exits 'update --offline succeeds' 0 mapm update --offline
like 'update --offline says that refs are as this machine last saw them' "$err" '^offline: refs as this machine last saw them$'
repo acme/lost branch -m main trunk
exits '[D3] update exits with 3 for a deleted branch' 3 mapm update
like '[D3] update for a deleted branch reports nothing to do' "$err" 'update: nothing to do'

# --- a package that is at another path now ----------------------------------------------

c=$T/moving L=https://github.com/acme/moving/tree/main
for name in same alike lost; do skill "$c/skills/$name" && echo "$name" >"$c/skills/$name/notes.md"; done
mcp "$c/mcps/io.acme_s.json" io.acme/s npx -y s
make_repo acme/moving "$c"
mkdir "$T/moved" && cd "$T/moved" || exit 1
exits 'install --yes of three skills and a server succeeds' 0 mapm install --yes "$L/skills/same" "$L/skills/alike" "$L/skills/lost" "$L/mcps/io.acme_s.json"
mkdir -p "$c/plugins/p/skills" "$c/.copy/skills" "$c/docs/lost"
mv "$c/skills/same" "$c/skills/other" && mv "$c/mcps" "$c/servers"
cp -r "$c/skills/alike" "$c/.copy/skills" && echo more >>"$c/.copy/skills/alike/notes.md"
mv "$c/skills/alike" "$c/plugins/p/skills" && echo new >>"$c/plugins/p/skills/alike/notes.md"
mv "$c/skills/lost/notes.md" "$c/docs/lost" && rm -r "$c/skills/lost"
make_repo acme/moving "$c"
reset_log
exits '[D3] outdated exits with 3 for packages that moved in the repository' 3 mapm outdated
is '[D1] outdated finds moved packages with two requests' "$(requests)" 2
like '[D3] outdated names the path with the same content' "$err" "^  the same content is at $L/skills/other\$"
like '[D3] outdated names the path of a moved server' "$err" "^  the same content is at $L/servers/io\\.acme_s\\.json\$"
like '[D3] outdated prefers a visible path with the same name' "$err" "^  that name is at $L/plugins/p/skills/alike\$"
is '[D3] outdated names no other path' "$(printf '%s\n' "$err" | grep -c ' is at ')" 3
mapm outdated --json >"$T/out.json"
is '[D3] outdated --json shows where each package has moved' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
for m in json.load(open(sys.argv[1]))["packages"]:
    print(m["name"], m["state"], (m["moved_to"] or "/main-").split("/main")[1])
P
)" "io.acme/s gone /servers/io.acme_s.json
alike gone /plugins/p/skills/alike
lost gone -
same gone /skills/other"
snapshot . >"$T/before"
exits '[D3] update exits with 3 for packages that moved in the repository' 3 mapm update
is '[D3] update does not follow moved packages' "$(snapshot .)" "$(cat "$T/before")"
like '[D3] update shows the commands that follow a moved package' "$err" "^  the same content is at another path: mapm remove same, then mapm install $L/skills/other\$"
exits '[D3] the suggested remove succeeds' 0 mapm remove same
exits '[D3] the suggested install succeeds' 0 mapm install "$L/skills/other"
like '[D3] the package at the new path has the same content' "$(cat .agents/skills/*/notes.md)" '^same$'

# --- a switch of branches, of a package without a version ---------------------------

mkdir -p "$T/plain/skills/p" "$T/switch"
printf -- '---\nname: p\ndescription: "Does p."\n---\none\n' >"$T/plain/skills/p/SKILL.md"
make_repo acme/plain "$T/plain"
cd "$T/switch" || exit 1
old=$(echo "$COMMIT" | cut -c1-10)
exits '[D4] install of a skill without a version succeeds' 0 mapm install acme/plain/skills/p
cp mapm.lock ../old.lock
echo two >>"$T/plain/skills/p/SKILL.md"
make_repo acme/plain "$T/plain"
exits '[D4] update of a skill without a version succeeds' 0 mapm update
cp ../old.lock mapm.lock
exits '[D4] install with the lock of another branch succeeds' 0 mapm install
like '[D4] install reports new content for a skill without a version' "$out" "^  ~ skill p $old \(new content\)\$"

done_testing

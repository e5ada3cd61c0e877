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
exits 'a workspace' 0 mapm install --yes "$U/main/skills/mid" "$U/v1/skills/free" \
    "$U/main/mcps/io.acme_tool.json" beta/tools/skills/far
reset_log
exits 'nothing has moved' 0 mapm outdated
is 'one request a repository' "$(requests)" 2
exits 'nothing to update' 0 mapm update
like 'it says so' "$err" 'update: nothing to do'
snapshot . >"$T/before"

# --- a branch moves ---------------------------------------------------------------

sed -i 's/^version:.*/version: 1.1.0/' "$s/skills/base/SKILL.md"
make_repo acme/catalog "$s"
second=$COMMIT
reset_log
exits 'outdated finds' 3 mapm outdated
is '[D1] with one request a repository, and two for that which moved' "$(requests)" 4
like '[D1] versions and commits are shown' "$out" "skill +acme/base +1\.0\.0 \($(echo "$first" | cut -c1-10)\) -> 1\.1\.0 \($(echo "$second" | cut -c1-10)\)  main\$"
unlike '[D1] what is the same is not' "$out" 'acme/mid|io\.acme/tool'
unlike 'a tag stays' "$out" 'acme/free'
unlike 'the other repository, too' "$out" 'beta/far'
exits 'for programs' 3 mapm outdated --json
printf '%s\n' "$out" >"$T/out.json"
is 'JSON' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
p = {x["name"]: x for x in d["packages"]}["acme/base"]
print(d["schema"], len(d["packages"]), p["type"], p["ref"], p["locked"], p["current"], p["origin"],
      p["state"], p["version"], p["new_version"])
P
)" "mapm.outdated/1 1 skill main $first $second $U/main/skills/base changed 1.0.0 1.1.0"
is 'nothing was written' "$(snapshot .)" "$(cat "$T/before")"
exits 'install does not move' 0 mapm install
is 'not a byte' "$(snapshot .)" "$(cat "$T/before")"
exits 'a dry update' 0 mapm update --dry-run
like 'shows old and new' "$out" \
    "~ skill acme/base 1\.0\.0 \($(echo "$first" | cut -c1-10)\) -> 1\.1\.0 \($(echo "$second" | cut -c1-10)\)"
is 'and writes nothing' "$(snapshot .)" "$(cat "$T/before")"
exits 'update --json' 0 mapm update --dry-run --json
printf '%s\n' "$out" >"$T/out.json"
is 'JSON, too' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
p = {x["name"]: x for x in d["packages"]}["acme/base"]
print(d["command"], d["dry_run"], p["action"], p["old_version"], p["version"], p["old_commit"], p["commit"])
P
)" "update True update 1.0.0 1.1.0 $first $second"
exits 'one that stays' 0 mapm update acme/free beta/far
is 'nothing moves with it' "$(cat .agents/skills/base/SKILL.md)" \
    "$(repo acme/catalog show "$first:skills/base/SKILL.md")"
echo mine >>.agents/skills/base/SKILL.md
echo mine >>.agents/skills/free/SKILL.md
exits 'an edited one does not move' 1 mapm update base
like 'it is named' "$err" 'base/SKILL\.md was changed'
unlike 'one that stays is not' "$err" 'free/SKILL\.md'
repo acme/catalog show "$first:skills/base/SKILL.md" >.agents/skills/base/SKILL.md
exits 'one by name' 0 mapm update base
like 'one that stays may be edited' "$err" 'skill acme/free was edited and is left as it is'
like 'and still is' "$(tail -n 1 .agents/skills/free/SKILL.md)" mine
repo acme/catalog show v1:skills/free/SKILL.md >.agents/skills/free/SKILL.md
ok 'is new' diff -r "$s/skills/base" .agents/skills/base
is 'the rest is where it was' "$(sed -n '/name: acme\/mid/,/commit/s/.*commit: //p' mapm.lock)" "$first"
before=$(cat mapm.lock)
exits 'update all' 0 mapm update
like '[D2] the same content is no update' "$err" 'update: nothing to do'
is '[D2] its entries stay' "$(cat mapm.lock)" "$before"
is '[D2] with the commit they were proved at' "$(grep -c "commit: $second" mapm.lock)" 1
is 'what is on the tag is not' "$(sed -n '/name: acme\/free/,/commit/s/.*commit: //p' mapm.lock)" "$first"
exits 'no more to find' 0 mapm outdated
exits 'an unknown name' 1 mapm update bse
like 'a near one' "$err" 'did you mean acme/base'

# --- dependencies come and go --------------------------------------------------------

skill "$s/skills/mid" 'scope: acme' 'version: 2.0.0' 'dependencies:' '  skills:' "    - $U/main/skills/later"
make_repo acme/catalog "$s"
exits 'update' 0 mapm update
like 'one comes' "$out" '\+ skill acme/later 1\.0\.0'
like 'one goes' "$out" '- skill acme/base'
ok 'it is there' test -f .agents/skills/later/SKILL.md
not_ok 'it is gone' test -e .agents/skills/base
not_ok 'from the clients, too' test -L .claude/skills/base

# --- servers ---------------------------------------------------------------------------

mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool --more
make_repo acme/catalog "$s"
snapshot . >"$T/before"
exits 'a new command line wants a yes' 4 mapm update
like 'the old one is shown' "$out" 'ran:  npx -y tool$'
like 'and the new one' "$out" 'runs: npx -y tool --more$'
is 'nothing moved' "$(snapshot .)" "$(cat "$T/before")"
exits 'yes' 0 mapm update --yes
like 'there it is' "$(cat .mcp.json)" '"--more"'

# --- a tag moves, history is rewritten ----------------------------------------------------

sed -i 's/^version:.*/version: 1.5.0/' "$s/skills/free/SKILL.md"
make_repo acme/catalog "$s"
repo acme/catalog tag -f v1 main >/dev/null 2>&1
exits 'a moved tag is found' 3 mapm outdated
like 'and named' "$out" 'acme/free .* v1$'
exits 'and taken over' 0 mapm update free
like 'at the new commit' "$(cat mapm.lock)" "commit: $COMMIT"
orphan=$(repo acme/catalog -c user.name=x -c user.email=x@example.com commit-tree -m new 'main^{tree}')
repo acme/catalog update-ref refs/heads/main "$orphan"
repo acme/catalog reflog expire --expire=now --all
repo acme/catalog gc -q --prune=now
before=$(cat mapm.lock)
exits '[D2] a forced push of the same content' 0 mapm update
is '[D2] is no update' "$(cat mapm.lock)" "$before"
repo acme/catalog update-ref -d refs/tags/v1
echo later >>"$s/skills/mid/SKILL.md"
make_repo acme/catalog "$s"
forced=$COMMIT
repo acme/catalog update-ref refs/heads/main "$orphan"
exits '[D3] a tag that is gone' 3 mapm outdated
like '[D3] is told' "$err" 'no branch or tag "v1'
like '[D3] with the package' "$out" '^skill +acme/free .* -> gone$'
repo acme/catalog update-ref refs/heads/main "$forced"
exits '[D3] and hides nothing else' 3 mapm outdated
like '[D3] what moved is listed' "$out" 'acme/mid .* main$'
repo acme/catalog update-ref refs/heads/main "$orphan"
snapshot . >"$T/before"
exits '[D3] by update, too' 3 mapm update
like '[D3] with the package' "$err" 'skill acme/free is gone, and stays at 1\.5\.0'
like '[D3] and two ways out' "$err" "mapm remove acme/free takes it out, mapm install $U/[0-9a-f]{40}/skills/free pins it"
is '[D3] which changes nothing' "$(snapshot .)" "$(cat "$T/before")"
exits 'the lock still holds' 0 mapm install
exits 'and the rest may be updated' 0 mapm update far

# --- pinned ------------------------------------------------------------------------------------

mkdir ../pinned && cd ../pinned || exit 1
exits 'by commit' 0 mapm install "$U/$orphan/skills/later"
exits 'there is nothing newer' 1 mapm update later
like 'why' "$err" 'by its commit'
run mapm update later --json
like 'a code' "$out" '"immutable-origin"'
exits 'update of all leaves it' 0 mapm update
exits 'it is never outdated' 0 mapm outdated
exits 'offline there is no knowing' 0 mapm outdated --offline
cd ../ws || exit 1
exits 'offline' 1 mapm outdated --offline
like 'it says why' "$err" 'network'
# --- a package that its repository lost or broke -------------------------------------------

c=$T/lost
for name in one two three; do skill "$c/skills/$name"; done
make_repo acme/lost "$c"
cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
run mapm install --yes --all acme/lost
rm -r "$c/skills/two" && skill "$c/skills/one" 'description: "A newer one."'
make_repo acme/lost "$c"
exits '[D3] outdated shows what is gone' 3 mapm outdated
like '[D3] beside what has changed' "$out" '^skill +one '
like '[D3] as gone' "$out" '^skill +two .* -> gone$'
exits '[D3] for programs' 3 mapm outdated --json
like '[D3] too' "$out" '"name": *"two".*"state": *"gone"|"state": *"gone"'
exits '[D1] one by name' 3 mapm outdated two
is '[D1] is listed alone' "$(echo "$out" | cut -c1-9)" 'skill two'
reset_log
exits '[D1] one that has not changed' 0 mapm outdated three
like '[D1] is none' "$err" '^nothing has changed$'
is '[D1] with one request' "$(requests)" 1
exits '[D1] several, for programs' 3 mapm outdated --json three 'skill one'
is '[D1] have those that changed' "$(echo "$out" | grep -o '"name": .*')" '"name": "one",'
exits '[D1] a catalog' 3 mapm outdated acme/lost
is '[D1] stands for its packages' "$(echo "$out" | wc -l | tr -d ' ')" 2
exits '[D1] a name of nothing' 1 mapm outdated tow
like '[D1] has a suggestion' "$err" 'did you mean two'
entry=$(sed -n '/name: two$/,/path:/p' mapm.lock)
exits '[D3] --json of update' 3 mapm update --dry-run --json
printf '%s\n' "$out" >"$T/out.json"
is '[D3] says what is held' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
print([(h["name"], h["state"], h["root"], h["code"], h["pin"].split("/")[-3:][1:]) for h in d["held"]])
P
)" "[('two', 'gone', True, 'path-not-found', ['skills', 'two'])]"
exits '[D3] an update without one of the packages' 3 mapm update
like '[D3] names it' "$err" 'skill two is gone, and stays at 1\.0\.0'
like '[D3] and the ways out' "$err" 'mapm remove two takes it out, mapm install https.*/skills/two pins it'
like '[D3] others are updated' "$(cat .agents/skills/one/SKILL.md)" 'A newer one'
is '[D3] its entry stays' "$(sed -n '/name: two$/,/path:/p' mapm.lock)" "$entry"
exits '[D3] the lock is one of install' 0 mapm install --locked
exits '[D3] and on another machine' 0 env MAPM_HOME="$T/elsewhere" "$MAPM" install --locked
exits '[D3] the pin helps' 0 $(mapm update 2>&1 | sed -n 's/.*\(mapm install [^ ]*\) pins it/\1/p')
exits '[D3] so that all can be updated' 0 mapm update
exits '[D3] as does the other way' 0 mapm remove two
exits 'offline' 0 mapm update --offline
like 'refs are what they were' "$err" '^offline: refs as this machine last saw them$'
repo acme/lost branch -m main trunk
exits '[D3] a branch that is gone' 3 mapm update
like '[D3] keeps all of it' "$err" 'update: nothing to do'

# --- a package that is at another path now ----------------------------------------------

c=$T/moving L=https://github.com/acme/moving/tree/main
for name in same alike lost; do skill "$c/skills/$name" && echo "$name" >"$c/skills/$name/notes.md"; done
mcp "$c/mcps/io.acme_s.json" io.acme/s npx -y s
make_repo acme/moving "$c"
mkdir "$T/moved" && cd "$T/moved" || exit 1
exits 'skills and a server' 0 mapm install --yes "$L/skills/same" "$L/skills/alike" "$L/skills/lost" "$L/mcps/io.acme_s.json"
mkdir -p "$c/plugins/p/skills" "$c/.copy/skills" "$c/docs/lost"
mv "$c/skills/same" "$c/skills/other" && mv "$c/mcps" "$c/servers"
cp -r "$c/skills/alike" "$c/.copy/skills" && echo more >>"$c/.copy/skills/alike/notes.md"
mv "$c/skills/alike" "$c/plugins/p/skills" && echo new >>"$c/plugins/p/skills/alike/notes.md"
mv "$c/skills/lost/notes.md" "$c/docs/lost" && rm -r "$c/skills/lost"
make_repo acme/moving "$c"
reset_log
exits '[D3] packages at other paths' 3 mapm outdated
is '[D1] are found in the trees that it has' "$(requests)" 2
like '[D3] by content' "$err" "^  the same content is at $L/skills/other\$"
like '[D3] also a server' "$err" "^  the same content is at $L/servers/io\\.acme_s\\.json\$"
like '[D3] by name, hidden folders last' "$err" "^  that name is at $L/plugins/p/skills/alike\$"
is '[D3] and nothing else' "$(printf '%s\n' "$err" | grep -c ' is at ')" 3
mapm outdated --json >"$T/out.json"
is '[D3] for programs, too' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
for m in json.load(open(sys.argv[1]))["packages"]:
    print(m["name"], m["state"], (m["moved_to"] or "/main-").split("/main")[1])
P
)" "io.acme/s gone /servers/io.acme_s.json
alike gone /plugins/p/skills/alike
lost gone -
same gone /skills/other"
snapshot . >"$T/before"
exits '[D3] an update' 3 mapm update
is '[D3] moves nothing by itself' "$(snapshot .)" "$(cat "$T/before")"
like '[D3] and names the command' "$err" "^  the same content is at another path: mapm remove same, then mapm install $L/skills/other\$"
exits '[D3] which' 0 mapm remove same
exits '[D3] helps' 0 mapm install "$L/skills/other"
like '[D3] with the same content' "$(cat .agents/skills/*/notes.md)" '^same$'

# --- a switch of branches, of a package without a version ---------------------------

mkdir -p "$T/plain/skills/p" "$T/switch"
printf -- '---\nname: p\ndescription: "Does p."\n---\none\n' >"$T/plain/skills/p/SKILL.md"
make_repo acme/plain "$T/plain"
cd "$T/switch" || exit 1
old=$(echo "$COMMIT" | cut -c1-10)
exits '[D4] a skill without a version' 0 mapm install acme/plain/skills/p
cp mapm.lock ../old.lock
echo two >>"$T/plain/skills/p/SKILL.md"
make_repo acme/plain "$T/plain"
exits '[D4] an update' 0 mapm update
cp ../old.lock mapm.lock
exits '[D4] the lock of another branch' 0 mapm install
like '[D4] says that the content is new' "$out" "^  ~ skill p $old \(new content\)\$"

done_testing

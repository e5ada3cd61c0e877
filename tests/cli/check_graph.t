#!/bin/sh
# [D16] mapm check reads a catalog as a graph, and names what mapm new left to write.
. "$(dirname "$0")/../lib/cli.sh"

u=https://github.com/acme/catalog/tree/main
# package FOLDER NAME DEPENDENCIES [FIELD]
package()
{
    mkdir -p "$1"
    printf -- '---\nname: %s\ndescription: Does %s. Use it when asked.\nversion: 1.0.0\n%s\ndependencies: {skills: [%s]}\n---\nInput keys: none.\n' \
        "$2" "$2" "${4-}" "${3-}" >"$1/SKILL.md"
    printf '## 1.0.0 (2026-01-01)\n' >"$1/CHANGELOG.md"
}
mkdir c && cd c && git init -q -b main . || exit 1
package skills/a a "$u/skills/b"
package skills/b b "$u/skills/c"
package skills/c c
exits 'check succeeds for a graph without cycles' 0 mapm check
git remote add origin git@github.com:Acme/catalog.git
exits 'check succeeds for a graph without cycles beside a remote' 0 mapm check
like 'check counts three packages without errors or warnings' "$out$err" '^checked 3: 0 errors, 0 warnings$'

package skills/c c "$u/skills/a"
exits 'check exits 3 for a cycle of dependencies' 3 mapm check
like 'the error lists every package of the cycle' "$out" '^skills/a/SKILL.md: error: a cycle of dependencies: skills/a -> skills/b -> skills/c -> skills/a \[dep-cycle\]$'
is 'the cycle is reported exactly once' "$(printf '%s\n' "$out" | grep -c dep-cycle)" 1
exits 'check of one package of the cycle succeeds' 0 mapm check skills/a
package skills/c c "$u/skills/gone"
exits 'check succeeds for a dependency that the repository lacks' 0 mapm check
like 'check warns about the dependency that the repository lacks' "$out" '^skills/c/SKILL.md: warning: it needs the skill skills/gone, which this repository does not have \[dep-missing\]$'
package skills/c c "$u/skils/a"
exits 'check succeeds for a dependency in another folder' 0 mapm check
like 'check suggests the package of that name' "$out" 'skill skils/a, which this repository does not have; did you mean skills/a\? \[dep-missing\]$'
package skills/c c "$u/skills/gone"
exits 'check --profile publish exits 3 for a missing dependency' 3 mapm check --profile publish
like 'check --profile publish reports the missing dependency as an error' "$out" 'error: .*\[dep-missing\]'
exits 'check --json succeeds for a missing dependency' 0 mapm check --json
like 'check --json has the code dep-missing' "$out" '"code": "dep-missing"'
package skills/c c 'https://github.com/acme/catalog/tree/v1/skills/old, https://github.com/acme/other/tree/main/skills/gone'
exits 'check succeeds for dependencies at another ref or repository' 0 mapm check
unlike 'check does not report dependencies at another ref or repository' "$out" dep-missing
git checkout -q -b work
package skills/c c 'https://github.com/acme/catalog/tree/work/skills/gone'
exits 'check succeeds for a missing dependency at the current branch' 0 mapm check
like 'check reports a missing dependency at the current branch' "$out" dep-missing
git remote set-url origin https://github.com/acme/catalog
run mapm check
like 'check recognizes the remote in the form of https' "$out" dep-missing
git remote set-url origin ssh://git@github.com/acme/catalog.git/
run mapm check
like 'check recognizes the remote in the form of ssh' "$out" dep-missing
printf '[core]\n\tfsmonitor = touch %s\n' "$T/ran" >>.git/config
run mapm check
not_ok 'check executes no command of the git configuration' test -e "$T/ran"

package skills/c c
package plugins/x/skills/a a
like 'check warns about two packages of one name' "$(mapm check)" '^skills/a/SKILL.md: warning: plugins/x/skills/a has this name, too, .*\[name-duplicate\]$'
cp skills/a/SKILL.md plugins/x/skills/a/
unlike 'check does not warn about two equal packages of one name' "$(mapm check)" name-duplicate
mkdir skills/a/more && echo 1 >skills/a/more/one.md
like 'check warns when one of the equal packages has another file [D16]' "$(mapm check)" '\[name-duplicate\]$'
mkdir plugins/x/skills/a/more && echo 2 >plugins/x/skills/a/more/one.md
like 'check warns when a file of the packages differs [D16]' "$(mapm check)" '\[name-duplicate\]$'
ln -sf ../../../../../skills/a/more/one.md plugins/x/skills/a/more/one.md
unlike 'check treats a link to the equal file as equal [D16]' "$(mapm check)" name-duplicate
rm -r skills/a/more plugins/x/skills/a/more
head -c 40000 /dev/zero | tr '\0' x >skills/a/long.md
cp skills/a/long.md plugins/x/skills/a/
exits 'check ends for equal files of several blocks [D16]' 0 mapm check
unlike 'check treats equal files of several blocks as equal [D16]' "$out" name-duplicate
printf y | dd of=skills/a/long.md bs=1 seek=39999 conv=notrunc status=none
like 'check warns when a long file differs at its end [D16]' "$(mapm check)" '\[name-duplicate\]$'
rm -rf skills/a/long.md plugins .git
exits 'check succeeds without a git repository' 0 mapm check

package skills/c c '' 'dependancies: {}'
exits 'check succeeds for an unknown field' 0 mapm check
like '[K12] check gives a hint about the unknown field with the nearest name' "$out" '^skills/c/SKILL.md:5: hint: the field "dependancies" .* did you mean "dependencies"\? \(line 6 has it: keep one\) \[unknown-field\]$'
package skills/c c '' 'tools: Read'
like '[K12] check suggests allowed-tools for the unknown field tools' "$(mapm check)" 'the field "tools" .*; did you mean "allowed-tools"\? '
package skills/c c '' 'Name: c'
like '[D15] check says where the document has the suggested field already' "$(mapm check)" 'the field "Name" .*; did you mean "name"\? \(line 2 has it: keep one\) '
package skills/c c '' "$(printf 'rating: 5\nstars: 4\nargument-hint: "[file]"\nx_own: 1')"
exits '[K12] check succeeds for several unknown fields' 0 mapm check skills/c
like 'check names the unknown fields in one hint without known ones' "$out" ':5: hint: the fields "rating", "stars" are not .* begin with x_ \[unknown-field\]$'
like 'check counts hints apart from errors and warnings' "$out" '^checked 1: 0 errors, 0 warnings, 1 hint$'
sed -i 's/^description: .*/description: Notes of releases./' skills/c/SKILL.md
exits '[K6] check succeeds for a description that does not say when' 0 mapm check skills/c
like 'check gives a hint about a description that does not say when' "$out" 'SKILL.md:3: hint: the description does not say when to use it.*\[description-when\]$'
sed -i '3a when_to_use: For notes.' skills/c/SKILL.md
unlike '[K6] check accepts when_to_use in place of the description' "$(mapm check skills/c)" description-when
sed -i 4d skills/c/SKILL.md
exits 'check --json succeeds with hints' 0 sh -c '"$0" check --json skills/c >"$1/hints.json"' "$MAPM" "$T"
is 'check --json has hints apart from warnings' "$(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))["documents"][0]
print(d["warnings"], [h["code"] for h in d["hints"]])' "$T/hints.json")" "[] ['description-when', 'unknown-field']"
exits 'check --strict succeeds with hints alone' 0 mapm check --strict skills/c
package skills/c c '' 'dependancies: {}'
exits 'check --profile publish succeeds for an unknown field' 0 mapm check --profile publish skills/c
like 'check --profile publish warns about the unknown field' "$out" 'warning: the field "dependancies" .* did you mean "dependencies"\? \(line 6 has it: keep one\) \[unknown-field\]'
package skills/c c '' 'rating: 5'
run mapm check --profile metaskill skills/c
like '[K12] check --profile metaskill asks for the prefix x_' "$out" 'warning: the field "rating" .* begins with x_ \[unknown-field\]'
package skills/c c '' 'x_rating: 5'
run mapm check --profile metaskill skills/c
unlike '[K12] check --profile metaskill accepts a field with the prefix x_' "$out" unknown-field

mkdir "$T/new" && cd "$T/new" || exit 1
for kind in skill metaskill agent; do
    mapm new $kind my-$kind >/dev/null 2>&1
done
mapm new plugin my-plugin >/dev/null 2>&1
mapm new mcp io.example/mine >/dev/null 2>&1
exits 'check succeeds for packages of mapm new' 0 mapm check
exits 'check --profile publish exits 3 for packages of mapm new' 3 mapm check --profile publish
for path in agents/my-agent/AGENTS.md mcps/io.example_mine.json plugins/my-plugin/plugin.json skills/my-metaskill/SKILL.md skills/my-skill/SKILL.md; do
    like "check --profile publish reports a placeholder in $path" "$out" "^$path: error: .*\[placeholder\]\$"
done

done_testing

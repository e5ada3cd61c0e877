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
exits 'a sound graph' 0 mapm check
git remote add origin git@github.com:Acme/catalog.git
exits 'and with a remote' 0 mapm check
like 'nothing to say' "$out$err" '^checked 3: 0 errors, 0 warnings$'

package skills/c c "$u/skills/a"
exits 'a cycle' 3 mapm check
like 'is named, all of it' "$out" '^skills/a/SKILL.md: error: a cycle of dependencies: skills/a -> skills/b -> skills/c -> skills/a \[dep-cycle\]$'
is 'once' "$(printf '%s\n' "$out" | grep -c dep-cycle)" 1
exits 'also of a part of it' 0 mapm check skills/a
package skills/c c "$u/skills/gone"
exits 'a missing sibling is a warning' 0 mapm check
like 'named' "$out" '^skills/c/SKILL.md: warning: it needs the skill skills/gone, which this repository does not have \[dep-missing\]$'
package skills/c c "$u/skils/a"
exits 'one in another folder' 0 mapm check
like 'is named with the one of that name' "$out" 'skill skils/a, which this repository does not have; did you mean skills/a\? \[dep-missing\]$'
package skills/c c "$u/skills/gone"
exits 'an error for who publishes' 3 mapm check --profile publish
like 'as such' "$out" 'error: .*\[dep-missing\]'
exits 'for programs, too' 0 mapm check --json
like 'with its code' "$out" '"code": "dep-missing"'
package skills/c c 'https://github.com/acme/catalog/tree/v1/skills/old, https://github.com/acme/other/tree/main/skills/gone'
exits 'another ref or repository is not looked at' 0 mapm check
unlike 'and nothing said' "$out" dep-missing
git checkout -q -b work
package skills/c c 'https://github.com/acme/catalog/tree/work/skills/gone'
exits 'the branch that is checked out is' 0 mapm check
like 'and said' "$out" dep-missing
git remote set-url origin https://github.com/acme/catalog
run mapm check
like 'by any form of the URL' "$out" dep-missing
git remote set-url origin ssh://git@github.com/acme/catalog.git/
run mapm check
like 'of ssh as well' "$out" dep-missing
printf '[core]\n\tfsmonitor = touch %s\n' "$T/ran" >>.git/config
run mapm check
not_ok 'nothing of the repository is executed' test -e "$T/ran"

package skills/c c
package plugins/x/skills/a a
like 'one name of two packages' "$(mapm check)" '^skills/a/SKILL.md: warning: plugins/x/skills/a has this name, too, .*\[name-duplicate\]$'
cp skills/a/SKILL.md plugins/x/skills/a/
unlike 'equal ones are one package' "$(mapm check)" name-duplicate
mkdir skills/a/more && echo 1 >skills/a/more/one.md
like 'but not with another file [D16]' "$(mapm check)" '\[name-duplicate\]$'
mkdir plugins/x/skills/a/more && echo 2 >plugins/x/skills/a/more/one.md
like 'nor with other content of it [D16]' "$(mapm check)" '\[name-duplicate\]$'
ln -sf ../../../../../skills/a/more/one.md plugins/x/skills/a/more/one.md
unlike 'a link to it is the same [D16]' "$(mapm check)" name-duplicate
rm -r skills/a/more
rm -rf plugins .git
exits 'without a repository' 0 mapm check

package skills/c c '' 'dependancies: {}'
exits 'an unknown field' 0 mapm check
like '[K12] is a hint' "$out" '^skills/c/SKILL.md:5: hint: the field "dependancies" .* did you mean "dependencies"\? \[unknown-field\]$'
package skills/c c '' "$(printf 'rating: 5\nstars: 4\nargument-hint: "[file]"\nx_own: 1')"
exits '[K12] fields of nobody' 0 mapm check skills/c
like 'are one hint, without those of clients and own ones' "$out" ':5: hint: the fields "rating", "stars" are not .* begin with x_ \[unknown-field\]$'
like 'which is counted apart' "$out" '^checked 1: 0 errors, 0 warnings, 1 hint$'
sed -i 's/^description: .*/description: Notes of releases./' skills/c/SKILL.md
exits '[K6] a description that does not say when' 0 mapm check skills/c
like 'has one, too' "$out" 'SKILL.md:3: hint: the description does not say when to use it.*\[description-when\]$'
sed -i '3a when_to_use: For notes.' skills/c/SKILL.md
unlike '[K6] a field of its own says it' "$(mapm check skills/c)" description-when
sed -i 4d skills/c/SKILL.md
exits 'hints in JSON' 0 sh -c '"$0" check --json skills/c >"$1/hints.json"' "$MAPM" "$T"
is 'are apart from warnings' "$(python3 -c 'import json, sys
d = json.load(open(sys.argv[1]))["documents"][0]
print(d["warnings"], [h["code"] for h in d["hints"]])' "$T/hints.json")" "[] ['description-when', 'unknown-field']"
exits 'and no errors of --strict' 0 mapm check --strict skills/c
package skills/c c '' 'dependancies: {}'
exits 'but for who publishes' 0 mapm check --profile publish skills/c
like 'with a suggestion' "$out" 'warning: the field "dependancies" .* did you mean "dependencies"\? \[unknown-field\]'
package skills/c c '' 'rating: 5'
run mapm check --profile metaskill skills/c
like '[K12] an extension has a prefix' "$out" 'warning: the field "rating" .* begins with x_ \[unknown-field\]'
package skills/c c '' 'x_rating: 5'
run mapm check --profile metaskill skills/c
unlike '[K12] with it all is well' "$out" unknown-field

mkdir "$T/new" && cd "$T/new" || exit 1
for kind in skill metaskill agent; do
    mapm new $kind my-$kind >/dev/null 2>&1
done
mapm new mcp io.example/mine >/dev/null 2>&1
exits 'what mapm new wrote' 0 mapm check
exits 'is not published as it is' 3 mapm check --profile publish
for path in agents/my-agent/AGENTS.md mcps/io.example_mine.json skills/my-metaskill/SKILL.md skills/my-skill/SKILL.md; do
    like "$path" "$out" "^$path: error: .*\[placeholder\]\$"
done

done_testing

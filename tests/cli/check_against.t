#!/bin/sh
# mapm check --against REF: one version bump per change set, of the right size,
# and CHANGELOG.md in step with it. [M29, row 15].
. "$(dirname "$0")/../lib/cli.sh"

git config --global user.name Test
git config --global user.email test@example.com
git config --global init.defaultBranch main

# release VERSION [LINE...]: skills/tool at that version, with a changelog whose
# sections are $log and further frontmatter.
log='1.2.3 1.2.2 1.0.0'
release()
{
    version=$1
    shift
    rm -f skills/tool/SKILL.md
    skill skills/tool "version: $version" "$@"
    {
        printf '# Changelog\n'
        for v in $log; do
            printf '\n## %s (2026-04-17)\n\n- Changed.\n' "$v"
        done
    } >skills/tool/CHANGELOG.md
}
deps='dependencies:
  skills:
    - https://github.com/acme/a/tree/main/skills/one
    - https://github.com/acme/a/tree/main/skills/two'
fresh()
{
    log='1.2.3 1.2.2 1.0.0'
    git reset -q --hard base && git clean -qfdx
}
against()
{
    mapm check --against base "$@"
}
# says WHAT CODE REGEX: the one complaint is that.
says()
{
    exits "$1" 3 against
    like "$1: its code" "$out" "\[$2\]$"
    like "$1: its words" "$out" "$3"
    like "$1: and no other" "$out" ': 1 error, 0 warnings$'
}
fine()
{
    exits "$1" 0 against
}

git init -q . && mkdir -p skills mcps
release 1.2.3 "$deps" 'allowed-tools: Read Write'
skill skills/still
agent agents/boss
printf '## 1.0.0 (2026-01-01)\n' | tee agents/boss/CHANGELOG.md >skills/still/CHANGELOG.md
mcp mcps/io.x_y.json io.x/y npx -y y
printf '*.log\n' >.gitignore
git add -A && git commit -qm base && git tag base
keep='allowed-tools: Read Write'

fine 'nothing changed'
touch skills/tool/SKILL.md && printf 'x\n' >skills/tool/build.log
fine 'a time stamp and what git ignores are no change'
mcp mcps/io.x_y.json io.x/y npx -y z
fine 'MCP files have no version'
printf 'x\n' >README.md
fine 'nor has what is in no package'

# --- what changed -----------------------------------------------------------

fresh
printf 'More.\n' >>skills/tool/SKILL.md
says 'a changed text' version-bump 'SKILL.md:4: error: its files changed since base.*still 1\.2\.3: make it 1\.2\.4'
fresh
printf 'x\n' >skills/tool/extra.txt
says 'a file that git does not know yet' version-bump 'still 1\.2\.3'
git add -A
says 'one that it knows' version-bump 'still 1\.2\.3'
git commit -qm extra
says 'one that was committed' version-bump 'still 1\.2\.3'
exits 'other packages are not concerned' 0 against skills/still agents
exits 'against itself' 0 mapm check --against HEAD
fresh
chmod +x skills/tool/SKILL.md
says 'the executable bit' version-bump 'still 1\.2\.3'
fresh
rm skills/still/CHANGELOG.md
exits 'a file that is gone' 3 against
like 'is a change' "$out" 'version-bump'
like 'and missing' "$out" 'changelog-missing'
fresh
ln -s SKILL.md skills/tool/link && git add -A && git commit -qm link && git tag -f linked >/dev/null
fine=$(mapm check --against linked)
is 'a link that stays' "$fine" 'checked 4: 0 errors, 0 warnings'
ln -sf CHANGELOG.md skills/tool/link
exits 'one that was turned' 3 mapm check --against linked
fresh
printf 'x\n' >"skills/tool/$(printf '"new\nline')" && git add -A && git commit -qm odd
exits 'odd names' 0 mapm check --against HEAD

# --- how far ----------------------------------------------------------------

less=$(printf '%s\n' "$deps" | sed '$d')
moved=$(printf '%s\n' "$deps" | sed s/main/v2/)
third=$(printf '%s\n' "$deps" | sed s/two/three/)

while IFS='|' read -r what to lines want; do
    fresh
    log="$to $log"
    eval "release $to $lines"
    printf 'More.\n' >>skills/tool/SKILL.md
    if [ -z "$want" ]; then
        fine "$what"
    else
        says "$what" "${want%% *}" "${want#* }"
    fi
done <<'EOF2'
a patch|1.2.4|"$deps" "$keep"|
a minor|1.3.0|"$deps" "$keep"|
a major|2.0.0|"$deps" "$keep"|
two patches at once|1.2.5|"$deps" "$keep"|version-bump-size not one step: make it 1\.2\.4
a minor that keeps the patch|1.3.3|"$deps" "$keep"|version-bump-size not one step
two majors|3.0.0|"$deps" "$keep"|version-bump-size not one step
a new dependency by a patch|1.2.4|"$deps" "    - https://github.com/acme/b/tree/main/x" "$keep"|version-bump-size is new since base: .*from 1\.2\.3 to 1\.3\.0, not 1\.2\.4
a new dependency by a minor|1.3.0|"$deps" "    - https://github.com/acme/b/tree/main/x" "$keep"|
a dropped dependency by a minor|1.3.0|"$less" "$keep"|version-bump-size two was dropped since base: .*to 2\.0\.0
a dropped dependency by a major|2.0.0|"$less" "$keep"|
another ref of a dependency|1.2.4|"$moved" "$keep"|
another package of its repository|1.3.0|"$third" "$keep"|version-bump-size was dropped
a tool that is gone|1.3.0|"$deps" "allowed-tools: Read"|version-bump-size Write was removed
a new scope|1.3.0|"scope: acme" "$deps" "$keep"|version-bump-size renamed from tool
EOF2
fresh
log="1.2.2 $log" && release 1.2.2 "$deps" "$keep"
exits 'backwards' 3 against
like 'is no way' "$out" 'went back from 1\.2\.3 to 1\.2\.2.*\[version-bump\]'
fresh
log="1.2.4 $log" && release 1.2.4 "$deps" "$keep"
says 'a bump without a change' version-bump 'nothing else changed'
fresh
release 1.2.3 "$deps" "$keep" && sed -i '/^version/d' skills/tool/SKILL.md
exits 'a version that is gone' 3 against
like 'is missed' "$out" '\[version-missing\]'
fresh
printf 'def run(input): return "x"\n' >skills/tool/SKILL.star
log="1.2.4 $log" && release 1.2.4 "$deps" "$keep"
says 'a program by a patch' version-bump-size 'program is new'

# --- the changelog ----------------------------------------------------------

fresh
release 1.2.4 "$deps" "$keep" && printf 'More.\n' >>skills/tool/SKILL.md
exits 'a version without its section' 3 against
like 'is found' "$out" '\[changelog-(version|no-entry)\]$'
fresh
log='1.2.4 1.2.3 1.0.0' && release 1.2.4 "$deps" "$keep" && printf 'More.\n' >>skills/tool/SKILL.md
says 'a section that was deleted' changelog-deleted '1\.2\.2 of CHANGELOG.md is gone'
fresh
log='1.2.5 1.2.4 1.2.3 1.2.2 1.0.0' && release 1.2.5 "$deps" "$keep" && printf 'More.\n' >>skills/tool/SKILL.md
exits 'two bumps in one change set' 3 against
like 'are one too many' "$out" '2 new sections since base.*\[version-bump\]'
exits 'as JSON' 3 against --json
like 'with its code' "$out" '"code": "version-bump"'

# --- packages that come and go ----------------------------------------------

fresh
skill skills/newcomer
printf '## 1.0.0 (2026-01-01)\n' >skills/newcomer/CHANGELOG.md
rm -r skills/still
fine 'a new package, and one that is gone'

# --- refs and repositories --------------------------------------------------

fresh
for ref in nowhere --help -x 'a b' 'HEAD:skills' "$(git rev-parse HEAD:skills)"; do
    exits "no commit: $ref" 1 mapm check "--against=$ref"
    like 'it is named' "$err" 'has no commit'
done
exits 'an empty ref' 2 mapm check --against ''
git branch topic && exits 'a branch' 0 mapm check --against topic
exits 'a commit by its start' 0 mapm check --against "$(git rev-parse --short HEAD)"
exits 'from a folder below' 0 mapm -C skills/tool check --against base
exits 'a document by itself' 0 mapm check --against base skills/tool/SKILL.md
GIT_DIR=/nowhere exits 'git variables do not count' 0 mapm check --against base
mkdir "$T/bare"
skill "$T/bare/skills/x"
exits 'without a repository' 1 mapm check --against base "$T/bare"
like 'it says so' "$err" 'no git repository'
exits 'that can be checked' 0 mapm check "$T/bare"
(PATH=/nowhere "$MAPM" check --against base) >"$T/out" 2>"$T/err"
is 'without git' $? 1
like 'it is missed' "$(cat "$T/err")" 'needs git'
git worktree add -q "$T/tree" base 2>/dev/null
exits 'a second work tree' 0 mapm check --against base "$T/tree"
git init -q "$T/second" && skill "$T/second/skills/x" &&
    git -C "$T/second" add -A && git -C "$T/second" commit -qm base && git -C "$T/second" tag base
printf 'More.\n' >>"$T/second/skills/x/SKILL.md"
exits 'two repositories' 3 mapm check --against base . "$T/second"
like 'each with its own' "$out" 'second/skills/x/SKILL.md:.*\[version-bump\]'

# [row 15] what the repository's own configuration names is not started.
fresh
cat >"$T/evil" <<EOF2
#!/bin/sh
touch '$T/started'
cat
EOF2
chmod +x "$T/evil"
git config core.fsmonitor "$T/evil"
git config filter.evil.clean "$T/evil"
git config filter.evil.process "$T/evil"
git config diff.evil.textconv "$T/evil"
git config diff.external "$T/evil"
git config core.pager "$T/evil"
git config core.untrackedCache true
git config core.hooksPath "$T"
git config core.sshCommand "$T/evil"
git config remote.origin.url "ext::$T/evil"
git config remote.origin.promisor true
printf '* filter=evil diff=evil\n' >.gitattributes
mkdir bin && cp "$T/evil" bin/git
rm -f "$T/started"
printf 'More.\n' >>skills/tool/SKILL.md
(PATH=bin:$T/ws/bin:$PATH "$MAPM" check --against base) >"$T/out" 2>&1
is '[row 15] it still judges' $? 3
not_ok '[row 15] and starts nothing of the repository' test -e "$T/started"
index=$(stat -c %y .git/index)
run against
is '[row 15] the index is not written' "$(stat -c %y .git/index)" "$index"
done_testing

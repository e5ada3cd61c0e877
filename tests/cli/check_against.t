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
    exits "$1: check --against fails" 3 against
    like "$1: the error has its code" "$out" "\[$2\]$"
    like "$1: the error has its text" "$out" "$3"
    like "$1: there is one error and no warning" "$out" ': 1 error, 0 warnings$'
}
fine()
{
    exits "$1: check --against succeeds" 0 against
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

fine 'an unchanged workspace'
touch skills/tool/SKILL.md && printf 'x\n' >skills/tool/build.log
fine 'a changed time stamp and an ignored file'
mcp mcps/io.x_y.json io.x/y npx -y z
fine 'a changed MCP file'
printf 'x\n' >README.md
fine 'a new file outside packages'

# --- what changed -----------------------------------------------------------

fresh
printf 'More.\n' >>skills/tool/SKILL.md
says 'a changed text without a new version' version-bump 'SKILL.md:4: error: its files changed since base.*still 1\.2\.3: make it 1\.2\.4'
fresh
printf 'x\n' >skills/tool/extra.txt
says 'an untracked file in a package' version-bump 'still 1\.2\.3'
git add -A
says 'a staged file in a package' version-bump 'still 1\.2\.3'
git commit -qm extra
says 'a committed file in a package' version-bump 'still 1\.2\.3'
exits 'check --against of other packages succeeds' 0 against skills/still agents
exits 'check --against HEAD after a commit succeeds' 0 mapm check --against HEAD
fresh
chmod +x skills/tool/SKILL.md
says 'a changed executable bit' version-bump 'still 1\.2\.3'
fresh
rm skills/still/CHANGELOG.md
exits 'check --against fails with a deleted changelog' 3 against
like 'the deleted file counts as a change of the package' "$out" 'version-bump'
like 'the report says that the changelog is missing' "$out" 'changelog-missing'
fresh
ln -s SKILL.md skills/tool/link && git add -A && git commit -qm link && git tag -f linked >/dev/null
fine=$(mapm check --against linked)
is 'check --against with an unchanged link has no error' "$fine" 'checked 4: 0 errors, 0 warnings'
ln -sf CHANGELOG.md skills/tool/link
exits 'check --against fails with a changed target of a link' 3 mapm check --against linked
fresh
printf 'x\n' >"skills/tool/$(printf '"new\nline')" && git add -A && git commit -qm odd
exits 'check --against succeeds with a file name of quote and line break' 0 mapm check --against HEAD

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
exits 'check --against fails with a lower version' 3 against
like 'the error says that the version went back' "$out" 'went back from 1\.2\.3 to 1\.2\.2.*\[version-bump\]'
fresh
log="1.2.4 $log" && release 1.2.4 "$deps" "$keep"
says 'a new version without a change' version-bump 'nothing else changed'
fresh
release 1.2.3 "$deps" "$keep" && sed -i '/^version/d' skills/tool/SKILL.md
exits 'check --against fails with a deleted version' 3 against
like 'the error has the code version-missing' "$out" '\[version-missing\]'
fresh
printf 'def run(input): return "x"\n' >skills/tool/SKILL.star
log="1.2.4 $log" && release 1.2.4 "$deps" "$keep"
says 'a new program with a patch version' version-bump-size 'program is new'

# --- the changelog ----------------------------------------------------------

fresh
release 1.2.4 "$deps" "$keep" && printf 'More.\n' >>skills/tool/SKILL.md
exits 'check --against fails with a version that the changelog lacks' 3 against
like 'the error has the code of the missing section' "$out" '\[changelog-(version|no-entry)\]$'
fresh
log='1.2.4 1.2.3 1.0.0' && release 1.2.4 "$deps" "$keep" && printf 'More.\n' >>skills/tool/SKILL.md
says 'a deleted section of the changelog' changelog-deleted '1\.2\.2 of CHANGELOG.md is gone'
fresh
log='1.2.5 1.2.4 1.2.3 1.2.2 1.0.0' && release 1.2.5 "$deps" "$keep" && printf 'More.\n' >>skills/tool/SKILL.md
exits 'check --against fails with two new versions' 3 against
like 'the error counts two new sections of the changelog' "$out" '2 new sections since base.*\[version-bump\]'
exits 'check --against --json fails with two new versions' 3 against --json
like 'check --against --json has the code version-bump' "$out" '"code": "version-bump"'

# --- packages that come and go ----------------------------------------------

fresh
skill skills/newcomer
printf '## 1.0.0 (2026-01-01)\n' >skills/newcomer/CHANGELOG.md
rm -r skills/still
fine 'a new package and a deleted one'

# --- refs and repositories --------------------------------------------------

fresh
for ref in nowhere --help -x 'a b' 'HEAD:skills' "$(git rev-parse HEAD:skills)"; do
    exits "check --against fails with a ref that is no commit: $ref" 1 mapm check "--against=$ref"
    like 'the error says that there is no such commit' "$err" 'has no commit'
done
exits 'check --against with an empty ref is a usage error' 2 mapm check --against ''
git branch topic && exits 'check --against accepts a branch' 0 mapm check --against topic
exits 'check --against accepts a short commit' 0 mapm check --against "$(git rev-parse --short HEAD)"
exits 'check --against succeeds from a folder below the workspace' 0 mapm -C skills/tool check --against base
exits 'check --against of one document succeeds' 0 mapm check --against base skills/tool/SKILL.md
GIT_DIR=/nowhere exits 'git variables do not count' 0 mapm check --against base
mkdir "$T/bare"
skill "$T/bare/skills/x"
exits 'check --against outside a repository fails' 1 mapm check --against base "$T/bare"
like 'the error says that there is no git repository' "$err" 'no git repository'
exits 'check without --against outside a repository succeeds' 0 mapm check "$T/bare"
(PATH=/nowhere "$MAPM" check --against base) >"$T/out" 2>"$T/err"
is 'check --against without git on the PATH fails' $? 1
like 'the error says that it needs git' "$(cat "$T/err")" 'needs git'
git worktree add -q "$T/tree" base 2>/dev/null
exits 'check --against in a second work tree succeeds' 0 mapm check --against base "$T/tree"
git init -q "$T/second" && skill "$T/second/skills/x" &&
    git -C "$T/second" add -A && git -C "$T/second" commit -qm base && git -C "$T/second" tag base
printf 'More.\n' >>"$T/second/skills/x/SKILL.md"
exits 'check --against of folders in two repositories fails' 3 mapm check --against base . "$T/second"
like 'the error names the package of the second repository' "$out" 'second/skills/x/SKILL.md:.*\[version-bump\]'

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
is '[row 15] check --against fails in a repository that configures programs' $? 3
not_ok '[row 15] check --against starts no program of the repository' test -e "$T/started"
index=$(stat -c %y .git/index)
run against
is '[row 15] check --against does not write the index' "$(stat -c %y .git/index)" "$index"
done_testing

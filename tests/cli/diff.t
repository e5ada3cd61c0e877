#!/bin/sh
# diff, restore, update --diff: what was edited, and what would change. [D5]
. "$(dirname "$0")/../lib/cli.sh"
s=$T/src
U=https://github.com/acme/catalog/tree

# field EXPRESSION: of the document in $out.
field()
{
    printf '%s\n' "$out" >"$T/out.json"
    python3 -S -c 'import json, sys
d = json.load(open(sys.argv[1]))
print(eval(sys.argv[2]))' "$T/out.json" "$1"
}

skill "$s/skills/base" 'scope: acme'
printf 'one\ntwo\nthree\n' >"$s/skills/base/notes.txt"
printf 'bytes\0of\0it' >"$s/skills/base/image.bin"
mkdir "$s/skills/base/scripts"
printf '#!/bin/sh\necho hello\n' >"$s/skills/base/scripts/run.sh"
chmod 755 "$s/skills/base/scripts/run.sh"
skill "$s/skills/other" 'scope: acme'
skill "$s/more/base" "scope: zeta"
agent "$s/agents/boss" 'scope: acme'
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool
make_repo acme/catalog "$s"
first=$COMMIT
start_githost
mkdir .claude
exits 'install of skills, an agent and a server succeeds' 0 mapm install --yes "$U/main/skills/base" "$U/main/skills/other" \
    "$U/main/more/base" "$U/main/agents/boss" "$U/main/mcps/io.acme_tool.json"
git init -q . && git add -A -f . ':!.agents/.mapm' && git -c user.name=x -c user.email=x@example.com commit -qm all
dup=$(sed -n '/name: zeta\/base/,/path/s/.*path: //p' mapm.lock)
isnt 'the second skill of the same name gets another folder' "$dup" .agents/skills/base
reset_log
exits 'diff succeeds without edits' 0 mapm diff
is 'diff prints nothing without edits' "$out$err" ''
is 'diff sends no request' "$(requests)" 0
exits 'restore succeeds without edits' 0 mapm restore acme/base
like 'restore says that nothing was edited' "$err" 'nothing was edited'

# --- all ways to edit ------------------------------------------------------------

b=.agents/skills/base
snapshot .agents/skills .agents/agents .claude >"$T/clean"
edit()
{
    printf 'one\n2\nthree' >$b/notes.txt
    printf 'other\0bytes' >$b/image.bin
    chmod 644 $b/scripts/run.sh
    printf 'a file of the user\n' >"$b/a new file.txt"
    : >$b/empty
    ln -s notes.txt $b/link
    rm .agents/skills/other/SKILL.md
    sed -i 's/^Do what/Do all that/' "$dup/SKILL.md"
    echo 'More.' >>.claude/agents/boss.md
    sed -i 's/"-y"/"--yes"/' .mcp.json
}
edit
snapshot . >"$T/edited"
exits 'diff succeeds with edits of every kind' 0 mapm diff
printf '%s\n' "$out" >"$T/patch"
is 'diff prints a git header for each edited file' "$(grep -a '^diff' "$T/patch" | LC_ALL=C sort)" "$(LC_ALL=C sort <<P
diff --git a/$b/a new file.txt b/$b/a new file.txt
diff --git a/$b/empty b/$b/empty
diff --git a/$b/image.bin b/$b/image.bin
diff --git a/$b/link b/$b/link
diff --git a/$b/notes.txt b/$b/notes.txt
diff --git a/$b/scripts/run.sh b/$b/scripts/run.sh
diff --git a/.agents/skills/other/SKILL.md b/.agents/skills/other/SKILL.md
diff --git a/$dup/SKILL.md b/$dup/SKILL.md
diff --git a/.claude/agents/boss.md b/.claude/agents/boss.md
diff --git a/.mcp.json b/.mcp.json
P
)"
like 'diff prints the old mode of a file' "$out" '^old mode 100755$'
like 'diff names a binary file as different' "$out" "^Binary files a/$b/image.bin and b/$b/image.bin differ$"
like 'diff shows a removed file as deleted' "$out" '^deleted file mode 100644$'
like 'diff shows a new link with its mode' "$out" '^new file mode 120000$'
like 'diff marks a last line without a line break' "$out" '^\\ No newline at end of file$'
is 'diff prints text changes as git diff prints them' \
    "$(mapm diff | grep -av '^Binary\|image.bin' | LC_ALL=C sort)" \
    "$(git add --no-all -f -N . ':!.agents/.mapm' && git -c core.quotepath=off diff --diff-algorithm=minimal |
        grep -av '^index\|^Binary\|image.bin' | sed 's/^\(@@ [^@]* @@\).*/\1/' | LC_ALL=C sort)"
mkdir "$T/clone" && git -c tar.umask=0022 archive HEAD | tar -xf - -C "$T/clone"
mapm diff | grep -av '^Binary\|image.bin' >"$T/patch"
ok 'git apply accepts the output of diff' sh -c 'cd "$1" && git init -q . && git apply "$2"' sh "$T/clone" "$T/patch"
cp $b/image.bin "$T/clone/$b/image.bin"
mkdir "$T/clone/.agents/skills/other"
same_tree 'git apply makes the same edits' "$T/clone/.agents/skills" .agents/skills
is 'diff leaves the workspace unchanged' "$(snapshot .)" "$(cat "$T/edited")"
exits 'diff of one package succeeds' 0 mapm diff other
is 'diff of one package prints its file alone' "$(printf '%s\n' "$out" | grep -c '^diff')" 1
exits 'diff of one package under two names succeeds' 0 mapm diff other acme/other
is 'diff of one package under two names prints its file once' "$(printf '%s\n' "$out" | grep -c '^diff')" 1
exits 'diff fails for an unknown package' 1 mapm diff othr
like 'diff suggests the nearest package' "$err" 'did you mean acme/other'
exits 'diff of a name and a name with a ref is a usage error' 2 mapm diff boss other@v1
exits 'diff --exit-code exits 3 with edits' 3 mapm diff --exit-code acme/base
exits 'diff --json succeeds' 0 mapm diff --json
is 'diff --json has its schema' "$(field 'd["schema"]')" mapm.diff/1
is 'diff --json lists the edited packages' "$(field 'sorted(p["name"] for p in d["packages"])')" \
    "['acme/base', 'acme/boss', 'acme/other', 'io.acme/tool', 'zeta/base']"
is 'diff --json lists the changed files with modes' "$(field '[(f["path"].split("/")[-1], f["change"], f.get("old_mode"), f.get("mode"), f["binary"]) for p in d["packages"] if p["name"] == "acme/base" for f in p["files"]][:3]')" \
    "[('a new file.txt', 'added', None, '100644', False), ('empty', 'added', None, '100644', False), ('image.bin', 'changed', '100644', '100644', True)]"
exits 'diff --json --exit-code exits 3 with edits' 3 mapm diff --json --exit-code
exits 'diff --color always succeeds' 0 mapm diff --color always other
like 'diff --color always colours removed lines as git does' "$out" "$(printf '^\033\\[31m-')"
like 'diff --color always colours headers as git does' "$out" "$(printf '^\033\\[1mdiff --git')"

# --- restore ---------------------------------------------------------------------

exits 'restore --dry-run succeeds' 0 mapm restore acme/base --dry-run
like 'restore --dry-run says what it would restore' "$out" "^would restore $b$"
is 'restore --dry-run leaves the workspace unchanged' "$(snapshot .)" "$(cat "$T/edited")"
exits 'restore of one package succeeds' 0 mapm restore acme/base
like 'restore prints the folder that it restored' "$out" "^restored $b$"
like 'restore says where the backup is' "$err" 'what was there before is in \.agents/\.mapm/backup/1$'
ok 'the backup has the edited file' grep -q '^2$' ".agents/.mapm/backup/1/$b/notes.txt"
ok 'the backup has the file that the user added' test -f ".agents/.mapm/backup/1/$b/a new file.txt"
exits 'diff succeeds after restore' 0 mapm diff acme/base
is 'diff prints nothing for the restored package' "$out" ''
exits 'diff succeeds for the packages that were not restored' 0 mapm diff
is 'restore of one package leaves the edits of the others' "$(printf '%s\n' "$out" | grep -ac '^diff')" 4
exits 'restore --json of a server succeeds' 0 mapm restore io.acme/tool --json
is 'restore --json has the server and the backup' "$(field '(d["schema"], d["restored"], d["backup"])')" \
    "('mapm.restore/1', ['.mcp.json#io-acme-tool'], '.agents/.mapm/backup/2')"
exits 'restore of three packages succeeds' 0 mapm restore other zeta/base boss
is 'restore brings back every installed file' "$(snapshot .agents/skills .agents/agents .claude)" "$(cat "$T/clean")"
exits 'verify succeeds after restore' 0 mapm verify
rm -r .agents/skills/base .mcp.json .claude/skills/other
exits 'diff succeeds with deleted packages' 0 mapm diff
is 'diff shows every file of deleted packages as deleted' "$(printf '%s\n' "$out" | grep -ac '^deleted file mode 120000\|^deleted file mode 100[67][45][45]')" 6
exits 'restore of deleted packages succeeds' 0 mapm restore acme/base other io.acme/tool
exits 'diff --exit-code finds no difference after restore' 0 mapm diff --exit-code
exits 'restore fails for an unknown name' 1 mapm restore othr
exits 'restore without a name is a usage error' 2 mapm restore

# --- what no package has ---------------------------------------------------------

mkfifo $b/pipe
mv $b/scripts "$T/away" && ln -s "$T/away" $b/scripts
: >"$b/$(printf 'a\377b')" && : >"$b/$(printf 'c\nd')"
head -c 9000000 /dev/zero | tr '\0' x >$b/large
exits 'diff succeeds with pipes, outside links, odd names and large files' 0 timeout 60 "$MAPM" diff acme/base
is 'diff prints pipes, links, odd names and large files as git does' "$(printf '%s\n' "$out" | grep -a '^diff\|^new\|^deleted\|^Binary' | cat -v)" "$(cat <<P
diff --git a/$b/aM-^?b b/$b/aM-^?b
new file mode 100644
diff --git "a/$b/c\012d" "b/$b/c\012d"
new file mode 100644
diff --git a/$b/large b/$b/large
new file mode 100644
Binary files /dev/null and b/$b/large differ
diff --git a/$b/scripts b/$b/scripts
new file mode 120000
diff --git a/$b/scripts/run.sh b/$b/scripts/run.sh
deleted file mode 100755
P
)"
exits 'diff --json succeeds with odd names and large files' 0 mapm diff --json acme/base
is 'diff --json lists each odd file' "$(field 'len(d["packages"][0]["files"])')" 5
exits 'restore succeeds with a link in place of a subfolder' 0 mapm restore acme/base
ok 'restore does not delete files behind the link' test -x "$T/away/run.sh"
rm -r $b && ln -s "$T/away" $b
exits 'restore succeeds with a link in place of the package folder' 0 mapm restore acme/base
ok 'restore replaces the link by a folder' test -d $b -a ! -L $b
exits 'diff --exit-code finds no difference after the links are gone' 0 mapm diff --exit-code

# --- no record, no store ---------------------------------------------------------

echo mine >>.agents/skills/other/SKILL.md
mv .agents/.mapm "$T/record"
exits 'diff succeeds without the record of installed files' 0 mapm diff
is 'diff without the record compares with lock and store' "$(printf '%s\n' "$out" | grep -a '^[+]')" "$(printf '+++ b/.agents/skills/other/SKILL.md\n+mine')"
mv "$T/record" .agents/.mapm
mv "$MAPM_HOME" "$T/home-of-mapm"
exits 'diff succeeds without the store' 0 mapm diff
like 'diff without the store names the file as different' "$out" 'Binary files .*other/SKILL.md differ'
exits 'restore fails without the store' 1 mapm restore other
like 'the hint of restore names mapm install --force' "$err" 'hint: mapm install --force'
rm -rf "$MAPM_HOME" && mv "$T/home-of-mapm" "$MAPM_HOME"
exits 'restore succeeds once the store is back' 0 mapm restore other

# --- what an update would change -------------------------------------------------

skill "$s/skills/meta" 'scope: acme' 'program: SKILL.star'
printf 'def main(input):\n    return "one"\n' >"$s/skills/meta/SKILL.star"
printf '# Changelog\n\n## 1.0.0 (2026-01-01)\n\n- The first.\n' >"$s/skills/other/CHANGELOG.md"
make_repo acme/catalog "$s"
exits 'install of a metaskill succeeds' 0 mapm install --yes "$U/main/skills/meta"
exits 'update to the commit with a changelog succeeds' 0 mapm update
second=$COMMIT
printf 'def main(input):\n    return "two"\n' >"$s/skills/meta/SKILL.star"
printf 'more\n' >"$s/skills/meta/A.md"
printf '# Changelog\n\n## 1.2.0 (2026-03-01)\n\n- diff --git a/x b/x\n\n## 1.1.0 (2026-02-01)\n\n- New.\n\n## 1.0.0 (2026-01-01)\n\n- The first.\n' >"$s/skills/other/CHANGELOG.md"
sed -i 's/^version:.*/version: 1.2.0/' "$s/skills/other/SKILL.md"
sed -i 's/^Do what/Do all that/' "$s/more/base/SKILL.md"
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool --more
rm -r "$s/skills/base/scripts"
make_repo acme/catalog "$s"
repo acme/catalog tag v2 main
repo acme/catalog tag v1.2.0 main
snapshot . >"$T/before"
exits 'update --diff succeeds' 0 mapm update --diff
is 'update --diff leaves the workspace unchanged' "$(snapshot .)" "$(cat "$T/before")"
printf '%s\n' "$out" >"$T/patch"
is 'update --diff prints servers first, then metaskills' "$(grep '^# [ams][a-z]* ' "$T/patch" | cut -d' ' -f2,3 | tr -d : | head -n 2)" \
    "$(printf 'mcp io.acme/tool\nskill acme/meta')"
like 'update --diff prints versions and commits of a package' "$out" "^# skill acme/other: update 1\.0\.0 \($(echo "$second" | cut -c1-10)\) -> 1\.2\.0 \($(echo "$COMMIT" | cut -c1-10)\)$"
like 'update --diff prints the present command of a server' "$out" '^# ran:  npx -y tool$'
like 'update --diff prints the new command of a server' "$out" '^# runs: npx -y tool --more$'
is 'update --diff prints the program of a metaskill before other files' "$(sed -n '/^# skill acme.meta/,/^# skill acme.[^m]/s/^diff.* b.*\///p' "$T/patch")" \
    "$(printf 'SKILL.star\nA.md')"
is 'update --diff prints the changelog sections between both versions' "$(sed -n '/^# skill acme.other/,/^diff/p' "$T/patch" | grep '^# [#-]')" \
    "$(printf '# ## 1.2.0 (2026-03-01)\n# - diff --git a/x b/x\n# ## 1.1.0 (2026-02-01)\n# - New.')"
like 'update --diff shows a removed file as deleted' "$out" '^deleted file mode 100755$'
ok 'git apply accepts the output of update --diff' git apply --check "$T/patch"
like 'update --diff prints changes of servers as comments' "$out" '^# -    "tool"$'
exits 'update --diff --json succeeds' 0 mapm update --diff --json
is 'update --diff --json has the old and the new command' "$(field '[(p["name"], p.get("old_command"), p.get("command")) for p in d["packages"]][0]')" \
    "('io.acme/tool', 'npx -y tool', 'npx -y tool --more')"
is 'update --diff --json has the changelog sections' "$(field '[p["changelog"] for p in d["packages"] if p["changelog"]][0].count("## ")')" 2
exits 'update --diff of one package succeeds' 0 mapm update --diff other
is 'update --diff of one package prints that package alone' "$(printf '%s\n' "$out" | grep -c '^# skill')" 1
as_update=$out
exits '[D5] diff of a package at the locked branch succeeds' 0 mapm diff other@main
is '[D5] diff at the locked branch prints what update --diff prints' "$out" "$as_update"
exits 'diff of a package at a tag succeeds' 0 mapm diff other@v2
like 'diff at a tag prints the update to that tag' "$out" '^# skill acme/other: update 1\.0\.0 .* -> 1\.2\.0 '
exits 'diff of a package at a version range succeeds' 0 mapm diff 'other@^1.1'
like 'diff at a version range takes its highest tag' "$out" '^# skill acme/other: update 1\.0\.0 .* -> 1\.2\.0 '
exits 'diff --exit-code exits 3 against an older commit' 3 mapm diff "acme/other@$first" --exit-code
like 'diff against an older commit shows newer lines as removed' "$out" '^-## 1\.0\.0'
is 'diff and update --diff leave the workspace unchanged' "$(snapshot .)" "$(cat "$T/before")"
exits '[D5] diff at a whole commit id succeeds' 0 mapm diff "acme/other@$first"
whole=$out
exits '[D5] diff at an abbreviated commit id succeeds' 0 mapm diff "acme/other@$(printf %.10s "$first")"
is '[D5] the abbreviated commit id means the same commit' "$out" "$whole"
exits '[D5] diff fails for an abbreviated id that no known commit has' 1 mapm diff other@0123456789
like '[D5] the error says that diff cannot compare with the id' "$err" '^mapm: cannot compare with .*/0123456789/'
like '[D5] the error advises to use all 40 digits' "$err" 'use all 40 digits'
exits 'diff fails for a ref that does not exist' 1 mapm diff other@nosuch
exits 'diff with a malformed ref is a usage error' 2 mapm diff 'other@a..b'
cp mapm.lock "$T/old.lock"
exits 'update --yes succeeds after the diffs' 0 mapm update --yes
exits 'update --diff succeeds when everything is up to date' 0 mapm update --diff
like 'update --diff says that no package would change' "$err" 'no package would change'

# --- the lock has moved ----------------------------------------------------------

echo mine >>.agents/skills/base/notes.txt
cp mapm.lock "$T/new.lock" && cp "$T/old.lock" mapm.lock
exits 'restore succeeds after the lock went back to older commits' 0 mapm restore other
like 'restore places the version of the lock' "$(cat .agents/skills/other/SKILL.md)" '^version: 1\.0\.0$'
like 'restore of one package leaves a newer metaskill as it is' "$(cat .agents/skills/meta/SKILL.star)" '"two"'
like 'restore of one package leaves the edits of another' "$(tail -n 1 .agents/skills/base/notes.txt)" '^mine$'
like 'restore of one package leaves the server as it is' "$(cat .mcp.json)" '"--more"'
exits 'diff succeeds when lock and installed files differ' 0 mapm diff acme/base
is 'diff compares with the installed files, not with the lock' "$(printf '%s\n' "$out" | grep -a '^[-+]')" "$(printf -- '--- a/%s\n+++ b/%s\n+mine' "$b/notes.txt" "$b/notes.txt")"
cp "$T/new.lock" mapm.lock
digest=$(sed -n '/name: acme\/meta/,/digest/s/.*digest: //p' mapm.lock)
sed -i "/name: acme\/other/,/digest/s/digest: .*/digest: $digest/" mapm.lock
snapshot . >"$T/before"
exits 'restore fails for a digest that the commit does not prove' 1 mapm restore other
like 'the error says that the package is not proved' "$err" 'acme/other is not proved to be what its commit holds'
is 'restore of an unproved package changes nothing' "$(snapshot .)" "$(cat "$T/before")"
cp "$T/new.lock" mapm.lock
exits 'install --force succeeds with the present lock' 0 mapm install --force

# --- on a terminal ---------------------------------------------------------------

cat >"$T/terminal.py" <<'P'
import os, pty, sys
out = b""
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="xterm", **dict(a.split("=", 1) for a in sys.argv[1:2] if a))
    os.execvp(sys.argv[2], sys.argv[2:])
while True:
    try:
        got = os.read(fd, 65536)
    except OSError:
        break
    if not got:
        break
    out += got
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.stdout.buffer.write(out.replace(b"\r\n", b"\n"))
sys.exit(status)
P
if ! python3 -S -c 'import pty; pty.openpty()' 2>/dev/null; then
    skip 'a terminal' 'no pseudo-terminals here'
    done_testing
fi
printf 'a \033[2J \342\200\256 b\n' >>.agents/skills/other/SKILL.md
exits 'diff succeeds on a terminal' 0 python3 -S "$T/terminal.py" 'PAGER=sed "s/^/> /"' "$MAPM" diff
like 'diff on a terminal pipes its output through the pager' "$out" '^> .*diff --git a/\.agents'
like 'diff on a terminal shows control and hidden characters as escapes' "$out" 'a \\x1b\[2J \\u\{202e\} b'
exits 'diff succeeds on a terminal with cat as the pager' 0 python3 -S "$T/terminal.py" 'PAGER=cat' "$MAPM" --color never diff
is 'diff --color never with cat prints the plain git header' "$(printf '%s\n' "$out" | head -n 1)" \
    'diff --git a/.agents/skills/other/SKILL.md b/.agents/skills/other/SKILL.md'
exits 'diff succeeds when the pager ends early' 0 python3 -S "$T/terminal.py" 'PAGER=true' "$MAPM" diff
exits 'diff succeeds when the pager does not exist' 0 python3 -S "$T/terminal.py" 'PAGER=/nosuch/pager' "$MAPM" diff
exits 'diff succeeds in a pipe' 0 mapm diff
ok 'diff in a pipe prints the bytes of a file unchanged' grep -q "$(printf '^+a \033\\[2J \342\200\256 b$')" "$T/out"
done_testing

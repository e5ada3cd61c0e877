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
exits 'a workspace' 0 mapm install --yes "$U/main/skills/base" "$U/main/skills/other" \
    "$U/main/more/base" "$U/main/agents/boss" "$U/main/mcps/io.acme_tool.json"
git init -q . && git add -A -f . ':!.agents/.mapm' && git -c user.name=x -c user.email=x@example.com commit -qm all
dup=$(sed -n '/name: zeta\/base/,/path/s/.*path: //p' mapm.lock)
isnt 'one is renamed' "$dup" .agents/skills/base
reset_log
exits 'nothing was edited' 0 mapm diff
is 'so nothing is printed' "$out$err" ''
is 'and nothing asked for' "$(requests)" 0
exits 'nothing to restore' 0 mapm restore acme/base
like 'it says so' "$err" 'nothing was edited'

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
exits 'what was edited' 0 mapm diff
printf '%s\n' "$out" >"$T/patch"
is 'the headers are those of git' "$(grep -a '^diff' "$T/patch" | LC_ALL=C sort)" "$(LC_ALL=C sort <<P
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
like 'a mode' "$out" '^old mode 100755$'
like 'a binary file is named' "$out" "^Binary files a/$b/image.bin and b/$b/image.bin differ$"
like 'a removed file' "$out" '^deleted file mode 100644$'
like 'a link' "$out" '^new file mode 120000$'
like 'a last line without its end' "$out" '^\\ No newline at end of file$'
is 'all but the binary file are as git diff has them' \
    "$(mapm diff | grep -av '^Binary\|image.bin' | LC_ALL=C sort)" \
    "$(git add --no-all -f -N . ':!.agents/.mapm' && git -c core.quotepath=off diff --diff-algorithm=minimal |
        grep -av '^index\|^Binary\|image.bin' | sed 's/^\(@@ [^@]* @@\).*/\1/' | LC_ALL=C sort)"
mkdir "$T/clone" && git -c tar.umask=0022 archive HEAD | tar -xf - -C "$T/clone"
mapm diff | grep -av '^Binary\|image.bin' >"$T/patch"
ok 'git apply reads it' sh -c 'cd "$1" && git init -q . && git apply "$2"' sh "$T/clone" "$T/patch"
cp $b/image.bin "$T/clone/$b/image.bin"
mkdir "$T/clone/.agents/skills/other"
same_tree 'and makes the edits' "$T/clone/.agents/skills" .agents/skills
is 'nothing was changed' "$(snapshot .)" "$(cat "$T/edited")"
exits 'one package' 0 mapm diff other
is 'alone' "$(printf '%s\n' "$out" | grep -c '^diff')" 1
exits 'twice is once' 0 mapm diff other acme/other
is 'alone, too' "$(printf '%s\n' "$out" | grep -c '^diff')" 1
exits 'no such package' 1 mapm diff othr
like 'a near one' "$err" 'did you mean acme/other'
exits 'names and refs' 2 mapm diff boss other@v1
exits 'with --exit-code' 3 mapm diff --exit-code acme/base
exits 'JSON' 0 mapm diff --json
is 'the schema' "$(field 'd["schema"]')" mapm.diff/1
is 'packages' "$(field 'sorted(p["name"] for p in d["packages"])')" \
    "['acme/base', 'acme/boss', 'acme/other', 'io.acme/tool', 'zeta/base']"
is 'files' "$(field '[(f["path"].split("/")[-1], f["change"], f.get("old_mode"), f.get("mode"), f["binary"]) for p in d["packages"] if p["name"] == "acme/base" for f in p["files"]][:3]')" \
    "[('a new file.txt', 'added', None, '100644', False), ('empty', 'added', None, '100644', False), ('image.bin', 'changed', '100644', '100644', True)]"
exits 'and its exit' 3 mapm diff --json --exit-code
exits 'colours' 0 mapm diff --color always other
like 'as git: what is removed' "$out" "$(printf '^\033\\[31m-')"
like 'what stands around it' "$out" "$(printf '^\033\\[1mdiff --git')"

# --- restore ---------------------------------------------------------------------

exits 'a dry restore' 0 mapm restore acme/base --dry-run
like 'says what it would do' "$out" "^would restore $b$"
is 'and does not' "$(snapshot .)" "$(cat "$T/edited")"
exits 'of one' 0 mapm restore acme/base
like 'says what it did' "$out" "^restored $b$"
like 'and where the rest is' "$err" 'what was there before is in \.agents/\.mapm/backup/1$'
ok 'the edited file is' grep -q '^2$' ".agents/.mapm/backup/1/$b/notes.txt"
ok 'and the file of the user' test -f ".agents/.mapm/backup/1/$b/a new file.txt"
exits 'nothing of it is edited' 0 mapm diff acme/base
is 'any more' "$out" ''
exits 'the others are' 0 mapm diff
is 'as they were' "$(printf '%s\n' "$out" | grep -ac '^diff')" 4
exits 'a server' 0 mapm restore io.acme/tool --json
is 'in JSON' "$(field '(d["schema"], d["restored"], d["backup"])')" \
    "('mapm.restore/1', ['.mcp.json#io-acme-tool'], '.agents/.mapm/backup/2')"
exits 'the rest' 0 mapm restore other zeta/base boss
is 'all is as it was installed' "$(snapshot .agents/skills .agents/agents .claude)" "$(cat "$T/clean")"
exits 'and the lock says so' 0 mapm verify
rm -r .agents/skills/base .mcp.json .claude/skills/other
exits 'what was removed' 0 mapm diff
is 'as git says' "$(printf '%s\n' "$out" | grep -ac '^deleted file mode 120000\|^deleted file mode 100[67][45][45]')" 6
exits 'comes back' 0 mapm restore acme/base other io.acme/tool
exits 'all of it' 0 mapm diff --exit-code
exits 'an unknown name' 1 mapm restore othr
exits 'a name is needed' 2 mapm restore

# --- what no package has ---------------------------------------------------------

mkfifo $b/pipe
mv $b/scripts "$T/away" && ln -s "$T/away" $b/scripts
: >"$b/$(printf 'a\377b')" && : >"$b/$(printf 'c\nd')"
head -c 9000000 /dev/zero | tr '\0' x >$b/large
exits 'pipes, links to elsewhere, odd names, large files' 0 timeout 60 "$MAPM" diff acme/base
is 'are as git has them' "$(printf '%s\n' "$out" | grep -a '^diff\|^new\|^deleted\|^Binary' | cat -v)" "$(cat <<P
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
exits 'in JSON, too' 0 mapm diff --json acme/base
is 'all of them' "$(field 'len(d["packages"][0]["files"])')" 5
exits 'restore' 0 mapm restore acme/base
ok 'does not go through the link' test -x "$T/away/run.sh"
rm -r $b && ln -s "$T/away" $b
exits 'a link in place of the folder' 0 mapm restore acme/base
ok 'makes way' test -d $b -a ! -L $b
exits 'and nothing differs' 0 mapm diff --exit-code

# --- no record, no store ---------------------------------------------------------

echo mine >>.agents/skills/other/SKILL.md
mv .agents/.mapm "$T/record"
exits 'without a record the lock counts' 0 mapm diff
is 'and the store' "$(printf '%s\n' "$out" | grep -a '^[+]')" "$(printf '+++ b/.agents/skills/other/SKILL.md\n+mine')"
mv "$T/record" .agents/.mapm
mv "$MAPM_HOME" "$T/home-of-mapm"
exits 'without the store the file is named' 0 mapm diff
like 'as different' "$out" 'Binary files .*other/SKILL.md differ'
exits 'it cannot be restored' 1 mapm restore other
like 'and how it can' "$err" 'hint: mapm install --force'
rm -rf "$MAPM_HOME" && mv "$T/home-of-mapm" "$MAPM_HOME"
exits 'it is back' 0 mapm restore other

# --- what an update would change -------------------------------------------------

skill "$s/skills/meta" 'scope: acme' 'program: SKILL.star'
printf 'def main(input):\n    return "one"\n' >"$s/skills/meta/SKILL.star"
printf '# Changelog\n\n## 1.0.0 (2026-01-01)\n\n- The first.\n' >"$s/skills/other/CHANGELOG.md"
make_repo acme/catalog "$s"
exits 'a metaskill' 0 mapm install --yes "$U/main/skills/meta"
exits 'moves' 0 mapm update
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
exits 'update --diff' 0 mapm update --diff
is 'changes nothing' "$(snapshot .)" "$(cat "$T/before")"
printf '%s\n' "$out" >"$T/patch"
is 'servers come first, then programs' "$(grep '^# [ams][a-z]* ' "$T/patch" | cut -d' ' -f2,3 | tr -d : | head -n 2)" \
    "$(printf 'mcp io.acme/tool\nskill acme/meta')"
like 'versions' "$out" "^# skill acme/other: update 1\.0\.0 \($(echo "$second" | cut -c1-10)\) -> 1\.2\.0 \($(echo "$COMMIT" | cut -c1-10)\)$"
like 'what ran' "$out" '^# ran:  npx -y tool$'
like 'and what will' "$out" '^# runs: npx -y tool --more$'
is 'of a metaskill its program first' "$(sed -n '/^# skill acme.meta/,/^# skill acme.[^m]/s/^diff.* b.*\///p' "$T/patch")" \
    "$(printf 'SKILL.star\nA.md')"
is 'the sections in between' "$(sed -n '/^# skill acme.other/,/^diff/p' "$T/patch" | grep '^# [#-]')" \
    "$(printf '# ## 1.2.0 (2026-03-01)\n# - diff --git a/x b/x\n# ## 1.1.0 (2026-02-01)\n# - New.')"
like 'a removed file' "$out" '^deleted file mode 100755$'
ok 'git apply reads it, too' git apply --check "$T/patch"
like 'and skips what is no file here' "$out" '^# -    "tool"$'
exits 'JSON' 0 mapm update --diff --json
is 'has it as well' "$(field '[(p["name"], p.get("old_command"), p.get("command")) for p in d["packages"]][0]')" \
    "('io.acme/tool', 'npx -y tool', 'npx -y tool --more')"
is 'and the changelog' "$(field '[p["changelog"] for p in d["packages"] if p["changelog"]][0].count("## ")')" 2
exits 'one alone' 0 mapm update --diff other
is 'is shown alone' "$(printf '%s\n' "$out" | grep -c '^# skill')" 1
as_update=$out
exits '[D5] the ref that is locked' 0 mapm diff other@main
is '[D5] shows what an update would' "$out" "$as_update"
exits 'NAME@REF' 0 mapm diff other@v2
like 'is as an update there' "$out" '^# skill acme/other: update 1\.0\.0 .* -> 1\.2\.0 '
exits 'a range' 0 mapm diff 'other@^1.1'
like 'is its highest tag' "$out" '^# skill acme/other: update 1\.0\.0 .* -> 1\.2\.0 '
exits 'backwards, too' 3 mapm diff "acme/other@$first" --exit-code
like 'the other way' "$out" '^-## 1\.0\.0'
is 'all of this changes nothing' "$(snapshot .)" "$(cat "$T/before")"
exits '[D5] a whole id' 0 mapm diff "acme/other@$first"
whole=$out
exits '[D5] as mapm abbreviates it' 0 mapm diff "acme/other@$(printf %.10s "$first")"
is '[D5] is the same commit' "$out" "$whole"
exits '[D5] an id that nothing here has' 1 mapm diff other@0123456789
like '[D5] is not compared' "$err" '^mapm: cannot compare with .*/0123456789/'
like '[D5] says what helps' "$err" 'use all 40 digits'
exits 'a ref that is none' 1 mapm diff other@nosuch
exits 'and one that cannot be' 2 mapm diff 'other@a..b'
cp mapm.lock "$T/old.lock"
exits 'the update' 0 mapm update --yes
exits 'then nothing' 0 mapm update --diff
like 'would change' "$err" 'no package would change'

# --- the lock has moved ----------------------------------------------------------

echo mine >>.agents/skills/base/notes.txt
cp mapm.lock "$T/new.lock" && cp "$T/old.lock" mapm.lock
exits 'one goes back to the lock' 0 mapm restore other
like 'as it says' "$(cat .agents/skills/other/SKILL.md)" '^version: 1\.0\.0$'
like 'the others stay' "$(cat .agents/skills/meta/SKILL.star)" '"two"'
like 'as they are' "$(tail -n 1 .agents/skills/base/notes.txt)" '^mine$'
like 'servers, too' "$(cat .mcp.json)" '"--more"'
exits 'what was edited is so against what was installed' 0 mapm diff acme/base
is 'not the lock' "$(printf '%s\n' "$out" | grep -a '^[-+]')" "$(printf -- '--- a/%s\n+++ b/%s\n+mine' "$b/notes.txt" "$b/notes.txt")"
cp "$T/new.lock" mapm.lock
digest=$(sed -n '/name: acme\/meta/,/digest/s/.*digest: //p' mapm.lock)
sed -i "/name: acme\/other/,/digest/s/digest: .*/digest: $digest/" mapm.lock
snapshot . >"$T/before"
exits 'a digest alone proves nothing' 1 mapm restore other
like 'it says so' "$err" 'acme/other is not proved to be what its commit holds'
is 'and changes nothing' "$(snapshot .)" "$(cat "$T/before")"
cp "$T/new.lock" mapm.lock
exits 'all is new' 0 mapm install --force

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
exits 'on a terminal' 0 python3 -S "$T/terminal.py" 'PAGER=sed "s/^/> /"' "$MAPM" diff
like 'the pager has it' "$out" '^> .*diff --git a/\.agents'
like 'controls and hidden characters are visible' "$out" 'a \\x1b\[2J \\u\{202e\} b'
exits 'no pager' 0 python3 -S "$T/terminal.py" 'PAGER=cat' "$MAPM" --color never diff
is 'is as git' "$(printf '%s\n' "$out" | head -n 1)" \
    'diff --git a/.agents/skills/other/SKILL.md b/.agents/skills/other/SKILL.md'
exits 'a pager that ends early is no failure' 0 python3 -S "$T/terminal.py" 'PAGER=true' "$MAPM" diff
exits 'nor one that is not there' 0 python3 -S "$T/terminal.py" 'PAGER=/nosuch/pager' "$MAPM" diff
exits 'in a pipe the bytes are as they came' 0 mapm diff
ok 'all of them' grep -q "$(printf '^+a \033\\[2J \342\200\256 b$')" "$T/out"
done_testing

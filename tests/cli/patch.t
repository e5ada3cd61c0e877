#!/bin/sh
# mapm patch: edits of packages that a team keeps. [D7, F13, rows 1 and 7 of THREATS.md]
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/terminal.sh"
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
hash_of()
{
    sha256sum <"$1" | cut -d ' ' -f 1
}

skill "$s/skills/base" 'scope: acme'
seq 1 40 >"$s/skills/base/notes.txt"
printf 'bytes\0of\0it' >"$s/skills/base/image.bin"
mkdir "$s/skills/base/scripts"
printf '#!/bin/sh\necho hello\n' >"$s/skills/base/scripts/run.sh"
chmod 755 "$s/skills/base/scripts/run.sh"
skill "$s/skills/other" 'scope: acme'
skill "$s/skills/prog" 'scope: acme' 'metaskill: SKILL.star'
printf 'def run(input):\n    return {"status": "ok", "result": "one"}\n' >"$s/skills/prog/SKILL.star"
skill "$s/more/base" 'scope: zeta'
agent "$s/agents/boss" 'scope: acme' 'dependencies:' '  skills:' "    - $U/main/skills/other"
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool
make_repo acme/catalog "$s"
first=$COMMIT
start_githost
mkdir .claude
exits 'a workspace' 0 mapm install --yes "$U/main/skills/base" "$U/main/skills/prog" "$U/main/more/base" \
    "$U/main/agents/boss" "$U/main/mcps/io.acme_tool.json"
dup=$(sed -n '/name: zeta\/base/,/path/s/.*path: //p' mapm.lock)
isnt 'one is renamed' "$dup" .agents/skills/base
b=.agents/skills/base
P=.mapm/patches/skill-acme__base.patch
cp mapm.lock "$T/lock.unpatched"

# --- a patch -----------------------------------------------------------------------

exits 'nothing was edited' 0 mapm patch acme/base
like 'it says so' "$err" 'nothing to do'
not_ok 'and nothing is there' test -e .mapm
sed -i 's/^20$/twenty/' $b/notes.txt
echo 'a new file' >$b/new.md
exits 'a dry run' 0 mapm patch --dry-run acme/base
not_ok 'writes nothing' test -e .mapm
is 'nor the lock' "$(cat mapm.lock)" "$(cat "$T/lock.unpatched")"
reset_log
exits 'the edits are kept' 0 mapm patch acme/base
is 'no host is asked' "$(requests)" 0
is 'as git writes them' "$(cat $P)" 'diff --git a/new.md b/new.md
new file mode 100644
--- /dev/null
+++ b/new.md
@@ -0,0 +1 @@
+a new file
diff --git a/notes.txt b/notes.txt
--- a/notes.txt
+++ b/notes.txt
@@ -17,7 +17,7 @@
 17
 18
 19
-20
+twenty
 21
 22
 23'
is 'the lock has its hash, behind the path' "$(diff "$T/lock.unpatched" mapm.lock)" "1c1
< version: 1
---
> version: 2
$(grep -n 'path: .agents/skills/base$' "$T/lock.unpatched" | cut -d: -f1)a$(grep -n "patch: " mapm.lock | cut -d: -f1)
>     patch: sha256:$(hash_of $P)"
exits 'all is as it should be' 0 mapm verify
like 'verify names it' "$out" "^$b: patched\$"
exits 'in JSON' 0 mapm verify --json
is 'the place' "$(field 'd["patched"]')" "['$b']"
exits 'list' 0 mapm list
like 'names it' "$out" '^skill acme/base .*\(patched\)$'
exits 'skill show as JSON' 0 mapm skill show "${b##*/}" --json
like 'has the patch of what is locked' "$out" '"patch": "sha256:'
exits 'list as JSON' 0 mapm list --json
is 'its hash' "$(field '[p.get("patch") for p in d["packages"] if p["name"] == "acme/base"][0]')" "sha256:$(hash_of $P)"
exits 'tree' 0 mapm tree
like 'names it, too' "$out" '^skill acme/base 1.0.0 \(patched\)$'
exits 'and why' 0 mapm why acme/base
like 'as well' "$out" 'acme/base.*\(patched\)'
exits 'an install has nothing to do' 0 mapm install --locked
like 'and says so' "$err" 'nothing to do'
exits 'no difference is left' 0 mapm diff
is 'so none is shown' "$out" ''
snapshot .agents/skills .mapm mapm.lock >"$T/patched"

# --- everywhere --------------------------------------------------------------------

sed -i 's/^30$/thirty/' $b/notes.txt
exits 'a later edit' 0 mapm diff
is 'is shown against the patched file' "$(printf '%s\n' "$out" | grep '^[-+][^-+]')" '-30
+thirty'
exits 'and undone' 0 mapm restore acme/base
is 'to the patched state' "$(snapshot .agents/skills .mapm mapm.lock)" "$(cat "$T/patched")"
rm -r .agents/skills
exits 'a repair' 0 mapm install --locked --offline
is 'has it, too' "$(snapshot .agents/skills .mapm mapm.lock)" "$(cat "$T/patched")"
rm -r .agents .claude/skills
exits 'after a clone of all but .agents' 0 mapm install --locked
is 'and so has that' "$(snapshot .agents/skills .mapm mapm.lock)" "$(cat "$T/patched")"
mv .mapm "$T/away" && cp mapm.lock "$T/lock.patched" && cp "$T/lock.unpatched" mapm.lock
exits 'a switch to a branch without it' 0 mapm install --locked
not_ok 'takes it away' test -e $b/new.md
mv "$T/away" .mapm && cp "$T/lock.patched" mapm.lock
exits 'and back' 0 mapm install --locked
is 'it is there again' "$(snapshot .agents/skills .mapm mapm.lock)" "$(cat "$T/patched")"
touch -d '2 hours ago' "$MAPM_HOME"/store/objects/*/* "$MAPM_HOME"/store/packs/* 2>/dev/null
exits 'gc' 0 mapm store gc
exits 'keeps what it is made of' 0 mapm restore acme/base
exits 'and verify finds it' 0 mapm verify

sed -i 's/^twenty$/XX/; s/^1$/one/' $b/notes.txt
rm $b/new.md
exits 'a second one, named twice' 0 mapm patch acme/base "skill acme/base"
is 'replaces the first' "$(grep -c '^diff' $P) $(grep '^[-+][^-+]' $P | tr '\n' ' ')" '1 -1 +one -20 +XX '
exits 'which verify accepts' 0 mapm verify
rm $b/notes.txt
exits 'a third that removes a file' 0 mapm patch acme/base
rm -r .agents/skills
exits 'is applied' 0 mapm install --locked --offline
not_ok 'the file is gone' test -e $b/notes.txt
exits 'the rest is as it should be' 0 mapm verify
seq 1 40 >$b/notes.txt
exits 'as it was fetched' 0 mapm patch --json acme/base
is 'there is none' "$(field '[p.get("patch") for p in d["packages"] if p["name"] == "acme/base"][0], d["command"]')" "(None, 'patch')"
not_ok 'nor its folder' test -e .mapm
is 'and the lock is of version 1' "$(cat mapm.lock)" "$(cat "$T/lock.unpatched")"

# --- a renamed copy, an agent --------------------------------------------------------

sed -i 's/^Do what.*/Do all that./' "$dup/SKILL.md"
sed -i 's/^description:.*/description: What only this team does./' "$dup/SKILL.md"
exits 'of a renamed copy' 0 mapm patch zeta/base
unlike 'the name is not in it' "$(grep '^[-+]' .mapm/patches/skill-zeta__base.patch)" name:
rm -r "$dup"
exits 'is applied' 0 mapm install
like 'under its name here' "$(cat "$dup/SKILL.md")" "^name: ${dup##*/}\$"
like 'with its edits' "$(cat "$dup/SKILL.md")" '^Do all that'
sed -i 's/^name:.*/name: mine/' "$dup/SKILL.md"
exits 'another name' 1 mapm patch zeta/base
like 'is refused' "$err" 'not that of its folder'
exits 'and undone' 0 mapm restore zeta/base
echo 'Be brief.' >>.agents/agents/boss/AGENTS.md
exits 'of an agent' 0 mapm patch boss
ok 'by its type' test -f .mapm/patches/agent-acme__boss.patch
like 'clients have it' "$(cat .claude/agents/boss.md)" 'Be brief'
exits 'all of it is fine' 0 mapm verify
exits 'away with both' 0 mapm patch --remove boss zeta/base
not_ok 'from the disk' test -e .mapm
unlike 'and from clients' "$(cat .claude/agents/boss.md)" 'Be brief'
is 'the lock is as it was' "$(cat mapm.lock)" "$(cat "$T/lock.unpatched")"

# --- what no patch can hold ------------------------------------------------------------

refused()
{
    what=$1 why=$2
    exits "$what" "${3:-4}" mapm patch acme/base
    like "$what: why" "$err" "$why"
    not_ok "$what: no patch" test -e .mapm
    mapm restore acme/base >/dev/null 2>&1
}
printf 'other\0bytes' >$b/image.bin
refused 'a binary file' 'image.bin: not a text'
chmod 644 $b/scripts/run.sh
refused 'a mode' 'run.sh: its mode changed'
printf '#!/bin/sh\n' >$b/x.sh && chmod 755 $b/x.sh
refused 'a new program' 'x.sh: a new file that is executable'
ln -s /etc/passwd $b/link
refused 'a link that leads out' 'link that leaves the package'
sed -i 's/^name:.*/name: else/' $b/SKILL.md
refused 'another name' 'not that of its folder' 1
sed -i 's/^scope:.*/scope: else/' $b/SKILL.md
refused 'another scope' 'keeps the name of its package' 1
sed -i "s|^scope: acme|scope: acme\\ndependencies:\\n  mcps:\\n    - $U/main/mcps/io.acme_tool.json|" $b/SKILL.md
refused 'another dependency' 'keeps the dependencies of its package'
sed -i 's/^description:.*/description: ""/' $b/SKILL.md
refused 'no description' 'description' 1
printf 'Hidden: \342\200\256x\n' >>$b/SKILL.md
refused '[row 7] hidden characters' 'hidden|bidi'
rm $b/SKILL.md
refused 'no document' 'SKILL.md' 1
exits 'an MCP server' 2 mapm patch io.acme/tool
like 'has no patches' "$err" 'patches are for skills and agents'
exits 'what is not installed' 1 mapm patch nothing
exits 'no name' 2 mapm patch
skill mine/own 'scope: acme'
exits 'one of the workspace' 0 mapm install --yes ./mine/own
exits 'needs none' 2 mapm patch acme/own
like 'and it says where it is' "$err" './mine/own'
exits 'away with it' 0 mapm remove acme/own

# --- what others commit ---------------------------------------------------------------

mkdir -p .mapm/patches
# hostile WHAT WHY STATUS: of the patch on standard input.
hostile()
{
    cat >$P
    snapshot .agents .claude mapm.lock >"$T/before"
    exits "$1" "$3" mapm install --yes
    like "$1: why" "$err" "$2"
    is "$1: nothing changed" "$(snapshot .agents .claude mapm.lock)" "$(cat "$T/before")"
    rm -f $P
}
hostile 'another line' 'hunk 1 of notes.txt, line 4' 1 <<'P'
diff --git a/notes.txt b/notes.txt
--- a/notes.txt
+++ b/notes.txt
@@ -1,2 +1,2 @@
-x
+y
 2
P
hostile 'a file that is not there' 'the package has no gone.txt' 1 <<'P'
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-x
P
for path in ../../../x /etc/x .git/config 'a/../../x'; do
    hostile "[row 1] the path $path" 'leads out|cannot|\.git' 4 <<P
diff --git a/$path b/$path
new file mode 100644
--- /dev/null
+++ b/$path
@@ -0,0 +1 @@
+x
P
done
hostile '[row 3] a twin' 'the same name on some file systems' 4 <<'P'
diff --git a/Notes.txt b/Notes.txt
new file mode 100644
--- /dev/null
+++ b/Notes.txt
@@ -0,0 +1 @@
+x
P
hostile 'a program' 'only plain files' 1 <<'P'
diff --git a/x b/x
new file mode 100755
--- /dev/null
+++ b/x
@@ -0,0 +1 @@
+x
P
hostile 'a rename' 'keeps its name' 1 <<'P'
diff --git a/notes.txt b/other.txt
similarity index 100%
rename from notes.txt
rename to other.txt
P
hostile 'a link' 'only plain files' 1 <<'P'
diff --git a/x b/x
new file mode 120000
--- /dev/null
+++ b/x
@@ -0,0 +1 @@
+/etc/passwd
\ No newline at end of file
P
hostile 'no patch at all' 'skill-acme__base.patch:1: no "diff --git" line' 1 <<'P'
x
P
hostile 'one in conflict' 'hint: git left it in conflict' 1 <<'P'
<<<<<<< HEAD
P
ln -s /etc/passwd $P
exits '[row 16] a link in the place of a patch' 4 mapm install
rm $P
echo x >.mapm/patches/README.md
exits 'other files are ignored' 0 mapm install --locked
rm .mapm/patches/README.md
printf 'diff --git a/x b/x\nnew file mode 100644\n' >.mapm/patches/skill-acme__gone.patch
exits 'a patch without a package' 1 mapm install
like 'is an error' "$err" 'skill-acme__gone.patch: no package'
like 'with a way out' "$err" 'mapm patch --remove .mapm/patches/skill-acme__gone.patch'
exits 'verify has it' 3 mapm verify
like 'by its name' "$out" 'skill-acme__gone.patch: not in the lock'
exits 'the way out' 0 mapm patch --remove .mapm/patches/skill-acme__gone.patch
not_ok 'it is gone' test -e .mapm

# --- the lock -----------------------------------------------------------------------------

sed -i 's/^20$/twenty/' $b/notes.txt
exits 'once more' 0 mapm patch acme/base
cp $P "$T/saved"
sed -i 's/twenty/zwanzig/' $P
exits 'another patch than the locked one' 1 mapm install --locked
like 'is refused' "$err" 'mapm.lock:[0-9]+: skill acme/base: .*not the patch that is locked'
like 'with the command' "$err" 'run mapm install and commit mapm.lock'
CI=1 && export CI
exits 'in CI, too' 1 mapm install
unset CI
exits 'what was edited there is not lost' 1 mapm patch acme/base
like 'by what is in the folder' "$err" 'was changed since it was installed'
exits 'an install takes it' 0 mapm install
ok 'into the workspace' grep -qx zwanzig $b/notes.txt
exits 'and the lock' 0 mapm install --locked
rm $P
exits 'without the file' 1 mapm install --locked
like 'is refused' "$err" 'its patch .* is not there'
exits 'verify has that' 3 mapm verify
like 'as missing' "$out" "^$P: missing\$"
exits 'an install goes without' 0 mapm install
is 'and the lock as well' "$(cat mapm.lock)" "$(cat "$T/lock.unpatched")"
ok 'and the files' grep -qx 20 $b/notes.txt
mkdir -p .mapm/patches && cp "$T/saved" $P
exits 'one that the lock lacks' 1 mapm install --locked
like 'is refused, too' "$err" 'is not in the lock'
exits 'an install takes that' 0 mapm install

# --- on another machine --------------------------------------------------------------------

mkdir "$T/clone" && cp -r .mapm mapm.yaml mapm.lock "$T/clone" && mkdir "$T/clone/.claude"
MAPM_HOME=$T/second
exits 'a clone, without a terminal' 0 mapm -C "$T/clone" install --locked
like 'has a line of it' "$out" "patch: $P \\(\\+1 -1\\)"
unlike 'and not all' "$out" twenty
ok 'is patched' grep -qx twenty "$T/clone/$b/notes.txt"
MAPM_HOME=$T/third
rm -r "$T/clone/.agents"
on_terminal n "$MAPM" -C "$T/clone" install --locked
is 'on a terminal it is asked for' "$status" 4
like 'once' "$out" '\[y/N\]'
like 'with the patch' "$out" '^\+twenty'
not_ok 'a no changes nothing' test -e "$T/clone/.agents/skills"
on_terminal y "$MAPM" -C "$T/clone" install --locked
is 'a yes' "$status" 0
ok 'applies it' grep -qx twenty "$T/clone/$b/notes.txt"
rm -r "$T/clone/.agents"
on_terminal n "$MAPM" -C "$T/clone" install --locked
is 'that machine has seen it' "$status" 0
unlike 'and does not ask again' "$out" '\[y/N\]'
rm -r "$T/clone/.agents" "$T/third"
on_terminal n "$MAPM" -C "$T/clone" install --locked --yes
is '--yes is the answer' "$status" 0
unlike 'without the text' "$out" '^\+twenty'

# What was shown is what is applied, whatever becomes of the file meanwhile; then
# verify tells, and another patch is shown again.
for race in "sed -i s/twenty/evil/ $P" "rm $P" "echo x >$P" "ln -sf /etc/passwd $P" \
    "sed -i s/twenty/evil/ $P && sed -i s/patch:.*/patch:.sha256:\$(sha256sum <$P | cut -c-64)/ mapm.lock && sed -i s/patch:./'patch: '/ mapm.lock"; do
    rm -rf "$T/race" "$T/third" && cp -a "$T/clone" "$T/race" && rm -r "$T/race/.agents" && cd "$T/race" || exit 1
    export BEFORE_ANSWER="$race"
    on_terminal y "$MAPM" install
    unset BEFORE_ANSWER
    is "[D7] meanwhile ${race%% *}: the yes is for what was shown" "$status $(grep -c '^twenty$' $b/notes.txt)" '0 1'
    run mapm verify
    isnt '[D7] verify has the difference' "$status" 0
    [ "${race%% *}" = rm ] || on_terminal n "$MAPM" install
    is '[D7] a no leaves what was shown' "$(grep -c '^twenty$' $b/notes.txt)" 1
done
# Each state in which its lock entry may lie. [F1]
for change in 's/patch: sha256:..../patch: sha256:0000/' '/^    patch: /d' \
    "s/^    digest: .*/    digest: $(sed -n 's/^    patch: //p' "$T/clone/mapm.lock")/"; do
    for state in cold warm place; do
        rm -rf "$T/race" "$T/third" && cp -a "$T/clone" "$T/race" && cd "$T/race" || exit 1
        MAPM_HOME=$T/second
        [ $state = place ] || rm -r .agents
        [ $state = cold ] && MAPM_HOME=$T/third
        sed -i "$change" mapm.lock
        exits "[F1, D7] $change, $state" 1 mapm install --locked --yes
        [ $state != place ] || exits "[F1, D7] $change, verify" 3 mapm verify
    done
done
MAPM_HOME=$T/mapm
cd "$T/ws" || exit 1

# --- upstream moves ------------------------------------------------------------------------

seq 0 40 >"$s/skills/base/notes.txt"
make_repo acme/catalog "$s"
exits 'what an update would change' 0 mapm update --diff acme/base
is 'is upstream'"'"'s part alone' "$(printf '%s\n' "$out" | grep '^[-+][^-+]')" '+0'
exits 'an update' 0 mapm update
is 'rebases the patch' "$(grep '^@@\|^[-+][^-+]' $P | tr '\n' ' ')" '@@ -18,7 +18,7 @@ -20 +twenty '
is 'in the workspace' "$(sed -n '1p;21p' $b/notes.txt | tr '\n' ' ')" '0 twenty '
exits 'with all in its place' 0 mapm verify
exits 'and locked' 0 mapm install --locked
like 'once' "$err" 'nothing to do'
seq 0 40 | sed 's/^20$/TWENTY/' >"$s/skills/base/notes.txt"
make_repo acme/catalog "$s"
snapshot .agents/skills .claude .mapm mapm.lock >"$T/before"
exits 'the same line, in a dry run' 3 mapm update --dry-run
not_ok 'keeps nothing' test -e .agents/.mapm/rebase
repo acme/catalog update-ref refs/heads/next main
exits '[D5, D7] the difference of another ref' 0 mapm diff acme/base@next
like '[D5, D7] names the patch that conflicts' "$out" \
    "^# $P conflicts with what upstream changed and is left out; notes.txt: both changed the same lines\$"
is '[D5, D7] and is that of upstream' "$(printf '%s\n' "$out" | grep '^[-+][^-+]' | tr '\n' ' ')" '-20 +TWENTY '
like '[D5, D7] as a warning says' "$err" "warning: skill acme/base: $P conflicts"
exits '[D5, D7] with --exit-code' 3 mapm diff --exit-code acme/base@next
exits '[D5, D7] for programs' 0 mapm diff --json acme/base@next
like '[D5, D7] it is the problem' "$(field 'd["packages"][0]["problem"]')" 'both changed the same lines'
not_ok '[D5, D7] and nothing is kept' test -e .agents/.mapm/rebase
exits 'the same line' 3 mapm update
like 'is a conflict' "$err" 'skill-acme__base.patch conflicts with what upstream changed'
like 'of a file' "$err" '- notes.txt: both changed the same lines'
like 'with the way out' "$err" 'edit merged/, then the same command with --continue'
is 'nothing changed' "$(snapshot .agents/skills .claude .mapm mapm.lock)" "$(cat "$T/before")"
K=.agents/.mapm/rebase/skill-acme__base
is 'both versions are kept' "$(sed -n 21p $K/ours/notes.txt) $(sed -n 21p $K/theirs/notes.txt)" 'twenty TWENTY'
is 'and both in one' "$(sed -n '21,25p' $K/merged/notes.txt | tr '\n' ' ')" \
    '<<<<<<< patch twenty ======= TWENTY >>>>>>> upstream '
exits '[D7] --continue with both versions in a file' 3 mapm update acme/base --continue
like '[D7] names its line' "$err" 'notes.txt:21 still has both versions'
sed -i '/^<<<<<<<\|^=====\|^>>>>>>>/d; s/^TWENTY$//' $K/merged/notes.txt
exits '[D7] an update without it' 3 mapm update acme/base
is '[D7] leaves what was edited' "$(sed -n '21,22p' $K/merged/notes.txt | tr '\n' ' ')" 'twenty  '
cp -a . "$T/stale"
exits '[D7] --continue' 0 mapm update acme/base --continue
is '[D7] takes the resolution' "$(sed -n '21,23p' $b/notes.txt | tr '\n' ' ')" 'twenty  21 '
like '[D7] into the patch' "$(cat $P)" '^-TWENTY$'
not_ok '[D7] and keeps nothing' test -e $K
exits 'that is fine' 0 mapm verify
echo other >"$T/stale/$K/theirs/notes.txt"
exits '[D7] versions of another conflict' 3 mapm -C "$T/stale" update acme/base --continue
like '[D7] are refused' "$err" 'is not of this version of both sides'
ln -sf /etc/passwd "$T/stale/$K/theirs/notes.txt"
exits '[D7] as is a link' 3 mapm -C "$T/stale" update acme/base --continue
rm -r "$T/stale"
cp $b/notes.txt "$s/skills/base/notes.txt"
make_repo acme/catalog "$s"
exits 'upstream takes the patch over' 0 mapm update
not_ok 'so it is gone' test -e .mapm
unlike 'from the lock, too' "$(cat mapm.lock)" patch:
rm "$s/skills/base/notes.txt"
make_repo acme/catalog "$s"
sed -i 's/^twenty$/x/' $b/notes.txt
mapm patch acme/base >/dev/null 2>&1
exits 'upstream deletes the file' 3 mapm update --json
like 'which is a conflict' "$err" 'the patch changes it, upstream deleted it'
is 'of one that is held' "$(field '[(h["name"], h["code"], "rebase" in h["hint"]) for h in d["held"]]')" \
    "[('acme/base', 'patch-conflict', True)]"
echo 'A new line.' >>"$s/skills/prog/SKILL.md"
make_repo acme/catalog "$s"
exits 'others are updated' 3 mapm update
like 'all the same' "$out" 'skill acme/prog '
unlike 'this one is not' "$out" 'skill acme/base'
exits 'and all is in its place' 0 mapm verify
exits 'an install of another ref' 1 mapm install "acme/catalog/skills/base@$COMMIT"
like 'changes nothing either' "$err" 'upstream deleted it'
echo 'Ours.' >>.agents/skills/other/SKILL.md
mapm patch acme/other >/dev/null 2>&1
echo 'Theirs.' >>"$s/skills/other/SKILL.md"
echo 'Also.' >>"$s/skills/prog/SKILL.md"
make_repo acme/catalog "$s"
exits 'of a dependency' 3 mapm update
like 'the root is held' "$err" 'agent acme/boss stays as it is.* skill acme/other$'
like 'others are not' "$out" 'skill acme/prog '
exits 'which is whole' 0 mapm verify
exits 'that patch goes' 0 mapm patch --remove acme/other
exits 'a removal' 0 mapm remove acme/base
like 'takes the patch along' "$err" 'skill-acme__base.patch goes with its package'
not_ok 'and its folder' test -e .mapm

# --- branches ---------------------------------------------------------------------------------

exits 'again' 0 mapm install --yes "$U/main/skills/base"
git init -q -b trunk . && cat >.gitignore <<'G'
/.agents/
/.claude/
/.mcp.json
/mine/
G
git config user.name x && git config user.email x@example.com
git add -A && git commit -qm base
git checkout -qb left
echo left >>$b/SKILL.md && mapm patch acme/base >/dev/null 2>&1 && git add -A && git commit -qm left
git checkout -q trunk && mapm install --locked >/dev/null 2>&1
not_ok 'the trunk has no patch' grep -q left $b/SKILL.md
git checkout -qb right
echo 'Do more.' >>.agents/skills/prog/SKILL.md && mapm patch acme/prog >/dev/null 2>&1 && git add -A && git commit -qm right
git merge -q left >/dev/null 2>&1 || true
exits 'patches of two branches' 0 mapm install
git add -A && git commit -qm merged
exits 'go together' 0 mapm install --locked
ok 'the one' grep -q left $b/SKILL.md
ok 'and the other' grep -q 'Do more' .agents/skills/prog/SKILL.md
git checkout -qb third left && mapm install --locked >/dev/null 2>&1
sed -i 's/^left$/third/' $b/SKILL.md && mapm patch acme/base >/dev/null 2>&1 && git commit -qam third
git checkout -q left && mapm install --locked >/dev/null 2>&1
sed -i 's/^left$/fourth/' $b/SKILL.md && mapm patch acme/base >/dev/null 2>&1 && git commit -qam fourth
git merge -q third >/dev/null 2>&1 || true
exits 'two patches of one package' 1 mapm install
like 'are in conflict' "$err" 'git left it in conflict: take one side'
git checkout -q --theirs $P
exits 'which one side resolves' 0 mapm install
ok 'in the workspace' grep -q third $b/SKILL.md
git add -A && git commit -qm resolved
exits 'and in the lock' 0 mapm install --locked
git checkout -q trunk && mapm install --locked >/dev/null 2>&1
exits 'as it was' 0 mapm remove acme/base
rm -rf .git .gitignore

# --- programs --------------------------------------------------------------------------------

exits 'a program is trusted' 0 mapm trust --yes acme/prog
exits 'and runs' 0 mapm run acme/prog x=1
like 'as fetched' "$out" '"result":"one"'
sed -i 's/one/two/' .agents/skills/prog/SKILL.star
exits '[row 21] edited it does not' 1 mapm run acme/prog x=1
exits 'patched' 0 mapm patch acme/prog
exits '[row 21] it is another one, and asks' 4 mapm run acme/prog x=1
like 'as changed' "$err" 'changed since it was trusted'
exits 'trust shows the patched program' 0 mapm trust --yes acme/prog
like 'by its text' "$out" '^ *\+ .*two'
exits 'then it runs' 0 mapm run acme/prog x=1
like 'as patched' "$out" '"result":"two"'
exits 'without the patch' 0 mapm patch --remove acme/prog
exits 'the first trust counts' 0 mapm run acme/prog x=1
like 'for the first program' "$out" '"result":"one"'

# --- a pull that is not installed, and the library of the user ------------------------------------

sed -i 's/Do what/Do all that/' .agents/skills/prog/SKILL.md
sed -i "s/$(sed -n '/name: acme\/prog/,/digest/s/.*digest: sha256://p' mapm.lock)/$(printf x | sha256sum | cut -d ' ' -f 1)/" mapm.lock
exits 'a folder that is not of the locked version' 1 mapm patch acme/prog
like 'is no base of a patch' "$err" 'run mapm install, then edit it'
exits 'in the library of the user' 0 mapm install -g --yes "$U/main/skills/other"
echo more >>"$HOME/.agents/skills/other/SKILL.md"
exits 'a patch' 0 mapm patch -g acme/other
ok 'is in the library' test -f "$MAPM_HOME/global/.mapm/patches/skill-acme__other.patch"
exits 'verified' 0 mapm verify -g
git init -q "$T/ignore"
cd "$T/ignore" || exit 1
exits 'a workspace in git' 0 mapm install --yes "$U/main/skills/other"
echo more >>.agents/skills/other/SKILL.md
exits 'a patch in it' 0 mapm patch acme/other
exits 'lines for .gitignore' 0 mapm init --gitignore
exits 'do not hide patches' 1 git check-ignore .mapm/patches/skill-acme__other.patch

# --- many large ones -----------------------------------------------------------------------------

# peak COMMAND...: the most memory of it, in KiB. (What is freed is free under
# AddressSanitizer, too.)
peak()
{
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}quarantine_size_mb=0 python3 -S -c 'import os, subprocess, sys
p = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(os.wait4(p.pid, 0)[2].ru_maxrss)' "$@"
}
mkdir "$T/large"
cd "$T/large" || exit 1
exits 'packages' 0 mapm install --yes "$U/main/skills/base" "$U/main/skills/other" "$U/main/skills/prog" \
    "$U/main/agents/boss"
mkdir -p .mapm/patches
for of in skill-acme__base skill-acme__other skill-acme__prog agent-acme__boss; do
    {
        printf 'diff --git a/x.md b/x.md\nnew file mode 100644\n--- /dev/null\n+++ b/x.md\n@@ -0,0 +1,1000000 @@\n'
        yes + | head -n 1000000
    } >.mapm/patches/$of.patch
    [ $of != skill-acme__base ] || one=$(peak "$MAPM" install --yes)
done
four=$(peak "$MAPM" install --yes)
ok '[D7] are installed' grep -c 'patch: ' mapm.lock
at_most '[D7] patches of a clone take the memory of the largest, not of all' "$four" $((one + one / 2))
# --- hidden characters that were allowed ------------------------------------------------

skill "$T/hides/skills/hides" 'scope: acme'
printf 'Marked: \342\200\256x\nPlain.\n' >>"$T/hides/skills/hides/SKILL.md"
make_repo acme/hides "$T/hides"
h=.agents/skills/hides/SKILL.md
exits 'upstream with hidden characters' 0 mapm install --yes --allow-hidden acme/hides/skills/hides
printf 'Mine.\n' >>$h
exits '[D7, row 7] a patch of other lines' 0 mapm patch hides
exits 'is installed' 0 mapm install --locked --yes
printf 'More: \342\200\256y\n' >>$h
exits '[D7, row 7] one that adds more of them' 4 mapm patch hides
like 'is refused' "$err" 'adds hidden characters to those that were allowed, in line [0-9]+'
mapm restore -q hides
sed -i "$(grep -n Marked $h | cut -d: -f1)p" $h
exits '[D7, row 7] nor the same line twice' 4 mapm patch hides
mapm restore -q hides
sed -i 's/^description: .*/description: "a \\u202e b"/' $h
exits '[D7, row 7] nor by an escape' 4 mapm patch hides
mapm restore -q hides
sed -i 's/^description: .*/description: "a \\uFEFF b"/' $h
exits '[D7, row 7] nor by one in upper case' 4 mapm patch hides
mapm restore -q hides
exits 'the patch that was good is there' 0 mapm install --locked --yes

# --- names, and a copy of the workspace ------------------------------------------------------

mkdir "$T/plain" && cd "$T/plain" || exit 1
exits 'a workspace' 0 mapm install "$U/$first/skills/other" "$U/$first/skills/base"
b=.agents/skills/base
echo x >"$b/$(printf 'a\nb')"
exits '[D18] a file with a bad name' 4 mapm patch base
is '[D18] is named once' "$(printf '%s\n' "$err" | grep -c 'a.x0ab')" 1
rm "$b/$(printf 'a\nb')"
head -c 200001 /dev/zero | tr '\0' '\n' >$b/notes.txt
exits '[D7] a file of more lines than a patch may name' 4 mapm patch base
like '[D7] is named as such' "$err" 'base/notes.txt: not a text, or too large'
mapm restore -q base
echo 'An edit.' >>$b/SKILL.md
cp -r . "$T/copied" && cd "$T/copied" && rm -r .agents/skills/other || exit 1
mv "$T/plain" "$T/elsewhere" # where nobody finds its original
exits '[D7] an edit in a copy' 1 mapm install
like '[D7] is named' "$err" 'base/SKILL.md was changed'
like '[D7] with the ways out' "$err" 'mapm patch NAME keeps it, mapm restore NAME or --force undoes it'
exits '[D7] one of which' 0 mapm patch base
like '[D7] keeps it' "$(cat .mapm/patches/*)" '^\+An edit\.$'
ok '[D7] in its place' grep -q 'An edit' $b/SKILL.md
exits '[D7] and installs the rest' 0 mapm install
ok '[D7] which is there' test -f .agents/skills/other/SKILL.md
exits '[D7] as it is locked' 0 mapm install --locked
exits '[D7] and verified' 0 mapm verify
done_testing

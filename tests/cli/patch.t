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
exits 'install of five packages for the patch tests succeeds' 0 mapm install --yes "$U/main/skills/base" "$U/main/skills/prog" "$U/main/more/base" \
    "$U/main/agents/boss" "$U/main/mcps/io.acme_tool.json"
dup=$(sed -n '/name: zeta\/base/,/path/s/.*path: //p' mapm.lock)
isnt 'the second skill named base is installed under another folder' "$dup" .agents/skills/base
b=.agents/skills/base
P=.mapm/patches/skill-acme__base.patch
cp mapm.lock "$T/lock.unpatched"

# --- a patch -----------------------------------------------------------------------

exits 'patch of an unedited package succeeds' 0 mapm patch acme/base
like 'patch of an unedited package reports that there is nothing to do' "$err" 'nothing to do'
not_ok 'patch of an unedited package creates no .mapm folder' test -e .mapm
sed -i 's/^20$/twenty/' $b/notes.txt
echo 'a new file' >$b/new.md
exits 'patch --dry-run of an edited package succeeds' 0 mapm patch --dry-run acme/base
not_ok 'patch --dry-run creates no .mapm folder' test -e .mapm
is 'patch --dry-run leaves mapm.lock unchanged' "$(cat mapm.lock)" "$(cat "$T/lock.unpatched")"
reset_log
exits 'patch of an edited package succeeds' 0 mapm patch acme/base
is 'patch asks no host' "$(requests)" 0
is 'the patch file has the edits in the format of git' "$(cat $P)" 'diff --git a/new.md b/new.md
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
is 'the lock is of version 2 and has the hash of the patch behind the path' "$(diff "$T/lock.unpatched" mapm.lock)" "1c1
< version: 1
---
> version: 2
$(grep -n 'path: .agents/skills/base$' "$T/lock.unpatched" | cut -d: -f1)a$(grep -n "patch: " mapm.lock | cut -d: -f1)
>     patch: sha256:$(hash_of $P)"
exits 'verify of a patched package succeeds' 0 mapm verify
like 'verify lists the patched folder as patched' "$out" "^$b: patched\$"
exits 'verify --json of a patched package succeeds' 0 mapm verify --json
is 'verify --json lists the folder of the patched package' "$(field 'd["patched"]')" "['$b']"
exits 'list with a patched package succeeds' 0 mapm list
like 'list marks the package as patched' "$out" '^skill acme/base .*\(patched\)$'
exits 'skill show --json of a patched skill succeeds' 0 mapm skill show "${b##*/}" --json
like 'skill show --json includes the hash of the patch' "$out" '"patch": "sha256:'
exits 'list --json with a patched package succeeds' 0 mapm list --json
is 'list --json includes the hash of the patch' "$(field '[p.get("patch") for p in d["packages"] if p["name"] == "acme/base"][0]')" "sha256:$(hash_of $P)"
exits 'tree with a patched package succeeds' 0 mapm tree
like 'tree marks the package as patched' "$out" '^skill acme/base 1.0.0 \(patched\)$'
exits 'why for a patched package succeeds' 0 mapm why acme/base
like 'why marks the package as patched' "$out" 'acme/base.*\(patched\)'
exits 'install --locked of a workspace with a patch succeeds' 0 mapm install --locked
like 'install --locked after a patch reports that there is nothing to do' "$err" 'nothing to do'
exits 'diff of a patched package succeeds' 0 mapm diff
is 'diff prints nothing when all edits are in the patch' "$out" ''
snapshot .agents/skills .mapm mapm.lock >"$T/patched"

# --- everywhere --------------------------------------------------------------------

sed -i 's/^30$/thirty/' $b/notes.txt
exits 'diff after a later edit succeeds' 0 mapm diff
is 'diff shows a later edit against the patched file' "$(printf '%s\n' "$out" | grep '^[-+][^-+]')" '-30
+thirty'
exits 'restore of a patched package with a later edit succeeds' 0 mapm restore acme/base
is 'restore brings back the patched state' "$(snapshot .agents/skills .mapm mapm.lock)" "$(cat "$T/patched")"
rm -r .agents/skills
exits 'install --locked --offline repairs a deleted skills folder' 0 mapm install --locked --offline
is 'the repaired skills folder has the patch applied' "$(snapshot .agents/skills .mapm mapm.lock)" "$(cat "$T/patched")"
rm -r .agents .claude/skills
exits 'install --locked after a clone without .agents succeeds' 0 mapm install --locked
is 'the install after a clone applies the patch' "$(snapshot .agents/skills .mapm mapm.lock)" "$(cat "$T/patched")"
mv .mapm "$T/away" && cp mapm.lock "$T/lock.patched" && cp "$T/lock.unpatched" mapm.lock
exits 'install --locked after a switch to a branch without the patch succeeds' 0 mapm install --locked
not_ok 'install --locked removes the file that only the patch adds' test -e $b/new.md
mv "$T/away" .mapm && cp "$T/lock.patched" mapm.lock
exits 'install --locked after the switch back succeeds' 0 mapm install --locked
is 'the switch back applies the patch again' "$(snapshot .agents/skills .mapm mapm.lock)" "$(cat "$T/patched")"
touch -d '2 hours ago' "$MAPM_HOME"/store/objects/*/* "$MAPM_HOME"/store/packs/* 2>/dev/null
exits 'store gc with a patched package succeeds' 0 mapm store gc
exits 'restore of a patched package succeeds after store gc' 0 mapm restore acme/base
exits 'verify succeeds after store gc and restore' 0 mapm verify

sed -i 's/^twenty$/XX/; s/^1$/one/' $b/notes.txt
rm $b/new.md
exits 'patch with two names of one package succeeds' 0 mapm patch acme/base "skill acme/base"
is 'a second patch replaces the first in one file' "$(grep -c '^diff' $P) $(grep '^[-+][^-+]' $P | tr '\n' ' ')" '1 -1 +one -20 +XX '
exits 'verify accepts the replaced patch' 0 mapm verify
rm $b/notes.txt
exits 'patch after the removal of a file succeeds' 0 mapm patch acme/base
rm -r .agents/skills
exits 'install --locked --offline applies a patch that removes a file' 0 mapm install --locked --offline
not_ok 'the file that the patch removes is absent after install' test -e $b/notes.txt
exits 'verify accepts a patch that removes a file' 0 mapm verify
seq 1 40 >$b/notes.txt
exits 'patch --json succeeds when the package is again as it was fetched' 0 mapm patch --json acme/base
is 'patch --json reports no patch for a package without edits' "$(field '[p.get("patch") for p in d["packages"] if p["name"] == "acme/base"][0], d["command"]')" "(None, 'patch')"
not_ok 'patch removes the .mapm folder with the last patch' test -e .mapm
is 'the lock is of version 1 again without a patch' "$(cat mapm.lock)" "$(cat "$T/lock.unpatched")"

# --- a renamed copy, an agent --------------------------------------------------------

sed -i 's/^Do what.*/Do all that./' "$dup/SKILL.md"
sed -i 's/^description:.*/description: What only this team does./' "$dup/SKILL.md"
exits 'patch of a renamed copy succeeds' 0 mapm patch zeta/base
unlike 'the patch of a renamed copy has no line with the name' "$(grep '^[-+]' .mapm/patches/skill-zeta__base.patch)" name:
rm -r "$dup"
exits 'install applies the patch of a renamed copy' 0 mapm install
like 'the patched copy keeps its local name' "$(cat "$dup/SKILL.md")" "^name: ${dup##*/}\$"
like 'the patched copy has its edits' "$(cat "$dup/SKILL.md")" '^Do all that'
sed -i 's/^name:.*/name: mine/' "$dup/SKILL.md"
exits 'patch of a package with an edited name fails' 1 mapm patch zeta/base
like 'the error says that the name is not that of the folder' "$err" 'not that of its folder'
exits 'restore of a package with an edited name succeeds' 0 mapm restore zeta/base
echo 'Be brief.' >>.agents/agents/boss/AGENTS.md
exits 'patch of an agent succeeds' 0 mapm patch boss
ok 'the patch file of an agent begins with its type' test -f .mapm/patches/agent-acme__boss.patch
like 'the file of the client for a patched agent has the edit' "$(cat .claude/agents/boss.md)" 'Be brief'
exits 'verify with patches of a skill and an agent succeeds' 0 mapm verify
exits 'patch --remove of an agent and a skill succeeds' 0 mapm patch --remove boss zeta/base
not_ok 'patch --remove of all patches deletes the .mapm folder' test -e .mapm
unlike 'patch --remove of an agent updates the file of the client' "$(cat .claude/agents/boss.md)" 'Be brief'
is 'patch --remove restores the lock from before the patches' "$(cat mapm.lock)" "$(cat "$T/lock.unpatched")"

# --- what no patch can hold ------------------------------------------------------------

refused()
{
    what=$1 why=$2
    exits "$what: patch refuses the edit" "${3:-4}" mapm patch acme/base
    like "$what: the error gives the reason" "$err" "$why"
    not_ok "$what: the refused edit leaves no patch" test -e .mapm
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
exits 'patch of an MCP server is refused' 2 mapm patch io.acme/tool
like 'the error says that patches are for skills and agents' "$err" 'patches are for skills and agents'
exits 'patch of a package that is not installed fails' 1 mapm patch nothing
exits 'patch without a name is a usage error' 2 mapm patch
skill mine/own 'scope: acme'
exits 'install of a skill inside the workspace succeeds' 0 mapm install --yes ./mine/own
exits 'patch of a skill inside the workspace is refused' 2 mapm patch acme/own
like 'the error names the folder of the skill in the workspace' "$err" './mine/own'
exits 'remove of the skill inside the workspace succeeds' 0 mapm remove acme/own

# --- what others commit ---------------------------------------------------------------

mkdir -p .mapm/patches
# hostile WHAT WHY STATUS: of the patch on standard input.
hostile()
{
    cat >$P
    snapshot .agents .claude mapm.lock >"$T/before"
    exits "$1: install refuses the patch" "$3" mapm install --yes
    like "$1: the error gives the reason" "$err" "$2"
    rm -rf .agents/.mapm/rebase
    is "$1: install leaves the workspace unchanged" "$(snapshot .agents .claude mapm.lock)" "$(cat "$T/before")"
    rm -f $P
}
hostile 'a patch of a line that the file does not have' 'hunk 1 of notes.txt, line 4' 1 <<'P'
diff --git a/notes.txt b/notes.txt
--- a/notes.txt
+++ b/notes.txt
@@ -1,2 +1,2 @@
-x
+y
 2
P
hostile 'a patch made by hand of lines that have moved' 'line 4 of the patch' 1 <<'P'
diff --git a/notes.txt b/notes.txt
--- a/notes.txt
+++ b/notes.txt
@@ -2,2 +2,2 @@
-1
+y
 2
P
hostile 'a patch of a file that the package does not have' 'the package has no gone.txt' 1 <<'P'
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-x
P
for path in ../../../x /etc/x .git/config 'a/../../x'; do
    hostile "[row 1] a patch of the path $path" 'leads out|cannot|\.git' 4 <<P
diff --git a/$path b/$path
new file mode 100644
--- /dev/null
+++ b/$path
@@ -0,0 +1 @@
+x
P
done
hostile '[row 3] a patch that adds a file which differs in case only' 'the same name on some file systems' 4 <<'P'
diff --git a/Notes.txt b/Notes.txt
new file mode 100644
--- /dev/null
+++ b/Notes.txt
@@ -0,0 +1 @@
+x
P
hostile 'a patch that adds an executable file' 'only plain files' 1 <<'P'
diff --git a/x b/x
new file mode 100755
--- /dev/null
+++ b/x
@@ -0,0 +1 @@
+x
P
hostile 'a patch that renames a file' 'keeps its name' 1 <<'P'
diff --git a/notes.txt b/other.txt
similarity index 100%
rename from notes.txt
rename to other.txt
P
hostile 'a patch that adds a symbolic link' 'only plain files' 1 <<'P'
diff --git a/x b/x
new file mode 120000
--- /dev/null
+++ b/x
@@ -0,0 +1 @@
+/etc/passwd
\ No newline at end of file
P
hostile 'a patch file without a diff line' 'skill-acme__base.patch:1: no "diff --git" line' 1 <<'P'
x
P
hostile 'a patch file with a conflict marker of git' 'hint: git left it in conflict' 1 <<'P'
<<<<<<< HEAD
P
ln -s /etc/passwd $P
exits '[row 16] install refuses a symbolic link in place of a patch' 4 mapm install
rm $P
echo x >.mapm/patches/README.md
exits 'install ignores other files in the patches folder' 0 mapm install --locked
rm .mapm/patches/README.md
printf 'diff --git a/x b/x\nnew file mode 100644\n' >.mapm/patches/skill-acme__gone.patch
exits 'install fails with a patch of a package that is absent' 1 mapm install
like 'the error says that the patch has no package' "$err" 'skill-acme__gone.patch: no package'
like 'the error suggests mapm patch --remove with the patch file' "$err" 'mapm patch --remove .mapm/patches/skill-acme__gone.patch'
exits 'verify fails with a patch that the lock does not have' 3 mapm verify
like 'verify names the patch that is not in the lock' "$out" 'skill-acme__gone.patch: not in the lock'
exits 'patch --remove of a patch file without a package succeeds' 0 mapm patch --remove .mapm/patches/skill-acme__gone.patch
not_ok 'patch --remove of the last patch file deletes the .mapm folder' test -e .mapm

# --- the lock -----------------------------------------------------------------------------

sed -i 's/^20$/twenty/' $b/notes.txt
exits 'patch of an edited package succeeds again' 0 mapm patch acme/base
cp $P "$T/saved"
sed -i 's/twenty/zwanzig/' $P
exits 'install --locked fails when the patch file differs from the lock' 1 mapm install --locked
like 'the error says that the patch is not the one that is locked' "$err" 'mapm.lock:[0-9]+: skill acme/base: .*not the patch that is locked'
like 'the error suggests mapm install and a commit of mapm.lock' "$err" 'run mapm install and commit mapm.lock'
CI=1 && export CI
exits 'install with CI set fails when the patch file differs from the lock' 1 mapm install
unset CI
exits 'patch fails when the patch file changed after the install' 1 mapm patch acme/base
like 'the error says that the patch changed since it was installed' "$err" 'was changed since it was installed'
exits 'install accepts a changed patch file' 0 mapm install
ok 'install applies the changed patch in the workspace' grep -qx zwanzig $b/notes.txt
exits 'install --locked succeeds after install took the changed patch' 0 mapm install --locked
rm $P
exits 'install --locked fails when a locked patch file is missing' 1 mapm install --locked
like 'the error says that the patch file is not there' "$err" 'its patch .* is not there'
exits 'verify fails when a locked patch file is missing' 3 mapm verify
like 'verify lists the patch file as missing' "$out" "^$P: missing\$"
exits 'install without the patch file succeeds' 0 mapm install
is 'install without the patch file removes the patch from the lock' "$(cat mapm.lock)" "$(cat "$T/lock.unpatched")"
ok 'install without the patch file restores the original line' grep -qx 20 $b/notes.txt
mkdir -p .mapm/patches && cp "$T/saved" $P
exits 'install --locked fails with a patch file that the lock lacks' 1 mapm install --locked
like 'the error says that the patch is not in the lock' "$err" 'is not in the lock'
exits 'install accepts a patch file that the lock lacks' 0 mapm install

# --- on another machine --------------------------------------------------------------------

mkdir "$T/clone" && cp -r .mapm mapm.yaml mapm.lock "$T/clone" && mkdir "$T/clone/.claude"
MAPM_HOME=$T/second
exits 'install --locked in a clone without a terminal succeeds' 0 mapm -C "$T/clone" install --locked
like 'install in a clone prints the patch file with its numbers of lines' "$out" "patch: $P \\(\\+1 -1\\)"
unlike 'install in a clone without a terminal prints no lines of the patch' "$out" twenty
ok 'install in a clone applies the patch' grep -qx twenty "$T/clone/$b/notes.txt"
MAPM_HOME=$T/third
rm -r "$T/clone/.agents"
on_terminal n "$MAPM" -C "$T/clone" install --locked
is 'a no on a terminal ends the install of a patch with exit code 4' "$status" 4
like 'install on a terminal asks about a patch it has not shown before' "$out" '\[y/N\]'
like 'install on a terminal shows the lines of the patch' "$out" '^\+twenty'
not_ok 'a no on a terminal installs no skills' test -e "$T/clone/.agents/skills"
on_terminal y "$MAPM" -C "$T/clone" install --locked
is 'a yes on a terminal ends the install of a patch with exit code 0' "$status" 0
ok 'a yes on a terminal applies the patch' grep -qx twenty "$T/clone/$b/notes.txt"
rm -r "$T/clone/.agents"
on_terminal n "$MAPM" -C "$T/clone" install --locked
is 'install of a patch that this machine accepted earlier succeeds' "$status" 0
unlike 'install asks no question about a patch that was accepted earlier' "$out" '\[y/N\]'
rm -r "$T/clone/.agents" "$T/third"
on_terminal n "$MAPM" -C "$T/clone" install --locked --yes
is 'install --yes on a terminal succeeds with a new patch' "$status" 0
unlike 'install --yes on a terminal shows no lines of the patch' "$out" '^\+twenty'

# What was shown is what is applied, whatever becomes of the file meanwhile; then
# verify tells, and another patch is shown again.
for race in "sed -i s/twenty/evil/ $P" "rm $P" "echo x >$P" "ln -sf /etc/passwd $P" \
    "sed -i s/twenty/evil/ $P && sed -i s/patch:.*/patch:.sha256:\$(sha256sum <$P | cut -c-64)/ mapm.lock && sed -i s/patch:./'patch: '/ mapm.lock"; do
    rm -rf "$T/race" "$T/third" && cp -a "$T/clone" "$T/race" && rm -r "$T/race/.agents" && cd "$T/race" || exit 1
    export BEFORE_ANSWER="$race"
    on_terminal y "$MAPM" install
    unset BEFORE_ANSWER
    is "[D7] a yes applies the patch shown, though ${race%% *} changed its file meanwhile" "$status $(grep -c '^twenty$' $b/notes.txt)" '0 1'
    run mapm verify
    isnt '[D7] verify fails when the patch file changed during the question' "$status" 0
    [ "${race%% *}" = rm ] || on_terminal n "$MAPM" install
    is '[D7] a no to the changed patch leaves the patched file as it is' "$(grep -c '^twenty$' $b/notes.txt)" 1
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
        exits "[F1, D7] install --locked refuses the lock changed by $change, $state" 1 mapm install --locked --yes
        [ $state != place ] || exits "[F1, D7] verify refuses the lock changed by $change" 3 mapm verify
    done
done
MAPM_HOME=$T/mapm
cd "$T/ws" || exit 1

# --- upstream moves ------------------------------------------------------------------------

seq 0 40 >"$s/skills/base/notes.txt"
make_repo acme/catalog "$s"
exits 'update --diff of a patched package succeeds' 0 mapm update --diff acme/base
is 'the difference of update --diff is upstream'"'"'s part alone' "$(printf '%s\n' "$out" | grep '^[-+][^-+]')" '+0'
exits 'update of a patched package succeeds' 0 mapm update
is 'update rebases the patch on the new version' "$(grep '^@@\|^[-+][^-+]' $P | tr '\n' ' ')" '@@ -18,7 +18,7 @@ -20 +twenty '
is 'update applies the rebased patch in the workspace' "$(sed -n '1p;21p' $b/notes.txt | tr '\n' ' ')" '0 twenty '
exits 'verify succeeds after update rebased a patch' 0 mapm verify
exits 'install --locked succeeds after update rebased a patch' 0 mapm install --locked
like 'install --locked after the rebase reports that there is nothing to do' "$err" 'nothing to do'
seq 0 40 | sed 's/^20$/TWENTY/' >"$s/skills/base/notes.txt"
make_repo acme/catalog "$s"
snapshot .agents/skills .claude .mapm mapm.lock >"$T/before"
exits 'update --dry-run fails when upstream and the patch change one line' 3 mapm update --dry-run
not_ok 'update --dry-run keeps no rebase folder' test -e .agents/.mapm/rebase
repo acme/catalog update-ref refs/heads/next main
exits '[D5, D7] diff against another ref succeeds with a patch in conflict' 0 mapm diff acme/base@next
like '[D5, D7] diff names the patch that conflicts with upstream' "$out" \
    "^# $P conflicts with what upstream changed and is left out; notes.txt: both changed the same lines\$"
is '[D5, D7] diff shows the change of upstream without the patch' "$(printf '%s\n' "$out" | grep '^[-+][^-+]' | tr '\n' ' ')" '-20 +TWENTY '
like '[D5, D7] diff warns of the patch in conflict' "$err" "warning: skill acme/base: $P conflicts"
exits '[D5, D7] diff --exit-code reports a difference with a patch in conflict' 3 mapm diff --exit-code acme/base@next
exits '[D5, D7] diff --json succeeds with a patch in conflict' 0 mapm diff --json acme/base@next
like '[D5, D7] diff --json has the conflict as the problem of the package' "$(field 'd["packages"][0]["problem"]')" 'both changed the same lines'
not_ok '[D5, D7] diff keeps no rebase folder' test -e .agents/.mapm/rebase
exits 'update fails when upstream and the patch change one line' 3 mapm update
like 'the error says that the patch conflicts with upstream' "$err" 'skill-acme__base.patch conflicts with what upstream changed'
like 'the error names the file with the conflict' "$err" '- notes.txt: both changed the same lines'
like 'the error suggests an edit of merged/ and --continue' "$err" 'edit merged/, then the same command with --continue'
is 'update with a conflict leaves workspace and lock unchanged' "$(snapshot .agents/skills .claude .mapm mapm.lock)" "$(cat "$T/before")"
K=.agents/.mapm/rebase/skill-acme__base
is 'update keeps our version and that of upstream of the file' "$(sed -n 21p $K/ours/notes.txt) $(sed -n 21p $K/theirs/notes.txt)" 'twenty TWENTY'
is 'update keeps a merged file with conflict markers' "$(sed -n '21,25p' $K/merged/notes.txt | tr '\n' ' ')" \
    '<<<<<<< patch twenty ======= TWENTY >>>>>>> upstream '
exits '[D7] update --continue fails while conflict markers remain' 3 mapm update acme/base --continue
like '[D7] the error names the line of the first conflict marker' "$err" 'notes.txt:21 still has both versions'
sed -i '/^<<<<<<<\|^=====\|^>>>>>>>/d; s/^TWENTY$//' $K/merged/notes.txt
exits '[D7] update without --continue fails while a conflict is open' 3 mapm update acme/base
is '[D7] update without --continue leaves the edited merged file unchanged' "$(sed -n '21,22p' $K/merged/notes.txt | tr '\n' ' ')" 'twenty  '
cp -a . "$T/stale"
exits '[D7] update --continue succeeds after the markers are removed' 0 mapm update acme/base --continue
is '[D7] update --continue installs the resolved file' "$(sed -n '21,23p' $b/notes.txt | tr '\n' ' ')" 'twenty  21 '
like '[D7] update --continue writes the resolution into the patch' "$(cat $P)" '^-TWENTY$'
not_ok '[D7] update --continue deletes the folder of the conflict' test -e $K
exits 'verify succeeds after update --continue' 0 mapm verify
echo other >"$T/stale/$K/theirs/notes.txt"
exits '[D7] update --continue fails with the versions of another conflict' 3 mapm -C "$T/stale" update acme/base --continue
like '[D7] the error says that the kept version is not of both sides' "$err" 'is not of this version of both sides'
ln -sf /etc/passwd "$T/stale/$K/theirs/notes.txt"
exits '[D7] update --continue fails with a link among the kept versions' 3 mapm -C "$T/stale" update acme/base --continue
rm -r "$T/stale"
cp $b/notes.txt "$s/skills/base/notes.txt"
make_repo acme/catalog "$s"
exits 'update succeeds when upstream has taken over the patch' 0 mapm update
not_ok 'update removes a patch that upstream has taken over' test -e .mapm
unlike 'update removes the patch that upstream has taken over from the lock' "$(cat mapm.lock)" patch:
rm "$s/skills/base/notes.txt"
make_repo acme/catalog "$s"
sed -i 's/^twenty$/x/' $b/notes.txt
mapm patch acme/base >/dev/null 2>&1
exits 'update --json fails when upstream deletes a patched file' 3 mapm update --json
like 'the error says that upstream deleted a file that the patch changes' "$err" 'the patch changes it, upstream deleted it'
is 'update --json lists the package as held with code patch-conflict' "$(field '[(h["name"], h["code"], "rebase" in h["hint"]) for h in d["held"]]')" \
    "[('acme/base', 'patch-conflict', True)]"
echo 'A new line.' >>"$s/skills/prog/SKILL.md"
make_repo acme/catalog "$s"
exits 'update with one package in conflict ends with exit code 3' 3 mapm update
like 'update with one package in conflict updates another package' "$out" 'skill acme/prog '
unlike 'update does not list the package in conflict as updated' "$out" 'skill acme/base'
exits 'verify succeeds after an update with one package in conflict' 0 mapm verify
exits 'install of another ref of a package with a conflicting patch fails' 1 mapm install "acme/catalog/skills/base@$COMMIT"
like 'the error of install names the file that upstream deleted' "$err" 'upstream deleted it'
echo 'Ours.' >>.agents/skills/other/SKILL.md
mapm patch acme/other >/dev/null 2>&1
echo 'Theirs.' >>"$s/skills/other/SKILL.md"
echo 'Also.' >>"$s/skills/prog/SKILL.md"
make_repo acme/catalog "$s"
exits 'update fails with a conflict in the patch of a dependency' 3 mapm update
like 'the error says that the root of the dependency stays as it is' "$err" 'agent acme/boss stays as it is.* skill acme/other$'
like 'update with a conflict in a dependency updates another package' "$out" 'skill acme/prog '
exits 'verify succeeds after an update with a conflict in a dependency' 0 mapm verify
exits 'patch --remove of the dependency succeeds' 0 mapm patch --remove acme/other
exits 'remove of a patched package succeeds' 0 mapm remove acme/base
like 'remove reports that the patch goes with its package' "$err" 'skill-acme__base.patch goes with its package'
not_ok 'remove of the last patched package deletes the .mapm folder' test -e .mapm

# --- branches ---------------------------------------------------------------------------------

exits 'install of a skill for the tests with branches succeeds' 0 mapm install --yes "$U/main/skills/base"
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
not_ok 'install on the trunk removes the patch of the other branch' grep -q left $b/SKILL.md
git checkout -qb right
echo 'Do more.' >>.agents/skills/prog/SKILL.md && mapm patch acme/prog >/dev/null 2>&1 && git add -A && git commit -qm right
git merge -q left >/dev/null 2>&1 || true
exits 'install after a merge of patches of two packages succeeds' 0 mapm install
git add -A && git commit -qm merged
exits 'install --locked of the merged patches succeeds' 0 mapm install --locked
ok 'the patch of the merged branch is applied' grep -q left $b/SKILL.md
ok 'the patch of the branch merged into is applied' grep -q 'Do more' .agents/skills/prog/SKILL.md
git checkout -qb third left && mapm install --locked >/dev/null 2>&1
sed -i 's/^left$/third/' $b/SKILL.md && mapm patch acme/base >/dev/null 2>&1 && git commit -qam third
git checkout -q left && mapm install --locked >/dev/null 2>&1
sed -i 's/^left$/fourth/' $b/SKILL.md && mapm patch acme/base >/dev/null 2>&1 && git commit -qam fourth
git merge -q third >/dev/null 2>&1 || true
exits 'install fails with a merge conflict in a patch file' 1 mapm install
like 'the error says to take one side of the patch in conflict' "$err" 'git left it in conflict: take one side'
git checkout -q --theirs $P
exits 'install succeeds after one side of the patch is taken' 0 mapm install
ok 'install applies the side of the patch that was taken' grep -q third $b/SKILL.md
git add -A && git commit -qm resolved
exits 'install --locked succeeds after one side of the patch is taken' 0 mapm install --locked

# One branch has a patch, another an update of the package: git merges both files.
# moved SED: upstream changes, on a branch of the last commit without the patch.
moved()
{
    git checkout -q trunk && mapm install --locked >/dev/null 2>&1
    sed -i "$1" "$s/skills/base/SKILL.md"
    make_repo acme/catalog "$s"
    mapm update acme/base >/dev/null 2>&1 && git commit -qam "$1"
    git checkout -q left && mapm install --locked >/dev/null 2>&1
    git merge -q trunk
    is "[D7] git merges a patch and the update $1 without conflict" "$(git status --porcelain)" ''
}
last=$(tail -n 1 $b/SKILL.md)
moved '2i license: MIT'
exits '[D7] install --locked refuses a patch of another version' 1 mapm install --locked
like '[D7] the error names the command that rebases the patch' "$err" 'hint: mapm install rebases it'
exits '[D7] a dry run rebases a patch of which the lines have moved' 0 mapm install --dry-run
is '[D7] a dry run changes no file of git' "$(git status --porcelain)" ''
exits '[D7] install rebases a patch of which the lines have moved' 0 mapm install
is '[D7] the installed file has the lines of the patch and of the update' "$(grep -cx "$last\|license: MIT" $b/SKILL.md)" 2
is '[D7] install changes the patch and the lock only' "$(git status --porcelain)" " M $P
 M mapm.lock"
git commit -qam 'rebased'
exits '[D7] install --locked accepts the rebased patch' 0 mapm install --locked
like '[D7] install --locked has nothing to do after the rebase' "$err" 'nothing to do'
moved '$s/.*/Theirs./'
exits '[D7] install refuses a patch of lines that the update changed' 1 mapm install
like '[D7] the error names the patch' "$err" "$P does not apply"
like '[D7] the error names the kept versions and install --continue' "$err" 'rebase/skill-acme__base .*edit merged/, then mapm install --continue'
is '[D7] install keeps both versions of the lines' "$(tail -n 1 $K/ours/SKILL.md) $(tail -n 1 $K/theirs/SKILL.md)" "$last Theirs."
exits '[D7] install --continue refuses a file with conflict markers' 1 mapm install --continue
like '[D7] the error names the line of the marker' "$err" 'SKILL.md:[0-9]+ still has both versions'
sed -i '/^<<<<<<<\|^=====\|^>>>>>>>/d' $K/merged/SKILL.md
exits '[D7] install --continue takes the edited file' 0 mapm install --continue
is '[D7] the installed file has the resolution' "$(tail -n 1 $b/SKILL.md)" Theirs.
not_ok '[D7] install --continue removes the kept versions' test -e $K
git commit -qam 'rebased again'
exits '[D7] install --locked accepts the resolved patch' 0 mapm install --locked
git checkout -q trunk && mapm install --locked >/dev/null 2>&1
exits 'remove of a package on the trunk succeeds' 0 mapm remove acme/base
rm -rf .git .gitignore

# --- programs --------------------------------------------------------------------------------

exits 'trust of a fetched program succeeds' 0 mapm trust --yes acme/prog
exits 'run of a trusted program succeeds' 0 mapm run acme/prog x=1
like 'run of a trusted program prints the result of the fetched program' "$out" '"result":"one"'
sed -i 's/one/two/' .agents/skills/prog/SKILL.star
exits '[row 21] run of an edited program fails' 1 mapm run acme/prog x=1
exits 'patch of an edited program succeeds' 0 mapm patch acme/prog
exits '[row 21] run of a patched program that is not trusted fails with exit code 4' 4 mapm run acme/prog x=1
like 'the error says that the program changed since it was trusted' "$err" 'changed since it was trusted'
exits 'trust of a patched program succeeds' 0 mapm trust --yes acme/prog
like 'trust shows the changed line of the patched program' "$out" '^ *\+ .*two'
exits 'run of a trusted patched program succeeds' 0 mapm run acme/prog x=1
like 'run prints the result of the patched program' "$out" '"result":"two"'
exits 'patch --remove of a program succeeds' 0 mapm patch --remove acme/prog
exits 'run after patch --remove succeeds by the first trust' 0 mapm run acme/prog x=1
like 'run after patch --remove prints the result of the fetched program' "$out" '"result":"one"'

# --- a pull that is not installed, and the library of the user ------------------------------------

sed -i 's/Do what/Do all that/' .agents/skills/prog/SKILL.md
sed -i "s/$(sed -n '/name: acme\/prog/,/digest/s/.*digest: sha256://p' mapm.lock)/$(printf x | sha256sum | cut -d ' ' -f 1)/" mapm.lock
exits 'patch fails when the folder is not of the locked version' 1 mapm patch acme/prog
like 'the error suggests mapm install before the edit' "$err" 'run mapm install, then edit it'
exits 'install -g of a skill succeeds' 0 mapm install -g --yes "$U/main/skills/other"
echo more >>"$HOME/.agents/skills/other/SKILL.md"
exits 'patch -g of an edited skill succeeds' 0 mapm patch -g acme/other
ok 'patch -g writes the patch file into the library' test -f "$MAPM_HOME/global/.mapm/patches/skill-acme__other.patch"
exits 'verify -g with a patch succeeds' 0 mapm verify -g
git init -q "$T/ignore"
cd "$T/ignore" || exit 1
exits 'install in a git workspace succeeds' 0 mapm install --yes "$U/main/skills/other"
echo more >>.agents/skills/other/SKILL.md
exits 'patch in a git workspace succeeds' 0 mapm patch acme/other
exits 'init --gitignore in a workspace with a patch succeeds' 0 mapm init --gitignore
exits 'the lines of init --gitignore do not ignore patches' 1 git check-ignore .mapm/patches/skill-acme__other.patch

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
exits 'install of four packages for the test of large patches succeeds' 0 mapm install --yes "$U/main/skills/base" "$U/main/skills/other" "$U/main/skills/prog" \
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
is '[D7] install writes large patches of a clone into the lock' "$(grep -c 'patch: ' mapm.lock)" 4
at_most '[D7] large patches of a clone take the memory of the largest, not of all' "$four" $((one + one / 2))
# --- hidden characters that were allowed ------------------------------------------------

skill "$T/hides/skills/hides" 'scope: acme'
printf 'Marked: \342\200\256x\nPlain.\n' >>"$T/hides/skills/hides/SKILL.md"
make_repo acme/hides "$T/hides"
h=.agents/skills/hides/SKILL.md
exits 'install --allow-hidden of a skill with hidden characters succeeds' 0 mapm install --yes --allow-hidden acme/hides/skills/hides
printf 'Mine.\n' >>$h
exits '[D7, row 7] patch of other lines than those with hidden characters succeeds' 0 mapm patch hides
exits 'install --locked of a patch beside hidden characters succeeds' 0 mapm install --locked --yes
printf 'More: \342\200\256y\n' >>$h
exits '[D7, row 7] patch refuses an edit that adds hidden characters' 4 mapm patch hides
like 'the error names the line of the added hidden characters' "$err" 'adds hidden characters to those that were allowed, in line [0-9]+'
mapm restore -q hides
sed -i "$(grep -n Marked $h | cut -d: -f1)p" $h
exits '[D7, row 7] patch refuses a copy of a line with hidden characters' 4 mapm patch hides
mapm restore -q hides
sed -i 's/^description: .*/description: "a \\u202e b"/' $h
exits '[D7, row 7] patch refuses a hidden character added by an escape' 4 mapm patch hides
mapm restore -q hides
sed -i 's/^description: .*/description: "a \\uFEFF b"/' $h
exits '[D7, row 7] patch refuses a hidden character added by an escape in upper case' 4 mapm patch hides
mapm restore -q hides
exits 'install --locked succeeds with the earlier patch after refused edits' 0 mapm install --locked --yes

# --- names, and a copy of the workspace ------------------------------------------------------

mkdir "$T/plain" && cd "$T/plain" || exit 1
exits 'install of two pinned skills succeeds' 0 mapm install "$U/$first/skills/other" "$U/$first/skills/base"
b=.agents/skills/base
echo x >"$b/$(printf 'a\nb')"
exits '[D18] patch refuses a new file with a line break in its name' 4 mapm patch base
is '[D18] the error names the file with the bad name once' "$(printf '%s\n' "$err" | grep -c 'a.x0ab')" 1
rm "$b/$(printf 'a\nb')"
head -c 200001 /dev/zero | tr '\0' '\n' >$b/notes.txt
exits '[D7] patch refuses a file with more lines than a patch may name' 4 mapm patch base
like '[D7] the error says that the file is not a text or too large' "$err" 'base/notes.txt: not a text, or too large'
mapm restore -q base
echo 'An edit.' >>$b/SKILL.md
cp -r . "$T/copied" && cd "$T/copied" && rm -r .agents/skills/other || exit 1
mv "$T/plain" "$T/elsewhere" # where nobody finds its original
exits '[D7] install in a copied workspace with an edit fails' 1 mapm install
like '[D7] the error names the edited file in the copied workspace' "$err" 'base/SKILL.md was changed'
like '[D7] the error suggests mapm patch, mapm restore and --force' "$err" 'mapm patch NAME keeps it, mapm restore NAME or --force undoes it'
exits '[D7] patch in a copied workspace succeeds' 0 mapm patch base
like '[D7] the patch of the copied workspace has the edited line' "$(cat .mapm/patches/*)" '^\+An edit\.$'
ok '[D7] the edit stays in the folder of the copied workspace' grep -q 'An edit' $b/SKILL.md
exits '[D7] install in the copied workspace succeeds after the patch' 0 mapm install
ok '[D7] install in the copied workspace installs the missing skill' test -f .agents/skills/other/SKILL.md
exits '[D7] install --locked in the copied workspace succeeds' 0 mapm install --locked
exits '[D7] verify in the copied workspace succeeds' 0 mapm verify
done_testing

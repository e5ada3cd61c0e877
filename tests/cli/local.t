#!/bin/sh
# Packages read in place by file: [M13, M15, M24, M25, M26, X9, row 1, row 2, row 4]
# [row 16].
. "$(dirname "$0")/../lib/cli.sh"
src=$T/src

# --- the main job, without any network ---------------------------------------

skill "$src/skills/base" 'scope: acme'
printf '#!/bin/sh\necho hi\n' >"$src/skills/base/run.sh"
chmod 755 "$src/skills/base/run.sh"
skill "$src/skills/top" 'scope: acme' 'dependencies:' '  skills:' \
    "    - file:$src/skills/base" '  mcps:' "    - file:$src/mcps/io.acme_tool.json"
mcp "$src/mcps/io.acme_tool.json" io.acme/tool npx -y tool '${workspaceDir}/x'

exits 'a server requires consent' 4 mapm install "$src/skills/top"
like 'its command is shown' "$err" 'npx -y tool'
is 'nothing was written' "$(ls -A)" ''
exits 'a local path is an origin' 0 mapm install --yes "$src/skills/top"
ok 'byte for byte, modes too' diff -r "$src/skills/base" .agents/skills/base
ok 'executable' test -x .agents/skills/base/run.sh
like 'the root is local' "$(cat mapm.local.yaml)" "file:$src/skills/top"
not_ok 'no mapm.yaml is written for it' test -e mapm.yaml
is 'both local files are ignored by git' "$(cat .gitignore)" \
    "$(printf 'mapm.local.yaml\nmapm.local.lock')"
like 'the placeholder is gone' "$(cat .mcp.json)" "\"$T/ws/x\""
exits 'again: nothing to do' 0 mapm install
snapshot . >"$T/before"
exits 'and again' 0 mapm install
is 'not a byte was written' "$(snapshot .)" "$(cat "$T/before")"

# --- what it says --------------------------------------------------------------

run mapm list
like 'list shows the root' "$out" "^skill +acme/top +1\.0\.0 +file +file:$src/skills/top"
like 'and what came along' "$out" '^mcp +io.acme/tool'
run mapm tree
is 'tree' "$out" "$(printf 'skill acme/top 1.0.0\n├── mcp io.acme/tool\n└── skill acme/base 1.0.0')"
run mapm why base
is 'why' "$out" 'skill acme/top -> skill acme/base'
why=$out
exits 'why of a type and a name' 0 mapm why skill base
is 'is why of the name' "$out" "$why"
exits 'why of another type' 1 mapm why mcp base
exits 'remove takes a type and a name in one argument' 0 mapm remove --dry-run 'skill top'
exits 'not in two' 1 mapm remove --dry-run skill top
like 'it says how' "$err" 'hint: a type and a name are one argument: "skill top"'
exits 'why of nothing' 1 mapm why bse
like 'with a near name' "$err" 'did you mean acme/base'
exits 'verify finds nothing' 0 mapm verify
mkdir sub && cd sub || exit 1
run mapm list
like 'the workspace is found from below' "$out" 'acme/top'
cd .. || exit 1

# --- sources change, copies change ----------------------------------------------

echo more >>"$src/skills/base/SKILL.md"
exits 'a changed source is taken over' 0 mapm install
ok 'the same bytes again' diff -r "$src/skills/base" .agents/skills/base
echo mine >>.agents/skills/base/SKILL.md
exits 'verify sees an edit' 3 mapm verify
like 'and names the file' "$out" 'base/SKILL.md'
like 'the side that differs' "$err" '^the workspace differs from the lock: .*mapm install --force'
unlike 'and no other' "$err" 'the store|proofs|version control'
exits 'for programs, too' 3 mapm verify --json
like 'it is the workspace' "$out" '"differs": "workspace"'
rm -f "$T/state" && cp .agents/.mapm/state "$T/state"
exits 'what stays as it was is left as it is' 0 mapm install
like 'with a note' "$err" 'skill acme/base was edited and is left as it is \(\.agents/skills/base/SKILL\.md was changed\); mapm diff acme/base shows how, mapm restore acme/base undoes it$'
is 'only one' "$(printf '%s\n' "$err" | grep -c 'was edited')" 1
like 'the edit is there' "$(tail -n 1 .agents/skills/base/SKILL.md)" mine
ok 'and nothing was written' cmp .agents/.mapm/state "$T/state"
exits 'for programs' 0 mapm install --json
like 'named' "$out" '"\.agents/skills/base/SKILL\.md was changed"'
exits 'also with all locked' 0 mapm install --locked
like 'noted' "$err" 'acme/base was edited'
skill "$src/skills/extra" 'scope: acme'
exits 'others come beside it' 0 mapm install "file:$src/skills/extra"
like 'noted, too' "$err" 'acme/base was edited'
ok 'there' test -f .agents/skills/extra/SKILL.md
skill "$src/skills/plain" && sed -i '/^version/d' "$src/skills/plain/SKILL.md"
exits '[M13] a package without version and commit' 0 mapm install "file:$src/skills/plain"
like '[M13] is shown as a file' "$out" '^  \+ skill plain file$'
echo more >>"$src/skills/plain/SKILL.md"
exits '[M13] when it changed' 0 mapm install
like '[M13] the content is what is new' "$out" '^  ~ skill plain file \(new content\)$'
run mapm remove plain
exits 'and updates go on' 0 mapm update
like 'noted as well' "$err" 'acme/base was edited'
exits 'and others go' 0 mapm remove extra
unlike 'without a word of it' "$err" 'acme/base'
like 'the edit is still there' "$(tail -n 1 .agents/skills/base/SKILL.md)" mine
exits 'and verify still sees it' 3 mapm verify
cp .agents/skills/base/SKILL.md "$T/edited.md"
exits 'force restores it' 0 mapm install --force
ok 'the same bytes' diff -r "$src/skills/base" .agents/skills/base
exits 'then it is right' 0 mapm verify
unlike 'and no more noted' "$(mapm install 2>&1)" 'was edited'
cp "$T/edited.md" .agents/skills/base/SKILL.md
(cd "$T" && rm -rf copy && cp -r "$OLDPWD" copy)
cp -r "$T/copy" "$T/copy2"
(cd "$T/copy" && mapm install) >"$T/copy.out" 2>&1
like 'a copy of a workspace keeps its edits' "$(cat "$T/copy.out")" 'acme/base was edited and is left as it is'
is 'which are there' "$(tail -n 1 "$T/copy/.agents/skills/base/SKILL.md")" mine
(mv "$T/copy" "$T/copy.moved" && cd "$T/copy.moved" && mapm install) >"$T/copy.out" 2>&1
like 'also without its original' "$(cat "$T/copy.out")" 'acme/base was edited and is left as it is'
(cd "$T/copy2" && env MAPM_HOME="$T/stranger" "$MAPM" install) >"$T/copy.out" 2>&1
like 'a record from elsewhere permits nothing' "$(cat "$T/copy.out")" 'would destroy'
echo again >>"$src/skills/base/SKILL.md"
exits 'install does not destroy it' 1 mapm install
like 'it names the file' "$err" '\.agents/skills/base/SKILL\.md'
like 'and the way out' "$err" '--force'
like 'the edit is there' "$(tail -n 1 .agents/skills/base/SKILL.md)" mine
exits 'force replaces it' 0 mapm install --force
ok 'the source again' diff -r "$src/skills/base" .agents/skills/base
ok 'with a backup' grep -rq mine .agents/.mapm/backup

exits 'a needed package stays' 1 mapm remove base
like 'because of what needs it' "$err" 'skill acme/top needs it'
exits 'the root goes' 0 mapm remove acme/top
is 'with all that came along' "$(ls -A .agents/skills .claude 2>/dev/null)" ''
not_ok 'and the server' grep -q acme .mcp.json

# --- what is refused -------------------------------------------------------------

# refused WHAT WORDS: installing $src/skills/bad fails, says so, changes nothing.
refused()
{
    snapshot . >"$T/before"
    snapshot "$MAPM_HOME/store" >"$T/store-before"
    run mapm install --yes "$src/skills/bad"
    isnt "refused: $1" "$status" 0
    like "it says so: $1" "$err" "$2"
    is "nothing changed: $1" "$(snapshot .)" "$(cat "$T/before")"
    rm -rf "$src/skills/bad"
}

skill "$src/skills/bad"
ln -s /etc/passwd "$src/skills/bad/passwd"
refused 'a link out of the package [row 2]' 'leaves the package'
skill "$src/skills/bad"
ln -s ../../../../../../etc/passwd "$src/skills/bad/passwd"
refused 'a relative link out of it [row 2]' 'leaves the package'
skill "$src/skills/bad"
mkfifo "$src/skills/bad/pipe"
refused 'a FIFO [row 16]' 'no file, folder or link'
skill "$src/skills/bad"
echo x >"$src/skills/bad/con.txt"
refused 'the name of a device [row 1]' 'con\.txt'
skill "$src/skills/bad"
echo x >"$src/skills/bad/A" && echo x >"$src/skills/bad/a"
refused 'two names that are one [row 3]' 'the same name'
skill "$src/skills/bad"
truncate -s 33M "$src/skills/bad/big"
refused 'a file too large [row 4]' 'larger than'
skill "$src/skills/bad" 'dependencies:' '  skills:' "    - file:$src/skills/bad"
refused 'a package that needs itself [M25]' 'cycle|needs itself'
skill "$src/skills/bad" 'dependencies:' '  skills:' "    - file:$src/skills/none"
refused 'a missing dependency [M26]' 'skills/none'
skill "$src/skills/bad" 'description: ""'
refused 'no description' 'description'

skill "$src/skills/linked"
echo inside >"$src/skills/linked/real.txt"
ln -s real.txt "$src/skills/linked/alias.txt"
exits 'a link inside the package is a copy of what it names' 0 \
    mapm install "$src/skills/linked"
is 'content' "$(cat .agents/skills/linked/alias.txt)" inside
not_ok 'and no link' test -L .agents/skills/linked/alias.txt

# --- two packages of one short name [X9] -----------------------------------------

skill "$T/one/skills/same" 'scope: acme'
skill "$T/two/skills/same" 'scope: io.beta'
exits 'the first takes the name' 0 mapm install "$T/one/skills/same"
exits 'the second gets its scope in front' 0 mapm install "$T/two/skills/same"
ok 'verbatim' diff -r "$T/one/skills/same" .agents/skills/same
is 'with its copy renamed' "$(grep ^name: .agents/skills/io-beta-same/SKILL.md)" \
    'name: io-beta-same'
like 'the lock has recorded it' "$(cat mapm.local.lock)" 'path: \.agents/skills/io-beta-same'
exits 'the first goes' 0 mapm remove acme/same
exits 'later installs rename nothing' 0 mapm install
ok 'the second is where it was' test -d .agents/skills/io-beta-same
done_testing

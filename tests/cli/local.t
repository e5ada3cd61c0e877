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

exits 'install of a local skill with a server needs a yes' 4 mapm install "$src/skills/top"
like 'the error shows the command of the server' "$err" 'npx -y tool'
is 'install without a yes writes nothing' "$(ls -A)" ''
exits 'install --yes of a local skill succeeds' 0 mapm install --yes "$src/skills/top"
ok 'the installed dependency equals its source' diff -r "$src/skills/base" .agents/skills/base
ok 'an executable file stays executable' test -x .agents/skills/base/run.sh
like 'mapm.local.yaml has the local root' "$(cat mapm.local.yaml)" "file:$src/skills/top"
not_ok 'install of a local root writes no mapm.yaml' test -e mapm.yaml
is '.gitignore has both local files' "$(cat .gitignore)" \
    "$(printf 'mapm.local.yaml\nmapm.local.lock')"
like '.mcp.json has the path of the workspace for the placeholder' "$(cat .mcp.json)" "\"$T/ws/x\""
exits 'a second install of a local root succeeds' 0 mapm install
snapshot . >"$T/before"
exits 'a third install of a local root succeeds' 0 mapm install
is 'a third install leaves the workspace unchanged' "$(snapshot .)" "$(cat "$T/before")"

# --- what it says --------------------------------------------------------------

run mapm list
like 'list shows the local root with its origin' "$out" "^skill +acme/top +1\.0\.0 +file +file:$src/skills/top"
like 'list shows the server that the root needs' "$out" '^mcp +io.acme/tool'
run mapm tree
is 'tree shows the local root with its dependencies' "$out" "$(printf 'skill acme/top 1.0.0\n├── mcp io.acme/tool\n└── skill acme/base 1.0.0')"
run mapm why base
is 'why shows the chain from the root to the dependency' "$out" 'skill acme/top -> skill acme/base'
why=$out
exits 'why accepts a type and a name' 0 mapm why skill base
is 'why of type and name equals why of the name' "$out" "$why"
exits 'why fails for a name of another type' 1 mapm why mcp base
exits 'remove accepts a type and a name in one argument' 0 mapm remove --dry-run 'skill top'
exits 'remove refuses a type and a name in two arguments' 1 mapm remove --dry-run skill top
like 'the hint shows type and name in one argument' "$err" 'hint: a type and a name are one argument: "skill top"'
exits 'why of an unknown name fails' 1 mapm why bse
like 'the error suggests a near name' "$err" 'did you mean acme/base'
exits 'verify of local packages succeeds' 0 mapm verify
mkdir sub && cd sub || exit 1
run mapm list
like 'list finds the workspace from a folder below' "$out" 'acme/top'
cd .. || exit 1

# --- sources change, copies change ----------------------------------------------

echo more >>"$src/skills/base/SKILL.md"
exits 'install after a change of the source succeeds' 0 mapm install
ok 'install copies the changed source' diff -r "$src/skills/base" .agents/skills/base
echo mine >>.agents/skills/base/SKILL.md
exits 'verify fails with an edited copy' 3 mapm verify
like 'verify names the edited file' "$out" 'base/SKILL.md'
like 'verify reports that the workspace differs from the lock' "$err" '^the workspace differs from the lock: .*mapm install --force'
unlike 'verify mentions no other side than the workspace' "$err" 'the store|proofs|version control'
exits 'verify --json fails with an edited copy' 3 mapm verify --json
like 'verify --json reports that the workspace differs' "$out" '"differs": "workspace"'
rm -f "$T/state" && cp .agents/.mapm/state "$T/state"
exits 'install with an edited copy succeeds' 0 mapm install
like 'install reports the edited package with diff and restore' "$err" 'skill acme/base was edited and is left as it is \(\.agents/skills/base/SKILL\.md was changed\); mapm diff acme/base shows how, mapm restore acme/base undoes it$'
is 'install reports the edited package once' "$(printf '%s\n' "$err" | grep -c 'was edited')" 1
like 'install keeps the edit' "$(tail -n 1 .agents/skills/base/SKILL.md)" mine
ok 'install with an edited copy does not write its state' cmp .agents/.mapm/state "$T/state"
exits 'install --json with an edited copy succeeds' 0 mapm install --json
like 'install --json names the edited file' "$out" '"\.agents/skills/base/SKILL\.md was changed"'
exits 'install --locked with an edited copy succeeds' 0 mapm install --locked
like 'install --locked reports the edited package' "$err" 'acme/base was edited'
skill "$src/skills/extra" 'scope: acme'
exits 'install of another package beside an edited copy succeeds' 0 mapm install "file:$src/skills/extra"
like 'install of another package reports the edited package' "$err" 'acme/base was edited'
ok 'install copies the other package' test -f .agents/skills/extra/SKILL.md
skill "$src/skills/plain" && sed -i '/^version/d' "$src/skills/plain/SKILL.md"
exits '[M13] install of a package without version and commit succeeds' 0 mapm install "file:$src/skills/plain"
like '[M13] a package without version and commit is shown as file' "$out" '^  \+ skill plain file$'
echo more >>"$src/skills/plain/SKILL.md"
exits '[M13] install after a change of such a package succeeds' 0 mapm install
like '[M13] the change of such a package is shown as new content' "$out" '^  ~ skill plain file \(new content\)$'
run mapm remove plain
exits 'update with an edited copy succeeds' 0 mapm update
like 'update reports the edited package' "$err" 'acme/base was edited'
exits 'remove of another package succeeds beside an edited copy' 0 mapm remove extra
unlike 'remove of another package does not mention the edited package' "$err" 'acme/base'
like 'remove of another package keeps the edit' "$(tail -n 1 .agents/skills/base/SKILL.md)" mine
exits 'verify fails with the edit after other commands' 3 mapm verify
cp .agents/skills/base/SKILL.md "$T/edited.md"
exits 'install --force over an edited copy succeeds' 0 mapm install --force
ok 'install --force restores the bytes of the source' diff -r "$src/skills/base" .agents/skills/base
exits 'verify succeeds after install --force' 0 mapm verify
unlike 'install after --force reports no edit' "$(mapm install 2>&1)" 'was edited'
cp "$T/edited.md" .agents/skills/base/SKILL.md
(cd "$T" && rm -rf copy && cp -r "$OLDPWD" copy)
cp -r "$T/copy" "$T/copy2"
(cd "$T/copy" && mapm install) >"$T/copy.out" 2>&1
like 'install in a copied workspace reports the edit' "$(cat "$T/copy.out")" 'acme/base was edited and is left as it is'
is 'install in a copied workspace keeps the edit' "$(tail -n 1 "$T/copy/.agents/skills/base/SKILL.md")" mine
(mv "$T/copy" "$T/copy.moved" && cd "$T/copy.moved" && mapm install) >"$T/copy.out" 2>&1
like 'install in a moved copy of a workspace reports the edit' "$(cat "$T/copy.out")" 'acme/base was edited and is left as it is'
(cd "$T/copy2" && env MAPM_HOME="$T/stranger" "$MAPM" install) >"$T/copy.out" 2>&1
like 'install with another home refuses to destroy the edit' "$(cat "$T/copy.out")" 'would destroy'
echo again >>"$src/skills/base/SKILL.md"
exits 'install fails when source and copy have both changed' 1 mapm install
like 'the error names the edited file' "$err" '\.agents/skills/base/SKILL\.md'
like 'the error suggests --force' "$err" '--force'
like 'the failed install keeps the edit' "$(tail -n 1 .agents/skills/base/SKILL.md)" mine
exits 'install --force over a changed copy succeeds' 0 mapm install --force
ok 'install --force copies the changed source' diff -r "$src/skills/base" .agents/skills/base
ok 'install --force keeps a backup of the edit' grep -rq mine .agents/.mapm/backup

exits 'remove of a package that another one needs fails' 1 mapm remove base
like 'the error names the skill that needs the package' "$err" 'skill acme/top needs it'
exits 'remove of the root succeeds' 0 mapm remove acme/top
is 'remove of the root removes its dependencies and links' "$(ls -A .agents/skills .claude 2>/dev/null)" ''
not_ok 'remove of the root removes the server from .mcp.json' grep -q acme .mcp.json

# --- what is refused -------------------------------------------------------------

# refused WHAT WORDS: installing $src/skills/bad fails, says so, changes nothing.
refused()
{
    snapshot . >"$T/before"
    snapshot "$MAPM_HOME/store" >"$T/store-before"
    run mapm install --yes "$src/skills/bad"
    isnt "refused: install of $1" "$status" 0
    like "the error gives the reason: $1" "$err" "$2"
    is "the workspace is unchanged: $1" "$(snapshot .)" "$(cat "$T/before")"
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
exits 'install of a skill with a link inside succeeds' 0 \
    mapm install "$src/skills/linked"
is 'the installed copy has the content of the target of the link' "$(cat .agents/skills/linked/alias.txt)" inside
not_ok 'the installed copy is no link' test -L .agents/skills/linked/alias.txt

# --- two packages of one short name [X9] -----------------------------------------

skill "$T/one/skills/same" 'scope: acme'
skill "$T/two/skills/same" 'scope: io.beta'
exits 'install of a skill with a scope succeeds' 0 mapm install "$T/one/skills/same"
exits 'install of a skill with the same name and another scope succeeds' 0 mapm install "$T/two/skills/same"
ok 'the first skill equals its source' diff -r "$T/one/skills/same" .agents/skills/same
is 'the copy of the second skill is named after its folder' "$(grep ^name: .agents/skills/io-beta-same/SKILL.md)" \
    'name: io-beta-same'
like 'mapm.local.lock has the folder of the second skill' "$(cat mapm.local.lock)" 'path: \.agents/skills/io-beta-same'
exits 'remove of the first skill succeeds' 0 mapm remove acme/same
exits 'install after the removal of the first skill succeeds' 0 mapm install
ok 'the second skill stays in its folder' test -d .agents/skills/io-beta-same
done_testing

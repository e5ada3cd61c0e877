#!/bin/sh
# What other package managers installed becomes packages of the workspace, at the
# same commits. The files have the form that skills 1.x and dotagents 1.x write, and
# that of APM's lockfile schema 0.1. [D14].
. "$(dirname "$0")/../lib/cli.sh"

s=$T/src
U=https://github.com/acme/catalog/tree/main/skills
for name in pdf base docx only; do
    skill "$s/skills/$name" 'scope: acme'
    echo "about $name" >"$s/skills/$name/notes.txt"
    echo '#' >"$s/skills/$name/Z_a.sh"
done
make_repo acme/catalog "$s"
first=$COMMIT
cp -r "$s" "$T/first"
echo newer >>"$s/skills/docx/notes.txt"
make_repo acme/catalog "$s"
second=$COMMIT
start_githost
field()
{
    sed -n "/name: acme\\/$1\$/,/^  - /s/^    $2: //p" mapm.lock | head -n 1
}
# hash_of FOLDER: as skills computes it.
hash_of()
{
    (cd "$1" && for f in notes.txt SKILL.md Z_a.sh; do printf %s "$f" && cat "$f"; done |
        sha256sum | cut -d' ' -f1)
}
start()
{
    rm -rf "$T/$1" && mkdir "$T/$1" && cd "$T/$1" || exit 1
}

# --- skills-lock.json --------------------------------------------------------------

skills_lock()
{
    cat >skills-lock.json <<J
{
  "version": 1,
  "skills": {
    "docx": {
      "source": "acme/catalog",
      "sourceType": "github",
      "skillPath": "skills/docx/SKILL.md",
      "computedHash": "$(hash_of "$T/first/skills/docx")"
    },
    "mine": {
      "source": "/home/ann/mine",
      "sourceType": "local",
      "computedHash": "$(hash_of "$T/first/skills/docx")"
    },
    "pdf": {
      "source": "acme/catalog",
      "sourceType": "github",
      "skillPath": "skills/pdf/SKILL.md",
      "computedHash": "$(hash_of "$s/skills/pdf")"
    }
  }
}
J
}
start skills
exits 'nothing to import' 1 mapm import
like 'is said' "$err" 'nothing to import in'
skills_lock
mkdir -p .agents/skills && cp -r "$s/skills/pdf" .agents/skills/
snapshot . >"$T/before"
exits '[D14] a dry run' 3 mapm import --dry-run
is 'changes nothing' "$(snapshot .)" "$(cat "$T/before")"
exits '[D14] skills-lock.json' 3 mapm import
like 'the same content' "$err" 'skills-lock\.json:15: skill acme/pdf: same content as locked'
like 'an equal folder is taken over' "$err" 'acme/pdf: .*an equal folder was there'
like 'another content' "$err" 'skills-lock\.json:4: skill acme/docx: changed since it was locked'
like 'what is no repository is named' "$err" 'skills-lock\.json:10: not imported: mine: its source is no git repository'
like 'the branch is the origin' "$(cat mapm.yaml)" "$U/pdf\$"
ok 'both are there' test -f .agents/skills/pdf/SKILL.md -a -f .agents/skills/docx/SKILL.md
exits 'the lock fits' 0 mapm install --locked
exits 'and is proved' 0 mapm verify
exits '[D14] remove of what was there asks' 4 mapm remove pdf
like 'it is named' "$err" '\.agents/skills/pdf was there before mapm import'
ok 'and it stays' test -f .agents/skills/pdf/SKILL.md
exits 'of the other it does not' 0 mapm remove docx
exits 'with a yes it goes' 0 mapm remove pdf --yes
not_ok 'all of it' test -e .agents/skills/pdf
exits '[D14] for programs' 3 mapm import --json --dry-run
printf '%s\n' "$out" >"$T/out.json"
is 'JSON' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
print(d["schema"], d["command"], [(i["name"], i["imported"], i.get("content"), i.get("reason", "")[:10]) for i in d["imports"]])
P
)" "mapm.install/1 import [('acme/docx', True, 'changed', ''), ('mine', False, None, 'its source'), ('acme/pdf', True, 'same', '')]"
mkdir -p .agents/skills/docx && echo mine >.agents/skills/docx/SKILL.md
exits '[D14] a folder that differs' 3 mapm import
like 'is left alone' "$err" 'not imported: docx: \.agents/skills/docx is there'
is 'as it was' "$(cat .agents/skills/docx/SKILL.md)" mine
exits 'not without the network' 1 mapm import --offline
rm -rf .agents mapm.*
sed -i 's/"version": 1/"version": 2/' skills-lock.json
exits 'another version' 1 mapm import
like 'is refused with its line' "$err" 'skills-lock\.json:1: its version is neither 1 nor 3'

# --- skills by their names alone -----------------------------------------------------

t=$T/twice
for name in red/skills/both blue/skills/both red/skills/one; do
    skill "$t/plugins/$name" 'scope: beta'
done
make_repo beta/twice "$t"
start named
cat >skills-lock.json <<J
{"version": 1, "skills": {
 "pdf": {"source": "acme/catalog", "sourceType": "github", "computedHash": "$(hash_of "$s/skills/pdf")"},
 "docx": {"source": "acme/catalog", "sourceType": "github", "computedHash": "$(hash_of "$T/first/skills/docx")"},
 "none": {"source": "acme/catalog", "sourceType": "github"},
 "one": {"source": "beta/twice", "sourceType": "github"},
 "both": {"source": "beta/twice", "sourceType": "github"},
 "x\u0000y": {"source": "acme/catalog", "sourceType": "github"},
 "base": {"source": "acme/catalog\u001b[2J", "sourceType": "github"}}}
J
reset_log
exits '[D14] a file without paths' 3 mapm import
is '[D14] costs what two catalogs cost' "$(requests)" 4
is '[D14] finds the skills by their names' "$(sed -n 's,.*/tree/main/,,p' mapm.yaml | tr '\n' ' ')" \
    'skills/pdf skills/docx plugins/red/skills/one '
like '[D14] and compares them' "$err" 'lock\.json:2: skill acme/pdf: same content as locked'
like '[D14] which may have changed' "$err" 'lock\.json:3: skill acme/docx: changed since'
like '[D14] one that is not there' "$err" 'lock\.json:4: not imported: none: its repository has no skill of this name'
like '[D14] one that is there twice' "$err" 'json:6: not imported: both: several skills .*plugins/blue/skills/both or plugins/red/skills/both'
like '[D14, row 12] a NUL leaves out one entry' "$err" 'json:7: not imported: x.x00y: a text of it .*hidden'
like '[D14, row 12] as do escape sequences' "$err" 'json:8: not imported: base: a text of it'
rm -rf mapm.* .agents
exits '[D14] not without the network' 1 mapm import --offline
not_ok '[D14] and nothing is taken' test -e mapm.yaml
printf '{"version": 1,\n "skills": {"a\000b": {}}}' >skills-lock.json
exits '[D14] a file that is no JSON' 1 mapm import
is '[D14] is named once, with the line' "$err" 'mapm: cannot import skills-lock.json
  because: line 2, column 15: expected the end of the string, not the byte 0x00'

# --- the user's --------------------------------------------------------------------

start none
mkdir -p "$HOME/.agents"
cat >"$HOME/.agents/.skill-lock.json" <<J
{"version": 3, "skills": {"docx": {"source": "acme/catalog", "sourceType": "github",
 "sourceUrl": "https://github.com/acme/catalog.git", "skillPath": "skills/docx/SKILL.md",
 "skillFolderHash": "$(repo acme/catalog rev-parse main:skills/docx)",
 "installedAt": "2026-11-22T22:54:55.393Z"}}, "dismissed": {}}
J
exits '[D14] the file of the user is not read in a workspace' 1 mapm import
exits '[D14] with -g it is' 0 mapm import -g
like 'by the tree of git' "$err" 'docx: same content as locked'
exits '[D14] named it is as well' 0 mapm import "$HOME/.agents/.skill-lock.json"
like 'for the workspace' "$(cat mapm.yaml)" skills/docx
mkdir -p "$HOME/.local/state/skills" && mv "$HOME/.agents/.skill-lock.json" "$HOME/.local/state/skills"
exits '[D14] in $XDG_STATE_HOME' 0 mapm import -g

# --- agents.toml -------------------------------------------------------------------------

start agents
cat >agents.toml <<'J'
version = 1

[[skills]]
name = "docx"
source = "acme/catalog"
ref = "main"

[[skills]]
name = "only"
source = "acme/catalog"
path = "skills/only"

[[skills]]
name = "local"
source = "path:./local"

[[mcp]]
name = "files"
command = "npx"
args = ["-y", "files"]
J
cat >agents.lock <<J
# Auto-generated by dotagents. Do not edit.
version = 1

[skills.docx]
source = "acme/catalog"
resolved_url = "https://github.com/acme/catalog"
resolved_path = "skills/docx"
resolved_ref = "main"
resolved_commit = "$first"
J
exits '[D14] agents.lock and agents.toml' 3 mapm import
is 'the same commit' "$(field docx commit)" "$first"
ok 'and its content' diff -r "$T/first/skills/docx" .agents/skills/docx
like 'of the same ref' "$(cat mapm.yaml)" "$U/docx\$"
like 'same content' "$err" 'agents\.lock:4: skill acme/docx: same content as locked'
is 'what the lock lacks, at its ref' "$(field only commit)" "$second"
like 'a local one is named' "$err" 'agents\.toml:13: not imported: local: a folder of the project'
like 'a server by hand, too' "$err" 'agents\.toml:17: not imported: files: '
exits 'the lock fits' 0 mapm install --locked
exits 'once more' 3 mapm import
like 'is nothing new' "$err" 'nothing to do'
exits 'update moves it' 0 mapm update docx
is 'to the newest' "$(field docx commit)" "$second"
start toml
sed 's/"skills\/only"/"skills\/only\/SKILL.md"/' "$T/agents/agents.toml" >agents.toml
exits '[D14] agents.toml alone' 3 mapm import
is '[D14] finds by name what has no path' "$(sed -n 's,.*/tree/main/,,p' mapm.yaml | sort | tr '\n' ' ')" 'skills/docx skills/only '
is '[D14] at the ref of today' "$(field docx commit)" "$second"
start gone
cp "$T/agents/agents.lock" .
sed -i "s/$first/$(printf '%040d' 7)/" agents.lock
exits '[D14] a commit that is gone' 3 mapm import
like 'is named with the reason' "$err" 'not imported: docx: '
not_ok 'nothing is there' test -e .agents/skills/docx
printf '[skills.x]\nsource = "a\n' >agents.lock
exits 'TOML that is none' 1 mapm import
like 'with its line' "$err" 'line 2'

# --- APM -----------------------------------------------------------------------------------------

start apm
cat >apm.lock.yaml <<J
lockfile_version: "1"
apm_version: 0.9.0
dependencies:
  - repo_url: acme/catalog
    host: github.com
    resolved_ref: main
    resolved_commit: $first
    virtual_path: ././skills/docx/SKILL.md
    is_virtual: true
    depth: 1
  - repo_url: acme/catalog
    host: github.com
    resolved_commit: $second
    skill_subset: [pdf]
    depth: 1
  - repo_url: acme/catalog
    virtual_path: prompts/x.prompt.md
    is_virtual: true
    depth: 0
  - repo_url: acme/deep
    depth: 2
  - source: local
    local_path: ./mine
J
printf 'name: p\ndependencies:\n  apm:\n    - acme/catalog/skills/only#main\n' >apm.yml
exits '[D14] apm.lock.yaml' 3 mapm import
is 'the same commits' "$(field docx commit) $(field pdf commit)" "$first $second"
like 'a prompt is named' "$err" 'apm\.lock\.yaml:16: not imported: x\.prompt\.md: a file that is no skill'
unlike 'what another one needs is not' "$err" deep
unlike 'its manifest adds nothing' "$(cat mapm.yaml)" only
rm -rf mapm.* .agents apm.lock.yaml
exits '[D14] apm.yml alone' 0 mapm import
is 'at the ref' "$(field only commit)" "$second"
start addresses
for address in git@github.com:acme/catalog.git ssh://git@github.com/acme/catalog.git https://github.com/acme/catalog.git; do
    printf 'name: p\ndependencies:\n  apm:\n    - {git: "%s", path: skills/only, ref: main}\n' "$address" >apm.yml
    rm -rf mapm.* .agents .claude
    exits "[D14, H1] $address" 0 mapm import
    is '[D14] is of its host' "$(field only origin)" "$U/only"
done

# --- by content ------------------------------------------------------------------------------------

start folders
mkdir -p .claude/skills && cp -r "$s/skills/pdf" "$s/skills/base" "$T/first/skills/docx" .claude/skills
mkdir .claude/skills/unknown && echo x >.claude/skills/unknown/SKILL.md
echo '{"mcpServers": {"hand": {"command": "npx"}}}' >.mcp.json
echo edited >>.claude/skills/base/notes.txt
cp -r . "$T/folders-before"
exits '[D14] folders alone' 3 mapm import
like 'nothing says where they are from' "$err" '\.claude/skills/pdf: not imported: pdf: .*--from'
like '[D14] a server by hand stays' "$err" '\.mcp\.json:1: not imported: hand: '
exits '[D14] the folder by name' 3 mapm import --dry-run ./.claude/skills/ --from acme/catalog
like '[D14] is read' "$out" '\+ skill acme/pdf '
unlike '[D14] alone' "$err" '\.mcp\.json'
exits '[D14] compared with a catalog' 3 mapm import --from acme/catalog
like 'the equal one is taken over' "$err" '\.claude/skills/pdf: skill acme/pdf: same content as locked; an equal folder'
for name in base docx; do
    like "$name differs" "$err" "\\.claude/skills/$name: not imported: $name: .*mapm did not make it"
    same_tree 'and is as it was' ".claude/skills/$name" "$T/folders-before/.claude/skills/$name"
done
like 'one that the catalog lacks' "$err" 'unknown: no catalog of --from has'
exits '[D14] remove asks for the folder of a client' 4 mapm remove pdf
like 'which is named' "$err" '\.claude/skills/pdf was there before mapm import'
exits '[D14] with --force one that differs, too' 3 mapm import --from acme/catalog --force
like 'which is kept' "$err" 'what was there before is in \.agents/\.mapm/backup'
ok 'and replaced' grep -q newer .claude/skills/docx/notes.txt
exits 'a second catalog, with the right content' 0 mapm remove base docx --yes --force
make_repo beta/tools "$T/first"
rm -rf .claude/skills/* && cp -r "$T/first/skills/docx" .claude/skills
exits '[D14] the catalog that has the content' 3 mapm import --from acme/catalog --from beta/tools
like 'is found' "$(cat mapm.yaml)" 'beta/tools/tree/main/skills/docx'
like 'and the only one that is shown' "$(printf '%s\n' "$err" | grep -c 'skills/docx: ')" '^1$'
exits 'a catalog that is none' 1 mapm import --from acme/none
exits 'a file of another name' 2 mapm import x.json
rm -r .claude/skills
exits 'a folder that is not there' 1 mapm import .claude/skills
like 'is named' "$err" 'there is no skill in \.claude/skills'
exits 'a file that is not there' 1 mapm import "$T/agents.lock"

# --- the mark of a folder that was taken over --------------------------------------------

start taken
mkdir -p .claude/skills && cp -r "$s/skills/only" .claude/skills && cp -r "$s/skills/pdf" .claude/skills
exits '[D14] two equal folders' 0 mapm import --from acme/catalog
echo newest >>"$s/skills/pdf/notes.txt" && make_repo acme/catalog "$s"
exits 'one is updated' 0 mapm update --yes
ok 'in its place' grep -q newest .claude/skills/pdf/notes.txt
for name in pdf only; do
    exits "[D14] remove asks after an update: $name" 4 mapm remove "$name"
    like 'and names it' "$err" "\\.claude/skills/$name was there before mapm import"
done
rm -rf .claude/skills/pdf .agents/skills/pdf
exits 'a repair' 0 mapm install --yes
exits '[D14] what is mapm'"'"'s alone now goes' 0 mapm remove pdf
exits '[D14] with a yes the other one goes, too' 0 mapm remove only --yes

# --- servers -----------------------------------------------------------------------------

v=$T/served
mcp "$v/mcps/io.acme_one.json" io.acme/one npx -y one
mcp "$v/mcps/io.acme_two.json" io.acme/two npx -y two
mcp "$v/mcps/io.acme_three.json" io.acme/three npx -y three
skill "$v/skills/plain"
make_repo acme/served "$v"
servers()
{
    start servers
    python3 -S - <<'P'
import json
json.dump({"other": 1, "mcpServers": {
    "io-acme-one": {"command": "npx", "args": ["-y", "one"]},
    "io-acme-two": {"type": "stdio", "command": "npx", "args": ["-y", "two", "--verbose"]},
    "mine": {"command": "./run"}}}, open(".mcp.json", "w"), indent=2)
P
    cp .mcp.json "$T/mcp.before"
}
servers
exits '[D14] servers alone' 3 mapm import
like 'each is named, with what to do' "$err" '\.mcp\.json:[0-9]+: not imported: mine: .*--from OWNER/REPO, or .*mapm new mcp'
ok 'and nothing changes' cmp .mcp.json "$T/mcp.before"
exits '[D14] an equal one needs consent' 4 mapm import --from acme/served
ok 'and nothing changes' cmp .mcp.json "$T/mcp.before"
exits '[D14] an equal server' 3 mapm import --from acme/served --yes
like 'is taken over' "$err" '\.mcp\.json:[0-9]+: mcp io\.acme/one: .*an equal server was there: mapm takes it over'
like 'one that differs stays' "$err" 'not imported: io-acme-two: \.mcp\.json#io-acme-two is a server of yours'
like 'one that the catalog lacks, too' "$err" 'not imported: mine: no catalog of --from has .*mapm new mcp'
is 'what is in the file' "$(python3 -S -c 'import json; d = json.load(open(".mcp.json"))["mcpServers"]
print(sorted(d), d["io-acme-one"]["args"], d["io-acme-two"]["args"][-1], d["mine"])')" \
    "['io-acme-one', 'io-acme-two', 'mine'] ['-y', 'one'] --verbose {'command': './run'}"
like 'the root' "$(cat mapm.yaml)" 'acme/served/tree/main/mcps/io\.acme_one\.json'
is 'nothing else of the catalog' "$(grep -c acme/served mapm.yaml)" 1
exits 'the lock fits' 0 mapm install --locked --yes
exits 'and is proved' 0 mapm verify
exits '[D14] again' 3 mapm import --from acme/served --yes
unlike 'it is known' "$err" io-acme-one
exits '[D14] for programs' 3 mapm import --from acme/served --yes --json
like 'with the reason' "$out" '"name": "mine"'
exits '[D14] remove of a server that was there asks' 4 mapm remove io.acme/one
like 'and names it' "$err" '\.mcp\.json#io-acme-one was there before mapm import'
like 'it stays' "$(cat .mcp.json)" '"io-acme-one"'
exits '[D14] also after an install' 0 mapm install --yes
exits '[D14] it asks' 4 mapm remove io.acme/one
exits '[D14] with a yes' 0 mapm remove io.acme/one --yes
unlike 'it goes' "$(cat .mcp.json)" '"io-acme-one"'
like 'alone' "$(cat .mcp.json)" '"io-acme-two"'
exits '[D14] one that mapm wrote' 0 mapm install --yes acme/served/mcps/io.acme_one.json
exits '[D14] goes unasked' 0 mapm remove io.acme/one
servers
mkdir "$T/else" 2>/dev/null; mv .mcp.json "$T/else/"
exits '[D14] the file of another folder' 3 mapm import "$T/else/.mcp.json" --from acme/served --yes
like 'is compared with nothing' "$err" 'not imported: io-acme-one: '
not_ok 'and takes nothing over' test -e .mcp.json
done_testing

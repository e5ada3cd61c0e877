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
exits 'import in an empty folder fails' 1 mapm import
like 'the error says that there is nothing to import' "$err" 'nothing to import in'
skills_lock
mkdir -p .agents/skills && cp -r "$s/skills/pdf" .agents/skills/
snapshot . >"$T/before"
exits '[D14] import --dry-run of skills-lock.json exits with 3 for partial success' 3 mapm import --dry-run
is 'import --dry-run changes no file' "$(snapshot .)" "$(cat "$T/before")"
exits '[D14] import of skills-lock.json exits with 3 when an entry is left out' 3 mapm import
like 'import reports a skill with the same content as locked' "$err" 'skills-lock\.json:15: skill acme/pdf: same content as locked'
like 'import takes over an equal folder and says so' "$err" 'acme/pdf: .*an equal folder was there'
like 'import reports a skill that changed since it was locked' "$err" 'skills-lock\.json:4: skill acme/docx: changed since it was locked'
like 'import names an entry whose source is no git repository' "$err" 'skills-lock\.json:10: not imported: mine: its source is no git repository'
like 'import writes the branch as origin to mapm.yaml' "$(cat mapm.yaml)" "$U/pdf\$"
ok 'import provisions both skills' test -f .agents/skills/pdf/SKILL.md -a -f .agents/skills/docx/SKILL.md
exits 'install --locked accepts the lock of the import' 0 mapm install --locked
exits 'verify accepts the imported skills' 0 mapm verify
exits '[D14] remove of a folder that import took over exits with 4' 4 mapm remove pdf
like 'the error names the folder that was there before import' "$err" '\.agents/skills/pdf was there before mapm import'
ok 'the folder stays after the refused remove' test -f .agents/skills/pdf/SKILL.md
exits 'remove of an imported skill without such a folder succeeds' 0 mapm remove docx
exits 'remove --yes of a folder that import took over succeeds' 0 mapm remove pdf --yes
not_ok 'remove --yes deletes the folder that import took over' test -e .agents/skills/pdf
exits '[D14] import --json --dry-run exits with 3 when an entry is left out' 3 mapm import --json --dry-run
printf '%s\n' "$out" >"$T/out.json"
is 'import --json lists each entry with its content or the reason' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
print(d["schema"], d["command"], [(i["name"], i["imported"], i.get("content"), i.get("reason", "")[:10]) for i in d["imports"]])
P
)" "mapm.install/1 import [('acme/docx', True, 'changed', ''), ('mine', False, None, 'its source'), ('acme/pdf', True, 'same', '')]"
mkdir -p .agents/skills/docx && echo mine >.agents/skills/docx/SKILL.md
exits '[D14] import exits with 3 when a folder of the user differs' 3 mapm import
like 'import says that the differing folder is there' "$err" 'not imported: docx: \.agents/skills/docx is there'
is 'import leaves the differing folder unchanged' "$(cat .agents/skills/docx/SKILL.md)" mine
exits 'import --offline fails' 1 mapm import --offline
rm -rf .agents mapm.*
sed -i 's/"version": 1/"version": 2/' skills-lock.json
exits 'import of an unknown version of skills-lock.json fails' 1 mapm import
like 'the error names the line of the unknown version' "$err" 'skills-lock\.json:1: its version is neither 1 nor 3'

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
exits '[D14] import of skills-lock.json without paths exits with 3' 3 mapm import
is '[D14] import without paths takes the requests of two catalogs' "$(requests)" 4
is '[D14] import without paths finds skills by their names' "$(sed -n 's,.*/tree/main/,,p' mapm.yaml | tr '\n' ' ')" \
    'skills/pdf skills/docx plugins/red/skills/one '
like '[D14] import reports the same content for a skill found by name' "$err" 'lock\.json:2: skill acme/pdf: same content as locked'
like '[D14] import reports changed content for a skill found by name' "$err" 'lock\.json:3: skill acme/docx: changed since'
like '[D14] import names an entry whose repository has no such skill' "$err" 'lock\.json:4: not imported: none: its repository has no skill of this name'
like '[D14] import lists both paths of an ambiguous name' "$err" 'json:6: not imported: both: several skills .*plugins/blue/skills/both or plugins/red/skills/both'
like '[D14, row 12] a name with NUL leaves out that entry alone' "$err" 'json:7: not imported: x.x00y: a text of it .*hidden'
like '[D14, row 12] a source with an escape sequence leaves out that entry alone' "$err" 'json:8: not imported: base: a text of it'
rm -rf mapm.* .agents
exits '[D14] import --offline of skills-lock.json without paths fails' 1 mapm import --offline
not_ok '[D14] import --offline writes no mapm.yaml' test -e mapm.yaml
printf '{"version": 1,\n "skills": {"a\000b": {}}}' >skills-lock.json
exits '[D14] import of malformed JSON fails' 1 mapm import
is '[D14] the error of malformed JSON appears once and names line and column' "$err" 'mapm: cannot import skills-lock.json
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
exits '[D14] import in a workspace ignores the lock file of the user' 1 mapm import
exits '[D14] import -g reads the lock file of the user' 0 mapm import -g
like 'import -g compares content by the tree hash of git' "$err" 'docx: same content as locked'
exits '[D14] import of the lock file of the user by path succeeds' 0 mapm import "$HOME/.agents/.skill-lock.json"
like 'import of the lock file of the user by path writes to the workspace' "$(cat mapm.yaml)" skills/docx
mkdir -p "$HOME/.local/state/skills" && mv "$HOME/.agents/.skill-lock.json" "$HOME/.local/state/skills"
exits '[D14] import -g finds the lock file in $XDG_STATE_HOME' 0 mapm import -g
# As the program leaves it: the folder is there, for one client alone or for several.
for at in "$HOME/.agents/skills" "$HOME/.claude/skills"; do
    exits '[D14] remove -g --yes removes an imported skill' 0 mapm remove -g --yes docx
    mkdir -p "$at" && cp -r "$s/skills/docx" "$at/docx"
    exits '[D14] import -g accepts an equal folder of the user' 0 mapm import -g
    like '[D14] import -g reports that it takes over an equal folder' "$err" 'docx: same content as locked; an equal folder was there'
    exits '[D14] install -g succeeds after an import' 0 mapm install -g
    exits '[D14] remove -g of a folder that was there before needs consent' 4 mapm remove -g docx
    like '[D14] the error names the folder that was there before' "$err" "$at/docx was there before mapm import"
done
exits '[D14] remove -g --yes removes a folder that was there before' 0 mapm remove -g --yes docx
cp -r "$s/skills/docx" "$at/docx" && echo mine >>"$at/docx/SKILL.md"
exits '[D14] import -g leaves out a skill of which a folder differs' 3 mapm import -g
ok '[D14] import -g leaves the folder that differs' grep -qx mine "$at/docx/SKILL.md"
rm -r "$at/docx"

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
exits '[D14] import of agents.lock and agents.toml exits with 3' 3 mapm import
is 'import of agents.lock keeps the locked commit' "$(field docx commit)" "$first"
ok 'import of agents.lock provisions the content of that commit' diff -r "$T/first/skills/docx" .agents/skills/docx
like 'import of agents.lock writes the ref as origin' "$(cat mapm.yaml)" "$U/docx\$"
like 'import of agents.lock reports the same content as locked' "$err" 'agents\.lock:4: skill acme/docx: same content as locked'
is 'import locks an entry of agents.toml alone at the current commit' "$(field only commit)" "$second"
like 'import names a local skill of agents.toml as not imported' "$err" 'agents\.toml:13: not imported: local: a folder of the project'
like 'import names a server of agents.toml as not imported' "$err" 'agents\.toml:17: not imported: files: '
exits 'install --locked accepts the lock of agents.lock' 0 mapm install --locked
exits 'a second import of agents.lock exits with 3' 3 mapm import
like 'a second import of agents.lock reports nothing to do' "$err" 'nothing to do'
exits 'update of a skill from agents.lock succeeds' 0 mapm update docx
is 'update moves a skill from agents.lock to the newest commit' "$(field docx commit)" "$second"
start toml
sed 's/"skills\/only"/"skills\/only\/SKILL.md"/' "$T/agents/agents.toml" >agents.toml
exits '[D14] import of agents.toml without agents.lock exits with 3' 3 mapm import
is '[D14] import of agents.toml finds a skill without path by name' "$(sed -n 's,.*/tree/main/,,p' mapm.yaml | sort | tr '\n' ' ')" 'skills/docx skills/only '
is '[D14] import of agents.toml locks the current commit of the ref' "$(field docx commit)" "$second"
start gone
cp "$T/agents/agents.lock" .
sed -i "s/$first/$(printf '%040d' 7)/" agents.lock
exits '[D14] import of a commit that no longer exists exits with 3' 3 mapm import
like 'import names the skill whose commit no longer exists' "$err" 'not imported: docx: '
not_ok 'import provisions nothing for a commit that no longer exists' test -e .agents/skills/docx
printf '[skills.x]\nsource = "a\n' >agents.lock
exits 'import of malformed TOML fails' 1 mapm import
like 'the error of malformed TOML names the line' "$err" 'line 2'

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
exits '[D14] import of apm.lock.yaml exits with 3' 3 mapm import
is 'import of apm.lock.yaml keeps the locked commits' "$(field docx commit) $(field pdf commit)" "$first $second"
like 'import names a prompt of apm.lock.yaml as not imported' "$err" 'apm\.lock\.yaml:16: not imported: x\.prompt\.md: a file that is no skill'
unlike 'import does not report a transitive entry of apm.lock.yaml' "$err" deep
unlike 'import of apm.lock.yaml takes nothing more from apm.yml' "$(cat mapm.yaml)" only
rm -rf mapm.* .agents apm.lock.yaml
exits '[D14] import of apm.yml without apm.lock.yaml succeeds' 0 mapm import
is 'import of apm.yml locks the commit of the ref' "$(field only commit)" "$second"
start addresses
for address in git@github.com:acme/catalog.git ssh://git@github.com/acme/catalog.git https://github.com/acme/catalog.git; do
    printf 'name: p\ndependencies:\n  apm:\n    - {git: "%s", path: skills/only, ref: main}\n' "$address" >apm.yml
    rm -rf mapm.* .agents .claude
    exits "[D14, H1] import accepts the address $address" 0 mapm import
    is '[D14] the origin of the address is an https: URL of its host' "$(field only origin)" "$U/only"
done

# --- by content ------------------------------------------------------------------------------------

start folders
mkdir -p .claude/skills && cp -r "$s/skills/pdf" "$s/skills/base" "$T/first/skills/docx" .claude/skills
mkdir .claude/skills/unknown && echo x >.claude/skills/unknown/SKILL.md
echo '{"mcpServers": {"hand": {"command": "npx"}}}' >.mcp.json
echo edited >>.claude/skills/base/notes.txt
cp -r . "$T/folders-before"
exits '[D14] import of folders without a lock file exits with 3' 3 mapm import
like 'import suggests --from for a folder of unknown origin' "$err" '\.claude/skills/pdf: not imported: pdf: .*--from'
like '[D14] import names a server that was configured by hand' "$err" '\.mcp\.json:1: not imported: hand: '
exits '[D14] import --dry-run of a folder by name exits with 3' 3 mapm import --dry-run ./.claude/skills/ --from acme/catalog
like '[D14] import of a folder by name reads its skills' "$out" '\+ skill acme/pdf '
unlike '[D14] import of a folder by name ignores .mcp.json' "$err" '\.mcp\.json'
exits '[D14] import --from a catalog exits with 3 when folders differ' 3 mapm import --from acme/catalog
like 'import --from takes over the folder with equal content' "$err" '\.claude/skills/pdf: skill acme/pdf: same content as locked; an equal folder'
for name in base docx; do
    like "import --from does not import $name with other content" "$err" "\\.claude/skills/$name: not imported: $name: .*mapm did not make it"
    same_tree 'import --from leaves the differing folder unchanged' ".claude/skills/$name" "$T/folders-before/.claude/skills/$name"
done
like 'import --from names a skill that the catalog lacks' "$err" 'unknown: no catalog of --from has'
exits '[D14] remove of a folder of a client that import took over exits with 4' 4 mapm remove pdf
like 'the error names the folder of the client' "$err" '\.claude/skills/pdf was there before mapm import'
exits '[D14] import --from --force exits with 3' 3 mapm import --from acme/catalog --force
like 'import --force says that the former folder is in the backup' "$err" 'what was there before is in \.agents/\.mapm/backup'
ok 'import --force replaces the differing folder' grep -q newer .claude/skills/docx/notes.txt
exits 'remove --yes --force of the imported skills succeeds' 0 mapm remove base docx --yes --force
make_repo beta/tools "$T/first"
rm -rf .claude/skills/* && cp -r "$T/first/skills/docx" .claude/skills
exits '[D14] import --from two catalogs exits with 3' 3 mapm import --from acme/catalog --from beta/tools
like 'import takes the catalog whose content is equal' "$(cat mapm.yaml)" 'beta/tools/tree/main/skills/docx'
like 'import names each skill of several catalogs once' "$(printf '%s\n' "$err" | grep -c 'skills/docx: ')" '^1$'
exits 'import --from a missing repository fails' 1 mapm import --from acme/none
exits 'import of a file with an unknown name exits with 2' 2 mapm import x.json
rm -r .claude/skills
exits 'import of a missing folder fails' 1 mapm import .claude/skills
like 'the error says that there is no skill in the folder' "$err" 'there is no skill in \.claude/skills'
exits 'import of a missing file fails' 1 mapm import "$T/agents.lock"

# --- the mark of a folder that was taken over --------------------------------------------

start taken
mkdir -p .claude/skills && cp -r "$s/skills/only" .claude/skills && cp -r "$s/skills/pdf" .claude/skills
exits '[D14] import --from of two equal folders succeeds' 0 mapm import --from acme/catalog
echo newest >>"$s/skills/pdf/notes.txt" && make_repo acme/catalog "$s"
exits 'update of an imported skill succeeds' 0 mapm update --yes
ok 'update changes the folder that import took over' grep -q newest .claude/skills/pdf/notes.txt
for name in pdf only; do
    exits "[D14] remove exits with 4 after an update: $name" 4 mapm remove "$name"
    like 'the error after an update names the folder that was there before import' "$err" "\\.claude/skills/$name was there before mapm import"
done
rm -rf .claude/skills/pdf .agents/skills/pdf
exits 'install --yes after the folders were deleted succeeds' 0 mapm install --yes
exits '[D14] remove without --yes succeeds for a folder that mapm made again'"'"'s alone now goes' 0 mapm remove pdf
exits '[D14] remove --yes of the other imported skill succeeds' 0 mapm remove only --yes

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
exits '[D14] import of servers without a catalog exits with 3' 3 mapm import
like 'import names each server with the commands that help' "$err" '\.mcp\.json:[0-9]+: not imported: mine: .*--from OWNER/REPO, or .*mapm new mcp'
ok 'import without a catalog leaves .mcp.json unchanged' cmp .mcp.json "$T/mcp.before"
exits '[D14] import of an equal server without --yes exits with 4' 4 mapm import --from acme/served
ok 'import without consent leaves .mcp.json unchanged' cmp .mcp.json "$T/mcp.before"
exits '[D14] import --yes of an equal server exits with 3 when others are left out' 3 mapm import --from acme/served --yes
like 'import takes over an equal server and says so' "$err" '\.mcp\.json:[0-9]+: mcp io\.acme/one: .*an equal server was there: mapm takes it over'
like 'import leaves a server that differs from the catalog' "$err" 'not imported: io-acme-two: \.mcp\.json#io-acme-two is a server of yours'
like 'import leaves a server that the catalog lacks' "$err" 'not imported: mine: no catalog of --from has .*mapm new mcp'
is 'import keeps all three servers in .mcp.json' "$(python3 -S -c 'import json; d = json.load(open(".mcp.json"))["mcpServers"]
print(sorted(d), d["io-acme-one"]["args"], d["io-acme-two"]["args"][-1], d["mine"])')" \
    "['io-acme-one', 'io-acme-two', 'mine'] ['-y', 'one'] --verbose {'command': './run'}"
like 'import writes the origin of the server to mapm.yaml' "$(cat mapm.yaml)" 'acme/served/tree/main/mcps/io\.acme_one\.json'
is 'import writes no other origin of the catalog to mapm.yaml' "$(grep -c acme/served mapm.yaml)" 1
exits 'install --locked --yes accepts the lock of imported servers' 0 mapm install --locked --yes
exits 'verify accepts the imported server' 0 mapm verify
exits '[D14] a second import of servers exits with 3' 3 mapm import --from acme/served --yes
unlike 'a second import does not name the imported server' "$err" io-acme-one
exits '[D14] import --json of servers exits with 3' 3 mapm import --from acme/served --yes --json
like 'import --json names the server that is left out' "$out" '"name": "mine"'
exits '[D14] remove of a server that import took over exits with 4' 4 mapm remove io.acme/one
like 'the error names the server that was there before import' "$err" '\.mcp\.json#io-acme-one was there before mapm import'
like 'the server stays after the refused remove' "$(cat .mcp.json)" '"io-acme-one"'
exits '[D14] install --yes after the refused remove succeeds' 0 mapm install --yes
exits '[D14] remove of the imported server exits with 4 after an install' 4 mapm remove io.acme/one
exits '[D14] remove --yes of the imported server succeeds' 0 mapm remove io.acme/one --yes
unlike 'remove --yes deletes the imported server from .mcp.json' "$(cat .mcp.json)" '"io-acme-one"'
like 'remove --yes keeps the other servers in .mcp.json' "$(cat .mcp.json)" '"io-acme-two"'
exits '[D14] install --yes of the server after its removal succeeds' 0 mapm install --yes acme/served/mcps/io.acme_one.json
exits '[D14] remove without --yes succeeds for a server that mapm wrote' 0 mapm remove io.acme/one
servers
mkdir "$T/else" 2>/dev/null; mv .mcp.json "$T/else/"
exits '[D14] import of .mcp.json of another folder exits with 3' 3 mapm import "$T/else/.mcp.json" --from acme/served --yes
like 'import names a server of another folder as not imported' "$err" 'not imported: io-acme-one: '
not_ok 'import takes no server over from another folder' test -e .mcp.json
done_testing

#!/bin/sh
# Packages of the workspace itself, and skills made by hand in .agents/skills. [D4, D8, F13]
# [row 2, row 15, row 16].
. "$(dirname "$0")/../lib/cli.sh"

# mapm ANSWER COMMAND...: on a terminal; what it showed in $out.
on_terminal()
{
    python3 -S - "$@" >"$T/out" <<'PYTHON'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(os.environ["MAPM"], ["mapm"] + sys.argv[2:])
out, asked = b"", False
try:
    while True:
        out += os.read(fd, 65536)
        if b"?" in out and not asked:
            asked = True
            os.write(fd, sys.argv[1].encode() + b"\n")
except OSError:
    pass
os.waitpid(pid, 0)
sys.stdout.write(out.decode())
PYTHON
    out=$(tr -d '\r' <"$T/out")
}
json()
{
    printf '%s\n' "$out" | python3 -S -c "import json, sys; d = json.load(sys.stdin); print($1)"
}

# --- a root of mapm.yaml ---------------------------------------------------------

mkdir -p .claude
skill skills/our-style
exits 'install of a folder of the workspace succeeds' 0 mapm install ./skills/our-style
like 'install shows the added skill of the workspace' "$out" '^  \+ skill our-style 1\.0\.0$'
is 'install writes the relative origin to mapm.yaml' "$(cat mapm.yaml)" "$(printf 'dependencies:\n  skills:\n    - ./skills/our-style')"
not_ok 'install of a folder of the workspace writes no mapm.local.yaml' test -e mapm.local.yaml
is '[F13] the lock entry of a skill of the workspace has origin and path alone' "$(cat mapm.lock)" 'version: 2
packages:
  - type: skill
    name: our-style
    origin: ./skills/our-style
    path: .agents/skills/our-style'
is 'the skill of the workspace is provisioned as a link' "$(readlink .agents/skills/our-style)" ../../skills/our-style
is 'the client has a link to the provisioned skill' "$(readlink .claude/skills/our-style)" ../../.agents/skills/our-style
ok 'the skill is readable through the link of the client' test -f .claude/skills/our-style/SKILL.md
cp mapm.lock "$T/lock"
snapshot . >"$T/before"
exits 'a second install succeeds' 0 mapm install
like 'a second install reports nothing to do' "$err" 'nothing to do'
is 'a second install writes no byte' "$(snapshot .)" "$(cat "$T/before")"
echo 'More text.' >>skills/our-style/SKILL.md
exits 'install --locked succeeds after an edit of a skill of the workspace' 0 mapm install --locked
ok 'an edit of a skill of the workspace leaves mapm.lock unchanged' cmp -s mapm.lock "$T/lock"
sed -i 's/^version: .*/version: 2.0.0/' skills/our-style/SKILL.md
exits 'install --locked succeeds after a change of its version' 0 mapm install --locked
exits 'verify accepts an edited skill of the workspace' 0 mapm verify
is 'verify reports the skill of the workspace as own' "$out" './skills/our-style: own'
exits 'verify --json succeeds with a skill of the workspace' 0 mapm verify --json
is 'verify --json lists the skill of the workspace under own' "$(json 'd["own"]')" "['./skills/our-style']"
run mapm list
like 'list shows the skill of the workspace as own' "$out" '^skill +our-style +- +own +\./skills/our-style'
run mapm list --json
is 'list --json shows the skill as own, not local and without digest' "$(json '[(p["own"], p["local"], p.get("digest")) for p in d["packages"]]')" '[(True, False, None)]'
run mapm tree
is 'tree marks the skill of the workspace as own' "$out" 'skill our-style (own)'
run mapm why our-style
is 'why marks the skill of the workspace as own' "$out" 'skill our-style (own)'
run mapm outdated
is 'outdated exits with 0 for a skill of the workspace' "$status" 0
run mapm skill load our-style
like 'skill load shows the current text of the skill' "$out" 'More text\.'
rm -rf .claude/skills/our-style .agents/skills/our-style
run mapm verify
like 'verify reports a removed link as missing' "$out" '^.agents/skills/our-style: missing$'
exits 'install --locked succeeds after the link was removed' 0 mapm install --locked
is 'install --locked makes the removed link again' "$(readlink .agents/skills/our-style)" ../../skills/our-style

# --- a clone ----------------------------------------------------------------------

mkdir "$T/clone"
cp -r mapm.yaml mapm.lock skills .claude "$T/clone"
rm -rf "$T/clone/.claude/skills"
cd "$T/clone" || exit
exits 'install --locked succeeds in a copy of the workspace' 0 mapm install --locked
ok 'install --locked in a copy links the skill of the workspace' test -f .agents/skills/our-style/SKILL.md
cd "$T/ws" || exit

run mapm diff
is 'diff shows nothing for an edited skill of the workspace' "$status $out" '0 '
exits 'restore of a skill of the workspace exits with 2' 2 mapm restore our-style
like 'the error of restore points to version control' "$err" 'version control'
exits 'diff of a skill of the workspace with a ref exits with 2' 2 mapm diff our-style@main
exits 'update of a skill of the workspace succeeds' 0 mapm update our-style
ok 'update of a skill of the workspace leaves mapm.lock unchanged' cmp -s mapm.lock "$T/lock"

# --- agents and servers ------------------------------------------------------------

mcp mcps/io.acme_tool.json io.acme/tool tool-server --safe
agent agents/boss 'dependencies:' '  skills:' '    - ./skills/our-style' '  mcps:' \
    '    - ./mcps/io.acme_tool.json'
exits 'install of an agent of the workspace with a server exits with 4' 4 mapm install ./agents/boss
like 'the error shows the command of the server of the workspace' "$err" 'tool-server --safe'
exits 'install --yes of an agent with needs in the workspace succeeds' 0 mapm install --yes ./agents/boss
is 'the agent of the workspace is provisioned as a link' "$(readlink .agents/agents/boss)" ../../agents/boss
ok 'the agent of the workspace is rendered for the client' test -f .claude/agents/boss.md
like 'the lock lists the needs of the agent of the workspace' "$(cat mapm.lock)" '^    needs: \[mcp io\.acme/tool, skill our-style\]$'
is 'the server alone has a digest in the lock' "$(grep -c '^    digest: sha256:' mapm.lock)" 1
run mapm why our-style
like 'why shows the chain from the agent of the workspace to the skill' "$out" '^agent boss \(own\) -> skill our-style \(own\)$'
exits 'check accepts an agent that needs packages of the workspace' 0 mapm check agents/boss
exits 'check --profile publish exits with 3 for such an agent' 3 mapm check --profile publish agents/boss
echo 'Edited.' >>agents/boss/AGENTS.md
run mapm verify
like 'verify reports the rendering of an edited agent as changed' "$out" '^.claude/agents/boss.md: changed$'
exits 'install --locked succeeds after an edit of the agent' 0 mapm install --locked
like 'install --locked renders the edited agent again' "$(cat .claude/agents/boss.md)" Edited
sed -i 's/--safe/--unsafe/' mcps/io.acme_tool.json
run mapm verify
like 'verify reports a server that changed since it was locked' "$out" '^\./mcps/io\.acme_tool\.json: changed since it was locked$'
exits 'install --locked fails for a changed server of the workspace' 1 mapm install --locked
like 'the error says that the server is not locked as it is' "$err" 'io\.acme/tool is not locked as it is'
exits 'install of a changed server without --yes exits with 4' 4 mapm install
like 'the error shows the changed command of the server' "$err" 'tool-server --unsafe'
unlike 'the configuration keeps the former command before consent' "$(cat .mcp.json)" unsafe
exits 'install --yes of a changed server succeeds' 0 mapm install --yes
like 'the configuration has the changed command after consent' "$(cat .mcp.json)" unsafe

# --- in the way --------------------------------------------------------------------

skill skills/taken
mkdir -p .agents/skills/taken
echo mine >.agents/skills/taken/notes
exits 'install succeeds when a folder of the user has the name of the skill' 0 mapm install ./skills/taken
like 'install warns that the folder of the user stays' "$err" '\.agents/skills/taken is a folder of yours and stays'
is 'install leaves the file in the folder of the user unchanged' "$(cat .agents/skills/taken/notes)" mine
exits 'a second install beside the folder of the user succeeds' 0 mapm install
unlike 'a second install does not repeat the warning' "$err" 'folder of yours'
exits 'remove of the skill beside a folder of the user succeeds' 0 mapm remove taken
is 'remove leaves the folder of the user unchanged' "$(cat .agents/skills/taken/notes)" mine
rm -rf .agents/skills/taken skills/taken

# --- removing ----------------------------------------------------------------------

mv skills/our-style "$T/away"
exits 'install fails when the folder of the skill is gone' 1 mapm install
like 'the error names the folder that is gone' "$err" 'skill \./skills/our-style, needed by boss$'
mv "$T/away" skills/our-style
exits 'remove fails for a skill that an agent still needs' 1 mapm remove our-style
exits 'remove of the agent and the skill succeeds' 0 mapm remove boss our-style
not_ok 'remove takes away the link of the skill' test -L .agents/skills/our-style
not_ok 'remove takes away the link of the client' test -L .claude/skills/our-style
not_ok 'remove takes away the rendering of the agent' test -e .claude/agents/boss.md
ok 'remove leaves the folder of the skill' test -f skills/our-style/SKILL.md

# --- a program ---------------------------------------------------------------------

skill skills/hello 'metaskill: SKILL.star' 'metaskill_language: starlark'
printf 'def run(input):\n    return "Hello."\n' >skills/hello/SKILL.star
exits 'install of a metaskill of the workspace succeeds' 0 mapm install ./skills/hello
exits 'a metaskill of the workspace runs without trust' 0 mapm run hello word=x
like 'run prints the answer of the metaskill' "$out" '"answer":"Hello\."'
printf 'def run(input):\n    return "Changed."\n' >skills/hello/SKILL.star
run mapm run hello word=x
like 'run uses the edited program without a new install' "$out" '"answer":"Changed\."'
exits 'trust of a metaskill of the workspace fails' 1 mapm trust hello
like 'the error of trust says that the metaskill is of this workspace' "$err" 'is of this workspace'
exits 'remove of a metaskill of the workspace succeeds' 0 mapm remove hello
rm -r skills/hello

# --- from a copy to a link, and back ------------------------------------------------

exits 'install of a file: origin inside the workspace succeeds' 0 mapm install "file:$PWD/skills/our-style"
like 'the file: origin is written to mapm.local.yaml' "$(cat mapm.local.yaml)" "file:$PWD/skills/our-style"
ok 'the skill of a file: origin is provisioned as a folder' test -d .agents/skills/our-style
not_ok 'the skill of a file: origin is not a link' test -L .agents/skills/our-style
exits 'install of the relative path replaces the file: origin' 0 mapm install ./skills/our-style
ok 'the replaced skill is provisioned as a link' test -L .agents/skills/our-style
unlike 'mapm.local.yaml has no file: origin any more' "$(cat mapm.local.yaml)" our-style

# --- what may not be one -------------------------------------------------------------

mkdir -p "$T/elsewhere"
skill "$T/elsewhere/outside"
ln -s "$T/elsewhere/outside" skills/outside
exits 'install fails for a link that leaves the workspace' 4 mapm install ./skills/outside
like 'the error says that the path is a symbolic link' "$err" 'symbolic link'
ln -s "$T/elsewhere" through
exits 'install fails for a path through a link' 4 mapm install ./through/outside
rm through skills/outside
skill skills/leaky
ln -s "$T/elsewhere/outside/SKILL.md" skills/leaky/more.md
exits 'install fails for a package with a link that leaves it' 4 mapm install ./skills/leaky
like 'the error says that a link leaves the package' "$err" 'a link that leaves the package'
rm -r skills/leaky
skill .agents/skills/hand
exits 'install fails for a folder in .agents/skills' 1 mapm install ./.agents/skills/hand
like 'the error says that skills in .agents/skills are used from there' "$err" 'used from there'
cp mapm.yaml "$T/yaml"
for path in ./../elsewhere/outside ./skills/../../x ./.git/x ./.GIT/x ./.agents/.mapm/x \
    ./.AGENTS/skills/x ./skills//x './skills/a b' ./ .. ./skills/.git; do
    printf 'dependencies:\n  skills:\n    - "%s"\n' "$path" >mapm.yaml
    exits "install refuses in mapm.yaml: $path" 1 mapm install
    like 'the error names the line of mapm.yaml' "$err" 'mapm\.yaml:3: origin'
done
printf 'dependencies:\n  skills:\n    - {origin: ./skills/our-style, as: other}\n' >mapm.yaml
exits 'install fails for a skill of the workspace with another name' 1 mapm install
like 'the error says that "as" is not for packages of the workspace' "$err" '"as" is not for packages of the workspace'
cp "$T/yaml" mapm.yaml
exits 'install --as of a skill of the workspace exits with 2' 2 mapm install ./skills/our-style --as other
printf 'dependencies:\n  skills:\n    - ./skills/our-style\n' >mapm.local.yaml
exits 'install fails for a skill of the workspace in mapm.local.yaml' 1 mapm install
like 'the error says that the origin belongs in mapm.yaml' "$err" 'mapm\.local\.yaml:3: .*belongs in mapm\.yaml'
rm -f mapm.local.yaml mapm.local.lock
skill "$T/elsewhere/thief" 'dependencies:' '  skills:' '    - ./skills/our-style'
exits 'install fails when a package from elsewhere needs a relative origin' 1 mapm install "file:$T/elsewhere/thief"
like 'the error says that the origin is neither https: nor file:' "$err" 'neither an https: URL nor a file: path'
cp mapm.lock "$T/lock"
sed -i 's/^version: 2/version: 1/' mapm.lock
exits '[F13] install fails for a relative origin in a lock of version 1' 1 mapm install
like 'the error names the line of the lock that needs version 2' "$err" 'mapm\.lock:5: "origin: \./\.\.\." needs version 2'
sed 's|\./skills/our-style|./.agents/.mapm/x|' "$T/lock" >mapm.lock
exits 'install fails for a lock with an origin in .agents/.mapm' 1 mapm install
sed 's|^    path: .agents/skills/our-style|    commit: 0123456789012345678901234567890123456789\n&|' \
    "$T/lock" >mapm.lock
exits 'install fails for a lock with a commit of a skill of the workspace' 1 mapm install
like 'the error says that "commit" is not for ./ packages' "$err" '"commit" is not for \./ packages'
cp "$T/lock" mapm.lock
skill skills/same 'name: our-style'
exits 'install fails for a second skill of the same name' 1 mapm install ./skills/same
rm -r skills/same
is 'the refused commands leave mapm.yaml unchanged' "$(cat mapm.yaml)" "$(cat "$T/yaml")"

# --- a catalog of the workspace ------------------------------------------------------

skill skills/second
exits 'install . --skill of a skill of the workspace succeeds' 0 mapm install . --skill second
like 'install . --skill writes the relative path to mapm.yaml' "$(cat mapm.yaml)" '    - \./skills/second$'
ok 'install . --skill links the skill for the client' test -f .claude/skills/second/SKILL.md

# --- by hand in .agents/skills --------------------------------------------------------

is 'a skill made by hand in .agents/skills is linked for the client' "$(readlink .claude/skills/hand)" ../../.agents/skills/hand
run mapm budget --json
is 'budget counts a skill made by hand' "$(json '["%s %d" % (c["name"], c["skills"]) for c in d["clients"] if c["name"] == "claude"]')" "['claude 3']"
unlike 'a skill made by hand is not in the lock' "$(cat mapm.lock)" hand
exits 'verify succeeds beside a skill made by hand' 0 mapm verify
exits 'a second install beside a skill made by hand succeeds' 0 mapm install
like 'a second install beside a skill made by hand reports nothing to do' "$err" 'nothing to do'
rm .claude/skills/hand .claude/skills/second
exits 'install succeeds after links of a client were removed' 0 mapm install
is '[D4] install lists each link that it makes again' "$out" '  + .claude/skills/second
  + .claude/skills/hand'
rm .agents/skills/second
exits 'install succeeds after the link to a skill of the workspace was removed' 0 mapm install
is '[D4] install reports the skill of the removed link as repaired' "$out" '  ~ skill second 1.0.0 (repaired)'
rm .claude/skills/hand
mkdir .claude/skills/hand
echo mine >.claude/skills/hand/SKILL.md
exits 'install succeeds when the client has a real folder of that name' 0 mapm install
like 'install warns that the folder of the client stays' "$err" '\.claude/skills/hand is a folder of yours and stays'
exits 'a second install beside the folder of the client succeeds' 0 mapm install
unlike 'a second install does not repeat the warning about the client' "$err" 'folder of yours'
rm -r .claude/skills/hand
exits 'install succeeds after the folder of the client is removed' 0 mapm install
ok 'the link of the client is made again' test -L .claude/skills/hand
rm -r .agents/skills/hand
exits 'install succeeds after the skill made by hand is removed' 0 mapm install
is '[D4] install lists the link that it removes' "$out" '  - .claude/skills/hand'
not_ok 'install removes the link of a removed skill' test -L .claude/skills/hand
mkdir .agents/skills/no-skill .agents/skills/Odd.Name
ln -s "$T/elsewhere/outside" .agents/skills/outside
exits 'install succeeds with other folders and links in .agents/skills' 0 mapm install
is 'folders without a skill and foreign links are not linked for the client' "$(ls .claude/skills)" "$(printf 'our-style\nsecond')"

# --- beside replacements ---------------------------------------------------------------

skill "$T/cat/skills/theirs"
agent agents/mixed 'dependencies:' '  skills:' '    - ./skills/second' \
    '    - https://github.com/acme/cat/tree/main/skills/theirs'
printf 'replace:\n  - {from: https://github.com/acme/cat, to: %s}\n' "$T/cat" >mapm.local.yaml
cp mapm.lock "$T/lock"
exits 'install of an agent that needs a replaced package succeeds' 0 mapm install ./agents/mixed
ok 'install provisions the replaced package' test -f .agents/skills/theirs/SKILL.md
exits 'a second install with a replaced package succeeds' 0 mapm install
like 'a second install with a replaced package reports nothing to do' "$err" 'nothing to do'
exits 'verify succeeds with a replaced package' 0 mapm verify
exits 'remove of the agent with a replaced need succeeds' 0 mapm remove mixed
rm -f mapm.local.*
rm -r agents/mixed
exits 'install succeeds after the replacement is gone' 0 mapm install
ok 'the lock is as before the replacement' cmp -s mapm.lock "$T/lock"

# --- a plugin of the workspace itself ------------------------------------------------

mapm new plugin box >/dev/null 2>&1
cat >plugins/box/mcp.json <<'JSON'
{"$schema": "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json",
 "mcpServers": {"web": {"type": "streamable-http", "url": "https://example.com/mcp"}}}
JSON
mkdir -p plugins/crew/.claude-plugin plugins/crew/agents
echo '{"name": "crew"}' >plugins/crew/.claude-plugin/plugin.json
printf -- '---\ndescription: d\n---\nbody\n' >plugins/crew/agents/pilot.md
exits '[D8] install --yes of plugins of the workspace succeeds' 0 mapm install --yes ./plugins/box ./plugins/crew
exits '[D8] verify accepts plugins of the workspace' 0 mapm verify
like '[D8] verify reports a plugin of the workspace as own' "$out" '^\./plugins/box: own$'
sed -i 's/example\.com/example.org/' .mcp.json
exits '[D8] verify exits with 3 for an edited server configuration of a plugin' 3 mapm verify
exits '[D8] install --yes --force repairs the server configuration' 0 mapm install --yes --force
sed -i 's/example\.com/example.org/' plugins/box/mcp.json
exits '[D8] verify exits with 3 for a changed server in the plugin itself' 3 mapm verify
exits '[D8] remove of both plugins succeeds' 0 mapm remove box crew
rm -r plugins

# --- mapm new -------------------------------------------------------------------------

exits 'new skill succeeds' 0 mapm new skill fresh
like 'new shows the command that installs the skill' "$err" 'to use it here: mapm install \./skills/fresh'
unlike 'new without a terminal leaves mapm.yaml unchanged' "$(cat mapm.yaml)" fresh
on_terminal n new skill later
like 'new on a terminal asks whether to add the skill to mapm.yaml' "$out" 'Add \./skills/later to mapm\.yaml\?'
unlike 'no on a terminal leaves mapm.yaml unchanged' "$(cat mapm.yaml)" later
on_terminal y new skill now
like 'yes on a terminal adds the skill to mapm.yaml' "$(cat mapm.yaml)" '    - \./skills/now$'
ok 'yes on a terminal links the skill for the client' test -f .claude/skills/now/SKILL.md
on_terminal y new mcp io.acme/new
unlike 'new mcp on a terminal does not ask' "$out" 'Add '
mkdir "$T/bare"
cd "$T/bare" || exit
on_terminal y new skill alone
unlike 'new on a terminal does not ask in a folder without mapm.yaml' "$out" 'Add '
not_ok 'new in a folder without mapm.yaml creates none' test -e mapm.yaml

# --- the workspace as a marketplace, and as a catalog ----------------------------------

mkdir "$T/whole" && cd "$T/whole" || exit
mkdir -p .claude .claude-plugin plugins/crew/agents
echo '{"name": "m", "owner": {"name": "x"}, "plugins": [{"name": "crew", "source": "./plugins/crew", "description": "d"}]}' \
    >.claude-plugin/marketplace.json
printf -- '---\nname: pilot\ndescription: d\n---\nbody\n' >plugins/crew/agents/pilot.md
skill skills/one
exits '[G11] install ./ --plugin of a workspace that is a marketplace succeeds' 0 mapm install --yes ./ --plugin crew
exits '[G11] verify accepts a plugin of the marketplace' 0 mapm verify
like '[D8] verify reports the plugin of the marketplace as own' "$out" '^\./plugins/crew: own$'
sed -i 's/body/by hand/' .agents/agents/pilot/AGENTS.md
exits '[X45] verify exits with 3 for an edited sub-agent of the plugin' 3 mapm verify
exits '[X45] install --yes --force repairs the sub-agent' 0 mapm install --yes --force
sed -i 's/body/another/' plugins/crew/agents/pilot.md
exits '[X45] verify exits with 3 for a sub-agent that changed in the plugin' 3 mapm verify
exits '[X45] install --yes takes the changed sub-agent' 0 mapm install --yes
exits '[X45] verify succeeds after the changed sub-agent is installed' 0 mapm verify
exits '[D8] remove of the plugin of the marketplace succeeds' 0 mapm remove crew
exits '[D11] install ./ --all of the workspace as a catalog succeeds' 0 mapm install --yes ./ --all
exits '[D11] verify accepts the workspace as a catalog' 0 mapm verify
like '[D11] mapm.yaml has the workspace as one root' "$(cat mapm.yaml)" '^    - origin: \./$'
exits '[D11] install --locked succeeds with the workspace as a catalog' 0 mapm install --locked
ok '[D11] a skill of the workspace catalog is linked for the client' test -f .claude/skills/one/SKILL.md
printf 'dependencies:\n  skills: [./]\n' >mapm.yaml
exits '[D8] install fails for the workspace itself under skills' 1 mapm install
like '[D8] the error says that the workspace itself is not a package' "$err" 'the workspace itself, no package'
done_testing

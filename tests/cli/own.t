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
exits 'a folder of the workspace' 0 mapm install ./skills/our-style
like 'is shown' "$out" '^  \+ skill our-style 1\.0\.0$'
is 'it is committed' "$(cat mapm.yaml)" "$(printf 'dependencies:\n  skills:\n    - ./skills/our-style')"
not_ok 'nothing is local' test -e mapm.local.yaml
is '[F13] the lock says where it lies, and no more' "$(cat mapm.lock)" 'version: 2
packages:
  - type: skill
    name: our-style
    origin: ./skills/our-style
    path: .agents/skills/our-style'
is 'it is linked' "$(readlink .agents/skills/our-style)" ../../skills/our-style
is 'for clients, too' "$(readlink .claude/skills/our-style)" ../../.agents/skills/our-style
ok 'and read there' test -f .claude/skills/our-style/SKILL.md
cp mapm.lock "$T/lock"
snapshot . >"$T/before"
exits 'again' 0 mapm install
like 'there is nothing to do' "$err" 'nothing to do'
is 'not a byte was written' "$(snapshot .)" "$(cat "$T/before")"
echo 'More text.' >>skills/our-style/SKILL.md
exits 'an edit is live' 0 mapm install --locked
ok 'and no change of the lock' cmp -s mapm.lock "$T/lock"
sed -i 's/^version: .*/version: 2.0.0/' skills/our-style/SKILL.md
exits 'nor is another version' 0 mapm install --locked
exits 'verify' 0 mapm verify
is 'names it own' "$out" './skills/our-style: own'
exits 'verify --json' 0 mapm verify --json
is 'likewise' "$(json 'd["own"]')" "['./skills/our-style']"
run mapm list
like 'list' "$out" '^skill +our-style +- +own +\./skills/our-style'
run mapm list --json
is 'list --json' "$(json '[(p["own"], p["local"], p.get("digest")) for p in d["packages"]]')" '[(True, False, None)]'
run mapm tree
is 'tree' "$out" 'skill our-style (own)'
run mapm why our-style
is 'why' "$out" 'skill our-style (own)'
run mapm outdated
is 'it is never outdated' "$status" 0
run mapm skill load our-style
like 'it is loaded as it is now' "$out" 'More text\.'
rm -rf .claude/skills/our-style .agents/skills/our-style
run mapm verify
like 'a link that is gone is missing' "$out" '^.agents/skills/our-style: missing$'
exits 'install' 0 mapm install --locked
is 'puts it back' "$(readlink .agents/skills/our-style)" ../../skills/our-style

# --- a clone ----------------------------------------------------------------------

mkdir "$T/clone"
cp -r mapm.yaml mapm.lock skills .claude "$T/clone"
rm -rf "$T/clone/.claude/skills"
cd "$T/clone" || exit
exits 'a clone has it by its lock' 0 mapm install --locked
ok 'linked' test -f .agents/skills/our-style/SKILL.md
cd "$T/ws" || exit

run mapm diff
is 'diff has nothing of it' "$status $out" '0 '
exits 'nor is it restored' 2 mapm restore our-style
like 'the workspace has its history' "$err" 'version control'
exits 'or compared with a ref' 2 mapm diff our-style@main
exits 'update leaves it' 0 mapm update our-style
ok 'as it was' cmp -s mapm.lock "$T/lock"

# --- agents and servers ------------------------------------------------------------

mcp mcps/io.acme_tool.json io.acme/tool tool-server --safe
agent agents/boss 'dependencies:' '  skills:' '    - ./skills/our-style' '  mcps:' \
    '    - ./mcps/io.acme_tool.json'
exits 'a server requires consent' 4 mapm install ./agents/boss
like 'its command is shown' "$err" 'tool-server --safe'
exits 'an agent needs what is beside it' 0 mapm install --yes ./agents/boss
is 'it is linked' "$(readlink .agents/agents/boss)" ../../agents/boss
ok 'rendered for clients' test -f .claude/agents/boss.md
like 'its needs are locked' "$(cat mapm.lock)" '^    needs: \[mcp io\.acme/tool, skill our-style\]$'
is 'the server alone has a digest' "$(grep -c '^    digest: sha256:' mapm.lock)" 1
run mapm why our-style
like 'why has the chain' "$out" '^agent boss \(own\) -> skill our-style \(own\)$'
exits 'check is content with it' 0 mapm check agents/boss
exits 'but nobody else could install it' 3 mapm check --profile publish agents/boss
echo 'Edited.' >>agents/boss/AGENTS.md
run mapm verify
like 'a rendering is old' "$out" '^.claude/agents/boss.md: changed$'
exits 'install' 0 mapm install --locked
like 'renders it again' "$(cat .claude/agents/boss.md)" Edited
sed -i 's/--safe/--unsafe/' mcps/io.acme_tool.json
run mapm verify
like 'a changed server' "$out" '^\./mcps/io\.acme_tool\.json: changed since it was locked$'
exits 'is not what was locked' 1 mapm install --locked
like 'and says so' "$err" 'io\.acme/tool is not locked as it is'
exits 'it needs another yes' 4 mapm install
like 'for its command' "$err" 'tool-server --unsafe'
unlike 'which did not start before that' "$(cat .mcp.json)" unsafe
exits 'which it gets' 0 mapm install --yes
like 'and it is in the file' "$(cat .mcp.json)" unsafe

# --- in the way --------------------------------------------------------------------

skill skills/taken
mkdir -p .agents/skills/taken
echo mine >.agents/skills/taken/notes
exits 'a real folder of that name wins' 0 mapm install ./skills/taken
like 'and is named' "$err" '\.agents/skills/taken is a folder of yours and stays'
is 'it is as it was' "$(cat .agents/skills/taken/notes)" mine
exits 'again' 0 mapm install
unlike 'it is named once' "$err" 'folder of yours'
exits 'remove' 0 mapm remove taken
is 'leaves it' "$(cat .agents/skills/taken/notes)" mine
rm -rf .agents/skills/taken skills/taken

# --- removing ----------------------------------------------------------------------

mv skills/our-style "$T/away"
exits 'a folder that is gone' 1 mapm install
like 'is named' "$err" '\./skills/our-style: there is no such file or folder'
mv "$T/away" skills/our-style
exits 'it is still needed' 1 mapm remove our-style
exits 'remove' 0 mapm remove boss our-style
not_ok 'takes the link' test -L .agents/skills/our-style
not_ok 'that of the client, too' test -L .claude/skills/our-style
not_ok 'the rendering' test -e .claude/agents/boss.md
ok 'and not the folder' test -f skills/our-style/SKILL.md

# --- a program ---------------------------------------------------------------------

skill skills/hello 'metaskill: SKILL.star' 'metaskill_language: starlark'
printf 'def run(input):\n    return "Hello."\n' >skills/hello/SKILL.star
exits 'a metaskill' 0 mapm install ./skills/hello
exits 'runs as one that was written here' 0 mapm run hello word=x
like 'its answer' "$out" '"answer":"Hello\."'
printf 'def run(input):\n    return "Changed."\n' >skills/hello/SKILL.star
run mapm run hello word=x
like 'as it is now' "$out" '"answer":"Changed\."'
exits 'it is trusted with its workspace' 1 mapm trust hello
like 'and by no digest' "$err" 'is of this workspace'
exits 'and leaves' 0 mapm remove hello
rm -r skills/hello

# --- from a copy to a link, and back ------------------------------------------------

exits 'file: is of this machine' 0 mapm install "file:$PWD/skills/our-style"
like 'as before' "$(cat mapm.local.yaml)" "file:$PWD/skills/our-style"
ok 'a copy' test -d .agents/skills/our-style
not_ok 'no link' test -L .agents/skills/our-style
exits 'the folder takes its place' 0 mapm install ./skills/our-style
ok 'linked now' test -L .agents/skills/our-style
unlike 'and no file: root' "$(cat mapm.local.yaml)" our-style

# --- what may not be one -------------------------------------------------------------

mkdir -p "$T/elsewhere"
skill "$T/elsewhere/outside"
ln -s "$T/elsewhere/outside" skills/outside
exits 'a link out of the workspace' 4 mapm install ./skills/outside
like 'is refused' "$err" 'symbolic link'
ln -s "$T/elsewhere" through
exits 'one on the way' 4 mapm install ./through/outside
rm through skills/outside
skill skills/leaky
ln -s "$T/elsewhere/outside/SKILL.md" skills/leaky/more.md
exits 'one in the package' 4 mapm install ./skills/leaky
like 'leads out of it' "$err" 'a link that leaves the package'
rm -r skills/leaky
skill .agents/skills/hand
exits 'what is in .agents' 1 mapm install ./.agents/skills/hand
like 'needs no root' "$err" 'used from there'
cp mapm.yaml "$T/yaml"
for path in ./../elsewhere/outside ./skills/../../x ./.git/x ./.GIT/x ./.agents/.mapm/x \
    ./.AGENTS/skills/x ./skills//x './skills/a b' ./ .. ./skills/.git; do
    printf 'dependencies:\n  skills:\n    - "%s"\n' "$path" >mapm.yaml
    exits "refused in mapm.yaml: $path" 1 mapm install
    like 'with its line' "$err" 'mapm\.yaml:3: origin'
done
printf 'dependencies:\n  skills:\n    - {origin: ./skills/our-style, as: other}\n' >mapm.yaml
exits 'a link has no other name' 1 mapm install
like 'it says so' "$err" '"as" is not for packages of the workspace'
cp "$T/yaml" mapm.yaml
exits 'nor by --as' 2 mapm install ./skills/our-style --as other
printf 'dependencies:\n  skills:\n    - ./skills/our-style\n' >mapm.local.yaml
exits 'nor is it of one machine' 1 mapm install
like 'so it stands in mapm.yaml' "$err" 'mapm\.local\.yaml:3: .*belongs in mapm\.yaml'
rm -f mapm.local.yaml mapm.local.lock
skill "$T/elsewhere/thief" 'dependencies:' '  skills:' '    - ./skills/our-style'
exits 'nothing from elsewhere may need it' 1 mapm install "file:$T/elsewhere/thief"
like 'it is no origin there' "$err" 'neither an https: URL nor a file: path'
cp mapm.lock "$T/lock"
sed -i 's/^version: 2/version: 1/' mapm.lock
exits '[F13] version 1 has no such origin' 1 mapm install
like 'its line is named' "$err" 'mapm\.lock:5: "origin: \./\.\.\." needs version 2'
sed 's|\./skills/our-style|./.agents/.mapm/x|' "$T/lock" >mapm.lock
exits 'a lock cannot name such a place' 1 mapm install
sed 's|^    path: .agents/skills/our-style|    commit: 0123456789012345678901234567890123456789\n&|' \
    "$T/lock" >mapm.lock
exits 'nor a commit' 1 mapm install
like 'it says so' "$err" '"commit" is not for \./ packages'
cp "$T/lock" mapm.lock
skill skills/same 'name: our-style'
exits 'two of one name' 1 mapm install ./skills/same
rm -r skills/same
is 'after all that mapm.yaml is as it was' "$(cat mapm.yaml)" "$(cat "$T/yaml")"

# --- a catalog of the workspace ------------------------------------------------------

skill skills/second
exits 'all of it' 0 mapm install . --skill second
like 'by its places' "$(cat mapm.yaml)" '    - \./skills/second$'
ok 'linked' test -f .claude/skills/second/SKILL.md

# --- by hand in .agents/skills --------------------------------------------------------

is 'a skill made by hand is linked' "$(readlink .claude/skills/hand)" ../../.agents/skills/hand
run mapm budget --json
is 'and counted by budget' "$(json '["%s %d" % (c["name"], c["skills"]) for c in d["clients"] if c["name"] == "claude"]')" "['claude 3']"
unlike 'it is in no lock' "$(cat mapm.lock)" hand
exits 'verify' 0 mapm verify
exits 'again' 0 mapm install
like 'there is nothing to do' "$err" 'nothing to do'
rm .claude/skills/hand .claude/skills/second
exits 'links that are gone' 0 mapm install
is '[D4] are told, of packages that stay, too' "$out" '  + .claude/skills/second
  + .claude/skills/hand'
rm .claude/skills/hand
mkdir .claude/skills/hand
echo mine >.claude/skills/hand/SKILL.md
exits 'a real folder of that name wins' 0 mapm install
like 'and is named' "$err" '\.claude/skills/hand is a folder of yours and stays'
exits 'again' 0 mapm install
unlike 'it is named once' "$err" 'folder of yours'
rm -r .claude/skills/hand
exits 'without it the link is back' 0 mapm install
ok 'as before' test -L .claude/skills/hand
rm -r .agents/skills/hand
exits 'the source goes' 0 mapm install
is '[D4] it is told' "$out" '  - .claude/skills/hand'
not_ok 'and the link with it' test -L .claude/skills/hand
mkdir .agents/skills/no-skill .agents/skills/Odd.Name
ln -s "$T/elsewhere/outside" .agents/skills/outside
exits 'other folders and links' 0 mapm install
is 'are not linked' "$(ls .claude/skills)" "$(printf 'our-style\nsecond')"

# --- beside replacements ---------------------------------------------------------------

skill "$T/cat/skills/theirs"
agent agents/mixed 'dependencies:' '  skills:' '    - ./skills/second' \
    '    - https://github.com/acme/cat/tree/main/skills/theirs'
printf 'replace:\n  - {from: https://github.com/acme/cat, to: %s}\n' "$T/cat" >mapm.local.yaml
cp mapm.lock "$T/lock"
exits 'it may need what is replaced on this machine' 0 mapm install ./agents/mixed
ok 'that is there' test -f .agents/skills/theirs/SKILL.md
exits 'again' 0 mapm install
like 'there is nothing to do' "$err" 'nothing to do'
exits 'verify' 0 mapm verify
exits 'and it can go' 0 mapm remove mixed
rm -f mapm.local.*
rm -r agents/mixed
exits 'as before' 0 mapm install
ok 'the lock, too' cmp -s mapm.lock "$T/lock"

# --- a plugin of the workspace itself ------------------------------------------------

mapm new plugin box >/dev/null 2>&1
cat >plugins/box/mcp.json <<'JSON'
{"$schema": "https://agent-plugins.org/schemas/1.0.0/mcp.schema.json",
 "mcpServers": {"web": {"type": "streamable-http", "url": "https://example.com/mcp"}}}
JSON
mkdir -p plugins/crew/.claude-plugin plugins/crew/agents
echo '{"name": "crew"}' >plugins/crew/.claude-plugin/plugin.json
printf -- '---\ndescription: d\n---\nbody\n' >plugins/crew/agents/pilot.md
exits '[D8] plugins of the workspace' 0 mapm install --yes ./plugins/box ./plugins/crew
exits '[D8] verify takes them as they are' 0 mapm verify
like '[D8] and names them' "$out" '^\./plugins/box: own$'
sed -i 's/example\.com/example.org/' .mcp.json
exits '[D8] their servers are compared' 3 mapm verify
exits '[D8] and are put back' 0 mapm install --yes --force
sed -i 's/example\.com/example.org/' plugins/box/mcp.json
exits '[D8] a changed server is not what the lock has' 3 mapm verify
exits '[D8] they can go' 0 mapm remove box crew
rm -r plugins

# --- mapm new -------------------------------------------------------------------------

exits 'new' 0 mapm new skill fresh
like 'says how to use it' "$err" 'to use it here: mapm install \./skills/fresh'
unlike 'and does nothing' "$(cat mapm.yaml)" fresh
on_terminal n new skill later
like 'on a terminal it asks' "$out" 'Add \./skills/later to mapm\.yaml\?'
unlike 'no is no' "$(cat mapm.yaml)" later
on_terminal y new skill now
like 'yes' "$(cat mapm.yaml)" '    - \./skills/now$'
ok 'it is linked' test -f .claude/skills/now/SKILL.md
on_terminal y new mcp io.acme/new
unlike 'a server is to be written first' "$out" 'Add '
mkdir "$T/bare"
cd "$T/bare" || exit
on_terminal y new skill alone
unlike 'nothing is asked without mapm.yaml' "$out" 'Add '
not_ok 'none is made' test -e mapm.yaml

# --- the workspace as a marketplace, and as a catalog ----------------------------------

mkdir "$T/whole" && cd "$T/whole" || exit
mkdir -p .claude .claude-plugin plugins/crew/agents
echo '{"name": "m", "owner": {"name": "x"}, "plugins": [{"name": "crew", "source": "./plugins/crew", "description": "d"}]}' \
    >.claude-plugin/marketplace.json
printf -- '---\nname: pilot\ndescription: d\n---\nbody\n' >plugins/crew/agents/pilot.md
skill skills/one
exits '[G11] the workspace as a marketplace' 0 mapm install --yes ./ --plugin crew
exits '[G11] can be read again' 0 mapm verify
like '[D8] its plugin is taken as it is' "$out" '^\./plugins/crew: own$'
sed -i 's/body/by hand/' .agents/agents/pilot/AGENTS.md
exits '[X45] its sub-agent is compared' 3 mapm verify
exits '[X45] and put back' 0 mapm install --yes --force
sed -i 's/body/another/' plugins/crew/agents/pilot.md
exits '[X45] with what its file says now' 3 mapm verify
exits '[X45] which an install takes' 0 mapm install --yes
exits '[X45] then it is the same' 0 mapm verify
exits '[D8] it can go' 0 mapm remove crew
exits '[D11] the workspace as a catalog' 0 mapm install --yes ./ --all
exits '[D11] can be read again' 0 mapm verify
like '[D11] as one root' "$(cat mapm.yaml)" '^    - origin: \./$'
exits '[D11] of all its packages' 0 mapm install --locked
ok '[D11] as they are' test -f .claude/skills/one/SKILL.md
printf 'dependencies:\n  skills: [./]\n' >mapm.yaml
exits '[D8] it is no package' 1 mapm install
like '[D8] which is said' "$err" 'the workspace itself, no package'
done_testing

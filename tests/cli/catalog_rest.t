#!/bin/sh
# What --all does not take, and says so: packages outside of a catalog's folders,
# and those whose place holds something of the user's. [F4]
. "$(dirname "$0")/../lib/cli.sh"
U=https://github.com/acme/catalog/tree/main
s=$T/src

fresh()
{
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
}
# field PATH-EXPRESSION: of the JSON on standard output.
field()
{
    printf '%s\n' "$out" | python3 -c '
import json, sys
d = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"
}

for name in pdf docx xlsx; do skill "$s/skills/$name"; done
skill "$s/skills/reader" 'dependencies:' '  skills:' "    - $U/skills/pdf"
for name in one two three; do skill "$s/plugins/$name/skills/$name"; done
skill "$s/extra/four"
make_repo acme/catalog "$s"
start_githost

# --- outside of skills/ ------------------------------------------------------------------

exits 'install --all of a catalog succeeds' 0 mapm install --yes --all acme/catalog
is '[F4] elsewhere: install --all takes the packages of the catalog folders' "$(ls .agents/skills | tr '\n' ' ')" 'docx pdf reader xlsx '
like '[F4] elsewhere: one line counts the other packages and names a command' "$err" \
    '^acme/catalog has 4 more outside of its agents, mcps and skills: name the folder, as in mapm install acme/catalog/plugins --all'
fresh
exits '[F4] elsewhere: install --all -v succeeds' 0 mapm install --yes --all -v acme/catalog
like '[F4] elsewhere: -v counts the packages of the first folder' "$err" '^ *3 in plugins$'
like '[F4] elsewhere: -v counts the packages of the second folder' "$err" '^ *1 in extra$'
fresh
exits '[F4] elsewhere: install --all --json succeeds' 0 mapm install --yes --all --json acme/catalog
is '[F4] elsewhere: --json has the path of each other package' "$(field '[x["path"] for x in d["elsewhere"]]')" \
    "['extra/four', 'plugins/one/skills/one', 'plugins/three/skills/three', 'plugins/two/skills/two']"
exits '[F4] elsewhere: the command of the message succeeds' 0 mapm install --yes --all acme/catalog/plugins
is '[F4] elsewhere: the command of the message installs the other packages' "$(ls .agents/skills | wc -l)" 7
unlike '[F4] elsewhere: install of a named folder does not mention other folders' "$err" 'more outside'
exits '[F4] elsewhere: install without a choice lists the catalog' 0 mapm install acme/catalog
like '[F4] elsewhere: the list counts the other packages' "$err" 'has 4 more outside'
is '[F4] elsewhere: the list has the packages of the catalog folders alone' "$(printf '%s\n' "$out" | grep -c ^skill)" 4

# Names of folders are a stranger's: none reaches a terminal raw, or a command.
odd=$T/odd
skill "$odd/skills/pdf"
skill "$odd/a b\$(touch pwned)/one" && skill "$odd/a b\$(touch pwned)/two"
skill "$odd/$(printf 'line\nmapm: installed')/three"
skill "$odd/$(printf 'esc\033[31m')/four"
make_repo acme/odd "$odd"
fresh
exits '[F4] elsewhere: install --all -v succeeds with odd folder names' 0 mapm install --yes --all -v acme/odd
like '[F4] elsewhere: the message builds no command from an odd folder name' "$err" '^acme/odd has 2 more outside of its agents, mcps and skills: name the folder:$'
unlike '[F3] (f) an odd folder name forges no line and no escape sequence' "$err" '^mapm: installed|esc'
skill "$odd/plain/five"
make_repo acme/odd "$odd"
exits '[F4] elsewhere: install --all succeeds with a plain folder name too' 0 mapm install --yes --all acme/odd
like '[F4] elsewhere: the command of the message has the plain folder name' "$err" 'has 3 more .*: name the folder, as in mapm install acme/odd/plain --all '

# --- a folder in the way -----------------------------------------------------------------

# mine: a workspace with a skill of the user's own, of the same name.
mine()
{
    fresh && skill .agents/skills/pdf 'description: "My own."'
    snapshot .agents/skills/pdf >"$T/mine"
}
mine
exits '[F4] in the way: install --all exits 3 beside a skill of the user' 3 mapm install --yes --all acme/catalog
is '[F4] in the way: install --all leaves out the skill and what needs it' "$(ls .agents/skills | tr '\n' ' ')" 'docx pdf xlsx '
is '[F4] in the way: install --all leaves the skill of the user unchanged' "$(snapshot .agents/skills/pdf)" "$(cat "$T/mine")"
like '[F4] in the way: the message names both packages that are left out' "$err" 'left out, in-the-way: pdf, reader needs pdf'
exits '[F4] in the way: install --locked succeeds afterwards' 0 mapm install --locked
exits '[F4] in the way: verify succeeds afterwards' 0 mapm verify
mine
exits '[F4] in the way: install --all --json exits 3' 3 mapm install --yes --all --json acme/catalog
is '[F4] in the way: --json has code and chain of each left out package' \
    "$(field '[(x["name"], x["code"], len(x["chain"])) for x in d["left_out"]]')" \
    "[('pdf', 'in-the-way', 1), ('reader', 'in-the-way', 2)]"
like '[F4] in the way: --json has the way out' "$(field 'd["left_out"][0]["message"]')" \
    '^.agents/skills/pdf is there, and mapm did not make it: move it away, or .* --force'
mine
before=$(snapshot .agents/skills)
exits '[F4] in the way: install --all --strict fails' 1 mapm install --yes --all --strict acme/catalog
exits '[F4] in the way: install --skill of the package fails' 1 mapm install --yes acme/catalog --skill pdf
exits '[F4] in the way: install by the path of the package fails' 1 mapm install --yes acme/catalog/skills/pdf
exits '[F4] in the way: install --all --skill of the package fails' 1 mapm install --yes --all --skill pdf acme/catalog
is '[F4] in the way: failed installs leave all skills unchanged' "$(snapshot .agents/skills)" "$before"
is '[F4] in the way: failed installs leave the skill of the user unchanged' "$(snapshot .agents/skills/pdf)" "$(cat "$T/mine")"
exits '[F4] in the way: install --all --force succeeds' 0 mapm install --yes --all --force acme/catalog
ok '[F4] in the way: install --force keeps a backup of the skill of the user' sh -c 'grep -rq "My own" .agents/.mapm/backup'
fresh && mkdir -p .agents/skills && ln -s "$T/home" .agents/skills/pdf
exits '[F4] in the way: install --all exits 3 beside a link of the user' 3 mapm install --yes --all acme/catalog
ok '[F4] in the way: install --all keeps the link of the user' test -L .agents/skills/pdf
fresh && mkdir -p .agents/skills && cp -r "$s/skills/pdf" .agents/skills
exits '[F4] install --all succeeds when the skill of the user is identical' 0 mapm install --yes --all acme/catalog

exits '[F4] verify succeeds when the skill of the user is identical' 0 mapm verify

# --- a server of the user's own in the way -----------------------------------------------

t=$T/served
mcp "$t/mcps/io.acme_tool.json" io.acme/tool npx -y tool
mcp "$t/mcps/io.acme_other.json" io.acme/other npx -y other
skill "$t/skills/plain"
agent "$t/agents/boss" 'dependencies:' '  mcps:' \
    '    - https://github.com/acme/served/tree/main/mcps/io.acme_tool.json'
make_repo acme/served "$t"
# served ENTRY: a workspace whose .mcp.json has an entry of the server's key.
served()
{
    fresh && printf '{"mcpServers": {"io-acme-tool": %s}}\n' "$1" >.mcp.json && cp .mcp.json "$T/own.json"
}
served '{"command": "mine"}'
exits '[F4] a server in the way: install --all exits 3' 3 mapm install --yes --all acme/served
ok '[F4] a server in the way: install --all installs the skill' test -f .agents/skills/plain/SKILL.md
is '[F4] a server in the way: the server of the user stays unchanged' \
    "$(python3 -c 'import json; d = json.load(open(".mcp.json"))["mcpServers"]; print(sorted(d), d["io-acme-tool"])')" \
    "['io-acme-other', 'io-acme-tool'] {'command': 'mine'}"
like '[F4] a server in the way: the message names it and the agent that needs it' "$err" 'left out, in-the-way: boss needs tool, io.acme/tool|in-the-way: .*boss needs .*tool'
exits '[F4] a server in the way: install --locked succeeds afterwards' 0 mapm install --locked --yes
served '{"command": "mine"}'
exits '[F4] a server in the way: install --all --json exits 3' 3 mapm install --yes --all --json acme/served
is '[F4] a server in the way: --json has code and chain of each package' \
    "$(field 'sorted((x["name"], x["code"], len(x["chain"])) for x in d["left_out"])')" \
    "[('boss', 'in-the-way', 2), ('io.acme_tool', 'in-the-way', 1)]"
like '[F4] a server in the way: --json says that it is of the user, and the way out' \
    "$(field '[x["message"] for x in d["left_out"] if x["name"] != "boss"][0]')" \
    '^.mcp.json#io-acme-tool is a server of yours, which mapm did not write: rename or remove .* --force'
served '{"command": "mine"}'
exits '[F4] a server in the way: install of the server alone fails' 1 mapm install --yes acme/served/mcps/io.acme_tool.json
like '[F4] a server in the way: the error names its key' "$err" 'already has a server "io-acme-tool" that mapm did not write'
exits '[F4] a server in the way: install --all --strict fails' 1 mapm install --yes --all --strict acme/served
is '[F4] a server in the way: failed installs leave .mcp.json unchanged' "$(cat .mcp.json)" "$(cat "$T/own.json")"
served '{"command": "mine"}' && rm .mcp.json && mapm install --yes --all acme/served >"$T/log" 2>&1
cp .mcp.json "$T/equal.json" && fresh && cp "$T/equal.json" .mcp.json
exits '[F4] install --all succeeds when the server of the user is identical' 0 mapm install --yes --all acme/served
served '{"command": "mine"}'
exits '[F4] a server in the way: install --all --force succeeds' 0 mapm install --yes --all --force acme/served
ok '[F4] a server in the way: install --force keeps a backup of the file' sh -c 'grep -rq mine .agents/.mapm/backup'
fresh && mkdir .cursor && printf '{"mcpServers": {"io-acme-tool": {"command": "mine"}}}\n' >.cursor/mcp.json
exits '[F4] a server in the way: install --all exits 3 for the file of a client' 3 mapm install --yes --all --json acme/served
like '[F4] a server in the way: the message names the file of the client' \
    "$(field '[x["message"] for x in d["left_out"] if x["name"] != "boss"][0]')" '^.cursor/mcp.json#io-acme-tool '

# --- long chains to what is left out -----------------------------------------------------

# 500 skills, each needs the next, and the last one is not there.
python3 - "$T/long" <<'P'
import os, sys
for i in range(500):
    folder = "%s/skills/s%03d" % (sys.argv[1], i)
    os.makedirs(folder)
    open(folder + "/SKILL.md", "w").write(
        "---\nname: s%03d\ndescription: \"A skill.\"\nversion: 1.0.0\ndependencies:\n  skills:\n"
        "    - https://github.com/acme/long/tree/main/skills/s%03d\n---\n" % (i, i + 1))
P
make_repo acme/long "$T/long"
fresh
exits '[F4] install --all exits 3 for 500 skills that need a missing one' 3 mapm install --yes --all --json acme/long
is '[F7] the chains of --json have at most 101,000 links in total' \
    "$(field 'len(d["left_out"]), sum(len(x["chain"]) for x in d["left_out"]) <= 101000')" '(500, True)'
is '[F4] each chain has its ends and the number of omitted links' \
    "$(field '{(x["chain"][0] == x["origin"], x["chain"][-1][-4:], len(x["chain"]) + x["chain_omitted"] == 501 - int(x["name"][1:])) for x in d["left_out"]}')" \
    "{(True, 's500', True)}"
is '[F4] some chains of more than 100 links are complete' "$(field 'any(x["chain_omitted"] == 0 and len(x["chain"]) > 100 for x in d["left_out"])')" True
fresh
exits '[F4] install --all -v exits 3 for long chains' 3 mapm install --yes --all -v acme/long
like '[F4] -v prints how many packages of a chain it omits' "$err" '^ *needs: [1-9][0-9]* packages in a row, and then$'

# --- a client's folder or file in the way ------------------------------------------------

agent "$s/agents/judge" && make_repo acme/catalog "$s"
# claude WHAT CODE: --all leaves `WHAT` out because of what stands in .claude.
claude()
{
    snapshot .claude >"$T/mine"
    exits "[F4] a $1 of the user in a client folder: install --all exits 3" 3 mapm install --yes --all acme/catalog
    like "[F4] a $1 of the user in a client folder: the message names it" "$err" "left out, in-the-way.*: $2"
    is "[F4] a $1 of the user in a client folder: the others are installed" "$(ls -d .agents/*/* | wc -l)" "$3"
    exits "[F4] a $1 of the user in a client folder: install --locked succeeds" 0 mapm install --locked
    exits "[F4] a $1 of the user in a client folder: verify succeeds" 0 mapm verify
}
fresh && skill .claude/skills/pdf 'description: "My own."'
claude folder 'pdf, reader needs pdf' 3
is "[F4] install --all leaves a folder of the user in a client folder unchanged" "$(snapshot .claude/skills/pdf)" \
    "$(mkdir "$T/x" && skill "$T/x/pdf" 'description: "My own."' && snapshot "$T/x/pdf")"
fresh && mkdir -p .claude/skills && ln -s ../../mine .claude/skills/pdf
claude link 'pdf, reader needs pdf' 3
is "[F4] install --all keeps a link of the user in a client folder" "$(readlink .claude/skills/pdf)" ../../mine
fresh && mkdir -p .claude/agents && echo mine >.claude/agents/judge.md
claude sub-agent judge 4
is "[F4] install --all keeps a sub-agent of the user in a client folder" "$(cat .claude/agents/judge.md)" mine
fresh && mkdir -p .claude/skills && ln -s ../../.agents/skills/pdf .claude/skills/pdf
exits "[F4] install --all accepts the link of mapm in a client folder" 0 mapm install --yes --all acme/catalog
rm -r .agents mapm.yaml mapm.lock
exits "[F4] install --all accepts a sub-agent that mapm wrote" 0 mapm install --yes --all acme/catalog
fresh && mkdir -p .devin/agents && echo mine >.devin/agents/judge.md
exits "[F4] install --all ignores a sub-agent of a client that is not in use" 0 mapm install --yes --all acme/catalog

# --- a deep tree -------------------------------------------------------------------------

# chain COUNT: a lock in which each package needs all that come after it.
chain()
{
    python3 - "$1" <<'P'
import sys
n = int(sys.argv[1])
hex = "0123456789012345678901234567890123456789"
names = ["s%04d" % i for i in range(n)]
with open("mapm.lock", "w") as f:
    f.write("version: 1\npackages:\n")
    for i, name in enumerate(names):
        f.write("  - type: skill\n    name: %s\n    origin: https://github.com/acme/catalog/tree/main/%s\n"
                "    commit: %s\n    tree: %s\n    digest: sha256:%s\n    path: .agents/skills/%s\n" %
                (name, name, hex, hex, hex + hex[:24], name))
        if i + 1 < n:
            f.write("    needs: [%s]\n" % ", ".join("skill " + x for x in names[i + 1:]))
open("mapm.yaml", "w").write("dependencies:\n  skills:\n    - https://github.com/acme/catalog/tree/main/s0000\n")
P
}
fresh && chain 4
exits 'tree succeeds for four packages' 0 mapm tree
is 'tree prints each package below the packages that need it' "$out" 'skill s0000
├── skill s0001
│   ├── skill s0002
│   │   └── skill s0003
│   └── skill s0003
├── skill s0002 (*)
└── skill s0003'
chain 400
exits '[row 11] tree succeeds with 400 levels' 0 mapm tree
is '[row 11] tree prints each edge once' "$(printf '%s\n' "$out" | wc -l)" 79801
at_most '[row 11] tree indents a line by at most 50 levels' \
    "$(printf '%s\n' "$out" | awk '{ if (length($0) > n) n = length($0) } END { print n }')" 340
like '[row 11] tree prints the number of levels that it does not indent' "$out" '^\[300\] .*skill s0351'
done_testing

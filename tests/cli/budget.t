#!/bin/sh
# `mapm budget`: what clients load at their start, and what finds no room. [T12]
# [T31, L6, X23, X25, G5].
. "$(dirname "$0")/../lib/cli.sh"

# json PYTHON-EXPRESSION: of $out, the document d; c its clients by name.
json()
{
    printf '%s\n' "$out" | python3 -S -c '
import json, sys
d = json.load(sys.stdin)
c = {x["name"]: x for x in d["clients"]}
r = eval(sys.argv[1])
print("yes" if r is True else "no" if r is False else r)' "$1" 2>&1
}
# described FOLDER CHARACTERS: a skill whose description has so many.
described()
{
    skill "$1" "description: $(head -c "$2" /dev/zero | tr '\0' x)"
}

# All that the table began with are on this machine.
mkdir bin
for client in codex gemini opencode copilot qwen cline amp code cursor; do
    printf '#!/bin/sh\n' >bin/$client && chmod +x bin/$client
done
PATH=$PWD/bin:$PATH

exits 'nothing' 0 mapm budget --json
is 'costs nothing' "$(json 'all(x["skills"] == x["chars"] == x["tokens"] == 0 for x in d["clients"])')" yes
is 'each row has its date' "$(json 'all(x["seen"] for x in d["clients"] if x["name"] != "mapm mcp")')" yes
is 'the limits that are known' "$(json 'c["claude"]["max_chars"], c["codex"]["max_chars"], c["gemini"]["max_chars"]')" \
    '(8000, 8000, None)'

exits 'clients that are not here' 0 mapm budget --json -v
is 'have theirs, too [H6]' "$(json 'c["openclaw"]["max_chars"], c["zed"]["max_chars"], c["windsurf"]["max_tools"], c["zed"]["max_tools"]')" \
    '(18000, 50000, 100, None)'
like 'in the table [H6]' "$(mapm budget -v)" '
windsurf .*
    at most 100 tools of all its servers'
exits 'those that are here' 0 mapm budget --json
is 'not one that is neither here nor named' "$(json '"grok" in c')" no
echo 'clients: [grok]' >mapm.yaml
exits 'a client of mapm.yaml' 0 mapm budget --json
is 'has a row before it is installed [G5]' "$(json '"grok" in c')" yes
rm mapm.yaml

described .agents/skills/ab 10
exits 'one skill' 0 mapm budget --json
is 'is "- ab: xxxxxxxxxx" and a line end' "$(json 'c["codex"]["skills"], c["codex"]["chars"], c["codex"]["tokens"]')" \
    '(1, 17, 4)'
is 'for those that look there' "$(json '[n for n, x in c.items() if not x["skills"]]')" "['claude']"
mkdir -p .claude && ln -s ../.agents/skills .claude/skills
exits 'a link' 0 mapm budget --json
is 'counts for those that look there' "$(json 'c["claude"]["skills"]')" 1
is 'once for those that look twice' "$(json 'c["opencode"]["skills"], c["opencode"]["chars"]')" '(1, 17)'
skill .agents/skills/mine 'disable-model-invocation: true'
exits 'what only a person starts' 0 mapm budget --json
is 'is not told to a model that knows of it [L6]' "$(json 'c["claude"]["skills"], c["codex"]["skills"], c["mapm mcp"]["skills"]')" \
    '(1, 2, 1)'
rm -r .agents/skills/mine
described "$HOME/.agents/skills/ab" 300
described "$HOME/.codex/skills/cd" 30
exits 'those of the home folder' 0 mapm budget --json
is 'count, too, and the workspace wins [X23]' "$(json 'c["codex"]["skills"], c["codex"]["chars"]')" '(2, 54)'

for i in 01 02 03 04 05 06 07 08 09; do
    described ".agents/skills/long-$i" 1000
done
exits 'what is too much' 3 mapm budget --json
is 'finds no room' "$(json 'c["codex"]["dropped"], c["claude"]["dropped"]')" "(['long-08', 'long-09'], [])"
is 'but Claude Code, which has it by names [G5]' "$(json 'c["claude"]["skills"], c["claude"]["undescribed"], c["claude"]["chars"] > c["claude"]["sent_chars"]')" \
    "(10, ['long-08', 'long-09'], True)"
is 'what is sent counts [G5]' "$(json 'c["codex"]["sent_chars"] <= 8000, c["codex"]["tokens"] == c["codex"]["sent_chars"] // 4')" '(True, True)'
exits 'a larger window' 3 mapm budget --json --context-window 1000000
is 'has more room [G5]' "$(json 'c["claude"]["max_chars"], c["claude"]["undescribed"]')" '(40000, [])'
exits 'as Claude Code is told' 3 env SLASH_COMMAND_TOOL_CHAR_BUDGET=300 "$MAPM" budget --json
is 'by its variable [G5]' "$(json 'c["claude"]["max_chars"], len(c["claude"]["undescribed"])')" '(300, 9)'
for bad in 0 x -1; do
    exits "--context-window $bad" 2 mapm budget "--context-window=$bad"
done
exits 'all of it' 3 mapm budget --json
is 'the biggest come first' "$(json '[(x["name"], x["chars"]) for x in d["biggest"]][:2], len(d["biggest"])')" \
    "([('long-01', 1012), ('long-02', 1012)], 5)"
exits 'for a person' 3 mapm budget
like 'with its limit' "$out" '^codex +11 +9[0-9]{3} +8000 +0 +1[0-9]{3}$'
like 'and what is left out' "$out" '^ +no room for long-08, long-09$'
like 'and what has its name alone [G5]' "$out" '^ +no room for the descriptions of long-08, long-09$'
like 'and the biggest' "$out" "^ +1012  long-01  $PWD/\.agents/skills/long-01\$"
told()
{
    python3 -S - "$ROOT" <<'PYTHON'
import sys
sys.path.insert(0, sys.argv[1] + "/tests/lib")
from mcp_client import Server
s = Server()
print(len(s.open()["instructions"]))
s.close()
PYTHON
}
mapm -q trust --workspace --yes
run mapm budget --json
is 'the server of mapm costs what it tells in a trusted workspace [G4]' "$(json 'c["mapm mcp"]["chars"]')" "$(told)"
is 'never more than its limit' "$(json 'c["mapm mcp"]["chars"] <= 2000')" yes
skill .agents/skills/prog 'metaskill: SKILL.star'
echo 'def run(input): return 1' >.agents/skills/prog/SKILL.star
for i in 1 2 3 4 5 6; do described ".agents/skills/more-$i" 1000; done
run mapm budget --json
is 'also what is cut, and how to run metaskills' "$(json 'c["mapm mcp"]["chars"]')" "$(told)"

# --- links: as clients follow them [G5] ---------------------------------------------------
skill outside/afar
mkdir -p links/.agents/skills links/.claude/skills && touch links/mapm.yaml
ln -s ../../../outside/afar links/.agents/skills/afar && ln -s ../../.agents/skills/afar links/.claude/skills/afar
exits 'a link out of the workspace' 0 mapm -C links budget --json
is 'is followed by all, and counted once [G5]' \
    "$(json '[x["folder"].rsplit("/", 3)[-1] for x in d["biggest"]].count("afar"), c["codex"]["skills"], c["claude"]["skills"]')" '(1, 3, 1)'

# --- instructions: each client has its own, of some the first that is there --------------
printf '\303\244%.0s' 1 2 3 4 5 6 7 8 >AGENTS.md
mkdir -p "$HOME/.codex" && head -c 400 /dev/zero | tr '\0' y >"$HOME/.codex/AGENTS.md"
run mapm budget --json
is 'counted in characters, for who reads them' \
    "$(json '[[i["chars"] for i in c[n]["instructions"]] for n in ("claude", "codex", "gemini", "opencode")]')" \
    '[[8], [8, 400], [], [8]]'
is 'and they are part of the whole' "$(json 'c["codex"]["start_tokens"] - c["codex"]["tokens"]')" 102
is 'by the names of the files' "$(json 'c["codex"]["instructions"][0]["file"]')" "$PWD/AGENTS.md"
echo 'other words' >CLAUDE.md
run mapm budget --json
is 'Claude Code reads one of the two' "$(json '[i["file"][-9:] for n in ("claude", "codex") for i in c[n]["instructions"]]')" \
    "['CLAUDE.md', 'AGENTS.md', 'AGENTS.md']"
rm CLAUDE.md && ln -s AGENTS.md CLAUDE.md
run mapm budget --json
is 'by a link, too' "$(json 'c["claude"]["instructions"][0]["chars"]')" 8
rm AGENTS.md CLAUDE.md && mkfifo AGENTS.md
exits 'what is no file is passed over' 3 mapm budget --json
is 'and nothing waits for it' "$(json 'c["claude"]["instructions"]')" '[]'
rm AGENTS.md
exits 'no arguments' 2 mapm budget x
done_testing

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

exits 'budget --json without skills succeeds' 0 mapm budget --json
is 'budget reports no skills and no tokens for all clients' "$(json 'all(x["skills"] == x["chars"] == x["tokens"] == 0 for x in d["clients"])')" yes
is 'budget has the date of each client' "$(json 'all(x["seen"] for x in d["clients"] if x["name"] != "mapm mcp")')" yes
is 'budget has the known limits of clients' "$(json 'c["claude"]["max_chars"], c["codex"]["max_chars"], c["gemini"]["max_chars"]')" \
    '(8000, 8000, None)'

exits 'budget --json -v succeeds' 0 mapm budget --json -v
is 'budget -v has the limits of clients that are not installed [H6]' "$(json 'c["openclaw"]["max_chars"], c["zed"]["max_chars"], c["windsurf"]["max_tools"], c["zed"]["max_tools"]')" \
    '(18000, 50000, 100, None)'
like 'budget -v shows the limit of tools in the table [H6]' "$(mapm budget -v)" '
windsurf .*
    at most 100 tools of all its servers'
exits 'budget --json with installed clients succeeds' 0 mapm budget --json
is 'budget leaves out a client that is neither installed nor named' "$(json '"grok" in c')" no
echo 'clients: [grok]' >mapm.yaml
exits 'budget --json with a client in mapm.yaml succeeds' 0 mapm budget --json
is 'budget has a client of mapm.yaml that is not installed [G5]' "$(json '"grok" in c')" yes
rm mapm.yaml

described .agents/skills/ab 10
exits 'budget --json with one skill succeeds' 0 mapm budget --json
is 'a skill counts as its name, its description and a line end' "$(json 'c["codex"]["skills"], c["codex"]["chars"], c["codex"]["tokens"]')" \
    '(1, 17, 4)'
is 'a skill in .agents counts for all clients but claude' "$(json '[n for n, x in c.items() if not x["skills"]]')" "['claude']"
mkdir -p .claude && ln -s ../.agents/skills .claude/skills
exits 'budget --json with a link to the skills succeeds' 0 mapm budget --json
is 'a linked skill counts for claude' "$(json 'c["claude"]["skills"]')" 1
is 'a skill that opencode finds twice counts once' "$(json 'c["opencode"]["skills"], c["opencode"]["chars"]')" '(1, 17)'
skill .agents/skills/mine 'disable-model-invocation: true'
exits 'budget --json with a skill for persons alone succeeds' 0 mapm budget --json
is 'such a skill does not count for clients that know the field [L6]' "$(json 'c["claude"]["skills"], c["codex"]["skills"], c["mapm mcp"]["skills"]')" \
    '(1, 2, 1)'
rm -r .agents/skills/mine
described "$HOME/.agents/skills/ab" 300
described "$HOME/.codex/skills/cd" 30
exits 'budget --json with skills in the home succeeds' 0 mapm budget --json
is 'skills of the home count and those of the workspace hide them [X23]' "$(json 'c["codex"]["skills"], c["codex"]["chars"]')" '(2, 54)'

for i in 01 02 03 04 05 06 07 08 09; do
    described ".agents/skills/long-$i" 1000
done
exits 'budget --json with too long descriptions ends with exit code 3' 3 mapm budget --json
is 'budget lists the skills that codex drops' "$(json 'c["codex"]["dropped"], c["claude"]["dropped"]')" "(['long-08', 'long-09'], [])"
is 'budget lists the skills that claude has by name only [G5]' "$(json 'c["claude"]["skills"], c["claude"]["undescribed"], c["claude"]["chars"] > c["claude"]["sent_chars"]')" \
    "(10, ['long-08', 'long-09'], True)"
is 'the tokens of codex are those of the characters sent [G5]' "$(json 'c["codex"]["sent_chars"] <= 8000, c["codex"]["tokens"] == c["codex"]["sent_chars"] // 4')" '(True, True)'
exits 'budget --context-window ends with exit code 3' 3 mapm budget --json --context-window 1000000
is 'a larger context window gives claude more room [G5]' "$(json 'c["claude"]["max_chars"], c["claude"]["undescribed"]')" '(40000, [])'
exits 'budget with the variable of Claude Code ends with exit code 3' 3 env SLASH_COMMAND_TOOL_CHAR_BUDGET=300 "$MAPM" budget --json
is 'the variable of Claude Code sets its limit [G5]' "$(json 'c["claude"]["max_chars"], len(c["claude"]["undescribed"])')" '(300, 9)'
for bad in 0 x -1; do
    exits "budget --context-window with $bad is a usage error" 2 mapm budget "--context-window=$bad"
done
exits 'budget --json with many skills ends with exit code 3' 3 mapm budget --json
is 'budget lists the five biggest skills, the biggest first' "$(json '[(x["name"], x["chars"]) for x in d["biggest"]][:2], len(d["biggest"])')" \
    "([('long-01', 1012), ('long-02', 1012)], 5)"
exits 'budget with many skills ends with exit code 3' 3 mapm budget
like 'the table of budget has the limit of codex' "$out" '^codex +11 +9[0-9]{3} +8000 +0 +1[0-9]{3}$'
like 'the table of budget has the skills without room' "$out" '^ +no room for long-08, long-09$'
like 'the table of budget has the skills without description [G5]' "$out" '^ +no room for the descriptions of long-08, long-09$'
like 'the table of budget has the biggest skills with their paths' "$out" "^ +1012  long-01  $PWD/\.agents/skills/long-01\$"
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
is 'the server of mapm counts as many characters as its instructions [G4]' "$(json 'c["mapm mcp"]["chars"]')" "$(told)"
is 'the server of mapm counts at most 2000 characters' "$(json 'c["mapm mcp"]["chars"] <= 2000')" yes
skill .agents/skills/prog 'metaskill: SKILL.star'
echo 'def run(input): return 1' >.agents/skills/prog/SKILL.star
for i in 1 2 3 4 5 6; do described ".agents/skills/more-$i" 1000; done
run mapm budget --json
is 'the server of mapm counts cut texts and metaskills as it sends them' "$(json 'c["mapm mcp"]["chars"]')" "$(told)"

# --- links: as clients follow them [G5] ---------------------------------------------------
skill outside/afar
mkdir -p links/.agents/skills links/.claude/skills && touch links/mapm.yaml
ln -s ../../../outside/afar links/.agents/skills/afar && ln -s ../../.agents/skills/afar links/.claude/skills/afar
exits 'budget --json with a link out of the workspace ends with exit code 0' 0 mapm -C links budget --json
is 'a link out of the workspace counts once for each client [G5]' \
    "$(json '[x["folder"].rsplit("/", 3)[-1] for x in d["biggest"]].count("afar"), c["codex"]["skills"], c["claude"]["skills"]')" '(1, 3, 1)'

# --- instructions: each client has its own, of some the first that is there --------------
printf '\303\244%.0s' 1 2 3 4 5 6 7 8 >AGENTS.md
mkdir -p "$HOME/.codex" && head -c 400 /dev/zero | tr '\0' y >"$HOME/.codex/AGENTS.md"
run mapm budget --json
is 'instructions count in characters for the clients that read them' \
    "$(json '[[i["chars"] for i in c[n]["instructions"]] for n in ("claude", "codex", "gemini", "opencode")]')" \
    '[[8], [8, 400], [], [8]]'
is 'instructions are part of the tokens at the start' "$(json 'c["codex"]["start_tokens"] - c["codex"]["tokens"]')" 102
is 'budget has the path of a file of instructions' "$(json 'c["codex"]["instructions"][0]["file"]')" "$PWD/AGENTS.md"
echo 'other words' >CLAUDE.md
run mapm budget --json
is 'claude counts CLAUDE.md in place of AGENTS.md' "$(json '[i["file"][-9:] for n in ("claude", "codex") for i in c[n]["instructions"]]')" \
    "['CLAUDE.md', 'AGENTS.md', 'AGENTS.md']"
rm CLAUDE.md && ln -s AGENTS.md CLAUDE.md
run mapm budget --json
is 'claude counts a CLAUDE.md that is a link' "$(json 'c["claude"]["instructions"][0]["chars"]')" 8
rm AGENTS.md CLAUDE.md && mkfifo AGENTS.md
exits 'budget with a FIFO as AGENTS.md ends with exit code 3' 3 mapm budget --json
is 'budget does not wait for a FIFO' "$(json 'c["claude"]["instructions"]')" '[]'
rm AGENTS.md
exits 'budget with an argument is a usage error' 2 mapm budget x
done_testing

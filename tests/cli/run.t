#!/bin/sh
# mapm run: what it takes, prints and returns [K9, K13, K19, K20, K30, K31, K32]
# [K33, K34, K37, X14, X27]. What stands behind ask, command, trust and tapes has tests of its own.
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/terminal.sh"

# metaskill FOLDER: one that reads its program from standard input.
metaskill()
{
    mkdir -p "$1"
    printf -- '---\nname: %s\ndescription: For a test. Use it never.\n---\n\n%s\n' \
        "${1##*/}" 'Input keys:

- `word`: what to say.' >"$1/SKILL.md"
    cat >"$1/SKILL.star"
}
echo 'dependencies: {}' >mapm.yaml
metaskill .agents/skills/echo <<'STAR'
def run(input):
    return {"status": "said", "answer": str(input.get("word")), "input": input}
STAR
metaskill elsewhere/hello <<'STAR'
def run(input):
    return "hello"
STAR
metaskill .agents/skills/broken <<'STAR'
def run(input):
    return 1 // 0
STAR
skill .agents/skills/static
envelope()
{
    printf '%s' "$out" | sed 1d | python3 -S -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1:]:
    value = value[key]
print(json.dumps(value, ensure_ascii=False))' "$@"
}

json_of()
{
    printf '%s' "$out" | python3 -S -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1:]:
    value = value[key]
print(json.dumps(value))' "$@"
}

# --- input [K9, K20, X14] -----------------------------------------------------------

exits 'run accepts key=value pairs as input' 0 mapm run echo word=hi
like '[K31] run prints a header line with name and end' "$out" '^\[Metaskill: echo completed\]$'
is 'run prints two lines' "$(printf '%s\n' "$out" | wc -l)" 2
is 'a value that is not JSON becomes a string' "$(envelope input)" '{"word": "hi"}'
exits 'run accepts JSON values in pairs' 0 mapm run echo n=1 b=true l='[1, "x"]' \
    o='{"a": null}' s='"1"' e= eq=a=b
is 'values that are JSON keep their type' "$(envelope input)" \
    '{"n": 1, "b": true, "l": [1, "x"], "o": {"a": null}, "s": "1", "e": "", "eq": "a=b"}'
exits 'run accepts --input with a JSON object' 0 mapm run echo --input '{"word": "é", "n": 12345678901234567890}'
is '--input passes the JSON object unchanged' "$(envelope input)" '{"word": "é", "n": 12345678901234567890}'
echo '{"word": "file"}' >in.json
exits 'run accepts --input @FILE' 0 mapm run echo --input @in.json
is '--input @FILE reads the file' "$(envelope answer)" '"file"'
exits 'run accepts --input -' 0 sh -c '"$MAPM" run echo --input - <in.json'
is '--input - reads standard input' "$(envelope answer)" '"file"'
exits 'run accepts pairs together with --input' 0 mapm run echo --input @in.json n=2
is 'pairs add keys to the object of --input' "$(envelope input)" '{"word": "file", "n": 2}'
exits '[K9] run without input exits with 1' 1 mapm run echo
like 'run without input prints the error of other hosts' "$out" '^error: input is required\.'
like 'run without input prints the body of the skill' "$out" '^- `word`: what to say\.$'
like 'run without input prints how to retry' "$out" '^Retry run_metaskill with the correct input keys\.$'
exits '[X14] run accepts an empty object as input' 0 mapm run echo --input '{}'
is 'an empty object reaches the program as it is' "$(envelope input)" '{}'
for bad in '[]' '1' 'x' '{"a":1,"a":2}' '{"a":}' ''; do
    exits "[K20] the input \"$bad\" is wrong usage" 2 mapm run echo --input "$bad"
    is 'run with a wrong input prints nothing to standard output' "$out" ''
done
exits 'run exits with 2 for an argument without "="' 2 mapm run echo word
exits 'run exits with 2 for a repeated key' 2 mapm run echo word=1 word=2
exits 'run exits with 1 for a missing input file' 1 mapm run echo --input @none.json

# --- which program [K13, K14, K34, K37] ---------------------------------------------

exits '[K13] run accepts the relative path of a folder' 0 mapm run ./elsewhere/hello --input '{}'
like 'a metaskill outside of the folders of skills runs by its path' "$out" '"answer":"hello"'
mv elsewhere/hello "$T/hello"
exits 'run accepts the absolute path of a folder' 0 mapm run "$T/hello" --input '{}'
like 'a metaskill outside of the workspace runs by its path' "$out" '"answer":"hello"'
mkdir -p sub/deep
metaskill skills/mine <<'STAR'
def run(input):
    return "mine"
STAR
exits '[K14] run finds a metaskill in the folder skills by name' 0 mapm run mine --input '{}'
like 'run prints the answer of the metaskill in the folder skills' "$out" '"answer":"mine"'
metaskill .agents/skills/team/deep/nested <<'STAR'
def run(input):
    return "from below"
STAR
exits 'run finds a metaskill in a group of folders by name [K14]' 0 mapm run nested --input '{}'
like 'run prints the answer of the metaskill in a group' "$out" 'from below'
exits 'run accepts the path of a metaskill in a group' 0 mapm run .agents/skills/team/deep/nested --input '{}'
like 'run by path prints the answer of the metaskill in a group' "$out" 'from below'
rm -r .agents/skills/team
metaskill .agents/skills/mine <<'STAR'
def run(input):
    return "installed"
STAR
exits '[K14] run succeeds for a name in both folders of skills' 0 mapm run mine --input '{}'
like 'a metaskill in .agents/skills has precedence over one in skills' "$out" '"answer":"installed"'
rm -r .agents/skills/mine
exits 'run from a subfolder of the workspace succeeds' 0 mapm -C sub/deep run echo word=x
like 'run from a subfolder finds the metaskill of the workspace' "$out" '"answer":"x"'
exits '[K34] run of an unknown name exits with 1' 1 mapm run ecko --input '{}'
is 'the error of an unknown name has the words of other hosts' "$out" "error: unknown metaskill: 'ecko'"
like 'the hint of an unknown name suggests a similar one' "$err" 'did you mean echo\?'
exits '[K34] run --json of an unknown name exits with 1' 1 mapm run --json ecko --input '{}'
is '[D18] run --json shows the error of an unknown name once' "$(json_of error messages)" "[\"unknown metaskill: 'ecko'\"]"
is 'run --json shows the suggestion as hint' "$(json_of error hint)" '"did you mean echo?"'
mkdir -p skills/bare
echo 'def run(input): return {}' >skills/bare/SKILL.star
exits '[K34] run of a program without a SKILL.md exits with 1' 1 mapm run bare --input '{}'
like 'the error says that the folder has no SKILL.md' "$err" 'the folder of bare has no SKILL.md'
rm -r skills/bare
exits '[K34] run of a static skill exits with 1' 1 mapm run static --input '{}'
is 'the error of a static skill has the words of other hosts' "$out" "error: skill 'static' is not a metaskill"
skill .agents/skills/lua 'metaskill: p.lua
metaskill_language: lua'
echo 'x = 1' >.agents/skills/lua/p.lua
run mapm run lua
is '[F3] the error of another metaskill_language has the words of other hosts' "$out" \
    "error: skill 'lua' is not a metaskill"
like '[F3] the cause on standard error names file, line and language' "$err" \
    '/lua/SKILL.md:[0-9]+: metaskill_language is "lua", and only "starlark"'
rm -r .agents/skills/lua
exits '[K33] run of a failing program exits with 1' 1 mapm run broken --input '{}'
like 'the error of a failing program names file, line, column and cause' "$out" \
    "^error: metaskill 'broken': SKILL\.star:2:14: floored division by zero\$"
like 'run of a failing program prints a traceback to standard error' "$err" '^Traceback \(most recent call last\):'
exits 'run -g of a metaskill of the workspace exits with 1' 1 mapm run -g echo word=x
is 'run -g reports a metaskill of the workspace as unknown' "$out" "error: unknown metaskill: 'echo'"
unlike 'run -g does not suggest a metaskill of the workspace' "$err" 'did you mean'

# --- policy [K37, X27] ----------------------------------------------------------------

printf 'dependencies: {}\nruntime: {metaskills: off}\n' >mapm.yaml
exits 'run exits with 4 when mapm.yaml has metaskills: off' 4 mapm run echo word=x
is 'the error of metaskills: off has the words of other hosts' "$out" \
    "error: external metaskill 'echo' is not allowed (policy: off)"
like 'the error of metaskills: off names runtime.metaskills' "$err" 'runtime\.metaskills'
for level in local trusted; do
    printf 'dependencies: {}\nruntime: {metaskills: %s}\n' $level >mapm.yaml
    exits "metaskills: $level allows a metaskill of the workspace" 0 mapm run echo word=x
done
echo 'dependencies: {}' >mapm.yaml
exits 'run inside of an ask exits with 4' 4 env MAPM_DEPTH=1 "$MAPM" run echo word=x
exits 'run with an invalid MAPM_DEPTH exits with 4' 4 env MAPM_DEPTH=-1 "$MAPM" run echo word=x
exits 'run with MAPM_DEPTH=0 succeeds' 0 env MAPM_DEPTH=0 "$MAPM" run echo word=x

# --- budgets [K30] ---------------------------------------------------------------------

metaskill .agents/skills/commands <<'STAR'
def run(input):
    for i in range(input["n"]):
        command(["true"])
    return "done"
STAR
exits '[K30] run with --max-command-calls 0 exits with 1 at the first command' 1 mapm run commands --max-command-calls 0 --allow true n=1
like 'the error of --max-command-calls 0 names the budget' "$out" "^error: metaskill 'commands': .*budget"
exits '[K30] run with --max-command-calls 2 exits with 1 at the third command' 1 mapm run commands --max-command-calls 2 --allow true n=3
exits 'run with --max-command-calls 2 allows two commands' 0 mapm run commands --max-command-calls 2 --allow true n=2
for bad in 0 21 -1 x 1.5; do
    exits "run exits with 2 for --max-ask-calls $bad" 2 mapm run echo --max-ask-calls "$bad" word=x
done
exits 'run exits with 2 for --max-command-calls 101' 2 mapm run echo --max-command-calls 101 word=x
exits 'run exits with 2 for --timeout 3601' 2 mapm run echo --timeout 3601 word=x
printf 'dependencies: {}\nlimits: {run_max_commands: 1}\n' >mapm.yaml
exits 'run exits with 2 for --max-command-calls above the limit of mapm.yaml' 2 mapm run commands --max-command-calls 2 n=1
like 'the error names the line of mapm.yaml with the limit' "$err" 'mapm\.yaml:2 sets run_max_commands'
exits 'run accepts --max-command-calls below the limit of mapm.yaml' 0 mapm run echo --max-command-calls 0 word=x
exits 'the limit of mapm.yaml holds without an option' 1 mapm run commands --allow true n=2
echo 'dependencies: {}' >mapm.yaml
metaskill .agents/skills/endless <<'STAR'
def run(input):
    for i in range(1000000000000):
        pass
STAR
exits '[K30] run of an endless loop exits with 1 after --timeout' 1 mapm run endless --timeout 1 --input '{}'
like 'the error of an endless loop names the time limit' "$out" "^error: metaskill 'endless': .*1 s"
"$MAPM" run endless --input '{}' >"$T/out" 2>"$T/err" &
pid=$!
is_running()
{
    mapm runs --json | grep -q '"running"'
}
await is_running
kill -TERM $pid
wait $pid
is 'SIGTERM ends run with exit code 130' $? 130
like 'SIGTERM ends run with an error of the metaskill' "$(cat "$T/out")" "^error: metaskill 'endless': "

# --- who answers ------------------------------------------------------------------------

for bad in bogus exec:; do
    exits "run exits with 2 for --ask $bad" 2 mapm run echo --ask "$bad" word=x
    is 'run with a wrong --ask prints nothing to standard output' "$out" ''
done
exits 'run with a missing --ask program succeeds when nothing is asked' 0 \
    mapm run echo --ask exec:no-such-program word=x

# --- what is printed --------------------------------------------------------------------

exits 'run --json succeeds' 0 mapm run echo --json word=x
is 'run --json prints the envelope alone' "$(printf '%s' "$out" | python3 -S -c '
import json, sys; print(json.load(sys.stdin)["status"])')" said
exits 'run --json of a failing program exits with 1' 1 mapm run broken --json --input '{}'
is 'run --json prints an error document with schema and code' "$(printf '%s' "$out" | python3 -S -c '
import json, sys; d = json.load(sys.stdin); print(d["schema"], d["error"]["code"])')" \
    'mapm.error/1 failed'
exits 'run --json of an unknown name exits with 1 again' 1 mapm run none --json --input '{}'
like 'run --json shows the code not-found for an unknown name' "$out" '"not-found"'
metaskill .agents/skills/steps <<'STAR'
def run(input):
    print("printed\x1b[31m")
    trace("looked", {"at": "it"})
    return None
STAR
exits '[K32] run of a program that returns None succeeds' 0 mapm run steps --input '{}'
like 'the result None gives an empty answer with status ok' "$out" '"status":"ok","answer":""'
is 'run prints nothing of print and trace without --trace' "$err" ''
exits 'run --trace succeeds' 0 mapm run steps --trace --input '{}'
like 'run --trace shows printed text' "$err" 'printed'
unlike 'run --trace shows no raw escape character' "$err" "$(printf '\033')"
like 'run --trace shows trace events with their data' "$err" 'looked.*\{"at":"it"\}'
is 'run --trace prints the same result' "$(envelope status)" '"ok"'
# --- what a person at a terminal sees -------------------------------------------

cd "$T/ws" || exit 1
mkdir -p .agents/skills/tells .agents/skills/parts
for name in tells parts; do
    printf -- '---\nname: %s\ndescription: Tells. Use it when asked.\n---\nInput keys: a\n' $name \
        >.agents/skills/$name/SKILL.md
done
printf 'def run(input):\n    return "two\\nlines \\x1b[31m"\n' >.agents/skills/tells/SKILL.star
printf 'def run(input):\n    return {"status": "partial", "files": ["a"]}\n' >.agents/skills/parts/SKILL.star
on_terminal n "$MAPM" run tells a=1
like '[D19] run on a terminal prints the answer' "$out" '^two$'
unlike '[D19] run on a terminal prints neither header nor JSON' "$out" 'Metaskill:|"answer"'
like '[D19] run on a terminal ends with a line of status and time' "$(printf '%s\n' "$out" | tail -n 1)" '^ok . [0-9.]+ m?s$'
unlike '[D19] run on a terminal prints no control characters of the answer' "$out" "$(printf '\033')\[31m"
on_terminal n "$MAPM" run parts a=1
like '[D19] run on a terminal shows other members of the result' "$out" '"files": \['
like '[D19] run on a terminal shows the status of the result' "$(printf '%s\n' "$out" | tail -n 1)" '^partial '
on_terminal n "$MAPM" run nope a=1
is '[D19] run on a terminal reports an unknown name once' "$(printf '%s\n' "$out" | grep -c nope)" 1
on_terminal n "$MAPM" run tells a=1 --json
like '[D19] run --json on a terminal prints the envelope' "$out" '^\{"status":"ok","answer":"two'
exits '[D19] run into a pipe succeeds' 0 mapm run tells a=1
like '[D19, K31] run into a pipe prints the header line' "$out" '^\[Metaskill: tells completed\]$'
mkdir "$T/broken" && cd "$T/broken" && echo 'x: [' >mapm.yaml
exits '[K33] run with a malformed mapm.yaml exits with 1' 1 mapm run tells a=1
like '[K33] the error of a malformed mapm.yaml begins with error: on standard output' "$out" "^error: metaskill 'tells': mapm.yaml:2:"

done_testing

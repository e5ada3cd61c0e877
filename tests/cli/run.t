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

exits 'pairs are an input' 0 mapm run echo word=hi
like '[K31] a header and one line of JSON' "$out" '^\[Metaskill: echo completed\]$'
is 'and it is two lines' "$(printf '%s\n' "$out" | wc -l)" 2
is 'a word is a string' "$(envelope input)" '{"word": "hi"}'
exits 'what is JSON is taken as such' 0 mapm run echo n=1 b=true l='[1, "x"]' \
    o='{"a": null}' s='"1"' e= eq=a=b
is 'each of them' "$(envelope input)" \
    '{"n": 1, "b": true, "l": [1, "x"], "o": {"a": null}, "s": "1", "e": "", "eq": "a=b"}'
exits '--input is JSON' 0 mapm run echo --input '{"word": "é", "n": 12345678901234567890}'
is 'as it is' "$(envelope input)" '{"word": "é", "n": 12345678901234567890}'
echo '{"word": "file"}' >in.json
exits '--input @FILE' 0 mapm run echo --input @in.json
is 'is read' "$(envelope answer)" '"file"'
exits '--input -' 0 sh -c '"$MAPM" run echo --input - <in.json'
is 'is read from standard input' "$(envelope answer)" '"file"'
exits 'pairs come on top' 0 mapm run echo --input @in.json n=2
is 'of it' "$(envelope input)" '{"word": "file", "n": 2}'
exits '[K9] no input is answered with the instructions' 1 mapm run echo
like 'as other hosts do' "$out" '^error: input is required\.'
like 'with the body' "$out" '^- `word`: what to say\.$'
like 'and how to go on' "$out" '^Retry run_metaskill with the correct input keys\.$'
exits '[X14] an empty one that is given runs' 0 mapm run echo --input '{}'
is 'with nothing in it' "$(envelope input)" '{}'
for bad in '[]' '1' 'x' '{"a":1,"a":2}' '{"a":}' ''; do
    exits "[K20] the input \"$bad\" is wrong usage" 2 mapm run echo --input "$bad"
    is 'and nothing is printed' "$out" ''
done
exits 'a pair without =' 2 mapm run echo word
exits 'a key twice' 2 mapm run echo word=1 word=2
exits 'a file that is not there' 1 mapm run echo --input @none.json

# --- which program [K13, K14, K34, K37] ---------------------------------------------

exits '[K13] a folder by its path' 0 mapm run ./elsewhere/hello --input '{}'
like 'runs from anywhere' "$out" '"answer":"hello"'
mv elsewhere/hello "$T/hello"
exits 'also an absolute one' 0 mapm run "$T/hello" --input '{}'
like 'that was moved' "$out" '"answer":"hello"'
mkdir -p sub/deep
metaskill skills/mine <<'STAR'
def run(input):
    return "mine"
STAR
exits '[K14] what mapm new writes runs by its name, too' 0 mapm run mine --input '{}'
like 'from skills' "$out" '"answer":"mine"'
metaskill .agents/skills/team/deep/nested <<'STAR'
def run(input):
    return "from below"
STAR
exits 'one in a group [K14]' 0 mapm run nested --input '{}'
like 'runs by its name' "$out" 'from below'
exits 'and by its path' 0 mapm run .agents/skills/team/deep/nested --input '{}'
like 'too' "$out" 'from below'
rm -r .agents/skills/team
metaskill .agents/skills/mine <<'STAR'
def run(input):
    return "installed"
STAR
exits '[K14] of two' 0 mapm run mine --input '{}'
like 'that of .agents/skills comes first' "$out" '"answer":"installed"'
rm -r .agents/skills/mine
exits 'from a folder below' 0 mapm -C sub/deep run echo word=x
like 'the workspace is found' "$out" '"answer":"x"'
exits '[K34] a name that is none' 1 mapm run ecko --input '{}'
is 'in the words of other hosts' "$out" "error: unknown metaskill: 'ecko'"
like 'with one that may be meant' "$err" 'did you mean echo\?'
exits '[K34] as JSON' 1 mapm run --json ecko --input '{}'
is '[D18] says it once' "$(json_of error messages)" "[\"unknown metaskill: 'ecko'\"]"
is 'and what to do' "$(json_of error hint)" '"did you mean echo?"'
mkdir -p skills/bare
echo 'def run(input): return {}' >skills/bare/SKILL.star
exits '[K34] a program without a SKILL.md' 1 mapm run bare --input '{}'
like 'is not what else may be meant' "$err" 'the folder of bare has no SKILL.md'
rm -r skills/bare
exits '[K34] a static skill' 1 mapm run static --input '{}'
is 'in their words' "$out" "error: skill 'static' is not a metaskill"
skill .agents/skills/lua 'metaskill: p.lua
metaskill_language: lua'
echo 'x = 1' >.agents/skills/lua/p.lua
run mapm run lua
is '[F3] a program in another language: in their words' "$out" \
    "error: skill 'lua' is not a metaskill"
like '[F3] and the cause on stderr' "$err" \
    '/lua/SKILL.md:[0-9]+: metaskill_language is "lua", and only "starlark"'
rm -r .agents/skills/lua
exits '[K33] a program that fails' 1 mapm run broken --input '{}'
like 'says where and why' "$out" \
    "^error: metaskill 'broken': SKILL\.star:2:14: floored division by zero\$"
like 'with the traceback beside it' "$err" '^Traceback \(most recent call last\):'
exits '-g looks in the library alone' 1 mapm run -g echo word=x
is 'and not here' "$out" "error: unknown metaskill: 'echo'"
unlike 'nor means what is here' "$err" 'did you mean'

# --- policy [K37, X27] ----------------------------------------------------------------

printf 'dependencies: {}\nruntime: {metaskills: off}\n' >mapm.yaml
exits 'off is off' 4 mapm run echo word=x
is 'in the words of other hosts' "$out" \
    "error: external metaskill 'echo' is not allowed (policy: off)"
like 'and where to look' "$err" 'runtime\.metaskills'
for level in local trusted; do
    printf 'dependencies: {}\nruntime: {metaskills: %s}\n' $level >mapm.yaml
    exits "$level runs what is of the workspace" 0 mapm run echo word=x
done
echo 'dependencies: {}' >mapm.yaml
exits 'inside of an ask nothing runs' 4 env MAPM_DEPTH=1 "$MAPM" run echo word=x
exits 'nor where the depth is no number' 4 env MAPM_DEPTH=-1 "$MAPM" run echo word=x
exits 'depth 0 is outside' 0 env MAPM_DEPTH=0 "$MAPM" run echo word=x

# --- budgets [K30] ---------------------------------------------------------------------

metaskill .agents/skills/commands <<'STAR'
def run(input):
    for i in range(input["n"]):
        command(["true"])
    return "done"
STAR
exits '[K30] no command at all' 1 mapm run commands --max-command-calls 0 --allow true n=1
like 'ends it' "$out" "^error: metaskill 'commands': .*budget"
exits '[K30] two, and no more' 1 mapm run commands --max-command-calls 2 --allow true n=3
exits 'and no fewer' 0 mapm run commands --max-command-calls 2 --allow true n=2
for bad in 0 21 -1 x 1.5; do
    exits "--max-ask-calls $bad" 2 mapm run echo --max-ask-calls "$bad" word=x
done
exits '--max-command-calls 101' 2 mapm run echo --max-command-calls 101 word=x
exits '--timeout 3601' 2 mapm run echo --timeout 3601 word=x
printf 'dependencies: {}\nlimits: {run_max_commands: 1}\n' >mapm.yaml
exits 'what the workspace lowers stays' 2 mapm run commands --max-command-calls 2 n=1
like 'and it is said where' "$err" 'mapm\.yaml:2 sets run_max_commands'
exits 'it may be lowered further' 0 mapm run echo --max-command-calls 0 word=x
exits 'and counts without an option' 1 mapm run commands --allow true n=2
echo 'dependencies: {}' >mapm.yaml
metaskill .agents/skills/endless <<'STAR'
def run(input):
    for i in range(1000000000000):
        pass
STAR
exits '[K30] a loop for ever' 1 mapm run endless --timeout 1 --input '{}'
like 'ends at the limit' "$out" "^error: metaskill 'endless': .*1 s"
"$MAPM" run endless --input '{}' >"$T/out" 2>"$T/err" &
pid=$!
is_running()
{
    mapm runs --json | grep -q '"running"'
}
await is_running
kill -TERM $pid
wait $pid
is 'a signal ends it' $? 130
like 'as an error' "$(cat "$T/out")" "^error: metaskill 'endless': "

# --- who answers ------------------------------------------------------------------------

for bad in bogus exec:; do
    exits "--ask $bad is wrong usage" 2 mapm run echo --ask "$bad" word=x
    is 'before anything runs' "$out" ''
done
exits 'one that is not there is no matter while nobody asks' 0 \
    mapm run echo --ask exec:no-such-program word=x

# --- what is printed --------------------------------------------------------------------

exits '--json' 0 mapm run echo --json word=x
is 'prints the envelope alone' "$(printf '%s' "$out" | python3 -S -c '
import json, sys; print(json.load(sys.stdin)["status"])')" said
exits '--json of an error' 1 mapm run broken --json --input '{}'
is 'is a document' "$(printf '%s' "$out" | python3 -S -c '
import json, sys; d = json.load(sys.stdin); print(d["schema"], d["error"]["code"])')" \
    'mapm.error/1 failed'
exits '--json of a name that is none' 1 mapm run none --json --input '{}'
like 'says so' "$out" '"not-found"'
metaskill .agents/skills/steps <<'STAR'
def run(input):
    print("printed\x1b[31m")
    trace("looked", {"at": "it"})
    return None
STAR
exits '[K32] None is an answer' 0 mapm run steps --input '{}'
like 'an empty one' "$out" '"status":"ok","answer":""'
is 'and quiet' "$err" ''
exits '--trace shows the steps' 0 mapm run steps --trace --input '{}'
like 'what is printed, escaped' "$err" 'printed'
unlike 'not as it came' "$err" "$(printf '\033')"
like 'and traces' "$err" 'looked.*\{"at":"it"\}'
is 'the result is the same' "$(envelope status)" '"ok"'
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
like '[D19] the answer alone' "$out" '^two$'
unlike '[D19] without the form for hosts' "$out" 'Metaskill:|"answer"'
like '[D19] and one line of statistics' "$(printf '%s\n' "$out" | tail -n 1)" '^ok . [0-9.]+ m?s$'
unlike '[D19] with no control characters' "$out" "$(printf '\033')\[31m"
on_terminal n "$MAPM" run parts a=1
like '[D19] other members of the result' "$out" '"files": \['
like '[D19] and its status' "$(printf '%s\n' "$out" | tail -n 1)" '^partial '
on_terminal n "$MAPM" run nope a=1
is '[D19] what is missing is reported once' "$(printf '%s\n' "$out" | grep -c nope)" 1
on_terminal n "$MAPM" run tells a=1 --json
like '[D19] --json is the envelope' "$out" '^\{"status":"ok","answer":"two'
exits '[D19] a pipe has the form for hosts' 0 mapm run tells a=1
like '[D19, K31] as ever' "$out" '^\[Metaskill: tells completed\]$'
mkdir "$T/broken" && cd "$T/broken" && echo 'x: [' >mapm.yaml
exits '[K33] what fails before the program starts' 1 mapm run tells a=1
like '[K33] begins with error:, too' "$out" "^error: metaskill 'tells': mapm.yaml:2:"

done_testing

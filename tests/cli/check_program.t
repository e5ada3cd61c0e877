#!/bin/sh
# mapm check compiles the programs of metaskills: each error with file, line and
# column, in words and JSON; nothing is run. [K19, K21, K33, row 21].
. "$(dirname "$0")/../lib/cli.sh"

# program NAME: a metaskill with the program on standard input.
program()
{
    skill "skills/$1" 'metaskill: SKILL.star'
    printf '\nInput keys: none.\n' >>"skills/$1/SKILL.md"
    cat >"skills/$1/SKILL.star"
}
# said WHAT NAME CODE LINE COLUMN MESSAGE [HINT]: the program's one error, both ways.
said()
{
    exits "$1: check exits with 3" 3 mapm check "skills/$2"
    is "$1: check prints place, message and hint" "$out" "skills/$2/SKILL.star:$4:$5: error: $6 [$3]${7:+
    hint: $7}
checked 1: 1 error, 0 warnings"
    run mapm check --json "skills/$2"
    is "$1: check --json has place, message and hint" "$(printf '%s\n' "$out" | python3 -S -c '
import json, sys
for x in json.load(sys.stdin)["documents"][0]["errors"]:
    print(*[x[k] for k in ("code", "field", "file", "line", "column", "message", "hint")], sep="|")')" \
        "$3|metaskill|SKILL.star|$4|$5|$6|${7:-None}"
    for profile in metaskill publish; do
        run mapm check --profile $profile "skills/$2"
        like "$1: check reports the error under --profile $profile, too" "$out" \
            "^skills/$2/SKILL.star:$4:$5: error: .*\[$3\]\$"
    done
    run mapm check --profile metis "skills/$2"
    unlike "$1: check --profile metis does not report the program" "$out" 'SKILL.star:'
}

program fine <<'STAR'
def run(input):
    ask("a", {"max_turns": 1})
    command(["a"])
    trace("a")
    print("a")
    return None
STAR
exits 'check accepts a correct program' 0 mapm check skills/fine

program syntax <<'STAR'
def run(input):
    return (1,
STAR
said 'a syntax error' syntax program-syntax 3 1 'got outdent, want primary expression' \
    "is a comma missing before this line, or the bracket that closes the '(' of line 2?"
program name <<'STAR'
def run(input):
    return "äö" + oepn("/etc/passwd")
STAR
said '[K21] an undefined name' name program-name 2 19 'undefined: oepn'
program missing <<'STAR'
def main(input):
    return None
STAR
said '[K19] a program without run' missing program-run 1 1 \
    'no function run: a metaskill begins with def run(input):'
program none <<'STAR'
x = 1

def run():
    return x
STAR
said 'a run without argument' none program-run 3 1 \
    'run takes no argument: it is called with one, the input'
program two <<'STAR'
def run(input, more):
    return more
STAR
said 'a run with two arguments' two program-run 1 1 \
    'run needs more than one argument: it is called with one, the input'
program load <<'STAR'
load("@lib//x.star", "y")

def run(input):
    return y
STAR
said '[row 21, K21] a load' load program-load 1 1 \
    'load is not available: metaskills are hermetic, one file each'

program more <<'STAR'
def run(input, more=None, *rest, **others):
    return more
STAR
exits 'check accepts a run with optional further arguments' 0 mapm check skills/more

program many <<'STAR'
def run(input):
    first()
    second()
STAR
exits 'check exits with 3 for a program with two errors' 3 mapm check skills/many
is 'check reports both errors of the program' "$(printf '%s\n' "$out" | grep -c 'program-name')" 2

# Hints: each error has its own, also in JSON.
program python <<'STAR'
def run(input):
    while True:
        raise x
STAR
run mapm check skills/python
like 'check prints the hint below its error' "$out" '^    hint: loop a bounded number of times: '
run mapm check --json skills/python
is 'check --json has a hint for each of two errors' "$(printf '%s\n' "$out" | python3 -c '
import json, sys
for x in json.load(sys.stdin)["documents"][0]["errors"]:
    print(x["line"], bool(x["hint"]))')" '2 True
3 True'

# [row 21] judged, and not run.
program top <<'STAR'
fail("ran")
def run(input): return None
STAR
exits 'check accepts a program that fails at the top level' 0 mapm check skills/top
program loop <<'STAR'
def f():
    for i in range(1000000000000):
        pass
f()
def run(input): return None
STAR
exits 'check does not run an endless loop at the top level' 0 mapm check skills/loop

# Under its own name, in its own folder, and where the check stands in it.
skill skills/flow 'metaskill: steps/flow.star'
mkdir skills/flow/steps
echo 'def run(input): return nix' >skills/flow/steps/flow.star
run mapm check skills/flow
like 'check reports the path of a program with another name' "$out" \
    '^skills/flow/steps/flow.star:1:24: error: undefined: nix \[program-name\]$'
run mapm -C skills/flow check
like 'check in the folder of a skill reports a path relative to it' "$out" '^steps/flow.star:1:24: error: '
skill skills/lua 'metaskill: SKILL.star' 'metaskill_language: lua'
echo 'this is no Starlark' >skills/lua/SKILL.star
run mapm check skills/lua
unlike '[K4] check does not compile a program in another language' "$out" 'program-'
exits 'check --profile publish accepts the programs of the example catalog' 0 mapm check --profile publish "$ROOT/examples/catalog"
exits 'check --profile metaskill accepts the programs of the specification' 0 \
    mapm check --profile metaskill "$ROOT/tests/cases/metaskill/skills"
done_testing

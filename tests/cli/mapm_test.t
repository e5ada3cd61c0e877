#!/bin/sh
# mapm test: the tapes beside metaskills, replayed without model and processes.
# [K19, K32, K33, K39, row 16, row 21, row 22].
. "$(dirname "$0")/../lib/cli.sh"

# --- what the repository has ---------------------------------------------------

spec=$ROOT/tests/cases/metaskill
exits '[K39] test of the programs in the specification succeeds' 0 \
    mapm test "$spec"
like 'test finds four metaskills and eleven tapes in the specification' "$out" '^4 metaskills, 11 tapes: 11 ok$'
sums()
{
    for name in require-heading test-fix require-checklist review-diff; do
        sha256sum <"$spec/skills/$name/SKILL.star" | cut -c1-16
    done
}
is '[K39] the programs of the specification are unmodified' "$(sums | tr '\n' ' ')" '1f24366ec42ffb3c f0acc25cbb2a59af 740a851d5a3b1fdd 44905bfc532edfc3 '

catalog=$ROOT/examples/catalog
exits 'test of the example catalog succeeds' 0 mapm test "$catalog"
like 'test finds four metaskills in the example catalog' "$out" '^4 metaskills, [0-9]* tapes: [0-9]* ok$'
for name in require-heading test-fix require-checklist review-diff; do
    exits "test finds $name by its name" 0 mapm -C "$catalog" test "$name"
done

# --- a skill of one's own -------------------------------------------------------

metaskill()
{
    skill "$1" 'metaskill: SKILL.star'
    mkdir -p "$1/tests"
    cat >"$1/SKILL.star"
}
tape()
{
    cat >"$1/tests/$2.jsonl"
}
metaskill skills/echo <<'STAR'
def run(input):
    a = ask("Say " + input["word"], {"max_turns": 2})
    trace("said", {"answer": a["answer"]})
    c = command(["printf", a["answer"]])
    return {"answer": c["result"], "ok": c["ok"]}
STAR
tape skills/echo hand <<'TAPE'
{"tape":1,"name":"echo","input":{"word":"hi"}}
{"ask":{"prompt":"Say hi","opts":{"max_turns":2}},"result":{"answer":"hi"}}
{"command":{"argv":["printf","hi"]},"result":{"result":"hi"}}
{"envelope":{"status":"ok","answer":"hi","ok":true}}
TAPE
exits 'test of a tape written by hand succeeds' 0 mapm test skills/echo
is 'test prints the skill, its tape and the sum' "$out" 'skills/echo
  ok      tests/hand.jsonl
1 metaskill, 1 tape: 1 ok'
exits 'test accepts the name of a skill in a workspace' 0 mapm test echo
exits 'test accepts the path of SKILL.md' 0 mapm test skills/echo/SKILL.md
exits 'test accepts the path of the program' 0 mapm test skills/echo/SKILL.star
exits 'test accepts the path of a tape' 0 mapm test skills/echo/tests/hand.jsonl
like 'test of one tape runs that tape alone' "$out" '1 tape: 1 ok'
exits 'test accepts a tape relative to its folder' 0 mapm -C skills/echo/tests test hand.jsonl
exits 'test without arguments succeeds' 0 mapm test
exits 'test -q succeeds' 0 mapm test -q
is 'test -q prints nothing' "$out$err" ''
not_ok '[K21] test creates no database' test -e "$MAPM_HOME/mapm.db"

mkdir -p skills/shout/tests
skill skills/shout 'metaskill: SKILL.star'
echo 'def run(input): return ask("Shout " + input["word"])["answer"]' \
    >skills/shout/SKILL.star
sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$ROOT/man/mapm-tape.5" | grep '^{' \
    >skills/shout/tests/page.jsonl
exits 'test accepts the tape of mapm-tape(5)' 0 mapm test shout
sed -n '/^\$ cat skills/,/^\$ mapm/p' "$ROOT/man/mapm-test.1" | grep '^  {' \
    >skills/shout/tests/page.jsonl
exits 'test --update accepts the tape of mapm-test(1)' 0 mapm test --update shout
exits 'test accepts the tape of mapm-test(1) after --update' 0 mapm test shout
rm -r skills/shout

# --- what differs -----------------------------------------------------------------

# differs WHAT FROM TO LINE...: the tape with FROM as TO fails, with these lines.
differs()
{
    what=$1
    sed "s|$2|$3|" skills/echo/tests/hand.jsonl >skills/echo/tests/other.jsonl
    shift 3
    exits "$what: test fails" 3 mapm test skills/echo/tests/other.jsonl
    for line in "$@"; do
        like "$what: the report has $line" "$(printf '%s\n' "$out" | sed 's/^ *//')" "$line"
    done
    like "$what: the hint suggests --record" "$err" '^next: .*--record TAPE records anew$'
    rm skills/echo/tests/other.jsonl
}
differs 'another prompt' 'Say hi' 'Say ho' 'FAIL +tests/other.jsonl' \
    '^ask 1 has another prompt$' '^--- skills/echo/tests/other.jsonl:2$' \
    '^\+\+\+ the program$' '^-Say ho$' '^\+Say hi$' '1 tape: 0 ok, 1 failed'
differs 'other opts' '"max_turns":2' '"max_turns":3' \
    '^ask 1 has another opts$' '^- +"max_turns": 3$' '^\+ +"max_turns": 2$'
differs 'another command' 'printf","hi' 'printf","ho' \
    '^command 1 has another argv$' '^-\["printf","ho"\]$' '^\+\["printf","hi"\]$'
differs 'another envelope' '"answer":"hi","ok"' '"answer":"ho","ok"' \
    '^the envelope is another one$' '^- +"answer": "ho",$' '^\+ +"answer": "hi",$'
differs 'an error instead' '{"envelope.*' '{"error":"error: no"}' \
    '^the run did not fail$' '^-error: no$'
differs 'another error' '"word":"hi"' '"other":1' '^the run ended before this$' \
    'key "word" not in dict'
differs '[K33] a cut tape' '{"envelope.*' '{"envelope' \
    'other.jsonl:4: column 11: '
sed 's/"name":"echo"/"name":"echa"/' skills/echo/tests/hand.jsonl \
    >skills/echo/tests/other.jsonl
exits 'test succeeds with another name in the head of the tape' 0 mapm test echo
like 'the report has the name in the head of the tape' "$out" 'the tape is one of echa'
rm skills/echo/tests/other.jsonl
sed 2d skills/echo/tests/hand.jsonl >skills/echo/tests/less.jsonl
exits 'test fails when the tape lacks a step' 3 mapm test skills/echo/tests/less.jsonl
like 'the report names the ask that is not on the tape' "$out" 'ask 1 is not on the tape'
like 'the difference has the step that the tape has' "$out" '\-command \["printf","hi"\]'
sed 3p skills/echo/tests/hand.jsonl >skills/echo/tests/less.jsonl
exits 'test fails when the tape has a step too many' 3 mapm test skills/echo/tests/less.jsonl
like 'the report says that the run ended before the step' "$out" 'the run ended before this'
rm skills/echo/tests/less.jsonl

# --- --update -----------------------------------------------------------------------

sed 's/^{"envelope.*/{"envelope":{}}/' skills/echo/tests/hand.jsonl \
    >skills/echo/tests/new.jsonl
head -n 3 skills/echo/tests/new.jsonl >"$T/head"
exits 'test fails with an empty envelope' 3 mapm test skills/echo
exits 'test --update with an empty envelope succeeds' 0 mapm test --update skills/echo
like 'test --update counts the updated tape' "$out" '1 ok, 1 updated'
ok 'test --update leaves the other lines unchanged' sh -c 'head -n 3 skills/echo/tests/new.jsonl | cmp - "$0"' "$T/head"
like 'test --update writes the trace into the envelope' "$(tail -n 1 skills/echo/tests/new.jsonl)" \
    '"trace":\[\{"kind":"metaskill_start".*"kind":"said","data":\{"answer":"hi"\}'
exits 'test after --update succeeds' 0 mapm test skills/echo
sed 's/Say hi/Say ho/' skills/echo/tests/hand.jsonl >skills/echo/tests/ask.jsonl
cp skills/echo/tests/ask.jsonl "$T/before"
exits 'test --update fails when a prompt differs' 3 mapm test --update skills/echo
ok 'test --update leaves the tape with another prompt unchanged' cmp skills/echo/tests/ask.jsonl "$T/before"
rm skills/echo/tests/ask.jsonl skills/echo/tests/new.jsonl

# --- JSON -----------------------------------------------------------------------------

sed 's/Say hi/Say ho/' skills/echo/tests/hand.jsonl >skills/echo/tests/bad.jsonl
exits 'test --json fails with a failed tape' 3 mapm test --json skills/echo
field()
{
    printf '%s\n' "$out" | python3 -S -c "import json, sys
d = json.load(sys.stdin); print($1)"
}
is 'test --json has its schema' "$(field 'd["schema"]')" 'mapm.test/1'
is 'test --json has the numbers of tapes by result' "$(field '(d["ok"], d["updated"], d["failed"])')" '(1, 0, 1)'
is 'test --json lists the tapes with asks and commands' "$(field '[(t["file"], t["result"], t["asks"], t["commands"]) for t in d["metaskills"][0]["tapes"]]')" \
    "[('tests/bad.jsonl', 'failed', 1, 0), ('tests/hand.jsonl', 'ok', 1, 1)]"
like 'test --json has the difference' "$(field 'd["metaskills"][0]["tapes"][0]["difference"]')" \
    '^\+Say hi$'
rm skills/echo/tests/bad.jsonl

# --- limits, and programs that do not run ------------------------------------------------

metaskill skills/many <<'STAR'
def run(input):
    for i in range(input["n"]):
        ask("again")
    return "done"
STAR
asks()
{
    printf '{"tape":1,"name":"many","input":{"n":%d}%s}\n' "$1" "$2"
    for i in $(seq "$1"); do
        echo '{"ask":{"prompt":"again"},"result":{"answer":""}}'
    done
}
{ asks 7 ',"limits":{"run_max_asks":7}'
  echo '{"envelope":{"status":"ok","answer":"done"}}'; } >skills/many/tests/seven.jsonl
exits '[K29] test applies the limits of the tape' 0 mapm test many
asks 7 '' | head -n 6 >skills/many/tests/seven.jsonl
echo '{"error":"error: x"}' >>skills/many/tests/seven.jsonl
exits 'test applies the default limits without any on the tape' 3 mapm test many
like 'the report has the error of the budget' "$out" '\+error: .*budget'
mkdir -p "$XDG_CONFIG_HOME/mapm"
echo 'limits: {run_max_asks: 20}' >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits "test ignores the limits of the user" 3 mapm test many
rm "$XDG_CONFIG_HOME/mapm/config.yaml"
rm -r skills/many

metaskill skills/loop <<'STAR'
def run(input):
    for i in range(1000000000000):
        pass
STAR
printf '%s\n' '{"tape":1,"name":"loop","input":{}}' '{"envelope":{}}' \
    >skills/loop/tests/a.jsonl
exits '[K30] test --timeout ends a program that loops' 3 mapm test --timeout 1 loop
like 'the report has the timeout' "$out" 'timeout'
exits 'test --update refuses to record a timeout' 3 mapm test --timeout 1 --update loop
exits 'test --timeout with a word is a usage error' 2 mapm test --timeout soon
exits 'test --timeout 0 is a usage error' 2 mapm test --timeout 0
rm -r skills/loop

metaskill skills/broken <<'STAR'
def run(input):
    return undefined
STAR
printf '%s\n' '{"tape":1,"name":"broken","input":{}}' '{"envelope":{}}' \
    >skills/broken/tests/a.jsonl
exits 'test fails with a program that does not compile' 3 mapm test broken
like 'the report has file, line and column of the error' "$out" 'SKILL.star:2:12: undefined'
echo '---' >skills/broken/SKILL.star
exits 'test fails with a program that begins with frontmatter' 3 mapm test broken
like 'the report says that metadata belong into SKILL.md' "$out" 'SKILL.md is the only place for metadata'
rm -r skills/broken

# --- where there is nothing -----------------------------------------------------------------

exits 'test of an unknown name fails' 1 mapm test nothing
skill skills/static
exits 'test of a static skill fails' 1 mapm test static
like 'the error says that the skill is not a metaskill' "$err" "skill 'static' is not a metaskill"
mkdir -p skills/static/tests && echo '{"x":1}' >skills/static/tests/data.jsonl
exits 'test ignores data of a static skill in its tests folder' 0 mapm test
mkdir empty
exits 'test in an empty folder fails' 1 mapm -C empty test
rm skills/echo/tests/*
exits 'test of metaskills without tapes fails' 1 mapm test skills
like 'the hint suggests mapm run with --record' "$err" 'hint: mapm run SKILL --record FILE'
ln -s "$T/home" skills/echo/tests/link.jsonl
exits 'test fails with a link in place of a tape' 3 mapm test echo

# --- an installed one --------------------------------------------------------------------------

make_repo mapm-examples/catalog "$catalog"
start_githost
exits 'install of a metaskill with tapes succeeds' 0 mapm install --yes \
    https://github.com/mapm-examples/catalog/tree/main/skills/test-fix
exits 'test of an installed metaskill succeeds without trust' 0 mapm test test-fix
like 'the report has the folder of the installed metaskill' "$out" '^\.agents/skills/test-fix$'
done_testing

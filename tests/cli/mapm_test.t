#!/bin/sh
# mapm test: the tapes beside metaskills, replayed without model and processes.
# [K19, K32, K33, K39, row 16, row 21, row 22].
. "$(dirname "$0")/../lib/cli.sh"

# --- what the repository has ---------------------------------------------------

spec=$ROOT/tests/cases/metaskill
exits '[K39] the programs of the specification do what their tapes have' 0 \
    mapm test "$spec"
like 'all four of them' "$out" '^4 metaskills, 11 tapes: 11 ok$'
sums()
{
    for name in require-heading test-fix require-checklist review-diff; do
        sha256sum <"$spec/skills/$name/SKILL.star" | cut -c1-16
    done
}
is '[K39] they are unmodified' "$(sums | tr '\n' ' ')" '1f24366ec42ffb3c f0acc25cbb2a59af 740a851d5a3b1fdd 44905bfc532edfc3 '

catalog=$ROOT/examples/catalog
exits 'so do those of the example catalog' 0 mapm test "$catalog"
like 'and again all four' "$out" '^4 metaskills, [0-9]* tapes: [0-9]* ok$'
for name in require-heading test-fix require-checklist review-diff; do
    exits "$name is found by its name" 0 mapm -C "$catalog" test "$name"
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
exits 'a tape written by hand' 0 mapm test skills/echo
is 'says so' "$out" 'skills/echo
  ok      tests/hand.jsonl
1 metaskill, 1 tape: 1 ok'
exits 'by name, in a workspace' 0 mapm test echo
exits 'by SKILL.md' 0 mapm test skills/echo/SKILL.md
exits 'by program' 0 mapm test skills/echo/SKILL.star
exits 'one tape' 0 mapm test skills/echo/tests/hand.jsonl
like 'that one' "$out" '1 tape: 1 ok'
exits 'from the folder of tapes' 0 mapm -C skills/echo/tests test hand.jsonl
exits 'all below' 0 mapm test
exits 'quietly' 0 mapm test -q
is 'says nothing' "$out$err" ''
not_ok '[K21] no model, no process, no file' test -e "$MAPM_HOME/mapm.db"

mkdir -p skills/shout/tests
skill skills/shout 'metaskill: SKILL.star'
echo 'def run(input): return ask("Shout " + input["word"])["answer"]' \
    >skills/shout/SKILL.star
sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$ROOT/man/mapm-tape.5" | grep '^{' \
    >skills/shout/tests/page.jsonl
exits 'the tape in mapm-tape(5) is one' 0 mapm test shout
sed -n '/^\$ cat skills/,/^\$ mapm/p' "$ROOT/man/mapm-test.1" | grep '^  {' \
    >skills/shout/tests/page.jsonl
exits 'and that in mapm-test(1)' 0 mapm test --update shout
exits 'once it is complete' 0 mapm test shout
rm -r skills/shout

# --- what differs -----------------------------------------------------------------

# differs WHAT FROM TO LINE...: the tape with FROM as TO fails, with these lines.
differs()
{
    what=$1
    sed "s|$2|$3|" skills/echo/tests/hand.jsonl >skills/echo/tests/other.jsonl
    shift 3
    exits "$what: fails" 3 mapm test skills/echo/tests/other.jsonl
    for line in "$@"; do
        like "$what: $line" "$(printf '%s\n' "$out" | sed 's/^ *//')" "$line"
    done
    like "$what: and what to do" "$err" '^next: .*--record TAPE records anew$'
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
exits 'the name is no part of what is compared' 0 mapm test echo
like 'but said' "$out" 'the tape is one of echa'
rm skills/echo/tests/other.jsonl
sed 2d skills/echo/tests/hand.jsonl >skills/echo/tests/less.jsonl
exits 'more than the tape has' 3 mapm test skills/echo/tests/less.jsonl
like 'is said' "$out" 'ask 1 is not on the tape'
like 'with what there is' "$out" '\-command \["printf","hi"\]'
sed 3p skills/echo/tests/hand.jsonl >skills/echo/tests/less.jsonl
exits 'less than the tape has' 3 mapm test skills/echo/tests/less.jsonl
like 'is said, too' "$out" 'the run ended before this'
rm skills/echo/tests/less.jsonl

# --- --update -----------------------------------------------------------------------

sed 's/^{"envelope.*/{"envelope":{}}/' skills/echo/tests/hand.jsonl \
    >skills/echo/tests/new.jsonl
head -n 3 skills/echo/tests/new.jsonl >"$T/head"
exits 'an end that was left open' 3 mapm test skills/echo
exits 'is written by --update' 0 mapm test --update skills/echo
like 'and said' "$out" '1 ok, 1 updated'
ok 'the rest stays as it was' sh -c 'head -n 3 skills/echo/tests/new.jsonl | cmp - "$0"' "$T/head"
like 'with the trace' "$(tail -n 1 skills/echo/tests/new.jsonl)" \
    '"trace":\[\{"kind":"metaskill_start".*"kind":"said","data":\{"answer":"hi"\}'
exits 'then it is the same, whatever the time' 0 mapm test skills/echo
sed 's/Say hi/Say ho/' skills/echo/tests/hand.jsonl >skills/echo/tests/ask.jsonl
cp skills/echo/tests/ask.jsonl "$T/before"
exits 'what was never answered cannot be updated' 3 mapm test --update skills/echo
ok 'and is not touched' cmp skills/echo/tests/ask.jsonl "$T/before"
rm skills/echo/tests/ask.jsonl skills/echo/tests/new.jsonl

# --- JSON -----------------------------------------------------------------------------

sed 's/Say hi/Say ho/' skills/echo/tests/hand.jsonl >skills/echo/tests/bad.jsonl
exits 'JSON has the same exit' 3 mapm test --json skills/echo
field()
{
    printf '%s\n' "$out" | python3 -S -c "import json, sys
d = json.load(sys.stdin); print($1)"
}
is 'its schema' "$(field 'd["schema"]')" 'mapm.test/1'
is 'the sum' "$(field '(d["ok"], d["updated"], d["failed"])')" '(1, 0, 1)'
is 'the tapes' "$(field '[(t["file"], t["result"], t["asks"], t["commands"]) for t in d["metaskills"][0]["tapes"]]')" \
    "[('tests/bad.jsonl', 'failed', 1, 0), ('tests/hand.jsonl', 'ok', 1, 1)]"
like 'the difference' "$(field 'd["metaskills"][0]["tapes"][0]["difference"]')" \
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
exits '[K29] limits that a tape names count' 0 mapm test many
asks 7 '' | head -n 6 >skills/many/tests/seven.jsonl
echo '{"error":"error: x"}' >>skills/many/tests/seven.jsonl
exits 'without, the usual ones do' 3 mapm test many
like 'and end the run' "$out" '\+error: .*budget'
mkdir -p "$XDG_CONFIG_HOME/mapm"
echo 'limits: {run_max_asks: 20}' >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits "the user's own do not: a tape is the same everywhere" 3 mapm test many
rm "$XDG_CONFIG_HOME/mapm/config.yaml"
rm -r skills/many

metaskill skills/loop <<'STAR'
def run(input):
    for i in range(1000000000000):
        pass
STAR
printf '%s\n' '{"tape":1,"name":"loop","input":{}}' '{"envelope":{}}' \
    >skills/loop/tests/a.jsonl
exits '[K30] a program that loops ends' 3 mapm test --timeout 1 loop
like 'with the reason' "$out" 'timeout'
exits 'which is no end to be recorded' 3 mapm test --timeout 1 --update loop
exits 'the time is a number of seconds' 2 mapm test --timeout soon
exits 'and not none' 2 mapm test --timeout 0
rm -r skills/loop

metaskill skills/broken <<'STAR'
def run(input):
    return undefined
STAR
printf '%s\n' '{"tape":1,"name":"broken","input":{}}' '{"envelope":{}}' \
    >skills/broken/tests/a.jsonl
exits 'a program that does not compile' 3 mapm test broken
like 'says where' "$out" 'SKILL.star:2:12: undefined'
echo '---' >skills/broken/SKILL.star
exits 'a program that is none' 3 mapm test broken
like 'says why' "$out" 'SKILL.md is the only place for metadata'
rm -r skills/broken

# --- where there is nothing -----------------------------------------------------------------

exits 'a name that is none' 1 mapm test nothing
skill skills/static
exits 'a static skill' 1 mapm test static
like 'is no metaskill' "$err" "skill 'static' is not a metaskill"
mkdir -p skills/static/tests && echo '{"x":1}' >skills/static/tests/data.jsonl
exits 'whose own data are not ours' 0 mapm test
mkdir empty
exits 'an empty folder is no success' 1 mapm -C empty test
rm skills/echo/tests/*
exits 'nor are metaskills without tapes' 1 mapm test skills
like 'and says how to have one' "$err" 'hint: mapm run SKILL --record FILE'
ln -s "$T/home" skills/echo/tests/link.jsonl
exits 'a link is no tape' 3 mapm test echo

# --- an installed one --------------------------------------------------------------------------

make_repo mapm-examples/catalog "$catalog"
start_githost
exits 'tapes come with the package' 0 mapm install --yes \
    https://github.com/mapm-examples/catalog/tree/main/skills/test-fix
exits 'and play where it is installed, without trust' 0 mapm test test-fix
like 'all of them' "$out" '^\.agents/skills/test-fix$'
done_testing

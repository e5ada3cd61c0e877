#!/bin/sh
# mapm run --record and --replay: a run on a tape, and the same again without
# model and processes. [K21, K33, K39, row 16, row 21, row 22, row 27].
. "$(dirname "$0")/../lib/cli.sh"

# What a command may reach is tested elsewhere: here it only has to run.
mkdir -p "$XDG_CONFIG_HOME/mapm"
echo 'policy: {sandbox: off}' >"$XDG_CONFIG_HOME/mapm/config.yaml"
touch mapm.yaml
skill .agents/skills/mend 'metaskill: SKILL.star'
cat >.agents/skills/mend/SKILL.star <<'STAR'
def run(input):
    for i in range(3):
        r = command(["sh", "-c", input["test"]], {"timeout": 20})
        trace("test", {"ok": r["ok"], "code": r["exit_code"]})
        if r["ok"]:
            return {"status": "accepted", "answer": r["result"]}
        ask("Mend this:\n\n" + r["result"], {"purpose": "mend", "max_turns": 3})
    return {"status": "exhausted"}
STAR
S=.agents/skills/mend
program=$(cat $S/SKILL.star)

# A model that makes the test pass, and keeps what it was asked.
cat >"$T/model" <<'SH'
#!/bin/sh
cat >>"$MODEL_HOME/asked"
echo >mended
printf 'Mended: \303\244\033[31m\377\n'
SH
chmod +x "$T/model"
sed -i "s|\$MODEL_HOME|$T|" "$T/model"
test='echo run >>ran; test -f mended || { echo FAIL; exit 3; }; echo PASS'
taped()
{
    run mapm run mend "test=$test" --ask "exec:$T/model" --allow 'sh *' "$@"
}
lines()
{
    python3 -S -c '
import json, sys
t = [json.loads(x) for x in open(sys.argv[1], encoding="utf-8")]
print(eval(sys.argv[2]))' "$@"
}

# --- recording ------------------------------------------------------------------------

taped --record one.jsonl
is 'a run is recorded' "$status" 0
first=$out
is 'a line for each thing' "$(lines one.jsonl '[list(x)[0] for x in t]')" \
    "['tape', 'command', 'ask', 'command', 'envelope']"
is 'the head' "$(lines one.jsonl '[(k, t[0][k]) for k in ("tape", "name")]')" \
    "[('tape', 1), ('name', 'mend')]"
is "the program's own digest" "$(lines one.jsonl 't[0]["digest"]')" \
    "sha256:$(sha256sum <$S/SKILL.star | cut -c1-64)"
is 'the input' "$(lines one.jsonl 't[0]["input"]["test"]')" "$test"
is 'a command' "$(lines one.jsonl 't[1]["command"]["argv"][:2], t[1]["command"]["opts"]')" \
    "(['sh', '-c'], {'timeout': 20})"
is 'with what the program got' "$(lines one.jsonl 't[1]["result"]')" \
    "{'ok': False, 'exit_code': 3, 'result': 'FAIL\\n', 'truncated': False}"
is 'an ask' "$(lines one.jsonl 't[2]["ask"]')" \
    "{'prompt': 'Mend this:\\n\\nFAIL\\n', 'opts': {'purpose': 'mend', 'max_turns': 3}}"
like '[row 22] its answer as it was repaired' \
    "$(lines one.jsonl 'ascii(t[2]["result"]["answer"])')" 'Mended: \\xe4.*\\ufffd'
is 'the envelope' "$(lines one.jsonl 't[-1]["envelope"]["status"]')" accepted
is 'nothing is left beside it' "$(ls -A | tr '\n' ' ')" '.agents mapm.yaml mended one.jsonl ran '

# --- replaying ---------------------------------------------------------------------------

rm mended ran "$T/asked"
same()
{
    printf '%s\n' "$1" | sed 's/"duration_s":[0-9.]*//'
}
exits 'it replays, with nothing but the tape' 0 mapm run mend --replay one.jsonl
is 'to the same' "$(same "$out")" "$(same "$first")"
is 'silently' "$err" ''
not_ok '[row 21] no command was run' test -e ran
not_ok 'no model was asked' test -e "$T/asked"
exits 'nor is one needed' 0 env PATH=/nonexistent "$MAPM" run mend --replay one.jsonl
exits 'as JSON' 0 mapm run mend --replay one.jsonl --json
is 'the envelope alone' "$(printf '%s\n' "$out" | python3 -S -c '
import json, sys; print(json.load(sys.stdin)["status"])')" accepted
exits 'with its steps' 0 mapm run mend --replay one.jsonl --trace
like 'as they were' "$err" 'Mend this|mend'
exits 'a replay is not remembered' 0 mapm runs --json
is 'as a run' "$(printf '%s\n' "$out" | python3 -S -c '
import json, sys; print(len(json.load(sys.stdin)["runs"]))')" 1
mkdir -p $S/tests
cp one.jsonl $S/tests/
exits 'and is a test, as it is' 0 mapm test mend
exits 'a tape is recorded or played' 2 mapm run mend --replay one.jsonl --record two.jsonl

# --- what differs --------------------------------------------------------------------------

printf '%s\n' "$program" | sed 's/Mend this/Repair this/' >$S/SKILL.star
exits 'another prompt fails' 1 mapm run mend --replay one.jsonl
like '[K33] with an error for programs' "$out" "^error: metaskill 'mend': ask 1 is not what the tape has$"
like 'with a difference for people' "$err" '^ask 1 has another prompt$'
like 'of the tape' "$err" '^-Mend this:$'
like 'and the program' "$err" '^\+Repair this:$'
like 'and where it stands' "$err" '^--- one.jsonl:3$'
like 'and that the program is another one' "$err" 'one.jsonl was recorded with another SKILL.star'
exits 'as JSON' 1 mapm run mend --replay one.jsonl --json
is 'it is one document' "$(printf '%s\n' "$out" | python3 -S -c '
import json, sys; print(json.load(sys.stdin)["schema"])')" mapm.error/1

printf '%s\n' "$program" | sed 's/"timeout": 20/"timeout": 21/' >$S/SKILL.star
exits 'other opts' 1 mapm run mend --replay one.jsonl
like 'are said' "$err" '^\+ *"timeout": 21$'
printf '%s\n' "$program" | sed 's/"exhausted"}/"exhausted"}  # nothing else/' >$S/SKILL.star
exits 'another program that does the same' 0 mapm run mend --replay one.jsonl
like 'is only noted' "$err" 'recorded with another SKILL.star'
printf '%s\n' "$program" | sed 's/"accepted"/"fine"/' >$S/SKILL.star
exits 'another end' 1 mapm run mend --replay one.jsonl
like '[K31] has its result all the same' "$out" '^\{"status":"fine"'
like 'and the difference' "$err" '^- *"status": "accepted",?$'
exits 'as JSON, too' 1 mapm run mend --replay one.jsonl --json
is 'which stays one document' "$(printf '%s\n' "$out" | python3 -S -c '
import json, sys; print(json.load(sys.stdin)["status"])')" fine
printf '%s\n' "$program" >$S/SKILL.star
exits 'another input' 1 mapm run mend 'test=exit 0' --replay one.jsonl
like 'asks for something else' "$err" '^command 1 has another argv$'
sed 4d one.jsonl >less.jsonl
exits 'more than the tape has' 1 mapm run mend --replay less.jsonl
like 'is said' "$err" '^command 2 is not on the tape$'
sed '4p' one.jsonl >more.jsonl
exits 'what nobody asked for' 1 mapm run mend --replay more.jsonl
like 'is said, too' "$err" '^the run ended before this$'

# --- tapes that are none ----------------------------------------------------------------------

head -n 3 one.jsonl >cut.jsonl
exits 'a tape that was cut' 1 mapm run mend --replay cut.jsonl
like 'says so' "$err" 'cut.jsonl:3: the tape ends here, without an envelope'
like '[K33] in one line for a host' "$out" "^error: metaskill 'mend': cut.jsonl:3:"
head -c 300 one.jsonl >cut.jsonl
exits 'in the middle of a line' 1 mapm run mend --replay cut.jsonl
like 'says where' "$err" 'cut.jsonl:[12]: column [0-9]*: '
exits 'no file' 1 mapm run mend --replay nothing.jsonl
exits '[row 16] a folder' 4 mapm run mend --replay .agents
mkfifo pipe
exits '[row 16] a pipe is not waited for' 4 mapm run mend --replay pipe
rm pipe

# --- runs that fail ------------------------------------------------------------------------------

printf '#!/bin/sh\necho "no tokens left" >&2\nexit 1\n' >"$T/poor"
chmod +x "$T/poor"
rm -f mended
run mapm run mend "test=$test" --ask "exec:$T/poor" --allow 'sh *' --record failed.jsonl
is '[K33] a run that fails' "$status" 1
failure=$out
is 'makes a tape' "$(lines failed.jsonl 'list(t[-1]), list(t[2]["result"])')" "(['error'], ['error'])"
is 'with the error' "$(lines failed.jsonl 't[-1]["error"]')" "$failure"
exits 'which fails again' 1 mapm run mend --replay failed.jsonl
is 'in the same way' "$out" "$failure"
unlike 'and that is no difference' "$err" 'not what the tape has'
cp failed.jsonl $S/tests/
exits 'mapm test finds it fine' 0 mapm test mend

run mapm run mend 'test=exit 1' --ask "exec:$T/model" --allow 'sh *' \
    --max-ask-calls 1 --record budget.jsonl
like '[K29] a budget that is used up' "$out" '^error: .*budget'
is 'is on the tape' "$(lines budget.jsonl 't[0]["limits"]')" "{'run_max_asks': 1}"
unlike 'but not who set it' "$(cat budget.jsonl)" 'max-ask-calls'
exits 'so it ends in the same way' 1 mapm run mend --replay budget.jsonl
unlike 'without the option' "$err" 'not what the tape has'
cp budget.jsonl $S/tests/
exits 'and in mapm test' 0 mapm test mend

run mapm run mend 'test=exit 0' --ask "exec:$T/model" --record denied.jsonl
is 'a command that is not allowed' "$(lines denied.jsonl 't[1]["result"]["ok"], t[1]["result"]["exit_code"]')" '(False, -1)'
exits 'replays' 0 mapm run mend --replay denied.jsonl

# --- whole or not at all [row 27] -------------------------------------------------------------------

printf '#!/bin/sh\necho $$ >"%s/started"\nexec sleep 60\n' "$T" >"$T/slow"
chmod +x "$T/slow"
# interrupted SIGNAL FILE: a run that gets the signal while it asks.
interrupted()
{
    rm -f "$T/started" mended
    "$MAPM" run mend "test=$test" --ask "exec:$T/slow" --allow 'sh *' \
        --record "$2" >"$T/out" 2>"$T/err" &
    pid=$!
    await test -s "$T/started"
    kill "-$1" $pid
    wait $pid 2>/dev/null
    status=$? out=$(cat "$T/out") err=$(cat "$T/err")
}
interrupted TERM stopped.jsonl
is 'an interrupted run' "$status" 130
not_ok 'makes no tape' test -e stopped.jsonl
like 'and says so' "$err" 'stopped.jsonl is not written'
cp one.jsonl "$T/before"
interrupted TERM one.jsonl
ok 'an older tape stays' cmp one.jsonl "$T/before"
interrupted KILL one.jsonl
ok 'also after SIGKILL' cmp one.jsonl "$T/before"
kill "$(cat "$T/started")" 2>/dev/null
is 'and nothing half-written is left' "$(ls -A | grep -v -e jsonl -e '^ran$' -e '^mended$' | tr '\n' ' ')" \
    '.agents mapm.yaml '
rm -f mended
older=$(stat -c %i one.jsonl)
taped --record one.jsonl
is 'a new tape takes the place of an older one' "$status" 0
isnt 'which it is, even where they are alike' "$(stat -c %i one.jsonl)" "$older"

rm -f mended ran
taped --record nowhere/x.jsonl
is 'a folder that is not there' "$status" 1
like 'is said' "$out" 'there is no folder nowhere/'
not_ok 'before anything is run' test -e ran
taped --record .agents
is 'a folder in its place' "$status" 2
not_ok 'is as well' test -e ran
if obeys_modes; then
    mkdir locked && chmod 500 locked
    taped --record locked/x.jsonl
    is 'a folder that cannot be written' "$status" 1
    not_ok 'too' test -e ran
else
    skip 'a folder that cannot be written' 'root writes everywhere'
fi
done_testing

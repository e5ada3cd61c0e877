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
is 'run --record succeeds' "$status" 0
first=$out
is 'the tape has a line for the head, each step and the envelope' "$(lines one.jsonl '[list(x)[0] for x in t]')" \
    "['tape', 'command', 'ask', 'command', 'envelope']"
is 'the head of the tape has the version and the name' "$(lines one.jsonl '[(k, t[0][k]) for k in ("tape", "name")]')" \
    "[('tape', 1), ('name', 'mend')]"
is "the head of the tape has the digest of the program" "$(lines one.jsonl 't[0]["digest"]')" \
    "sha256:$(sha256sum <$S/SKILL.star | cut -c1-64)"
is 'the head of the tape has the input' "$(lines one.jsonl 't[0]["input"]["test"]')" "$test"
is 'the tape has the argv and options of a command' "$(lines one.jsonl 't[1]["command"]["argv"][:2], t[1]["command"]["opts"]')" \
    "(['sh', '-c'], {'timeout': 20})"
is 'the tape has the result of a command' "$(lines one.jsonl 't[1]["result"]')" \
    "{'ok': False, 'exit_code': 3, 'result': 'FAIL\\n', 'truncated': False}"
is 'the tape has the prompt and options of an ask' "$(lines one.jsonl 't[2]["ask"]')" \
    "{'prompt': 'Mend this:\\n\\nFAIL\\n', 'opts': {'purpose': 'mend', 'max_turns': 3}}"
like '[row 22] the tape has the answer as it was repaired' \
    "$(lines one.jsonl 'ascii(t[2]["result"]["answer"])')" 'Mended: \\xe4.*\\ufffd'
is 'the tape has the status in the envelope' "$(lines one.jsonl 't[-1]["envelope"]["status"]')" accepted
is 'run --record leaves no other file in the workspace' "$(ls -A | tr '\n' ' ')" '.agents mapm.yaml mended one.jsonl ran '

# --- replaying ---------------------------------------------------------------------------

rm mended ran "$T/asked"
same()
{
    printf '%s\n' "$1" | sed 's/"duration_s":[0-9.]*//'
}
exits 'run --replay with the tape alone succeeds' 0 mapm run mend --replay one.jsonl
is 'run --replay prints the same envelope but for the duration' "$(same "$out")" "$(same "$first")"
is 'run --replay prints nothing to stderr' "$err" ''
not_ok '[row 21] run --replay runs no command' test -e ran
not_ok 'run --replay asks no model' test -e "$T/asked"
exits 'run --replay succeeds without any program on the PATH' 0 env PATH=/nonexistent "$MAPM" run mend --replay one.jsonl
exits 'run --replay --json succeeds' 0 mapm run mend --replay one.jsonl --json
is 'run --replay --json prints the envelope alone' "$(printf '%s\n' "$out" | python3 -S -c '
import json, sys; print(json.load(sys.stdin)["status"])')" accepted
exits 'run --replay --trace succeeds' 0 mapm run mend --replay one.jsonl --trace
like 'run --replay --trace prints the steps' "$err" 'Mend this|mend'
exits 'runs --json after a replay succeeds' 0 mapm runs --json
is 'a replay adds no entry to the history of runs' "$(printf '%s\n' "$out" | python3 -S -c '
import json, sys; print(len(json.load(sys.stdin)["runs"]))')" 1
mkdir -p $S/tests
cp one.jsonl $S/tests/
exits 'mapm test accepts the recorded tape' 0 mapm test mend
exits 'run with --replay and --record is a usage error' 2 mapm run mend --replay one.jsonl --record two.jsonl

# --- what differs --------------------------------------------------------------------------

printf '%s\n' "$program" | sed 's/Mend this/Repair this/' >$S/SKILL.star
exits 'run --replay fails when the prompt differs' 1 mapm run mend --replay one.jsonl
like '[K33] the error for programs says that the ask differs from the tape' "$out" "^error: metaskill 'mend': ask 1 is not what the tape has$"
like 'the report for people says that the prompt differs' "$err" '^ask 1 has another prompt$'
like 'the difference has the line of the tape' "$err" '^-Mend this:$'
like 'the difference has the line of the program' "$err" '^\+Repair this:$'
like 'the difference has the line number in the tape' "$err" '^--- one.jsonl:3$'
like 'the report says that another program was recorded' "$err" 'one.jsonl was recorded with another SKILL.star'
exits 'run --replay --json fails when the prompt differs' 1 mapm run mend --replay one.jsonl --json
is 'run --replay --json prints one error document' "$(printf '%s\n' "$out" | python3 -S -c '
import json, sys; print(json.load(sys.stdin)["schema"])')" mapm.error/1

printf '%s\n' "$program" | sed 's/"timeout": 20/"timeout": 21/' >$S/SKILL.star
exits 'run --replay fails when the options of a command differ' 1 mapm run mend --replay one.jsonl
like 'the difference has the changed option' "$err" '^\+ *"timeout": 21$'
printf '%s\n' "$program" | sed 's/"exhausted"}/"exhausted"}  # nothing else/' >$S/SKILL.star
exits 'run --replay succeeds with a changed program that does the same' 0 mapm run mend --replay one.jsonl
like 'the report says that the tape is of another program' "$err" 'recorded with another SKILL.star'
printf '%s\n' "$program" | sed 's/"accepted"/"fine"/' >$S/SKILL.star
exits 'run --replay fails when the envelope differs' 1 mapm run mend --replay one.jsonl
like '[K31] run --replay prints the result when only the envelope differs' "$out" '^\{"status":"fine"'
like 'the report has the difference of the envelope' "$err" '^- *"status": "accepted",?$'
exits 'run --replay --json fails when the envelope differs' 1 mapm run mend --replay one.jsonl --json
is 'run --replay --json prints one document when the envelope differs' "$(printf '%s\n' "$out" | python3 -S -c '
import json, sys; print(json.load(sys.stdin)["status"])')" fine
printf '%s\n' "$program" >$S/SKILL.star
exits 'run --replay fails when the input differs' 1 mapm run mend 'test=exit 0' --replay one.jsonl
like 'the report says that the argv of a command differs' "$err" '^command 1 has another argv$'
sed 4d one.jsonl >less.jsonl
exits 'run --replay fails when the tape lacks a step' 1 mapm run mend --replay less.jsonl
like 'the report names the step that is not on the tape' "$err" '^command 2 is not on the tape$'
sed '4p' one.jsonl >more.jsonl
exits 'run --replay fails when the tape has a step too many' 1 mapm run mend --replay more.jsonl
like 'the report says that the run ended before the step' "$err" '^the run ended before this$'

# --- tapes that are none ----------------------------------------------------------------------

head -n 3 one.jsonl >cut.jsonl
exits 'run --replay of a truncated tape fails' 1 mapm run mend --replay cut.jsonl
like 'the error names the line where the tape ends' "$err" 'cut.jsonl:3: the tape ends here, without an envelope'
like '[K33] the error of a truncated tape is one line for a host' "$out" "^error: metaskill 'mend': cut.jsonl:3:"
head -c 300 one.jsonl >cut.jsonl
exits 'run --replay of a tape that ends within a line fails' 1 mapm run mend --replay cut.jsonl
like 'the error names line and column of the fault' "$err" 'cut.jsonl:[12]: column [0-9]*: '
exits 'run --replay of an absent file fails' 1 mapm run mend --replay nothing.jsonl
exits '[row 16] run --replay of a folder is refused' 4 mapm run mend --replay .agents
mkfifo pipe
exits '[row 16] run --replay refuses a pipe without a wait' 4 mapm run mend --replay pipe
rm pipe

# --- runs that fail ------------------------------------------------------------------------------

printf '#!/bin/sh\necho "no tokens left" >&2\nexit 1\n' >"$T/poor"
chmod +x "$T/poor"
rm -f mended
run mapm run mend "test=$test" --ask "exec:$T/poor" --allow 'sh *' --record failed.jsonl
is '[K33] run --record of a run that fails ends with exit code 1' "$status" 1
failure=$out
is 'the tape of a failed run ends with the error' "$(lines failed.jsonl 'list(t[-1]), list(t[2]["result"])')" "(['error'], ['error'])"
is 'the error on the tape equals the output' "$(lines failed.jsonl 't[-1]["error"]')" "$failure"
exits 'run --replay of a failed run fails' 1 mapm run mend --replay failed.jsonl
is 'run --replay prints the same error' "$out" "$failure"
unlike 'run --replay of a failed run reports no difference' "$err" 'not what the tape has'
cp failed.jsonl $S/tests/
exits 'mapm test accepts the tape of a failed run' 0 mapm test mend

run mapm run mend 'test=exit 1' --ask "exec:$T/model" --allow 'sh *' \
    --max-ask-calls 1 --record budget.jsonl
like '[K29] run --max-ask-calls 1 fails by its budget' "$out" '^error: .*budget'
is 'the head of the tape has the limit' "$(lines budget.jsonl 't[0]["limits"]')" "{'run_max_asks': 1}"
unlike 'the tape does not name the option of the limit' "$(cat budget.jsonl)" 'max-ask-calls'
exits 'run --replay with a used budget fails' 1 mapm run mend --replay budget.jsonl
unlike 'run --replay without the option reports no difference' "$err" 'not what the tape has'
cp budget.jsonl $S/tests/
exits 'mapm test accepts the tape with a limit' 0 mapm test mend

run mapm run mend 'test=exit 0' --ask "exec:$T/model" --record denied.jsonl
is 'the tape has the refusal of a command' "$(lines denied.jsonl 't[1]["result"]["ok"], t[1]["result"]["exit_code"]')" '(False, -1)'
exits 'run --replay with a refused command succeeds' 0 mapm run mend --replay denied.jsonl

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
is 'run --record ends with exit code 130 after SIGTERM' "$status" 130
not_ok 'an interrupted run --record writes no tape' test -e stopped.jsonl
like 'an interrupted run --record reports that no tape is written' "$err" 'stopped.jsonl is not written'
cp one.jsonl "$T/before"
interrupted TERM one.jsonl
ok 'an interrupted run --record leaves an older tape unchanged' cmp one.jsonl "$T/before"
interrupted KILL one.jsonl
ok 'run --record killed by SIGKILL leaves an older tape unchanged' cmp one.jsonl "$T/before"
kill "$(cat "$T/started")" 2>/dev/null
is 'interrupted runs leave no partial file' "$(ls -A | grep -v -e jsonl -e '^ran$' -e '^mended$' | tr '\n' ' ')" \
    '.agents mapm.yaml '
rm -f mended
older=$(stat -c %i one.jsonl)
taped --record one.jsonl
is 'run --record over an older tape succeeds' "$status" 0
isnt 'run --record replaces the file of the older tape' "$(stat -c %i one.jsonl)" "$older"

rm -f mended ran
taped --record nowhere/x.jsonl
is 'run --record into an absent folder fails' "$status" 1
like 'the error names the absent folder' "$out" 'there is no folder nowhere/'
not_ok 'run --record into an absent folder runs no command' test -e ran
taped --record .agents
is 'run --record with a folder as file is a usage error' "$status" 2
not_ok 'run --record with a folder as file runs no command' test -e ran
if obeys_modes; then
    mkdir locked && chmod 500 locked
    taped --record locked/x.jsonl
    is 'a folder that cannot be written' "$status" 1
    not_ok 'run --record into an unwritable folder runs no command' test -e ran
else
    skip 'a folder that cannot be written' 'root writes everywhere'
fi
done_testing

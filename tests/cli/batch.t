#!/bin/sh
# mapm run --batch: a metaskill for each line of a file. [S6]. What happens when its
# processes are killed, again and again: batch_kill.t.
. "$(dirname "$0")/../lib/cli.sh"

mkdir -p "$XDG_CONFIG_HOME/mapm"
echo 'policy: {sandbox: off}' >"$XDG_CONFIG_HOME/mapm/config.yaml"
touch mapm.yaml
skill skills/work 'metaskill: SKILL.star'
cat >skills/work/SKILL.star <<'STAR'
def run(input):
    if "fail" in input:
        fail("as it was told")
    if "ask" in input:
        input["said"] = ask(input["ask"])["answer"].strip()
    if "run" in input:
        r = command(["sh", "-c", input["run"]])
        return {"status": "ran", "answer": r["result"], "said": input.get("said", "")}
    return {"status": "done", "answer": input.get("said", "nothing"),
            "id": "mine", "shard": "mine", "end": "mine", "tape": "mine"}
STAR
# ends FILE: "id end status" of each line, sorted.
ends()
{
    python3 -S -c '
import json, sys
for line in sorted(open(sys.argv[1]), key=lambda x: json.loads(x)["id"]):
    r = json.loads(line)
    print(r["id"], r["end"], r["status"], sep=" ", end=";")' "$1"
}
member()
{
    python3 -S -c '
import json, sys
for line in open(sys.argv[1]):
    r = json.loads(line)
    if r["id"] == sys.argv[2]:
        print(json.dumps(r.get(sys.argv[3]), ensure_ascii=False))' "$@"
}
batch()
{
    "$MAPM" run work --batch q.jsonl --out out.jsonl --allow 'sh *' "$@"
}

# --- inputs and outputs -----------------------------------------------------------

cat >q.jsonl <<'LINES'
{"id":"a","input":{}}
{"id":"b","input":{"run":"echo b >>ran; echo out"}}

{"id":7,"input":{"fail":true}}
{"input":{"ask":"five"}}
LINES
exits 'run --batch exits with 3 when some inputs fail' 3 batch --ask 'exec:tr a-z A-Z'
is 'the output has a line with end and status for each input' "$(ends out.jsonl)" \
    '5 completed done;7 failed error;a completed done;b completed ran;'
is 'a line of the output has the answer of its input' "$(member out.jsonl 5 answer)" '"FIVE"'
is 'a line of the output has the shard of its input' "$(member out.jsonl a shard)" 0
is 'a member of the result does not replace a member of the host' "$(member out.jsonl a tape)" null
like 'a line of the output has the error of its input' "$(member out.jsonl 7 error)" 'fail: as it was told'
like 'run --batch reports counts on standard error' "$err" '^4 inputs: 3 completed, 1 failed, 0 interrupted$'
is 'the runs of a batch are not in the history' "$(mapm runs --json | grep -c '"name"')" 0
cp out.jsonl first.jsonl

exits 'a second run --batch exits with 3 again' 3 batch --ask 'exec:false'
ok 'a second run --batch writes the same output' cmp out.jsonl first.jsonl
is 'a second run --batch runs no input again' "$(cat ran)" b
exits 'run --batch without --out exits with 3' 3 mapm run work --batch q.jsonl
is 'run --batch without --out prints the same lines to standard output' "$out" "$(cat first.jsonl)"
echo '{"id":"new","input":{"run":"echo new >>ran"}}' >>q.jsonl
exits 'run --batch with an added input exits with 3' 3 batch
is 'run --batch runs the added input alone' "$(tr '\n' ' ' <ran)" 'b new '
sed -i '4s/.*//' q.jsonl
exits 'run --batch --json after a failed input was removed exits with 0' 0 batch --json
is 'the output has no line for the removed input' "$(ends out.jsonl | grep -c '7 failed')" 0
is 'run --batch --json reports schema, inputs, completed and output' "$(printf '%s\n' "$out" | python3 -S -c '
import json, sys
r = json.load(sys.stdin); print(r["schema"], r["inputs"], r["completed"], r["out"])')" 'mapm.batch/1 4 4 out.jsonl'

# --- refused before anything runs ---------------------------------------------------

refused()
{
    exits "$1" 4 batch --journal other
    like "$1: the error names the reason" "$err" "$2"
    not_ok "$1: no input is run" test -e "$T/ws/more"
}
printf '{"id":"x","input":{"run":"touch more"}}\n{"id":"x","input":{}}\n' >q.jsonl
refused 'an id that appears twice' 'q.jsonl:2: the id "x" is also that of line 1'
printf '{"id":"2","input":{"run":"touch more"}}\n{"input":{}}\n' >q.jsonl
refused 'an id that equals the number of another line' 'q.jsonl:2: the id "2"'
for line in 'x' '[]' '{"id":"y"}' '{"id":"y","input":1}' '{"id":"","input":{}}' \
    '{"id":"y","input":{},"x":1}' '{"id":"y","input":{"a":1,"a":2}}'; do
    printf '{"id":"x","input":{"run":"touch more"}}\n%s\n' "$line" >q.jsonl
    refused "a line $line" 'q.jsonl:2'
done
: >q.jsonl
refused 'an empty file' 'is empty'
echo '{"id":"a","input":{"run":"touch more"}}' >q.jsonl
exits 'run --batch exits with 4 for a changed input of a known id' 4 batch
like 'the error says that the journal began with another input' "$err" 'the journal began with another input for this id'
like 'the error of a changed input suggests --journal' "$err" '^  hint: .*--journal'
echo '{"id":"z","input":{"run":"touch more"}}' >q.jsonl
exits 'run --batch exits with 4 for another number of shards' 4 batch --shard 0/2
like 'the error names the journal of another number of shards' "$err" '0-of-1.journal is for another number of shards'
echo '# another' >>skills/work/SKILL.star
exits 'run --batch exits with 4 for a changed metaskill' 4 batch
like 'the error says that the journal is of another version' "$err" 'is of another version of work'
sed -i '$d' skills/work/SKILL.star
exits 'run --batch exits with 4 for a journal in the folder of the metaskill' 4 batch --journal skills/work/j
echo 'runtime: {metaskills: off}' >>"$XDG_CONFIG_HOME/mapm/config.yaml"
exits 'run --batch exits with 4 when the policy allows no metaskill' 4 batch
sed -i '$d' "$XDG_CONFIG_HOME/mapm/config.yaml"
not_ok 'the refused batches run no input' test -e more
exits 'run --batch exits with 1 for a missing file' 1 mapm run work --batch nothing.jsonl
exits 'run --batch exits with 1 for a missing skill' 1 mapm run nothing --batch q.jsonl
mkfifo pipe
exits '[row 16] run --batch exits with 4 for a pipe as input' 4 mapm run work --batch pipe
exits 'run --batch exits with 2 when the output is the input' 2 mapm run work --batch q.jsonl --out q.jsonl
exits 'run --batch exits with 2 when the output is the journal' 2 mapm run work --batch q.jsonl --out q.jsonl.journal/0-of-1.journal
for words in '--shard 2/2' '--shard x' '--shard 1' '-j 0' '-j 65' '--max-cost 0' '--retry x' \
    '--input {}' '--replay x' 'key=value' '--trace' '--json' '--merge'; do
    # shellcheck disable=SC2086 # words
    exits "usage: $words" 2 mapm run work --batch q.jsonl $words
done
for words in '--out x' '-j 2' '--shard 0/2' '--journal j' '--retry failed' '--max-cost 1' '--merge'; do
    # shellcheck disable=SC2086
    exits "usage without --batch: $words" 2 mapm run work $words
done

# --- a journal that was damaged -------------------------------------------------------

J=q.jsonl.journal/0-of-1.journal
printf '00000010 0123' >>"$J"
exits 'run --batch succeeds with a record cut off at the end of the journal' 0 batch
is 'run --batch runs the input of the cut record again' "$(ends out.jsonl)" 'z completed ran;'
is 'the journal ends with a newline after the repair' "$(tail -c 1 "$J" | od -An -c | tr -d ' ')" '\n'
sed 's/"how":"completed"/"how":"cOmpleted"/' "$J" >"$T/damaged" && cp "$T/damaged" "$J"
exits 'run --batch exits with 1 for damage in the middle of the journal' 1 batch
line=$(grep -n -m 1 cOmpleted "$J" | cut -d : -f 1)
like 'the error names the first byte of the damaged record' "$err" \
    "journal: byte $(head -n $((line - 1)) "$J" | wc -c): not a record of a journal"
like 'the error of a damaged journal has a hint' "$err" '^  hint: '
rm -rf q.jsonl.journal

# --- workers ------------------------------------------------------------------------------

cat >"$T/four" <<SH
#!/bin/sh
# Answers once four of it run at once.
touch "$T/asked.\$\$"
while [ "\$(ls "$T" | grep -c '^asked')" -lt 4 ]; do sleep 0.01; done
echo here
SH
chmod +x "$T/four"
for i in 1 2 3 4; do echo "{\"id\":\"$i\",\"input\":{\"ask\":\"$i\"}}"; done >q.jsonl
exits 'run --batch -j 4 has four asks under way at once' 0 batch -j 4 --ask "exec:$T/four"

# slow INPUT...: a batch in the background, once its first command or ask has begun.
slow()
{
    rm -rf begun q.jsonl.journal
    "$MAPM" run work --batch q.jsonl --out out.jsonl --allow 'sh *' "$@" \
        >"$T/out" 2>"$T/err" &
    pid=$!
    await test -s begun
}
ended()
{
    wait $pid 2>/dev/null
    status=$?
    out=$(cat "$T/out") err=$(cat "$T/err")
}
cat >"$T/model" <<SH
#!/bin/sh
echo asked >>"$T/asks"
cat
SH
chmod +x "$T/model"
cat >q.jsonl <<'LINES'
{"id":"a","input":{"run":"echo a >>ran"}}
{"id":"b","input":{"ask":"hello","run":"echo b >>ran; [ -e quick ] || { echo $$ >begun; exec sleep 600; }"}}
{"id":"c","input":{"run":"echo c >>ran"}}
LINES
rm -f ran
slow --ask "exec:$T/model"
exits 'a second process at one shard exits with 1' 1 batch
like 'the error says that another process works at the shard' "$err" 'another process works at this shard'
kill -KILL $pid
ended
exits 'run --batch exits with 3 after a kill during a command' 3 batch --ask "exec:$T/model"
is 'the input of the interrupted command ends as interrupted' "$(ends out.jsonl)" 'a completed ran;b interrupted interrupted;c completed ran;'
is 'the interrupted command is not run again' "$(tr '\n' ' ' <ran)" 'a b c '
like 'the error of the interrupted input suggests --retry interrupted' "$(member out.jsonl b error)" 'command 1 was under way.*--retry interrupted'
exits 'a second run --batch after the kill exits with 3' 3 batch --ask "exec:$T/model"
is 'a second run --batch after the kill runs nothing' "$(tr '\n' ' ' <ran)" 'a b c '
touch quick
exits 'run --batch --retry failed exits with 3 for an interrupted input' 3 batch --retry failed
is '--retry failed does not run an interrupted input' "$(tr '\n' ' ' <ran)" 'a b c '
exits 'run --batch --retry interrupted succeeds' 0 batch --retry interrupted --ask "exec:$T/model"
is '--retry interrupted runs the interrupted command again' "$(tr '\n' ' ' <ran)" 'a b c b '
is '--retry interrupted does not repeat an answered ask' "$(cat "$T/asks")" asked
is 'the line of the repeated input has the answer from before the kill' "$(member out.jsonl b said)" '"hello"'
kill "$(cat begun)" 2>/dev/null

rm -f quick ran "$T/asks"
slow --ask "exec:$T/model"
kill -TERM $pid
ended
is 'SIGTERM ends run --batch with exit code 130' "$status" 130
like 'SIGTERM during run --batch reports how many inputs have not ended' "$err" '^2 not ended$'
exits 'run --batch after SIGTERM exits with 3 for the interrupted input' 3 batch
is 'run --batch after SIGTERM runs the remaining inputs alone' "$(tr '\n' ' ' <ran)" 'a b c '

cat >"$T/stuck" <<SH
#!/bin/sh
echo asked >>"$T/asks"
[ -e quick ] || { echo \$\$ >begun; exec sleep 600; }
cat
SH
chmod +x "$T/stuck"
echo '{"id":"a","input":{"run":"echo a >>ran","ask":"hi"}}' >q.jsonl
rm -f ran "$T/asks"
slow --ask "exec:$T/stuck"
kill -KILL $pid
ended
kill "$(cat begun)" 2>/dev/null
touch quick
exits 'run --batch succeeds after a kill during an ask' 0 batch --ask "exec:$T/stuck"
is 'an ask that was interrupted by a kill is asked again' "$(grep -c asked "$T/asks")" 2

rm -f quick
slow --ask "exec:$T/stuck"
kill -KILL "$(cat "/proc/$pid/task/$pid/children")"
ended
is 'run --batch exits with 1 when a worker is killed' "$status" 1
like 'the error says that a worker ended unexpectedly' "$err" 'a worker ended unexpectedly'
like 'the error suggests to run the same command again' "$err" '^  hint: run the same command again: it continues'
kill "$(cat begun)" 2>/dev/null
rm -f begun

# --- again, costs, tapes --------------------------------------------------------------------

rm -rf q.jsonl.journal ran
printf '{"id":"a","input":{"run":"echo a >>ran; test -e fine && echo fine"}}\n{"id":"b","input":{"ask":"b"}}\n' >q.jsonl
exits 'run --batch exits with 3 when an ask fails' 3 batch --ask exec:false
is 'a failed ask fails its input alone' "$(ends out.jsonl)" 'a completed ran;b failed error;'
exits 'run --batch --retry failed succeeds with a working ask' 0 batch --retry failed --ask 'exec:tr a-z A-Z'
is '--retry failed runs the failed input alone' "$(member out.jsonl b answer) $(cat ran)" '"B" a'
exits 'run --batch succeeds after the failed input was repeated' 0 batch
is 'the output has the last end of the repeated input' "$(ends out.jsonl)" 'a completed ran;b completed done;'

rm -rf q.jsonl.journal "$T/asks"
for i in 1 2 3 4 5; do echo "{\"id\":\"$i\",\"input\":{\"ask\":\"$i\"}}"; done >q.jsonl
exits 'run --batch --max-cost 3 exits with 1 for five asks' 1 batch --max-cost 3 --ask "exec:$T/model"
is '--max-cost 3 allows three asks' "$(grep -c . "$T/asks")" 3
like 'the error says that all asks of --max-cost are used' "$err" 'all 3 asks of --max-cost are used'
like '--max-cost reports how many inputs have not ended' "$err" '^2 not ended$'
exits 'a second run --batch --max-cost 3 exits with 1' 1 batch --max-cost 3 --ask "exec:$T/model"
is 'the asks of earlier runs count for --max-cost' "$(grep -c . "$T/asks")" 3
exits 'run --batch with a higher --max-cost succeeds' 0 batch --max-cost 5 --ask "exec:$T/model"
is 'a higher --max-cost continues with the remaining asks' "$(grep -c . "$T/asks")" 5

rm -rf q.jsonl.journal
echo '{"id":"t","input":{"ask":"tape"}}' >q.jsonl
exits 'run --batch --record succeeds' 0 batch --record tapes --ask 'exec:tr a-z A-Z'
tape=$(member out.jsonl t tape | tr -d '"')
exits 'run --replay accepts the tape that a line of the output names' 0 mapm run work --replay "$tape" --json
like 'the replay of a tape gives the same answer' "$out" '"answer":"TAPE"'

# --- shards, and one output of them ------------------------------------------------------------

i=0
while [ $i -lt 40 ]; do
    i=$((i + 1))
    echo "{\"id\":\"n-$i\",\"input\":{}}"
done >q.jsonl
for i in 0 1 2; do
    exits "run --batch succeeds for shard $i of 3" 0 mapm run work --batch q.jsonl --journal shards --shard $i/3 --out s$i
done
is 'the outputs of three shards have each input once' "$(cat s0 s1 s2 | sed 's/,.*//' | sort -u | grep -c .)" 40
exits 'run --batch --merge of three outputs succeeds' 0 mapm run work --batch q.jsonl --merge s0 s1 s2 --out all --json
is 'the merged output has the order of the inputs' "$(sed 's/.*"id":"\([^"]*\)".*/\1/' all | tr '\n' ' ')" \
    "$(sed 's/.*"id":"\([^"]*\)".*/\1/' q.jsonl | tr '\n' ' ')"
rm all
exits '--merge exits with 1 when the output of a shard is missing' 1 mapm run work --batch q.jsonl --merge s0 s2 --out all
like 'the error names an input that is in none of the outputs' "$err" 'q.jsonl:[0-9]*: "n-[0-9]*" is in none of the outputs'
exits '--merge exits with 1 for an output that is given twice' 1 mapm run work --batch q.jsonl --merge s0 s1 s2 s0 --out all
like 'the error names both places of a repeated input' "$err" 's0:1: "n-[0-9]*" is also at s0:1'
echo '{"id":"n-0","shard":1,"end":"completed","status":"done"}' >s3
exits '--merge exits with 1 for an output with an unknown input' 1 mapm run work --batch q.jsonl --merge s0 s1 s2 s3 --out all
like 'the error names the id that no input has' "$err" 's3:1: no input has the id "n-0"'
echo '{"id":"n-0"' >s3
exits '--merge exits with 1 for a malformed output' 1 mapm run work --batch q.jsonl --merge s0 s1 s2 s3 --out all
not_ok 'a failed --merge writes no output' test -e all
exits '--merge exits with 2 when the output is one of its inputs' 2 mapm run work --batch q.jsonl --merge s0 s1 s2 --out s0

# --- each call of the file system -------------------------------------------------------------

: "${MAPM_BUILD:=$ROOT/build}"
[ -f "${MAPM_BUILD:-$ROOT/build}/calls.so" ] || broken 'no calls.so'
# with_calls COMMAND...: what mapm does in the folder k goes to calls.log, or fails.
with_calls()
{
    rm -f "$T"/calls.log*
    env LD_PRELOAD="${MAPM_BUILD:-$ROOT/build}/calls.so" CALLS_BELOW="$T/ws/k" CALLS_LOG="$T/calls.log" "$@"
}
echo '{"id":"a","input":{"run":"echo a >>ran"}}' >q.jsonl
rm -rf k
run with_calls "$MAPM" run work --batch q.jsonl --out out.jsonl --allow 'sh *' --journal k
is 'the journal is synced before a command begins and before its end is printed' \
    "$(grep '0-of-1.journal' "$T/calls.log" | cut -f 3 | tail -n 6 | tr '\n' ' ')" \
    'write write fsync write write fsync '
# What a call that never returns leaves, and one that fails: each of them.
faults=0 wrong=''
for fault in kill ENOSPC short; do
    n=1
    while [ $n -lt 50 ]; do
        rm -rf k ran
        run with_calls env CALLS_FAIL="ws:$n:$fault" "$MAPM" run work --batch q.jsonl --out out.jsonl \
            --allow 'sh *' --journal k
        first=$status
        run batch --journal k
        is_ended=$(ends out.jsonl) times=$(cat ran 2>/dev/null | grep -c a)
        case "$status $times $is_ended" in
        '0 1 a completed ran;' | '3 0 a interrupted interrupted;' | '3 1 a interrupted interrupted;') ;;
        *) wrong="$wrong $fault:$n: $first, then $status $times $is_ended" ;;
        esac
        [ $first -ne 0 ] || [ $n -lt 8 ] || break
        faults=$((faults + 1)) n=$((n + 1))
    done
done
is 'after any failed or killed call of the journal the input ends once and runs at most once' "$wrong" ''
diag "$faults faults"
at_most 'at least 20 calls of the journal were made to fail' 20 "$faults"

# --- examples ----------------------------------------------------------------------------------

# As the machines of others would run them: each step of the workflow and of the Job, with
# what they fill in, and all of parallel.sh.
skill skills/triage 'metaskill: SKILL.star'
cp skills/work/SKILL.star skills/triage/
i=0
while [ $i -lt 40 ]; do
    i=$((i + 1))
    echo "{\"id\":\"issue-$i\",\"input\":{}}"
done >issues.jsonl
mkdir bin batch
printf '#!/bin/sh\n[ "$1" = install ] || exec %s "$@"\n' "$MAPM" >bin/mapm
chmod +x bin/mapm
yaml()
{
    /usr/bin/python3 -c '
import sys, yaml
print(eval(sys.argv[2], {"y": yaml.safe_load(open(sys.argv[1]))}))' "$ROOT/examples/batch/$1" "$2"
}
merged()
{
    is "$1: the merged output has all 40 inputs completed" "$(grep -c '"end":"completed"' "$2")" 40
    rm -rf out-* journal "$2"
}
step()
{
    yaml matrix.yml "next(s['run'] for s in y['jobs']['$1']['steps'] if 'run' in s)" |
        sed "s/\${{ matrix.shard }}/${2-}/g"
}
for i in $(yaml matrix.yml "' '.join(map(str, y['jobs']['shard']['strategy']['matrix']['shard']))"); do
    step shard "$i" >step
    exits "the step of the GitHub Actions example succeeds for shard $i" 0 env PATH="$T/ws/bin:$PATH" sh -e step
done
step merge >step
exits 'the merge step of the GitHub Actions example succeeds' 0 env PATH="$T/ws/bin:$PATH" sh -e step
merged 'the GitHub Actions example' all.jsonl

is 'the Kubernetes example is a Job with an index' "$(yaml job.yaml 'y["kind"] + y["spec"]["completionMode"]')" JobIndexed
yaml job.yaml 'y["spec"]["template"]["spec"]["containers"][0]["args"][0]' | sed 's,/batch/,batch/,g' >step
cp issues.jsonl batch/
for i in 0 1 2 3 4 5 6 7; do
    exits "the Kubernetes example succeeds for pod $i" 0 env PATH="$T/ws/bin:$PATH" JOB_COMPLETION_INDEX=$i sh step
done
exits 'the merge of the Kubernetes example succeeds' 0 mapm run triage --batch issues.jsonl --merge batch/out-*.jsonl --out all.jsonl
merged Kubernetes all.jsonl

exits 'the GNU parallel example succeeds' 0 env PATH="$T/ws/bin:$PATH" "$ROOT/examples/batch/parallel.sh" -j 2
merged 'the GNU parallel example' all.jsonl
done_testing

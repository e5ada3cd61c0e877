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
exits 'some inputs fail' 3 batch --ask 'exec:tr a-z A-Z'
is 'each has a line' "$(ends out.jsonl)" \
    '5 completed done;7 failed error;a completed done;b completed ran;'
is 'with its envelope' "$(member out.jsonl 5 answer)" '"FIVE"'
is 'its shard' "$(member out.jsonl a shard)" 0
is 'no member of the program has a name of the host' "$(member out.jsonl a tape)" null
like 'and an error' "$(member out.jsonl 7 error)" 'fail: as it was told'
like 'a person gets a count' "$err" '^4 inputs: 3 completed, 1 failed, 0 interrupted$'
is 'the history has none of them' "$(mapm runs --json | grep -c '"name"')" 0
cp out.jsonl first.jsonl

exits 'the same again' 3 batch --ask 'exec:false'
ok 'prints the same' cmp out.jsonl first.jsonl
is 'and runs nothing' "$(cat ran)" b
exits 'to standard output' 3 mapm run work --batch q.jsonl
is 'as well' "$out" "$(cat first.jsonl)"
echo '{"id":"new","input":{"run":"echo new >>ran"}}' >>q.jsonl
exits 'an input that is new' 3 batch
is 'is run' "$(tr '\n' ' ' <ran)" 'b new '
sed -i '4s/.*//' q.jsonl
exits 'one that is gone' 0 batch --json
is 'is not printed' "$(ends out.jsonl | grep -c '7 failed')" 0
is 'the report' "$(printf '%s\n' "$out" | python3 -S -c '
import json, sys
r = json.load(sys.stdin); print(r["schema"], r["inputs"], r["completed"], r["out"])')" 'mapm.batch/1 4 4 out.jsonl'

# --- refused before anything runs ---------------------------------------------------

refused()
{
    exits "$1" 4 batch --journal other
    like "$1: why" "$err" "$2"
    not_ok "$1: nothing was run" test -e "$T/ws/more"
}
printf '{"id":"x","input":{"run":"touch more"}}\n{"id":"x","input":{}}\n' >q.jsonl
refused 'an id that stands twice' 'q.jsonl:2: the id "x" is also that of line 1'
printf '{"id":"2","input":{"run":"touch more"}}\n{"input":{}}\n' >q.jsonl
refused 'the number of a line that is an id' 'q.jsonl:2: the id "2"'
for line in 'x' '[]' '{"id":"y"}' '{"id":"y","input":1}' '{"id":"","input":{}}' \
    '{"id":"y","input":{},"x":1}' '{"id":"y","input":{"a":1,"a":2}}'; do
    printf '{"id":"x","input":{"run":"touch more"}}\n%s\n' "$line" >q.jsonl
    refused "a line $line" 'q.jsonl:2'
done
: >q.jsonl
refused 'no line' 'is empty'
echo '{"id":"a","input":{"run":"touch more"}}' >q.jsonl
exits 'another input of an id' 4 batch
like 'is said' "$err" 'the journal began with another input for this id'
like 'with what to do' "$err" '^  hint: .*--journal'
echo '{"id":"z","input":{"run":"touch more"}}' >q.jsonl
exits 'another number of shards' 4 batch --shard 0/2
like 'is said, too' "$err" '0-of-1.journal is for another number of shards'
echo '# another' >>skills/work/SKILL.star
exits 'another version of the package' 4 batch
like 'as well' "$err" 'is of another version of work'
sed -i '$d' skills/work/SKILL.star
exits 'a journal in the folder of the metaskill' 4 batch --journal skills/work/j
echo 'runtime: {metaskills: off}' >>"$XDG_CONFIG_HOME/mapm/config.yaml"
exits 'a policy that allows no metaskill' 4 batch
sed -i '$d' "$XDG_CONFIG_HOME/mapm/config.yaml"
not_ok 'none of them ran anything' test -e more
exits 'a file that is not there' 1 mapm run work --batch nothing.jsonl
exits 'a skill that is not there' 1 mapm run nothing --batch q.jsonl
mkfifo pipe
exits '[row 16] a pipe' 4 mapm run work --batch pipe
exits 'the input as the output' 2 mapm run work --batch q.jsonl --out q.jsonl
exits 'the journal as the output' 2 mapm run work --batch q.jsonl --out q.jsonl.journal/0-of-1.journal
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
exits 'a record that was cut off' 0 batch
is 'goes, and the input is run' "$(ends out.jsonl)" 'z completed ran;'
is 'the rest is whole' "$(tail -c 1 "$J" | od -An -c | tr -d ' ')" '\n'
sed 's/"how":"completed"/"how":"cOmpleted"/' "$J" >"$T/damaged" && cp "$T/damaged" "$J"
exits 'damage in the middle' 1 batch
like 'ends the batch, and says where' "$err" 'journal: byte [0-9]*: not a record of a journal'
like 'with what can be done' "$err" '^  hint: '
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
exits 'four asks at once with -j 4' 0 batch -j 4 --ask "exec:$T/four"

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
exits 'a second process at the shard' 1 batch
like 'is told so' "$err" 'another process works at this shard'
kill -KILL $pid
ended
exits 'a command under way when its process was killed' 3 batch --ask "exec:$T/model"
is 'ends interrupted' "$(ends out.jsonl)" 'a completed ran;b interrupted interrupted;c completed ran;'
is 'and was run once' "$(tr '\n' ' ' <ran)" 'a b c '
like 'which its line says' "$(member out.jsonl b error)" 'command 1 was under way.*--retry interrupted'
exits 'again' 3 batch --ask "exec:$T/model"
is 'nothing is' "$(tr '\n' ' ' <ran)" 'a b c '
touch quick
exits 'what failed is run again' 3 batch --retry failed
is 'this did not fail' "$(tr '\n' ' ' <ran)" 'a b c '
exits 'unless the user wants it' 0 batch --retry interrupted --ask "exec:$T/model"
is 'which runs it' "$(tr '\n' ' ' <ran)" 'a b c b '
is 'and asks nothing again' "$(cat "$T/asks")" asked
is 'its line has what was said before' "$(member out.jsonl b said)" '"hello"'
kill "$(cat begun)" 2>/dev/null

rm -f quick ran "$T/asks"
slow --ask "exec:$T/model"
kill -TERM $pid
ended
is 'a signal' "$status" 130
like 'says what is left' "$err" '^2 not ended$'
exits 'and its command is not run again' 3 batch
is 'the others are' "$(tr '\n' ' ' <ran)" 'a b c '

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
exits 'an ask under way when its process was killed' 0 batch --ask "exec:$T/stuck"
is 'is asked again' "$(grep -c asked "$T/asks")" 2

rm -f quick
slow --ask "exec:$T/stuck"
kill -KILL "$(cat "/proc/$pid/task/$pid/children")"
ended
is 'a worker that is killed' "$status" 1
like 'is reported' "$err" 'a worker ended unexpectedly'
like 'with what to do' "$err" '^  hint: run the same command again: it continues'
kill "$(cat begun)" 2>/dev/null
rm -f begun

# --- again, costs, tapes --------------------------------------------------------------------

rm -rf q.jsonl.journal ran
printf '{"id":"a","input":{"run":"echo a >>ran; test -e fine && echo fine"}}\n{"id":"b","input":{"ask":"b"}}\n' >q.jsonl
exits 'an ask that fails' 3 batch --ask exec:false
is 'fails its input' "$(ends out.jsonl)" 'a completed ran;b failed error;'
exits 'which is run again' 0 batch --retry failed --ask 'exec:tr a-z A-Z'
is 'alone' "$(member out.jsonl b answer) $(cat ran)" '"B" a'
exits 'its new end stays' 0 batch
is 'the last one' "$(ends out.jsonl)" 'a completed ran;b completed done;'

rm -rf q.jsonl.journal "$T/asks"
for i in 1 2 3 4 5; do echo "{\"id\":\"$i\",\"input\":{\"ask\":\"$i\"}}"; done >q.jsonl
exits 'a batch that may ask three times' 1 batch --max-cost 3 --ask "exec:$T/model"
is 'asks three times' "$(grep -c . "$T/asks")" 3
like 'and says so' "$err" 'all 3 asks of --max-cost are used'
like 'with what is left' "$err" '^2 not ended$'
exits 'once more' 1 batch --max-cost 3 --ask "exec:$T/model"
is 'it asks no more' "$(grep -c . "$T/asks")" 3
exits 'with more it goes on' 0 batch --max-cost 5 --ask "exec:$T/model"
is 'where it stopped' "$(grep -c . "$T/asks")" 5

rm -rf q.jsonl.journal
echo '{"id":"t","input":{"ask":"tape"}}' >q.jsonl
exits 'tapes' 0 batch --record tapes --ask 'exec:tr a-z A-Z'
tape=$(member out.jsonl t tape | tr -d '"')
exits 'are named by the lines, and replay' 0 mapm run work --replay "$tape" --json
like 'to the same' "$out" '"answer":"TAPE"'

# --- shards, and one output of them ------------------------------------------------------------

i=0
while [ $i -lt 40 ]; do
    i=$((i + 1))
    echo "{\"id\":\"n-$i\",\"input\":{}}"
done >q.jsonl
for i in 0 1 2; do
    exits "shard $i of 3" 0 mapm run work --batch q.jsonl --journal shards --shard $i/3 --out s$i
done
is 'together they have each input once' "$(cat s0 s1 s2 | sed 's/,.*//' | sort -u | grep -c .)" 40
exits 'they are merged' 0 mapm run work --batch q.jsonl --merge s0 s1 s2 --out all --json
is 'in the order of the inputs' "$(sed 's/.*"id":"\([^"]*\)".*/\1/' all | tr '\n' ' ')" \
    "$(sed 's/.*"id":"\([^"]*\)".*/\1/' q.jsonl | tr '\n' ' ')"
rm all
exits 'one that is missing' 1 mapm run work --batch q.jsonl --merge s0 s2 --out all
like 'is named by its inputs' "$err" 'q.jsonl:[0-9]*: "n-[0-9]*" is in none of the outputs'
exits 'one that is there twice' 1 mapm run work --batch q.jsonl --merge s0 s1 s2 s0 --out all
like 'too' "$err" 's0:1: "n-[0-9]*" is also at s0:1'
echo '{"id":"n-0","shard":1,"end":"completed","status":"done"}' >s3
exits 'one of another input' 1 mapm run work --batch q.jsonl --merge s0 s1 s2 s3 --out all
like 'as well' "$err" 's3:1: no input has the id "n-0"'
echo '{"id":"n-0"' >s3
exits 'one that is none' 1 mapm run work --batch q.jsonl --merge s0 s1 s2 s3 --out all
not_ok 'nothing is written then' test -e all
exits 'an output that is read' 2 mapm run work --batch q.jsonl --merge s0 s1 s2 --out s0

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
is 'a command begins once that is on the disk, its end is printed likewise' \
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
is 'whatever call of the journal ends or fails, the input ends once, and nothing is done twice' "$wrong" ''
diag "$faults faults"
at_most 'there are some' 20 "$faults"

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
    is "$1: all inputs are answered" "$(grep -c '"end":"completed"' "$2")" 40
    rm -rf out-* journal "$2"
}
step()
{
    yaml matrix.yml "next(s['run'] for s in y['jobs']['$1']['steps'] if 'run' in s)" |
        sed "s/\${{ matrix.shard }}/${2-}/g"
}
for i in $(yaml matrix.yml "' '.join(map(str, y['jobs']['shard']['strategy']['matrix']['shard']))"); do
    step shard "$i" >step
    exits "GitHub Actions: shard $i" 0 env PATH="$T/ws/bin:$PATH" sh -e step
done
step merge >step
exits 'GitHub Actions: merge' 0 env PATH="$T/ws/bin:$PATH" sh -e step
merged 'GitHub Actions' all.jsonl

is 'Kubernetes: a Job with an index' "$(yaml job.yaml 'y["kind"] + y["spec"]["completionMode"]')" JobIndexed
yaml job.yaml 'y["spec"]["template"]["spec"]["containers"][0]["args"][0]' | sed 's,/batch/,batch/,g' >step
cp issues.jsonl batch/
for i in 0 1 2 3 4 5 6 7; do
    exits "Kubernetes: pod $i" 0 env PATH="$T/ws/bin:$PATH" JOB_COMPLETION_INDEX=$i sh step
done
exits 'Kubernetes: merge' 0 mapm run triage --batch issues.jsonl --merge batch/out-*.jsonl --out all.jsonl
merged Kubernetes all.jsonl

exits 'GNU parallel' 0 env PATH="$T/ws/bin:$PATH" "$ROOT/examples/batch/parallel.sh" -j 2
merged 'GNU parallel' all.jsonl
done_testing

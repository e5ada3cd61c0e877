#!/bin/sh
# Batches whose processes are killed again and again, at random records of their
# journals: each input ends once, and nothing is done twice. [S6]. (SEED=N: others.)
. "$(dirname "$0")/../lib/cli.sh"

mkdir -p "$XDG_CONFIG_HOME/mapm"
echo 'policy: {sandbox: off}' >"$XDG_CONFIG_HOME/mapm/config.yaml"
touch mapm.yaml
skill skills/work 'metaskill: SKILL.star'
# killed WHAT INPUTS SHARDS KILLS KIND OPTION...
killed()
{
    what=$1
    shift
    ok "$what" python3 -S "$ROOT/tests/lib/batch_kill.py" "$MAPM" "$@"
    summary=$(tail -n 1 "$T/ok.log")
    diag "$summary"
}

cat >skills/work/SKILL.star <<'STAR'
def run(input):
    return ask("%d\n" % input["n"])["answer"]
STAR
killed '1,000 inputs over 8 shards, each killed 5 times: each is answered once' \
    1000 8 5 ask -j 2 --ask "exec:tee -a $T/ws/ran"
like 'the summary counts 1,000 completed inputs' "$summary" ' completed 1000 failed 0 interrupted 0$'
exits 'run --merge of the killed shards succeeds' 0 mapm run work --batch q.jsonl --merge out-*.jsonl --out all
is 'the merged outputs are in the order of the inputs' "$(sed 's/^{"id":"in-\([0-9]*\)",.*/\1/' all | sort -nc 2>&1 && grep -c . all)" 1000

rm -rf j out-* ran all
cat >skills/work/SKILL.star <<'STAR'
def run(input):
    return command(["sh", "-c", "echo %d | tee -a ran" % input["n"]])["result"]
STAR
killed '200 commands, killed likewise: none is run twice, each input ends once' \
    200 8 5 command -j 2 --allow 'sh *'
like 'the summary counts no failed input' "$summary" ' failed 0 interrupted [0-9]+$'
twice=$(sort -n ran | uniq -d)
exits 'run --merge of interrupted shards exits 3' 3 mapm run work --batch q.jsonl --merge out-*.jsonl --out all
is 'the merged outputs have each input once' "$(sed 's/,.*//' all | sort -u | grep -c .)" 200
is 'each completed input was run' "$(grep -c '"end":"completed"' all)" \
    "$(grep '"end":"completed"' all | sed 's/^{"id":"in-\([0-9]*\)",.*/\1/' | grep -cxFf ran)"
is 'no command was run twice' "$twice" ''
done_testing

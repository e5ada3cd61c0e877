#!/bin/sh
# `mapm events`: what happened in the library, listed and followed. [T23, T24, T25].
. "$(dirname "$0")/../lib/cli.sh"

# json PYTHON-EXPRESSION: of $out, the document d.
json()
{
    printf '%s\n' "$out" | python3 -S -c '
import json, re, sys
d = json.load(sys.stdin)
r = eval(sys.argv[1])
print("yes" if r is True else "no" if r is False else r)' "$1" 2>&1
}
# sql STATEMENT: on mapm.db, as another program has it.
sql()
{
    python3 -S -c 'import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as d:
    for row in d.execute(sys.argv[2]): print(*row)' "$MAPM_HOME/mapm.db" "$1"
}

exits 'nothing yet' 0 mapm events
is 'nothing is listed' "$out" ''
like 'which is said' "$err" 'nothing happened'
exits 'for programs' 0 mapm events --json
is 'an empty list' "$(json 'd')" "{'schema': 'mapm.events/1', 'events': []}"

skill .agents/skills/one
skill .agents/skills/two
exits 'a skill is loaded' 0 mapm -q skill load --session "s 1" one
exits 'and another' 0 mapm -q skill load two
exits 'which are events' 0 mapm events
like 'with time, type, session and what it was' "$(printf '%s\n' "$out" | head -n 1)" \
    '^[0-9-]{10} [0-9:]{8}  skill\.loaded +s 1  skill_id=one skill_version=[0-9a-f]{16} load_reason=on_demand load_size_tokens=[0-9]+ source=workspace$'
is 'in their order' "$(printf '%s\n' "$out" | grep -o 'skill_id=[a-z]*' | tr '\n' ' ')" \
    'skill_id=one skill_id=two '
exits 'for programs' 0 mapm events --json
is 'with the members of [T24]' "$(json 'sorted(d["events"][0])')" \
    "['actor', 'id', 'parent_event_id', 'payload', 'sensitivity', 'session_id', 'timestamp', 'turn_id', 'type']"
is 'a ULID' "$(json 'all(re.fullmatch("[0-7][0-9A-HJKMNP-TV-Z]{25}", v["id"]) is not None for v in d["events"])')" yes
is 'UTC with microseconds' \
    "$(json 're.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", d["events"][0]["timestamp"]) is not None')" yes
is 'who, and how private [T23]' \
    "$(json '[d["events"][0][k] for k in ("type", "actor", "sensitivity", "session_id", "turn_id", "parent_event_id")]')" \
    "['skill.loaded', 'system', 'pseudonymous', 's 1', None, None]"
is 'and the payload of [T23]' "$(json 'sorted(d["events"][0]["payload"])')" \
    "['load_reason', 'load_size_tokens', 'skill_id', 'skill_version', 'source', 'triggered_by_tool_use_id']"
is 'without its body' "$(json '"Do what" in json.dumps(d)')" no
is 'without a session each load has its own' \
    "$(json 're.fullmatch("[0-9A-Z]{26}", d["events"][1]["session_id"]) is not None')" yes

# --- some of them -----------------------------------------------------------------

sql "INSERT INTO events VALUES('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 1700000000000001, 's2', 't', 'p',
    'tool.failed', 'tool', 'private', '{\"error_class\": \"X\", \"n\": [1]}')"
sql "INSERT INTO events VALUES('x', 5, 's3', NULL, NULL,
    'new.type', 'robot', 'secret', 'no json' || char(27) || '[31m')"
exits 'unknown types and words' 0 mapm events --json
is 'are shown as they are [T25]' \
    "$(json '[(v["type"], v["actor"], v["payload"]) for v in d["events"][2:]]')" \
    "[('tool.failed', 'tool', {'error_class': 'X', 'n': [1]}), ('new.type', 'robot', 'no json\\x1b[31m')]"
is 'to the microsecond' "$(json 'd["events"][2]["timestamp"]')" '2023-11-14T22:13:20.000001Z'
exits 'for a person' 0 mapm events
like 'with controls visible [row 7]' "$out" '^1970-01-01 00:00:00  new\.type +s3  no json.*x1[Bb]'
exits 'of one type' 0 mapm events --type tool.failed
is 'alone' "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 1
exits 'of one session' 0 mapm events --session 's 1'
like 'alone' "$out" 'skill_id=one'
unlike 'without others' "$out" 'skill_id=two'
exits 'the last ones' 0 mapm events --limit 1
like 'are the last' "$out" 'new\.type'
for bad in 0 x -1 10001; do
    exits "--limit $bad" 2 mapm events --limit $bad
done

# --- followed -----------------------------------------------------------------------

# tail_of FILE COUNT: waits for so many lines.
tail_of()
{
    tries=0
    until [ "$(wc -l <"$1")" -ge "$2" ] || [ $tries -gt 200 ]; do
        tries=$((tries + 1))
        sleep 0.05
    done
}
: >"$T/followed"
"$MAPM" events --follow --json --limit 1 --type skill.loaded >>"$T/followed" 2>"$T/follow.err" </dev/null &
follower=$!
tail_of "$T/followed" 1
run mapm -q skill load --session f one
sql "INSERT INTO events VALUES('y', 5, 's3', NULL, NULL, 'new.type', 'user', 'private', '{}')"
run mapm -q skill load --session f two
tail_of "$T/followed" 3
exits '[F3] gc does not wait for it' 0 mapm store gc
is '[F3] it says nothing' "$err" ''
kill -TERM $follower
wait $follower
is 'it ends with a signal' $? 130
out=$(tail -n 1 "$T/followed")
is 'each is one line, one document' \
    "$(json '(d["schema"], d["type"], d["payload"]["skill_id"])')" \
    "('mapm.event/1', 'skill.loaded', 'two')"
is 'what came before it, and what came' \
    "$(grep -o '"skill_id":"[a-z]*"' "$T/followed" | tr '\n' ' ')" \
    '"skill_id":"two" "skill_id":"one" "skill_id":"two" '
is 'nothing else is said' "$(cat "$T/follow.err")" ''
is 'when nobody reads on, it ends' \
    "$(timeout 20 "$MAPM" events --follow 2>/dev/null | head -n 1 | wc -l | tr -d ' ')" 1
done_testing

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

exits 'events succeeds without events' 0 mapm events
is 'events without events prints nothing to standard output' "$out" ''
like 'events without events says that nothing happened' "$err" 'nothing happened'
exits 'events --json succeeds without events' 0 mapm events --json
is 'events --json without events has an empty list' "$(json 'd')" "{'schema': 'mapm.events/1', 'events': []}"

skill .agents/skills/one
skill .agents/skills/two
exits 'skill load --session succeeds' 0 mapm -q skill load --session "s 1" one
exits 'skill load of another skill succeeds' 0 mapm -q skill load two
exits 'events succeeds after two loads' 0 mapm events
like 'events shows time, type, session and payload of a load' "$(printf '%s\n' "$out" | head -n 1)" \
    '^[0-9-]{10} [0-9:]{8}  skill\.loaded +s 1  skill_id=one skill_version=[0-9a-f]{16} load_reason=on_demand load_size_tokens=[0-9]+ source=workspace$'
is 'events shows the loads in their order' "$(printf '%s\n' "$out" | grep -o 'skill_id=[a-z]*' | tr '\n' ' ')" \
    'skill_id=one skill_id=two '
exits 'events --json succeeds after two loads' 0 mapm events --json
is 'an event of events --json has the members of [T24]' "$(json 'sorted(d["events"][0])')" \
    "['actor', 'id', 'parent_event_id', 'payload', 'sensitivity', 'session_id', 'timestamp', 'turn_id', 'type']"
is 'the id of an event is a ULID' "$(json 'all(re.fullmatch("[0-7][0-9A-HJKMNP-TV-Z]{25}", v["id"]) is not None for v in d["events"])')" yes
is 'the timestamp of an event is UTC with microseconds' \
    "$(json 're.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", d["events"][0]["timestamp"]) is not None')" yes
is 'an event has its type, actor, sensitivity and session [T23]' \
    "$(json '[d["events"][0][k] for k in ("type", "actor", "sensitivity", "session_id", "turn_id", "parent_event_id")]')" \
    "['skill.loaded', 'system', 'pseudonymous', 's 1', None, None]"
is 'a load event has the payload of [T23]' "$(json 'sorted(d["events"][0]["payload"])')" \
    "['load_reason', 'load_size_tokens', 'skill_id', 'skill_version', 'source', 'triggered_by_tool_use_id']"
is 'a load event does not have the body of the skill' "$(json '"Do what" in json.dumps(d)')" no
is 'a load without --session has a session id of its own' \
    "$(json 're.fullmatch("[0-9A-Z]{26}", d["events"][1]["session_id"]) is not None')" yes

# --- some of them -----------------------------------------------------------------

sql "INSERT INTO events VALUES('7ZZZZZZZZZZZZZZZZZZZZZZZZZ', 1700000000000001, 's2', 't', 'p',
    'tool.failed', 'tool', 'private', '{\"error_class\": \"X\", \"n\": [1]}')"
sql "INSERT INTO events VALUES('x', 5, 's3', NULL, NULL,
    'new.type', 'robot', 'secret', 'no json' || char(27) || '[31m')"
exits 'events --json succeeds with unknown types and actors' 0 mapm events --json
is 'events --json shows unknown types, actors and payloads as they are [T25]' \
    "$(json '[(v["type"], v["actor"], v["payload"]) for v in d["events"][2:]]')" \
    "[('tool.failed', 'tool', {'error_class': 'X', 'n': [1]}), ('new.type', 'robot', 'no json\\x1b[31m')]"
is 'events --json shows the timestamp to the microsecond' "$(json 'd["events"][2]["timestamp"]')" '2023-11-14T22:13:20.000001Z'
exits 'events succeeds with control characters in a payload' 0 mapm events
like 'events shows control characters as text [row 7]' "$out" '^1970-01-01 00:00:00  new\.type +s3  no json.*x1[Bb]'
exits 'events --type succeeds' 0 mapm events --type tool.failed
is 'events --type lists the events of that type alone' "$(printf '%s\n' "$out" | wc -l | tr -d ' ')" 1
exits 'events --session succeeds' 0 mapm events --session 's 1'
like 'events --session lists the load of that session' "$out" 'skill_id=one'
unlike 'events --session does not list the load of another session' "$out" 'skill_id=two'
exits 'events --limit 1 succeeds' 0 mapm events --limit 1
like 'events --limit 1 lists the last event' "$out" 'new\.type'
for bad in 0 x -1 10001; do
    exits "events exits with 2 for --limit $bad" 2 mapm events --limit $bad
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
exits '[F3] store gc succeeds while events --follow runs' 0 mapm store gc
is '[F3] store gc prints no message while events --follow runs' "$err" ''
kill -TERM $follower
wait $follower
is 'SIGTERM ends events --follow with exit code 130' $? 130
out=$(tail -n 1 "$T/followed")
is 'events --follow --json prints one document in a line' \
    "$(json '(d["schema"], d["type"], d["payload"]["skill_id"])')" \
    "('mapm.event/1', 'skill.loaded', 'two')"
is 'events --follow prints the last earlier event and the later ones' \
    "$(grep -o '"skill_id":"[a-z]*"' "$T/followed" | tr '\n' ' ')" \
    '"skill_id":"two" "skill_id":"one" "skill_id":"two" '
is 'events --follow prints nothing to standard error' "$(cat "$T/follow.err")" ''
is 'events --follow ends when its reader closes the pipe' \
    "$(timeout 20 "$MAPM" events --follow 2>/dev/null | head -n 1 | wc -l | tr -d ' ')" 1
done_testing

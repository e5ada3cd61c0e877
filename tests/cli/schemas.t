#!/bin/sh
# The JSON Schemas of mapm.yaml, config.yaml, tapes and every --json output [S9].
. "$(dirname "$0")/../lib/cli.sh"

PYTHON=python3
python3 -c 'import jsonschema' 2>/dev/null || PYTHON=/usr/bin/python3
if ! $PYTHON -c 'import jsonschema' 2>/dev/null; then
    skip '[S9] schemas' 'python3-jsonschema is missing'
    done_testing
    exit
fi
schemas()
{
    $PYTHON "$ROOT/tests/lib/schemas.py" "$@" 2>&1
}

# --- the code ---------------------------------------------------------------

is '[S9] each member of an output and each key of a file is in a schema' \
    "$(schemas keys)" ''
is '[S9] the schemas have the limits, presets and kinds of hosts of the code' \
    "$("${MAPM_BUILD:-$ROOT/build}/schema_facts" | schemas facts)" ''
mkdir -p "$T/settings"
is '[S9] program and schema accept the same settings and mutations of them' \
    "$(schemas settings "$MAPM" "$T/settings")" ''
rm -rf "$XDG_CONFIG_HOME/mapm"
for tape in "$ROOT"/examples/catalog/*/*/tests/*.jsonl; do
    [ -f "$tape" ] && tapes="${tapes-} $tape"
done
# shellcheck disable=SC2086
is '[S9] the tapes of the example catalog match their schema' "$(schemas lines tape $tapes)" ''
printf '%s\n' '{"ask":{"prompt":"x"},"result":{"answer":"y","more":1}}' >"$T/bad.jsonl"
like '[S9] a tape with an additional member does not match its schema' "$(schemas lines tape "$T/bad.jsonl")" 'bad.jsonl:1'

# --- outputs ----------------------------------------------------------------

mkdir -p "$T/json"
count=0
# json EXIT COMMAND...: its one document is kept.
json()
{
    want=$1
    shift
    count=$((count + 1))
    mapm "$@" --json >"$T/json/$count-$(echo "$1-${2-}" | tr -c 'a-z-\n' _)" 2>"$T/err" </dev/null
    got=$?
    [ "$got" = "$want" ] || fail "mapm $*: exit $got, not $want: $(cat "$T/err" "$T"/json/$count-*)"
}

start_githost
skill "$T/src/skills/hello"
mkdir -p "$T/src/skills/hello/scripts"
echo 'echo hello' >"$T/src/skills/hello/scripts/x.sh"
skill "$T/src/skills/other"
make_repo acme/catalog "$T/src"
U=https://github.com/acme/catalog/tree/main
json 0 init
json 0 install --yes "$U/skills/hello" "file:$ROOT/examples/catalog/skills/test-fix"
git init -q . && json 0 init --gitignore
json 0 install "$U"
json 1 why nothing
json 0 list
json 0 tree
json 0 why hello
json 0 verify
json 0 store pull
json 0 bundle "$T/b.tar"
json 0 vendor
json 0 outdated
echo more >>.agents/skills/hello/SKILL.md
json 0 diff
json 0 restore hello --yes
json 0 info "$U/skills/other"
json 0 info "$U"
json 0 check .agents/skills/hello
json 0 client list
json 0 client add codex
json 0 client remove codex
json 0 doctor
json 0 doctor --restore-user --yes
json 0 catalog add "$U"
json 0 catalog list
json 0 catalog refresh
json 0 search hello
json 0 catalog remove "$U"
cp -R "$T/src" "$T/published"
json 0 catalog index "$T/published"
json 0 host add ghe.example.com --kind github
json 0 host set ghe.example.com --token none
json 0 host list
json 0 host remove ghe.example.com
json 0 budget
json 0 version
json 0 help
json 0 trust --workspace --yes
json 0 trust --list
json 0 skill list
json 0 skill search hello
json 0 skill match say hello
json 0 skill index
json 0 skill load hello --session s1
json 0 skill load hello
json 0 skill files hello
json 0 skill files hello scripts/x.sh
json 0 skill show hello
json 0 events
# Not below timeout: one that is killed just after its fork leaves the program behind.
"$MAPM" events --follow --json >"$T/follow" 2>/dev/null &
follower=$!
seen()
{
    mapm skill load hello --session s1 >/dev/null 2>&1
    test -s "$T/follow"
}
await seen
kill "$follower" && wait "$follower" 2>/dev/null
head -1 "$T/follow" >"$T/json/event"
json 0 test .agents/skills/test-fix
skill skills/small 'metaskill: SKILL.star'
echo 'def run(input): return "done"' >skills/small/SKILL.star
mapm run small --input '{}' >"$T/err" 2>&1 </dev/null || fail "$(cat "$T/err")"
echo '{"input":{}}' >q.jsonl
json 0 run small --batch q.jsonl --out out.jsonl
cat >skills/small/SKILL.star <<'EOF'
def run(input):
    trace("step", {"n": 1})
    return fail("no") if input else {"answer": "done", "tape": 1, "more": [1]}
EOF
printf '%s\n' '{"id":"a","input":{}}' '{"id":7,"input":{}}' '{"input":{"bad":1}}' >lines.jsonl
mapm run small --batch lines.jsonl --record "$T/tapes" >"$T/lines" 2>/dev/null </dev/null
is '[S9] the inputs of a batch match their schema' "$(schemas lines batch-input q.jsonl lines.jsonl)" ''
is '[S9] the output of a batch matches its schema' "$(schemas lines batch-output out.jsonl "$T/lines")" ''
is '[S9] the output of the batch has two completed lines and a failed one' "$(grep -c '"end":"completed"' "$T/lines") $(grep -c '"end":"failed"' "$T/lines")" '2 1'
sed 's/"error":/"err":/' "$T/lines" >"$T/other-lines"
like '[S9] an output of a batch with another member does not match its schema' "$(schemas lines batch-output "$T/other-lines")" 'other-lines:[0-9]'
json 0 runs
json 0 runs show
json 0 star -c '1'
json 0 new skill fresh
json 0 store path
json 0 store stats
json 0 store push --to "$T/pushed"
json 0 store verify
json 0 store gc
json 0 trust --revoke --all
json 0 remove hello --yes
is '[S9] each output matches its schema, and each schema has an output' \
    "$(schemas outputs "$T/json")" ''

# --- installed ---------------------------------------------------------------

unlike '[S9] init of a program that is not installed names no schema' "$(head -1 mapm.yaml)" 'schema='
mkdir -p "$T/usr/bin" "$T/usr/share/mapm"
cp "$MAPM" "$T/usr/bin/mapm"
cp -R "$ROOT/schemas" "$T/usr/share/mapm/"
"$T/usr/bin/mapm" init "$T/installed" >/dev/null 2>&1
is '[S9] init of an installed program names the schema in its share folder' "$(head -1 "$T/installed/mapm.yaml")" \
    "# yaml-language-server: \$schema=$T/usr/share/mapm/schemas/mapm.yaml.json"
ok '[S9] the named schema exists' test -f "$(sed -n '1s/.*schema=//p' "$T/installed/mapm.yaml")"
HOME=$T "$T/usr/bin/mapm" init "$T/committed" >/dev/null 2>&1
unlike '[S9] init of a program in the home of the user names no schema' "$(head -1 "$T/committed/mapm.yaml")" 'schema='
rm -r "$T/usr/share"
"$T/usr/bin/mapm" init "$T/without" >/dev/null 2>&1
unlike '[S9] init of an installed program without schemas names none' "$(head -1 "$T/without/mapm.yaml")" 'schema='
done_testing

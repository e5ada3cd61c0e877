# ask.sh: what the tests of the backends that are APIs share, after cli.sh: the
# driver, and tests/lib/api.py, which answers as its script says.

ASK=${MAPM_BUILD:-$ROOT/build}/ask_drive
[ -x "$ASK" ] || broken 'ask_drive is not built'
KEY=sk-sekrit-0123456789
api_pid=

leave_api()
{
    [ -z "$api_pid" ] || { kill "$api_pid" && wait "$api_pid"; } 2>/dev/null
    leave
}
trap leave_api EXIT

# start_api [OPTION...]: another one; its address in $API.
start_api()
{
    [ -z "$api_pid" ] || { kill "$api_pid" && wait "$api_pid"; } 2>/dev/null
    rm -f "$T/api.ready"
    : >"$T/api.log"
    echo '["ok", "Hello."]' >"$T/api.script"
    python3 -S "$ROOT/tests/lib/api.py" --ready "$T/api.ready" --log "$T/api.log" \
        --script "$T/api.script" "$@" 2>"$T/api.err" &
    api_pid=$!
    tries=0
    until grep -q '^http.*:[0-9]' "$T/api.ready" 2>/dev/null; do
        tries=$((tries + 1))
        if [ $tries -gt 300 ] || ! kill -0 "$api_pid" 2>/dev/null; then
            diag "api.py did not start: $(cat "$T/api.err")"
            exit 1
        fi
        sleep 0.05
    done
    API=$(cat "$T/api.ready")
}
# script LINE...: what it answers from now on, in order; the last one stays.
script()
{
    : >"$T/api.log"
    printf '%s\n' "$@" >"$T/api.script"
}
# asked: how many requests came since then.
asked()
{
    grep -c . "$T/api.log"
}
is_asked()
{
    [ "$(asked)" -gt 0 ]
}
# sent EXPRESSION: of the last request r: r["line"], h (headers in lower case),
# b (its body as JSON).
sent()
{
    python3 -S - "$T/api.log" "$1" <<'PYTHON'
import json, sys
r = json.loads(open(sys.argv[1]).read().splitlines()[-1])
h = {k.lower(): v for k, v in r["headers"]}
try:
    b = json.loads(r["body"].encode("latin-1"))
except ValueError:
    b = None
print(eval(sys.argv[2]))
PYTHON
}
# drive ARG...: the driver, with what is in $prompt as input.
prompt='Say hello.'
drive()
{
    printf '%s' "$prompt" >"$T/prompt"
    "$ASK" "$@" >"$T/out" 2>"$T/err" <"$T/prompt"
    status=$?
    out=$(cat "$T/out") err=$(cat "$T/err")
}
# want WHAT STATUS REGEX ARG...: that status, and a line of the output that fits;
# never the key.
want()
{
    what=$1 code=$2 regex=$3
    shift 3
    drive "$@"
    is "$what" "$status" "$code"
    like "$what: said so" "$out" "$regex"
    case $out$err in *$KEY*) fail "$what: shows the key"; show_run ;; esac
}

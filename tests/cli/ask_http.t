#!/bin/sh
# ask by HTTP: both shapes of an API, what they answer, and what goes wrong.
# [K23, K24, row 13, row 20, row 22]; DESIGN 8. The transport: tests/cli/post.t.
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/ask.sh"

unset ANTHROPIC_API_KEY OPENAI_API_KEY
start_api
ANTHROPIC_BASE_URL=$API OPENAI_BASE_URL=$API/v1 MAPM_ASK_MODEL=model-1
export ANTHROPIC_BASE_URL OPENAI_BASE_URL MAPM_ASK_MODEL

# a, o: what one line of the script makes of an ask of each kind.
a()
{
    script "$2"
    shift_want "$1" "$3" "$4" anthropic
}
o()
{
    script "$2"
    shift_want "$1" "$3" "$4" openai
}
shift_want()
{
    want "$1" "$2" "$3" ask "$4"
}
both()
{
    a "anthropic: $1" "$2" "$3" "$4"
    o "openai: $1" "$2" "$3" "$4"
}

# --- what is sent -----------------------------------------------------------
prompt='Grüß "Gott"
 - \ …'
script '["ok", "Hello."]'
ANTHROPIC_API_KEY=$KEY
export ANTHROPIC_API_KEY
want 'an ask of anthropic succeeds' 0 '^ANSWER turns=1 exhausted=0 truncated=0 bytes=6$' ask anthropic
is 'the request to anthropic has its path' "$(sent 'r["line"]')" 'POST /v1/messages HTTP/1.1'
is 'the request to anthropic has exactly this body' "$(sent 'r["body"].encode("latin-1").decode()')" \
    '{"model":"model-1","max_tokens":16384,"messages":[{"role":"user","content":"Grüß \"Gott\"\n - \\ …"}]}'
is 'the request to anthropic has exactly these headers' "$(sent 'sorted((k, v) for k, v in h.items() if k not in ("host", "content-length"))')" \
    "[('accept', 'application/json'), ('anthropic-version', '2023-06-01'), ('content-type', 'application/json'), ('user-agent', 'mapm/$("$MAPM" version | sed 's/.* //')'), ('x-api-key', '$KEY')]"
unset ANTHROPIC_API_KEY

OPENAI_API_KEY=$KEY
export OPENAI_API_KEY
want 'an ask of openai succeeds' 0 '^ANSWER turns=1 exhausted=0 truncated=0 bytes=6$' ask openai
is 'the request to openai has its path' "$(sent 'r["line"]')" 'POST /v1/chat/completions HTTP/1.1'
is 'the request to openai has exactly this body' "$(sent 'r["body"].encode("latin-1").decode()')" \
    '{"model":"model-1","max_tokens":16384,"stream":false,"messages":[{"role":"user","content":"Grüß \"Gott\"\n - \\ …"}]}'
is 'the request to openai has the key as bearer token' "$(sent 'h["authorization"]')" "Bearer $KEY"
is 'the request to openai has no x-api-key header' "$(sent '"x-api-key" in h')" False
unset OPENAI_API_KEY
prompt='Say hello.'
want 'an ask of a local server without a key succeeds' 0 '^ANSWER' ask openai --url "$API/v1" --model llama
is 'the request to a local server has no authorization header' "$(sent '"authorization" in h')" False
want 'an ask with an address without /v1 succeeds' 0 '^ANSWER' ask openai --url "$API" --model llama
is '/v1 is added to an address of openai without it' "$(sent 'r["line"]')" 'POST /v1/chat/completions HTTP/1.1'
want 'an ask of anthropic with an address with /v1 succeeds' 0 '^ANSWER' ask anthropic --url "$API/v1/" --model m
is 'the path of anthropic has /v1 once' "$(sent 'r["line"]')" 'POST /v1/messages HTTP/1.1'
want 'an ask with another path in the address succeeds' 0 '^ANSWER' ask openai --url "$API/x/v4" --model m
is 'another path in the address is kept' "$(sent 'r["line"]')" 'POST /x/v4/chat/completions HTTP/1.1'
prompt=$(printf 'a\377b\355\240\200c')
want 'an ask with a prompt that is not UTF-8 succeeds' 0 '^ANSWER' ask openai
is 'bytes of the prompt that are not UTF-8 are replaced' "$(sent 'b["messages"][0]["content"] == "a\ufffdb\ufffd\ufffd\ufffdc"')" True
prompt=$(head -c 4000000 /dev/zero | tr '\0' '"')
want 'an ask with a prompt of four megabytes succeeds' 0 '^ANSWER' ask openai
is 'a prompt of four megabytes is sent whole' "$(sent 'len(b["messages"][0]["content"])')" 4000000
prompt='Say hello.'

# --- which model, which key [K23, row 20] -------------------------------------
unset MAPM_ASK_MODEL
want 'an ask without a model fails' 1 '\[not-found\].*no model is named for openai.*MAPM_ASK_MODEL' ask openai
want 'find without a model reports that none is named' 0 '^openai place= note=no model is named for openai$' find openai
want 'find reports the model of the configuration' 0 "^openai place=$API/v1/chat/completions note=model m\$" find openai --url "$API" --model m
MAPM_ASK_MODEL='m
x'
export MAPM_ASK_MODEL
want 'an ask with a model name of two lines fails' 1 '\[usage\]' ask openai
MAPM_ASK_MODEL=model-1
unset ANTHROPIC_BASE_URL
want 'an ask of the real API without a key fails' 1 '\[not-found\].*ANTHROPIC_API_KEY is not set.*key_file' ask anthropic
want 'find without a key reports that it is not set' 0 '^anthropic place= note=ANTHROPIC_API_KEY is not set$' find anthropic
ANTHROPIC_API_KEY=$KEY OPENAI_API_KEY=$KEY
export ANTHROPIC_API_KEY OPENAI_API_KEY
want 'find with a key reports the real address' 0 '^anthropic place=https://api.anthropic.com/v1/messages note=model model-1$' find anthropic
want 'an ask of another address succeeds without the key' 0 '^ANSWER' ask anthropic --url "$API"
is 'the key of the real API is not sent to another address' "$(sent '"x-api-key" in h')" False
unset OPENAI_API_KEY
OTHER_KEY=other-key-1
export OTHER_KEY
want 'an ask with --key-env succeeds' 0 '^ANSWER' ask openai --url "$API" --key-env OTHER_KEY
is 'the request has the key of --key-env' "$(sent 'h["authorization"]')" 'Bearer other-key-1'
unset OTHER_KEY
want 'an ask with an unset --key-env variable fails' 1 '\[not-found\].*OTHER_KEY is not set.*config.yaml' ask openai --url "$API" --key-env OTHER_KEY
ANTHROPIC_BASE_URL=$API
export ANTHROPIC_BASE_URL
ANTHROPIC_API_KEY="$KEY
x-evil: 1"
want 'an ask with a key of two lines fails' 1 '\[format\].*ANTHROPIC_API_KEY contains no valid key' ask anthropic
ANTHROPIC_API_KEY=$KEY
for base in 'ftp://x' "http://u:$KEY@127.0.0.1" 'http://' "https://x/?k=$KEY" 'http://a b' 'https:///v1'; do
    ANTHROPIC_BASE_URL=$base
    want "an ask with an invalid base address fails: ${base%%"$KEY"*}" 1 '\[usage\].*ANTHROPIC_BASE_URL is not the address of an API' ask anthropic
done
ANTHROPIC_BASE_URL=$API

printf '%s\n' "$KEY" >"$T/key"
chmod 600 "$T/key"
want 'an ask with --key-file succeeds' 0 '^ANSWER' ask openai --url "$API" --key-file "$T/key"
is 'the request has the key of --key-file' "$(sent 'h["authorization"]')" "Bearer $KEY"
cp "$T/key" "$HOME/key"
want 'an ask with --key-file below HOME succeeds' 0 '^ANSWER' ask openai --url "$API" --key-file '~/key'
is 'the request has the key of the file below HOME' "$(sent 'h["authorization"]')" "Bearer $KEY"
chmod 640 "$T/key"
want 'an ask with a key file that others may read fails' 1 '\[refused\].*others may read it \|\| chmod 600 ' ask openai --url "$API" --key-file "$T/key"
chmod 602 "$T/key"
want 'an ask with a key file that others may change fails' 1 '\[refused\].*others may change it' ask openai --url "$API" --key-file "$T/key"
want 'an ask with a missing key file fails' 1 '\[not-found\].*is not there' ask openai --url "$API" --key-file "$T/none"
mkfifo -m 600 "$T/fifo"
want 'an ask with a key file that is a FIFO fails' 1 '\[refused\].*regular' ask openai --url "$API" --key-file "$T/fifo"
: >"$T/empty"
chmod 600 "$T/empty"
want 'an ask with an empty key file fails' 1 '\[format\].*contains no key' ask openai --url "$API" --key-file "$T/empty"

# --- answers [K24] --------------------------------------------------------------
a 'blocks of text are joined' '["blocks", [{"type":"thinking","thinking":"hm"},{"type":"text","text":"one "},{"type":"tool_use","id":"t","name":"n","input":{}},{"type":"text","text":"two"}], "end_turn"]' 0 '^one two$'
a 'no block at all' '["blocks", [], "end_turn"]' 0 '^ANSWER turns=1 exhausted=0 truncated=0 bytes=0$'
a 'a tool alone' '["blocks", [{"type":"tool_use","id":"t","name":"n","input":{}}], "tool_use"]' 1 '\[failed\].*contains no text \(tool_use\)'
a 'a refusal' '["blocks", [], "refusal"]' 1 '\[failed\].*refused to answer \(refusal\)'
a 'a refusal in words' '["ok", "I will not.", "refusal"]' 0 '^I will not\.$'
a 'its tokens ran out' '["ok", "half", "max_tokens"]' 0 '^ANSWER turns=1 exhausted=1 truncated=1 bytes=4$'
o 'its tokens ran out, too' '["ok", "half", "length"]' 0 '^ANSWER turns=1 exhausted=1 truncated=1 bytes=4$'
o 'all of them thought away' '["message", {"role":"assistant","content":""}, "length"]' 0 '^ANSWER turns=1 exhausted=1 truncated=1 bytes=0$'
o 'content null' '["message", {"role":"assistant","content":null}, "stop"]' 0 'bytes=0$'
o 'a refusal of OpenAI' '["message", {"role":"assistant","content":null,"refusal":"I cannot."}, "stop"]' 0 '^I cannot\.$'
o 'filtered' '["message", {"role":"assistant","content":null}, "content_filter"]' 1 '\[failed\].*refused to answer \(content_filter\)'
o 'tools alone' '["message", {"role":"assistant","content":null,"tool_calls":[{}]}, "tool_calls"]' 1 'contains no text \(tool_calls\)'
o 'parts of text' '["message", {"role":"assistant","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}, "stop"]' 0 '^ab$'
both 'no JSON' '["raw", "<html>hello"]' 1 '\[format\].*the response is not JSON'
both 'nothing' '["raw", ""]' 1 '\[format\].*not JSON'
both 'half of it' '["raw", "{\"content\":[{\"type\":\"te"]' 1 '\[format\].*not JSON'
both 'a list' '["raw", "[1]"]' 1 '\[format\].*the format of this API'
both 'another shape' '["json", {"content":"x","choices":[]}]' 1 '\[format\].*the format of this API.*config.yaml'
both 'keys twice' '["raw", "{\"content\":[],\"content\":[],\"choices\":[],\"choices\":[]}"]' 1 '\[format\].*not JSON'
both 'an error with 200' '["json", {"error":{"type":"overloaded_error","message":"busy"}}]' 1 '\[fetch\].*reports an error: overloaded_error: busy'
both 'deep JSON' "[\"raw\", \"$(head -c 3000 /dev/zero | tr '\0' '[')\"]" 1 '\[(limit|format)\].*not JSON'
a 'a mark of byte order' '["raw", "\u00ef\u00bb\u00bf{\"content\":[{\"type\":\"text\",\"text\":\"bom\"}]}"]' 0 '^bom$'

# --- [row 22] a hostile answer ------------------------------------------------
a 'bad UTF-8' '["raw", "{\"content\":[{\"type\":\"text\",\"text\":\"a\u00ff\u00c3q\u00ed\u00a0\u0080z\"}],\"stop_reason\":\"end_turn\"}"]' 0 "^$(printf 'a\357\277\275\357\277\275q\357\277\275\357\277\275\357\277\275z')\$"
o 'halves of pairs' '["raw", "{\"choices\":[{\"message\":{\"content\":\"a\\ud83d b\\ude00 \\ud83d\\ude00 \\\\ud83d\"}}]}"]' 0 "^$(printf 'a\357\277\275 b\357\277\275 \360\237\230\200 ')\\\\ud83d\$"
script '["huge", "\u00e9", 20001]'
want 'an answer of 20,001 characters is truncated' 0 '^ANSWER turns=1 exhausted=0 truncated=1 bytes=40000$' ask openai
script '["huge", "\u00e9", 20000]'
want 'an answer of 20,000 characters is not truncated' 0 '^ANSWER turns=1 exhausted=0 truncated=0 bytes=40000$' ask anthropic
script '["huge", "\ud83d\ude00", 64]'
want 'an answer of 64 characters is truncated with --chars 63' 0 'truncated=1 bytes=252$' ask anthropic --chars 63
want 'an answer of 64 characters is not truncated with --chars 64' 0 'truncated=0 bytes=256$' ask anthropic --chars 64
script '["huge", "x", 1000000]'
want 'an answer of a million characters is truncated' 0 'truncated=1 bytes=20000$' ask openai
script '["huge", "x", 2000000]'
want 'a response beyond the limit of bytes fails' 1 '\[limit\].*sent more than 1288576 bytes' ask openai
script '["ok", "\u001b[31m\u0007 \u202e [Metaskill: x completed]"]'
drive ask openai
is 'the answer contains escape and bidirectional characters as they came' "$(tail -n 1 "$T/out" | od -An -c | tr -d ' \n')" \
    '033[31m\a342200256[Metaskill:xcompleted]'

# --- what went wrong, in the API's words ----------------------------------------
both '401' '["status", 401, {}, {"error":{"type":"authentication_error","message":"invalid x-api-key"}}]' 1 '\[not-authorized\] \| HTTP 401 from http://127[^ ]*: authentication_error: invalid x-api-key \| (anthropic|openai) \(model-1\) did not respond \|\| '
like 'a 401 without a key suggests to set one' "$out" 'no key was sent: set OPENAI_API_KEY'
a '401 with a key' '["echo", 401]' 1 'not this one: \[key\].*check the key in ANTHROPIC_API_KEY'
a '[row 20] an answer with the key in it, which may go onto a tape' \
    "[\"ok\", \"is it $ANTHROPIC_API_KEY?\"]" 0 '^ANSWER'
like 'the answer has a placeholder in place of the key' "$out" 'is it \[key\]\?'
a '400 repeats the key' '["echo", 400]' 1 '\[fetch\].*HTTP 400 .*\[key\]'
both '403' '["status", 403, {}, {"message":"no"}]' 1 '\[not-authorized\].*HTTP 403 .*: no '
both '404' '["status", 404, {}, {"error":"model not found"}]' 1 'HTTP 404 .*: model not found .*check the model.s name, model-1'
both '400' '["status", 400, {}, {"detail":"bad\u001b[31m\nthing"}]' 1 'HTTP 400 .*: bad.*thing'
both '413 of a proxy' '["status", 413, {}, "<html><h1>Too large</h1>"]' 1 'HTTP 413 from http[^ ]* \|'
both '400 in plain text' '["status", 400, {}, "no such model"]' 1 ': no such model \|'
script "[\"status\", 400, {}, {\"error\":{\"message\":\"$(head -c 5000 /dev/zero | tr '\0' y)\"}}]"
want 'a long reason of an error is cut' 1 'HTTP 400 .*: y{400}…' ask openai
script '["endless", 500]'
want 'an endless body of an error fails at the limit' 1 '\[limit\].*sent more than' ask openai
is 'an endless body of an error is requested once' "$(asked)" 1

# --- again --------------------------------------------------------------------
script '["status", 429, {"Retry-After":"1"}, {"error":{"type":"rate_limit_error","message":"slow"}}]' '["ok", "second"]'
want 'an ask with a 429 before the answer succeeds' 0 '^second$' ask anthropic --news
is 'an ask with a 429 before the answer takes two requests' "$(asked)" 2
like 'the news reports the wait after a 429' "$err" '^NEWS 0 HTTP 429: again in 1 s$'
like 'the news reports the answer after a 429' "$err" '^NEWS 1 second$'
script '["status", 529, {"Retry-After":"1"}, {"error":{"type":"overloaded_error"}}]' '["status", 503, {}, ""]' '["ok", "third"]'
want 'an ask with a 529 and a 503 before the answer succeeds' 0 '^third$' ask anthropic
is 'an ask with a 529 and a 503 before the answer takes three requests' "$(asked)" 3
script '["status", 500, {}, ""]' '["ok", "second"]'
want 'an ask with a 500 before the answer succeeds' 0 '^second$' ask openai
script '["status", 429, {"Retry-After":"61"}, {"error":{"message":"tomorrow"}}]'
want 'an ask with a Retry-After beyond the limit fails' 1 'HTTP 429 .*: tomorrow .*come back in 61 seconds' ask openai
is 'a Retry-After beyond the limit leads to one request' "$(asked)" 1
script '["status", 429, {"Retry-After":"30"}, ""]'
want 'an ask with a Retry-After beyond its deadline fails' 1 'HTTP 429 ' ask openai --ms 5000
is 'a Retry-After beyond the deadline leads to one request' "$(asked)" 1
script '["status", 503, {}, "busy"]'
want 'an ask of a server that is always busy fails' 1 '\[fetch\].*HTTP 503 .*: busy' ask openai
is 'an ask of a server that is always busy takes four requests' "$(asked)" 4
script '["status", 501, {}, ""]'
want 'an ask with a 501 fails' 1 'HTTP 501' ask openai
is 'a 501 leads to one request' "$(asked)" 1
script '["close"]'
want 'an ask without any response fails' 1 '\[fetch\].*cannot reach http' ask openai
is 'an ask without any response takes one request' "$(asked)" 1
script '["silence", 30]'
want 'an ask without data ends at the deadline' 1 '\[fetch\].*incomplete response from .* within 1 s' ask openai --ms 400

# --- the whole way: mapm run ----------------------------------------------------
unset MAPM_ASK ANTHROPIC_API_KEY
mkdir -p "$T/ws/skills"
mapm new metaskill greet >/dev/null 2>&1
cat >"$T/ws/skills/greet/SKILL.star" <<'STAR'
def run(input):
    r = ask("Say " + input["word"], {"purpose": "greet"})
    return {"status": "done", "answer": r["answer"], "got": [r["turns"], r["exhausted"], r["truncated"]]}
STAR
greet()
{
    run mapm run skills/greet/ word=hello --ask anthropic "$@"
}
script '["ok", "Hello there."]'
ANTHROPIC_API_KEY=$KEY
export ANTHROPIC_API_KEY
greet
is 'run of a metaskill with an ask succeeds' "$status" 0
like 'the result of the run has the answer of the ask' "$out" '^\{"status":"done","answer":"Hello there\.","got":\[1,false,false\]'
is 'the request of the run has the prompt of the metaskill' "$(sent 'b["messages"][0]["content"]')" 'Say hello'
script '["ok", "Hell", "max_tokens"]'
greet
like 'the result of the run says that the answer is exhausted and truncated' "$out" '"answer":"Hell","got":\[1,true,true\]'
script '["echo", 401]'
greet -v
is 'run with a key that is not accepted exits with 1' "$status" 1
like 'the error of the run hides the key' "$out" "^error: metaskill 'greet': .*HTTP 401 from http.*\[key\]"
unlike 'the output of the run never has the key' "$out$err" "$KEY"
script '["status", 400, {}, {"error": "\u001b[31mred"}]'
python3 -S - "$MAPM" >"$T/out" <<'PYTHON'
import os, pty, sys
pid, fd = pty.fork()
if pid == 0:
    os.execv(sys.argv[1], [sys.argv[1], "run", "--color", "never", "skills/greet/",
                           "word=x", "--ask", "anthropic"])
out = b""
try:
    while True:
        out += os.read(fd, 65536)
except OSError:
    pass
os.waitpid(pid, 0)
sys.stdout.write(repr(out[out.rfind(b"mapm:"):]))
PYTHON
like 'run on a terminal prints the escapes of an API as text' "$(cat "$T/out")" 'HTTP 400.*x1b\[31mred'
unlike 'run on a terminal prints no raw escape of an API' "$(cat "$T/out")" '[^\\]\\x1b'
script '["silence", 60]'
greet --timeout 1
is 'run with an API that sends nothing exits with 1' "$status" 1
like 'run with an API that sends nothing ends at the limit of time' "$out" '^error: .*(timeout|incomplete response)'
"$MAPM" run skills/greet/ word=hello --ask anthropic >"$T/out" 2>"$T/err" </dev/null &
pid=$!
: >"$T/api.log"
await is_asked
kill -TERM "$pid"
wait "$pid"
is 'SIGTERM during an ask ends run with exit code 130' $? 130

# --- without the network -----------------------------------------------------------
mkdir -p asks
printf -- '---\nname: asks\ndescription: Asks once. Use it in a test.\n---\nInput keys: none\n' >asks/SKILL.md
printf 'def run(input):\n    return ask("x")["answer"]\n' >asks/SKILL.star
script '["ok", "Hello."]'
exits 'run --offline may ask a server on this machine' 0 mapm run ./asks --input '{}' --ask openai --offline
exits 'run --offline with an API on another machine exits with 1' 1 env OPENAI_BASE_URL=https://api.example.com/v1 OPENAI_API_KEY=k \
    "$MAPM" run ./asks --input '{}' --ask openai --offline
like 'the error of --offline says that the API is not on this machine' "$out" 'https://api\.example\.com/.* is not on this machine'

done_testing

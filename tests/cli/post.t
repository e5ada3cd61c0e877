#!/bin/sh
# mapm-fetch sends one request to an API: the address, TLS, proxies, limits,
# signals, and what it may do meanwhile.
# THREATS 1.2, [row 13, row 14, row 20]; DESIGN 8.
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/ask.sh"

HEADER="x-api-key: $KEY"
# p WHAT STATUS REGEX [OPTION...]: to $API/v1/messages.
p()
{
    what=$1 code=$2 regex=$3
    shift 3
    want "$what" "$code" "$regex" post "$API/v1/messages?q=1" --header "$HEADER" "$@"
}

start_api

# --- one request ------------------------------------------------------------
p 'an answer' 0 '^STATUS 200 retry-after=0 bytes=[0-9]+ '
is 'an answered post takes one request' "$(asked)" 1
is 'the request has the given path, header and body' "$(sent 'r["line"], h["x-api-key"], r["body"]')" \
    "('POST /v1/messages?q=1 HTTP/1.1', '$KEY', 'Say hello.')"
is 'the request has no further headers of a client' \
    "$(sent '[k for k in h if k in ("accept-encoding", "cookie", "expect", "authorization", "transfer-encoding")]')" '[]'
prompt=
p 'an empty body' 0 '^STATUS 200'
is 'a request with an empty body has a content-length of 0' "$(sent 'h["content-length"]')" 0
head -c 20000000 /dev/zero | tr '\0' a >"$T/big"
run "$ASK" post "$API/v1/messages" --header "$HEADER" <"$T/big"
"$ASK" post "$API/v1/messages" <"$T/big" >"$T/out"
like 'a request with a body of 20 MB is answered' "$(head -n 1 "$T/out")" '^STATUS 200'
is 'a body of 20 MB is sent whole' "$(sent 'len(r["body"])')" 20000000
: >"$T/api.log"
prompt='Say hello.'
for status in 200 201 299 300 304 400 401 404 429 500 503 529 599; do
    script "[\"status\", $status, {\"Retry-After\": \"7\"}, \"$([ $status = 304 ] || echo body)\"]"
    p "status $status" 0 "^STATUS $status retry-after=7 "
    is 'a response with this status leads to one request' "$(asked)" 1
done
script '["status", 429, {"Retry-After": "99999999999"}, ""]'
p 'to wait for ever' 0 '^STATUS 429 retry-after=86400 '
script '["status", 429, {"Retry-After": "-5"}, ""]'
p 'a time that is none' 0 '^STATUS 429 retry-after=0 '
script '["status", 429, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, ""]'
p 'a date that is over' 0 '^STATUS 429 retry-after=0 '
script '["status", 200, {"Set-Cookie": "a=b"}, ""]' '["ok", "x"]'
p 'a cookie' 0 '^STATUS 200'
p 'is not kept' 0 '^STATUS 200'
is 'a cookie of a response is not sent again' "$(sent '"cookie" in h')" False

# --- [row 13] where a key may go ------------------------------------------------
for status in 301 302 303 307 308; do
    script "[\"redirect\", $status, \"https://evil.example/new?key=$KEY\"]"
    p "redirect $status" 1 "^FAILED \[fetch\] \| HTTP $status from $API/v1/messages: it redirects to https://evil.example/new \|\| redirects are not followed"
    is 'a redirect leads to one request' "$(asked)" 1
done
script '["redirect", 308, "/v2/messages"]'
p 'on the same host' 1 "it redirects to $API/v2/messages "
script '["redirect", 302, "https://u:pw@evil.example/\u001b[31m"]'
p 'with odd bytes' 1 'redirects to (https://evil.example/[^u]|an address that is none)'
unlike 'the error of a redirect shows neither user nor escape characters' "$out" 'pw@|'"$(printf '\033')"
for url in http://192.0.2.1/v1 http://localhost.example.com/v1 http://127.0.0.1.nip.io/v1 http://2130706433.example/; do
    want "http: not to $url" 1 '^FAILED \[origin-invalid\] .*http is for this machine alone .*https' \
        post "$url" --header "$HEADER"
done
for url in ftp://127.0.0.1/ file:///etc/passwd "http://u:$KEY@127.0.0.1/" http:/// https:// 'http://127.0.0.1/a b' \
    'http://127.0.0.1/#x' 'http://127.0.0.1\@evil.example/' 127.0.0.1 "http://127.0.0.1/$(head -c 2048 /dev/zero | tr '\0' a)"; do
    want "no address: $(echo "$url" | cut -c 1-20)" 1 '^FAILED \[origin-invalid\] ' post "$url" --header "$HEADER"
done
for header in "$(printf 'x: a\r\ny: b')" "$(printf 'x: a\nHost: evil')" 'x:' 'x: ' ': x' 'x y: z' "x: $(printf 'a\tb')" \
    'x:y' 'novalue' "x: $(printf 'caf\303\251')" "x: $(head -c 16400 /dev/zero | tr '\0' a)"; do
    want "no header: $(echo "$header" | head -n 1 | cut -c 1-20)" 1 \
        '^FAILED \[failed\] \| a header of the request is no printable line$' post "$API/" --header "$header"
done
script '["ok", "x"]'
want 'http: to localhost is allowed' 0 '^STATUS 200' post "http://localhost:${API##*:}/" --header "$HEADER"
: >"$T/api.log"
git config --global http.proxy "$API"
http_proxy=$API
export http_proxy
p 'no proxy to this machine' 0 '^STATUS 200'
is 'a request to this machine does not use the proxy' "$(sent 'r["line"]')" 'POST /v1/messages?q=1 HTTP/1.1'
script '["status", 403, {}, ""]'
want 'a request through a proxy that refuses it fails' 1 '^FAILED \[fetch\] .*cannot reach https://api.example.com/v1 ?$' \
    post https://api.example.com/v1 --header "$HEADER" --ms 3000
is 'the proxy gets the name of the host' "$(sent 'r["line"]')" 'CONNECT api.example.com:443 HTTP/1.1'
not_ok 'the proxy does not get the key' grep -q "$KEY" "$T/api.log"
git config --global --unset http.proxy
unset http_proxy

# --- [row 13] TLS -----------------------------------------------------------------
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes \
    -keyout "$T/tls.key" -out "$T/tls.crt" -days 2 -subj /CN=api-test \
    -addext subjectAltName=IP:127.0.0.1 2>/dev/null
start_api --tls "$T/tls.crt" "$T/tls.key"
p 'a certificate that nobody vouches for' 1 '^FAILED \[tls\] .*cannot reach https://127.* \|\| an authority of your own is named in http.sslCAInfo'
git config --global http.sslVerify false
p 'is refused, whatever git may do' 1 '^FAILED \[tls\] .*\|\| verification cannot be switched off'
git config --global --unset http.sslVerify
git config --global http.sslCAInfo "$T/tls.crt"
p 'one that git knows' 0 '^STATUS 200'
git config --global --unset http.sslCAInfo
git config --global "http.$API.sslCAInfo" "$T/tls.crt"
p 'for this address' 0 '^STATUS 200'
want 'a certificate for another name is refused' 1 '^FAILED \[tls\] ' post "https://localhost:${API##*:}/" --header "$HEADER"
git config --global --remove-section "http.$API"
SSL_CERT_FILE=$T/tls.crt
export SSL_CERT_FILE
p 'by the environment' 0 '^STATUS 200'
git config --global 'url.http://127.0.0.1:1/.insteadOf' "$API/"
p 'insteadOf is not for APIs' 0 '^STATUS 200'
git config --global --remove-section url.http://127.0.0.1:1/
start_api --tls "$T/tls.crt" "$T/tls.key" --old-tls
p 'TLS 1.1' 1 '^FAILED \[tls\] '
is 'a server with TLS 1.1 gets no request' "$(asked)" 0
SSL_CERT_FILE=$T/none
p 'certificates that cannot be read' 1 '^FAILED \[tls\] .*cannot read the certificates in .*/none'
unset SSL_CERT_FILE

# --- [row 14] how much, how long ----------------------------------------------------
start_api
script '["status", 200, {}, "0123456789"]'
p 'as much as allowed' 0 'bytes=10 ' --max 10
p 'a byte more' 1 "^FAILED \[limit\] \| $API/v1/messages sent more than 9 bytes\$" --max 9
script '["status", 500, {}, "0123456789"]'
p 'whatever the status' 1 '^FAILED \[limit\] ' --max 9
p 'more than anybody needs' 1 '^FAILED \[limit\] .*more than 32 MiB' --max 40000000
script '["endless", 200]'
p 'an endless body' 1 'sent more than 1048576 bytes$'
script '["headers", 100]'
p 'endless headers' 1 '^FAILED \[limit\] .*more than 64 KiB of headers'
script '["status", 200, {"Content-Encoding": "gzip"}, "xx"]'
p 'compressed' 1 '^FAILED \[fetch\] .*compressed answer, which was not asked for'
script '["status", 200, {"Content-Encoding": "identity"}, "xx"]'
p 'not really' 0 '^STATUS 200'
script '["silence", 30]'
p 'silence' 1 '^FAILED \[fetch\] \| incomplete response from http.*/v1/messages within 1 s$' --ms 500
script '["drip", 30]'
p 'a byte now and then' 1 'incomplete response .* within 1 s$' --ms 500
script '["slow", "at last", 1.2]'
p 'silence before the answer' 0 'ticked=yes$'
p 'no time left' 1 'incomplete response .* within 0 s$' --ms 0
script '["close"]'
p 'a server that hangs up' 1 '^FAILED \[fetch\] .*cannot reach http.*/v1/messages$'
is 'a request to a server that closes the connection is sent once' "$(asked)" 1
want 'a request to a closed port fails' 1 '^FAILED \[fetch\] .*(refused|connect).*cannot reach' post http://127.0.0.1:1/ --header "$HEADER"
want 'a request to an unknown host fails' 1 '^FAILED \[host-not-found\] ' post https://no-such-host.invalid/ --header "$HEADER" --ms 9000

# --- what it is meanwhile ------------------------------------------------------------
script '["silence", 60]'
"$ASK" post "$API/v1/messages" --header "$HEADER" --ms 60000 <"$T/prompt" >"$T/out" 2>"$T/err" &
pid=$!
await is_asked
worker=$(cat "/proc/$pid/task/$pid/children")
worker=${worker%% *}
ok 'the request is sent by a process of its own' test -d "/proc/$worker"
is 'the arguments of that process are its name alone' "$(tr '\0' '\n' <"/proc/$worker/cmdline" | grep -c .)" 1
like 'that process cannot gain new privileges' "$(cat "/proc/$worker/status")" '^NoNewPrivs:[[:space:]]*1$'
like 'that process has a seccomp filter' "$(cat "/proc/$worker/status")" '^Seccomp:[[:space:]]*2$'
like 'that process has no capabilities' "$(cat "/proc/$worker/status")" '^CapEff:[[:space:]]*0000000000000000$'
kill -TERM "$pid"
wait "$pid"
is 'SIGTERM ends the request with exit code 130' $? 130
like 'the request reports that it was interrupted' "$(cat "$T/out")" '^FAILED \[interrupted\]'
not_ok 'SIGTERM ends the process of the request, too' test -d "/proc/$worker"
script '["silence", 60]'
"$ASK" post "$API/v1/messages" --ms 60000 <"$T/prompt" >"$T/out" 2>&1 &
pid=$!
await is_asked
worker=$(cat "/proc/$pid/task/$pid/children")
worker=${worker%% *}
kill -KILL "$pid"
wait "$pid" 2>/dev/null
await test ! -d "/proc/$worker"
pass 'SIGKILL of mapm ends the process of the request'

# --- [row 30] each side takes the other for hostile ----------------------------------
mkdir "$T/fake"
cp "$ASK" "$T/fake/ask_drive"
cat >"$T/fake/mapm-fetch" <<'PYTHON'
#!/usr/bin/env python3
import os, socket, struct, sys
s = socket.socket(fileno=3)
def frame(kind, body):
    return struct.pack("<IB", len(body) + 1, kind) + body
def text(t):
    return struct.pack("<I", len(t)) + t
def reply(status, retry, body):
    return frame(42, struct.pack("<II", status, retry) + text(body) + text(b"") * 3)
FATAL, how = 41, os.environ["HOW"]
said = {
    "nothing": b"",
    "length": b"\xff\xff\xff\xff",
    "zero": b"\0\0\0\0",
    "hello": frame(32, b"\0\0\0\0"),
    "event": frame(33, b"x" * 50),
    "asks": frame(40, b"x"),
    "unknown": frame(200, b"x"),
    "long": reply(200, 0, b"x" * 101),
    "status": reply(100, 0, b""),
    "late": reply(200, 86401, b""),
    "short": frame(42, b"\0"),
    "more": frame(42, struct.pack("<II", 200, 0) + text(b"") * 4 + b"x"),
    "fatal": frame(FATAL, text(b"tls") + struct.pack("<I", 1) + text(b"bad") + text(b"hint")),
    "no-reason": frame(FATAL, b""),
    "good": reply(200, 5, b"x" * 100),
}[how]
s.sendall(said)
s.shutdown(socket.SHUT_WR)
s.recv(1 << 20)
sys.exit(7)
PYTHON
chmod +x "$T/fake/mapm-fetch"
for row in 'nothing:mapm-fetch ended early \(exit 7\)' length:invalid zero:invalid hello:invalid event:invalid asks:invalid \
    unknown:invalid long:invalid status:invalid late:invalid short:invalid more:invalid 'fatal:\[tls\] \| bad \|\| hint' \
    'no-reason:without a reason'; do
    out=$(HOW=${row%%:*} "$T/fake/ask_drive" post http://127.0.0.1/ --max 100 <"$T/prompt")
    like "mapm-fetch says: ${row%%:*}" "$out" "^FAILED .*${row#*:}"
done
out=$(HOW=good "$T/fake/ask_drive" post http://127.0.0.1/ --max 100 <"$T/prompt")
like 'a valid reply of mapm-fetch is accepted' "$out" '^STATUS 200 retry-after=5 bytes=100'
rm "$T/fake/mapm-fetch"
out=$("$T/fake/ask_drive" post http://127.0.0.1/ <"$T/prompt")
like 'a missing mapm-fetch is an error that suggests a new install' "$out" '^FAILED \[not-found\] .*not installed beside mapm.*install mapm again'

python3 -S - "${MAPM_BUILD:-$ROOT/build}/mapm-fetch" >"$T/out" 2>&1 <<'PYTHON'
import os, socket, struct, subprocess, sys
def text(t):
    return struct.pack("<I", len(t)) + t
def post(url=b"http://127.0.0.1:1/", headers=(), body=b"", most=10, ms=1000, more=b""):
    return (b"\0\0" + text(url) + struct.pack("<I", len(headers)) + b"".join(map(text, headers)) +
            text(body) + struct.pack("<II", most, ms) + more)
def frame(kind, body):
    return struct.pack("<IB", len(body) + 1, kind) + body
def tell(name, data):
    ours, theirs = socket.socketpair()
    def give():
        os.dup2(theirs.fileno(), 3)
        os.set_inheritable(3, True)
    p = subprocess.Popen([sys.argv[1]], preexec_fn=give, close_fds=False)
    theirs.close()
    ours.sendall(data)
    got = b""
    while True:
        b = ours.recv(65536)
        if not b:
            break
        got += b
    print(name, p.wait(), got[4] if got else 0, b"invalid message from mapm" in got, b"Couldn't connect" in got or b"Failed to connect" in got)
tell("good", frame(8, post()))
tell("type", frame(2, post()))
tell("cut", frame(8, post()[:-1]))
tell("more", frame(8, post(more=b"x")))
tell("header", frame(8, post(headers=[b"a: b\r\nc: d"])))
tell("headers", frame(8, post(headers=[b"a: b"] * 33)))
tell("url", frame(8, post(url=b"http://u@127.0.0.1/")))
tell("most", frame(8, post(most=0x7fffffff)))
tell("ms", frame(8, post(ms=86400001)))
tell("other", frame(8, post(url=b"http://192.0.2.1/")))
PYTHON
is 'mapm-fetch refuses each invalid message of mapm' "$(cat "$T/out")" \
'good 1 41 False True
type 1 41 True False
cut 1 41 True False
more 1 41 True False
header 1 41 True False
headers 1 41 True False
url 1 41 True False
most 1 41 True False
ms 1 41 True False
other 1 41 False False'

done_testing

#!/bin/sh
# Hosts that fail, lie, or ask for more than is theirs, seen from the command
# itself: a clear error or a retry, in bounded time, and nothing left behind.
# Tokens go to the host they are for, and nowhere else.
# [row 7, row 10, row 12, row 13, row 14]; section 1.2, 1.5.
. "$(dirname "$0")/../lib/cli.sh"
GH=https://github.com
HELLO=$GH/acme/catalog/tree/main/skills/hello

skill "$T/src/skills/hello"
head -c 60000 /dev/urandom >"$T/src/skills/hello/data.bin"
skill "$T/src/skills/other"
make_repo acme/catalog "$T/src"
first=$COMMIT
skill "$T/second/skills/hello" 'description: "Of another repository."'
make_repo acme/second "$T/second"
start_githost
mapm store stats >/dev/null

fresh()
{
    cd "$T" && rm -rf ws "$MAPM_HOME" && mkdir ws && cd ws || exit 1
    mapm store stats >/dev/null
}
# No control byte, no bidirectional control, as it is: anywhere it prints.
raw_bytes()
{
    LC_ALL=C grep -Pq '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]|\xf3\xa0' "$@"
}
left_over()
{
    find "$MAPM_HOME/store" -type f ! -path "*/lock*" | head -n 3
}

# --- [row 13, row 14] faults -------------------------------------------------------

# once FAULT: it is survived.
once()
{
    fresh
    fault "{$1}"
    exits "[row 14] install succeeds in spite of one fault: $1" 0 timeout 60 "$MAPM" install "$HELLO"
    clear_faults
    ok "[row 14] the skill equals its source after one fault: $1" diff -r "$T/src/skills/hello" .agents/skills/hello
    is "[row 14] the store has no incoming file after one fault: $1" "$(ls -A "$MAPM_HOME/store/incoming")" ''
}
once '"kind": "status", "status": 502'
once '"kind": "reset", "after": 2000, "match": {"cmd": "fetch"}'
once '"kind": "close", "after": 10, "match": {"cmd": "ls-refs"}'
once '"kind": "truncate", "after": 3000, "match": {"cmd": "fetch"}'
once '"kind": "corrupt", "at": 300, "match": {"cmd": "fetch"}'
once '"kind": "corrupt", "at": 30000, "match": {"cmd": "fetch"}, "skip": 1'
once '"kind": "drip", "bytes": 4000, "ms": 10'
once '"kind": "emptypack", "match": {"cmd": "fetch"}, "skip": 1'

# always REGEX FAULT: it never ends well, and does end.
always()
{
    fresh
    fault "{$2, \"times\": -1}"
    run timeout 300 "$MAPM" install --json "$HELLO"
    clear_faults
    like "[row 14] install fails with a lasting fault: $2" "$status" '^[14]$'
    like "[row 14] the error gives the reason: $2" "$err" "$1"
    is "[row 14] the workspace stays empty: $2" "$(ls -A)" ''
    is "[row 14] the store stays empty: $2" "$(left_over)" ''
    not_ok "[row 7] the output has no raw control character: $2" raw_bytes "$T/out" "$T/err"
    ok "[row 7] the output of install --json is valid JSON: $2" python3 -S -m json.tool "$T/out"
}
ESC='\u001b[31m\u009b1m\u202e\u0007\u0000'
always 'the server says: .*\\x1b' '"kind": "errpkt", "message": "'"$ESC"' evil\r\nmapm: all is well"'
always 'out of|the server says|evil' '"kind": "sideerr", "message": "'"$ESC"' evil", "match": {"cmd": "fetch"}'
always 'HTTP 404' '"kind": "status", "status": 404, "body": "'"$ESC"'"'
always 'HTTP 418' '"kind": "status", "status": 418, "headers": {"X-Y": "z"}, "body": "teapot"'
always 'not a git server' '"kind": "html", "text": "<title>'"$ESC"'</title>"'
always 'not a git server|not understood' '"kind": "garbage", "text": "'"$ESC"'"'
always 'allowed|more than' '"kind": "hugecount", "match": {"cmd": "fetch"}'
always 'allowed|more than|limit' '"kind": "bomb", "size": 300000000, "match": {"cmd": "fetch"}'
always 'another host|leads to no repository' '"kind": "redirect", "to": "https://evil.example/acme/catalog.git/info/refs?service=git-upload-pack", "status": 301'
always 'redirect|leads to no repository' '"kind": "redirect", "to": "file:///etc/passwd", "status": 302'
always 'redirect|leads to no repository' '"kind": "redirect", "to": "gopher://127.0.0.1/x", "status": 302'
always 'redirect|leads to no repository' '"kind": "redirect", "to": "//evil.example/x", "status": 307'
always 'redirect|leads to no repository' '"kind": "redirect", "to": "", "status": 302'
# another repository's answer does not fit: neither the commit nor its trees
always '.' '"kind": "swap", "with": "acme/second", "match": {"cmd": "fetch"}'
# with a lock, not even all answers together
fresh
mapm install "$HELLO" >/dev/null 2>&1
rm -rf "$MAPM_HOME" .agents .claude
mapm store stats >/dev/null
fault '{"kind": "swap", "with": "acme/second", "times": -1}'
run timeout 60 "$MAPM" install --locked
clear_faults
is '[row 12] install --locked refuses another repository under the same name' "$status" 1
is '[row 12] install --locked writes nothing from the other repository' "$(ls -A | tr '\n' ' ')" 'mapm.lock mapm.yaml '

# silence, and a trickle: both at once, for they take their time
fresh
mkdir "$T/slow1" "$T/slow2"
for n in 1 2; do
    cp -r "$T/repos/acme/catalog.git" "$T/repos/acme/slow$n.git"
done
fault '[{"kind": "stall", "after": 100, "seconds": 1000, "times": -1, "match": {"repo": "acme/slow1"}},
    {"kind": "drip", "bytes": 10, "ms": 200, "times": -1, "match": {"repo": "acme/slow2", "cmd": "fetch"}}]'
for n in 1 2; do
    (cd "$T/slow$n" && MAPM_HOME=$T/store$n timeout 290 "$MAPM" install \
        "$GH/acme/slow$n/tree/main/skills/hello" >"$T/slow$n.out" 2>&1
        echo $? >"$T/slow$n.status") &
    eval "pid$n=$!"
done
wait "$pid1" "$pid2"
clear_faults
for n in 1 2; do
    is "[row 14] install from a slow server ($n) fails" "$(cat "$T/slow$n.status")" 1
    like "[row 14] the error says that the server ($n) is too slow" "$(cat "$T/slow$n.out")" 'too slow|Less than'
    is "[row 14] install from a slow server ($n) writes nothing" "$(ls -A "$T/slow$n")" ''
done

# --- [row 12] what moves, and what only looks like a commit -----------------------------

fresh
exits '[row 12] install of a skill at a branch succeeds' 0 mapm install "$HELLO"
echo 'changed' >>"$T/src/skills/hello/SKILL.md"
make_repo acme/catalog "$T/src"
second=$COMMIT
reset_log
exits '[row 12] install after the branch moved succeeds' 0 mapm install
is '[row 12] install after the branch moved asks the host nothing' "$(request_log | grep -c acme/catalog)" 0
rm -rf .agents .claude "$MAPM_HOME"
exits '[row 12] install --locked with an empty store succeeds' 0 mapm install --locked
not_ok '[row 12] install --locked installs the content of the locked commit' grep -q changed .agents/skills/hello/SKILL.md
exits '[row 12] update after the branch moved succeeds' 0 mapm update
like '[row 12] update shows the old and the new commit' "$out$err" "$(printf %.7s "$first").*$(printf %.7s "$second")"
# a branch that is named like a commit is not looked at
repo acme/catalog branch "$first" "$second"
fresh
exits '[row 12] install of a commit succeeds beside a branch of that name' 0 mapm install "$GH/acme/catalog/tree/$first/skills/hello"
not_ok '[row 12] install of a commit ignores a branch of that name' grep -q changed .agents/skills/hello/SKILL.md
like '[row 12] the lock has the commit and not the branch' "$(cat mapm.lock)" "commit: $first"
fresh
fake=$(printf '%040d' 7)
repo acme/catalog update-ref "refs/heads/$fake" "$second"
run mapm install "$GH/acme/catalog/tree/$fake/skills/hello"
isnt '[row 12] install of 40 digits that only a branch has fails' "$status" 0
is '[row 12] the failed install of such a branch writes nothing' "$(ls -A)" ''
# a commit that only a pull request (a fork) shows
skill "$T/fork/skills/hello" 'description: "Of a fork."'
make_repo acme/fork "$T/fork"
imposter=$COMMIT
repo acme/catalog fetch -q "$T/repos/acme/fork.git" "main:refs/pull/1/head"
fresh
run mapm install "$GH/acme/catalog/tree/$imposter/skills/hello"
isnt "[row 12] install of a commit that only a fork has fails" "$status" 0
like '[row 12] the error says that no branch or tag leads to the commit' "$err" 'branch|tag|belong|prove'
is '[row 12] install of a commit of a fork writes nothing' "$(ls -A)" ''

# --- [row 13] where a token goes -----------------------------------------------------------

# A host that writes down what it is told, and answers as it is told.
cat >"$T/listener.py" <<'PYTHON'
import http.server, sys
log, ready, mode = sys.argv[1:4]
class H(http.server.BaseHTTPRequestHandler):
    def answer(self):
        with open(log, "a") as f:
            f.write("%s %s\n%s\n" % (self.command, self.path, self.headers))
        if mode.startswith("http"):
            self.send_response(302)
            self.send_header("Location", mode + self.path)
        else:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="\x1b[31mGitHub"')
        self.send_header("Content-Length", "0")
        self.end_headers()
    do_GET = do_POST = answer
    def log_message(self, *a):
        pass
s = http.server.HTTPServer(("127.0.0.1", 0), H)
with open(ready + ".new", "w") as f:
    f.write("http://127.0.0.1:%d" % s.server_port)
import os
os.rename(ready + ".new", ready)
s.serve_forever()
PYTHON
listener()
{
    rm -f "$T/$1.ready" "$T/$1.log"
    touch "$T/$1.log"
    python3 "$T/listener.py" "$T/$1.log" "$T/$1.ready" "$2" &
    eval "$1_pid=$!"
    until [ -s "$T/$1.ready" ]; do sleep 0.05; done
    eval "$1=$(cat "$T/$1.ready")"
}
secret=ghp_s3cr3t0123456789abcdefghijklmnopqrst
basic=$(printf 'x-access-token:%s' $secret | base64 | tr -d '\n=' | cut -c1-60)
listener evil 401
trap 'kill "$evil_pid" "${front_pid:-$evil_pid}" 2>/dev/null; leave' EXIT
mkdir -p "$HOME/.config/gh"
printf 'github.com:\n    oauth_token: %s\n' $secret >"$HOME/.config/gh/hosts.yml"
printf 'machine github.com login x password %s\n' $secret >"$HOME/.netrc"
chmod 600 "$HOME/.netrc"
url=$GITHOST_URL
git config --global --remove-section "url.$url/"
git config --global "url.$evil/.insteadOf" $GH/
GH_TOKEN=$secret GITHUB_TOKEN=$secret
export GH_TOKEN GITHUB_TOKEN
fresh
run mapm install -v "$HELLO"
is '[row 13] install with github.com rewritten to another host fails' "$status" 1
ok '[row 13] the other host receives the request' test -s "$T/evil.log"
not_ok '[row 13] the other host receives no token' grep -qi -e "$secret" -e "$basic" -e '^authorization' "$T/evil.log"
not_ok '[row 13] the output has no token' grep -q -e "$secret" -e "$basic" "$T/out" "$T/err"
not_ok '[row 7] the output has no raw control character of the realm' raw_bytes "$T/out" "$T/err"
# a host that the user calls GitHub, and that sends us away
git config --global --remove-section "url.$evil/"
listener front "$evil"
git config --global "url.$front/.insteadOf" $GH/
: >"$T/evil.log"
MAPM_GITHUB_HOSTS=127.0.0.1
export MAPM_GITHUB_HOSTS
fresh
run mapm install -v "$HELLO"
isnt '[row 13] install through a redirect to another port fails' "$status" 0
is '[row 13] the other port receives no request' "$(cat "$T/evil.log")" ''
like '[row 13] the configured host receives the token' "$(cat "$T/front.log")" '[Aa]uthorization:'
not_ok '[row 13] the output of the redirected install has no token' grep -q -e "$secret" -e "$basic" "$T/out" "$T/err"
run mapm install -v --json "$HELLO"
not_ok '[row 13] the JSON of the redirected install has no token' grep -q -e "$secret" -e "$basic" "$T/out" "$T/err"
kill "$front_pid"
git config --global --remove-section "url.$front/"
unset MAPM_GITHUB_HOSTS
# plain http, ssh and files are no places to rewrite to, unless on this machine
for to in http://far.example/ ssh://git@github.com/ git@github.com: "file://$T/repos/" "$T/repos/"; do
    git config --global "url.$to.insteadOf" $GH/
    fresh
    run timeout 60 "$MAPM" install "$HELLO"
    like "[row 13] install refuses a rewrite to $to" "$status" '^[14]$'
    like "[row 13] the error says which rewrites are allowed: $to" "$err" 'https only|insteadOf|http'
    is "[row 13] the refused rewrite leaves the workspace empty: $to" "$(ls -A)" ''
    git config --global --remove-section "url.$to"
done
unset GH_TOKEN GITHUB_TOKEN
rm -r "$HOME/.config/gh" "$HOME/.netrc"
kill "$evil_pid"
done_testing

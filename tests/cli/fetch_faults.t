#!/bin/sh
# mapm-fetch against a host that fails, now and then or always.
# FETCH 8; [row 13, row 14]. Other servers: tests/cli/fetch_servers.t.
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/fetch.sh"

make_repo acme/second "$T/src"
skill "$T/links/skills/linked"
ln -s SKILL.md "$T/links/skills/linked/README.md"
make_repo acme/links "$T/links"
start_githost

# --- what passes ------------------------------------------------------------
for f in '"kind": "status", "status": 503' \
    '"kind": "status", "status": 429, "retry_after": 1' \
    '"kind": "status", "status": 403, "retry_after": 1' \
    '"kind": "status", "status": 500' \
    '"kind": "reset", "after": 5000, "match": {"cmd": "fetch"}, "skip": 1' \
    '"kind": "reset", "after": 0, "match": {"cmd": "ls-refs"}' \
    '"kind": "close", "after": 5000, "match": {"cmd": "fetch"}, "skip": 1' \
    '"kind": "truncate", "after": 5000, "match": {"cmd": "fetch"}, "skip": 1' \
    '"kind": "truncate", "after": 100, "match": {"cmd": "fetch"}' \
    '"kind": "truncate", "after": 30, "match": {"cmd": "ls-refs"}' \
    '"kind": "corrupt", "at": 20000, "match": {"cmd": "fetch"}, "skip": 1' \
    '"kind": "corrupt", "at": -5, "match": {"cmd": "fetch"}, "skip": 1' \
    '"kind": "corrupt", "at": 30, "match": {"cmd": "fetch"}' \
    '"kind": "delay", "ms": 300' \
    '"kind": "errpkt", "message": "GitHub is temporarily limiting some unauthenticated downloads to protect the stability of the platform. Please retry later or authenticate."' \
    '"kind": "emptypack", "match": {"cmd": "fetch"}, "skip": 1'; do
    fault "{$f}"
    want "survives $f" 0 '^DONE ' "$HELLO"
    unlike 'nothing damaged' "$out" DAMAGED
done
clear_faults

# [F6] GitHub's primary rate limit: 403 with x-ratelimit headers
limited()
{
    fault '{"kind": "status", "status": '"$1"', "headers": {"X-RateLimit-Limit": 60, "X-RateLimit-Remaining": '"$2"', "X-RateLimit-Reset": '"$3"'}, "times": '"$4"'}'
}
now=$(date +%s)
for code in 403 429; do
    limited $code 0 $((now + 4000)) -1
    reset_log
    want "[F6] HTTP $code, rate limit" 1 "\[fetch\] \| HTTP $code .*rate limit exceeded, until $(date -u -d @$((now + 4000)) '+%Y-%m-%d %H:%M:%S') UTC" "$HELLO"
    like '[F6] with a hint to set a token' "$out" 'set MAPM_TOKEN_127_0_0_1'
    unlike '[F6] not as a missing repository' "$out" 'no such repository'
    is '[F6] and no second request' "$(requests)" 1
    clear_faults
done
GH_TOKEN=s3cr3t-0123456789 MAPM_GITHUB_HOSTS=127.0.0.1
export GH_TOKEN MAPM_GITHUB_HOSTS
limited 403 0 $((now + 4000)) -1
want '[F6] with a token: its name' 1 'rate limit exceeded, until .*, for the token from GH_TOKEN' "$HELLO"
unlike '[F6] and no hint to set one' "$out" 'set MAPM_TOKEN_127_0_0_1'
unset MAPM_TOKEN_127_0_0_1 MAPM_GITHUB_HOSTS
clear_faults
limited 403 0 1582934400 1
want '[F6] a limit that has ended by now is waited for' 0 '^DONE' "$HELLO"
clear_faults
limited 403 0 1582934400 -1
want '[F6] but not for ever' 1 'until 2020-02-29 00:00:00 UTC.*tried 4 times' "$HELLO"
clear_faults
limited 403 7 $((now + 4000)) -1
want '[F6] requests remain: forbidden' 1 '\[not-authorized\] \| HTTP 403' "$HELLO"
clear_faults
limited 403 0 '"soon"' -1
want '[F6] a time that is none' 1 'rate limit exceeded' "$HELLO"
unlike '[F6] is not shown' "$out" 'until'
clear_faults

# --- what does not ----------------------------------------------------------
# always WHAT FAULT REGEX [ORIGIN]
always()
{
    fault "{$2, \"times\": -1}"
    want "$1" 1 "$3" "${4:-$HELLO}"
    unlike 'nothing done' "$out" '^DONE'
    clear_faults
}
always 'a server that is down' '"kind": "status", "status": 503' '\[fetch\] \| HTTP 503.*tried 4 times'
always 'told to wait too long' '"kind": "status", "status": 429, "retry_after": 4000' '\[fetch\] \| HTTP 429.*come back in 3600'
always 'forbidden' '"kind": "status", "status": 403' '\[not-authorized\] \| HTTP 403'
always 'gone' '"kind": "status", "status": 404' '\[not-found\] \| HTTP 404'
always 'always reset' '"kind": "reset", "after": 300' '\[fetch\]'
always 'always corrupt' '"kind": "corrupt", "at": 40, "match": {"cmd": "fetch"}' '\[damaged\]'
always 'an empty pack for trees' '"kind": "emptypack", "match": {"cmd": "fetch"}' '\[damaged\] .*left out the commit'
always 'an empty pack for files' '"kind": "emptypack", "match": {"cmd": "fetch"}, "skip": 1' \
    '\[damaged\] .*left out the object [0-9a-f]{40} \(docs/data\.bin\)'
always 'an empty pack for what a link says' '"kind": "emptypack", "match": {"cmd": "fetch"}, "skip": 1' \
    '\[damaged\] .*left out the object [0-9a-f]{40}' "$GH/acme/links/tree/main/skills/linked"
always 'a huge count' '"kind": "hugecount", "match": {"cmd": "fetch"}' '\[limit\]'
always 'a bomb' '"kind": "bomb", "size": 104857600, "match": {"cmd": "fetch"}' '\[limit\]'
always 'garbage' '"kind": "garbage"' 'not a git server'
always 'a captive portal' '"kind": "html"' 'not a git server.*text/html'
always 'an ERR packet' '"kind": "errpkt", "message": "access denied by policy"' 'access denied by policy'
always 'a side-band error' '"kind": "sideerr", "message": "out of memory", "match": {"cmd": "fetch"}' 'out of memory'
always 'a redirect elsewhere' '"kind": "redirect", "to": "http://127.0.0.1:1/x/y/git-upload-pack", "status": 302' '\[refused\].*another port, http://127.0.0.1:1/x/y'
for status in 307 308; do
    always "a redirect by $status" '"kind": "redirect", "to": "http://127.0.0.1:1/x/y/git-upload-pack", "status": '$status '\[refused\].*another port'
done
always 'no redirect of git' '"kind": "redirect", "to": "/x/y/git-upload-pack", "status": 303' '\[fetch\] \| HTTP 303 from [^|]*$'
always 'a fault of the server' '"kind": "status", "status": 500' '\[fetch\] \| HTTP 500.*tried 4 times'
always 'a fault of the request' '"kind": "status", "status": 499' '\[fetch\] \| HTTP 499 from [^|]*$'
always 'a redirect to a file' '"kind": "redirect", "to": "file:///etc/passwd", "status": 301' '\[refused\]|\[fetch\]'
always 'a redirect to nowhere' '"kind": "redirect", "to": "/elsewhere", "status": 301' '\[fetch\].*leads to no repository'

# another repository's refs, and its objects: once is a race, always a lie
skill "$T/elsewhere/skills/hello" 'version: 9.9.9'
make_repo acme/elsewhere "$T/elsewhere"
swap='"kind": "swap", "with": "acme/elsewhere", "match": {"repo": "acme/catalog"'
fault "{$swap, \"cmd\": \"ls-refs\"}}"
want 'a ref that moved meanwhile' 0 '^DONE' "$HELLO"
clear_faults
always 'refs of another repository' "$swap, \"cmd\": \"ls-refs\"}" '\[fetch\]|\[damaged\]'
fault "{$swap, \"cmd\": \"fetch\"}, \"times\": -1}"
drive "$T/incoming" "$HELLO"
unlike 'objects of another repository' "$out" '^DONE'
clear_faults
stop_githost
done_testing

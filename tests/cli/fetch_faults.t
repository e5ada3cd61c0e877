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
    want "the fetch survives $f" 0 '^DONE ' "$HELLO"
    unlike 'no damaged file results from a fault that passes' "$out" DAMAGED
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
    want "[F6] HTTP $code of a rate limit is reported with its end" 1 "\[fetch\] \| HTTP $code .*rate limit exceeded, until $(date -u -d @$((now + 4000)) '+%Y-%m-%d %H:%M:%S') UTC" "$HELLO"
    like '[F6] the error of a rate limit hints at a token' "$out" 'set MAPM_TOKEN_127_0_0_1'
    unlike '[F6] a rate limit is not reported as a missing repository' "$out" 'no such repository'
    is '[F6] a rate limit is not followed by a second request' "$(requests)" 1
    clear_faults
done
GH_TOKEN=s3cr3t-0123456789 MAPM_GITHUB_HOSTS=127.0.0.1
export GH_TOKEN MAPM_GITHUB_HOSTS
limited 403 0 $((now + 4000)) -1
want '[F6] the error of a rate limit names the token in use' 1 'rate limit exceeded, until .*, for the token from GH_TOKEN' "$HELLO"
unlike '[F6] the error of a rate limit with a token has no hint to set one' "$out" 'set MAPM_TOKEN_127_0_0_1'
unset GH_TOKEN MAPM_GITHUB_HOSTS
clear_faults
limited 403 0 1582934400 1
want '[F6] the fetch is repeated when the rate limit has ended' 0 '^DONE' "$HELLO"
clear_faults
limited 403 0 1582934400 -1
want '[F6] a rate limit that never ends fails after four tries' 1 'until 2020-02-29 00:00:00 UTC.*tried 4 times' "$HELLO"
clear_faults
limited 403 7 $((now + 4000)) -1
want '[F6] HTTP 403 with requests left is not authorized' 1 '\[not-authorized\] \| HTTP 403' "$HELLO"
clear_faults
limited 403 0 '"soon"' -1
want '[F6] a rate limit with a malformed time is reported' 1 'rate limit exceeded' "$HELLO"
unlike '[F6] a malformed time of a rate limit is not shown' "$out" 'until'
clear_faults

# --- what does not ----------------------------------------------------------
# always WHAT FAULT REGEX [ORIGIN]
always()
{
    fault "{$2, \"times\": -1}"
    want "$1" 1 "$3" "${4:-$HELLO}"
    unlike 'a permanent fault completes no package' "$out" '^DONE'
    clear_faults
}
always 'a server that is down is reported after four tries' '"kind": "status", "status": 503' '\[fetch\] \| HTTP 503.*tried 4 times'
always 'a wait of more than an hour is refused' '"kind": "status", "status": 429, "retry_after": 4000' '\[fetch\] \| HTTP 429.*come back in 3600'
always 'HTTP 403 is reported as not authorized' '"kind": "status", "status": 403' '\[not-authorized\] \| HTTP 403'
always 'HTTP 404 is reported as not found' '"kind": "status", "status": 404' '\[not-found\] \| HTTP 404'
always 'a connection that is always reset is a fetch error' '"kind": "reset", "after": 300' '\[fetch\]'
always 'a response that is always corrupt is reported as damage' '"kind": "corrupt", "at": 40, "match": {"cmd": "fetch"}' '\[damaged\]'
always 'an empty pack in place of trees is reported as damage' '"kind": "emptypack", "match": {"cmd": "fetch"}' '\[damaged\] .*left out the commit'
always 'an empty pack in place of files is reported with the missing object' '"kind": "emptypack", "match": {"cmd": "fetch"}, "skip": 1' \
    '\[damaged\] .*left out the object [0-9a-f]{40} \(docs/data\.bin\)'
always 'an empty pack in place of a link target is reported as damage' '"kind": "emptypack", "match": {"cmd": "fetch"}, "skip": 1' \
    '\[damaged\] .*left out the object [0-9a-f]{40}' "$GH/acme/links/tree/main/skills/linked"
always 'a huge count of objects is stopped by a limit' '"kind": "hugecount", "match": {"cmd": "fetch"}' '\[limit\]'
always 'a compression bomb is stopped by a limit' '"kind": "bomb", "size": 104857600, "match": {"cmd": "fetch"}' '\[limit\]'
always 'a response of garbage is reported as not a git server' '"kind": "garbage"' 'not a git server'
always 'an HTML page is reported as not a git server' '"kind": "html"' 'not a git server.*text/html'
always 'an ERR packet is reported with its message' '"kind": "errpkt", "message": "access denied by policy"' 'access denied by policy'
always 'a side-band error is reported with its message' '"kind": "sideerr", "message": "out of memory", "match": {"cmd": "fetch"}' 'out of memory'
always 'a redirect to another port is refused' '"kind": "redirect", "to": "http://127.0.0.1:1/x/y/git-upload-pack", "status": 302' '\[refused\].*another port, http://127.0.0.1:1/x/y'
for status in 307 308; do
    always "a redirect by $status to another port is refused" '"kind": "redirect", "to": "http://127.0.0.1:1/x/y/git-upload-pack", "status": '$status '\[refused\].*another port'
done
always 'a redirect by 303 is not followed' '"kind": "redirect", "to": "/x/y/git-upload-pack", "status": 303' '\[fetch\] \| HTTP 303 from [^|]*$'
always 'HTTP 500 is reported after four tries' '"kind": "status", "status": 500' '\[fetch\] \| HTTP 500.*tried 4 times'
always 'HTTP 499 is reported without another try' '"kind": "status", "status": 499' '\[fetch\] \| HTTP 499 from [^|]*$'
always 'a redirect to a file fails' '"kind": "redirect", "to": "file:///etc/passwd", "status": 301' '\[refused\]|\[fetch\]'
always 'a redirect to no repository is a fetch error' '"kind": "redirect", "to": "/elsewhere", "status": 301' '\[fetch\].*leads to no repository'

# another repository's refs, and its objects: once is a race, always a lie
skill "$T/elsewhere/skills/hello" 'version: 9.9.9'
make_repo acme/elsewhere "$T/elsewhere"
swap='"kind": "swap", "with": "acme/elsewhere", "match": {"repo": "acme/catalog"'
fault "{$swap, \"cmd\": \"ls-refs\"}}"
want 'a ref that moved during the fetch is fetched' 0 '^DONE' "$HELLO"
clear_faults
always 'the refs of another repository are an error' "$swap, \"cmd\": \"ls-refs\"}" '\[fetch\]|\[damaged\]'
fault "{$swap, \"cmd\": \"fetch\"}, \"times\": -1}"
drive "$T/incoming" "$HELLO"
unlike 'the objects of another repository complete no package' "$out" '^DONE'
clear_faults
stop_githost
done_testing

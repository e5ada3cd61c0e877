#!/bin/sh
# mapm-fetch against a host that fails, now and then or always.
# FETCH 8; [row 13, row 14]. Other servers: tests/cli/fetch_servers.t.
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/fetch.sh"

make_repo acme/second "$T/src"
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

# --- what does not ----------------------------------------------------------
always()
{
    fault "{$2, \"times\": -1}"
    want "$1" 1 "$3" "$HELLO"
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
always 'a huge count' '"kind": "hugecount", "match": {"cmd": "fetch"}' '\[limit\]'
always 'a bomb' '"kind": "bomb", "size": 104857600, "match": {"cmd": "fetch"}' '\[limit\]'
always 'garbage' '"kind": "garbage"' 'not a git server'
always 'a captive portal' '"kind": "html"' 'not a git server.*text/html'
always 'an ERR packet' '"kind": "errpkt", "message": "access denied by policy"' 'access denied by policy'
always 'a side-band error' '"kind": "sideerr", "message": "out of memory", "match": {"cmd": "fetch"}' 'out of memory'
always 'a redirect elsewhere' '"kind": "redirect", "to": "http://127.0.0.1:1/x/y/git-upload-pack", "status": 302' '\[refused\].*another host'
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

#!/bin/sh
# Twenty folders in four repositories, each on a host of its own, over https at a
# round-trip time of 40 ms; one of the hosts has no partial clones. [H1, H3]; HOSTS 6.
. "$(dirname "$0")/../lib/cli.sh"

hosts='github.com gitlab.com codeberg.org bitbucket.org'
pids=
stop_all()
{
    for pid in $pids; do
        kill "$pid" && wait "$pid"
    done 2>/dev/null
    leave
}
trap stop_all EXIT

wanted=
for host in $hosts; do
    case $host in
        gitlab.com) form=/-/tree/main/ ;;
        bitbucket.org) form=/src/main/ ;;
        codeberg.org) form=/src/branch/main/ ;;
        *) form=/tree/main/ ;;
    esac
    for n in 1 2 3 4 5; do
        name=$(echo "$host" | tr . -)-$n
        skill "$T/src/$host/skills/$name"
        head -c 1000 /dev/urandom >"$T/src/$host/skills/$name/data"
        wanted="$wanted https://$host/acme/catalog${form}skills/$name"
    done
    head -c 50000 /dev/urandom >"$T/src/$host/picture"
    mkdir -p "$T/$host/acme"
    "$ROOT/tests/githost/commit-folder" "$T/$host/acme/catalog.git" "$T/src/$host" >/dev/null
    [ "$host" = bitbucket.org ] && option=--no-filter || option=--tls
    "$GITHOST" --root "$T/$host" --tls --rtt-ms 40 --ready "$T/$host.ready" "$option" >/dev/null 2>&1 &
    pids="$pids $!"
done
for host in $hosts; do
    await grep -q '}' "$T/$host.ready"
    cp "$T/$host.ready" "$T/ready"
    cat "$(ready_field ca)" >>"$T/ca"
    git config --global "url.$(ready_field url)/.insteadOf" "https://$host/"
done
SSL_CERT_FILE=$T/ca
export SSL_CERT_FILE

# at_hosts hold|release|count: the first is held until the others have answered all;
# a line a host of what was asked, on how many connections, with how many bytes.
at_hosts()
{
    python3 -S - "$T" "$1" $hosts <<'PYTHON'
import json, ssl, sys, time, urllib.request
folder, what, *hosts = sys.argv[1:]
tls = ssl.create_default_context(cafile=folder + "/ca")
def call(host, method, path, body=None):
    control = json.load(open(f"{folder}/{host}.ready"))["control"]
    with urllib.request.urlopen(urllib.request.Request(control + path, body, method=method), context=tls) as r:
        return r.read()
def stats(host):
    return json.loads(call(host, "GET", "/stats"))
if what == "hold":
    call(hosts[0], "POST", "/faults", b'{"kind": "hold", "match": {"cmd": "ls-refs"}}')
elif what == "release":
    end = time.monotonic() + 60
    while time.monotonic() < end and any(stats(h)["by_cmd"].get("fetch", 0) < (2 if h != hosts[-1] else 1)
                                         for h in hosts[1:]):
        time.sleep(0.05)
    print("others done" if time.monotonic() < end else "nothing was asked of the others")
    call(hosts[0], "DELETE", "/faults")
else:
    for host in hosts:
        s = stats(host)
        print(host, s["by_cmd"].get("ls-refs", 0), s["by_cmd"].get("fetch", 0), s["requests"],
              "few" if s["connections"] <= 2 else "many", "all" if s["body_out"] > 50000 else "parts")
        call(host, "DELETE", "/log")
PYTHON
}

at_hosts hold
# shellcheck disable=SC2086
mapm install --yes --verbose $wanted >"$T/out" 2>"$T/err" &
installing=$!
is '[H3] a held host does not delay the other hosts' "$(at_hosts release)" 'others done'
wait "$installing"
is '[H1, H3] install of twenty folders from four hosts succeeds' "$?" 0
is '[H1] install provisions all twenty skills' "$(ls .agents/skills | wc -l)" 20
is '[H3] install takes three round trips and eleven requests' "$(at_hosts count)" 'github.com 1 2 3 few parts
gitlab.com 1 2 3 few parts
codeberg.org 1 2 3 few parts
bitbucket.org 1 1 2 few all'
is '[H3] install -v reports the cost of a host without partial clones' \
    "$(sed -n 's/.*127.0.0.1:[0-9]* \(has no partial clone: 5[5-8]\)\.. kB instead of \([5-8]\)\.. kB$/\1 \2/p' "$T/err" | wc -l)" 1
rm -rf "$T/mapm" .agents
exits '[H3] install --locked succeeds with an empty store' 0 mapm install --locked
is '[H3] install --locked takes one round trip where the host has a filter' "$(at_hosts count | cut -d ' ' -f 1-4)" 'github.com 0 2 2
gitlab.com 0 2 2
codeberg.org 0 2 2
bitbucket.org 0 1 1'
done_testing

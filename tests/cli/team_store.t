#!/bin/sh
# A team's store in its folder form: what it has is not asked of the git host, and
# nothing of it is believed. The host sees what the store lacks, and no more. [S1, S5]
. "$(dirname "$0")/../lib/cli.sh"

team=$ROOT/tests/lib/team.py
U=https://github.com/acme/catalog/tree
s=$T/src

skill "$s/skills/base" 'scope: acme'
skill "$s/skills/mid" 'scope: acme' 'dependencies:' '  skills:' "    - $U/main/skills/base"
mkdir -p "$s/skills/mid/scripts" "$s/shared"
echo 'echo hi' >"$s/skills/mid/scripts/run.sh"
chmod +x "$s/skills/mid/scripts/run.sh"
skill "$s/skills/linked" 'scope: acme'
echo text >"$s/shared/guide.md"
ln -s ../../shared/guide.md "$s/skills/linked/guide.md"
skill "$s/skills/other" 'scope: acme'
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool
mkdir "$T/tool" && cp "$s/mcps/io.acme_tool.json" "$T/tool"
make_repo acme/catalog "$s"
git=$T/repos/acme/catalog.git
start_githost

exits 'install --yes of skills and a server succeeds' 0 mapm install --yes "$U/main/skills/mid" "$U/main/skills/linked" \
    "$U/main/mcps/io.acme_tool.json"
exits '[S2] store push with an empty store exits with 3' 3 \
    env MAPM_HOME="$T/none" "$MAPM" store push --to "$T/none-pushed"
is '[S2] store push names three packages that the store does not have' "$(printf '%s\n' "$out" | grep -c 'does not have all of it: ')" 3
like '[S2] store push reports how many more packages fail' "$out" '^failed  1 more: the store does not have all of it \(-v shows each\)$'
exits '[S2] store push -v with an empty store exits with 3' 3 env MAPM_HOME="$T/none" "$MAPM" store push -v --to "$T/none-pushed"
is '[S2] store push -v names each package that the store does not have' "$(printf '%s\n' "$out" | grep -c 'does not have all of it: ')" 4
cp -r . "$T/locked"
rm -rf "$T/locked/.agents" "$T/locked/.claude"
for path in skills/base skills/mid skills/linked mcps/io.acme_tool.json; do
    folder=$s/$path
    [ -d "$folder" ] || folder=$T/tool
    python3 -S "$team" object "$T/store" "$folder"
    python3 -S "$team" proof "$T/store" "$git" github.com/acme/catalog "$COMMIT" "$path"
done >"$T/names" || broken 'objects'

python3 -S "$team" serve "$T/store" "$T/url" "$T/store.log" 2>/dev/null &
store_pid=$!
trap 'kill $store_pid 2>/dev/null; leave' EXIT
await test -s "$T/url"
S=$(cat "$T/url")

# cold NAME: a fresh workspace of this name with the lock, and a fresh home.
cold()
{
    rm -rf "${T:?}/$1" "$T/cold"
    cp -r "$T/locked" "$T/$1"
    cd "$T/$1" || exit 1
    MAPM_HOME=$T/cold
    : >"$T/store.log"
    [ -z "$githost_pid" ] || reset_log
}
asked()
{
    wc -l <"$T/store.log"
}

cold whole
MAPM_STORE=$S/ok
export MAPM_STORE
exits 'install --locked from a complete team store succeeds with an empty home' 0 mapm install --locked --yes
is 'install from a complete team store sends no request to the git host' "$(requests)" 0
is 'install from a team store takes one request for each package and each proof' "$(asked)" 8
is 'install from a team store requests each name once' "$(cut -d' ' -f1 "$T/store.log" | sort | uniq -d)" ''
same_tree 'packages from a team store equal those of the git host' .agents/skills "$T/ws/.agents/skills"
exits 'verify accepts packages from a team store' 0 mapm verify
: >"$T/store.log"
exits 'a second install --locked succeeds' 0 mapm install --locked --yes
is 'a second install --locked sends no request to store or host' "$(asked) $(requests)" '0 0'


# --- without any git host ------------------------------------------------------

stop_githost
cold alone
exits 'install --locked from a team store succeeds without any git host' 0 mapm install --locked --yes
exits 'verify succeeds without any git host' 0 mapm verify

# edit KEY VALUE: of the entry of acme/base. Well formed, and wrong.
edit()
{
    sed -i "/name: acme\/base\$/,/^  - /s|^    $1: .*|    $1: $2|" mapm.lock
}
Z=0123456789012345678901234567890123456789
wrong()
{
    cold "wrong-$1"
    edit "$2" "$3"
    exits "install --locked fails for a lock with another $1" 1 mapm install --locked --yes
    not_ok 'install of a wrong lock entry provisions nothing' test -e .agents/skills/base/SKILL.md
}
wrong commit commit $Z
wrong tree tree $Z
wrong digest digest "sha256:$Z${Z%????????????????}"
wrong 'tree of a sibling' tree "$(git -C "$git" rev-parse main:skills/mid)"

# --- only the store ---------------------------------------------------------------

mkdir -p "$XDG_CONFIG_HOME/mapm"
config()
{
    cat >"$XDG_CONFIG_HOME/mapm/config.yaml"
}
start_githost
unset MAPM_STORE
cold only
printf 'store: {remote: ["%s/ok"], only: true}\n' "$S" | config
exits 'install --locked with only: true and a complete store succeeds' 0 mapm install --locked --yes
cold only-absent
printf 'store: {remote: ["%s/absent"], only: true}\n' "$S" | config
exits 'install --locked with only: true and an empty store fails' 1 mapm install --locked --yes
for digest in $(sed -n 's/^    digest: //p' mapm.lock); do
    like "the error names the missing package by $digest" "$err" "$digest"
done
is 'install with only: true sends no request to the git host' "$(requests)" 0
exits 'install of a new package with only: true fails' 1 mapm install --yes "$U/main/skills/other"
like 'the error names the host that must not be contacted' "$err" 'its host github.com/acme/catalog must not be contacted'
exits 'outdated with only: true fails' 1 mapm outdated
printf 'store: {remote: ["%s/absent"], only: true}\n' "$S" | config
: >"$T/store.log"
exits 'catalog add of an index with only: true fails' 1 mapm catalog add "$S"
like 'the error says that mapm asks nothing but the stores' "$err" 'asks nothing but the stores'
exits 'host add of a new host with only: true fails' 1 mapm host add git.invalid
like 'the error says that the kind of the host cannot be determined' "$err" 'it cannot be told what git.invalid runs'
is 'commands with only: true send no request to the store' "$(asked)" 0
exits 'verify --remote with only: true fails' 1 mapm verify --remote
is 'commands with only: true send no request to the git host' "$(requests)" 0
config </dev/null
for i in $(seq 21); do skill "$T/many/skills/m$i"; done
make_repo acme/many "$T/many"
mkdir "$T/many-ws" && cd "$T/many-ws" || exit 1
exits 'install --all of 21 packages succeeds' 0 mapm install --yes --all acme/many
MAPM_HOME=$T/many-home
printf 'store: {remote: ["%s/absent"], only: true}\n' "$S" | config
exits 'install --locked with only: true fails when the store has none of 21 packages' 1 mapm install --locked
is 'the error names the digest of each of 21 packages' "$(printf '%s\n' "$err" |
    grep -c '^warning: no store has the package .*, sha256:[0-9a-f]\{64\}$')" 21
exits 'store verify exits with 3 when the store has none of 21 packages' 3 mapm store verify "$S/absent"
is 'store verify names the digest of each of 21 packages' "$(printf '%s\n' "$out" |
    grep -c '^failed  skill m[0-9]*: no store has the package .*, sha256:[0-9a-f]\{64\}$')" 21
config </dev/null

# --- what a store may do ------------------------------------------------------------

# falls WHAT PATH WARNING: the host serves what the store at $S/PATH does not. The
# worlds run at once: some of them wait for seconds.
falls()
{
    n=$((n + 1))
    mkdir -p "$T/w$n"
    cp -r "$T/locked" "$T/w$n/ws"
    printf '%s\n' "$1" >"$T/w$n/what"
    printf '%s\n' "$3" >"$T/w$n/warning"
    case $2 in *://*) url=$2 ;; *) url=$S/$2 ;; esac
    (cd "$T/w$n/ws" && MAPM_HOME=$T/w$n/home MAPM_STORE=$url \
        mapm install --locked --yes >../out 2>../err </dev/null; echo $? >../status) &
    pids="$pids $!"
}
n=0 pids=
falls 'nobody listens' http://127.0.0.1:1/x 'is skipped from now on'
falls 'a name that does not resolve' https://store.invalid/x 'is skipped from now on'
falls 'HTTP 500' status-500 'is skipped from now on: HTTP 500'
falls 'HTTP 429, Retry-After: 3600' status-429 'is skipped from now on: HTTP 429'
falls 'HTTP 401' status-401 'is skipped from now on: HTTP 401'
falls 'HTTP 403: an expired token' status-403 'answers with HTTP 403'
falls 'HTTP 302 to nowhere' status-302 'is skipped from now on: HTTP 302'
falls 'nothing after the headers' stall 'is skipped from now on'
falls 'no answer at all' silent 'is skipped from now on'
falls 'one byte a second' slow 'is skipped from now on'
falls 'bytes that come slowly, and never stop' drip 'is skipped from now on: less than 32 KiB a second'
falls 'fewer bytes than it says' short 'is skipped from now on'
falls 'more bytes than it says' cut 'not written by mapm'
falls 'a length of a terabyte' claims 'is skipped from now on'
falls 'an object without end' endless 'is skipped from now on: it sends more than'
falls 'a bomb' bomb 'has something else as'
falls 'two members' two 'not written by mapm'
falls 'something behind it' tail 'not written by mapm'
falls 'a page to sign in' page 'not written by mapm'
falls 'a redirect to itself' redirect-loop 'more than 3 redirects'
falls 'four redirects' redirect-4 'more than 3 redirects'
printf 'http://169.254.169.254/latest' >"$T/store/to"
falls 'a redirect to the metadata service' redirect-to 'not over https'
falls 'nothing' absent ''
for pid in $pids; do wait "$pid"; done
for i in $(seq $n); do
    w=$T/w$i what=$(cat "$w/what")
    status=$(cat "$w/status") out=$(cat "$w/out") err=$(cat "$w/err")
    if [ "$status" = 0 ]; then
        pass "$what: the packages come from the git host"
    else
        fail "$what: status $status" && show_run
    fi
    if [ -s "$w/warning" ] && [ "$(cat "$w/warning")" ]; then
        like "$what: mapm warns of the store" "$err" "$(cat "$w/warning")"
        case $(cat "$w/warning") in
        is*) is "$what: one" "$(grep -c 'is skipped' "$w/err")" 1 ;;
        esac
    else
        unlike "$what: mapm does not warn" "$err" warning
    fi
    same_tree "$what: the packages equal those of the git host" "$w/ws/.agents/skills" "$T/ws/.agents/skills"
    is "$what: no incomplete download stays in the home" \
        "$(find "$w/home" -path '*incoming*' -type f | head -n 3)" ''
done
cold redirected
MAPM_STORE=$S/redirect-3
export MAPM_STORE
exits 'install --locked from a store with three redirects succeeds' 0 mapm install --locked --yes
is 'install follows three redirects and sends no request to the git host' "$(requests)" 0

cold greedy
echo 'limits: {transfer_max_bytes: 200000}' | config
MAPM_STORE=$S/endless
exits 'install --locked succeeds when a store sends more than a run may receive' 0 mapm install --locked --yes
like 'the warning names the limit of bytes from stores' "$err" 'received in one run from stores'
config </dev/null

# --- content -------------------------------------------------------------------------

# Objects under the names of others, whole and well formed.
base=$(sed -n 1p "$T/names") mid=$(sed -n 3p "$T/names")
cp -r "$T/store" "$T/store-other"
cp "$T/store/$base.tar.gz" "$T/store-other/$mid.tar.gz"
cp "$T/store/$mid.tar.gz" "$T/store-other/$base.tar.gz"
cp "$T/store/$(sed -n 4p "$T/names").tar.gz" "$T/store-other/$(sed -n 2p "$T/names").tar.gz"
cold lied
MAPM_STORE=$S/other
exits 'install --locked succeeds when objects have the content of others' 0 mapm install --locked --yes
like 'the warning shows the digest of the wrong object' "$err" "sha256:${base#mapm1-}"
like 'the warning shows the digest of the right package' "$err" "sha256:${mid#mapm1-}"
same_tree 'packages with wrong objects come from the git host' .agents/skills "$T/ws/.agents/skills"
exits 'verify succeeds after wrong objects' 0 mapm verify
exits 'store verify exits with 3 for wrong objects' 3 mapm store verify "$S/other"
for name in base mid; do
    eval "object=\$$name"
    like "store verify names the wrong object of $name" "$out" "^failed  skill acme/$name: .* has something else as $object: "
done
cold lied-first
MAPM_STORE="$S/other $S/ok"
exits 'install --locked succeeds when the next store has the right object' 0 mapm install --locked --yes
like 'install warns of the wrong object of the first store' "$err" "sha256:${base#mapm1-}"
is 'install takes no content from the git host when the next store has it' "$(request_log | grep -c blobs)" 0

# --- several stores, and what is missing ----------------------------------------------

# A password of netrc, after the first 401.
: >"$HOME/.netrc"
cold no-login
MAPM_STORE=$S/login
exits 'install --locked succeeds when the store requires a missing password' 0 mapm install --locked --yes
like 'install warns that the store is skipped after HTTP 401' "$err" 'is skipped from now on: HTTP 401'
echo 'machine 127.0.0.1 login me password hunter2' >"$HOME/.netrc"
cold bad-login
exits 'install --locked succeeds when the store refuses the password' 0 mapm install --locked --yes
like 'install warns that the store is skipped after a wrong password' "$err" 'is skipped from now on: HTTP 401'
unlike 'the output does not show the password' "$out$err" 'hunter2|bWU6'
echo 'machine 127.0.0.1 login me password secret' >"$HOME/.netrc"
cold login
exits 'install --locked succeeds with the password of netrc' 0 mapm install --locked --yes
is 'install with the password of netrc sends no request to the git host' "$(requests)" 0
unlike 'the password of netrc is not sent to another store' "$(cold elsewhere
    MAPM_STORE=$S/ok mapm install --locked --yes >/dev/null 2>&1
    cat "$T/store.log")" Basic
rm "$HOME/.netrc"
# A header of git's configuration goes below its URL, and not where a redirect leads.
auth="Authorization: Basic $(printf me:secret | base64)"
git config --global "http.$S/login.extraheader" "$auth"
cold header
exits '[S1] install --locked succeeds with http.<url>.extraHeader' 0 mapm install --locked --yes
is '[S1] install with http.<url>.extraHeader sends no request to the git host' "$(requests)" 0
git config --global --rename-section "http.$S/login" "http.$S/log"
cold header-elsewhere
exits '[S1] install --locked succeeds with the extraHeader of another URL' 0 mapm install --locked --yes
like '[S1] the extraHeader of another URL is not sent to the store' "$err" 'is skipped from now on: HTTP 401'
git config --global --remove-section "http.$S/log"

# A folder of nginx, which keeps its connection.
mkdir -p "$T/nginx"
port=$(python3 -S -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1])')
cat >"$T/nginx/conf" <<CONF
daemon off; pid $T/nginx/pid; error_log $T/nginx/error; worker_processes 1;
events { worker_connections 64; }
http {
  access_log $T/nginx/log; client_body_temp_path $T/nginx/b; proxy_temp_path $T/nginx/p;
  fastcgi_temp_path $T/nginx/f; uwsgi_temp_path $T/nginx/u; scgi_temp_path $T/nginx/s;
  server { listen 127.0.0.1:$port; location /team/ { alias $T/store/; } }
}
CONF
nginx -c "$T/nginx/conf" -e "$T/nginx/error" 2>/dev/null &
nginx_pid=$!
trap 'kill $store_pid $nginx_pid 2>/dev/null; leave' EXIT
await test -s "$T/nginx/pid"
chmod -R a+rX "$T" 2>/dev/null
cold by-nginx
MAPM_STORE=http://127.0.0.1:$port/team/
exits 'install --locked from a folder of nginx succeeds' 0 mapm install --locked --yes
is 'install from a folder of nginx sends no request to the git host' "$(requests)" 0
is 'install from nginx takes one request for each package and each proof' "$(grep -c 'GET /team/mapm1' "$T/nginx/log")" 8
# machine NAME: a cold one, beside others.
machine()
{
    cp -r "$T/locked" "$T/$1" && cd "$T/$1" &&
        MAPM_HOME=$T/$1/.home mapm install --locked --yes >"$T/$1.out" 2>&1 &&
        touch "$T/$1/.installed"
}
: >"$T/nginx/log"
reset_log
for n in 1 2 3 4 5 6 7 8; do
    machine "machine-$n" &
    machines="${machines-} $!"
done
wait $machines
is '[S5] eight cold machines install at once' "$(ls -d "$T"/machine-?/.installed | wc -l)" 8
is '[S5] each cold machine requests the packages from the store' "$(grep -c 'GET /team/mapm1.* 200 ' "$T/nginx/log")" 64
is '[S5] eight cold machines send no request to the git host' "$(requests)" 0

cold second
MAPM_STORE="$S/status-500 $S/absent $S/ok"
exits 'install --locked succeeds when the third store has the packages' 0 mapm install --locked --yes
is 'install from the third store sends no request to the git host' "$(requests)" 0
rm "$T/store/$mid.tar.gz"
cold part
MAPM_STORE=$S/ok
exits 'install --locked succeeds when the store lacks one package' 0 mapm install --locked --yes
is 'a package that the store lacks takes one request to the git host' "$(requests)" 1
rm "$T"/store/mapm1p-*.gz
cold proofless
exits 'install --locked succeeds from a store without proofs' 0 mapm install --locked --yes
at_most 'a store without proofs leads to at most three requests to the git host' "$(requests)" 3
exits 'verify succeeds after an install without proofs' 0 mapm verify
done_testing

# cli.sh: what a test of the command needs, in POSIX sh. Sourced first thing:
#
#     #!/bin/sh
#     . "$(dirname "$0")/../lib/cli.sh"
#     start_githost
#     skill "$T/src/skills/hello"
#     make_repo acme/catalog "$T/src"
#     exits 'installs from a branch' 0 \
#         mapm install --yes https://github.com/acme/catalog/tree/main/skills/hello
#     ok 'the skill is there' test -f .agents/skills/hello/SKILL.md
#     is 'three requests' "$(requests)" 3
#     done_testing
#
# The test runs in $T/ws, a fresh empty folder, with a HOME, XDG folders and a
# MAPM_HOME of its own below $T; all goes at exit. $MAPM is the program.

set -u
umask 022
ROOT=$(cd "$(dirname "$0")/../.." && pwd -P) || exit 1
MAPM=${MAPM:-$ROOT/build/mapm}
GITHOST=$ROOT/tests/githost/githost

# --- a world of its own -----------------------------------------------------

T=$(mktemp -d "${TMPDIR:-/tmp}/mapm-test.XXXXXX") && T=$(cd "$T" && pwd -P) || exit 1
CONTROL=
githost_pid=
leave()
{
    [ -z "$githost_pid" ] || { kill "$githost_pid" && wait "$githost_pid"; } 2>/dev/null
    cd / && chmod -R u+rwX "$T" 2>/dev/null
    rm -rf "$T"
}
trap leave EXIT
trap 'exit 130' INT
trap 'exit 143' TERM HUP

for name in $(env | sed -n 's/^\(GIT_[A-Za-z0-9_]*\|MAPM_[A-Za-z0-9_]*\|[A-Za-z]*_proxy\|[A-Z]*_PROXY\)=.*/\1/p'); do
    [ "$name" = MAPM_BUILD ] || unset "$name"
done
unset GITHUB_TOKEN GH_TOKEN GH_HOST CI NO_COLOR CLICOLOR_FORCE COLUMNS NETRC \
    CURL_CA_BUNDLE SSL_CERT_FILE SSL_CERT_DIR SUDO_UID CDPATH ENV
HOME=$T/home
XDG_CONFIG_HOME=$HOME/.config XDG_DATA_HOME=$HOME/.local/share
XDG_CACHE_HOME=$HOME/.cache XDG_STATE_HOME=$HOME/.local/state
MAPM_HOME=$T/mapm
GIT_CONFIG_NOSYSTEM=1 GIT_TERMINAL_PROMPT=0
LC_ALL=C.UTF-8 TZ=UTC TERM=dumb
PATH=$PATH:/usr/sbin:/sbin # of servers; a user of Debian has neither
export HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_CACHE_HOME XDG_STATE_HOME \
    MAPM_HOME GIT_CONFIG_NOSYSTEM GIT_TERMINAL_PROMPT LC_ALL TZ TERM MAPM
mkdir -p "$HOME" "$T/ws" "$T/repos"
cd "$T/ws" || exit 1

mapm()
{
    "$MAPM" "$@"
}

# --- TAP --------------------------------------------------------------------

tests=0
failures=0

diag()
{
    printf '%s\n' "$*" | sed 's/^/# /'
}
pass()
{
    tests=$((tests + 1))
    echo "ok $tests - $1"
}
fail()
{
    tests=$((tests + 1)) failures=$((failures + 1))
    echo "not ok $tests - $1"
}

# run COMMAND...: its status in $status, its two outputs in $out and $err.
run()
{
    "$@" >"$T/out" 2>"$T/err" </dev/null
    status=$?
    out=$(cat "$T/out") err=$(cat "$T/err")
    return $status
}
show_run()
{
    [ -z "$out" ] || diag "stdout: $(printf '%s\n' "$out" | head -n 40)"
    [ -z "$err" ] || diag "stderr: $(printf '%s\n' "$err" | head -n 40)"
}

# exits WHAT STATUS COMMAND...: runs it, and wants just this status. $out, $err.
exits()
{
    what=$1 want=$2
    shift 2
    run "$@"
    if [ "$status" -eq "$want" ]; then
        pass "$what"
    else
        fail "$what"
        diag "exit status $status, wanted $want: $*"
        show_run
    fi
}
# ok WHAT COMMAND...: the command says yes.   not_ok: it says no.
ok()
{
    what=$1
    shift
    if "$@" >"$T/ok.log" 2>&1; then
        pass "$what"
    else
        fail "$what"
        diag "said no: $*"
        diag "$(head -n 40 "$T/ok.log")"
    fi
}
not_ok()
{
    what=$1
    shift
    if "$@" >"$T/ok.log" 2>&1; then
        fail "$what"
        diag "said yes: $*"
    else
        pass "$what"
    fi
}
# is WHAT GOT WANT: the same text.
is()
{
    if [ "$2" = "$3" ]; then
        pass "$1"
    else
        fail "$1"
        diag "got:  $2"
        diag "want: $3"
    fi
}
isnt()
{
    if [ "$2" != "$3" ]; then
        pass "$1"
    else
        fail "$1"
        diag "got just that: $2"
    fi
}
# at_most WHAT NUMBER LIMIT
at_most()
{
    if [ "$2" -le "$3" ]; then
        pass "$1"
    else
        fail "$1"
        diag "$2, at most $3 wanted"
    fi
}
# like WHAT TEXT REGEX (grep -E, some line).   unlike: no line.
like()
{
    if printf '%s\n' "$2" | grep -Eq -e "$3"; then
        pass "$1"
    else
        fail "$1"
        diag "no line fits: $3"
        diag "$(printf '%s\n' "$2" | head -n 40)"
    fi
}
unlike()
{
    if printf '%s\n' "$2" | grep -Eq -e "$3"; then
        fail "$1"
        diag "fits $3: $(printf '%s\n' "$2" | grep -E -e "$3" | head -n 10)"
    else
        pass "$1"
    fi
}
# same_tree WHAT A B: same files, contents, modes and links.
same_tree()
{
    is "$1" "$(snapshot "$2")" "$(snapshot "$3")"
}
# skip WHAT WHY: a test that cannot run here.   skip_all WHY: none of them can.
skip()
{
    tests=$((tests + 1))
    echo "ok $tests - $1 # SKIP $2"
}
skip_all()
{
    echo "1..0 # SKIP $1"
    exit 0
}
# broken WHY: a helper of the test does not work: that is a failure, never a skip.
broken()
{
    fail "$1"
    done_testing
}
# as_nobody: root starts this test again as a user whom modes hold back, from a copy
# that such a user can read, and ends with it.
as_nobody()
{
    nobody='setpriv --reuid=65534 --regid=65534 --clear-groups'
    if obeys_modes || ! $nobody true 2>/dev/null; then
        return
    fi
    mkdir -p "$T/copy/tests" "$T/copy/build"
    cp -r "$ROOT/tests/lib" "$ROOT/tests/cli" "$ROOT/tests/githost" "$T/copy/tests"
    for program in mapm mapm-fetch mapm-cage; do
        cp "${MAPM%/*}/$program" "$T/copy/build"
    done
    chmod 755 "$T" && chmod -R a+rX "$T/copy"
    (cd / && exec env MAPM="$T/copy/build/mapm" MAPM_BUILD="$T/copy/build" \
        $nobody sh "$T/copy/tests/cli/${0##*/}")
    exit
}
# can_chown: files can be given to other users. Root of a user namespace that maps
# no other user cannot.
can_chown()
{
    rm -f "$T/owned" && echo x >"$T/owned" && chown 12345 "$T/owned" 2>/dev/null
}
# obeys_modes: the modes of files hold this user back. They do not hold back root.
obeys_modes()
{
    rm -f "$T/closed" && echo x >"$T/closed" && chmod 0 "$T/closed" &&
        ! cat "$T/closed" >/dev/null 2>&1
}
done_testing()
{
    echo "1..$tests"
    [ "$failures" -eq 0 ]
    exit
}

# --- files ------------------------------------------------------------------

# snapshot DIR...: each entry with type, mode, and hash or target: two equal
# snapshots are equal byte for byte. (Git's own folders are left out.)
snapshot()
{
    for dir in "$@"; do
        [ -d "$dir" ] || { echo "none"; continue; }
        # (One find, which starts sha256sum itself: this is called a thousand times.)
        (cd "$dir" && find . -name .git -prune -o -printf '%y %m %p -> %l\n' \
            -type f -exec sha256sum {} + | LC_ALL=C sort)
    done
}

# skill FOLDER [FRONTMATTER-LINE...]: a small valid skill, named after FOLDER.
# A line given replaces the default one of the same key.
skill()
{
    package SKILL.md "$@"
}
# agent FOLDER [FRONTMATTER-LINE...]: the same, an AGENTS.md.
agent()
{
    package AGENTS.md "$@"
}
package()
{
    anchor=$1 folder=$2 name=${2##*/}
    shift 2
    mkdir -p "$folder" || return
    given=$(printf '%s\n' "$@")
    {
        echo '---'
        for line in "name: $name" "description: \"The $name package of a test, used by it.\"" \
            'version: 1.0.0'; do
            printf '%s\n' "$given" | grep -q "^${line%%:*}:" || echo "$line"
        done
        [ -z "$given" ] || printf '%s\n' "$given"
        echo '---'
        printf '\n# %s\n\nDo what %s does.\n' "$name" "$name"
    } >"$folder/$anchor"
}
# mcp FILE NAME COMMAND [ARG...]: an MCP server file.
mcp()
{
    file=$1 name=$2 command=$3
    shift 3
    mkdir -p "$(dirname "$file")" || return
    python3 -S - "$file" "$name" "$command" "$@" <<'PYTHON'
import json, sys
file, name, command, *args = sys.argv[1:]
with open(file, "w") as f:
    json.dump({"_meta": {"name": name}, "type": "stdio", "command": command,
               "args": args}, f, indent=2, ensure_ascii=False)
    f.write("\n")
PYTHON
}

# --- git and its host -------------------------------------------------------

# make_repo OWNER/NAME FOLDER [BRANCH]: commits FOLDER as it is to a bare
# repository below $T/repos, on top of what the branch (main) has. $COMMIT is
# the new commit.
make_repo()
{
    mkdir -p "$T/repos/${1%/*}"
    COMMIT=$("$ROOT/tests/githost/commit-folder" "$T/repos/$1.git" "$2" ${3:+"$3"})
}
# repo OWNER/NAME ARG...: git in one of them, for tags, branches and the like.
repo()
{
    name=$1
    shift
    git -C "$T/repos/$name.git" "$@"
}

# start_githost [OPTION...]: serves $T/repos (and what --root adds) as
# github.com: $HOME/.gitconfig rewrites the address. Sets $GITHOST_URL, $CONTROL.
start_githost()
{
    stop_githost
    rm -f "$T/ready"
    "$GITHOST" --root "$T/repos" --ready "$T/ready" "$@" >/dev/null 2>"$T/githost.err" &
    githost_pid=$!
    tries=0
    until [ -s "$T/ready" ] && grep -q '}' "$T/ready"; do
        tries=$((tries + 1))
        if [ $tries -gt 300 ] || ! kill -0 "$githost_pid" 2>/dev/null; then
            diag "githost did not start: $(cat "$T/githost.err")"
            exit 1
        fi
        sleep 0.05
    done
    GITHOST_URL=$(ready_field url) CONTROL=$(ready_field control)
    GITHOST_CA=$(ready_field ca)
    git config --global --replace-all "url.$GITHOST_URL/.insteadOf" https://github.com/
    if [ -n "$GITHOST_CA" ]; then
        GIT_SSL_CAINFO=$GITHOST_CA CURL_CA_BUNDLE=$GITHOST_CA SSL_CERT_FILE=$GITHOST_CA
        export GIT_SSL_CAINFO CURL_CA_BUNDLE SSL_CERT_FILE
    fi
}
ready_field()
{
    sed -n 's/.*"'"$1"'": *"\([^"]*\)".*/\1/p' "$T/ready"
}
stop_githost()
{
    [ -n "$githost_pid" ] || return 0
    kill "$githost_pid" 2>/dev/null
    wait "$githost_pid" 2>/dev/null
    githost_pid=
    git config --global --remove-section "url.$GITHOST_URL/" 2>/dev/null
    unset GIT_SSL_CAINFO CURL_CA_BUNDLE SSL_CERT_FILE
    return 0
}

# control METHOD PATH [BODY]: speaks to the running githost.
control()
{
    speak '' "$@"
}
# speak KEY METHOD PATH [BODY]: the same; of an answer in JSON only what is at KEY.
speak()
{
    # (-I -S and no http.client: a third of the processor time, and this is called
    # hundreds of times.)
    python3 -S - "$CONTROL" "$@" <<'PYTHON'
import os, socket, sys
base, key, method, path, *body = sys.argv[1:]
scheme, _, rest = base.partition("://")
at, _, prefix = rest.partition("/")
host, _, port = at.partition(":")
body = body[0].encode() if body else b""
s = socket.create_connection((host, int(port)), timeout=20)
if scheme == "https":
    import ssl
    s = ssl.create_default_context(cafile=os.environ.get("SSL_CERT_FILE")).wrap_socket(s, server_hostname=host)
s.sendall(f"{method} /{prefix}{path} HTTP/1.0\r\nHost: {at}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
head, _, text = b"".join(iter(lambda: s.recv(65536), b"")).partition(b"\r\n\r\n")
text = text.decode()
if key:
    import json
    v = json.loads(text)
    for k in key.split("."):
        v = v.get(k, 0)
    text = f"{v}\n"
sys.stdout.write(text)
sys.exit(int(head.split()[1]) >= 400)
PYTHON
}
# stat_of KEY: requests, body_in, body_out, wants, connections, wire_in, wire_out,
# or by_cmd.fetch, by_status.200 and the like, since the start or reset_log.
stat_of()
{
    speak "$1" GET /stats
}
requests()
{
    stat_of requests
}
reset_log()
{
    control DELETE /log >/dev/null
}
# request_log: one line a request: status, command, repository, body bytes sent.
request_log()
{
    control GET /log | python3 -S -c '
import json, sys
for line in sys.stdin:
    r = json.loads(line)
    if r["ev"] == "req":
        print(r["status"], r.get("cmd") or "-", r.get("repo") or "-", r["out"])'
}
# await COMMAND...: until it succeeds. What does not come about in a minute or two is
# a failure of the test.
await()
{
    awaited=0
    until "$@" >/dev/null 2>&1; do
        awaited=$((awaited + 1))
        [ $awaited -lt 1200 ] || broken "waited in vain: $*"
        sleep 0.05
    done
}
# await_held COUNT: until so many requests wait for clear_faults (the fault "hold").
await_held()
{
    await are_held "$1"
}
are_held()
{
    [ "$(stat_of held)" -ge "$1" ]
}
# fault JSON: see tests/githost/README.md.   clear_faults: no more of them.
fault()
{
    control POST /faults "$1" >/dev/null
}
clear_faults()
{
    control DELETE /faults >/dev/null
}

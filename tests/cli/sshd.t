#!/bin/sh
# Packages over ssh from a real sshd on the loopback, with throw-away keys: both
# versions of the protocol, keys, known_hosts, and the end of all processes. ssh.t has
# what needs no cryptography. [H2].
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/fetch.sh"
. "$ROOT/tests/lib/sshd.sh"

me=$(id -un)
git config --global "url.$me@github.com:.insteadOf" $GH/

start_sshd 'AcceptEnv GIT_PROTOCOL'
mkdir "$T/over" && cd "$T/over" || exit 1
exits 'install succeeds with AcceptEnv GIT_PROTOCOL' 0 mapm install --yes "$GH/acme/catalog/tree/main/skills/hello" \
    "$GH/acme/catalog/tree/main/skills/other"
is 'install with AcceptEnv uses version 2 over one connection' "$(ssh_log)" "git-upload-pack 'acme/catalog.git'|version=2"
drive "$T/incoming" "$HELLO"
two=$(echo "$out" | grep '^DONE')

start_sshd
want 'a fetch succeeds without AcceptEnv' 0 '^DONE' "$HELLO"
is 'a fetch without AcceptEnv gives the same commit and tree' "$(echo "$out" | grep '^DONE')" "$two"
like 'a fetch without AcceptEnv uses version 0' "$(ssh_log)" "^git-upload-pack 'acme/catalog.git'[|]$"
want 'a missing repository is reported with the words of the server' 1 '\[not-found\] .*ssh: ERROR: Repository not found' "$GH/acme/nix"

# --- who is who -------------------------------------------------------------------
cp "$T/ssh/known_hosts" "$T/ssh/known_hosts.good"
: >"$T/ssh/known_hosts"
: >"$T/ssh/log"
want 'an unknown host key is an error' 1 'ssh: Host key verification failed.*does not know the host key' "$HELLO"
ssh-keygen -q -t ed25519 -N '' -f "$T/ssh/other"
printf '[127.0.0.1]:%s %s\n' "$SSHD_PORT" "$(cut -d' ' -f1,2 "$T/ssh/other.pub")" >"$T/ssh/known_hosts"
want 'a changed host key is an error' 1 'not the host key that ssh knows' "$HELLO"
is 'a server with a wrong host key receives no command' "$(ssh_log)" ''
is 'a wrong host key is not added to known_hosts' "$(wc -l <"$T/ssh/known_hosts")" 1
cp "$T/ssh/known_hosts.good" "$T/ssh/known_hosts"
cp "$T/ssh/other.pub" "$T/ssh/authorized"
unset SSH_AUTH_SOCK
want 'a refused user key is reported as not authorized' 1 '\[not-authorized\] .*Permission denied.*no key was accepted by' "$HELLO"
rm -rf "$T/refused" && mkdir "$T/refused" && cd "$T/refused" || exit 1
MAPM_HOME=$T/refused.home
exits 'install fails when the user key is refused' 1 mapm install --yes "$GH/acme/catalog/tree/main/skills/hello"
is 'a refused install leaves the folder empty' "$(ls -A)" ''
cp "$T/ssh/user.pub" "$T/ssh/authorized"

# --- the end ----------------------------------------------------------------------
printf '#!/bin/sh\necho $$ >%s\nexec sleep 60\n' "$T/ssh/there" >"$T/ssh/fault"
chmod 755 "$T/ssh/fault"
rm -rf "$T/incoming" && mkdir "$T/incoming"
"$DRIVE" "$T/incoming" "$HELLO" >"$T/out" 2>&1 &
driver=$!
await test -s "$T/ssh/there"
client=$(pgrep -f "^ssh -F $T/ssh/config .*git-upload-pack" | head -n 1)
isnt 'an ssh client runs during the fetch' "$client" ''
kill -KILL "$driver"
wait "$driver" 2>/dev/null
gone() { ! kill -0 "$client"; }
await gone
pass 'the ssh client ends when the fetch is killed'
kill "$(cat "$T/ssh/there")" 2>/dev/null
done_testing

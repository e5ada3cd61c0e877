# sshd.sh: a real sshd on the loopback with throw-away keys, after cli.sh.
#
#     start_sshd [LINE...]   lines of its configuration, besides "Port"
#     ssh_log                a line a connection: the command, and GIT_PROTOCOL
#
# The client's configuration is $T/ssh/config: every host is this one, whose key is
# in $T/ssh/known_hosts. $GIT_SSH_COMMAND is set to use it.

SSHD=/usr/sbin/sshd
sshd_pid=
[ -x "$SSHD" ] || skip_all 'no sshd'

leave_sshd()
{
    [ -z "$sshd_pid" ] || { kill "$sshd_pid" && wait "$sshd_pid"; } 2>/dev/null
    sshd_pid=
}
trap 'leave_sshd; leave' EXIT

make_keys()
{
    mkdir -p "$T/ssh" && chmod 700 "$T/ssh"
    ssh-keygen -q -t ed25519 -N '' -f "$T/ssh/host" &&
        ssh-keygen -q -t ed25519 -N '' -f "$T/ssh/user" &&
        cp "$T/ssh/user.pub" "$T/ssh/authorized" || broken 'no keys'
    # Repositories are below $T/repos, as they are for githost.
    cat >"$T/ssh/upload-pack" <<EOF
#!/bin/sh
printf '%s|%s\n' "\$SSH_ORIGINAL_COMMAND" "\$GIT_PROTOCOL" >>'$T/ssh/log'
[ ! -x '$T/ssh/fault' ] || exec '$T/ssh/fault'
case \$SSH_ORIGINAL_COMMAND in
"git-upload-pack '"*"'") ;;
*) echo 'strange command' >&2; exit 1 ;;
esac
path=\${SSH_ORIGINAL_COMMAND#git-upload-pack \'}
path=\${path%\'}
if ! [ -d '$T/repos/'"\$path" ]; then
    echo 'ERROR: Repository not found.' >&2
    exit 1
fi
exec env HOME='$T/home' GIT_CONFIG_NOSYSTEM=1 git -c uploadpack.allowFilter=true \
    -c uploadpack.allowAnySHA1InWant=true upload-pack --strict '$T/repos/'"\$path"
EOF
    chmod 755 "$T/ssh/upload-pack"
}

# It listens, or the port was taken.
sshd_is_decided()
{
    [ -s "$T/ssh/sshd.pid" ] || ! kill -0 "$sshd_pid"
}
start_sshd()
{
    leave_sshd
    [ -e "$T/ssh/host" ] || make_keys
    : >"$T/ssh/log"
    [ "$(id -u)" -ne 0 ] || mkdir -p /run/sshd
    sshd_tries=0
    # sshd takes no port 0: one that is free is found by trying.
    while :; do
        sshd_tries=$((sshd_tries + 1))
        [ "$sshd_tries" -le 20 ] || broken "sshd did not start: $(cat "$T/ssh/sshd.log")"
        SSHD_PORT=$(python3 -S -c 'import socket
s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
        cat >"$T/ssh/sshd_config" <<EOF
ListenAddress 127.0.0.1
Port $SSHD_PORT
HostKey $T/ssh/host
AuthorizedKeysFile $T/ssh/authorized
PidFile $T/ssh/sshd.pid
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
ForceCommand $T/ssh/upload-pack
PrintMotd no
EOF
        [ $# -eq 0 ] || printf '%s\n' "$@" >>"$T/ssh/sshd_config"
        rm -f "$T/ssh/sshd.pid"
        "$SSHD" -D -e -f "$T/ssh/sshd_config" >"$T/ssh/sshd.log" 2>&1 &
        sshd_pid=$!
        await sshd_is_decided
        [ -s "$T/ssh/sshd.pid" ] && break
    done
    printf '[127.0.0.1]:%s %s\n' "$SSHD_PORT" "$(cut -d' ' -f1,2 "$T/ssh/host.pub")" \
        >"$T/ssh/known_hosts"
    cat >"$T/ssh/config" <<EOF
Host *
    HostName 127.0.0.1
    Port $SSHD_PORT
    User $(id -un)
    IdentityFile $T/ssh/user
    IdentitiesOnly yes
    UserKnownHostsFile $T/ssh/known_hosts
    GlobalKnownHostsFile none
EOF
    GIT_SSH_COMMAND="ssh -F $T/ssh/config"
    export GIT_SSH_COMMAND
}

ssh_log()
{
    cat "$T/ssh/log"
}

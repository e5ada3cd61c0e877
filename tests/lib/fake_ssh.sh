# fake_ssh.sh: a program in the place of ssh, after cli.sh: it runs git-upload-pack on
# the repositories below $T/repos and records how it was called.
#
#     use_fake_ssh        GIT_SSH is that program
#     ssh_calls           a line a call: the arguments, with "|" between them
#     ssh_does COMMANDS   shell commands instead of git-upload-pack; none: it again
#     ssh_lives           how many of them run now
#
# $T/fake/env has the environment of the last one, $T/fake/most how many ran at once.

mkdir -p "$T/fake/bin" "$T/fake/pids"
cat >"$T/fake/bin/ssh" <<EOF
#!/bin/sh
F='$T/fake'
touch "\$F/pids/\$\$"
n=0
for p in "\$F/pids"/*; do
    if kill -0 "\${p##*/}" 2>/dev/null; then n=\$((n + 1)); else rm -f "\$p"; fi
done
[ "\$n" -le "\$(cat "\$F/most" 2>/dev/null || echo 0)" ] || echo "\$n" >"\$F/most"
line=
for word; do line="\$line\${line:+|}\$word"; done
echo "\$line" >>"\$F/calls"
env >"\$F/env"
path=\${word#"git-upload-pack '"}
path=\${path%"'"}
path=\${path#/}
cd '$T/repos' || exit 255
[ ! -e "\$F/does" ] || . "\$F/does"
if ! [ -d "\$path" ]; then
    echo 'ERROR: Repository not found.' >&2
    exit 1
fi
exec git -c uploadpack.allowFilter=true -c uploadpack.allowAnySHA1InWant=true \\
    upload-pack --strict "\$path"
EOF
chmod 755 "$T/fake/bin/ssh"

use_fake_ssh()
{
    GIT_SSH=$T/fake/bin/ssh
    export GIT_SSH
    forget_calls
    ssh_does
}
forget_calls()
{
    : >"$T/fake/calls"
    rm -f "$T/fake/most"
}
ssh_calls()
{
    cat "$T/fake/calls"
}
ssh_does()
{
    rm -f "$T/fake/does"
    [ $# -eq 0 ] || printf '%s\n' "$@" >"$T/fake/does"
}
ssh_lives()
{
    lives=0
    for pid in "$T/fake/pids"/*; do
        if kill -0 "${pid##*/}" 2>/dev/null; then lives=$((lives + 1)); fi
    done
    echo "$lives"
}

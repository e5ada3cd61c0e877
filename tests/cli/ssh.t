#!/bin/sh
# Packages over ssh: how it is called, what mapm makes of what it says, and that over
# https or ssh a repository is one. A program of the test stands in for ssh; sshd.t
# has a real one. [H2, row 48, row 49].
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/fetch.sh"
. "$ROOT/tests/lib/fake_ssh.sh"

s=$T/src
U=https://github.com/acme/catalog/tree
fresh()
{
    mkdir "$T/$1" && cd "$T/$1" || exit 1
    MAPM_HOME=$T/$1/.home
    export MAPM_HOME
    forget_calls
}
use_fake_ssh

# --- limits of time, which take some: read at the end --------------------------------
# late NAME COMMANDS: an install that gives up, in the background.
late()
{
    mkdir "$T/$1" "$T/$1/repos" "$T/$1/xdg" "$T/$1/xdg/mapm"
    printf '%s\n' 'hosts:' '  - {host: github.com, transport: ssh}' 'limits:' \
        '  transfer_stall_seconds: 1' >"$T/$1/xdg/mapm/config.yaml"
    printf '#!/bin/sh\necho $$ >>%s\n%s\n' "$T/$1/pids" "$2" >"$T/$1/ssh"
    chmod 755 "$T/$1/ssh"
    (cd "$T/$1/repos" && GIT_SSH=$T/$1/ssh MAPM_HOME=$T/$1/store XDG_CONFIG_HOME=$T/$1/xdg \
        exec timeout 50 "$MAPM" install --yes "$U/main/skills/hello" >"$T/$1/out" 2>&1)
    echo $? >"$T/$1/status"
}
CAPS='printf "000eversion 2\n0011fetch=filter\n000cls-refs\n0000"'
late silent "$CAPS; exec sleep 60" &
late drip "$CAPS; while printf 003d; do sleep 0.3; done" &
late mute 'exec sleep 60' &
late burst "$CAPS; head -c 4 >/dev/null; n=1; while [ \$n -lt 160 ]; do printf '0041%040d refs/heads/b%07d\\n' \$n \$n; n=\$((n + 1))
    [ \$((n % 16)) = 0 ] && sleep 0.2; done; exec sleep 60" &

# --- the same package over https and ssh ------------------------------------------
start_githost
fresh https
exits 'install over https succeeds' 0 mapm install --yes "$U/main/skills/hello" "$U/main/skills/other"
is 'install over https starts no ssh' "$(ssh_calls)" ''
stop_githost

fresh over
mkdir -p "$XDG_CONFIG_HOME/mapm"
printf 'hosts:\n  - {host: github.com, transport: ssh}\n' >"$XDG_CONFIG_HOME/mapm/config.yaml"
GH_TOKEN=s3cret CORP_PAT=s3cret GIT_PROTOCOL=version=1
export GH_TOKEN CORP_PAT GIT_PROTOCOL
exits 'install succeeds with transport: ssh in config.yaml' 0 mapm install --yes "$U/main/skills/hello" "$U/main/skills/other"
unset GH_TOKEN CORP_PAT GIT_PROTOCOL
is 'install starts one ssh with the expected arguments' "$(ssh_calls)" \
    "-o|SendEnv=GIT_PROTOCOL|-o|BatchMode=yes|-o|RequestTTY=no|-o|ForwardAgent=no|-o|ForwardX11=no|-o|PermitLocalCommand=no|-o|ClearAllForwardings=yes|--|git@github.com|git-upload-pack '/acme/catalog.git'"
like 'ssh receives the request for protocol version 2' "$(cat "$T/fake/env")" '^GIT_PROTOCOL=version=2$'
unlike 'the environment of ssh contains no token and no MAPM_ variable' "$(cat "$T/fake/env")" 's3cret|^MAPM_'
ok 'mapm.lock is the same over ssh as over https' cmp mapm.lock "$T/https/mapm.lock"
ok 'mapm.yaml is the same over ssh as over https' cmp mapm.yaml "$T/https/mapm.yaml"
same_tree 'the installed files are the same over ssh as over https' .agents/skills "$T/https/.agents/skills"
forget_calls
exits 'a second install over ssh succeeds' 0 mapm install
exits 'install --locked over ssh succeeds' 0 mapm install --locked
is 'install starts no ssh when there is nothing to fetch' "$(ssh_calls)" ''

# --- an address of ssh on the command line ------------------------------------------
rm "$XDG_CONFIG_HOME/mapm/config.yaml"
start_githost --private 'acme/catalog' --token s3cret
fresh typed
exits 'install of a private repository by an ssh address fails over https' 1 mapm install --yes git@github.com:acme/catalog.git//skills/hello
like 'the hint names mapm host set with --transport ssh' "$err" \
    'hint: over ssh: mapm host set github.com --transport ssh'
is 'install by an ssh address starts no ssh without transport: ssh' "$(ssh_calls)" ''
stop_githost
exits 'host set --transport ssh succeeds' 0 mapm host set github.com --transport ssh
exits 'install of the private repository over ssh succeeds' 0 mapm install --yes git@github.com:acme/catalog.git//skills/hello
like 'mapm.yaml has the origin in the form of https' "$(cat mapm.yaml)" "$U/main/skills/hello"
exits 'install over ssh fails for a missing repository' 1 mapm install --yes git@github.com:acme/nix.git
unlike 'the error over ssh gives no hint to use ssh' "$err" 'over ssh: mapm host'
for text in ssh://-oProxyCommand=x/a/b ssh://h/-x git@-h:a ssh://a%62@h/a/b "ssh://git@h.example/a/'b'.git" \
    'ssh://git@h.example/a/$(id)' 'git@github.com:-x/b' 'ssh://%h/a/b' 'ssh://git@github.com:0/a/b'; do
    forget_calls
    run mapm install --yes "$text"
    isnt "[row 49] install refuses $text" "$status" 0
    is "[row 49] install starts no ssh for $text" "$(ssh_calls)" ''
done
# What a package that came over ssh needs is judged as one that came over https.
n=0
for dep in file:/etc http://github.com/a/b/tree/main/x 'ext::sh -c id' git://github.com/a/b \
    https://me:pw@github.com/a/b/tree/main/x https://127.0.0.1/a/b/-/tree/main/x \
    https://intranet.example/a/b/-/tree/main/x $GH/a/b/tree/-upload-pack=x/y $GH/a/b/tree/main/../x \
    $GH/a/b/tree/main/%2e%2e/x ../../../etc /etc; do
    n=$((n + 1))
    skill "$T/needy/skills/n$n" 'scope: acme' 'dependencies:' '  skills:' "    - \"$dep\""
    echo "$dep" >>"$T/needy/deps"
done
make_repo acme/needy "$T/needy"
forget_calls
n=0
while read -r dep; do
    n=$((n + 1))
    run mapm install --yes "$GH/acme/needy/tree/main/skills/n$n"
    is "[row 10] install refuses a dependency on $dep" "$status" 1
    like "[row 10] the error concerns the dependency on $dep" "$err" 'dep-|origin|host'
done <"$T/needy/deps"
is '[row 10] install contacts no other address' "$(ssh_calls | grep -v "git@github.com|git-upload-pack './*acme/needy.git'")" ''
# A dependency must not make ssh offer the user's keys to a host of its own.
skill "$T/evil/skills/evil" 'scope: acme' 'dependencies:' '  skills:' \
    '    - ssh://git@keys.evil.example/a/b/-/tree/main/skills/x'
make_repo acme/evil "$T/evil"
forget_calls
exits '[row 48] install fails for a dependency on an unknown ssh host' 1 mapm install --yes "$GH/acme/evil/tree/main/skills/evil"
unlike '[row 48] install starts no ssh to the unknown host' "$(ssh_calls)" evil.example
cd "$T/over" || exit 1
MAPM_HOME=$T/over/.home

# --- a host of the user's own -------------------------------------------------------
exits 'host add with --port succeeds' 0 mapm host add git.corp.example --kind git --transport ssh --port 7999
make_repo team/deep/tools "$s"
fresh corp
exits 'install by an ssh address of the added host succeeds' 0 mapm install --yes git@git.corp.example:team/deep/tools.git//skills/other
like 'ssh is called with the port of the added host' "$(ssh_calls)" '[|]-p[|]7999[|]--[|]git@git.corp.example[|]git-upload-pack .team/deep/tools.git.$|[|]-p[|]7999[|]--[|]git@git.corp.example[|]git-upload-pack ./team/deep/tools.git.$'
like 'mapm.yaml has the origin of the added host in the form of https' "$(cat mapm.yaml)" 'https://git.corp.example/team/deep/tools.git/-/tree/main/skills/other'
unlike 'install does not mention the user name git' "$err" 'user name'
rm mapm.yaml
exits '[H2] install by an ssh address with a user name succeeds' 0 mapm install --yes ssh://me@git.corp.example/team/deep/tools.git//skills/other
like '[H2] install says that the user name is left out of the origin' "$err" 'the user name is left out of https://git.corp.example/team/deep/tools'
git config --global url.ssh://me@git.corp.example:7999/.insteadOf ssh://git@git.corp.example:7999/
rm -rf mapm.yaml "$MAPM_HOME"
forget_calls
exits '[H2] install succeeds with the user name in insteadOf' 0 mapm install --yes git@git.corp.example:team/deep/tools.git//skills/other
like '[H2] ssh is called with the user name of insteadOf' "$(ssh_calls)" '--[|]me@git.corp.example[|]git-upload-pack'
git config --global --remove-section url.ssh://me@git.corp.example:7999/
rm mapm.yaml mapm.lock
exits '[H1] install by an ssh address with an unknown port succeeds' 0 \
    mapm install --yes ssh://me@git.corp.example:7999/team/deep/tools.git//skills/other
like '[H1] the lock keeps the ssh address with its port' "$(cat mapm.lock)" '    origin: ssh://me@git.corp.example:7999/team/deep/tools.git/-/tree/main/skills/other$'
for command in 'install --locked' list verify update; do
    exits "[H1] $command accepts the ssh address in mapm.yaml and mapm.lock" 0 mapm $command
done
rm -rf mapm.yaml mapm.lock .agents .claude
exits 'install by the https address of the added host succeeds' 0 mapm install --yes https://git.corp.example/team/deep/tools.git//skills/other
exits 'host remove succeeds' 0 mapm host remove git.corp.example
cd "$T/over" || exit 1
MAPM_HOME=$T/over/.home

# --- commands ---------------------------------------------------------------------
MAPM_HOME=$T/other
forget_calls
exits 'install --locked with an empty store succeeds over ssh' 0 mapm install --locked
is 'install --locked starts one ssh' "$(ssh_calls | wc -l)" 1
exits 'verify --remote succeeds over ssh' 0 mapm verify --remote
echo later >>"$s/skills/hello/SKILL.md"
make_repo acme/catalog "$s"
repo acme/catalog tag v1.2.0 main
repo acme/catalog tag v2.0.0 main
forget_calls
exits 'outdated over ssh reports the newer commit' 3 mapm outdated
is 'outdated starts one ssh' "$(ssh_calls | wc -l)" 1
forget_calls
exits 'update over ssh succeeds' 0 mapm update --yes
is 'update starts one ssh' "$(ssh_calls | wc -l)" 1
like 'update installs the newer text' "$(cat .agents/skills/hello/SKILL.md)" later
sed "s/tree: [0-9a-f]*/tree: $(repo acme/catalog rev-parse main:skills/other)/" \
    mapm.lock >"$T/edited.lock"
fresh ranges
forget_calls
exits 'install of a version range over ssh succeeds' 0 mapm install --yes 'acme/catalog/skills/hello@^1'
like 'the lock has the highest tag within the range' "$(cat mapm.lock)" 'tag: v1\.2\.0'
is 'install of a version range starts one ssh' "$(ssh_calls | wc -l)" 1
fresh edited
cp "$T/over/mapm.yaml" . && cp "$T/edited.lock" mapm.lock
exits '[F1] install --locked fails for a tree that the commit lacks at the path' 1 mapm install --locked
like 'the error names the lock' "$err" 'lock'
not_ok 'install --locked installs nothing from the false lock' test -e .agents/skills

# --- several repositories -----------------------------------------------------------
for i in 1 2 3 4 5 6 7; do make_repo "acme/c$i" "$s"; done
fresh several
set --
for i in 1 2 3 4 5 6 7; do
    sed -i "s/^name:.*/name: hello/" "$s/skills/hello/SKILL.md"
    set -- "$@" "$GH/acme/c$i/tree/main/skills/hello"
done
drive "$T/incoming" "$@"
is 'the test driver starts no ssh without insteadOf' "$(ssh_calls | wc -l)" 0
git config --global url.git@github.com:.insteadOf $GH/
drive "$T/incoming" "$@"
is 'seven repositories are fetched over ssh' "$(echo "$out" | grep -c ^DONE)" 7
is 'each repository uses one connection' "$(ssh_calls | sort -u | wc -l)-$(ssh_calls | wc -l)" 7-7
at_most 'at most four connections are open at once' "$(cat "$T/fake/most")" 4
like 'insteadOf determines the ssh address' "$(ssh_calls)" "--[|]git@github.com[|]git-upload-pack 'acme/c1.git'"
is 'no ssh process remains after seven repositories' "$(ssh_lives)" 0

# --- which ssh -----------------------------------------------------------------------
unset GIT_SSH
cp "$T/fake/bin/ssh" "$T/fake/bin/plink"
called()
{
    forget_calls
    want "$1" 0 '^DONE' "$HELLO"
    like "$1: ssh has the expected arguments" "$(ssh_calls)" "$2"
}
git config --global core.sshCommand "$T/fake/bin/ssh -i 'my key'"
called 'core.sshCommand of the user determines the program' "^-i[|]my key[|]-o[|]SendEnv"
GIT_SSH=/nowhere
export GIT_SSH
called 'core.sshCommand takes precedence over GIT_SSH' '^-i[|]my key[|]'
GIT_SSH_COMMAND="X=1 '$T/fake/bin/plink' -v"
export GIT_SSH_COMMAND
GIT_SSH_VARIANT=plink
export GIT_SSH_VARIANT
called 'GIT_SSH_COMMAND takes precedence over core.sshCommand and GIT_SSH' '^-v[|]-batch[|]git@github.com[|]git-upload-pack'
unset GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_SSH
git config --global --unset core.sshCommand
git init -q "$T/hostile" && cd "$T/hostile" || exit 1
git config core.sshCommand "touch $T/ran; false"
git config url.ssh://evil.example/.insteadOf $GH/acme/
PATH=$T/fake/bin:$PATH
called 'ssh comes from PATH despite the settings of a repository' "git@github.com[|]git-upload-pack 'acme/catalog.git'$"
not_ok 'the ssh command of a repository does not run' test -e "$T/ran"
mkdir bin && printf '#!/bin/sh\ntouch %s\n' "$T/ran" >bin/ssh && chmod 755 bin/ssh
PATH=bin:$PWD/bin:$PATH
called 'ssh of the working folder is passed over' '^-o[|]SendEnv'
not_ok 'ssh of the working folder does not run' test -e "$T/ran"
git config --global ssh.variant simple
called 'ssh.variant simple leaves out all options' "^git@github.com[|]git-upload-pack 'acme/catalog.git'$"
git config --global url.ssh://git@github.com:2222/.insteadOf $GH/acme/
want 'a port is refused with ssh.variant simple' 1 '\[refused\] .*takes no port' "$HELLO"
git config --global --unset ssh.variant
git config --global --remove-section url.ssh://git@github.com:2222/
cd "$T" || exit 1
use_fake_ssh
PATH=/usr/bin:/bin GIT_SSH=no-such-ssh
want 'the error names a missing ssh program' 1 'no-such-ssh: no such program in PATH' "$HELLO"
use_fake_ssh

# --- more trees than are wanted: the rest of an answer is read past --------------------
git init -q --bare "$T/repos/acme/wide.git"
python3 -S - <<'PYTHON' | repo acme/wide fast-import --quiet
print("commit refs/heads/main\ncommitter A <a@example.org> 1700000000 +0000\ndata 1\nx")
def put(path, text):
    print("M 100644 inline %s\ndata %d\n%s" % (path, len(text), text))
for i in range(4000):
    put("junk/%d/%d/f" % (i % 50, i), "x%d" % i)
put("skills/hello/SKILL.md", "---\nname: hello\ndescription: Says hello.\n---\n")
PYTHON
repo acme/wide symbolic-ref HEAD refs/heads/main
forget_calls
want 'a package of a wide repository is fetched over ssh' 0 '^DONE' "$GH/acme/wide/tree/main/skills/hello"
is 'a wide repository is walked over one connection' "$(ssh_calls | wc -l)" 1

# --- version 0 -------------------------------------------------------------------------
ssh_does 'unset GIT_PROTOCOL'
want 'a server that ignores GIT_PROTOCOL is supported' 0 '^DONE' "$HELLO"
like 'a server that ignores GIT_PROTOCOL gives the same files' "$out" '644 docs/data.bin 40000$'
ssh_does

ssh_does 'yes "a word of the server" | head -c 200000 >&2'
want 'much output on standard error does not block the fetch' 0 '^DONE' "$HELLO"
ssh_does

# --- what it says ------------------------------------------------------------------------
fails() # WHAT COMMANDS REGEX
{
    ssh_does "$2"
    forget_calls
    want "$1" 1 "$3" "$HELLO"
}
fails 'an unknown host key is an error with the ssh command that accepts it' 'echo "Host key verification failed." >&2; exit 255' \
    '\[fetch\] .*ssh: Host key verification failed.*does not know the host key of git@github.com.*[|][|] run "ssh -T git@github.com" once'
is 'an unknown host key is not tried again' "$(ssh_calls | wc -l)" 1
fails 'a changed host key is reported as a possible attack' 'echo "REMOTE HOST IDENTIFICATION HAS CHANGED!" >&2; exit 255' \
    '\[fetch\] .*not the host key that ssh knows.*[|][|] this may be an attack'
unset SSH_AUTH_SOCK
fails 'a refused key is reported as not authorized with a hint about an ssh agent' 'echo "git@github.com: Permission denied (publickey)." >&2; exit 255' \
    '\[not-authorized\] .*no key was accepted by git@github.com.*[|][|] no ssh agent is running'
fails 'an unknown host over ssh is reported as not found' 'echo "ssh: Could not resolve hostname github.com" >&2; exit 255' '\[host-not-found\]'
want 'a missing repository on an unknown host is reported as host not found' 1 '\[host-not-found\]' "$GH/acme/nix"
ssh_does
want 'a missing repository is reported with the words of the server' 1 '\[not-found\] .*Repository not found.*no key that may read it' "$GH/acme/nix"
fails 'a refused connection is reported after four tries' 'echo "ssh: connect to host x port 22: Connection refused" >&2; exit 255' \
    '\[fetch\] .*cannot connect to git@github.com.*tried 4 times'
is 'a refused connection is tried four times' "$(ssh_calls | wc -l)" 4
fails 'the last lines of standard error are part of the error' 'for i in $(seq 1 14); do printf "\033[31mline %s\007\n" $i >&2; done; exit 9' \
    'ssh: \[31mline 14 [|] .*ssh: \[31mline 5 [|] ssh to git@github.com ended with status 9'
unlike 'the error has at most ten lines of standard error' "$out" 'line 4 '
unlike 'the error contains no escape character' "$out" "$(printf '\033')"
fails 'a greeting that is not git is reported as not a git server' 'echo "Welcome to this machine!"; sleep 60' 'not a git server'
fails 'an ERR line is reported as the words of the server' 'printf "0028ERR access denied or repository not\n"; sleep 60' 'the server says'
is 'no ssh process remains after these errors' "$(ssh_lives)" 0

# --- servers that mean harm: rows 10 to 12, 14 ---------------------------------------------
gone=$(git -C "$T/repos/acme/catalog.git" commit-tree -m gone 'main^{tree}' </dev/null) 2>/dev/null ||
    gone=$(git -C "$T/repos/acme/catalog.git" -c user.name=A -c user.email=a@example.org commit-tree -m gone 'main^{tree}')
ssh_does
want '[row 12] a commit outside every branch is refused' 1 '\[refused\] ' "$GH/acme/catalog/tree/$gone/skills/hello"
for i in 1 2; do
    skill "$T/ring/skills/c$i" 'scope: acme' 'dependencies:' '  skills:' \
        "    - $GH/acme/cycle/tree/main/skills/c$((3 - i))"
done
make_repo acme/cycle "$T/ring"
fresh cycle
exits '[row 11] install fails for a cycle of dependencies over ssh' 1 mapm install --yes "$GH/acme/cycle/tree/main/skills/c1"
like '[row 11] the error names a package of the cycle' "$err" 'c2'
is '[row 11] the packages of the cycle come over one connection' "$(ssh_calls | wc -l)" 1
fails '[row 14] an altered byte is reported as damage after four tries' 'git -c uploadpack.allowFilter=true upload-pack --strict "$path" | python3 -S -c '"'"'
import os
n = 0
while b := os.read(0, 65536):
    if n < 20000 <= n + len(b):
        b = bytearray(b)
        b[20000 - n] ^= 1
    n += len(b)
    os.write(1, b)'"'"'
exit' '\[damaged\] .*tried 4 times'
ssh_does 'yes "a word of $F" >&2 &'
want '[row 14] endless output on standard error does not stop the fetch' 0 '^DONE' "$HELLO"
is '[row 14] the process with endless output ends with the fetch' "$(pgrep -xf "yes a word of $T/fake")" ''
fails '[row 14] an endless list of refs is stopped by a limit' \
    'unset GIT_PROTOCOL; python3 -S -c '"'"'
import sys
line = b"0123456789abcdef0123456789abcdef01234567 refs/heads/main\0 side-band-64k\n"
p = lambda b: b"%04x" % (len(b) + 4) + b
sys.stdout.buffer.write(p(line))
i = 0
while True:
    sys.stdout.buffer.write(b"".join(p(b"%040d refs/heads/b%d\n" % (i + j, i + j)) for j in range(1000)))
    i += 1000'"'"'; exit' '\[limit\] '

# --- a passphrase is typed at a terminal alone ---------------------------------------
. "$ROOT/tests/lib/terminal.sh"
ssh_does 'case $line in' \
    '*BatchMode=yes*) echo "Permission denied (publickey)." >&2; exit 255 ;;' \
    'esac' \
    'printf "Passphrase, or (n)o: " >/dev/tty; read -r p </dev/tty' \
    '[ "$p" = y ] || { echo "Permission denied (publickey)." >&2; exit 255; }'
fresh prompt
GIT_TERMINAL_PROMPT=1
on_terminal y "$MAPM" install "$GH/acme/catalog/tree/main/skills/hello" "$GH/acme/c1/tree/main/skills/other"
is 'install on a terminal succeeds after the passphrase is typed' "$status" 0
is 'ssh asks for the passphrase once for each connection' "$(echo "$out" | grep -c Passphrase)" 2
unlike 'ssh is called without BatchMode on a terminal' "$(ssh_calls)" BatchMode
fresh prompt-yes
on_terminal y "$MAPM" install --yes "$GH/acme/catalog/tree/main/skills/hello"
is 'install --yes on a terminal fails for a key with a passphrase' "$status" 1
like 'the error says that nobody can be asked for a passphrase' "$out" 'nobody can be asked for a passphrase'
SSH_AUTH_SOCK=$T/agent
export SSH_AUTH_SOCK
on_terminal y "$MAPM" install "$GH/acme/catalog/tree/main/skills/hello"
is 'install fails without a question when an agent is configured' "$status" 1
unset SSH_AUTH_SOCK
GIT_TERMINAL_PROMPT=0
ssh_does

# is_killed SHELL-COMMAND: with mapm, which cannot do anything then, nothing of an ssh
# that asks for a passphrase stays. (A terminal whose session ends sends a SIGHUP, so
# the session is that of a shell around.)
is_killed()
{
    GIT_SSH_COMMAND=$1
    export GIT_SSH_COMMAND
    BEFORE_ANSWER="kill -KILL \$(cat '$T/pid')" on_terminal y sh -c \
        'sh -c "echo \$\$ >\"\$0\"; exec \"\$@\"" "$@"; until [ -e "$0" ]; do sleep 0.05; done' \
        "$T/go" "$T/pid" "$MAPM" install "$GH/acme/catalog/tree/main/skills/hello" &
    terminal=$!
    await is_called
    await is_alone
    pass "SIGKILL of mapm at a prompt also ends ssh: $1"
    touch "$T/go"
    wait $terminal
    rm "$T/go"
    unset GIT_SSH_COMMAND
}
is_called() { [ -s "$T/fake/calls" ]; }
is_alone() { [ "$(ssh_lives)" -eq 0 ]; }
fresh prompt-kill
GIT_TERMINAL_PROMPT=1
# (With -G, which tells its kind, ssh asks nothing.)
ssh_does '[ "$1" != -G ] || exit 0; touch "$F/pids/$$"; printf "Passphrase, or (n)o: " >/dev/tty; read -r p </dev/tty; sleep 1000 & touch "$F/pids/$!"; wait'
is_killed "$T/fake/bin/ssh"
forget_calls
is_killed "true; $T/fake/bin/ssh"
forget_calls
is_killed "trap : TERM INT; $T/fake/bin/ssh"
GIT_TERMINAL_PROMPT=0
ssh_does

# --- ends ----------------------------------------------------------------------------
for signal in KILL TERM INT; do
    ssh_does 'sleep 1000 & touch "$F/pids/$!"; wait'
    forget_calls
    rm -rf "$T/incoming" && mkdir "$T/incoming"
    # (A shell has background commands ignore SIGINT.)
    python3 -S -c 'import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])' "$DRIVE" "$T/incoming" "$HELLO" >"$T/out" 2>&1 &
    driver=$!
    await is_called
    kill "-$signal" "$driver"
    wait "$driver" 2>/dev/null
    await is_alone
    pass "SIG$signal of the fetch also ends ssh"
done
ssh_does
wait
for name in silent drip burst mute; do
    is "[row 14] $name: install gives up with an error" "$(cat "$T/$name/status")" 1
    ok "[row 14] $name: no ssh process remains" sh -c 'for p in $(cat "$1"); do ! kill -0 "$p" || exit 1; done' - "$T/$name/pids"
    not_ok "[row 14] $name: install writes no lock" test -e "$T/$name/repos/mapm.lock"
done
like 'silent: the error says that too few bytes came' "$(cat "$T/silent/out")" 'less than 1000 bytes a second came from git@github.com by ssh, for 1 s'
like 'drip: the error says that too few bytes came' "$(cat "$T/drip/out")" 'less than 1000 bytes a second came from git@github.com by ssh, for 1 s'
like 'burst: silence after enough bytes is an error, too' "$(cat "$T/burst/out")" 'less than 1000 bytes a second came from git@github.com by ssh, for 1 s'
like 'mute: the error says that no answer came' "$(cat "$T/mute/out")" 'no answer from git@github.com by ssh within 15 seconds'
done_testing

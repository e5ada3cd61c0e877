#!/bin/sh
# Commands of a metaskill, the whole way: `mapm run` in a sandbox. [K25, K26, K27]
# [row 19, row 20, row 22]. Each wall by itself: tests/unit/sandbox_test.c.
. "$(dirname "$0")/../lib/cli.sh"

metaskill()
{
    skill "skills/$1" 'metaskill: SKILL.star' && cat >"skills/$1/SKILL.star"
}
# json PYTHON-EXPRESSION: of $out, the envelope d.
json()
{
    printf '%s\n' "$out" | python3 -S -c '
import json, sys
d = json.load(sys.stdin)
r = eval(sys.argv[1])
print("yes" if r is True else "no" if r is False else r)' "$1" 2>&1
}
# sh_run LINE OPTION...: a line of sh as the command; its outcome in $out.
sh_run()
{
    line=$1
    shift
    run mapm run ./skills/sh --json --allow '*' "$@" "line=$line"
}
echo 'dependencies: {}' >mapm.yaml
cp mapm.yaml "$T/mapm.yaml"

metaskill sh <<'STAR'
def run(input):
    r = command(["sh", "-c", input["line"]], {"timeout": 20})
    return {"status": "ok" if r["ok"] else "failed", "answer": r["result"],
            "code": r["exit_code"], "cut": r["truncated"]}
STAR
metaskill words <<'STAR'
def run(input):
    r = command(input["words"])
    return {"status": "ok" if r["ok"] else "failed", "answer": r["result"]}
STAR

# The PATH of a machine without bubblewrap: $T/bin
mkdir "$T/bin"
for p in sh cat echo env ln mkdir rm sleep setsid touch true head tr; do
    ln -s "$(command -v $p)" "$T/bin/$p"
done
with_bwrap=$PATH

# go LINE: as sh_run, with bubblewrap or without it.
go()
{
    case $way in alone) PATH=$T/bin ;; esac
    sh_run "$@"
    PATH=$with_bwrap
}

for way in bubblewrap alone; do
    if [ $way = bubblewrap ] && ! bwrap --unshare-user-try --unshare-pid \
        --ro-bind / / --proc /proc true 2>"$T/bwrap"; then
        skip "$way" "$(cat "$T/bwrap")"
        continue
    fi
    go 'echo out; echo err >&2; exit 3'
    is "[K27] $way: the result has output, exit code and status of the command" "$(json 'd["status"], d["answer"], d["code"], d["cut"]')" \
        "('failed', 'out\\nerr\\n', 3, False)"
    go "echo x >$HOME/evil; echo x >/etc/mapm-evil; echo x >$T/evil; echo x >here"
    is "[row 19] $way: a command writes in the workspace alone" \
        "$(ls "$HOME/evil" /etc/mapm-evil "$T/evil" here 2>/dev/null)" here

    mkdir -p "$HOME/.ssh" && echo secret-key >"$HOME/.ssh/id"
    SECRET_TOKEN=secret-token
    export SECRET_TOKEN
    go "cat $HOME/.ssh/id; env; cat /proc/*/environ"
    unlike "[row 20] $way: a command reads no key and no token" "$out" 'secret-'

    go "echo '{}' >.mcp.json"
    is "[row 19] $way: a command that writes .mcp.json fails the call" "$(json 'd["status"]')" failed
    like 'the result names .mcp.json as restored' "$out" 'may not change.*as before: .mcp.json'
    not_ok 'the written .mcp.json is deleted' test -e .mcp.json
    go "echo x >>mapm.yaml"
    ok "[row 19] $way: a change of mapm.yaml is undone" cmp mapm.yaml "$T/mapm.yaml"
    mark=late-${T##*.}
    go "echo x >>skills/words/SKILL.md; setsid sh -c 'while :; do sleep 0.02; : $mark; done' &"
    is "[row 19] $way: no process outlives the command" "$(pgrep -f ": $mark")" ''

    go "head -c 3000000 /dev/zero | tr '\\0' '\\377'"
    is "[row 22] $way: output that is not UTF-8 is repaired and cut" \
        "$(json 'd["cut"], set(d["answer"]) == {chr(0xfffd)}')" '(True, True)'
done
like 'a message without bubblewrap names Landlock and seccomp alone' "$err" 'Landlock and seccomp alone'
like 'the message names the package of bubblewrap' "$err" 'apt install bubblewrap'

# --- two runs in one workspace ---------------------------------------------------------

line='test ! -e busy && touch busy && sleep 0.4 && rm busy'
mapm run ./skills/sh --json --allow '*' "line=$line" >"$T/first" 2>/dev/null &
exits 'the second of two runs at the same time exits with 0' 0 \
    mapm run ./skills/sh --json --allow '*' "line=$line"
is 'the command of the second run succeeds' "$(json 'd["status"]')" ok
wait $!
out=$(cat "$T/first")
is 'the command of the first run succeeds' "$(json 'd["status"]')" ok

# --- which programs ------------------------------------------------------------------------

printf '#!/bin/sh\necho mine\n' >tool && chmod +x tool
PATH=$T/ws:$PATH
run mapm run ./skills/words --json --allow '*' 'words=["tool"]'
like '[K25] a program of the workspace is not found by its name' "$out" 'no such program'
run mapm run ./skills/words --json --allow '*' 'words=["./tool"]'
is '[K25] a program of the workspace runs by its path when allowed' "$(json 'd["answer"]')" mine
PATH=$with_bwrap

# --- the home directory, and no sandbox -----------------------------------------------------

mkdir -p "$XDG_CONFIG_HOME/mapm" && echo note >"$HOME/note"
printf 'policy:\n  sandbox: home\n' >"$XDG_CONFIG_HOME/mapm/config.yaml"
sh_run "cat $HOME/note; cat $HOME/.ssh/id; cat $XDG_CONFIG_HOME/mapm/config.yaml; echo x >$HOME/note"
like '[row 20] sandbox home: a file of the home folder is readable' "$out" '"note'
unlike '[row 20] sandbox home: keys are not readable' "$out" 'secret-'
unlike '[row 20] sandbox home: config.yaml is not readable' "$out" 'sandbox: home'
is '[row 19] sandbox home: the home folder is not writable' "$(cat "$HOME/note")" note
printf 'policy:\n  sandbox: "off"\n' >"$XDG_CONFIG_HOME/mapm/config.yaml"
sh_run "echo x >$HOME/note; env"
is 'sandbox off: the home folder is writable' "$(cat "$HOME/note")" x
unlike '[row 20] sandbox off: the environment has no token' "$out" 'secret-'

done_testing

#!/bin/sh
# [row 19] what a command leaves behind for the next program of the user: git
# above all, which starts what the settings of a repository name.
. "$(dirname "$0")/../lib/cli.sh"

skill skills/sh 'metaskill: SKILL.star'
cat >skills/sh/SKILL.star <<'STAR'
def run(input):
    r = command(["sh", "-c", input["line"]], {"timeout": 20})
    return {"status": "ok" if r["ok"] else "failed", "answer": r["result"]}
STAR
echo 'dependencies: {}' >mapm.yaml
mode=$(stat -c %a .)
trap_set="touch $T/sprung"
# The PATH of a machine without bubblewrap.
mkdir "$T/bin"
for p in sh cat echo git mkdir mv cp rm chmod touch true ln printf; do
    at=$(command -v "$p")
    case $at in /*) ln -s "$at" "$T/bin/$p" ;; esac # no built-in
done
with_bwrap=$PATH
git()
{
    command git -c user.name=a -c user.email=a@example.com "$@"
}
go()
{
    case $way in alone) PATH=$T/bin ;; esac
    run mapm run ./skills/sh --json --allow '*' "line=$1"
    PATH=$with_bwrap
}
# quiet WHAT: nothing of the trap is run by what a person does next.
quiet()
{
    rm -f "$T/sprung"
    command git status >"$T/status" 2>&1
    not_ok "[row 19] $way: $1: git status starts nothing" test -e "$T/sprung"
}
clean()
{
    chmod -R u+rwX . && rm -rf .git .bare shut sub lib HEAD objects refs config hooks mine
}
nested="mkdir -p sub && cd sub && git init -q . &&
    git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x"
link='cd .. && git update-index --add --cacheinfo 160000,$(git -C sub rev-parse HEAD),sub'

# Folders that nobody has touched for a while.
mkdir -p old-bubblewrap/a/b old-bubblewrap/c old-alone/a/b old-alone/c
sleep 3

for way in bubblewrap alone; do
    if [ $way = bubblewrap ] && ! bwrap --unshare-user-try --unshare-pid \
        --ro-bind / / --proc /proc true 2>"$T/bwrap"; then
        skip "$way" "$(cat "$T/bwrap")"
        continue
    fi
    git init -q . && git commit -q --allow-empty -m x
    go "$nested && git config core.fsmonitor '$trap_set; echo' && $link"
    like "[row 19] $way: a repository made with a program in its settings is refused" "$out" \
        'may not change.*sub/.git'
    quiet 'a folder that the index has as a repository'
    go "mv sub/.git.refused-1 sub/.git"
    like "[row 19] $way: a refused .git moved back is refused again" "$out" 'may not change.*sub/.git'
    quiet 'a refused .git that was moved back'
    go 'mkdir sub/x; echo "gitdir: ../.git.refused-1" >sub/x/.git'
    like "[row 19] $way: a .git file that leads to a refused repository is refused" "$out" 'may not change.*sub/x/.git'
    clean

    git init -q . && git commit -q --allow-empty -m x
    go "$nested && git remote add origin https://example.com/x.git"
    unlike "[row 19] $way: a repository as git makes it is allowed" "$out" 'may not change'
    ok 'the allowed repository stays' test -f sub/.git/config
    go "git -C sub config core.fsmonitor '$trap_set; echo'; echo '$trap_set' >sub/.git/hooks/pre-commit"
    like "[row 19] $way: a change of the settings of an existing repository is refused" "$out" 'may not change.*sub/.git/config'
    not_ok 'no hook is added to the existing repository' test -e sub/.git/hooks/pre-commit
    ok 'git status works in the existing repository' git -C sub status
    go 'mv sub lib'
    unlike "[row 19] $way: the folder of a repository can be moved" "$out" 'may not change'
    ok 'the moved folder has its repository' test -f lib/.git/config
    go 'rm -rf lib'
    unlike "[row 19] $way: the folder of a repository can be removed" "$out" 'may not change'
    clean

    go "mkdir objects refs; echo 'ref: refs/heads/m' >HEAD; printf '[core]\n\tworktree = .\n\tfsmonitor = $trap_set; echo\n' >config"
    like "[row 19] $way: files that make the workspace a repository are refused" "$out" 'may not change.*HEAD'
    quiet 'the workspace made a repository'
    clean

    git init -q --bare .bare && echo 'gitdir: ./.bare' >.git && git config core.bare false
    go "echo '$trap_set' >.bare/hooks/post-commit; printf '[core]\n\tfsmonitor = $trap_set; echo\n' >>.bare/config; true"
    quiet 'a repository that a .git file names'
    not_ok 'no hook is added to the repository that a .git file names' test -e .bare/hooks/post-commit
    clean

    git init -q . && mkdir mine && echo '#!/bin/sh' >mine/check && chmod +x mine/check
    ln -s ../../mine/check .git/hooks/pre-commit
    go "echo '$trap_set' >>mine/check; true"
    is "[row 19] $way: a script that a hook links to is restored" "$(cat mine/check)" '#!/bin/sh'
    go "mv mine lib; mkdir mine; echo '$trap_set' >mine/check"
    like "[row 19] $way: a script of a hook in a moved folder is restored" "$out" \
        'they are as before: mine/check'
    is 'the script in the moved folder has its old content' "$(cat mine/check)" '#!/bin/sh'
    rm -rf lib .git/hooks/pre-commit && git config core.hooksPath mine
    go "echo '$trap_set' >mine/post-commit; true"
    not_ok "[row 19] $way: a new hook in the folder of core.hooksPath is deleted" test -e mine/post-commit
    clean

    mkdir -p lib/claude && echo '{}' >lib/claude/settings.json && ln -s lib/claude .claude
    go 'mv lib sub; mkdir -p lib/claude; echo "{x}" >lib/claude/settings.json'
    like "[row 19] $way: settings in a moved folder that a link leads to are restored" "$out" \
        'they are as before: lib/claude/settings.json'
    is 'the settings in the moved folder have their old content' "$(cat lib/claude/settings.json)" '{}'
    rm .claude
    clean

    # Only where a name came or went is looked again.
    go "cd old-$way/a/b && git init -q . && git config core.fsmonitor '$trap_set; echo'"
    like "[row 19] $way: a repository made in an old folder is refused" \
        "$out" "may not change.*old-$way/a/b/.git"
    go "cd old-$way/c && mkdir -p d/e && cd d/e && git init -q . &&
        git config core.fsmonitor '$trap_set; echo'"
    like "[row 19] $way: a repository made in a new folder of an old one is refused" "$out" \
        "may not change.*old-$way/c/d/e/.git"
    go "cd old-$way/a/b && git init -q . && cd ../.. && mv a moved && ln -s moved a &&
        git -C a/b config core.fsmonitor '$trap_set; echo'"
    like "[row 19] $way: a repository made in a moved old folder behind a link is refused" "$out" \
        "may not change.*old-$way/moved/b/.git"

    # Not as root, whom no mode stops.
    if obeys_modes; then
        mkdir -p shut/x && cd shut/x && git init -q . &&
            git config core.fsmonitor "$trap_set; echo" && cd ../.. && chmod 0 shut
        sleep 2.1
        go 'chmod 755 shut'
        like "[row 19] $way: a repository in a folder that was unreadable is refused" "$out" 'may not change.*shut/x/.git'
    fi
    clean
    go 'echo "{}" >.mcp.json; chmod 555 .'
    not_ok "[row 19] $way: a protected file is deleted from a folder made read-only" test -e .mcp.json
    is 'the folder made read-only has its mode again' "$(stat -c %a .)" "$mode"
    git init -q . && mkdir mine && echo '#!/bin/sh' >mine/check && chmod +x mine/check
    ln -s ../../mine/check .git/hooks/pre-commit
    go "echo '$trap_set' >>mine/check; chmod 555 mine; touch .git/config.worktree; chmod 0 .git"
    is "[row 19] $way: a script of a hook in a folder made read-only is restored" "$(cat mine/check)" '#!/bin/sh'
    not_ok 'a new file in a .git made unreadable is deleted' test -e .git/config.worktree
    ok 'the .git made unreadable is readable again' test -r .git
    clean
    mkdir .claude
    go 'i=0; while [ $i -lt 20500 ]; do : >.claude/$i; i=$((i + 1)); done; echo "{}" >.claude/settings.json'
    is "[row 19] $way: settings among 20,500 new files are deleted with them" "$(ls .claude)" ''
    rmdir .claude

    git init -q . && git init -q --bare .git/modules/refs
    cp .git/modules/refs/config "$T/config"
    go 'echo "[core]" >>.git/modules/refs/config; true'
    ok "[row 19] $way: the settings of a submodule named refs are restored" cmp .git/modules/refs/config "$T/config"
    clean
done

# --- limits of mapm itself, which no wall but the filter of calls is before ---------

if command -v python3 >/dev/null; then
    cat >limit.py <<'PY'
import ctypes, sys
none = (ctypes.c_ulong * 2)(0, 0)
libc = ctypes.CDLL(None)
libc.prlimit(int(sys.argv[1]), 1, none, None)  # RLIMIT_FSIZE
PY
    way=alone
    ln -s "$(readlink -f "$(command -v python3)")" "$T/bin/python3"
    cp mapm.yaml "$T/before.yaml"
    go "echo '# x' >>mapm.yaml; $(readlink -f "$(command -v python3)") limit.py \$PPID"
    like '[row 19] a limit that a command sets for mapm does not prevent the repair' "$out" 'they are as before: mapm.yaml'
    ok 'mapm.yaml has its old content after the repair' cmp mapm.yaml "$T/before.yaml"
fi

# --- a denied program by another spelling ---------------------------------------------

skill skills/words 'metaskill: SKILL.star'
cat >skills/words/SKILL.star <<'STAR'
def run(input):
    r = command(input["words"])
    return {"status": "ok" if r["ok"] else "failed", "answer": r["result"]}
STAR
mkdir -p "$XDG_CONFIG_HOME/mapm"
printf 'policy:\n  commands:\n    deny: [["true", "*"]]\n' >"$XDG_CONFIG_HOME/mapm/config.yaml"
for word in true /bin/true /bin/true/ /bin/true/. /bin//true /bin/x/../true /bin/true/x/..; do
    run mapm run ./skills/words --json --allow '*' "words=[\"$word\"]"
    like "[row 19] a denied program is refused when it is spelled $word" "$out" 'not allowed'
done
rm "$XDG_CONFIG_HOME/mapm/config.yaml"

# --- [row 20] what is in the process of a program ------------------------------------------

skill skills/loop 'metaskill: SKILL.star'
printf 'def run(input):\n    for i in range(1 << 40):\n        pass\n' >skills/loop/SKILL.star
SECRET_TOKEN=secret-token "$MAPM" run ./skills/loop --input '{}' --timeout 60 >/dev/null 2>&1 &
pid=$!
# Its only child; it may be read by root alone.
for i in 1 2 3 4 5 6 7 8 9 10; do
    sleep 0.2
    child=$(cat /proc/$pid/task/$pid/children 2>/dev/null)
    child=${child%% *}
    [ -z "$child" ] || break
done
if cat "/proc/${child:-none}/environ" >"$T/environ" 2>/dev/null && [ -s "$T/environ" ]; then
    not_ok '[row 20] it has forgotten the environment' grep -q secret-token "$T/environ"
else
    skip '[row 20] it has forgotten the environment' 'its environment cannot be read'
fi
kill $pid
wait $pid

done_testing

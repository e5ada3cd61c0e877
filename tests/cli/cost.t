#!/bin/sh
# What an install asks of the kernel: calls and files counted, never times.
. "$(dirname "$0")/../lib/cli.sh"

command -v strace >/dev/null && strace -o /dev/null true 2>/dev/null ||
    skip_all 'no strace'
"$ROOT/tests/githost/catalog-gen" --out "$T/repos" --repos 1 --skills 91 --mcps 8 \
    --agents 1 --depth 5 --pin main >/dev/null || broken 'catalog-gen has failed'
everything=$(python3 -S -c 'import json, sys
print(next(u for u, n in json.load(open(sys.argv[1]))["nodes"].items()
           if n["type"] == "agent"))' "$T/repos/index.json")
skill "$T/src/skills/hello" 'scope: acme'
make_repo acme/small "$T/src"
# A chain through four repositories: one after the other has to be asked.
after=''
for name in four three two one; do
    set -- 'scope: acme'
    [ -z "$after" ] || set -- "$@" dependencies: '  skills:' \
        "    - https://github.com/acme/$after/tree/main/skills/$after"
    skill "$T/links/$name/skills/$name" "$@"
    make_repo "acme/$name" "$T/links/$name"
    after=$name
done
start_githost
small=https://github.com/acme/small/tree/main/skills/hello

# at_least WHAT GOT MIN
at_least()
{
    at_most "$1" "$3" "${2:-0}"
}
# trace CALLS COMMAND...: a line a call, of all its processes, into $T/trace.
trace()
{
    calls=$1
    shift
    exits "the traced command succeeds: $calls" 0 strace -qq -f -y -s 0 -e "trace=$calls" -o "$T/trace" "$@"
}
# between FROM TO WHAT: how many lines with WHAT stand after the first FROM and
# before the last TO.
between()
{
    python3 -S - "$T/trace" "$@" <<'END'
import re, sys
trace, first, last, what = sys.argv[1:]
lines = open(trace, errors="replace").read().splitlines()
start = next(i for i, l in enumerate(lines) if re.search(first, l))
end = max(i for i, l in enumerate(lines) if re.search(last, l))
print(sum(bool(re.search(what, l)) for l in lines[start:end]))
END
}

# --- calls and files ----------------------------------------------------------------

# How many folders PATH has is no cost of mapm's: it looks in each for the clients.
exits 'install of 100 packages with an empty store succeeds' 0 env PATH=/usr/bin:/bin strace -qq -f -c -o "$T/calls" "$MAPM" install --yes -q "$everything"
# count NAME COLUMN: of strace's table; COLUMN from the end, errors or not.
total=$(awk '$NF == "total" { print $4 }' "$T/calls")
count()
{
    awk -v name="$1" '$NF == name { print $4 }' "$T/calls"
}
failed()
{
    awk -v name="$1" '$NF == name { print NF == 6 ? $5 : 0 }' "$T/calls"
}
is '[F8] the lock has 100 packages' "$(grep -c '^  - type:' mapm.lock)" 100
at_most '[F8] install takes at most 90 system calls for each package' "$total" 9000
at_most '[F8] install takes at most 300 failing stat calls' "$(failed newfstatat)" 300
at_most '[F8] install takes at most 40 calls of getrandom' "$(count getrandom)" 40
at_most '[F8] install takes at most 200 renames' "$(count renameat2)" 200
at_most '[F8] install makes at most 12 files and folders in the store' \
    "$(find "$MAPM_HOME/store" -mindepth 1 | wc -l)" 12
exits '[F8] store verify accepts the store' 0 mapm store verify
exits '[F8] verify accepts the workspace' 0 mapm verify
lock=$(sha256sum <mapm.lock)

mkdir ../warm && cd ../warm && cp ../ws/mapm.yaml ../ws/mapm.lock . || exit 1
exits 'install --locked of 100 packages from a warm store succeeds' 0 env PATH=/usr/bin:/bin strace -qq -f -c -o "$T/calls" "$MAPM" install --yes -q --locked
at_most '[F12] install --locked takes at most 40 system calls for each package' \
    "$(awk '$NF == "total" { print $4 }' "$T/calls")" 4000
is '[F12] install --locked leaves mapm.lock unchanged' "$(sha256sum <mapm.lock)" "$lock"
ok '[F12] install --locked provisions the same files' diff -r ../ws/.agents/skills .agents/skills

# --- syncing ------------------------------------------------------------------------

# Of mapm-fetch only root sees what an address says, and which descriptors are sockets.
CONNECT='connect\(.*(AF_INET|, 16\))'
RECEIVED='recvfrom\([0-9]+(,|<(TCP|socket))'
SYNC='fsync\(|fdatasync\(|syncfs\(|sync_file_range\(|sync\(\)'
rm -rf "$MAPM_HOME" && mkdir ../cold && cd ../cold || exit 1
trace connect,recvfrom,fsync,fdatasync,syncfs,sync_file_range,sync \
    "$MAPM" install --yes -q "$everything"
at_least '[F9] install of 100 packages receives data from the network' "$(between "$CONNECT" "$RECEIVED" recvfrom)" 3
is '[F9] install makes no sync between the first request and the last byte' \
    "$(between "$CONNECT" "$RECEIVED" "$SYNC")" 0
is '[F9] install of more than 200 files makes one syncfs' "$(grep -c 'syncfs(' "$T/trace")" 1

rm -rf "$MAPM_HOME" && mkdir ../one && cd ../one || exit 1
trace connect,recvfrom,fsync,fdatasync,syncfs,sync_file_range,sync \
    "$MAPM" install --yes -q "$small"
is '[F9] install of one skill makes no sync between request and last byte' \
    "$(between "$CONNECT" "$RECEIVED" "$SYNC")" 0
is '[F9] install of one skill makes no sync of a whole file system' "$(grep -cE 'syncfs\(|sync\(\)' "$T/trace")" 0
for name in SKILL.md journal; do
    at_least "[F9] install of one skill syncs its own file: $name" \
        "$(grep -cE "fsync\\([0-9]+<$T/one/.agents/.mapm/stage-[^>]*/$name>" "$T/trace")" 1
done

# --- mapm-fetch is loaded while the rest is prepared --------------------------------------

# line PATTERN: the number of the first such line of the trace.
line()
{
    grep -nE "$1" "$T/trace" | sed -n '1s/:.*//p'
}
# A call that another thread interrupts has its end on another line.
started()
{
    grep -E 'execve\("[^"]*/mapm-fetch"' "$T/trace" | grep -vc ' = -1'
}
# loads WHAT COUNT COMMAND...: how often it starts mapm-fetch
loads()
{
    often=$1 times=$2
    shift 2
    trace execve "$@"
    is "[F9] mapm-fetch is started $often" \
        "$(started)" "$times"
}
rm -rf "$MAPM_HOME" && mkdir ../ahead && cd ../ahead || exit 1
trace execve,mkdirat "$MAPM" install --yes -q "$small"
at_most '[F9] mapm-fetch is started before the store is opened' \
    "$(line 'execve\("[^"]*/mapm-fetch"')" "$(line 'mkdirat\(.*"store"')"
is '[F9] mapm-fetch is started once' "$(started)" 1
loads 'not for what is there' 0 "$MAPM" install --yes -q "$small"
loads 'not with nothing to add' 0 "$MAPM" install --yes -q
loads 'not for a removal' 0 "$MAPM" remove --yes -q hello
loads 'not offline' 0 "$MAPM" install --yes -q --offline "$small"
loads 'once for an update' 1 "$MAPM" update -q
pinned=$(sed -n 's/^ *commit: *//p' mapm.lock | head -n 1)
pinned=https://github.com/acme/small/tree/$pinned/skills/hello
mkdir ../pinned && cd ../pinned || exit 1
exits 'install of a skill by its commit succeeds' 0 mapm install --yes -q "$pinned"
mkdir ../again && cd ../again || exit 1
loads 'not for a commit in the store' 0 "$MAPM" install --yes -q "$pinned"
mkdir ../file && cd ../file || exit 1
loads 'not for a folder' 0 "$MAPM" install --yes -q "file:$T/src/skills/hello"

# --- staging while others are fetched ---------------------------------------------------

mkdir ../chain && cd ../chain || exit 1
trace connect,recvfrom,openat,renameat2 "$MAPM" install --yes -q "$small" \
    https://github.com/acme/one/tree/main/skills/one
at_least '[F9] a fetched package is staged before the last byte of others arrives' \
    "$(between "$CONNECT" "$RECEIVED" 'openat\(.*/stage-[^"]*"e0/SKILL.md".*O_CREAT')" 1
is '[F9] nothing is renamed before the last byte arrives' "$(between "$CONNECT" "$RECEIVED" renameat2)" 0
exits '[F9] verify accepts the workspace after staging' 0 mapm verify
is '[F9] the folder of the stage is removed' "$(ls -A .agents/.mapm | tr '\n' ' ')" '.gitignore state '
for name in one two three four; do
    ok "[F9] the skill $name equals its source" diff -r "$T/links/$name/skills/$name" ".agents/skills/$name"
done
# Refused at last: the workspace is as it was.
rm -rf "$MAPM_HOME" && mkdir ../refused && cd ../refused || exit 1
mkdir -p .agents/skills/one && echo mine >.agents/skills/one/mine.txt
exits '[F9] install fails when a folder of the user is in the way' 1 mapm install --yes -q "$small" \
    https://github.com/acme/one/tree/main/skills/one
is '[F9] a failed install leaves no staged file' "$(find . -type f)" ./.agents/skills/one/mine.txt
is '[F9] a failed install leaves no other folder' "$(ls -A .agents)" skills
rm -r .agents
exits '[F9] install --dry-run succeeds' 0 mapm install --yes -q --dry-run "$small"
is '[F9] install --dry-run stages nothing' "$(ls -A)" ''

# --- trust -----------------------------------------------------------------------------

# Trust is no cache: its file, its log and their folder are on the disk at the
# end, whoever created them.
rm -rf "$MAPM_HOME" && mkdir ../trust && cd ../trust && touch mapm.yaml || exit 1
trace pwrite64,fsync,fdatasync "$MAPM" trust --workspace --yes
# last CALL FILE: the number of the last such line.
last()
{
    grep -nE "$1\\([0-9]+<$2>" "$T/trace" | sed -n '$s/:.*//p'
}
for file in mapm.db mapm.db-wal; do
    at_least "[F9] trust syncs $file after it is written" \
        "$(last 'f(data)?sync' "$MAPM_HOME/$file")" "$(last pwrite64 "$MAPM_HOME/$file")"
done
at_least '[F9] trust syncs the folder of mapm.db' "$(last 'f(data)?sync' "$MAPM_HOME")" 1

# --- the first answer of a server -------------------------------------------------------

cd ../warm || exit 1
# are_old: a file that has changed within a second is read again.
are_old()
{
    [ -z "$(find .agents/skills -newerct '2 seconds ago')" ]
}
await are_old
printf '%s"params":{"protocolVersion":"2025-11-25","capabilities":{},%s}}\n' \
    '{"jsonrpc":"2.0","id":0,"method":"initialize",' '"clientInfo":{"name":"t","version":"1"}' >../hello
ok 'the first mapm mcp reads the skills' sh -c "'$MAPM' mcp <../hello"
exits 'a second mapm mcp succeeds under strace' 0 sh -c "strace -qq -f -o '$T/trace' '$MAPM' mcp <../hello"
like '[G3] the second mapm mcp answers initialize' "$out" '"protocolVersion"'
is '[G3] initialize opens no SKILL.md' "$(grep -c 'openat.*SKILL.md' "$T/trace")" 0
at_most '[G3] initialize takes at most ten system calls for each skill' "$(grep -c '' "$T/trace")" 1000

# Of many skills none is looked at before a request needs them; then each is.
mkdir ../many && cd ../many && touch mapm.yaml || exit 1
for i in $(seq 300); do
    mkdir -p ".agents/skills/s-$i" && printf '%s\n' --- "name: s-$i" 'description: Before.' --- Body. \
        >".agents/skills/s-$i/SKILL.md" || exit 1
done
"$MAPM" trust --workspace --yes >/dev/null 2>&1
await are_old
ok 'the first mapm mcp reads 300 skills' sh -c "'$MAPM' mcp <../hello"
exits 'a second mapm mcp with 300 skills succeeds under strace' 0 sh -c "strace -qq -f -o '$T/trace' '$MAPM' mcp <../hello"
like '[G3] initialize reports 300 skills' "$out" '300 skills'
is '[G3] initialize opens none of 300 skills' "$(grep -c 'SKILL' "$T/trace")" 0
sed -i s/Before/After/ .agents/skills/s-7/SKILL.md
{
    cat ../hello
    echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    echo '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"skill_search","arguments":{"query":"s-7"}}}'
} >../asks
exits '[T27] skill_search after an edit succeeds' 0 sh -c "'$MAPM' mcp <../asks"
like '[T27] skill_search finds the edited description' "$out" 'After'
done_testing

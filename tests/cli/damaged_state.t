#!/bin/sh
# mapm's own files in whatever state (F3 d): none of them stops it. Each is made
# empty, garbage, a FIFO, a folder, a link, huge, unreadable; then every command
# does its work, and again.
. "$(dirname "$0")/../lib/cli.sh"

# Root reads what has no rights: so all of it is done as another user.
as_nobody

# --- a world -------------------------------------------------------------------

mkdir -p "$T/world/ws/.claude" "$T/world/mapm" "$T/world/src"
skill "$T/world/src/plain"
for name in own tool; do
    skill "$T/world/src/$name" 'metaskill: SKILL.star'
    printf 'def run(input):\n    return {"status": "ok", "answer": "ran"}\n' >"$T/world/src/$name/SKILL.star"
done
anew()
{
    cd "$T" && chmod -R u+rwX ws mapm src 2>/dev/null
    rm -rf ws mapm src && cp -a "$T/world/." "$T" && cd ws || exit 1
}
anew
mkdir -p .agents/skills && cp -r "$T/src/own" .agents/skills/own
mapm install --yes "$T/src/plain" >/dev/null 2>"$T/err" || diag "$(cat "$T/err")"
mapm install -g --yes "$T/src/tool" >/dev/null 2>&1
mapm trust --workspace --yes >/dev/null 2>&1
mapm run own word=hi >/dev/null 2>&1
mapm skill load plain --session s >/dev/null 2>&1
rm -rf "$T/world" && mkdir "$T/world"
cp -a "$T/ws" "$T/mapm" "$T/src" "$T/world"

# damage HOW FILE
damage()
{
    rm -rf "$2" && mkdir -p "$(dirname "$2")" || return
    case $1 in
    empty) : >"$2" ;;
    garbage) head -c 20000 /dev/urandom >"$2" ;;
    fifo) mkfifo "$2" ;;
    folder) mkdir -p "$2/in/it" ;;
    link) ln -s "$T/nowhere/at/all" "$2" ;;
    huge) truncate -s 20G "$2" ;;
    unreadable) echo x >"$2" && chmod 0 "$2" ;;
    esac
}
mcp_starts()
{
    {
        echo '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{"sampling":{}},"clientInfo":{"name":"t","version":"1"}}}'
        echo '{"jsonrpc":"2.0","method":"notifications/initialized"}'
        echo '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'
    } | timeout 20 "$MAPM" mcp --ask sampling 2>"$T/mcp.err" >"$T/mcp.out"
    grep -q '"id":2,"result"' "$T/mcp.out"
}
# broken [COMMAND...]: what fails of all that must work, in one line. Those that read
# what was damaged first suffice for a second time: they see what the first one left.
broken()
{
    [ $# -gt 0 ] || set -- 'list' 'install' 'run own word=hi' 'run tool word=hi' \
        'skill load plain --session s' 'trust --list' 'runs' 'events' 'store stats' 'store gc' \
        'verify' 'tree' 'list -g' 'install -g' 'trust --workspace --yes'
    for command; do
        timeout 20 "$MAPM" $command >"$T/out" 2>"$T/err" </dev/null ||
            echo "$command: $? $(head -n 2 "$T/err" | tr '\n' ' ')"
    done
    [ "$command" = 'list -g' ] || mcp_starts || echo "mcp: $(head -n 2 "$T/mcp.err" | tr '\n' ' ')"
}
all='empty garbage fifo folder link huge unreadable'

# every FILE HOW...: each of them, then all commands, twice.
every()
{
    file=$1
    shift
    for how in "$@"; do
        if [ $how = unreadable ] && ! obeys_modes; then
            skip "[F3] (d) $file, unreadable" 'root reads everything'
            continue
        fi
        anew
        damage $how "$T/$file"
        is "[F3] (d) $file, $how: all commands work" "$(broken)" ''
        is "[F3] (d) $file, $how: the commands work a second time" "$(broken install 'run own word=hi' verify 'list -g')" ''
    done
}

anew
is 'all commands work with undamaged state' "$(broken)" ''
is 'all commands work a second time with undamaged state' "$(broken)" ''

# --- of the user -----------------------------------------------------------------

every mapm/suspended/key $all
every mapm/suspended empty fifo
every mapm/mapm.db $all
every mapm/mapm.db-wal $all
every mapm/mapm.db-shm $all
every mapm/store/lock $all
every mapm/store/incoming empty fifo
every mapm/store/packs empty fifo link
every mapm/store/locks empty fifo link
every mapm/shared empty fifo

# --- of a workspace, and of the library of the user -----------------------------------

for root in ws mapm/global; do
    [ $root = mapm/global ] || every $root/.agents/.mapm/state $all
    # a link is refused: a hostile workspace can hold one (row 16)
    every $root/.agents/.mapm/journal empty garbage fifo folder huge unreadable
    every $root/.agents/.mapm/backup empty fifo
    every $root/.agents/.mapm/id $all
    every $root/.agents/.mapm/.gitignore $all
    every $root/.agents/.mapm/stage-0123456789abcdef $all
done

# Without the record of user level nobody knows whose a skill in the home is: it is
# refused by name, though equal, and --force takes it. [H8]
for how in $all; do
    [ $how != unreadable ] || obeys_modes || continue
    anew
    damage $how "$T/mapm/global/.agents/.mapm/state"
    like "[F3] (d) the record of user level, $how: install -g alone fails" "$(broken | tr '\n' ' ')" \
        '^install -g: 1 .*/\.agents/skills/tool is there already, and is not of mapm *$'
    exits "[F3] (d) the record of user level, $how: install -g --force succeeds" 0 mapm install -g --yes --force
    is "[F3] (d) the record of user level, $how: the commands of that level work" "$(broken 'install -g' 'verify -g' 'list -g')" ''
done

done_testing

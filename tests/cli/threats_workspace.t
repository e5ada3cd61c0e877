#!/bin/sh
# A workspace that somebody else made: nothing in it widens rights, nothing is
# read or written through a link, what cannot be read is an error that says so.
# [row 5, row 6, row 9, row 11, row 15, row 16]; sections 1.3, 1.5, 7.
. "$(dirname "$0")/../lib/cli.sh"

HELLO=$T/src/skills/hello
skill "$HELLO" 'scope: acme' 'dependencies:' '  mcps:' \
    "    - file:$T/src/mcps/io.acme_tool.json"
mcp "$T/src/mcps/io.acme_tool.json" io.acme/tool npx -y tool
mkdir "$T/outside" && echo secret >"$T/outside/file"
echo '{"hooks": {}}' >"$T/outside/settings.json"
snapshot "$T/outside" >"$T/outside.before"

fresh()
{
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
}
# refuses WHAT REGEX [COMMAND...]: fails and says so in bounded time, and leaves
# workspace, store and everything else alone.
refuses()
{
    what=$1 regex=$2
    shift 2
    [ $# -gt 0 ] || set -- install --yes "$HELLO"
    snapshot . >"$T/before"
    snapshot "$MAPM_HOME/store" >"$T/store-before"
    run timeout 20 "$MAPM" "$@"
    case $status in
    1 | 4) pass "refused: $what" ;;
    *)
        fail "refused: $what"
        diag "exit status $status"
        show_run
        ;;
    esac
    like "the error names the reason: $what" "$err" "$regex"
    is "nothing has changed after: $what" \
        "$(snapshot .; snapshot "$MAPM_HOME/store"; snapshot "$T/outside")" \
        "$(cat "$T/before" "$T/store-before" "$T/outside.before")"
}
# accepts WHAT: installs, and writes nothing outside.
accepts()
{
    run timeout 20 "$MAPM" install --yes "$HELLO"
    is "install succeeds: $1" "$status" 0
    [ "$status" -eq 0 ] || show_run
    ok "install provisions the skill: $1" test -f .agents/skills/hello/SKILL.md
    is "nothing outside of the workspace changes: $1" "$(snapshot "$T/outside")" "$(cat "$T/outside.before")"
}
mapm list >/dev/null
mapm store stats >/dev/null

# --- [row 16] something else in the place of our files ---------------------------

put_in_place()
{
    mkdir -p "$(dirname "$2")" .claude
    rm -rf "$2"
    case $1 in
    folder-link) ln -s "$T/outside" "$2" ;;
    file-link) ln -s "$T/outside/file" "$2" ;;
    dangling-link) ln -s "$T/outside/nothing" "$2" ;;
    fifo) mkfifo "$2" ;;
    folder) mkdir "$2" && echo mine >"$2/mine" ;;
    esac
}
for place in mapm.yaml mapm.lock mapm.local.yaml mapm.local.lock .gitignore .mcp.json; do
    for kind in folder-link file-link dangling-link fifo folder; do
        fresh
        put_in_place $kind $place
        refuses "[row 16] $kind as $place" "${place#.}.*(link is in the way|not a regular file)"
    done
done
for place in .agents .agents/.mapm .agents/skills .claude .claude/skills; do
    for kind in folder-link file-link dangling-link fifo; do
        fresh
        put_in_place $kind $place
        refuses "[row 16] $kind as $place" \
            "$place is (a symbolic link that mapm did not make|neither a file nor a folder)"
    done
done
for place in .agents/skills/hello .claude/skills/hello; do
    for kind in folder-link file-link dangling-link fifo folder; do
        fresh
        put_in_place $kind $place
        refuses "[row 16] $kind as $place" 'mapm did not (make|write)|neither a file'
    done
done
for kind in folder-link file-link dangling-link fifo folder; do
    fresh
    put_in_place $kind .agents/.mapm/journal
    case $kind in
    *link) refuses "[row 16] $kind as journal" '.agents/.mapm/journal is (a|neither)' ;;
    *) accepts "[row 16, F3] (d) $kind as journal" ;;
    esac
    fresh
    put_in_place $kind .agents/.mapm/state
    accepts "[row 16] $kind as state"
done
fresh
mkdir -p .agents/skills/hello
ln -s "$T/outside/file" .agents/skills/hello/SKILL.md
refuses '[row 16] a link as a file of ours' 'mapm did not make'
exits '[row 16] install --force replaces a link in the place of a file' 0 mapm install --yes --force "$HELLO"
is '[row 16] install --force does not change the target of the link' "$(snapshot "$T/outside")" "$(cat "$T/outside.before")"
# a link put there after the install
rm -r .agents/skills/hello && ln -s "$T/outside" .agents/skills/hello
echo more >>"$HELLO/SKILL.md"
refuses '[row 16] a link in the place of a folder of ours' 'mapm did not make'
exits '[row 16] remove succeeds when a link is in the place of the folder' 0 mapm remove hello
like '[row 16] remove says that mapm did not make the link' "$err" 'mapm did not make: kept'
ok '[row 16] remove keeps the link' test -L .agents/skills/hello
is '[row 16] remove does not change the target of the link' "$(snapshot "$T/outside")" "$(cat "$T/outside.before")"

# --- [row 15] mapm.yaml -----------------------------------------------------------

# yaml REGEX TEXT (for printf)
yaml()
{
    fresh
    printf "$2" >mapm.yaml
    refuses "[row 15] $(printf '%.50s' "$2" | tr -dc ' -~')" "$1"
}
for text in 'ask: {exec: [/bin/sh, -c, id]}' 'ask: /bin/sh' 'ask: ../claude' \
    'ask: "claude; id"' 'ask: {http: "https://evil.example", model: x, key_env: GH_TOKEN}'; do
    yaml 'mapm.yaml:1: ask must be one of' "$text\n"
done
yaml '"hosts" may not stand here' 'hosts: [evil.example]\n'
yaml 'unknown key "sandbox"' 'runtime: {sandbox: off}\n'
yaml 'not a client' 'clients: ["../../x"]\n'
yaml 'unknown key' 'limits: {no_such_limit: 1}\n'
yaml 'whole number' 'limits: {file_max_bytes: 99999999999999999999999}\n'
yaml 'its host is neither' 'dependencies: {skills: [https://evil.example/a/b/tree/main/x]}\n'
yaml 'absolute path' 'dependencies: {skills: ["file:../../etc"]}\n'
yaml 'neither an https' 'dependencies: {skills: ["ext::sh -c id"]}\n'
yaml 'user name or password' 'dependencies: {skills: ["https://u:p@github.com/a/b/tree/main/x"]}\n'
yaml 'not one that git allows' 'dependencies: {skills: ["https://github.com/a/b/tree/--upload-pack=id/x"]}\n'
# [row 5]
yaml 'anchors' 'a: &a [1,1]\nb: [*a,*a]\n'
yaml 'tags' 'dependencies: !!python/object:os.system {skills: []}\n'
yaml 'directives' '%%YAML 1.1\n---\na: b\n'
yaml 'given twice' 'dependencies: {}\ndependencies: {}\n'
yaml 'NUL' 'clients: ["cla\\0ude"]\n'
yaml 'byte order mark' '\357\273\277dependencies: {}\n'
yaml 'UTF-8|control|not allowed|byte order' '\377\376d\000e\000'
yaml 'more than one document' 'dependencies: {}\n---\nclients: []\n'
yaml 'expected keys and values' '[]\n'
yaml '\\x1b' '"\\e[31mx": 1\n'
fresh
python3 -S -c 'print("[" * 100000)' >mapm.yaml
refuses '[row 5] nested mapm.yaml' 'nested more than [0-9]+ deep'
fresh
python3 -S -c 'print("x: " + "y" * (16 << 20))' >mapm.yaml
refuses '[row 15] a mapm.yaml past its limit (7)' 'larger than 16777216'
fresh
python3 -S -c 'print("clients: [" + "claude," * 200000 + "claude]")' >mapm.yaml
refuses '[row 15] a mapm.yaml of too many nodes (7)' 'more than [0-9]+'

# --- [row 15] mapm.lock -----------------------------------------------------------

ID=1111111111111111111111111111111111111111
SUM=sha256:2222222222222222222222222222222222222222222222222222222222222222
ORIGIN=https://github.com/acme/catalog/tree/main/skills/x
# lock WHAT REGEX LINE...: an entry with these lines in the place of those.
lock()
{
    what=$1 regex=$2
    shift 2
    fresh
    python3 -S - "$@" >mapm.lock <<PYTHON
import sys
entry = {"type": "skill", "name": "x", "origin": "$ORIGIN", "commit": "$ID",
         "tree": "$ID", "digest": "$SUM", "version": "1.0.0",
         "path": ".agents/skills/x"}
for line in sys.argv[1:]:
    key, _, value = line.partition(":")
    if value:
        entry[key] = value.strip()
    else:
        entry.pop(key)
print("version: 1\npackages:")
for i, key in enumerate(entry):
    print("  - " if i == 0 else "    ", key, ": ", entry[key], sep="")
PYTHON
    refuses "[row 15] lock, $what" "$regex" install --locked
}
for path in ../x /etc/cron.d/x .git/hooks/post-checkout .agents/skills/../../x .agents/skills/ \
    .agents/skills/.git .agents/skills/a/b .agents/agents/x .claude/skills/x '.agents/skills/..' \
    '.agents/skills/con' '"\x2e\x2e/x"'; do
    lock "path $path" 'mapm.lock:[0-9]+' "path: $path"
done
lock 'a name that climbs' 'mapm.lock:[0-9]+' 'name: ../x'
lock 'a name as a path' 'mapm.lock:[0-9]+' 'name: a/b/c'
lock 'an unknown type' 'mapm.lock:[0-9]+' 'type: program'
lock 'no digest' 'mapm.lock:[0-9]+' 'digest:'
lock 'a short digest' 'mapm.lock:[0-9]+' 'digest: sha256:22'
lock 'another digest' 'mapm.lock:[0-9]+' 'digest: md5:22222222222222222222222222222222'
lock 'no commit' 'mapm.lock:[0-9]+' 'commit:'
lock 'a branch as commit' 'mapm.lock:[0-9]+' 'commit: main'
lock 'an option as commit' 'mapm.lock:[0-9]+' 'commit: --upload-pack=id'
lock 'no tree' 'mapm.lock:[0-9]+' 'tree:'
lock 'another host' 'mapm.lock:[0-9]+' 'origin: https://evil.example/a/b/tree/main/x'
lock 'a file: origin' 'mapm.lock:[0-9]+|mapm.lock' 'origin: file:/etc'
lock 'a key of no meaning' 'mapm.lock:[0-9]+' 'run: id'
lock 'an alias' 'mapm.lock:[0-9]+' 'version: *x'
lock 'an ESC' 'mapm.lock:[0-9]+' "version: $(printf '\033[31m')"
fresh
printf 'version: 3\npackages: []\n' >mapm.lock
refuses '[row 15] [F13] a newer lock' 'version'
fresh
python3 -S - "$ORIGIN" >mapm.lock <<PYTHON
import sys
print("version: 1\npackages:")
for name, needs in (("a", "b"), ("b", "a")):
    print(f"""  - type: skill
    name: {name}
    origin: https://github.com/acme/catalog/tree/main/skills/{name}
    commit: $ID
    tree: $ID
    digest: $SUM
    path: .agents/skills/{name}
    needs: [skill {needs}]""")
PYTHON
echo 'dependencies: {skills: [https://github.com/acme/catalog/tree/main/skills/a]}' >mapm.yaml
refuses '[row 11] a cycle in the lock' 'mapm.lock|cycle' install --offline
sed -i 's/needs: \[skill [ab]\]/needs: [skill none]/' mapm.lock
refuses '[row 15] a lock that needs what it does not hold' 'mapm.lock:[0-9]+: a needs skill none, which is not' install --offline
fresh
truncate -s 65M mapm.lock
refuses '[row 15] a lock past its limit (7)' 'larger than 67108864'

# the right package under another name, by another origin, in another place
fresh
skill "$T/cat/skills/one" 'scope: acme'
skill "$T/cat/skills/two" 'scope: acme'
make_repo acme/catalog "$T/cat"
start_githost
exits 'install of two skills makes a valid lock' 0 mapm install https://github.com/acme/catalog/tree/main/skills/one \
    https://github.com/acme/catalog/tree/main/skills/two
cp mapm.lock "$T/lock"
one=$(sed -n '/skills\/one$/,/digest/s/.*digest: //p' mapm.lock | head -n 1)
two=$(sed -n '/skills\/two$/,/digest/s/.*digest: //p' mapm.lock | head -n 1)
sed "s/$two/$one/" "$T/lock" >mapm.lock
snapshot .agents >"$T/agents"
run mapm install
isnt '[row 15] install fails for a lock with the digest of another package' "$status" 0
like '[row 15] the error names the other package or the digest' "$err" 'acme/one|digest'
is '[row 15] install does not provision the other package' "$(snapshot .agents)" "$(cat "$T/agents")"
sed "s/$two/$SUM/" "$T/lock" >mapm.lock
run mapm install
isnt '[row 15] install fails for a lock with an unknown digest' "$status" 0
is '[row 15] install of an unknown digest provisions nothing' "$(snapshot .agents)" "$(cat "$T/agents")"
cp "$T/lock" mapm.lock
exits '[row 15] install succeeds with the restored lock' 0 mapm install
git init -q . && git config "url.file:///etc/.insteadOf" https://github.com/
git config credential.helper '!touch '"$T"'/helper-ran; :'
git config core.fsmonitor 'touch '"$T"'/fsmonitor-ran'
git config core.sshCommand 'touch '"$T"'/ssh-ran'
printf 'MAPM_GITHUB_HOSTS=evil.example\nMAPM_HOME=/nowhere\nGH_TOKEN=x\nGIT_CONFIG_GLOBAL=/nowhere\n' >.env
mkdir -p bin libexec/mapm .config/mapm .github
for name in git gh mapm-fetch ssh sh mapm curl; do
    printf '#!/bin/sh\ntouch %s/%s-ran\nexit 1\n' "$T" $name >$name
    chmod 755 $name
    cp $name bin/ && cp $name libexec/mapm/
done
printf 'hosts: [evil.example]\n' >.config/mapm/config.yaml
rm -rf "$MAPM_HOME"
planted=.:bin:$PWD:$PWD/bin::$PATH
exits '[row 15] install succeeds beside programs and settings in the workspace' 0 env PATH="$planted" "$MAPM" install
exits '[row 15] update succeeds beside programs and settings in the workspace' 0 env PATH="$planted" "$MAPM" update
is '[row 15] no program of the workspace was run by install or update' "$(ls "$T" | grep -e '-ran$')" ''
cd bin || exit 1
exits '[row 15] list from a folder with programs succeeds' 0 env PATH=.:.. "$MAPM" list
is '[row 15] no program of the workspace was run by list' "$(ls "$T" | grep -e '-ran$')" ''

# --- [row 15] .mcp.json -----------------------------------------------------------

json()
{
    fresh
    printf "$2" >.mcp.json
    refuses "[row 15] .mcp.json $(printf '%.40s' "$2" | tr -dc ' -~')" "$1"
}
json 'given twice' '{"mcpServers": {}, "mcpServers": {}}'
json 'given twice' '{"mcpServers": {"a": {}, "\\u0061": {}}}'
json 'not UTF-8' '{"a": "\377"}'
json 'surrogate' '{"a": "\\ud800"}'
json 'expected a value' '{"a": NaN}'
json 'not an object' '{"mcpServers": []}'
json 'not an object' '[]'
json 'expected the end' '{"mcpServers": {}} x'
json 'a server "io-acme-tool" that mapm did not write' '{"mcpServers": {"io-acme-tool": {"command": "x"}}}'
fresh
python3 -S -c 'print("{\"a\":" * 100000)' >.mcp.json
refuses '[row 5] nested .mcp.json (7)' 'nested more than 64 deep'
fresh
python3 -S -c 'print("{\"a\": \"" + "x" * (16 << 20) + "\"}")' >.mcp.json
refuses '[row 15] .mcp.json past its limit (7)' 'larger than 4194304'
fresh
printf '{"mcpServers\\u0000": {"x": 1}, "other": 1e999999}' >.mcp.json
accepts 'a key that ends where a NUL stands is another key'
like 'the key with a NUL stays in .mcp.json as it was' "$(cat .mcp.json)" '"mcpServers\\u0000": \{"x": 1\}, "other": 1e999999'

# --- [row 15] our own record, forged ----------------------------------------------

fresh
mkdir -p .agents/.mapm .git/hooks .claude
echo hook >.git/hooks/post-checkout
echo '{}' >.claude/settings.json
zero=$(printf '%064d' 0)
for place in .git/hooks/post-checkout ../outside/file .claude/settings.json mapm.yaml \
    .agents/skills/../../x /etc/passwd .agents/.mapm/state .agents/skills .claude; do
    for kind in tree file link; do
        {
            echo 'mapm-state 1'
            [ $kind = link ] && echo "link x $place" || echo "$kind $zero $place"
            echo end
        } >.agents/.mapm/state
        run timeout 20 "$MAPM" install --yes "$HELLO"
        like "[row 15] a record that names $place as $kind leads to no crash" "$status" '^[014]$'
        is "[row 15] a record that names $place as $kind changes nothing outside" "$(snapshot "$T/outside")" "$(cat "$T/outside.before")"
        ok "[row 15] a record that names $place as $kind leaves the files of the user" \
            test "$(cat .git/hooks/post-checkout .claude/settings.json)" = "hook
{}"
        mapm remove hello >/dev/null 2>&1
        rm -rf .agents mapm.* .mcp.json
        mkdir -p .agents/.mapm .claude
        echo '{}' >.claude/settings.json
    done
done
# a journal: files that it says we put there
stage=stage-0123456789abcdef
for place in .git/hooks/post-checkout ../outside/file .claude/settings.json mapm.yaml .mcp.json \
    .agents/skills/../../../outside/file; do
    rm -rf .agents && mkdir -p .agents/.mapm/$stage
    echo evil >.agents/.mapm/$stage/n0
    touch mapm.yaml
    ino=$(stat -c %i .agents/.mapm/$stage/n0)
    old=$(stat -c %i "$place" 2>/dev/null || echo 0)
    {
        printf 'mapm-journal 1\nstage %s\nbackup 0\nop %s %s %s %s - %s\n' $stage "$ino" $zero \
            "$old" $zero "$place"
    } >"$T/journal"
    sum=$(sha256sum <"$T/journal")
    { cat "$T/journal"; echo "end ${sum%% *}"; } >.agents/.mapm/journal
    run timeout 20 "$MAPM" list
    like "[row 15] a journal that names $place leads to no crash" "$status" '^[014]$'
    is "[row 15] a journal that names $place changes nothing outside" "$(snapshot "$T/outside")" "$(cat "$T/outside.before")"
    is "[row 15] a journal that names $place leaves the files of the user" "$(cat .git/hooks/post-checkout .claude/settings.json)" \
        "$(printf 'hook\n{}')"
done

# --- [row 15] whose workspace it is -------------------------------------------------

if can_chown; then
    fresh
    echo 'ask: /bin/sh' >mapm.yaml
    chown 12345 mapm.yaml
    mkdir below && cd below || exit 1
    exits '[row 15] a mapm.yaml above us that is another user'"'"'s is none' 0 mapm list
    like '[row 15] list uses the own folder below a mapm.yaml of another user' "$err" '/ws/below'
else
    skip '[row 15] a mapm.yaml of another user' 'cannot change owners'
fi
done_testing

#!/bin/sh
# What the documents of a package say: parsers that are bombed, names that are
# paths, characters that nobody sees, servers that are shells, and the program
# itself: how it is built, and what its fetcher may do.
# [row 5, row 6, row 7, row 8, row 9, row 10, row 30]; sections 1.3 to 1.5, 7.
. "$(dirname "$0")/../lib/cli.sh"
start_githost
skill "$T/good/skills/good"
make_repo acme/good "$T/good"
exits 'install of a valid skill succeeds' 0 mapm install https://github.com/acme/good/tree/main/skills/good
n=0

store()
{
    snapshot "$MAPM_HOME" | grep -v -e 'mapm\.db-shm' -e 'store/locks'
}
raw_bytes()
{
    LC_ALL=C grep -Pq '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]|\xf3\xa0' \
        "$T/out" "$T/err"
}
# publish PATH: what is in $T/c becomes a repository, $URL its package there.
publish()
{
    n=$((n + 1))
    make_repo "h/r$n" "$T/c"
    URL=https://github.com/h/r$n/tree/main/$1
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
}
# refuses WHAT REGEX [PATH]
refuses()
{
    publish "${3:-skills/x}"
    store >"$T/store-before"
    run timeout 60 "$MAPM" install --yes "$URL"
    like "$1: install is refused" "$status" '^[14]$'
    like "$1: the error gives the reason" "$err" "$2"
    is "$1: the workspace stays empty" "$(ls -A)" ''
    is "$1: the store is unchanged" "$(store)" "$(cat "$T/store-before")"
    not_ok "[row 7] $1: the output of install has no raw control character" raw_bytes
    case $1 in '[row 5]'*|'[row 7]'*) ;; *) return ;; esac
    for json in '' --json; do
        # shellcheck disable=SC2086
        run "$MAPM" check "$T/c" $json
        not_ok "[row 7] $1: the output of check $json has no raw control character" raw_bytes
    done
    mkdir -p "$T/json" && cp "$T/out" "$T/json/$n.json"
}
# takes WHAT [REGEX of a warning] [PATH]
takes()
{
    publish "${3:-skills/x}"
    run timeout 60 "$MAPM" install --yes "$URL"
    is "$1: install succeeds" "$status" 0
    [ "$status" -eq 0 ] || show_run
    [ -z "${2:-}" ] || like "$1: install prints the warning" "$err" "$2"
    case $1 in '[row 6]'*|'[row 7]'*) ;; *) return ;; esac
    for command in list 'list --json' tree 'tree --json' 'tree --dot' 'tree --mermaid' verify; do
        # shellcheck disable=SC2086
        run "$MAPM" $command --color always
        sed -i 's/\x1b\[[0-9;]*m//g' "$T/out" "$T/err"
        not_ok "[row 7] $1: the output of $command has no raw control character" raw_bytes
    done
}
# front TEXT (for printf): the whole SKILL.md
front()
{
    rm -rf "$T/c" && mkdir -p "$T/c/skills/x"
    printf -- "$1" >"$T/c/skills/x/SKILL.md"
}
D='description: d\nversion: 1.0.0\n---\nbody\n'

# --- [row 5] ------------------------------------------------------------------------

front "---\nname: x\na: &a [*a]\n$D" && refuses '[row 5] an anchor' 'anchors'
front "---\nname: !!str x\n$D" && refuses '[row 5] a tag' 'tags'
front "---\nname: x\nname: x\n$D" && refuses '[row 5] a key given twice' 'given twice'
front "---\nname: x\n<<: {a: b}\n$D" && refuses '[row 5] a merge key' 'merge keys'
front "---\nname: \"x\\\\0y\"\n$D" && refuses '[row 5] a NUL in a name' 'NUL'
front "---\nname: x\n${D}\000more" && refuses '[row 5] a NUL byte' 'NUL'
front '\377\376-\000-\000-\000' && refuses '[row 5] UTF-16' 'UTF-8'
front "---\nname: x\n${D}\377" && refuses '[row 5] invalid UTF-8' 'UTF-8'
front "---\nname: x\nextra: \"\\\\ud800\"\n$D" && refuses '[row 5] an unpaired surrogate' 'YAML|yaml'
big()
{
    rm -rf "$T/c" && mkdir -p "$T/c/skills/x"
    python3 -S -c "$1" >"$T/c/skills/x/SKILL.md"
}
big 'print("---\nname: x\ndescription: d\na: " + "[" * 30000 + "\n---\n")'
refuses '[row 5] nested frontmatter (7)' 'nested more than 16 deep'
big 'print("---\nname: x\ndescription: d\na: " + "{b: " * 17 + "c" + "}" * 17 + "\n---\n")'
refuses '[row 5] frontmatter nested 17 levels deep (7)' 'nested more than 16 deep'
big 'print("---\nname: x\ndescription: d\na: [" + "x," * 10001 + "x]\n---\n")'
refuses '[row 5] frontmatter with more than 10,000 nodes (7)' 'more than 10000'
big 'print("---\nname: x\ndescription: d\na: " + "y" * 65536 + "\n---\n")'
refuses '[row 5] 64 KiB of frontmatter (7)' 'larger than 65536'
big 'print("---\nname: x\ndescription: d\n---\n" + "y" * 1048576)'
refuses '[row 5] 1 MiB of SKILL.md (7)' 'more than 1048576|larger than 1048576'

# mcp TEXT: an MCP file io.h/m that goes on with TEXT
mcp_text()
{
    rm -rf "$T/c" && mkdir -p "$T/c/mcps"
    printf '{\n  "_meta": {\n    "name": "io.h/m"\n  },\n  "type": "stdio",\n  %s\n}\n' "$1" >"$T/c/mcps/io.h_m.json"
}
M=mcps/io.h_m.json
mcp_text '"command": "npx", "command": "x"' && refuses '[row 5] a JSON key twice' 'given twice' $M
mcp_text '"command": "npx", "\u0063ommand": "x"' && refuses '[row 5] a JSON key twice, escaped' 'given twice' $M
mcp_text '"command": "npx\u0000"' && refuses '[row 5] a NUL in JSON' 'NUL' $M
mcp_text '"command": "npx", "x": "\ud800"' && refuses '[row 5] half a surrogate pair in JSON' 'surrogate' $M
mcp_text '"command": "npx", "x": NaN' && refuses '[row 5] NaN in JSON' 'expected a value' $M
mcp_text '"command": "npx", // x' && refuses '[row 5] a comment in JSON' 'JSON' $M
mcp_text "\"command\": \"npx\", \"x\": $(python3 -S -c 'print("[" * 100 + "]" * 100)')" &&
    refuses '[row 5] nested JSON (7)' 'nested more than 64 deep' $M
mcp_text "\"command\": \"npx\", \"x\": \"$(python3 -S -c 'print("y" * 100000)')\"" && takes '[row 5] a long text' '' $M
rm -rf "$T/c" && mkdir -p "$T/c/mcps"
python3 -S -c 'print("{\"_meta\": {\"name\": \"io.h/m\"}, \"command\": \"npx\", \"x\": \"" + "y" * 262144 + "\"}")' >"$T/c/$M"
refuses '[row 5] 256 KiB of JSON (7)' '262144' $M

# --- [row 6] ------------------------------------------------------------------------

for name in ../x .. . a/b '"a\\\\b"' '.git' 'x y' 'X' '-x' '"x\\n"'; do
    front "---\nname: $name\nscope: acme\n$D"
    refuses "[row 6] a skill with the name $name" 'name'
done
for scope in ../y .. a/b /etc '"a\\\\b"' 'A' '.x' 'x.'; do
    front "---\nname: x\nscope: $scope\n$D"
    refuses "[row 6] a skill with the scope $scope" 'scope'
done
front "---\nname: ../../evil\n${D%version*}---\nx" && takes '[row 6] a plain skill with a path as its name' 'is used'
ok '[row 6] a plain skill with a path as its name is installed under its folder' test -f .agents/skills/x/SKILL.md
front '---\nname: x\nversion: ../../1\ndescription: d\n---\nx' && takes '[row 6] a skill with a path as its version'
is '[row 6] a version that is a path creates no file' "$(cd "$T" && find . -name 1 -not -path './repos/*')" ''
mcp_text '"command": "npx"'
sed -i 's|io.h/m|../m|' "$T/c/$M" && refuses '[row 6] an MCP server with a path as its name' 'name' $M

# --- [row 7] ------------------------------------------------------------------------

for field in description version license compatibility prereqs; do
    for c in 'e[31m' u202e U000E0041 U000E0100 u2066 x7f x9b a; do
        front "---\nname: x\nversion: 1.0.0\ndescription: d\n$field: \"a\\\\${c}b\"\n---\nx"
        [ $field != description ] && [ $field != version ] || sed -i "0,/^$field/{/^$field/d}" "$T/c/skills/x/SKILL.md"
        refuses "[row 7] $field with \\$c" 'nobody sees|hidden'
    done
done
for c in '\342\200\256' '\363\240\201\201' '\363\240\204\200' '\342\201\246'; do
    front "---\nname: x\n${D}$c"
    refuses "[row 7] a body with $c" 'nobody sees|hidden'
done
front "---\nname: x\n${D}\342\200\213" && takes '[row 7] a body with a character of no width' 'without width'
front "---\nname: x\n$D\360\237\217\264\363\240\201\247\363\240\201\242\363\240\201\245\363\240\201\256\363\240\201\247\363\240\201\277" &&
    takes '[row 7] a body with the emoji of the flag of England'
front "---\nname: x\n${D}\342\200\256"
publish skills/x
exits '[row 7] install --allow-hidden of a skill with hidden text succeeds' 0 mapm install --allow-hidden "$URL"
like '[row 7] the lock records that hidden text is allowed' "$(cat mapm.lock)" 'allow-hidden: true|allow_hidden: true|hidden'
exits '[row 7] install --locked succeeds with the recorded permission' 0 mapm install --locked
sed '/hidden/d' mapm.lock >"$T/lock" && cp mapm.yaml "$T/yaml"
cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
cp "$T/lock" mapm.lock && cp "$T/yaml" mapm.yaml
run mapm install
isnt "[row 7] install fails with a lock that lacks the permission" "$status" 0
not_ok '[row 7] install without the permission writes nothing' test -e .agents

# --- [row 8] ------------------------------------------------------------------------

for command in sh bash BASH dash zsh fish cmd cmd.exe powershell.exe pwsh env busybox sudo xargs nohup \
    /bin/sh /usr/bin/node ./x ../x 'C:\\x' 'a b' 'x;y' '$(id)' '`id`' '' -x '${workspaceDir}' \
    '${workspaceDir}/bash' '${sharedDir}/../sh' 'npx\u202e' '\u0000'; do
    mcp_text "\"command\": \"$command\""
    refuses "[row 8] a server with the command $command" 'command' $M
done
for args in 'npx|"-c", "id"' 'npx|"-y", "--call=id"' 'npm|"exec", "-c", "id"' 'node|"-e", "x"' \
    'python3|"-c", "x"' 'perl|"-e", "x"' 'deno|"eval", "x"' 'npx|1' 'npx|["x"]' 'npx|"\u001b[31m"'; do
    mcp_text "\"command\": \"${args%%|*}\", \"args\": [${args#*|}]"
    refuses "[row 8] a server with the command line ${args%%|*} ${args#*|}" 'arg|makes' $M
done
for name in LD_PRELOAD NODE_OPTIONS PATH PYTHONPATH BASH_ENV GIT_SSH_COMMAND DYLD_INSERT_LIBRARIES ld_preload \
    'a=b' '' 'BASH_FUNC_x%%' 'x\u0000'; do
    mcp_text "\"command\": \"npx\", \"env\": {\"$name\": \"x\"}"
    refuses "[row 8] a server with the variable $name" 'env' $M
done
mcp_text '"command": "npx", "args": ["-y", "server"], "env": {"TOKEN": "s3cr3t"}'
publish $M
exits '[row 8] install of a server without --yes is refused' 4 mapm install "$URL"
like '[row 8] the error shows the whole command line of the server' "$err" 'npx -y server'
like '[row 8] the error shows the name of the variable of the server' "$err" 'TOKEN'
unlike '[row 8] the output does not show the value of the variable' "$out$err" 's3cr3t'
exits '[row 8] install --yes of the server succeeds' 0 mapm install --yes "$URL"
mcp_text '"command": "npx", "args": ["-y", "server", "--evil"]'
make_repo "h/r$n" "$T/c"
snapshot . >"$T/before"
exits '[row 8] update to a changed server without --yes is refused (1.5)' 4 mapm update
like '[row 8] the error shows the changed command line' "$err$out" 'npx -y server --evil'
is '[row 8] the refused update leaves the workspace unchanged' "$(snapshot .)" "$(cat "$T/before")"

# --- [row 9] ------------------------------------------------------------------------

for arg in '${workspceDir}/x' '${HOME}' '${workspaceDir' '${}' '${${workspaceDir}}' '$HOME' '~/x' \
    '${workspaceDir}/../../etc' '${workspaceDir}x' '${WORKSPACEDIR}/x' '${workspaceDir }' '${env:HOME}' \
    '${workspaceDir}/a/../../x' '${workspaceDir}\\..\\..\\x' '${input:x}'; do
    mcp_text "\"command\": \"npx\", \"args\": [\"$arg\"]"
    refuses "[row 9] a server with the argument $arg" 'placeholder|expan|\$|~' $M
    mcp_text "\"command\": \"npx\", \"env\": {\"X\": \"$arg\"}"
    case $arg in '$HOME' | '~/x') ;; *) refuses "[row 9] a variable's value $arg" '\$' $M ;; esac
done
mcp_text '"command": "npx", "env": {"${workspaceDir}": "x"}' && refuses '[row 9] a server with a placeholder in the name of a variable' '\$' $M
mcp_text '"command": "npx", "args": ["${workspaceDir}/a", "~", "$5", "${sharedDir}/b"]'
takes '[row 9] a server with the two valid placeholders' '' $M
is '[row 9] .mcp.json has the folders in place of both placeholders' "$(python3 -S -c 'import json
print(*list(json.load(open(".mcp.json"))["mcpServers"].values())[0]["args"])')" "$T/ws/a ~ \$5 $MAPM_HOME/shared/b"

# --- [row 10] -----------------------------------------------------------------------

for dep in file:/etc http://github.com/a/b/tree/main/x git://github.com/a/b 'ext::sh -c id' ssh://git@github.com/a/b \
    git@github.com:a/b https://github.com:8080/a/b/tree/main/x https://u@github.com/a/b/tree/main/x \
    https://u:p@github.com/a/b/tree/main/x https://github.com/a/b/tree/main/../x https://github.com/a/b/tree/main/%2e%2e/x \
    'https://github.com/a/b/tree/main/x?y' 'https://github.com/a/b/tree/main/x#y' https://github.com/../b/tree/main/x \
    https://github.com/a/b/tree/-x/y https://github.com/a/b/tree/--upload-pack=x/y \
    https://github.com.evil.example/a/b/tree/main/x https://evil.example/a/b/tree/main/x 'https://[::1]/a/b/tree/main/x' \
    https://127.0.0.1/a/b/tree/main/x 'https://github.com/a/b/tree/main@{0}/x' https://github.com/a/b/tree/HEAD~1/x \
    https://github.com/a/b/tree/main..x/y a/b/c /etc ../y 'https://github.com/a/b/tree/main/x%00' \
    'https://github.com\\@evil.example/a/b/tree/main/x' 'https://github.com/a/b/tree/main//x'; do
    rm -rf "$T/c"
    skill "$T/c/skills/x" 'dependencies:' '  skills:' "    - '$dep'"
    reset_log
    refuses "[row 10] a skill that needs $dep" 'dep-|origin'
done

# --- [row 30] -----------------------------------------------------------------------

cd "$T" && rm -rf ws "$MAPM_HOME" && mkdir ws && cd ws || exit 1
fault '{"kind": "hold", "times": -1}'
"$MAPM" install https://github.com/acme/good/tree/main/skills/good >/dev/null 2>&1 &
install=$!
await_held 1
worker=$(pgrep -x -P $install mapm-fetch)
status=$(cat "/proc/$worker/status")
clear_faults
wait $install
like '[row 30] the process mapm-fetch has no_new_privs set' "$status" '^NoNewPrivs:.1'
like '[row 30] the process mapm-fetch runs under a seccomp filter (1.2)' "$status" '^Seccomp:.2'
ok '[row 7] every output of check --json is valid JSON' python3 -S -c 'import json, os, sys
names = os.listdir(sys.argv[1])
for name in names:
    json.load(open(os.path.join(sys.argv[1], name), encoding="utf-8"))
sys.exit(len(names) < 50)' "$T/json"
done_testing

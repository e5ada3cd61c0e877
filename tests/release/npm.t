#!/bin/sh
# The npm packages, from a registry on loopback.
. "$(dirname "$0")/../lib/release.sh"

needs_artifact "npm/mapm-$VERSION.tgz"
needs_artifact "npm/mapm-linux-*-$VERSION.tgz"
command -v npx >/dev/null || skip_all 'needs npm'
case $(uname -m) in
x86_64) cpu=x64 ;;
*) cpu=arm64 ;;
esac

python3 -S "$ROOT/tests/lib/npm_registry.py" "$T/registry" "$T/asked" "$DIST/npm" &
registry_pid=$!
trap 'kill $registry_pid; leave' EXIT
await test -s "$T/registry"
printf '%s\n' "registry=$(cat "$T/registry")" 'audit=false' 'fund=false' 'update-notifier=false' \
    "cache=$T/npm-cache" 'ignore-scripts=true' >"$HOME/.npmrc"

for file in "$DIST"/npm/*.tgz; do
    tar -xOzf "$file" package/package.json >"$T/package.json"
    is "[S7] ${file##*/} has no scripts" "$(grep -c '"scripts"' "$T/package.json")" 0
    like "the npm package has the version of mapm" "$(cat "$T/package.json")" "\"version\": \"$VERSION\""
done

ok 'the npm package has more than 5 files of licenses' test \
    "$(tar -tzf "$DIST/npm/mapm-linux-$cpu-$VERSION.tgz" | grep -c '^package/share/doc/mapm/licenses/')" -gt 5

exits '[S7] npx mapm --version succeeds' 0 npx --yes mapm --version
is 'npx mapm --version prints the version' "$out" "mapm $VERSION"

mkdir "$T/app" && cd "$T/app" || exit 1
echo '{"private": true}' >package.json
ok '[S7] npm install mapm succeeds' npm install --silent mapm
is 'npm install brings the package of this platform alone' "$(ls node_modules/@mapm)" "linux-$cpu"
installed=$T/app/node_modules/.bin/mapm
exits '[S7] the command passes on exit code 2' 2 "$installed" no-such-command
exits 'the command passes on exit code 1' 1 "$installed" remove nothing
exits 'the command prints the output of mapm' 0 "$installed" star -c 'print(1 + 1)'
cat >input <<'I'
{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
I
is '[S7] the command passes on standard input' "$("$installed" mcp <input | grep -c '"serverInfo"')" 1

# serve: a server that waits for more input, as $node and its child $program.
serve()
{
    rm -f "$T/fifo" "$T/said"
    mkfifo "$T/fifo"
    env --default-signal=INT "$installed" mcp <"$T/fifo" >"$T/said" 2>&1 &
    node=$!
    exec 9>"$T/fifo"
    cat input >&9
    await grep -q serverInfo "$T/said"
    program=$(pgrep -P $node)
}
for signal in INT TERM HUP; do
    serve
    kill -$signal $node
    wait $node
    direct=$?
    exec 9>&-
    not_ok "[S7] SIG$signal ends mapm behind the command" kill -0 "$program"
    is 'the command passes on that mapm ended with 0 after the signal' $direct 0
done
serve
kill -KILL "$program"
wait $node 2>/dev/null
is '[S7] the command ends by a signal when mapm does' $? 137
exec 9>&-

mkdir "$T/without" && cd "$T/without" || exit 1
echo '{"private": true}' >package.json
ok 'npm install --omit=optional mapm succeeds' npm install --silent --omit=optional mapm
exits '[S7] the command without the package of the platform exits with 1' 1 node_modules/.bin/mapm --version
like 'the error names the package that is not installed' "$err" "because: the package @mapm/linux-$cpu is not installed"
like 'the hint names --omit=optional' "$err" 'hint: .*--omit=optional'
echo 'Object.defineProperty(process, "platform", {value: "darwin"});' >darwin.js
exits '[S7] the command on another platform exits with 1' 1 node -r ./darwin.js node_modules/mapm/bin/mapm.js --version
like 'the error on another platform names the supported ones' "$err" 'linux-arm64 and linux-x64'

ok '[S7] npm install -g of both files succeeds without a registry' npm install --silent --prefix "$T/global" -g \
    "$DIST/npm/mapm-$VERSION.tgz" "$DIST/npm/mapm-linux-$cpu-$VERSION.tgz"
is 'the globally installed command prints the version' "$("$T/global/bin/mapm" --version)" "mapm $VERSION"

serve_catalog
cd "$T/ws" || exit 1
quickstart npx "$T/ws" npx --yes mapm
is 'the registry was asked for packages of mapm alone' "$(grep -v -e '^@\?mapm' -e '^-/tarballs/mapm-' "$T/asked" | sort -u)" ''
done_testing

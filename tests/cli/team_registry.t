#!/bin/sh
# The team's store in a registry: what is pushed, who may, and what a registry may do
# wrong. TEAM.md 1.3, 1.4, 1.6. [S2] [S3]
. "$(dirname "$0")/../lib/cli.sh"
for program in docker-registry skopeo umoci openssl; do
    command -v $program >/dev/null || broken "$program is not installed"
done
REGISTRY="python3 -S $ROOT/tests/lib/registry.py"
s=$T/src
U=https://github.com/acme/catalog/tree
servers=
leave_servers()
{
    [ -z "$servers" ] || kill $servers 2>/dev/null
    leave
}
trap leave_servers EXIT

# start_registry NAME [YAML]: sets $port; its storage is $T/NAME, its log $T/NAME.log.
start_registry()
{
    cat >"$T/$1.yml" <<EOF
version: 0.1
log: {accesslog: {disabled: false}, formatter: text}
storage: {filesystem: {rootdirectory: $T/$1}}
http: {addr: "127.0.0.1:0"}
${2-}
EOF
    docker-registry serve "$T/$1.yml" >"$T/$1.log" 2>&1 &
    servers="$servers $!"
    await grep -q 'listening on' "$T/$1.log"
    port=$(sed -n 's/.*listening on 127.0.0.1:\([0-9]*\).*/\1/p' "$T/$1.log" | head -n 1)
}
# start_python READY ARG...: one of registry.py's; sets $port.
start_python()
{
    ready=$1
    shift
    $REGISTRY "$@" 2>"$T/registry.err" &
    servers="$servers $!"
    await test -s "$ready"
    port=$(cat "$ready")
}
# asked NAME METHOD: how many requests of the method that registry had.
asked()
{
    grep -c "\"$2 /v2/" "$T/$1.log"
}
# fresh [LOCK]: an empty machine and a workspace with this lock, and its mapm.yaml.
fresh()
{
    cd "$T" && rm -rf "$T/cold" ws && mkdir ws && cd ws || exit 1
    MAPM_HOME=$T/cold
    [ $# -eq 0 ] || cp "$1/mapm.yaml" "$1/mapm.lock" .
}
# the_job: back to the machine that pushes.
the_job()
{
    cd "$T/job" && MAPM_HOME=$T/mapm
}

skill "$s/skills/base" 'scope: acme'
mkdir -p "$s/skills/base/scripts"
printf '#!/bin/sh\necho hello\n' >"$s/skills/base/scripts/run"
chmod 755 "$s/skills/base/scripts/run"
skill "$s/skills/mid" 'scope: acme' 'dependencies:' '  skills:' "    - $U/main/skills/base"
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool
make_repo acme/catalog "$s"
start_githost
mkdir "$T/job" && the_job || exit 1
exits 'a job installs' 0 mapm install --yes "$U/main/skills/mid" "$U/main/mcps/io.acme_tool.json"

# --- push ------------------------------------------------------------------------

start_registry plain
R=oci://127.0.0.1:$port/acme/mapm D=docker://127.0.0.1:$port/acme/mapm
exits '[S2] what a lock holds is pushed' 0 mapm store push "$R"
is 'an object for each package, one for each proof' "$(printf '%s\n' "$out" | grep -c '^pushed')" 6
is 'one request whether it is there' "$(asked plain HEAD)" 6
is 'and five for a new one: 4 uploads' "$(($(asked plain POST) + $(asked plain PUT)))" 30
requests=$(grep -c '"[A-Z]* /v2/' "$T/plain.log")
exits '[S2] again' 0 mapm store push "$R"
is 'nothing is sent' "$out" ''
is 'one request for each' "$(($(grep -c '"[A-Z]* /v2/' "$T/plain.log") - requests))" 6
exits 'a package by its name' 0 mapm store push --json base "$R"
is 'and its proof' "$(printf '%s\n' "$out" | grep -c '"state": "there"')" 2
exits 'a name that is not installed' 1 mapm store push nothing "$R"

exits '[S2] to a folder' 0 mapm store push --to "$T/folder"
is 'a file for each object' "$(ls "$T/folder" | grep -c '^mapm1p*-[0-9a-f]\{64\}\.tar\.gz$')" 6
before=$(snapshot "$T/folder")
exits 'again' 0 mapm store push --to "$T/folder"
like 'nothing is written' "$err" '0 pushed, 6 there already, 0 failed'
exits 'once more, all of it' 0 mapm store push --force --to "$T/folder"
is '[S2] the same bytes' "$(snapshot "$T/folder")" "$before"
digest=$(sed -n '/name: acme\/base/,/digest:/s/.*digest: sha256://p' mapm.lock)
tag=mapm1-$digest
is 'named by the digest of the lock' "$(tar -tzf "$T/folder/$tag.tar.gz" | tr '\n' ' ')" \
    'SKILL.md scripts/run '
is 'the layer is that file' \
    "$(skopeo inspect --tls-verify=false --format '{{index .Layers 0}}' "$D:$tag")" \
    "sha256:$(sha256sum <"$T/folder/$tag.tar.gz" | cut -d ' ' -f 1)"
ok '[S2] skopeo copies it' skopeo copy -q --src-tls-verify=false "$D:$tag" "oci:$T/oci:base"
ok '[S2] umoci unpacks it' umoci unpack --rootless --image "$T/oci:base" "$T/unpacked"
ok 'and it is the package' diff -r "$T/unpacked/rootfs" "$s/skills/base"
ok 'modes, too' test -x "$T/unpacked/rootfs/scripts/run"

exits 'a web server is no registry' 2 mapm store push https://store.example/mapm
exits 'none is known' 2 mapm store push
exits 'offline' 1 mapm store push --offline "$R"
exits 'a registry that is not there' 1 mapm store push oci://127.0.0.1:9/acme/mapm
like 'is named' "$err" 'cannot push to oci://127.0.0.1:9/acme/mapm'
exits 'it may stand in MAPM_STORE' 0 env MAPM_STORE="https://store.example/x $R" "$MAPM" store push

start_registry crowd
C=oci://127.0.0.1:$port/acme/mapm
for i in 1 2 3 4; do
    mapm store push "$C" >"$T/push.$i" 2>&1 &
    eval "pusher$i=\$!"
done
for i in 1 2 3 4; do
    eval "wait \$pusher$i" || fail "pusher $i"
done
exits '[S2] after four pushers at once all is there' 0 mapm store push -v "$C"
is 'each object' "$(printf '%s\n' "$out" | grep -c '^there')" 6

# --- who may ---------------------------------------------------------------------

openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=test -days 2 -keyout "$T/key.pem" \
    -out "$T/cert.pem" 2>/dev/null
start_python "$T/tokens.port" tokens "$T/key.pem" "$T/cert.pem" "$T/tokens.port" "$T/tokens.log"
realm=http://127.0.0.1:$port/token
start_registry bearer "auth: {token: {realm: '$realm', service: registry, issuer: test, rootcertbundle: $T/cert.pem}}"
B=oci://127.0.0.1:$port/acme/mapm host=127.0.0.1:$port
# login USER: docker's file says USER:pw of the registry.
login()
{
    mkdir -p "$HOME/.docker"
    printf '{"auths":{"%s":{"auth":"%s"}}}\n' "$host" "$(printf '%s' "$1" | base64)" >"$HOME/.docker/config.json"
}
exits '[S3] nobody may push' 4 mapm store push "$B"
like 'the scope is named' "$err" 'no right for repository:acme/mapm:pull,push'
login reader:pw
exits '[S3] a login that may only read' 4 mapm store push "$B"
like 'the scope is named' "$err" 'no right for repository:acme/mapm:pull,push'
like 'and where the login is from' "$err" 'the login from .*/.docker/config.json needs the right to push'
login ci:wrong
exits 'a wrong password' 1 mapm store push "$B"
like 'is named' "$err" 'the password from .*/.docker/config.json was not accepted'
login ci:pw
: >"$T/tokens.log"
exits '[S3] a login that may push' 0 mapm store push "$B"
is 'one token serves all' "$(grep -c . "$T/tokens.log")" 1
unlike 'the password goes to the token server alone' "$(cat "$T/bearer.log")" 'Y2k6cHc='
mkdir -p "$T/bin"
cat >"$T/bin/docker-credential-test" <<'EOF'
#!/bin/sh
cat >"$HELPER_SAW"
echo '{"Username":"ci","Secret":"pw"}'
EOF
chmod 755 "$T/bin/docker-credential-test"
echo "{\"credHelpers\":{\"$host\":\"test\"}}" >"$HOME/.docker/config.json"
exits '[S3] a credential helper' 0 env PATH="$T/bin:$PATH" HELPER_SAW="$T/saw" "$MAPM" store push --force "$B"
is 'is asked for the registry' "$(cat "$T/saw")" "$host"
rm -rf "$HOME/.docker"
token=$($REGISTRY token "$T/key.pem" "$T/cert.pem" repository:acme/mapm:pull,push)
exits '[S3] MAPM_STORE_TOKEN' 0 env MAPM_STORE="$B" MAPM_STORE_TOKEN="$token" "$MAPM" store push --force
exits 'is not for a host that the command line alone names' 4 \
    env MAPM_STORE_TOKEN="$token" "$MAPM" store push --force "$B"
exits 'nor for a second one' 4 \
    env MAPM_STORE="$R $B" MAPM_STORE_TOKEN="$token" "$MAPM" store push --force "$B"
reads=$($REGISTRY token "$T/key.pem" "$T/cert.pem" repository:acme/mapm:pull)
exits 'one that is no good' 1 env MAPM_STORE="$B" MAPM_STORE_TOKEN=wrong "$MAPM" store push --force
like 'is named, not shown' "$err" 'does not accept the login from MAPM_STORE_TOKEN'
unlike 'nowhere is it shown' "$err$out" "wrong"

start_python "$T/liar.port" liar "$T/folder" "$T/liar.port" "$T/liar.log"
L=oci://127.0.0.1:$port
exits 'no password is known' 1 mapm store push "$L/basic/x"
like 'is said' "$err" 'it wants a password, and none is known'
exits 'an upload that is to go elsewhere' 4 mapm store push "$L/elsewhere/x"
like 'is refused' "$err" 'it wants the upload at another place: https://example.org/upload'
mapm store push "$L/hang/x" >"$T/push.out" 2>&1 &
pusher=$!
await grep -q HANG "$T/liar.log"
kill -9 $pusher
wait $pusher 2>/dev/null
ok '[S2] of a push that was killed no tag shows' grep -q 'PUT /v2/hang/x/blobs' "$T/liar.log"
done_testing

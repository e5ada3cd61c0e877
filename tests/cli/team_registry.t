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

# start_registry NAME [YAML] [TLS]: sets $port; its storage is $T/NAME, its log $T/NAME.log.
start_registry()
{
    cat >"$T/$1.yml" <<EOF
version: 0.1
log: {accesslog: {disabled: false}, formatter: text}
storage: {filesystem: {rootdirectory: $T/$1}}
http: {addr: "127.0.0.1:0"${3-}}
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
exits 'install on the pushing machine succeeds' 0 mapm install --yes "$U/main/skills/mid" "$U/main/mcps/io.acme_tool.json"

# --- push ------------------------------------------------------------------------

start_registry plain
R=oci://127.0.0.1:$port/acme/mapm D=docker://127.0.0.1:$port/acme/mapm
exits '[S2] store push of a whole lock to a registry succeeds' 0 mapm store push "$R"
is 'store push pushes an object and a proof for each package' "$(printf '%s\n' "$out" | grep -c '^pushed')" 6
is 'store push asks once for each object whether it is there' "$(asked plain HEAD)" 6
is 'store push sends five upload requests for each new object' "$(($(asked plain POST) + $(asked plain PUT)))" 30
requests=$(grep -c '"[A-Z]* /v2/' "$T/plain.log")
exits '[S2] a second store push succeeds' 0 mapm store push "$R"
is 'a second store push sends no object' "$out" ''
is 'a second store push sends one request for each object' "$(($(grep -c '"[A-Z]* /v2/' "$T/plain.log") - requests))" 6
exits 'store push --json of one package succeeds' 0 mapm store push --json base "$R"
is 'store push of one package covers the package and its proof' "$(printf '%s\n' "$out" | grep -c '"state": "there"')" 2
exits 'store push fails for a package that is not installed' 1 mapm store push nothing "$R"

exits '[S2] store push --to a folder succeeds' 0 mapm store push --to "$T/folder"
is 'store push --to writes a file for each object' "$(ls "$T/folder" | grep -c '^mapm1p*-[0-9a-f]\{64\}\.tar\.gz$')" 6
before=$(snapshot "$T/folder")
exits 'a second store push --to the same folder succeeds' 0 mapm store push --to "$T/folder"
like 'a second store push --to writes nothing' "$err" '0 pushed, 6 there already, 0 failed'
exits 'store push --force --to succeeds' 0 mapm store push --force --to "$T/folder"
is '[S2] store push --force --to writes the same bytes' "$(snapshot "$T/folder")" "$before"
left=$T/folder/.mapm-tmp-0123456789abcdef
echo half >"$left"
exits '[S2] store push --to succeeds while another push holds the folder' 0 flock -s "$T/folder" "$MAPM" store push --to "$T/folder"
ok 'store push --to keeps temporary files of a running push' test -f "$left"
exits '[S2] store push --to succeeds after a push was killed' 0 mapm store push --to "$T/folder"
ok 'store push --to removes temporary files of a killed push' test ! -e "$left"
digest=$(sed -n '/name: acme\/base/,/digest:/s/.*digest: sha256://p' mapm.lock)
tag=mapm1-$digest
is 'an object named by the locked digest holds the files of the package' "$(tar -tzf "$T/folder/$tag.tar.gz" | tr '\n' ' ')" \
    'SKILL.md scripts/run '
is 'the layer in the registry is the file in the folder' \
    "$(skopeo inspect --tls-verify=false --format '{{index .Layers 0}}' "$D:$tag")" \
    "sha256:$(sha256sum <"$T/folder/$tag.tar.gz" | cut -d ' ' -f 1)"
ok '[S2] skopeo copies a package from the registry' skopeo copy -q --src-tls-verify=false "$D:$tag" "oci:$T/oci:base"
ok '[S2] umoci unpacks the copied package' umoci unpack --rootless --image "$T/oci:base" "$T/unpacked"
ok 'the unpacked files are those of the package' diff -r "$T/unpacked/rootfs" "$s/skills/base"
ok 'the unpacked program keeps its executable bit' test -x "$T/unpacked/rootfs/scripts/run"

exits 'store push --to fails for a folder that cannot be created' 1 mapm store push --to /proc/folder
like 'the error names the folder that cannot be written' "$err" '^mapm: cannot write to /proc/folder'
exits 'store push to a web server is a usage error' 2 mapm store push https://store.example/mapm
exits 'store push without a known store is a usage error' 2 mapm store push
exits 'store push --offline fails' 1 mapm store push --offline "$R"
exits 'store push fails when the registry does not answer' 1 mapm store push oci://127.0.0.1:9/acme/mapm
like 'the error names the registry that does not answer' "$err" 'cannot push to oci://127.0.0.1:9/acme/mapm'
exits 'store push takes the registry from MAPM_STORE' 0 env MAPM_STORE="https://store.example/x $R" "$MAPM" store push

# --- pull ------------------------------------------------------------------------

mkdir "$T/later" && echo later >"$s/notes.md"
make_repo acme/catalog "$s"
cd "$T/later" || exit 1
exits 'install of the same content at a later commit succeeds' 0 mapm install --yes "$U/main/skills/mid"
isnt 'the lock has the later commit' "$(grep -m 1 commit: mapm.lock)" "$(grep -m 1 commit: "$T/job/mapm.lock")"
exits '[S2] store push of the later commit succeeds' 0 mapm store push "$R"
is 'store push of the later commit pushes its proofs alone' "$(printf '%s\n' "$out" | cut -d ' ' -f 1-4)" 'pushed  proof of
pushed  proof of'
# offline_host: no git host answers.
offline_host()
{
    stop_githost
    git config --global url.http://127.0.0.1:9/.insteadOf https://github.com/
}
online_host()
{
    git config --global --unset-all url.http://127.0.0.1:9/.insteadOf
    start_githost
}
offline_host
for lock in job later; do
    fresh "$T/$lock"
    gets=$(asked plain GET)
    exits "[S2] install --locked of the lock of the $lock needs no git host" 0 \
        env MAPM_STORE="$R" MAPM_HOME="$T/cold" "$MAPM" install --locked
    at_most 'install --locked sends at most four requests for a package and its proof' "$(($(asked plain GET) - gets))" \
        "$((4 * $(grep -c digest: mapm.lock)))"
    ok 'install --locked places the bytes of the package' diff -r "$s/skills/base" .agents/skills/base
    exits 'verify succeeds after install from the registry' 0 env MAPM_HOME="$T/cold" "$MAPM" verify
done
the_job
exits '[S2] store verify succeeds for a complete registry' 0 mapm store verify "$R"
like 'store verify counts every package as proved' "$err" '^3 packages as mapm.lock says, 0 not'
exits 'store verify exits 3 for an empty registry' 3 mapm store verify "${R}2"
like 'store verify names the package and digest that no store has' "$out" '^failed  skill acme/base: no store has .*, sha256:[0-9a-f]{64}'
like 'store verify names the command that pushes the objects again' "$err" '^mapm store push --force puts them there again$'
exits 'store verify exits 1 when the registry is down' 1 mapm store verify oci://127.0.0.1:1/acme/mapm
like 'the error says that the registry cannot be verified' "$err" 'cannot verify oci://127.0.0.1:1/acme/mapm'
like 'the error says that the registry is skipped after a failed connection' "$err" 'is skipped from now on: .*connect'
layer=$(sha256sum <"$T/folder/$tag.tar.gz" | cut -d ' ' -f 1)
rm -r "$T/plain/docker/registry/v2/blobs/sha256/$(printf %.2s "$layer")/$layer"
exits 'store verify exits 3 when a blob was collected' 3 mapm store verify "$R"
is 'store verify names one package for the missing blob' "$(printf '%s\n' "$out" | grep -c .)" 1
online_host
fresh "$T/job"
exits '[S2] install --locked takes the package of the missing blob from git' 0 \
    env MAPM_STORE="$R" MAPM_HOME="$T/cold" "$MAPM" install --locked
is 'install --locked prints no warning about the missing blob' "$(printf '%s\n' "$err" | grep -c warning)" 0
the_job
exits '[S2] store push --force succeeds when a blob is missing' 0 mapm store push --force "$R"
exits 'store verify --json succeeds after store push --force' 0 mapm store verify --json "$R"
like 'store verify --json names the remote' "$out" '"remote": "oci://'

start_registry crowd
C=oci://127.0.0.1:$port/acme/mapm
for i in 1 2 3 4; do
    mapm store push "$C" >"$T/push.$i" 2>&1 &
    eval "pusher$i=\$!"
done
for i in 1 2 3 4; do
    eval "wait \$pusher$i" || { fail "store push succeeds beside three others (pusher $i)"; diag "$(cat "$T/push.$i")"; }
done
exits '[S2] store push -v succeeds after four pushes at the same time' 0 mapm store push -v "$C"
is 'store push -v finds each object after four pushes at the same time' "$(printf '%s\n' "$out" | grep -c '^there')" 6

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
exits '[S3] store push without a login is refused' 4 mapm store push "$B"
like 'the error of a push without login names the missing scope' "$err" 'no right for repository:acme/mapm:pull,push'
login reader:pw
exits '[S3] store push with a login that may only read is refused' 4 mapm store push "$B"
like 'the error of a reading login names the missing scope' "$err" 'no right for repository:acme/mapm:pull,push'
like 'the hint names the file of the login that needs the right to push' "$err" 'the login from .*/.docker/config.json needs the right to push'
login ci:wrong
exits 'store push with a wrong password fails' 1 mapm store push "$B"
like 'the error names the file of the password that was not accepted' "$err" 'the password from .*/.docker/config.json was not accepted'
login ci:pw
: >"$T/tokens.log"
exits '[S3] store push with a login that may push succeeds' 0 mapm store push "$B"
is 'store push uses one token for all requests' "$(grep -c . "$T/tokens.log")" 1
unlike 'store push sends the password to the token server alone' "$(cat "$T/bearer.log")" 'Y2k6cHc='
mkdir -p "$T/bin"
cat >"$T/bin/docker-credential-test" <<'EOF'
#!/bin/sh
cat >"$HELPER_SAW"
echo '{"Username":"ci","Secret":"pw"}'
EOF
chmod 755 "$T/bin/docker-credential-test"
echo "{\"credHelpers\":{\"$host\":\"test\"}}" >"$HOME/.docker/config.json"
exits '[S3] store push with a credential helper succeeds' 0 env PATH="$T/bin:$PATH" HELPER_SAW="$T/saw" "$MAPM" store push --force "$B"
is 'the credential helper receives the name of the registry' "$(cat "$T/saw")" "$host"
rm -rf "$HOME/.docker"
token=$($REGISTRY token "$T/key.pem" "$T/cert.pem" repository:acme/mapm:pull,push)
exits '[S3] store push with MAPM_STORE_TOKEN succeeds' 0 env MAPM_STORE="$B" MAPM_STORE_TOKEN="$token" "$MAPM" store push --force
exits 'MAPM_STORE_TOKEN is not sent to a host that only the command line names' 4 \
    env MAPM_STORE_TOKEN="$token" "$MAPM" store push --force "$B"
exits 'MAPM_STORE_TOKEN is not sent to the second of two stores' 4 \
    env MAPM_STORE="$R $B" MAPM_STORE_TOKEN="$token" "$MAPM" store push --force "$B"
reads=$($REGISTRY token "$T/key.pem" "$T/cert.pem" repository:acme/mapm:pull)
exits 'store push with a wrong MAPM_STORE_TOKEN fails' 1 env MAPM_STORE="$B" MAPM_STORE_TOKEN=wrong "$MAPM" store push --force
like 'the error names MAPM_STORE_TOKEN as the source of the login' "$err" 'does not accept the login from MAPM_STORE_TOKEN'
unlike 'no output contains the wrong token' "$err$out" "wrong"

the_job
: >"$T/tokens.log"
gets=$(asked bearer GET)
exits '[S3] store verify without a login succeeds' 0 mapm store verify "$B"
is '[S1] store verify uses one token for all requests' "$(grep -c . "$T/tokens.log")" 1
is '[S1] store verify sends one request more than without tokens' "$(($(asked bearer GET) - gets))" \
    "$((4 * $(grep -c digest: mapm.lock) + 1))"
login old:pw
: >"$T/tokens.log"
exits '[S3] store verify succeeds although a token expires' 0 mapm store verify "$B"
is 'store verify asks for a second token after the first expired' "$(grep -c . "$T/tokens.log")" 2
rm -rf "$HOME/.docker"
exits '[S3] store verify with MAPM_STORE_TOKEN succeeds' 0 env MAPM_STORE="$B" MAPM_STORE_TOKEN="$reads" "$MAPM" store verify "$B"

# --- over https ------------------------------------------------------------------

# On this machine a registry is not spoken to over https: by a name, behind a proxy.
openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=test -days 2 -keyout "$T/tls.key" \
    -out "$T/tls.crt" -addext subjectAltName=DNS:registry.test 2>/dev/null
start_registry tls "auth: {token: {realm: '$realm', service: registry, issuer: test, rootcertbundle: $T/cert.pem}}" \
    ", tls: {certificate: $T/tls.crt, key: $T/tls.key}"
start_python "$T/connect.port" connect "$port" "$T/connect.port" "$T/connect.log"
git config --global http.https://registry.test.proxy "http://127.0.0.1:$port"
git config --global http.https://other.test.proxy "http://127.0.0.1:$port"
H=oci://registry.test/acme/mapm
# by_token URL TOKEN COMMAND...
by_token()
{
    to=$1 with=$2
    shift 2
    env MAPM_STORE="$to" MAPM_STORE_TOKEN="$with" "$MAPM" "$@"
}
exits '[S3] store push over https fails for an unknown certificate' 1 by_token "$H" "$token" store push
like 'the error names the certificate' "$err" 'certificate'
git config --global http.sslCAInfo "$T/tls.crt"
exits '[S3] store push over https fails for a certificate of another name' 1 by_token oci://other.test/acme/mapm "$token" store push
unlike '[S3] no request with a token reaches a server with a false certificate' "$(cat "$T/tls.log")" '/v2/'
exits '[S3] store push over https with MAPM_STORE_TOKEN succeeds' 0 by_token "$H" "$token" store push
is 'store push over https pushes every object' "$(printf '%s\n' "$out" | grep -c '^pushed')" 6
exits '[S3] store push over https is refused for a token that may only read' 4 by_token "$H" "$reads" store push --force
offline_host
fresh "$T/job"
exits '[S1] install --locked over https needs no git host on a cold machine' 0 \
    env MAPM_HOME="$T/cold" MAPM_STORE="$H" MAPM_STORE_TOKEN="$reads" "$MAPM" install --locked
same_tree 'install --locked over https places the same files' .agents/skills "$T/job/.agents/skills"
unlike 'the proxy does not see the token' "$(cat "$T/connect.log")" Bearer
git config --global --unset http.sslCAInfo
online_host
the_job

# --- what a registry may do wrong -----------------------------------------------------

start_python "$T/other.port" liar "$T/folder" "$T/other.port" "$T/other.log"
start_python "$T/liar.port" liar "$T/folder" "$T/liar.port" "$T/liar.log"
L=oci://127.0.0.1:$port
# lie HOW REGEX: a cold machine installs all the same; of the remote a line is said.
lie()
{
    fresh "$T/job"
    : >"$T/liar.log"
    exits "[S2] install --locked succeeds with a registry that lies: $1" 0 env MAPM_STORE="$L/$1/x" MAPM_HOME="$T/cold" "$MAPM" install --locked
    like "install reports what the registry sent: $1" "$err" "$2"
    is "install prints the expected number of warnings about the registry: $1" "$(printf '%s\n' "$err" | grep -c '^warning')" "${3-1}"
    same_tree "install places the right files despite the registry: $1" .agents/skills "$T/job/.agents/skills"
    is "install leaves nothing in the transfer folder: $1" "$(ls -A "$T/cold/store/incoming" 2>/dev/null)" ''
}
gone='is skipped from now on'
lie ok '^[0-9]+ packages' 0
lie fast '^[0-9]+ packages' 0
lie gone '^[0-9]+ packages' 0
lie other 'has something else as mapm1-.*: its content is sha256:[0-9a-f]*, and mapm.lock says sha256:' 3
for how in index schema2 schema1 urls two page; do
    lie $how 'has something else as mapm1p?-.*: not a mapm object' 6
done
lie long 'has something else as mapm1p?-.*: it sends more than' 6
lie layer 'its layer is not what its manifest says' 6
lie endless 'it sends more than' 6
lie down "$gone: HTTP 503"
lie busy "$gone: HTTP 429"
host=127.0.0.1:$port
login ci:pw
lie realm-http "$gone: its token server is not asked, as that is not https: http://[^ ]*$"
unlike '[S3] no password is sent to a token server without https' "$(cat "$T/liar.log")" '/token|Basic'
lie stall "$gone"
lie realm-moved "$gone: HTTP 302"
unlike '[S3] a redirect to another token server is not followed' "$(cat "$T/liar.log")" '/token'
lie realm-huge "$gone: it sends more than"
lie realm-page "$gone: the response contains no token"
lie redirect '^[0-9]+ packages' 0
is '[S3] a redirected blob is fetched without the token' \
    "$(sed -n 's,.* /store/[^ ]* ,,p' "$T/other.log" | sort -u)" -
lie basic '^[0-9]+ packages' 0
lie redirect-http "$gone: a redirect to http://example.org/x, not over https"
lie redirect-meta "$gone: its name leads to 169.254.169.254, a private address"
lie redirect-loop "$gone: more than 3 redirects"
lie redirect-manifest 'HTTP 307' 6
rm -rf "$HOME/.docker"
stop_githost
fresh "$T/job"
mkdir -p "$XDG_CONFIG_HOME/mapm"
echo "store: {remote: [$L/gone/x], only: true}" >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits '[S1] install --locked fails with only: true and an empty store' 1 env MAPM_HOME="$T/cold" "$MAPM" install --locked
is 'the error names every digest of the lock' "$(printf '%s\n' "$err" | grep -o 'sha256:[0-9a-f]*' | sort -u)" \
    "$(sed -n 's/.*digest: //p' mapm.lock | sort -u)"
rm "$XDG_CONFIG_HOME/mapm/config.yaml"
the_job

exits 'store push fails without a password for a registry that requires one' 1 mapm store push "$L/basic/x"
like 'the error says that a password is required and none is configured' "$err" 'it requires a password and none is configured'
mkdir "$HOME/.docker" && echo '{"credsStore":"none"}' >"$HOME/.docker/config.json"
exits '[S3] store verify fails when the credential helper of docker is missing' 1 mapm store verify "$L/basic/x"
like '[S3] the error names the credential helper that is not in PATH' "$err" \
    'none is configured \(docker-credential-none is not in PATH; log in with "docker login 127'
rm -r "$HOME/.docker"
exits '[S2] store push tries a busy registry again' 0 mapm store push "$L/shaky/x"
exits 'store push refuses an upload at another host' 4 mapm store push "$L/elsewhere/x"
like 'the error names the other place of the upload' "$err" 'it wants the upload at another place: https://example.org/upload'
mapm store push "$L/hang/x" >"$T/push.out" 2>&1 &
pusher=$!
await grep -q HANG "$T/liar.log"
kill -9 $pusher
wait $pusher 2>/dev/null
ok '[S2] a push is killed after its upload of blobs began' grep -q 'PUT /v2/hang/x/blobs' "$T/liar.log"
not_ok '[S2] a killed push leaves no tag in the registry' grep -q 'PUT /v2/hang/x/manifests' "$T/liar.log"

# --- a proof that is too large ---------------------------------------------------------

rm -rf "$s" && skill "$s/many/wide" 'scope: acme'
(cd "$s/many" && seq -f "$(printf %0200d 0)%04.0f" 1200 | xargs touch)
make_repo acme/wide "$s"
start_githost
mkdir "$T/wide" && cd "$T/wide" || exit 1
exits 'install of a package among a thousand files succeeds' 0 mapm install --yes https://github.com/acme/wide/tree/main/many/wide
exits '[S2] store push succeeds with a proof over 256 KiB' 0 mapm store push "$R"
like 'store push keeps back the proof and gives the reason' "$out" '^kept +proof of skill acme/wide: the proof has more than 256 KiB: it comes from the git host$'
like 'store push pushes the package of the large proof' "$out" '^pushed  skill acme/wide'
before=$(request_log | wc -l)
exits '[S2] store verify succeeds without the large proof' 0 mapm store verify "$R"
is 'store verify says that the large proof comes from the git host' "$out" \
    'kept    proof of skill acme/wide: the proof has more than 256 KiB: it comes from the git host'
like 'store verify counts the package of the large proof as proved' "$err" '^1 package as mapm.lock says, 0 not'
exits '[S9] store verify --json succeeds without the large proof' 0 mapm store verify --json "$R"
is 'store verify --json has the state of both objects and ok: true' "$(printf '%s\n' "$out" | grep -o '"state": "[a-z]*"\|"ok": [a-z]*' | tr '\n' ' ')" \
    '"ok": true "state": "there" "state": "kept" '
exits '[S2] store verify exits 3 for a store without the package' 3 mapm store verify "${R}2"
like 'store verify names the missing package alone' "$out" '^failed  skill acme/wide: no store has the package'
exits 'store verify exits 3 on a machine without the trees of the package' 3 env MAPM_HOME="$T/cold" "$MAPM" store verify "$R"
like 'store verify says that store pull fetches what decides' "$out" 'the proof of .* \(or it is too large for a store: mapm store pull fetches what tells\)$'
is 'store verify sends no request to the git host' "$(request_log | wc -l)" "$before"
fresh "$T/wide"
before=$(request_log | wc -l)
exits '[S2] install --locked succeeds without the large proof in the store' 0 env MAPM_STORE="$R" MAPM_HOME="$T/cold" "$MAPM" install --locked
isnt 'install --locked asks the git host for the large proof' "$(request_log | wc -l)" "$before"
ok 'install --locked places the bytes of the package with the large proof' diff -r "$s/many/wide" .agents/skills/wide
done_testing

#!/bin/sh
# [S7, S8] The static programs of `make dist`: what they are, and an install over TLS and
# HTTP/2 in a root folder that has nothing else.
DIST=${MAPM_DIST:-} VERSION=${MAPM_VERSION:-} # cli.sh takes them away
. "$(dirname "$0")/../lib/cli.sh"

DIST=${DIST:-$ROOT/build/dist} VERSION=${VERSION:-$(sed -n 's/^VERSION := //p' "$ROOT/Makefile")}
archive=mapm-$VERSION-linux-$(uname -m).tar.gz
[ -f "$DIST/$archive" ] || broken "$archive is not built"

json()
{
    printf '%s\n' "$out" | python3 -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1"
}

# --- the archive ----------------------------------------------------------------
ok '[S7] SHA256SUMS has it, and its hash' sh -c 'cd "$1" && grep " $2\$" SHA256SUMS | sha256sum -c --quiet' sh "$DIST" "$archive"
mkdir "$T/chroot"
ok 'it unpacks' tar -C "$T/chroot" --strip-components=1 -xzf "$DIST/$archive"
root=$T/chroot
tar --numeric-owner --full-time -tvzf "$DIST/$archive" >"$T/listing"
is '[S8] files of nobody in particular' "$(awk '{print $2}' "$T/listing" | sort -u)" 0/0
is '[S8] of one time' "$(awk '{print $4, $5}' "$T/listing" | sort -u | wc -l)" 1
is '[S8] of two modes, and folders and links' "$(cut -c 1-10 "$T/listing" | sort -u | tr '\n' ' ')" \
    '-rw-r--r-- -rwxr-xr-x drwxr-xr-x lrwxr-xr-x '
is 'in the order of their names' "$(tar -tzf "$DIST/$archive" | sed 's|/$||' | LC_ALL=C sort -c 2>&1)" ''

for p in bin/mapm libexec/mapm/mapm-fetch libexec/mapm/mapm-cage; do
    readelf -hdlSW "$root/$p" >"$T/elf" 2>&1
    not_ok "[S7] $p needs no library" grep -q '(NEEDED)' "$T/elf"
    not_ok "[S7] $p needs no loader" grep -q INTERP "$T/elf"
    ok "[S7] $p is loaded at any address" grep -q 'Type: *DYN' "$T/elf"
    ok "[S7] $p: relocations are read-only" grep -q GNU_RELRO "$T/elf"
    not_ok "[S7] $p has no executable stack" sh -c 'grep GNU_STACK "$1" | grep -q RWE' sh "$T/elf"
    not_ok "[S7] $p has no symbols" grep -q '\.symtab' "$T/elf"
    not_ok "[S8] $p names no folder that it was built in" \
        sh -c 'strings "$1" | grep -e "$2" -e mapm-packaging' sh "$root/$p" "$ROOT"
done
ok 'a page of the manual' test -s "$root/share/man/man1/mapm-install.1"
ok 'completions' grep -q mapm "$root/share/bash-completion/completions/mapm"
ok '[S9] the schemas' test -s "$root/share/mapm/schemas/output/install.json"
doc=$root/share/doc/mapm
ok '[S7] an SBOM' python3 - "$doc" <<'PYTHON'
import json, os, sys
d = json.load(open(sys.argv[1] + "/sbom.spdx.json"))
names = {p["name"] for p in d["packages"]}
assert d["spdxVersion"] == "SPDX-2.3" and {"mapm", "curl", "libgit2", "libssl-dev", "libc6-dev"} <= names, names
for p in d["packages"]:
    if p["name"] != "mapm":
        assert p["checksums"][0]["checksumValue"] and os.path.getsize(sys.argv[1] + "/licenses/" + p["name"])
PYTHON

# --- alone ------------------------------------------------------------------------
if [ "$(id -u)" -eq 0 ]; then in_root='chroot'; else in_root='unshare -r chroot'; fi
mkdir -p "$root/home" "$root/ws" "$root/tmp" "$root/etc"
# mapm, in a root folder that has nothing but its archive and what a test puts there.
mapm()
{
    # shellcheck disable=SC2086 # words
    env -i HOME=/home PATH="$PATH" LC_ALL=C.UTF-8 ${WITH:-} $in_root "$root" /bin/mapm -C /ws "$@"
}
exits '[S7] the version, in an empty root' 0 mapm version --json
is 'its channel' "$(json 'd["channel"]')" static
is '[S7] its libraries' "$(json '" ".join(x["name"] for x in d["libraries"])')" \
    'curl libgit2 glibc openssl libnghttp2 zlib libhttp-parser libyaml nettle libutf8proc libseccomp libsqlite3 libtommath'
ok 'its commit' python3 -c 'import json,sys; assert len(json.loads(sys.argv[1])["commit"]) >= 40' "$out"
exits '[S7] doctor names them' 0 mapm doctor
like 'as built in' "$out" 'openssl +3\..*built in'
exits '[S9] a new workspace' 0 mapm init new
is 'names the schema for editors' "$(head -n 1 "$root/ws/new/mapm.yaml")" \
    "# yaml-language-server: \$schema=/share/mapm/schemas/mapm.yaml.json"
rm -r "$root/ws/new"

commit=$("$ROOT/tests/githost/commit-folder" "$T/repos/mapm-examples/catalog.git" "$ROOT/examples/catalog")
git -C "$T/repos/mapm-examples/catalog.git" tag v1 "$commit"
start_githost --h2
cp "$GITHOST_CA" "$root/home/ca.pem"
cp "$HOME/.gitconfig" "$root/home/.gitconfig"
agent=https://github.com/mapm-examples/catalog/tree/main/agents/code-reviewer

exits '[S7] without authorities nothing is trusted' 1 mapm install --yes $agent
like 'and the file is named' "$err" 'certificate|ca-certificates'
WITH=SSL_CERT_FILE=/home/ca.pem
exits '[S7] the quickstart installs over TLS' 0 mapm install --yes $agent
ok 'the agent is there' test -s "$root/ws/.agents/agents/code-reviewer/AGENTS.md"
exits 'from the lock' 0 mapm install --locked
exits 'verified' 0 mapm verify
exits 'a program of a metaskill is tested' 0 mapm test test-fix
# /home/.gitconfig again, by the name of the host and with another service in front.
rm -rf "$root/ws" "$root/home/.local" && mkdir "$root/ws"
printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
printf 'hosts: resolve mymachines files dns\npasswd: systemd files\n' >"$root/etc/nsswitch.conf"
sed -i 's|127\.0\.0\.1|localhost|' "$root/home/.gitconfig"
exits '[S7] names are looked up without libraries of this machine' 0 mapm install --yes $agent

# The authorities of another distribution.
rm -rf "$root/ws" "$root/home/.local" && mkdir -p "$root/ws" "$root/etc/pki/tls/certs"
mv "$root/home/ca.pem" "$root/etc/pki/tls/certs/ca-bundle.crt"
WITH=
exits "[S7] the system's authorities are found where Fedora has them" 0 mapm install --yes $agent
stop_githost

# --- on this machine, with commands in a sandbox --------------------------------------
unset GIT_SSL_CAINFO CURL_CA_BUNDLE SSL_CERT_FILE
exits '[S7] the whole quickstart' 0 env MAPM="$root/bin/mapm" "$ROOT/tools/quickstart"
done_testing

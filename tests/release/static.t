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
ok '[S7] SHA256SUMS has the hash of the archive' sh -c 'cd "$1" && grep " $2\$" SHA256SUMS | sha256sum -c --quiet' sh "$DIST" "$archive"
mkdir "$T/chroot"
ok 'the archive unpacks' tar -C "$T/chroot" --strip-components=1 -xzf "$DIST/$archive"
root=$T/chroot
tar --numeric-owner --full-time -tvzf "$DIST/$archive" >"$T/listing"
is '[S8] the files of the archive belong to user and group 0' "$(awk '{print $2}' "$T/listing" | sort -u)" 0/0
is '[S8] the files of the archive have one time' "$(awk '{print $4, $5}' "$T/listing" | sort -u | wc -l)" 1
is '[S8] the archive has two modes of files, folders and links' "$(cut -c 1-10 "$T/listing" | sort -u | tr '\n' ' ')" \
    '-rw-r--r-- -rwxr-xr-x drwxr-xr-x lrwxr-xr-x '
is 'the archive is sorted by name' "$(tar -tzf "$DIST/$archive" | sed 's|/$||' | LC_ALL=C sort -c 2>&1)" ''

for p in bin/mapm libexec/mapm/mapm-fetch libexec/mapm/mapm-cage; do
    readelf -hdlSW "$root/$p" >"$T/elf" 2>&1
    not_ok "[S7] $p needs no library" grep -q '(NEEDED)' "$T/elf"
    not_ok "[S7] $p needs no loader" grep -q INTERP "$T/elf"
    ok "[S7] $p is position independent" grep -q 'Type: *DYN' "$T/elf"
    ok "[S7] $p has read-only relocations" grep -q GNU_RELRO "$T/elf"
    not_ok "[S7] $p has no executable stack" sh -c 'grep GNU_STACK "$1" | grep -q RWE' sh "$T/elf"
    not_ok "[S7] $p has no symbols" grep -q '\.symtab' "$T/elf"
    not_ok "[S8] $p has no path of its build folder" \
        grep -qaF -e "$ROOT" -e mapm-packaging "$root/$p"
done
ok 'the archive has the manual page of install' test -s "$root/share/man/man1/mapm-install.1"
ok 'the archive has the completion of bash' grep -q mapm "$root/share/bash-completion/completions/mapm"
ok '[S9] the archive has the schemas' test -s "$root/share/mapm/schemas/output/install.json"
doc=$root/share/doc/mapm
ok '[S7] the archive has an SBOM with checksums and licenses' python3 - "$doc" <<'PYTHON'
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
exits '[S7] version --json succeeds in an otherwise empty root' 0 mapm version --json
is 'version --json has the channel static' "$(json 'd["channel"]')" static
is '[S7] version --json lists the built-in libraries' "$(json '" ".join(x["name"] for x in d["libraries"])')" \
    'curl libgit2 glibc openssl libnghttp2 zlib libhttp-parser libyaml nettle libutf8proc libseccomp libsqlite3 libtommath'
ok 'version --json has the commit' python3 -c 'import json,sys; assert len(json.loads(sys.argv[1])["commit"]) >= 40' "$out"
exits '[S7] doctor succeeds in an otherwise empty root' 0 mapm doctor
like 'doctor lists openssl as built in' "$out" 'openssl +3\..*built in'
exits '[S9] init of a new workspace succeeds' 0 mapm init new
is 'the new mapm.yaml names the schema for editors' "$(head -n 1 "$root/ws/new/mapm.yaml")" \
    "# yaml-language-server: \$schema=/share/mapm/schemas/mapm.yaml.json"
rm -r "$root/ws/new"

commit=$("$ROOT/tests/githost/commit-folder" "$T/repos/mapm-examples/catalog.git" "$ROOT/examples/catalog")
git -C "$T/repos/mapm-examples/catalog.git" tag v1 "$commit"
start_githost --h2
cp "$GITHOST_CA" "$root/home/ca.pem"
cp "$HOME/.gitconfig" "$root/home/.gitconfig"
agent=https://github.com/mapm-examples/catalog/tree/main/agents/code-reviewer

exits '[S7] install over TLS fails without certificate authorities' 1 mapm install --yes $agent
like 'the error mentions the certificates' "$err" 'certificate|ca-certificates'
WITH=SSL_CERT_FILE=/home/ca.pem
exits '[S7] install of the quickstart over TLS succeeds' 0 mapm install --yes $agent
ok 'the agent of the quickstart is installed' test -s "$root/ws/.agents/agents/code-reviewer/AGENTS.md"
exits 'install --locked of the quickstart succeeds' 0 mapm install --locked
exits 'verify of the quickstart succeeds' 0 mapm verify
exits 'test of a metaskill succeeds' 0 mapm test test-fix
# /home/.gitconfig again, by the name of the host and with another service in front.
rm -rf "$root/ws" "$root/home/.local" && mkdir "$root/ws"
printf '127.0.0.1 localhost\n' >"$root/etc/hosts"
printf 'hosts: resolve mymachines files dns\npasswd: systemd files\n' >"$root/etc/nsswitch.conf"
sed -i 's|127\.0\.0\.1|localhost|' "$root/home/.gitconfig"
exits '[S7] install looks up a host name without libraries of the machine' 0 mapm install --yes $agent

# The authorities of another distribution.
rm -rf "$root/ws" "$root/home/.local" && mkdir -p "$root/ws" "$root/etc/pki/tls/certs"
mv "$root/home/ca.pem" "$root/etc/pki/tls/certs/ca-bundle.crt"
WITH=
exits "[S7] install finds the certificate authorities of Fedora" 0 mapm install --yes $agent
stop_githost

# --- on this machine, with commands in a sandbox --------------------------------------
unset GIT_SSL_CAINFO CURL_CA_BUNDLE SSL_CERT_FILE
exits '[S7] the whole quickstart succeeds with the static program' 0 env MAPM="$root/bin/mapm" "$ROOT/tools/quickstart"
done_testing

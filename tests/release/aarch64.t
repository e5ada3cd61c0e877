#!/bin/sh
# [S7] The programs for aarch64, under qemu-user: what they are, the quickstart, and
# the tests of the command that can run there. qemu-user has no Landlock, no seccomp
# and no user namespaces of its own, so tests of rights and commands cannot, and those
# that count CPU or start their own programs beside mapm would prove nothing.
DIST=${MAPM_DIST:-} VERSION=${MAPM_VERSION:-} # cli.sh takes them away
. "$(dirname "$0")/../lib/cli.sh"

DIST=${DIST:-$ROOT/build/dist} VERSION=${VERSION:-$(sed -n 's/^VERSION := //p' "$ROOT/Makefile")}
archive=mapm-$VERSION-linux-aarch64.tar.gz
[ -f "$DIST/$archive" ] || skip_all "$archive is not built"
qemu=$(command -v qemu-aarch64-static) || skip_all 'qemu-aarch64-static is missing'
# Without those that need what qemu's user mode lacks (runs, star, store, members),
# drive programs of this machine (walk), or load a library into mapm, which is static
# here (renamed).
SUITE='advice agents alias budget bundle catalog catalogs catalog_market catalog_rest check
       check_against check_fix check_graph choose client clients completion diff errors events
       examples flaws fresh gitignore global host hosts import info init link_mode
       listing local locked merge names nested new offline options own patch prereqs
       ranges remove replace search skill team_store tokens tree trust update vendor'

root=$T/arm
mkdir "$root"
ok 'the archive unpacks' tar -C "$root" --strip-components=1 -xzf "$DIST/$archive"
for p in bin/mapm libexec/mapm/mapm-fetch libexec/mapm/mapm-cage; do
    readelf -hdlW "$root/$p" >"$T/elf" 2>&1
    ok "[S7] $p is a program for aarch64" grep -q 'Machine: *AArch64' "$T/elf"
    not_ok "[S7] $p needs no shared library" grep -q '(NEEDED)' "$T/elf"
    ok "[S7] $p is position-independent" grep -q 'Type: *DYN' "$T/elf"
    not_ok "[S8] $p contains no path of its build folder" \
        sh -c 'strings "$1" | grep -e "$2" -e mapm-packaging' sh "$root/$p" "$ROOT"
done
x86=$DIST/mapm-$VERSION-linux-x86_64.tar.gz
[ ! -f "$x86" ] || is 'the archive has the same files as for x86-64' "$(tar -tzf "$DIST/$archive" | sed 's|^[^/]*||')" \
    "$(tar -tzf "$x86" | sed 's|^[^/]*||')"

# Under qemu a program finds itself where it is, and starts a script as this machine does.
wrap()
{
    mv "$1" "$1.aarch64"
    printf '#!/bin/sh\nexec %s %s.aarch64 "$@"\n' "$qemu" "$1" >"$1"
    chmod 755 "$1"
}
wrap "$root/libexec/mapm/mapm-fetch"
wrap "$root/libexec/mapm/mapm-cage"
printf '#!/bin/sh\nexec %s %s/bin/mapm "$@"\n' "$qemu" "$root" >"$root/mapm"
chmod 755 "$root/mapm"
MAPM=$root/mapm
chmod 755 "$T" # tests start it as another user, too
exits '[S7] version --json succeeds under qemu' 0 mapm version --json
like 'version --json names the channel static' "$out" '"channel": "static"'

"$ROOT/tests/githost/commit-folder" "$T/repos/mapm-examples/catalog.git" "$ROOT/examples/catalog" >"$T/commit"
git -C "$T/repos/mapm-examples/catalog.git" tag v1 "$(cat "$T/commit")"
start_githost --h2
exits '[S7] install over TLS succeeds under qemu' 0 mapm install --yes https://github.com/mapm-examples/catalog/tree/main/agents/code-reviewer
exits 'install --locked succeeds under qemu' 0 mapm install --locked
exits 'verify succeeds under qemu' 0 mapm verify
exits 'test of a metaskill succeeds under qemu' 0 mapm test test-fix
stop_githost
unset GIT_SSL_CAINFO CURL_CA_BUNDLE SSL_CERT_FILE

# --- the suite -----------------------------------------------------------------------
for name in $SUITE; do
    test=$ROOT/tests/cli/$name.t
    [ -x "$test" ] || continue
    ok "[S7] tests/cli/$name.t passes under qemu" env MAPM="$MAPM" timeout -k 10 1200 "$test"
done
done_testing

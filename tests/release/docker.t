#!/bin/sh
# The container image: what is in it, and that it runs as its configuration says.
. "$(dirname "$0")/../lib/release.sh"

needs_artifact "mapm-$VERSION-oci-$(uname -m).tar"
archive=$DIST/mapm-$VERSION-oci-$(uname -m).tar
[ "$(id -u)" -eq 0 ] && unshare --mount --pid --fork true 2>/dev/null || skip_all 'needs root, for a chroot'

exits '[S7] the image is unpacked' 0 python3 -S "$ROOT/tests/lib/oci_run.py" unpack "$archive" "$T/image"
layer=$out
for file in bin/mapm libexec/mapm/mapm-fetch libexec/mapm/mapm-cage; do
    like "[S7] the image has $file" "$layer" "^f 755 0:0 $file\$"
done
is 'all but tmp and work in the image belongs to root and is read-only' \
    "$(printf '%s\n' "$layer" | grep -v -e '^[df] 755 0:0 ' -e '^f 644 0:0 ' -e '^? 777 0:0 ')" \
    "d 1777 0:0 tmp
d 1777 0:0 work"
unlike 'the image has no shell' "$layer" ' (usr/)?bin/[a-z]*sh$'
! command -v skopeo >/dev/null || like '[S7] skopeo reads the image' \
    "$(skopeo inspect --config "oci-archive:$archive" 2>&1)" '"Entrypoint": \['
unlike 'the image has no manual pages, schemas or completions' "$layer" ' share/(man|mapm|zsh|fish)/'
at_most 'the image has less than 16 MB' "$(stat -c %s "$archive")" 16000000

in_image()
{
    mkdir -p "$T/image/rootfs/proc"
    unshare --mount --pid --fork sh -c 'mount -t proc proc "$0/rootfs/proc" && exec python3 -S "$@"' \
        "$T/image" "$ROOT/tests/lib/oci_run.py" run "$T/image" "$@"
}
exits '[S7] the image runs mapm --version' 0 in_image --version
is 'the image prints the version of mapm' "$out" "mapm $VERSION"
# Without configuration it trusts the certificates of the image: here those of the host.
serve_catalog
install -d -m 700 -o 65534 -g 65534 "$T/image/rootfs/tmp/home"
install -m 644 "$HOME/.gitconfig" "$T/image/rootfs/tmp/home"
exits '[S7] install in the image fails for a host with an unknown certificate' 1 in_image install --yes "$AGENT"
cp "$GITHOST_CA" "$T/image/rootfs/etc/ssl/certs/ca-certificates.crt"
quickstart 'the image' "$T/image/rootfs/work" in_image
is 'the image runs mapm as a user without rights' "$(stat -c %u "$T/image/rootfs/work/mapm.lock")" 65534
done_testing

#!/bin/sh
# The Debian packages: lintian, and their life in a fresh Debian 12.
. "$(dirname "$0")/../lib/release.sh"

needs_artifact "mapm_$VERSION-*.deb"
command -v lintian >/dev/null || skip_all 'needs lintian'
command -v debootstrap >/dev/null || skip_all 'needs debootstrap'
[ "$(id -u)" -eq 0 ] && unshare --mount --pid --fork true 2>/dev/null || skip_all 'needs root, for a chroot'

exits '[S7] lintian succeeds for all packages' 0 lintian --allow-root --fail-on error,warning "$DIST"/*"_$VERSION-"*.deb
is 'lintian prints nothing' "$out" ''

# --- a fresh Debian 12, kept for a week ---------------------------------------

base=$CACHE/debian-12.tar
root=$T/root
in_debian()
{
    in_root "$root" "$@"
}
if [ -z "$(find "$base" -mtime -7 2>/dev/null)" ]; then
    mkdir -p "$CACHE"
    ok 'debootstrap creates a Debian 12' debootstrap --variant=minbase bookworm "$T/base" http://deb.debian.org/debian
    ok 'the new Debian 12 is saved as an archive' sh -c 'tar -C "$1" --one-file-system -cf "$2.new" . && mv "$2.new" "$2"' sh "$T/base" "$base"
    rm -rf --one-file-system "$T/base"
fi
mkdir "$root"
tar -C "$root" -xf "$base" || broken 'the Debian 12 cannot be unpacked'
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir "$root/debs"
cp "$DIST"/*"_$VERSION-"*.deb "$root/debs"
rm "$root/debs"/*-dbgsym_*
ok 'apt-get update succeeds' in_debian apt-get update -q

# paths: what there is, but for what dpkg and apt keep of themselves.
paths()
{
    (cd "$root" && find . \( -path ./proc -o -path ./dev -o -path ./debs -o -path ./tmp -o -path './var/lib/dpkg' \
        -o -path ./var/lib/apt -o -path ./var/cache -o -path ./var/log -o -path ./ws -o -path ./root \) -prune \
        -o -printf '%y %m %p %l\n' | LC_ALL=C sort)
}
fresh=$(paths)
mapm_package=/debs/$(cd "$root/debs" && echo mapm_*.deb)

# --- its life -----------------------------------------------------------------

ok '[S7] apt installs the package with its dependencies' \
    in_debian apt-get install -q -y --no-install-recommends "$mapm_package"
is 'the installed mapm prints its version' "$(in_debian mapm --version)" "mapm $VERSION"
for file in usr/share/man/man1/mapm-install.1.gz usr/share/bash-completion/completions/mapm \
    usr/share/zsh/vendor-completions/_mapm usr/share/fish/vendor_completions.d/mapm.fish; do
    ok "[S7] the package installs $file" test -f "$root/$file"
done

serve_catalog
cp "$HOME/.gitconfig" "$root/root"
cp "$GITHOST_CA" "$root/ca.pem"
mkdir "$root/ws"
in_ws()
{
    in_debian sh -c 'cd /ws && exec "$@"' sh mapm "$@"
}
quickstart 'a fresh Debian 12 with only the package' "$root/ws" in_ws
ok 'the installed mapm tests a metaskill' in_debian sh -c 'cd /ws && mapm test test-fix'
rm "$root/ca.pem"

ok 'apt purges the package' in_debian apt-get purge -q -y mapm
ok 'apt removes the dependencies of the package' in_debian apt-get autoremove --purge -q -y
left()
{
    paths >"$T/now"
    printf '%s\n' "$1" | LC_ALL=C comm -3 - "$T/now" | grep -v ' \./etc/ld\.so\.cache '
}
is '[S7] purge leaves no file behind' "$(left "$fresh")" ''

# All packages: an older version, with a file that the new one lacks, then this one.
mkdir "$T/old"
for deb in "$root"/debs/*.deb; do
    dpkg-deb -R "$deb" "$T/old/tree"
    package=$(sed -n 's/^Package: //p' "$T/old/tree/DEBIAN/control")
    sed -i "s/$VERSION-[^)]*/0.0.9-1/" "$T/old/tree/DEBIAN/control"
    mkdir -p "$T/old/tree/usr/share/doc/$package"
    echo gone >"$T/old/tree/usr/share/doc/$package/of-old"
    dpkg-deb --root-owner-group -b "$T/old/tree" "$root/tmp/$package.deb" >/dev/null
    rm -r "$T/old/tree"
done
ok '[S7] the packages of an older version are installed' in_debian sh -c 'apt-get install -q -y --no-install-recommends /tmp/*.deb'
is 'the older version is recorded' "$(in_debian dpkg-query -W -f '${Version}' mapm)" 0.0.9-1
ok '[S7] the packages are upgraded' in_debian sh -c 'apt-get install -q -y --no-install-recommends /debs/*.deb'
like 'the new version is recorded' "$(in_debian dpkg-query -W -f '${Version}' mapm)" "^$VERSION-"
is 'the upgrade removes files of the older version' "$(find "$root/usr/share/doc" -name of-old)" ''
cat >"$root/ws/x.c" <<'C'
#include <mapm.h>
#include <mapm/starlark.h>
#include <stddef.h>
int main(void)
{
    struct mapm *m = mapm_open(&(struct mapm_options){.workspace = "."});
    mapm_close(m);
    struct star *s = star_open(NULL);
    star_close(s);
    return !m || !s;
}
C
ok 'a program links with the libraries of the packages' in_debian sh -c 'apt-get install -q -y --no-install-recommends gcc libc6-dev pkg-config &&
    cd /ws && gcc -o x x.c $(pkg-config --cflags --libs mapm starlark) && ./x'
ok '[S7] dpkg removes the packages' in_debian dpkg -r libmapm-dev libstarlark-dev libmapm0 libstarlark0 mapm
is 'the removal leaves no configuration' "$(in_debian dpkg-query -W -f '${db:Status-Abbrev} ${Package}\n' | grep -v ^ii)" ''
ok 'the compiler and its dependencies are removed' in_debian sh -c 'apt-get purge -q -y gcc libc6-dev pkg-config && apt-get autoremove --purge -q -y'
is '[S7] the removal after an upgrade leaves no file behind' "$(left "$fresh")" ''
done_testing

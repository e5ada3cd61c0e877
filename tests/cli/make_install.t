#!/bin/sh
. "$(dirname "$0")/../lib/cli.sh"

# What is built is installed as it is: nothing is compiled here.
BUILD=${MAPM_BUILD:-$ROOT/build}
make_here()
{
    env -u MAKEFLAGS -u MAKELEVEL make -s -C "$ROOT" -o all B="$BUILD" DESTDIR="$T/root" PREFIX=/usr "$@"
}
has_symbols()
{
    readelf -S "$1" | grep -q '\.symtab'
}
has_tables()
{
    readelf -S "$1" | grep -q '\.eh_frame'
}
programs='bin/mapm libexec/mapm/mapm-fetch libexec/mapm/mapm-cage'

# What would be a file of every install at once, and so of none.
touch "$T/before"
ok '[F12] make install succeeds' make_here install
is 'make install writes nothing to the build folder' \
    "$(find "$BUILD" -maxdepth 1 -type f -newer "$T/before")" ''
for p in $programs; do
    ok "[F12] make install installs $p" test -x "$T/root/usr/$p"
    not_ok "[F12] $p has no symbols" has_symbols "$T/root/usr/$p"
    not_ok "[F12] the installed program has no unwind tables" has_tables "$T/root/usr/$p"
done
is '[F12] mapm-engine is a link to mapm' "$(cd "$T/root/usr/libexec/mapm" && readlink -f mapm-engine)" \
    "$(readlink -f "$T/root/usr/bin/mapm")"
ok 'the installed mapm runs' "$T/root/usr/bin/mapm" --version
is '[F12] make install installs no debug file by default' "$(find "$T/root" -name '*.debug')" ''

ok '[F12] make install DEBUG=1 succeeds' make_here install DEBUG=1
for p in $programs; do
    file=$T/root/usr/${p%/*}/.debug/${p##*/}.debug
    not_ok "[F12] DEBUG=1: $p has no symbols" has_symbols "$T/root/usr/$p"
    ok "[F12] DEBUG=1: the installed program has unwind tables" has_tables "$T/root/usr/$p"
    ok "[F12] DEBUG=1: the debug file has the symbols" has_symbols "$file"
    ok '[F12] DEBUG=1: the installed program names its debug file' sh -c 'readelf -p .gnu_debuglink "$1" | grep -q "$2"' sh "$T/root/usr/$p" "${file##*/}"
done

ok '[S7] make install STRIP=true succeeds' make_here install STRIP=true
for p in $programs; do
    ok "[S7] STRIP=true: $p is installed as it was built" cmp "$T/root/usr/$p" "$BUILD/${p##*/}"
done

ok 'make uninstall succeeds' make_here uninstall
is 'make uninstall leaves no file' "$(find "$T/root" -type f)" ''
done_testing

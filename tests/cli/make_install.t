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
ok '[F12] make install' make_here install
is 'writes nothing beside what was built' \
    "$(find "$BUILD" -maxdepth 1 -type f -newer "$T/before")" ''
for p in $programs; do
    ok "[F12] $p is installed" test -x "$T/root/usr/$p"
    not_ok "[F12] $p has no symbols" has_symbols "$T/root/usr/$p"
    not_ok "[F12] nor tables to unwind its stack" has_tables "$T/root/usr/$p"
done
is '[F12] mapm-engine is mapm by another name' "$(cd "$T/root/usr/libexec/mapm" && readlink -f mapm-engine)" \
    "$(readlink -f "$T/root/usr/bin/mapm")"
ok 'the installed program runs' "$T/root/usr/bin/mapm" --version
is '[F12] no debug file unless asked for' "$(find "$T/root" -name '*.debug')" ''

ok '[F12] make install DEBUG=1' make_here install DEBUG=1
for p in $programs; do
    file=$T/root/usr/${p%/*}/.debug/${p##*/}.debug
    not_ok "[F12] DEBUG=1: $p has no symbols either" has_symbols "$T/root/usr/$p"
    ok "[F12] but tables, which debuggers read there" has_tables "$T/root/usr/$p"
    ok "[F12] its symbols stand beside it" has_symbols "$file"
    ok '[F12] and it names them' sh -c 'readelf -p .gnu_debuglink "$1" | grep -q "$2"' sh "$T/root/usr/$p" "${file##*/}"
done

ok '[S7] make install STRIP=true, as for a package that is stripped later' make_here install STRIP=true
for p in $programs; do
    ok "[S7] $p is installed as it was built" cmp "$T/root/usr/$p" "$BUILD/${p##*/}"
done

ok 'make uninstall' make_here uninstall
is 'leaves nothing' "$(find "$T/root" -type f)" ''
done_testing

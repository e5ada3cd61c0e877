#!/bin/sh
# make install gives a C program all it needs to embed Starlark: header, archive,
# shared library, pkg-config file and manual page; the libraries export star_*
# names alone.
. "$(dirname "$0")/../lib/cli.sh"

BUILD=${MAPM_BUILD:-$ROOT/build}
CC=${CC:-cc}
prefix=$T/prefix
lib=$prefix/lib
ok 'make install succeeds with PREFIX' env -u MAKEFLAGS -u MAKELEVEL \
    make -s -C "$ROOT" -o all B="$BUILD" PREFIX="$prefix" install
for f in include/mapm/starlark.h lib/libstarlark.a lib/libstarlark.so lib/libstarlark.so.0 \
    lib/pkgconfig/starlark.pc share/man/man3/starlark.3; do
    ok "make install installs $f" test -f "$prefix/$f"
done

# foreign NM-OPTION FILE: names that are exported and do not begin with star_.
foreign()
{
    nm "$1" --defined-only "$2" | sed -n 's/.* [A-TV-Z] //p' | grep -v '^star_'
}
is 'libstarlark.a exports only names with star_' "$(foreign -g "$lib/libstarlark.a")" ''
is 'libstarlark.so.0 exports only names with star_' "$(foreign -D "$lib/libstarlark.so.0")" ''
declared=$(sed 's|/\*.*\*/||' "$prefix/include/mapm/starlark.h" |
    grep -o '\bstar_[a-z_]*(' | grep -v '(star_' | tr -d '(' | LC_ALL=C sort -u)
exported=$(nm -D --defined-only "$lib/libstarlark.so.0" | sed 's/.* //' | LC_ALL=C sort)
is 'the header declares every exported function' \
    "$(printf '%s\n' "$exported" | while read -r f; do
        printf '%s\n' "$declared" | grep -qx "$f" || echo "$f"
    done)" ''
page=$(cat "$ROOT/man/starlark.3")
is 'starlark.3 has every exported function' "$(printf '%s\n' "$exported" | while read -r f; do
    printf '%s\n' "$page" | grep -q "^\.F[no] $f\b" || echo "$f"
done)" ''

# A program from the installed files alone.
cat >"$T/hello.c" <<'C'
#include <mapm/starlark.h>
#include <stdio.h>
#include <string.h>

static star_value name(struct star *s, void *data)
{
    return star_string(s, data, strlen(data));
}

static const struct star_member members[] = {{"name", name, NULL}, {NULL, NULL, NULL}};
static const struct star_class person = {"person", members, NULL};

static bool print(void *ctx, const char *text, size_t length)
{
    return fwrite(text, 1, length, ctx) == length;
}

int main(void)
{
    static const char text[] = "print('hello ' + world.name)\n";
    struct star_options o = {.print = print, .ctx = stdout};
    struct star *s = star_open(&o);
    struct star_error_info e;
    struct star_program *p;

    if (strcmp(star_version(), STAR_VERSION) != 0)
        return 2;
    star_predeclare(s, "world", star_object(s, &person, "world"));
    p = star_compile(s, "hello.star", text, sizeof text - 1);
    if (!p || !star_run(s, p))
        fputs(star_error_report(s), stderr);
    if (!star_compile(s, "bad.star", "prnt(1)", 7) && star_error_at(s, 0, &e))
        printf("%s:%u:%u: %s\n", e.place.file, e.place.line, e.place.column, e.message);
    star_close(s);
    return 0;
}
C
said='hello world
bad.star:1:1: undefined: prnt'
pc()
{
    env PKG_CONFIG_PATH="$lib/pkgconfig" pkg-config "$@" starlark
}
is 'pkg-config prints the version of mapm' "$(pc --modversion)" "$("$prefix/bin/mapm" --version | grep -o '[0-9][0-9.]*' | sed -n 1p)"
flags=
if nm -D "$lib/libstarlark.so.0" | grep -q __asan_init; then
    flags=-fsanitize=address,undefined
fi
nm "$lib/libstarlark.a" | grep -q __gcov_init && flags="$flags --coverage"
cd "$T" || exit 1
ok 'a program compiles and links with the flags of pkg-config' \
    sh -c "$CC -Wall -Wextra -Werror $flags hello.c \$(PKG_CONFIG_PATH='$lib/pkgconfig' pkg-config --cflags --libs starlark) -o shared"
is 'the program runs with the shared library' "$(LD_LIBRARY_PATH=$lib ./shared)" "$said"
like 'the program needs libstarlark.so.0' "$(readelf -d shared)" 'NEEDED.*\[libstarlark\.so\.0\]'
ok 'the program links with the archive' \
    sh -c "$CC $flags hello.c $(pc --cflags) '$lib/libstarlark.a' $(pc --static --libs-only-l | sed 's/-lstarlark//') -o static"
is 'the static program runs without the shared library' "$(./static)" "$said"
done_testing

# fetch.sh: what the tests of mapm-fetch share, after cli.sh: its driver, and the
# small repository acme/catalog with $main, its commit.

DRIVE=${MAPM_BUILD:-$ROOT/build}/fetch_drive
[ -x "$DRIVE" ] || broken 'fetch_drive is not built'
GH=https://github.com
HELLO=$GH/acme/catalog/tree/main/skills/hello

# drive ARG...: a new incoming folder, the events in $out.
drive()
{
    rm -rf "$T/incoming"
    mkdir "$T/incoming"
    run "$DRIVE" "$@"
}
# want WHAT STATUS REGEX ORIGIN...
want()
{
    what=$1 code=$2 regex=$3
    shift 3
    drive "$T/incoming" "$@"
    is "$what" "$status" "$code"
    like "$what: said so" "$out" "$regex"
}

skill "$T/src/skills/hello"
mkdir -p "$T/src/skills/hello/docs"
head -c 40000 /dev/urandom >"$T/src/skills/hello/docs/data.bin"
skill "$T/src/skills/other"
echo other >"$T/src/skills/other/notes.md"
make_repo acme/catalog "$T/src"
main=$COMMIT

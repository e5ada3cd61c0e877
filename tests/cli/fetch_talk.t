#!/bin/sh
# What mapm and mapm-fetch say to each other: each takes the other for hostile.
# tests/lib/between.py passes it on, and damages one message. THREATS 1.2, [row 30].
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/fetch.sh"

make_repo acme/private "$T/src"
start_githost --token secret --private acme/private
mkdir "$T/fake"
cp "$DRIVE" "$T/fake/fetch_drive"
cp "$ROOT/tests/lib/between.py" "$T/fake/mapm-fetch"
chmod +x "$T/fake/mapm-fetch"
DRIVE=$T/fake/fetch_drive
REAL=${MAPM_BUILD:-$ROOT/build}/mapm-fetch
export REAL
# By a commit that is no tip: its proof, trees and files are asked for.
make_repo acme/catalog "$T/src"
BY_ID=$GH/acme/catalog/tree/$main/skills/hello
PRIVATE=$GH/acme/private/tree/main/skills/hello

# says TYPE HOW WHO ORIGIN: TYPE damaged like that, WHO made no sense.
says()
{
    DAMAGE="$1 $2"
    export DAMAGE
    want "message $1 damaged ($2): the fetch ends with an error" 3 "^ENDED \[failed\] invalid message from $3" "$4"
    unlike "message $1 damaged ($2): no package is complete" "$out" '^DONE'
}

DAMAGE=
export DAMAGE
want 'the fetch succeeds with undamaged messages' 0 '^DONE ' "$BY_ID"
want 'a private repository is not authorized with undamaged messages' 1 'not-authorized' "$PRIVATE"

# options, asks, seen, blobs, trees, proved
for type in 1 2 3 4 5 6; do
    for how in cut more unknown; do
        says $type $how mapm "$BY_ID"
    done
done
# credential
for how in cut more unknown; do
    says 7 $how mapm "$PRIVATE"
done
# hello, event, progress, blobs?, trees?, trees, proved?, proved
for type in 32 33 34 35 36 37 38 39; do
    for how in cut more unknown; do
        says $type $how mapm-fetch "$BY_ID"
    done
done
# credential?
for how in cut more unknown; do
    says 40 $how mapm-fetch "$PRIVATE"
done
done_testing

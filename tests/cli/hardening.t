#!/bin/sh
# [row 30] How the programs were linked, and what they keep out of each other. Of a
# build without sanitizers.
. "$(dirname "$0")/../lib/cli.sh"

FETCH=${MAPM%/*}/mapm-fetch
for program in "$MAPM" "$FETCH"; do
    name=${program##*/}
    like "[row 30] $name loads anywhere" "$(readelf -h "$program")" 'Type: +DYN'
    like "[row 30] $name: relocations are read-only" "$(readelf -lW "$program")" 'GNU_RELRO'
    like "[row 30] $name: all of them at once" "$(readelf -dW "$program")" 'BIND_NOW|NOW'
    unlike "[row 30] $name: no stack is executable" "$(readelf -lW "$program" | grep GNU_STACK)" 'RWE'
    like "[row 30] $name: stack protector" "$(readelf -sW "$program")" '__stack_chk_fail'
    like "[row 30] $name: checked copies" "$(readelf -sW "$program")" '_chk'
done
unlike '[row 30] mapm itself has no parser of what comes from the network' \
    "$(readelf -dW "$MAPM")" 'libcurl|libgit2|libssl'
done_testing

#!/bin/sh
# [row 30] How the programs were linked, and what they keep out of each other. Of a
# build without sanitizers.
. "$(dirname "$0")/../lib/cli.sh"

FETCH=${MAPM%/*}/mapm-fetch
for program in "$MAPM" "$FETCH"; do
    name=${program##*/}
    like "[row 30] $name is position-independent" "$(readelf -h "$program")" 'Type: +DYN'
    like "[row 30] $name has read-only relocations" "$(readelf -lW "$program")" 'GNU_RELRO'
    like "[row 30] $name binds all symbols at start" "$(readelf -dW "$program")" 'BIND_NOW|NOW'
    unlike "[row 30] $name has no executable stack" "$(readelf -lW "$program" | grep GNU_STACK)" 'RWE'
    like "[row 30] $name has a stack protector" "$(readelf -sW "$program")" '__stack_chk_fail'
    like "[row 30] $name uses checked copies" "$(readelf -sW "$program")" '_chk'
done
unlike '[row 30] mapm is not linked with a parser of network data' \
    "$(readelf -dW "$MAPM")" 'libcurl|libgit2|libssl'
done_testing

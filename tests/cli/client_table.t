#!/bin/sh
# The rows of clients/table.c: what other programs read in the file that each
# client gets [H6], and docs/clients.md, which has the same rows.
. "$(dirname "$0")/../lib/cli.sh"

mkdir files
exits 'a file for each client' 0 "$MAPM_BUILD/client_table" files files
printf '%s\n' "$out" >list
is 'is what its shape says' "$(python3 "$ROOT/tests/lib/client_table.py" files <list)" ''
exits 'the table of the documentation' 0 "$MAPM_BUILD/client_table" doc
printf '%s\n' "$out" >table
is 'is that of the code (build/client_table doc)' "$(sed -n '/^| client | known/,/^$/p' "$ROOT/docs/clients.md" |
    sed '/^$/d')" "$(cat table)"
done_testing

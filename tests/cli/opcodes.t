#!/bin/sh
# docs/starlark.md has the table of instructions of starlark/core/code.h.
echo 1..1
root=$(cd "$(dirname "$0")/../.." && pwd)
if difference=$("$root/tools/opcodes" --check); then
    echo 'ok 1 - the table of instructions is documented'
else
    printf '%s\n' "$difference" | sed 's/^/# /'
    echo 'not ok 1 - the table of instructions is documented'
fi

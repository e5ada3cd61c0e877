#!/bin/sh
# Every fuzz target over its saved inputs: each found bug stays found. [row 30]
# Built by `make test`; MAPM_BUILD says where.
cd "$(dirname "$0")" || exit 1
: "${MAPM_BUILD:=../../build}"

set -- fuzz_*.c
[ -f "$1" ] || { printf '1..1\nnot ok 1 - fuzz targets are there\n'; exit 1; }
echo "1..$#"
n=0 bad=0
for source in "$@"; do
    n=$((n + 1)) target=${source%.c}
    inputs=$(find "corpus/$target" -type f 2>/dev/null | sort)
    count=$(printf '%s\n' "$inputs" | grep -c .)
    if [ "$count" -lt 5 ]; then
        echo "not ok $n - $target: $count saved inputs, at least 5 are wanted"
        bad=1
    elif log=$(find "corpus/$target" -type f -exec \
        "$MAPM_BUILD/replay/$target" {} + 2>&1); then
        echo "ok $n - $target: $count inputs"
    else
        echo "not ok $n - $target"
        printf '%s\n' "$log" | tail -n 30 | sed 's/^/# /'
        bad=1
    fi
done
exit $bad

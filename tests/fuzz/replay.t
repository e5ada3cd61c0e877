#!/bin/sh
# Every fuzz target over its saved inputs: each found bug stays found, and each input
# is read as outcomes/TARGET says (`make outcomes` writes it anew). [row 30]
# Built by `make test`; MAPM_BUILD says where.
cd "$(dirname "$0")" || exit 1
: "${MAPM_BUILD:=../../build}"

set -- fuzz_*.c
[ -f "$1" ] || { printf '1..1\nnot ok 1 - fuzz targets are there\n'; exit 1; }
echo "1..$(($# + 1))"
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

# An outcome of another input, under its name.
copy=$(mktemp -d) || exit 1
trap 'rm -rf "$copy"' EXIT
mkdir -p "$copy/corpus/fuzz_range" "$copy/outcomes"
cp corpus/fuzz_range/caret "$copy/corpus/fuzz_range/"
sed -n 's/^any:/caret:/p' outcomes/fuzz_range >"$copy/outcomes/fuzz_range"
n=$((n + 1))
if "$MAPM_BUILD/replay/fuzz_range" "$copy/corpus/fuzz_range/caret" >/dev/null 2>&1; then
    echo "not ok $n - another outcome is noticed"
    bad=1
else
    echo "ok $n - another outcome is noticed"
fi
exit $bad

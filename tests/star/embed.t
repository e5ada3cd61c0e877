#!/bin/sh
# examples/embed: it builds, answers, and survives rules that do not behave.
embed=$MAPM_BUILD/embed
example=$(dirname "$0")/../../examples/embed
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

# is NAME STATUS OUTPUT: of the last run
is() {
    n=$((n + 1))
    if [ "$status" = "$2" ] && printf '%s\n' "$output" | grep -qF -- "$3"; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf '%s\n' "status $status" "$output" | sed 's/^/# /'
    fi
}

run() {
    output=$("$embed" "$1" 2>&1)
    status=$?
}

rules() {
    cat >"$work/rules.star"
    run "$work/rules.star"
}

echo 1..9
run "$example/shipping.star"
is 'the example answers' 0 '{"to":"Zürich","grams":27100,"cents":2535,"currency":"EUR"}'
is 'and prints' 0 'rules say: 27100 g to Zürich'
rules <<'END'
def quote(order):
    return weight("chair")
END
is 'a host function fails' 1 'weight: no such thing: chair'
rules <<'END'
def quote(order):
    return [i for i in range(1 << 40)]
END
is 'memory ends' 1 'memory error'
rules <<'END'
def quote(order):
    for i in range(1 << 40):
        pass
END
is 'steps end' 1 'steps error'
rules <<'END'
def quote(order):
    return qoute
END
is 'a static error' 1 'rules.star:2:12: undefined: qoute'

run "$work/nothing.star"
is 'a file that is not there' 1 'cannot be read'
{ printf 'def quote(order): return 1\n'; head -c 70000 /dev/zero | tr '\0' '#'; } >"$work/long.star"
run "$work/long.star"
is 'a file that is too long' 1 'larger than 64 KiB'

# The header serves C++, too.
if command -v g++ >/dev/null; then
    printf '#include "mapm/starlark.h"\nint main() { star_close(star_open(0)); }\n' >"$work/x.cc"
    output=$(g++ -Wall -Wextra -I"$(dirname "$0")/../../include" -c -o "$work/x.o" "$work/x.cc" 2>&1 &&
        nm -u "$work/x.o")
    status=$?
    is 'C++ finds the names of C' 0 ' star_open'
else
    n=$((n + 1))
    echo "ok $n - C++ # SKIP no g++"
fi

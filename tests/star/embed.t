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

echo 1..6
run "$example/shipping.star"
is 'the example answers' 0 '{"to":"Zürich","grams":27100,"cents":2535}'
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

#!/bin/sh
# mapm star: programs from a file, standard input, the command line and a
# terminal; its limits, its exit codes and what it prints where.
. "$(dirname "$0")/../lib/cli.sh"

cat >hello.star <<'STAR'
def greet(name):
    return "hello, " + name

print(greet("world"))
STAR

# --- where a program comes from ----------------------------------------------------

exits 'a file' 0 mapm star hello.star
is 'prints to standard output' "$out" 'hello, world'
is 'and nothing to standard error' "$err" ''
exits 'standard input' 0 sh -c '"$MAPM" star - <hello.star'
is 'is the same' "$out" 'hello, world'
exits 'standard input that is no terminal' 0 sh -c '"$MAPM" star <hello.star'
is 'needs no dash' "$out" 'hello, world'
exits 'a text' 0 mapm star -c 'print(1 << 70, "é")'
is 'is run' "$out" '1180591620717411303424 é'
exits 'a text after the long name' 0 mapm star --command='print(-1)'
is 'is run, too' "$out" '-1'
exits 'an empty program' 0 mapm star -c ''
is 'prints nothing' "$out$err" ''
printf 'print(4)' >-odd.star
exits 'a file whose name begins with a dash' 0 mapm star -- -odd.star
is 'is run after --' "$out" 4
mkdir sub && cp hello.star sub/a.star
exits 'a file below -C' 0 mapm -C sub star a.star
is 'is found' "$out" 'hello, world'
exits 'json is there' 0 mapm star -c 'print(json.encode({"a": [1, None, True]}))'
is 'and encodes' "$out" '{"a":[1,null,true]}'

# --- errors -------------------------------------------------------------------------

printf 'def f(x):\n    return 1 // x\nprint("before")\nf(0)\n' >bad.star
exits 'a program that fails' 1 mapm star bad.star
is 'prints what it had printed' "$out" 'before'
like 'then the traceback' "$err" '^Traceback \(most recent call last\):'
like 'with the outer place' "$err" '  bad.star:4:2: in <toplevel>'
like 'and the inner one' "$err" '  bad.star:2:14: in f'
like 'and what happened' "$err" '^Error: floored division by zero'
like 'and the line' "$err" 'return 1 // x'
printf 'print(undefined_a)\nprint(undefined_b)\n' >static.star
exits 'a program with static errors' 1 mapm star static.star
is 'prints nothing' "$out" ''
like 'names the first' "$err" '^static.star:1:7: undefined: undefined_a'
like 'and the second' "$err" '^static.star:2:7: undefined: undefined_b'
exits 'load is refused' 1 mapm star -c 'load("a.star", "b")'
like 'and said so' "$err" 'load is not available: programs are hermetic, one file each'
exits 'a file that is not there' 1 mapm star none.star
like 'is named' "$err" 'none.star'
exits 'a folder' 4 mapm star sub
mkfifo pipe
exits 'a pipe' 4 mapm star pipe
like 'is told of standard input' "$err" 'use - and standard input'
exits 'invalid UTF-8 is no crash' 1 sh -c 'printf "x = \377\n" | "$MAPM" star -'

# --- the command line -----------------------------------------------------------------

exits '-c and a file' 2 mapm star -c 'print(1)' hello.star
exits 'two files' 2 mapm star hello.star hello.star
exits '-c without text' 2 mapm star -c
for n in 0 -1 1e9 x 1.5M 64MB '' 99999999999999999999; do
    exits "--max-mem=$n" 2 mapm star --max-mem="$n" hello.star
    [ "$n" = '' ] || exits "--max-steps=$n" 2 mapm star --max-steps="$n" hello.star
done
for n in 0 0.0 .5 1. 1.2345 -1 x '' 99999999999; do
    exits "--timeout=$n" 2 mapm star --timeout="$n" hello.star
done
for n in 500K 1M 1G 70000000; do
    exits "--max-mem=$n" 0 mapm star --max-mem="$n" -c 'print(1)'
done

exits 'too little to begin' 1 mapm star --max-mem=1K -c ''
like 'is told what is enough' "$err" '--max-mem: 256K is enough for small programs'
exits 'which it is' 0 mapm star --max-mem=256K hello.star
exits 'a wrong option of star-serve' 2 "${MAPM_BUILD:-$ROOT/build}/star-serve" --max-what 1
like 'is named' "$err" '^star-serve: --max-what: unknown option'
like 'with what there is' "$err" '^usage: star-serve '
exits 'the official suite without SUITE' 0 env MAPM_BUILD="${MAPM_BUILD:-$ROOT/build}" \
    "$ROOT/tests/star/conformance" ''
like 'asks for it' "$out" 'give SUITE=DIR'

# --- limits -----------------------------------------------------------------------------

exits 'memory' 1 mapm star --max-mem 8M -c 'x = [0] * 10000000'
like 'ends the program' "$err" 'memory'
exits 'garbage' 0 mapm star --max-mem 8M \
    -c 'x = [len("a" * (100000 + i)) for i in range(1000)]'
exits 'steps' 1 mapm star --max-steps 1000 -c '[x for x in range(100000)]'
like 'end it' "$err" 'steps'
exits 'time' 1 mapm star --timeout 0.2 \
    -c '[0 for x in range(1 << 40) if x < 0]'
like 'ends it' "$err" 'time'
exits 'recursion' 1 mapm star -c 'def f(): f()
f()'
like 'is refused' "$err" 'called recursively'

# --- --check and --dis ----------------------------------------------------------------------

exits '--check of a good program' 0 mapm star --check hello.star
is 'runs nothing' "$out$err" ''
exits '--check of a program that would fail' 0 mapm star --check bad.star
exits '--check of a wrong one' 1 mapm star --check static.star
like 'reports all' "$err" '^static.star:2:7: undefined: undefined_b'
exits '--dis' 0 mapm star --dis hello.star
like 'shows instructions' "$out" 'RETURN'
like 'of functions, too' "$out" 'greet'
unlike 'and runs nothing' "$out" '^hello, world'

# --- JSON -------------------------------------------------------------------------------------

exits 'a document' 0 mapm star --json hello.star
is 'has what was printed' "$(printf '%s' "$out" | python3 -S -c '
import json, sys
d = json.load(sys.stdin)
print(d["schema"], d["ok"], repr(d["output"]), d["steps"] > 0, "error" in d)')" \
    "mapm.star/1 True 'hello, world\\n' True False"
exits 'a document of a failure' 1 mapm star --json bad.star
is 'has the place' "$(printf '%s' "$out" | python3 -S -c '
import json, sys
d = json.load(sys.stdin)
e = d["error"]
print(d["ok"], repr(d["output"]), e["code"], e["message"], e["file"], e["line"], e["column"])')" \
    "False 'before\\n' runtime floored division by zero bad.star 2 14"
is 'and nothing is on standard error' "$err" ''

# --- output that cannot be written, and signals ----------------------------------------------

printf 'def f():\n    for i in range(100000):\n        print("a line of text")\nf()\n' >many.star
exits 'a reader that leaves' 1 bash -c 'set -o pipefail; "$MAPM" star many.star | head -n 1'
is 'gets what it wanted' "$out" 'a line of text'
exits 'a full disk' 1 sh -c '"$MAPM" star hello.star >/dev/full'
like 'is said' "$err" 'standard output'
printf 'def f():\n    for i in range(1000000000):\n        pass\nf()\n' >long.star
# (the 15th bit: SIGTERM is caught)
exits 'an interrupted program' 130 sh -c '"$MAPM" star long.star & p=$!
    until grep -q "^SigCgt:.*[4-7c-f]...$" /proc/$p/status; do sleep 0.02; done
    kill -TERM $p; wait $p'
like 'says so' "$err" 'interrupted'

# --- a terminal ----------------------------------------------------------------------------------

python3 -S "$ROOT/tests/lib/star_pty.py" "$MAPM" >"$T/pty" 2>&1
is 'the prompt' "$?" 0
diag "$(cat "$T/pty")"

done_testing

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

exits 'star with a file succeeds' 0 mapm star hello.star
is 'star prints the output of the program to standard output' "$out" 'hello, world'
is 'star prints nothing to standard error' "$err" ''
exits 'star - succeeds with a program on standard input' 0 sh -c '"$MAPM" star - <hello.star'
is 'star - prints the same output' "$out" 'hello, world'
exits 'star without arguments succeeds with a program on standard input' 0 sh -c '"$MAPM" star <hello.star'
is 'star without arguments reads standard input that is not a terminal' "$out" 'hello, world'
exits 'star -c succeeds' 0 mapm star -c 'print(1 << 70, "é")'
is 'star -c prints the output of its text' "$out" '1180591620717411303424 é'
exits 'star --command= succeeds' 0 mapm star --command='print(-1)'
is 'star --command= prints the output of its text' "$out" '-1'
exits 'star with an empty program succeeds' 0 mapm star -c ''
is 'an empty program prints nothing' "$out$err" ''
printf 'print(4)' >-odd.star
exits 'star -- with a file whose name begins with a dash succeeds' 0 mapm star -- -odd.star
is 'the file whose name begins with a dash is run' "$out" 4
mkdir sub && cp hello.star sub/a.star
exits 'star with -C and a file succeeds' 0 mapm -C sub star a.star
is 'the file is found below the folder of -C' "$out" 'hello, world'
exits 'a program with json.encode succeeds' 0 mapm star -c 'print(json.encode({"a": [1, None, True]}))'
is 'json.encode prints JSON' "$out" '{"a":[1,null,true]}'

# --- errors -------------------------------------------------------------------------

printf 'def f(x):\n    return 1 // x\nprint("before")\nf(0)\n' >bad.star
exits 'star with a failing program exits with 1' 1 mapm star bad.star
is 'the output before the failure is printed' "$out" 'before'
like 'the error begins with a traceback' "$err" '^Traceback \(most recent call last\):'
like 'the traceback has the outer place' "$err" '  bad.star:4:2: in <toplevel>'
like 'the traceback has the inner place' "$err" '  bad.star:2:14: in f'
like 'the error has the cause of the failure' "$err" '^Error: floored division by zero'
like 'the traceback has the failing line' "$err" 'return 1 // x'
printf 'print(undefined_a)\nprint(undefined_b)\n' >static.star
exits 'star with static errors exits with 1' 1 mapm star static.star
is 'a program with static errors prints nothing' "$out" ''
like 'the error names the first static error' "$err" '^static.star:1:7: undefined: undefined_a'
like 'the error names the second static error' "$err" '^static.star:2:7: undefined: undefined_b'
exits 'star with load exits with 1' 1 mapm star -c 'load("a.star", "b")'
like 'the error says that load is not available' "$err" 'load is not available: programs are hermetic, one file each'
exits 'star with a missing file exits with 1' 1 mapm star none.star
like 'the error names the missing file' "$err" 'none.star'
exits 'star with a folder exits with 4' 4 mapm star sub
mkfifo pipe
exits 'star with a pipe exits with 4' 4 mapm star pipe
like 'the error of a pipe suggests - and standard input' "$err" 'use - and standard input'
exits 'star with invalid UTF-8 exits with 1' 1 sh -c 'printf "x = \377\n" | "$MAPM" star -'

# --- the command line -----------------------------------------------------------------

exits 'star with -c and a file exits with 2' 2 mapm star -c 'print(1)' hello.star
exits 'star with two files exits with 2' 2 mapm star hello.star hello.star
exits 'star -c without text exits with 2' 2 mapm star -c
for n in 0 -1 1e9 x 1.5M 64MB '' 99999999999999999999; do
    exits "star exits with 2 for --max-mem=$n" 2 mapm star --max-mem="$n" hello.star
    [ "$n" = '' ] || exits "star exits with 2 for --max-steps=$n" 2 mapm star --max-steps="$n" hello.star
done
for n in 0 0.0 .5 1. 1.2345 -1 x '' 99999999999; do
    exits "star exits with 2 for --timeout=$n" 2 mapm star --timeout="$n" hello.star
done
for n in 500K 1M 1G 70000000; do
    exits "star accepts --max-mem=$n" 0 mapm star --max-mem="$n" -c 'print(1)'
done

exits 'star with --max-mem=1K exits with 1' 1 mapm star --max-mem=1K -c ''
like 'the error of a too small --max-mem names a sufficient value' "$err" '--max-mem: 256K is enough for small programs'
exits 'star with the suggested --max-mem succeeds' 0 mapm star --max-mem=256K hello.star
exits 'star-serve with an unknown option exits with 2' 2 "${MAPM_BUILD:-$ROOT/build}/star-serve" --max-what 1
like 'the error of star-serve names the unknown option' "$err" '^star-serve: --max-what: unknown option'
like 'the error of star-serve shows its usage' "$err" '^usage: star-serve '
exits 'the official suite without SUITE succeeds' 0 env MAPM_BUILD="${MAPM_BUILD:-$ROOT/build}" \
    "$ROOT/tests/star/conformance" ''
like 'the official suite without SUITE asks for SUITE=DIR' "$out" 'give SUITE=DIR'

# --- limits -----------------------------------------------------------------------------

exits 'a program beyond --max-mem exits with 1' 1 mapm star --max-mem 8M -c 'x = [0] * 10000000'
like 'the error of --max-mem names memory' "$err" 'memory'
exits 'a program with more garbage than --max-mem succeeds' 0 mapm star --max-mem 8M \
    -c 'x = [len("a" * (100000 + i)) for i in range(1000)]'
exits 'a program beyond --max-steps exits with 1' 1 mapm star --max-steps 1000 -c '[x for x in range(100000)]'
like 'the error of --max-steps names steps' "$err" 'steps'
exits 'a program beyond --timeout exits with 1' 1 mapm star --timeout 0.2 \
    -c '[0 for x in range(1 << 40) if x < 0]'
like 'the error of --timeout names time' "$err" 'time'
exits 'a recursive program exits with 1' 1 mapm star -c 'def f(): f()
f()'
like 'the error says that a function is called recursively' "$err" 'called recursively'

# --- --check and --dis ----------------------------------------------------------------------

exits 'star --check of a correct program succeeds' 0 mapm star --check hello.star
is 'star --check runs nothing' "$out$err" ''
exits 'star --check of a program that fails at run time succeeds' 0 mapm star --check bad.star
exits 'star --check of a program with static errors exits with 1' 1 mapm star --check static.star
like 'star --check reports all static errors' "$err" '^static.star:2:7: undefined: undefined_b'
exits 'star --dis succeeds' 0 mapm star --dis hello.star
like 'star --dis shows instructions' "$out" 'RETURN'
like 'star --dis shows the functions of the program' "$out" 'greet'
unlike 'star --dis runs nothing' "$out" '^hello, world'

# --- JSON -------------------------------------------------------------------------------------

exits 'star --json succeeds' 0 mapm star --json hello.star
is 'star --json has schema, output and steps' "$(printf '%s' "$out" | python3 -S -c '
import json, sys
d = json.load(sys.stdin)
print(d["schema"], d["ok"], repr(d["output"]), d["steps"] > 0, "error" in d)')" \
    "mapm.star/1 True 'hello, world\\n' True False"
exits 'star --json with a failing program exits with 1' 1 mapm star --json bad.star
is 'star --json has the code, message and place of the failure' "$(printf '%s' "$out" | python3 -S -c '
import json, sys
d = json.load(sys.stdin)
e = d["error"]
print(d["ok"], repr(d["output"]), e["code"], e["message"], e["file"], e["line"], e["column"])')" \
    "False 'before\\n' runtime floored division by zero bad.star 2 14"
is 'star --json prints nothing to standard error' "$err" ''

# --- output that cannot be written, and signals ----------------------------------------------

printf 'def f():\n    for i in range(100000):\n        print("a line of text")\nf()\n' >many.star
exits 'star with a reader that closes the pipe exits with 1' 1 bash -c 'set -o pipefail; "$MAPM" star many.star | head -n 1'
is 'the reader gets the lines before it closes the pipe' "$out" 'a line of text'
exits 'star with a full standard output exits with 1' 1 sh -c '"$MAPM" star hello.star >/dev/full'
like 'the error of a full standard output names it' "$err" 'standard output'
printf 'def f():\n    for i in range(1000000000):\n        pass\nf()\n' >long.star
# (the 15th bit: SIGTERM is caught)
exits 'SIGTERM ends a program with exit code 130' 130 sh -c '"$MAPM" star long.star & p=$!
    until grep -q "^SigCgt:.*[4-7c-f]...$" /proc/$p/status; do sleep 0.02; done
    kill -TERM $p; wait $p'
like 'the error says that the program was interrupted' "$err" 'interrupted'

# --- a terminal ----------------------------------------------------------------------------------

python3 -S "$ROOT/tests/lib/star_pty.py" "$MAPM" >"$T/pty" 2>&1
is 'star on a terminal behaves as the script of the prompt expects' "$?" 0
diag "$(cat "$T/pty")"

done_testing

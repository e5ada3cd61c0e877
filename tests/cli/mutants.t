#!/bin/sh
# tools/mutants itself, on a module of one file: what tests notice is killed, what
# they do not survives, what is the same code is no mutant, what a mutant leaves
# behind does not fail the test of another, tests that do not enter its function do not
# run, and sanitizers see what gives no other answer ([F2]). The mutants of mapm take too long for this: `make mutants`.
. "$(dirname "$0")/../lib/cli.sh"

mkdir -p m tests/unit tests/mutants build/unit
cat >m/a.c <<'X'
#include <stdbool.h>

bool is_small(int n);
bool is_dull(int n);

bool is_small(int n)
{
    return n >= 0 && n < 10;
}

bool is_dull(int n)
{
    return n == 7;
}
X
cat >tests/unit/a_test.c <<'X'
#include <stdbool.h>
#include <stdio.h>
bool is_small(int n);
bool is_dull(int n);
int main(void)
{
    bool ok = is_small(0) && is_small(9) && !is_small(10) && !is_small(-1);
    ok = ok && !fopen("left", "r");
    if (!ok)
        fopen("left", "w");
    (void)is_dull;
    puts(ok ? "ok 1\n1..1" : "not ok 1\n1..1");
    return !ok;
}
X
# It enters nothing of the module, and says how often it ran.
cat >tests/unit/b_test.c <<'X'
#include <stdio.h>
int main(void)
{
    FILE *f = fopen(RAN, "a");
    fputs("x", f);
    puts("ok 1\n1..1");
    return fclose(f);
}
X
cat >Makefile <<'X'
build/m/%.o: m/%.c
	@mkdir -p build/m && cc $(CFLAGS) -c -o $@ $<
build/unit/a_test: build/m/a.o tests/unit/a_test.c
	@mkdir -p build/unit && cc $(CFLAGS) -o $@ tests/unit/a_test.c build/m/a.o $(LDLIBS)
build/unit/b_test: tests/unit/b_test.c
	@mkdir -p build/unit && cc $(CFLAGS) -DRAN='"$(RAN)"' -o $@ $< $(LDLIBS)
X
echo 'm: m | unit/a_test unit/b_test' >tests/mutants/modules
mutants()
{
    "$ROOT/tools/mutants" --root . --make "make CFLAGS=-O2 RAN=$T/ran" "$@"
}

exits '[F2] mutants fails with a function that no test covers' 1 mutants --count 100 --seed 1 -v
like '[F2] a changed bound is killed by the test' "$out" '^killed by unit/a_test: m/a.c:8: '
like '[F2] a change in the untested function survives' "$out" '^survived: m/a.c:13: == becomes !='
like '[F2] the summary has the numbers of killed and all mutations' "$out" '^m: [1-9][0-9]* of [1-9][0-9]* random mutations killed, [0-9]+ % \(seed 1\)$'
is '[F2] a test that enters nothing of the module runs once' "$(cat "$T/ran")" x
first=$out
exits '[F2] mutants with the same seed fails again' 1 mutants --count 100 --seed 1 -v
is '[F2] the same seed gives the same mutants' "$out" "$first"
cp m/a.c named.c
sed -i 's/^bool is_small(int n);/bool is_little(int n) __asm__("is_small");/; s/^bool is_small(int n)$/bool is_little(int n)/' m/a.c
exits '[F2] mutants fails with a function renamed since the record' 1 mutants --count 100 --seed 1 -v
is '[F2] a renamed function is tested by the tests of its file' "$out" "$first"
mv named.c m/a.c
cat >tests/mutants/accepted <<'X'
m/a.c
    - return n == 7;
    + return n != 7;
    = nobody asks for it
m/a.c
    - return n == 7;
    + return n == 8;
    = the same
X
exits '[F2] mutants with accepted survivors succeeds' 0 mutants --count 100 --seed 1 -v
unlike '[F2] accepted survivors are not reported' "$out" 'survived'
printf '%s\n' 'id: upper-bound' 'module: m' 'file: m/a.c' 'old: && n <' '    10' 'new:' '' \
    'id: dull' 'module: m' 'file: m/a.c' 'old: n == 7' 'new: n > 6' >tests/mutants/listed
exits '[F2] mutants fails with a listed mutation that survives' 1 mutants --only-listed
like '[F2] the listed mutation that survives is reported' "$out" '^survived: m/a.c:13: dull: listed'
like '[F2] the summary counts the listed mutations' "$out" '^m: 1 of 2 listed mutations killed$'
printf '%s\n' '' 'id: lower-bound' 'module: other' 'file: m/a.c' 'old: n >= 0 &&' 'new:' 'tests: unit/a_test' '' \
    'id: wrong-type' 'module: other' 'file: m/a.c' 'old: n == 7' 'new: n == ""()' 'tests: unit/a_test' >>tests/mutants/listed
exits '[F2] mutants fails with a listed mutation that does not compile' 1 mutants --only-listed --module other
like '[F2] the mutation that does not compile is reported' "$out" '^does not compile: m/a.c:13: wrong-type: listed'
like '[F2] a listed mutation of another module is killed' "$out" '^other: 1 of 2 listed mutations killed$'
exits '[F2] mutants --check fails with a listed mutation that no longer fits' 1 sh -c "sed -i 's/n == 7/n == 6/' m/a.c && '$ROOT/tools/mutants' --root . --check"
like '[F2] the error names the listed mutation without its text' "$err" '^mutants: dull: m/a.c has its text 0 times$'
like '[F2] the error names the accepted mutation without its text' "$err" '^mutants: accepted: m/a.c no longer has "return n == 7;"'
exits '[F2] mutants --check fails with an absent test in the modules' 1 sh -c "echo 'o: m | unit/a_test unit/none_test' >>tests/mutants/modules && '$ROOT/tools/mutants' --root . --check"
like '[F2] the error names the absent test' "$err" '^mutants: no test unit/none_test$'
sed -i /none_test/d tests/mutants/modules
ok '[F2] mutants restores the sources' grep -q 'n >= 0 && n < 10' m/a.c

# What reads behind an array gives no other answer, but sanitizers see it.
cat >m/a.c <<'X'
int sum(const int *p, int n);

int sum(const int *p, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++)
        sum += p[i];
    return sum;
}
X
cat >tests/unit/a_test.c <<'X'
#include <stdio.h>
int sum(const int *p, int n);
int main(void)
{
    static const int three[4] = {1, 2, 3};
    int *p = (int[]){1, 2, 3};
    int ok = sum(three, 3) == 6 && sum(p, 3) > 0;
    puts(ok ? "ok 1\n1..1" : "not ok 1\n1..1");
    return !ok;
}
X
echo 'm: m | unit/a_test' >tests/mutants/modules
rm -f tests/mutants/listed tests/mutants/accepted
exits '[F2] mutants without sanitizers fails for a read behind an array' 1 mutants --count 100 --seed 3 -v
like '[F2] the read behind an array survives without sanitizers' "$out" '^survived: m/a.c:7: < becomes <='
sed -i 's/cc /cc $(SAN:%=-fsanitize=% -fno-sanitize-recover) /' Makefile
echo 'san:' >>Makefile
exits '[F2] mutants with sanitizers succeeds for a read behind an array' 0 mutants --count 100 --seed 3 -v
like '[F2] the read behind an array is killed under sanitizers' "$out" '^killed by unit/a_test under sanitizers: m/a.c:7: < becomes <='
done_testing

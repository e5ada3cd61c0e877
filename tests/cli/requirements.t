#!/bin/sh
# Every rule of a finished part is named by a test: docs/requirements.md. And
# tools/requirements notices when one is not.
. "$(dirname "$0")/../lib/cli.sh"
requirements=$ROOT/tools/requirements

run "$requirements"
is 'every row has a test that names it' "$status" 0
[ "$status" -eq 0 ] || diag "$(printf '%s\n' "$out" | grep -v '^ok')"

# --- this checkout, without one id --------------------------------------------------

mkdir -p "$T/copy/docs" && cp "$ROOT/docs/requirements.md" "$ROOT/docs/plugins.md" "$T/copy/docs" &&
    (cd "$ROOT" && find tests bench/plugins -type f -size -200k ! -path 'tests/fuzz/corpus/*' \
        ! -path '*/json/*' | tar -cf - -T -) | tar -xf - -C "$T/copy"
chmod -R u+w "$T/copy"
exits 'a copy of the checkout is accepted' 0 "$requirements" "$T/copy"
# without ID REPLACEMENT: in each pair of brackets of each test.
without()
{
    rm -rf "$T/less" && cp -r "$T/copy" "$T/less"
    grep -rlF "$1" "$T/less/tests" | xargs sed -i -E ":again
        s/\[(([^][]*, )?)$1(, [^][]*)?\]/[\1X0\3]$2/; t again
        s/X0, //g; s/(, )?X0\]/]/g; s/\[\]//g"
    run "$requirements" "$T/less"
}
for id in M13 'row 28' X27 V61 W9; do
    without "$id" ''
    is "without $id: the tool fails" "$status" 1
    is "without $id in its brackets: the report names it" "$(printf '%s\n' "$out" | grep '^not ok' | sed 's/^not ok [0-9]* - //')" \
        "$id: no test names it"
    without "$id" " $id: ($id)"
    is "$id outside of brackets alone: the tool fails" "$status" 1
done

# --- small ones -----------------------------------------------------------------------

rm -rf "$T/copy" "$T/less"
mkdir -p "$T/copy/docs" "$T/copy/tests/mcp" "$T/copy/tests/fuzz/corpus/x"
printf '%s\n' '| id | rule | part |' '| --- | --- | --- |' '| F1 | a | install |' \
    '| K2 | b | run |' '| row 3 | c | library |' '| row 4 | d | later |' >"$T/copy/docs/requirements.md"
# judged STATUS TEXT WHAT: with a test that says so.
judged()
{
    printf '%s\n' "$2" >"$T/copy/tests/mcp/one.t"
    exits "$3" "$1" "$requirements" "$T/copy"
}
judged 0 '# [F1, K2] and [row 3]' 'two in one pair of brackets'
judged 0 '# [row 3, F1]: x[0] [K2]' 'other brackets'
judged 1 '# [F1], K2, [row 3]' 'one without'
judged 1 '# (F1) [K2] [row 3]' 'other signs'
judged 1 '# [F1] [K2] row 3: text' 'the rows of other tables'
judged 1 '# [F1] [K2] rows 3, 4' 'rows of other tables'
judged 1 '# [F1] [K2] [row 3] [K9]' 'an id that no row has'
like 'the report names the place of an unknown id' "$out" '^# tests/mcp/one\.t:1: no row is called K9$'
for text in '[rows 3, 4]' '[row 3, 4]' '[Row 3]' '[F1 to F3]' '[F1-F3]' '[F1; K2]' '[F1,K2]'; do
    judged 1 "# [F1] [K2] [row 3] $text" "not in full: $text"
    like "the report asks for ids in full: $text" "$out" 'each id is written in full'
done
printf '[F1, K2, row 3]\n' >"$T/copy/tests/fuzz/corpus/x/1"
judged 1 'nothing' 'data are no tests'
done_testing

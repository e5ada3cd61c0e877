#!/bin/sh
# The graph of what is installed, both ways, and one package of it. [D21].
. "$(dirname "$0")/../lib/cli.sh"
s=$T/src
U=https://github.com/acme/catalog/tree/main/skills

exits '[D21] an empty workspace' 0 mapm tree
like '[D21] is told' "$err" '^nothing is installed in '
skill "$s/skills/base" 'scope: acme'
skill "$s/skills/left" 'scope: acme' 'dependencies:' '  skills:' "    - $U/base"
skill "$s/skills/right" 'scope: acme' 'dependencies:' '  skills:' "    - $U/base"
skill "$s/skills/top" 'scope: acme' 'dependencies:' '  skills:' "    - $U/left" "    - $U/right"
make_repo acme/catalog "$s"
start_githost
exits 'a diamond' 0 mapm install acme/catalog/skills/top

is '[D21] why has every way' "$(mapm why base)" \
    'skill acme/top -> skill acme/left -> skill acme/base
skill acme/top -> skill acme/right -> skill acme/base'
is '[D21] for programs, too' "$(mapm why --json base | grep -c '"name": "acme/top"')" 2
is '[D21] of a root itself' "$(mapm why top)" 'skill acme/top'
is '[D21] --invert' "$(mapm tree --invert base | tr -d '\n' | sed 's/[^a-z ./0-9(*)]//g')" \
    'skill acme/base 1.0.0 skill acme/left 1.0.0    skill acme/top 1.0.0 skill acme/right 1.0.0     skill acme/top 1.0.0'
is '[D21] without a name from what needs nothing' "$(mapm tree --invert)" "$(mapm tree --invert base)"
is '[D21] --depth 0' "$(mapm tree --depth 0)" 'skill acme/top 1.0.0'
is '[D21] --depth 1' "$(mapm tree --depth 1 | wc -l)" 3
is '[D21] one package' "$(mapm tree skill left | head -n 1)" 'skill acme/left 1.0.0'
exits '[D21] no number' 2 mapm tree --depth x
exits '[D21] a name that is not there' 1 mapm tree nope
exits '[D21] the whole graph has no depth' 2 mapm tree --json --depth 1
exits '[D21] nor a direction' 2 mapm tree --dot --invert

exits '[D21] list of one' 0 mapm list left
like '[D21] is that one' "$out" '^skill acme/left '
is '[D21] alone' "$(printf '%s\n' "$out" | wc -l)" 1
is '[D21] for programs, too' "$(mapm list --json skill left | grep -c '"digest"')" 1
exits '[D21] or of none' 1 mapm list nope

# 2^10 ways
rm -rf "$T/ws" && mkdir "$T/ws" && cd "$T/ws" || exit 1
skill "$T/w/l0"
for i in 1 2 3 4 5 6 7 8 9 10; do
    skill "$T/w/l$i" 'version: 1.0.0' 'scope: w' 'dependencies:' '  skills:' \
        "    - file:$T/w/a$i" "    - file:$T/w/b$i"
    for x in a b; do
        skill "$T/w/$x$i" 'version: 1.0.0' 'scope: w' 'dependencies:' '  skills:' \
            "    - file:$T/w/l$((i - 1))"
    done
done
exits 'many ways' 0 mapm install "$T/w/l10"
exits '[D21] why of the last' 0 mapm why l0
is '[D21] has no more than a hundred' "$(printf '%s\n' "$out" | wc -l)" 100
like '[D21] and says so' "$err" 'more ways than these 100'
done_testing

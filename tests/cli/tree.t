#!/bin/sh
# The graph of what is installed, both ways, and one package of it. [D21].
. "$(dirname "$0")/../lib/cli.sh"
s=$T/src
U=https://github.com/acme/catalog/tree/main/skills

exits '[D21] tree succeeds in an empty workspace' 0 mapm tree
like '[D21] tree says that nothing is installed' "$err" '^nothing is installed in '
skill "$s/skills/base" 'scope: acme'
skill "$s/skills/left" 'scope: acme' 'dependencies:' '  skills:' "    - $U/base"
skill "$s/skills/right" 'scope: acme' 'dependencies:' '  skills:' "    - $U/base"
skill "$s/skills/top" 'scope: acme' 'dependencies:' '  skills:' "    - $U/left" "    - $U/right"
make_repo acme/catalog "$s"
start_githost
exits 'install of a diamond of dependencies succeeds' 0 mapm install acme/catalog/skills/top

is '[D21] why prints every way to the package' "$(mapm why base)" \
    'skill acme/top -> skill acme/left -> skill acme/base
skill acme/top -> skill acme/right -> skill acme/base'
is '[D21] why --json has every way to the package' "$(mapm why --json base | grep -c '"name": "acme/top"')" 2
is '[D21] why of a root prints the root alone' "$(mapm why top)" 'skill acme/top'
is '[D21] tree --invert prints what needs the package' "$(mapm tree --invert base | tr -d '\n' | sed 's/[^a-z ./0-9(*)]//g')" \
    'skill acme/base 1.0.0 skill acme/left 1.0.0    skill acme/top 1.0.0 skill acme/right 1.0.0     skill acme/top 1.0.0'
is '[D21] tree --invert starts at packages without dependencies' "$(mapm tree --invert)" "$(mapm tree --invert base)"
is '[D21] tree --depth 0 prints the roots alone' "$(mapm tree --depth 0)" 'skill acme/top 1.0.0'
is '[D21] tree --depth 1 prints the roots and their dependencies' "$(mapm tree --depth 1 | wc -l)" 3
is '[D21] tree of one package starts at that package' "$(mapm tree skill left | head -n 1)" 'skill acme/left 1.0.0'
exits '[D21] tree --depth with a word is a usage error' 2 mapm tree --depth x
exits '[D21] tree fails for an unknown name' 1 mapm tree nope
exits '[D21] tree --json with --depth is a usage error' 2 mapm tree --json --depth 1
exits '[D21] tree --dot with --invert is a usage error' 2 mapm tree --dot --invert

exits '[D21] list of one package succeeds' 0 mapm list left
like '[D21] list of one package prints that package' "$out" '^skill acme/left '
is '[D21] list of one package prints a single line' "$(printf '%s\n' "$out" | wc -l)" 1
is '[D21] list --json of one package has one entry' "$(mapm list --json skill left | grep -c '"digest"')" 1
exits '[D21] list fails for an unknown name' 1 mapm list nope

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
exits 'install of packages with 1,024 ways succeeds' 0 mapm install "$T/w/l10"
exits '[D21] why succeeds for a package with 1,024 ways' 0 mapm why l0
is '[D21] why prints at most a hundred ways' "$(printf '%s\n' "$out" | wc -l)" 100
like '[D21] why says that there are more ways' "$err" 'more ways than these 100'
done_testing

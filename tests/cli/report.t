#!/bin/sh
# What a command says of the packages that it changes: each of them, or a number
# for a repository. [D4].
. "$(dirname "$0")/../lib/cli.sh"
s=$T/src
U=https://github.com/acme/catalog/tree

version()
{
    skill "$s/skills/base" 'scope: acme' "version: $1"
    make_repo acme/catalog "$s"
}
# json_of EXPRESSION: of the document in $out.
json_of()
{
    printf '%s\n' "$out" | python3 -S -c "import json, sys
d = json.load(sys.stdin)
print($1)"
}

version 1.0.0
skill "$T/other/skills/far" 'scope: beta'
make_repo beta/tools "$T/other"
start_githost
exits 'two packages' 0 mapm install "$U/main/skills/base" beta/tools/skills/far
mkdir "$T/one" && cp mapm.yaml mapm.lock "$T/one"
version 1.1.0
exits 'an update' 0 mapm update base
like '[D4] with both versions' "$out" '~ skill acme/base 1\.0\.0 \([0-9a-f]*\) -> 1\.1\.0'
exits 'a removal' 0 mapm remove far
like '[D4] with the version' "$out" '^  - skill beta/far 1\.0\.0$'
mkdir "$T/two" && cp mapm.yaml mapm.lock "$T/two"

# --- the lock moved, the workspace did not ---------------------------------------------

cp "$T/one/mapm.yaml" "$T/one/mapm.lock" .
exits '[D4] a branch with an older lock' 0 mapm install --dry-run --json
is '[D4] is an update and an addition' \
    "$(json_of 'sorted((p["name"], p["action"], p.get("old_version"), p["version"]) for p in d["packages"])')" \
    "[('acme/base', 'update', '1.1.0', '1.0.0'), ('beta/far', 'add', None, '1.0.0')]"
is '[D4] as the changes are' \
    "$(json_of 'sorted((c["action"], c["path"]) for c in d["changes"] if c["path"].startswith(".agents/skills"))')" \
    "[('add', '.agents/skills/far'), ('update', '.agents/skills/base')]"
exits '[D4] for people, too' 0 mapm install
like '[D4] the versions' "$out" '~ skill acme/base 1\.1\.0 -> 1\.0\.0'
like '[D4] what is new' "$out" '\+ skill beta/far 1\.0\.0'
cp "$T/two/mapm.yaml" "$T/two/mapm.lock" .
exits '[D4] and back' 0 mapm install
like '[D4] the versions again' "$out" '~ skill acme/base 1\.0\.0 -> 1\.1\.0'
like '[D4] what no lock has any more' "$out" '^  - skill beta/far 1\.0\.0$'

# --- repair ---------------------------------------------------------------------------

rm .agents/skills/base/SKILL.md
exits '[D4] a file that is gone' 0 mapm install --json
is '[D4] is a repair' "$(json_of '[(p["name"], p["action"]) for p in d["packages"]]')" "[('acme/base', 'repair')]"
rm -r .agents/skills/base
exits '[D4] so is a folder' 0 mapm install
like '[D4] named as one' "$out" '~ skill acme/base 1\.1\.0 .*\(repaired\)'
exits 'then' 0 mapm install
like '[D4] nothing is to do' "$err" 'nothing to do'
is '[D4] and nothing is listed' "$out" ''

# --- many -----------------------------------------------------------------------------

for i in $(seq 1 21); do
    skill "$T/many/skills/s$i" 'scope: many'
done
make_repo acme/many "$T/many"
rm -rf "$T/ws" && mkdir "$T/ws" && cd "$T/ws" || exit 1
exits 'many' 0 mapm install --dry-run --all acme/many
is '[D4] are one line' "$(printf '%s\n' "$out" | grep '^  ')" '  + 21 packages of acme/many added'
exits 'many' 0 mapm install --dry-run -v --all acme/many
is '[D4] with -v one line each' "$(printf '%s\n' "$out" | grep -c '^  + skill many/s')" 21
exits 'many' 0 mapm install --json --all acme/many
is '[D4] for programs, too' "$(json_of 'len(d["packages"])')" 21
rm -rf .agents/skills/*
exits 'all gone' 0 mapm install
is '[D4] are one line' "$(printf '%s\n' "$out" | grep '^  ')" '  ~ 21 packages of acme/many repaired'
exits 'twenty' 0 mapm install --dry-run acme/many --all --skip s1
done_testing

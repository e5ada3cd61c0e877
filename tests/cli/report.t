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
exits 'install of two packages succeeds' 0 mapm install "$U/main/skills/base" beta/tools/skills/far
mkdir "$T/one" && cp mapm.yaml mapm.lock "$T/one"
version 1.1.0
exits 'update of one package succeeds' 0 mapm update base
like '[D4] update reports the old and the new version' "$out" '~ skill acme/base 1\.0\.0 \([0-9a-f]*\) -> 1\.1\.0'
exits 'remove of one package succeeds' 0 mapm remove far
like '[D4] remove reports the version of the removed package' "$out" '^  - skill beta/far 1\.0\.0$'
mkdir "$T/two" && cp mapm.yaml mapm.lock "$T/two"

# --- the lock moved, the workspace did not ---------------------------------------------

cp "$T/one/mapm.yaml" "$T/one/mapm.lock" .
exits '[D4] install --dry-run --json with an older lock succeeds' 0 mapm install --dry-run --json
is '[D4] install --json with an older lock reports an update and an addition' \
    "$(json_of 'sorted((p["name"], p["action"], p.get("old_version"), p["version"]) for p in d["packages"])')" \
    "[('acme/base', 'update', '1.1.0', '1.0.0'), ('beta/far', 'add', None, '1.0.0')]"
is '[D4] the changes of install --json have the same actions' \
    "$(json_of 'sorted((c["action"], c["path"]) for c in d["changes"] if c["path"].startswith(".agents/skills"))')" \
    "[('add', '.agents/skills/far'), ('update', '.agents/skills/base')]"
exits '[D4] install with an older lock succeeds' 0 mapm install
like '[D4] install with an older lock reports both versions' "$out" '~ skill acme/base 1\.1\.0 -> 1\.0\.0'
like '[D4] install with an older lock reports the added package' "$out" '\+ skill beta/far 1\.0\.0'
cp "$T/two/mapm.yaml" "$T/two/mapm.lock" .
exits '[D4] install with the newer lock succeeds' 0 mapm install
like '[D4] install with the newer lock reports both versions' "$out" '~ skill acme/base 1\.0\.0 -> 1\.1\.0'
like '[D4] install with the newer lock reports the removed package' "$out" '^  - skill beta/far 1\.0\.0$'
unlike '[D4] install with the newer lock names no link of the removed package' "$out" '\.claude/'

# --- repair ---------------------------------------------------------------------------

rm .agents/skills/base/SKILL.md
exits '[D4] install --json after a file was deleted succeeds' 0 mapm install --json
is '[D4] install --json reports a deleted file as a repair' "$(json_of '[(p["name"], p["action"]) for p in d["packages"]]')" "[('acme/base', 'repair')]"
rm -r .agents/skills/base
exits '[D4] install after a folder was deleted succeeds' 0 mapm install
like '[D4] install reports the package of a deleted folder as repaired' "$out" '~ skill acme/base 1\.1\.0 .*\(repaired\)'
exits 'install after a repair succeeds' 0 mapm install
like '[D4] install after a repair reports nothing to do' "$err" 'nothing to do'
is '[D4] install after a repair lists no package' "$out" ''

# --- many -----------------------------------------------------------------------------

for i in $(seq 1 21); do
    skill "$T/many/skills/s$i" 'scope: many'
done
make_repo acme/many "$T/many"
rm -rf "$T/ws" && mkdir "$T/ws" && cd "$T/ws" || exit 1
exits 'install --dry-run --all of 21 packages succeeds' 0 mapm install --dry-run --all acme/many
is '[D4] install --dry-run reports 21 packages of a repository in one line' "$(printf '%s\n' "$out" | grep '^  ')" '  + 21 packages of acme/many added'
exits 'install --dry-run -v --all of 21 packages succeeds' 0 mapm install --dry-run -v --all acme/many
is '[D4] install --dry-run -v reports each of 21 packages in a line' "$(printf '%s\n' "$out" | grep -c '^  + skill many/s')" 21
exits 'install --json --all of 21 packages succeeds' 0 mapm install --json --all acme/many
is '[D4] install --json lists each of 21 packages' "$(json_of 'len(d["packages"])')" 21
rm -rf .agents/skills/*
exits 'install after 21 folders were deleted succeeds' 0 mapm install
is '[D4] install reports 21 repaired packages in one line' "$(printf '%s\n' "$out" | grep '^  ')" '  ~ 21 packages of acme/many repaired'
exits 'install --dry-run --all --skip of one package succeeds' 0 mapm install --dry-run acme/many --all --skip s1
done_testing

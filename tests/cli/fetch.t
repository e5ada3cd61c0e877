#!/bin/sh
# mapm-fetch, driven without the rest of mapm (tests/lib/fetch_drive.c), against
# a host that behaves well. tests/cli/fetch_faults.t has those that do not.
. "$(dirname "$0")/../lib/cli.sh"

DRIVE=${MAPM_BUILD:-$ROOT/build}/fetch_drive
[ -x "$DRIVE" ] || skip_all 'fetch_drive is not built'
GH=https://github.com

# drive ARG...: a new incoming folder, the events in $out.
drive()
{
    rm -rf "$T/incoming"
    mkdir "$T/incoming"
    run "$DRIVE" "$@"
}

skill "$T/src/skills/hello"
printf '#!/bin/sh\necho hi\n' >"$T/src/skills/hello/run.sh"
chmod 755 "$T/src/skills/hello/run.sh"
mkdir -p "$T/src/skills/hello/docs"
echo more >"$T/src/skills/hello/docs/more.md"
skill "$T/src/skills/other"
agent "$T/src/agents/greeter" 'dependencies:' '  skills:' \
    "    - \"$GH/acme/catalog/tree/main/skills/hello\""
mcp "$T/src/mcps/io.example_mcp.json" io.example/mcp npx -y '@example/mcp'
make_repo acme/catalog "$T/src"
main=$COMMIT
start_githost

# one folder: refs, trees, blobs
drive "$T/incoming" "$GH/acme/catalog/tree/main/skills/hello"
is 'a skill comes' "$status" 0
like 'with its commit' "$out" "^DONE .* ref=main commit=$main path=skills/hello .* skill$"
like 'its files' "$out" '^  644 docs/more.md 5$'
like 'and the executable bit' "$out" '^  755 run.sh 18$'
unlike 'each what its hash says' "$out" DAMAGED
is 'in three requests' "$(requests)" 3
is 'over one connection' "$(stat_of connections)" 1
is 'and nothing else is written' "$(ls "$T/incoming" | wc -l)" 3
done_testing

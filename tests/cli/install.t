#!/bin/sh
# The main job over the network: one origin, several, their refs, and all that
# a graph can get wrong. [M13, M14, M24, M25, M26, M27, M28, X2, X9, X13, A1].
. "$(dirname "$0")/../lib/cli.sh"
s=$T/src
U=https://github.com/acme/catalog/tree

skill "$s/skills/base" 'scope: acme'
printf '#!/bin/sh\necho hi\n' >"$s/skills/base/run.sh"
chmod 755 "$s/skills/base/run.sh"
mkdir -p "$s/skills/base/deep/er" && printf 'a\0b' >"$s/skills/base/deep/er/bin"
skill "$s/skills/mid" 'scope: acme' 'dependencies:' '  skills:' "    - $U/main/skills/base"
skill "$s/skills/other" 'scope: acme' 'dependencies:' '  skills:' "    - $U/main/skills/base"
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool
agent "$s/agents/boss" 'scope: acme' 'dependencies:' '  skills:' \
    "    - $U/main/skills/mid" "    - $U/main/skills/other" '  mcps:' \
    "    - $U/main/mcps/io.acme_tool.json"
make_repo acme/catalog "$s"
first=$COMMIT
repo acme/catalog tag v1 main
repo acme/catalog -c user.name=x -c user.email=x@example.com tag -a -m one release/1 main
repo acme/catalog branch feature/x/y main
start_githost

# fresh: an empty workspace.   untouched WHAT: it is still empty.
fresh()
{
    cd "$T" && chmod -R u+w ws && rm -rf ws && mkdir ws && cd ws || exit 1
}
untouched()
{
    is "$1: nothing was written" "$(ls -A)" ''
}

# --- the main job ---------------------------------------------------------------

exits 'a server is not added without a yes' 4 mapm install "$U/main/agents/boss"
untouched 'refused'
like 'what it runs is said' "$err" 'io\.acme/tool would run: npx -y tool'
like 'and what to do' "$err" '^ *hint: .*--yes'
exits 'a dry run needs no yes' 0 mapm install --dry-run "$U/main/agents/boss"
untouched 'dry run'
like 'it shows the command' "$out" 'runs: npx -y tool'
like 'and says what it was' "$err" 'nothing was changed'
exits 'a dry run for programs' 0 mapm install --dry-run --json "$U/main/agents/boss"
untouched 'dry run with --json'
printf '%s\n' "$out" >"$T/dry.json"
ok 'is JSON' python3 -S -m json.tool "$T/dry.json"
exits 'the agent installs' 0 mapm install --yes "$U/main/agents/boss"
is 'dependencies first, servers before skills, each once [M24]' \
    "$(printf '%s\n' "$out" | sed -n 's/^  + \([a-z]* [^ ]*\).*/\1/p' | tr '\n' ',')" \
    'mcp io.acme/tool,skill acme/base,skill acme/mid,skill acme/other,agent acme/boss,'
ok 'byte for byte' diff -r "$s/skills/base" .agents/skills/base
ok 'the executable bit is kept' test -x .agents/skills/base/run.sh
not_ok 'and given to nothing else' test -x .agents/skills/base/SKILL.md
ok 'the agent too' diff -r "$s/agents/boss" .agents/agents/boss
is 'a link for Claude Code' "$(readlink .claude/skills/mid)" ../../.agents/skills/mid
ok 'a sub-agent for Claude Code' test -f .claude/agents/boss.md
ok '.mcp.json is JSON' python3 -S -m json.tool .mcp.json
is 'mapm.yaml names the root alone' "$(cat mapm.yaml)" \
    "$(printf 'dependencies:\n  agents:\n    - %s/main/agents/boss' "$U")"
is 'the lock has all five' "$(grep -c '^  - type:' mapm.lock)" 5
is 'at that commit' "$(grep -c "commit: $first" mapm.lock)" 5
reset_log
snapshot . >"$T/before"
exits 'again' 0 mapm install
like 'it says so' "$err" 'nothing to do'
is 'without a request' "$(requests)" 0
is 'and not a byte was written' "$(snapshot .)" "$(cat "$T/before")"
exits 'the same root in another spelling' 0 \
    mapm install 'https://github.com/ACME/Catalog.git/tree/main/agents/boss/'
is 'is the same root' "$(snapshot .)" "$(cat "$T/before")"
is 'and no question' "$(requests)" 0

# --- what programs read -----------------------------------------------------------

exits 'json' 0 mapm install --json acme/catalog/skills/base
printf '%s\n' "$out" >"$T/out.json"
is 'schema, command, result' "$(python3 -S - "$T/out.json" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
assert set(d) == {"schema", "command", "workspace", "dry_run", "changed",
    "packages", "changes", "kept", "elsewhere", "clients", "requests",
    "bytes", "warnings"}, sorted(d)
assert d["elsewhere"] == [], d["elsewhere"]
by = {p["name"]: p for p in d["packages"]}
base = by["acme/base"]
for k in "type name action version origin commit digest path root metaskill prereqs".split():
    assert k in base, k
assert base["root"] and base["action"] == "keep" and base["version"] == "1.0.0"
assert base["path"] == ".agents/skills/base" and len(base["commit"]) == 40
assert by["io.acme/tool"]["key"] == "io-acme-tool"
print(d["schema"], d["command"], d["changed"], [c["path"] for c in d["changes"]])
P
)" "mapm.install/1 install True ['mapm.yaml']"
is 'nothing on stderr' "$err" ''
exits 'an error for programs' 1 mapm install --json acme/catalog/skills/nix
printf '%s\n' "$out" >"$T/out.json"
is 'has a stable code' "$(python3 -S -c '
import json, sys
d = json.load(open(sys.argv[1]))
print(d["schema"], d["error"]["code"])' "$T/out.json")" 'mapm.error/1 path-not-found'

# --- refs [X13] ---------------------------------------------------------------------

# root WHAT ARGUMENT URL: installs it, and mapm.yaml gets that URL.
root()
{
    fresh
    exits "$1" 0 mapm install "$2"
    like "$1: the full URL" "$(cat mapm.yaml)" "^    - $3\$"
    ok "$1: the bytes" diff -r "$s/skills/base" .agents/skills/base
    like "$1: the commit" "$(cat mapm.lock)" "commit: $first"
}
root 'a branch' "$U/main/skills/base" "$U/main/skills/base"
root 'a branch with slashes' "$U/feature/x/y/skills/base" "$U/feature/x/y/skills/base"
root 'a tag' "$U/v1/skills/base" "$U/v1/skills/base"
root 'an annotated tag with a slash' "$U/release/1/skills/base" "$U/release/1/skills/base"
root 'a commit' "$U/$first/skills/base" "$U/$first/skills/base"
root 'HEAD, by the short form' acme/catalog/skills/base "$U/main/skills/base"
root 'a tag, by the short form' acme/catalog/skills/base@v1 "$U/v1/skills/base"
root 'slashes, by the short form' acme/catalog/skills/base@feature/x/y "$U/feature/x/y/skills/base"
root 'a commit, by the short form' "acme/catalog/skills/base@$first" "$U/$first/skills/base"
fresh
exits 'several at once' 0 mapm install --yes acme/catalog/skills/mid@v1 \
    "$U/main/mcps/io.acme_tool.json" "$U/main/agents/boss"
is 'all are roots' "$(grep -c https mapm.yaml)" 3
fresh
exits 'the same twice is once' 0 mapm install "$U/main/skills/base" acme/catalog/skills/base
is 'one root' "$(grep -c https mapm.yaml)" 1

# --- what is not there: near names ---------------------------------------------------

# refuses WHAT PATTERN ORIGIN...: exit 1, the words, nothing written.
refuses()
{
    what=$1 words=$2
    shift 2
    fresh
    exits "$what" 1 mapm install --yes "$@"
    like "$what: it says so" "$err" "$words"
    untouched "$what"
}
refuses 'no such ref' 'no branch or tag' "$U/mian/skills/base"
like 'a near one' "$err" 'did you mean "main'
refuses 'no such path' 'there is no "bas" in "skills"' "$U/main/skills/bas"
like 'a near one' "$err" 'did you mean "skills/base"'
refuses 'no such repository' 'no such repository, or it is private' acme/none/skills/x
refuses 'a repository without packages' 'no SKILL.md or AGENTS.md' "$U/main/skills/base/deep"
refuses 'a file' 'is a file' acme/catalog/skills/base/SKILL.md
like 'what to name instead' "$err" 'name the folder'
refuses 'two of them' 'skills/no-a' "$U/main/skills/no-a" "$U/main/skills/no-b"
like 'both are told' "$err" 'skills/no-b'

# What people paste is one package, as it is stored. [H1]
while read -r typed; do
    fresh
    exits "pasted: $typed" 0 mapm install --yes "$typed"
    like "stored: $typed" "$(cat mapm.yaml)" "^  *- $U/main/skills/base\$"
done <<X
https://github.com/acme/catalog/blob/main/skills/base/SKILL.md
https://github.com/acme/catalog/tree/main/skills/base?tab=readme#usage
https://www.github.com/acme/catalog/tree/refs/heads/main/skills/base
git@github.com:acme/catalog.git@main//skills/base
github.com/acme/catalog/skills/base@main
X
fresh
exits 'plain http' 1 mapm install http://github.com/acme/catalog
like 'what to write' "$err" 'write https://github.com/acme/catalog'

# --- conflicts [M27] -------------------------------------------------------------------

b=$T/src-b
skill "$b/skills/base" 'scope: acme' 'version: 2.0.0'
skill "$b/skills/user" 'scope: beta' 'dependencies:' '  skills:' \
    '    - https://github.com/beta/tools/tree/main/skills/base'
agent "$b/agents/both" 'scope: beta' 'dependencies:' '  skills:' \
    "    - $U/main/skills/mid" '    - https://github.com/beta/tools/tree/main/skills/user'
agent "$b/agents/base" 'scope: acme'
skill "$b/skills/across" 'scope: beta' 'dependencies:' '  skills:' "    - $U/main/skills/base"
make_repo beta/tools "$b"
refuses 'one name, two packages' 'different packages claim the name of skill acme/base' \
    beta/tools/agents/both
like 'the one chain' "$err" "$U/main/skills/base at $first.*beta/both -> acme/mid -> acme/base"
like 'the other' "$err" 'beta/tools/tree/main/skills/base at [0-9a-f]{40}.*beta/both -> beta/user -> acme/base'
like 'what to do' "$err" 'hint: both come with https://github.com/beta/tools/tree/main/agents/both: leave it out'
mapm install "$U/main/skills/base" >/dev/null 2>&1
snapshot . >"$T/before"
exits 'a second install collides with the first' 1 mapm install beta/tools/skills/user
like 'it names the package' "$err" 'claim the name of skill acme/base'
like 'the root that is there' "$err" "$U/main/skills/base at [0-9a-f]{40}, asked for directly: acme/base"
like 'the chain to the other' "$err" 'beta/tools/tree/main/skills/base at [0-9a-f]{40}, by way of beta/user -> acme/base'
like 'and two ways out' "$err" \
    "hint: take both: .*; or keep one: leave out https://github.com/beta/tools/tree/main/skills/user .*--skip PATH.*--skill PATH.* mapm remove $U/main/skills/base\$"
is 'and leaves no trace' "$(snapshot .)" "$(cat "$T/before")"
exits '[M12] a dependency in the catalog of another owner' 0 mapm install beta/tools/skills/across
ok '[M12] it is there' diff -r "$s/skills/base" .agents/skills/base
exits 'it can be removed' 0 mapm remove across
exits 'an agent of the same name is no conflict' 0 mapm install beta/tools/agents/base
exits 'the same bytes by way of another ref are none' 0 mapm install "$U/v1/skills/mid"
like 'both origins are in the lock' "$(cat mapm.lock)" "also: .*$U/v1/skills/mid|origin: $U/v1/skills/mid"

# --- another ref takes the place of a root (REQUIREMENTS 3.8) ---------------------------

echo 'The second edition.' >>"$s/skills/base/SKILL.md"
sed -i 's/^version:.*/version: 1.1.0/' "$s/skills/base/SKILL.md"
make_repo acme/catalog "$s" next
fresh
printf '%s\n' '# ours' 'dependencies:' '  skills: # first' \
    "    - $U/main/skills/base # why we need it" '    # the end' >mapm.yaml
exits 'from mapm.yaml alone' 0 mapm install
exits 'the other ref' 0 mapm install "$U/next/skills/base"
like 'is what there is now' "$(cat .agents/skills/base/SKILL.md)" 'second edition'
like 'old and new are shown' "$out" '~ skill acme/base 1\.0\.0 .* -> 1\.1\.0'
like 'it is the root' "$(cat mapm.yaml)" "$U/next/skills/base"
unlike 'in place of the old one' "$(cat mapm.yaml)" "$U/main/skills/base"
like 'comments stay' "$(cat mapm.yaml)" '^# ours'
like 'those of a line, too' "$(cat mapm.yaml)" 'skills: # first'
exits 'but not when something else needs the old one' 1 \
    mapm install "$U/main/skills/mid"
like 'that is a conflict' "$err" 'claim the name of skill acme/base'
like 'of two refs' "$err" "hint: let both name the same ref of it: mapm install $U/main/skills/base"

fresh
printf '%s\n' 'dependencies:' '  skills:' '<<<<<<< ours' "    - $U/main/skills/base" '=======' \
    "    - $U/main/skills/mid" '>>>>>>> theirs' >mapm.yaml
exits 'a merge that was not settled' 1 mapm install
like 'is named by its line' "$err" 'mapm\.yaml:3: a merge conflict'

# --- graphs that cannot be [M25, M26] ------------------------------------------------------

g=$T/src-g
G=https://github.com/gamma/tools/tree/main/skills
skill "$g/skills/a" 'scope: gamma' 'dependencies:' '  skills:' "    - $G/b"
skill "$g/skills/b" 'scope: gamma' 'dependencies:' '  skills:' "    - $G/c"
skill "$g/skills/c" 'scope: gamma' 'dependencies:' '  skills:' "    - $G/a"
skill "$g/skills/top" 'scope: gamma' 'dependencies:' '  skills:' "    - $G/leaf" "    - $G/leaf2"
skill "$g/skills/leaf" 'scope: gamma' 'dependencies:' '  skills:' "    - $G/gone"
skill "$g/skills/leaf2" 'scope: gamma' 'dependencies:' '  skills:' "    - $G/gone-too" "    - $G/a"
skill "$g/skills/kind" 'scope: gamma' 'dependencies:' '  skills:' \
    '    - https://github.com/acme/catalog/tree/main/mcps/io.acme_tool.json'
skill "$g/skills/local" 'scope: gamma' 'dependencies:' '  skills:' "    - file:$s/skills/base"
skill "$g/skills/agentish" 'scope: gamma' 'dependencies:' '  skills:' "    - $U/main/agents/boss"
skill "$g/skills/elsewhere" 'scope: gamma' 'dependencies:' '  skills:' \
    '    - https://gitlab.com/x/y/tree/main/z'
make_repo gamma/tools "$g"
refuses 'a cycle' 'cycle of dependencies: gamma/a -> gamma/b -> gamma/c -> gamma/a' gamma/tools/skills/a
for edge in 'a needs skill gamma/b' 'b needs skill gamma/c' 'c needs skill gamma/a'; do
    like "the edge: $edge" "$err" "skill gamma/$edge"
done
refuses 'a missing leaf' 'skills/gone, needed by gamma/top -> gamma/leaf' gamma/tools/skills/top
like 'the other one, too' "$err" 'skills/gone-too, needed by gamma/top -> gamma/leaf2'
like 'and the cycle behind it' "$err" 'cycle of dependencies'
refuses 'a server among the skills' 'is an? (mcp|agent)|not a? ?skill' gamma/tools/skills/kind
refuses 'an agent among the skills' 'is an agent|holds an agent|AGENTS.md' gamma/tools/skills/agentish
refuses 'a local path in a fetched package' 'file:' gamma/tools/skills/local
refuses 'another host in a package' 'gitlab\.com|origin' gamma/tools/skills/elsewhere

# --- quiet, wrong usage -----------------------------------------------------------------------

fresh
exits 'quietly' 0 mapm install -q "$U/main/skills/base"
is 'no word' "$out$err" ''
exits 'no origin at all' 1 mapm install nonsense
like 'what one looks like' "$err" 'owner/repo'
exits 'another host' 1 mapm install https://gitlab.com/a/b
exits 'an unknown option' 2 mapm install --frobnicate
exits 'no workspace at all' 1 mapm -C "$HOME" install --locked
like 'it is said' "$err" "no mapm.yaml in $HOME"
is 'and writes nothing' "$(ls -A "$HOME")" .gitconfig
exits 'a choice from nothing' 2 mapm install --all
none=0123456789012345678901234567890123456789
# (two requests at a time: the first answer that refuses it says why)
run mapm install "$U/$none/skills/base"
like 'a commit that is not there' "$status" '^[14]$'
like 'is named' "$err" "acme/catalog has no commit 0123456789|0123456789.* is in no branch or tag"

# --- consent -------------------------------------------------------------------------------------

fresh
exits 'with a yes' 0 mapm install --yes "$U/main/mcps/io.acme_tool.json"
exits 'what the lock holds asks no more' 0 mapm install
rm -rf .mcp.json .agents .claude
exits 'not on a new machine either' 0 mapm install --locked
like 'there it is' "$(cat .mcp.json)" '"tool"'
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool --evil
make_repo acme/catalog "$s"
exits 'a changed command asks again' 4 mapm update
like 'it is shown' "$err" 'npx -y tool --evil'
unlike 'and not taken over' "$(cat .mcp.json)" evil
exits 'with a yes it is' 0 mapm update --yes
like 'taken over' "$(cat .mcp.json)" evil
done_testing

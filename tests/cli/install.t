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
    is "$1: the workspace stays empty" "$(ls -A)" ''
}

# --- the main job ---------------------------------------------------------------

exits 'install of a server without --yes is refused' 4 mapm install "$U/main/agents/boss"
untouched 'an install without --yes'
like 'the error shows the command of the server' "$err" 'io\.acme/tool would run: npx -y tool'
like 'the hint suggests --yes' "$err" '^ *hint: .*--yes'
exits 'install --dry-run of a server needs no --yes' 0 mapm install --dry-run "$U/main/agents/boss"
untouched 'a dry run'
like 'install --dry-run shows the command of the server' "$out" 'runs: npx -y tool'
like 'install --dry-run reports that nothing was changed' "$err" 'nothing was changed'
exits 'install --dry-run --json succeeds' 0 mapm install --dry-run --json "$U/main/agents/boss"
untouched 'a dry run with --json'
printf '%s\n' "$out" >"$T/dry.json"
ok 'the output of install --dry-run --json is JSON' python3 -S -m json.tool "$T/dry.json"
exits 'install --yes of an agent with dependencies succeeds' 0 mapm install --yes "$U/main/agents/boss"
is 'the report lists dependencies first and each package once [M24]' \
    "$(printf '%s\n' "$out" | sed -n 's/^  + \([a-z]* [^ ]*\).*/\1/p' | tr '\n' ',')" \
    'mcp io.acme/tool,skill acme/base,skill acme/mid,skill acme/other,agent acme/boss,'
ok 'the installed skill equals its source byte for byte' diff -r "$s/skills/base" .agents/skills/base
ok 'an executable file stays executable' test -x .agents/skills/base/run.sh
not_ok 'a document is not made executable' test -x .agents/skills/base/SKILL.md
ok 'the installed agent equals its source byte for byte' diff -r "$s/agents/boss" .agents/agents/boss
is '.claude/skills has a link to the skill' "$(readlink .claude/skills/mid)" ../../.agents/skills/mid
ok '.claude/agents has a file for the agent' test -f .claude/agents/boss.md
ok '.mcp.json is JSON' python3 -S -m json.tool .mcp.json
is 'mapm.yaml names the root alone' "$(cat mapm.yaml)" \
    "$(printf 'dependencies:\n  agents:\n    - %s/main/agents/boss' "$U")"
is 'the lock has all five packages' "$(grep -c '^  - type:' mapm.lock)" 5
is 'the lock has the commit at each package' "$(grep -c "commit: $first" mapm.lock)" 5
reset_log
snapshot . >"$T/before"
exits 'a second install succeeds' 0 mapm install
like 'a second install reports that there is nothing to do' "$err" 'nothing to do'
is 'a second install sends no request' "$(requests)" 0
is 'a second install writes nothing' "$(snapshot .)" "$(cat "$T/before")"
exits 'install of the same root in another spelling succeeds' 0 \
    mapm install 'https://github.com/ACME/Catalog.git/tree/main/agents/boss/'
is 'another spelling of the root leaves the workspace unchanged' "$(snapshot .)" "$(cat "$T/before")"
is 'another spelling of the root causes no request' "$(requests)" 0

# --- what programs read -----------------------------------------------------------

exits 'install --json succeeds' 0 mapm install --json acme/catalog/skills/base
printf '%s\n' "$out" >"$T/out.json"
is 'install --json has the documented keys and values' "$(python3 -S - "$T/out.json" <<'P'
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
is 'install --json writes nothing to stderr' "$err" ''
exits 'install --json of an absent path fails' 1 mapm install --json acme/catalog/skills/nix
printf '%s\n' "$out" >"$T/out.json"
is 'the JSON error has the code path-not-found' "$(python3 -S -c '
import json, sys
d = json.load(open(sys.argv[1]))
print(d["schema"], d["error"]["code"])' "$T/out.json")" 'mapm.error/1 path-not-found'

# --- refs [X13] ---------------------------------------------------------------------

# root WHAT ARGUMENT URL: installs it, and mapm.yaml gets that URL.
root()
{
    fresh
    exits "install of $1 succeeds" 0 mapm install "$2"
    like "install of $1 writes the full URL into mapm.yaml" "$(cat mapm.yaml)" "^    - $3\$"
    ok "install of $1 has the bytes of the source" diff -r "$s/skills/base" .agents/skills/base
    like "install of $1 writes the commit into the lock" "$(cat mapm.lock)" "commit: $first"
}
root 'a branch' "$U/main/skills/base" "$U/main/skills/base"
root 'a branch with slashes' "$U/feature/x/y/skills/base" "$U/feature/x/y/skills/base"
root 'a tag' "$U/v1/skills/base" "$U/v1/skills/base"
root 'an annotated tag with a slash' "$U/release/1/skills/base" "$U/release/1/skills/base"
root 'a commit' "$U/$first/skills/base" "$U/$first/skills/base"
root 'HEAD by the short form' acme/catalog/skills/base "$U/main/skills/base"
root 'a tag by the short form' acme/catalog/skills/base@v1 "$U/v1/skills/base"
root 'a branch with slashes by the short form' acme/catalog/skills/base@feature/x/y "$U/feature/x/y/skills/base"
root 'a commit by the short form' "acme/catalog/skills/base@$first" "$U/$first/skills/base"
fresh
exits 'install of three origins at once succeeds' 0 mapm install --yes acme/catalog/skills/mid@v1 \
    "$U/main/mcps/io.acme_tool.json" "$U/main/agents/boss"
is 'all three origins are roots in mapm.yaml' "$(grep -c https mapm.yaml)" 3
fresh
exits 'install of one origin in two spellings succeeds' 0 mapm install "$U/main/skills/base" acme/catalog/skills/base
is 'one origin in two spellings is one root' "$(grep -c https mapm.yaml)" 1

# --- what is not there: near names ---------------------------------------------------

# refuses WHAT PATTERN ORIGIN...: exit 1, the words, nothing written.
refuses()
{
    what=$1 words=$2
    shift 2
    fresh
    exits "$what: install fails" 1 mapm install --yes "$@"
    like "$what: the error gives the reason" "$err" "$words"
    untouched "$what"
}
refuses 'no such ref' 'no branch or tag' "$U/mian/skills/base"
like 'the error suggests a near ref' "$err" 'did you mean "main'
refuses 'no such path' 'there is no "bas" in "skills"' "$U/main/skills/bas"
like 'the error suggests a near path' "$err" 'did you mean "skills/base"'
refuses 'no such repository' 'no such repository, or it is private' acme/none/skills/x
refuses 'a repository without packages' 'no SKILL.md or AGENTS.md' "$U/main/skills/base/deep"
refuses 'a file' 'is a file' acme/catalog/skills/base/SKILL.md
like 'the hint says to name the folder in place of the file' "$err" 'name the folder'
refuses 'two of them' 'skills/no-a' "$U/main/skills/no-a" "$U/main/skills/no-b"
like 'the error names the second absent path as well' "$err" 'skills/no-b'

# What people paste is one package, as it is stored. [H1]
while read -r typed; do
    fresh
    exits "install accepts the pasted URL $typed" 0 mapm install --yes "$typed"
    like "mapm.yaml has the full URL for $typed" "$(cat mapm.yaml)" "^  *- $U/main/skills/base\$"
done <<X
https://github.com/acme/catalog/blob/main/skills/base/SKILL.md
https://github.com/acme/catalog/tree/main/skills/base?tab=readme#usage
https://www.github.com/acme/catalog/tree/refs/heads/main/skills/base
git@github.com:acme/catalog.git@main//skills/base
github.com/acme/catalog/skills/base@main
X
fresh
exits 'install of an http URL fails' 1 mapm install http://github.com/acme/catalog
like 'the error suggests the https URL' "$err" 'write https://github.com/acme/catalog'

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
like 'the error shows the chain to the first package' "$err" "$U/main/skills/base at $first.*beta/both -> acme/mid -> acme/base"
like 'the error shows the chain to the second package' "$err" 'beta/tools/tree/main/skills/base at [0-9a-f]{40}.*beta/both -> beta/user -> acme/base'
like 'the hint names the root that needs both packages' "$err" 'hint: both come with https://github.com/beta/tools/tree/main/agents/both: leave it out'
mapm install "$U/main/skills/base" >/dev/null 2>&1
snapshot . >"$T/before"
exits 'install fails when a name is taken by an earlier root' 1 mapm install beta/tools/skills/user
like 'the error names the package with the taken name' "$err" 'claim the name of skill acme/base'
like 'the error names the earlier root' "$err" "$U/main/skills/base at [0-9a-f]{40}, asked for directly: acme/base"
like 'the error shows the chain to the other package' "$err" 'beta/tools/tree/main/skills/base at [0-9a-f]{40}, by way of beta/user -> acme/base'
like 'the hint offers to take both or to keep one' "$err" \
    "hint: take both: .*; or keep one: leave out https://github.com/beta/tools/tree/main/skills/user .*--skip PATH.*--skill PATH.* mapm remove $U/main/skills/base\$"
is 'a failed install leaves the workspace unchanged' "$(snapshot .)" "$(cat "$T/before")"
exits '[M12] install with a dependency in a catalog of another owner succeeds' 0 mapm install beta/tools/skills/across
ok '[M12] the dependency of another owner is installed' diff -r "$s/skills/base" .agents/skills/base
exits 'remove of the skill with that dependency succeeds' 0 mapm remove across
exits 'install of an agent with the name of a skill succeeds' 0 mapm install beta/tools/agents/base
exits 'install of the same bytes by another ref succeeds' 0 mapm install "$U/v1/skills/mid"
like 'the lock has both origins of the same bytes' "$(cat mapm.lock)" "also: .*$U/v1/skills/mid|origin: $U/v1/skills/mid"

# --- another ref takes the place of a root (REQUIREMENTS 3.8) ---------------------------

echo 'The second edition.' >>"$s/skills/base/SKILL.md"
sed -i 's/^version:.*/version: 1.1.0/' "$s/skills/base/SKILL.md"
make_repo acme/catalog "$s" next
fresh
printf '%s\n' '# ours' 'dependencies:' '  skills: # first' \
    "    - $U/main/skills/base # why we need it" '    # the end' >mapm.yaml
exits 'install from a mapm.yaml with comments succeeds' 0 mapm install
exits 'install of a root at another ref succeeds' 0 mapm install "$U/next/skills/base"
like 'the skill has the content of the other ref' "$(cat .agents/skills/base/SKILL.md)" 'second edition'
like 'the report shows the old and the new version' "$out" '~ skill acme/base 1\.0\.0 .* -> 1\.1\.0'
like 'mapm.yaml has the root at the other ref' "$(cat mapm.yaml)" "$U/next/skills/base"
unlike 'mapm.yaml has the old ref no longer' "$(cat mapm.yaml)" "$U/main/skills/base"
like 'mapm.yaml keeps its first comment' "$(cat mapm.yaml)" '^# ours'
like 'mapm.yaml keeps the comment beside a key' "$(cat mapm.yaml)" 'skills: # first'
exits 'install fails when another package needs the old ref' 1 \
    mapm install "$U/main/skills/mid"
like 'the error names the package with two refs' "$err" 'claim the name of skill acme/base'
like 'the hint suggests one ref for both' "$err" "hint: let both name the same ref of it: mapm install $U/main/skills/base"

fresh
printf '%s\n' 'dependencies:' '  skills:' '<<<<<<< ours' "    - $U/main/skills/base" '=======' \
    "    - $U/main/skills/mid" '>>>>>>> theirs' >mapm.yaml
exits 'install fails with conflict markers in mapm.yaml' 1 mapm install
like 'the error names the line of the conflict marker' "$err" 'mapm\.yaml:3: a merge conflict'

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
    like "the error lists the edge $edge of the cycle" "$err" "skill gamma/$edge"
done
refuses 'a missing leaf' 'skills/gone, needed by gamma/top -> gamma/leaf' gamma/tools/skills/top
like 'the error names the second missing dependency' "$err" 'skills/gone-too, needed by gamma/top -> gamma/leaf2'
like 'the error reports the cycle beside the missing dependencies' "$err" 'cycle of dependencies'
refuses 'a server among the skills' 'is an? (mcp|agent)|not a? ?skill' gamma/tools/skills/kind
refuses 'an agent among the skills' 'is an agent|holds an agent|AGENTS.md' gamma/tools/skills/agentish
refuses 'a local path in a fetched package' 'file:' gamma/tools/skills/local
refuses 'another host in a package' 'gitlab\.com|origin' gamma/tools/skills/elsewhere

# --- quiet, wrong usage -----------------------------------------------------------------------

fresh
exits 'install -q succeeds' 0 mapm install -q "$U/main/skills/base"
is 'install -q prints nothing' "$out$err" ''
exits 'install of a word that is no origin fails' 1 mapm install nonsense
like 'the error shows the form of an origin' "$err" 'owner/repo'
exits 'install from an unsupported host fails' 1 mapm install https://gitlab.com/a/b
exits 'install with an unknown option is a usage error' 2 mapm install --frobnicate
exits 'install --locked without a workspace fails' 1 mapm -C "$HOME" install --locked
like 'the error says that there is no mapm.yaml' "$err" "no mapm.yaml in $HOME"
is 'install without a workspace writes nothing' "$(ls -A "$HOME")" .gitconfig
exits 'install --all without an origin is a usage error' 2 mapm install --all
none=0123456789012345678901234567890123456789
# (two requests at a time: the first answer that refuses it says why)
run mapm install "$U/$none/skills/base"
like 'install at an unknown commit fails' "$status" '^[14]$'
like 'the error names the unknown commit' "$err" "acme/catalog has no commit 0123456789|0123456789.* is in no branch or tag"

# --- consent -------------------------------------------------------------------------------------

fresh
exits 'install --yes of a server succeeds' 0 mapm install --yes "$U/main/mcps/io.acme_tool.json"
exits 'a second install of a locked server asks no question' 0 mapm install
rm -rf .mcp.json .agents .claude
exits 'install --locked of a server on a new machine asks no question' 0 mapm install --locked
like '.mcp.json has the server on the new machine' "$(cat .mcp.json)" '"tool"'
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool --evil
make_repo acme/catalog "$s"
exits 'update to a changed command needs a new yes' 4 mapm update
like 'the error shows the changed command' "$err" 'npx -y tool --evil'
unlike 'the refused command is not written into .mcp.json' "$(cat .mcp.json)" evil
exits 'update --yes to a changed command succeeds' 0 mapm update --yes
like '.mcp.json has the changed command' "$(cat .mcp.json)" evil
done_testing

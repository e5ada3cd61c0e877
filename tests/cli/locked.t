#!/bin/sh
# mapm.lock: a colleague gets the same bytes, and a lock that is damaged or
# does not fit is never taken for an empty one. [M27, row 8, row 26].
. "$(dirname "$0")/../lib/cli.sh"
s=$T/src
U=https://github.com/acme/catalog/tree

skill "$s/skills/base" 'scope: acme'
skill "$s/skills/mid" 'scope: acme' 'dependencies:' '  skills:' \
    "    - $U/main/skills/base" '    - https://github.com/beta/tools/tree/main/skills/far'
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool
agent "$s/agents/boss" 'scope: acme' 'dependencies:' '  skills:' \
    "    - $U/main/skills/mid" '  mcps:' "    - $U/main/mcps/io.acme_tool.json"
skill "$T/src-b/skills/far" 'scope: beta'
make_repo acme/catalog "$s"
make_repo beta/tools "$T/src-b"
start_githost
exits 'the first one resolves' 0 mapm install --yes "$U/main/agents/boss"
mkdir "$T/saved" && cp mapm.yaml mapm.lock "$T/saved"

# colleague NAME: a fresh folder below $T with the two committed files.
colleague()
{
    cd "$T" && chmod -R u+w "$1" 2>/dev/null
    rm -rf "$1" && mkdir "$1" && cp saved/mapm.yaml saved/mapm.lock "$1" && cd "$1" || exit 1
}

# --- the same bytes ---------------------------------------------------------------

repo acme/catalog update-ref refs/heads/old main
echo later >>"$s/skills/base/SKILL.md"
make_repo acme/catalog "$s"
MAPM_HOME=$T/home2 && export MAPM_HOME
colleague peer
reset_log
exits '[F1] a clone that was not installed' 3 mapm verify
like '[F1] lacks its packages' "$out" '^\.agents/skills/[a-z_]*mid: missing$'
unlike '[F1] which is what is said of them' "$out" 'skills/[a-z_]*mid: not in the store'
exits 'cold' 0 mapm install --locked
is '[F1] one request a repository, and one for the proof' "$(requests)" 4
like 'what comes is shown' "$out" '\+ skill acme/mid 1\.0\.0'
like 'and what it runs' "$out" 'runs: npx -y tool'
same_tree 'the same agents and skills' .agents/skills "$T/ws/.agents/skills"
ok 'the same agent' diff -r .agents/agents "$T/ws/.agents/agents"
ok 'the same lock' cmp mapm.lock "$T/saved/mapm.lock"
ok 'and mapm.yaml' cmp mapm.yaml "$T/saved/mapm.yaml"
colleague peer2
reset_log
exits 'warm' 0 mapm install --locked
is 'no request' "$(requests)" 0
same_tree 'the same again' .agents/skills "$T/ws/.agents/skills"
exits 'once more' 0 mapm install --locked
like 'is nothing to do' "$err" 'nothing to do'
colleague peer3
CI=true
export CI
exits 'CI is locked' 0 mapm install
cp "$T/saved/mapm.yaml" . && sed -i '/agents\/boss/d' mapm.yaml
exits 'so a mapm.yaml that says less fails' 1 mapm install
like 'and names what' "$err" 'nothing needs agent acme/boss'
exits 'an origin given is no locked install' 0 mapm install acme/catalog/skills/base@old
unset CI
colleague peer4
exits 'nothing new with --locked' 1 mapm install --locked acme/catalog/skills/mid
like 'it says why' "$err" 'not a root of mapm.yaml'
exits 'a root may be named' 0 mapm install --locked "$U/main/agents/boss"
exits 'in short, too' 0 mapm install --locked acme/catalog/agents/boss
ok 'nothing moved' cmp mapm.lock "$T/saved/mapm.lock"

# --- mapm.yaml says something else ---------------------------------------------------

colleague peer
printf '  skills:\n    - %s/v9/skills/new\n' "$U" >>mapm.yaml
reset_log
exits 'a root that the lock does not have' 1 mapm install --locked
like 'is named' "$err" 'v9/skills/new'
is 'without asking for it' "$(requests)" 0
is 'nothing is written' "$(ls -A | tr '\n' ' ')" 'mapm.lock mapm.yaml '
colleague peer
printf 'dependencies:\n' >mapm.yaml
exits 'a root less' 1 mapm install --locked
like 'each one that is too much' "$err" 'mapm\.lock:[0-9]+: nothing needs skill beta/far'
is 'the lock stays' "$(cat mapm.lock)" "$(cat "$T/saved/mapm.lock")"

# --- a damaged lock ------------------------------------------------------------------

# damaged WHAT WORDS SED-ARGUMENT...: both kinds of install fail, say the line, and
# leave everything.
damaged()
{
    colleague peer
    what=$1
    shift
    words=$1
    shift
    sed -i "$@" mapm.lock
    snapshot . >"$T/before"
    for way in ${ways:---locked --yes}; do
        run mapm install $way
        isnt "$what ($way): refused" "$status" 0
        like "$what ($way): it says so" "$err" "$words"
        is "$what ($way): nothing changed" "$(snapshot .)" "$(cat "$T/before")"
    done
}
damaged '[F13] a later version' 'mapm\.lock:1: .*version' 's/^version: 1/version: 3/'
damaged '[F13] a key of a later version' 'mapm\.lock:[0-9]*: unknown key .*: written by a newer mapm' \
    's/^version: 1/version: 2/; s/^    digest: /    flavour: x\n&/'
damaged 'no version' 'mapm\.lock:[0-9]+:' 1d
damaged 'merge markers' 'mapm\.lock:3: .*(merge|conflict)' '3i <<<<<<< HEAD'
damaged 'a digest too short' 'mapm\.lock:[0-9]+: ' 's/digest: sha256:..../digest: sha256:/'
damaged 'a commit that is none' 'mapm\.lock:[0-9]+: ' 's/commit: ..../commit: zzzz/'
damaged 'cut in the middle' 'mapm\.lock:[0-9]+: ' '6,$d'
# A merge without a conflict may leave it: without --locked it is resolved [D13].
ways=--locked
damaged 'a missing entry' 'mapm\.lock:[0-9]+: .*needs skill acme/base' \
    -e '/^  - type: skill/{N;/acme\/base/!b;:more;N;/path:/!b more;d}'
ways=
exits '[D13] without --locked' 0 mapm install --yes
like 'it is resolved, and said' "$err" 'mapm\.lock:[0-9]+: .*needs skill acme/base.*: taken for two edits that git joined'
damaged 'an unknown field' 'mapm\.lock:[0-9]+: .*color' '/name: acme\/base/a\    color: red'
damaged 'the same entry twice' 'mapm\.lock:[0-9]+: ' 's/name: beta\/far/name: acme\/base/'
damaged 'an empty file' 'mapm\.lock' '1,$d'
damaged 'a path out of the workspace' 'mapm\.lock:[0-9]+: ' 's,path: .agents/skills/base,path: ../../base,'
damaged 'another host' 'mapm\.lock:[0-9]+: ' 's,origin: https://github.com/beta,origin: https://example.com/beta,'

# A digest by hand: what comes is compared with it, warm or cold.
for state in warm cold; do
    colleague peer
    [ $state = warm ] || { MAPM_HOME=$T/home-cold && export MAPM_HOME; }
    sed -i '/name: beta\/far/,/digest/s/sha256:......../sha256:00000000/' mapm.lock
    exits "a digest that does not fit ($state)" 1 mapm install --locked
    like "it names line and package ($state)" "$err" 'mapm\.lock:[0-9]+: beta/far'
    not_ok "nothing of it is there ($state)" test -e .agents
done
colleague peer
sed -i 's,name: beta/far,name: beta/fur,; s,skill beta/far,skill beta/fur,' mapm.lock
exits 'a name that the package does not have' 1 mapm install --locked
like 'says both' "$err" 'beta/fur.*beta/far'
exits 'cold or warm' 1 mapm install --locked
colleague peer
other=$(sed -n '/name: acme\/mid/,/digest/s/.*digest: //p' mapm.lock)
sed -i "/name: acme\\/base/,/digest/s/digest: .*/digest: $other/" mapm.lock
exits "another package's digest" 1 mapm install --locked
like 'is no way in' "$err" 'mapm\.lock:[0-9]+: .*acme/base'
colleague peer
printf '\r\n' >"$T/crlf" && sed -i 's/$/\r/' mapm.lock mapm.yaml
exits 'CRLF is no damage' 0 mapm install --locked
like 'and stays' "$(od -c mapm.lock | head -n 1)" '\\r'
done_testing

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
exits 'install of an agent with dependencies succeeds' 0 mapm install --yes "$U/main/agents/boss"
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
exits '[F1] verify fails in a clone that was not installed' 3 mapm verify
like '[F1] verify reports the skill as missing in such a clone' "$out" '^\.agents/skills/[a-z_]*mid: missing$'
unlike '[F1] verify does not report the skill as absent from the store' "$out" 'skills/[a-z_]*mid: not in the store'
exits 'install --locked with a cold store succeeds' 0 mapm install --locked
is '[F1] install --locked sends a request for each repository and for its proof' "$(requests)" 4
like 'install --locked lists the packages that it adds' "$out" '\+ skill acme/mid 1\.0\.0'
like 'install --locked shows the command of the server' "$out" 'runs: npx -y tool'
same_tree 'install --locked installs the same skills' .agents/skills "$T/ws/.agents/skills"
ok 'install --locked installs the same agent' diff -r .agents/agents "$T/ws/.agents/agents"
ok 'install --locked leaves mapm.lock unchanged' cmp mapm.lock "$T/saved/mapm.lock"
ok 'install --locked leaves mapm.yaml unchanged' cmp mapm.yaml "$T/saved/mapm.yaml"
colleague peer2
reset_log
exits 'install --locked with a warm store succeeds' 0 mapm install --locked
is 'install --locked with a warm store sends no request' "$(requests)" 0
same_tree 'install --locked with a warm store installs the same skills' .agents/skills "$T/ws/.agents/skills"
exits 'a second install --locked succeeds' 0 mapm install --locked
like 'a second install --locked has nothing to do' "$err" 'nothing to do'
colleague peer3
CI=true
export CI
exits 'install with CI set succeeds with a lock that fits' 0 mapm install
cp "$T/saved/mapm.yaml" . && sed -i '/agents\/boss/d' mapm.yaml
exits 'install with CI set fails when mapm.yaml has fewer roots' 1 mapm install
like 'the error names the agent that nothing needs' "$err" 'nothing needs agent acme/boss'
exits 'install of an origin with CI set succeeds' 0 mapm install acme/catalog/skills/base@old
unset CI
colleague peer4
exits 'install --locked of a package that is no root fails' 1 mapm install --locked acme/catalog/skills/mid
like 'the error says that it is not a root of mapm.yaml' "$err" 'not a root of mapm.yaml'
exits 'install --locked of a root succeeds' 0 mapm install --locked "$U/main/agents/boss"
exits 'install --locked of a root by its short form succeeds' 0 mapm install --locked acme/catalog/agents/boss
ok 'install --locked of a root leaves mapm.lock unchanged' cmp mapm.lock "$T/saved/mapm.lock"

# --- mapm.yaml says something else ---------------------------------------------------

colleague peer
printf '  skills:\n    - %s/v9/skills/new\n' "$U" >>mapm.yaml
reset_log
exits 'install --locked fails with a root that the lock lacks' 1 mapm install --locked
like 'the error names the root that the lock lacks' "$err" 'v9/skills/new'
is 'install --locked with a root that the lock lacks sends no request' "$(requests)" 0
is 'install --locked with a root that the lock lacks writes nothing' "$(ls -A | tr '\n' ' ')" 'mapm.lock mapm.yaml '
colleague peer
printf 'dependencies:\n' >mapm.yaml
exits 'install --locked fails with a root removed from mapm.yaml' 1 mapm install --locked
like 'the error names a package that nothing needs with its line' "$err" 'mapm\.lock:[0-9]+: nothing needs skill beta/far'
is 'install --locked leaves the lock with too many packages unchanged' "$(cat mapm.lock)" "$(cat "$T/saved/mapm.lock")"

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
        isnt "$what ($way): install fails" "$status" 0
        like "$what ($way): the error gives the reason" "$err" "$words"
        is "$what ($way): the workspace is unchanged" "$(snapshot .)" "$(cat "$T/before")"
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
exits '[D13] install without --locked succeeds with a missing entry' 0 mapm install --yes
like 'install reports that the lock was taken for two joined edits' "$err" 'mapm\.lock:[0-9]+: .*needs skill acme/base.*: taken for two edits that git joined'
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
    exits "install --locked fails with a wrong digest ($state)" 1 mapm install --locked
    like "the error names line and package of the wrong digest ($state)" "$err" 'mapm\.lock:[0-9]+: beta/far'
    not_ok "install --locked with a wrong digest installs nothing ($state)" test -e .agents
done
colleague peer
sed -i 's,name: beta/far,name: beta/fur,; s,skill beta/far,skill beta/fur,' mapm.lock
exits 'install --locked fails with a name that the package does not have' 1 mapm install --locked
like 'the error has the locked and the real name' "$err" 'beta/fur.*beta/far'
exits 'a second install --locked fails with the wrong name' 1 mapm install --locked
colleague peer
other=$(sed -n '/name: acme\/mid/,/digest/s/.*digest: //p' mapm.lock)
sed -i "/name: acme\\/base/,/digest/s/digest: .*/digest: $other/" mapm.lock
exits "install --locked fails with the digest of another package" 1 mapm install --locked
like 'the error names line and package of the other digest' "$err" 'mapm\.lock:[0-9]+: .*acme/base'
colleague peer
printf '\r\n' >"$T/crlf" && sed -i 's/$/\r/' mapm.lock mapm.yaml
exits 'install --locked succeeds with a lock in CRLF' 0 mapm install --locked
like 'install --locked keeps the CRLF of the lock' "$(od -c mapm.lock | head -n 1)" '\\r'
done_testing

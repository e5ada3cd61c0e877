#!/bin/sh
# What is said when something fails: once, as a list where it is one, and with
# what to do. [D18].
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/terminal.sh"
s=$T/src
U=https://github.com/acme/catalog/tree
GHE=https://ghe.corp.example/a/b/tree/main/x

skill "$s/skills/base" 'scope: acme'
skill "$s/skills/mid" 'scope: acme' 'dependencies:' '  skills:' "    - $U/main/skills/base"
skill "$s/tools/echo" 'scope: acme'
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool
make_repo acme/catalog "$s"
start_githost
fresh()
{
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
}

# --- lists, and names once ----------------------------------------------------------

mkdir hollow bad
printf -- '---\nname: bad\ndescription:\ndependencies:\n  skills:\n    - ftp://x/y\n---\nx\n' >bad/SKILL.md
exits '[D18] three origins that fail' 1 mapm install ./nope ./hollow ./bad
is '[D18] are three errors' "$(printf '%s\n' "$err" | grep -c '^mapm: ')" 3
like '[D18] a path is named once' "$err" '^mapm: [^ ]*/nope: there is no such file or folder$'
like '[D18] of a package each fault is a member of a list' "$err" '^  - line 3: '
unlike '[D18] and no reason of the other' "$err" '^  because: line'
exits '[D18] one fault alone' 1 mapm install ./hollow
is '[D18] is one line, and what to do' "$(printf '%s\n' "$err" | wc -l)" 2
mkdir mapm.yaml
exits '[D18] a folder in the place of mapm.yaml' 4 mapm list
is '[D18] is named once' "$(printf '%s\n' "$err" | grep -o 'mapm\.yaml' | wc -l)" 1
rmdir mapm.yaml

# --- no is no ---------------------------------------------------------------------

fresh
on_terminal no "$MAPM" install "$U/main/mcps/io.acme_tool.json"
is '[D18] a no ends with' "$status" 4
like '[D18] that nothing was changed' "$out" '^mapm: nothing was changed$'
unlike '[D18] and no reason for that' "$out" 'because:'
is '[D18] nor was it' "$(ls -A)" ''

# --- the lock ---------------------------------------------------------------------

printf 'dependencies:\n  skills:\n    - %s/main/skills/mid\n' "$U" >mapm.yaml
exits '[D18] --locked without a lock' 1 mapm install --locked
is '[D18] is said in one line' "$(printf '%s\n' "$err" | grep -v '^  hint:')" \
    'mapm: --locked installs what mapm.lock holds, and there is none'
CI=true
export CI
exits '[D18] in CI, too' 1 mapm install
like '[D18] whose word that is' "$err" '^mapm: CI installs what mapm.lock holds'
unset CI
exits 'the lock' 0 mapm install
cp mapm.lock "$T/good.lock"

# bad_field NAME SED FIELD: the line of the field is named.
bad_field()
{
    sed "$2" "$T/good.lock" >mapm.lock
    run mapm list
    like "[D18] $1: the line of the field" "$err" \
        "^mapm: mapm\.lock:$(grep -n "^ *$3: " mapm.lock | tail -n 1 | cut -d: -f1): "
}
bad_field 'a host that is not ours' 's|origin: https://github.com\(.*mid\)|origin: https://example.org\1|' origin
bad_field 'a folder of two packages' 's|path: .agents/skills/mid|path: .agents/skills/base|' path
bad_field 'a need that is not there' 's|needs: \[skill acme/base\]|needs: [skill acme/gone]|' needs
bad_field 'one origin of two' 's|\(origin: .*\)/mid|\1/base|' origin
bad_field 'a malformed digest' '/mid$/,$s|digest: sha256:.*|digest: sha256:1|' digest

# --- mapm.yaml ------------------------------------------------------------------------

fresh
printf 'policy: a: b\n' >mapm.yaml
exits '[D18] mapm.yaml that is no YAML' 1 mapm list
like '[D18] with its line' "$err" '^mapm: mapm\.yaml:1: '
like '[D18] and what to do' "$err" 'hint: put text that holds ": " or " #" in quotes'
printf 'dependencies:\n\tskills: []\n' >mapm.yaml
exits '[D18] tabs' 1 mapm list
like '[D18] are named' "$err" 'hint: indent with blanks: YAML takes no tabs'
printf 'clients: []\nclients: []\n' >mapm.yaml
exits '[D18] a key given twice' 1 mapm list
like '[D18] is told what to do' "$err" 'hint: give it once'
printf 'clients: []\n<<<<<<< ours\n=======\n>>>>>>> theirs\n' >mapm.yaml
exits '[D18] a conflict' 1 mapm list
like '[D18] is no fault of YAML' "$err" '^mapm: mapm\.yaml:2: a merge conflict'

# --- a host of its author ---------------------------------------------------------------

printf 'dependencies:\n  skills:\n    - %s\n' "$GHE" >mapm.yaml
exits '[D18] a host that this user has not configured' 1 mapm install
is '[D18] the two lines for config.yaml' "$(printf '%s\n' "$err" | tail -n 2)" \
    '        hosts:
          - ghe.corp.example'
rm mapm.yaml
skill theirs 'dependencies:' '  skills:' "    - $GHE"
exits '[D18] in a package, too' 1 mapm install ./theirs
is '[D18] the same lines' "$(printf '%s\n' "$err" | tail -n 2)" \
    '        hosts:
          - ghe.corp.example'
mkdir -p "$XDG_CONFIG_HOME/mapm"
printf '%s\n' "$err" | tail -n 2 | sed 's/^        //' >"$XDG_CONFIG_HOME/mapm/config.yaml"
run mapm install --offline ./theirs
unlike '[D18] which are all that was missing' "$err" 'its host is neither'
rm "$XDG_CONFIG_HOME/mapm/config.yaml"

# --- without the network ----------------------------------------------------------------

fresh
exits 'by a full URL' 0 mapm install "$U/main/skills/mid"
fresh
exits '[D18] a short origin without the network' 0 mapm install --offline acme/catalog/skills/mid
like '[D18] is of the usual branch' "$(cat mapm.yaml)" "$U/main/skills/mid"
repo acme/catalog branch trunk main
repo acme/catalog symbolic-ref HEAD refs/heads/trunk
fresh
exits 'the host tells another default branch' 0 mapm install acme/catalog/skills/mid
like 'that one' "$(cat mapm.yaml)" "$U/trunk/skills/mid"
exits 'and another package of it' 0 mapm install "$U/trunk/tools/echo"
stop_githost
fresh
exits '[D18] from then on' 0 mapm install --offline acme/catalog/tools/echo
like '[D18] it is what the host told last' "$(cat mapm.yaml)" "$U/trunk/tools/echo"

# --- a metaskill that is not there --------------------------------------------------------

exits '[D18] a missing metaskill' 1 mapm run nope
is '[D18] is on stdout, byte for byte' "$out" "error: unknown metaskill: 'nope'"
like '[D18] and stderr has the hint alone' "$err" '^hint: '
is '[D18] in one line' "$(printf '%s\n' "$err" | wc -l)" 1
done_testing

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
exits '[D18] install of three failing origins exits with 1' 1 mapm install ./nope ./hollow ./bad
is '[D18] three failing origins give three errors' "$(printf '%s\n' "$err" | grep -c '^mapm: ')" 3
like '[D18] the error of a missing path names it once' "$err" '^mapm: [^ ]*/nope: there is no such file or folder$'
like '[D18] the faults of a package are a list with lines' "$err" '^  - line 3: '
unlike '[D18] the faults of a package are not reasons of each other' "$err" '^  because: line'
exits '[D18] install of one failing origin exits with 1' 1 mapm install ./hollow
is '[D18] one fault gives one line and a hint' "$(printf '%s\n' "$err" | wc -l)" 2
mkdir mapm.yaml
exits '[D18] list exits with 4 when mapm.yaml is a folder' 4 mapm list
is '[D18] the error names mapm.yaml once' "$(printf '%s\n' "$err" | grep -o 'mapm\.yaml' | wc -l)" 1
rmdir mapm.yaml

fresh
mkdir -p own/gone own/bad "$T/local/other"
for d in own/gone own/bad "$T/local/other"; do
    printf -- '---\nname: %s\ndescription: Use it.\n---\nx\n' "${d##*/}" >"$d/SKILL.md"
done
run mapm install ./own/gone ./own/bad "$T/local/other"
rm -r own/gone "$T/local/other" && echo x >own/bad/SKILL.md
exits '[D18] install fails when sources of the workspace are gone or invalid' 1 mapm install
like '[D18] install names the missing source once' "$err" '^    because: there is no such file or folder$'
like '[D18] install gives the fault of the invalid source without its path' "$err" '^    because: line 1: '
exits '[D18] verify exits 3 when sources are gone or invalid' 3 mapm verify
like '[D18] verify names the missing source once' "$out" '^\./own/gone: there is no such file or folder$'
like '[D18] verify gives the fault of the invalid source' "$out" '^\./own/bad: line 1: '
like '[D18] verify gives the reason of a missing file: root' "$out" '^mapm\.lock: skill file:[^ ]*/other: there is no such'
unlike '[D18] verify reports no source of the workspace again as a difference of the lock' "$out" '^mapm\.lock: skill \./own'

# --- no is no ---------------------------------------------------------------------

fresh
on_terminal no "$MAPM" install "$U/main/mcps/io.acme_tool.json"
is '[D18] no on a terminal exits with 4' "$status" 4
like '[D18] no on a terminal reports that nothing was changed' "$out" '^mapm: nothing was changed$'
unlike '[D18] no on a terminal gives no reason' "$out" 'because:'
is '[D18] no on a terminal writes nothing' "$(ls -A)" ''

# --- the lock ---------------------------------------------------------------------

printf 'dependencies:\n  skills:\n    - %s/main/skills/mid\n' "$U" >mapm.yaml
exits '[D18] install --locked without a lock exits with 1' 1 mapm install --locked
is '[D18] the error of a missing lock is one line' "$(printf '%s\n' "$err" | grep -v '^  hint:')" \
    'mapm: --locked installs what mapm.lock holds, and there is none'
CI=true
export CI
exits '[D18] install with CI=true and without a lock exits with 1' 1 mapm install
like '[D18] the error with CI=true names CI' "$err" '^mapm: CI installs what mapm.lock holds'
unset CI
exits 'install that makes the lock succeeds' 0 mapm install
cp mapm.lock "$T/good.lock"

# bad_field NAME SED FIELD: the line of the field is named.
bad_field()
{
    sed "$2" "$T/good.lock" >mapm.lock
    run mapm list
    like "[D18] $1: the error names the line of the field" "$err" \
        "^mapm: mapm\.lock:$(grep -n "^ *$3: " mapm.lock | tail -n 1 | cut -d: -f1): "
}
bad_field 'an origin at a foreign host' 's|origin: https://github.com\(.*mid\)|origin: https://example.org\1|' origin
bad_field 'one folder of two packages' 's|path: .agents/skills/mid|path: .agents/skills/base|' path
bad_field 'a missing need' 's|needs: \[skill acme/base\]|needs: [skill acme/gone]|' needs
bad_field 'one origin of two packages' 's|\(origin: .*\)/mid|\1/base|' origin
bad_field 'a malformed digest' '/mid$/,$s|digest: sha256:.*|digest: sha256:1|' digest

# --- mapm.yaml ------------------------------------------------------------------------

fresh
printf 'policy: a: b\n' >mapm.yaml
exits '[D18] list exits with 1 for a malformed mapm.yaml' 1 mapm list
like '[D18] the error of a malformed mapm.yaml names the line' "$err" '^mapm: mapm\.yaml:1: '
like '[D18] the error of a malformed mapm.yaml suggests quotes' "$err" 'hint: put text that holds ": " or " #" in quotes'
printf 'dependencies:\n\tskills: []\n' >mapm.yaml
exits '[D18] list exits with 1 for tabs in mapm.yaml' 1 mapm list
like '[D18] the error of tabs suggests blanks' "$err" 'hint: indent with blanks: YAML takes no tabs'
printf 'clients: []\nclients: []\n' >mapm.yaml
exits '[D18] list exits with 1 for a repeated key in mapm.yaml' 1 mapm list
like '[D18] the error of a repeated key suggests to give it once' "$err" 'hint: give it once'
printf 'clients: []\n<<<<<<< ours\n=======\n>>>>>>> theirs\n' >mapm.yaml
exits '[D18] list exits with 1 for conflict markers in mapm.yaml' 1 mapm list
like '[D18] the error names the line of the merge conflict' "$err" '^mapm: mapm\.yaml:2: a merge conflict'

# --- a host of its author ---------------------------------------------------------------

printf 'dependencies:\n  skills:\n    - %s\n' "$GHE" >mapm.yaml
exits '[D18] install exits with 1 for a host that is not configured' 1 mapm install
is '[D18] the hint shows the two lines for config.yaml' "$(printf '%s\n' "$err" | tail -n 2)" \
    '        hosts:
          - ghe.corp.example'
rm mapm.yaml
skill theirs 'dependencies:' '  skills:' "    - $GHE"
exits '[D18] install exits with 1 when a package needs a host that is not configured' 1 mapm install ./theirs
is '[D18] the hint of the package shows the same two lines' "$(printf '%s\n' "$err" | tail -n 2)" \
    '        hosts:
          - ghe.corp.example'
mkdir -p "$XDG_CONFIG_HOME/mapm"
printf '%s\n' "$err" | tail -n 2 | sed 's/^        //' >"$XDG_CONFIG_HOME/mapm/config.yaml"
run mapm install --offline ./theirs
unlike '[D18] the two lines in config.yaml make the host known' "$err" 'its host is neither'
rm "$XDG_CONFIG_HOME/mapm/config.yaml"

# --- without the network ----------------------------------------------------------------

fresh
exits 'install of a full URL succeeds' 0 mapm install "$U/main/skills/mid"
fresh
exits '[D18] install --offline of a short origin succeeds' 0 mapm install --offline acme/catalog/skills/mid
like '[D18] a short origin offline gets the branch main' "$(cat mapm.yaml)" "$U/main/skills/mid"
repo acme/catalog branch trunk main
repo acme/catalog symbolic-ref HEAD refs/heads/trunk
fresh
exits 'install of a short origin succeeds with another default branch' 0 mapm install acme/catalog/skills/mid
like 'a short origin gets the default branch of the host' "$(cat mapm.yaml)" "$U/trunk/skills/mid"
exits 'install of another package at that branch succeeds' 0 mapm install "$U/trunk/tools/echo"
stop_githost
fresh
exits '[D18] install --offline of a short origin succeeds after that' 0 mapm install --offline acme/catalog/tools/echo
like '[D18] a short origin offline gets the last known default branch' "$(cat mapm.yaml)" "$U/trunk/tools/echo"

# --- a metaskill that is not there --------------------------------------------------------

exits '[D18] run of a missing metaskill exits with 1' 1 mapm run nope
is '[D18] standard output has the error of other hosts byte for byte' "$out" "error: unknown metaskill: 'nope'"
like '[D18] standard error has the hint alone' "$err" '^hint: '
is '[D18] the hint is one line' "$(printf '%s\n' "$err" | wc -l)" 1
done_testing

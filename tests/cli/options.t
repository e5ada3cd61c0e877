#!/bin/sh
# The command line itself: options, arguments, what wrong ones are told, and
# standard streams that are closed, full or not there. DESIGN 10; [M34, row 7].
. "$(dirname "$0")/../lib/cli.sh"

esc=$(printf '\033')

# usage WHAT PATTERN COMMAND...: exit 2, nothing on stdout, this on stderr.
usage()
{
    what=$1 pattern=$2
    shift 2
    run "$@"
    if [ "$status" -eq 2 ] && [ -z "$out" ] && printf '%s\n' "$err" | grep -Eq -e "$pattern"; then
        pass "$what"
    else
        fail "$what"
        diag "exit status $status, wanted 2 and on stderr: $pattern"
        show_run
    fi
}
# json PYTHON-EXPRESSION: of $out, the document d.
json()
{
    printf '%s\n' "$out" | python3 -S -c '
import json, sys
d = json.load(sys.stdin)
r = eval(sys.argv[1])
print("yes" if r is True else "no" if r is False else r)' "$1" 2>&1
}

# --- commands -------------------------------------------------------------------

exits 'mapm alone is help [D17]' 0 mapm
is 'and says the same' "$out" "$(mapm help)"
like 'by purpose' "$out" '^authoring packages:$'
usage 'an unknown command' 'unknown command "frobnicate"' mapm frobnicate
usage 'has a hint' 'mapm help lists' mapm frobnicate
usage 'a near one is named' 'did you mean "mapm install"' mapm instal
usage 'also when letters are swapped' 'did you mean "mapm update"' mapm updaet
usage 'one that does the opposite is not [D17]' 'did you mean "mapm uninstall"' mapm unistall
usage 'not for a word near it alone, either [D17]' 'did you mean "mapm uninstall"' mapm unstall
usage 'trust is revoked by an option [D17]' 'mapm trust --revoke' mapm untrust
usage 'nor an option that does [D17]' 'hint: mapm help install$' mapm install --unlocked
usage 'an empty one' 'unknown command ""' mapm ''
usage 'a lone dash is a word' 'unknown command "-"' mapm -
usage 'too few arguments' 'mapm why needs \[TYPE\] NAME' mapm why
usage 'are told the usage' 'usage: mapm why' mapm why
usage 'too many' 'too many arguments: "two"' mapm why one two
usage 'too many after a type' 'too many arguments: "two"' mapm why skill one two
usage 'quiet and verbose' 'quiet and --verbose exclude each other' mapm list -q -v
usage 'one argument is too many' 'too many arguments: "x"' mapm verify x
like '[D17] the usage ends with what there is' "$err" 'usage: mapm verify \[OPTION\]\.\.\.$'
usage 'help for what is no command' 'unknown command "nonsense"' mapm help nonsense
usage 'an unknown kind' 'thing' mapm new thing x
usage 'an unknown thing to do' 'frob' mapm store frob
for row in 'new skill metaskill agent mcp plugin' 'catalog add remove list refresh index' \
    'client add remove list' 'store path stats verify gc pull push' 'host add set list remove'; do
    set -- $row
    text=$(mapm help "$1")
    command=$1
    for word in "$@"; do
        [ "$word" = "$command" ] || like "the help of $command has $word" "$text" "^  $word( .*)?  +[A-Z]"
    done
done

# --- options --------------------------------------------------------------------

usage 'an unknown option' 'unknown option --frobnicate' mapm list --frobnicate
usage 'a near one is named' 'did you mean --locked' mapm install --lokced
usage 'of this command only' 'unknown option --locked' mapm list --locked
usage 'not one of another' 'mapm help list' mapm list --locked
usage 'an unknown letter' 'unknown option -x' mapm list -x
usage 'in a cluster' 'unknown option -x' mapm list -qxv
usage 'an option of no name' 'unknown option --' mapm list --=x
usage 'a flag takes no argument' '--json takes no argument' mapm --json=yes list
usage 'an argument is missing' '--color needs an argument: WHEN' mapm list --color
usage 'also behind a letter' 'needs an argument: DIR' mapm list -C
usage 'not one of the choices' '"sometimes" is not one of: auto always never' \
    mapm list --color sometimes
usage 'nor is nothing' '"" is not one of' mapm list --color=
usage '--version is for no command' 'unknown option --version' mapm list --version

exits 'a cluster' 0 mapm list -qy
exits 'options before the command' 0 mapm -q --color never list
exits 'an option behind "="' 0 mapm --color=never list
exits 'the last one counts' 0 mapm --color=always --color=never list
exits 'after "--" all are arguments' 1 mapm why -- --json
like 'as they are' "$err" '"--json"'
exits 'an option may stand behind an argument' 1 mapm why nothing --json
is 'and counts' "$(json 'd["schema"]')" mapm.error/1

# --- -C ---------------------------------------------------------------------------

mkdir -p one/two
exits '-C goes there' 0 mapm -C one init
ok 'and works there' test -f one/mapm.yaml
exits 'one after the other' 0 mapm -C one -C two init
ok 'each from the last' test -f one/two/mapm.yaml
exits 'behind the command, in one word' 0 mapm list -qCone/two
exits 'in the long form' 0 mapm list --directory=one
exits 'a folder that is not there' 1 mapm -C three list
like 'is named' "$err" '-C three: No such file'
exits 'a file is no folder' 1 mapm -C one/mapm.yaml list
like 'and is named' "$err" '-C one/mapm.yaml: Not a directory'
exits 'a failed -C changes nothing' 1 mapm -C three init
not_ok 'nowhere' test -e mapm.yaml

# --- help and version -------------------------------------------------------------

exits 'help' 0 mapm help
all=$out
like 'says how it is called' "$all" '^usage: mapm COMMAND'
exits '--help' 0 mapm --help
is 'is the same' "$out" "$all"
exits '-h' 0 mapm -h
is 'is, too' "$out" "$all"
is 'and goes to stdout' "$err" ''
for c in $(printf '%s\n' "$all" | sed -n '/^options/q; s/^  \([a-z]*\)  .*/\1/p'); do
    exits "help $c" 0 mapm help "$c"
    text=$out
    like 'says how it is called' "$text" "^usage: mapm $c( |\$)"
    exits "$c --help needs no arguments" 0 mapm "$c" --help
    is 'and is the same' "$out" "$text"
done
exits '--version' 0 mapm --version
version=$out
like 'is a name and three numbers' "$version" '^mapm [0-9]+\.[0-9]+\.[0-9]+$'
exits '-V' 0 mapm -V
is 'is the same' "$out" "$version"
exits 'version' 0 mapm version
is 'is, too' "$out" "$version"
exits 'as JSON' 0 mapm version --json
is 'it has a schema' "$(json 'd["schema"]')" mapm.version/1
is 'and the number' "mapm $(json 'd["version"]')" "$version"

exits 'help as JSON [D17]' 0 mapm help --json
is 'it has a schema [D17]' "$(json 'd["schema"]')" mapm.help/1
is 'all commands, as the text [D17]' "$(json '" ".join(c["name"] for c in d["commands"])')" \
    "$(printf '%s\n' "$all" | sed -n '/^options/q; s/^  \([a-z]*\)  .*/\1/p' | tr '\n' ' ' | sed 's/ $//')"
is 'each in a group, with examples [D17]' \
    "$(json 'all(c["group"] and c["examples"] for c in d["commands"])')" yes
is 'the values of options [D17]' "$(json '[o["values"] for o in d["common_options"] if o["name"] == "color"]')" \
    "[['auto', 'always', 'never']]"
is 'no name is empty [D17]' "$(json '[c["name"] for c in d["commands"] if "" in c["aliases"]]')" '[]'
exits 'of one command, by an alias [D17]' 0 mapm add --help --json
is 'is that one [D17]' "$(json '[c["name"] for c in d["commands"]], d["commands"][0]["aliases"]')" \
    "(['install'], ['add', 'i'])"

# --- aliases ------------------------------------------------------------------------

for pair in add:install i:install rm:remove uninstall:remove ls:list up:update upgrade:update; do
    is "${pair%:*} is ${pair#*:} [D17]" "$(mapm "${pair%:*}" --help)" "$(mapm help "${pair#*:}")"
done
like 'help has examples [D17]' "$(mapm help install)" '^  mapm install anthropics/skills --skill pdf,docx$'
like 'and values [D17]' "$(mapm help install)" '^ *one of: auto, copy, hardlink, reflink$'
for c in $(printf '%s\n' "$all" | sed -n '/^options/q; s/^  \([a-z]*\)  .*/\1/p'); do
    mapm help "$c" | sed -n '/^examples:/,/^$/s/^  mapm //p' | while read -r word rest; do
        [ "$word" = "$c" ] || echo "$c: $word $rest"
    done
done >"$T/foreign"
is 'the examples of a command are of it [D17]' "$(cat "$T/foreign")" ''

# --- errors as JSON -----------------------------------------------------------------

exits 'an error as JSON' 2 mapm --json instal
is 'has its schema' "$(json 'd["schema"]')" mapm.error/1
is 'its code' "$(json 'd["error"]["code"]')" usage
is 'its messages' "$(json 'd["error"]["messages"]')" "['unknown command \"instal\"']"
is 'its hint' "$(json 'd["error"]["hint"]')" 'did you mean "mapm install"?'
like 'and stands on stderr as well' "$err" 'unknown command "instal"'
exits 'behind "--" it is an argument' 2 mapm frobnicate -- --json
is 'and no option' "$out" ''
exits 'an error of the system' 1 mapm --json -C three list
is 'has another code' "$(json 'd["error"]["code"] in ("io", "not-found")')" yes
exits 'bytes that are no text' 2 mapm --json "$(printf 'a\377b')"
is 'make good JSON' "$(json 'd["error"]["code"]')" usage
usage 'control characters are made visible' 'unknown command' \
    mapm "$(printf 'a\033[31mb\rc\nd')"
unlike 'on stderr' "$err" "$esc"
is 'on one line' "$(printf '%s\n' "$err" | grep -c '^mapm:')" 1
unlike 'and none begins on its own' "$err" '^d'
usage 'so are bidirectional ones' 'unknown option' \
    mapm list "$(printf -- '--a\342\200\256b')"
unlike 'which would turn the line around' "$err" "$(printf '\342\200\256')"
long=$(printf '%0100000d' 0)
usage 'an endless word' 'unknown command' mapm "$long"
at_most 'is cut' "${#err}" 8000

# --- colour -------------------------------------------------------------------------

# on_terminal ENV... COMMAND...: both streams are a terminal.
on_terminal()
{
    out=$(python3 -S -c '
import os, pty, sys
def read(fd):
    return os.read(fd, 4096)
status = pty.spawn(sys.argv[1:], read)' env TERM=xterm "$@" </dev/null 2>&1)
}
run mapm frobnicate
unlike 'no colour into a file' "$err" "$esc"
run mapm --color=always frobnicate
like 'unless asked for' "$err" "$esc"
NO_COLOR=1 run mapm --color=always frobnicate
like 'which goes before NO_COLOR' "$err" "$esc"
if python3 -S -c 'import pty; pty.openpty()' 2>/dev/null; then
    on_terminal "$MAPM" frobnicate
    like 'colour on a terminal' "$out" "$esc"
    on_terminal "$MAPM" --color=never frobnicate
    unlike 'unless not wanted' "$out" "$esc"
    on_terminal NO_COLOR=1 "$MAPM" frobnicate
    unlike 'or NO_COLOR is set' "$out" "$esc"
    on_terminal NO_COLOR= "$MAPM" frobnicate
    like 'to something' "$out" "$esc"
    on_terminal TERM=dumb "$MAPM" frobnicate
    unlike 'or the terminal cannot' "$out" "$esc"
else
    skip 'colour on a terminal' 'no pseudo-terminals here'
fi

# --- streams ------------------------------------------------------------------------

# with REDIRECTION COMMAND...: $status and $err.
with()
{
    redirection=$1
    shift
    ( eval "exec $redirection"; exec "$@" ) 2>"$T/err"
    status=$?
    err=$(cat "$T/err")
}
for c in 'help' '--version' 'version --json' 'completion bash'; do
    with '>/dev/full' "$MAPM" $c
    is "$c on a full disk fails" "$status" 1
    like 'and says so' "$err" 'standard output: No space left'
    with '>&-' "$MAPM" $c
    is "$c with a closed stdout fails" "$status" 1
done
with '<&-' "$MAPM" help >"$T/text"
is 'a closed stdin is no matter' "$status/$(cat "$T/text")" "0/$all"
with '2>&-' "$MAPM" help >"$T/text"
is 'nor a closed stderr' "$status/$(cat "$T/text")" "0/$all"
with '2>&-' "$MAPM" frobnicate >"$T/text"
is 'an error without stderr is still one' "$status/$(cat "$T/text")" 2/
with '<&- 2>&-' "$MAPM" -C one list --frobnicate
is 'also without stdin' "$status" 2
mkdir bare
with '<&- >&- 2>&-' "$MAPM" -C bare init
like 'with no stream at all it ends' "$status" '^[01]$'
if [ -f bare/mapm.yaml ]; then
    unlike 'and no message lands in a file' "$(cat bare/mapm.yaml)" '^(wrote|next:|mapm:)'
else
    pass 'and no message lands in a file'
fi
# A reader that leaves: an end by the signal, or an error; no other noise.
{ await test -e "$T/left"; "$MAPM" completion bash; echo $? >"$T/status"; } 2>"$T/err" |
    { exec <&-; : >"$T/left"; }
await test -s "$T/status"
like 'a reader that left is no success' "$(cat "$T/status")" '^(1|141)$'
unlike 'and no reason to dump a core' "$(cat "$T/err")" '[Cc]ore|[Aa]bort|Sanitizer'
unlike 'nor to complain' "$(cat "$T/err")" 'Broken pipe'

# --- folders that are gone ------------------------------------------------------------

mkdir gone && cd gone && rmdir ../gone
exits 'a folder that was removed' 1 mapm list
like 'is told' "$err" 'current folder'
like 'with what to do' "$err" 'hint: '
exits 'needs no folder: the version' 0 mapm --version
exits 'needs no folder: help' 0 mapm install --help
exits 'or names another one' 0 mapm -C "$T/ws/one" list
cd "$T/ws" || exit
exits 'without HOME' 0 env -u HOME -u XDG_CONFIG_HOME -u XDG_DATA_HOME "$MAPM" list
exits 'a relative HOME counts as none' 0 env HOME=relative "$MAPM" list
is 'nothing was made there' "$(ls -d relative 2>&1 | grep -c '^relative$')" 0
done_testing

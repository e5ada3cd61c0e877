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

exits 'mapm without arguments succeeds [D17]' 0 mapm
is 'mapm without arguments prints the same as mapm help' "$out" "$(mapm help)"
like 'help groups the commands by purpose' "$out" '^authoring packages:$'
usage 'an unknown command' 'unknown command "frobnicate"' mapm frobnicate
usage 'has a hint' 'mapm help lists' mapm frobnicate
usage 'a near one is named' 'did you mean "mapm install"' mapm instal
usage 'also when letters are swapped' 'did you mean "mapm update"' mapm updaet
usage 'one that does the opposite is not [D17]' 'did you mean "mapm uninstall"' mapm unistall
usage 'not for a word near it alone, either [D17]' 'did you mean "mapm uninstall"' mapm unstall
usage 'export is not told of import [D17]' 'hint: mapm help lists the commands$' mapm export
usage 'stop is told of store, not of start [D17]' 'did you mean "mapm store"' mapm stop
usage 'del is not told of new, with one letter of three in common [D17]' 'hint: mapm help lists the commands$' mapm del
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
like '[D17] the usage of an error ends with what the command accepts' "$err" 'usage: mapm verify \[OPTION\]\.\.\.$'
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

exits 'a cluster of letters is accepted' 0 mapm list -qy
exits 'options before the command are accepted' 0 mapm -q --color never list
exits 'an option with its argument after "=" is accepted' 0 mapm --color=never list
exits 'a repeated option counts as its last value' 0 mapm --color=always --color=never list
exits 'a word after "--" is an argument' 1 mapm why -- --json
like 'the error shows the argument after "--" as it is' "$err" '"--json"'
exits 'an option after an argument is accepted' 1 mapm why nothing --json
is 'an option after an argument has its effect' "$(json 'd["schema"]')" mapm.error/1

# --- -C ---------------------------------------------------------------------------

mkdir -p one/two
exits '-C with a folder succeeds' 0 mapm -C one init
ok '-C runs the command in that folder' test -f one/mapm.yaml
exits 'a repeated -C succeeds' 0 mapm -C one -C two init
ok 'a second -C is relative to the first' test -f one/two/mapm.yaml
exits '-C after the command, in one word with a cluster, is accepted' 0 mapm list -qCone/two
exits '--directory=DIR is accepted' 0 mapm list --directory=one
exits '-C with a missing folder exits with 1' 1 mapm -C three list
like 'the error of -C names the missing folder' "$err" '-C three: No such file'
exits '-C with a file exits with 1' 1 mapm -C one/mapm.yaml list
like 'the error of -C names the file' "$err" '-C one/mapm.yaml: Not a directory'
exits 'init with a failing -C exits with 1' 1 mapm -C three init
not_ok 'init with a failing -C writes no mapm.yaml' test -e mapm.yaml

# --- help and version -------------------------------------------------------------

exits 'mapm help succeeds' 0 mapm help
all=$out
like 'help begins with the usage' "$all" '^usage: mapm COMMAND'
exits '--help succeeds' 0 mapm --help
is '--help prints the same as mapm help' "$out" "$all"
exits '-h succeeds' 0 mapm -h
is '-h prints the same as mapm help' "$out" "$all"
is '-h prints nothing to standard error' "$err" ''
for c in $(printf '%s\n' "$all" | sed -n '/^options/q; s/^  \([a-z]*\)  .*/\1/p'); do
    exits "help of $c succeeds" 0 mapm help "$c"
    text=$out
    like 'the help of a command begins with its usage' "$text" "^usage: mapm $c( |\$)"
    exits "$c --help succeeds without arguments" 0 mapm "$c" --help
    is '--help of a command prints the same as mapm help COMMAND' "$out" "$text"
done
exits '--version succeeds' 0 mapm --version
version=$out
like '--version prints a name and three numbers' "$version" '^mapm [0-9]+\.[0-9]+\.[0-9]+$'
exits '-V succeeds' 0 mapm -V
is '-V prints the same as --version' "$out" "$version"
exits 'mapm version succeeds' 0 mapm version
is 'mapm version prints the same as --version' "$out" "$version"
exits 'version --json succeeds' 0 mapm version --json
is 'version --json names its schema' "$(json 'd["schema"]')" mapm.version/1
is 'version --json has the number of --version' "mapm $(json 'd["version"]')" "$version"

exits 'help --json succeeds [D17]' 0 mapm help --json
is 'help --json names its schema [D17]' "$(json 'd["schema"]')" mapm.help/1
is 'help --json lists the commands of the text [D17]' "$(json '" ".join(c["name"] for c in d["commands"])')" \
    "$(printf '%s\n' "$all" | sed -n '/^options/q; s/^  \([a-z]*\)  .*/\1/p' | tr '\n' ' ' | sed 's/ $//')"
is 'help --json has group and examples of each command [D17]' \
    "$(json 'all(c["group"] and c["examples"] for c in d["commands"])')" yes
is 'help --json lists the values of an option [D17]' "$(json '[o["values"] for o in d["common_options"] if o["name"] == "color"]')" \
    "[['auto', 'always', 'never']]"
is 'help --json has no empty alias [D17]' "$(json '[c["name"] for c in d["commands"] if "" in c["aliases"]]')" '[]'
exits '--help --json of an alias succeeds [D17]' 0 mapm add --help --json
is '--help --json of an alias shows its command with all aliases [D17]' "$(json '[c["name"] for c in d["commands"]], d["commands"][0]["aliases"]')" \
    "(['install'], ['add', 'i'])"

# --- aliases ------------------------------------------------------------------------

for pair in add:install i:install rm:remove uninstall:remove ls:list up:update upgrade:update; do
    is "${pair%:*} prints the help of ${pair#*:} [D17]" "$(mapm "${pair%:*}" --help)" "$(mapm help "${pair#*:}")"
done
like 'the help of install has an example [D17]' "$(mapm help install)" '^  mapm install anthropics/skills --skill pdf,docx$'
like 'the help of install lists the values of an option [D17]' "$(mapm help install)" '^ *one of: auto, copy, hardlink, reflink$'
for c in $(printf '%s\n' "$all" | sed -n '/^options/q; s/^  \([a-z]*\)  .*/\1/p'); do
    mapm help "$c" | sed -n '/^examples:/,/^$/s/^  mapm //p' | while read -r word rest; do
        [ "$word" = "$c" ] || echo "$c: $word $rest"
    done
done >"$T/foreign"
is 'each example in the help of a command begins with that command [D17]' "$(cat "$T/foreign")" ''

# --- errors as JSON -----------------------------------------------------------------

exits '--json with an unknown command exits with 2' 2 mapm --json instal
is 'the error document names its schema' "$(json 'd["schema"]')" mapm.error/1
is 'the error document has the code usage' "$(json 'd["error"]["code"]')" usage
is 'the error document has the message' "$(json 'd["error"]["messages"]')" "['unknown command \"instal\"']"
is 'the error document has the hint' "$(json 'd["error"]["hint"]')" 'did you mean "mapm install"?'
like 'the error of --json is on standard error, too' "$err" 'unknown command "instal"'
exits '--json after "--" with an unknown command exits with 2' 2 mapm frobnicate -- --json
is '--json after "--" prints no document' "$out" ''
exits '--json with a missing folder exits with 1' 1 mapm --json -C three list
is 'the error document of a missing folder has the code io or not-found' "$(json 'd["error"]["code"] in ("io", "not-found")')" yes
exits '--json with a command that is not UTF-8 exits with 2' 2 mapm --json "$(printf 'a\377b')"
is 'the error document of invalid UTF-8 is valid JSON' "$(json 'd["error"]["code"]')" usage
usage 'control characters are made visible' 'unknown command' \
    mapm "$(printf 'a\033[31mb\rc\nd')"
unlike 'the error prints no escape character of an argument' "$err" "$esc"
is 'the error of an argument with newlines has one line' "$(printf '%s\n' "$err" | grep -c '^mapm:')" 1
unlike 'no line of the error begins with text of the argument' "$err" '^d'
usage 'so are bidirectional ones' 'unknown option' \
    mapm list "$(printf -- '--a\342\200\256b')"
unlike 'the error prints no bidirectional control character of an argument' "$err" "$(printf '\342\200\256')"
long=$(printf '%0100000d' 0)
usage 'an endless word' 'unknown command' mapm "$long"
at_most 'the error cuts a very long argument' "${#err}" 8000

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
unlike 'the error in a file has no colour' "$err" "$esc"
run mapm --color=always frobnicate
like 'the error in a file has colour with --color=always' "$err" "$esc"
NO_COLOR=1 run mapm --color=always frobnicate
like '--color=always has precedence over NO_COLOR' "$err" "$esc"
if python3 -S -c 'import pty; pty.openpty()' 2>/dev/null; then
    on_terminal "$MAPM" frobnicate
    like 'the error on a terminal has colour' "$out" "$esc"
    on_terminal "$MAPM" --color=never frobnicate
    unlike 'the error on a terminal has no colour with --color=never' "$out" "$esc"
    on_terminal NO_COLOR=1 "$MAPM" frobnicate
    unlike 'the error on a terminal has no colour with NO_COLOR=1' "$out" "$esc"
    on_terminal NO_COLOR= "$MAPM" frobnicate
    like 'the error on a terminal has colour with an empty NO_COLOR' "$out" "$esc"
    on_terminal TERM=dumb "$MAPM" frobnicate
    unlike 'the error on a terminal has no colour with TERM=dumb' "$out" "$esc"
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
    is "$c exits with 1 when standard output is full" "$status" 1
    like 'the error says that standard output has no space left' "$err" 'standard output: No space left'
    with '>&-' "$MAPM" $c
    is "$c exits with 1 when standard output is closed" "$status" 1
done
with '<&-' "$MAPM" help >"$T/text"
is 'help with a closed standard input succeeds' "$status/$(cat "$T/text")" "0/$all"
with '2>&-' "$MAPM" help >"$T/text"
is 'help with a closed standard error succeeds' "$status/$(cat "$T/text")" "0/$all"
with '2>&-' "$MAPM" frobnicate >"$T/text"
is 'an unknown command with a closed standard error exits with 2' "$status/$(cat "$T/text")" 2/
with '<&- 2>&-' "$MAPM" -C one list --frobnicate
is 'an unknown option with closed standard input and error exits with 2' "$status" 2
mkdir bare
with '<&- >&- 2>&-' "$MAPM" -C bare init
like 'init with all streams closed exits with 0 or 1' "$status" '^[01]$'
if [ -f bare/mapm.yaml ]; then
    unlike 'init with all streams closed writes no message into mapm.yaml' "$(cat bare/mapm.yaml)" '^(wrote|next:|mapm:)'
else
    pass 'init with all streams closed writes no message into mapm.yaml'
fi
# A reader that leaves: an end by the signal, or an error; no other noise.
{ await test -e "$T/left"; "$MAPM" completion bash; echo $? >"$T/status"; } 2>"$T/err" |
    { exec <&-; : >"$T/left"; }
await test -s "$T/status"
like 'a reader that closes the pipe makes mapm end with 1 or SIGPIPE' "$(cat "$T/status")" '^(1|141)$'
unlike 'a closed pipe causes no core dump' "$(cat "$T/err")" '[Cc]ore|[Aa]bort|Sanitizer'
unlike 'a closed pipe causes no message' "$(cat "$T/err")" 'Broken pipe'

# --- folders that are gone ------------------------------------------------------------

mkdir gone && cd gone && rmdir ../gone
exits 'a command in a removed folder exits with 1' 1 mapm list
like 'the error of a removed folder names the current folder' "$err" 'current folder'
like 'the error of a removed folder has a hint' "$err" 'hint: '
exits '--version in a removed folder succeeds' 0 mapm --version
exits '--help in a removed folder succeeds' 0 mapm install --help
exits '-C in a removed folder succeeds' 0 mapm -C "$T/ws/one" list
cd "$T/ws" || exit
exits 'list without HOME succeeds' 0 env -u HOME -u XDG_CONFIG_HOME -u XDG_DATA_HOME "$MAPM" list
exits 'list with a relative HOME succeeds' 0 env HOME=relative "$MAPM" list
is 'a relative HOME is not created' "$(ls -d relative 2>&1 | grep -c '^relative$')" 0
done_testing

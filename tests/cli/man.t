#!/bin/sh
# The manual against the table of commands (by `mapm help`) and against the
# tables that it repeats: error codes, clients, keys, diagnostics. STYLE.md 7.
. "$(dirname "$0")/../lib/cli.sh"

# Long options named by ".It Fl" of a page, sorted.
page_options()
{
    sed -n 's/^\.It Fl //p' "$ROOT/man/$1" | grep -o -e '-[a-z][a-z-]*' |
        sed 's/^/-/' | LC_ALL=C sort -u
}
# Long options of a section of the help, sorted.
help_options()
{
    sed -n "/^$1/,/^\$/s/^  ...  *\(--[a-z-]*\).*/\1/p" | LC_ALL=C sort -u
}
# "--color WHEN" of a section of the help: each option with its argument.
help_arguments()
{
    sed -n "/^$1/,/^\$/s/^  ...  *\(--[a-z-]* [A-Z][A-Z]*\)  .*/\1/p"
}
# Letters: "-q --quiet".
help_letters()
{
    sed -n "/^$1/,/^\$/s/^  \(-.\), \(--[a-z-]*\).*/\1 \2/p"
}

# --- a page for each command, with just its options -----------------------------

commands=$(mapm help | sed -n '/^options/q; s/^  \([a-z]*\)  .*/\1/p')
isnt 'mapm help lists commands' "$commands" ''
for c in $commands; do
    page=mapm-$c.1
    if [ ! -f "$ROOT/man/$page" ]; then
        fail "the manual has the page $page"
        continue
    fi
    mapm help "$c" >"$T/help"
    is "$page has the options of mapm $c" "$(page_options "$page")" \
        "$(help_options options: <"$T/help")"
    missing=
    for o in $(help_options options: <"$T/help"); do
        sed -n '/^\.Sh SYNOPSIS/,/^\.Sh DESC/p' "$ROOT/man/$page" |
            grep -q -e "Fl $o\b" -e "Fl -${o#--}\b" || missing="$missing $o"
    done
    is "$page has its options in the synopsis" "$missing" ''
    missing=
    while read -r option argument; do
        grep -q "^\.It .*Fl -${option#--} Ar $argument\$" "$ROOT/man/$page" ||
            missing="$missing $option $argument"
    done <<LIST
$(help_arguments options: <"$T/help")
LIST
    [ -n "$(help_arguments options: <"$T/help")" ] || missing=
    is "$page has the arguments of its options" "$missing" ''
    missing=
    while read -r letter option; do
        [ -z "$letter" ] ||
            grep -q "^\.It Fl ${letter#-} .*Fl -${option#--}" "$ROOT/man/$page" ||
            missing="$missing $letter"
    done <<LIST
$(help_letters options: <"$T/help")
LIST
    is "$page has the letters of its options" "$missing" ''
    text=$(sed -n 1p "$T/help")
    like "mapm.1 names the command $c" "$(cat "$ROOT/man/mapm.1")" "^\.It Cm $c\$"
    like "mapm.1 refers to the page of the command" "$(cat "$ROOT/man/mapm.1")" "^\.Xr mapm-$c 1 \.\$"
    isnt "mapm help $c begins with a summary" "$text" ''
    for section in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' EXAMPLES 'SEE ALSO'; do
        grep -q "^\.Sh $section\$" "$ROOT/man/$page" || fail "$page has the section $section"
    done
done
for page in "$ROOT"/man/mapm-*.1; do
    c=${page##*/mapm-} c=${c%.1}
    [ "$c" = fetch ] || like "the page of $c belongs to a command" "$commands" "^$c\$"
done
is 'mapm.1 has the common options' \
    "$(page_options mapm.1 | grep -v -e '^--version$')" \
    "$(mapm help | help_options 'options of every')"

# --- tables that the pages repeat ------------------------------------------------

# items PAGE SECTION: what ".It" lines of a section name, one a line, sorted.
items()
{
    sed -n "/^\.Sh $2\$/,/^\.Sh /s/^\.It //p" "$ROOT/man/$1" |
        sed 's/^Cm //; s/ , /\n/g' | LC_ALL=C sort
}
is 'mapm.1 has every error code' "$(items mapm.1 DIAGNOSTICS)" \
    "$(sed -n 's/^ *X([A-Z_]*, "\(.*\)").*/\1/p' "$ROOT/include/base/err.h" |
        grep -v '^none$' | LC_ALL=C sort)"
is 'mapm-check.1 has every code of a diagnostic' \
    "$(items mapm-check.1 DIAGNOSTICS)" \
    "$(python3 -S - "$ROOT" <<'PYTHON'
import glob, re, sys
root, codes = sys.argv[1], set()
for form, files in (
        (r'\{"([a-z0-9-]+)", +"[-EWdmi]{11}"\}', "manifest/level.c"),
        (r'\blint_report\((?:[^,;]*,){3}\s*"([a-z0-9-]+)"', "lint/*.c"),
        (r'\breport\([^,;"]*,\s*"([a-z0-9-]+)"', "lint/*.c"),
        (r'\bdiagnostics_add\((?:[^,;]*,){2}\s*"([a-z0-9-]+)"', "lint/*.c")):
    for file in glob.glob(root + "/" + files):
        codes |= set(re.findall(form, open(file).read()))
print("\n".join(sorted(codes)))
PYTHON
)"
is 'mapm-check.1 has every profile' \
    "$(items mapm-check.1 DESCRIPTION | grep -v '^Fl' | tr '\n' ' ')" \
    "$(bash -c 'source <("$0" completion bash); COMP_WORDS=(mapm check --profile "") COMP_CWORD=3
        _mapm; printf "%s\n" "${COMPREPLY[@]}"' "$MAPM" | LC_ALL=C sort | tr '\n' ' ')"
is 'mapm-client.1 has every client with its title' \
    "$(sed -n '/^\.Sh CLIENTS/,/^\.El/s/^\.It //p' "$ROOT/man/mapm-client.1")" \
    "$(mapm client list --json -v | python3 -S -c 'import json, sys
for c in json.load(sys.stdin)["clients"]: print(c["name"], "Ta", c["title"])')"
for page in mapm.yaml.5 mapm-mcp.1; do
    ok "$page refers to mapm-client.1" grep -q '^\.Xr mapm-client 1' "$ROOT/man/$page"
done
echo 'ask: none' >mapm.yaml
backends=$(mapm list 2>&1 | sed -n 's/.*ask must be one of //p' | tr -d ,)
isnt 'the error for an unknown value of ask lists backends' "$backends" ''
for name in $backends; do
    like "mapm-run.1 has the backend $name" "$(cat "$ROOT/man/mapm-run.1")" \
        "^\.It Cm (.* )?$name\b"
    like "README.md has the backend $name" "$(cat "$ROOT/README.md")" \
        "^(- \*\*Model backend\*\*.*|  .*)\b$name\b"
done
rm mapm.yaml
while read -r name value rest; do
    macro=$(printf '%s' "$name" | tr a-z A-Z)
    real=$(printf '#include "mapm/limits.h"\n%s\n' "$macro" |
        ${CC:-cc} -E -P -I"$ROOT/include" - | tail -n 1 | sed 's/[a-z]//g')
    is "mapm.yaml.5 has the default of the limit $name" "$value" "$(($real))"
done <<LIST
$(sed -n '/^\.Sh LIMITS/,/^\.Sh /s/^\.It \([a-z_]*\) Ta \([0-9]*\) .*/\1 \2/p' \
    "$ROOT/man/mapm.yaml.5")
LIST
mkdir -p "$XDG_CONFIG_HOME/mapm"
while read -r name least ceiling; do
    echo "limits: {$name: ${ceiling}0}" >"$XDG_CONFIG_HOME/mapm/config.yaml"
    run mapm list
    like "mapm.yaml.5 has the range of the limit $name" "$err" "$name must be from $least to $ceiling\$"
done <<LIST
$(sed -n '/^\.Sh LIMITS/,/^\.Sh /s/^\.It \([a-z_]*\) Ta [0-9]* Ta \([0-9]*\) Ta \([0-9]*\) .*/\1 \2 \3/p' \
    "$ROOT/man/mapm.yaml.5")
LIST
rm "$XDG_CONFIG_HOME/mapm/config.yaml"
is 'mapm.yaml.5 has every limit that can be changed' \
    "$(sed -n '/^\.Sh LIMITS/,/^\.Sh /s/^\.It \([a-z_]*\) Ta .*/\1/p' "$ROOT/man/mapm.yaml.5")" \
    "$(sed -n 's/^            struct limit \([a-z_]*\);.*/\1/p' "$ROOT/include/mapm/limits.h")"
keys=$(sed -n '/fields\[\] = {/,/^};/s/^ *{STR_INIT("\([a-z]*\)").*/\1/p' \
    "$ROOT/manifest/lock_fields.c")
isnt 'the source lists keys of the lock' "$keys" ''
for key in $keys; do
    like "mapm.lock.5 has the key $key" \
        "$(sed -n '/^\.Ss Keys/,/^\.Ss Reading/p' "$ROOT/man/mapm.lock.5")" \
        "Cm $key\b"
done

# --- the examples are what they say -----------------------------------------------

# json PAGE: each literal block that begins with "{", parsed: a document, or one a line.
python3 -S - "$ROOT"/man/*.1 >"$T/json" 2>&1 <<'PYTHON'
import json, re, sys
for page in sys.argv[1:]:
    for block in re.findall(r"^\.Bd -literal.*?\n(\{.*?)^\.Ed", open(page).read(), re.S | re.M):
        lines = block.splitlines()
        try:
            if all(line.startswith("{") and line.endswith("}") for line in lines):
                for line in lines:
                    json.loads(line)
            elif "schema" not in json.loads(block):
                print(page, "has an example without schema")
        except ValueError as e:
            print(page, e)
PYTHON
is 'every JSON example of the pages is valid' "$(cat "$T/json")" ''
sed -n '/^A$/,/^\.Ed/p' "$ROOT/man/mapm.yaml.5" |
    sed -n '/^dependencies:/,/^\.Ed/p' | sed '$d' >mapm.yaml
exits 'the example of mapm.yaml in its page is accepted' 0 mapm list
sed -n '/^hosts: /,/^\.Ed/p' "$ROOT/man/mapm.yaml.5" | sed '$d' \
    >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits 'the example of config.yaml in its page is accepted' 0 mapm list
sed -n '/^version: 1/,/^\.Ed/p' "$ROOT/man/mapm.lock.5" | sed '$d' |
    sed "s/\.\.\.64 digits/$(printf %060d 0)/" >mapm.lock
exits 'the example of mapm.lock in its page is accepted' 0 mapm list
like 'list prints the package of the example lock' "$out" '^skill +acme/git-pr +1\.2\.0'

# --- exit statuses ----------------------------------------------------------------

mapm help store >"$T/help"
for word in $(sed -n '1s/.*: \(.*\)\.$/\1/p' "$T/help" | tr -d ,); do
    ok "mapm help store explains $word" grep -q "^  $word .* [A-Z]" "$T/help"
done

# Each command as it is, with an unknown option, and where a file is refused: the
# page of the command lists the status.
skill "$T/status/src/plain"
status_is_listed()
{
    for c in $commands; do
        case $c in
        completion) set -- completion bash ;;
        new) set -- new skill "in-$1" ;;
        install) set -- install --yes "$T/status/src/plain" ;;
        remove | run | why | trust) set -- $c plain ;;
        store) set -- store verify ;;
        bundle) set -- bundle "$T/status/packages.tar" ;;
        skill) set -- skill load plain ;;
        star) set -- star -c 1 ;;
        *) set -- $c ;;
        esac
        run mapm "$@" --offline $unknown
        sed -n '/^\.Sh EXIT STATUS/,/^\.Sh /p' "$ROOT/man/mapm-$c.1" | grep -q "^\.It $status\$" ||
            echo "mapm-$c.1: $status"
    done
}
# statuses WHEN: of all commands, in a workspace that has a package.
statuses()
{
    is "the page of every command lists its exit code: $1" "$(status_is_listed "$1")" ''
}
cd "$T" && rm -rf ws && mkdir -p ws/.claude && cd ws || exit 1
run mapm install --yes "$T/status/src/plain"
cp -a "$T/ws" "$T/status/ws"
unknown=--unknown
statuses usage
unknown=
statuses fine
for how in config lock home; do
    cd "$T" && rm -rf ws && cp -a "$T/status/ws" ws && cd ws || exit 1
    case $how in
    config) echo 'hosts: []' >"$XDG_CONFIG_HOME/mapm/config.yaml" && chmod 666 "$XDG_CONFIG_HOME/mapm/config.yaml" ;;
    lock) rm -f mapm.lock && ln -s /nowhere/at/all mapm.lock ;;
    home) chmod 777 "$MAPM_HOME" ;;
    esac
    statuses "$how refused"
    exits "install is refused with a faulty $how" 4 mapm install --offline
    rm -f "$XDG_CONFIG_HOME/mapm/config.yaml"
    chmod 755 "$MAPM_HOME"
done

# --- form -----------------------------------------------------------------------

if command -v mandoc >/dev/null; then
    for page in "$ROOT"/man/*.[157]; do
        is "${page##*/} passes mandoc -Tlint" "$(mandoc -Tlint -Wwarning "$page" 2>&1)" ''
    done
else
    skip 'the pages lint clean' 'mandoc is not installed'
fi
# Cross references lead somewhere.
missing=
for to in $(sed -n 's/^\.Xr \(mapm[a-z.-]*\) \([157]\).*/\1.\2/p' "$ROOT"/man/*.[157] |
    sort -u); do
    [ -f "$ROOT/man/$to" ] || missing="$missing $to"
done
is 'every reference to a page of mapm leads to a page' "$missing" ''
# [K19, K22] the programs of mapm-metaskill.7 are programs.
count=0
for first in $(sed -n '/^def run(input):$/=' "$ROOT/man/mapm-metaskill.7"); do
    count=$((count + 1))
    mkdir -p "page-$count"
    sed -n "$first,/^\.Ed/p" "$ROOT/man/mapm-metaskill.7" |
        sed '$d; s/\\e/\\/g' >"page-$count/SKILL.star"
    printf -- '---\nname: page-%s\ndescription: As the page has it.\nversion: 1.0.0\n---\n\nInput keys:\n\n- `task`: it.\n' \
        $count >"page-$count/SKILL.md"
    exits "program $count of mapm-metaskill.7 passes check" 0 mapm check --profile metaskill "page-$count"
done
is 'mapm-metaskill.7 has two programs' $count 2
done_testing

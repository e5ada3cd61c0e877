#!/bin/sh
# A person chooses from a catalog, on a terminal. [G8]
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/terminal.sh"
start_githost

has()   # WHAT TEXT PART
{
    case $2 in *"$3"*) pass "$1" ;; *) fail "$1"; diag "no \"$3\" in: $2" ;; esac
}
hasnt()
{
    case $2 in *"$3"*) fail "$1"; diag "\"$3\" is in: $2" ;; *) pass "$1" ;; esac
}
fresh()
{
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
}
installed()
{
    ls .agents/skills 2>/dev/null | tr '\n' ' '
}

S=$T/src
for name in pdf docx xlsx; do skill "$S/skills/$name"; done
skill "$S/skills/evil"
printf '\033]0;title\007\n' >>"$S/skills/evil/SKILL.md"
skill "$S/skills/broken" 'description: 7'
skill "$S/skills/wide" "description: \"$(printf '\346\274\242%.0s' $(seq 200))\""
mcp "$S/mcps/io.acme_tool.json" io.acme/tool npx "$(printf 'x\033]0;title\007')"
mkdir "$S/.claude-plugin"
cat >"$S/.claude-plugin/marketplace.json" <<'JSON'
{"name": "m", "owner": {"name": "x"}, "plugins": [
  {"name": "docs", "source": "./", "strict": false,
   "description": "Docu\u001b]0;title\u0007ments", "skills": ["./skills/pdf", "./skills/docx"]},
  {"name": "npm", "source": {"source": "npm", "package": "x"}},
  {"name": "two words", "source": "./"}]}
JSON
make_repo acme/market "$S"
mkdir -p "$T/list/.claude-plugin"
cp "$S/.claude-plugin/marketplace.json" "$T/list/.claude-plugin"
make_repo acme/list "$T/list"

# --- the list -----------------------------------------------------------------------

exits 'install of a catalog without a terminal succeeds' 0 mapm install acme/market
like 'install without a terminal lists each package with its description' "$out" '^skill +pdf +https://.*/skills/pdf  The pdf package of a test, used by it\.$'
like 'the list says why a package is not installable' "$out" '^skill +broken .*not installable: '
like 'the list has the plugins of the marketplace' "$out" '^plugin +docs '
hasnt 'the list has no escape sequences of a catalog [row 7]' "$out" "$(printf '\033]0;')"
exits 'install --list of a catalog succeeds' 0 mapm install --list acme/market
like 'install --list prints the same list' "$out" '^skill +pdf '
exits 'install --list of a package succeeds' 0 mapm install --list acme/market/skills/pdf
is 'install --list of a package lists that package' "$(printf '%s\n' "$out" | cut -c1-12)" 'skill  pdf  '
is 'install --list of a package prints no advice' "$err" ''
exits 'install --list of a marketplace without packages succeeds' 0 mapm install --list acme/list
like 'install --list shows the plugins of that marketplace' "$out" '^plugin +docs '
exits 'install --list with --all exits with 2' 2 mapm install --list --all acme/market
exits 'install --list without an origin exits with 2' 2 mapm install --list
exits 'install --json of a catalog succeeds' 0 mapm install --json acme/market
has 'has descriptions' "$out" '"description": "The pdf package of a test, used by it."'
is 'listing a catalog writes nothing to the workspace' "$(ls -A)" ''
on_screen 24x80 -- "$MAPM" install --list acme/market
is 'install --list on a terminal succeeds' "$status" 0
hasnt 'install --list on a terminal opens no picker' "$out" '[?1049h'
has 'is by plugin and folder' "$out" 'plugin docs'
is 'install --list on a terminal writes nothing' "$(ls -A)" ''

# --- the picker -----------------------------------------------------------------------

on_screen 24x80 '=esc leaves' '+\x1b' '=nothing was chosen' -- "$MAPM" install acme/market
is 'esc leaves the picker with exit code 0' "$status" 0
has 'it is by plugin' "$out" 'plugin docs (3)'
has 'one without packages here is a line' "$out" 'plugin npm '
hasnt 'the picker shows a plugin without packages as a line, not as a heading' "$out" 'plugin npm (1)'
has 'with entries that are left out' "$out" '1 entry of its marketplace is left out: '
has 'and by folder' "$out" 'skills/ ('
has 'with descriptions' "$out" 'The pdf package of a test'
has 'and tokens' "$out" ' tok '
like 'the picker shows the tokens of the packages of a plugin' "$out" 'plugin docs +12 tok'
has 'and what cannot be had' "$out" 'not installable'
hasnt 'the picker prints no escape sequences of a catalog [row 7]' "$out" "$(printf '\033]0;')"
has 'the screen is as it was' "$out" "$(printf '\033[?1049l')"
is 'leaving the picker by esc writes nothing' "$(ls -A)" ''
on_screen 24x80 '=esc leaves' '+\x03' -- "$MAPM" install acme/market
is 'ctrl-c leaves the picker with exit code 130' "$status" 130
has 'the screen is as it was, too' "$out" "$(printf '\033[?1049l')"
is 'leaving the picker by ctrl-c writes nothing' "$(ls -A)" ''

on_screen 24x80 '=esc leaves' '+xl' '=filter: xl_' '+\r' '=xlsx' -- "$MAPM" install acme/market
is 'enter after a filter succeeds' "$status" 0
is 'enter installs the package at the cursor' "$(installed)" 'xlsx '
on_screen 24x80 '=esc leaves' '+xlsx' '=installed' '+\x1b' -- "$MAPM" install acme/market
is 'the picker marks an installed package' "$status" 0
fresh
on_screen 24x80 '=esc leaves' '+xlsx' '=filter: xlsx_' '+ ' '=1 of' '+\x15' '=filter: _' \
    '+docz\x7fx' '=filter: docx_' '+ ' '=2 of' '+\r' -- "$MAPM" install acme/market
is 'enter after choosing with space succeeds' "$status" 0
is 'enter installs each package that space has chosen' "$(installed)" 'docx xlsx '
like 'a chosen package is written to mapm.yaml by its path' "$(cat mapm.yaml)" 'skills/docx$'
fresh
on_screen 24x80 '=esc leaves' '+skills' '=filter: skills_' '+\x1b[A' '=skills/' '+ ' '= of' '+\r' -- \
    "$MAPM" install acme/market
is 'space at a heading succeeds' "$status" 0
is 'space at a heading chooses all packages below it' "$(installed)" 'evil wide xlsx '
fresh
on_screen 24x80 '=esc leaves' '+\x1b[B\x1b[B\x1b[B\x1b[B' '=pdf' '+\x1b[A' '=pdf' '+ ' '=1 of' '+\r' -- \
    "$MAPM" install acme/market
is 'arrow keys move the cursor' "$status" 0
is 'space after arrow keys chooses one package of a plugin' "$(installed | wc -w)" 1
fresh
on_screen 24x80 '=esc leaves' '+docs' '=filter: docs_' '+\r' -- "$MAPM" install acme/market
is 'enter at a plugin succeeds' "$status" 0
is 'enter at a plugin installs all of its packages' "$(installed)" 'docx pdf '
like 'the plugin is written to mapm.yaml as a plugin' "$(cat mapm.yaml)" 'plugin: docs'
fresh
on_screen 24x80 '=esc leaves' '+broken' '=filter: broken_' '+ \r' '=0 of' '+\x1b' -- \
    "$MAPM" install acme/market
is 'space does not choose a package that is not installable' "$status" 0
on_screen 24x80 '=esc leaves' '+nosuch' '=no package matches' '+\r\x1b' -- "$MAPM" install acme/market
is 'leaving the picker with a filter without a match exits with 0' "$status" 0
is 'leaving the picker after a filter without a match writes nothing' "$(ls -A)" ''

# --- any size ------------------------------------------------------------------------

on_screen 5x20 '=0 of' '+wide' '=filter: wide_' '@40x120' '=esc leaves' '@2x3' '=0 of' '+\x1b' -- \
    "$MAPM" install acme/market
is 'the picker works at any size of the screen and after a resize' "$status" 0
CI=true
export CI
on_screen 24x80 -- "$MAPM" install acme/market
is 'install of a catalog with CI=true succeeds' "$status" 0
hasnt 'install with CI=true opens no picker' "$out" '[?1049h'
CI=false
on_screen 24x80 '=esc leaves' '+\x1b' -- "$MAPM" install acme/market
is 'install with CI=false opens the picker' "$status" 0
has 'and opens the picker' "$out" '[?1049h'
unset CI
TERM=dumb
on_terminal n "$MAPM" install acme/market
is 'install with TERM=dumb succeeds' "$status" 0
hasnt 'install with TERM=dumb opens no picker' "$out" '[?1049h'
on_screen 24x80 -- "$MAPM" install --yes acme/market
is 'install --yes without a choice exits with 3' "$status" 3
hasnt 'install --yes without a choice opens no picker' "$out" '[?1049h'

# --- all of it ---------------------------------------------------------------------------

fresh
mkdir .claude
exits 'install --dry-run --all exits with 3 when a package is not installable' 3 mapm install --dry-run --all acme/market
like 'install --dry-run --all reports how many skills it would add' "$err" '^5 skills of 5 packages; at the start of a session:$'
like 'install --dry-run --all reports the tokens that each client would load' "$err" '^  claude +would load about [0-9]+ tokens for 5 skills'
exits 'install --dry-run --all --json exits with 3' 3 mapm install --dry-run --all --json acme/market
has 'has it, too' "$out" '"client": "claude",'
SLASH_COMMAND_TOOL_CHAR_BUDGET=40 run mapm install --dry-run --all acme/market
like '[G8] install --dry-run --all reports the limit of the client' "$err" '^  claude +would load about [0-9]+ tokens for 5 skills, its limit'
exits 'install --yes of one chosen skill succeeds' 0 mapm install --yes acme/market --skill pdf
unlike 'install of one chosen skill does not report tokens' "$err" 'would load'

# --- five thousand ---------------------------------------------------------------------

python3 -S - "$T/many" <<'P'
import os, sys
for i in range(5000):
    d = f"{sys.argv[1]}/skills/s{i}"
    os.makedirs(d)
    open(f"{d}/SKILL.md", "w").write(
        f"---\nname: s{i}\ndescription: number {i} {'words ' * 50}\n---\n\nDo it.\n")
P
make_repo acme/many "$T/many"
fresh
on_screen 24x80 '=0 of 5000' '+s4999' '=filter: s4999_' '+ ' '=1 of 5000' '+\x15' '=filter: _' \
    '+\x1b[F' '=s999 ' '+\r' -- "$MAPM" install acme/many
is 'the picker finds one of 5,000 packages' "$status" 0
is 'the picker installs the one chosen of 5,000 packages' "$(installed)" 's4999 '

done_testing

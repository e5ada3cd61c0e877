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

exits 'without a terminal' 0 mapm install acme/market
like 'a line each, with its description' "$out" '^skill +pdf +https://.*/skills/pdf  The pdf package of a test, used by it\.$'
like 'and why not' "$out" '^skill +broken .*not installable: '
like 'with the plugins' "$out" '^plugin +docs '
hasnt 'hostile text is escaped [row 7]' "$out" "$(printf '\033]0;')"
exits '--list' 0 mapm install --list acme/market
like 'is the same' "$out" '^skill +pdf '
exits 'of a package' 0 mapm install --list acme/market/skills/pdf
is 'it has itself' "$(printf '%s\n' "$out" | cut -c1-12)" 'skill  pdf  '
is 'and no advice' "$err" ''
exits 'of a list of plugins' 0 mapm install --list acme/list
like 'has these' "$out" '^plugin +docs '
exits 'with a choice' 2 mapm install --list --all acme/market
exits 'without an origin' 2 mapm install --list
exits 'JSON' 0 mapm install --json acme/market
has 'has descriptions' "$out" '"description": "The pdf package of a test, used by it."'
is 'nothing is written' "$(ls -A)" ''
on_screen 24x80 -- "$MAPM" install --list acme/market
is '--list on a terminal' "$status" 0
hasnt 'opens no picker' "$out" '[?1049h'
has 'is by plugin and folder' "$out" 'plugin docs'
is 'nothing is written' "$(ls -A)" ''

# --- the picker -----------------------------------------------------------------------

on_screen 24x80 '=esc leaves' '+\x1b' '=nothing was chosen' -- "$MAPM" install acme/market
is 'esc leaves' "$status" 0
has 'it is by plugin' "$out" 'plugin docs (3)'
has 'one without packages here is a line' "$out" 'plugin npm '
hasnt 'and not a heading as well' "$out" 'plugin npm (1)'
has 'with entries that are left out' "$out" '1 entry of its marketplace is left out: '
has 'and by folder' "$out" 'skills/ ('
has 'with descriptions' "$out" 'The pdf package of a test'
has 'and tokens' "$out" ' tok '
like 'and those of the packages of a plugin' "$out" 'plugin docs +12 tok'
has 'and what cannot be had' "$out" 'not installable'
hasnt 'no title is set by a stranger [row 7]' "$out" "$(printf '\033]0;')"
has 'the screen is as it was' "$out" "$(printf '\033[?1049l')"
is 'nothing is written' "$(ls -A)" ''
on_screen 24x80 '=esc leaves' '+\x03' -- "$MAPM" install acme/market
is 'ctrl-c interrupts' "$status" 130
has 'the screen is as it was, too' "$out" "$(printf '\033[?1049l')"
is 'nothing is written' "$(ls -A)" ''

on_screen 24x80 '=esc leaves' '+xl' '=filter: xl_' '+\r' '=xlsx' -- "$MAPM" install acme/market
is 'a filter and enter' "$status" 0
is 'take what is at the cursor' "$(installed)" 'xlsx '
on_screen 24x80 '=esc leaves' '+xlsx' '=installed' '+\x1b' -- "$MAPM" install acme/market
is 'what is installed is marked' "$status" 0
fresh
on_screen 24x80 '=esc leaves' '+xlsx' '=filter: xlsx_' '+ ' '=1 of' '+\x15' '=filter: _' \
    '+docz\x7fx' '=filter: docx_' '+ ' '=2 of' '+\r' -- "$MAPM" install acme/market
is 'space chooses' "$status" 0
is 'each of them' "$(installed)" 'docx xlsx '
like 'by their paths' "$(cat mapm.yaml)" 'skills/docx$'
fresh
on_screen 24x80 '=esc leaves' '+skills' '=filter: skills_' '+\x1b[A' '=skills/' '+ ' '= of' '+\r' -- \
    "$MAPM" install acme/market
is 'a heading' "$status" 0
is 'chooses all below it' "$(installed)" 'evil wide xlsx '
fresh
on_screen 24x80 '=esc leaves' '+\x1b[B\x1b[B\x1b[B\x1b[B' '=pdf' '+\x1b[A' '=pdf' '+ ' '=1 of' '+\r' -- \
    "$MAPM" install acme/market
is 'arrows move' "$status" 0
is 'to one of a plugin' "$(installed | wc -w)" 1
fresh
on_screen 24x80 '=esc leaves' '+docs' '=filter: docs_' '+\r' -- "$MAPM" install acme/market
is 'a plugin' "$status" 0
is 'is installed whole' "$(installed)" 'docx pdf '
like 'as a plugin' "$(cat mapm.yaml)" 'plugin: docs'
fresh
on_screen 24x80 '=esc leaves' '+broken' '=filter: broken_' '+ \r' '=0 of' '+\x1b' -- \
    "$MAPM" install acme/market
is 'what cannot be installed is not chosen' "$status" 0
on_screen 24x80 '=esc leaves' '+nosuch' '=no package matches' '+\r\x1b' -- "$MAPM" install acme/market
is 'a filter without a match: exit 0' "$status" 0
is 'nothing is written' "$(ls -A)" ''

# --- any size ------------------------------------------------------------------------

on_screen 5x20 '=0 of' '+wide' '=filter: wide_' '@40x120' '=esc leaves' '@2x3' '=0 of' '+\x1b' -- \
    "$MAPM" install acme/market
is 'a screen of any size, and of another one' "$status" 0
CI=true
export CI
on_screen 24x80 -- "$MAPM" install acme/market
is 'in CI' "$status" 0
hasnt 'there is a list' "$out" '[?1049h'
CI=false
on_screen 24x80 '=esc leaves' '+\x1b' -- "$MAPM" install acme/market
is 'CI=false is no CI' "$status" 0
has 'and opens the picker' "$out" '[?1049h'
unset CI
TERM=dumb
on_terminal n "$MAPM" install acme/market
is 'a dumb terminal' "$status" 0
hasnt 'has the list' "$out" '[?1049h'
on_screen 24x80 -- "$MAPM" install --yes acme/market
is '--yes asks nothing, and nothing was installed' "$status" 3
hasnt 'but lists' "$out" '[?1049h'

# --- all of it ---------------------------------------------------------------------------

fresh
mkdir .claude
exits 'all of it, first as a plan' 3 mapm install --dry-run --all acme/market
like 'says how many' "$err" '^5 skills of 5 packages; at the start of a session:$'
like 'and what each client in use would load' "$err" '^  claude +would load about [0-9]+ tokens for 5 skills'
exits 'JSON' 3 mapm install --dry-run --all --json acme/market
has 'has it, too' "$out" '"client": "claude",'
SLASH_COMMAND_TOOL_CHAR_BUDGET=40 run mapm install --dry-run --all acme/market
like '[G8] within its limit' "$err" '^  claude +would load about [0-9]+ tokens for 5 skills, its limit'
exits 'a choice' 0 mapm install --yes acme/market --skill pdf
unlike 'does not' "$err" 'would load'

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
is 'of 5,000 one is found' "$status" 0
is 'and installed' "$(installed)" 's4999 '

done_testing

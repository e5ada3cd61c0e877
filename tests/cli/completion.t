#!/bin/sh
# The completions of bash, zsh and fish: asked the way the shells ask them, on
# the same lines, and compared with what `mapm help` says. STYLE.md 7.
. "$(dirname "$0")/../lib/cli.sh"

mkdir "$T/bin" "$T/zsh" folder 'folder two' own-skill
ln -s "$MAPM" "$T/bin/mapm"
PATH=$T/bin:$PATH
echo hello >file.json

# Four packages, which remove, update and why complete.
id=0123456789012345678901234567890123456789
entry()
{
    printf '  - type: %s\n    name: %s\n' "$1" "$2"
    printf '    origin: https://github.com/acme/catalog/tree/main/%s\n' "$3"
    printf '    commit: %s\n    %s: %s\n    digest: sha256:%s%.24s\n' $id "$4" $id $id $id
    printf '    %s: %s\n' "$5" "$6"
}
echo 'dependencies: {}' >mapm.yaml
{
    echo 'version: 1'
    echo 'packages:'
    entry agent one agents/one tree path .agents/agents/one
    entry mcp io.example/search mcps/s.json blob key io-example-search
    entry skill acme/git-pr skills/git-pr tree path .agents/skills/git-pr
    entry skill find-bugs skills/find-bugs tree path .agents/skills/find-bugs
} >mapm.lock

# Two skills, which mapm skill completes: of one of them a hostile description.
skill_of()
{
    mkdir -p ".agents/skills/$1"
    printf -- '---\nname: %s\ndescription: %s\n---\ntext\n' "$1" "$2" \
        >".agents/skills/$1/SKILL.md"
}
skill_of pdf-forms 'Fill forms.  $(touch expanded)'
skill_of review 'Review code.'
# One has a program, which mapm run completes; and it ran.
skill_of bug-report 'Report bugs.'
echo 'def main(input): return "done"' >.agents/skills/bug-report/SKILL.star

# A catalog, whose skills --skill completes.
start_githost
skill "$T/src/skills/hello"
skill "$T/src/skills/help-desk"
make_repo acme/catalog "$T/src"
mapm run bug-report a=b >/dev/null 2>&1
mapm run bug-report c=d >/dev/null 2>&1

# --- how each shell is asked --------------------------------------------------

# The words that are offered at the end of the line, sorted.
words()
{
    LC_ALL=C sort -u | tr '\n' ' ' | sed 's/^ *//; s/ *$//'
}

# bash cuts the line at "=" and ":" too; so do we here.
cat >"$T/ask.bash" <<'BASH'
source "$1" || exit
line=${2//=/ = }
line=${line//:/ : }
read -ra COMP_WORDS <<<"$line"
[[ $2 == *[\ =] ]] && [[ ${COMP_WORDS[-1]} != = ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$2 COMP_POINT=${#2}
command=$(complete -p mapm) && [[ $command == *'-F _mapm '* ]] || exit
_mapm mapm "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
printf '%s\n' "${COMPREPLY[@]}"
BASH
ask_bash()
{
    bash --norc "$T/ask.bash" "$T/complete.bash" "$1" | words
}

# zsh completes in its line editor only: one that takes the line from $LINE,
# with a compadd that tells what it was given.
cat >"$T/zsh/.zshrc" <<'ZSH'
PROMPT= RPROMPT= unsetopt beep
autoload -Uz compinit && compinit -C -d $ZDOTDIR/dump
source $COMPLETE
compadd() {
  if [[ ${@[1,(i)(-|--)]} == *-[a-zA-Z0-9]#[OAD]* ]]; then
    builtin compadd "$@"
    return
  fi
  local -a hits
  builtin compadd -A hits "$@"
  print -rl -- $hits >>$OUT
  builtin compadd "$@"
}
zle -C ask complete-word _main_complete
zle-line-init() {
  BUFFER=$LINE CURSOR=$#LINE
  zle ask
  print -r -- . >>$OUT
  BUFFER='exit 0'
  zle accept-line
}
zle -N zle-line-init
ZSH
ask_zsh()
{
    rm -f "$T/zsh.out"
    LINE=$1 OUT=$T/zsh.out COMPLETE=$T/complete.zsh ZDOTDIR=$T/zsh TERM=vt100 \
        timeout 30 python3 -S -c 'import pty; pty.spawn(["zsh", "-d", "-i"])' \
        </dev/null >"$T/zsh.log" 2>&1
    # the last line says that it went to the end
    [ "$(tail -n 1 "$T/zsh.out")" = . ] || echo 'zsh: no end'
    sed '$d; s/=$//' "$T/zsh.out" | words
}

ask_fish()
{
    fish --no-config -c 'source $argv[1]; complete -C $argv[2]' \
        "$T/complete.fish" "$1" | sed 's/	.*//; s/^--[a-z-]*=\(.\)/\1/' | words
}

# --- the same for all ----------------------------------------------------------

# offers WHAT LINE WORDS...
offers()
{
    what=$1 line=$2
    shift 2
    is "$shell: $what" "$("ask_$shell" "$line")" "$(printf '%s\n' "$@" | words)"
}
# The long options below a heading of the help; of all commands without one.
own_options()
{
    mapm help "$1" | sed -n '/^options:/,/^$/s/^  ...  *\(--[a-z-]*\).*/\1/p'
}
common=$(mapm help | sed -n '/^options of every/,$s/^  ...  *\(--[a-z-]*\).*/\1/p')
commands=$(mapm help | sed -n '/^options/q; s/^  \([a-z]*\)  .*/\1/p')
isnt 'help lists the commands' "$commands" ''
isnt 'help lists the options of every command' "$common" ''

ask_all()
{
    offers 'the commands' 'mapm ' $commands
    offers 'a command begun' 'mapm insta' install
    offers 'a command behind an option' 'mapm -q insta' install
    offers 'a command behind an option with an argument' 'mapm -C folder insta' install
    offers 'nothing for what is no command' 'mapm nonsense '
    offers 'options without a command' 'mapm --' $common --version
    for c in $commands; do
        offers "the options of $c" "mapm $c --" $common $(own_options "$c")
    done
    offers 'an option begun' 'mapm install --loc' --locked
    offers 'an option behind an argument' 'mapm install x/y --loc' --locked
    offers 'the choices of an option' 'mapm install --link-mode ' \
        auto copy hardlink reflink
    offers 'a choice begun' 'mapm check --profile meta' metaagents metaskill
    offers 'of its own command' 'mapm skill --profile m' metis
    offers 'choices of a common option' 'mapm --color ' auto always never
    offers 'choices behind "="' 'mapm install --link-mode=' auto copy hardlink reflink
    offers 'a choice begun behind "="' 'mapm install --link-mode=re' reflink
    offers 'nothing for free text' 'mapm new --scope '
    offers 'what the store does' 'mapm store ' path stats verify gc pull push
    offers 'one of it begun' 'mapm store -n s' stats
    offers 'it does one thing at a time' 'mapm store gc p'
    offers 'kinds of packages' 'mapm new ' skill metaskill agent mcp plugin
    offers 'but no names of new ones' 'mapm new skill '
    offers 'shells' 'mapm completion ' bash zsh fish
    offers 'commands to help with' 'mapm help upd' update
    offers 'what is installed' 'mapm remove ' one io.example/search acme/git-pr find-bugs
    offers 'more of it' 'mapm update one acme/' acme/git-pr
    offers 'also behind "--"' 'mapm why -- fi' find-bugs
    offers 'a metaskill to run, and no other skill' 'mapm run ' bug-report
    offers 'the runs there are [D17]' 'mapm runs show ' 1 2
    offers 'skills of a catalog [D17]' 'mapm install acme/catalog --skill he' hello help-desk
    offers 'one of them, for an alias [D17]' 'mapm add acme/catalog --skill hel' hello help-desk
    offers 'none without a catalog [D17]' 'mapm install --skill he'
    offers 'packages to an alias [D17]' 'mapm rm one' one
    offers 'and nothing for its input' 'mapm run find-bugs fi'
    offers 'who answers' 'mapm run find-bugs --ask co' codex copilot
    offers 'a tape' 'mapm run find-bugs --replay fi' file.json
    offers 'what can be done with skills' 'mapm skill ' \
        list search match load show files index
    offers 'one of it begun' 'mapm skill sh' show
    offers 'the skills that are here' 'mapm skill load ' bug-report pdf-forms review
    offers 'one of them begun' 'mapm -q skill show re' review
    offers 'more of them' 'mapm skill load review pd' pdf-forms
    offers 'none for a search' 'mapm skill search '
}

for shell in bash zsh fish; do
    exits "$shell: completion prints the script" 0 mapm completion $shell
    printf '%s\n' "$out" >"$T/complete.$shell"
    if ! command -v $shell >/dev/null; then
        skip "$shell: loads and completes" "$shell is not installed"
        continue
    fi
    ok "$shell: the script is valid" $shell -n "$T/complete.$shell"
    ask_all
done

shell=bash
offers 'files and folders' 'mapm check fi' file.json
offers 'folders alone, blanks and all' 'mapm init fo' folder 'folder two'
offers 'the folder of a skill to run' 'mapm run ./own' ./own-skill
if command -v zsh >/dev/null; then
    shell=zsh
    offers 'files and folders' 'mapm check fi' file.json
    offers 'the folder of a skill to run' 'mapm run ./own' own-skill
fi
if command -v fish >/dev/null; then
    shell=fish
    offers 'files and folders' 'mapm check fi' file.json
    offers 'folders alone' 'mapm init folder\ ' 'folder two/'
    offers 'the folder of a skill to run' 'mapm run ./own' ./own-skill/
fi

# --- packages of a hostile list ------------------------------------------------

# The lock refuses such names; were they there, no shell may expand them.
cat >"$T/bin/fake" <<'FAKE'
#!/bin/sh
echo 'skill $(touch expanded) 1.0.0'
echo 'skill `touch expanded` 1.0.0'
echo 'skill good-name 1.0.0'
echo '      a line of prerequisites'
FAKE
chmod +x "$T/bin/fake"
ln -sf "$T/bin/fake" "$T/bin/mapm"
for shell in bash zsh fish; do
    command -v $shell >/dev/null || continue
    offers 'names alone are taken' 'mapm remove ' good-name
    not_ok "$shell: a hostile name is not executed" test -e expanded
done

exits 'completion of an unknown shell is a usage error' 2 "$MAPM" completion tcsh
like 'the error lists the known shells' "$err" 'bash, zsh, fish'
exits 'completion without a shell is a usage error' 2 "$MAPM" completion
done_testing

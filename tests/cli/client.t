#!/bin/sh
# Which clients a workspace is for: --client, mapm client, the one question, and what
# is said of those that are left out. [H7]
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/terminal.sh"

unset CI CODEX_HOME CLAUDE_CONFIG_DIR GEMINI_CLI_HOME
U=https://github.com/acme/catalog/tree/main
config=$XDG_CONFIG_HOME/mapm/config.yaml
skill "$T/src/skills/pdf"
skill "$T/src/skills/docx"
mcp "$T/src/mcps/io.acme_tool.json" io.acme/tool npx -y tool
agent "$T/src/agents/boss"
make_repo acme/catalog "$T/src"
start_githost

# anew [MARKER...]: an empty workspace with these folders, and two clients on the machine.
anew()
{
    cd "$T" && rm -rf ws "$config" && mkdir -p ws "$HOME/.codex" "$HOME/.cursor" && cd ws || exit 1
    git init -q .
    for marker; do mkdir -p "$marker"; done
}
files() { ls -A | grep -v '^.git$' | tr '\n' ' '; }

# --- without a person ----------------------------------------------------------

anew
exits '[H7] without a terminal' 0 mapm install "$U/skills/pdf"
is '[H7] it is for claude' "$(files)" '.agents .claude mapm.lock mapm.yaml '
like '[H7] the others are named in one line' "$err" \
    '^also on this machine: codex,cursor \(mapm install --client codex,cursor\)$'
like '[H7] and what each client sees' "$err" '^clients: claude 1 skill$'
unlike '[H7] nothing is recorded' "$(cat mapm.yaml "$config" 2>/dev/null)" clients
exits '[H7] later' 0 mapm install "$U/skills/docx"
unlike '[H7] they are not named again' "$err" 'also on this machine'
exits '[H7] with -v' 0 mapm install -v
like '[H7] what they see is said without a change' "$err" '^clients: claude 2 skills$'

anew .codex
exits '[H7] a marker' 0 mapm install --yes "$U/mcps/io.acme_tool.json" "$U/agents/boss"
is '[H7] is a word' "$(ls .codex)" "$(printf 'agents\nconfig.toml')"
like '[H7] so it is in use' "$err" '^clients: claude 1 agent 1 server · codex 1 agent, servers after "trust this folder"$'
like '[H7] and not offered' "$err" '^also on this machine: cursor '

for word in CI=true --locked clients; do
    anew
    mapm install -q --yes "$U/skills/pdf" >/dev/null 2>&1
    rm -rf .agents .claude
    case $word in
    CI=*) exits "[H7] $word" 0 env CI=true "$MAPM" install ;;
    clients) printf 'clients: [claude]\n' >>mapm.yaml && exits "[H7] with clients:" 0 mapm install ;;
    *) exits "[H7] $word" 0 mapm install $word ;;
    esac
    unlike "[H7] $word: names no others" "$err" 'also on this machine'
done

# --- clients of mine alone ---------------------------------------------------------

anew
mkdir -p "${config%/*}"
printf 'clients: [codex, kiro]\n' >"$config"
ignore=.git/info/exclude
mkdir -p .git/info && printf '# ours\n*.o\n' >$ignore
cp $ignore "$T/exclude"
exits '[H7] clients of config.yaml' 0 mapm install --yes "$U/mcps/io.acme_tool.json" "$U/agents/boss" "$U/skills/pdf"
is '[H7] what is theirs alone is kept from git' "$(sed 1,2d $ignore)" '# mapm: clients of config.yaml
/.codex/agents/boss.toml
/.kiro/agents/boss.md
/.kiro/skills/pdf
/.codex/config.toml
/.kiro/settings/mcp.json
# mapm: end'
unlike '[H7] as git sees it' "$(git status --porcelain -uall)" 'codex|kiro'
like '[H7] and what the team has is not' "$(git status --porcelain -uall)" '[.]claude/agents/boss.md'
mapm init --gitignore >/dev/null 2>&1
not_ok '[H7] .gitignore has no word of them' grep -q 'codex\|kiro' .gitignore
rm .gitignore
printf 'clients: [claude, codex]\n' >>mapm.yaml
mapm install --yes "$U/skills/docx" >/dev/null 2>&1
unlike '[H7] what the team has as well is not kept from it' "$(cat $ignore)" codex
exits '[H7] what is removed' 0 mapm remove boss docx pdf io.acme/tool
ok '[H7] leaves the bytes from before' cmp $ignore "$T/exclude"

anew
printf 'clients: [codex]\n' >"$config"
git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x
git worktree add -q "$T/tree" && mkdir -p "$T/tree/a [b]" && cd "$T/tree/a [b]" || exit 1
echo 'dependencies: {}' >mapm.yaml
exits '[H7] below a worktree' 0 mapm install --yes "$U/agents/boss"
like '[H7] the paths are those of its repository' "$(cat "$T/ws/.git/info/exclude")" '^/a .+b]/.codex/agents/boss.toml$'
unlike '[H7] as git has them' "$(git status --porcelain -uall)" codex
cd "$T/ws" && rm -rf "$T/tree"

anew
printf 'clients: [codex]\n' >"$config"
mkdir -p .git/info && rm -f $ignore && ln -s "$T/exclude" $ignore
exits '[H7] a link in its place' 0 mapm install --yes "$U/agents/boss"
is '[H7] is not written through' "$(cat "$T/exclude")" "$(printf '# ours\n*.o')"

anew
printf 'clients: [codex]\n' >"$config"
mkdir -p "$T/no-repository" && rm -rf .git && echo "gitdir: $T/no-repository" >.git
exits '[row 15] a .git that leads to a folder of other things' 0 mapm install --yes "$U/agents/boss"
is '[row 15] has nothing written there' "$(ls "$T/no-repository")" ''
rm -rf .git && mkdir .git
exits '[row 15] nor has one that is no repository' 0 mapm install --yes "$U/skills/pdf"
is '[row 15] anything written' "$(ls .git)" ''
rm -rf .git && git init -q
rm -f "$config"

# --- --client --------------------------------------------------------------------

anew
exits '[H7] for one client' 0 mapm install --yes --client codex "$U/mcps/io.acme_tool.json" "$U/agents/boss"
is '[H7] it alone' "$(files)" '.agents .codex mapm.lock mapm.yaml '
exits '[H7] and verify misses nothing' 0 mapm verify
exits '[H7] for one client' 0 mapm install --yes --client codex
like '[H7] is said to see it' "$err" '^clients: codex 1 agent, servers after "trust this folder"$'
exits '[H7] the next one' 0 mapm install --yes --client cursor
ok '[H7] leaves what others have' test -f .codex/agents/boss.toml -a -f .cursor/mcp.json
exits '[H7] as does one without a word' 0 mapm install
ok '[H7] which takes nothing back' test -f .codex/agents/boss.toml -a -f .cursor/mcp.json -a -f .mcp.json
anew
exits '[H7] all' 0 mapm install --yes --client all "$U/mcps/io.acme_tool.json"
is '[H7] are those of this machine' "$(files)" '.agents .codex .cursor .mcp.json mapm.lock mapm.yaml '
anew
exits '[H7] none' 0 mapm install --yes --client none "$U/mcps/io.acme_tool.json" "$U/skills/pdf"
is '[H7] is the library alone' "$(files)" '.agents mapm.lock mapm.yaml '
exits '[H7] a client that is not known' 2 mapm install --client codx
like '[H7] with those that are' "$err" 'not one of: all none claude codex'

# --- a person ----------------------------------------------------------------------

anew .codex
on_terminal no "$MAPM" install "$U/mcps/io.acme_tool.json"
is '[H7] no' "$status" 4
like '[H7] one question' "$out" \
    'Let your agents start this MCP server for claude, codex \(yes\), or for cursor, too \(all\)\? \(y\)es'
is '[H7] changes nothing' "$(files)" '.codex '
on_terminal yes "$MAPM" install "$U/mcps/io.acme_tool.json"
is '[H7] yes' "$status" 0
is '[H7] for those' "$(files)" '.agents .codex .mcp.json mapm.lock mapm.yaml '
like '[H7] recorded for the team where the marker is' "$(cat mapm.yaml)" '^clients: \[codex\]$'
is '[H7] and for the user where none is' "$(cat "$config")" 'clients: [claude]'
like '[H7] beside what was installed' "$(cat mapm.yaml)" 'io.acme_tool.json$'
on_terminal yes "$MAPM" install "$U/skills/pdf"
unlike '[H7] it is asked once' "$out" '\(y\)es'
anew
on_terminal all "$MAPM" install "$U/mcps/io.acme_tool.json" "$U/skills/pdf"
is '[H7] all' "$status" 0
is '[H7] for all' "$(files)" '.agents .claude .codex .cursor .mcp.json mapm.lock mapm.yaml '
is '[H7] no marker, so all are mine' "$(cat "$config")" 'clients: [claude, codex, cursor]'
unlike '[H7] and not the team'"'"'s' "$(cat mapm.yaml)" clients
anew
on_terminal yes "$MAPM" install --yes "$U/skills/pdf"
unlike '[H7] --yes asks nothing' "$out" '\(y\)es'

# What is there after the answer is what was shown before it.
R=$T/race
raced()
{
    skill "$R/skills/pdf" "prereqs: Install $1 first."
    mcp "$R/mcps/io.acme_tool.json" io.acme/tool "$2"
}
for change in 'B tool prereqs skill' 'A other command mcp'; do
    set -- $change
    raced A tool
    make_repo acme/race "$R" && mv "$R" "$R.old"
    raced "$1" "$2"
    anew
    BEFORE_ANSWER="$ROOT/tests/githost/commit-folder $T/repos/acme/race.git $R >/dev/null"
    export BEFORE_ANSWER
    on_terminal all "$MAPM" install acme/race/skills/pdf acme/race/mcps/io.acme_tool.json
    unset BEFORE_ANSWER
    is "[D4] $3 that changed since the question" "$status" 1
    like "[D4] $3: it says so" "$out" "$4 .* has changed since it was shown"
    is "[D4] $3: nothing is there" "$(files)" ''
    rm -rf "$R" "$R.old" "$T/repos/acme/race.git"
done

# --- mapm client -----------------------------------------------------------------------

anew .cursor
mapm install -q --yes "$U/mcps/io.acme_tool.json" "$U/skills/pdf" >/dev/null 2>&1
exits '[H7] list' 0 mapm client list
like '[H7] one in use' "$out" '^cursor +in use +machine +1 skill 1 server$'
like '[H7] one that reads the common folder' "$out" '^codex +- +machine +1 skill$'
exits '[H7] as JSON' 0 mapm client list --json
ok '[H7] with all of it' python3 -S -c 'import json, sys
d = json.loads(sys.argv[1])
c = {x["name"]: x for x in d["clients"]}
assert d["decided"] is False and c["cursor"]["here"] and c["codex"]["on_machine"], d' "$out"
exits '[H7] add' 0 mapm client add codex gemini
is '[H7] without a marker it is mine' "$(cat "$config")" 'clients: [codex, gemini]'
exits '[H7] one with a marker' 0 mapm client add cursor
like '[H7] is the team'"'"'s' "$(cat mapm.yaml)" '^clients: \[cursor\]$'
exits '[H7] --team' 0 mapm client add --team gemini
like '[H7] says so' "$(cat mapm.yaml)" '^clients: \[cursor, gemini\]$'
exits '[H7] again' 0 mapm client add --team gemini
like '[H7] is nothing to do' "$err" 'nothing to do'
exits '[H7] -g' 0 mapm client add -g opencode
like '[H7] is the file of the user' "$(cat "$config")" 'opencode'
exits '[H7] install takes them' 0 mapm install
ok '[H7] all' test -f .codex/config.toml -a -f .gemini/settings.json -a -f opencode.json
exits '[H7] remove' 0 mapm client remove codex gemini opencode cursor
is '[H7] from both files' "$(cat "$config")" 'clients: []'
like '[H7] one that its marker names is left out by name' "$(cat mapm.yaml)" '^clients: \[-cursor\]$'
exits '[H7] install' 0 mapm install
is '[H7] takes it all back' "$(files)" '.agents .claude .cursor .mcp.json mapm.lock mapm.yaml '
is '[H7] of the marked one, too' "$(ls -A .cursor)" ''
exits '[H7] even claude' 0 mapm client remove claude
like '[H7] with what was written' "$err" '^added -claude to mapm\.yaml$'
exits '[H7] then' 0 mapm install
is '[H7] has nothing' "$(files)" '.agents .cursor mapm.lock mapm.yaml '
exits '[H7] an unknown one' 2 mapm client add cursr
like '[H7] with the nearest' "$err" 'did you mean cursor'
exits '[H7] no name' 2 mapm client add
exits '[H7] no word' 2 mapm client drop codex
exits '[H7] two files' 2 mapm client add -g --team codex
exits '[H7] list has no argument' 2 mapm client list codex
here=$PWD
mkdir "$T/crush" && cd "$T/crush" && echo 'clients: [crush]' >mapm.yaml
exits '[H7] one without a file for servers' 0 mapm install -q --yes "$U/mcps/io.acme_tool.json"
like '[H7] names the file' "$(mapm client list)" '^crush +in use +- +nothing, servers only in crush\.json, which is not there$'
echo '{}' >crush.json
exits '[H7] with that file' 0 mapm install -q
like '[H7] it sees the server' "$(mapm client list)" '^crush +in use +- +1 server$'
cd "$here" || exit 1
before=$(cat mapm.yaml)
printf 'clients: text\n' >mapm.yaml
exits '[H7] a file that is not right' 1 mapm client add codex
is '[H7] stays' "$(cat mapm.yaml)" 'clients: text'
printf '%s\n' "$before" >mapm.yaml
chmod 666 "$config"
exits '[H7, row 54] a config.yaml that others may write' 4 mapm client add -g codex
chmod 600 "$config"

# --- what several clients share ----------------------------------------------------------

# again WHAT CLIENTS: what one client was given does not bring the others that read it.
again()
{
    exits "[H7] $1: verify" 0 mapm verify
    exits "[H7] $1: a second install" 0 mapm install -v
    like "[H7] $1: changes nothing" "$err" 'nothing to do'
    unlike "[H7] $1: is for no other client" "$err" "^clients:.*$2"
}
agent "$T/own/agents/judge"
for name in vscode mastra; do
    anew
    printf 'clients: [%s]\n' $name >mapm.yaml
    exits "[H7] $name by clients:" 0 mapm install --yes "$U/mcps/io.acme_tool.json" "$U/skills/pdf"
    again "$name by clients:" 'copilot|qwen|qoder'
    anew
    exits "[H7] $name for one run" 0 mapm install --yes --client claude $name -- "file:$T/own/agents/judge"
    again "$name for one run" 'intellij|qwen|qoder'
done
anew .vscode
exits '[H7] vscode by its marker' 0 mapm install --yes "file:$T/own/agents/judge"
again 'vscode by its marker' copilot

# --- --with-server -----------------------------------------------------------------------

anew .codex
exits '[H7] --with-server' 0 mapm install --with-server
like '[H7] says which clients' "$err" \
    'in this workspace claude, codex start mapm mcp from now on: mapm.yaml says so'

anew .windsurf .codex
exits '[H7] what a client does not see' 0 mapm install --yes "$U/agents/boss" "$U/mcps/io.acme_tool.json"
like '[H7] is named, and why' "$err" \
    '^clients: claude 1 agent 1 server · codex 1 agent, servers after "trust this folder" · windsurf nothing, no agents, servers only with mapm install -g$'

# --- members [D10] -----------------------------------------------------------------------------

# members: two of them, one with the marker of a client, and none of the root's.
members()
{
    anew
    mkdir -p apps/web/.codex apps/cli
    echo 'members: [apps/*]' >mapm.yaml
    printf 'dependencies:\n  skills: ["%s"]\n' "$U/skills/pdf" | tee apps/web/mapm.yaml >apps/cli/mapm.yaml
}
members
exits '[H7] members without a person' 0 mapm install
like '[H7] what each client sees in one' "$err" '^clients of apps/cli: claude 1 skill$'
like '[H7] and in another' "$err" '^clients of apps/web: claude 1 skill · codex 1 skill$'
unlike '[H7] but not where nothing is' "$err" '^clients of \.:'
like '[H7] the others are named' "$err" '^also on this machine: cursor '
exits '[H7] as JSON' 0 mapm install --json
is '[H7] with their member' "$(printf '%s\n' "$out" | python3 -S -c 'import json, sys
print([c["member"] for c in json.load(sys.stdin)["clients"] if c["in_use"] and c["name"] == "codex"])')" "['apps/web']"
members
on_terminal all "$MAPM" install
is '[H7] members and a person' "$status" 0
like '[H7] one question' "$out" 'Install for claude, codex \(yes\), or for cursor, too \(all\)\?'
is '[H7] no marker in any: the answer is mine' "$(cat "$config")" 'clients: [claude, cursor]'
is '[H7] a marker of a member speaks for itself' "$(cat mapm.yaml)" 'members: [apps/*]'
like '[H7] and the answer is for all members' "$out" 'clients of apps/cli: claude 1 skill · cursor 1 skill'
rm -f "$config"

# --- doctor ----------------------------------------------------------------------------------

mkdir -p "$T/bin" && cat >"$T/bin/codex" <<'X'
#!/bin/sh
[ "$*" = 'mcp list' ] && cat "$HOME/codex-says"
X
chmod +x "$T/bin/codex"
PATH=$T/bin:$PATH
anew .codex
mapm install -q --yes "$U/mcps/io.acme_tool.json" "$U/skills/pdf" >/dev/null 2>&1
exits '[H7] doctor' 0 mapm doctor
like '[H7] has the clients' "$out" '^clients$'
like '[H7] what one of them sees' "$out" '^  warn +codex +sees 1 skill, servers after "trust this folder"$'
like '[H7] and what to do' "$out" '-> start codex here once, and trust the folder'
like '[H7] one that is not in use' "$out" '^  missing +cursor +on this machine, not in use here: it sees 1 skill$'
like '[H7] and how it would be' "$out" '-> mapm client add cursor'
printf '[projects."%s"]\ntrust_level = "trusted"\n' "$(pwd -P)" >"$HOME/.codex/config.toml"
exits '[H7] a folder that it trusts' 0 mapm doctor
like '[H7] is seen' "$out" '^  ok +codex +sees 1 skill 1 server$'
exits '[H7] --run' 0 mapm doctor --run
like '[H7] starts nothing that is not trusted' "$out" 'no client is started in a workspace that is not trusted'
mapm trust --workspace --yes >/dev/null 2>&1
echo 'io-acme-tool  npx  enabled' >"$HOME/codex-says"
exits '[H7] --run of a trusted one' 0 mapm doctor --run
like '[H7] the client has them' "$out" '^  ok +codex lists +all 1 server$'
echo nothing >"$HOME/codex-says"
exits '[H7] and one that has not' 0 mapm doctor --run
like '[H7] is named' "$out" '^  warn +codex lists +not io-acme-tool$'
rm "$HOME/codex-says"
exits '[H7] or fails' 0 mapm doctor --run
like '[H7] is not said to lack one' "$out" '^  warn +codex lists +unknown: exit code 1: cat: .*codex-says'
rm -r "$HOME/.codex/config.toml"
done_testing

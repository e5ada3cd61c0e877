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
exits '[H7] install without a terminal succeeds' 0 mapm install "$U/skills/pdf"
is '[H7] install without a terminal serves claude alone' "$(files)" '.agents .claude mapm.lock mapm.yaml '
like '[H7] install names the other clients of the machine in one line' "$err" \
    '^also on this machine: codex,cursor \(mapm install --client codex,cursor\)$'
like '[H7] install prints what each client sees' "$err" '^clients: claude 1 skill$'
unlike '[H7] install without a terminal records no choice of clients' "$(cat mapm.yaml "$config" 2>/dev/null)" clients
exits '[H7] a second install succeeds' 0 mapm install "$U/skills/docx"
unlike '[H7] a second install does not name the other clients again' "$err" 'also on this machine'
exits '[H7] install -v succeeds without a change' 0 mapm install -v
like '[H7] install -v prints what each client sees without a change' "$err" '^clients: claude 2 skills$'

anew .codex
exits '[H7] install --yes succeeds in a workspace with a client marker' 0 mapm install --yes "$U/mcps/io.acme_tool.json" "$U/agents/boss"
is '[H7] install writes the files of the client with the marker' "$(ls .codex)" "$(printf 'agents\nconfig.toml')"
like '[H7] install counts a client with a marker as in use' "$err" '^clients: claude 1 agent 1 server · codex 1 agent, servers after "trust this folder"$'
like '[H7] install does not offer a client that is in use' "$err" '^also on this machine: cursor '

for word in CI=true --locked clients; do
    anew
    mapm install -q --yes "$U/skills/pdf" >/dev/null 2>&1
    rm -rf .agents .claude
    case $word in
    CI=*) exits "[H7] $word" 0 env CI=true "$MAPM" install ;;
    clients) printf 'clients: [claude]\n' >>mapm.yaml && exits "[H7] install succeeds with clients: in mapm.yaml" 0 mapm install ;;
    *) exits "[H7] $word" 0 mapm install $word ;;
    esac
    unlike "[H7] $word: install names no other clients" "$err" 'also on this machine'
done

# --- clients of mine alone ---------------------------------------------------------

anew
mkdir -p "${config%/*}"
printf 'clients: [codex, kiro]\n' >"$config"
ignore=.git/info/exclude
mkdir -p .git/info && printf '# ours\n*.o\n' >$ignore
cp $ignore "$T/exclude"
exits '[H7] install --yes succeeds with clients of config.yaml' 0 mapm install --yes "$U/mcps/io.acme_tool.json" "$U/agents/boss" "$U/skills/pdf"
is '[H7] git excludes the files that only clients of config.yaml have' "$(sed 1,2d $ignore)" '# mapm: clients of config.yaml
/.codex/agents/boss.toml
/.kiro/agents/boss.md
/.kiro/skills/pdf
/.codex/config.toml
/.kiro/settings/mcp.json
# mapm: end'
unlike '[H7] git status does not show the excluded files' "$(git status --porcelain -uall)" 'codex|kiro'
like '[H7] git status shows the files that clients of the team have' "$(git status --porcelain -uall)" '[.]claude/agents/boss.md'
mapm init --gitignore >/dev/null 2>&1
not_ok '[H7] .gitignore does not name the clients of config.yaml' grep -q 'codex\|kiro' .gitignore
rm .gitignore
printf 'clients: [claude, codex]\n' >>mapm.yaml
mapm install --yes "$U/skills/docx" >/dev/null 2>&1
unlike '[H7] git does not exclude files of a client that the team has too' "$(cat $ignore)" codex
exits '[H7] remove of every package succeeds' 0 mapm remove boss docx pdf io.acme/tool
ok '[H7] remove restores the exclude file of git byte for byte' cmp $ignore "$T/exclude"

anew
printf 'clients: [codex]\n' >"$config"
git -c user.name=x -c user.email=x@x commit -q --allow-empty -m x
git worktree add -q "$T/tree" && mkdir -p "$T/tree/a [b]" && cd "$T/tree/a [b]" || exit 1
echo 'dependencies: {}' >mapm.yaml
exits '[H7] install --yes succeeds below a git worktree' 0 mapm install --yes "$U/agents/boss"
like '[H7] excluded paths below a worktree are relative to its root' "$(cat "$T/ws/.git/info/exclude")" '^/a .+b]/.codex/agents/boss.toml$'
unlike '[H7] git status in the worktree does not show the excluded files' "$(git status --porcelain -uall)" codex
cd "$T/ws" && rm -rf "$T/tree"

anew
printf 'clients: [codex]\n' >"$config"
mkdir -p .git/info && rm -f $ignore && ln -s "$T/exclude" $ignore
exits '[H7] install --yes succeeds when the exclude file is a link' 0 mapm install --yes "$U/agents/boss"
is '[H7] install does not write through the link' "$(cat "$T/exclude")" "$(printf '# ours\n*.o')"

anew
printf 'clients: [codex]\n' >"$config"
mkdir -p "$T/no-repository" && rm -rf .git && echo "gitdir: $T/no-repository" >.git
exits '[row 15] install --yes succeeds when .git leads to another folder' 0 mapm install --yes "$U/agents/boss"
is '[row 15] install writes nothing into a folder that is no repository' "$(ls "$T/no-repository")" ''
rm -rf .git && mkdir .git
exits '[row 15] install --yes succeeds with an empty .git folder' 0 mapm install --yes "$U/skills/pdf"
is '[row 15] install writes nothing into an empty .git folder' "$(ls .git)" ''
rm -rf .git && git init -q
rm -f "$config"

# --- --client --------------------------------------------------------------------

anew
exits '[H7] install --client codex succeeds' 0 mapm install --yes --client codex "$U/mcps/io.acme_tool.json" "$U/agents/boss"
is '[H7] install --client codex writes files for codex alone' "$(files)" '.agents .codex mapm.lock mapm.yaml '
exits '[H7] verify succeeds after install --client' 0 mapm verify
exits '[H7] a second install --client codex succeeds' 0 mapm install --yes --client codex
like '[H7] install --client codex prints what codex sees' "$err" '^clients: codex 1 agent, servers after "trust this folder"$'
exits '[H7] install --client cursor succeeds after codex' 0 mapm install --yes --client cursor
ok '[H7] install --client cursor keeps the files of codex' test -f .codex/agents/boss.toml -a -f .cursor/mcp.json
exits '[H7] install without --client succeeds afterwards' 0 mapm install
ok '[H7] install without --client keeps the files of other clients' test -f .codex/agents/boss.toml -a -f .cursor/mcp.json -a -f .mcp.json
anew
exits '[H7] install --client all succeeds' 0 mapm install --yes --client all "$U/mcps/io.acme_tool.json"
is '[H7] install --client all writes files for every client of the machine' "$(files)" '.agents .codex .cursor .mcp.json mapm.lock mapm.yaml '
anew
exits '[H7] install --client none succeeds' 0 mapm install --yes --client none "$U/mcps/io.acme_tool.json" "$U/skills/pdf"
is '[H7] install --client none writes the library alone' "$(files)" '.agents mapm.lock mapm.yaml '
exits '[H7] install --client with an unknown name is a usage error' 2 mapm install --client codx
like '[H7] the error lists the known clients' "$err" 'not one of: all none claude codex'

# --- a person ----------------------------------------------------------------------

anew .codex
on_terminal no "$MAPM" install "$U/mcps/io.acme_tool.json"
is '[H7] install exits 4 when the answer is no' "$status" 4
like '[H7] install asks one question for consent and clients' "$out" \
    'Let your agents start this MCP server for claude, codex \(yes\), or for cursor, too \(all\)\? \(y\)es'
is '[H7] install writes nothing when the answer is no' "$(files)" '.codex '
on_terminal yes "$MAPM" install "$U/mcps/io.acme_tool.json"
is '[H7] install succeeds when the answer is yes' "$status" 0
is '[H7] the answer yes serves the clients in use' "$(files)" '.agents .codex .mcp.json mapm.lock mapm.yaml '
like '[H7] the answer yes records a client with a marker in mapm.yaml' "$(cat mapm.yaml)" '^clients: \[codex\]$'
is '[H7] the answer yes records a client without a marker in config.yaml' "$(cat "$config")" 'clients: [claude]'
like '[H7] mapm.yaml has the installed server beside the clients' "$(cat mapm.yaml)" 'io.acme_tool.json$'
on_terminal yes "$MAPM" install "$U/skills/pdf"
unlike '[H7] a later install does not ask for clients again' "$out" '\(y\)es'
anew
on_terminal all "$MAPM" install "$U/mcps/io.acme_tool.json" "$U/skills/pdf"
is '[H7] install succeeds when the answer is all' "$status" 0
is '[H7] the answer all writes files for every client of the machine' "$(files)" '.agents .claude .codex .cursor .mcp.json mapm.lock mapm.yaml '
is '[H7] the answer all records clients without a marker in config.yaml' "$(cat "$config")" 'clients: [claude, codex, cursor]'
unlike '[H7] the answer all is recorded as the choice of the user, not as the team'"'"'s' "$(cat mapm.yaml)" clients
anew
on_terminal yes "$MAPM" install --yes "$U/skills/pdf"
unlike '[H7] install --yes on a terminal asks no question' "$out" '\(y\)es'

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
    is "[D4] install fails for a $3 that changed after the question" "$status" 1
    like "[D4] the error says that the $3 has changed since it was shown" "$out" "$4 .* has changed since it was shown"
    is "[D4] nothing is installed after the change of the $3" "$(files)" ''
    rm -rf "$R" "$R.old" "$T/repos/acme/race.git"
done

# --- mapm client -----------------------------------------------------------------------

anew .cursor
mapm install -q --yes "$U/mcps/io.acme_tool.json" "$U/skills/pdf" >/dev/null 2>&1
exits '[H7] client list succeeds' 0 mapm client list
like '[H7] client list shows a client in use and what it sees' "$out" '^cursor +in use +machine +1 skill 1 server$'
like '[H7] client list shows a client that only reads the common folder' "$out" '^codex +- +machine +1 skill$'
exits '[H7] client list --json succeeds' 0 mapm client list --json
ok '[H7] client list --json has markers, machine and decision' python3 -S -c 'import json, sys
d = json.loads(sys.argv[1])
c = {x["name"]: x for x in d["clients"]}
assert d["decided"] is False and c["cursor"]["here"] and c["codex"]["on_machine"], d' "$out"
exits '[H7] client add of two clients without markers succeeds' 0 mapm client add codex gemini
is '[H7] client add records clients without markers in config.yaml' "$(cat "$config")" 'clients: [codex, gemini]'
exits '[H7] client add of a client with a marker succeeds' 0 mapm client add cursor
like '[H7] client add records a client with a marker as the team'"'"'s' "$(cat mapm.yaml)" '^clients: \[cursor\]$'
exits '[H7] client add --team succeeds' 0 mapm client add --team gemini
like '[H7] client add --team records the client in mapm.yaml' "$(cat mapm.yaml)" '^clients: \[cursor, gemini\]$'
exits '[H7] client add --team of a recorded client succeeds' 0 mapm client add --team gemini
like '[H7] client add of a recorded client says that there is nothing to do' "$err" 'nothing to do'
exits '[H7] client add -g succeeds' 0 mapm client add -g opencode
like '[H7] client add -g records the client in config.yaml' "$(cat "$config")" 'opencode'
exits '[H7] install succeeds for the added clients' 0 mapm install
ok '[H7] install writes the files of every added client' test -f .codex/config.toml -a -f .gemini/settings.json -a -f opencode.json
exits '[H7] client remove of four clients succeeds' 0 mapm client remove codex gemini opencode cursor
is '[H7] client remove deletes the names from config.yaml' "$(cat "$config")" 'clients: []'
like '[H7] client remove excludes a client with a marker in mapm.yaml' "$(cat mapm.yaml)" '^clients: \[-cursor\]$'
exits '[H7] install succeeds after client remove' 0 mapm install
is '[H7] install deletes the files of removed clients' "$(files)" '.agents .claude .cursor .mcp.json mapm.lock mapm.yaml '
is '[H7] install empties the folder of the excluded client' "$(ls -A .cursor)" ''
exits '[H7] client remove of claude succeeds' 0 mapm client remove claude
like '[H7] client remove says that it added -claude to mapm.yaml' "$err" '^added -claude to mapm\.yaml$'
exits '[H7] install succeeds after the removal of every client' 0 mapm install
is '[H7] install leaves no files of clients' "$(files)" '.agents .cursor mapm.lock mapm.yaml '
exits '[H7] client add of an unknown client is a usage error' 2 mapm client add cursr
like '[H7] the error suggests the nearest client' "$err" 'did you mean cursor'
exits '[H7] client add without a name is a usage error' 2 mapm client add
exits '[H7] client with an unknown subcommand is a usage error' 2 mapm client drop codex
exits '[H7] client add with -g and --team is a usage error' 2 mapm client add -g --team codex
exits '[H7] client list with an argument is a usage error' 2 mapm client list codex
here=$PWD
mkdir "$T/crush" && cd "$T/crush" && echo 'clients: [crush]' >mapm.yaml
exits '[H7] install succeeds for a client without a file for servers' 0 mapm install -q --yes "$U/mcps/io.acme_tool.json"
like '[H7] client list names the missing file for servers' "$(mapm client list)" '^crush +in use +- +nothing, servers only in crush\.json, which is not there$'
echo '{}' >crush.json
exits '[H7] install succeeds once the file for servers exists' 0 mapm install -q
like '[H7] client list shows that the client sees the server' "$(mapm client list)" '^crush +in use +- +1 server$'
cd "$here" || exit 1
before=$(cat mapm.yaml)
printf 'clients: text\n' >mapm.yaml
exits '[H7] client add fails for a malformed mapm.yaml' 1 mapm client add codex
is '[H7] client add leaves a malformed mapm.yaml unchanged' "$(cat mapm.yaml)" 'clients: text'
printf '%s\n' "$before" >mapm.yaml
chmod 666 "$config"
exits '[H7, row 54] client add -g refuses a config.yaml that others may write' 4 mapm client add -g codex
chmod 600 "$config"

# --- what several clients share ----------------------------------------------------------

# again WHAT CLIENTS: what one client was given does not bring the others that read it.
again()
{
    exits "[H7] $1: verify succeeds" 0 mapm verify
    exits "[H7] $1: a second install succeeds" 0 mapm install -v
    like "[H7] $1: a second install has nothing to do" "$err" 'nothing to do'
    unlike "[H7] $1: a second install serves no other client" "$err" "^clients:.*$2"
}
agent "$T/own/agents/judge"
for name in vscode mastra; do
    anew
    printf 'clients: [%s]\n' $name >mapm.yaml
    exits "[H7] install --yes succeeds with $name in clients:" 0 mapm install --yes "$U/mcps/io.acme_tool.json" "$U/skills/pdf"
    again "$name in clients:" 'copilot|qwen|qoder'
    anew
    exits "[H7] install --client claude $name succeeds" 0 mapm install --yes --client claude $name -- "file:$T/own/agents/judge"
    again "$name for one run" 'intellij|qwen|qoder'
done
anew .vscode
exits '[H7] install --yes succeeds with the marker of vscode' 0 mapm install --yes "file:$T/own/agents/judge"
again 'the marker of vscode' copilot

# --- --with-server -----------------------------------------------------------------------

anew .codex
exits '[H7] install --with-server succeeds' 0 mapm install --with-server
like '[H7] install --with-server names the clients that start mapm mcp' "$err" \
    'in this workspace claude, codex start mapm mcp from now on: mapm.yaml says so'

anew .windsurf .codex
exits '[H7] install succeeds for a client that sees nothing' 0 mapm install --yes "$U/agents/boss" "$U/mcps/io.acme_tool.json"
like '[H7] install names the client that sees nothing and says why' "$err" \
    '^clients: claude 1 agent 1 server · codex 1 agent, servers after "trust this folder" · windsurf nothing, no agents, servers only with mapm install -g$'

anew .zed
exits '[H6] all' 0 mapm install --yes --client all "$U/mcps/io.acme_tool.json"
not_ok '[H6] names no client: an unverified file stays as it is' test -e .zed/settings.json
exits '[H6] its name' 0 mapm install --yes --client zed "$U/mcps/io.acme_tool.json"
ok '[H6] does' test -f .zed/settings.json

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
exits '[H7] install of members without a terminal succeeds' 0 mapm install
like '[H7] install prints what each client sees in the first member' "$err" '^clients of apps/cli: claude 1 skill$'
like '[H7] install prints what each client sees in the second member' "$err" '^clients of apps/web: claude 1 skill · codex 1 skill$'
unlike '[H7] install prints no clients for a root without packages' "$err" '^clients of \.:'
like '[H7] install of members names the other clients of the machine' "$err" '^also on this machine: cursor '
exits '[H7] install --json of members succeeds' 0 mapm install --json
is '[H7] install --json has the member of each client' "$(printf '%s\n' "$out" | python3 -S -c 'import json, sys
print([c["member"] for c in json.load(sys.stdin)["clients"] if c["in_use"] and c["name"] == "codex"])')" "['apps/web']"
members
on_terminal all "$MAPM" install
is '[H7] install of members succeeds when the answer is all' "$status" 0
like '[H7] install asks one question for all members' "$out" 'Install for claude, codex \(yes\), or for cursor, too \(all\)\?'
is '[H7] the answer for members is recorded in config.yaml' "$(cat "$config")" 'clients: [claude, cursor]'
is '[H7] the answer for members leaves mapm.yaml of the root unchanged' "$(cat mapm.yaml)" 'members: [apps/*]'
like '[H7] the answer serves the members without a marker' "$out" 'clients of apps/cli: claude 1 skill · cursor 1 skill'
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
exits '[H7] doctor succeeds with several clients' 0 mapm doctor
like '[H7] doctor prints a section of clients' "$out" '^clients$'
like '[H7] doctor warns that servers of codex need a trusted folder' "$out" '^  warn +codex +sees 1 skill, servers after "trust this folder"$'
like '[H7] doctor says how codex learns to trust the folder' "$out" '-> start codex here once, and trust the folder'
like '[H7] doctor shows a client of the machine that is not in use' "$out" '^  missing +cursor +on this machine, not in use here: it sees 1 skill$'
like '[H7] doctor names the command that adds the client' "$out" '-> mapm client add cursor'
printf '[projects."%s"]\ntrust_level = "trusted"\n' "$(pwd -P)" >"$HOME/.codex/config.toml"
exits '[H7] doctor succeeds when codex trusts the folder' 0 mapm doctor
like '[H7] doctor shows that codex sees the server' "$out" '^  ok +codex +sees 1 skill 1 server$'
exits '[H7] doctor --run succeeds in an untrusted workspace' 0 mapm doctor --run
like '[H7] doctor --run starts no client in an untrusted workspace' "$out" 'no client is started in a workspace that is not trusted'
mapm trust --workspace --yes >/dev/null 2>&1
echo 'io-acme-tool  npx  enabled' >"$HOME/codex-says"
exits '[H7] doctor --run succeeds in a trusted workspace' 0 mapm doctor --run
like '[H7] doctor --run shows that the client lists every server' "$out" '^  ok +codex lists +all 1 server$'
echo nothing >"$HOME/codex-says"
exits '[H7] doctor --run succeeds when the client lacks a server' 0 mapm doctor --run
like '[H7] doctor --run names the server that the client lacks' "$out" '^  warn +codex lists +not io-acme-tool$'
rm "$HOME/codex-says"
exits '[H7] doctor --run succeeds when the client fails' 0 mapm doctor --run
like '[H7] doctor --run reports the failure of the client as unknown' "$out" '^  warn +codex lists +unknown: exit code 1: cat: .*codex-says'
rm -r "$HOME/.codex/config.toml"
done_testing

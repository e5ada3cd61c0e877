#!/bin/sh
# Plugins where something went wrong half-way: killed at each step of an install
# (V71), and locks that git could not merge. [G10, D13, row 27]
. "$(dirname "$0")/../lib/cli.sh"
start_githost

S=$T/src
U=https://github.com/acme/p/tree/main/plugins
# plugin NAME: with a skill, a server that mapm starts, one that it does not, and
# a sub-agent.
plugin()
{
    skill "$S/plugins/$1/skills/$1-skill"
    mkdir -p "$S/plugins/$1/agents" "$S/plugins/$1/.claude-plugin"
    printf -- '---\nname: %s-agent\ndescription: d\n---\nDo it\n' "$1" \
        >"$S/plugins/$1/agents/$1-agent.md"
    cat >"$S/plugins/$1/.claude-plugin/plugin.json" <<END
{"name": "$1", "version": "1.0.0", "mcpServers": {
  "$1-web": {"type": "http", "url": "https://example.com/$1"},
  "$1-loc": {"command": "node", "args": ["\${CLAUDE_PLUGIN_ROOT}/s.js"]}}}
END
    echo 1 >"$S/plugins/$1/s.js"
}
plugin one
plugin two
plugin six
make_repo acme/p "$S" >/dev/null

# --- killed [V71] ---------------------------------------------------------------------

[ -f "$MAPM_BUILD/calls.so" ] || broken 'no calls.so'
seen() { snapshot . | grep -v '\.agents/\.mapm'; }
fresh()
{
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
    mkdir .claude && echo '{"mcpServers": {"mine": {"command": "x"}}}' >.mcp.json
    # an install makes .vscode, which would be a client in use from then on
    echo 'clients: [claude, -vscode]' >mapm.yaml
    mapm install --yes --quiet "$U/one"
}
fresh
seen >"$T/old.state"
rm -f "$T/calls.log"
env LD_PRELOAD="$MAPM_BUILD/calls.so" CALLS_BELOW="$T/ws" CALLS_LOG="$T/calls.log" \
    "$MAPM" install --yes --quiet "$U/two" >/dev/null 2>&1
seen >"$T/new.state"
all=$(cut -f 2 "$T/calls.log" | grep -c '[cwmns]')
ok '[V71] an install of a plugin has at least 20 steps to kill it at' test "$all" -ge 20
old=0 new=0 odd=0 bad=0 step=$((all / 16 + 1)) at=$all
while [ $at -gt 0 ]; do
    fresh
    rm -f "$T/calls.log.counts"
    env LD_PRELOAD="$MAPM_BUILD/calls.so" CALLS_BELOW="$T/ws" CALLS_LOG="$T/calls.log" \
        CALLS_FAIL="cwmns:$at:kill" \
        "$MAPM" install --yes --quiet "$U/two" >/dev/null 2>&1
    was=$?
    [ $was -gt 128 ] || diag "not killed at $at: $was"
    run mapm verify # finishes or undoes it
    [ "$status" -eq 0 ] || { bad=$((bad + 1)); diag "at $at"; show_run; }
    seen >"$T/state"
    if cmp -s "$T/state" "$T/old.state"; then
        old=$((old + 1))
    elif cmp -s "$T/state" "$T/new.state"; then
        new=$((new + 1))
    else
        odd=$((odd + 1))
        diag "at $at: $(diff "$T/state" "$T/new.state" | head -n 5)"
    fi
    at=$((at - step))
done
diag "$old old, $new new"
is '[V71, row 27] an install that is killed leaves the old or the new state' "$odd" 0
is '[V71, row 27] verify succeeds after each kill' "$bad" 0
isnt '[V71] an early kill leaves the old state' "$old" 0

# --- merged [D13] ---------------------------------------------------------------------

git()
{
    command git -c user.name=t -c user.email=t@example.com -c core.autocrlf=false \
        -c init.defaultBranch=main "$@"
}
parts() { grep -c '^    plugin: ' mapm.lock; }
mkdir "$T/repo" && cd "$T/repo" && git init -q . || exit 1
printf '%s\n' .agents .claude .mcp.json .codex .gemini >.gitignore
mapm install --yes --quiet "$U/one"
git add .gitignore mapm.yaml mapm.lock && git commit -qm first
git branch theirs
mapm install --yes --quiet "$U/two" && git commit -qam ours
git checkout -q theirs && mapm install --yes --quiet "$U/six" && git commit -qam theirs
git checkout -q main
git merge -q theirs >/dev/null 2>&1
sed -i -e '/^|||||||/,/^=======/{/^=======/!d}' -e '/^[<>=]\{7\}/d' mapm.yaml
ok 'a merge of two added plugins leaves conflict markers in mapm.lock' grep -q '^<<<<<<<' mapm.lock
exits '[D13] install resolves the conflict of two added plugins' 0 mapm install --yes
is '[D13] the merged lock has all parts of three plugins' "$(parts)" 12
exits '[D13] install --locked accepts the merged lock' 0 mapm install --locked
exits '[D13] verify accepts the merged workspace' 0 mapm verify
is '[D13] .mcp.json has a server of each side' "$(grep -c 'example.com/\(two\|six\)' .mcp.json)" 2
git add -A && git commit -qm merged

# Of one plugin that both sides have changed the later commit counts.
git branch -f theirs main
echo more >>"$S/plugins/one/skills/one-skill/SKILL.md"
make_repo acme/p "$S" >/dev/null
mapm update --yes --quiet one && git commit -qam 'ours: one'
git checkout -q theirs
echo 2 >>"$S/plugins/one/s.js"
skill "$S/plugins/one/skills/one-more"
make_repo acme/p "$S" >/dev/null
mapm update --yes --quiet one && git commit -qam 'theirs: one'
git checkout -q main
git merge -q theirs >/dev/null 2>&1
ok 'a merge of two updates of a plugin leaves conflict markers in mapm.lock' grep -q '^<<<<<<<' mapm.lock
exits '[D13] install resolves the conflict of two updates' 0 mapm install --yes
ok '[D13] the merged lock has the part that the later commit added' grep -q 'one/one-more' mapm.lock
exits '[D13] install --locked accepts the lock of the later commit' 0 mapm install --locked
exits '[D13] verify accepts the workspace of the later commit' 0 mapm verify
done_testing

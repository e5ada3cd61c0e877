#!/bin/sh
# A file: root in a checkout stands for its remote; what git tracks is not local. [D9]
. "$(dirname "$0")/../lib/cli.sh"

U=https://github.com
start_githost
git config --global user.name t && git config --global user.email t@example.com
git config --global init.defaultBranch main
fresh()
{
    cd "$T" && rm -rf w && mkdir w && cd w || exit 1
}
block()
{
    awk -v name="    name: $1" '/^  - type/ {if (keep) exit; text = ""} {text = text $0 "\n"}
        $0 == name {keep = 1} END {if (keep) printf "%s", text}' "$2"
}
s=$T/seed
skill "$s/skills/old" 'description: pushed'
make_repo acme/catalog "$s"
old=$COMMIT
git clone -q "$T/repos/acme/catalog.git" "$T/catalog"
c=$T/catalog
git -C "$c" remote set-url origin git@github.com:acme/catalog.git
skill "$c/skills/old" 'description: edited'
skill "$c/skills/new" 'description: new'
agent "$c/agents/boss" 'dependencies:' '  skills:' "    - $U/acme/catalog/tree/main/skills/old" \
    "    - $U/acme/catalog/tree/main/skills/new"

fresh
exits '[D9] siblings are found before they are pushed' 0 mapm install --yes ../catalog/agents/boss
ok '[D9] the new one' test -f .agents/skills/new/SKILL.md
like '[D9] and the edited one' "$(cat .agents/skills/old/SKILL.md)" 'edited'
like '[D9] the plan says where they are from' "$out" 'skill new .*\(from this checkout\)'
like '[D9] mapm.local.lock has them' "$(block new mapm.local.lock)" "from: file:$c/skills/new"
unlike '[D9] mapm.lock does not' "$(cat mapm.lock 2>/dev/null)" 'skills/new'
exits '[D9] list shows it' 0 mapm list
like '[D9] as from this checkout' "$out" 'skill new .*\(from this checkout\)'
exits '[D9] tree, too' 0 mapm tree
like '[D9] as from this checkout' "$out" 'skill new .*\(from this checkout\)'
exits '[D9] why, too' 0 mapm why new
like '[D9] as from this checkout' "$out" 'skill new \(from this checkout\)'
exits '[D9] check, too' 0 mapm check -v
like '[D9] as from this checkout' "$out" '^.agents/skills/new/SKILL.md: .*\(from this checkout\)$'
exits '[D9] verify' 0 mapm verify
exits '[D9] nothing to do' 0 mapm install
like '[D9] says so' "$err" 'nothing to do'
skill "$c/skills/new" 'description: again'
exits '[D9] an edit' 0 mapm install --yes
like '[D9] is taken' "$(cat .agents/skills/new/SKILL.md)" 'again'
fresh
exits '[D9] --no-self asks the remote' 1 mapm install --yes --no-self ../catalog/agents/boss
like '[D9] which lacks it' "$err" 'skills/new'

# --- which refs ---------------------------------------------------------------------

need()
{
    agent "$c/agents/boss" 'dependencies:' '  skills:' "    - $U/acme/catalog/tree/$1"
}
repo acme/catalog tag v1 main
need v1/skills/old
fresh
exits '[D9] a tag' 0 mapm install --yes ../catalog/agents/boss
like '[D9] is fetched' "$(cat .agents/skills/old/SKILL.md)" 'pushed'
need "$old/skills/old"
fresh
exits '[D9] a commit' 0 mapm install --yes ../catalog/agents/boss
like '[D9] is fetched' "$(cat .agents/skills/old/SKILL.md)" 'pushed'
need topic/skills/new
fresh
exits '[D9] a ref that the remote lacks' 0 mapm install --yes ../catalog/agents/boss
like '[D9] is that of the checkout' "$(cat .agents/skills/new/SKILL.md)" 'again'
for words in 'install' 'install --offline' 'install --locked' 'verify' 'outdated' 'outdated new' 'update'; do
    exits "[D9] also for $words" 0 mapm $words
done
echo later >>"$c/skills/new/SKILL.md"
exits '[D1, D9] outdated' 3 mapm outdated
like '[D1, D9] shows what changed in the checkout' "$out" '^skill +new '
sed -i '$d' "$c/skills/new/SKILL.md"
git -C "$c" checkout -q -b feature/x
need feature/x/skills/old
fresh
exits '[D9] the branch that is checked out' 0 mapm install --yes ../catalog/agents/boss
like '[D9] is that of the checkout' "$(cat .agents/skills/old/SKILL.md)" 'edited'
need main/skills/old
fresh
exits '[D9] the default branch' 0 mapm install --yes ../catalog/agents/boss
like '[D9] is that of the checkout' "$(cat .agents/skills/old/SKILL.md)" 'edited'
git -C "$c" remote set-url origin https://github.com/other/catalog
fresh
exits '[D9] another remote' 0 mapm install --yes ../catalog/agents/boss
like '[D9] stands for nothing' "$(cat .agents/skills/old/SKILL.md)" 'pushed'
git -C "$c" remote set-url origin ssh://git@github.com/acme/catalog.git

# --- not more than that --------------------------------------------------------------

fresh
printf 'policy:\n  sources: [github.com/other/*]\n' >mapm.yaml
exits '[D9] policy.sources is of the origin' 4 mapm install --yes ../catalog/agents/boss
fresh
mkdir -p "$T/outside/leak" && skill "$T/outside/leak"
ln -s ../../outside/leak "$c/skills/leak"
need main/skills/leak
exits '[D9] a link that leaves the checkout' 1 mapm install --yes ../catalog/agents/boss
not_ok '[D9] is not followed' test -e .agents/skills/leak
need main/skills/old
printf '[include]\n\tpath = %s/evil.config\n' "$T" >>"$c/.git/config"
printf '[remote "x"]\n\turl = https://github.com/third/party\n[core]\n\tfsmonitor = touch %s/ran\n\tsshCommand = touch %s/ran\n' "$T" "$T" >"$T/evil.config"
agent "$c/agents/boss" 'dependencies:' '  skills:' "    - $U/third/party/tree/main/skills/old"
fresh
exits '[D9] an include' 1 mapm install --yes ../catalog/agents/boss
not_ok '[D9] is not read, and nothing is started' test -e "$T/ran"
rm "$T/evil.config"
need main/skills/old
if can_chown && obeys_modes; then :; elif can_chown; then
    chown 12345 "$c/.git/config"
    fresh
    run mapm install --yes ../catalog/agents/boss
    like '[D9] configuration of another user does not count' "$(cat .agents/skills/old/SKILL.md)" 'pushed'
    chown "$(id -u)" "$c/.git/config"
fi
fresh
git -C "$c" worktree add -q "$T/tree" -b wt
skill "$T/tree/skills/old" 'description: worktree'
agent "$T/tree/agents/boss" 'dependencies:' '  skills:' "    - $U/acme/catalog/tree/wt/skills/old"
exits '[D9] a worktree' 0 mapm install --yes ../tree/agents/boss
like '[D9] has a branch of its own' "$(cat .agents/skills/old/SKILL.md)" 'worktree'

# --- mapm.local.* that git tracks -------------------------------------------------------

tracked()
{
    fresh
    git init -q . && [ -z "$1" ] || git config index.version "$1"
    mkdir -p services/api && cd services/api || exit 1
    printf 'dependencies:\n  skills:\n    - file:%s/skills/old\n' "$c" >mapm.local.yaml
    touch mapm.yaml a b && git add -f a b mapm.yaml mapm.local.yaml
    exits "[D9] mapm.local.yaml that git tracks, index ${1:-2}" 0 mapm install --yes
    like '[D9] is not read' "$err" 'mapm.local.yaml is tracked by git'
    not_ok '[D9] nothing of it is here' test -e .agents/skills/old
    git rm -q --cached mapm.local.yaml
    exits '[D9] and counts when it is not' 0 mapm install --yes
    ok '[D9] all of it' test -e .agents/skills/old
}
tracked ''
tracked 3
tracked 4
done_testing

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
exits '[D9] install from a checkout finds siblings that are not pushed' 0 mapm install --yes ../catalog/agents/boss
ok '[D9] install provisions the new sibling of the checkout' test -f .agents/skills/new/SKILL.md
like '[D9] install provisions the edited sibling of the checkout' "$(cat .agents/skills/old/SKILL.md)" 'edited'
like '[D9] the plan marks the sibling as from this checkout' "$out" 'skill new .*\(from this checkout\)'
like '[D9] mapm.local.lock has the origin of the sibling' "$(block new mapm.local.lock)" "from: file:$c/skills/new"
unlike '[D9] mapm.lock does not have the sibling' "$(cat mapm.lock 2>/dev/null)" 'skills/new'
exits '[D9] list succeeds with a sibling of a checkout' 0 mapm list
like '[D9] list marks the sibling as from this checkout' "$out" 'skill new .*\(from this checkout\)'
exits '[D9] tree succeeds with a sibling of a checkout' 0 mapm tree
like '[D9] tree marks the sibling as from this checkout' "$out" 'skill new .*\(from this checkout\)'
exits '[D9] why succeeds for a sibling of a checkout' 0 mapm why new
like '[D9] why marks the sibling as from this checkout' "$out" 'skill new \(from this checkout\)'
exits '[D9] check succeeds with a sibling of a checkout' 0 mapm check -v
like '[D9] check marks the sibling as from this checkout' "$out" '^.agents/skills/new/SKILL.md: .*\(from this checkout\)$'
exits '[D9] verify succeeds with a sibling of a checkout' 0 mapm verify
exits '[D9] a second install from a checkout succeeds' 0 mapm install
like '[D9] a second install from a checkout reports nothing to do' "$err" 'nothing to do'
skill "$c/skills/new" 'description: again'
exits '[D9] install succeeds after an edit of the sibling' 0 mapm install --yes
like '[D9] install provisions the edited sibling again' "$(cat .agents/skills/new/SKILL.md)" 'again'
fresh
exits '[D9] install --no-self exits with 1 when the remote lacks the sibling' 1 mapm install --yes --no-self ../catalog/agents/boss
like '[D9] the error names the sibling that the remote lacks' "$err" 'skills/new'

# --- which refs ---------------------------------------------------------------------

need()
{
    agent "$c/agents/boss" 'dependencies:' '  skills:' "    - $U/acme/catalog/tree/$1"
}
repo acme/catalog tag v1 main
need v1/skills/old
fresh
exits '[D9] install with a need at a tag succeeds' 0 mapm install --yes ../catalog/agents/boss
like '[D9] a need at a tag is fetched from the remote' "$(cat .agents/skills/old/SKILL.md)" 'pushed'
need "$old/skills/old"
fresh
exits '[D9] install with a need at a commit succeeds' 0 mapm install --yes ../catalog/agents/boss
like '[D9] a need at a commit is fetched from the remote' "$(cat .agents/skills/old/SKILL.md)" 'pushed'
need topic/skills/new
fresh
exits '[D9] install with a need at a ref that the remote lacks succeeds' 0 mapm install --yes ../catalog/agents/boss
like '[D9] a need at a ref that the remote lacks comes from the checkout' "$(cat .agents/skills/new/SKILL.md)" 'again'
for words in 'install' 'install --offline' 'install --locked' 'verify' 'outdated' 'outdated new' 'update'; do
    exits "[D9] $words succeeds with a need from the checkout" 0 mapm $words
done
echo later >>"$c/skills/new/SKILL.md"
exits '[D1, D9] outdated exits with 3 after an edit in the checkout' 3 mapm outdated
like '[D1, D9] outdated lists the package that changed in the checkout' "$out" '^skill +new '
sed -i '$d' "$c/skills/new/SKILL.md"
git -C "$c" checkout -q -b feature/x
need feature/x/skills/old
fresh
exits '[D9] install with a need at the checked-out branch succeeds' 0 mapm install --yes ../catalog/agents/boss
like '[D9] a need at the checked-out branch comes from the checkout' "$(cat .agents/skills/old/SKILL.md)" 'edited'
need main/skills/old
fresh
exits '[D9] install with a need at the default branch succeeds' 0 mapm install --yes ../catalog/agents/boss
like '[D9] a need at the default branch comes from the checkout' "$(cat .agents/skills/old/SKILL.md)" 'edited'
git -C "$c" remote set-url origin https://github.com/other/catalog
fresh
exits '[D9] install from a checkout with another remote succeeds' 0 mapm install --yes ../catalog/agents/boss
like '[D9] a checkout with another remote does not replace the need' "$(cat .agents/skills/old/SKILL.md)" 'pushed'
git -C "$c" remote set-url origin ssh://git@github.com/acme/catalog.git

# --- not more than that --------------------------------------------------------------

fresh
printf 'policy:\n  sources: [github.com/other/*]\n' >mapm.yaml
exits '[D9] install exits with 4 when policy.sources excludes the remote of the checkout' 4 mapm install --yes ../catalog/agents/boss
fresh
mkdir -p "$T/outside/leak" && skill "$T/outside/leak"
ln -s ../../outside/leak "$c/skills/leak"
need main/skills/leak
exits '[D9] install exits with 1 for a link that leaves the checkout' 1 mapm install --yes ../catalog/agents/boss
not_ok '[D9] a link that leaves the checkout is not provisioned' test -e .agents/skills/leak
need main/skills/old
printf '[include]\n\tpath = %s/evil.config\n' "$T" >>"$c/.git/config"
printf '[remote "x"]\n\turl = https://github.com/third/party\n[core]\n\tfsmonitor = touch %s/ran\n\tsshCommand = touch %s/ran\n' "$T" "$T" >"$T/evil.config"
agent "$c/agents/boss" 'dependencies:' '  skills:' "    - $U/third/party/tree/main/skills/old"
fresh
exits '[D9] install exits with 1 when the remote is in an included configuration' 1 mapm install --yes ../catalog/agents/boss
not_ok '[D9] an included configuration of the checkout runs no command' test -e "$T/ran"
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
exits '[D9] install from a worktree succeeds' 0 mapm install --yes ../tree/agents/boss
like '[D9] a worktree stands for its own branch' "$(cat .agents/skills/old/SKILL.md)" 'worktree'

# --- mapm.local.* that git tracks -------------------------------------------------------

tracked()
{
    fresh
    git init -q . && [ -z "$1" ] || git config index.version "$1"
    mkdir -p services/api && cd services/api || exit 1
    printf 'dependencies:\n  skills:\n    - file:%s/skills/old\n' "$c" >mapm.local.yaml
    touch mapm.yaml a b && git add -f a b mapm.yaml mapm.local.yaml
    exits "[D9] install succeeds with a tracked mapm.local.yaml, index ${1:-2}" 0 mapm install --yes
    like '[D9] install warns that mapm.local.yaml is tracked by git' "$err" 'mapm.local.yaml is tracked by git'
    not_ok '[D9] install provisions nothing of a tracked mapm.local.yaml' test -e .agents/skills/old
    git rm -q --cached mapm.local.yaml
    exits '[D9] install succeeds after mapm.local.yaml is untracked' 0 mapm install --yes
    ok '[D9] install provisions the package of an untracked mapm.local.yaml' test -e .agents/skills/old
}
tracked ''
tracked 3
tracked 4
done_testing

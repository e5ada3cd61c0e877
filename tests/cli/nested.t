#!/bin/sh
# Repositories of any depth on hosts of several kinds, with and without a port:
# what is pasted is stored in one form, and all that is kept by repository works
# for it. [H1, H5, row 48, row 50]
. "$(dirname "$0")/../lib/cli.sh"

fresh()
{
    n=$((${n:-0} + 1))
    mkdir "$T/ws$n" && cd "$T/ws$n" || exit 1
}

R=https://gitlab.com/g/s1/s2/r
U=$R/-/tree/main/skills
CORP=https://git.corp.example:8443/root/r
skill "$T/src/skills/base" 'version: 1.0.0'
skill "$T/src/skills/user" 'dependencies:' '  skills:' "    - $U/base"
make_repo g/r "$T/src"
repo g/r branch same
skill "$T/src/skills/base" 'version: 1.1.0'
make_repo g/r "$T/src" tagged
repo g/r tag same tagged
start_githost
for from in https://gitlab.com/g/s1/s2/ https://git.corp.example:8443/root/ \
    https://codeberg.org/g/ https://dev.azure.com/o/My%20Proj/_git/; do
    git config --global --add "url.$GITHOST_URL/g/.insteadOf" "$from"
done
mkdir -p "$XDG_CONFIG_HOME/mapm"
printf 'hosts:\n  - {host: git.corp.example, kind: gitlab, ports: [8443]}\n' \
    >"$XDG_CONFIG_HOME/mapm/config.yaml"

exits 'a page of a file in nested groups' 0 \
    mapm install --yes "$R/-/blob/main/skills/user/SKILL.md"
like 'is stored as its folder' "$(cat mapm.yaml)" "^  *- $U/user\$"
is 'what it needs came, too' "$(grep -c "origin: $U/" mapm.lock)" 2
exits 'the lock alone' 0 mapm install --locked --offline
exits 'another case is no other package' 0 \
    mapm install --yes https://GitLab.com/G/S1/S2/R.git/-/tree/main/skills/user
is 'on a host that folds it' "$(grep -c gitlab mapm.yaml)" 1
exits 'ssh is not, either' 0 mapm install --yes git@gitlab.com:g/s1/s2/r.git@main//skills/user
is 'so there is one root' "$(grep -c gitlab mapm.yaml)" 1
exits 'nothing is outdated' 0 mapm outdated
skill "$T/src/skills/base" 'version: 1.2.0'
make_repo g/r "$T/src"
exits 'now it is' 3 mapm outdated
like 'by name' "$out" 'base'
exits 'an update' 0 mapm update --yes
like 'has the new one' "$(cat .agents/skills/base/SKILL.md)" '^version: 1.2.0'
exits 'a name and a ref' 0 mapm install --yes user@same
like 'moves the root' "$(cat mapm.yaml)" "^  *- $R/-/tree/same/skills/user\$"
exits 'and goes by its name' 0 mapm remove --yes user

# --- a tag and a branch of one name -----------------------------------------------------

exits 'the tag of a page' 0 mapm install --yes "$R/-/tree/same/skills/base?ref_type=tags"
like 'is named in full' "$(cat mapm.yaml)" "^  *- $R/-/tree/refs/tags/same/skills/base\$"
like 'and is the tag' "$(cat .agents/skills/base/SKILL.md)" '^version: 1.1.0'
exits 'from the lock' 0 mapm install --locked
mapm tree --html page.html
ok '[H5] a picture names the repository in full' grep -q 'gitlab.com/g/s1/s2/r\b' page.html
not_ok '[H5] and no part of it' grep -q '"g/s1"\|>g/s1<' page.html
fresh
exits 'a full name that no other has' 0 mapm install --yes "$R/-/tree/refs/heads/main/skills/base"
like 'is cut' "$(cat mapm.yaml)" "^  *- $U/base\$"

# --- other hosts --------------------------------------------------------------------------

fresh
exits 'a port and a path in front' 0 mapm install --yes "$CORP/-/tree/main/skills/base"
like 'are kept' "$(cat mapm.lock)" "origin: $CORP/-/tree/main/skills/base\$"
exits 'the same in another case' 0 mapm install --yes https://git.corp.example:8443/root/R/-/tree/main/skills/base
is 'is another one where nobody knows' "$(grep -c git.corp.example mapm.yaml)" 2
exits 'another port' 1 mapm install --yes https://git.corp.example:8444/root/r/-/tree/main/skills/base
like 'is refused' "$err" '8444'
fresh
exits 'a query of Azure' 0 mapm install --yes \
    'https://o@dev.azure.com/o/My%20Proj/_git/r?path=%2Fskills%2Fbase&version=GBmain&_a=contents'
like 'is a path' "$(cat mapm.yaml)" '^  *- https://dev.azure.com/o/My%20Proj/_git/r/-/tree/main/skills/base$'
like 'the user is left out' "$err" 'the user name is left out'
exits 'by its former name' 0 mapm install --yes --locked 'https://o.visualstudio.com/My%20Proj/_git/r/-/tree/main/skills/base'
exits 'the word of Gitea' 0 mapm install --yes https://codeberg.org/g/r/src/tag/same/skills/base --as other/base
like 'tells tag from branch' "$(cat mapm.yaml)" 'https://codeberg.org/g/r/-/tree/refs/tags/same/skills/base'

# --- policy, replacements, catalogs, own checkouts ------------------------------------------

fresh
printf 'policy:\n  sources: [gitlab.com/g/*]\n' >mapm.yaml
exits 'no other host' 4 mapm install --yes "$CORP/-/tree/main/skills/base"
like 'is in a pattern of sources' "$err" 'policy\.sources does not allow root/r'
like 'and named with its host' "$err" 'hint: add [^ /]*/root/r to policy\.sources'
exits 'but all below a group' 0 mapm install --yes "$U/base"
fresh
printf 'policy:\n  sources: [gitlab.com/g/s2/*]\n' >mapm.yaml
exits 'nor another group' 4 mapm install --yes "$U/base"
fresh
printf 'dependencies:\n  skills:\n    - %s/base\nreplace:\n  - {from: %s, to: "%s"}\n' \
    "$U" "$R" "$CORP" >mapm.yaml
exits 'a repository is replaced by one on a port' 0 mapm install --yes
like 'as the lock says' "$(cat mapm.lock)" "from: $CORP/-/tree/main/skills/base\$"
fresh
exits 'a catalog' 0 mapm install --yes "$R" --all
is 'all of it' "$(ls .agents/skills | tr '\n' ' ')" 'base user '
fresh
git clone -q "$GITHOST_URL/g/r.git" own 2>/dev/null
git -C own remote set-url origin git@gitlab.com:g/s1/s2/r.git
skill own/skills/base 'version: 9.0.0'
exits 'a checkout stands for its remote' 0 mapm install --yes "file:$PWD/own/skills/user"
like 'also for what is not pushed' "$(cat .agents/skills/base/SKILL.md)" '^version: 9.0.0'

# --- hosts that a package names ------------------------------------------------------------

GIT_SSH_COMMAND="touch $T/ssh-ran; false"
export GIT_SSH_COMMAND
for origin in ssh://git@evil.example/a/b/-/tree/main/x ssh://git@evil.example:2222/a/b/-/tree/main/x \
    ssh://-oProxyCommand=x/a/b/-/tree/main/x https://evil.example/a/b/-/tree/main/x \
    https://gitlab.com.evil.example/a/b/-/tree/main/x https://gitlab.com:8443/a/b/-/tree/main/x \
    https://169.254.169.254/a/b/-/tree/main/x; do
    fresh
    skill theirs 'dependencies:' '  skills:' "    - $origin"
    exits "of a dependency: $origin" 1 mapm install --yes ./theirs
done
not_ok 'no ssh was started for any' test -e "$T/ssh-ran"
done_testing

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

exits 'install of the page of a file in nested groups succeeds' 0 \
    mapm install --yes "$R/-/blob/main/skills/user/SKILL.md"
like 'mapm.yaml has the folder of the file as the origin' "$(cat mapm.yaml)" "^  *- $U/user\$"
is 'the lock has the dependency in the same repository' "$(grep -c "origin: $U/" mapm.lock)" 2
exits 'install --locked --offline succeeds for nested groups' 0 mapm install --locked --offline
exits 'install of the same origin in another case succeeds' 0 \
    mapm install --yes https://GitLab.com/G/S1/S2/R.git/-/tree/main/skills/user
is 'an origin in another case is the same root on GitLab' "$(grep -c gitlab mapm.yaml)" 1
exits 'install of the same origin over ssh succeeds' 0 mapm install --yes git@gitlab.com:g/s1/s2/r.git@main//skills/user
is 'an origin over ssh is the same root' "$(grep -c gitlab mapm.yaml)" 1
exits 'outdated reports nothing for nested groups' 0 mapm outdated
skill "$T/src/skills/base" 'version: 1.2.0'
make_repo g/r "$T/src"
exits 'outdated exits 3 when the repository has a newer version' 3 mapm outdated
like 'outdated names the newer package' "$out" 'base'
exits 'update --yes succeeds for nested groups' 0 mapm update --yes
like 'update --yes installs the newer version' "$(cat .agents/skills/base/SKILL.md)" '^version: 1.2.0'
exits 'install of a name with a ref succeeds' 0 mapm install --yes user@same
like 'install of a name with a ref changes the root' "$(cat mapm.yaml)" "^  *- $R/-/tree/same/skills/user\$"
exits 'remove by name succeeds for nested groups' 0 mapm remove --yes user

# --- a tag and a branch of one name -----------------------------------------------------

exits 'install of a page with ref_type=tags succeeds' 0 mapm install --yes "$R/-/tree/same/skills/base?ref_type=tags"
like 'mapm.yaml has the tag with refs/tags' "$(cat mapm.yaml)" "^  *- $R/-/tree/refs/tags/same/skills/base\$"
like 'the installed skill is that of the tag' "$(cat .agents/skills/base/SKILL.md)" '^version: 1.1.0'
exits 'install --locked succeeds for a tag with refs/tags' 0 mapm install --locked
mapm tree --html page.html
ok '[H5] the page of tree names the full repository' grep -q 'gitlab.com/g/s1/s2/r\b' page.html
not_ok '[H5] the page of tree names no part of the repository path' grep -q '"g/s1"\|>g/s1<' page.html
fresh
exits 'install of a ref with refs/heads succeeds' 0 mapm install --yes "$R/-/tree/refs/heads/main/skills/base"
like 'mapm.yaml has an unambiguous ref without refs/heads' "$(cat mapm.yaml)" "^  *- $U/base\$"

# --- other hosts --------------------------------------------------------------------------

fresh
exits 'install from a host with a port and a path prefix succeeds' 0 mapm install --yes "$CORP/-/tree/main/skills/base"
like 'the lock keeps port and path prefix' "$(cat mapm.lock)" "origin: $CORP/-/tree/main/skills/base\$"
exits 'install of the same repository in another case succeeds' 0 mapm install --yes https://git.corp.example:8443/root/R/-/tree/main/skills/base
is 'an origin in another case is another root on an unknown host' "$(grep -c git.corp.example mapm.yaml)" 2
exits 'install fails for another port of the host' 1 mapm install --yes https://git.corp.example:8444/root/r/-/tree/main/skills/base
like 'the error names the other port' "$err" '8444'
fresh
exits 'install of an Azure URL with a query succeeds' 0 mapm install --yes \
    'https://o@dev.azure.com/o/My%20Proj/_git/r?path=%2Fskills%2Fbase&version=GBmain&_a=contents'
like 'mapm.yaml has the path of the query in the origin' "$(cat mapm.yaml)" '^  *- https://dev.azure.com/o/My%20Proj/_git/r/-/tree/main/skills/base$'
like 'install says that the user name is left out' "$err" 'the user name is left out'
exits 'install --locked accepts the former host name of Azure' 0 mapm install --yes --locked 'https://o.visualstudio.com/My%20Proj/_git/r/-/tree/main/skills/base'
exits 'install of a Gitea page of a tag succeeds' 0 mapm install --yes https://codeberg.org/g/r/src/tag/same/skills/base --as other/base
like 'mapm.yaml has the tag of the Gitea page with refs/tags' "$(cat mapm.yaml)" 'https://codeberg.org/g/r/-/tree/refs/tags/same/skills/base'

# --- policy, replacements, catalogs, own checkouts ------------------------------------------

fresh
printf 'policy:\n  sources: [gitlab.com/g/*]\n' >mapm.yaml
exits 'policy.sources refuses a repository on another host' 4 mapm install --yes "$CORP/-/tree/main/skills/base"
like 'the error names policy.sources and the repository' "$err" 'policy\.sources does not allow root/r'
like 'the hint names the repository with its host' "$err" 'hint: add [^ /]*/root/r to policy\.sources'
exits 'policy.sources accepts a repository in a subgroup' 0 mapm install --yes "$U/base"
fresh
printf 'policy:\n  sources: [gitlab.com/g/s2/*]\n' >mapm.yaml
exits 'policy.sources refuses a repository of another group' 4 mapm install --yes "$U/base"
fresh
printf 'dependencies:\n  skills:\n    - %s/base\nreplace:\n  - {from: %s, to: "%s"}\n' \
    "$U" "$R" "$CORP" >mapm.yaml
exits 'install succeeds with a replacement on a host with a port' 0 mapm install --yes
like 'the lock has the replacement with its port' "$(cat mapm.lock)" "from: $CORP/-/tree/main/skills/base\$"
fresh
exits 'install --all of a repository in nested groups succeeds' 0 mapm install --yes "$R" --all
is 'install --all installs every skill of the repository' "$(ls .agents/skills | tr '\n' ' ')" 'base user '
fresh
git clone -q "$GITHOST_URL/g/r.git" own 2>/dev/null
git -C own remote set-url origin git@gitlab.com:g/s1/s2/r.git
skill own/skills/base 'version: 9.0.0'
exits 'install of a file: checkout with a remote succeeds' 0 mapm install --yes "file:$PWD/own/skills/user"
like 'a dependency on the remote is taken from the checkout' "$(cat .agents/skills/base/SKILL.md)" '^version: 9.0.0'

# --- hosts that a package names ------------------------------------------------------------

GIT_SSH_COMMAND="touch $T/ssh-ran; false"
export GIT_SSH_COMMAND
for origin in ssh://git@evil.example/a/b/-/tree/main/x ssh://git@evil.example:2222/a/b/-/tree/main/x \
    ssh://-oProxyCommand=x/a/b/-/tree/main/x https://evil.example/a/b/-/tree/main/x \
    https://gitlab.com.evil.example/a/b/-/tree/main/x https://gitlab.com:8443/a/b/-/tree/main/x \
    https://169.254.169.254/a/b/-/tree/main/x; do
    fresh
    skill theirs 'dependencies:' '  skills:' "    - $origin"
    exits "install fails for a dependency on $origin" 1 mapm install --yes ./theirs
done
not_ok 'install starts no ssh for dependencies on unknown hosts' test -e "$T/ssh-ran"
done_testing

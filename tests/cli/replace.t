#!/bin/sh
# replace: of mapm.yaml, config.yaml and mapm.local.yaml. [D9]
. "$(dirname "$0")/../lib/cli.sh"

U=https://github.com
start_githost
fresh()
{
    cd "$T" && rm -rf w && mkdir w && cd w || exit 1
    rm -f "$XDG_CONFIG_HOME/mapm/config.yaml"
}
roots()
{
    printf 'dependencies:\n  skills:\n'
    for root in "$@"; do echo "    - $U/$root"; done
}
text()
{
    sed -n 's/^description: *//p' ".agents/skills/$1/SKILL.md"
}
block()
{
    awk -v name="    name: $1" '/^  - type/ {if (keep) exit; text = ""} {text = text $0 "\n"}
        $0 == name {keep = 1} END {if (keep) printf "%s", text}' "${2:-mapm.lock}"
}
s=$T/cat
skill "$s/skills/pdf" 'description: original'
skill "$s/skills/user" 'description: user' 'dependencies:' '  skills:' "    - $U/acme/cat/tree/main/skills/pdf"
make_repo acme/cat "$s"
first=$COMMIT
cp -r "$s" "$T/fork"
skill "$T/fork/skills/pdf" 'description: forked'
mkdir -p "$T/repos/me" && git clone -q --bare "$T/repos/acme/cat.git" "$T/repos/me/cat.git"
git clone -q --bare "$T/repos/acme/cat.git" "$T/repos/mirror/cat.git"
make_repo me/cat "$T/fork"
forked=$COMMIT
repo me/cat branch fix main
MAIN=acme/cat/tree/main/skills

# --- mapm.yaml: forks -----------------------------------------------------------

fresh
{ roots $MAIN/user; printf 'replace:\n  - {from: %s/acme/cat, to: %s/me/cat}\n' $U $U; } >mapm.yaml
reset_log
exits '[D9] install succeeds with a replaced repository' 0 mapm install --yes
is '[D9] install takes a dependency from the replacement' "$(text pdf)" forked
like '[D9] the lock keeps the original origin' "$(block pdf)" "^    origin: $U/acme/cat/tree/main/skills/pdf\$"
like '[D9] the lock records the replacement as from' "$(block pdf)" "^    from: $U/me/cat/tree/main/skills/pdf\$"
like '[D9] the lock records the commit of the replacement' "$(block pdf)" "^    commit: $forked\$"
like '[D9] a lock with a replacement has version 2' "$(head -n 1 mapm.lock)" 'version: 2'
not_ok '[D9] install does not contact the original repository' grep -q 'acme/cat' "$T/githost.log"
cp mapm.lock lock.before
exits '[D9] a second install succeeds' 0 mapm install
like '[D9] a second install has nothing to do' "$err" 'nothing to do'
rm -rf .agents
MAPM_HOME=$T/cold-1
exits '[D9] install --locked --yes succeeds on another machine' 0 mapm install --locked --yes
is '[D9] install --locked takes the package from the replacement' "$(text pdf)" forked
exits '[D9] verify succeeds with a replacement' 0 mapm verify
exits '[D9] verify --remote succeeds with the replacement alone' 0 mapm verify --remote
MAPM_HOME=$T/mapm
exits '[D9] update --yes succeeds with a replacement' 0 mapm update --yes
ok '[D9] install and update leave the lock of a replacement unchanged' cmp lock.before mapm.lock
exits '[D9] list succeeds with a replacement' 0 mapm list
like '[D9] list shows the source of the replacement' "$out" "pdf .*\(from $U/me/cat/tree/main/skills/pdf\)"
exits '[D9] tree succeeds with a replacement' 0 mapm tree
like '[D9] tree shows the source of the replacement' "$out" "pdf.*\(from $U/me/cat"
exits '[D9] why succeeds with a replacement' 0 mapm why pdf
like '[D9] why shows the source of the replacement' "$out" "\(from $U/me/cat"
sed -i '/^replace/,$d' mapm.yaml
exits '[D9] install --locked rejects a lock whose replacement was removed' 1 mapm install --locked
exits '[D9] install --yes succeeds after the replacement was removed' 0 mapm install --yes
is '[D9] install takes the original after the replacement was removed' "$(text pdf)" original
unlike '[D9] the lock records no source without a replacement' "$(cat mapm.lock)" 'from:'
exits 'install --locked succeeds without a replacement' 0 mapm install --locked
printf 'replace:\n  - {from: %s, to: %s}\n' "$U/acme/cat//skills/pdf" "$U/me/cat" >>mapm.yaml
exits '[D9] install --locked rejects a lock without the new replacement' 1 mapm install --locked
exits '[D9] install succeeds with a replacement of one path' 0 mapm install --yes
like '[D9] the package of the replaced path is from the replacement' "$(block pdf)" 'from: .*me/cat'
unlike '[D9] a package of another path is from the original' "$(block user)" 'from:'
sed -i '/^replace/,$d' mapm.yaml
cat >>mapm.yaml <<YAML
replace:
  - {from: $U/acme/cat, to: $U/mirror/cat}
  - {from: $U/$MAIN/pdf, to: $U/me/cat/tree/fix/skills/pdf}
  - {from: $U/me/cat, to: $U/no/where}
YAML
exits '[D9] install succeeds with three overlapping replacements' 0 mapm install --yes
like '[D9] the longest replacement decides for the package' "$(block pdf)" "from: $U/me/cat/tree/fix/skills/pdf"
like '[D9] the replacement of the repository decides for other packages' "$(block user)" "from: $U/mirror/cat/tree/main/skills/user"
like '[D9] install warns about a replacement that fits nothing' "$err" 'mapm.yaml:[0-9]*: replace: .*me/cat'
printf 'policy:\n  sources: [github.com/acme/*, github.com/mirror/*]\n' >>mapm.yaml
exits '[D9] policy.sources refuses a replacement that it does not allow' 4 mapm install --yes
like '[D9] the error names the replacement that policy.sources refuses' "$err" 'policy.sources does not allow me/cat'
sed -i 's|github.com/acme/\*|github.com/me/*|' mapm.yaml
exits '[D9] policy.sources refuses an original that it does not allow' 4 mapm install --yes
like '[D9] the error names the original that policy.sources refuses' "$err" 'policy.sources does not allow acme/cat'

# --- branches with a slash, on hosts of several kinds --------------------------------

# Each row: what is replaced | by what | what the lock has as its source.
repo acme/cat branch release/1.x main
repo me/cat branch release/1.x main
repo me/cat branch topic/slow/pdf main
mkdir -p "$XDG_CONFIG_HOME/mapm"
for host in https://gitlab.com/g/s https://bitbucket.org/w https://codeberg.org/o \
    https://dev.azure.com/o/p/_git https://git.corp.example:8443/root; do
    git config --global --add "url.$GITHOST_URL/acme/.insteadOf" "$host/acme-"
    git config --global --add "url.$GITHOST_URL/me/.insteadOf" "$host/me-"
    while IFS='|' read -r from to stored; do
        fresh
        printf 'hosts:\n  - {host: git.corp.example, kind: gitlab, ports: [8443]}\n' \
            >"$XDG_CONFIG_HOME/mapm/config.yaml"
        printf 'dependencies:\n  skills: [%s]\nreplace:\n  - {from: %s, to: %s}\n' \
            "$host/acme-cat/-/tree/release/1.x/skills/pdf" "$host/$from" "$host/$to" >mapm.yaml
        exits "[D9] install replaces $host/$from by $to" 0 mapm install --yes
        is "[D9] the lock has the source of $host/$from replaced by $to" "$(block pdf | sed -n 's/^    from: //p')" \
            "${stored:+$host/$stored}"
    done <<'ROWS'
acme-cat/-/tree/release/1.x/skills/pdf|me-cat/-/tree/topic/slow/pdf/skills/pdf|me-cat/-/tree/topic/slow/pdf/skills/pdf
acme-cat|me-cat|me-cat/-/tree/release/1.x/skills/pdf
acme-cat/-/tree/main/skills/pdf|me-cat/-/tree/main/skills/pdf|
acme-cat//skills/pdf|me-cat/-/tree/main/skills/pdf|
ROWS
done

# --- config.yaml: mirrors ---------------------------------------------------------

fresh
roots $MAIN/user >mapm.yaml
exits 'install without a mirror succeeds' 0 mapm install --yes
cp mapm.lock lock.before
mkdir -p "$XDG_CONFIG_HOME/mapm"
printf 'replace:\n  - {from: %s/acme/cat, to: %s/mirror/cat}\n' $U $U >"$XDG_CONFIG_HOME/mapm/config.yaml"
rm -rf .agents
reset_log
MAPM_HOME=$T/cold-2
exits '[D9] install --locked succeeds with a mirror that has the commit' 0 mapm install --locked --yes
ok '[D9] a mirror with the commit leaves mapm.lock unchanged' cmp lock.before mapm.lock
not_ok '[D9] install does not contact the mirrored repository' grep -q 'acme/cat' "$T/githost.log"
not_ok '[D9] a mirror with the commit creates no mapm.local.lock' test -e mapm.local.lock
exits 'install --locked with a mirror succeeds under CI' 0 env CI=1 "$MAPM" install --locked
skill "$s/skills/pdf" 'description: second'
make_repo acme/cat "$s"
rm -f "$XDG_CONFIG_HOME/mapm/config.yaml"
exits 'update to a newer commit of the original succeeds' 0 mapm update --yes
cp mapm.lock lock.before
printf 'replace:\n  - {from: %s/acme/cat, to: %s/mirror/cat}\n' $U $U >"$XDG_CONFIG_HOME/mapm/config.yaml"
rm -rf .agents
MAPM_HOME=$T/cold-3
exits '[D9] install succeeds with a mirror that lacks the commit' 0 mapm install --yes
is '[D9] install takes the older commit of the mirror' "$(text pdf)" original
ok '[D9] a mirror that lacks the commit leaves mapm.lock unchanged' cmp lock.before mapm.lock
like '[D9] mapm.local.lock records the mirror as from' "$(block pdf mapm.local.lock)" "from: $U/mirror/cat/tree/main/skills/pdf"
exits '[D9] a second install with the mirror succeeds' 0 mapm install
like '[D9] a second install with the mirror has nothing to do' "$err" 'nothing to do'
exits '[D9] install --locked succeeds with a mirror that lacks the commit' 0 mapm install --locked
like '[D9] install --locked says that the skill differs from mapm.lock' "$err" 'skill pdf is not what mapm.lock holds'
exits '[D9] install --locked fails under CI when the mirror lacks the commit' 1 env CI=1 "$MAPM" install --locked
MAPM_HOME=$T/mapm
rm -f "$XDG_CONFIG_HOME/mapm/config.yaml"
exits '[D9] install succeeds after the mirror was removed' 0 mapm install --yes
is '[D9] install takes the locked content after the mirror was removed' "$(text pdf)" second
not_ok '[D9] mapm.local.lock is deleted or empty without the mirror' test -s mapm.local.lock

# --- mapm.local.yaml: folders --------------------------------------------------------

fresh
cp -r "$T/fork" "$T/catalog"
skill "$T/catalog/skills/pdf" 'description: mine'
roots $MAIN/user >mapm.yaml
exits 'install without mapm.local.yaml succeeds' 0 mapm install --yes
cp mapm.lock lock.before
printf 'replace:\n  - {from: %s/acme/cat, to: ../catalog}\n' $U >mapm.local.yaml
exits '[D9] install succeeds with a folder in place of a repository' 0 mapm install --yes
is '[D9] install takes the package from the folder' "$(text pdf)" mine
ok '[D9] a folder in mapm.local.yaml leaves mapm.lock unchanged' cmp lock.before mapm.lock
like '[D9] mapm.local.lock records the folder as from' "$(block pdf mapm.local.lock)" "from: file:$T/catalog/skills/pdf"
exits '[D9] list succeeds with a folder as the replacement' 0 mapm list
like '[D9] list shows the folder of the replacement' "$out" "\(from file:$T/catalog/skills/pdf\)"
exits '[D9] verify succeeds with a folder as the replacement' 0 mapm verify
skill "$T/catalog/skills/pdf" 'description: edited'
exits '[D9] install succeeds after an edit in the folder' 0 mapm install --yes
is '[D9] install takes the edit from the folder' "$(text pdf)" edited
exits '[D9] install --locked succeeds with a folder as the replacement' 0 mapm install --locked
like '[D9] install --locked names the skill that is from a folder' "$err" 'skill pdf is not what mapm.lock holds: it is from file:'
exits '[D9] install --locked with a folder fails under CI' 1 env CI=1 "$MAPM" install --locked
cp "$s/skills/pdf/SKILL.md" "$T/catalog/skills/pdf/SKILL.md"
exits '[D9] install succeeds when the folder has the locked content' 0 mapm install --yes
ok '[D9] a folder with the locked content leaves mapm.lock unchanged' cmp lock.before mapm.lock
unlike '[D9] mapm.local.lock does not record a folder with the locked content' "$(block pdf mapm.local.lock 2>/dev/null)" 'from:'
printf 'replace:\n  - {from: %s/acme/cat//skills/pdf, to: ../catalog}\n' $U >mapm.local.yaml
for words in install update 'update user'; do
    exits '[D9] mapm $words fails for a folder that is a catalog' 1 mapm $words
    like '[D9] the error names the folder as a catalog' "$err" "file:$T/catalog is a catalog, not a package"
done
rm mapm.local.yaml
exits '[D9] install succeeds after mapm.local.yaml was deleted' 0 mapm install --yes
is '[D9] install takes the original after mapm.local.yaml was deleted' "$(text pdf)" second

# --- refused ---------------------------------------------------------------------------

refused()
{
    what=$1
    printf 'replace:\n  - %s\n' "$2" >"${4:-mapm.yaml}"
    exits "[D9] install rejects a replacement: $what" 1 mapm install
    like '[D9] the error gives the line of the rejected replacement' "$err" "$3"
    rm -f "${4:-mapm.yaml}"
}
fresh
refused 'a folder for the team' "{from: $U/acme/cat, to: ../catalog}" 'mapm.yaml:2: replace: .*folder of one machine'
refused 'no target' "{from: $U/acme/cat}" 'mapm.yaml:2: no "to"'
refused 'no mapping' "$U/acme/cat" 'mapm.yaml:2: expected'
refused 'another key' "{from: $U/acme/cat, to: $U/me/cat, as: x}" 'unknown key "as"'
refused 'another host' "{from: $U/acme/cat, to: https://evil.example/me/cat}" 'mapm.yaml:2: replace: '
refused 'a path that climbs' "{from: $U/acme/cat//skills/../x, to: $U/me/cat}" 'mapm.yaml:2: replace: '
refused 'a package for a repository' "{from: $U/acme/cat, to: $U/me/cat/tree/main/x}" 'mapm.yaml:2: replace: '
mkdir -p "$XDG_CONFIG_HOME/mapm"
refused 'a folder for all workspaces' "{from: $U/acme/cat, to: ../catalog}" 'replace: .*folder' "$XDG_CONFIG_HOME/mapm/config.yaml"
printf 'replace:\n  - {from: %s/a/b, to: %s/c/d}\n  - {from: %s/A/b, to: %s/e/f}\n' $U $U $U $U >mapm.yaml
exits '[D9] install rejects two replacements of one repository' 1 mapm install
like '[D9] the error gives the line of the second replacement' "$err" 'mapm.yaml:3: replace: .*replaced twice'

# --- which of the three files decides ------------------------------------------------

# three LOCAL USER TEAM: what each replaces acme/cat by; "" = nothing.
three()
{
    fresh
    roots $MAIN/pdf >mapm.yaml
    [ -z "$3" ] || printf 'replace:\n  - {from: %s, to: %s}\n' "$U/acme/cat" "$3" >>mapm.yaml
    [ -z "$2" ] || printf 'replace:\n  - {from: %s, to: %s}\n' "$U/acme/cat" "$2" >"$XDG_CONFIG_HOME/mapm/config.yaml"
    [ -z "$1" ] || printf 'replace:\n  - {from: %s, to: %s}\n' "$U/acme/cat" "$1" >mapm.local.yaml
}
for by in local config team; do
    cp -r "$T/catalog" "$T/$by" && skill "$T/$by/skills/pdf" "description: $by"
    make_repo "$by/cat" "$T/$by"
done
three ../local $U/config/cat $U/team/cat
exits '[D9] install succeeds with replacements in all three files' 0 mapm install --yes
is '[D9] mapm.local.yaml takes precedence over config.yaml and mapm.yaml' "$(text pdf)" local
unlike '[D9] install does not warn about overruled replacements of other files' "$err" 'nothing here is from'
like '[D9] the plan of install shows the folder of mapm.local.yaml' "$out" "skill pdf .*\(from file:$T/local/skills/pdf\)"
three '' $U/config/cat $U/team/cat
exits '[D9] install succeeds with replacements in config.yaml and mapm.yaml' 0 mapm install --yes
is '[D9] config.yaml takes precedence over mapm.yaml' "$(text pdf)" config
unlike '[D9] install does not warn about the overruled replacement of mapm.yaml' "$err" 'nothing here is from'
like '[D9] the plan of install shows the source of config.yaml' "$out" "skill pdf .*\(from $U/config/cat/tree/main/skills/pdf\)"
three '' '' $U/team/cat
exits '[D9] install --dry-run succeeds with a replacement in mapm.yaml' 0 mapm install --yes --dry-run
like '[D9] install --dry-run shows the source of mapm.yaml' "$out" "skill pdf .*\(from $U/team/cat/tree/main/skills/pdf\)"
exits '[D9] install --json succeeds with a replacement' 0 mapm install --yes --json
like '[D9] install --json has the source of the replacement' "$out" "\"from\": \"$U/team/cat/tree/main/skills/pdf\""
is '[D9] mapm.yaml decides when no other file replaces' "$(text pdf)" team
exits '[D9] list --json succeeds with a replacement' 0 mapm list --json
like '[D9] list --json has the source of the replacement' "$out" "\"from\": \"$U/team/cat/tree/main/skills/pdf\""
exits '[D9] tree --json succeeds with a replacement' 0 mapm tree --json
like '[D9] tree --json has the source of the replacement' "$out" "\"from\": \"$U/team/cat/tree/main/skills/pdf\""
exits '[D9] why --json succeeds with a replacement' 0 mapm why pdf --json
like '[D9] why --json has the source of the replacement' "$out" "\"from\": \"$U/team/cat/tree/main/skills/pdf\""
exits '[D9] check -v succeeds with a replacement' 0 mapm check -v
like '[D9] check -v shows the source of the replacement' "$out" "^.agents/skills/pdf/SKILL.md: .*\(from $U/team/cat/tree/main/skills/pdf\)\$"
exits '[D9] check -v of the installed folder succeeds' 0 mapm check -v .agents/skills/pdf
like '[D9] check -v of the installed folder shows the source' "$out" "\(from $U/team/cat"
exits '[D9] check --json succeeds with a replacement' 0 mapm check --json
like '[D9] check --json has the source of the replacement' "$out" "\"from\": \"$U/team/cat/tree/main/skills/pdf\""
printf 'replace:\n  - {from: %s, to: ../local}\n' "$U/acme/cat//skills/pdf" >mapm.local.yaml
printf 'replace:\n  - {from: %s, to: %s}\n' "$U/$MAIN/pdf" "$U/config/cat/tree/main/skills/pdf" >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits '[D9] install succeeds with replacements of different lengths' 0 mapm install --yes
is '[D9] a longer replacement takes precedence over any file' "$(text pdf)" config
rm "$XDG_CONFIG_HOME/mapm/config.yaml"
three ../local '' $U/team/cat
git init -q . && git add -f mapm.local.yaml mapm.yaml
exits '[D9] install succeeds when git tracks mapm.local.yaml' 0 mapm install --yes
like '[D9] install warns that git tracks mapm.local.yaml' "$err" 'mapm.local.yaml is tracked by git'
is '[D9] a tracked mapm.local.yaml replaces nothing' "$(text pdf)" team
git rm -q --cached mapm.local.yaml
exits '[D9] install succeeds when git no longer tracks mapm.local.yaml' 0 mapm install --yes
is '[D9] an untracked mapm.local.yaml replaces the repository' "$(text pdf)" local
three '' '' $U/team/cat
exits '[D9] install with the replacement of the team succeeds' 0 mapm install --yes
cp mapm.lock lock.before
printf 'replace:\n  - {from: %s, to: ../team}\n' "$U/acme/cat" >mapm.local.yaml
for by in mapm.local.yaml "$XDG_CONFIG_HOME/mapm/config.yaml"; do
    exits "[D9] install succeeds with equal content from $by" 0 mapm install --yes
    ok '[D9] equal content leaves mapm.lock unchanged' cmp mapm.lock lock.before
    not_ok '[D9] equal content creates no mapm.local.lock' test -e mapm.local.lock
    exits '[D9] install --locked accepts equal content' 0 mapm install --locked
    exits '[D9] verify accepts equal content' 0 mapm verify
    rm -f mapm.local.yaml
    printf 'replace:\n  - {from: %s, to: %s}\n' "$U/acme/cat" "$U/team/cat" >"$XDG_CONFIG_HOME/mapm/config.yaml"
done
done_testing

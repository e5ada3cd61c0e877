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
exits '[D9] a repository is replaced' 0 mapm install --yes
is '[D9] also for what others need' "$(text pdf)" forked
like '[D9] the lock keeps the origin' "$(block pdf)" "^    origin: $U/acme/cat/tree/main/skills/pdf\$"
like '[D9] and says where it is from' "$(block pdf)" "^    from: $U/me/cat/tree/main/skills/pdf\$"
like '[D9] at which commit' "$(block pdf)" "^    commit: $forked\$"
like '[D9] in version 2' "$(head -n 1 mapm.lock)" 'version: 2'
not_ok '[D9] the original is not asked' grep -q 'acme/cat' "$T/githost.log"
cp mapm.lock lock.before
exits '[D9] nothing to do' 0 mapm install
like '[D9] says so' "$err" 'nothing to do'
rm -rf .agents
MAPM_HOME=$T/cold-1
exits '[D9] a clone gets the same' 0 mapm install --locked --yes
is '[D9] from the fork' "$(text pdf)" forked
exits '[D9] verify' 0 mapm verify
exits '[D9] verify --remote asks the fork' 0 mapm verify --remote
MAPM_HOME=$T/mapm
exits '[D9] update, too' 0 mapm update --yes
ok '[D9] and the lock stays' cmp lock.before mapm.lock
exits '[D9] list shows it' 0 mapm list
like '[D9] with its source' "$out" "pdf .*\(from $U/me/cat/tree/main/skills/pdf\)"
exits '[D9] tree, too' 0 mapm tree
like '[D9] shows it' "$out" "pdf.*\(from $U/me/cat"
exits '[D9] why, too' 0 mapm why pdf
like '[D9] shows it' "$out" "\(from $U/me/cat"
sed -i '/^replace/,$d' mapm.yaml
exits '[D9] a lock of another source does not fit' 1 mapm install --locked
exits '[D9] without the replacement' 0 mapm install --yes
is '[D9] it is the original' "$(text pdf)" original
unlike '[D9] and no "from"' "$(cat mapm.lock)" 'from:'
exits 'a lock without a replacement' 0 mapm install --locked
printf 'replace:\n  - {from: %s, to: %s}\n' "$U/acme/cat//skills/pdf" "$U/me/cat" >>mapm.yaml
exits '[D9] and does not fit one with it' 1 mapm install --locked
exits '[D9] one path at any ref' 0 mapm install --yes
like '[D9] is from the fork' "$(block pdf)" 'from: .*me/cat'
unlike '[D9] the rest is not' "$(block user)" 'from:'
sed -i '/^replace/,$d' mapm.yaml
cat >>mapm.yaml <<YAML
replace:
  - {from: $U/acme/cat, to: $U/mirror/cat}
  - {from: $U/$MAIN/pdf, to: $U/me/cat/tree/fix/skills/pdf}
  - {from: $U/me/cat, to: $U/no/where}
YAML
exits '[D9] the longest wins, one step only' 0 mapm install --yes
like '[D9] for the package' "$(block pdf)" "from: $U/me/cat/tree/fix/skills/pdf"
like '[D9] and the repository for the others' "$(block user)" "from: $U/mirror/cat/tree/main/skills/user"
like '[D9] what fits nothing is a warning' "$err" 'mapm.yaml:[0-9]*: replace: .*me/cat'
printf 'policy:\n  sources: [github.com/acme/*, github.com/mirror/*]\n' >>mapm.yaml
exits '[D9] policy.sources must allow the target' 4 mapm install --yes
like '[D9] names it' "$err" 'policy.sources does not allow me/cat'
sed -i 's|github.com/acme/\*|github.com/me/*|' mapm.yaml
exits '[D9] and what is asked for' 4 mapm install --yes
like '[D9] names it' "$err" 'policy.sources does not allow acme/cat'

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
        exits "[D9] $host/$from by $to" 0 mapm install --yes
        is "[D9] $host/$from by $to, in the lock" "$(block pdf | sed -n 's/^    from: //p')" \
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
exits 'without a mirror' 0 mapm install --yes
cp mapm.lock lock.before
mkdir -p "$XDG_CONFIG_HOME/mapm"
printf 'replace:\n  - {from: %s/acme/cat, to: %s/mirror/cat}\n' $U $U >"$XDG_CONFIG_HOME/mapm/config.yaml"
rm -rf .agents
reset_log
MAPM_HOME=$T/cold-2
exits '[D9] a mirror that has what is locked' 0 mapm install --locked --yes
ok '[D9] changes nothing in the lock' cmp lock.before mapm.lock
not_ok '[D9] and the original is not asked' grep -q 'acme/cat' "$T/githost.log"
not_ok '[D9] there is no local lock' test -e mapm.local.lock
exits 'CI, too' 0 env CI=1 "$MAPM" install --locked
skill "$s/skills/pdf" 'description: second'
make_repo acme/cat "$s"
rm -f "$XDG_CONFIG_HOME/mapm/config.yaml"
exits 'the original moves' 0 mapm update --yes
cp mapm.lock lock.before
printf 'replace:\n  - {from: %s/acme/cat, to: %s/mirror/cat}\n' $U $U >"$XDG_CONFIG_HOME/mapm/config.yaml"
rm -rf .agents
MAPM_HOME=$T/cold-3
exits '[D9] a mirror that lacks what is locked' 0 mapm install --yes
is '[D9] gives what it has' "$(text pdf)" original
ok '[D9] mapm.lock stays' cmp lock.before mapm.lock
like '[D9] mapm.local.lock has it' "$(block pdf mapm.local.lock)" "from: $U/mirror/cat/tree/main/skills/pdf"
exits '[D9] the next one has nothing to do' 0 mapm install
like '[D9] says so' "$err" 'nothing to do'
exits '[D9] --locked goes on' 0 mapm install --locked
like '[D9] and says so' "$err" 'skill pdf is not what mapm.lock holds'
exits '[D9] fails in CI' 1 env CI=1 "$MAPM" install --locked
MAPM_HOME=$T/mapm
rm -f "$XDG_CONFIG_HOME/mapm/config.yaml"
exits '[D9] without it' 0 mapm install --yes
is '[D9] it is what the lock holds' "$(text pdf)" second
not_ok '[D9] and the local lock is gone' test -s mapm.local.lock

# --- mapm.local.yaml: folders --------------------------------------------------------

fresh
cp -r "$T/fork" "$T/catalog"
skill "$T/catalog/skills/pdf" 'description: mine'
roots $MAIN/user >mapm.yaml
exits 'as all have it' 0 mapm install --yes
cp mapm.lock lock.before
printf 'replace:\n  - {from: %s/acme/cat, to: ../catalog}\n' $U >mapm.local.yaml
exits '[D9] a folder for a repository' 0 mapm install --yes
is '[D9] is what counts here' "$(text pdf)" mine
ok '[D9] mapm.lock stays' cmp lock.before mapm.lock
like '[D9] mapm.local.lock has it' "$(block pdf mapm.local.lock)" "from: file:$T/catalog/skills/pdf"
exits '[D9] list shows it' 0 mapm list
like '[D9] with the folder' "$out" "\(from file:$T/catalog/skills/pdf\)"
exits '[D9] verify' 0 mapm verify
skill "$T/catalog/skills/pdf" 'description: edited'
exits '[D9] an edit' 0 mapm install --yes
is '[D9] is taken' "$(text pdf)" edited
exits '[D9] --locked says so' 0 mapm install --locked
like '[D9] by name' "$err" 'skill pdf is not what mapm.lock holds: it is from file:'
exits '[D9] fails in CI' 1 env CI=1 "$MAPM" install --locked
cp "$s/skills/pdf/SKILL.md" "$T/catalog/skills/pdf/SKILL.md"
exits '[D9] the locked content' 0 mapm install --yes
ok '[D9] is the locked package' cmp lock.before mapm.lock
unlike '[D9] and not local' "$(block pdf mapm.local.lock 2>/dev/null)" 'from:'
printf 'replace:\n  - {from: %s/acme/cat//skills/pdf, to: ../catalog}\n' $U >mapm.local.yaml
for words in install update 'update user'; do
    exits '[D9] a folder of many packages for one' 1 mapm $words
    like '[D9] is named' "$err" "file:$T/catalog is a catalog, not a package"
done
rm mapm.local.yaml
exits '[D9] without it' 0 mapm install --yes
is '[D9] all is as before' "$(text pdf)" second

# --- refused ---------------------------------------------------------------------------

refused()
{
    what=$1
    printf 'replace:\n  - %s\n' "$2" >"${4:-mapm.yaml}"
    exits "[D9] refused: $what" 1 mapm install
    like '[D9] with its line' "$err" "$3"
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
exits '[D9] refused: twice' 1 mapm install
like '[D9] with its line' "$err" 'mapm.yaml:3: replace: .*replaced twice'

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
exits '[D9] mapm.local.yaml' 0 mapm install --yes
is '[D9] precedes the others' "$(text pdf)" local
unlike '[D9] of which nothing is said' "$err" 'nothing here is from'
like '[D9] the plan says where it is from' "$out" "skill pdf .*\(from file:$T/local/skills/pdf\)"
three '' $U/config/cat $U/team/cat
exits '[D9] config.yaml' 0 mapm install --yes
is '[D9] precedes mapm.yaml' "$(text pdf)" config
unlike '[D9] of which nothing is said' "$err" 'nothing here is from'
like '[D9] the plan says so' "$out" "skill pdf .*\(from $U/config/cat/tree/main/skills/pdf\)"
three '' '' $U/team/cat
exits '[D9] mapm.yaml' 0 mapm install --yes --dry-run
like '[D9] a dry run says so' "$out" "skill pdf .*\(from $U/team/cat/tree/main/skills/pdf\)"
exits '[D9] for programs' 0 mapm install --yes --json
like '[D9] has it' "$out" "\"from\": \"$U/team/cat/tree/main/skills/pdf\""
is '[D9] comes last' "$(text pdf)" team
exits '[D9] list --json' 0 mapm list --json
like '[D9] has it' "$out" "\"from\": \"$U/team/cat/tree/main/skills/pdf\""
exits '[D9] tree --json' 0 mapm tree --json
like '[D9] has it' "$out" "\"from\": \"$U/team/cat/tree/main/skills/pdf\""
exits '[D9] why --json' 0 mapm why pdf --json
like '[D9] has it' "$out" "\"from\": \"$U/team/cat/tree/main/skills/pdf\""
exits '[D9] check of what is installed' 0 mapm check -v
like '[D9] says where it is from' "$out" "^.agents/skills/pdf/SKILL.md: .*\(from $U/team/cat/tree/main/skills/pdf\)\$"
exits '[D9] of its folder, too' 0 mapm check -v .agents/skills/pdf
like '[D9] says so' "$out" "\(from $U/team/cat"
exits '[D9] check --json' 0 mapm check --json
like '[D9] has it' "$out" "\"from\": \"$U/team/cat/tree/main/skills/pdf\""
printf 'replace:\n  - {from: %s, to: ../local}\n' "$U/acme/cat//skills/pdf" >mapm.local.yaml
printf 'replace:\n  - {from: %s, to: %s}\n' "$U/$MAIN/pdf" "$U/config/cat/tree/main/skills/pdf" >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits '[D9] a longer one' 0 mapm install --yes
is '[D9] precedes any file' "$(text pdf)" config
rm "$XDG_CONFIG_HOME/mapm/config.yaml"
three ../local '' $U/team/cat
git init -q . && git add -f mapm.local.yaml mapm.yaml
exits '[D9] a mapm.local.yaml that git tracks' 0 mapm install --yes
like '[D9] is not read' "$err" 'mapm.local.yaml is tracked by git'
is '[D9] and replaces nothing' "$(text pdf)" team
git rm -q --cached mapm.local.yaml
exits '[D9] any more' 0 mapm install --yes
is '[D9] it counts' "$(text pdf)" local
three '' '' $U/team/cat
exits '[D9] locked by the team' 0 mapm install --yes
cp mapm.lock lock.before
printf 'replace:\n  - {from: %s, to: ../team}\n' "$U/acme/cat" >mapm.local.yaml
for by in mapm.local.yaml "$XDG_CONFIG_HOME/mapm/config.yaml"; do
    exits "[D9] equal content by $by" 0 mapm install --yes
    ok '[D9] leaves the lock of the team' cmp mapm.lock lock.before
    not_ok '[D9] and makes no other' test -e mapm.local.lock
    exits '[D9] --locked takes it' 0 mapm install --locked
    exits '[D9] verify, too' 0 mapm verify
    rm -f mapm.local.yaml
    printf 'replace:\n  - {from: %s, to: %s}\n' "$U/acme/cat" "$U/team/cat" >"$XDG_CONFIG_HOME/mapm/config.yaml"
done
done_testing

#!/bin/sh
# limits: of config.yaml and mapm.yaml: lowered, raised, and by whom. [M32, row 4]
# [row 14, row 15].
. "$(dirname "$0")/../lib/cli.sh"
src=$T/src
url=https://github.com/acme/catalog/tree/main
config=$XDG_CONFIG_HOME/mapm/config.yaml
mkdir -p "${config%/*}"

# user LINE...: the limits of config.yaml.   workspace: those of mapm.yaml.
user()
{
    { echo limits:; printf '  %s\n' "$@"; } >"$config"
}
workspace()
{
    { echo limits:; printf '  %s\n' "$@"; } >mapm.yaml
}
# anew: no workspace, nothing in the store, no limits.
anew()
{
    cd "$T" && chmod -R u+w ws mapm 2>/dev/null
    rm -rf "$T/ws" "$T/mapm" "$config"
    mkdir "$T/ws" && cd "$T/ws" || exit 1
}

skill "$src/skills/four" 'scope: acme'
for name in a b c; do echo $name >"$src/skills/four/$name.txt"; done
skill "$src/skills/heavy" 'scope: acme'
printf '%02000d\n' 7 >"$src/skills/heavy/heavy.txt"
skill "$src/skills/deep" 'scope: acme'
mkdir -p "$src/skills/deep/a/b"
echo deep >"$src/skills/deep/a/b/c.txt"
skill "$src/skills/low" 'scope: acme'
for kind in file git; do
    [ $kind = file ] && from=file:$src/skills || from=$url/skills
    skill "$src/skills/top-$kind" 'scope: acme' 'dependencies:' '  skills:' \
        "    - $from/four" "    - $from/low"
done
make_repo acme/catalog "$src"
start_githost

# --- lowered: from the disk and from a repository ------------------------------

# refused WHERE NAME LIMIT VALUE: more than what mapm.yaml allows.
refused()
{
    anew
    workspace "$3: $4"
    exits "$1: install fails for $3 below the size of the package" 1 mapm install "$2"
    like "$1: the error names $3 and the line of mapm.yaml" "$err" "\($3, mapm.yaml:2\)"
    like "$1: the error shows the value and the line of the limit" "$err" "$3 is $4 in mapm.yaml:2"
    is "$1: install writes nothing beside mapm.yaml" "$(ls -A)" mapm.yaml
}
for from in "$src/skills" "$url/skills"; do
    where=${from%%:*}
    [ "$where" = https ] || where=file
    refused $where "$from/four" package_max_files 3
    like "$where: the error says that there are more than 3 files" "$err" 'more than 3 files'
    refused $where "$from/heavy" file_max_bytes 2000
    like "$where: the error names the file that is too large" "$err" 'heavy.txt'
    refused $where "$from/heavy" package_max_bytes 2050
    refused $where "$from/deep" package_max_depth 2
done
for kind in file git; do
    from=$src/skills/top-$kind
    [ $kind = file ] || from=$url/skills/top-git
    refused "needs in $kind" "$from" graph_max_packages 2
    refused "needs in $kind" "$from" graph_max_depth 1
    refused "needs in $kind" "$from" graph_max_edges 1
done
refused transfer "$url/skills/four" transfer_max_bytes 600
refused transfer "$url/skills/four" transfer_max_objects 2

anew
workspace 'transfer_max_seconds: 1'
fault '{"kind": "delay", "ms": 3000}'
exits 'install fails when the transfer takes longer than transfer_max_seconds' 1 mapm install "$url/skills/four"
like 'the error names transfer_max_seconds and the line of mapm.yaml' "$err" 'took longer than 1 seconds \(transfer_max_seconds, mapm.yaml:2\)'
clear_faults

# --- the edge -------------------------------------------------------------------

for from in "$src/skills" "$url/skills"; do
    anew
    workspace 'package_max_files: 4' 'package_max_depth: 3' 'file_max_bytes: 2001' \
        'graph_max_packages: 3' 'graph_max_depth: 2' 'graph_max_edges: 2'
    exits 'install succeeds when each limit equals what the packages need' 0 mapm install "$from/four" "$from/heavy" "$from/deep"
done

anew
exits 'install succeeds without limits' 0 mapm install "$url/skills/four"
printf 'limits: {transfer_max_bytes: 10}\n' >>mapm.yaml
run mapm outdated
like 'outdated observes transfer_max_bytes of mapm.yaml' "$err$out" '\(transfer_max_bytes, mapm.yaml:[0-9]+\)'

# --- who may ----------------------------------------------------------------------

anew
user 'package_max_files: 3'
exits 'install fails for a limit of config.yaml' 1 mapm install "$src/skills/four"
like 'the error names the limit and the line of config.yaml' "$err" "\(package_max_files, $config:2\)"
workspace 'package_max_files: 4'
exits 'install fails when mapm.yaml has a higher limit than config.yaml' 1 mapm install "$src/skills/four"
like 'the error names the lower limit of config.yaml' "$err" "\(package_max_files, $config:2\)"
workspace 'package_max_files: 5001'
exits 'install fails when mapm.yaml raises a limit above that of config.yaml' 1 mapm install "$src/skills/four"
like 'the error names the line of mapm.yaml and the limit of config.yaml' "$err" "mapm.yaml:2: package_max_files: a workspace may only lower it \(3, $config:2\)"
like 'the error names config.yaml as the place to raise a limit' "$err" 'config.yaml'

anew
workspace 'package_max_files: 5001'
exits 'list fails when mapm.yaml raises a limit above the default' 1 mapm list
like 'the error names the line of mapm.yaml and the default' "$err" 'mapm.yaml:2: package_max_files: a workspace may only lower it \(5000\)'
workspace 'package_max_files: 0'
exits 'list fails for a limit of 0' 1 mapm list
workspace 'name_max_chars: 5'
exits 'list fails for a limit of documents in mapm.yaml' 1 mapm list

# --- raised ----------------------------------------------------------------------

skill "$src/skills/many" 'scope: acme'
(cd "$src/skills/many" && seq 1 5000 | split -l 1 -a 4 - f)
make_repo acme/catalog "$src" many
for from in "$src/skills" "${url%main}many/skills"; do
    anew
    exits 'install of a package with 5,001 files fails' 1 mapm install "$from/many"
    like 'the error names package_max_files' "$err" '\(package_max_files\)'
    like 'the error shows the line for config.yaml that raises the limit' "$err" 'config.yaml may raise it: limits: \{package_max_files: 10000\}'
    user 'package_max_files: 5001'
    exits 'install of 5,001 files succeeds when config.yaml raises the limit' 0 mapm install "$from/many"
    is 'install provisions all 5,001 files' "$(ls .agents/skills/many | wc -l)" 5001
    exits 'a second install of 5,001 files succeeds' 0 mapm install
    exits 'verify accepts 5,001 files' 0 mapm verify
    rm -rf .agents .claude
    exits 'install of 5,001 files from the store succeeds' 0 mapm install
    is 'install from the store provisions all 5,001 files' "$(ls .agents/skills/many | wc -l)" 5001
done
# --- a limit of none -------------------------------------------------------------

anew
start_githost
skill "$T/none/skills/hello"
make_repo acme/none "$T/none"
workspace 'run_max_commands: 0'
exits 'install succeeds with run_max_commands: 0' 0 mapm install --yes \
    https://github.com/acme/none/tree/main/skills/hello

# --- how deep a tree is shown --------------------------------------------------------

skill "$T/chain/four"
skill "$T/chain/three" 'dependencies:' '  skills:' '    - https://github.com/acme/chain/tree/main/four'
skill "$T/chain/two" 'dependencies:' '  skills:' '    - https://github.com/acme/chain/tree/main/three'
skill "$T/chain/one" 'dependencies:' '  skills:' '    - https://github.com/acme/chain/tree/main/two'
make_repo acme/chain "$T/chain"
mkdir "$T/deep" && cd "$T/deep" || exit 1
run mapm install --yes https://github.com/acme/chain/tree/main/one
is '[row 4] tree shows a chain of four packages' "$(mapm tree | wc -l)" 4
printf 'limits:\n  graph_max_depth: 2\n' >>mapm.yaml
run mapm tree
is '[row 4] tree shows as many levels as graph_max_depth permits' "$(printf '%s\n' "$out" | wc -l)" 3
like '[row 4] tree says that deeper levels are not shown' "$err" 'deeper levels are not shown.*graph_max_depth'

# refs that come above the slowest rate, and for long: four times the stall is allowed
anew
make_repo acme/chain "$T/chain"
i=0
while [ $i -lt 3000 ]; do
    echo "create refs/heads/main-$i $COMMIT"
    i=$((i + 1))
done | repo acme/chain update-ref --stdin
fault '{"kind": "drip", "bytes": 1500, "ms": 300, "times": -1, "match": {"cmd": "ls-refs"}}'
user 'transfer_stall_seconds: 1'
exits '[F2, row 14] install fails when refs arrive slowly for long' 1 mapm install https://github.com/acme/chain/tree/main/four
# (On a busy machine the server's pauses are longer, and the stall limit is reached first.)
like '[F2, row 14] the error of slow refs gives the reason' "$err" 'timed out|too slow'
clear_faults
done_testing

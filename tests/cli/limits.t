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
    exits "$1: $3 is lowered" 1 mapm install "$2"
    like "$1: the message names $3 and the line" "$err" "\($3, mapm.yaml:2\)"
    like "$1: and says what it is" "$err" "$3 is $4 in mapm.yaml:2"
    is "$1: nothing is installed" "$(ls -A)" mapm.yaml
}
for from in "$src/skills" "$url/skills"; do
    where=${from%%:*}
    [ "$where" = https ] || where=file
    refused $where "$from/four" package_max_files 3
    like "$where: what there is too much of" "$err" 'more than 3 files'
    refused $where "$from/heavy" file_max_bytes 2000
    like "$where: which file" "$err" 'heavy.txt'
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
exits 'time is a limit' 1 mapm install "$url/skills/four"
like 'it is named' "$err" 'took longer than 1 seconds \(transfer_max_seconds, mapm.yaml:2\)'
clear_faults

# --- the edge -------------------------------------------------------------------

for from in "$src/skills" "$url/skills"; do
    anew
    workspace 'package_max_files: 4' 'package_max_depth: 3' 'file_max_bytes: 2001' \
        'graph_max_packages: 3' 'graph_max_depth: 2' 'graph_max_edges: 2'
    exits 'as much as is allowed' 0 mapm install "$from/four" "$from/heavy" "$from/deep"
done

anew
exits 'without limits' 0 mapm install "$url/skills/four"
printf 'limits: {transfer_max_bytes: 10}\n' >>mapm.yaml
run mapm outdated
like 'outdated keeps to them' "$err$out" '\(transfer_max_bytes, mapm.yaml:[0-9]+\)'

# --- who may ----------------------------------------------------------------------

anew
user 'package_max_files: 3'
exits 'the user lowers, too' 1 mapm install "$src/skills/four"
like 'it is named' "$err" "\(package_max_files, $config:2\)"
workspace 'package_max_files: 4'
exits 'a workspace that lowers less changes nothing' 1 mapm install "$src/skills/four"
like 'the lower one is named' "$err" "\(package_max_files, $config:2\)"
workspace 'package_max_files: 5001'
exits 'a workspace may not raise it' 1 mapm install "$src/skills/four"
like 'the line' "$err" "mapm.yaml:2: package_max_files: a workspace may only lower it \(3, $config:2\)"
like 'and where to' "$err" 'config.yaml'

anew
workspace 'package_max_files: 5001'
exits 'nor what the program has' 1 mapm list
like 'the line' "$err" 'mapm.yaml:2: package_max_files: a workspace may only lower it \(5000\)'
workspace 'package_max_files: 0'
exits '0 is not any' 1 mapm list
workspace 'name_max_chars: 5'
exits 'what a document may be is no limit of these' 1 mapm list

# --- raised ----------------------------------------------------------------------

skill "$src/skills/many" 'scope: acme'
(cd "$src/skills/many" && seq 1 5000 | split -l 1 -a 4 - f)
make_repo acme/catalog "$src" many
for from in "$src/skills" "${url%main}many/skills"; do
    anew
    exits '5,001 files are too many' 1 mapm install "$from/many"
    like 'the limit' "$err" '\(package_max_files\)'
    like 'who may raise it' "$err" 'config.yaml may raise it: limits: \{package_max_files: 10000\}'
    user 'package_max_files: 5001'
    exits 'unless the user says so' 0 mapm install "$from/many"
    is 'all are there' "$(ls .agents/skills/many | wc -l)" 5001
    exits 'nothing more to do' 0 mapm install
    exits 'it verifies' 0 mapm verify
    rm -rf .agents .claude
    exits 'out of the store' 0 mapm install
    is 'they are there again' "$(ls .agents/skills/many | wc -l)" 5001
done
# --- a limit of none -------------------------------------------------------------

anew
start_githost
skill "$T/none/skills/hello"
make_repo acme/none "$T/none"
workspace 'run_max_commands: 0'
exits 'no commands at all is no obstacle to an install' 0 mapm install --yes \
    https://github.com/acme/none/tree/main/skills/hello

# --- how deep a tree is shown --------------------------------------------------------

skill "$T/chain/four"
skill "$T/chain/three" 'dependencies:' '  skills:' '    - https://github.com/acme/chain/tree/main/four'
skill "$T/chain/two" 'dependencies:' '  skills:' '    - https://github.com/acme/chain/tree/main/three'
skill "$T/chain/one" 'dependencies:' '  skills:' '    - https://github.com/acme/chain/tree/main/two'
make_repo acme/chain "$T/chain"
mkdir "$T/deep" && cd "$T/deep" || exit 1
run mapm install --yes https://github.com/acme/chain/tree/main/one
is '[row 4] a chain is shown' "$(mapm tree | wc -l)" 4
printf 'limits:\n  graph_max_depth: 2\n' >>mapm.yaml
run mapm tree
is '[row 4] as far as graph_max_depth goes' "$(printf '%s\n' "$out" | wc -l)" 3
like '[row 4] and says so' "$err" 'deeper levels are not shown.*graph_max_depth'

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
exits '[F2, row 14] refs that take long' 1 mapm install https://github.com/acme/chain/tree/main/four
like '[F2, row 14] are given up, not waited for' "$err" 'timed out'
clear_faults
done_testing

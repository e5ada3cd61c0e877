#!/bin/sh
. "$(dirname "$0")/../lib/cli.sh"

# Four times the packages cost about four times the processor time and at most
# so much memory: ratios of the same program in the same run, never a time.

FEW=400 MANY=1600
CPU_FACTOR=7    # 4.5 wanted; others disturb it
MEMORY_FACTOR=3 # 14.7 when each root copied mapm.yaml

for n in $FEW $MANY; do
    "$ROOT/tests/githost/catalog-gen" --out "$T/repos" --owner acme --name "c$n" --repos 1 --skills $n --mcps 0 \
        --agents 0 --depth 1 --files 1 --pin main >/dev/null
    mkdir "$T/ws$n"
done
skill "$T/src/skills/one"
make_repo acme/one "$T/src"
start_githost

# measure TIMES COMMAND...: least CPU time in microseconds and peak KiB, of the
# command and its processes, in $cpu and $peak; the command has to succeed.
cat >"$T/measure" <<'PY'
import os, subprocess, sys
least, peak = None, 0
for _ in range(int(sys.argv[1])):
    p = subprocess.Popen(sys.argv[2:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(p.pid, 0)
    if status:
        sys.exit(1)
    cpu = int((used.ru_utime + used.ru_stime) * 1e6)
    least = cpu if least is None else min(least, cpu)
    peak = max(peak, used.ru_maxrss)
print(least, peak)
PY
measure()
{
    set -- $(python3 "$T/measure" "$@" 2>>"$T/measure.err" || echo 0 0)
    cpu=$1 peak=$2
    [ "$cpu" -gt 0 ]
}

# grows WHAT TIMES SCRIPT: in both workspaces; $N is the number of packages.
grows()
{
    cd "$T/ws$FEW" && N=$FEW measure "$2" sh -c "$3"
    few_cpu=$cpu few_peak=$peak
    cd "$T/ws$MANY" && N=$MANY measure "$2" sh -c "$3"
    if [ "$few_cpu" -gt 0 ] && [ "$cpu" -gt 0 ] && [ "$cpu" -le $((few_cpu * CPU_FACTOR)) ]; then
        pass "[F7] $1: CPU time grows as the packages do"
    else
        fail "[F7] $1: CPU time grows as the packages do"
        diag "$(cat "$T/measure.err")"
    fi
    diag "$few_cpu us, $few_peak KiB; with four times the packages $cpu us, $peak KiB"
}

grows 'install --all' 1 '"$MAPM" install --yes -q --all https://github.com/acme/c$N/tree/main'
ok '[F7] install --all: memory grows at most by a factor of three' test "$peak" -le $((few_peak * MEMORY_FACTOR))
grows 'install --all from a warm store' 1 \
    'mkdir ../warm$N && cd ../warm$N && "$MAPM" install --yes -q --all https://github.com/acme/c$N/tree/main'
ok '[F11] install --all from a warm store: memory grows at most by a factor of three' test "$peak" -le $((few_peak * MEMORY_FACTOR))
is '[F7, D11] all packages are chosen by the catalog' "$(grep -c '^    catalog: ' mapm.lock)" $MANY
grows 'install with nothing to do' 3 '"$MAPM" install -q'
grows 'install --locked --dry-run' 3 '"$MAPM" install -q --locked --dry-run'
grows list 3 '"$MAPM" list'
grows 'tree --json' 3 '"$MAPM" tree --json'
grows why 3 '"$MAPM" why "acme/$(sed -n "s|^    origin: .*/skills/||p" mapm.lock | tail -n 1)"'
grows verify 3 '"$MAPM" verify'
grows diff 3 '"$MAPM" diff'
grows 'restore of one package' 3 'd=$(ls -d .agents/skills/* | head -n 1) && echo x >>$d/SKILL.md && "$MAPM" restore -q "${d##*/}"'
grows outdated 3 '"$MAPM" outdated'
grows 'store gc' 3 '"$MAPM" store gc --dry-run'
grows check 3 '"$MAPM" check -q .agents/skills'
grows 'remove of every second package' 1 'sed -n "s|^    origin: .*/skills/||p" mapm.lock | sed -n "n;p" | xargs "$MAPM" remove --yes -q'
is '[F7, D11] every second package is left after remove' "$(grep -c '^    catalog: ' mapm.lock)" $((MANY / 2))
is '[F7, D11] mapm.yaml excludes the packages that were removed' "$(grep -c '^        - skills/skill-' mapm.yaml)" $((MANY / 2))
grows 'update without a change' 1 '"$MAPM" update -q'
grows 'import of a list without a package of its repository' 1 'seq $((N * 20)) |
    sed "s|.*|[[skills]]\nname=\"x&\"\nsource=\"acme/one\"\npath=\"skills/x&\"|" >agents.toml
    "$MAPM" import --yes -q; test $? -eq 3'
done_testing

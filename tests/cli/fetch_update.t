#!/bin/sh
# What an update and a graph cost: trees that the store has are not fetched
# again, and manifests are prefetched. [F10]; FETCH 3, 4.
. "$(dirname "$0")/../lib/cli.sh"
GH=https://github.com
WANTED=$GH/acme/many/tree/main/skills/skill-7
bytes()
{
    stat_of body_out
}

# 1,500 folders: more trees than are taken at once
git init -q --bare "$T/repos/acme/many.git"
commits()
{
    python3 -S - "$@" <<'PYTHON' | repo acme/many fast-import --quiet --force
import sys
first, last, parent = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
def put(path, text):
    print("M 100644 inline %s\ndata %d\n%s" % (path, len(text), text))
for n in range(first, last):
    print("commit refs/heads/main\ncommitter A <a@example.org> %d +0000\ndata 1\nx" % (1700000000 + n))
    if parent and n == first:
        print("from " + parent)
    if not parent and n == first:
        for i in range(1500):
            put("skills/skill-%d/SKILL.md" % i, "---\nname: skill-%d\ndescription: Number %d.\n---\n" % (i, i))
    put("skills/skill-7/SKILL.md", "---\nname: skill-7\ndescription: Change %d.\n---\n" % n)
PYTHON
}
commits 0 1 ''
repo acme/many symbolic-ref HEAD refs/heads/main
start_githost
exits 'install of a skill of a large catalog succeeds' 0 mapm install "$WANTED"
commits 1 6 "refs/heads/main^0"
reset_log
exits '[F10] update five commits later succeeds' 0 mapm update
ok '[F10] update provisions the content five commits later' grep -q 'Change 5' .agents/skills/skill-7/SKILL.md
is '[F10] update takes three requests' "$(requests)" 3
at_most '[F10] update receives at most 5000 bytes' "$(bytes)" 5000
commits 6 7 "refs/heads/main^0"
reset_log
exits '[F10] update one commit later succeeds' 0 mapm update
at_most '[F10] update one commit later receives at most 5000 bytes' "$(bytes)" 5000

# the server refuses what a thin pack needs: whole, once more
commits 7 8 "refs/heads/main^0"
fault '{"kind": "sideerr", "message": "no thin pack", "match": {"cmd": "fetch"}}'
exits '[F10] update succeeds when the host refuses a thin pack' 0 mapm update
ok '[F10] update provisions the content of a whole pack' grep -q 'Change 7' .agents/skills/skill-7/SKILL.md
clear_faults

# the history is another one: nothing of the old commit helps
commits 8 9 ''
exits '[F10] update succeeds after the history was rewritten' 0 mapm update
ok '[F10] update provisions the content of the rewritten history' grep -q 'Change 8' .agents/skills/skill-7/SKILL.md

# trees in the store that are damaged
commits 9 10 "refs/heads/main^0"
find "$MAPM_HOME/store/packs" "$MAPM_HOME/store/objects" -type f 2>/dev/null | while read -r f; do
    chmod u+w "$f" && printf x | dd of="$f" bs=1 seek=20 conv=notrunc status=none
done
exits '[F10] update succeeds with damaged trees in the store' 0 mapm update
ok '[F10] update provisions the right content despite damaged trees' grep -q 'Change 9' .agents/skills/skill-7/SKILL.md

# --- skills of many commits ---------------------------------------------------------
# Of 18 commits that an update leaves it names 16: the request stays short.
git init -q --bare "$T/repos/acme/apart.git"
apart()
{
    python3 -S -c '
import sys
n, text = int(sys.argv[1]), "---\nname: s-%s\ndescription: At %s.\n---\n"
print("commit refs/heads/main\ncommitter A <a@example.org> %d +0000\ndata 1\nx" % (1700000000 + n))
if n:
    print("from refs/heads/main^0")
for i in range(18) if n == 18 else [n]:
    body = text % (i, n)
    print("M 100644 inline s-%d/SKILL.md\ndata %d\n%s" % (i, len(body), body))' "$1" |
        repo acme/apart fast-import --quiet
}
mkdir "$T/apart" && cd "$T/apart" || exit 1
n=0
while [ $n -lt 18 ]; do
    apart $n
    [ $n -gt 0 ] || repo acme/apart symbolic-ref HEAD refs/heads/main
    mapm install --yes "$GH/acme/apart/tree/main/s-$n" >"$T/out" 2>&1 || break
    n=$((n + 1))
done
is 'the lock has skills of 18 commits' "$(grep -c '^ *commit:' mapm.lock)" 18
apart 18
reset_log
exits 'update of skills of 18 commits succeeds' 0 mapm update
is 'update names at most 16 commits in a request' "$(control GET /log | python3 -S -c '
import json, sys
print(max(json.loads(line).get("haves") or 0 for line in sys.stdin))')" 16
ok 'update provisions the new content of the last skill' grep -q 'At 18' .agents/skills/s-17/SKILL.md
ok 'update provisions the new content of the first skill' grep -q 'At 18' .agents/skills/s-0/SKILL.md

# --- a graph ----------------------------------------------------------------------
stop_githost
rm -rf "$T/repos"
"$ROOT/tests/githost/catalog-gen" --out "$T/repos" --repos 1 --skills 90 --mcps 9 --agents 1 --depth 6 >/dev/null
start_githost
root=$(python3 -S -c '
import json, sys
d = json.load(open(sys.argv[1]))
print(next(u for u, n in d["nodes"].items() if n["path"] == "agents/everything"))' "$T/repos/index.json")
mkdir "$T/graph" && cd "$T/graph" || exit 1
exits '[F10] install of a graph of 100 packages succeeds' 0 mapm install --yes "$root"
is '[F10] install of a deep graph takes four requests' "$(requests)" 4
done_testing

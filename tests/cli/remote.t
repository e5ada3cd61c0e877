#!/bin/sh
# mapm verify --remote: each commit is in the history of the ref that its origin
# names, for continuous integration of changes of mapm.lock. F1.
. "$(dirname "$0")/../lib/cli.sh"

s=$T/src
U=https://github.com/acme/catalog/tree

skill "$s/skills/base" 'scope: acme'
skill "$s/skills/mid" 'scope: acme' 'dependencies:' '  skills:' "    - $U/main/skills/base"
skill "$s/skills/third" 'scope: acme'
skill "$s/skills/slash" 'scope: acme'
skill "$T/src-b/skills/far" 'scope: beta'
for i in 1 2 3 4 5 6; do
    echo "$i" >"$s/n"
    make_repo acme/catalog "$s"
done
old=$(repo acme/catalog rev-parse main~4)
repo acme/catalog branch v/1.x main~3
make_repo beta/tools "$T/src-b"
start_githost
exits 'a workspace' 0 mapm install --yes "$U/main/skills/mid" "$U/$old/skills/third" \
    "$U/v/1.x/skills/slash" beta/tools/skills/far
commit_of()
{
    sed -n "/name: $(echo "$1" | sed 's,/,\\/,')\$/,/^  - /s/^    commit: //p" mapm.lock | head -n 1
}
edit()
{
    sed -i "/name: $(echo "$1" | sed 's,/,\\/,')\$/,/^  - /s|^    $2: .*|    $2: $3|" mapm.lock
}
snapshot . >"$T/before"
reset_log
exits '[F1] verify --remote: all are' 0 mapm verify --remote
like '[F1] it says how many' "$err" '5 packages verified'
at_most '[F1] of two repositories: refs, and what is older than a tip' "$(requests)" 4
is '[F1] nothing is written' "$(snapshot .)" "$(cat "$T/before")"
exits '[F1] not without the network' 1 mapm verify --remote --offline
echo 7 >"$s/n"
make_repo acme/catalog "$s"
exits '[F1] refs that moved on' 0 mapm verify --remote
exits 'without --remote' 0 mapm verify
reset_log
exits '[F1] asks nothing' 0 mapm verify
is '[F1] of anyone' "$(requests)" 0

# --- commits that no ref leads to ----------------------------------------------------

cp mapm.lock "$T/good.lock"
cp -r "$s" "$T/fork" && echo evil >>"$T/fork/skills/base/SKILL.md"
make_repo acme/catalog "$T/fork" gone
gone=$COMMIT
cp -r . "$T/evil" && cd "$T/evil" || exit 1
edit acme/base commit "$gone"
edit acme/base tree "$(repo acme/catalog rev-parse gone:skills/base)"
sed -i "/name: acme\\/base\$/,/^  - /s|^    digest: .*|    digest: sha256:$(printf '%064d' 0)|" mapm.lock
run mapm install --locked --force
sed -i "s|sha256:0\\{64\\}|$(printf '%s\n' "$err" | sed -n 's/.*(\(sha256:[0-9a-f]*\)).*/\1/p' | head -n 1)|" mapm.lock
exits 'a commit of a branch installs' 0 mapm install --locked --force
exits '[F1] and is what its commit holds' 0 mapm verify
exits '[F1] but not of the branch that is named' 3 mapm verify --remote
like '[F1] it says which' "$out" "^\\.agents/skills/base: commit $gone is not in the history of \"main\" of acme/catalog"
repo acme/catalog update-ref -d refs/heads/gone
exits '[F1] a deleted branch' 3 mapm verify --remote
exits '[F1] for programs' 3 mapm verify --remote --json
like '[F1] as a difference' "$out" '"how": "commit [0-9a-f]* is not in the history'
sed -i "s|tree/main/skills/base|tree/$gone/skills/base|" mapm.lock
exits '[F1] an origin that is that commit' 3 mapm verify --remote
like '[F1] is in no branch' "$out" 'is in no branch or tag of acme/catalog'

cd "$T/ws" || exit 1
repo acme/catalog update-ref -d refs/heads/v/1.x
exits '[F1] a ref that is gone' 3 mapm verify --remote
like '[F1] is named' "$out" '^\.agents/skills/slash: the repository has no branch or tag'
like '[F1] with what to do' "$err" 'install the package from another one'
fault '{"kind": "status", "status": 404, "match": {"repo": "beta/*"}, "times": -1}'
exits '[F1] a repository that cannot be asked' 1 mapm verify --remote
like '[F1] is an error' "$err" 'cannot look at https://github.com/beta/tools'
clear_faults
done_testing

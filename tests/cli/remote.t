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
exits 'install of packages of two repositories succeeds' 0 mapm install --yes "$U/main/skills/mid" "$U/$old/skills/third" \
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
exits '[F1] verify --remote succeeds with commits in the history of their refs' 0 mapm verify --remote
like '[F1] verify --remote reports the number of packages' "$err" '5 packages verified'
at_most '[F1] verify --remote of two repositories sends at most four requests' "$(requests)" 4
is '[F1] verify --remote leaves the workspace unchanged' "$(snapshot .)" "$(cat "$T/before")"
exits '[F1] verify --remote --offline fails' 1 mapm verify --remote --offline
echo 7 >"$s/n"
make_repo acme/catalog "$s"
exits '[F1] verify --remote succeeds when refs moved on' 0 mapm verify --remote
exits 'verify without --remote succeeds when refs moved on' 0 mapm verify
reset_log
exits '[F1] a second verify without --remote succeeds' 0 mapm verify
is '[F1] verify without --remote sends no request' "$(requests)" 0

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
exits 'install --locked of a commit of another branch succeeds' 0 mapm install --locked --force
exits '[F1] verify of a commit of another branch succeeds' 0 mapm verify
exits '[F1] verify --remote fails with a commit of another branch' 3 mapm verify --remote
like '[F1] the report names package, commit and ref' "$out" "^\\.agents/skills/base: commit $gone is not in the history of \"main\" of acme/catalog"
repo acme/catalog update-ref -d refs/heads/gone
exits '[F1] verify --remote fails with a commit of a deleted branch' 3 mapm verify --remote
exits '[F1] verify --remote --json fails with a commit of a deleted branch' 3 mapm verify --remote --json
like '[F1] verify --remote --json lists the commit as a difference' "$out" '"how": "commit [0-9a-f]* is not in the history'
sed -i "s|tree/main/skills/base|tree/$gone/skills/base|" mapm.lock
exits '[F1] verify --remote fails with an origin at an unreachable commit' 3 mapm verify --remote
like '[F1] the report says that the commit is in no branch or tag' "$out" 'is in no branch or tag of acme/catalog'

cd "$T/ws" || exit 1
repo acme/catalog update-ref -d refs/heads/v/1.x
exits '[F1] verify --remote fails when the ref is gone' 3 mapm verify --remote
like '[F1] the report names the package without its ref' "$out" '^\.agents/skills/slash: the repository has no branch or tag'
like '[F1] the hint suggests another ref' "$err" 'install the package from another one'
fault '{"kind": "status", "status": 404, "match": {"repo": "beta/*"}, "times": -1}'
exits '[F1] verify --remote fails when a repository does not answer' 1 mapm verify --remote
like '[F1] the error names the repository that does not answer' "$err" 'cannot look at https://github.com/beta/tools'
clear_faults
done_testing

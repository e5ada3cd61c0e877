#!/bin/sh
# Step of update/action.yml: a pull request of what `mapm update` changes. Nothing of a
# package is executed; to merge is to accept the commands that it shows.
set -eu
branch=$INPUT_BRANCH
body=$RUNNER_TEMP/mapm-update.md
most=60000 # bytes: GitHub takes 65,536 characters

update()
{
    status=0
    mapm update "$@" || status=$?
    # 3: some package stays as it is, and the others are updated.
    [ $status -eq 0 ] || [ $status -eq 3 ] || exit $status
}
# The text is of packages: a fence longer than any of its own keeps it text.
write_body()
{
    fence=$(grep -o '`\{3,\}' "$1" | sort -r | head -n 1)\`\`\`
    echo '`mapm update` changes these packages. Commands and programs come first.'
    printf '\n%sdiff\n' "$fence"
    head -c $most "$1" | iconv -c -f UTF-8 -t UTF-8
    printf '\n%s\n' "$fence"
    [ "$(wc -c <"$1")" -le $most ] || echo 'The rest is left out here: `mapm update --diff` shows it.'
}

update --diff >"$body.diff"
update --yes
if [ -z "$(git status --porcelain -- .)" ]; then
    echo 'changed=false' >>"$GITHUB_OUTPUT"
    exit 0
fi
echo 'changed=true' >>"$GITHUB_OUTPUT"
write_body "$body.diff" >"$body"

git add -A -- .
git -c user.name='github-actions[bot]' \
    -c user.email='41898282+github-actions[bot]@users.noreply.github.com' \
    commit -q -m 'Update agents and skills'
git push -q --force origin "HEAD:refs/heads/$branch"
number=$(gh pr list --head "$branch" --state open --json number --jq '.[0].number // empty')
if [ -n "$number" ]; then
    gh pr edit "$number" --body-file "$body"
else
    gh pr create --head "$branch" --title 'Update agents and skills' --body-file "$body"
fi

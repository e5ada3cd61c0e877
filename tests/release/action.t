#!/bin/sh
# The GitHub Action: its files, and its steps as a runner executes them, with the
# release on a server on loopback and a pull request in a repository of the test.
. "$(dirname "$0")/../lib/release.sh"

needs_artifact "setup-mapm-$VERSION.tar.gz"
needs_artifact "mapm-$VERSION-linux-*.tar.gz"
python=/usr/bin/python3
"$python" -c 'import yaml' 2>/dev/null || skip_all 'needs python3-yaml'

mkdir -p "$T/runner/_actions/acme/setup-mapm/v$VERSION"
action=$T/runner/_actions/acme/setup-mapm/v$VERSION
tar -xzf "$DIST/setup-mapm-$VERSION.tar.gz" -C "$action" --strip-components=1
is 'the action has no placeholder left' "$(grep -rE '@[A-Z]+@' "$action")" ''
unlike '[S7] the action comes without the scripts of the build' "$(ls "$action")" '^(build|check)$'

# --- syntax --------------------------------------------------------------------

cat >"$T/steps.py" <<'PYTHON'
"""steps.py FILE: the shell of an action's or a workflow's steps, and what is wrong with it."""
import re
import sys
import yaml

file = sys.argv[1]
with open(file) as f:
    document = yaml.load(f, yaml.BaseLoader)
if "runs" in document:
    steps, inputs = document["runs"]["steps"], document["inputs"]
    assert document["runs"]["using"] == "composite" and document["name"] and document["description"]
    for name, value in inputs.items():
        assert set(value) == {"description", "default"}, name
    named = {s["id"]: s for s in steps if "id" in s}
    for expression in re.findall(r"\$\{\{ (.*?) \}\}", open(file).read()) + [s["if"] for s in steps if "if" in s]:
        for word in re.findall(r"inputs\.([\w-]+)", expression):
            assert word in inputs, word
        for word in re.findall(r"steps\.([\w-]+)\.outputs", expression):
            assert word in named, word
else:
    assert document["on"] and document["permissions"], "events and permissions"
    steps = [s for job in document["jobs"].values() for s in job["steps"]]
for step in steps:
    assert ("run" in step) != ("uses" in step), step
    assert "runs" not in document or "uses" in step or "shell" in step, "a step of an action names its shell"
    # What others write would be executed.
    assert "${{" not in step.get("run", ""), step
    if "run" in step:
        print(step["run"])
PYTHON
for file in action.yml update/action.yml workflows/mapm-check.yml workflows/mapm-update.yml; do
    exits "[S7] the steps and inputs of $file are consistent" 0 "$python" "$T/steps.py" "$action/$file"
    printf '%s\n' "$out" >"$T/step.sh"
    ok 'the steps of the file are valid shell' sh -n "$T/step.sh"
done
for file in setup.sh update/update.sh; do
    ok "[S7] $file is valid shell" sh -n "$action/$file"
    ! command -v shellcheck >/dev/null || ok 'shellcheck has no warning for the script' shellcheck -S warning "$action/$file"
done
cat >"$T/renovate.js" <<'JS'
const { customManagers, packageRules } = require(process.argv[2]);
const text = require('fs').readFileSync(process.argv[3], 'utf8');
for (const m of customManagers)
  for (const s of m.matchStrings)
    for (const found of text.matchAll(new RegExp(s, 'g')))
      console.log(m.datasourceTemplate, found.groups.depName, found.groups.currentValue);
if (!new RegExp(customManagers[0].managerFilePatterns[0].slice(1, -1)).test('apps/a/mapm.yaml')) process.exit(1);
JS
mkdir "$T/sample"
cat >"$T/sample/mapm.yaml" <<'Y'
dependencies:
  skills:
    - https://github.com/acme/tools/tree/v1.2.3/skills/a
    - "https://github.com/acme/tools/tree/main/skills/b"
    - https://github.com/acme/tools/tree/^1.2/skills/c
    - {origin: https://gitlab.com/group/sub/project/-/tree/2.0.0/x, as: y}
  agents:
    - https://github.com/a-b/c.d/tree/v10.20.30
Y
if command -v node >/dev/null; then
    exits '[S7] the preset of Renovate reads mapm.yaml' 0 node "$T/renovate.js" "$action/default.json" "$T/sample/mapm.yaml"
    is 'the preset of Renovate finds the tags' "$out" 'github-tags acme/tools v1.2.3
github-tags a-b/c.d v10.20.30
gitlab-tags group/sub/project 2.0.0'
fi

# --- setup.sh ------------------------------------------------------------------

mkdir -p "$T/releases/acme/setup-mapm/releases/download/v$VERSION"
releases=$T/releases/acme/setup-mapm/releases/download/v$VERSION
cp "$DIST/mapm-$VERSION-linux"-*.tar.gz "$releases"
python3 -u -m http.server --bind 127.0.0.1 --directory "$T/releases" 0 >"$T/http" 2>/dev/null &
http_pid=$!
trap 'kill $http_pid; leave' EXIT
await grep -q 'http://' "$T/http"
server=$(sed -n 's|.*(\(http://[^/]*\)/).*|\1|p' "$T/http")

# setup [NAME=VALUE...]: the step, with fresh files of a runner.
setup()
{
    rm -rf "$T/temp" && mkdir "$T/temp"
    : >"$T/path"
    : >"$T/output"
    env RUNNER_TEMP="$T/temp" GITHUB_PATH="$T/path" GITHUB_OUTPUT="$T/output" \
        GITHUB_ACTION_PATH="$action" GITHUB_SERVER_URL="$server" "$@" "$action/setup.sh"
}
exits '[S7] setup.sh downloads the release of its repository' 0 setup
is 'mapm is on the PATH after setup.sh' "$("$(cat "$T/path")/mapm" --version)" "mapm $VERSION"
like 'setup.sh outputs the version' "$(cat "$T/output")" "^version=$VERSION\$"
like 'setup.sh outputs the folder of the store' "$(cat "$T/output")" "^store=$T/mapm/store\$"
exits '[S7] setup.sh downloads from a mirror' 0 setup GITHUB_SERVER_URL=http://127.0.0.1:9 INPUT_URL="$server/acme/setup-mapm/releases/download/v$VERSION/"
cp -r "$action" "$T/local"
exits 'setup.sh of a local copy without a URL fails' 1 env RUNNER_TEMP="$T/temp" GITHUB_PATH=/dev/null GITHUB_OUTPUT=/dev/null "$T/local/setup.sh"
like 'the error of a local copy names the input url' "$out" '^::error::.*"url"'

for archive in "$releases"/*; do
    printf x >>"$archive"
done
exits '[S7] setup.sh refuses an archive with other bytes' 1 setup
like 'the error has both checksums' "$out" '^::error::.* is not what was released: its SHA-256 is [0-9a-f]{64} instead of [0-9a-f]{64}$'
is 'setup.sh adds nothing to the PATH after a wrong checksum' "$(cat "$T/path")" ''
rm "$releases"/*
exits 'setup.sh fails when the release is absent' 1 setup
like 'the error says that the download failed' "$out" '^::error::.*cannot download http'
mkdir "$T/mac" && printf '#!/bin/sh\necho Darwin\n' >"$T/mac/uname" && chmod +x "$T/mac/uname"
exits 'setup.sh fails on another system' 1 setup PATH="$T/mac:$PATH"
like 'the error names the system without a release' "$out" '^::error::.*no mapm for Darwin'

# --- a job: install from the lock, then a pull request ---------------------------

cp "$DIST/mapm-$VERSION-linux"-*.tar.gz "$releases"
setup >/dev/null || broken 'setup.sh'
PATH=$(cat "$T/path"):$PATH
start_githost --tls
skill "$T/src/skills/tea" 'version: 1.0.0'
make_repo acme/catalog "$T/src"
mkdir -p "$T/project"
cd "$T/project" || exit 1
git init -q -b main .
git config user.name t
git config user.email t@example.org
ok 'install in the project of the test succeeds' mapm install --yes https://github.com/acme/catalog/tree/main/skills/tea
mapm init --gitignore >/dev/null 2>&1
git add -A && git commit -q -m first
git init -q --bare "$T/origin.git"
git remote add origin "$T/origin.git" && git push -q origin main

mkdir "$T/gh" && cat >"$T/gh/gh" <<'GH'
#!/bin/sh
# Stands in for GitHub's: keeps one pull request.
echo "$*" >>"$T_GH/log"
while [ $# -gt 0 ]; do
    case $1 in --body-file) cp "$2" "$T_GH/body" ;; esac
    case $1 in create) echo 7 >"$T_GH/number" ;; list) cat "$T_GH/number" 2>/dev/null ;; esac
    shift
done
exit 0
GH
chmod +x "$T/gh/gh"
# job: a fresh clone, installed, then the step of the update.
job()
{
    cd "$T" && rm -rf job && git clone -q "$T/origin.git" "$T/job" -b main && cd "$T/job" || return
    : >"$T/output"
    env CI=true mapm install --locked && env CI=true RUNNER_TEMP="$T/temp" GITHUB_OUTPUT="$T/output" INPUT_BRANCH=mapm/update \
        T_GH="$T/gh" PATH="$T/gh:$PATH" GH_TOKEN=none "$action/update/update.sh"
}
exits '[S7] the job without an update succeeds' 0 job
is 'the job without an update creates no pull request' "$(cat "$T/output"; cat "$T/gh/log" 2>/dev/null)" 'changed=false'
skill "$T/src/skills/tea" 'version: 1.1.0'
printf '\n````\n## @everyone $(touch /tmp/pwned) `x`\n' >>"$T/src/skills/tea/SKILL.md"
make_repo acme/catalog "$T/src"
exits '[S7] the job with an update succeeds' 0 job
is 'the job with an update outputs changed=true' "$(cat "$T/output")" 'changed=true'
like 'the job with an update creates a pull request of its branch' "$(cat "$T/gh/log")" '^pr create --head mapm/update '
is 'the branch of the pull request changes mapm.lock only' "$(git -C "$T/origin.git" diff --name-only main mapm/update)" mapm.lock
like '[S7] the text of the pull request shows the change' "$(cat "$T/gh/body")" '^\+version: 1\.1\.0$'
is 'the fence in the text is longer than any in the change' "$(grep -c '^```````' "$T/gh/body")" 2
exits '[S7] a second job with the same update succeeds' 0 job
like 'a second job edits the pull request' "$(tail -n 1 "$T/gh/log")" '^pr edit 7 --body-file '
done_testing

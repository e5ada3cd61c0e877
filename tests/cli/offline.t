#!/bin/sh
# Without the network: what the store holds is enough, and what it does not
# hold is said. DESIGN 4, 6; [row 26].
. "$(dirname "$0")/../lib/cli.sh"
s=$T/src
U=https://github.com/acme/catalog/tree

skill "$s/skills/base" 'scope: acme'
skill "$s/skills/rare" 'scope: acme'
skill "$s/skills/mid" 'scope: acme' 'dependencies:' '  skills:' "    - $U/main/skills/base"
make_repo acme/catalog "$s"
commit=$COMMIT
start_githost
fresh()
{
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
}

exits 'install --offline with an empty store fails' 1 mapm install --offline "$U/main/skills/mid"
like 'the error says that the package is not in the store' "$err" 'not in the store'
like 'the hint mentions --offline' "$err" 'hint: .*--offline'
is 'a failed install --offline writes nothing' "$(ls -A)" ''
run mapm install --offline --json "$U/main/skills/mid"
like 'install --offline --json has the error code offline' "$out" '"code": "offline"'
reset_log
exits 'install --offline of a short form fails with an empty store' 1 mapm install --offline acme/catalog/skills/mid
is 'install --offline of a short form sends no request' "$(requests)" 0

exits 'install with the network succeeds' 0 mapm install "$U/main/skills/mid"
mkdir "$T/saved" && cp mapm.lock mapm.yaml "$T/saved"
stop_githost

# --- the host is gone: git's rewrite, too, so nothing could answer -----------------

git config --global url.http://127.0.0.1:9/.insteadOf https://github.com/
fresh
exits 'install --offline of a branch in the store succeeds' 0 mapm install --offline "$U/main/skills/mid"
ok 'install --offline installs the dependency' diff -r "$s/skills/base" .agents/skills/base
ok 'install --offline writes the same lock' cmp mapm.lock "$T/saved/mapm.lock"
fresh
exits 'install --offline --all of a catalog fails' 1 mapm install --offline --all acme/catalog
like 'the error says that only the host of a catalog has its offer' "$err" 'because: only its host knows what a catalog offers'
like 'the hint suggests a package by its path' "$err" 'hint: .*mapm install --offline owner/repo/path/to/skill'
exits 'install --offline of a dependency alone succeeds' 0 mapm install --offline "$U/main/skills/base"
fresh
exits 'install --offline of a package by an unfetched commit fails' 1 \
    mapm install --offline "$U/$commit/skills/rare"
like 'the error says that the commit is not in the store' "$err" 'it is not in the store'
fresh
cp "$T/saved/mapm.yaml" "$T/saved/mapm.lock" .
exits 'install --locked without a host succeeds' 0 mapm install --locked
ok 'the skill installed without a host equals its source' diff -r "$s/skills/mid" .agents/skills/mid
exits 'install without a host and nothing to do succeeds' 0 mapm install
exits 'install --offline with nothing to do succeeds' 0 mapm install --offline
exits 'remove without a host succeeds' 0 mapm remove mid
fresh
cp "$T/saved/mapm.yaml" "$T/saved/mapm.lock" .
MAPM_HOME=$T/empty
export MAPM_HOME
exits 'install --locked --offline with an empty store fails' 1 mapm install --locked --offline
like 'the error names the package that is missing' "$err" 'skills/mid'
like 'the error has a hint' "$err" 'hint: '
exits 'install --locked with an unreachable host fails' 1 mapm install --locked
like 'the error names the host that does not answer' "$err" '127\.0\.0\.1:9'
is 'the failed installs write nothing' "$(ls -A | tr '\n' ' ')" 'mapm.lock mapm.yaml '
exits 'update --offline with an empty store fails' 1 mapm update --offline
exits 'outdated --offline with an empty store fails' 1 mapm outdated --offline

# --- by commit -------------------------------------------------------------------------

git config --global --remove-section url.http://127.0.0.1:9/
start_githost
fresh
exits 'install of a package by its commit succeeds' 0 mapm install "$U/$commit/skills/rare"
reset_log
fresh
exits 'a second install by commit succeeds in another workspace' 0 mapm install "$U/$commit/skills/rare"
is 'a second install by commit sends no request' "$(requests)" 0
stop_githost
fresh
exits 'install --offline by commit succeeds' 0 mapm install --offline "$U/$commit/skills/rare"
fresh
exits 'install --offline of a short form with the commit succeeds' 0 mapm install --offline "acme/catalog/skills/rare@$commit"
like 'mapm.yaml has the full URL with the commit' "$(cat mapm.yaml)" "$U/$commit/skills/rare"
done_testing

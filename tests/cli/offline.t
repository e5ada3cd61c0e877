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

exits 'nothing is known' 1 mapm install --offline "$U/main/skills/mid"
like 'it says what' "$err" 'not in the store'
like 'and what to do' "$err" 'hint: .*--offline'
is 'nothing was written' "$(ls -A)" ''
run mapm install --offline --json "$U/main/skills/mid"
like 'a code' "$out" '"code": "offline"'
reset_log
exits 'a short form neither' 1 mapm install --offline acme/catalog/skills/mid
is 'no request for it' "$(requests)" 0

exits 'once with the network' 0 mapm install "$U/main/skills/mid"
mkdir "$T/saved" && cp mapm.lock mapm.yaml "$T/saved"
stop_githost

# --- the host is gone: git's rewrite, too, so nothing could answer -----------------

git config --global url.http://127.0.0.1:9/.insteadOf https://github.com/
fresh
exits 'a branch, as it was' 0 mapm install --offline "$U/main/skills/mid"
ok 'with what it needs' diff -r "$s/skills/base" .agents/skills/base
ok 'the same lock' cmp mapm.lock "$T/saved/mapm.lock"
fresh
exits 'a catalog' 1 mapm install --offline --all acme/catalog
like 'what is offered is known to its host' "$err" 'because: only its host knows what a catalog offers'
like 'a package of it is not' "$err" 'hint: .*mapm install --offline owner/repo/path/to/skill'
exits 'a dependency alone' 0 mapm install --offline "$U/main/skills/base"
fresh
exits 'by commit, as nothing but the branch was asked for' 1 \
    mapm install --offline "$U/$commit/skills/rare"
like 'what is not there' "$err" 'it is not in the store'
fresh
cp "$T/saved/mapm.yaml" "$T/saved/mapm.lock" .
exits 'a lock, with no word of --offline' 0 mapm install --locked
ok 'the bytes' diff -r "$s/skills/mid" .agents/skills/mid
exits 'again' 0 mapm install
exits 'with --offline' 0 mapm install --offline
exits 'what is installed needs no network to go' 0 mapm remove mid
fresh
cp "$T/saved/mapm.yaml" "$T/saved/mapm.lock" .
MAPM_HOME=$T/empty
export MAPM_HOME
exits 'a lock and an empty store, offline' 1 mapm install --locked --offline
like 'says which is missing' "$err" 'skills/mid'
like 'and what to do' "$err" 'hint: '
exits 'a host that does not answer' 1 mapm install --locked
like 'is told' "$err" '127\.0\.0\.1:9'
is 'nothing was written' "$(ls -A | tr '\n' ' ')" 'mapm.lock mapm.yaml '
exits 'update offline is as told' 1 mapm update --offline
exits 'outdated, too' 1 mapm outdated --offline

# --- by commit -------------------------------------------------------------------------

git config --global --remove-section url.http://127.0.0.1:9/
start_githost
fresh
exits 'by commit' 0 mapm install "$U/$commit/skills/rare"
reset_log
fresh
exits 'again: a commit never changes' 0 mapm install "$U/$commit/skills/rare"
is 'so no request' "$(requests)" 0
stop_githost
fresh
exits 'and offline' 0 mapm install --offline "$U/$commit/skills/rare"
fresh
exits 'in short, too' 0 mapm install --offline "acme/catalog/skills/rare@$commit"
like 'with the full URL' "$(cat mapm.yaml)" "$U/$commit/skills/rare"
done_testing

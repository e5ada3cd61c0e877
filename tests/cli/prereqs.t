#!/bin/sh
# What a package wants to be prepared by hand: shown once, and no reason to
# refuse. [D21, M8].
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/terminal.sh"

fresh()
{
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
}
skill "$T/a" 'scope: acme' 'prereqs: Needs git 2.40.'
skill "$T/b" 'scope: acme' 'prereqs: Needs git 2.40.'
skill "$T/c" 'scope: acme' 'prereqs: Needs a key.'

exits '[D21] install --dry-run succeeds for a package with prereqs' 0 mapm install --dry-run "$T/a"
like '[D21] install --dry-run prints the prereqs' "$out" '^ +Needs git 2\.40\.$'
exits '[D21] install without a terminal succeeds with prereqs' 0 mapm install "$T/a"
like '[D21] install without a terminal prints the prereqs' "$out" '^ +Needs git 2\.40\.$'
fresh
exits '[D21] install succeeds in another workspace of the machine' 0 mapm install "$T/a"
unlike '[D21] install in another workspace does not print the prereqs again' "$out" 'Needs git'
exits '[D21] install succeeds for another package with the same prereqs' 0 mapm install "$T/b"
unlike '[D21] install does not print the same prereqs of another package' "$out" 'Needs git'
exits '[D21] install --dry-run succeeds for other prereqs' 0 mapm install --dry-run "$T/c"
like '[D21] install --dry-run prints the other prereqs' "$out" 'Needs a key'
fresh
on_terminal n "$MAPM" install "$T/c"
is '[D21] install on a terminal exits 4 when the answer is no' "$status" 4
like '[D21] install says that nothing was changed' "$out" 'nothing was changed'
is '[D21] the answer no leaves the workspace empty' "$(ls -A)" ''
on_terminal y "$MAPM" install "$T/c"
is '[D21] install on a terminal succeeds when the answer is yes' "$status" 0
is '[D21] install asks one question about the prereqs' "$(printf '%s\n' "$out" | grep -c '\[y/N\]')" 1
fresh
on_terminal n "$MAPM" install "$T/c"
is '[D21] install asks no question about prereqs accepted before' "$status" 0
exits '[D21] trust --list succeeds after prereqs were accepted' 0 mapm trust --list
unlike '[D21] trust --list does not print accepted prereqs' "$out$err" prereqs
done_testing

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

exits '[D21] a dry run' 0 mapm install --dry-run "$T/a"
like '[D21] shows it' "$out" '^ +Needs git 2\.40\.$'
exits '[D21] without a terminal' 0 mapm install "$T/a"
like '[D21] it is printed' "$out" '^ +Needs git 2\.40\.$'
fresh
exits '[D21] elsewhere on this machine' 0 mapm install "$T/a"
unlike '[D21] not again' "$out" 'Needs git'
exits '[D21] nor for another package with this text' 0 mapm install "$T/b"
unlike '[D21] the same' "$out" 'Needs git'
exits '[D21] another text' 0 mapm install --dry-run "$T/c"
like '[D21] is shown' "$out" 'Needs a key'
fresh
on_terminal n "$MAPM" install "$T/c"
is '[D21] on a terminal a no' "$status" 4
like '[D21] is one' "$out" 'nothing was changed'
is '[D21] and nothing was' "$(ls -A)" ''
on_terminal y "$MAPM" install "$T/c"
is '[D21] a yes' "$status" 0
is '[D21] was asked for once' "$(printf '%s\n' "$out" | grep -c '\[y/N\]')" 1
fresh
on_terminal n "$MAPM" install "$T/c"
is '[D21] and is remembered' "$status" 0
exits '[D21] it is no trust' 0 mapm trust --list
unlike '[D21] that is listed' "$out$err" prereqs
done_testing

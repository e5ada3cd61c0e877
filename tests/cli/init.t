#!/bin/sh
# mapm init: a mapm.yaml to begin with, never over another.
. "$(dirname "$0")/../lib/cli.sh"

exits 'init' 0 mapm init
like 'says what it wrote' "$out" '^wrote mapm.yaml$'
like 'and what comes next' "$err" 'mapm install'
is 'one file' "$(ls -A)" mapm.yaml
is 'for all to read' "$(stat -c %a mapm.yaml)" 644
exits 'mapm reads it' 0 mapm list
start_githost
skill "$T/src/skills/hello"
make_repo acme/catalog "$T/src"
cp mapm.yaml "$T/first"
exits 'and adds to it' 0 mapm install --yes \
    https://github.com/acme/catalog/tree/main/skills/hello
is 'in its place' "$(diff "$T/first" mapm.yaml | grep '^[<>]')" \
    '<   skills: []
>   skills:
>     - https://github.com/acme/catalog/tree/main/skills/hello'
cp mapm.yaml "$T/kept"
exits 'again' 0 mapm init
like 'it is kept' "$out" '^kept mapm.yaml$'
ok 'byte for byte' cmp mapm.yaml "$T/kept"

exits 'a folder that is not there' 0 mapm init new/project
like 'is made' "$out" '^wrote new/project/mapm.yaml$'
ok 'with the same text' cmp "$T/first" new/project/mapm.yaml
exits 'as JSON' 0 mapm init --json other
is 'is one document' "$out" '{
  "schema": "mapm.init/1",
  "path": "other/mapm.yaml",
  "created": true
}'
exits 'an absolute path' 0 mapm init "$T/absolute"
ok 'is one' test -f "$T/absolute/mapm.yaml"

# no lock is as good as an empty one where nothing is to be locked
cd new/project || exit 1
exits '[D18] nothing is installed: verify' 0 mapm verify
is '[D18] says so' "$out$err" '0 packages verified'
exits '[D18] nothing is installed: --locked' 0 mapm install --locked
is '[D18] writes nothing' "$(ls -A)" mapm.yaml
exits '[D18] an install writes the lock' 0 mapm install
ok '[D18] which is empty' grep -qx 'packages: \[\]' mapm.lock
rm mapm.lock && cp "$T/kept" mapm.yaml
exits '[D18] a root without a lock' 3 mapm verify
like '[D18] is named' "$out" 'skills/hello: not in the lock'
exits '[D18] a root without a lock: --locked' 1 mapm install --locked
cd ../.. || exit 1

mkdir linked && ln -s ../elsewhere linked/mapm.yaml
exits 'a link' 0 mapm init linked
not_ok 'is not written through' test -e elsewhere
ok 'and stays' test -L linked/mapm.yaml
printf 'x\n' >file
exits 'a file in the way' 1 mapm init file
like 'is named' "$err" 'file'
exits 'two folders' 2 mapm init a b
exits 'no folder' 2 mapm init ''
if [ -w /dev/full ] && (ulimit -f 0) 2>/dev/null; then
    mkdir full
    (trap '' XFSZ; ulimit -f 0; "$MAPM" init full) >"$T/out" 2>"$T/err"
    is '[row 27] a disk that is full' $? 1
    is 'leaves nothing behind' "$(ls -A full)" ''
else
    skip 'a disk that is full' 'ulimit -f is missing'
fi
done_testing

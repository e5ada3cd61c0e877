#!/bin/sh
# mapm init: a mapm.yaml to begin with, never over another.
. "$(dirname "$0")/../lib/cli.sh"

exits 'init succeeds in an empty folder' 0 mapm init
like 'init prints the file that it wrote' "$out" '^wrote mapm.yaml$'
like 'init names mapm install as the next step' "$err" 'mapm install'
is 'init writes mapm.yaml alone' "$(ls -A)" mapm.yaml
is 'mapm.yaml is readable for all users' "$(stat -c %a mapm.yaml)" 644
exits 'list accepts the new mapm.yaml' 0 mapm list
start_githost
skill "$T/src/skills/hello"
make_repo acme/catalog "$T/src"
cp mapm.yaml "$T/first"
exits 'install --yes succeeds with the new mapm.yaml' 0 mapm install --yes \
    https://github.com/acme/catalog/tree/main/skills/hello
is 'install adds the origin in place of the empty list' "$(diff "$T/first" mapm.yaml | grep '^[<>]')" \
    '<   skills: []
>   skills:
>     - https://github.com/acme/catalog/tree/main/skills/hello'
cp mapm.yaml "$T/kept"
exits 'a second init succeeds' 0 mapm init
like 'a second init says that it kept mapm.yaml' "$out" '^kept mapm.yaml$'
ok 'a second init leaves mapm.yaml unchanged' cmp mapm.yaml "$T/kept"

exits 'init of a missing folder succeeds' 0 mapm init new/project
like 'init creates the missing folder' "$out" '^wrote new/project/mapm.yaml$'
ok 'init writes the same text into the missing folder' cmp "$T/first" new/project/mapm.yaml
exits 'init --json succeeds' 0 mapm init --json other
is 'init --json prints one document' "$out" '{
  "schema": "mapm.init/1",
  "path": "other/mapm.yaml",
  "created": true
}'
exits 'init of an absolute path succeeds' 0 mapm init "$T/absolute"
ok 'init of an absolute path writes mapm.yaml there' test -f "$T/absolute/mapm.yaml"

# no lock is as good as an empty one where nothing is to be locked
cd new/project || exit 1
exits '[D18] verify succeeds without packages and lock' 0 mapm verify
is '[D18] verify says that no package was verified' "$out$err" '0 packages verified'
exits '[D18] install --locked succeeds without packages and lock' 0 mapm install --locked
is '[D18] install --locked without packages writes nothing' "$(ls -A)" mapm.yaml
exits '[D18] install succeeds without packages' 0 mapm install
ok '[D18] install without packages writes an empty lock' grep -qx 'packages: \[\]' mapm.lock
rm mapm.lock && cp "$T/kept" mapm.yaml
exits '[D18] verify exits 3 for a root without a lock' 3 mapm verify
like '[D18] verify names the root that is not in the lock' "$out" 'skills/hello: not in the lock'
exits '[D18] install --locked fails for a root without a lock' 1 mapm install --locked
cd ../.. || exit 1

mkdir linked && ln -s ../elsewhere linked/mapm.yaml
exits 'init succeeds when mapm.yaml is a link' 0 mapm init linked
not_ok 'init does not write through the link' test -e elsewhere
ok 'init keeps the link' test -L linked/mapm.yaml
printf 'x\n' >file
exits 'init fails when a file is in place of the folder' 1 mapm init file
like 'the error names the file in place of the folder' "$err" 'file'
exits 'init of two folders is a usage error' 2 mapm init a b
exits 'init of an empty name is a usage error' 2 mapm init ''
if [ -w /dev/full ] && (ulimit -f 0) 2>/dev/null; then
    mkdir full
    (trap '' XFSZ; ulimit -f 0; "$MAPM" init full) >"$T/out" 2>"$T/err"
    is '[row 27] init fails when the disk is full' $? 1
    is 'init leaves no files when the disk is full' "$(ls -A full)" ''
else
    skip 'a disk that is full' 'ulimit -f is missing'
fi
done_testing

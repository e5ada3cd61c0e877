#!/bin/sh
# All that a lock holds as files of the workspace: written whole, read without a
# network and a store, edited files refused. [S4]; TEAM.md 2.
. "$(dirname "$0")/../lib/cli.sh"

s=$T/src
U=https://github.com/acme/catalog/tree/main

skill "$s/skills/base" 'scope: acme'
mkdir -p "$s/skills/base/bin" "$s/shared"
printf '#!/bin/sh\n' >"$s/skills/base/bin/run" && chmod +x "$s/skills/base/bin/run"
skill "$s/skills/mid" 'scope: acme' 'dependencies:' '  skills:' "    - $U/skills/base"
skill "$s/skills/linked" 'scope: acme'
echo text >"$s/shared/guide.md"
ln -s ../../shared/guide.md "$s/skills/linked/guide.md"
mcp "$s/mcps/io.acme_tool.json" io.acme/tool npx -y tool
make_repo acme/catalog "$s"
start_githost
skill skills/own
exits 'a workspace' 0 mapm install --yes "$U/skills/mid" "$U/skills/linked" \
    "$U/mcps/io.acme_tool.json" ./skills/own

alone()
{
    if unshare -rn true 2>/dev/null; then
        unshare -rn "$@"
    else
        "$@"
    fi
}
# fresh FOLDER: a cold home and a workspace with what is committed.
fresh()
{
    cd "$T" && chmod -R u+w "$MAPM_HOME" 2>/dev/null
    rm -rf "$MAPM_HOME" "$1" && cp -r saved "$1" && cd "$1" || exit 1
}
# tree: all files of the vendor folder, with modes and contents.
tree()
{
    find vendor -type f -printf '%p %m\n' -exec sha256sum {} \; | LC_ALL=C sort
}

# --- written ---------------------------------------------------------------------------

exits '[S4] vendor' 0 mapm vendor
like '[S4] packages of the workspace stay there' "$err" 'left out: skill own: .*workspace itself'
ok '[S4] plain files' cmp vendor/mapm/skill/acme__base/SKILL.md "$s/skills/base/SKILL.md"
ok '[S4] what a link leads to' grep -qx text vendor/mapm/skill/acme__linked/guide.md
is '[S4] modes' "$(stat -c %a vendor/mapm/skill/acme__base/bin/run)" 755
ok '[S4] an MCP file' test -f vendor/mapm/mcp/io.acme__tool/io.acme_tool.json
is '[S4] a proof each' "$(find vendor/mapm/proofs -type f | wc -l)" 4
is '[S4] of objects that are there once' "$(cat vendor/mapm/proofs/* | sort -u)" \
    "$(ls vendor/mapm/objects)"
ok '[S4] though most are of several' \
    test "$(cat vendor/mapm/proofs/* | wc -l)" -gt "$(ls vendor/mapm/objects | wc -l)"
is '[S4] as git has them' "$(for f in vendor/mapm/objects/*; do
    repo acme/catalog cat-file "$(repo acme/catalog cat-file -t "${f##*/}")" "${f##*/}" | cmp - "$f"
done 2>&1)" ''
commit=$COMMIT
is '[S4] the commit first' "$(head -qn 1 vendor/mapm/proofs/* | sort -u)" "$commit"
tree >"$T/tree"
find vendor -printf '%p %i %T@\n' | sort >"$T/stamps"
exits '[S4] a second time' 0 mapm vendor --json
like '[S4] nothing is written' "$out" '"written": \[\]'
is '[S4] nor touched' "$(find vendor -printf '%p %i %T@\n' | sort)" "$(cat "$T/stamps")"
mkdir "$T/saved" && cp -r mapm.yaml mapm.lock skills vendor "$T/saved"
# As of an image: an overlay renames no folder of its lower layer.
mkdir -p "$T/layer/up" "$T/layer/work" && cp -r vendor "$T/layer/vendor"
rm "$T/layer/vendor/mapm/skill/acme__base/SKILL.md"
cat >"$T/layered" <<'SH'
mount -t overlay -o "lowerdir=$T/layer/vendor,upperdir=$T/layer/up,workdir=$T/layer/work,userxattr" none vendor || exit 3
[ -z "${1-}" ] || exit 0
"$MAPM" vendor >/dev/null && diff -r vendor/mapm "$T/saved/vendor/mapm" && ls -A vendor
SH
if T=$T unshare -rm sh "$T/layered" try 2>/dev/null; then
    is '[S4] of an image' "$(T=$T unshare -rm sh "$T/layered")" mapm
else
    skip '[S4] of an image' 'no overlay can be mounted'
fi
exits '[S4] another folder' 0 mapm vendor "$T/elsewhere"
ok '[S4] has the same' diff -r vendor/mapm "$T/elsewhere"

# --- read ------------------------------------------------------------------------------

stop_githost
mkdir "$T/team" && cp -r "$T/saved/." "$T/team" && cd "$T/team" || exit 1
git init -q . && echo '* text eol=crlf filter=none ident' >.gitattributes && echo '*__base' >.gitignore
git config user.name t && git config user.email t@example.com
{ git add . && git add -f vendor/mapm; } 2>/dev/null && git commit -qm vendored
git clone -q . "$T/cloned" && cd "$T/cloned" || exit 1
exits '[S4] committed, whatever the rules of the repository' 0 \
    env MAPM_HOME="$T/cloned.home" "$MAPM" --offline install --vendored
fresh cold
exits '[S4] without network and store' 0 alone "$MAPM" --offline install --vendored
ok '[S4] links are followed' grep -qx text .agents/skills/linked/guide.md
ok '[S4] modes are kept' test -x .agents/skills/base/bin/run
exits '[S4] it is verified' 0 mapm verify
exits '[S4] a second time there is nothing to do' 0 alone "$MAPM" install --vendored
fresh named
mv vendor/mapm third && rmdir vendor
exits '[S4] in a folder that is named' 0 alone "$MAPM" install --vendored=third
exits '[S4] no folder' 1 alone "$MAPM" install --vendored
like '[S4] what writes it, is said' "$err" 'hint: run mapm vendor'
exits '[S4] from one place' 2 alone "$MAPM" install --vendored=third --from "$T/b.tar"
fresh unlocked
rm mapm.lock
exits '[S4] not without a lock' 1 mapm install --vendored

# refused WHAT FILE: it is named, and nothing is installed.
refused()
{
    exits "[S4] $1" "${3:-1}" alone "$MAPM" install --vendored
    like "[S4] $1: named" "$err" "$2"
    ok "[S4] $1: nothing came" test ! -e .agents/skills/base
}
fresh bad
echo more >>vendor/mapm/skill/acme__mid/SKILL.md
refused 'an edited file' 'vendor/mapm/skill/acme__mid/SKILL.md was edited'
fresh bad
rm vendor/mapm/skill/acme__base/bin/run
refused 'a missing file' 'vendor/mapm/skill/acme__base/bin/run'
fresh bad
rm vendor/mapm/skill/acme__base/bin/run && ln -s /bin/true vendor/mapm/skill/acme__base/bin/run
refused 'a link for a file' 'vendor/mapm/skill/acme__base/bin/run' 4
fresh bad
rm vendor/mapm/proofs/*
refused 'no proofs' 'vendor/mapm/proofs/mapm1p-'
fresh bad
rm -r vendor/mapm/listing
refused 'no listing' 'vendor/mapm is not a vendor folder'
# relist: the listing of what is there now, as an attacker would write it.
relist()
{
    python3 -S - <<'P'
import hashlib, os
lines = []
for folder, _, names in os.walk(b"vendor/mapm"):
    for path in (os.path.join(folder, n) for n in names):
        if path != b"vendor/mapm/listing":
            mode = b"100755 " if os.stat(path).st_mode & 0o100 else b"100644 "
            lines.append((path[len("vendor/mapm/"):], mode + hashlib.sha256(open(path, "rb").read()).hexdigest().encode()))
open("vendor/mapm/listing", "wb").write(b"".join(l + b" " + p + b"\n" for p, l in sorted(lines)))
P
}
# lists COMMAND: all lists of a proof's objects, through it.
lists()
{
    for f in vendor/mapm/proofs/*; do
        "$@" <"$f" >"$T/list" && cp "$T/list" "$f"
    done
    relist
}
fresh bad
relist
ok 'the listing again' cmp vendor/mapm/listing "$T/saved/vendor/mapm/listing"
echo more >>vendor/mapm/skill/acme__mid/SKILL.md
relist
refused 'an edited file, and listing' 'vendor/mapm/skill/acme__mid is not what mapm.lock holds'
fresh bad
echo >>"vendor/mapm/objects/$commit"
refused 'an edited object' "vendor/mapm/objects/$commit was edited"
relist
refused 'an edited object, and listing' "object $commit is not what its name says"
fresh bad
rm "vendor/mapm/objects/$commit"
relist
refused 'an object less' "has no proof, objects/$commit"
fresh bad
lists printf '../../../mapm.yaml\n\033[31m\n\n'
refused 'lists of other names' 'has no proof, objects/\.\./\.\./\.\./mapm.yaml'
fresh bad
lists true
refused 'empty lists' 'mapm1p-'
fresh bad
lists sed 1d
refused 'lists without the commit' 'a proof lacks its commit'
fresh bad
lists sed 'p'
exits '[S4] an id twice is once' 0 alone "$MAPM" --offline install --vendored
fresh bad
truncate -s 17M "vendor/mapm/objects/$commit"
relist
refused 'an object that is too large' 'a proof has more than 16384 KiB'
fresh bad
rm -r vendor/mapm && ln -s ../../elsewhere vendor/mapm
refused 'a link for the folder' 'symbolic link|vendor' 4
fresh bad
mv vendor real && ln -s real vendor
refused 'a link on the way' 'symbolic link|vendor' 4
fresh bad
sed -i '0,/^    digest: sha256:.*/s//    digest: sha256:0123456789012345678901234567890123456789012345678901234567890123/' mapm.lock
refused 'another lock' 'is not what mapm.lock holds'

# --- written again ---------------------------------------------------------------------

start_githost
fresh ws
exits 'installed again' 0 mapm install --locked
echo mine >vendor/mapm/NOTES.md
echo '* -text' >vendor/mapm/.gitattributes && sed -i '/gitattributes/d' vendor/mapm/listing
echo mine >vendor/mapm/skill/acme__linked/mine.md
echo more >>vendor/mapm/skill/acme__mid/SKILL.md
exits 'one package less' 0 mapm remove linked
exits '[S4] what goes and what is edited' 0 mapm vendor
like '[S4] a foreign file is named' "$err" 'vendor/mapm/NOTES.md belongs to no package'
like '[S4] in the folder of a package, too' "$err" 'acme__linked/mine.md belongs to no package'
ok '[S4] and left alone' grep -qx mine vendor/mapm/NOTES.md vendor/mapm/skill/acme__linked/mine.md
is '[S4] nor are rules of others' "$(cat vendor/mapm/.gitattributes)" '* -text'
ok '[S4] a removed package is gone' test ! -e vendor/mapm/skill/acme__linked/SKILL.md
ok '[S4] an edited file is put back' cmp vendor/mapm/skill/acme__mid/SKILL.md "$s/skills/mid/SKILL.md"
is '[S4] its proof is gone' "$(find vendor/mapm/proofs -type f | wc -l)" 3
is '[S4] with the objects that were its own' "$(cat vendor/mapm/proofs/* | sort -u)" \
    "$(ls vendor/mapm/objects)"
exits '[S4] then nothing is to be done' 0 mapm vendor
like '[S4] which is said' "$err" 'nothing to do'

rm -rf vendor && mkdir "$T/target" && ln -s "$T/target" vendor
exits '[S4] a link on the way' 4 mapm vendor
is '[S4] nothing is written behind it' "$(ls -A "$T/target")" ''
rm vendor && mkdir vendor && ln -s "$T/target" vendor/mapm
exits '[S4] a link for the folder' 4 mapm vendor
is '[S4] nothing behind it either' "$(ls -A "$T/target")" ''
mkdir -p docs/private docs/empty && echo mine >docs/README && chmod 700 docs/private
find docs -printf '%m %p\n' >"$T/docs"
exits '[S4] a folder of other files' 4 mapm vendor docs
like '[S4] is not replaced' "$err" 'docs contains other files and is not a vendor folder'
is '[S4] nor changed' "$(find docs -printf '%m %p\n')" "$(cat "$T/docs")"
rm -r docs && mkdir docs
exits '[S4] an empty one is' 0 mapm vendor docs
rm -r docs
exits '[S4] the workspace' 4 mapm vendor .
like '[S4] is not replaced either' "$err" 'contains the workspace itself'

# --- killed ------------------------------------------------------------------------------

rm -r vendor && cp -r "$T/saved/vendor" .
exits 'mapm check of a workspace with vendored packages' 0 mapm check --json
unlike '[S4] leaves them out' "$out" 'vendor/mapm'
like 'those that are named are checked' "$(mapm check --json vendor/mapm)" 'vendor/mapm/skill/'
head -c 700000 /dev/urandom >"$s/skills/base/data.bin"
make_repo acme/catalog "$s"
exits 'a larger package' 0 mapm update
not_ok '[S4] a command that is ended in the middle' \
    sh -c 'ulimit -f 600; exec "$1" vendor' sh "$MAPM"
is '[S4] leaves the old folder' "$(tree)" "$(cat "$T/tree")"
exits '[S4] the next one replaces it' 0 mapm vendor
is '[S4] and leaves nothing beside it' "$(ls -A vendor)" mapm
exits '[S4] whole' 0 mapm install --vendored
done_testing

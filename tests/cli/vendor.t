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
exits 'install of three packages and a skill of the workspace succeeds' 0 mapm install --yes "$U/skills/mid" "$U/skills/linked" \
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

exits '[S4] vendor succeeds' 0 mapm vendor
like '[S4] vendor reports a skill of the workspace as left out' "$err" 'left out: skill own: .*workspace itself'
ok '[S4] the vendored document equals its source' cmp vendor/mapm/skill/acme__base/SKILL.md "$s/skills/base/SKILL.md"
ok '[S4] the vendored link is a file with the content of its target' grep -qx text vendor/mapm/skill/acme__linked/guide.md
is '[S4] the vendored program stays executable' "$(stat -c %a vendor/mapm/skill/acme__base/bin/run)" 755
ok '[S4] the vendored MCP server is a file' test -f vendor/mapm/mcp/io.acme__tool/io.acme_tool.json
is '[S4] the vendor folder has a proof for each package' "$(find vendor/mapm/proofs -type f | wc -l)" 4
is '[S4] the objects of all proofs are in the vendor folder' "$(cat vendor/mapm/proofs/* | sort -u)" \
    "$(ls vendor/mapm/objects)"
ok '[S4] the proofs share objects' \
    test "$(cat vendor/mapm/proofs/* | wc -l)" -gt "$(ls vendor/mapm/objects | wc -l)"
is '[S4] the vendored objects equal those of git' "$(for f in vendor/mapm/objects/*; do
    repo acme/catalog cat-file "$(repo acme/catalog cat-file -t "${f##*/}")" "${f##*/}" | cmp - "$f"
done 2>&1)" ''
commit=$COMMIT
is '[S4] each proof begins with the commit' "$(head -qn 1 vendor/mapm/proofs/* | sort -u)" "$commit"
tree >"$T/tree"
find vendor -printf '%p %i %T@\n' | sort >"$T/stamps"
exits '[S4] a second vendor --json succeeds' 0 mapm vendor --json
like '[S4] a second vendor --json reports nothing written' "$out" '"written": \[\]'
is '[S4] a second vendor leaves all files untouched' "$(find vendor -printf '%p %i %T@\n' | sort)" "$(cat "$T/stamps")"
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
exits '[S4] vendor into another folder succeeds' 0 mapm vendor "$T/elsewhere"
ok '[S4] the other folder has the same files' diff -r vendor/mapm "$T/elsewhere"

# --- read ------------------------------------------------------------------------------

stop_githost
mkdir "$T/team" && cp -r "$T/saved/." "$T/team" && cd "$T/team" || exit 1
git init -q . && echo '* text eol=crlf filter=none ident' >.gitattributes && echo '*__base' >.gitignore
git config user.name t && git config user.email t@example.com
{ git add . && git add -f vendor/mapm; } 2>/dev/null && git commit -qm vendored
git clone -q . "$T/cloned" && cd "$T/cloned" || exit 1
exits '[S4] install --vendored succeeds after a commit with attributes and ignores' 0 \
    env MAPM_HOME="$T/cloned.home" "$MAPM" --offline install --vendored
fresh cold
exits '[S4] install --vendored succeeds without network and store' 0 alone "$MAPM" --offline install --vendored
ok '[S4] install --vendored installs the content of a link' grep -qx text .agents/skills/linked/guide.md
ok '[S4] install --vendored keeps the executable bit' test -x .agents/skills/base/bin/run
exits '[S4] verify after install --vendored succeeds' 0 mapm verify
exits '[S4] a second install --vendored succeeds' 0 alone "$MAPM" install --vendored
fresh named
mv vendor/mapm third && rmdir vendor
exits '[S4] install --vendored from a named folder succeeds' 0 alone "$MAPM" install --vendored=third
exits '[S4] install --vendored without the folder fails' 1 alone "$MAPM" install --vendored
like '[S4] the hint suggests mapm vendor' "$err" 'hint: run mapm vendor'
exits '[S4] install with --vendored and --from is a usage error' 2 alone "$MAPM" install --vendored=third --from "$T/b.tar"
fresh unlocked
rm mapm.lock
exits '[S4] install --vendored without a lock fails' 1 mapm install --vendored

# refused WHAT FILE: it is named, and nothing is installed.
refused()
{
    exits "[S4] $1: install --vendored is refused" "${3:-1}" alone "$MAPM" install --vendored
    like "[S4] $1: the error gives the file or the reason" "$err" "$2"
    ok "[S4] $1: install --vendored installs nothing" test ! -e .agents/skills/base
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
refused 'an absent listing' 'vendor/mapm is not a vendor folder'
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
ok 'the listing computed by the test equals that of vendor' cmp vendor/mapm/listing "$T/saved/vendor/mapm/listing"
echo more >>vendor/mapm/skill/acme__mid/SKILL.md
relist
refused 'an edited file with a matching listing' 'vendor/mapm/skill/acme__mid is not what mapm.lock holds'
fresh bad
echo >>"vendor/mapm/objects/$commit"
refused 'an edited object' "vendor/mapm/objects/$commit was edited"
relist
refused 'an edited object with a matching listing' "object $commit is not what its name says"
fresh bad
rm "vendor/mapm/objects/$commit"
relist
refused 'a missing object' "has no proof, objects/$commit"
fresh bad
lists printf '../../../mapm.yaml\n\033[31m\n\n'
refused 'proofs that list other names' 'has no proof, objects/\.\./\.\./\.\./mapm.yaml'
fresh bad
lists true
refused 'empty proofs' 'mapm1p-'
fresh bad
lists sed 1d
refused 'proofs without the commit' 'a proof lacks its commit'
fresh bad
lists sed 'p'
exits '[S4] a proof with each object twice is accepted' 0 alone "$MAPM" --offline install --vendored
fresh bad
truncate -s 17M "vendor/mapm/objects/$commit"
relist
refused 'an object that is too large' 'a proof has more than 16384 KiB'
fresh bad
rm -r vendor/mapm && ln -s ../../elsewhere vendor/mapm
refused 'a link in place of vendor/mapm' 'symbolic link|vendor' 4
fresh bad
mv vendor real && ln -s real vendor
refused 'a link in place of vendor' 'symbolic link|vendor' 4
fresh bad
sed -i '0,/^    digest: sha256:.*/s//    digest: sha256:0123456789012345678901234567890123456789012345678901234567890123/' mapm.lock
refused 'a lock with another digest' 'is not what mapm.lock holds'

# --- written again ---------------------------------------------------------------------

start_githost
fresh ws
exits 'install --locked beside a vendor folder succeeds' 0 mapm install --locked
echo mine >vendor/mapm/NOTES.md
echo '* -text' >vendor/mapm/.gitattributes && sed -i '/gitattributes/d' vendor/mapm/listing
echo mine >vendor/mapm/skill/acme__linked/mine.md
echo more >>vendor/mapm/skill/acme__mid/SKILL.md
exits 'remove of a vendored package succeeds' 0 mapm remove linked
exits '[S4] vendor with foreign and edited files succeeds' 0 mapm vendor
like '[S4] vendor names a foreign file at the top' "$err" 'vendor/mapm/NOTES.md belongs to no package'
like '[S4] vendor names a foreign file in the folder of a package' "$err" 'acme__linked/mine.md belongs to no package'
is '[S4] vendor leaves foreign files' "$(grep -lx mine vendor/mapm/NOTES.md vendor/mapm/skill/acme__linked/mine.md | wc -l)" 2
is '[S4] vendor leaves foreign attributes of git' "$(cat vendor/mapm/.gitattributes)" '* -text'
ok '[S4] vendor deletes the document of a removed package' test ! -e vendor/mapm/skill/acme__linked/SKILL.md
ok '[S4] vendor restores an edited file' cmp vendor/mapm/skill/acme__mid/SKILL.md "$s/skills/mid/SKILL.md"
is '[S4] vendor deletes the proof of a removed package' "$(find vendor/mapm/proofs -type f | wc -l)" 3
is '[S4] vendor deletes objects that no proof needs' "$(cat vendor/mapm/proofs/* | sort -u)" \
    "$(ls vendor/mapm/objects)"
exits '[S4] a second vendor beside foreign files succeeds' 0 mapm vendor
like '[S4] a second vendor beside foreign files has nothing to do' "$err" 'nothing to do'

rm -rf vendor && mkdir "$T/target" && ln -s "$T/target" vendor
exits '[S4] vendor refuses a link in place of vendor' 4 mapm vendor
is '[S4] vendor writes nothing behind the link' "$(ls -A "$T/target")" ''
rm vendor && mkdir vendor && ln -s "$T/target" vendor/mapm
exits '[S4] vendor refuses a link in place of vendor/mapm' 4 mapm vendor
is '[S4] vendor writes nothing behind the link of the subfolder' "$(ls -A "$T/target")" ''
mkdir -p docs/private docs/empty && echo mine >docs/README && chmod 700 docs/private
find docs -printf '%m %p\n' >"$T/docs"
exits '[S4] vendor refuses a folder with other files' 4 mapm vendor docs
like '[S4] the error says that the folder is not a vendor folder' "$err" 'docs contains other files and is not a vendor folder'
is '[S4] the refused folder is unchanged' "$(find docs -printf '%m %p\n')" "$(cat "$T/docs")"
rm -r docs && mkdir docs
exits '[S4] vendor into an empty folder succeeds' 0 mapm vendor docs
rm -r docs
exits '[S4] vendor refuses the workspace as its folder' 4 mapm vendor .
like '[S4] the error says that the folder contains the workspace' "$err" 'contains the workspace itself'

# --- killed ------------------------------------------------------------------------------

rm -r vendor && cp -r "$T/saved/vendor" .
exits 'check of a workspace with vendored packages succeeds' 0 mapm check --json
unlike '[S4] check leaves out vendored packages' "$out" 'vendor/mapm'
like 'check of the vendor folder by name checks its packages' "$(mapm check --json vendor/mapm)" 'vendor/mapm/skill/'
head -c 700000 /dev/urandom >"$s/skills/base/data.bin"
make_repo acme/catalog "$s"
exits 'update to a larger package succeeds' 0 mapm update
not_ok '[S4] vendor fails at a limit of the file size' \
    sh -c 'ulimit -f 600; exec "$1" vendor' sh "$MAPM"
is '[S4] the failed vendor leaves the old folder' "$(tree)" "$(cat "$T/tree")"
exits '[S4] vendor after the failure succeeds' 0 mapm vendor
is '[S4] vendor after the failure leaves nothing beside its folder' "$(ls -A vendor)" mapm
exits '[S4] install --vendored after the failure succeeds' 0 mapm install --vendored
done_testing

#!/bin/sh
# All that a lock holds as one file: written, read without a network, and never
# believed. [S4]; TEAM.md 2.
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
skill "$T/local"
skill skills/own
exits 'install of git, local and workspace packages succeeds' 0 mapm install --yes "$U/skills/mid" "$U/skills/linked" \
    "$U/mcps/io.acme_tool.json" ./skills/own "file:$T/local"
mkdir "$T/saved" && cp -r mapm.yaml mapm.lock skills "$T/saved"

# alone COMMAND...: without any network, where this machine can do that.
alone()
{
    if unshare -rn true 2>/dev/null; then
        unshare -rn "$@"
    else
        "$@"
    fi
}
# serve_store FOLDER: a web server of it, of process $store_pid, and its URL in S.
serve_store()
{
    python3 -S "$ROOT/tests/lib/team.py" serve "$1" "$T/url" "$T/store.log" 2>/dev/null &
    store_pid=$!
    trap 'kill $store_pid 2>/dev/null; leave' EXIT
    await test -s "$T/url"
    S=$(cat "$T/url")/ok
}
# fresh FOLDER: a cold home and a workspace with the committed files.
fresh()
{
    cd "$T" && chmod -R u+w "$MAPM_HOME" "$1" 2>/dev/null
    rm -rf "$MAPM_HOME" "$1" && cp -r saved "$1" && cd "$1" || exit 1
}

# --- written ---------------------------------------------------------------------------

exits '[S4] bundle succeeds for an installed workspace' 0 mapm bundle "$T/b.tar"
like '[S4] bundle leaves out packages of the workspace itself' "$err" 'left out: skill own: .*workspace itself'
like '[S4] bundle leaves out packages with a file: origin' "$err" 'left out: skill local: .*file: origin'
exits '[S4] bundle --json succeeds' 0 mapm bundle --json "$T/again.tar"
like '[S4] bundle --json counts the packages in the bundle' "$out" '"packages": 4,'
ok '[S4] two bundles of one lock are identical byte for byte' cmp "$T/b.tar" "$T/again.tar"
exits '[S4] GNU tar lists the bundle' 0 tar -tf "$T/b.tar"
like '[S4] the bundle has the layout of an OCI image' "$out" '^oci-layout$'
exits '[S4] bundle fails when the folder of the target is missing' 1 mapm bundle "$T/none/b.tar"
is '[S4] the error names the target exactly once' "$(printf '%s\n' "$err" | grep -c "cannot write $T/none/b.tar")" 1
fresh ws
reset_log
exits '[S4] store pull succeeds in a fresh workspace' 0 mapm store pull
is '[S4] store pull writes nothing into the workspace' "$(ls -A)" "$(ls -A "$T/saved")"
isnt '[S4] store pull fetches from the git host' "$(requests)" 0
exits '[S4] bundle succeeds from a store that was pulled' 0 mapm bundle "$T/again.tar"
ok '[S4] a bundle from a pulled store has the same bytes' cmp "$T/b.tar" "$T/again.tar"
if command -v skopeo >/dev/null; then
    image=$(tar -xOf "$T/b.tar" index.json | grep -o 'mapm1-[0-9a-f]*' | head -n 1)
    # It unpacks an archive as its owners, which only root can.
    mkdir "$T/layout" && tar -xf "$T/b.tar" --no-same-owner -C "$T/layout"
    exits '[S4] skopeo inspects the unpacked bundle' 0 skopeo inspect "oci:$T/layout:$image"
    [ "$(id -u)" != 0 ] ||
        exits '[S4] skopeo inspects the bundle as one file' 0 skopeo inspect "oci-archive:$T/b.tar:$image"
    like '[S4] skopeo shows the label of mapm' "$out" 'dev.mapm.package'
fi

# --- read ------------------------------------------------------------------------------

stop_githost
fresh cold
exits '[S4] install --from succeeds on a cold machine without a network' 0 alone "$MAPM" install --from "$T/b.tar"
ok '[S4] install --from replaces a link by the content of its target' grep -qx text .agents/skills/linked/guide.md
ok '[S4] install --from keeps the executable bit' test -x .agents/skills/base/bin/run
ok '[S4] install --from leaves mapm.lock unchanged' cmp mapm.lock "$T/saved/mapm.lock"
exits '[S4] verify succeeds after install --from' 0 mapm verify
exits '[S4] a second install --locked --from succeeds' 0 alone "$MAPM" install --locked --from "$T/b.tar"
fresh offline
exits '[S4] install --from accepts --offline' 0 mapm --offline install --locked --from "$T/b.tar"
exits '[S4] verify succeeds after install --offline --from' 0 mapm verify
exits '[S4] bundle succeeds from a store that a bundle filled' 0 mapm bundle "$T/again.tar"
ok '[S4] a bundle from that store has the same bytes' cmp "$T/b.tar" "$T/again.tar"

fresh unlocked
rm mapm.lock
exits '[S4] install --from without a lock asks for consent to commands' 4 alone "$MAPM" install --from "$T/b.tar"
like '[S4] install --from without a lock warns that its lock is unproved' "$err" \
    '^warning: mapm.lock is that of the bundle: nothing but mapm verify --remote'
ok '[S4] install --from without consent writes no mapm.lock' test ! -e mapm.lock
exits '[S4] install --yes --from without a lock succeeds' 0 alone "$MAPM" install --yes --from "$T/b.tar"
ok '[S4] install --yes --from takes the lock of the bundle' cmp mapm.lock "$T/saved/mapm.lock"
fresh empty
rm -r mapm.yaml mapm.lock skills
exits '[S4] install --yes --from succeeds in an empty folder' 0 alone "$MAPM" install --yes --from "$T/b.tar"
is '[S4] the new mapm.yaml lists the packages that no other needs' "$(grep -c tree/main mapm.yaml)" 3
exits '[S4] verify succeeds in the workspace made from a bundle' 0 mapm verify
echo 'More text.' >>.agents/skills/linked/SKILL.md
exits '[S4] patch of an installed skill succeeds' 0 mapm patch linked
exits '[S4] bundle succeeds in a workspace with a patch' 0 mapm bundle "$T/patched.tar"
rm -r mapm.yaml mapm.lock .agents
exits '[S4] install --yes --from succeeds with the patch file in place' 0 alone "$MAPM" install --yes --from "$T/patched.tar"
like '[S4] install --from applies the patch of the workspace' "$(cat .agents/skills/linked/SKILL.md)" 'More text'
rm -r mapm.yaml mapm.lock .agents .mapm
exits '[S4] install --yes --from succeeds without the patch file' 0 alone "$MAPM" install --yes --from "$T/patched.tar"
like '[S4] install --from warns about the missing patch' "$err" 'linked is installed without the patch .*\.mapm/patches/skill-'

# --- not believed ----------------------------------------------------------------------

# refused HOW PATTERN: nothing comes of such a bundle.
refused()
{
    fresh bad
    python3 -S "$ROOT/tests/lib/bundle.py" "$1" "$T/b.tar" "$T/bad.tar" || exit 1
    exits "[S4] install --from rejects a bundle that is $1" 1 alone "$MAPM" install --from "$T/bad.tar"
    like "[S4] the error gives the fault of a bundle that is $1" "$err" "$2"
    ok "[S4] a bundle that is $1 installs no package" test ! -e .agents/skills/base
    is "[S4] a bundle that is $1 leaves nothing in the transfer folder" "$(ls -A "$MAPM_HOME/store/incoming" 2>/dev/null)" ''
}
fresh same
python3 -S "$ROOT/tests/lib/bundle.py" same "$T/b.tar" "$T/same.tar"
ok 'the tool of these tests can write an identical bundle' cmp "$T/b.tar" "$T/same.tar"
refused flipped 'not what its name says'
refused swapped 'sha256:'
refused unproved 'no proof that commit [0-9a-f]{40} of github.com/acme/catalog contains it'
refused other-proofs 'no proof that commit [0-9a-f]{40} of github.com/acme/catalog contains it'
refused absent-layer 'not there'
refused absent-image 'names a blob that is not there'
refused link 'no plain file'
refused unsorted 'not in the order'
refused twice 'not in the order'
refused nested 'not written by mapm|does not begin'
refused bomb 'more than|not written by mapm'
refused cut 'ends too early'
refused other-tool 'no plain file'
# Packages of a commit share a proof: it counts for what it proves alone.
fresh shared
field()
{
    sed -n "/^    name: acme.$1\$/,/^    path: /s/^    $2: //p" mapm.lock
}
sed -i "/^    name: acme.linked\$/,/^    path: / {
    s/^    tree: .*/    tree: $(field base tree)/
    s/^    digest: .*/    digest: $(field base digest)/
}" mapm.lock
named=$(printf 'github.com/acme/catalog\0%s\0skills/linked\0%s' "$(field base commit)" "$(field base tree)" | sha256sum)
python3 -S "$ROOT/tests/lib/bundle.py" "also-proof=mapm1p-${named%% *}" "$T/b.tar" "$T/shared.tar" || exit 1
exits '[S4] install rejects a proof stored under the name of another one' 1 alone "$MAPM" install --locked --from "$T/shared.tar"
like '[S4] the error gives the tree of the commit and that of mapm.lock' "$err" 'has tree .* at "skills/linked", and mapm.lock says'
ok '[S4] a proof under a false name installs no package' test ! -e .agents/skills/base
fresh huge
truncate -s 9G "$T/huge.tar"
exits '[S4] install --from rejects a huge sparse file' 1 alone "$MAPM" install --from "$T/huge.tar"
exits '[S4] install --from refuses a folder' 4 alone "$MAPM" install --from "$T"
echo hello >"$T/other.tar"
exits '[S4] install --from rejects a file that is no bundle' 1 alone "$MAPM" install --from "$T/other.tar"
like '[S4] the error names the file that is no bundle' "$err" "cannot install from $T/other.tar"
exits '[S4] install --from fails for an origin outside the lock' 1 \
    alone "$MAPM" install --yes --from "$T/b.tar" "$U/skills/other"
like '[S4] the error says that mapm.lock does not hold the origin' "$err" 'mapm.lock does not hold it'
exits '[S4] install --from fails for a missing file' 1 alone "$MAPM" install --from "$T/none.tar"
rm mapm.lock
exits '[S4] install --from rejects a huge file when there is no lock' 1 alone "$MAPM" install --from "$T/huge.tar"
like '[S4] the error says that the file is not a bundle of mapm' "$err" 'not a bundle of mapm'

fresh edited
sed -i 's/^    digest: sha256:.*/    digest: sha256:0123456789012345678901234567890123456789012345678901234567890123/' mapm.lock
exits '[S4] install --from fails when the digests in mapm.lock differ' 1 alone "$MAPM" install --from "$T/b.tar"
ok '[S4] a bundle that does not fit mapm.lock installs no package' test ! -e .agents/skills/base

fresh fewer
exits '[S4] install --from installs every package of a bundle' 0 alone "$MAPM" install --from "$T/b.tar"
exits 'remove --offline of one package succeeds' 0 mapm --offline remove --yes linked
cp mapm.lock "$T/fewer.lock"
rm -rf .agents .claude && chmod -R u+w "$MAPM_HOME" && rm -rf "$MAPM_HOME"
exits '[S4] install --from succeeds when the lock has fewer packages' 0 alone "$MAPM" install --from "$T/b.tar"
ok '[S4] install --from keeps the lock of the workspace' cmp mapm.lock "$T/fewer.lock"
ok '[S4] install --from installs the packages of that lock' test -e .agents/skills/base/SKILL.md
ok '[S4] install --from installs no package outside that lock' test ! -e .agents/skills/linked

# --- killed ------------------------------------------------------------------------------

start_githost
head -c 700000 /dev/urandom >"$s/skills/base/data.bin"
make_repo acme/catalog "$s"
cd "$T/cold" || exit 1
cp "$T/b.tar" "$T/kept.tar"
exits 'update to larger packages succeeds' 0 mapm update
not_ok '[S4] bundle fails when it is ended in the middle' \
    sh -c 'ulimit -f 600; exec "$1" bundle "$2"' sh "$MAPM" "$T/kept.tar"
ok '[S4] an interrupted bundle leaves the old file unchanged' cmp "$T/b.tar" "$T/kept.tar"
exits '[S4] the next bundle succeeds' 0 mapm bundle "$T/kept.tar"
not_ok '[S4] the next bundle replaces the old file' cmp "$T/b.tar" "$T/kept.tar"
exits '[S4] bundle --offline succeeds with a filled store' 0 mapm --offline bundle "$T/off.tar"
ok '[S4] bundle --offline writes the same bytes' cmp "$T/kept.tar" "$T/off.tar"

# --- the same content at other origins ---------------------------------------------------

make_repo beta/copy "$s"
mkdir "$T/also" && cd "$T/also" || exit 1
exits 'install of one content from two origins succeeds' 0 mapm install "$U/skills/base" \
    https://github.com/beta/copy/tree/main/skills/base
like 'two origins of one content share a lock entry' "$(cat mapm.lock)" '^    also:'
exits '[S4] bundle succeeds for a package with two origins' 0 mapm bundle "$T/also.tar"
exits '[S4] vendor succeeds for a package with two origins' 0 mapm vendor
stop_githost
rm -rf "$T/saved" && mkdir "$T/saved" && cp -r mapm.yaml mapm.lock vendor "$T/saved"
fresh also-from
exits '[S4] install --from succeeds for a package with two origins' 0 alone "$MAPM" install --from "$T/also.tar"
fresh also-vendored
exits '[S4] install --vendored succeeds for a package with two origins' 0 alone "$MAPM" install --vendored

# --- a proof that is too large for a team's store ---------------------------------------

start_githost
for name in $(seq -f wide-%.0f 20); do
    skill "$T/many/skills/$name"
done
(cd "$T/many/skills" && seq -f "$(printf %0200d 0)%04.0f" 1200 | xargs touch)
make_repo acme/many "$T/many"
mkdir "$T/wide" && cd "$T/wide" || exit 1
exits 'install of twenty packages among a thousand files succeeds' 0 mapm install --yes acme/many --all
exits 'store push succeeds with proofs above the limit of a store' 0 mapm store push --to "$T/wide-store"
like 'store push says that such a proof is larger than 256 KiB' "$out" '^kept .*the proof has more than 256 KiB'
exits '[S4] bundle succeeds with proofs above the limit of a store' 0 mapm bundle "$T/wide.tar"
at_most '[S4] the bundle holds the large folder only once' "$(stat -c %s "$T/wide.tar")" 500000
exits '[S4] vendor succeeds with proofs above the limit of a store' 0 mapm vendor
is '[S4] the vendor folder holds the large folder only once' "$(find vendor/mapm/objects -size +256k | wc -l)" 1
stop_githost
rm -rf "$T/saved" && mkdir "$T/saved" && cp -r mapm.yaml mapm.lock vendor "$T/saved"
fresh wide-from
exits '[S4] install --locked --from succeeds with large proofs' 0 alone "$MAPM" install -v --locked --from "$T/wide.tar"
is '[S4] install --from finds a proof for each package' "$(printf '%s\n' "$err" | grep -c 'mapm1p-.*: there')" 20
at_most '[S4] install --from reads the large proof at most six times' \
    "$(printf '%s\n' "$err" | grep -c 'mapm1p-.*: there, [1-9]')" 6
exits '[S4] verify succeeds after an install with large proofs' 0 mapm verify
exits '[S4] bundle --offline succeeds with large proofs' 0 mapm --offline bundle "$T/again.tar"
ok '[S4] bundle --offline with large proofs writes the same bytes' cmp "$T/wide.tar" "$T/again.tar"
fresh wide-vendored
exits '[S4] install --locked --vendored succeeds with large proofs' 0 alone "$MAPM" install --locked --vendored
same_tree '[S4] install --vendored and install --from place the same files' .agents/skills "$T/wide-from/.agents/skills"

# --- many packages of one folder in a team's store ----------------------------------------

start_githost
for name in $(seq -f a-skill-of-many-%03.0f 40); do
    skill "$T/folder/skills/$name"
done
(cd "$T/folder/skills" && seq -f "$(printf %0200d 0)%04.0f" 950 | xargs touch)
make_repo acme/folder "$T/folder"
mkdir "$T/folder-ws" && cd "$T/folder-ws" || exit 1
exits 'install of forty packages of one folder succeeds' 0 mapm install --yes acme/folder --all
exits '[S2] store push succeeds for forty packages of one folder' 0 mapm store push --to "$T/folder-store"
tree=$(repo acme/folder rev-parse main:skills)
like '[S2] store push names the tree of the common folder' "$out" \
    "^pushed  tree $(printf %.12s "$tree") in the proof of skill a-skill-of-many-001 "
is '[S2] store push prints one proof for each package' "$(printf '%s\n' "$out" | grep -c '^pushed  proof of ')" 40
is '[S9] store push --json has the tree of the common folder' "$(mapm store push --json --to "$T/folder-store" | grep -c "\"tree\": \"$tree\"")" 1
tree=mapm1p-$(printf 'github.com/acme/folder\0\0\0%s' "$tree" | sha256sum | cut -d ' ' -f 1)
is '[S2] the store holds packages, proofs and one common folder' "$(ls "$T/folder-store" | wc -l)" 81
at_most '[S2] the proofs do not contain the common folder' \
    "$(find "$T/folder-store" -name 'mapm1p-*' ! -name "$tree.tar.gz" -size +1k | wc -l)" 0
ok '[S2] the stored folder has the bytes of the git tree' \
    sh -c 'tar -xOzf "$1" | cmp - "$2"' sh "$T/folder-store/$tree.tar.gz" "$(repo acme/folder cat-file tree main:skills >"$T/tree"; echo "$T/tree")"
stop_githost
rm -rf "$T/saved" && mkdir "$T/saved" && cp -r mapm.yaml mapm.lock "$T/saved"
serve_store "$T/folder-store"
exits '[S2] store verify succeeds for the store with a common folder' 0 mapm store verify "$S"
fresh folder-pulled
: >"$T/store.log"
exits '[S1] install --locked needs the store alone without a git host' 0 env MAPM_STORE="$S" "$MAPM" install --locked
is '[S1] install --locked sends one request for each stored object' "$(grep -c . "$T/store.log")" 81
exits '[S1] verify succeeds after the install from the store' 0 mapm verify
cp "$T/folder-store/mapm1p-"*.tar.gz "$T/" && mv "$T/$tree.tar.gz" "$T/tree.tar.gz"
cp "$(ls "$T"/mapm1p-* | head -n 1)" "$T/folder-store/$tree.tar.gz"
exits '[S2] store verify fails when the common folder is another object' 3 mapm store verify "$S"
is '[S2] store verify counts every package as not proved' "$(printf '%s\n' "$err" | grep -c '^0 packages as mapm.lock says, 40 not')" 1
fresh folder-wrong
exits '[S1] install --locked fails when the common folder is another object' 1 env MAPM_STORE="$S" "$MAPM" install --locked
like '[S1] the error names the object that is not the tree' "$err" "has something else as $tree: it is not this tree"
rm "$T/folder-store/$tree.tar.gz"
start_githost
fresh folder-host
exits '[S1] install --locked takes a missing folder from the git host' 0 env MAPM_STORE="$S" "$MAPM" install --locked
at_most '[S1] install --locked sends the git host at most three requests' "$(requests)" 3
kill $store_pid
rm "$T/url"
mkdir "$T/one-ws" && cd "$T/one-ws" || exit 1
exits 'install of a single package of the folder succeeds' 0 mapm install --yes https://github.com/acme/folder/tree/main/skills/a-skill-of-many-001
exits '[S2] store push succeeds for a single package of the folder' 0 mapm store push --to "$T/one-store"
is '[S2] the proof of a single package contains the folder' "$(ls "$T/one-store" | wc -l)" 2
stop_githost
rm -rf "$T/saved" && mkdir "$T/saved" && cp -r mapm.yaml mapm.lock "$T/saved"
serve_store "$T/one-store"
fresh one-pulled
: >"$T/store.log"
exits '[S1] install --locked of a single package needs no git host' 0 env MAPM_STORE="$S" "$MAPM" install --locked
is '[S1] install sends two requests for a package and its proof' "$(grep -c . "$T/store.log")" 2
exits '[S2] store verify succeeds for a single package and its proof' 0 mapm store verify "$S"
kill $store_pid
rm "$T/url"

# --- an entry of a marketplace -----------------------------------------------------------

m=$T/market
mkdir -p "$m/.claude-plugin" "$m/plugins/demo/.claude-plugin"
# As one of a thousand plugins: more than the proof of a package may have.
python3 -S - >"$m/.claude-plugin/marketplace.json" <<'PYTHON'
import hashlib, json
others = [{"name": f"other{i}", "source": f"./plugins/other{i}",
           "description": "".join(hashlib.sha256(b"%d %d" % (i, k)).hexdigest() for k in range(16))}
          for i in range(1000)]
print(json.dumps({"name": "m", "owner": {"name": "o"}, "plugins": [
    {"name": "demo", "description": "Of the entry.", "source": "./plugins/demo"}] + others}))
PYTHON
echo '{"name": "demo", "mcpServers": {"web": {"type": "http", "url": "https://example.com/mcp"}}}' \
    >"$m/plugins/demo/.claude-plugin/plugin.json"
skill "$m/plugins/demo/skills/a"
make_repo acme/market "$m"
start_githost
mkdir "$T/entry" && cd "$T/entry" && MAPM_HOME=$T/entry-home || exit 1
exits 'install of a marketplace entry succeeds' 0 mapm install --yes acme/market --plugin demo
exits '[S4] bundle succeeds for a marketplace entry' 0 mapm bundle "$T/entry.tar"
unlike '[S4] bundle of a marketplace entry prints no warning' "$err" warning
exits '[S4] bundle --offline succeeds for a marketplace entry' 0 mapm --offline bundle "$T/again.tar"
ok '[S4] bundle --offline of the entry writes the same bytes' cmp "$T/entry.tar" "$T/again.tar"
exits '[S4] vendor succeeds for a marketplace entry' 0 mapm vendor
exits '[S2] store push succeeds for a marketplace entry' 0 mapm store push --to "$T/entry-store"
stop_githost
serve_store "$T/entry-store"
exits '[S2] store verify succeeds for a marketplace entry' 0 mapm store verify "$S"
like '[S2] store verify counts both packages of the entry as proved' "$err" '^2 packages as mapm.lock says, 0 not'
rm -rf "$T/saved" && mkdir "$T/saved" && cp -r mapm.yaml mapm.lock vendor "$T/saved"
MAPM_HOME=$T/mapm
fresh entry-pulled
exits '[S1] install --locked of the entry needs no git host' 0 env MAPM_STORE="$S" "$MAPM" install --yes --locked
for file in "$T"/entry-store/mapm1p-*; do
    tar -xOzf "$file" | grep -qa 'Of the entry' && rm "$file"
done
exits '[S2] store verify fails when the store lacks the marketplace' 3 mapm store verify "$S"
like '[S2] store verify names the marketplace that no store has' "$out" '^failed  proof of plugin demo: no store has the marketplace of github.com/acme/market'
fresh entry-from
exits '[S4] install --yes --from succeeds for a marketplace entry' 0 alone "$MAPM" install --yes --from "$T/entry.tar"
ok '[S4] install --from places the skill of the plugin' cmp .agents/skills/a/SKILL.md "$m/plugins/demo/skills/a/SKILL.md"
like '[S4] install --from writes the server of the plugin to .mcp.json' "$(cat .mcp.json)" 'https://example.com/mcp'
ok '[S4] install --from leaves the lock of the entry unchanged' cmp mapm.lock "$T/saved/mapm.lock"
exits '[S4] verify succeeds for the entry installed from a bundle' 0 mapm verify
exits '[S4] bundle --offline succeeds for the entry of a bundle' 0 mapm --offline bundle "$T/again.tar"
ok '[S4] a bundle of the installed entry has the same bytes' cmp "$T/entry.tar" "$T/again.tar"
fresh entry-vendored
exits '[S4] install --yes --vendored succeeds for a marketplace entry' 0 alone "$MAPM" install --yes --vendored
fresh entry-empty
rm -r mapm.yaml mapm.lock vendor
exits '[S4] install --yes --from of the entry succeeds in an empty folder' 0 alone "$MAPM" install --yes --from "$T/entry.tar"
like '[S4] the new mapm.yaml lists the marketplace entry as its root' "$(cat mapm.yaml)" 'catalog: .*/acme/market/tree/main.*plugin: demo'
ok '[S4] install --from in an empty folder places the skill of the plugin' test -f .agents/skills/a/SKILL.md
fresh entry-marketless
commit=$(sed -n 's/.*catalog_commit: //p' mapm.lock)
sed -i "s/catalog_commit: .*/catalog_commit: $(printf '%s' "$commit" | tr 0-9a-f 1-9a-f0)/" mapm.lock
exits '[S4] install --from fails when the lock has another marketplace commit' 1 alone "$MAPM" install --yes --from "$T/entry.tar"
like '[S4] the error names the marketplace commit that is missing' "$err" 'missing: the marketplace of github.com/acme/market at'
ok '[S4] the entry at another marketplace commit installs no skill' test ! -e .agents/skills/a
done_testing

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
exits 'a workspace' 0 mapm install --yes "$U/skills/mid" "$U/skills/linked" \
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

exits '[S4] a bundle' 0 mapm bundle "$T/b.tar"
like '[S4] packages of the workspace stay there' "$err" 'left out: skill own: .*workspace itself'
like '[S4] so do those of file:' "$err" 'left out: skill local: .*file: origin'
exits '[S4] as JSON' 0 mapm bundle --json "$T/again.tar"
like '[S4] with its packages' "$out" '"packages": 4,'
ok '[S4] the same lock gives the same bytes' cmp "$T/b.tar" "$T/again.tar"
exits '[S4] GNU tar reads it' 0 tar -tf "$T/b.tar"
like '[S4] as an OCI layout' "$out" '^oci-layout$'
exits '[S4] into no folder' 1 mapm bundle "$T/none/b.tar"
is '[S4] is said once' "$(printf '%s\n' "$err" | grep -c "cannot write $T/none/b.tar")" 1
fresh ws
reset_log
exits '[S4] the store alone is filled' 0 mapm store pull
is '[S4] and nothing written here' "$(ls -A)" "$(ls -A "$T/saved")"
isnt '[S4] from the host' "$(requests)" 0
exits '[S4] a bundle of what was pulled' 0 mapm bundle "$T/again.tar"
ok '[S4] has the same bytes' cmp "$T/b.tar" "$T/again.tar"
if command -v skopeo >/dev/null; then
    image=$(tar -xOf "$T/b.tar" index.json | grep -o 'mapm1-[0-9a-f]*' | head -n 1)
    # It unpacks an archive as its owners, which only root can.
    mkdir "$T/layout" && tar -xf "$T/b.tar" --no-same-owner -C "$T/layout"
    exits '[S4] skopeo reads it' 0 skopeo inspect "oci:$T/layout:$image"
    [ "$(id -u)" != 0 ] ||
        exits '[S4] as one file, too' 0 skopeo inspect "oci-archive:$T/b.tar:$image"
    like '[S4] with its label' "$out" 'dev.mapm.package'
fi

# --- read ------------------------------------------------------------------------------

stop_githost
fresh cold
exits '[S4] a cold machine installs from it' 0 alone "$MAPM" install --from "$T/b.tar"
ok '[S4] links are followed' grep -qx text .agents/skills/linked/guide.md
ok '[S4] modes are kept' test -x .agents/skills/base/bin/run
ok '[S4] the lock stays' cmp mapm.lock "$T/saved/mapm.lock"
exits '[S4] it is verified' 0 mapm verify
exits '[S4] a second time there is nothing to do' 0 alone "$MAPM" install --locked --from "$T/b.tar"
fresh offline
exits '[S4] with --offline, which it is anyway' 0 mapm --offline install --locked --from "$T/b.tar"
exits '[S4] it is verified, too' 0 mapm verify
exits '[S4] with the store filled a bundle is written there, too' 0 mapm bundle "$T/again.tar"
ok '[S4] of the same bytes' cmp "$T/b.tar" "$T/again.tar"

fresh unlocked
rm mapm.lock
exits '[S4] without a lock commands are asked for' 4 alone "$MAPM" install --from "$T/b.tar"
like '[S4] and what cannot be known without a network, is said' "$err" \
    '^warning: mapm.lock is that of the bundle: nothing but mapm verify --remote'
ok '[S4] and nothing was written' test ! -e mapm.lock
exits '[S4] with consent' 0 alone "$MAPM" install --yes --from "$T/b.tar"
ok '[S4] the lock is that of the bundle' cmp mapm.lock "$T/saved/mapm.lock"
fresh empty
rm -r mapm.yaml mapm.lock skills
exits '[S4] without a manifest' 0 alone "$MAPM" install --yes --from "$T/b.tar"
is '[S4] roots are what nothing needs' "$(grep -c tree/main mapm.yaml)" 3
exits '[S4] which is a workspace' 0 mapm verify
echo 'More text.' >>.agents/skills/linked/SKILL.md
exits '[S4] a patch' 0 mapm patch linked
exits '[S4] is in no bundle' 0 mapm bundle "$T/patched.tar"
rm -r mapm.yaml mapm.lock .agents
exits '[S4] with the file of the patch' 0 alone "$MAPM" install --yes --from "$T/patched.tar"
like '[S4] it is applied' "$(cat .agents/skills/linked/SKILL.md)" 'More text'
rm -r mapm.yaml mapm.lock .agents .mapm
exits '[S4] without it' 0 alone "$MAPM" install --yes --from "$T/patched.tar"
like '[S4] a warning names it' "$err" 'linked is installed without the patch .*\.mapm/patches/skill-'

# --- not believed ----------------------------------------------------------------------

# refused HOW PATTERN: nothing comes of such a bundle.
refused()
{
    fresh bad
    python3 -S "$ROOT/tests/lib/bundle.py" "$1" "$T/b.tar" "$T/bad.tar" || exit 1
    exits "[S4] $1" 1 alone "$MAPM" install --from "$T/bad.tar"
    like "[S4] $1: said so" "$err" "$2"
    ok "[S4] $1: nothing came" test ! -e .agents/skills/base
    is "[S4] $1: nothing is left in transfer" "$(ls -A "$MAPM_HOME/store/incoming" 2>/dev/null)" ''
}
fresh same
python3 -S "$ROOT/tests/lib/bundle.py" same "$T/b.tar" "$T/same.tar"
ok 'what is made of it here is a bundle' cmp "$T/b.tar" "$T/same.tar"
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
exits '[S4] a shared proof under the name of what it does not prove' 1 alone "$MAPM" install --locked --from "$T/shared.tar"
like '[S4] is read, and what the commit has is told' "$err" 'has tree .* at "skills/linked", and mapm.lock says'
ok '[S4] nothing came' test ! -e .agents/skills/base
fresh huge
truncate -s 9G "$T/huge.tar"
exits '[S4] a huge file of nothing' 1 alone "$MAPM" install --from "$T/huge.tar"
exits '[S4] a folder' 4 alone "$MAPM" install --from "$T"
echo hello >"$T/other.tar"
exits '[S4] another file' 1 alone "$MAPM" install --from "$T/other.tar"
like '[S4] is named' "$err" "cannot install from $T/other.tar"
exits '[S4] an origin that the lock does not hold' 1 \
    alone "$MAPM" install --yes --from "$T/b.tar" "$U/skills/other"
like '[S4] is said to be none of it' "$err" 'mapm.lock does not hold it'
exits '[S4] no file' 1 alone "$MAPM" install --from "$T/none.tar"
rm mapm.lock
exits '[S4] without a lock, too' 1 alone "$MAPM" install --from "$T/huge.tar"
like '[S4] what it is, is said' "$err" 'not a bundle of mapm'

fresh edited
sed -i 's/^    digest: sha256:.*/    digest: sha256:0123456789012345678901234567890123456789012345678901234567890123/' mapm.lock
exits '[S4] another lock' 1 alone "$MAPM" install --from "$T/b.tar"
ok '[S4] takes nothing of it' test ! -e .agents/skills/base

fresh fewer
exits '[S4] all of a bundle' 0 alone "$MAPM" install --from "$T/b.tar"
exits 'without one package' 0 mapm --offline remove --yes linked
cp mapm.lock "$T/fewer.lock"
rm -rf .agents .claude && chmod -R u+w "$MAPM_HOME" && rm -rf "$MAPM_HOME"
exits '[S4] a bundle with another lock' 0 alone "$MAPM" install --from "$T/b.tar"
ok '[S4] the lock of the workspace is the one that counts' cmp mapm.lock "$T/fewer.lock"
ok '[S4] its packages come' test -e .agents/skills/base/SKILL.md
ok '[S4] and no others' test ! -e .agents/skills/linked

# --- killed ------------------------------------------------------------------------------

start_githost
head -c 700000 /dev/urandom >"$s/skills/base/data.bin"
make_repo acme/catalog "$s"
cd "$T/cold" || exit 1
cp "$T/b.tar" "$T/kept.tar"
exits 'larger packages' 0 mapm update
not_ok '[S4] a command that is ended in the middle' \
    sh -c 'ulimit -f 600; exec "$1" bundle "$2"' sh "$MAPM" "$T/kept.tar"
ok '[S4] leaves the old file' cmp "$T/b.tar" "$T/kept.tar"
exits '[S4] the next one replaces it' 0 mapm bundle "$T/kept.tar"
not_ok '[S4] as a whole' cmp "$T/b.tar" "$T/kept.tar"
exits '[S4] offline needs nothing that is not there' 0 mapm --offline bundle "$T/off.tar"
ok '[S4] and writes the same' cmp "$T/kept.tar" "$T/off.tar"

# --- the same content at other origins ---------------------------------------------------

make_repo beta/copy "$s"
mkdir "$T/also" && cd "$T/also" || exit 1
exits 'two origins of one content' 0 mapm install "$U/skills/base" \
    https://github.com/beta/copy/tree/main/skills/base
like 'are one entry' "$(cat mapm.lock)" '^    also:'
exits '[S4] a proof each' 0 mapm bundle "$T/also.tar"
exits '[S4] and in a folder' 0 mapm vendor
stop_githost
rm -rf "$T/saved" && mkdir "$T/saved" && cp -r mapm.yaml mapm.lock vendor "$T/saved"
fresh also-from
exits '[S4] which a cold machine needs' 0 alone "$MAPM" install --from "$T/also.tar"
fresh also-vendored
exits '[S4] in either form' 0 alone "$MAPM" install --vendored

# --- a proof that is too large for a team's store ---------------------------------------

start_githost
for name in $(seq -f wide-%.0f 20); do
    skill "$T/many/skills/$name"
done
(cd "$T/many/skills" && seq -f "$(printf %0200d 0)%04.0f" 1200 | xargs touch)
make_repo acme/many "$T/many"
mkdir "$T/wide" && cd "$T/wide" || exit 1
exits 'packages among a thousand files' 0 mapm install --yes acme/many --all
exits 'are more than a store takes' 0 mapm store push --to "$T/wide-store"
like 'as their proofs' "$out" '^kept .*the proof has more than 256 KiB'
exits '[S4] a bundle has their proofs' 0 mapm bundle "$T/wide.tar"
at_most '[S4] in which the folder is once' "$(stat -c %s "$T/wide.tar")" 500000
exits '[S4] and a vendor folder' 0 mapm vendor
is '[S4] once, too' "$(find vendor/mapm/objects -size +256k | wc -l)" 1
stop_githost
rm -rf "$T/saved" && mkdir "$T/saved" && cp -r mapm.yaml mapm.lock vendor "$T/saved"
fresh wide-from
exits '[S4] which a cold machine installs from' 0 alone "$MAPM" install -v --locked --from "$T/wide.tar"
is '[S4] each package has a proof' "$(printf '%s\n' "$err" | grep -c 'mapm1p-.*: there')" 20
at_most '[S4] which is read as often as gets run at once' \
    "$(printf '%s\n' "$err" | grep -c 'mapm1p-.*: there, [1-9]')" 6
exits '[S4] and verifies' 0 mapm verify
exits '[S4] its own bundle' 0 mapm --offline bundle "$T/again.tar"
ok '[S4] is the same' cmp "$T/wide.tar" "$T/again.tar"
fresh wide-vendored
exits '[S4] out of the folder, too' 0 alone "$MAPM" install --locked --vendored
same_tree '[S4] the same' .agents/skills "$T/wide-from/.agents/skills"

# --- many packages of one folder in a team's store ----------------------------------------

start_githost
for name in $(seq -f a-skill-of-many-%03.0f 40); do
    skill "$T/folder/skills/$name"
done
(cd "$T/folder/skills" && seq -f "$(printf %0200d 0)%04.0f" 950 | xargs touch)
make_repo acme/folder "$T/folder"
mkdir "$T/folder-ws" && cd "$T/folder-ws" || exit 1
exits 'all packages of a folder' 0 mapm install --yes acme/folder --all
exits '[S2] are pushed' 0 mapm store push --to "$T/folder-store"
tree=$(repo acme/folder rev-parse main:skills)
like '[S2] the folder is called what it is' "$out" \
    "^pushed  tree $(printf %.12s "$tree") in the proof of skill a-skill-of-many-001 "
is '[S2] and nothing else is' "$(printf '%s\n' "$out" | grep -c '^pushed  proof of ')" 40
is '[S9] in JSON, too' "$(mapm store push --json --to "$T/folder-store" | grep -c "\"tree\": \"$tree\"")" 1
tree=mapm1p-$(printf 'github.com/acme/folder\0\0\0%s' "$tree" | sha256sum | cut -d ' ' -f 1)
is '[S2] a package, a proof each, and their folder' "$(ls "$T/folder-store" | wc -l)" 81
at_most '[S2] which is in none of the proofs' \
    "$(find "$T/folder-store" -name 'mapm1p-*' ! -name "$tree.tar.gz" -size +1k | wc -l)" 0
ok '[S2] but once, as git has it' \
    sh -c 'tar -xOzf "$1" | cmp - "$2"' sh "$T/folder-store/$tree.tar.gz" "$(repo acme/folder cat-file tree main:skills >"$T/tree"; echo "$T/tree")"
stop_githost
rm -rf "$T/saved" && mkdir "$T/saved" && cp -r mapm.yaml mapm.lock "$T/saved"
serve_store "$T/folder-store"
exits '[S2] a verification finds all' 0 mapm store verify "$S"
fresh folder-pulled
: >"$T/store.log"
exits '[S1] without a git host they are enough' 0 env MAPM_STORE="$S" "$MAPM" install --locked
is '[S1] a request each' "$(grep -c . "$T/store.log")" 81
exits '[S1] and all is verified' 0 mapm verify
cp "$T/folder-store/mapm1p-"*.tar.gz "$T/" && mv "$T/$tree.tar.gz" "$T/tree.tar.gz"
cp "$(ls "$T"/mapm1p-* | head -n 1)" "$T/folder-store/$tree.tar.gz"
exits '[S2] another object in place of the folder' 3 mapm store verify "$S"
is '[S2] is missing for each package' "$(printf '%s\n' "$err" | grep -c '^0 packages as mapm.lock says, 40 not')" 1
fresh folder-wrong
exits '[S1] and not believed' 1 env MAPM_STORE="$S" "$MAPM" install --locked
like '[S1] it is named' "$err" "has something else as $tree: it is not this tree"
rm "$T/folder-store/$tree.tar.gz"
start_githost
fresh folder-host
exits '[S1] what is missing comes from the git host' 0 env MAPM_STORE="$S" "$MAPM" install --locked
at_most '[S1] in few requests' "$(requests)" 3
kill $store_pid
rm "$T/url"
mkdir "$T/one-ws" && cd "$T/one-ws" || exit 1
exits 'one package of the folder' 0 mapm install --yes https://github.com/acme/folder/tree/main/skills/a-skill-of-many-001
exits '[S2] is pushed' 0 mapm store push --to "$T/one-store"
is '[S2] its proof has the folder' "$(ls "$T/one-store" | wc -l)" 2
stop_githost
rm -rf "$T/saved" && mkdir "$T/saved" && cp -r mapm.yaml mapm.lock "$T/saved"
serve_store "$T/one-store"
fresh one-pulled
: >"$T/store.log"
exits '[S1] a machine without a git host installs it' 0 env MAPM_STORE="$S" "$MAPM" install --locked
is '[S1] in a request for it and one for its proof' "$(grep -c . "$T/store.log")" 2
exits '[S2] a verification finds both' 0 mapm store verify "$S"
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
exits 'an entry of a marketplace' 0 mapm install --yes acme/market --plugin demo
exits '[S4] is taken along' 0 mapm bundle "$T/entry.tar"
unlike '[S4] with what its marketplace says' "$err" warning
exits '[S4] from the store alone, too' 0 mapm --offline bundle "$T/again.tar"
ok '[S4] the same bytes' cmp "$T/entry.tar" "$T/again.tar"
exits '[S4] and in a folder' 0 mapm vendor
exits '[S2] and by a push' 0 mapm store push --to "$T/entry-store"
stop_githost
serve_store "$T/entry-store"
exits '[S2] which a verification finds whole' 0 mapm store verify "$S"
like '[S2] as packages' "$err" '^2 packages as mapm.lock says, 0 not'
rm -rf "$T/saved" && mkdir "$T/saved" && cp -r mapm.yaml mapm.lock vendor "$T/saved"
MAPM_HOME=$T/mapm
fresh entry-pulled
exits '[S1] without a git host the store is enough' 0 env MAPM_STORE="$S" "$MAPM" install --yes --locked
for file in "$T"/entry-store/mapm1p-*; do
    tar -xOzf "$file" | grep -qa 'Of the entry' && rm "$file"
done
exits '[S2] without the marketplace' 3 mapm store verify "$S"
like '[S2] it is not' "$out" '^failed  proof of plugin demo: no store has the marketplace of github.com/acme/market'
fresh entry-from
exits '[S4] a cold machine installs it' 0 alone "$MAPM" install --yes --from "$T/entry.tar"
ok '[S4] the skill of the plugin' cmp .agents/skills/a/SKILL.md "$m/plugins/demo/skills/a/SKILL.md"
like '[S4] and its server' "$(cat .mcp.json)" 'https://example.com/mcp'
ok '[S4] the lock stays' cmp mapm.lock "$T/saved/mapm.lock"
exits '[S4] it is verified' 0 mapm verify
exits '[S4] and makes the same bundle' 0 mapm --offline bundle "$T/again.tar"
ok '[S4] byte by byte' cmp "$T/entry.tar" "$T/again.tar"
fresh entry-vendored
exits '[S4] out of a vendor folder' 0 alone "$MAPM" install --yes --vendored
fresh entry-empty
rm -r mapm.yaml mapm.lock vendor
exits '[S4] without a manifest' 0 alone "$MAPM" install --yes --from "$T/entry.tar"
like '[S4] the root is the entry' "$(cat mapm.yaml)" 'catalog: .*/acme/market/tree/main.*plugin: demo'
ok '[S4] with its skill' test -f .agents/skills/a/SKILL.md
fresh entry-marketless
commit=$(sed -n 's/.*catalog_commit: //p' mapm.lock)
sed -i "s/catalog_commit: .*/catalog_commit: $(printf '%s' "$commit" | tr 0-9a-f 1-9a-f0)/" mapm.lock
exits '[S4] another commit of the marketplace' 1 alone "$MAPM" install --yes --from "$T/entry.tar"
like '[S4] is what no bundle has' "$err" 'missing: the marketplace of github.com/acme/market at'
ok '[S4] nothing came' test ! -e .agents/skills/a
done_testing

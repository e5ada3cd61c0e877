#!/bin/sh
# Skills of an index of .well-known/agent-skills: chosen, installed, locked and
# kept like others [X42, V73, W1, W4, W5, W8, W10, row 44].
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/index.sh"
. "$ROOT/tests/lib/terminal.sh"

json()
{
    printf '%s' "$out" | python3 -S -c 'import json, sys; d = json.load(sys.stdin); print(eval(sys.argv[1]))' "$1" 2>&1
}
S=$T/site index=$T/site/.well-known/agent-skills/index.json
folder()
{
    mkdir -p "$S/skills/$1"
    printf -- '---\nname: %s\ndescription: %s\n---\n%s\n' "$1" "$2" "${3:-Do it.}" >"$S/skills/$1/SKILL.md"
}
folder weather 'Tells the weather of a city.'
folder tables 'Extracts tables.' 'Run it.

Then read.

Then write.'
folder bare 'Has no other file.'
mkdir "$S/skills/tables/scripts"
printf '#!/bin/sh\necho x >"%s/started"\n' "$T" >"$S/skills/tables/scripts/x"
chmod 755 "$S/skills/tables/scripts/x"
publish()
{
    mapm catalog index "$S" >/dev/null 2>"$T/publish.err" || diag "$(cat "$T/publish.err")"
}
publish
# Two servers of the site, the second one another host.
serve_index "$S" "$T/log1"
H=$served
serve_index "$S" "$T/log2"
other=$served
U=http://$H/.well-known/agent-skills/index.json
# asked: what the first server was asked for since the last time.
asked()
{
    sed -n 's/^GET [^ ]*\/\([^ ]*\) \(.*\)/\1 \2/p' "$T/log1" | tr '\n' ' ' | sed 's/ $//'
    : >"$T/log1"
}
forget_store()
{
    rm -rf "$MAPM_HOME/store" "$MAPM_HOME"/mapm.db*
    mapm trust --index "$H" >/dev/null 2>&1
}

# --- whose host it is --------------------------------------------------------------

exits '[X42] a host that nobody confirmed is not asked' 4 mapm install "$U" --skill weather
like 'the command that allows it is named' "$err" "mapm trust --index $H"
is 'nothing was asked for' "$(asked)" ''
is 'and nothing was written' "$(ls -A)" ''
on_terminal n "$MAPM" install "$U" --skill weather
is '[X42] on a terminal a no is no' "$status $(asked)" '4 '
like 'it was a question' "$out" "$H, which is new"
on_terminal y "$MAPM" install "$U" --skill weather --yes
is 'a yes is yes' "$status" 0
is 'for both requests' "$(asked)" 'index.json 200 SKILL.md 200'
exits 'and is remembered' 0 mapm trust --list --json
is 'as one of a host' "$(json '[(t["kind"], t["name"]) for t in d["trusted"]]')" "[('index', '$H')]"

# --- what is written ---------------------------------------------------------------

ok 'its bytes are those that were published' diff -r "$S/skills/weather" .agents/skills/weather
like '[X42] mapm.yaml has the index and the name' "$(cat mapm.yaml)" "$U\?skill=weather"
hash=$(sha256sum <"$S/skills/weather/SKILL.md" | cut -d' ' -f1)
is '[X42, W5] the lock has the artifact and our own digest, and no commit' "$(sed 's/^    digest: sha256:[0-9a-f]\{64\}$/    digest: ours/' mapm.lock)" \
    "version: 2
packages:
  - type: skill
    name: weather
    origin: \"$U?skill=weather\"
    url: http://$H/skills/weather/SKILL.md
    artifact: sha256:$hash
    digest: ours
    path: .agents/skills/weather"
exits 'an archive' 0 mapm install "$U" --skill tables
is '[W6] is asked for like a SKILL.md' "$(asked)" 'index.json 200 tables.zip 200'
ok 'unpacked, modes too' diff -r "$S/skills/tables" .agents/skills/tables
ok 'a script may be run' test -x .agents/skills/tables/scripts/x
not_ok '[W9] by nobody during an install' test -e "$T/started"
cp mapm.lock "$T/first.lock" && cp mapm.yaml "$T/first.yaml"
exits 'again' 0 mapm install
is 'nothing is asked for' "$(asked)" ''
exits 'by its own origin' 0 mapm install "$U?skill=tables"
is 'it is there already' "$(cat mapm.lock)" "$(cat "$T/first.lock")"
asked >/dev/null
exits '[X42] --locked, warm' 0 mapm install --locked
is 'no request' "$(asked)" ''
rm -rf .agents .claude && forget_store && asked >/dev/null
exits '[X42] --locked, cold' 0 mapm install --locked
is 'the artifacts alone' "$(asked)" 'SKILL.md 200 tables.zip 200'
ok 'are put in place' diff -r "$S/skills/tables" .agents/skills/tables
is 'and the lock stays' "$(cat mapm.lock)" "$(cat "$T/first.lock")"
exits 'offline' 0 mapm install --offline
is 'no request, either' "$(asked)" ''

# --- the other commands -------------------------------------------------------------

exits 'verify' 0 mapm verify
like 'knows them by their artifacts' "$err" '2 packages verified'
exits 'list' 0 mapm list
like 'says where they are from' "$out" "skill +weather +- +index +$U\?skill=weather"
exits 'list for programs' 0 mapm list --json
is 'with the artifact' "$(json '[(p["name"], p["artifact"][:7], p["url"], p["commit"]) for p in d["packages"] if p["name"] == "weather"]')" \
    "[('weather', 'sha256:', 'http://$H/skills/weather/SKILL.md', None)]"
exits 'tree' 0 mapm tree
exits 'why' 0 mapm why tables
exits 'info by its name' 0 mapm info tables
like 'has its text' "$out" 'Extracts tables'
is 'without a request' "$(asked)" ''
exits 'info of another one' 0 mapm info "$U?skill=bare"
like 'without installing it' "$out" 'Has no other file'
asked >/dev/null
exits 'outdated' 0 mapm outdated
is 'reads the index once' "$(asked)" 'index.json 200'
exits 'verify --remote' 0 mapm verify --remote
is 'likewise' "$(asked)" 'index.json 200'
exits 'update' 0 mapm update
is '[W8] an equal digest is no new download' "$(asked)" 'index.json 200'
exits 'outdated --offline' 1 mapm --offline outdated
echo mine >>.agents/skills/tables/SKILL.md
exits 'what was edited' 3 mapm verify
exits 'is restored' 0 mapm restore --yes tables
ok 'as it was' diff -r "$S/skills/tables" .agents/skills/tables
is 'from the store' "$(asked)" ''
exits 'store gc' 0 mapm store gc
exits 'keeps what is locked' 0 mapm verify
exits 'diff with another ref' 2 mapm diff tables@v2
like 'there is none' "$err" 'a skill of an index: it has no refs'
exits 'a ref on the command line' 2 mapm install tables@v2
like 'neither' "$err" 'a skill of an index, without refs'
exits 'under another name' 0 mapm install "$U?skill=bare" --as acme/plain
like 'which the lock has' "$(cat mapm.lock)" 'as: acme/plain'
exits 'and remove' 0 mapm remove acme/plain
echo mine >>.agents/skills/tables/SKILL.md
exits 'an edit is made a patch' 0 mapm patch tables
like 'which the lock has' "$(cat mapm.lock)" 'patch: sha256:'
rm -rf .agents .claude
exits 'an install applies it' 0 mapm install --locked
is 'to the files of the artifact' "$(tail -n 1 .agents/skills/tables/SKILL.md)" mine
exits 'verify' 0 mapm verify
like 'knows it' "$out" 'tables: patched'
folder tables 'Extracts tables.' 'Run it twice.

Then read.

Then write.'
publish
exits 'an update' 0 mapm update --yes
is 'rebases it' "$(sed '1,4d; /^$/d' .agents/skills/tables/SKILL.md | tr '\n' ' ')" 'Run it twice. Then read. Then write. mine '
exits 'it is removed again' 0 mapm patch --remove tables
rm -rf .mapm
ok 'the files are those that were published' diff -r "$S/skills/tables" .agents/skills/tables
asked >/dev/null

# --- without its host: the artifact is the proof ---------------------------------------

# cold COMMAND...: on a machine that knows nothing, with mapm.yaml and mapm.lock alone.
cold()
{
    rm -rf "$T/cold" "$T/cold.home" && mkdir "$T/cold" && cp mapm.yaml mapm.lock "$T/cold"
    (cd "$T/cold" && MAPM_HOME=$T/cold.home "$@")
}
# as_published: what is there has the bytes that were published.
as_published()
{
    diff -r "$S/skills/tables" "$T/cold/.agents/skills/tables" &&
        diff -r "$S/skills/weather" "$T/cold/.agents/skills/weather"
}
exits '[S4] a bundle' 0 mapm bundle "$T/b.tar"
like '[S4] leaves none of them out' "$err" '^2 packages in '
is '[S4] and asks nothing: the store has the artifacts' "$(asked)" ''
exits '[S4] a cold machine installs from it' 0 cold "$MAPM" install --locked --from "$T/b.tar"
ok '[S4] what was published' as_published
is '[S4] without a request, or a host to confirm' "$(asked)" ''
exits '[S4] verified' 0 env -C "$T/cold" MAPM_HOME="$T/cold.home" "$MAPM" verify
forget_store
exits '[S4] a bundle where the store has nothing' 0 mapm bundle "$T/again.tar"
isnt '[S4] asks their host' "$(asked)" ''
ok '[S4] and has the same bytes' cmp "$T/b.tar" "$T/again.tar"
exits '[S4] vendored files' 0 mapm vendor "$T/vendored"
like '[S4] leave none of them out' "$err" '^2 packages in '
ok '[S4] they can be read' cmp "$S/skills/tables/SKILL.md" "$T/vendored/skill/tables/SKILL.md"
exits '[S4] a cold machine installs from these' 0 cold "$MAPM" install --locked --vendored="$T/vendored"
ok '[S4] likewise' as_published
is '[S4] without a request, too' "$(asked)" ''
exits '[S3] for a folder store' 0 mapm store push --to "$T/store"
unlike '[S3] none is left out' "$out$err" 'left out'
serve_index "$T/store" "$T/log3"
config=$XDG_CONFIG_HOME/mapm/config.yaml
mkdir -p "${config%/*}"
printf 'store: {remote: ["http://%s"], only: true}\n' "$served" >"$config"
exits '[S1] a cold machine installs from the store' 0 cold "$MAPM" install --locked
ok '[S1] the same' as_published
is '[S1] the host of the index is not asked' "$(asked)" ''
exits '[S3] the store has all' 0 mapm store verify "http://$served"
# The store sends another artifact, the lock another digest: neither is believed.
artifact=$(basename "$(ls "$T"/store/mapm1p-*.tar.gz | head -n 1)")
cp "$T/store/$artifact" "$T/kept"
cp "$(ls "$T"/store/mapm1p-*.tar.gz | tail -n 1)" "$T/store/$artifact"
exits '[S1] another artifact by that name' 1 cold "$MAPM" install --locked
like '[S1] is said' "$err" 'has something else as mapm1p-'
exits '[S3] and found' 3 mapm store verify "http://$served"
cp "$T/kept" "$T/store/$artifact"
cp mapm.lock "$T/lock.kept"
digest=$(sed -n '/name: tables/,/digest:/s/.*digest: //p' mapm.lock)
other_digest=$(sed -n '/name: weather/,/digest:/s/.*digest: //p' mapm.lock)
sed "s/$digest/$other_digest/" "$T/lock.kept" >mapm.lock
exits '[S4] a digest that its artifact does not make' 1 cold "$MAPM" install --locked --from "$T/b.tar"
like '[S4] is the word of an edited lock' "$err" 'tables: what was fetched has another digest'
cp "$T/lock.kept" mapm.lock
rm "$config"

# --- what is published changes -------------------------------------------------------

asked >/dev/null
folder weather 'Tells the weather of a city.' 'Do it better.'
publish
exits 'outdated sees a new artifact' 3 mapm outdated
like 'by its name' "$out" weather
is 'without loading it' "$(asked)" 'index.json 200'
exits 'verify --remote' 3 mapm verify --remote
like 'says that the index has another one' "$out" 'weather: its index has another artifact now'
exits 'an install stays as it is locked' 0 mapm install
not_ok 'what is installed is the former one' diff -r "$S/skills/weather" .agents/skills/weather
asked >/dev/null
exits 'update takes it' 0 mapm update --yes
is 'and nothing else' "$(asked)" 'index.json 200 SKILL.md 200'
ok 'it is in place' diff -r "$S/skills/weather" .agents/skills/weather
not_ok 'and locked' grep -q "$hash" mapm.lock
cp mapm.lock "$T/second.lock"
cp "$T/first.lock" mapm.lock && rm -rf .agents .claude && forget_store
exits 'a lock whose artifact is gone' 1 mapm install --locked
like '[W5] is refused: it is not the one that was locked' "$err" "SKILL.md is sha256:.*mapm.lock says sha256:$hash"
like 'with the way out' "$err" 'mapm update weather'
not_ok 'and nothing is installed' test -e .agents/skills
cp "$T/second.lock" mapm.lock
exits 'the new lock' 0 mapm install --locked
mv "$S/skills/bare" "$T/bare" && publish
exits 'a name that the index has no more' 1 mapm install "$U" --skill bare
like 'is told' "$err" 'no skill named "bare"'
mv "$T/bare" "$S/skills/bare" && publish

# --- choosing ------------------------------------------------------------------------

exits 'the index alone' 0 mapm install "$U"
like 'lists what it offers' "$out" "bare .*Has no other file"
exits '--list likewise' 0 mapm install "$U" --list --json
is 'with what is installed' "$(json '[(o["name"], o["installed"]) for o in d["offers"]]')" \
    "[('bare', False), ('tables', True), ('weather', True)]"
mkdir ../all && cd ../all || exit 1
exits 'a pattern' 0 mapm install "$U" --skill '*a*' --skip tables --yes
is '[D11] makes the index one root' "$(grep -c skill= mapm.yaml) $(grep -c 'index\.json$' mapm.yaml)" '0 1'
like '[D11] which is a catalog' "$(cat mapm.yaml)" 'catalogs:'
is '[D11] of what fits' "$(ls .agents/skills | tr '\n' ' ')" 'bare weather '
exits '--all' 0 mapm install "$U" --all --yes
is 'takes the rest' "$(ls .agents/skills | tr '\n' ' ')" 'bare tables weather '
exits 'with --plugin' 2 mapm install "$U" --plugin x
exits 'again' 0 mapm install
like '[D11] there is nothing to do' "$err" 'nothing to do'
exits '[D11] remove' 0 mapm remove tables
is '[D11] takes one out' "$(ls .agents/skills | tr '\n' ' ')" 'bare weather '
like '[D11] for good' "$(cat mapm.yaml)" '^ *- skill tables$'
folder newer 'Came later.' && publish
exits '[D11] an install takes nothing new' 0 mapm install
is '[D11] of the index' "$(ls .agents/skills | tr '\n' ' ')" 'bare weather '
exits '[D11] outdated' 0 mapm outdated
like '[D11] names what is new' "$err" 'new in the catalog .*: skill newer$'
exits '[D11] update' 0 mapm update --yes
is '[D11] adds it' "$(ls .agents/skills | tr '\n' ' ')" 'bare newer weather '
asked >/dev/null
rm -rf .agents .claude
exits '[D11] --locked' 0 mapm install --locked
is '[D11] is what the lock has' "$(ls .agents/skills | tr '\n' ' ')" 'bare newer weather '
is '[D11] without the index' "$(asked)" ''
exits '[D11] verify' 0 mapm verify
mv "$S/skills/newer" "$T/newer" && publish
exits '[D11] an update where it is gone' 3 mapm update --yes
ok '[D11] keeps it' test -f .agents/skills/newer/SKILL.md
rm -rf .agents .claude mapm.*
printf 'dependencies:\n  skills: ["%s?skill=tables"]\ncatalogs: ["%s?skill=tables"]\n' "$U" "$U" >mapm.yaml
exits 'a catalog in mapm.yaml is no skill' 1 mapm install
printf 'dependencies:\n  skills: ["%s?skill=tables"]\n' "$U" >mapm.yaml
exits 'a root that a person wrote' 0 mapm install
ok 'is installed' test -f .agents/skills/tables/SKILL.md
printf 'policy:\n  sources: ["github.com/acme/*"]\n' >>mapm.yaml
exits 'policy.sources counts for indexes' 4 mapm install
like 'and says so' "$err" 'policy.sources'
mkdir ../deps && cd ../deps || exit 1
skill needy 'dependencies:' '  skills:' "    - $U?skill=tables"
exits '[row 32] no package brings an index in' 1 mapm install --yes ./needy
like 'which is said' "$err" 'a skill of an index'

rm -rf .agents .claude mapm.*
on_screen 24x80 '=esc leaves' '+bare' '=filter: bare_' '+ ' '=1 of 3 chosen' '+\r' -- "$MAPM" install "$U"
is '[X42] on a terminal they are picked' "$status" 0
is 'and one is installed' "$(ls .agents/skills)" bare
exits 'the index as a catalog' 0 mapm catalog add "$U"
exits 'is searched' 0 mapm search city --json
origin=$(json 'd["packages"][0]["origin"]')
exits 'and what is found is installed' 0 mapm install "$origin"
ok 'as it was published' diff -r "$S/skills/weather" .agents/skills/weather

# --- one of many ---------------------------------------------------------------------

mkdir ../many && cd ../many || exit 1
exits 'two skills' 0 mapm install "$U" --skill tables weather
mv "$S/skills/tables" "$T/tables" && publish
exits 'an update where one is gone' 3 mapm update --yes
like 'keeps that one' "$err" 'skill tables stays as it is'
unlike 'which no commit pins' "$err" 'pins it'
ok 'as it is' test -f .agents/skills/tables/SKILL.md
exits 'outdated' 3 mapm outdated
like 'says that it is gone' "$out" 'tables'
exits 'verify --remote' 3 mapm verify --remote
like 'likewise' "$out" 'tables: its index does not offer it any more'
exits 'and --locked' 0 mapm install --locked
mv "$T/tables" "$S/skills/tables" && publish
echo more >>"$S/skills/weather/SKILL.md"
rm -rf .agents .claude mapm.*
exits '[W5] with --all one artifact that changed' 3 mapm install "$U" --all --yes
like 'is left out by its name' "$err" 'left out, format: weather$'
like 'with the reason' "$err" 'weather/SKILL.md is sha256'
not_ok 'and not installed' test -e .agents/skills/weather
ok 'the others are' test -f .agents/skills/tables/SKILL.md -a -f .agents/skills/bare/SKILL.md
publish
exits 'as a program sees it' 0 mapm install "$U" --skill weather --json --yes
is 'the origin is whole' "$(json '[p["origin"] for p in d["packages"] if p["action"] == "add"]')" "['$U?skill=weather']"

# --- what the index says ---------------------------------------------------------------

cd "$T/ws" || exit 1
rm -rf .agents .claude mapm.* && asked >/dev/null
# entry NAME TYPE URL [DIGEST-OF [HEX]]: the index has this entry alone.
entry()
{
    digest=${5:-sha256:$(sha256sum <"${4:-$S/skills/weather/SKILL.md}" | cut -d' ' -f1)}
    printf '{"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json", "skills": [
        {"name": "%s", "type": "%s", "description": "Tells the weather of a city.", "url": "%s", "digest": "%s"}]}' \
        "$1" "$2" "$3" "$digest" >"$index"
}
for url in ../../skills/weather/SKILL.md /skills/weather/SKILL.md "http://$H/skills/weather/SKILL.md" "//$H/skills/weather/SKILL.md"; do
    entry weather skill-md "$url"
    exits "[W4, V76] $url" 0 mapm install "$U" --skill weather
    rm -rf .agents .claude mapm.*
done
for url in data:text/plain,x file:///etc/passwd javascript:x http://example.com/SKILL.md "http://user@$H/SKILL.md" \
    'https://x.example;id/SKILL.md' 'https://$(id)/SKILL.md' https://x.example./SKILL.md https://0x7f000001/SKILL.md; do
    entry weather skill-md "$url"
    exits "[W4, V76, row 50] $url is left out" 1 mapm install "$U" --skill weather
    unlike 'and in no command to copy' "$err" 'mapm trust'
done
entry weather skill-md "http://$other/skills/weather/SKILL.md"
exits '[X42, V76, row 44] an artifact on another host' 4 mapm install "$U" --skill weather
like 'is shown, with the command that allows it' "$err" "http://$other/skills/weather/SKILL.md: its host $other"
like 'which is' "$err" "mapm trust --index $other"
is 'and not asked for' "$(cat "$T/log2")" ''
mapm trust --index "$other" >/dev/null 2>&1
printf 'policy:\n  sources: ["%s/*"]\n' "$H" >mapm.yaml
exits '[row 32] policy.sources holds for artifacts' 4 mapm install "$U" --skill weather
like 'with their own host' "$err" "policy.sources does not allow http://$other/"
is 'which is not asked' "$(cat "$T/log2")" ''
printf 'policy:\n  sources: ["%s/*", "%s/acme/*"]\n' "$H" "$other" >mapm.yaml
entry weather skill-md "http://$other/acme/../skills/weather/SKILL.md"
exits 'whose path does not climb' 4 mapm install "$U" --skill weather
is 'neither is that one asked' "$(cat "$T/log2")" ''
printf 'policy:\n  sources: ["%s/.well-known/*"]\n' "$H" >mapm.yaml
entry weather skill-md /skills/weather/SKILL.md
exits 'and on the host of the index, which may be shared' 4 mapm install "$U" --skill weather
like 'it is named' "$err" "policy.sources does not allow http://$H/skills/weather/SKILL.md"
entry weather skill-md "http://$other/skills/weather/SKILL.md"
printf 'policy:\n  sources: ["127.0.0.1:*/*"]\n' >mapm.yaml
exits 'it is, once that host is trusted' 0 mapm install "$U" --skill weather
rm -rf .agents .claude mapm.*
echo "http://$other/skills/weather/SKILL.md" >"$S/moved.redirect"
entry weather skill-md /moved
exits '[W8, row 44] a redirect to another host' 1 mapm install "$U" --skill weather
like 'is not followed' "$err" 'it redirects to'
echo "http://$H/skills/weather/SKILL.md" >"$S/moved.redirect"
exits 'on the same host it is' 0 mapm install "$U" --skill weather
like 'the lock has what the index says' "$(cat mapm.lock)" "url: http://$H/moved"
rm -rf .agents .claude mapm.* "$S/moved.redirect"
zero=sha256:0000000000000000000000000000000000000000000000000000000000000000
entry weather skill-md /skills/weather/SKILL.md '' $zero
exits '[W5, V75] a wrong digest' 1 mapm install "$U" --skill weather
like 'both are named' "$err" "is sha256:.*the index says $zero"
not_ok 'nothing is installed' test -e .agents
upper=sha256:$(sha256sum <"$S/skills/weather/SKILL.md" | cut -d' ' -f1 | tr a-f A-F)
entry weather skill-md /skills/weather/SKILL.md '' "$upper"
exits '[W5, V75] a digest in upper case' 1 mapm install "$U" --skill weather
entry weather skill-md /skills/nothing/SKILL.md
exits 'an artifact that is not there' 1 mapm install "$U" --skill weather
like 'has its status' "$err" 'HTTP 404'
sed -i 's/Tells the weather/Tells no weather/' "$index"
entry weather skill-md /skills/weather/SKILL.md
sed -i 's/"description": "Tells/"description": "Sells/' "$index"
exits '[W10] another description than the index has' 0 mapm install "$U" --skill weather
like 'is warned of' "$err" 'its description is not the one'
exits 'a lock that claims another tree for the artifact' 0 cp mapm.lock "$T/good.lock"
mapm install "$U" --list >/dev/null 2>&1
rm -rf .agents .claude && forget_store
sed -i "s/^    digest: .*/    digest: $zero/" mapm.lock
exits 'is refused' 1 mapm install --locked
not_ok 'and nothing is installed' test -e .agents/skills
cp "$T/good.lock" mapm.lock
exits '[F1] the lock as it is' 0 mapm install --locked
for change in "s|^    url: .*|&x|" "s|^    artifact: .*|    artifact: $zero|" "s|^    digest: .*|    digest: $zero|" 's|?skill=weather|?skill=tables|'; do
    sed "$change" "$T/good.lock" >mapm.lock
    not_ok "[F1] $change" cmp -s mapm.lock "$T/good.lock"
    exits 'in place' 1 mapm install --locked --offline
    exits 'verify' 3 mapm verify
done
rm -rf .agents .claude && forget_store
sed "s|^    url: .*|    url: http://$other/skills/weather/SKILL.md|" "$T/good.lock" >mapm.lock
exits '[row 44] a lock that names another host' 4 mapm install --locked
like 'asks for that host, too' "$err" "mapm trust --index $other"
cp "$T/good.lock" mapm.lock
sed -i '/artifact:/d' mapm.lock
exits 'a lock without the artifact' 1 mapm install --locked
like 'is damaged' "$err" 'has no "artifact"'
rm mapm.*
exits 'an index by http on another machine' 1 mapm install http://example.com/.well-known/agent-skills/index.json --skill x
exits 'what is no host' 2 mapm trust --index "example.com/x"
for host in 10.1.2.3 169.254.169.254 192.168.0.9; do
    mapm trust --index "$host" >/dev/null 2>&1
    entry weather skill-md "https://$host/SKILL.md"
    exits "[row 44, row 47] an artifact at $host" 4 mapm install "$U?skill=weather" --dry-run
    like 'is at a private address' "$err" "its name leads to $host, a private address"
done
exits 'a path that climbs' 1 mapm install "http://$H/x/../.well-known/agent-skills/index.json?skill=x"
like 'is not an index URL' "$err" '"." or ".." in it'
exits 'a host is trusted' 0 mapm trust --index localhost.test:9
exits 'revoked by its name' 0 mapm trust --revoke "$H"
exits 'and then asked for no more' 4 mapm install "$U?skill=weather"
mkdir -p "$XDG_CONFIG_HOME/mapm"
printf 'hosts:\n  - {host: 127.0.0.1, kind: git, ports: [%s]}\n' "${other#*:}" >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits 'nor where config.yaml has another port' 4 mapm install "$U?skill=tables"
printf 'hosts:\n  - {host: 127.0.0.1, kind: git, ports: [%s]}\n' "${H#*:}" >"$XDG_CONFIG_HOME/mapm/config.yaml"
publish
exits '[X42] hosts: of config.yaml names it, too' 0 mapm install "$U?skill=tables"
done_testing

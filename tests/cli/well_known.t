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

exits '[X42] install from a host that nobody confirmed exits with 4' 4 mapm install "$U" --skill weather
like 'the error shows the command that allows the host of the index' "$err" "mapm trust --index $H"
is 'install sends no request to an unconfirmed host' "$(asked)" ''
is 'install from an unconfirmed host writes nothing' "$(ls -A)" ''
on_terminal n "$MAPM" install "$U" --skill weather
is '[X42] no on a terminal refuses the host without a request' "$status $(asked)" '4 '
like 'the question on a terminal says that the host is new' "$out" "$H, which is new"
on_terminal y "$MAPM" install "$U" --skill weather --yes
is 'install succeeds after yes on a terminal' "$status" 0
is 'one yes allows the requests for the index and the SKILL.md' "$(asked)" 'index.json 200 SKILL.md 200'
exits 'trust --list --json succeeds after a confirmed host' 0 mapm trust --list --json
is 'trust --list --json names the confirmed host of the index' "$(json '[(t["kind"], t["name"]) for t in d["trusted"]]')" "[('index', '$H')]"

# --- what is written ---------------------------------------------------------------

ok 'the installed skill equals the published files' diff -r "$S/skills/weather" .agents/skills/weather
like '[X42] mapm.yaml has the URL of the index and the name of the skill' "$(cat mapm.yaml)" "$U\?skill=weather"
hash=$(sha256sum <"$S/skills/weather/SKILL.md" | cut -d' ' -f1)
is '[X42, W5] the lock has the artifact and the digest of the tree, and no commit' "$(sed 's/^    digest: sha256:[0-9a-f]\{64\}$/    digest: ours/' mapm.lock)" \
    "version: 2
packages:
  - type: skill
    name: weather
    origin: \"$U?skill=weather\"
    url: http://$H/skills/weather/SKILL.md
    artifact: sha256:$hash
    digest: ours
    path: .agents/skills/weather"
exits 'install of a skill that is published as an archive succeeds' 0 mapm install "$U" --skill tables
is '[W6] an archive is requested once, like a SKILL.md' "$(asked)" 'index.json 200 tables.zip 200'
ok 'an unpacked archive equals the published folder' diff -r "$S/skills/tables" .agents/skills/tables
ok 'a script of an archive is executable after install' test -x .agents/skills/tables/scripts/x
not_ok '[W9] install does not run the script of an archive' test -e "$T/started"
cp mapm.lock "$T/first.lock" && cp mapm.yaml "$T/first.yaml"
exits 'a second install succeeds' 0 mapm install
is 'a second install sends no request' "$(asked)" ''
exits 'install by the origin in mapm.yaml succeeds' 0 mapm install "$U?skill=tables"
is 'install by the origin in mapm.yaml leaves mapm.lock unchanged' "$(cat mapm.lock)" "$(cat "$T/first.lock")"
asked >/dev/null
exits '[X42] install --locked succeeds with a warm store' 0 mapm install --locked
is 'install --locked with a warm store sends no request' "$(asked)" ''
rm -rf .agents .claude && forget_store && asked >/dev/null
exits '[X42] install --locked succeeds with an empty store' 0 mapm install --locked
is 'install --locked with an empty store requests the artifacts alone' "$(asked)" 'SKILL.md 200 tables.zip 200'
ok 'install --locked provisions the published files' diff -r "$S/skills/tables" .agents/skills/tables
is 'install --locked leaves mapm.lock unchanged' "$(cat mapm.lock)" "$(cat "$T/first.lock")"
exits 'install --offline succeeds with a warm store' 0 mapm install --offline
is 'install --offline sends no request' "$(asked)" ''

# --- the other commands -------------------------------------------------------------

exits 'verify accepts the skills of an index' 0 mapm verify
like 'verify counts the skills of an index' "$err" '2 packages verified'
exits 'list succeeds with skills of an index' 0 mapm list
like 'list shows the origin of a skill of an index' "$out" "skill +weather +- +index +$U\?skill=weather"
exits 'list --json succeeds with skills of an index' 0 mapm list --json
is 'list --json shows artifact and URL of a skill of an index, and no commit' "$(json '[(p["name"], p["artifact"][:7], p["url"], p["commit"]) for p in d["packages"] if p["name"] == "weather"]')" \
    "[('weather', 'sha256:', 'http://$H/skills/weather/SKILL.md', None)]"
exits 'tree succeeds with skills of an index' 0 mapm tree
exits 'why succeeds for a skill of an index' 0 mapm why tables
exits 'info succeeds for the name of an installed skill of an index' 0 mapm info tables
like 'info shows the description of an installed skill of an index' "$out" 'Extracts tables'
is 'list, tree, why and info of an installed skill send no request' "$(asked)" ''
exits 'info succeeds for a skill of an index that is not installed' 0 mapm info "$U?skill=bare"
like 'info shows the description of a skill that is not installed' "$out" 'Has no other file'
asked >/dev/null
exits 'outdated exits with 0 for unchanged skills of an index' 0 mapm outdated
is 'outdated reads the index once' "$(asked)" 'index.json 200'
exits 'verify --remote succeeds for unchanged skills of an index' 0 mapm verify --remote
is 'verify --remote reads the index once' "$(asked)" 'index.json 200'
exits 'update succeeds for unchanged skills of an index' 0 mapm update
is '[W8] update downloads no artifact with an equal digest' "$(asked)" 'index.json 200'
exits 'outdated --offline fails for skills of an index' 1 mapm --offline outdated
echo mine >>.agents/skills/tables/SKILL.md
exits 'verify exits with 3 for an edited skill of an index' 3 mapm verify
exits 'restore of an edited skill of an index succeeds' 0 mapm restore --yes tables
ok 'restore brings back the published files' diff -r "$S/skills/tables" .agents/skills/tables
is 'restore takes the files from the store without a request' "$(asked)" ''
exits 'store gc succeeds with skills of an index' 0 mapm store gc
exits 'store gc keeps the locked artifacts' 0 mapm verify
exits 'diff of a skill of an index with another ref exits with 2' 2 mapm diff tables@v2
like 'the error of diff says that a skill of an index has no refs' "$err" 'a skill of an index: it has no refs'
exits 'install of a skill of an index with a ref exits with 2' 2 mapm install tables@v2
like 'the error of install says that a skill of an index has no refs' "$err" 'a skill of an index, without refs'
exits 'install --as of a skill of an index succeeds' 0 mapm install "$U?skill=bare" --as acme/plain
like 'the lock has the other name of a skill of an index' "$(cat mapm.lock)" 'as: acme/plain'
exits 'remove by the other name of a skill of an index succeeds' 0 mapm remove acme/plain
echo mine >>.agents/skills/tables/SKILL.md
exits 'patch of an edited skill of an index succeeds' 0 mapm patch tables
like 'the lock has the patch of a skill of an index' "$(cat mapm.lock)" 'patch: sha256:'
rm -rf .agents .claude
exits 'install --locked applies a patch to a skill of an index' 0 mapm install --locked
is 'the patched skill has the edited line' "$(tail -n 1 .agents/skills/tables/SKILL.md)" mine
exits 'verify accepts a patched skill of an index' 0 mapm verify
like 'verify reports the skill of an index as patched' "$out" 'tables: patched'
folder tables 'Extracts tables.' 'Run it twice.

Then read.

Then write.'
publish
exits 'update of a patched skill of an index succeeds' 0 mapm update --yes
is 'update rebases the patch on the new artifact' "$(sed '1,4d; /^$/d' .agents/skills/tables/SKILL.md | tr '\n' ' ')" 'Run it twice. Then read. Then write. mine '
exits 'patch --remove of a skill of an index succeeds' 0 mapm patch --remove tables
rm -rf .mapm
ok 'patch --remove brings back the published files' diff -r "$S/skills/tables" .agents/skills/tables
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
exits '[S4] bundle of skills of an index succeeds' 0 mapm bundle "$T/b.tar"
like '[S4] bundle counts both skills of an index' "$err" '^2 packages in '
is '[S4] bundle sends no request when the store has the artifacts' "$(asked)" ''
exits '[S4] install --from a bundle succeeds with an empty store' 0 cold "$MAPM" install --locked --from "$T/b.tar"
ok '[S4] install --from a bundle provisions the published files' as_published
is '[S4] install --from a bundle sends no request and needs no confirmed host' "$(asked)" ''
exits '[S4] verify accepts the skills that came from a bundle' 0 env -C "$T/cold" MAPM_HOME="$T/cold.home" "$MAPM" verify
forget_store
exits '[S4] bundle succeeds when the store has no artifact' 0 mapm bundle "$T/again.tar"
isnt '[S4] bundle requests the artifacts that the store lacks' "$(asked)" ''
ok '[S4] a bundle of downloaded artifacts has the same bytes' cmp "$T/b.tar" "$T/again.tar"
exits '[S4] vendor of skills of an index succeeds' 0 mapm vendor "$T/vendored"
like '[S4] vendor counts both skills of an index' "$err" '^2 packages in '
ok '[S4] a vendored skill of an index is readable as plain files' cmp "$S/skills/tables/SKILL.md" "$T/vendored/skill/tables/SKILL.md"
exits '[S4] install --vendored succeeds with an empty store' 0 cold "$MAPM" install --locked --vendored="$T/vendored"
ok '[S4] install --vendored provisions the published files' as_published
is '[S4] install --vendored sends no request' "$(asked)" ''
exits '[S3] store push of skills of an index to a folder succeeds' 0 mapm store push --to "$T/store"
unlike '[S3] store push leaves out no skill of an index' "$out$err" 'left out'
serve_index "$T/store" "$T/log3"
config=$XDG_CONFIG_HOME/mapm/config.yaml
mkdir -p "${config%/*}"
printf 'store: {remote: ["http://%s"], only: true}\n' "$served" >"$config"
exits '[S1] install --locked from a team store succeeds with an empty store' 0 cold "$MAPM" install --locked
ok '[S1] install --locked from a team store provisions the published files' as_published
is '[S1] install --locked from a team store sends no request to the host of the index' "$(asked)" ''
exits '[S3] store verify accepts a team store with artifacts of an index' 0 mapm store verify "http://$served"
# The store sends another artifact, the lock another digest: neither is believed.
artifact=$(basename "$(ls "$T"/store/mapm1p-*.tar.gz | head -n 1)")
cp "$T/store/$artifact" "$T/kept"
cp "$(ls "$T"/store/mapm1p-*.tar.gz | tail -n 1)" "$T/store/$artifact"
exits '[S1] install --locked fails when the team store has another artifact by that name' 1 cold "$MAPM" install --locked
like '[S1] the error names the artifact that differs in the team store' "$err" 'has something else as mapm1p-'
exits '[S3] store verify exits with 3 for an artifact that differs' 3 mapm store verify "http://$served"
cp "$T/kept" "$T/store/$artifact"
cp mapm.lock "$T/lock.kept"
digest=$(sed -n '/name: tables/,/digest:/s/.*digest: //p' mapm.lock)
other_digest=$(sed -n '/name: weather/,/digest:/s/.*digest: //p' mapm.lock)
sed "s/$digest/$other_digest/" "$T/lock.kept" >mapm.lock
exits '[S4] install --from a bundle fails when the lock has another digest of the tree' 1 cold "$MAPM" install --locked --from "$T/b.tar"
like '[S4] the error names the skill whose digest differs from the lock' "$err" 'tables: what was fetched has another digest'
cp "$T/lock.kept" mapm.lock
rm "$config"

# --- what is published changes -------------------------------------------------------

asked >/dev/null
folder weather 'Tells the weather of a city.' 'Do it better.'
publish
exits 'outdated exits with 3 for a new artifact' 3 mapm outdated
like 'outdated names the skill with a new artifact' "$out" weather
is 'outdated downloads no new artifact' "$(asked)" 'index.json 200'
exits 'verify --remote exits with 3 for a new artifact' 3 mapm verify --remote
like 'verify --remote says that the index has another artifact' "$out" 'weather: its index has another artifact now'
exits 'install succeeds at the locked artifact after a new one is published' 0 mapm install
not_ok 'install keeps the files of the locked artifact' diff -r "$S/skills/weather" .agents/skills/weather
asked >/dev/null
exits 'update to a new artifact succeeds' 0 mapm update --yes
is 'update requests the index and the changed artifact alone' "$(asked)" 'index.json 200 SKILL.md 200'
ok 'update provisions the files of the new artifact' diff -r "$S/skills/weather" .agents/skills/weather
not_ok 'update replaces the former artifact in the lock' grep -q "$hash" mapm.lock
cp mapm.lock "$T/second.lock"
cp "$T/first.lock" mapm.lock && rm -rf .agents .claude && forget_store
exits 'install --locked fails when the locked artifact is no longer published' 1 mapm install --locked
like '[W5] the error shows the digest of the artifact and that of the lock' "$err" "SKILL.md is sha256:.*mapm.lock says sha256:$hash"
like 'the error of a replaced artifact suggests an update by name' "$err" 'mapm update weather'
not_ok 'install --locked of a replaced artifact provisions nothing' test -e .agents/skills
cp "$T/second.lock" mapm.lock
exits 'install --locked succeeds with the updated lock' 0 mapm install --locked
mv "$S/skills/bare" "$T/bare" && publish
exits 'install of a name that the index no longer has fails' 1 mapm install "$U" --skill bare
like 'the error says that the index has no skill of that name' "$err" 'no skill named "bare"'
mv "$T/bare" "$S/skills/bare" && publish

# --- choosing ------------------------------------------------------------------------

exits 'install of an index without a choice succeeds' 0 mapm install "$U"
like 'install of an index without a choice lists what it offers' "$out" "bare .*Has no other file"
exits 'install --list --json of an index succeeds' 0 mapm install "$U" --list --json
is 'install --list --json says which offers are installed' "$(json '[(o["name"], o["installed"]) for o in d["offers"]]')" \
    "[('bare', False), ('tables', True), ('weather', True)]"
mkdir ../all && cd ../all || exit 1
exits 'install --skill with a pattern and --skip succeeds for an index' 0 mapm install "$U" --skill '*a*' --skip tables --yes
is '[D11] a pattern makes the index one root of mapm.yaml' "$(grep -c skill= mapm.yaml) $(grep -c 'index\.json$' mapm.yaml)" '0 1'
like '[D11] a pattern makes the index a catalog of mapm.yaml' "$(cat mapm.yaml)" 'catalogs:'
is '[D11] a pattern with --skip installs the skills that match' "$(ls .agents/skills | tr '\n' ' ')" 'bare weather '
exits 'install --all of an index succeeds' 0 mapm install "$U" --all --yes
is 'install --all adds the skills that the pattern left out' "$(ls .agents/skills | tr '\n' ' ')" 'bare tables weather '
exits 'install --plugin of an index exits with 2' 2 mapm install "$U" --plugin x
exits 'a second install of the catalog succeeds' 0 mapm install
like '[D11] a second install of the catalog reports nothing to do' "$err" 'nothing to do'
exits '[D11] remove of one skill of the catalog succeeds' 0 mapm remove tables
is '[D11] remove takes one skill of the catalog out' "$(ls .agents/skills | tr '\n' ' ')" 'bare weather '
like '[D11] remove writes the excluded skill to mapm.yaml' "$(cat mapm.yaml)" '^ *- skill tables$'
folder newer 'Came later.' && publish
exits '[D11] install succeeds after the index got a new skill' 0 mapm install
is '[D11] install does not add a new skill of the index' "$(ls .agents/skills | tr '\n' ' ')" 'bare weather '
exits '[D11] outdated exits with 0 when the index has a new skill' 0 mapm outdated
like '[D11] outdated names the new skill of the catalog' "$err" 'new in the catalog .*: skill newer$'
exits '[D11] update with a new skill of the index succeeds' 0 mapm update --yes
is '[D11] update adds the new skill of the index' "$(ls .agents/skills | tr '\n' ' ')" 'bare newer weather '
asked >/dev/null
rm -rf .agents .claude
exits '[D11] install --locked of the catalog succeeds' 0 mapm install --locked
is '[D11] install --locked provisions the locked skills of the catalog' "$(ls .agents/skills | tr '\n' ' ')" 'bare newer weather '
is '[D11] install --locked of the catalog does not read the index' "$(asked)" ''
exits '[D11] verify accepts the skills of the catalog' 0 mapm verify
mv "$S/skills/newer" "$T/newer" && publish
exits '[D11] update exits with 3 when the index no longer has a skill' 3 mapm update --yes
ok '[D11] update keeps a skill that the index no longer has' test -f .agents/skills/newer/SKILL.md
rm -rf .agents .claude mapm.*
printf 'dependencies:\n  skills: ["%s?skill=tables"]\ncatalogs: ["%s?skill=tables"]\n' "$U" "$U" >mapm.yaml
exits 'install fails for a skill of an index under catalogs in mapm.yaml' 1 mapm install
printf 'dependencies:\n  skills: ["%s?skill=tables"]\n' "$U" >mapm.yaml
exits 'install of an origin that was written by hand succeeds' 0 mapm install
ok 'install provisions the skill of an origin that was written by hand' test -f .agents/skills/tables/SKILL.md
printf 'policy:\n  sources: ["github.com/acme/*"]\n' >>mapm.yaml
exits 'install fails when policy.sources does not allow the index' 4 mapm install
like 'the error names policy.sources for the index' "$err" 'policy.sources'
mkdir ../deps && cd ../deps || exit 1
skill needy 'dependencies:' '  skills:' "    - $U?skill=tables"
exits '[row 32] install fails when a package depends on a skill of an index' 1 mapm install --yes ./needy
like 'the error says that the dependency is a skill of an index' "$err" 'a skill of an index'

rm -rf .agents .claude mapm.*
on_screen 24x80 '=esc leaves' '+bare' '=filter: bare_' '+ ' '=1 of 3 chosen' '+\r' -- "$MAPM" install "$U"
is '[X42] install of an index on a terminal succeeds with a picked skill' "$status" 0
is 'install on a terminal installs the picked skill alone' "$(ls .agents/skills)" bare
exits 'catalog add of an index succeeds' 0 mapm catalog add "$U"
exits 'search in an index as catalog succeeds' 0 mapm search city --json
origin=$(json 'd["packages"][0]["origin"]')
exits 'install of the origin that search found succeeds' 0 mapm install "$origin"
ok 'a skill that search found is installed as published' diff -r "$S/skills/weather" .agents/skills/weather

# --- one of many ---------------------------------------------------------------------

mkdir ../many && cd ../many || exit 1
exits 'install of two skills of an index succeeds' 0 mapm install "$U" --skill tables weather
mv "$S/skills/tables" "$T/tables" && publish
exits 'update exits with 3 when the index no longer has one of two skills' 3 mapm update --yes
like 'update says that the missing skill stays as it is' "$err" 'skill tables stays as it is'
unlike 'update suggests no commit to pin a missing skill of an index' "$err" 'pins it'
ok 'update keeps the files of the missing skill' test -f .agents/skills/tables/SKILL.md
exits 'outdated exits with 3 for a skill that the index no longer has' 3 mapm outdated
like 'outdated names the skill that the index no longer has' "$out" 'tables'
exits 'verify --remote exits with 3 for a skill that the index no longer has' 3 mapm verify --remote
like 'verify --remote says that the index does not offer the skill any more' "$out" 'tables: its index does not offer it any more'
exits 'install --locked succeeds after the index dropped a skill' 0 mapm install --locked
mv "$T/tables" "$S/skills/tables" && publish
echo more >>"$S/skills/weather/SKILL.md"
rm -rf .agents .claude mapm.*
exits '[W5] install --all exits with 3 when one artifact has another digest' 3 mapm install "$U" --all --yes
like 'install --all names the skill that it leaves out' "$err" 'left out, format: weather$'
like 'install --all shows the digest as the reason' "$err" 'weather/SKILL.md is sha256'
not_ok 'install --all does not install a skill with another digest' test -e .agents/skills/weather
ok 'install --all installs the other skills' test -f .agents/skills/tables/SKILL.md -a -f .agents/skills/bare/SKILL.md
publish
exits 'install --skill --json --yes of an index succeeds' 0 mapm install "$U" --skill weather --json --yes
is 'install --json shows the whole origin of a skill of an index' "$(json '[p["origin"] for p in d["packages"] if p["action"] == "add"]')" "['$U?skill=weather']"

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
    exits "[W4, V76] install accepts an artifact URL of the same host: $url" 0 mapm install "$U" --skill weather
    rm -rf .agents .claude mapm.*
done
for url in data:text/plain,x file:///etc/passwd javascript:x http://example.com/SKILL.md "http://user@$H/SKILL.md" \
    'https://x.example;id/SKILL.md' 'https://$(id)/SKILL.md' https://x.example./SKILL.md https://0x7f000001/SKILL.md; do
    entry weather skill-md "$url"
    exits "[W4, V76, row 50] install leaves out an artifact at $url" 1 mapm install "$U" --skill weather
    unlike 'the error of an invalid artifact URL suggests no trust command' "$err" 'mapm trust'
done
entry weather skill-md "http://$other/skills/weather/SKILL.md"
exits '[X42, V76, row 44] install of an artifact on an unconfirmed other host exits with 4' 4 mapm install "$U" --skill weather
like 'the error shows the URL and the host of the artifact' "$err" "http://$other/skills/weather/SKILL.md: its host $other"
like 'the error shows the command that allows the host of the artifact' "$err" "mapm trust --index $other"
is 'install sends no request to the unconfirmed host of an artifact' "$(cat "$T/log2")" ''
mapm trust --index "$other" >/dev/null 2>&1
printf 'policy:\n  sources: ["%s/*"]\n' "$H" >mapm.yaml
exits '[row 32] install fails when policy.sources allows the index but not the artifact' 4 mapm install "$U" --skill weather
like 'the error of policy.sources names the host of the artifact' "$err" "policy.sources does not allow http://$other/"
is 'install sends no request to a host that policy.sources does not allow' "$(cat "$T/log2")" ''
printf 'policy:\n  sources: ["%s/*", "%s/acme/*"]\n' "$H" "$other" >mapm.yaml
entry weather skill-md "http://$other/acme/../skills/weather/SKILL.md"
exits 'install fails for an artifact path that climbs out of an allowed source' 4 mapm install "$U" --skill weather
is 'install sends no request for an artifact path that climbs' "$(cat "$T/log2")" ''
printf 'policy:\n  sources: ["%s/.well-known/*"]\n' "$H" >mapm.yaml
entry weather skill-md /skills/weather/SKILL.md
exits 'install fails for a disallowed artifact path on the allowed host of the index' 4 mapm install "$U" --skill weather
like 'the error names the disallowed artifact on the host of the index' "$err" "policy.sources does not allow http://$H/skills/weather/SKILL.md"
entry weather skill-md "http://$other/skills/weather/SKILL.md"
printf 'policy:\n  sources: ["127.0.0.1:*/*"]\n' >mapm.yaml
exits 'install of an artifact on a trusted and allowed other host succeeds' 0 mapm install "$U" --skill weather
rm -rf .agents .claude mapm.*
echo "http://$other/skills/weather/SKILL.md" >"$S/moved.redirect"
entry weather skill-md /moved
exits '[W8, row 44] install fails when an artifact redirects to another host' 1 mapm install "$U" --skill weather
like 'the error says that the artifact redirects' "$err" 'it redirects to'
echo "http://$H/skills/weather/SKILL.md" >"$S/moved.redirect"
exits 'install follows a redirect of an artifact on the same host' 0 mapm install "$U" --skill weather
like 'the lock has the URL of the index, not the target of the redirect' "$(cat mapm.lock)" "url: http://$H/moved"
rm -rf .agents .claude mapm.* "$S/moved.redirect"
zero=sha256:0000000000000000000000000000000000000000000000000000000000000000
entry weather skill-md /skills/weather/SKILL.md '' $zero
exits '[W5, V75] install fails for an artifact with another digest than the index has' 1 mapm install "$U" --skill weather
like 'the error shows the digest of the artifact and that of the index' "$err" "is sha256:.*the index says $zero"
not_ok 'install of an artifact with another digest provisions nothing' test -e .agents
upper=sha256:$(sha256sum <"$S/skills/weather/SKILL.md" | cut -d' ' -f1 | tr a-f A-F)
entry weather skill-md /skills/weather/SKILL.md '' "$upper"
exits '[W5, V75] install fails for a digest in upper case' 1 mapm install "$U" --skill weather
entry weather skill-md /skills/nothing/SKILL.md
exits 'install fails for a missing artifact' 1 mapm install "$U" --skill weather
like 'the error of a missing artifact shows the HTTP status' "$err" 'HTTP 404'
sed -i 's/Tells the weather/Tells no weather/' "$index"
entry weather skill-md /skills/weather/SKILL.md
sed -i 's/"description": "Tells/"description": "Sells/' "$index"
exits '[W10] install succeeds when the description differs from that of the index' 0 mapm install "$U" --skill weather
like 'install warns of a description that differs from that of the index' "$err" 'its description is not the one'
exits 'a copy of the lock is kept' 0 cp mapm.lock "$T/good.lock"
mapm install "$U" --list >/dev/null 2>&1
rm -rf .agents .claude && forget_store
sed -i "s/^    digest: .*/    digest: $zero/" mapm.lock
exits 'install --locked fails for a lock with another digest of the tree' 1 mapm install --locked
not_ok 'install --locked of such a lock provisions nothing' test -e .agents/skills
cp "$T/good.lock" mapm.lock
exits '[F1] install --locked accepts the original lock' 0 mapm install --locked
for change in "s|^    url: .*|&x|" "s|^    artifact: .*|    artifact: $zero|" "s|^    digest: .*|    digest: $zero|" 's|?skill=weather|?skill=tables|'; do
    sed "$change" "$T/good.lock" >mapm.lock
    not_ok "[F1] this edit changes the lock: $change" cmp -s mapm.lock "$T/good.lock"
    exits 'install --locked --offline fails for the edited lock with the files in place' 1 mapm install --locked --offline
    exits 'verify exits with 3 for the edited lock' 3 mapm verify
done
rm -rf .agents .claude && forget_store
sed "s|^    url: .*|    url: http://$other/skills/weather/SKILL.md|" "$T/good.lock" >mapm.lock
exits '[row 44] install --locked exits with 4 when the lock names an unconfirmed host' 4 mapm install --locked
like 'the error shows the command that allows the host of the lock' "$err" "mapm trust --index $other"
cp "$T/good.lock" mapm.lock
sed -i '/artifact:/d' mapm.lock
exits 'install --locked fails for a lock without an artifact' 1 mapm install --locked
like 'the error says that the lock entry has no artifact' "$err" 'has no "artifact"'
rm mapm.*
exits 'install of an index by http: on another machine fails' 1 mapm install http://example.com/.well-known/agent-skills/index.json --skill x
exits 'trust --index exits with 2 for an argument that is not a host' 2 mapm trust --index "example.com/x"
for host in 10.1.2.3 169.254.169.254 192.168.0.9; do
    mapm trust --index "$host" >/dev/null 2>&1
    entry weather skill-md "https://$host/SKILL.md"
    exits "[row 44, row 47] install exits with 4 for an artifact at $host" 4 mapm install "$U?skill=weather" --dry-run
    like 'the error says that the host leads to a private address' "$err" "its name leads to $host, a private address"
done
exits 'install fails for the URL of an index with a climbing path' 1 mapm install "http://$H/x/../.well-known/agent-skills/index.json?skill=x"
like 'the error says that the URL of the index has dots in its path' "$err" '"." or ".." in it'
exits 'trust --index of a host with a port succeeds' 0 mapm trust --index localhost.test:9
exits 'trust --revoke of the host of an index succeeds' 0 mapm trust --revoke "$H"
exits 'install exits with 4 after the host of the index is revoked' 4 mapm install "$U?skill=weather"
mkdir -p "$XDG_CONFIG_HOME/mapm"
printf 'hosts:\n  - {host: 127.0.0.1, kind: git, ports: [%s]}\n' "${other#*:}" >"$XDG_CONFIG_HOME/mapm/config.yaml"
exits 'install exits with 4 when config.yaml has another port of the host' 4 mapm install "$U?skill=tables"
printf 'hosts:\n  - {host: 127.0.0.1, kind: git, ports: [%s]}\n' "${H#*:}" >"$XDG_CONFIG_HOME/mapm/config.yaml"
publish
exits '[X42] install accepts a host that config.yaml names under hosts' 0 mapm install "$U?skill=tables"
done_testing

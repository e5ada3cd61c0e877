#!/bin/sh
# Catalogs and the search over them: `mapm catalog`, `mapm search`. [G6].
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/index.sh"

# json PYTHON-EXPRESSION: of $out, the document d.
json()
{
    printf '%s\n' "$out" | python3 -S -c '
import json, sys
d = json.load(sys.stdin)
r = eval(sys.argv[1])
print("yes" if r is True else "no" if r is False else r)' "$1" 2>&1
}
# described FOLDER DESCRIPTION [LINE...]: a skill.
described()
{
    folder=$1
    mkdir -p "$folder"
    {
        printf -- '---\nname: %s\ndescription: %s\n' "$(basename "$folder")" "$2"
        shift 2
        for line; do printf '%s\n' "$line"; done
        printf -- '---\nSay it.\n'
    } >"$folder/SKILL.md"
}

start_githost
described "$T/src/skills/pdf-tables" 'Extracts tables from PDF files.' 'metadata:' '  version: "1.2.0"'
echo 'not fetched by a refresh' >"$T/src/skills/pdf-tables/reference.md"
described "$T/src/skills/letters" 'Writes letters.'
agent "$T/src/agents/reviewer"
mkdir -p "$T/src/.claude-plugin"
cat >"$T/src/.claude-plugin/marketplace.json" <<'JSON'
{"name": "acme", "owner": {"name": "Acme"}, "plugins": [
 {"name": "office", "version": "2.1.0", "description": "Spreadsheets and letters", "source": "./", "skills": ["./skills/letters"]},
 {"name": "shell", "description": "Runs a command of ours", "source": {"source": "command", "command": "x"}}]}
JSON
make_repo acme/catalog "$T/src"

# --- without catalogs -----------------------------------------------------------------

exits 'search without a catalog succeeds' 0 mapm search pdf
like 'search without a catalog suggests mapm catalog add' "$err" 'mapm catalog add ORIGIN'
exits 'catalog list without a catalog succeeds' 0 mapm catalog list
is 'catalog list without a catalog prints nothing' "$out" ''
exits 'search without a word is a usage error' 2 mapm search
exits 'search with a blank word is a usage error' 2 mapm search ' '
exits 'search with a limit above 50 is a usage error' 2 mapm search pdf --limit 51
exits 'an unknown subcommand of catalog is a usage error' 2 mapm catalog frob
like 'the error names the unknown subcommand' "$err" '"frob" is not one of'
exits 'catalog add without an origin is a usage error' 2 mapm catalog add
exits 'catalog list with an origin is a usage error' 2 mapm catalog list acme/catalog
exits 'catalog remove of an unknown catalog fails' 1 mapm catalog remove acme/catalog
like 'the error says that the origin is not one of the catalogs' "$err" 'is not one of your catalogs'
exits 'catalog add with a range of versions fails' 1 mapm catalog add 'acme/catalog@^1.2'

# --- a folder of this machine --------------------------------------------------------------

mkdir -p "$T/ours/mcps" "$T/ours/skills/broken" "$T/here"
cp -r "$T/src/skills" "$T/src/.claude-plugin" "$T/ours"
mcp "$T/ours/mcps/io.acme_clock.json" io.acme/clock npx -y clock
printf -- '---\nname: [\n---\n' >"$T/ours/skills/broken/SKILL.md"
ln -s ../../src/skills/letters "$T/ours/skills/linked"
cd "$T/here" || exit 1
exits '[G6] catalog add of a local folder succeeds' 0 mapm catalog add ../ours
like '[G6] catalog add of a folder counts valid and invalid packages' "$out" "^file:$T/ours  5 packages, 1 left out as invalid  refreshed "
exits '[G6] catalog add of the same folder as a file URL succeeds' 0 mapm catalog add "file:$T/ours"
like '[G6] catalog add says that the folder is already a catalog' "$err" 'is already one of your catalogs'
exits '[G6] catalog list --json with a folder succeeds' 0 mapm catalog list --json
is '[G6] catalog list --json has the folder with its type and no commit' "$(json '[(c["origin"], c["type"], c["commit"]) for c in d["catalogs"]]')" \
    "[('file:$T/ours', 'folder', None)]"
exits '[G6] search --json in a folder succeeds' 0 mapm search --json tables
is '[G6] search --json in a folder returns an origin that mapm install accepts' "$(json 'd["packages"][0]["origin"]')" "file:$T/ours/skills/pdf-tables"
exits '[G6] search for a plugin in a folder succeeds' 0 mapm search spreadsheets
like '[G6] search shows the plugin with its folder' "$out" "office.*$T/ours"
exits '[G6] search for an MCP server in a folder succeeds' 0 mapm search clock
like '[G6] search finds the MCP server by its file' "$out" '^io.acme/clock +mcp'
exits '[G6] info of a skill in a folder succeeds' 0 mapm info "file:$T/ours/skills/letters"
exits '[G6] catalog refresh --offline of an unchanged folder succeeds' 0 mapm catalog refresh --offline
like '[G6] catalog refresh reports that the folder is unchanged' "$out" "^file:$T/ours  unchanged"
described "$T/ours/skills/maps" 'Draws maps.'
exits '[G6] catalog refresh of a changed folder succeeds' 0 mapm catalog refresh ../ours
like '[G6] catalog refresh reads a changed folder again' "$out" "^file:$T/ours  6 packages"
exits '[G6] search finds a new skill after the refresh' 0 mapm search maps
exits '[G6] install of the new skill from the folder succeeds' 0 mapm install --yes "file:$T/ours/skills/maps"
mv "$T/ours" "$T/gone"
exits '[G6] catalog refresh of a folder that is gone fails' 1 mapm catalog refresh
like '[G6] the error names the folder that cannot be refreshed' "$err" "cannot refresh file:$T/ours"
exits '[G6] search finds packages of a folder that is gone' 0 mapm search maps
exits '[G6] catalog remove of a folder that is gone succeeds' 0 mapm catalog remove "$T/ours"
exits '[G6] catalog add of an absent folder fails' 1 mapm catalog add ../ours
exits '[G6] catalog add of a folder without packages fails' 1 mapm catalog add "$T/repos"
mkdir -p "$T/copies/skills" "$T/copies/plugins/p/skills"
described "$T/copies/skills/same" 'Is there twice.'
cp -r "$T/copies/skills/same" "$T/copies/plugins/p/skills"
exits '[G6] catalog add of a folder with a copy of a skill succeeds' 0 mapm catalog add "$T/copies"
like '[G6] catalog add counts a copied skill once' "$out" "^file:$T/copies  1 package "
like '[G6] catalog list counts a copied skill once' "$(mapm catalog list)" "^file:$T/copies  1 package "
exits '[G6] catalog remove of the folder with a copy succeeds' 0 mapm catalog remove "$T/copies"
exits '[G6] catalog list after the last removal succeeds' 0 mapm catalog list
is '[G6] catalog list after the last removal prints nothing' "$out" ''
cd "$T" || exit 1

# --- a repository -----------------------------------------------------------------------

exits 'catalog add --offline of a repository fails' 1 mapm catalog add acme/catalog --offline
exits 'catalog add --json of a repository succeeds' 0 mapm catalog add acme/catalog --json
is 'catalog add --json reports the number of packages and the type' "$(json '[(c["packages"], c["type"], c["changed"], c["error"]) for c in d["catalogs"]]')" "[(5, 'git', True, None)]"
exits 'catalog list with a repository succeeds' 0 mapm catalog list
like 'catalog list shows the number of packages of the repository' "$out" 'acme/catalog  5 packages'
exits 'catalog add of the same repository by its URL succeeds' 0 mapm catalog add https://github.com/acme/catalog
like 'catalog add says that the repository is already a catalog' "$err" 'already one of your catalogs'
requests >/dev/null
exits 'search --json with several words succeeds' 0 mapm search tables in a pdf --json
is 'search returns the best match first, with version and description' \
    "$(json '[(p["name"], p["type"], p["version"], p["description"], p["tokens"] > 0, p["installed"]) for p in d["packages"]][0]')" \
    "('pdf-tables', 'skill', '1.2.0', 'Extracts tables from PDF files.', True, False)"
is 'search returns the origin of the best match' "$(json 'd["packages"][0]["origin"]')" https://github.com/acme/catalog/tree/main/skills/pdf-tables
before=$(requests)
exits 'search --json for an agent succeeds' 0 mapm search reviewer --json
is 'search returns the agent with its type' "$(json 'd["packages"][0]["type"]')" agent
exits 'search --json for a plugin succeeds' 0 mapm search office --json
is 'search returns the plugin with its entry and version' "$(json '[(p["type"], p["plugin"], p["version"], p["tokens"]) for p in d["packages"]][0]')" "('plugin', 'office', '2.1.0', None)"
exits 'search -v for a plugin that cannot be installed succeeds' 0 mapm search -v shell
like 'search -v gives the reason why the plugin cannot be installed' "$out" 'not installable: its source is a command'
exits 'search for one word succeeds' 0 mapm search letters
like 'a search result has name, type, tokens and catalog' "$out" 'letters .*skill .*tokens .*acme/catalog'
like 'a search result has one line of description' "$out" '    Writes letters.'
exits 'search without a match succeeds' 0 mapm search zzzzyx
like 'search without a match reports that there is none' "$err" 'no match'
exits '[G2] search with one unknown word succeeds' 0 mapm search pdf frobnicator
like '[G2] search with one unknown word still lists other matches' "$out" '^pdf-tables '
like '[G2] search names the word without a match' "$err" 'no match for: frobnicator$'
is 'search sends no request' "$(requests)" "$before"

exits '[G7] info of a skill by its name succeeds' 0 mapm info letters
like '[G7] info by name shows the origin' "$out" '^origin +https://github.com/acme/catalog/'
exits '[G7] info of a plugin by its name succeeds' 0 mapm info office
like '[G7] info shows the plugin as a plugin' "$out" '^plugin office'
exits 'install of a skill by its name alone fails' 1 mapm install letters
like 'the hint is the install command with the origin of the skill' "$err" 'hint: a catalog has it: mapm install https://github.com/acme/catalog/[^ ]*/letters$'
exits 'install of a plugin by its name alone fails' 1 mapm install office
like 'the hint is the install command with the catalog and --plugin' "$err" 'hint: a catalog has it: mapm install [^ ]* --plugin office$'
exits 'install of an unknown name fails' 1 mapm install lettres
like 'the hint for an unknown name shows the form of an origin' "$err" 'hint: write owner/repo'
exits '[G7] info of an unknown name fails' 1 mapm info lettres
exits 'catalog add of a marketplace file succeeds' 0 mapm catalog add https://github.com/acme/catalog/tree/main/.claude-plugin/marketplace.json
like 'the catalog of a marketplace file has only its plugins' "$out" 'marketplace.json  2 packages '
exits 'install of a plugin name that two catalogs have fails' 1 mapm install office
like 'the hint is the search for a name of several catalogs' "$err" 'hint: several catalogs have it: mapm search office$'
exits '[G7] info of a plugin name that two catalogs have fails' 1 mapm info office
like '[G7] the error lists both plugins in the form that info accepts' "$err" 'info with one of [^ ]* --plugin office, [^ ]* --plugin office$'
mapm catalog remove https://github.com/acme/catalog/tree/main/.claude-plugin/marketplace.json >/dev/null

# --- what is installed --------------------------------------------------------------------

mapm install --yes "$(mapm search letters --json | sed -n 's/.*"origin": "\(.*letters\)".*/\1/p')" >/dev/null 2>&1
exits 'search --json for an installed skill succeeds' 0 mapm search letters --json
is 'search returns an installed skill once, marked as installed' "$(json '[(p["name"], p["installed"]) for p in d["packages"] if p["name"] == "letters"]')" "[('letters', True)]"
described .agents/skills/own-songs 'Writes songs.'
exits 'search --json for a local skill without a catalog succeeds' 0 mapm search songs --json
is 'search returns the local skill without a catalog' "$(json '[(p["name"], p["installed"], p["catalog"], p["tokens"] > 0) for p in d["packages"]]')" "[('own-songs', True, None, True)]"
mapm install --yes acme/catalog/agents/reviewer >/dev/null 2>&1
mapm catalog remove acme/catalog >/dev/null
exits 'search --json for an installed agent without a catalog succeeds' 0 mapm search reviewer --json
is 'search returns the installed agent without a catalog' "$(json '[(p["name"], p["type"], p["installed"], p["origin"][-15:]) for p in d["packages"]]')" "[('reviewer', 'agent', True, 'agents/reviewer')]" ||
    diag "$out"
exits 'search without catalogs for a skill that is not installed succeeds' 0 mapm search tables
is 'search without catalogs prints nothing for it' "$out" ''

# --- refresh --------------------------------------------------------------------------------

mapm catalog add acme/catalog >/dev/null
before=$(requests)
exits 'catalog refresh of an unchanged repository succeeds' 0 mapm catalog refresh
like 'catalog refresh reports that the repository is unchanged' "$out" 'catalog  unchanged'
at_most 'catalog refresh of an unchanged repository sends at most two requests' "$(($(requests) - before))" 2
described "$T/src/skills/music" 'Composes melodies.'
make_repo acme/catalog "$T/src"
exits 'catalog refresh of a changed repository succeeds' 0 mapm catalog refresh acme/catalog
like 'catalog refresh reads a changed repository again' "$out" '6 packages'
exits 'search for a new skill of the repository succeeds' 0 mapm search melodies
like 'search finds the new skill of the repository' "$out" music
described "$T/src/skills/music" "Has a long text: $(head -c 700 /dev/zero | tr '\0' x)"
described "$T/src/skills/turned" "$(printf 'Has \342\200\256hidden\342\200\254 text')"
mkdir -p "$T/src/skills/broken" && printf -- '---\nname: [\n---\n' >"$T/src/skills/broken/SKILL.md"
make_repo acme/catalog "$T/src"
exits 'catalog refresh with invalid packages succeeds' 0 mapm catalog refresh
like 'catalog refresh counts the invalid packages that are left out' "$out" '6 packages, 2 left out as invalid'
exits 'search for a skill with a long description succeeds' 0 mapm search music
like 'search cuts a long description' "$out" '\.\.\.$'
rm -rf "$T/repos/acme/catalog.git"
exits 'catalog refresh --json of a repository that is gone fails' 1 mapm catalog refresh --json
is 'catalog refresh --json reports the failure in one document' "$(json '[(c["changed"], "catalog" in c["origin"], c["error"] is not None) for c in d["catalogs"]]')" '[(False, True, True)]'
exits 'catalog refresh of a repository that is gone fails' 1 mapm catalog refresh
like 'the error names the repository that cannot be refreshed' "$err" 'cannot refresh .*acme/catalog'
exits 'search after a failed refresh succeeds' 0 mapm search music
like 'search after a failed refresh finds the earlier entries' "$out" music
mkdir -p "$T/none/docs" && echo x >"$T/none/docs/x.md"
make_repo acme/none "$T/none"
exits 'catalog add of a repository without packages fails' 1 mapm catalog add acme/none
like 'the error says that the repository offers no package' "$err" 'offers nothing that mapm knows'
exits 'catalog list --json after the failed add succeeds' 0 mapm catalog list --json
is 'the repository without packages is not in the list' "$(json 'len(d["catalogs"])')" 1
printf 'dependencies: {}\ncatalogs:\n- acme/none\n' >mapm.yaml
mapm search music >/dev/null 2>&1
exits 'catalog list --json with catalogs in mapm.yaml succeeds' 0 mapm catalog list --json
is 'catalogs in mapm.yaml are not added to the list' "$(json 'len(d["catalogs"])')" 1

# --- an index ---------------------------------------------------------------------------------

mkdir -p "$T/srv/.well-known/agent-skills"
index=$T/srv/.well-known/agent-skills/index.json
zero=0000000000000000000000000000000000000000000000000000000000000000
write_index()
{
    printf '{"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json", "skills": [%s]}' "$1" >"$index"
}
one='{"name": "weather", "type": "skill-md", "description": "Tells the weather of a city.", "url": "../../skills/weather/SKILL.md", "digest": "sha256:'$zero'", "version": "3.0.0", "tokens": 77}'
write_index "$one"
serve_index "$T/srv" "$T/index.log"
host=http://$served
exits 'catalog add of a host with an index succeeds [W1, W4]' 0 mapm catalog add "$host"
exits 'search --json in an index succeeds' 0 mapm search weather --json
is 'search in an index returns an origin that mapm install accepts [X42]' "$(json '[(p["name"], p["version"], p["tokens"], p["origin"]) for p in d["packages"]]')" \
    "[('weather', '3.0.0', 77, '$host/.well-known/agent-skills/index.json?skill=weather')]"
echo /nowhere.json >"$index.location"
exits 'catalog refresh with one of two catalogs unavailable fails' 1 mapm catalog refresh
rm "$index.location"
like 'catalog refresh reports that the index is unchanged' "$out" 'index.json  unchanged'
is 'a refresh of an index is one conditional request [W8]' "$(sed -n 's/.* //p' "$T/index.log" | tr '\n' ' ')" '200 304 '
at()
{
    printf '{"name": "%s", "type": "skill-md", "description": "dots", "url": "%s", "digest": "sha256:%s"}' "$1" "$2" "$zero"
}
write_index "$(at a ../../x/./y/../z.md), $(at b ../../../../up), $(at c /a//b/../c/.), $(at d ..), $(at e "/$(printf %01100d 0)")"
exits '[row 44] catalog refresh of an index with dots in addresses succeeds' 0 mapm catalog refresh "$host"
exits '[row 44] search --json for skills with dots in addresses succeeds' 0 mapm search dots --json
is '[row 44] search finds all skills with dots, not the one with a long address' "$(json '" ".join(sorted(p["name"] for p in d["packages"]))')" 'a b c d'
write_index "$one, $one, {\"name\": \"turned\", \"type\": \"skill-md\", \"description\": \"A \\u202e turn\\u001b[31m\\nof songs\", \"url\": \"/s\", \"digest\": \"sha256:$zero\"}, {\"type\": \"x\"}, 7,
 {\"name\": \"Bad\", \"type\": \"archive\", \"description\": \"d\", \"url\": \"/a.zip\", \"digest\": \"sha256:$zero\"},
 {\"name\": \"off\", \"type\": \"archive\", \"description\": \"d\", \"url\": \"javascript:x\", \"digest\": \"sha256:$zero\"},
 {\"name\": \"nodigest\", \"type\": \"archive\", \"description\": \"d\", \"url\": \"/a.zip\"}"
exits 'catalog refresh of an index with invalid entries succeeds' 0 mapm catalog refresh "$host"
like 'catalog refresh leaves out the invalid entries alone [W2, W3, W5]' "$out" '2 packages, 6 left out'
exits 'search for text with control characters succeeds' 0 mapm search turn of songs
like 'search shows control characters escaped on one line' "$out" 'A \\u{202e} turn\\x1b.31m of songs'
before=$(cat "$index")
for bad in '{"skills": []}' '{"$schema": "https://x/9.9.9", "skills": []}' '{' '[]' \
    '{"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json", "skills": {}}'; do
    printf '%s' "$bad" >"$index"
    exits "catalog refresh fails with an invalid index: $bad [W1]" 1 mapm catalog refresh "$host"
done
printf '%s' "$before" >"$index"
exits 'search after an invalid index succeeds' 0 mapm search weather
like 'search after an invalid index finds the earlier entries' "$out" weather
echo "$host/moved/index.json" >"$index.redirect"
mkdir -p "$T/srv/moved" && write_index "$one" && cp "$index" "$T/srv/moved/index.json"
exits 'catalog refresh follows a redirect on the host [W8, row 44]' 0 mapm catalog refresh "$host"
echo 'https://other.example/index.json' >"$index.redirect"
exits 'catalog refresh refuses a redirect to another host' 1 mapm catalog refresh "$host"
like 'the error suggests mapm catalog add of the other host' "$err" 'mapm catalog add https://other.example/index.json'
exits 'catalog add of an http URL of another machine fails' 1 mapm catalog add http://example.com
like 'the error says that it is not an index URL' "$err" 'not an index URL'
exits 'catalog add of a host without an index fails' 1 mapm catalog add "$host/no/index.json"
like 'the error has the HTTP status' "$err" 'HTTP 404'
rm "$index.redirect"
python3 -S - "$index" "$zero" 100001 <<'PY'
import json, sys
one = {"type": "skill-md", "description": "d", "url": "/x", "digest": "sha256:" + sys.argv[2]}
json.dump({"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
           "skills": [dict(one, name=f"n{i}") for i in range(int(sys.argv[3]))]}, open(sys.argv[1], "w"))
PY
exits 'catalog refresh of an index with more than 100,000 skills fails' 1 mapm catalog refresh "$host"
like 'the error gives the limit of 100,000 skills [row 44]' "$err" 'more than 100000 skills'
exits 'catalog remove of an index succeeds' 0 mapm catalog remove "$host"
exits 'search after the removal of the index succeeds' 0 mapm search weather
is 'search after the removal of the index prints nothing' "$out" ''
done_testing

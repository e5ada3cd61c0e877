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

exits 'a search without a catalog' 0 mapm search pdf
like 'says how to add one' "$err" 'mapm catalog add ORIGIN'
exits 'nothing is listed' 0 mapm catalog list
is 'as an empty list' "$out" ''
exits 'a word is needed' 2 mapm search
exits 'not a blank one' 2 mapm search ' '
exits 'nor too many results' 2 mapm search pdf --limit 51
exits 'an unknown word' 2 mapm catalog frob
like 'is named' "$err" '"frob" is not one of'
exits 'add needs an origin' 2 mapm catalog add
exits 'list takes none' 2 mapm catalog list acme/catalog
exits 'what is not there is not removed' 1 mapm catalog remove acme/catalog
like 'and said' "$err" 'is not one of your catalogs'
exits 'a range is none' 1 mapm catalog add 'acme/catalog@^1.2'

# --- a folder of this machine --------------------------------------------------------------

mkdir -p "$T/ours/mcps" "$T/ours/skills/broken" "$T/here"
cp -r "$T/src/skills" "$T/src/.claude-plugin" "$T/ours"
mcp "$T/ours/mcps/io.acme_clock.json" io.acme/clock npx -y clock
printf -- '---\nname: [\n---\n' >"$T/ours/skills/broken/SKILL.md"
ln -s ../../src/skills/letters "$T/ours/skills/linked"
cd "$T/here" || exit 1
exits '[G6] a folder is a catalog' 0 mapm catalog add ../ours
like '[G6] with what it offers' "$out" "^file:$T/ours  5 packages, 1 left out as invalid  refreshed "
exits '[G6] it is there already' 0 mapm catalog add "file:$T/ours"
like '[G6] by its path' "$err" 'is already one of your catalogs'
exits '[G6] it is listed' 0 mapm catalog list --json
is '[G6] as a folder' "$(json '[(c["origin"], c["type"], c["commit"]) for c in d["catalogs"]]')" \
    "[('file:$T/ours', 'folder', None)]"
exits '[G6] its packages are found' 0 mapm search --json tables
is '[G6] by what mapm install takes' "$(json 'd["packages"][0]["origin"]')" "file:$T/ours/skills/pdf-tables"
exits '[G6] so are its plugins' 0 mapm search spreadsheets
like '[G6] with their marketplace' "$out" "office.*$T/ours"
exits '[G6] and servers' 0 mapm search clock
like '[G6] by their files' "$out" '^io.acme/clock +mcp'
exits '[G6] which info describes' 0 mapm info "file:$T/ours/skills/letters"
exits '[G6] an unchanged one, without the network' 0 mapm catalog refresh --offline
like '[G6] is told' "$out" "^file:$T/ours  unchanged"
described "$T/ours/skills/maps" 'Draws maps.'
exits '[G6] a changed one' 0 mapm catalog refresh ../ours
like '[G6] is read again' "$out" "^file:$T/ours  6 packages"
exits '[G6] what is new is found' 0 mapm search maps
exits '[G6] and installed' 0 mapm install --yes "file:$T/ours/skills/maps"
mv "$T/ours" "$T/gone"
exits '[G6] one that is gone' 1 mapm catalog refresh
like '[G6] is named' "$err" "cannot refresh file:$T/ours"
exits '[G6] and keeps what it offered' 0 mapm search maps
exits '[G6] until it is removed' 0 mapm catalog remove "$T/ours"
exits '[G6] one that is not there' 1 mapm catalog add ../ours
exits '[G6] nor is one without packages' 1 mapm catalog add "$T/repos"
mkdir -p "$T/copies/skills" "$T/copies/plugins/p/skills"
described "$T/copies/skills/same" 'Is there twice.'
cp -r "$T/copies/skills/same" "$T/copies/plugins/p/skills"
exits '[G6] one with a copy' 0 mapm catalog add "$T/copies"
like '[G6] counts it once' "$out" "^file:$T/copies  1 package "
like '[G6] as the list does' "$(mapm catalog list)" "^file:$T/copies  1 package "
exits '[G6] and goes' 0 mapm catalog remove "$T/copies"
exits '[G6] none is left' 0 mapm catalog list
is '[G6] of them' "$out" ''
cd "$T" || exit 1

# --- a repository -----------------------------------------------------------------------

exits 'nothing is asked offline' 1 mapm catalog add acme/catalog --offline
exits 'a catalog is added' 0 mapm catalog add acme/catalog --json
is 'with what it offers' "$(json '[(c["packages"], c["type"], c["changed"], c["error"]) for c in d["catalogs"]]')" "[(5, 'git', True, None)]"
exits 'it is listed' 0 mapm catalog list
like 'with the number of its packages' "$out" 'acme/catalog  5 packages'
exits 'twice is once' 0 mapm catalog add https://github.com/acme/catalog
like 'and said' "$err" 'already one of your catalogs'
requests >/dev/null
exits 'a search' 0 mapm search tables in a pdf --json
is 'finds the best first, with all that G6 names' \
    "$(json '[(p["name"], p["type"], p["version"], p["description"], p["tokens"] > 0, p["installed"]) for p in d["packages"]][0]')" \
    "('pdf-tables', 'skill', '1.2.0', 'Extracts tables from PDF files.', True, False)"
is 'and where it is' "$(json 'd["packages"][0]["origin"]')" https://github.com/acme/catalog/tree/main/skills/pdf-tables
before=$(requests)
exits 'an agent is found' 0 mapm search reviewer --json
is 'by its kind' "$(json 'd["packages"][0]["type"]')" agent
exits 'a plugin is found' 0 mapm search office --json
is 'with its entry and its version' "$(json '[(p["type"], p["plugin"], p["version"], p["tokens"]) for p in d["packages"]][0]')" "('plugin', 'office', '2.1.0', None)"
exits 'one that cannot be installed' 0 mapm search -v shell
like 'says why' "$out" 'not installable: its source is a command'
exits 'words' 0 mapm search letters
like 'name the catalog' "$out" 'letters .*skill .*tokens .*acme/catalog'
like 'and have one line of description' "$out" '    Writes letters.'
exits 'no match' 0 mapm search zzzzyx
like 'is said' "$err" 'no match'
exits '[G2] a word that is in no description' 0 mapm search pdf frobnicator
like '[G2] does not hide the others' "$out" '^pdf-tables '
like '[G2] and is named' "$err" 'no match for: frobnicator$'
is 'a search makes no request' "$(requests)" "$before"

exits '[G7] what is found is shown by its name' 0 mapm info letters
like '[G7] with its origin' "$out" '^origin +https://github.com/acme/catalog/'
exits '[G7] a plugin, too' 0 mapm info office
like '[G7] as one' "$out" '^plugin office'
exits 'a name in place of an origin' 1 mapm install letters
like 'has the command with its origin as hint' "$err" 'hint: a catalog has it: mapm install https://github.com/acme/catalog/[^ ]*/letters$'
exits 'that of a plugin' 1 mapm install office
like 'the origin of its catalog and its name' "$err" 'hint: a catalog has it: mapm install [^ ]* --plugin office$'
exits 'that of no package' 1 mapm install lettres
like 'the forms of an origin' "$err" 'hint: write owner/repo'
exits '[G7] what no catalog offers' 1 mapm info lettres
exits 'a marketplace by its file' 0 mapm catalog add https://github.com/acme/catalog/tree/main/.claude-plugin/marketplace.json
like 'is its plugins alone' "$out" 'marketplace.json  2 packages '
exits 'such a name in place of an origin' 1 mapm install office
like 'the search, which lists both' "$err" 'hint: several catalogs have it: mapm search office$'
exits '[G7] a plugin of two catalogs' 1 mapm info office
like '[G7] is named as info takes it' "$err" 'info with one of [^ ]* --plugin office, [^ ]* --plugin office$'
mapm catalog remove https://github.com/acme/catalog/tree/main/.claude-plugin/marketplace.json >/dev/null

# --- what is installed --------------------------------------------------------------------

mapm install --yes "$(mapm search letters --json | sed -n 's/.*"origin": "\(.*letters\)".*/\1/p')" >/dev/null 2>&1
exits 'what is installed' 0 mapm search letters --json
is 'is one result, marked' "$(json '[(p["name"], p["installed"]) for p in d["packages"] if p["name"] == "letters"]')" "[('letters', True)]"
described .agents/skills/own-songs 'Writes songs.'
exits 'a skill of no catalog' 0 mapm search songs --json
is 'is found, too' "$(json '[(p["name"], p["installed"], p["catalog"], p["tokens"] > 0) for p in d["packages"]]')" "[('own-songs', True, None, True)]"
mapm install --yes acme/catalog/agents/reviewer >/dev/null 2>&1
mapm catalog remove acme/catalog >/dev/null
exits 'an installed agent' 0 mapm search reviewer --json
is 'of no catalog is found' "$(json '[(p["name"], p["type"], p["installed"], p["origin"][-15:]) for p in d["packages"]]')" "[('reviewer', 'agent', True, 'agents/reviewer')]" ||
    diag "$out"
exits 'without catalogs nothing else is' 0 mapm search tables
is 'found' "$out" ''

# --- refresh --------------------------------------------------------------------------------

mapm catalog add acme/catalog >/dev/null
before=$(requests)
exits 'a refresh' 0 mapm catalog refresh
like 'of what has not changed' "$out" 'catalog  unchanged'
at_most 'is one ls-refs' "$(($(requests) - before))" 2
described "$T/src/skills/music" 'Composes melodies.'
make_repo acme/catalog "$T/src"
exits 'after a change' 0 mapm catalog refresh acme/catalog
like 'it is read again' "$out" '6 packages'
exits 'and found' 0 mapm search melodies
like 'by its new skill' "$out" music
described "$T/src/skills/music" "Has a long text: $(head -c 700 /dev/zero | tr '\0' x)"
described "$T/src/skills/turned" "$(printf 'Has \342\200\256hidden\342\200\254 text')"
mkdir -p "$T/src/skills/broken" && printf -- '---\nname: [\n---\n' >"$T/src/skills/broken/SKILL.md"
make_repo acme/catalog "$T/src"
exits 'what mapm would not install' 0 mapm catalog refresh
like 'is left out, and counted' "$out" '6 packages, 2 left out as invalid'
exits 'a long description' 0 mapm search music
like 'is one line of bounded length' "$out" '\.\.\.$'
rm -rf "$T/repos/acme/catalog.git"
exits 'a repository that is gone' 1 mapm catalog refresh --json
is 'is one document for programs' "$(json '[(c["changed"], "catalog" in c["origin"], c["error"] is not None) for c in d["catalogs"]]')" '[(False, True, True)]'
exits 'and for a person' 1 mapm catalog refresh
like 'is named' "$err" 'cannot refresh .*acme/catalog'
exits 'and its entries stay' 0 mapm search music
like 'as they were' "$out" music
mkdir -p "$T/none/docs" && echo x >"$T/none/docs/x.md"
make_repo acme/none "$T/none"
exits 'a repository that offers nothing' 1 mapm catalog add acme/none
like 'is no catalog' "$err" 'offers nothing that mapm knows'
exits 'and is not kept' 0 mapm catalog list --json
is 'in the list' "$(json 'len(d["catalogs"])')" 1
printf 'dependencies: {}\ncatalogs:\n- acme/none\n' >mapm.yaml
mapm search music >/dev/null 2>&1
exits 'no file of a workspace adds one' 0 mapm catalog list --json
is 'to the list' "$(json 'len(d["catalogs"])')" 1

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
exits 'an index is added by its host [W1, W4]' 0 mapm catalog add "$host"
exits 'and searched' 0 mapm search weather --json
is 'as mapm install takes it [X42]' "$(json '[(p["name"], p["version"], p["tokens"], p["origin"]) for p in d["packages"]]')" \
    "[('weather', '3.0.0', 77, '$host/.well-known/agent-skills/index.json?skill=weather')]"
echo /nowhere.json >"$index.location"
exits 'a refresh' 1 mapm catalog refresh
rm "$index.location"
like 'of what has not changed' "$out" 'index.json  unchanged'
is 'is one conditional request [W8]' "$(sed -n 's/.* //p' "$T/index.log" | tr '\n' ' ')" '200 304 '
at()
{
    printf '{"name": "%s", "type": "skill-md", "description": "dots", "url": "%s", "digest": "sha256:%s"}' "$1" "$2" "$zero"
}
write_index "$(at a ../../x/./y/../z.md), $(at b ../../../../up), $(at c /a//b/../c/.), $(at d ..), $(at e "/$(printf %01100d 0)")"
exits '[row 44] addresses with dots, and one that is too long' 0 mapm catalog refresh "$host"
exits '[row 44] are searched' 0 mapm search dots --json
is '[row 44] by their names, but for the long one' "$(json '" ".join(sorted(p["name"] for p in d["packages"]))')" 'a b c d'
write_index "$one, $one, {\"name\": \"turned\", \"type\": \"skill-md\", \"description\": \"A \\u202e turn\\u001b[31m\\nof songs\", \"url\": \"/s\", \"digest\": \"sha256:$zero\"}, {\"type\": \"x\"}, 7,
 {\"name\": \"Bad\", \"type\": \"archive\", \"description\": \"d\", \"url\": \"/a.zip\", \"digest\": \"sha256:$zero\"},
 {\"name\": \"off\", \"type\": \"archive\", \"description\": \"d\", \"url\": \"javascript:x\", \"digest\": \"sha256:$zero\"},
 {\"name\": \"nodigest\", \"type\": \"archive\", \"description\": \"d\", \"url\": \"/a.zip\"}"
exits 'what breaks the rules' 0 mapm catalog refresh "$host"
like 'is left out alone [W2, W3, W5]' "$out" '2 packages, 6 left out'
exits 'text of strangers' 0 mapm search turn of songs
like 'is shown on one line, not obeyed' "$out" 'A \\u{202e} turn\\x1b.31m of songs'
before=$(cat "$index")
for bad in '{"skills": []}' '{"$schema": "https://x/9.9.9", "skills": []}' '{' '[]' \
    '{"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json", "skills": {}}'; do
    printf '%s' "$bad" >"$index"
    exits "an index that is none: $bad [W1]" 1 mapm catalog refresh "$host"
done
printf '%s' "$before" >"$index"
exits 'leaves its entries' 0 mapm search weather
like 'as they were' "$out" weather
echo "$host/moved/index.json" >"$index.redirect"
mkdir -p "$T/srv/moved" && write_index "$one" && cp "$index" "$T/srv/moved/index.json"
exits 'a redirect on the host is followed [W8, row 44]' 0 mapm catalog refresh "$host"
echo 'https://other.example/index.json' >"$index.redirect"
exits 'to another host it is not' 1 mapm catalog refresh "$host"
like 'but named' "$err" 'mapm catalog add https://other.example/index.json'
exits 'http is for this machine' 1 mapm catalog add http://example.com
like 'which is said' "$err" 'not an index URL'
exits 'a host without an index' 1 mapm catalog add "$host/no/index.json"
like 'has the status' "$err" 'HTTP 404'
rm "$index.redirect"
python3 -S - "$index" "$zero" 100001 <<'PY'
import json, sys
one = {"type": "skill-md", "description": "d", "url": "/x", "digest": "sha256:" + sys.argv[2]}
json.dump({"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json",
           "skills": [dict(one, name=f"n{i}") for i in range(int(sys.argv[3]))]}, open(sys.argv[1], "w"))
PY
exits 'an index of more than 100,000 skills' 1 mapm catalog refresh "$host"
like 'is refused [row 44]' "$err" 'more than 100000 skills'
exits 'an index is removed' 0 mapm catalog remove "$host"
exits 'with its entries' 0 mapm search weather
is 'all of them' "$out" ''
done_testing

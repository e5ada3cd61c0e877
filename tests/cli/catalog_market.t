#!/bin/sh
# mapm catalog index --marketplace: a marketplace.json of a folder. [G13]
. "$(dirname "$0")/../lib/cli.sh"

mkdir shop && cd shop || exit
market=.claude-plugin/marketplace.json
exits 'catalog index --marketplace fails in an empty folder' 1 mapm catalog index --marketplace .
ok 'a failed index writes no marketplace' test ! -e .claude-plugin

mapm new plugin one --description 'Does one. Use it when one is asked for.' >/dev/null 2>&1
mapm new plugin two >/dev/null 2>&1
rm -r plugins/two/.claude-plugin
mkdir -p plugins/bad/.claude-plugin plugins/same/.claude-plugin
echo '{"name": "a b"}' >plugins/bad/.claude-plugin/plugin.json
echo '{"name": "one"}' >plugins/same/.claude-plugin/plugin.json
skill skills/solo
skill .claude/skills/copy
exits 'catalog index --marketplace succeeds with plugins and a skill' 0 mapm catalog index --marketplace .
like 'the index counts plugins and skills without a plugin' "$out" '^.claude-plugin/marketplace.json  2 plugins, 1 skill in no plugin$'
like 'the index warns about an invalid plugin' "$err" 'plugins/bad is left out: it is not valid'
like 'the index warns about a second plugin of the same name' "$err" 'plugins/same is left out: another plugin has this name'
is 'marketplace.json has plugins and skills with their sources' "$(python3 -S -c '
import json
for p in json.load(open("'$market'"))["plugins"]:
    print(p["name"], p["source"], p.get("version"), p.get("skills"))')" \
    "one ./plugins/one 0.1.0 None
two ./plugins/two 0.1.0 None
shop-skills ./ None ['./skills/solo']"
exits 'check --profile marketplace succeeds for the new file' 0 mapm check --profile marketplace --strict .
like 'check prints no warning for the new file' "$out" '^checked 1: 0 errors, 0 warnings$'
cp $market before
exits 'a second catalog index --marketplace succeeds' 0 mapm catalog index --marketplace .
ok 'a second index writes the same bytes' cmp -s before $market

cat >$market <<'JSON'
{"name": "mine", "owner": {"name": "me", "email": "x"}, "more": [1], "plugins": [
    {"name": "gone", "source": "./plugins/gone"},
    {"name": "far", "source": {"source": "github", "repo": "a/b"}, "category": "x"}]}
JSON
exits 'catalog index --json --marketplace succeeds over an edited file' 0 mapm catalog index --json --marketplace .
is 'the index keeps fields and entries that are not of the folder' "$(python3 -S -c '
import json
d = json.load(open("'$market'"))
print(d["name"], d["owner"]["email"], d["more"], [p["name"] for p in d["plugins"]], d["plugins"][-1]["category"])')" \
    "mine x [1] ['one', 'two', 'mine-skills', 'far'] x"
is 'catalog index --json lists plugins, left out ones and skills' "$(python3 -S -c '
import json, sys
d = json.load(open("'"$T/out"'"))
print(d["marketplace"], [(p["name"], bool(p["left_out"])) for p in d["plugins"]], d["skills"])')" \
    ".claude-plugin/marketplace.json [('a b', True), ('one', False), ('one', True), ('two', False)] ['skills/solo']"
echo '{' >$market
exits 'catalog index --marketplace fails for a malformed marketplace.json' 1 mapm catalog index --marketplace .
is 'the malformed marketplace.json stays unchanged' "$(cat $market)" '{'
exits 'catalog list --marketplace is a usage error' 2 mapm catalog list --marketplace
exits 'catalog index --marketplace without a folder is a usage error' 2 mapm catalog index --marketplace
done_testing

#!/bin/sh
# What a folder of skills publishes: the index of .well-known/agent-skills and a
# page with a search. [G9].
. "$(dirname "$0")/../lib/cli.sh"
. "$ROOT/tests/lib/index.sh"

index=.well-known/agent-skills/index.json
page=.well-known/agent-skills/index.html

# py PROGRAM: with the index as d.
py()
{
    python3 -S -c 'import hashlib, io, json, re, sys, zipfile
d = json.load(open(".well-known/agent-skills/index.json"))
by = {s["name"]: s for s in d["skills"]}
exec(sys.argv[1])' "$1" 2>&1
}

exits 'a folder is needed' 2 mapm catalog index
exits 'one' 2 mapm catalog index . .
exits 'that is there' 1 mapm catalog index nowhere
mkdir empty
exits 'without a skill' 1 mapm catalog index empty
like 'it is said' "$err" 'no skill for an index'

mkdir -p site/skills/hello site/skills/tables/scripts site/skills/bad site/other/hello site/.agents/skills/copy site/skills/linked
cd site || exit 1
printf -- '---\nname: hello\ndescription: Says hello <script>alert(1)</script> & more.\nlicense: MIT\nmetadata:\n  version: "1.2.0"\n  tags: greet, words\n---\nHello.\n' >skills/hello/SKILL.md
cp skills/hello/SKILL.md other/hello/SKILL.md
printf -- '---\nname: tables\ndescription: Extracts tables from PDF files.\n---\nRun scripts/x.\n' >skills/tables/SKILL.md
printf '#!/bin/sh\necho x\n' >skills/tables/scripts/x
chmod 755 skills/tables/scripts/x
printf -- '---\nname: bad\n---\nNothing.\n' >skills/bad/SKILL.md
printf -- '---\nname: copy\ndescription: Was installed.\n---\nx\n' >.agents/skills/copy/SKILL.md
printf -- '---\nname: linked\ndescription: Leads away.\n---\nx\n' >skills/linked/SKILL.md
ln -s /etc/passwd skills/linked/passwd

exits 'an index is written' 0 mapm catalog index .
like 'and counted' "$out" 'index.json  2 skills'
like 'what is invalid is left out [W3]' "$err" 'skills/bad is left out'
like 'so is a link, whatever it leads to [W7]' "$err" 'skills/linked is left out: .*link'
like 'and a name that is there' "$err" 'hello is left out: .*hello has its name, too'
not_ok 'nothing of what links lead to is in it' grep -rq root: .well-known
is 'it is of version 0.2.0 [W1]' "$(py 'print(d["$schema"])')" https://schemas.agentskills.io/discovery/0.2.0/schema.json
is 'with all that the format wants [W2]' "$(py 'print(all(set(s) >= {"name", "type", "description", "url", "digest"} for s in d["skills"]), sorted(by))')" "True ['hello', 'tables']"
is 'a SKILL.md alone is one [W4, W5]' \
    "$(py 's = by["hello"]; print(s["type"], s["url"], s["digest"] == "sha256:" + hashlib.sha256(open(".well-known/agent-skills/" + s["url"], "rb").read()).hexdigest())')" \
    'skill-md ../../other/hello/SKILL.md True'
is 'with members that others ignore [W2]' "$(py 's = by["hello"]; print(s["version"], s["license"], s["tags"], s["tokens"] > 20, s["files"])')" "1.2.0 MIT ['greet', 'words'] True 1"
is 'one with other files is an archive, its content at the root [W5, W6]' "$(py '
s = by["tables"]
raw = open(".well-known/agent-skills/" + s["url"], "rb").read()
z = zipfile.ZipFile(io.BytesIO(raw))
print(s["type"], s["url"], s["digest"] == "sha256:" + hashlib.sha256(raw).hexdigest(), z.testzip(), z.namelist(),
      z.read("scripts/x") == open("skills/tables/scripts/x", "rb").read(),
      [oct(i.external_attr >> 16) for i in z.infolist()])')" \
    "archive tables.zip True None ['SKILL.md', 'scripts/x'] True ['0o100644', '0o100755']"
sum=$(cat .well-known/agent-skills/* | sha256sum)
touch skills/tables/SKILL.md
exits 'again' 0 mapm catalog index . --json
is 'it is the same' "$(cat .well-known/agent-skills/* | sha256sum)" "$sum"
like 'told to programs, too' "$out" '"left_out": "skills/linked|"left_out": ".*passwd'
exits 'of a name that is no path' 0 mapm catalog index "$T/ws/site"
mkdir -p 'skills/with blank %' && printf -- '---\nname: blank\ndescription: Has a blank.\n---\nx\n' >'skills/with blank %/SKILL.md'
exits 'names of folders' 0 mapm catalog index .
is 'are encoded [W4]' "$(py 'print(by.get("blank", {}).get("url"))')" '../../skills/with%20blank%20%25/SKILL.md'

# --- what mapm makes of it ---------------------------------------------------------------

serve_index "$T/ws/site" "$T/index.log"
exits 'it is a catalog' 0 mapm catalog add "http://$served"
like 'of all that it has' "$out" '3 packages '
exits 'that is searched' 0 mapm search hello
like 'with its members' "$out" 'hello +skill +1.2.0 +[0-9]+ tokens'

# --- the page -------------------------------------------------------------------------------

is 'the page runs one script, known by its hash' "$(python3 -S -c '
import base64, hashlib, re
t = open(".well-known/agent-skills/index.html").read()
s = re.findall(r"<script>(.*?)</script>", t, re.S)
h = base64.b64encode(hashlib.sha256(s[0].encode()).digest()).decode()
print(len(s), "script-src \x27sha256-" + h + "\x27" in t, "default-src \x27none\x27" in t, "alert(1)</script>" in t, "http:" in t)')" \
    '1 True True False False'
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
# dom PAGE HASH SIZE: what the page is after its script, without a network.
dom()
{
    "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$T/chromium" \
        --proxy-server=127.0.0.1:9 --window-size="$3" --virtual-time-budget=2000 \
        --dump-dom "file://$1#q=$2" 2>/dev/null
}
shown()
{
    python3 -S -c '
import re, sys
t = sys.stdin.read()
rows = re.findall(r"<li([^>]*)><h2>.*?<bdi>(.*?)</bdi>", t, re.S)
print([n for a, n in rows if "hidden" not in a], re.search(r"id=.count.[^>]*>(.*?)<", t).group(1))'
}
if [ -z "$chromium" ]; then
    skip 'the page in a browser' 'chromium is not installed'
else
    is 'from file:// it lists all' "$(dom "$PWD/$page" '' 1280,900 | shown)" "['blank', 'hello', 'tables'] 3 skills"
    is 'and searches' "$(dom "$PWD/$page" pdf%20tables 1280,900 | shown)" "['tables'] 1 of 3 skills"
    is 'in names first' "$(dom "$PWD/$page" a 360,800 | shown | sed 's/.*\] //')" '3 skills'
    is 'and finds nothing where nothing is' "$(dom "$PWD/$page" zzz 360,800 | shown)" '[] 0 of 3 skills'
    dom "$PWD/$page" '' 1280,900 | grep -q 'role="search"' && pass 'with a field' || fail 'with a field'
    i=0
    while [ $i -lt 300 ]; do
        mkdir -p "skills/$i-a-skill-with-a-rather-long-name-for-a-page"
        printf -- '---\nname: %s\ndescription: %s\n---\nx\n' "$i-a-skill-with-a-rather-long-name-for-a-page" \
            "$(printf '%0300d' "$i")" >"skills/$i-a-skill-with-a-rather-long-name-for-a-page/SKILL.md"
        i=$((i + 1))
    done
    mapm catalog index . >/dev/null 2>&1
    cp "$page" "$T/ws/catalog.html"
    if python3 -S "$ROOT/tests/lib/browser.py" "$chromium" "$T" "light:$T/ws/catalog.html" \
        "dark:$T/ws/catalog.html" >"$T/seen" 2>"$T/browser.err"; then
        is 'on a phone nothing scrolls sideways, nothing else is asked for' "$(python3 -S -c 'import json, sys
d = json.load(open(sys.argv[1])); p = d["pages"]["catalog.html"]
print(p["wide_open"] <= 360, d["pwned"], d["foreign"], p["dark"] < 60 < 200 < p["light"])' "$T/seen")" \
            'True None [] True'
    else
        fail 'the browser looked at the page'
        diag "$(tail -n 20 "$T/browser.err")"
    fi
fi
done_testing

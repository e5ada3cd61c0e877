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

exits 'catalog index without a folder is a usage error' 2 mapm catalog index
exits 'catalog index with two folders is a usage error' 2 mapm catalog index . .
exits 'catalog index of an absent folder fails' 1 mapm catalog index nowhere
mkdir empty
exits 'catalog index of a folder without skills fails' 1 mapm catalog index empty
like 'the error says that there is no skill for an index' "$err" 'no skill for an index'

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

exits 'catalog index of a folder with skills succeeds' 0 mapm catalog index .
like 'catalog index reports the number of skills' "$out" 'index.json  2 skills'
like 'catalog index leaves out an invalid skill [W3]' "$err" 'skills/bad is left out'
like 'catalog index leaves out a skill with a link [W7]' "$err" 'skills/linked is left out: .*link'
like 'catalog index leaves out a second skill of a name' "$err" 'hello is left out: .*hello has its name, too'
not_ok 'the index has nothing of the target of a link' grep -rq root: .well-known
is 'the index is of version 0.2.0 [W1]' "$(py 'print(d["$schema"])')" https://schemas.agentskills.io/discovery/0.2.0/schema.json
is 'each skill of the index has all required members [W2]' "$(py 'print(all(set(s) >= {"name", "type", "description", "url", "digest"} for s in d["skills"]), sorted(by))')" "True ['hello', 'tables']"
is 'a skill of one file is listed with its path and digest [W4, W5]' \
    "$(py 's = by["hello"]; print(s["type"], s["url"], s["digest"] == "sha256:" + hashlib.sha256(open(".well-known/agent-skills/" + s["url"], "rb").read()).hexdigest())')" \
    'skill-md ../../other/hello/SKILL.md True'
is 'a skill has the optional members version, license, tags and tokens [W2]' "$(py 's = by["hello"]; print(s["version"], s["license"], s["tags"], s["tokens"] > 20, s["files"])')" "1.2.0 MIT ['greet', 'words'] True 1"
is 'a skill of several files is a zip archive with its digest [W5, W6]' "$(py '
s = by["tables"]
raw = open(".well-known/agent-skills/" + s["url"], "rb").read()
z = zipfile.ZipFile(io.BytesIO(raw))
print(s["type"], s["url"], s["digest"] == "sha256:" + hashlib.sha256(raw).hexdigest(), z.testzip(), z.namelist(),
      z.read("scripts/x") == open("skills/tables/scripts/x", "rb").read(),
      [oct(i.external_attr >> 16) for i in z.infolist()])')" \
    "archive tables.zip True None ['SKILL.md', 'scripts/x'] True ['0o100644', '0o100755']"
sum=$(cat .well-known/agent-skills/* | sha256sum)
touch skills/tables/SKILL.md
exits 'a second catalog index --json succeeds' 0 mapm catalog index . --json
is 'a second catalog index writes the same files' "$(cat .well-known/agent-skills/* | sha256sum)" "$sum"
like 'catalog index --json lists the skills left out' "$out" '"left_out": "skills/linked|"left_out": ".*passwd'
exits 'catalog index with an absolute path succeeds' 0 mapm catalog index "$T/ws/site"
mkdir -p 'skills/with blank %' && printf -- '---\nname: blank\ndescription: Has a blank.\n---\nx\n' >'skills/with blank %/SKILL.md'
exits 'catalog index with a blank in the name of a folder succeeds' 0 mapm catalog index .
is 'the index has the URL of such a folder encoded [W4]' "$(py 'print(by.get("blank", {}).get("url"))')" '../../skills/with%20blank%20%25/SKILL.md'

# --- what mapm makes of it ---------------------------------------------------------------

serve_index "$T/ws/site" "$T/index.log"
exits 'catalog add of the published index succeeds' 0 mapm catalog add "http://$served"
like 'catalog add counts the skills of the index' "$out" '3 packages '
exits 'search in the published index succeeds' 0 mapm search hello
like 'search shows version and tokens of the index' "$out" 'hello +skill +1.2.0 +[0-9]+ tokens'

# --- the page -------------------------------------------------------------------------------

is 'the page has one script that its policy allows by hash' "$(python3 -S -c '
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
    is 'the page lists all skills from a file URL' "$(dom "$PWD/$page" '' 1280,900 | shown)" "['blank', 'hello', 'tables'] 3 skills"
    is 'the page lists the skills that match the search' "$(dom "$PWD/$page" pdf%20tables 1280,900 | shown)" "['tables'] 1 of 3 skills"
    is 'the page lists all skills for a letter that all have' "$(dom "$PWD/$page" a 360,800 | shown | sed 's/.*\] //')" '3 skills'
    is 'the page lists no skill for a word without a match' "$(dom "$PWD/$page" zzz 360,800 | shown)" '[] 0 of 3 skills'
    dom "$PWD/$page" '' 1280,900 | grep -q 'role="search"' && pass 'the page has a search field' || fail 'the page has a search field'
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
        is 'the page fits a phone, loads nothing else and has both themes' "$(python3 -S -c 'import json, sys
d = json.load(open(sys.argv[1])); p = d["pages"]["catalog.html"]
print(p["wide_open"] <= 360, d["pwned"], d["foreign"], p["dark"] < 60 < 200 < p["light"])' "$T/seen")" \
            'True None [] True'
    else
        fail 'the browser loads the page'
        diag "$(tail -n 20 "$T/browser.err")"
    fi
fi
done_testing

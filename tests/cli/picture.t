#!/bin/sh
# The closure as a picture: a page and an SVG file, laid out by graphviz. [G14].
. "$(dirname "$0")/../lib/cli.sh"
command -v dot >/dev/null || skip_all 'graphviz is not installed'
s=$T/src
U=https://github.com/acme/catalog/tree/main/skills

skill "$s/skills/base" 'scope: acme' 'version: 1.0.0'
skill "$s/skills/left" 'scope: acme' 'version: 1.0.0' 'dependencies:' '  skills:' "    - $U/base"
skill "$s/skills/right" 'scope: acme' 'version: 1.0.0' 'dependencies:' '  skills:' "    - $U/base"
skill "$s/skills/top" 'scope: acme' 'version: 1.0.0' 'dependencies:' '  skills:' "    - $U/left" "    - $U/right"
skill "$s/skills/alone" 'version: "1 </FONT></TABLE>><script>pwned=1</script>&amp;"'
skill "$s/skills/goes"
make_repo acme/catalog "$s"
start_githost
exits '[G14] tree --html of an empty workspace succeeds' 0 mapm tree --html none.html
exits 'install of a diamond of dependencies and two skills succeeds' 0 mapm install "$U/top" "$U/alone" "$U/goes"

# What `dot` drew: "nodes edges" of the page or file.
drawn()
{
    python3 -S -c 'import re, sys, xml.etree.ElementTree as E
t = open(sys.argv[1]).read()
svg = E.fromstring(t[t.index("<svg"):t.index("</svg>") + 6])
of = [g.get("class") for g in svg.iter("{http://www.w3.org/2000/svg}g")]
words = [x.text for x in svg.iter("{http://www.w3.org/2000/svg}text")]
print(of.count("node"), of.count("edge"), *[w for w in sys.argv[2:] if w in words])' "$@"
}

exits '[G14] tree --html succeeds' 0 mapm tree --html page.html
is '[G14] tree --html prints the name of the file' "$out" 'wrote page.html'
is '[G14] packages with edges are nodes and the others share one node' "$(drawn page.html top acme/top acme/catalog alone)" \
    '5 4 acme/top acme/catalog alone'
like '[G14] the page counts the packages by type' "$(cat page.html)" '>6 skills<'
like '[G14] the page says that nothing is outdated' "$(cat page.html)" 'nothing is outdated'
like '[G14] the list of the page has the needs of a package' "$(cat page.html)" 'needs <a href="#p[0-9]+"><bdi>acme/left'
unlike '[G14, row 22] no text of a package becomes markup' "$(cat page.html)" '<script'
unlike '[G14] the page loads nothing from another place' "$(grep -v '^ viewBox' page.html)" 'src=|url\(|@import'
exits '[G14] tree --svg succeeds' 0 mapm tree --svg picture.svg
is '[G14] tree --svg draws the same nodes and edges' "$(drawn picture.svg acme/base)" '5 4 acme/base'
is '[G14] tree --svg with a dash prints to standard output' "$(mapm tree --svg - | head -c 4)" '<svg'
is '[G14] tree --html --offline sends no request' "$(requests >/dev/null; n=$(requests); mapm --offline tree --html off.html >/dev/null; echo $(($(requests) - n)))" 0
like '[G14] the page of --offline says that nothing was compared' "$(cat off.html)" 'not compared with the origins'

# --- what is not as upstream --------------------------------------------------------

rm -rf "$s/skills/goes"
skill "$s/skills/left" 'scope: acme' 'version: 1.1.0' 'dependencies:' '  skills:' "    - $U/base"
make_repo acme/catalog "$s"
echo 'Ours.' >>.agents/skills/base/SKILL.md
exits 'patch of an edited skill succeeds' 0 mapm patch base
exits '[G14] tree --html with a changed upstream succeeds' 0 mapm tree --html page.html
for words in '1 patched' '1 outdated' '1 gone upstream' 'outdated: 1.1.0' '(patched)'; do
    ok "[G14] the page has the words $words" grep -qF "$words" page.html
done
is '[G14] the picture has the states outdated, gone upstream and patched' "$(drawn page.html 'outdated: 1.1.0' 'gone upstream' '(patched)')" \
    '5 4 outdated: 1.1.0 gone upstream (patched)'
stop_githost 2>/dev/null

# --- what is refused ------------------------------------------------------------------

exits '[G14] tree --html with an empty file name is a usage error' 2 mapm tree --html ''
exits '[G14] tree with --html and --svg is a usage error' 2 mapm tree --html x.html --svg x.svg
exits '[G14] tree --html with a package is a usage error' 2 mapm tree --html x.html base
mkdir bin && ln -s "$(command -v git)" bin/git
exits '[G14] tree --html without graphviz fails' 1 env PATH="$PWD/bin" "$MAPM" --offline tree --html x.html
like '[G14] the error says how to install graphviz' "$err" 'apt install graphviz'
printf '#!/bin/sh\necho no font >&2\nexit 3\n' >bin/dot && chmod +x bin/dot
exits '[G14] tree --html fails when graphviz fails' 1 env PATH="$PWD/bin:/usr/bin:/bin" "$MAPM" --offline tree --html x.html
like '[G14] the error has the message of graphviz' "$err" 'no font'
ok '[G14] a failed tree --html writes no file' test ! -e x.html

# --- hundreds, and how a browser has them ------------------------------------------------

rm -rf "$T/ws" && mkdir "$T/ws" && cd "$T/ws" || exit 1
i=0
while [ $i -lt 500 ]; do
    skill "$T/many/skills/a-skill-with-a-rather-long-name-for-a-picture-$i"
    i=$((i + 1))
done
exits 'install --all of 500 packages succeeds' 0 mapm install --all "$T/many"
exits '[G14] tree --html of 500 packages succeeds' 0 mapm --offline tree --html many.html
is '[G14] the picture of 500 packages is one table' "$(drawn many.html)" '1 0'
ok '[G14] the picture of 500 packages is narrower than 1280 pixels' python3 -S -c 'import re
w = int(re.search(r"<svg width=\"(\d+)pt\"", open("many.html").read())[1])
assert w * 4 / 3 < 1280, w'
chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
if [ -z "$chromium" ]; then
    skip 'pages in a browser' 'chromium is not installed'
elif python3 -S "$ROOT/tests/lib/browser.py" "$chromium" "$T" "light:$T/ws/many.html" \
    "dark:$T/ws/many.html" >"$T/seen" 2>"$T/browser.err"; then
    is '[G14] the page fits a phone and has both themes' "$(python3 -S -c 'import json, sys
d = json.load(open(sys.argv[1])); p = d["pages"]["many.html"]
print(p["wide_open"] <= 360, p["active"], d["pwned"], d["foreign"], p["dark"] < 60 < 200 < p["light"])' "$T/seen")" \
        'True 0 None [] True'
else
    fail 'the browser loads the page'
    diag "$(tail -n 20 "$T/browser.err")"
fi
done_testing

#!/bin/sh
# The documentation as static pages. tests/release/site.t looks at them in a browser.
. "$(dirname "$0")/../lib/cli.sh"

links()
{
    python3 -S "$ROOT/tests/lib/site_links.py" "$1"
}
exits '[S10] tools/site succeeds' 0 "$ROOT/tools/site" "$T/site"
found=$(links "$T/site")
is '[S10] every link of the site has its target' "$(printf '%s\n' "$found" | sed '$d')" ''
ok 'the site has more than 2,000 links' test "$(printf '%s\n' "$found" | tail -n 1)" -gt 2000
for page in "$ROOT"/man/*.[1357]; do
    page=${page##*/}
    [ -f "$T/site/man/$page.html" ] || fail "[S10] the site has a page for $page"
done
ok '[S10] the README links to manual pages' grep -q 'href="man/mapm-install.1.html"><code>mapm install' \
    "$T/site/index.html"
ok '[S10] a file that is only linked has a page' test -f "$T/site/include/mapm/starlark.h.html"
ok '[S10] the search index has the options of commands' grep -q '"man/mapm-install.1.html#locked","mapm-install(1)","--locked"' \
    "$T/site/search-index.js"
unlike '[S10] no page loads anything from another host' \
    "$(grep -rhoE '(src|<link[^>]* href)="[^"]*"' "$T/site" --include='*.html')" '="(https?:)?//'

"$ROOT/tools/site" "$T/again" >/dev/null
same_tree '[S10] a second build gives the same pages' "$T/site" "$T/again"

# Of a checkout with other contents: links that lead nowhere, and markup as text.
mkdir -p "$T/copy/examples/embed" "$T/copy/examples/catalog" "$T/copy/docs"
mkdir "$T/copy/man"
cp "$ROOT/man/mapm-init.1" "$ROOT/man/mapm.1" "$T/copy/man"
for name in README ARCHITECTURE CONTRIBUTING CHANGELOG docs/x examples/catalog/README; do
    echo "# Words" >"$T/copy/$name.md"
done
printf '<script>alert(1)</script>\n' >"$T/copy/examples/embed/<b>.c"
printf '\n<script>alert(2)</script> [x](javascript:alert(3)) [y](docs/x.md)\n' >>"$T/copy/README.md"
exits 'tools/site with markup in the checkout succeeds' 0 "$ROOT/tools/site" "$T/hostile" "$T/copy"
is '[S10] markup of the checkout stays text' "$(grep -rlE '<script>|javascript:|<b>' "$T/hostile" --include='*.html')" ''
is 'every link of such a site has its target' "$(links "$T/hostile" | sed '$d')" ''

printf '\n[x](docs/missing.md) [y](../outside) [z](docs)\n' >>"$T/copy/README.md"
exits '[S10] tools/site refuses links without a target' 1 "$ROOT/tools/site" "$T/broken" "$T/copy"
like 'the error names the missing file and the file with the link' "$err" '^README\.md: no file is called docs/missing\.md$'
like 'the error names the link that leaves the checkout' "$err" '^README\.md: no file is called \.\./outside$'
like 'the error names the folder without a page' "$err" '^README\.md: the folder docs has no page$'
not_ok 'a refused build writes nothing' test -e "$T/broken"
done_testing

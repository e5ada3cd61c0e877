#!/bin/sh
# The documentation in a browser, opened as files, on a phone and on a desktop.
. "$(dirname "$0")/../lib/cli.sh"

chromium=$(command -v chromium) || skip_all 'needs chromium'
ok 'tools/site builds the documentation' "$ROOT/tools/site" "$T/site"
exits 'every page of the documentation is opened' 0 timeout 900 python3 -S "$ROOT/tests/lib/site_look.py" "$chromium" "$T/profile" "$T/site"
is '[S10] no page scrolls sideways, throws or asks a server; dark pages are dark; the search finds' "$out" ''
done_testing

#!/usr/bin/env -S python3 -S
"""site_links.py SITE: every link, style sheet and script of its pages leads to a
file of the site, and to an anchor in it; every page is linked from the first one.
One line for each that does not; the number of links at the end."""
import os
import re
import sys
import urllib.parse
from html.parser import HTMLParser


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.anchors, self.twice = [], set(), []

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src"):
                self.links.append(value)
            elif name == "id":
                if value in self.anchors:
                    self.twice.append(value)
                self.anchors.add(value)


def parse(file):
    page = Links()
    with open(file, encoding="utf-8") as f:
        page.feed(f.read())
    return page


def main():
    site = sys.argv[1]
    pages = {}
    for at, _, names in os.walk(site):
        for name in names:
            if name.endswith(".html"):
                path = os.path.relpath(os.path.join(at, name), site)
                pages[path] = parse(os.path.join(at, name))
    count, reached = 0, {"index.html"}
    for path, page in sorted(pages.items()):
        for anchor in page.twice:
            print("%s: two things are called #%s" % (path, anchor))
        for link in page.links:
            if re.match(r"https://|data:,$", link):
                continue
            count += 1
            target, _, anchor = link.partition("#")
            target = os.path.normpath(os.path.join(os.path.dirname(path), target)) if target else path
            if not os.path.isfile(os.path.join(site, target)) or target.startswith(".."):
                print("%s: %s leads to no file" % (path, link))
            elif anchor and urllib.parse.unquote(anchor) not in pages[target].anchors:
                print("%s: %s leads to no anchor" % (path, link))
            elif path == "index.html":
                reached.add(target)
    for path in sorted(set(pages) - reached):
        print("index.html does not link %s" % path)
    print(count)


main()

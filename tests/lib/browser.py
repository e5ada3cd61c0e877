#!/usr/bin/env -S python3 -S
"""browser.py CHROMIUM SCRATCH HOW:PAGE.html...: what a browser makes of pages.

HOW is "light": the page stands in a frame of 360 pixels, on a page of ours that
looks at it from outside; "dark": all of these once more, in dark; "paper": it
is printed, too, from a dark screen. Everything the browser asks for goes to a
proxy, which is here, and is counted.

Prints one JSON document:

    {"pages": {NAME: {"title", "wide_closed", "wide_open", "details", "active",
                      "light", "dark", "paper"}},
     "pwned": ..., "foreign": [...], "console": [...]}

wide_*: pixels of the widest thing, with details closed and open; active:
elements that are neither text nor form; light, dark: brightness of the
background, 0 to 255; paper: how many sheets; pwned: what a script in a page
left behind; foreign: requests for anything else than the pages.
"""
import http.server
import json
import os
import re
import subprocess
import sys
import threading

HOST = "pages.test"
# What the browser itself may ask its maker, whatever it is told.
OWN = re.compile(r"(^|\.)(google|googleapis|gvt1|gstatic|googleusercontent)\.com(:\d+)?$")

WATCH = """<!doctype html><html><head><meta charset="utf-8">
<link rel="icon" href="data:,"></head><body>
%s<pre id="seen"></pre><script>
var pwned = null;
function widest(d) {
  var most = d.documentElement.scrollWidth;
  d.querySelectorAll("*").forEach(function (e) {
    if (!e.closest("pre,.picture *"))
      most = Math.max(most, Math.ceil(e.getBoundingClientRect().right)); });
  return most;
}
onload = function () {
  var seen = {};
  document.querySelectorAll("iframe").forEach(function (f) {
    var d = f.contentDocument, p = seen[f.name] = {};
    p.title = d.title;
    p.wide_closed = widest(d);
    d.querySelectorAll("details").forEach(function (e) { e.open = true; });
    p.wide_open = widest(d);
    p.details = d.querySelectorAll("details").length;
    p.active = d.querySelectorAll("script,img,iframe,object,embed,form,input," +
      "link,base,video,audio,[style],[onload],[onerror]").length;
    p.background = f.contentWindow.getComputedStyle(d.body).backgroundColor;
  });
  document.getElementById("seen").textContent =
    JSON.stringify({pages: seen, pwned: pwned});
};
</script></body></html>"""


class Proxy(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        m = re.match(r"http://%s/([^/?]+)$" % re.escape(HOST), self.path)
        body = self.server.documents.get(m.group(1)) if m else None
        if body is None:
            self.refuse()
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self):
        self.server.asked.append(self.command + " " + self.path)
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_CONNECT = do_POST = do_HEAD = do_OPTIONS = refuse

    def log_message(self, *args):
        pass


def start_proxy(documents):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    server.documents, server.asked = documents, []
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def browse(chromium, scratch, server, *args):
    """(stdout, console lines) of one run of the browser."""
    done = subprocess.run(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu",
         "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
         "--disable-background-networking", "--disable-component-update",
         "--disable-sync", "--disable-default-apps", "--hide-scrollbars",
         "--enable-logging=stderr", "--user-data-dir=" + scratch + "/profile",
         "--proxy-server=http://127.0.0.1:%d" % server.server_port,
         "--proxy-bypass-list=<-loopback>", *args],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, timeout=120)
    console = [line for line in done.stderr.decode(errors="replace").split("\n")
               if "CONSOLE" in line]
    return done.stdout.decode(errors="replace"), console


def look(chromium, scratch, server, scheme):
    dom, console = browse(chromium, scratch, server, "--dump-dom",
                          "--blink-settings=preferredColorScheme=%d" % scheme,
                          "http://%s/watch" % HOST)
    m = re.search(r'<pre id="seen">(.+?)</pre>', dom, re.S)
    if not m:
        sys.exit("the browser did not get to the end: " + dom[-2000:])
    text = m.group(1)
    for name, char in (("lt", "<"), ("gt", ">"), ("quot", '"'), ("amp", "&")):
        text = text.replace("&%s;" % name, char)
    return json.loads(text), console


def brightness(color):
    r, g, b = [int(float(x)) for x in re.findall(r"[\d.]+", color)[:3]]
    return (r + g + b) // 3


def sheets(file):
    with open(file, "rb") as f:
        return len(re.findall(rb"/Type\s*/Page\b", f.read()))


def read_pages(files):
    """NAME: bytes, and one document that frames them all as "watch"."""
    documents, frames = {}, ""
    for file in files:
        name = os.path.basename(file)
        with open(file, "rb") as f:
            documents[name] = f.read()
        frames += ('<iframe name="%s" src="/%s" style="width:360px;'
                   'height:800px;border:0"></iframe>\n' % (name, name))
    documents["watch"] = (WATCH % frames).encode()
    return documents


def main():
    chromium, scratch, *words = sys.argv[1:]
    named = [w.split(":", 1) for w in words]
    files = [f for how, f in named if how == "light"]
    server = start_proxy(read_pages(files))
    seen, console = look(chromium, scratch, server, 1)
    pages = seen["pages"]
    for page in pages.values():
        page["light"] = brightness(page.pop("background"))
    if any(how == "dark" for how, _ in named):
        dark, more = look(chromium, scratch, server, 0)
        console += more
        for name, page in dark["pages"].items():
            pages[name]["dark"] = brightness(page["background"])
    for file in [f for how, f in named if how == "paper"]:
        out = scratch + "/paper.pdf"
        console += browse(chromium, scratch, server, "--no-pdf-header-footer",
                          "--blink-settings=preferredColorScheme=0",
                          "--print-to-pdf=" + out,
                          "file://" + os.path.abspath(file))[1]
        pages[os.path.basename(file)]["paper"] = sheets(out)
        os.remove(out)
    host = re.compile(r"^\S+ (?:\w+://)?([^/]+)")
    seen["foreign"] = [a for a in server.asked
                       if not OWN.search(host.match(a).group(1))]
    seen["console"] = console
    json.dump(seen, sys.stdout, indent=1)
    print()


main()

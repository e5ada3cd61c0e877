#!/usr/bin/env -S python3 -S
"""site_look.py CHROMIUM SCRATCH SITE [SHOTS [PAGE...]]: what a browser makes of
the documentation, opened as files on a phone (390 pixels) and a desktop (1280).

Prints one line for each fault: a page that scrolls sideways, an exception, a
request for something else than files of the site, a dark page that is light, a
search that does not find. SHOTS is a folder for pictures of the PAGEs.
"""
import base64
import json
import os
import subprocess
import sys

WIDTHS = {"phone": (390, 844), "desktop": (1280, 800)}
WIDEST = """(() => {
  const bar = document.documentElement;
  if (bar.scrollWidth <= innerWidth) return '';
  const wide = [...document.querySelectorAll('body *')].filter(e =>
    e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('pre, .table, .found'));
  return bar.scrollWidth + ' pixels: ' + (wide.length ? wide[0].outerHTML.slice(0, 120) : '?');
})()"""
BACKGROUND = "getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)" \
    ".reduce((a, b) => a + b) / 3"
# Types words as a reader does, and says what the first result is.
SEARCH = """new Promise(done => {
  const input = document.querySelector('.search input');
  input.focus();
  const wait = () => typeof mapmSearchIndex === 'undefined' ? setTimeout(wait, 10) : ask();
  const ask = () => {
    input.value = %s;
    input.dispatchEvent(new Event('input'));
    const first = document.querySelector('.found a');
    done(first ? first.getAttribute('href') : '');
  };
  wait();
})"""


class Browser:
    """Chromium, spoken to over two pipes."""

    def __init__(self, chromium, scratch):
        down, self.out = os.pipe()
        self.inp, up = os.pipe()
        def place():
            a, b = os.dup(down), os.dup(up)
            os.dup2(a, 3)
            os.dup2(b, 4)
        os.set_inheritable(down, True)
        self.process = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
             "--disable-dev-shm-usage", "--disable-background-networking",
             "--disable-component-update", "--disable-sync", "--disable-default-apps",
             "--disable-extensions", "--hide-scrollbars", "--remote-debugging-pipe",
             "--user-data-dir=" + scratch, "about:blank"],
            preexec_fn=place, close_fds=False, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(down)
        os.close(up)
        self.rest, self.last, self.session, self.events = b"", 0, None, []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.call(domain + ".enable")

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.inp, 1 << 20)
            if not more:
                sys.exit("the browser ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.out, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.last:
                if "error" in answer:
                    sys.exit("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def open(self, url):
        self.events = []
        self.call("Page.navigate", url=url)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.read())

    def value(self, expression):
        return self.call("Runtime.evaluate", expression=expression, awaitPromise=True,
                         returnByValue=True)["result"].get("value")

    def dress(self, width, height, phone, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=phone)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def shoot(self, file):
        picture = self.call("Page.captureScreenshot", format="png")["data"]
        with open(file, "wb") as f:
            f.write(base64.b64decode(picture))

    def close(self):
        self.call("Browser.close")
        self.process.wait()


def faults_of(browser, site):
    for event in browser.events:
        if event.get("method") == "Runtime.exceptionThrown":
            yield "exception: " + event["params"]["exceptionDetails"]["text"]
        if event.get("method") == "Network.requestWillBeSent":
            url = event["params"]["request"]["url"]
            if not url.startswith(("file://" + site, "data:")):
                yield "asks for " + url
    wide = browser.value(WIDEST)
    if wide:
        yield "scrolls sideways, " + wide


def pages_of(site):
    return sorted(os.path.relpath(os.path.join(at, n), site)
                  for at, _, names in os.walk(site) for n in names if n.endswith(".html"))


def main():
    chromium, scratch, site, *rest = sys.argv[1:]
    site = os.path.realpath(site)
    shots, shown = (rest[0], rest[1:]) if rest else (None, [])
    browser = Browser(chromium, scratch)
    for device, (width, height) in WIDTHS.items():
        for page in pages_of(site):
            browser.dress(width, height, device == "phone", "light")
            browser.open("file://%s/%s" % (site, page))
            for fault in faults_of(browser, site):
                print("%s, %s: %s" % (page, device, fault))
            if page in shown:
                name = "%s/%s-%s" % (shots, page.replace("/", "_"), device)
                browser.shoot(name + ".png")
                browser.dress(width, height, device == "phone", "dark")
                if device == "phone" or page == shown[0]:
                    browser.shoot(name + "-dark.png")
        browser.dress(width, height, device == "phone", "dark")
        if browser.value(BACKGROUND) > 60:
            print("%s: dark pages are light" % device)
    browser.open("file://%s/man/mapm-install.1.html" % site)
    for words, want in (("install --locked", "man/mapm-install.1.html#locked"),
                        ("git host token", "man/mapm"), ("<script>", ""), ("zzzz", "")):
        got = browser.value(SEARCH % json.dumps(words))
        if want not in got or not want and got:
            print("the search for %s finds %s first" % (words, got or "nothing"))
    if shots:
        browser.value(SEARCH % json.dumps("git host token"))
        browser.dress(390, 844, True, "light")
        browser.shoot(shots + "/search-phone.png")
    browser.close()


main()

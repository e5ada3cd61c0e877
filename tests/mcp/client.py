"""A client of the Model Context Protocol that does as it is told, and TAP.

    s = Server(); s.hello("2025-11-25"); s.call("ping")     the old era
    s = Server(); s.call("tools/list", new=True)            the new one
"""
import json
import os
import select
import signal
import subprocess
import sys
import time

BUILD = os.environ.get("MAPM_BUILD") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../build")
META = "io.modelcontextprotocol/"
ALL = {"sampling": {}, "elicitation": {}, "roots": {}}
PATIENCE = 60  # seconds; what takes longer has hung

_count = 0
_bad = 0


def ok(good, name, *why):
    global _count, _bad
    _count += 1
    if not good:
        _bad += 1
        for w in why:
            print("# " + str(w)[:2000].replace("\n", "\n# "))
    print(("ok" if good else "not ok") + " %d - %s" % (_count, name))
    sys.stdout.flush()


def same(got, want, name):
    ok(got == want, name, "got  %r" % (got,), "want %r" % (want,))


def done():
    print("1..%d" % _count)
    sys.exit(1 if _bad else 0)


def modern(caps=None, **more):
    """The _meta of a request of the new era."""
    return {META + "protocolVersion": "2026-07-28",
            META + "clientCapabilities": ALL if caps is None else caps,
            META + "clientInfo": {"name": "test", "version": "1"}, **more}


class Server:
    def __init__(self, *args, command=None, **popen):
        self.p = subprocess.Popen(
            command or [os.path.join(BUILD, "mcp_fixture"), *args],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, **popen)
        self.rest = b""
        self.id = 0
        self.notes = []  # what came that nobody waited for

    def raw(self, data):
        if isinstance(data, str):
            data = data.encode()
        view = memoryview(data)
        while view:
            view = view[os.write(self.p.stdin.fileno(), view):]

    def send(self, message):
        self.raw(json.dumps(message) + "\n")

    def line(self, patience=PATIENCE):
        """The next line; None when there is none in time, b"" at the end."""
        until = time.monotonic() + patience
        while b"\n" not in self.rest:
            left = until - time.monotonic()
            if left < 0 or not select.select([self.p.stdout], [], [], left)[0]:
                return None
            part = os.read(self.p.stdout.fileno(), 1 << 20)
            if not part:
                return b""
            self.rest += part
        line, self.rest = self.rest.split(b"\n", 1)
        return line

    def take(self, patience=PATIENCE):
        line = self.line(patience)
        return json.loads(line) if line else line

    def until(self, what, patience=PATIENCE):
        """The first message for which `what` holds; the others are notes."""
        while True:
            m = self.take(patience)
            if not m:
                return m
            if what(m):
                return m
            self.notes.append(m)

    def answer(self, id, patience=PATIENCE):
        return self.until(lambda m: m.get("id") == id and "method" not in m,
                          patience)

    def request(self, method, params=None, new=False, caps=None, meta=None,
                id=None):
        """Sends it; its id."""
        if id is None:
            self.id += 1
            id = self.id
        params = dict(params or {})
        if new:
            params["_meta"] = modern(caps, **(meta or {}))
        elif meta:
            params["_meta"] = meta
        self.send({"jsonrpc": "2.0", "id": id, "method": method,
                   "params": params})
        return id

    def call(self, method, params=None, **more):
        return self.answer(self.request(method, params, **more))

    def tool(self, name, arguments=None, **more):
        return self.call("tools/call",
                         {"name": name, "arguments": arguments or {}}, **more)

    def cancel(self, id):
        self.send({"jsonrpc": "2.0", "method": "notifications/cancelled",
                   "params": {"requestId": id, "reason": "test"}})

    def hello(self, version="2025-11-25", caps=None):
        m = self.call("initialize", {
            "protocolVersion": version,
            "capabilities": ALL if caps is None else caps,
            "clientInfo": {"name": "test", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return m

    def end(self):
        """No more input: its exit code."""
        if self.p.stdin and not self.p.stdin.closed:
            self.p.stdin.close()
        try:
            return self.p.wait(PATIENCE)
        finally:
            self.p.stdout.close()

    def kill(self, number=signal.SIGTERM):
        self.p.send_signal(number)
        return self.end()


def text(m):
    """What a tool said."""
    return m["result"]["content"][0]["text"]


def code(m):
    return m.get("error", {}).get("code")


def memory(pid):
    """Kilobytes that it holds."""
    with open("/proc/%d/status" % pid) as f:
        for line in f:
            if line.startswith("VmRSS"):
                return int(line.split()[1])
    return 0


def alive(pid):
    """Not gone, and no zombie."""
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def gone(pid, patience=10):
    until = time.monotonic() + patience
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.005)
    return not alive(pid)

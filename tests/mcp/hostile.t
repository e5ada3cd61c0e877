#!/usr/bin/env -S python3 -S
# A client that means harm, or is broken: [row 23]. Whatever comes is
# answered once by its code, and the next request is served.
import json
import os
import sys
import threading

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import *  # noqa: E402,F403

LINE = 4 << 20
# Kilobytes. How far reading runs ahead is up to the machine, and so are buffers.
SPARE, LEFT = 30000, 2500
NONE = object()


def ping(id):
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": "ping"})


def sanitized():
    """Whether it holds freed memory back, and much more besides."""
    s = Server()
    s.call("ping")
    kilobytes = memory(s.p.pid)
    s.end()
    return kilobytes > 5000


if sanitized():
    SPARE, LEFT = 2000000, 500000

# --- one bad line after another -----------------------------------------------
def deep(n):
    return ('{"jsonrpc":"2.0","id":"d","method":"ping","params":' +
            '{"a":' * n + '1' + '}' * n + '}')


rows = [
    ("no JSON", b"hello", -32700, None),
    ("half a message", b'{"jsonrpc":"2.0","id":1,"method"', -32700, 1),
    ("two messages in a line", ping(1) + ping(2), -32700, 1),
    ("not UTF-8", b'{"jsonrpc":"2.0","id":7,"method":"\xff"}', -32700, 7),
    ("an overlong NUL", b'{"a":"\xc0\x80"}', -32700, None),
    ("a byte order mark", b"\xef\xbb\xbf" + ping(1).encode(), -32700, 1),
    ("a NUL", b'{"a":\x00}', -32700, None),
    ("half a surrogate", b'{"id":"s","jsonrpc":"2.0","method":"tools/call",'
     b'"params":{"name":"echo","arguments":{"text":"\\ud83d"}}}', -32700, "s"),
    ("the id at the end", b'{"method":"x","params":["\\"","id",{"id":3}],'
     b'"jsonrpc":"2.0","x":"\xff", "id" : "end" }', -32700, "end"),
    ("a name twice", b'{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
     -32700, 1),
    ("NaN", b'{"jsonrpc":"2.0","id":NaN,"method":"ping"}', -32700, None),
    ("too deep", deep(64), -32600, "d"),
    ("a thousand deep", "[" * 1000, -32600, None),
    ("a million deep", "[" * 1000000, -32600, None),
    ("many values", "[" + "1," * 200000 + "1]", -32600, None),
    ("a number", b"42", -32600, None),
    ("a string", b'"ping"', -32600, None),
    ("null", b"null", -32600, None),
    ("an array", b"[]", -32600, None),
    ("an object", b"{}", -32600, None),
    ("no version", b'{"id":1,"method":"ping"}', -32600, 1),
    ("JSON-RPC 1", b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600, 1),
    ("a version that is a number", b'{"jsonrpc":2.0,"id":1,"method":"ping"}',
     -32600, 1),
    ("a method that is a number", b'{"jsonrpc":"2.0","id":1,"method":1}',
     -32600, 1),
    ("no method", b'{"jsonrpc":"2.0","id":1}', -32600, 1),
    ("params are a list", b'{"jsonrpc":"2.0","id":1,"method":"ping",'
     b'"params":[]}', -32602, 1),
    ("params are null", b'{"jsonrpc":"2.0","id":1,"method":"ping",'
     b'"params":null}', -32602, 1),
    ("id null", b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600, None),
    ("id true", b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
    ("id a list", b'{"jsonrpc":"2.0","id":[1],"method":"ping"}', -32600, None),
    ("id a fraction", b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600,
     None),
    ("id an exponent", b'{"jsonrpc":"2.0","id":1e9,"method":"ping"}', -32600,
     None),
    ("id with a zero before it", b'{"jsonrpc":"2.0","id":03,"method":"x"}',
     -32700, None),
    ("id of 300 characters", ping("i" * 300), -32600, None),
    ("a token that is a list", b'{"jsonrpc":"2.0","id":1,"method":"ping",'
     b'"params":{"_meta":{"progressToken":[]}}}', -32602, 1),
    ("a line of 5 MiB", b'{"jsonrpc":"2.0","id":9,"x":"' + b"x" * (5 << 20),
     -32600, 9),
]
s = Server()
s.hello("2025-06-18")
for name, line, want, id in rows:
    s.raw(line if isinstance(line, bytes) else line.encode())
    s.raw(b"\n")
    m = s.take()
    same((code(m), m.get("id", NONE)), (want, id), name)
silent = [b"", b"   ", b"\t\r", b'{"jsonrpc":"2.0","method":"no/such"}',
          b'{"jsonrpc":"2.0","method":"tools/call","params":{"name":"echo"}}',
          b'{"jsonrpc":"2.0","method":"notifications/cancelled"}',
          b'{"jsonrpc":"2.0","method":"notifications/cancelled",'
          b'"params":{"requestId":{}}}',
          b'{"jsonrpc":"2.0","method":"notifications/cancelled",'
          b'"params":{"requestId":"none"}}',
          b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":7}',
          b'{"jsonrpc":"2.0","id":1,"result":{}}',
          b'{"jsonrpc":"2.0","id":"mapm-1","result":{}}',
          b'{"jsonrpc":"2.0","id":"mapm-18446744073709551616","error":1}',
          b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":""}}']
for line in silent:
    s.raw(line + b"\n")
s.raw(ping("still here") + "\r\n")
same(s.take(), {"jsonrpc": "2.0", "id": "still here", "result": {}},
     "lines that need no answer have none")
for id in (0, -1, 9007199254740993, "", "é\\", "mapm-1", "1"):
    s.raw(ping(id) + "\n")
    same(s.take(), {"jsonrpc": "2.0", "id": id, "result": {}},
         "the id comes back as it was: %r" % (id,))
s.raw(deep(62) + "\n")
same(s.take().get("result"), {}, "params nested 64 deep are accepted")
same(s.end(), 0, "the server ends with 0 after bad lines")

for version, want in (("2025-06-18", None), ("2025-11-25", NONE)):
    s = Server()
    s.hello(version)
    s.raw("?\n")
    same(s.take().get("id", NONE), want, version + ": an id that is not known")
    s.end()

# --- ids in use -----------------------------------------------------------------
s = Server()
s.hello()
s.request("tools/call", {"name": "sleep", "arguments": {"ms": 1500}}, id=5)
s.raw(ping(5) + "\n")
same(s.take().get("id", NONE), NONE, "a request with an id in use is refused without an id")
s.raw(ping("5") + "\n")
same(s.take()["id"], "5", "\"5\" is another id than 5")
s.raw(b'{"id":5,"x":"\xff"}\n')
same(s.take().get("id", NONE), NONE, "a bad line with an id in use is refused without an id")
same((s.take()["id"], s.line(0.2)), (5, None), "an id in use is answered once")
s.raw(ping(5) + "\n")
same(s.take()["id"], 5, "an id is free after its answer")
s.end()

# --- very much of it ---------------------------------------------------------------
s = Server()
s.hello()
s.raw(b'{"jsonrpc":"2.0","id":1,"x":"')
block = b"y" * (1 << 20)
for i in range(300):
    s.raw(block)
s.raw(b'"}\n' + ping(2).encode() + b"\n")
same([m.get("id") for m in (s.take(), s.take())], [1, 2], "a line of 300 MB is refused and the next one answered")
ok(memory(s.p.pid) < SPARE, "costs no memory", memory(s.p.pid))
big = "x" * (LINE - 200)
same(len(text(s.tool("echo", {"text": big}))), len(big), "a line of 4 MiB is answered")
s.call("ping")
ok(memory(s.p.pid) < SPARE, "and its memory is given back", memory(s.p.pid))
s.end()

# A flood whose answers nobody reads: then nothing more is read.
s = Server()
s.hello()
stop = threading.Event()
sent = [0]


def flood():
    line = (ping(1) + "\n").encode() * 100
    try:
        while not stop.is_set() and sent[0] < 100000000:
            sent[0] += os.write(s.p.stdin.fileno(), line)
    except OSError:
        pass


t = threading.Thread(target=flood, daemon=True)
t.start()
last = -1
while sent[0] != last:
    last = sent[0]
    time.sleep(0.3)
ok(sent[0] < 40000000 and memory(s.p.pid) < SPARE,
   "who reads no answers is read no longer", sent[0], memory(s.p.pid))
stop.set()
n = 0
while t.is_alive() or n < 1000:
    n += s.line(5) is not None
t.join()
while s.line(0.3):
    n += 1
same(n, sent[0] // len(ping(1) + "\n"), "each request of the flood has its answer")
s.end()

# Memory stays as it is.
s = Server()
s.hello()
line = (json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
                    {"name": "echo", "arguments": {"text": "x" * 100}}})
        + "\n").encode() * 1000


def many(blocks):
    def feed():
        for _ in range(blocks):
            s.raw(line)
    t = threading.Thread(target=feed)
    t.start()
    seen = 0
    while seen < blocks * 1000:
        seen += os.read(s.p.stdout.fileno(), 1 << 20).count(b"\n")
    t.join()


many(200)
before = memory(s.p.pid)
many(400)
ok(memory(s.p.pid) <= before + LEFT, "400,000 calls leave nothing behind",
   before, memory(s.p.pid))
s.end()

# --- too many at once ------------------------------------------------------------------
s = Server()
s.hello()
ids = [s.request("tools/call", {"name": "sleep", "arguments": {"ms": 60000}})
       for _ in range(64)]
same(code(s.call("tools/list")), -32603, "a call beyond 64 under way is refused")
same(s.call("ping").get("result"), {}, "a ping is answered beside 64 calls")
for id in ids:
    s.cancel(id)
ok("tools" in s.call("tools/list").get("result", {}),
   "calls are accepted after others are cancelled")
s.end()

s = Server()
s.hello()
s.raw((json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
                   {"name": "sleep", "arguments": {"ms": 60000}}}) + "\n" +
       json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled",
                   "params": {"requestId": 1}}) + "\n") * 2000)
same(s.call("ping").get("result"), {}, "a ping is answered after 2,000 calls begun and cancelled")
id = s.request("tools/call", {"name": "sleep", "arguments": {"ms": 1}})
same(text(s.answer(id)), "slept", "a call is answered after 2,000 calls begun and cancelled")
s.end()

# --- output that is gone ------------------------------------------------------------------
s = Server(stderr=subprocess.DEVNULL)
s.hello()
s.p.stdout.close()
try:
    for _ in range(100):
        s.raw(ping(1) + "\n")
except BrokenPipeError:
    pass
same(s.p.wait(PATIENCE), 1, "the server ends with 1 when its output is closed")
s.p.stdin.close()

full = os.open("/dev/full", os.O_WRONLY)
p = subprocess.Popen([os.path.join(BUILD, "mcp_fixture")], stdout=full,
                     stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)
p.communicate((ping(1) + "\n").encode())
same(p.returncode, 1, "the server ends with 1 when its output is a full disk")
os.close(full)

# A last line without its end counts, and a file is input as well.
with open(os.path.join(BUILD, "mcp_hostile.in"), "wb+") as f:
    f.write((ping(1) + "\n" + ping(2)).encode())
    f.seek(0)
    p = subprocess.run([os.path.join(BUILD, "mcp_fixture")], stdin=f,
                       stdout=subprocess.PIPE)
    os.unlink(f.name)
same([json.loads(x)["id"] for x in p.stdout.splitlines()], [1, 2],
     "the last line of a file without its end is answered")
done()

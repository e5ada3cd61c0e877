#!/usr/bin/env -S python3 -S
# What waits: answers that nobody reads, works of a client that has gone, batches
# that take long, and calls that are large. [row 23].
import json
import os
import signal
import socket
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import *  # noqa: E402,F403

MIB = 1 << 20
KB = 120000  # kilobytes that a server may hold, whatever it is sent; see below
top = tempfile.TemporaryDirectory()


def long(s, bytes, **more):
    return s.request("tools/call", {"name": "long",
                                    "arguments": {"bytes": bytes}}, **more)


def sleep(s, ms=600000, **more):
    return s.request("tools/call", {"name": "sleep",
                                    "arguments": {"ms": ms, **more}})


def stubborn(s):
    """The processes of a work that hears no signals."""
    name = os.path.join(top.name, "pids")
    s.request("tools/call", {"name": "stubborn", "arguments": {"file": name}},
              meta={"progressToken": 1})
    s.until(lambda m: m.get("method") == "notifications/progress")
    with open(name) as f:
        pids = [int(x) for x in f.read().split()]
    os.unlink(name)
    return pids


s = Server()
s.call("ping")
if memory(s.p.pid) > 5000:  # sanitizers hold freed memory back
    KB = 2000000
s.end()

# --- a client that is always behind -------------------------------------------
# It reads all but the last half a megabyte of each answer before it waits for
# the next one to be there: the output is never empty.
COUNT, EACH = 35, 8 * MIB
s = Server()
s.hello()
for i in range(COUNT):
    long(s, EACH, id="n%d" % i)
parts, read, seen, most, waited = [], 0, [], 0, 0
while len(seen) < COUNT:
    part = os.read(s.p.stdout.fileno(), MIB)
    end = part.find(b"\n") + 1
    read += len(part)
    parts.append(part[:end] if end else part)
    if end:
        m = json.loads(b"".join(parts))
        seen.append((m["id"], len(text(m))))
        parts, read = [part[end:]], len(part) - end
    if read > EACH - MIB // 2 and len(seen) == waited:
        waited += 1
        most = max(most, memory(s.p.pid))
        time.sleep(0.01)
same(seen, [("n%d" % i, EACH) for i in range(COUNT)],
     "35 answers of 8 MiB arrive whole at a client that is always behind")
ok(most < KB, "and what is read is not kept", most)
same(s.end(), 0, "the server ends with 0 after a slow client")

# Nobody reads at all: then nothing more is done.
s = Server()
s.hello()
for i in range(4):
    long(s, EACH)
while not select.select([s.p.stdout], [], [], PATIENCE)[0]:
    pass
time.sleep(0.2)
ok(memory(s.p.pid) < KB, "four large answers wait until they are read",
   memory(s.p.pid))
same([len(text(s.take())) for _ in range(4)], [EACH] * 4,
     "the waiting answers arrive when they are read")
ok(code(s.call("tools/call", {"name": "long", "arguments":
                              {"bytes": 40 * MIB}})) == -32603,
   "one that is too large is an error")
same(s.call("ping")["result"], {}, "a ping is answered after an answer that is too large")
s.end()

# --- too much of it -------------------------------------------------------------
s = Server("--out-bytes", str(4 * MIB), stderr=subprocess.PIPE)
s.hello()
s.tool("talk", {"bytes": 3 * MIB})
same([len(m["params"]["data"]) for m in s.notes], [5, 3 * MIB],
     "messages within the bound of output are sent")
s.request("tools/call", {"name": "talk", "arguments": {"bytes": 5 * MIB}})
status = s.p.wait(PATIENCE)  # by itself: nothing is read, and input is open
out, complaint = s.p.communicate()
same((status, b"does not read" in complaint), (1, True),
     "the server ends with 1 and a reason beyond the bound of output")
ok(out.endswith(b"\n") and all(json.loads(x) for x in out.splitlines()),
   "and what it said are whole messages", out[-300:])

# What is watched tells of no more than is read.
fifo = os.path.join(top.name, "fifo")
os.mkfifo(fifo)
s = Server("--watch", fifo)
w = os.open(fifo, os.O_RDWR | os.O_NONBLOCK)
for i in range(60):
    s.request("subscriptions/listen", {"notifications": {
        "toolsListChanged": True}}, new=True, id="l%d" % i)
    s.take()
sent = 0
try:
    while sent < 200 * MIB:
        sent += os.write(w, b"t" * 4096)
except BlockingIOError:
    pass
for _ in range(20):  # it reads on while there is room for what it tells
    time.sleep(0.02)
    try:
        while sent < 200 * MIB:
            sent += os.write(w, b"t" * 4096)
    except BlockingIOError:
        pass
ok(sent < 10 * MIB and memory(s.p.pid) < KB,
   "changes that nobody reads of are not looked at", sent, memory(s.p.pid))
s.p.stdin.close()
out = s.p.stdout.read()
ok(out.endswith(b"\n") and all(json.loads(x) for x in out.splitlines()),
   "the notices of watched changes are whole messages")
same(s.p.wait(PATIENCE), 0, "the server ends with 0 after unread notices")
os.close(w)

# --- a client that has gone, and has not read -------------------------------------
class Pair(Server):
    """Over a socket instead of two pipes."""

    def __init__(self, *args):
        ours, theirs = socket.socketpair()
        self.socket = ours
        super().__init__(*args)
        self.end()
        self.p = subprocess.Popen([os.path.join(BUILD, "mcp_fixture"), *args],
                                  stdin=theirs, stdout=theirs)
        theirs.close()
        self.p.stdin = ours.makefile("wb", 0)
        self.p.stdout = ours.makefile("rb", 0)


def hang_up(s):
    if isinstance(s, Pair):
        s.socket.shutdown(socket.SHUT_WR)
    else:
        s.p.stdin.close()


for kind in (Server, Pair):
    s = kind()
    s.hello()
    pids = stubborn(s)
    for _ in range(3):
        long(s, EACH)
    select.select([s.p.stdout], [], [], PATIENCE)
    time.sleep(0.1)
    hang_up(s)
    ok(all(gone(p, PATIENCE) for p in pids),
       kind.__name__ + ": the end of input ends works, though nobody reads")
    same(s.p.wait(PATIENCE), 0, kind.__name__ + ": and then the server")
    s.p.stdout.close()

    s = kind()
    s.hello()
    pids = stubborn(s)
    for i in range(12):
        long(s, MIB, id="n%d" % i)
    for i in range(100):
        s.raw('{"jsonrpc":"2.0","id":"p%d","method":"ping"}\n' % i)
    hang_up(s)
    same([s.take()["id"] for _ in range(112)],
         ["n%d" % i for i in range(12)] + ["p%d" % i for i in range(100)],
         kind.__name__ + ": who only stopped writing has all answers")
    same(s.line(), b"", kind.__name__ + ": and the end")
    same(s.p.wait(PATIENCE), 0, kind.__name__ + ": all is well")
    s.p.stdout.close()

# --- batches ------------------------------------------------------------------------
def batch(s, n, name, arguments):
    s.send([{"jsonrpc": "2.0", "id": "b%d" % i, "method": "tools/call",
             "params": {"name": name, "arguments": arguments}}
            for i in range(n)])


def is_batch(m):
    return isinstance(m, list)


s = Server()
s.hello("2025-03-26")
batch(s, 1000, "echo", {"text": "x"})
same(sorted(m["id"] for m in s.take()), sorted("b%d" % i for i in range(1000)),
     "a batch of 1,000 calls is answered")
batch(s, 1001, "echo", {"text": "x"})
m = s.take()
same((code(m), m.get("id")), (-32600, None), "a batch of 1,001 calls is one error without an id")
batch(s, 100, "busy", {"ms": 10})
s.raw('{"jsonrpc":"2.0","id":"ping","method":"ping"}\n')
time.sleep(0.05)
s.raw('{"jsonrpc":"2.0","id":"later","method":"ping"}\n')
same([s.take()["id"], s.take()["id"]], ["ping", "later"],
     "pings are answered before the parts of a batch")
same(len(s.take()), 100, "the 100 answers of a batch arrive together")
for n in (3, 2, 1):
    batch(s, n, "busy", {"ms": 1})
same([len(s.take()) for _ in range(3)], [3, 2, 1], "three batches are answered one after another")
batch(s, 3, "sleep", {"ms": 1})
same([text(m) for m in s.take()], ["slept"] * 3, "works in a batch are answered")
batch(s, 2, "long", {"bytes": 20 * MIB})
m = s.take()
ok(code(m) == -32603 and "batch" in m["error"]["message"],
   "answers of a batch that are too long together", str(m)[:200])
batch(s, 3, "long", {"bytes": 1000})
same(len(s.take()), 3, "a batch is answered after one with too long answers")
batch(s, 1000, "busy", {"ms": 20})
s.call("ping")
s.p.send_signal(signal.SIGTERM)
same((s.line(), s.p.wait(PATIENCE)), (b"", 0),
     "SIGTERM ends the server between the parts of a batch")
s.end()

# --- calls that are large ---------------------------------------------------------------
junk = [[]] * 40000 + ["x" * 500000]
s = Server()
s.hello()
for i in range(40):
    s.request("subscriptions/listen", {"notifications": {}, "junk": junk},
              new=True, id="l%d" % i)
    s.take()
ok(memory(s.p.pid) < KB, "who listens costs no more than that",
   memory(s.p.pid))
s.cancel("l7")
s.request("subscriptions/listen", {"notifications": {}}, new=True, id="l7")
same(s.take()["params"]["_meta"][META + "subscriptionId"], "l7",
     "a subscription is answered under its own id")
s.end()

s = Server()
s.hello()
ids = [sleep(s, junk=junk) for _ in range(60)]
s.call("ping")
refused = [m["id"] for m in s.notes if code(m) == -32603]
ok(0 < len(refused) < 60 and memory(s.p.pid) < 2 * KB,
   "large calls are not taken without bound", len(refused), memory(s.p.pid))
same(text(s.tool("echo", {"text": "x"})), "x", "a small call is answered beside many large calls")
for id in ids:
    s.cancel(id)
id = sleep(s, 1, junk=junk)
same(text(s.answer(id)), "slept", "a large call is answered after the others are cancelled")
s.end()

# --- who begins twice ---------------------------------------------------------------------
file = os.path.join(top.name, "once")
s = Server()
s.hello()
id = s.request("tools/call", {"name": "once", "arguments": {
    "rounds": 1, "ms": 200, "file": file}})
while not os.path.exists(file):
    time.sleep(0.005)
for _ in range(3):
    same(code(s.hello(caps={})), -32600, "a second initialize is refused")
same(code(s.call("initialize", {"protocolVersion": "2025-11-25",
                                "capabilities": {}}, new=True)), -32601,
     "in the new era there is none")
q = s.until(lambda m: m.get("method") == "sampling/createMessage")
s.send({"jsonrpc": "2.0", "id": q["id"], "result": {
    "role": "assistant", "model": "m",
    "content": {"type": "text", "text": "+"}}})
same(text(s.answer(id)), "Once:n+", "a call follows the era of the first initialize")
s.end()
top.cleanup()
done()

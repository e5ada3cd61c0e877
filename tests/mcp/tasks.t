#!/usr/bin/env -S python3 -S
# Calls that take long: progress, pings meanwhile, cancelling, questions to the
# client in the old era, and the end of all. [row 23].
import json
import os
import signal
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import *  # noqa: E402,F403


SAID = {"role": "assistant", "model": "m",
        "content": {"type": "text", "text": "Hi"}}


def steps(notes):
    return [m["params"]["progress"] for m in notes
            if m.get("method") == "notifications/progress"]


# --- progress -----------------------------------------------------------------
for version in ("2024-11-05", "2025-03-26", "2025-11-25", "2026-07-28"):
    s = Server()
    new = version == "2026-07-28"
    if not new:
        s.hello(version)
    for token in ("a \"token\"", 7):
        s.notes = []
        m = s.tool("test_tool_with_progress", new=new,
                   meta={"progressToken": token})
        same(text(m), "done", version + ": the result")
        same(steps(s.notes), [0, 50, 100], version + ": each step before it")
        p = s.notes[0]["params"]
        same((p["progressToken"], p["total"], p.get("message")),
             (token, 100, None if version == "2024-11-05" else "step"),
             version + ": by its token")
    s.notes = []
    s.tool("test_tool_with_progress", new=new)
    same(s.notes, [], version + ": none without a token")
    s.end()

s = Server()
s.hello()
m = s.call("tools/call", {"name": "flood", "arguments": {"count": 20000}},
           meta={"progressToken": 1})
same(text(m), "flooded", "a call with 20,000 progress notifications completes")
got = steps(s.notes)
ok(got == sorted(set(got)) and len(got) == 10000, "it only ever increases",
   len(got))

# --- progress settles: the answer takes the place of what was not told yet ------
for version in ("2025-11-25", "2026-07-28"):
    new = version == "2026-07-28"
    s = Server("--settle-ms", "60000")
    if not new:
        s.hello(version)
    m = s.tool("test_tool_with_progress", new=new, meta={"progressToken": 1})
    same(text(m), "done", version + ": it settles until the answer")
    same(s.notes, [], version + ": which is told alone")
    s.end()
    s = Server("--settle-ms", "200")
    if not new:
        s.hello(version)
    s.request("tools/call", {"name": "sleep", "arguments": {"ms": 60000}},
              new=new, meta={"progressToken": 2})
    m = s.take()
    same((m["method"], m["params"]["progressToken"], m["params"]["message"]),
         ("notifications/progress", 2, "zzz"),
         version + ": or until it has settled")
    same(s.take(0.05), None, version + ": and then news settles again")
    s.end()

# --- a heartbeat: clients lose patience with a call of which they hear nothing -----
def beating(new, tool, arguments, told):
    """The params of what is told of a call until it was three more times."""
    notes = []
    id = s.request("tools/call", {"name": tool, "arguments": arguments},
                   new=new, meta={"progressToken": "b"})
    while told(notes) < 3:
        m = s.take()
        if m.get("method") == "notifications/progress":
            notes.append(m["params"])
        elif "method" not in m:
            break
    return id, notes


s.end()
for version in ("2024-11-05", "2025-11-25", "2026-07-28"):
    s = Server("--beat-ms", "30")
    new = version == "2026-07-28"
    if not new:
        s.hello(version)
    id, notes = beating(new, "sleep", {"ms": 60000}, lambda n: len(n) - 1)
    got = [n["progress"] for n in notes]
    ok(len(got) == 4 and got == sorted(set(got)),
       version + ": what says nothing for long is told of, and it increases", got)
    ok(all(n["progressToken"] == "b" and
           n.get("message") == notes[0].get("message") for n in notes),
       version + ": in the words of the work", notes)
    s.cancel(id)
    s.call("tools/list", new=new)
    s.notes = []
    time.sleep(0.1)
    s.call("tools/list", new=new)
    same(s.notes, [], version + ": not of what is cancelled")
    s.request("tools/call", {"name": "sleep", "arguments": {"ms": 60000}},
              new=new)
    same(s.take(0.1), None, version + ": nor without a token")
    if not new:
        id, notes = beating(False, "test_sampling", {"prompt": "x"},
                            lambda n: len(n))
        want = None if version == "2024-11-05" else "Waiting for the client"
        ok(len(notes) == 3 and
           all(n.get("message") == want for n in notes),
           version + ": and while the client is asked", notes)
    for _ in range(8):
        s.request("tools/call", {"name": "sleep", "arguments": {"ms": 60000}},
                  new=new)
    notes = beating(new, "sleep", {"ms": 60000}, lambda n: len(n))[1]
    ok(len(notes) == 3, version + ": and while it waits for its turn", notes)
    s.end()
s = Server()
s.hello()

# --- several at once -------------------------------------------------------------
slow = s.request("tools/call", {"name": "sleep", "arguments": {"ms": 60000}},
                 meta={"progressToken": "slow"})
for i in range(100):
    s.call("ping")
    s.tool("echo", {"text": "x"})
ok(True, "pings and calls are answered while a long call works")
fast = s.request("tools/call", {"name": "sleep", "arguments": {"ms": 20}})
same(text(s.answer(fast)), "slept", "a short call is answered before an earlier long one")
s.cancel(slow)
ids = [s.request("tools/call", {"name": "sleep", "arguments": {"ms": 10}})
       for _ in range(40)]
got = {s.until(lambda m: "id" in m)["id"] for _ in ids}
same(got, set(ids), "40 calls at once are all answered")

# --- what goes wrong in a process -------------------------------------------------
m = s.tool("crash")
ok(code(m) == -32603 and "signal 9" in m["error"]["message"],
   "a crash is an error", m)
same(code(s.tool("silent")), -32603, "a work without a result is an internal error")
same(s.call("ping").get("result"), {}, "a ping is answered after a crashed and a silent work")

# --- cancelling ---------------------------------------------------------------------
s.notes = []
id = s.request("tools/call", {"name": "sleep", "arguments": {"ms": 60000}},
               meta={"progressToken": "c"})
s.until(lambda m: m.get("method") == "notifications/progress")
s.cancel(id)
s.call("ping")
s.notes = []
time.sleep(0.1)
s.call("ping")
same(s.notes, [], "a cancelled call sends no more progress")
same(s.answer(id, 0.2), None, "a cancelled call has no answer")


def stubborn(s, dir, **more):
    """A work deaf to signals and its child in a session of its own."""
    name = os.path.join(dir, "pids")
    id = s.request("tools/call", {"name": "stubborn", "arguments":
                                  {"file": name}}, meta={"progressToken": 1})
    s.until(lambda m: m.get("method") == "notifications/progress")
    with open(name) as f:
        pids = [int(x) for x in f.read().split()]
    os.unlink(name)
    return id, pids


with tempfile.TemporaryDirectory() as dir:
    id, pids = stubborn(s, dir)
    ok(all(alive(p) for p in pids), "the processes of a stubborn work are alive before it is cancelled")
    s.cancel(id)
    ok(all(gone(p) for p in pids), "cancelled: both are gone", pids)
    s.end()

    # --- the end --------------------------------------------------------------
    def ends(name, how, want, deaf):
        s = Server()
        s.hello()
        if deaf:
            pids = stubborn(s, dir)[1]
        else:
            s.request("tools/call", {"name": "sleep",
                                     "arguments": {"ms": 60000}})
            pids = []
        s.call("ping")
        t = time.monotonic()
        got = how(s)
        took = time.monotonic() - t
        same(got, want, name)
        ok(all(gone(p) for p in pids), name + ": all are gone", pids)
        print("# %s took %.0f ms" % (name, took * 1000))

    for deaf in (False, True):
        kind = " with a deaf work" if deaf else " with a work"
        ends("end of input" + kind, lambda s: s.end(), 0, deaf)
        ends("SIGTERM" + kind, lambda s: s.kill(signal.SIGTERM), 0, deaf)
        ends("SIGINT" + kind, lambda s: s.kill(signal.SIGINT), 0, deaf)

    # Nothing can be done then, but the work that listens to signals is gone.
    s = Server()
    s.hello()
    pids = stubborn(s, dir)[1]
    id = s.request("tools/call", {"name": "sleep", "arguments": {"ms": 60000}})
    s.call("ping")
    s.kill(signal.SIGKILL)
    for p in pids:
        os.kill(p, signal.SIGKILL)
s = Server()
t = time.monotonic()
same(s.kill(signal.SIGTERM) in (0, -15), True, "SIGTERM before any request ends the server")

# --- the first answer ---------------------------------------------------------------
best = 1.0
for _ in range(20):
    t = time.monotonic()
    s = Server()
    s.call("server/discover", new=True)
    best = min(best, time.monotonic() - t)
    s.end()
print("# started and discovered in %.1f ms" % (best * 1000))

# --- questions in the old era ----------------------------------------------------------
s = Server("--ask-ms", "300")
s.hello()


def asks(tool, arguments=None):
    id = s.request("tools/call", {"name": tool, "arguments": arguments or {}})
    return id, s.until(lambda m: "method" in m and "id" in m)


def reply(q, **what):
    s.send({"jsonrpc": "2.0", "id": q["id"], **what})


id, q = asks("test_sampling", {"prompt": "Grüß \"Gott\""})
same((q["method"], q["params"]["messages"][0]["content"]["text"],
      q["params"]["maxTokens"]),
     ("sampling/createMessage", "Grüß \"Gott\"", 100), "a question")
same(s.call("ping")["result"], {}, "a ping is answered while a question is open")
reply({"id": "mapm-999"}, result={"no": "such"})
reply(q, result={"role": "assistant", "content": {"type": "text",
                                                  "text": "Hi"}, "model": "m"})
ok('"text":"Hi"' in text(s.answer(id)), "the call completes with the answer of the client")
reply(q, result={"role": "late"})
id, q = asks("test_elicitation", {"message": "Who?"})
same(q["method"], "elicitation/create", "a call of elicitation sends a second question")
reply(q, error={"code": -1, "message": "User said no"})
ok("User said no (refused)" in text(s.answer(id)), "a refusal of the client reaches the work as refused")
id, q = asks("test_elicitation", {"message": "Who?"})
reply(q, error={"code": -32603, "message": "broken"})
ok("broken (failed)" in text(s.answer(id)), "an error of the client reaches the work as failed")
id, q = asks("test_sampling", {"prompt": "x"})
s.raw(json.dumps({"jsonrpc": "2.0", "id": q["id"], "result": {
    **SAID, "content": {"type": "text", "text": "@"}}}).replace(
        "@", "\x7f" * 3000000) + "\n")
ok("too long (limit)" in text(s.answer(id)), "a too long answer reaches the work as an error of the limit")
id, q = asks("test_elicitation", {"message": "Who?"})
reply(q, result=[1])
ok("not an object (failed)" in text(s.answer(id)), "an answer that is not an object reaches the work as failed")
id, q = asks("test_elicitation", {"message": "Who?"})
m = s.until(lambda m: m.get("method") == "notifications/cancelled")
same(m["params"]["requestId"], q["id"], "a question without an answer in time is withdrawn")
ok("in time (failed)" in text(s.answer(id)), "the timeout of a question reaches the work as failed")
id, q = asks("test_elicitation", {"message": "Who?"})
s.cancel(id)
m = s.until(lambda m: m.get("method") == "notifications/cancelled")
same(m["params"]["requestId"], q["id"], "cancelling a call withdraws its question")
id, q = asks("test_input_required_result_multiple_inputs")
more = [q] + [s.until(lambda m: "method" in m and "id" in m) for _ in range(2)]
same(sorted(m["method"] for m in more),
     ["elicitation/create", "roots/list", "sampling/createMessage"],
     "three at once")
for i, m in enumerate(reversed(more)):
    reply(m, result={"n": i})
same(text(s.answer(id)), 'All: {"n":2}{"n":1}{"n":0}',
     "answers in reverse order reach the right questions")
id, q = asks("test_input_required_result_multi_round")
reply(q, result={"n": 1})
q = s.until(lambda m: "method" in m and "id" in m)
reply(q, result={"n": 2})
same(text(s.answer(id)), 'Rounds:{"n":1}{"n":2}', "two questions one after the other are answered")
s.end()

s = Server()
s.hello(caps={"elicitation": {"url": {}}})
ok("cannot be asked (sampling) (refused)" in
   text(s.tool("test_sampling", {"prompt": "x"})),
   "who cannot be asked is not asked")
s.end()

# --- nothing is asked before notifications/initialized ---------------------------
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
HELLO = {"capabilities": ALL, "clientInfo": {"name": "test", "version": "1"}}


def asks_early(version):
    """A call that asks, of a client that has not said that it is ready."""
    s.call("initialize", {**HELLO, "protocolVersion": version})
    id = s.request("tools/call", {"name": "test_sampling",
                                  "arguments": {"prompt": "x"}})
    s.call("ping")
    same(s.take(0.3), None, version + ": not ready, and not asked")
    return id


def asked():
    return s.until(lambda m: "method" in m and "id" in m)


for version in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"):
    s = Server()
    id = asks_early(version)
    s.call("ping")
    same(s.take(0.1), None, version + ": nor after a ping")
    s.send(READY)
    q = asked()
    same(q["method"], "sampling/createMessage", version + ": ready: asked")
    reply(q, result=SAID)
    ok("LLM response" in text(s.answer(id)), version + ": and it goes on")
    id = s.request("tools/call", {"name": "test_sampling",
                                  "arguments": {"prompt": "x"}})
    reply(asked(), result=SAID)
    ok("LLM response" in text(s.answer(id)), version + ": then at once")
    s.end()
s = Server()
id = asks_early("2025-11-25")
more = s.request("tools/list")
reply(asked(), result=SAID)
ok("LLM response" in text(s.answer(id)), "the next request of a client counts as initialized")
s.end()
s = Server()
id = asks_early("2025-11-25")
reply(asked(), result=SAID)
ok("LLM response" in text(s.answer(id)), "a client that never says initialized is asked after a while")
s.end()
s = Server()
id = asks_early("2025-11-25")
s.cancel(id)
s.send(READY)
s.call("ping")
same([m for m in s.notes if "sampling" in str(m) or "cancelled" in str(m)], [],
     "a call that is cancelled before initialized is neither asked nor withdrawn")
s.end()

# --- what a client can be asked, by what it declares -----------------------------
FORM, URL = {"form"}, {"url"}
ELICITATION = [  # declared; modes from 2025-11-25 on; and before
    ({}, FORM, FORM), ({"form": {}}, FORM, FORM), ({"url": {}}, URL, FORM),
    ({"form": {}, "url": {}}, FORM | URL, FORM), ({"other": 1}, FORM, FORM),
    ({"url": True}, set(), FORM), (None, set(), set()), (True, set(), set()),
]


def is_asked(tool, version, caps):
    """Whether the client is asked; else it is said that it cannot be."""
    new = version == "2026-07-28"
    s = Server()
    if not new:
        s.hello(version, caps)
    id = s.request("tools/call", {"name": tool, "arguments": {}}, new=new,
                   caps=caps)
    m = s.take()
    asked = m.get("method") or m["result"].get("resultType") == "input_required"
    if not asked and "cannot be asked" not in text(m):
        asked = m
    s.end()
    return bool(asked)


for version in ("2025-06-18", "2025-11-25", "2026-07-28"):
    for declared, modes, before in ELICITATION:
        caps = {} if declared is None else {"elicitation": declared}
        want = before if version < "2025-11-25" else modes
        got = {m for m in ("form", "url", "other")
               if is_asked("elicit_" + m, version, caps)}
        same(got, want, "%s: elicitation %r: modes" % (version, declared))
        same(is_asked("test_streaming_elicitation", version, caps),
             "form" in want, "%s: a question without a mode is a form" % version)
    for declared, want in (({}, False), ({"tools": {}}, True)):
        same(is_asked("sample_tools", version, {"sampling": declared}), want,
             "%s: sampling %r: with tools" % (version, declared))
done()

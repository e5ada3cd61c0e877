#!/usr/bin/env -S python3 -S
# Multi round-trip requests: a call that asks is taken up again by a retry, in
# the same process or in another one, and nothing is done twice. [row 23].
import json
import os
import signal
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import *  # noqa: E402,F403

SAID = {"role": "assistant", "model": "m",
        "content": {"type": "text", "text": "+"}}
NAME = {"action": "accept", "content": {"name": "A"}}
ROOTS = {"roots": [{"uri": "file:///a", "name": "a"}, {"uri": "file:///b"}]}
ROUNDS = "test_input_required_result_multi_round"
top = tempfile.TemporaryDirectory()
count = 0


def folder():
    global count
    count += 1
    path = os.path.join(top.name, str(count))
    os.mkdir(path)
    return path


def params(tool, arguments, m=None, responses=None):
    p = {"name": tool, "arguments": arguments}
    if m is not None:
        p["requestState"] = m["result"]["requestState"]
    if responses is not None:
        p["inputResponses"] = responses
    return p


def retry(s, tool, arguments, m, responses, **more):
    return s.request("tools/call", params(tool, arguments, m, responses),
                     new=True, **more)


def again(*args, **more):
    return args[0].answer(retry(*args, **more))


def kind(m):
    return m.get("result", {}).get("resultType")


def lines(path):
    try:
        with open(path) as f:
            return len(f.readlines())
    except OSError:
        return 0


# --- one process ------------------------------------------------------------------
s = Server()
m = s.tool(ROUNDS, {"rounds": 3}, new=True)
same((kind(m), list(m["result"]["inputRequests"])), ("input_required",
                                                     ["step1"]), "it asks")
ok("ttlMs" not in m["result"], "a result that requires input has no ttlMs")
m2 = again(s, ROUNDS, {"rounds": 3}, m, {"step1": NAME, "more": NAME})
same(list(m2["result"]["inputRequests"]), ["step2"], "a retry with the first answer returns the second question")
m3 = again(s, ROUNDS, {"rounds": 3}, m, {"step1": {"other": 1}})
same(list(m3["result"]["inputRequests"]), ["step2"],
     "a repeated old retry returns the current question")
m3 = again(s, ROUNDS, {"rounds": 3}, m2, {"wrong": NAME})
same(list(m3["result"]["inputRequests"]), ["step2"], "a retry with a wrong key returns the same question")
m3 = again(s, ROUNDS, {"rounds": 3}, m2, None)
same(list(m3["result"]["inputRequests"]), ["step2"], "a retry without answers returns the same question")
m3 = again(s, ROUNDS, {"rounds": 3}, m2, {"step2": NAME})
m4 = again(s, ROUNDS, {"rounds": 3}, m3, {"step3": NAME})
same((kind(m4), text(m4).count('"A"')), ("complete", 3), "the last retry completes the call with all answers")
same(code(again(s, ROUNDS, {"rounds": 3}, m3, {"step3": NAME})), -32602,
     "a retry after completion is an error without a journal")

# A client may keep its members in a map: then they come back in another order.
def turned(x):
    if isinstance(x, dict):
        return {k: turned(x[k]) for k in reversed(x)}
    if isinstance(x, list):
        return [turned(v) for v in x]
    return float(x) if type(x) is int else x


deep = {"rounds": 2, "more": {"a": 1, "b": [{"c": 20, "d": {"e": "f", "g": None}}]}}
m = s.tool(ROUNDS, deep, new=True)
same(kind(m), "input_required", "a call with nested arguments requires input")
m = s.answer(s.request("tools/call", turned(params(ROUNDS, deep, m, {"step1": NAME})), new=True))
same(list(m["result"]["inputRequests"]), ["step2"],
     "a retry with its members in another order at every depth is accepted")
other = {**deep, "more": {**deep["more"], "b": [{"c": 20, "d": {"e": "f", "g": 0}}]}}
same(code(again(s, ROUNDS, other, m, {"step2": NAME})), -32602,
     "a retry with another value at depth is refused")
turn = {**deep, "more": {**deep["more"], "b": [deep["more"]["b"][0]] * 2}}
same(code(again(s, ROUNDS, turn, m, {"step2": NAME})), -32602,
     "a retry with one more item in an array is refused")
m = again(s, ROUNDS, deep, m, {"step2": NAME})
same(kind(m), "complete", "a retry with the original arguments completes the call")

m = s.tool("test_input_required_result_multiple_inputs", new=True)
keys = list(m["result"]["inputRequests"])
same(len(keys), 3, "a call asks three questions at once")
m = again(s, "test_input_required_result_multiple_inputs", {}, m,
          {keys[0]: NAME, keys[2]: ROOTS})
same(list(m["result"]["inputRequests"]), [keys[1]], "a retry with two of three answers returns the missing question")
m = again(s, "test_input_required_result_multiple_inputs", {}, m,
          {keys[1]: SAID, keys[0]: {"a": "changed"}})
same(text(m), "All: " + "".join(json.dumps(x, separators=(",", ":"))
                                for x in (NAME, SAID, ROOTS)),
     "the first answer counts")

# --- answers of the wrong shape ------------------------------------------------------
def said(**more):
    return {**SAID, **more}


def piece(**content):
    return said(content=content)


TEXT = SAID["content"]
WRONG = {
    "test_input_required_result_sampling": [
        7, "text", None, [], {}, {"foo": 1}, NAME, ROOTS,
        {"role": "assistant", "content": TEXT}, said(role="system"),
        said(role=1), said(model=1), said(stopReason=1), said(content=None),
        said(content="text"), piece(), piece(type="text"), piece(text="+"),
        piece(type="text", text=1), piece(type="sample", model="m"),
        piece(type="root", uri="file:///"), piece(type=["text"], text="+"),
        piece(type="image", data="AA=="), piece(type="audio", mimeType="x/y"),
        piece(type="tool_use", id="1", name="n", input=[]),
        piece(type="tool_result", toolUseId="1", content={}),
        said(content=[TEXT, "text"]), said(content=[TEXT, {"type": "text"}])],
    "test_input_required_result_elicitation": [
        7, {}, {"foo": 1}, SAID, {"action": "yes"}, {"action": True},
        {"content": {}}, {"action": "accept", "content": "x"},
        {"action": "accept", "content": []},
        {"action": "accept", "content": {"name": {}}},
        {"action": "accept", "content": {"name": None}},
        {"action": "accept", "content": {"name": ["a", 1]}}],
    "test_input_required_result_list_roots": [
        7, {}, {"foo": 1}, NAME, {"roots": None}, {"roots": {}},
        {"roots": ["file:///"]}, {"roots": [{}]}, {"roots": [{"uri": 1}]},
        {"roots": [{"uri": "file:///", "name": 1}]}],
}
RIGHT = {
    "test_input_required_result_sampling": [
        SAID, said(role="user", stopReason="any", more=1), said(content=[]),
        said(content=[TEXT, {"type": "image", "data": "", "mimeType": "x/y"},
                      {"type": "audio", "data": "", "mimeType": "x/y"},
                      {"type": "tool_use", "id": "1", "name": "n", "input": {}},
                      {"type": "tool_result", "toolUseId": "1",
                       "content": []}])],
    "test_input_required_result_elicitation": [
        NAME, {"action": "decline"}, {"action": "cancel", "content": None},
        {"action": "accept", "content": {}},
        {"action": "accept", "content": {
            "a": "x", "b": 1.5, "c": True, "d": ["x"], "e": []}}],
    "test_input_required_result_list_roots": [ROOTS, {"roots": []}],
}
for tool, right in RIGHT.items():
    for answer in right:
        m = s.tool(tool, new=True)
        key = list(m["result"]["inputRequests"])[0]
        bad = [w for w in WRONG[tool]
               if code(again(s, tool, {}, m, {key: w})) != -32602]
        same(bad, [], tool + ": what is no answer is refused")
        m = again(s, tool, {}, m, {key: answer, "more": 7})
        ok(kind(m) == "complete" and
           json.dumps(answer, separators=(",", ":")) in text(m),
           "and then the right one is taken: %s" % answer, m)
    m = s.call("tools/call", params(tool, {}, None, {key: WRONG[tool][0]}),
               new=True)
    same(kind(m), "input_required",
         tool + ": brought along with the first call: it is asked")
dir = folder()
s2 = Server("--journal", dir)
args = {"rounds": 1, "file": os.path.join(top.name, "shape")}
m = s2.tool("once", args, new=True)


def kept():
    with open(os.path.join(dir, os.listdir(dir)[0])) as f:
        return f.read()


before = kept()
same((code(again(s2, "once", args, m, {"ask0": {"foo": 1}})), kept() == before),
     (-32602, True), "nothing of it is written down")
s2.end()
for _ in range(2):
    s2 = Server("--journal", dir)
    same((code(again(s2, "once", args, m, {"ask0": {"foo": 1}})),
          kept() == before), (-32602, True), "nor after a restart")
    same(code(again(s2, "once", args, m, {"ask0": NAME})), -32602, "a second answer of the wrong shape is refused after a restart")
    last = s2
    if _ == 0:
        s2.end()
same(text(again(last, "once", args, m, {"ask0": SAID})), "Once:n+",
     "a right answer after wrong ones completes the call")
last.end()

# --- who may come back -------------------------------------------------------------
m = s.tool(ROUNDS, {"rounds": 1}, new=True)
state = m["result"]["requestState"]
run, round, expires, mac = state.split(".")
forged = {
    "a byte more": state + "0", "a byte less": state[:-1], "nothing": "",
    "another run": ".".join([run[::-1], round, expires, mac]),
    "another round": ".".join([run, "2", expires, mac]),
    "a later end": ".".join([run, round, "99999999999", mac]),
    "no proof": ".".join([run, round, expires, ""]),
    "an upper-case proof": ".".join([run, round, expires, mac.upper()]),
    "a path": "../../etc/passwd.1.99999999999." + mac, "a number": 7,
    "very long": "9" * 100000,
}
for name, state in forged.items():
    p = params(ROUNDS, {"rounds": 1}, None, {"step1": NAME})
    same(code(s.call("tools/call", {**p, "requestState": state}, new=True)),
         -32602, "forged: " + name)
same(code(again(s, ROUNDS, {"rounds": 2}, m, {"step1": NAME})), -32602,
     "a retry with other arguments is refused")
same(code(again(s, "once", {"rounds": 1}, m, {"step1": NAME})), -32602,
     "a retry with another tool is refused")
p = params(ROUNDS, {"rounds": 1}, m)
same(code(s.call("tools/call", {**p, "inputResponses": []}, new=True)), -32602,
     "a retry with a list of inputResponses is refused")
same(kind(again(s, ROUNDS, {"rounds": 1}, m, {"step1": NAME})), "complete",
     "the original retry completes the call after refused ones")
m = s.tool(ROUNDS, {"rounds": 1}, new=True)
s2 = Server()
same(code(again(s2, ROUNDS, {"rounds": 1}, m, {"step1": NAME})), -32602,
     "a state of another server is refused")
s2.end()
ok("cannot be asked" in s.tool(ROUNDS, new=True, caps={})["error"]["message"],
   "a client without capabilities is not asked")
m = s.tool("test_input_required_result_capabilities", new=True,
           caps={"sampling": {}})
same(list(m["result"]["inputRequests"]), ["sample_input"],
     "a client is asked with the capability that it declares")
m = s.call("tools/call", params("test_input_required_result_elicitation", {},
                                None, {"user_name": NAME}), new=True)
same(kind(m), "complete", "answers in the first call complete it")
m = s.call("prompts/get", {"name": "test_input_required_result_prompt"},
           new=True)
same(kind(m), "input_required", "prompts/get may require input")
s.end()

# --- two at once, once more, much later --------------------------------------------
dir = folder()
file = os.path.join(top.name, "two")
slow = {"rounds": 1, "file": file, "after_ms": 200}
s = Server("--journal", dir)
m = s.tool("once", slow, new=True)
same((lines(file), os.listdir(dir) != []), (1, True), "a suspended call has executed one step and has a journal")
a = retry(s, "once", slow, m, {"ask0": SAID}, meta={"progressToken": 1})
b = retry(s, "once", slow, m, {"ask0": SAID})
got = [s.take(), s.take()]
same({x["id"] for x in got}, {a, b}, "two retries at once are both answered")
same([text(x) for x in got], ["Once:n+"] * 2, "two retries at once have the same result")
x = again(s, "once", slow, m, {"ask0": {"other": 1}})
same((text(x), lines(file)), ("Once:n+", 1), "a third retry has the same result and the step is executed once")
x = again(s, "once", slow, m, {"ask0": SAID}, caps={})
same(text(x), "Once:n+", "a retry of a client without capabilities has the same result")
s.end()
s = Server("--journal", dir)
x = again(s, "once", slow, m, {"ask0": SAID})
same((text(x), lines(file)), ("Once:n+", 1), "a retry after a restart has the same result")
a = retry(s, "once", slow, m, {"ask0": SAID})
s.end()

m = None
s = Server("--journal", dir)
m = s.tool("once", {**slow, "after_ms": 60000}, new=True)
a = retry(s, "once", {**slow, "after_ms": 60000}, m, {"ask0": SAID})
b = retry(s, "once", {**slow, "after_ms": 60000}, m, {"ask0": SAID})
s.cancel(a)
same(s.answer(b, 0.1), None, "the second of two retries waits on after the first is cancelled")
s.cancel(b)
same(code(again(s, "once", {**slow, "after_ms": 60000}, m, {"ask0": SAID})),
     -32602, "both are: it is over")
s.end()

# --- another process -----------------------------------------------------------------
for how in (signal.SIGKILL, signal.SIGTERM, None):
    dir, file = folder(), os.path.join(top.name, "run%s" % how)
    args = {"rounds": 4, "file": file}
    s = Server("--journal", dir)
    m = s.tool("once", args, new=True)
    for i in range(4):
        if how is None:
            s.end()
        else:
            s.kill(how)
        s = Server("--journal", dir)
        old = m
        m = again(s, "once", args, m, {"ask%d" % i: SAID})
        same(kind(m), "complete" if i == 3 else "input_required",
             "%s, round %d: taken up by another process" % (how, i + 1))
    same((text(m), lines(file)), ("Once:n+n+n+n+", 4), "each step of a call in several processes is executed once")
    same(again(s, "once", args, old, {"ask3": SAID})["result"], m["result"],
         "a late retry has the result of the finished call")
    s.end()

# While one process has it, no other one does.
dir, file = folder(), os.path.join(top.name, "busy")
args = {"rounds": 1, "file": file}
s, s2 = Server("--journal", dir), Server("--journal", dir)
m = s.tool("once", args, new=True)
x = again(s2, "once", args, m, {"ask0": SAID})
ok(code(x) == -32603 and "another process" in x["error"]["message"],
   "another living process has it", x)
same(text(again(s, "once", args, m, {"ask0": SAID})), "Once:n+", "the process that holds the call completes it")
same((text(again(s2, "once", args, m, {"ask0": SAID})), lines(file)),
     ("Once:n+", 1), "then the other one has the result, too")
s.end()
s2.end()

# It dies between the beginning and the note of it: nobody knows, so not again.
dir, file = folder(), os.path.join(top.name, "cut")
args = {"rounds": 2, "file": file, "ms": 1000}
s = Server("--journal", dir)
m = s.tool("once", args, new=True)
retry(s, "once", args, m, {"ask0": SAID})
while lines(file) < 2:
    time.sleep(0.005)
s.kill(signal.SIGKILL)
s = Server("--journal", dir)
m = again(s, "once", args, m, {"ask0": SAID})
m = again(s, "once", args, m, {"ask1": SAID})
same((text(m), lines(file)), ("Once:n+?+", 2), "an interrupted step is not executed again")
s.end()

# Two retries meet in a process that has just been started.
dir, file = folder(), os.path.join(top.name, "meet")
args = {"rounds": 1, "file": file, "after_ms": 100}
s = Server("--journal", dir)
m = s.tool("once", args, new=True)
s.end()
s = Server("--journal", dir)
for _ in range(3):
    retry(s, "once", args, m, {"ask0": SAID})
same([text(s.take()) for _ in range(3)], ["Once:n+"] * 3,
     "three retries at the start of a process have the same result")
same(lines(file), 1, "the step of three retries is executed once")
s.end()

# A journal that somebody spoiled.
dir = folder()
s = Server("--journal", dir)
m = s.tool(ROUNDS, {"rounds": 1}, new=True)
s.end()
with open(os.path.join(dir, os.listdir(dir)[0]), "a") as f:
    f.write('{"kind":"nonsense"}\n')
s = Server("--journal", dir)
same(code(again(s, ROUNDS, {"rounds": 1}, m, {"step1": NAME})), -32603,
     "a retry with a damaged journal is an internal error")
os.unlink(os.path.join(dir, os.listdir(dir)[0]))
same(code(again(s, ROUNDS, {"rounds": 1}, m, {"step1": NAME})), -32602,
     "a retry with a deleted journal is refused")

# Many wait: the oldest are put away, and come back from the journal.
all = [s.tool(ROUNDS, {"rounds": 1, "n": i}, new=True) for i in range(40)]
s.call("server/discover", new=True)
got = [again(s, ROUNDS, {"rounds": 1, "n": i}, m, {"step1": NAME})
       for i, m in enumerate(all)]
same([kind(m) or m for m in got], ["complete"] * 40, "each of 40 suspended calls is completed by its retry")
same(s.end(), 0, "the server exits with 0 after 40 suspended calls")

# --- what is no end of a run ----------------------------------------------------------
def children(s):
    """The processes of its works."""
    with open("/proc/%d/task/%d/children" % (s.p.pid, s.p.pid)) as f:
        return [int(x) for x in f.read().split()]


# It waits for its turn, and who brought it is cancelled.
for first in (0, 1):
    dir, file = folder(), os.path.join(top.name, "turn%d" % first)
    args = {"rounds": 1, "file": file}
    s = Server("--journal", dir)
    m = s.tool("once", args, new=True)
    s.end()
    s = Server("--journal", dir)
    busy = [s.request("tools/call", {"name": "sleep", "arguments":
                                     {"ms": 600000}}, new=True)
            for _ in range(8)]
    two = [retry(s, "once", args, m, {"ask0": SAID}) for _ in range(2)]
    s.cancel(two[first])
    s.call("server/discover", new=True)
    same([x for x in s.notes if x.get("id") in two], [],
         "a cancelled retry in the queue is not answered")
    s.cancel(busy[0])
    same(text(s.answer(two[1 - first])), "Once:n+", "the other retry in the queue has the result")
    same(text(again(s, "once", args, m, {"ask0": SAID})), "Once:n+",
         "a later retry has the result of the queued call")
    s.end()
    same(lines(file), 1, "the step of the queued call is executed once")

dir, file = folder(), os.path.join(top.name, "alone")
args = {"rounds": 1, "file": file}
s = Server("--journal", dir)
m = s.tool("once", args, new=True)
s.end()
s = Server("--journal", dir)
busy = [s.request("tools/call", {"name": "sleep", "arguments": {"ms": 600000}},
                  new=True) for _ in range(8)]
s.cancel(retry(s, "once", args, m, {"ask0": SAID}))
s.call("server/discover", new=True)
s.cancel(busy[0])
same((text(again(s, "once", args, m, {"ask0": SAID})), lines(file)),
     ("Once:n+", 1), "none is left: it is there for who comes back")
s.end()

# Its process is killed: that was not its result.
dir, file = folder(), os.path.join(top.name, "killed")
args = {"rounds": 1, "file": file, "after_ms": 300}
s = Server("--journal", dir)
m = s.tool("once", args, new=True)
a = retry(s, "once", args, m, {"ask0": SAID})
s.call("server/discover", new=True)
for pid in children(s):
    os.kill(pid, signal.SIGKILL)
x = s.answer(a)
ok(code(x) == -32603 and "signal 9" in x["error"]["message"],
   "a process that is killed is an error", x)
same((text(again(s, "once", args, m, {"ask0": SAID})), lines(file)),
     ("Once:n+", 1), "and the next retry goes on with the run")
s.end()

# --- an answer that is too long as JSON: each DEL becomes six bytes ----------------------
dir = folder()
s = Server("--journal", dir)
name = "test_input_required_result_sampling"
long = {**SAID, "content": {"type": "text", "text": "@"}}
for restart in (False, True):
    m = s.tool(name, new=True)
    if restart:
        s.end()
        s = Server("--journal", dir)
    line = json.dumps({"jsonrpc": "2.0", "id": "long", "method": "tools/call",
                       "params": {**params(name, {}, m,
                                           {"capital_question": long}),
                                  "_meta": modern()}})
    s.raw(line.replace("@", "\x7f" * 3000000) + "\n")
    x = s.answer("long")
    ok(code(x) == -32602 and "larger than" in x["error"]["message"],
       "an answer that is too long is refused", x)
    ok('"text":"+"' in text(again(s, name, {}, m, {"capital_question": SAID})),
       "a shorter answer completes the call after a refused one")
s.end()
top.cleanup()
done()

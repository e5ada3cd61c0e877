#!/usr/bin/env -S python3 -S
# mapm mcp --ask sampling: the client's model answers, by a request in the old era
# and by a retry in the new one (MRTR). Whatever happens to the server or to the
# retries, a command runs once [K19, row 23].
import ctypes
import fcntl
import glob
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from mcp_client import MAPM, Server, Tap, main, opened, text_of

ok, same = Tap.ok, Tap.same
CAPS = {"sampling": {}}
OPTIONS = ("--ask", "sampling", "--allow", "sh *")
PROGRAM = '''def run(input):
    said = []
    for n in range(input["n"]):
        command(["sh", "-c", "echo %d >>count" % n])
        a = ask("question %d" % n, {"purpose": "p"})
        said.append([a["answer"], a["exhausted"], a["truncated"], a["turns"]])
    command(["sh", "-c", "echo end >>count"])
    return {"answer": "done", "said": said}
'''
CALL = {"name": "run_metaskill", "arguments": {"name": "steps", "input": {"n": 2}}}


def count():
    try:
        with open("count") as file:
            return file.read().split()
    except FileNotFoundError:
        return []
    finally:
        if os.path.exists("count"):
            os.remove("count")


def sample(text, stop="endTurn", content=None):
    return {"role": "assistant", "model": "m", "stopReason": stop,
            "content": content or {"type": "text", "text": text}}


def reply(result, text, **more):
    """The retry that answers what a result asks for."""
    return dict(CALL, requestState=result["requestState"],
                inputResponses={key: sample(text, **more) for key in result["inputRequests"]})


def new(*args, **options):
    return opened(*(args or OPTIONS), caps=CAPS, modern=True, **options)


def old_era(w):
    s = opened(*OPTIONS, caps=CAPS)
    number = s.start("tools/call", CALL)
    first = s.request()
    same((first["method"], first["params"]["messages"]),
         ("sampling/createMessage", [{"role": "user", "content": {"type": "text", "text": "question 0"}}]),
         "the old era: a request to the client")
    ok(first["params"]["maxTokens"] > 0, "the sampling request has a limit of tokens")
    same(s.call("ping"), {}, "a ping is answered while the server waits for the client")
    s.send({"jsonrpc": "2.0", "id": first["id"], "result": sample("one", "maxTokens")})
    second = s.request()
    s.send({"jsonrpc": "2.0", "id": second["id"], "result": sample(
        "", content=[{"type": "text", "text": "t"}, {"type": "text", "text": "wo"}])})
    r = s.wait(number)
    same(r["structuredContent"]["said"], [["one", True, True, 1], ["two", False, False, 1]], "the run has the answers of the client with their ends")
    same(count(), ["0", "1", "end"], "each command of the run is executed once")
    number = s.start("tools/call", CALL)
    s.send({"jsonrpc": "2.0", "id": s.request()["id"], "error": {"code": -1, "message": "the user says no"}})
    r = s.wait(number)
    ok(r["isError"] and "sampling" in text_of(r), "a refusal is an error", r)
    s.close()
    count()
    s = opened(*OPTIONS, env={"MAPM_ASK": "exec:./answer"})
    r = s.tool(**CALL)
    same([a[0] for a in r["structuredContent"]["said"]], ["question 0!", "question 1!"],
         "a client without sampling leads to the configured back end")
    s.close()
    count()
    ok(not glob.glob(w.data + "/suspended/*.jsonl"), "calls of the old era leave no journal")


def new_era(w):
    s = new()
    r = s.call("tools/call", CALL)
    same((r["resultType"], list(r["inputRequests"])), ("input_required", ["ask1"]), "a call of the new era returns the input that it requires")
    same(r["inputRequests"]["ask1"]["params"]["messages"][0]["content"]["text"], "question 0", "the required input has the question of the metaskill")
    state = r["requestState"]
    same(s.requests, [], "a call of the new era sends no request to the client")
    again = s.call("tools/call", dict(CALL, requestState=state))
    same((again["resultType"], list(again["inputRequests"])), ("input_required", ["ask1"]), "a retry without an answer returns the same required input")
    for wrong in ("x", "", state[:-1] + ("0" if state[-1] != "0" else "1"), state.replace(".1.", ".2.")):
        bad = s.call("tools/call", dict(reply(r, "one"), requestState=wrong))
        ok("error" in bad, f"[row 23] a state that is not ours: {wrong[:12]}", bad)
    bad = s.call("tools/call", dict(reply(r, "one"), arguments={"name": "steps", "input": {"n": 3}}))
    ok("error" in bad, "[row 23] or that belongs to another call", bad)
    r2 = s.call("tools/call", reply(r, "one"))
    same(list(r2["inputRequests"]), ["ask2"], "a retry with an answer returns the next question")
    done = s.call("tools/call", reply(r2, "two"))
    same([a[0] for a in done["structuredContent"]["said"]], ["one", "two"], "the last retry returns the result with all answers")
    same(count(), ["0", "1", "end"], "each command of a run with retries is executed once")
    same(s.call("tools/call", reply(r2, "other")), done, "a late retry returns the same result")
    same(count(), [], "a late retry executes no command")
    s.close()


def restarts(w):
    before = w.mapm("runs", "--json").stdout.count('"id"')
    s = new()
    r = s.call("tools/call", CALL)
    for how in ("kill", "close"):
        getattr(s, how)()
        s = new()
        ok(True, f"a new server is started after {how}")
        r = s.call("tools/call", reply(r, how))
    same([a[0] for a in r["structuredContent"]["said"]], ["kill", "close"], "a run is continued by other processes")
    same(count(), ["0", "1", "end"], "no command of a continued run is executed twice")
    same(w.mapm("runs", "--json").stdout.count('"id"'), before + 1, "[K19] a continued run is one run in the history")
    s.close()


def cut(w):
    """The server dies while a command runs: who knows whether it did its work."""
    w.metaskill("cut", 'def run(input):\n    ask("q")\n    r = command(["sh", "-c", "echo x >>count; sleep 5"])\n'
                       '    return {"answer": r["result"]}\n')
    call = {"name": "run_metaskill", "arguments": {"name": "cut", "input": {"n": 1}}}
    s = new()
    r = s.call("tools/call", call)
    retry = dict(call, requestState=r["requestState"], inputResponses={"ask1": sample("a")})
    s.start("tools/call", retry)
    while not os.path.exists("count") or not os.path.getsize("count"):
        pass
    s.kill()
    s = new()
    r = s.call("tools/call", retry)
    ok("cut off" in r["structuredContent"]["answer"], "a command that was cut off is not tried again", r)
    same(count(), ["x"], "an interrupted command was executed once")
    s.close()


def at_once(w):
    s = new()
    r = s.call("tools/call", CALL)
    numbers = [s.start("tools/call", reply(r, "one")) for _ in range(2)]
    a, b = (s.wait(n) for n in numbers)
    same([list(x.get("inputRequests", x)) for x in (a, b)], [["ask2"]] * 2, "two retries at once return the same question")
    numbers = [s.start("tools/call", reply(x, "two")) for x in (a, b)]
    a, b = (s.wait(n) for n in numbers)
    same(a["structuredContent"]["said"], b["structuredContent"]["said"], "two last retries at once return the same result")
    same(count(), ["0", "1", "end"], "each command is executed once with two retries at once")
    s.close()
    s = new()
    r = s.call("tools/call", CALL)
    s.kill()
    two = [new(), new()]
    got = [None, None]

    def retry(i):
        got[i] = two[i].call("tools/call", reply(r, "one"))
    threads = [threading.Thread(target=retry, args=(i,)) for i in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    ok(sum("inputRequests" in x for x in got) >= 1, "two processes: one of them takes it up", got)
    same(count(), ["0", "1"], "no command is executed twice with two processes")
    for x in two:
        x.close()


def journal(w):
    """What is on the disk is read again with care."""
    def suspended():
        s = new()
        r = s.call("tools/call", CALL)
        s.kill()
        count()
        return r, f'{w.data}/suspended/{r["requestState"].split(".")[0]}.jsonl'

    r, path = suspended()
    same(oct(os.stat(path).st_mode & 0o777), "0o600", "a journal has the mode 0600")
    with open(path, "a") as file:
        file.write('{"kind":"note","num')
    s = new()
    r = s.call("tools/call", reply(r, "one"))
    same(list(r["inputRequests"]), ["ask2"], "an incomplete last line of a journal is ignored")
    same(count(), ["1"], "a retry after an incomplete line executes the next command alone")
    s.close()
    for text in ("garbage\n", '{"kind":"note"}\n', "", "\0\n"):
        r, path = suspended()
        with open(path) as file:
            first = file.readline()
        with open(path, "w") as file:
            file.write(first + text if text else "")
        s = new()
        ok("error" in s.call("tools/call", reply(r, "one")), f"[row 23] a journal of {text!r} is an error")
        same(s.close(), 0, "the server ends with 0 after a damaged journal")
        same(count(), [], "a damaged journal leads to no command")
    for how in ("FIFO", "folder", "link", "huge file", "socket"):
        r, path = suspended()
        os.remove(path)
        if how == "FIFO":
            os.mkfifo(path)
        elif how == "folder":
            os.mkdir(path)
        elif how == "link":
            os.symlink("/dev/zero", path)
        elif how == "huge file":
            with open(path, "w") as file:
                file.truncate(1 << 40)
        else:
            socket.socket(socket.AF_UNIX).bind(path)
        s = new()
        ok("error" in s.call("tools/call", reply(r, "one")), f"[F3] (d) a retry with a {how} in place of a journal is an error")
        same(s.call("tools/call", CALL)["resultType"], "input_required", f"[F3] (d) other calls work beside a {how} in place of a journal")
        same(s.close(), 0, f"[F3] (d) the server ends with 0 beside a {how} in place of a journal")
        same(count(), ["0"], "[F3] (d) the call beside it alone executes a command")
        if how == "folder":
            os.rmdir(path)
        elif os.path.lexists(path):
            os.remove(path)
    r, path = suspended()
    with open(path) as file:
        lines = file.read().split("\n", 1)
    with open(path, "w") as file:
        file.write("1\n" + lines[1])
    suspended()
    ok(not os.path.exists(path), "an expired journal is deleted")


def crowded(w):
    """[row 23] what waits is bounded, and what has expired goes, however much it is."""
    folder = w.data + "/suspended"

    def names():
        return [x for x in os.listdir(folder) if x != "key"]

    def fill(count, first, size=0):
        for n in range(count):
            with open(f"{folder}/{n:032x}.jsonl", "w") as file:
                file.write(first)
                file.truncate(max(size, len(first)))

    for name in names():
        os.remove(f"{folder}/{name}")
    s = new()
    fill(2500, "1\n")
    with open(f"{folder}/{'f' * 32}.draft", "w"):
        os.utime(file := f"{folder}/{'f' * 32}.draft", (1, 1))
    ok(os.path.exists(file), "an abandoned draft exists before the call")
    r = s.call("tools/call", CALL)
    same((r["resultType"], len(names())), ("input_required", 1), "a call deletes 2,500 expired journals and the draft")
    s.call("tools/call", reply(r, "one"))
    for what, count_, size in (("1,000 that wait", 1000, 0), ("256 MiB of them", 2, 200 << 20)):
        for name in names():
            os.remove(f"{folder}/{name}")
        fill(count_, f"{int(time.time()) + 3000}\n", size)
        r = s.call("tools/call", CALL)
        ok(r["isError"] and "wait for an answer" in text_of(r), what + ": not one more", r)
        same(len(names()), count_, "a refused call leaves no journal")
    for name in names():
        os.remove(f"{folder}/{name}")
    for what, first, size in (("without end", "99999999999\n", 0), ("larger than any call", f"{int(time.time()) + 3000}\n", 1 << 40)):
        fill(1000, first, size)
        same(s.call("tools/call", CALL)["resultType"], "input_required", f"[F3] (d) damaged journals, {what}, do not count for the limit")
        for name in names():
            os.remove(f"{folder}/{name}")
    same(s.call("tools/call", CALL)["resultType"], "input_required", "a call succeeds after the journals are gone")
    s.close()
    count()


def ended(w):
    """[K19, row 23] what has ended takes no room from what waits, and what waits
    or is held stays."""
    folder = w.data + "/suspended"

    def names():
        return {x for x in os.listdir(folder) if x != "key"}

    def put(name, text, when, size=0):
        with open(f"{folder}/{name}", "w") as file:
            file.write(f"{int(time.time()) + 3000}\n")
            file.seek(max(size - len(text), 12))
            file.write(text)
        os.utime(f"{folder}/{name}", (when, when))

    for name in names():
        os.remove(f"{folder}/{name}")
    w.metaskill("once", 'def run(input):\n    return ask("q")["answer"]\n')
    call = {"name": "run_metaskill", "arguments": {"name": "once", "input": {"n": 1}}}
    s = new()
    r = s.call("tools/call", call)
    retry = dict(call, requestState=r["requestState"], inputResponses={"ask1": sample("a")})
    waits = names()
    done = s.call("tools/call", retry)
    same((names(), s.call("tools/call", retry)), (waits, done), "an ended journal is kept and a late retry returns the result")
    s.close()
    s = new()
    same(s.call("tools/call", retry), done, "a late retry after a restart returns the same result")
    with open(f"{folder}/{waits.pop()}") as file:
        text = file.read()
    ask = [x for x in text.split("\n") if '"kind":"ask"' in x][0] + "\n"
    text = text.split("\n", 1)[1]
    for n in range(997):
        put(f"{n:032x}.jsonl", text, 1000 + n)
    put(f"{'a' * 32}.jsonl", ask, 1)
    put(f"{'b' * 32}.jsonl", text, 2)
    before = names()
    same(len(before), 1000, "the folder has 1,000 journals before the next call")
    with open(f"{folder}/{'b' * 32}.jsonl") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        for n in range(3):
            r = s.call("tools/call", call)
            same(r.get("resultType"), "input_required", f"[row 23] call {n} succeeds at the limit of journals")
        same(before - names(), {f"{n:032x}.jsonl" for n in range(3)}, "the oldest ended journals are deleted, and no other")
        same(len(names()), 1000, "the number of journals stays at the limit")
    for name in names():
        os.remove(f"{folder}/{name}")
    for n in range(2):
        put(f"{n:032x}.jsonl", text, 1000 - n, 200 << 20)
    same(s.call("tools/call", call).get("resultType"), "input_required", "a call succeeds beside 256 MiB of ended journals")
    same((f"{0:032x}.jsonl" in names(), f"{1:032x}.jsonl" in names()), (True, False), "the older of two large ended journals is deleted")
    s.close()
    for name in names():
        os.remove(f"{folder}/{name}")


def revoked(w):
    """[X27] what is forbidden while a call waits does not go on."""
    w.metaskill("late", 'def run(input):\n    ask("q")\n    command(["sh", "-c", "echo x >>count"])\n'
                        '    command(["sh", "-c", "while test -e hold; do sleep 0.01; done"])\n'
                        '    command(["sh", "-c", "echo y >>count"])\n    return "went on"\n')
    call = {"name": "run_metaskill", "arguments": {"name": "late", "input": {"n": 1}}}

    def retry(r):
        return dict(call, requestState=r["requestState"], inputResponses={"ask1": sample("a")})

    def revoke():
        w.mapm("trust", "--revoke", "--workspace")

    for restart in (False, True):
        s = new()
        r = s.call("tools/call", call)
        revoke()
        fresh = s.call("tools/call", call)
        if restart:
            s.close()
            s = new()
        got = s.call("tools/call", retry(r))
        ok(got.get("isError") and "not trusted" in text_of(got), f"trust is taken back while it waits, restart {restart}", got)
        same(got["content"], fresh["content"], "a retry after revoked trust has the error of a new call")
        same(count(), [], "a retry after revoked trust executes no command")
        same(s.call("tools/call", retry(r))["content"], got["content"], "a second retry after revoked trust returns the same error")
        s.close()
        w.trust()
    s = new()
    r = s.call("tools/call", call)
    open("hold", "w").close()
    number = s.start("tools/call", retry(r))
    while not os.path.exists("count") or not os.path.getsize("count"):
        pass
    revoke()
    os.remove("hold")
    got = s.wait(number)
    ok(got.get("isError") and "not trusted" in text_of(got), "or later on", got)
    same(count(), ["x"], "trust that is revoked during a run stops later commands")
    w.trust()
    r = s.call("tools/call", call)
    with open("mapm.yaml") as file:
        before = file.read()
    with open("mapm.yaml", "a") as file:
        file.write("runtime:\n  metaskills: off\n")
    got = s.call("tools/call", retry(r))
    ok(got.get("isError") and "disabled" in text_of(got), "the policy is that of now", got)
    with open("mapm.yaml", "w") as file:
        file.write(before)
    same(count(), [], "a retry under the policy off executes no command")
    r = s.call("tools/call", call)
    ok("went on" in text_of(s.call("tools/call", retry(r))), "a retry succeeds under a policy that allows it")
    same(count(), ["x", "y"], "a retry under a policy that allows it executes all commands")
    s.close()


def created(folder, work):
    """The names that come to be in `folder` by themselves while work() is done."""
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.inotify_init1(os.O_NONBLOCK)
    assert libc.inotify_add_watch(fd, folder.encode(), 0x100) >= 0  # IN_CREATE
    work()
    names, block = [], os.read(fd, 1 << 16)
    while block:
        size = int.from_bytes(block[12:16], sys.byteorder)
        names.append(block[16:16 + size].rstrip(b"\0").decode())
        block = block[16 + size:]
    os.close(fd)
    return names


def owners(w):
    """A call is taken up where it was begun, and by one process."""
    w.metaskill("long", 'def run(input):\n    command(["sh", "-c", "touch begun; sleep 600"])\n    return {"answer": "x"}\n')
    s = new()
    names = created(w.data + "/suspended", lambda: s.call("tools/call", CALL))
    ok(names and not any(x.endswith(".jsonl") for x in names),
       "a journal has its name when it is locked, not before", names)
    count()
    r = s.call("tools/call", CALL)
    r = s.call("tools/call", reply(r, "one"))
    s.start("tools/call", {"name": "run_metaskill", "arguments": {"name": "long", "input": {"n": 1}}})
    while not os.path.exists("begun"):
        pass
    os.remove("begun")
    retry = reply(r, "two")
    done = s.call("tools/call", retry)
    same(s.call("tools/call", retry), done, "a late retry returns the same result while another run works")
    other = new()
    same(other.call("tools/call", retry), done, "a late retry in another process returns the same result")
    other.close()
    s.kill()
    count()

    s = new()
    r = s.call("tools/call", CALL)
    s.close()
    for what, options, cwd in (("another workspace", OPTIONS, w.top + "/ws2"), ("other options", OPTIONS + ("--allow", "ls"), w.ws)):
        if not os.path.exists(cwd):
            shutil.copytree(w.ws, cwd)
            subprocess.run([MAPM, "trust", "--workspace", "--yes"], cwd=cwd, check=True, capture_output=True)
        s = new(*options, cwd=cwd)
        bad = s.call("tools/call", reply(r, "one"))
        same(bad.get("error", {}).get("code"), -32602, f"[row 23] a retry with a state of {what} is an error")
        same(s.call("tools/call", CALL)["resultType"], "input_required", "a new call with the same arguments works there")
        s.close()
    s = new()
    same(list(s.call("tools/call", reply(r, "one"))["inputRequests"]), ["ask2"], "a retry in the original workspace continues the run")
    s.close()
    count()


def lacking(w):
    """2026-07-28: a client that would have to answer, and does not declare that it
    can, is an error of its own; where somebody else answers, nothing is."""
    w.metaskill("asks", 'def run(input):\n    return {"answer": ask("q")["answer"] if input["ask"] else "none"}\n')
    nobody = {"PATH": w.top + "/none", "MAPM_ASK": ""}

    def run(modern, env, caps=None, ask=True, options=("--ask", "sampling")):
        s = opened(*options, caps=caps, modern=modern, env=env)
        r = s.run("asks", input={"ask": ask})
        s.close()
        return r

    for caps in ({}, {"elicitation": {}}, {"sampling": True}):
        e = run(True, nobody, caps).get("error", {})
        same((e.get("code"), e.get("data")), (-32021, {"requiredCapabilities": {"sampling": {}}}),
             f"the new era: a client with {caps} and no back end is an error")
        ok("no model backend" in e["message"], "with the reason", e)
    e = run(True, dict(nobody, MAPM_ASK="nothing-such")).get("error", {})
    same(e.get("code"), -32021, "an unknown configured back end counts as none")
    r = run(True, nobody, ask=False)
    same(r["structuredContent"]["answer"], "none", "a run without asks succeeds without sampling and back end")
    r = run(True, {"MAPM_ASK": "exec:./answer"})
    same(r["structuredContent"]["answer"], "q!", "the new era: the configured back end answers in place of the client")
    r = run(True, {"MAPM_ASK": "exec:false"})
    ok(r["isError"] and "error: " in text_of(r), "one that fails is a result, as ever", r)
    r = run(False, nobody)
    ok(r["isError"] and "no model backend" in text_of(r), "the old era: a result that says so", r)
    r = run(True, nobody, options=())
    ok(r["isError"] and "no model backend" in text_of(r), "and without --ask sampling", r)
    s = opened(*OPTIONS, caps=CAPS, modern=True, env=nobody)
    r = s.call("tools/call", CALL)
    s.caps = {}
    e = s.call("tools/call", reply(r, "one")).get("error", {})
    same((e.get("code"), e.get("data")), (-32021, {"requiredCapabilities": {"sampling": {}}}),
         "a retry of a client that no longer declares sampling is an error")
    s.close()
    count()


def test(w):
    w.metaskill("steps", PROGRAM)
    w.write("answer", '#!/bin/sh\nprintf "%s!" "$(cat)"\n', 0o755)
    w.trust()
    old_era(w)
    new_era(w)
    restarts(w)
    cut(w)
    at_once(w)
    journal(w)
    crowded(w)
    ended(w)
    revoked(w)
    owners(w)
    lacking(w)
    folder = w.data + "/suspended"
    same(oct(os.stat(folder).st_mode & 0o777), "0o700", "the folder of journals has the mode 0700")
    s = Server("--ask", "sampling")
    s.open()
    s.close()
    ok(os.path.exists(folder + "/key"), "the key of journals outlives the process")


main(test)

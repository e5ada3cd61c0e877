#!/usr/bin/env -S python3 -S
# Every method of the Model Context Protocol in both eras, and every error by
# its code. docs/clients.md 6.
import json
import os
import signal
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import *  # noqa: E402,F403

OLD = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]
INFO = {"name": "mcp-fixture", "title": "Fixture", "version": "1.0.0"}

# --- the old era -------------------------------------------------------------
for version in OLD:
    s = Server()
    r = s.hello(version)["result"]
    same(r["protocolVersion"], version, version + ": is what was asked for")
    same(r["serverInfo"].get("title"),
         "Fixture" if version >= "2025-06-18" else None,
         version + ": a title, since there are some")
    same(r["instructions"], "For tests.", version + ": instructions")
    caps = r["capabilities"]
    same(caps["tools"], {"listChanged": True}, version + ": tools")
    same(caps["resources"], {"listChanged": True, "subscribe": True},
         version + ": resources")
    same("completions" in caps, version >= "2025-03-26",
         version + ": completions")
    same(caps["logging"], {}, version + ": logging")
    same(s.call("ping")["result"], {}, version + ": ping")
    tool = s.call("tools/list")["result"]["tools"][0]
    same(sorted(tool), sorted(
        ["name", "description", "inputSchema"] +
        (["annotations"] if version >= "2025-03-26" else []) +
        (["title"] if version >= "2025-06-18" else [])),
        version + ": of a tool what the revision knows")
    m = s.tool("echo", {"text": "Grüße \"\n\u2028"})
    same(text(m), "Grüße \"\n\u2028", version + ": tools/call")
    ok("resultType" not in m["result"] and "_meta" not in m["result"],
       version + ": nothing of the new era in it", m)
    same(code(s.call("resources/read", {"uri": "no:such"})), -32002,
         version + ": no such resource")
    same(code(s.call("server/discover")), -32602,
         version + ": server/discover is of the new era")
    same(code(s.call("no/such")), -32601, version + ": no such method")
    same(s.end(), 0, version + ": ends with its input")

s = Server()
same(s.hello("2099-01-01")["result"]["protocolVersion"], "2025-11-25",
     "initialize with an unknown revision gets the newest of the old era")
same(code(s.hello("2024-11-05")), -32600, "a second initialize is an error")
same(s.call("ping")["result"], {}, "ping succeeds after a rejected second initialize")
s.end()

s = Server()
same(s.call("ping")["result"], {}, "ping succeeds before initialize")
same(code(s.call("tools/list")), -32602, "tools/list before initialize is an error")
same(code(s.call("initialize", {})), -32602, "initialize without a revision is an error")
s.end()

# --- what a server has to do before its first list or call ------------------------
ready = os.path.join(tempfile.mkdtemp(), "ready")
s = Server("--ready", ready)
s.hello()
same(s.call("ping")["result"], {}, "ping succeeds before the server is ready")
same(s.call("tools/list")["error"], {"code": -32603, "message": "not ready"}, "tools/list before the server is ready has the error of the server")
open(ready, "w").close()
ok("result" in s.call("tools/list"), "tools/list succeeds once the server is ready")
s.end()

# --- both eras, side by side --------------------------------------------------
s = Server("--many", "1200")
s.hello()
for new in (False, True):
    era = "new: " if new else "old: "

    def call(method, params=None, **more):
        return s.call(method, params, new=new, **more)

    pages, cursor, uris = 0, None, []
    while True:
        r = call("resources/list", {"cursor": cursor} if cursor else {})
        r = r["result"]
        uris += [x["uri"] for x in r["resources"]]
        pages, cursor = pages + 1, r.get("nextCursor")
        if cursor is None:
            break
    same((pages, len(uris), len(set(uris))), (3, 1204, 1204),
         era + "a long list comes in pages")
    for bad in ("x", "", "-1", "0", "99999", "1e1", 7, None):
        same(code(call("resources/list", {"cursor": bad})), -32602,
             era + "no such cursor: %r" % (bad,))
    r = call("resources/templates/list")["result"]["resourceTemplates"]
    same(r[0]["uriTemplate"], "test://template/{id}/data", era + "templates")
    r = call("resources/read", {"uri": "test://template/1/data"})["result"]
    same(json.loads(r["contents"][0]["text"])["id"], "1", era + "read")
    r = call("resources/read", {"uri": "test://static-binary"})["result"]
    ok(r["contents"][0]["blob"].startswith("iVBOR"), era + "read bytes")
    r = call("resources/directory/read", {"uri": "skill://demo/hello"})
    same(len(r["result"]["resources"]), 2, era + "directory/read")
    r = call("prompts/list")["result"]["prompts"]
    same(r[1]["arguments"][0], {"name": "arg1", "required": True,
                                "description": "First test argument"},
         era + "prompts")
    r = call("prompts/get", {"name": "test_prompt_with_arguments",
                             "arguments": {"arg1": "a", "arg2": "b"}})
    same(r["result"]["messages"][0]["content"]["text"],
         "Prompt with arguments: arg1='a', arg2='b'", era + "prompts/get")
    same(code(call("prompts/get", {"name": "none"})), -32602,
         era + "no such prompt")
    ref = {"type": "ref/prompt", "name": "x"}
    r = call("completion/complete",
             {"ref": ref, "argument": {"name": "a", "value": "ab"}})["result"]
    same(r["completion"], {"values": ["ab0", "ab1", "ab2"], "total": 3,
                           "hasMore": False}, era + "completion")
    r = call("completion/complete",
             {"ref": ref, "argument": {"name": "a", "value": "many"}})
    r = r["result"]["completion"]
    same((len(r["values"]), r["total"], r["hasMore"]), (100, 150, True),
         era + "100 values at most")
    for bad in ({}, {"ref": ref}, {"ref": ref, "argument": {"name": "a"}},
                {"ref": {"type": "?"}, "argument": {"name": "", "value": ""}}):
        same(code(call("completion/complete", bad)), -32602,
             era + "bad completion %s" % json.dumps(bad))
    r = call("skills/list")["result"]["skills"]
    same(r[0]["frontmatter"]["name"], "hello", era + "skills/list")
    same(call("skills/get", {"uri": r[0]["uri"]})["result"]["skill"], r[0],
         era + "skills/get")
    same(code(call("skills/get", {"uri": "skill://none/SKILL.md"})), -32602,
         era + "no such skill")
    for name, params in (("an unknown tool", {"name": "no"}),
                         ("no name", {}), ("a number", {"name": 1}),
                         ("arguments are a list",
                          {"name": "echo", "arguments": []})):
        same(code(call("tools/call", params)), -32602, era + name)
    same(text(call("tools/call", {"name": "test_simple_text"}))[:4], "This",
         era + "no arguments at all")
    same(text(call("tools/call",
                   {"name": "echo", "arguments": {"text": "x"}, "more": [1]})),
         "x", era + "what it does not know does not matter")
    same(call("tools/call", {"name": "test_error_handling"})["result"]
         ["isError"], True, era + "a tool's own error is a result")
    same(code(call("tools/call", {"name": "nothing"})), -32603,
         era + "a handler that says nothing")
    names = [t["name"] for t in call("tools/list")["result"]["tools"]]
    same(names, [t["name"] for t in call("tools/list")["result"]["tools"]],
         era + "the same order each time")
    m = call("resources/read", {"uri": "no:such"})
    same((code(m), m["error"]["data"]["uri"]),
         (-32602 if new else -32002, "no:such"), era + "no such resource")
s.end()

# --- the new era --------------------------------------------------------------
s = Server()
for method, params in (("server/discover", {}), ("tools/list", {}),
                       ("prompts/list", {}), ("resources/list", {}),
                       ("resources/templates/list", {}), ("skills/list", {}),
                       ("resources/read", {"uri": "test://static-text"}),
                       ("skills/get", {"uri": "skill://demo/hello/SKILL.md"})):
    r = s.call(method, params, new=True)["result"]
    read = method == "resources/read"
    same((r["resultType"], r["ttlMs"], r["cacheScope"],
          r["_meta"][META + "serverInfo"]),
         ("complete", 1000 if read else 300000,
          "private" if read else "public", INFO),
         method + ": how long it may be kept, and whose it is")
r = s.tool("echo", {"text": "x"}, new=True)["result"]
ok("ttlMs" not in r and r["resultType"] == "complete", "a call: not kept", r)
r = s.call("server/discover", new=True)["result"]
same(r["supportedVersions"], ["2026-07-28"], "server/discover lists the revisions of the new era")
same(r["capabilities"]["extensions"],
     {META + "skills": {"directoryRead": True}}, "discover: extensions")
for method in ("ping", "initialize", "logging/setLevel", "no/such",
               "resources/subscribe", "resources/unsubscribe"):
    same(code(s.call(method, {"uri": "x:y"}, new=True)), -32601,
         method + " is not of the new era")
meta = modern()
for key in (META + "protocolVersion", META + "clientCapabilities"):
    less = {k: v for k, v in meta.items() if k != key}
    same(code(s.call("tools/list", meta=less)), -32602, "without " + key)
less = {k: v for k, v in meta.items() if not k.endswith("clientInfo")}
ok("result" in s.call("tools/list", meta=less), "tools/list succeeds without clientInfo")
for key, bad in (("protocolVersion", 7), ("clientCapabilities", []),
                 ("logLevel", "loud"), ("logLevel", 3)):
    same(code(s.call("tools/list", meta={**meta, META + key: bad})), -32602,
         "%s is %r" % (key, bad))
m = s.call("tools/list", meta={**meta, META + "protocolVersion": "1900-01-01"})
same((code(m), m["error"]["data"]),
     (-32022, {"supported": ["2026-07-28"], "requested": "1900-01-01"}),
     "an unknown revision")
same(code(s.call("tools/list",
                 meta={**meta, META + "protocolVersion": "2025-11-25"})),
     -32022, "an old revision in _meta")
m = s.tool("test_missing_capability", new=True, caps={})
same((code(m), m["error"]["data"]),
     (-32021, {"requiredCapabilities": {"sampling": {}}}),
     "a capability that the client lacks")
m = s.tool("test_missing_capability", {"capability": "elicitation/url"},
           new=True)
same((code(m), m["error"]["data"]),
     (-32021, {"requiredCapabilities": {"elicitation": {"url": {}}}}),
     "a part of one")
same(text(s.tool("test_missing_capability", new=True)), "Success",
     "a tool succeeds when the client has the capability")
same(code(s.call("tools/list", {"_meta": 3})), -32602, "a _meta that is a number is an error")
ok("result" in s.call("tools/list", new=True),
   "tools/list succeeds after requests with errors")
same(s.end(), 0, "the server ends with exit code 0")

# --- telling of changes -----------------------------------------------------------
dir = tempfile.mkdtemp()
fifo = os.path.join(dir, "fifo")
os.mkfifo(fifo)
s = Server("--watch", fifo)
s.hello()
w = open(fifo, "wb", 0)
w.write(b"t")
same(s.take()["method"], "notifications/tools/list_changed",
     "old: a changed list of tools is notified")
w.write(b"pr")
same([s.take()["method"] for _ in range(2)],
     ["notifications/resources/list_changed",
      "notifications/prompts/list_changed"], "old: two lists changed")
uri = {"uri": "test://watched-resource"}
w.write(b"u")
s.call("ping")
s.call("resources/subscribe", uri)
w.write(b"u")
same(s.take(), {"jsonrpc": "2.0", "method": "notifications/resources/updated",
                "params": uri}, "old: a resource changed that is watched")
s.call("resources/subscribe", uri)
s.call("resources/unsubscribe", uri)
w.write(b"u")
s.call("ping")
s.call("resources/unsubscribe", {"uri": "never:subscribed"})
same(s.notes, [], "old: an unsubscribed resource is not notified")
for i in range(1000):
    s.request("resources/subscribe", {"uri": "x:%d" % i})
m = [s.answer(s.id - 999 + i) for i in range(1000)]
ok(all("result" in x for x in m), "1,000 subscriptions succeed")
same(code(s.call("resources/subscribe", {"uri": "x:more"})), -32603,
     "one subscription above 1,000 is an error")
same(code(s.call("resources/subscribe", {})), -32602, "subscribe without a resource is an error")
s.end()

s = Server("--watch", fifo)
a = s.request("subscriptions/listen", {"notifications": {
    "toolsListChanged": True, "resourceSubscriptions": [uri["uri"]],
    "unknown": 3}}, new=True, id="first")
same(s.take(), {"jsonrpc": "2.0",
                "method": "notifications/subscriptions/acknowledged",
                "params": {"_meta": {META + "subscriptionId": "first"},
                           "notifications": {
                               "toolsListChanged": True,
                               "resourceSubscriptions": [uri["uri"]]}}},
     "new: the acknowledgement comes first")
b = s.request("subscriptions/listen",
              {"notifications": {"promptsListChanged": True}}, new=True)
same(s.take()["params"]["_meta"], {META + "subscriptionId": b},
     "new: a second subscription is acknowledged with its own id")
w.write(b"tpru")
got = sorted((s.take() for _ in range(3)), key=lambda m: m["method"])
same([(m["method"], m["params"]["_meta"][META + "subscriptionId"])
      for m in got],
     [("notifications/prompts/list_changed", b),
      ("notifications/resources/updated", "first"),
      ("notifications/tools/list_changed", "first")],
     "new: each what it asked for, by its id")
s.cancel("first")
w.write(b"tu")
s.tool("test_trigger_prompt_change", new=True)
same([m["method"] for m in s.notes], ["notifications/prompts/list_changed"],
     "new: a cancelled subscription receives no notification")
for bad in (None, [], {"resourceSubscriptions": "x"},
            {"resourceSubscriptions": [1]}):
    p = {} if bad is None else {"notifications": bad}
    same(code(s.call("subscriptions/listen", p, new=True)), -32602,
         "new: listen to %r" % (bad,))
def end_of_listening(how, ids):
    """Its answer, then the notification that closes the stream; of each."""
    got, line = [], s.take()
    while line:
        got.append(line)
        line = s.take()
    for id in ids:
        mine = [m for m in got if id in (m.get("id"),
                                         m.get("params", {}).get("requestId"))]
        same([m.get("method", "answer") for m in mine],
             ["answer", "notifications/cancelled"],
             "new: %s: the answer of %r, and then it is closed" % (how, id))
        r, n = mine[0]["result"], mine[1]["params"]
        same((r["resultType"], r["_meta"][META + "subscriptionId"]),
             ("complete", id), "its answer")
        same((n["requestId"], n["_meta"]), (id, {META + "subscriptionId": id}),
             "the closing notification has the id of its subscription")
    same(len(got), 2 * len(ids), "no other message follows the end of the subscriptions")
    s.p.wait()


s.p.stdin.close()
end_of_listening("at the end of input", [b])
for number in (signal.SIGTERM, signal.SIGINT):
    s = Server("--watch", fifo)
    for id in ("a", "b", 7):
        s.request("subscriptions/listen",
                  {"notifications": {"toolsListChanged": True}}, new=True, id=id)
        s.take()
    s.cancel("b")
    s.call("server/discover", new=True)
    s.p.send_signal(number)
    end_of_listening(number.name, ["a", 7])
    s.p.stdin.close()
w.close()
os.unlink(fifo)
os.rmdir(dir)

# --- logs ------------------------------------------------------------------------
s = Server()
s.hello()
s.tool("test_tool_with_logging")
same([m["params"]["level"] for m in s.notes], ["info"] * 3, "old: a tool sends its log messages")
s.notes = []
s.call("logging/setLevel", {"level": "warning"})
s.tool("test_tool_with_logging")
same(s.notes, [], "old: log messages below the level are left out")
same(code(s.call("logging/setLevel", {"level": "x"})), -32602,
     "old: an unknown log level is an error")
s.tool("test_tool_with_logging", new=True)
same(s.notes, [], "new: a request without a log level receives no log messages")
s.tool("test_tool_with_logging", new=True, meta={META + "logLevel": "debug"})
same(len(s.notes), 3, "new: a request with a log level receives its log messages")
s.end()

# --- batches -----------------------------------------------------------------------
s = Server()
s.send([{"jsonrpc": "2.0", "id": 1, "method": "ping"}])
same(code(s.take()), -32600, "a batch before initialize is an error")
s.hello("2025-03-26")
s.send([{"jsonrpc": "2.0", "id": "s", "method": "tools/call",
         "params": {"name": "sleep", "arguments": {"ms": 50}}},
        {"jsonrpc": "2.0", "id": 2, "method": "ping"},
        {"jsonrpc": "2.0", "method": "notifications/none"},
        {"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {}},
        {"jsonrpc": "2.0", "id": 2.5, "method": "ping"}, 7])
s.request("ping", id="between")
same(s.take()["id"], "between", "a slow batch does not delay another request")
m = s.take()
same([(x.get("id"), code(x)) for x in m],
     [(2, None), (3, -32600), (None, -32600), (None, -32600), ("s", None)],
     "its answers come together")
s.send([{"jsonrpc": "2.0", "method": "notifications/none"}])
s.send([])
same(code(s.take()), -32600, "an empty batch is an error and a batch of notifications has no answer")
s.send([{"jsonrpc": "2.0", "id": "s", "method": "tools/call",
         "params": {"name": "sleep", "arguments": {"ms": 5000}}},
        {"jsonrpc": "2.0", "id": 2, "method": "ping"}])
s.cancel("s")
same([x["id"] for x in s.take()], [2], "a cancelled request of a batch has no answer")
s.end()
s = Server()
s.hello("2025-06-18")
s.send([{"jsonrpc": "2.0", "id": 1, "method": "ping"}])
same(code(s.take()), -32600, "a batch is an error in the revision 2025-06-18")
s.end()
done()

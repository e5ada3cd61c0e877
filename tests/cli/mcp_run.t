#!/usr/bin/env -S python3 -S
# mapm mcp: run_metaskill. What may run [X27, L6], what it needs [K9, X14], what it
# gives [K31, K33, K42], how much it may use [K30], that its commands leave skills
# alone [T31, row 19], and that it ends [row 23].
import json
import os
import shutil
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from mcp_client import PATIENCE, Server, Tap, main, opened, text_of

ok, same = Tap.ok, Tap.same


def offered(s):
    for tool in s.call("tools/list")["tools"]:
        if tool["name"] == "run_metaskill":
            return tool["inputSchema"]["properties"]["name"].get("enum", [])
    return None


def envelope(result):
    header, _, rest = text_of(result).partition("\n")
    return header, json.loads(rest)


def gone(path):
    """Waits until the process whose id a file holds is there, and then gone."""
    with open(path) as file:
        pid = int(file.read())
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            with open(f"/proc/{pid}/stat") as stat:
                if stat.read().rsplit(")", 1)[1].split()[0] == "Z":
                    return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.02)
    return False


def there(path):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if os.path.exists(path) and os.path.getsize(path):
            return True
        time.sleep(0.02)
    return False


def fill(w):
    w.metaskill("echo", 'def run(input):\n    return {"status": "said", "answer": str(input.get("word")), '
                        '"input": input, "untrusted": "trust me"}\n')
    w.metaskill("asks", 'def run(input):\n    return [ask("%d" % n, {"purpose": "why"})["answer"] '
                        'for n in range(input["n"])][-1]\n')
    w.metaskill("commands", 'def run(input):\n    return {"answer": "", "results": '
                            '[command(a)["result"] for a in input["argv"]]}\n')
    w.metaskill("broken", "def run(input):\n    return 1 // 0\n")
    w.metaskill("loops", "def run(input):\n    for i in range(1000000 * 1000000):\n        pass\n")
    w.skill("static")
    w.write("answer", '#!/bin/sh\nprintf "%s depth %s" "$(cat)" "$MAPM_DEPTH"\n', 0o755)
    w.write("slow", '#!/bin/sh\nsleep 600 &\necho $! >slow.pid\nwait\n', 0o755)


def can_chown(path):
    """Root can, but not of a user namespace that maps no other user."""
    try:
        os.chown(path, 12345, -1)
        os.chown(path, os.geteuid(), -1)
    except OSError:
        return False
    return True


def others(w):
    """Trust is of a path: who makes that folder anew does not inherit it."""
    s = opened()
    os.chown(w.ws, 12345, -1)
    r = s.run("echo", input={"word": "hi"})
    same((r.get("isError"), text_of(r)), (True, f"error: metaskill 'echo': {w.ws} belongs to another user (uid 12345)"),
         "[row 15] run_metaskill refuses a workspace that now belongs to another user")
    same(offered(s), None, "[row 15] run_metaskill is not offered in a workspace of another user")
    s.close()
    s = Server()
    s.open()
    same(s.process.wait(PATIENCE), 4, "[F3] (a) a new server in a workspace of another user exits with 4")
    os.chown(w.ws, 0, -1)
    s = opened()
    ok(offered(s), "[row 15] run_metaskill is offered after the workspace belongs to the user again")
    s.close()
    os.chown(os.path.join(w.ws, ".agents/skills/echo"), 12345, -1)
    s = opened()
    ok("echo" not in offered(s), "[F3] (a) a metaskill in a folder of another user is not offered")
    r = s.run("echo", input={"word": "hi"})
    ok(r.get("isError") and "belongs to another user (uid 12345)" in text_of(r), "[F3] (a) run_metaskill refuses a metaskill in a folder of another user")
    s.close()
    os.chown(os.path.join(w.ws, ".agents/skills/echo"), 0, -1)


def trust(w):
    s = opened()
    same(offered(s), None, "[X27, X28] run_metaskill is not offered in an untrusted workspace")
    same(s.call("prompts/list")["prompts"], [], "[X27] an untrusted workspace has no prompts")
    r = s.run("echo", input={"word": "hi"})
    same((r["isError"], text_of(r)), (True, "error: metaskill 'echo': this workspace is not trusted on this machine"),
         "[X27] run_metaskill fails in an untrusted workspace")
    ok("mapm trust --workspace" in r["content"][1]["text"], "the refusal suggests mapm trust --workspace")
    w.trust()
    ok("isError" not in s.run("echo", input={"word": "hi"}), "trust during the session has effect at once")
    same([p["name"] for p in s.call("prompts/list")["prompts"]], ["asks", "broken", "commands", "echo", "loops"],
         "[X27] prompts appear after trust during the session")
    same(offered(s), ["asks", "broken", "commands", "echo", "loops"], "[X27] tools/list offers run_metaskill after trust during the session")
    same(s.notes, [], "a session without --watch gets no notification")
    s.close()
    s = opened(modern=True)
    first = s.call("tools/list")
    w.mapm("trust", "--revoke", "--workspace")
    same(offered(s), None, "[X27, X28] the new era does not offer run_metaskill after revoked trust")
    w.trust()
    same(s.call("tools/list"), first, "tools/list is the same after trust is given again")
    s.close()
    s = opened()
    same(offered(s), ["asks", "broken", "commands", "echo", "loops"], "[X27] a new session in a trusted workspace offers all metaskills")
    s.close()
    if can_chown(w.ws):
        others(w)
    else:
        ok(True, "[row 15] a workspace of another user # SKIP cannot change owners")
    for policy, want in (("off", None), ("local", ["asks", "broken", "commands", "echo", "loops"])):
        w.write("mapm.yaml", f"runtime: {{metaskills: {policy}}}\n")
        s = opened()
        same(offered(s), want, f"runtime.metaskills: {policy} decides which metaskills are offered")
        s.close()
    w.write("mapm.yaml", "dependencies: {}\n")
    s = opened(env={"MAPM_DEPTH": "1"})
    same(offered(s), None, "run_metaskill is not offered inside of an ask")
    same(s.call("prompts/list")["prompts"], [], "no prompt is offered inside of an ask")
    ok("error" in s.run("echo", input={"word": "x"}), "a call of run_metaskill inside of an ask is an error")
    s.close()


def inputs(w):
    s = opened()
    for wrong in ({}, {"input": {}}, {"input": None}, {"input": ""}):
        r = s.run("echo", **wrong)
        ok(r["isError"] and text_of(r).startswith("error: input is required.") and
           "[Skill: echo activated]" in text_of(r) and
           text_of(r).endswith("Retry run_metaskill with the correct input keys."), f"[K9] {wrong}", r)
    for wrong in ({"input": [1]}, {"input": 1}, {"input": "word"}, {"input": True}):
        r = s.run("echo", **wrong)
        ok(r["isError"] and text_of(r).startswith("error: metaskill 'echo': "), f"[K20] {wrong}", r)
    same(s.run("echo", input='{"word": "hi"}')["structuredContent"]["answer"], "hi", "run_metaskill accepts an object as JSON text")
    r = s.tool("run_metaskill", {"input": {"a": 1}})
    ok(r["isError"] and text_of(r).startswith("error: "), "a name is needed", r)
    for name, want in (("nix", "error: unknown metaskill: 'nix'"), ("static", "error: skill 'static' is not a metaskill"),
                       ("../echo", "error: unknown metaskill: '../echo'"), ("x/echo", "error: unknown metaskill: 'x/echo'")):
        r = s.run(name, input={"a": 1})
        same((r["isError"], text_of(r)), (True, want), f"[K34] run_metaskill fails: {want}")
    s.close()


def results(w):
    for modern in (False, True):
        s = opened(modern=modern)
        r = s.run("echo", input={"word": "é\u2028", "n": 12345678901234567890})
        header, value = envelope(r)
        same(header, "[Metaskill: echo completed]", "[K31] the text of a result begins with the header")
        same(value, r["structuredContent"], "the text of a result has all of the structured content")
        same((value["status"], value["answer"], value["input"]["n"]), ("said", "é\u2028", 12345678901234567890), "the result has status, answer and other members of the program")
        ok("untrusted data" in value["untrusted"], "[K42] labelled, whatever the program says", value)
        same([t["kind"] for t in value["trace"]], ["metaskill_start", "metaskill_finish"], "the result has a trace of start and finish")
        r = s.run("broken", input={"a": 1})
        ok(r["isError"] and text_of(r).startswith("error: metaskill 'broken': ") and "structuredContent" not in r,
           "[K33] an error is a result", r)
        ok("SKILL.star:2" in r["content"][1]["text"], "with the place in the program", r)
        s.close()
    s = Server()
    s.open("2024-11-05")
    r = s.run("echo", input={"word": "x"})
    ok("structuredContent" not in r and "untrusted" in text_of(r), "who does not know structure gets the text", r)
    s.close()
    w.metaskill("long", 'def run(input):\n    return "x" * input["n"]\n')
    s = opened()
    r = s.run("long", input={"n": 30000})
    ok(len(text_of(r)) <= 20000 and envelope(r)[1]["answer_truncated"], "[K35] a long answer with its label fits into the limit")
    s.close()


def asks(w):
    s = opened("--ask", "exec:./answer")
    same(s.run("asks", input={"n": 1})["structuredContent"]["answer"], "0 depth 1", "[K23] an ask is answered by the back end at depth 1")
    same(s.run("asks", input={"n": 5})["structuredContent"]["answer"], "4 depth 1", "[K29] five asks are allowed")
    ok("budget" in text_of(s.run("asks", input={"n": 6})), "[K29] a sixth ask exceeds the budget")
    ok("budget" in text_of(s.run("asks", input={"n": 2}, max_ask_calls=1)), "[K30] max_ask_calls lowers the budget")
    same(s.run("asks", input={"n": 20}, max_ask_calls=20)["structuredContent"]["answer"], "19 depth 1", "[K30] max_ask_calls raises the budget to 20")
    ok("budget" in text_of(s.run("asks", input={"n": 21}, max_ask_calls=20)), "[K30] the 21st ask exceeds max_ask_calls of 20")
    ok("budget" in text_of(s.run("asks", input={"n": 3}, max_ask_calls=2.0)), "[K30] max_ask_calls accepts 2.0 as a whole number")
    for wrong in (0, -1, 21, 1e300, "1", 1.5, {}):
        same(text_of(s.run("asks", input={"n": 1}, max_ask_calls=wrong)), "error: metaskill 'asks': max_ask_calls must be a whole number from 1 to 20",
             f"[K30] {wrong!r} is out of range")
    for wrong in (-1, 101, "1"):
        same(text_of(s.run("asks", input={"n": 1}, max_command_calls=wrong)), "error: metaskill 'asks': max_command_calls must be a whole number from 0 to 100",
             f"[K30] {wrong!r} commands are out of range")
    s.close()
    w.write("mapm.yaml", "limits: {run_max_asks: 2}\n")
    s = opened("--ask", "exec:./answer")
    same(text_of(s.run("asks", input={"n": 3}, max_ask_calls=20)), "error: metaskill 'asks': max_ask_calls must be a whole number from 1 to 2",
         "max_ask_calls cannot exceed the limit of mapm.yaml")
    s.close()
    w.write("mapm.yaml", "dependencies: {}\n")
    s = opened("--ask", "exec:./answer")
    s.run("asks", input={"n": 2}, max_ask_calls=None)
    s.close()
    w.write("slowly", "#!/bin/sh\nsleep 0.3\nexec ./answer\n", 0o755)
    s = opened("--ask", "exec:./slowly")
    number = s.start("tools/call", {"name": "run_metaskill", "arguments": {"name": "asks", "input": {"n": 3}},
                                    "_meta": {"progressToken": "p"}})
    s.wait(number)
    told = [n["params"] for n in s.notes if n["method"] == "notifications/progress"]
    ok(told and all(t["progressToken"] == "p" for t in told), "progress for who asked for it", told)
    ok(all(a["progress"] < b["progress"] for a, b in zip(told, told[1:])), "the progress of notifications always increases")
    ok(any("why" in t.get("message", "") for t in told), "and says what is done", told)
    s.close()
    same(s.bad, [], "standard output has only messages")


def programs(w):
    """[K3] a program that came, or went, after its SKILL.md was known."""
    w.skill("later", "Input keys:\n\n- `word`: what.\n", "Gets its program later.")
    time.sleep(1.1)
    s = opened()
    ok("later" not in offered(s), "[K3] a skill whose program is missing is not offered as a metaskill")
    s.close()
    w.write(".agents/skills/later/SKILL.star", 'def run(input):\n    return "here"\n')
    s = opened()
    ok("later" in offered(s), "[K3] a skill whose program appears later is offered as a metaskill")
    ok("isError" not in s.run("later", input={"word": "x"}), "run_metaskill runs the program that appeared later")
    s.close()
    shutil.rmtree(".agents/skills/later")


def refusals(w):
    w.skill("plain", "Text.\n", "Only text.")
    w.write(".agents/skills/plain/odd\nname", "x")
    s = opened()
    same(text_of(s.run("plain", input={"a": 1})), "error: skill 'plain' is not a metaskill", "[K34] the error of a static skill does not depend on the names of its files")
    same(text_of(s.run("echo", input="x")), "error: metaskill 'echo': the input is a string, not an object", "[K9] the error names the wrong type of the input")
    s.close()
    w.write(".agents/skills/echo/more", "x")
    w.write("mapm.yaml", "limits: {package_max_files: 1}\n")
    s = opened()
    r = text_of(s.run("echo", input={"word": "x"}))
    ok(r.startswith("error: metaskill 'echo': ") and r.endswith("echo: more than 2 entries"), "and because of what, to the last cause", r)
    s.close()
    w.write("mapm.yaml", "dependencies: {}\n")
    shutil.rmtree(".agents/skills/plain")
    os.unlink(".agents/skills/echo/more")


def commands(w):
    s = opened("--allow", "echo *")
    r = s.run("commands", input={"argv": [["echo", "hi"], ["id"]]})["structuredContent"]["results"]
    same(r[0], "hi\n", "[K25] --allow permits a command")
    ok(r[1].startswith("error: not allowed: id"), "[K25] and no others", r[1])
    r = s.run("commands", input={"argv": [["echo", "hi"]]}, max_command_calls=0)
    ok("budget" in text_of(r), "[K30] no commands at all", r)
    s.close()
    same(Server("--allow", "").process.wait(PATIENCE), 2, "mapm mcp exits with 2 for an invalid --allow rule")
    runs = w.mapm("runs", "--json", "--limit", "100").stdout
    ok('"commands"' in runs and '"echo"' in runs, "runs of run_metaskill are in the history")


def commands_and_skills(w):
    """[row 19, T31] what the library reads is not written by a command."""
    w.metaskill("tries", 'def run(input):\n    return command(["sh", "-c", input["line"]])["result"]\n')
    away = os.path.join(w.top, "home", "away")
    w.write(os.path.join(away, "id_rsa"), "SECRET\n")
    rows = ((".swival/skills", ()), (".claude/skills", ()), (".metis/skills", ("--profile", "metis")),
            ("lib", ("--root", "lib")), ("deep/lib", ("--workspace-root", "deep/lib", "--root", ".agents/skills")),
            ("other", ("--global-root", os.path.join(w.ws, "other"))))
    for folder, more in rows:
        w.skill("alpha", root=folder)
        s = opened("--allow", "sh -c *", *more)
        ok("alpha" in text_of(s.tool("skill_search", {"query": "alpha"})), f"a skill in {folder} is found")
        r = s.run("tries", input={"line": f"rm -rf {folder}/alpha; ln -s {away} {folder}/alpha; echo done"})
        ok("done" in str(r), "a command tries what it can", r)
        ok(os.path.isfile(f"{folder}/alpha/SKILL.md") and not os.path.islink(f"{folder}/alpha"),
           f"[row 19] {folder} stays as it is", r)
        r = s.tool("skill_resource", {"operation": "load", "skill": "alpha", "path": "id_rsa"})
        ok("SECRET" not in str(r), "and nothing else is read", r)
        r = s.run("tries", input={"line": f"mkdir -p {folder}/evil; echo x >{folder}/evil/SKILL.md; echo done"})
        ok(not os.path.exists(f"{folder}/evil"), f"[row 19] no skill comes into {folder}", r)
        s.close()
        shutil.rmtree(folder.split("/")[0])
    s = opened("--allow", "sh -c *")
    for folder in (".swival/skills", ".metis/skills", ".claude/skills"):
        r = s.run("tries", input={"line": f"mkdir -p {folder}/evil; echo x >{folder}/evil/SKILL.md; echo done"})
        ok("may not change" in str(r) and not os.path.exists(folder), f"[row 19] nor into {folder}, where it is missing", r)
    s.close()
    for name in (".agents/skills/tries", away):
        shutil.rmtree(name)


def ends(w):
    s = opened("--ask", "exec:./slow")
    number = s.start("tools/call", {"name": "run_metaskill", "arguments": {"name": "asks", "input": {"n": 1}}})
    ok(there("slow.pid"), "the back end of a run has started")
    same(s.call("ping"), {}, "[row 23] a ping is answered during a run")
    same(s.run("echo", input={"word": "x"})["structuredContent"]["answer"], "x", "another run finishes during a run")
    s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    ok(gone("slow.pid"), "cancelling a run ends its back end with all processes")
    s.call("ping")
    ok(number not in s.answers, "a cancelled run has no answer")
    same(s.close(), 0, "the server exits with 0 at EOF after a cancelled run")
    for how in ("EOF", "SIGTERM", "SIGINT", "SIGKILL"):
        if os.path.exists("slow.pid"):
            os.remove("slow.pid")
        s = opened("--ask", "exec:./slow")
        s.start("tools/call", {"name": "run_metaskill", "arguments": {"name": "asks", "input": {"n": 1}}})
        there("slow.pid")
        if how == "EOF":
            s.process.stdin.close()
        else:
            s.process.send_signal(getattr(signal, how))
        s.process.wait(PATIENCE)
        ok(gone("slow.pid"), f"{how} ends the back end with all processes")
    s = opened()
    number = s.start("tools/call", {"name": "run_metaskill", "arguments": {"name": "loops", "input": {"a": 1}}})
    same(s.call("ping"), {}, "a ping is answered during an endless program")
    s.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
    same(s.close(), 0, "the server exits with 0 after an endless program is cancelled")


def test(w):
    fill(w)
    trust(w)
    inputs(w)
    results(w)
    asks(w)
    programs(w)
    refusals(w)
    commands(w)
    commands_and_skills(w)
    ends(w)


main(test)

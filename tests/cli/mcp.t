#!/usr/bin/env -S python3 -S
# mapm mcp: its tools, skills, resources and prompts, to the letter [K17, K36, K43]
# [T15, T16, T17, T18, T19, T20, T21, T22, T23, T27, T31, L6, L14, L17, X28], and how
# it starts and ends. Runs have mcp_run.t.
import base64
import hashlib
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from mcp_client import Server, Tap, main, opened, text_of

ok, same = Tap.ok, Tap.same

BODY = "# PDF\n\nWork with it.\n"
RUN_SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "The metaskill name to execute.", "enum": ["echo"]},
        "input": {"type": "object", "description": "Input data passed to the metaskill program."},
        "max_ask_calls": {"type": "integer", "minimum": 1, "description": "Maximum nested model calls."},
        "max_command_calls": {"type": "integer", "minimum": 0, "description": "Maximum command calls."},
    },
    "required": ["name", "input"],
}


def fill(w):
    w.skill("pdf", BODY, "Work with PDF files.")
    w.write(".agents/skills/pdf/references/a b.md", "text of it\n")
    w.write(".agents/skills/pdf/assets/one.bin", "\x00\x01")
    w.skill("private", "Only by hand.\n", "For persons.", "disable-model-invocation: true\n")
    w.skill("typed", "x\n", "Kinds of values.",
            "a: 1.50\nb: 0x1f\nc: [yes, true, ~, '1', 007]\nd: {e: {f: -2e3}}\ng: 2026-01-01\nscope: acme.org\nversion: 1.0.0\n")
    w.metaskill("echo", 'def run(input):\n    return input["word"]\n',
                "Input keys:\n\n- `word` (required): what to say.\n- `times`: how often.\n\nMore.\n")
    w.metaskill("secret", 'def run(input):\n    return "told"\n', more="disable-model-invocation: true\n")


def life(w):
    s = Server()
    time.sleep(0.2)
    ok(s.process.poll() is None, "mapm mcp waits for the first request")
    ok(not os.path.exists(w.data), "mapm mcp writes nothing before the first request")
    same(s.close(), 0, "EOF ends mapm mcp with exit code 0")
    ok(not os.path.exists(w.data), "mapm mcp writes nothing without a request")
    same(s.lines.qsize(), 0, "mapm mcp prints nothing without a request")
    for number in (signal.SIGINT, signal.SIGTERM):
        s = opened()
        s.process.send_signal(number)
        s.process.wait(60)
        ok(True, f"{number.name} ends mapm mcp")
    s = opened()
    s.process.stdin.write(b"{nonsense\n")
    ok("error" not in s.call("tools/list"), "a malformed line does not end the session")
    same(s.answers[None]["error"]["code"], -32700, "a malformed line is answered with a parse error")
    same(s.close(), 0, "EOF ends mapm mcp after a malformed line")
    same(s.bad, [], "standard output has only messages")


def untrusted(w):
    """[A4] of an untrusted workspace instructions have a number alone."""
    for modern in (False, True):
        for options in ((), ("--preload",), ("--workspace-root", ".agents/skills"),
                        ("--workspace-root", os.path.realpath("mapm.yaml")[:-9] + ".agents/../.agents/skills"),
                        ("--root", ".agents/skills"), ("--profile", "metis", "--root", ".agents/skills")):
            s = Server(*options, modern=modern)
            text = s.open()["instructions"]
            ok(f"Not listed: {5 if 'metis' in options else 3} of the skills" in text, f"[A4] {options} the number of skills", text)
            for word in ("pdf", "PDF", "echo", "typed", "For a test.", "private", "# PDF", "run_metaskill"):
                ok(word not in text, f"[A4] {options} and not {word}", text)
            s.close()
    w.skill("mine", root=os.environ["HOME"] + "/.agents/skills")
    s = Server()
    text = s.open()["instructions"]
    ok("\n- mine: For a test.\n" in text + "\n" and "echo" not in text, "[A4] those of the user are listed", text)
    ok("pdf" in text_of(s.tool("skill_search", {"query": "pdf"})), "skill_search finds a skill of an untrusted workspace")
    ok("isError" not in s.tool("skill_load", {"name": "pdf"}), "skill_load loads a skill of an untrusted workspace")
    same([t["name"] for t in s.call("tools/list")["tools"]], ["skill_search", "skill_load", "skill_resource"],
         "[X28] an untrusted workspace has no tool to run metaskills")
    r = s.run("echo", input={"word": "x"})
    ok(r["isError"] and text_of(r).startswith("error: metaskill 'echo': "), "[K34] a call of one is told why", r)
    r = s.run("nix", input={"word": "x"})
    same(text_of(r), "error: unknown metaskill: 'nix'", "[K34] run_metaskill reports an unknown name in an untrusted workspace")
    r = s.run("pdf", input={"word": "x"})
    same(text_of(r), "error: skill 'pdf' is not a metaskill", "[K34] run_metaskill reports a static skill in an untrusted workspace")
    s.close()
    shutil.rmtree(os.environ["HOME"] + "/.agents/skills")


def runnable(w):
    """[K15, X28] only metaskills that would start are advertised."""
    w.metaskill("syntax", "def run(input)\n    return 1\n")
    w.metaskill("nameless", "def go(input):\n    return 1\n")
    w.metaskill("loads", 'load("x", "y")\ndef run(input):\n    return 1\n')
    for again in range(2):
        s = Server()
        text = s.open()["instructions"]
        ok("\n- echo: For a test. (metaskill: starlark)\n" in text, "[K15] one that runs has the mark", text)
        for name in ("syntax", "nameless", "loads"):
            ok(f"\n- {name}: For a test.\n" in text, f"[K15] {name} has none", text)
            r = s.run(name, input={"word": "x"})
            ok(r["isError"] and text_of(r).startswith(f"error: metaskill '{name}': "), "[K34] and a call says why", r)
        same([t["inputSchema"]["properties"]["name"]["enum"] for t in s.call("tools/list")["tools"]
              if t["name"] == "run_metaskill"], [["echo"]], "[X28] nor is it a name that can be run")
        ok({"syntax", "nameless", "loads"}.isdisjoint(p["name"] for p in s.call("prompts/list")["prompts"]),
           "[X28] a metaskill that cannot start is not a prompt")
        s.close()
        for at, _, names in os.walk(".agents/skills"):  # what is remembered of old files counts
            for name in names:
                os.utime(os.path.join(at, name), (10**9, 10**9))
    w.metaskill("syntax", "def run(input):\n    return 1\n")
    s = Server()
    ok("\n- syntax: For a test. (metaskill: starlark)\n" in s.open()["instructions"], "[K15] a repaired metaskill has its mark in the instructions")
    s.close()
    for name in ("syntax", "nameless", "loads"):
        shutil.rmtree(".agents/skills/" + name)


def instructions(w):
    for modern in (False, True):
        s = Server(modern=modern)
        text = s.open()["instructions"]
        ok(text.startswith(
            "## Available skills\nUse `skill_search(query)` to filter and `skill_load(name)` to "
            "read a body.\n\n- echo: For a test. (metaskill: starlark)\n- pdf: Work with PDF files.\n"),
           "[T15, X28] instructions begin with the discovery block", text)
        ok("private" not in text and "secret" not in text, "[L6] the instructions do not list disabled skills")
        for word in ("directly", "skill_load", "small", "max_ask_calls", "answer", "error:", "untrusted"):
            ok(word in text, f"[K43] the guidelines contain {word}")
        s.close()


def summary(w):
    """[G4] the whole list, or none of it."""
    w.trust()
    for i in range(40):
        w.skill(f"react-thing-{i}", root=os.environ["HOME"] + "/.agents/skills", body="x\n")
    w.skill("deep-mode", more="mode: true\n", root=os.environ["HOME"] + "/.agents/skills")
    s = Server()
    text = s.open()["instructions"]
    ok(len(text) <= 2000, "[G4] at most 2,000 characters", len(text))
    ok("\n44 skills are installed" in text and "`skill_search(query)`" in text and "`skill_load(name)`" in text,
       "[G4] the number of skills, and how to search", text)
    ok("- react-thing-" not in text and "- pdf" not in text, "[G4] no part of the list", text)
    ok("Topics: react, thing." in text, "[G4] topics", text)
    ok("## Mode Commands\n\n- deep-mode: For a test." in text, "[G4] modes", text)
    for word in ("directly", "max_ask_calls", "untrusted"):
        ok(word in text, f"[K43] the guidelines beside a summary contain {word}")
    for tool in s.call("tools/list")["tools"]:
        if tool["name"] == "skill_search":
            ok("before you begin a task" in tool["description"] and "skill_load" in tool["description"],
               "[G4] the tool says when to use it", tool)
    s.close()
    s = Server("--profile", "metis", "--workspace-root", ".agents/skills")
    ok("\n- pdf: " in s.open()["instructions"], "[T15] --profile metis lists the skills instead of a summary")
    same([t["description"] for t in s.call("tools/list")["tools"] if t["name"] == "skill_search"],
         ["Filter the discovery index by substring on name + description."], "[G4] nor its words")
    s.close()
    shutil.rmtree(os.environ["HOME"] + "/.agents/skills")


def tools(w):
    w.trust()
    s = opened()
    known = {t["name"]: t for t in s.call("tools/list")["tools"]}
    same(list(known), ["run_metaskill", "skill_search", "skill_load", "skill_resource"], "[K17] tools/list has the four tools of the server")
    same(known["run_metaskill"]["inputSchema"], RUN_SCHEMA, "[K36] the schema of run_metaskill lists the names that can run")
    same(known["run_metaskill"]["description"], "Run a dynamic skill workflow by name.", "[K36] run_metaskill has its description")
    same(known["skill_search"]["inputSchema"], {
        "type": "object",
        "properties": {"query": {"type": "string"},
                       "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10}},
        "required": ["query"], "additionalProperties": False}, "[T16] the schema of skill_search")
    same(known["skill_load"]["inputSchema"], {
        "type": "object", "properties": {"name": {"type": "string", "minLength": 1, "maxLength": 64}},
        "required": ["name"], "additionalProperties": False}, "[T18] the schema of skill_load")
    for name, tool in known.items():
        a = tool["annotations"]
        same((a["readOnlyHint"], a["destructiveHint"], a["openWorldHint"]),
             (name != "run_metaskill", name == "run_metaskill", name == "run_metaskill"),
             f"annotations of {name}")
        ok(tool["title"] and tool["outputSchema"]["type"] == "object", f"{name} has a title and an outputSchema")

    r = s.tool("skill_search", {"query": "pdf"})
    same(text_of(r), "Skills matching 'pdf' (1):\n- pdf [workspace] \u2014 Work with PDF files.", "[T17] skill_search prints name, source and description of a match")
    same({k: r["structuredContent"][k] for k in ("query", "result_count", "result_names")},
         {"query": "pdf", "result_count": 1, "result_names": ["pdf"]}, "[T17] and its facts")
    same(text_of(s.tool("skill_search", {"query": "it's"})), "No skills matched \"it's\".", "[T17] skill_search reports that no skill matched")
    same(s.tool("skill_search", {"query": ""})["structuredContent"]["result_names"],
         ["echo", "pdf", "typed"], "[T16, L6] a blank query lists what a model may have")
    same(len(s.tool("skill_search", {"query": "", "limit": 1})["structuredContent"]["results"]), 1, "[T16] skill_search returns at most limit results")
    same(len(s.tool("skill_search", {"query": "", "limit": 1.0})["structuredContent"]["results"]), 1, "[T16] skill_search accepts 1.0 as a whole number")
    for wrong in ({}, {"query": 1}, {"query": "a", "limit": 0}, {"query": "a", "limit": 51},
                  {"query": "a", "limit": -1.0}, {"query": "a", "limit": 1e300},
                  {"query": "a", "limit": 1.5}, {"query": "a", "x": 1}):
        r = s.tool("skill_search", wrong)
        ok(r["isError"] and "structuredContent" not in r, f"[T29] {wrong} is told to the model", r)

    r = s.tool("skill_load", {"name": "pdf"})
    same(text_of(r), "# Skill: pdf (source: workspace)\n\n" + BODY, "[T18] skill_load prints a header and the body")
    same(r["structuredContent"], {
        "text": text_of(r), "skill_id": "pdf", "source": "workspace",
        "skill_version": hashlib.sha256(BODY.encode()).hexdigest()[:16],
        "load_size_tokens": max(1, len(BODY) // 4)}, "[T19] what is known of it")
    r = s.tool("skill_load", {"name": "pdf"})
    same(text_of(r), "# Skill: pdf (source: workspace)\n\nThis skill is already loaded in the conversation "
         "history (activated earlier this session). Re-read the earlier `tool_result` for "
         "`skill_load(\"pdf\")` for its operating instructions.", "[T20] a second time")
    same(r["structuredContent"]["already_loaded"], True, "[T20] the second skill_load has already_loaded in its structure")
    r = s.tool("skill_load", {"name": "nix"})
    same((r["isError"], text_of(r)), (True, "no skill registered with name 'nix'"), "[T18] skill_load of an unknown name is an error")
    ok(s.tool("skill_load", {"name": "private"})["isError"], "[L6] skill_load of a disabled skill is an error")
    ok(s.tool("skill_resource", {"operation": "list", "skill": "private"})["isError"], "[L6] skill_resource of a disabled skill is an error")
    for wrong in ({}, {"name": ""}, {"name": "a" * 65}, {"name": 1}, {"name": "pdf", "x": 1}):
        ok(s.tool("skill_load", wrong)["isError"], f"[T18] skill_load with {str(wrong)[:40]} is an error")

    r = s.tool("skill_resource", {"operation": "list", "skill": "pdf"})
    same([(f["path"], f["kind"]) for f in r["structuredContent"]["files"]],
         [("assets/one.bin", "asset"), ("references/a b.md", "reference")], "[L14] files of a skill")
    ok(all(f["path"] in text_of(r) for f in r["structuredContent"]["files"]), "[L14] as text, too", r)
    r = s.tool("skill_resource", {"operation": "load", "skill": "pdf", "path": "references/a b.md"})
    same((text_of(r), r["structuredContent"]["text"]), ("text of it\n",) * 2, "[L14] skill_resource loads a file of a skill as text")
    for path in ("../echo/SKILL.md", "/etc/passwd", "references", "no", "assets/one.bin", ""):
        ok(s.tool("skill_resource", {"operation": "load", "skill": "pdf", "path": path})["isError"],
           f"[row 23] {path!r} is refused")
    same(s.call("tools/call", {"name": "nix", "arguments": {}})["error"]["code"], -32602, "a call of an unknown tool is an error of its parameters")
    s.close()


def session(w):
    for n in range(21):
        w.skill(f"many-{n}")
    s = opened()
    for n in range(20):
        s.tool("skill_load", {"name": f"many-{n}"}, _meta={"claudecode/toolUseId": f"use-{n}"})
    r = s.tool("skill_load", {"name": "many-20"})
    ok(r["isError"] and text_of(r).startswith(
        "activation budget exhausted: 20 skills already activated this session (limit 20). "
        "Already loaded: ['many-0', 'many-1'"), "[T21, T22] a session has a budget", r)
    s.close()
    events = w.mapm("events", "--json", "--type", "skill.loaded").stdout
    ok("use-19" in events and events.count("many-0") == 1, "[T23] one event for each body, with its tool use", events[:500])
    failed = json.loads(w.mapm("events", "--json", "--type", "tool.failed").stdout)["events"][-1]
    same((failed["actor"], failed["payload"]["error_class"], sorted(failed["payload"])),
         ("tool", "limit", ["error_class", "error_message", "latency_ms", "tool_use_id"]), "[T29] one for what fails")
    ok(text_of(r).startswith(failed["payload"]["error_message"]) and failed["payload"]["latency_ms"] >= 0,
       "[T29] with its words", failed)
    s = opened()
    ok("isError" not in s.tool("skill_load", {"name": "many-20"}), "[T21] a new session has its own budget of activations")
    for n in range(120):
        r = s.tool("skill_search", {"query": n}, _meta={"claudecode/toolUseId": f"use-{n}"})
    s.close()
    wrong = json.loads(w.mapm("events", "--json", "--limit", "1000", "--type", "tool.input_invalid").stdout)["events"]
    wrong = [v["payload"] for v in wrong if v["payload"]["tool_use_id"]]
    same(wrong, [{"tool_use_id": f"use-{n}", "error_message": "query must be a string"} for n in range(100)],
         "[T29] the first hundred calls with wrong arguments are recorded as events")
    w.write("mapm.yaml", "limits: {session_max_activations: 1}\n")
    s = opened()
    s.tool("skill_load", {"name": "many-0"})
    ok("(limit 1)" in text_of(s.tool("skill_load", {"name": "many-1"})), "[T21] mapm.yaml lowers the budget of activations")
    s.close()
    w.write("mapm.yaml", "dependencies: {}\n")
    s = opened("--profile", "metis")
    for n in range(3):
        s.tool("skill_load", {"name": f"many-{n}"})
    same(text_of(s.tool("skill_load", {"name": "many-3"})),
         "activation budget exhausted: 3 skills already activated this session (limit 3). Already loaded: "
         "['many-0', 'many-1', 'many-2']. To free budget, start a fresh session or summarize and discard "
         "previously loaded skill bodies.", "[T22] as Metis says it")
    s.close()
    s = opened()
    s.call("tools/list")
    time.sleep(0.3)
    w.skill("pdf", "Another body.\n", "Another description.")
    ok("Another" not in text_of(s.tool("skill_search", {"query": "pdf"})), "[T27] skill_search does not see an edit during the session")
    r = text_of(s.tool("skill_load", {"name": "pdf"}))
    same(r, "# Skill: pdf (source: workspace)\n\n" + BODY, "[T27] skill_load does not see an edit of a body during the session")
    s.close()
    w.skill("pdf", BODY, "Work with PDF files.")
    for n in range(21):
        subprocess.run(["rm", "-r", f".agents/skills/many-{n}"], check=True)


def skills(w):
    for modern in (False, True):
        s = opened(modern=modern)
        r = s.call("skills/list")
        if modern:
            same((r["resultType"], r["cacheScope"], type(r["ttlMs"])), ("complete", "private", int), "skills/list has the fields of the new era")
        by = {x["frontmatter"]["name"]: x for x in r["skills"]}
        same(sorted(by), ["echo", "pdf", "typed"], "skills/list has the skills that a model may see")
        same(by["typed"]["uri"], "skill://acme.org/typed/SKILL.md", "the URI of a skill with a scope begins with it")
        same({k: by["typed"]["frontmatter"][k] for k in "abcdg"},
             {"a": 1.5, "b": 31, "c": ["yes", True, None, "1", 7], "d": {"e": {"f": -2000.0}}, "g": "2026-01-01"},
             "frontmatter as JSON, by the core schema")
        same(len(by["pdf"]["resources"]), 3, "an entry of skills/list has every file of the skill")
        for x in r["skills"]:
            for f in x["resources"]:
                c = s.call("resources/read", {"uri": f["uri"]})["contents"][0]
                data = c["text"].encode() if "text" in c else base64.b64decode(c["blob"])
                same((len(data), "sha256:" + hashlib.sha256(data).hexdigest()), (f["size"], f["digest"]),
                     f"{f['uri']} has the size and digest of its entry")
        same(s.call("skills/get", {"uri": by["pdf"]["uri"]})["skill"], by["pdf"], "skills/get returns the entry of skills/list")
        for uri in ("skill://nix/SKILL.md", "skill://pdf", "skill://pdf/references/a%20b.md", "skill://typed/SKILL.md", "x"):
            same(s.call("skills/get", {"uri": uri})["error"]["code"], -32602, f"skills/get of {uri} is an error")
        s.close()
    w.write(".agents/skills/big/SKILL.md", "---\nname: big\ndescription: Too many files.\n---\n\nx\n")
    for n in range(512):
        w.write(f".agents/skills/big/f{n}", "x")
    s = opened()
    ok("big" not in str(s.call("skills/list")), "skills/list leaves out a skill with more than 512 files")
    os.remove(".agents/skills/big/f0")
    s.close()
    s = opened()
    ok("skill://big/" in str(s.call("skills/list")), "skills/list has a skill with 512 files")
    s.close()
    subprocess.run(["rm", "-r", ".agents/skills/big"], check=True)


def resources(w):
    s = opened()
    listed = s.call("resources/list")["resources"]
    same([(r["uri"], r["name"], r["mimeType"]) for r in listed if r["name"] == "pdf"],
         [("skill://pdf/SKILL.md", "pdf", "text/markdown")], "each SKILL.md is a resource")
    c = s.call("resources/read", {"uri": "skill://pdf/assets/one.bin"})["contents"][0]
    same(base64.b64decode(c["blob"]), b"\x00\x01", "resources/read returns a binary file as base64")
    os.symlink("/etc/passwd", ".agents/skills/pdf/link")
    for uri in ("skill://pdf/../echo/SKILL.md", "skill://pdf/%2e%2e/echo/SKILL.md", "skill://pdf//etc/passwd",
                "skill://pdf/link", "skill://pdf/no", "skill://pdf/", "skill://pdf/%zz", "skill://", "file:///etc/passwd",
                "skill://pdf/references", "skill://pdf/SKILL.md%00"):
        r = s.call("resources/read", {"uri": uri})
        same(r.get("error", {}).get("code"), -32002, f"[row 23] resources/read of {uri} is an error")
    os.remove(".agents/skills/pdf/link")
    d = s.call("resources/directory/read", {"uri": "skill://pdf"})["resources"]
    same([(x["uri"], x["mimeType"]) for x in d],
         [("skill://pdf/SKILL.md", "text/markdown"), ("skill://pdf/assets", "inode/directory"),
          ("skill://pdf/references", "inode/directory")], "a skill is a directory")
    d = s.call("resources/directory/read", {"uri": "skill://pdf/references"})["resources"]
    same([x["uri"] for x in d], ["skill://pdf/references/a%20b.md"], "resources/directory/read lists the files of a folder")
    for uri in ("skill://pdf/SKILL.md", "skill://pdf/no", "skill://nix", "skill://pdf/"):
        same(s.call("resources/directory/read", {"uri": uri})["error"]["code"], -32602, f"resources/directory/read of {uri} is an error")
    t = s.call("resources/templates/list")["resourceTemplates"][0]["uriTemplate"]
    ref = {"type": "ref/resource", "uri": t}
    complete = lambda name, value, **more: s.call("completion/complete", dict(
        more, ref=ref, argument={"name": name, "value": value}))["completion"]["values"]
    same(complete("skill", "P"), ["pdf", "acme.org/typed"],
         "completion of a skill lists names that begin with the value first")
    same(complete("skill", "acme"), ["acme.org/typed"], "completion of a skill matches the scope")
    same(complete("file", "r", context={"arguments": {"skill": "pdf"}}), ["references/a b.md"], "completion of a file lists the files of the skill")
    ok("error" in s.call("completion/complete", {"ref": {"type": "ref/prompt", "name": "nix"}, "argument": {"name": "x", "value": ""}}),
       "completion for an unknown prompt is an error")
    s.close()


def prompts(w):
    s = opened()
    by = {p["name"]: p for p in s.call("prompts/list")["prompts"]}
    same(sorted(by), ["echo", "private", "secret"], "prompts/list has metaskills and skills for persons [L6]")
    same(by["echo"]["arguments"],
         [{"name": "word", "description": "what to say.", "required": True},
          {"name": "times", "description": "how often.", "required": False}], "[K8] their input keys are arguments")
    text = s.call("prompts/get", {"name": "echo", "arguments": {"word": "hi", "times": "3"}})["messages"][0]["content"]["text"]
    ok('call run_metaskill with {"name":"echo","input":{"word":"hi","times":3}}' in text, "a prompt names the call", text)
    ok("[Skill: echo activated]\n\n<skill-instructions>\nInput keys:" in text, "[K41] with the instructions", text)
    same(s.call("prompts/get", {"name": "pdf"})["error"]["code"], -32602, "prompts/get of a static skill is an error")
    r = s.run("secret", input={"word": "x"})
    ok(r["isError"] and "a person" in text_of(r), "[L6] a disabled one is not for the model", r)
    s.call("prompts/get", {"name": "secret", "arguments": {}})
    r = s.run("secret", input={"word": "x"})
    ok("isError" not in r, "until a person has asked for it", r)
    text = s.call("prompts/get", {"name": "private", "arguments": {"arguments": "with this"}})["messages"][0]["content"]["text"]
    ok("Only by hand." in text and text.endswith("with this"), "[L6] a skill for persons is activated", text)
    s.close()


def snapshot(w):
    """[T27] no edit is seen, by whichever door, however soon it comes."""
    w.skill("still", "Before.\n", "Before.")
    s = opened()
    w.skill("still", "After.\n", "After.")
    ok("Before." in text_of(s.tool("skill_load", {"name": "still"})), "[T27] skill_load returns the body of the start of the session")
    ok("Before." in text_of(s.tool("skill_search", {"query": "still"})), "[T27] skill_search returns the description of the start of the session")
    r = s.call("resources/read", {"uri": "skill://still/SKILL.md"})
    ok("Before." in str(r) and "After." not in str(r), "[T27] resources/read", r)
    r = s.call("skills/get", {"uri": "skill://still/SKILL.md"})["skill"]
    same(r["frontmatter"]["description"], "Before.", "[T27] skills/get returns the frontmatter of the start of the session")
    same(r["resources"][0]["digest"].split(":")[1][:8],
         hashlib.sha256(s.call("resources/read", {"uri": "skill://still/SKILL.md"})["contents"][0]["text"].encode()).hexdigest()[:8],
         "whose digest is that of what is read")
    s.close()
    with open(".agents/skills/still/large", "w") as f:
        f.truncate((16 << 20) + 1)
    s = opened()
    r = s.call("resources/read", {"uri": "skill://still/large"})
    ok("larger than" in str(r), "what is too large is said to be", r)
    s.close()
    shutil.rmtree(".agents/skills/still")


def anchor(w):
    s = opened()
    for path in ("SKILL.md", "./SKILL.md", "././SKILL.md"):
        r = s.tool("skill_resource", {"operation": "load", "skill": "pdf", "path": path})
        ok(r["isError"] and "skill_load" in text_of(r), f"[T21] {path} is not to be had past the budget", r)
    s.close()


def no_data_folder(w):
    """Its folder cannot be made: what needs no memory goes on."""
    with open("in-the-way", "w"):
        pass
    s = opened(env={"MAPM_HOME": os.path.abspath("in-the-way/data")})
    ok("Work with it." in text_of(s.tool("skill_load", {"name": "pdf"})), "skill_load works without a data folder")
    r = s.tool("skill_load", {"name": "pdf"})
    ok("already loaded" in text_of(r), "[T20] a second skill_load is recognized without a data folder")
    ok("pdf" in text_of(s.tool("skill_search", {"query": "pdf"})), "skill_search works without a data folder")
    r = s.run("echo", input={"word": "x"})
    ok(r["isError"], "but nothing runs", r)
    s.close()
    ok(b"nothing is recorded" in s.errors, "and that is said", s.errors)
    os.unlink("in-the-way")


def busy(w):
    """Somebody else writes to mapm.db, for ever."""
    s = opened()
    s.call("tools/list")
    other = sqlite3.connect(os.path.join(os.environ["MAPM_HOME"], "mapm.db"))
    other.execute("BEGIN IMMEDIATE")
    ok("Work with it." in text_of(s.tool("skill_load", {"name": "pdf"})), "skill_load works while another process locks mapm.db")
    number = s.start("tools/call", {"name": "skill_load", "arguments": {"name": "none"}})
    s.process.send_signal(signal.SIGTERM)
    same(s.process.wait(60), 0, "SIGTERM ends the server while another process locks mapm.db")
    other.rollback()
    other.close()
    s.close()
    ok(b"is not recorded" in s.errors, "what is lost is said", s.errors)


def swapped(w):
    """[row 23, T31] a skill's folder that becomes a link is not what was found."""
    w.skill("swap", "Its own.\n")
    w.write(".agents/skills/swap/id_rsa", "its own\n")
    w.metaskill("turn", 'def run(input):\n    return "its own"\n')
    away = os.path.join(w.top, "home", "away")
    for name in ("swap", "turn"):
        w.write(os.path.join(away, name, "SKILL.md"), f"---\nname: {name}\ndescription: SECRET\n"
                "metaskill: SKILL.star\n---\n\nSECRET\n")
        w.write(os.path.join(away, name, "SKILL.star"), 'def run(input):\n    return "SECRET"\n')
        w.write(os.path.join(away, name, "id_rsa"), "SECRET\n")
    inside = os.path.join(w.ws, "sources")
    shutil.copytree(away, inside)
    for target, what in ((away, "a link out of the workspace"), (inside, "a link to other files in it")):
        s = opened()
        asked = {
            "skill_resource list": lambda: s.tool("skill_resource", {"operation": "list", "skill": "swap"}),
            "skill_resource load": lambda: s.tool("skill_resource", {"operation": "load", "skill": "swap", "path": "id_rsa"}),
            "skill_load": lambda: s.tool("skill_load", {"name": "swap"}),
            "resources/read": lambda: s.call("resources/read", {"uri": "skill://swap/id_rsa"}),
            "resources/read of SKILL.md": lambda: s.call("resources/read", {"uri": "skill://swap/SKILL.md"}),
            "resources/directory/read": lambda: s.call("resources/directory/read", {"uri": "skill://swap"}),
            "skills/get": lambda: s.call("skills/get", {"uri": "skill://swap/SKILL.md"}),
            "skills/list": lambda: s.call("skills/list"),
            "prompts/get": lambda: s.call("prompts/get", {"name": "turn", "arguments": {"word": "x"}}),
            "run_metaskill": lambda: s.run("turn", input={"word": "x"}),
            "completion": lambda: s.call("completion/complete", {
                "ref": {"type": "ref/resource", "uri": "skill://{+skill}/{+file}"},
                "argument": {"name": "file", "value": ""}, "context": {"arguments": {"skill": "swap"}}}),
        }
        ok("its own" in str(asked["skill_resource load"]()), "skill_resource loads a file of the skill before its folder is replaced")
        for name in ("swap", "turn"):
            os.rename(f".agents/skills/{name}", f"{w.top}/{name}")
            os.symlink(f"{target}/{name}", f".agents/skills/{name}")
        for door, ask in asked.items():
            r = ask()
            ok("SECRET" not in str(r) and "id_rsa" not in str(r.get("completion", "")) and
               (door != "skills/list" or "skill://swap/" not in str(r)),
               f"{what}, through {door}: nothing of it", r)
        r = asked["skill_resource load"]()
        ok(r["isError"] and len(r["content"]) > 1, "which is told, and what to do", r)
        ok(asked["resources/read"]()["error"]["code"] in (-32002, -32602), "resources/read of a skill whose folder was replaced is an error")
        ok(asked["run_metaskill"]()["isError"], "run_metaskill of a skill whose folder was replaced is an error")
        s.close()
        s = opened()
        if target == away:
            ok("- swap" not in text_of(s.tool("skill_search", {"query": "swap"})), "a new session passes over a skill that is a link out of the workspace")
            s.close()
            same(s.errors.count(b"/swap/SKILL.md: its folder is a link that leads out of "), 1, "a new session warns once of a link out of the workspace")
        else:
            ok("SECRET" in str(s.tool("skill_load", {"name": "swap"})), "a new session takes a link to other files in the workspace")
            s.close()
        for name in ("swap", "turn"):
            os.unlink(f".agents/skills/{name}")
            os.rename(f"{w.top}/{name}", f".agents/skills/{name}")
    for path in (".agents/skills/swap", ".agents/skills/turn", inside, away):
        shutil.rmtree(path)


def too_much(w):
    """[row 23] no answer is cut in the middle."""
    s = opened()
    r = s.tool("skill_search", {"query": "\x7f" * 600000})
    same((r["isError"], text_of(r)), (True, "query is longer than 65536 bytes"), "[row 23] skill_search with a query beyond 65536 bytes is an error")
    r = s.tool("skill_search", {"query": "\x7f" * 65536})
    ok("isError" not in r and len(r["structuredContent"]["query"]) == 65536, "skill_search with a query of 65536 bytes is answered")
    same(s.bad, [], "standard output has only messages after long queries")
    s.close()


def told(s, what="tools"):
    """Waits until the client is told of a change."""
    s.notes.clear()
    while not any(n["method"] == f"notifications/{what}/list_changed" for n in s.notes):
        s.take()


def watches(s):
    top = f"/proc/{s.process.pid}"
    for fd in os.listdir(f"{top}/fd"):
        if "inotify" in os.readlink(f"{top}/fd/{fd}"):
            with open(f"{top}/fdinfo/{fd}") as info:
                return info.read().count("inotify wd:")
    return 0


def watch_links(w):
    """[L17] what is watched are folders of skills, not what links in them lead to."""
    s = opened("--watch")
    s.call("tools/list")
    before = watches(s)
    s.close()
    ok(before > 3, "folders are watched", before)
    away = os.path.join(w.top, "home", "away")
    for name in ("", "skill", "not"):
        os.makedirs(f"{away}/{name}/deep/er")
    w.write(f"{away}/skill/SKILL.md", "---\nname: skill\ndescription: d\n---\n")
    os.makedirs("sources/not/deep/er")
    links = {".agents/skills/zz": "/", ".agents/skills/skill": f"{away}/skill", ".agents/skills/away": away,
             ".agents/skills/pdf/up": away, ".agents/skills/sources": "../../sources"}
    for name, target in links.items():
        os.symlink(target, name)
    s = opened("--watch")
    s.call("tools/list")
    same(watches(s) - before, 1, "--watch watches the one link to a folder in the workspace, and nothing below it")
    w.skill("late", "x\n", root="sources/../.agents/skills")
    told(s, "resources")
    os.unlink(".agents/skills/sources")
    w.skill("sources", "x\n", root=".")
    os.symlink("../../sources", ".agents/skills/sources")
    told(s, "resources")
    ok("sources" in text_of(s.tool("skill_search", {"query": "sources"})), "--watch finds a link to a skill that appears during the session")
    same(watches(s) - before, 5, "--watch watches the folders of the linked skill")
    s.close()
    for name in links:
        os.unlink(name)
    for name in (away, "sources", ".agents/skills/late"):
        shutil.rmtree(name)


def watch(w):
    s = opened("--watch")
    s.call("tools/list")
    w.skill("fresh", "New.\n", "A fresh one.")
    told(s, "resources")
    ok(True, "[L17, X11] --watch notifies the client of a new skill")
    ok("fresh" in text_of(s.tool("skill_search", {"query": "fresh"})), "skill_search finds the new skill after the notification")
    w.skill("team/deep/nested", "Below.\n", "A nested one.")
    told(s, "resources")
    w.write(".agents/skills/team/deep/nested/SKILL.md", "---\nname: nested\ndescription: Told.\n---\nx\n")
    told(s, "resources")
    ok("Told." in text_of(s.tool("skill_search", {"query": "nested"})), "[K14] --watch notices an edit of a skill in a group")
    w.metaskill("turns", 'def run(input):\n    return "x"\n')
    told(s)
    s.call("tools/list")
    w.mapm("trust", "--revoke", "--workspace")
    told(s)
    ok("isError" in s.run("turns", input={"word": "x"}), "[X27] run_metaskill fails after trust is revoked during the session")
    s.call("tools/list")
    w.trust()
    told(s)
    ok("isError" not in s.run("turns", input={"word": "x"}), "run_metaskill works after trust is given during the session")
    s.call("tools/list")
    w.write("mapm.yaml", "runtime: {metaskills: off}\n")
    told(s)
    ok(True, "--watch notifies the client of a changed policy of the workspace")
    os.unlink("mapm.yaml")
    before = watches(s)
    for turn in range(2):
        for i in range(5):
            w.skill(f"moves-{i}", "Moves.\n", "Moves.")
            w.write(f".agents/skills/moves-{i}/docs/a", "x")
        told(s, "resources")
        for i in range(5):
            os.rename(f".agents/skills/moves-{i}", f"moved-{turn}-{i}")
        told(s, "resources")
    stop = time.monotonic() + 30
    while watches(s) != before and time.monotonic() < stop:
        time.sleep(0.1)
        s.call("ping")
    same(watches(s), before, "[L17] folders that were moved away are not watched any more")
    # changes without end: it is told all the same
    stop = time.monotonic() + 30
    s.notes.clear()
    while time.monotonic() < stop and not any(n["method"] == "notifications/resources/list_changed" for n in s.notes):
        w.skill("fresh", "New.\n", f"At {time.monotonic()}.")
        time.sleep(0.1)
        s.call("ping")
    ok(time.monotonic() < stop, "[L17] --watch notifies the client during endless changes")
    s.close()
    subprocess.run(["rm", "-r", ".agents/skills/fresh", ".agents/skills/turns"], check=True)


def test(w):
    life(w)
    fill(w)
    untrusted(w)
    w.trust()
    runnable(w)
    instructions(w)
    summary(w)
    tools(w)
    session(w)
    skills(w)
    resources(w)
    prompts(w)
    snapshot(w)
    anchor(w)
    no_data_folder(w)
    busy(w)
    swapped(w)
    too_much(w)
    watch_links(w)
    watch(w)


main(test)

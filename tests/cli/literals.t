#!/usr/bin/env -S python3 -S
# The texts other hosts depend on, as docs/requirements.md has them, against what mapm
# prints: [K9, K15, K31, K34, K36, K41, T15, T17, T18, T20, T22, T26].
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from mcp_client import MAPM, ROOT, Server, Tap, main, opened, text_of

ok, same = Tap.ok, Tap.same
BODY = "# PDF\n\nRead it.\n"
KEYS = "Input keys:\n\n- `word`: what to say."
with open(os.path.join(ROOT, "docs", "requirements.md"), encoding="utf-8") as file:
    LITERALS = dict(re.findall(r"^```text (.*?)\n(.*?)\n```$", file.read(), re.M | re.S))
used = set()


def literal(id, **values):
    used.add(id)
    return re.sub(r"\{(repr )?(\w+)\}",
                  lambda m: repr(values[m[2]]) if m[1] else str(values[m[2]]), LITERALS[id])


def running(w):
    w.trust()
    s = opened()
    shown = literal("K41", name="echo", body=KEYS, folder=f"{w.ws}/.agents/skills/echo", file="SKILL.star")
    same(text_of(s.run("echo", input={})), literal("K9", K41=shown), "[K9, K41] run_metaskill without input answers with the text of the document")
    header, _, envelope = text_of(s.run("echo", input={"word": "hi"})).partition("\n")
    same(header + "\n", literal("K31", name="echo", json=""), "[K31] the header of a success has the text of the document")
    ok(envelope.startswith("{"), "[K31] an object follows the header of a success")
    same(text_of(s.run("nix", input={"a": 1})), literal("K34 unknown", name="nix"), "[K34] the error for an unknown name has the text of the document")
    same(text_of(s.run("pdf", input={"a": 1})), literal("K34 static", name="pdf"), "[K34] the error for a static skill has the text of the document")
    text = text_of(s.run("fails", input={"a": 1}))
    start = literal("K34 failed", name="fails", why="")
    ok(text.startswith(start) and len(text) > len(start), "[K34] a program that fails", text)
    tool = next(t for t in s.call("tools/list")["tools"] if t["name"] == "run_metaskill")
    same(tool["description"], literal("K36 run_metaskill"), "[K36] run_metaskill has the description of the document")
    for name, schema in tool["inputSchema"]["properties"].items():
        same(schema["description"], literal("K36 " + name), f"[K36] the parameter {name} has the description of the document")
    s.close()


def finding(w):
    s = Server("--profile", "metis")
    ok(s.open()["instructions"].startswith(literal("T15", name="big", description="For a test.")), "[T15] the instructions start with the block of the document")
    same(text_of(s.tool("skill_search", {"query": "pdf"})),
         literal("T17", query="pdf", count=1, name="pdf", source="workspace", description="Work with PDF files."),
         "[T17] what was found")
    for query in ("nothing", "it's"):
        same(text_of(s.tool("skill_search", {"query": query})), literal("T17 none", query=query),
             f"[T17] the empty result for {query} has the text of the document")
    same(text_of(s.tool("skill_load", {"name": "nix"})), literal("T18 unknown", name="nix"), "[T18] the error for an unknown skill has the text of the document")
    with open(MAPM, "rb") as program:
        ok(literal("T18 absent").encode() in program.read(), "[T18] mapm contains the text for an absent library")
    s.close()
    s = Server()
    ok("\n" + literal("K15", name="echo", description="For a test.") + "\n" in s.open()["instructions"],
       "[K15] the instructions have the line of a metaskill")
    s.close()


def loading(w):
    s = opened("--profile", "metis")
    def head(name, text):
        return literal("T18", name=name, source="workspace", body=text)
    same(text_of(s.tool("skill_load", {"name": "pdf"})), head("pdf", BODY), "[T18] skill_load returns header and body of the document")
    same(text_of(s.tool("skill_load", {"name": "pdf"})), head("pdf", literal("T20 loaded", name="pdf")),
         "[T20] a second skill_load returns the pointer of the document")
    tokens = (len(BODY) // 4) + (len("x" * 130001) // 4)
    same(text_of(s.tool("skill_load", {"name": "big"})),
         literal("T22 tokens", name="big", tokens=tokens, cap=30000, names=["pdf"]), "[T22] too many tokens")
    for name in ("echo", "fails"):
        s.tool("skill_load", {"name": name})
    same(text_of(s.tool("skill_load", {"name": "more"})),
         literal("T22 skills", count=3, limit=3, names=["pdf", "echo", "fails"]), "[T22] too many skills")
    s.close()
    s = Server("--preload", "--profile", "metis")
    text = s.open()["instructions"]
    line = "\n" + literal("T15 preloaded", name="pdf", description="Work with PDF files.") + "\n"
    ok(line in text, "[T15] a preloaded skill", text[:2000])
    ok(literal("T26", name="pdf", body=BODY.strip()) + "\n" in text, "[T26] and its body", text[:2000])
    same(text_of(s.tool("skill_load", {"name": "pdf"})), head("pdf", literal("T20 preloaded", name="pdf")),
         "[T20] skill_load of a preloaded skill returns the pointer of the document")
    s.close()


def literals(w):
    w.skill("pdf", BODY, "Work with PDF files.")
    w.skill("more")
    w.skill("big", "x" * 130000 + "\n")
    w.metaskill("echo", 'def run(input):\n    return str(input["word"])\n')
    w.metaskill("fails", 'def run(input):\n    fail("why")\n')
    running(w)
    finding(w)
    loading(w)
    same(sorted(set(LITERALS) - used), ["K34 policy"], "every text of docs/requirements.md is compared, K34 policy in trust.t")


main(literals)

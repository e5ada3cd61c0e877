#!/usr/bin/env -S python3 -S
# mapm mcp with more skills than an answer holds: every prompt is listed, page by
# page, and completion counts what it does not show [L6, K8].
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from mcp_client import Tap, main, opened

ok, same = Tap.ok, Tap.same
PAGE = 500
HALF = 1150  # more than 1,000 of each, and no whole number of pages


def pages(s):
    """All prompts, and how many came in each answer."""
    listed, sizes, params = [], [], {}
    while True:
        r = s.call("prompts/list", params)
        listed += r["prompts"]
        sizes.append(len(r["prompts"]))
        if "nextCursor" not in r:
            return listed, sizes
        params = {"cursor": r["nextCursor"]}


def prompts(w):
    for modern in (False, True):
        s = opened(modern=modern)
        listed, sizes = pages(s)
        same([p["name"] for p in listed], ["a-meta"] + [f"hand-{i:04}" for i in range(HALF)] + ["z-meta"],
             f"{'new' if modern else 'old'} era: prompts/list lists more than 1,000 prompts")
        same(sizes, [PAGE, PAGE, HALF + 2 - 2 * PAGE], "prompts/list answers in pages of 500")
        by = {p["name"]: p for p in listed}
        for name in ("a-meta", "z-meta"):
            same([a["name"] for a in by[name]["arguments"]], ["word"], f"[K8] {name} has its arguments on any page")
        same([a["name"] for a in by["hand-1149"]["arguments"]], ["arguments"], "[L6] a skill for persons has its arguments")
        for cursor in ("0", "1152", "9" * 30, "x", ""):
            same(s.call("prompts/list", {"cursor": cursor})["error"]["code"], -32602, f"there is no cursor {cursor!r}")
        s.close()


def completion(w):
    s = opened()
    t = s.call("resources/templates/list")["resourceTemplates"][0]["uriTemplate"]

    def complete(value):
        return s.call("completion/complete", {"ref": {"type": "ref/resource", "uri": t},
                                              "argument": {"name": "skill", "value": value}})["completion"]

    def short(c):
        return len(c["values"]), c["total"], c["hasMore"]

    same(short(complete("")), (100, HALF + 2, True), "[L6] completion does not offer skills for persons")
    for i in range(HALF):
        s.call("prompts/get", {"name": f"hand-{i:04}"})
    same(short(complete("")), (100, 2 * HALF + 2, True), "completion has the whole number and the first 100")
    same(short(complete("hand-")), (100, HALF, True), "completion of a prefix counts the names that fit")
    same(short(complete("hand-00")), (100, 100, False), "completion with 100 names has no more")
    same(complete("HAND-0007")["values"], ["hand-0007"], "completion ignores case")
    same(complete("0007")["values"], ["hand-0007", "tool-0007"], "completion finds a word within a name")
    c = complete("T")
    same((c["values"][0], c["values"] == sorted(c["values"]), c["total"]), ("tool-0000", True, HALF + 2),
         "completion lists first the names with the prefix")
    c = complete("A")
    same((c["values"][:2], c["total"]), (["a-meta", "hand-0000"], HALF + 2), "completion lists other names after those with the prefix")
    same(short(complete("nothing-such")), (0, 0, False), "completion of an unknown word has no name")
    s.close()


def test(w):
    for i in range(HALF):
        w.skill(f"hand-{i:04}", more="disable-model-invocation: true\n")
        w.skill(f"tool-{i:04}")
    for name in ("a-meta", "z-meta"):
        w.metaskill(name, 'def run(input):\n    return "x"\n')
    w.trust()
    prompts(w)
    completion(w)


main(test)

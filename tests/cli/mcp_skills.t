#!/usr/bin/env -S python3 -S
# mapm mcp: what of a skill is served, and what is not ([L6, L14, L17, T9, X11, X28]
# [A4, row 23]; the Skills extension: complete entries that a host accepts).
import base64
import hashlib
import os
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "lib"))
from mcp_client import Server, Tap, main, opened, text_of

ok, same = Tap.ok, Tap.same

SKILLS = ".agents/skills/"
ODD = ["10:30.md", "a?b", "a*b", 'a"b', "a<b", "a|b", "con.txt", "a.", "back\\slash", "a\nb", "a\x07b",
       "a#b", "a%20b", "a b", "\u00e9.md", "e\u0301.md", "\u6587\u6863.md", "\u202eb", "x" * 200, "deep " + "y" * 200 + "/" + "z" * 250 + "/" + "\u00e9" * 100 + "/f?"]
PERSON = "can be started by the user only"


def listed(s):
    """skills/list, by name."""
    return {x["uri"].split("/")[-2]: x for x in s.call("skills/list")["skills"]}


def resources(s):
    return [r["name"] for r in s.call("resources/list")["resources"]]


def read(s, uri):
    c = s.call("resources/read", {"uri": uri})["contents"][0]
    return c["text"].encode() if "text" in c else base64.b64decode(c["blob"])


def folder(s, uri):
    r = s.call("resources/directory/read", {"uri": uri})
    return [(x["name"], x["mimeType"], x.get("size")) for x in r["resources"]] if "resources" in r else r["error"]["code"]


def names(w):
    w.skill("odd")
    for n, name in enumerate(ODD):
        w.write(SKILLS + "odd/" + name, f"text {n}\n")
    for modern in (False, True):
        s = opened(modern=modern)
        entry = s.call("skills/get", {"uri": "skill://odd/SKILL.md"}).get("skill")
        ok(entry and entry == listed(s).get("odd"), "a skill is served whatever its files are called")
        if entry:
            same(len({f["uri"] for f in entry["resources"]}), len(ODD) + 1, "with all of them")
            for f in entry["resources"]:
                data = read(s, f["uri"])
                same((len(data), "sha256:" + hashlib.sha256(data).hexdigest()), (f["size"], f["digest"]),
                     f"{f['uri'][:60]} is what its digest says")
                ok(all(32 < ord(c) < 127 for c in f["uri"]), "its address is one", f["uri"])
        same(sorted(x[0] for x in folder(s, "skill://odd")),
             sorted({name.split("/")[0] for name in ODD} | {"odd"}), "every direct child of its folder")
        r = s.tool("skill_resource", {"operation": "list", "skill": "odd"})
        same(sorted(f["path"] for f in r["structuredContent"]["files"]), sorted(ODD), "[L14] and for the tool")
        ok("a\\x0ab" in text_of(r) and "a\nb" not in text_of(r), "in one line each", text_of(r))
        for n, name in enumerate(ODD):
            same(text_of(s.tool("skill_resource", {"operation": "load", "skill": "odd", "path": name})),
                 f"text {n}\n", f"[L14] {name[:20]!r} is loaded")
        same(s.close(), 0, "the end")
        same(s.errors.decode(), "", "without a word")
    shutil.rmtree(SKILLS + "odd")


def bytes_in_names(w):
    w.skill("bytes")
    w.write(SKILLS + "bytes/good", "x\n")
    with open(os.fsencode(w.ws) + b"/" + SKILLS.encode() + b"bytes/b\xe4d", "w") as out:
        out.write("x\n")
    w.skill("plain")
    s = opened()
    for _ in range(2):
        same(list(listed(s)), ["plain"], "a name that is not UTF-8: no entry could be complete")
        same(s.call("skills/get", {"uri": "skill://bytes/SKILL.md"})["error"]["code"], -32602, "nor be got")
    same(resources(s), ["bytes", "plain"], "it is a resource all the same")
    same([x[0] for x in folder(s, "skill://bytes")], ["bytes", "good"], "with what can be named")
    s.close()
    same(s.errors.decode(), "warning: skill 'bytes' is not in skills/list: the name of b\\xe4d is not UTF-8\n",
         "and a person is told once")
    shutil.rmtree(SKILLS + "bytes")


def hosts(w):
    """What clients accept as files is listed, under the name it goes by."""
    good = {
        "full": "name: full\ndescription: " + "d" * 1024 + "\nmetadata:\n  a: b\nlicense: MIT\n",
        "quoted": "name: 'quoted'\ndescription: \"Use when: asked\"\nmore: [1, {a: b}]\n",
        "5": "name: 5\ndescription: d\n",
        "1e3": "name: 1e3\ndescription: d\n",
        "long": "name: long\ndescription: " + "d" * 1025 + "\n",
        "repaired": "name: repaired\ndescription: Use when: asked\n",
        "list": "name: list\ndescription: d\nmetadata: [a, b]\n",
        "deep": "name: deep\ndescription: d\nmetadata: {a: [b]}\n",
        "tools": "name: tools\ndescription: d\nallowed-tools: [Read]\n",
        "another": "name: another\ndescription: d\n",
        "upper": "name: Upper Case\ndescription: d\n",
    }
    bad = {"number": "name: number\ndescription: 7\n"}
    for name, text in {**good, **bad}.items():
        folder_of = "other" if name == "another" else name
        w.write(SKILLS + folder_of + "/SKILL.md", f"---\n{text}---\n\nBody.\n")
    for modern in (False, True):
        s = opened(modern=modern)
        all_of = resources(s)
        served = listed(s)
        for name in good:
            ok(name in served and name in all_of, f"a host accepts {name}")
            same(s.call("skills/get", {"uri": f"skill://{name}/SKILL.md"}).get("skill"), served.get(name), "and gets it")
        for name in bad:
            ok(name not in served, f"no host would accept {name}", served.get(name))
            same(s.call("skills/get", {"uri": f"skill://{name}/SKILL.md"})["error"]["code"], -32602, "so it is not got")
        for name in set(bad) & set(all_of):
            ok(b"Body." in read(s, f"skill://{name}/SKILL.md"), f"{name} is a resource")
            ok("isError" not in s.tool("skill_load", {"name": name}), "and loaded by the tool")
        ok(b"\nname: upper\n" in read(s, "skill://upper/SKILL.md"), "its address has the name of its text")
        same(served["upper"]["frontmatter"]["name"], "upper", "and so has its frontmatter")
        s.close()
        ok(set(bad) & set(all_of) == set() or b"skills/list" in s.errors, "what is left out is told", s.errors)
    for name in {**good, **bad}:
        shutil.rmtree(SKILLS + ("other" if name == "another" else name))


def folders(w):
    w.skill("rooms")
    w.write(SKILLS + "rooms/full/one.md", "x\n")
    os.makedirs(SKILLS + "rooms/empty/deep")
    os.symlink("full", SKILLS + "rooms/link")
    s = opened()
    body = os.path.getsize(SKILLS + "rooms/SKILL.md")
    same(folder(s, "skill://rooms"), [("rooms", "text/markdown", body), ("empty", "inode/directory", None),
                                      ("full", "inode/directory", None)], "folders are listed, empty ones, too")
    same(folder(s, "skill://rooms/empty"), [("deep", "inode/directory", None)], "and have folders")
    same(folder(s, "skill://rooms/empty/deep"), [], "one with nothing in it is empty")
    same(folder(s, "skill://rooms/full"), [("one.md", "text/markdown", 2)], "or has files")
    for uri in ("skill://rooms/link", "skill://rooms/full/one.md", "skill://rooms/none", "skill://rooms/empty/.."):
        same(folder(s, uri), -32602, f"[row 23] {uri} is no folder of it")
    s.close()
    shutil.rmtree(SKILLS + "rooms")


def git(w):
    w.skill("repo")
    for path in (".git/config", "sub/.git", ".GIT/config", "git~1/config"):
        w.write(f"{SKILLS}repo/{path}", "secret\n")
    w.write(SKILLS + "repo/.github/x", "x\n")
    s = opened()
    same([f["uri"] for f in listed(s)["repo"]["resources"]],
         ["skill://repo/.github/x", "skill://repo/SKILL.md"], "what git keeps is no part of a skill")
    same([x[0] for x in folder(s, "skill://repo")], [".github", "repo", "sub"], "nor of its folder")
    same(folder(s, "skill://repo/sub"), [], "nor deeper in it")
    for path in (".git/config", "sub/.git", ".GIT/config", "git~1/config", "%2egit/config", ".gi%74/config"):
        r = s.call("resources/read", {"uri": "skill://repo/" + path})
        same(r.get("error", {}).get("code"), -32002, f"[row 23] {path} is not read")
        same(folder(s, "skill://repo/" + os.path.dirname(path)) if path != "sub/.git" else -32602, -32602, "nor listed")
        r = s.tool("skill_resource", {"operation": "load", "skill": "repo", "path": path})
        ok(r.get("isError") and "secret" not in str(r), "nor loaded", r)
    s.close()
    shutil.rmtree(SKILLS + "repo")


def disabled(w):
    w.skill("private", "Only by hand.\n", "For persons.", "disable-model-invocation: true\n")
    w.write(SKILLS + "private/notes.md", "noted\n")
    for modern in (False, True):
        s = opened(*([] if modern else ["--watch"]), modern=modern)
        ref = {"type": "ref/resource", "uri": s.call("resources/templates/list")["resourceTemplates"][0]["uriTemplate"]}
        complete = lambda name: s.call("completion/complete", {
            "ref": ref, "argument": {"name": name, "value": ""},
            "context": {"arguments": {"skill": "private"}}})["completion"]["values"]
        lists = lambda: ("private" in resources(s), "private" in listed(s), "private" in complete("skill"),
                         "notes.md" in complete("file"))
        words = text_of(s.tool("skill_load", {"name": "private"}))
        ok(PERSON in words, "[L6] a model cannot load it", words)
        same(lists(), (False,) * 4, "[L6] it is on no list")
        calls = [("resources/read", "skill://private/SKILL.md"), ("resources/read", "skill://private/notes.md"),
                 ("resources/directory/read", "skill://private"), ("skills/get", "skill://private/SKILL.md")]
        for method, uri in calls:
            error = s.call(method, {"uri": uri}).get("error", {})
            same((error.get("code"), error.get("message", "")[:len(words)]), (-32602, words),
                 f"[L6] {method} {uri} is refused in the same words")
        same(text_of(s.tool("skill_resource", {"operation": "load", "skill": "private", "path": "notes.md"})), words,
             "[L6] and so are its files")
        ok("private" in [p["name"] for p in s.call("prompts/list")["prompts"]], "[L6] it is a prompt")
        s.call("prompts/get", {"name": "private"})
        if not modern:
            ok(any(n["method"] == "notifications/resources/list_changed" for n in s.notes),
               "[X11] that there is one resource more is told")
        same(lists(), (True,) * 4, "until a person has asked for it")
        for method, uri in calls:
            ok("error" not in s.call(method, {"uri": uri}), f"then {method} {uri} gives it")
        ok("Only by hand." in text_of(s.tool("skill_load", {"name": "private"})), "and it is loaded")
        same(text_of(s.tool("skill_resource", {"operation": "load", "skill": "private", "path": "notes.md"})), "noted\n",
             "with its files")
        s.close()
    s = opened("--profile", "metis", "--workspace-root", SKILLS)
    ok("Only by hand." in text_of(s.tool("skill_load", {"name": "private"})), "[T9] Metis does not know the field")
    same(text_of(s.tool("skill_resource", {"operation": "load", "skill": "private", "path": "notes.md"})), "noted\n",
         "[T9] for no tool")
    ok("private" in resources(s) and "private" in listed(s), "[T9] and no list")
    s.close()


def empty(w):
    """`private` alone is there."""
    s = opened("--watch")
    same(s.call("tools/list")["tools"], [], "[A4] without a skill for a model there is no tool")
    same(text_of(s.tool("skill_search", {"query": "x"})), "No skills matched 'x'.", "who calls one is answered")
    w.skill("first")
    told(s, "tools")
    same([t["name"] for t in s.call("tools/list")["tools"]], ["skill_search", "skill_load", "skill_resource"],
         "[X11] with the first skill they are there, and that is told")
    s.close()
    shutil.rmtree(SKILLS + "private")
    s = opened("--workspace-root", SKILLS + "first", "--global-root", SKILLS + "first")
    same(s.call("tools/list")["tools"], [], "[A4] no skill at all")
    s.close()


def told(s, *lists):
    """Waits for the first notifications of lists; which they were."""
    want = {f"notifications/{x}/list_changed" for x in lists}
    while not want & {n["method"] for n in s.notes}:
        s.take()
    s.call("ping")
    got = sorted({n["method"].split("/")[1] for n in s.notes if n["method"].endswith("list_changed")})
    s.notes.clear()
    return got


def edited(s, uri):
    """Waits until the client hears of this resource; the lists it heard of before."""
    while not any(n["method"] == "notifications/resources/updated" and n["params"]["uri"] == uri for n in s.notes):
        s.take()
    got = [n["method"] for n in s.notes if n["method"].endswith("list_changed")]
    s.notes.clear()
    return got


def watch(w):
    program = 'def run(input):\n    return "x"\n'
    w.trust()
    w.skill("first")
    w.metaskill("flow", program)
    for asked in (True, False):
        w.skill("first")
        s = opened("--watch")
        if asked:
            for method in ("tools/list", "resources/list", "prompts/list"):
                s.call(method)
        for uri in ("skill://first/SKILL.md", "skill://flow/SKILL.md", "skill://first/notes.md"):
            s.call("resources/subscribe", {"uri": uri})
        w.skill("first", f"Another body, {asked}.\n")
        same(edited(s, "skill://first/SKILL.md"), [], "[L17, X11] another body is no other list")
        w.metaskill("flow", program, f"Input keys:\n\n- `word`: what to say.\n\nAnd more, {asked}.\n")
        same(edited(s, "skill://flow/SKILL.md"), [], "nor is that of a metaskill")
        w.write(SKILLS + "first/notes.md", f"{asked}\n")
        same(edited(s, "skill://first/notes.md"), [], "nor a file beside it")
        same(len(s.call("resources/list")["resources"]), 2, "the lists are as they were")
        w.skill("first", description=f"Another description, {asked}.")
        same(told(s, "resources"), ["resources"], "a description is one of the resources")
        if asked:
            w.metaskill("flow", program, "Input keys:\n\n- `other`: what to say.\n")
            same(told(s, "prompts"), ["prompts"], "keys are arguments of a prompt")
            same([a["name"] for p in s.call("prompts/list")["prompts"] for a in p["arguments"]], ["other"], "as it says now")
        w.metaskill("extra", program)
        same(told(s, "tools", "prompts"), ["prompts", "resources", "tools"], "one more metaskill is all of them")
        w.metaskill("extra", "def run(input)\n    return 1\n")
        same(told(s, "tools", "prompts"), ["prompts", "tools"], "[X28] one that does not compile is on none of the two")
        w.write("mapm.yaml", "runtime: {metaskills: off}\n")
        same(told(s, "tools", "prompts"), ["prompts", "tools"], "[X27] that nothing may run at all is another list of tools and prompts")
        os.unlink("mapm.yaml")
        same(told(s, "tools", "prompts"), ["prompts", "tools"], "[X27] and that it may")
        w.mapm("trust", "--revoke", "--workspace")
        same(told(s, "tools", "prompts"), ["prompts", "tools"], "[X27] so is no trust")
        s.call("ping")
        same(set(s.errors.decode().splitlines()), {"warning: metaskill 'extra' is not offered: its program does not compile (mapm check)"},
             "nothing else went wrong")
        w.write("mapm.yaml", "nonsense: true\n")
        w.skill("extra", "Of a broken workspace.\n", "Still seen.")
        same(told(s, "resources"), ["resources"], "what cannot be read takes nothing else with it")
        s.close()
        ok("what the workspace says of skills cannot be read again" in s.errors.decode(), "and a person is told", s.errors)
        w.write("mapm.yaml", "dependencies: {}\n")
        w.trust()
        shutil.rmtree(SKILLS + "extra")


def heavy(w):
    """[row 23] one request hashes some megabytes, and no more than that."""
    for i in range(4):
        w.skill(f"heavy-{i}", "Heavy.\n", "Heavy.")
        w.write(f"{SKILLS}heavy-{i}/data", "")
        os.truncate(f"{SKILLS}heavy-{i}/data", 12 << 20)
    s = opened(modern=True)
    names, pages, cursor = [], 0, None
    while pages == 0 or cursor:
        page = s.call("skills/list", {"cursor": cursor} if cursor else {})
        heavy = [k["uri"] for k in page["skills"] if "heavy" in k["uri"]]
        ok(len(heavy) <= 2, "a page ends where it has hashed enough", heavy)
        names += heavy
        cursor, pages = page.get("nextCursor"), pages + 1
    same(sorted(names), [f"skill://heavy-{i}/SKILL.md" for i in range(4)], "and the pages have all of them")
    s.close()
    for i in range(4):
        shutil.rmtree(f"{SKILLS}heavy-{i}")


def odd_prompt(w):
    """A person can ask for what is there, whatever its files are called."""
    w.metaskill("oddly", 'def run(input):\n    return "x"\n')
    w.write(SKILLS + "oddly/10:30\n.md", "x")
    s = opened()
    p = [p for p in s.call("prompts/list")["prompts"] if p["name"] == "oddly"]
    same([a["name"] for a in p[0]["arguments"]], ["word"], "its keys are its arguments")
    text = s.call("prompts/get", {"name": "oddly", "arguments": {"word": "x"}})["messages"][0]["content"]["text"]
    ok("[Skill: oddly activated]" in text, "[K41] and it is activated", text)
    s.close()
    shutil.rmtree(SKILLS + "oddly")


def marks(w):
    for options, said in (([], True), (["--profile", "metis", "--workspace-root", SKILLS], False)):
        s = Server(*options)
        text = s.open()["instructions"]
        same(("- flow: For a test. (metaskill: starlark)" in text, "Metaskills are marked" in text), (said, said),
             f"[X28] marks are spoken of where they are {options}")
        ok("`run_metaskill`" in text, "[K43] the guidelines are there", text)
        s.close()


def hidden(w):
    w.skill("sly")
    w.write(SKILLS + "sly/SKILL.md", open(SKILLS + "sly/SKILL.md").read() + "a \u202e b\n")
    w.write(SKILLS + "sly/notes.md", "c \u2066 d\n")
    for ask in (lambda s: s.tool("skill_load", {"name": "sly"}),
                lambda s: s.call("resources/read", {"uri": "skill://sly/SKILL.md"}),
                lambda s: s.call("resources/read", {"uri": "skill://sly/notes.md"}),
                lambda s: s.tool("skill_resource", {"operation": "load", "skill": "sly", "path": "notes.md"})):
        s = opened()
        ask(s)
        s.close()
        same(s.errors.decode().count("which is invisible"), 1, "[F3] what is served with hidden characters is warned of")
    w.metaskill("sly", "def run(input):\n    return 1\n", "a \u202e b\n")
    s = opened()
    for _ in range(3):
        s.call("prompts/list")
        s.tool("skill_load", {"name": "sly"})
    s.close()
    same(s.errors.decode().count("which is invisible"), 1, "[F3] many requests, one warning")
    shutil.rmtree(SKILLS + "sly")


def test(w):
    names(w)
    bytes_in_names(w)
    hosts(w)
    folders(w)
    git(w)
    shutil.rmtree(SKILLS + "plain")
    disabled(w)
    empty(w)
    watch(w)
    heavy(w)
    odd_prompt(w)
    marks(w)
    hidden(w)


main(test)

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
        ok(entry and entry == listed(s).get("odd"), "skills/get serves a skill with odd file names as skills/list does")
        if entry:
            same(len({f["uri"] for f in entry["resources"]}), len(ODD) + 1, "the entry of the skill has every file")
            for f in entry["resources"]:
                data = read(s, f["uri"])
                same((len(data), "sha256:" + hashlib.sha256(data).hexdigest()), (f["size"], f["digest"]),
                     f"{f['uri'][:60]} has the size and digest of its entry")
                ok(all(32 < ord(c) < 127 for c in f["uri"]), "its address is one", f["uri"])
        same(sorted(x[0] for x in folder(s, "skill://odd")),
             sorted({name.split("/")[0] for name in ODD} | {"odd"}), "every direct child of its folder")
        r = s.tool("skill_resource", {"operation": "list", "skill": "odd"})
        same(sorted(f["path"] for f in r["structuredContent"]["files"]), sorted(ODD), "[L14] skill_resource lists the files with odd names")
        ok("a\\x0ab" in text_of(r) and "a\nb" not in text_of(r), "in one line each", text_of(r))
        for n, name in enumerate(ODD):
            same(text_of(s.tool("skill_resource", {"operation": "load", "skill": "odd", "path": name})),
                 f"text {n}\n", f"[L14] {name[:20]!r} is loaded")
        same(s.close(), 0, "the server ends with exit code 0 after odd file names")
        same(s.errors.decode(), "", "the server prints nothing on standard error for odd file names")
    shutil.rmtree(SKILLS + "odd")


def bytes_in_names(w):
    w.skill("bytes")
    w.write(SKILLS + "bytes/good", "x\n")
    with open(os.fsencode(w.ws) + b"/" + SKILLS.encode() + b"bytes/b\xe4d", "w") as out:
        out.write("x\n")
    w.skill("plain")
    s = opened()
    for _ in range(2):
        same(list(listed(s)), ["plain"], "skills/list leaves out a skill with a file name that is not UTF-8")
        same(s.call("skills/get", {"uri": "skill://bytes/SKILL.md"})["error"]["code"], -32602, "skills/get fails for a skill with a file name that is not UTF-8")
    same(resources(s), ["bytes", "plain"], "resources/list has the skill with a file name that is not UTF-8")
    same([x[0] for x in folder(s, "skill://bytes")], ["bytes", "good"], "resources/directory/read lists the files with UTF-8 names")
    s.close()
    same(s.errors.decode(), "warning: skill 'bytes' is not in skills/list: the name of b\\xe4d is not UTF-8\n",
         "the server warns once about the file name that is not UTF-8")
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
            ok(name in served and name in all_of, f"skills/list and resources/list have the skill {name}")
            same(s.call("skills/get", {"uri": f"skill://{name}/SKILL.md"}).get("skill"), served.get(name), "skills/get returns the entry of skills/list")
        for name in bad:
            ok(name not in served, f"no host would accept {name}", served.get(name))
            same(s.call("skills/get", {"uri": f"skill://{name}/SKILL.md"})["error"]["code"], -32602, "skills/get fails for a skill with an invalid description")
        for name in set(bad) & set(all_of):
            ok(b"Body." in read(s, f"skill://{name}/SKILL.md"), f"resources/read returns the skill {name}")
            ok("isError" not in s.tool("skill_load", {"name": name}), "skill_load returns the skill with an invalid description")
        ok(b"\nname: upper\n" in read(s, "skill://upper/SKILL.md"), "the text of a skill has the name of its address")
        same(served["upper"]["frontmatter"]["name"], "upper", "the frontmatter of the entry has the name of the address")
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
    same(folder(s, "skill://rooms/empty"), [("deep", "inode/directory", None)], "resources/directory/read lists a folder within a folder")
    same(folder(s, "skill://rooms/empty/deep"), [], "resources/directory/read of an empty folder lists nothing")
    same(folder(s, "skill://rooms/full"), [("one.md", "text/markdown", 2)], "resources/directory/read lists the files of a folder")
    for uri in ("skill://rooms/link", "skill://rooms/full/one.md", "skill://rooms/none", "skill://rooms/empty/.."):
        same(folder(s, uri), -32602, f"[row 23] resources/directory/read rejects {uri}")
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
    same([x[0] for x in folder(s, "skill://repo")], [".github", "repo", "sub"], "resources/directory/read lists nothing of git at the top of a skill")
    same(folder(s, "skill://repo/sub"), [], "resources/directory/read lists nothing of git in a subfolder")
    for path in (".git/config", "sub/.git", ".GIT/config", "git~1/config", "%2egit/config", ".gi%74/config"):
        r = s.call("resources/read", {"uri": "skill://repo/" + path})
        same(r.get("error", {}).get("code"), -32002, f"[row 23] resources/read does not return {path}")
        same(folder(s, "skill://repo/" + os.path.dirname(path)) if path != "sub/.git" else -32602, -32602, "resources/directory/read does not list a folder of git")
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
        same(lists(), (False,) * 4, "[L6] no list has a skill that only a person may start")
        calls = [("resources/read", "skill://private/SKILL.md"), ("resources/read", "skill://private/notes.md"),
                 ("resources/directory/read", "skill://private"), ("skills/get", "skill://private/SKILL.md")]
        for method, uri in calls:
            error = s.call(method, {"uri": uri}).get("error", {})
            same((error.get("code"), error.get("message", "")[:len(words)]), (-32602, words),
                 f"[L6] {method} {uri} is refused in the words of skill_load")
        same(text_of(s.tool("skill_resource", {"operation": "load", "skill": "private", "path": "notes.md"})), words,
             "[L6] skill_resource refuses the files in the words of skill_load")
        ok("private" in [p["name"] for p in s.call("prompts/list")["prompts"]], "[L6] prompts/list has the skill that only a person may start")
        s.call("prompts/get", {"name": "private"})
        if not modern:
            ok(any(n["method"] == "notifications/resources/list_changed" for n in s.notes),
               "[X11] prompts/get notifies the client of a new resource")
        same(lists(), (True,) * 4, "every list has the skill after a person asked for it")
        for method, uri in calls:
            ok("error" not in s.call(method, {"uri": uri}), f"{method} {uri} succeeds after a person asked for it")
        ok("Only by hand." in text_of(s.tool("skill_load", {"name": "private"})), "skill_load returns the body after a person asked for it")
        same(text_of(s.tool("skill_resource", {"operation": "load", "skill": "private", "path": "notes.md"})), "noted\n",
             "skill_resource returns a file after a person asked for it")
        s.close()
    s = opened("--profile", "metis", "--workspace-root", SKILLS)
    ok("Only by hand." in text_of(s.tool("skill_load", {"name": "private"})), "[T9] skill_load with --profile metis ignores disable-model-invocation")
    same(text_of(s.tool("skill_resource", {"operation": "load", "skill": "private", "path": "notes.md"})), "noted\n",
         "[T9] skill_resource with --profile metis ignores the field")
    ok("private" in resources(s) and "private" in listed(s), "[T9] the lists with --profile metis ignore the field")
    s.close()


def empty(w):
    """`private` alone is there."""
    s = opened("--watch")
    same(s.call("tools/list")["tools"], [], "[A4] tools/list is empty without a skill for a model")
    same(text_of(s.tool("skill_search", {"query": "x"})), "No skills matched 'x'.", "skill_search answers a call although tools/list is empty")
    w.skill("first")
    told(s, "tools")
    same([t["name"] for t in s.call("tools/list")["tools"]], ["skill_search", "skill_load", "skill_resource"],
         "[X11] tools/list has three tools after the first skill appeared")
    s.close()
    shutil.rmtree(SKILLS + "private")
    s = opened("--workspace-root", SKILLS + "first", "--global-root", SKILLS + "first")
    same(s.call("tools/list")["tools"], [], "[A4] tools/list is empty without any skill")
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
        same(edited(s, "skill://first/SKILL.md"), [], "[L17, X11] an edited body changes no list")
        w.metaskill("flow", program, f"Input keys:\n\n- `word`: what to say.\n\nAnd more, {asked}.\n")
        same(edited(s, "skill://flow/SKILL.md"), [], "an edited body of a metaskill changes no list")
        w.write(SKILLS + "first/notes.md", f"{asked}\n")
        same(edited(s, "skill://first/notes.md"), [], "an edited file beside a body changes no list")
        same(len(s.call("resources/list")["resources"]), 2, "resources/list is the same after the edits")
        w.skill("first", description=f"Another description, {asked}.")
        same(told(s, "resources"), ["resources"], "an edited description changes the list of resources")
        if asked:
            w.metaskill("flow", program, "Input keys:\n\n- `other`: what to say.\n")
            same(told(s, "prompts"), ["prompts"], "edited input keys change the list of prompts")
            same([a["name"] for p in s.call("prompts/list")["prompts"] for a in p["arguments"]], ["other"], "the arguments of the prompt are the edited input keys")
        w.metaskill("extra", program)
        same(told(s, "tools", "prompts"), ["prompts", "resources", "tools"], "a new metaskill changes the lists of prompts, resources and tools")
        w.metaskill("extra", "def run(input)\n    return 1\n")
        same(told(s, "tools", "prompts"), ["prompts", "tools"], "[X28] a program that does not compile changes the lists of prompts and tools")
        w.write("mapm.yaml", "runtime: {metaskills: off}\n")
        same(told(s, "tools", "prompts"), ["prompts", "tools"], "[X27] metaskills: off changes the lists of prompts and tools")
        os.unlink("mapm.yaml")
        same(told(s, "tools", "prompts"), ["prompts", "tools"], "[X27] the end of metaskills: off changes the lists of prompts and tools")
        w.mapm("trust", "--revoke", "--workspace")
        same(told(s, "tools", "prompts"), ["prompts", "tools"], "[X27] revoked trust changes the lists of prompts and tools")
        s.call("ping")
        same(set(s.errors.decode().splitlines()), {"warning: metaskill 'extra' is not offered: its program does not compile (mapm check)"},
             "the server warns about the program that does not compile and nothing else")
        w.write("mapm.yaml", "nonsense: true\n")
        w.skill("extra", "Of a broken workspace.\n", "Still seen.")
        same(told(s, "resources"), ["resources"], "a new skill is reported although mapm.yaml cannot be read")
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
    same(sorted(names), [f"skill://heavy-{i}/SKILL.md" for i in range(4)], "the pages of skills/list have every skill once")
    s.close()
    for i in range(4):
        shutil.rmtree(f"{SKILLS}heavy-{i}")


def odd_prompt(w):
    """A person can ask for what is there, whatever its files are called."""
    w.metaskill("oddly", 'def run(input):\n    return "x"\n')
    w.write(SKILLS + "oddly/10:30\n.md", "x")
    s = opened()
    p = [p for p in s.call("prompts/list")["prompts"] if p["name"] == "oddly"]
    same([a["name"] for a in p[0]["arguments"]], ["word"], "the arguments of a prompt are the input keys despite odd file names")
    text = s.call("prompts/get", {"name": "oddly", "arguments": {"word": "x"}})["messages"][0]["content"]["text"]
    ok("[Skill: oddly activated]" in text, "[K41] and it is activated", text)
    s.close()
    shutil.rmtree(SKILLS + "oddly")


def marks(w):
    for options, said in (([], True), (["--profile", "metis", "--workspace-root", SKILLS], False)):
        s = Server(*options)
        text = s.open()["instructions"]
        same(("- flow: For a test. (metaskill: starlark)" in text, "Metaskills are marked" in text), (said, said),
             f"[X28] the instructions mention marks exactly where they are used {options}")
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
        same(s.errors.decode().count("which is invisible"), 1, "[F3] the server warns once about hidden characters that it serves")
    w.metaskill("sly", "def run(input):\n    return 1\n", "a \u202e b\n")
    s = opened()
    for _ in range(3):
        s.call("prompts/list")
        s.tool("skill_load", {"name": "sly"})
    s.close()
    same(s.errors.decode().count("which is invisible"), 1, "[F3] many requests for hidden characters yield one warning")
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

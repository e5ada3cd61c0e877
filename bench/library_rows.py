"""What the library of skills, its search and its MCP server cost, and how well it finds."""
import json
import os
import statistics
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from kit import (at_most, BUILD, Failed, MAPM, ms, note, ratio, ROOT, show, write_skills)


def row_library(bench):
    """mapm skill over 10,000 skills: the first search, later ones, one that changed"""
    ws, store = bench.fresh("ws"), bench.fresh("store")
    write_skills(os.path.join(ws, ".agents/skills"), 10000)
    os.chmod(store, 0o700)
    env = bench.env(store=store)
    search = ["skill", "search", "number 77"]
    time.sleep(2.5)  # a file that changed within the last second is read again the next time
    first, peak = bench.mapm(search, ws, env)
    at_most("the first search over 10,000 skills", first, 2.0)
    peaks = [peak]
    seconds, peak = bench.mapm(search, ws, env, times=3)
    peaks.append(peak)
    for name, args in (("match", ["skill", "match", "deploy the budget"]), ("index", ["skill", "index"]),
                       ("load one", ["skill", "load", "skill-00077"])):
        seconds, peak = bench.mapm(args, ws, env, times=3)
        peaks.append(peak)
        note(f"{name}: {ms(seconds)}, {peak / 1024:.1f} MB")
    with open(os.path.join(ws, ".agents/skills/skill-00077/SKILL.md"), "a") as f:
        f.write("more\n")
    seconds, peak = bench.mapm(search, ws, env)
    note(f"a search when one has changed: {ms(seconds)}")
    show("memory", f"{max(peaks + [peak]) / 1024:.1f} MB", "< 30 MB", max(peaks + [peak]) < 30 * 1024)


HELLO = {"jsonrpc": "2.0", "id": 0, "method": "initialize",
         "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}}
DISCOVER = {"jsonrpc": "2.0", "id": 0, "method": "server/discover",
            "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                                 "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
                                 "io.modelcontextprotocol/clientCapabilities": {}}}}


READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
TOOLS = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}


class Client:
    """`mapm mcp` over pipes; many calls are written by a thread of their own while their answers are counted."""

    def __init__(self, cwd, env):
        self.p = subprocess.Popen([MAPM, "mcp"], cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, bufsize=0)

    def tell(self, message):
        self.p.stdin.write(json.dumps(message).encode() + b"\n")

    def first(self, message):
        """Seconds from a request to its answer."""
        line = json.dumps(message).encode() + b"\n"
        start = time.perf_counter()
        self.p.stdin.write(line)
        said = b""
        while not said.endswith(b"\n"):
            said += os.read(self.p.stdout.fileno(), 1 << 16)
        seconds = time.perf_counter() - start
        if b'"result"' not in said:
            raise Failed(said[:300].decode())
        return seconds

    def many(self, lines, count):
        def write():
            for at in range(0, len(lines), 1 << 16):
                self.p.stdin.write(lines[at:at + (1 << 16)])
        start = time.perf_counter()
        with ThreadPoolExecutor(1) as pool:
            written = pool.submit(write)
            while count > 0:
                block = os.read(self.p.stdout.fileno(), 1 << 20)
                if not block:
                    raise Failed("the server ended")
                count -= block.count(b"\n")
            written.result()
        return time.perf_counter() - start

    def memory(self):
        with open(f"/proc/{self.p.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS:"))

    def close(self):
        """Seconds of processors that all of it took."""
        self.p.stdin.close()
        _, status, usage = os.wait4(self.p.pid, 0)
        self.p.returncode = os.waitstatus_to_exitcode(status)
        self.p.stdout.close()
        return usage.ru_utime + usage.ru_stime


REAL = os.path.join(ROOT, "tests/cases/search")


def cells(name):
    with open(os.path.join(REAL, name)) as f:
        return [line.rstrip("\n").split("\t") for line in f if line.strip() and line[0] != "#"]


def write_real(top, count):
    """So many skills with the descriptions of real ones, in turn."""
    real = cells("skills.tsv")
    for i in range(count):
        name, tags, description = real[i % len(real)]
        name = name[:58].rstrip("-") + (f"-{i // len(real)}" if i >= len(real) else "")
        folder = os.path.join(top, name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "SKILL.md"), "w") as f:
            f.write(f"---\nname: {name}\ndescription: {json.dumps(description[:1000])}\n---\n\nBody.\n")


def searches(count):
    """Lines of as many calls of skill_search, with the requests of the evaluation in turn."""
    calls = [json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                         "params": {"name": "skill_search", "arguments": {"query": row[3], "limit": 10}}})
             for row in cells("requests.tsv")]
    return "".join(calls[i % len(calls)].replace('"id": 1,', f'"id": {i + 1},', 1) + "\n"
                   for i in range(count)).encode()


def row_search(bench):
    """the search: how many requests it serves; 10,000 real descriptions, on the command line and over stdio"""
    test = os.path.join(BUILD, "unit/search_test")
    p = subprocess.run([test], cwd=ROOT, env={**os.environ, "REPORT": "1"}, capture_output=True, text=True)
    for line in p.stdout.splitlines():
        if line.startswith("# "):
            note(line[2:])
    show("floors of the search", "held" if p.returncode == 0 else "missed", "held", p.returncode == 0)
    ws, store = bench.fresh("ws"), bench.fresh("store")
    write_real(os.path.join(ws, ".agents/skills"), 10000)
    os.chmod(store, 0o700)
    env = bench.env(store=store)
    time.sleep(2.5)
    search = ["skill", "search", "extract the tables of a pdf file"]
    bench.mapm(search, ws, env)
    seconds, git = bench.cpu_beside_git(search, ws, env)
    ratio("a later search over 10,000, of processors", seconds, 12, "git --version", git)
    client = Client(ws, env)
    client.first(HELLO)
    note(f"the first over stdio: {ms(client.many(searches(1), 1))}")
    client.many(searches(1000), 1000)
    rate = statistics.median(1000 / client.many(searches(1000), 1000) for _ in range(3))
    show("skill_search over stdio, 10,000 skills", f"{rate:.0f}/s", ">= 300/s", rate >= 300)
    client.many(searches(4000), 4000)
    before = client.memory()
    client.many(searches(10000), 10000)
    after = client.memory()
    show("memory after 10,000 more", f"{after / 1024:.1f} MB", "as before, +- 1 MB", after - before <= 1024,
         f"before {before / 1024:.1f} MB")
    client.close()


def row_mcp(bench):
    """mapm mcp: the first answer, calls of skill_search with 1,000 skills"""
    ws, store = bench.fresh("ws"), bench.fresh("store")
    write_skills(os.path.join(ws, ".agents/skills"), 1000)
    os.chmod(store, 0o700)
    env = bench.env(store=store)
    time.sleep(2.5)
    for name, message in (("initialize", HELLO), ("server/discover", DISCOVER)):
        for few in (False, True):
            where = bench.fresh("few") if few else ws
            if few:
                write_skills(os.path.join(where, ".agents/skills"), 10)
                time.sleep(2.5)
            took = []
            for _ in range(15):
                client = Client(where, env)
                time.sleep(0.02)  # it is there, and waits
                took.append(client.first(message))
                client.close()
            what = f"{name}, {10 if few else 1000} skills"
            at_most(what, statistics.median(took), 0.005, "the program has been started")
    mapm, asks, git = [], [], []
    for _ in range(60):
        for took, more in ((mapm, []), (asks, [READY, TOOLS])):
            client = Client(ws, env)
            client.first(HELLO)
            for message in more:
                client.first(message) if "id" in message else client.tell(message)
            time.sleep(0.1)
            took.append(client.close())
        git += [r[3] / 1e6 for r in bench.rows(["git", "--version"], bench.top, bench.env())]
    ratio("initialize, 1,000 skills, of processors", statistics.median(mapm), 4, "git --version",
          statistics.median(git))
    note(f"with tools/list, which looks at each skill: {ms(statistics.median(asks))}, "
         f"{statistics.median(asks) / statistics.median(git):.2f}x")
    client = Client(ws, env)
    client.first(HELLO)
    client.many(searches(2000), 2000)
    rates = [2000 / client.many(searches(2000), 2000) for _ in range(5)]
    rate = statistics.median(rates)
    show("skill_search, 1,000 skills", f"{rate:.0f}/s", ">= 3000/s", rate >= 3000)
    before = client.memory()
    client.many(searches(50000), 50000)
    after = client.memory()
    show("memory after 50,000 more", f"{after / 1024:.1f} MB", "as before, +- 1 MB", after - before <= 1024,
         f"before {before / 1024:.1f} MB")
    client.close()


def write_index(path, count):
    """An index of .well-known/agent-skills with so many skills, described as real ones are."""
    real = cells("skills.tsv")
    skills = []
    for i in range(count):
        name, _, description = real[i % len(real)]
        name = name[:58].rstrip("-") + (f"-{i // len(real)}" if i >= len(real) else "")
        skills.append({"name": name, "type": "skill-md", "description": description[:1000],
                       "url": f"/{name}/SKILL.md", "digest": "sha256:" + "0" * 64, "tokens": 100 + i})
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        json.dump({"$schema": "https://schemas.agentskills.io/discovery/0.2.0/schema.json", "skills": skills}, f)


def row_find(bench):
    """mapm search over catalogs of 15,000 entries, from an index served on loopback"""
    ws, store, served = bench.fresh("ws"), bench.fresh("store"), bench.fresh("served")
    write_index(os.path.join(served, ".well-known/agent-skills/index.json"), 15000)
    os.chmod(store, 0o700)
    env = bench.env(store=store)
    server = subprocess.Popen([sys.executable, os.path.join(ROOT, "tests/lib/index_server.py"), served, os.devnull],
                              stdout=subprocess.PIPE, text=True)
    try:
        host = f"http://127.0.0.1:{server.stdout.readline().strip()}"
        began = time.monotonic()
        bench.mapm(["catalog", "add", host], ws, env)
        note(f"added in {ms(time.monotonic() - began)}")
        search = ["search", "extract the tables of a pdf file"]
        bench.mapm(search, ws, env)
        seconds, git = bench.cpu_beside_git(search, ws, env)
        ratio("a search over 15,000 entries, of processors", seconds, 8, "git --version", git)
    finally:
        server.kill()
        server.wait()


ROWS = {"find": row_find, "library": row_library, "search": row_search, "mcp": row_mcp}

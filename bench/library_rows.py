"""What the library of skills and its MCP server cost."""
import json
import os
import statistics
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from kit import (at_most, Failed, MAPM, ms, note, ratio, show, WORDS, write_skills)


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
    seconds, git, peak = bench.beside_git(search, ws, env, times=3)
    ratio("a later one", seconds, 15, "git --version", git)
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


class Client:
    """`mapm mcp` over pipes; many calls are written by a thread of their own while their answers are counted."""

    def __init__(self, cwd, env):
        self.p = subprocess.Popen([MAPM, "mcp"], cwd=cwd, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, bufsize=0)

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
        self.p.stdin.close()
        self.p.wait()
        self.p.stdout.close()


def searches(count):
    """Lines of as many calls of skill_search, with ten queries in turn."""
    calls = [json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                         "params": {"name": "skill_search", "arguments": {"query": f"{w} {v}", "limit": 10}}})
             for w, v in zip(WORDS[:10], WORDS[10:20])]
    return "".join(calls[i % 10].replace('"id": 1,', f'"id": {i + 1},', 1) + "\n" for i in range(count)).encode()


def row_mcp(bench):
    """mapm mcp: the first answer, calls of skill_search with 1,000 skills, a million of them"""
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
    client = Client(ws, env)
    client.first(HELLO)
    client.many(searches(10000), 10000)
    rates = [10000 / client.many(searches(10000), 10000) for _ in range(5)]
    rate = statistics.median(rates)
    show("skill_search, 1,000 skills", f"{rate:.0f}/s", ">= 20000/s", rate >= 20000)
    before = client.memory()
    lines = searches(100000)
    for _ in range(10):
        client.many(lines, 100000)
    after = client.memory()
    show("memory after a million more", f"{after / 1024:.1f} MB", "as before, +- 1 MB", after - before <= 1024,
         f"before {before / 1024:.1f} MB")
    client.close()


ROWS = {"library": row_library, "mcp": row_mcp}

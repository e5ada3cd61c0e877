"""What grows with packages: processors, memory, files, system calls."""
import os
import shutil
import statistics
import subprocess

from kit import (count, generate, GITHUB, Host, HUNDRED, in_memory, MAPM, ms, note, ratio, ROOT, show,
                 everything, write_roots)


def times(what, seconds, factor, name, base):
    """`seconds` of processors may be at most `factor` times `base`."""
    show(what, ms(seconds), f"<= {factor:g}x {name}", seconds <= factor * base,
         f"{name} {ms(base)}: {seconds / base:.1f}x")


def megabytes(what, kib, bar):
    show(what, f"{kib / 1024:.1f} MB", f"<= {bar} MB", kib <= bar * 1024)


def flat_catalog(bench, skills):
    """One repository of this many skills, which nothing connects."""
    return generate(bench, f"flat-{skills}", "--repos", "1", "--skills", str(skills), "--mcps", "0", "--agents", "0",
                    "--depth", "1", "--files", "1", "--pin", "main")


class Many:
    """All skills of a catalog as roots of a workspace, store and workspace in memory."""

    def __init__(self, bench, skills):
        self.bench, self.skills = bench, skills
        self.ws, self.store = in_memory(bench, "ws"), in_memory(bench, "store")
        repos, self.index = flat_catalog(bench, skills)
        with Host(bench, repos) as host:
            self.env = bench.env(host, self.store)
            self.repo = next(iter(self.index["nodes"].values()))["repo"]
            row = bench.rows([MAPM, "install", "--yes", "-q", "--all", f"{GITHUB}/{self.repo}/tree/main"], self.ws,
                             self.env)[0]
            self.seconds, self.peak, self.cpu = row[0] / 1e6, row[1], row[3] / 1e6
            self.ok = (0, 3)
            self.outdated = bench.rows([MAPM, "outdated"], self.ws, self.env, ok=self.ok)[0][3] / 1e6

    def run(self, *args, n=3):
        return min(r[3] for r in self.bench.rows([MAPM, *args], self.ws, self.env, n, self.ok)) / 1e6

    def name(self):
        return sorted(n["name"] for n in self.index["nodes"].values())[self.skills // 2]

    def close(self):
        shutil.rmtree(self.ws)
        shutil.rmtree(self.store)


def row_roots(bench):
    """400 and 1,600 roots of one repository: install --all, store and workspace in memory"""
    few, many = Many(bench, 400), Many(bench, 1600)
    megabytes("1,600 roots: peak memory", many.peak, 32)
    times("  processors", many.cpu, 4.5, "400 roots", few.cpu)
    show("  time", ms(many.seconds), "<= 1000.0 ms", many.seconds <= 1)
    few.close()
    many.close()


def remove_half(many):
    names = sorted(n["name"] for n in many.index["nodes"].values())[::2]
    many.ok = (0,)
    return many.run("remove", "--yes", "-q", *names, n=1)


def row_ten(bench):
    """each command on 300 and on 3,000 packages: at most 12 times the processors"""
    few, many = Many(bench, 300), Many(bench, 3000)
    times("install --all, 3,000", many.cpu, 12, "300", few.cpu)
    times("outdated", many.outdated, 12, "300", few.outdated)
    for args in (["install"], ["install", "--locked"], ["list"], ["tree"], ["verify"], ["diff"], ["budget"], ["doctor"],
                 ["client", "list"], ["skill", "list"], ["skill", "search", "review"], ["search", "review"],
                 ["store", "stats"], ["store", "verify"], ["bundle", "../bundle.tar"], ["vendor", "vendored"],
                 ["store", "push", "--to", "../pushed"], ["store", "gc"]):
        times(" ".join(args), many.run(*args, n=2), 12, "300", few.run(*args, n=2))
    for args in (["check", ".agents/skills"], ["catalog", "index", ".agents"]):
        times(" ".join(args), many.run(*args, n=1), 12, "300", few.run(*args, n=1))
    times("why", many.run("why", many.name()), 12, "300", few.run("why", few.name()))
    times("remove of every second one", remove_half(many), 12, "300", remove_half(few))
    few.close()
    many.close()


def row_thousands(bench):
    """10,000 packages cold, in memory, over HTTP/2"""
    repos, index = generate(bench, "graph-10000", "--repos", "10", "--skills", "9500", "--mcps", "491", "--agents", "10",
                            "--depth", "8", "--files", "2", "--pin", "main")
    ws, store = in_memory(bench, "ws"), in_memory(bench, "store")
    with Host(bench, repos, "--h2") as host:
        write_roots(ws, index)
        row = bench.rows([MAPM, "install", "--yes", "-q"], ws, bench.env(host, store))[0]
        requests = host.stats()["requests"]
    with open(os.path.join(ws, "mapm.lock")) as f:
        locked = f.read().count("- type: ")
    show(f"{locked} packages, cold, in memory", ms(row[3] / 1e6), "<= 4 s of processors", row[3] <= 4e6,
         f"{ms(row[0] / 1e6)} of time")
    megabytes("  peak memory", row[1], 64)
    count("  requests", requests, 60)
    note(f"{sum(len(f) + len(d) for _, d, f in os.walk(store))} entries in the store, "
         f"{sum(len(f) + len(d) for _, d, f in os.walk(ws))} in the workspace")
    shutil.rmtree(ws)
    shutil.rmtree(store)


def plan_times(bench, what, args, ws, env):
    seconds, peak = bench.cpu(["install", "-q", "--dry-run", *args], ws, env, times=2)
    show(what, ms(seconds), "<= 5 s of processors", seconds <= 5)
    megabytes("  peak memory", peak, 400)


def row_plan(bench):
    """100,000 packages: the plan, locked and from a warm index, into a workspace that has nothing yet"""
    repos, index = generate(bench, "graph-100000", "--repos", "20", "--skills", "95000", "--mcps", "4910", "--agents",
                            "90", "--depth", "8", "--files", "1", "--body", "200", "--file-bytes", "200", "--pin", "main")
    ws, store = in_memory(bench, "ws"), in_memory(bench, "store")
    with Host(bench, repos, "--h2") as host:
        write_roots(ws, index)
        env = bench.env(host, store)
        bench.mapm(["install", "--yes", "-q"], ws, env)
        with open(os.path.join(ws, "mapm.lock")) as f:
            lock = f.read()
        shutil.rmtree(ws)
        os.mkdir(ws)
        write_roots(ws, index)
        locked = lock.count("- type: ")
        plan_times(bench, f"{locked} packages: plan from a warm index", ["--offline"], ws, env)
        with open(os.path.join(ws, "mapm.lock"), "w") as f:
            f.write(lock)
        plan_times(bench, f"{locked} packages: plan from the lock", ["--locked"], ws, env)
    shutil.rmtree(ws)
    shutil.rmtree(store)


def system_calls(bench, args, ws, env):
    out = os.path.join(bench.top, "strace")
    subprocess.run(["strace", "-f", "-qq", "-c", "-o", out, MAPM, *args], cwd=ws, env=env, check=True,
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(out) as f:
        rows = [line.split() for line in f if line[:1] in " 0123456789"]
    calls = {r[-1]: int(r[3]) for r in rows if len(r) >= 5 and r[3].isdigit()}
    total = calls.pop("total")
    return total, sorted(calls.items(), key=lambda c: -c[1])[:8]


def row_calls(bench):
    """system calls of a cold install of 100 packages"""
    if not shutil.which("strace"):
        note("strace is not there: skipped")
        return
    repos, index = generate(bench, *HUNDRED)
    root, reached = everything(index)
    ws = bench.fresh("ws")
    with Host(bench, repos) as host:
        total, most = system_calls(bench, ["install", "--yes", root], ws, bench.env(host, bench.fresh("store")))
    show(f"{len(reached)} packages, cold: system calls", f"{total / len(reached):.0f} each", "<= 90 each",
         total <= 90 * len(reached), f"{total} in all")
    note(", ".join(f"{n} {name}" for name, n in most))


def row_installed(bench):
    """what make install puts there, and how a no-op compares with git --version"""
    root = bench.fresh("install")
    subprocess.run(["make", "-s", "-C", ROOT, "install", f"DESTDIR={root}", "PREFIX=/usr"], check=True,
                   stdout=subprocess.DEVNULL)
    size = sum(os.lstat(os.path.join(d, f)).st_size for d, _, files in os.walk(root) for f in files
               if f in ("mapm", "mapm-fetch", "mapm-cage", "mapm-engine"))
    show("the programs, installed", f"{size / 1e6:.1f} MB", "<= 3.4 MB", size <= 3_400_000)
    repos, index = generate(bench, *HUNDRED)
    with Host(bench, repos) as host:
        ws, env = bench.fresh("ws"), bench.env(host, bench.fresh("store"))
        bench.mapm(["install", "--yes", everything(index)[0]], ws, env)
    mapm, git = [], []
    for _ in range(40):
        mapm += bench.rows([MAPM, "install"], ws, env)
        git += bench.rows(["git", "--version"], bench.top, bench.env())
    ratio("a no-op of 100 packages, processors", statistics.median(r[3] for r in mapm) / 1e6, 3, "git --version",
          statistics.median(r[3] for r in git) / 1e6)


def row_check(bench):
    """mapm check of 17,000 skills, against find and cat of the same tree"""
    top = bench.fresh("check")
    repos, _ = flat_catalog(bench, 1700)
    one = next(os.path.join(d, f) for d, _, files in os.walk(repos) for f in files if f == "HEAD")
    git_dir = os.path.dirname(one)
    for i in range(10):
        subprocess.run(["sh", "-c", f'mkdir "$2/{i}" && git -C "$1" archive main | tar -xC "$2/{i}"', "sh", git_dir,
                        top], check=True)
    skills = sum("SKILL.md" in files for _, _, files in os.walk(top))
    mapm, cat = [], []
    for _ in range(5):
        mapm.append(bench.run([MAPM, "check", "-q", top], bench.top, bench.env(), ok=(0, 3))[0])
        cat.append(bench.run(["sh", "-c", 'find "$1" -type f -exec cat {} + >/dev/null', "sh", top], bench.top,
                             bench.env())[0])
    ratio(f"check of {skills} skills", statistics.median(mapm), 1.2, "find and cat", statistics.median(cat))


ROWS = {"roots": row_roots, "ten": row_ten, "thousands": row_thousands, "plan": row_plan, "calls": row_calls,
        "installed": row_installed, "check": row_check}

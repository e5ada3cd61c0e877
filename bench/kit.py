"""What the rows share: showing a figure, running a program, a served catalog."""
import atexit
import json
import os
import random
import shutil
import statistics
import subprocess
import tempfile
import time
import urllib.request

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GITHOST = os.path.join(ROOT, "tests/githost/githost")
CATALOG_GEN = os.path.join(ROOT, "tests/githost/catalog-gen")
BUILD = os.path.join(ROOT, "build")
COPIES = os.path.join(tempfile.gettempdir(), f"mapm-bench-programs-{os.getpid()}")  # put_programs
MAPM = os.path.abspath(os.environ.get("MAPM", os.path.join(COPIES, "mapm")))
GITHUB = "https://github.com"
WORDS = ("agent skill tool prompt draft review patch test build deploy check trace retry "
         "budget answer policy sandbox heading report table query index fetch store").split()
misses = []


def put_programs():
    """The programs that are measured: stripped, then copied, as `make install` does it. What the linker or strip has just
    written lies in the page cache in small pieces, and each command takes 0.05 to 0.2 ms longer."""
    if "MAPM" in os.environ:
        return
    os.mkdir(COPIES, 0o700)
    atexit.register(shutil.rmtree, COPIES, ignore_errors=True)
    stripped = os.path.join(COPIES, "stripped")
    for name in ("mapm", "mapm-fetch", "mapm-cage"):
        subprocess.run([os.environ.get("STRIP", "strip"), "-R", ".eh_frame", "-o", stripped, os.path.join(BUILD, name)],
                       check=True)
        shutil.copy(stripped, os.path.join(COPIES, name))
    os.unlink(stripped)
    os.symlink("mapm", os.path.join(COPIES, "mapm-engine"))


# ------------------------------------------------------------------- showing

def show(what, value, bar, ok, other=""):
    verdict = "ok" if ok else "MISS"
    if not ok:
        misses.append(what)
    print(f"{what:<46} {value:>12}  {bar:<22} {other:<34} {verdict}", flush=True)


def note(text):
    print(f"    {text}", flush=True)


def ms(seconds):
    return f"{seconds * 1000:.1f} ms"


def at_most(what, seconds, bar, other=""):
    show(what, ms(seconds), f"<= {ms(bar)}", seconds <= bar, other)


def ratio(what, seconds, factor, name, base):
    """`seconds` has to stay under `factor` times what `name` took."""
    show(what, ms(seconds), f"< {factor:g}x {name}", seconds < factor * base,
         f"{name} {ms(base)}: {seconds / base:.2f}x")


def count(what, got, bar):
    show(what, str(got), f"<= {bar}", got <= bar)


# ------------------------------------------------------------------- running

class Failed(Exception):
    pass


class Bench:
    """A folder of its own, and the programs run in it."""

    def __init__(self, top):
        self.top = top
        self.memory = None  # in_memory makes it
        self.n = 0
        self.timed = os.path.join(top, "timed")
        cc = os.environ.get("CC", "cc")
        subprocess.run([cc, "-O2", "-D_GNU_SOURCE", "-o", self.timed,
                        os.path.join(ROOT, "bench/timed.c")], check=True)

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)
        if self.memory:
            shutil.rmtree(self.memory, ignore_errors=True)

    def fresh(self, name):
        self.n += 1
        path = os.path.join(self.top, f"{name}-{self.n}")
        os.makedirs(path)
        return path

    def env(self, host=None, store=None):
        env = {k: v for k, v in os.environ.items()
               if not k.lower().endswith("_proxy") and not k.startswith(("GIT_", "XDG_", "MAPM_"))
               and k not in ("CI", "GITHUB_TOKEN", "GH_TOKEN")}
        env.update(HOME=host.home if host else self.top, GIT_TERMINAL_PROMPT="0",
                   GIT_CONFIG_NOSYSTEM="1", MAPM_HOME=store or os.path.join(self.top, "none"))
        return env

    def run(self, argv, cwd, env, times=1, ok=(0,)):
        """(median seconds, peak KiB) of `times` runs."""
        rows = self.rows(argv, cwd, env, times, ok)
        return statistics.median(r[0] for r in rows) / 1e6, max(r[1] for r in rows)

    def rows(self, argv, cwd, env, times=1, ok=(0,)):
        """What timed writes of each run."""
        out = os.path.join(self.top, f"timed.{time.monotonic_ns()}")
        p = subprocess.run([self.timed, str(times), out, *argv], cwd=cwd, env=env,
                           stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        with open(out) as f:
            rows = [[int(x) for x in line.split()] for line in f]
        os.unlink(out)
        if any(r[2] not in ok for r in rows) or len(rows) != times:
            raise Failed(f"{' '.join(argv[:6])} …: exit {[r[2] for r in rows]}\n{p.stderr[-1500:]}")
        return rows

    def cpu(self, args, cwd, env, times=3):
        """(seconds of processors, peak KiB) of mapm: the least of some runs, which others disturbed least."""
        rows = self.rows([MAPM, *args], cwd, env, times)
        return min(r[3] for r in rows) / 1e6, max(r[1] for r in rows)

    def mapm(self, args, cwd, env, **kw):
        return self.run([MAPM, *args], cwd, env, **kw)

    def beside_git(self, args, cwd, env, rounds=9, times=5):
        """Median seconds of mapm and of `git --version`, taken in turns, and mapm's peak KiB: a busy machine slows both."""
        mapm, git, peaks = [], [], []
        for _ in range(rounds):
            seconds, peak = self.mapm(args, cwd, env, times=times)
            mapm.append(seconds)
            peaks.append(peak)
            git.append(self.run(["git", "--version"], self.top, self.env(), times=times)[0])
        return statistics.median(mapm), statistics.median(git), max(peaks)

    def cpu_beside_git(self, args, cwd, env, rounds=15, times=10):
        """The same, of processors: what is short waits for others more than it works."""
        mapm, git = [], []
        for _ in range(rounds):
            mapm += [r[3] / 1e6 for r in self.rows([MAPM, *args], cwd, env, times)]
            git += [r[3] / 1e6 for r in self.rows(["git", "--version"], self.top, self.env(), times)]
        return statistics.median(mapm), statistics.median(git)


class Host:
    """A running githost; its home has the git configuration that leads there."""

    def __init__(self, bench, root, *options):
        self.p = subprocess.Popen([GITHOST, "--root", root, *options], stdout=subprocess.PIPE, text=True)
        self.info = info = json.loads(self.p.stdout.readline())
        self.control = info["control"]
        self.home = bench.fresh("home")
        with open(os.path.join(self.home, ".gitconfig"), "w") as f:
            f.write(f'[url "{info["url"]}/"]\n\tinsteadOf = {GITHUB}/\n')
            if info.get("ca"):  # over TLS, as HTTP/2 is
                f.write(f'[http]\n\tsslCAInfo = {info["ca"]}\n')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.terminate()
        self.p.wait()
        self.p.stdout.close()

    def ask(self, path, method="GET"):
        with urllib.request.urlopen(urllib.request.Request(self.control + path, method=method)) as f:
            return f.read().decode()

    def reset(self):
        self.ask("/log", "DELETE")

    def busy(self):
        """Seconds in which it answered since the last reset."""
        return sum(r["ms"] for r in map(json.loads, self.ask("/log").splitlines()) if r["ev"] == "req") / 1000

    def rounds(self, rtt_ms):
        """The longest chain of requests each of which was sent after the answer of the one before it, on a host
        that plays this round-trip time."""
        rows = [r for r in map(json.loads, self.ask("/log").splitlines()) if r["ev"] == "req"]
        ends = []  # (end of a request, length of the chain that it ends)
        for r in sorted(rows, key=lambda r: r["t"] - r["ms"] / 1000):
            start = r["t"] - r["ms"] / 1000
            ends.append((r["t"], 1 + max((n for end, n in ends if start - end > rtt_ms / 2000), default=0)))
        return max((n for _, n in ends), default=0)

    def stats(self):
        time.sleep(0.05)  # the connection rows come when the connections end
        return json.loads(self.ask("/stats"))


def generate(bench, name, *args):
    out = os.path.join(bench.top, name)
    if not os.path.isdir(out):
        subprocess.run([CATALOG_GEN, "--out", out, *args], check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(out, "index.json")) as f:
        return out, json.load(f)


def everything(index):
    """The agent that reaches every skill, and what it reaches."""
    root = next(u for u, n in index["nodes"].items()
                if n["type"] == "agent" and n["name"].endswith("everything"))
    reached, todo = {root}, [root]
    while todo:
        for dep in index["nodes"][todo.pop()]["deps"]:
            if dep not in reached:
                reached.add(dep)
                todo.append(dep)
    return root, reached


def in_memory(bench, name):
    """A fresh folder on a file system in memory, where there is one."""
    if os.access("/dev/shm", os.W_OK):
        if not bench.memory:
            bench.memory = tempfile.mkdtemp(prefix="mapm-bench-", dir="/dev/shm")
        return tempfile.mkdtemp(prefix=name + "-", dir=bench.memory)
    return bench.fresh(name)


def cold(bench, host, origins, runs=5, extra=(), ok=(0,)):
    """Median seconds of installs into a fresh workspace with a fresh store, what the last one moved, and where."""
    took = []
    for _ in range(runs):
        ws, store = bench.fresh("ws"), bench.fresh("store")
        host.reset()
        took.append(bench.mapm(["install", "--yes", *extra, *origins], ws, bench.env(host, store), ok=ok)[0])
        stats = host.stats()
    return statistics.median(took), stats, ws, store


def listing(*folders):
    """Every entry with what changes when it is written: for "no file written". Not the inode's time: of root's log
    sqlite sets the owner again, to the same."""
    rows = []
    for top in folders:
        for folder, _, files in os.walk(top):
            for path in [folder] + [os.path.join(folder, name) for name in files]:
                s = os.lstat(path)
                rows.append((path, s.st_ino, s.st_mode, s.st_size, s.st_mtime_ns))
    return sorted(rows)


def follow(ws, bench, name="ws"):
    """A colleague's workspace: only what is committed."""
    new = bench.fresh(name)
    for f in ("mapm.yaml", "mapm.lock"):
        shutil.copy(os.path.join(ws, f), new)
    return new


def written_by_install(ws):
    """The real folders (no links) that an install filled."""
    return os.path.join(ws, ".agents")


def sync_is_slow(bench):
    folder = bench.fresh("sync")
    for i in range(100):
        with open(os.path.join(folder, str(i)), "w") as f:
            f.write("x" * 4000)
    start = time.perf_counter()
    subprocess.run(["sync", "-f", folder], check=True)
    return time.perf_counter() - start > 0.05


HUNDRED = ("hundred", "--repos", "1", "--skills", "91", "--mcps", "8", "--agents", "1", "--depth", "5", "--pin", "main")
FOUR = ("four", "--repos", "4", "--skills", "20", "--mcps", "0", "--agents", "0", "--depth", "1", "--pin", "main")


def by_repository(index):
    groups = {}
    for url, node in index["nodes"].items():
        if node["type"] == "skill":
            groups.setdefault(node["repo"], []).append(url)
    return groups


def write_roots(ws, index):
    """A mapm.yaml with the roots that reach everything: what no other package needs."""
    nodes = index["nodes"]
    # The agent that names every skill is larger than an AGENTS.md may be.
    left_out = {u for u, n in nodes.items() if n["type"] == "agent" and n["name"].endswith("everything")}
    needed = {dep for u, n in nodes.items() if u not in left_out for dep in n["deps"]}
    with open(os.path.join(ws, "mapm.yaml"), "w") as f:
        f.write("dependencies:\n")
        for kind in ("agent", "skill", "mcp"):
            roots = [u for u, n in nodes.items() if n["type"] == kind and u not in needed and u not in left_out]
            if roots:
                f.write(f"  {kind}s:\n" + "".join(f"    - {u}\n" for u in roots))


def contents(ws):
    """path -> bytes of everything that an install has to leave the same everywhere."""
    found = {}
    for name in ("mapm.yaml", "mapm.lock"):
        with open(os.path.join(ws, name), "rb") as f:
            found[name] = f.read()
    for folder, _, files in os.walk(written_by_install(ws)):
        if ".mapm" in folder.split(os.sep):
            continue
        for name in files:
            path = os.path.join(folder, name)
            with open(path, "rb") as f:
                found[os.path.relpath(path, ws)] = f.read()
    return found


# ------------------------------------------------------------- skills on disk

def write_skill(folder, program, name=None):
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/SKILL.md", "w") as f:
        f.write(f"---\nname: {name or os.path.basename(folder)}\ndescription: A program of the bench.\n"
                "version: 1.0.0\nmetaskill: SKILL.star\n---\n\n# It runs\n")
    with open(f"{folder}/SKILL.star", "w") as f:
        f.write(program)


TRIVIAL = 'def run(input):\n    return "done"\n'


def run_args(skill, value="{}", *options):
    return ["run", skill, "--input", value, *options]


def heavy_libraries(args, ws, env):
    loaded = subprocess.run([MAPM, *args], cwd=ws, env=dict(env, LD_DEBUG="files"), capture_output=True, text=True,
                            errors="replace").stderr
    return [lib for lib in ("libcurl", "libgit2") if lib in loaded]


def fill(folder, files, per_folder=100):
    for i in range(files):
        if i % per_folder == 0:
            os.makedirs(f"{folder}/{i // per_folder}")
        with open(f"{folder}/{i // per_folder}/{i}.txt", "w") as f:
            f.write(f"{i}\n")


def write_skills(top, count):
    """A library of `count` skills, as a root of many real ones looks."""
    draw = random.Random(7)
    for i in range(count):
        folder = os.path.join(top, f"skill-{i:05d}")
        os.makedirs(folder)
        words = " ".join(draw.choice(WORDS) for _ in range(24))
        with open(os.path.join(folder, "SKILL.md"), "w") as f:
            f.write(f"---\nname: skill-{i:05d}\ndescription: Number {i}. {words}.\nlicense: MIT\n"
                    f"metadata:\n  author: bench\n---\n\n# Skill {i}\n\n" + (words + "\n") * 20)

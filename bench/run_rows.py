"""What a metaskill costs: start, bounds, commands."""
import json
import os
import signal
import statistics
import subprocess
import time

from kit import (at_most, Failed, fill, GITHUB, heavy_libraries, Host, MAPM, ms, note, ratio, ROOT, run_args,
                 show, TRIVIAL, write_skill)


def row_run(bench):
    """a trivial metaskill, by its path and installed and trusted, with 1,000 runs remembered"""
    root, ws, store = bench.fresh("root"), bench.fresh("ws"), bench.fresh("store")
    write_skill(f"{root}/src/skills/trusted", TRIVIAL)
    write_skill(f"{ws}/skills/local", TRIVIAL)
    os.makedirs(f"{root}/repos/acme")
    subprocess.run([ROOT + "/tests/githost/commit-folder", f"{root}/repos/acme/tools.git", f"{root}/src"], check=True,
                   stdout=subprocess.DEVNULL)
    with Host(bench, f"{root}/repos") as host:
        env = bench.env(host, store)
        bench.mapm(["install", "--yes", f"{GITHUB}/acme/tools/tree/main/skills/trusted"], ws, env)
    bench.mapm(["trust", "--yes", "trusted"], ws, env)
    bench.mapm(run_args("./skills/local"), ws, env, times=1000)
    for what, skill in (("by its path", "./skills/local"), ("installed and trusted", "trusted")):
        args = run_args(skill)
        mapm, git = [], []
        for _ in range(200):
            mapm += bench.rows([MAPM, *args], ws, env)
            git += bench.rows(["git", "--version"], bench.top, bench.env())
        seconds, base, used, used_base = (statistics.median(r[i] for r in rows) / 1e6
                                          for i in (0, 3) for rows in (mapm, git))
        ratio(f"mapm run, trivial, {what}", seconds, 2, "git --version", base)
        note(f"of processors, of which it uses two: {ms(used)}, git {ms(used_base)}: {used / used_base:.2f}x")
        peak = max(r[1] for r in mapm)
        show("  peak memory", f"{peak / 1024:.1f} MB", "< 8 MB", peak < 8 * 1024)
        heavy = heavy_libraries(args, ws, env)
        show("  libcurl or libgit2 mapped", ", ".join(heavy) or "neither", "neither", not heavy)


MANY_TRACES = """
def run(input):
    for i in range(input["n"]):
        trace("step", {"i": i})
"""

LONG_OUTPUT = """
def run(input):
    r = command(input["argv"])
    if not r["truncated"]:
        fail(r["result"])
"""

MANY_COMMANDS = """
def run(input):
    for i in range(input["n"]):
        r = command(["true"])
        if not r["ok"]:
            fail(r["result"])
"""

# What ends by itself only after minutes, or never; most of it within one built-in.
ENDLESS = {
    "a loop": "for i in range(1 << 60): pass",
    "min(range(…))": "min(range(1 << 60))",
    "sorted(…)": "sorted(list(range(2000000)), key = lambda x: min(range(x, x + 1000)))",
    "replace": "for i in range(1 << 60): ('a' * 10000000).replace('a', 'b')",
    "find": "for i in range(1 << 60): ('a' * 20000000).find('a' * 1000000 + 'b')",
    "an int's decimals": "for i in range(1 << 60): str((1 << 511) * (1 << 511) * (1 << 511) * i)",
    "a million digits": "x = 3\n    for i in range(19): x = x * x\n    for i in range(1 << 60): str(x)",
}


def row_bounds(bench):
    """what a metaskill may write, print and compute: a million traces, 100 MB of output, endless loops"""
    ws, store = bench.fresh("ws"), bench.fresh("store")
    env = bench.env(store=store)
    write_skill(f"{ws}/traces", MANY_TRACES)
    write_skill(f"{ws}/output", LONG_OUTPUT)
    _, few = bench.mapm(run_args("./traces", '{"n": 100}'), ws, env, times=5)
    seconds, many = bench.mapm(run_args("./traces", '{"n": 1000000}'), ws, env, times=5)
    at_most("1,000,000 calls of trace", seconds, 1)
    show("  peak memory", f"{many / 1024:.1f} MB", "+ 1 MB at most", many <= few + 1024, f"100 calls {few / 1024:.1f} MB")

    argv = ["head", "-c", "100000000", "/dev/zero"]
    value = json.dumps({"argv": argv})
    small = json.dumps({"argv": ["head", "-c", "100000", "/dev/zero"]})
    _, few = bench.mapm(run_args("./output", small, "--allow", "*"), ws, env, times=3)
    took, pipe = [], []
    for _ in range(7):
        seconds, many = bench.mapm(run_args("./output", value, "--allow", "*"), ws, env)
        took.append(seconds)
        pipe.append(bench.run(["sh", "-c", " ".join(argv) + " | cat >/dev/null"], bench.top, env)[0])
    ratio("a command that prints 100 MB", statistics.median(took), 4, "through a pipe to cat", statistics.median(pipe))
    show("  peak memory", f"{many / 1024:.1f} MB", "+ 1 MB at most", many <= few + 1024, f"100 KB {few / 1024:.1f} MB")

    for name, line in ENDLESS.items():
        write_skill(f"{ws}/endless", f"def run(input):\n    {line}\n")
        late = max(bench.mapm(run_args("./endless", "{}", "--timeout", "1"), ws, env, ok=(1,))[0] - 1 for _ in range(3))
        at_most(f"{name}: past the limit of 1 s", late, 0.050)
        at_most("  after Ctrl-C", max(interrupted(ws, env) for _ in range(3)), 0.050)


def interrupted(ws, env):
    """Seconds from a SIGINT to the group, as a terminal sends it, to the end."""
    p = subprocess.Popen([MAPM, *run_args("./endless", "{}", "--timeout", "60")], cwd=ws, env=env,
                         stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    time.sleep(0.4)
    start = time.perf_counter()
    os.killpg(p.pid, signal.SIGINT)
    text = p.communicate()[0]
    if p.returncode != 130:
        raise Failed(f"exit {p.returncode}: {text[:300]}")
    return time.perf_counter() - start


def row_command(bench):
    """what a command costs in its sandbox, also beside many files"""
    ws, large, store = bench.fresh("ws"), bench.fresh("large"), bench.fresh("store")
    env = bench.env(store=store)
    for folder in (ws, large):
        write_skill(f"{folder}/skills/commands", MANY_COMMANDS)
        subprocess.run(["git", "init", "-q", folder], check=True, env=env)
    fill(f"{large}/.git/objects/many", 10000)
    fill(f"{large}/node_modules", 50000, 50)

    def cost(folder):
        one, ten = (bench.mapm(run_args("./skills/commands", json.dumps({"n": n}), "--allow", "*"), folder, env)[0]
                    for n in (1, 10))
        return (ten - one) / 9

    rounds = [(cost(ws), cost(large)) for _ in range(9)]
    seconds, beside = (statistics.median(r[i] for r in rounds) for i in (0, 1))
    at_most("a command: true", seconds, 0.060)
    at_most("  beside 60,000 files in 1,100 folders", beside, 0.060, f"{beside / seconds:.1f}x as much")


def row_folder(bench):
    """a metaskill whose folder has 5,000 files, each of which is hashed before it runs"""
    ws, store = bench.fresh("ws"), bench.fresh("store")
    env = bench.env(store=store)
    write_skill(f"{ws}/large", TRIVIAL)
    fill(f"{ws}/large/references", 4990)
    mapm, sums = [], []
    for _ in range(9):
        seconds, peak = bench.mapm(run_args("./large"), ws, env)
        mapm.append(seconds)
        sums.append(bench.run(["sh", "-c", "find large -type f -print0 | xargs -0 sha256sum"], ws, env)[0])
    ratio("mapm run with 5,000 files", statistics.median(mapm), 1, "sha256sum of them", statistics.median(sums))
    show("  peak memory", f"{peak / 1024:.1f} MB", "< 16 MB", peak < 16 * 1024)


def row_server(bench):
    """mapm start: what it adds to the start of an MCP server, also beside 400 packages of the lock"""
    src, store = bench.fresh("src"), bench.fresh("store")
    env = bench.env(store=store)
    for i in range(400):
        os.makedirs(f"{src}/skill-{i}")
        with open(f"{src}/skill-{i}/SKILL.md", "w") as f:
            f.write(f"---\nname: skill-{i}\ndescription: Number {i}.\nversion: 1.0.0\n---\n\n# {i}\n")
    with open(f"{src}/io.acme_tool.json", "w") as f:
        json.dump({"_meta": {"name": "io.acme/tool"}, "type": "stdio", "command": "true", "args": ["${workspaceDir}"]},
                  f, indent=2)
        f.write("\n")
    for skills in (0, 400):
        ws = bench.fresh("ws")
        with open(f"{ws}/mapm.yaml", "w") as f:
            f.write("servers: start\n")
        bench.mapm(["install", "--yes", f"file:{src}/io.acme_tool.json",
                    *[f"file:{src}/skill-{i}" for i in range(skills)]], ws, env)
        mapm, own = [], []
        for _ in range(100):
            mapm += bench.rows([MAPM, "start", "io-acme-tool"], ws, env)
            own += bench.rows(["true", ws], ws, env)
        seconds, base = (statistics.median(r[0] for r in rows) / 1e6 for rows in (mapm, own))
        at_most(f"mapm start, over the server's own, {skills + 1} in lock", seconds - base, 0.005,
                f"with it {ms(seconds)}, alone {ms(base)}")
        peak = max(r[1] for r in mapm)
        show("  peak memory", f"{peak / 1024:.1f} MB", "< 8 MB", peak < 8 * 1024)


ROWS = {"run": row_run, "server": row_server, "bounds": row_bounds, "command": row_command, "folder": row_folder}

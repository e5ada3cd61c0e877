"""What installs cost, against git and cp."""
import json
import os
import pathlib
import random
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor

from kit import (at_most, by_repository, cold, contents, count, everything, Failed, follow, FOUR, generate,
                 GITHUB, heavy_libraries, Host, HUNDRED, listing, MAPM, ms, note, ratio, ROOT, show, sync_is_slow,
                 WORDS, write_roots)


def row_start(bench):
    """starting: --version and list in a workspace, against git --version"""
    ws, store, src = bench.fresh("ws"), bench.fresh("store"), bench.fresh("src")
    for i in range(20):
        os.makedirs(f"{src}/skill-{i}")
        with open(f"{src}/skill-{i}/SKILL.md", "w") as f:
            f.write(f"---\nname: skill-{i}\ndescription: Number {i}.\nversion: 1.0.0\n---\n\n# {i}\n")
    env = bench.env(store=store)
    bench.mapm(["install", "--yes", *[f"file:{src}/skill-{i}" for i in range(20)]], ws, env)
    for args in (["--version"], ["list"]):
        name = "mapm " + args[0]
        seconds, git, peak = bench.beside_git(args, ws, env)
        ratio(name, seconds, 2, "git --version", git)
        show(name + ", peak memory", f"{peak / 1024:.1f} MB", "< 8 MB", peak < 8 * 1024)
        heavy = heavy_libraries(args, ws, env)
        show(name + ", libcurl or libgit2 mapped", ", ".join(heavy) or "neither", "neither", not heavy)


def big_repository(bench):
    """10 MB that do not compress around one skill of 67 KB of text."""
    rng = random.Random(7)
    root = bench.fresh("big")
    src = os.path.join(root, "src")
    text = f"{src}/skills/wanted"
    os.makedirs(text + "/references")
    with open(text + "/SKILL.md", "w") as f:
        f.write("---\nname: wanted\ndescription: The one skill that is wanted.\nversion: 1.0.0\n---\n\n# Wanted\n")
        f.write(" ".join(rng.choice(WORDS) for _ in range(1000)) + "\n")
    for i in range(10):
        with open(f"{text}/references/{i}.md", "w") as f:
            f.write(" ".join(rng.choice(WORDS) for _ in range(1000)) + "\n")
    for i in range(40):
        folder = f"{src}/skills/other-{i}"
        os.makedirs(folder + "/assets")
        with open(folder + "/SKILL.md", "w") as f:
            f.write(f"---\nname: other-{i}\ndescription: Another one.\nversion: 1.0.0\n---\n\n# Other\n")
        for j in range(8):
            with open(f"{folder}/assets/{j}.bin", "wb") as f:
                f.write(rng.randbytes(32768))
    os.makedirs(root + "/repos/acme")
    subprocess.run([ROOT + "/tests/githost/commit-folder", root + "/repos/acme/big.git", src],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["git", "-C", root + "/repos/acme/big.git", "gc", "-q"], check=True)
    return root + "/repos"


def row_skill(bench):
    """one 67 KB skill out of a 10 MB repository, cold"""
    with Host(bench, big_repository(bench)) as host:
        seconds, stats, _, _ = cold(bench, host, [f"{GITHUB}/acme/big/tree/main/skills/wanted"], runs=7)
        clones = [bench.run(["git", "clone", "-q", "--depth", "1", f"{GITHUB}/acme/big", bench.fresh("clone")],
                            bench.top, bench.env(host))[0] for _ in range(7)]
    count("one skill of a 10 MB repository: requests", stats["requests"], 3)
    got = stats["wire_out"]
    show("  received", f"{got / 1000:.1f} KB", "<= 40 KB", got <= 40_000)
    ratio("  time", seconds, 1, "git clone --depth 1", statistics.median(clones))


def packed_size(repos, index, reached):
    """Bytes of a pack of just the trees and blobs that these packages are made of."""
    total = 0
    for repo in {index["nodes"][u]["repo"] for u in reached}:
        git = ["git", "-C", f"{repos}/{repo}.git"]
        wanted = set()
        for node in (index["nodes"][u] for u in reached if index["nodes"][u]["repo"] == repo):
            wanted.add(node["commit"] + "^{tree}")
            wanted.add(node["commit"] + ":" + os.path.dirname(node["path"]))
            if node["type"] == "mcp":
                wanted.add(node["oid"])
            else:
                wanted.add(node["oid"] + "/")
        ids = set()
        for w in wanted:
            if w.endswith("/"):
                rows = subprocess.run(git + ["ls-tree", "-r", "-t", w[:-1]], check=True, capture_output=True, text=True)
                ids.update(line.split()[2] for line in rows.stdout.splitlines() if line.split()[1] != "commit")
                ids.add(w[:-1])
            else:
                ids.add(subprocess.run(git + ["rev-parse", w], check=True, capture_output=True, text=True).stdout.strip())
        pack = subprocess.run(git + ["pack-objects", "-q", "--stdout"], check=True, capture_output=True,
                              input="\n".join(sorted(ids)).encode() + b"\n")
        total += len(pack.stdout)
    return total


def row_hundred(bench):
    """100 packages of one repository, cold, on loopback and at 40 ms"""
    repos, index = generate(bench, *HUNDRED)
    root, reached = everything(index)
    bar = 0.5 if sync_is_slow(bench) else 0.3
    with Host(bench, repos) as host:
        seconds, stats, _, _ = cold(bench, host, [root])
    needed = packed_size(repos, index, reached)
    count(f"{len(reached)} packages of one repository: requests", stats["requests"], 8)
    got = stats["body_out"]
    show("  received", f"{got / 1000:.1f} KB", f"<= 1.5x {needed / 1000:.1f} KB", got <= 1.5 * needed,
         f"{got / needed:.2f}x what is needed, packed")
    at_most("  time on loopback", seconds, bar)
    with Host(bench, repos, "--rtt-ms", "40") as host:
        far = cold(bench, host, [root])[0]
    at_most("  time at 40 ms", far, bar + 8 * 0.040)


def row_parallel(bench):
    """20 skills of 4 repositories at 40 ms, against the slowest one alone; then locked"""
    repos, index = generate(bench, *FOUR)
    groups = by_repository(index)
    with Host(bench, repos, "--rtt-ms", "40") as host:
        alone = max(cold(bench, host, urls)[0] for urls in groups.values())
        together, _, ws, _ = cold(bench, host, [u for urls in groups.values() for u in urls])
        ratio(f"{sum(map(len, groups.values()))} skills of {len(groups)} repositories at 40 ms", together, 1.3,
              "the slowest alone", alone)

        took = []
        for _ in range(5):
            new = follow(ws, bench)
            host.reset()
            took.append(bench.mapm(["install", "--locked", "--yes"], new, bench.env(host, bench.fresh("store")))[0])
            stats = host.stats()
        count("locked, cold store: requests", stats["requests"], 2 * len(groups))  # objects and proof
        ratio("  time, all at once", statistics.median(took), 1, "the install above", together)


def row_warm(bench):
    """locked with a warm store, against cp -r and sync -f; and once more with nothing to do"""
    repos, index = generate(bench, *HUNDRED)
    root, _ = everything(index)
    with Host(bench, repos) as host:
        _, _, ws, store = cold(bench, host, [root], runs=1)
        env = bench.env(host, store)
        host.reset()
        mapm, copy = [], []
        for _ in range(15):
            new = follow(ws, bench)
            mapm.append(bench.mapm(["install", "--locked", "--yes"], new, env)[0])
            target = bench.fresh("copy")
            script = 'cp -r "$1" "$2" && sync -f "$2"'
            copy.append(bench.run(["sh", "-c", script, "sh", new, target], bench.top, env)[0])
        count("locked, warm store: requests", host.stats()["requests"], 0)
        ratio("  time", statistics.median(mapm), 0.9, "cp -r, sync -f", statistics.median(copy))

        host.reset()
        before = listing(ws, store)
        seconds, git = bench.cpu_beside_git(["install"], ws, env)
        changed = len(set(before) ^ set(listing(ws, store)))
        count("nothing changed: requests", host.stats()["requests"], 0)
        count("  entries written", changed, 0)
        ratio("  time of processors", seconds, 3, "git --version", git)


def row_diff(bench):
    """diff of 17 skills, nothing edited and each of them, against sha256sum of their files"""
    rng = random.Random(17)
    ws, store, src = bench.fresh("ws"), bench.fresh("store"), bench.fresh("src")
    for i in range(17):
        os.makedirs(f"{src}/skill-{i}/references")
        with open(f"{src}/skill-{i}/SKILL.md", "w") as f:
            f.write(f"---\nname: skill-{i}\ndescription: Number {i}.\nversion: 1.0.0\n---\n\n# {i}\n")
        for j in range(12):
            with open(f"{src}/skill-{i}/references/{j}.md", "w") as f:
                f.writelines(" ".join(rng.choice(WORDS) for _ in range(10)) + "\n" for _ in range(100))
    env = bench.env(store=store)
    bench.mapm(["install", "--yes", *[f"file:{src}/skill-{i}" for i in range(17)]], ws, env)
    files = [str(p) for p in sorted(pathlib.Path(ws, ".agents/skills").rglob("*.md"))]
    for what, edited in (("diff of 17 skills", []), ("  each of them edited", files[::13])):
        for path in edited:
            with open(path, "a") as f:
                f.write("An edit.\n")
        mapm, hashes = [], []
        for _ in range(15):
            mapm.append(bench.mapm(["diff"], ws, env)[0])
            hashes.append(bench.run(["sha256sum", *files], ws, env)[0])
        ratio(what, statistics.median(mapm), 3, f"sha256sum of {len(files)} files", statistics.median(hashes))


def plan(bench, packages):
    """Seconds and KiB of a plan from a lock and a warm store."""
    skills = packages * 95 // 100
    repos, index = generate(bench, f"graph-{packages}", "--repos", "10", "--skills", str(skills), "--mcps",
                            str(packages - skills - 9), "--agents", "10", "--depth", "8", "--files", "2", "--pin", "main")
    with Host(bench, repos) as host:
        ws, store = bench.fresh("ws"), bench.fresh("store")
        env = bench.env(host, store)
        write_roots(ws, index)
        seconds, peak = bench.mapm(["install", "--yes", "-q"], ws, env)
        stats = host.stats()
        with open(os.path.join(ws, "mapm.lock")) as f:
            locked = f.read().count("- type: ")
        note(f"{locked} packages, cold: {ms(seconds)}, {peak / 1024:.0f} MB, {stats['requests']} requests, "
             f"{stats['body_out'] / 1e6:.1f} MB received")
        host.reset()
        new = follow(ws, bench)
        result = bench.mapm(["install", "--locked", "--dry-run", "-q"], new, env, times=5)
        os.unlink(os.path.join(new, "mapm.lock"))
        unlocked = bench.mapm(["install", "--offline", "--dry-run", "-q"], new, env, times=3)
        note(f"without a lock, offline: {ms(unlocked[0])}, {unlocked[1] / 1024:.0f} MB")
        count(f"plan of {locked} packages, warm store: requests", host.stats()["requests"], 0)
    return result


def row_graph(bench):
    """the plan of 10,000 packages, and that 10 times the packages costs at most 12 times the time"""
    small, _ = plan(bench, 1000)
    large, peak = plan(bench, 10000)
    at_most("  time", large, 0.5)
    show("  peak memory", f"{peak / 1024:.0f} MB", "< 200 MB", peak < 200 * 1024)
    ratio("  10 times the packages", large, 12, "1,000 packages", small)


def row_together(bench):
    """8 installs at once with one store, in different workspaces and in the same one"""
    repos, index = generate(bench, *FOUR)
    urls = [u for group in by_repository(index).values() for u in group]
    with Host(bench, repos) as host:
        _, _, good, _ = cold(bench, host, urls, runs=1)
        want = contents(good)
        for what, places in (("different workspaces", [bench.fresh("ws") for _ in range(8)]),
                             ("the same workspace", [bench.fresh("ws")] * 8)):
            env = bench.env(host, bench.fresh("store"))
            with ThreadPoolExecutor(8) as pool:
                jobs = [pool.submit(bench.mapm, ["install", "--yes", *urls], ws, env) for ws in places]
                failed = [str(j.exception()) for j in jobs if j.exception()]
            for text in failed[:2]:
                note(text)
            for ws in set(places):
                bench.mapm(["verify"], ws, env)
            equal = all(contents(ws) == want for ws in set(places))
            show(f"8 installs at once, {what}", f"{8 - len(failed)} of 8", "8, nothing lost", not failed and equal)


def real_repos():
    """(owner/name, folder) of the clones in MAPM_REAL_REPOS: <owner>/<name>.git or <owner>+<name>/repo"""
    root = os.environ.get("MAPM_REAL_REPOS")
    if not root:
        note("MAPM_REAL_REPOS is not set: skipped")
        return []
    found = [(f"{f.parts[-2]}/{f.name[:-4]}", f) for f in pathlib.Path(root).glob("*/*.git")]
    found += [(f.parts[-2].replace("+", "/", 1), f) for f in pathlib.Path(root).glob("*+*/repo")]
    return sorted((name, str(f)) for name, f in found if (f / "HEAD").is_file())


def row_real(bench):
    """real public catalogs, from the bare clones in MAPM_REAL_REPOS"""
    repos = real_repos()
    if not repos:
        return
    moved = [x for pair in os.environ.get("MAPM_REAL_MOVED", "").split() for x in ("--moved", pair)]
    with Host(bench, os.path.abspath(os.environ["MAPM_REAL_REPOS"]), *moved) as host:
        for name, folder in repos:
            url = f"{GITHUB}/{name}"
            head = subprocess.run(["git", "-C", folder, "symbolic-ref", "--short", "HEAD"],
                                  capture_output=True, text=True).stdout.strip()
            what = f"{name}, all it offers"
            try:
                # 3: packages that cannot be installed are left out, with the reason [F4]
                seconds, stats, ws, _ = cold(bench, host, [f"{url}/tree/{head}"], 3, ["--all"], (0, 3))
            except Failed as e:
                show(what, "refused", "installs", False)
                note(next((line for line in str(e).splitlines() if line.startswith("  because:")), str(e))[:300])
                continue
            try:
                clones = [bench.run(["git", "clone", "-q", "--depth", "1", url, bench.fresh("clone")], bench.top,
                                    bench.env(host))[0] for _ in range(3)]
            except Failed:  # a snapshot may lack large files that no package has
                clones = []
            with open(os.path.join(ws, "mapm.lock")) as f:
                packages = f.read().count("- type: ")
            show(what, f"{packages} packages", "installs", True,
                 f"{stats['requests']} requests, {stats['body_out'] / 1e6:.2f} MB")
            whole = ms(statistics.median(clones)) if clones else "not possible"
            note(f"{ms(seconds)}; the whole repository by git clone --depth 1: {whole}")


def row_catalogs(bench):
    """--all of the catalogs in MAPM_REAL_REPOS: none fails, 98 % of the skills that check accepts are installed"""
    repos = real_repos()
    if not repos:
        return
    out = os.path.join(bench.top, "catalogs.json")
    subprocess.run([os.path.join(ROOT, "bench/catalogs"), "--json", out, *(folder for _, folder in repos)],
                   stdout=subprocess.DEVNULL, env=dict(os.environ, MAPM=MAPM))
    with open(out) as f:
        rows = json.load(f)
    failed = [r["catalog"] for r in rows if "error" in r or r["locked"]]
    accepted = sum(r["accepted"] - r.get("outside", 0) for r in rows)
    there = sum(r.get("installed", 0) + r.get("inside", 0) for r in rows)
    count(f"--all of {len(rows)} catalogs: failed as a whole", len(failed), 0)
    show("  skills that check accepts and are there", f"{there / max(accepted, 1):.1%}", ">= 98 %",
         there >= 0.98 * accepted, f"{there} of {accepted}")
    for r in rows:
        if r.get("missing"):
            note(f"{r['catalog']}: {len(r['missing'])} of {r['accepted']} are not installed")


def row_plugins(bench):
    """every plugin of the marketplaces in MAPM_REAL_REPOS: whole, or what is missing is named"""
    repos = real_repos()
    if not repos:
        return
    out = os.path.join(bench.top, "plugins.json")
    subprocess.run([os.path.join(ROOT, "bench/plugins"), "--json", out, *(folder for _, folder in repos)],
                   stdout=subprocess.DEVNULL, env=dict(os.environ, MAPM=MAPM))
    with open(out) as f:
        rows = json.load(f)
    total = {k: sum(r.get(k, 0) for r in rows) for k in ("entries", "installed", "silent", "extra", "altered")}
    count(f"{total['entries']} plugins of {len(rows)} marketplaces: parts that are missing without a word",
          total["silent"], 0)
    count("  parts that were not declared", total["extra"], 0)
    count("  parts with other bytes", total["altered"], 0)
    note(f"{total['installed']} installed; the others say why not, or what they have")
    for r in rows:
        for line in r["notes"][:3]:
            note(f"{r['catalog']}: {line}")


ROWS = {"start": row_start, "skill": row_skill, "hundred": row_hundred, "parallel": row_parallel,
        "warm": row_warm, "diff": row_diff, "graph": row_graph, "together": row_together, "real": row_real,
        "catalogs": row_catalogs, "plugins": row_plugins}

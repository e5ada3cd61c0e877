"""What goes over the wire: the proof of a lock, trees, updates, many processes at once."""
import json
import os
import statistics
import subprocess
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

from kit import (cold, count, everything, follow, generate, GITHUB, Host, HUNDRED, MAPM, ms, note, ratio, ROOT, show)

RTT = 40


def kb(n):
    return f"{n / 1000:.1f} KB"


def skill_text(name, salt=""):
    return f"---\nname: {name}\ndescription: Skill {name} of the bench.\nversion: 1.0.0\n---\n\n# {name}\n{salt}\n"


def write_skill_md(top, name, salt=""):
    os.makedirs(os.path.join(top, name), exist_ok=True)
    with open(os.path.join(top, name, "SKILL.md"), "w") as f:
        f.write(skill_text(name, salt))


def commit(repo, folder):
    os.makedirs(os.path.dirname(repo), exist_ok=True)
    out = subprocess.run([ROOT + "/tests/githost/commit-folder", repo, folder], check=True, stdout=subprocess.PIPE,
                         text=True)
    return out.stdout.strip()


def repack(repo):
    subprocess.run(["git", "-C", repo, "gc", "-q"], check=True)


def many_commits(bench, commits, skills=400):
    """A repository of `skills` skills with as many commits, each of which changes its share of them."""
    root = bench.fresh("commits")
    repo, src = f"{root}/repos/acme/many.git", f"{root}/src"
    for i in range(skills):
        write_skill_md(f"{src}/skills", f"skill-{i:03d}")
    origins, share = [], skills // commits
    for c in range(commits):
        for i in range(c * share, (c + 1) * share):
            write_skill_md(f"{src}/skills", f"skill-{i:03d}", f"of commit {c}")
        sha = commit(repo, src)
        origins += [f"{GITHUB}/acme/many/tree/{sha}/skills/skill-{i:03d}" for i in range(c * share, (c + 1) * share)]
    repack(repo)
    return f"{root}/repos", origins


def row_proof(bench):
    """a lock of 400 entries of one repository, at 1 and at 50 commits, installed from nothing"""
    for commits in (1, 50):
        repos, origins = many_commits(bench, commits)
        with Host(bench, repos, "--rtt-ms", str(RTT)) as host:
            _, _, ws, _ = cold(bench, host, origins, runs=1)
            new = follow(ws, bench)
            store = bench.fresh("store")
            host.reset()
            bench.mapm(["install", "--locked", "--yes"], new, bench.env(host, store))
            stats = host.stats()
            # The trees of 50 commits have more than 64 KB here: one round more for each of the two levels.
            levels = 0 if commits == 1 else 2
            count(f"400 locked, {commits} commits: requests", stats["requests"], 2 + levels)
            count("  round trips", host.rounds(RTT), 1 + levels)
            note(f"{kb(stats['body_out'])} received, {kb(stats['body_in'])} sent")
            host.reset()
            again = follow(ws, bench)
            bench.mapm(["install", "--locked", "--yes"], again, bench.env(host, store))
            bench.mapm(["install"], again, bench.env(host, store))
            count("  warm and proved: requests", host.stats()["requests"], 0)


def received(bench, args, ws, env):
    """What mapm reports of an install: bytes that it took, and requests."""
    p = subprocess.run([MAPM, *args, "--json"], cwd=ws, env=env, check=True, stdout=subprocess.PIPE,
                       stdin=subprocess.DEVNULL)
    return json.loads(p.stdout)


def fast_import(repo, files, number):
    """The next commit of a bare repository, which has these (path, text) as well: no file of a work tree is written."""
    lines = [f"commit refs/heads/main\ncommitter a <a@example.org> {1767225600 + 60 * number} +0000\ndata 0\n"]
    if number:
        lines.append("from refs/heads/main^0\n")
    else:
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", repo], check=True)
    lines += [f"M 100644 inline {path}\ndata {len(text)}\n{text}\n" for path, text in files]
    subprocess.run(["git", "-C", repo, "fast-import", "--quiet"], input="".join(lines), text=True, check=True)


def large_repository(bench, files, per_folder=40):
    """One skill of 1 KB beside this many other files."""
    repos = bench.fresh("large")
    os.makedirs(f"{repos}/acme")
    many = [(f"src/{i // per_folder // 50:03d}/{i // per_folder % 50:02d}/file-{i % per_folder:02d}.c", f"{i}\n")
            for i in range(files)]
    fast_import(f"{repos}/acme/large.git", many + [("skills/wanted/SKILL.md", skill_text("wanted", "x" * 900))], 0)
    return repos


def row_trees(bench):
    """one skill of 1 KB in repositories of 17,467 and 100,000 files, and an update of it five commits later"""
    for files in (17467, 100000):
        repos = large_repository(bench, files)
        with Host(bench, repos) as host:
            # As mapm counts them: what a host on loopback has sent ahead when a transfer is aborted depends on
            # the buffers of this machine.
            ws, store = bench.fresh("ws"), bench.fresh("store")
            stats = received(bench, ["install", "--yes", f"{GITHUB}/acme/large/tree/main/skills/wanted"], ws,
                             bench.env(host, store))
            got = stats["bytes"]
            show(f"a skill of 1 KB of {files} files", kb(got), "<= 64 KB + its path", got <= 84_000,
                 f"{stats['requests']} requests")
        for i in range(5):
            fast_import(f"{repos}/acme/large.git", [(f"src/000/0{i}/file-00.c", "more\n"),
                                                    ("skills/wanted/SKILL.md", skill_text("wanted", str(i)))], i + 1)
        with Host(bench, repos) as host:
            stats = received(bench, ["update"], ws, bench.env(host, store))
            show("  its update five commits later", kb(stats["bytes"]), "<= 64 KB + its path",
                 stats["bytes"] <= 84_000, f"{stats['requests']} requests")


def row_update(bench):
    """an update five commits later of a catalog whose trees are in the store"""
    repos, origins = many_commits(bench, 1, skills=1200)
    repo = f"{repos}/acme/many.git"
    src = bench.fresh("src")
    with Host(bench, repos) as host:
        url = f"{GITHUB}/acme/many/tree/main/skills/skill-000"
        _, stats, ws, store = cold(bench, host, [url], runs=1)
        first = stats["body_out"]
        subprocess.run(["git", "--git-dir", repo, "--work-tree", src, "checkout", "-q", "-f", "main", "--", "."], check=True)
        for i in range(5):
            write_skill_md(f"{src}/skills", "skill-000", f"change {i}")
            commit(repo, src)
        host.reset()
        bench.mapm(["update"], ws, bench.env(host, store))
        stats = host.stats()
        show("an update five commits later: received", kb(stats["body_out"]), "<= 5 KB", stats["body_out"] <= 5000,
             f"the first install {kb(first)}")
        count("  requests", stats["requests"], 3)


def row_dag(bench):
    """round trips of a graph of 100 packages in one repository"""
    repos, index = generate(bench, *HUNDRED)
    root, reached = everything(index)
    with Host(bench, repos, "--rtt-ms", str(RTT)) as host:
        _, stats, _, _ = cold(bench, host, [root], runs=1)
        count(f"a graph of {len(reached)} packages: requests", stats["requests"], 4)
        count("  round trips", host.rounds(RTT), 4)


def crowd(bench, host, what, args):
    host.reset()
    env = bench.env(host, bench.fresh("store"))
    with ThreadPoolExecutor(32) as pool:
        jobs = [pool.submit(bench.mapm, ["install", "--yes", *args], bench.fresh("ws"), env) for _ in range(32)]
        failed = [str(j.exception()) for j in jobs if j.exception()]
    for text in failed[:2]:
        note(text)
    show(what, f"{32 - len(failed)} of 32", "32", not failed)
    count("  requests", host.stats()["requests"], 8)


def row_crowd(bench):
    """32 cold installs of the same packages at once, with one store: one origin, and all of a catalog"""
    repos, index = generate(bench, *HUNDRED)
    root, _ = everything(index)
    with Host(bench, repos, "--rtt-ms", str(RTT)) as host:
        crowd(bench, host, "32 cold installs at once", [root])
        crowd(bench, host, "32 of all of a catalog", ["--all", f"{GITHUB}/{index['nodes'][root]['repo']}"])


def row_partial(bench):
    """a cold install of one skill, against git's partial clone of just its folder"""
    root = bench.fresh("partial")
    for i in range(60):
        write_skill_md(f"{root}/src/skills", f"skill-{i:02d}", "text " * 400)
    for name in ("README.md", "LICENSE"):  # as in any catalog: git fetches the files of the root, too
        with open(f"{root}/src/{name}", "w") as f:
            f.write("text\n" * 200)
    commit(f"{root}/repos/acme/some.git", f"{root}/src")
    repack(f"{root}/repos/acme/some.git")
    url = f"{GITHUB}/acme/some"
    script = ('git clone -q --depth 1 --filter=blob:none --sparse "$1" "$2" && '
              'git -C "$2" sparse-checkout set skills/skill-07')
    mapm, git, hosts = [], [], ([], [])
    with Host(bench, f"{root}/repos") as host:
        for _ in range(15):
            mapm.append(cold(bench, host, [f"{url}/tree/main/skills/skill-07"], runs=1)[0])
            hosts[0].append(host.busy())
            host.reset()
            git.append(bench.run(["sh", "-c", script, "sh", url, bench.fresh("clone") + "/c"], bench.top,
                                 bench.env(host))[0])
            hosts[1].append(host.busy())
    ratio("a cold install of one skill", statistics.median(mapm), 0.25, "git's partial clone", statistics.median(git))
    note(f"of which the host answers for {ms(statistics.median(hosts[0]))}, and for {ms(statistics.median(hosts[1]))}")


HOSTS = {"github.com": "/tree/main/", "gitlab.com": "/-/tree/main/", "codeberg.org": "/src/branch/main/",
         "bitbucket.org": "/src/main/"}


def one_home(bench, hosts):
    """All of them under the names of the hosts that they stand in for."""
    home = bench.fresh("home")
    with open(f"{home}/.gitconfig", "w") as f, open(f"{home}/ca", "w") as bundle:
        for name, host in hosts.items():
            f.write(f'[url "{host.info["url"]}/"]\n\tinsteadOf = https://{name}/\n')
            with open(host.info["ca"]) as ca:
                bundle.write(ca.read())
        f.write(f"[http]\n\tsslCAInfo = {home}/ca\n")
    for host in hosts.values():
        host.home = home


def row_hosts(bench):
    """20 folders in 4 repositories, each on a host of its own; one has no partial clones"""
    root, origins = bench.fresh("hosts"), []
    for name, form in HOSTS.items():
        for i in range(5):
            skill = f"{name.replace('.', '-')}-{i}"
            write_skill_md(f"{root}/src/{name}/skills", skill, "text " * 400)
            origins.append(f"https://{name}/acme/some{form}skills/{skill}")
        for i in range(60):
            write_skill_md(f"{root}/src/{name}/skills", f"other-{i:02d}", os.urandom(2000).hex())
        commit(f"{root}/{name}/acme/some.git", f"{root}/src/{name}")
    with ExitStack() as stack:
        hosts = {name: stack.enter_context(Host(bench, f"{root}/{name}", "--h2", "--rtt-ms", str(RTT),
                                                *(["--no-filter"] if name == "bitbucket.org" else [])))
                 for name in HOSTS}
        one_home(bench, hosts)
        took, _, ws, _ = cold(bench, hosts["github.com"], origins, runs=1)
        stats = {name: host.stats() for name, host in hosts.items()}
        count("20 folders of 4 hosts: requests", sum(s["requests"] for s in stats.values()), 12)
        count("    rounds after connecting", max(host.rounds(RTT) for host in hosts.values()), 3)
        note(f"{ms(took)} at {RTT} ms; " + ", ".join(f"{name} {kb(s['body_out'])}" for name, s in stats.items()))
        for host in hosts.values():
            host.reset()
        bench.mapm(["install", "--locked"], follow(ws, bench), bench.env(hosts["github.com"], bench.fresh("store")))
        count("    locked: rounds after connecting", max(host.rounds(RTT) for host in hosts.values()), 1)


ROWS = {"proof": row_proof, "trees": row_trees, "update": row_update, "dag": row_dag, "crowd": row_crowd,
        "partial": row_partial, "hosts": row_hosts}

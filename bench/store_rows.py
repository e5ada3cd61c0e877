"""A team's store: what many machines cost it, and what is left for the git host."""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import time

from install_rows import real_repos
from kit import GITHUB, MAPM, Failed, Host, everything, generate, in_memory, note, show

MACHINES = int(os.environ.get("MAPM_STORE_MACHINES", "1000"))
AT_ONCE = 4
TICK = os.sysconf("SC_CLK_TCK")


class Server:
    """A process and its children: the processor time that they took, and what they logged."""

    def __init__(self, argv, log, ready):
        self.log = log
        self.p = subprocess.Popen(argv, stdout=open(log, "a"), stderr=subprocess.STDOUT)
        for _ in range(1000):
            if ready():
                return
            time.sleep(0.02)
        raise Failed(f"{argv[0]} did not start: {open(log).read()[-500:]}")

    def cpu(self):
        total = 0
        for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(stat.parent.name) == self.p.pid or int(fields[1]) == self.p.pid:
                total += int(fields[11]) + int(fields[12])
        return total / TICK

    def close(self):
        self.p.send_signal(signal.SIGTERM)
        self.p.wait()


def registry(top):
    """(server, its URL, answers of its log: (status, bytes))"""
    conf, log = os.path.join(top, "registry.yml"), os.path.join(top, "registry.log")
    with open(conf, "w") as f:
        f.write("version: 0.1\nlog: {level: error, accesslog: {disabled: false}}\n"
                f"storage: {{filesystem: {{rootdirectory: {top}/registry}}}}\nhttp: {{addr: '127.0.0.1:5997'}}\n")
    server = Server(["docker-registry", "serve", conf], log, lambda: listens(5997))
    return server, "oci://127.0.0.1:5997/acme/mapm", re.compile(r'HTTP/1\.1" (\d+) (\d+)')


def nginx(top, folder):
    conf, log = os.path.join(top, "nginx.conf"), os.path.join(top, "nginx.log")
    with open(conf, "w") as f:
        user = "user root; " if os.geteuid() == 0 else ""  # the folder is for nobody else
        f.write(f"{user}daemon off; pid {top}/nginx.pid; worker_processes 2; error_log {top}/nginx.err;\n"
                f"events {{}} http {{ access_log {log}; root {folder}; client_body_temp_path {top}/b;\n"
                f"proxy_temp_path {top}/p; fastcgi_temp_path {top}/f; uwsgi_temp_path {top}/u; scgi_temp_path {top}/s;\n"
                "server { listen 127.0.0.1:5998; } }\n")
    server = Server(["/usr/sbin/nginx", "-c", conf, "-e", f"{top}/nginx.err"], os.path.join(top, "nginx.out"),
                    lambda: listens(5998))
    server.log = log
    return server, "http://127.0.0.1:5998", re.compile(r'HTTP/1\.1" (\d+) (\d+)')


def listens(port):
    port = f":{port:04X} "
    return any(port in line and " 0A " in line for line in open("/proc/net/tcp"))


def answers(server, pattern):
    with open(server.log, errors="replace") as f:
        return [(int(m[1]), int(m[2])) for m in pattern.finditer(f.read())]


def machine(job, top, env, failed):
    """A cold one: it has the files of the repository, and nothing else."""
    os.makedirs(f"{top}/ws")
    for name in ("mapm.yaml", "mapm.lock"):
        shutil.copy(os.path.join(job, name), f"{top}/ws")
    p = subprocess.run([MAPM, "install", "--locked", "--quiet"], cwd=f"{top}/ws", env={**env, "MAPM_HOME": f"{top}/store"},
                       stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if p.returncode or p.stderr:
        failed.append(p.stderr[-500:])
    shutil.rmtree(top)


def crowd(job, top, env):
    """So many cold machines, AT_ONCE of them at a time. Seconds."""
    numbers, failed, started = iter(range(MACHINES)), [], time.monotonic()
    lock = threading.Lock()

    def work():
        while not failed:
            with lock:
                n = next(numbers, None)
            if n is None:
                return
            machine(job, os.path.join(top, f"machine-{n}"), env, failed)

    threads = [threading.Thread(target=work) for _ in range(AT_ONCE)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if failed:
        raise Failed(failed[0])
    return time.monotonic() - started


def measure(bench, host, what, started, job, packages):
    server, url, pattern = started
    top, env = in_memory(bench, "crowd"), {**bench.env(host), "MAPM_STORE": url}
    try:
        if url.startswith("oci:"):
            bench.mapm(["store", "push", url], job, {**bench.env(host), "MAPM_HOME": os.path.join(job, "../store")})
        host.reset()
        before, cpu = len(answers(server, pattern)), server.cpu()
        seconds = crowd(job, top, env)
        cpu = server.cpu() - cpu
        rows = answers(server, pattern)[before:]
        asked = host.stats()["requests"]
    finally:
        server.close()
    good = sum(1 for status, _ in rows if status == 200)
    most = (2 if url.startswith("http") else 4) * packages * MACHINES
    show(f"{what}, {MACHINES} cold machines", f"{len(rows)} GETs", f"<= {most}", len(rows) <= most,
         f"{sum(n for _, n in rows) / 1e6:.1f} MB")
    show(f"{what}, its processor time", f"{cpu:.1f} s", "", True, f"{cpu * 1e6 / max(1, len(rows)):.0f} us a request")
    show(f"{what}, asked of the git host meanwhile", str(asked), "0", asked == 0, f"{good} of {len(rows)} with 200")
    note(f"{AT_ONCE} machines at a time, {seconds:.0f} s on this machine, clients included")


def row_store(bench):
    """1,000 cold machines that install a lock out of a registry and out of a folder behind nginx"""
    real = dict(real_repos())
    job, top = bench.fresh("job"), in_memory(bench, "servers")
    if "anthropics/skills" in real:
        root, origin, extra = os.path.abspath(os.environ["MAPM_REAL_REPOS"]), f"{GITHUB}/anthropics/skills/tree/main", ["--all"]
    else:
        root, index = generate(bench, "team", "--seed", "3", "--repos", "1", "--skills", "17", "--mcps", "0")
        origin, extra = everything(index)[0], []
    with Host(bench, root) as host:
        ws = os.path.join(job, "ws")
        os.makedirs(ws)
        env = bench.env(host, os.path.join(job, "store"))
        host.reset()
        bench.mapm(["install", "--yes", *extra, origin], ws, env)
        asked = host.stats()
        bench.mapm(["store", "push", "--to", os.path.join(top, "folder")], ws, env)
        with open(os.path.join(ws, "mapm.lock")) as f:
            packages = f.read().count("  digest: ")
        size = sum(f.stat().st_size for f in pathlib.Path(top, "folder").iterdir())
        note(f"{packages} packages, {size / 1e6:.2f} MB as objects with their proofs; the git host sent them once: "
             f"{asked['requests']} requests, {asked['body_out'] / 1e6:.2f} MB")
        measure(bench, host, "a registry", registry(top), ws, packages)
        measure(bench, host, "nginx", nginx(top, os.path.join(top, "folder")), ws, packages)


ROWS = {"store": row_store}

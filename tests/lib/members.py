"""Kills installs of a workspace with members before each call that changes
something; the next command, of whatever member, leaves the old or the new state
of all of them [D10]. Prints "fine", or what is odd."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from calls import MAPM, record, was_killed

TOP, URL = os.environ["MAPM_TEST_TOP"], os.environ["MAPM_TEST_URL"]
WS = os.path.join(TOP, "ws")
OWN = ".agents/.mapm"


def mapm(*args, cwd=WS):
    return subprocess.run([MAPM, *args], cwd=cwd, capture_output=True, text=True, check=False)


def snapshot():
    found = []
    for folder, folders, files in os.walk(WS):
        if folder.endswith(OWN):
            folders[:] = [f for f in folders if f == "skills"]
            continue
        for name in files + [f for f in folders if os.path.islink(os.path.join(folder, f))]:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                text = os.readlink(path)
            else:
                with open(path) as file:
                    text = file.read()
            found.append(os.path.relpath(path, WS) + "\n" + text)
    return "\n".join(sorted(found))


def left_over():
    return [os.path.join(folder, name) for folder, folders, files in os.walk(WS) if folder.endswith(OWN)
            for name in files + folders if name == "journal" or name.startswith("stage-")]


def tried(what, args, next_args, next_folder, prepare):
    saved = os.path.join(TOP, "saved")
    shutil.rmtree(saved, ignore_errors=True)
    prepare()
    old = snapshot()
    shutil.copytree(WS, saved, symlinks=True)
    done = mapm(*args)
    if done.returncode:
        return [f"{what}: {done.stderr}"]
    new, odd, news, at, killed = snapshot(), [], 0, 1, True
    while killed and at < 600:
        shutil.rmtree(WS)
        shutil.copytree(saved, WS, symlinks=True)
        done, _ = record(TOP, args, [WS], f"cns:{at}:kill", cwd=WS)
        killed = was_killed(done)
        mapm(*next_args, cwd=os.path.join(WS, next_folder))
        now = snapshot()
        if now not in (old, new):
            odd.append(f"{what}: killed before call {at}: neither old nor new")
        news += now == new
        done = mapm(*args)
        if (done.returncode and now != new) or snapshot() != new:
            odd.append(f"{what}: killed before call {at}: not again: {done.stderr}")
        if left_over():
            odd.append(f"{what}: killed before call {at}: left {left_over()}")
        at += 1
    if killed or at < 20 or not 0 < news < at:
        odd.append(f"{what}: {at} calls, {news} new")
    print(f"{what}: {at} calls, {news} of them new")
    return odd


def install():
    for name in (".agents", "mapm.lock"):
        path = os.path.join(WS, name)
        if os.path.isdir(path):
            shutil.rmtree(path)
        elif os.path.exists(path):
            os.remove(path)


def listing():
    mapm("install")
    with open(os.path.join(WS, "apps/cli/mapm.yaml"), "a") as file:
        file.write("listing: {search: [csv]}\n")


odd = tried("install", ("install",), ("list",), "apps/web", install)
odd += tried("remove", ("remove", "-r", "pdf"), ("list",), "", lambda: mapm("install"))
odd += tried("listing", ("install",), ("list",), "apps/web", listing)
for line in odd[:20]:
    print(line)
print("odd" if odd else "fine")

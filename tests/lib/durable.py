"""The tests of tests/cli/durable.t, which serves the catalog that they install."""
import errno
import hashlib
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from calls import MAPM, Disk, count_of_fault, environment, read, record, was_killed
from mcp_client import Server, Tap

ok, same = Tap.ok, Tap.same
TOP, SOURCE = os.environ["MAPM_TEST_TOP"], os.environ["MAPM_TEST_SOURCE"]
REPO = os.environ["MAPM_TEST_URL"].rsplit("/", 2)[0]
WS, DATA = os.path.join(TOP, "w"), os.environ["MAPM_HOME"]
OWN, KEPT = ".agents/.mapm", os.path.join(TOP, "kept")
CUTS_MAX = 2  # at one call
PRECIOUS = "what the user wrote\n"
EDITED = ".agents/skills/changes/more/notes.md"


def mapm(*args):
    return subprocess.run([MAPM, *args], cwd=WS, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=120)


def must(*args):
    done = mapm(*args)
    if done.returncode:
        print(f"Bail out! mapm {' '.join(args)}: {done.stderr}")
        sys.exit(1)


def snapshot():
    """Each name with mode, and hash or target: of the workspace, without what is
    mapm's own, also an .agents that holds nothing else."""
    seen = []
    for at, folders, files in os.walk(WS):
        below = os.path.relpath(at, WS)
        if below == OWN:
            folders[:] = []
            continue
        for name in sorted(folders + files):
            path = os.path.join(at, name)
            mode = os.lstat(path).st_mode
            what = ""
            if os.path.islink(path):
                what = os.readlink(path)
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    what = hashlib.sha256(file.read()).hexdigest()
            if below != ".agents" or name != ".mapm":
                seen.append(f"{os.path.join(below, name)} {mode:o} {what}")
    if sum(".agents" in line for line in seen) == 1:
        seen = [line for line in seen if not line.startswith("./.agents ")]
    return "\n".join(sorted(seen))


def holds(text):
    """Whether some file of the workspace has this text."""
    for at, _, files in os.walk(WS):
        for name in files:
            path = os.path.join(at, name)
            if not os.path.islink(path) and open(path, errors="replace").read() == text:
                return True
    return False


def commit():
    done = subprocess.run([os.path.join(os.path.dirname(__file__), "../githost/commit-folder"),
                           os.path.join(TOP, "repos/acme/cat.git"), SOURCE], capture_output=True,
                          text=True, check=True)
    return done.stdout.strip()


def second_version():
    first = subprocess.run(["git", "-C", os.path.join(TOP, "repos/acme/cat.git"), "rev-parse", "main"],
                           capture_output=True, text=True, check=True).stdout.strip()
    shutil.copytree(os.path.join(SOURCE, "skills/goes"), os.path.join(SOURCE, "skills/comes"))
    for path, old, new in (("skills/comes/SKILL.md", "goes", "comes"), ("agents/boss/AGENTS.md", "goes", "comes"),
                           ("skills/changes/SKILL.md", "Do what", "Do well what")):
        path = os.path.join(SOURCE, path)
        text = open(path).read()
        open(path, "w").write(text.replace(old, new))
    return first, commit()


# --- workspaces -----------------------------------------------------------------------

def empty():
    shutil.rmtree(WS, ignore_errors=True)
    os.makedirs(os.path.join(WS, ".claude"))
    with open(os.path.join(WS, ".mcp.json"), "w") as file:
        file.write('{"mcpServers": {"mine": {"command": "x"}}}\n')


def boss(version):
    return f"{REPO}/tree/{version}/agents/boss"


def installed():
    empty()
    must("install", "--yes", boss(V1))


def edited():
    installed()
    with open(os.path.join(WS, EDITED), "w") as file:
        file.write(PRECIOUS)


def patched():
    edited()
    must("patch", "acme/changes")


def cold():
    installed()
    shutil.rmtree(DATA)


def move_branch(version):
    subprocess.run(["git", "-C", os.path.join(TOP, "repos/acme/cat.git"), "update-ref", "refs/heads/main", version],
                   check=True)


def outdated():
    move_branch(V1)
    empty()
    must("install", "--yes", boss("main"))
    move_branch(V2)


def importable():
    """A folder that equals what the lock file of another tool names, and one that it lacks."""
    empty()
    shutil.copytree(os.path.join(SOURCE, "skills/stays"), os.path.join(WS, ".agents/skills/stays"))
    with open(os.path.join(WS, "agents.lock"), "w") as file:
        file.write("version = 1\n")
        for name in ("stays", "changes"):
            file.write(f'\n[skills.{name}]\nsource = "acme/cat"\nresolved_url = "{REPO}"\n'
                       f'resolved_path = "skills/{name}"\nresolved_ref = "main"\nresolved_commit = "{V1}"\n')


def in_conflict():
    """A mapm.lock that git could not merge: the other side updated everything."""
    installed()
    with open(os.path.join(WS, "mapm.lock")) as file:
        ours = file.read()
    with open(os.path.join(WS, "mapm.lock"), "w") as file:
        file.write(f"<<<<<<< ours\n{ours}=======\n{THEIRS}>>>>>>> theirs\n")
    path = os.path.join(WS, "mapm.yaml")
    with open(path) as file:
        text = file.read()
    with open(path, "w") as file:
        file.write(text.replace(V1, V2))


def theirs():
    installed()
    must("install", "--yes", boss(V2))
    with open(os.path.join(WS, "mapm.lock")) as file:
        return file.read()


class Scenario:
    def __init__(self, name, before, *args, precious=None, next=("verify",)):
        self.name, self.before, self.args, self.precious, self.next = name, before, args, precious, next

    def states(self):
        self.before()
        self.old = snapshot()
        must(*self.args)
        self.new = snapshot()

    def run(self, fault=None, below=None):
        return record(TOP, self.args, below or [WS], fault, cwd=WS)


# --- the order of the calls ----------------------------------------------------------------

def place(path):
    return os.path.relpath(path, WS)


def is_staged(path):
    return place(path).startswith(OWN + "/stage-")


def is_own(path):
    return place(path) == OWN or place(path).startswith(OWN + "/")


def shows(change):
    """Whether this call changes what a person sees of a workspace."""
    return any(not is_own(os.path.join(folder.path(), name)) for folder, name in change.places)


def order(scenario):
    """What has to hold of a whole run that succeeded."""
    scenario.before()
    done, calls = scenario.run()
    same(done.returncode, 0, f"[F2] {scenario.name}: recorded")
    disk, journal, dropped, moved, folders = Disk(), None, None, [], []
    unsynced, early, names_first = [], [], []
    for call in calls:
        if call.result:
            continue
        if call.name in ("rename", "exchange") and is_staged(call.path) and not is_staged(call.more):
            node = disk.folder(call.path)
            inside = set(node.within())
            unsynced += [str(call) for one in inside if one.is_dirty]
            unsynced += [str(c) for c in disk.open_changes() if inside & set(c.folders())]
            if place(call.more) == OWN + "/journal":
                journal = call
            else:
                if not place(call.more).startswith(OWN + "/backup"):
                    moved.append(place(call.more))
                early += [] if journal else [str(call)]
        if call.name == "unlink" and place(call.path) == OWN + "/journal":
            dropped = call
            disk_open = [str(c) for c in disk.open_changes() if not is_staged(c.call.path) or shows(c)]
            names_first += disk_open
        if call.name == "fsync" and call.more == "d" and journal and not dropped:
            folders.append(place(call.path))
        disk.do(call)
    ok(journal and dropped, f"[F2] {scenario.name}: there is a journal, and it goes")
    same(unsynced, [], f"[F2] {scenario.name}: nothing is named before it is synced, with all that is in it")
    same(early, [], f"[F2] {scenario.name}: nothing is named before the journal")
    ok(folders and folders[0] in (OWN, place(os.path.dirname(journal.path))),
       f"[F2] {scenario.name}: a folder that the journal was moved from or to is synced first", folders)
    same(names_first, [], f"[F2] {scenario.name}: every name is synced before the journal goes")
    lost = [str(c) for c in disk.open_changes() if shows(c) and place(c.call.path) != ".agents"]
    lost += [node.path() for node in disk.dirty() if not is_own(node.path())]
    same(lost, [], f"[F2] {scenario.name}: success means that it is on the disk")
    rank = {"mapm.lock": 2, OWN + "/state": 3}
    ranks = [rank.get(path, 1) for path in moved]
    same(ranks, sorted(ranks), f"[F2] {scenario.name}: the lock after all else, then the record")


# --- what a crash leaves -----------------------------------------------------------------------

def check_after(scenario, what, odd):
    """The next command, whatever it is, and then the same again."""
    done = mapm(*scenario.next)
    if done.returncode not in (0, 3):
        odd.append(f"{what}: {scenario.next[0]} says {done.returncode}: {done.stderr}")
    now = snapshot()
    if now not in (scenario.old, scenario.new):
        odd.append(f"{what}: neither old nor new")
        odd += ["not new: " + line for line in sorted(set(now.split("\n")) ^ set(scenario.new.split("\n")))[:5]]
        odd += ["not old: " + line for line in sorted(set(now.split("\n")) ^ set(scenario.old.split("\n")))[:5]]
    if scenario.precious and not holds(scenario.precious):
        odd.append(f"{what}: what the user wrote is lost")
    is_new = now == scenario.new
    done = mapm(*scenario.args)
    if done.returncode and not (is_new and scenario.args[0] == "remove"):
        odd.append(f"{what}: not again: {done.stderr}")
    elif snapshot() != scenario.new:
        odd.append(f"{what}: again, and not the new state")
    own = os.path.join(WS, OWN)
    left = [name for name in os.listdir(own) if name == "journal" or name.startswith("stage-")] \
        if os.path.isdir(own) else []
    if left:
        odd.append(f"{what}: left: {left}")
    return is_new


def crashes(scenario, step):
    """Ended before each call that changes something, or every so many, without what is
    not synced."""
    scenario.states()
    odd, count, news, reordered = [], 0, 0, 0
    at, killed = 1, True
    while killed and at < 500:
        todo = [0]
        while todo:  # some ways to lose names at this point; 0: none of them
            which = todo.pop(0)
            scenario.before()
            done, calls = scenario.run(f"cns:{at}:kill")
            killed = was_killed(done)
            disk = Disk().take(calls)
            cuts = [[]] + list(disk.cuts())
            which = min(which, len(cuts) - 1)  # folders are synced in another order each time
            disk.lose(cuts[which], KEPT)
            lost = disk.lose_data(KEPT)
            if which or lost or not killed or at % 4 == 0:  # the rest: tests/unit/swap_test.c
                what = f"call {at}, {len(cuts[which])} names and the data of {lost} files lost"
                news += check_after(scenario, what, odd)
                count += 1
                reordered += which > 0
            if which == 0:
                todo = spread(len(cuts) - 1, CUTS_MAX)
        at += step
    ok(not odd, f"[F2] {scenario.name}: after a crash the old state or the new one", *odd[:40])
    ok(not killed and count > 10 // step and news > 0 and news < count, f"[F2] {scenario.name}: both are met", count, news)
    print(f"# {scenario.name}: {at} calls, {count} states, {news} of them new, {reordered} by a synced folder",
          flush=True)


def spread(count, most):
    step = max(1, count / most)
    return sorted({1 + int(i * step) for i in range(min(count, most))})


# --- calls that fail ----------------------------------------------------------------------------

FULL, BROKEN = errno.ENOSPC, errno.EIO
FAULTS = [("cw", FULL), ("w", "short"), ("s", BROKEN), ("cn", BROKEN), ("r", BROKEN)]


def judge(scenario, done, what, word, odd):
    now = snapshot()
    if word == "short" and (done.returncode or now != scenario.new):
        odd.append(f"{what}: exit {done.returncode}, and half a write is none: {done.stderr}")
    if done.returncode == 0 and now != scenario.new:
        odd.append(f"{what}: success, and not the new state: {done.stderr}")
    if done.returncode and (done.returncode != 1 or not (os.strerror(word) in done.stderr or
                                                         "because: mapm.db: " in done.stderr)):
        odd.append(f"{what}: exit {done.returncode}: {done.stderr}")
    if done.returncode and now != scenario.old and not os.path.exists(os.path.join(WS, OWN, "journal")):
        odd.append(f"{what}: failed, and not the old state: {done.stderr}")


def faults(scenario, most):
    """Each call fails in turn, or as many as that, spread over all of them."""
    scenario.states()
    for kind, word in FAULTS:
        odd, failed = [], 0
        scenario.before()
        scenario.run(f"{kind}:1000000000:5", [WS, DATA])
        count = count_of_fault(TOP)
        for at in spread(count, most):
            for later in ("", "+") if word == FULL else ("",):
                scenario.before()
                done, calls = scenario.run(f"{kind}:{at}{later}:{word}", [WS, DATA])
                hit = [c for c in calls if c.result == word]
                what = f"{word} at {at}{later} of {count} {kind} ({hit[0] if hit else 'a part'})"
                judge(scenario, done, what, word, odd)
                failed += done.returncode != 0
                check_after(scenario, what, odd)
        name = word if word == "short" else errno.errorcode[word]
        ok(not odd, f"[F2] {scenario.name}: {name} at calls {kind}: all or nothing, and it says why", *odd[:40])
        ok(count > 4 and (failed > 0 or word == "short"), f"[F2] {scenario.name}: they are met", count, failed)
        print(f"# {scenario.name}: {name} at {kind}: {count} calls, {failed} failures", flush=True)


# --- the store, trust, calls that wait ------------------------------------------------------------

def of_store(calls):
    """It may be on another file system than the workspace, whose syncs it does not share."""
    return Disk().take(call for call in calls if call.name != "syncfs" and call.path.startswith(DATA))


def cut_power(disk, chosen=lambda path: True, before=lambda path: path):
    lost = disk.lose_data(KEPT, lambda path: not path.endswith("-shm") and chosen(path), before)
    shared = os.path.join(DATA, "mapm.db-shm")
    if os.path.exists(shared):
        os.remove(shared)
    return lost


def store_without_sync():
    """It is a cache: what a power cut took of it is fetched again."""
    def both(path):
        return True

    def index(path):
        return "mapm.db" in path

    def content(path):
        return "mapm.db" not in path

    COLD.states()
    for chosen in (both, index, content):
        empty()
        shutil.rmtree(DATA)
        done, calls = record(TOP, COLD.args, [DATA], cwd=WS)
        lost = cut_power(of_store(calls), chosen)
        shutil.rmtree(os.path.join(WS, ".agents"))
        shutil.rmtree(os.path.join(WS, ".claude/skills"))
        done = mapm("install", "--locked", "--yes")
        same((done.returncode, snapshot() == COLD.new), (0, True),
             f"[F2] a store without what was not synced ({chosen.__name__}, {lost} files)")
        if done.returncode:
            print("# " + done.stderr.replace("\n", "\n# "))


def trust_stays():
    """What the user accepted is no cache."""
    empty()
    os.makedirs(os.path.join(WS, ".agents/skills/echo"))
    for name, text in (("SKILL.md", "---\nname: echo\ndescription: Say it.\nmetaskill: SKILL.star\n---\n\nInput keys:\n\n- `word`: it.\n"),
                       ("SKILL.star", "def run(input):\n    return input[\"word\"]\n")):
        with open(os.path.join(WS, ".agents/skills/echo", name), "w") as file:
            file.write(text)
    for args in (("trust", "--workspace", "--yes"), ("install", "--yes", boss(V2))):
        earlier, saved = os.path.join(TOP, "earlier"), os.path.join(TOP, "saved")
        shutil.copytree(DATA, earlier)
        done, calls = record(TOP, args, [DATA], cwd=WS)
        same(done.returncode, 0, f"[F2] {args[0]}: recorded")
        shutil.copytree(DATA, saved)
        for name in ("mapm.db", "mapm.db-wal", ""):
            disk = of_store(calls)
            lost = cut_power(disk, lambda path: os.path.basename(path).startswith(name),
                             lambda path: path.replace(DATA, earlier))
            listed = mapm("trust", "--list")
            ok(listed.returncode == 0 and WS in listed.stdout,
               f"[F2] trust is there after {args[0]} and a power cut ({name or 'all'}, {lost} files)",
               listed.stdout, listed.stderr)
            shutil.rmtree(DATA)
            shutil.copytree(saved, DATA)
        shutil.rmtree(saved)
        shutil.rmtree(earlier)


def age(folder):
    for at, folders, files in os.walk(folder):
        for name in folders + files:
            os.utime(os.path.join(at, name), (1000000000, 1000000000), follow_symlinks=False)


def collecting():
    """gc, ended before each of its calls, leaves a store that is whole."""
    odd, at, killed, calls = [], 1, True, []
    warm()
    want = snapshot()
    saved = os.path.join(TOP, "saved")
    must("store", "verify")
    age(os.path.join(DATA, "store"))
    shutil.copytree(DATA, saved, symlinks=True)
    while killed and at < 200:
        shutil.rmtree(DATA)
        shutil.copytree(saved, DATA, symlinks=True)
        done, calls = record(TOP, ("store", "gc"), [os.path.join(DATA, "store")], f"cwns:{at}:kill", cwd=WS)
        killed = was_killed(done)
        cut_power(of_store(calls))
        for name in os.listdir(WS):
            if name not in ("mapm.yaml", "mapm.lock", ".mcp.json"):
                shutil.rmtree(os.path.join(WS, name))
        os.mkdir(os.path.join(WS, ".claude"))
        for args in (("store", "verify"), ("install", "--locked", "--offline", "--yes"), ("store", "gc")):
            done = mapm(*args)
            if done.returncode:
                odd.append(f"call {at}, {' '.join(args)}: {done.returncode}: {done.stderr}")
        if snapshot() != want:
            odd.append(f"call {at}: the workspace differs")
        at += 1
    outside = [str(c) for c in calls if c.kind == "n" and not c.result and
               os.path.relpath(c.path, os.path.join(DATA, "store")).split("/")[0] not in
               ("objects", "incoming", "damaged", "packs", "locks")]
    ok(not odd, "[F2] store gc: ended at any call, the store is whole", *odd[:20])
    odd, count = [], 0
    record(TOP, ("store", "gc", "--dry-run"), [os.path.join(DATA, "store")], "r:1000000000:5", cwd=WS)
    for at in spread(count_of_fault(TOP), 12):
        shutil.rmtree(DATA)
        shutil.copytree(saved, DATA, symlinks=True)
        done, _ = record(TOP, ("store", "gc"), [os.path.join(DATA, "store")], f"r:{at}:{errno.EIO}", cwd=WS)
        shutil.rmtree(os.path.join(WS, ".agents"), ignore_errors=True)
        again = mapm("install", "--locked", "--offline", "--yes")
        if again.returncode:
            odd.append(f"call {at}: gc {done.returncode} {done.stderr}, then {again.stderr}")
        count += 1
    ok(not odd and count > 2, f"[F2] store gc: what it cannot read is kept ({count} calls)", *odd[:20])
    same(outside, [], "[F2] store gc: it removes objects, and what is left of others")
    ok(not killed and at > 3, "[F2] store gc: it had something to remove", at)
    shutil.rmtree(saved)


def pushed():
    """The files of a team store have their names when they are on the disk, and its
    folder is synced once for all."""
    installed()
    to, disk, early = os.path.join(TOP, "to"), Disk(), []
    os.mkdir(to)
    done, calls = record(TOP, ("store", "push", "--to", to), [to], cwd=WS)
    for call in calls:
        if call.name == "rename" and not call.result:
            early += [str(call)] if disk.folder(call.path).is_dirty else []
        disk.do(call)
    same((done.returncode, len(os.listdir(to))), (0, 10), "[F2] store push --to: recorded")
    same(early, [], "[F2] store push --to: no file is named before it is synced")
    same([node.path() for node in disk.dirty()] + [str(c) for c in disk.open_changes()], [],
         "[F2] store push --to: success means that it is on the disk")
    same(len([c for c in calls if c.name == "fsync" and c.more == "d"]), 1, "[F9] store push --to: one sync of the folder")
    shutil.rmtree(to)


def suspended():
    """A call that waits is on the disk before the client is told to come again."""
    empty()
    with open(os.path.join(WS, "mapm.yaml"), "w") as file:
        file.write("dependencies: {}\n")
    os.makedirs(os.path.join(WS, ".agents/skills/asks"))
    for name, text in (("SKILL.md", "---\nname: asks\ndescription: Ask.\nmetaskill: SKILL.star\n---\n\nInput keys:\n\n- `n`: how often.\n"),
                       ("SKILL.star", "def run(input):\n    for n in range(input[\"n\"]):\n        ask(\"question %d\" % n)\n    return \"done\"\n")):
        with open(os.path.join(WS, ".agents/skills/asks", name), "w") as file:
            file.write(text)
    must("trust", "--workspace", "--yes")
    os.remove(os.path.join(TOP, "calls"))
    folder, log = os.path.join(DATA, "suspended"), os.path.join(TOP, "calls")
    s = Server("--ask", "sampling", caps={"sampling": {}}, modern=True, cwd=WS,
               env=environment(log, KEPT, [folder]))
    s.open()
    call = {"name": "run_metaskill", "arguments": {"name": "asks", "input": {"n": 2}}}
    for n in range(3):
        result = s.call("tools/call", call)
        waits = result.get("resultType") == "input_required"
        same(waits, n < 2, f"[F2] mapm mcp: call {n} waits")
        if not waits:
            break
        disk = Disk().take(read(log))
        lost = [node.path() for node in disk.dirty()]
        lost += [str(c) for c in disk.open_changes() if c.call.name in ("rename", "link")]
        same(lost, [], f"[F2] mapm mcp: what the call was is on the disk when the answer comes ({n})")
        same(len([p for p in os.listdir(folder) if p.endswith(".jsonl")]), 1, "[F2] mapm mcp: it has a journal")
        call = dict(call, requestState=result["requestState"], inputResponses={
            key: {"role": "assistant", "model": "m", "stopReason": "endTurn", "content": {"type": "text", "text": "a"}}
            for key in result["inputRequests"]})
    s.close()


def warm():
    """Both versions in the store: what follows needs no network."""
    installed()
    must("install", "--yes", boss(V2))


V1, V2 = second_version()
warm()
THEIRS = theirs()
COLD = Scenario("a cold install", cold, "install", "--yes", boss(V2))
SCENARIOS = [
    Scenario("a first install", empty, "install", "--yes", "--offline", boss(V1),
             next=("install", "--dry-run", "--offline", boss(V1))),
    Scenario("an update", installed, "install", "--yes", "--offline", boss(V2)),
    Scenario("over an edit", edited, "install", "--yes", "--force", "--offline", boss(V2), precious=PRECIOUS),
    Scenario("a removal", installed, "remove", "boss"),
    Scenario("a restore [D5]", edited, "restore", "acme/changes", precious=PRECIOUS),
    Scenario("an import [D14]", importable, "import", "agents.lock",
             next=("import", "agents.lock", "--dry-run")),
    Scenario("a merge of mapm.lock [D13]", in_conflict, "install", "--yes",
             next=("install", "--yes", "--dry-run")),
    Scenario("a patch [D7]", edited, "patch", "acme/changes", precious=PRECIOUS),
    Scenario("a patch that goes [D7]", patched, "patch", "--remove", "acme/changes"),
]
for one in [*SCENARIOS, COLD, Scenario("an update from the host", outdated, "update", "--yes")]:
    order(one)
warm()
for number, one in enumerate(SCENARIOS):  # the others make the same calls
    crashes(one, 1 if number < 4 else 3)
faults(SCENARIOS[1], 10)
faults(COLD, 5)
store_without_sync()
trust_stays()
collecting()
pushed()
suspended()
sys.exit(Tap.done())

#!/usr/bin/env python3
"""batch_kill.py MAPM INPUTS SHARDS KILLS [ask|command] [OPTION...]

Runs `mapm run NAME --batch q.jsonl` over SHARDS processes at once, in the current
folder; kills each with SIGKILL at KILLS random records of its journal, and starts it
again until it ends by itself. Then says of all journals and outputs whether each
input ended just once, and nothing was done that a journal had. Prints one line a
fault, and at last "inputs ... completed ... interrupted ...".
"""
import collections, glob, hashlib, json, os, random, select, signal, subprocess, sys

mapm, inputs, shards, kills, mode = sys.argv[1], *map(int, sys.argv[2:5]), sys.argv[5]
options = sys.argv[6:]
faults = []
random.seed(int(os.environ.get("SEED", "1")))


def pause(seconds):
    select.select([], [], [], seconds)


def write_inputs():
    with open("q.jsonl", "w") as f:
        for i in range(inputs):
            f.write(json.dumps({"id": f"in-{i}", "input": {"n": i}}) + "\n")


def records(path):
    """Those that are whole, with their checksums compared."""
    found = []
    try:
        data = open(path, "rb").read()
    except FileNotFoundError:
        return found
    for line in data.split(b"\n")[:-1]:
        size, checksum, payload = line.split(b" ", 2)
        if int(size, 16) != len(payload) or \
                hashlib.sha256(payload).hexdigest()[:16].encode() != checksum:
            faults.append(f"{path}: a record is damaged")
        found.append(json.loads(payload))
    return found


class Shard:
    def __init__(self, number):
        self.number, self.kills, self.code = number, kills, None
        self.journal = f"j/{number}-of-{shards}.journal"
        self.start()

    def size(self):
        try:
            return os.stat(self.journal).st_size
        except FileNotFoundError:
            return 0

    def start(self):
        # About what one input adds, so that the kills fall within all of them.
        per_kill = max(1, inputs * 600 // (shards * (kills + 1)))
        self.until = self.size() + random.randrange(per_kill * 2)
        self.process = subprocess.Popen(
            [mapm, "run", "work", "--batch", "q.jsonl", "--journal", "j", "--shard",
             f"{self.number}/{shards}", "--out", f"out-{self.number}.jsonl", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=open(f"err-{self.number}", "w"))

    def step(self):
        """True: it goes on."""
        code = self.process.poll()
        if code is None:
            if self.kills and self.size() > self.until:
                pause(random.random() / 100)  # anywhere in what it does then
                self.process.send_signal(signal.SIGKILL)
                self.process.wait()
                self.kills -= 1
                self.start()
            return True
        self.code = code
        if code not in (0, 3):
            text = open(f"err-{self.number}").read().strip()
            faults.append(f"shard {self.number}: exit {code}: {text}")
        return False


def run_all():
    running = [Shard(i) for i in range(shards)]
    done = list(running)
    while running:
        running = [s for s in running if s.step()]
        pause(0.001)
    return [kills - s.kills for s in done]


def check_output():
    ends = collections.Counter()
    ids = collections.Counter()
    for path in glob.glob("out-*.jsonl"):
        for line in open(path):
            result = json.loads(line)
            ids[result["id"]] += 1
            ends[result["end"]] += 1
            if result["end"] == "completed" and \
                    result["answer"].split()[-1] != result["id"][3:]:
                faults.append(f"{result['id']}: {result['answer']}")
    for i in range(inputs):
        if ids[f"in-{i}"] != 1:
            faults.append(f"in-{i} ended {ids[f'in-{i}']} times")
    return ends


def check_journals():
    """An ask or a command that has a result is never begun again."""
    for path in glob.glob("j/*.journal"):
        done = collections.Counter()
        ended = {}
        for r in records(path)[1:]:
            key = r.get("begin") or r.get("did") or r.get("end") or r.get("start")
            if key in ended:
                faults.append(f"{path}: a record of {key} behind its end")
            if "begin" in r and done[key]:
                faults.append(f"{path}: {key} is begun again")
            done[key] += "did" in r
            if "end" in r:
                ended[key] = r["how"]
        for key, how in ended.items():
            if done[key] != (how == "completed"):
                faults.append(f"{path}: {key} was done {done[key]} times: {how}")


def check_effects():
    """What the model, or the commands, wrote themselves."""
    lines = collections.Counter(open("ran").read().split()) if os.path.exists("ran") else {}
    again = sum(n - 1 for n in lines.values())
    if mode == "command":
        faults.extend(f"command {n} was run {c} times" for n, c in lines.items() if c > 1)
    return again


write_inputs()
killed = run_all()
counts = check_output()
check_journals()
again = check_effects()
if min(killed) < kills // 2:
    faults.append("they were not killed often enough")
for fault in faults[:20]:
    print(fault)
print(f"inputs {inputs} kills {min(killed)}-{max(killed)} asked again {again} faults {len(faults)} "
      f"completed {counts['completed']} failed {counts['failed']} "
      f"interrupted {counts['interrupted']}")
sys.exit(bool(faults))

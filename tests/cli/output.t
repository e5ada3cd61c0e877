#!/usr/bin/env -S python3 -S
# What mapm prints can be printed: whatever names it is given, nothing that a
# terminal obeys or hides reaches stdout or stderr, on a pipe or a terminal ([F3],
# [row 7]). Commands, words and options come from `mapm help`, so a new one is
# swept, too. Contents that were asked for (a skill's text, what a program prints)
# stay as they are on a pipe, and are looked at on a terminal alone.
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile

MAPM = os.environ.get("MAPM", "build/mapm")
HOSTILE = [
    b"\x1b[31mred", b"a\rb", b"\x08\x08x", b"\x7f", "\u009b31m".encode(), "\u0085".encode(),
    "a\u202eb".encode(), "\u2066x".encode(), "\u2028".encode(), "\U000e0041".encode(),
    b"\xff\xfe", b"\xc3", b"\xed\xa0\x80", b"\x1b]0;t\x07", b"x\x1b[2J/y",
]
ALL = b"".join(HOSTILE)
BAD = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\U000e0000-\U000e0fff]")

count = failures = 0


def ok(good, name, *more):
    global count, failures
    count += 1
    print("ok" if good else "not ok", count, "-", name)
    if not good:
        failures += 1
        for m in more:
            print("#", repr(m)[:600])


def fault_of(data):
    """What must not be there, with its surroundings; None when all is well."""
    try:
        text = data.decode()
    except UnicodeDecodeError as e:
        return data[max(0, e.start - 60):e.start + 20]
    m = BAD.search(text)
    return text[max(0, m.start() - 60):m.start() + 20] if m else None


def run(args, env, cwd, terminal, stdin=b""):
    argv = [os.fsencode(MAPM)] + [a if isinstance(a, bytes) else os.fsencode(a) for a in args]
    if any(b"\0" in a for a in argv):
        return b""
    if not terminal:
        try:
            p = subprocess.run(argv, input=stdin, env=env, cwd=cwd, timeout=60,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        except subprocess.TimeoutExpired as e:
            return b"TIMEOUT \xff"
        return p.stdout
    main, side = pty.openpty()
    p = subprocess.Popen(argv, env=env, cwd=cwd, stdin=subprocess.DEVNULL, stdout=side, stderr=side)
    os.close(side)
    out = b""
    try:
        while True:
            data = os.read(main, 65536)
            if not data:
                break
            out += data
    except OSError:
        pass
    os.close(main)
    p.wait(60)
    return out.replace(b"\r\n", b"\n")


def help_of(env, *words):
    return subprocess.run([MAPM, "help", *words], env=env, capture_output=True, text=True).stdout


def options_in(text):
    """(--name, has an argument) of each line of options."""
    return [(m.group(1), bool(m.group(2))) for m in
            re.finditer(r"^ +(?:-\w, )? *(--[\w-]+)(?:[ =]([A-Z]\S*))?", text, re.M)]


def main():
    global MAPM
    MAPM = os.path.abspath(MAPM)
    T = tempfile.mkdtemp(prefix="mapm-test.")
    home = os.path.join(T, "home")
    os.makedirs(home)
    env = {"PATH": os.environ["PATH"], "HOME": home, "MAPM_HOME": T + "/mapm", "TERM": "dumb",
           "LC_ALL": "C.UTF-8", "NO_COLOR": "1"}
    env |= {k: v for k, v in os.environ.items() if k == "ASAN_OPTIONS"}
    try:
        sweep(T, env)
    finally:
        shutil.rmtree(os.fsencode(T), ignore_errors=True)
    print(f"1..{count}")
    return failures != 0


def commands_of(env):
    text = help_of(env).split("\noptions of")[0]
    return re.findall(r"^  ([a-z]+)  ", text, re.M)


def words_of(env, command):
    """The sub-commands of a command, and "" for none."""
    text = help_of(env, command)
    if "\narguments:\n" not in text:
        return [""]
    return [line.split()[0] for line in text.split("\narguments:\n")[1].split("\n\n")[0].splitlines()]


SKILL = b"---\nname: %s\ndescription: %s\nmetaskill: %s\nversion: %s\n---\n%s\n"


def put(path, data):
    path = path if isinstance(path, bytes) else os.fsencode(path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)


def name_of(s):
    return s.replace(b"/", b"|")[:200]


def workspace(T):
    """Files of somebody else: names and texts that are hostile."""
    ws = os.fsencode(T) + b"/ws" + name_of(HOSTILE[0]) + name_of(HOSTILE[6]) + b"\xff"
    for i, h in enumerate(HOSTILE):
        d = ws + b"/.agents/skills/"
        put(d + b"n%d" % i + name_of(h) + b"/SKILL.md", SKILL % (b"a", b"b", b"x.star", b"1", b"c"))
        put(d + b"t%d/SKILL.md" % i, SKILL % (b"t%d" % i + h, b"b" + h, h, h, h))
        put(d + b"q%d/SKILL.md" % i, SKILL % (b"q%d" % i, b'"b' + h + b'"', b"p.star", b"1.0.0", h))
        put(d + b"q%d/p.star" % i, b"x = '" + h + b"'\ndef run(input):\n    fail('" + h + b"')\n")
        put(d + b"g%d/SKILL.md" % i, SKILL % (b"g%d" % i, b"b", b"p.star", b"1.0.0", b"x"))
        put(d + b"g%d/p.star" % i, b"def run(input):\n    fail('%s')\n" % b"".join(b"\\x%02x" % c if c < 128 else b"z" for c in h))
        put(ws + b"/skills/s%d" % i + name_of(h) + b"/SKILL.md", SKILL % (b"s%d" % i, b"x", b"", b"1.0.0", b"y"))
    put(ws + b"/x" + name_of(HOSTILE[0]) + b".mcp.json", b'{"command": "' + ALL + b'"}')
    put(ws + b"/p" + name_of(HOSTILE[0]) + b".star", b"print('" + HOSTILE[0] + b"'\n")
    return ws


def texts(ws):
    """Documents of the workspace, one at a time."""
    for h in HOSTILE:
        yield b"mapm.yaml", b"skills:\n  - https://github.com/a/b/tree/main/" + h + b"\n" + h + b": 1\n"
        yield b"mapm.yaml", b"clients: ['" + h + b"']\n"
        yield b"mapm.lock", b"version: 1\n" + h + b"\n"
        yield b"mapm.lock", b"version: 1\npackages:\n- type: skill\n  name: " + h + b"\n"
        yield b"mapm.local.yaml", b"skills:\n  - file:/" + h + b"\n"
        yield b".mcp.json", b'{"mcpServers": {"' + h + b'": 1'


def sweep(T, env):
    plain = T + "/plain"
    os.makedirs(plain)
    commands = commands_of(env)
    ok(len(commands) > 20, "[F3] commands are known", commands)
    faults = []

    def look(what, args, env=env, cwd=plain, terminal=False):
        out = run(args, env, cwd, terminal)
        if not terminal:
            out = re.sub(rb"<skill-instructions>.*</skill-instructions>", b"", out, flags=re.S)
        fault = fault_of(out)
        if fault:
            faults.append((what, terminal, fault))

    def done(name):
        ok(not faults, "[F3, row 7] " + name, *faults[:12], f"{len(faults)} in all")
        faults.clear()

    for command in commands:
        for word in words_of(env, command):
            base = [command] + ([word] if word else [])
            if command == "mcp":
                base += ["--print-config", "claude"]
            for terminal in (False, True):
                look("alone", base, terminal=terminal)
                for h in [ALL] if terminal else HOSTILE + [ALL]:
                    look("argument", base + [h], terminal=terminal)
            options = options_in(help_of(env, command))
            for n, (option, has_argument) in enumerate(options):
                if option != "--follow":
                    args = base + ([option, ALL] if has_argument else [option])
                    look("option", args, terminal=n % 2 == 1)
                    look("option and argument", args + [ALL], terminal=n % 2 == 0)
            look("JSON", base + ["--json", ALL])
        look("unknown option", [command, b"--" + ALL])
        done(f"{command}: hostile arguments")
    look("a command", [ALL])
    look("an option", [b"--" + ALL])
    for key in ("HOME", "MAPM_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "PATH", "MAPM_TRUSTED_FOLDER",
                "MAPM_ASK", "MAPM_POLICY", "MAPM_TOKEN", "TERM", "NO_PROXY", "https_proxy"):
        bad = {**env, key: b"/" + ALL.replace(b"\0", b"")}
        if key == "XDG_DATA_HOME":
            del bad["MAPM_HOME"]
        for args in (["list"], ["install"], ["doctor"], ["store", "path"], ["mcp", "--print-config", "codex"], ["runs"]):
            look(key, args, env=bad)
            look(key, args, env=bad, terminal=True)
    done("commands, and the environment")

    ws = workspace(T)
    inside = [["check", "."], ["check", "--json", "."], ["skill", "list"], ["skill", "list", "--json"], ["skill", "index"],
              ["skill", "search", "b"], ["list"], ["install"], ["install", "--dry-run"], ["doctor"], ["trust", "--workspace"], ["trust", "--list"],
              ["test", "."], ["budget"], ["verify"], ["tree"], ["outdated"], ["update"], ["init"], ["events"], ["runs"],
              ["mcp", "--print-config", "claude"], ["mcp", "--print-config", "codex"], ["mcp", "--print-config", "opencode"],
              ["star", b"p" + name_of(HOSTILE[0]) + b".star"], ["check", "--fix", "."], ["store", "gc"]]
    for i in range(len(HOSTILE)):
        inside += [["run", "q%d" % i], ["run", "g%d" % i], ["run", "t%d" % i], ["skill", "show", "q%d" % i], ["trust", "q%d" % i],
                   ["run", b".agents/skills/n%d" % i + name_of(HOSTILE[i])]]
    for terminal in (False, True):
        for args in inside:
            look(args, args, cwd=ws, terminal=terminal)
    look("runs", ["runs", "--json"], cwd=ws)
    put(ws + b"/say.star", b"print('\\x1b[31m', '\\u202e', '\\x00\\x08')\n")
    for i in (1, 5, 8):
        for args in (["skill", "load", "q%d" % i], ["skill", "files", "q%d" % i, "p.star"], ["run", "q%d" % i], ["star", "say.star"]):
            look(args, args, cwd=ws, terminal=True)
    ok(b"\x1b[31m" in run(["star", "say.star"], env, ws, False), "what a program prints stays as it is on a pipe")
    done("a workspace with hostile names and texts")

    for name, text in texts(ws):
        d = os.fsencode(T) + b"/one"
        shutil.rmtree(d, ignore_errors=True)
        put(d + b"/" + name, text)
        for args in (["list"], ["install", "--offline"], ["check", "."], ["doctor"], ["verify"], ["list", "--json"], ["mcp", "--print-config", "claude"]):
            look((name, text), args, cwd=d)
        look((name, text), ["install", "--offline"], cwd=d, terminal=True)
    done("hostile documents of a workspace")
    put(T + "/home/.config/mapm/config.yaml", b"hosts:\n  " + HOSTILE[0] + b": x\n" + ALL)
    look("config.yaml", ["list"])
    look("config.yaml", ["doctor"], terminal=True)
    done("a hostile config.yaml")


sys.exit(main())

"""A client of `mapm mcp` for tests: both eras, over pipes, with a world of its
own for tests that are Python, and TAP.

    mcp_client.py [OPTION...] -- METHOD [PARAMS]

starts `mapm mcp OPTION...`, makes one request of the old era and prints its
result, or its error, as one line of JSON: for tests that are shell.
"""
import json
import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAPM = os.environ.get("MAPM") or os.path.join(ROOT, "build", "mapm")
PATIENCE = 60
NEW = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"


class Server:
    """One process. What it says is kept in order; answers are found by id."""

    def __init__(self, *args, caps=None, modern=False, env=None, cwd=None):
        self.modern, self.caps = modern, caps or {}
        self.process = subprocess.Popen(
            [MAPM, "mcp", *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=dict(os.environ, **(env or {})), cwd=cwd)
        self.last = 0
        self.lines = queue.Queue()
        self.notes, self.requests, self.answers = [], [], {}
        self.bad = []
        self.errors = b""
        threading.Thread(target=self._read, daemon=True).start()
        self.stderr = threading.Thread(target=self._read_errors, daemon=True)
        self.stderr.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def _read_errors(self):
        for line in self.process.stderr:
            self.errors += line

    def send(self, message):
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass

    def take(self, patience=PATIENCE):
        """One message more, sorted in; False at the end."""
        try:
            line = self.lines.get(timeout=patience)
        except queue.Empty:
            raise TimeoutError("the server says nothing")
        if line is None:
            return False
        try:
            message = json.loads(line)
        except ValueError:
            self.bad.append(line)
            return True
        if message.get("jsonrpc") != "2.0":
            self.bad.append(line)
        if "method" in message and "id" in message:
            self.requests.append(message)
        elif "method" in message:
            self.notes.append(message)
        else:
            self.answers[message.get("id")] = message
        return True

    def start(self, method, params=None):
        """Sends a request; its id."""
        self.last += 1
        params = dict(params or {})
        if self.modern:
            params["_meta"] = dict(params.get("_meta", {}), **{
                PREFIX + "protocolVersion": NEW,
                PREFIX + "clientCapabilities": self.caps,
                PREFIX + "clientInfo": {"name": "test", "version": "1"}})
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def wait(self, number):
        while number not in self.answers:
            if not self.take():
                return None
        message = self.answers.pop(number)
        return message["result"] if "result" in message else message

    def call(self, method, params=None):
        return self.wait(self.start(method, params))

    def tool(self, name, arguments=None, **params):
        return self.call("tools/call", dict(params, name=name, arguments=arguments or {}))

    def run(self, name, **arguments):
        return self.tool("run_metaskill", dict(arguments, name=name))

    def request(self):
        """The next request that the server makes."""
        while not self.requests:
            if not self.take():
                return None
        return self.requests.pop(0)

    def open(self, version="2025-11-25"):
        if self.modern:
            return self.call("server/discover")
        result = self.call("initialize", {
            "protocolVersion": version, "capabilities": self.caps,
            "clientInfo": {"name": "test", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return result

    def close(self):
        """The end of its input; its exit status."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        status = self.process.wait(PATIENCE)
        self.stderr.join(PATIENCE)
        while self.take(PATIENCE):
            pass
        return status

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)


def opened(*args, **options):
    server = Server(*args, **options)
    server.open()
    return server


def text_of(result):
    return result["content"][0]["text"]


# --- a world of its own ----------------------------------------------------------

class World:
    def __init__(self):
        self.top = os.path.realpath(tempfile.mkdtemp(prefix="mapm-test."))
        self.ws = os.path.join(self.top, "ws")
        self.data = os.path.join(self.top, "mapm")
        for name in list(os.environ):
            if name.startswith("MAPM_") and name != "MAPM_BUILD":
                del os.environ[name]
        for name in ("CI", "NO_COLOR", "CDPATH"):
            os.environ.pop(name, None)
        home = os.path.join(self.top, "home")
        os.environ.update(
            HOME=home, XDG_CONFIG_HOME=home + "/.config",
            XDG_DATA_HOME=home + "/.local/share", MAPM_HOME=self.data,
            LC_ALL="C.UTF-8", TZ="UTC", TERM="dumb")
        os.makedirs(home)
        os.makedirs(self.ws)
        os.chdir(self.ws)
        self.write("mapm.yaml", "dependencies: {}\n")

    def write(self, path, text, mode=0o644):
        path = os.path.join(self.ws, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as out:
            out.write(text)
        os.chmod(path, mode)
        return path

    def skill(self, name, body="Do it.\n", description="For a test.", more="", root=".agents/skills"):
        self.write(f"{root}/{name}/SKILL.md",
                   f"---\nname: {name}\ndescription: {description}\n{more}---\n\n{body}")

    def metaskill(self, name, program, body="Input keys:\n\n- `word`: what to say.\n", more=""):
        self.skill(name, body, more="metaskill: SKILL.star\n" + more)
        self.write(f".agents/skills/{name}/SKILL.star", program)

    def mapm(self, *args):
        return subprocess.run([MAPM, *args], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE)

    def trust(self):
        assert self.mapm("trust", "--workspace", "--yes").returncode == 0

    def done(self):
        os.chdir("/")
        shutil.rmtree(self.top, ignore_errors=True)


# --- TAP ------------------------------------------------------------------------------

class Tap:
    count = failed = 0

    @classmethod
    def ok(cls, value, what, *seen):
        cls.count += 1
        print(f"{'ok' if value else 'not ok'} {cls.count} - {what}", flush=True)
        if not value:
            cls.failed += 1
            for one in seen:
                for line in str(one).splitlines()[:40]:
                    print("#", line[:2000])

    @classmethod
    def same(cls, got, want, what):
        cls.ok(got == want, what, f"got:  {got!r}", f"want: {want!r}")

    @classmethod
    def done(cls):
        print(f"1..{cls.count}")
        return 1 if cls.failed else 0


def main(test):
    """Runs test(World) with TAP around it."""
    world = World()
    try:
        test(world)
    finally:
        world.done()
    sys.exit(Tap.done())


if __name__ == "__main__":
    words = sys.argv[1:]
    at = words.index("--")
    one = opened(*words[:at])
    method, params = words[at + 1], words[at + 2] if len(words) > at + 2 else "{}"
    print(json.dumps(one.call(method, json.loads(params)), ensure_ascii=False))
    one.close()
    sys.stderr.write(one.errors.decode())

#!/usr/bin/env python3
"""What tests of the team's store need, apart from mapm.

    team.py object DIR FOLDER                 the package in FOLDER, as an object in DIR
    team.py proof DIR GIT IDENTITY COMMIT PATH
    team.py serve DIR READY LOG               a web server that misbehaves on request

`object` and `proof` print the name that they wrote. Of the server the first part of
a path says what it does: /ok/NAME.tar.gz serves DIR/NAME.tar.gz; the others are
the functions below whose names begin with "do_".
"""
import hashlib, http.server, os, socketserver, struct, subprocess, sys, threading, time, zlib


def header(name, prefix, mode, size, kind):
    h = bytearray(512)

    def put(at, text):
        h[at:at + len(text)] = text

    put(0, name)
    for at, width, value in ((100, 8, mode), (108, 8, 0), (116, 8, 0), (124, 12, size),
                             (136, 12, 0), (329, 8, 0), (337, 8, 0)):
        put(at, b"%0*o" % (width - 1, value))
    put(148, b" " * 8)
    put(156, kind)
    put(257, b"ustar\x0000")
    put(345, prefix)
    put(148, b"%06o\0 " % sum(h))
    return bytes(h)


def entry(path, mode, content):
    name, prefix = path, b""
    if len(path) > 100:
        cut = next(i for i in range(1, 156) if path[i:i + 1] == b"/" and len(path) - i - 1 <= 100)
        name, prefix = path[cut + 1:], path[:cut]
    return header(name, prefix, mode, len(content), b"0") + content + bytes(-len(content) % 512)


def gzip(tar):
    z = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = z.compress(tar) + z.flush()
    return (b"\x1f\x8b\x08\0\0\0\0\0\0\xff" + body +
            struct.pack("<II", zlib.crc32(tar), len(tar) & 0xffffffff))


def pack(files):
    return gzip(b"".join(entry(p, m, c) for p, m, c in sorted(files)) + bytes(1024))


def files_of(folder):
    for top, _, names in os.walk(folder):
        for name in names:
            full = os.path.join(top, name)
            with open(full, "rb") as f:
                yield (os.path.relpath(full, folder).encode(),
                       0o755 if os.access(full, os.X_OK) and os.stat(full).st_mode & 0o100 else 0o644,
                       f.read())


def digest_of(files):
    lines = b"".join(b"100%o %s %s\n" % (m, hashlib.sha256(c).hexdigest().encode(), p)
                     for p, m, c in sorted(files))
    return hashlib.sha256(lines).hexdigest()


def write(folder, name, content):
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".tar.gz"), "wb") as f:
        f.write(content)
    print(name)


def git(repo, *args):
    return subprocess.run(["git", "-C", repo, *args], check=True, stdout=subprocess.PIPE).stdout


def raw(repo, kind, name):
    return git(repo, "cat-file", kind, name)


def proof(folder, repo, identity, commit, path):
    """The commit, the trees on the way, those below, and the texts of links."""
    found = {commit: raw(repo, "commit", commit)}

    def put(name):
        kind = git(repo, "cat-file", "-t", name).decode().strip()
        found[name] = raw(repo, kind, name)

    def way(to):
        """The trees down to `to`, and what is there."""
        at = [""] + ["/".join(to.split("/")[:i + 1]) for i in range(len(to.split("/")) if to else 0)]
        ids = [git(repo, "rev-parse", "%s:%s" % (commit, p)).decode().strip() for p in at]
        for name in ids[:-1]:
            put(name)
        return ids[-1]

    top = way(path)
    if git(repo, "cat-file", "-t", top).strip() == b"tree":
        put(top)
        for line in git(repo, "ls-tree", "-r", "-t", top).decode().splitlines():
            (mode, kind, name), file = line.split("\t")[0].split(), line.split("\t")[1]
            if kind == "tree" or mode == "120000":
                put(name)
            if mode == "120000":
                way(os.path.normpath(os.path.join(path, os.path.dirname(file),
                                                  found[name].decode())))
    key = b"\0".join(s.encode() for s in (identity, commit, path, top))
    write(folder, "mapm1p-" + hashlib.sha256(key).hexdigest(),
          pack([(n.encode(), 0o644, c) for n, c in found.items()]))


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", *headers):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        if not any(n == "Content-Length" for n, _ in headers):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        try:
            self.wfile.write(body)
        except OSError:
            self.close_connection = True

    def content(self):
        try:
            with open(os.path.join(self.server.folder, os.path.basename(self.path.split("?")[0])), "rb") as f:
                return f.read()
        except OSError:
            return None

    def do_GET(self):
        with self.server.lock:
            with open(self.server.log, "a") as f:
                f.write("%s %s\n" % (self.path, self.headers.get("Authorization", "-")))
        how = self.path.split("/")[1]
        body = self.content()
        if body is None and how not in ("status", "endless", "redirect"):
            self.answer(404)
        else:
            getattr(self, "do_" + how.split("-")[0])(how, body)

    def do_ok(self, how, body):
        self.answer(200, body)

    def do_status(self, how, body):
        self.answer(int(how.split("-")[1]), b"no", ("Retry-After", "3600"))

    def do_other(self, how, body):
        """What a folder beside it has of this name."""
        with open(os.path.join(self.server.folder + "-other", os.path.basename(self.path)), "rb") as f:
            self.answer(200, f.read())

    def do_login(self, how, body):
        """me:secret; what is redirected is asked for without."""
        if self.headers.get("Authorization") != "Basic bWU6c2VjcmV0":
            self.answer(401, b"", ("WWW-Authenticate", 'Basic realm="team"'))
        else:
            self.answer(200, body)

    def do_absent(self, how, body):
        self.answer(404)

    def hang(self):
        self.close_connection = True
        self.server.stopping.wait(60)

    def do_stall(self, how, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.hang()

    def do_silent(self, how, body):
        self.hang()

    def do_slow(self, how, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.close_connection = True
        for i in range(len(body)):
            if self.server.stopping.wait(1):
                return
            self.wfile.write(body[i:i + 1])

    def do_drip(self, how, body):
        """A megabyte, a KiB each quarter of a second: it never stalls."""
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Length", str(1 << 20))
        self.end_headers()
        try:
            while not self.server.stopping.wait(0.25):
                self.wfile.write(bytes(1 << 10))
        except OSError:
            pass

    def do_short(self, how, body):
        self.close_connection = True
        self.answer(200, body, ("Content-Length", str(len(body) + 1000)))

    def do_cut(self, how, body):
        self.close_connection = True
        self.answer(200, body, ("Content-Length", str(len(body) // 2)))

    def do_endless(self, how, body):
        self.close_connection = True
        self.send_response(200)
        self.end_headers()
        try:
            while not self.server.stopping.is_set():
                self.wfile.write(bytes(1 << 20))
        except OSError:
            pass

    def do_claims(self, how, body):
        """A length that nobody may have."""
        self.close_connection = True
        self.answer(200, body, ("Content-Length", str(1 << 40)))

    def do_bomb(self, how, body):
        self.answer(200, self.server.bomb)

    def do_two(self, how, body):
        self.answer(200, body + body)

    def do_tail(self, how, body):
        self.answer(200, body + b"\0")

    def do_page(self, how, body):
        self.answer(200, b"<html>Please sign in</html>", ("Content-Type", "text/html"))

    def do_redirect(self, how, body):
        """redirect-N: N times, then to /ok; redirect-to: what the query says."""
        where = how.split("-")[1]
        name = os.path.basename(self.path)
        if where == "loop":
            to = self.path
        elif where == "to":
            to = open(os.path.join(self.server.folder, "to")).read().strip()
        elif int(where) > 0:
            to = "/redirect-%d/%s" % (int(where) - 1, name)
        else:
            return self.answer(200, body) if body else self.answer(404)
        self.answer(307, b"", ("Location", to))


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    request_queue_size = 64


def serve(folder, ready, log):
    server = Server(("127.0.0.1", 0), Handler)
    server.folder, server.log = folder, log
    server.bomb = gzip(header(b"SKILL.md", b"", 0o644, 1 << 30, b"0") + bytes(40 << 20))
    server.lock, server.stopping = threading.Lock(), threading.Event()
    with open(ready + ".new", "w") as f:
        f.write("http://127.0.0.1:%d\n" % server.server_address[1])
    os.rename(ready + ".new", ready)
    server.serve_forever(poll_interval=3600)


def main(command, *args):
    if command == "object":
        files = list(files_of(args[1]))
        write(args[0], "mapm1-" + digest_of(files), pack(files))
    elif command == "proof":
        proof(*args)
    else:
        serve(*args)


if __name__ == "__main__":
    main(*sys.argv[1:])

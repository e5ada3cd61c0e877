#!/usr/bin/env -S python3 -S
"""hostile.py KIND READY [PACK]: a server that means harm, for tests/cli/fetch_servers.t
and fetch_lesser.t. A kind of "v0-..." knows no other version of the protocol.

Answers every request in the way of KIND, on a free port that it writes to the
file READY; PACK is a file with what "strangers" sends. One thread a connection; ends with its parent's kill."""
import http.server
import sys
import threading
import time

RESULT = "application/x-git-upload-pack-result"
ADVERTISEMENT = "application/x-git-upload-pack-advertisement"


def pkt(data):
    return b"%04x" % (len(data) + 4) + data


def band(data, number=1):
    return pkt(bytes([number]) + data)


def endless(first, again):
    yield first
    while True:
        yield again


def drip():
    yield b"0"
    while True:
        time.sleep(0.2)
        yield b"0"


def cut():
    yield pkt(b"packfile\n") + band(b"x" * 40000, 2)


def strangers():
    yield pkt(b"packfile\n")
    with open(sys.argv[3], "rb") as f:
        while chunk := f.read(60000):
            yield band(chunk)
    yield b"0000"


# An object of 5 bytes whose zlib stream is empty stored blocks without end.
EMPTY = b"\x35\x78\x01"
PACK = pkt(b"packfile\n") + band(b"PACK\0\0\0\2\0\0\0\1")
REF = pkt(b"0123456789abcdef0123456789abcdef01234567 refs/heads/main%d\n" % 1)
BODIES = {
    "refs": lambda: endless(b"", REF * 500),
    "pullrefs": lambda: endless(b"", pkt(b"%s refs/pull/1/head\n" % (b"a" * 40)) * 500),
    "progress": lambda: endless(pkt(b"packfile\n"), band(b"\x1b[31mx" * 1000, 2)),
    "keepalive": lambda: endless(pkt(b"packfile\n"), band(b"") * 1000),
    "cut": cut,
    "blocks": lambda: endless(PACK + band(EMPTY), band(b"\0\0\0\xff\xff" * 1000)),
    "strangers": strangers,
    "longlines": lambda: endless(pkt(b"shallow-info\n"), pkt(b"x" * 60000)),
    "pack": lambda: endless(PACK, band(b"\0" * 60000)),
    "info": lambda: endless(b"", pkt(b"shallow-info\n") * 1000),
    "lines": lambda: endless(b"", pkt(b"acknowledgments\n") * 1000),
    "longpkt": lambda: endless(b"ffff", b"x" * 65536),
    "drip": drip,
}


# Version 0: what GET info/refs shows, and what the POST of a want gets.
CAPS = b"\0shallow side-band-64k ofs-delta symref=HEAD:refs/heads/main\n"
TIP = b"0123456789abcdef0123456789abcdef01234567"
HEAD = pkt(b"# service=git-upload-pack\n") + b"0000"
START = HEAD + pkt(TIP + b" HEAD" + CAPS)
MAIN = pkt(TIP + b" refs/heads/main\n") + b"0000"
REFS = START + MAIN


def v0_pack(first=b""):
    """The pack of the command line, with the tip that its name tells."""
    yield first
    yield pkt(b"NAK\n")
    with open(sys.argv[3], "rb") as f:
        while chunk := f.read(60000):
            yield band(chunk)
    yield b"0000"


def tip_of_pack():
    tip = open(sys.argv[3] + ".tip", "rb").read().strip()
    return REFS.replace(TIP, tip)


SHALLOW = pkt(b"shallow " + TIP)
V0 = {
    "v0-refs": (lambda: endless(START, REF * 500), None),
    "v0-long": (lambda: endless(START, pkt(TIP + b" refs/heads/" + b"x" * 60000) * 10), None),
    "v0-shallow-refs": (lambda: endless(START, SHALLOW * 500), None),
    "v0-shallow": (lambda: [REFS], lambda: endless(b"", SHALLOW * 500)),
    "v0-acks": (lambda: [REFS], lambda: endless(SHALLOW + b"0000", pkt(b"ACK " + TIP + b" common\n") * 500)),
    "v0-unasked": (lambda: [HEAD, pkt(TIP + b" HEAD" + CAPS.replace(b"shallow ", b"")), MAIN], lambda: [SHALLOW, b"0000"]),
    "v0-strangers": (lambda: [tip_of_pack()], lambda: v0_pack(SHALLOW + b"0000")),
    "v0-wrong": (lambda: [REFS], lambda: v0_pack(SHALLOW + b"0000")),
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    kind = None
    hops = 0

    def log_message(self, *args):
        pass

    def body(self, chunks):
        for chunk in chunks:
            self.wfile.write(chunk)

    def do_GET(self):
        self.do_POST()

    def v0(self, question):
        is_get = self.command == "GET"
        self.send_response(200)
        self.send_header("Content-Type", ADVERTISEMENT if is_get else RESULT)
        self.end_headers()
        if is_get or b"want " in question:
            self.body(V0[self.kind][0 if is_get else 1]())

    def do_POST(self):
        question = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.kind in V0:
            try:
                self.v0(question)
            except (BrokenPipeError, ConnectionResetError):
                pass
            return
        try:
            self.answer()
        except (BrokenPipeError, ConnectionResetError):
            pass

    def answer(self):
        kind = self.kind
        if kind == "headers":
            self.send_response(200)
            for i in range(10**7):
                self.wfile.write(b"X-%d: %s\r\n" % (i, b"y" * 1000))
            return
        if kind in ("loop", "hops"):
            Handler.hops += 1
            self.send_response(302)
            where = "x%d/y" % Handler.hops if kind == "hops" else "x/y"
            self.send_header("Location", "/%s/git-upload-pack" % where)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if kind == "redirects":
            self.send_response(301)
            self.send_header("Location", "http://me:secret@127.0.0.1:1/a/b/git-upload-pack")
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("Content-Type", RESULT)
        if kind == "gzip":
            self.send_header("Content-Encoding", "gzip")
            self.end_headers()
            self.wfile.write(b"\x1f\x8b\x08\0\0\0\0\0\0\3" + b"\0" * 1000)
            return
        if kind == "cookie":
            self.send_header("Set-Cookie", "a=b; Path=/")
        self.end_headers()
        self.body(BODIES[kind]())


def main():
    Handler.kind = sys.argv[1]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with open(sys.argv[2], "w") as f:
        f.write("http://127.0.0.1:%d" % server.server_address[1])
    threading.Thread(target=server.serve_forever, daemon=True).start()
    time.sleep(300)


main()

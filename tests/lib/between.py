#!/usr/bin/env -S python3 -S
"""between.py: stands in the place of mapm-fetch, starts the real one ($REAL), and
passes on what both say. The first message of the type that $DAMAGE names, "TYPE HOW",
is changed: cut (its last byte is gone), more (a byte follows), unknown (its type)."""
import os, select, socket, struct, subprocess, sys

damage = os.environ["DAMAGE"].split()
ours, theirs = socket.socketpair()
mapm = socket.socket(fileno=3)


def give():
    os.dup2(theirs.fileno(), 3)
    os.set_inheritable(3, True)


def change(frame):
    kind, body = frame[4], frame[5:]
    if not damage or kind != int(damage[0]):
        return frame
    how = damage[1]
    damage.clear()
    if how == "cut":
        body = body[:-1]
    if how == "more":
        body += b"\0"
    if how == "unknown":
        kind = 99
    return struct.pack("<IB", len(body) + 1, kind) + body


worker = subprocess.Popen([os.environ["REAL"]], preexec_fn=give, close_fds=False)
theirs.close()
kept = {mapm: b"", ours: b""}
other = {mapm: ours, ours: mapm}
while kept:
    for s in select.select(list(kept), [], [])[0]:
        try:
            got = s.recv(1 << 20)
        except ConnectionResetError:
            got = b""
        try:
            if not got:
                del kept[s]
                other[s].shutdown(socket.SHUT_WR)
                continue
            kept[s] += got
            while len(kept[s]) >= 4:
                end = 4 + struct.unpack("<I", kept[s][:4])[0]
                if len(kept[s]) < end:
                    break
                other[s].sendall(change(kept[s][:end]))
                kept[s] = kept[s][end:]
        except (BrokenPipeError, ConnectionResetError, OSError):
            kept.pop(s, None)
sys.exit(worker.wait())

"""screen.py ROWSxCOLUMNS STEP... -- COMMAND...: a person at a terminal.

A step is =TEXT, which waits for TEXT in what was printed since the last keys;
+KEYS, which types them (as a Python string has them, without quotes); or @ROWSxCOLUMNS,
which resizes the terminal. All that was printed goes to stdout; the status is the
command's, or 99 where a text did not come before its end.
"""
import codecs
import fcntl
import os
import pty
import struct
import sys
import termios


def size(fd, text):
    rows, columns = map(int, text.split("x"))
    fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))


def read(fd):
    try:
        return os.read(fd, 65536)
    except OSError:  # the other side is closed
        return b""


at = sys.argv.index("--")
first, steps, command = sys.argv[1], sys.argv[2:at], sys.argv[at + 1:]
pid, fd = pty.fork()
if pid == 0:
    size(0, first)
    os.execvp(command[0], command)
size(fd, first)
printed, since, missed = b"", b"", False
for step in steps:
    what, text = step[0], step[1:]
    if what == "@":
        size(fd, text)
        since = b""
    elif what == "+":
        since = b""
        os.write(fd, codecs.decode(text, "unicode_escape").encode("latin-1"))
    else:
        while text.encode() not in since:
            data = read(fd)
            if not data:
                missed = True
                print("not seen:", text)
                break
            printed += data
            since += data
    if missed:
        break
while data := read(fd):
    printed += data
sys.stdout.write(printed.decode("utf-8", "replace").replace("\r", ""))
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
sys.exit(99 if missed else status)

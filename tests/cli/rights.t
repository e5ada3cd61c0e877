#!/usr/bin/env -S python3 -S
# [F2, row 14] mapm-fetch holds tokens, so no core and no other process of the user
# gets its memory: it is not dumpable before it reads the first byte. The kernel shows
# that by the owner of the files in /proc/PID, root: so root starts it as another user.
import os
import shutil
import socket
import sys
import tempfile
import time

BUILD = os.environ.get("MAPM_BUILD", "build")
NOBODY = 65534
PATIENCE = 20


def prepare(theirs):
    os.dup2(theirs.fileno(), 3)
    os.set_inheritable(3, True)
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def can_change_user():
    pid = os.fork()
    if pid == 0:
        try:
            os.setuid(NOBODY)
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


if os.getuid() == 0 and not can_change_user():
    print("1..0 # SKIP root of a user namespace that maps no other user")
    sys.exit()


def owner(pid):
    return os.stat(f"/proc/{pid}/environ").st_uid


top = tempfile.mkdtemp(prefix="mapm-test.")
os.chmod(top, 0o755)
program = os.path.join(top, "mapm-fetch")
shutil.copy(os.path.join(BUILD, "mapm-fetch"), program)
os.chmod(program, 0o755)
ours, theirs = socket.socketpair()
pid = os.fork()
if pid == 0:
    prepare(theirs)
    os.execve(program, [program], {"PATH": "/usr/bin:/bin", "HOME": top})
theirs.close()
hidden, end = False, time.monotonic() + PATIENCE
while not hidden and time.monotonic() < end:
    runs = os.path.basename(os.readlink(f"/proc/{pid}/exe")) == "mapm-fetch" if os.getuid() == 0 else True
    hidden = runs and owner(pid) == 0
    time.sleep(0.001)
print("ok" if hidden else "not ok", "1 - [F2, row 14] mapm-fetch is not dumpable")
ours.close()  # and so it ends
try:
    status = os.waitpid(pid, 0)[1]
    ended = os.WIFEXITED(status)
except ChildProcessError:
    ended = False
print("ok" if ended else "not ok", "2 - and ends with its parent")
shutil.rmtree(top)
print("1..2")
sys.exit(not (hidden and ended))

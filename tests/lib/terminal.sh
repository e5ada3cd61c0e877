# terminal.sh: commands on a terminal, as a person types them. Sourced after cli.sh.

# on_terminal ANSWER COMMAND...: runs it on a terminal, answers each question, also
# the one about the kind of a host.
# What it printed is in $out, its status in $status.
on_terminal()
{
    out=$(python3 -S - "$@" <<'PYTHON'
import os, pty, re, select, subprocess, sys, time
answer, command = sys.argv[1], sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
text, asked, end = b"", 0, time.time() + 60
while time.time() < end:
    if not select.select([fd], [], [], 1)[0]:
        continue
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    text += data
    if len(re.findall(rb"\[y/N\]|\(n\)one of these|\(n\)o:", text)) > asked:
        asked += 1
        if os.environ.get("BEFORE_ANSWER"):
            subprocess.run(["sh", "-c", os.environ["BEFORE_ANSWER"]], check=True)
        os.write(fd, answer.encode() + b"\n")
sys.stdout.write(text.decode("utf-8", "replace").replace("\r\n", "\n"))
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
PYTHON
    )
    status=$?
}

# on_screen ROWSxCOLUMNS STEP... -- COMMAND...: a command that draws on the whole
# terminal; screen.py has the steps. $out and $status as above.
on_screen()
{
    out=$(TERM=xterm python3 -S "$ROOT/tests/lib/screen.py" "$@")
    status=$?
}

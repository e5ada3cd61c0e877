"""star_pty.py MAPM: the prompt of `mapm star`, driven through a terminal."""
import os
import pty
import re
import select
import signal
import sys
import time

failures = 0


class Session:
    """A session on a terminal of its own."""

    def __init__(self, *options, term='xterm'):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ['TERM'] = term
            os.execv(sys.argv[1], ['mapm', 'star', *options])
        self.text = ''

    def until(self, wanted, seconds=10):
        """What came up to the pattern, without escape sequences."""
        end = time.time() + seconds
        while True:
            plain = re.sub(r'\x1b(\[[0-9;?]*[ -/]*[@-~]|[=>]|\][^\x07]*\x07)', '', self.text)
            m = re.search(wanted, plain)
            if m:
                self.text = plain[m.end():]
                return plain[:m.end()]
            ready, _, _ = select.select([self.fd], [], [], end - time.time())
            if not ready:
                raise TimeoutError('%r did not come: %r' % (wanted, plain))
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                data = b''
            if not data:
                raise EOFError('%r did not come: %r' % (wanted, plain))
            self.text += data.decode('utf-8', 'replace')

    def say(self, text):
        os.write(self.fd, text.encode())

    def ask(self, text, wanted):
        self.say(text + '\n')
        return self.until(wanted)

    def end(self):
        """Exit status, once all is read."""
        try:
            while os.read(self.fd, 65536):
                pass
        except OSError:
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def check(what, ok):
    global failures
    failures += not ok
    print('%s: %s' % ('ok' if ok else 'FAILED', what), flush=True)


def attempt(what, test, *arguments):
    try:
        test(*arguments)
        check(what, True)
    except (TimeoutError, EOFError, AssertionError) as e:
        check('%s: %s' % (what, e), False)


def talk(term):
    s = Session(term=term)
    s.until(r'Ctrl-D[^>]*>>> ')
    s.ask('1 + 2', r'\n3\r\n>>> ')
    s.ask('x = [1, "é"]', '>>> ')
    s.ask('x', r'\n\[1, "é"\]\r\n>>> ')
    s.ask('x.append(None)', r'>>> ')
    s.ask('x', r'\n\[1, "é", None\]\r\n>>> ')
    s.ask('def f(n):', r'\.\.\. ')
    s.ask('    return n * 2', r'\.\.\. ')
    s.ask('', '>>> ')
    s.ask('f(21)', r'\n42\r\n>>> ')
    s.ask('for i in range(2):', r'\.\.\. ')
    s.ask('    print(i)', r'\.\.\. ')
    s.ask('', r'\n0\r\n1\r\n>>> ')
    s.ask('y = (1,', r'\.\.\. ')
    s.ask('2)', '>>> ')
    s.ask('y', r'\n\(1, 2\)\r\n>>> ')
    s.ask('"""a', r'\.\.\. ')
    s.ask('b"""', r'\n"a\\nb"\r\n>>> ')
    s.ask('1 // 0', r'division by zero(.|\n)*>>> ')
    s.ask('nothing', r'undefined: nothing(.|\n)*>>> ')
    s.ask('x = 5', '>>> ')  # rebinding
    s.ask('x', r'\n5\r\n>>> ')
    s.ask('', '>>> ')
    s.say('\x04')
    assert s.end() == 0, 'Ctrl-D is no failure'


def interrupts(term):
    s = Session(term=term)
    s.until('>>> ')
    s.say('half of a li')
    s.until('half of a li')
    s.say('\x03')
    s.until(r'\n>>> ')
    s.ask('[0 for a in range(1 << 40) if a < 0] == (', r'\.\.\. ')
    s.say('\x03')
    s.until('>>> ')
    s.say('[0 for a in range(1 << 40) if a < 0]\n')
    time.sleep(0.3)
    began = time.time()
    s.say('\x03')
    s.until('cancel(.|\n)*>>> ')
    assert time.time() - began < 1, 'a program ends at once'
    s.ask('1 + 1', r'\n2\r\n>>> ')
    s.ask('exit()', '')
    assert s.end() == 0, 'exit() is no failure'


def ends_with(number):
    """A signal that ends a session, at the prompt and in a program."""
    for program in '', '[0 for a in range(1 << 40) if a < 0]\n':
        s = Session()
        s.until('>>> ')
        s.say(program)
        time.sleep(0.2)
        os.kill(s.pid, number)
        assert s.end() == 130, 'exit status 130'


def limits():
    s = Session('--timeout', '0.3', '--max-mem', '8M')
    s.until('>>> ')
    s.ask('[0 for a in range(1 << 40) if a < 0]', r'time(.|\n)*>>> ')
    s.ask('"x" * 100000000', r'memory(.|\n)*>>> ')
    s.ask('1', r'\n1\r\n>>> ')
    s.say('\x04')
    assert s.end() == 0


def needs_program(option):
    s = Session(option)
    s.until('mapm star: %s needs a program(.|\n)*give FILE, - for standard input, or -c TEXT' % option)
    assert s.end() == 2, 'a wrong command line'


def history():
    s = Session()
    s.until('>>> ')
    s.ask('7 * 6', r'\n42\r\n>>> ')
    s.say('\x1b[A\n')  # up
    s.until(r'\n42\r\n>>> ')
    s.say('7 * 9\x01(\x05)\n')  # to the front, to the end
    s.until(r'\n63\r\n>>> ')
    s.say('\x04')
    assert s.end() == 0


signal.alarm(100)
for terminal in ('xterm', 'dumb'):
    attempt('statements on %s' % terminal, talk, terminal)
    attempt('Ctrl-C on %s' % terminal, interrupts, terminal)
attempt('SIGTERM', ends_with, signal.SIGTERM)
attempt('SIGHUP', ends_with, signal.SIGHUP)
attempt('limits', limits)
attempt('history', history)
for without_program in ('--check', '--dis', '--json'):
    attempt('%s without a program' % without_program, needs_program, without_program)
sys.exit(failures != 0)

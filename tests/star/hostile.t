#!/usr/bin/env -S python3 -S
"""Programs that are out to hurt: each ends with its own error, or finishes, in
its time and memory, and never by a signal. [row 17, row 18].

Every program runs in a process of its own with 64 MiB for values, and half a
second if its time may be what ends; the process may have 16 MiB beside that, and
half a second more of the processor. Others have a minute: machines are busy.
"""
import os
import resource
import struct
import subprocess
import sys

BUILD = os.environ.get('MAPM_BUILD') or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), '..', '..', 'build')
MEMORY, SECONDS = 64 << 20, 0.5
SANITIZED = b'__asan_init' in open(os.path.join(BUILD, 'star-serve'), 'rb').read()


def in_main(text):
    """The lines of `text` as the body of a function that is called."""
    return ('def main():\n' +
            ''.join('    %s\n' % line for line in text.split('\n')) + 'main()\n')


# name, the errors it may end with ("ok": it finishes), program
KINDS = []


def kind(name, ends, program, plain=False):
    KINDS.append((name, ends.split(), program if plain else in_main(program)))


# --- memory -----------------------------------------------------------------
kind('text doubled', 'memory', 's = "x"\nfor i in range(64): s += s')
kind('text doubled by +', 'memory', 's = "x"\nfor i in range(64): s = s + s')
kind('text repeated', 'memory', 's = "x" * (1 << 29)\nprint(len(s))')
kind('text repeated too often', 'runtime memory', 's = "x" * (1 << 62)')
kind('text repeated by a big int', 'runtime memory', 's = "abc" * (1 << 100)')
kind('bytes repeated', 'memory runtime', 's = b"ab" * (1 << 28)')
kind('list repeated', 'memory runtime', 'l = [0] * (1 << 27)')
kind('list repeated enormously', 'memory runtime', 'l = [0, 1] * (1 << 60)')
kind('tuple repeated', 'memory runtime', 't = (1, 2) * (1 << 27)')
kind('list doubled', 'memory', 'l = [1]\nfor i in range(64): l += l')
kind('list extended by itself', 'memory runtime', 'l = [1]\nfor i in range(64): l.extend(l)')
kind('list doubled by +', 'memory', 'l = [1]\nfor i in range(64): l = l + l')
kind('list grown', 'memory', 'l = []\nfor i in range(1 << 40): l.append(i)')
kind('list of a range', 'memory runtime', 'l = list(range(1 << 40))')
kind('list of an endless range', 'memory runtime', 'l = list(range((1 << 62)))')
kind('tuple of a range', 'memory runtime', 't = tuple(range(1 << 40))')
kind('sorted range', 'memory runtime', 'sorted(range(1 << 40))')
kind('reversed range', 'memory runtime', 'reversed(range(1 << 40))')
kind('enumerated range', 'memory timeout', 'enumerate(range(1 << 40))')
kind('zipped ranges', 'memory timeout', 'zip(range(1 << 40), range(1 << 40))')
kind('set of a range', 'memory timeout', 'set(range(1 << 40))')
kind('dict grown', 'memory timeout', 'd = {}\nfor i in range(1 << 40): d[i] = i')
kind('dict of texts', 'memory timeout', 'd = {}\nfor i in range(1 << 40): d[str(i)] = str(i)')
kind('dict doubled', 'memory timeout', 'd = {}\nfor i in range(1 << 30): d |= {i: d}')
kind('set grown', 'memory timeout', 's = set()\nfor i in range(1 << 40): s.add(i)')
kind('comprehension', 'memory', 'l = [i for i in range(1 << 40)]')
kind('nested comprehension', 'memory', 'l = [[j for j in range(1000)] for i in range(1 << 30)]')
kind('dict comprehension', 'memory timeout', 'd = {i: i for i in range(1 << 40)}')
kind('join', 'memory', 's = "x" * 100000\nprint(len(s.join(["y"] * 100000)))')
kind('join of one long text', 'memory', 's = "x" * 1000000\nprint(len("".join([s] * 100000)))')
kind('replace', 'memory', 's = "x" * 100000\nprint(len(s.replace("x", s)))')
kind('replace of nothing', 'memory', 's = "x" * 100000\nprint(len(s.replace("", s)))')
kind('format', 'memory', 's = "x" * 10000000\nprint(len("{0}{0}{0}{0}{0}{0}{0}{0}{0}{0}".format(s)))')
kind('%', 'memory', 's = "x" * 10000000\nprint(len("%s%s%s%s%s%s%s%s%s%s" % (s, s, s, s, s, s, s, s, s, s)))')
kind('str of a list', 'memory', 'l = ["x" * 100000] * 10000\nprint(len(str(l)))')
kind('repr of escapes', 'memory', 's = "\\x01" * 20000000\nprint(len(repr(s)))')
kind('split', 'memory', 's = "x " * 10000000\nprint(len(s.split()))')
kind('split by a letter', 'memory', 's = "xy" * 10000000\nprint(len(s.split("x")))')
kind('splitlines', 'memory', 's = "x\\n" * 10000000\nprint(len(s.splitlines()))')
kind('elems', 'ok memory', 's = "xy" * 1000000\nprint(len(list(s.elems())))')
kind('codepoints', 'memory', 's = "é" * 10000000\nprint(len(list(s.codepoints())))')
kind('title', 'ok memory timeout', 's = "ab " * 10000000\nprint(len(s.title()))')
kind('upper that grows', 'ok memory timeout', 's = "ß" * 10000000\nprint(len(s.upper()))')
kind('bytes of a list', 'ok memory', 'print(len(bytes([1] * 5000000)))')
kind('bytes of a range', 'runtime memory', 'bytes(range(1 << 40))')
kind('closures', 'memory', 'l = []\nfor i in range(1 << 40):\n    def f(): return i\n    l.append(f)')
kind('bound methods', 'memory', 'l = []\nfor i in range(1 << 40): l.append("".join)')
kind('ranges', 'memory', 'l = []\nfor i in range(1 << 40): l.append(range(i))')
kind('floats out of the word', 'memory', 'l = []\nfor i in range(1 << 40): l.append(1e300)\n')
kind('big ints', 'memory timeout', 'l = []\nfor i in range(1 << 40): l.append((1 << 500) + i)')
kind('slices', 'memory', 'l = list(range(1000000))\nk = []\nfor i in range(1000): k.append(l[i:])')
kind('slices of text', 'memory', 's = "x" * 1000000\nk = []\nfor i in range(1000): k.append(s[i:])')
kind('named arguments', 'memory timeout ok', 'def f(**kw): return kw\nk = []\nfor i in range(1 << 30): k.append(f(a = i, b = i, c = i))')
kind('arguments', 'memory', 'def f(*a): return a\nl = list(range(100000))\nk = []\nfor i in range(1 << 30): k.append(f(*l))')
kind('printing', 'output', 's = "x" * 1000000\nfor i in range(1 << 30): print(s)')
kind('printing lines', 'output timeout', 'for i in range(1 << 40): print(i)')
kind('a failure with a long text', 'runtime', 'fail("x" * 30000000)')
kind('a failure with a long list', 'runtime memory', 'fail([0] * 1000000)')

# --- garbage: harmless, and must finish ----------------------------------------
kind('garbage: texts', 'ok timeout', 'n = 0\nfor i in range(3000):\n    n += len("x" * 1000000)\nprint(n)')
kind('garbage: lists', 'ok timeout', 'n = 0\nfor i in range(1000):\n    n += len([i] * 100000)\nprint(n)')
kind('garbage: small lists', 'ok timeout', 'for i in range(1000000): x = [i, i]')
kind('garbage: small dicts', 'ok timeout', 'for i in range(300000): x = {"a": i, "b": [i]}')
kind('garbage: tuples', 'ok timeout', 'for i in range(1000000): x = (i, i)')
kind('garbage: big ints', 'ok timeout', 'x = 1\nfor i in range(300000): x = (x * 3) % (1 << 400)')
kind('garbage: closures', 'ok timeout', 'for i in range(300000):\n    def f(): return i\n    f()')
kind('garbage: growing texts', 'ok timeout', 'for i in range(30):\n    s = ""\n    for j in range(20000): s += "abcdefgh"')
kind('garbage: cycles', 'ok timeout', 'for i in range(300000):\n    l = []\n    l.append(l)')
kind('garbage: of mixed sizes', 'ok timeout', 'k = []\nfor i in range(200000):\n    k.append("x" * (i % 700))\n    if len(k) > 1000: k = k[500:]')
kind('garbage: sizes one after the other', 'ok timeout', 'for n in range(1, 60):\n    k = ["x" * (n * 16 + j % 2) for j in range(20000)]')

# --- time ------------------------------------------------------------------------
kind('an endless loop', 'timeout', 'for i in range(1 << 62): pass')
kind('loops in loops', 'timeout', 'for a in range(1 << 30):\n    for b in range(1 << 30):\n        pass')
kind('calls', 'timeout', 'def f(): pass\nfor i in range(1 << 62): f()')
kind('a comprehension that keeps nothing', 'timeout', 'x = [0 for i in range(1 << 62) if i < 0]')
kind('sum of a range', 'timeout', 'x = max(range(1 << 62))')
kind('min with a key', 'timeout', 'x = min(range(1 << 62), key = lambda x: -x)')
kind('all', 'timeout', 'x = all(range(1, 1 << 62))')
kind('any', 'timeout', 'l = [0] * 1000000\nfor i in range(1 << 40): any(l)')
kind('in a list', 'timeout', 'l = [0] * 1000000\nfor i in range(1 << 40): 1 in l')
kind('in a long text', 'timeout ok', 's = "a" * 10000000\nfor i in range(100000): "b" in s')
kind('find, quadratic', 'timeout ok', 's = "a" * 4000000\nn = "a" * 2000000 + "b"\nprint(s.find(n))')
kind('rfind, quadratic', 'timeout ok', 's = "a" * 4000000\nn = "b" + "a" * 2000000\nprint(s.rfind(n))')
kind('count, quadratic', 'timeout ok', 's = "a" * 4000000\nn = "a" * 2000000 + "b"\nprint(s.count(n))')
kind('replace, quadratic', 'timeout ok', 's = "ab" * 2000000\nn = "ab" * 1000000 + "c"\nprint(len(s.replace(n, "")))')
kind('index of a list', 'timeout', 'l = list(range(1000000))\nfor i in range(1 << 40): l.index(999999)')
kind('list equality', 'timeout', 'a = [0] * 1000000\nb = [0] * 1000000\nfor i in range(1 << 40): a == b')
kind('text equality', 'timeout', 'a = "a" * 10000000\nb = "a" * 9999999 + "a"\nfor i in range(1 << 40): a == b')
kind('sorting', 'timeout memory', 'l = [(i * 7919) % 1000003 for i in range(300000)]\nfor i in range(1 << 40): sorted(l)')
kind('sorting texts', 'timeout memory', 'l = ["a" * 1000 + str(i) for i in range(10000)]\nfor i in range(1 << 40): sorted(l, reverse = True)')
kind('insert in front', 'timeout memory', 'l = [0] * 1000000\nfor i in range(1 << 40): l.insert(0, i)')
kind('pop in front', 'timeout ok', 'l = [0] * 2000000\nfor i in range(2000000): l.pop(0)')
kind('remove', 'timeout ok', 'l = list(range(200000))\nfor i in range(200000): l.remove(199999 - i)')
kind('dict.pop in front', 'ok timeout', 'd = {i: i for i in range(200000)}\nfor i in range(200000): d.popitem()')
kind('keys that collide in the low bits', 'ok timeout', 'd = {}\nfor i in range(60000): d[i << 32] = i\nprint(len(d))')
kind('keys that collide in the high bits', 'ok timeout', 'd = {}\nfor i in range(60000): d[i << 52] = i\nprint(len(d))')
kind('float keys', 'ok timeout', 'd = {}\nfor i in range(60000): d[i * 0.5] = i\nprint(len(d))')
kind('tuple keys', 'ok timeout', 'd = {}\nfor i in range(60000): d[(i, 0 - i)] = i\nprint(len(d))')
kind('big int multiplied', 'runtime timeout memory', 'x = (1 << 511) + 1\nfor i in range(1000): x = x * x')
kind('big int to text', 'ok timeout runtime', 'x = int("7" * 19000)\nprint(len(str(x)))')
kind('text to big int', 'ok timeout runtime', 'x = int("9" * 4000000)')
kind('hex to big int', 'ok timeout runtime', 'x = int("f" * 4000000, 16)')
kind('big int divided', 'ok timeout runtime', 'x = int("9" * 19000)\ny = int("7" * 9000)\nfor i in range(1000): x // y')
kind('big int remainder', 'ok timeout runtime', 'x = int("9" * 19000)\ny = int("7" * 9000)\nfor i in range(1000): x % y')
kind('big int power', 'runtime timeout memory', 'x = 3\nfor i in range(100): x = x * x')
kind('big int % text', 'ok timeout runtime', 'x = int("7" * 19000)\nprint(len("%d" % x), len("%x" % x), len("%o" % x))')
kind('big int as a float', 'runtime', 'x = int("9" * 19000)\nprint(float(x))')
kind('big int compared', 'ok timeout', 'x = int("9" * 19000)\ny = x + 1\nfor i in range(1000): x < y')
kind('bit operations on big ints', 'timeout ok', 'x = int("9" * 19000)\nfor i in range(100000): x & (x | 5)')
kind('shift', 'runtime', 'x = 1 << (1 << 40)')
kind('shift by a big int', 'runtime', 'x = 1 << (1 << 100)')
kind('case of long texts', 'timeout', 's = "éA" * 1000000\nfor i in range(1 << 40): s.upper().lower().title()')
kind('strip', 'timeout', 's = " " * 10000000\nfor i in range(1 << 40): s.strip()')
kind('strip of many', 'timeout', 's = "é" * 100000\nc = "".join([chr(i) for i in range(1000, 3000)]) + "é"\nfor i in range(1 << 40): s.strip(c)')
kind('startswith of many', 'timeout', 't = ("x" * 1000,) * 100000\ns = "x" * 999 + "y"\nfor i in range(1 << 40): s.startswith(t)')
kind('hash', 'timeout', 's = "x" * 10000000\nfor i in range(1 << 40): hash(s)')
kind('zip of nothing', 'timeout', 'l = [[]] * 1000000\nfor i in range(1 << 40): zip(*l)')
kind('set operations', 'timeout memory', 's = set(range(100000))\nt = set(range(50000, 150000))\nfor i in range(1 << 40): s | t & s')
kind('join of empty texts', 'timeout', 'l = [""] * 1000000\nfor i in range(1 << 40): "".join(l)')
kind('float to text', 'timeout', 'l = [1.1 * i for i in range(100000)]\nfor i in range(1 << 40): str(l)')
kind('text to float', 'runtime timeout', 's = "1" * 1000000\nfor i in range(10000): float(s)')

# --- depth ----------------------------------------------------------------------------
kind('a list in a list ...', 'ok', 'l = []\nfor i in range(100000): l = [l]')
kind('... printed', 'depth', 'l = []\nfor i in range(100000): l = [l]\nprint(l)')
kind('... compared', 'depth runtime', 'a, b = [], []\nfor i in range(100000):\n    a = [a]\n    b = [b]\nprint(a == b)')
kind('... ordered', 'depth runtime', 'a, b = [], []\nfor i in range(100000):\n    a = [a]\n    b = [b]\nprint(a < b)')
kind('a tuple in a tuple hashed', 'depth', 't = ()\nfor i in range(100000): t = (t,)\nd = {t: 1}')
kind('a dict in a dict printed', 'depth', 'd = {}\nfor i in range(100000): d = {1: d}\nprint(d)')
kind('a closure in a closure', 'depth', 'f = len\nfor i in range(100000):\n    f = (lambda g: lambda x: g(x))(f)\nf([])' if False else
     'def wrap(g):\n    return lambda x: g(x)\nf = len\nfor i in range(100000): f = wrap(f)\nf([])')
KINDS[-1][1].append('runtime')  # recursion: the same lambda again
kind('cyclic lists compared', 'depth runtime', 'a, b = [], []\na.append(a)\nb.append(b)\nprint(a == b)')
kind('cyclic dicts compared', 'depth runtime', 'a, b = {}, {}\na[1] = a\nb[1] = b\nprint(a == b)')
kind('cyclic list printed', 'ok', 'a = []\na.append(a)\nprint(a, [a, a])')
kind('shared lists printed', 'memory timeout', 'l = [0]\nfor i in range(150): l = [l, l]\nprint(len(str(l)))')
kind('shared lists compared', 'timeout depth', 'a, b = [0], [0]\nfor i in range(150):\n    a = [a, a]\n    b = [b, b]\nprint(a == b)')
kind('shared tuples hashed', 'timeout ok', 't = (0,)\nfor i in range(150): t = (t, t)\nd = {t: 1}')
kind('shared tuples compared', 'timeout depth ok', 'a, b = (0,), (0,)\nfor i in range(150):\n    a = (a, a)\n    b = (b, b)\nprint(a == b)')
kind('recursion', 'runtime', 'def f(): return f()\nf()', plain=True)
kind('recursion through sorted', 'runtime', 'def f(x): return sorted([1], key = f)\nf(1)', plain=True)
kind('many functions inside each other', 'depth',
     'def f0(): return 1\n' + ''.join('def f%d(): return f%d()\n' % (i, i - 1) for i in range(1, 2000)) + 'f1999()\n', plain=True)
kind('many calls through sorted', 'depth',
     'def f0(x): return 1\n' + ''.join('def f%d(x): return sorted([1], key = f%d)\n' % (i, i - 1) for i in range(1, 2000)) + 'f1999(1)\n', plain=True)

# --- sources ----------------------------------------------------------------------------
for what, text in (('brackets', '[' * 60000), ('parentheses', '(' * 60000), ('braces', '{' * 60000),
                   ('closed brackets', '[' * 30000 + ']' * 30000), ('calls', 'len(' * 10000),
                   ('minus', '-' * 60000 + '1'), ('not', 'not ' * 15000 + '1'), ('lambda', 'lambda: ' * 7500 + '1'),
                   ('conditions', '1 if 1 else ' * 5000 + '1'), ('indexes of indexes', 'x[' * 30000),
                   ('dicts', '{1: ' * 15000), ('tilde', '~' * 60000 + '1'),
                   ('comprehensions', '[x for x in [' * 5000 + ']]' * 5000)):
    kind('source: ' + what, 'static', 'x = ' + text + '\n', plain=True)
kind('source: blocks', 'static', ''.join(' ' * i + 'if 1:\n' for i in range(340)) + ' ' * 340 + 'pass\n', plain=True)
kind('source: functions', 'static', ''.join(' ' * i + 'def f():\n' for i in range(340)) + ' ' * 340 + 'pass\n', plain=True)
kind('source: a long sum', 'ok', 'x = ' + '1 + ' * 16000 + '1\nprint(x)\n', plain=True)
kind('source: a long sum of texts', 'ok', 'a = "x"\nx = ' + 'a + ' * 16000 + 'a\nprint(len(x))\n', plain=True)
kind('source: a long or', 'ok static', 'x = ' + '0 or ' * 12000 + '1\nprint(x)\n', plain=True)
kind('source: a chain of dots', 'runtime', 'x = ""' + '.upper' * 9000 + '\n', plain=True)
kind('source: a chain of calls', 'runtime', 'x = len' + '()' * 30000 + '\n', plain=True)
kind('source: elif', 'ok', 'def f(x):\n    if x == 0: return 0\n' + ''.join('    elif x == %d: return %d\n' % (i, i) for i in range(2000)) + 'print(f(1999))\n', plain=True)
kind('source: 70,000 variables', 'ok static', in_main('\n'.join('v%d = %d' % (i, i) for i in range(30000)) + '\nprint(v29999)'), plain=True)
kind('source: 30,000 items', 'ok', 'x = [' + '1,' * 30000 + ']\nprint(len(x))\n', plain=True)
kind('source: 5,000 arguments', 'ok', 'def f(*a): return len(a)\nprint(f(' + '1,' * 5000 + '))\n', plain=True)
kind('source: 3,000 parameters', 'ok static', 'def f(' + ','.join('a%d' % i for i in range(3000)) + '): return a2999\nprint(f(*range(3000)))\n', plain=True)
kind('source: a NUL', 'static', 'x = 1\0\n', plain=True)
kind('source: no UTF-8', 'static', b'x = "\xff\xfe"\n', plain=True)
kind('source: half a character at the end', 'static', b'x = "\xf0\x9f', plain=True)
kind('source: only a backslash', 'static', '\\', plain=True)
kind('source: random bytes', 'static', bytes((i * 7919 + i // 3) % 251 for i in range(5000)), plain=True)
kind('source: control characters', 'static', '\x01\x02\x03\x1b[31m\n', plain=True)
kind('source: a huge number', 'ok static runtime', 'x = ' + '9' * 60000 + '\nprint(x % 7)\n', plain=True)
kind('source: a huge exponent', 'static', 'x = 1e' + '9' * 60000 + '\n', plain=True)
kind('source: a long name', 'ok static', 'x' * 60000 + ' = 1\n', plain=True)
kind('source: many errors', 'static', 'x = a b\n' * 8000, plain=True)
kind('source: many unknown names', 'static', ''.join('x%d = unknown%d\n' % (i, i) for i in range(3000)), plain=True)
kind('source: too long', 'static', '#' * (3 << 20), plain=True)
kind('source: a long line', 'static', 'x = "' + 'a' * 60000 + '\n', plain=True)

# --- what locks must stop --------------------------------------------------------------------
kind('a list changed by its loop', 'runtime', 'l = [1]\nfor x in l: l.append(x)')
kind('a dict changed by its loop', 'runtime', 'd = {1: 1}\nfor x in d: d[x + 1] = 1')
kind('a set changed by its loop', 'runtime', 's = set([1])\nfor x in s: s.add(x + 1)')
kind('a list changed by its sorting', 'runtime', 'l = [2, 1]\nsorted(l, key = lambda x: l.append(x))')
kind('a list changed by max', 'runtime', 'l = [2, 1]\nmax(l, key = lambda x: l.clear())')
kind('a list changed by its comprehension', 'runtime', 'l = [2, 1]\nx = [l.pop() for y in l]')
kind('a list extended by a loop over it', 'runtime', 'l = [1]\nfor x in l: l += [1]')

TEXTS = {'memory': 'memory', 'steps': 'step', 'timeout': 'tim', 'depth': 'deep|nested|depth', 'output': 'printed more than'}


def used():
    u = resource.getrusage(resource.RUSAGE_CHILDREN)
    return u.ru_utime + u.ru_stime


def run(program, limit):
    """(status, report, seconds of the processor, peak bytes) of one process."""
    if isinstance(program, str):
        program = program.encode()
    begun = used()
    p = subprocess.Popen([os.path.join(BUILD, 'star-serve'), '--max-mem', '64M', '--max-output', '8M',
                          '--timeout', str(limit)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, _ = p.communicate(struct.pack('>I', len(program)) + program)
    seconds = used() - begun
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
    if p.returncode != 0 or len(out) < 8:
        return p.returncode or -1, '', seconds, peak
    status, length = struct.unpack('>II', out[:8])
    error = out[8 + length + 4:].decode('utf-8', 'replace')
    return status, error, seconds, peak


def judge(status, error, ends):
    import re
    if status == 0:
        return None if 'ok' in ends else 'it finished'
    if status != 1:
        return 'it ended with status %d' % status
    for end in ends:
        if end in TEXTS and re.search(TEXTS[end], error.lower()):
            return None
        if end == 'runtime' and error.startswith('Traceback'):
            return None
        if end == 'static' and error and not error.startswith('Traceback'):
            return None
    return 'it ended with: ' + error[-300:]


def main():
    bad = 0
    allowed = MEMORY + (16 << 20)
    print('1..%d' % (len(KINDS) + 2))
    worst = 0
    for number, (name, ends, program) in enumerate(KINDS, 1):
        limit = SECONDS if 'timeout' in ends else 60
        status, error, seconds, peak = run(program, limit)
        why = judge(status, error, ends)
        if why is None and seconds > limit + (5 if SANITIZED else 0.5):
            why = 'it took %.1f s' % seconds
        if why is None and len(error) > 100000:
            why = 'its report has %d bytes' % len(error)
        bad += why is not None
        print('%sok %d - %s' % ('not ' if why else '', number, name))
        if why:
            print('# ' + why.replace('\n', '\n# '))
        if peak > worst:
            worst = peak
            if peak > allowed and not SANITIZED:
                print('# peak %d bytes' % peak)
    good = SANITIZED or worst <= allowed
    print('%sok %d - none of them takes more than 80 MiB (%d)' % ('' if good else 'not ', len(KINDS) + 1, worst))
    many = len(KINDS) >= 100
    print('%sok %d - at least 100 kinds' % ('' if many else 'not ', len(KINDS) + 2))
    return bad > 0 or not good or not many


sys.exit(main())

"""Talks to build/star-serve: hundreds of Starlark programs a second."""
import os
import re
import struct
import subprocess


class Serve:
    """One driver process; `run` gives (ok, stdout, stderr) as bytes."""

    def __init__(self, binary=None, *options):
        build = os.environ.get('MAPM_BUILD') or os.path.join(
            os.path.dirname(__file__), '..', '..', 'build')
        self.command = [binary or os.path.join(build, 'star-serve'), *options]
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def read(self, count):
        data = self.process.stdout.read(count)
        if len(data) != count:
            raise EOFError('star-serve ended: %s' % self.process.wait())
        return data

    def text(self):
        return self.read(struct.unpack('>I', self.read(4))[0])

    def run(self, program):
        if isinstance(program, str):
            program = program.encode('utf-8', 'surrogateescape')
        self.process.stdin.write(struct.pack('>I', len(program)) + program)
        self.process.stdin.flush()
        status = struct.unpack('>I', self.read(4))[0]
        out = self.text()
        return status == 0, out, self.text()

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


class Chunk:
    """Part of a file between two lines "---", its lines numbered as there."""

    def __init__(self, first, lines):
        self.first, self.lines = first, lines

    def program(self):
        return '\n' * (self.first - 1) + '\n'.join(self.lines) + '\n'

    def is_empty(self):
        return not any(line.split('#')[0].strip() for line in self.lines)


def chunks(path):
    """The chunks of a file. Bytes that are no UTF-8 pass through."""
    with open(path, encoding='utf-8', errors='surrogateescape', newline='') as f:
        lines = f.read().split('\n')
    first, held = 1, []
    for number, line in enumerate(lines, 1):
        if line.rstrip() == '---':
            yield Chunk(first, held)
            first, held = number + 1, []
        else:
            held.append(line)
    yield Chunk(first, held)


def matches(pattern, text):
    try:
        return re.search(pattern, text) is not None
    except re.error:
        return pattern in text

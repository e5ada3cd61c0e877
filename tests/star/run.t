#!/usr/bin/env -S python3 -S
"""Runs tests/star/*.star: the language, as data.

A file is cut into programs by lines of "---". A program says itself what is
expected of it:

    # row 1: strings are bytes        its name: its first comment
    print(len("é"))
    #> 2                              a line it prints
    1 // 0  ### division by zero      it fails on this line, with this text
    #? did you mean                   and somewhere in the report is this text

The texts of "###" and "#?" are regular expressions, and what is printed is
compared byte for byte. A program without "###" must succeed. Several "###" are
static errors: all of them are reported, and no others.
"""
import glob
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, '..', 'lib'))
import star  # noqa: E402

OPTIONS = os.environ.get('STAR_OPTIONS', '--max-mem 64M --max-steps 20000000 --verify').split()
PLACE = re.compile(r'^\s*[^\s:]+:(\d+):\d+: (.*)$')


def problems(chunk, ok, out, err):
    printed, errors, texts, number = [], [], [], chunk.first
    for line in chunk.lines:
        if line.startswith('#> '):
            printed.append(line[3:])
        elif line == '#>':
            printed.append('')
        elif line.startswith('#? '):
            texts.append(line[3:])
        elif '### ' in line:
            errors.append((number, line.split('### ', 1)[1].strip()))
        number += 1
    want = ''.join(line + '\n' for line in printed)
    if out != want:
        yield 'printed %r' % out
        yield 'instead of %r' % want
    if ok and errors:
        yield 'it did not fail: line %d, %s' % errors[0]
    if not ok and not errors:
        yield 'it failed'
    if not ok and errors and err.startswith('Traceback'):
        line, text = errors[0]
        places = [m.group(1) for m in map(PLACE.match, err.splitlines()) if m]
        if str(line) not in places:
            yield 'it failed elsewhere than on line %d' % line
        if not star.matches(text, err):
            yield 'the error does not match %r' % text
    elif not ok and errors:
        got = [m for m in map(PLACE.match, err.splitlines()) if m]
        for line, text in errors:
            if not any(m.group(1) == str(line) and star.matches(text, m.group(2))
                       for m in got):
                yield 'no error on line %d that matches %r' % (line, text)
        if len(got) > len(errors):
            yield 'more errors than expected'
    for text in texts:
        if not star.matches(text, err):
            yield 'the report has no %r' % text


def name_of(path, chunk):
    title = next((line.lstrip('# ') for line in chunk.lines
                  if line.startswith('# ')), '')
    where = '%s:%d' % (os.path.basename(path), chunk.first)
    return '%s: %s' % (where, title) if title else where


def main():
    serve, number, failed = star.Serve(None, *OPTIONS), 0, 0
    for path in sorted(sys.argv[1:] or glob.glob(os.path.join(here, '*.star'))):
        for chunk in star.chunks(path):
            if chunk.is_empty():
                continue
            number += 1
            try:
                ok, out, err = serve.run(chunk.program())
                out = out.decode('utf-8', 'surrogateescape')
                err = err.decode('utf-8', 'surrogateescape')
                found = list(problems(chunk, ok, out, err))
            except EOFError as why:
                found, err = [str(why)], ''
                serve.start()
            failed += bool(found)
            print('%sok %d - %s' % ('not ' if found else '', number,
                                    name_of(path, chunk)))
            if found:
                for line in found + err.splitlines():
                    print('# ' + line)
    print('1..%d' % number)
    serve.close()
    return failed > 0


sys.stdout.reconfigure(errors='backslashreplace')
sys.exit(main())

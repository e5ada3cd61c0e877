"""unpack_cases.py FILE FOLDER: the cases of tests/cases/check/codes.txt, each
in a folder of its own; prints "NUMBER CODE LEVEL PROFILE" for each."""

import os
import re
import sys

source, top = sys.argv[1:]
case, path, lines, number = None, None, [], 0


def expand(text):
    text = re.sub(r"\{\{(.+?)\*(\d+)(\|?)\}\}",
                  lambda m: (m[1] + ("\n" if m[3] else "")) * int(m[2]), text)
    return text.replace("{{-}}\n", "")


def to_bytes(text):
    return re.sub(rb"\\x([0-9a-f]{2})", lambda m: bytes([int(m[1], 16)]), text.encode())


def place(name):
    full = os.path.join(case, expand(name))
    os.makedirs(os.path.dirname(full), exist_ok=True)
    return full


def finish():
    global path
    if path:
        with open(place(path), "wb") as f:
            f.write(to_bytes(expand("".join(line + "\n" for line in lines))))
    path = None


for line in open(source, encoding="utf-8").read().splitlines():
    word, _, rest = line.partition(" ")
    if word == "#:":
        continue
    if word not in ("==", "@", "@link", "@dir", "@fifo"):
        lines.append(line)
        continue
    finish()
    if word == "==":
        number += 1
        case = os.path.join(top, str(number))
        os.makedirs(case)
        print(number, rest)
    elif word == "@":
        path, lines = rest, []
    elif word == "@link":
        name, target = rest.split(" ")
        os.symlink(target, place(name))
    elif word == "@dir":
        os.makedirs(place(rest), exist_ok=True)
    elif word == "@fifo":
        os.mkfifo(place(rest))
finish()

#!/usr/bin/env python3
"""archives.py FOLDER - archives for the readers of mapm-fetch.

Writes FOLDER/good-*.zip|tar.gz, each of the same skill, and FOLDER/bad-*, each
with one thing that none may hold. [W6, W7, row 45]
"""
import gzip
import io
import os
import struct
import sys
import tarfile
import zipfile
import zlib

OUT = sys.argv[1]
SKILL = b"---\nname: packed\ndescription: Comes in an archive.\n---\nRun scripts/x.\n"
SCRIPT = b"#!/bin/sh\necho x\n"


def write(name, data):
    with open(os.path.join(OUT, name), "wb") as f:
        f.write(data)


class Zip:
    """A zip by hand, so that each field can be wrong."""

    def __init__(self):
        self.body, self.directory, self.count = b"", b"", 0

    def add(self, name, data=b"", method=0, mode=0o100644, flags=0x800, packed=None, crc=None,
            size=None, local_name=None, local_size=None, made_by=3, extra=b"", local_extra=b"",
            descriptor=None, at=None, gap=b"", local_flags=None):
        name = name.encode() if isinstance(name, str) else name
        if packed is None:
            z = zlib.compressobj(9, zlib.DEFLATED, -15)
            packed = z.compress(data) + z.flush() if method == 8 else data
        crc = zlib.crc32(data) if crc is None else crc
        size = len(data) if size is None else size
        later = descriptor is not None
        flags |= 8 if later else 0
        self.body += gap
        at = len(self.body) if at is None else at
        own = local_name.encode() if local_name else name
        fields = (0, 0, 0) if later else (crc, len(packed), size if local_size is None else local_size)
        self.body += struct.pack("<IHHHIIIIHH", 0x04034b50, 20,
                                 flags if local_flags is None else local_flags, method, 0x210000,
                                 *fields, len(own), len(local_extra)) + own + local_extra + packed
        if later:
            self.body += descriptor + struct.pack("<III", crc, len(packed), size)
        self.directory += struct.pack("<IHHHHIIIIHHHHHII", 0x02014b50, made_by << 8 | 20, 20, flags,
                                      method, 0x210000, crc, len(packed), size, len(name),
                                      len(extra), 0, 0, 0, mode << 16, at) + name + extra
        self.count += 1
        return self

    def end(self, count=None, comment=b"", before=b"", after=b"", disk=0, shift=0):
        count = self.count if count is None else count
        return (before + self.body + self.directory +
                struct.pack("<IHHHHIIH", 0x06054b50, disk, 0, count, count, len(self.directory),
                            len(self.body) + shift, len(comment)) + comment + after)


def skill_zip():
    return Zip().add("SKILL.md", SKILL)


def pair(**how):
    return skill_zip().add("scripts/x", SCRIPT, **how).end()


good_zip = skill_zip().add("scripts/x", SCRIPT, mode=0o100755).end()
write("good-stored.zip", good_zip)
write("good-deflated.zip", Zip().add("SKILL.md", SKILL, 8).add("scripts/x", SCRIPT, 8, 0o100755).end())
write("good-descriptor.zip", Zip().add("SKILL.md", SKILL, 8, descriptor=b"PK\x07\x08")
      .add("scripts/x", SCRIPT, 8, 0o100755, descriptor=b"").end())
write("good-folders.zip", Zip().add("scripts/", mode=0o40755).add("SKILL.md", SKILL)
      .add("scripts/x", SCRIPT, mode=0o100755).end(comment=b"of no use"))
python = io.BytesIO()
with zipfile.ZipFile(python, "w", zipfile.ZIP_DEFLATED) as z:
    for name, data, mode in (("SKILL.md", SKILL, 0o644), ("scripts/x", SCRIPT, 0o755)):
        info = zipfile.ZipInfo(name)
        info.external_attr = (0o100000 | mode) << 16
        info.compress_type = zipfile.ZIP_DEFLATED
        z.writestr(info, data)
write("good-python.zip", python.getvalue())

LINK, FIFO, FILE = 0o120777, 0o10644, 0o100644
BAD_ZIP = {
    "climb": pair() and skill_zip().add("../x", SCRIPT).end(),
    "absolute": skill_zip().add("/etc/x", SCRIPT).end(),
    "backslash": skill_zip().add("a\\b", SCRIPT).end(),
    "inner-climb": skill_zip().add("a/../../x", SCRIPT).end(),
    "dot": skill_zip().add("./x", SCRIPT).end(),
    "empty-part": skill_zip().add("a//x", SCRIPT).end(),
    "git": skill_zip().add(".git/config", SCRIPT).end(),
    "nul": skill_zip().add(b"a\0b", SCRIPT).end(),
    "control": skill_zip().add("a\x1b[31m", SCRIPT).end(),
    "latin": skill_zip().add(b"\xe4", SCRIPT, flags=0).end(),
    "not-utf8": skill_zip().add(b"\xe4", SCRIPT).end(),
    "long-name": skill_zip().add("d/" * 200 + "x", SCRIPT).end(),
    "deep": skill_zip().add("d/" * 40 + "x", SCRIPT).end(),
    "link": pair(mode=LINK),
    "fifo": pair(mode=FIFO),
    "setuid": pair(mode=0o104755),
    "twice": skill_zip().add("a", SCRIPT).add("a", SCRIPT).end(),
    "case": skill_zip().add("A/x", SCRIPT).add("a/y", SCRIPT).end(),
    "case-entry": skill_zip().add("skill.MD", SCRIPT).end(),
    "file-and-folder": skill_zip().add("a", SCRIPT).add("a/b", SCRIPT).end(),
    "encrypted": pair(flags=0x801),
    "strong": pair(flags=0x841),
    "method": pair(method=12),
    "crc": pair(crc=7),
    "size": Zip().add("SKILL.md", SKILL, 8, size=7).end(),
    "size-more": Zip().add("SKILL.md", SKILL, 8, size=len(SKILL) + 1).end(),
    "stored-size": pair(size=3),
    "behind-data": Zip().add("SKILL.md", SKILL, 8, packed=Zip and (
        lambda z: z.compress(SKILL) + z.flush() + b"x")(zlib.compressobj(9, 8, -15))).end(),
    "two-names": pair(local_name="scripts/y"),
    "two-sizes": pair(local_size=3),
    "two-flags": pair(local_flags=0x802),
    "gap": pair(gap=b"something"),
    "overlap": skill_zip().add("a", SKILL, at=0).end(),
    "before": skill_zip().end(before=b"#!/bin/sh\n"),
    "after": skill_zip().end(after=b"x"),
    "zip64-extra": pair(extra=struct.pack("<HHQ", 1, 8, 1 << 40)),
    "zip64-local": pair(local_extra=struct.pack("<HHQ", 1, 8, 1 << 40)),
    "second-name": pair(extra=struct.pack("<HHBI", 0x7075, 5, 1, 0)),
    "zip64": skill_zip().end(count=0xffff),
    "fewer": skill_zip().add("a", SCRIPT).end(count=1),
    "more": skill_zip().end(count=2),
    "shift": skill_zip().end(shift=5),
    "disk": skill_zip().end(disk=1),
    "no-end": good_zip[:-22],
    "cut": good_zip[:60],
    "empty": Zip().end(),
    "no-skill": Zip().add("README.md", SKILL).end(),
    "wrapper": Zip().add("packed/SKILL.md", SKILL).end(),
    "folder-data": skill_zip().add("d/", b"data!", mode=0o40755).end(),
    "descriptor": Zip().add("SKILL.md", SKILL, 8, descriptor=b"junkjunk").end(),
    "bomb": Zip().add("SKILL.md", SKILL).add("zeros", b"\0" * (20 << 20), 8).end(),
    "large": Zip().add("SKILL.md", SKILL).add("zeros", b"\0" * (40 << 20), 8).end(),
    "many": (lambda z: [z.add(f"f{i}") for i in range(5001)] and z)(skill_zip()).end(),
    "nested": None,
}
del BAD_ZIP["nested"]
for name, data in BAD_ZIP.items():
    write(f"bad-{name}.zip", data)


def header(name, size=0, type=b"0", mode=b"0000644", magic=b"ustar\0" + b"00", link=b"", prefix=b"",
           checksum=None):
    name = name.encode() if isinstance(name, str) else name
    h = (name.ljust(100, b"\0") + mode.ljust(8, b"\0") + b"0000000\0" * 2 +
         (b"%011o\0" % size if isinstance(size, int) else size) + b"00000000000\0" + b" " * 8 + type +
         link.ljust(100, b"\0") + magic + b"\0" * 64 + b"0000000\0" * 2 + prefix.ljust(155, b"\0")).ljust(512, b"\0")
    total = sum(h) if checksum is None else checksum
    return h[:148] + b"%06o\0 " % total + h[156:]


def entry(name, data=b"", **how):
    return header(name, len(data), **how) + data + b"\0" * (-len(data) % 512)


END = b"\0" * 1024
TAR = entry("SKILL.md", SKILL)


def packed(tar):
    return gzip.compress(tar, mtime=0)


def pax(text, kind=b"x"):
    record = text.encode() + b"\n"
    n = len(record) + 3
    return entry("pax", b"%d %s" % (n if len(str(n)) == 2 else n + 1, record), type=kind)


GOOD_TAR = TAR + entry("scripts/x", SCRIPT, mode=b"0000755")
write("good-ustar.tar.gz", packed(GOOD_TAR + END))
write("good-dot.tar.gz", packed(entry("./", type=b"5", mode=b"0000755") + entry("./SKILL.md", SKILL) +
                                entry("./scripts/", type=b"5", mode=b"0000755") +
                                entry("./scripts/x", SCRIPT, mode=b"0000755") + END))
write("good-prefix.tar.gz", packed(TAR + entry("x", SCRIPT, prefix=b"scripts", mode=b"0000755") + END))
write("good-pax.tar.gz", packed(pax("comment=of no use") + GOOD_TAR + b"\0" * 10240))
LONG = entry("././@LongLink", b"scripts/x\0", type=b"L")
write("good-gnu-long.tar.gz", packed(TAR + LONG + entry("cut", SCRIPT, mode=b"0000755") + END))
write("good-pax-path.tar.gz", packed(TAR + pax("path=scripts/x") + entry("cut", SCRIPT, mode=b"0000755") + END))
write("good-mac.tar.gz", packed(pax("SCHILY.xattr.com.apple.provenance=\1") + GOOD_TAR + END))
for form, name in ((tarfile.GNU_FORMAT, "gnu"), (tarfile.PAX_FORMAT, "python")):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", format=form) as t:
        for path, data, mode in (("SKILL.md", SKILL, 0o644), ("scripts/x", SCRIPT, 0o755)):
            info = tarfile.TarInfo(path)
            info.size, info.mode = len(data), mode
            t.addfile(info, io.BytesIO(data))
    write(f"good-{name}.tar.gz", out.getvalue())

BAD_TAR = {
    "climb": entry("../x", SCRIPT), "absolute": entry("/etc/x", SCRIPT), "backslash": entry("a\\b", SCRIPT),
    "inner-climb": entry("a/../../x", SCRIPT), "git": entry(".git/config", SCRIPT),
    "control": entry("a\x1b[31m", SCRIPT), "not-utf8": entry(b"\xe4", SCRIPT),
    "deep": entry("d/" * 40 + "x", SCRIPT), "link": entry("l", type=b"2", link=b"/etc/passwd"),
    "hard-link": entry("l", type=b"1", link=b"SKILL.md"), "device": entry("d", type=b"3"),
    "block": entry("d", type=b"4"), "fifo": entry("d", type=b"6"), "setuid": entry("s", SCRIPT, mode=b"0004755"),
    "twice": entry("a", SCRIPT) * 2, "dot-twice": entry("./SKILL.md", SKILL),
    "case": entry("A", SCRIPT) + entry("a", SCRIPT), "file-and-folder": entry("a", SCRIPT) + entry("a/b", SCRIPT),
    "pax-path": pax("path=../../x") + entry("x", SCRIPT), "pax-size": pax("size=7") + entry("x", SCRIPT),
    "pax-link": pax("linkpath=/etc/x") + entry("x", SCRIPT), "sparse": entry("s", SCRIPT, type=b"S"),
    "pax-sparse": pax("GNU.sparse.major=1") + entry("x", SCRIPT), "gnu-long": entry("././@LongLink", b"a\0", type=b"L"),
    "gnu-long-climb": entry("././@LongLink", b"../x\0", type=b"L") + entry("x", SCRIPT),
    "gnu-long-twice": LONG + LONG + entry("x", SCRIPT), "two-long": LONG + pax("path=scripts/y") + entry("x", SCRIPT),
    "gnu-long-empty": entry("././@LongLink", b"\0", type=b"L") + entry("x", SCRIPT),
    "gnu-long-huge": entry("././@LongLink", b"d/" * 40000, type=b"L") + entry("x", SCRIPT),
    "pax-nul": pax("path=a\0b") + entry("x", SCRIPT), "pax-all": pax("path=a", b"g") + entry("x", SCRIPT),
    "gnu-long-link": entry("././@LongLink", b"a\0", type=b"K"), "pax-damaged": entry("pax", b"99 x=1\n", type=b"x"),
    "checksum": entry("x", SCRIPT, checksum=1), "size": header("x", 1 << 30),
    "size-base256": header("x", b"\x80" + b"\0" * 10 + b"\1"), "folder-data": entry("d", b"data", type=b"5"),
    "large": entry("zeros", b"\0" * (40 << 20)), "bomb": entry("zeros", b"\0" * (20 << 20)),
}
for name, tar in BAD_TAR.items():
    write(f"bad-{name}.tar.gz", packed(TAR + tar + END))
write("bad-no-end.tar.gz", packed(TAR))
write("bad-half-block.tar.gz", packed(TAR + b"\0" * 300))
write("bad-behind-end.tar.gz", packed(TAR + END + TAR))
write("bad-two-members.tar.gz", packed(TAR + END) * 2)
write("bad-behind-gzip.tar.gz", packed(TAR + END) + b"x")
write("bad-cut.tar.gz", packed(GOOD_TAR + END)[:-20])
write("bad-gzip-crc.tar.gz", packed(TAR + END)[:-8] + b"\0" * 8)
write("bad-no-skill.tar.gz", packed(entry("README.md", SKILL) + END))
write("bad-wrapper.tar.gz", packed(entry("packed/SKILL.md", SKILL) + END))
write("bad-many.tar.gz", packed(TAR + b"".join(header(f"f{i}") for i in range(5001)) + END))
write("bad-empty.tar.gz", packed(END))

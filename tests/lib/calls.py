"""What mapm asks of the file system, recorded by calls.so (tests/lib/calls.c), and
what a crash may leave of it.

The model of a disk. Names change in the order of the calls, and a crash keeps a
beginning of that; but to sync a folder keeps its own changes, and what these need,
also when others before them are lost. What was written to a file and not synced is
lost or kept, whatever becomes of its name. syncfs keeps all. That is weaker than
ext4, XFS and btrfs promise.
"""
import os
import signal
import struct
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MAPM = os.environ.get("MAPM") or os.path.join(ROOT, "build", "mapm")
LIBRARY = os.path.join(os.environ.get("MAPM_BUILD") or os.path.join(ROOT, "build"), "calls.so")
PATIENCE = 120


class Call:
    def __init__(self, line):
        count, self.kind, self.name, result, inode, self.path, self.more = line.split("\t")
        self.count, self.result, self.inode = int(count), int(result), int(inode)

    def __str__(self):
        return f"{self.count} {self.name} {self.path} {self.more}".rstrip()


def record(top, args, below, fault=None, **options):
    """Runs `mapm ARGS`; the process, and its calls. `top`: a folder for what is
    recorded, on the file system of the workspace."""
    log, keep = os.path.join(top, "calls"), os.path.join(top, "kept")
    os.makedirs(keep, exist_ok=True)
    for name in os.listdir(keep):
        os.remove(os.path.join(keep, name))
    for name in (log, log + ".counts"):
        if os.path.exists(name):
            os.remove(name)
    done = subprocess.run([MAPM, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=PATIENCE, env=environment(log, keep, below, fault), **options)
    return done, read(log)


def environment(log, keep, below, fault=None):
    more = dict(LD_PRELOAD=LIBRARY, CALLS_LOG=log, CALLS_KEEP=keep, CALLS_BELOW=":".join(below),
                ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0")
    if fault:
        more["CALLS_FAIL"] = fault
    return dict(os.environ, **more)


def read(log):
    if not os.path.exists(log):
        return []
    with open(log) as lines:
        return sorted((Call(line.rstrip("\n")) for line in lines), key=lambda c: c.count)


def count_of_fault(top):
    """How many calls were of the classes that CALLS_FAIL names."""
    with open(os.path.join(top, "calls.counts"), "rb") as file:
        return struct.unpack("@ll", file.read(2 * struct.calcsize("@l")))[1]


def was_killed(done):
    return done.returncode == -signal.SIGKILL


# --- the disk ---------------------------------------------------------------------

class Node:
    """A file, a folder or a link."""

    def __init__(self, inode=0):
        self.inode, self.entries, self.up, self.name = inode, {}, None, None
        self.is_dirty = False  # written, and not synced since
        self.synced = None  # the call that has its content
        self.is_new = False  # created by one of the calls

    def path(self):
        return self.name if self.up is None else os.path.join(self.up.path(), self.name)

    def within(self):
        yield self
        for one in list(self.entries.values()):
            yield from one.within()


class Change:
    """One change of names."""

    def __init__(self, call, places, node, made=None):
        self.call, self.places, self.node, self.made = call, places, node, made
        self.other = None  # what it exchanged or replaced
        self.is_kept = False  # whatever comes

    def folders(self):
        return [folder for folder, _ in self.places]

    def __str__(self):
        return str(self.call)


class Disk:
    """Calls, one after the other, on names as they are known."""

    def __init__(self):
        self.top = Node()
        self.top.name = "/"
        self.changes = []

    def take(self, calls):
        for call in calls:
            self.do(call)
        return self

    def folder(self, path):
        at = self.top
        for part in path.strip("/").split("/"):
            if part:
                at = self.entry(at, part)
        return at

    def entry(self, folder, name):
        """What was there before the first call is made when it is named."""
        if name not in folder.entries:
            self.put(folder, name, Node())
        return folder.entries[name]

    @staticmethod
    def put(folder, name, node):
        folder.entries[name] = node
        node.up, node.name = folder, name

    def place(self, path):
        up, name = os.path.split(path)
        return self.folder(up), name

    def do(self, call):
        if call.result:
            return
        act = getattr(self, "do_" + call.name, None)
        if act:
            act(call)

    def new(self, call, **facts):
        folder, name = self.place(call.path)
        node = Node()
        node.is_new = True
        self.put(folder, name, node)
        self.changes.append(Change(call, [(folder, name)], node, made=node))

    do_create = do_mkdir = do_symlink = do_link = new

    def do_write(self, call):
        node = self.folder(call.path)
        node.is_dirty = True
        node.inode = call.inode

    do_truncate = do_clone = do_write

    def do_fsync(self, call):
        node = self.folder(call.path)
        node.is_dirty = False
        node.synced = call.count
        if call.more == "d":
            for change in self.changes:
                if node in change.folders():
                    self.keep(change)

    def do_syncfs(self, call):
        for node in self.top.within():
            node.is_dirty = False
        for change in self.changes:
            change.is_kept = True

    def keep(self, change):
        """With it, what it cannot be without."""
        if change.is_kept:
            return
        change.is_kept = True
        for other in self.changes:
            if other is change:
                break
            if (set(other.places) & set(change.places) or other.node is change.node or
                    other.made in change.folders() or
                    (change.call.name == "rmdir" and change.node in other.folders())):
                self.keep(other)

    def gone(self, call):
        folder, name = self.place(call.path)
        node = self.entry(folder, name)
        del folder.entries[name]
        change = Change(call, [(folder, name)], node)
        self.changes.append(change)

    do_unlink = do_rmdir = gone

    def do_rename(self, call):
        (a, x), (b, y) = self.place(call.path), self.place(call.more)
        node = self.entry(a, x)
        change = Change(call, [(a, x), (b, y)], node)
        change.other = b.entries.get(y)
        del a.entries[x]
        self.put(b, y, node)
        self.changes.append(change)

    def do_exchange(self, call):
        (a, x), (b, y) = self.place(call.path), self.place(call.more)
        node, other = self.entry(a, x), self.entry(b, y)
        self.put(b, y, node)
        self.put(a, x, other)
        change = Change(call, [(a, x), (b, y)], node)
        change.other = other
        self.changes.append(change)

    def dirty(self):
        return [node for node in self.top.within() if node.is_dirty]

    def open_changes(self):
        return [change for change in self.changes if not change.is_kept]

    # --- a crash ---

    def cuts(self):
        """Each set of changes that may be lost, beside "none of them", where what is
        left is no beginning: so much is found by ending the process sooner."""
        open_ones = self.open_changes()
        for at, first in enumerate(open_ones):
            later = self.changes[self.changes.index(first) + 1:]
            if any(change.is_kept for change in later):
                yield open_ones[at:]

    def lose(self, changes, kept):
        """Takes `changes` back, the last one first, on the real disk: its inodes stay
        what they are. `kept`: the folder of CALLS_KEEP."""
        for change in reversed(changes):
            getattr(self, "undo_" + change.call.name)(change, kept)

    def undo_create(self, change, kept):
        folder, name = change.places[0]
        os.unlink(os.path.join(folder.path(), name))
        del folder.entries[name]

    undo_symlink = undo_link = undo_create

    def undo_mkdir(self, change, kept):
        folder, name = change.places[0]
        os.rmdir(os.path.join(folder.path(), name))
        del folder.entries[name]

    def undo_unlink(self, change, kept):
        folder, name = change.places[0]
        os.link(os.path.join(kept, str(change.call.count)), os.path.join(folder.path(), name),
                follow_symlinks=False)
        self.put(folder, name, change.node)

    def undo_rmdir(self, change, kept):
        folder, name = change.places[0]
        os.mkdir(os.path.join(folder.path(), name))
        self.put(folder, name, change.node)

    def undo_rename(self, change, kept):
        (a, x), (b, y) = change.places
        os.rename(os.path.join(b.path(), y), os.path.join(a.path(), x))
        del b.entries[y]
        self.put(a, x, change.node)
        saved = os.path.join(kept, str(change.call.count))
        if os.path.lexists(saved):
            os.link(saved, os.path.join(b.path(), y), follow_symlinks=False)
            self.put(b, y, change.other)

    def undo_exchange(self, change, kept):
        (a, x), (b, y) = change.places
        one, two = os.path.join(a.path(), x), os.path.join(b.path(), y)
        os.rename(one, one + ".aside")
        os.rename(two, one)
        os.rename(one + ".aside", two)
        self.put(a, x, change.node)
        self.put(b, y, change.other)

    def lose_data(self, kept, chosen=lambda path: True, before=lambda path: path):
        """What was written and not synced is gone: how many files. `before`: where a
        file is as it was before all calls, for one that these did not create."""
        count = 0
        for node in self.dirty():
            path = node.path()
            if os.path.isfile(path) and not os.path.islink(path) and chosen(path):
                mode = os.stat(path).st_mode & 0o777
                os.chmod(path, 0o600)
                text = b""
                if node.synced or not node.is_new:
                    with open(os.path.join(kept, str(node.synced)) if node.synced else before(path), "rb") as was:
                        text = was.read()
                with open(path, "wb") as now:
                    now.write(text)
                os.chmod(path, mode)
                count += 1
        return count

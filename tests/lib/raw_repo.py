"""raw_repo: bare git repositories of objects that git itself would not write.

    r = Repo("/path/owner/name.git")
    blob = r.add("blob", b"text")
    tree = r.tree([("100644", b"SKILL.md", blob), ("40000", b"..", other)])
    r.publish(r.skill("x", [("120000", b"link", r.add("blob", b"/etc"))]))

Nothing is checked or sorted: rows go into a tree as they are given.
"""
import hashlib
import os
import subprocess
import zlib


class Repo:
    def __init__(self, path):
        self.path = path
        subprocess.run(["git", "init", "-q", "--bare", "-b", "main", path], check=True)

    def add(self, kind, data):
        raw = b"%s %d\0" % (kind.encode(), len(data)) + data
        oid = hashlib.sha1(raw).hexdigest()
        folder = os.path.join(self.path, "objects", oid[:2])
        os.makedirs(folder, exist_ok=True)
        file = os.path.join(folder, oid[2:])
        if not os.path.exists(file):
            with open(file, "wb") as f:
                f.write(zlib.compress(raw, 1))
        return oid

    def tree(self, rows):
        return self.add("tree", b"".join(
            b"%s %s\0%s" % (mode.encode(), name, bytes.fromhex(oid)) for mode, name, oid in rows))

    def sorted_tree(self, rows):
        return self.tree(sorted(rows, key=lambda r: r[1] + (b"/" if r[0] == "40000" else b"")))

    def anchor(self, name="x", more=""):
        return self.add("blob", (f'---\nname: {name}\ndescription: "A skill of a test."\n'
                                 f"version: 1.0.0\n{more}---\n\n# {name}\n").encode())

    def skill(self, name="x", rows=(), ordered=True, more=""):
        """The tree of a repository with skills/<name>: SKILL.md and `rows`."""
        rows = [("100644", b"SKILL.md", self.anchor(name, more)), *rows]
        folder = (self.sorted_tree if ordered else self.tree)(rows)
        return self.tree([("40000", b"skills", self.tree([("40000", name.encode(), folder)]))])

    def commit(self, tree, parents=()):
        text = f"tree {tree}\n" + "".join(f"parent {p}\n" for p in parents)
        return self.add("commit", (text + "author A <a@example.org> 1700000000 +0000\n"
                                   "committer A <a@example.org> 1700000000 +0000\n\nx\n").encode())

    def ref(self, name, oid):
        file = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(file), exist_ok=True)
        with open(file, "w") as f:
            f.write(oid + "\n")

    def publish(self, tree, branch="main"):
        oid = self.commit(tree)
        self.ref("refs/heads/" + branch, oid)
        return oid

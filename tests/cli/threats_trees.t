#!/bin/sh
# Trees that no honest tool writes, put together byte by byte, and graphs that
# are too much: refused with the reason, before a byte of them is written.
# [row 1, row 2, row 3, row 4, row 11]; sections 1.1, 1.3, 7.
. "$(dirname "$0")/../lib/cli.sh"

# One repository h/<name> for each; "name|wanted|regex" per line.
PYTHONPATH=$ROOT/tests/lib PYTHONDONTWRITEBYTECODE=1 python3 -S - "$T/repos/h" >"$T/list" <<'PYTHON' || broken 'the repositories could not be made'
import os, sys
from raw_repo import Repo
root = sys.argv[1]
os.makedirs(root)

def case(name, want, regex, rows=(), ordered=True, build=None, more=""):
    r = Repo(os.path.join(root, name + ".git"))
    rows = rows(r) if callable(rows) else rows
    r.publish(build(r) if build else r.skill("x", rows, ordered, more))
    print(f"{name}|{want}|{regex}")

def file(name, mode="100644"):
    return lambda r: [(mode, name, r.add("blob", b"evil\n"))]

def link(to, name=b"link"):
    return lambda r: [("120000", name, r.add("blob", to))]

# [row 1] names
NAMES = {
    "dot": b".", "dotdot": b"..", "git": b".git", "git-case": b".GiT", "git-ntfs": b"git~1",
    "git-dot": b".git.", "git-space": b".git ", "git-stream": b".git::$INDEX_ALLOCATION",
    "git-hfs": ".g\u200cit".encode(), "git-hfs2": ".gi\ufefft".encode(), "slash": b"a/../../x",
    "absolute": b"/etc", "backslash": b"..\\x", "colon": b"a:b", "star": b"a*", "question": b"a?",
    "quote": b'a"b', "angle": b"a<b", "pipe": b"a|b", "newline": b"a\nb", "tab": b"a\tb",
    "esc": b"\x1b[31mred", "c1": "\u0085x".encode(), "del": b"a\x7f", "bad-utf8": b"\xff\xfe",
    "overlong": b"\xc0\xae\xc0\xae", "surrogate": b"\xed\xa0\x80", "device": b"con", "device-ext": b"NUL.txt",
    "device-com": b"com1", "trailing-dot": b"a.", "trailing-space": b"a ", "long": b"n" * 256,
    "very-long": b"n" * 5000, "bidi": "a\u202eb".encode(), "tag": "a\U000e0041".encode(),
    "variation": "a\U000e0101".encode(), "isolate": "a\u2066b".encode(),
}
for key, name in NAMES.items():
    case("name-" + key, "no", "name", file(name))
    if key in ("dotdot", "git", "git-case", "esc", "device"):
        case("folder-" + key, "no", "name", lambda r, n=name: [
            ("40000", n, r.tree([("100644", b"x", r.add("blob", b"evil\n"))]))])
case("name-255", "yes", "", file(b"n" * 255))
case("name-unicode", "yes", "", file("ünï-日本.md".encode()))
case("name-empty", "no", "empty|damaged|corruption|name|reset|closed", file(b""))

# [row 2] modes and types
for mode in ("104755", "102644", "101777", "60644", "20644", "10644", "140644", "0", "100000",
             "177777", "40755", "0100644", "1000644", "7777777777777"):
    case("mode-" + mode, "odd", "mode|damaged|corruption|malformed", file(b"f", mode))
case("mode-100664", "yes", "", file(b"f", "100664"))
case("mode-100755", "yes", "", file(b"f", "100755"))
case("submodule", "no", "submodule", lambda r: [("160000", b"sub", "1" * 40)])
case("tree-as-file", "no", ".", lambda r: [("100644", b"f", r.tree([]))])
case("file-as-tree", "no", ".", lambda r: [("40000", b"f", r.add("blob", b"x"))])
case("commit-as-tree", "no", ".", lambda r: [("40000", b"f", r.commit(r.tree([])))])
case("null-id", "no", ".", lambda r: [("100644", b"f", "0" * 40)])
for name, to in {"absolute": b"/etc/passwd", "up": b"../../../../etc/passwd", "up-out": b"../../../x",
                 "git": b"../../.git/config", "itself": b"link", "nowhere": b"nothing", "empty": b"",
                 "nul": b"SKILL.md\0/etc/passwd", "esc": b"\x1b[31m", "long": b"a/" * 3000,
                 "newline": b"a\nb", "home": b"~/x", "dot": b".", "backslash": b"..\\..\\x"}.items():
    case("link-" + name, "no", "link", link(to))
case("link-in", "yes", "", link(b"SKILL.md"))
case("link-dots", "yes", "", link(b"../x/./SKILL.md"))
case("link-chain", "yes", "", lambda r: [("120000", b"a", r.add("blob", b"b")),
                                         ("120000", b"b", r.add("blob", b"SKILL.md"))])
case("link-cycle", "no", "link", lambda r: [("120000", b"a", r.add("blob", b"b")),
                                            ("120000", b"b", r.add("blob", b"a"))])
case("link-long-chain", "no", "link", lambda r: [
    ("120000", b"l%03d" % i, r.add("blob", b"l%03d" % (i + 1) if i < 99 else b"SKILL.md")) for i in range(100)])
case("link-folder-up", "no", "link", lambda r: [("120000", b"up", r.add("blob", b".."))])
# a link that doubles with each level
case("link-bomb", "no", "link|files|deeper|limit|more than", lambda r: [
    ("40000", b"d%02d" % i, r.tree([("120000", b"a", r.add("blob", b"../d%02d" % (i + 1))),
                                    ("120000", b"b", r.add("blob", b"../d%02d" % (i + 1)))])) for i in range(30)
] + [("40000", b"d30", r.tree([("100644", b"f", r.add("blob", b"x"))]))])

# [row 3] twins and order
def two(a, b):
    return lambda r: [("100644", a, r.add("blob", b"1")), ("100644", b, r.add("blob", b"2"))]
case("twins-case", "no", "the same name", two(b"README.md", b"readme.md"))
case("twins-nfc", "no", "the same name", two("e\u0301.md".encode(), "\u00e9.md".encode()))
case("twins-fold", "no", "the same name", two("stra\u00dfe".encode(), b"strasse"))
case("twins-folder", "no", "the same name|there twice", lambda r: [
    ("100644", b"A", r.add("blob", b"1")), ("40000", b"a", r.tree([("100644", b"f", r.add("blob", b"x"))]))])
case("twice", "no", "twice|order", two(b"a", b"a"), ordered=False)
case("file-and-folder", "no", "twice|order|one name", lambda r: [
    ("100644", b"a", r.add("blob", b"1")), ("40000", b"a", r.tree([("100644", b"f", r.add("blob", b"x"))]))])
case("unsorted", "no", "order|sorted", two(b"b", b"a"), ordered=False)
case("cut", "no", ".", build=lambda r: r.tree([("40000", b"skills", r.tree([
    ("40000", b"x", r.add("tree", b"100644 SKILL.md\0" + b"\1" * 10))]))]))
case("garbage", "no", ".", build=lambda r: r.tree([("40000", b"skills", r.tree([
    ("40000", b"x", r.add("tree", os.urandom(200)))]))]))

# [row 4] and section 7: too much
def chain(r, depth, leaf=b"f"):
    t = r.tree([("100644", leaf, r.add("blob", b"x"))])
    for _ in range(depth - 1):
        t = r.tree([("40000", b"d", t)])
    return [("40000", b"d", t)]
case("deep-32", "yes", "", lambda r: chain(r, 31))
case("deep-34", "no", "deeper|limit|folders", lambda r: chain(r, 34))
case("deep-3000", "no", "deeper|limit|folders|deep", lambda r: chain(r, 3000))
case("files-5000", "yes", "", lambda r: [("100644", b"f%04d" % i, r.add("blob", b"x")) for i in range(4999)])
case("files-5001", "no", "more than 5000", lambda r: [("100644", b"f%04d" % i, r.add("blob", b"x")) for i in range(5000)])
def bomb(r, levels, width):
    t = r.tree([("100644", b"f", r.add("blob", b"x"))])
    for _ in range(levels):
        t = r.tree([("40000", b"d%d" % i, t) for i in range(width)])
    return [("40000", b"d", t)]
case("tree-bomb", "no", "more than|limit", lambda r: bomb(r, 10, 10))
case("bytes-64", "no", "more than|larger|limit", lambda r: [
    ("100644", b"f%d" % i, r.add("blob", b"%d" % i + bytes(31 << 20))) for i in range(3)])
case("file-32", "no", "more than|larger|limit", lambda r: [("100644", b"f", r.add("blob", bytes((32 << 20) + 1)))])
case("path-513", "no", "longer than 512|path", lambda r: [("40000", b"a" * 250, r.tree([
    ("40000", b"b" * 250, r.tree([("100644", b"c" * 20, r.add("blob", b"x"))]))]))])
case("hole", "no", ".", lambda r: [("100644", b"f", "12" * 20)])
case("anchor-folder", "no", "SKILL.md", build=lambda r: r.tree([("40000", b"skills", r.tree([
    ("40000", b"x", r.tree([("40000", b"SKILL.md", r.tree([]))]))]))]))
case("anchor-case", "no", "SKILL.md", build=lambda r: r.tree([("40000", b"skills", r.tree([
    ("40000", b"x", r.tree([("100644", b"skill.md", r.anchor())]))]))]))
case("no-anchor", "no", "SKILL.md|no package|neither", build=lambda r: r.tree([("40000", b"skills", r.tree([
    ("40000", b"x", r.tree([("100644", b"f", r.add("blob", b"x"))]))]))]))

# [row 11] graphs
G = "https://github.com/h/%s/tree/main/skills/%s"
def graph(name, want, regex, nodes):
    """nodes: {skill: [skills it needs]}"""
    r = Repo(os.path.join(root, name + ".git"))
    rows = []
    for node, deps in nodes.items():
        more = "dependencies:\n  skills:\n" + "".join(f"    - {G % (name, d)}\n" for d in deps) if deps else ""
        rows.append(("40000", node.encode(), r.tree([("100644", b"SKILL.md", r.anchor(node, more))])))
    r.publish(r.tree([("40000", b"skills", r.sorted_tree(rows))]))
    print(f"{name}|{want}|{regex}")
graph("cycle-1", "no", "cycle|needs itself", {"x": ["x"]})
graph("cycle-3", "no", "cycle", {"x": ["a"], "a": ["b"], "b": ["x"]})
graph("diamonds", "yes", "", {**{"x": ["a0", "b0"]}, **{f"{s}{i}": [f"a{i+1}", f"b{i+1}"]
                              for i in range(60) for s in "ab"}, "a60": [], "b60": []})
graph("chain-900", "yes", "", {"x": ["c1"], **{f"c{i}": [f"c{i+1}"] for i in range(1, 900)}, "c900": []})
graph("chain-1100", "no", "1000", {"x": ["c1"], **{f"c{i}": [f"c{i+1}"] for i in range(1, 1100)}, "c1100": []})
PYTHON
isnt 'the list of hostile trees is not empty' "$(wc -l <"$T/list")" 0
start_githost
skill "$T/good/skills/good"
make_repo acme/good "$T/good"
exits 'install of a harmless package succeeds' 0 mapm install https://github.com/acme/good/tree/main/skills/good

# All of it; the index's shared memory is rebuilt by whoever reads.
store()
{
    snapshot "$MAPM_HOME" | grep -v -e 'mapm\.db-shm' -e 'store/locks'
}
raw_bytes()
{
    LC_ALL=C grep -Pq '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]|\xf3\xa0' \
        "$T/out" "$T/err"
}
while IFS='|' read -r name want regex; do
    case $name in
    name-* | folder-* | anchor* | no-anchor) row='[row 1]' ;;
    mode-* | link-* | submodule | *-as-* | null-id) row='[row 2]' ;;
    twins-* | twice | file-and-folder | unsorted | cut | garbage) row='[row 3]' ;;
    cycle-* | diamonds | chain-*) row='[row 11]' ;;
    *) row='[row 4]' ;;
    esac
    cd "$T" && rm -rf ws && mkdir ws && cd ws || exit 1
    [ "$want" = yes ] || store >"$T/store-before"
    run timeout 60 "$MAPM" install --yes "https://github.com/h/$name/tree/main/skills/x"
    [ "$want" != odd ] || { want=no; [ "$status" -ne 0 ] || want=yes; }
    if [ "$want" = yes ]; then
        is "$row: install of $name succeeds" "$status" 0
        [ "$status" -eq 0 ] || show_run
        is "$row: $name installs plain files and folders with plain modes" \
            "$(find .agents ! -perm 0644 ! -perm 0755 -o ! -type f ! -type d)" ''
    else
        like "$row: install of $name is refused" "$status" '^[14]$'
        like "$row: the error for $name gives the reason" "$err" "$regex"
        is "$row: a refused $name leaves the workspace empty" "$(ls -A)" ''
        # (after a failure of the server, what it did send is kept for the next try)
        case $err in
        *'the server says'*) ;;
        *) is "$row: $name: nor to the store" "$(store)" "$(cat "$T/store-before")" ;;
        esac
    fi
    not_ok "[row 7] the output for $name has no raw control byte" raw_bytes
    [ -z "${SHOW:-}" ] || diag "$name [$status]: $err"
done <"$T/list"
done_testing

#include "base/map.h"
#include "mapm/doc_kind.h"
#include "mapm/limits.h"
#include "mapm/lock.h"

#include <time.h>

#include "tap.h"

/* [M27, X9, X21, row 12, row 15] the lock is the record of what was reviewed. */

#define C40 "3f6c0123456789abcdef0123456789abcdef0123"
#define T40 "9b1d0123456789abcdef0123456789abcdef0123"
#define D64 "sha256:" C40 "0123456789abcdef01234567"

static struct arena arena;

static const char base[] =
    "version: 1\n"
    "packages:\n"
    "  - type: agent\n"
    "    name: acme/reviewer\n"
    "    origin: https://github.com/acme/catalog/tree/main/agents/reviewer\n"
    "    commit: " C40 "\n"
    "    tree: " T40 "\n"
    "    digest: " D64 "\n"
    "    version: 1.2.0\n"
    "    path: .agents/agents/reviewer\n"
    "    needs: [mcp io.example/mcp, skill acme/git-pr, skill local]\n"
    "  - type: mcp\n"
    "    name: io.example/mcp\n"
    "    origin: https://github.com/acme/catalog/tree/main/mcps/io.json\n"
    "    commit: " C40 "\n"
    "    blob: " T40 "\n"
    "    digest: " D64 "\n"
    "    key: io-example-mcp\n"
    "  - type: skill\n"
    "    name: acme/git-pr\n"
    "    origin: https://github.com/acme/catalog/tree/main/skills/git-pr\n"
    "    also: [https://github.com/acme/catalog/tree/v1/skills/git-pr, "
    "https://github.com/acme/catalog/tree/v2/skills/git-pr]\n"
    "    commit: " C40 "\n"
    "    tree: " T40 "\n"
    "    digest: " D64 "\n"
    "    version: \"1.2\"\n"
    "    path: .agents/skills/git-pr\n"
    "    hidden: allowed\n"
    "    rewritten: name\n"
    "    needs: [skill local]\n"
    "  - type: skill\n"
    "    name: local\n"
    "    origin: file:/home/me/my skills/local\n"
    "    digest: " D64 "\n"
    "    path: .agents/skills/local\n";

/* clang-format off */
static const struct {
    const char *find, *put; /* the first one is replaced; NULL: the whole */
    const char *message;
} damaged[] = {
    /* the version, before anything else */
    {NULL, "\n", "l:1: expected \"version: 1\", not \"\""},
    {NULL, "# only\n", "l:2: the file holds no version"},
    {"version: 1", "version: 3\nanything", "l:1: version 3 is unknown to this mapm, which reads versions 1 and 2"},
    {"version: 1", "version: 10", "l:1: version 10 is unknown to this mapm, which reads versions 1 and 2"},
    {"version: 1", "version: 1 ", "l:1: version 1  is unknown to this mapm, which reads versions 1 and 2"},
    {"version: 1", "version: \"1\"", "l:1: version \"1\" is unknown to this mapm, which reads versions 1 and 2"},
    {"version: 1\n", "", "l:1: expected \"version: 1\", not \"packages:\""},
    {NULL, "version: 1", "l:1: \"packages:\" is missing"},
    {NULL, "version: 1\npackages:\n", "l:2: no packages: \"packages: []\" says so"},
    {NULL, "version: 1\npackages: []\nx\n", "l:3: expected the end of the file, not \"x\""},
    {NULL, "version: 1\npackages: []", "l:1: the file ends in the middle of a line"},
    {NULL, "version: 1\n{packages: []}\n", "l:2: expected \"packages:\", not \"{packages: []}\""},
    /* merges */
    {"version: 1", "<<<<<<< HEAD\nversion: 1", "l:1: a merge conflict"},
    {"  - type: mcp", "<<<<<<< HEAD\n  - type: mcp", "l:12: a merge conflict"},
    {"version: 1", "||||||| base\nversion: 1", "l:1: a merge conflict"},
    {"    commit: ", "=======\n    commit: ", "l:6: a merge conflict"},
    {"    path: .agents/skills/local\n", "    path: .agents/skills/local\n>>>>>>> x\n", "l:36: a merge conflict"},
    /* form */
    {"  - type: mcp", "\n  - type: mcp", "l:12: expected \"    key: value\", not \"\""},
    {"  - type: mcp", "# x\n  - type: mcp", "l:12: expected \"    key: value\", not \"# x\""},
    {"  - type: mcp", "  - type: tool", "l:12: expected \"  - type: agent, mcp, plugin or skill\", not \"  - type: tool\""},
    {"  - type: mcp", "  - name: mcp", "l:12: expected \"  - type: agent, mcp, plugin or skill\", not \"  - name: mcp\""},
    {"    name: acme/r", "  name: acme/r", "l:4: expected \"    key: value\", not \"  name: acme/reviewer\""},
    {"    name: acme/r", "\tname: acme/r", "l:4: expected \"    key: value\", not \"\tname: acme/reviewer\""},
    {"    name: acme/r", "    name:acme/r", "l:4: expected \"    key: value\", not \"    name:acme/reviewer\""},
    {"    name: acme/r", "    name:  acme/r", "l:4: not written as mapm writes it:  acme/reviewer"},
    {"acme/reviewer\n", "acme/reviewer # mine\n", "l:4: not written as mapm writes it: acme/reviewer # mine"},
    {"acme/reviewer\n", "'acme/reviewer'\n", "l:4: not written as mapm writes it: 'acme/reviewer'"},
    {"acme/reviewer\n", "\"acme/reviewer\"\n", "l:4: not written as mapm writes it: \"acme/reviewer\""},
    {"acme/reviewer\n", "\"acme/\\x72eviewer\"\n", "l:4: not written as mapm writes it: \"acme/\\x72eviewer\""},
    {"acme/reviewer\n", "\"acme\\\"\n", "l:4: a damaged text in quotes"},
    {"acme/reviewer\n", "\"acme\\q\"\n", "l:4: a damaged text in quotes"},
    {"acme/reviewer\n", "\"acme\\x1\"\n", "l:4: a damaged text in quotes"},
    {"    digest", "    flavour: x\n    digest", "l:8: unknown key \"flavour\""},
    {"    version: 1.2.0\n", "", NULL},
    {"    commit", "    tag: v1.4.2\n    commit", "l:6: \"tag\" needs version 2 of this file"},
    {"    path", "    patch: " D64 "\n    path", "l:10: \"patch\" needs version 2 of this file"},
    {"    version: 1.2.0\n", "    version: 1.2.0\n    version: 1.2.0\n", "l:10: \"version\" is given twice, or not in its place"},
    {"    version: 1.2.0\n    path: .agents/agents/reviewer\n", "    path: .agents/agents/reviewer\n    version: 1.2.0\n", "l:10: \"version\" is given twice, or not in its place"},
    {"    version: 1.2.0", "    version: 1.2", "l:9: not written as mapm writes it: 1.2"},
    {"    version: 1.2.0", "    version: \"\"", "l:9: not a version: \"\""},
    {"    version: 1.2.0", "    version: \"\\x1b\"", "l:9: a hidden character, or not UTF-8"},
    {"    version: 1.2.0", "    version: \xe2\x80\xae" "1", "l:9: a hidden character, or not UTF-8"},
    /* what is missing or malformed [row 12, row 15] */
    {"    name: acme/reviewer\n", "", "l:3: agent has no \"name\""},
    {"    commit: " C40 "\n", "", "l:3: agent acme/reviewer has no \"commit\""},
    {"    tree: " T40 "\n", "", "l:3: agent acme/reviewer has no \"tree\""},
    {"    blob: " T40 "\n", "", "l:12: mcp io.example/mcp has no \"blob\""},
    {"    digest: " D64 "\n", "", "l:3: agent acme/reviewer has no \"digest\""},
    {"    path: .agents/agents/reviewer\n", "", "l:3: agent acme/reviewer has no \"path\""},
    {"    key: io-example-mcp\n", "", "l:12: mcp io.example/mcp has no \"key\""},
    {"    path: .agents/skills/local\n", "", "l:31: skill local has no \"path\""},
    {"commit: 3f6c", "commit: 3F6C", "l:6: not 40 hexadecimal digits: \"3F6C0123456789abcdef0123456789abcdef0123\""},
    {"commit: 3f6c", "commit: 3:6g", "l:6: not 40 hexadecimal digits: \"3:6g0123456789abcdef0123456789abcdef0123\""},
    {"commit: 3f6c", "commit: 3:6c", "l:6: not 40 hexadecimal digits: \"3:6c0123456789abcdef0123456789abcdef0123\""},
    {"commit: 3", "commit: ", "l:6: not 40 hexadecimal digits: \"f6c0123456789abcdef0123456789abcdef0123\""},
    {"tree: 9", "tree: 99", "l:7: not 40 hexadecimal digits: \"99b1d0123456789abcdef0123456789abcdef0123\""},
    {"digest: sha256:", "digest: sha1:", "l:8: not \"sha256:\" and 64 hexadecimal digits: \"sha1:3f6c0123456789abcdef0123456789abcdef01230123456789abcde\""},
    {"digest: sha256:3", "digest: sha256:", "l:8: not \"sha256:\" and 64 hexadecimal digits: \"sha256:f6c0123456789abcdef0123456789abcdef01230123456789abcd\""},
    {"    blob: ", "    tree: ", "l:16: \"tree\" is not for mcps"},
    {"    tree: ", "    blob: ", "l:7: \"blob\" is not for agents"},
    {"    key: io", "    path: io", "l:18: \"path\" is not for mcps"},
    {"    key: io-example-mcp\n", "    key: io-example-mcp\n    needs: [skill local]\n", "l:19: \"needs\" is not for mcps"},
    {"/local\n    digest", "/local\n    commit: " C40 "\n    digest", "l:34: \"commit\" is not for file: packages"},
    /* names */
    {"acme/reviewer\n", "Acme/reviewer\n", "l:4: not a name of an agent: Acme/reviewer"},
    {"acme/reviewer\n", "acme/../x\n", "l:4: not a name of an agent: acme/../x"},
    {"acme/reviewer\n", "acme/reviewer/x\n", "l:4: not a name of an agent: acme/reviewer/x"},
    {"name: local", "name: true", "l:32: not written as mapm writes it: true"},
    {"name: io.example/mcp", "name: io.example", "l:13: not a name of an mcp: io.example"},
    {"name: io.example/mcp", "name: io.example/m,p", "l:13: not written as mapm writes it: io.example/m,p"},
    {"name: io.example/mcp", "name: \"io.example/m,p\"", "l:13: not a name of an mcp: io.example/m,p"},
    /* origins */
    {"origin: https:", "origin: http:", "l:5: not an origin: http://github.com/acme/catalog/tree/main/agents/reviewer"},
    {"origin: https://github.com/acme/catalog/tree/main/a", "origin: https:///a", "l:5: not an origin: https:///agents/reviewer"},
    {"origin: file:/", "origin: file:", "l:33: not an origin: file:home/me/my skills/local"},
    {"origin: file:/home", "origin: file:/\xff", "l:33: not written as mapm writes it: file:/\xff/me/my skills/local"},
    {"/tree/v1/", "/tree/v3/", "l:22: not an origin, or not in order: https://github.com/acme/catalog/tree/v2/skills/git-pr"},
    {"/tree/v1/", "/tree/v2/", "l:22: not an origin, or not in order: https://github.com/acme/catalog/tree/v2/skills/git-pr"},
    {"/tree/v1/", "/tree/main/", "l:22: an origin of two packages: https://github.com/acme/catalog/tree/main/skills/git-pr"},
    {"also: [https", "also: [ftp", "l:22: not an origin, or not in order: ftp://github.com/acme/catalog/tree/v1/skills/git-pr"},
    {"also: [https", "also: [ https", "l:22: not written as mapm writes it:  https://github.com/acme/catalog/tree/v1/skills/git-pr"},
    {"git-pr, https", "git-pr,https", "l:22: a damaged list"},
    {"v2/skills/git-pr]", "v2/skills/git-pr, ]", "l:22: a damaged list"},
    {"v2/skills/git-pr]", "v2/skills/git-pr", "l:22: expected a list in brackets"},
    {"v2/skills/git-pr]", "v2/skills/git-pr#" C40 "]", "l:22: \"also with a commit\" needs version 2 of this file"},
    {"io.json", "../agents/reviewer", NULL},
    {"mcps/io.json", "agents/reviewer", "l:14: an origin of two packages: https://github.com/acme/catalog/tree/main/agents/reviewer"},
    /* places [row 11, row 15] */
    {".agents/agents/reviewer", ".agents/skills/reviewer", "l:10: not a folder of agents: \".agents/skills/reviewer\""},
    {".agents/skills/local", ".agents/skills/../../x", "l:35: not a folder of skills: \".agents/skills/../../x\""},
    {".agents/skills/local", ".agents/skills/..", "l:35: not a folder of skills: \".agents/skills/..\""},
    {".agents/skills/local", ".agents/skills/a/b", "l:35: not a folder of skills: \".agents/skills/a/b\""},
    {".agents/skills/local", ".agents/skills/", "l:35: not a folder of skills: \".agents/skills/\""},
    {".agents/skills/local", ".agents/skills/.git", "l:35: not a folder of skills: \".agents/skills/.git\""},
    {".agents/skills/local", "/etc/cron.d", "l:35: not a folder of skills: \"/etc/cron.d\""},
    {".agents/skills/local", ".agents/skills/Local", "l:35: not a folder of skills: \".agents/skills/Local\""},
    {".agents/skills/local", ".agents/skills/git-pr", "l:35: \".agents/skills/git-pr\" belongs to two packages"},
    {"key: io-example-mcp", "key: io/example", "l:18: not a key of an MCP server: \"io/example\""},
    {"key: io-example-mcp", "key: a2345678901234567890123456789012345678", "l:18: not a key of an MCP server: \"a2345678901234567890123456789012345678\""},
    {"key: io-example-mcp", "key: a234567890123456789012345678901234567", NULL},
    {"key: io-example-mcp", "key: \"\"", "l:18: not a key of an MCP server: \"\""},
    {"hidden: allowed", "hidden: true", "l:28: expected \"allowed\""},
    {"rewritten: name", "rewritten: all", "l:29: expected \"name\""},
    {"    hidden: allowed\n", "    catalog: https://github.com/a/b/tree/main\n", "l:28: \"catalog\" needs version 2 of this file"},
    {"    key: io-example-mcp\n", "    key: io-example-mcp\n    rewritten: name\n", "l:19: \"rewritten\" is not for mcps"},
    /* needs */
    {"needs: [skill local]", "needs: [skill gone]", "l:30: acme/git-pr needs skill gone, which is not in this file"},
    {"needs: [skill local]", "needs: [mcp local]", "l:30: not \"skill NAME\" or \"mcp NAME\": \"mcp local\""},
    {"needs: [skill local]", "needs: [mcp io.example/other]", "l:30: acme/git-pr needs mcp io.example/other, which is not in this file"},
    {"needs: [skill local]", "needs: [agent acme/reviewer]", "l:30: not \"skill NAME\" or \"mcp NAME\": \"agent acme/reviewer\""},
    {"needs: [mcp", "needs: [agent acme/other, mcp", "l:11: \"needs: [agent ...]\" needs version 2 of this file"},
    {"needs: [skill local]", "needs: [local]", "l:30: not \"skill NAME\" or \"mcp NAME\": \"local\""},
    {"needs: [skill local]", "needs: []", "l:30: expected a list in brackets"},
    {"needs: [skill local]", "needs: [skill local, skill local]", "l:30: needs twice, or not in order: skill local"},
    {"[mcp io.example/mcp, skill", "[skill acme/a, mcp io.example/mcp, skill", "l:11: needs twice, or not in order: mcp io.example/mcp"},
    {"needs: [skill local]", "needs: [skill acme/git-pr]", "l:30: acme/git-pr is part of a cycle"},
    {"path: .agents/skills/local\n", "path: .agents/skills/local\n    needs: [skill acme/git-pr]\n", "l:30: acme/git-pr is part of a cycle"},
    /* order [row 15] */
    {"name: local", "name: acme/a", "l:32: skill acme/a is not in its order"},
    {"name: local", "name: acme/git-pr", "l:32: skill acme/git-pr is given twice"},
    {"type: agent", "type: skill", "l:10: not a folder of skills: \".agents/agents/reviewer\""},
};
/* clang-format on */

static struct str replaced_in(const char *whole, const char *find,
                              const char *put)
{
    struct str text = str_cstr(whole);
    size_t at = find ? str_find(text, str_cstr(find)) : 0;

    CHECK(at != SIZE_MAX);
    if (!find)
        return str_cstr(put);
    return arena_printf(&arena, "%.*s%s%s", (int)at, whole, put,
                        whole + at + strlen(find));
}

static struct str replaced(const char *find, const char *put)
{
    return replaced_in(base, find, put);
}

/* A lock of version 2: `as` gives a package another name in this layer. */
static const char second[] =
    "version: 2\n"
    "packages:\n"
    "  - type: mcp\n"
    "    name: io.example/mcp\n"
    "    origin: https://github.com/acme/catalog/tree/main/mcps/io.json\n"
    "    commit: " C40 "\n"
    "    blob: " T40 "\n"
    "    digest: " D64 "\n"
    "    key: io-example-mcp\n"
    "  - type: skill\n"
    "    name: git-pr\n"
    "    as: acme/git-pr\n"
    "    origin: https://github.com/acme/catalog/tree/main/a/skills/git-pr\n"
    "    commit: " C40 "\n"
    "    tree: " T40 "\n"
    "    digest: " D64 "\n"
    "    path: .agents/skills/acme-git-pr\n"
    "    catalog: [\"https://github.com/acme/a, b/tree/main\", "
    "https://github.com/acme/catalog/tree/main]\n"
    "    rewritten: name\n"
    "    needs: [mcp io.example/mcp, skill git-pr]\n"
    "  - type: skill\n"
    "    name: git-pr\n"
    "    origin: https://github.com/acme/catalog/tree/main/b/skills/git-pr\n"
    "    also: [\"https://github.com/acme/catalog/tree/main/c, d/git-pr#" C40
    "\", https://github.com/acme/catalog/tree/main/d/git-pr, "
    "https://github.com/acme/catalog/tree/v1/b/git-pr#" T40 "]\n"
    "    commit: " C40 "\n"
    "    tree: " T40 "\n"
    "    digest: " D64 "\n"
    "    path: .agents/skills/git-pr\n";

/* clang-format off */
static const struct {
    const char *find, *put, *message;
} damaged_second[] = {
    {"version: 2", "version: 1", "l:12: \"as\" needs version 2 of this file"},
    {"    digest", "    flavour: x\n    digest", "l:8: unknown key \"flavour\": written by a newer mapm"},
    {"    origin", "    from: https://github.com/a/b/tree/main/c\n    origin", "l:3: mcp io.example/mcp has no \"origin\""},
    {"    commit", "    from: x\n    commit", "l:6: not where it comes from: x"},
    {"    commit", "    from: \"https:\n    commit", "l:6: a damaged text in quotes"},
    {"    commit", "    tag: -x\n    commit", "l:6: not a tag: \"-x\""},
    {"    commit", "    tag: v 1.0.0\n    commit", "l:6: not a tag: \"v 1.0.0\""},
    {"    key", "    patch: " D64 "\n    key", "l:9: \"patch\" is not for mcps"},
    {"    blob", "    tag: v1.4.2\n    blob", "l:7: \"tag\" is given twice, or not in its place"},
    {"    commit", "    signer: x\n    commit", "l:6: unknown key \"signer\": written by a newer mapm"},
    {"type: mcp", "type: hook", "l:3: unknown type \"hook\": written by a newer mapm"},
    {"catalog: [", "catalog: x, [", "l:18: not written as mapm writes it: x, [\"https://github.com/acme/a, b/tree/main\", https://github"},
    {", https://github.com/acme/catalog/tree/main]", "]", "l:18: not written as mapm writes it: [\"https://github.com/acme/a, b/tree/main\"]"},
    {"\"https://github.com/acme/a, b", "\"https://github.com/zeta/a, b", "l:18: not an origin, or not in order: https://github.com/acme/catalog/tree/main"},
    {"as: acme/git-pr", "as: git-pr", "l:12: \"as\" repeats the name"},
    {"as: acme/git-pr", "as: Other", "l:12: not a name of a skill: Other"},
    {"name: io.example/mcp\n", "name: io.example/mcp\n    as: other\n", "l:5: not a name of an mcp: other"},
    {"as: acme/git-pr", "as: zeta/git-pr", "l:22: skill git-pr is not in its order"},
    {"[mcp io.example/mcp,", "[mcp io.other/mcp,", "l:20: acme/git-pr needs mcp io.other/mcp, which is not in this file"},
    {"    as: acme/git-pr\n    origin", "    origin", "l:21: skill git-pr is given twice"},
    {"git-pr#" T40, "git-pr#", "l:24: not 40 hexadecimal digits: \"\""},
    {"git-pr#" T40, "git-pr#" D64, "l:24: not 40 hexadecimal digits: \"sha256:3f6c0123456789abcdef0123456789abcdef01230123456789abc\""},
    {"git-pr#" T40, "git-pr#" T40 "#" T40, "l:24: not 40 hexadecimal digits: \"" T40 "#9b1d0123456789abcde\""},
    {"https://github.com/acme/catalog/tree/v1/b/git-pr#" T40, "\"https://github.com/acme/catalog/tree/v1/b/git-pr#" T40 "\"",
     "l:24: not written as mapm writes it: \"https://github.com/acme/catalog/tree/v1/b/git-pr#9b1d012345"},
    {"    also: [\"https", "    formerly: [https://github.com/old/a/tree/main/c]\n    also: [\"https", "l:25: \"also\" is given twice, or not in its place"},
    {"    commit: " C40 "\n    tree", "    formerly: [https://github.com/a/b/tree/main/c#" C40 "]\n    commit: " C40 "\n    tree", "l:14: not an origin, or not in order: https://github.com/a/b/tree/main/c"},
    {"    commit: " C40 "\n    tree", "    formerly: []\n    commit: " C40 "\n    tree", "l:14: expected a list in brackets"},
    {"    name: git-pr\n    as: acme/git-pr\n", "    as: acme/git-pr\n    name: git-pr\n", "l:10: skill has no \"name\""},
};
/* clang-format on */

static struct str formatted(struct lock *lock, struct buf *out)
{
    buf_init(out, LOCK_MAX_BYTES);
    lock_format(lock, out);
    return buf_str(out);
}

TEST(a_lock_reads_and_writes_back)
{
    CLEANUP(buf_done) struct buf out = {0};
    const struct lock_entry *entry;
    struct lock lock;
    struct err e = {0};

    CHECK(lock_parse(str_cstr(base), "l", &arena, &lock, &e));
    CHECK_STR(err_first(&e), "");
    CHECK(lock.count == 4);
    CHECK_STR(str_dup0(formatted(&lock, &out), &arena), base);

    entry = lock_find(&lock, DOC_SKILL, STR("acme/git-pr"));
    CHECK(entry && entry->line == 19 && entry->allow_hidden);
    CHECK(entry && entry->rewritten);
    CHECK(entry && entry->also_count == 2 && entry->need_count == 1);
    CHECK(entry && str_is(entry->version, "1.2"));
    CHECK(entry && str_is(entry->place, ".agents/skills/git-pr"));
    entry = lock_find(&lock, DOC_MCP, STR("io.example/mcp"));
    CHECK(entry && str_is(entry->place, "io-example-mcp"));
    CHECK(entry && str_is(entry->object, T40) && entry->version.n == 0);
    entry = lock_find(&lock, DOC_SKILL, STR("local"));
    CHECK(entry && entry->commit.n == 0 && entry->object.n == 0);
    CHECK(!lock_find(&lock, DOC_AGENT, STR("local")));
    CHECK(!lock_find(&lock, DOC_SKILL, STR("zzz")));
    arena_done(&arena);
}

TEST(entries_of_one_name_follow_each_other)
{
    const struct str one = STR("apps/cli"), two = STR("apps/web");
    struct lock_entry entries[] = {
        {.kind = DOC_SKILL, .name = STR("acme/csv")},
        {.kind = DOC_SKILL,
         .name = STR("acme/pdf"),
         .members = &one,
         .member_count = 1},
        {.kind = DOC_SKILL,
         .name = STR("acme/pdf"),
         .members = &two,
         .member_count = 1},
        {.kind = DOC_SKILL, .name = STR("acme/txt")},
    };
    struct lock lock = {entries, 4};

    for (lock.count = 3; lock.count <= 4; lock.count++) {
        CHECK(lock_find(&lock, DOC_SKILL, STR("acme/pdf")) == &entries[1]);
        CHECK(lock_next(&lock, &entries[1]) == &entries[2]);
        CHECK(!lock_next(&lock, &entries[0]) && !lock_next(&lock, &entries[2]));
    }
}

TEST(no_lock_and_an_empty_one)
{
    CLEANUP(buf_done) struct buf out = {0};
    struct lock lock = {.count = 1};
    struct err e = {0};

    CHECK(lock_parse(STR(""), "l", &arena, &lock, &e));
    CHECK(lock.count == 0);
    CHECK_STR(str_dup0(formatted(&lock, &out), &arena),
              "version: 1\npackages: []\n");
    lock.count = 1;
    CHECK(lock_parse(buf_str(&out), "l", &arena, &lock, &e));
    CHECK(lock.count == 0 && !lock_find(&lock, DOC_SKILL, STR("x")));
    arena_done(&arena);
}

TEST(git_may_make_crlf_and_a_person_a_comment_on_top)
{
    CLEANUP(buf_done) struct buf crlf = {0};
    CLEANUP(buf_done) struct buf out = {0};
    struct lock lock;
    struct err e = {0};

    buf_init(&crlf, LOCK_MAX_BYTES);
    buf_text(&crlf, "# checked by hand\r\n#\r\n");
    for (const char *p = base; *p; p++) {
        if (*p == '\n')
            buf_char(&crlf, '\r');
        buf_char(&crlf, *p);
    }
    CHECK(lock_parse(buf_str(&crlf), "l", &arena, &lock, &e));
    CHECK_STR(err_first(&e), "");
    CHECK_STR(str_dup0(formatted(&lock, &out), &arena), base);
    CHECK(lock.entries[0].line == 5);
    arena_done(&arena);
}

TEST(damage_is_named_by_its_line) /* [row 12, row 15] */
{
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        struct str text = replaced(damaged[i].find, damaged[i].put);
        struct lock lock = {.count = 42};
        struct err e = {0};
        bool ok = lock_parse(text, "l", &arena, &lock, &e);

        CHECK(ok == !damaged[i].message);
        CHECK_STR(err_first(&e), damaged[i].message ? damaged[i].message : "");
        CHECK(ok || (lock.count == 42 && e.code == ERR_FORMAT && e.hint[0]));
    }
    arena_done(&arena);
}

TEST(version_2_reads_and_writes_back) /* [F13] */
{
    CLEANUP(buf_done) struct buf out = {0};
    const struct lock_entry *entry;
    struct lock lock;
    struct err e = {0};

    CHECK(lock_parse(str_cstr(second), "l", &arena, &lock, &e));
    CHECK_STR(err_first(&e), "");
    CHECK(lock.count == 3);
    CHECK_STR(str_dup0(formatted(&lock, &out), &arena), second);
    entry = lock_find(&lock, DOC_SKILL, STR("acme/git-pr"));
    CHECK(entry && str_is(entry->declared, "git-pr"));
    entry = lock_find(&lock, DOC_SKILL, STR("git-pr"));
    CHECK(entry && !entry->declared.n);
    CHECK(!lock_find(&lock, DOC_SKILL, STR("acme/other")));
    arena_done(&arena);
}

TEST(version_2_is_written_only_where_an_entry_needs_it) /* [F13] */
{
    struct str plain = replaced("version: 1", "version: 2");
    CLEANUP(buf_done) struct buf out = {0};
    struct lock lock;
    struct err e = {0};

    CHECK(lock_parse(plain, "l", &arena, &lock, &e));
    CHECK_STR(str_dup0(formatted(&lock, &out), &arena), base);
    arena_done(&arena);
}

#define BOSS                                                                   \
    "version: 2\npackages:\n"                                                  \
    "  - type: agent\n"                                                        \
    "    name: acme/boss\n"                                                    \
    "    origin: https://github.com/acme/catalog/tree/main/agents/boss\n"      \
    "    commit: " C40 "\n"                                                    \
    "    tree: " T40 "\n"                                                      \
    "    digest: " D64 "\n"                                                    \
    "    version: 1.2.0\n"                                                     \
    "    path: .agents/agents/boss\n"                                          \
    "    needs: [agent acme/"

/* [D2, F13] a former name is of the entry's own commit */
TEST(former_names_read_and_write_back)
{
    static const char text[] =
        "version: 2\n"
        "packages:\n"
        "  - type: skill\n"
        "    name: git-pr\n"
        "    origin: https://github.com/acme/new/tree/main/git-pr\n"
        "    also: [https://github.com/acme/zeta/tree/main/git-pr#" T40 "]\n"
        "    formerly: [https://github.com/acme/a/tree/main/git-pr, "
        "https://github.com/acme/old/tree/main/git-pr]\n"
        "    commit: " C40 "\n"
        "    tree: " T40 "\n"
        "    digest: " D64 "\n"
        "    path: .agents/skills/git-pr\n";
    CLEANUP(buf_done) struct buf out = {0};
    struct lock_entry *entry;
    struct lock lock;
    struct err e = {0};

    CHECK(lock_parse(str_cstr(text), "l", &arena, &lock, &e));
    CHECK_STR(err_first(&e), "");
    entry = &lock.entries[0];
    CHECK(entry->also_count == 3 && entry->former_count == 2);
    CHECK(!lock_also_is_former(entry, 0) && lock_also_is_former(entry, 1));
    CHECK(str_is(lock_also_commit(entry, 0), T40) &&
          str_is(lock_also_commit(entry, 2), C40));
    CHECK_STR(str_dup0(formatted(&lock, &out), &arena), text);
}

TEST(an_agent_that_needs_an_agent_takes_version_2) /* [D12, F13] */
{
    struct str text =
        replaced("version: 1\npackages:\n", BOSS "reviewer, skill local]\n");
    CLEANUP(buf_done) struct buf out = {0};
    struct lock lock;
    struct err e = {0};

    CHECK(lock_parse(text, "l", &arena, &lock, &e));
    CHECK(lock.entries[0].needs[0].entry == &lock.entries[1]);
    CHECK_STR(str_dup0(formatted(&lock, &out), &arena), str_dup0(text, &arena));
    text = replaced("version: 1\npackages:\n", BOSS "boss]\n");
    CHECK(!lock_parse(text, "l", &arena, &lock, &e));
    CHECK_STR(err_first(&e), "l:11: acme/boss is part of a cycle");
    arena_done(&arena);
}

TEST(damage_of_version_2_is_named_by_its_line) /* [F13] [row 15] */
{
    for (size_t i = 0; i < sizeof damaged_second / sizeof *damaged_second;
         i++) {
        struct str text =
            replaced_in(second, damaged_second[i].find, damaged_second[i].put);
        struct lock lock = {.count = 42};
        struct err e = {0};

        CHECK(!lock_parse(text, "l", &arena, &lock, &e));
        CHECK_STR(err_first(&e), damaged_second[i].message);
        CHECK(lock.count == 42 && e.code == ERR_FORMAT && e.hint[0]);
    }
    arena_done(&arena);
}

TEST(every_cut_is_noticed) /* [row 15] never "empty" */
{
    /* But for one: an agent that needs nothing is a good lock. */
    size_t whole = str_find(str_cstr(base), STR("    needs: "));

    for (size_t n = 1; n < sizeof base - 1; n++) {
        struct lock lock;
        struct err e = {0};
        struct str text = str_make(base, n);

        CHECK(lock_parse(text, "l", &arena, &lock, &e) == (n == whole));
    }
    arena_done(&arena);
}

TEST(needs_name_a_kind_and_a_name)
{
    struct lock l;
    struct err e = {0};
    const struct lock_entry *agent, *mcp, *skill, *local;

    CHECK(lock_parse(str_cstr(base), "l", &arena, &l, &e));
    agent = lock_find(&l, DOC_AGENT, STR("acme/reviewer"));
    mcp = lock_find(&l, DOC_MCP, STR("io.example/mcp"));
    skill = lock_find(&l, DOC_SKILL, STR("acme/git-pr"));
    local = lock_find(&l, DOC_SKILL, STR("local"));
    CHECK(agent && mcp && skill && local);
    if (agent && mcp && skill && local) {
        struct lock_entry other = *local;

        CHECK(lock_needs(agent, mcp) && lock_needs(agent, skill) &&
              lock_needs(agent, local) && lock_needs(skill, local));
        CHECK(!lock_needs(agent, agent) && !lock_needs(skill, mcp) &&
              !lock_needs(local, skill));
        other.kind = DOC_AGENT;
        CHECK(!lock_needs(skill, &other));
    }
    CHECK(!lock_find(&l, DOC_AGENT, STR("local")));
    arena_done(&arena);
}

TEST(texts_in_quotes_have_one_form) /* [row 15] */
{
    static const struct {
        const char *raw, *version; /* NULL: refused */
    } rows[] = {
        {"a b", "a b"},
        {"\"a b\"", NULL}, /* needs no quotes */
        {"\"a\\\"b\"", "a\"b"},
        {"\"a: \\\\b\"", "a: \\b"},
        {"\"a: \xe2\x82\xac\"", "a: \xe2\x82\xac"},
        {"\"a: \\u20ac\"", NULL},
        {"\"\\x41: b\"", NULL},
        {"\"a\\nb\"", NULL},
        {"\"a\\tb\"", NULL},
        {"\"a\\x1bb\"", NULL},
        {"\"a\\u202eb\"", NULL},
        {"\"a\\u20\"", NULL},
        {"\"a\\u20g0\"", NULL},
        {"\"a\\qb\"", NULL},
        {"\"a\\\"", NULL},
        {"\"a: b", NULL},
        {"\"", NULL},
        {"\"abcdefg\"", NULL},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(buf_done) struct buf out = {0};
        struct str text = arena_printf(
            &arena,
            "version: 1\npackages:\n  - type: skill\n    name: local\n"
            "    origin: file:/x\n    digest: " D64 "\n    version: %s\n"
            "    path: .agents/skills/local\n",
            rows[i].raw);
        struct lock l = {0};
        struct err e = {0};
        bool ok = lock_parse(text, "l", &arena, &l, &e);

        if (ok != (rows[i].version != NULL))
            printf("# %s\n", rows[i].raw);
        CHECK(ok == (rows[i].version != NULL));
        if (!ok || !rows[i].version)
            continue;
        CHECK(str_is(l.entries[0].version, rows[i].version));
        buf_init(&out, LOCK_MAX_BYTES);
        lock_format(&l, &out);
        CHECK(str_eq(buf_str(&out), text));
    }
    arena_done(&arena);
}

/* A comma or a bracket within quotes ends no item, wherever it stands. */
TEST(items_of_lists_may_be_in_quotes)
{
    static const char text[] =
        "version: 1\npackages:\n  - type: skill\n    name: a\n"
        "    origin: https://github.com/o/r/tree/main/skills/a\n"
        "    also: [\"https://github.com/o/r/tree/main/skills/x, a\", "
        "\"https://github.com/o/r/tree/main/skills/x, ab\", "
        "https://github.com/o/r/tree/v1/skills/a]\n"
        "    commit: " C40 "\n    tree: " T40 "\n    digest: " D64 "\n"
        "    path: .agents/skills/a\n";
    CLEANUP(buf_done) struct buf out = {0};
    struct lock l = {0};
    struct err e = {0};

    CHECK(lock_parse(str_cstr(text), "l", &arena, &l, &e));
    CHECK_STR(err_first(&e), "");
    CHECK(l.count == 1 && l.entries[0].also_count == 3);
    buf_init(&out, LOCK_MAX_BYTES);
    lock_format(&l, &out);
    CHECK_STR(str_dup0(buf_str(&out), &arena), text);
    arena_done(&arena);
}

TEST(too_large_is_a_limit)
{
    struct lock lock;
    struct err e = {0};
    char *text = arena_alloc(&arena, LOCK_MAX_BYTES + 1);

    CHECK(!lock_parse(str_make(text, LOCK_MAX_BYTES + 1), "l", &arena, &lock,
                      &e));
    CHECK(e.code == ERR_LIMIT);
    CHECK(!lock_parse(str_make(text, LOCK_MAX_BYTES), "l", &arena, &lock, &e));
    CHECK(e.code == ERR_FORMAT);
    arena_done(&arena);
}

/* [F7] */
TEST(a_lock_is_compared_with_a_text)
{
    static const char one[] =
        "version: 1\npackages:\n  - type: skill\n    name: a\n"
        "    origin: https://github.com/o/r/tree/main/skills/a\n"
        "    commit: " C40 "\n    tree: " T40 "\n    digest: " D64 "\n"
        "    path: .agents/skills/a\n";
    struct str text = str_cstr(one);
    struct lock l = {0}, none = {0};
    struct err e = {0};

    CHECK(lock_parse(text, "l", &arena, &l, &e));
    CHECK(lock_has_text(&l, text));
    for (size_t n = 0; n < text.n; n++)
        CHECK(!lock_has_text(&l, str_slice(text, 0, n)));
    CHECK(!lock_has_text(&l, str_join(text, STR("\n"), &arena)));
    CHECK(!lock_has_text(&none, text));
    CHECK(!lock_has_text(&none, STR("")));
    CHECK(lock_has_text(&none, STR("version: 1\npackages: []\n")));
    l.entries[0].version = STR("1");
    CHECK(!lock_has_text(&l, text));
    arena_done(&arena);
}

/* The same entries in any order give the same bytes, and those read back. */
TEST(writing_sorts)
{
    static const char *const odd[] = {"true",  "365", "null", "y",
                                      "1-2-3", "on",  "a",    "2024-01-02",
                                      "no",    "0"};
    enum { COUNT = sizeof odd / sizeof *odd };
    struct lock_entry entries[COUNT];
    struct lock_need needs[2] = {{.kind = DOC_SKILL, .name = STR_INIT("a")},
                                 {.kind = DOC_SKILL, .name = STR_INIT("365")}};
    struct str also[2] = {STR_INIT("file:/z: #"), STR_INIT("file:/\xc3\xa4")};
    struct str first = STR("");

    for (size_t shift = 0; shift < COUNT; shift++) {
        CLEANUP(buf_done) struct buf out = {0};
        struct lock lock = {entries, COUNT}, back;
        struct err e = {0};

        for (size_t i = 0; i < COUNT; i++) {
            struct str name = str_cstr(odd[(i + shift) % COUNT]);

            entries[i] = (struct lock_entry){
                .kind = DOC_SKILL,
                .name = name,
                .origin = arena_printf(&arena, "file:/x/%.*s", STR_ARG(name)),
                .digest = STR(D64),
                .version = name,
                .place =
                    arena_printf(&arena, ".agents/skills/%.*s", STR_ARG(name)),
            };
            if (str_is(name, "y")) {
                entries[i].needs = needs;
                entries[i].need_count = 2;
                entries[i].also = also;
                entries[i].also_count = 2;
            }
        }
        formatted(&lock, &out);
        if (shift == 0)
            first = arena_str(&arena, buf_str(&out));
        CHECK(str_eq(buf_str(&out), first));
        CHECK(lock_parse(first, "l", &arena, &back, &e));
        CHECK_STR(err_first(&e), "");
        CHECK(lock_find(&back, DOC_SKILL, STR("365")));
        CHECK(lock_find(&back, DOC_SKILL, STR("true")));
    }
    arena_done(&arena);
}

static struct lock large_lock(size_t count)
{
    struct lock lock = {arena_array(&arena, count, sizeof(struct lock_entry)),
                        count};

    for (size_t i = 0; i < count; i++) {
        struct lock_entry *entry = &lock.entries[i];

        entry->kind = DOC_SKILL;
        entry->name = arena_printf(&arena, "acme/skill-%06zu", i);
        entry->origin = arena_printf(
            &arena, "https://github.com/acme/catalog/tree/main/skills/s-%zu",
            i);
        entry->commit = STR(C40);
        entry->object = STR(T40);
        entry->digest = STR(D64);
        entry->version = STR("1.2.3");
        entry->place = arena_printf(&arena, ".agents/skills/skill-%zu", i);
        entry->need_count = i < 3 ? 0 : 3;
        entry->needs = arena_array(&arena, 3, sizeof(struct lock_need));
        for (size_t k = 0; k < entry->need_count; k++) {
            entry->needs[k].kind = DOC_SKILL;
            entry->needs[k].name = lock.entries[i * (k + 1) / 4].name;
        }
    }
    return lock;
}

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* 10,000 packages in some 10 ms; the bound leaves room for sanitizers. */
TEST(ten_thousand_packages)
{
    CLEANUP(buf_done) struct buf out = {0};
    CLEANUP(buf_done) struct buf again = {0};
    struct lock lock = large_lock(10000), back;
    struct err e = {0};
    double start = seconds(), written;

    formatted(&lock, &out);
    written = seconds();
    CHECK(lock_parse(buf_str(&out), "l", &arena, &back, &e));
    printf("# %zu bytes: written in %.1f ms, read in %.1f ms\n", out.n,
           (written - start) * 1e3, (seconds() - written) * 1e3);
    CHECK(seconds() - start < 2);
    CHECK_STR(err_first(&e), "");
    CHECK(back.count == 10000);
    CHECK(str_eq(formatted(&back, &again), buf_str(&out)));
    arena_done(&arena);
}

/* [D7, F13] */
TEST(a_patch_stands_behind_the_path)
{
    static const char text[] =
        "version: 2\n"
        "packages:\n"
        "  - type: skill\n"
        "    name: acme/git-pr\n"
        "    origin: https://github.com/acme/catalog/tree/main/skills/git-pr\n"
        "    commit: " C40 "\n"
        "    tree: " T40 "\n"
        "    digest: " D64 "\n"
        "    version: 1.0.0\n"
        "    path: .agents/skills/git-pr\n"
        "    patch: " D64 "\n"
        "    hidden: allowed\n";
    CLEANUP(buf_done) struct buf out = {0};
    CLEANUP(arena_done) struct arena a = {0};
    struct lock lock;
    struct err e = {0};

    CHECK(lock_parse(str_cstr(text), "l", &a, &lock, &e));
    CHECK(str_is(lock.entries[0].patch, D64));
    CHECK(str_is(formatted(&lock, &out), text));
    buf_done(&out);
    lock.entries[0].patch = STR("");
    CHECK(str_starts(formatted(&lock, &out), STR("version: 1\n")));
}

/* [D6, F13] */
TEST(a_tag_stands_before_the_commit)
{
    static const char text[] =
        "version: 2\n"
        "packages:\n"
        "  - type: skill\n"
        "    name: acme/git-pr\n"
        "    origin: https://github.com/acme/catalog/tree/^1.2/skills/git-pr\n"
        "    also: "
        "[https://github.com/acme/catalog/tree/~1.4/skills/git-pr#" C40 "]\n"
        "    tag: v1.4.2\n"
        "    commit: " C40 "\n"
        "    tree: " T40 "\n"
        "    digest: " D64 "\n"
        "    path: .agents/skills/git-pr\n";
    CLEANUP(buf_done) struct buf out = {0};
    CLEANUP(arena_done) struct arena a = {0};
    struct lock lock;
    struct err e = {0};

    CHECK(lock_parse(str_cstr(text), "l", &a, &lock, &e));
    CHECK(str_is(lock.entries[0].tag, "v1.4.2"));
    CHECK(str_is(formatted(&lock, &out), text));
    buf_done(&out);
    lock.entries[0].tag = STR("");
    lock.entries[0].also_count = 0;
    CHECK(str_starts(formatted(&lock, &out), STR("version: 1\n")));
}

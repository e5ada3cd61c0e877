#include "base/fs.h"
#include "base/text.h"
#include "mapm/input.h"
#include "mapm/metaskill.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"

/* A metaskill's folder, its texts, and its program before it is run.
 * [K1, K2, K3, K4, K5, K6, K7, K8, K9, K10, K11, K12, K16, K41, X15]. */

static char top[] = "/tmp/runtime_skill_test-XXXXXX";
static int top_fd = -1;

__attribute__((constructor)) static void set_up(void)
{
    struct err e = {0};

    if (!mkdtemp(top) || !fs_open_dir(top, &top_fd, &e))
        abort();
}

__attribute__((destructor)) static void tear_down(void)
{
    struct err e = {0};

    if (!fs_remove_tree_at(AT_FDCWD, top, &e))
        abort();
}

static void put(const char *path, mode_t mode, struct str text)
{
    char folder[200];
    char *slash;
    struct err e = {0};

    snprintf(folder, sizeof folder, "%s", path);
    slash = strrchr(folder, '/');
    if (slash) {
        *slash = '\0';
        if (!fs_make_dirs_at(top_fd, folder, 0755, &e))
            abort();
    }
    if (!fs_create_at(top_fd, path, mode, text, &e))
        abort();
}

static struct str in_top(const char *name, struct arena *a)
{
    return arena_printf(a, "%s/%s", top, name);
}

#define HEAD(name) "---\nname: " name "\ndescription: Does something.\n"

static bool has_code(const struct diagnostics *why, const char *code)
{
    for (size_t i = 0; i < why->count; i++)
        if (strcmp(why->items[i].code, code) == 0)
            return true;
    return false;
}

/* --- the folder ------------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *name, *head; /* behind name and description */
    const char *file;        /* of the program, written unless NULL */
    const char *link;        /* "file" leads there */
    const char *text;
    const char *found; /* "" : static */
    const char *code;  /* of a diagnostic */
} folders[] = {
    /* [K1, K3, K4] */
    {"plain", "", "SKILL.star", NULL, "def run(input): pass\n", "SKILL.star", NULL},
    {"other", "metaskill: lib/flow.star\n", "lib/flow.star", NULL, "x = 1\n", "lib/flow.star", NULL},
    {"normal", "metaskill: ./lib/../flow.star\n", "flow.star", NULL, "x = 1\n", "flow.star", NULL},
    {"none", "", NULL, NULL, NULL, "", NULL},
    {"missing", "metaskill: flow.star\n", NULL, NULL, NULL, "", "metaskill-not-found"},
    {"starlark", "metaskill_language: starlark\n", "SKILL.star", NULL, "x = 1\n", "SKILL.star", NULL},
    {"lua", "metaskill_language: lua\n", "SKILL.star", NULL, "x = 1\n", "", "metaskill-language"},
    /* [K10, X15] static, and said so */
    {"escapes", "metaskill: ../plain/SKILL.star\n", NULL, NULL, NULL, "", "metaskill-escapes"},
    {"absolute", "metaskill: /etc/passwd\n", NULL, NULL, NULL, "", "metaskill-not-relative"},
    {"linked-out", "", "SKILL.star", "../plain/SKILL.star", NULL, "", "metaskill-escapes"},
    {"linked-away", "", "SKILL.star", "/etc/passwd", NULL, "", "metaskill-escapes"},
    {"linked-in", "", "SKILL.star", "SKILL.md", NULL, "", "metaskill-frontmatter"},
    {"linked-loop", "", "SKILL.star", "SKILL.star", NULL, "", "metaskill-unreadable"},
    /* [K11] */
    {"latin", "", "SKILL.star", NULL, "x = '\xe4'\n", "", "metaskill-not-utf8"},
    {"front", "", "SKILL.star", NULL, "---\nname: x\n---\n", "", "metaskill-frontmatter"},
    /* [K12] */
    {"more", "x_other_host: [1, 2]\nunheard: of\n", "SKILL.star", NULL, "x = 1\n", "SKILL.star", NULL},
};
/* clang-format on */

static void make_folder(size_t i)
{
    char path[200], text[400];

    snprintf(path, sizeof path, "%s/SKILL.md", folders[i].name);
    snprintf(text, sizeof text, HEAD("%s") "%s---\nInput keys:\n- `a`: x\n",
             folders[i].name, folders[i].head);
    put(path, 0644, str_cstr(text));
    if (!folders[i].file)
        return;
    snprintf(path, sizeof path, "%s/%s", folders[i].name, folders[i].file);
    if (!folders[i].link)
        put(path, 0644, str_cstr(folders[i].text));
    else if (symlinkat(folders[i].link, top_fd, path) < 0)
        abort();
}

TEST(a_skill_and_its_program) /* [K1, K3, K4, K10, K11, K12, X15] */
{
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        struct arena a = {0};
        struct skill s;
        struct err e = {0};

        make_folder(i);
        if (metaskill_read(in_top(folders[i].name, &a), &limits_default, &a, &s,
                           &e)) {
            CHECK_STR(str_dup0(s.file, &a), folders[i].found);
            CHECK_STR(str_dup0(s.document.name, &a), folders[i].name);
            CHECK(s.why.errors == 0);
            CHECK(!folders[i].code || has_code(&s.why, folders[i].code));
            CHECK(str_is(s.program, *folders[i].found ? folders[i].text : ""));
        } else {
            CHECK(false);
            printf("# %s\n", err_first(&e));
        }
        if (tap_failed)
            printf("# %s\n", folders[i].name);
        arena_done(&a);
    }
}

TEST(a_program_has_64_KiB) /* [K11] */
{
    for (size_t over = 0; over < 2; over++) {
        struct arena a = {0};
        CLEANUP(buf_done) struct buf b = {0};
        struct skill s;
        struct err e = {0};
        const char *name = over ? "large" : "full";
        char path[100];

        buf_init(&b, 1u << 20);
        while (b.n < PROGRAM_MAX_BYTES + over)
            buf_char(&b, '#');
        snprintf(path, sizeof path, "%s/SKILL.star", name);
        put(path, 0644, buf_str(&b));
        snprintf(path, sizeof path, "%s/SKILL.md", name);
        put(path, 0644,
            arena_printf(&a, HEAD("%s") "---\nInput keys: none\n", name));
        CHECK(metaskill_read(in_top(name, &a), &limits_default, &a, &s, &e));
        CHECK(s.program.n == (over ? 0 : PROGRAM_MAX_BYTES));
        CHECK(has_code(&s.why, "metaskill-size") == over);
        arena_done(&a);
    }
}

TEST(every_file_is_hashed_and_no_link)
{
    struct arena a = {0};
    struct skill s;
    struct err e = {0};
    struct hash want = hash_of(STR("echo\n"));

    put("many/SKILL.md", 0644, STR(HEAD("many") "---\nBody\n"));
    put("many/scripts/run.sh", 0755, STR("echo\n"));
    put("many/a/b/c.txt", 0644, STR("c"));
    put("many/.git/config", 0644, STR("secret"));
    CHECK(symlinkat("/etc", top_fd, "many/etc") == 0);
    CHECK(mkfifoat(top_fd, "many/fifo", 0600) == 0);
    CHECK(metaskill_read(in_top("many", &a), &limits_default, &a, &s, &e));
    CHECK(s.file_count == 3);
    CHECK(str_is(s.files[0].path, "SKILL.md"));
    CHECK(str_is(s.files[1].path, "a/b/c.txt"));
    CHECK(str_is(s.files[2].path, "scripts/run.sh"));
    CHECK(s.files[2].executable && !s.files[1].executable);
    CHECK(hash_eq(&s.files[2].hash, &want));
    arena_done(&a);
}

TEST(a_skill_that_is_none)
{
    static const struct {
        const char *name, *text;
        enum err_code code;
    } rows[] = {
        {"not-there", NULL, ERR_NOT_FOUND},
        {"empty", "", ERR_FRONTMATTER},
        {"undescribed", "---\nname: undescribed\n---\n", ERR_FRONTMATTER},
        {"bad--folder", "---\nname: a--b\ndescription: x\n---\n", ERR_NAME},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct skill s;
        struct err e = {0};
        char path[100];

        snprintf(path, sizeof path, "%s/SKILL.md", rows[i].name);
        if (rows[i].text)
            put(path, 0644, str_cstr(rows[i].text));
        CHECK(!metaskill_read(in_top(rows[i].name, &a), &limits_default, &a, &s,
                              &e));
        CHECK(e.code == rows[i].code);
        if (tap_failed)
            printf("# %s: %s %s\n", rows[i].name, err_code_name(e.code),
                   err_first(&e));
        arena_done(&a);
    }
}

TEST(a_folder_has_the_limits_of_a_package)
{
    struct arena a = {0};
    struct skill s;
    struct limits l;
    struct err e = {0};
    struct str folder;

    put("limited/SKILL.md", 0644, STR(HEAD("limited") "---\nBody\n"));
    put("limited/a/b/c", 0644, STR("123456789"));
    folder = in_top("limited", &a);
    l = limits_default;
    CHECK(metaskill_read(folder, &l, &a, &s, &e));
    l.package_max_files.value = 1;
    CHECK(!metaskill_read(folder, &l, &a, &s, &e) && e.code == ERR_LIMIT);
    l = limits_default;
    l.file_max_bytes.value = 8;
    CHECK(!metaskill_read(folder, &l, &a, &s, &e) && e.code == ERR_LIMIT);
    l = limits_default;
    l.package_max_bytes.value = 20;
    CHECK(!metaskill_read(folder, &l, &a, &s, &e) && e.code == ERR_LIMIT);
    l = limits_default;
    l.package_max_depth.value = 2;
    CHECK(!metaskill_read(folder, &l, &a, &s, &e) && e.code == ERR_LIMIT);
    l.package_max_depth.value = 3;
    CHECK(metaskill_read(folder, &l, &a, &s, &e));
    arena_done(&a);
}

/* --- texts ---------------------------------------------------------------------------- */

TEST(activation_is_text_and_runs_nothing) /* [K7, K9, K16, K41] */
{
    struct arena a = {0};
    struct skill s;
    struct err e = {0};
    struct str text;

    put("shown/SKILL.md", 0644,
        STR(HEAD("shown") "---\n\n# Title <!-- a\nnote -->here\n\nInput keys:\n"
                          "- `a`: b\n<!-- open\n"));
    put("shown/SKILL.star", 0644, STR("fail('it was run')\n"));
    put("shown/ref/x.md", 0644, STR("x"));
    CHECK(metaskill_read(in_top("shown", &a), &limits_default, &a, &s, &e));
    text = arena_printf(&a,
                        "[Skill: shown activated]\n\n<skill-instructions>\n"
                        "# Title here\n\nInput keys:\n- `a`: b\n<!-- open\n"
                        "</skill-instructions>\n\nSkill directory: %s/shown\n"
                        "Supporting files:\n- SKILL.star\n- ref/x.md",
                        top);
    CHECK_STR(str_dup0(metaskill_activation(&s, &a), &a), text.p);
    text = arena_printf(&a,
                        "error: input is required. The instructions of the "
                        "skill say which keys it expects.\n\n%s\n\nRetry "
                        "run_metaskill with the correct input keys.",
                        text.p);
    CHECK_STR(str_dup0(input_missing(&s, &a), &a), text.p);
    arena_done(&a);
}

TEST(activation_is_cut) /* [K7, K41] */
{
    struct arena a = {0};
    struct skill s;
    struct err e = {0};
    struct str text;
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, 1u << 20);
    buf_text(&b, HEAD("long") "---\n");
    for (int i = 0; i < 20001; i++)
        buf_text(&b, "\xc3\xa4");
    put("long/SKILL.md", 0644, buf_str(&b));
    for (int i = 0; i < 52; i++) {
        char path[100];
        snprintf(path, sizeof path, "long/file-%02d", i);
        put(path, 0644, STR("x"));
    }
    CHECK(metaskill_read(in_top("long", &a), &limits_default, &a, &s, &e));
    text = metaskill_activation(&s, &a);
    CHECK(str_find(text, STR("\xc3\xa4\n[truncated at 20000 characters]\n"
                             "</skill-instructions>")) != SIZE_MAX);
    CHECK(str_find(text, STR("\n- file-49\n- and 2 more")) != SIZE_MAX);
    CHECK(text_count(text) < 22000);
    arena_done(&a);
}

/* --- a program before it is run ------------------------------------------------------------ */

/* clang-format off */
static const struct {
    const char *program;
    const char *code; /* NULL: nothing is wrong */
    unsigned line;
    const char *message;
} programs[] = {
    {"def run(input): pass", NULL, 0, NULL},
    {"def run(input, x=1, *a, y=2, **k): pass", NULL, 0, NULL},
    {"def run(*args): pass", NULL, 0, NULL},
    {"def run(input={}): pass", NULL, 0, NULL},
    {"run = lambda x: x", NULL, 0, NULL},
    {"def f(x): pass\nrun = f", NULL, 0, NULL},
    {"def run(input): ask(command, trace)", NULL, 0, NULL},
    {"fail('never run')\ndef run(input): pass", NULL, 0, NULL},
    {"x = [1][5]\ndef run(input): pass", NULL, 0, NULL},
    {"", "program-run", 1, "S.star:1:1: no function run: a metaskill begins with def run(input):"},
    {"def main(input): pass", "program-run", 1, "S.star:1:1: no function run"},
    {"def f(run): pass", "program-run", 1, "S.star:1:1: no function run"},
    {"x = 1\n\ndef run(): pass", "program-run", 3, "S.star:3:1: run takes no argument"},
    {"def run(**kwargs): pass", "program-run", 1, "S.star:1:1: run takes no argument"},
    {"def run(*, x=1): pass", "program-run", 1, "S.star:1:1: run takes no argument"},
    {"def run(a, b): pass", "program-run", 1, "S.star:1:1: run needs more than one argument"},
    {"def run(a, b, c=1): pass", "program-run", 1, "S.star:1:1: run needs more than one argument"},
    {"def run(a, *, b): pass", "program-run", 1, "S.star:1:1: run needs more than one argument"},
    {"def run(a=1, *, b=2, c): pass", "program-run", 1, "S.star:1:1: run needs more than one argument"},
    {"def run(a, *args, b): pass", "program-run", 1, "S.star:1:1: run needs more than one argument"},
    {"def run(a, *, b=2, c=3): pass", NULL, 0, NULL},
    {"run = lambda: 1", "program-run", 1, "S.star:1:7: run takes no argument"},
    {"def run(input):\n  return 1 +", "program-syntax", 2, "S.star:2:13: "},
    {"def run(input):\n  return {", "program-syntax", 2, "S.star:2:"},
    {"def run(input): return 'x", "program-syntax", 1, "S.star:1:24: "},
    {"x = 1\nx = 2\ndef run(input): pass", "program-syntax", 2, "S.star:2:1: cannot reassign global x declared at S.star:1:1"},
    {"def run(input): return foo", "program-name", 1, "S.star:1:24: undefined: foo"},
    {"def run(input): return aks('x')", "program-name", 1, "S.star:1:24: undefined: aks"},
    {"load('x.star', 'x')\ndef run(input): pass", "program-load", 1, "S.star:1:1: load is not available: metaskills are hermetic"},
    {"def run(input):\n  load('x.star', 'x')", "program-load", 2, "S.star:2:3: load"},
};
/* clang-format on */

TEST(a_program_is_judged) /* [K19, K21] */
{
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        struct arena a = {0};
        struct diagnostics why;

        diagnostics_init(&why, &a);
        metaskill_check_program(STR("S.star"), str_cstr(programs[i].program),
                                &why);
        CHECK(why.count == (programs[i].code ? 1 : 0));
        if (why.count && programs[i].code) {
            CHECK(why.items[0].error);
            CHECK_STR(why.items[0].code, programs[i].code);
            CHECK(why.items[0].line == programs[i].line);
            struct str place =
                arena_printf(&a, "%.*s:%u:%u: %.*s", STR_ARG(why.items[0].file),
                             why.items[0].line, why.items[0].column,
                             STR_ARG(why.items[0].message));
            CHECK(str_starts(place, str_cstr(programs[i].message)));
        }
        if (tap_failed)
            for (size_t k = 0; k < why.count; k++)
                printf("# %s: %s %.*s\n", programs[i].program,
                       why.items[k].code, STR_ARG(why.items[k].message));
        arena_done(&a);
    }
}

TEST(all_errors_are_said_at_once)
{
    static const char *const codes[] = {"program-load", "program-name",
                                        "program-name", "program-syntax"};
    struct arena a = {0};
    struct diagnostics why;

    diagnostics_init(&why, &a);
    metaskill_check_program(STR("S.star"),
                            STR("load('x', 'y')\n"
                                "def run(input):\n"
                                "  return foo(bar)\n"
                                "z = 1\n"
                                "z = 2\n"),
                            &why);
    CHECK(why.count == 4 && why.errors == 4);
    for (size_t i = 0; i < why.count && i < 4; i++)
        CHECK_STR(why.items[i].code, codes[i]);
    arena_done(&a);
}

TEST(a_file_of_any_name_has_places)
{
    static const char *const names[] = {"a b.star", "x:1:2: y", "\xc3\xa4",
                                        "\x1b[31m", ""};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct arena a = {0};
        struct diagnostics why;

        diagnostics_init(&why, &a);
        metaskill_check_program(str_cstr(names[i]),
                                STR("def run(input):\n  return foo"), &why);
        CHECK(why.count == 1 && why.items[0].line == 2 &&
              why.items[0].column == 10);
        CHECK(str_is(why.items[0].file, names[i]));
        arena_done(&a);
    }
}

TEST(a_program_that_is_too_large_or_no_text_is_said)
{
    struct arena a = {0};
    CLEANUP(buf_done) struct buf b = {0};
    struct diagnostics why;

    buf_init(&b, 1u << 20);
    while (b.n <= PROGRAM_MAX_BYTES)
        buf_char(&b, '#');
    diagnostics_init(&why, &a);
    metaskill_check_program(STR("S.star"), buf_str(&b), &why);
    CHECK(why.errors == 1);
    diagnostics_init(&why, &a);
    metaskill_check_program(STR("S.star"), STR("x = '\xff\0'"), &why);
    CHECK(why.errors >= 1);
    arena_done(&a);
}

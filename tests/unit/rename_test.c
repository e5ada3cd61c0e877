#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/limits.h"

#include "document_case.h"

/* [M33, X2, X9] another name, all other bytes kept. */
static const struct {
    const char *text, *name, *result; /* NULL: refused */
} rows[] = {
    {"---\nname: foo\ndescription: d\n---\nB\n", "bar",
     "---\nname: bar\ndescription: d\n---\nB\n"},
    {"---\r\nname: foo\r\ndescription: d\r\n---\r\nB\r\n", "bar",
     "---\r\nname: bar\r\ndescription: d\r\n---\r\nB\r\n"},
    {"---\nname:   \"foo\"   # why\nx: y\n---\n", "bar",
     "---\nname:   \"bar\"   # why\nx: y\n---\n"},
    {"---\nname: 'foo'# x\n---\n", "bar", "---\nname: 'bar'# x\n---\n"},
    {"---\nx: 1 # name: z\n'name' : 'foo' # why\n---\n", "bar",
     "---\nx: 1 # name: z\n'name' : 'bar' # why\n---\n"},
    {"---\nname: Foo Bar Baz # why\n---\n", "bar",
     "---\nname: bar # why\n---\n"},
    {"---\nname:\ndescription: d\n---\n", "bar",
     "---\nname: bar\ndescription: d\n---\n"},
    {"---\nname: # why\ndescription: d\n---\n", "bar",
     "---\nname: bar # why\ndescription: d\n---\n"},
    {"---\nname: |\n  foo\n  x\ndescription: d\n---\n", "bar",
     "---\nname: bar\ndescription: d\n---\n"},
    {"---\nname: >-\n  foo\n---\nB", "bar", "---\nname: bar\n---\nB"},
    {"---\nname:\n  foo\nx: y\n---\n", "bar", "---\nname: bar\nx: y\n---\n"},
    {"---\nname:\n- a\n- b\nx: y\n---\n", "bar", "---\nname: bar\nx: y\n---\n"},
    {"---\nname: [a, b]\nx: y\n---\n", "bar", "---\nname: bar\nx: y\n---\n"},
    {"---\nname: {a: b}\n---\n", "bar", "---\nname: bar\n---\n"},
    {"---\n{name: foo, description: d}\n---\n", "bar",
     "---\n{name: bar, description: d}\n---\n"},
    {"---\n{description: d}\n---\n", "bar",
     "---\n{name: bar, description: d}\n---\n"},
    {"---\n{}\n---\n", "bar", "---\n{name: bar}\n---\n"},
    {"---\n? name\n: foo\n---\n", "bar", "---\n? name\n: bar\n---\n"},
    {"---\ndescription: d\n---\nB", "bar",
     "---\nname: bar\ndescription: d\n---\nB"},
    {"---\r\n# c\r\n\r\n  description: d\r\n  x: y\r\n---\r\n", "bar",
     "---\r\n# c\r\n\r\n  name: bar\r\n  description: d\r\n  x: y\r\n---\r\n"},
    {"---\n---\nB\n", "bar", "---\nname: bar\n---\nB\n"},
    {"---\n# c\n---\nB\n", "bar", "---\nname: bar\n# c\n---\nB\n"},
    {"\xef\xbb\xbf---\nname: foo\n---\n", "bar",
     "\xef\xbb\xbf---\nname: bar\n---\n"},
    {"---\nname: foo\n---\n", "365", "---\nname: \"365\"\n---\n"},
    {"---\nname: foo\n---\n", "on", "---\nname: \"on\"\n---\n"},
    {"---\nname: 'foo'\n---\n", "on", "---\nname: 'on'\n---\n"},
    {"---\r\n\r\nname: |\r\n  foo\r\n---\r\n", "bar",
     "---\r\n\r\nname: bar\r\n---\r\n"},
    {"---\rname: |\r  foo\rx: y\r---\r", "bar", "---\rname: bar\rx: y\r---\r"},
    /* [A4] what had to be repaired to be read */
    {"---\nname: foo\ndescription: a: b\n---\n", "bar",
     "---\nname: bar\ndescription: a: b\n---\n"},
    {"---\ndescription: it's: b\nname: \"foo\" # c\n---\n", "bar",
     "---\ndescription: it's: b\nname: \"bar\" # c\n---\n"},
    {"---\ndescription: a: b\nname: |\n  foo\nx: y\n---\n", "bar",
     "---\ndescription: a: b\nname: bar\nx: y\n---\n"},
    {"---\nname: foo: it's a b\nx: y\n---\n", "bar",
     "---\nname: bar\nx: y\n---\n"},
    /* [F5] */
    {"---\nname: \"foo\" it's  \nx: y\n---\n", "bar",
     "---\nname: bar  \nx: y\n---\n"},
    {"---\nname: 'foo' b\nx: y\n---\n", "bar", "---\nname: bar\nx: y\n---\n"},
    {"---\nname: *foo* b\ndescription: \"a\" b\n---\n", "bar",
     "---\nname: bar\ndescription: \"a\" b\n---\n"},
    {"---\ndescription: 'a' it's\nname: 'foo'\n---\n", "bar",
     "---\ndescription: 'a' it's\nname: 'bar'\n---\n"},
    {"---\ndescription: a: b\n---\n", "bar",
     "---\nname: bar\ndescription: a: b\n---\n"},
    /* refused */
    {"name: foo\n", "bar", NULL},
    {"---\nname: foo\n", "bar", NULL},
    {"---\n- name: foo\n---\n", "bar", NULL},
    {"---\nname: foo\nname: baz\n---\n", "bar", NULL},
    {"---\nname: foo\n---\n", "Bar", NULL},
    {"---\nname: foo\n---\n", "a: b", NULL},
    {"---\nname: foo\n---\n", "", NULL},
};

TEST(renaming) /* [X9] */
{
    for (size_t i = 0; i < ROWS(rows); i++) {
        struct arena a = {0};
        struct str out = STR("untouched");
        struct err e = {0};
        bool ok = manifest_rename(str_cstr(rows[i].text),
                                  str_cstr(rows[i].name), &a, &out, &e);

        if (ok != (rows[i].result != NULL))
            printf("# %s%s\n", rows[i].text, err_first(&e));
        CHECK(ok == (rows[i].result != NULL));
        CHECK_STR(str_dup0(out, &a),
                  ok && rows[i].result ? rows[i].result : "untouched");
        CHECK(ok || e.code == ERR_FRONTMATTER || e.code == ERR_NAME);
        arena_done(&a);
    }
}

TEST(what_is_no_text_or_too_large_is_not_renamed) /* [row 5] */
{
    struct arena a = {0};
    char *text = arena_alloc(&a, ANCHOR_MAX_BYTES + 1);
    struct str out = STR("untouched");
    struct err e = {0};

    memset(text, 'x', ANCHOR_MAX_BYTES + 1);
    memcpy(text, "---\nname: foo\n---\n", 18);
    CHECK(manifest_rename(str_make(text, ANCHOR_MAX_BYTES), STR("foo"), &a,
                          &out, &e));
    CHECK(out.n == ANCHOR_MAX_BYTES);
    out = STR("untouched");
    CHECK(!manifest_rename(str_make(text, ANCHOR_MAX_BYTES + 1), STR("foo"), &a,
                           &out, &e));
    CHECK(e.code == ERR_FRONTMATTER && str_is(out, "untouched"));
    text[20] = '\0';
    CHECK(!manifest_rename(str_make(text, 100), STR("foo"), &a, &out, &e));
    CHECK(str_is(out, "untouched"));
    arena_done(&a);
}

/* The copy is read under its new name, and its body is the same. */
TEST(a_renamed_copy_has_its_folders_name) /* [X2] */
{
    for (size_t i = 0; i < ROWS(rows); i++) {
        CLEANUP(reading_done) struct reading r = {0};
        struct str out, name = str_cstr(rows[i].name);
        struct err e = {0};

        if (!rows[i].result ||
            !manifest_rename(str_cstr(rows[i].text), name, &r.a, &out, &e))
            continue;
        diagnostics_init(&r.why, &r.a);
        manifest_read(&(struct manifest_input){.kind = DOC_SKILL,
                                               .text = out,
                                               .folder = name},
                      &r.a, &r.doc, &r.why);
        CHECK(str_eq(r.doc.name, name));
        CHECK(!r.doc.name_replaced && !r.doc.name_differs);
    }
}

#ifndef TESTS_DOCUMENT_CASE_H
#define TESTS_DOCUMENT_CASE_H

/* What the tests of documents share: files beside one, and diagnostics as text
 * that a row of a table can hold. */

#include "base/text.h"
#include "mapm/diagnostics.h"
#include "mapm/document.h"

#include "tap.h"

#define ROWS(table) (sizeof(table) / sizeof *(table))

/* Repeats for edges: 10, 100, 1,000 times. */
#define X10(x)   x x x x x x x x x x
#define X100(x)  X10(X10(x))
#define X1000(x) X10(X100(x))

#define GH "https://github.com/"
/* A document around its frontmatter. */
#define DOC(frontmatter) "---\n" frontmatter "---\n\nBody.\n"
#define NAMED(more)      DOC("name: foo\ndescription: Does it.\n" more)
/* One that MetaAgents accepts. */
#define FULL(more) NAMED("version: 1.0.0\n" more)

struct case_file {
    const char *path;
    enum manifest_file state;
    struct str content;
};

struct case_files {
    const struct case_file *items;
    size_t count;
};

static inline enum manifest_file case_read(void *ctx, struct str path,
                                           size_t max_bytes, struct arena *a,
                                           struct str *content)
{
    const struct case_files *files = ctx;

    (void)a;
    for (size_t i = 0; i < files->count; i++) {
        const struct case_file *f = &files->items[i];

        if (!str_is(path, f->path))
            continue;
        if (f->state == MANIFEST_FILE_OK && max_bytes &&
            f->content.n > max_bytes)
            return MANIFEST_FILE_TOO_LARGE;
        *content = f->content;
        return f->state;
    }
    return MANIFEST_FILE_MISSING;
}

/* One reading, with what it came from. */
struct reading {
    struct arena a;
    struct document doc;
    struct diagnostics why;
};

static inline void reading_done(struct reading *r)
{
    arena_done(&r->a);
}

static inline void reading_of(struct reading *r, struct manifest_input in)
{
    *r = (struct reading){0};
    diagnostics_init(&r->why, &r->a);
    manifest_read(&in, &r->a, &r->doc, &r->why);
}

/* "code:line!" for an error, "code:line" for a warning, blanks between. */
static inline const char *diagnostics_text(struct reading *r)
{
    struct str s = STR("");

    for (size_t i = 0; i < r->why.count; i++) {
        const struct diagnostic *c = &r->why.items[i];

        s = arena_printf(&r->a, "%.*s%s%s:%u%s", STR_ARG(s), s.n ? " " : "",
                         c->code, c->line, c->error ? "!" : "");
    }
    return str_dup0(s, &r->a);
}

/* 'E', 'W', or '-' when the code was not said. */
static inline char level_said(const struct reading *r, const char *code)
{
    char level = '-';

    for (size_t i = 0; i < r->why.count; i++)
        if (strcmp(r->why.items[i].code, code) == 0)
            level = r->why.items[i].error || level == 'E' ? 'E' : 'W';
    return level;
}

#endif

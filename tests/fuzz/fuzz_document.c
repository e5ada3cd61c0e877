/* manifest: a SKILL.md or AGENTS.md under every profile, and renamed. Lines
 * lie in the text, diagnostics are UTF-8, errors and counts agree, and a copy
 * with another name reads under it. [row 5, row 6, row 7]. */
#include "base/text.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/limits.h"
#include "mapm/name.h"

#include <stdlib.h>
#include <string.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum manifest_file read_beside(void *ctx, struct str path, size_t max,
                                      struct arena *a, struct str *content)
{
    const struct str *text = ctx;

    (void)a;
    if (path.n == 0 || path.p[0] == '/' || str_starts(path, STR("../")))
        abort();
    if (path.n % 3 == 1)
        return MANIFEST_FILE_MISSING;
    if (max && text->n > max)
        return MANIFEST_FILE_TOO_LARGE;
    *content = *text;
    return MANIFEST_FILE_OK;
}

static size_t count_lines(struct str text)
{
    size_t lines = 2;

    for (size_t i = 0; i < text.n; i++)
        lines += text.p[i] == '\n' || text.p[i] == '\r';
    return lines;
}

static void check_diagnostics(const struct diagnostics *why, struct str text)
{
    size_t errors = 0, lines = count_lines(text);

    for (size_t i = 0; i < why->count; i++) {
        const struct diagnostic *c = &why->items[i];

        errors += c->error;
        OUTCOME("%s:%u ", c->code, c->line);
        outcome_str("", c->message);
        if (!c->code[0] || c->message.n == 0 || c->line > lines ||
            !text_is_utf8(c->message) || !text_is_utf8(c->field))
            abort();
    }
    if (errors != why->errors || why->count - errors != why->warnings)
        abort();
}

static void check_result(const struct document *d,
                         const struct diagnostics *why,
                         const struct manifest_input *in)
{
    struct err e = {0};

    if (why->errors) {
        if (diagnostics_fail(why, in->kind, "x", &e) || e.code == ERR_NONE)
            abort();
        return;
    }
    if (d->description.n == 0 || d->name.n == 0)
        abort();
    outcome_str("name", d->name);
    outcome_str("scope", d->scope);
    outcome_str("description", d->description);
    OUTCOME("version %s\n", d->skill_version);
    if (in->profile == PROFILE_INSTALL &&
        (!name_is_kebab(d->name) ||
         (d->scope.n && !name_scope_is_valid(d->scope)) ||
         !d->skill_version[0]))
        abort();
    for (size_t i = 0; i < d->dep_count; i++)
        if (d->deps[i].origin->key.n == 0)
            abort();
}

static void read_under(struct str text, enum profile p, unsigned bits,
                       struct arena *a)
{
    struct manifest_files files = {read_beside, &text};
    struct document d;
    struct diagnostics why;
    struct manifest_input in = {
        .kind = bits & 1 ? DOC_AGENT : DOC_SKILL,
        .text = text,
        .folder = bits & 2 ? STR("foo") : STR(""),
        .files = bits & 4 ? &files : NULL,
        .profile = p,
        .strict = bits & 8,
        .allow_file = bits & 16,
        .allow_hidden = bits & 32,
    };

    diagnostics_init(&why, a);
    manifest_read(&in, a, &d, &why);
    check_diagnostics(&why, text);
    check_result(&d, &why, &in);
}

static void check_rename(struct str text, struct arena *a)
{
    struct document before, d;
    struct diagnostics why;
    struct str out, name = STR("re-named");
    struct err e = {0};
    struct manifest_input in = {.kind = DOC_SKILL, .folder = name};

    if (!manifest_rename(text, name, a, &out, &e)) {
        outcome_err(&e);
        return;
    }
    outcome_str("renamed", out);
    diagnostics_init(&why, a);
    in.text = text;
    manifest_read(&in, a, &before, &why);
    in.text = out;
    manifest_read(&in, a, &d, &why);
    if (!text_is_utf8(out))
        return;
    if (out.n <= ANCHOR_MAX_BYTES &&
        (!str_eq(d.name, name) || d.name_replaced || d.name_differs ||
         strcmp(d.skill_version, before.skill_version) != 0))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str text = str_make((const char *)data, size);
    unsigned bits = size ? data[size - 1] : 0;

    if (size >= 1 << 20)
        return 0;
    for (enum profile p = PROFILE_INSTALL; p <= PROFILE_PUBLISH; p++)
        read_under(text, p, bits, &a);
    check_rename(text, &a);
    return 0;
}

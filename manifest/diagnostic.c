#include "base/text.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_MAX_BYTES 2048

void diagnostics_init(struct diagnostics *c, struct arena *a)
{
    *c = (struct diagnostics){.arena = a};
}

void diagnostics_add(struct diagnostics *c, bool error, const char *code,
                     const char *field, unsigned line, const char *format, ...)
{
    char message[MESSAGE_MAX_BYTES + 4] = "";
    struct diagnostic *item;
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    c->items = arena_grow(c->arena, c->items, c->count, &c->capacity,
                          sizeof *c->items);
    item = &c->items[c->count++];
    *item = (struct diagnostic){
        .error = error,
        .code = code,
        .field = arena_str(c->arena, str_cstr(field)),
        .line = line,
        .message = arena_str(
            c->arena, text_cut_bytes(str_cstr(message), MESSAGE_MAX_BYTES - 1)),
    };
    c->errors += error;
    c->warnings += !error;
}

void diagnostics_drop_hints(struct diagnostics *c)
{
    size_t n = 0;

    for (size_t i = 0; i < c->count; i++)
        if (!c->items[i].is_hint)
            c->items[n++] = c->items[i];
    c->count = n;
    c->hints = 0;
}

/* clang-format off */
static const struct {
    const char *prefix; /* prefix of the diagnostic's code */
    enum err_code code;
} codes[] = {
    {"name-",             ERR_NAME},
    {"mcp-",              ERR_MCP},
    {"dep-bad-origin",    ERR_ORIGIN},
    {"dep-file-origin",   ERR_ORIGIN},
    {"no-anchor",         ERR_NOT_FOUND},
    {"unreadable",        ERR_IO},
    {"too-large",         ERR_LIMIT},
    {"hidden-characters", ERR_REFUSED},
};
/* clang-format on */

/* Codes of warnings that users see. Errors are always shown. */
static const char *const for_users[] = {
    "name-folder", /* installed under another name than requested */
    "name-from-folder",  "deps-not-mapping", /* ignored dependencies */
    "deps-unknown-kind", "dep-bad-origin",   "hidden-characters",
    "zero-width",        "metaskill-", /* the program cannot be used */
};

/* Exceptions to "metaskill-": the program works, so only its author sees
 * these. */
static const char *const for_authors[] = {"metaskill-size",
                                          "metaskill-input-keys"};

static bool is_among(const char *code, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(code, list[i], strlen(list[i])) == 0)
            return true;
    return false;
}

bool diagnostic_is_for_user(const struct diagnostic *d)
{
    return d->error || (is_among(d->code, for_users,
                                 sizeof for_users / sizeof *for_users) &&
                        !is_among(d->code, for_authors,
                                  sizeof for_authors / sizeof *for_authors));
}

static enum err_code code_of(const char *code, enum doc_kind kind)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (strncmp(code, codes[i].prefix, strlen(codes[i].prefix)) == 0)
            return codes[i].code;
    return kind == DOC_MCP ? ERR_MCP : ERR_FRONTMATTER;
}

static void append_diagnostic(const struct diagnostic *c, struct err *e)
{
    char where[PACKAGE_PATH_MAX_BYTES + 32] = "";

    if (c->file.n)
        snprintf(where, sizeof where, "%.*s:%u:%u: ", STR_ARG(c->file), c->line,
                 c->column);
    else if (c->line)
        snprintf(where, sizeof where, "line %u: ", c->line);
    err_also(e, "%s%.*s (%s)", where, STR_ARG(c->message), c->code);
}

/* err_also() appends inner messages and messages are printed outermost first,
 * so the diagnostics appear in the order of the document. */
bool diagnostics_fail(const struct diagnostics *why, enum doc_kind kind,
                      const char *what, struct err *e)
{
    enum err_code code = ERR_FAILED;
    size_t said = 0;

    err_clear(e);
    for (size_t i = 0; i < why->count && said < ERROR_MAX_LINES; i++) {
        if (!why->items[i].error)
            continue;
        if (said++ == 0)
            code = code_of(why->items[i].code, kind);
        if (why->items[i].hint.n && !e->hint[0])
            err_hint(e, "%.*s", STR_ARG(why->items[i].hint));
        append_diagnostic(&why->items[i], e);
    }
    if (why->errors > said)
        err_also(e, "%zu more errors", why->errors - said);
    e->code = code;
    return err_wrap(e, "%s is refused", what);
}

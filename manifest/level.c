#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "document.h"

/*
 * The severity of each diagnostic by profile: E error, W warning, - none.
 * Under `install` also m: an error for agents and for packages that declare a
 * scope or MetaAgents dependencies, else a warning (a version alone makes no
 * package strict); i: an error when it is installed, a warning when it is read
 * in place.
 *
 * Columns: install agentskills skills-ref metis metaagents lm-kit metaskill
 * publish. Source: REQUIREMENTS 5, X2, X3, X6, X16, X17, X24; 4.1 for what
 * each standard's own reader accepts.
 */

/* clang-format off */
static const struct {
    const char *code, *levels;
} table[] = {
    {"no-anchor",              "EEEEEEEE"},
    {"unreadable",             "EEEEEEEE"},
    {"too-large",              "EEEEEEEE"},
    {"not-utf8",               "EEEEEEEE"},
    {"nul-bytes",              "EEEEEEEE"},
    {"bom",                    "WWEEWWEW"},
    {"no-frontmatter",         "EEEEEEEE"},
    {"unclosed-frontmatter",   "EEEEEEEE"},
    {"yaml",                   "EEEEEEEE"},
    {"yaml-repaired",          "W-------"},
    {"duplicate-key",          "EEEEEEEE"},
    {"not-a-mapping",          "EEEEEEEE"},
    {"unknown-field",          "--E---WW"},
    {"hidden-characters",      "EEEEEEEE"},
    {"zero-width",             "WWWWWWWW"},

    {"name-missing",           "EEEEEEEE"},
    {"name-type",              "EEEEEEEE"},
    {"name-empty",             "EEEEEEEE"},
    {"name-grammar",           "EEEEEEEE"},
    {"name-too-long",          "EEEEEEWE"},
    {"name-folder",            "mEEEE-EE"},
    {"name-from-folder",       "W-------"},
    {"description-missing",    "EEEEEEEE"},
    {"description-type",       "EEEEEEEE"},
    {"description-empty",      "EEEEEEEE"},
    {"description-too-long",   "mEEEEEWE"},
    {"description-when",       "-W----WW"},
    {"compatibility-type",     "WEEE-E-W"},
    {"compatibility-empty",    "-E-----W"},
    {"compatibility-too-long", "WEEE-E-W"},
    {"license-type",           "WE-E-E-W"},
    {"metadata-type",          "WE-E-E-W"},
    {"metadata-key",           "WE-E---W"},
    {"metadata-value",         "WE-E---W"},
    {"metadata-scalar",        "-W-W---W"},
    {"allowed-tools-type",     "WE-E-W-W"},
    {"allowed-tools-list",     "WE-E-W-W"},
    {"bool-type",              "W----E-W"},
    {"context-value",          "W----W-W"},
    {"version-missing",        "m---E--E"},
    {"version-format",         "m---EW-E"},
    {"scope-grammar",          "i---E--E"},
    {"scope-too-long",         "i---E--E"},
    {"prereqs-type",           "m---E--E"},
    {"prereqs-on-agent",       "i---E--E"},

    {"deps-not-mapping",       "m---E--E"},
    {"deps-not-list",          "i---E--E"},
    {"deps-unknown-kind",      "W---W--W"},
    {"deps-agents",            "----W---"},
    {"dep-not-string",         "i---E--E"},
    {"dep-bad-origin",         "i---E--E"},
    {"dep-object-form",        "W---W--W"},
    {"dep-file-origin",        "i---W--E"},
    {"dep-range",              "----E--W"},

    {"changelog-missing",      "-------E"},
    {"changelog-no-entry",     "-------E"},
    {"changelog-version",      "W------E"},

    {"metaskill-type",         "i-----EE"},
    {"metaskill-not-relative", "i-----EE"},
    {"metaskill-escapes",      "i-----EE"},
    {"metaskill-not-found",    "i-----EE"},
    {"metaskill-unreadable",   "i-----EE"},
    {"metaskill-not-utf8",     "i-----EE"},
    {"metaskill-frontmatter",  "i-----EE"},
    {"metaskill-size",         "W-----WW"},
    {"metaskill-language",     "W-----WW"},
    {"metaskill-input-keys",   "------WW"},
    {"program-syntax",         "E-----EE"},
    {"program-name",           "E-----EE"},
    {"program-run",            "E-----EE"},
    {"program-load",           "E-----EE"},

    {"body-tokens",            "WW-W---W"},
    {"body-lines",             "-W-----W"},
    {"body-truncated",         "W-----WW"},
    {"body-client-path",       "-------W"},
    {"reference-depth",        "-W-----W"},

    {"mcp-json",               "EEEEEEEE"},
    {"mcp-meta",               "EEEEEEEE"},
    {"mcp-name-missing",       "EEEEEEEE"},
    {"mcp-name",               "EEEEEEEE"},
    {"mcp-filename",           "EEEEEEEE"},
    {"mcp-leaf",               "EEEEEEEE"},
    {"mcp-type",               "EEEEEEEE"},
    {"mcp-command",            "EEEEEEEE"},
    {"mcp-command-path",       "EEEEEEEE"},
    {"mcp-shell",              "EEEEEEEE"},
    {"mcp-url",                "EEEEEEEE"},
    {"mcp-args",               "EEEEEEEE"},
    {"mcp-arg-expansion",      "EEEEEEEE"},
    {"mcp-env",                "EEEEEEEE"},
    {"mcp-placeholder",        "EEEEEEEE"},
    {"mcp-consent",            "WWWWWWWE"},
    {"mcp-format",             "WWWWEWWE"},
};
/* clang-format on */

static const char *find_levels(const char *code)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].code, code) == 0)
            return table[i].levels;
    return "EEEEEEEE";
}

enum level level_of(const struct reader *r, const char *code)
{
    switch (find_levels(code)[r->in->profile]) {
    case 'E':
        return LEVEL_ERROR;
    case 'W':
        return LEVEL_WARNING;
    case 'm':
        return r->metaagents ? LEVEL_ERROR : LEVEL_WARNING;
    case 'i':
        return r->in->in_place ? LEVEL_WARNING : LEVEL_ERROR;
    default:
        return LEVEL_OFF;
    }
}

static void PRINTF(6, 0)
    add(const struct reader *r, enum level level, const char *code,
        const char *field, unsigned line, const char *format, va_list args)
{
    char message[2048];

    if (level == LEVEL_OFF ||
        (level == LEVEL_ERROR &&
         r->why->errors - r->errors >= DIAGNOSTICS_MAX) ||
        (level == LEVEL_WARNING &&
         r->why->warnings - r->warnings >= DIAGNOSTICS_MAX))
        return;
    vsnprintf(message, sizeof message, format, args);
    diagnostics_add(r->why, level == LEVEL_ERROR, code, field, line, "%s",
                    message);
}

void report(const struct reader *r, const char *code, const char *field,
            unsigned line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(r, level_of(r, code), code, field, line, format, args);
    va_end(args);
}

void report_at(const struct reader *r, enum level level, const char *code,
               const char *field, unsigned line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add(r, level, code, field, line, format, args);
    va_end(args);
}

void diagnostics_grade(const struct manifest_input *in,
                       const struct diagnostics *from, struct diagnostics *to)
{
    const struct reader r = {
        .in = in,
        .why = to,
        .errors = to->errors,
        .warnings = to->warnings,
    };

    for (size_t i = 0; i < from->count; i++) {
        const struct diagnostic *c = &from->items[i];

        size_t before = to->count;

        report(&r, c->code, str_dup0(c->field, to->arena), c->line, "%.*s",
               STR_ARG(c->message));
        if (to->count == before)
            continue;
        to->items[before].file = arena_str(to->arena, c->file);
        to->items[before].column = c->column;
        to->items[before].hint = arena_str(to->arena, c->hint);
    }
}

const char *quoted(const struct reader *r, struct str text)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct str head = text_cut(text, 80);

    buf_init(&b, 8192);
    text_visible(&b, head, false);
    if (head.n < text.n)
        buf_text(&b, "\xe2\x80\xa6");
    return str_dup0(buf_str(&b), r->a);
}

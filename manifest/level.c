#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "document.h"

/* The severity of each diagnostic by profile: E error, W warning, - none. Under
 * `install` also m: an error for agents and for packages that declare a scope
 * or MetaAgents dependencies, else a warning (a version alone makes no package
 * strict); i: an error when the package is installed, a warning when it is read
 * in place; d: a hint for the developer of the package. Columns: the profiles, in
 * the order of `profiles`. Skills in Agent Plugins have the severities of Agent
 * Skills; a finding that Claude Code accepts silently has none. Source:
 * REQUIREMENTS 5, X2, X3, X6, X16, X17, X24;
 * 4.1 for the input that the reader of each standard accepts. */

/* clang-format off */
static const char *const profiles[] = {
    [PROFILE_INSTALL]     = "install",
    [PROFILE_AGENTSKILLS] = "agentskills",
    [PROFILE_SKILLS_REF]  = "skills-ref",
    [PROFILE_METIS]       = "metis",
    [PROFILE_METAAGENTS]  = "metaagents",
    [PROFILE_LM_KIT]      = "lm-kit",
    [PROFILE_METASKILL]   = "metaskill",
    [PROFILE_PUBLISH]     = "publish",
    [PROFILE_AGENT_PLUGIN]  = "agent-plugin",
    [PROFILE_CLAUDE_PLUGIN] = "claude-plugin",
    [PROFILE_MARKETPLACE]   = "marketplace",
};

static const struct {
    const char *code, *levels;
} table[] = {
    {"no-anchor",              "EEEEEEEEEE-"},
    {"unreadable",             "EEEEEEEEEE-"},
    {"too-large",              "EEEEEEEEEE-"},
    {"not-utf8",               "EEEEEEEEEE-"},
    {"nul-bytes",              "EEEEEEEEEE-"},
    {"bom",                    "WWEEWWEWW--"},
    {"no-frontmatter",         "EEEEEEEEEW-"},
    {"unclosed-frontmatter",   "EEEEEEEEEW-"},
    {"yaml",                   "EEEEEEEEEW-"},
    {"yaml-repaired",          "W----------"},
    {"duplicate-key",          "EEEEEEEEEW-"},
    {"not-a-mapping",          "EEEEEEEEEW-"},
    {"unknown-field",          "d-E---WW---"},
    {"hidden-characters",      "EEEEEEEEEE-"},
    {"zero-width",             "WWWWWWWWWW-"},

    {"name-missing",           "EEEEEEEEE--"},
    {"name-type",              "EEEEEEEEE--"},
    {"name-empty",             "EEEEEEEEE--"},
    {"name-grammar",           "EEEEEEEEE--"},
    {"name-too-long",          "EEEEEEWEE--"},
    {"name-folder",            "mEEEE-EEE--"},
    {"name-from-folder",       "W----------"},
    {"description-missing",    "EEEEEEEEEW-"},
    {"description-type",       "EEEEEEEEEW-"},
    {"description-empty",      "EEEEEEEEEW-"},
    {"description-too-long",   "mEEEEEWEEW-"},
    {"description-when",       "dW----WWW--"},
    {"compatibility-type",     "WEEE-E-WE--"},
    {"compatibility-empty",    "-E-----WE--"},
    {"compatibility-too-long", "WEEE-E-WE--"},
    {"license-type",           "WE-E-E-WE--"},
    {"metadata-type",          "WE-E-E-WE--"},
    {"metadata-key",           "WE-E---WE--"},
    {"metadata-value",         "WE-E---WE--"},
    {"metadata-scalar",        "-W-W---WW--"},
    {"allowed-tools-type",     "WE-E-W-WE--"},
    {"allowed-tools-list",     "WE-E-W-WE--"},
    {"bool-type",              "W----E-W---"},
    {"context-value",          "W----W-W---"},
    {"version-missing",        "m---E--E---"},
    {"version-format",         "m---EW-E---"},
    {"scope-grammar",          "i---E--E---"},
    {"scope-too-long",         "i---E--E---"},
    {"prereqs-type",           "m---E--E---"},
    {"prereqs-on-agent",       "i---E--E---"},

    {"deps-not-mapping",       "m---E--E---"},
    {"deps-not-list",          "i---E--E---"},
    {"deps-unknown-kind",      "W---W--W---"},
    {"deps-agents",            "----W------"},
    {"dep-not-string",         "i---E--E---"},
    {"dep-bad-origin",         "i---E--E---"},
    {"dep-object-form",        "W---W--W---"},
    {"dep-file-origin",        "i---W--E---"},
    {"dep-range",              "----E--W---"},
    {"dep-host",               "----E--W---"},

    {"changelog-missing",      "-------E---"},
    {"changelog-no-entry",     "-------E---"},
    {"changelog-version",      "W------E---"},

    {"metaskill-type",         "i-----EE-W-"},
    {"metaskill-not-relative", "i-----EE-W-"},
    {"metaskill-escapes",      "i-----EE-W-"},
    {"metaskill-not-found",    "i-----EE-W-"},
    {"metaskill-unreadable",   "i-----EE-W-"},
    {"metaskill-not-utf8",     "i-----EE-W-"},
    {"metaskill-frontmatter",  "i-----EE-W-"},
    {"metaskill-size",         "W-----WW-W-"},
    {"metaskill-language",     "W-----WW-W-"},
    {"metaskill-input-keys",   "------WW---"},
    {"program-syntax",         "E-----EE-E-"},
    {"program-name",           "E-----EE-E-"},
    {"program-run",            "E-----EE-E-"},
    {"program-load",           "E-----EE-E-"},

    {"body-tokens",            "WW-W---WWW-"},
    {"body-lines",             "-W-----WW--"},
    {"body-truncated",         "W-----WW-W-"},
    {"body-client-path",       "-------W---"},
    {"reference-depth",        "-W-----WW--"},

    {"mcp-json",               "EEEEEEEE---"},
    {"mcp-meta",               "EEEEEEEE---"},
    {"mcp-name-missing",       "EEEEEEEE---"},
    {"mcp-name",               "EEEEEEEE---"},
    {"mcp-filename",           "EEEEEEEE---"},
    {"mcp-leaf",               "EEEEEEEE---"},
    {"mcp-type",               "EEEEEEEE---"},
    {"mcp-command",            "EEEEEEEE---"},
    {"mcp-command-path",       "EEEEEEEE---"},
    {"mcp-shell",              "EEEEEEEE---"},
    {"mcp-url",                "EEEEEEEE---"},
    {"mcp-args",               "EEEEEEEE---"},
    {"mcp-arg-expansion",      "EEEEEEEE---"},
    {"mcp-env",                "EEEEEEEE---"},
    {"mcp-placeholder",        "EEEEEEEE---"},
    {"mcp-consent",            "WWWWWWWE---"},
    {"mcp-format",             "WWWWEWWE---"},

    /* Agent Plugins: findings that make the plugin unusable, those that lose a
     * part of it, and the others. */
    {"plugin-missing",         "E------EEEE"},
    {"plugin-escapes",         "E------EE--"},
    {"plugin-json",            "E------EE--"},
    {"plugin-schema",          "E------EE--"},
    {"plugin-schema-version",  "E------EE--"},
    {"plugin-name-missing",    "E------EE--"},
    {"plugin-name",            "E------EE--"},
    {"plugin-field-type",      "E------EE--"},
    {"plugin-author",          "E------EE--"},
    {"plugin-keywords",        "E------EE--"},
    {"plugin-extension-type",  "E------EE--"},
    {"plugin-part-escapes",    "W------EE--"},
    {"plugin-skill-escapes",   "W------EE--"},
    {"plugin-server-escapes",  "W------EE--"},
    {"plugin-part-kind",       "W------EE--"},
    {"plugin-skill-file",      "W------EE--"},
    {"plugin-skill-case",      "W------EE--"},
    {"plugin-mcp-json",        "W------EE--"},
    {"plugin-mcp-field",       "W------EE--"},
    {"plugin-mcp-schema",      "W------EE--"},
    {"plugin-mcp-servers",     "W------EE--"},
    {"plugin-server-type",     "W------EE--"},
    {"plugin-server-field",    "W------EE--"},
    {"plugin-server-missing",  "W------EE--"},
    {"plugin-server-value",    "W------EE--"},
    {"plugin-command",         "W------EE--"},
    {"plugin-cwd",             "W------EE--"},
    {"plugin-url",             "W------EE--"},
    {"plugin-header",          "W------EE--"},
    {"plugin-env-reserved",    "W------EE--"},
    {"plugin-secret",          "W------EEE-"},
    {"plugin-icon",            "W------EE--"},
    {"plugin-file-escapes",    "W------EE--"},
    {"plugin-unknown-field",   "W------WW--"},
    {"plugin-extensions",      "W------WW--"},
    {"plugin-namespace",       "W------WW--"},
    {"plugin-moved-part",      "W------WW--"},
    {"plugin-draft",           "W------WW--"},
    {"plugin-version",         "W------WW--"},
    {"plugin-overlay",         "W------WW--"},
    {"plugin-empty",           "W------WW--"},
    {"plugin-skill-nested",    "W------WW--"},
    {"plugin-mcp-place",       "W------WW--"},
    {"plugin-command-absent",  "W------WW--"},
    {"plugin-placeholder",     "W------WW--"},

    /* Plugins of Claude Code, checked by path or under their profile. */
    {"claude-json",            "E------E-E-"},
    {"claude-name-missing",    "E------E-E-"},
    {"claude-name",            "E------E-E-"},
    {"claude-author",          "E------E-E-"},
    {"claude-field-type",      "E------E-E-"},
    {"claude-nested-field",    "E------E-E-"},
    {"claude-path",            "E------E-E-"},
    {"claude-path-kind",       "E------E-E-"},
    {"claude-path-escapes",    "E------E-E-"},
    {"claude-path-missing",    "E------E-E-"},
    {"claude-dependency",      "E------E-EE"},
    {"claude-server",          "E------E-E-"},
    {"claude-file-json",       "E------E-E-"},
    {"claude-unknown-field",   "W------W-W-"},
    {"claude-server-empty",    "W------W-W-"},
    {"claude-layout",          "W------W-W-"},
    {"claude-context",         "W------W-W-"},
    {"claude-agent",           "W------W-W-"},
    {"claude-agent-field",     "W------W-W-"},

    {"market-json",            "E------E--E"},
    {"market-name-missing",    "E------E--E"},
    {"market-name",            "E------E--E"},
    {"market-owner",           "E------E--E"},
    {"market-plugins",         "E------E--E"},
    {"market-entry-name",      "E------E--E"},
    {"market-entry-duplicate", "E------E--E"},
    {"market-entry-alias",     "W------W--W"},
    {"market-source-missing",  "E------E--E"},
    {"market-source",          "E------E--E"},
    {"market-source-escapes",  "E------E--E"},
    {"market-source-absent",   "E------E--E"},
    {"market-sha",             "E------E--E"},
    {"market-strict",          "E------E--E"},
    {"market-listed-path",     "E------E--E"},
    {"market-dependency",      "E------E--E"},
    {"market-reserved",        "W------W--W"},
    {"market-source-kind",     "W------W--W"},
    {"market-source-empty",    "W------W--W"},
    {"market-unpinned",        "W------W--W"},
    {"market-entry-version",   "W------W--W"},
    {"market-rename",          "W------W--W"},
};
/* clang-format on */

static const char *find_levels(const char *code)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].code, code) == 0)
            return table[i].levels;
    return "EEEEEEEEEEE";
}

bool document_profile_find(struct str name, enum profile *out)
{
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        if (str_is(name, profiles[i])) {
            *out = (enum profile)i;
            return true;
        }
    return false;
}

struct str document_profile_names(const char *between, struct arena *a)
{
    struct str names = STR("");

    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        names = arena_join(names, between, str_cstr(profiles[i]), a);
    return names;
}

enum level level_of(const struct reader *r, const char *code)
{
    switch (find_levels(code)[r->in->profile]) {
    case 'E':
        return LEVEL_ERROR;
    case 'W':
        return LEVEL_WARNING;
    case 'd':
        return r->in->for_author ? LEVEL_HINT : LEVEL_OFF;
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
    if (level != LEVEL_HINT)
        return;
    r->why->items[r->why->count - 1].is_hint = true;
    r->why->warnings--;
    r->why->hints++;
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

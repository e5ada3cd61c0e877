#include "bump.h"

#include "mapm/changelog.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/name.h"
#include "mapm/origin.h"

#include <stdarg.h>
#include <stdio.h>

enum step { STEP_NONE, STEP_PATCH, STEP_MINOR, STEP_MAJOR };

/* Two versions and the required increment. */
struct compare {
    const struct bump *bump;
    struct check_result *result;
    struct arena *a;
    struct document before, now;
    struct version from, to;
    enum step needed;
    const char *reason; /* reason for the increment; NULL for an ordinary
                         * change */
};

static void report(struct compare *c, const char *code, const char *field,
                   const char *format, ...) PRINTF(4, 5);

static void report(struct compare *c, const char *code, const char *field,
                   const char *format, ...)
{
    const struct yaml *y = yaml_get(c->now.frontmatter, field);
    CLEANUP(buf_done) struct buf b = {0};
    va_list args;
    char *room;

    buf_init(&b, 4096);
    va_start(args, format);
    room = buf_reserve(&b, 2048);
    vsnprintf(room, 2048, format, args);
    va_end(args);
    diagnostics_add(&c->result->why, true, code, field, y ? y->key_line : 0,
                    "%s", room);
}

static bool has_error(const struct compare *c, const char *prefix)
{
    const struct diagnostics *why = &c->result->why;

    for (size_t i = 0; i < why->count; i++)
        if (why->items[i].error &&
            str_starts(str_cstr(why->items[i].code), str_cstr(prefix)))
            return true;
    return false;
}

static void read_side(struct compare *c, const struct bump_side *side,
                      struct document *out)
{
    const struct manifest_input in = {.kind = c->result->kind,
                                      .text = side->text,
                                      .allow_own = true,
                                      .allow_file = true,
                                      .skip_body = true};
    struct diagnostics ignored;

    diagnostics_init(&ignored, c->a);
    manifest_read(&in, c->a, out, &ignored);
}

/* --- how large ------------------------------------------------------------ */

static void need(struct compare *c, enum step step, const char *reason)
{
    if (step <= c->needed)
        return;
    c->needed = step;
    c->reason = reason;
}

/* Returns the package without its ref: it stays the same package under another
 * ref. In dependencies of others a ref is one segment (M14). */
static struct str package_of(const struct compare *c, const struct origin *o)
{
    struct str ref, rest = o->rest;

    if (o->scheme == ORIGIN_FILE)
        return o->key;
    str_cut(&rest, '/', &ref);
    return arena_printf(c->a, "%.*s/%.*s", STR_ARG(origin_repository(o, c->a)),
                        STR_ARG(rest));
}

static bool depends_on(const struct compare *c, const struct document *d,
                       const struct dependency *wanted)
{
    struct str package = package_of(c, wanted->origin);

    for (size_t i = 0; i < d->dep_count; i++)
        if (d->deps[i].kind == wanted->kind &&
            str_eq(package_of(c, d->deps[i].origin), package))
            return true;
    return false;
}

static void compare_deps(struct compare *c)
{
    for (size_t i = 0; i < c->before.dep_count; i++)
        if (!depends_on(c, &c->now, &c->before.deps[i]))
            need(c, STEP_MAJOR,
                 arena_printf(c->a, "the dependency %.*s was dropped",
                              STR_ARG(c->before.deps[i].origin->text))
                     .p);
    for (size_t i = 0; i < c->now.dep_count; i++)
        if (!depends_on(c, &c->before, &c->now.deps[i]))
            need(c, STEP_MINOR,
                 arena_printf(c->a, "the dependency %.*s is new",
                              STR_ARG(c->now.deps[i].origin->text))
                     .p);
}

static void compare_tools(struct compare *c)
{
    for (size_t i = 0; i < c->before.tool_count; i++) {
        bool kept = false;

        for (size_t k = 0; k < c->now.tool_count; k++)
            kept |= str_eq(c->before.tools[i], c->now.tools[k]);
        if (!kept)
            need(c, STEP_MAJOR,
                 arena_printf(c->a, "the tool %.*s was removed",
                              STR_ARG(c->before.tools[i]))
                     .p);
    }
}

static void find_step(struct compare *c)
{
    bool ran = c->before.metaskill || c->bump->before.has_program;
    bool runs = c->now.metaskill || c->bump->now.has_program;

    c->needed = STEP_PATCH;
    if (!str_eq(c->before.fqn, c->now.fqn))
        need(c, STEP_MAJOR,
             arena_printf(c->a, "it was renamed from %.*s",
                          STR_ARG(c->before.fqn))
                 .p);
    if (c->result->kind == DOC_SKILL && ran && !runs)
        need(c, STEP_MAJOR, "its program was removed");
    compare_deps(c);
    compare_tools(c);
    if (c->result->kind == DOC_SKILL && runs && !ran)
        need(c, STEP_MINOR, "its program is new");
}

/* --- the version ---------------------------------------------------------- */

static struct version next(const struct version *v, enum step step)
{
    struct version n = *v;

    if (step == STEP_PATCH)
        n.part[2]++;
    if (step == STEP_MINOR)
        n = (struct version){{v->part[0], v->part[1] + 1, 0}};
    if (step == STEP_MAJOR)
        n = (struct version){{v->part[0] + 1, 0, 0}};
    return n;
}

static const char *spell(const struct compare *c, struct version v)
{
    return arena_printf(c->a, "%llu.%llu.%llu", (unsigned long long)v.part[0],
                        (unsigned long long)v.part[1],
                        (unsigned long long)v.part[2])
        .p;
}

static enum step step_taken(const struct compare *c)
{
    for (enum step step = STEP_PATCH; step <= STEP_MAJOR; step++) {
        struct version v = next(&c->from, step);

        if (version_cmp(&v, &c->to) == 0)
            return step;
    }
    return STEP_NONE;
}

/* Reads the next line of the entry file that is not its version. */
static bool next_other_line(struct str *rest, struct str *line)
{
    while (str_line(rest, line))
        if (!str_starts(*line, STR("version:")))
            return true;
    return false;
}

static bool only_version_changed(const struct compare *c)
{
    struct str x = c->bump->before.text, y = c->bump->now.text, a, b;

    if (c->bump->others_changed || !c->bump->before.changelog.p)
        return false;
    for (;;) {
        bool more = next_other_line(&x, &a);

        if (more != next_other_line(&y, &b))
            return false;
        if (!more)
            return true;
        if (!str_eq(a, b))
            return false;
    }
}

static void check_step(struct compare *c)
{
    struct str ref = c->bump->ref;
    const char *from = spell(c, c->from), *to = spell(c, c->to);
    const char *want = spell(c, next(&c->from, c->needed));
    const char *because = c->reason ? c->reason : "its files changed";
    enum step step = step_taken(c);
    int cmp = version_cmp(&c->to, &c->from);

    if (cmp == 0)
        report(c, "version-bump", "version",
               "%s since %.*s, but the version is still %s: make it %s",
               because, STR_ARG(ref), from, want);
    else if (cmp < 0)
        report(c, "version-bump", "version",
               "the version went back from %s to %s since %.*s: make it %s",
               from, to, STR_ARG(ref), want);
    else if (only_version_changed(c))
        report(c, "version-bump", "version",
               "the version went from %s to %s since %.*s, but nothing else "
               "changed",
               from, to, STR_ARG(ref));
    else if (step == STEP_NONE)
        report(c, "version-bump-size", "version",
               "from %s to %s since %.*s is not one step: make it %s", from, to,
               STR_ARG(ref), want);
    else if (step < c->needed)
        report(c, "version-bump-size", "version",
               "%s since %.*s: that takes the version from %s to %s, not %s",
               because, STR_ARG(ref), from, want, to);
}

static void check_version(struct compare *c)
{
    if (c->now.version.n == 0) {
        if (!has_error(c, "version-"))
            report(c, "version-missing", "version",
                   "it changed since %.*s, but declares no version",
                   STR_ARG(c->bump->ref));
    } else if (!version_parse(c->now.version, &c->to)) {
        if (!has_error(c, "version-"))
            report(c, "version-format", "version",
                   "the version \"%.*s\" is not X.Y.Z",
                   STR_ARG(c->now.version));
    } else if (version_parse(c->before.version, &c->from)) {
        check_step(c);
    }
}

/* --- the changelog -------------------------------------------------------- */

static void read_log(struct compare *c, struct str text,
                     struct changelog_entry **entries, size_t *count)
{
    struct diagnostics ignored;

    diagnostics_init(&ignored, c->a);
    changelog_read(text, c->a, entries, count, &ignored);
}

static size_t find_entry(const struct changelog_entry *entries, size_t count,
                         struct str version)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(entries[i].version, version))
            return i;
    return SIZE_MAX;
}

static void check_history(struct compare *c,
                          const struct changelog_entry *entries, size_t count)
{
    struct changelog_entry *old;
    size_t old_count, top;

    if (!c->bump->before.changelog.p)
        return;
    read_log(c, c->bump->before.changelog, &old, &old_count);
    for (size_t i = 0; i < old_count; i++)
        if (find_entry(entries, count, old[i].version) == SIZE_MAX)
            report(c, "changelog-deleted", "CHANGELOG.md",
                   "the section %.*s of CHANGELOG.md is gone since %.*s: old "
                   "sections stay",
                   STR_ARG(old[i].version), STR_ARG(c->bump->ref));
    top = old_count ? find_entry(entries, count, old[0].version) : SIZE_MAX;
    if (top != SIZE_MAX && top > 1)
        report(c, "version-bump", "CHANGELOG.md",
               "CHANGELOG.md has %zu new sections since %.*s: one change "
               "set takes one step",
               top, STR_ARG(c->bump->ref));
}

static void check_changelog(struct compare *c)
{
    struct changelog_entry *entries;
    size_t count;

    if (!c->bump->now.changelog.p) {
        if (!has_error(c, "changelog-missing"))
            report(c, "changelog-missing", "CHANGELOG.md",
                   "there is no CHANGELOG.md to say what changed since %.*s",
                   STR_ARG(c->bump->ref));
        return;
    }
    read_log(c, c->bump->now.changelog, &entries, &count);
    if (c->now.version.n &&
        (count == 0 || !str_eq(entries[0].version, c->now.version)) &&
        !has_error(c, "changelog-"))
        report(c, "changelog-no-entry", "CHANGELOG.md",
               "CHANGELOG.md does not begin with a section for %.*s",
               STR_ARG(c->now.version));
    check_history(c, entries, count);
}

void check_bump(const struct bump *b, struct check_result *result)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct compare c = {.bump = b, .result = result, .a = &a};

    read_side(&c, &b->before, &c.before);
    read_side(&c, &b->now, &c.now);
    /* An unreadable document already has a diagnostic; without an old version
     * there is nothing to compare. */
    if (!c.now.frontmatter)
        return;
    if (c.before.frontmatter)
        find_step(&c);
    check_version(&c);
    check_changelog(&c);
}

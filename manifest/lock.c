#include "lock.h"

#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/member.h"
#include "mapm/name.h"
#include "mapm/origin.h"
#include "mapm/project.h"
#include "mapm/well_known.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Parses mapm.lock line by line, not as YAML. Only lock_format() writes the
 * file, so anything that is not in exactly its form is damage and is reported
 * with its line. This is also twenty times faster, which matters for a lock of
 * 10,000 packages. */

#define COMMIT_HEX_CHARS 40
#define ENTRY_MIN_BYTES  140
#define EXCERPT_CHARS    60 /* of a line quoted in a message */
#define TYPE_LINE        "\"  - type: agent, mcp, plugin or skill\""

bool lock_fail(struct err *e, const char *name, unsigned line,
               const char *format, ...)
{
    char message[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    err_set(e, ERR_FORMAT, "%s:%u: %s", name, line, message);
    return err_hint(e, "mapm writes this file: take it from version control "
                       "again, or delete it and run mapm install");
}

struct str lock_excerpt(struct str s)
{
    return text_cut(s, EXCERPT_CHARS);
}

static bool is_merge_marker(struct str line)
{
    return str_starts(line, STR("<<<<<<<")) ||
           str_starts(line, STR("|||||||")) ||
           str_starts(line, STR("=======")) || str_starts(line, STR(">>>>>>>"));
}

/* Reports that the current line is not the expected one. */
bool lock_fail_line(struct lock_reader *r, const char *expected)
{
    if (is_merge_marker(r->line)) {
        err_set(r->e, ERR_FORMAT, "%s:%u: a merge conflict", r->name,
                r->number);
        return err_hint(r->e, "mapm install resolves it, but not with "
                              "--locked and not where CI is set");
    }
    return lock_fail(r->e, r->name, r->number, "expected %s, not \"%.*s\"",
                     expected, STR_ARG(lock_excerpt(r->line)));
}

static bool next_line(struct lock_reader *r)
{
    if (!r->rest.n || !str_line(&r->rest, &r->line)) {
        r->line = STR("");
        return false;
    }
    r->number++;
    return true;
}

/* --- entries -------------------------------------------------------------- */

/* Reports a key or kind of a version 2 lock that this program does not know. */
bool lock_fail_newer(struct lock_reader *r, const char *kind, struct str text)
{
    err_set(r->e, ERR_FORMAT,
            "%s:%u: unknown %s \"%.*s\": written by a newer mapm", r->name,
            r->number, kind, STR_ARG(lock_excerpt(text)));
    return err_hint(r->e, "upgrade mapm: this one cannot keep what it means");
}

/* Adds the hint for a lock with valid entries that do not fit together. Returns
 * false. */
static bool lock_fail_joined(struct err *e)
{
    return err_hint(e, "where git joined two edits, mapm install resolves it, "
                       "but not with --locked and not where CI is set; else "
                       "take the file from version control again");
}

static bool check_order(struct lock_reader *r, const struct lock_entry *entry)
{
    int order = lock_entry_order(entry - 1, entry);

    if (order < 0)
        return true;
    lock_fail(r->e, r->name, entry->line + 1, /* the line of `name:` */
              order ? "%s %.*s is not in its order" : "%s %.*s is given twice",
              doc_kind_name(entry->kind), STR_ARG(entry->name));
    return lock_fail_joined(r->e);
}

/* Reads one entry, from "  - type:" at the current line up to the line after
 * it. */
static bool take_entry(struct lock_reader *r, bool *more)
{
    static const struct str head = STR_INIT("  - type: ");
    struct lock_entry *entry;
    struct str type;
    size_t next = 0;

    r->own_line = 0;
    r->entries = arena_grow(r->a, r->entries, r->count, &r->capacity,
                            sizeof *r->entries);
    entry = &r->entries[r->count];
    *entry = (struct lock_entry){.line = r->number};
    if (!str_starts(r->line, head))
        return lock_fail_line(r, TYPE_LINE);
    type = str_from_index(r->line, head.n);
    if (!doc_kind_find(type, &entry->kind))
        return r->version > LOCK_VERSION_1 ? lock_fail_newer(r, "type", type)
                                           : lock_fail_line(r, TYPE_LINE);
    while ((*more = next_line(r)) && !str_starts(r->line, STR("  - ")))
        if (!lock_take_field(r, entry, &next))
            return false;
    if (!lock_end_fields(r, entry, next))
        return false;
    if (r->count && !r->is_joined && !check_order(r, entry))
        return false;
    r->count++;
    return true;
}

/* --- the file ------------------------------------------------------------- */

/* Reads the version, which is the first line because it decides how the others
 * are read. */
static bool take_version_line(struct lock_reader *r)
{
    static const struct str key = STR_INIT("version: ");
    struct str value;

    do {
        if (!next_line(r))
            return lock_fail(r->e, r->name, r->number + 1,
                             "the file holds no version");
    } while (str_starts(r->line, STR("#")));
    if (!str_starts(r->line, key))
        return lock_fail_line(r, "\"version: 1\"");
    value = str_from_index(r->line, key.n);
    if (str_is(value, "1") || str_is(value, "2")) {
        r->version = value.p[0] == '1' ? LOCK_VERSION_1 : LOCK_VERSION_2;
        return true;
    }
    lock_fail(r->e, r->name, r->number,
              "version %.*s is unknown to this mapm, which reads "
              "versions 1 and 2",
              STR_ARG(lock_excerpt(value)));
    return err_hint(r->e, "written by a newer mapm: use that one");
}

/* Allocates space for all entries at once: a valid entry has at least
 * ENTRY_MIN_BYTES bytes. */
static void reserve_entries(struct lock_reader *r)
{
    static const struct str head = STR_INIT("\n  - type: ");
    struct str rest = r->rest;
    size_t count = 1, at;

    while ((at = str_find(rest, head)) != SIZE_MAX) {
        rest = str_from_index(rest, at + ENTRY_MIN_BYTES);
        count++;
    }
    r->capacity = count;
    r->entries = arena_array(r->a, count, sizeof *r->entries);
}

static bool take_file(struct lock_reader *r)
{
    bool more = false;

    if (!take_version_line(r))
        return false;
    if (r->rest.n && r->rest.p[r->rest.n - 1] != '\n')
        return lock_fail(r->e, r->name, r->number,
                         "the file ends in the middle of a line");
    if (!next_line(r))
        return lock_fail(r->e, r->name, r->number, "\"packages:\" is missing");
    if (str_is(r->line, "packages: []"))
        return !next_line(r) || lock_fail_line(r, "the end of the file");
    if (!str_is(r->line, "packages:"))
        return lock_fail_line(r, "\"packages:\"");
    if (!next_line(r))
        return lock_fail(r->e, r->name, r->number,
                         "no packages: \"packages: []\" says so");
    reserve_entries(r);
    do {
        if (!take_entry(r, &more))
            return false;
    } while (more);
    return true;
}

static bool read_lock(struct str text, const char *name, bool is_joined,
                      struct arena *a, struct lock *out, struct err *e)
{
    struct lock_reader r = {
        .rest = text, .name = name, .is_joined = is_joined, .a = a, .e = e};

    if (text.n > LOCK_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "%s: larger than %u bytes", name,
                       LOCK_MAX_BYTES);
    if (text.n && !take_file(&r))
        return false;
    *out = (struct lock){.entries = r.entries, .count = r.count};
    return true;
}

bool lock_read(struct str text, const char *name, struct arena *a,
               struct lock *out, struct err *e)
{
    return read_lock(text, name, false, a, out, e);
}

bool lock_read_joined(struct str text, const char *name, struct arena *a,
                      struct lock *out, struct err *e)
{
    return read_lock(text, name, true, a, out, e);
}

bool lock_parse(struct str text, const char *name, struct arena *a,
                struct lock *out, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct lock lock;

    if (!lock_read(text, name, a, &lock, e))
        return false;
    if (!lock_check(&lock, text, name, &scratch, e))
        return lock_fail_joined(e);
    *out = lock;
    return true;
}

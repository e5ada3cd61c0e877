#include "mapm/changelog.h"

#include "mapm/limits.h"
#include "mapm/name.h"

#include "document.h"

/* Checks CHANGELOG.md: its entries are headed "## X.Y.Z (YYYY-MM-DD)", the
 * newest first. Source: M29, X24. */

#define FILE_NAME "CHANGELOG.md"

/* Scans the headers of a Markdown text. Lines in a fenced code block are never
 * headers. */
struct scan {
    struct str rest;
    unsigned line;
    char fence; /* '`' or '~' inside a fenced block, else 0 */
};

static char fence_of(struct str line)
{
    size_t i = 0;

    while (i < 3 && i < line.n && line.p[i] == ' ')
        i++;
    line = str_from_index(line, i);
    if (str_starts(line, STR("```")))
        return '`';
    return str_starts(line, STR("~~~")) ? '~' : '\0';
}

/* Finds the next "## …" header and stores it without the "## ". */
static bool next_header(struct scan *s, struct str *header)
{
    struct str line;

    while (text_take_line(&s->rest, &line)) {
        char fence = fence_of(line);

        s->line++;
        if (s->fence ? fence == s->fence : fence != '\0')
            s->fence = s->fence ? '\0' : fence;
        else if (!s->fence && str_starts(line, STR("## "))) {
            *header = str_trim(str_from_index(line, 3));
            return true;
        }
    }
    return false;
}

static bool parse_digits(struct str text, uint64_t min, uint64_t max,
                         uint64_t *out)
{
    return str_number(text, max, out) && *out >= min;
}

static uint64_t days_of(uint64_t year, uint64_t month)
{
    static const uint64_t days[] = {31, 28, 31, 30, 31, 30,
                                    31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return days[month - 1] + (month == 2 && leap);
}

/* Returns true if `text` is YYYY-MM-DD and a day that exists. */
static bool is_date(struct str text)
{
    uint64_t year, month, day;

    return text.n == 10 && text.p[4] == '-' && text.p[7] == '-' &&
           parse_digits(str_slice(text, 0, 4), 1, 9999, &year) &&
           parse_digits(str_slice(text, 5, 7), 1, 12, &month) &&
           parse_digits(str_slice(text, 8, 10), 1, days_of(year, month), &day);
}

static bool parse_header(struct str header, struct str *version,
                         struct version *v)
{
    size_t blank = str_find(header, STR(" ("));

    if (blank == SIZE_MAX || header.p[header.n - 1] != ')')
        return false;
    *version = str_slice(header, 0, blank);
    return version_parse(*version, v) &&
           is_date(str_slice(header, blank + 2, header.n - 1));
}

static struct scan scan_start(struct str text)
{
    if (str_starts(text, STR("\xef\xbb\xbf")))
        text = str_from_index(text, 3);
    return (struct scan){.rest = text};
}

struct str changelog_latest(struct str text)
{
    struct scan s = scan_start(text);
    struct str header, version;
    struct version v;

    while (next_header(&s, &header))
        if (parse_header(header, &version, &v))
            return version;
    return STR("");
}

void changelog_read(struct str text, struct arena *a,
                    struct changelog_entry **out, size_t *count,
                    struct diagnostics *why)
{
    struct scan s = scan_start(text);
    struct changelog_entry *entries = NULL;
    size_t n = 0, capacity = 0;
    struct version last = {{0}}, v;
    struct str header, version;

    while (next_header(&s, &header)) {
        if (!parse_header(header, &version, &v)) {
            diagnostics_add(why, true, "changelog-version", FILE_NAME, s.line,
                            "the header is not \"## X.Y.Z (YYYY-MM-DD)\", as "
                            "in \"## 1.2.0 (2026-04-17)\"");
            continue;
        }
        if (n > 0 && version_cmp(&v, &last) >= 0)
            diagnostics_add(why, true, "changelog-version", FILE_NAME, s.line,
                            "version %.*s stands below %.*s: the newest comes "
                            "first, and each once",
                            STR_ARG(version), STR_ARG(entries[n - 1].version));
        entries = arena_grow(a, entries, n, &capacity, sizeof *entries);
        entries[n++] = (struct changelog_entry){version, s.line};
        last = v;
    }
    *out = entries;
    *count = n;
}

/* Returns `text` without its first `count` lines. */
static struct str skip_lines(struct str text, unsigned count)
{
    struct str line;

    while (count-- && text_take_line(&text, &line))
        ;
    return text;
}

struct str changelog_since(struct str text, struct str version, struct arena *a)
{
    struct changelog_entry *entries;
    struct diagnostics ignored;
    struct str from, rest = STR("");
    size_t count, i = 0;

    diagnostics_init(&ignored, a);
    changelog_read(text, a, &entries, &count, &ignored);
    while (i < count && !str_eq(entries[i].version, version))
        i++;
    if (i == 0)
        return STR("");
    text = scan_start(text).rest;
    from = skip_lines(text, entries[0].line - 1);
    if (i < count)
        rest = skip_lines(text, entries[i].line - 1);
    return str_slice(from, 0, from.n - rest.n);
}

/* Checks the entries of the changelog. Line numbers in the reports refer to
 * CHANGELOG.md, not to the document. */
static void check_entries(struct reader *r, struct str text)
{
    struct changelog_entry *entries;
    struct diagnostics found;
    size_t count;

    diagnostics_init(&found, r->a);
    changelog_read(text, r->a, &entries, &count, &found);
    for (size_t i = 0; i < found.count; i++)
        report(r, found.items[i].code, FILE_NAME, 0, "line %u: %.*s",
               found.items[i].line, STR_ARG(found.items[i].message));
    if (count == 0)
        report(r, "changelog-no-entry", FILE_NAME, 0,
               "CHANGELOG.md has no version: add \"## %s (YYYY-MM-DD)\"",
               r->doc->version.n ? quoted(r, r->doc->version) : "1.0.0");
}

static void compare_latest(struct reader *r, struct str text)
{
    const struct yaml *y = yaml_get(r->root, "version");
    struct str latest = changelog_latest(text);

    if (latest.n && r->doc->version.n && !str_eq(latest, r->doc->version))
        report(r, "changelog-version", "version", y ? y->key_line : 0,
               "the version is \"%s\", but the latest entry of CHANGELOG.md "
               "is %s",
               quoted(r, r->doc->version), quoted(r, latest));
}

void read_changelog(struct reader *r)
{
    const struct manifest_files *files = r->in->files;
    bool publish = r->in->profile == PROFILE_PUBLISH;
    struct str text = {0};
    enum manifest_file state;

    if (!files || (!publish && (r->in->profile != PROFILE_INSTALL ||
                                r->doc->version.n == 0)))
        return;
    state = files->read(files->ctx, STR(FILE_NAME), CHANGELOG_MAX_BYTES, r->a,
                        &text);
    if (state != MANIFEST_FILE_OK) {
        report(r, "changelog-missing", FILE_NAME, 0,
               "%s: what is published has one, with a header \"## %s "
               "(YYYY-MM-DD)\" for its latest version",
               state == MANIFEST_FILE_MISSING ? "CHANGELOG.md is missing"
                                              : "CHANGELOG.md cannot be read",
               r->doc->version.n ? quoted(r, r->doc->version) : "1.0.0");
        return;
    }
    if (publish)
        check_entries(r, text);
    compare_latest(r, text);
}

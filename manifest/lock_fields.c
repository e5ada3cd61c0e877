#include "base/invariant.h"
#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/member.h"
#include "mapm/name.h"
#include "mapm/origin.h"
#include "mapm/project.h"
#include "mapm/well_known.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "lock.h"

/* The keys of an entry of mapm.lock: for each its row in `fields`, by which it
 * is both read and written. */

#define COMMIT_HEX_CHARS 40
#define HASH_HEX_CHARS   64

/* Reports the value of the current line. */
static bool fail(struct lock_reader *r, const char *format, ...) PRINTF(2, 3);

static bool fail(struct lock_reader *r, const char *format, ...)
{
    char message[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return lock_fail(r->e, r->name, r->number, "%s", message);
}

/* A merge can join the version line of one lock with entries of another. */
static bool fail_version(struct lock_reader *r, const char *key,
                         enum lock_version since)
{
    err_set(r->e, ERR_FORMAT, "%s:%u: \"%s\" needs version %d of this file",
            r->name, r->number, key, (int)since);
    return err_hint(r->e,
                    "after a merge: write \"version: %d\" as its first "
                    "line, then run mapm install",
                    (int)since);
}

/* --- parts of a line ------------------------------------------------------ */

/* Reads a scalar that is written exactly as lock_format() writes it. */
static bool take_scalar(struct lock_reader *r, struct str raw, struct str *out)
{
    struct str value = raw;

    if (lock_is_plain(raw)) {
        *out = raw;
        return true;
    }
    if (raw.n && raw.p[0] == '"' && !lock_unquote(raw, r->a, &value))
        return fail(r, "a damaged text in quotes");
    if (!str_eq(lock_scalar(value, r->a), raw))
        return fail(r, "not written as mapm writes it: %.*s",
                    STR_ARG(lock_excerpt(raw)));
    if (!text_is_visible(value))
        return fail(r, "a hidden character, or not UTF-8");
    *out = value;
    return true;
}

/* Cuts the next item off `*list`, the text between the brackets of "[a, b]". */
static bool cut_item(struct str *list, struct str *item)
{
    size_t end = 0;

    if (list->n && list->p[0] == '"') {
        for (end = 1; end < list->n && list->p[end] != '"'; end++)
            if (list->p[end] == '\\')
                end++;
        end++;
    } else {
        end = str_find_char(*list, ',');
    }
    *item = str_slice(*list, 0, end);
    *list = str_from_index(*list, item->n);
    if (!item->n)
        return false;
    if (!list->n)
        return true;
    if (!str_starts(*list, STR(", ")) || list->n == 2)
        return false;
    *list = str_from_index(*list, 2);
    return true;
}

static bool open_list(struct lock_reader *r, struct str value,
                      struct str *inside)
{
    if (value.n < 3 || value.p[0] != '[' || value.p[value.n - 1] != ']')
        return fail(r, "expected a list in brackets");
    *inside = str_slice(value, 1, value.n - 1);
    return true;
}

/* Reads "[a, b]". With `is_valid`, each text must pass it, and they must be
 * sorted; otherwise they are not what `noun` says. */
static bool take_list(struct lock_reader *r, struct str value,
                      bool (*is_valid)(struct str), const char *noun,
                      struct str_list *out)
{
    struct str inside = {0}, raw, *items = NULL;
    size_t capacity = 0, n = 0;

    if (!open_list(r, value, &inside))
        return false;
    for (; inside.n; n++) {
        items = arena_grow(r->a, items, n, &capacity, sizeof *items);
        if (!cut_item(&inside, &raw))
            return fail(r, "a damaged list");
        if (!take_scalar(r, raw, &items[n]))
            return false;
        if (is_valid && (!is_valid(items[n]) ||
                         (n && str_cmp(items[n - 1], items[n]) >= 0)))
            return fail(r, "not %s, or not in order: %.*s", noun,
                        STR_ARG(lock_excerpt(items[n])));
    }
    *out = (struct str_list){items, n};
    return true;
}

static void put_key(struct lock_writer *w, const char *key)
{
    buf_text(w->out, "    ");
    buf_text(w->out, key);
    buf_text(w->out, ": ");
}

static void put_line(struct lock_writer *w, const char *key, struct str value)
{
    put_key(w, key);
    buf_append(w->out, value);
    buf_char(w->out, '\n');
}

static void put_list(struct lock_writer *w, const char *key,
                     const struct str *items, size_t count)
{
    put_key(w, key);
    for (size_t i = 0; i < count; i++) {
        buf_text(w->out, i ? ", " : "[");
        buf_append(w->out, lock_scalar(items[i], w->a));
    }
    buf_text(w->out, "]\n");
}

/* Returns whether `s` begins as the URL of a repository. */
static bool is_of_repository(struct str s)
{
    static const struct str schemes[] = {STR_INIT("https://"),
                                         STR_INIT("ssh://")};

    for (size_t i = 0; i < 2; i++)
        if (str_starts(s, schemes[i]))
            return s.n > schemes[i].n && s.p[schemes[i].n] != '/';
    return false;
}

/* Returns true if `s` has the form of an origin. origin_parse(), which has the
 * table of hosts, decides whether it is allowed. */
static bool origin_is_plausible(struct str s)
{
    return s.n <= ORIGIN_MAX_BYTES &&
           (is_of_repository(s) ||
            (str_starts(s, STR("http://")) && origin_is_of_index(s)) ||
            str_starts(s, STR("file:/")));
}

static bool is_local(const struct lock_entry *entry)
{
    return str_starts(entry->origin, STR("file:")) ||
           str_starts(entry->from, STR("file:"));
}

/* Flags of packages that do not have a key, because their origin does not
 * provide its value. */
enum {
    NOT_FILE = 1,
    NOT_OWN = 2,
    NOT_OWN_FOLDER = 4, /* a skill or agent of the workspace, used in place */
    NOT_INDEX = 8,
    NOT_OTHERS = 16, /* every package that is not from an index */
    NOT_REMOTE = NOT_FILE | NOT_OWN | NOT_INDEX,
};

static bool is_excluded(unsigned excludes, const struct lock_entry *entry)
{
    bool is_own = origin_is_own(entry->origin);
    bool is_of_index = origin_is_of_index(entry->origin);

    return (excludes & NOT_FILE && is_local(entry)) ||
           (excludes & NOT_OWN && is_own) ||
           (excludes & (is_of_index ? NOT_INDEX : NOT_OTHERS)) ||
           (excludes & NOT_OWN_FOLDER && is_own && entry->kind != DOC_MCP);
}

static const char *form_of(const struct lock_entry *entry)
{
    return origin_is_own(entry->origin)        ? "./"
           : origin_is_of_index(entry->origin) ? "index"
           : is_local(entry)                   ? "file:"
                                               : "git";
}

static bool is_hex(struct str s, size_t count)
{
    unsigned bad = s.n != count;

    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];

        bad |= !(c - (unsigned)'0' < 10u || c - (unsigned)'a' < 6u);
    }
    return !bad;
}

/* --- texts ---------------------------------------------------------------- */

static bool is_id(struct str value)
{
    return is_hex(value, COMMIT_HEX_CHARS);
}

static bool is_sha256(struct str value)
{
    return str_starts(value, STR("sha256:")) &&
           is_hex(str_from_index(value, 7), HASH_HEX_CHARS);
}

static bool is_given(struct str value)
{
    return value.n > 0;
}

static bool is_key(struct str value)
{
    bool good = value.n && value.n <= MCP_KEY_MAX_CHARS;

    for (size_t i = 0; i < value.n; i++)
        good = good && (char_is_alpha(value.p[i]) ||
                        char_is_digit(value.p[i]) || value.p[i] == '-');
    return good;
}

static bool is_plugin(struct str value)
{
    return name_fqn_is_valid(DOC_PLUGIN, value);
}

/* --- name and origin ------------------------------------------------------ */

static bool take_name(struct lock_reader *r, struct lock_entry *entry,
                      struct str value)
{
    if (!take_scalar(r, value, &entry->name))
        return false;
    return name_fqn_is_valid(entry->kind, entry->name) ||
           fail(r, "not a name of %s %s: %.*s",
                entry->kind == DOC_SKILL || entry->kind == DOC_PLUGIN ? "a"
                                                                      : "an",
                doc_kind_name(entry->kind), STR_ARG(lock_excerpt(entry->name)));
}

static void put_name(struct lock_writer *w, const char *key,
                     const struct lock_entry *entry)
{
    put_line(w, key, lock_scalar(lock_own_name(entry), w->a));
}

/* Reads `as:`, the name of the package in this layer. `name:` is then the name
 * in its manifest. */
static bool take_as(struct lock_reader *r, struct lock_entry *entry,
                    struct str value)
{
    entry->declared = entry->name;
    if (!take_name(r, entry, value))
        return false;
    return !str_eq(entry->name, entry->declared) ||
           fail(r, "\"as\" repeats the name");
}

static void put_as(struct lock_writer *w, const char *key,
                   const struct lock_entry *entry)
{
    if (entry->declared.n)
        put_line(w, key, lock_scalar(entry->name, w->a));
}

static bool take_origin(struct lock_reader *r, struct lock_entry *entry,
                        struct str value)
{
    struct err ignored = {0};
    struct origin own;

    if (!take_scalar(r, value, &entry->origin))
        return false;
    if (origin_is_own(entry->origin) && r->version < LOCK_VERSION_2)
        return fail_version(r, "origin: ./...", LOCK_VERSION_2);
    if (origin_is_own(entry->origin) &&
        (entry->kind == DOC_PLUGIN || !str_is(entry->origin, "./")) &&
        origin_parse_own(entry->origin, r->a, &own, &ignored) &&
        str_eq(own.text, entry->origin)) {
        r->own_line = entry->declared.n ? r->number : 0;
        return true;
    }
    return origin_is_plausible(entry->origin) ||
           fail(r, "not an origin: %.*s", STR_ARG(lock_excerpt(entry->origin)));
}

static void put_origin(struct lock_writer *w, const char *key,
                       const struct lock_entry *entry)
{
    put_line(w, key, lock_scalar(lock_origin_text(entry), w->a));
    if (origin_is_own(entry->origin))
        w->version = LOCK_VERSION_2;
}

static bool take_from(struct lock_reader *r, struct lock_entry *entry,
                      struct str value)
{
    if (!take_scalar(r, value, &entry->from))
        return false;
    return (origin_is_plausible(entry->from) &&
            is_of_repository(entry->origin)) ||
           fail(r, "not where it comes from: %.*s",
                STR_ARG(lock_excerpt(entry->from)));
}

static bool take_id(struct lock_reader *r, struct str value, struct str *out)
{
    if (!is_hex(value, COMMIT_HEX_CHARS))
        return fail(r, "not 40 hexadecimal digits: \"%.*s\"",
                    STR_ARG(lock_excerpt(value)));
    *out = value;
    return true;
}

/* Cuts the commit off "https://…/x#0123…". An origin contains no "#", so the
 * text after it is the commit. */
static bool cut_commit(struct str *origin, struct str *commit)
{
    size_t at = str_find_char(*origin, '#');

    *commit = str_make("", 0);
    if (at == SIZE_MAX || !is_of_repository(*origin))
        return false;
    *commit = str_from_index(*origin, at + 1);
    *origin = str_slice(*origin, 0, at);
    return true;
}

static bool take_also_item(struct lock_reader *r, struct str raw,
                           struct str *origin, struct str *commit)
{
    bool has_commit = cut_commit(&raw, commit);

    if (!take_scalar(r, raw, origin))
        return false;
    if (!has_commit && !cut_commit(origin, commit))
        return true;
    if (r->version < LOCK_VERSION_2)
        return fail_version(r, "also with a commit", LOCK_VERSION_2);
    if (!has_commit && str_eq(lock_scalar(*origin, r->a), *origin))
        return fail(r, "not written as mapm writes it: %.*s",
                    STR_ARG(lock_excerpt(raw)));
    return take_id(r, *commit, commit);
}

/* Appends the list `value` to entry->also. */
static bool take_origins(struct lock_reader *r, struct lock_entry *entry,
                         struct str value, bool may_have_commits)
{
    size_t before = entry->also_count, capacity = before,
           commit_capacity = before;
    struct str *also = arena_array(r->a, before + 1, sizeof *also);
    struct str *commits = arena_array(r->a, before + 1, sizeof *commits);
    struct str inside = {0}, raw;

    for (size_t i = 0; i < before; i++) {
        also[i] = entry->also[i];
        commits[i] = entry->also_commits[i];
    }
    if (!open_list(r, value, &inside))
        return false;
    while (inside.n) {
        size_t n = entry->also_count;

        also = arena_grow(r->a, also, n, &capacity, sizeof *also);
        if (!cut_item(&inside, &raw))
            return fail(r, "a damaged list");
        commits =
            arena_grow(r->a, commits, n, &commit_capacity, sizeof *commits);
        if (!take_also_item(r, raw, &also[n], &commits[n]))
            return false;
        if (!origin_is_plausible(also[n]) ||
            (commits[n].n && !may_have_commits) ||
            (n > before && str_cmp(also[n - 1], also[n]) >= 0))
            return fail(r, "not an origin, or not in order: %.*s",
                        STR_ARG(lock_excerpt(also[n])));
        entry->also_count++;
    }
    entry->also = also;
    entry->also_commits = commits;
    return true;
}

static bool take_also(struct lock_reader *r, struct lock_entry *entry,
                      struct str value)
{
    return take_origins(r, entry, value, true);
}

static bool take_formerly(struct lock_reader *r, struct lock_entry *entry,
                          struct str value)
{
    size_t before = entry->also_count;

    if (!take_origins(r, entry, value, false))
        return false;
    entry->former_count = entry->also_count - before;
    return true;
}

struct also {
    struct str origin, commit;
};

/* Returns the text of origin and commit. The item is quoted as a whole or not
 * at all, because a part of a YAML scalar cannot be quoted. */
static struct str also_text(const struct also *item, struct arena *a)
{
    struct str text = lock_scalar(item->origin, a);
    bool is_quoted = !str_eq(text, item->origin);

    if (!item->commit.n)
        return text;
    text = arena_printf(a, "%.*s#%.*s", STR_ARG(item->origin),
                        STR_ARG(item->commit));
    return is_quoted ? lock_scalar(text, a) : text;
}

/* Writes the items [from, to) of entry->also. */
static void put_origins(struct lock_writer *w, const char *key,
                        const struct lock_entry *entry, size_t from, size_t to)
{
    struct also *sorted;

    if (from == to)
        return;
    sorted = arena_array(w->a, to - from, sizeof *sorted);
    for (size_t i = from; i < to; i++) {
        struct str commit = lock_also_is_former(entry, i)
                                ? STR("")
                                : lock_also_commit(entry, i);

        sorted[i - from] = (struct also){entry->also[i], commit};
        if (commit.n)
            w->version = LOCK_VERSION_2;
    }
    STR_SORT_BY(sorted, to - from, origin);
    put_key(w, key);
    for (size_t i = 0; i < to - from; i++) {
        buf_text(w->out, i ? ", " : "[");
        buf_append(w->out, also_text(&sorted[i], w->a));
    }
    buf_text(w->out, "]\n");
}

static void put_also(struct lock_writer *w, const char *key,
                     const struct lock_entry *entry)
{
    put_origins(w, key, entry, 0, entry->also_count - entry->former_count);
}

static void put_formerly(struct lock_writer *w, const char *key,
                         const struct lock_entry *entry)
{
    put_origins(w, key, entry, entry->also_count - entry->former_count,
                entry->also_count);
}

/* --- objects and places --------------------------------------------------- */

static bool take_tree(struct lock_reader *r, struct lock_entry *entry,
                      struct str value)
{
    if (entry->kind == DOC_MCP && r->version < LOCK_VERSION_2)
        return fail(r, "\"tree\" is not for mcps");
    return take_id(r, value, &entry->object);
}

/* A server of a plugin has the tree of the plugin instead of a blob. */
static bool has_blob(const struct lock_entry *entry)
{
    return entry->kind == DOC_MCP && !entry->server.n;
}

static void put_tree(struct lock_writer *w, const char *key,
                     const struct lock_entry *entry)
{
    if (entry->object.n && !has_blob(entry))
        put_line(w, key, entry->object);
}

static void put_blob(struct lock_writer *w, const char *key,
                     const struct lock_entry *entry)
{
    if (entry->object.n && has_blob(entry))
        put_line(w, key, entry->object);
}

static bool take_url(struct lock_reader *r, struct lock_entry *entry,
                     struct str value)
{
    struct str url;

    return take_scalar(r, value, &entry->url) &&
           ((well_known_resolve(entry->origin, entry->url, r->a, &url) &&
             str_eq(url, entry->url)) ||
            fail(r, "not a URL: %.*s", STR_ARG(lock_excerpt(entry->url))));
}

/* Reads the folder of a package: a single component below a folder of mapm, so
 * that it cannot lead out of it. */
static bool take_path(struct lock_reader *r, struct lock_entry *entry,
                      struct str value)
{
    struct str folder = entry->kind == DOC_AGENT ? STR(".agents/agents/")
                                                 : STR(".agents/skills/");

    entry->place = value;
    return (str_starts(value, folder) &&
            name_is_kebab(str_from_index(value, folder.n))) ||
           fail(r, "not a folder of %s: \"%.*s\"", doc_kind_plural(entry->kind),
                STR_ARG(lock_excerpt(value)));
}

/* --- members and needs --------------------------------------------- */

static bool is_member(struct str value)
{
    return str_is(value, MEMBER_ROOT) || member_path_is_valid(value);
}

static bool take_members(struct lock_reader *r, struct lock_entry *entry,
                         struct str value)
{
    struct str_list list;

    if (!take_list(r, value, is_member, "a member", &list))
        return false;
    if (list.count > MEMBERS_MAX + 1)
        return fail(r, "a damaged list");
    entry->members = list.items;
    entry->member_count = list.count;
    return list.count > 1 || !str_is(list.items[0], MEMBER_ROOT) ||
           fail(r, "\"member\" names the root alone, which has all else");
}

static void put_members(struct lock_writer *w, const char *key,
                        const struct lock_entry *entry)
{
    if (entry->member_count)
        put_list(w, key, entry->members, entry->member_count);
}

/* Returns an upper bound for the number of needs in `list`: one more than it
 * has commas, and no need is shorter than "mcp a, ". */
static size_t most_needs(struct str list)
{
    size_t commas = 0, most = list.n / (sizeof "mcp a, " - 1);

    for (size_t i = 0; i < list.n; i++)
        commas += list.p[i] == ',';
    return (commas < most ? commas : most) + 1;
}

static bool take_needs(struct lock_reader *r, struct lock_entry *entry,
                       struct str value)
{
    struct str inside = {0}, raw, kind;

    if (!open_list(r, value, &inside))
        return false;
    entry->needs = arena_array(r->a, most_needs(inside), sizeof *entry->needs);
    while (inside.n) {
        size_t n = entry->need_count;
        struct lock_need *need = &entry->needs[n];

        if (!cut_item(&inside, &raw))
            return fail(r, "a damaged list");
        need->name = raw;
        if (!str_cut(&need->name, ' ', &kind) || !need->name.n ||
            !doc_kind_find(kind, &need->kind) ||
            (need->kind == DOC_AGENT && entry->kind != DOC_AGENT &&
             entry->kind != DOC_PLUGIN) ||
            (need->kind == DOC_PLUGIN && entry->kind != DOC_PLUGIN) ||
            !name_fqn_is_valid(need->kind, need->name))
            return fail(r, "not \"skill NAME\" or \"mcp NAME\": \"%.*s\"",
                        STR_ARG(lock_excerpt(raw)));
        if ((need->kind == DOC_AGENT || need->kind == DOC_PLUGIN) &&
            r->version < LOCK_VERSION_2)
            return fail_version(r, "needs: [agent ...]", LOCK_VERSION_2);
        if (n && lock_order(need[-1].kind, need[-1].name, need->kind,
                            need->name) >= 0)
            return fail(r, "needs twice, or not in order: %.*s",
                        STR_ARG(lock_excerpt(raw)));
        entry->need_count++;
    }
    return true;
}

static int compare_needs(const void *x, const void *y)
{
    const struct lock_need *one = x, *two = y;

    return lock_order(one->kind, one->name, two->kind, two->name);
}

/* Sorts needs. Needs of a lock that was read are usually sorted already. */
static void sort_needs(struct lock_need *needs, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (compare_needs(&needs[i - 1], &needs[i]) > 0) {
            qsort(needs, count, sizeof *needs, compare_needs);
            return;
        }
}

static void put_needs(struct lock_writer *w, const char *key,
                      const struct lock_entry *entry)
{
    if (entry->need_count == 0)
        return;
    sort_needs(entry->needs, entry->need_count);
    put_key(w, key);
    for (size_t i = 0; i < entry->need_count; i++) {
        const struct lock_need *need = &entry->needs[i];

        buf_text(w->out, i ? ", " : "[");
        buf_text(w->out, doc_kind_name(need->kind));
        buf_char(w->out, ' ');
        buf_append(w->out, need->name);
        if (need->kind == DOC_AGENT || need->kind == DOC_PLUGIN)
            w->version = LOCK_VERSION_2;
    }
    buf_text(w->out, "]\n");
}

/* --- of plugins and their parts -------------------------------------------- */

/* Reads the marketplace of a plugin. Until the entry is complete, `source`
 * holds the value of `origin:`. */
static bool take_marketplace(struct lock_reader *r, struct lock_entry *entry,
                             struct str value)
{
    entry->source = entry->origin;
    return take_scalar(r, value, &entry->origin) &&
           ((origin_is_plausible(entry->origin) ||
             origin_is_own(entry->origin)) ||
            fail(r, "not an origin: %.*s",
                 STR_ARG(lock_excerpt(entry->origin))));
}

static bool is_catalog(struct str value)
{
    return origin_is_plausible(value) || origin_is_own(value) ||
           origin_is_index(value, NULL);
}

/* Reads one catalog, or a list of several. */
static bool take_catalogs(struct lock_reader *r, struct lock_entry *entry,
                          struct str value)
{
    struct str_list list;
    struct str *one = arena_new(r->a, struct str);

    if (str_starts(value, STR("["))) {
        if (!take_list(r, value, is_catalog, "an origin", &list))
            return false;
        if (list.count == 1)
            return fail(r, "not written as mapm writes it: %.*s",
                        STR_ARG(lock_excerpt(value)));
    } else {
        if (!take_scalar(r, value, one))
            return false;
        if (!is_catalog(*one))
            return fail(r, "not an origin: %.*s", STR_ARG(lock_excerpt(*one)));
        list = (struct str_list){one, 1};
    }
    entry->catalogs = list.items;
    entry->catalog_count = list.count;
    return true;
}

static void put_catalogs(struct lock_writer *w, const char *key,
                         const struct lock_entry *entry)
{
    size_t n = entry->catalog_count;
    struct str *sorted;

    if (n == 0)
        return;
    sorted = arena_array(w->a, n, sizeof *sorted);
    for (size_t i = 0; i < n; i++)
        sorted[i] = entry->catalogs[i];
    str_sort(sorted, n);
    if (n > 1)
        put_list(w, key, sorted, n);
    else
        put_line(w, key, lock_scalar(sorted[0], w->a));
}

/* Reads `catalog:`: for a plugin the marketplace with its entry, for other
 * packages the catalogs that selected them. */
static bool take_catalog(struct lock_reader *r, struct lock_entry *entry,
                         struct str value)
{
    return entry->kind == DOC_PLUGIN ? take_marketplace(r, entry, value)
                                     : take_catalogs(r, entry, value);
}

static void put_catalog(struct lock_writer *w, const char *key,
                        const struct lock_entry *entry)
{
    if (entry->source.n)
        put_line(w, key, lock_scalar(lock_catalog(entry), w->a));
    else
        put_catalogs(w, key, entry);
}

static bool take_catalog_entry(struct lock_reader *r, struct lock_entry *entry,
                               struct str value)
{
    struct str name;

    if (!take_scalar(r, value, &name))
        return false;
    if (!entry->source.n || !name.n || str_has_char(name, '?') ||
        str_has_char(name, '#'))
        return fail(r, "not the name of an entry: \"%.*s\"",
                    STR_ARG(lock_excerpt(name)));
    entry->origin = arena_printf(r->a, "%.*s?plugin=%.*s",
                                 STR_ARG(entry->origin), STR_ARG(name));
    return true;
}

static void put_catalog_entry(struct lock_writer *w, const char *key,
                              const struct lock_entry *entry)
{
    struct str name = lock_catalog_entry(entry);

    if (name.n)
        put_line(w, key, lock_scalar(name, w->a));
}

/* Completes the origin of an entry with the part after "?", which the file does
 * not contain because it follows from the other keys. */
static bool complete_origin(struct lock_reader *r, struct lock_entry *entry)
{
    struct str base = entry->origin;

    if (r->own_line && !entry->plugin.n) /* installed as a link, which has
                                          * one name */
        return lock_fail(r->e, r->name, r->own_line,
                         "\"as\" is not for packages of the workspace");
    if (entry->kind == DOC_MCP && entry->server.n != 0 && !entry->plugin.n)
        return lock_fail(r->e, r->name, entry->line,
                         "mcp %.*s has no \"plugin\"", STR_ARG(entry->name));
    if (entry->kind == DOC_PLUGIN && !entry->source.n)
        entry->origin = arena_printf(r->a, "%.*s?plugin", STR_ARG(base));
    else if (entry->kind == DOC_PLUGIN && !str_has_char(base, '?'))
        return lock_fail(r->e, r->name, entry->line,
                         "plugin %.*s has no \"entry\"", STR_ARG(entry->name));
    else if (entry->server.n)
        entry->origin =
            arena_printf(r->a, "%.*s?mcp=%.*s/%.*s", STR_ARG(base),
                         STR_ARG(entry->plugin), STR_ARG(entry->server));
    else if (entry->kind == DOC_AGENT && entry->plugin.n)
        entry->origin = arena_printf(
            r->a, "%.*s?agent=%.*s/%.*s", STR_ARG(base), STR_ARG(entry->plugin),
            STR_ARG(entry->declared.n ? entry->declared : entry->name));
    return true;
}

#define DOC_FOLDER (DOC_AGENT | DOC_SKILL)
#define DOC_ANY    (DOC_FOLDER | DOC_MCP | DOC_PLUGIN)
#define DOC_TREE   (DOC_FOLDER | DOC_PLUGIN)

/* clang-format off */
#define AT(member) offsetof(struct lock_entry, member)
#define TEXT(member, check, what)                                              \
    .text = AT(member), .is_valid = (check), .noun = (what)
#define BARE(member, check, what)                                              \
    .is_bare = true, TEXT(member, check, what)
#define ID     "40 hexadecimal digits"
#define SHA256 "\"sha256:\" and 64 hexadecimal digits"

static const struct field {
    struct str key;
    enum lock_version since;
    unsigned kinds;    /* kinds that may have the key */
    unsigned required; /* kinds that must have the key */
    unsigned excludes; /* NOT_ flags of packages that never have the key */
    /* The value: a member that is a text, a list of texts or a flag, at this
     * offset in struct lock_entry, or else `take` and `put`. */
    size_t text, words, flag;
    bool (*is_valid)(struct str);
    /* "not NOUN" is the message about an invalid text; of a flag, its text. */
    const char *noun;
    bool is_bare;     /* the text is never quoted */
    /* Read it in another way; write it, if the entry has it, in another way. */
    bool (*take)(struct lock_reader *, struct lock_entry *, struct str);
    void (*put)(struct lock_writer *, const char *, const struct lock_entry *);
} fields[] = { /* in the order of the keys in the file */
    {STR_INIT("name"), LOCK_VERSION_1, DOC_ANY, DOC_ANY, 0, .take = take_name, .put = put_name},
    {STR_INIT("as"), LOCK_VERSION_2, DOC_ANY, 0, 0, .take = take_as, .put = put_as},
    {STR_INIT("origin"), LOCK_VERSION_1, DOC_ANY, DOC_ANY, 0, .take = take_origin, .put = put_origin},
    {STR_INIT("from"), LOCK_VERSION_2, DOC_ANY, 0, NOT_OWN | NOT_INDEX, .text = AT(from), .take = take_from},
    {STR_INIT("also"), LOCK_VERSION_1, DOC_ANY, 0, NOT_OWN, .take = take_also, .put = put_also},
    {STR_INIT("formerly"), LOCK_VERSION_2, DOC_FOLDER | DOC_MCP, 0, NOT_REMOTE, .take = take_formerly, .put = put_formerly},
    {STR_INIT("tag"), LOCK_VERSION_2, DOC_ANY, 0, NOT_REMOTE, TEXT(tag, origin_ref_is_valid, "a tag")},
    {STR_INIT("commit"), LOCK_VERSION_1, DOC_ANY, DOC_ANY, NOT_REMOTE, BARE(commit, is_id, ID)},
    {STR_INIT("tree"), LOCK_VERSION_1, DOC_ANY, DOC_TREE, NOT_REMOTE, .take = take_tree, .put = put_tree},
    {STR_INIT("blob"), LOCK_VERSION_1, DOC_MCP, DOC_MCP, NOT_REMOTE, .put = put_blob, BARE(object, is_id, ID)},
    {STR_INIT("url"), LOCK_VERSION_2, DOC_SKILL, DOC_SKILL, NOT_OTHERS, .text = AT(url), .take = take_url},
    {STR_INIT("artifact"), LOCK_VERSION_2, DOC_SKILL, DOC_SKILL, NOT_OTHERS, BARE(artifact, is_sha256, SHA256)},
    {STR_INIT("digest"), LOCK_VERSION_1, DOC_ANY, DOC_ANY, NOT_OWN_FOLDER, BARE(digest, is_sha256, SHA256)},
    {STR_INIT("version"), LOCK_VERSION_1, DOC_ANY, 0, NOT_OWN, TEXT(version, is_given, "a version")},
    {STR_INIT("manifest"), LOCK_VERSION_2, DOC_PLUGIN, 0, 0, TEXT(manifest, is_given, "a path")},
    {STR_INIT("path"), LOCK_VERSION_1, DOC_FOLDER, DOC_FOLDER, 0, .text = AT(place), .is_bare = true, .take = take_path},
    {STR_INIT("key"), LOCK_VERSION_1, DOC_MCP, DOC_MCP, 0, TEXT(place, is_key, "a key of an MCP server")},
    {STR_INIT("server"), LOCK_VERSION_2, DOC_MCP, 0, 0, TEXT(server, name_is_kebab, "the name of a server")},
    {STR_INIT("plugin"), LOCK_VERSION_2, DOC_FOLDER | DOC_MCP, 0, 0, TEXT(plugin, is_plugin, "the name of a plugin")},
    {STR_INIT("catalog"), LOCK_VERSION_2, DOC_ANY, 0, 0, .take = take_catalog, .put = put_catalog},
    {STR_INIT("catalog_commit"), LOCK_VERSION_2, DOC_PLUGIN, 0, 0, BARE(catalog_commit, is_id, ID)},
    {STR_INIT("entry"), LOCK_VERSION_2, DOC_PLUGIN, 0, 0, .take = take_catalog_entry, .put = put_catalog_entry},
    {STR_INIT("member"), LOCK_VERSION_2, DOC_ANY, 0, 0, .take = take_members, .put = put_members},
    {STR_INIT("patch"), LOCK_VERSION_2, DOC_FOLDER, 0, NOT_FILE | NOT_OWN, BARE(patch, is_sha256, SHA256)},
    {STR_INIT("hidden"), LOCK_VERSION_1, DOC_FOLDER | DOC_MCP, 0, 0, .flag = AT(allow_hidden), .noun = "allowed"},
    {STR_INIT("rewritten"), LOCK_VERSION_1, DOC_FOLDER, 0, NOT_OWN, .flag = AT(rewritten), .noun = "name"},
    /* sorted, because it is compared with mapm.yaml */
    {STR_INIT("without"), LOCK_VERSION_2, DOC_PLUGIN, 0, 0, .words = AT(without), .is_valid = project_part_is_valid, .noun = "a part of a plugin"},
    {STR_INIT("skipped"), LOCK_VERSION_2, DOC_PLUGIN, 0, 0, .words = AT(skipped)},
    {STR_INIT("not_installed"), LOCK_VERSION_2, DOC_PLUGIN, 0, 0, .words = AT(not_installed)},
    {STR_INIT("needs"), LOCK_VERSION_1, DOC_TREE, 0, 0, .take = take_needs, .put = put_needs},
};
/* clang-format on */
#define FIELD_COUNT (sizeof fields / sizeof *fields)

/* Finds the row of a key. Starts after the row of the previous key, because the
 * keys are nearly always in order. */
static size_t find_field(struct str key, size_t next)
{
    for (size_t i = next; i < FIELD_COUNT; i++)
        if (str_eq(key, fields[i].key))
            return i;
    for (size_t i = 0; i < next; i++)
        if (str_eq(key, fields[i].key))
            return i;
    return FIELD_COUNT;
}

/* Fails if a field in the range [from, to), which the entry does not have, is
 * required. */
static bool check_skipped(struct lock_reader *r, const struct lock_entry *entry,
                          size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if ((fields[i].required & entry->kind) &&
            !(fields[i].put == put_blob && entry->object.n) &&
            !is_excluded(fields[i].excludes, entry))
            return lock_fail(
                r->e, r->name, entry->line, "%s%s%.*s has no \"%s\"",
                doc_kind_name(entry->kind), entry->name.n ? " " : "",
                STR_ARG(entry->name), fields[i].key.p);
    return true;
}

static bool take_value(struct lock_reader *r, const struct field *f,
                       struct lock_entry *entry, struct str value)
{
    char *at = (char *)entry;
    struct str *text = (struct str *)(at + f->text);

    if (f->take)
        return f->take(r, entry, value);
    if (f->words)
        return take_list(r, value, f->is_valid, f->noun,
                         (struct str_list *)(at + f->words));
    if (f->flag) {
        *(bool *)(at + f->flag) = true;
        return str_is(value, f->noun) || fail(r, "expected \"%s\"", f->noun);
    }
    if (f->is_bare)
        *text = value;
    else if (!take_scalar(r, value, text))
        return false;
    return f->is_valid(*text) ||
           fail(r, "not %s: \"%.*s\"", f->noun, STR_ARG(lock_excerpt(*text)));
}

bool lock_take_field(struct lock_reader *r, struct lock_entry *entry,
                     size_t *next)
{
    struct str key, value = str_from_index(r->line, 4);
    size_t i;

    if (!str_starts(r->line, STR("    ")) || !str_cut(&value, ':', &key) ||
        !str_starts(value, STR(" ")))
        return lock_fail_line(r, "\"    key: value\"");
    value = str_from_index(value, 1);
    i = find_field(key, *next);
    if (i == FIELD_COUNT)
        return r->version > LOCK_VERSION_1 ? lock_fail_newer(r, "key", key)
                                           : fail(r, "unknown key \"%.*s\"",
                                                  STR_ARG(lock_excerpt(key)));
    if (fields[i].since > r->version)
        return fail_version(r, fields[i].key.p, fields[i].since);
    if (i < *next)
        return fail(r, "\"%s\" is given twice, or not in its place",
                    fields[i].key.p);
    if (!(fields[i].kinds & entry->kind))
        return fail(r, "\"%s\" is not for %s", fields[i].key.p,
                    doc_kind_plural(entry->kind));
    if (is_excluded(fields[i].excludes, entry))
        return fail(r, "\"%s\" is not for %s packages", fields[i].key.p,
                    form_of(entry));
    if (!check_skipped(r, entry, *next, i) ||
        !take_value(r, &fields[i], entry, value))
        return false;
    *next = i + 1;
    return true;
}

bool lock_end_fields(struct lock_reader *r, struct lock_entry *entry,
                     size_t next)
{
    return check_skipped(r, entry, next, FIELD_COUNT) &&
           complete_origin(r, entry);
}

static void put_value(struct lock_writer *w, const struct field *f,
                      const struct lock_entry *entry)
{
    const char *at = (const char *)entry;
    const struct str *text = (const struct str *)(at + f->text);
    const struct str_list *words = (const struct str_list *)(at + f->words);

    if (f->put) {
        f->put(w, f->key.p, entry);
    } else if (f->words) {
        if (words->count)
            put_list(w, f->key.p, words->items, words->count);
    } else if (f->flag) {
        if (*(const bool *)(at + f->flag))
            put_line(w, f->key.p, str_cstr(f->noun));
    } else if (text->n) {
        put_line(w, f->key.p, f->is_bare ? *text : lock_scalar(*text, w->a));
    }
}

void lock_put_fields(struct lock_writer *w, const struct lock_entry *entry)
{
    if (entry->kind == DOC_PLUGIN)
        w->version = LOCK_VERSION_2;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        size_t before = w->out->n;

        if (!(fields[i].kinds & entry->kind))
            continue;
        put_value(w, &fields[i], entry);
        if (w->out->n > before && fields[i].since > w->version)
            w->version = fields[i].since;
    }
}

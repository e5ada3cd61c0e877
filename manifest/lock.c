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

struct reader {
    struct str rest, line;
    unsigned number;
    enum lock_version version;
    const char *name; /* name of the file */
    struct arena *a;
    struct err *e;
    struct lock_entry *entries;
    size_t count, capacity;
    bool is_joined; /* accept entries in any order and repeated ones */
    /* Line of the origin of an entry that belongs to the workspace and has
     * `as`, else 0. */
    unsigned own_line;
};

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
static bool fail_line(struct reader *r, const char *expected)
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

static bool next_line(struct reader *r)
{
    if (!r->rest.n || !str_line(&r->rest, &r->line)) {
        r->line = STR("");
        return false;
    }
    r->number++;
    return true;
}

/* --- values --------------------------------------------------------------- */

/* Reads a scalar that is written exactly as lock_format() writes it. */
static bool take_scalar(struct reader *r, struct str raw, struct str *out)
{
    struct str value = raw;

    if (lock_is_plain(raw)) {
        *out = raw;
        return true;
    }
    if (raw.n && raw.p[0] == '"' && !lock_unquote(raw, r->a, &value))
        return lock_fail(r->e, r->name, r->number, "a damaged text in quotes");
    if (!str_eq(lock_scalar(value, r->a), raw))
        return lock_fail(r->e, r->name, r->number,
                         "not written as mapm writes it: %.*s",
                         STR_ARG(lock_excerpt(raw)));
    if (!text_is_utf8(value) || text_has_control(value) ||
        text_find_hidden(value, NULL, NULL) != TEXT_HIDDEN_NONE)
        return lock_fail(r->e, r->name, r->number,
                         "a hidden character, or not UTF-8");
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

static bool open_list(struct reader *r, struct str value, struct str *inside)
{
    if (value.n < 3 || value.p[0] != '[' || value.p[value.n - 1] != ']')
        return lock_fail(r->e, r->name, r->number,
                         "expected a list in brackets");
    *inside = str_slice(value, 1, value.n - 1);
    return true;
}

/* Returns true if `s` has the form of an origin. origin_parse(), which has the
 * table of hosts, decides whether it is allowed. */
static bool origin_is_plausible(struct str s)
{
    return s.n <= ORIGIN_MAX_BYTES &&
           ((str_starts(s, STR("https://")) && s.n > 8 && s.p[8] != '/') ||
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

/* --- the lines of an entry ------------------------------------------------ */

static bool take_name(struct reader *r, struct lock_entry *entry,
                      struct str value)
{
    if (!take_scalar(r, value, &entry->name))
        return false;
    return name_fqn_is_valid(entry->kind, entry->name) ||
           lock_fail(
               r->e, r->name, r->number, "not a name of %s %s: %.*s",
               entry->kind == DOC_SKILL || entry->kind == DOC_PLUGIN ? "a"
                                                                     : "an",
               doc_kind_name(entry->kind), STR_ARG(lock_excerpt(entry->name)));
}

/* Reads `as:`, the name of the package in this layer. `name:` is then the name
 * in its manifest. */
static bool take_as(struct reader *r, struct lock_entry *entry,
                    struct str value)
{
    entry->declared = entry->name;
    if (!take_name(r, entry, value))
        return false;
    return !str_eq(entry->name, entry->declared) ||
           lock_fail(r->e, r->name, r->number, "\"as\" repeats the name");
}

static bool take_from(struct reader *r, struct lock_entry *entry,
                      struct str value)
{
    if (!take_scalar(r, value, &entry->from))
        return false;
    return (origin_is_plausible(entry->from) &&
            str_starts(entry->origin, STR("https:"))) ||
           lock_fail(r->e, r->name, r->number, "not where it comes from: %.*s",
                     STR_ARG(lock_excerpt(entry->from)));
}

/* A merge can join the version line of one lock with entries of another. */
static bool fail_version(struct reader *r, const char *key,
                         enum lock_version since)
{
    err_set(r->e, ERR_FORMAT, "%s:%u: \"%s\" needs version %d of this file",
            r->name, r->number, key, (int)since);
    return err_hint(r->e,
                    "after a merge: write \"version: %d\" as its first "
                    "line, then run mapm install",
                    (int)since);
}

static bool take_origin(struct reader *r, struct lock_entry *entry,
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
           lock_fail(r->e, r->name, r->number, "not an origin: %.*s",
                     STR_ARG(lock_excerpt(entry->origin)));
}

static bool take_id(struct reader *r, struct str value, struct str *out)
{
    if (!is_hex(value, COMMIT_HEX_CHARS))
        return lock_fail(r->e, r->name, r->number,
                         "not 40 hexadecimal digits: \"%.*s\"",
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
    if (at == SIZE_MAX || !str_starts(*origin, STR("https:")))
        return false;
    *commit = str_from_index(*origin, at + 1);
    *origin = str_slice(*origin, 0, at);
    return true;
}

static bool take_also_item(struct reader *r, struct str raw, struct str *origin,
                           struct str *commit)
{
    bool has_commit = cut_commit(&raw, commit);

    if (!take_scalar(r, raw, origin))
        return false;
    if (!has_commit && !cut_commit(origin, commit))
        return true;
    if (r->version < LOCK_VERSION_2)
        return fail_version(r, "also with a commit", LOCK_VERSION_2);
    if (!has_commit && str_eq(lock_scalar(*origin, r->a), *origin))
        return lock_fail(r->e, r->name, r->number,
                         "not written as mapm writes it: %.*s",
                         STR_ARG(lock_excerpt(raw)));
    return take_id(r, *commit, commit);
}

/* Appends the list `value` to entry->also. */
static bool take_origins(struct reader *r, struct lock_entry *entry,
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
            return lock_fail(r->e, r->name, r->number, "a damaged list");
        commits =
            arena_grow(r->a, commits, n, &commit_capacity, sizeof *commits);
        if (!take_also_item(r, raw, &also[n], &commits[n]))
            return false;
        if (!origin_is_plausible(also[n]) ||
            (commits[n].n && !may_have_commits) ||
            (n > before && str_cmp(also[n - 1], also[n]) >= 0))
            return lock_fail(r->e, r->name, r->number,
                             "not an origin, or not in order: %.*s",
                             STR_ARG(lock_excerpt(also[n])));
        entry->also_count++;
    }
    entry->also = also;
    entry->also_commits = commits;
    return true;
}

static bool take_also(struct reader *r, struct lock_entry *entry,
                      struct str value)
{
    return take_origins(r, entry, value, true);
}

static bool take_formerly(struct reader *r, struct lock_entry *entry,
                          struct str value)
{
    size_t before = entry->also_count;

    if (!take_origins(r, entry, value, false))
        return false;
    entry->former_count = entry->also_count - before;
    return true;
}

/* Reads a tag. install/proof.c, which parses origins, checks that its version
 * is in the range. */
static bool take_tag(struct reader *r, struct lock_entry *entry,
                     struct str value)
{
    if (!take_scalar(r, value, &entry->tag))
        return false;
    return origin_ref_is_valid(entry->tag) ||
           lock_fail(r->e, r->name, r->number, "not a tag: \"%.*s\"",
                     STR_ARG(lock_excerpt(entry->tag)));
}

static bool take_commit(struct reader *r, struct lock_entry *entry,
                        struct str value)
{
    return take_id(r, value, &entry->commit);
}

static bool take_object(struct reader *r, struct lock_entry *entry,
                        struct str value)
{
    return take_id(r, value, &entry->object);
}

static bool take_tree(struct reader *r, struct lock_entry *entry,
                      struct str value)
{
    if (entry->kind == DOC_MCP && r->version < LOCK_VERSION_2)
        return lock_fail(r->e, r->name, r->number, "\"tree\" is not for mcps");
    return take_id(r, value, &entry->object);
}

static bool take_sha256(struct reader *r, struct str value, struct str *out)
{
    if (!str_starts(value, STR("sha256:")) ||
        !is_hex(str_from_index(value, 7), 64))
        return lock_fail(r->e, r->name, r->number,
                         "not \"sha256:\" and 64 hexadecimal digits: \"%.*s\"",
                         STR_ARG(lock_excerpt(value)));
    *out = value;
    return true;
}

static bool take_url(struct reader *r, struct lock_entry *entry,
                     struct str value)
{
    struct str url;

    return take_scalar(r, value, &entry->url) &&
           ((well_known_resolve(entry->origin, entry->url, r->a, &url) &&
             str_eq(url, entry->url)) ||
            lock_fail(r->e, r->name, r->number, "not a URL: %.*s",
                      STR_ARG(lock_excerpt(entry->url))));
}

static bool take_artifact(struct reader *r, struct lock_entry *entry,
                          struct str value)
{
    return take_sha256(r, value, &entry->artifact);
}

static bool take_digest(struct reader *r, struct lock_entry *entry,
                        struct str value)
{
    return take_sha256(r, value, &entry->digest);
}

static bool take_patch(struct reader *r, struct lock_entry *entry,
                       struct str value)
{
    return take_sha256(r, value, &entry->patch);
}

static bool take_version(struct reader *r, struct lock_entry *entry,
                         struct str value)
{
    return take_scalar(r, value, &entry->version) &&
           (entry->version.n ||
            lock_fail(r->e, r->name, r->number, "an empty version"));
}

/* Reads the folder of a package: a single component below a folder of mapm, so
 * that it cannot lead out of it. */
static bool take_path(struct reader *r, struct lock_entry *entry,
                      struct str value)
{
    struct str folder = entry->kind == DOC_AGENT ? STR(".agents/agents/")
                                                 : STR(".agents/skills/");

    entry->place = value;
    return (str_starts(value, folder) &&
            name_is_kebab(str_from_index(value, folder.n))) ||
           lock_fail(r->e, r->name, r->number, "not a folder of %s: \"%.*s\"",
                     doc_kind_plural(entry->kind),
                     STR_ARG(lock_excerpt(value)));
}

static bool take_key(struct reader *r, struct lock_entry *entry,
                     struct str value)
{
    bool good = true;

    if (!take_scalar(r, value, &entry->place))
        return false;
    for (size_t i = 0; i < entry->place.n; i++)
        good = good &&
               (char_is_alpha(entry->place.p[i]) ||
                char_is_digit(entry->place.p[i]) || entry->place.p[i] == '-');
    return (good && entry->place.n && entry->place.n <= MCP_KEY_MAX_CHARS) ||
           lock_fail(r->e, r->name, r->number,
                     "not a key of an MCP server: \"%.*s\"",
                     STR_ARG(lock_excerpt(entry->place)));
}

static bool take_members(struct reader *r, struct lock_entry *entry,
                         struct str value)
{
    struct str inside = {0}, raw, *members = NULL;
    size_t capacity = 0;

    if (!open_list(r, value, &inside))
        return false;
    while (inside.n) {
        size_t n = entry->member_count;

        members = arena_grow(r->a, members, n, &capacity, sizeof *members);
        if (n > MEMBERS_MAX || !cut_item(&inside, &raw))
            return lock_fail(r->e, r->name, r->number, "a damaged list");
        if (!take_scalar(r, raw, &members[n]))
            return false;
        if ((!str_is(members[n], MEMBER_ROOT) &&
             !member_path_is_valid(members[n])) ||
            (n && str_cmp(members[n - 1], members[n]) >= 0))
            return lock_fail(r->e, r->name, r->number,
                             "not a member, or not in order: %.*s",
                             STR_ARG(lock_excerpt(members[n])));
        entry->member_count++;
    }
    entry->members = members;
    return entry->member_count > 1 || !str_is(members[0], MEMBER_ROOT) ||
           lock_fail(r->e, r->name, r->number,
                     "\"member\" names the root alone, which has all else");
}

static bool take_rewritten(struct reader *r, struct lock_entry *entry,
                           struct str value)
{
    entry->rewritten = str_is(value, "name");
    return entry->rewritten ||
           lock_fail(r->e, r->name, r->number, "expected \"name\"");
}

static bool take_hidden(struct reader *r, struct lock_entry *entry,
                        struct str value)
{
    entry->allow_hidden = str_is(value, "allowed");
    return entry->allow_hidden ||
           lock_fail(r->e, r->name, r->number, "expected \"allowed\"");
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

static bool take_needs(struct reader *r, struct lock_entry *entry,
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
            return lock_fail(r->e, r->name, r->number, "a damaged list");
        need->name = raw;
        if (!str_cut(&need->name, ' ', &kind) || !need->name.n ||
            !doc_kind_find(kind, &need->kind) ||
            (need->kind == DOC_AGENT && entry->kind != DOC_AGENT &&
             entry->kind != DOC_PLUGIN) ||
            (need->kind == DOC_PLUGIN && entry->kind != DOC_PLUGIN) ||
            !name_fqn_is_valid(need->kind, need->name))
            return lock_fail(r->e, r->name, r->number,
                             "not \"skill NAME\" or \"mcp NAME\": \"%.*s\"",
                             STR_ARG(lock_excerpt(raw)));
        if ((need->kind == DOC_AGENT || need->kind == DOC_PLUGIN) &&
            r->version < LOCK_VERSION_2)
            return fail_version(r, "needs: [agent ...]", LOCK_VERSION_2);
        if (n && lock_order(need[-1].kind, need[-1].name, need->kind,
                            need->name) >= 0)
            return lock_fail(r->e, r->name, r->number,
                             "needs twice, or not in order: %.*s",
                             STR_ARG(lock_excerpt(raw)));
        entry->need_count++;
    }
    return true;
}

/* --- of plugins and their parts -------------------------------------------- */

static bool take_manifest(struct reader *r, struct lock_entry *entry,
                          struct str value)
{
    return take_scalar(r, value, &entry->manifest) &&
           (entry->manifest.n ||
            lock_fail(r->e, r->name, r->number, "an empty path"));
}

static bool take_server(struct reader *r, struct lock_entry *entry,
                        struct str value)
{
    return take_scalar(r, value, &entry->server) &&
           (name_is_kebab(entry->server) ||
            lock_fail(r->e, r->name, r->number,
                      "not the name of a server: \"%.*s\"",
                      STR_ARG(lock_excerpt(entry->server))));
}

static bool take_plugin(struct reader *r, struct lock_entry *entry,
                        struct str value)
{
    return take_scalar(r, value, &entry->plugin) &&
           (name_fqn_is_valid(DOC_PLUGIN, entry->plugin) ||
            lock_fail(r->e, r->name, r->number,
                      "not the name of a plugin: \"%.*s\"",
                      STR_ARG(lock_excerpt(entry->plugin))));
}

/* Reads the marketplace of a plugin. Until the entry is complete, `source`
 * holds the value of `origin:`. */
static bool take_marketplace(struct reader *r, struct lock_entry *entry,
                             struct str value)
{
    entry->source = entry->origin;
    return take_scalar(r, value, &entry->origin) &&
           ((origin_is_plausible(entry->origin) ||
             origin_is_own(entry->origin)) ||
            lock_fail(r->e, r->name, r->number, "not an origin: %.*s",
                      STR_ARG(lock_excerpt(entry->origin))));
}

/* Reads one catalog, or a list of several. */
static bool take_catalogs(struct reader *r, struct lock_entry *entry,
                          struct str value)
{
    struct str inside = value, raw = value, *list = NULL;
    size_t n = 0, capacity = 0;
    bool is_list = str_starts(value, STR("["));

    if (is_list && !open_list(r, value, &inside))
        return false;
    do {
        list = arena_grow(r->a, list, n, &capacity, sizeof *list);
        if (is_list && !cut_item(&inside, &raw))
            return lock_fail(r->e, r->name, r->number, "a damaged list");
        if (!take_scalar(r, raw, &list[n]))
            return false;
        if ((!origin_is_plausible(list[n]) && !origin_is_own(list[n]) &&
             !origin_is_index(list[n], NULL)) ||
            (n && str_cmp(list[n - 1], list[n]) >= 0))
            return lock_fail(r->e, r->name, r->number,
                             "not an origin, or not in order: %.*s",
                             STR_ARG(lock_excerpt(list[n])));
        n++;
    } while (is_list && inside.n);
    entry->catalogs = list;
    entry->catalog_count = n;
    return !is_list || n > 1 ||
           lock_fail(r->e, r->name, r->number,
                     "not written as mapm writes it: %.*s",
                     STR_ARG(lock_excerpt(value)));
}

/* Reads `catalog:`: for a plugin the marketplace with its entry, for other
 * packages the catalogs that selected them. */
static bool take_catalog(struct reader *r, struct lock_entry *entry,
                         struct str value)
{
    return entry->kind == DOC_PLUGIN ? take_marketplace(r, entry, value)
                                     : take_catalogs(r, entry, value);
}

static bool take_catalog_commit(struct reader *r, struct lock_entry *entry,
                                struct str value)
{
    return take_id(r, value, &entry->catalog_commit);
}

static bool take_catalog_entry(struct reader *r, struct lock_entry *entry,
                               struct str value)
{
    struct str name;

    if (!take_scalar(r, value, &name))
        return false;
    if (!entry->source.n || !name.n || str_has_char(name, '?') ||
        str_has_char(name, '#'))
        return lock_fail(r->e, r->name, r->number,
                         "not the name of an entry: \"%.*s\"",
                         STR_ARG(lock_excerpt(name)));
    entry->origin = arena_printf(r->a, "%.*s?plugin=%.*s",
                                 STR_ARG(entry->origin), STR_ARG(name));
    return true;
}

static bool take_words(struct reader *r, struct str value,
                       struct lock_words *out)
{
    struct str inside = {0}, raw, *items = NULL;
    size_t capacity = 0, n = 0;

    if (!open_list(r, value, &inside))
        return false;
    while (inside.n) {
        items = arena_grow(r->a, items, n, &capacity, sizeof *items);
        if (!cut_item(&inside, &raw) || !take_scalar(r, raw, &items[n]))
            return lock_fail(r->e, r->name, r->number, "a damaged list");
        n++;
    }
    *out = (struct lock_words){items, n};
    return true;
}

/* Reads `without:`, which must be sorted because it is compared with
 * mapm.yaml. */
static bool take_without(struct reader *r, struct lock_entry *entry,
                         struct str value)
{
    const struct lock_words *words = &entry->without;

    if (!take_words(r, value, &entry->without))
        return false;
    for (size_t i = 0; i < words->count; i++)
        if (!project_part_is_valid(words->items[i]) ||
            (i && str_cmp(words->items[i - 1], words->items[i]) >= 0))
            return lock_fail(r->e, r->name, r->number,
                             "not a part of a plugin, or not in order: %.*s",
                             STR_ARG(lock_excerpt(words->items[i])));
    return true;
}

static bool take_skipped(struct reader *r, struct lock_entry *entry,
                         struct str value)
{
    return take_words(r, value, &entry->skipped);
}

static bool take_not_installed(struct reader *r, struct lock_entry *entry,
                               struct str value)
{
    return take_words(r, value, &entry->not_installed);
}

/* Completes the origin of an entry with the part after "?", which the file does
 * not contain because it follows from the other keys. */
static bool complete_origin(struct reader *r, struct lock_entry *entry)
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
static const struct field {
    struct str key;
    enum lock_version since;
    unsigned kinds;    /* kinds that may have the key */
    unsigned required; /* kinds that must have the key */
    unsigned excludes; /* NOT_ flags of packages that never have the key */
    bool (*take)(struct reader *, struct lock_entry *, struct str);
} fields[] = { /* in the order of the keys in the file */
    {STR_INIT("name"),      LOCK_VERSION_1, DOC_ANY,    DOC_ANY, 0, take_name},
    {STR_INIT("as"),        LOCK_VERSION_2, DOC_ANY,    0, 0, take_as},
    {STR_INIT("origin"),    LOCK_VERSION_1, DOC_ANY,    DOC_ANY, 0, take_origin},
    {STR_INIT("from"),      LOCK_VERSION_2, DOC_ANY,    0, NOT_OWN | NOT_INDEX, take_from},
    {STR_INIT("also"),      LOCK_VERSION_1, DOC_ANY,    0, NOT_OWN, take_also},
    {STR_INIT("formerly"),  LOCK_VERSION_2, DOC_FOLDER | DOC_MCP, 0, NOT_FILE | NOT_OWN | NOT_INDEX, take_formerly},
    {STR_INIT("tag"),       LOCK_VERSION_2, DOC_ANY,    0, NOT_FILE | NOT_OWN | NOT_INDEX, take_tag},
    {STR_INIT("commit"),    LOCK_VERSION_1, DOC_ANY,    DOC_ANY, NOT_FILE | NOT_OWN | NOT_INDEX, take_commit},
    /* a server of a plugin has the tree of the plugin instead of a blob */
    {STR_INIT("tree"),      LOCK_VERSION_1, DOC_ANY,    DOC_TREE, NOT_FILE | NOT_OWN | NOT_INDEX, take_tree},
    {STR_INIT("blob"),      LOCK_VERSION_1, DOC_MCP,    DOC_MCP, NOT_FILE | NOT_OWN | NOT_INDEX, take_object},
    {STR_INIT("url"),       LOCK_VERSION_2, DOC_SKILL,  DOC_SKILL, NOT_OTHERS, take_url},
    {STR_INIT("artifact"),  LOCK_VERSION_2, DOC_SKILL,  DOC_SKILL, NOT_OTHERS, take_artifact},
    {STR_INIT("digest"),    LOCK_VERSION_1, DOC_ANY,    DOC_ANY, NOT_OWN_FOLDER, take_digest},
    {STR_INIT("version"),   LOCK_VERSION_1, DOC_ANY,    0, NOT_OWN, take_version},
    {STR_INIT("manifest"),  LOCK_VERSION_2, DOC_PLUGIN, 0, 0, take_manifest},
    {STR_INIT("path"),      LOCK_VERSION_1, DOC_FOLDER, DOC_FOLDER, 0, take_path},
    {STR_INIT("key"),       LOCK_VERSION_1, DOC_MCP,    DOC_MCP, 0, take_key},
    {STR_INIT("server"),    LOCK_VERSION_2, DOC_MCP,    0, 0, take_server},
    {STR_INIT("plugin"),    LOCK_VERSION_2, DOC_FOLDER | DOC_MCP, 0, 0, take_plugin},
    {STR_INIT("catalog"),   LOCK_VERSION_2, DOC_ANY,    0, 0, take_catalog},
    {STR_INIT("catalog_commit"), LOCK_VERSION_2, DOC_PLUGIN, 0, 0, take_catalog_commit},
    {STR_INIT("entry"),     LOCK_VERSION_2, DOC_PLUGIN, 0, 0, take_catalog_entry},
    {STR_INIT("member"),    LOCK_VERSION_2, DOC_ANY,    0, 0, take_members},
    {STR_INIT("patch"),     LOCK_VERSION_2, DOC_FOLDER, 0, NOT_FILE | NOT_OWN, take_patch},
    {STR_INIT("hidden"),    LOCK_VERSION_1, DOC_FOLDER | DOC_MCP, 0, 0, take_hidden},
    {STR_INIT("rewritten"), LOCK_VERSION_1, DOC_FOLDER, 0, NOT_OWN, take_rewritten},
    {STR_INIT("without"),   LOCK_VERSION_2, DOC_PLUGIN, 0, 0, take_without},
    {STR_INIT("skipped"),   LOCK_VERSION_2, DOC_PLUGIN, 0, 0, take_skipped},
    {STR_INIT("not_installed"), LOCK_VERSION_2, DOC_PLUGIN, 0, 0, take_not_installed},
    {STR_INIT("needs"),     LOCK_VERSION_1, DOC_TREE,   0, 0, take_needs},
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
static bool check_skipped(struct reader *r, const struct lock_entry *entry,
                          size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        if ((fields[i].required & entry->kind) &&
            !(fields[i].take == take_object && entry->object.n) &&
            !is_excluded(fields[i].excludes, entry))
            return lock_fail(
                r->e, r->name, entry->line, "%s%s%.*s has no \"%s\"",
                doc_kind_name(entry->kind), entry->name.n ? " " : "",
                STR_ARG(entry->name), fields[i].key.p);
    return true;
}

/* Reports a key or kind of a version 2 lock that this program does not know. */
static bool fail_newer(struct reader *r, const char *kind, struct str text)
{
    err_set(r->e, ERR_FORMAT,
            "%s:%u: unknown %s \"%.*s\": written by a newer mapm", r->name,
            r->number, kind, STR_ARG(lock_excerpt(text)));
    return err_hint(r->e, "upgrade mapm: this one cannot keep what it means");
}

/* Reads "    key: value" at the current line. */
static bool take_field(struct reader *r, struct lock_entry *entry, size_t *next)
{
    struct str key, value = str_from_index(r->line, 4);
    size_t i;

    if (!str_starts(r->line, STR("    ")) || !str_cut(&value, ':', &key) ||
        !str_starts(value, STR(" ")))
        return fail_line(r, "\"    key: value\"");
    value = str_from_index(value, 1);
    i = find_field(key, *next);
    if (i == FIELD_COUNT)
        return r->version > LOCK_VERSION_1
                   ? fail_newer(r, "key", key)
                   : lock_fail(r->e, r->name, r->number, "unknown key \"%.*s\"",
                               STR_ARG(lock_excerpt(key)));
    if (fields[i].since > r->version)
        return fail_version(r, fields[i].key.p, fields[i].since);
    if (i < *next)
        return lock_fail(r->e, r->name, r->number,
                         "\"%s\" is given twice, or not in its place",
                         fields[i].key.p);
    if (!(fields[i].kinds & entry->kind))
        return lock_fail(r->e, r->name, r->number, "\"%s\" is not for %s",
                         fields[i].key.p, doc_kind_plural(entry->kind));
    if (is_excluded(fields[i].excludes, entry))
        return lock_fail(r->e, r->name, r->number,
                         "\"%s\" is not for %s packages", fields[i].key.p,
                         form_of(entry));
    if (!check_skipped(r, entry, *next, i) || !fields[i].take(r, entry, value))
        return false;
    *next = i + 1;
    return true;
}

/* Adds the hint for a lock with valid entries that do not fit together. Returns
 * false. */
static bool lock_fail_joined(struct err *e)
{
    return err_hint(e, "where git joined two edits, mapm install resolves it, "
                       "but not with --locked and not where CI is set; else "
                       "take the file from version control again");
}

static bool check_order(struct reader *r, const struct lock_entry *entry)
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
static bool take_entry(struct reader *r, bool *more)
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
        return fail_line(r, TYPE_LINE);
    type = str_from_index(r->line, head.n);
    if (!doc_kind_find(type, &entry->kind))
        return r->version > LOCK_VERSION_1 ? fail_newer(r, "type", type)
                                           : fail_line(r, TYPE_LINE);
    while ((*more = next_line(r)) && !str_starts(r->line, STR("  - ")))
        if (!take_field(r, entry, &next))
            return false;
    if (!check_skipped(r, entry, next, FIELD_COUNT) ||
        !complete_origin(r, entry))
        return false;
    if (r->count && !r->is_joined && !check_order(r, entry))
        return false;
    r->count++;
    return true;
}

/* --- the file ------------------------------------------------------------- */

/* Reads the version, which is the first line because it decides how the others
 * are read. */
static bool take_version_line(struct reader *r)
{
    static const struct str key = STR_INIT("version: ");
    struct str value;

    do {
        if (!next_line(r))
            return lock_fail(r->e, r->name, r->number + 1,
                             "the file holds no version");
    } while (str_starts(r->line, STR("#")));
    if (!str_starts(r->line, key))
        return fail_line(r, "\"version: 1\"");
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
static void reserve_entries(struct reader *r)
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

static bool take_file(struct reader *r)
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
        return !next_line(r) || fail_line(r, "the end of the file");
    if (!str_is(r->line, "packages:"))
        return fail_line(r, "\"packages:\"");
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
    struct reader r = {
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

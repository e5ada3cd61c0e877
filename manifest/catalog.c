#include "mapm/catalog.h"

#include "base/glob.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/limits.h"

#define ANY_KIND      (DOC_AGENT | DOC_SKILL | DOC_MCP)
#define EXCERPT_CHARS 80

/* --- patterns ------------------------------------------------------------- */

/* Cuts the kind off a filter such as "skill pdf-*" and leaves the rest in
 * `*word`. */
static unsigned cut_kind(struct str *word)
{
    struct str rest = *word, head;
    enum doc_kind kind;

    if (!str_cut(&rest, ' ', &head) || !rest.n || !doc_kind_find(head, &kind))
        return ANY_KIND;
    *word = str_trim(rest);
    return kind;
}

static bool check_word(struct str word, struct err *e)
{
    if (word.n && word.n <= ORIGIN_MAX_BYTES && word.p[0] != '/' &&
        !str_starts(word, STR("./")) && !str_starts(word, STR("../")) &&
        !text_has_control(word))
        return true;
    err_set(e, ERR_FORMAT, "not a pattern: \"%.*s\"",
            STR_ARG(text_cut(word, EXCERPT_CHARS)));
    return err_hint(e, "write a name, or a path below the folder of the "
                       "catalog, as in skills/pdf-*");
}

static void add_word(struct map *words, struct str word, unsigned kinds)
{
    struct map_entry *entry = map_entry(words, word);

    entry->value = (void *)((uintptr_t)entry->value | kinds);
}

bool catalog_filter_read(const struct str *words, size_t count, struct arena *a,
                         struct catalog_filter *out, struct err *e)
{
    struct catalog_glob *globs = NULL;
    size_t capacity = 0;

    *out = (struct catalog_filter){.words = words, .count = count};
    map_init(&out->names, a);
    map_init(&out->paths, a);
    for (size_t i = 0; i < count; i++) {
        struct str word = words[i];
        unsigned kinds = cut_kind(&word);
        bool is_path = str_has_char(word, '/');

        while (word.n > 1 && str_ends(word, STR("/")))
            word.n--;
        if (!check_word(word, e))
            return false;
        if (!glob_is_pattern(word)) {
            add_word(is_path ? &out->paths : &out->names, word, kinds);
            continue;
        }
        if (out->glob_count == CATALOG_MAX_GLOBS)
            return err_set(e, ERR_LIMIT, "more than %d patterns with a star",
                           CATALOG_MAX_GLOBS);
        globs = arena_grow(a, globs, out->glob_count, &capacity, sizeof *globs);
        globs[out->glob_count++] = (struct catalog_glob){word, kinds, is_path};
    }
    out->globs = globs;
    return true;
}

static bool has_word(const struct map *words, struct str word, unsigned kind)
{
    return words->count && ((uintptr_t)map_find(words, word) & kind);
}

/* Matches the path of the package and each of its parent folders. */
static bool matches_path(const struct catalog_filter *f, enum doc_kind kind,
                         struct str path)
{
    for (; path.n; path = path_folder(path)) {
        if (has_word(&f->paths, path, kind))
            return true;
        for (size_t i = 0; i < f->glob_count; i++)
            if (f->globs[i].is_path && (f->globs[i].kinds & kind) &&
                glob_matches_path(f->globs[i].text, path))
                return true;
    }
    return false;
}

static bool matches_name(const struct catalog_filter *f, enum doc_kind kind,
                         struct str name)
{
    if (has_word(&f->names, name, kind))
        return true;
    for (size_t i = 0; i < f->glob_count; i++)
        if (!f->globs[i].is_path && (f->globs[i].kinds & kind) &&
            glob_matches(f->globs[i].text, name))
            return true;
    return false;
}

bool catalog_filter_matches(const struct catalog_filter *f, enum doc_kind kind,
                            struct str path, struct str name)
{
    if (f->count == 0)
        return false;
    return matches_name(f, kind, name) ||
           (kind == DOC_MCP && matches_name(f, kind, path_last(path))) ||
           matches_path(f, kind, path);
}

bool catalog_chooses(const struct catalog *c, enum doc_kind kind,
                     struct str path, struct str name)
{
    return (!c->has_include ||
            catalog_filter_matches(&c->include, kind, path, name)) &&
           !catalog_filter_matches(&c->exclude, kind, path, name);
}

/* --- what lies in it ------------------------------------------------------ */

/* Cuts `folder` and "/" off `whole` and stores the rest in `*path`. */
static bool cut_folder(struct str folder, struct str whole, struct str *path)
{
    if (str_eq(folder, whole) || folder.n == 0) {
        *path = str_from_index(whole, folder.n);
        return true;
    }
    if (!str_starts(whole, folder) || whole.p[folder.n] != '/')
        return false;
    *path = str_from_index(whole, folder.n + 1);
    return true;
}

static struct str name_of(enum doc_kind kind, const struct origin *o,
                          struct str path)
{
    struct str whole = path.n                       ? path
                       : o->scheme != ORIGIN_GIT    ? o->path
                       : str_has_char(o->rest, '/') ? o->rest
                                                    : origin_name(o);
    struct str name = path_last(whole);

    if (kind == DOC_MCP && path.n && str_ends(name, STR(".json")))
        name.n -= 5;
    return name;
}

static bool is_repository(const struct origin *x, const struct origin *y)
{
    CLEANUP(arena_done) struct arena scratch = {0};

    return str_eq(origin_repository(x, &scratch),
                  origin_repository(y, &scratch));
}

bool catalog_holds(const struct catalog *c, enum doc_kind kind,
                   const struct origin *o, struct str *path, struct str *name)
{
    const struct origin *own = &c->origin;

    if (o->scheme != own->scheme)
        return false;
    if (o->scheme == ORIGIN_INDEX) {
        *path = STR("");
        *name = o->path;
        return str_eq(origin_index_url(o), own->text);
    }
    if (o->scheme != ORIGIN_GIT) {
        if (!cut_folder(own->path, o->path, path))
            return false;
    } else if (!is_repository(own, o) || o->is_short || own->is_short ||
               !cut_folder(own->rest, o->rest, path)) {
        return false;
    }
    *name = name_of(kind, o, *path);
    return true;
}

struct str catalog_word(enum doc_kind kind, struct str path, struct str name,
                        struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    if (!path.n)
        return arena_printf(a, "%s %.*s", doc_kind_name(kind), STR_ARG(name));
    buf_init(&b, ORIGIN_MAX_BYTES * 2);
    for (size_t i = 0; i < path.n; i++) {
        if (glob_is_pattern(str_make(path.p + i, 1)))
            buf_char(&b, '\\');
        buf_char(&b, path.p[i]);
    }
    if (!str_has_char(path, '/'))
        buf_char(&b, '/');
    return arena_str(a, buf_str(&b));
}

#include "base/path.h"

#include <inttypes.h>

#include "quote.h"
#include "tree_folder.h"

/* Chains of links that expand beyond this are rejected. */
#define PENDING_MAX_BYTES (2 * TREE_LINK_MAX_BYTES)

struct walk {
    const struct tree_source *source;
    struct oid_set *wants;
    bool is_short;    /* an object is missing */
    uint64_t scanned; /* bytes of trees that were scanned */
    struct arena a;   /* freed with the walk */
};

static void walk_done(struct walk *w)
{
    arena_done(&w->a);
}

static void want(struct walk *w, const struct oid *id)
{
    oid_set_put(w->wants, id);
    w->is_short = true;
}

static void want_folder(struct walk *w, const struct oid *id)
{
    oid_set_put(w->source->folders ? w->source->folders : w->wants, id);
    w->is_short = true;
}

static const struct folder *enter(struct walk *w, const struct folder *parent,
                                  const struct tree_entry *entry)
{
    struct folder *f = arena_new(&w->a, struct folder);

    *f = (struct folder){.parent = parent,
                         .name = entry->name,
                         .tree = entry->id,
                         .depth = parent->depth + 1};
    return f;
}

static const struct folder *root(struct walk *w)
{
    struct folder *f = arena_new(&w->a, struct folder);

    f->tree = w->source->root;
    return f;
}

/* --- paths and links ------------------------------------------------------ */

/* A path that is being resolved. The target of a link is inserted at its
 * front. */
struct route {
    const struct folder *at;
    struct str rest; /* the remaining path */
    size_t own;      /* number of bytes at the end of `rest` that come from
                      * no link */
    unsigned links;
    struct str link, target; /* path and target of the last link */
    struct str path;         /* as requested, for hints */
};

struct place {
    enum tree_kind kind;     /* FOLDER, FILE, PROGRAM; UNKNOWN if missing */
    struct oid id;           /* id of a FILE or PROGRAM */
    const struct folder *at; /* the folder itself for FOLDER, else the parent
                              * folder */
};

static bool refuse_link(const struct route *r, const char *fault, struct err *e)
{
    struct quote q, s;

    return err_set(e, ERR_REFUSED, "the link \"%s\" to \"%s\" %s",
                   quote(&q, r->link), quote(&s, r->target), fault);
}

/* Reads and validates the target of a link; r->target.p is NULL if it has not
 * been fetched. */
static bool read_link(struct walk *w, struct route *r,
                      const struct tree_entry *entry, struct err *e)
{
    const struct object *blob;

    if (!objects_find_type(w->source->objects, &entry->id, OBJECT_BLOB, &blob,
                           e))
        return false;
    r->link = folder_path(r->at, entry->name, &w->a);
    r->target = blob ? blob->bytes : (struct str){NULL, 0};
    if (!blob) {
        want(w, &entry->id);
        return true;
    }
    if (r->target.n == 0 || r->target.n > TREE_LINK_MAX_BYTES ||
        str_has_char(r->target, '\0'))
        return refuse_link(r, "names nothing that could be a path", e);
    if (r->target.p[0] == '/')
        return refuse_link(r, "is absolute", e);
    return true;
}

/* Inserts the target of the link before the rest. */
static bool follow(struct walk *w, struct route *r, bool is_in_link,
                   struct err *e)
{
    if (!is_in_link)
        r->own = r->rest.n;
    if (++r->links > TREE_LINKS_MAX)
        return refuse_link(r, "leads to no end: it goes in a circle", e);
    if (r->target.n + r->rest.n > PENDING_MAX_BYTES + r->own)
        return refuse_link(r, "is too long with those that it leads to", e);
    if (r->rest.n == 0) {
        r->rest = r->target;
        return true;
    }
    r->rest =
        arena_printf(&w->a, "%.*s/%.*s", STR_ARG(r->target), STR_ARG(r->rest));
    return true;
}

static bool go_up(struct route *r, struct err *e)
{
    if (!r->at->parent)
        return refuse_link(r, "leaves the repository", e);
    r->at = r->at->parent;
    return true;
}

static bool refuse_missing(struct walk *w, const struct route *r,
                           struct str name, bool is_in_link, struct err *e)
{
    struct str where = folder_path(r->at, STR(""), &w->a);
    struct quote q, s;

    if (is_in_link)
        return refuse_link(r, "names nothing in the repository", e);
    if (where.n)
        err_set(e, ERR_PATH, "there is no \"%s\" in \"%s\"", quote(&q, name),
                quote(&s, where));
    else
        err_set(e, ERR_PATH, "there is no \"%s\" in the repository",
                quote(&q, name));
    folder_hint_near(w->source, r->at, name, r->path, e);
    return false;
}

static bool refuse_kind(struct walk *w, const struct route *r,
                        const struct tree_entry *entry, bool is_in_link,
                        struct err *e)
{
    bool is_submodule = entry->kind == TREE_SUBMODULE;
    bool is_odd = entry->kind == TREE_ODD;
    struct quote q;

    if (is_in_link)
        return refuse_link(r,
                           is_submodule ? "leads into a submodule, whose "
                                          "files are in another repository"
                           : is_odd     ? "leads to something of an unknown "
                                          "kind"
                                        : "takes a file for a folder",
                           e);
    quote(&q, folder_path(r->at, entry->name, &w->a));
    if (is_submodule)
        return err_set(e, ERR_REFUSED,
                       "\"%s\" is a submodule, and its files are in another "
                       "repository",
                       q.text);
    if (is_odd)
        return err_set(e, ERR_REFUSED, "\"%s\" has the unknown mode %o", q.text,
                       entry->mode);
    return err_set(e, ERR_PATH, "\"%s\" is a file, not a folder", q.text);
}

static bool is_slashes(struct str s)
{
    while (s.n && s.p[0] == '/')
        s = str_from_index(s, 1);
    return s.n == 0;
}

/* Moves to an entry. Sets `*has_ended` at a file, or if an object is
 * missing. */
static bool go_to(struct walk *w, struct route *r,
                  const struct tree_entry *entry, bool is_in_link,
                  struct place *out, bool *has_ended, struct err *e)
{
    switch (entry->kind) {
    case TREE_FOLDER:
        if (r->at->depth == TREE_PATH_MAX_DEPTH)
            return err_set(e, ERR_LIMIT,
                           "the path leads through more than %d folders",
                           TREE_PATH_MAX_DEPTH);
        r->at = enter(w, r->at, entry);
        return true;
    case TREE_LINK:
        if (!read_link(w, r, entry, e))
            return false;
        *has_ended = !r->target.p;
        return *has_ended || follow(w, r, is_in_link, e);
    case TREE_FILE:
    case TREE_PROGRAM:
        if (!is_slashes(r->rest))
            break;
        *out = (struct place){entry->kind, entry->id, r->at};
        *has_ended = true;
        return true;
    case TREE_UNKNOWN:
    case TREE_SUBMODULE:
    case TREE_ODD:
        break;
    }
    return refuse_kind(w, r, entry, is_in_link, e);
}

static bool resolve(struct walk *w, struct route *r, struct place *out,
                    struct err *e)
{
    bool has_ended = false;

    *out = (struct place){.kind = TREE_UNKNOWN};
    while (r->rest.n && !has_ended) {
        bool is_in_link = r->rest.n > r->own;
        enum folder_answer answer;
        struct tree_entry entry;
        struct str name;

        if (!str_cut(&r->rest, '/', &name))
            break;
        if (!is_in_link) {
            r->own = r->rest.n;
            if (!path_check_name(name, e))
                return false;
        } else if (name.n == 0 || str_is(name, ".")) {
            continue;
        } else if (str_is(name, "..")) {
            if (!go_up(r, e))
                return false;
            continue;
        }
        if (!folder_find(w->source, r->at, name, &w->scanned, &answer, &entry,
                         e))
            return false;
        if (answer == FOLDER_LACKS)
            return refuse_missing(w, r, name, is_in_link, e);
        if (answer == FOLDER_ABSENT) {
            want(w, &r->at->tree);
            return true;
        }
        if (!go_to(w, r, &entry, is_in_link, out, &has_ended, e))
            return false;
    }
    if (!has_ended)
        *out = (struct place){.kind = TREE_FOLDER, .at = r->at};
    return true;
}

static bool resolve_path(struct walk *w, struct str path, struct place *out,
                         struct err *e)
{
    struct route r = {.at = root(w), .rest = path, .own = path.n, .path = path};

    return resolve(w, &r, out, e);
}

bool tree_find(const struct tree_source *s, struct str path,
               struct oid_set *wants, struct tree_found *out, struct err *e)
{
    CLEANUP(walk_done) struct walk w = {.source = s, .wants = wants};
    struct place place;

    if (!resolve_path(&w, path, &place, e))
        return false;
    *out = (struct tree_found){
        .kind = place.kind,
        .id = place.kind == TREE_FOLDER ? place.at->tree : place.id,
    };
    return true;
}

/* --- listing of a package ------------------------------------------------- */

/* An open folder of the listing. */
struct frame {
    const struct folder *at; /* the folder in the repository; a link may lead
                              * elsewhere */
    struct str rest;         /* remaining entries */
    size_t path_n;           /* length of its path in the package, with "/" */
    bool is_outside;         /* outside the package's folder */
};

struct lister {
    struct walk *w;
    struct arena *a; /* memory of the listing */
    const struct limits *limits;
    struct frame *frames; /* stack of package_max_depth elements */
    unsigned depth;
    char path[PACKAGE_PATH_MAX_BYTES + 1]; /* current path in the package */
    size_t path_n;
    size_t entry_count, file_count, folder_count; /* counted once per path
                                                   * (row 4) */
    struct tree_file *files;
    size_t count, capacity;
    bool has_links;
    struct str top;  /* path of the package's folder in the repository */
    bool is_outside; /* the current folder or file is outside `top` */
};

static bool refuse_many(const struct lister *l, const char *what, struct err *e)
{
    const struct limit *most = &l->limits->package_max_files;

    return limit_fail(most, e, "the package has more than %" PRIu64 " %s",
                      most->value, what);
}

/* Every entry of an open folder is later counted as a file or folder. Counting
 * them in advance avoids validating an oversized tree. */
static bool count_entries(struct lister *l, struct str tree, struct err *e)
{
    struct tree_entry entry;

    while (tree.n) {
        if (!tree_next(&tree, &entry, e))
            return false;
        if (++l->entry_count > 2 * l->limits->package_max_files.value)
            return refuse_many(l, "files and as many folders", e);
    }
    return true;
}

static bool check_circle(const struct lister *l, const struct oid *tree,
                         struct err *e)
{
    struct quote q;

    for (unsigned i = 0; i < l->depth; i++) {
        if (oid_eq(&l->frames[i].at->tree, tree))
            return err_set(e, ERR_REFUSED,
                           "\"%s\" leads back into a folder that it is in",
                           quote(&q, str_make(l->path, l->path_n)));
    }
    return true;
}

static bool open_folder(struct lister *l, const struct folder *at,
                        struct err *e)
{
    struct str path = str_make(l->path, l->path_n);
    const struct limit *deepest = &l->limits->package_max_depth;
    const struct object *tree;
    struct quote q;

    if (l->depth == deepest->value)
        return limit_fail(deepest, e,
                          "the package has folders more than %" PRIu64 " deep",
                          deepest->value);
    if (++l->folder_count > l->limits->package_max_files.value)
        return refuse_many(l, "folders", e);
    if (!check_circle(l, &at->tree, e) ||
        !objects_find_type(l->w->source->objects, &at->tree, OBJECT_TREE, &tree,
                           e))
        return false;
    if (!tree) {
        want_folder(l->w, &at->tree);
        return true;
    }
    if (!count_entries(l, tree->bytes, e) || !tree_check(tree->bytes, e))
        return path.n ? err_wrap(e, "in the folder \"%s\"", quote(&q, path))
                      : false;
    if (path.n)
        l->path[l->path_n++] = '/';
    l->frames[l->depth++] = (struct frame){.at = at,
                                           .rest = tree->bytes,
                                           .path_n = l->path_n,
                                           .is_outside = l->is_outside};
    return true;
}

static bool extend_path(struct lister *l, struct str name, struct err *e)
{
    struct quote q;

    if (l->path_n + name.n > PACKAGE_PATH_MAX_BYTES)
        return err_set(
            e, ERR_LIMIT, "a path in the package is longer than %d bytes: %s",
            PACKAGE_PATH_MAX_BYTES, quote(&q, str_make(l->path, l->path_n)));
    for (size_t i = 0; i < name.n; i++)
        l->path[l->path_n++] = name.p[i];
    return true;
}

static void add_file(struct lister *l, enum tree_kind kind,
                     const struct oid *blob)
{
    l->files =
        arena_grow(l->a, l->files, l->count, &l->capacity, sizeof *l->files);
    l->files[l->count++] = (struct tree_file){
        .path = arena_str(l->a, str_make(l->path, l->path_n)),
        .is_program = kind == TREE_PROGRAM,
        .is_outside = l->is_outside,
        .blob = *blob,
    };
}

static bool is_in_package(const struct lister *l, const struct folder *at)
{
    struct str path = folder_path(at, str_make("", 0), &l->w->a);

    return l->top.n == 0 || (str_starts(path, l->top) &&
                             (path.n == l->top.n || path.p[l->top.n] == '/'));
}

/* Lists the target of a link in place of the link. */
static bool list_link(struct lister *l, const struct folder *at,
                      struct str name, struct err *e)
{
    struct route r = {.at = at, .rest = name};
    struct place place;

    l->has_links = true;
    if (!resolve(l->w, &r, &place, e))
        return false;
    if (place.kind != TREE_UNKNOWN && !is_in_package(l, place.at))
        l->is_outside = true;
    if (place.kind == TREE_FOLDER)
        return open_folder(l, place.at, e);
    if (++l->file_count > l->limits->package_max_files.value)
        return refuse_many(l, "files", e);
    if (place.kind != TREE_UNKNOWN)
        add_file(l, place.kind, &place.id);
    return true;
}

/* The entry has a kind that tree_check accepts. */
static bool list_entry(struct lister *l, const struct folder *at,
                       const struct tree_entry *entry, struct err *e)
{
    if (!extend_path(l, entry->name, e))
        return false;
    if (entry->kind == TREE_FOLDER)
        return open_folder(l, enter(l->w, at, entry), e);
    if (entry->kind == TREE_LINK)
        return list_link(l, at, entry->name, e);
    if (++l->file_count > l->limits->package_max_files.value)
        return refuse_many(l, "files", e);
    add_file(l, entry->kind, &entry->id);
    return true;
}

static bool list_all(struct lister *l, const struct folder *top, struct err *e)
{
    if (!open_folder(l, top, e))
        return false;
    while (l->depth) {
        struct frame *f = &l->frames[l->depth - 1];
        struct tree_entry entry;

        l->path_n = f->path_n;
        l->is_outside = f->is_outside;
        if (f->rest.n == 0) {
            l->depth--;
            continue;
        }
        if (!tree_next(&f->rest, &entry, e) || !list_entry(l, f->at, &entry, e))
            return false;
    }
    return true;
}

static void list_one(const struct place *place, struct str path,
                     struct arena *a, struct tree_listing *out)
{
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    *out = (struct tree_listing){.kind = place->kind, .id = place->id};
    out->files = arena_new(a, struct tree_file);
    out->count = 1;
    out->files[0] = (struct tree_file){
        .path = arena_str(a, path_last(path)),
        .is_program = place->kind == TREE_PROGRAM,
        .blob = place->id,
    };
}

bool tree_list(const struct tree_source *s, struct str path,
               struct oid_set *wants, struct arena *a, struct tree_listing *out,
               struct err *e)
{
    CLEANUP(walk_done) struct walk w = {.source = s, .wants = wants};
    struct lister *l = arena_new(&w.a, struct lister);
    struct place place;

    if (!resolve_path(&w, path, &place, e))
        return false;
    if (place.kind == TREE_FILE || place.kind == TREE_PROGRAM) {
        list_one(&place, path, a, out);
        return true;
    }
    if (place.kind != TREE_FOLDER) {
        *out = (struct tree_listing){.kind = TREE_UNKNOWN};
        return true;
    }
    l->w = &w;
    l->a = a;
    l->limits = s->limits;
    l->frames = arena_array(&w.a, s->limits->package_max_depth.value,
                            sizeof *l->frames);
    l->top = folder_path(place.at, str_make("", 0), &w.a);
    if (!list_all(l, place.at, e))
        return false;
    if (w.is_short) {
        *out = (struct tree_listing){.kind = TREE_UNKNOWN};
        return true;
    }
    STR_SORT_BY(l->files, l->count, path);
    *out = (struct tree_listing){
        .kind = TREE_FOLDER,
        .id = place.at->tree,
        .files = l->files,
        .count = l->count,
        .has_links = l->has_links,
    };
    return true;
}

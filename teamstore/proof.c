#include "base/checksum.h"
#include "base/map.h"
#include "mapm/team_object.h"

#include <stdio.h>

/*
 * Finds the trees that a proof needs by following the path as git does,
 * including links; each object on the way becomes a file of the proof. Ids are
 * computed by plain SHA-1: the bytes come from mapm's own store, and the reader
 * of a proof computes them again with collision detection.
 */

#define MAX_LINKS    1000 /* total number of links followed */
#define ID_BYTES     CHECKSUM_BYTES
#define ID_HEX_CHARS (2 * CHECKSUM_BYTES)

struct object {
    struct str id; /* 20 bytes */
    const char *type;
    struct str bytes;
    size_t taken;     /* number of the walk that took it */
    struct map names; /* entries of a tree by name, built at the first lookup */
};

struct walk {
    struct arena *a; /* for everything but `files`, which outlive the walk */
    struct arena *out;
    struct team_trees *trees;
    struct object *root;
    struct map places;  /* paths to follow in order, each once */
    struct map folders; /* ids of trees to include completely */
    struct archive_file *files;
    size_t count, capacity, bytes, links;
    const struct team_limits *limits;
    struct err *e;
};

static struct str id_of(const char *type, struct str bytes, struct arena *a)
{
    struct checksum c;
    struct str id = str_make(arena_alloc(a, ID_BYTES), ID_BYTES);
    char head[32];
    int n = snprintf(head, sizeof head, "%s %zu", type, bytes.n);

    checksum_init(&c);
    checksum_add(&c, str_make(head, (size_t)n + 1));
    checksum_add(&c, bytes);
    checksum_end(&c, (uint8_t *)(uintptr_t)id.p);
    return id;
}

static struct str hex_of(struct str id, struct arena *a)
{
    char *hex = arena_alloc(a, ID_HEX_CHARS + 1);

    for (size_t i = 0; i < id.n; i++)
        snprintf(hex + 2 * i, 3, "%02x", (unsigned char)id.p[i]);
    return str_make(hex, ID_HEX_CHARS);
}

static size_t number_at(struct str s)
{
    size_t n = 0;

    for (size_t i = 4; i-- > 0;)
        n = n << 8 | (unsigned char)s.p[i];
    return n;
}

/* Parses the trees as stored: a byte for the type, u32 length, the bytes;
 * repeated. */
bool team_trees_read(struct str text, struct arena *a, struct team_trees *out,
                     struct err *e)
{
    static const char *const types[] = {"", "commit", "tree", "blob"};

    *out = (struct team_trees){.arena = a};
    map_init(&out->objects, a);
    if (text.n > COMMIT_TREES_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "the trees of a commit are too large");
    while (text.n) {
        unsigned type = (unsigned char)text.p[0];
        struct object *o = arena_new(a, struct object);
        size_t n = text.n < 5 ? 0 : number_at(str_from_index(text, 1));

        if (text.n < 5 || n > text.n - 5 || type < 1 || type > 3)
            return err_set(e, ERR_NOT_FOUND,
                           "the trees of the commit are damaged in the store");
        o->type = types[type];
        o->bytes = str_slice(text, 5, 5 + n);
        o->id = id_of(o->type, o->bytes, a);
        map_put(&out->objects, o->id, o);
        text = str_from_index(text, 5 + n);
    }
    return true;
}

/* Adds the object to the proof. */
static struct object *take(struct walk *w, struct str id, const char *type)
{
    struct object *o = map_find(&w->trees->objects, id);

    if (!o || strcmp(o->type, type) != 0) {
        err_set(w->e, ERR_NOT_FOUND,
                "the store has not all trees of the commit: %s is missing",
                hex_of(id, w->a).p);
        return NULL;
    }
    if (o->taken == w->trees->walks)
        return o;
    o->taken = w->trees->walks;
    w->bytes += o->bytes.n;
    if (w->bytes > w->limits->max_bytes) {
        err_set(w->e, ERR_LIMIT, "the proof has more than %llu KiB",
                (unsigned long long)w->limits->max_bytes >> 10);
        return NULL;
    }
    if (w->count == w->limits->max_files) {
        err_set(w->e, ERR_LIMIT, "the proof has more than %zu objects",
                w->limits->max_files);
        return NULL;
    }
    w->files =
        arena_grow(w->out, w->files, w->count, &w->capacity, sizeof *w->files);
    w->files[w->count++] = (struct archive_file){
        .path = hex_of(o->id, w->out),
        .bytes = o->bytes,
    };
    return o;
}

struct entry {
    struct str name, id;
    bool is_folder, is_link;
};

/* Reads "MODE NAME\0" and 20 bytes from the front. */
static bool next_entry(struct str *rest, struct entry *out)
{
    size_t blank = str_find_char(*rest, ' ');
    size_t end = str_find_char(*rest, '\0');
    struct str mode;

    if (blank == SIZE_MAX || end == SIZE_MAX || end < blank ||
        rest->n - end - 1 < ID_BYTES)
        return false;
    mode = str_slice(*rest, 0, blank);
    out->name = str_slice(*rest, blank + 1, end);
    out->id = str_slice(*rest, end + 1, end + 1 + ID_BYTES);
    out->is_folder = str_is(mode, "40000");
    out->is_link = str_is(mode, "120000");
    *rest = str_from_index(*rest, end + 1 + ID_BYTES);
    return true;
}

static void index_tree(struct object *tree, struct arena *a)
{
    struct str rest = tree->bytes;
    struct entry *entry = arena_new(a, struct entry);

    map_init(&tree->names, a);
    while (rest.n && next_entry(&rest, entry)) {
        map_put(&tree->names, entry->name, entry);
        entry = arena_new(a, struct entry);
    }
}

static const struct entry *find_entry(const struct walk *w, struct object *tree,
                                      struct str name)
{
    if (!tree->names.arena)
        index_tree(tree, w->trees->arena);
    return map_find(&tree->names, name);
}

/* Resolves `target` relative to `folder`, removing "." and ".."; p is NULL if
 * it leaves the repository. */
static struct str join(struct str folder, struct str target, struct arena *a)
{
    struct str at = folder, part;

    if (target.n == 0 || target.p[0] == '/')
        return str_make(NULL, 0);
    while (str_cut(&target, '/', &part)) {
        if (part.n == 0 || str_is(part, "."))
            continue;
        if (!str_is(part, "..")) {
            at = arena_join(at, "/", part, a);
            continue;
        }
        if (at.n == 0)
            return str_make(NULL, 0);
        at.n = str_has_char(at, '/') ? str_find_last(at, '/') : 0;
    }
    return at.p ? at : STR("");
}

/* Queues the target of a link in `folder`, with `rest` appended. Dangling links
 * are left for the reader to reject. */
static bool follow_link(struct walk *w, struct str folder,
                        const struct entry *link, struct str rest,
                        struct str *to)
{
    struct object *text = take(w, link->id, "blob");

    if (!text)
        return false;
    if (++w->links > MAX_LINKS)
        return err_set(w->e, ERR_LIMIT, "the proof has more than %d links",
                       MAX_LINKS);
    *to = join(folder, text->bytes, w->a);
    if (to->p && rest.n)
        *to = join(*to, rest, w->a);
    if (to->p)
        map_put(&w->places, *to, NULL);
    return true;
}

/* Takes the trees along a path. `*found` is its end, or has no id if there is
 * none. A link on the way ends the walk; it continues at `*to` unless p is
 * NULL. */
static bool follow_path(struct walk *w, struct str path, struct entry *found,
                        struct str *to)
{
    struct object *tree = w->root;
    struct str rest = path, part, folder = STR("");
    const struct entry *entry;

    *to = str_make(NULL, 0);
    *found = (struct entry){.id = w->root->id, .is_folder = true};
    while (path.n && str_cut(&rest, '/', &part)) {
        if (!found->is_folder || !(entry = find_entry(w, tree, part))) {
            found->id.n = 0;
            return true;
        }
        *found = *entry;
        if (found->is_link) {
            struct entry link = *found;

            found->id.n = 0;
            return follow_link(w, folder, &link, rest.p ? rest : STR(""), to);
        }
        folder = arena_join(folder, "/", part, w->a);
        if (found->is_folder && !(tree = take(w, found->id, "tree")))
            return false;
    }
    return true;
}

/* Follows the package's own path through any number of links. */
static bool find_object(struct walk *w, struct str path, struct str object)
{
    struct entry end;
    struct str to = path;

    do {
        if (!follow_path(w, to, &end, &to))
            return false;
    } while (to.p);
    return str_eq(end.id, object) ||
           err_set(w->e, ERR_NOT_FOUND,
                   "the commit does not have the object at the path");
}

struct folder {
    struct str path, id;
};

static void note_folder(struct walk *w, struct str path, struct str id)
{
    struct folder *f = arena_new(w->a, struct folder);

    *f = (struct folder){path, id};
    if (!map_has(&w->folders, path))
        map_put(&w->folders, path, f);
}

static bool take_folder(struct walk *w, const struct folder *f)
{
    const struct object *tree = take(w, f->id, "tree");
    struct str rest = tree ? tree->bytes : STR(""), to;
    struct entry entry;

    while (rest.n && next_entry(&rest, &entry)) {
        if (entry.is_link && !follow_link(w, f->path, &entry, STR(""), &to))
            return false;
        if (entry.is_folder)
            note_folder(w, arena_join(f->path, "/", entry.name, w->a),
                        entry.id);
    }
    return tree != NULL;
}

/* Folders contain links, whose targets are further paths. */
static bool walk_all(struct walk *w)
{
    size_t places = 0, folders = 0;

    while (places < w->places.count || folders < w->folders.count) {
        struct str path, to;
        struct entry end;

        if (folders < w->folders.count) {
            if (!take_folder(w, w->folders.entries[folders++].value))
                return false;
            continue;
        }
        path = w->places.entries[places++].key;
        if (!follow_path(w, path, &end, &to))
            return false;
        if (end.id.n && end.is_folder)
            note_folder(w, path, end.id);
    }
    return true;
}

static bool parse_id(struct str hex, struct arena *a, struct str *out)
{
    char *id = arena_alloc(a, ID_BYTES);

    if (hex.n != ID_HEX_CHARS)
        return false;
    for (size_t i = 0; i < hex.n; i++) {
        char c = hex.p[i];

        if (!char_is_hex(c))
            return false;
        id[i / 2] =
            (char)(id[i / 2] << 4 | (c <= '9' ? c - '0' : c - 'a' + 10));
    }
    *out = str_make(id, ID_BYTES);
    return true;
}

/* The first line is "tree <40 hex>\n". */
static bool find_root(struct walk *w, struct str commit)
{
    struct str id, text;
    struct object *o;

    if (!parse_id(commit, w->a, &id))
        return err_set(w->e, ERR_NOT_FOUND, "%.*s is not a commit",
                       STR_ARG(commit));
    if (!(o = take(w, id, "commit")))
        return false;
    text = o->bytes;
    if (!str_starts(text, STR("tree ")) ||
        !parse_id(str_slice(text, 5, 5 + ID_HEX_CHARS), w->a, &id))
        return err_set(w->e, ERR_NOT_FOUND, "%.*s is not a commit",
                       STR_ARG(commit));
    w->root = take(w, id, "tree");
    return w->root != NULL;
}

static bool take_file(struct walk *w, struct str path, bool *found)
{
    struct entry end;

    do {
        if (!follow_path(w, path, &end, &path))
            return false;
    } while (path.p);
    *found = end.id.n && !end.is_folder;
    return !*found || take(w, end.id, "blob");
}

static void init_walk(struct walk *w, struct team_trees *trees,
                      const struct team_limits *limits, struct arena *a,
                      struct arena *out, struct err *e)
{
    *w = (struct walk){
        .a = a, .out = out, .trees = trees, .limits = limits, .e = e};
    trees->walks++;
    map_init(&w->places, a);
    map_init(&w->folders, a);
}

static void give(const struct walk *w, struct archive_file **files,
                 size_t *count)
{
    *files = w->files;
    *count = w->count;
}

/* --- trees of their own ---------------------------------------------------- */

#define APART "tree " /* then the size */

/* The first file is the commit; texts of links are shorter. */
void team_proof_split(struct archive_file *files, size_t count,
                      struct str identity, const struct map *apart,
                      struct arena *a)
{
    for (size_t i = 1; i < count; i++)
        if (files[i].bytes.n > TEAM_TREE_MAX_BYTES &&
            map_has(apart, team_tree_name(identity, files[i].path, a)))
            files[i].bytes = arena_printf(a, APART "%zu", files[i].bytes.n);
}

bool team_tree_size(struct str bytes, size_t *size)
{
    size_t n = 0;

    if (!str_starts(bytes, STR(APART)))
        return false;
    bytes = str_from_index(bytes, sizeof APART - 1);
    for (size_t i = 0; i < bytes.n; i++) {
        if (!char_is_digit(bytes.p[i]) || n > TEAM_PROOF_MAX_BYTES)
            return false;
        n = 10 * n + (size_t)(bytes.p[i] - '0');
    }
    *size = n;
    return n > TEAM_TREE_MAX_BYTES && n <= TEAM_PROOF_MAX_BYTES &&
           bytes.p[0] != '0';
}

bool team_trees_find(const struct team_trees *trees, struct str hex,
                     struct str *bytes)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct object *o;
    struct str id;

    if (!parse_id(hex, &a, &id) || !(o = map_find(&trees->objects, id)))
        return false;
    *bytes = o->bytes;
    return true;
}

/* --- the whole ------------------------------------------------------------- */

bool team_market_find(struct team_trees *trees, struct str commit,
                      const struct str *paths, size_t count, struct arena *out,
                      struct archive_file **files, size_t *file_count,
                      struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct walk w;
    bool found = false;

    init_walk(&w, trees, &team_market_limits, &a, out, e);
    if (!find_root(&w, commit))
        return false;
    for (size_t i = 0; i < count && !found; i++)
        if (!take_file(&w, paths[i], &found))
            return false;
    if (!found)
        return err_set(e, ERR_NOT_FOUND, "the commit has no marketplace.json");
    give(&w, files, file_count);
    return true;
}

static bool add_end(struct walk *w, const struct team_proof_end *end)
{
    struct str id;

    if (!parse_id(end->object, w->a, &id))
        return err_set(w->e, ERR_NOT_FOUND, "%.*s is not a git object",
                       STR_ARG(end->object));
    map_put(&w->places, end->path, NULL);
    return find_object(w, end->path, id);
}

bool team_proof_find(struct team_trees *trees, struct str commit,
                     const struct team_proof_end *ends, size_t count,
                     const struct team_limits *limits, struct arena *out,
                     struct archive_file **files, size_t *file_count,
                     struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct walk w;

    init_walk(&w, trees, limits, &a, out, e);
    if (!find_root(&w, commit))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!add_end(&w, &ends[i]))
            return false;
    if (!walk_all(&w))
        return false;
    give(&w, files, file_count);
    return true;
}

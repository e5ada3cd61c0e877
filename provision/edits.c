#include "base/fs.h"
#include "mapm/limits.h"
#include "mapm/provision.h"

#include "merge.h"
#include "work.h"

/* Edits of the user: the difference between installed and present content. Like
 * git's index, the record says what was installed and which files need not be
 * read. */

/* Maximum total size of texts; larger ones are not shown. */
#define EDITS_MAX_BYTES (64u * 1024 * 1024)

struct finding {
    struct provision *p;
    struct desired_state desired;
    struct arena *arena;
    bool is_from_here; /* the record */
    uint64_t bytes;
    struct provision_edit *found;
    size_t count, capacity;
};

/* Installed content, from the record or the package. */
struct installed {
    struct target *target;
    struct desired_file *files;
    size_t count;
};

static void add(struct finding *f, const struct target *t,
                const struct provision_item *item, struct str name,
                struct patch_side before, struct patch_side after)
{
    struct str path = t->path;

    if (name.n && !str_is(name, "."))
        path = fs_join(path, name, f->arena);
    f->found = arena_grow(f->arena, f->found, f->count, &f->capacity,
                          sizeof *f->found);
    f->found[f->count++] = (struct provision_edit){item, {path, before, after}};
}

static const struct patch_side nothing = {.text = {"", 0}};

static struct patch_side opaque(unsigned mode)
{
    return (struct patch_side){mode, STR(""), true};
}

static struct patch_side known_text(struct finding *f, unsigned mode,
                                    struct str text)
{
    f->bytes += text.n;
    return (struct patch_side){mode, text, false};
}

static unsigned mode_of(bool executable)
{
    return executable ? PATCH_PROGRAM : PATCH_FILE;
}

/* Generated content is not in the store, so it is generated again and used only
 * if it has the recorded hash. */
static bool read_generated(struct finding *f, struct target *t,
                           const struct desired_file *installed,
                           struct str *out)
{
    struct err ignored = {0};

    if (!desired_state_make_files(&f->desired, t, &ignored))
        return false;
    for (size_t i = 0; i < t->file_count; i++) {
        const struct desired_file *made = &t->files[i];

        if (!made->content.p || !str_eq(made->path, installed->path) ||
            !hash_eq(&made->hash, &installed->hash))
            continue;
        *out = made->content;
        return true;
    }
    return false;
}

static struct patch_side installed_side(struct finding *f,
                                        const struct installed *in,
                                        const struct desired_file *file)
{
    const struct provision_objects *o = &f->desired.options->objects;
    unsigned mode = mode_of(file->executable);
    struct err ignored = {0};
    struct str text;

    if (f->bytes > EDITS_MAX_BYTES)
        return opaque(mode);
    if (o->read(o->ctx, &file->hash, PATCH_FILE_MAX_BYTES, f->arena, &text,
                &ignored) ||
        read_generated(f, in->target, file, &text))
        return known_text(f, mode, text);
    return opaque(mode);
}

/* Returns nothing for nodes that are neither files nor links, like git. */
static struct patch_side present_side(struct finding *f, const struct target *t,
                                      const struct disk_node *node)
{
    struct str path = t->path;
    struct err ignored = {0};
    struct str text;
    unsigned mode = mode_of(node->st.st_mode & 0100);

    if (!str_is(node->path, "."))
        path = fs_join(path, node->path, f->arena);
    if (S_ISLNK(node->st.st_mode))
        return disk_read_link(f->p->root, path.p, f->arena, &text)
                   ? known_text(f, PATCH_LINK, text)
                   : opaque(PATCH_LINK);
    if (!S_ISREG(node->st.st_mode))
        return nothing;
    if (f->bytes <= EDITS_MAX_BYTES &&
        fs_read_file_at(f->p->root, path.p, PATCH_FILE_MAX_BYTES, f->arena,
                        &text, &ignored))
        return known_text(f, mode, text);
    return opaque(mode);
}

/* --- packages' folders, and rendered agents --------------------------------- */

static void check_node(struct finding *f, const struct installed *in,
                       const struct desired_file *file,
                       const struct disk_node *node,
                       const struct record_entry *known)
{
    const struct target *t = in->target;
    struct patch_side before = nothing, after = nothing;

    if (file && node && disk_is_as_desired(node, file, known))
        return;
    if (file)
        before = installed_side(f, in, file);
    if (node)
        after = present_side(f, t, node);
    if (before.mode || after.mode)
        add(f, t, t->item, file ? file->path : node->path, before, after);
}

static void compare(struct finding *f, const struct installed *in,
                    const struct disk_node *nodes, size_t count,
                    const struct record_entry *known)
{
    struct disk_walk walk = {in->files, in->count, nodes, count, 0, 0};
    const struct desired_file *file;
    const struct disk_node *node;

    while (disk_next_pair(&walk, &file, &node))
        check_node(f, in, file, node, known);
}

static bool find_installed(struct finding *f, struct target *t,
                           const struct record_entry *known,
                           struct installed *out, struct err *e)
{
    *out = (struct installed){.target = t};
    if (!known) {
        if (!t->item->files) {
            err_set(e, ERR_NOT_FOUND, "%.*s is not in the store",
                    STR_ARG(t->item->fqn));
            return err_hint(e, "mapm install fetches it");
        }
        out->files = t->files;
        out->count = t->file_count;
        return desired_state_make_files(&f->desired, t, e);
    }
    out->files = arena_array(f->arena, known->file_count, sizeof *out->files);
    out->count = known->file_count;
    for (size_t i = 0; i < out->count; i++)
        out->files[i] =
            (struct desired_file){.path = known->files[i].path,
                                  .executable = known->files[i].executable,
                                  .hash = known->files[i].hash};
    return true;
}

static bool find_tree(struct finding *f, struct target *t,
                      const struct record_entry *known, struct err *e)
{
    struct disk_node *nodes = NULL;
    struct installed in;
    struct stat st;
    size_t count = 0;
    bool there = fs_stat_at(f->p->root, t->path.p, &st);

    if (!there && !known)
        return true;
    if (!find_installed(f, t, known, &in, e) ||
        (there && S_ISDIR(st.st_mode) &&
         !disk_read_tree(f->p, t->path.p, known, false, f->arena, &nodes,
                         &count, e)))
        return false;
    compare(f, &in, nodes, count, known);
    return true;
}

static bool find_file(struct finding *f, struct target *t,
                      const struct record_entry *known, struct err *e)
{
    struct disk_node node = {.path = STR(".")};
    struct installed in;
    bool there = fs_stat_at(f->p->root, t->path.p, &node.st);

    if (!there && !known)
        return true;
    if (!find_installed(f, t, known, &in, e) ||
        (there && S_ISREG(node.st.st_mode) &&
         !disk_read_file(f->p, t->path.p, known, false, &node, e)))
        return false;
    compare(f, &in, &node, there, known);
    return true;
}

/* A link that was never created is not an edit of the user. */
static bool find_link(struct finding *f, struct target *t,
                      const struct record_entry *known, struct err *e)
{
    struct disk_node node = {.path = STR(".")};
    struct patch_side after = nothing;
    struct str text;

    if (known && known->kind == RECORD_TREE)
        return find_tree(f, t, known, e); /* a copy, if links are not
                                           * supported */
    if (!known || disk_is_linked(f->p, t->client) ||
        (disk_read_link(f->p->root, t->path.p, f->arena, &text) &&
         str_eq(text, known->link)))
        return true;
    if (fs_stat_at(f->p->root, t->path.p, &node.st))
        after = present_side(f, t, &node);
    add(f, t, t->item, STR(""),
        known_text(f, PATCH_LINK, arena_str(f->arena, known->link)), after);
    return true;
}

/* --- servers ---------------------------------------------------------------- */

static const struct record_key *find_key(const struct record_entry *known,
                                         struct str key)
{
    for (size_t i = 0; known && i < known->key_count; i++)
        if (str_eq(known->keys[i].key, key))
            return &known->keys[i];
    return NULL;
}

/* Undoes the user's edits of the entry in `m`. */
static bool undo_server(struct finding *f, struct target *t, struct merge *m,
                        struct desired_server *s,
                        const struct record_entry *known, bool *edited,
                        bool *lost, struct err *e)
{
    const struct record_key *key = find_key(known, s->item->place);
    struct hash hash;
    bool found;

    if (!key)
        return true;
    if (!merge_find(m, s->item->place, &found, &hash, e))
        return false;
    *edited = !found || !hash_eq(&hash, &key->hash);
    if (!*edited)
        return true;
    *lost |= !s->item->files;
    if (*lost)
        return true;
    if (!desired_state_make_server(&f->desired, t, s, e))
        return false;
    *lost |= !hash_eq(&s->hash, &key->hash);
    return *lost || merge_put(m, s->item->place, s->entry, e);
}

static bool undo_servers(struct finding *f, struct target *t, struct merge *m,
                         const struct record_entry *known,
                         const struct provision_item **first, bool *lost,
                         struct err *e)
{
    for (size_t i = 0; i < t->server_count; i++) {
        bool edited = false;

        if (!undo_server(f, t, m, &t->servers[i], known, &edited, lost, e))
            return false;
        if (edited && !*first)
            *first = t->servers[i].item;
    }
    return true;
}

static bool find_shared(struct finding *f, struct target *t,
                        const struct record_entry *known, struct err *e)
{
    const struct provision_item *first = NULL;
    struct str text = STR("");
    struct merge m;
    struct stat st;
    bool lost = false, ok;

    if (!known || (fs_stat_at(f->p->root, t->path.p, &st) &&
                   !fs_read_file_at(f->p->root, t->path.p,
                                    CLIENT_FILE_MAX_BYTES, f->arena, &text, e)))
        return !known;
    ok = desired_state_open_shared(t, text, f->arena, &m, e) &&
         undo_servers(f, t, &m, known, &first, &lost, e);
    if (ok && first)
        add(f, t, first, STR(""),
            lost ? opaque(PATCH_FILE)
                 : known_text(f, PATCH_FILE, merge_text(&m, f->arena)),
            known_text(f, text.n ? PATCH_FILE : 0, text));
    merge_done(&m);
    return ok;
}

static bool find_target(struct finding *f, struct target *t, struct err *e)
{
    const struct record_entry *known =
        f->is_from_here ? provision_recorded(f->p, t->path) : NULL;

    if (!t->item && t->kind == TARGET_LINK)
        return true; /* a link to a skill of the user */
    switch (t->kind) {
    case TARGET_TREE:
        return find_tree(f, t,
                         known && known->kind == RECORD_TREE ? known : NULL, e);
    case TARGET_LINK:
        return find_link(f, t, known, e);
    case TARGET_FILE:
        return find_file(f, t,
                         known && known->kind == RECORD_FILE ? known : NULL, e);
    case TARGET_SHARED:
        return find_shared(
            f, t, known && known->kind == RECORD_SHARED ? known : NULL, e);
    case TARGET_TEXT:
        break;
    }
    return true;
}

bool provision_find_edits(struct provision *p,
                          const struct provision_options *o,
                          const struct provision_item *items, size_t item_count,
                          struct arena *a, struct provision_edit **out,
                          size_t *count, struct err *e)
{
    struct finding f = {.p = p, .arena = a};

    if (!provision_load(p, e))
        return false;
    f.is_from_here = provision_record_is_from_here(p);
    provision_desired_state(p, o, a, &f.desired);
    if (!desired_state_build(&f.desired, items, item_count, &p->record, e))
        return false;
    for (size_t i = 0; i < f.desired.count; i++)
        if (!find_target(&f, &f.desired.targets[i], e))
            return false;
    *out = f.found;
    *count = f.count;
    return true;
}

bool provision_holds(struct provision *p, const struct provision_options *o,
                     const struct provision_item *item, struct arena *a)
{
    struct err ignored = {0};
    struct desired_state desired;

    if (!provision_load(p, &ignored))
        return false;
    provision_desired_state(p, o, a, &desired);
    if (!desired_state_build(&desired, item, 1, &p->record, &ignored))
        return false;
    for (size_t i = 0; i < desired.count; i++) {
        const struct target *t = &desired.targets[i];
        const struct record_entry *known = provision_recorded(p, t->path);

        if (t->kind == TARGET_TREE && t->item == item)
            return known && known->kind == RECORD_TREE &&
                   hash_eq(&known->source, &t->source);
    }
    return false;
}

#include "base/fs.h"
#include "mapm/limits.h"

#include "merge.h"
#include "work.h"

struct verifying {
    struct provision *p;
    struct desired_state desired;
    struct arena *arena;
    struct provision_difference *found;
    size_t count, capacity;
};

static void add(struct verifying *v, struct str path, struct str name,
                const char *how)
{
    if (name.n)
        path =
            arena_printf(v->arena, "%.*s/%.*s", STR_ARG(path), STR_ARG(name));
    v->found = arena_grow(v->arena, v->found, v->count, &v->capacity,
                          sizeof *v->found);
    v->found[v->count++] = (struct provision_difference){path, how, false};
}

static void compare(struct verifying *v, const struct target *t,
                    const struct disk_node *nodes, size_t count,
                    const struct record_entry *known)
{
    struct disk_walk walk = {t->files, t->file_count, nodes, count, 0, 0};
    const struct desired_file *file;
    const struct disk_node *node;

    while (disk_next_pair(&walk, &file, &node)) {
        if (!node)
            add(v, t->path, file->path, "missing");
        else if (!file)
            add(v, t->path, node->path, "extra");
        else if (!disk_is_as_desired(node, file, known))
            add(v, t->path, node->path, "changed");
    }
}

static bool verify_tree(struct verifying *v, struct target *t,
                        const struct stat *st, struct err *e)
{
    struct disk_node *nodes;
    size_t count;

    if (!S_ISDIR(st->st_mode)) {
        add(v, t->path, STR(""), "not ours");
        return true;
    }
    if (!desired_state_make_files(&v->desired, t, e) ||
        !disk_read_tree(v->p, t->path.p, NULL, true, v->arena, &nodes, &count,
                        e))
        return false;
    compare(v, t, nodes, count, provision_recorded(v->p, t->path));
    return true;
}

static bool verify_link(struct verifying *v, struct target *t,
                        const struct stat *st, struct err *e)
{
    struct str text;

    if (t->gives_way && S_ISDIR(st->st_mode))
        return true; /* it belongs to the user */
    if (!S_ISLNK(st->st_mode))
        return verify_tree(v, t, st, e);
    if (!disk_read_link(v->p->root, t->path.p, v->arena, &text) ||
        !str_eq(text, t->link))
        add(v, t->path, STR(""), "not ours");
    return true;
}

static bool verify_file(struct verifying *v, struct target *t,
                        const struct stat *st, struct err *e)
{
    struct disk_node node;

    if (!S_ISREG(st->st_mode)) {
        add(v, t->path, STR(""), "not ours");
        return true;
    }
    if (!desired_state_make_files(&v->desired, t, e) ||
        !disk_read_file(v->p, t->path.p, NULL, true, &node, e))
        return false;
    if (!hash_eq(&node.hash, &t->files[0].hash))
        add(v, t->path, STR(""), "changed");
    return true;
}

static bool verify_servers(struct verifying *v, struct target *t,
                           struct merge *m, struct err *e)
{
    for (size_t i = 0; i < t->server_count; i++) {
        struct desired_server *s = &t->servers[i];
        struct str path = arena_printf(v->arena, "%s#%.*s", t->path.p,
                                       STR_ARG(s->item->place));
        struct hash hash;
        bool found;

        if (!desired_state_make_server(&v->desired, t, s, e) ||
            !merge_find(m, s->item->place, &found, &hash, e))
            return false;
        if (!found)
            add(v, path, STR(""), "missing");
        else if (!hash_eq(&hash, &s->hash))
            add(v, path, STR(""), "changed");
    }
    return true;
}

static bool can_read(struct verifying *v, const struct target *t,
                     struct merge *merge)
{
    struct err ignored = {0};
    struct str text;

    return fs_read_file_at(v->p->root, t->path.p, USER_FILE_MAX_BYTES, v->arena,
                           &text, &ignored) &&
           desired_state_open_shared(t, text, v->arena, merge, &ignored);
}

static bool verify_shared(struct verifying *v, struct target *t,
                          const struct stat *st, struct err *e)
{
    struct merge merge;
    struct str text;

    if (!S_ISREG(st->st_mode)) {
        add(v, t->path, STR(""), "not ours");
        return true;
    }
    if (place_is_of_user(t->path) &&
        !can_read(v, t, &merge)) { /* see plan_or_leave() */
        add(v, t->path, STR(""), "cannot be read");
        return true;
    }
    return fs_read_file_at(v->p->root, t->path.p, CLIENT_FILE_MAX_BYTES,
                           v->arena, &text, e) &&
           desired_state_open_shared(t, text, v->arena, &merge, e) &&
           verify_servers(v, t, &merge, e);
}

static bool verify_target(struct verifying *v, struct target *t, struct err *e)
{
    struct stat st;

    bool is_link = t->kind == TARGET_LINK;

    if (is_link && t->client && disk_is_linked(v->p, t->client))
        return true;
    /* a link to a skill of the user is missing only if it existed before */
    if (is_link && !t->item && !provision_recorded(v->p, t->path))
        return true;
    if (!fs_stat_at(v->p->root, t->path.p, &st)) {
        add(v, t->path, STR(""), "missing");
        return true;
    }
    switch (t->kind) {
    case TARGET_TREE:
        return verify_tree(v, t, &st, e);
    case TARGET_LINK:
        return verify_link(v, t, &st, e);
    case TARGET_FILE:
        return verify_file(v, t, &st, e);
    case TARGET_SHARED:
        return verify_shared(v, t, &st, e);
    case TARGET_TEXT:
        break;
    }
    return true;
}

/* Verifies recorded packages; files rendered from a package belong to it. */
static void verify_recorded(struct verifying *v)
{
    const struct record *r = &v->p->record;
    struct map desired;
    struct stat st;

    map_init(&desired, v->arena);
    for (size_t i = 0; i < v->desired.count; i++)
        map_put(&desired, v->desired.targets[i].path, v);
    for (size_t i = 0; i < r->count; i++) {
        struct str path = r->entries[i].path;

        if (r->entries[i].kind != RECORD_TREE ||
            !str_starts(path, STR(".agents/")) || map_has(&desired, path) ||
            !fs_stat_at(v->p->root, str_dup0(path, v->arena), &st))
            continue;
        add(v, path, STR(""), "not in the lock");
        v->found[v->count - 1].is_left = true;
    }
}

bool provision_verify(struct provision *p, const struct provision_options *o,
                      const struct provision_item *items, size_t item_count,
                      struct arena *a, struct provision_difference **out,
                      size_t *count, struct err *e)
{
    struct verifying v = {.p = p, .arena = a};

    if (!provision_load(p, e))
        return false;
    provision_desired_state(p, o, a, &v.desired);
    if (!desired_state_build(&v.desired, items, item_count, &p->record, e))
        return false;
    for (size_t i = 0; i < v.desired.count; i++)
        if (!verify_target(&v, &v.desired.targets[i], e))
            return false;
    verify_recorded(&v);
    *out = v.found;
    *count = v.count;
    return true;
}

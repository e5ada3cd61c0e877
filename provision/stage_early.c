#include "base/fs.h"

#include <stdio.h>
#include <unistd.h>

#include "stage.h"

/* Packages are staged by digest before the plan, while others are still being
 * fetched. Folders that the plan does not use are removed with the stage. */

struct stage_early {
    struct stage_folder at;
    struct map trees; /* 32 bytes of digest -> struct stage_tree */
    bool is_off;      /* staging failed; the plan reports the cause */
};

static struct stage_early *get_early(struct provision *p)
{
    struct stage_early *early = p->early;
    struct err ignored = {0};

    if (early)
        return early;
    early = p->early = arena_new(&p->arena, struct stage_early);
    map_init(&early->trees, &p->arena);
    stage_folder_init(&early->at);
    early->is_off = p->read_only ||
                    !stage_folder_open(p->root, &early->at, &ignored) ||
                    !stage_folder_open_stage(&early->at, &p->arena, &ignored);
    return early;
}

/* The paths must stay valid, because the records refer to them. */
static struct desired_file *list_files(struct provision *p,
                                       const struct package_file *files,
                                       size_t count, struct arena *a)
{
    struct desired_file *list = arena_array(a, count, sizeof *list);

    for (size_t i = 0; i < count; i++) {
        list[i].executable = files[i].executable;
        list[i].hash = files[i].hash;
        list[i].path = arena_str(&p->arena, files[i].path);
    }
    return list;
}

void provision_stage_early(struct provision *p,
                           const struct provision_objects *objects,
                           const struct hash *digest,
                           const struct package_file *files, size_t count)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct stage_early *early = get_early(p);
    struct str key = str_make((const char *)digest->b, sizeof digest->b);
    struct err ignored = {0};
    struct stage_tree *t;

    if (early->is_off || map_has(&early->trees, key))
        return;
    t = arena_new(&p->arena, struct stage_tree);
    t->stage = early->at.stage;
    t->exact_modes = early->at.exact_modes;
    t->files = list_files(p, files, count, &scratch);
    t->count = count;
    t->records = arena_array(&p->arena, count, sizeof *t->records);
    snprintf(t->name, sizeof t->name, "e%zu", early->trees.count);
    if (stage_place_tree(objects, t, &ignored)) {
        t->files = NULL;
        map_put(&early->trees, arena_str(&p->arena, key), t);
        return;
    }
    early->is_off = true;
    if (!fs_remove_tree_at(early->at.stage, t->name, &ignored))
        return; /* removed with the stage */
}

bool stage_early_made(const struct provision *p, struct str folder)
{
    return p->early && p->early->at.made_agents && str_is(folder, ".agents");
}

bool stage_early_take(struct provision *p, struct stage_folder *out)
{
    if (!p->early || p->early->at.stage < 0)
        return false;
    *out = p->early->at;
    stage_folder_init(&p->early->at);
    p->early->is_off = true;
    return true;
}

static bool has_files(const struct stage_tree *t, const struct target *target)
{
    if (t->count != target->file_count)
        return false;
    for (size_t i = 0; i < t->count; i++) {
        const struct record_file *had = &t->records[i];
        const struct desired_file *f = &target->files[i];

        if (f->content.p || !str_eq(had->path, f->path) ||
            had->executable != f->executable || !hash_eq(&had->hash, &f->hash))
            return false;
    }
    return true;
}

struct stage_tree *stage_early_find(struct provision *p,
                                    const struct target *target)
{
    const struct provision_item *item = target->item;
    struct stage_tree *t;

    if (!p->early || !item)
        return NULL;
    t = map_find(&p->early->trees,
                 str_make((const char *)item->digest.b, sizeof item->digest.b));
    return t && t->name[0] && has_files(t, target) ? t : NULL;
}

void stage_early_drop(struct provision *p)
{
    struct stage_early *early = p->early;

    if (!early)
        return;
    if (early->at.mapm >= 0) {
        stage_folder_remove_stage(&early->at);
        stage_folder_undo(p->root, &early->at);
    }
    stage_folder_close(&early->at);
    p->early = NULL;
}

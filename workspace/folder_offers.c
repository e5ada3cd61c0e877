#include "mapm/folder_offers.h"

#include "base/fs.h"
#include "base/path.h"
#include "mapm/doc_kind.h"
#include "mapm/limits.h"

#include <dirent.h>

/* Depth to which skills are searched in a folder that is not a package. */
#define OFFERS_MAX_DEPTH   12
#define OFFERS_MAX_FOLDERS 50000

struct listing {
    int root;
    struct arena *a;
    struct fetch_offer *offers;
    size_t count, capacity;
};

static void add(struct listing *l, enum doc_kind kind, struct str path)
{
    l->offers =
        arena_grow(l->a, l->offers, l->count, &l->capacity, sizeof *l->offers);
    l->offers[l->count++] =
        (struct fetch_offer){kind, arena_str(l->a, path), false};
}

static bool is_package(int root, struct str folder, const char *entry_file,
                       struct arena *a)
{
    return fs_exists_at(root,
                        str_dup0(fs_join(folder, str_cstr(entry_file), a), a));
}

/* Lists one bucket of a catalog (M1): "agents", "skills" or "mcps". */
static bool list_bucket(struct listing *l, enum doc_kind kind, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const char *bucket = doc_kind_plural(kind);
    struct fs_entry *entries;
    size_t count;

    if (!fs_list_at(l->root, bucket, PACKAGE_MAX_FILES, &scratch, &entries,
                    &count, e)) {
        if (e->code != ERR_NOT_FOUND)
            return false;
        err_clear(e);
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        struct str path =
            arena_printf(&scratch, "%s/%s", bucket, entries[i].name.p);

        if (kind == DOC_MCP
                ? entries[i].type == DT_REG && str_ends(path, STR(".json"))
                : is_package(l->root, path, doc_entry_file(kind), &scratch))
            add(l, kind, path);
    }
    return true;
}

static bool is_entered(const struct fs_entry *entry, struct str path)
{
    return entry->type == DT_DIR && !str_is(entry->name, ".git") &&
           !str_is(entry->name, "node_modules") &&
           path_depth(path) <= OFFERS_MAX_DEPTH;
}

/* Lists skills in any folder, for catalogs without buckets. */
static bool list_anywhere(struct listing *l, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct str folder = str_make("", 0), *folders = NULL;
    size_t looked = 0, folder_count = 0, capacity = 0;

    for (;;) {
        struct fs_entry *entries;
        size_t count;

        if (!fs_list_at(l->root, str_dup0(folder, &scratch),
                        PACKAGE_MAX_FILES * 2, &scratch, &entries, &count, e))
            return false;
        for (size_t i = count; i-- > 0;) {
            struct str path = folder.n
                                  ? fs_join(folder, entries[i].name, &scratch)
                                  : entries[i].name;

            if (!is_entered(&entries[i], path))
                continue;
            if (is_package(l->root, path, "SKILL.md", &scratch)) {
                add(l, DOC_SKILL, path);
                continue;
            }
            folders = arena_grow(&scratch, folders, folder_count, &capacity,
                                 sizeof *folders);
            folders[folder_count++] = path;
        }
        if (folder_count == 0 || ++looked > OFFERS_MAX_FOLDERS)
            return true;
        folder = folders[--folder_count];
    }
}

bool folder_offers(int root, bool anywhere, struct arena *a,
                   struct fetch_offer **out, size_t *count, struct err *e)
{
    struct listing l = {.root = root, .a = a};

    if (!list_bucket(&l, DOC_AGENT, e) || !list_bucket(&l, DOC_SKILL, e) ||
        !list_bucket(&l, DOC_MCP, e) ||
        (l.count == 0 && anywhere && !list_anywhere(&l, e)))
        return false;
    STR_SORT_BY(l.offers, l.count, path);
    *out = l.offers;
    *count = l.count;
    return true;
}

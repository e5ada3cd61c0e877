#include "mapm/patched.h"

#include "base/map.h"
#include "base/patch.h"
#include "base/path.h"
#include "base/text.h"

#include <string.h>

#define HASH_PREFIX "sha256:"

struct patching {
    struct store *store;
    const char *name; /* name of the patch file */
    bool keep;
    struct arena *arena;
    struct patched *out;
    bool is_noted;
    struct map names, folders; /* case-folded; a NULL value marks a deleted
                                * file */
};

bool patched_parse_hash(struct str text, struct hash *out)
{
    return str_starts(text, STR(HASH_PREFIX)) &&
           hash_parse(str_from_index(text, strlen(HASH_PREFIX)), out);
}

static struct package_file *find_file(const struct patched *p, struct str path)
{
    for (size_t i = 0; i < p->count; i++)
        if (str_eq(p->files[i].path, path))
            return &p->files[i];
    return NULL;
}

/* Records a path, so that names that differ only in case, and folders with the
 * name of a file, are refused. */
static void note_path(struct patching *p, struct str path)
{
    struct str key = text_fold(path, p->arena);

    map_entry(&p->names, key)->value = p;
    for (size_t i = 0; i < key.n; i++)
        if (key.p[i] == '/')
            map_put(&p->folders, str_slice(key, 0, i), p);
}

static void note_paths(struct patching *p)
{
    if (p->is_noted)
        return;
    p->is_noted = true;
    map_init(&p->names, p->arena);
    map_init(&p->folders, p->arena);
    for (size_t i = 0; i < p->out->count; i++)
        note_path(p, p->out->files[i].path);
}

static bool check_new_path(struct patching *p, struct str path, struct err *e)
{
    struct str key = text_fold(path, p->arena);
    bool is_taken;

    if (!path_check(path, PACKAGE_PATH_MAX_BYTES, e))
        return false;
    note_paths(p);
    is_taken = map_find(&p->names, key) || map_has(&p->folders, key);
    for (size_t i = 0; i < key.n; i++)
        is_taken |=
            key.p[i] == '/' && map_find(&p->names, str_slice(key, 0, i));
    if (is_taken)
        return err_set(e, ERR_REFUSED,
                       "%.*s and another file are the same name on some file "
                       "systems",
                       STR_ARG(path));
    note_path(p, path);
    return true;
}

static bool find_changed(struct patching *p, const struct patch_change *c,
                         struct package_file **out, struct err *e)
{
    *out = find_file(p->out, c->path);
    if (c->is_new && *out)
        return err_set(e, ERR_PATCH, "%.*s is there already", STR_ARG(c->path));
    if (!c->is_new && !*out)
        return err_set(e, ERR_PATCH, "the package has no %.*s",
                       STR_ARG(c->path));
    if (*out)
        return true;
    if (!check_new_path(p, c->path, e))
        return false;
    *out = &p->out->files[p->out->count++];
    **out = (struct package_file){.path = arena_str(p->arena, c->path)};
    return true;
}

static void drop_file(struct patching *p, struct package_file *f)
{
    struct patched *out = p->out;
    size_t at = (size_t)(f - out->files);

    note_paths(p);
    map_entry(&p->names, text_fold(f->path, p->arena))->value = NULL;
    memmove(f, f + 1, (out->count - at - 1) * sizeof *f);
    out->count--;
}

static bool is_text(struct str text)
{
    const struct patch_file f = {.after = {PATCH_FILE, text, false}};

    return !patch_is_binary(&f);
}

static bool change_file(struct patching *p, const struct patch_change *c,
                        struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct str before = STR(""), after;
    struct package_file *f;

    if (!find_changed(p, c, &f, e) ||
        (!c->is_new && !store_read(p->store, &f->hash, PATCH_FILE_MAX_BYTES,
                                   &scratch, &before, e)))
        return false;
    if (!is_text(before))
        return err_set(e, ERR_PATCH, "%.*s is not text", STR_ARG(c->path));
    if (!patch_apply(c, before, &scratch, &after, e))
        return false;
    if (c->is_gone) {
        drop_file(p, f);
        return true;
    }
    if (!is_text(after))
        return err_set(e, ERR_REFUSED, "%.*s would be no text",
                       STR_ARG(c->path));
    f->hash = hash_of(after);
    return !p->keep || store_put(p->store, after, &f->hash, e);
}

static void count_lines(const struct patch *patch, struct patched *out)
{
    for (size_t i = 0; i < patch->count; i++)
        for (size_t k = 0; k < patch->changes[i].count; k++) {
            const struct patch_hunk *h = &patch->changes[i].hunks[k];

            for (size_t n = 0; n < h->count; n++) {
                out->added += h->lines[n].sign == '+';
                out->removed += h->lines[n].sign == '-';
            }
        }
}

static bool apply(struct patching *p, const struct patch *patch, struct err *e)
{
    struct patched *out = p->out;
    struct str listing;

    for (size_t i = 0; i < patch->count; i++)
        if (!change_file(p, &patch->changes[i], e))
            return err_wrap(e, "%s does not apply", p->name);
    if (out->count == 0)
        return err_set(e, ERR_REFUSED, "%s leaves no file", p->name);
    count_lines(patch, out);
    out->digest =
        store_listing_format(out->files, out->count, p->arena, &listing);
    return !p->keep || store_put(p->store, listing, &out->digest, e);
}

bool patched_apply(struct store *s, const struct hash *digest, struct str text,
                   const char *name, bool keep, struct arena *a,
                   struct patched *out, struct err *e)
{
    struct patched result = {.count = 0};
    struct patching p = {
        .store = s, .name = name, .keep = keep, .arena = a, .out = &result};
    struct package_file *files;
    struct patch patch;

    if (!patch_parse(text, name, a, &patch, e) ||
        !store_read_listing(s, digest, a, &files, &result.count, e))
        return false;
    result.files =
        arena_array(a, result.count + patch.count, sizeof *result.files);
    memcpy(result.files, files, result.count * sizeof *files);
    if (!apply(&p, &patch, e))
        return false;
    *out = result;
    return true;
}

bool patched_installed(struct store *s, struct str digest, struct str patch,
                       struct hash *out, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct patched result;
    struct hash hash;
    struct str text;

    if (!patched_parse_hash(digest, out))
        return err_set(e, ERR_FORMAT, "\"%.*s\" is not a digest",
                       STR_ARG(digest));
    if (patch.n == 0)
        return true;
    if (!patched_parse_hash(patch, &hash))
        return err_set(e, ERR_FORMAT, "\"%.*s\" is not a digest",
                       STR_ARG(patch));
    if (!store_read(s, &hash, PATCH_MAX_BYTES, &a, &text, e)) {
        err_wrap(e, "the patch %.*s was never installed on this machine",
                 STR_ARG(patch));
        return err_hint(e, "mapm install applies it");
    }
    if (!patched_apply(s, out, text, "the patch", false, &a, &result, e))
        return false;
    *out = result.digest;
    return true;
}

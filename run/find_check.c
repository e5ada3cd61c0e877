#include "base/path.h"
#include "mapm/package_files.h"
#include "mapm/patched.h"

#include "find.h"

struct check {
    const struct lock_entry *entry;
    const struct skill *skill;
    struct package_files stored;
    struct str folder; /* name of the installed copy */
    size_t differing;
    struct err *e;
};

/* Compares the digest of all files, without the store. */
static bool is_whole(const struct skill *s, const struct hash *digest,
                     struct arena *a)
{
    struct str text;
    struct hash is = store_listing_format(s->files, s->file_count, a, &text);

    return hash_eq(&is, digest);
}

static void differ(struct check *c, struct str path, const char *how)
{
    c->e->code = ERR_EDITED;
    if (c->differing++ < ERROR_MAX_LINES)
        err_also(c->e, "%.*s/%.*s %s", STR_ARG(c->entry->place), STR_ARG(path),
                 how);
}

/* Finds the file in the sorted list, continuing at `*at`. */
static const struct package_file *find_placed(const struct skill *s, size_t *at,
                                              struct str path)
{
    while (*at < s->file_count && str_cmp(s->files[*at].path, path) < 0)
        (*at)++;
    return *at < s->file_count && str_eq(s->files[*at].path, path)
               ? &s->files[*at]
               : NULL;
}

static bool read_renamed(struct check *c, const struct package_file *f,
                         struct arena *a, struct hash *out, struct err *e)
{
    struct str text, renamed;

    if (!store_read(c->stored.store, &f->hash, ANCHOR_MAX_BYTES, a, &text, e) ||
        !manifest_rename(text, c->folder, a, &renamed, e))
        return false;
    *out = hash_of(renamed);
    return true;
}

static bool compare(struct check *c, struct arena *a, struct err *e)
{
    const struct skill *s = c->skill;
    size_t at = 0;

    for (size_t i = 0; i < c->stored.count; i++) {
        const struct package_file *f = &c->stored.files[i];
        const struct package_file *placed = find_placed(s, &at, f->path);
        struct hash want = f->hash;

        if (!placed) {
            differ(c, f->path, "is missing");
            continue;
        }
        if (lock_is_renamed(c->entry) && str_is(f->path, "SKILL.md") &&
            !read_renamed(c, f, a, &want, e))
            return false;
        if (!hash_eq(&want, &placed->hash))
            differ(c, f->path, "was changed");
        else if (f->executable != placed->executable)
            differ(c, f->path,
                   f->executable ? "is not executable any more"
                                 : "was made executable");
    }
    if (s->file.n && !package_files_find(&c->stored, s->file))
        differ(c, s->file, "is not part of the package");
    return true;
}

static bool hint_restore(const struct check *c, struct err *e)
{
    err_wrap(e, "%.*s is not what was installed", STR_ARG(c->entry->name));
    return err_hint(e, "mapm install puts back what is missing, mapm install "
                       "--force also what was changed");
}

bool run_skill_check(struct store *store, const struct lock_entry *entry,
                     const struct skill *skill, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct check c = {.entry = entry,
                      .skill = skill,
                      .stored = {.store = store},
                      .folder = path_last(entry->place),
                      .e = e};
    struct package_file *files;
    struct err lost = {0};
    struct hash digest;

    if (!patched_installed(store, entry->digest, entry->patch, &digest, e)) {
        e->code = e->code == ERR_FORMAT ? ERR_FORMAT : ERR_EDITED;
        err_wrap(e, "%.*s cannot be compared with the lock",
                 STR_ARG(entry->name));
        return hint_restore(&c, e);
    }
    if (!lock_is_renamed(entry) && is_whole(skill, &digest, &a))
        return true;
    if (!store_read_listing(store, &digest, &a, &files, &c.stored.count,
                            &lost)) {
        err_set(e, ERR_EDITED, "the store does not have %.*s to compare with",
                STR_ARG(entry->digest));
        return hint_restore(&c, e);
    }
    c.stored.files = files;
    if (!compare(&c, &a, e)) {
        err_wrap(e, "cannot determine whether %.*s is what was installed",
                 STR_ARG(entry->name));
        return err_hint(
            e, "mapm install --force fetches objects missing from the store");
    }
    if (c.differing == 0)
        return true;
    if (c.differing > ERROR_MAX_LINES)
        err_also(e, "and %zu more", c.differing - ERROR_MAX_LINES);
    return hint_restore(&c, e);
}

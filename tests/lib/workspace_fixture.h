#ifndef TESTS_WORKSPACE_FIXTURE_H
#define TESTS_WORKSPACE_FIXTURE_H

/* A workspace in a temporary folder, packages made of texts, and one call that
 * provisions them. */

#include "base/fs.h"
#include "mapm/provision.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FIXTURE_OBJECTS_MAX 4096
#define FIXTURE_ITEMS_MAX   1024

struct fixture_object {
    struct hash hash;
    struct str text;
};

struct fixture {
    char path[256];
    int fd;
    struct arena arena;
    struct err err;
    struct fixture_object objects[FIXTURE_OBJECTS_MAX];
    size_t object_count, reads, places;
    struct provision_item items[FIXTURE_ITEMS_MAX];
    size_t item_count;
    struct provision_text texts[8];
    size_t text_count;
    struct provision_options options;
    struct str clients[16];
    struct provision_change *changes; /* of the last run */
    size_t change_count, left_count;
    struct str left; /* the first of what was left edited */
    bool recovered, absolute;
    char backup[64];
    char links_left[256]; /* where folders of the user stand, one a line */
    void (*between)(struct fixture *d); /* called between plan and apply */
};

static inline const struct fixture_object *fixture_find(const struct fixture *d,
                                                        const struct hash *h)
{
    for (size_t i = 0; i < d->object_count; i++)
        if (hash_eq(&d->objects[i].hash, h))
            return &d->objects[i];
    return NULL;
}

static inline bool fixture_place(void *ctx, const struct hash *h, int dirfd,
                                 const char *name, bool executable,
                                 struct stat *st, struct err *e)
{
    struct fixture *d = ctx;
    const struct fixture_object *o = fixture_find(d, h);

    __atomic_add_fetch(&d->places, 1, __ATOMIC_RELAXED);
    if (!o)
        return err_set(e, ERR_NOT_FOUND, "no such object");
    return fs_create_at(dirfd, name, executable ? 0755 : 0644, o->text, e) &&
           fstatat(dirfd, name, st, AT_SYMLINK_NOFOLLOW) == 0;
}

static inline bool fixture_read(void *ctx, const struct hash *h,
                                size_t max_bytes, struct arena *a,
                                struct str *out, struct err *e)
{
    struct fixture *d = ctx;
    const struct fixture_object *o = fixture_find(d, h);

    d->reads++;
    if (!o || o->text.n > max_bytes)
        return err_set(e, ERR_NOT_FOUND, "no such object");
    *out = arena_str(a, o->text);
    return true;
}

static inline void fixture_init(struct fixture *d)
{
    memset(d, 0, sizeof *d);
    /* In memory where that can be had: thousands of these are made. */
    snprintf(d->path, sizeof d->path, "/dev/shm/mapm-fixture-XXXXXX");
    if (!mkdtemp(d->path))
        snprintf(d->path, sizeof d->path, "/tmp/mapm-fixture-XXXXXX");
    if (access(d->path, F_OK) < 0 && !mkdtemp(d->path)) {
        printf("Bail out! %s\n", d->path);
        exit(1);
    }
    d->fd = open(d->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    d->options.shared_dir = STR("/home/u/shared");
    d->options.clients.names = d->clients;
    d->options.objects =
        (struct provision_objects){fixture_place, fixture_read, d};
}

static inline void fixture_done(struct fixture *d)
{
    struct err e = {0};

    close(d->fd);
    if (!fs_remove_tree_at(AT_FDCWD, d->path, &e))
        printf("# %s\n", err_first(&e));
    arena_done(&d->arena);
}

static inline void fixture_client(struct fixture *d, const char *name)
{
    d->clients[d->options.clients.count++] = str_cstr(name);
}

static inline void fixture_text(struct fixture *d, const char *path,
                                const char *text)
{
    d->texts[d->text_count++] =
        (struct provision_text){str_cstr(path), str_cstr(text)};
}

static inline struct hash fixture_object(struct fixture *d, const char *text)
{
    struct str copy = arena_str(&d->arena, str_cstr(text));
    struct hash h = hash_of(copy);

    if (!fixture_find(d, &h) && d->object_count < FIXTURE_OBJECTS_MAX)
        d->objects[d->object_count++] = (struct fixture_object){h, copy};
    return h;
}

/* Pairs of path and content, then NULL. "+path" is executable. */
static inline struct provision_item *
fixture_item(struct fixture *d, enum doc_kind kind, const char *place, ...)
{
    struct provision_item *item = &d->items[d->item_count++];
    struct package_file *files = arena_array(&d->arena, 64, sizeof *files);
    struct hash_state s;
    const char *path;
    va_list list;

    *item =
        (struct provision_item){.kind = kind,
                                .fqn = arena_str(&d->arena, str_cstr(place)),
                                .place = arena_str(&d->arena, str_cstr(place)),
                                .files = files};
    hash_init(&s);
    va_start(list, place);
    while ((path = va_arg(list, const char *))) {
        struct package_file *f = &files[item->file_count++];

        f->executable = *path == '+';
        f->path = arena_str(&d->arena, str_cstr(path + f->executable));
        f->hash = fixture_object(d, va_arg(list, const char *));
        hash_add(&s, str_make((const char *)f->hash.b, 32));
        hash_add(&s, str_cstr(path));
    }
    va_end(list);
    item->digest = hash_end(&s);
    return item;
}

static inline void fixture_clear(struct fixture *d)
{
    d->item_count = d->text_count = 0;
}

enum {
    FIXTURE_PLAN_ONLY = 1,
    FIXTURE_FORCE = 2,
    FIXTURE_VERIFY = 4,
    FIXTURE_EARLY = 8
};

/* As if each package had come while others were being fetched. */
static inline void fixture_stage_early(struct fixture *d, struct provision *p)
{
    for (size_t i = 0; i < d->item_count; i++)
        if (d->items[i].kind != DOC_MCP)
            provision_stage_early(p, &d->options.objects, &d->items[i].digest,
                                  d->items[i].files, d->items[i].file_count);
}

/* Opens, plans and does it; `fixture->err` says why not. */
static inline bool fixture_run(struct fixture *d, int flags)
{
    struct provision *p = NULL;
    const struct provision_skipped *left;
    const struct str *links;
    size_t link_count;
    bool ok;

    err_clear(&d->err);
    d->changes = NULL;
    d->change_count = 0;
    d->links_left[0] = '\0';
    d->options.force = flags & FIXTURE_FORCE;
    if (!provision_open(str_cstr(d->path), &client_scope_workspace, false, NULL,
                        NULL, &d->recovered, &p, &d->err))
        return false;
    if (flags & FIXTURE_EARLY)
        fixture_stage_early(d, p);
    ok = provision_plan(p, &d->options, d->items, d->item_count, d->texts,
                        d->text_count, &d->arena, &d->changes, &d->change_count,
                        &d->err);
    if (ok && d->between)
        d->between(d);
    if (ok && !(flags & FIXTURE_PLAN_ONLY))
        ok = provision_apply(p, &d->err);
    left = provision_skipped_modified(p, &d->left_count);
    d->left = ok && d->left_count ? left->what : (struct str){"", 0};
    links = provision_taken_links(p, &link_count);
    for (size_t i = 0, n = 0; i < link_count && n < sizeof d->links_left; i++)
        n += (size_t)snprintf(d->links_left + n, sizeof d->links_left - n,
                              "%.*s\n", STR_ARG(links[i]));
    d->absolute = provision_absolute_files(p).n > 0;
    snprintf(d->backup, sizeof d->backup, "%.*s", STR_ARG(provision_backup(p)));
    provision_close(p);
    return ok;
}

static inline void fixture_write(struct fixture *d, const char *path,
                                 const char *text)
{
    struct str folder = str_cstr(path);
    struct err e = {0};
    size_t at = str_find_last(folder, '/');

    if (at != SIZE_MAX &&
        !fs_make_dirs_at(d->fd, str_dup0(str_slice(folder, 0, at), &d->arena),
                         0755, &e))
        printf("# %s\n", err_first(&e));
    unlinkat(d->fd, path, 0);
    if (!fs_create_at(d->fd, path, 0644, str_cstr(text), &e))
        printf("# %s\n", err_first(&e));
}

/* "(none)" for what is not a regular file. */
static inline const char *fixture_content(struct fixture *d, const char *path)
{
    struct err e = {0};
    struct str text;

    if (!fs_read_file_at(d->fd, path, 1u << 24, &d->arena, &text, &e))
        return "(none)";
    return text.p;
}

static inline bool fixture_has(struct fixture *d, const char *path)
{
    struct stat st;

    return fstatat(d->fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static inline void fixture_list(struct fixture *d, int fd, const char *prefix,
                                bool own, struct buf *out)
{
    struct fs_entry *entries;
    struct err e = {0};
    size_t count;

    if (!fs_list_at(fd, ".", 100000, &d->arena, &entries, &count, &e))
        return;
    for (size_t i = 0; i < count; i++) {
        const char *name = entries[i].name.p;
        struct str path = arena_printf(&d->arena, "%s%s", prefix, name);
        struct stat st;

        if (!own && str_is(path, ".agents/.mapm"))
            continue;
        if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        buf_printf(out, "%s %o", path.p, st.st_mode);
        if (S_ISREG(st.st_mode)) {
            struct str text;
            struct hash h = {0};
            char hex[HASH_HEX_CHARS + 1];

            if (fs_read_file_at(fd, name, 1u << 24, &d->arena, &text, &e))
                h = hash_of(text);
            hash_format(&h, hex);
            buf_printf(out, " %.16s", hex);
        } else if (S_ISLNK(st.st_mode)) {
            char target[256] = "";

            if (readlinkat(fd, name, target, sizeof target - 1) > 0)
                buf_printf(out, " -> %s", target);
        }
        buf_char(out, '\n');
        if (S_ISDIR(st.st_mode)) {
            int child = openat(fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

            fixture_list(d, child, arena_printf(&d->arena, "%s/", path.p).p,
                         own, out);
            close(child);
        }
    }
}

/* Every node with mode and content, one a line; `own`: mapm's own, too. */
static inline const char *fixture_snapshot(struct fixture *d, bool own)
{
    struct buf out;
    const char *text;

    buf_init(&out, 1u << 24);
    fixture_list(d, d->fd, "", own, &out);
    text = arena_str(&d->arena, buf_str(&out)).p;
    buf_done(&out);
    return text;
}

static inline bool fixture_plans(const struct fixture *d,
                                 enum provision_change_kind kind,
                                 const char *path)
{
    for (size_t i = 0; i < d->change_count; i++)
        if (d->changes[i].kind == kind && str_is(d->changes[i].path, path))
            return true;
    return false;
}

#define FIXTURE_OK(d, flags)                                                   \
    do {                                                                       \
        bool ok_ = fixture_run((d), (flags));                                  \
        CHECK(ok_);                                                            \
        if (!ok_)                                                              \
            printf("# %s\n", err_first(&(d)->err));                            \
    } while (0)

#endif

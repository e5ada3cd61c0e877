#ifndef TESTS_SHELF_CASE_H
#define TESTS_SHELF_CASE_H

/* What the tests of the library share: roots in a folder of their own, opened
 * with a cache and with the notes as text. */

#include "base/fs.h"
#include "base/text.h"
#include "mapm/library.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

#define ROWS(table) (sizeof(table) / sizeof *(table))
#define HEAD(name, description)                                                \
    "---\nname: " name "\ndescription: " description "\n"
#define SKILL(name, description) HEAD(name, description) "---\n\n# Body\n"

static char shelf_top[] = "/tmp/library_test-XXXXXX";
static int shelf_fd = -1;

__attribute__((constructor)) static void shelf_set_up(void)
{
    struct err e = {0};

    if (!mkdtemp(shelf_top) || !fs_open_dir(shelf_top, &shelf_fd, &e))
        abort();
}

__attribute__((destructor)) static void shelf_tear_down(void)
{
    struct err e = {0};

    if (!fs_remove_tree_at(AT_FDCWD, shelf_top, &e))
        abort();
}

/* Writes below the top, replacing what is there; "x/" makes a folder. */
static inline void put_text(const char *path, struct str text)
{
    char folder[4096];
    char *slash;
    struct err e = {0};

    snprintf(folder, sizeof folder, "%s", path);
    slash = strrchr(folder, '/');
    if (slash) {
        *slash = '\0';
        if (!fs_make_dirs_at(shelf_fd, folder, 0755, &e))
            abort();
    }
    if ((!slash || slash[1]) && !fs_replace_at(shelf_fd, path, 0644, text, &e))
        abort();
}

static inline void put(const char *path, const char *text)
{
    put_text(path, str_cstr(text));
}

static inline void drop(const char *path)
{
    struct err e = {0};

    if (!fs_remove_tree_at(shelf_fd, path, &e))
        abort();
}

static inline void link_to(const char *target, const char *path)
{
    char folder[4096];

    snprintf(folder, sizeof folder, "%s", path);
    *(strrchr(folder, '/') + 1) = '\0';
    put(folder, "");
    if (symlinkat(target, shelf_fd, path) < 0)
        abort();
}

/* One library, and what it said. */
struct shelves {
    struct arena a;
    struct library *l;
    struct buf notes;
    struct str cache; /* of its last root */
    size_t puts;
    struct library_root roots[4];
    struct library_options o;
};

static inline bool shelf_find(void *ctx, struct str root, struct arena *a,
                              struct str *out)
{
    struct shelves *s = ctx;

    (void)root;
    *out = arena_str(a, s->cache);
    return s->cache.n > 0;
}

static inline void shelf_put(void *ctx, struct str root, struct str bytes)
{
    struct shelves *s = ctx;

    (void)root;
    s->cache = arena_str(&s->a, bytes);
    s->puts++;
}

static inline void shelf_note(void *ctx, enum library_note kind,
                              struct str text)
{
    struct shelves *s = ctx;

    buf_printf(&s->notes, "%s %.*s\n",
               kind == LIBRARY_INFO ? "INFO" : "WARNING", STR_ARG(text));
}

static inline void shelves_init(struct shelves *s)
{
    *s = (struct shelves){0};
    buf_init(&s->notes, 1 << 20);
    buf_char(&s->notes, ' ');
    buf_clear(&s->notes); /* "", not NULL, when nothing is said */
    s->o = (struct library_options){
        .roots = s->roots,
        .programs = true,
        .cache = {shelf_find, shelf_put, s},
        .note = shelf_note,
        .ctx = s,
    };
}

static inline void add_root(struct shelves *s, enum library_source source,
                            const char *name)
{
    s->roots[s->o.root_count++] = (struct library_root){
        .source = source,
        .path = arena_printf(&s->a, "%s/%s", shelf_top, name),
    };
}

/* Where the links of all its roots may lead. */
static inline void bound_roots(struct shelves *s, const char *within)
{
    for (size_t i = 0; i < s->o.root_count; i++)
        s->roots[i].allowed_link_root =
            arena_printf(&s->a, "%s/%s", shelf_top, within);
}

static inline bool shelves_open(struct shelves *s, struct err *e)
{
    library_close(s->l);
    s->l = NULL;
    buf_clear(&s->notes);
    return library_open(&s->o, &s->l, e);
}

static inline void shelves_done(struct shelves *s)
{
    library_close(s->l);
    buf_done(&s->notes);
    arena_done(&s->a);
}

/* Global root and workspace root; NULL: none. */
static inline void open_both(struct shelves *s, bool metis, const char *global,
                             const char *workspace)
{
    struct err e = {0};

    shelves_init(s);
    s->o.metis = metis;
    if (global)
        add_root(s, LIBRARY_GLOBAL, global);
    if (workspace)
        add_root(s, LIBRARY_WORKSPACE, workspace);
    if (!shelves_open(s, &e)) {
        printf("# %s\n", err_first(&e));
        abort();
    }
}

/* "a b c" */
static inline const char *names_of(struct shelves *s)
{
    struct str text = STR("");

    for (size_t i = 0; i < library_count(s->l); i++)
        text = arena_printf(&s->a, "%.*s%s%.*s", STR_ARG(text), i ? " " : "",
                            STR_ARG(library_at(s->l, i)->name));
    return str_dup0(text, &s->a);
}

static inline const char *text_of(struct shelves *s, struct str text)
{
    return str_dup0(text, &s->a);
}

static inline bool notes_have(const struct shelves *s, const char *text)
{
    return str_find(buf_str(&s->notes), str_cstr(text)) != SIZE_MAX;
}

#endif

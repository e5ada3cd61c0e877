/* library: what is kept of a root, after anybody has had it. Input that begins
 * as the bytes do is taken as it is; any other is edits (two bytes of offset,
 * one of value) to those that a look at two skills wrote. Whatever they say,
 * the library that comes of it is whole. [L9, row 26]. */
#include "base/fs.h"
#include "base/text.h"
#include "mapm/library.h"
#include "mapm/name.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char top[] = "/tmp/fuzz_library-XXXXXX";
static struct arena kept;
static struct str good; /* bytes of the root */

static bool find(void *ctx, struct str root, struct arena *a, struct str *out)
{
    (void)root;
    *out = arena_str(a, *(struct str *)ctx);
    return true;
}

static void put(void *ctx, struct str root, struct str bytes)
{
    (void)ctx;
    (void)root;
    if (bytes.n == 0)
        abort();
    good = arena_str(&kept, bytes);
}

static void write_skill(const char *name, const char *more)
{
    char path[64], text[256];
    struct err e = {0};
    int fd;

    snprintf(path, sizeof path, "%s/SKILL.md", name);
    snprintf(text, sizeof text,
             "---\nname: %s\ndescription: Does it.\n%s---\nBody.\n", name,
             more);
    if (!fs_open_dir(top, &fd, &e) || !fs_make_dirs_at(fd, name, 0755, &e) ||
        !fs_create_at(fd, path, 0644, str_cstr(text), &e))
        abort();
    fs_close(&fd);
}

static void tear_down(void)
{
    struct err e = {0};

    if (!fs_remove_tree_at(AT_FDCWD, top, &e))
        abort();
}

static struct library *open_with(struct str *bytes, bool keep)
{
    const struct library_root root = {.path = str_cstr(top)};
    struct library_options o = {
        .roots = &root,
        .root_count = 1,
        .cache = {find, keep ? put : NULL, bytes},
    };
    struct library *l;
    struct err e = {0};

    if (!library_open(&o, &l, &e))
        abort();
    return l;
}

/* What was just written is read again the next time: wait until it is not. */
static void set_up(void)
{
    struct timespec wait = {2, 200000000};
    struct str nothing = STR("");

    if (!mkdtemp(top))
        abort();
    atexit(tear_down);
    write_skill("one", "version: 1.0.0\n");
    write_skill("group/three", "metadata: {tags: [x]}\n");
    write_skill("two", "mode: true\nallowed-tools: a, b\n");
    nanosleep(&wait, NULL);
    library_close(open_with(&nothing, true));
}

static struct str edit(const uint8_t *data, size_t size, struct arena *a)
{
    char *text;

    if (size >= 8 && memcmp(data, good.p, 8) == 0)
        return str_make((const char *)data, size);
    text = arena_text(a, good.p, good.n);
    for (size_t i = 0; i + 3 <= size; i += 3)
        text[(size_t)(data[i] | data[i + 1] << 8) % good.n] = (char)data[i + 2];
    return str_make(text, size % 3 == 1 ? data[size - 1] % good.n : good.n);
}

static void check(struct library *l, struct arena *a)
{
    struct library_index o = {.preload = true};
    struct library_block block;
    struct err e = {0};
    size_t count;
    bool changed;

    for (size_t i = 0; i < library_count(l); i++) {
        const struct library_skill *s = library_at(l, i);

        if (!name_is_kebab(s->name) || s->name.n == 0 ||
            s->description.n == 0 || !text_is_utf8(s->description) ||
            library_find(l, s->name) != s)
            abort();
        library_search(l, s->name, 10, true, a, &count);
    }
    if (!library_index_text(l, &o, a, &block, &e) ||
        !text_is_utf8(block.text) || !library_refresh(l, &changed, &e))
        abort();
    library_match(l, STR("does it"), 5, 0.1, a, &count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct library *l;
    struct str bytes;

    if (size >= 1 << 20)
        return 0;
    if (good.n == 0)
        set_up();
    bytes = edit(data, size, &a);
    l = open_with(&bytes, false);
    check(l, &a);
    library_close(l);
    return 0;
}

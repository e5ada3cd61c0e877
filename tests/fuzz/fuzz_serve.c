/*
 * What `mapm mcp` takes apart itself: the first byte says what, the rest is it.
 *
 *     u  an address of a skill's file, and back
 *     k  the body of a metaskill: its input keys
 *     y  frontmatter, as JSON
 */

#include "base/base64.h"
#include "base/fs.h"
#include "base/text.h"

#include <stdlib.h>
#include <unistd.h>

#include "../../serve/connection.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SKILL "---\nname: pdf\ndescription: x\n---\n\nx\n"

static struct library *open_one(void)
{
    static char folder[] = "/tmp/fuzz-serve.XXXXXX";
    struct library_root root = {.source = LIBRARY_WORKSPACE, .named = true};
    struct library_options o = {.roots = &root, .root_count = 1};
    struct library *l = NULL;
    struct err e = {0};
    int fd = -1;

    if (!mkdtemp(folder) || !fs_open_dir(folder, &fd, &e) ||
        !fs_make_dirs_at(fd, "pdf", 0700, &e) ||
        !fs_create_at(fd, "pdf/SKILL.md", 0600, STR(SKILL), &e))
        abort();
    root.path = str_cstr(folder);
    if (!library_open(&o, &l, &e) || !fs_remove_tree_at(fd, "pdf", &e) ||
        rmdir(folder) < 0)
        abort();
    fs_close(&fd);
    return l;
}

static void try_uri(struct str uri, struct arena *a)
{
    static struct library *l;
    const struct library_skill *skill, *same;
    struct str path, again;

    if (!l)
        l = open_one();
    if (!serve_uri_find(l, uri, a, &skill, &path))
        return;
    if (path.n && !fs_path_is_relative_clean(path))
        abort();
    if (!serve_uri_find(l, serve_uri(skill, path, a), a, &same, &again) ||
        same != skill || !str_eq(path, again))
        abort();
    base64_format(path, a);
}

static void try_keys(struct str body, struct arena *a)
{
    size_t count;
    struct mcp_argument *keys = serve_read_keys(body, a, &count);

    for (size_t i = 0; i < count; i++)
        if (keys[i].name.n == 0 || keys[i].name.n > 64)
            abort();
}

static void try_yaml(struct str text, struct arena *a)
{
    static const struct yaml_options bounds = {.max_nodes = 10000};
    static const struct json_options json = {.max_depth = 128};
    CLEANUP(buf_done) struct buf b = {0};
    const struct json *tree;
    const struct yaml *y;
    struct json_writer w;
    struct err e = {0};

    if (!yaml_parse(text, &bounds, a, &y, NULL, &e) || !y)
        return;
    buf_init(&b, 64u * 1024 * 1024);
    json_writer_init(&w, &b, 0);
    serve_put_yaml(&w, y);
    if (!b.overflowed && !json_parse(buf_str(&b), &json, a, &tree, NULL, &e))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str rest = {(const char *)data + 1, size ? size - 1 : 0};

    if (size == 0 || size > 1024u * 1024)
        return 0;
    if (data[0] == 'u')
        try_uri(rest, &a);
    else if (data[0] == 'k')
        try_keys(rest, &a);
    else if (data[0] == 'y')
        try_yaml(rest, &a);
    return 0;
}

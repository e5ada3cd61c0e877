/* library: what a person or a model writes, to be found in it: "/name", "$name",
 * a query, a request. A search finds what the slow way finds. [T16, T17, K18]
 * [L11, L12]. */
#include "base/fs.h"
#include "base/text.h"
#include "mapm/library.h"
#include "mapm/limits.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char top[] = "/tmp/fuzz_library-XXXXXX";
static struct library *library;

static const char *const skills[][2] = {
    {"pdf-processing", "Extracts text and tables from PDF files, fills forms."},
    {"code-review", "Reviews the changes of a branch, and says 'why'."},
    {"test-fix",
     "\xc3\x84ndert \xce\xa3\xce\x91\xce\xa3 und \xe6\x97\xa5\xe6\x9c\xac."},
    {"a", "b"},
};

static void tear_down(void)
{
    struct err e = {0};

    library_close(library);
    if (!fs_remove_tree_at(AT_FDCWD, top, &e))
        abort();
}

static void set_up(void)
{
    struct library_root root = {.path = str_cstr(top)};
    struct library_options o = {.roots = &root, .root_count = 1};
    struct err e = {0};
    int fd;

    if (!mkdtemp(top) || !fs_open_dir(top, &fd, &e))
        abort();
    for (size_t i = 0; i < sizeof skills / sizeof *skills; i++) {
        char path[64], text[256];

        snprintf(path, sizeof path, "%s/SKILL.md", skills[i][0]);
        snprintf(text, sizeof text, "---\nname: %s\ndescription: %s\n---\n",
                 skills[i][0], skills[i][1]);
        if (!fs_make_dirs_at(fd, skills[i][0], 0755, &e) ||
            !fs_create_at(fd, path, 0644, str_cstr(text), &e))
            abort();
    }
    fs_close(&fd);
    if (!library_open(&o, &library, &e) || library_count(library) != 4)
        abort();
    atexit(tear_down);
}

static double slow_score(const struct library_skill *s, struct str query,
                         struct arena *a)
{
    return 2 * (str_find(s->name, query) != SIZE_MAX) +
           (str_find(text_lower(s->description, a), query) != SIZE_MAX);
}

static void check_search(struct str text, struct arena *a)
{
    struct str query = text_lower(text_strip(text), a), shown;
    size_t count, expected = 0, literal = 0;
    struct library_hit *hits =
        library_search(library, text, 50, true, a, &count);

    for (size_t i = 0; i < count; i++) {
        if (!(hits[i].score >= 0 && hits[i].score <= 1))
            abort();
        literal += query.n == 0 || slow_score(hits[i].skill, query, a) > 0;
    }
    for (size_t i = 0; i < library_count(library); i++)
        expected +=
            query.n == 0 || slow_score(library_at(library, i), query, a) > 0;
    if (query.n <= QUERY_MAX_BYTES && literal != expected)
        abort();
    shown = library_search_text(text, hits, count, a);
    if (shown.n == 0 || !text_is_utf8(shown) || str_has_char(shown, '\0'))
        abort();
}

static void check_mentions(struct str text, struct arena *a)
{
    const struct library_skill **found;
    struct str rest = STR("");
    size_t count;

    found = library_mentions(library, text, a, &count);
    for (size_t i = 0; i < count; i++) {
        struct str word = str_join(STR("$"), found[i]->name, a);

        if (str_find(text, word) == SIZE_MAX)
            abort();
        for (size_t k = 0; k < i; k++)
            if (found[k] == found[i])
                abort();
    }
    if (library_slash(library, text, &rest) &&
        (rest.n >= text.n || !str_has_char(text, '/')))
        abort();
}

static void check_match(struct str text, struct arena *a)
{
    size_t count;
    struct library_hit *hits = library_match(library, text, 3, 0.1, a, &count);

    for (size_t i = 0; i < count; i++)
        if (!(hits[i].score >= 0.1 && hits[i].score <= 1.000001))
            abort();
    if (count > 3)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str text = str_make((const char *)data, size);
    struct library_loaded loaded;
    struct err e = {0};

    if (size >= 1 << 20)
        return 0;
    if (!library)
        set_up();
    check_search(text, &a);
    check_mentions(text, &a);
    check_match(text, &a);
    if (!library_load(library, text, LIBRARY_AS_TOOL, true, NULL, &a, &loaded,
                      &e) &&
        e.code != ERR_NOT_FOUND)
        abort();
    return 0;
}

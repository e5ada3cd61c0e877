#include "base/arena.h"
#include "base/str.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

TEST(memory_is_zeroed_and_aligned)
{
    static const size_t sizes[] = {0,    1,    15,     16,      17,
                                   4095, 4096, 300000, 1 << 20, 3};
    struct arena a = {0};

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *p = arena_alloc(&a, sizes[i]);
        bool zero = true;

        CHECK(p && ((uintptr_t)p & 15) == 0);
        for (size_t k = 0; k < sizes[i]; k++)
            zero &= p[k] == 0;
        CHECK(zero);
        memset(p, 0xff, sizes[i]);
    }
    CHECK(a.bytes >= 1 << 20);
    arena_done(&a);
    CHECK(a.blocks == NULL && a.bytes == 0);
    arena_done(&a);
    CHECK(arena_alloc(&a, 8) != NULL); /* usable again */
    arena_done(&a);
}

TEST(allocations_do_not_overlap)
{
    struct arena a = {0};
    unsigned char *p[500];
    bool kept = true;

    for (size_t i = 0; i < 500; i++) {
        p[i] = arena_alloc(&a, i);
        memset(p[i], (int)(i & 0xff), i);
    }
    for (size_t i = 0; i < 500; i++)
        for (size_t k = 0; k < i; k++)
            kept &= p[i][k] == (i & 0xff);
    CHECK(kept);
    arena_done(&a);
}

TEST(arrays_grow_by_doubling)
{
    struct arena a = {0};
    size_t capacity = 0;
    int *items = NULL;
    bool kept = true;

    for (int i = 0; i < 1000; i++) {
        items = arena_grow(&a, items, (size_t)i, &capacity, sizeof *items);
        items[i] = i;
    }
    for (int i = 0; i < 1000; i++)
        kept &= items[i] == i;
    CHECK(kept && capacity == 1024);
    arena_done(&a);
}

TEST(texts_are_copied_with_a_nul)
{
    struct arena a = {0};
    struct str s;

    CHECK_STR(arena_text(&a, "abcdef", 3), "abc");
    CHECK_STR(arena_text(&a, NULL, 0), "");
    s = arena_str(&a, str_make("a\0b", 3));
    CHECK(s.n == 3 && memcmp(s.p, "a\0b", 4) == 0);
    s = arena_printf(&a, "%s-%0*d", "x", 5000, 7);
    CHECK(s.n == 5002 && s.p[s.n] == '\0' && s.p[s.n - 1] == '7');
    CHECK(arena_new(&a, struct str)->p == NULL);
    arena_done(&a);
}

static int code_of(void (*play)(void))
{
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        close(2);
        play();
        _exit(0);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void overflow_product(void)
{
    struct arena a = {0};

    arena_array(&a, SIZE_MAX / 2, 3);
}

static void ask_too_much(void)
{
    struct arena a = {0};

    arena_alloc(&a, SIZE_MAX - 3);
}

/* [row 30] no integer wraps into a small allocation. */
TEST(an_exhausted_heap_ends_the_program)
{
    CHECK(code_of(overflow_product) == 1);
    CHECK(code_of(ask_too_much) == 1);
}

TEST(the_heap_outside_arenas)
{
    char *p = heap_alloc(0);

    CHECK(p != NULL);
    p = heap_resize(p, 100);
    memset(p, 1, 100);
    p = heap_resize(p, 0);
    CHECK(p != NULL);
    heap_free(p);
    heap_free(NULL);
}

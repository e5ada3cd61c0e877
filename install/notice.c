#include "notice.h"

#include "base/path.h"

#include <stdlib.h>

#define NAMES_MAX_SHOWN 3 /* names listed in one line */
#define LINES_MAX_ALIKE 3 /* lines with the same code and different texts */

void notice_init(struct notices *n, struct arena *a)
{
    *n = (struct notices){.arena = a};
}

void notice_add(struct notices *n, struct str code, struct str origin,
                struct str message)
{
    struct arena *a = n->arena;

    n->items =
        arena_grow(a, n->items, n->count, &n->capacity, sizeof *n->items);
    n->items[n->count++] = (struct notice){
        arena_str(a, code), arena_str(a, origin), arena_str(a, message)};
}

size_t notice_count(const struct notices *n)
{
    return n->reported + n->count;
}

static int by_code(const void *x, const void *y)
{
    const struct notice *p = x, *q = y;
    int order = str_cmp(p->code, q->code);

    if (order == 0)
        order = str_cmp(p->message, q->message);
    if (order == 0)
        order = str_cmp(path_last(p->origin), path_last(q->origin));
    return order ? order : str_cmp(p->origin, q->origin);
}

static void report_one(struct context *cx, const struct notice *n)
{
    if (n->origin.n)
        context_warn(cx, "%.*s: %.*s", STR_ARG(n->origin), STR_ARG(n->message));
    else
        context_warn(cx, "%.*s", STR_ARG(n->message));
}

/* Reports the same text for `count` packages. */
static void report_same(struct context *cx, const struct notice *n,
                        size_t count)
{
    CLEANUP(buf_done) struct buf names = {0};
    size_t shown = 0, all = 0;

    buf_init(&names, 64 * 1024);
    for (size_t i = 0; i < count; i++) {
        /* the same package with two origins is listed once */
        if (i && str_eq(path_last(n[i].origin), path_last(n[i - 1].origin)))
            continue;
        if (++all <= NAMES_MAX_SHOWN) {
            buf_printf(&names, "%s%.*s", shown ? ", " : "",
                       STR_ARG(path_last(n[i].origin)));
            shown++;
        }
    }
    if (shown < all)
        buf_printf(&names, " and %zu more", all - shown);
    if (all == 1 || n->origin.n == 0)
        report_one(cx, n);
    else
        context_warn(cx, "%zu packages: %.*s (%.*s)", all, STR_ARG(n->message),
                     STR_ARG(buf_str(&names)));
}

/* Returns the number of notices from the first on with the same text. */
static size_t same_run(const struct notice *n, size_t count)
{
    size_t i = 1;

    while (i < count && str_eq(n[i].code, n->code) &&
           str_eq(n[i].message, n->message))
        i++;
    return i;
}

/* Reports the notices of one code. */
static void report_alike(struct context *cx, const struct notice *n,
                         size_t count)
{
    size_t lines = 0;

    for (size_t i = 0, run; i < count; i += run) {
        run = same_run(n + i, count - i);
        if (n->code.n && lines == LINES_MAX_ALIKE && run < count - i) {
            context_warn(cx, "%zu more packages like that (-v shows each)",
                         count - i);
            return;
        }
        report_same(cx, n + i, run);
        lines++;
    }
}

void notice_report(struct notices *n, struct context *cx)
{
    if (n->count)
        qsort(n->items, n->count, sizeof *n->items, by_code);
    for (size_t i = 0, run; i < n->count; i += run) {
        run = 1;
        if (cx->is_verbose) {
            report_one(cx, &n->items[i]);
            continue;
        }
        while (i + run < n->count &&
               str_eq(n->items[i + run].code, n->items[i].code))
            run++;
        report_alike(cx, n->items + i, run);
    }
    n->reported += n->count;
    n->count = 0;
}

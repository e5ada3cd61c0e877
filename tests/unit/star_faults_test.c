#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "core/error.h"
#include "core/heap.h"
#include "tap.h"

/*
 * Memory ends at every place where it can: the k-th time the system is asked
 * for some, the k-th allocation, and under a limit of k pages. Each time there
 * is a clean error, and the interpreter goes on. The Makefile links this test
 * so that the functions below stand before the real ones.
 */

static long countdown = -1; /* 0: this one fails */
static bool failed;

static bool fails_now(void)
{
    if (countdown < 0 || countdown-- > 0)
        return false;
    failed = true;
    return true;
}

void *__real_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at);
void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at);
void *__wrap_mmap(void *p, size_t n, int prot, int flags, int fd, off_t at)
{
    return fails_now() ? MAP_FAILED : __real_mmap(p, n, prot, flags, fd, at);
}

void *__real_mremap(void *p, size_t old, size_t n, int flags, ...);
void *__wrap_mremap(void *p, size_t old, size_t n, int flags, ...);
void *__wrap_mremap(void *p, size_t old, size_t n, int flags, ...)
{
    return fails_now() ? MAP_FAILED : __real_mremap(p, old, n, flags);
}

void *__real_malloc(size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_malloc(size_t n)
{
    return fails_now() ? NULL : __real_malloc(n);
}

static long allocations = -1;

static bool allocation_fails(struct star *s, size_t size)
{
    if (allocations < 0 || allocations-- > 0)
        return false;
    failed = true;
    sl_fail_memory(s, size);
    return true;
}

void *__real_sl_alloc(struct star *s, enum sl_type t, size_t n);
void *__wrap_sl_alloc(struct star *s, enum sl_type t, size_t n);
void *__wrap_sl_alloc(struct star *s, enum sl_type t, size_t n)
{
    return allocation_fails(s, n) ? NULL : __real_sl_alloc(s, t, n);
}

void *__real_sl_alloc_part(struct star *s, enum sl_type t, size_t n, size_t z);
void *__wrap_sl_alloc_part(struct star *s, enum sl_type t, size_t n, size_t z);
void *__wrap_sl_alloc_part(struct star *s, enum sl_type t, size_t n, size_t z)
{
    return allocation_fails(s, n) ? NULL : __real_sl_alloc_part(s, t, n, z);
}

void *__real_sl_storage(struct star *s, size_t n);
void *__wrap_sl_storage(struct star *s, size_t n);
void *__wrap_sl_storage(struct star *s, size_t n)
{
    return allocation_fails(s, n) ? NULL : __real_sl_storage(s, n);
}

void *__real_sl_storage_resize(struct star *s, void *p, size_t old, size_t n);
void *__wrap_sl_storage_resize(struct star *s, void *p, size_t old, size_t n);
void *__wrap_sl_storage_resize(struct star *s, void *p, size_t old, size_t n)
{
    return allocation_fails(s, n) ? NULL
                                  : __real_sl_storage_resize(s, p, old, n);
}

/* --- what runs --------------------------------------------------------------------- */

static const char mixed[] =
    "def gen(n, *rest, sep = \"-\", **more):\n"
    "    def inner(x):\n"
    "        return x + n\n"
    "    return [inner(i) for i in range(n)] + list(rest) + list(more)\n"
    "def parse(text):\n"
    "    out = {}\n"
    "    for line in text.splitlines():\n"
    "        k, _, v = line.partition(\"=\")\n"
    "        out.setdefault(k.strip(), []).append(v.strip().upper())\n"
    "    return out\n"
    "D = {(i, str(i)): [i] * 3 for i in range(20)}\n"
    "def run(x):\n"
    "    a = gen(9, 1.5e300, 2, a = 1, b = 2)\n"
    "    b = parse(\"a=1\\nb = 2\\r\\na= 3\\n\" * 3)\n"
    "    c = sorted(b.items(), key = lambda kv: kv[0], reverse = True)\n"
    "    d = set([1, 2, 3]) | set([4]) - set([1]) ^ set([9])\n"
    "    e = \"%s %d %r %x %f\" % (a, 7, b, 255, 1.5)\n"
    "    f = \"{} {x} {0!r}\".format(c, x = d) if False else "
    "\"{} {x}\".format(c, x = d)\n"
    "    g = (1 << 300) * 3 // 7 + int(\"9\" * 60) - (5 << 90) % 1000007\n"
    "    h = [str(g), hash(\"x\"), max(3, 1, 2), min([4, 2]), len(e)]\n"
    "    i = \",\".join([str(j) for j in range(40)]).split(\",\")\n"
    "    j = dict(zip(i, range(40)), extra = enumerate(i))\n"
    "    k = \"\"\n"
    "    for n in range(50):\n"
    "        k += \"some piece of text \" + str(n)\n"
    "    l = k.replace(\"piece\", \"part\").title().count(\"P\")\n"
    "    m = [b\"bytes\" + b\"x\", bytes(\"h\"), bytes([1, 2]), b\"ab\"[0]]\n"
    "    n = list(reversed(a)) + [v for v in \"abc\".elems()]\n"
    "    o = [p for q in D.values() for p in q if p % 2]\n"
    "    b.update([(\"z\", 1)], y = 2)\n"
    "    b |= {\"w\": 3}\n"
    "    b.pop(\"z\")\n"
    "    r = json.decode(json.encode([x, c, o, 1.5, \"\\u00e9\"]))\n"
    "    t = json.encode_indent(r, indent = \"  \")\n"
    "    u = [getattr(\"x\", \"upper\")(), dir([])[0], type(run), repr(run)]\n"
    "    w = host(a = [1], b = (2, 3))\n"
    "    print(e, f, h)\n"
    "    return [a, e, f, h, len(j), l, repr(m), n, o, r, t, u, w, k[3:40:3], "
    "x]\n";

static const char big[] =
    "def run(x):\n"
    "    a = list(range(400000))\n"
    "    b = \"x\" * 2000000 + \"y\"\n"
    "    c = tuple(a)\n"
    "    d = {i: i for i in range(60000)}\n"
    "    e = []\n"
    "    for i in range(300000):\n"
    "        e.append(i)\n"
    "    return [len(a), len(b), len(c), len(d), len(e)]\n";

static bool swallow(void *ctx, const char *text, size_t length)
{
    (void)ctx;
    (void)text;
    (void)length;
    return true;
}

static star_value from_json(struct star *s, const char *text)
{
    return star_from_json(s, text, strlen(text));
}

static star_value host(struct star *s, const struct star_args *a)
{
    star_value v[2], pair[2];

    if (!star_unpack(s, a, "host", "a, b", v))
        return STAR_INVALID;
    pair[0] = from_json(s, "{\"k\": [1, 2, {\"l\": \"m\"}]}");
    pair[1] = pair[0] ? star_to_json(s, pair[0]) : STAR_INVALID;
    if (!pair[1])
        return STAR_INVALID;
    return star_tuple(s, pair, 2);
}

/* All of it; false when some call failed, which then has an error. */
static bool use(struct star *s, const char *source)
{
    struct star_program *p;
    struct star_module *m;
    star_value in, out;

    if (!star_register(s, "host", host, NULL) ||
        !(p = star_compile(s, "f.star", source, strlen(source))) ||
        !(m = star_run(s, p)))
        return false;
    in = from_json(s, "{\"a\": [1, 2.5, \"x\"]}");
    out = in ? star_call(s, star_global(m, "run"), &in, 1, NULL, 0) : 0;
    return out && star_keep(s, out) && star_to_json(s, out) &&
           star_repr(s, out) && star_freeze(s, out);
}

static struct star *open_with(size_t memory)
{
    struct star_options o = {
        .limits.memory_bytes = memory, .print = swallow, .json = true};

    return star_open(&o);
}

/* One use, in which memory ends somewhere; and then one in which it does not. */
static void check_one(struct star *s, const char *source, long k)
{
    bool ok;

    if (!s)
        return;
    ok = use(s, source);
    if (!ok && star_error(s) != STAR_ERROR_MEMORY) {
        CHECK(false);
        printf("# at %ld: %s\n", k, star_error_report(s));
    }
    if (!ok)
        CHECK(strstr(star_error_report(s), "memory"));
    countdown = allocations = -1;
    ok = star_string(s, "another text that needs some room", 33) != 0;
    if (failed)
        CHECK(ok);
    if (failed && !use(s, source)) {
        CHECK(false);
        printf("# after %ld: %s\n", k, star_error_report(s));
    }
}

TEST(the_program_runs_where_nothing_fails)
{
    struct star *s = open_with(0);

    CHECK(use(s, mixed));
    if (star_error(s))
        printf("# %s\n", star_error_report(s));
    CHECK(use(s, big));
    star_close(s);
}

TEST(the_system_has_no_more)
{
    static const char *const sources[] = {mixed, big};

    for (size_t i = 0; i < 2; i++) {
        long k = -1;

        do {
            struct star *s;

            failed = false;
            countdown = ++k;
            s = open_with(0);
            check_one(s, sources[i], k);
            countdown = -1;
            star_close(s);
        } while (failed);
        printf("# %ld requests\n", k);
        CHECK(k >= 3);
    }
}

/* Where allocations have a fast way that needs no call (all builds but those
 * with sanitizers) only those that need one are met. */
TEST(each_allocation_fails_once)
{
    long k = -1;

    do {
        struct star *s = open_with(0);

        failed = false;
        allocations = ++k;
        check_one(s, mixed, k);
        allocations = -1;
        star_close(s);
    } while (failed);
    printf("# %ld allocations\n", k);
    CHECK(k > 200);
}

TEST(every_limit_up_to_what_it_takes)
{
    bool ok = false;

    for (size_t pages = 1; !ok && pages < 500; pages++) {
        struct star *s = open_with(pages * 4096);

        failed = false;
        if (!s)
            continue;
        ok = use(s, mixed);
        if (!ok)
            CHECK(star_error(s) == STAR_ERROR_MEMORY);
        if (!ok && star_error(s) != STAR_ERROR_MEMORY)
            printf("# %zu pages: %s\n", pages, star_error_report(s));
        CHECK(star_usage(s).memory_peak_bytes <= pages * 4096);
        if (ok)
            printf("# %zu KiB do\n", pages * 4);
        star_close(s);
    }
    CHECK(ok);
}

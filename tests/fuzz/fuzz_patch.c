/* base/patch and base/diff: any patch of any text; what was written is read and
 * makes the same text; three texts are merged [D5]. */
#include "base/diff.h"
#include "base/fs.h"
#include "base/patch.h"
#include "base/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool ok)
{
    if (!ok)
        abort();
}

/* Any text as a patch: what is read can be relied on. */
static void read_any(struct str text, struct str before, struct arena *a)
{
    struct err e = {0};
    struct patch p;
    struct str out, x, y;

    if (!patch_parse(text, "x", a, &p, &e)) {
        check(err_first(&e)[0]);
        return;
    }
    check(p.count <= PATCH_MAX_FILES);
    for (size_t i = 0; i < p.count; i++) {
        check(fs_path_is_relative_clean(p.changes[i].path) &&
              text_is_utf8(p.changes[i].path) &&
              !text_has_control(p.changes[i].path));
        bool fits = patch_fit(&p.changes[i], before, a, &x, &y);

        err_clear(&e);
        if (!patch_apply(&p.changes[i], before, a, &out, &e)) {
            check(err_first(&e)[0]);
            continue;
        }
        check(!p.changes[i].is_gone || out.n == 0);
        if (fits) /* at the only place there is */
            check(str_eq(x, before) && str_eq(y, out));
    }
}

/* A text that became another: read back, the patch makes it of the first. */
static void round_trip(struct str before, struct str after, struct arena *a)
{
    struct patch_file f = {.path = STR("a b/\"c"),
                           .before = {PATCH_FILE, before, false},
                           .after = {PATCH_FILE, after, false}};
    struct err e = {0};
    struct patch p;
    struct str out;
    struct buf b;

    buf_init(&b, PATCH_MAX_BYTES);
    patch_format(&f, &b);
    if (!b.overflowed && !patch_is_binary(&f)) {
        check(patch_parse(buf_str(&b), "x", a, &p, &e));
        check(p.count == !str_eq(before, after));
        if (p.count) {
            check(str_eq(p.changes[0].path, f.path));
            check(patch_apply(&p.changes[0], before, a, &out, &e));
            check(str_eq(out, after));
        }
    }
    buf_done(&b);
}

static size_t merge(struct str base, struct str ours, struct str theirs,
                    struct arena *a, struct str *out)
{
    struct buf b;
    size_t conflicts;

    buf_init(&b, PATCH_MAX_BYTES);
    conflicts = diff_merge(base, ours, theirs, "ours", "theirs", &b);
    *out = arena_str(a, buf_str(&b));
    buf_done(&b);
    return conflicts;
}

static void merge_any(struct str base, struct str ours, struct str theirs,
                      struct arena *a)
{
    struct str x, y;

    check(merge(base, base, theirs, a, &x) == 0 && str_eq(x, theirs));
    check(merge(base, ours, base, a, &x) == 0 && str_eq(x, ours));
    check(merge(base, ours, ours, a, &x) == 0 && str_eq(x, ours));
    if (merge(base, ours, theirs, a, &x) == 0)
        check(merge(base, theirs, ours, a, &y) == 0 && str_eq(x, y));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size}, parts[3];
    struct arena a = {0};

    if (size > 1u << 16)
        return 0;
    for (size_t i = 0; i < 3; i++) {
        size_t end = str_find_char(text, '\1');

        parts[i] = str_slice(text, 0, end == SIZE_MAX ? text.n : end);
        text = str_from_index(text, end == SIZE_MAX ? text.n : end + 1);
    }
    read_any(parts[0], parts[1], &a);
    round_trip(parts[0], parts[1], &a);
    merge_any(parts[0], parts[1], parts[2], &a);
    arena_done(&a);
    return 0;
}

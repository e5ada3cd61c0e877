/* Trees and walks through them. [row 1, row 2, row 3, row 4, row 30]. */

#include "base/buf.h"
#include "base/path.h"
#include "mapm/limits.h"

#include <stdlib.h>
#include <string.h>

#include "../../fetch/worker/tree.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define OBJECTS_MAX 64

/* What passes tree_check can be written: its names are good and different. */
static void check_folder(struct str bytes)
{
    static struct err e;
    struct tree_entry entry;
    struct str before = {"", 0};

    if (!tree_check(bytes, &e)) {
        outcome_err(&e);
        return;
    }
    while (bytes.n) {
        if (!tree_next(&bytes, &entry, &e) ||
            !path_check_name(entry.name, &e) || str_eq(entry.name, before) ||
            entry.kind == TREE_SUBMODULE || entry.kind == TREE_ODD)
            abort();
        before = entry.name;
        outcome_str("entry", entry.name);
    }
}

struct input {
    const uint8_t *p, *end;
};

static uint8_t take(struct input *in)
{
    return in->p < in->end ? *in->p++ : 0;
}

static struct str take_text(struct input *in, size_t n)
{
    struct str s;

    if (n > (size_t)(in->end - in->p))
        n = (size_t)(in->end - in->p);
    s = str_make((const char *)in->p, n);
    in->p += n;
    return s;
}

/* Ids need not be hashes here: they are the numbers of the objects, so that
 * trees may even contain themselves. */
static struct oid number(uint8_t n)
{
    struct oid id = {{0}};

    id.b[0] = n % OBJECTS_MAX;
    return id;
}

static void make_tree(struct input *in, struct buf *out)
{
    static const char *const modes[] = {"40000",  "100644", "100755", "120000",
                                        "160000", "100664", "104755", "40000"};

    for (unsigned n = take(in) % 16; n; n--) {
        uint8_t what = take(in);
        struct oid id = number(take(in));
        struct str name = take_text(in, 1 + take(in) % 4);

        buf_printf(out, "%s ", modes[what % 8]);
        buf_append(out, name.n ? name : STR("x"));
        buf_char(out, '\0');
        buf_append(out, str_make((const char *)id.b, OID_BYTES));
    }
}

static void make_objects(struct input *in, struct objects *objects)
{
    for (unsigned i = 0; i < OBJECTS_MAX && in->p < in->end; i++) {
        struct oid id = number((uint8_t)i);
        uint8_t what = take(in);
        CLEANUP(buf_done) struct buf b;

        buf_init(&b, 4096);
        if (what & 1) {
            objects_put(objects, OBJECT_BLOB, &id,
                        take_text(in, what >> 1 & 31));
        } else if (what & 2) {
            make_tree(in, &b);
            objects_put(objects, OBJECT_TREE, &id, buf_str(&b));
        }
    }
}

static void check_listing(const struct tree_listing *l)
{
    static struct err e;

    if (l->count > PACKAGE_MAX_FILES)
        abort();
    for (size_t i = 0; i < l->count; i++) {
        outcome_str("file", l->files[i].path);
        if (!path_check(l->files[i].path, PACKAGE_PATH_MAX_BYTES, &e))
            abort();
        if (i && str_cmp(l->files[i - 1].path, l->files[i].path) >= 0)
            abort();
    }
}

static void walk(struct input *in, struct arena *a)
{
    static struct err e;
    struct tree_listing listing;
    struct tree_index index;
    struct objects objects;
    struct oid_set wants;
    struct tree_source s = {
        .objects = &objects, .root = number(0), .limits = &limits_default};
    struct str path = take_text(in, take(in) % 32);
    bool has_index = take(in) & 1;

    tree_index_init(&index, a);
    if (has_index)
        s.index = &index;
    objects_init(&objects, a);
    oid_set_init(&wants, a);
    make_objects(in, &objects);
    if (!tree_list(&s, path, &wants, a, &listing, &e)) {
        outcome_err(&e);
        if (e.code == ERR_NONE || !err_first(&e)[0])
            abort();
        return;
    }
    OUTCOME("%d wants", (int)listing.kind);
    for (size_t i = 0; i < oid_set_count(&wants); i++)
        OUTCOME(" %d", oid_set_get(&wants, i)->b[0]);
    if (listing.kind == TREE_UNKNOWN && oid_set_count(&wants) == 0)
        abort();
    check_listing(&listing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct input in = {data, data + size};
    struct arena a = {0};

    if (take(&in) & 1)
        check_folder(take_text(&in, size));
    else
        walk(&in, &a);
    arena_done(&a);
    return 0;
}

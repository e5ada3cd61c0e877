/*
 * What a store sends as a proof: no object enters under an id that is not its own,
 * and no commit has trees without its root. And the stores among the options: what
 * is taken is written again the same. [S1, row 30]
 *
 * Input: a byte, then the options; or objects, each a byte of type (0x80: under a
 * wrong name), a byte of length / 8 and its bytes.
 */

#include "mapm/team_object.h"

#include <git2.h>

#include "../../fetch/store_frame.h"
#include "../../fetch/worker/team_store.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FILES_MAX 64

static void check_options(struct str bytes, struct arena *a)
{
    struct fields in = fields_of(bytes);
    struct team_remotes list, again;
    struct buf b;

    if (!field_stores(&in, a, &list))
        return;
    buf_init(&b, 1u << 20);
    frame_stores(&b, &list);
    in = fields_of(buf_str(&b));
    if (list.count > TEAM_REMOTES_MAX || !field_stores(&in, a, &again) ||
        !fields_end(&in) || again.count != list.count ||
        again.only != list.only)
        __builtin_trap();
    for (size_t i = 0; i < list.count; i++)
        outcome_str("store", list.items[i].url);
    for (size_t i = 0; i < list.count; i++)
        if (!str_eq(list.items[i].url, again.items[i].url))
            __builtin_trap();
    buf_done(&b);
}

static size_t read_objects(struct str in, struct arena *a,
                           struct archive_file *f, struct oid *commit)
{
    size_t n = 0;

    while (n < FILES_MAX && in.n >= 2) {
        enum object_type type =
            (enum object_type)(1 + (unsigned char)in.p[0] % 3);
        bool is_wrong = in.p[0] & 0x80;
        struct str bytes =
            str_slice(in, 2, 2 + 8 * (size_t)(unsigned char)in.p[1]);
        char hex[OID_HEX_CHARS + 1];
        struct oid id;
        struct err e = {0};

        in = str_from_index(in, 2 + bytes.n);
        if (!oid_of(type, bytes, &id, &e))
            continue;
        if (type == OBJECT_COMMIT)
            *commit = id;
        id.b[0] ^= is_wrong;
        oid_format(&id, hex);
        f[n++] =
            (struct archive_file){arena_str(a, str_cstr(hex)), bytes, false};
    }
    return n;
}

static void check_objects(const struct repo *r)
{
    for (size_t i = 0; i < r->objects.map.count; i++) {
        const struct object *o = r->objects.map.entries[i].value;
        struct err e = {0};
        struct oid id;

        if (!oid_of(o->type, o->bytes, &id, &e) || !oid_eq(&id, &o->id))
            __builtin_trap();
    }
}

static void check_proof(struct str bytes, struct arena *a)
{
    struct archive_file files[FILES_MAX];
    struct oid commit = {{0}};
    size_t count = read_objects(bytes, a, files, &commit);
    struct repo r = {0};
    struct snapshot *s;
    struct err e = {0};
    struct buf gz;

    buf_init(&gz, 1u << 20);
    objects_init(&r.objects, &r.arena);
    if (team_object_write(files, count, &gz, NULL, &e)) {
        struct team_proof p = {
            .repo = &r, .commit = commit, .limits = &team_proof_limits, .a = a};
        bool ok = team_verify_proof(&p, buf_str(&gz), &e);
        uint64_t sum = 0;

        for (size_t i = 0; ok && i < p.tree_count; i++)
            sum += p.trees[i].size;
        OUTCOME("%zu %llu\n", ok ? p.tree_count : 0, (unsigned long long)sum);
        if (!ok)
            outcome_err(&e);
        if (sum > p.limits->max_bytes)
            __builtin_trap();
        s = snapshot_get(&r, &commit);
        team_trees_use(&r, s);
        if ((s->trees == TREES_HERE && !objects_find(&r.objects, &s->root)) ||
            (ok && !objects_find(&r.objects, &commit)) ||
            (!ok && e.code == ERR_NONE))
            __builtin_trap();
        check_objects(&r);
    }
    buf_done(&gz);
    arena_done(&r.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct str in = str_make((const char *)data, size);

    git_libgit2_init();
    if (size && data[0] == 'o')
        check_options(str_from_index(in, 1), &a);
    else if (size)
        check_proof(str_from_index(in, 1), &a);
    arena_done(&a);
    return 0;
}

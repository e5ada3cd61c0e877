#include "objects.h"

#include "base/invariant.h"

#include <git2.h>
#include <string.h>

bool oid_eq(const struct oid *a, const struct oid *b)
{
    return memcmp(a->b, b->b, OID_BYTES) == 0;
}

bool oid_is_zero(const struct oid *id)
{
    static const struct oid zero;

    return oid_eq(id, &zero);
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool oid_parse(struct str hex, struct oid *out)
{
    struct oid id;

    if (hex.n != OID_HEX_CHARS)
        return false;
    for (size_t i = 0; i < OID_BYTES; i++) {
        int high = hex_digit(hex.p[2 * i]);
        int low = hex_digit(hex.p[2 * i + 1]);

        if (high < 0 || low < 0)
            return false;
        id.b[i] = (uint8_t)(high * 16 + low);
    }
    *out = id;
    return true;
}

void oid_format(const struct oid *id, char out[OID_HEX_CHARS + 1])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < OID_BYTES; i++) {
        out[2 * i] = digits[id->b[i] >> 4];
        out[2 * i + 1] = digits[id->b[i] & 15];
    }
    out[OID_HEX_CHARS] = '\0';
}

static const char *const type_names[] = {
    [OBJECT_COMMIT] = "commit",
    [OBJECT_TREE] = "tree",
    [OBJECT_BLOB] = "blob",
    [OBJECT_TAG] = "tag",
};

const char *object_type_name(enum object_type type)
{
    return type_names[type];
}

bool oid_of(enum object_type type, struct str bytes, struct oid *out,
            struct err *e)
{
    git_oid id;

    /* enum object_type has the values of git_object_t, which are the pack
     * format's. */
    if (git_odb_hash(&id, bytes.p ? bytes.p : "", bytes.n, (git_object_t)type) <
        0) {
        const git_error *why = git_error_last();

        return err_set(e, ERR_DAMAGED, "cannot compute the id of a %s: %s",
                       object_type_name(type), why ? why->message : "unknown");
    }
    memcpy(out->b, id.id, OID_BYTES);
    return true;
}

static struct str key_of(const struct oid *id)
{
    return str_make((const char *)id->b, OID_BYTES);
}

void objects_init(struct objects *o, struct arena *a)
{
    map_init(&o->map, a);
}

const struct object *objects_find(const struct objects *o, const struct oid *id)
{
    return map_find(&o->map, key_of(id));
}

bool objects_find_type(const struct objects *o, const struct oid *id,
                       enum object_type type, const struct object **out,
                       struct err *e)
{
    const struct object *found = objects_find(o, id);
    char hex[OID_HEX_CHARS + 1];

    if (found && found->type != type) {
        oid_format(id, hex);
        return err_set(e, ERR_DAMAGED, "object %s is a %s, not a %s", hex,
                       object_type_name(found->type), object_type_name(type));
    }
    *out = found;
    return true;
}

void objects_put(struct objects *o, enum object_type type, const struct oid *id,
                 struct str bytes)
{
    struct object *object;

    if (objects_find(o, id))
        return;
    object = arena_new(o->map.arena, struct object);
    *object = (struct object){
        .id = *id, .type = type, .bytes = arena_str(o->map.arena, bytes)};
    map_put(&o->map, key_of(&object->id), object);
}

void oid_set_init(struct oid_set *s, struct arena *a)
{
    map_init(&s->map, a);
}

bool oid_set_has(const struct oid_set *s, const struct oid *id)
{
    return map_has(&s->map, key_of(id));
}

bool oid_set_put(struct oid_set *s, const struct oid *id)
{
    struct oid *copy;

    if (oid_set_has(s, id))
        return false;
    copy = arena_new(s->map.arena, struct oid);
    *copy = *id;
    return map_put(&s->map, key_of(copy), copy);
}

size_t oid_set_count(const struct oid_set *s)
{
    return s->map.count;
}

const struct oid *oid_set_get(const struct oid_set *s, size_t i)
{
    INVARIANT(i < s->map.count);
    return s->map.entries[i].value;
}

/* Parses a line "<word> <oid>". */
static bool parse_id_line(struct str line, struct str word, struct oid *out)
{
    return str_starts(line, word) &&
           oid_parse(str_from_index(line, word.n), out);
}

bool commit_tree(struct str commit, struct oid *tree, struct err *e)
{
    struct str rest = commit, line;

    if (!commit.n || !str_cut(&rest, '\n', &line) ||
        !parse_id_line(line, STR("tree "), tree))
        return err_set(e, ERR_DAMAGED, "a commit that names no tree");
    return true;
}

bool commit_next_parent(struct str commit, size_t *at, struct oid *parent)
{
    /* Each header line "tree <oid>" or "parent <oid>" has a fixed width. */
    const size_t tree_line = 5 + OID_HEX_CHARS + 1;
    const size_t parent_line = 7 + OID_HEX_CHARS + 1;
    struct str line;

    if (*at == 0)
        *at = tree_line;
    if (commit.n < *at + parent_line)
        return false;
    line = str_slice(commit, *at, *at + parent_line - 1);
    if (commit.p[*at + parent_line - 1] != '\n' ||
        !parse_id_line(line, STR("parent "), parent))
        return false;
    *at += parent_line;
    return true;
}

bool objects_lead_to(const struct objects *o, const struct oid *tip,
                     const struct oid *id)
{
    struct arena a = {0};
    struct oid_set reached;
    bool leads = false;

    /* The set also serves as the queue: ids after index `i` are pending. */
    oid_set_init(&reached, &a);
    oid_set_put(&reached, tip);
    for (size_t i = 0; i < oid_set_count(&reached) && !leads; i++) {
        const struct oid *at = oid_set_get(&reached, i);
        const struct object *commit = objects_find(o, at);
        struct oid parent;
        size_t offset = 0;

        leads = oid_eq(at, id);
        if (!commit || commit->type != OBJECT_COMMIT)
            continue;
        while (commit_next_parent(commit->bytes, &offset, &parent))
            oid_set_put(&reached, &parent);
    }
    arena_done(&a);
    return leads;
}

bool blob_is_lfs_pointer(struct str blob)
{
    return blob.n < 1024 &&
           str_starts(blob, STR("version https://git-lfs.github.com/spec/v1"));
}

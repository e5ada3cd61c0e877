#include "tree.h"

#include "base/path.h"
#include "base/text.h"

#include <string.h>

#include "quote.h"

#define MODE_MAX_DIGITS 7

static enum tree_kind kind_of(uint32_t mode)
{
    switch (mode) {
    case 040000:
        return TREE_FOLDER;
    case 0100644:
    case 0100664: /* written by old versions of git: the same as 644 */
        return TREE_FILE;
    case 0100755:
        return TREE_PROGRAM;
    case 0120000:
        return TREE_LINK;
    case 0160000:
        return TREE_SUBMODULE;
    default:
        return TREE_ODD;
    }
}

static bool read_mode(struct str digits, uint32_t *out)
{
    uint32_t mode = 0;

    if (digits.n == 0 || digits.n > MODE_MAX_DIGITS)
        return false;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '7')
            return false;
        mode = mode * 8 + (uint32_t)(digits.p[i] - '0');
    }
    *out = mode;
    return true;
}

bool tree_next(struct str *rest, struct tree_entry *out, struct err *e)
{
    struct str head = str_slice(*rest, 0, MODE_MAX_DIGITS + 1);
    size_t space = str_find_char(head, ' ');
    struct tree_entry entry;
    struct str after;
    size_t nul;

    if (space == SIZE_MAX || !read_mode(str_slice(head, 0, space), &entry.mode))
        return err_set(e, ERR_DAMAGED, "a tree with an entry without a mode");
    after = str_from_index(*rest, space + 1);
    nul = str_find_char(after, '\0');
    if (nul == SIZE_MAX || nul == 0 || after.n - nul - 1 < OID_BYTES)
        return err_set(e, ERR_DAMAGED, "a tree that ends inside an entry");
    entry.kind = kind_of(entry.mode);
    entry.name = str_slice(after, 0, nul);
    memcpy(entry.id.b, after.p + nul + 1, OID_BYTES);
    *rest = str_from_index(after, nul + 1 + OID_BYTES);
    *out = entry;
    return true;
}

/* --- folders -------------------------------------------------------------- */

/* git sorts folders as if their names ended in "/". */
static int order(const struct tree_entry *a, const struct tree_entry *b)
{
    size_t n = a->name.n < b->name.n ? a->name.n : b->name.n;
    int by_bytes = memcmp(a->name.p, b->name.p, n);
    unsigned char x, y;

    if (by_bytes)
        return by_bytes;
    x = a->name.n > n            ? (unsigned char)a->name.p[n]
        : a->kind == TREE_FOLDER ? '/'
                                 : 0;
    y = b->name.n > n            ? (unsigned char)b->name.p[n]
        : b->kind == TREE_FOLDER ? '/'
                                 : 0;
    return x - y;
}

static bool check_kind(const struct tree_entry *entry, struct err *e)
{
    struct quote q;

    if (entry->kind == TREE_SUBMODULE) {
        err_set(e, ERR_REFUSED,
                "\"%s\" is a submodule, and its files are in "
                "another repository",
                quote(&q, entry->name));
        return err_hint(e, "ask its author to put the files themselves there");
    }
    if (entry->kind == TREE_ODD)
        return err_set(e, ERR_REFUSED, "\"%s\" has the unknown mode %o",
                       quote(&q, entry->name), entry->mode);
    return true;
}

static bool check_twin(struct map *keys, struct arena *a, struct str name,
                       struct err *e)
{
    struct map_entry *key = map_entry(keys, text_fold(name, a));
    const struct str *before = key->value;
    struct str *kept;
    struct quote q, r;

    if (before && str_eq(*before, name))
        return err_set(e, ERR_REFUSED, "\"%s\" is there twice",
                       quote(&q, name));
    if (before)
        return err_set(e, ERR_REFUSED,
                       "\"%s\" and \"%s\" are the same name on some systems",
                       quote(&q, *before), quote(&r, name));
    kept = arena_new(a, struct str);
    *kept = name;
    key->value = kept;
    return true;
}

static bool check_entries(struct str tree, struct arena *a, struct err *e)
{
    struct tree_entry entry, before = {0};
    struct map keys;
    struct quote q;

    map_init(&keys, a);
    while (tree.n) {
        if (!tree_next(&tree, &entry, e))
            return false;
        if (!path_check_name(entry.name, e) || !check_kind(&entry, e) ||
            !check_twin(&keys, a, entry.name, e))
            return false;
        if (before.name.p && order(&before, &entry) >= 0)
            return err_set(e, ERR_REFUSED,
                           "the folder is not in git's order at \"%s\"",
                           quote(&q, entry.name));
        before = entry;
    }
    return true;
}

bool tree_check(struct str tree, struct err *e)
{
    struct arena a = {0};
    bool ok = check_entries(tree, &a, e);

    arena_done(&a);
    return ok;
}

/* mapm.lock: what is read is written again byte for byte, but for CRLF and a
 * comment on top; what is refused says where. [row 12, row 15]. */
#include "mapm/lock.h"

#include <stdlib.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What lock_format makes of the text; a file of version 2 may need 1 alone. */
static void put_canonical(struct str text, bool is_first, struct buf *out)
{
    struct str line;

    while (text.n && text.p[0] == '#')
        str_line(&text, &line);
    if (str_line(&text, &line)) {
        buf_append(out, is_first ? STR("version: 1") : line);
        buf_char(out, '\n');
    }
    while (text.n && str_line(&text, &line)) {
        buf_append(out, line);
        buf_char(out, '\n');
    }
}

static void check_entries(const struct lock *lock)
{
    for (size_t i = 0; i < lock->count; i++) {
        const struct lock_entry *entry = &lock->entries[i];
        const struct lock_entry *found =
            lock_find(lock, entry->kind, entry->name);

        /* Of several members each may have its own of a name. */
        if (!found || !str_eq(found->name, entry->name) ||
            str_find(entry->place, STR("..")) != SIZE_MAX ||
            (entry->place.n == 0) != (entry->kind == DOC_PLUGIN))
            abort();
        for (size_t k = 0; k < entry->need_count; k++)
            if (!lock_find(lock, entry->needs[k].kind, entry->needs[k].name))
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP(buf_done) struct buf out = {0};
    CLEANUP(buf_done) struct buf want = {0};
    struct str text = str_make((const char *)data, size);
    struct lock lock;
    struct err e = {0};

    if (!lock_parse(text, "l", &a, &lock, &e)) {
        outcome_err(&e);
        if (e.code == ERR_FORMAT ? !e.hint[0] : e.code != ERR_LIMIT)
            abort();
        return 0;
    }
    check_entries(&lock);
    if (!size)
        return 0;
    buf_init(&want, 2 * size + 16);
    buf_init(&out, 2 * size + 16);
    lock_format(&lock, &out);
    put_canonical(text, str_starts(buf_str(&out), STR("version: 1")), &want);
    if (!str_eq(buf_str(&out), buf_str(&want)))
        abort();
    return 0;
}

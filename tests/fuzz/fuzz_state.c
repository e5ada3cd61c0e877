/* provision/record, provision/journal: any text; what is accepted names only
 * known places and is written back as it was. [row 15, row 16]. */
#include "base/fs.h"

#include <stdlib.h>
#include <string.h>

#include "../../provision/record.h"
#include "../../provision/swap.h"
#include "../../provision/writable.h"
#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_place(struct str path)
{
    if (!fs_path_is_relative_clean(path) ||
        !(place_is_known(&client_scope_workspace, path) ||
          place_is_folder(&client_scope_workspace, path)))
        abort();
}

static void try_record(struct str text, struct arena *a)
{
    struct record r, again;
    struct buf out;

    if (!record_parse(text, &client_scope_workspace, a, &r))
        return;
    for (size_t i = 0; i < r.count; i++)
        check_place(r.entries[i].path);
    for (size_t i = 0; i < r.folder_count; i++)
        check_place(r.folders[i]);
    buf_init(&out, STATE_MAX_BYTES);
    for (size_t at = 0; record_format(&r, &at, &out);) {
    }
    if (!record_parse(buf_str(&out), &client_scope_workspace, a, &again) ||
        again.count != r.count)
        abort();
    outcome_str("record", buf_str(&out));
    buf_done(&out);
}

static void try_journal(struct str text, struct arena *a)
{
    struct swap s;
    struct journal_at at = {0};
    struct buf out;

    if (!journal_parse(text, &client_scope_workspace, a, &s))
        return;
    if (!swap_is_stage_name(s.stage_name))
        abort();
    for (size_t i = 0; i < s.count; i++)
        check_place(s.ops[i].path);
    for (size_t i = 0; i < s.lift_count; i++)
        check_place(s.lifts[i].path);
    for (size_t i = 0; i < s.make_count; i++)
        check_place(s.make[i]);
    for (size_t i = 0; i < s.drop_count; i++)
        check_place(s.drop[i]);
    buf_init(&out, JOURNAL_MAX_BYTES);
    while (journal_format(&s, &at, &out)) {
    }
    if (!journal_parse(buf_str(&out), &client_scope_workspace, a, &s))
        abort();
    outcome_str("journal", buf_str(&out));
    buf_done(&out);
}

/* The last line of a journal proves the others: made right here, or hardly
 * any input would get past it. */
static struct str with_sum(struct str text, struct arena *a)
{
    struct hash h = hash_of(text);

    return arena_printf(a, "%.*send %s\n", STR_ARG(text), hash_hex(&h, a).p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena a = {0};
    struct str text = {(const char *)data, size};

    if (size > 1u << 20)
        return 0;
    try_record(text, &a);
    try_journal(text, &a);
    if (!memchr(data, 0, size))
        try_journal(with_sum(text, &a), &a);
    arena_done(&a);
    return 0;
}

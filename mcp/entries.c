#include "entries.h"

#include <string.h>

static const char *const kind_names[ENTRY_KINDS] = {
    "call", "ask", "answer", "begin", "note", "result", "error",
};

void entries_init(struct entries *x, const struct mcp_journal *j,
                  const struct hash *digest, uint64_t began_s)
{
    struct err e;

    *x = (struct entries){.journal = j};
    ticket_new_run(x->run);
    if (!entries_add(x,
                     (struct entry){.kind = ENTRY_CALL,
                                    .text = hash_hex(digest, &x->a),
                                    .used = began_s},
                     &e))
        x->count = 0; /* small and in memory, so it cannot fail */
}

void entries_done(struct entries *x)
{
    arena_done(&x->a);
    x->items = NULL;
    x->count = x->capacity = 0;
}

static struct str format(const struct entry *n, struct buf *out)
{
    struct json_writer w;

    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    json_member_string(&w, "kind", str_cstr(kind_names[n->kind]));
    json_member_number(&w, "number", n->number);
    json_member_number(&w, "used", n->used);
    json_member_string(&w, "key", n->key);
    json_member_string(&w, "text", n->text);
    json_end_object(&w);
    return buf_str(out);
}

static bool write_one(struct entries *x, const struct entry *n, struct err *e)
{
    CLEANUP(buf_done) struct buf text = {0};

    buf_init(&text, 8 * (size_t)MCP_TASK_MAX_BYTES);
    format(n, &text);
    return buf_check(&text, "a record of the journal", e) &&
           x->journal->append(x->journal->ctx, str_cstr(x->run), buf_str(&text),
                              e);
}

static void keep(struct entries *x, struct entry n)
{
    x->bytes += n.key.n + n.text.n;
    x->items =
        arena_grow(&x->a, x->items, x->count, &x->capacity, sizeof *x->items);
    n.key = arena_str(&x->a, n.key);
    n.text = arena_str(&x->a, n.text);
    x->items[x->count++] = n;
}

bool entries_add(struct entries *x, struct entry n, struct err *e)
{
    if (x->count >= MCP_MAX_RECORDS ||
        n.key.n + n.text.n > MCP_RECORDS_MAX_BYTES - x->bytes)
        return err_set(e, ERR_LIMIT, "a call keeps at most %d records",
                       MCP_MAX_RECORDS);
    if (x->written && !write_one(x, &n, e))
        return err_wrap(e, "cannot write the journal");
    keep(x, n);
    return true;
}

bool entries_write(struct entries *x, uint64_t expires_s, struct err *e)
{
    if (!x->journal || x->written)
        return true;
    if (!x->journal->begin(x->journal->ctx, str_cstr(x->run), expires_s, e))
        return err_wrap(e, "cannot begin a journal");
    for (size_t i = 0; i < x->count; i++)
        if (!write_one(x, &x->items[i], e)) {
            x->journal->forget(x->journal->ctx, str_cstr(x->run));
            return err_wrap(e, "cannot write the journal");
        }
    x->written = true;
    return true;
}

static bool parse(struct str text, struct arena *a, struct entry *out)
{
    static const struct json_options options = {.max_depth = 2,
                                                .max_nodes = 16};
    const struct json *j, *number, *used;
    struct str kind;
    uint64_t n;
    struct err e;

    if (!json_parse(text, &options, a, &j, NULL, &e))
        return false;
    kind = json_text(json_get(j, "kind"));
    number = json_get(j, "number");
    used = json_get(j, "used");
    *out = (struct entry){.key = json_text(json_get(j, "key")),
                          .text = json_text(json_get(j, "text"))};
    while (out->kind < ENTRY_KINDS && !str_is(kind, kind_names[out->kind]))
        out->kind++;
    if (out->kind == ENTRY_KINDS || !out->key.p || !out->text.p || !number ||
        number->kind != JSON_NUMBER || !used || used->kind != JSON_NUMBER ||
        !str_number(number->text, UINT32_MAX, &n) ||
        !str_number(used->text, UINT64_MAX, &out->used))
        return false;
    out->number = (unsigned)n;
    return true;
}

bool entries_read(struct entries *x, const struct mcp_journal *j,
                  const char *run, struct err *e)
{
    const struct str *records = NULL;
    size_t count = 0;

    *x = (struct entries){.journal = j};
    stpcpy(x->run, run);
    if (!j)
        return err_set(e, ERR_NOT_FOUND, "there is no journal");
    if (!j->read(j->ctx, str_cstr(run), &x->a, &records, &count, e)) {
        entries_done(x);
        return false;
    }
    x->written = true;
    for (size_t i = 0; i < count; i++) {
        struct entry n;

        if (i >= MCP_MAX_RECORDS || !parse(records[i], &x->a, &n)) {
            entries_leave(x);
            entries_done(x);
            return err_set(e, ERR_DAMAGED, "record %zu of the journal", i);
        }
        keep(x, n);
    }
    return true;
}

void entries_leave(struct entries *x)
{
    if (x->written)
        x->journal->leave(x->journal->ctx, str_cstr(x->run));
}

void entries_end(struct entries *x)
{
    if (x->written && x->journal->ended)
        x->journal->ended(x->journal->ctx, str_cstr(x->run));
    entries_leave(x);
}

void entries_forget(struct entries *x)
{
    if (x->written)
        x->journal->forget(x->journal->ctx, str_cstr(x->run));
    x->written = false;
}

const struct entry *entries_find(const struct entries *x, enum entry_kind kind,
                                 unsigned number, struct str key)
{
    for (size_t i = 0; i < x->count; i++) {
        const struct entry *n = &x->items[i];

        if (n->kind == kind && n->number == number &&
            (!key.n || str_eq(n->key, key)))
            return n;
    }
    return NULL;
}

uint64_t entries_used(const struct entries *x)
{
    uint64_t most = 0;

    for (size_t i = 0; i < x->count; i++)
        if (x->items[i].kind != ENTRY_CALL && x->items[i].used > most)
            most = x->items[i].used;
    return most;
}

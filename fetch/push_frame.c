#include "push_frame.h"

#include "mapm/team_object.h"

#include "host_frame.h"
#include "store_frame.h"

#define DOCUMENT_BYTES (1u << 20)
#define SOURCE_BYTES   8192

void push_write(struct buf *b, const struct push_order *o)
{
    size_t begun = frame_begin(b, FRAME_PUSH);

    frame_stores(
        b, &(struct team_remotes){(void *)(uintptr_t)&o->remote, 1, false});
    frame_limits(b, &o->limits);
    frame_u8(b, o->again);
    frame_u32(b, o->count);
    for (size_t i = 0; i < o->count; i++)
        frame_str(b, o->names[i]);
    frame_end(b, begun);
}

bool push_read(struct str body, struct arena *a, struct push_order *out)
{
    struct fields in = fields_of(body);
    struct team_remotes to;
    struct str *names;

    if (!field_stores(&in, a, &to) || to.count != 1 ||
        !field_limits(&in, a, &out->limits))
        return false;
    out->remote = to.items[0];
    out->again = field_bool(&in);
    out->count = field_u32(&in, PUSH_NAMES_MAX);
    names = arena_array(a, out->count, sizeof *names);
    for (size_t i = 0; i < out->count; i++) {
        names[i] = arena_str(a, field_str(&in, PUSH_NAME_MAX_BYTES));
        if (!team_name_is_valid(names[i]))
            return false;
    }
    out->names = names;
    return fields_end(&in);
}

void push_write_object(struct buf *b, size_t number,
                       const struct team_upload *u)
{
    size_t begun = frame_begin(b, FRAME_PUSH_OBJECT);

    frame_u32(b, number);
    frame_str(b, u->manifest);
    frame_str(b, u->config);
    frame_str(b, u->layer);
    frame_end(b, begun);
}

bool push_read_object(struct str body, size_t *number, struct team_upload *out)
{
    struct fields in = fields_of(body);

    *number = field_u32(&in, PUSH_NAMES_MAX);
    out->manifest = field_str(&in, DOCUMENT_BYTES);
    out->config = field_str(&in, DOCUMENT_BYTES);
    out->layer = field_str(&in, TEAM_OBJECT_MAX_BYTES);
    return fields_end(&in);
}

void push_write_done(struct buf *b, const struct push_done *d)
{
    size_t begun = frame_begin(b, FRAME_PUSH_DONE);

    frame_u32(b, d->number);
    frame_u8(b, d->was_there);
    frame_u8(b, d->why != NULL);
    if (d->why)
        frame_err(b, d->why);
    frame_end(b, begun);
}

bool push_read_done(struct str body, struct push_done *out, struct err *room)
{
    struct fields in = fields_of(body);
    bool has_failed;

    out->number = field_u32(&in, PUSH_NAMES_MAX);
    out->was_there = field_bool(&in);
    has_failed = field_bool(&in);
    if (has_failed)
        field_err(&in, room);
    out->why = has_failed ? room : NULL;
    return fields_end(&in);
}

static void push_write_secret(struct buf *b, const struct registry_secret *s)
{
    size_t begun = frame_begin(b, FRAME_STORE_SECRET);

    frame_u8(b, s->kind);
    frame_str(b, s->user);
    frame_str(b, s->secret);
    frame_str(b, s->source);
    frame_str(b, s->note);
    frame_end(b, begun);
}

bool push_read_secret(struct fields *in, struct arena *a,
                      struct registry_secret *out)
{
    out->kind = (enum registry_secret_kind)field_u8(in, REGISTRY_TOKEN);
    out->user = arena_str(a, field_str(in, REGISTRY_USER_MAX_BYTES));
    out->secret = arena_str(a, field_str(in, REGISTRY_SECRET_MAX_BYTES));
    out->source = arena_str(a, field_str(in, SOURCE_BYTES));
    out->note = arena_str(a, field_str(in, SOURCE_BYTES));
    return fields_end(in);
}

/* MAPM_STORE_TOKEN is sent only to the host of the first remote that the user
 * named. */
static bool may_have_token(const struct team_remotes *all,
                           const struct team_remote *t)
{
    for (size_t i = 0; all && i < all->count; i++)
        if (team_remote_may_have_token(&all->items[i]))
            return str_eq(all->items[i].host, t->host);
    return false;
}

void push_answer_secret(struct buf *b, const struct team_remotes *all,
                        const struct team_remote *t)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct registry_query q = {t->host, t->repository, may_have_token(all, t)};
    struct registry_secret s;

    registry_credential_find(&q, &a, &s);
    push_write_secret(b, &s);
}

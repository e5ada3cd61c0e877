#include "client.h"

#define OID_BYTES       20
#define QUERY_MAX_BLOBS 4096
/* Total size of the texts in one response. */
#define ANSWER_MAX_BYTES (32u << 20)
#define REPOSITORY_BYTES 1024
#define TREES_MAX_BYTES  (32u << 20)

static struct str hex_of(struct str raw, char out[2 * OID_BYTES])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < raw.n; i++) {
        out[2 * i] = digits[(unsigned char)raw.p[i] >> 4];
        out[2 * i + 1] = digits[(unsigned char)raw.p[i] & 15];
    }
    return str_make(out, 2 * raw.n);
}

/* Looks up one blob in the store, and reads its text if `with_text`. */
static bool find_blob(struct fetch *f, struct str oid, bool with_text,
                      size_t room, struct arena *a, struct hash *h,
                      uint64_t *size, struct str *text)
{
    const struct fetch_store *s = &f->options.store;

    *text = str_make("", 0);
    if (s->find_blob == NULL || !s->find_blob(s->ctx, oid, h, size))
        return false;
    if (!with_text)
        return true;
    return s->read_blob != NULL && *size <= ANCHOR_MAX_BYTES && *size <= room &&
           s->read_blob(s->ctx, h, ANCHOR_MAX_BYTES, a, text);
}

static bool answer_blobs(struct fetch *f, struct fields *in, struct arena *a)
{
    struct buf *b = &f->channel.out;
    size_t count = field_u32(in, QUERY_MAX_BLOBS), room = ANSWER_MAX_BYTES;
    size_t begun = frame_begin(b, FRAME_BLOBS);

    frame_u32(b, count);
    for (size_t i = 0; i < count && !in->bad; i++) {
        char hex[2 * OID_BYTES];
        struct str oid = hex_of(field_raw(in, OID_BYTES), hex), text;
        bool with_text = field_bool(in);
        struct hash h = {0};
        uint64_t size = 0;
        bool found =
            !in->bad && find_blob(f, oid, with_text, room, a, &h, &size, &text);

        frame_u8(b, found);
        if (!found)
            continue;
        frame_raw(b, h.b, sizeof h.b);
        frame_u64(b, size);
        frame_str(b, text);
        room -= text.n;
    }
    frame_end(b, begun);
    return fields_end(in);
}

/* The fields that every query about a commit begins with. */
struct commit_key {
    struct str repository, commit;
};

static struct commit_key field_commit(struct fields *in)
{
    struct commit_key key;

    key.repository = field_str(in, REPOSITORY_BYTES);
    key.commit = field_str(in, 40);
    return key;
}

static bool answer_trees(struct fetch *f, struct fields *in, struct arena *a)
{
    const struct fetch_store *s = &f->options.store;
    struct buf *b = &f->channel.out;
    struct commit_key key = field_commit(in);
    struct str bytes = {"", 0};
    size_t begun;

    if (!fields_end(in))
        return false;
    if (s->find_trees == NULL ||
        !s->find_trees(s->ctx, key.repository, key.commit, a, &bytes) ||
        bytes.n > TREES_MAX_BYTES)
        bytes = str_make("", 0);
    begun = frame_begin(b, FRAME_TREES);
    frame_str(b, bytes);
    frame_end(b, begun);
    return true;
}

static bool answer_reachable(struct fetch *f, struct fields *in)
{
    const struct fetch_store *s = &f->options.store;
    struct buf *b = &f->channel.out;
    struct commit_key key = field_commit(in);
    size_t begun;

    if (!fields_end(in))
        return false;
    begun = frame_begin(b, FRAME_REACHABLE);
    frame_u8(b, s->is_reachable != NULL &&
                    s->is_reachable(s->ctx, key.repository, key.commit));
    frame_end(b, begun);
    return true;
}

static bool put_trees(struct fetch *f, struct fields *in)
{
    const struct fetch_store *s = &f->options.store;
    struct commit_key key = field_commit(in);
    struct str bytes = field_str(in, TREES_MAX_BYTES);

    if (!fields_end(in))
        return false;
    if (s->put_trees != NULL)
        s->put_trees(s->ctx, key.repository, key.commit, bytes);
    return true;
}

static bool put_reachable(struct fetch *f, struct fields *in)
{
    const struct fetch_store *s = &f->options.store;
    struct commit_key key = field_commit(in);

    if (!fields_end(in))
        return false;
    if (s->put_reachable != NULL)
        s->put_reachable(s->ctx, key.repository, key.commit);
    return true;
}

static bool answer_caps(struct fetch *f, struct fields *in, struct arena *a)
{
    const struct fetch_store *s = &f->options.store;
    struct buf *b = &f->channel.out;
    struct str place = field_str(in, REPOSITORY_BYTES), text = {"", 0};
    size_t begun;

    if (!fields_end(in))
        return false;
    if (!s->find_caps || !s->find_caps(s->ctx, place, a, &text) ||
        text.n > FETCH_CAPS_MAX_BYTES)
        text = STR("");
    begun = frame_begin(b, FRAME_CAPS);
    frame_str(b, text);
    frame_end(b, begun);
    return true;
}

static bool put_caps(struct fetch *f, struct fields *in)
{
    const struct fetch_store *s = &f->options.store;
    struct str place = field_str(in, REPOSITORY_BYTES);
    struct str text = field_str(in, FETCH_CAPS_MAX_BYTES);

    if (!fields_end(in))
        return false;
    if (s->put_caps)
        s->put_caps(s->ctx, place, text);
    return true;
}

static struct str without_port(struct str host)
{
    size_t colon = str_find_last(host, ':');

    return colon == SIZE_MAX || str_ends(host, STR("]"))
               ? host
               : str_slice(host, 0, colon);
}

/* The token setting of the host in config.yaml applies to credentials, too. */
static bool may_ask(const struct fetch *f, const struct credential_query *q)
{
    const struct host_config *h =
        host_config_find(q->name, f->options.hosts, f->options.host_count);

    if (!map_has(&f->hosts, q->host) || (h && h->token == HOST_TOKEN_NONE) ||
        (h && h->token == HOST_TOKEN_GIT && q->from == CREDENTIAL_PROGRAM))
        return false;
    return str_is(q->protocol, "https") ||
           (str_is(q->protocol, "http") && origin_host_is_loopback(q->name));
}

/*
 * Answers only for hosts of requested packages, and for hosts that the user's
 * configuration named before mapm-fetch had read a byte from the network: a
 * compromised mapm-fetch must not be able to collect the user's passwords.
 */
static bool answer_credential(struct fetch *f, struct fields *in,
                              struct arena *a)
{
    struct buf *b = &f->channel.out;
    unsigned from = field_u8(in, CREDENTIAL_HELPER);
    struct credential_query q = {.from = (enum credential_from)from};
    struct credential c = {0};
    size_t begun;
    bool found;

    q.protocol = field_str(in, 8);
    q.host = field_str(in, 300);
    q.path = field_str(in, REPOSITORY_BYTES);
    if (!fields_end(in) || from == 0)
        return false;
    q.name = without_port(q.host);
    q.kind = git_host_find(q.name, f->options.hosts, f->options.host_count);
    found = may_ask(f, &q) && credential_find(&q, a, &c);
    begun = frame_begin(b, FRAME_CREDENTIAL);
    frame_u8(b, found);
    frame_u8(b, c.of_path);
    frame_str(b, found ? c.user : str_make("", 0));
    frame_str(b, found ? c.password : str_make("", 0));
    frame_end(b, begun);
    return true;
}

bool client_answer(struct fetch *f, const struct frame *frame)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct fields in = fields_of(frame->body);

    switch (frame->type) {
    case FRAME_FIND_BLOBS:
        return answer_blobs(f, &in, &a);
    case FRAME_FIND_TREES:
        return answer_trees(f, &in, &a);
    case FRAME_PUT_TREES:
        return put_trees(f, &in);
    case FRAME_IS_REACHABLE:
        return answer_reachable(f, &in);
    case FRAME_PUT_REACHABLE:
        return put_reachable(f, &in);
    case FRAME_FIND_CAPS:
        return answer_caps(f, &in, &a);
    case FRAME_PUT_CAPS:
        return put_caps(f, &in);
    case FRAME_NEED_CREDENTIAL:
        return answer_credential(f, &in, &a);
    case FRAME_OPEN_SSH:
        return client_open_ssh(f, &in);
    case FRAME_END_SSH:
        return client_end_ssh(f, &in);
    default:
        return false;
    }
}

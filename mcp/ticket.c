#include "ticket.h"

#include "base/hmac.h"

#include <string.h>
#include <sys/random.h>
#include <time.h>

static void fill_random(unsigned char *p, size_t n)
{
    /* It cannot fail for so few bytes, and does not wait once the machine is
     * up. */
    while (getrandom(p, n, 0) != (ssize_t)n)
        ;
}

static struct str key_of(struct server *s)
{
    if (s->is->state_key)
        return str_make((const char *)s->is->state_key, sizeof s->key);
    if (!s->has_key)
        fill_random(s->key, sizeof s->key);
    s->has_key = true;
    return str_make((const char *)s->key, sizeof s->key);
}

void ticket_new_run(char run[RUN_HEX_CHARS + 1])
{
    unsigned char bytes[32] = {0};
    char hex[HASH_HEX_CHARS + 1];
    struct hash h;

    fill_random(bytes, RUN_HEX_CHARS / 2);
    memcpy(h.b, bytes, sizeof h.b);
    hash_format(&h, hex);
    memcpy(run, hex, RUN_HEX_CHARS);
    run[RUN_HEX_CHARS] = '\0';
}

static bool is_of_retry(struct str key)
{
    return str_is(key, "_meta") || str_is(key, "requestState") ||
           str_is(key, "inputResponses");
}

/* A client may send its members in another order, and numbers in another
 * spelling, when it comes back. */
struct hash ticket_digest(const struct mcp_call *c)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP(buf_done) struct buf text = {0};
    struct json call = {.kind = JSON_OBJECT}, *last = NULL;
    struct json_writer w;

    for (const struct json *j = c->params ? c->params->first : NULL; j;
         j = j->next) {
        struct json *member;

        if (is_of_retry(j->key))
            continue;
        member = arena_new(&scratch, struct json);
        *member = *j;
        member->next = NULL;
        if (last)
            last->next = member;
        else
            call.first = member;
        last = member;
        call.count++;
    }
    buf_init(&text, 16 * (size_t)MCP_LINE_MAX_BYTES);
    json_writer_init(&w, &text, 0);
    json_begin_array(&w);
    json_string(&w, c->s->is->state_of);
    json_string(&w, c->method);
    json_canonical(&w, &call);
    json_end_array(&w);
    return hash_of(buf_str(&text));
}

static struct hash sign(struct server *s, const struct ticket *t,
                        const struct hash *digest)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str text = arena_printf(&a, "mapm mcp 1 %s %u %llu %.*s", t->run,
                                   t->round, (unsigned long long)t->expires_s,
                                   STR_ARG(hash_hex(digest, &a)));

    return hmac_of(key_of(s), text);
}

struct str ticket_format(struct server *s, const struct ticket *t,
                         const struct hash *digest, struct arena *a)
{
    struct hash mac = sign(s, t, digest);

    return arena_printf(a, "%s.%u.%llu.%.*s", t->run, t->round,
                        (unsigned long long)t->expires_s,
                        STR_ARG(hash_hex(&mac, a)));
}

static bool is_run(struct str s)
{
    return s.n == RUN_HEX_CHARS && str_is_hex(s);
}

bool ticket_parse(struct server *s, struct str text, const struct hash *digest,
                  struct ticket *out)
{
    struct ticket t = {0};
    struct str run, round, expires;
    struct hash given, mac;
    uint64_t number;

    if (text.n > 256 || !str_cut(&text, '.', &run) || !is_run(run) ||
        !str_cut(&text, '.', &round) ||
        !str_number(round, MCP_MAX_RECORDS, &number) ||
        !str_cut(&text, '.', &expires) ||
        !str_number(expires, INT64_MAX, &t.expires_s) || !text.p ||
        !hash_parse(text, &given))
        return false;
    memcpy(t.run, run.p, RUN_HEX_CHARS);
    t.round = (unsigned)number;
    mac = sign(s, &t, digest);
    if (!hmac_eq(&mac, &given) || t.expires_s < (uint64_t)time(NULL))
        return false;
    *out = t;
    return true;
}

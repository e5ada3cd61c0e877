#include "push.h"

#include "base/digest.h"
#include "base/proc.h"
#include "mapm/team_object.h"

#include "../push_frame.h"
#include "registry.h"
#include "rights.h"

#define STATUS_CREATED   201
#define STATUS_ACCEPTED  202
#define STATUS_NOT_FOUND 404
#define WAIT_MS          1000
#define ANSWER_MAX_BYTES (64u * 1024) /* the content is discarded */

#define TRIES_MAX   4
#define PAUSE_MS    100 /* doubled before each further try */
#define PAUSE_MAX_S 60u

enum item_stage {
    ITEM_HEAD,
    ITEM_WANTED, /* mapm is making the object */
    ITEM_BEGIN_LAYER,
    ITEM_PUT_LAYER,
    ITEM_BEGIN_CONFIG,
    ITEM_PUT_CONFIG,
    ITEM_MANIFEST,
};

struct item {
    struct push *push;
    size_t number;
    struct str name;
    enum item_stage stage;
    struct arena arena; /* memory of the object */
    struct team_upload object;
    struct registry_request request;
    struct buf answer;
    struct item *next; /* next in the queue */
    unsigned tries;
    uint64_t again_ms; /* time of the next try (proc_now_ms); 0 if none is
                        * due */
};

struct push {
    struct session *session;
    struct arena arena;
    struct push_order order;
    struct team_source source;
    struct registry registry;
    struct item *items;
    struct item *first, *last; /* queue of objects that must be uploaded */
    size_t uploads;            /* uploads in progress */
    size_t begun, over, paused;
};

static void step(struct item *i);

/* --- end of an item ------------------------------------------------------- */

static void report(struct item *i, bool was_there, const struct err *why)
{
    struct push *p = i->push;

    push_write_done(&p->session->link.channel.out,
                    &(struct push_done){i->number, was_there, why});
    if (i->stage != ITEM_HEAD)
        p->uploads--;
    p->over++;
    registry_request_done(&i->request);
    buf_done(&i->answer);
    arena_done(&i->arena);
}

/* Schedules a retry. A registry also fails if others push the same object at
 * the same time: distribution 2.8 sends 400 for a manifest while another client
 * is moving its blob into place. */
static bool try_again(struct item *i)
{
    unsigned wait_s = i->request.retry_after_s;

    if (i->stage == ITEM_WANTED || ++i->tries == TRIES_MAX ||
        wait_s > PAUSE_MAX_S)
        return false;
    i->again_ms = proc_now_ms() + (wait_s ? (uint64_t)wait_s * 1000
                                          : (uint64_t)PAUSE_MS << i->tries);
    i->push->paused++;
    return true;
}

static void fail_status(struct item *i)
{
    struct err why = {0};

    if (try_again(i))
        return;

    err_set(&why, ERR_FETCH, "HTTP %ld to %s", i->request.status,
            i->stage == ITEM_MANIFEST ? "its manifest"
            : i->stage == ITEM_HEAD   ? "the question whether it is there"
                                      : "an upload");
    report(i, false, &why);
}

/* --- requests of an item -------------------------------------------------- */

static void on_over(struct registry_request *q)
{
    struct item *i = q->ctx;

    if (q->why)
        report(i, false, q->why);
    else
        step(i);
}

static void ask(struct item *i, struct registry_request q)
{
    struct registry_request *own = &i->request;

    registry_request_done(own);
    *own = q;
    buf_clear(&i->answer);
    own->body = &i->answer;
    own->over = on_over;
    own->ctx = i;
    registry_start(&i->push->registry, own);
}

static struct str manifest_path(struct item *i)
{
    return arena_printf(&i->push->arena, "/manifests/%.*s", STR_ARG(i->name));
}

static void request_head(struct item *i)
{
    ask(i, (struct registry_request){.method = "HEAD",
                                     .path = manifest_path(i),
                                     .accept = STR(TEAM_MANIFEST_TYPE)});
}

static void begin_upload(struct item *i)
{
    ask(i, (struct registry_request){.method = "POST",
                                     .path = STR("/blobs/uploads/")});
}

/* Uploads to the location that the registry named, adding the digest. */
static void put_blob(struct item *i, struct str content)
{
    struct registry *r = &i->push->registry;
    struct hash h = hash_of(content);
    struct str to = arena_str(&i->arena, i->request.location);
    struct err why = {0};
    struct url url;

    if (!url_parse(to, &i->arena, &url) || url.user.n || url.password.n ||
        str_has_char(to, '#'))
        err_set(&why, ERR_REFUSED, "it names no place for the upload");
    else if (!url_same_place(&url, &r->url))
        err_set(&why, ERR_REFUSED, "it wants the upload at another place: %.*s",
                STR_ARG(url_format(&url, &i->arena)));
    if (why.code != ERR_NONE) {
        report(i, false, &why);
        return;
    }
    to = arena_printf(&i->arena, "%.*s%cdigest=%.*s", STR_ARG(to),
                      str_has_char(to, '?') ? '&' : '?',
                      STR_ARG(digest_format(&h, &i->arena)));
    ask(i, (struct registry_request){.method = "PUT",
                                     .address = to,
                                     .type = STR("application/octet-stream"),
                                     .content = content});
}

static void put_manifest(struct item *i)
{
    ask(i, (struct registry_request){.method = "PUT",
                                     .path = manifest_path(i),
                                     .type = STR(TEAM_MANIFEST_TYPE),
                                     .content = i->object.manifest});
}

/* --- stages of an item ---------------------------------------------------- */

static void queue(struct item *i)
{
    struct push *p = i->push;

    i->next = NULL;
    if (p->last)
        p->last->next = i;
    else
        p->first = i;
    p->last = i;
}

static void evaluate_head(struct item *i)
{
    if (i->request.status == HTTP_STATUS_OK && !i->push->order.again)
        report(i, true, NULL);
    else if (i->request.status == HTTP_STATUS_OK ||
             i->request.status == STATUS_NOT_FOUND)
        queue(i);
    else
        fail_status(i);
}

static bool is_stage_done(const struct item *i)
{
    bool begins = i->stage == ITEM_BEGIN_LAYER || i->stage == ITEM_BEGIN_CONFIG;

    return i->request.status == (begins ? STATUS_ACCEPTED : STATUS_CREATED);
}

/* Handles the response to the request of the current stage. */
static void step(struct item *i)
{
    if (i->stage == ITEM_HEAD) {
        evaluate_head(i);
        return;
    }
    if (!is_stage_done(i)) {
        fail_status(i);
        return;
    }
    switch (i->stage++) {
    case ITEM_BEGIN_LAYER:
        put_blob(i, i->object.layer);
        break;
    case ITEM_BEGIN_CONFIG:
        put_blob(i, i->object.config);
        break;
    case ITEM_PUT_LAYER:
        begin_upload(i);
        break;
    case ITEM_PUT_CONFIG:
        put_manifest(i);
        break;
    default:
        report(i, false, NULL);
    }
}

/* --- communication with mapm ---------------------------------------------- */

static void want(struct item *i)
{
    struct buf *b = &i->push->session->link.channel.out;
    size_t begun = frame_begin(b, FRAME_PUSH_WANT);

    frame_u32(b, i->number);
    frame_end(b, begun);
    i->stage = ITEM_WANTED;
    i->push->uploads++;
}

static void want_more(struct push *p)
{
    while (p->first && p->uploads < PUSH_MAX_UPLOADS) {
        struct item *i = p->first;

        p->first = i->next;
        if (!p->first)
            p->last = NULL;
        want(i);
    }
}

/* An object without a manifest could not be made by mapm, which reports why. */
static bool take_object(struct push *p, struct str body)
{
    struct team_upload got;
    struct item *i;
    size_t number;

    if (!push_read_object(body, &number, &got) || number >= p->order.count ||
        p->items[number].stage != ITEM_WANTED)
        return false;
    i = &p->items[number];
    if (got.manifest.n == 0) {
        report(i, false, NULL);
        return true;
    }
    i->object.manifest = arena_str(&i->arena, got.manifest);
    i->object.config = arena_str(&i->arena, got.config);
    i->object.layer = arena_str(&i->arena, got.layer);
    i->stage = ITEM_BEGIN_LAYER;
    begin_upload(i);
    return true;
}

static bool read_mapm(struct push *p, struct err *e)
{
    struct link *l = &p->session->link;
    struct frame frame;

    for (;;) {
        if (!link_take(l, &frame, e))
            return false;
        if (frame.type == 0)
            return !l->channel.closed ||
                   err_set(e, ERR_INTERRUPTED, "mapm has exited");
        if (frame.type != FRAME_PUSH_OBJECT || !take_object(p, frame.body))
            return link_nonsense(e);
    }
}

static void begin_more(struct push *p)
{
    while (p->begun < p->order.count &&
           p->begun - p->over < TEAM_MAX_STREAMS + PUSH_MAX_UPLOADS) {
        struct item *i = &p->items[p->begun];

        *i = (struct item){
            .push = p, .number = p->begun, .name = p->order.names[p->begun]};
        p->begun++;
        buf_init(&i->answer, ANSWER_MAX_BYTES);
        request_head(i);
    }
}

/* Restarts the upload: the registry has dropped the failed one. */
static void resume(struct item *i)
{
    i->again_ms = 0;
    i->push->paused--;
    if (i->stage == ITEM_HEAD) {
        request_head(i);
        return;
    }
    i->stage = ITEM_BEGIN_LAYER;
    begin_upload(i);
}

/* Resumes items that are due. Returns the milliseconds until the next one. */
static unsigned resume_due(struct push *p)
{
    uint64_t now = proc_now_ms(), wait_ms = WAIT_MS;

    for (size_t i = 0; p->paused && i < p->begun; i++) {
        struct item *item = &p->items[i];

        if (item->again_ms > now && item->again_ms - now < wait_ms)
            wait_ms = item->again_ms - now;
        else if (item->again_ms && item->again_ms <= now)
            resume(item);
    }
    return (unsigned)wait_ms;
}

static bool serve(struct push *p, struct err *e)
{
    struct session *s = p->session;
    struct pollfd mapm = {.fd = s->link.channel.fd, .events = POLLIN};

    while (p->over < p->order.count) {
        struct http_call *call;

        begin_more(p);
        while ((call = http_next(s->http)) != NULL)
            if (!call->request->over(call, e))
                return false;
        want_more(p);
        if (!link_flush(&s->link, e) || !read_mapm(p, e) ||
            !link_flush(&s->link, e))
            return false;
        mapm.events = POLLIN;
        if (channel_has_output(&s->link.channel))
            mapm.events |= POLLOUT;
        http_wait(s->http, &mapm, 1, resume_due(p));
    }
    return link_finish(&s->link, e);
}

bool push_serve(struct session *s, struct str body, struct err *e)
{
    struct push p = {.session = s};

    if (!push_read(body, &p.arena, &p.order) ||
        p.order.remote.kind != TEAM_REGISTRY)
        return link_nonsense(e);
    s->limits = p.order.limits;
    p.source = (struct team_source){
        .session = s, .remote = p.order.remote, .is_patient = true};
    p.registry = (struct registry){.source = &p.source, .pushes = true};
    p.items = arena_array(&p.arena, p.order.count, sizeof *p.items);
    if (!settings_load(&s->settings, NULL, 0, e) ||
        !rights_give_up(&s->settings, NULL, 1, e))
        return false;
    s->http = http_open(&s->settings, &s->limits);
    return registry_init(&p.registry, e) && serve(&p, e);
}

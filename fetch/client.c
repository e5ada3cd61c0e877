#include "client.h"

#include "base/fs.h"
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host_frame.h"
#include "push_frame.h"
#include "store_frame.h"

/* Timeout of poll: a signal that arrives just before poll is noticed after this
 * time. */
#define WAIT_MS               100
#define OUT_MAX_BYTES         (512u << 20)
#define SSH_COMMAND_MAX_BYTES 65536 /* limit for core.sshCommand */
#define WARNING_MAX_BYTES     8192

static struct str copy(struct fetch *f, struct str s)
{
    return arena_str(&f->arena, s);
}

static const struct team_remotes *copy_stores(struct fetch *f,
                                              const struct team_remotes *from)
{
    struct team_remotes *to = arena_new(&f->arena, struct team_remotes);

    *to = *from;
    to->items = arena_array(&f->arena, from->count + 1, sizeof *to->items);
    for (size_t i = 0; i < from->count; i++)
        to->items[i] = (struct team_remote){
            .kind = from->items[i].kind,
            .source = from->items[i].source,
            .url = copy(f, from->items[i].url),
            .host = copy(f, from->items[i].host),
            .repository = copy(f, from->items[i].repository)};
    return to;
}

bool fetch_open(const struct fetch_options *o, struct fetch **out,
                struct err *e)
{
    struct fetch *f;
    struct host_config *hosts;

    if (o->incoming.n == 0 || o->incoming.p[0] != '/')
        return err_set(e, ERR_FAILED, "no folder for what is fetched");
    f = heap_alloc(sizeof *f);
    arena_init(&f->arena);
    map_init(&f->hosts, &f->arena);
    map_init(&f->repositories, &f->arena);
    ssh_init(&f->ssh, o->may_prompt);
    f->options = *o;
    f->options.incoming = copy(f, o->incoming);
    f->limits = o->limits ? *o->limits : limits_default;
    hosts = arena_array(&f->arena, o->host_count, sizeof *hosts);
    for (size_t i = 0; i < o->host_count; i++) {
        hosts[i] = o->hosts[i];
        hosts[i].host = copy(f, o->hosts[i].host);
        hosts[i].variable = copy(f, o->hosts[i].variable);
    }
    f->options.hosts = hosts;
    f->options.stores = o->stores ? copy_stores(f, o->stores) : NULL;
    f->channel.fd = -1;
    *out = f;
    return true;
}

/* Finds mapm-fetch beside this program, where `make install` puts it, or where
 * it was built; never in PATH. */
static bool find_worker(struct arena *a, const char **path, struct err *e)
{
    static const char *const places[] = {"../libexec/mapm/mapm-fetch",
                                         "mapm-fetch"};
    struct str dir;

    if (!proc_self_dir(a, &dir, e))
        return false;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        *path = str_dup0(fs_join(dir, str_cstr(places[i]), a), a);
        if (access(*path, X_OK) == 0)
            return true;
    }
    err_set(e, ERR_NOT_FOUND, "mapm-fetch is not installed beside mapm in %.*s",
            STR_ARG(dir));
    return err_hint(e, "install mapm again: both programs belong together");
}

/* Queues the bundle's descriptor, to go with the frame that is begun next. */
static bool send_bundle(struct fetch *f)
{
    int fd =
        f->options.bundle ? fcntl(*f->options.bundle, F_DUPFD_CLOEXEC, 3) : -1;

    if (fd >= 0 && channel_give_fd(&f->channel, fd))
        return true;
    if (fd >= 0)
        close(fd);
    return false;
}

static void send_options(struct fetch *f)
{
    struct buf *b = &f->channel.out;
    bool has_bundle = send_bundle(f);
    size_t begun = frame_begin(b, FRAME_OPTIONS);

    frame_str(b, f->options.incoming);
    frame_u8(b, f->options.verbose);
    frame_u8(b, has_bundle);
    frame_hosts(b, f->options.hosts, f->options.host_count);
    frame_limits(b, &f->limits);
    frame_stores(b, f->options.stores);
    frame_end(b, begun);
}

static bool start_process(struct arena *a, struct fetch_process *p,
                          struct err *e)
{
    int pair[2] = {-1, -1};
    const char *argv[2] = {NULL, NULL};
    bool ok;

    if (!find_worker(a, &argv[0], e))
        return false;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return err_errno(e, "open a socket pair");
    ok = proc_spawn(argv, pair[1], &p->pid, e);
    close(pair[1]);
    if (!ok) {
        p->pid = 0;
        close(pair[0]);
        return err_wrap(e, "cannot start %s", argv[0]);
    }
    p->fd = pair[0];
    return true;
}

void fetch_start_ahead(struct fetch_process *p)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err ignored = {0};

    *p = (struct fetch_process){0};
    if (!start_process(&a, p, &ignored))
        err_clear(&ignored); /* fetch_ask tries again and reports the error */
}

void fetch_process_done(struct fetch_process *p)
{
    if (p->pid > 0) {
        client_stop(p->pid);
        close(p->fd);
    }
    *p = (struct fetch_process){0};
}

bool client_start(struct arena *a, struct channel *c, pid_t *pid, struct err *e)
{
    struct fetch_process p = {0};

    if (!start_process(a, &p, e))
        return false;
    *pid = p.pid;
    channel_init(c, p.fd, OUT_MAX_BYTES);
    return true;
}

static bool start(struct fetch *f, struct err *e)
{
    struct fetch_process *ahead = f->options.ahead;

    if (ahead && ahead->pid > 0) {
        f->pid = ahead->pid;
        channel_init(&f->channel, ahead->fd, OUT_MAX_BYTES);
        *ahead = (struct fetch_process){0};
    } else if (!client_start(&f->arena, &f->channel, &f->pid, e)) {
        return false;
    }
    send_options(f);
    return true;
}

static bool fail_for_good(struct fetch *f, struct err *e)
{
    if (f->dead == NULL && e->code != ERR_INTERRUPTED) {
        f->dead = arena_new(&f->arena, struct err);
        *f->dead = *e;
    }
    return false;
}

static bool is_dead(const struct fetch *f, struct err *e)
{
    if (f->dead)
        *e = *f->dead;
    return f->dead != NULL;
}

/* Permit credential queries for the host of a requested package. */
static void add_credential_host(struct fetch *f, const struct origin *o)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct str host = origin_authority(o, &scratch);

    if (!map_has(&f->hosts, host))
        map_put(&f->hosts, copy(f, host), f);
}

/* Permits ssh to the repository of `o` and returns its address. */
static const struct str *repository_entry(struct fetch *f,
                                          const struct origin *o)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct str key = origin_repository(o, &scratch);
    struct str *address = map_find(&f->repositories, key);

    if (address)
        return address;
    address = arena_new(&f->arena, struct str);
    *address =
        remote_address(o, f->options.hosts, f->options.host_count, &f->arena);
    map_put(&f->repositories, copy(f, key), address);
    return address;
}

/* Writes FRAME_ASK. A request for an artifact has no fields of a repository. */
static void send_ask(struct fetch *f, const struct fetch_want *w)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct buf *b = &f->channel.out;
    size_t begun = frame_begin(b, FRAME_ASK);

    frame_u32(b, f->ask_count);
    frame_u8(b, w->what);
    frame_str(b, w->digest);
    if (w->what == FETCH_ARTIFACT) {
        frame_end(b, begun);
        return;
    }
    frame_u8(b, w->kinds);
    frame_u8(b, w->assume_reachable);
    frame_u8(b, w->stored);
    frame_u8(b, w->proved);
    frame_u8(b, w->at_once);
    frame_str(b, origin_repository(&w->origin, &scratch));
    frame_str(b, w->origin.repository);
    frame_str(b, remote_address(&w->origin, f->options.hosts,
                                f->options.host_count, &scratch));
    frame_u8(b, (unsigned)(w->origin.kind - git_hosts));
    frame_u8(b, w->origin.is_short);
    frame_str(b, w->origin.rest);
    frame_str(b, w->origin.ref);
    frame_str(b, w->origin.path);
    frame_str(b, w->commit);
    frame_str(b, w->object);
    frame_str(b, w->base);
    frame_str(b, w->ranges);
    frame_str(b, w->tag);
    frame_end(b, begun);
}

static void record_repository(struct fetch *f, const struct origin *o,
                              struct client_ask *ask)
{
    add_credential_host(f, o);
    ask->address = repository_entry(f, o);
    if (o->was_ssh)
        ask->ssh_host = copy(f, o->host);
}

bool fetch_ask(struct fetch *f, const struct fetch_want *w, struct err *e)
{
    struct client_ask *ask;

    if (is_dead(f, e))
        return false;
    if (w->origin.scheme != ORIGIN_GIT && w->what != FETCH_ARTIFACT)
        return err_set(e, ERR_FAILED, "only git origins are fetched");
    if (f->ask_count >= FETCH_ASKS_MAX)
        return err_set(e, ERR_LIMIT, "more than %u packages requested",
                       FETCH_ASKS_MAX);
    if (f->pid == 0 && !start(f, e))
        return fail_for_good(f, e);
    send_ask(f, w);
    f->asks = arena_extend(&f->arena, f->asks, f->ask_count, &f->ask_capacity,
                           sizeof *f->asks);
    ask = &f->asks[f->ask_count++];
    *ask = (struct client_ask){.id = w->id, .what = w->what, .is_open = true};
    if (w->what != FETCH_ARTIFACT)
        record_repository(f, &w->origin, ask);
    f->open_count++;
    f->progress.asked++;
    f->has_news = true;
    return true;
}

static void send_seen(struct fetch *f)
{
    size_t begun = frame_begin(&f->channel.out, FRAME_SEEN);

    frame_u32(&f->channel.out, f->event_count);
    frame_end(&f->channel.out, begun);
    f->has_news = false;
}

bool client_report_end(pid_t *pid, struct err *e)
{
    struct err ignored = {0};
    int code = 0;

    if (*pid > 0 && !proc_wait(*pid, &code, &ignored))
        code = -1;
    *pid = -1;
    if (proc_interrupted() || code == 128 + SIGINT || code == 128 + SIGTERM)
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    if (code > 128)
        return err_set(e, ERR_FAILED, "mapm-fetch was ended by signal %d",
                       code - 128);
    return err_set(e, ERR_FAILED, "mapm-fetch ended early (exit %d)", code);
}

bool client_wait(struct channel *c, struct ssh *ssh, unsigned wait_ms,
                 struct err *e)
{
    struct pollfd p[1 + SSH_MAX_LINES] = {{.fd = c->fd, .events = POLLIN}};
    size_t count = 1;

    if (!channel_flush(c, e))
        return false;
    if (channel_has_output(c))
        p[0].events |= POLLOUT;
    if (ssh)
        count += ssh_poll(ssh, p + 1);
    if (proc_interrupted())
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    if (poll(p, count, (int)wait_ms) < 0 && errno != EINTR)
        return err_errno(e, "wait for mapm-fetch");
    if (proc_interrupted())
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    if (ssh)
        ssh_drain(ssh);
    if (p[0].revents == 0)
        return true;
    return channel_fill(c, e);
}

static bool is_quiet(const struct channel *c)
{
    struct pollfd p = {.fd = c->fd, .events = POLLIN};

    return poll(&p, 1, 0) == 0;
}

/* Blocks until there is something to read. Flushes the output before `idle`
 * runs, so that mapm-fetch does not wait for it meanwhile. */
static bool wait_for_more(struct fetch *f, struct err *e)
{
    const struct fetch_options *o = &f->options;

    if (f->has_news)
        send_seen(f);
    if (o->idle && !channel_flush(&f->channel, e))
        return false;
    while (o->idle && !proc_interrupted() && is_quiet(&f->channel) &&
           o->idle(o->idle_ctx))
        ;
    return client_wait(&f->channel, &f->ssh, WAIT_MS, e);
}

static bool read_hello(struct fetch *f, struct str body)
{
    struct fields in = fields_of(body);
    size_t count = field_u32(&in, 10000);

    if (f->is_greeted)
        return false;
    for (size_t i = 0; i < count && !in.bad; i++)
        map_put(&f->hosts, copy(f, field_str(&in, 300)), f);
    f->rewrites = field_rewrites(&in, &f->arena);
    f->ssh.settings.command = copy(f, field_str(&in, SSH_COMMAND_MAX_BYTES));
    f->ssh.settings.variant = copy(f, field_str(&in, SSH_COMMAND_MAX_BYTES));
    f->is_greeted = true;
    return fields_end(&in);
}

static bool read_progress(struct fetch *f, struct str body)
{
    struct fields in = fields_of(body);

    f->progress.requests = field_u64(&in);
    f->progress.connections = field_u64(&in);
    f->progress.bytes = field_u64(&in);
    f->progress.objects = field_u64(&in);
    if (!fields_end(&in))
        return false;
    /* Do not write into the line of a password prompt. */
    if (f->options.progress && !ssh_is_prompting(&f->ssh))
        f->options.progress(f->options.progress_ctx, &f->progress);
    return true;
}

static bool read_warning(struct fetch *f, struct str body)
{
    struct fields in = fields_of(body);
    struct str line = field_str(&in, WARNING_MAX_BYTES);

    if (!fields_end(&in))
        return false;
    if (f->options.warn)
        f->options.warn(f->options.warn_ctx, line);
    return true;
}

/* Sends the credential for a store, if its URL is one of the stores of this
 * run. */
static bool answer_secret(struct fetch *f, struct str body)
{
    struct fields in = fields_of(body);
    struct str url = field_str(&in, TEAM_REMOTE_MAX_BYTES);
    const struct team_remotes *all = f->options.stores;

    for (size_t i = 0; fields_end(&in) && all && i < all->count; i++)
        if (str_eq(all->items[i].url, url)) {
            push_answer_secret(&f->channel.out, all, &all->items[i]);
            return true;
        }
    return false;
}

bool client_read_fatal(struct str body, struct err *e)
{
    struct fields in = fields_of(body);

    field_err(&in, e);
    if (!fields_end(&in))
        return err_set(e, ERR_FAILED, "mapm-fetch failed without a reason");
    return false;
}

bool client_nonsense(struct err *e)
{
    err_set(e, ERR_FAILED, "invalid message from mapm-fetch");
    return err_hint(e, "install mapm again: both programs belong together");
}

void client_call_done(struct client_call *c)
{
    client_stop(c->pid);
    channel_done(&c->channel);
}

bool client_call_next(struct client_call *c, enum frame_type want,
                      struct frame *frame, bool *got, struct err *e)
{
    *got = false;
    if (!channel_next(&c->channel, frame, e))
        return client_nonsense(e);
    *got = frame->type == want;
    if (*got)
        return true;
    if (frame->type == FRAME_FATAL)
        return client_read_fatal(frame->body, e);
    if (frame->type != 0)
        return client_nonsense(e);
    return !c->channel.closed || client_report_end(&c->pid, e);
}

/* Handles one frame. Sets `*got` if it was an event, which is in `*out`. */
static bool take(struct fetch *f, const struct frame *frame, struct arena *a,
                 struct fetch_event *out, bool *got, struct err *e)
{
    bool ok;

    *got = false;
    if (!f->is_greeted && frame->type != FRAME_HELLO &&
        frame->type != FRAME_FATAL)
        return client_nonsense(e);
    switch (frame->type) {
    case FRAME_HELLO:
        ok = read_hello(f, frame->body);
        break;
    case FRAME_PROGRESS:
        ok = read_progress(f, frame->body);
        break;
    case FRAME_WARN:
        ok = read_warning(f, frame->body);
        break;
    case FRAME_NEED_STORE_SECRET:
        ok = answer_secret(f, frame->body);
        break;
    case FRAME_FATAL:
        return client_read_fatal(frame->body, e);
    case FRAME_EVENT:
        ok = *got = client_read_event(f, frame->body, a, out);
        break;
    default:
        ok = client_answer(f, frame);
    }
    return ok || client_nonsense(e);
}

static bool next(struct fetch *f, struct arena *a, struct fetch_event *out,
                 struct err *e)
{
    struct frame frame;
    bool got = false;

    while (!got) {
        if (!channel_next(&f->channel, &frame, e))
            return client_nonsense(e);
        if (frame.type == 0 && f->channel.closed)
            return client_report_end(&f->pid, e);
        if (frame.type == 0) {
            if (!wait_for_more(f, e))
                return false;
        } else if (!take(f, &frame, a, out, &got, e)) {
            return false;
        }
    }
    f->event_count++;
    f->has_news = true;
    return true;
}

bool fetch_next(struct fetch *f, struct arena *a, struct fetch_event *out,
                struct err *e)
{
    if (is_dead(f, e))
        return false;
    if (f->open_count == 0) {
        *out = (struct fetch_event){.kind = FETCH_IDLE};
        return true;
    }
    return next(f, a, out, e) || fail_for_good(f, e);
}

void fetch_get_progress(const struct fetch *f, struct fetch_progress *out)
{
    *out = f->progress;
}

void client_stop(pid_t pid)
{
    struct err ignored = {0};
    int code;

    if (pid <= 0)
        return;
    kill(pid, SIGKILL);
    if (!proc_wait(pid, &code, &ignored))
        err_clear(&ignored); /* already reaped */
}

void fetch_stop(struct fetch *f)
{
    struct err e = {0};

    if (f == NULL || f->pid <= 0 || f->dead)
        return;
    kill(f->pid, SIGKILL);
    ssh_done(&f->ssh);
    err_set(&e, ERR_FAILED, "mapm-fetch was stopped");
    fail_for_good(f, &e);
    channel_done(&f->channel); /* may hold megabytes after many responses */
}

void fetch_close(struct fetch *f)
{
    if (f == NULL)
        return;
    client_stop(f->pid);
    ssh_done(&f->ssh);
    channel_done(&f->channel);
    arena_done(&f->arena);
    heap_free(f);
}

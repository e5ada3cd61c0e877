#include "base/fs.h"
#include "base/proc.h"

#include <curl/curl.h>
#include <fcntl.h>
#include <git2.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "api.h"
#include "bundle_lock.h"
#include "push.h"
#include "rights.h"
#include "team_store.h"
#include "unpack_serve.h"

/*
 * mapm-fetch: does network access and unpacking for mapm, which starts it with
 * a socket as descriptor 3. It first reads the user files that it needs, then
 * drops its rights, and only then reads untrusted data.
 */

#define PARENT_FD 3
#define IDLE_MS   1000

/* Returns the size limit for files: that of a part, or one byte more than that
 * of a file in a package. */
static uint64_t largest_file(const struct limits *limits)
{
    uint64_t object = pack_limits_of(limits).object.value + 1;

    return object > PART_MAX_BYTES ? object : PART_MAX_BYTES;
}

/*
 * git_libgit2_init() loads all certificates of the system for the TLS of
 * libgit2, which is never used here; that takes 4 of its 4.5 ms of CPU. This
 * definition takes precedence over the one in libmbedx509 and loads none.
 */
int mbedtls_x509_crt_parse_file(void *chain, const char *path);

int mbedtls_x509_crt_parse_file(void *chain, const char *path)
{
    (void)chain;
    (void)path;
    return -1;
}

static void send_hello(struct session *s)
{
    struct link_hello hello = {
        .rewrites = {s->settings.rewrites, s->settings.rewrite_count},
        .ssh_command = s->settings.ssh_command,
        .ssh_variant = s->settings.ssh_variant,
    };

    settings_hosts(&s->settings, &s->arena, &hello.hosts, &hello.host_count);
    link_hello(&s->link, &hello);
}

static bool set_up(struct session *s, struct str first, struct err *e)
{
    struct link_options options;

    if (!link_read_options(first, &s->arena, &options, e))
        return false;
    s->verbose = options.verbose;
    s->limits = options.limits;
    if (!settings_load(&s->settings, options.hosts, options.host_count, e))
        return false;
    secrets_load(&s->secrets, &s->settings);
    if (!fs_open_dir(str_dup0(options.incoming, &s->arena), &s->parts.dirfd, e))
        return false;
    parts_init(&s->parts, s->parts.dirfd);
    send_hello(s);
    srandom((unsigned)getpid());
    if (!rights_give_up(&s->settings, str_dup0(options.incoming, &s->arena),
                        largest_file(&s->limits), e))
        return false;
    s->https = &transport_http;
    s->ssh = &transport_ssh;
    s->http = http_open(&s->settings, &s->limits);
    if (options.has_bundle)
        return team_store_open_bundle(s, channel_take_fd(&s->link.channel), e);
    team_store_open(s, &options.stores);
    return true;
}

static bool take_asks(struct session *s, struct err *e)
{
    bool got = true;

    while (got) {
        struct link_ask in;

        if (!link_next(&s->link, &s->arena, &in, &got, e))
            return false;
        if (got && !(in.what == FETCH_ARTIFACT ? team_store_ask(s, &in, e)
                                               : ask_start(s, &in, e)))
            return false;
    }
    return true;
}

static bool step_repos(struct session *s, struct err *e)
{
    for (size_t i = 0; i < s->repos.count; i++) {
        struct repo *r = s->repos.entries[i].value;

        if (r->is_dirty && !asks_step(r, e))
            return false;
    }
    return true;
}

static bool start_requests(struct session *s, uint64_t *wait_ms, struct err *e)
{
    for (size_t i = 0; i < s->repos.count; i++) {
        struct repo *r = s->repos.entries[i].value;

        if (!requests_start(r, wait_ms, e))
            return false;
        if (r->is_dirty)
            *wait_ms = 0;
    }
    return true;
}

/* If asks are open, but no request is running or delayed, that is a bug of this
 * program. Fails with an error instead of hanging. */
static bool fail_stuck(struct repo *r)
{
    static const char text[] = "nothing more to ask the server for, and yet "
                               "not all is here";
    struct err *why;

    if (r->open_count == 0 || r->dead || r->is_dirty || r->needs_caps ||
        team_store_holds(r))
        return false;
    for (size_t i = 0; i < REQUEST_COUNT; i++)
        if (r->slots[i].busy || r->slots[i].not_before_ms > proc_now_ms())
            return false;
    why = arena_new(&r->arena, struct err);
    err_set(why, ERR_FAILED, "%s", text);
    r->dead = why;
    r->is_dirty = true;
    return true;
}

static void fail_all_stuck(struct session *s, uint64_t *wait_ms)
{
    for (size_t i = 0; i < s->repos.count; i++)
        if (fail_stuck(s->repos.entries[i].value))
            *wait_ms = 0;
}

/* Sets `*wait_ms` to 0, since another request may be due. */
static bool finish_request(struct session *s, struct exchange *x,
                           uint64_t *wait_ms, struct err *e)
{
    /* Before the resulting events: mapm reads no frame after the last event. */
    session_report_progress(s, true);
    *wait_ms = 0;
    return request_finish(x, e);
}

static bool finish_requests(struct session *s, uint64_t *wait_ms, struct err *e)
{
    struct http_call *call;
    struct exchange *x;

    while ((call = http_next(s->http)) != NULL) {
        if (call->request)
            *wait_ms = 0;
        if (call->request ? !call->request->over(call, e)
                          : !finish_request(s, call->ctx, wait_ms, e))
            return false;
    }
    if (!pipes_step(s, wait_ms, e))
        return false;
    while ((x = pipes_next(s)) != NULL)
        if (!finish_request(s, x, wait_ms, e))
            return false;
    return true;
}

static void wait(struct session *s, uint64_t wait_ms)
{
    struct pollfd fds[WAIT_MAX_FDS] = {{.fd = PARENT_FD, .events = POLLIN}};

    if (channel_has_output(&s->link.channel))
        fds[0].events |= POLLOUT;
    http_wait(s->http, fds, 1 + pipes_poll(s, fds + 1, WAIT_MAX_FDS - 1),
              (unsigned)wait_ms);
}

static bool serve(struct session *s, struct err *e)
{
    while (!s->link.is_closed) {
        uint64_t wait_ms = IDLE_MS;

        if (!take_asks(s, e) || !step_repos(s, e) ||
            !team_store_advance(s, &wait_ms, e) || !step_repos(s, e))
            return false;
        if (s->link.is_drained) {
            if (!start_requests(s, &wait_ms, e))
                return false;
            fail_all_stuck(s, &wait_ms);
        }
        if (!finish_requests(s, &wait_ms, e) || !step_repos(s, e))
            return false;
        places_report_cost(s);
        session_report_progress(s, false);
        if (!link_flush(&s->link, e))
            return false;
        if (s->link.first)
            wait_ms = 0; /* frames arrived during a wait for a response */
        wait(s, wait_ms);
    }
    return true;
}

/* Serves fetches, or one API request, push, bundle or archive. */
static bool run(struct session *s, struct err *e)
{
    struct frame first;

    if (!link_first(&s->link, &first, e))
        return false;
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0 || git_libgit2_init() < 0)
        return err_set(e, ERR_FAILED, "libcurl or libgit2 cannot be used");
    if (first.type == FRAME_POST)
        return api_serve(&s->link, first.body, e);
    if (first.type == FRAME_PUSH)
        return push_serve(s, first.body, e);
    if (first.type == FRAME_BUNDLE)
        return bundle_lock_serve(&s->link, e);
    if (first.type == FRAME_UNPACK)
        return unpack_serve(&s->link, first.body, e);
    return set_up(s, first.body, e) && serve(s, e);
}

int main(void)
{
    struct session *s = heap_alloc(sizeof *s);
    struct err e = {0};
    int code = 0;

    proc_init();
    prctl(PR_SET_DUMPABLE, 0); /* prevents a core dump that could contain a
                                * token */
    if (fcntl(PARENT_FD, F_GETFD) < 0) {
        fputs("mapm-fetch is started by mapm\n", stderr);
        return 2;
    }
    s->parts.dirfd = -1;
    link_init(&s->link, PARENT_FD);
    map_init(&s->repos, &s->arena);
    map_init(&s->places, &s->arena);
    if (!run(s, &e)) {
        link_fatal(&s->link, &e);
        code = 1;
    }
    /* Without cleanup, which is impossible once the rights are dropped. */
    _exit(code);
}

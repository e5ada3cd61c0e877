#include "base/env.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/fetch.h"
#include "mapm/limits.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "backend.h"
#include "chat.h"

#define ANSWER_MAX_TOKENS 16384 /* enough for ANSWER_MAX_CHARS in any script */
#define ANSWER_MIN_BYTES  (1u << 20)
#define ANSWER_MAX_BYTES  (32u << 20)
#define CHAR_MAX_BYTES    12 /* such as "\ud83d\ude00" */
#define KEY_MAX_BYTES     8192
#define KEY_MIN_HIDDEN    8 /* shorter values are ordinary words, not secrets */
#define MODEL_MAX_BYTES   200
#define TRIES_MAX         4
#define FIRST_WAIT_MS     500 /* doubled with each attempt */
#define RETRY_MAX_S                                                            \
    60 /* a longer requested wait is reported to the
                               * user */
#define SLEEP_MS 20

/* clang-format off */
static const struct api {
    const char *name;
    enum chat_shape shape;
    const char *base, *base_env, *key_env;
    const char *path;
    const char *key_header; /* header that carries the key, up to its value */
    const char *version;    /* additional header, or NULL */
} apis[] = {
    {"anthropic", CHAT_ANTHROPIC, "https://api.anthropic.com",
     "ANTHROPIC_BASE_URL", "ANTHROPIC_API_KEY", "/v1/messages",
     "x-api-key: ", "anthropic-version: 2023-06-01"},
    {"openai", CHAT_OPENAI, "https://api.openai.com/v1",
     "OPENAI_BASE_URL", "OPENAI_API_KEY", "/chat/completions",
     "authorization: Bearer ", NULL},
};
/* clang-format on */

struct http_backend {
    const struct api *api;
    struct str key;      /* "" if none is sent */
    struct str key_from; /* source of the key, for messages */
};

static const struct api *api_find(struct str name)
{
    for (size_t i = 0; i < sizeof apis / sizeof *apis; i++)
        if (str_is(name, apis[i].name))
            return &apis[i];
    return NULL;
}

/* --- where ---------------------------------------------------------------- */

/* Rejects an invalid URL without quoting it, since it may contain a
 * password. */
static bool base_is_good(struct str s)
{
    struct str rest = s;

    if (str_starts(s, STR("https://")))
        rest = str_from_index(s, 8);
    else if (str_starts(s, STR("http://")))
        rest = str_from_index(s, 7);
    else
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] > '~' || s.p[i] == '@' || s.p[i] == '?' ||
            s.p[i] == '#' || s.p[i] == '\\')
            return false;
    return s.n <= ORIGIN_MAX_BYTES / 2 && rest.n > 0 && rest.p[0] != '/';
}

/* Accepts base URLs with and without "/v1". */
static struct str address_of(const struct api *api, struct str base,
                             struct arena *a)
{
    struct str host;

    while (str_ends(base, STR("/")))
        base.n--;
    host = str_from_index(base, str_find(base, STR("://")) + 3);
    if (api->shape == CHAT_ANTHROPIC && str_ends(base, STR("/v1")))
        base.n -= 3;
    if (api->shape == CHAT_OPENAI && !str_has_char(host, '/'))
        base = str_join(base, STR("/v1"), a);
    return str_join(base, str_cstr(api->path), a);
}

/* `*is_own` is set if the URL is in the user's file. */
static bool choose_address(struct backend *k, const struct api *api,
                           const struct backend_request *w, bool *is_own,
                           struct err *e)
{
    struct str base = env_get(api->base_env);

    *is_own = w->configured && w->configured->url.n;
    if (*is_own)
        base = w->configured->url;
    else if (base.n == 0)
        base = str_cstr(api->base);
    if (!base_is_good(base)) {
        err_set(e, ERR_USAGE, "%s is not the address of an API",
                *is_own ? "http: in config.yaml" : api->base_env);
        return err_hint(e,
                        "it has a host, perhaps a port and a path, and "
                        "nothing else: %s",
                        api->base);
    }
    k->program = address_of(api, base, k->arena);
    return true;
}

/* "http://127.0.0.1:8080/v1" -> "127.0.0.1" */
static struct str host_of(struct str url)
{
    struct str rest = str_from_index(url, str_find(url, STR("://")) + 3);
    size_t end = 0;

    if (rest.n && rest.p[0] == '[')
        return str_slice(rest, 0, str_find_char(rest, ']') + 1);
    while (end < rest.n && rest.p[end] != '/' && rest.p[end] != ':')
        end++;
    return str_slice(rest, 0, end);
}

static bool check_offline(const struct backend *k,
                          const struct backend_request *w, struct err *e)
{
    if (!w->all->offline || origin_host_is_loopback(host_of(k->program)))
        return true;
    err_set(e, ERR_OFFLINE, "%.*s is not on this machine", STR_ARG(k->program));
    return err_hint(e, "run it without --offline, or ask a local server");
}

/* --- the key -------------------------------------------------------------- */

static bool check_key(const struct http_backend *h, struct err *e)
{
    for (size_t i = 0; i < h->key.n; i++)
        if (h->key.p[i] <= ' ' || h->key.p[i] > '~')
            return err_set(
                e, ERR_FORMAT,
                "%.*s contains no valid key: a blank, a line end or another "
                "character that keys do not have",
                STR_ARG(h->key_from));
    if (h->key.n > KEY_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "%.*s holds more than %u bytes",
                       STR_ARG(h->key_from), KEY_MAX_BYTES);
    return true;
}

/* Reads a key file. As in ssh, a file of the user that others can read is
 * rejected; a file of root is trusted. */
static bool read_key_file(struct http_backend *h, struct str path,
                          struct arena *a, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct str full = backend_expand_home(path, a), text;
    struct stat st;

    h->key_from = full;
    fd = fs_openat(AT_FDCWD, str_dup0(full, a),
                   O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0);
    if (fd < 0 && errno == ENOENT)
        return err_set(e, ERR_NOT_FOUND,
                       "%.*s, the file of the key, is not "
                       "there",
                       STR_ARG(full));
    if (fd < 0 || fstat(fd, &st) < 0)
        return err_errno(e, "read the key in %.*s", STR_ARG(full));
    if (!S_ISREG(st.st_mode))
        return err_set(e, ERR_REFUSED, "%.*s is not a regular file",
                       STR_ARG(full));
    if (st.st_mode & (st.st_uid == geteuid() ? 0077 : 0022)) {
        err_set(e, ERR_REFUSED, "%.*s holds a key, and others may %s it",
                STR_ARG(full), st.st_mode & 0022 ? "change" : "read");
        return err_hint(e, "chmod 600 %.*s", STR_ARG(full));
    }
    if (!fs_read_fd(fd, KEY_MAX_BYTES, a, &text, e))
        return err_wrap(e, "read the key in %.*s", STR_ARG(full));
    h->key = str_trim(text);
    if (h->key.n == 0)
        return err_set(e, ERR_FORMAT, "%.*s contains no key", STR_ARG(full));
    return true;
}

static bool no_key(struct str name, const char *hint, struct err *e)
{
    err_set(e, ERR_NOT_FOUND, "%.*s is not set", STR_ARG(name));
    return err_hint(e, "%s", hint);
}

/* Selects the key. The common key of the environment is used only for the API's
 * own URL or one in the environment. Any other URL needs its own key, or gets
 * none. */
static bool choose_key(struct backend *k, struct http_backend *h,
                       const struct backend_request *w, bool is_own,
                       struct err *e)
{
    const struct project_ask *settings = w->configured;
    struct str own = address_of(h->api, str_cstr(h->api->base), k->arena);
    bool is_default = str_eq(k->program, own);

    if (settings && settings->key_file.n)
        return read_key_file(h, settings->key_file, k->arena, e) &&
               check_key(h, e);
    if (settings && settings->key_env.n) {
        h->key_from = settings->key_env;
        h->key = str_trim(env_get(str_dup0(settings->key_env, k->arena)));
        if (h->key.n == 0)
            return no_key(h->key_from, "key_env in config.yaml names it", e);
        return check_key(h, e);
    }
    if (is_own && !is_default)
        return true;
    h->key_from = str_cstr(h->api->key_env);
    h->key = str_trim(env_get(h->api->key_env));
    if (h->key.n == 0 && is_default)
        return no_key(h->key_from,
                      "set it, or name another variable or a file in "
                      "config.yaml: key_env, key_file",
                      e);
    return check_key(h, e);
}

/* --- the model ------------------------------------------------------------ */

static bool choose_model(struct backend *k, const struct backend_request *w,
                         struct err *e)
{
    struct str model = w->configured ? w->configured->model : str_make("", 0);

    if (model.n == 0)
        model = str_trim(env_get("MAPM_ASK_MODEL"));
    if (model.n == 0) {
        err_set(e, ERR_NOT_FOUND, "no model is named for %.*s",
                STR_ARG(k->name));
        return err_hint(e,
                        "set MAPM_ASK_MODEL, or \"model\" in config.yaml: "
                        "ask: {preset: %.*s, model: NAME}",
                        STR_ARG(k->name));
    }
    if (model.n > MODEL_MAX_BYTES || !text_is_utf8(model) ||
        text_has_control(model))
        return err_set(e, ERR_USAGE, "invalid model name");
    k->model = arena_str(k->arena, model);
    return true;
}

static bool http_prepare(struct backend *k, const struct backend_request *w,
                         struct err *e)
{
    struct http_backend *h = arena_new(k->arena, struct http_backend);
    bool is_own;

    h->api = api_find(k->name);
    k->own = h;
    return choose_address(k, h->api, w, &is_own, e) && check_offline(k, w, e) &&
           choose_key(k, h, w, is_own, e) && choose_model(k, w, e);
}

void backend_http_find(const char *name, const struct backend_request *w,
                       struct arena *a, struct backend_found *out)
{
    struct backend k = {.name = str_cstr(name), .arena = a};
    struct err e = {0};

    out->name = name;
    out->place = str_make("", 0);
    if (http_prepare(&k, w, &e)) {
        out->place = k.program;
        out->note = arena_printf(a, "model %.*s", STR_ARG(k.model));
    } else {
        out->note = arena_str(a, str_cstr(err_first(&e)));
    }
}

/* --- asking --------------------------------------------------------------- */

/* One model call of one or more requests. */
struct turn {
    struct backend *k;
    const struct http_backend *own;
    const struct ask *in;
    const struct backend_progress *news;
    struct fetch_post post;
    struct arena *arena;
};

static void tick(void *ctx)
{
    const struct turn *t = ctx;

    backend_report_progress(t->news, 0, str_make("", 0));
}

/* OpenAI's own API, also as served by Azure, has a newer name for
 * max_tokens. */
static bool is_openai(const struct backend *k)
{
    struct str host = host_of(k->program);

    return str_is(host, "api.openai.com") ||
           str_ends(host, STR(".openai.azure.com"));
}

static void write_request(struct turn *t)
{
    const struct api *api = t->own->api;
    struct str *headers = arena_array(t->arena, 4, sizeof *headers);
    struct buf body;
    size_t n = 0;

    headers[n++] = STR("content-type: application/json");
    headers[n++] = STR("accept: application/json");
    if (api->version)
        headers[n++] = str_cstr(api->version);
    if (t->own->key.n)
        headers[n++] =
            str_join(str_cstr(api->key_header), t->own->key, t->arena);
    t->post.url = t->k->program;
    t->post.headers = headers;
    t->post.header_count = n;

    buf_init(&body, SIZE_MAX / 4);
    chat_write(&(struct chat_request){.shape = api->shape,
                                      .model = t->k->model,
                                      .prompt = t->in->prompt,
                                      .max_tokens = ANSWER_MAX_TOKENS,
                                      .is_openai = is_openai(t->k)},
               &body);
    t->post.body = arena_str(t->arena, buf_str(&body));
    buf_done(&body);
}

static size_t answer_bytes(size_t max_chars)
{
    size_t room = ANSWER_MAX_BYTES - ANSWER_MIN_BYTES;

    if (max_chars > room / CHAR_MAX_BYTES)
        return ANSWER_MAX_BYTES;
    return ANSWER_MIN_BYTES + max_chars * CHAR_MAX_BYTES;
}

/* Removes the key, which some servers repeat in errors. */
static struct str hide_key(const struct turn *t, struct str text)
{
    struct str key = t->own->key;
    CLEANUP(buf_done) struct buf b;
    size_t at;

    if (key.n < KEY_MIN_HIDDEN || str_find(text, key) == SIZE_MAX)
        return text;
    buf_init(&b, 2 * text.n + 16);
    while ((at = str_find(text, key)) != SIZE_MAX) {
        buf_append(&b, str_slice(text, 0, at));
        buf_text(&b, "[key]");
        text = str_from_index(text, at + key.n);
    }
    buf_append(&b, text);
    return arena_str(t->arena, buf_str(&b));
}

static bool may_retry(long status)
{
    return status == 408 || status == 429 || status == 529 ||
           (status >= 500 && status != 501 && status != 505);
}

static void hint_access(const struct turn *t, struct err *e)
{
    if (t->own->key.n)
        err_hint(e, "check the key in %.*s, and what it may use",
                 STR_ARG(t->own->key_from));
    else
        err_hint(e,
                 "no key was sent: set %s, or name a variable or a file in "
                 "config.yaml: key_env, key_file",
                 t->own->api->key_env);
}

static bool fail_status(const struct turn *t, const struct fetch_reply *r,
                        struct err *e)
{
    struct str said = hide_key(t, chat_complaint(r->body, t->arena));
    bool is_access = r->status == 401 || r->status == 403;

    err_set(e, is_access ? ERR_AUTH : ERR_FETCH, "HTTP %ld from %.*s%s%.*s",
            r->status, STR_ARG(t->k->program), said.n ? ": " : "",
            STR_ARG(said));
    if (is_access)
        hint_access(t, e);
    else if (r->status == 404)
        err_hint(e, "check the model's name, %.*s, and the address",
                 STR_ARG(t->k->model));
    else if (r->retry_after_s > RETRY_MAX_S)
        err_hint(e, "the API asks to come back in %u seconds",
                 r->retry_after_s);
    return false;
}

/* Waits before the next attempt. Returns false if there is none; `e` is set
 * only after a signal. */
static bool wait_for_retry(const struct turn *t, const struct fetch_reply *r,
                           unsigned tried, struct err *e)
{
    uint64_t ms = (uint64_t)FIRST_WAIT_MS << (tried - 1);
    uint64_t until;
    struct str line;

    if (r->retry_after_s > RETRY_MAX_S || tried >= TRIES_MAX)
        return false;
    if (r->retry_after_s)
        ms = (uint64_t)r->retry_after_s * 1000;
    until = proc_now_ms() + ms;
    if (until >= t->in->deadline_ms)
        return false;
    line = arena_printf(t->arena, "HTTP %ld: again in %u s", r->status,
                        (unsigned)((ms + 999) / 1000));
    while (proc_now_ms() < until) {
        backend_report_progress(t->news, 0, line);
        poll(NULL, 0, SLEEP_MS);
        if (proc_interrupted())
            return err_set(e, ERR_INTERRUPTED, "interrupted");
    }
    return true;
}

/* Repeats the request until it gets a 2xx response or must not be retried. */
static bool request(struct turn *t, struct fetch_reply *out, struct err *e)
{
    for (unsigned tried = 1;; tried++) {
        if (!fetch_post(&t->post, t->arena, out, e))
            return false;
        if (out->status >= 200 && out->status < 300)
            return true;
        fail_status(t, out, e);
        if (!may_retry(out->status) || !wait_for_retry(t, out, tried, e))
            return false;
    }
}

static bool read_answer(const struct turn *t, struct str body,
                        struct answer *out, struct err *e)
{
    struct chat_reply reply;
    struct err why = {0};
    struct answer got = {.turns = 1};

    if (!chat_read(t->own->api->shape, body, t->arena, &reply, &why)) {
        struct str said = hide_key(t, str_cstr(err_first(&why)));

        err_set(e, why.code, "%.*s: %.*s", STR_ARG(t->k->program),
                STR_ARG(said));
        if (why.hint[0])
            err_hint(e, "%s", why.hint);
        return false;
    }
    got.exhausted = got.truncated = reply.exhausted;
    got.text = backend_text(hide_key(t, reply.text), t->in->max_chars, t->arena,
                            &got.truncated); /* recorded on tapes as well */
    backend_report_progress(t->news, 1, got.text);
    *out = got;
    return true;
}

static bool http_ask(struct backend *k, struct str dir, const struct ask *in,
                     const struct backend_progress *news, struct arena *a,
                     struct answer *out, struct err *e)
{
    struct turn t = {.k = k, .own = k->own, .in = in, .news = news, .arena = a};
    struct fetch_reply reply;

    (void)dir; /* the API gets the prompt only */
    t.post.max_bytes = answer_bytes(in->max_chars);
    t.post.deadline_ms = in->deadline_ms;
    t.post.tick = tick;
    t.post.ctx = &t;
    write_request(&t);
    return (request(&t, &reply, e) && read_answer(&t, reply.body, out, e)) ||
           err_wrap(e, "%.*s (%.*s) did not respond", STR_ARG(k->name),
                    STR_ARG(k->model));
}

const struct backend_kind backend_http_kind = {http_prepare, http_ask};

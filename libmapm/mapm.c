#include "mapm.h"

#include "base/fs.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "engine_client.h"

/* Implements mapm.h, except mapm_on_out_of_memory(). */

#ifndef MAPM_LIBEXECDIR /* set by the Makefile from PREFIX */
#    define MAPM_LIBEXECDIR "/usr/local/libexec/mapm"
#endif

const char *mapm_version(void)
{
    return MAPM_VERSION;
}

/* --- a workspace ---------------------------------------------------------------- */

static const char *copy(struct mapm *m, const char *text)
{
    return text ? arena_text(&m->own, text, strlen(text)) : NULL;
}

static const char *const *copy_list(struct mapm *m, const char *const *list)
{
    const char **copies;
    size_t count = 0;

    while (list && list[count])
        count++;
    copies = arena_array(&m->own, count + 1, sizeof *copies);
    for (size_t i = 0; i < count; i++)
        copies[i] = copy(m, list[i]);
    return list ? copies : NULL;
}

static const char *find_engine(struct mapm *m)
{
    const char *folder = m->options.libexec;

    if (!folder)
        folder = secure_getenv("MAPM_LIBEXEC");
    return fs_join(str_cstr(folder ? folder : MAPM_LIBEXECDIR),
                   STR("mapm-engine"), &m->own)
        .p;
}

struct mapm *mapm_open(const struct mapm_options *options)
{
    struct mapm *m = heap_alloc(sizeof *m);

    if (options)
        m->options = *options;
    m->options.workspace = copy(m, m->options.workspace);
    m->options.libexec = copy(m, m->options.libexec);
    m->options.environment = copy_list(m, m->options.environment);
    m->executable = find_engine(m);
    m->error = (struct mapm_error){.name = "none", .hint = ""};
    m->fd = m->lifeline = -1;
    pthread_mutex_init(&m->lock, NULL);
    return m;
}

void mapm_close(struct mapm *m)
{
    if (!m)
        return;
    client_end(m);
    pthread_mutex_destroy(&m->lock);
    arena_done(&m->arena);
    arena_done(&m->own);
    heap_free(m);
}

void mapm_cancel(struct mapm *m)
{
    pthread_mutex_lock(&m->lock);
    m->is_canceled = true;
    if (m->lifeline >= 0 && send(m->lifeline, "", 1, MSG_NOSIGNAL) < 0) {
        /* The engine has ended already. */
    }
    pthread_mutex_unlock(&m->lock);
}

const struct mapm_error *mapm_last_error(const struct mapm *m)
{
    return &m->error;
}

/* --- operations -------------------------------------------------------------------- */

/* Performs an operation. `out` points to a pointer that is set to the records;
 * NULL if there is no result. */
static bool call(struct mapm *m, struct wire_call c, enum wire_type type,
                 void *out, size_t *count)
{
    const struct wire_message *result = &m->results[type];

    if (!client_begin(m, WIRE_CALL, &c) || !client_finish(m))
        return false;
    if (out) {
        memcpy(out, &result->records, sizeof result->records);
        *count = result->count;
    }
    return true;
}

bool mapm_list(struct mapm *m, const struct mapm_package **out, size_t *count)
{
    return call(m, (struct wire_call){.operation = CALL_LIST}, WIRE_PACKAGE,
                out, count);
}

bool mapm_verify(struct mapm *m, bool remote, const struct mapm_finding **out,
                 size_t *count)
{
    return call(m, (struct wire_call){.operation = CALL_VERIFY, .flag = remote},
                WIRE_FINDING, out, count);
}

bool mapm_lint(struct mapm *m, const char *const *paths, size_t path_count,
               const char *profile, bool is_strict,
               const struct mapm_diagnostic **out, size_t *count)
{
    const struct wire_call c = {.operation = CALL_LINT,
                                .texts = paths,
                                .text_count = path_count,
                                .text = profile,
                                .flag = is_strict};

    return call(m, c, WIRE_DIAGNOSTIC, out, count);
}

bool mapm_skills(struct mapm *m, const struct mapm_skill **out, size_t *count)
{
    return call(m, (struct wire_call){.operation = CALL_SKILLS}, WIRE_SKILL,
                out, count);
}

bool mapm_search(struct mapm *m, const char *query, size_t limit,
                 const struct mapm_skill **out, size_t *count)
{
    const struct wire_call c = {
        .operation = CALL_SEARCH, .text = query, .limit = limit};

    return call(m, c, WIRE_SKILL, out, count);
}

bool mapm_match(struct mapm *m, const char *request, size_t limit, double score,
                const struct mapm_skill **out, size_t *count)
{
    const struct wire_call c = {.operation = CALL_MATCH,
                                .text = request,
                                .limit = limit,
                                .score = score};

    return call(m, c, WIRE_SKILL, out, count);
}

/* Gets the only record of the result of an operation. */
static bool one(struct mapm *m, enum wire_type type, const void **out)
{
    struct err e = {0};

    *out = m->results[type].records;
    if (m->results[type].count == 1)
        return true;
    err_set(&e, ERR_FORMAT, "mapm-engine sent no result");
    return client_fail(m, &e);
}

bool mapm_load(struct mapm *m, const char *name, const struct mapm_loaded **out)
{
    const struct wire_call c = {.operation = CALL_LOAD, .text = name};
    const void *result;

    if (!call(m, c, WIRE_LOADED, NULL, NULL) || !one(m, WIRE_LOADED, &result))
        return false;
    *out = result;
    return true;
}

bool mapm_read_resource(struct mapm *m, const char *name, const char *path,
                        const char **text, size_t *length)
{
    const struct wire_call c = {
        .operation = CALL_READ_RESOURCE, .text = name, .path = path};
    const struct wire_blob *blob;
    const void *result;

    if (!call(m, c, WIRE_BLOB, NULL, NULL) || !one(m, WIRE_BLOB, &result))
        return false;
    blob = result;
    *text = blob->bytes;
    *length = blob->length;
    return true;
}

/* --- trust --------------------------------------------------------------------------- */

bool mapm_list_trust(struct mapm *m, const struct mapm_trusted **out,
                     size_t *count)
{
    return call(m, (struct wire_call){.operation = CALL_LIST_TRUST},
                WIRE_TRUSTED, out, count);
}

bool mapm_trust(struct mapm *m, const char *name)
{
    const struct wire_call c = {.operation = CALL_TRUST, .text = name};

    return call(m, c, WIRE_TRUSTED, NULL, NULL);
}

bool mapm_revoke_trust(struct mapm *m, const char *name)
{
    const struct wire_call c = {.operation = CALL_REVOKE_TRUST, .text = name};

    return call(m, c, WIRE_TRUSTED, NULL, NULL);
}

/* --- changes --------------------------------------------------------------------------- */

bool mapm_plan(struct mapm *m, const struct mapm_change_request *request,
               const struct mapm_plan **out)
{
    const void *result;

    if (!client_begin(m, WIRE_CHANGE_REQUEST, request) || !client_finish(m) ||
        !one(m, WIRE_PLAN, &result))
        return false;
    *out = result;
    return true;
}

bool mapm_apply(struct mapm *m, const struct mapm_change **out, size_t *count)
{
    const struct wire_answer yes = {.is_yes = true};
    struct err e = {0};

    if (!m->is_planned) {
        err_set(&e, ERR_USAGE, "there is no plan to apply");
        return client_fail(m, &e);
    }
    m->is_planned = false;
    if (!client_reply(m, &yes) || !client_finish(m))
        return false;
    *out = m->results[WIRE_CHANGE].records;
    *count = m->results[WIRE_CHANGE].count;
    return true;
}

void mapm_discard(struct mapm *m)
{
    client_end(m);
}

/* --- metaskills -------------------------------------------------------------------------- */

bool mapm_run(struct mapm *m, const struct mapm_run_request *request,
              const struct mapm_run_result **out)
{
    const struct wire_run_request r = {
        .r = *request,
        .has_ask = request->ask != NULL,
        .has_event = request->event != NULL,
    };
    const void *result;

    if (!client_begin(m, WIRE_RUN_REQUEST, &r))
        return false;
    m->run = request;
    if (!client_finish(m) || !one(m, WIRE_RUN_RESULT, &result))
        return false;
    *out = result;
    return true;
}

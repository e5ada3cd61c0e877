/*
 * host: a program of yours that installs packages, finds skills and runs a
 * metaskill in several workspaces at once.
 *
 *     cc host.c $(pkg-config --cflags --libs mapm) -pthread -o host
 *     ./host ORIGIN METASKILL WORKSPACE...
 *
 * Each workspace has a thread and a handle of its own. The metaskill's ask() is
 * answered by this program; the second run is canceled by another thread while
 * it waits for the answer.
 */
#include <mapm.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct job {
    const char *origin, *metaskill, *workspace;
    struct mapm *m;
    pthread_t thread;
    bool cancel; /* instead of answering */
    bool ok;
};

static bool report(const struct job *j, const char *what)
{
    const struct mapm_error *e = mapm_last_error(j->m);

    for (size_t i = 0; i < e->message_count; i++)
        fprintf(stderr, "%s: %s: %s\n", j->workspace, what, e->messages[i]);
    if (e->hint[0])
        fprintf(stderr, "%s: hint: %s\n", j->workspace, e->hint);
    return false;
}

/* --- callbacks, called in the thread of the operation ----------------------------- */

static void on_notice(void *ctx, enum mapm_notice level, const char *text)
{
    const struct job *j = ctx;

    fprintf(stderr, "%s: %s%s\n", j->workspace,
            level == MAPM_WARNING ? "warning: " : "", text);
}

static void on_progress(void *ctx, const struct mapm_progress *p)
{
    const struct job *j = ctx;

    if (p)
        fprintf(stderr, "%s: %u of %u packages\n", j->workspace, p->done,
                p->total);
}

/* A program with a person in front of it would ask. */
static bool on_confirm(void *ctx, enum mapm_question kind, const char *question)
{
    const struct job *j = ctx;

    printf("%s: %s yes\n", j->workspace, question);
    return kind == MAPM_TRUST;
}

static void *cancel(void *m)
{
    mapm_cancel(m);
    return NULL;
}

static bool on_ask(void *ctx, const struct mapm_ask *ask,
                   struct mapm_answer *out)
{
    const struct job *j = ctx;
    pthread_t other;

    printf("%s: ask %u: %s\n", j->workspace, ask->number, ask->prompt);
    if (j->cancel && pthread_create(&other, NULL, cancel, j->m) == 0)
        pthread_join(other, NULL);
    out->text = "feat: an answer of the host";
    out->turns = 1;
    return true;
}

static void on_event(void *ctx, const struct mapm_event *e)
{
    const struct job *j = ctx;

    if (strcmp(e->kind, "finish") == 0)
        printf("%s: finished: %s\n", j->workspace, e->text);
}

/* --- what is done in a workspace ----------------------------------------------------- */

static bool install(struct job *j)
{
    const struct mapm_change_request request = {
        .command = MAPM_INSTALL, .arguments = &j->origin, .argument_count = 1};
    const struct mapm_change *changes;
    const struct mapm_plan *plan;
    size_t count;

    if (!mapm_plan(j->m, &request, &plan))
        return report(j, "plan");
    for (size_t i = 0; i < plan->package_count; i++)
        printf("%s: %s %s %s\n", j->workspace, plan->packages[i].action,
               plan->packages[i].type, plan->packages[i].name);
    if (!mapm_apply(j->m, &changes, &count))
        return report(j, "apply");
    printf("%s: %zu changes\n", j->workspace, count);
    return true;
}

static bool search(struct job *j)
{
    const struct mapm_skill *skills;
    size_t count;

    if (!mapm_search(j->m, j->metaskill, 3, &skills, &count))
        return report(j, "search");
    for (size_t i = 0; i < count; i++)
        printf("%s: found %s: %s\n", j->workspace, skills[i].name,
               skills[i].description);
    return true;
}

static bool run(struct job *j)
{
    const struct mapm_run_request request = {.name = j->metaskill,
                                             .input = "{\"task\": \"test\"}",
                                             .ask = on_ask,
                                             .event = on_event,
                                             .ctx = j};
    const struct mapm_run_result *result;

    if (!mapm_run(j->m, &request, &result))
        return report(j, "run");
    printf("%s: %s\n", j->workspace, result->text);
    return result->is_completed;
}

static bool run_canceled(struct job *j)
{
    j->cancel = true;
    if (run(j) || mapm_last_error(j->m)->code != MAPM_INTERRUPTED)
        return false;
    printf("%s: canceled\n", j->workspace);
    return true;
}

static void *work(void *ctx)
{
    struct job *j = ctx;

    j->m = mapm_open(&(struct mapm_options){
        .workspace = j->workspace,
        .notice = on_notice,
        .progress = on_progress,
        .confirm = on_confirm,
        .ctx = j,
    });
    j->ok = install(j) && search(j) && run(j) && run_canceled(j);
    mapm_close(j->m);
    return NULL;
}

int main(int argc, char **argv)
{
    struct job jobs[8] = {0};
    int count = argc - 3;
    bool ok = true;

    if (count < 1 || count > 8) {
        fputs("usage: host ORIGIN METASKILL WORKSPACE... (at most 8)\n",
              stderr);
        return 2;
    }
    for (int i = 0; i < count; i++) {
        jobs[i].origin = argv[1];
        jobs[i].metaskill = argv[2];
        jobs[i].workspace = argv[3 + i];
        if (pthread_create(&jobs[i].thread, NULL, work, &jobs[i]) != 0)
            return 1;
    }
    for (int i = 0; i < count; i++) {
        pthread_join(jobs[i].thread, NULL);
        ok = ok && jobs[i].ok;
    }
    return ok ? 0 : 1;
}

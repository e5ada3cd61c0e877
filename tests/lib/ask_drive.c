/*
 * ask_drive: asks an API, without a metaskill.
 *
 *     ask_drive post URL [OPTION…] <BODY      fetch_post alone
 *     ask_drive ask NAME [OPTION…] <PROMPT    the backend "anthropic" or "openai"
 *     ask_drive find NAME [OPTION…]           where it would be asked
 *
 *     --header LINE   one more                --max N     bytes of the answer
 *     --ms N          until the deadline      --chars N   of the answer
 *     --url U  --model M  --key-env E  --key-file F       as config.yaml has it
 *     --news          progress messages, to stderr
 */
#include "base/fs.h"
#include "base/proc.h"
#include "mapm/fetch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../runtime/backend.h"

#define INPUT_MAX (64u << 20)

struct drive {
    struct arena arena;
    struct str headers[40];
    struct fetch_post post;
    struct project_ask said;
    struct backend_selection wishes;
    struct backend_request wish;
    size_t chars;
    bool has_news, has_said;
    unsigned ticks;
    char last[256];
};

static int fail(const struct err *e)
{
    printf("FAILED [%s]", err_code_name(e->code));
    for (const char *m = NULL; (m = err_next(e, m)) != NULL;)
        printf(" | %s", m);
    printf("%s%s\n", e->hint[0] ? " || " : "", e->hint);
    return e->code == ERR_INTERRUPTED ? 130 : 1;
}

static void on_tick(void *ctx)
{
    ((struct drive *)ctx)->ticks++;
}

static int post(struct drive *d, const char *url)
{
    struct fetch_reply r;
    struct err e = {0};

    d->post.url = str_cstr(url);
    d->post.headers = d->headers;
    d->post.tick = on_tick;
    d->post.ctx = d;
    if (!fetch_post(&d->post, &d->arena, &r, &e))
        return fail(&e);
    printf("STATUS %ld retry-after=%u bytes=%zu ticked=%s\n", r.status,
           r.retry_after_s, r.body.n, d->ticks ? "yes" : "no");
    fwrite(r.body.p, 1, r.body.n, stdout);
    return 0;
}

/* Each line once. */
static void tell(void *ctx, unsigned turns, struct str line)
{
    struct drive *d = ctx;
    char text[256];

    snprintf(text, sizeof text, "NEWS %u %.*s", turns, STR_ARG(line));
    if (line.n && strcmp(text, d->last) != 0)
        fprintf(stderr, "%s\n", text);
    if (line.n)
        memcpy(d->last, text, sizeof text);
}

static int ask(struct drive *d, const char *name)
{
    struct backend k = {
        .kind = &backend_http_kind, .name = str_cstr(name), .arena = &d->arena};
    struct ask in = {.number = 1,
                     .prompt = d->post.body,
                     .deadline_ms = d->post.deadline_ms,
                     .max_chars = d->chars};
    const struct backend_progress news = {tell, d};
    struct answer out;
    struct err e = {0};

    if (!k.kind->prepare(&k, &d->wish, &e) ||
        !k.kind->ask(&k, STR("/"), &in, d->has_news ? &news : NULL, &d->arena,
                     &out, &e))
        return fail(&e);
    printf("ANSWER turns=%u exhausted=%d truncated=%d bytes=%zu\n", out.turns,
           out.exhausted, out.truncated, out.text.n);
    fwrite(out.text.p, 1, out.text.n, stdout);
    return 0;
}

static int find(struct drive *d, const char *name)
{
    struct backend_found f;

    backend_http_find(name, &d->wish, &d->arena, &f);
    printf("%s place=%.*s note=%.*s\n", f.name, STR_ARG(f.place),
           STR_ARG(f.note));
    return 0;
}

static bool take_option(struct drive *d, const char *name, const char *value)
{
    static const struct {
        const char *name;
        size_t offset;
    } texts[] = {
        {"--url", offsetof(struct project_ask, url)},
        {"--model", offsetof(struct project_ask, model)},
        {"--key-env", offsetof(struct project_ask, key_env)},
        {"--key-file", offsetof(struct project_ask, key_file)},
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(name, texts[i].name) == 0) {
            struct str s = str_cstr(value);

            memcpy((char *)&d->said + texts[i].offset, &s, sizeof s);
            return d->has_said = true;
        }
    if (strcmp(name, "--header") == 0 && d->post.header_count < 40)
        d->headers[d->post.header_count++] = str_cstr(value);
    else if (strcmp(name, "--max") == 0)
        d->post.max_bytes = strtoul(value, NULL, 10);
    else if (strcmp(name, "--ms") == 0)
        d->post.deadline_ms = proc_now_ms() + strtoul(value, NULL, 10);
    else if (strcmp(name, "--chars") == 0)
        d->chars = strtoul(value, NULL, 10);
    else
        return false;
    return true;
}

int main(int argc, char **argv)
{
    struct drive d = {.chars = ANSWER_MAX_CHARS};
    struct err e = {0};
    int code = 2;

    proc_init();
    proc_catch_signals();
    d.post.max_bytes = 1u << 20;
    d.post.deadline_ms = proc_now_ms() + 300000; /* the suite ends first */
    d.wish.all = &d.wishes;
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "--news") == 0)
            d.has_news = true;
        else if (i + 1 >= argc || !take_option(&d, argv[i], argv[i + 1]))
            return 2;
        else
            i++;
    }
    if (d.has_said)
        d.wish.configured = &d.said;
    if (argc < 3)
        return 2;
    if (strcmp(argv[1], "find") == 0)
        code = find(&d, argv[2]);
    else if (!fs_read_fd(0, INPUT_MAX, &d.arena, &d.post.body, &e))
        code = fail(&e);
    else if (strcmp(argv[1], "post") == 0)
        code = post(&d, argv[2]);
    else if (strcmp(argv[1], "ask") == 0)
        code = ask(&d, argv[2]);
    arena_done(&d.arena);
    return code;
}

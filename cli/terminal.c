#include "base/env.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/proc.h"
#include "base/text.h"

#include "command.h"

/* Implements the host of a context by the terminal: notices and questions are
 * written to stderr. */

static void show_notice(void *ctx, enum notice_level level, struct str text)
{
    struct invocation *inv = ctx;
    struct term *t = &inv->term;
    bool quiet = t->quiet;

    if (level == NOTICE_WARNING) {
        term_warn(t, "%.*s", STR_ARG(text));
        return;
    }
    t->quiet = quiet && level != NOTICE_QUESTION;
    term_note(t, "%.*s", STR_ARG(text));
    t->quiet = quiet;
}

static void show_progress(void *ctx, const struct progress *p)
{
    struct invocation *inv = ctx;
    char size[16];

    if (!p)
        term_progress_clear(&inv->term);
    else if (p->is_waiting)
        term_progress(&inv->term, "waiting for another mapm that downloads");
    else
        term_progress(&inv->term, "fetching: %u of %u packages, %s, %u.%u s",
                      p->done, p->total, text_bytes(p->bytes, size),
                      (unsigned)(p->elapsed_ms / 1000),
                      (unsigned)(p->elapsed_ms / 100 % 10));
}

static bool can_ask(void *ctx)
{
    const struct invocation *inv = ctx;

    return inv->term.is_in && inv->term.is_err;
}

/* Returns whether ssh may prompt: only where mapm itself may ask. */
static bool may_prompt(struct invocation *inv)
{
    return can_ask(inv) && !context_is_ci() && !has_option(inv, OPTION_YES) &&
           !str_is(env_get("GIT_TERMINAL_PROMPT"), "0");
}

static bool cancelled(void *ctx)
{
    (void)ctx;
    proc_catch_signals();
    return proc_interrupted();
}

static bool ask(void *ctx, enum question_kind kind, const char *question,
                bool *yes, struct err *e)
{
    struct invocation *inv = ctx;

    *yes = kind == QUESTION_CONSENT && has_option(inv, OPTION_YES);
    if (*yes)
        return true;
    if (term_ask(&inv->term, question, yes, e))
        return true;
    if (kind == QUESTION_CONSENT && e->code == ERR_REFUSED)
        err_hint(e, "look at what would be done, then give --yes");
    return false;
}

static bool choose(void *ctx, const char *question, const char *const *choices,
                   size_t count, uint64_t deadline_ms, size_t *chosen,
                   struct err *e)
{
    struct invocation *inv = ctx;

    return term_choose(&inv->term, question, choices, count, deadline_ms,
                       chosen, e);
}

void terminal_attach(struct invocation *inv)
{
    struct context *cx = &inv->cx;

    inv->terminal = (struct host){.notice = show_notice,
                                  .progress = show_progress,
                                  .confirm = ask,
                                  .choose = choose,
                                  .can_ask = can_ask,
                                  .cancelled = cancelled,
                                  .ctx = inv};
    cx->host = &inv->terminal;
    cx->use_global = has_option(inv, OPTION_GLOBAL);
    cx->member = option_value(inv, OPTION_MEMBER);
    cx->all_members = has_option(inv, OPTION_RECURSIVE);
    cx->is_offline = has_option(inv, OPTION_OFFLINE);
    cx->is_verbose = has_option(inv, OPTION_VERBOSE);
    cx->may_prompt = may_prompt(inv);
    cx->skill_roots = (struct skill_roots){
        .workspace = option_list(inv, OPTION_WORKSPACE_ROOT),
        .global = option_list(inv, OPTION_GLOBAL_ROOT),
        .extra = option_list(inv, OPTION_ROOT)};
}

struct json_writer *print_json_begin(struct invocation *inv, const char *schema,
                                     const char *command)
{
    buf_done(&inv->json_text); /* discard an incomplete document */
    json_open(&inv->json, &inv->json_text, SIZE_MAX / 4, 2);
    json_member_string(&inv->json, "schema", str_cstr(schema));
    if (command)
        json_member_string(&inv->json, "command", str_cstr(command));
    return &inv->json;
}

void print_json_end(struct invocation *inv)
{
    json_end_object(&inv->json);
    buf_char(&inv->json_text, '\n');
    term_write(&inv->term, buf_str(&inv->json_text));
    buf_done(&inv->json_text);
}

void print_json_record(struct invocation *inv, const char *schema,
                       const char *command, const struct json_record *r,
                       const void *value)
{
    json_put_members(print_json_begin(inv, schema, command), r, value);
    print_json_end(inv);
}

void print_error_json(struct invocation *inv, enum err_code code,
                      struct str text, const struct err *e)
{
    struct json_writer *w = print_json_begin(inv, "mapm.error/1", NULL);

    json_member_object(w, "error");
    json_member_string(w, "code", str_cstr(err_code_name(code)));
    json_member_array(w, "messages");
    if (text.n)
        json_string(w, text);
    for (const char *m = e ? err_prev(e, NULL) : NULL; m; m = err_prev(e, m))
        json_string(w, str_cstr(m));
    json_end_array(w);
    if (e && e->hint[0])
        json_member_string(w, "hint", str_cstr(e->hint));
    json_end_object(w);
    print_json_end(inv);
}

bool print_to_file(struct invocation *inv, enum option_id id, mode_t mode,
                   struct str text, struct err *e)
{
    struct str to = option_value(inv, id);

    if (str_is(to, "-")) {
        term_write(&inv->term, text);
        return true;
    }
    if (!fs_replace_user_file(fs_join(inv->cx.cwd, to, &inv->cx.arena).p, mode,
                              text, e))
        return false;
    if (!has_option(inv, OPTION_JSON))
        term_print(&inv->term, "wrote %.*s\n", STR_ARG(to));
    return true;
}

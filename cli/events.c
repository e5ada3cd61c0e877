#include "base/json.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/open_store.h"
#include "mapm/state_events.h"
#include "mapm/store.h"

#include <poll.h>
#include <unistd.h>

#include "command.h"

/*
 * Events of the library (T23 to T25): the newest, and with --follow each new
 * one, until a signal or until stdout is closed.
 */

#define LIST_DEFAULT   50
#define FOLLOW_AT_ONCE 1000
#define FOLLOW_MS      200
#define TYPE_COLUMNS   14

struct listing {
    struct invocation *inv;
    struct store *store;
    struct state_event_query query;
    bool json, follow;
    struct arena arena; /* of one round */
};

/* --- one event ---------------------------------------------------------------------------- */

/* Returns the time in UTC with microseconds (T24). */
static struct str utc_of(int64_t us, struct arena *a)
{
    char text[TEXT_TIME_BYTES];

    return arena_printf(a, "%s.%06uZ",
                        text_utc(us / 1000000, "%Y-%m-%dT%H:%M:%S", text),
                        us < 0 ? 0 : (unsigned)(us % 1000000));
}

/* A payload that is not JSON is shown as text. */
static void put_payload(struct json_writer *w, struct str text, struct arena *a)
{
    const struct json_options o = {.max_bytes = EVENT_MAX_BYTES};
    const struct json *tree = NULL;
    struct err ignored = {0};

    json_key(w, "payload");
    if (json_parse(text, &o, a, &tree, NULL, &ignored))
        json_value(w, tree);
    else
        json_string(w, text);
}

static void put_event(struct json_writer *w, const struct state_event *v,
                      struct arena *a)
{
    json_member_string(w, "id", v->id);
    json_member_string(w, "timestamp", utc_of(v->timestamp_us, a));
    json_member_string(w, "session_id", v->session_id);
    json_member_optional(w, "turn_id", v->turn_id);
    json_member_optional(w, "parent_event_id", v->parent_event_id);
    json_member_string(w, "type", v->type);
    json_member_string(w, "actor", v->actor);
    put_payload(w, v->payload, a);
    json_member_string(w, "sensitivity", v->sensitivity);
}

/* --follow --json: one document a line. */
static void print_line_json(struct listing *l, const struct state_event *v)
{
    struct json_writer w;
    struct buf b;

    json_open(&w, &b, SIZE_MAX / 4, 0);
    json_member_string(&w, "schema", STR("mapm.event/1"));
    put_event(&w, v, &l->arena);
    json_end_object(&w);
    buf_char(&b, '\n');
    term_write(&l->inv->term, buf_str(&b));
    buf_done(&b);
}

/* Returns the members of the payload on one line: "skill_id=pdf
 * source=global". */
static struct str brief(struct str payload, struct arena *a)
{
    const struct json_options o = {.max_bytes = EVENT_MAX_BYTES};
    const struct json *tree = NULL;
    struct err ignored = {0};
    struct str text = STR("");

    if (!json_parse(payload, &o, a, &tree, NULL, &ignored) ||
        tree->kind != JSON_OBJECT)
        return text_one_line(payload, a);
    for (const struct json *j = tree->first; j; j = j->next)
        if (j->kind == JSON_STRING || j->kind == JSON_NUMBER)
            text = arena_printf(a, "%.*s  %.*s=%.*s", STR_ARG(text),
                                STR_ARG(j->key), STR_ARG(j->text));
    return text_one_line(text, a);
}

static void print_event(struct listing *l, const struct state_event *v)
{
    char when[TEXT_TIME_BYTES];

    term_print(&l->inv->term, "%s  %-*.*s  %.*s  %.*s\n",
               text_local(v->timestamp_us / 1000000, "%Y-%m-%d %H:%M:%S", when),
               TYPE_COLUMNS, STR_ARG(v->type), STR_ARG(v->session_id),
               STR_ARG(brief(v->payload, &l->arena)));
}

/* --- all of them ------------------------------------------------------------------------- */

static void print_document(struct listing *l, const struct state_event *list,
                           size_t count)
{
    struct json_writer *w = print_json_begin(l->inv, "mapm.events/1", NULL);

    json_member_array(w, "events");
    for (size_t i = 0; i < count; i++) {
        json_begin_object(w);
        put_event(w, &list[i], &l->arena);
        json_end_object(w);
    }
    json_end_array(w);
    print_json_end(l->inv);
}

static bool show(struct listing *l, size_t *count, struct err *e)
{
    struct state_event *list;

    if (!state_list_events(store_state(l->store), &l->query, &l->arena, &list,
                           count, e))
        return false;
    if (l->json && !l->follow) {
        print_document(l, list, *count);
        return true;
    }
    for (size_t i = 0; i < *count; i++) {
        if (l->json)
            print_line_json(l, &list[i]);
        else
            print_event(l, &list[i]);
        l->query.after = list[i].row;
    }
    return true;
}

/* Waits for the next round. Returns false if stdout was closed or a signal
 * arrived. */
static bool wait_a_while(void)
{
    struct pollfd out = {.fd = STDOUT_FILENO};

    if (proc_interrupted())
        return false;
    if (poll(&out, 1, FOLLOW_MS) > 0 && (out.revents & (POLLERR | POLLNVAL)))
        return false;
    return !proc_interrupted();
}

static bool follow(struct listing *l, int *exit_code, struct err *e)
{
    size_t count;

    store_unlock(l->store); /* so that `mapm store gc` does not wait for this
                             * process */
    l->query.follow = true;
    l->query.max = FOLLOW_AT_ONCE;
    do {
        arena_done(&l->arena);
        if (!term_flush(&l->inv->term, e) || !show(l, &count, e) ||
            !term_flush(&l->inv->term, e))
            return false;
    } while (wait_a_while());
    *exit_code = proc_interrupted() ? EXIT_INTERRUPTED : EXIT_DONE;
    return true;
}

COMMAND(command_events)
{
    struct listing l = {
        .inv = inv,
        .query = {.type = option_value(inv, OPTION_TYPE),
                  .session_id = option_value(inv, OPTION_OF_SESSION)},
        .json = has_option(inv, OPTION_JSON),
        .follow = has_option(inv, OPTION_FOLLOW),
    };
    uint64_t max = LIST_DEFAULT;
    size_t count = 0;
    bool ok;

    if (!option_number(inv, OPTION_EVENTS, EVENTS_MAX, &max, e))
        return false;
    l.query.max = (size_t)max;
    if (!open_store(&inv->cx, &l.store, e))
        return false;
    if (l.follow)
        proc_catch_signals();
    ok = show(&l, &count, e) && (!l.follow || follow(&l, exit_code, e));
    if (ok && count == 0 && !l.follow && !l.json)
        term_note(&inv->term, "nothing happened so far");
    arena_done(&l.arena);
    close_store(&inv->cx, l.store);
    return ok;
}

#include "store_push.h"

#include "base/json_record.h"
#include "base/map.h"
#include "base/text.h"
#include "mapm/install_push.h"

#define FAILED_MAX_SHOWN 3 /* per reason */
#define TREE_CHARS       12

static const char *const states[] = {
    [INSTALL_SHARED] = "pushed",
    [INSTALL_WAS_THERE] = "there",
    [INSTALL_NOT_SHARED] = "failed",
    [INSTALL_KEPT_BACK] = "kept",
};

/* Parses "NAME... REMOTE": the last argument is the remote if it is a URL. */
static bool read_arguments(struct invocation *inv,
                           struct install_push_request *out, struct err *e)
{
    const struct str *items = inv->arguments.items + 1;
    size_t count = inv->arguments.count - 1;

    *out = (struct install_push_request){
        .to = option_value(inv, OPTION_TO),
        .again = has_option(inv, OPTION_PUSH_AGAIN)};
    if (count && str_find(items[count - 1], STR("://")) != SIZE_MAX)
        out->remote = items[--count];
    out->names = (struct str_list){items, count};
    return !out->remote.n || !out->to.n ||
           err_set(e, ERR_USAGE,
                   "--to DIR writes a folder, so no remote can "
                   "be named with it");
}

static const char *state_name(unsigned state)
{
    return states[state];
}

static const struct json_member shared_members[] = {
    JSON_MEMBER_NAMED(struct install_shared, "type", kind, doc_kind_name),
    JSON_MEMBER(struct install_shared, "name", package),
    JSON_MEMBER(struct install_shared, "proof", is_proof),
    JSON_MEMBER_IF(struct install_shared, "tree", tree),
    JSON_MEMBER_OR_NULL(struct install_shared, "object", object),
    JSON_MEMBER_NAMED(struct install_shared, "state", state, state_name),
    JSON_MEMBER(struct install_shared, "bytes", bytes),
    JSON_MEMBER_OR_NULL(struct install_shared, "message", message),
};
JSON_RECORD(shared, struct install_shared);

static void print_json(struct invocation *inv, bool is_push,
                       const struct install_push_result *r)
{
    struct json_writer *w =
        print_json_begin(inv, "mapm.store/1", is_push ? "push" : "verify");

    if (is_push)
        json_member_string(w, "to", r->to);
    else
        json_member_string(w, "remote", r->to);
    json_member_bool(w, "ok", r->by_state[INSTALL_NOT_SHARED] == 0);
    json_member_records(w, "objects", &shared_record, r->items, r->count);
    print_json_end(inv);
}

static void print_item(struct invocation *inv, const struct install_shared *s)
{
    char bytes[16];

    term_print(&inv->term, "%-7s ", states[s->state]);
    if (s->tree.n)
        term_print(&inv->term, "tree %.*s in the ", TREE_CHARS, s->tree.p);
    term_print(&inv->term, "%s%s %.*s", s->is_proof ? "proof of " : "",
               doc_kind_name(s->kind),
               STR_ARG(text_shown(s->package, &inv->cx.arena)));
    if (s->message.n)
        term_print(&inv->term, ": %.*s",
                   STR_ARG(text_shown(s->message, &inv->cx.arena)));
    else if (s->bytes)
        term_print(&inv->term, " (%s)", text_bytes(s->bytes, bytes));
    term_print(&inv->term, "\n");
}

/* Returns the reason of the failure without its causes, which name the object
 * and would make each reason unique. */
static struct str reason_of(const struct install_shared *s)
{
    return str_slice(s->message, 0, str_find(s->message, STR(": ")));
}

/* Prints a few failed packages per reason, and the number of the others. */
static void print_failed(struct invocation *inv,
                         const struct install_push_result *r)
{
    struct arena *a = &inv->cx.arena;
    size_t *counts = arena_array(a, r->count + 1, sizeof *counts);
    struct map by_reason;

    map_init(&by_reason, a);
    for (size_t i = 0; i < r->count; i++) {
        const struct install_shared *s = &r->items[i];
        size_t *count;

        if (s->state != INSTALL_NOT_SHARED)
            continue;
        if (!map_has(&by_reason, reason_of(s)))
            map_put(&by_reason, reason_of(s), &counts[i]);
        count = map_find(&by_reason, reason_of(s));
        if (++*count <= FAILED_MAX_SHOWN || inv->cx.is_verbose)
            print_item(inv, s);
    }
    for (size_t i = 0; i < r->count && !inv->cx.is_verbose; i++)
        if (counts[i] > FAILED_MAX_SHOWN)
            term_print(&inv->term, "failed  %zu more: %.*s (-v shows each)\n",
                       counts[i] - FAILED_MAX_SHOWN,
                       STR_ARG(text_shown(reason_of(&r->items[i]), a)));
}

static void print_text(struct invocation *inv,
                       const struct install_push_result *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->items[i].state != INSTALL_NOT_SHARED &&
            (r->items[i].state != INSTALL_WAS_THERE || inv->cx.is_verbose))
            print_item(inv, &r->items[i]);
    print_failed(inv, r);
    term_note(&inv->term, "%zu pushed, %zu there already, %zu failed: %.*s",
              r->by_state[INSTALL_SHARED], r->by_state[INSTALL_WAS_THERE],
              r->by_state[INSTALL_NOT_SHARED], STR_ARG(r->to));
}

COMMAND(store_push)
{
    struct install_push_request request;
    struct install_push_result result;

    if (!read_arguments(inv, &request, e) ||
        !install_push(&inv->cx, &request, &result, e))
        return false;
    if (has_option(inv, OPTION_JSON))
        print_json(inv, true, &result);
    else
        print_text(inv, &result);
    *exit_code =
        result.by_state[INSTALL_NOT_SHARED] ? EXIT_FINDINGS : EXIT_DONE;
    return true;
}

/* Returns whether it is a proof too large for a store, which is fetched from
 * the git host. */
static bool is_large_proof(const struct install_shared *s)
{
    return s->is_proof && s->state == INSTALL_KEPT_BACK;
}

static void print_verified(struct invocation *inv,
                           const struct install_push_result *r)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->items[i].state != INSTALL_NOT_SHARED &&
            (is_large_proof(&r->items[i]) || inv->cx.is_verbose))
            print_item(inv, &r->items[i]);
    print_failed(inv, r);
    term_note(&inv->term, "%zu package%s as mapm.lock says, %zu not: %.*s",
              r->by_state[INSTALL_WAS_THERE],
              r->by_state[INSTALL_WAS_THERE] == 1 ? "" : "s",
              r->by_state[INSTALL_NOT_SHARED], STR_ARG(r->to));
    if (r->by_state[INSTALL_NOT_SHARED])
        term_note(&inv->term, "%s puts them there again",
                  str_starts(r->to, STR("oci://"))
                      ? "mapm store push --force"
                      : "mapm store push --force --to DIR");
}

COMMAND(store_check_remote)
{
    struct install_push_result result;

    if (!install_check_remote(&inv->cx, inv->arguments.items[1], &result, e))
        return false;
    if (has_option(inv, OPTION_JSON))
        print_json(inv, false, &result);
    else
        print_verified(inv, &result);
    *exit_code =
        result.by_state[INSTALL_NOT_SHARED] ? EXIT_FINDINGS : EXIT_DONE;
    return true;
}

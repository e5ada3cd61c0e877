#include "doctor_restore.h"

#include "base/json.h"
#include "base/patch.h"
#include "mapm/limits.h"
#include "mapm/provision_copies.h"

#include "install/diff.h"

/* --restore-user: files of clients as they were before mapm edited them [H8]. */

struct restoring {
    struct invocation *inv;
    struct provision_copies copies;
    struct str client; /* restore only this client; "" for all */
    bool is_asked;     /* a user can confirm */
    size_t shown, refused, left;
    struct json_writer *json; /* NULL for text output */
};

static void show_diff(struct restoring *r, const struct provision_copy *c)
{
    CLEANUP(buf_done) struct buf text = {0};
    struct term *t = &r->inv->term;

    term_print(t, "# %s: %.*s of %.*s\n", c->client, STR_ARG(c->path),
               STR_ARG(c->time));
    buf_init(&text, 4 * USER_FILE_MAX_BYTES);
    patch_format(
        &(struct patch_file){
            .path = str_from_index(c->path, 1),
            .before = {.mode = c->is_there ? PATCH_FILE : 0, .text = c->now},
            .after = {.mode = PATCH_FILE, .text = c->text}},
        &text);
    diff_show_patch(t, buf_str(&text));
}

static bool ask(struct restoring *r, const struct provision_copy *c, bool *yes,
                struct err *e)
{
    struct context *cx = &r->inv->cx;

    *yes = false;
    return !r->is_asked ||
           context_confirm(cx, QUESTION_CONSENT,
                           arena_printf(&cx->arena, "Put back %.*s as it was?",
                                        STR_ARG(c->path))
                               .p,
                           yes, e);
}

static void write_json(struct restoring *r, const struct provision_copy *c,
                       bool is_done, struct str kept)
{
    struct json_writer *w = r->json;

    json_begin_object(w);
    json_member_string(w, "client", str_cstr(c->client));
    json_member_string(w, "path", c->path);
    json_member_string(w, "copy", c->place);
    json_member_bool(w, "restored", is_done);
    json_member_optional(w, "replaced", kept);
    json_member_optional(w, "why", c->why);
    json_end_object(w);
}

static bool restore(struct restoring *r, const struct provision_copy *c,
                    struct err *e)
{
    struct str kept = STR("");
    bool yes = false;

    r->shown++;
    if (c->why.n) {
        r->left++;
        term_warn(&r->inv->term, "%.*s was left as it is: %.*s",
                  STR_ARG(c->path), STR_ARG(c->why));
    } else {
        if (!r->json)
            show_diff(r, c);
        if (!ask(r, c, &yes, e))
            return false;
        r->refused += !yes;
        if (yes &&
            !provision_restore_copy(&r->copies, c, &r->inv->cx.arena, &kept, e))
            return err_wrap(e, "cannot put back %.*s", STR_ARG(c->path));
    }
    if (r->json)
        write_json(r, c, yes, kept);
    else if (yes)
        term_note(&r->inv->term, "put back %.*s%s%.*s", STR_ARG(c->path),
                  kept.n ? "; what it replaces is " : "", STR_ARG(kept));
    return true;
}

static bool restore_all(struct restoring *r, struct err *e)
{
    for (size_t i = 0; i < r->copies.count; i++) {
        const struct provision_copy *c = &r->copies.items[i];

        if ((r->client.n == 0 || str_is(r->client, c->client)) &&
            !restore(r, c, e))
            return false;
    }
    return true;
}

static bool choose_client(struct restoring *r, struct err *e)
{
    const struct values *arguments = &r->inv->arguments;

    r->client = arguments->count ? arguments->items[0] : STR("");
    return r->client.n == 0 || clients_find(r->client) ||
           err_set(e, ERR_USAGE, "unknown client \"%.*s\"", STR_ARG(r->client));
}

static void print_summary(struct restoring *r, int *exit_code)
{
    struct term *t = &r->inv->term;

    if (r->shown == 0 && !r->json)
        term_note(t, "nothing to put back: no file of a client differs from "
                     "its copy");
    if (r->refused && !r->is_asked && !r->json)
        term_note(t, "nothing was changed: give --yes to put back what is "
                     "shown");
    *exit_code = r->refused ? EXIT_REFUSED
                 : r->left  ? EXIT_FINDINGS
                            : EXIT_DONE;
}

bool doctor_restore(struct invocation *inv, int *exit_code, struct err *e)
{
    struct context *cx = &inv->cx;
    struct restoring r = {.inv = inv};
    struct client_scope scope;
    bool is_json = has_option(inv, OPTION_JSON);

    r.is_asked =
        has_option(inv, OPTION_YES) || (!is_json && context_can_ask(cx));
    if (!choose_client(&r, e) ||
        !clients_user_scope(cx->home, &cx->arena, &scope, e) ||
        !provision_list_copies(&scope, &cx->arena, &r.copies, e))
        return false;
    if (is_json) {
        r.json = print_json_begin(inv, "mapm.restore-user/1", NULL);
        json_member_array(r.json, "files");
    }
    if (!restore_all(&r, e))
        return false;
    if (is_json) {
        json_end_array(r.json);
        print_json_end(inv);
    }
    print_summary(&r, exit_code);
    return true;
}

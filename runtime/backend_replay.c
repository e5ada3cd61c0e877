#include "base/fs.h"
#include "mapm/limits.h"
#include "mapm/tape.h"

#include "backend.h"

/*
 * Answers model calls from a tape, in order: `--ask replay:FILE`. Only the
 * model calls of the tape are used; commands are executed, unlike with
 * --replay.
 */

#define DIFFERENCE_MAX_BYTES 3000

struct replay {
    struct tape tape; /* model calls only */
    struct tape_player player;
    struct runtime_host host;
};

static bool prepare_replay(struct backend *k, const struct backend_request *w,
                           struct err *e)
{
    struct replay *r = arena_new(k->arena, struct replay);
    struct tape *t = &r->tape;
    struct str text;
    size_t asks = 0;

    k->program = w->value;
    if (!fs_read_user_file(str_dup0(w->value, k->arena), TAPE_MAX_BYTES,
                           k->arena, &text, e) ||
        !tape_parse(text, str_dup0(w->value, k->arena), k->arena, t, e))
        return err_wrap(e, "%.*s cannot answer", STR_ARG(k->name));
    for (size_t i = 0; i < t->count; i++)
        if (t->entries[i].is_ask)
            t->entries[asks++] = t->entries[i];
    t->count = asks;
    r->player = (struct tape_player){.tape = t, .arena = k->arena};
    r->host = tape_replay(&r->player);
    k->own = r;
    return true;
}

static bool ask_replay(struct backend *k, struct str dir, const struct ask *in,
                       const struct backend_progress *news, struct arena *a,
                       struct answer *out, struct err *e)
{
    struct replay *r = k->own;
    struct str difference;

    (void)dir;
    if (!r->host.ask(r->host.ctx, in, a, out, e)) {
        difference = str_slice(r->player.difference, 0, DIFFERENCE_MAX_BYTES);
        if (difference.n)
            err_also(e, "%.*s", STR_ARG(difference));
        return false;
    }
    backend_report_progress(news, out->turns, out->text);
    return true;
}

const struct backend_kind backend_replay_kind = {prepare_replay, ask_replay};

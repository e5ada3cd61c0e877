#include "mapm/doc_kind.h"
#include "mapm/lock_merge.h"
#include "mapm/origin.h"
#include "mapm/project.h"

#include "install_session.h"
#include "remote.h"

/* Resolves a mapm.lock in conflict: changes of one side are taken, changes of
 * both are decided here. The result is only the start of the plan, which proves
 * each entry, drops unneeded ones and determines dependencies. */

#define SHORT_COMMIT_CHARS 10

/* A pair of entries that both sides changed. */
struct dispute {
    struct lock_pair *pair;
    struct origin ours, theirs, our_source, their_source;
    bool ours_is_older, theirs_is_older; /* one commit is an ancestor of the
                                          * other */
    bool is_asked;
    const char *why; /* reason of the decision; NULL if undecided */
};

struct merge {
    struct install_session *s;
    struct lock_merge sides;
    struct dispute *disputes;
    size_t count;
    size_t failed; /* failed requests */
    struct err failure;
};

static void decide(struct dispute *d, enum lock_side side, const char *why)
{
    d->pair->side = side;
    d->why = why;
}

/* --- without the network -------------------------------------------------- */

/* Decides by mapm.yaml, which is merged already, if the origins differ. */
static void decide_by_root(const struct map *roots, struct dispute *d)
{
    bool ours, theirs;

    if (str_eq(d->ours.key, d->theirs.key))
        return;
    ours = map_has(roots, d->ours.key);
    theirs = map_has(roots, d->theirs.key);
    if (ours != theirs)
        decide(d, ours ? LOCK_OURS : LOCK_THEIRS, "root");
}

/* If one side has the new name of a renamed repository, uses that name for
 * both. */
static void take_moved_name(struct dispute *d)
{
    const struct lock_entry *sides[] = {d->pair->ours, d->pair->theirs};
    struct origin *origins[] = {&d->ours, &d->theirs};

    for (size_t i = 0; i < 2; i++)
        for (size_t k = 0; k < sides[i]->also_count; k++)
            if (lock_also_is_former(sides[i], k) &&
                str_eq(sides[i]->also[k], sides[1 - i]->origin))
                *origins[1 - i] = *origins[i];
}

/* Decides if the content is equal and only other origins differ. */
static void decide_by_content(struct dispute *d)
{
    const struct lock_entry *ours = d->pair->ours, *theirs = d->pair->theirs;

    /* packages of the workspace are merged there and read again */
    if (!d->why && d->ours.scheme == ORIGIN_OWN &&
        str_eq(d->ours.key, d->theirs.key))
        decide(d, LOCK_OURS, "content");
    if (!d->why && str_eq(d->ours.key, d->theirs.key) &&
        str_eq(ours->commit, theirs->commit) &&
        str_eq(ours->object, theirs->object) &&
        str_eq(ours->digest, theirs->digest))
        decide(d,
               ours->also_count >= theirs->also_count ? LOCK_OURS : LOCK_THEIRS,
               "content");
}

/* Parses the origin whose repository contains the commit; for a plugin of a
 * marketplace, that of its folder. */
static bool parse_source(const struct lock_entry *entry, const struct origin *o,
                         const struct origin_rules *rules, struct arena *a,
                         struct origin *out, struct err *e)
{
    if (entry->source.n)
        return origin_parse_here(entry->source, rules, a, out, e);
    *out = *o;
    return true;
}

static bool read_dispute(struct dispute *d, const struct origin_rules *rules,
                         struct arena *a, struct err *e)
{
    const struct lock_entry *ours = d->pair->ours, *theirs = d->pair->theirs;

    if (!origin_parse_part(ours->origin, rules, a, &d->ours, e) ||
        !origin_parse_part(theirs->origin, rules, a, &d->theirs, e))
        return false;
    take_moved_name(d);
    return parse_source(ours, &d->ours, rules, a, &d->our_source, e) &&
           parse_source(theirs, &d->theirs, rules, a, &d->their_source, e);
}

static bool find_disputes(struct merge *m, struct err *e)
{
    struct arena *a = &m->s->cx->arena;
    const struct origin_rules *rules = &m->s->layer.rules;
    struct map roots;

    map_init(&roots, a);
    for (size_t i = 0; i < m->s->root_count; i++)
        map_put(&roots, m->s->roots[i].origin.key, NULL);
    m->disputes = arena_array(a, m->sides.count + 1, sizeof *m->disputes);
    for (size_t i = 0; i < m->sides.count; i++) {
        struct lock_pair *p = &m->sides.pairs[i];
        struct dispute *d = &m->disputes[m->count];

        if (p->side != LOCK_BOTH_CHANGED)
            continue;
        *d = (struct dispute){.pair = p};
        if (!read_dispute(d, rules, a, e))
            return err_wrap(e, "mapm.lock: %s %.*s",
                            doc_kind_name(p->ours->kind),
                            STR_ARG(p->ours->name));
        decide_by_root(&roots, d);
        decide_by_content(d);
        m->count++;
    }
    return true;
}

/* --- by the history ------------------------------------------------------- */

static bool is_comparable(const struct dispute *d, struct arena *a)
{
    return !d->why && d->our_source.scheme == ORIGIN_GIT &&
           d->their_source.scheme == ORIGIN_GIT &&
           !str_eq(d->pair->ours->commit, d->pair->theirs->commit) &&
           str_eq(origin_repository(&d->our_source, a),
                  origin_repository(&d->their_source, a));
}

/* Handles an answer; each dispute has two requests, and id / 2 is its
 * number. */
static void take_answer(void *ctx, const struct fetch_event *event,
                        struct arena *a)
{
    struct merge *m = ctx;
    struct dispute *d;

    (void)a;
    if (event->id / 2 >= m->count)
        return;
    d = &m->disputes[event->id / 2];
    if (event->kind == FETCH_REF_FOUND) {
        if (event->id % 2 == 0)
            d->ours_is_older = true;
        else
            d->theirs_is_older = true;
    } else if (event->kind == FETCH_FAILED &&
               !remote_is_answer(event->err->code) && m->failed++ == 0) {
        m->failure = *event->err;
        err_wrap(&m->failure, "cannot compare the commits of %.*s",
                 STR_ARG(d->pair->ours->name));
    }
}

static void add_questions(const struct merge *m, size_t number,
                          struct fetch_want *wants, size_t *count)
{
    const struct dispute *d = &m->disputes[number];
    struct str commits[] = {d->pair->ours->commit, d->pair->theirs->commit};

    for (unsigned i = 0; i < 2; i++)
        wants[(*count)++] =
            (struct fetch_want){.id = (unsigned)number * 2 + i,
                                .what = FETCH_ANCESTOR,
                                .kinds = (unsigned)d->pair->ours->kind,
                                .origin = d->our_source,
                                .commit = commits[i],
                                .base = commits[1 - i]};
}

static bool compare_commits(struct merge *m, struct err *e)
{
    struct arena *a = &m->s->cx->arena;
    struct fetch_want *wants = arena_array(a, 2 * m->count + 1, sizeof *wants);
    size_t count = 0;

    for (size_t i = 0; i < m->count; i++) {
        m->disputes[i].is_asked = is_comparable(&m->disputes[i], a);
        if (m->disputes[i].is_asked)
            add_questions(m, i, wants, &count);
    }
    if (count == 0 || m->s->cx->is_offline)
        return true;
    if (!remote_ask(m->s->cx, &m->s->layer, m->s->store, wants, count,
                    take_answer, m, e))
        return false;
    for (size_t i = 0; i < m->count; i++) {
        struct dispute *d = &m->disputes[i];

        if (d->ours_is_older != d->theirs_is_older)
            decide(d, d->ours_is_older ? LOCK_THEIRS : LOCK_OURS, "descends");
    }
    return true;
}

/* --- by the user ---------------------------------------------------------- */

static void decide_by_option(struct merge *m)
{
    enum install_prefer prefer = m->s->request->prefer;

    for (size_t i = 0; i < m->count; i++) {
        struct dispute *d = &m->disputes[i];

        if (d->why)
            continue;
        if (str_eq(d->pair->ours->digest, d->pair->theirs->digest) &&
            prefer == INSTALL_PREFER_NONE && str_eq(d->ours.key, d->theirs.key))
            decide(d, LOCK_OURS, "content");
        else if (prefer != INSTALL_PREFER_NONE)
            decide(d, prefer == INSTALL_PREFER_OURS ? LOCK_OURS : LOCK_THEIRS,
                   "option");
    }
}

/* Formats "1.2.0 (3f6c012345)", or the origin if it differs. */
static const char *shown_side(const struct dispute *d,
                              const struct lock_entry *entry, struct arena *a)
{
    struct str commit = str_slice(entry->commit, 0, SHORT_COMMIT_CHARS);
    const char *origin =
        str_eq(d->ours.key, d->theirs.key)
            ? ""
            : arena_printf(a, " of %.*s", STR_ARG(entry->origin)).p;

    if (!entry->commit.n)
        return str_dup0(entry->origin, a);
    return entry->version.n
               ? arena_printf(a, "%.*s (%.*s)%s", STR_ARG(entry->version),
                              STR_ARG(commit), origin)
                     .p
               : arena_printf(a, "%.*s%s", STR_ARG(commit), origin).p;
}

static bool check_decided(struct merge *m, struct err *e)
{
    struct arena *a = &m->s->cx->arena;
    const struct install_session *s = m->s;
    size_t open = 0;

    for (size_t i = 0; i < m->count; i++) {
        const struct dispute *d = &m->disputes[i];
        const struct lock_entry *ours = d->pair->ours;
        struct str line;

        if (d->why || open++ > ERROR_MAX_LINES)
            continue;
        line = arena_printf(a, "%s %.*s: ours %s, theirs %s%s",
                            doc_kind_name(ours->kind), STR_ARG(ours->name),
                            shown_side(d, ours, a),
                            shown_side(d, d->pair->theirs, a),
                            !d->is_asked || s->cx->is_offline || m->failed
                                ? ""
                                : ", and neither descends from the other");
        if (open == 1)
            err_set(e, ERR_FORMAT,
                    "mapm.lock: a merge conflict that commits do not decide");
        err_also(e, "%.*s", STR_ARG(line));
    }
    if (open == 0)
        return true;
    if (m->failed)
        err_also(e, "%s", err_first(&m->failure));
    else if (s->cx->is_offline)
        err_also(e, "which commit descends from the other only the "
                    "repository knows: --offline does not ask it");
    return err_hint(e, "mapm install --ours takes those of your side, "
                       "--theirs those of the other");
}

/* --- the result ----------------------------------------------------------- */

static void list_merged(struct merge *m)
{
    struct install_session *s = m->s;
    struct install_merged *out =
        arena_array(&s->cx->arena, m->count + 1, sizeof *out);

    for (size_t i = 0; i < m->count; i++) {
        const struct lock_pair *p = m->disputes[i].pair;

        out[i] = (struct install_merged){
            .ours = p->ours,
            .theirs = p->theirs,
            .taken = p->side == LOCK_THEIRS ? p->theirs : p->ours,
            .why = m->disputes[i].why,
        };
    }
    s->merged = out;
    s->merged_count = m->count;
}

bool session_merge(struct install_session *s, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct merge m = {.s = s};
    struct lock lock;

    if (s->layer.joined.n)
        context_note(s->cx, "%.*s: taken for two edits that git joined",
                     STR_ARG(s->layer.joined));
    if (!lock_merge_read(s->layer.lock_text, "mapm.lock", a, &m.sides, e) ||
        !find_disputes(&m, e) || !compare_commits(&m, e))
        return false;
    decide_by_option(&m);
    if (!check_decided(&m, e))
        return false;
    lock_merge_take(&m.sides, a, &lock);
    list_merged(&m);
    return layer_take_lock(&s->layer, s->cx, &lock, e);
}

#include "base/fs.h"
#include "mapm/run.h"
#include "mapm/skill_test.h"

#include <fcntl.h>

/* Replays each tape of one skill. */

#define CLOCKS_DIFFER_MS                                                       \
    50 /* tolerance between the time of the program and
                             * that of waiting for it */

/* The test of one tape. */
struct play {
    struct context *cx;
    const struct limits *limits; /* limits of the user */
    bool updates;
    const struct skill_test *skill;
    const struct skill *program;
    int dirfd; /* descriptor of the skill's folder */
};

static struct str shown(const struct play *p, struct str file)
{
    if (str_is(p->skill->path, "."))
        return file;
    return fs_join(p->skill->path, file, &p->cx->arena);
}

/* Returns all messages of an error, one per line. */
static struct str words_of(const struct err *e, struct arena *a)
{
    struct str text = STR("");

    for (const char *m = err_prev(e, NULL); m; m = err_prev(e, m))
        text = arena_printf(a, "%.*s%s\n", STR_ARG(text), m);
    if (e->hint[0])
        text = arena_printf(a, "%.*shint: %s\n", STR_ARG(text), e->hint);
    return text;
}

static bool read_tape(const struct play *p, const struct skill_test_tape *tape,
                      struct arena *a, struct str *text, struct tape *out,
                      struct err *e)
{
    return fs_read_file_at(p->dirfd, str_dup0(tape->file, a), TAPE_MAX_BYTES, a,
                           text, e) &&
           tape_parse(*text, str_dup0(shown(p, tape->file), a), a, out, e);
}

/* Uses the user's limits of time and memory, which depend on the machine; the
 * others are those of the tape. */
static bool set_limits(void *ctx, struct limits *l, struct err *e)
{
    const struct play *p = ctx;

    (void)e;
    l->run_max_seconds = p->limits->run_max_seconds;
    l->run_max_memory_bytes = p->limits->run_max_memory_bytes;
    return true;
}

static void note(const struct play *p, const struct tape *t,
                 struct skill_test_tape *tape, struct arena *scratch)
{
    struct arena *a = &p->cx->arena;
    struct str digest = tape_digest(p->program->program, scratch);

    if (!str_eq(t->name, p->skill->name))
        tape->note =
            arena_printf(a, "the tape is one of %.*s", STR_ARG(t->name));
    else if (tape->end == SKILL_TEST_FAILED && t->digest.n &&
             !str_eq(t->digest, digest))
        tape->note = STR("the program has changed since it was recorded");
}

/* Only a changed result can be updated: a new request has no recorded answer,
 * and a run that timed out has no result. */
static bool may_update(const struct play *p, const struct run_result *r)
{
    return p->updates && r->difference == REPLAY_OTHER_END &&
           r->program.took_ms + CLOCKS_DIFFER_MS <
               p->limits->run_max_seconds.value * 1000;
}

static bool update(const struct play *p, const struct tape *t,
                   const struct run_result *r, struct str text,
                   struct skill_test_tape *tape, struct arena *a, struct err *e)
{
    struct str next;

    if (!may_update(p, r))
        return true;
    next = tape_update(text, t, &r->program, a);
    if (!fs_replace_at(p->dirfd, str_dup0(tape->file, a), 0644, next, e))
        return false;
    tape->end = SKILL_TEST_UPDATED;
    return true;
}

static bool play_tape(struct play *p, const struct tape *t, struct str text,
                      struct skill_test_tape *tape, struct arena *a,
                      struct err *e)
{
    const struct run_request q = {
        .cx = p->cx,
        .skill = p->program,
        .name = t->name,
        .tape = t,
        .hooks = {.limits = set_limits, .ctx = p},
    };
    struct run_result r;

    if (!run_execute(&q, a, &r, e))
        return false;
    if (r.status == RUN_INTERRUPTED)
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    tape->asks = r.program.asks;
    tape->commands = r.program.commands;
    if (r.difference == REPLAY_SAME)
        return true;
    tape->end = SKILL_TEST_FAILED;
    tape->difference = arena_str(&p->cx->arena, r.differences);
    if (r.difference != REPLAY_OTHER_STEP)
        tape->report = arena_str(&p->cx->arena, r.program.report);
    return update(p, t, &r, text, tape, a, e);
}

static bool play_file(struct play *p, struct skill_test_tape *tape,
                      struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err why = {0};
    struct tape t = {0};
    struct str text;

    if (!read_tape(p, tape, &a, &text, &t, &why)) {
        tape->end = SKILL_TEST_FAILED;
        tape->difference = words_of(&why, &p->cx->arena);
        return true;
    }
    if (!play_tape(p, &t, text, tape, &a, e))
        return err_wrap(e, "%s", t.file);
    note(p, &t, tape, &a);
    return true;
}

bool skill_test_play(struct context *cx, const struct limits *limits,
                     bool updates, struct skill_test *s, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP_FD int fd = -1;
    struct skill program = {0};
    struct err why = {0};
    struct play p = {.cx = cx,
                     .limits = limits,
                     .updates = updates,
                     .skill = s,
                     .program = &program};

    if (s->count == 0)
        return true;
    if (!metaskill_read(s->real, limits, &a, &program, &why) ||
        !fs_open_dir_at(AT_FDCWD, s->real.p, &fd, &why)) {
        s->problem = words_of(&why, &cx->arena);
        return true;
    }
    if (program.file.n == 0) {
        s->problem = STR("its program cannot be run: mapm check says why");
        return true;
    }
    p.dirfd = fd;
    for (size_t i = 0; i < s->count; i++) {
        if (!play_file(&p, &s->tapes[i], e))
            return false;
        s->failed += s->tapes[i].end == SKILL_TEST_FAILED;
        s->updated += s->tapes[i].end == SKILL_TEST_UPDATED;
    }
    return true;
}

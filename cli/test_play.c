#include "base/fs.h"
#include "mapm/manifest.h"

#include <fcntl.h>

#include "command.h"
#include "test.h"

/* One skill: its program, and each of its tapes against it. */

#define CLOCKS_DIFFER_MS 50 /* of the program, and of who waits for it */

/* What is done to one tape. */
struct play {
    struct invocation *inv;
    const struct limits *limits; /* the user's */
    const struct test_skill *skill;
    const struct skill *program;
    int dirfd; /* of the skill's folder */
};

static struct str shown(const struct play *p, struct str file)
{
    if (str_is(p->skill->path, "."))
        return file;
    return fs_join(p->skill->path, file, &p->inv->cx.arena);
}

/* All messages on a line each. */
static struct str words_of(const struct err *e, struct arena *a)
{
    struct str text = STR("");

    for (const char *m = err_prev(e, NULL); m; m = err_prev(e, m))
        text = arena_printf(a, "%.*s%s\n", STR_ARG(text), m);
    if (e->hint[0])
        text = arena_printf(a, "%.*shint: %s\n", STR_ARG(text), e->hint);
    return text;
}

static bool read_tape(const struct play *p, const struct test_tape *tape,
                      struct arena *a, struct str *text, struct tape *out,
                      struct err *e)
{
    return fs_read_file_at(p->dirfd, str_c(tape->file, a), TAPE_MAX_BYTES, a,
                           text, e) &&
           tape_parse(*text, str_c(shown(p, tape->file), a), a, out, e);
}

/* The limits of the tape, and of this machine what a program may cost. */
static struct limits limits_of(const struct play *p, const struct tape *t)
{
    struct limits limits = t->limits;

    limits.run_max_seconds = p->limits->run_max_seconds;
    limits.run_max_memory_bytes = p->limits->run_max_memory_bytes;
    return limits;
}

static void note(const struct play *p, const struct tape *t,
                 struct test_tape *tape, struct arena *scratch)
{
    struct arena *a = &p->inv->cx.arena;
    struct str digest = tape_digest(p->program->program, scratch);

    if (!str_eq(t->name, p->skill->name))
        tape->note =
            arena_printf(a, "the tape is one of %.*s", STR_ARG(t->name));
    else if (tape->end == TEST_FAILED && t->digest.n &&
             !str_eq(t->digest, digest))
        tape->note = STR("the program has changed since it was recorded");
}

/* Only an end that differs can be written anew: what the program asks for now
 * was never answered, and a run that took too long came to no end. */
static bool may_update(const struct play *p, const struct tape_player *player,
                       const struct runtime_result *result)
{
    return has_option(p->inv, OPTION_UPDATE) && player->difference.n == 0 &&
           player->at == player->tape->count &&
           result->took_ms + CLOCKS_DIFFER_MS <
               p->limits->run_max_seconds.value * 1000;
}

static bool update(const struct play *p, const struct tape_player *player,
                   const struct runtime_result *result, struct str text,
                   struct test_tape *tape, struct arena *a, struct err *e)
{
    struct str next;

    if (!may_update(p, player, result))
        return true;
    next = tape_update(text, player->tape, result, a);
    if (!fs_replace_at(p->dirfd, str_c(tape->file, a), 0644, next, e))
        return false;
    tape->end = TEST_UPDATED;
    return true;
}

static bool play_tape(const struct play *p, const struct tape *t,
                      struct str text, struct test_tape *tape, struct arena *a,
                      struct err *e)
{
    struct tape_player player = {.tape = t, .arena = a};
    struct limits limits = limits_of(p, t);
    struct runtime_job job = {
        .name = t->name,
        .file = p->program->file, /* not its path: errors name it */
        .program = p->program->program,
        .input = t->input,
        .limits = &limits,
        .host = tape_replay(&player),
    };
    struct runtime_result result = {0};
    struct str difference;

    runtime_run(&job, a, &result);
    if (result.end == RUNTIME_INTERRUPTED)
        return err_set(e, ERR_INTERRUPTED, "interrupted");
    tape->asks = result.asks;
    tape->commands = result.commands;
    difference = tape_judge(&player, &result, a);
    if (difference.n == 0)
        return true;
    tape->end = TEST_FAILED;
    tape->difference = arena_str(&p->inv->cx.arena, difference);
    if (player.difference.n == 0)
        tape->report = arena_str(&p->inv->cx.arena, result.report);
    return update(p, &player, &result, text, tape, a, e);
}

static bool play_file(const struct play *p, struct test_tape *tape,
                      struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err why = {0};
    struct tape t = {0};
    struct str text;

    if (!read_tape(p, tape, &a, &text, &t, &why)) {
        tape->end = TEST_FAILED;
        tape->difference = words_of(&why, &p->inv->cx.arena);
        return true;
    }
    if (!play_tape(p, &t, text, tape, &a, e))
        return err_wrap(e, "%s", t.file);
    note(p, &t, tape, &a);
    return true;
}

bool test_play(struct invocation *inv, const struct limits *limits,
               struct test_skill *s, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP_FD int fd = -1;
    struct skill program = {0};
    struct err why = {0};
    struct play p = {
        .inv = inv, .limits = limits, .skill = s, .program = &program};

    if (s->count == 0)
        return true;
    if (!skill_read(s->real, limits, &a, &program, &why) ||
        !fs_open_dir_at(AT_FDCWD, s->real.p, &fd, &why)) {
        s->problem = words_of(&why, &inv->cx.arena);
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
        s->failed += s->tapes[i].end == TEST_FAILED;
        s->updated += s->tapes[i].end == TEST_UPDATED;
    }
    return true;
}

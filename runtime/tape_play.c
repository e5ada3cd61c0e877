#include "base/text.h"
#include "mapm/runtime.h"
#include "mapm/tape.h"

#include "tape.h"

/* Replays a tape: the program must make the same requests in the same order. */

#define WORDS_MAX_CHARS 100 /* length of a prompt in a headline */

/* --- words for a person ---------------------------------------------------------- */

static struct str argv_json(const struct str *argv, size_t argc,
                            struct arena *a)
{
    CLEANUP(buf_done) struct buf out;
    struct json_writer w;

    buf_init(&out, TAPE_MAX_BYTES);
    json_writer_init(&w, &out, 0);
    json_begin_array(&w);
    for (size_t i = 0; i < argc; i++)
        json_string(&w, argv[i]);
    json_end_array(&w);
    return arena_str(a, buf_str(&out));
}

static struct str shorten(struct str text, struct arena *a)
{
    struct str cut = text_cut(text, WORDS_MAX_CHARS);

    return cut.n == text.n ? text : str_join(cut, STR("..."), a);
}

/* Returns its first non-empty line. */
static struct str first_words(struct str text, struct arena *a)
{
    text = str_trim(text);
    return shorten(str_slice(text, 0, str_find_char(text, '\n')), a);
}

static struct str ask_words(struct str prompt, struct arena *a)
{
    struct str words = first_words(prompt, a);

    return arena_printf(a, "ask \"%.*s\"", STR_ARG(words));
}

static struct str command_words(const struct str *argv, size_t argc,
                                struct arena *a)
{
    struct str words = shorten(argv_json(argv, argc, a), a);

    return arena_printf(a, "command %.*s", STR_ARG(words));
}

static struct str entry_words(const struct tape_entry *entry, struct arena *a)
{
    return entry->is_ask ? ask_words(entry->prompt, a)
                         : command_words(entry->argv, entry->argc, a);
}

/* --- comparing ---------------------------------------------------------------------- */

/* A model call or a command of the program. */
struct call {
    bool is_ask;
    unsigned number;
    struct str prompt;
    const struct str *argv;
    size_t argc;
    struct str opts;
};

static struct str call_words(const struct call *c, struct arena *a)
{
    return c->is_ask ? ask_words(c->prompt, a)
                     : command_words(c->argv, c->argc, a);
}

static const char *kind_of(bool is_ask)
{
    return is_ask ? "ask" : "command";
}

/* Replaces invalid UTF-8 by U+FFFD, as tapes do. */
static struct str as_recorded(struct str text, struct arena *a)
{
    CLEANUP(buf_done) struct buf out = {0};

    if (text_is_utf8(text))
        return text;
    buf_init(&out, (size_t)4 * TAPE_MAX_BYTES);
    for (size_t at = 0; at < text.n;) {
        int32_t c = text_next(text, &at);

        text_put(&out, c < 0 ? 0xfffd : c);
    }
    return arena_str(a, buf_str(&out));
}

static void add_difference(struct tape_player *p, struct str more)
{
    p->difference =
        p->difference.n ? str_join(p->difference, more, p->arena) : more;
}

static void compare_part(struct tape_player *p, const struct call *c,
                         const struct tape_entry *entry, const char *part,
                         struct str taped, struct str asked)
{
    struct arena *a = p->arena;

    if (str_eq(taped, asked))
        return;
    add_difference(
        p, tape_difference(arena_printf(a, "%s %u has another %s",
                                        kind_of(c->is_ask), c->number, part),
                           arena_printf(a, "%s:%u", p->tape->file, entry->line),
                           taped, STR("the program"), asked, a));
}

static void compare(struct tape_player *p, const struct call *c,
                    const struct tape_entry *entry)
{
    CLEANUP(arena_done) struct arena scratch = {0};

    if (c->is_ask) {
        compare_part(p, c, entry, "prompt", entry->prompt,
                     as_recorded(c->prompt, &scratch));
    } else {
        struct str asked = argv_json(c->argv, c->argc, &scratch);
        struct str taped = argv_json(entry->argv, entry->argc, &scratch);

        compare_part(p, c, entry, "argv", taped, asked);
    }
    compare_part(p, c, entry, "opts",
                 tape_value(entry->opts, TAPE_ANY, &scratch),
                 tape_value(c->opts, TAPE_ANY, &scratch));
}

static struct str end_words(const struct tape *t)
{
    return t->envelope.n ? STR("the envelope") : STR("the error it ends in");
}

/* Returns the entry for this call, or NULL. */
static const struct tape_entry *next_entry(struct tape_player *p,
                                           const struct call *c, struct err *e)
{
    const struct tape *t = p->tape;
    const struct tape_entry *entry =
        p->at < t->count ? &t->entries[p->at] : NULL;
    struct arena *a = p->arena;
    struct str words, other;

    if (p->difference.n == 0 && entry && entry->is_ask == c->is_ask)
        compare(p, c, entry);
    if (p->difference.n == 0 && (!entry || entry->is_ask != c->is_ask)) {
        words = call_words(c, a);
        other = entry ? entry_words(entry, a) : end_words(t);
        p->difference = arena_printf(
            a,
            "%s %u is not on the tape\n--- %s:%u\n+++ the program\n-%.*s\n"
            "+%.*s\n",
            kind_of(c->is_ask), c->number, t->file,
            entry ? entry->line : t->end_line, STR_ARG(other), STR_ARG(words));
    }
    if (p->difference.n) {
        err_set(e, ERR_FAILED, "%s %u is not what the tape has",
                kind_of(c->is_ask), c->number);
        return NULL;
    }
    p->at++;
    return entry;
}

/* --- the host ------------------------------------------------------------------------ */

static bool play_ask(void *ctx, const struct ask *in, struct arena *a,
                     struct answer *out, struct err *e)
{
    struct tape_player *p = ctx;
    const struct call call = {
        .is_ask = true,
        .number = in->number,
        .prompt = in->prompt,
        .opts = in->opts,
    };
    const struct tape_entry *entry = next_entry(p, &call, e);

    (void)a;
    if (!entry)
        return false;
    if (entry->failure.n)
        return err_set(e, ERR_FAILED, "%.*s", STR_ARG(entry->failure));
    *out = entry->answer;
    out->text = text_cut(out->text, in->max_chars);
    out->truncated |= out->text.n < entry->answer.text.n;
    return true;
}

static bool play_command(void *ctx, const struct command *in, struct arena *a,
                         struct command_result *out, struct err *e)
{
    struct tape_player *p = ctx;
    const struct call call = {
        .number = in->number,
        .argv = in->argv,
        .argc = in->argc,
        .opts = in->opts,
    };
    const struct tape_entry *entry = next_entry(p, &call, e);

    (void)a;
    if (!entry)
        return false;
    *out = entry->outcome;
    out->result = text_cut(out->result, in->max_chars);
    out->truncated |= out->result.n < entry->outcome.result.n;
    return true;
}

static void pass_step(void *ctx, const struct step *s)
{
    struct tape_player *p = ctx;

    if (p->step)
        p->step(p->ctx, s);
}

struct runtime_host tape_replay(struct tape_player *p)
{
    return (struct runtime_host){play_ask, play_command, pass_step, p};
}

/* --- the end -------------------------------------------------------------------------- */

static bool has_trace(struct str envelope)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct json_options options = {.max_depth = TAPE_MAX_DEPTH};
    const struct json *j;
    struct err ignored = {0};

    return json_parse(envelope, &options, &scratch, &j, NULL, &ignored) &&
           json_get(j, "trace");
}

static struct str difference_of(const struct tape *t, const char *headline,
                                struct str taped, struct str got,
                                struct arena *a)
{
    if (str_eq(taped, got))
        return STR("");
    return tape_difference(str_cstr(headline),
                           arena_printf(a, "%s:%u", t->file, t->end_line),
                           taped, STR("the program"), got, a);
}

struct str tape_compare(const struct tape *t, const struct runtime_result *r,
                        struct arena *a)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    bool completed = r->end == RUNTIME_COMPLETED;
    struct str error = tape_error(r->text, &scratch);
    enum tape_part part;

    if (t->envelope.n == 0)
        return difference_of(t,
                             completed ? "the run did not fail"
                                       : "the run failed with another error",
                             tape_error(t->error, &scratch),
                             completed ? r->envelope : error, a);
    if (!completed)
        return difference_of(t, "the run failed",
                             tape_value(t->envelope, TAPE_ENVELOPE, &scratch),
                             error, a);
    part = has_trace(t->envelope) ? TAPE_ENVELOPE : TAPE_ENVELOPE_NO_TRACE;
    return difference_of(t, "the envelope is another one",
                         tape_value(t->envelope, part, &scratch),
                         tape_value(r->envelope, part, &scratch), a);
}

struct str tape_verify(const struct tape_player *p,
                       const struct runtime_result *r, struct arena *a)
{
    const struct tape *t = p->tape;
    const struct tape_entry *entry;
    struct str words;

    if (p->difference.n)
        return p->difference;
    if (p->at == t->count)
        return tape_compare(t, r, a);
    entry = &t->entries[p->at];
    words = entry_words(entry, a);
    return arena_printf(
        a,
        "the run ended before this\n--- %s:%u\n+++ the program\n-%.*s\n+%.*s\n",
        t->file, entry->line, STR_ARG(words), STR_ARG(first_words(r->text, a)));
}

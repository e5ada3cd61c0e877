#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "mapm/skill_roots.h"
#include "mapm/state_trust.h"

#include <sys/stat.h>

#include "../command.h"
#include "trust.h"

/*
 * Trust in a workspace: that its metaskills are offered over MCP, and that the
 * rules of its mapm.yaml take effect (DESIGN.md 3.1). The first is for the
 * folder, whatever its content later; the second for exactly these rules. Both
 * are for this folder, not for its path (authorize.h).
 */

#define SHOWN_MAX_NAMES 20
#define SHOWN_MAX_CHARS 160
#define SHOWN_MAX_BYTES (1024 * 1024)

struct claim {
    struct layer layer;
    struct trust_request items[STATE_TRUST_KINDS]; /* the request */
    enum trust_state states[STATE_TRUST_KINDS];
    size_t count;
};

static bool find_claim(struct trust_job *job, struct claim *c, struct err *e)
{
    c->count = authorize_requests(c->layer.path, &c->layer.project, c->items);
    for (size_t i = 0; i < c->count; i++)
        if (!authorize_trust(&job->inv->cx, job->store, &c->items[i],
                             &c->states[i], e))
            return false;
    return true;
}

static bool is_known(const struct claim *c)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->states[i] != TRUST_GIVEN)
            return false;
    return true;
}

static void print_line(struct trust_job *job, struct str line)
{
    struct term *t = &job->inv->term;
    bool quiet = t->quiet;

    if (!job->is_json) {
        term_print(t, "%.*s\n", STR_ARG(line));
        return;
    }
    t->quiet = false;
    term_note(t, "%.*s", STR_ARG(line));
    t->quiet = quiet;
}

#define SAY(job, ...)                                                          \
    print_line(job, arena_printf(&(job)->inv->cx.arena, __VA_ARGS__))

static void show_lines(struct trust_job *job, struct str text)
{
    struct str line;

    while (str_line(&text, &line))
        SAY(job, "  %.*s", STR_ARG(line));
}

/* --- subjects ----------------------------------------------------------- */

/* On one line, whatever is in it. In the invocation's arena. */
static struct str shown(struct trust_job *job, struct str s)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct str text;

    buf_init(&b, SHOWN_MAX_BYTES);
    text_visible(&b, s, false);
    text = arena_str(&job->inv->cx.arena, buf_str(&b));
    if (text_count(text) <= SHOWN_MAX_CHARS)
        return text;
    return arena_printf(&job->inv->cx.arena, "%.*s...",
                        STR_ARG(text_cut(text, SHOWN_MAX_CHARS)));
}

static struct str below(struct str path, struct str top)
{
    return fs_path_is_within(path, top) && path.n > top.n + 1
               ? str_from_index(path, top.n + 1)
               : path;
}

/* The path as found, and the target if it is a link. */
static void show_metaskill(struct trust_job *job, const struct layer *l,
                           const struct library_skill *skill)
{
    struct arena *a = &job->inv->cx.arena;
    struct str found = below(skill->folder, l->path), top, real;
    struct err ignored = {0};

    if (fs_real_path(str_dup0(l->path, a), a, &top, &ignored) &&
        fs_real_path(str_dup0(skill->folder, a), a, &real, &ignored) &&
        !str_eq(below(real, top), found))
        SAY(job, "    %.*s  %.*s -> %.*s", STR_ARG(shown(job, skill->name)),
            STR_ARG(shown(job, found)), STR_ARG(shown(job, below(real, top))));
    else
        SAY(job, "    %.*s  %.*s", STR_ARG(shown(job, skill->name)),
            STR_ARG(shown(job, found)));
}

/* A package installed from elsewhere is trusted by name and content. */
static bool is_written_here(const struct layer *l,
                            const struct library_skill *skill)
{
    const struct lock_entry *entry = layer_find_folder(l, skill->folder);

    return skill->metaskill && (!entry || !layer_is_fetched(l, entry));
}

/* The part of the library of mapm mcp that is in the workspace, read without
 * the cache: so that programs are found, too. */
static bool open_written(struct trust_job *job, struct library **out,
                         struct err *e)
{
    struct library_root *roots;
    size_t count, n = 0;

    if (!skill_roots_places(&job->inv->cx, false, &roots, &count, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (roots[i].source == LIBRARY_WORKSPACE)
            roots[n++] = roots[i];
    return skill_roots_open(&job->inv->cx, NULL, false, false, roots, n, out,
                            e);
}

/* The present metaskills, to show the scope of the decision. */
static bool show_written(struct trust_job *job, const struct layer *l,
                         struct err *e)
{
    struct library *library;
    size_t n = 0;

    if (!open_written(job, &library, e))
        return err_wrap(e, "cannot list the metaskills of this workspace");
    for (size_t i = 0; i < library_count(library); i++) {
        const struct library_skill *skill = library_at(library, i);

        if (is_written_here(l, skill) && ++n <= SHOWN_MAX_NAMES)
            show_metaskill(job, l, skill);
    }
    if (n == 0)
        SAY(job, "    there is none now");
    if (n > SHOWN_MAX_NAMES)
        SAY(job, "    ... and %zu more", n - SHOWN_MAX_NAMES);
    library_close(library);
    return true;
}

/* There other programs put skills, too, for all workspaces. */
static void warn_of_home(struct trust_job *job, const struct layer *l)
{
    struct stat home, here;

    if (job->inv->cx.home.n &&
        stat(str_dup0(job->inv->cx.home, &job->inv->cx.arena), &home) == 0 &&
        stat(str_dup0(l->path, &job->inv->cx.arena), &here) == 0 &&
        home.st_dev == here.st_dev && home.st_ino == here.st_ino)
        term_warn(&job->inv->term,
                  "this workspace is your home folder: skills that any program "
                  "puts there are offered to clients");
}

/* Why rules that were accepted before need consent again. */
static void show_reason(struct trust_job *job, const struct claim *c)
{
    const char *reason = "";

    for (size_t i = c->count; i-- > 0 && !*reason;)
        reason = authorize_reason(c->states[i]);
    if (*reason)
        SAY(job, "  asked again: %s", reason);
}

static bool show_offered(struct trust_job *job, const struct layer *l,
                         struct err *e)
{
    SAY(job, "  metaskills written here are offered to clients over MCP, "
             "also those that come later:");
    return show_written(job, l, e);
}

static bool show_claim(struct trust_job *job, const struct claim *c,
                       struct err *e)
{
    const struct layer *l = &c->layer;

    if (c->states[c->count - 1] != TRUST_GIVEN) /* the workspace itself */
        warn_of_home(job, l);
    if (job->is_json && has_option(job->inv, OPTION_YES))
        return true;
    SAY(job, "%.*s", STR_ARG(shown(job, l->path)));
    show_reason(job, c);
    for (size_t i = c->count; i-- > 0;) {
        const struct trust_kind *kind = authorize_kind(c->items[i].kind);

        if (c->states[i] == TRUST_GIVEN)
            continue;
        if (kind->describe)
            show_lines(job,
                       kind->describe(&l->project, true, &job->inv->cx.arena));
        else if (!show_offered(job, l, e))
            return false;
    }
    if (c->count == 1)
        SAY(job, "  mapm.yaml allows nothing that needs to be accepted");
    return true;
}

/* --- accepting it ------------------------------------------------------------------- */

static void report(struct trust_job *job, const struct claim *c)
{
    struct json_writer *w;

    if (!job->is_json) {
        term_note(&job->inv->term, "trusted %.*s",
                  STR_ARG(shown(job, c->layer.path)));
        return;
    }
    w = print_json_begin(job->inv, "mapm.trust/1", "trust");
    json_member_array(w, "trusted");
    for (size_t i = c->count; i-- > 0;) {
        json_begin_object(w);
        trust_put_json(w, c->items[i].kind, c->items[i].subject,
                       &c->items[i].digest, &job->inv->cx.arena);
        json_member_bool(w, "new", c->states[i] != TRUST_GIVEN);
        json_end_object(w);
    }
    json_end_array(w);
    print_json_end(job->inv);
}

/* Skills may lie in a folder of no project: of them, too, some may run. */
static bool check_there(struct trust_job *job, const struct layer *l,
                        struct err *e)
{
    return skill_roots_has_folder(&job->inv->cx, l->path) ||
           layer_check_there(l, &job->inv->cx, e);
}

/* The rules first, the workspace last: a reader of the latter finds them. */
static bool put_claim(struct trust_job *job, const struct claim *c,
                      struct err *e)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->states[i] != TRUST_GIVEN &&
            !authorize_put(&job->inv->cx, job->store, &c->items[i], e))
            return err_wrap(e, "cannot record that this workspace is trusted");
    return true;
}

static bool accept_claim(struct trust_job *job, struct claim *c, struct err *e)
{
    bool known;

    if (!check_there(job, &c->layer, e) ||
        !layer_check_own(&c->layer, &job->inv->cx, e) || !find_claim(job, c, e))
        return false;
    known = is_known(c);
    if (!known && !show_claim(job, c, e))
        return false;
    if (known && !job->is_json)
        term_note(&job->inv->term, "%.*s is trusted already",
                  STR_ARG(shown(job, c->layer.path)));
    if (!term_flush(&job->inv->term, e) ||
        (!known &&
         !context_consent(&job->inv->cx,
                          "Trust this workspace on this machine?", e)) ||
        !put_claim(job, c, e))
        return false;
    if (!known || job->is_json)
        report(job, c);
    return true;
}

bool trust_workspace(struct trust_job *job, struct err *e)
{
    struct claim c = {0};
    bool ok;

    if (!layer_open(&job->inv->cx, LAYER_READ, &c.layer, e))
        return false;
    ok = accept_claim(job, &c, e);
    layer_close(&c.layer);
    return ok;
}

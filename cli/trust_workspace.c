#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "mapm/skill_roots.h"
#include "mapm/state_trust.h"

#include <sys/stat.h>

#include "command.h"
#include "trust.h"

/*
 * A workspace: that its metaskills are offered over MCP, and that what its
 * mapm.yaml allows counts (DESIGN.md 3.1). The first is of the folder, whatever
 * is in it later; the second of these very rules. Both are of this one folder,
 * not of its path (folder_trust.h).
 */

#define SHOWN_MAX_NAMES 20
#define SHOWN_MAX_CHARS 160
#define SHOWN_MAX_BYTES (1024 * 1024)

struct claim {
    struct layer layer;
    bool widens; /* mapm.yaml has rules to accept */
    struct hash rules;
    enum folder_trust workspace, accepted;
    bool workspace_known, rules_known;
};

static bool ask_store(struct trust_job *job, struct claim *c, struct err *e)
{
    const struct hash none = {{0}};

    if (!layer_is_trusted(&c->layer, &job->inv->cx, job->store, &c->workspace,
                          e) &&
        e->code != ERR_NONE)
        return false;
    c->widens = project_policy_digest(&c->layer.project, &c->rules);
    if (!folder_trust_find(&job->inv->cx, job->store, STATE_TRUST_POLICY,
                           c->layer.path, c->widens ? &c->rules : &none,
                           &c->accepted, e))
        return false;
    c->workspace_known = c->workspace == FOLDER_TRUSTED;
    c->rules_known = c->widens && c->accepted == FOLDER_TRUSTED;
    return true;
}

/* As mapm.yaml has it, and so that no word can pass for two. */
static struct str format_rule(const struct project_rule *rule, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    buf_init(&b, PROJECT_MAX_BYTES * 8);
    json_writer_init(&w, &b, 0);
    json_begin_array(&w);
    for (size_t i = 0; i < rule->count; i++)
        json_string(&w, rule->words[i]);
    json_end_array(&w);
    return arena_str(a, buf_str(&b));
}

static void say(struct trust_job *job, struct str line)
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

#define SAY(job, ...) say(job, arena_printf(&(job)->inv->cx.arena, __VA_ARGS__))

static void show_rules(struct trust_job *job, const struct project *p)
{
    struct arena *a = &job->inv->cx.arena;

    SAY(job, "  mapm.yaml lets its metaskills run these commands unasked:");
    for (size_t i = 0; i < p->rule_count; i++)
        if (p->rules[i].allow)
            SAY(job, "    allow %.*s   (mapm.yaml:%u)",
                STR_ARG(format_rule(&p->rules[i], a)), p->rules[i].line);
    for (size_t i = 0; i < p->rule_count; i++)
        if (!p->rules[i].allow)
            SAY(job, "    deny  %.*s   (mapm.yaml:%u)",
                STR_ARG(format_rule(&p->rules[i], a)), p->rules[i].line);
    if (p->network == PROJECT_TRUE)
        SAY(job, "    network: true, that is, with the network");
}

/* --- what it is about -------------------------------------------------------------- */

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

/* As it was found, and, of one that is reached by a link, where it lies. */
static void show_metaskill(struct trust_job *job, const struct layer *l,
                           const struct library_skill *skill)
{
    struct arena *a = &job->inv->cx.arena;
    struct str found = below(skill->folder, l->path), top, real;
    struct err ignored = {0};

    if (fs_real_path(str_c(l->path, a), a, &top, &ignored) &&
        fs_real_path(str_c(skill->folder, a), a, &real, &ignored) &&
        !str_eq(below(real, top), found))
        SAY(job, "    %.*s  %.*s -> %.*s", STR_ARG(shown(job, skill->name)),
            STR_ARG(shown(job, found)), STR_ARG(shown(job, below(real, top))));
    else
        SAY(job, "    %.*s  %.*s", STR_ARG(shown(job, skill->name)),
            STR_ARG(shown(job, found)));
}

/* What came by install from elsewhere is trusted by name and content. */
static bool is_written_here(const struct layer *l,
                            const struct library_skill *skill)
{
    const struct lock_entry *entry = layer_find_folder(l, skill->folder);

    return skill->metaskill && (!entry || layer_is_local(l, entry));
}

/* The workspace's part of what mapm mcp reads, and none of it remembered: so
 * that programs are looked for, too. */
static bool open_written(struct trust_job *job, struct library **out,
                         struct err *e)
{
    struct library_root *roots;
    size_t count, n = 0;

    if (!library_places(&job->inv->cx, false, &roots, &count, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (roots[i].source == LIBRARY_WORKSPACE)
            roots[n++] = roots[i];
    return open_library_roots(&job->inv->cx, NULL, false, false, roots, n, out,
                              e);
}

/* Those there are now, so that a person sees what it is about. */
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
        stat(str_c(job->inv->cx.home, &job->inv->cx.arena), &home) == 0 &&
        stat(str_c(l->path, &job->inv->cx.arena), &here) == 0 &&
        home.st_dev == here.st_dev && home.st_ino == here.st_ino)
        term_warn(&job->inv->term,
                  "this workspace is your home folder: whatever any program "
                  "puts into its folders of skills is offered to clients");
}

/* Why what was accepted once is asked for again. */
static void show_reason(struct trust_job *job, const struct claim *c)
{
    const char *reason = folder_trust_reason(c->workspace);

    if (!*reason)
        reason = folder_trust_reason(c->accepted);
    if (*reason)
        SAY(job, "  asked again: %s", reason);
}

static bool show_claim(struct trust_job *job, const struct claim *c,
                       struct err *e)
{
    if (!c->workspace_known)
        warn_of_home(job, &c->layer);
    if (job->is_json && has_option(job->inv, OPTION_YES))
        return true;
    SAY(job, "%.*s", STR_ARG(shown(job, c->layer.path)));
    show_reason(job, c);
    if (!c->workspace_known) {
        SAY(job, "  metaskills written here are offered to clients over MCP, "
                 "also those that come later:");
        if (!show_written(job, &c->layer, e))
            return false;
    }
    if (!c->widens)
        SAY(job, "  mapm.yaml allows nothing that needs to be accepted");
    else if (!c->rules_known)
        show_rules(job, &c->layer.project);
    return true;
}

/* --- accepting it ------------------------------------------------------------------- */

static void put_claim(struct trust_job *job, struct json_writer *w,
                      const struct claim *c, enum state_trust_kind kind)
{
    bool is_policy = kind == STATE_TRUST_POLICY;

    json_begin_object(w);
    trust_put_json(w, kind, c->layer.path, is_policy ? &c->rules : NULL,
                   &job->inv->cx.arena);
    json_member_bool(w, "new",
                     is_policy ? !c->rules_known : !c->workspace_known);
    json_end_object(w);
}

static void report(struct trust_job *job, const struct claim *c)
{
    struct json_writer w;
    struct buf b;

    if (!job->is_json) {
        term_note(&job->inv->term, "trusted %.*s",
                  STR_ARG(shown(job, c->layer.path)));
        return;
    }
    trust_begin_json(&w, &b, "trust", "trusted");
    put_claim(job, &w, c, STATE_TRUST_WORKSPACE);
    if (c->widens)
        put_claim(job, &w, c, STATE_TRUST_POLICY);
    trust_end_json(job->inv, &w, &b);
}

/* Skills may lie in a folder of no project: of them, too, some may run. */
static bool check_there(struct trust_job *job, const struct layer *l,
                        struct err *e)
{
    return library_has_folder(&job->inv->cx, l->path) ||
           layer_check_there(l, &job->inv->cx, e);
}

static bool accept_claim(struct trust_job *job, struct claim *c, struct err *e)
{
    const struct hash none = {{0}};
    bool fresh;

    if (!check_there(job, &c->layer, e) ||
        !layer_check_own(&c->layer, &job->inv->cx, e) || !ask_store(job, c, e))
        return false;
    fresh = !c->workspace_known || (c->widens && !c->rules_known);
    if (fresh && !show_claim(job, c, e))
        return false;
    if (!fresh && !job->is_json)
        term_note(&job->inv->term, "%.*s is trusted already",
                  STR_ARG(shown(job, c->layer.path)));
    if (!term_flush(&job->inv->term, e) ||
        (fresh && !context_consent(&job->inv->cx,
                                   "Trust this workspace on this machine?", e)))
        return false;
    /* The rules first: who reads that the workspace is trusted finds them. */
    if ((c->widens && !c->rules_known &&
         !folder_trust_put(&job->inv->cx, job->store, STATE_TRUST_POLICY,
                           c->layer.path, &c->rules, e)) ||
        (!c->workspace_known &&
         !folder_trust_put(&job->inv->cx, job->store, STATE_TRUST_WORKSPACE,
                           c->layer.path, &none, e)))
        return err_wrap(e, "cannot remember that this workspace is trusted");
    if (fresh || job->is_json)
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

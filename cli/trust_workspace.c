#include "base/fs.h"
#include "base/path.h"
#include "mapm/runtime.h"

#include <dirent.h>

#include "open_library.h"
#include "trust.h"

/*
 * A workspace: that its metaskills are offered over MCP, and that what its
 * mapm.yaml allows counts (DESIGN.md 3.1). The first is of the folder, whatever
 * is in it later; the second of these very rules.
 */

#define SKILLS_FOLDER   ".agents/skills"
#define SHOWN_MAX_NAMES 20

struct claim {
    struct layer layer;
    bool widens; /* mapm.yaml has rules to accept */
    struct hash rules;
    bool workspace_known, rules_known;
};

static bool ask_store(struct trust_job *job, struct claim *c, struct err *e)
{
    const struct hash none = {{0}};

    c->workspace_known = store_is_trusted(job->store, STORE_TRUST_WORKSPACE,
                                          c->layer.path, &none, e);
    if (!c->workspace_known && e->code != ERR_NONE)
        return false;
    c->widens = project_policy_digest(&c->layer.project, &c->rules);
    c->rules_known =
        c->widens && store_is_trusted(job->store, STORE_TRUST_POLICY,
                                      c->layer.path, &c->rules, e);
    return e->code == ERR_NONE;
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

#define SAY(job, ...) say(job, arena_printf(&(job)->inv->arena, __VA_ARGS__))

static void show_rules(struct trust_job *job, const struct project *p)
{
    struct arena *a = &job->inv->arena;

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

static bool is_installed(const struct layer *l, struct str folder)
{
    for (size_t i = 0; i < l->by_name.count; i++) {
        const struct lock_entry *entry = l->by_name.entries[i].value;

        if (entry->kind == DOC_SKILL && str_eq(path_last(entry->place), folder))
            return true;
    }
    return false;
}

static bool is_metaskill(const struct layer *l, struct str folder)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err ignored = {0};
    struct skill skill;

    return skill_read(
               fs_join(fs_join(l->path, STR(SKILLS_FOLDER), &a), folder, &a),
               &l->limits, &a, &skill, &ignored) &&
           skill.file.n > 0;
}

/* Those there are now, so that a person sees what it is about. */
static void show_local(struct trust_job *job, const struct layer *l)
{
    CLEANUP_FD int fd = -1;
    struct arena *a = &job->inv->arena;
    struct fs_entry *entries;
    struct err ignored = {0};
    size_t count, n = 0;

    if (!fs_open_dir(fs_join(l->path, STR(SKILLS_FOLDER), a).p, &fd,
                     &ignored) ||
        !fs_list_at(fd, "", PACKAGE_MAX_FILES, a, &entries, &count, &ignored))
        return;
    for (size_t i = 0; i < count; i++) {
        if (entries[i].type != DT_DIR || is_installed(l, entries[i].name) ||
            !is_metaskill(l, entries[i].name))
            continue;
        if (++n <= SHOWN_MAX_NAMES)
            SAY(job, "    %.*s", STR_ARG(entries[i].name));
    }
    if (n > SHOWN_MAX_NAMES)
        SAY(job, "    ... and %zu more", n - SHOWN_MAX_NAMES);
}

static void show_claim(struct trust_job *job, const struct claim *c)
{
    if (job->is_json && has_option(job->inv, OPTION_YES))
        return;
    SAY(job, "%.*s", STR_ARG(c->layer.path));
    if (!c->workspace_known) {
        SAY(job, "  metaskills written here are offered to clients over MCP, "
                 "also those that come later");
        show_local(job, &c->layer);
    }
    if (!c->widens)
        SAY(job, "  mapm.yaml allows nothing that needs to be accepted");
    else if (!c->rules_known)
        show_rules(job, &c->layer.project);
}

static void put_claim(struct trust_job *job, struct json_writer *w,
                      const struct claim *c, enum store_trust_kind kind)
{
    bool is_policy = kind == STORE_TRUST_POLICY;

    json_begin_object(w);
    trust_put_json(w, kind, c->layer.path, is_policy ? &c->rules : NULL,
                   &job->inv->arena);
    json_member_bool(w, "new",
                     is_policy ? !c->rules_known : !c->workspace_known);
    json_end_object(w);
}

static void report(struct trust_job *job, const struct claim *c)
{
    struct json_writer w;
    struct buf b;

    if (!job->is_json) {
        term_note(&job->inv->term, "trusted %.*s", STR_ARG(c->layer.path));
        return;
    }
    trust_begin_json(&w, &b, "trust", "trusted");
    put_claim(job, &w, c, STORE_TRUST_WORKSPACE);
    if (c->widens)
        put_claim(job, &w, c, STORE_TRUST_POLICY);
    trust_end_json(job->inv, &w, &b);
}

/* Skills may lie in a folder of no project: of them, too, some may run. */
static bool check_there(struct trust_job *job, const struct layer *l,
                        struct err *e)
{
    return library_has_folder(job->inv, l->path) ||
           layer_check_there(l, job->inv, e);
}

static bool accept_claim(struct trust_job *job, struct claim *c, struct err *e)
{
    const struct hash none = {{0}};
    bool fresh;

    if (!check_there(job, &c->layer, e) || !ask_store(job, c, e))
        return false;
    fresh = !c->workspace_known || (c->widens && !c->rules_known);
    if (fresh)
        show_claim(job, c);
    else if (!job->is_json)
        term_note(&job->inv->term, "%.*s is trusted already",
                  STR_ARG(c->layer.path));
    if (!term_flush(&job->inv->term, e) ||
        (fresh &&
         !confirm(job->inv, "Trust this workspace on this machine?", e)))
        return false;
    /* The rules first: who reads that the workspace is trusted finds them. */
    if ((c->widens && !c->rules_known &&
         !store_put_trust(job->store, STORE_TRUST_POLICY, c->layer.path,
                          &c->rules, e)) ||
        (!c->workspace_known &&
         !store_put_trust(job->store, STORE_TRUST_WORKSPACE, c->layer.path,
                          &none, e)))
        return err_wrap(e, "cannot remember that this workspace is trusted");
    if (fresh || job->is_json)
        report(job, c);
    return true;
}

bool trust_workspace(struct trust_job *job, struct err *e)
{
    struct claim c = {0};
    bool ok;

    if (!layer_open(job->inv, LAYER_READ, &c.layer, e))
        return false;
    ok = accept_claim(job, &c, e);
    layer_close(&c.layer);
    return ok;
}

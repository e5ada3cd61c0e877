#include <string.h>

#include "document.h"

/* Reads `dependencies`: origins of MCPs and skills, and for an agent also of
 * agents. A key of that name in another format is ignored (REQUIREMENTS 4.2).
 * Source: M10 to M15, M24, D12. */

/* Kinds in the order in which dependencies are visited (M24, D12). */
static const enum doc_kind order[] = {DOC_MCP, DOC_SKILL, DOC_AGENT};

/* Returns the number of kinds in `order` that may be dependencies. Only agents
 * may depend on agents, which come last. */
static size_t kind_count(const struct reader *r)
{
    return r->in->kind == DOC_AGENT ? 3 : 2;
}

struct deps {
    struct dependency *items;
    size_t count, capacity;
};

static bool is_one_of_ours(const struct reader *r, struct str key)
{
    for (size_t i = 0; i < kind_count(r); i++)
        if (str_is(key, doc_kind_plural(order[i])))
            return true;
    return false;
}

/* Reports an invalid origin. A hint of one line becomes part of the message; a
 * hint of several lines, with lines to add to a file, is stored as hint. */
static void report_origin(struct reader *r, const char *field, unsigned line,
                          const struct err *e)
{
    size_t before = r->why->count;

    if (!strchr(e->hint, '\n')) {
        report(r, "dep-bad-origin", field, line, "%s; %s", err_first(e),
               e->hint);
        return;
    }
    report(r, "dep-bad-origin", field, line, "%s", err_first(e));
    if (r->why->count > before)
        r->why->items[before].hint = arena_str(r->a, str_cstr(e->hint));
}

static void add_origin(struct reader *r, struct deps *deps, enum doc_kind kind,
                       const char *field, const struct yaml *y)
{
    struct origin *o = arena_new(r->a, struct origin);
    struct err e = {0};

    bool may_be_own = r->in->allow_own || r->in->in_place;

    if (may_be_own ? !origin_parse_here(y->text, r->in->rules, r->a, o, &e)
                   : !origin_parse(y->text, r->in->rules, r->a, o, &e)) {
        report_origin(r, field, y->line, &e);
        return;
    }
    if (o->scheme == ORIGIN_FILE) {
        bool fails = (!r->in->allow_file && !r->in->in_place) ||
                     r->in->profile == PROFILE_PUBLISH;

        if (level_of(r, "dep-file-origin") != LEVEL_OFF)
            report_at(r, fails ? level_of(r, "dep-file-origin") : LEVEL_WARNING,
                      "dep-file-origin", field, y->line,
                      "\"%s\" is a path on one machine: others cannot install "
                      "it; name a repository",
                      quoted(r, y->text));
    }
    if (str_is(o->text, "./")) {
        report(r, "dep-bad-origin", field, y->line,
               "\"./\" is the workspace itself: name a package in it");
        return;
    }
    if (o->scheme == ORIGIN_INDEX) {
        report(r, "dep-bad-origin", field, y->line,
               "\"%s\" is a skill of an index: those are for people to "
               "choose; name a repository",
               quoted(r, y->text));
        return;
    }
    if (origin_range(o, r->a).n)
        report(r, "dep-range", field, y->line,
               "\"%s\" has a range of versions, which other programs cannot "
               "read: name a tag",
               quoted(r, y->text));
    if (o->scheme == ORIGIN_GIT && !git_host_is_home(&git_hosts[0], o->host))
        report(r, "dep-host", field, y->line,
               "\"%s\" is not on %s, and other programs read no other origin",
               quoted(r, y->text), git_hosts[0].homes[0]);
    deps->items = arena_grow(r->a, deps->items, deps->count, &deps->capacity,
                             sizeof *deps->items);
    deps->items[deps->count++] =
        (struct dependency){.kind = kind, .line = y->line, .origin = o};
}

static void read_item(struct reader *r, struct deps *deps, enum doc_kind kind,
                      const char *field, const struct yaml *y)
{
    const struct yaml *origin = yaml_get(y, "origin");

    if (yaml_is_string(y)) {
        add_origin(r, deps, kind, field, y);
    } else if (yaml_is_string(origin)) {
        report(r, "dep-object-form", field, y->line,
               "write the origin alone, without \"origin:\"");
        add_origin(r, deps, kind, field, origin);
    } else {
        report(r, "dep-not-string", field, y->line,
               "a dependency is the origin of a package, as text");
    }
}

static void read_list(struct reader *r, struct deps *deps, enum doc_kind kind,
                      const struct yaml *list)
{
    const char *plural = doc_kind_plural(kind);
    size_t i = 0;

    if (is_null(list))
        return;
    if (list->kind != YAML_SEQUENCE) {
        struct str field = arena_printf(r->a, "dependencies.%s", plural);

        report(r, "deps-not-list", field.p, list->key_line,
               "%s is not a list: write one \"- https://…\" a line", field.p);
        return;
    }
    for (const struct yaml *y = list->first; y; y = y->next, i++)
        read_item(r, deps, kind,
                  arena_printf(r->a, "dependencies.%s[%zu]", plural, i).p, y);
}

void read_dependencies(struct reader *r)
{
    const struct yaml *y = yaml_get(r->root, "dependencies");
    struct deps deps = {0};

    if (is_null(y))
        return;
    if (y->kind != YAML_MAPPING) {
        report(r, "deps-not-mapping", "dependencies", y->key_line,
               "dependencies without \"skills:\" or \"mcps:\" below it are "
               "not MetaAgents' and are ignored");
        return;
    }
    for (const struct yaml *m = y->first; m; m = m->next)
        if (!is_one_of_ours(r, m->key))
            report(r, "deps-unknown-kind", "dependencies", m->key_line,
                   "\"%s\" is ignored: dependencies are \"skills\" and "
                   "\"mcps\", of an agent also \"agents\"",
                   quoted(r, m->key));
        else if (str_is(m->key, doc_kind_plural(DOC_AGENT)))
            report(r, "deps-agents", "dependencies", m->key_line,
                   "agents that need agents are an extension: hosts without "
                   "it do not install these");
    for (size_t i = 0; i < kind_count(r); i++)
        read_list(r, &deps, order[i], yaml_get(y, doc_kind_plural(order[i])));
    r->doc->deps = deps.items;
    r->doc->dep_count = deps.count;
}

#include "base/path.h"
#include "mapm/install_query.h"
#include "mapm/package_text.h"
#include "mapm/report_graph.h"

static struct str catalog_of(const struct layer *l,
                             const struct lock_entry *entry)
{
    return layer_is_own(l, entry) ? STR("this workspace")
                                  : package_repository(entry->origin);
}

static void add_note(struct report_package *p, struct str words,
                     struct arena *a)
{
    words = str_trim(words);
    if (words.n)
        p->note = arena_join(p->note, ", ", words, a);
}

static void note_moved(struct report_package *p, const struct install_moved *m,
                       struct arena *a)
{
    struct str now = m->tag.n ? m->ref : m->new_version;

    if (m->is_beyond)
        return;
    p->state = m->is_gone ? REPORT_GONE : REPORT_OUTDATED;
    if (m->is_gone)
        add_note(p, STR("gone upstream"), a);
    else if (now.n)
        add_note(p, arena_printf(a, "outdated: %.*s", STR_ARG(now)), a);
    else
        add_note(p, STR("outdated"), a);
}

/* A repository without an answer is named, and its packages are drawn as if
 * nothing had changed. */
static void read_states(struct context *cx, const struct workspace_graph *g,
                        struct report_graph *out)
{
    struct install_outdated moved;
    struct err problem = {0};

    if (cx->is_offline)
        return;
    if (!install_outdated(cx, &(struct str_list){0}, &moved, &problem)) {
        context_warn(cx, "what is outdated is not drawn: %s",
                     err_first(&problem));
        return;
    }
    if (moved.problem)
        context_warn(cx, "what is outdated is drawn in part: %s",
                     err_first(moved.problem));
    out->has_states = true;
    for (size_t i = 0; i < moved.count; i++) {
        const struct install_moved *m = &moved.moved[i];
        size_t at = (uintptr_t)map_find(&g->by_name,
                                        layer_name_key(m->kind, m->name, g->a));

        if (at)
            note_moved(&out->packages[at - 1], m, g->a);
    }
}

static void read_packages(const struct workspace_graph *g,
                          struct report_graph *out)
{
    *out = (struct report_graph){.title = path_last(g->layer->path),
                                 .count = g->count};
    out->packages = arena_array(g->a, g->count + 1, sizeof *out->packages);
    for (size_t i = 0; i < g->count; i++) {
        const struct lock_entry *entry = g->entries[i];

        out->packages[i] = (struct report_package){
            .kind = entry->kind,
            .name = entry->name,
            .version = entry->version,
            .catalog = catalog_of(g->layer, entry),
            .needs = g->needs[i],
            .need_count = g->need_counts[i],
        };
        if (entry->patch.n)
            out->packages[i].state = REPORT_PATCHED;
        add_note(&out->packages[i], package_notes(g->layer, entry, g->a), g->a);
    }
    for (size_t i = 0; i < g->root_count; i++)
        out->packages[g->roots[i]].is_root = true;
}

void report_graph_read(struct context *cx, const struct workspace_graph *g,
                       struct report_graph *out)
{
    read_packages(g, out);
    read_states(cx, g, out);
}

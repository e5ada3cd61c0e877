#include "install_show.h"

#include "base/map.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/doc_kind.h"
#include "mapm/install_picker.h"
#include "mapm/install_summary.h"
#include "mapm/layer.h"
#include "mapm/lock.h"
#include "mapm/mcp_file.h"
#include "mapm/origin.h"
#include "mapm/package_text.h"
#include "mapm/plugin_market.h"
#include "mapm/project.h"

#include <string.h>

#define PACKAGES_MAX_SHOWN    20 /* with the same effect */
#define EDITS_MAX_SHOWN       5
#define EXCLUDED_MAX_SHOWN    5
#define LEFT_OUT_MAX_SHOWN    5           /* per group */
#define UNSUPPORTED_MAX_SHOWN 20          /* parts of plugins */
#define GONE_MAX_BYTES        (64 * 1024) /* their names */

/* --- packages ------------------------------------------------------------- */

static void show_prereqs(struct term *t, struct str prereqs)
{
    struct str rest = prereqs, line;

    while (str_line(&rest, &line))
        if (line.n)
            term_print(t, "      %.*s\n", STR_ARG(line));
}

/* Prints "1.2.0 (3f6c…) -> 1.3.0 (8a01…)", or only the new version. */
static void show_versions(struct term *t, const struct install_package *p,
                          struct str remark, struct arena *a)
{
    struct install_versions v = install_package_versions(p, a);

    if (v.before.n)
        term_print(t, " %.*s ->", STR_ARG(v.before));
    term_print(t, " %.*s%s%.*s%.*s\n", STR_ARG(v.after),
               v.is_same_content               ? " (same content)"
               : p->effect == INSTALL_REPAIRED ? " (repaired)"
                                               : "",
               STR_ARG(package_source(p->from, p->is_from_checkout, a)),
               STR_ARG(remark));
}

static const struct {
    const char *sign;
    enum term_style style;
    const char *verb; /* verb in a summary */
} shown_effects[INSTALL_EFFECTS + 1] = {
    [INSTALL_KEPT] = {"  + ", TERM_GREEN, "to be started"},
    [INSTALL_ADDED] = {"  + ", TERM_GREEN, "added"},
    [INSTALL_UPDATED] = {"  ~ ", TERM_YELLOW, "updated"},
    [INSTALL_REPAIRED] = {"  ~ ", TERM_YELLOW, "repaired"},
    [INSTALL_EFFECTS] = {"  - ", TERM_RED, "removed"},
};

/* Returns a remark on a package: newly offered by a catalog, or not listed by
 * clients. */
static struct str remark_of(const struct install_plan *plan,
                            const struct install_package *p, struct arena *a)
{
    struct str listing = p->is_searched ? STR(" (search only)")
                         : p->is_moved  ? STR(" (listed by clients)")
                                        : STR("");

    if (!p->catalog.n || p->before || strcmp(plan->command, "update") != 0)
        return listing;
    return arena_printf(a, ", new in %.*s%.*s",
                        STR_ARG(package_repository(p->catalog)),
                        STR_ARG(listing));
}

/* Prints the member of a package in a workspace with members. A member that is
 * not provisioned now receives it later. */
static void show_member(struct term *t, struct str member, bool is_lock_only)
{
    if (member.n)
        term_print(t, " (%.*s%s)", STR_ARG(member),
                   is_lock_only ? ", locked only" : "");
}

static void show_command(struct term *t, const char *runs, const char *connects,
                         const char *command)
{
    term_print(t, "      %s%s\n",
               mcp_line_is_remote(str_cstr(command)) ? connects : runs,
               command);
}

static void show_package(struct term *t, const struct install_plan *plan,
                         const struct install_package *p, struct arena *a)
{
    term_style_print(t, shown_effects[p->effect].style, "%s",
                     shown_effects[p->effect].sign);
    term_print(t, "%s %.*s", doc_kind_name(p->package->kind),
               STR_ARG(p->package->fqn));
    show_member(t, p->member, p->is_lock_only);
    show_versions(t, p, remark_of(plan, p, a), a);
    if (p->old_command)
        show_command(t, "ran:  ", "connected to: ", p->old_command);
    if (p->command)
        show_command(t, "runs: ", "connects to: ", p->command);
    if (p->patch)
        term_print(t, "      patch: %.*s (+%zu -%zu)\n",
                   STR_ARG(p->patch->file), p->patch_added, p->patch_removed);
    else if (p->before && p->before->patch.n)
        term_print(t, "      without its patch\n");
    if (p->shows_prereqs)
        show_prereqs(t, p->package->prereqs);
}

static void show_removed(struct term *t, const struct lock_entry *entry,
                         const struct str *member)
{
    term_style_print(t, shown_effects[INSTALL_EFFECTS].style, "%s",
                     shown_effects[INSTALL_EFFECTS].sign);
    term_print(t, "%s %.*s", doc_kind_name(entry->kind), STR_ARG(entry->name));
    if (member)
        show_member(t, *member, false);
    term_print(t, "%s%.*s\n", entry->version.n ? " " : "",
               STR_ARG(entry->version));
}

static void count_one(struct map *counts, struct str origin)
{
    struct map_entry *entry = map_entry(counts, package_repository(origin));

    entry->value = (void *)((uintptr_t)entry->value + 1);
}

static void show_counts(struct term *t, const struct map *counts,
                        unsigned effect)
{
    for (size_t i = 0; i < counts->count; i++) {
        size_t n = (uintptr_t)counts->entries[i].value;

        term_style_print(t, shown_effects[effect].style, "%s",
                         shown_effects[effect].sign);
        term_print(t, "%zu package%s of %.*s %s\n", n, n == 1 ? "" : "s",
                   STR_ARG(counts->entries[i].key), shown_effects[effect].verb);
    }
}

static bool is_shown(const struct install_package *p)
{
    return p->effect != INSTALL_KEPT || p->is_granted;
}

/* Returns whether the package is listed by itself, because the user must know
 * of it. */
static bool is_alone(const struct install_package *p)
{
    return p->command || p->old_command || p->shows_prereqs || p->patch;
}

static void show_places(struct term *t, const struct install_plan *plan,
                        bool each, struct arena *a)
{
    static const enum install_effect effects[] = {
        [PROVISION_ADD] = INSTALL_ADDED,
        [PROVISION_UPDATE] = INSTALL_UPDATED,
        [PROVISION_REMOVE] = INSTALL_EFFECTS,
    };
    size_t count;
    const struct provision_change **changes =
        install_client_changes(plan, a, &count);

    for (size_t i = 0; i < count && (each || i < PACKAGES_MAX_SHOWN); i++) {
        unsigned effect = effects[changes[i]->kind];

        term_style_print(t, shown_effects[effect].style, "%s",
                         shown_effects[effect].sign);
        term_print(t, "%.*s\n", STR_ARG(text_shown(changes[i]->path, a)));
    }
    if (!each && count > PACKAGES_MAX_SHOWN)
        term_print(t, "    and %zu more for clients (-v lists them)\n",
                   count - PACKAGES_MAX_SHOWN);
}

/* Many packages with the same effect are summarized per repository. */
void install_show_packages(struct term *t, const struct install_plan *plan,
                           bool each, struct arena *a)
{
    size_t of[INSTALL_EFFECTS] = {0};
    struct map counts[INSTALL_EFFECTS + 1];

    if (plan->change_count == 0 && plan->grant_count == 0)
        return;
    for (size_t i = 0; i <= INSTALL_EFFECTS; i++)
        map_init(&counts[i], a);
    for (size_t i = 0; i < plan->package_count; i++)
        of[plan->packages[i].effect] += is_shown(&plan->packages[i]);
    for (size_t i = 0; i < plan->package_count; i++) {
        const struct install_package *p = &plan->packages[i];

        if (!is_shown(p))
            continue;
        if (each || of[p->effect] <= PACKAGES_MAX_SHOWN || is_alone(p))
            show_package(t, plan, p, a);
        else
            count_one(&counts[p->effect], p->package->origin->text);
    }
    for (size_t i = 0; i < plan->removed_count; i++)
        if (each || plan->removed_count <= PACKAGES_MAX_SHOWN)
            show_removed(t, plan->removed[i],
                         plan->removed_members ? &plan->removed_members[i]
                                               : NULL);
        else
            count_one(&counts[INSTALL_EFFECTS], plan->removed[i]->origin);
    for (unsigned i = 0; i <= INSTALL_EFFECTS; i++)
        show_counts(t, &counts[i], i);
    show_places(t, plan, each, a);
}

void install_note_merged(struct term *t, const struct install_plan *plan,
                         bool dry_run)
{
    if (!plan->has_merged)
        return;
    for (size_t i = 0; i < plan->merged_count; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        const struct install_merged *m = &plan->merged[i];
        const struct lock_entry *taken = m->taken;

        term_note(t, "mapm.lock: %s %.*s: changed on both sides, took %s: %.*s",
                  doc_kind_name(taken->kind), STR_ARG(taken->name),
                  taken == m->ours ? "ours" : "theirs",
                  STR_ARG(package_version(taken->version, taken->commit,
                                          taken->origin, &a)));
    }
    term_note(t, dry_run ? "mapm.lock: the merge conflict can be resolved"
                         : "mapm.lock: the merge conflict is resolved; mark "
                           "it in git by git add mapm.lock");
}

/* --- catalogs ------------------------------------------------------------- */

/* Prints one line, and with `each` one per folder. The folder names are
 * untrusted, so the suggested command contains only a name that is safe to
 * type. */
static void note_elsewhere(struct term *t, bool each,
                           const struct install_catalog *c)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct origin *o = &c->origin;
    struct str command = {"", 0};
    const struct install_folder *largest;
    size_t count;
    struct install_folder *folders =
        install_elsewhere_folders(c, &a, &count, &largest);

    if (largest)
        command = arena_printf(&a, "mapm install %.*s --all",
                               STR_ARG(origin_typed(o, largest->path, &a)));
    term_note(t,
              "%.*s has %zu more outside of its agents, mcps and skills: "
              "name the folder%s%.*s%s",
              STR_ARG(o->repository), c->elsewhere_count,
              command.n ? ", as in " : "", STR_ARG(command),
              each ? ":" : " (-v lists them)");
    for (size_t i = 0; each && i < count; i++)
        term_note(t, "  %zu in %.*s", folders[i].count,
                  STR_ARG(folders[i].path));
}

void install_note_elsewhere(struct invocation *inv,
                            const struct install_plan *plan)
{
    for (size_t i = 0; i < plan->catalog_count; i++)
        if (plan->catalogs[i].has_market)
            term_note(&inv->term,
                      "%.*s has a marketplace of plugins: --plugin '*' takes "
                      "them whole, with their servers and sub-agents",
                      STR_ARG(plan->catalogs[i].origin.text));
    for (size_t i = 0; i < plan->catalog_count; i++)
        if (plan->catalogs[i].elsewhere_count)
            note_elsewhere(&inv->term, has_option(inv, OPTION_VERBOSE),
                           &plan->catalogs[i]);
}

static void show_offer(struct term *t, const struct install_offer *o)
{
    CLEANUP(arena_done) struct arena a = {0};

    term_print(t, "  %-6s %-28.*s ", doc_kind_name(o->kind),
               STR_ARG(text_shown(o->name, &a)));
    if (o->is_installed)
        term_style_print(t, TERM_GREEN, "installed ");
    if (o->problem.n)
        term_style_print(t, TERM_YELLOW, "not installable: ");
    else if (o->tokens)
        term_print(t, "%zu tokens: ", o->tokens);
    term_print(t, "%.*s\n", STR_ARG(text_shown(install_offer_text(o), &a)));
}

/* Prints one line per offer for a pipe, with type, name and origin first. */
static void show_lines(struct term *t, const struct install_offer *offers,
                       size_t count)
{
    for (size_t i = 0; i < count; i++) {
        CLEANUP(arena_done) struct arena a = {0};
        const struct install_offer *o = &offers[i];

        term_print(t, "%-6s %-32.*s %.*s  %s%.*s\n", doc_kind_name(o->kind),
                   STR_ARG(text_shown(o->name, &a)),
                   STR_ARG(text_shown(o->origin, &a)),
                   o->problem.n ? "not installable: " : "",
                   STR_ARG(text_shown(install_offer_text(o), &a)));
    }
}

/* Prints the heading of a group; that of a plugin is the plugin itself. */
static void show_heading(struct term *t, const struct install_offer *first)
{
    CLEANUP(arena_done) struct arena a = {0};

    if (first->kind != DOC_PLUGIN) {
        term_style_print(t, TERM_BOLD, "%.*s/\n",
                         STR_ARG(text_shown(first->group, &a)));
        return;
    }
    term_style_print(t, TERM_BOLD, "plugin %.*s",
                     STR_ARG(text_shown(first->name, &a)));
    term_print(t, "%s%s%.*s\n", first->is_installed ? " (installed)" : "",
               first->description.n ? ": " : "",
               STR_ARG(text_shown(first->description, &a)));
}

void install_show_catalog(struct invocation *inv,
                          const struct install_catalog *c)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct term *t = &inv->term;
    const struct install_offer *heading = NULL;
    struct install_picker p;

    if (c->unnamed_count)
        term_note(t, "%.*s",
                  STR_ARG(market_unnamed_text(c->unnamed_count, &a)));
    if (!t->is_out) {
        show_lines(t, c->offers, c->offer_count);
        show_lines(t, c->plugins, c->plugin_count);
        return;
    }
    install_picker_init(&p, c, &a);
    for (size_t i = 0; i < p.row_count; i++) {
        const struct install_offer *o = p.rows[i].offer;

        if (p.rows[i].count)
            show_heading(t, heading = o);
        else if (o != heading || o->kind != DOC_PLUGIN)
            show_offer(t, o);
    }
}

static void note_choice(struct term *t, const struct install_catalog *c)
{
    struct str text = c->origin.text;

    if (c->offer_count == 1 && str_eq(c->offers[0].path, c->path))
        return; /* a single package rather than a catalog */
    if (c->offer_count)
        term_note(t,
                  "%.*s is a catalog: choose with --all, --skill NAME, --agent "
                  "NAME, --mcp NAME%s",
                  STR_ARG(text), c->plugin_count ? ", --plugin NAME" : "");
    else
        term_note(t, "%.*s is a marketplace: choose with --plugin NAME",
                  STR_ARG(text));
}

void install_show_offers(struct invocation *inv,
                         const struct install_plan *plan)
{
    struct term *t = &inv->term;

    for (size_t k = 0; k < plan->catalog_count; k++) {
        const struct install_catalog *c = &plan->catalogs[k];

        install_show_catalog(inv, c);
        note_choice(t, c);
    }
    install_note_elsewhere(inv, plan);
}

void install_note_excluded(struct term *t, const struct install_plan *plan)
{
    for (size_t i = 0; i < plan->excluded_count; i++) {
        const struct install_exclusion *x = &plan->excluded[i];

        if (x->word.n == 0)
            term_note(t,
                      "that was the last one of the catalog %.*s, which goes "
                      "from mapm.yaml",
                      STR_ARG(x->catalog));
        else if (i < EXCLUDED_MAX_SHOWN)
            term_note(t, "mapm.yaml excludes %.*s from the catalog %.*s now",
                      STR_ARG(x->word), STR_ARG(x->catalog));
    }
    if (plan->excluded_count > EXCLUDED_MAX_SHOWN)
        term_note(t, "mapm.yaml lists %zu more below exclude",
                  plan->excluded_count - EXCLUDED_MAX_SHOWN);
}

/* --- what stays edited ---------------------------------------------------- */

static bool is_removed(const struct install_edit *edit)
{
    return edit->name.n == 0;
}

static void note_removed(struct term *t, const struct install_plan *plan)
{
    size_t count = 0;

    for (size_t i = 0; i < plan->edit_count; i++) {
        if (!is_removed(&plan->edits[i]))
            continue;
        term_warn(t, "%.*s: kept", STR_ARG(plan->edits[i].what));
        count++;
    }
    if (count)
        term_note(t, "what was changed stays, with the rest of its folder, and "
                     "is yours now; --force removes it, too");
}

/* Prints one note per package. */
void install_note_edits(struct term *t, const struct install_plan *plan,
                        bool is_global)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    size_t packages = 0;
    const char *level = is_global ? " -g" : "";
    struct str what;
    struct map seen;

    note_removed(t, plan);
    map_init(&seen, &scratch);
    for (size_t i = 0; i < plan->edit_count; i++) {
        const struct install_edit *edit = &plan->edits[i];

        if (is_removed(edit) ||
            !map_put(&seen, layer_name_key(edit->kind, edit->name, &scratch),
                     NULL) ||
            packages++ >= EDITS_MAX_SHOWN)
            continue;
        what = text_shown(edit->what, &scratch);
        term_note(t,
                  "%s %.*s was edited and is left as it is (%.*s); mapm diff%s "
                  "%.*s shows how, mapm restore%s %.*s undoes it",
                  doc_kind_name(edit->kind), STR_ARG(edit->name), STR_ARG(what),
                  level, STR_ARG(edit->name), level, STR_ARG(edit->name));
    }
    if (packages > EDITS_MAX_SHOWN)
        term_note(t, "so are %zu more: mapm verify names them all",
                  packages - EDITS_MAX_SHOWN);
}

/* --- what an update holds -------------------------------------------------- */

const char *install_moved_words(const struct install_place *p)
{
    return p->is_same ? "the same content is at" : "that name is at";
}

/* Prints how to proceed with a held package. A package of an index cannot be
 * pinned, since an index has no commits. */
static void note_ways(struct term *t, const struct install_held *h)
{
    const struct lock_entry *entry = h->entry;

    if (h->pin.n)
        term_note(t,
                  "  mapm remove %.*s takes it out, mapm install %.*s pins it",
                  STR_ARG(entry->name), STR_ARG(h->pin));
    else
        term_note(t, "  mapm remove %.*s takes it out", STR_ARG(entry->name));
    if (h->place_now.origin.n)
        term_note(t,
                  "  %s another path: mapm remove %.*s, then mapm install %.*s",
                  install_moved_words(&h->place_now), STR_ARG(entry->name),
                  STR_ARG(h->place_now.origin));
}

static void warn_gone(struct term *t, const struct install_held *h,
                      struct arena *a)
{
    const struct lock_entry *entry = h->entry;
    struct str version =
        package_version(entry->version, entry->commit, entry->origin, a);

    term_warn(t, "%s %.*s is gone, and stays at %.*s: %.*s",
              doc_kind_name(entry->kind), STR_ARG(entry->name),
              STR_ARG(version), STR_ARG(h->message));
    if (h->is_root)
        note_ways(t, h);
    else
        term_note(t,
                  "  mapm why %.*s names the roots that need it: mapm remove "
                  "takes one out, its commit in mapm.yaml pins it",
                  STR_ARG(entry->name));
}

/* Names all packages that are gone from a reorganized repository in one
 * line. */
static void warn_many_gone(struct term *t, const struct install_plan *plan,
                           const struct install_held *first)
{
    struct str repository = package_repository(first->entry->origin);
    const struct install_held *moved = NULL;
    struct buf names = {0};
    size_t count = 0, moved_count = 0;

    buf_init(&names, GONE_MAX_BYTES);
    for (size_t i = 0; i < plan->held_count; i++) {
        const struct install_held *h = &plan->held[i];

        if (!h->is_gone || !h->is_root ||
            !str_eq(package_repository(h->entry->origin), repository))
            continue;
        buf_printf(&names, "%s%.*s", count++ ? ", " : "",
                   STR_ARG(h->entry->name));
        if (h->place_now.origin.n && moved_count++ == 0)
            moved = h;
    }
    term_warn(t, "%zu packages of %.*s are gone, and stay as they are: %.*s",
              count, STR_ARG(repository), STR_ARG(buf_str(&names)));
    buf_done(&names);
    term_note(t,
              "  mapm remove takes one out, as in mapm remove %.*s, mapm "
              "install pins it, as in mapm install %.*s (-v has both for each)",
              STR_ARG(first->entry->name), STR_ARG(first->pin));
    if (moved)
        term_note(t,
                  "  %zu of them are at another path, as %.*s at %.*s (-v has "
                  "that of each)",
                  moved_count, STR_ARG(moved->entry->name),
                  STR_ARG(moved->place_now.origin));
}

static void warn_all_gone(struct invocation *inv,
                          const struct install_plan *plan)
{
    struct arena *a = &inv->cx.arena;
    struct map counts;

    map_init(&counts, a);
    for (size_t i = 0; i < plan->held_count; i++)
        if (plan->held[i].is_gone && plan->held[i].is_root)
            count_one(&counts, plan->held[i].entry->origin);
    for (size_t i = 0; i < plan->held_count; i++) {
        const struct install_held *h = &plan->held[i];
        struct str repository = package_repository(h->entry->origin);
        struct map_entry *entry =
            h->is_gone && h->is_root ? map_entry(&counts, repository) : NULL;

        if (!h->is_gone)
            continue;
        if (!entry || has_option(inv, OPTION_VERBOSE) ||
            (entry->value && (uintptr_t)entry->value <= PACKAGES_MAX_SHOWN)) {
            warn_gone(&inv->term, h, a);
        } else if (entry->value) {
            warn_many_gone(&inv->term, plan, h);
            entry->value = NULL; /* report it once */
        }
    }
}

void install_warn_untouched(struct invocation *inv,
                            const struct install_plan *plan)
{
    struct term *t = &inv->term;

    for (size_t i = 0; i < plan->untouched_count; i++) {
        const struct provision_untouched *u = &plan->untouched[i];
        struct str rest = u->snippet, line;

        term_warn(t, "%.*s was left as it is: %.*s", STR_ARG(u->path),
                  STR_ARG(u->why));
        if (rest.n == 0 || has_option(inv, OPTION_JSON))
            continue;
        (t->quiet ? term_warn : term_note)(
            t, "for %.*s this belongs into it:", STR_ARG(u->client));
        while (str_line(&rest, &line))
            (t->quiet ? term_warn : term_note)(t, "    %.*s", STR_ARG(line));
    }
}

void install_warn_held(struct invocation *inv, const struct install_plan *plan)
{
    struct term *t = &inv->term;

    warn_all_gone(inv, plan);
    for (size_t i = 0; i < plan->held_count; i++) {
        const struct install_held *h = &plan->held[i];
        const struct lock_entry *entry = h->entry;

        if (h->is_gone)
            continue;
        term_warn(t, "%s %.*s stays as it is, with all that it needs: %.*s",
                  doc_kind_name(entry->kind), STR_ARG(entry->name),
                  STR_ARG(h->message));
        /* Several roots in one conflict have the same chains. */
        for (size_t k = 0; k < h->chains.count &&
                           (i == 0 || !str_eq(h->message, h[-1].message));
             k++)
            term_note(t, "  - %.*s", STR_ARG(h->chains.items[k]));
        if (h->hint.n)
            term_note(t, "  %.*s", STR_ARG(h->hint));
        else
            note_ways(t, h);
    }
}

/* --- what is left out ----------------------------------------------------- */

static void warn_group(struct term *t, const struct install_left_out *list,
                       size_t count)
{
    CLEANUP(arena_done) struct arena a = {0};

    term_warn(
        t, "left out, %.*s: %.*s", STR_ARG(list->code),
        STR_ARG(install_left_out_names(list, count, LEFT_OUT_MAX_SHOWN, &a)));
    term_note(t, "  %s: %.*s",
              install_left_out_is_one_reason(list, count) ? "because"
                                                          : "for example",
              STR_ARG(list->message));
}

static void warn_each(struct term *t, const struct install_left_out *l)
{
    term_warn(t, "left out, %.*s: %s %.*s", STR_ARG(l->code),
              doc_kind_name(l->kind), STR_ARG(l->origin));
    if (l->omitted)
        term_note(t, "  needs: %zu packages in a row, and then", l->omitted);
    for (size_t i = 1; i < l->chain_count; i++)
        term_note(t, "  needs: %s %.*s", doc_kind_name(l->chain[i].kind),
                  STR_ARG(l->chain[i].origin));
    term_note(t, "  because: %.*s", STR_ARG(l->message));
}

void install_warn_left_out(struct invocation *inv,
                           const struct install_plan *plan)
{
    const struct install_left_out *list = plan->left_out;
    size_t n = plan->left_out_count;
    bool each = has_option(inv, OPTION_VERBOSE);

    for (size_t i = 0, run; i < n; i += run) {
        run = install_left_out_run(list + i, n - i);
        if (!each)
            warn_group(&inv->term, list + i, run);
        for (size_t k = i; each && k < i + run; k++)
            warn_each(&inv->term, &list[k]);
    }
    if (n)
        term_warn(&inv->term, "%zu of %zu chosen packages %s left out%s", n,
                  plan->chosen_count, n == 1 ? "is" : "are",
                  each ? "" : " (-v says why, one by one)");
}

/* --- parts of plugins ------------------------------------------------------ */

void install_note_unsupported(struct invocation *inv,
                              const struct install_plan *plan)
{
    struct term *t = &inv->term;
    size_t told = 0;

    for (size_t i = 0; i < plan->without_count; i++)
        term_note(t, "plugin %.*s is installed without %.*s, as mapm.yaml says",
                  STR_ARG(plan->without[i].plugin),
                  STR_ARG(project_parts_text(plan->without[i].parts,
                                             &inv->cx.arena)));
    for (size_t i = 0; i < plan->unsupported_count; i++) {
        const struct install_unsupported *u = &plan->unsupported[i];

        if (!u->is_new && !has_option(inv, OPTION_VERBOSE))
            continue;
        if (++told > UNSUPPORTED_MAX_SHOWN && !has_option(inv, OPTION_VERBOSE))
            continue;
        if (u->name.n)
            term_warn(t, "plugin %.*s: %.*s %.*s is left out: %.*s",
                      STR_ARG(u->plugin), STR_ARG(u->kind), STR_ARG(u->name),
                      STR_ARG(u->message));
        else
            term_warn(t, "plugin %.*s: %zu %.*s (%.*s) not installed%s",
                      STR_ARG(u->plugin), u->count, STR_ARG(u->kind),
                      STR_ARG(u->where),
                      u->is_new && plan->command &&
                              strcmp(plan->command, "update") == 0
                          ? ", new in this version"
                          : "");
    }
    if (told > UNSUPPORTED_MAX_SHOWN && !has_option(inv, OPTION_VERBOSE))
        term_warn(t,
                  "%zu more kinds and parts of plugins are not installed (-v "
                  "lists them)",
                  told - UNSUPPORTED_MAX_SHOWN);
}

void install_note_purged(struct invocation *inv,
                         const struct install_plan *plan, bool dry_run)
{
    for (size_t i = 0; i < plan->purged_count; i++)
        term_note(&inv->term, "%s the data of a plugin: %.*s",
                  dry_run ? "would delete" : "deletes",
                  STR_ARG(plan->purged[i]));
}

/* Packages that the selecting command reported are not reported again, only new
 * ones. */
void install_note_skipped(struct invocation *inv,
                          const struct install_plan *plan)
{
    size_t n = plan->left_out_count;
    bool each = has_option(inv, OPTION_VERBOSE);

    for (size_t i = 0; each && i < n; i++)
        warn_each(&inv->term, &plan->left_out[i]);
    if (n)
        term_note(&inv->term,
                  "%zu package%s of the catalogs cannot be installed and %s "
                  "left out%s",
                  n, n == 1 ? "" : "s", n == 1 ? "is" : "are",
                  each ? "" : " (-v says why, one by one)");
}

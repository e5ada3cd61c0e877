#include "base/digest.h"
#include "base/fs.h"
#include "base/path.h"
#include "mapm/doc_kind.h"
#include "mapm/limits.h"
#include "mapm/lock.h"
#include "mapm/member.h"
#include "mapm/origin.h"
#include "mapm/project.h"
#include "mapm/range.h"

#include <stdlib.h>

#include "catalogs.h"
#include "index.h"
#include "plugins.h"
#include "purge.h"
#include "selection.h"
#include "versions.h"

/* --- plan ----------------------------------------------------------------- */

static bool check_source(const struct install_session *s,
                         const struct origin *asked, const struct origin *o,
                         struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};

    if (project_source_allowed(&s->layer.project, o) &&
        project_source_allowed(&s->layer.user, o))
        return true;
    err_set(e, ERR_REFUSED, "%.*s: policy.sources does not allow %.*s",
            STR_ARG(asked->text), STR_ARG(o->repository));
    return err_hint(e, "add %.*s to policy.sources, or do without it",
                    STR_ARG(origin_repository(o, &scratch)));
}

/* Checks policy.sources for the origin and, if the package is replaced or its
 * repository renamed, for its source. */
static bool check_sources(const struct install_session *s,
                          const struct plan *plan, struct err *e)
{
    for (size_t i = 0; i < plan->count; i++) {
        CLEANUP(arena_done) struct arena scratch = {0};
        const struct package *p = plan->steps[i].package;
        struct origin now;

        if (!check_source(s, p->origin, p->origin, e) ||
            !check_source(s, p->origin, node_source(p->user), e) ||
            (node_moved_origin(&s->closure, p->user, &scratch, &now) &&
             !check_source(s, p->origin, &now, e)))
            return false;
    }
    return true;
}

/* Returns the value of `from:`. An override, which goes to mapm.local.lock, has
 * its source there; mapm.lock has the replacements of mapm.yaml only, also where
 * another file replaces the same by equal content. */
static struct str from_of(const struct install_session *s, const struct node *n)
{
    const struct replacement *team;
    struct origin o;

    if (!n->source || node_has_entry(n))
        return STR("");
    if (n->is_override)
        return n->source->text;
    team = replacements_find_team(&s->layer.replacements, n->origin);
    if (!team)
        return STR("");
    replacement_apply(team, n->origin, &s->cx->arena, &o);
    return o.text;
}

/* Returns whether the entry has the origin, in any spelling. */
static bool has_origin(const struct install_session *s,
                       const struct lock_entry *entry, const struct origin *o)
{
    return str_eq(entry->origin, o->text) ||
           str_eq(layer_origin(&s->layer, entry)->key, o->key);
}

static struct str patch_hash(const struct install_package *p)
{
    return p->patch ? p->patch->hash : str_make("", 0);
}

/* Returns whether the entry has the origin under the new name of the
 * repository, which is the same origin. */
static bool has_moved_origin(const struct install_session *s,
                             const struct install_package *p)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct origin now;

    return node_moved_origin(&s->closure, p->package->user, &scratch, &now) &&
           has_origin(s, p->before, &now);
}

static struct str url_of(const struct node *n)
{
    return n->locked ? n->locked->url : node_rare(n)->url;
}

/* Returns whether the artifact differs; the same files may be in another
 * archive. */
static bool is_other_artifact(const struct lock_entry *before,
                              const struct node *n)
{
    return n->origin->scheme == ORIGIN_INDEX &&
           (!str_eq(before->artifact, index_artifact(n)) ||
            !str_eq(before->url, url_of(n)));
}

static bool is_changed(const struct install_session *s,
                       const struct install_package *p)
{
    const struct lock_entry *b = p->before;

    return !str_eq(b->digest, p->digest) || !str_eq(b->patch, patch_hash(p)) ||
           is_other_artifact(b, p->package->user) ||
           (!node_is_derived(p->package->user) &&
            !str_eq(b->commit, p->package->commit)) ||
           !str_eq(b->from, from_of(s, p->package->user)) ||
           !(has_origin(s, b, p->package->origin) || has_moved_origin(s, p));
}

/* Marks packages that differ from mapm.lock on this machine, and their
 * dependents. */
static void mark_overridden(struct install_session *s)
{
    s->overridden =
        arena_array(&s->cx->arena, s->resolved.count + 1, sizeof(bool));
    for (size_t i = 0; i < s->resolved.count; i++) {
        const struct plan_step *step = &s->resolved.steps[i];

        s->overridden[i] = package_node(&s->packages[i])->is_override;
        for (size_t k = 0; k < step->need_count; k++)
            s->overridden[i] |= s->overridden[step->needs[k]];
    }
}

/* Marks the dependencies of committed roots as committed; the rest is local. */
static void mark_committed(struct install_session *s)
{
    mark_overridden(s);
    for (size_t i = 0; i < s->resolved.count; i++)
        s->packages[i].is_local = true;
    for (size_t i = 0; i < s->root_count; i++) {
        struct plan_step *step;

        if (s->roots[i].origin.scheme == ORIGIN_FILE)
            continue;
        step = map_find(&s->resolved.by_key, s->roots[i].origin.key);
        if (step && !s->overridden[step - s->resolved.steps])
            s->packages[step - s->resolved.steps].is_local = false;
    }
    /* dependencies precede their dependents, so one pass backwards suffices */
    for (size_t i = s->resolved.count; i-- > 0;) {
        const struct plan_step *step = &s->resolved.steps[i];

        if (s->packages[i].is_local)
            continue;
        for (size_t k = 0; k < step->need_count; k++)
            s->packages[step->needs[k]].is_local = false;
    }
}

/* Returns the node whose commit is written to the lock. */
static struct node *main_node(const struct install_session *s,
                              const struct plan_step *step)
{
    struct node *n = step->package->user;

    for (size_t i = 1; i < step->origin_count && n->package.commit.n == 0 &&
                       origin_is_remote(n->origin);
         i++) {
        struct node *other = closure_find(&s->closure, step->origins[i]);

        if (other && other->package.commit.n)
            n = other;
    }
    return n;
}

/* Finds the previous entry, usually the one that the node was resolved by. */
static const struct lock_entry *find_before(const struct install_session *s,
                                            const struct package *package)
{
    const struct node *n = package->user;
    const struct lock_entry *entry = n->locked;

    return entry && !layer_is_local(&s->layer, entry) &&
                   layer_has(&s->layer, entry) &&
                   entry->kind == package->kind &&
                   str_eq(entry->name, package->fqn)
               ? entry
               : layer_find(&s->layer, package->kind, package->fqn);
}

/* Returns the recorded folder or key, which never changes (X9, X21). With
 * several entries of one origin, the closure has checked only the first. */
static struct str recorded_place(void *ctx, const struct package *p)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct install_session *s = ctx;
    const struct lock_entry *entry = find_before(s, p);
    const struct node *n = p->user;
    struct str place;

    if (p->kind == DOC_PLUGIN)
        return str_make("", 0);

    if (!entry || !entry->place.n)
        return str_make("", 0);
    place = p->kind == DOC_MCP ? entry->place : path_last(entry->place);
    return s->part_count == 1 || entry == n->locked ||
                   resolver_may_assign(p, place, &scratch)
               ? place
               : str_make("", 0);
}

/* Formats the digest for the lock. */
static struct str entry_digest(const struct package *p, struct arena *a)
{
    const struct node *n = p->user;

    if (p->origin->scheme != ORIGIN_OWN)
        return p->content;
    return p->kind == DOC_MCP ? digest_format(&n->digest, a) : STR("");
}

/* Checks that the folder of a linked package has the name in its document. */
static bool check_own(const struct install_package *p, struct err *e)
{
    const struct package *own = p->package;

    if (own->origin->scheme != ORIGIN_OWN || own->kind == DOC_MCP ||
        own->kind == DOC_PLUGIN || own->origin->part.n ||
        str_eq(p->place, own->name))
        return true;
    err_set(e, ERR_CONFLICT,
            "%.*s: another package is installed as \"%.*s\" already",
            STR_ARG(own->origin->text), STR_ARG(own->name));
    return err_hint(e, "a package of the workspace is linked and keeps its "
                       "name: give it another one, or remove the other");
}

static struct str catalog_of(const struct install_session *s,
                             const struct plan_step *step)
{
    for (size_t i = 0; s->chosen.count && i < step->origin_count; i++) {
        const struct chosen *c = map_find(&s->chosen, step->origins[i]);

        if (c)
            return c->text;
    }
    return str_make("", 0);
}

static bool fill_packages(struct install_session *s, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct str *names = arena_array(a, s->resolved.count + 1, sizeof *names);

    if (!resolver_assign_names(&s->resolved, recorded_place, s, a, names, e))
        return false;
    s->packages = arena_array(a, s->resolved.count + 1, sizeof *s->packages);
    for (size_t i = 0; i < s->resolved.count; i++) {
        struct install_package *p = &s->packages[i];

        p->package = &main_node(s, &s->resolved.steps[i])->package;
        p->place = names[i];
        p->digest = entry_digest(p->package, a);
        if (!check_own(p, e))
            return false;
        /* a lock from a bundle does not describe the previous state */
        p->before = s->has_given_lock ? NULL : find_before(s, p->package);
        if (!session_find_patch(s, p, e))
            return false;
        p->is_root = s->resolved.steps[i].is_root;
        p->is_searched =
            layer_is_searched(&s->layer, p->package->kind, p->package->fqn);
        p->catalog = catalog_of(s, &s->resolved.steps[i]);
        if (!p->before)
            p->action = INSTALL_ADD;
        else if (is_changed(s, p))
            p->action = INSTALL_CHANGE;
        p->old_version = p->before ? p->before->version : str_make("", 0);
        p->old_commit = p->before ? p->before->commit : str_make("", 0);
        p->from = package_node(p)->source && !node_has_entry(package_node(p))
                      ? package_node(p)->source->text
                      : STR("");
        p->is_from_checkout = p->from.n && !package_node(p)->replacement;
    }
    mark_committed(s);
    return true;
}

static const struct plan_step *step_of(const struct install_session *s,
                                       const struct install_package *p)
{
    return &s->resolved.steps[p - s->packages];
}

/* Returns the tag chosen for the ranges of a package, from the first origin
 * with a range. */
static struct str find_tag(const struct install_session *s,
                           const struct install_package *p, struct arena *a)
{
    const struct plan_step *step = step_of(s, p);

    for (size_t i = 0; i < step->origin_count; i++) {
        const struct node *n = closure_find(&s->closure, step->origins[i]);

        if (n && origin_range(n->origin, a).n &&
            origin_is_package_of(p->package->origin, n->origin, a))
            return node_tag(n, a);
    }
    return str_make("", 0);
}

/* Returns whether the version is that of the tag, of the package or its
 * repository. */
static bool is_version_of(struct str version, struct str tag, struct str path,
                          const char **how)
{
    struct semver own, tagged;
    unsigned form;
    int order;

    if (!semver_parse(version, &own) || !tag_version(tag, path, &tagged, &form))
        return true;
    order = semver_cmp(&own, &tagged);
    *how = order > 0 ? "exceeds" : "is below";
    return form < TAG_FORM_V ? order == 0 : order <= 0;
}

/* Warns if the version of a package exceeds its tag, since the range may
 * exclude that version. Source: HOSTS.md 10. */
static void warn_versions(struct install_session *s)
{
    struct arena *a = &s->cx->arena;

    for (size_t i = 0; i < s->resolved.count; i++) {
        const struct install_package *p = &s->packages[i];
        struct str tag =
            p->action == INSTALL_KEEP ? STR("") : find_tag(s, p, a);
        const char *how;

        if (tag.n == 0 || is_version_of(p->package->version, tag,
                                        package_node(p)->path, &how))
            continue;
        notice_add(
            &s->closure.notices, STR("version-tag"), p->package->origin->text,
            arena_printf(a, "its version %.*s %s that of its tag %.*s",
                         STR_ARG(p->package->version), how, STR_ARG(tag)));
    }
    closure_warn(&s->closure);
}

static size_t number_of(const struct layer *l, const struct lock_entry *entry)
{
    return layer_is_local(l, entry)
               ? l->lock.count + (size_t)(entry - l->local_lock.entries)
               : (size_t)(entry - l->lock.entries);
}

/* Finds removed packages by comparing with the previous entries by name. */
static void find_gone(struct install_session *s)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct layer *l = &s->layer;
    const struct lock_entry **entries;
    bool *kept = arena_array(&scratch, l->lock.count + l->local_lock.count + 1,
                             sizeof *kept);
    size_t count;

    for (size_t i = 0; i < s->resolved.count; i++)
        if (s->packages[i].before)
            kept[number_of(l, s->packages[i].before)] = true;
    entries = layer_entries(l, &scratch, &count);
    s->gone = arena_array(&s->cx->arena, count + 1, sizeof *s->gone);
    for (size_t i = 0; i < count && !s->has_given_lock; i++)
        if (!kept[number_of(l, entries[i])])
            s->gone[s->gone_count++] = entries[i];
}

/* --- the new lock --------------------------------------------------------- */

/* Per lock entry: the last package that depends on it, counted from 1 over all
 * layers. */
struct needs_seen {
    size_t *marks, before;
};

static bool has_same_needs(const struct install_session *s,
                           const struct install_package *p,
                           const struct needs_seen *needs)
{
    const struct layer *l = &s->layer;
    const struct plan_step *step = step_of(s, p);
    const struct lock_entry *b = p->before;
    size_t mark = needs->before + (size_t)(p - s->packages) + 1;
    size_t *seen = needs->marks;

    if (!b || layer_is_local(l, b) || b->need_count != step->need_count)
        return false;
    for (size_t i = 0; i < b->need_count; i++)
        seen[b->needs[i].entry - l->lock.entries] = mark;
    for (size_t i = 0; i < step->need_count; i++) {
        const struct lock_entry *other = s->packages[step->needs[i]].before;

        if (!other || layer_is_local(l, other) ||
            seen[other - l->lock.entries] != mark)
            return false;
    }
    return true;
}

/* Fills the sorted dependencies. Those from the lock are in order already. */
static void fill_needs(const struct install_session *s,
                       const struct install_package *of, struct arena *a,
                       const struct needs_seen *seen, struct lock_entry *out)
{
    const struct plan_step *step = step_of(s, of);

    if (has_same_needs(s, of, seen)) {
        out->needs = of->before->needs;
        out->need_count = of->before->need_count;
        return;
    }
    out->needs = arena_array(a, step->need_count + 1, sizeof *out->needs);
    for (size_t i = 0; i < step->need_count; i++) {
        const struct package *p = s->resolved.steps[step->needs[i]].package;

        out->needs[out->need_count++] =
            (struct lock_need){.kind = p->kind, .name = p->fqn};
    }
}

static bool has_own_commit(const struct install_session *s,
                           const struct node *n)
{
    return layer_also_commit(&s->layer, n->origin).n > 0;
}

static bool is_same_ref(const struct install_session *s, const struct node *x,
                        const struct node *y, struct arena *a)
{
    if (!str_eq(origin_repository(x->origin, a),
                origin_repository(y->origin, a)))
        return false;
    if (x->locked && x->locked == y->locked)
        return !has_own_commit(s, x) && !has_own_commit(s, y);
    return x->ref.n && str_eq(x->ref, y->ref) &&
           str_eq(origin_range(x->origin, a), origin_range(y->origin, a));
}

/* Returns whether the previous entry implies the origin and is unchanged. */
static bool is_implied(const struct install_session *s,
                       const struct install_package *p,
                       const struct node *other)
{
    const struct lock_entry *b = p->before;

    return p->action == INSTALL_KEEP && !has_own_commit(s, other) &&
           map_find(&s->layer.by_origin, other->origin->key) == b &&
           !str_eq(layer_origin(&s->layer, b)->key, other->origin->key);
}

/* Returns the commit to write after an origin in `also`; none if it has the
 * ref and commit of the entry, names a commit itself, or none is known
 * (version 1). */
static struct str also_commit(const struct install_session *s,
                              const struct install_package *p,
                              const struct node *other, struct arena *a)
{
    return other->origin->scheme != ORIGIN_GIT ||
                   origin_names_commit(other->origin) ||
                   is_implied(s, p, other) ||
                   (str_eq(other->package.commit, p->package->commit) &&
                    is_same_ref(s, package_node(p), other, a))
               ? str_make("", 0)
               : other->package.commit;
}

/* Sorts former names to the end, as in the lock. */
static void sort_former(struct lock_entry *out, const bool *former,
                        struct arena *a)
{
    size_t n = out->also_count, at = 0;
    struct str *also = arena_array(a, n + 1, sizeof *also);
    struct str *commits = arena_array(a, n + 1, sizeof *commits);

    for (size_t last = 0; last <= 1; last++)
        for (size_t i = 0; i < n; i++)
            if (former[i] == last) {
                also[at] = out->also[i];
                commits[at++] = out->also_commits[i];
                out->former_count += last;
            }
    out->also = also;
    out->also_commits = commits;
}

/* Fills other origins of the same content. `own` is the origin of the entry,
 * with the new name of a renamed repository. */
static void fill_also(const struct install_session *s,
                      const struct install_package *p, const struct origin *own,
                      struct arena *a, struct lock_entry *out)
{
    const struct plan_step *step = step_of(s, p);
    bool is_moved = own != p->package->origin;
    size_t n = 0, room = step->origin_count;
    struct str *also, *commits;
    bool *former;

    if (room < 2 && !is_moved)
        return;
    also = arena_array(a, room, sizeof *also);
    commits = arena_array(a, room, sizeof *commits);
    former = arena_array(a, room, sizeof *former);
    for (size_t i = 0; i < step->origin_count; i++) {
        const struct node *other = closure_find(&s->closure, step->origins[i]);
        struct origin now;

        if (!other || str_eq(other->origin->key, own->key) ||
            str_eq(other->origin->text, own->text))
            continue;
        former[n] = node_moved_origin(&s->closure, other, a, &now) &&
                    str_eq(now.key, own->key);
        commits[n] =
            is_moved ? other->package.commit : also_commit(s, p, other, a);
        also[n++] = other->origin->text;
    }
    out->also = also;
    out->also_commits = commits;
    out->also_count = n;
    sort_former(out, former, a);
}

/* Fills the catalogs that chose the package by any of its origins. */
static void fill_catalogs(const struct install_session *s,
                          const struct install_package *p, struct arena *a,
                          struct lock_entry *out)
{
    const struct plan_step *step = step_of(s, p);
    struct str *list = NULL;
    size_t capacity = 0, n = 0;

    for (size_t i = 0; s->chosen.count && i < step->origin_count; i++)
        for (const struct chosen *c = map_find(&s->chosen, step->origins[i]); c;
             c = c->next) {
            size_t k = 0;

            while (k < n && !str_eq(list[k], c->text))
                k++;
            if (k < n)
                continue;
            list = arena_grow(a, list, n, &capacity, sizeof *list);
            list[n++] = c->text;
        }
    out->catalogs = list;
    out->catalog_count = n;
}

static struct lock_entry make_entry(const struct install_session *s,
                                    const struct install_package *p,
                                    struct arena *a,
                                    const struct needs_seen *seen)
{
    const struct package *package = p->package;
    const struct node *n = package_node(p);
    struct origin now;
    const struct origin *own =
        node_moved_origin(&s->closure, n, a, &now) ? &now : package->origin;
    struct lock_entry entry = {
        .kind = package->kind,
        .name = package->fqn,
        .declared =
            str_eq(n->own_fqn, package->fqn) ? str_make("", 0) : n->own_fqn,
        .origin = own->text,
        .from = from_of(s, n),
        .digest = p->digest,
        .version =
            package->origin->scheme == ORIGIN_OWN ? STR("") : package->version,
        .place = p->place,
        .patch = patch_hash(p),
        .allow_hidden = n->hidden,
        .rewritten = n->rewritten,
    };

    /* another spelling does not change the lock */
    if (p->before && has_origin(s, p->before, own))
        entry.origin = p->before->origin;
    if (package->origin->scheme == ORIGIN_GIT &&
        !str_starts(entry.from, STR("file:"))) {
        entry.commit = package->commit;
        entry.object = n->object;
    }
    if (package->origin->scheme == ORIGIN_INDEX) {
        entry.url = url_of(n);
        entry.artifact = index_artifact(n);
    }
    if (package->kind == DOC_AGENT || package->kind == DOC_SKILL)
        entry.place =
            fs_join(fs_join(STR(".agents"),
                            str_cstr(doc_kind_plural(package->kind)), a),
                    p->place, a);
    plugin_fill_entry(n, &entry);
    entry.tag = find_tag(s, p, a);
    fill_catalogs(s, p, a, &entry);
    fill_also(s, p, own, a, &entry);
    fill_needs(s, p, a, seen, &entry);
    return entry;
}

/* Marks the whole closure of the local roots, so that each lock is complete;
 * shared entries are equal. */
static void mark_local_closure(const struct install_session *s, bool *in_local)
{
    for (size_t i = 0; i < s->root_count; i++) {
        const struct plan_step *step =
            map_find(&s->resolved.by_key, s->roots[i].origin.key);

        if (step && (s->roots[i].origin.scheme == ORIGIN_FILE ||
                     s->overridden[step - s->resolved.steps]))
            in_local[step - s->resolved.steps] = true;
    }
    for (size_t i = s->resolved.count; i-- > 0;)
        for (size_t k = 0; in_local[i] && k < s->resolved.steps[i].need_count;
             k++)
            in_local[s->resolved.steps[i].needs[k]] = true;
}

/* Keeps the entries in mapm.lock of roots that are replaced on this machine,
 * with their dependencies. */
static void copy_replaced(const struct install_session *s, struct lock *lock,
                          struct arena *a)
{
    const struct lock *old = &s->layer.lock;
    bool *kept = arena_array(a, old->count + 1, sizeof *kept);
    const struct lock_entry **queue =
        arena_array(a, old->count + 1, sizeof(struct lock_entry *));
    struct map names;
    size_t count = 0;

    map_init(&names, a);
    for (size_t i = 0; i < lock->count; i++)
        map_put(&names,
                layer_name_key(lock->entries[i].kind, lock->entries[i].name, a),
                NULL);
    for (size_t i = 0; i < s->root_count; i++) {
        const struct plan_step *step =
            map_find(&s->resolved.by_key, s->roots[i].origin.key);
        const struct lock_entry *entry =
            step && s->overridden[step - s->resolved.steps]
                ? layer_find_origin(&s->layer, s->roots[i].origin.key, true)
                : NULL;

        if (entry && !layer_is_local(&s->layer, entry) &&
            !kept[entry - old->entries]) {
            kept[entry - old->entries] = true;
            queue[count++] = entry;
        }
    }
    for (size_t i = 0; i < count; i++) {
        const struct lock_entry *entry = queue[i];

        for (size_t k = 0; k < entry->need_count; k++) {
            const struct lock_entry *need = entry->needs[k].entry;

            if (!kept[need - old->entries])
                queue[count++] = need;
            kept[need - old->entries] = true;
        }
        if (map_put(&names, layer_name_key(entry->kind, entry->name, a), NULL))
            lock->entries[lock->count++] = *entry;
    }
}

/* Formats the lock, or returns the existing text if it is unchanged. Frees
 * `entries` (may be NULL) before the text is in memory twice. */
static bool format_lock(const struct install_session *s, struct lock *lock,
                        struct arena *entries, struct str old, struct str *out,
                        struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};

    *out = old;
    if (lock_has_text(lock, old))
        return true;
    buf_init(&b, LOCK_MAX_BYTES);
    lock_format(lock, &b);
    if (entries)
        arena_done(entries);
    *out = arena_str(&s->cx->arena, buf_str(&b));
    return buf_check(&b, "mapm.lock", e);
}

/* Makes the entries of the layer in mapm.lock. */
static bool make_entries(struct install_session *s, struct arena *a,
                         const struct needs_seen *seen, struct lock *lock,
                         size_t *own, struct err *e)
{
    size_t n = s->resolved.count;
    bool *in_local = arena_array(a, n + 1, sizeof *in_local);
    struct lock local = {arena_array(a, n + 1, sizeof(struct lock_entry)), 0};

    mark_local_closure(s, in_local);
    for (size_t i = 0; i < n; i++) {
        struct lock_entry entry = make_entry(s, &s->packages[i], a, seen);
        const struct lock_entry *before = s->packages[i].before;

        s->plan.settled_count +=
            before && entry.former_count > before->former_count;
        if (!s->packages[i].is_local)
            lock->entries[lock->count++] = entry;
        if (in_local[i])
            local.entries[local.count++] = entry;
    }
    *own = lock->count;
    copy_replaced(s, lock, a);
    if (!session_check_patches(s, lock, &local, e))
        return false;
    if (!format_lock(s, &local, NULL, s->layer.local_lock_text,
                     &s->local_lock_text, e))
        return false;
    if (local.count == 0)
        s->local_lock_text = str_make("", 0);
    return true;
}

/* Returns the identity of an entry in several layers: its content and the
 * entries of its dependencies. Layers that differ have separate entries, so
 * that a dependency always means the same entry [D10]. */
static struct str entry_id(const struct install_session *s,
                           const struct lock_entry *entry,
                           const struct map *numbers, bool is_kept,
                           struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct lock_entry copy = *entry;

    copy.members = NULL;
    copy.member_count = 0;
    buf_init(&b, LOCK_MAX_BYTES);
    lock_format(&(struct lock){&copy, 1}, &b);
    for (size_t i = 0; i < entry->need_count; i++)
        buf_printf(&b, "%zu ",
                   (size_t)(uintptr_t)map_find(
                       numbers, layer_name_key(entry->needs[i].kind,
                                               entry->needs[i].name, a)));
    if (is_kept)
        buf_printf(&b, "of %zu", s->at);
    return arena_str(a, buf_str(&b));
}

/* Joins the entries of the layers. */
struct join {
    struct lock *lock;
    struct map ids;       /* entry_id -> number + 1 */
    struct str **members; /* members of each entry */
    size_t capacity, member_capacity, *list_capacities, list_capacity;
};

static void add_member(struct join *j, size_t i, struct str member,
                       struct arena *a)
{
    struct lock_entry *entry = &j->lock->entries[i];

    j->members[i] = arena_grow(a, j->members[i], entry->member_count,
                               &j->list_capacities[i], sizeof **j->members);
    j->members[i][entry->member_count++] = member;
    entry->members = j->members[i];
}

static void join_entry(struct join *j, const struct lock_entry *entry,
                       struct str id, struct str member, struct arena *a)
{
    struct map_entry *known = map_entry(&j->ids, id);
    size_t n = j->lock->count;

    if (!known->value) {
        j->lock->entries = arena_grow(a, j->lock->entries, n, &j->capacity,
                                      sizeof *j->lock->entries);
        j->members = arena_grow(a, j->members, n, &j->member_capacity,
                                sizeof *j->members);
        j->list_capacities =
            arena_grow(a, j->list_capacities, n, &j->list_capacity,
                       sizeof *j->list_capacities);
        j->lock->entries[n] = *entry;
        j->lock->entries[n].members = NULL;
        j->lock->entries[n].member_count = 0;
        j->members[n] = NULL;
        j->list_capacities[n] = 0;
        known->value = (void *)(uintptr_t)++j->lock->count;
    }
    add_member(j, (uintptr_t)known->value - 1, member, a);
}

static void join_layer(struct install_session *s, struct join *j,
                       const struct lock *own, size_t own_count,
                       struct arena *a)
{
    struct map numbers;

    map_init(&numbers, a);
    for (size_t i = 0; i < own->count; i++) {
        const struct lock_entry *entry = &own->entries[i];
        struct str id = entry_id(s, entry, &numbers, i >= own_count, a);

        join_entry(j, entry, id, session_member(s), a);
        map_put(&numbers, layer_name_key(entry->kind, entry->name, a),
                map_find(&j->ids, id));
    }
}

static bool make_lock(struct install_session *s, struct arena *a,
                      struct lock *out, struct err *e)
{
    struct needs_seen seen = {
        arena_array(a, s->layer.lock.count + 1, sizeof *seen.marks), 0};
    struct join j = {.lock = out};

    map_init(&j.ids, a);
    for (size_t i = 0; i < s->part_count; i++) {
        struct lock own = {0};
        size_t own_count, room;

        session_go(s, i);
        room = s->resolved.count + s->layer.by_name.count +
               s->layer.replaced.count + 1;
        own.entries = arena_array(a, room, sizeof *own.entries);
        if (!make_entries(s, a, &seen, &own, &own_count, e))
            return false;
        seen.before += s->resolved.count;
        if (s->part_count == 1)
            *out = own;
        else
            join_layer(s, &j, &own, own_count, a);
    }
    session_go_home(s);
    /* members were added in order; the root alone needs no list */
    for (size_t i = 0; i < out->count; i++)
        if (out->entries[i].member_count == 1 &&
            str_is(out->entries[i].members[0], MEMBER_ROOT))
            out->entries[i].member_count = 0;
    return true;
}

bool session_format_locks(struct install_session *s, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct lock lock = {0};

    if (!make_lock(s, &scratch, &lock, e) ||
        !format_lock(s, &lock, &scratch, s->layer.lock_text, &s->lock_text, e))
        return false;
    /* do not create an empty file */
    if (lock.count == 0 && s->layer.lock_text.n == 0 && s->yaml.n == 0)
        s->lock_text = str_make("", 0);
    return true;
}

bool session_same_lock(struct str old, struct str new)
{
    if (str_eq(old, new))
        return true;
    /* git may have checked it out with CRLF */
    while (old.n || new.n) {
        struct str x = {"", 0}, y = {"", 0};

        if (!str_line(&old, &x) || !str_line(&new, &y) || !str_eq(x, y))
            return false;
    }
    return true;
}

/* Reports packages that are replaced on this machine with --locked. */
static bool check_overrides(const struct install_session *s, struct err *e)
{
    for (size_t i = 0; i < s->resolved.count; i++) {
        const struct package *p = s->resolved.steps[i].package;
        const struct node *n = p->user;

        if (!n->is_override)
            continue;
        if (!context_is_ci()) {
            context_warn(s->cx,
                         "%s %.*s is not what mapm.lock holds: it is "
                         "from %.*s",
                         doc_kind_name(p->kind), STR_ARG(p->fqn),
                         STR_ARG(node_source(n)->text));
            continue;
        }
        err_set(e, ERR_LOCKED, "%s %.*s is from %.*s, not what mapm.lock holds",
                doc_kind_name(p->kind), STR_ARG(p->fqn),
                STR_ARG(node_source(n)->text));
        return err_hint(e, "take it out of `replace:` of %s for --locked",
                        n->replacement ? n->replacement->file
                                       : "mapm.local.yaml");
    }
    return true;
}

static void list_unlocked(const struct install_session *s, struct err *e)
{
    struct str in = s->part_count > 1 ? STR(" in ") : STR("");
    struct str member = session_member(s);

    for (size_t i = 0; i < s->gone_count && i < ERROR_MAX_LINES; i++)
        err_also(e, "mapm.lock:%u: nothing needs %s %.*s%.*s%.*s",
                 s->gone[i]->line, doc_kind_name(s->gone[i]->kind),
                 STR_ARG(s->gone[i]->name), STR_ARG(in), STR_ARG(member));
    for (size_t i = 0; i < s->resolved.count && i < ERROR_MAX_LINES; i++)
        if (s->packages[i].action != INSTALL_KEEP)
            err_also(e, "%s %.*s is not locked as it is%.*s%.*s",
                     doc_kind_name(s->packages[i].package->kind),
                     STR_ARG(s->packages[i].package->fqn), STR_ARG(in),
                     STR_ARG(member));
}

/* Returns whether there is no lock, and nothing to be locked. */
static bool lacks_nothing(const struct install_session *s)
{
    struct lock none = {0};

    return s->layer.lock_text.n == 0 && lock_has_text(&none, s->lock_text);
}

static bool check_locked(struct install_session *s, struct err *e)
{
    for (size_t i = 0; i < s->part_count; i++) {
        session_go(s, i);
        if (!check_overrides(s, e))
            return false;
    }
    session_go_home(s);
    if (lacks_nothing(s))
        s->lock_text = s->layer.lock_text;
    if (session_same_lock(s->layer.lock_text, s->lock_text))
        return true;
    err_set(e, ERR_LOCKED, "mapm.lock does not fit mapm.yaml");
    for (size_t i = 0; i < s->part_count; i++) {
        session_go(s, i);
        list_unlocked(s, e);
    }
    session_go_home(s);
    return err_hint(e, "run mapm install without --locked and commit "
                       "mapm.lock");
}

/* Names the packages of one catalog that have equal names, also without a
 * lock. */
static bool name_roots(struct install_session *s, struct err *e)
{
    struct node **nodes =
        arena_array(&s->cx->arena, s->root_count + 1, sizeof(struct node *));
    size_t count = 0;

    for (size_t i = 0; i < s->root_count; i++) {
        nodes[count] = closure_find(&s->closure, s->roots[i].origin.key);
        count += nodes[count] != NULL;
    }
    if (selection_lost_name(s, nodes, count) &&
        !closure_verify_store(&s->closure, e))
        return false;
    if (!selection_find_plugins(s, nodes, count, e))
        return false;
    selection_name(s, nodes, count);
    return true;
}

bool session_gather(struct install_session *s, struct err *e)
{
    bool is_resolved = false;

    if (!session_check_names(s, e))
        return false;
    session_add_roots(s);
    while (!is_resolved)
        if (!closure_gather(&s->closure, e) ||
            !versions_resolve(s, &is_resolved, e) ||
            (is_resolved &&
             !plugins_resolve_needs(&s->closure, &is_resolved, e)) ||
            (is_resolved && !plugins_leave_out(s, &is_resolved, e)))
            return false;
    for (size_t i = s->at, k = 0; k < s->part_count; k++) {
        session_go(s, (i + k) % s->part_count);
        if (!name_roots(s, e))
            return false;
        if (k + 1 == s->part_count)
            session_go(s, i);
    }
    plugins_resolve(s);
    return true;
}

bool session_can_resolve(struct install_session *s, const struct root *roots,
                         size_t count, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct resolver_source source = {closure_read, &s->closure};
    struct plan plan;

    return resolver_resolve(&source, roots, count, &s->layer.limits, &scratch,
                            &plan, e) &&
           check_sources(s, &plan, e);
}

static struct str pointer_key(const void *p, struct arena *a)
{
    return arena_printf(a, "%p", p);
}

/* Returns whether a file that takes precedence replaces the same. */
static bool is_used(const struct replacements *all, size_t form,
                    struct str from, const struct map *used, struct arena *a)
{
    for (size_t role = 0; role < REPLACE_ROLES; role++) {
        const void *r = map_find(&all->forms[form][role], from);

        if (r && map_has(used, pointer_key(r, a)))
            return true;
    }
    return false;
}

/* Warns about unused replacements of the workspace; config.yaml applies to all
 * workspaces. */
static void warn_unused(struct install_session *s)
{
    const struct replacements *all = &s->layer.replacements;
    struct arena *a = &s->cx->arena;
    struct map used;

    if (all->count == 0)
        return;
    map_init(&used, a);
    for (size_t i = 0; i < s->closure.queued; i++) {
        const struct replacement *r = s->closure.queue[i]->replacement;

        if (r)
            map_put(&used, pointer_key(r, a), NULL);
    }
    for (size_t form = 0; form < REPLACE_FORMS; form++)
        for (size_t role = 0; role < REPLACE_ROLES; role++)
            for (size_t i = 0; i < all->forms[form][role].count; i++) {
                const struct replacement *r =
                    all->forms[form][role].entries[i].value;

                if (r->role != PROJECT_USER &&
                    !is_used(all, form, all->forms[form][role].entries[i].key,
                             &used, a) &&
                    map_put(&used, pointer_key(r, a), NULL))
                    context_warn(s->cx,
                                 "%s:%u: replace: nothing here is from %.*s",
                                 r->file, r->line, STR_ARG(r->from));
            }
}

static bool resolve_layer(struct install_session *s, struct err *e)
{
    struct resolver_source source = {closure_read, &s->closure};

    if (!resolver_resolve(&source, s->roots, s->root_count, &s->layer.limits,
                          &s->cx->arena, &s->resolved, e))
        return err_wrap(e, "cannot %s", s->plan.command);
    if (!check_sources(s, &s->resolved, e) || !fill_packages(s, e))
        return false;
    find_gone(s);
    return true;
}

bool session_resolve(struct install_session *s, struct err *e)
{
    if (!session_gather(s, e))
        return false;
    closure_warn(&s->closure);
    for (size_t i = 0; i < s->part_count; i++) {
        session_go(s, i);
        if (!resolve_layer(s, e))
            return s->layer.member.n &&
                   err_wrap(e, "member %.*s", STR_ARG(s->layer.member));
    }
    session_go_home(s);
    if (!plugins_report(s, e))
        return false;
    purge_find(s);
    warn_unused(s);
    warn_versions(s);
    if (!session_format_locks(s, e))
        return false;
    return !s->locked || check_locked(s, e);
}

#include "base/fs.h"
#include "base/map.h"
#include "base/path.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/install_query.h"
#include "mapm/layer.h"
#include "mapm/project.h"
#include "mapm/state_trust.h"

#include "install_session.h"

/* The effect of a plan on each package. After a pull or a branch switch the
 * lock is newer than the workspace, so the effect is derived from the changes
 * and the present content of the workspace [D4]. */

/* Returns the version of the content in the workspace, or "" if unknown. */
static struct str placed_version(const struct install_session *s,
                                 enum doc_kind kind, struct str place)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct document d = {0};

    return install_read_placed(&s->layer, kind,
                               layer_user_place(&s->layer, place, &scratch),
                               &scratch, &d)
               ? arena_str(&s->cx->arena, d.version)
               : str_make("", 0);
}

static enum install_effect effect_of(const struct install_package *p,
                                     const struct provision_change *c)
{
    if (p->action == INSTALL_CHANGE)
        return INSTALL_UPDATED;
    if (c && c->is_repair)
        return INSTALL_REPAIRED;
    if (p->action == INSTALL_ADD || (c && c->kind == PROVISION_ADD))
        return INSTALL_ADDED;
    return c ? INSTALL_UPDATED : INSTALL_KEPT;
}

/* Returns whether a skill moves between the two folders of skills. */
static bool is_moved(const struct install_package *p, const struct map *changes)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct install_package other = *p;
    const struct provision_change *c;

    if (p->package->kind != DOC_SKILL || p->action != INSTALL_KEEP ||
        p->effect != INSTALL_ADDED)
        return false;
    other.is_searched = !p->is_searched;
    other.member = str_make("", 0);
    c = map_find(changes, install_path(&other, &scratch));
    return c && c->kind == PROVISION_REMOVE;
}

static void find_effect(struct install_session *s, struct install_package *p,
                        const struct map *changes, struct str path)
{
    p->effect = effect_of(p, map_find(changes, path));
    p->is_moved = is_moved(p, changes);
    if (p->is_moved) {
        p->effect = INSTALL_UPDATED;
        p->old_version = p->old_commit = str_make("", 0);
        return;
    }
    if (p->action != INSTALL_KEEP || p->effect == INSTALL_KEPT ||
        p->effect == INSTALL_REPAIRED)
        return;
    p->old_commit = str_make("", 0);
    p->old_version = p->effect == INSTALL_UPDATED
                         ? placed_version(s, p->package->kind, path)
                         : str_make("", 0);
}

/* Returns whether prerequisites must be shown: once per machine and text,
 * except for locked ones [D21]. */
static bool is_unseen(const struct install_session *s,
                      const struct install_package *p)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct hash text = hash_of(p->package->prereqs);
    struct err ignored = {0};
    struct str folder;

    return p->package->prereqs.n && p->effect != INSTALL_KEPT &&
           p->action != INSTALL_KEEP &&
           !state_find_trust(store_state(s->store), STATE_SEEN_PREREQS,
                             STR("prereqs"), &text, &scratch, &folder,
                             &ignored);
}

void session_note_prereqs(struct install_session *s)
{
    struct state *state = store_state(s->store);
    struct err ignored = {0};

    for (size_t i = 0; i < s->plan.package_count; i++) {
        const struct install_package *p = &s->plan.packages[i];
        struct hash text = hash_of(p->package->prereqs);

        if (p->shows_prereqs &&
            !state_put_trust(state, STATE_SEEN_PREREQS, STR("prereqs"), &text,
                             STR(""), &ignored))
            return; /* shown again next time */
    }
}

/* Returns whether the change is of the common copy of a package: its folder, or
 * its key in .mcp.json. */
static bool is_place(const struct provision_change *c, enum doc_kind *kind)
{
    static const enum doc_kind kinds[] = {DOC_SKILL, DOC_AGENT};

    if (c->client.n || c->kind != PROVISION_REMOVE)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct str path = c->path;

        if (str_starts(path, STR(".agents/")) &&
            str_starts(path = str_from_index(path, 8),
                       str_cstr(doc_kind_plural(kinds[i])))) {
            *kind = kinds[i];
            return true;
        }
    }
    *kind = DOC_SKILL;
    if (str_starts(c->path, STR(PROVISION_SEARCHED "/")))
        return true;
    *kind = DOC_MCP;
    return str_starts(c->path, STR(".mcp.json#"));
}

/* Adds packages that are removed from the workspace and no longer in the
 * lock. */
static void add_gone(struct install_session *s,
                     const struct provision_change *c, enum doc_kind kind)
{
    struct arena *a = &s->cx->arena;
    struct lock_entry *entry = arena_new(a, struct lock_entry);
    CLEANUP(arena_done) struct arena scratch = {0};
    struct document d = {0};
    size_t hash = str_find_char(c->path, '#');

    *entry = (struct lock_entry){
        .kind = kind,
        .name = kind == DOC_MCP ? str_from_index(c->path, hash + 1)
                                : path_last(c->path),
        .origin = str_make("", 0),
        .commit = str_make("", 0),
        .version = str_make("", 0),
    };
    if (kind != DOC_MCP &&
        install_read_placed(&s->layer, kind,
                            layer_user_place(&s->layer, c->path, &scratch),
                            &scratch, &d)) {
        entry->name = d.fqn.n ? arena_str(a, d.fqn) : entry->name;
        entry->version = arena_str(a, d.version);
    }
    s->gone[s->gone_count++] = entry;
}

static void find_gone(struct install_session *s,
                      const struct provision_change *changes, size_t count)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct lock_entry **all =
        arena_array(&s->cx->arena, s->gone_count + count + 1, sizeof *all);
    struct map known;
    enum doc_kind kind;

    map_init(&known, &scratch);
    for (size_t i = 0; i < s->gone_count; i++) {
        all[i] = s->gone[i];
        map_put(&known,
                all[i]->kind == DOC_MCP
                    ? str_join(STR(".mcp.json#"), all[i]->place, &scratch)
                    : all[i]->place,
                s);
    }
    for (size_t i = 0; count && i < s->resolved.count; i++)
        if (s->packages[i].package->kind == DOC_SKILL)
            map_put(
                &known,
                fs_join(STR(PROVISION_SKILLS), s->packages[i].place, &scratch),
                s); /* it is at most moved */
    s->gone = all;
    for (size_t i = 0; i < count; i++)
        if (is_place(&changes[i], &kind) &&
            !map_has(&known, layer_listed_place(changes[i].path, &scratch)))
            add_gone(s, &changes[i], kind);
}

/* Converts a user-level path to that of a workspace; "" for a path of a
 * client. */
static struct str common_path(const struct layer *l,
                              const struct provision_change *c, struct arena *a)
{
    struct str skills = str_cstr(l->scope->skills);
    size_t hash = str_find_last(c->path, '#');

    if (hash != SIZE_MAX)
        return str_join(STR(".mcp.json"), str_from_index(c->path, hash), a);
    if (c->client.n)
        return STR("");
    return fs_path_is_within(c->path, skills)
               ? str_join(STR(PROVISION_SKILLS),
                          str_from_index(c->path, skills.n), a)
               : c->path;
}

/* Keeps one change per package, the largest one in the files of several
 * clients. */
static struct provision_change *
common_changes(const struct layer *l, const struct provision_change *changes,
               size_t *count, struct arena *a)
{
    struct provision_change *out = arena_array(a, *count + 1, sizeof *out);
    size_t n = 0;
    struct map seen;

    map_init(&seen, a);
    for (size_t i = 0; i < *count; i++) {
        struct str path = common_path(l, &changes[i], a);
        struct map_entry *known;

        if (!path.n)
            continue;
        known = map_entry(&seen, path);
        if (known->value)
            continue;
        known->value = out;
        out[n] = changes[i];
        out[n].path = path;
        out[n++].client = str_make("", 0);
    }
    *count = n;
    return out;
}

static void find_all_effects(struct install_session *s,
                             const struct provision_change *changes,
                             size_t count)
{
    CLEANUP(arena_done) struct arena paths = {0};
    struct map by_path;

    map_init(&by_path, &paths);
    for (size_t i = 0; i < count; i++)
        if (changes[i].client.n == 0)
            map_put(&by_path, changes[i].path, (void *)(uintptr_t)&changes[i]);
    for (size_t i = 0; i < s->resolved.count; i++) {
        find_effect(s, &s->packages[i], &by_path,
                    install_path(&s->packages[i], &paths));
        s->packages[i].shows_prereqs = is_unseen(s, &s->packages[i]);
        s->packages[i].shows_patch =
            session_is_patch_unseen(s, &s->packages[i]);
        s->plan.patch_count += s->packages[i].shows_patch;
    }
}

void session_find_effects(struct install_session *s,
                          const struct provision_change *changes, size_t count)
{
    if (s->layer.scope->is_user)
        changes = common_changes(&s->layer, changes, &count, &s->cx->arena);
    find_all_effects(s, changes, count);
    find_gone(s, changes, count);
}

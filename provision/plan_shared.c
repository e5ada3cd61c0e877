#include "base/fs.h"
#include "mapm/limits.h"

#include "merge.h"
#include "work.h"

/* The file of a client while it is being changed. */
struct sharing {
    struct plan *plan;
    struct target *target;
    const struct record_entry *known;
    struct map ours; /* key -> struct record_key in the record */
    struct merge merge;
    struct record_entry next;
    bool keep;      /* an entry of the user is replaced: keep a backup */
    bool is_edited; /* an entry with edits of the user is kept */
};

static struct str place_of(struct sharing *s, struct str key)
{
    return arena_printf(s->plan->arena, "%s#%.*s", s->target->path.p,
                        STR_ARG(key));
}

static const struct desired_server *find_server(const struct target *t,
                                                struct str key)
{
    for (size_t i = 0; i < t->server_count; i++)
        if (str_eq(t->servers[i].item->place, key))
            return &t->servers[i];
    return NULL;
}

/* Returns whether the file is unchanged since mapm wrote it, and as desired. */
static bool is_unchanged(struct sharing *s, const struct stat *st)
{
    const struct target *t = s->target;

    if (!s->known || s->known->key_count != t->server_count ||
        !record_vouches(&s->plan->p->record, &s->known->stat, st))
        return false;
    for (size_t i = 0; i < t->server_count; i++) {
        const struct record_key *k =
            map_find(&s->ours, t->servers[i].item->place);

        if (!k || !hash_eq(&k->source, &t->servers[i].source))
            return false;
    }
    return true;
}

static bool refuse_foreign(struct sharing *s, struct str key, struct err *e)
{
    err_set(e, ERR_CONFLICT,
            "%s already has a server \"%.*s\" that mapm did not write",
            s->target->path.p, STR_ARG(key));
    return err_hint(e, "rename or remove that entry; if mapm wrote it on "
                       "another machine, or it may go, use --force: it keeps a "
                       "copy of the file below " STATE_FOLDER "/backup");
}

/* Decides about a key with an entry that mapm did not write. */
static bool compare_entry(struct sharing *s, struct str key, bool recorded,
                          struct err *e)
{
    if (plan_forces(s->plan)) {
        s->keep = true;
        return true;
    }
    if (!recorded)
        return refuse_foreign(s, key, e);
    plan_add_edit(s->plan, place_of(s, key), STR(""), "was changed");
    return true;
}

static void show_server(struct sharing *s, enum provision_change_kind kind,
                        const struct desired_server *server)
{
    struct provision_change *shown;

    plan_show(s->plan, kind, place_of(s, server->item->place),
              s->target->client);
    shown = &s->plan->shown[s->plan->shown_count - 1];
    shown->names_mapm = server->names_mapm;
    shown->has_variables = str_find(server->entry, STR("${")) != SIZE_MAX;
}

static bool make_server(struct sharing *s, struct desired_server *server,
                        struct err *e)
{
    if (!desired_state_make_server(&s->plan->desired, s->target, server, e))
        return false;
    s->next.keys[s->next.key_count++] =
        (struct record_key){.key = server->item->place,
                            .absolute = server->absolute,
                            .hash = server->hash,
                            .source = server->source};
    return true;
}

/* Writes the first servers of a file that does not exist. */
static bool begin_file(struct sharing *s, struct err *e)
{
    struct arena *a = s->plan->arena;
    struct target *t = s->target;
    struct str *keys = arena_array(a, t->server_count, sizeof *keys);
    struct str *entries = arena_array(a, t->server_count, sizeof *entries);

    for (size_t i = 0; i < t->server_count; i++) {
        if (!make_server(s, &t->servers[i], e))
            return false;
        keys[i] = t->servers[i].item->place;
        entries[i] = t->servers[i].entry;
        show_server(s, PROVISION_ADD, &t->servers[i]);
    }
    return merge_begin(&s->merge, keys, entries, t->server_count, e);
}

/* Returns whether the entry was written by mapm and edited later, and may be
 * kept. */
static bool may_stay_edited(struct sharing *s,
                            const struct desired_server *server,
                            const struct record_key *known)
{
    return known && hash_eq(&known->hash, &server->hash) &&
           !plan_forces(s->plan) && provision_record_is_from_here(s->plan->p);
}

static bool leave_edited(struct sharing *s, const struct desired_server *server)
{
    s->is_edited = true;
    plan_add_skipped(s->plan, server->item,
                     arena_printf(s->plan->arena, "%.*s was changed",
                                  STR_ARG(place_of(s, server->item->place))));
    return true;
}

/* Returns whether the key belongs to another package than the restored one. */
static bool leave_alone(struct sharing *s, const struct record_key *known)
{
    if (known)
        s->next.keys[s->next.key_count++] = *known;
    return true;
}

static bool put_server(struct sharing *s, struct desired_server *server,
                       struct err *e)
{
    struct str key = server->item->place;
    const struct record_key *known = map_find(&s->ours, key);
    struct hash hash;
    bool found;

    if (s->plan->restoring && !server->item->restore)
        return leave_alone(s, known);
    if (!make_server(s, server, e) ||
        !merge_find(&s->merge, key, &found, &hash, e))
        return false;
    s->next.keys[s->next.key_count - 1].taken =
        known ? known->taken : found && s->plan->desired.options->takes_over;
    if (found && hash_eq(&hash, &server->hash)) {
        /* at user level the entry belongs to the user and is kept */
        s->next.key_count -= !known && place_is_of_user(s->target->path);
        return true;
    }
    if (found && !(known && hash_eq(&hash, &known->hash)) &&
        !desired_state_is_from_elsewhere(&s->plan->desired, s->target, server,
                                         s->merge.text, &hash)) {
        if (may_stay_edited(s, server, known))
            return leave_edited(s, server);
        if (!compare_entry(s, key, known != NULL, e))
            return false;
    }
    show_server(s, found ? PROVISION_UPDATE : PROVISION_ADD, server);
    plan_mark_repair(s->plan, known ? &known->hash : NULL, &server->hash);
    return merge_put(&s->merge, key, server->entry, e);
}

static bool remove_server(struct sharing *s, const struct record_key *known,
                          struct err *e)
{
    struct hash hash;
    bool found;

    if (find_server(s->target, known->key))
        return true;
    if (s->plan->restoring)
        return leave_alone(s, known);
    if (!merge_find(&s->merge, known->key, &found, &hash, e))
        return false;
    if (!found)
        return true;
    if (!hash_eq(&hash, &known->hash)) {
        size_t kept = s->plan->edits.preserved_count;

        s->plan->edits.keeping = s->plan->desired.options->keep_edited &&
                                 !s->plan->desired.options->force;
        if (!compare_entry(s, known->key, true, e))
            return false;
        s->plan->edits.keeping = false;
        if (s->plan->edits.preserved_count > kept)
            return true; /* the entry belongs to the user and is kept */
    }
    plan_show(s->plan, PROVISION_REMOVE, place_of(s, known->key),
              s->target->client);
    return merge_remove(&s->merge, known->key, e);
}

/* Removes the entry of a server that leaves the lock, from a file that a checkout
 * brought: the record on this machine does not have it. Any other entry with its
 * key stays. */
static bool remove_gone(struct sharing *s, const struct provision_item *item,
                        struct err *e)
{
    struct hash hash;
    bool found;

    if (item->kind != DOC_MCP || find_server(s->target, item->place) ||
        map_has(&s->ours, item->place))
        return true;
    if (!merge_find(&s->merge, item->place, &found, &hash, e))
        return false;
    if (!found || !desired_state_may_have_put(&s->plan->desired, s->target,
                                              item, s->merge.text, &hash))
        return true;
    plan_show(s->plan, PROVISION_REMOVE, place_of(s, item->place),
              s->target->client);
    return merge_remove(&s->merge, item->place, e);
}

static bool edit_file(struct sharing *s, struct err *e)
{
    const struct provision_options *o = s->plan->desired.options;
    struct target *t = s->target;
    size_t room = t->server_count + (s->known ? s->known->key_count : 0);

    s->next.keys = arena_array(s->plan->arena, room, sizeof *s->next.keys);
    if (t->server_count && !s->plan->restoring && merge_can_begin(&s->merge))
        return begin_file(s, e);
    for (size_t i = 0; s->known && i < s->known->key_count; i++)
        if (!remove_server(s, &s->known->keys[i], e))
            return false;
    for (size_t i = 0; i < o->gone_count; i++)
        if (!remove_gone(s, &o->gone[i], e))
            return false;
    for (size_t i = 0; i < t->server_count; i++)
        if (!put_server(s, &t->servers[i], e))
            return false;
    return true;
}

static void add_entry(struct sharing *s, struct change *c)
{
    if (!s->target->server_count)
        return;
    if (c)
        c->entry = s->plan->next.count;
    record_add(&s->plan->next, s->plan->arena, &s->next);
}

/* Returns whether the record is up to date. */
static bool is_known(const struct sharing *s)
{
    const struct record_entry *known = s->known, *next = &s->next;

    if (!known || known->key_count != next->key_count)
        return false;
    for (size_t i = 0; i < next->key_count; i++)
        if (!str_eq(known->keys[i].key, next->keys[i].key) ||
            known->keys[i].absolute != next->keys[i].absolute ||
            !hash_eq(&known->keys[i].hash, &next->keys[i].hash) ||
            !hash_eq(&known->keys[i].source, &next->keys[i].source))
            return false;
    return known->created == next->created && known->section == next->section &&
           known->was_empty == next->was_empty && str_eq(known->gap, next->gap);
}

/* Restores the text that was there before mapm added the first server. */
static bool restore_empty(struct sharing *s, bool section, struct err *e)
{
    if (section && !merge_drop_section(&s->merge, e))
        return false;
    if (!s->next.was_empty || !merge_is_empty(&s->merge))
        return merge_put_gap(&s->merge, s->next.gap, e);
    s->merge.text = s->next.gap;
    return true;
}

static bool plan_edited(struct sharing *s, struct change *c, struct str before,
                        bool there, struct err *e)
{
    bool created = !there || (s->known && s->known->created);
    bool section = created || (s->known && s->known->section) ||
                   !merge_has_section(&s->merge);
    struct str content, gap;
    bool is_all;

    gap = merge_gap(&s->merge, &is_all);
    s->next.gap = s->known ? s->known->gap : gap;
    s->next.was_empty = s->known ? s->known->was_empty : there && is_all;
    if (!edit_file(s, e) ||
        (!s->target->server_count && !restore_empty(s, section, e)))
        return false;
    content = merge_text(&s->merge, s->plan->arena);
    s->next.created = created;
    s->next.section = section && !created;
    if (s->is_edited)
        s->next.stat = (struct file_stat){0}; /* never matches */
    if (str_eq(before, content)) {
        s->plan->count--;
        s->plan->stale |= !s->is_edited || !is_known(s);
        add_entry(s, NULL);
        return true;
    }
    if (!merge_check(&s->merge, e) ||
        (!created && !copies_plan(s->plan, c, before, s->known != NULL, e)))
        return false;
    c->is_edited = s->is_edited;
    c->content = content;
    c->keep = s->keep;
    if (there && created && !s->target->server_count &&
        merge_is_empty(&s->merge))
        c->node = NODE_NONE;
    add_entry(s, c);
    return true;
}

bool plan_shared(struct plan *plan, struct target *t, struct err *e)
{
    struct provision *p = plan->p;
    struct sharing s = {.plan = plan, .target = t};
    struct str text = STR("");
    struct change *c;
    uint64_t now = file_stat_now();
    struct stat st;
    bool there = fs_stat_at(p->root, t->path.p, &st);

    s.known = provision_recorded(p, t->path);
    map_init(&s.ours, plan->arena);
    for (size_t i = 0; s.known && i < s.known->key_count; i++)
        map_put(&s.ours, s.known->keys[i].key, &s.known->keys[i]);
    if (there && is_unchanged(&s, &st)) {
        record_add(&plan->next, plan->arena, s.known);
        return true;
    }
    s.next = (struct record_entry){.kind = RECORD_SHARED, .path = t->path};
    if (there && !S_ISREG(st.st_mode)) {
        err_set(e, ERR_REFUSED, "%s is not a regular file", t->path.p);
        return err_hint(e, "mapm does not write through links: put the file "
                           "itself there");
    }
    c = plan_add_change(plan, NODE_FILE, t, t->path);
    if (place_is_of_user(t->path))
        c->mode = 0600;
    if (there) {
        c->mode = st.st_mode & 0777;
        if (!plan_remember(plan, c, e) ||
            !fs_read_file_at(p->root, t->path.p, CLIENT_FILE_MAX_BYTES,
                             plan->arena, &text, e))
            return false;
        /* A change between the two reads changes the status, so the record will
         * not match the file. */
        s.next.stat = file_stat_seen(&st, now, false);
    }
    bool ok = desired_state_open_shared(t, text, plan->arena, &s.merge, e) &&
              plan_edited(&s, c, text, there, e);

    merge_done(&s.merge);
    return ok;
}

static bool is_foreign(struct provision *p, struct desired_state *w,
                       struct target *t, struct merge *m,
                       struct desired_server *s, bool *foreign, struct err *e)
{
    const struct record_entry *known = provision_recorded(p, t->path);
    struct hash hash;
    bool found;

    *foreign = false;
    for (size_t i = 0; known && i < known->key_count; i++)
        if (str_eq(known->keys[i].key, s->item->place))
            return true;
    if (!merge_find(m, s->item->place, &found, &hash, e))
        return false;
    if (!found)
        return true;
    if (!desired_state_make_server(w, t, s, e))
        return false;
    *foreign = !hash_eq(&hash, &s->hash) &&
               !desired_state_is_from_elsewhere(w, t, s, m->text, &hash);
    return true;
}

bool plan_find_foreign(struct provision *p, struct desired_state *w,
                       struct target *t, bool *foreign, struct err *e)
{
    struct str text;
    struct merge m;
    struct stat st;
    bool ok;

    /* the plan refuses anything but a regular file */
    if (!fs_stat_at(p->root, t->path.p, &st) || !S_ISREG(st.st_mode))
        return true;
    if (!fs_read_file_at(p->root, t->path.p, CLIENT_FILE_MAX_BYTES, w->arena,
                         &text, e))
        return false;
    ok = desired_state_open_shared(t, text, w->arena, &m, e);
    for (size_t i = 0; ok && i < t->server_count; i++)
        ok = is_foreign(p, w, t, &m, &t->servers[i], &foreign[i], e);
    merge_done(&m);
    return ok;
}

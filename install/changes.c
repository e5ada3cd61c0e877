#include "base/digest.h"
#include "base/fs.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/clients.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/mcp_file.h"
#include "mapm/member.h"
#include "mapm/origin.h"
#include "mapm/plugin.h"
#include "mapm/project.h"

#include "clients_used.h"
#include "ignore_block.h"
#include "index.h"
#include "ingest.h"
#include "install_session.h"
#include "installed.h"
#include "proof.h"
#include "self_server.h"

#define GITIGNORE_MAX_BYTES (1024u * 1024)
#define TEXTS_MAX           8 /* number of texts without patches */

/* --- commands of MCP servers --------------------------------------------- */

/* Returns the command of the locked server, or NULL if it is no longer in the
 * store. */
static const char *find_old_command(struct install_session *s,
                                    const struct install_package *p)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct node old = *package_node(p);
    struct document d = {0};
    struct err ignored = {0};

    if (!p->before || !digest_parse(p->before->digest, &old.digest) ||
        !store_has_package(s->store, &old.digest) ||
        !node_read_document(&s->closure, &old, &scratch, &d, &ignored))
        return NULL;
    return str_dup0(mcp_command_line(&d, &scratch), &s->cx->arena);
}

static bool is_new_server(const struct install_package *p)
{
    return p->package->kind == DOC_MCP &&
           (!p->before || !str_eq(p->before->digest, p->digest));
}

/* Those of another member have another folder to run in. */
static void add_servers(const struct layer *l, struct arena *a, struct map *out)
{
    size_t count;
    const struct lock_entry **entries = layer_entries(l, a, &count);

    for (size_t i = 0; i < count; i++)
        if (entries[i]->kind == DOC_MCP)
            map_put(out, entries[i]->digest, NULL);
}

/* Finds the commands of servers that are new or changed, which are shown. They
 * need consent if no entry of the layer has their content (DESIGN.md, THREATS.md
 * 1.5): when a plugin goes, its server may stay under the name of another. */
static bool find_commands(struct install_session *s, struct err *e)
{
    CLEANUP(arena_done) struct arena digests = {0};
    struct map locked;

    map_init(&locked, &digests);
    if (!s->has_given_lock)
        add_servers(&s->layer, &digests, &locked);
    for (size_t i = 0; i < s->resolved.count; i++) {
        CLEANUP(arena_done) struct arena scratch = {0};
        struct install_package *p = &s->packages[i];
        struct document d = {0};

        if (!is_new_server(p))
            continue;
        if (!node_read_document(&s->closure, package_node(p), &scratch, &d, e))
            return false;
        p->needs_consent = !map_has(&locked, p->digest);
        p->command = str_dup0(mcp_command_line(&d, &scratch), &s->cx->arena);
        p->old_command = find_old_command(s, p);
        s->plan.consent_count += p->needs_consent;
    }
    return true;
}

static bool add_grant(struct install_session *s, struct install_package *p,
                      struct err *e)
{
    const struct trust_request q = authorize_request_server(
        s->layer.path, p->place, &package_node(p)->digest);
    enum trust_state state;

    if (!authorize_trust(s->cx, s->store, &q, &state, e))
        return false;
    p->is_granted = state != TRUST_GIVEN;
    s->plan.grant_count += p->is_granted;
    return true;
}

/* Returns whether `mapm start` may execute the server: a stdio server, and of a
 * plugin only one that needs its folder. An unreadable server may be either. */
static bool can_be_started(struct install_session *s,
                           const struct install_package *p)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct plugin_server server;
    struct document d = {0};
    struct err ignored = {0};

    if (!layer_starts_servers(&s->layer) && !p->package->origin->part.n)
        return false;
    if (!node_read_document(&s->closure, package_node(p), &scratch, &d,
                            &ignored) ||
        !d.mcp)
        return true;
    plugin_server_read(d.mcp, &server);
    return server.is_plugin ? server.is_started
                            : json_get(d.mcp, "command") != NULL;
}

/* Finds servers without consent on this machine. The lock is committed and does
 * not prove consent. */
static bool find_grants(struct install_session *s, struct err *e)
{
    for (size_t i = 0; i < s->resolved.count; i++)
        if (s->packages[i].package->kind == DOC_MCP &&
            can_be_started(s, &s->packages[i]) &&
            !add_grant(s, &s->packages[i], e))
            return false;
    return true;
}

/* --- provision ------------------------------------------------------------ */

/* Stages a package early, except with hard links, since staged objects have no
 * files of their own, and except rewritten packages, in which a file changes
 * later. */
void session_stage_early(void *session, const struct node *n)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct install_session *s = session;
    enum store_link how = s->request->link;
    struct provision_objects objects = session_objects(s);
    struct package_file *files;
    struct err ignored = {0};
    size_t count;

    if (s->part_count > 1 || s->request->dry_run ||
        n->package.kind == DOC_MCP || n->package.kind == DOC_PLUGIN ||
        n->rewritten || (how != STORE_LINK_AUTO && how != STORE_LINK_COPY) ||
        !store_read_listing(s->store, &n->digest, &a, &files, &count, &ignored))
        return;
    provision_stage_early(s->layer.provision, &objects, &n->digest, files,
                          count);
}

static void fill_item(const struct layer *l, const struct install_package *p,
                      struct provision_item *out)
{
    const struct package *package = p->package;

    *out = (struct provision_item){
        .kind = package->kind,
        .fqn = package->fqn,
        .place = p->place,
        .digest = package_node(p)->digest,
        .rename = package->kind != DOC_MCP &&
                  (package_node(p)->rewritten ||
                   !str_eq(p->place, path_last(package_node(p)->own_fqn))),
        .is_searched = p->is_searched,
    };
    if (package->origin->scheme == ORIGIN_OWN && package->kind != DOC_MCP &&
        !package->origin->part.n)
        out->own = layer_own_path(l, package->origin);
}

static bool fill_files(struct install_session *s, const struct node *n,
                       struct arena *lists, struct provision_item *item,
                       struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct package_file *listed, *files;

    item->files = n->files;
    item->file_count = n->file_count;
    if (n->files)
        return true;
    if (!store_read_listing(s->store, &item->digest, &scratch, &listed,
                            &item->file_count, e))
        return err_wrap(e, "%s %.*s", doc_kind_name(item->kind),
                        STR_ARG(item->fqn));
    item->files = files = arena_array(lists, item->file_count, sizeof *files);
    for (size_t i = 0; i < item->file_count; i++) {
        files[i] = listed[i];
        files[i].path = arena_str(&s->cx->arena, listed[i].path);
    }
    return true;
}

/* Returns whether nothing is to be done, without reading the store: every
 * package is locked, proved and in place by its digest, and no text changes. */
static bool is_in_place(struct install_session *s,
                        const struct provision_options *o,
                        const struct provision_item *items, size_t item_count)
{
    return s->closure.options.assume_present && s->local_yaml.n == 0 &&
           s->layer.local_lock_text.n == 0 &&
           session_same_lock(s->layer.lock_text, s->lock_text) &&
           provision_is_current(s->layer.provision, o, items, item_count,
                                &s->cx->arena) &&
           proof_knows_lock(s->store, s->lock_text);
}

/* Returns false for plugins, which are installed only by their parts. */
static bool is_placed(const struct install_package *p)
{
    return p->package->kind != DOC_PLUGIN;
}

/* Lets the resolver report failures; the plan does not change. */
static bool report_failures(struct install_session *s, struct err *e)
{
    struct resolver_source source = {closure_read, &s->closure};

    for (size_t i = 0; s->closure.failures && i < s->part_count; i++) {
        session_go(s, i);
        if (!resolver_resolve(&source, s->roots, s->root_count,
                              &s->layer.limits, &s->cx->arena, &s->resolved, e))
            return err_wrap(e, "cannot %s", s->plan.command);
    }
    session_go_home(s);
    return true;
}

/* Everything that is taken at the lock's word. Hosts that were asked may have
 * said that two names in it are those of one repository. */
static bool verify_all(struct install_session *s, struct err *e)
{
    size_t moved = s->closure.moved.count;
    bool found = closure_verify_store(&s->closure, e);

    closure_warn(&s->closure);
    if (!found || !report_failures(s, e) ||
        (s->closure.moved.count > moved && !session_format_locks(s, e)))
        return false;
    fetch_stop(s->closure.fetch); /* everything is here */
    store_end_fetch(s->store);
    return true;
}

/* Finds the files of packages; the lists are allocated in `lists`. */
static bool find_files(struct install_session *s, struct provision_item *items,
                       struct arena *lists, struct err *e)
{
    /* Lists are not needed if nothing is compared or written; without them, a
     * large plan is a tenth smaller. */
    bool is_short =
        s->request->dry_run && provision_has_no_skills(s->layer.provision);

    for (size_t i = 0, k = 0; i < s->resolved.count; i++) {
        struct install_package *p = &s->packages[i];

        if (!is_placed(p))
            continue;
        if (p->patch ? !session_apply_patch(s, p, &items[k], e)
                     : (!is_short || items[k].kind != DOC_SKILL) &&
                           !fill_files(s, package_node(p), lists, &items[k], e))
            return false;
        k++;
    }
    return true;
}

const char *install_effect_name(enum install_effect effect)
{
    static const char *const names[INSTALL_EFFECTS] = {
        [INSTALL_KEPT] = "keep",
        [INSTALL_ADDED] = "add",
        [INSTALL_UPDATED] = "update",
        [INSTALL_REPAIRED] = "repair",
    };

    return names[effect];
}

struct str install_path(const struct install_package *p, struct arena *a)
{
    enum doc_kind kind = p->package->kind;
    const struct str parts[] = {
        STR(".agents/"), str_cstr(p->is_searched ? ".mapm/" : ""),
        str_cstr(doc_kind_plural(kind)), STR("/"), p->place};

    struct str path = kind == DOC_MCP
                          ? str_join(STR(".mcp.json#"), p->place, a)
                          : str_concat(parts, sizeof parts / sizeof *parts, a);

    return p->member.n && !str_is(p->member, MEMBER_ROOT)
               ? fs_join(p->member, path, a)
               : path;
}

/* Finds commands of servers in the workspace that the lock does not contain. */
static bool find_placed_commands(struct install_session *s, struct err *e)
{
    struct arena *a = &s->cx->arena;

    for (size_t i = 0; i < s->resolved.count; i++) {
        struct install_package *p = &s->packages[i];
        struct document d = {0};

        if (p->command || p->package->kind != DOC_MCP ||
            !(p->is_granted ||
              (p->effect != INSTALL_KEPT && p->action == INSTALL_KEEP)))
            continue;
        if (!node_read_document(&s->closure, package_node(p), a, &d, e))
            return false;
        p->command = str_dup0(mcp_command_line(&d, a), a);
    }
    return true;
}

static bool note_effects(struct install_session *s,
                         const struct provision_change *changes, size_t count,
                         struct err *e)
{
    session_find_effects(s, changes, count);
    return find_placed_commands(s, e);
}

/* Adds the two local files to .gitignore when they are first written (M15). */
static bool ignore_local(struct install_session *s, struct provision_text *out,
                         size_t *count, struct err *e)
{
    static const char *const names[] = {"mapm.local.yaml", "mapm.local.lock"};
    CLEANUP_FD int fd = -1;
    CLEANUP(buf_done) struct buf b = {0};
    struct arena *a = &s->cx->arena;
    struct str text = {"", 0};

    if (s->layer.is_global || s->local_yaml.n == 0)
        return true;
    if (!fs_open_dir(s->layer.path.p, &fd, e) ||
        !fs_read_optional_at(fd, ".gitignore", GITIGNORE_MAX_BYTES, a, &text,
                             e))
        return false;
    buf_init(&b, GITIGNORE_MAX_BYTES * 2);
    buf_append(&b, text);
    for (size_t i = 0; i < 2; i++) {
        struct str rest = text, line;
        bool there = false;

        while (str_line(&rest, &line)) {
            line = str_trim(line);
            if (str_starts(line, STR("/")))
                line = str_from_index(line, 1);
            there |= str_is(line, names[i]) || str_is(line, "mapm.local.*");
        }
        if (there)
            continue;
        if (b.n && b.p[b.n - 1] != '\n')
            buf_char(&b, '\n');
        buf_printf(&b, "%s\n", names[i]);
    }
    out[(*count)++] =
        (struct provision_text){STR(".gitignore"), arena_str(a, buf_str(&b))};
    return true;
}

static void add_text(struct provision_text *texts, size_t *count,
                     const char *path, struct str old, struct str new)
{
    if (old.n == 0 && new.n == 0)
        return;
    texts[(*count)++] = (struct provision_text){
        str_cstr(path), new.n ? new : (struct str){NULL, 0}};
}

/* Adds the texts of patches; NULL for a deleted one. */
static void add_patches(const struct install_session *s,
                        struct provision_text *texts, size_t *count)
{
    for (size_t i = 0; i < s->patch_file_count; i++) {
        const struct package_patch *p =
            patches_find(&s->patches, s->patch_files[i]);

        texts[(*count)++] = (struct provision_text){
            s->patch_files[i], p ? p->text : (struct str){NULL, 0}};
    }
}

static bool list_texts(struct install_session *s, struct provision_text *texts,
                       size_t *count, struct err *e)
{
    const struct layer *l = &s->layer;

    *count = 0;
    add_patches(s, texts, count);
    if (!ignore_local(s, texts, count, e))
        return false;
    add_text(texts, count, "mapm.local.yaml", l->local_yaml, s->local_yaml);
    add_text(texts, count, "mapm.yaml", l->yaml, s->yaml);
    add_text(texts, count, "mapm.local.lock", l->local_lock_text,
             s->local_lock_text);
    if (l->member.n)
        return true;
    /* CRLF line ends alone are no reason to rewrite the file */
    add_text(texts, count, "mapm.lock", l->lock_text,
             session_same_lock(l->lock_text, s->lock_text) ? l->lock_text
                                                           : s->lock_text);
    return true;
}

/* Names taken-over folders once; the next plan finds them in place. */
static void name_taken(struct install_session *s)
{
    size_t count;
    const struct str *taken = provision_taken_links(s->layer.provision, &count);

    for (size_t i = 0; i < count; i++)
        context_note(s->cx,
                     "%.*s is a folder of yours and stays: nothing is linked "
                     "there",
                     STR_ARG(taken[i]));
}

/* Errors are ignored, because the index is a cache and missing rows are fetched
 * again. */
static void note_also(struct install_session *s, const struct plan_step *step,
                      const struct node *own)
{
    struct str object =
        own->origin->scheme == ORIGIN_INDEX ? index_artifact(own) : own->object;

    for (size_t i = 0; step->origin_count > 1 && i < step->origin_count; i++) {
        const struct node *n = closure_find(&s->closure, step->origins[i]);
        struct err ignored = {0};

        if (!n || n == own || n->locked || !origin_is_remote(n->origin) ||
            object.n == 0 || !hash_eq(&n->digest, &own->digest))
            continue;
        if (!proof_put_also(s->store, n->origin, n->package.commit, object,
                            &own->digest, &s->cx->arena, &ignored))
            err_clear(&ignored);
    }
}

/* Records a rename of the repository, which applies to all of its packages. */
static void note_moved(struct install_session *s, const struct node *n)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct err ignored = {0};
    struct origin now;

    if (n->path.p && node_moved_origin(&s->closure, n, &scratch, &now) &&
        !proof_put_node(s->store, n, &now, &ignored))
        err_clear(&ignored);
}

static void note_layer(struct install_session *s)
{
    for (size_t i = 0; i < s->resolved.count; i++) {
        note_also(s, &s->resolved.steps[i], package_node(&s->packages[i]));
        if (s->closure.moved.count)
            note_moved(s, package_node(&s->packages[i]));
    }
}

/* Records that the new lock was proved: its documents were read and its commits
 * verified. */
static void note_proofs(struct install_session *s)
{
    struct err ignored = {0};

    for (size_t i = 0; i < s->closure.queued; i++)
        if (s->closure.queue[i]->is_elsewhere &&
            s->closure.queue[i]->assumed_present)
            return; /* incomplete */
    if (!proof_knows_lock(s->store, s->lock_text) &&
        !proof_put_lock(s->store, s->lock_text, &ignored))
        err_clear(&ignored);
}

/* Lists what a removed package leaves behind, or edits that are kept in other
 * packages. */
static void list_edits(struct install_session *s)
{
    size_t kept_count, left_count;
    const struct str *kept =
        provision_preserved_edits(s->layer.provision, &kept_count);
    const struct provision_skipped *left =
        provision_skipped_modified(s->layer.provision, &left_count);
    struct install_edit *edits =
        arena_array(&s->cx->arena, kept_count + left_count + 1, sizeof *edits);
    size_t n = 0;

    for (size_t i = 0; i < kept_count; i++)
        edits[n++] = (struct install_edit){.what = kept[i]};
    for (size_t i = 0; !s->keep_edited && i < left_count; i++)
        edits[n++] = (struct install_edit){left[i].what, left[i].item->kind,
                                           left[i].item->fqn};
    s->plan.edits = edits;
    s->plan.edit_count = n;
}

static bool find_changes(struct install_session *s,
                         const struct provision_options *o,
                         struct provision_item *items, size_t count,
                         struct err *e)
{
    CLEANUP(arena_done) struct arena lists = {0};
    struct provision_text *texts = arena_array(
        &s->cx->arena, TEXTS_MAX + s->patch_file_count, sizeof *texts);
    struct provision_change *changes = NULL;
    size_t text_count;

    if (!find_files(s, items, &lists, e))
        return false;
    if (!find_commands(s, e) || !list_texts(s, texts, &text_count, e) ||
        !provision_plan(s->layer.provision, o, items, count, texts, text_count,
                        &s->cx->arena, &changes, &s->plan.change_count, e) ||
        !note_effects(s, changes, s->plan.change_count, e))
        return false;
    s->plan.changes = changes;
    if (s->layer.scope->is_user)
        s->plan.for_clients = clients_join(&o->clients, &s->cx->arena);
    s->plan.untouched =
        provision_untouched_files(s->layer.provision, &s->plan.untouched_count);
    list_edits(s);
    name_taken(s);
    return true;
}

static void add_gone(struct install_session *s, struct provision_options *o,
                     struct provision_item **gone, size_t *capacity,
                     const struct lock_entry *entry)
{
    const struct layer *l = &s->layer;
    struct arena *a = &s->cx->arena;
    struct provision_item *item;

    if ((entry->kind != DOC_SKILL && entry->kind != DOC_AGENT &&
         entry->kind != DOC_MCP) ||
        !entry->place.n)
        return;
    *gone = arena_grow(a, *gone, o->gone_count, capacity, sizeof **gone);
    item = &(*gone)[o->gone_count++];
    installed_fill(l, entry, item);
    if (layer_is_own(l, entry))
        item->own = layer_own_path(l, layer_origin(l, entry));
    else
        (void)installed_find_files(s->store, entry, a, item);
    o->gone = *gone;
}

/* Lists the locked packages that leave the lock, or their place. */
static void list_gone(struct install_session *s, struct provision_options *o)
{
    struct provision_item *gone = NULL;
    size_t capacity = 0;

    if (s->layer.scope->is_user || s->has_given_lock)
        return;
    for (size_t i = 0; i < s->gone_count; i++)
        add_gone(s, o, &gone, &capacity, s->gone[i]);
    for (size_t i = 0; i < s->resolved.count; i++) {
        const struct install_package *p = &s->packages[i];

        if (p->before && !str_eq(path_last(p->before->place), p->place))
            add_gone(s, o, &gone, &capacity, p->before);
    }
}

/* Builds the desired items of one layer. */
static bool make_items(struct install_session *s, struct provision_options *o,
                       struct provision_item **out, size_t *count,
                       bool *in_place, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct provision_item *items;

    *count = 0;
    *out = items = arena_array(a, s->resolved.count + 2, sizeof *items);
    if (!session_provision_options(s, o, e))
        return false;
    *in_place = s->patch_file_count == 0 && str_eq(s->yaml, s->layer.yaml);
    for (size_t i = 0; i < s->resolved.count; i++) {
        struct install_package *p = &s->packages[i];

        if (!is_placed(p))
            continue;
        fill_item(&s->layer, p, &items[*count]);
        *in_place &=
            !s->is_chosen || session_find_patched(s, p, &items[*count]);
        ++*count;
    }
    if (s->with_server)
        self_server_fill(s->layer.is_global, &items[(*count)++], a);
    if (s->is_chosen)
        list_gone(s, o);
    *in_place =
        *in_place && o->gone_count == 0 &&
        (!s->is_chosen || (!o->force && is_in_place(s, o, items, *count)));
    return true;
}

struct desired_layer {
    struct provision_options options;
    struct provision_item *items;
    size_t count;
};

/* Totals over all layers; the plan has those of one layer. */
struct totals {
    struct provision_change *changes;
    size_t change_count, change_capacity;
    struct install_edit *edits;
    size_t edit_count, edit_capacity;
};

static struct str in_member(const struct install_session *s, struct str path)
{
    return s->layer.member.n ? fs_join(s->layer.member, path, &s->cx->arena)
                             : path;
}

static void add_totals(struct install_session *s, struct totals *t)
{
    struct arena *a = &s->cx->arena;

    for (size_t i = 0; i < s->plan.change_count; i++) {
        t->changes = arena_grow(a, t->changes, t->change_count,
                                &t->change_capacity, sizeof *t->changes);
        t->changes[t->change_count] = s->plan.changes[i];
        t->changes[t->change_count].path =
            in_member(s, s->plan.changes[i].path);
        t->change_count++;
    }
    for (size_t i = 0; i < s->plan.edit_count; i++) {
        t->edits = arena_grow(a, t->edits, t->edit_count, &t->edit_capacity,
                              sizeof *t->edits);
        t->edits[t->edit_count] = s->plan.edits[i];
        t->edits[t->edit_count].what = in_member(s, s->plan.edits[i].what);
        t->edit_count++;
    }
    s->plan.changes = NULL;
    s->plan.edits = NULL;
    s->plan.change_count = s->plan.edit_count = 0;
}

/* Opens the place; a rebased patch is staged with the other files. */
static bool open_place(struct install_session *s, struct err *e)
{
    struct layer *l = &s->layers.parts[s->at];

    if (!l->provision &&
        !layer_open_provision(
            l, s->cx, s->request->dry_run ? LAYER_READ : LAYER_WRITE, e))
        return false;
    s->layer.provision = l->provision;
    return true;
}

/* Finds changes of a layer that is locked but not provisioned; consent is given
 * for the lock at the root. */
static bool find_locked_changes(struct install_session *s,
                                const struct provision_options *o,
                                struct err *e)
{
    struct provision_text *texts;
    struct provision_change *changes = NULL;
    size_t count;

    if (!find_commands(s, e))
        return false;
    if (s->layer.member.n && s->patch_file_count == 0 &&
        str_eq(s->yaml, s->layer.yaml))
        return true;
    if (!open_place(s, e))
        return false;
    texts = arena_array(&s->cx->arena, TEXTS_MAX + s->patch_file_count,
                        sizeof *texts);
    if (!list_texts(s, texts, &count, e) ||
        !provision_plan_texts(s->layer.provision, o, texts, count,
                              &s->cx->arena, &changes, &s->plan.change_count,
                              e))
        return false;
    s->plan.changes = changes;
    return true;
}

/* Rebases patches that do not apply, unless the lock must not change. */
static bool mend_patches(struct install_session *s, struct err *e)
{
    bool is_changed = false;

    for (size_t k = 0; !s->locked && k < s->part_count; k++) {
        session_go(s, k);
        for (size_t i = 0; s->is_chosen && i < s->resolved.count; i++)
            if (s->packages[i].patch &&
                !session_mend_patch(s, &s->packages[i], &is_changed, e))
                return false;
    }
    session_go_home(s);
    return !is_changed || session_format_locks(s, e);
}

static bool find_all_changes(struct install_session *s,
                             struct desired_layer *layers, struct err *e)
{
    struct totals t = {0};

    if (!verify_all(s, e) || !mend_patches(s, e))
        return false;
    for (size_t i = 0; i < s->part_count; i++) {
        session_go(s, i);
        if (!(s->is_chosen ? find_changes(s, &layers[i].options,
                                          layers[i].items, layers[i].count, e)
                           : find_locked_changes(s, &layers[i].options, e)))
            return s->layer.member.n && s->part_count > 1 &&
                   err_wrap(e, "member %.*s", STR_ARG(s->layer.member));
        note_layer(s);
        if (s->part_count > 1)
            add_totals(s, &t);
    }
    session_go_home(s);
    note_proofs(s);
    if (s->part_count > 1) {
        s->plan.changes = t.changes;
        s->plan.change_count = t.change_count;
        s->plan.edits = t.edits;
        s->plan.edit_count = t.edit_count;
    }
    return true;
}

bool session_find_changes(struct install_session *s, struct err *e)
{
    struct desired_layer *layers =
        arena_array(&s->cx->arena, s->part_count, sizeof *layers);
    bool in_place = true;

    s->plan.grant_count = 0;
    for (size_t i = 0; i < s->part_count; i++) {
        bool is_this = true;

        session_go(s, i);
        if (!make_items(s, &layers[i].options, &layers[i].items,
                        &layers[i].count, &is_this, e) ||
            (s->is_chosen && !find_grants(s, e)))
            return false;
        in_place &= is_this;
    }
    session_go_home(s);
    in_place &= session_same_lock(s->layer.lock_text, s->lock_text);
    s->is_in_place = in_place && s->plan.grant_count == 0;
    return s->is_in_place || find_all_changes(s, layers, e);
}

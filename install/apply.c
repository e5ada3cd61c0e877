#include "base/fs.h"
#include "base/proc.h"
#include "mapm/clients.h"
#include "mapm/install.h"
#include "mapm/install_ingest.h"
#include "mapm/install_proof.h"
#include "mapm/install_server.h"
#include "mapm/manifest.h"
#include "mapm/state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define GITIGNORE_MAX_BYTES (1024u * 1024)
#define LEFT_TOLD_MAX       5

/* --- consent -------------------------------------------------------------- */

/* What the locked one ran; NULL when it is no longer in the store. */
static const char *find_old_command(struct sync *s,
                                    const struct sync_package *p)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct node old = *p->node;
    struct document d = {0};
    struct err ignored = {0};

    if (!p->before || !str_starts(p->before->digest, STR("sha256:")) ||
        !hash_parse(str_from_index(p->before->digest, 7), &old.digest) ||
        !store_has_package(s->store, &old.digest) ||
        !document_read(&s->closure, &old, &scratch, &d, &ignored))
        return NULL;
    return str_c(mcp_command_line(&d, &scratch), &s->cx->arena);
}

static bool needs_consent(const struct sync_package *p)
{
    return p->step->package->kind == DOC_MCP &&
           (!p->before || !str_eq(p->before->digest, p->node->package.content));
}

/* A server starts a program: what the lock does not hold with these very
 * bytes is shown and asked for (DESIGN.md, THREATS.md 1.5). */
static bool find_commands(struct sync *s, size_t *count, struct err *e)
{
    *count = 0;
    for (size_t i = 0; i < s->plan.count; i++) {
        CLEANUP(arena_done) struct arena scratch = {0};
        struct sync_package *p = &s->packages[i];
        struct document d = {0};

        if (!needs_consent(p))
            continue;
        if (!document_read(&s->closure, p->node, &scratch, &d, e))
            return false;
        p->command = str_c(mcp_command_line(&d, &scratch), &s->cx->arena);
        p->old_command = find_old_command(s, p);
        ++*count;
    }
    return true;
}

static bool ask_consent(struct sync *s, size_t servers, struct err *e)
{
    struct str question;

    if (servers == 0 || s->dry_run)
        return true;
    question =
        arena_printf(&s->cx->arena, "Let your agents start %s?",
                     servers == 1 ? "this MCP server" : "these MCP servers");
    if (context_consent(s->cx, question.p, e))
        return true;
    if (e->code != ERR_REFUSED)
        return false;
    for (size_t i = 0; i < s->plan.count; i++)
        if (needs_consent(&s->packages[i]))
            err_also(e, "mcp %.*s would run: %s",
                     STR_ARG(s->packages[i].step->package->fqn),
                     s->packages[i].command);
    return err_wrap(e, "MCP servers that mapm.lock does not hold need a yes");
}

/* --- provision ------------------------------------------------------------ */

struct placing {
    struct store *store;
    enum store_link how;
};

static bool place_object(void *ctx, const struct hash *h, int dirfd,
                         const char *path, bool executable, struct stat *st,
                         struct err *e)
{
    const struct placing *p = ctx;

    return store_place(p->store, h, p->how, dirfd, path,
                       executable ? 0755 : 0644, st, e);
}

static bool read_object(void *ctx, const struct hash *h, size_t max_bytes,
                        struct arena *a, struct str *out, struct err *e)
{
    const struct placing *p = ctx;

    return own_server_read(h, a, out) ||
           store_read(p->store, h, max_bytes, a, out, e);
}

/* Not by links: what is held back has no file of its own. Of a rewritten
 * package one file is another in the end, so all of it is left to then. */
void sync_stage_early(void *sync, const struct node *n)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct sync *s = sync;
    enum store_link how = s->request->link;
    struct placing placing = {s->store, how};
    struct provision_objects objects = {place_object, read_object, &placing};
    struct provision_file *list;
    struct store_file *files;
    struct err ignored = {0};
    size_t count;

    if (s->dry_run || n->package.kind == DOC_MCP || n->rewritten ||
        (how != STORE_LINK_AUTO && how != STORE_LINK_COPY) ||
        !store_read_listing(s->store, &n->digest, &a, &files, &count, &ignored))
        return;
    list = arena_array(&a, count, sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct provision_file){files[i].executable, files[i].hash,
                                          files[i].path};
    provision_stage_early(s->layer.provision, &objects, &n->digest, list,
                          count);
}

static void fill_item(const struct sync_package *p, struct provision_item *out)
{
    const struct package *package = p->step->package;

    *out = (struct provision_item){
        .kind = package->kind,
        .fqn = package->fqn,
        .place = p->place,
        .digest = p->node->digest,
        .rename = package->kind != DOC_MCP &&
                  (p->node->rewritten || !str_eq(p->place, package->name)),
    };
}

static bool fill_files(struct sync *s, const struct node *n,
                       struct arena *lists, struct provision_item *item,
                       struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct arena *a = &s->cx->arena;
    struct store_file *files = n->files;
    struct provision_file *list;

    item->file_count = n->file_count;
    if (!files && !store_read_listing(s->store, &item->digest, &scratch, &files,
                                      &item->file_count, e))
        return err_wrap(e, "%s %.*s", doc_kind_name(item->kind),
                        STR_ARG(item->fqn));
    list = arena_array(lists, item->file_count, sizeof *list);
    for (size_t i = 0; i < item->file_count; i++)
        list[i] = (struct provision_file){
            files[i].executable, files[i].hash,
            n->files ? files[i].path : arena_str(a, files[i].path)};
    item->files = list;
    return true;
}

/* Nothing to do, and known without a look at any file of the store: every
 * package is locked, the texts stay, all is in place by its digest, and the lock
 * is one that was proved. */
static bool is_in_place(struct sync *s, const struct provision_options *o,
                        const struct provision_item *items, size_t item_count)
{
    return s->closure.options.trust_lock && s->local_yaml.n == 0 &&
           s->layer.local_lock_text.n == 0 && str_eq(s->yaml, s->layer.yaml) &&
           sync_same_lock(s->layer.lock_text, s->lock_text) &&
           provision_is_current(s->layer.provision, o, items, item_count,
                                &s->cx->arena) &&
           proof_knows_lock(s->store, s->lock_text);
}

/* Everything that is taken at the lock's word, and what it consists of: the
 * lists of files in `lists`, their paths stay. */
static bool find_files(struct sync *s, struct provision_item *items,
                       struct arena *lists, struct err *e)
{
    struct resolver_source source = {closure_read, &s->closure};
    bool found = closure_prove(&s->closure, e);
    /* Nothing there to compare them with, and nothing is written: a large plan
     * is a tenth smaller without them. */
    bool is_short = s->dry_run && provision_has_no_skills(s->layer.provision);

    closure_warn(&s->closure);
    if (!found)
        return false;
    /* The plan stays as it is, but the resolver knows how to report. */
    if (s->closure.failures &&
        !resolver_resolve(&source, s->roots, s->root_count, &s->layer.limits,
                          &s->cx->arena, &s->plan, e))
        return err_wrap(e, "cannot %s", s->command);
    for (size_t i = 0; i < s->plan.count; i++)
        if ((!is_short || items[i].kind != DOC_SKILL) &&
            !fill_files(s, s->packages[i].node, lists, &items[i], e))
            return false;
    return true;
}

/* Where it stands, as a change names it. */
struct str sync_place(const struct sync_package *p, struct arena *a)
{
    enum doc_kind kind = p->step->package->kind;

    if (kind == DOC_MCP)
        return str_join(STR(".mcp.json#"), p->place, a);
    return arena_printf(a, ".agents/%s/%.*s", doc_kind_plural(kind),
                        STR_ARG(p->place));
}

static bool mark_placed(struct sync *s, const struct provision_change *changes,
                        size_t count, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct arena *a = &s->cx->arena;
    struct map added;

    map_init(&added, &scratch);
    for (size_t i = 0; i < count; i++)
        if (changes[i].kind == PROVISION_ADD)
            map_put(&added, changes[i].path, s);
    for (size_t i = 0; i < s->plan.count; i++) {
        struct sync_package *p = &s->packages[i];
        struct document d = {0};

        p->placed = map_has(&added, sync_place(p, &scratch));
        if (!p->placed || !p->before || p->changed ||
            p->step->package->kind != DOC_MCP)
            continue;
        /* A lock does not hold what a person should know before it runs. */
        if (!document_read(&s->closure, p->node, a, &d, e))
            return false;
        p->command = str_c(mcp_command_line(&d, a), a);
    }
    return true;
}

/* .gitignore gets the local pair when it is first written (M15). */
static bool ignore_local(struct sync *s, struct provision_text *out,
                         size_t *count, struct err *e)
{
    static const char *const names[] = {"mapm.local.yaml", "mapm.local.lock"};
    CLEANUP_FD int fd = -1;
    CLEANUP(buf_done) struct buf b = {0};
    struct arena *a = &s->cx->arena;
    struct str text = {"", 0};

    if (s->layer.is_global || s->local_yaml.n == 0)
        return true;
    if (!fs_open_dir(s->layer.path.p, &fd, e))
        return false;
    if (!fs_read_file_at(fd, ".gitignore", GITIGNORE_MAX_BYTES, a, &text, e)) {
        if (e->code != ERR_NOT_FOUND)
            return err_wrap(e, "cannot read .gitignore");
        err_clear(e);
    }
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
        str_from(path), new.n ? new : (struct str){NULL, 0}};
}

static bool list_texts(struct sync *s, struct provision_text *texts,
                       size_t *count, struct err *e)
{
    const struct layer *l = &s->layer;

    *count = 0;
    if (!ignore_local(s, texts, count, e))
        return false;
    add_text(texts, count, "mapm.local.yaml", l->local_yaml, s->local_yaml);
    add_text(texts, count, "mapm.yaml", l->yaml, s->yaml);
    add_text(texts, count, "mapm.local.lock", l->local_lock_text,
             s->local_lock_text);
    /* A checkout with CRLF is not rewritten for that alone. */
    add_text(texts, count, "mapm.lock", l->lock_text,
             sync_same_lock(l->lock_text, s->lock_text) ? l->lock_text
                                                        : s->lock_text);
    return true;
}

static const struct str *wished_clients(const struct sync *s, size_t *count)
{
    const struct project *p = &s->layer.project, *u = &s->layer.user;
    struct str *names = arena_array(
        &s->cx->arena, p->client_count + u->client_count + 1, sizeof *names);

    *count = 0;
    for (size_t i = 0; i < p->client_count; i++)
        names[(*count)++] = p->clients[i];
    for (size_t i = 0; i < u->client_count; i++)
        names[(*count)++] = u->clients[i];
    return names;
}

static bool check_clients(const struct str *names, size_t count, struct err *e)
{
    for (size_t i = 0; i < count; i++)
        if (!clients_find(names[i])) {
            err_set(e, ERR_FORMAT, "clients: \"%.*s\" is not known",
                    STR_ARG(names[i]));
            err_hint(e, "known:");
            for (size_t k = 0; k < clients_count; k++) {
                struct err old = *e;

                err_hint(e, "%s %s", old.hint, clients_table[k].name);
            }
            return false;
        }
    return true;
}

static bool has_server(const struct sync *s)
{
    for (size_t i = 0; i < s->plan.count; i++)
        if (s->plan.steps[i].package->kind == DOC_MCP)
            return true;
    return false;
}

static bool register_workspace(struct sync *s)
{
    struct err problem = {0};

    if (state_put_workspace(store_state(s->store), s->layer.path, &problem))
        return true;
    if (!s->closure.index_warned)
        context_warn(s->cx, "%s", err_first(&problem));
    s->closure.index_warned = true;
    return false;
}

/* <data>/skills is where the user's library is looked for (DESIGN.md 4). */
static void link_library(struct sync *s)
{
    struct str link =
        fs_join(store_home(s->store), STR("skills"), &s->cx->arena);

    /* With an empty library it leads nowhere for a while, and may stay. */
    if (s->layer.is_global && symlink("global/.agents/skills", link.p) < 0 &&
        errno != EEXIST)
        context_warn(s->cx, "cannot create %s", link.p);
}

/* Their files can be committed, so they have its name alone. */
static void tell_server(struct sync *s)
{
    struct err ignored = {0};
    struct str found;

    if (!s->with_server || s->layer.project.server || s->dry_run)
        return;
    context_note(s->cx, "clients in this workspace start mapm mcp from now on: "
                        "mapm.yaml says so");
    if (!proc_find_program("mapm", NULL, &s->cx->arena, &found, &ignored))
        context_warn(
            s->cx, "they look for mapm on the PATH, where there is none: make "
                   "install puts it there");
}

static void tell_kept(struct sync *s)
{
    size_t count;
    const struct str *kept =
        provision_preserved_edits(s->layer.provision, &count);

    for (size_t i = 0; i < count; i++)
        context_warn(s->cx, "%.*s: kept", STR_ARG(kept[i]));
    if (count)
        context_note(
            s->cx,
            "what was changed stays, with the rest of its folder, and is "
            "yours now; --force removes it, too");
}

/* What stays edited in packages that stay: one note a package. */
static void tell_left(struct sync *s, const struct provision_item *items)
{
    size_t count, told = 0, packages = 0;
    const struct provision_skipped *left =
        provision_skipped_modified(s->layer.provision, &count);
    bool *seen = arena_array(&s->cx->arena, s->plan.count + 2, sizeof *seen);

    for (size_t i = 0; i < count; i++) {
        const struct provision_item *item = left[i].item;

        if (seen[item - items])
            continue;
        seen[item - items] = true;
        packages++;
        if (packages > LEFT_TOLD_MAX)
            continue;
        told++;
        context_note(s->cx,
                     "%s %.*s was edited and is left as it is (%.*s); --force "
                     "restores it",
                     doc_kind_name(item->kind), STR_ARG(item->fqn),
                     STR_ARG(left[i].what));
    }
    if (packages > told)
        context_note(s->cx, "so are %zu more: mapm verify names them all",
                     packages - told);
}

static void tell_backup(struct sync *s)
{
    struct str backup = provision_backup(s->layer.provision);

    if (backup.n)
        context_note(s->cx, "what was there before is in %.*s",
                     STR_ARG(backup));
}

static void tell_absolute_paths(struct sync *s)
{
    struct str files = provision_absolute_files(s->layer.provision);

    if (files.n)
        context_note(s->cx,
                     "paths of this machine are in %.*s now: that belongs in "
                     ".gitignore, and mapm install recreates it",
                     STR_ARG(files));
}

/* Without a change there may still be something for it to remember. */
static bool apply(struct sync *s, struct err *e)
{
    if ((s->changed && has_server(s) && !store_make_shared_dir(s->store, e)) ||
        !provision_apply(s->layer.provision, e))
        return false;
    if (!s->changed)
        return true;
    tell_backup(s);
    register_workspace(s);
    link_library(s);
    tell_absolute_paths(s);
    return true;
}

/* The index is a cache: what cannot be noted is fetched again. */
static void note_also(struct sync *s, const struct sync_package *p)
{
    const struct node *own = p->node;

    for (size_t i = 0; i < p->step->origin_count; i++) {
        const struct node *n = closure_find(&s->closure, p->step->origins[i]);
        struct err ignored = {0};

        if (!n || n == own || n->locked || n->origin.scheme != ORIGIN_GIT ||
            own->object.n == 0 || !hash_eq(&n->digest, &own->digest))
            continue;
        if (!proof_put_also(s->store, &n->origin, own->object, &own->digest,
                            &s->cx->arena, &ignored))
            err_clear(&ignored);
    }
}

/* The new lock is of documents that were read, of commits that were shown. */
static void note_proofs(struct sync *s)
{
    struct err ignored = {0};

    for (size_t i = 0; i < s->plan.count; i++)
        note_also(s, &s->packages[i]);
    if (!proof_knows_lock(s->store, s->lock_text) &&
        !proof_put_lock(s->store, s->lock_text, &ignored))
        err_clear(&ignored);
}

bool sync_finish(struct sync *s, struct err *e)
{
    const struct install_view *view = &s->request->view;
    CLEANUP(arena_done) struct arena lists = {0};
    struct arena *a = &s->cx->arena;
    struct placing placing = {s->store, s->request->link};
    struct provision_options o = {
        .shared_dir = store_shared_dir(s->store),
        .force = s->request->force,
        .keep_edited = s->keep_edited,
        .objects = {place_object, read_object, &placing},
    };
    struct provision_item *items =
        arena_array(a, s->plan.count + 2, sizeof *items);
    struct provision_text texts[8];
    struct provision_change *changes = NULL;
    size_t text_count, change_count = 0, servers = 0, count = s->plan.count;

    o.clients = wished_clients(s, &o.client_count);
    if (!check_clients(o.clients, o.client_count, e))
        return false;
    for (size_t i = 0; i < s->plan.count; i++)
        fill_item(&s->packages[i], &items[i]);
    if (s->with_server)
        own_server_fill(&items[count++], a);
    if (!o.force && is_in_place(s, &o, items, count)) {
        view->result(view->ctx, s, NULL, 0);
        return true;
    }
    if (!find_files(s, items, &lists, e))
        return false;
    fetch_stop(s->closure.fetch); /* all is here */
    store_end_fetch(s->store);
    if (!find_commands(s, &servers, e) ||
        !list_texts(s, texts, &text_count, e) ||
        !provision_plan(s->layer.provision, &o, items, count, texts, text_count,
                        a, &changes, &change_count, e) ||
        !mark_placed(s, changes, change_count, e))
        return false;
    arena_done(&lists); /* the plan has its own */
    s->changed = change_count > 0;
    note_proofs(s);
    if (!view->plan(view->ctx, s, servers, e) || !ask_consent(s, servers, e) ||
        !sync_keep(s, e))
        return false;
    tell_kept(s);
    if (!s->keep_edited)
        tell_left(s, items);
    if (!s->dry_run && !apply(s, e))
        return false;
    view->result(view->ctx, s, changes, change_count);
    tell_server(s);
    return true;
}

#include "sync.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arrival.h"

#define GITIGNORE_MAX_BYTES (1024u * 1024)

static bool sync_open(struct invocation *inv, const char *command,
                      struct sync *s, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct str home;

    *s = (struct sync){
        .inv = inv, .command = command, .closure = {.session = {.dirfd = -1}}};
    s->dry_run = has_option(inv, OPTION_DRY_RUN);
    if (!layer_open(inv, s->dry_run ? LAYER_READ : LAYER_WRITE, &s->layer, e))
        return false;
    s->yaml = s->layer.yaml;
    s->local_yaml = s->layer.local_yaml;
    s->roots = layer_roots(&s->layer, &inv->arena, &s->root_count);
    if (!store_find_home(&scratch, &home, e) || !store_open(home, &s->store, e))
        return false;
    store_hold(s->store);
    return true;
}

/* The objects, then what is known of them. */
static bool keep(struct sync *s, struct err *e)
{
    struct err problem = {0};

    if (!store_keep(s->store, e))
        return false;
    if (store_keep_notes(s->store, &problem))
        return true;
    if (problem.code == ERR_REFUSED) {
        *e = problem;
        return false;
    }
    if (!s->closure.index_warned)
        term_warn(&s->inv->term, "%s", err_first(&problem));
    s->closure.index_warned = true;
    return true;
}

static bool is_network(enum err_code code)
{
    return code == ERR_FETCH || code == ERR_HOST || code == ERR_TLS;
}

static void sync_close(struct sync *s, const struct err *problem)
{
    struct err ignored = {0};

    if (s->store && problem && is_network(problem->code) &&
        !keep(s, &ignored)) {
        /* Then it is fetched again. */
    }
    if (s->closure.store)
        closure_done(&s->closure);
    store_close(s->store);
    s->store = NULL;
    layer_close(&s->layer);
}

/* What root makes is root's: said, for it is rarely meant (row 25). */
static void warn_about_sudo(struct invocation *inv)
{
    const char *uid = getenv("SUDO_UID");

    if (geteuid() == 0 && uid && uid[0] && strcmp(uid, "0") != 0)
        term_warn(&inv->term,
                  "running under sudo: what is written here will belong to "
                  "root, not to user %s",
                  uid);
}

/* All files of the packages at hand: what is damaged is set aside. */
static void set_damaged_aside(struct sync *s)
{
    for (size_t i = 0; i < s->closure.queued; i++) {
        const struct node *n = s->closure.queue[i];
        CLEANUP(arena_done) struct arena scratch = {0};
        struct store_file *files;
        struct err ignored = {0};
        size_t count;

        if (!store_has_package(s->store, &n->digest) ||
            !store_read_listing(s->store, &n->digest, &scratch, &files, &count,
                                &ignored))
            continue;
        for (size_t k = 0; k < count; k++) {
            CLEANUP(arena_done) struct arena content = {0};
            struct str bytes;

            if (!store_read(s->store, &files[k].hash, FILE_MAX_BYTES, &content,
                            &bytes, &ignored))
                err_clear(&ignored);
        }
    }
}

bool sync_run(struct invocation *inv, const char *command,
              bool (*work)(struct sync *s, struct err *e), struct err *e)
{
    bool again = false, ok;

    warn_about_sudo(inv);
    for (;;) {
        struct sync s;
        bool is_damaged;

        ok = sync_open(inv, command, &s, e);
        s.again = again;
        ok = ok && work(&s, e);
        is_damaged = !ok && e->code == ERR_DAMAGED && s.store &&
                     store_damaged(s.store) > 0;
        if (is_damaged && !again)
            set_damaged_aside(&s);
        sync_close(&s, ok ? NULL : e);
        if (!is_damaged || again)
            return ok;
        again = true;
        err_clear(e);
        term_warn(&inv->term,
                  "the store held a damaged file: it was set aside, and is "
                  "fetched again");
    }
}

/* --- roots ---------------------------------------------------------------- */

static bool has_root(const struct sync *s, enum doc_kind kind, struct str key)
{
    for (size_t i = 0; i < s->root_count; i++)
        if (s->roots[i].kind == kind && str_eq(s->roots[i].origin.key, key))
            return true;
    return false;
}

bool sync_add_root(struct sync *s, enum doc_kind kind, const struct origin *o,
                   struct err *e)
{
    struct arena *a = &s->inv->arena;
    struct root *roots;
    struct str *text = o->scheme == ORIGIN_FILE ? &s->local_yaml : &s->yaml;

    if (has_root(s, kind, o->key))
        return true;
    if (!project_add_root(*text, kind, o->text, a, text, e))
        return err_wrap(e, "cannot add %.*s to %s", STR_ARG(o->text),
                        o->scheme == ORIGIN_FILE ? "mapm.local.yaml"
                                                 : "mapm.yaml");
    roots = arena_array(a, s->root_count + 1, sizeof *roots);
    for (size_t i = 0; i < s->root_count; i++)
        roots[i] = s->roots[i];
    roots[s->root_count++] = (struct root){.kind = kind, .origin = *o};
    s->roots = roots;
    return true;
}

bool sync_remove_root(struct sync *s, const struct root *root, struct err *e)
{
    struct arena *a = &s->inv->arena;
    struct str key = root->origin.key;
    enum doc_kind kind = root->kind;
    size_t n = 0;

    /* It may stand in either file: the committed one may name file: too. */
    if (!project_remove_root(s->yaml, kind, key, &s->layer.rules, a, &s->yaml,
                             e))
        return err_wrap(e, "cannot edit mapm.yaml");
    if (s->local_yaml.n &&
        !project_remove_root(s->local_yaml, kind, key, &s->layer.rules, a,
                             &s->local_yaml, e))
        return err_wrap(e, "cannot edit mapm.local.yaml");
    for (size_t i = 0; i < s->root_count; i++)
        if (s->roots[i].kind != kind || !str_eq(s->roots[i].origin.key, key))
            s->roots[n++] = s->roots[i];
    s->root_count = n;
    return true;
}

/* --- plan ----------------------------------------------------------------- */

static bool check_sources(struct sync *s, struct err *e)
{
    for (size_t i = 0; i < s->plan.count; i++) {
        const struct package *p = s->plan.steps[i].package;

        if (p->origin.scheme == ORIGIN_FILE ||
            (project_source_allowed(&s->layer.project, &p->origin) &&
             project_source_allowed(&s->layer.user, &p->origin)))
            continue;
        err_set(e, ERR_REFUSED, "%.*s: policy.sources does not allow %.*s/%.*s",
                STR_ARG(p->origin.text), STR_ARG(p->origin.owner),
                STR_ARG(p->origin.repo));
        return err_hint(e, "add it to policy.sources, or do without it");
    }
    return true;
}

/* What the lock has recorded never changes (X9, X21). */
static struct str recorded_place(void *ctx, enum doc_kind kind, struct str fqn)
{
    const struct sync *s = ctx;
    const struct lock_entry *entry = layer_find(&s->layer, kind, fqn);
    size_t slash;

    if (!entry)
        return str_of("", 0);
    if (kind == DOC_MCP)
        return entry->place;
    slash = str_find_last(entry->place, '/');
    return str_from_index(entry->place, slash == SIZE_MAX ? 0 : slash + 1);
}

/* The same origin, in whatever spelling. */
static bool has_origin(const struct sync *s, const struct lock_entry *entry,
                       const struct origin *o)
{
    struct err ignored = {0};
    struct origin old;

    return str_eq(entry->origin, o->text) ||
           (origin_parse(entry->origin, &s->layer.rules, &s->inv->arena, &old,
                         &ignored) &&
            str_eq(old.key, o->key));
}

static bool is_changed(const struct sync *s, const struct sync_package *p)
{
    const struct lock_entry *b = p->before;

    return !b || !str_eq(b->digest, p->node->package.content) ||
           !str_eq(b->commit, p->node->commit) ||
           !has_origin(s, b, &p->node->origin);
}

/* Everything that a committed root needs is committed; the rest is local. */
static void mark_committed(struct sync *s)
{
    for (size_t i = 0; i < s->plan.count; i++)
        s->packages[i].is_local = true;
    for (size_t i = 0; i < s->root_count; i++) {
        struct plan_step *step;

        if (s->roots[i].origin.scheme == ORIGIN_FILE)
            continue;
        step = map_find(&s->plan.by_key, s->roots[i].origin.key);
        if (step)
            s->packages[step - s->plan.steps].is_local = false;
    }
    /* Dependencies stand before what needs them: one way back is enough. */
    for (size_t i = s->plan.count; i-- > 0;) {
        const struct plan_step *step = &s->plan.steps[i];

        if (s->packages[i].is_local)
            continue;
        for (size_t k = 0; k < step->need_count; k++)
            s->packages[step->needs[k]].is_local = false;
    }
}

static bool fill_packages(struct sync *s, struct err *e)
{
    struct arena *a = &s->inv->arena;
    struct str *names = arena_array(a, s->plan.count + 1, sizeof *names);

    if (!resolver_assign_names(&s->plan, recorded_place, s, a, names, e))
        return false;
    s->packages = arena_array(a, s->plan.count + 1, sizeof *s->packages);
    for (size_t i = 0; i < s->plan.count; i++) {
        struct sync_package *p = &s->packages[i];

        p->step = &s->plan.steps[i];
        p->node = p->step->package->user;
        p->place = names[i];
        p->before = layer_find(&s->layer, p->step->package->kind,
                               p->step->package->fqn);
        p->changed = is_changed(s, p);
    }
    mark_committed(s);
    return true;
}

static void find_gone(struct sync *s)
{
    struct arena *a = &s->inv->arena;
    struct map kept;
    const struct lock_entry **entries;
    size_t count;

    map_init(&kept, a);
    for (size_t i = 0; i < s->plan.count; i++) {
        const struct package *p = s->plan.steps[i].package;

        map_put(&kept, layer_name_key(p->kind, p->fqn, a), s);
    }
    entries = layer_entries(&s->layer, a, &count);
    s->gone = arena_array(a, count + 1, sizeof *s->gone);
    for (size_t i = 0; i < count; i++)
        if (!map_has(&kept,
                     layer_name_key(entries[i]->kind, entries[i]->name, a)))
            s->gone[s->gone_count++] = entries[i];
}

/* --- the new lock --------------------------------------------------------- */

static void fill_needs(const struct sync *s, const struct plan_step *step,
                       struct lock_entry *out)
{
    struct arena *a = &s->inv->arena;

    out->needs = arena_array(a, step->need_count + 1, sizeof *out->needs);
    for (size_t i = 0; i < step->need_count; i++) {
        const struct package *p = s->plan.steps[step->needs[i]].package;
        struct lock_need need = {p->kind, p->fqn};
        bool twice = false;

        for (size_t k = 0; k < out->need_count; k++)
            twice |= out->needs[k].kind == need.kind &&
                     str_eq(out->needs[k].name, need.name);
        if (!twice)
            out->needs[out->need_count++] = need;
    }
}

/* Other origins of the same content, as their nodes spell them. */
static void fill_also(const struct sync *s, const struct sync_package *p,
                      struct lock_entry *out)
{
    struct arena *a = &s->inv->arena;
    struct str *also = arena_array(a, p->step->origin_count + 1, sizeof *also);
    size_t n = 0;

    for (size_t i = 0; i < p->step->origin_count; i++) {
        const struct node *other =
            closure_find(&s->closure, p->step->origins[i]);

        if (other && !str_eq(other->origin.text, p->node->origin.text))
            also[n++] = other->origin.text;
    }
    out->also = also;
    out->also_count = n;
}

static struct lock_entry make_entry(const struct sync *s,
                                    const struct sync_package *p)
{
    struct arena *a = &s->inv->arena;
    const struct package *package = p->step->package;
    struct lock_entry entry = {
        .kind = package->kind,
        .name = package->fqn,
        .origin = p->node->origin.text,
        .digest = package->content,
        .version = p->node->version,
        .place = p->place,
        .allow_hidden = p->node->hidden,
        .rewritten = p->node->rewritten,
    };

    /* Another spelling is no reason to touch the lock. */
    if (p->before && has_origin(s, p->before, &p->node->origin))
        entry.origin = p->before->origin;
    if (p->node->origin.scheme == ORIGIN_GIT) {
        entry.commit = p->node->commit;
        entry.object = p->node->object;
    }
    if (package->kind != DOC_MCP)
        entry.place =
            arena_printf(a, ".agents/%s/%.*s", doc_kind_plural(package->kind),
                         STR_ARG(p->place));
    fill_also(s, p, &entry);
    fill_needs(s, p->step, &entry);
    return entry;
}

/* The local lock holds the whole closure of the local roots, so that each
 * lock is complete in itself; what both hold is the same. */
static void mark_local_closure(const struct sync *s, bool *in_local)
{
    for (size_t i = 0; i < s->root_count; i++) {
        const struct plan_step *step;

        if (s->roots[i].origin.scheme != ORIGIN_FILE)
            continue;
        step = map_find(&s->plan.by_key, s->roots[i].origin.key);
        if (step)
            in_local[step - s->plan.steps] = true;
    }
    for (size_t i = s->plan.count; i-- > 0;)
        for (size_t k = 0; in_local[i] && k < s->plan.steps[i].need_count; k++)
            in_local[s->plan.steps[i].needs[k]] = true;
}

static bool format_lock(const struct sync *s, struct lock *lock,
                        struct str *out, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, LOCK_MAX_BYTES);
    lock_format(lock, &b);
    *out = arena_str(&s->inv->arena, buf_str(&b));
    return buf_check(&b, "mapm.lock", e);
}

static bool format_locks(struct sync *s, struct err *e)
{
    struct arena *a = &s->inv->arena;
    size_t n = s->plan.count;
    bool *in_local = arena_array(a, n + 1, sizeof *in_local);
    struct lock lock = {arena_array(a, n + 1, sizeof(struct lock_entry)), 0};
    struct lock local = {arena_array(a, n + 1, sizeof(struct lock_entry)), 0};

    mark_local_closure(s, in_local);
    for (size_t i = 0; i < n; i++) {
        struct lock_entry entry = make_entry(s, &s->packages[i]);

        if (!s->packages[i].is_local)
            lock.entries[lock.count++] = entry;
        if (in_local[i])
            local.entries[local.count++] = entry;
    }
    if (!format_lock(s, &lock, &s->lock_text, e) ||
        !format_lock(s, &local, &s->local_lock_text, e))
        return false;
    /* A file that says nothing is not written where there was none. */
    if (lock.count == 0 && s->layer.lock_text.n == 0 && s->yaml.n == 0)
        s->lock_text = str_of("", 0);
    if (local.count == 0)
        s->local_lock_text = str_of("", 0);
    return true;
}

static bool same_lock(struct str old, struct str new)
{
    /* git may have checked it out with CRLF. */
    while (old.n || new.n) {
        struct str x = {"", 0}, y = {"", 0};

        if (!str_line(&old, &x) || !str_line(&new, &y) || !str_eq(x, y))
            return false;
    }
    return true;
}

static bool check_locked(const struct sync *s, struct err *e)
{
    if (same_lock(s->layer.lock_text, s->lock_text))
        return true;
    err_set(e, ERR_LOCKED, "mapm.lock does not fit mapm.yaml");
    for (size_t i = 0; i < s->gone_count && i < ERROR_MAX_LINES; i++)
        err_also(e, "mapm.lock:%u: nothing needs %s %.*s", s->gone[i]->line,
                 doc_kind_name(s->gone[i]->kind), STR_ARG(s->gone[i]->name));
    for (size_t i = 0; i < s->plan.count && i < ERROR_MAX_LINES; i++)
        if (s->packages[i].changed)
            err_also(e, "%s %.*s is not locked as it is",
                     doc_kind_name(s->packages[i].step->package->kind),
                     STR_ARG(s->packages[i].step->package->fqn));
    return err_hint(e, "run mapm install without --locked and commit "
                       "mapm.lock");
}

bool sync_resolve(struct sync *s, struct err *e)
{
    struct resolver_source source = {closure_read, &s->closure};

    for (size_t i = 0; i < s->root_count; i++)
        closure_add(&s->closure, &s->roots[i].origin,
                    (unsigned)s->roots[i].kind);
    if (!closure_gather(&s->closure, e))
        return false;
    closure_warn(&s->closure);
    if (!resolver_resolve(&source, s->roots, s->root_count, &s->layer.limits,
                          &s->inv->arena, &s->plan, e))
        return err_wrap(e, "cannot %s", s->command);
    if (!check_sources(s, e) || !fill_packages(s, e))
        return false;
    find_gone(s);
    if (!format_locks(s, e))
        return false;
    return !s->locked || check_locked(s, e);
}

/* --- consent -------------------------------------------------------------- */

/* What the locked one ran; NULL when it is no longer in the store. */
static const char *find_old_command(struct sync *s,
                                    const struct sync_package *p)
{
    struct arena *a = &s->inv->arena;
    struct node old = *p->node;
    struct document d = {0};
    struct err ignored = {0};

    if (!p->before || !str_starts(p->before->digest, STR("sha256:")) ||
        !hash_parse(str_from_index(p->before->digest, 7), &old.digest) ||
        !store_has_package(s->store, &old.digest) ||
        !document_read(&s->closure, &old, a, &d, &ignored))
        return NULL;
    return str_c(mcp_command_line(&d, a), a);
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
        struct sync_package *p = &s->packages[i];
        struct document d = {0};

        if (!needs_consent(p))
            continue;
        if (!document_read(&s->closure, p->node, &s->inv->arena, &d, e))
            return false;
        p->command =
            str_c(mcp_command_line(&d, &s->inv->arena), &s->inv->arena);
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
        arena_printf(&s->inv->arena, "Let your agents start %s?",
                     servers == 1 ? "this MCP server" : "these MCP servers");
    if (confirm(s->inv, question.p, e))
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
                         const char *name, bool executable, struct err *e)
{
    const struct placing *p = ctx;

    return store_place(p->store, h, p->how, dirfd, name,
                       executable ? 0755 : 0644, e);
}

static bool read_object(void *ctx, const struct hash *h, size_t max_bytes,
                        struct arena *a, struct str *out, struct err *e)
{
    const struct placing *p = ctx;

    return store_read(p->store, h, max_bytes, a, out, e);
}

static enum store_link link_wish(const struct invocation *inv)
{
    struct str mode = option_value(inv, OPTION_LINK_MODE);

    if (str_is(mode, "copy"))
        return STORE_LINK_COPY;
    if (str_is(mode, "hardlink"))
        return STORE_LINK_HARDLINK;
    return str_is(mode, "reflink") ? STORE_LINK_REFLINK : STORE_LINK_AUTO;
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
                       struct provision_item *item, struct err *e)
{
    struct arena *a = &s->inv->arena;
    struct store_file *files = n->files;
    struct provision_file *list;

    item->file_count = n->file_count;
    if (!files && !store_read_listing(s->store, &item->digest, a, &files,
                                      &item->file_count, e))
        return err_wrap(e, "%s %.*s", doc_kind_name(item->kind),
                        STR_ARG(item->fqn));
    list = arena_array(a, item->file_count, sizeof *list);
    for (size_t i = 0; i < item->file_count; i++)
        list[i] = (struct provision_file){files[i].executable, files[i].hash,
                                          files[i].path};
    item->files = list;
    return true;
}

/* Nothing to do, and known without a look into the store: every package is
 * locked, the texts stay, and all is in place by its digest. */
static bool is_in_place(struct sync *s, const struct provision_options *o,
                        const struct provision_item *items)
{
    return s->closure.options.trust_lock && s->local_yaml.n == 0 &&
           s->layer.local_lock_text.n == 0 && str_eq(s->yaml, s->layer.yaml) &&
           same_lock(s->layer.lock_text, s->lock_text) &&
           provision_is_current(s->layer.provision, o, items, s->plan.count,
                                &s->inv->arena);
}

/* Everything that is taken at the lock's word, and what it consists of. */
static bool find_files(struct sync *s, struct provision_item *items,
                       struct err *e)
{
    struct resolver_source source = {closure_read, &s->closure};

    bool found = closure_prove(&s->closure, e);

    closure_warn(&s->closure);
    if (!found)
        return false;
    /* The plan stays as it is, but the resolver knows how to report. */
    if (s->closure.failures &&
        !resolver_resolve(&source, s->roots, s->root_count, &s->layer.limits,
                          &s->inv->arena, &s->plan, e))
        return err_wrap(e, "cannot %s", s->command);
    for (size_t i = 0; i < s->plan.count; i++)
        if (!fill_files(s, s->packages[i].node, &items[i], e))
            return false;
    return true;
}

/* .gitignore gets the local pair when it is first written (M15). */
static bool ignore_local(struct sync *s, struct provision_text *out,
                         size_t *count, struct err *e)
{
    static const char *const names[] = {"mapm.local.yaml", "mapm.local.lock"};
    CLEANUP_FD int fd = -1;
    CLEANUP(buf_done) struct buf b = {0};
    struct arena *a = &s->inv->arena;
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
             same_lock(l->lock_text, s->lock_text) ? l->lock_text
                                                   : s->lock_text);
    return true;
}

static const struct str *wished_clients(const struct sync *s, size_t *count)
{
    const struct project *p = &s->layer.project, *u = &s->layer.user;
    struct str *names = arena_array(
        &s->inv->arena, p->client_count + u->client_count + 1, sizeof *names);

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
        if (!provision_knows_client(names[i])) {
            err_set(e, ERR_FORMAT, "clients: \"%.*s\" is not known",
                    STR_ARG(names[i]));
            err_hint(e, "known:");
            for (const char *const *c = provision_client_names(); *c; c++) {
                struct err old = *e;

                err_hint(e, "%s %s", old.hint, *c);
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

    if (store_put_workspace(s->store, s->layer.path, &problem))
        return true;
    if (!s->closure.index_warned)
        term_warn(&s->inv->term, "%s", err_first(&problem));
    s->closure.index_warned = true;
    return false;
}

/* <data>/skills is where the user's library is looked for (DESIGN.md 4). */
static void link_library(struct sync *s)
{
    struct str link =
        fs_join(store_home(s->store), STR("skills"), &s->inv->arena);

    /* With an empty library it leads nowhere for a while, and may stay. */
    if (s->layer.is_global && symlink("global/.agents/skills", link.p) < 0 &&
        errno != EEXIST)
        term_warn(&s->inv->term, "cannot create %s", link.p);
}

static void tell_result(struct sync *s, size_t change_count)
{
    struct term *t = &s->inv->term;
    char bytes[16];

    if (has_option(s->inv, OPTION_JSON))
        return;
    if (change_count == 0) {
        term_note(t, "%s: nothing to do, %zu package%s in place", s->command,
                  s->plan.count, s->plan.count == 1 ? "" : "s");
        return;
    }
    if (s->dry_run) {
        term_note(t, "dry run: nothing was changed");
        return;
    }
    if (s->closure.progress.requests == 0) {
        term_note(t, "%zu package%s in %.*s", s->plan.count,
                  s->plan.count == 1 ? "" : "s", STR_ARG(s->layer.path));
        return;
    }
    term_note(t, "%zu package%s in %.*s (%llu request%s, %s)", s->plan.count,
              s->plan.count == 1 ? "" : "s", STR_ARG(s->layer.path),
              (unsigned long long)s->closure.progress.requests,
              s->closure.progress.requests == 1 ? "" : "s",
              term_bytes(s->closure.progress.bytes, bytes));
}

static void tell_kept(struct sync *s)
{
    size_t count;
    const struct str *kept = provision_kept(s->layer.provision, &count);

    for (size_t i = 0; i < count; i++)
        term_warn(&s->inv->term, "%.*s: kept", STR_ARG(kept[i]));
    if (count)
        term_note(&s->inv->term,
                  "what was changed stays, with the rest of its folder, and is "
                  "yours now; --force removes it, too");
}

static void tell_backup(struct sync *s)
{
    struct str backup = provision_backup(s->layer.provision);

    if (backup.n)
        term_note(&s->inv->term, "what was there before is in %.*s",
                  STR_ARG(backup));
}

static void tell_absolute_paths(struct sync *s)
{
    struct str files = provision_absolute_files(s->layer.provision);

    if (files.n)
        term_note(&s->inv->term,
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

static bool finish_unchanged(struct sync *s)
{
    if (has_option(s->inv, OPTION_JSON))
        sync_print_json(s, NULL, 0);
    tell_result(s, 0);
    return true;
}

bool sync_finish(struct sync *s, struct err *e)
{
    struct arena *a = &s->inv->arena;
    struct placing placing = {s->store, link_wish(s->inv)};
    struct provision_options o = {
        .shared_dir = store_shared_dir(s->store),
        .force = has_option(s->inv, OPTION_FORCE),
        .keep_edited = s->keep_edited,
        .objects = {place_object, read_object, &placing},
    };
    struct provision_item *items =
        arena_array(a, s->plan.count + 1, sizeof *items);
    struct provision_text texts[8];
    struct provision_change *changes = NULL;
    size_t text_count, change_count = 0, servers = 0;

    o.clients = wished_clients(s, &o.client_count);
    if (!check_clients(o.clients, o.client_count, e))
        return false;
    for (size_t i = 0; i < s->plan.count; i++)
        fill_item(&s->packages[i], &items[i]);
    if (is_in_place(s, &o, items))
        return finish_unchanged(s);
    if (!find_files(s, items, e) || !find_commands(s, &servers, e) ||
        !list_texts(s, texts, &text_count, e) ||
        !provision_plan(s->layer.provision, &o, items, s->plan.count, texts,
                        text_count, a, &changes, &change_count, e) ||
        !sync_mark_placed(s, changes, change_count, e))
        return false;
    s->changed = change_count > 0;
    if (!has_option(s->inv, OPTION_JSON) &&
        ((!has_option(s->inv, OPTION_QUIET) && !s->again) || s->dry_run ||
         (servers && !has_option(s->inv, OPTION_YES))))
        sync_show_plan(s);
    if (!term_flush(&s->inv->term, e) || !ask_consent(s, servers, e) ||
        !keep(s, e))
        return false;
    tell_kept(s);
    if (!s->dry_run && !apply(s, e))
        return false;
    if (has_option(s->inv, OPTION_JSON))
        sync_print_json(s, changes, change_count);
    tell_result(s, change_count);
    return true;
}

#include "ingest.h"

#include "base/digest.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/lock.h"
#include "mapm/mcp_file.h"
#include "mapm/origin.h"
#include "mapm/package_files.h"

#include "index.h"
#include "names.h"
#include "plugins.h"
#include "proof.h"
#include "selection.h"
#include "versions.h"

/* --- the summary: what the resolver needs, kept in the index -------------- */

#define SUMMARY_MAX_BYTES (8u * 1024 * 1024)

/* Used instead of a repository for validations by digest. Older versions used
 * "digest" for data of the lock and "document" for that of one folder. */
#define BY_DIGEST STR("judgement")

static void put_field(struct buf *b, struct str s)
{
    buf_printf(b, "%zu:", s.n);
    buf_append(b, s);
}

static bool take_field(struct str *rest, struct str *field)
{
    uint64_t n;
    size_t colon = str_find_char(*rest, ':');

    if (colon == SIZE_MAX ||
        !str_number(str_slice(*rest, 0, colon), rest->n, &n) ||
        n > rest->n - colon - 1)
        return false;
    *field = str_slice(*rest, colon + 1, colon + 1 + (size_t)n);
    *rest = str_from_index(*rest, colon + 1 + (size_t)n);
    return true;
}

static struct str format_summary(const struct node *n, struct arena *a)
{
    char flags[3] = {n->package.is_metaskill ? 'm' : '-', n->hidden ? 'h' : '-',
                     n->rewritten ? 'r' : '-'};
    struct buf b;
    struct str text;

    buf_init(&b, SUMMARY_MAX_BYTES);
    put_field(&b, n->own_fqn);
    put_field(&b, n->package.version);
    put_field(&b, str_make(flags, sizeof flags));
    put_field(&b, n->package.prereqs);
    for (size_t i = 0; i < n->package.dep_count; i++) {
        put_field(&b, str_cstr(doc_kind_name(n->package.deps[i].kind)));
        put_field(&b, n->package.deps[i].origin->text);
    }
    text = arena_str(a, buf_str(&b));
    buf_done(&b);
    return text;
}

/* up to this number, dependencies are searched linearly */
#define FEW_NEEDS 16

/* Returns the origin of a dependency in the lock if it is spelled the same. */
static const struct origin *locked_need(const struct node *n, struct str text)
{
    if (!n->locked || n->package.dep_count > FEW_NEEDS)
        return NULL;
    for (size_t i = 0; i < n->package.dep_count; i++)
        if (str_eq(n->package.deps[i].origin->text, text))
            return n->package.deps[i].origin;
    return NULL;
}

/* Stores the origin of a dependency, which a node usually has already. `key`
 * may be another spelling of `text`; then no node has it. */
static bool copy_origin(struct closure *c, const struct node *n,
                        struct str text, struct str key, struct arena *a,
                        const struct origin **out, struct err *e)
{
    const struct node *known;
    struct origin *copy;

    *out = locked_need(n, text);
    if (*out)
        return true;
    known = closure_find(c, key);
    if (known && !known->origin->is_short &&
        str_eq(known->origin->text, text)) {
        *out = known->origin;
        return true;
    }
    *out = copy = arena_new(a, struct origin);
    return n->origin->scheme == ORIGIN_OWN
               ? origin_parse_here(text, &c->layer->rules, a, copy, e)
           : n->package.kind == DOC_PLUGIN
               ? origin_parse_part(text, &c->layer->rules, a, copy, e)
               : origin_parse(text, &c->layer->rules, a, copy, e);
}

/* Fills the members of a node's package that follow from kind, FQN and
 * digest. */
static void fill_package(struct closure *c, struct node *n, enum doc_kind kind,
                         struct str fqn, struct arena *a)
{
    n->own_fqn = fqn;
    n->package.kind = kind;
    n->package.origin = n->origin;
    node_set_name(n, node_recorded_name(c, n, kind, fqn));
    /* the content of a linked package can change at any time, so it equals only
     * itself */
    n->package.content = n->origin->scheme == ORIGIN_OWN
                             ? n->origin->key
                             : digest_format(&n->digest, a);
    n->package.user = n;
}

static size_t count_fields(struct str rest)
{
    struct str field;
    size_t n = 0;

    while (take_field(&rest, &field))
        n++;
    return n;
}

bool node_from_summary(struct closure *c, struct node *n, enum doc_kind kind,
                       struct str summary, struct arena *a, struct err *e)
{
    struct str rest = summary, fqn, flags, word;
    struct dependency *deps = NULL;
    size_t count = 0;

    if ((kind != DOC_AGENT && kind != DOC_SKILL && kind != DOC_MCP) ||
        !take_field(&rest, &fqn) || !take_field(&rest, &n->package.version) ||
        !take_field(&rest, &flags) || flags.n != 3 ||
        !take_field(&rest, &n->package.prereqs))
        return err_set(e, ERR_DAMAGED, "a summary in mapm.db is malformed");
    if (rest.n)
        deps = arena_array(a, count_fields(rest) / 2 + 1, sizeof *deps);
    while (rest.n) {
        struct str text;

        if (!take_field(&rest, &word) || !take_field(&rest, &text) ||
            !doc_kind_find(word, &deps[count].kind) ||
            !copy_origin(c, n, text, text, a, &deps[count].origin, e))
            return err_set(e, ERR_DAMAGED, "a summary in mapm.db is malformed");
        count++;
    }
    n->package.is_metaskill = flags.p[0] == 'm';
    n->hidden = flags.p[1] == 'h';
    n->rewritten = flags.p[2] == 'r';
    if (n->hidden && !c->options.allow_hidden)
        return err_set(e, ERR_REFUSED, "its text has hidden characters");
    n->package.version = arena_str(a, n->package.version);
    n->package.prereqs = arena_str(a, n->package.prereqs);
    fill_package(c, n, kind, arena_str(a, fqn), a);
    n->package.deps = deps;
    n->package.dep_count = count;
    return true;
}

/* --- judging -------------------------------------------------------------- */

/* Returns "skills/pdf of acme/tools" for messages. */
static const char *shown(const struct node *n, struct arena *a)
{
    return str_dup0(n->origin->text, a);
}

/* Returns the lock entry, also of a package of the workspace itself. */
static const struct lock_entry *find_locked(const struct closure *c,
                                            const struct node *n)
{
    return n->origin->scheme == ORIGIN_OWN
               ? map_find(&c->layer->by_origin, n->origin->key)
               : n->locked;
}

static void note_warnings(struct closure *c, const struct node *n,
                          const struct diagnostics *why)
{
    for (size_t i = 0; i < why->count; i++) {
        const struct diagnostic *w = &why->items[i];

        if (w->error || !diagnostic_is_for_user(w))
            continue;
        /* its root sets the name */
        if (n->alias.n && str_starts(str_cstr(w->code), STR("name-")))
            continue;
        /* locked packages were reported when they were locked */
        if (!find_locked(c, n))
            notice_add(&c->notices, str_cstr(w->code), n->origin->text,
                       w->message);
    }
}

bool ingest_entry_text(struct closure *c, enum doc_kind kind,
                       const struct package_files *p, struct arena *a,
                       struct str *text, struct err *e)
{
    const struct package_file *f =
        kind == DOC_MCP ? &p->files[0]
                        : package_files_find(p, str_cstr(doc_entry_file(kind)));

    if (!f)
        return err_set(e, ERR_PATH, "there is no %s", doc_entry_file(kind));
    return store_read(c->store, &f->hash,
                      kind == DOC_MCP ? MCP_MAX_BYTES : ANCHOR_MAX_BYTES, a,
                      text, e);
}

static bool is_for_contributors(const struct node *n, enum doc_kind kind,
                                const struct diagnostics *why)
{
    /* an AGENTS.md at the root of a repository is usually for its
     * contributors */
    return kind == DOC_AGENT && n->origin->scheme == ORIGIN_GIT &&
           n->path.n == 0 &&
           str_is(str_cstr(why->items[0].code), "no-frontmatter");
}

static struct str first_error(const struct diagnostics *why, struct arena *a)
{
    for (size_t i = 0; i < why->count; i++)
        if (why->items[i].error)
            return arena_str(a, str_cstr(why->items[i].code));
    return str_make("", 0);
}

/* characters of "- name: description" and LF besides the texts; clients print
 * about as many */
#define LIST_LINE_CHARS 5

static void notice_text(struct closure *c, struct node *n,
                        const struct document *d)
{
    struct arena *a = &c->cx->arena;
    struct node_words *w = arena_new(a, struct node_words);

    w->description = text_one_line(d->description, a);
    w->tokens = d->load_size_tokens;
    w->list_chars =
        text_count(d->name) + text_count(w->description) + LIST_LINE_CHARS;
    w->is_disabled = d->disable_model_invocation;
    if (d->kind == DOC_MCP && d->mcp)
        w->command = mcp_command_line(d, a);
    n->words = w;
}

/* Checks placeholders at user level, where there is no workspace [H8]. */
static bool check_level(const struct closure *c, struct node *n,
                        const struct document *d, struct err *e)
{
    if (!c->layer->is_global || d->kind != DOC_MCP || node_is_derived(n) ||
        mcp_mention(d->mcp, "${workspaceDir}").n == 0)
        return true;
    node_make_rare(n, &c->cx->arena)->fault = STR("mcp-workspace");
    err_set(e, ERR_MCP, "%.*s: ${workspaceDir} is no folder at user level",
            STR_ARG(d->name));
    return err_hint(e, "install it in each workspace that needs it, without "
                       "-g");
}

static bool validate(struct closure *c, struct node *n, enum doc_kind kind,
                     struct str text, const struct manifest_files *files,
                     struct str folder, struct diagnostics *why,
                     struct document *out, struct err *e)
{
    struct arena *a = why->arena;
    const struct lock_entry *locked = find_locked(c, n);
    struct manifest_input in = {
        .kind = kind,
        .text = text,
        .folder = folder,
        .files = files,
        .rules = &c->layer->rules,
        .profile = PROFILE_INSTALL,
        .allow_own = n->origin->scheme == ORIGIN_OWN,
        .allow_file = n->origin->scheme == ORIGIN_FILE,
        .allow_hidden =
            c->options.allow_hidden || (locked && locked->allow_hidden),
    };

    manifest_read(&in, a, out, why);
    if (c->options.describes && (why->errors == 0 || kind != DOC_MCP))
        notice_text(c, n, out);
    if (why->errors == 0)
        return check_level(c, n, out, e);
    node_make_rare(n, &c->cx->arena)->fault = first_error(why, &c->cx->arena);
    if (is_for_contributors(n, kind, why)) {
        err_set(e, ERR_PATH,
                "%s offers no skill, agent or MCP server: its AGENTS.md is for "
                "those who work on it",
                shown(n, a));
        return err_hint(e, "name the folder of a skill or an agent in it");
    }
    return diagnostics_fail(why, kind, shown(n, a), e);
}

bool ingest_validate(struct closure *c, struct node *n, enum doc_kind kind,
                     const struct package_files *p, struct str folder,
                     struct arena *a, struct document *out, struct err *e)
{
    struct manifest_files files = package_files_reader(p);
    struct diagnostics why;
    struct str text;
    bool ok;

    if (!ingest_entry_text(c, kind, p, a, &text, e))
        return err_wrap(e, "%s", shown(n, a));
    diagnostics_init(&why, a);
    ok = validate(c, n, kind, text, &files, folder, &why, out, e);
    note_warnings(c, n, &why);
    return ok;
}

/* Copies the document from the scratch arena to the permanent one. */
static bool copy_document(struct closure *c, struct node *n,
                          const struct document *d, struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct dependency *deps = NULL;

    if (d->dep_count)
        deps = arena_array(a, d->dep_count, sizeof *deps);
    for (size_t i = 0; i < d->dep_count; i++) {
        struct origin o = *d->deps[i].origin;

        deps[i].kind = d->deps[i].kind;
        deps[i].line = d->deps[i].line;
        if ((n->origin->scheme == ORIGIN_OWN &&
             !layer_rebase_need(c->layer, n->origin->path, &o, a, e)) ||
            !copy_origin(c, n, o.text, o.key, a, &deps[i].origin, e))
            return false;
    }
    n->package.version = arena_str(a, d->version);
    n->package.prereqs = arena_str(a, d->prereqs);
    n->package.is_metaskill = d->metaskill;
    n->hidden = d->hidden;
    n->rewritten = d->name_replaced;
    fill_package(c, n, d->kind, arena_str(a, d->fqn), a);
    n->package.deps = deps;
    n->package.dep_count = d->dep_count;
    return true;
}

static bool differs(const struct node *n, const char *what, struct str own,
                    struct err *e)
{
    err_set(e, ERR_DAMAGED,
            "mapm.lock:%u: %s %.*s: the package itself %s%s%.*s",
            n->locked->line, doc_kind_name(n->locked->kind),
            STR_ARG(n->locked->name), what, own.n ? " " : "", STR_ARG(own));
    return err_hint(e, "the lock was edited by hand: take it from version "
                       "control again, or remove the entry and run mapm "
                       "install");
}

/* Returns the dependency in the lock that the origin leads to, or SIZE_MAX. */
static size_t find_need(const struct closure *c, const struct node *n,
                        const struct origin *o)
{
    const struct lock_entry *other;

    for (size_t i = 0; i < n->package.dep_count; i++)
        if (n->package.deps[i].origin == o)
            return i; /* found by locked_need() */
    other = map_find(&c->layer->by_origin, o->key);
    return other ? lock_find_need(n->locked, other) : SIZE_MAX;
}

/* Returns whether the dependencies in the document equal those in the lock. */
static bool same_needs(struct closure *c, const struct node *n,
                       const struct package *own, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t count = 0, all = n->locked->need_count;
    bool *found = own->dep_count ? arena_array(&a, all + 1, 1) : NULL;

    for (size_t i = 0; i < own->dep_count; i++) {
        size_t need = find_need(c, n, own->deps[i].origin);

        if (need == SIZE_MAX)
            return differs(n, "needs", own->deps[i].origin->text, e);
        count += !found[need];
        found[need] = true;
    }
    return count == all ||
           differs(n, "does not need all that is said", str_make("", 0), e);
}

static const struct origin *copy_need(struct closure *c, const struct origin *o)
{
    const struct node *known = closure_find(c, o->key);
    struct arena *a = &c->cx->arena;
    struct origin *copy;
    struct err ignored = {0};

    if (known && !known->origin->is_short)
        return known->origin;
    copy = arena_new(a, struct origin);
    return origin_parse_part(arena_str(a, o->text), &c->layer->rules, a, copy,
                             &ignored)
               ? copy
               : NULL;
}

/* Uses the origins in the document for dependencies that have several, since
 * the lock does not record which is meant and each may be a range. */
static void take_own_origins(struct closure *c, struct node *n,
                             const struct package *own)
{
    struct dependency *deps;
    bool any = false;

    for (size_t i = 0; i < own->dep_count && !any; i++) {
        const struct lock_entry *other =
            map_find(&c->layer->by_origin, own->deps[i].origin->key);

        any = other && other->also_count &&
              !str_eq(layer_origin(c->layer, other)->key,
                      own->deps[i].origin->key);
    }
    if (!any)
        return;
    deps = arena_array(&c->cx->arena, own->dep_count, sizeof *deps);
    for (size_t i = 0; i < own->dep_count; i++) {
        deps[i] = own->deps[i];
        deps[i].origin = copy_need(c, own->deps[i].origin);
        if (!deps[i].origin)
            return;
    }
    n->package.deps = deps;
    n->package.dep_count = own->dep_count;
    node_known(c, n);
}

/* Checks that folder or key in the lock may result from its name. */
static bool same_place(const struct node *n, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct lock_entry *entry = n->locked;
    struct package p = {
        .kind = entry->kind, .fqn = entry->name, .origin = n->origin};

    if (!entry->place.n)
        return true; /* taken by another package of a merged lock */
    p.name = name_short(p.kind, p.fqn);
    return resolver_may_assign(
               &p, p.kind == DOC_MCP ? entry->place : path_last(entry->place),
               &a) ||
           differs(n, "is never put into", entry->place, e);
}

static bool same_flags(const struct node *n, bool hidden, bool rewritten,
                       struct err *e)
{
    if (hidden != n->locked->allow_hidden)
        return differs(
            n, hidden ? "has hidden characters" : "has no hidden characters",
            str_make("", 0), e);
    if (rewritten != n->locked->rewritten)
        return differs(n,
                       rewritten ? "has a name that cannot be used"
                                 : "has a name that can be used",
                       str_make("", 0), e);
    return true;
}

/* Compares the version; an agent made of a plugin's files has that of the
 * plugin. */
static bool same_version(const struct closure *c, const struct node *n,
                         struct err *e)
{
    const struct lock_entry *entry = n->locked;
    const struct lock_entry *plugin =
        layer_find(c->layer, DOC_PLUGIN, entry->plugin);
    struct str own =
        entry->kind == DOC_AGENT && plugin ? plugin->version : STR("");

    return !plugin || str_eq(own, entry->version) ||
           differs(n, own.n ? "has version" : "has no version", own, e);
}

/* Reads the dependencies from the document, because a merged lock lacks
 * them. */
static bool take_own_needs(struct closure *c, struct node *n,
                           const struct package *own)
{
    n->package.deps = own->deps;
    n->package.dep_count = own->dep_count;
    node_known(c, n);
    return true;
}

/* Compares the node with the lock; `own` is the FQN in its document. */
static bool same_as_locked(struct closure *c, struct node *n,
                           const struct node *own, struct err *e)
{
    const struct lock_entry *entry = n->locked;

    n->package.prereqs = arena_str(&c->cx->arena, own->package.prereqs);
    n->package.is_metaskill = own->package.is_metaskill;
    if (!str_eq(own->own_fqn, lock_own_name(entry)) ||
        own->package.kind != entry->kind)
        return differs(n, "is named", own->own_fqn, e);
    if (entry->declared.n && !entry->plugin.n &&
        str_eq(n->package.fqn, entry->name) && !str_eq(n->alias, entry->name) &&
        !node_is_given_name(c, n))
        return differs(n,
                       "has no folder or root that gives it this name; its "
                       "own is",
                       own->own_fqn, e);
    if (!str_eq(own->package.version, entry->version))
        return own->package.version.n
                   ? differs(n, "has version", own->package.version, e)
                   : differs(n, "has no version", own->package.version, e);
    if (!same_flags(n, own->hidden, own->rewritten, e) || !same_place(n, e))
        return false;
    if (c->layer->has_conflict && !layer_is_local(c->layer, entry))
        return take_own_needs(c, n, &own->package);
    if (!same_needs(c, n, &own->package, e))
        return false;
    take_own_origins(c, n, &own->package);
    return true;
}

/* Compares the document with the lock, and computes its summary independently
 * of the lock. */
static bool fits_document(struct closure *c, struct node *n,
                          const struct document *d, struct arena *scratch,
                          struct err *e)
{
    struct node own = *n;

    if (!copy_document(c, &own, d, e))
        return false;
    n->summary = format_summary(&own, scratch);
    return same_as_locked(c, n, &own, e);
}

/* --- the index ------------------------------------------------------------ */

/* The key of a summary. Equal files may have another meaning with another kind
 * or folder name, because the folder replaces an unusable name. */
static struct str summary_key(enum doc_kind kind, struct str path,
                              struct arena *a)
{
    return layer_name_key(kind, path_last(path), a);
}

/* Caches the commit and the package of the ref of an origin. */
static bool remember_ref(struct closure *c, const struct node *n,
                         const struct origin *asked, struct str repository,
                         const struct state_package *p, struct arena *a,
                         struct err *e)
{
    const struct origin *source = node_source(n);
    struct state_ref ref = {n->ref, n->package.commit, n->path};

    /* with other bounds a range has another result */
    if (node_rare(n)->allowed.n)
        return store_put_package(c->store, repository, n->package.commit,
                                 n->path, p, e);
    /* both as typed for the default branch and in full */
    if (source->is_short && source->ref.n == 0 &&
        (!store_put_ref(c->store, repository,
                        arena_printf(a, "%.*s@", STR_ARG(source->path)), &ref,
                        e) ||
         !closure_note_default(c, n, e)))
        return false;
    return store_put_ref(c->store, repository, asked->rest, &ref, e) &&
           store_put_package(c->store, repository, n->package.commit, n->path,
                             p, e);
}

/* Caches validations by digest and origins by commit. */
static bool remember(struct closure *c, const struct node *n, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct arena *a = &scratch;
    struct state_package p = {
        .kind = (unsigned)n->package.kind,
        .object = n->object,
        .digest = n->digest,
        .summary = n->summary,
    };
    struct origin asked = *node_source(n);
    struct str repository;
    struct state_proof proof = {.commit = n->package.commit,
                                .path = n->path,
                                .object = n->object,
                                .digest = n->digest};
    bool is_plain = n->package.kind != DOC_PLUGIN && !node_is_derived(n);

    if (is_plain &&
        !store_put_package(c->store, BY_DIGEST, n->package.content,
                           summary_key(n->package.kind, n->path, a), &p, e))
        return false;
    if (asked.scheme == ORIGIN_INDEX)
        return proof_put_artifact(c->store, index_artifact(n), index_url(n),
                                  &n->digest, e);
    if (asked.scheme != ORIGIN_GIT)
        return true;
    if (n->locked)
        asked = *closure_locked_origin(c, n);
    else if (asked.is_short)
        origin_complete(&asked, node_slot(n, a), n->path, a, &asked);
    repository = origin_repository(&asked, a);
    proof.repository = repository;
    proof.path =
        proof_path(n->origin, n->path, node_rare(n)->catalog_commit, a);
    if (!proof_put(c->store, &proof, &asked, e))
        return false;
    /* the ref of a locked or pinned package may have moved */
    return !is_plain || n->locked || node_rare(n)->pin.n ||
           remember_ref(c, n, &asked, repository, &p, a, e);
}

static bool note(struct closure *c, const struct node *n,
                 const struct fetch_event *event, struct err *e)
{
    if (!store_begin(c->store, e))
        return false;
    for (size_t i = 0; event && i < event->file_count; i++)
        if (event->files[i].oid.n &&
            !store_put_blob(c->store, event->files[i].oid,
                            &event->files[i].hash, event->files[i].size, e))
            return false;
    return remember(c, n, e) && store_commit(c->store, e);
}

/* Writes to the index. A failure only costs a fetch later, except that an index
 * of a newer mapm must not be changed. */
static bool note_or_warn(struct closure *c, const struct node *n,
                         const struct fetch_event *event, struct err *e)
{
    struct err problem = {0};

    if (note(c, n, event, &problem))
        return true;
    if (problem.code == ERR_REFUSED) {
        *e = problem;
        return false;
    }
    if (!c->index_warned)
        context_warn(c->cx, "%s", err_first(&problem));
    c->index_warned = true;
    return true;
}

bool ingest_note(struct closure *c, const struct node *n, struct err *e)
{
    return note_or_warn(c, n, NULL, e);
}

/* --- plugins and their parts ------------------------------------------------ */

bool ingest_derived(struct closure *c, struct node *n, enum doc_kind kind,
                    struct str own_fqn, struct err *e)
{
    n->files = NULL;
    n->hidden = n->rewritten = false;
    fill_package(c, n, kind, own_fqn, &c->cx->arena);
    if (n->locked)
        node_set_name(n, node_locked_name(c, n));
    n->summary = STR("");
    if (!note_or_warn(c, n, NULL, e))
        return false;
    node_ready(c, n);
    return true;
}

bool ingest_check_derived(const struct node *n, struct str own_fqn,
                          struct str version, struct err *e)
{
    const struct lock_entry *entry = n->locked;
    const struct node *owner = node_rare(n)->owner;

    if (!str_eq(own_fqn, lock_own_name(entry)))
        return differs(n, "is named", own_fqn, e);
    if (!str_eq(entry->commit, owner->package.commit))
        return differs(n, "is in its plugin at commit", owner->package.commit,
                       e);
    if (!str_eq(entry->object, owner->object))
        return differs(n, "is in its plugin's tree", owner->object, e);
    if (!str_eq(version, entry->version))
        return differs(n, version.n ? "has version" : "has no version", version,
                       e);
    return same_flags(n, n->hidden, n->rewritten, e) && same_place(n, e);
}

/* Returns whether the content equals the lock, so that the entry does not
 * change, whatever the commit is now. */
static bool is_as_locked(const struct closure *c, const struct node *n)
{
    const struct lock_entry *entry =
        map_find(&c->layer->by_origin, n->origin->key);
    struct hash digest;

    return entry && !n->locked && n->origin->scheme == ORIGIN_GIT &&
           str_eq(entry->object, n->object) &&
           digest_parse(entry->digest, &digest) && hash_eq(&digest, &n->digest);
}

static bool ingest_plugin(struct closure *c, struct node *n, struct err *e)
{
    n->package.kind = DOC_PLUGIN;
    n->package.origin = n->origin;
    n->package.user = n;
    n->summary = STR("");
    if (n->locked && n->origin->scheme == ORIGIN_GIT)
        return plugin_check_locked(c, n, e);
    /* only once: an unproved entry returns here, as changed if the lock
     * contradicts its files */
    n->stays = !n->stays && !n->is_changed && !node_rare(n)->allowed.n &&
               is_as_locked(c, n);
    if (n->stays)
        return true;
    if (!plugin_take_parts(c, n, e))
        return false;
    fill_package(c, n, DOC_PLUGIN, n->plugin->plugin.name, &c->cx->arena);
    return true;
}

/* --- arriving ------------------------------------------------------------- */

/* Refuses a package that mapm.lock could not name. */
static bool check_path(const struct node *n, struct arena *scratch,
                       struct err *e)
{
    if (n->origin->scheme != ORIGIN_GIT || n->path.n == 0 ||
        !origin_path_fault(n->path))
        return true;
    return err_set(e, ERR_REFUSED,
                   "its path \"%.*s\" has a character that origins cannot "
                   "have, such as # or %%",
                   STR_ARG(text_shown(n->path, scratch)));
}

bool ingest_files(struct closure *c, struct node *n, enum doc_kind kind,
                  struct package_file *files, size_t count, struct str folder,
                  struct arena *scratch, struct err *e)
{
    struct package_files p = {c->store, files, count};
    struct document d = {0};
    struct str listing;
    struct hash digest;

    if (count == 0)
        return err_set(e, ERR_PATH, "%s: an empty folder", shown(n, scratch));
    if (!check_path(n, scratch, e))
        return false;
    digest = store_listing_format(files, count, scratch, &listing);
    if (n->locked && origin_is_remote(n->origin) &&
        !hash_eq(&digest, &n->digest)) {
        err_set(e, ERR_DAMAGED,
                "mapm.lock:%u: %.*s: what was fetched has another "
                "digest (sha256:%.*s)",
                n->locked->line, STR_ARG(n->locked->name),
                STR_ARG(hash_hex(&digest, scratch)));
        return err_hint(e, "was the lock edited? take it from version control "
                           "again, or delete it and run mapm install");
    }
    n->digest = digest;
    n->files = NULL;
    if (kind == DOC_PLUGIN)
        return store_put(c->store, listing, &digest, e) &&
               ingest_plugin(c, n, e);
    if (!ingest_validate(c, n, kind, &p, folder, scratch, &d, e) ||
        !store_put(c->store, listing, &digest, e))
        return false;
    if (n->locked && origin_is_remote(n->origin))
        return fits_document(c, n, &d, scratch, e);
    if (!copy_document(c, n, &d, e))
        return false;
    /* a copy can be renamed, a link cannot */
    if (n->rewritten && n->origin->scheme == ORIGIN_OWN)
        return err_set(e, ERR_NAME,
                       "%s: its name cannot be used: mapm check says why",
                       shown(n, scratch));
    n->summary = format_summary(n, scratch);
    return true;
}

void ingest_manifest(struct closure *c, struct node *n,
                     const struct fetch_event *event, struct arena *scratch)
{
    struct manifest_input in = {
        .kind = event->doc,
        .text = event->manifest,
        .folder = path_last(event->path),
        .rules = &c->layer->rules,
        .profile = PROFILE_INSTALL,
        .allow_hidden = true,
        .skip_body = true,
    };
    struct document d = {0};
    struct diagnostics why;

    if (event->doc == DOC_MCP || c->options.alone)
        return;
    diagnostics_init(&why, scratch);
    manifest_read(&in, scratch, &d, &why);
    if (why.errors)
        return; /* it will be refused in any case, so fetch nothing more */
    for (size_t i = 0; i < d.dep_count; i++) {
        struct err ignored = {0};
        const struct origin *o;

        if (copy_origin(c, n, d.deps[i].origin->text, d.deps[i].origin->key,
                        &c->cx->arena, &o, &ignored) &&
            o->scheme == ORIGIN_GIT)
            closure_add_kept(c, o, (unsigned)d.deps[i].kind);
    }
}

/* --- before the files are here -------------------------------------------- */

struct names {
    const struct fetch_file *files;
    size_t count;
};

/* Returns empty content for files that are known only by name; the package is
 * validated again when it has arrived. */
static enum manifest_file read_name(void *ctx, struct str path,
                                    size_t max_bytes, struct arena *a,
                                    struct str *content)
{
    const struct names *names = ctx;

    (void)a;
    if (max_bytes)
        *content = str_make("", 0);
    for (size_t i = 0; i < names->count; i++)
        if (str_eq(names->files[i].path, path))
            return MANIFEST_FILE_OK;
    return MANIFEST_FILE_MISSING;
}

/* Returns an id that is equal for equal files with links resolved, in place of
 * a digest. */
static struct str outline_id(const struct fetch_event *event, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct hash hash;

    buf_init(&b, SIZE_MAX / 4);
    for (size_t i = 0; i < event->file_count; i++)
        buf_printf(&b, "%d %.*s %.*s\n", event->files[i].executable,
                   STR_ARG(event->files[i].oid), STR_ARG(event->files[i].path));
    hash = hash_of(buf_str(&b));
    return str_join(STR(OUTLINE_PREFIX), hash_hex(&hash, a), a);
}

bool ingest_outline(struct closure *c, struct node *n,
                    const struct fetch_event *event, struct arena *scratch,
                    struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct names names = {event->files, event->file_count};
    struct manifest_files files = {read_name, &names};
    struct document d = {0};
    struct diagnostics why;

    n->ref = arena_str(a, event->ref);
    n->package.commit = arena_str(a, event->commit);
    n->path = arena_str(a, event->path);
    n->object = arena_str(a, event->object);
    node_complete_origin(c, n);
    diagnostics_init(&why, scratch);
    if (!check_path(n, scratch, e) ||
        !validate(c, n, event->doc, event->manifest, &files,
                  path_last(event->path), &why, &d, e) ||
        !copy_document(c, n, &d, e))
        return false;
    n->package.content = outline_id(event, a);
    n->document = hash_of(event->manifest);
    n->is_outlined = true;
    node_known(c, n);
    return true;
}

/* --- and when they are ---------------------------------------------------- */

static bool adopt_files(struct closure *c, const struct fetch_event *event,
                        struct package_file *files, struct err *e)
{
    for (size_t i = 0; i < event->file_count; i++) {
        const struct fetch_file *f = &event->files[i];

        files[i] = (struct package_file){f->executable, f->hash, f->path};
        if (!store_adopt(c->store, &c->session, f->offset, f->size, &f->hash,
                         e))
            return err_wrap(e, "%.*s", STR_ARG(f->path));
    }
    return true;
}

static void warn_about_lfs(struct closure *c, const struct node *n,
                           const struct fetch_event *event)
{
    for (size_t i = 0; i < event->file_count; i++) {
        if (!event->files[i].is_lfs)
            continue;
        notice_add(&c->notices, STR("lfs"), n->origin->text,
                   arena_printf(&c->cx->arena,
                                "%.*s is a Git LFS pointer, not the file "
                                "itself; mapm does not fetch from LFS",
                                STR_ARG(event->files[i].path)));
    }
}

void node_complete_origin(struct closure *c, struct node *n)
{
    struct arena *a = &c->cx->arena;
    struct str ref = node_slot(n, a);
    struct origin full = *n->origin;

    if (full.is_short && n->source)
        origin_complete(&full, ref.n ? ref : STR("main"), full.path, a, &full);
    if (n->source && n->source->is_short)
        origin_complete(n->source, ref.n ? ref : n->package.commit, n->path, a,
                        n->source);
    if (full.is_short || (full.is_spelled_out && n->ref.n))
        origin_complete(&full, ref, n->path, a, &full);
    if (full.text.p != n->origin->text.p)
        node_set_origin(c, n, &full);
    if (!map_has(&c->nodes, n->origin->key))
        map_put(&c->nodes, n->origin->key, n);
    n->package.origin = n->origin;
}

/* Ingests a node again that became a root; only its name changes. */
static bool ingest_again(struct node *n)
{
    n->package.kind = DOC_PLUGIN;
    n->package.user = n;
    n->is_ready = true;
    return true;
}

static bool add_own_files(struct closure *c, struct node *n,
                          const struct fetch_event *event,
                          struct package_file *files, size_t *count,
                          struct arena *scratch, struct err *e)
{
    bool *outside = arena_array(scratch, *count + 1, sizeof *outside);

    for (size_t i = 0; i < *count; i++)
        outside[i] = event->files[i].is_outside;
    return plugin_add_files(c, n, files, count, outside, scratch, e);
}

/* Keeps the entry of an unchanged skill of a plugin. */
static void reuse_locked_commit(struct closure *c, struct node *n)
{
    const struct lock_entry *entry =
        map_find(&c->layer->by_origin, n->origin->key);

    if (n->is_part && entry && is_as_locked(c, n))
        n->package.commit = entry->commit;
}

bool ingest_package(struct closure *c, struct node *n,
                    const struct fetch_event *event, struct arena *scratch,
                    struct err *e)
{
    struct arena *a = &c->cx->arena;
    size_t count = event->file_count;
    struct package_file *files = arena_array(scratch, count + 3, sizeof *files);

    n->path = arena_str(a, event->path);
    if (n->is_sharing)
        n->ref =
            node_tag(n, a).n ? node_tag(n, a) : proof_ref(n->origin, n->path);
    if (!n->locked) {
        n->ref = node_rare(n)->pin.n ? n->ref : arena_str(a, event->ref);
        n->package.commit = arena_str(a, event->commit);
        n->object = arena_str(a, event->object);
    }
    if (!adopt_files(c, event, files, e))
        return false;
    if (event->doc == DOC_MARKET)
        return plugin_ingest_market(c, n, files, count, e);
    if (event->doc == DOC_PLUGIN) {
        node_complete_origin(c, n);
        if (closure_make_plugin(c, n) != n)
            return ingest_again(n);
        if (!add_own_files(c, n, event, files, &count, scratch, e))
            return false;
    }
    if (!ingest_files(c, n, event->doc, files, count, path_last(event->path),
                      scratch, e))
        return false;
    if (event->doc == DOC_PLUGIN && n->stays && !n->locked)
        return true;
    if (!note_or_warn(c, n, event, e))
        return false;
    warn_about_lfs(c, n, event);
    node_complete_origin(c, n);
    reuse_locked_commit(c, n);
    node_ready(c, n);
    return true;
}

/* Publishes the resolved ref for processes that wait for it. */
static void record_catalog(struct closure *c, const struct node *n)
{
    struct arena *a = &c->cx->arena;
    struct state_ref ref = {n->ref, n->package.commit, n->path};
    struct err ignored = {0};

    if (!n->is_catalog || n->is_ref_known ||
        origin_names_commit(node_source(n)))
        return;
    if (!store_put_ref(c->store, origin_repository(node_source(n), a),
                       closure_rest(n, a), &ref, &ignored) ||
        (node_source(n)->is_short && node_source(n)->ref.n == 0 &&
         !closure_note_default(c, n, &ignored)))
        err_clear(&ignored); /* the other processes then ask themselves */
}

void ingest_offers(struct closure *c, struct node *n,
                   const struct fetch_event *event)
{
    struct arena *a = &c->cx->arena;

    if (!n->is_ref_known) {
        n->ref = arena_str(a, event->ref);
        n->package.commit = arena_str(a, event->commit);
    }
    n->path = arena_str(a, event->path);
    record_catalog(c, n);
    n->offers = arena_array(a, event->offer_count + 1, sizeof *n->offers);
    n->elsewhere = arena_array(a, event->offer_count + 1, sizeof *n->elsewhere);
    n->offer_count = n->elsewhere_count = 0;
    for (size_t i = 0; i < event->offer_count; i++) {
        struct fetch_offer offer = event->offers[i];

        if (offer.kind == DOC_MARKET) {
            n->has_market = true;
            continue;
        }
        offer.path = arena_str(a, offer.path);
        if (offer.is_elsewhere)
            n->elsewhere[n->elsewhere_count++] = offer;
        else
            n->offers[n->offer_count++] = offer;
    }
}

bool ingest_check_locked(struct closure *c, struct node *n, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct package_files p = {.store = c->store};
    struct state_package known;
    struct package_file *files;
    struct document d = {0};
    struct node own = *n;
    struct err ignored = {0};
    /* keep the dependencies, which are not in a merged lock */
    struct arena *kept = c->layer->has_conflict ? &c->cx->arena : &scratch;

    if (n->locked->kind == DOC_PLUGIN)
        return plugin_check_locked(c, n, e);
    if (node_is_derived(n)) /* it is proved by the plugin that it was made of */
        return same_version(c, n, e) && same_flags(n, false, false, e) &&
               same_place(n, e);
    if (state_find_package(store_state(c->store), BY_DIGEST, n->package.content,
                           summary_key(n->locked->kind, n->path, &scratch),
                           kept, &known) &&
        node_from_summary(c, &own, (enum doc_kind)known.kind, known.summary,
                          kept, &ignored))
        return same_as_locked(c, n, &own, e);
    if (!store_read_listing(c->store, &n->digest, &scratch, &files, &p.count,
                            e))
        return false;
    p.files = files;
    return ingest_validate(c, n, n->locked->kind, &p, path_last(n->path),
                           &scratch, &d, e) &&
           fits_document(c, n, &d, &scratch, e);
}

static bool read_document(struct closure *c, const struct node *n,
                          bool with_body, struct arena *a, struct document *out,
                          struct err *e)
{
    struct package_files *p = arena_new(a, struct package_files);
    struct manifest_files *reader = arena_new(a, struct manifest_files);
    struct manifest_input in = {
        .kind = n->package.kind,
        .rules = &c->layer->rules,
        .profile = PROFILE_INSTALL,
        .allow_own = true,
        .allow_file = true,
        .allow_hidden = true,
        .skip_body = !with_body,
    };
    struct package_file *files;
    struct diagnostics why;

    p->store = c->store;
    if (!store_read_listing(c->store, &n->digest, a, &files, &p->count, e))
        return false;
    p->files = files;
    if (!ingest_entry_text(c, in.kind, p, a, &in.text, e))
        return false;
    *reader = package_files_reader(p);
    if (with_body)
        in.files = reader;
    diagnostics_init(&why, a);
    manifest_read(&in, a, out, &why);
    return true;
}

bool node_read_document(struct closure *c, const struct node *n,
                        struct arena *a, struct document *out, struct err *e)
{
    return read_document(c, n, false, a, out, e);
}

bool node_read_whole(struct closure *c, const struct node *n, struct arena *a,
                     struct document *out, struct err *e)
{
    return read_document(c, n, true, a, out, e);
}

bool node_find_words(struct closure *c, struct node *n, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct document d = {0};

    if (n->words || n->failed || !n->is_ready || n->package.kind == DOC_PLUGIN)
        return true;
    if (!read_document(c, n, true, &scratch, &d, e))
        return false;
    notice_text(c, n, &d);
    return true;
}

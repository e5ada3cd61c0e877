#include "plugins.h"

#include "base/digest.h"
#include "base/fs.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/doc_kind.h"
#include "mapm/lock.h"
#include "mapm/name.h"
#include "mapm/origin.h"
#include "mapm/package_files.h"
#include "mapm/plugin_market.h"

#include "local.h"
#include "notice.h"
#include "plugin_scope.h"

#define NAMES_MAX_SHOWN 3

/* --- the marketplace -------------------------------------------------------- */

/* Finds the marketplace; for a locked plugin, at the locked commit. */
static struct node *find_market(struct closure *c, struct node *n)
{
    struct arena *a = &c->cx->arena;
    struct str pin = n->locked ? n->locked->catalog_commit : STR("");
    struct origin o = origin_with_part(
        n->origin, pin.n ? str_join(STR("market="), pin, a) : STR("market"), a);
    struct node *market = closure_add(c, &o, DOC_MARKET);

    if (!market->is_resolved)
        node_make_rare(market, a)->pin = pin;
    return market;
}

/* Returns the folder of the marketplace, in its repository or on this
 * machine. */
static struct str market_root(const struct node *market, const struct market *m)
{
    struct str path = market->path;
    struct str file = str_cstr(m->file);

    if (str_eq(path, file))
        return str_make("", 0);
    return str_ends(path, file) && path.n > file.n
               ? str_slice(path, 0, path.n - file.n - 1)
               : str_make("", 0);
}

static struct str join(struct str folder, struct str path, struct arena *a)
{
    if (folder.n == 0 || path.n == 0)
        return folder.n ? folder : path;
    return fs_join(folder, path, a);
}

/* Returns the first range of `allowed`; the others are requested beside it. */
static struct str first_range(const struct node *n)
{
    return str_slice(node_rare(n)->allowed, 0,
                     str_find_char(node_rare(n)->allowed, ' '));
}

static bool take_here(struct closure *c, struct node *n, struct node *market,
                      const struct market_entry *entry, struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct str path =
        join(market_root(market, node_rare(market)->market), entry->path, a);
    struct origin base = origin_with_part(market->origin, STR(""), a);

    n->source = arena_new(a, struct origin);
    if (base.scheme == ORIGIN_GIT && node_rare(n)->allowed.n) {
        origin_complete(&base, first_range(n), path, a, n->source);
        return true;
    }
    if (base.scheme == ORIGIN_GIT) {
        origin_complete(&base, node_slot(market, a), path, a, n->source);
        node_make_rare(n, a)->pin = market->package.commit;
        n->ref = market->ref;
        return true;
    }
    path = join(base.path, entry->path, a);
    if (base.scheme == ORIGIN_OWN)
        return origin_parse_own(str_join(STR("./"), path, a), a, n->source, e);
    return origin_parse(str_join(STR("file:"), path, a), NULL, a, n->source, e);
}

static bool take_git(struct closure *c, struct node *n,
                     const struct market_entry *entry, struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct str ref = node_rare(n)->allowed.n ? first_range(n)
                     : entry->sha.n          ? entry->sha
                                             : entry->ref;
    struct origin o;

    n->source = arena_new(a, struct origin);
    if (!origin_parse_argument(entry->repository, STR("/"), STR(""),
                               &c->layer->rules, a, &o, e))
        return false;
    if (ref.n) {
        if (!node_rare(n)->allowed.n && !origin_ref_is_valid(ref))
            return err_set(e, ERR_ORIGIN, "its ref \"%.*s\" is none",
                           STR_ARG(ref));
        origin_complete(&o, ref, entry->path, a, n->source);
        return true;
    }
    o.path = entry->path;
    o.text = o.key = join(o.text, entry->path, a);
    *n->source = o;
    return true;
}

/* Joins the first entries whose names contain the word. */
static struct str names_with(const struct market *m, struct str word,
                             struct arena *a)
{
    struct str list = STR("");
    size_t count = 0;

    for (size_t i = 0; i < m->count && count < NAMES_MAX_SHOWN; i++)
        if (str_find(m->entries[i].name, word) != SIZE_MAX) {
            list = arena_join(list, ", ", m->entries[i].name, a);
            count++;
        }
    return list;
}

static bool fail_unknown(const struct market *m, const struct node *n,
                         struct str name, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct text_nearest near = {0};
    struct str meant;

    for (size_t i = 0; i < m->count; i++)
        text_nearest_add(&near, name, m->entries[i].name, 3);
    err_set(e, ERR_NOT_FOUND,
            "the marketplace of %.*s offers no plugin \"%.*s\"",
            STR_ARG(origin_base(n->origin->text)), STR_ARG(name));
    meant = near.count ? near.found[0] : names_with(m, name, &a);
    if (meant.n)
        err_hint(e, "did you mean %.*s?", STR_ARG(meant));
    else if (m->unnamed)
        market_hint_unnamed(m, e);
    else
        err_hint(e, "mapm install %.*s --list shows what it offers",
                 STR_ARG(origin_base(n->origin->text)));
    return false;
}

static bool take_entry(struct closure *c, struct node *n, struct node *market,
                       struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct str name = origin_entry_name(n->origin);
    struct node_rare *rare = node_make_rare(n, a);
    const struct market_entry *entry;
    struct origin base;
    bool renamed;

    entry = market_find(node_rare(market)->market, name, &renamed);
    if (!entry)
        return fail_unknown(node_rare(market)->market, n, name, e);
    if (entry->source == MARKET_NONE)
        return err_set(e, ERR_REFUSED, "plugin %.*s is not installable: %s",
                       STR_ARG(name), entry->why);
    if (renamed && !n->locked)
        notice_add(&c->notices, STR(""), STR(""),
                   arena_printf(a, "plugin %.*s is called %.*s now",
                                STR_ARG(name), STR_ARG(entry->name)));
    rare->entry = market_entry_text(node_rare(market)->market, entry, a);
    rare->catalog_commit = market->package.commit;
    if (n->origin->is_short) {
        base = origin_with_part(n->origin, STR(""), a);
        origin_complete(&base, node_slot(market, a), base.path, a, &base);
        base = origin_with_part(&base, n->origin->part, a);
        node_set_origin(c, n, &base);
        map_put(&c->nodes, n->origin->key, n);
    }
    return entry->source == MARKET_HERE ? take_here(c, n, market, entry, e)
                                        : take_git(c, n, entry, e);
}

/* Requests the folder of the plugin; for a locked one, the locked object. */
static bool request_folder(struct closure *c, struct node *n,
                           struct node *market, struct err *e)
{
    n->waits = false;
    if (market->failed) {
        *e = *market->failed;
        return false;
    }
    if (n->locked && n->source) {
        /* fetched as the lock says */
        struct origin locked = *n->source;

        if (!take_entry(c, n, market, e))
            return false;
        *n->source = locked;
    } else if (!take_entry(c, n, market, e)) {
        return false;
    }
    if (n->source->scheme != ORIGIN_GIT)
        return local_read(c, n, e);
    return closure_ask_plugin(c, n, e);
}

bool plugin_resolve_entry(struct closure *c, struct node *n, struct err *e)
{
    struct node *market = find_market(c, n);

    node_make_rare(n, &c->cx->arena)->market_node = market;
    n->waits = true;
    if (!market->failed && !node_rare(market)->market)
        return true;
    return request_folder(c, n, market, e);
}

bool plugin_read_local(struct closure *c, struct node *n, struct err *e)
{
    struct node *market;

    if (!node_has_entry(n))
        return local_read(c, n, e);
    market = find_market(c, n);
    if (!node_rare(market)->market && !local_read(c, market, e))
        return false;
    if (!take_entry(c, n, market, e))
        return false;
    return n->source->scheme != ORIGIN_GIT
               ? local_read(c, n, e)
               : err_set(e, ERR_REFUSED, "its marketplace names a repository");
}

bool plugin_market_resolved(struct closure *c, struct node *market,
                            struct err *e)
{
    for (size_t i = 0; i < c->queued; i++) {
        struct node *n = c->queue[i];
        struct err why = {0};

        if (!n->waits || node_rare(n)->market_node != market)
            continue;
        if (request_folder(c, n, market, &why))
            continue;
        if (why.code == ERR_INTERRUPTED || why.code == ERR_IO) {
            *e = why;
            return false;
        }
        node_fail(c, n, &why);
    }
    return true;
}

bool plugin_ingest_market(struct closure *c, struct node *n,
                          const struct package_file *files, size_t count,
                          struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct market *m = arena_new(a, struct market);
    struct str text;

    if (count != 1)
        return err_set(e, ERR_FORMAT, "it is no file");
    if (!store_read(c->store, &files[0].hash, MARKETPLACE_MAX_BYTES, a, &text,
                    e))
        return false;
    if (str_is(n->origin->part, MANIFEST_PART))
        return plugin_scope_ingest(c, n, text, e);
    for (const char *const *file = plugin_marketplaces; *file; file++)
        if (str_ends(n->path, str_cstr(*file))) {
            if (!market_read(text, str_cstr(*file), a, m, e))
                return false;
            node_make_rare(n, a)->market = m;
            break;
        }
    if (!node_rare(n)->market &&
        !market_read(text, STR("marketplace.json"), a, m, e))
        return false;
    node_make_rare(n, a)->market = m;
    n->is_ready = true;
    return true;
}

/* --- its files --------------------------------------------------------------- */

static bool add_file(struct closure *c, struct package_file *files,
                     size_t *count, const char *name, struct str content,
                     struct err *e)
{
    struct package_file *f = &files[*count];

    *f = (struct package_file){.path = str_cstr(name)};
    ++*count;
    return store_put(c->store, content, &f->hash, e);
}

bool plugin_add_files(struct closure *c, struct node *n,
                      struct package_file *files, size_t *count,
                      const bool *outside, struct arena *scratch, struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};

    (void)scratch;
    for (size_t i = 0; i < *count; i++)
        if (str_is(files[i].path, PLUGIN_ENTRY_FILE) ||
            str_is(files[i].path, PLUGIN_OUTSIDE_FILE))
            return err_set(e, ERR_REFUSED, "%.*s: this name is mapm's own",
                           STR_ARG(files[i].path));
    buf_init(&b, PLUGIN_OUTSIDE_MAX_BYTES);
    for (size_t i = 0; outside && i < *count; i++)
        if (outside[i])
            buf_printf(&b, "%.*s\n", STR_ARG(files[i].path));
    if ((b.n &&
         !add_file(c, files, count, PLUGIN_OUTSIDE_FILE, buf_str(&b), e)) ||
        (node_rare(n)->entry.n &&
         !add_file(c, files, count, PLUGIN_ENTRY_FILE, node_rare(n)->entry, e)))
        return false;
    STR_SORT_BY(files, *count, path);
    return true;
}

/* --- reading it ----------------------------------------------------------------- */

struct stored {
    struct store *store;
    struct package_file *files;
    struct str *paths;
};

static bool read_stored(void *ctx, size_t index, size_t max_bytes,
                        struct arena *a, struct str *out, struct err *e)
{
    const struct stored *s = ctx;

    return store_read(s->store, &s->files[index].hash, max_bytes, a, out, e);
}

static bool is_program(void *ctx, size_t index)
{
    const struct stored *s = ctx;

    return s->files[index].executable;
}

static struct str folder_name(const struct node *n)
{
    const struct origin *o = node_source(n);

    if (n->path.n)
        return path_last(n->path);
    return o->scheme == ORIGIN_GIT ? origin_name(o) : path_last(o->path);
}

static struct str data_identity(const struct node *n, struct arena *a)
{
    const struct origin *o = node_source(n);

    return o->scheme == ORIGIN_GIT ? join(origin_repository(o, a), n->path, a)
                                   : o->text;
}

/* Reads the plugin of a node, also of one from the store. */
bool plugin_read_node(struct closure *c, const struct node *n, struct arena *a,
                      struct plugin *out, struct err *e)
{
    struct stored s = {.store = c->store};
    struct plugin_files files = {
        .read = read_stored, .is_executable = is_program, .ctx = &s};
    struct plugin_input in = {.files = &files, .folder = folder_name(n)};
    size_t count;

    if (!store_read_listing(c->store, &n->digest, a, &s.files, &count, e))
        return false;
    s.paths = arena_array(a, count + 1, sizeof *s.paths);
    for (size_t i = 0; i < count; i++) {
        s.paths[i] = s.files[i].path;
        if (node_has_entry(n) && str_is(s.paths[i], PLUGIN_ENTRY_FILE) &&
            !read_stored(&s, i, MARKETPLACE_MAX_BYTES, a, &in.entry, e))
            return false;
    }
    files.paths = s.paths;
    files.count = count;
    in.digest = digest_format(&n->digest, a);
    in.data = data_identity(n, a);
    return plugin_read(&in, a, out, e);
}

/* --- its parts -------------------------------------------------------------------- */

/* Stores a document of one file. */
static bool store_document(struct closure *c, const struct plugin_part *part,
                           struct hash *digest, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct package_file file = {
        .path = part->kind == DOC_AGENT
                    ? STR("AGENTS.md")
                    : str_join(part->name, STR(".json"), &scratch)};
    struct str listing;

    if (!store_put(c->store, part->document, &file.hash, e))
        return false;
    *digest = store_listing_format(&file, 1, &scratch, &listing);
    return store_put(c->store, listing, digest, e);
}

static struct str own_name(const struct plugin *p,
                           const struct plugin_part *part, struct arena *a)
{
    return part->kind == DOC_MCP
               ? arena_printf(a, "%.*s/%.*s", STR_ARG(p->name),
                              STR_ARG(part->name))
               : part->name;
}

bool plugin_derive_digest(struct closure *c, const struct node *n,
                          enum doc_kind kind, struct str name,
                          struct hash *digest, struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct plugin p;

    if (!plugin_read_node(c, n, a, &p, e))
        return false;
    for (size_t i = 0; i < p.part_count; i++)
        if (p.parts[i].kind == kind && str_eq(p.parts[i].name, name))
            return store_document(c, &p.parts[i], digest, e);
    return err_set(e, ERR_NOT_FOUND, "its plugin holds no such part");
}

/* Returns the base of the origins of its parts, with a resolved ref instead of
 * a range. */
static struct origin base_of(struct closure *c, const struct node *n)
{
    struct arena *a = &c->cx->arena;
    struct origin o = origin_with_part(node_source(n), STR(""), a);

    if (o.scheme == ORIGIN_GIT && (o.is_short || origin_range(&o, a).n))
        origin_complete(&o, n->ref.n ? n->ref : n->package.commit, n->path, a,
                        &o);
    return o;
}

static bool skill_origin(struct closure *c, const struct node *n,
                         const struct origin *base,
                         const struct plugin_part *part, struct origin *out,
                         struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct str path = join(base->path, part->path, a);

    *out = *base;
    if (part->path.n == 0)
        return true;
    if (base->scheme == ORIGIN_GIT)
        return origin_parse(join(base->text, part->path, a), &c->layer->rules,
                            a, out, e) ||
               err_wrap(e, "%.*s", STR_ARG(n->path));
    return base->scheme == ORIGIN_OWN
               ? origin_parse_own(str_join(STR("./"), path, a), a, out, e)
               : origin_parse(str_join(STR("file:"), path, a), NULL, a, out, e);
}

/* Returns whether the lock entry is of this part, not of one with equal content
 * in another plugin. */
static bool is_own_entry(const struct closure *c, const struct node *n)
{
    return str_eq(layer_origin(c->layer, n->locked)->key, n->origin->key);
}

/* Supplies the content of a part from the files of the plugin. */
static bool supply(struct closure *c, struct node *owner, struct node *n,
                   const struct plugin_part *part, const struct plugin *p,
                   struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct str version = part->kind == DOC_AGENT ? p->version : STR("");
    struct str name = own_name(p, part, a);
    struct hash digest;

    if (!store_document(c, part, &digest, e))
        return false;
    if (n->locked && owner->locked && n->locked->digest.n &&
        !str_eq(n->locked->digest, digest_format(&digest, a)))
        return err_set(e, ERR_DAMAGED,
                       "mapm.lock:%u: %s %.*s is not what its plugin holds",
                       n->locked->line, doc_kind_name(n->locked->kind),
                       STR_ARG(n->locked->name));
    if (!owner->locked)
        n->locked = NULL;
    n->digest = digest;
    node_make_rare(n, a)->owner = owner;
    n->path = owner->path;
    n->ref = owner->ref;
    n->object = n->locked ? n->locked->object : owner->object;
    n->waits = false;
    n->package.commit = n->locked ? n->locked->commit : owner->package.commit;
    if (!n->locked)
        n->package.version = version;
    n->is_resolved = true;
    return ingest_derived(c, n, part->kind, name, e) &&
           (!n->locked || !is_own_entry(c, n) ||
            ingest_check_derived(n, name, version, e));
}

static bool add_derived(struct closure *c, struct node *n,
                        const struct origin *base, const struct plugin *p,
                        const struct plugin_part *part, struct node **out,
                        struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct origin o = origin_with_part(
        base,
        arena_printf(a, "%s=%.*s/%.*s", part->kind == DOC_MCP ? "mcp" : "agent",
                     STR_ARG(p->name), STR_ARG(part->name)),
        a);

    *out = closure_add(c, &o, (unsigned)part->kind);
    (*out)->is_part = true;
    return supply(c, n, *out, part, p, e);
}

static bool add_skill(struct closure *c, struct node *n,
                      const struct origin *base, const struct plugin_part *part,
                      struct node **out, struct err *e)
{
    struct origin o;
    bool is_known;

    if (!skill_origin(c, n, base, part, &o, e))
        return false;
    is_known = closure_find(c, o.key) != NULL;
    *out = closure_add(c, &o, DOC_SKILL);
    if (!is_known && (!n->locked || n->has_other_parts) &&
        o.scheme == ORIGIN_GIT)
        node_make_rare(*out, &c->cx->arena)->pin = n->package.commit;
    (*out)->is_part = true;
    return true;
}

static void report_notes(struct closure *c, const struct node *n,
                         const struct plugin *p)
{
    for (size_t i = 0; i < p->warning_count; i++)
        notice_add(&c->notices, STR("plugin"), n->origin->text, p->warnings[i]);
    for (size_t i = 0; i < p->note_count && c->cx->is_verbose; i++)
        notice_add(&c->notices, STR("plugin-note"), n->origin->text,
                   p->notes[i]);
}

/* Reports plugins that come from another repository than the marketplace, if
 * they were fetched and have parts. */
static void note_elsewhere(struct closure *c, const struct node *n)
{
    if (n->locked || !node_has_entry(n) || n->package.dep_count == 0 ||
        n->source->scheme != ORIGIN_GIT || n->origin->scheme != ORIGIN_GIT ||
        str_eq(origin_repository(n->source, &c->cx->arena),
               origin_repository(n->origin, &c->cx->arena)))
        return;
    notice_add(&c->notices, STR("plugin-elsewhere"), STR(""),
               arena_printf(&c->cx->arena, "plugin %.*s of %.*s is from %.*s",
                            STR_ARG(origin_entry_name(n->origin)),
                            STR_ARG(origin_base(n->origin->text)),
                            STR_ARG(n->source->text)));
}

static bool add_need(struct closure *c, struct node *n, enum doc_kind kind,
                     struct str text, struct dependency *out, struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct origin *o = arena_new(a, struct origin);

    if (!origin_parse(text, &c->layer->rules, a, o, e))
        return err_wrap(e, "a dependency of %.*s", STR_ARG(n->origin->text));
    if (kind == DOC_PLUGIN)
        *o = origin_with_part(o, STR("plugin"), a);
    *out = (struct dependency){.kind = kind, .origin = o};
    return true;
}

static bool fill_needs(struct closure *c, struct node *n,
                       struct plugin_node *info, struct err *e)
{
    const struct plugin *p = &info->plugin;
    struct dependency *deps = arena_array(
        &c->cx->arena, p->part_count + p->need_count + p->entry_count + 1,
        sizeof *deps);
    size_t count = 0;

    for (size_t i = 0; i < p->part_count; i++) {
        deps[count].kind = p->parts[i].kind;
        deps[count++].origin = info->parts[i]->origin;
    }
    for (size_t i = 0; i < p->need_count; i++)
        if (!add_need(c, n, p->needs[i].kind, p->needs[i].origin,
                      &deps[count++], e))
            return false;
    for (size_t i = 0; node_has_entry(n) && i < p->entry_count; i++)
        if (plugin_need_is_own(n, &p->entries[i]))
            plugin_add_entry(c, n, &p->entries[i], &deps[count++]);
    n->package.deps = deps;
    n->package.dep_count = count;
    return true;
}

static bool derive(struct closure *c, struct node *n, struct plugin_node *info,
                   struct err *e)
{
    struct origin base = base_of(c, n);
    const struct plugin *p = &info->plugin;

    info->parts =
        arena_array(&c->cx->arena, p->part_count + 1, sizeof(struct node *));
    for (size_t i = 0; i < p->part_count; i++)
        if (p->parts[i].kind == DOC_SKILL
                ? !add_skill(c, n, &base, &p->parts[i], &info->parts[i], e)
                : !add_derived(c, n, &base, p, &p->parts[i], &info->parts[i],
                               e))
            return false;
    return true;
}

/* --- parts that are left out [X45] ------------------------------------------ */

static bool is_named(const struct str_list *words, enum doc_kind kind,
                     struct str name)
{
    CLEANUP(arena_done) struct arena a = {0};

    return str_in(
        words->items, words->count,
        arena_printf(&a, "%s %.*s", doc_kind_name(kind), STR_ARG(name)));
}

static bool is_part_named(const struct plugin *p, struct str word)
{
    const struct str_list one = {&word, 1};

    for (size_t i = 0; i < p->part_count; i++)
        if (is_named(&one, p->parts[i].kind, p->parts[i].name))
            return true;
    for (size_t i = 0; i < p->skipped_count; i++)
        if (is_named(&one, p->skipped[i].kind, p->skipped[i].name))
            return true;
    return false;
}

static bool fail_no_part(const struct plugin *p, struct str word, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str parts = STR("");

    for (size_t i = 0; i < p->part_count && i < ERROR_MAX_LINES; i++)
        parts = arena_join(parts, ", ",
                           arena_printf(&a, "%s %.*s",
                                        doc_kind_name(p->parts[i].kind),
                                        STR_ARG(p->parts[i].name)),
                           &a);
    err_set(e, ERR_NOT_FOUND, "plugin %.*s has no part \"%.*s\" to leave out",
            STR_ARG(p->name), STR_ARG(word));
    return err_hint(e, "its parts are: %.*s%s", STR_ARG(parts),
                    p->part_count > ERROR_MAX_LINES ? ", \xe2\x80\xa6" : "");
}

/* Removes the parts that `words` names, which are not read. */
static bool leave_out(struct plugin_node *info, struct str_list words,
                      struct err *e)
{
    struct plugin *p = &info->plugin;
    size_t parts = p->part_count, skipped = p->skipped_count;

    for (size_t i = 0; i < words.count; i++)
        if (!is_part_named(p, words.items[i]))
            return fail_no_part(p, words.items[i], e);
    info->without = words;
    p->part_count = p->skipped_count = 0;
    for (size_t i = 0; i < parts; i++)
        if (!is_named(&info->without, p->parts[i].kind, p->parts[i].name))
            p->parts[p->part_count++] = p->parts[i];
    for (size_t i = 0; i < skipped; i++)
        if (!is_named(&info->without, p->skipped[i].kind, p->skipped[i].name))
            p->skipped[p->skipped_count++] = p->skipped[i];
    return true;
}

static bool read_node(struct closure *c, const struct node *n,
                      struct str_list without, struct plugin_node *info,
                      struct err *e)
{
    return plugin_read_node(c, n, &c->cx->arena, &info->plugin, e) &&
           leave_out(info, without, e);
}

bool plugin_take_parts(struct closure *c, struct node *n, struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct plugin_node *info = arena_new(a, struct plugin_node);

    if (!read_node(c, n, node_rare(n)->without, info, e))
        return false;
    info->catalog_commit = node_rare(n)->catalog_commit;
    if (node_has_entry(n))
        info->source = base_of(c, n).text;
    n->plugin = info;
    n->package.version = info->plugin.version;
    report_notes(c, n, &info->plugin);
    if (c->options.alone)
        return true;
    if (!derive(c, n, info, e) || !fill_needs(c, n, info, e))
        return false;
    note_elsewhere(c, n);
    return true;
}

/* --- locked ---------------------------------------------------------------------- */

static bool differs(const struct node *n, const char *what, struct str own,
                    struct err *e)
{
    err_set(e, ERR_DAMAGED,
            "mapm.lock:%u: plugin %.*s: the plugin itself %s "
            "%.*s",
            n->locked->line, STR_ARG(n->locked->name), what, STR_ARG(own));
    return err_hint(e, "the lock was edited by hand: take it from version "
                       "control again, or remove the entry and run mapm "
                       "install");
}

static bool is_skipped(const struct lock_entry *entry,
                       const struct plugin_part *part)
{
    return is_named(&entry->skipped, part->kind, part->name);
}

/* Drops skipped parts, which come first among the dependencies. */
static void drop_skipped(struct node *n, const struct plugin_node *info)
{
    struct dependency *deps = (struct dependency *)(uintptr_t)n->package.deps;
    size_t kept = 0;

    for (size_t i = 0; i < n->package.dep_count; i++)
        if (i >= info->plugin.part_count ||
            !is_skipped(n->locked, &info->plugin.parts[i]))
            deps[kept++] = deps[i];
    n->package.dep_count = kept;
}

/* Returns whether the dependency is an entry of another marketplace, which only
 * the lock names. */
static bool is_of_market(const struct plugin *p, const struct lock_entry *need)
{
    for (size_t i = 0; i < p->entry_count; i++)
        if (p->entries[i].market.n && need->kind == DOC_PLUGIN &&
            str_eq(lock_catalog_entry(need), p->entries[i].name))
            return true;
    return false;
}

/* Checks the dependencies in the lock against the files. */
static bool check_needs(struct closure *c, struct node *n,
                        const struct plugin_node *info, struct err *e)
{
    const struct lock_entry *entry = n->locked;
    const struct plugin *p = &info->plugin;
    struct map own;
    size_t found = 0;

    map_init(&own, &c->cx->arena);
    for (size_t i = 0; i < n->package.dep_count; i++)
        map_put(&own, n->package.deps[i].origin->key, n);
    for (size_t i = 0; i < p->part_count; i++) {
        const struct lock_entry *other =
            map_find(&c->layer->by_origin, info->parts[i]->origin->key);

        if (!other || !lock_needs(entry, other)) {
            if (!is_skipped(entry, &p->parts[i]))
                return differs(n, "has", p->parts[i].name, e);
            continue;
        }
        if (!other->plugin.n)
            return differs(n, "has as a part what has no plugin:", other->name,
                           e);
        map_put(&own, layer_origin(c->layer, other)->key, n);
    }
    for (size_t i = 0; i < entry->need_count; i++)
        found +=
            map_has(&own, layer_origin(c->layer, entry->needs[i].entry)->key) ||
            is_of_market(p, entry->needs[i].entry);
    return found == entry->need_count ||
           differs(n, "does not have all that is said of", p->name, e);
}

/* Checks the skipped parts; invalid parts must be among them. */
static bool check_skipped(const struct node *n, const struct plugin *p,
                          struct err *e)
{
    const struct lock_entry *entry = n->locked;

    for (size_t i = 0; i < p->skipped_count; i++)
        if (!is_named(&entry->skipped, p->skipped[i].kind, p->skipped[i].name))
            return differs(n, "has no valid", p->skipped[i].name, e);
    for (size_t i = 0; i < entry->skipped.count; i++)
        if (!is_part_named(p, entry->skipped.items[i]))
            return differs(n, "has no", entry->skipped.items[i], e);
    for (size_t i = 0; i < p->other_count; i++)
        if (!str_in(entry->not_installed.items, entry->not_installed.count,
                    p->others[i].kind))
            return differs(n, "has", p->others[i].kind, e);
    for (size_t i = 0; i < entry->not_installed.count; i++) {
        const struct plugin_other *x = p->others, *end = x + p->other_count;

        while (x < end && !str_eq(x->kind, entry->not_installed.items[i]))
            x++;
        if (x == end)
            return differs(n, "has no", entry->not_installed.items[i], e);
    }
    return true;
}

bool plugin_check_locked(struct closure *c, struct node *n, struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct plugin_node *info = arena_new(a, struct plugin_node);
    struct package package = n->package;
    struct str catalog_commit = node_rare(n)->catalog_commit;

    if (!read_node(c, n, n->locked->without, info, e))
        return false;
    if (!str_eq(info->plugin.name, lock_own_name(n->locked)))
        return differs(n, "is named", info->plugin.name, e);
    if (!str_eq(info->plugin.version, n->locked->version))
        return differs(n, "has version", info->plugin.version, e);
    if (!str_eq(info->plugin.manifest, n->locked->manifest))
        return differs(n, "is described by", info->plugin.manifest, e);
    /* Known where the marketplace was read; otherwise the proof has it. */
    if (catalog_commit.n && !str_eq(catalog_commit, n->locked->catalog_commit))
        return differs(n, "is in its marketplace at commit", catalog_commit, e);
    if (!check_skipped(n, &info->plugin, e))
        return false;
    info->catalog_commit = n->locked->catalog_commit;
    info->source = n->locked->source;
    info->skipped = n->locked->skipped;
    info->not_installed = n->locked->not_installed;
    n->plugin = info;
    if (c->options.alone)
        return true;
    if (!derive(c, n, info, e) || !fill_needs(c, n, info, e))
        return false;
    if (c->layer->has_conflict && !layer_is_local(c->layer, n->locked)) {
        /* a merged lock contains no dependencies: use those in its files */
        drop_skipped(n, info);
        node_known(c, n);
        return true;
    }
    if (!check_needs(c, n, info, e))
        return false;
    n->package.deps = package.deps;
    n->package.dep_count = package.dep_count;
    return true;
}

/* --- parts that a root leaves out now ---------------------------------------- */

static bool is_as_said(const struct node *n, const struct root *root)
{
    return project_same_parts(n->plugin   ? n->plugin->without
                              : n->locked ? n->locked->without
                                          : (struct str_list){0},
                              root->without);
}

/* Returns a plugin whose parts differ from its root, or NULL. */
static struct node *find_other(struct install_session *s,
                               const struct root *root)
{
    struct node *n = root->kind == DOC_PLUGIN
                         ? closure_find(&s->closure, root->origin.key)
                         : NULL;

    return n && !n->failed && n->package.kind == DOC_PLUGIN &&
                   (n->is_ready || n->assumed_present) && !is_as_said(n, root)
               ? n
               : NULL;
}

static bool read_again(struct closure *c, struct node *n,
                       const struct root *root, struct err *e)
{
    struct plugin_node *info = arena_new(&c->cx->arena, struct plugin_node);

    node_make_rare(n, &c->cx->arena)->without = root->without;
    n->has_other_parts = n->locked != NULL;
    if (!read_node(c, n, node_rare(n)->without, info, e))
        return false;
    info->catalog_commit =
        n->plugin ? n->plugin->catalog_commit : n->locked->catalog_commit;
    info->source = n->plugin ? n->plugin->source : n->locked->source;
    n->plugin = info;
    if (!derive(c, n, info, e) || !fill_needs(c, n, info, e))
        return false;
    node_known(c, n);
    return true;
}

static bool fail_locked(const struct node *n, struct err *e)
{
    err_set(e, ERR_LOCKED,
            "mapm.lock does not fit mapm.yaml: plugin %.*s leaves out other "
            "parts",
            STR_ARG(n->package.fqn));
    return err_hint(e, "run mapm install without --locked and commit "
                       "mapm.lock");
}

bool plugins_leave_out(struct install_session *s, bool *is_resolved,
                       struct err *e)
{
    struct closure *c = &s->closure;
    size_t count, others = 0;
    const struct root *roots = session_all_roots(s, &count);

    for (size_t i = 0; i < count; i++) {
        struct node *n = find_other(s, &roots[i]);

        if (n && s->locked)
            return fail_locked(n, e);
        if (n)
            closure_add(c, n->origin, DOC_PLUGIN); /* request it otherwise */
        others += n != NULL;
    }
    if (others == 0)
        return true;
    *is_resolved = false;
    if (!closure_verify_store(c, e))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct node *n = find_other(s, &roots[i]);
        struct err why = {0};

        if (n && !read_again(c, n, &roots[i], &why))
            node_fail(c, n, &why);
    }
    return true;
}

void plugin_fail_waiting(struct closure *c)
{
    for (size_t i = 0; i < c->queued; i++) {
        struct node *n = c->queue[i];

        if (!n->waits || n->is_ready || n->failed || !node_is_derived(n))
            continue;

        struct err e = {0};

        n->waits = false;
        err_set(&e, ERR_DAMAGED, "%.*s: its plugin holds no such part",
                STR_ARG(n->origin->text));
        node_fail(c, n, &e);
    }
}

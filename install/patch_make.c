#include "base/diff.h"
#include "base/fs.h"
#include "base/patch.h"
#include "base/path.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/origin.h"
#include "mapm/package_files.h"
#include "mapm/patched.h"

#include "ingest.h"
#include "install_session.h"
#include "installed.h"
#include "local.h"

/* mapm patch: records the edits in a package's folder as a patch of the fetched
 * content. The rest is an install, which applies the patch and finds its result
 * in place. [D7] */

struct making {
    struct install_session *s;
    const struct lock_entry *entry;
    struct arena *arena;
    struct hash upstream; /* digest */
    struct package_files before, after;
    struct package_file *expected; /* expected result of applying the patch
                                    * to `before` */
    size_t count;
    struct buf text;
};

/* --- what is there -------------------------------------------------------- */

/* Reads the folder like a package of the workspace: without following links,
 * checking names and sizes. */
static bool read_folder(struct making *m, struct err *e)
{
    struct install_session *s = m->s;
    const struct lock_entry *entry = m->entry;
    /* paths of own packages are relative to the root */
    struct str place = layer_place(&s->layer, entry, m->arena);
    struct str path =
        s->layer.member.n ? fs_join(s->layer.member, place, m->arena) : place;
    struct str text = str_join(STR("./"), path, m->arena);
    struct closure_options o = {
        .offline = true, .no_self = true, .allow_hidden = true};
    const struct origin origin = {
        .scheme = ORIGIN_OWN, .text = text, .key = text, .path = path};
    struct node n = {.origin = &origin, .kinds = (unsigned)entry->kind};
    struct closure closure;
    struct package_file *files;
    bool ok;

    closure_init(&closure, s->cx, &s->layers.whole, s->store, &o);
    ok = local_read(&closure, &n, e);
    notice_init(&closure.notices, m->arena); /* install reports them */
    closure_done(&closure);
    if (!ok || !store_read_listing(s->store, &n.digest, m->arena, &files,
                                   &m->after.count, e))
        return false;
    m->after.store = s->store;
    m->after.files = files;
    return true;
}

/* Checks that the installed version is the locked one, which may differ after a
 * pull. */
static bool check_installed(struct making *m, struct err *e)
{
    struct install_session *s = m->s;
    const struct lock_entry *entry = m->entry;
    struct provision_options *o =
        arena_new(&s->cx->arena, struct provision_options);
    struct provision_item item;

    installed_fill(&s->layer, entry, &item);
    if (!session_provision_options(s, o, e) ||
        !patched_installed(s->store, entry->digest, entry->patch, &item.digest,
                           e))
        return false;
    if (provision_holds(s->layer.provision, o, &item, &s->cx->arena))
        return true;
    err_set(e, ERR_PATCH,
            "%.*s is not the version that mapm.lock holds, as it was installed "
            "here",
            STR_ARG(layer_place(&s->layer, entry, &s->cx->arena)));
    return err_hint(e, "run mapm install, then edit it");
}

static bool read_upstream(struct making *m, struct err *e)
{
    struct package_file *files;

    if (!patched_parse_hash(m->entry->digest, &m->upstream) ||
        !store_read_listing(m->s->store, &m->upstream, m->arena, &files,
                            &m->before.count, e))
        return err_hint(
            e, "mapm install --force fetches objects missing from the store");
    m->before.store = m->s->store;
    m->before.files = files;
    return true;
}

/* --- its name ------------------------------------------------------------- */

static bool same_byte(struct str x, struct str y, size_t i)
{
    return i < x.n && i < y.n && x.p[i] == y.p[i];
}

/* Finds the lines that differ because the copy was renamed. */
static void find_renamed(struct str renamed, struct str upstream,
                         struct str *now, struct str *was)
{
    size_t head = 0, tail = 0, line = 0;

    for (; same_byte(renamed, upstream, head); head++)
        if (renamed.p[head] == '\n')
            line = head + 1;
    *now = str_from_index(renamed, line);
    *was = str_from_index(upstream, line);
    while (tail < now->n && tail < was->n &&
           now->p[now->n - 1 - tail] == was->p[was->n - 1 - tail])
        tail++;
    /* move back to the end of a line */
    while (tail && (now->n == tail || now->p[now->n - 1 - tail] != '\n'))
        tail--;
    *now = str_slice(*now, 0, now->n - tail);
    *was = str_slice(*was, 0, was->n - tail);
}

/* Restores the original name in a renamed copy. */
static bool undo_rename(struct making *m, struct str upstream, struct str *text,
                        struct err *e)
{
    struct str renamed, now, was;
    size_t at;

    if (!manifest_rename(upstream, path_last(m->entry->place), m->arena,
                         &renamed, e))
        return false;
    find_renamed(renamed, upstream, &now, &was);
    at = str_find(*text, now);
    if (at == SIZE_MAX || (at && text->p[at - 1] != '\n')) {
        err_set(e, ERR_NAME, "%.*s: a patch keeps the name of its package",
                STR_ARG(layer_place(&m->s->layer, m->entry, m->arena)));
        return err_hint(e, "here it is %.*s, as other packages have its own",
                        STR_ARG(path_last(m->entry->place)));
    }
    const struct str parts[] = {str_slice(*text, 0, at), was,
                                str_from_index(*text, at + now.n)};
    *text = str_concat(parts, 3, m->arena);
    return true;
}

/* --- files ---------------------------------------------------------------- */

static bool read_side(struct making *m, const struct package_file *f,
                      struct patch_side *out, struct err *e)
{
    *out = (struct patch_side){.text = STR("")};
    if (!f)
        return true;
    out->mode = f->executable ? PATCH_PROGRAM : PATCH_FILE;
    if (store_read(m->s->store, &f->hash, PATCH_FILE_MAX_BYTES, m->arena,
                   &out->text, e))
        return true;
    out->is_opaque = e->code == ERR_LIMIT;
    if (out->is_opaque)
        err_clear(e);
    return out->is_opaque;
}

static bool refuse(const struct making *m, struct str path, const char *why,
                   struct err *e)
{
    err_set(e, ERR_REFUSED, "%.*s/%.*s: %s",
            STR_ARG(layer_place(&m->s->layer, m->entry, m->arena)),
            STR_ARG(path), why);
    return err_hint(e,
                    "a patch is of text files; mapm restore %.*s undoes all "
                    "edits",
                    STR_ARG(m->entry->name));
}

/* Returns whether a hunk could not name each line. */
static bool has_many_lines(struct str text)
{
    size_t count = 0;
    struct str line;

    while (count < DIFF_MAX_LINES && str_line(&text, &line))
        count++;
    return text.n > 0;
}

static bool check_file(const struct making *m, const struct patch_file *f,
                       struct err *e)
{
    if (patch_is_binary(f) || has_many_lines(f->before.text) ||
        has_many_lines(f->after.text))
        return refuse(m, f->path, "not a text, or too large", e);
    if (f->before.mode && f->after.mode && f->before.mode != f->after.mode)
        return refuse(m, f->path, "its mode changed", e);
    if (!f->before.mode && f->after.mode == PATCH_PROGRAM)
        return refuse(m, f->path, "a new file that is executable", e);
    return true;
}

static bool is_equal(const struct making *m, const struct package_file *x,
                     const struct package_file *y)
{
    return x && y && x->executable == y->executable &&
           hash_eq(&x->hash, &y->hash) &&
           !(lock_is_renamed(m->entry) &&
             str_is(x->path, doc_entry_file(m->entry->kind)));
}

static bool add_file(struct making *m, const struct package_file *before,
                     const struct package_file *after, struct err *e)
{
    const struct package_file *any = after ? after : before;
    struct patch_file f = {.path = any->path};

    if (after)
        m->expected[m->count++] = *after;
    if (is_equal(m, before, after))
        return true;
    if (!read_side(m, before, &f.before, e) ||
        !read_side(m, after, &f.after, e))
        return false;
    if (f.before.mode && f.after.mode && lock_is_renamed(m->entry) &&
        str_is(f.path, doc_entry_file(m->entry->kind))) {
        if (!undo_rename(m, f.before.text, &f.after.text, e))
            return false;
        m->expected[m->count - 1].hash = hash_of(f.after.text);
    }
    if (str_eq(f.before.text, f.after.text) && f.before.mode == f.after.mode &&
        !f.before.is_opaque)
        return true;
    if (!check_file(m, &f, e))
        return false;
    patch_format(&f, &m->text);
    return true;
}

static bool compare(struct making *m, struct err *e)
{
    const struct package_files *x = &m->before, *y = &m->after;
    size_t i = 0, k = 0;

    m->expected = arena_array(m->arena, y->count + 1, sizeof *m->expected);
    while (i < x->count || k < y->count) {
        int order = i == x->count ? 1
                    : k == y->count
                        ? -1
                        : str_cmp(x->files[i].path, y->files[k].path);

        if (!add_file(m, order <= 0 ? &x->files[i] : NULL,
                      order >= 0 ? &y->files[k] : NULL, e))
            return false;
        i += order <= 0;
        k += order >= 0;
    }
    return true;
}

/* Checks the patch by parsing and applying it. */
static bool check_result(struct making *m, struct str file, struct err *e)
{
    struct patched result;
    struct str listing;
    struct hash want;

    if (!buf_check(&m->text, file.p, e) ||
        !patched_apply(m->s->store, &m->upstream, buf_str(&m->text), file.p,
                       false, m->arena, &result, e))
        return false;
    want = store_listing_format(m->expected, m->count, m->arena, &listing);
    return hash_eq(&want, &result.digest) ||
           err_set(e, ERR_FAILED,
                   "%.*s: its edits cannot be written as a patch",
                   STR_ARG(layer_place(&m->s->layer, m->entry, m->arena)));
}

/* --- the command ---------------------------------------------------------- */

static bool check_entry(const struct layer *l, const struct lock_entry *entry,
                        struct err *e)
{
    const char *kind = doc_kind_name(entry->kind);

    if (entry->kind != DOC_SKILL && entry->kind != DOC_AGENT) {
        err_set(e, ERR_USAGE, "%s %.*s: patches are for skills and agents",
                kind, STR_ARG(entry->name));
        return entry->kind == DOC_MCP &&
               err_hint(e, "copy it into the workspace, and install it as "
                           "./mcps/NAME.json");
    }
    if (layer_is_own(l, entry) || layer_is_local(l, entry) ||
        str_starts(entry->from, STR("file:"))) {
        err_set(e, ERR_USAGE, "%s %.*s is a folder of yours (%.*s)", kind,
                STR_ARG(entry->name),
                STR_ARG(entry->from.n ? entry->from : entry->origin));
        return err_hint(e, "edit it there: it needs no patch");
    }
    return true;
}

static bool make(struct making *m, struct str file, struct err *e)
{
    if (!check_installed(m, e) || !read_upstream(m, e) || !read_folder(m, e) ||
        !compare(m, e))
        return false;
    return m->text.n == 0 || check_result(m, file, e);
}

static bool make_patch(struct install_session *s,
                       const struct lock_entry *entry, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct making m = {.s = s, .entry = entry, .arena = &scratch};
    struct str file = patches_file(entry->kind, entry->name, &s->cx->arena);
    const struct package_patch *old = patches_find(&s->patches, file);
    struct str text = STR("");
    bool ok;

    if (!check_entry(&s->layer, entry, e))
        return false;
    if (old && !s->request->drop_patch && !str_eq(old->hash, entry->patch)) {
        err_set(e, ERR_PATCH, "%.*s was changed since it was installed",
                STR_ARG(file));
        return err_hint(e, "run mapm install, which applies it, then edit %.*s",
                        STR_ARG(layer_place(&s->layer, entry, &s->cx->arena)));
    }
    if (!s->request->drop_patch) {
        buf_init(&m.text, PATCH_MAX_BYTES);
        ok = make(&m, file, e);
        text = ok ? arena_str(&s->cx->arena, buf_str(&m.text)) : text;
        buf_done(&m.text);
        if (!ok)
            return err_wrap(e, "cannot patch %s %.*s",
                            doc_kind_name(entry->kind), STR_ARG(entry->name));
    }
    if (old ? !str_eq(old->text, text) : text.n > 0)
        session_set_patch(s, file, text);
    return true;
}

/* Removes the patch of a missing package, named by its file. */
static bool drop_file(struct install_session *s, struct str name)
{
    const struct package_patch *p = patches_find(&s->patches, name);

    if (!p || !s->request->drop_patch)
        return false;
    session_set_patch(s, p->file, STR(""));
    return true;
}

static bool make_patches(struct install_session *s, struct err *e)
{
    const struct str_list *all = &s->request->arguments;
    struct arena *a = &s->cx->arena;
    struct str *names = arena_array(a, all->count + 1, sizeof *names);
    struct map seen;
    const struct lock_entry **entries =
        arena_array(a, all->count + 1, sizeof(struct lock_entry *));
    size_t count = 0;

    for (size_t i = 0; i < all->count; i++)
        if (!drop_file(s, all->items[i]))
            names[count++] = all->items[i];
    if (!layer_resolve_names(&s->layer, names, count, a, entries, e))
        return false;
    map_init(&seen, a);
    for (size_t i = 0; i < count; i++)
        if (map_put(&seen,
                    layer_name_key(entries[i]->kind, entries[i]->name, a), s) &&
            !make_patch(s, entries[i], e))
            return false;
    return true;
}

bool patch_packages(struct install_session *s, struct err *e)
{
    struct context *cx = s->cx;
    struct closure_options o = {
        .offline = cx->is_offline,
        .no_self = s->request->no_self,
        .allow_hidden = s->request->allow_hidden,
        .assume_present = true,
        .ahead = &s->ahead,
        .on_fetched = session_stage_early,
        .on_fetched_ctx = s,
    };

    if (!layer_check_there(&s->layer, cx, e) || !make_patches(s, e))
        return false;
    closure_init(&s->closure, cx, &s->layers.whole, s->store, &o);
    return session_resolve(s, e);
}

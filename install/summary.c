#include "base/map.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/clients.h"
#include "mapm/doc_kind.h"
#include "mapm/install_summary.h"
#include "mapm/lock.h"
#include "mapm/origin.h"
#include "mapm/package_text.h"

#define TEXT_MAX_BYTES (64 * 1024)

/* --- packages ------------------------------------------------------------- */

/* The previous version is unknown: after a switch of branches the lock has only
 * the new entry, and the installed files have no version. */
static bool is_replaced(const struct install_package *p)
{
    return p->effect == INSTALL_UPDATED && !p->is_moved &&
           (p->package->kind == DOC_SKILL || p->package->kind == DOC_AGENT);
}

struct install_versions
install_package_versions(const struct install_package *p, struct arena *a)
{
    const struct package *package = p->package;
    const struct lock_entry *before = p->before;
    bool is_relocked = p->action == INSTALL_CHANGE;
    struct install_versions v = {
        .after = package_version(package->version, package->commit,
                                 package->origin->text, a),
        .is_same_content =
            is_relocked && str_eq(before->digest, p->digest) &&
            str_eq(before->patch, p->patch ? p->patch->hash : STR("")),
    };
    bool is_new_content = is_replaced(p);

    if (p->effect == INSTALL_UPDATED && (is_relocked || p->old_version.n)) {
        struct str old = package_version(
            p->old_version, p->old_commit,
            is_relocked ? before->origin : package->origin->text, a);

        /* The same content of another origin: show the origins. */
        if (is_relocked && str_eq(old, v.after) &&
            !str_eq(before->origin, package->origin->text)) {
            old = before->origin;
            v.after = package->origin->text;
        }
        is_new_content = str_eq(old, v.after) ||
                         (!is_relocked && str_eq(old, package->version));
        if (!is_new_content)
            v.before = old;
    }
    if (is_new_content && !v.is_same_content)
        v.after = arena_printf(a, "%.*s (new content)", STR_ARG(v.after));
    return v;
}

/* "x" of ".claude/skills/x" and ".gemini/settings.json#x", "x.md" of an agent,
 * "mapm-x.md" of its prompt. */
static struct str name_at(struct str path)
{
    size_t key = str_find_char(path, '#');

    return key == SIZE_MAX ? path_last(path) : str_from_index(path, key + 1);
}

static bool is_shown(const struct map *shown, struct str path)
{
    static const struct str prefix = STR_INIT(CLIENT_PROMPT_PREFIX);
    struct str name = name_at(path), rest = name;
    size_t dot = str_find_char(name, '.');

    if (dot != SIZE_MAX)
        rest = str_slice(name, 0, dot);
    return map_has(shown, name) || map_has(shown, rest) ||
           (str_starts(rest, prefix) &&
            map_has(shown, str_from_index(rest, prefix.n)));
}

const struct provision_change **
install_client_changes(const struct install_plan *plan, struct arena *a,
                       size_t *count)
{
    const struct provision_change **out =
        arena_array(a, plan->change_count + 1, sizeof *out);
    struct map shown;

    map_init(&shown, a);
    for (size_t i = 0; i < plan->package_count; i++)
        if (plan->packages[i].effect != INSTALL_KEPT)
            map_put(&shown, name_at(install_path(&plan->packages[i], a)), NULL);
    for (size_t i = 0; i < plan->removed_count; i++)
        map_put(&shown, name_at(plan->removed[i]->place), NULL);
    /* of packages that the lock lost before, only the folders are known */
    for (size_t i = 0; i < plan->change_count; i++)
        if (!plan->changes[i].client.n)
            map_put(&shown, name_at(plan->changes[i].path), NULL);
    *count = 0;
    for (size_t i = 0; i < plan->change_count; i++) {
        const struct provision_change *c = &plan->changes[i];

        if (c->client.n && !is_shown(&shown, c->path))
            out[(*count)++] = c;
    }
    return out;
}

/* --- catalogs ------------------------------------------------------------- */

/* "plugins" for "plugins/x/skills/y" of the whole repository. */
static struct str top_folder(const struct install_catalog *c, struct str path)
{
    size_t from = c->path.n ? c->path.n + 1 : 0;
    size_t slash = str_find_char(str_from_index(path, from), '/');

    return slash == SIZE_MAX ? path : str_slice(path, 0, from + slash);
}

struct install_folder *
install_elsewhere_folders(const struct install_catalog *c, struct arena *a,
                          size_t *count, const struct install_folder **largest)
{
    struct install_folder *out =
        arena_array(a, c->elsewhere_count + 1, sizeof *out);
    size_t n = 0;

    *largest = NULL;
    for (size_t i = 0; i < c->elsewhere_count; i++) {
        struct str path = top_folder(c, c->elsewhere[i].path);

        if (n == 0 || !str_eq(out[n - 1].path, path))
            out[n++] = (struct install_folder){.path = path};
        out[n - 1].count++;
    }
    for (size_t i = 0; i < n; i++)
        if ((!*largest || out[i].count > (*largest)->count) &&
            text_is_shell_word(out[i].path))
            *largest = &out[i];
    *count = n;
    return out;
}

/* --- packages that are left out ------------------------------------------- */

size_t install_left_out_run(const struct install_left_out *list, size_t count)
{
    size_t run = 0;

    while (run < count && str_eq(list[run].code, list->code))
        run++;
    return run;
}

bool install_left_out_is_one_reason(const struct install_left_out *list,
                                    size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (!str_eq(list[i].message, list->message))
            return false;
    return true;
}

/* "a", "a needs b", "a needs … needs c". */
static void put_short(struct buf *b, const struct install_left_out *l)
{
    bool whole = str_is(l->code, "origin-conflict");

    if (l->name.n && (l->kind == DOC_PLUGIN || origin_is_of_index(l->origin)))
        buf_append(b, l->name); /* as its marketplace or index offers it */
    else
        buf_append(b, whole ? l->origin : path_last(l->origin));
    if (l->chain_count > 2 || l->omitted)
        buf_text(b, " needs \xe2\x80\xa6");
    if (l->chain_count > 1)
        buf_printf(b, " needs %.*s",
                   STR_ARG(path_last(l->chain[l->chain_count - 1].origin)));
}

struct str install_left_out_names(const struct install_left_out *list,
                                  size_t count, size_t max, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct map times;
    size_t rest = count;

    buf_init(&b, TEXT_MAX_BYTES);
    map_init(&times, a);
    for (size_t i = 0; i < count; i++) {
        CLEANUP(buf_done) struct buf name = {0};
        struct map_entry *entry;

        buf_init(&name, TEXT_MAX_BYTES);
        put_short(&name, &list[i]);
        entry = map_entry(&times, arena_str(a, buf_str(&name)));
        entry->value = (void *)((uintptr_t)entry->value + 1);
    }
    for (size_t i = 0; i < times.count && i < max; i++) {
        size_t n = (uintptr_t)times.entries[i].value;

        buf_printf(&b, "%s%.*s", i ? ", " : "", STR_ARG(times.entries[i].key));
        if (n > 1)
            buf_printf(&b, " (%zu times)", n);
        rest -= n;
    }
    if (rest)
        buf_printf(&b, " and %zu more", rest);
    return arena_str(a, buf_str(&b));
}

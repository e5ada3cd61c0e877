#include "mapm/replace.h"

#include "origin.h"

enum form { FORM_PACKAGE, FORM_PATH, FORM_REPOSITORY };

void replacements_init(struct replacements *out, struct arena *a)
{
    *out = (struct replacements){.count = 0};
    for (size_t i = 0; i < REPLACE_FORMS; i++)
        for (size_t k = 0; k < REPLACE_ROLES; k++)
            map_init(&out->forms[i][k], a);
}

/* --- reading -------------------------------------------------------------- */

/* One side of a replacement: a repository, a path in one, or a package. */
struct place {
    enum form form;
    struct origin origin;
    struct str path; /* for FORM_PATH */
};

static bool read_place(struct str text, const struct origin_rules *rules,
                       struct arena *a, struct place *out, struct err *e)
{
    enum host_transport transport;
    struct str rest;
    const char *fault;

    *out = (struct place){.form = FORM_REPOSITORY};
    if (!origin_url_start(text, &rest, &transport))
        return origin_refuse(text, "is no https: URL", e);
    if (!origin_take_repository(text, transport, &rest, rules, a, &out->origin,
                                e))
        return false;
    if (rest.n < 2)
        return true;
    if (rest.p[1] != '/') {
        out->form = FORM_PACKAGE;
        return origin_parse(text, rules, a, &out->origin, e);
    }
    out->form = FORM_PATH;
    out->path = str_from_index(rest, 2);
    fault = out->path.n ? origin_path_fault(out->path) : "has no path";
    return !fault || origin_refuse(text, fault, e);
}

static bool names_folder(struct str text)
{
    return str_starts(text, STR("/")) || str_starts(text, STR("./")) ||
           str_starts(text, STR("../")) || str_is(text, "..") ||
           str_starts(text, STR("file:"));
}

static bool read_folder(struct replacement *r, struct str workspace,
                        struct arena *a, struct err *e)
{
    struct origin o;

    if (r->role != PROJECT_LOCAL) {
        err_set(e, ERR_FORMAT, "\"%.*s\" is a folder of one machine",
                STR_ARG(r->to));
        return err_hint(e, "a replacement by a folder belongs in "
                           "mapm.local.yaml");
    }
    if (str_starts(r->to, STR("file:"))
            ? !origin_parse(r->to, NULL, a, &o, e)
            : !origin_parse_argument(str_is(r->to, "..") ? STR("../") : r->to,
                                     workspace, STR(""), NULL, a, &o, e))
        return false;
    r->is_folder = true;
    r->path = o.path;
    return true;
}

static bool read_target(struct replacement *r, enum form from,
                        struct str workspace, const struct origin_rules *rules,
                        struct arena *a, struct err *e)
{
    struct place to;

    if (names_folder(r->to))
        return read_folder(r, workspace, a, e);
    if (!read_place(r->to, rules, a, &to, e))
        return false;
    if (from == FORM_REPOSITORY && to.form != FORM_REPOSITORY)
        return err_set(e, ERR_FORMAT,
                       "a repository is replaced by a repository, not by "
                       "%.*s",
                       STR_ARG(r->to));
    r->target = to.origin;
    r->path = to.path;
    r->carries_ref = to.form != FORM_PACKAGE;
    return true;
}

static struct str path_key(const struct origin *o, struct str path,
                           struct arena *a)
{
    return arena_printf(a, "%.*s//%.*s", STR_ARG(origin_repository(o, a)),
                        STR_ARG(path));
}

static bool add_one(struct replacements *all, struct replacement *r,
                    struct str workspace, const struct origin_rules *rules,
                    struct err *e)
{
    struct map *map;
    struct arena *a = all->forms[0][0].arena;
    struct place from;
    struct str key;

    if (!read_place(r->from, rules, a, &from, e) ||
        !read_target(r, from.form, workspace, rules, a, e))
        return false;
    r->is_whole = from.form == FORM_REPOSITORY;
    map = &all->forms[from.form][r->role];
    key = from.form == FORM_PACKAGE ? from.origin.key
          : from.form == FORM_PATH  ? path_key(&from.origin, from.path, a)
                                    : origin_repository(&from.origin, a);
    if (!map_put(map, key, r))
        return err_set(e, ERR_FORMAT, "%.*s is replaced twice",
                       STR_ARG(r->from));
    all->count++;
    return true;
}

bool replacements_add(struct replacements *out, const struct project *p,
                      enum project_role role, const char *name,
                      struct str workspace, const struct origin_rules *rules,
                      struct err *e)
{
    struct arena *a = out->forms[0][0].arena;

    for (size_t i = 0; i < p->replace_count; i++) {
        struct replacement *r = arena_new(a, struct replacement);
        struct err why = {0};

        *r = (struct replacement){.role = role,
                                  .file = name,
                                  .line = p->replaces[i].line,
                                  .from = p->replaces[i].from,
                                  .to = p->replaces[i].to};
        if (add_one(out, r, workspace, rules, &why))
            continue;
        err_set(e, why.code, "%s:%u: replace: %s", name, r->line,
                err_first(&why));
        return why.hint[0] ? err_hint(e, "%s", why.hint) : false;
    }
    return true;
}

/* --- finding -------------------------------------------------------------- */

static struct str key_of(const struct origin *o, enum form form,
                         struct arena *a)
{
    struct origin full;

    if (form == FORM_REPOSITORY)
        return origin_repository(o, a);
    if (form == FORM_PATH)
        return path_key(o, origin_slot_path(o), a);
    if (!o->is_short)
        return o->key;
    if (!o->ref.n)
        return STR("");
    origin_complete(o, o->ref, o->path, a, &full);
    return full.key;
}

static const struct replacement *find(const struct replacements *all,
                                      const struct origin *o, unsigned roles)
{
    static const enum project_role order[] = {PROJECT_LOCAL, PROJECT_USER,
                                              PROJECT_WORKSPACE};
    CLEANUP(arena_done) struct arena scratch = {0};

    if (all->count == 0 || o->scheme != ORIGIN_GIT)
        return NULL;
    for (size_t form = 0; form < REPLACE_FORMS; form++) {
        struct str key = key_of(o, (enum form)form, &scratch);

        for (size_t i = 0; i < REPLACE_ROLES; i++) {
            const struct replacement *r =
                roles & 1u << order[i]
                    ? map_find(&all->forms[form][order[i]], key)
                    : NULL;

            if (r)
                return r;
        }
    }
    return NULL;
}

const struct replacement *replacements_find(const struct replacements *all,
                                            const struct origin *o)
{
    return find(all, o, ~0u);
}

const struct replacement *replacements_find_team(const struct replacements *all,
                                                 const struct origin *o)
{
    return find(all, o, 1u << PROJECT_WORKSPACE);
}

/* --- applying ------------------------------------------------------------- */

static void apply_folder(const struct replacement *r, const struct origin *o,
                         struct arena *a, struct origin *out)
{
    struct str path = origin_slot_path(o);

    *out = (struct origin){.scheme = ORIGIN_FILE, .path = r->path};
    if (r->is_whole && path.n)
        out->path =
            arena_printf(a, "%.*s/%.*s", STR_ARG(r->path), STR_ARG(path));
    out->text = out->key = str_join(STR("file:"), out->path, a);
}

void replacement_apply(const struct replacement *r, const struct origin *o,
                       struct arena *a, struct origin *out)
{
    struct origin full = r->target;
    struct str ref = o->rest, path = r->path.n ? r->path : origin_slot_path(o);

    if (r->is_folder) {
        apply_folder(r, o, a, out);
        return;
    }
    if (!r->carries_ref) {
        *out = r->target;
        return;
    }
    if (!o->is_short) {
        if (!r->is_whole)
            ref = origin_slot(o);
        origin_complete(&full, ref, r->is_whole ? STR("") : path, a, out);
        return;
    }
    full.is_short = true;
    full.ref = o->ref;
    full.path = path;
    full.text =
        arena_printf(a, "%.*s (for %.*s)", STR_ARG(origin_repository(&full, a)),
                     STR_ARG(o->text));
    full.key = full.text;
    *out = full;
}

#include "base/hash.h"
#include "base/invariant.h"
#include "mapm/mcp_file.h"
#include "mapm/resolver.h"

/*
 * Assigns folders and keys. The first package of a layer gets the short name;
 * recorded names of the lock take precedence, so that a later install never
 * renames a package (X9, X21).
 */

#define SUFFIX_CHARS 9 /* "-" and 8 hex */

/* Agents and skills have separate namespaces of folders; MCP servers have
 * keys. */
struct spaces {
    struct map agents, skills, keys;
    struct arena *a; /* memory for the names */
    struct arena scratch;
};

/* Reserves a name. Returns false if another package has it. Ignores case, as
 * some file systems and clients do. */
static bool claim(struct spaces *s, enum doc_kind kind, struct str name)
{
    struct map *space = kind == DOC_AGENT ? &s->agents
                        : kind == DOC_MCP ? &s->keys
                                          : &s->skills;

    return map_put(space, str_lower(name, &s->scratch), NULL);
}

/* Returns the name with its scope: acme-tools-git-pr for acme.tools/git-pr.
 * Without scope, returns the name. */
static struct str scoped_name(const struct package *p, struct arena *a)
{
    char *text = arena_text(a, p->fqn.p, p->fqn.n);

    for (size_t i = 0; i < p->fqn.n; i++)
        if (text[i] == '.' || text[i] == '/')
            text[i] = '-';
    return str_make(text, p->fqn.n);
}

/* Appends a suffix with a hash of the FQN, which makes the name unique. The
 * name is truncated so that the result is not too long. */
static struct str hashed_name(struct str name, struct str fqn, struct arena *a)
{
    struct hash hash = hash_of(fqn);
    char hex[HASH_HEX_CHARS + 1];

    hash_format(&hash, hex);
    name = str_slice(name, 0, NAME_MAX_CHARS - SUFFIX_CHARS);
    while (name.n && name.p[name.n - 1] == '-')
        name.n--;
    return arena_printf(a, "%.*s-%.8s", STR_ARG(name), hex);
}

/* Returns the first key to try. The only server of a plugin usually has the
 * name of the plugin, so one of them ("slack") is sufficient. */
static struct str first_key(const struct package *p, struct arena *a)
{
    struct str rest = p->fqn, plugin;

    return p->origin && p->origin->part.n && str_cut(&rest, '/', &plugin) &&
                   str_eq(plugin, rest)
               ? mcp_key(plugin, a)
               : mcp_key(p->fqn, a);
}

/* Returns the name to try after `attempt` names were already taken, or "" if no
 * candidate is left. */
static struct str candidate(const struct package *p, int attempt,
                            struct arena *a)
{
    struct str scoped;

    if (p->kind == DOC_MCP)
        return attempt == 0   ? first_key(p, a)
               : attempt == 1 ? mcp_key_hashed(p->fqn, a)
                              : STR("");
    scoped = scoped_name(p, a);
    if (attempt == 0)
        return p->name;
    if (attempt == 1 && scoped.n <= NAME_MAX_CHARS)
        return scoped;
    return attempt <= 2 ? hashed_name(scoped, p->fqn, a) : STR("");
}

bool resolver_may_assign(const struct package *p, struct str name,
                         struct arena *a)
{
    struct str other;

    for (int attempt = 0; (other = candidate(p, attempt, a)).n; attempt++)
        if (str_eq(name, other))
            return true;
    return false;
}

static bool assign_new(struct spaces *s, const struct package *p,
                       struct str *out, struct err *e)
{
    struct str name;

    for (int attempt = 0; (name = candidate(p, attempt, s->a)).n; attempt++) {
        if (claim(s, p->kind, name)) {
            *out = name;
            return true;
        }
    }
    return err_set(e, ERR_CONFLICT,
                   "%s %.*s finds no free name: other packages have \"%.*s\" "
                   "and all that could stand for it",
                   doc_kind_name(p->kind), STR_ARG(p->fqn),
                   STR_ARG(candidate(p, 0, s->a)));
}

static void spaces_done(struct spaces *s)
{
    arena_done(&s->scratch);
}

bool resolver_assign_names(const struct plan *plan,
                           struct str (*taken)(void *ctx,
                                               const struct package *p),
                           void *ctx, struct arena *a, struct str *names,
                           struct err *e)
{
    CLEANUP(spaces_done) struct spaces s = {.a = a};
    struct str *chosen;

    if (plan->count == 0)
        return true;
    chosen = arena_array(&s.scratch, plan->count, sizeof *chosen);
    map_init(&s.agents, &s.scratch);
    map_init(&s.skills, &s.scratch);
    map_init(&s.keys, &s.scratch);
    for (size_t i = 0; i < plan->count; i++) {
        const struct package *p = plan->steps[i].package;

        chosen[i] = taken ? taken(ctx, p) : STR("");
        if (chosen[i].n && !claim(&s, p->kind, chosen[i]))
            return err_set(e, ERR_CONFLICT,
                           "%s %.*s: another one is recorded as \"%.*s\", too",
                           doc_kind_name(p->kind), STR_ARG(p->fqn),
                           STR_ARG(chosen[i]));
    }
    for (size_t i = 0; i < plan->count; i++)
        if (!chosen[i].n && plan->steps[i].package->kind != DOC_PLUGIN &&
            !assign_new(&s, plan->steps[i].package, &chosen[i], e))
            return false;
    for (size_t i = 0; i < plan->count; i++) {
        INVARIANT((chosen[i].n == 0) ==
                  (plan->steps[i].package->kind == DOC_PLUGIN));
        names[i] = chosen[i];
    }
    return true;
}

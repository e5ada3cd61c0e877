#ifndef MAPM_RESOLVER_H
#define MAPM_RESOLVER_H

#include "base/map.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/origin.h"
#include "mapm/project.h"

/*
 * resolver: computes a plan from root origins, dependencies first.
 *
 *     roots --> resolver_resolve() --> struct plan
 *                     `--> requests packages from a struct resolver_source
 *
 * It implements the rules without network and disk access: the caller provides
 * the packages. It is iterative: a deep graph costs no C stack.
 *
 * Source: MetaAgents, Resolution Rules (M24 to M28); REQUIREMENTS 3; DESIGN.md
 * 6; THREATS.md row 11.
 */

/* A package with its identity and its dependencies: what the resolver orders. It
 * does not use the last group of members. */
struct package {
    enum doc_kind kind;
    bool is_metaskill;
    /* Recorded under this origin: of packages with equal name and content, the
     * plan takes it, otherwise the first one that is found. */
    bool is_recorded;
    const struct origin *origin;
    struct str fqn;
    struct str name;    /* short name: preferred name of its folder */
    struct str content; /* digest: equal for equal content */
    struct str commit;  /* "" for file: */
    const struct dependency *deps;
    size_t dep_count;

    struct str version, prereqs; /* from its entry file; "" if none */
    void *user;                  /* for the caller */
};

/* Called once per distinct origin key, in the order of traversal. A failure is
 * recorded with the chain of origins that led to it; the traversal continues,
 * so that all errors are found. */
struct resolver_source {
    bool (*read)(void *ctx, const struct origin *o, enum doc_kind expected,
                 const struct package **out, struct err *e);
    void *ctx;
};

struct plan_step {
    const struct package *package;
    /* Origin keys with this content, in the order of discovery. */
    struct str *origins;
    size_t origin_count;
    size_t *needs; /* indices of earlier steps, in declared order */
    size_t need_count;
    size_t by; /* step that requested it first; SIZE_MAX for a root */
    bool is_root;
};

struct plan {
    struct plan_step *steps; /* each after everything it depends on */
    size_t count;
    struct map by_key; /* origin key -> (struct plan_step *) */
};

/*
 * Resolves `roots` and their dependencies depth-first; of each package its MCPs
 * before its skills, as declared (M24). The same packages always give the same
 * plan, regardless of the order in which they arrive.
 *
 * Rules: no cycle (every edge is reported); one package per (kind, fqn) in a
 * layer, unless the content is equal (then both origins are kept, and the
 * caller issues a note); MCPs have no dependencies; a skill or MCP dependency
 * must be of that kind; agents cannot be dependencies; a file: package is
 * allowed only below file: packages or roots; the graph is within `limits`.
 *
 * Ownership: the plan is allocated in `a`. `out` is unchanged on failure.
 * Errors: the code of the first error (ERR_CYCLE, ERR_CONFLICT, ERR_LIMIT,
 * or that of `source`); all errors are listed, at most ERROR_MAX_LINES and
 * then "… and N more".
 */
MUST_CHECK bool resolver_resolve(const struct resolver_source *source,
                                 const struct root *roots, size_t count,
                                 const struct limits *limits, struct arena *a,
                                 struct plan *out, struct err *e);

/*
 * Assigns the names of folders and keys in a layer (X9, X21): the short name,
 * or scope-name. `taken(ctx, package)` returns the name that the lock has
 * recorded for a package, which never changes, or an empty str. Sets names[i]
 * for each step (folder, or .mcp.json key), allocated in `a`.
 * Errors: ERR_CONFLICT.
 */
MUST_CHECK bool
resolver_assign_names(const struct plan *plan,
                      struct str (*taken)(void *ctx, const struct package *p),
                      void *ctx, struct arena *a, struct str *names,
                      struct err *e);

/* Returns whether a package can have this name, which its lock must record. `a`
 * is scratch memory. */
bool resolver_may_assign(const struct package *p, struct str name,
                         struct arena *a);

#endif

#ifndef MAPM_RESOLVER_H
#define MAPM_RESOLVER_H

#include "base/map.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/origin.h"
#include "mapm/project.h"

/*
 * resolver: from root origins to a plan, dependencies first.
 *
 *     roots --> resolver_resolve() --> struct plan
 *                     `--> asks a struct resolver_source for each package
 *
 * Knows the rules, no network and no disk: the caller says where packages
 * come from. Iterative: a deep graph costs no C stack.
 *
 * Source: MetaAgents, Resolution Rules (M24 to M28); REQUIREMENTS 3;
 * DESIGN.md 6; THREATS.md row 11.
 */

/* A package. The last group is nothing to the resolver. */
struct package {
    enum doc_kind kind;
    bool is_metaskill;
    const struct origin *origin;
    struct str fqn;
    struct str name;    /* short name: the folder it wants */
    struct str content; /* equal for equal content: its digest */
    struct str commit;  /* "" for file: */
    const struct dependency *deps;
    size_t dep_count;

    struct str version, prereqs; /* of its document; "" = none */
    void *user;                  /* the caller's */
};

/* Called once per distinct origin key, in the order of the walk. Failing
 * makes the origin a problem, with the chain that led there; the walk goes
 * on, so that all problems are found. */
struct resolver_source {
    bool (*read)(void *ctx, const struct origin *o, enum doc_kind expected,
                 const struct package **out, struct err *e);
    void *ctx;
};

struct plan_step {
    const struct package *package;
    /* all keys that led to this content, first one first */
    struct str *origins;
    size_t origin_count;
    size_t *needs; /* indices of earlier steps, in declared order */
    size_t need_count;
    size_t by; /* step that first asked for it; SIZE_MAX: a root */
    bool is_root;
};

struct plan {
    struct plan_step *steps; /* each after everything it depends on */
    size_t count;
    struct map by_key; /* origin key -> (struct plan_step *) */
};

/*
 * Resolve `roots` and all they depend on, depth-first; of one package first
 * its mcps, then its skills, as declared (M24). The same packages always give
 * the same plan, whatever order they arrived in.
 *
 * Rules: no cycle (every edge is named); (kind, fqn) one package per layer,
 * unless the content is equal (both origins kept, a note is the caller's);
 * MCPs are leaves; a skill or mcp dependency must be of that kind; agents
 * are no dependencies; a file: package only below file: packages or roots;
 * `limits`, those of the graph.
 *
 * Ownership: the plan lives in `a`. `out` is untouched on failure.
 * Errors: the code of the first problem (ERR_CYCLE, ERR_CONFLICT, ERR_LIMIT,
 * or what `source` reported); all problems are listed, at most
 * ERROR_MAX_LINES and then "… and N more".
 */
MUST_CHECK bool resolver_resolve(const struct resolver_source *source,
                                 const struct root *roots, size_t count,
                                 const struct limits *limits, struct arena *a,
                                 struct plan *out, struct err *e);

/*
 * Folder and key names of a layer (X9, X21): who keeps the short name, who
 * gets scope-name. `taken(ctx, package)` gives the name that the lock has
 * recorded for it, or an empty str: a recorded name never changes.
 * Fills names[i] for each step (folder, or .mcp.json key); in `a`.
 * Errors: ERR_CONFLICT.
 */
MUST_CHECK bool
resolver_assign_names(const struct plan *plan,
                      struct str (*taken)(void *ctx, const struct package *p),
                      void *ctx, struct arena *a, struct str *names,
                      struct err *e);

/* Whether the package could have been given this name: no other one can be
 * recorded in its lock. `a` is scratch. */
bool resolver_may_assign(const struct package *p, struct str name,
                         struct arena *a);

#endif

#ifndef MAPM_SCAFFOLD_H
#define MAPM_SCAFFOLD_H

#include "base/context.h"
#include "mapm/doc_kind.h"

/*
 * scaffold: creates packages and workspaces from templates.
 *
 *     request --> template --> validated as `mapm check --profile publish`
 *                                  `--> a folder or file, created atomically
 *
 * Existing files are never replaced. The templates are in scaffold/templates/.
 *
 * Source: M1 to M6, M16 to M18, M29, K1, K3, K8.
 */

struct scaffold_request {
    struct str word; /* "skill", "metaskill", "agent", "mcp", "plugin" */
    struct str name;
    struct str scope, description; /* p NULL for that of the template */
};

/* A package that was created. */
struct scaffold_package {
    enum doc_kind kind;
    struct str fqn;
    struct str path;       /* relative to cx->cwd: "skills/x" or
                              "mcps/a_b.json" */
    struct str_list files; /* paths of its files */
    const char *next;      /* the next step for the author */
};

/*
 * Creates a package in its folder below cx->cwd.
 *
 * Ownership: allocated in cx->arena.
 * Errors: ERR_USAGE for an unknown word or a scope where none is allowed;
 * ERR_NAME; ERR_FAILED if it exists already.
 */
MUST_CHECK bool scaffold_package(struct context *cx,
                                 const struct scaffold_request *r,
                                 struct scaffold_package *out, struct err *e);

#define SCAFFOLD_WORKSPACE_FILE "mapm.yaml"

/* Creates mapm.yaml in `folder`, which is created if necessary. Sets `*is_new`
 * to false if mapm.yaml existed. */
MUST_CHECK bool scaffold_workspace(struct context *cx, struct str folder,
                                   bool *is_new, struct err *e);

#endif

#ifndef LINT_WALK_H
#define LINT_WALK_H

#include "mapm/lint.h"

/*
 * check_walk: visits one folder, or one file that was named: checks its
 * documents, and pushes the folders below it. Thread-safe: each thread has a
 * worker.
 */

struct job {
    const struct check_root *root;
    struct str folder; /* below the root */
    struct str name, parent;
    unsigned depth;
    struct str plugin; /* the innermost plugin it is in, below the root */
    bool in_plugin;
};

/* A folder that should contain a document, and does not. */
struct empty_dir {
    const struct check_root *root;
    struct str folder;
    struct str misspelt; /* "skill.md" */
    bool in_bucket;
    bool has_agents; /* an AGENTS.md that is perhaps a project's own */
    bool is_catalog;
};

struct worker {
    const struct check_rules *rules;
    size_t *entries; /* seen so far by all; atomic */
    struct arena *arena;
    struct check_result **results;
    size_t count, capacity;
    struct empty_dir *empty_dirs;
    size_t empty_dir_count, empty_dir_capacity;
    struct job *below; /* folders found in the current one */
    size_t below_count, below_capacity;
};

/* False only when the whole check has to end. */
MUST_CHECK bool walk_job(struct worker *w, struct job *job, struct err *e);

/* As shown: the empty folder itself. In the worker's arena. */
struct str walk_path(const struct worker *w, const struct empty_dir *h);

/* Whether `r` is in the folder or below it. */
bool walk_is_within(const struct check_result *r, const struct empty_dir *h);

/* At the end: reports missing documents, unless `has_some` is enough. */
void walk_report(struct worker *w, const struct empty_dir *h, bool has_some);

#endif

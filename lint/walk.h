#ifndef LINT_WALK_H
#define LINT_WALK_H

#include "mapm/lint.h"

/*
 * check_walk: visits one folder, or one named file: checks its documents and
 * pushes the folders below. Thread-safe: each thread has its own worker.
 */

struct job {
    const struct check_root *root;
    struct str folder; /* path below the root */
    struct str name, parent;
    unsigned depth;
    struct str plugin; /* path below the root of the innermost plugin that
                        * contains it */
    bool in_plugin;
};

/* A folder that should contain a document and does not. */
struct empty_dir {
    const struct check_root *root;
    struct str folder;
    struct str misspelt; /* a misspelt name such as "skill.md" */
    bool in_bucket;
    bool has_agents; /* has an AGENTS.md that may be the project's own */
    bool is_catalog;
};

struct worker {
    const struct check_rules *rules;
    size_t *entries; /* number of entries read by all threads; atomic */
    struct arena *arena;
    struct check_result **results;
    size_t count, capacity;
    struct empty_dir *empty_dirs;
    size_t empty_dir_count, empty_dir_capacity;
    struct job *below; /* folders found in the current folder */
    size_t below_count, below_capacity;
};

/* Returns false only if the whole check must end. */
MUST_CHECK bool walk_job(struct worker *w, struct job *job, struct err *e);

/* Returns the path of the empty folder for messages, allocated in the worker's
 * arena. */
struct str walk_path(const struct worker *w, const struct empty_dir *h);

/* find.c: returns how many threads a check may use. */
size_t lint_thread_count(void);

/* Returns true if `r` is in the folder or below it. */
bool walk_is_within(const struct check_result *r, const struct empty_dir *h);

/* Reports missing documents after the walk, unless `has_some` suffices. */
void walk_report(struct worker *w, const struct empty_dir *h, bool has_some);

#endif

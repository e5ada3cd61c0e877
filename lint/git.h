#ifndef LINT_GIT_H
#define LINT_GIT_H

#include "mapm/workspace_git.h"

/*
 * check_git: the content of a repository at a commit, by the `git` program.
 * Only objects and the index are read.
 */

struct git {
    struct context *cx;
    struct str top;
    struct git_run run;
};

/* A file or link in the tree of a commit. */
struct git_file {
    struct str path; /* path from the top */
    uint32_t mode;   /* mode as in git: 0100644, 0100755, 0120000 … */
    struct str id;   /* hexadecimal */
};

/* Opens the repository. Ownership here and below: in cx->arena. Errors:
 * ERR_NOT_FOUND without the git program. */
MUST_CHECK bool git_open(struct context *cx, struct str top, struct git *out,
                         struct err *e);

/* Returns the output of git for `args`, trimmed; "" if it fails. */
struct str git_text(const struct git *g, const char *const *args);

/* Resolves `ref`. Errors: ERR_REF if it names no commit. */
MUST_CHECK bool git_commit(const struct git *g, struct str ref,
                           struct str *commit, struct err *e);

/* Lists all files of a commit below `folders` by path, or all files if one is
 * "". */
MUST_CHECK bool git_list(const struct git *g, struct str commit,
                         const struct str *folders, size_t folder_count,
                         struct git_file **out, size_t *count, struct err *e);

/* Lists the paths of the work tree that git tracks or would add, by path. The
 * files may be missing. */
MUST_CHECK bool git_work_files(const struct git *g, const struct str *folders,
                               size_t folder_count, struct str **out,
                               size_t *count, struct err *e);

/* Computes the ids of regular files of the work tree with their present
 * content. */
MUST_CHECK bool git_hash(const struct git *g, const struct str *paths,
                         size_t count, struct str *ids, struct err *e);

/* Reads the content of blobs; for a missing blob p is NULL. */
MUST_CHECK bool git_read(const struct git *g, const struct str *ids,
                         size_t count, struct str *texts, struct err *e);

#endif

#ifndef MAPM_PATCHES_H
#define MAPM_PATCHES_H

#include "base/context.h"
#include "base/map.h"
#include "mapm/doc_kind.h"
#include "mapm/provision.h"

/*
 * patches: reads the patches of a workspace, which its team commits.
 *
 *     .mapm/patches/skill-acme__pdf.patch
 *
 * Each file is named after its package: type, "-", and the FQN with "__"
 * instead of "/", which no FQN contains. Files that do not end with .patch are
 * ignored. base/patch.h defines the format.
 *
 * Source: D7.
 */

#define PATCHES_FOLDER PROVISION_PATCHES

/* A committed patch, whose name says for which package it is. */
struct package_patch {
    struct str file; /* ".mapm/patches/skill-x.patch" */
    struct str text;
    struct str hash; /* "sha256:…" of the text */
};

struct patches {
    struct package_patch *items; /* sorted by file */
    size_t count;
    struct map by_file; /* -> struct package_patch * */
};

/* Reads the patches of the workspace `path` without following symbolic links.
 * Ownership: allocated in the arena of `cx`.
 * Errors: ERR_REFUSED for a file of another user, ERR_LIMIT. */
MUST_CHECK bool patches_read(struct context *cx, struct str path,
                             struct patches *out, struct err *e);

/* Sets or, with text "", removes a patch in memory, without a file: to
 * examine the effect. */
void patches_set(struct patches *p, struct str file, struct str text,
                 struct arena *a);

/* Returns the patch of a file name, or NULL. */
const struct package_patch *patches_find(const struct patches *p,
                                         struct str file);

/* Returns the path of the patch of a skill or agent. Allocated in `a`. */
struct str patches_file(enum doc_kind kind, struct str fqn, struct arena *a);

#endif

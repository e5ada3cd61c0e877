#ifndef MAPM_PATCHES_H
#define MAPM_PATCHES_H

#include "base/context.h"
#include "base/map.h"
#include "mapm/doc_kind.h"
#include "mapm/provision.h"

/*
 * patches: the patches of a workspace, as its people commit them.
 *
 *     .mapm/patches/skill-acme__pdf.patch
 *
 * Each is named after its package: type, "-", and the FQN with "__" for "/",
 * which no FQN has. Other files than *.patch are nobody's business. What a
 * patch may say is base/patch.h's. Source: D7.
 */

#define PATCHES_FOLDER PROVISION_PATCHES

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

/*
 * Those of the workspace `path`, through no link. Ownership: in the arena of
 * `cx`. Errors: ERR_REFUSED for a file of another user, ERR_LIMIT.
 */
MUST_CHECK bool patches_read(struct context *cx, struct str path,
                             struct patches *out, struct err *e);

/* A patch that is not of a file, "" to take it out: for what would be. */
void patches_set(struct patches *p, struct str file, struct str text,
                 struct arena *a);

/* NULL: none. */
const struct package_patch *patches_find(const struct patches *p,
                                         struct str file);

/* Of a skill or agent. In `a`. */
struct str patches_file(enum doc_kind kind, struct str fqn, struct arena *a);

#endif

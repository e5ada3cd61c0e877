#ifndef INSTALL_SELECTION_H
#define INSTALL_SELECTION_H

#include "install_session.h"

/*
 * selection: of what was chosen from catalogs, what can be installed.
 *
 *     choices --> selection_evaluate() --> each is taken, or left out with the
 *                                       reason and the chain that leads to it
 *
 * A choice is taken when all that it needs is valid and none of it conflicts
 * with the roots of the layer or with choices before it. Two folders of one
 * catalog with one name and different content get a name each (see
 * selection_name). Source: issue row F4; M25 to M28.
 */

struct choice {
    struct node *node;
    struct str name, path; /* as offered */
    bool is_exact;         /* named, not matched: a failure fails the command */
    const struct catalog *catalog; /* that chooses it; NULL: it is listed */
    bool is_left_out;
    struct str conflict; /* of ranges, for which it stays left out; one line */
    bool is_in_conflict; /* … that versions.c found last; */
    bool is_cause;       /* its range excludes what an earlier one has */
    struct str code;     /* why: of the first error, stable */
    struct str message;  /* one line */
    struct node **chain; /* from `node` to the package at fault */
    size_t chain_count;
    size_t omitted; /* links before the last one */
};

/* Evaluates all of them again. Nothing is fetched. Before versions are resolved,
 * ranges of one package do not differ. */
void selection_evaluate(struct install_session *s, struct choice *choices,
                        size_t count, bool is_resolved);

/* After that: asks for the files of all that is taken and not here yet. */
MUST_CHECK bool selection_want_files(struct install_session *s,
                                     const struct choice *choices, size_t count,
                                     bool *any, struct err *e);

/* After that: which of them finds a folder in its place that mapm did not make.
 * They and what needs them are left out the next time; `*any`: some are. */
MUST_CHECK bool selection_check_places(struct install_session *s, bool *any,
                                       struct err *e);

/*
 * Names for folders of one repository that have one name and different
 * content: <p>/<name>, where p is the nearest folder above that is not called
 * skills, agents or plugins and does not begin with a dot; where that is the
 * root of a plugin, the plugin's name. Where no folder of equal content has one,
 * the nearest folder that begins with a dot gives the name without it. The only
 * content without a name keeps its own. Packages
 * that the lock has a name for keep it, and so do those that were named before: of equal
 * folders that differ now the one that the name is from.
 */
void selection_name(struct install_session *s, struct node *const *nodes,
                    size_t count);
/* Returns the same text for packages of one catalog whose documents have one
 * name, among which selection_name() decides. Allocated in `a`. */
struct str selection_twin_key(const struct node *n, struct arena *a);
/* Whether a recorded name is that of a folder which is no root any more, so
 * that selection_name() has to know all paths. */
bool selection_lost_name(struct install_session *s, struct node *const *nodes,
                         size_t count);
/* Before that: reads what plugins are called whose folders would give a new
 * name. */
MUST_CHECK bool selection_find_plugins(struct install_session *s,
                                       struct node *const *nodes, size_t count,
                                       struct err *e);

/* Those that are left out, by code and origin. In `a`. */
struct install_left_out *selection_left_out(const struct choice *choices,
                                            size_t count, struct arena *a,
                                            size_t *left_out_count);

#endif

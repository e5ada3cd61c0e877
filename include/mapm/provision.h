#ifndef MAPM_PROVISION_H
#define MAPM_PROVISION_H

#include "base/patch.h"
#include "mapm/clients_scope.h"
#include "mapm/doc_kind.h"
#include "mapm/package_file.h"

#include <sys/stat.h>

/*
 * provision: install a layer into a workspace, atomically.
 *
 *     provision_open()     lock the workspace, recover an interrupted apply
 *     provision_plan()     compare disk, record and desired state
 *     provision_apply()    stage, sync, journal, swap, sync, lock file, done
 *     provision_close()
 *
 *     provision_find_edits()   what the user changed
 *
 * Nothing in the workspace changes before provision_apply. What mapm wrote is
 * recorded, with hashes, in .agents/.mapm/state: what differs from that is
 * the user's, and is never overwritten or removed without `force` (which
 * keeps a backup).
 *
 * Source: DESIGN.md 3, 7; CLIENTS.md 2 to 4; M20 to M23, X2, X9, X19 to X22;
 * THREATS.md 1.7, rows 9, 15, 16, 27, 28.
 */

/* Objects, handed in by the caller (they live in the store). */
struct provision_objects {
    /* Writes the new file `path` below `dirfd` and sets `*st` to its status. */
    bool (*place)(void *ctx, const struct hash *h, int dirfd, const char *path,
                  bool executable, struct stat *st, struct err *e);
    bool (*read)(void *ctx, const struct hash *h, size_t max_bytes,
                 struct arena *a, struct str *out, struct err *e);
    void *ctx;
};

struct provision_item {
    enum doc_kind kind;
    bool rename;      /* the copy's `name` becomes `place` (X2, X9) */
    bool restore;     /* see provision_options.only_restore */
    bool is_searched; /* a skill that no client lists: in PROVISION_SEARCHED */
    struct str fqn;
    struct str place; /* folder name, or .mcp.json key */
    struct hash digest;
    const struct package_file *files;
    size_t file_count; /* an MCP: one */
    struct str own; /* folder of the workspace that a skill or agent is a link
                     * to; "" for a copy */
};

/* Skills that clients look for, and those that are there for searches alone. */
#define PROVISION_SKILLS   ".agents/skills"
#define PROVISION_SEARCHED ".agents/.mapm/skills"

/* Where the patches of a workspace are: texts, too. */
#define PROVISION_PATCHES ".mapm/patches"

/* Written in the swap itself, in order, the last ones last. NULL content
 * (p == NULL) removes. */
struct provision_text {
    struct str path; /* "mapm.yaml", "mapm.lock", ".gitignore", a patch … */
    struct str content;
};

struct provision_options {
    struct str shared_dir;
    struct str program; /* user level: mapm, absolute */
    struct client_choice clients;
    /* Programs whose entry would hold a path of this machine are started by
     * `mapm start` [D20]. */
    bool start_servers;
    bool force;
    /* Only items with `restore` change, as with `force`; files that the user
     * added to their folders go to the backup, too. The rest stays as it is. */
    bool only_restore;
    /* A package with edits of the user stays in place and belongs to the user
     * from then on, instead of ERR_EDITED: see provision_preserved_edits. For
     * mapm remove. `force` takes precedence. */
    bool keep_edited;
    /* Equal folders and servers that are there already were the user's. Of
     * folders the record says so from then on (provision_took_over). */
    bool takes_over;
    struct provision_objects objects;
};

enum provision_change_kind {
    PROVISION_ADD,
    PROVISION_UPDATE,
    PROVISION_REMOVE,
};

struct provision_change {
    enum provision_change_kind kind;
    bool names_mapm; /* an entry whose command is "mapm", without a folder */
    bool is_literal; /* an entry with variables that the client leaves so */
    bool
        is_repair; /* mapm wrote this very content there, and it is not there */
    struct str path;   /* what changes: a folder, a file, or file#key */
    struct str client; /* "" for the common ones */
};

struct provision;

/*
 * `path` absolute; `scope` borrowed until provision_close. Takes the workspace's lock (flock on the folder itself;
 * waits WORKSPACE_WAIT_SECONDS, calls `waiting` once), then finishes or
 * undoes an interrupted swap (`*recovered`). `read_only` takes no lock and
 * recovers only when there is a journal.
 */
MUST_CHECK bool provision_open(struct str path,
                               const struct client_scope *scope, bool read_only,
                               void (*waiting)(void *), void *ctx,
                               bool *recovered, struct provision **out,
                               struct err *e);
void provision_close(struct provision *p);

/*
 * Stages the files of a package before the plan, which may not need them:
 * provision_apply uses a matching staged folder. Staged files are removed by
 * provision_apply or provision_close. A failure is not reported:
 * provision_apply reports its cause. `files` sorted by path.
 */
void provision_stage_early(struct provision *p,
                           const struct provision_objects *objects,
                           const struct hash *digest,
                           const struct package_file *files, size_t count);

/*
 * The changes that make the workspace contain exactly `items`: recorded
 * content that `items` no longer names is removed. A skill that the user put
 * into .agents/skills is linked for clients that do not look there. Equal `texts` are no change.
 * Without changes `*count` is 0, at a cost of one lstat a file.
 *
 * A package of the recorded digest that differs only by edits of the user is
 * skipped (provision_skipped_modified), unless `force` restores it. This
 * requires a record that was written on this disk.
 *
 * Errors: ERR_EDITED naming the edited files, or a folder of the user, that
 * would be lost; ERR_CONFLICT for a foreign server of the same key;
 * ERR_REFUSED for a link or a special file in place of a folder or file; ERR_MCP for placeholders; ERR_FORMAT for a client's file that
 * cannot be read.
 * Ownership: in `a`, which must outlive `provision_apply`, as must `o`.
 */
MUST_CHECK bool
provision_plan(struct provision *p, const struct provision_options *o,
               const struct provision_item *items, size_t item_count,
               const struct provision_text *texts, size_t text_count,
               struct arena *a, struct provision_change **changes,
               size_t *count, struct err *e);

/* Whether the client gets files in this workspace. */
struct client;
bool provision_uses(struct provision *p, const struct provision_options *o,
                    const struct client *c);

/* Whether a marker of the client is there that mapm did not make. */
bool provision_is_marked(struct provision *p, const struct client *c);
/*
 * Sets `served[i]` for each client of the table that has a file or folder that
 * mapm gave it, and that is still there. What several of them read was given to
 * the one that has something of its own besides, else to one that is in use by
 * `o`, else to the first; never to one that `o->clients` leaves out. One that is
 * always in use has links to skills unasked: they do not count at user level.
 */
void provision_find_served(struct provision *p,
                           const struct provision_options *o, bool *served);
/* User level: whether mapm made the folder `path`, absolute. */
bool provision_made_folder(struct provision *p, struct str path);

/* Whether the record has anything for the client; without a record it may. */
bool provision_has_given(struct provision *p, const struct client *c);

/* Whether the skills folder is empty or absent. The plan of a skill then needs no
 * `files` in its item, unless it is applied. */
bool provision_has_no_skills(struct provision *p);

/*
 * Whether the workspace is known to contain exactly `items`: the record has
 * their digests, and one lstat a file shows that none was modified. The caller
 * compares the texts. Reads no object and needs no `files` in the items. After
 * false provision_plan finds the differences. `a` is scratch memory.
 */
bool provision_is_current(struct provision *p,
                          const struct provision_options *o,
                          const struct provision_item *items, size_t item_count,
                          struct arena *a);

/* Applies the last plan. After true the result survives a power failure; after
 * false the workspace is unchanged. An empty plan may still have to update the
 * record, so apply it, too. */
MUST_CHECK bool provision_apply(struct provision *p, struct err *e);

/*
 * The plan of one place of several that change together: `texts` alone, and
 * nothing that mapm put there. Otherwise as provision_plan.
 */
MUST_CHECK bool provision_plan_texts(struct provision *p,
                                     const struct provision_options *o,
                                     const struct provision_text *texts,
                                     size_t text_count, struct arena *a,
                                     struct provision_change **changes,
                                     size_t *count, struct err *e);

/*
 * The last plans of several places as one: all of them or none, killed at any
 * instant. `paths`: of each below the last one, which holds the stage, the
 * journal and a backup, and has itself the path "". Those without a plan stay
 * as they are. Errors: as provision_apply.
 */
MUST_CHECK bool provision_apply_all(struct provision *const *all,
                                    const struct str *paths, size_t count,
                                    struct err *e);

/*
 * For each item the first path (its folder, the links and sub-agents of the
 * clients in use; of a server the file and its key) with content that mapm did
 * not write and that is no part of the package: provision_plan refuses that.
 * "" without one.
 */
MUST_CHECK bool provision_find_taken(struct provision *p,
                                     const struct provision_options *o,
                                     const struct provision_item *items,
                                     size_t count, struct arena *a,
                                     struct str *paths, struct err *e);

/* The folder of the package at `place`, its own or that of a client, or the
 * server with that key (".mcp.json#key"), that was there before an import took
 * it over; "" for none. In `a`. */
struct str provision_took_over(struct provision *p, enum doc_kind kind,
                               struct str place, struct arena *a);

/* A file that differs, and how. */
struct provision_difference {
    struct str path;
    const char *how; /* "changed" "missing" "extra" "not ours" … */
    bool is_left; /* in the folder of a package that is not among the items */
};
/* Hashes all files of `items`. Files that mapm wrote for other packages are
 * reported with `is_left`. */
MUST_CHECK bool provision_verify(struct provision *p,
                                 const struct provision_options *o,
                                 const struct provision_item *items,
                                 size_t item_count, struct arena *a,
                                 struct provision_difference **out,
                                 size_t *count, struct err *e);

/*
 * What the user changed of `items`: each file that differs from what mapm put
 * there, as the record says, or where this disk has none from the items'
 * content. A file that the record vouches for is not read. Of the servers in a
 * client's file: the file, and what it would be without the edits.
 * A package that was never put there has no edits. `is_opaque` where the
 * objects no longer have the installed content.
 *
 * Errors: ERR_NOT_FOUND without a record and without `files`; ERR_FORMAT for a
 * client's file that cannot be read. Ownership: in `a`.
 */
struct provision_edit {
    const struct provision_item *item;
    struct patch_file file; /* its path begins in the workspace */
};
MUST_CHECK bool provision_find_edits(struct provision *p,
                                     const struct provision_options *o,
                                     const struct provision_item *items,
                                     size_t item_count, struct arena *a,
                                     struct provision_edit **out, size_t *count,
                                     struct err *e);

/* Whether the record of this disk says that just this skill or agent was put
 * into its folder; edited or not. `a` is scratch memory. */
bool provision_holds(struct provision *p, const struct provision_options *o,
                     const struct provision_item *item, struct arena *a);

/* The MCP file of the client with this one server. `entry`: as in an MCP file,
 * JSON. In `a`. */
MUST_CHECK bool provision_format_server(const struct client *c, struct str key,
                                        struct str entry, struct arena *a,
                                        struct str *out, struct err *e);

/* The clients' files that now hold absolute paths, with ", " between them, so
 * that they belong in .gitignore; "" for none. After provision_apply. */
struct str provision_absolute_files(const struct provision *p);

/*
 * What mapm wrote here and would write again: folders, links, sub-agents, and
 * clients' files that hold absolute paths, or that it made. Nothing where the record is not of
 * this machine. In `a`. Errors: as provision_plan reads the record.
 */
enum provision_list {
    PROVISION_LIST_ABSOLUTE,
    PROVISION_LIST_MADE,
};
MUST_CHECK bool provision_list_generated(struct provision *p,
                                         enum provision_list which,
                                         struct arena *a, struct str **paths,
                                         size_t *count, struct err *e);

/* The backup of the last provision_apply with `force`, relative to the
 * workspace: ".agents/.mapm/backup/3"; "" when no file of the user was
 * displaced. Lives as long as `p`. */
struct str provision_backup(const struct provision *p);

/* Edits that the last provision_plan with `keep_edited` preserves, one message
 * each: ".agents/skills/x/SKILL.md was changed". In the arena of the plan. */
const struct str *provision_preserved_edits(const struct provision *p,
                                            size_t *count);

/* Modified files that the last provision_plan skips, because their package
 * does not change. In the arena of the plan. */
struct provision_skipped {
    const struct provision_item *item; /* one of the plan's */
    struct str what; /* ".agents/skills/x/SKILL.md was changed" */
};
const struct provision_skipped *
provision_skipped_modified(const struct provision *p, size_t *count);

/* Files and folders at user level that the last provision_plan leaves alone.
 * In the arena of the plan. */
struct provision_untouched {
    struct str client;
    struct str path;
    struct str why;
    struct str snippet; /* a file with the servers that it lacks; "" = none */
};
const struct provision_untouched *
provision_untouched_files(const struct provision *p, size_t *count);

/* Folders of the user in the place of a link, which the last provision_plan
 * leaves as they are. In the arena of the plan. */
const struct str *provision_taken_links(const struct provision *p,
                                        size_t *count);

/*
 * A random id of the folder `root`, in .agents/.mapm/id: it distinguishes this
 * folder from a later one of the same path on file systems without birth times.
 * `make` creates it durably, or replaces a damaged one. In `a`. Errors: ERR_NOT_FOUND, ERR_DAMAGED without `make`.
 */
MUST_CHECK bool provision_read_id(int root, bool make, struct arena *a,
                                  struct str *out, struct err *e);

#endif

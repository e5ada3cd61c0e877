#ifndef MAPM_PROVISION_H
#define MAPM_PROVISION_H

#include "base/hash.h"
#include "mapm/manifest.h"

#include <sys/stat.h>

/*
 * provision: put a layer into a workspace, whole or not at all.
 *
 *     provision_open()     lock the workspace, finish what was interrupted
 *     provision_plan()     compare disk, record and wish: changes, refusals
 *     provision_apply()    stage, sync, journal, swap, sync, lock file, done
 *     provision_close()
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
    /* Writes the new file `path` below `dirfd`; `*st` is what it is then. */
    bool (*place)(void *ctx, const struct hash *h, int dirfd, const char *path,
                  bool executable, struct stat *st, struct err *e);
    bool (*read)(void *ctx, const struct hash *h, size_t max_bytes,
                 struct arena *a, struct str *out, struct err *e);
    void *ctx;
};

struct provision_file {
    bool executable;
    struct hash hash;
    struct str path;
};

struct provision_item {
    enum doc_kind kind;
    struct str fqn;
    struct str place; /* folder name, or .mcp.json key */
    struct hash digest;
    bool rename; /* the copy's `name` becomes `place` (X2, X9) */
    const struct provision_file *files;
    size_t file_count; /* an MCP: one */
};

/* Written in the swap itself, in order, the last ones last. NULL content
 * (p == NULL) removes. */
struct provision_text {
    struct str path; /* "mapm.yaml", "mapm.lock", ".gitignore" … */
    struct str content;
};

struct provision_options {
    struct str shared_dir;
    const struct str *clients; /* by name, from `clients:` */
    size_t client_count;
    bool force;
    /* Where the user changed something of ours, all of that package stays in
     * its place and is the user's from now on, instead of ERR_EDITED; see
     * provision_kept. For mapm remove: `force` wins. */
    bool keep_edited;
    struct provision_objects objects;
};

enum provision_change_kind {
    PROVISION_ADD,
    PROVISION_UPDATE,
    PROVISION_REMOVE,
};

struct provision_change {
    enum provision_change_kind kind;
    struct str path;   /* what changes: a folder, a file, or file#key */
    struct str client; /* "" for the common ones */
};

struct provision;

/*
 * `path` absolute. Takes the workspace's lock (flock on the folder itself;
 * waits WORKSPACE_WAIT_SECONDS, calls `waiting` once), then finishes or
 * undoes an interrupted swap (`*recovered`). `read_only` takes no lock and
 * recovers only when there is a journal.
 */
MUST_CHECK bool provision_open(struct str path, bool read_only,
                               void (*waiting)(void *), void *ctx,
                               bool *recovered, struct provision **out,
                               struct err *e);
void provision_close(struct provision *p);

/*
 * Writes a package's files beside the workspace's own, before it is known
 * whether and where they are wanted: what provision_apply finds there it need
 * not write. It is gone after provision_apply or provision_close. A failure is
 * none: what is wrong provision_apply will say. `files` sorted by path.
 */
void provision_stage_early(struct provision *p,
                           const struct provision_objects *objects,
                           const struct hash *digest,
                           const struct provision_file *files, size_t count);

/*
 * What it takes to make the workspace hold exactly `items` (what the record
 * says we wrote and `items` no longer names goes). `texts` are compared too:
 * equal ones are no change. With nothing to do `*count` is 0, and it took
 * one lstat a file.
 *
 * A package that is to stay what the record says was put there, whole but for
 * the user's own changes, is left as it is (provision_left), unless `force`
 * restores it. The record must be this disk's own for that.
 *
 * Errors: ERR_EDITED naming the user's files that would be lost, changed ones
 * or a whole folder of their own; ERR_CONFLICT for a foreign server of the
 * same key; ERR_REFUSED for a link or a special file in the place of a folder
 * or file; ERR_MCP for placeholders; ERR_FORMAT for a client's file that
 * cannot be read.
 * Ownership: in `a`, which must outlive `provision_apply`.
 */
MUST_CHECK bool
provision_plan(struct provision *p, const struct provision_options *o,
               const struct provision_item *items, size_t item_count,
               const struct provision_text *texts, size_t text_count,
               struct arena *a, struct provision_change **changes,
               size_t *count, struct err *e);

/* Whether nothing stands where skills go. The plan of a skill then needs no
 * `files` in its item, unless it is applied. */
bool provision_has_no_skills(struct provision *p);

/*
 * Whether the workspace is known to hold exactly `items`: the record says
 * that they were put there by these digests, and one lstat a file says that
 * nobody changed them. The texts are the caller's to compare. Reads no
 * object and needs no `files` in the items. False decides nothing: it is for
 * provision_plan to find out. `a` is for scratch.
 */
bool provision_is_current(struct provision *p,
                          const struct provision_options *o,
                          const struct provision_item *items, size_t item_count,
                          struct arena *a);

/* Does the last plan. After true it survives a power cut; after false the
 * workspace is as it was. Call it for an empty plan, too: it may have
 * something to remember, and costs nothing when it has not. */
MUST_CHECK bool provision_apply(struct provision *p, struct err *e);

/*
 * Whether something stands at `path`, a folder of the workspace that a package
 * of these files would be put into, that mapm did not put there and that is
 * neither all of these files nor part of them: provision_plan refuses that.
 */
MUST_CHECK bool provision_is_taken(struct provision *p, struct str path,
                                   const struct provision_file *files,
                                   size_t count, bool *taken, struct err *e);

/* Where a differing file was found by provision_verify, and how. */
struct provision_difference {
    struct str path;
    const char *how; /* "changed" "missing" "extra" "not ours" … */
    bool is_left;    /* the folder of a package that is not among the items */
};
/* Hashes all that `items` should have put there; what mapm put there for
 * others is left over. */
MUST_CHECK bool provision_verify(struct provision *p,
                                 const struct provision_options *o,
                                 const struct provision_item *items,
                                 size_t item_count, struct arena *a,
                                 struct provision_difference **out,
                                 size_t *count, struct err *e);

/* A TOML basic string with its quotes. */
void toml_quote(struct buf *out, struct str s);

/* The clients' files that now hold absolute paths, with ", " between them, so
 * that they belong in .gitignore; "" for none. After provision_apply. */
struct str provision_absolute_files(const struct provision *p);

/* Where the last provision_apply with `force` kept what it displaced, below
 * the workspace: ".agents/.mapm/backup/3"; empty when it displaced nothing of
 * the user's. Lives as long as `p`. */
struct str provision_backup(const struct provision *p);

/* What the last provision_plan with `keep_edited` leaves where it is:
 * ".agents/skills/x/SKILL.md was changed". In the arena of the plan. */
const struct str *provision_kept(const struct provision *p, size_t *count);

/* What the last provision_plan leaves as the user made it, because the
 * package stays what it was. In the arena of the plan. */
struct provision_left {
    const struct provision_item *item; /* one of the plan's */
    struct str what; /* ".agents/skills/x/SKILL.md was changed" */
};
const struct provision_left *provision_left(const struct provision *p,
                                            size_t *count);

/*
 * A random id of the folder `root`, in .agents/.mapm/id: it tells this folder
 * from a later one at its path where the file system does not record when a
 * folder was made. `make` creates it, on the disk when this returns, or makes a
 * damaged one anew. In `a`. Errors: ERR_NOT_FOUND, ERR_DAMAGED without `make`.
 */
MUST_CHECK bool provision_read_id(int root, bool make, struct arena *a,
                                  struct str *out, struct err *e);

#endif

#ifndef MAPM_PROVISION_H
#define MAPM_PROVISION_H

#include "base/patch.h"
#include "mapm/clients_scope.h"
#include "mapm/doc_kind.h"
#include "mapm/package_file.h"

#include <sys/stat.h>

/*
 * provision: installs packages into a workspace, atomically.
 *
 *     provision_open()     lock the workspace, recover an interrupted apply
 *     provision_plan()     compare disk, record and desired state
 *     provision_apply()    stage, sync, journal, swap, sync, lock file, done
 *     provision_close()
 *
 *     provision_find_edits()   local edits of the user
 *
 * The workspace is not changed before provision_apply. Files that mapm writes
 * are recorded with their hashes in .agents/.mapm/state. A file that differs
 * from the record was edited by the user, and is never overwritten or removed
 * without `force`, which keeps a backup.
 *
 * Source: DESIGN.md 3, 7; CLIENTS.md 2 to 4; M20 to M23, X2, X9, X19 to X22;
 * THREATS.md 1.7, rows 9, 15, 16, 27, 28.
 */

/* Access to the objects in the store, provided by the caller. */
struct provision_objects {
    /* Creates the file `path` below `dirfd` and sets `*st` to its status. */
    bool (*place)(void *ctx, const struct hash *h, int dirfd, const char *path,
                  bool executable, struct stat *st, struct err *e);
    bool (*read)(void *ctx, const struct hash *h, size_t max_bytes,
                 struct arena *a, struct str *out, struct err *e);
    void *ctx;
};

struct provision_item {
    enum doc_kind kind;
    bool rename;      /* change the `name` in the copy to `place` (X2, X9) */
    bool restore;     /* see provision_options.only_restore */
    bool is_searched; /* skill that clients do not list, in
                         PROVISION_SEARCHED */
    struct str fqn;
    struct str place; /* folder name, or .mcp.json key */
    struct hash digest;
    const struct package_file *files;
    size_t file_count; /* 1 for an MCP */
    /* For a skill or agent of the workspace itself: its folder, to which a link
     * is made; "" for a copy. */
    struct str own;
};

/* Folders of skills that clients list, and of skills that are
 * available by search only. */
#define PROVISION_SKILLS   ".agents/skills"
#define PROVISION_SEARCHED ".agents/.mapm/skills"

/* Folder of the patches of a workspace, which are also written as texts. */
#define PROVISION_PATCHES ".mapm/patches"

/* A file written during the swap, in the given order. A content with p NULL
 * removes the file. */
struct provision_text {
    struct str path; /* "mapm.yaml", "mapm.lock", ".gitignore", a patch, … */
    struct str content;
};

struct provision_options {
    struct str shared_dir;
    struct str program; /* user level: absolute path of mapm */
    struct client_choice clients;
    /* Servers whose entry would contain a path of this machine are started by
     * `mapm start` [D20]. */
    bool start_servers;
    bool force;
    /* Change only items with `restore`, as with `force`; files that the
     * user added to their folders are moved to the backup. Other items
     * stay as they are. */
    bool only_restore;
    /* Instead of failing with ERR_EDITED, leave a removed package with local
     * edits in place, as files of the user: see provision_preserved_edits. For
     * mapm remove. `force` takes precedence. */
    bool keep_edited;
    /* Take over identical folders and servers of the user that already exist.
     * For folders this is recorded (provision_took_over). */
    bool takes_over;
    struct provision_objects objects;
    /* Returns true if the lock contains a package with exactly these files and
     * the folder `path`; may reorder `files`. Such a folder, for example from a
     * checkout, is replaced like one that mapm wrote. NULL: never true. */
    bool (*is_locked)(void *ctx, struct str path, struct package_file *files,
                      size_t count);
    void *locked_ctx;
    /* Packages of the lock that are removed, with their files where the store
     * has them. What a checkout brought of them is removed as well. */
    const struct provision_item *gone;
    size_t gone_count;
};

enum provision_change_kind {
    PROVISION_ADD,
    PROVISION_UPDATE,
    PROVISION_REMOVE,
};

struct provision_change {
    enum provision_change_kind kind;
    bool names_mapm;    /* an entry with the command "mapm", without a path */
    bool has_variables; /* an entry with "${NAME}" */
    /* restores content that mapm had written */
    bool is_repair;
    struct str path;   /* what changes: a folder, file, or file#key */
    struct str client; /* "" for shared files */
};

struct provision;

/*
 * Opens a workspace; `path` is absolute, `scope` is borrowed until
 * provision_close. Locks the workspace (flock on the folder itself; waits
 * WORKSPACE_WAIT_SECONDS, after calling `waiting` once), then completes or
 * undoes an interrupted swap (`*recovered`). `read_only` takes no lock, and
 * recovers only if there is a journal.
 */
MUST_CHECK bool provision_open(struct str path,
                               const struct client_scope *scope, bool read_only,
                               void (*waiting)(void *), void *ctx,
                               bool *recovered, struct provision **out,
                               struct err *e);
void provision_close(struct provision *p);

/*
 * Stages the files of a package before the plan, which may turn out not to
 * need them: provision_apply uses a staged folder with the same content.
 * Staged files are removed by provision_apply or provision_close. Failures are
 * not reported here, because provision_apply reports their cause. `files` must
 * be sorted by path.
 */
void provision_stage_early(struct provision *p,
                           const struct provision_objects *objects,
                           const struct hash *digest,
                           const struct package_file *files, size_t count);

/*
 * Computes the changes that make the workspace contain exactly `items`.
 * Recorded content that `items` does not include is removed. A skill that the
 * user put into .agents/skills is linked for clients that do not read that
 * folder. Unchanged `texts` are not changes. If nothing changes, `*count` is 0,
 * at a cost of one lstat per file.
 *
 * A package with the recorded digest that differs only by local edits is
 * skipped (provision_skipped_modified), unless `force` restores it. This
 * requires a record that was written on this disk.
 *
 * Errors: ERR_EDITED, naming the edited files or a folder of the user that
 * would be lost; ERR_CONFLICT for another server with the same key; ERR_REFUSED
 * for a link or special file in place of a folder or file; ERR_MCP for
 * placeholders; ERR_FORMAT for a client's file that cannot be parsed.
 * Ownership: allocated in `a`, which must outlive `provision_apply`,
 * as must `o`.
 */
MUST_CHECK bool
provision_plan(struct provision *p, const struct provision_options *o,
               const struct provision_item *items, size_t item_count,
               const struct provision_text *texts, size_t text_count,
               struct arena *a, struct provision_change **changes,
               size_t *count, struct err *e);

/* Returns whether files are written for the client in this workspace. */
struct client;
bool provision_uses(struct provision *p, const struct provision_options *o,
                    const struct client *c);

/* Returns the file that servers of the client are written to, see
 * clients_mcp_file(); an unverified one only if a person named the client. */
struct str provision_mcp_file(struct provision *p,
                              const struct provision_options *o,
                              const struct client *c);

/* Returns whether the workspace has a marker of the client that mapm
 * did not create. */
bool provision_is_marked(struct provision *p, const struct client *c);
/*
 * Sets `served[i]` for each client of the table for which mapm wrote a file
 * or folder that still exists. A path that several clients read is
 * attributed to the client that has other paths of its own, otherwise to a
 * client in use by `o`, otherwise to the first; never to a client that
 * `o->clients` excludes. Links to skills for a client that is `always` in
 * use do not count at user level.
 */
void provision_find_served(struct provision *p,
                           const struct provision_options *o, bool *served);
/* Looks for the workspace that this one was copied from: a record with the
 * numbers of a file in one of the user's own workspaces was written by mapm, and
 * edits in the copy count as such. `list` gives their folders; it is called only
 * for a record that is not of this disk. */
void provision_find_original(struct provision *p,
                             bool (*list)(void *ctx, struct arena *a,
                                          struct str **folders, size_t *count),
                             void *ctx);

/* User level: returns whether mapm created the folder `path` (absolute). */
bool provision_made_folder(struct provision *p, struct str path);

/* Returns whether the record has files for the client; true without a
 * record. */
bool provision_has_given(struct provision *p, const struct client *c);

/* Returns whether the skills folder is empty or absent. A plan for skills then
 * needs no `files` in their items, unless it is applied. */
bool provision_has_no_skills(struct provision *p);

/*
 * Returns whether the workspace is known to contain exactly `items`: the
 * record has their digests, and one lstat per file shows that none was
 * modified. The caller compares the texts. Reads no object, and needs no
 * `files` in the items. If it returns false, provision_plan finds the
 * differences. `a` is scratch memory.
 */
bool provision_is_current(struct provision *p,
                          const struct provision_options *o,
                          const struct provision_item *items, size_t item_count,
                          struct arena *a);

/* Applies the last plan. If it returns true, the result survives a power
 * failure; if false, the workspace is unchanged. Apply an empty plan as well,
 * because it may have to update the record. */
MUST_CHECK bool provision_apply(struct provision *p, struct err *e);

/* Makes a plan that changes only `texts`, for one of several folders that
 * change together. Otherwise as provision_plan. */
MUST_CHECK bool provision_plan_texts(struct provision *p,
                                     const struct provision_options *o,
                                     const struct provision_text *texts,
                                     size_t text_count, struct arena *a,
                                     struct provision_change **changes,
                                     size_t *count, struct err *e);

/*
 * Applies the last plans of several folders as one transaction: all or none,
 * even if killed at any time. `paths` has the path of each folder relative to
 * the last one, whose path is "", and which holds the stage, the journal and a
 * backup. Folders without a plan are not changed.
 * Errors: as provision_apply.
 */
MUST_CHECK bool provision_apply_all(struct provision *const *all,
                                    const struct str *paths, size_t count,
                                    struct err *e);

/*
 * Sets for each item the first path with content that mapm did not write and
 * that does not belong to the package, which provision_plan would reject: its
 * folder, links and sub-agents of the clients in use; for a server the file and
 * its key. "" if there is none.
 */
MUST_CHECK bool provision_find_taken(struct provision *p,
                                     const struct provision_options *o,
                                     const struct provision_item *items,
                                     size_t count, struct arena *a,
                                     struct str *paths, struct err *e);

/* Returns the folder of the package at `place`, its own or that of a client, or
 * the server with that key (".mcp.json#key"), that existed before an import
 * took it over; "" if there is none. Allocated in `a`. */
struct str provision_took_over(struct provision *p, enum doc_kind kind,
                               struct str place, struct arena *a);

/* A file that differs from the desired state. */
struct provision_difference {
    struct str path;
    const char *how; /* "changed", "missing", "extra", "not ours", … */
    bool is_left; /* in the folder of a package that `items` does not include */
};
/* Verifies all files of `items` by their hashes. Files that mapm wrote for
 * other packages are reported with `is_left`. */
MUST_CHECK bool provision_verify(struct provision *p,
                                 const struct provision_options *o,
                                 const struct provision_item *items,
                                 size_t item_count, struct arena *a,
                                 struct provision_difference **out,
                                 size_t *count, struct err *e);

/*
 * Finds the local edits in `items`: each file that differs from the record of
 * what mapm wrote, or, without a record of this disk, from the contents of the
 * items. A file that still matches its record is not read. For servers in a
 * client's file: the file, and its text without the edits. A package that was
 * never installed has no edits. `is_opaque` is set if the objects of the
 * installed content are missing.
 *
 * Errors: ERR_NOT_FOUND without a record and without `files`; ERR_FORMAT for a
 * client's file that cannot be parsed.
 * Ownership: allocated in `a`.
 */
struct provision_edit {
    const struct provision_item *item;
    struct patch_file file; /* path relative to the workspace */
};
MUST_CHECK bool provision_find_edits(struct provision *p,
                                     const struct provision_options *o,
                                     const struct provision_item *items,
                                     size_t item_count, struct arena *a,
                                     struct provision_edit **out, size_t *count,
                                     struct err *e);

/* Returns whether, according to the record, exactly this skill or agent was
 * installed into its folder, or into the one that the workspace was copied from;
 * it may be edited. `a` is scratch
 * memory. */
bool provision_holds(struct provision *p, const struct provision_options *o,
                     const struct provision_item *item, struct arena *a);

/* Returns the MCP file of the client with only this server. `entry` is JSON as
 * in an MCP file. Allocated in `a`. */
MUST_CHECK bool provision_format_server(const struct client *c, struct str key,
                                        struct str entry, struct arena *a,
                                        struct str *out, struct err *e);

/* Returns the clients' files that contain absolute paths after provision_apply
 * and therefore belong in .gitignore, separated by ", "; or "". */
struct str provision_absolute_files(const struct provision *p);

/*
 * Lists generated paths, which mapm would write again: folders, links,
 * sub-agents, and clients' files that contain absolute paths or were created by
 * mapm. The list is empty if the record was not written on this machine.
 * Allocated in `a`. Errors: as provision_plan for reading the record.
 */
enum provision_list {
    PROVISION_LIST_ABSOLUTE,
    PROVISION_LIST_MADE,
};
MUST_CHECK bool provision_list_generated(struct provision *p,
                                         enum provision_list which,
                                         struct arena *a, struct str **paths,
                                         size_t *count, struct err *e);

/* Returns the backup folder of the last provision_apply with `force`, relative
 * to the workspace, ".agents/.mapm/backup/3"; "" if no file of the user was
 * replaced. Valid as long as `p`. */
struct str provision_backup(const struct provision *p);

/* Returns the edits that the last provision_plan with `keep_edited` preserves,
 * as one message each: ".agents/skills/x/SKILL.md was changed". Allocated in
 * the arena of the plan. */
const struct str *provision_preserved_edits(const struct provision *p,
                                            size_t *count);

/* Modified files that the last provision_plan skips because their package does
 * not change. Allocated in the arena of the plan. */
struct provision_skipped {
    const struct provision_item *item; /* item of the plan */
    struct str what; /* ".agents/skills/x/SKILL.md was changed" */
};
const struct provision_skipped *
provision_skipped_modified(const struct provision *p, size_t *count);

/* Files and folders at user level that the last provision_plan does not change.
 * Allocated in the arena of the plan. */
struct provision_untouched {
    struct str client;
    struct str path;
    struct str why;
    struct str snippet; /* text with the missing servers; or "" */
};
const struct provision_untouched *
provision_untouched_files(const struct provision *p, size_t *count);

/* Returns folders of the user in place of a link, which the last provision_plan
 * does not change. Allocated in the arena of the plan. */
const struct str *provision_taken_links(const struct provision *p,
                                        size_t *count);

/*
 * Reads the random id of the folder `root` from .agents/.mapm/id, which
 * distinguishes it from a later folder at the same path on file systems without
 * birth times. `make` creates it durably, or replaces a damaged one. Allocated
 * in `a`. Errors: without `make` ERR_NOT_FOUND, ERR_DAMAGED.
 */
MUST_CHECK bool provision_read_id(int root, bool make, struct arena *a,
                                  struct str *out, struct err *e);

#endif

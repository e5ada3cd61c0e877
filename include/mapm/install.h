#ifndef MAPM_INSTALL_H
#define MAPM_INSTALL_H

#include "base/context.h"
#include "mapm/lock.h"
#include "mapm/patches.h"
#include "mapm/project.h"
#include "mapm/provision.h"
#include "mapm/resolver.h"
#include "mapm/store.h"

/*
 * install: makes the contents of a workspace match its roots exactly;
 * implements mapm install, remove and update.
 *
 *     install_plan()    collects and resolves; changes nothing in the workspace
 *     install_apply()   asks for consent, provisions, writes the lock
 *     install_close()   closes an applied or discarded plan
 *
 * A dry run is a plan that is not applied. Warnings are passed to the host's
 * notices as they occur; everything else is in the plan.
 *
 * Source: DESIGN.md 2, 6, 7.
 */

/* --- requests -------------------------------------------------------------- */

/* The selection from a catalog. */
struct install_choice {
    bool all;
    bool strict;          /* fail if any selected package is invalid */
    struct str_list skip; /* excluded names, paths and globs */
    struct str_list agents, skills, mcps;
    struct str_list plugins; /* entries of a marketplace.json */
};

/* The side of a mapm.lock in conflict to use where no rule decides. */
enum install_prefer {
    INSTALL_PREFER_NONE,
    INSTALL_PREFER_OURS,
    INSTALL_PREFER_THEIRS
};

enum install_command {
    INSTALL_INSTALL,
    INSTALL_REMOVE,
    INSTALL_UPDATE,
    INSTALL_IMPORT,
    INSTALL_PATCH
};

struct install_request {
    enum install_command command;
    /* install: origins; import: files; other commands: names. */
    struct str_list arguments;
    struct str_list from; /* import: catalogs to compare local folders with */
    struct install_choice choice;
    struct str as; /* name to give to the only argument; "" for its own */
    struct str_list without; /* install: parts of the plugin to leave out,
                                "skill x" */
    bool lists;              /* install: only list the packages that the origins
                                offer */
    bool locked;             /* install exactly the contents of the lock */
    struct str bundle;       /* install: bundle to use instead of the network;
                                or "" */
    bool vendored;           /* install: use a vendor folder instead, with
                              `locked` */
    struct str vendor;     /* the vendor folder; "" for that of the workspace */
    bool with_proofs;      /* fetch the trees of all commits into the store */
    bool no_self;          /* do not use the checkout in place of its remote */
    bool dry_run;          /* do not lock the workspace; the plan is not
                              applied */
    bool force;            /* overwrite local edits */
    bool allow_hidden;     /* allow hidden characters */
    bool drop_patch;       /* patch: remove the patches */
    bool continues;        /* patch: the user has resolved the conflicts */
    bool compares;         /* dry run: do not fail if a patch conflicts */
    bool accept_moved_tag; /* update: accept a tag that refers to another
                              commit */
    bool purge;            /* remove: also delete the data of removed plugins */
    bool with_server;      /* add `mapm mcp` as an MCP server */
    /* --client: names, "all" or "none"; empty: see install_clients.h. */
    struct str_list clients;
    bool may_ask_clients; /* the user may be asked to select clients */
    /* Detect the clients and set install_plan.clients. */
    bool looks_for_clients;
    enum install_prefer prefer; /* how to resolve a mapm.lock in conflict */
    /* Repositories to rename in the manifests; see install_renames.h. */
    const struct project_rename *renames;
    size_t rename_count;
    bool is_consented; /* consent to every plan; do not ask the host */
    enum store_link link;
};

/* --- the plan -------------------------------------------------------------- */

enum install_action { INSTALL_KEEP, INSTALL_ADD, INSTALL_CHANGE };

/* The effect on a package: a change of the lock, or a repair of the workspace
 * where it differs from the lock. */
enum install_effect {
    INSTALL_KEPT,
    INSTALL_ADDED,
    INSTALL_UPDATED,
    INSTALL_REPAIRED, /* restored after a change in the workspace */
    INSTALL_EFFECTS   /* number of effects */
};

/* A package of the plan, with its entry before and what the plan does. */
struct install_package {
    /* Workspace member that has it; "." for the root; "" without members
     * [D10]. */
    struct str member;
    const struct package *package;   /* the package after the change */
    const struct lock_entry *before; /* lock entry before; NULL if new */
    struct str place;                /* folder, or key of an MCP server */
    /* "sha256:..."; "" for a skill or agent of the workspace */
    struct str digest;
    enum install_action action; /* CHANGE: different content or origin */
    enum install_effect effect;
    bool is_lock_only;  /* its member is not provisioned by this command */
    bool shows_prereqs; /* prerequisites not yet shown on this machine */
    bool is_root;
    bool is_searched;   /* skill that clients do not list [G4] */
    bool is_moved;      /* that changes with this plan */
    bool is_local;      /* needed only by roots with a file: origin */
    bool needs_consent; /* new or changed MCP */
    /* MCP that `mapm start` may execute on this machine after this plan
     * [D20]. */
    bool is_granted;
    bool is_from_checkout; /* `from` is a folder in the checkout of a root */
    bool shows_patch;      /* patch not yet shown on this machine */
    struct str old_version, old_commit; /* "" if none or unknown */
    struct str catalog;      /* origin of the catalog that selects it; or "" */
    const char *command;     /* MCP with one of these flags: its command line */
    const char *old_command; /* its previous command line, if known */
    struct str from;         /* origin set by `replace:`; "" if none */
    const struct package_patch *patch; /* patch that is applied; NULL if none */
    size_t patch_added, patch_removed; /* number of its lines, if it changed */
    const char *conflict; /* `compares`: why it does not apply; or NULL */
    const struct hash *installed; /* digest of the patched package */
};

/* A local edit that is preserved. */
struct install_edit {
    struct str what;    /* ".agents/skills/x/SKILL.md was changed" */
    enum doc_kind kind; /* kind of the package, which stays installed */
    struct str name;    /* name; "" if the package is removed but its folder
                           kept */
};

struct install_link {
    enum doc_kind kind;
    struct str origin;
};

/* A package that was selected from a catalog and cannot be installed. */
struct install_left_out {
    enum doc_kind kind;
    struct str name, path, origin; /* as in the catalog */
    struct str code;               /* stable code of the first error */
    struct str message;            /* the reason, in one line */
    struct install_link *chain;    /* dependencies from it to the package with
                                      the error */
    size_t chain_count;
    size_t omitted; /* links omitted before the last, see LEFT_OUT_MAX_LINKS */
};

/* A part of a plugin that is left out, or the parts of a kind that mapm
 * does not install. */
struct install_unsupported {
    struct str plugin;  /* FQN */
    struct str kind;    /* "skill" …; "hooks" … */
    struct str name;    /* name of a part that is left out; otherwise "" */
    size_t count;       /* otherwise the number of parts */
    struct str where;   /* … and their location in the plugin */
    struct str message; /* the reason */
    bool is_new;        /* not recorded in the lock yet */
};

/* A plugin with parts that mapm.yaml leaves out: "skill x" [X45]. */
struct install_without {
    struct str plugin; /* FQN */
    struct str_list parts;
};

/* An entry of a mapm.lock in conflict that both sides changed. */
struct install_merged {
    const struct lock_entry *ours, *theirs;
    const struct lock_entry *taken; /* the selected one */
    const char *why;                /* "descends", "root", "content" or
                                       "option" */
};

/* Another place in its repository of a package that is gone from its path. */
struct install_place {
    struct str origin; /* "" if there is none */
    bool is_same;      /* the same content; else only the name is the same */
};

/* An entry that an update could not change and leaves as it is locked. */
struct install_held {
    const struct lock_entry *entry;
    /* The entry itself no longer exists. Otherwise a root is kept with all its
     * dependencies, because its new ones cannot be resolved. */
    bool is_gone;
    bool is_root;
    struct str code, message; /* code and reason, in one line */
    struct str_list chains;   /* dependency chains to a conflict, with their
                                 ranges */
    struct str pin;           /* its origin, pinned to its commit */
    struct install_place place_now;
    struct str hint; /* hint for a patch conflict; "" for the default hints */
};

/* An exclusion from a catalog that is added to mapm.yaml. */
struct install_exclusion {
    struct str catalog; /* origin of the catalog */
    struct str word;    /* pattern; "": the catalog is empty and removed */
};

enum install_content { CONTENT_UNKNOWN, CONTENT_SAME, CONTENT_CHANGED };

/* An entry of another package manager's file, or a local folder, to import. */
struct install_import {
    struct str file; /* path in the workspace, or as given */
    unsigned line;   /* 0 for a folder */
    enum doc_kind kind;
    struct str name, origin, commit;
    enum install_content content; /* compared with the file */
    bool is_taken_over;           /* an identical folder existed and is taken
                                     over */
    struct str problem;           /* why it is not imported, or "" */
};

/* A package that a catalog offers, or a part of a plugin. */
struct install_offer {
    enum doc_kind kind;
    struct str name, path, origin; /* path: "" for a plugin */
    struct str group;       /* plugin that contains it, otherwise its parent
                               folder */
    bool is_of_plugin;      /* `group` is a plugin */
    struct str description; /* description, on one line */
    struct str command;     /* command line of an MCP server */
    struct str problem;     /* why it cannot be installed, or "" */
    size_t tokens;          /* estimated tokens of its entry file, of a plugin
                               those of its packages here; 0 if unknown */
    bool is_installed;      /* installed in this workspace, at any ref */
};

struct install_catalog {
    struct origin origin;
    struct str path;                    /* path in the repository */
    const struct install_offer *offers; /* if install_plan.is_offer */
    size_t offer_count;
    /* Packages elsewhere in the repository, not offered: only kind
     * and path are set. */
    const struct install_offer *elsewhere;
    size_t elsewhere_count;
    bool has_market;                     /* has a marketplace.json, see
                                            --plugin */
    const struct install_offer *plugins; /* plugins of its marketplace.json */
    size_t plugin_count;
    size_t unnamed_count; /* omitted entries, see plugin_market.h */
};

/* The context that the skills of the plan use in a client at startup. */
struct install_load {
    const char *client;
    size_t skills, tokens;
    bool is_cut; /* exceeds the client's limit: some skills are dropped */
};

struct install_plan {
    const char *command;  /* "install", … */
    struct str workspace; /* folder of mapm.lock, or of the only member */
    /* A catalog was named without a selection: `catalogs` lists its packages,
     * and the rest of the plan is empty. */
    bool is_offer;
    bool adds_server;                       /* with_server, and the server is
                                               new */
    const struct install_package *packages; /* sorted, dependencies first */
    size_t package_count;
    size_t consent_count; /* number of packages that need consent */
    size_t grant_count;   /* number of packages that are granted */
    size_t patch_count;   /* number of packages with a patch to show */
    /* Packages of the lock, or of the workspace only; the latter
     * have no origin. */
    const struct lock_entry **removed;
    const struct str *removed_members; /* member of each; NULL without
                                          members */
    size_t removed_count;
    const struct provision_change *changes; /* empty if there is nothing to
                                               do */
    size_t change_count;
    const struct install_edit *edits;
    size_t edit_count;
    /* At user level: the clients to install for, "claude, codex". */
    struct str for_clients;
    const struct provision_untouched *untouched; /* files not changed, at user
                                                    level */
    size_t untouched_count;
    const struct install_catalog *catalogs; /* catalogs among the arguments */
    size_t catalog_count;
    const struct install_left_out *left_out; /* sorted by code, then origin */
    size_t left_out_count;
    size_t chosen_count;              /* selected from the catalogs */
    const struct install_load *loads; /* set if a whole catalog is selected */
    size_t load_count, new_skills;
    const struct install_exclusion *excluded;
    size_t excluded_count;
    const struct install_import *imports;
    size_t import_count, problem_count; /* problem_count: not imported */
    size_t taken_over;    /* of `removed`: existed before an import */
    size_t taken_servers; /* of these, MCP servers */
    const struct install_merged *merged;
    size_t merged_count;
    bool has_merged; /* the conflict of mapm.lock was resolved */
    const struct install_unsupported *unsupported; /* parts of plugins that are
                                                      not installed */
    size_t unsupported_count;
    const struct install_without *without;
    size_t without_count;
    struct str *purged; /* data folders of removed plugins, absolute [X37] */
    size_t purged_count;
    /* One per layer that the command applies to; none if not detected. */
    const struct install_client_view *views;
    size_t view_count;
    struct str_list used; /* clients in use in some layer */
    /* Clients of this machine that can be added, in the first
     * install of a workspace. */
    struct str_list others;
    bool asks_clients;               /* install_apply() asks about `others` */
    const struct install_held *held; /* update: entries that stay as they are */
    size_t held_count;
    /* Update: former names of repositories in mapm.yaml, and their new names;
     * see install_renames.h. */
    const struct project_rename *renames;
    size_t rename_count;
    /* Entries of mapm.lock that get the name of a repository as of now, with the
     * former one beside it. */
    size_t settled_count;
    uint64_t requests, bytes;
    size_t warnings; /* number of warnings passed to the host */
    struct install_session *session;
};

/*
 * Opens the workspace and the store, reads the lock, the store, the disk and
 * the network as needed, and resolves the request. A damaged object of the
 * store is set aside and fetched again.
 *
 * Ownership: the plan is allocated in the arena of `cx`; `request` is borrowed
 * until the caller calls install_close. `*out` is NULL on failure.
 */
MUST_CHECK bool install_plan(struct context *cx,
                             const struct install_request *request,
                             struct install_plan **out, struct err *e);

/* Releases the locks on the repositories of the plan, so that other
 * processes can download from them while the caller waits for something
 * other than the network, such as the user. install_apply() calls it before
 * it asks for consent. */
void install_release(struct install_plan *plan);

/* Members are empty if not applicable. */
struct install_result {
    struct str backup;         /* folder with the replaced files, with
                                  `force` */
    struct str absolute_files; /* files that now contain paths of this
                                  machine */
};

/*
 * Asks the host for consent to the commands of the plan, then changes the
 * workspace, completely or not at all. If an object of the store is
 * damaged, plans again; `plan` is then the plan that was applied. Must be
 * called at most once.
 *
 * Errors: ERR_REFUSED without consent; ERR_DAMAGED if the second plan has
 * commands that the first one had not; errors of provision_apply.
 */
MUST_CHECK bool install_apply(struct install_plan *plan,
                              struct install_result *out, struct err *e);

/* Notes to the host, after install_apply, what the clients that changed do not
 * do by themselves, and what they lack. */
void install_advise(struct context *cx, const struct install_plan *plan);

/* Closes a plan, which may be NULL. Objects that were fetched for a plan are
 * discarded if it was neither applied nor a dry run. */
void install_close(struct install_plan *plan);

/* Returns "keep", "add", "update" or "repair". */
const char *install_effect_name(enum install_effect effect);

/* Returns the path of a package as in struct provision_change.
 * Allocated in `a`. */
struct str install_path(const struct install_package *p, struct arena *a);

#endif

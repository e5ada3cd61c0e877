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
 * install: make a workspace hold exactly what its roots need. What mapm
 * install, remove and update do.
 *
 *     install_plan()    gathers and resolves; changes nothing in the workspace
 *     install_apply()   asks for consent, provisions, writes the lock
 *     install_close()   an applied plan, or one that is dropped
 *
 * A dry run is a plan that is not applied. Warnings go to the notices of the
 * host as they come; everything else is in the plan.
 *
 * Source: DESIGN.md 2, 6, 7.
 */

/* --- requests -------------------------------------------------------------- */

/* What is taken of a catalog. */
struct install_choice {
    bool all;
    bool strict;          /* all or nothing: an invalid package is an error */
    struct str_list skip; /* names, paths and globs, as the others */
    struct str_list agents, skills, mcps;
    struct str_list plugins; /* entries of a marketplace */
};

/* What decides between two sides of mapm.lock that nothing else decides. */
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
    /* Origins of install, files of import, names of the others. */
    struct str_list arguments;
    struct str_list from; /* import: catalogs to compare folders with */
    struct install_choice choice;
    struct str as; /* the name of the one argument here; "" = its own */
    struct str_list without; /* install: parts of the one plugin, "skill x" */
    bool lists;              /* install: what the origins offer, and no more */
    bool locked;             /* nothing but what the lock holds */
    struct str bundle;       /* install: a file instead of any network; "" */
    bool vendored;         /* install: a folder instead of it, with `locked`: */
    struct str vendor;     /* this one; "" = that of the workspace */
    bool with_proofs;      /* the trees of all commits are to be in the store */
    bool no_self;          /* a checkout does not stand for its remote */
    bool dry_run;          /* takes no lock of the workspace; never applied */
    bool force;            /* restores what was edited */
    bool allow_hidden;     /* characters */
    bool drop_patch;       /* patch: takes the patches away */
    bool continues;        /* patches in conflict: as a person resolved them */
    bool compares;         /* a dry run: a patch in conflict fails nothing */
    bool accept_moved_tag; /* update: a tag may name another commit */
    bool purge;            /* remove: the data of plugins that go, too */
    bool with_server;      /* `mapm mcp` becomes a server of the workspace */
    struct str_list clients;    /* --client: names, or "all", or "none"; none of
                              * these: see install_clients.h */
    bool may_ask_clients;       /* a person may be asked which ones */
    bool looks_for_clients;     /* install_plan.clients says which ones are here
                                 * and on this machine */
    enum install_prefer prefer; /* of a mapm.lock in conflict */
    /* Names of repositories in the manifests that change; install_renames.h. */
    const struct project_rename *renames;
    size_t rename_count;
    bool is_consented; /* to every plan: the host is not asked */
    enum store_link link;
};

/* --- the plan -------------------------------------------------------------- */

enum install_action { INSTALL_KEEP, INSTALL_ADD, INSTALL_CHANGE };

/* What happens to it: in the lock, or in the workspace that does not have what
 * the lock holds already. */
enum install_effect {
    INSTALL_KEPT,
    INSTALL_ADDED,
    INSTALL_UPDATED,
    INSTALL_REPAIRED, /* mapm had put it there as it is */
    INSTALL_EFFECTS   /* so many */
};

struct install_package {
    struct str member;               /* that has it; "." the root; "" without
                                      * members [D10] */
    const struct package *package;   /* as it will be */
    const struct lock_entry *before; /* NULL: new */
    struct str place;                /* folder or key */
    struct str
        digest; /* "sha256:..."; "" of a skill or agent of the workspace */
    enum install_action action; /* CHANGE: other content, or another origin */
    enum install_effect effect;
    bool is_lock_only;  /* its member is not provisioned now */
    bool shows_prereqs; /* that this machine has not shown yet */
    bool is_root;
    bool is_searched;   /* a skill that no client lists [G4]; */
    bool is_moved;      /* it was listed so far, or is from now on */
    bool is_local;      /* only below file: roots */
    bool needs_consent; /* an MCP that the lock does not hold as it is */
    bool is_granted;    /* an MCP that `mapm start` may execute on this machine
                         * from now on [D20] */
    bool is_from_checkout; /* `from` is a folder of the checkout of a root */
    bool shows_patch;      /* that this machine has not shown yet */
    struct str old_version, old_commit; /* "": none, or not known */
    struct str catalog;      /* origin of the catalog that chose it; "": none */
    const char *command;     /* MCP that has one of these three: what it runs */
    const char *old_command; /* and what it ran so far, if that is known */
    struct str from; /* the origin that a replacement gives it; "" = its own */
    const struct package_patch *patch; /* that is applied to it; NULL: none */
    size_t patch_added, patch_removed; /* its lines, where it changes */
    const char *conflict;  /* with `compares`: why it is not applied; or NULL */
    struct hash installed; /* digest of the patched package */
};

/* What the user changed, and what stays so. */
struct install_edit {
    struct str what;    /* ".agents/skills/x/SKILL.md was changed" */
    enum doc_kind kind; /* of the package, which is installed all the same; */
    struct str name;    /* "": it is removed, and its folder the user's now */
};

struct install_link {
    enum doc_kind kind;
    struct str origin;
};

/* What was chosen from a catalog and cannot be installed. */
struct install_left_out {
    enum doc_kind kind;
    struct str name, path, origin; /* as offered */
    struct str code;               /* why: of the first error, stable */
    struct str message;            /* one line */
    struct install_link *chain;    /* from itself to the package at fault */
    size_t chain_count;
    size_t omitted; /* links before the last one: LEFT_OUT_MAX_LINKS */
};

/* Of a plugin: a part that is left out, or parts of a kind that mapm does not
 * install. */
struct install_unsupported {
    struct str plugin;  /* FQN */
    struct str kind;    /* "skill" …; "hooks" … */
    struct str name;    /* of a part that is left out; else "" */
    size_t count;       /* of others */
    struct str where;   /* … and where they are in the plugin */
    struct str message; /* why it is left out */
    bool is_new;        /* the lock does not say so yet */
};

/* A plugin of which mapm.yaml leaves out parts: "skill x" [X45]. */
struct install_without {
    struct str plugin; /* FQN */
    struct str_list parts;
};

/* An entry of a mapm.lock in conflict that both sides changed. */
struct install_merged {
    const struct lock_entry *ours, *theirs;
    const struct lock_entry *taken; /* one of the two */
    const char *why;                /* "descends" "root" "content" "option" */
};

/* What an update leaves as it is locked, though it was to be moved. */
struct install_held {
    const struct lock_entry *entry;
    bool is_gone; /* itself; else a root with all that it needs: what it would
                   * need now cannot be resolved */
    bool is_root;
    struct str code, message; /* why; one line */
    struct str_list chains;   /* the ways to a conflict, each with its range */
    struct str pin;           /* its origin, with the commit for the ref */
    struct str hint; /* of a patch that conflicts: the way out; "" = the usual
                      * ones */
};

/* What mapm.yaml leaves out of a catalog from now on. */
struct install_exclusion {
    struct str catalog; /* origin */
    struct str word;    /* "": nothing is left of the catalog, so it goes */
};

enum install_content { CONTENT_UNKNOWN, CONTENT_SAME, CONTENT_CHANGED };

/* What a file of another package manager, or a folder, names. */
struct install_import {
    struct str file; /* of the workspace, or as given */
    unsigned line;   /* 0: a folder */
    enum doc_kind kind;
    struct str name, origin, commit;
    enum install_content content; /* compared with what the file says */
    bool is_taken_over;           /* an equal folder was there */
    struct str problem;           /* why it is not imported; "": it is */
};

/* What the last line needs is there where nothing was chosen. */
struct install_offer {
    enum doc_kind kind;
    struct str name, path, origin; /* path: of a plugin "" */
    struct str group;       /* plugin that has it, else the folder around it */
    bool is_of_plugin;      /* `group` is one */
    struct str description; /* on one line */
    struct str command;     /* of an MCP server */
    struct str problem;     /* why it cannot be installed; "": it can */
    size_t tokens;          /* of its document, estimated; 0: not known */
    bool is_installed;      /* in this workspace, at whatever ref */
};

struct install_catalog {
    struct origin origin;
    struct str path; /* in the repository */
    const struct install_offer *offers;
    size_t offer_count;
    /* Of the same repository and not offered: kind and path alone. */
    const struct install_offer *elsewhere;
    size_t elsewhere_count;
    bool has_market;                     /* of plugins, which --plugin takes */
    const struct install_offer *plugins; /* of its marketplace.json */
    size_t plugin_count;
};

/* What the skills of the plan cost a client in use at its start. */
struct install_load {
    const char *client;
    size_t skills, tokens;
    bool is_cut; /* the client leaves out what is more */
};

struct install_plan {
    const char *command;  /* "install" … */
    struct str workspace; /* the folder of mapm.lock, or of the one member */
    /* A catalog was named, and nothing of it chosen: `catalogs` say what there
     * is, the rest is empty. */
    bool is_offer;
    bool adds_server;                       /* with_server, and it is new */
    const struct install_package *packages; /* dependencies first */
    size_t package_count;
    size_t consent_count; /* of these: need consent */
    size_t grant_count;   /* of these: are granted */
    size_t patch_count;   /* of these: have a patch to be shown */
    /* Packages of the lock, or only of the workspace: then without origin. */
    const struct lock_entry **removed;
    const struct str *removed_members; /* of each; NULL without members */
    size_t removed_count;
    const struct provision_change *changes; /* none: nothing to do */
    size_t change_count;
    const struct install_edit *edits;
    size_t edit_count;
    /* At user level: the clients that it is for, "claude, codex". */
    struct str for_clients;
    const struct provision_untouched *untouched; /* at user level */
    size_t untouched_count;
    const struct install_catalog *catalogs; /* those of the arguments */
    size_t catalog_count;
    const struct install_left_out *left_out; /* by code, then origin */
    size_t left_out_count;
    size_t chosen_count;              /* from the catalogs */
    const struct install_load *loads; /* where all of a catalog is chosen */
    size_t load_count, new_skills;
    const struct install_exclusion *excluded;
    size_t excluded_count;
    const struct install_import *imports;
    size_t import_count, problem_count; /* not imported */
    size_t taken_over;    /* of `removed`: what was there before an import */
    size_t taken_servers; /* of these */
    const struct install_merged *merged;
    size_t merged_count;
    bool has_merged; /* mapm.lock was in conflict, and is not any more */
    const struct install_unsupported *unsupported; /* of plugins */
    size_t unsupported_count;
    const struct install_without *without;
    size_t without_count;
    struct str *purged; /* data folders of plugins that go, absolute [X37] */
    size_t purged_count;
    const struct install_client *clients; /* as many as clients_count; NULL:
                                           * nothing is known of them */
    struct str_list used;                 /* clients in use, */
    struct str_list others; /* and those of this machine that may be added: in
                             * the first install of a workspace */
    bool asks_clients;      /* install_apply() asks about these */
    const struct install_held *held; /* of update */
    size_t held_count;
    /* Of update: names of repositories that mapm.yaml has and that are former
     * ones; see install_renames.h. */
    const struct project_rename *renames;
    size_t rename_count;
    uint64_t requests, bytes;
    size_t warnings; /* that the host was given */
    struct install_session *session;
};

/*
 * Opens the workspace and the store, reads what is needed from the lock, the
 * store, the disk and the network, and resolves it. A damaged object of the
 * store is set aside and fetched again.
 *
 * Ownership: the plan lives in the arena of `cx`; `request` is borrowed until
 * install_close, which the caller calls. NULL on failure.
 */
MUST_CHECK bool install_plan(struct context *cx,
                             const struct install_request *request,
                             struct install_plan **out, struct err *e);

/* Lets other processes download from the repositories of the plan, before the
 * caller waits for something other than the network: for a person, as an example.
 * install_apply() does so before it asks for consent. */
void install_release(struct install_plan *plan);

/* Empty where there was none. */
struct install_result {
    struct str backup;         /* folder of what was replaced, with `force` */
    struct str absolute_files; /* that hold paths of this machine now */
};

/*
 * Asks the host for consent to the commands of the plan, then changes the
 * workspace: all of it or nothing. A damaged object of the store makes it plan
 * again; the plan is the one that was applied. Once.
 *
 * Errors: ERR_REFUSED without consent; ERR_DAMAGED when the second plan has
 * commands that the first had not; those of provision_apply.
 */
MUST_CHECK bool install_apply(struct install_plan *plan,
                              struct install_result *out, struct err *e);

/* NULL is harmless. What was fetched for a plan that was neither applied nor a
 * dry run is not kept. */
void install_close(struct install_plan *plan);

/* "keep", "add", "update", "repair". */
const char *install_effect_name(enum install_effect effect);

/* Where a package stands, as a change names it. In `a`. */
struct str install_path(const struct install_package *p, struct arena *a);

#endif

#ifndef MAPM_AUTHORIZE_H
#define MAPM_AUTHORIZE_H

#include "base/context.h"
#include "mapm/command_runner.h"
#include "mapm/lock.h"
#include "mapm/origin.h"
#include "mapm/policy.h"
#include "mapm/project.h"
#include "mapm/runtime.h"
#include "mapm/state_trust.h"
#include "mapm/store.h"

#include <sys/stat.h>

/*
 * authorize: every decision that may widen rights, for all commands.
 *
 *     does this file count?     authorize_file      its owner, trusted_folders
 *     what does the user say?   authorize_config_read         config.yaml, environment
 *     is this trusted?          authorize_trust     a row of mapm.db
 *     may this program run?     authorize_program   policy, trust, a question
 *     may this command run?     authorize_command   rules, a question
 *
 * Each kind of trust is a row of the table in authorize/trust.c. A workspace
 * may only lower what the user's own file says (DESIGN.md 3.1).
 * Source: REQUIREMENTS K37, X27, F3; THREATS rows 15, 19, 21, 24, 25.
 */

/* --- configuration ------------------------------------------------------------- */

/* Where config.yaml is looked for; "" when the environment names no folder. */
struct str authorize_config_path(struct context *cx);

/* config.yaml and MAPM_GITHUB_HOSTS. Ownership: in the arena of `cx`. */
MUST_CHECK bool authorize_config_read(struct context *cx, struct project *user,
                                      struct limits *limits,
                                      struct origin_rules *rules,
                                      struct err *e);

/*
 * Edits config.yaml: `change` gets its text, "" when there is none, and gives the
 * new one. Links are followed, folders and file made (0700, 0600); nothing is
 * written when that is what is there already.
 * Errors: ERR_REFUSED for a file that another user owns or may write.
 */
MUST_CHECK bool authorize_config_edit(struct context *cx,
                                      bool (*change)(void *ctx, struct str text,
                                                     struct arena *a,
                                                     struct str *out,
                                                     struct err *e),
                                      void *ctx, struct err *e);

/*
 * The stores that a run in the folder `path` asks, in order: MAPM_STORE,
 * config.yaml, and those of mapm.yaml once they were accepted with mapm trust
 * --workspace; until then a note says so. [S1]
 * Ownership: in the arena of `cx`. Errors: ERR_FORMAT of MAPM_STORE, ERR_LIMIT,
 * the store's.
 */
MUST_CHECK bool authorize_stores(struct context *cx, struct store *store,
                                 struct str path, const struct project *user,
                                 const struct project *workspace,
                                 struct team_remotes *out, struct err *e);

/* --- ownership ------------------------------------------------------------------ */

/*
 * base/owner.h with folders of other users that the user trusts:
 * trusted_folders of config.yaml, MAPM_TRUSTED_FOLDER. They are read only when
 * a file of another user is found. `folder`, absolute, is named by the hint of
 * ERR_REFUSED.
 */
MUST_CHECK bool authorize_file(struct context *cx, int fd, struct str path,
                               struct str folder, struct err *e);
MUST_CHECK bool authorize_file_stat(struct context *cx, const struct stat *st,
                                    struct str path, struct str folder,
                                    struct err *e);

/* `path` is a folder, opened and checked. ERR_IO when it cannot be opened. */
MUST_CHECK bool authorize_folder(struct context *cx, struct str path,
                                 struct err *e);

/* --- trust ------------------------------------------------------------------------ */

/*
 * Trust of a metaskill is bound to its content. Trust of a workspace, or of its
 * rules, is bound to its folder, consent to a server that `mapm start` executes
 * to folder, key and content [D20]:
 *
 *     path, inode, owner, birth time              where the file system
 *                                                 records a real one
 *     path, inode, owner, id in .agents/.mapm/id  elsewhere
 *
 * A folder that replaced the trusted one, or has another owner since, is not
 * trusted; nor is one of another user. Device numbers are left out: they change
 * with a restart on overlay, btrfs and NFS. Source: F3 (b).
 */
enum trust_state {
    TRUST_NONE,
    TRUST_GIVEN,
    TRUST_REPLACED, /* another folder at this path was trusted */
    TRUST_UNBOUND,  /* by a version of mapm that did not record the folder */
};

struct trust_request {
    enum state_trust_kind kind;
    struct str subject; /* a full name, or the absolute path of a folder */
    struct hash digest; /* zeros: none */
    struct str origin, commit, version; /* of a package; "" = not known */
};

/* A kind of trust. */
struct trust_kind {
    const char *name;  /* "metaskill" … */
    bool is_of_folder; /* bound to the folder that is its subject */
    bool is_of_host;   /* its subject is one, and no package */
    /* Whether a mapm.yaml requests this kind, and the digest of the request
     * (zeros: none). NULL: it cannot. */
    bool (*is_requested)(const struct project *workspace, struct hash *digest);
    /* All of that, lines for a person; each ends in LF. With `quoted` each word
     * of a rule is, so that none can pass for two. */
    struct str (*describe)(const struct project *workspace, bool quoted,
                           struct arena *a);
};
const struct trust_kind *authorize_kind(enum state_trust_kind kind);

/* The requests of the mapm.yaml in the folder `path`, by kind; the last is
 * trust in the workspace itself. */
size_t authorize_requests(struct str path, const struct project *workspace,
                          struct trust_request out[STATE_TRUST_KINDS]);
/* The request of a metaskill of the lock, with its patch: what is trusted is
 * what runs. Errors: those of patched_installed. */
MUST_CHECK bool authorize_request_entry(struct store *store,
                                        const struct lock_entry *entry,
                                        struct trust_request *out,
                                        struct err *e);

/* The request of the MCP server that the lock of the workspace in the folder
 * `path` has at `key`, with this package digest. */
struct trust_request authorize_request_server(struct str path, struct str key,
                                              const struct hash *digest);

struct trust_request authorize_request_index_host(struct str host,
                                                  struct arena *a);
/*
 * May an index, or an artifact of one, be fetched from the host of `url`? It is in
 * `hosts:` of the user's config.yaml, or was confirmed on this machine; else a
 * person at a terminal is asked, and a yes is remembered. `what` is shown. [X42]
 * `*is_public`: no private address may be reached for it.
 * Errors: ERR_REFUSED with the command that allows it; the store's.
 */
MUST_CHECK bool authorize_index_host(struct context *cx, struct store *store,
                                     const struct origin_rules *rules,
                                     struct str url, struct str what,
                                     bool *is_public, struct err *e);

/* Errors: the store's; a folder that cannot be opened is TRUST_NONE. */
MUST_CHECK bool authorize_trust(struct context *cx, struct store *store,
                                const struct trust_request *q,
                                enum trust_state *out, struct err *e);
/* Errors: ERR_REFUSED for a folder of another user; the store's. */
MUST_CHECK bool authorize_put(struct context *cx, struct store *store,
                              const struct trust_request *q, struct err *e);

/* Why it is asked for again, as the end of a sentence; "" when it is not. */
const char *authorize_reason(enum trust_state state);

/* --- display of trusted packages ---------------------------------------- */

/* Text of a package is escaped and indented, so that it cannot imitate output
 * of mapm. */
enum trust_style {
    TRUST_PLAIN,
    TRUST_TITLE,
    TRUST_PLACE,
    TRUST_ADDED,
    TRUST_REMOVED
};
/* Where the lines go: `ctx` is the writer's own. NULL: to the host, as notices
 * of a question. */
struct trust_output {
    void (*line)(void *ctx, enum trust_style style, struct str line);
    void *ctx;
};

/* Name, origin, digest, size of the program (with is_verbose all of it), and
 * the changes since the metaskill was last trusted. */
MUST_CHECK bool authorize_show(struct context *cx, struct store *store,
                               const struct trust_request *q,
                               const struct trust_output *out, struct err *e);

/* ERR_NOT_FOUND when the store does not have the package; ERR_FAILED when it has
 * no program. */
MUST_CHECK bool authorize_check_program(struct store *store,
                                        const struct hash *digest,
                                        struct arena *a, struct err *e);

/* "2026-11-20", and with `time` "2026-11-20T17:00:00Z". */
struct str authorize_date(int64_t seconds, bool time, struct arena *a);
/* "sha256:" and its first 12 digits. */
struct str authorize_short_digest(const struct hash *digest, struct arena *a);

/* --- programs ---------------------------------------------------------------------- */

/* runtime.metaskills, the least first. */
enum metaskill_policy {
    METASKILLS_OFF,
    METASKILLS_LOCAL,
    METASKILLS_TRUSTED,
    METASKILLS_ALL
};
const char *authorize_policy_name(enum metaskill_policy p); /* "off" … */
enum metaskill_policy authorize_policy(const struct project *user,
                                       const struct project *workspace);

struct program {
    struct str name;                /* in full */
    const struct lock_entry *entry; /* NULL: not installed */
    bool is_external;               /* fetched */
    bool is_global;                 /* of the user's library */
    struct str workspace;           /* where it runs, absolute */
};

/*
 * Whether a program may run: by the policy; a fetched one by trust in its
 * digest, for which a person is asked, and --yes is no answer; when a model
 * selected it, one of the workspace by trust in that (X27).
 * Errors: ERR_REFUSED with a hint; the store's.
 */
MUST_CHECK bool authorize_program(struct context *cx, struct store *store,
                                  enum metaskill_policy policy,
                                  const struct program *p, bool for_model,
                                  struct err *e);

/* --- commands ------------------------------------------------------------------------ */

/*
 * The rules of the user's file, mapm.yaml and --allow for the commands of one
 * run.
 *
 *     config.yaml, --allow ----------> own --.
 *     mapm.yaml: deny; the rest of it        |--> authorize_command
 *       once it is accepted ---------> all --'
 *
 * Source: K25, K27; DESIGN.md 3.1; THREATS rows 15, 19.
 */
struct command_rules {
    /* By the caller, borrowed. */
    struct context *cx;
    struct store *store;
    struct str workspace; /* absolute */
    const struct project *user, *project;
    const struct origin_rules *origins;
    struct str_list allow; /* rules for this run */
    struct str yaml;       /* mapm.yaml, as read or last written */

    /* By authorize_rules_init. */
    enum sandbox sandbox;
    bool network;
    struct policy own;  /* of the user: its denials override the workspace */
    struct policy all;  /* and of the workspace, as far as it counts */
    const char *reason; /* why accepted rules need consent again; "" */
    bool accepted;      /* its allow rules are accepted; true if it has none */
    bool told;          /* that they are not */
};

/*
 * On a terminal requests consent to the rules of mapm.yaml, once, unless these
 * very rules were accepted; --yes does not consent. Errors: ERR_USAGE of
 * --allow, ERR_INTERRUPTED, and those of the store.
 */
MUST_CHECK bool authorize_rules_init(struct command_rules *r, struct err *e);

/*
 * Whether a command may run; without a matching rule the user is prompted. If
 * not, `out` is the result for the program: "error: not allowed: ...", in `a`.
 * False only for ERR_INTERRUPTED.
 */
MUST_CHECK bool authorize_command(struct command_rules *r,
                                  const struct command *in, struct arena *a,
                                  bool *allowed, struct command_result *out,
                                  struct err *e);

#endif

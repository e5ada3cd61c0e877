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
 * authorize: all decisions that may grant rights, for all commands.
 *
 *     may this file be used?  authorize_file         owner, trusted_folders
 *     what did the user set?  authorize_config_read  config.yaml, environment
 *     is this trusted?        authorize_trust        a row of mapm.db
 *     may this program run?   authorize_program      policy, trust, a prompt
 *     may this command run?   authorize_command      rules, a prompt
 *
 * Each kind of trust is a row of the table in authorize/trust.c. A workspace
 * can only reduce the rights that the user's own configuration grants
 * (DESIGN.md 3.1).
 *
 * Source: REQUIREMENTS K37, X27, F3; THREATS rows 15, 19, 21, 24, 25.
 */

/* --- configuration ------------------------------------------------------------- */

/* Returns the path of config.yaml; "" if the environment names no
 * folder for it. */
struct str authorize_config_path(struct context *cx);

/* Reads config.yaml and MAPM_GITHUB_HOSTS.
 * Ownership: allocated in the arena of `cx`. */
MUST_CHECK bool authorize_config_read(struct context *cx, struct project *user,
                                      struct limits *limits,
                                      struct origin_rules *rules,
                                      struct err *e);

/*
 * Edits config.yaml. `change` receives its text ("" if there is no file) and
 * returns the new text. Follows symbolic links, creates missing folders and the
 * file (modes 0700 and 0600), and writes nothing if the text is unchanged.
 * Errors: ERR_REFUSED if another user owns the file or its folder, or can
 * write to them.
 */
MUST_CHECK bool authorize_config_edit(struct context *cx,
                                      bool (*change)(void *ctx, struct str text,
                                                     struct arena *a,
                                                     struct str *out,
                                                     struct err *e),
                                      void *ctx, struct err *e);

/*
 * Gets the team stores for a command in the folder `path`, in the order of use:
 * those of MAPM_STORE, of config.yaml, and of mapm.yaml. The latter are used
 * only after the user accepted them with mapm trust --workspace; until then a
 * notice says so. [S1]
 * Ownership: allocated in the arena of `cx`.
 * Errors: ERR_FORMAT for MAPM_STORE, ERR_LIMIT, and errors of the store.
 */
MUST_CHECK bool authorize_stores(struct context *cx, struct store *store,
                                 struct str path, const struct project *user,
                                 const struct project *workspace,
                                 struct team_remotes *out, struct err *e);
/* Checks MAPM_STORE alone, before packages are requested: otherwise the error
 * would be reported for each of them. */
MUST_CHECK bool authorize_check_stores(struct context *cx, struct err *e);

/* --- ownership ------------------------------------------------------------------ */

/*
 * Check the owner of a file by base/owner.h, accepting files of other users in
 * folders that the user trusts: trusted_folders of config.yaml, and
 * MAPM_TRUSTED_FOLDER. These are read only if the file belongs to another user.
 * `folder`, absolute, is named in the hint of ERR_REFUSED.
 */
MUST_CHECK bool authorize_file(struct context *cx, int fd, struct str path,
                               struct str folder, struct err *e);
MUST_CHECK bool authorize_file_stat(struct context *cx, const struct stat *st,
                                    struct str path, struct str folder,
                                    struct err *e);

/* Opens the folder `path` and checks its owner. Fails with ERR_IO if it
 * cannot be opened. */
MUST_CHECK bool authorize_folder(struct context *cx, struct str path,
                                 struct err *e);

/* --- trust ------------------------------------------------------------------------ */

/*
 * Trust in a metaskill is bound to its content. Trust in a workspace or in its
 * rules is bound to its folder. Consent to a server that `mapm start` executes
 * is bound to folder, key and content [D20]. A folder is identified by
 *
 *     path, inode, owner, birth time              if the file system records
 *                                                 birth times
 *     path, inode, owner, id in .agents/.mapm/id  otherwise
 *
 * A folder that replaced the trusted one or changed its owner is not trusted,
 * and neither is a folder of another user. Device numbers are not used, because
 * they change at a restart on overlay, btrfs and NFS.
 *
 * Source: F3 (b).
 */
enum trust_state {
    TRUST_NONE,
    TRUST_GIVEN,
    TRUST_REPLACED, /* a different folder at this path was trusted */
    TRUST_UNBOUND,  /* trusted by a version of mapm that did not record the
                       folder */
};

struct trust_request {
    enum state_trust_kind kind;
    struct str subject; /* qualified name, or absolute path of a folder */
    struct hash digest; /* zero if none */
    struct str origin, commit, version; /* of a package; "" if unknown */
};

/* A kind of trust. */
struct trust_kind {
    const char *name;  /* "metaskill" … */
    bool is_of_folder; /* bound to the folder that is its subject */
    bool is_of_host;   /* the subject is a host, not a package */
    /* Returns whether a mapm.yaml requests this kind of trust, and the digest
     * of the request (zero if none). NULL if a mapm.yaml cannot request it. */
    bool (*is_requested)(const struct project *workspace, struct hash *digest);
    /* Describes the request for the user, in lines that end with LF. `quoted`
     * quotes each word of a rule, so that one word cannot look like two. */
    struct str (*describe)(const struct project *workspace, bool quoted,
                           struct arena *a);
};
const struct trust_kind *authorize_kind(enum state_trust_kind kind);

/* Gets the trust requests of the mapm.yaml in the folder `path`, ordered by
 * kind; the last one is trust in the workspace itself. Returns their number. */
size_t authorize_requests(struct str path, const struct project *workspace,
                          struct trust_request out[STATE_TRUST_KINDS]);
/* Makes the trust request for a metaskill of the lock. It includes the
 * metaskill's patch, since the patched content is what runs. Errors: as for
 * patched_installed. */
MUST_CHECK bool authorize_request_entry(struct store *store,
                                        const struct lock_entry *entry,
                                        struct trust_request *out,
                                        struct err *e);

/* Makes the trust request for the MCP server at `key` of the lock of the
 * workspace in the folder `path`, with this package digest. */
struct trust_request authorize_request_server(struct str path, struct str key,
                                              const struct hash *digest);

struct trust_request authorize_request_index_host(struct str host,
                                                  struct arena *a);
/*
 * Decides whether an index, or an artifact of an index, may be fetched from the
 * host of `url`: yes if the host is in `hosts:` of the user's config.yaml or
 * was confirmed on this machine; otherwise the user is asked on a terminal, and
 * consent is recorded. `what` is shown in the question. [X42] `*is_public` is
 * set if private addresses must not be contacted.
 * Errors: ERR_REFUSED with the command that allows the host; errors
 * of the store.
 */
MUST_CHECK bool authorize_index_host(struct context *cx, struct store *store,
                                     const struct origin_rules *rules,
                                     struct str url, struct str what,
                                     bool *is_public, struct err *e);

/* Looks up a trust request. A folder that cannot be opened gives TRUST_NONE.
 * Errors: those of the store. */
MUST_CHECK bool authorize_trust(struct context *cx, struct store *store,
                                const struct trust_request *q,
                                enum trust_state *out, struct err *e);
/* Records trust. Errors: ERR_REFUSED for a folder of another user;
 * errors of the store. */
MUST_CHECK bool authorize_put(struct context *cx, struct store *store,
                              const struct trust_request *q, struct err *e);

/* Returns why the user is asked again, as the end of a sentence; "" if
 * there is no reason. */
const char *authorize_reason(enum trust_state state);

/* --- display of trusted packages ---------------------------------------- */

/* Text of a package is escaped and indented, so that it cannot be mistaken
 * for output of mapm. */
enum trust_style {
    TRUST_PLAIN,
    TRUST_TITLE,
    TRUST_PLACE,
    TRUST_ADDED,
    TRUST_REMOVED
};
/* Receives the lines; `ctx` is passed to `line`. NULL sends them to the host as
 * notices of a question. */
struct trust_output {
    void (*line)(void *ctx, enum trust_style style, struct str line);
    void *ctx;
};

/* Shows the name, origin, digest and program size of a metaskill (with
 * is_verbose the whole program) and the changes since it was last trusted. */
MUST_CHECK bool authorize_show(struct context *cx, struct store *store,
                               const struct trust_request *q,
                               const struct trust_output *out, struct err *e);

/* Checks that the store has the package and the package has a program. Errors:
 * ERR_NOT_FOUND without the package, ERR_FAILED without a program. */
MUST_CHECK bool authorize_check_program(struct store *store,
                                        const struct hash *digest,
                                        struct arena *a, struct err *e);

/* Formats a time as "2026-11-20", or with `time` as "2026-11-20T17:00:00Z". */
struct str authorize_date(int64_t seconds, bool time, struct arena *a);
/* Returns "sha256:" and the first 12 digits. */
struct str authorize_short_digest(const struct hash *digest, struct arena *a);

/* --- programs ---------------------------------------------------------------------- */

/* Values of runtime.metaskills, the most restrictive first. */
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
    struct str name;                /* qualified name */
    const struct lock_entry *entry; /* NULL if not installed */
    bool is_external;               /* fetched from a repository */
    bool is_global;                 /* in the user's library */
    struct str workspace;           /* workspace of the run, absolute */
};

/*
 * Checks whether a program may run under the policy. A fetched program also
 * needs trust in its digest, for which the user is asked; --yes does not give
 * it. A program of the workspace that a model selected needs trust in the
 * workspace (X27).
 * Errors: ERR_REFUSED with a hint; errors of the store.
 */
MUST_CHECK bool authorize_program(struct context *cx, struct store *store,
                                  enum metaskill_policy policy,
                                  const struct program *p, bool for_model,
                                  struct err *e);

/* --- commands ------------------------------------------------------------------------ */

/*
 * The rules for the commands of one run: from the user's config.yaml, from
 * mapm.yaml and from --allow.
 *
 *     config.yaml, --allow ----------> own --.
 *     mapm.yaml: deny; other rules           |--> authorize_command
 *       once they are accepted ------> all --'
 *
 * Source: K25, K27; DESIGN.md 3.1; THREATS rows 15, 19.
 */
struct command_rules {
    /* Set by the caller, borrowed. */
    struct context *cx;
    struct store *store;
    struct str workspace; /* absolute */
    const struct project *user, *project;
    const struct origin_rules *origins;
    struct str_list allow; /* rules for this run */
    struct str yaml;       /* text of mapm.yaml, as read or last written */

    /* Set by authorize_rules_init. */
    enum sandbox sandbox;
    bool network;
    /* Rules of the user; their denials override the workspace. */
    struct policy own;
    /* Rules of the user and the effective rules of the workspace. */
    struct policy all;
    const char *reason; /* why accepted rules need consent again, or "" */
    /* The allow rules of mapm.yaml are accepted; true if there are none. */
    bool accepted;
    bool told; /* a notice said that they are not accepted */
};

/*
 * Initializes the rules. On a terminal, asks once for consent to the rules
 * of mapm.yaml, unless exactly these rules were accepted before; --yes does
 * not give consent. Errors: ERR_USAGE for --allow, ERR_INTERRUPTED, and
 * errors of the store.
 */
MUST_CHECK bool authorize_rules_init(struct command_rules *r, struct err *e);

/* Decides whether a command may run; asks the user if no rule matches. If it
 * may not, `out` is the result for the program, "error: not allowed: ...",
 * allocated in `a`. Returns false only with ERR_INTERRUPTED. */
MUST_CHECK bool authorize_command(struct command_rules *r,
                                  const struct command *in, struct arena *a,
                                  bool *allowed, struct command_result *out,
                                  struct err *e);

#endif

#ifndef MAPM_PROJECT_H
#define MAPM_PROJECT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "mapm/catalog.h"
#include "mapm/host_config.h"
#include "mapm/limits.h"
#include "mapm/team_remote.h"

/* project: mapm.yaml, mapm.local.yaml and config.yaml (DESIGN.md 3.1). */

struct root {
    enum doc_kind kind;
    struct origin origin;
    struct str as; /* its FQN in this layer; "" = that of its manifest */
    struct str_list without; /* parts of a plugin, "skill x", sorted [X45] */
    const struct catalog *catalog; /* that chose it; NULL: it is listed */
    unsigned line;
};

/* An item of `replace:`; replace.h reads both when the hosts are known. */
struct project_replace {
    struct str from, to;
    unsigned line;
};

struct setting {
    struct str name; /* dotted: "limits.package_max_files" */
    struct str value;
    unsigned line;
};

/*
 * One rule of policy.commands, as written: "*" is any word, at the end any
 * words, also none; inside of a word it is any text. "\*" is a star and
 * "\\" a backslash before one of both. The first word has no star, or is one.
 */
struct project_rule {
    bool allow; /* else it denies */
    const struct str *words;
    size_t count;
    unsigned line;
};

/* Who answers when a metaskill asks. A workspace can only name a preset; in a
 * user's file one may have a model and, "anthropic" and "openai", a key. */
struct project_ask {
    struct str name;        /* of a preset; "" = none, or one of the next */
    const struct str *argv; /* exec: a program of the user's own */
    size_t argc;
    struct str url;               /* http: base of an API, no "/" at its end */
    struct str api;               /* of url: "anthropic" or "openai" */
    struct str model;             /* "" = the API's or program's own */
    struct str key_env, key_file; /* where the key is; both "" = none. A file
                                     begins with "/" or "~/" */
    unsigned line;                /* of the key; 0: nothing is said */
};

enum project_flag { PROJECT_UNSAID, PROJECT_FALSE, PROJECT_TRUE };

/* `listing:` [G4]: which skills the clients list, and which are there for
 * searches alone. By name: of a skill without its scope, or with it where the
 * pattern holds "/". */
struct project_listing {
    unsigned line; /* of the key; 0: nothing is said, so all are listed */
    bool searches; /* those that neither names */
    struct catalog_filter search, client; /* what both name is listed */
};

struct project {
    struct root *roots; /* agents, skills, mcps; each in order of the file */
    size_t root_count;
    struct catalog *catalogs; /* in order of the file */
    size_t catalog_count;
    const struct project_replace *replaces;
    size_t replace_count;
    const struct str *members; /* mapm.yaml: patterns (member.h) [D10] */
    size_t member_count;
    unsigned members_line;      /* of the key; 0: it is not there */
    const struct project *root; /* of a member: what holds there, too */
    const struct str
        *clients; /* "codex"; "-codex": not even where its folder is */
    size_t client_count;
    bool has_clients;   /* the key is there */
    bool server;        /* mapm.yaml: mapm itself in the clients' files */
    bool start_servers; /* mapm.yaml: `servers: start` [D20] */
    struct project_listing listing; /* mapm.yaml */
    const struct str *sources;      /* policy.sources; count 0 with
                                  has_sources = nothing is allowed */
    size_t source_count;
    bool has_sources;
    const struct host_config *hosts; /* config.yaml only */
    size_t host_count;
    struct team_remotes store; /* of mapm.yaml a proposal */
    const struct str
        *trusted_folders; /* config.yaml only: absolute, "~/…", "*" */
    size_t trusted_folder_count;
    struct project_rule *rules; /* policy.commands, in order of the file */
    size_t rule_count;
    enum project_flag network; /* policy.network */
    struct str sandbox;        /* policy.sandbox: "on" "home" "off"; "" */
    struct str metaskills;     /* runtime: "off" "local" "trusted" "all"; "" */
    struct str keep;           /* runtime: "none" "summary" "full"; "" */
    struct project_ask ask;
    struct setting *settings; /* limits.*: for limits_apply */
    size_t setting_count;
};

enum project_role { PROJECT_WORKSPACE, PROJECT_LOCAL, PROJECT_USER };

/* Strict: an unknown key, a wrong type, a duplicate root is an error with its
 * line ("mapm.yaml:7: …"; `name` is the file's name for messages). Hosts and
 * anything that widens rights are refused in a WORKSPACE. In `a`. */
MUST_CHECK bool project_parse(struct str text, enum project_role role,
                              const char *name,
                              const struct origin_rules *rules, struct arena *a,
                              struct project *out, struct err *e);

/* `members:` alone, of a file that is not this layer's: the rest of it is not
 * judged. In `a`. */
MUST_CHECK bool project_parse_members(struct str text, const char *name,
                                      struct arena *a, struct project *out,
                                      struct err *e);
/* What holds in a member: what the root says; of the rest what the member
 * says. Rules and limits add up, roots are the member's [D10]. In `a`. */
void project_join_member(const struct project *root, struct project *member,
                         struct arena *a);

/* Whether `listing:` leaves the skill of this FQN to searches. */
bool project_is_searched(const struct project *p, struct str fqn);

/* What of a workspace's mapm.yaml counts only once the user has accepted it:
 * its allow rules and network: true, with the deny rules that bound them, in a
 * canonical form: order and repetition do not matter. False when it has
 * neither of the first two. */
bool project_policy_digest(const struct project *p, struct hash *out);
/* The stores that a workspace's mapm.yaml proposes, with `only`: exactly these,
 * in this order. False when it names none. [S1] */
bool project_store_digest(const struct project *p, struct hash *out);

/*
 * What `p`, read from the file `name`, says of the limits: a user's file may
 * set them, any other only lower them. Ask in the order user, workspace.
 * `from` lives in `a`. Errors: ERR_FORMAT "mapm.yaml:7: …".
 */
MUST_CHECK bool limits_apply(struct limits *l, const struct project *p,
                             enum project_role role, const char *name,
                             struct arena *a, struct err *e);

/*
 * mapm.yaml edited in place: comments, order, style of the lists stay. An
 * empty text becomes a file with the `dependencies` block alone. Adding what
 * is there (same key) and removing what is not change nothing. New origins
 * come last in the list of their kind, in the order given; `names`: the `as`
 * of each, "" for none (NULL: none at all); `without` likewise. Linear in the
 * size of the file and the number of origins.
 */
MUST_CHECK bool project_add_roots(struct str text, enum doc_kind kind,
                                  const struct str *origins,
                                  const struct str *names,
                                  const struct str_list *without, size_t count,
                                  struct arena *a, struct str *out,
                                  struct err *e);
MUST_CHECK bool project_remove_roots(struct str text, enum doc_kind kind,
                                     const struct str *origin_keys,
                                     size_t count,
                                     const struct origin_rules *rules,
                                     struct arena *a, struct str *out,
                                     struct err *e);

/* A repository that its host knows by another name now. */
struct project_rename {
    struct str from; /* as origin_repository() has it */
    struct str to;   /* on the same host: "owner/repo" */
    size_t origins;  /* that named it so: project_rename() adds to it */
};

/* Origins of roots and catalogs that name one of these repositories get its new
 * name, in place. */
MUST_CHECK bool project_rename(struct str text, struct project_rename *renames,
                               size_t count, const struct origin_rules *rules,
                               struct arena *a, struct str *out, struct err *e);

/* "mcp slack": the kind of a plugin's part, and its name. */
bool project_part_is_valid(struct str word);
/* Each once, in order. In `a`. */
struct str_list project_sort_parts(struct str_list words, struct arena *a);
bool project_same_parts(struct str_list x, struct str_list y);
/* As they stand in brackets. In `a`. */
struct str project_parts_text(struct str_list words, struct arena *a);

/* A catalog as mapm.yaml has it; both lists as written, 0: none. */
struct project_catalog {
    struct str origin;
    struct str_list include, exclude;
};

/* The catalog of this key becomes `want`, in place; NULL: it goes. Words that
 * only come at the end of a list leave the rest of it as it is. */
MUST_CHECK bool project_set_catalog(struct str text, struct str key,
                                    const struct project_catalog *want,
                                    const struct origin_rules *rules,
                                    struct arena *a, struct str *out,
                                    struct err *e);

/* A rule as in a file: [git, diff, "*"]. In `a`. */
struct str project_rule_text(const struct str *words, size_t count,
                             struct arena *a);

/* policy.commands.allow (or deny) gets one more rule, in place, comments kept,
 * in the style of the lists that are there; one that is there is no change. */
MUST_CHECK bool project_add_rule(struct str text, bool allow,
                                 const struct str *words, size_t count,
                                 struct arena *a, struct str *out,
                                 struct err *e);

/* The list of clients becomes these, in place: what stays keeps its place. */
MUST_CHECK bool project_set_clients(struct str text, struct str_list names,
                                    struct arena *a, struct str *out,
                                    struct err *e);
/* Of an item of that list, without the "-" of one that is left out. */
struct str project_client_name(struct str item);

/* What config.yaml says of a host becomes `want`, in place; NULL: the item goes.
 * What it has and `want` leaves at its default is taken out. */
MUST_CHECK bool project_set_host(struct str text, struct str host,
                                 const struct host_config *want,
                                 struct arena *a, struct str *out,
                                 struct err *e);

/* Whether policy.sources lets the package in: patterns host/owner/repository
 * with "*" for any text, letters of either case. Without the key all may; a
 * file: origin, which nobody fetches, always may. */
bool project_source_allowed(const struct project *p, const struct origin *o);

#endif

#ifndef MAPM_PROJECT_H
#define MAPM_PROJECT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/hash.h"
#include "mapm/catalog.h"
#include "mapm/host_config.h"
#include "mapm/limits.h"
#include "mapm/team_remote.h"

/* project: parses and edits mapm.yaml, mapm.local.yaml and config.yaml
 * (DESIGN.md 3.1). */

struct root {
    enum doc_kind kind;
    struct origin origin;
    struct str as; /* its FQN in this layer; "" for that of its manifest */
    struct str_list without; /* omitted parts of a plugin, "skill x", sorted
                                [X45] */
    const struct catalog *catalog; /* catalog that selects it; NULL if it is
                                      listed */
    unsigned line;
};

/* An item of `replace:`; replace.h parses both texts when the hosts are
 * known. */
struct project_replace {
    struct str from, to;
    unsigned line;
};

struct setting {
    struct str name; /* dotted name: "limits.package_max_files" */
    struct str value;
    unsigned line;
};

/*
 * One rule of policy.commands, as written. A word "*" matches any word, as the
 * last word any number of words; inside a word, "*" matches any text. "\*" is a
 * literal star, and "\\" a literal backslash before a star or backslash. The
 * first word has no star, or is just "*".
 */
struct project_rule {
    bool allow; /* otherwise deny */
    const struct str *words;
    size_t count;
    unsigned line;
};

/* The model backend for ask(). A workspace can only select a preset; a user's
 * file may also set a model and, for "anthropic" and "openai", a key. */
struct project_ask {
    struct str name;        /* name of a preset; "" if none, or one of the
                               following */
    const struct str *argv; /* exec: a program of the user */
    size_t argc;
    struct str url;               /* http: base URL of an API, without trailing
                                     "/" */
    struct str api;               /* API of `url`: "anthropic" or "openai" */
    struct str model;             /* "" for the default of the API or program */
    struct str key_env, key_file; /* source of the key, both "" if none; a file
                                     begins with "/" or "~/" */
    unsigned line;                /* line of the key; 0 if absent */
};

enum project_flag { PROJECT_UNSAID, PROJECT_FALSE, PROJECT_TRUE };

/* `listing:` [G4]: the skills that clients list, and those that are available
 * by search only. Patterns match the name of a skill without its scope, or, if
 * the pattern contains "/", with it. */
struct project_listing {
    unsigned line; /* line of the key; 0 if absent: all skills are listed */
    bool searches; /* skills that match neither list are searched */
    struct catalog_filter search, client; /* skills that match both lists are
                                             listed */
};

struct project {
    struct root *roots; /* agents, skills, MCPs; each in file order */
    size_t root_count;
    struct catalog *catalogs; /* in file order */
    size_t catalog_count;
    const struct project_replace *replaces;
    size_t replace_count;
    const struct str *members; /* mapm.yaml: patterns (member.h) [D10] */
    size_t member_count;
    unsigned members_line;      /* line of the key; 0 if absent */
    const struct project *root; /* of a member: the project of the workspace */
    /* "codex"; "-codex": excluded even if its folder exists */
    const struct str *clients;
    size_t client_count;
    bool has_clients;               /* has the key `clients:` */
    bool server;                    /* mapm.yaml: add mapm itself as a server */
    bool start_servers;             /* mapm.yaml: `servers: start` [D20] */
    struct project_listing listing; /* mapm.yaml */
    const struct str *sources;      /* policy.sources; has_sources and count 0:
                                       allow none */
    size_t source_count;
    bool has_sources;
    const struct host_config *hosts; /* config.yaml only */
    size_t host_count;
    struct team_remotes store; /* those of mapm.yaml are a proposal */
    /* config.yaml only: absolute, "~/…", "*" */
    const struct str *trusted_folders;
    size_t trusted_folder_count;
    struct project_rule *rules; /* policy.commands, in file order */
    size_t rule_count;
    enum project_flag network; /* policy.network */
    struct str sandbox;        /* policy.sandbox: "on", "home", "off" or "" */
    struct str metaskills;     /* runtime: "off", "local", "trusted", "all" or
                                  "" */
    struct str keep;           /* runtime: "none", "summary", "full" or "" */
    struct project_ask ask;
    struct setting *settings; /* limits.*, for limits_apply */
    size_t setting_count;
};

enum project_role { PROJECT_WORKSPACE, PROJECT_LOCAL, PROJECT_USER };

/* Parses a file. Unknown keys, wrong types and duplicate roots are errors with
 * their line ("mapm.yaml:7: …"; `name` is the name of the file).
 * PROJECT_WORKSPACE rejects hosts and everything else that would grant rights.
 * Allocated in `a`. */
MUST_CHECK bool project_parse(struct str text, enum project_role role,
                              const char *name,
                              const struct origin_rules *rules, struct arena *a,
                              struct project *out, struct err *e);

/* Parses only `members:` of a file of another layer, without validating the
 * rest. Allocated in `a`. */
MUST_CHECK bool project_parse_members(struct str text, const char *name,
                                      struct arena *a, struct project *out,
                                      struct err *e);
/* Merges the settings of the root into those of a member. Sandbox, metaskills
 * and keep of the root take precedence, as does network: false; clients,
 * stores, listing and ask of the root apply if the member has none. Rules and
 * limits of both apply; roots are those of the member [D10]. Allocated in
 * `a`. */
void project_join_member(const struct project *root, struct project *member,
                         struct arena *a);

/* Returns whether `listing:` makes the skill of this FQN available
 * by search only. */
bool project_is_searched(const struct project *p, struct str fqn);

/* Digest of the settings of a workspace's mapm.yaml that require consent: allow
 * rules and network: true, together with the deny rules that limit them, in a
 * canonical form independent of order and repetition. Returns false if it has
 * neither allow rules nor network: true. */
bool project_policy_digest(const struct project *p, struct hash *out);
/* Digest of the stores that a workspace's mapm.yaml proposes, in order,
 * including `only`. Returns false if there are none. [S1] */
bool project_store_digest(const struct project *p, struct hash *out);

/* Applies the limits of `p`, parsed from the file `name`: a user's file may set
 * them, others may only lower them. Call it for the user first, then for the
 * workspace. `from` is allocated in `a`. Errors: ERR_FORMAT "mapm.yaml:7:
 * …". */
MUST_CHECK bool limits_apply(struct limits *l, const struct project *p,
                             enum project_role role, const char *name,
                             struct arena *a, struct err *e);

/*
 * Edit mapm.yaml in place, keeping comments, order and the style of lists. An
 * empty text becomes a file with only the `dependencies` block. Adding an
 * existing origin (same key) and removing an absent one change nothing. New
 * origins are appended to the list of their kind in the given order; `names`
 * has the `as` of each, "" for none (NULL: none at all); likewise `without`.
 * Time is linear in the size of the file and the number of origins.
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

/* A repository that its host has renamed. */
struct project_rename {
    struct str from; /* as returned by origin_repository() */
    struct str to;   /* "owner/repo" on the same host */
    size_t origins;  /* number of renamed origins; project_rename() adds to
                        it */
};

/* Renames these repositories in the origins of roots and catalogs, in place. */
MUST_CHECK bool project_rename(struct str text, struct project_rename *renames,
                               size_t count, const struct origin_rules *rules,
                               struct arena *a, struct str *out, struct err *e);

/* Returns whether `word` is the kind and name of a part of a plugin,
 * "mcp slack". */
bool project_part_is_valid(struct str word);
/* Sorts and removes duplicates. Allocated in `a`. */
struct str_list project_sort_parts(struct str_list words, struct arena *a);
bool project_same_parts(struct str_list x, struct str_list y);
/* Returns the parts as a list in brackets. Allocated in `a`. */
struct str project_parts_text(struct str_list words, struct arena *a);

/* A catalog of mapm.yaml, with both lists as written; count 0 if absent. */
struct project_catalog {
    struct str origin;
    struct str_list include, exclude;
};

/* Sets the catalog of this key to `want`, in place; NULL removes it. Words
 * appended to a list leave the rest of it unchanged. */
MUST_CHECK bool project_set_catalog(struct str text, struct str key,
                                    const struct project_catalog *want,
                                    const struct origin_rules *rules,
                                    struct arena *a, struct str *out,
                                    struct err *e);

/* Returns a rule as in a file: [git, diff, "*"]. Allocated in `a`. */
struct str project_rule_text(const struct str *words, size_t count,
                             struct arena *a);

/* Adds a rule to policy.commands.allow or deny, in place, keeping comments and
 * the style of existing lists. An existing rule is not added again. */
MUST_CHECK bool project_add_rule(struct str text, bool allow,
                                 const struct str *words, size_t count,
                                 struct arena *a, struct str *out,
                                 struct err *e);

/* Sets the list of clients, in place: remaining items keep their position. */
MUST_CHECK bool project_set_clients(struct str text, struct str_list names,
                                    struct arena *a, struct str *out,
                                    struct err *e);
/* Returns the client of an item of that list, without the "-" of an
 * excluded one. */
struct str project_client_name(struct str item);

/* Sets the configuration of a host in config.yaml, in place; NULL removes the
 * item. Keys for which `want` has the default are removed. */
MUST_CHECK bool project_set_host(struct str text, struct str host,
                                 const struct host_config *want,
                                 struct arena *a, struct str *out,
                                 struct err *e);

/* Returns whether policy.sources allows an origin: patterns
 * host/owner/repository with "*" for any text, ignoring case. Without the key,
 * all are allowed; file: origins, which are not fetched, are always allowed. */
bool project_source_allowed(const struct project *p, const struct origin *o);

#endif

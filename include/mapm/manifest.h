#ifndef MAPM_MANIFEST_H
#define MAPM_MANIFEST_H

#include "base/buf.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/yaml.h"
#include "mapm/limits.h"

/*
 * manifest: what a document may say. Text in, values and diagnostics out; no
 * disk, no network.
 *
 *     "https://…/tree/main/skills/x" --> origin_parse()   --> struct origin
 *     SKILL.md, AGENTS.md, x.json    --> manifest_read()  --> struct document
 *                                                             + diagnostics
 *     mapm.yaml                      --> project_parse()  --> struct project
 *     mapm.lock                      --> lock_parse()     --> struct lock
 *
 * Source: MetaAgents, metaSKILL, Metis, LM-Kit and Agent Skills formats;
 * docs/requirements.md numbers their rules (K, M, T, L, A, X).
 */

enum doc_kind { DOC_AGENT = 1, DOC_SKILL = 2, DOC_MCP = 4 };

const char *doc_kind_name(enum doc_kind kind);   /* "agent" "skill" "mcp" */
const char *doc_kind_plural(enum doc_kind kind); /* "agents" … */
/* False, `*out` untouched, for any other text. */
bool doc_kind_find(struct str name, enum doc_kind *out);
/* "AGENTS.md", "SKILL.md"; NULL for an MCP. */
const char *doc_entry_file(enum doc_kind kind);

/* --- origins (M13, M14, X13; THREATS row 10) ------------------------------ */

enum origin_scheme { ORIGIN_GIT, ORIGIN_FILE };

/*
 * Where a package is asked for. For GIT either `rest` is set (a URL: where
 * the ref ends and the path begins is for the repository's refs to say), or
 * `path` and `ref` are known (short form; ref "" = the default branch).
 */
struct origin {
    enum origin_scheme scheme;
    struct str text; /* canonical: ".git" and trailing "/" dropped; file:/x */
    struct str key;  /* two origins are equal when their keys are (M14) */
    struct str host; /* lower case: "github.com" */
    struct str owner, repo; /* as written */
    struct str rest;        /* "<ref>[/path]", %2F kept as written */
    struct str ref;         /* short form only */
    struct str path; /* FILE: absolute and normal. Short form: in the repo */
    bool is_short;
};

struct origin_rules {
    const struct str *hosts; /* besides github.com, from the user's own file */
    size_t host_count;
};

/* Full URLs and file: alone: what a document may say.
 * Errors: ERR_ORIGIN with a hint. Results in `a`. */
MUST_CHECK bool origin_parse(struct str text, const struct origin_rules *rules,
                             struct arena *a, struct origin *out,
                             struct err *e);

/*
 * What a person may type: also `owner/repo[/path][@ref]`,
 * `https://host/owner/repo` and a local path that begins with "/", "./",
 * "../" or "~/" (relative to `cwd`, an absolute path; `home` may be empty).
 */
MUST_CHECK bool origin_parse_argument(struct str text, struct str cwd,
                                      struct str home,
                                      const struct origin_rules *rules,
                                      struct arena *a, struct origin *out,
                                      struct err *e);

/* The full URL once ref ("main", "v1", 40 hex) and path are known. */
void origin_complete(const struct origin *o, struct str ref, struct str path,
                     struct arena *a, struct origin *out);

/* "host/owner/repo", lower case: what a repository is known by. */
struct str origin_repository(const struct origin *o, struct arena *a);

/* Whether its ref is a commit, by all 40 digits: what it names never moves. */
bool origin_names_commit(const struct origin *o);

/* localhost, 127.x.y.z or [::1], without port: this machine, which plain http
 * may reach. */
bool host_is_loopback(struct str host);

bool ref_is_valid(struct str ref); /* git check-ref-format, no leading "-" */

/* --- names, versions (M2 to M5, M7, M16, X1) ------------------------------ */

bool name_is_kebab(struct str name); /* and <= 64 */
bool scope_is_valid(struct str scope);
bool mcp_name_is_valid(struct str name);
/* Why not, for a person; NULL when it is fine. */
const char *name_fault(struct str name);

struct version {
    uint64_t part[3];
};
bool version_parse(struct str text, struct version *out); /* X.Y.Z, no more */
int version_cmp(const struct version *x, const struct version *y);

/* --- diagnostics ----------------------------------------------------------- */

/* At most 1,000 errors and 1,000 warnings a document. */
struct diagnostic {
    bool error;         /* else a warning */
    const char *code;   /* stable: "name-grammar" … */
    struct str field;   /* "" when it is about the whole document */
    struct str file;    /* beside the document; "" = the document itself */
    unsigned line;      /* 0: none */
    unsigned column;    /* in characters, from 1; 0: none */
    struct str message; /* with what to do where that helps */
    struct str hint; /* what to write instead, one or more lines; "" = none */
};

struct diagnostics {
    struct arena *arena;
    struct diagnostic *items;
    size_t count, capacity;
    size_t errors, warnings;
};

void diagnostics_init(struct diagnostics *c, struct arena *a);
void diagnostics_add(struct diagnostics *c, bool error, const char *code,
                     const char *field, unsigned line, const char *format, ...)
    PRINTF(6, 7);

/* --- documents ------------------------------------------------------------ */

enum profile {
    PROFILE_INSTALL, /* REQUIREMENTS 5: what real catalogs need */
    PROFILE_AGENTSKILLS,
    PROFILE_SKILLS_REF,
    PROFILE_METIS,
    PROFILE_METAAGENTS,
    PROFILE_LM_KIT,
    PROFILE_METASKILL,
    PROFILE_PUBLISH, /* METAAGENTS, and ready for others: CHANGELOG … */
};
const char *profile_name(enum profile p);
bool profile_find(struct str name, enum profile *out);

enum manifest_file {
    MANIFEST_FILE_OK,
    MANIFEST_FILE_MISSING,
    MANIFEST_FILE_UNREADABLE, /* not a regular file, or the system says no */
    MANIFEST_FILE_TOO_LARGE,
    MANIFEST_FILE_ESCAPES, /* its resolved path leaves the package */
};

/* Files beside the document, asked for by path in the package. `*content`
 * (in `a`) is set for OK; with max_bytes 0 only existence is asked. */
struct manifest_files {
    enum manifest_file (*read)(void *ctx, struct str path, size_t max_bytes,
                               struct arena *a, struct str *content);
    void *ctx;
};

struct manifest_input {
    enum doc_kind kind;
    struct str text;
    struct str folder; /* its folder's name (MCP: file name); "" = unknown:
                          not compared */
    const struct manifest_files *files; /* NULL: nothing beside it is judged */
    const struct origin_rules *rules;   /* NULL: github.com alone */
    enum profile profile;
    bool strict;       /* warnings become errors; unknown fields are named */
    bool allow_file;   /* `file:` dependencies: the parent is a file: one */
    bool allow_hidden; /* hidden characters in the body (--allow-hidden) */
    bool in_place;     /* by who lists or runs it where it lies, not by who
                          installs it (A4, X15): what only the latter refuses is
                          a warning; dependencies of any kind and hidden
                          characters were decided when it came */
    bool skip_body;    /* L9 ParseMetadataOnly: no body rules, no hash */
};

struct dependency {
    enum doc_kind kind;
    unsigned line;
    const struct origin *origin;
};

struct document {
    enum doc_kind kind;
    struct str name;  /* valid one: the folder's, when the document's own
                         was unusable (name_replaced). MCP: behind "/".
                         Other profiles than install: as written */
    struct str scope; /* "" = none; MCP: the part before "/" */
    struct str fqn;   /* scope/name, or name; MCP: _meta.name */
    bool name_replaced;
    bool name_differs; /* from its folder: the copy gets `name` as folder */
    struct str description; /* parsed, trimmed */
    struct str version;     /* "" = none declared */
    struct str prereqs, license, compatibility;
    struct str allowed_tools; /* raw: as written, lists joined */
    const struct str *tools;  /* parsed (X17) */
    size_t tool_count;
    struct str model, agent, context;       /* L5 */
    bool disable_model_invocation, is_mode; /* L6, L7 */
    const struct yaml *metadata;            /* mapping, or NULL (X12) */
    struct dependency *deps; /* as declared: mcps first, then skills */
    size_t dep_count;
    struct str body;
    unsigned body_line;
    char skill_version[17];         /* T11; "" with skip_body */
    size_t load_size_tokens;        /* T12 */
    bool metaskill;                 /* has a program that can run */
    struct str program;             /* its path, when metaskill */
    bool hidden;                    /* body holds hidden characters */
    const struct yaml *frontmatter; /* NULL for an MCP */
    const struct json *mcp;         /* the whole file, for an MCP */
};

/*
 * Reads and judges: everything wrong with the document at once. `out` holds
 * what could be understood; it may be installed when no error was added.
 * Ownership: all in `a`, borrowing from in->text.
 */
void manifest_read(const struct manifest_input *in, struct arena *a,
                   struct document *out, struct diagnostics *why);

/* What stands for the document when its file gave no text: no-anchor,
 * unreadable or too-large; nothing for MANIFEST_FILE_OK. */
void manifest_check_file(enum manifest_file state, enum doc_kind kind,
                         struct diagnostics *why);

/* Adds to `to` what somebody else found in the same document (the runtime, in
 * its program), with the severity that the profile of `in` gives it. */
void diagnostics_grade(const struct manifest_input *in,
                       const struct diagnostics *from, struct diagnostics *to);

/* All errors of `why` as one err: ERR_NAME, ERR_MCP, ERR_FRONTMATTER … by the
 * first one's code; `what` names the document. Returns false. */
bool diagnostics_fail(const struct diagnostics *why, enum doc_kind kind,
                      const char *what, struct err *e);

/* A copy of SKILL.md/AGENTS.md whose `name` is `name` (X2, X9); all other
 * bytes are kept. A document without a name line gets one. */
MUST_CHECK bool manifest_rename(struct str text, struct str name,
                                struct arena *a, struct str *out,
                                struct err *e);

/*
 * Activation text (K41, K7): "[Skill: x activated]" … with the body, comments
 * removed, at most BODY_WARN_CHARS, and up to 50 names of `files` ("SKILL.md"
 * is passed over). In `a`.
 */
struct str manifest_activation(struct str name, struct str body,
                               struct str folder, const struct str *files,
                               size_t count, struct arena *a);

/* First section of CHANGELOG.md: its version; "" when there is none (M29). */
struct str changelog_latest(struct str text);
struct changelog_entry {
    struct str version;
    unsigned line;
};
/* All "## X.Y.Z (YYYY-MM-DD)" headers in order; other "## " headers and bad
 * ones are reported as changelog-version. In `a`. */
void changelog_read(struct str text, struct arena *a,
                    struct changelog_entry **out, size_t *count,
                    struct diagnostics *why);

/* --- MCP files (M16 to M23, X19 to X22) ----------------------------------- */

/* io.playwright/mcp -> io-playwright-mcp, <= 37 characters (X21). In `a`. */
struct str mcp_key(struct str fqn, struct arena *a);
/* With `-` and 8 hex of its SHA-256, for the later of two equal keys. */
struct str mcp_key_hashed(struct str fqn, struct arena *a);
/* io.example/mcp -> io.example_mcp.json */
struct str mcp_file_name(struct str fqn, struct arena *a);

/*
 * The body of an MCP file for a client: placeholders substituted in one pass
 * in every string value, forward slashes, `_meta` as asked, unknown keys kept
 * in order. `*out` is JSON text, 2 spaces. Errors: ERR_MCP naming the MCP
 * and the placeholder.
 */
MUST_CHECK bool mcp_format(const struct document *d, struct str workspace_dir,
                           struct str shared_dir, bool with_meta,
                           struct arena *a, struct str *out, struct err *e);

/* One line, as it will run: command, args; env names. For consent: never
 * shortened. In `a`. */
struct str mcp_command_line(const struct document *d, struct arena *a);

/* M18: 2 spaces, final newline; same keys, order and numbers. In `a`. */
MUST_CHECK bool mcp_pretty(struct str text, struct arena *a, struct str *out,
                           struct err *e);

/* --- mapm.yaml and config.yaml (DESIGN.md 3.1) ---------------------------- */

struct root {
    enum doc_kind kind;
    struct origin origin;
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

struct project {
    struct root *roots; /* agents, skills, mcps; each in order of the file */
    size_t root_count;
    const struct str *clients;
    size_t client_count;
    bool server; /* mapm.yaml: mapm itself in the clients' files */
    const struct str *sources; /* policy.sources; count 0 with
                                  has_sources = nothing is allowed */
    size_t source_count;
    bool has_sources;
    const struct str *hosts; /* config.yaml only: GitHub Enterprise hosts */
    size_t host_count;
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

/* What of a workspace's mapm.yaml counts only once the user has accepted it:
 * its allow rules and network: true, with the deny rules that bound them, in a
 * canonical form: order and repetition do not matter. False when it has
 * neither of the first two. */
bool project_policy_digest(const struct project *p, struct hash *out);

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
 * come last in the list of their kind, in the order given. Linear in the size
 * of the file and the number of origins.
 */
MUST_CHECK bool project_add_roots(struct str text, enum doc_kind kind,
                                  const struct str *origins, size_t count,
                                  struct arena *a, struct str *out,
                                  struct err *e);
MUST_CHECK bool project_remove_roots(struct str text, enum doc_kind kind,
                                     const struct str *origin_keys,
                                     size_t count,
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

/* Whether policy.sources lets the package in: patterns host/owner/repository
 * with "*" for any text, letters of either case. Without the key all may; a
 * file: origin, which nobody fetches, always may. */
bool project_source_allowed(const struct project *p, const struct origin *o);

/* --- mapm.lock (DESIGN.md 3.2) -------------------------------------------- */

struct lock_need {
    enum doc_kind kind;
    struct str name;                /* FQN */
    const struct lock_entry *entry; /* of the same lock; lock_parse sets it */
};

struct lock_entry {
    enum doc_kind kind;
    struct str name;        /* FQN in this layer: what `needs` refers to */
    struct str declared;    /* FQN of its manifest, where the layer gives it
                             * another one (`as:`, version 2); else "" */
    struct str origin;      /* canonical text */
    const struct str *also; /* other origins of the same content, sorted */
    /* Of each the commit that its ref named, where that is another one than
     * of `origin`, or the ref or the repository is (version 2); else "". NULL:
     * all "". */
    const struct str *also_commits;
    size_t also_count;
    struct str commit;       /* 40 hex; "" for file: */
    struct str object;       /* git id of tree or blob, 40 hex; "" for file: */
    struct str digest;       /* "sha256:" and 64 hex */
    struct str version;      /* "" = none */
    struct str place;        /* path: or key: */
    bool allow_hidden;       /* accepted by --allow-hidden */
    bool rewritten;          /* its own name is unusable: the copy's changes */
    struct lock_need *needs; /* sorted by kind, name */
    size_t need_count;
    unsigned line; /* of its "- type:" */
};

struct lock {
    struct lock_entry *entries; /* sorted by kind, name */
    size_t count;
};

/* Text is "" for a lock that is not there: an empty lock. Errors: ERR_FORMAT
 * "mapm.lock:12: …" (an unknown `version`, order, a missing or malformed
 * hash, merge markers, a need that names nothing …). */
MUST_CHECK bool lock_parse(struct str text, const char *name, struct arena *a,
                           struct lock *out, struct err *e);
/* Sorts, then writes: version 1 unless an entry needs a key of version 2
 * [F13]. The same entries always give the same bytes. */
void lock_format(struct lock *lock, struct buf *out);
/* The commit of also[i]; "" where the lock does not name it apart. */
struct str lock_also_commit(const struct lock_entry *entry, size_t i);
/* Whether `needs:` of `entry` names `other`. */
bool lock_needs(const struct lock_entry *entry, const struct lock_entry *other);
const struct lock_entry *lock_find(const struct lock *lock, enum doc_kind kind,
                                   struct str name);

#endif

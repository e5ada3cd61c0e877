#ifndef MAPM_DOCUMENT_H
#define MAPM_DOCUMENT_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/yaml.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/origin.h"

/*
 * document: parses and validates SKILL.md, AGENTS.md and MCP files. Text in,
 * values and diagnostics out; no disk or network access.
 *
 * Source: MetaAgents, metaSKILL, Metis, LM-Kit and Agent Skills formats;
 * docs/requirements.md numbers their rules (K, M, T, L, A, X).
 */

enum profile {
    PROFILE_INSTALL, /* REQUIREMENTS 5: accepts existing catalogs */
    PROFILE_AGENTSKILLS,
    PROFILE_SKILLS_REF,
    PROFILE_METIS,
    PROFILE_METAAGENTS,
    PROFILE_LM_KIT,
    PROFILE_METASKILL,
    PROFILE_PUBLISH,      /* METAAGENTS, and rules for publishing (CHANGELOG,
                             …) */
    PROFILE_AGENT_PLUGIN, /* Agent Plugins 1.0, with AGENTSKILLS for skills */
    PROFILE_CLAUDE_PLUGIN,
    PROFILE_MARKETPLACE,
};
bool document_profile_find(struct str name, enum profile *out);
/* Returns the names of all profiles, joined by `between`. Allocated in `a`. */
struct str document_profile_names(const char *between, struct arena *a);

/* Validates a single name under a profile (L8). */
void document_check_name(enum profile profile, struct str name,
                         struct diagnostics *why);

enum manifest_file {
    MANIFEST_FILE_OK,
    MANIFEST_FILE_MISSING,
    MANIFEST_FILE_UNREADABLE, /* not a regular file, or not readable */
    MANIFEST_FILE_TOO_LARGE,
    MANIFEST_FILE_ESCAPES, /* its resolved path leaves the package */
};

/* Access to the other files of the package. `read` sets `*content`, allocated
 * in `a`, when it returns OK; with max_bytes 0 only the existence is
 * checked. */
struct manifest_files {
    enum manifest_file (*read)(void *ctx, struct str path, size_t max_bytes,
                               struct arena *a, struct str *content);
    void *ctx;
};

struct manifest_input {
    enum doc_kind kind;
    struct str text;
    /* Name of its folder (MCP: of the file); "" if unknown: not
     * compared with the name. */
    struct str folder;
    const struct manifest_files *files; /* NULL: other files are not checked */
    const struct origin_rules *rules;   /* NULL: only github.com */
    enum profile profile;
    /* Turn warnings into errors, and report unknown fields. */
    bool strict;
    bool for_author; /* report hints, too */
    /* Allow "./" dependencies: the document is part of the workspace. */
    bool allow_own;
    /* Allow `file:` dependencies: the document has a file: origin itself. */
    bool allow_file;
    /* Allow hidden characters in the body (--allow-hidden). */
    bool allow_hidden;
    /* The document is already installed, and read to be listed or run (A4,
     * X15): rules that matter only to an installation give warnings, and
     * dependencies and hidden characters are not checked again. */
    bool in_place;
    bool skip_body; /* L9 ParseMetadataOnly: no rules for the body, no
                          hash */
};

struct dependency {
    enum doc_kind kind;
    unsigned line;
    const struct origin *origin;
};

struct document {
    enum doc_kind kind;
    /* A valid name: that of the folder if the document's own name is
     * invalid (name_replaced). MCP: the part after "/". Profiles other than
     * install: as written. */
    struct str name;
    struct str scope; /* "" if none; MCP: the part before "/" */
    struct str fqn;   /* "scope/name" or "name"; MCP: _meta.name */
    bool name_replaced;
    /* The name differs from the folder; the installed copy has the
     * folder `name`. */
    bool name_differs;
    struct str description; /* trimmed */
    struct str version;     /* "" if not declared */
    struct str prereqs, license, compatibility;
    struct str allowed_tools; /* as written, with lists joined */
    const struct str *tools;  /* parsed (X17) */
    size_t tool_count;
    struct str model, agent, context;       /* L5 */
    bool disable_model_invocation, is_mode; /* L6, L7 */
    const struct yaml *metadata;            /* a mapping, or NULL (X12) */
    const struct str *tags; /* metadata.tags: a list, or separated by commas */
    size_t tag_count;
    struct dependency *deps; /* in declared order: MCPs first, then skills */
    size_t dep_count;
    struct str body;
    unsigned body_line;
    char skill_version[17];         /* T11; "" with skip_body */
    size_t load_size_tokens;        /* T12 */
    bool metaskill;                 /* has a program that can be run */
    struct str program;             /* path of the program */
    bool hidden;                    /* the body has hidden characters */
    const struct yaml *frontmatter; /* NULL for an MCP */
    const struct json *mcp;         /* the whole file of an MCP */
};

/* Parses and validates a document, and collects all of its diagnostics.
 * `out` has the parts that could be parsed; the document may be installed if
 * there is no error.
 * Ownership: allocated in `a`, borrowing from in->text. */
void manifest_read(const struct manifest_input *in, struct arena *a,
                   struct document *out, struct diagnostics *why);

/* Adds the diagnostic for a document whose file could not be read: no-anchor,
 * unreadable or too-large; none for MANIFEST_FILE_OK. */
void manifest_check_file(enum manifest_file state, enum doc_kind kind,
                         struct diagnostics *why);

/* Adds the diagnostics that another module (such as the runtime, for the
 * program) found in the same document to `to`, with the severity that the
 * profile of `in` gives them. */
void diagnostics_grade(const struct manifest_input *in,
                       const struct diagnostics *from, struct diagnostics *to);

/* Sets `e` to all errors of `why`, with the code of the first one (ERR_NAME,
 * ERR_MCP, ERR_FRONTMATTER, …); `what` names the document. Returns false. */
bool diagnostics_fail(const struct diagnostics *why, enum doc_kind kind,
                      const char *what, struct err *e);

/* Returns a copy of SKILL.md or AGENTS.md with the name `name` (X2, X9); all
 * other bytes are kept. Adds a name line if there is none. */
MUST_CHECK bool manifest_rename(struct str text, struct str name,
                                struct arena *a, struct str *out,
                                struct err *e);

/* Returns the activation text (K41, K7): "[Skill: x activated]" and the body
 * without comments, at most BODY_WARN_CHARS, and up to 50 names of `files`
 * except "SKILL.md". Allocated in `a`. */
struct str manifest_activation(struct str name, struct str body,
                               struct str folder, const struct str *files,
                               size_t count, struct arena *a);

#endif

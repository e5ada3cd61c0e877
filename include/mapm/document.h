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
 * document: SKILL.md, AGENTS.md and MCP files, as a value. Text in, values and
 * diagnostics out; no disk, no network.
 *
 * Source: MetaAgents, metaSKILL, Metis, LM-Kit and Agent Skills formats;
 * docs/requirements.md numbers their rules (K, M, T, L, A, X).
 */

enum profile {
    PROFILE_INSTALL, /* REQUIREMENTS 5: what real catalogs need */
    PROFILE_AGENTSKILLS,
    PROFILE_SKILLS_REF,
    PROFILE_METIS,
    PROFILE_METAAGENTS,
    PROFILE_LM_KIT,
    PROFILE_METASKILL,
    PROFILE_PUBLISH,      /* METAAGENTS, and ready for others: CHANGELOG … */
    PROFILE_AGENT_PLUGIN, /* Agent Plugins 1.0, skills by AGENTSKILLS */
    PROFILE_CLAUDE_PLUGIN,
    PROFILE_MARKETPLACE,
};
const char *document_profile_name(enum profile p);
bool document_profile_find(struct str name, enum profile *out);

/* Adds what a profile has against a name alone (L8). */
void document_check_name(enum profile profile, struct str name,
                         struct diagnostics *why);

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
    bool allow_own;    /* "./" dependencies: the parent is of the workspace */
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
    const struct str *tags; /* metadata.tags: a list, or words between commas */
    size_t tag_count;
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

#endif

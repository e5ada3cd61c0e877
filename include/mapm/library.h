#ifndef MAPM_LIBRARY_H
#define MAPM_LIBRARY_H

#include "base/hash.h"
#include "mapm/diagnostics.h"
#include "mapm/document.h"

struct state;

/*
 * library: the skills that are visible from a folder, merged from
 * several roots.
 *
 *     roots --library_open()--> struct library --> find, search, match, index
 *                 |  cache                  `--library_load()--> body, event
 *                 `- skill folders: only metadata is read
 *
 * A root is a folder with skill folders, one level deep. A skill folder may be
 * a symbolic link (.claude/skills/x leads to .agents/skills/x) if its root
 * allows the target; its SKILL.md must be a regular file. Folders that begin
 * with "." are ignored (T31). A library is a snapshot (T27), which
 * library_refresh() updates on request.
 *
 * The library writes and prints nothing: notes and the cache are passed to
 * callbacks, and the caller stores events and sessions. Functions that take a
 * const library may be called from several threads at once; library_refresh(),
 * library_hold() and library_close() must not run concurrently with others. The
 * note callback is called in the thread of the call.
 *
 * Source: Metis skill format (T), LM-Kit (L), Agent Skills (A);
 * docs/requirements.md X2, X5 to X12, X23 to X28, A4, G1.
 */

enum library_source { LIBRARY_GLOBAL, LIBRARY_WORKSPACE };
const char *library_source_name(enum library_source s); /* "global",
                                                           "workspace" */

struct library_root {
    enum library_source source;
    struct str path; /* absolute path */
    bool named;      /* from the command line: must exist (X7) */
    bool flat;       /* read by a program that ignores groups (K14) */
    /* A folder, besides the root, that links of skill folders may lead to;
     * absolute, "" for none (T31, A4). */
    struct str allowed_link_root;
    /* The root itself must be in `allowed_link_root` as well, so that a user
     * who can write there cannot redirect reads to other folders. */
    bool confined;
};

/* The cached records of one root, which the caller stores between commands:
 * opaque bytes that are validated again by time and inode of each file. */
struct library_cache {
    bool (*find)(void *ctx, struct str root, struct arena *a, struct str *out);
    void (*put)(void *ctx, struct str root, struct str bytes);
    void *ctx;
};

enum library_note { LIBRARY_INFO, LIBRARY_WARNING };

struct library_options {
    /* If two skills have the same name, the one of the workspace takes
     * precedence, then the one of the earlier root: further roots precede the
     * global one (X23). */
    const struct library_root *roots;
    size_t root_count;
    /* Follow the rules and texts of Metis exactly: invalid skills are
     * skipped, and fields that Metis does not know (L5 to L7, programs)
     * have no effect. */
    bool metis;
    /* Check for programs that were added or removed next to a SKILL.md,
     * which takes a quarter more time. Otherwise `metaskill` is as of the
     * last read of the skill. */
    bool programs;
    /* Take the cached records of a root that has many skills and is itself as
     * it was, until library_verify(). */
    bool glance;
    /* Returns whether a program compiles; called once for each program that is
     * read, from several threads at once. NULL means that all do. */
    bool (*compiles)(void *ctx, struct str file, struct str program);
    struct library_cache cache; /* its functions may be NULL */
    /* Database for the search index, borrowed; NULL keeps it in memory. */
    struct state *index;
    /* Receives notes of one line: "skill 'x' in workspace overrides global
     * definition" (T13), "skipping invalid skill at …" (T10). Hidden characters
     * from skills are escaped. May be NULL. */
    void (*note)(void *ctx, enum library_note kind, struct str text);
    void *ctx;
};

/* Metadata of one skill, borrowed from the library until its next refresh. */
struct library_skill {
    struct str name;
    struct str description; /* trimmed; lines are joined only for display on one
                               line (X25) */
    enum library_source source;
    struct str root;    /* root as passed to library_open */
    struct str folder;  /* path below the root */
    struct str version; /* declared version, or "" */
    struct str scope, license, compatibility, allowed_tools, model, agent,
        context;
    struct str tags; /* tags of its metadata, one per line */
    /* L6, disable-model-invocation: only the user can start it. Never
     * set with `metis`. */
    bool disabled;
    bool is_mode;       /* L7 */
    bool metaskill;     /* has a program that can be run */
    bool broken;        /* has a program that does not compile */
    struct str program; /* path of the program in the folder, or "" */
    size_t warnings;    /* number of warnings about its frontmatter */
};

struct library;

/*
 * Reads the roots. Checks each SKILL.md and its program for changes, and reads
 * the metadata of those that changed since the cache was written, without their
 * bodies (L9); with `metis`, whose rules concern the whole file, all of it.
 * 10,000 skills take 30 MB.
 * Errors: ERR_NOT_FOUND for a root of the command line; ERR_LIMIT for
 * LIBRARY_MAX_SKILLS and LIBRARY_MAX_BYTES; ERR_INTERRUPTED. An invalid skill
 * is reported as a note (T10), at each open.
 */
MUST_CHECK bool library_open(const struct library_options *o,
                             struct library **out, struct err *e);
void library_close(struct library *l);

/* Checks the files of roots that were taken from the cache with `glance`;
 * otherwise does nothing. As library_refresh(). */
MUST_CHECK bool library_verify(struct library *l, bool *changed, struct err *e);

/* Scans the roots again. Sets `*changed` if a skill was added, removed or
 * changed (L17); only then pointers borrowed from the library become
 * invalid. */
MUST_CHECK bool library_refresh(struct library *l, bool *changed,
                                struct err *e);

/* T27: from now on library_load() returns the SKILL.md of the last scan, or
 * ERR_STALE if it has changed. library_hold() caches at most
 * LIBRARY_MAX_HELD_BYTES of them; others are read on demand. */
void library_keep(struct library *l);
MUST_CHECK bool library_hold(struct library *l, struct err *e);

/* T17, T18: fails with ERR_NOT_FOUND, "skills are not configured for this
 * session", if `l` is NULL, as library_load() does. */
MUST_CHECK bool library_check(const struct library *l, struct err *e);

size_t library_count(const struct library *l);
/* Returns skill number `i`, sorted by name in code points (T14). */
const struct library_skill *library_at(const struct library *l, size_t i);
const struct library_skill *library_find(const struct library *l,
                                         struct str name);
/* A hint to `e`, which says that there is no skill `name`: near names. Returns
 * false. */
bool library_suggest(const struct library *l, struct str name, struct err *e);

/* --- finding ------------------------------------------------------------------ */

/*
 * Searches for skills that fit a request in any words, best match first (G1),
 * including all that contain the query literally. A blank query returns the
 * first skills by name. With `metis` only literal matches count: name +2,
 * description +1, sorted by score, then name (T16). `model` excludes skills
 * that a model must not start (L6).
 */
struct library_hit {
    const struct library_skill *skill;
    double score;       /* 0 to 1; in library_search with `metis` 1 to 3 */
    struct str words;   /* words of the request that match; "/name" if named */
    struct str unknown; /* words that match no skill: "one, other" */
    bool is_explicit;   /* library_match: named by "/name" or "$name" */
};
struct library_hit *library_search(const struct library *l, struct str query,
                                   size_t limit, bool model, struct arena *a,
                                   size_t *count);
/* The same for a request that may name skills, excluding results with a score
 * below `min_score` (L11). */
struct library_hit *library_match(const struct library *l, struct str request,
                                  size_t limit, double min_score,
                                  struct arena *a, size_t *count);
/*
 * library_search() without opening a library, for large numbers of skills: uses
 * the index in mapm.db if no root has changed since it was written, and reads
 * the matches again. Returns false if the library must be opened. Skills are
 * allocated in `a`.
 */
bool library_search_trusted(const struct library_options *o, struct str query,
                            size_t limit, bool model, struct arena *a,
                            struct library_hit **out, size_t *count);
/* Returns the text of T17 without its last LF: "Skills matching 'pdf' (2):"
 * … */
struct str library_search_text(struct str query, const struct library_hit *hits,
                               size_t count, struct arena *a);

/* L12: returns the skill that a text "/name rest" starts with, or NULL. `rest`
 * is trimmed and may be NULL. */
const struct library_skill *library_slash(const struct library *l,
                                          struct str text, struct str *rest);
/* K18: returns the skills mentioned as "$name", except after a letter or digit,
 * each once, in order; at most MENTIONS_MAX. */
const struct library_skill **library_mentions(const struct library *l,
                                              struct str text, struct arena *a,
                                              size_t *count);

/* --- the discovery block (T15, T26, K15, L7, X28) -------------------------------- */

enum library_entry {
    LIBRARY_LISTED,
    LIBRARY_AS_STATIC, /* listed without the mark of a metaskill */
    LIBRARY_WITHHELD,  /* not listed, only counted */
};
struct library_index {
    enum library_entry (*entry)(void *ctx, const struct library_skill *s);
    void *ctx;        /* passed to `entry`; NULL `entry` lists all skills */
    bool preload;     /* T26: include bodies while the text is short */
    size_t max_chars; /* maximum of the list without bodies (T31); 0: none */
    /* G4: a longer list is replaced by a summary; 0: never. */
    size_t whole_max_chars;
};
struct library_block {
    struct str text; /* without a final LF; "" if there are no skills */
    size_t left_out; /* skills that exceeded max_chars */
    size_t withheld; /* skills available to models but not in the text */
    bool marks;      /* some line has the mark of a metaskill (K15) */
    bool has_list;   /* and not a summary in its place (G4) */
    /* Skills whose bodies are in the text, by name, for the session and its
     * events. */
    const struct library_skill **preloaded;
    size_t preloaded_count;
};
/* Makes the discovery block, allocated in `a`. Errors: ERR_USAGE if max_chars
 * is too small for the header; ERR_LIMIT. */
MUST_CHECK bool library_index_text(const struct library *l,
                                   const struct library_index *o,
                                   struct arena *a, struct library_block *out,
                                   struct err *e);

/* --- loading (T18 to T23, K7, K41, L13) ------------------------------------------- */

/* TOOL: the header of T18 and the body. USER: the body within the text of K41,
 * with the names of the other files. SYSTEM: the section of T26. */
enum library_as { LIBRARY_AS_TOOL, LIBRARY_AS_USER, LIBRARY_AS_SYSTEM };
bool library_as_find(struct str name, enum library_as *out); /* "tool", "user",
                                                                "system" */

/* One conversation. The caller stores it between loads (in mapm.db or in
 * memory), and makes one load of a session at a time. */
struct library_activation {
    struct str name;
    size_t tokens;
    char skill_version[17];
    bool preloaded; /* does not count against the budget */
};
struct library_session {
    size_t max_activations, max_tokens, warn_tokens; /* T21; the caller may
                                                        change them */
    struct library_activation *activations;          /* in order, allocated in
                                                        `arena` */
    size_t count, capacity;
    size_t loaded, tokens; /* excluding preloaded skills */
    bool warned;
    struct arena *arena;
};
/* Initializes an empty session with the limits of mapm, or those of Metis. */
void library_session_init(struct library_session *s, bool metis,
                          struct arena *a);
/* Adds a stored or preloaded activation; does nothing if the same body of that
 * name is present. Returns true if the session passed warn_tokens. */
bool library_session_put(struct library_session *s,
                         const struct library_activation *activation);

struct library_loaded {
    const struct library_skill *skill;
    struct str text;                        /* T18, T20 */
    char skill_version[17];                 /* T11 */
    size_t load_size_tokens;                /* T12 */
    bool already_loaded, already_preloaded; /* no event, not counted */
    bool warn; /* the session passed warn_tokens with this load */
    struct document document; /* the whole document; empty if already loaded */
    struct diagnostics why;   /* warnings of the document */
};

/*
 * Loads the body of a skill and counts it in the session; `session` NULL means
 * no budget. `model` applies the rules for models, which cannot load disabled
 * skills (L6). Allocated in `a`.
 * Errors: ERR_NOT_FOUND "no skill registered with name 'x'"; ERR_LIMIT with the
 * texts of T22; ERR_REFUSED (L6); ERR_STALE if the skill was renamed or differs
 * from what library_hold() read; errors of the document.
 */
MUST_CHECK bool library_load(const struct library *l, struct str name,
                             enum library_as as, bool model,
                             struct library_session *session, struct arena *a,
                             struct library_loaded *out, struct err *e);

/* L6: fails with ERR_REFUSED, and the message of library_load(), for
 * a disabled skill. */
MUST_CHECK bool library_check_model(const struct library_skill *s,
                                    struct err *e);

/* T7, X12: returns a value of document.metadata as written; with `metis` as
 * Python prints it: "true" is "True", "1.10" is "1.1". May be allocated in
 * `a`. */
struct str library_metadata_text(const struct library *l,
                                 const struct yaml *value, struct arena *a);

/* Warns about the first hidden character, except zero-width ones, in `text`,
 * the contents of the file `path` of a skill that is about to be returned.
 * Installation refuses such files, but this skill may have been copied by other
 * means. Warns once per file until library_refresh() finds a change. Called by
 * library_load and library_read_file. */
void library_warn_hidden(const struct library *l, struct str name,
                         struct str path, struct str text);

/* --- folders ---------------------------------------------------------------------------- */

/* Returns the text of SKILL.md as library_load() reads it (T27), allocated in
 * `a` or borrowed from the library. Errors: as library_load(). */
MUST_CHECK bool library_text(const struct library *l,
                             const struct library_skill *s, struct arena *a,
                             struct str *out, struct err *e);

/*
 * Opens the folder of a skill without following symbolic links: the folder in
 * which it was found, even if links changed since. All files of a skill are
 * read through this descriptor. `*real` is its path, allocated in `a`; the
 * caller closes `*fd`.
 * Errors: ERR_NOT_FOUND; ERR_REFUSED if it is a link to a place that its root
 * does not allow; ERR_STALE if it is another folder now.
 */
MUST_CHECK bool library_open_folder(const struct library *l,
                                    const struct library_skill *s,
                                    struct arena *a, int *fd, struct str *real,
                                    struct err *e);

/* Returns the path of the folder `name` with a SKILL.md below `root`, as
 * a library finds it (K14): "x" or "group/x"; "" if there is none.
 * Allocated in `a`. */
struct str library_find_folder(struct str root, struct str name,
                               struct arena *a);

/* Opens the folder `name` of one root ("x", "group/x") without reading the
 * root, for a skill that is run by its name. Links are followed as in a
 * library. Errors: ERR_NOT_FOUND; ERR_REFUSED as library_open_folder. */
MUST_CHECK bool library_open_in(const struct library_root *root,
                                struct str name, struct arena *a, int *fd,
                                struct str *real, struct err *e);

/* Returns whether `path` is a root that was read, or a possible skill folder
 * below one, not a link that leads elsewhere. */
bool library_covers(const struct library *l, struct str path);

/* --- resources (L14, L15) -------------------------------------------------------------- */

enum library_kind {
    LIBRARY_REFERENCE,
    LIBRARY_SCRIPT,
    LIBRARY_ASSET,
    LIBRARY_EXAMPLE,
    LIBRARY_OTHER
};
const char *library_kind_name(enum library_kind k);

/* A file of a skill that models may read, on disk. */
struct library_file {
    struct str path; /* path in the skill's folder */
    enum library_kind kind;
    bool is_folder; /* only in results of library_folder() */
    bool executable, is_text;
    uint64_t size;
};

/* Returns whether a file of a skill may be at `path`: it is relative, inside
 * the folder, UTF-8, and contains no form of ".git". Other files are neither
 * listed nor read. This does not decide which names may be installed. */
bool library_path_is_served(struct str path);

/* Lists all regular files below the folder except SKILL.md, sorted by path. */
MUST_CHECK bool library_files(const struct library *l, struct str name,
                              struct arena *a, struct library_file **out,
                              size_t *count, struct err *e);
/* Lists the entries of `folder` ("" for the skill's own), including SKILL.md
 * and folders, sorted by name.
 * Errors: ERR_NOT_FOUND or ERR_REFUSED if it is not a folder of the skill. */
MUST_CHECK bool library_folder(const struct library *l, struct str name,
                               struct str folder, struct arena *a,
                               struct library_file **out, size_t *count,
                               struct err *e);
/* Lists the paths of all regular files including SKILL.md, sorted,
 * without opening them.
 * Errors: ERR_LIMIT if there are more than `max_files`; ERR_REFUSED for a name
 * that cannot be served, so that the result is always complete. */
MUST_CHECK bool library_paths(const struct library *l, struct str name,
                              size_t max_files, struct arena *a,
                              struct str **out, size_t *count, struct err *e);
/* Reads at most `max_bytes` (up to LIBRARY_FILE_MAX_BYTES) of a file; a text
 * ends with a whole character. Never follows a link or leaves the folder
 * (ERR_REFUSED). Sets `*cut` if the file is larger. */
MUST_CHECK bool library_read_file(const struct library *l, struct str name,
                                  struct str path, size_t max_bytes,
                                  struct arena *a, struct str *out, bool *cut,
                                  struct err *e);

#endif

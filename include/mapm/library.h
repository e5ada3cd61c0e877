#ifndef MAPM_LIBRARY_H
#define MAPM_LIBRARY_H

#include "base/hash.h"
#include "mapm/diagnostics.h"
#include "mapm/document.h"

struct state;

/*
 * library: the skills that can be seen from here, merged from their roots.
 *
 *     roots --library_open()--> struct library --> find, search, match, index
 *                 |  cache                  `--library_load()--> body, event
 *                 `- skill folders: only metadata is read
 *
 * A root is a folder of skill folders, one level deep. A folder may be a link
 * (.claude/skills/x leads to .agents/skills/x) as far as its root allows; its
 * SKILL.md is a file of its own. Folders that begin with "." are passed over (T31). A library is a
 * snapshot (T27): library_refresh() looks again, when somebody asks for it.
 *
 * Nothing is written and nothing printed here: notes and the cache go through
 * callbacks, events and sessions are the caller's. What takes a const library
 * may be called from several threads at once; library_refresh(), library_hold()
 * and library_close() while nothing else is. Notes come from the thread that
 * called.
 *
 * Source: Metis skill format (T), LM-Kit (L), Agent Skills (A);
 * docs/requirements.md X2, X5 to X12, X23 to X28, A4, G1.
 */

enum library_source { LIBRARY_GLOBAL, LIBRARY_WORKSPACE };
const char *library_source_name(enum library_source s); /* "global" … */

struct library_root {
    enum library_source source;
    struct str path; /* absolute */
    bool named;      /* on the command line: missing is an error (X7) */
    bool flat; /* read by a program that does not look into groups (K14) */
    /* The folder, besides the root, that links of skill folders may lead
     * into; absolute, "" = none (T31, A4). */
    struct str allowed_link_root;
    bool
        confined; /* the root itself has to be in `allowed_link_root`, too: a user who can write there cannot choose other folders to read */
};

/* The records of one root, stored by the caller between two commands: opaque
 * bytes, validated again by time and inode of each file. */
struct library_cache {
    bool (*find)(void *ctx, struct str root, struct arena *a, struct str *out);
    void (*put)(void *ctx, struct str root, struct str bytes);
    void *ctx;
};

enum library_note { LIBRARY_INFO, LIBRARY_WARNING };

struct library_options {
    /* Of two skills with one name that of the workspace takes precedence,
     * else that of the earlier root: further roots precede the global one
     * (X23). */
    const struct library_root *roots;
    size_t root_count;
    bool
        metis; /* the rules and texts of Metis exactly: invalid skills are skipped, and fields that it does not know (L5 to L7, programs) have no effect */
    /* Look whether a program came or went beside a SKILL.md, too, which costs
     * a quarter more. Else `metaskill` is as it was when the skill was read. */
    bool programs;
    /* Whether a program compiles, once for each that is read; from several
     * threads at once. NULL: each does. */
    bool (*compiles)(void *ctx, struct str file, struct str program);
    struct library_cache cache; /* functions may be NULL */
    /* mapm.db, for the index of the search; NULL: in memory. Borrowed. */
    struct state *index;
    /* "skill 'x' in workspace overrides global definition" (T13), "skipping
     * invalid skill at …" (T10), one line each, with hidden characters made
     * visible in what the skills say. May be NULL. */
    void (*note)(void *ctx, enum library_note kind, struct str text);
    void *ctx;
};

/* Metadata of one skill. Borrowed from the library, until its next refresh. */
struct library_skill {
    struct str name;
    struct str description; /* as parsed, trimmed (X25: lines are joined only
                               where one line is wanted) */
    enum library_source source;
    struct str root;    /* as it was given */
    struct str folder;  /* below it */
    struct str version; /* declared; "" = none */
    struct str scope, license, compatibility, allowed_tools, model, agent,
        context;
    struct str tags; /* of its metadata, one a line */
    bool disabled;   /* L6: disable-model-invocation: only a person starts it;
                     * nothing is with `metis` */
    bool is_mode;    /* L7 */
    bool metaskill;  /* has a program that can run */
    bool broken;     /* and it does not compile */
    struct str program; /* its path in the folder; "" = none */
    size_t warnings;    /* of its frontmatter */
};

struct library;

/*
 * Reads the roots: one look at each SKILL.md and at the program beside it, the
 * metadata of those that changed since the cache was written (L9: no body; but
 * with `metis`, whose verdicts are about all of it). 10,000 skills in 30 MB.
 * Errors: ERR_NOT_FOUND for a named root; ERR_LIMIT past LIBRARY_MAX_SKILLS and
 * LIBRARY_MAX_BYTES; ERR_INTERRUPTED. What is wrong with a skill is a note
 * (T10), said again whenever it is opened.
 */
MUST_CHECK bool library_open(const struct library_options *o,
                             struct library **out, struct err *e);
void library_close(struct library *l);

/* Scans again: `*changed` when a skill was added, removed or changed (L17).
 * Only then pointers borrowed from the library become invalid. */
MUST_CHECK bool library_refresh(struct library *l, bool *changed,
                                struct err *e);

/*
 * T27: from now on library_load() returns the SKILL.md of the last scan, or
 * ERR_STALE when that is gone. library_hold() caches at most
 * LIBRARY_MAX_HELD_BYTES of them; others are read on demand.
 */
void library_keep(struct library *l);
MUST_CHECK bool library_hold(struct library *l, struct err *e);

/* T17, T18: ERR_NOT_FOUND "skills are not configured for this session" for a
 * NULL; library_load() says the same. */
MUST_CHECK bool library_check(const struct library *l, struct err *e);

size_t library_count(const struct library *l);
/* Sorted by name, as code points (T14). */
const struct library_skill *library_at(const struct library *l, size_t i);
const struct library_skill *library_find(const struct library *l,
                                         struct str name);

/* --- finding ------------------------------------------------------------------ */

/*
 * The skills that serve a request in any words, the best first (G1), with all
 * that contain it literally; a blank query: the first by name. With `metis`
 * literally alone: name +2, description +1, by score, then name (T16). `model`:
 * without what the model must not start (L6).
 */
struct library_hit {
    const struct library_skill *skill;
    double score;     /* 0 to 1; with `metis` of library_search 1 to 3 */
    struct str words; /* of the request, that it has; "/name" if it is named */
    bool is_explicit; /* match: named by "/name" or "$name" */
};
struct library_hit *library_search(const struct library *l, struct str query,
                                   size_t limit, bool model, struct arena *a,
                                   size_t *count);
/* The same for a request that may name skills, and without those of less than
 * `min_score` (L11). */
struct library_hit *library_match(const struct library *l, struct str request,
                                  size_t limit, double min_score,
                                  struct arena *a, size_t *count);
/*
 * library_search() without a library, for many skills: by the index in mapm.db,
 * if no root has changed since it was written; what is found is read again.
 * False: open the library. Skills in `a`.
 */
bool library_search_trusted(const struct library_options *o, struct str query,
                            size_t limit, bool model, struct arena *a,
                            struct library_hit **out, size_t *count);
/* T17, with its last LF left out: "Skills matching 'pdf' (2):" … */
struct str library_search_text(struct str query, const struct library_hit *hits,
                               size_t count, struct arena *a);

/* L12: "/name rest" at the start. NULL when it names none. `rest` may be NULL,
 * and is trimmed. */
const struct library_skill *library_slash(const struct library *l,
                                          struct str text, struct str *rest);
/* K18: "$name" anywhere but behind a letter or digit, each once, in order; at
 * most MENTIONS_MAX. */
const struct library_skill **library_mentions(const struct library *l,
                                              struct str text, struct arena *a,
                                              size_t *count);

/* --- the discovery block (T15, T26, K15, L7, X28) -------------------------------- */

enum library_entry {
    LIBRARY_LISTED,
    LIBRARY_AS_STATIC, /* without the mark of a metaskill */
    LIBRARY_WITHHELD,  /* counted alone */
};
struct library_index {
    enum library_entry (*entry)(void *ctx, const struct library_skill *s);
    void *ctx;        /* of `entry`, which may be NULL: all are listed */
    bool preload;     /* T26: bodies too, as long as it is short */
    size_t max_chars; /* 0: all of it; of the list, without bodies (T31) */
    /* G4: a longer list gives way to a summary of it; 0: it does not. */
    size_t whole_max_chars;
};
struct library_block {
    struct str text; /* without an LF at its end; "" when there is no skill */
    size_t left_out; /* skills for which max_chars had no room */
    size_t withheld; /* skills that a model may know, not in the text */
    bool marks;      /* a line has the mark of a metaskill (K15) */
    const struct library_skill **
        preloaded; /* skills whose bodies are in the text, by name: for the session and its events */
    size_t preloaded_count;
};
/* In `a`. ERR_USAGE when max_chars has no room for the header; ERR_LIMIT. */
MUST_CHECK bool library_index_text(const struct library *l,
                                   const struct library_index *o,
                                   struct arena *a, struct library_block *out,
                                   struct err *e);

/* --- loading (T18 to T23, K7, K41, L13) ------------------------------------------- */

/* TOOL: T18's header and the body. USER: the words of K41 around it, with the
 * names of the files beside it. SYSTEM: the section of T26. */
enum library_as { LIBRARY_AS_TOOL, LIBRARY_AS_USER, LIBRARY_AS_SYSTEM };
bool library_as_find(struct str name, enum library_as *out); /* "tool" … */

/* One conversation. The caller keeps it between loads (mapm.db, or memory), one
 * load of a session at a time. */
struct library_activation {
    struct str name;
    size_t tokens;
    char skill_version[17];
    bool preloaded; /* costs no budget */
};
struct library_session {
    size_t max_activations, max_tokens, warn_tokens; /* T21; may be set */
    struct library_activation *activations;          /* in order; in `arena` */
    size_t count, capacity;
    size_t loaded, tokens; /* without preloaded ones */
    bool warned;
    struct arena *arena;
};
/* The limits of mapm, or Metis' own; nothing activated. */
void library_session_init(struct library_session *s, bool metis,
                          struct arena *a);
/* One more, as it was kept, or preloaded; nothing when that body of that name is
 * there. True when the session passed warn_tokens with it. */
bool library_session_put(struct library_session *s,
                         const struct library_activation *activation);

struct library_loaded {
    const struct library_skill *skill;
    struct str text;                        /* T18, T20 */
    char skill_version[17];                 /* T11 */
    size_t load_size_tokens;                /* T12 */
    bool already_loaded, already_preloaded; /* no event, no budget */
    bool warn; /* the session passed warn_tokens with this one: once */
    struct document document; /* all of it; empty when it was loaded already */
    struct diagnostics why;   /* its warnings */
};

/*
 * Reads the body and counts it. `session` NULL: no budget. `model`: as a model
 * does it, which cannot have what is disabled (L6). In `a`.
 * Errors: ERR_NOT_FOUND "no skill registered with name 'x'"; ERR_LIMIT with the
 * texts of T22; ERR_REFUSED (L6); ERR_STALE when it has another name by now, or
 * is not what library_hold() saw; what the file is not.
 */
MUST_CHECK bool library_load(const struct library *l, struct str name,
                             enum library_as as, bool model,
                             struct library_session *session, struct arena *a,
                             struct library_loaded *out, struct err *e);

/* L6: ERR_REFUSED, with the message of library_load(), for a disabled skill. */
MUST_CHECK bool library_check_model(const struct library_skill *s,
                                    struct err *e);

/* T7, X12: a value of document.metadata, as it is spelled; with `metis` as
 * Python shows it: "true" is "True", "1.10" is "1.1". May be in `a`. */
struct str library_metadata_text(const struct library *l,
                                 const struct yaml *value, struct arena *a);

/* Warns of the first hidden character (but a zero-width one) that `text` has,
 * which is about to be given away as the file `path` of a skill: an installation
 * refuses these, and a skill that is there by other ways was never installed.
 * Once for each file, until library_refresh() finds a change.
 * library_load and library_read_file call it. */
void library_warn_hidden(const struct library *l, struct str name,
                         struct str path, struct str text);

/* --- folders ---------------------------------------------------------------------------- */

/* What its SKILL.md says: as library_load() would have it (T27). In `a`, or the
 * library's. Errors: as there. */
MUST_CHECK bool library_text(const struct library *l,
                             const struct library_skill *s, struct arena *a,
                             struct str *out, struct err *e);

/*
 * The folder of a skill, opened with no link on the way: the one that it was
 * found in, wherever links lead by now. Every file of a skill is read through
 * this. `*real` is its path, in `a`; the caller closes.
 * Errors: ERR_NOT_FOUND; ERR_REFUSED when it is a link that leads out of where
 * those of its root may lead; ERR_STALE when it is another folder.
 */
MUST_CHECK bool library_open_folder(const struct library *l,
                                    const struct library_skill *s,
                                    struct arena *a, int *fd, struct str *real,
                                    struct err *e);

/* The folder called `name` below `root`, as a library would find one with a
 * SKILL.md (K14): "x", "group/x"; "" when there is none. In `a`. */
struct str library_find_folder(struct str root, struct str name,
                               struct arena *a);

/*
 * The folder `name` of one root ("x", "group/x"), without reading the root: for
 * a skill that is run by its name. Links are followed as in a library. Errors:
 * ERR_NOT_FOUND; ERR_REFUSED as library_open_folder.
 */
MUST_CHECK bool library_open_in(const struct library_root *root,
                                struct str name, struct arena *a, int *fd,
                                struct str *real, struct err *e);

/* Whether `path` is a root that was read, or a folder below one that may be a
 * skill's: not a link that leads elsewhere. */
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

struct library_file {
    struct str path; /* in the skill's folder */
    enum library_kind kind;
    bool is_folder; /* library_folder() alone gives them */
    bool executable, is_text;
    uint64_t size;
};

/* Whether a part of a skill can be at `path`: relative, inside, UTF-8, and no
 * ".git" on the way, however that is spelled. What cannot is listed nowhere and
 * never read; how a file may be called to be installed is another matter. */
bool library_path_is_served(struct str path);

/* All regular files below the folder but SKILL.md, sorted by path. */
MUST_CHECK bool library_files(const struct library *l, struct str name,
                              struct arena *a, struct library_file **out,
                              size_t *count, struct err *e);
/* The entries of `folder` ("" = the skill's own), with SKILL.md and folders,
 * sorted by name. ERR_NOT_FOUND, ERR_REFUSED: not a folder of the skill. */
MUST_CHECK bool library_folder(const struct library *l, struct str name,
                               struct str folder, struct arena *a,
                               struct library_file **out, size_t *count,
                               struct err *e);
/* Paths of all regular files, with SKILL.md, sorted; no file is opened.
 * Errors: ERR_LIMIT past `max_files`; ERR_REFUSED for a name that cannot be
 * served, so that the result is complete. */
MUST_CHECK bool library_paths(const struct library *l, struct str name,
                              size_t max_files, struct arena *a,
                              struct str **out, size_t *count, struct err *e);
/* At most `max_bytes`, which are at most LIBRARY_FILE_MAX_BYTES; text ends with
 * a whole character. Never a link, never outside (ERR_REFUSED). `*cut` when
 * there is more. */
MUST_CHECK bool library_read_file(const struct library *l, struct str name,
                                  struct str path, size_t max_bytes,
                                  struct arena *a, struct str *out, bool *cut,
                                  struct err *e);

#endif

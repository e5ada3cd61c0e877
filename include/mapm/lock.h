#ifndef MAPM_LOCK_H
#define MAPM_LOCK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "mapm/doc_kind.h"

/* lock: parses and writes mapm.lock (DESIGN.md 3.2, F13). */

struct lock_need {
    enum doc_kind kind;
    struct str name;                /* FQN */
    const struct lock_entry *entry; /* entry in the same lock, set by
                                       lock_parse */
};

struct lock_entry {
    enum doc_kind kind;
    unsigned line;   /* line of its "- type:" */
    struct str name; /* FQN in this layer, used by `needs` */
    /* FQN of its manifest, if the layer renames it (`as:`, version
     * 2); otherwise "". */
    struct str declared;
    /* Canonical text of the origin; "./x" (version 2) is a package of the
     * workspace itself, which has no commit, no version and, except for an
     * MCP, no digest. For a plugin of a marketplace, the origin of the
     * marketplace and "?plugin=" with the name of its entry; other plugins,
     * and parts that are not folders, also have a part after "?" (origin.h). */
    struct str origin;
    /* Origin set by `replace:` (version 2); "" if not replaced. */
    struct str from;
    const struct str *also; /* additional origins of the same content, sorted */
    /* The commit of each additional origin, if its ref names another commit
     * than that of `origin`, or its ref or repository differs (version 2);
     * otherwise "". NULL: all are "". */
    const struct str *also_commits;
    size_t also_count;
    /* Number of origins at the end of `also` that are former names of `origin`,
     * before its host renamed the repository (`formerly`, version 2): they have
     * the same commit. */
    size_t former_count;
    struct str tag;    /* tag selected by a range in `origin` (version 2) */
    struct str commit; /* 40 hex digits; "" for file: and ./ */
    struct str object; /* git id of tree or blob, likewise */
    /* For a skill of an index (version 2), which has no commit: the
     * URL of its artifact, and "sha256:" with 64 hex digits of the
     * artifact as it was sent. */
    struct str url, artifact;
    /* "sha256:" and 64 hex digits; "" for ./ except for an MCP. */
    struct str digest;
    struct str version;  /* "" if none */
    struct str manifest; /* of a plugin: path of its manifest */
    struct str server;   /* of a server of a plugin: its name there */
    struct str plugin;   /* FQN of the plugin that contains it */
    /* For a plugin of a marketplace. */
    struct str source; /* origin of its folder: `origin:` in the file */
    struct str catalog_commit;
    /* Parts of a plugin: "skill x", "hooks". */
    struct str_list without, skipped, not_installed;
    struct str place; /* `path:` or `key:` */
    /* Origins of the catalogs that select it, as in mapm.yaml,
     * sorted (version 2). */
    const struct str *catalogs;
    size_t catalog_count;
    struct str patch;        /* hash of its patch, as `digest` (version 2); or
                                "" */
    bool allow_hidden;       /* accepted with --allow-hidden */
    bool rewritten;          /* its name is invalid and is changed in the
                                copy */
    struct lock_need *needs; /* sorted by kind and name */
    /* The members that have it, sorted, "." for the root (version 2); empty:
     * only the root [D10]. */
    const struct str *members;
    size_t member_count;
    size_t need_count;
};

/* Several entries may have the same name if their members differ; `needs`
 * refers to the one that all members of the entry have. */
struct lock {
    struct lock_entry *entries; /* sorted by kind, name and member */
    size_t count;
};

/* Parses a lock. A text of "" is an empty lock. Errors: ERR_FORMAT
 * "mapm.lock:12: …" (an unknown `version`, wrong order, a missing or malformed
 * hash, conflict markers, an unknown need, …). */
MUST_CHECK bool lock_parse(struct str text, const char *name, struct arena *a,
                           struct lock *out, struct err *e);
/* Returns the line of `key` in an entry of the lock that was parsed
 * from `text`, or else the line of the entry. For messages: it counts
 * lines from the start. */
unsigned lock_field_line(struct str text, const struct lock_entry *entry,
                         const char *key);
/* Sorts and writes the lock: in version 1 unless an entry needs a key of
 * version 2 [F13]. The same entries always produce the same bytes. */
void lock_format(struct lock *lock, struct buf *out);
/* Returns whether lock_format would write exactly this text, without keeping a
 * second copy of it. */
bool lock_has_text(struct lock *lock, struct str text);
/* Return the texts of `catalog:` and `entry:`; "" for other packages. */
struct str lock_catalog(const struct lock_entry *entry);
struct str lock_catalog_entry(const struct lock_entry *entry);
/* Returns the origin of its files, as in `origin:`. */
struct str lock_origin_text(const struct lock_entry *entry);
/* Returns its FQN according to its own manifest. */
struct str lock_own_name(const struct lock_entry *entry);
/* Returns whether the copy in its folder has another name than the manifest. */
bool lock_is_renamed(const struct lock_entry *entry);
/* Returns whether also[i] is a former name of `origin`. */
bool lock_also_is_former(const struct lock_entry *entry, size_t i);
/* Returns the commit of also[i]; "" if the lock has no separate one. */
struct str lock_also_commit(const struct lock_entry *entry, size_t i);
/* Returns the index of `other` in `needs:` of `entry`, or SIZE_MAX. */
size_t lock_find_need(const struct lock_entry *entry,
                      const struct lock_entry *other);
bool lock_needs(const struct lock_entry *entry, const struct lock_entry *other);
/* Returns the first entry of the name, or NULL; lock_next() returns the one after
 * `entry`, of another member. */
const struct lock_entry *lock_find(const struct lock *lock, enum doc_kind kind,
                                   struct str name);
const struct lock_entry *lock_next(const struct lock *lock,
                                   const struct lock_entry *entry);
/* Returns whether the layer of this member ("" for the root) has the entry. */
bool lock_is_of(const struct lock_entry *entry, struct str member);

#endif

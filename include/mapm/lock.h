#ifndef MAPM_LOCK_H
#define MAPM_LOCK_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "mapm/doc_kind.h"

/* lock: mapm.lock (DESIGN.md 3.2, F13). */

struct lock_need {
    enum doc_kind kind;
    struct str name;                /* FQN */
    const struct lock_entry *entry; /* of the same lock; lock_parse sets it */
};

struct lock_entry {
    enum doc_kind kind;
    struct str name;     /* FQN in this layer: what `needs` refers to */
    struct str declared; /* FQN of its manifest, where the layer gives it
                             * another one (`as:`, version 2); else "" */
    /* Of a plugin that a marketplace offers: that of the marketplace and
     * "?plugin=" with the name of its entry; other plugins, and parts that are
     * no folder, have a part behind "?", too (origin.h). */
    struct str origin;      /* canonical text; "./x" (version 2): a package of
                             * the workspace itself, which has no commit, no
                             * version and, but for an MCP, no digest */
    struct str from;        /* where it came from instead (`replace:`, version
                             * 2); "" = from `origin` */
    const struct str *also; /* other origins of the same content, sorted */
    /* Of each the commit that its ref named, where that is another one than
     * of `origin`, or the ref or the repository is (version 2); else "". NULL:
     * all "". */
    const struct str *also_commits;
    size_t also_count;
    /* The last of them are what `origin` was called before its host gave the
     * repository another name (`formerly`, version 2): of the same commit. */
    size_t former_count;
    struct str tag;    /* that a range in `origin` chose (version 2) */
    struct str commit; /* 40 hex; "" for file: and ./ */
    struct str object; /* git id of tree or blob, 40 hex; likewise */
    /* Of a skill of an index (version 2), which has no commit: where its
     * artifact is, and "sha256:" and 64 hex of that as it was sent. */
    struct str url, artifact;
    struct str digest;   /* "sha256:" and 64 hex; "" for ./ but an MCP */
    struct str version;  /* "" = none */
    struct str manifest; /* of a plugin: path of what it was read from */
    struct str server;   /* of a plugin's server: its name there */
    struct str plugin;   /* FQN of the plugin that it is a part of */
    /* Of a plugin from a marketplace. */
    struct str source; /* the folder's origin: `origin:` in the file */
    struct str catalog_commit;
    struct lock_words {
        const struct str *items;
        size_t count;
    } without, skipped, not_installed; /* of a plugin: "skill x", "hooks" */
    struct str place;                  /* path: or key: */
    /* Origins of the catalogs that chose it, as mapm.yaml has them, sorted
     * (version 2). */
    const struct str *catalogs;
    size_t catalog_count;
    struct str patch;        /* its hash, as `digest` (version 2); "" = none */
    bool allow_hidden;       /* accepted by --allow-hidden */
    bool rewritten;          /* its own name is unusable: the copy's changes */
    struct lock_need *needs; /* sorted by kind, name */
    /* The members that have it, sorted, "." for the root (version 2); none:
     * the root alone [D10]. */
    const struct str *members;
    size_t member_count;
    size_t need_count;
    unsigned line; /* of its "- type:" */
};

/* Of one name there may be several, each of other members; of what one needs the
 * one that all its members have. */
struct lock {
    struct lock_entry *entries; /* sorted by kind, name, member */
    size_t count;
};

/* Text is "" for a lock that is not there: an empty lock. Errors: ERR_FORMAT
 * "mapm.lock:12: …" (an unknown `version`, order, a missing or malformed
 * hash, merge markers, a need that names nothing …). */
MUST_CHECK bool lock_parse(struct str text, const char *name, struct arena *a,
                           struct lock *out, struct err *e);
/* The line of `key` in the entry, whose lock was read from `text`; that of the
 * entry where it is not there. For messages: it counts lines. */
unsigned lock_field_line(struct str text, const struct lock_entry *entry,
                         const char *key);
/* Sorts, then writes: version 1 unless an entry needs a key of version 2
 * [F13]. The same entries always give the same bytes. */
void lock_format(struct lock *lock, struct buf *out);
/* Whether lock_format gives just this text, which is never held twice. */
bool lock_has_text(struct lock *lock, struct str text);
/* The texts of `catalog:` and `entry:`; "" for other packages. */
struct str lock_catalog(const struct lock_entry *entry);
struct str lock_catalog_entry(const struct lock_entry *entry);
/* Where its files are from, as `origin:` in the file says it. */
struct str lock_origin_text(const struct lock_entry *entry);
/* Its FQN by its own manifest. */
struct str lock_own_name(const struct lock_entry *entry);
/* Whether the copy in its folder has another name than the manifest. */
bool lock_is_renamed(const struct lock_entry *entry);
/* Whether also[i] is a former name of `origin`. */
bool lock_also_is_former(const struct lock_entry *entry, size_t i);
/* The commit of also[i]; "" where the lock does not name it apart. */
struct str lock_also_commit(const struct lock_entry *entry, size_t i);
/* Whether it is one of them; NULL: there are none. */
bool lock_words_have(const struct lock_words *words, struct str word);
/* Whether `needs:` of `entry` names `other`, and where; SIZE_MAX: it does not. */
size_t lock_find_need(const struct lock_entry *entry,
                      const struct lock_entry *other);
bool lock_needs(const struct lock_entry *entry, const struct lock_entry *other);
const struct lock_entry *lock_find(const struct lock *lock, enum doc_kind kind,
                                   struct str name);
/* Whether the layer of this member, "" for the root, has it. */
bool lock_is_of(const struct lock_entry *entry, struct str member);

#endif

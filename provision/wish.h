#ifndef PROVISION_WISH_H
#define PROVISION_WISH_H

#include "base/map.h"
#include "mapm/clients.h"
#include "mapm/provision.h"

#include "record.h"
#include "writable.h"

/*
 * wish: what the workspace should hold, as a list of places. What has to be
 * made (a rewritten SKILL.md, a sub-agent, a server's entry) is made when
 * somebody asks for it: a record that already knows the outcome need not.
 */

enum target_kind {
    TARGET_TREE,   /* a package's folder */
    TARGET_LINK,   /* a link to one */
    TARGET_FILE,   /* a rendered agent */
    TARGET_SHARED, /* servers in a client's file */
    TARGET_TEXT,   /* a text handed in */
};

struct wish_file {
    struct str path;
    bool executable;
    struct hash hash;   /* zero: made, and not yet */
    struct str content; /* made; p NULL: the object */
};

struct wish_server {
    const struct provision_item *item;
    struct hash source; /* of what its entry is made */
    bool absolute;      /* after wish_make_server */
    struct str entry;
    struct hash hash;
};

struct target {
    enum target_kind kind;
    struct str path;             /* NUL-terminated */
    const struct client *client; /* NULL: common to all */
    const struct provision_item *item;
    struct hash source;
    struct str link;
    struct wish_file *files; /* TREE: sorted by path; FILE: one, "." */
    size_t file_count;
    struct wish_server *servers;
    size_t server_count;
    struct str content; /* TEXT; p NULL: it goes */
};

struct wish {
    struct arena *arena;
    const struct provision_options *options;
    struct str workspace;
    int root;
    struct target *targets;
    size_t count, capacity;
    struct map by_path;
    struct map documents; /* place of the item -> struct document */
};

/*
 * Every place for `items`, in the clients in use. What the record says that
 * mapm created says nothing about who is in use. ERR_NAME, ERR_CONFLICT or
 * ERR_REFUSED for items that cannot stand side by side.
 */
MUST_CHECK bool wish_build(struct wish *w, const struct provision_item *items,
                           size_t item_count, const struct record *known,
                           struct err *e);
MUST_CHECK bool wish_add_texts(struct wish *w,
                               const struct provision_text *texts, size_t count,
                               struct err *e);

/* Adds the client's file with no server in it: all that is ours goes. */
struct target *wish_add_shared(struct wish *w, const struct client *c);

/* Sets hash and content of the files that are made. */
MUST_CHECK bool wish_make_files(struct wish *w, struct target *t,
                                struct err *e);
MUST_CHECK bool wish_make_server(struct wish *w, const struct target *t,
                                 struct wish_server *s, struct err *e);

/*
 * Whether the entry with the hash `found`, in the client's file `text`, is the
 * made server `s` with the folders of another machine or of another place of
 * the workspace: somebody committed the file. Nothing of a user is in it.
 */
bool wish_is_from_elsewhere(struct wish *w, const struct target *t,
                            const struct wish_server *s, struct str text,
                            const struct hash *found);

#endif

#include "base/fs.h"
#include "base/invariant.h"
#include "mapm/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "download.h"
#include "packs.h"

#define STAGED_MAX_ENTRIES 10000000

/*
 * Staged objects: small ones in the draft of a pack, large ones in a folder
 * of their own below incoming/, named by their hash, and pending rows of the
 * index. They are invisible to other processes, so discarding them leaves the
 * store unchanged.
 */

/* A staged blob that can be looked up before it is published. */
struct staged_blob {
    struct hash hash;
    uint64_t size;
};

void store_end_fetch(struct store *s)
{
    arena_done(&s->staged_arena);
    map_init(&s->staged_blobs, &s->staged_arena);
}

static void forget_notes(struct store *s)
{
    notes_done(&s->notes);
    store_end_fetch(s);
}

void store_begin_staging(struct store *s)
{
    s->staging = true;
    state_set_batching(s->state, true);
    forget_notes(s);
}

static bool open_folder(struct store *s, struct err *e)
{
    if (s->staged_fd >= 0)
        return true;
    object_unique_name(s->staged_name, sizeof s->staged_name, "held");
    if (mkdirat(s->incoming_fd, s->staged_name, 0700) == 0)
        s->staged_fd =
            fs_openat(s->incoming_fd, s->staged_name,
                      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    return s->staged_fd >= 0 ||
           err_errno(e, "create store/incoming/%s", s->staged_name);
}

/* Returns the draft for small objects, up to the maximum size of a pack. */
static struct draft *draft_for(struct store *s, size_t size)
{
    if (size >= PACK_OBJECT_MAX_BYTES)
        return NULL;
    if (!s->staged_draft) {
        s->staged_draft = arena_new(&s->arena, struct draft);
        draft_init(s->staged_draft, s->incoming_fd);
    }
    return s->staged_draft->rows.count < PACK_MAX_OBJECTS ? s->staged_draft
                                                          : NULL;
}

bool staged_put(struct store *s, const struct hash *h, struct str content,
                struct err *e)
{
    struct draft *d = draft_for(s, content.n);
    char hex[HASH_HEX_CHARS + 1];

    if (d)
        return draft_add(d, h, content, e);
    hash_format(h, hex);
    return open_folder(s, e) &&
           fs_create_at(s->staged_fd, hex, 0444, content, e);
}

const struct pack_row *staged_find(struct store *s, const struct hash *h)
{
    return s->staged_draft ? draft_find(s->staged_draft, h) : NULL;
}

bool staged_read(struct store *s, const struct pack_row *row, char *out,
                 struct err *e)
{
    return draft_read(s->staged_draft, row, out, e);
}

bool staged_adopt(struct store *s, int dirfd, const char *name,
                  const struct hash *h, struct err *e)
{
    char hex[HASH_HEX_CHARS + 1];

    hash_format(h, hex);
    if (!open_folder(s, e))
        return false;
    return renameat(dirfd, name, s->staged_fd, hex) == 0 ||
           err_errno(e, "hold object %s", hex);
}

bool staged_has(struct store *s, const struct hash *h)
{
    char hex[HASH_HEX_CHARS + 1];
    struct stat st;

    if (staged_find(s, h))
        return true;
    if (s->staged_fd < 0)
        return false;
    hash_format(h, hex);
    return fstatat(s->staged_fd, hex, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISREG(st.st_mode);
}

int staged_open(struct store *s, const struct hash *h)
{
    char hex[HASH_HEX_CHARS + 1];

    if (s->staged_fd < 0) {
        errno = ENOENT;
        return -1;
    }
    hash_format(h, hex);
    return fs_openat(s->staged_fd, hex,
                     O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
}

void staged_remove(struct store *s, const struct hash *h)
{
    char hex[HASH_HEX_CHARS + 1];

    if (staged_find(s, h)) {
        draft_forget(s->staged_draft, h);
        return;
    }
    hash_format(h, hex);
    if (s->staged_fd >= 0)
        unlinkat(s->staged_fd, hex, 0);
}

void staged_note_package(struct store *s, struct str repository,
                         struct str commit, struct str path,
                         const struct state_package *p)
{
    notes_add(
        &s->notes, s->incoming_fd,
        &(struct note){NOTE_PACKAGE,
                       p->kind,
                       0,
                       p->digest,
                       {repository, commit, path, p->object, p->summary}});
}

void staged_note_blob(struct store *s, struct str oid, const struct hash *h,
                      uint64_t size)
{
    struct staged_blob *b = arena_new(&s->staged_arena, struct staged_blob);

    *b = (struct staged_blob){*h, size};
    map_put(&s->staged_blobs, arena_str(&s->staged_arena, oid), b);
    notes_add(&s->notes, s->incoming_fd,
              &(struct note){NOTE_BLOB, 0, size, *h, {oid}});
}

bool staged_find_blob(struct store *s, struct str oid, struct hash *h,
                      uint64_t *size)
{
    const struct staged_blob *b = map_find(&s->staged_blobs, oid);

    if (!b)
        return false;
    *h = b->hash;
    *size = b->size;
    return true;
}

static void add_note(struct store *s, enum note_kind which,
                     const struct hash *h, const struct str *text, size_t count)
{
    struct note n = {.which = which};

    if (h)
        n.hash = *h;
    memcpy(n.text, text, count * sizeof *text);
    notes_add(&s->notes, s->incoming_fd, &n);
}

void staged_note_ref(struct store *s, struct str repository, struct str rest,
                     const struct state_ref *r)
{
    struct str text[] = {repository, rest, r->ref, r->commit, r->path};

    add_note(s, NOTE_REF, NULL, text, 5);
}

void staged_note_trees(struct store *s, struct str repository,
                       struct str commit, const struct hash *h)
{
    struct str text[] = {repository, commit};

    add_note(s, NOTE_TREES, h, text, 2);
}

void staged_note_host(struct store *s, struct str place, struct str caps)
{
    struct str text[] = {place, caps};

    add_note(s, NOTE_HOST, NULL, text, 2);
}

void staged_note_reachable(struct store *s, struct str repository,
                           struct str commit)
{
    struct str text[] = {repository, commit};

    add_note(s, NOTE_REACHABLE, NULL, text, 2);
}

void staged_note_proof(struct store *s, const struct state_proof *p)
{
    struct str text[] = {p->repository, p->commit, p->path, p->object};

    add_note(s, NOTE_PROOF, &p->digest, text, 4);
}

static bool do_note(void *store, const struct note *n, struct err *e)
{
    struct store *s = store;
    const struct str *t = n->text;
    struct state_package package;
    struct state_proof proof;
    struct state_ref ref;

    switch (n->which) {
    case NOTE_PACKAGE:
        package = (struct state_package){n->kind, t[3], n->hash, t[4]};
        return store_put_package(s, t[0], t[1], t[2], &package, e);
    case NOTE_BLOB:
        return store_put_blob(s, t[0], &n->hash, n->size, e);
    case NOTE_REF:
        ref = (struct state_ref){t[2], t[3], t[4]};
        download_note_ref(s, t[0], t[1], ref.commit);
        return store_put_ref(s, t[0], t[1], &ref, e);
    case NOTE_PROOF:
        proof = (struct state_proof){t[0], t[1], t[2], t[3], n->hash};
        return store_put_proof(s, &proof, e);
    case NOTE_TREES:
        return state_put_trees(s->state, t[0], t[1], &n->hash, e);
    case NOTE_HOST:
        return store_put_host(s, t[0], t[1], e);
    default:
        return store_put_reachable(s, t[0], t[1], e);
    }
}

bool store_publish_notes(struct store *s, struct err *e)
{
    bool ok;

    if (notes_are_empty(&s->notes))
        return true;
    /* On failure closing the index rolls back. */
    ok = store_begin(s, e) && notes_each(&s->notes, do_note, s, e) &&
         store_commit(s, e);
    forget_notes(s);
    if (ok)
        downloads_publish(s);
    return ok;
}

/* Writes objects as files if they are too few for a pack. */
static bool publish_as_files(struct store *s, const struct pack_row *rows,
                             size_t count, struct err *e)
{
    CLEANUP_HEAP char *bytes = heap_resize(NULL, PACK_OBJECT_MAX_BYTES);

    for (size_t i = 0; i < count; i++)
        if (!staged_read(s, &rows[i], bytes, e) ||
            !object_put(s, &rows[i].hash, str_make(bytes, rows[i].size), e))
            return err_wrap(e, "cannot add to the store");
    return true;
}

static bool publish_draft(struct store *s, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err ignored = {0};
    struct pack_row *rows;
    size_t count;

    if (!s->staged_draft)
        return true;
    if (draft_count(s->staged_draft) < PACK_MIN_OBJECTS) {
        rows = draft_rows(s->staged_draft, &a, &count);
        return publish_as_files(s, rows, count, e);
    }
    if (!packs_take(s, s->staged_draft, e))
        return false;
    /* A failed merge only costs time later. */
    if (!packs_merge(s, &ignored))
        err_clear(&ignored);
    return true;
}

static bool publish_folder(struct store *s, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct fs_entry *entries;
    size_t count;

    if (s->staged_fd < 0)
        return true;
    if (!fs_list_at(s->staged_fd, "", STAGED_MAX_ENTRIES, &a, &entries, &count,
                    e))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct hash h;

        if (hash_parse(entries[i].name, &h) &&
            !object_move_in(s, s->staged_fd, entries[i].name.p, &h, e))
            return err_wrap(e, "cannot add to the store");
    }
    return true;
}

bool store_publish(struct store *s, struct err *e)
{
    if (!s->staging)
        return true;
    if (!publish_folder(s, e) || !publish_draft(s, e))
        return false;
    INVARIANT(s->staging);
    s->staging = false;
    state_set_batching(s->state, false);
    staged_drop(s);
    return true;
}

void staged_drop(struct store *s)
{
    struct err ignored = {0};

    if (s->staged_draft)
        draft_drop(s->staged_draft);
    s->staged_draft = NULL;
    fs_close(&s->staged_fd);
    if (s->staged_name[0] &&
        !fs_remove_tree_at(s->incoming_fd, s->staged_name, &ignored)) {
        /* store gc removes leftovers. */
    }
    s->staged_name[0] = '\0';
}

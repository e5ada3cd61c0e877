#include "base/proc.h"

#include <inttypes.h>
#include <string.h>

#include "session.h"

/* Minimum interval between progress frames without other events. */
#define PROGRESS_MS 50

void session_report_progress(struct session *s, bool now)
{
    struct http_counts c = http_counts(s->http);
    struct fetch_progress p = {.requests = c.requests,
                               .connections = c.connections,
                               .bytes = c.received,
                               .objects = s->object_count};
    uint64_t time = proc_now_ms();

    if (memcmp(&p, &s->said, sizeof p) == 0 ||
        (!now && time - s->said_ms < PROGRESS_MS))
        return;
    s->said = p;
    s->said_ms = time;
    link_progress(&s->link, &p);
}

/* Sends progress first, since a package may be complete before its response has
 * ended, and mapm reads no frame after the last event. */
static void report_event(struct ask *a, const struct fetch_event *ev)
{
    session_report_progress(a->repo->session, true);
    link_event(&a->repo->session->link, a->in.seq, ev);
}

/* Maximum number of notes of an ask. */

#define NOTES_MAX 8

void ask_note(struct ask *a, struct str note)
{
    if (a->note_count >= NOTES_MAX)
        return;
    a->notes = arena_grow(&a->repo->arena, a->notes, a->note_count,
                          &a->note_capacity, sizeof *a->notes);
    a->notes[a->note_count++] = note;
}

static void set_over(struct ask *a)
{
    a->stage = ASK_OVER;
    a->repo->open_count--;
}

static struct str hex_of(const struct oid *id, char out[OID_HEX_CHARS + 1])
{
    out[0] = '\0';
    if (!oid_is_zero(id))
        oid_format(id, out);
    return str_cstr(out);
}

void report_failed(struct ask *a, const struct err *why)
{
    struct err copy = *why;
    struct fetch_event ev = {
        .kind = FETCH_FAILED, .moved = ask_move(a)->moved, .err = &copy};
    char hex[OID_HEX_CHARS + 1];
    struct oid id;

    if (ask_move(a)->moved_to.n)
        err_wrap(&copy, "%.*s", STR_ARG(ask_move(a)->moved_to));
    if (why->code == ERR_PATH && compare_find_moved(a, &ev.path, &id)) {
        ev.ref = a->ref;
        ev.object = hex_of(&id, hex);
    }
    report_event(a, &ev);
    set_over(a);
}

/* Returns the members common to all events except FETCH_FAILED. `hex` holds the
 * ids. */
static struct fetch_event event_of(struct ask *a, enum fetch_event_kind kind,
                                   char hex[3][OID_HEX_CHARS + 1])
{
    return (struct fetch_event){
        .kind = kind,
        .ref = a->ref,
        .newest = a->newest,
        .moved = ask_move(a)->moved,
        .tag_commit = hex_of(&a->tag_commit, hex[2]),
        .commit =
            a->snapshot ? hex_of(&a->snapshot->commit, hex[0]) : a->in.commit,
        .path = a->path,
        .object = hex_of(&a->listing.id, hex[1]),
        .doc = a->doc,
        .notes = a->notes,
        .note_count = a->note_count,
    };
}

static void report_moved(struct ask *a)
{
    if (ask_move(a)->moved_to.n)
        ask_note(a, ask_move(a)->moved_to);
}

/* Saves before the last event, after which mapm reads no frame. */
static void save_walked(struct repo *r)
{
    if (r->open_count == 1)
        bundles_save_walked(r);
}

void report_ref(struct ask *a)
{
    char hex[3][OID_HEX_CHARS + 1];
    struct fetch_event ev;

    report_moved(a);
    save_walked(a->repo);
    ev = event_of(a, FETCH_REF_FOUND, hex);
    report_event(a, &ev);
    set_over(a);
}

void report_offers(struct ask *a, const struct fetch_event *offers)
{
    char hex[3][OID_HEX_CHARS + 1];
    struct fetch_event ev;

    report_moved(a);
    save_walked(a->repo);
    ev = event_of(a, FETCH_OFFERS, hex);
    ev.offers = offers->offers;
    ev.offer_count = offers->offer_count;
    report_event(a, &ev);
    set_over(a);
}

/* Reads the text of the manifest. Sets `*there` to false if it must be looked
 * up again. */
static bool read_manifest(struct ask *a, struct arena *arena, struct str *text,
                          bool *there, struct err *e)
{
    size_t max = a->doc == DOC_MCP ? MCP_MAX_BYTES : ANCHOR_MAX_BYTES;

    *there = true;
    if (a->entry_file->size > max)
        return err_set(e, ERR_LIMIT, "%.*s has %llu bytes, more than %zu",
                       STR_ARG(a->path),
                       (unsigned long long)a->entry_file->size, max);
    if (blob_read(a->repo, a->entry_file, arena, text, e))
        return true;
    if (e->code != ERR_NOT_FOUND)
        return false;
    /* mapm moved the file to the store for another package. */
    a->entry_file->state = BLOB_NEW;
    a->is_lined_up = *there = false;
    return true;
}

bool report_manifest(struct ask *a, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    char hex[3][OID_HEX_CHARS + 1];
    struct fetch_event ev = event_of(a, FETCH_MANIFEST, hex);
    bool there;

    if (!read_manifest(a, &scratch, &ev.manifest, &there, e))
        return false;
    if (!there)
        return true;
    report_event(a, &ev);
    blob_drop_text(a->entry_file);
    a->said_manifest = true;
    a->repo->session->has_said_manifest = true;
    return true;
}

static void fill_names(const struct ask *a, struct arena *arena,
                       struct fetch_event *ev)
{
    const struct tree_listing *l = &a->listing;

    ev->file_count = l->count;
    ev->files = arena_array(arena, l->count, sizeof *ev->files);
    for (size_t i = 0; i < l->count; i++) {
        char *hex = arena_alloc(arena, OID_HEX_CHARS + 1);

        ev->files[i] = (struct fetch_file){
            .executable = l->files[i].is_program,
            .path = l->files[i].path,
            .oid = hex_of(&l->files[i].blob, hex),
        };
    }
}

bool report_outline(struct ask *a, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    char hex[3][OID_HEX_CHARS + 1];
    struct fetch_event ev;
    bool there;

    report_moved(a);
    ev = event_of(a, FETCH_OUTLINE, hex);
    if (!read_manifest(a, &scratch, &ev.manifest, &there, e))
        return false;
    if (!there)
        return true;
    fill_names(a, &scratch, &ev);
    report_event(a, &ev);
    blob_drop_text(a->entry_file);
    set_over(a);
    a->repo->session->has_said_manifest = true;
    return true;
}

static bool fill_files(struct ask *a, struct arena *arena,
                       struct fetch_event *ev, struct err *e)
{
    const struct tree_listing *l = &a->listing;
    const struct limits *limits = &a->repo->session->limits;
    uint64_t bytes = 0;

    ev->file_count = l->count;
    ev->files = arena_array(arena, l->count, sizeof *ev->files);
    for (size_t i = 0; i < l->count; i++) {
        const struct blob *b = a->blobs[i];
        char *hex = arena_alloc(arena, OID_HEX_CHARS + 1);

        ev->files[i] = (struct fetch_file){
            .executable = l->files[i].is_program,
            .path = l->files[i].path,
            .oid = hex_of(&b->id, hex),
            .hash = b->hash,
            .offset = b->offset,
            .stored = b->state == BLOB_STORED,
            .size = b->size,
            .is_lfs = b->is_lfs,
            .is_outside = l->files[i].is_outside,
        };
        bytes += b->size;
        if (b->size > limits->file_max_bytes.value)
            return limit_fail(&limits->file_max_bytes, e,
                              "%.*s is larger than %" PRIu64 " bytes",
                              STR_ARG(l->files[i].path),
                              limits->file_max_bytes.value);
    }
    if (bytes > limits->package_max_bytes.value)
        return limit_fail(&limits->package_max_bytes, e,
                          "the package is larger than %" PRIu64 " bytes",
                          limits->package_max_bytes.value);
    return true;
}

bool report_done(struct ask *a, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    char hex[3][OID_HEX_CHARS + 1];
    struct fetch_event ev;

    report_moved(a);
    ev = event_of(a, FETCH_DONE, hex);
    if (!parts_flush(&a->repo->session->parts, e))
        return false;
    if (!fill_files(a, &scratch, &ev, e))
        return false;
    save_walked(a->repo);
    place_count_used(a);
    report_event(a, &ev);
    set_over(a);
    return true;
}

#include "base/fs.h"

#include "client.h"

#define OFFERS_MAX 20000 /* packages in one repository */
#define NOTES_MAX  64
#define NOTE_BYTES 4096

/* Copies the field, since the frame's buffer is reused. */
static struct str take_str(struct fields *in, size_t max, struct arena *a)
{
    return arena_str(a, field_str(in, max));
}

static bool is_id(struct str s)
{
    return (s.n == 0 || s.n == 40) && str_is_hex(s);
}

static bool is_kind(unsigned k)
{
    return k == DOC_AGENT || k == DOC_SKILL || k == DOC_MCP;
}

/* Kinds of packages that are fetched without a MANIFEST event. */
static bool is_folder_kind(unsigned k)
{
    return k == DOC_PLUGIN || k == DOC_MARKET;
}

static bool read_file(struct fields *in, const struct limits *limits,
                      struct arena *a, struct fetch_file *out)
{
    out->executable = field_bool(in);
    out->path = take_str(in, PACKAGE_PATH_MAX_BYTES, a);
    out->oid = take_str(in, 40, a);
    out->hash = field_hash(in);
    out->offset = field_u64(in);
    out->stored = field_bool(in);
    out->size = field_u64(in);
    out->is_lfs = field_bool(in);
    out->is_outside = field_bool(in);
    return !in->bad && fs_path_is_relative_clean(out->path) &&
           out->oid.n == 40 && is_id(out->oid) &&
           out->size <= limits->file_max_bytes.value &&
           out->offset <= INT64_MAX;
}

static bool read_files(struct fields *in, const struct limits *limits,
                       struct arena *a, struct fetch_event *out)
{
    uint64_t bytes = 0;

    out->file_count = field_u32(in, limits->package_max_files.value);
    out->files = arena_array(a, out->file_count, sizeof *out->files);
    for (size_t i = 0; i < out->file_count; i++) {
        if (!read_file(in, limits, a, &out->files[i]))
            return false;
        bytes += out->files[i].size;
    }
    return bytes <= limits->package_max_bytes.value;
}

static bool read_offers(struct fields *in, struct arena *a,
                        struct fetch_event *out)
{
    out->offer_count = field_u32(in, OFFERS_MAX);
    out->offers = arena_array(a, out->offer_count, sizeof *out->offers);
    for (size_t i = 0; i < out->offer_count; i++) {
        unsigned kind = field_u8(in, DOC_MARKET);

        out->offers[i].kind = (enum doc_kind)kind;
        out->offers[i].path = take_str(in, ORIGIN_MAX_BYTES, a);
        out->offers[i].is_elsewhere = field_u8(in, 1) > 0;
        if (in->bad || !(is_kind(kind) || kind == DOC_MARKET) ||
            (out->offers[i].path.n != 0 &&
             !fs_path_is_relative_clean(out->offers[i].path)))
            return false;
    }
    return true;
}

static void read_notes(struct fields *in, struct arena *a,
                       struct fetch_event *out)
{
    struct str *notes;

    out->note_count = field_u32(in, NOTES_MAX);
    notes = arena_array(a, out->note_count, sizeof *notes);
    for (size_t i = 0; i < out->note_count; i++)
        notes[i] = take_str(in, NOTE_BYTES, a);
    out->notes = notes;
}

/* Requests that are answered with a ref or commit, without files. */
static bool is_about_commits(enum fetch_what what)
{
    return what == FETCH_REF || what == FETCH_REACH || what == FETCH_ANCESTOR ||
           what == FETCH_NAME;
}

/* Returns whether `ev` is a valid event for the request `ask` at this point. */
static bool is_fitting(const struct client_ask *ask,
                       const struct fetch_event *ev)
{
    bool brings_files = ask->what == FETCH_PACKAGE ||
                        ask->what == FETCH_DOCUMENT || ask->what == FETCH_FILES;

    switch (ev->kind) {
    case FETCH_MANIFEST:
        return brings_files && is_kind(ev->doc) && !ask->has_manifest;
    case FETCH_DONE:
        return ask->what == FETCH_ARTIFACT
                   ? ev->file_count == 1
                   : brings_files && ev->file_count > 0 &&
                         (is_folder_kind(ev->doc) ||
                          (is_kind(ev->doc) && ask->has_manifest));
    case FETCH_REF_FOUND:
        return is_about_commits(ask->what);
    case FETCH_OFFERS:
        return !is_about_commits(ask->what) && ask->what != FETCH_ARTIFACT;
    case FETCH_OUTLINE:
        return (ask->what == FETCH_DOCUMENT || ask->what == FETCH_PACKAGE) &&
               is_kind(ev->doc) && !ask->has_manifest && ev->file_count > 0;
    case FETCH_FAILED:
        return ev->err != NULL;
    default:
        return false;
    }
}

/* If the user wrote an ssh URL and https failed, suggests the ssh transport. */
static void name_ssh(const struct fetch *f, const struct client_ask *ask,
                     struct arena *a, struct err *why)
{
    char hint[sizeof why->hint];

    if (ask->ssh_host.n == 0 ||
        (why->code != ERR_AUTH && why->code != ERR_NOT_FOUND) ||
        ssh_address_is_meant(rewrite_url(&f->rewrites, *ask->address, a)))
        return;
    memcpy(hint, why->hint, sizeof hint);
    err_hint(why, "over ssh: mapm host set %.*s --transport ssh%s%s",
             STR_ARG(ask->ssh_host), hint[0] ? "; " : "", hint);
}

bool client_read_event(struct fetch *f, struct str body, struct arena *a,
                       struct fetch_event *out)
{
    struct fields in = fields_of(body);
    struct fetch_event ev = {0};
    struct client_ask *ask;
    size_t seq;
    unsigned doc;

    ev.kind = (enum fetch_event_kind)field_u8(&in, FETCH_FAILED);
    seq = field_u32(&in, FETCH_ASKS_MAX);
    ev.ref = take_str(&in, REF_MAX_BYTES, a);
    ev.newest = take_str(&in, REF_MAX_BYTES, a);
    ev.moved = take_str(&in, ORIGIN_MAX_BYTES, a);
    ev.tag_commit = take_str(&in, 40, a);
    ev.commit = take_str(&in, 40, a);
    ev.path = take_str(&in, ORIGIN_MAX_BYTES, a);
    ev.object = take_str(&in, 40, a);
    doc = field_u8(&in, DOC_MARKET);
    ev.doc = (enum doc_kind)doc;
    ev.manifest = take_str(&in, ANCHOR_MAX_BYTES, a);
    if (!read_files(&in, &f->limits, a, &ev) || !read_offers(&in, a, &ev))
        return false;
    read_notes(&in, a, &ev);
    if (field_bool(&in)) {
        ev.err = arena_new(a, struct err);
        field_err(&in, ev.err);
    }
    if (!fields_end(&in) || seq >= f->ask_count || !is_id(ev.commit) ||
        !is_id(ev.tag_commit) || !is_id(ev.object))
        return false;
    ask = &f->asks[seq];
    if (!ask->is_open || !is_fitting(ask, &ev))
        return false;
    ev.id = ask->id;
    if (ev.kind == FETCH_MANIFEST) {
        ask->has_manifest = true;
    } else {
        if (ev.err)
            name_ssh(f, ask, a, ev.err);
        ask->is_open = false;
        f->open_count--;
        f->progress.done++;
    }
    *out = ev;
    return true;
}

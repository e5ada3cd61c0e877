#include "mapm/limits.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "engine_wire.h"

#define HEAD_BYTES 4
#define NO_TEXT    UINT32_MAX

enum field_type {
    FIELD_TEXT,
    FIELD_TEXTS,
    FIELD_BLOB, /* text with an explicit length */
    FIELD_BOOL,
    FIELD_U32,
    FIELD_U64, /* also size_t and int64_t */
    FIELD_DOUBLE,
    FIELD_PART,  /* a nested structure */
    FIELD_PARTS, /* pointer to an array of structures */
};

struct field {
    enum field_type type;
    size_t at, count_at;
    enum wire_type part;
};

/* clang-format off */
#define TEXT(s, f)        {FIELD_TEXT, offsetof(struct s, f), 0, 0}
#define TEXTS(s, f, n)    {FIELD_TEXTS, offsetof(struct s, f), offsetof(struct s, n), 0}
#define BLOB(s, f, n)     {FIELD_BLOB, offsetof(struct s, f), offsetof(struct s, n), 0}
#define FLAG(s, f)        {FIELD_BOOL, offsetof(struct s, f), 0, 0}
#define U32(s, f)         {FIELD_U32, offsetof(struct s, f), 0, 0}
#define U64(s, f)         {FIELD_U64, offsetof(struct s, f), 0, 0}
#define REAL(s, f)        {FIELD_DOUBLE, offsetof(struct s, f), 0, 0}
#define PART(s, f, t)     {FIELD_PART, offsetof(struct s, f), 0, t}
#define PARTS(s, f, n, t) {FIELD_PARTS, offsetof(struct s, f), offsetof(struct s, n), t}

static const struct field options[] = {
    TEXT(wire_options, version), TEXT(wire_options, workspace),
    FLAG(wire_options, use_global), FLAG(wire_options, is_offline),
    FLAG(wire_options, can_confirm), FLAG(wire_options, can_choose)};
static const struct field call[] = {
    U32(wire_call, operation), TEXT(wire_call, text), TEXT(wire_call, path),
    TEXTS(wire_call, texts, text_count), U64(wire_call, limit),
    REAL(wire_call, score), FLAG(wire_call, flag)};
static const struct field change_request[] = {
    U32(mapm_change_request, command),
    TEXTS(mapm_change_request, arguments, argument_count),
    FLAG(mapm_change_request, is_locked), FLAG(mapm_change_request, is_forced),
    FLAG(mapm_change_request, all), FLAG(mapm_change_request, with_server),
    FLAG(mapm_change_request, is_dry_run), FLAG(mapm_change_request, is_strict),
    TEXTS(mapm_change_request, skills, skill_count),
    TEXTS(mapm_change_request, agents, agent_count),
    TEXTS(mapm_change_request, mcps, mcp_count),
    TEXTS(mapm_change_request, plugins, plugin_count),
    TEXTS(mapm_change_request, skip, skip_count),
    TEXTS(mapm_change_request, clients, client_count)};
static const struct field run_request[] = {
    TEXT(wire_run_request, r.name), TEXT(wire_run_request, r.input),
    TEXTS(wire_run_request, r.allow, r.allow_count),
    TEXT(wire_run_request, r.backend), FLAG(wire_run_request, has_ask),
    FLAG(wire_run_request, has_event)};
static const struct field line[] = {
    U32(wire_line, kind), TEXT(wire_line, text)};
static const struct field choice[] = {
    TEXT(wire_choice, question), TEXTS(wire_choice, choices, count)};
static const struct field progress[] = {
    U32(mapm_progress, done), U32(mapm_progress, total),
    FLAG(mapm_progress, is_waiting), U64(mapm_progress, bytes),
    U64(mapm_progress, elapsed_ms)};
static const struct field answer[] = {
    FLAG(wire_answer, is_yes), U64(wire_answer, chosen), TEXT(wire_answer, text),
    U32(wire_answer, turns), FLAG(wire_answer, is_exhausted)};
static const struct field ask[] = {
    U32(mapm_ask, number), TEXT(mapm_ask, prompt), TEXT(mapm_ask, purpose),
    U32(mapm_ask, max_turns), U64(mapm_ask, max_chars)};
static const struct field event[] = {
    TEXT(mapm_event, kind), U32(mapm_event, number), FLAG(mapm_event, is_done),
    FLAG(mapm_event, is_failed), U64(mapm_event, at_ms),
    U64(mapm_event, took_ms), TEXT(mapm_event, text), TEXT(mapm_event, data)};
static const struct field error[] = {
    U32(mapm_error, code), TEXT(mapm_error, name),
    TEXTS(mapm_error, messages, message_count), TEXT(mapm_error, hint)};
static const struct field package[] = {
    TEXT(mapm_package, type), TEXT(mapm_package, name),
    TEXT(mapm_package, version), TEXT(mapm_package, origin),
    TEXT(mapm_package, commit), TEXT(mapm_package, digest),
    TEXT(mapm_package, place), TEXT(mapm_package, prereqs),
    TEXT(mapm_package, action), TEXT(mapm_package, old_version),
    TEXT(mapm_package, old_commit), TEXT(mapm_package, command),
    TEXT(mapm_package, patch),
    FLAG(mapm_package, is_root), FLAG(mapm_package, is_local)};
static const struct field finding[] = {
    TEXT(mapm_finding, side), TEXT(mapm_finding, path),
    TEXT(mapm_finding, how)};
static const struct field omission[] = {
    TEXT(mapm_omission, kind), TEXT(mapm_omission, type),
    TEXT(mapm_omission, name), TEXT(mapm_omission, origin),
    TEXT(mapm_omission, code), TEXT(mapm_omission, message)};
static const struct field plan[] = {
    TEXT(mapm_plan, workspace),
    PARTS(mapm_plan, packages, package_count, WIRE_PACKAGE),
    TEXTS(mapm_plan, edits, edit_count),
    FLAG(mapm_plan, is_empty),
    PARTS(mapm_plan, omissions, omission_count, WIRE_OMISSION)};
static const struct field change[] = {
    TEXT(mapm_change, action), TEXT(mapm_change, path)};
static const struct field diagnostic[] = {
    TEXT(mapm_diagnostic, path), TEXT(mapm_diagnostic, code),
    TEXT(mapm_diagnostic, field), TEXT(mapm_diagnostic, file),
    TEXT(mapm_diagnostic, message), TEXT(mapm_diagnostic, hint),
    U32(mapm_diagnostic, line), U32(mapm_diagnostic, column),
    FLAG(mapm_diagnostic, is_error)};
static const struct field skill[] = {
    TEXT(mapm_skill, name), TEXT(mapm_skill, description),
    TEXT(mapm_skill, version), TEXT(mapm_skill, source),
    TEXT(mapm_skill, root), TEXT(mapm_skill, folder),
    TEXT(mapm_skill, license), TEXT(mapm_skill, compatibility),
    TEXT(mapm_skill, allowed_tools), FLAG(mapm_skill, is_metaskill),
    FLAG(mapm_skill, is_mode), FLAG(mapm_skill, is_disabled),
    FLAG(mapm_skill, is_explicit), REAL(mapm_skill, score),
    TEXT(mapm_skill, trigger)};
static const struct field metadata[] = {
    TEXT(mapm_metadata, key), TEXT(mapm_metadata, value)};
static const struct field resource[] = {
    TEXT(mapm_resource, path), TEXT(mapm_resource, kind),
    U64(mapm_resource, size), FLAG(mapm_resource, is_executable),
    FLAG(mapm_resource, is_text)};
static const struct field loaded[] = {
    PART(mapm_loaded, skill, WIRE_SKILL), TEXT(mapm_loaded, text),
    TEXT(mapm_loaded, version), U64(mapm_loaded, tokens),
    TEXTS(mapm_loaded, tags, tag_count),
    PARTS(mapm_loaded, metadata, metadata_count, WIRE_METADATA),
    PARTS(mapm_loaded, resources, resource_count, WIRE_RESOURCE)};
static const struct field blob[] = {BLOB(wire_blob, bytes, length)};
static const struct field trusted[] = {
    TEXT(mapm_trusted, kind), TEXT(mapm_trusted, subject),
    TEXT(mapm_trusted, digest), U64(mapm_trusted, since_s)};
static const struct field run_result[] = {
    FLAG(mapm_run_result, is_completed), TEXT(mapm_run_result, text),
    TEXT(mapm_run_result, envelope), TEXT(mapm_run_result, status),
    TEXT(mapm_run_result, report), U32(mapm_run_result, asks),
    U32(mapm_run_result, commands), U32(mapm_run_result, traces),
    U64(mapm_run_result, took_ms)};

#define ROW(s, fields) {sizeof(struct s), sizeof fields / sizeof *fields, fields}
static const struct {
    size_t size, count;
    const struct field *fields;
} types[WIRE_TYPE_COUNT] = {
    [WIRE_OPTIONS] = ROW(wire_options, options),
    [WIRE_CALL] = ROW(wire_call, call),
    [WIRE_CHANGE_REQUEST] = ROW(mapm_change_request, change_request),
    [WIRE_RUN_REQUEST] = ROW(wire_run_request, run_request),
    [WIRE_LINE] = ROW(wire_line, line),
    [WIRE_CHOICE] = ROW(wire_choice, choice),
    [WIRE_PROGRESS_RECORD] = ROW(mapm_progress, progress),
    [WIRE_ANSWER] = ROW(wire_answer, answer),
    [WIRE_ASK_RECORD] = ROW(mapm_ask, ask),
    [WIRE_EVENT_RECORD] = ROW(mapm_event, event),
    [WIRE_ERROR] = ROW(mapm_error, error),
    [WIRE_PACKAGE] = ROW(mapm_package, package),
    [WIRE_FINDING] = ROW(mapm_finding, finding),
    [WIRE_OMISSION] = ROW(mapm_omission, omission),
    [WIRE_PLAN] = ROW(mapm_plan, plan),
    [WIRE_CHANGE] = ROW(mapm_change, change),
    [WIRE_DIAGNOSTIC] = ROW(mapm_diagnostic, diagnostic),
    [WIRE_SKILL] = ROW(mapm_skill, skill),
    [WIRE_METADATA] = ROW(mapm_metadata, metadata),
    [WIRE_RESOURCE] = ROW(mapm_resource, resource),
    [WIRE_LOADED] = ROW(mapm_loaded, loaded),
    [WIRE_BLOB] = ROW(wire_blob, blob),
    [WIRE_TRUSTED] = ROW(mapm_trusted, trusted),
    [WIRE_RUN_RESULT] = ROW(mapm_run_result, run_result),
};
/* clang-format on */

_Static_assert(sizeof(size_t) == 8 && sizeof(unsigned) == 4 &&
                   sizeof(enum mapm_code) == 4,
               "sizes of fields");

/* --- encoding --------------------------------------------------------------------- */

static void put_number(struct buf *b, uint64_t v, size_t bytes)
{
    char out[8];

    for (size_t i = 0; i < bytes; i++)
        out[i] = (char)(v >> (8 * i) & 0xff);
    buf_append(b, str_make(out, bytes));
}

static void put_text(struct buf *b, const char *text, size_t length)
{
    put_number(b, text ? length : NO_TEXT, 4);
    if (text)
        buf_append(b, str_make(text, length));
}

static const void *at(const void *record, size_t offset)
{
    return (const char *)record + offset;
}

static uint64_t number_at(const void *record, size_t offset, size_t bytes)
{
    uint64_t wide;
    uint32_t narrow;

    if (bytes == sizeof narrow) {
        memcpy(&narrow, at(record, offset), sizeof narrow);
        return narrow;
    }
    memcpy(&wide, at(record, offset), sizeof wide);
    return wide;
}

static const void *pointer_at(const void *record, size_t offset)
{
    const void *p;

    memcpy(&p, at(record, offset), sizeof p);
    return p;
}

static void put_texts(struct buf *b, const char *const *texts, size_t count)
{
    put_number(b, count, 4);
    for (size_t i = 0; i < count; i++)
        put_text(b, texts[i], strlen(texts[i]));
}

static void put_records(struct buf *b, enum wire_type type, const void *records,
                        size_t count);

static void put_field(struct buf *b, const struct field *f, const void *record)
{
    const char *text;

    switch (f->type) {
    case FIELD_TEXT:
        text = pointer_at(record, f->at);
        put_text(b, text, text ? strlen(text) : 0);
        break;
    case FIELD_TEXTS:
        put_texts(b, pointer_at(record, f->at),
                  number_at(record, f->count_at, 8));
        break;
    case FIELD_BLOB:
        put_text(b, pointer_at(record, f->at),
                 number_at(record, f->count_at, 8));
        break;
    case FIELD_BOOL:
        put_number(b, *(const bool *)at(record, f->at), 1);
        break;
    case FIELD_U32:
        put_number(b, number_at(record, f->at, 4), 4);
        break;
    case FIELD_U64:
    case FIELD_DOUBLE:
        put_number(b, number_at(record, f->at, 8), 8);
        break;
    case FIELD_PART:
        put_records(b, f->part, at(record, f->at), 1);
        break;
    case FIELD_PARTS:
        put_number(b, number_at(record, f->count_at, 8), 4);
        put_records(b, f->part, pointer_at(record, f->at),
                    number_at(record, f->count_at, 8));
    }
}

static void put_records(struct buf *b, enum wire_type type, const void *records,
                        size_t count)
{
    for (size_t i = 0; i < count && !b->overflowed; i++)
        for (size_t k = 0; k < types[type].count; k++)
            put_field(b, &types[type].fields[k],
                      at(records, i * types[type].size));
}

void wire_put(struct buf *b, enum wire_kind kind, enum wire_type type,
              const void *records, size_t count)
{
    size_t start = b->n, length;

    put_number(b, 0, HEAD_BYTES);
    put_number(b, kind, 1);
    put_number(b, type, 1);
    put_number(b, count, 4);
    put_records(b, type, records, count);
    if (b->overflowed)
        return;
    length = b->n - start - HEAD_BYTES;
    for (size_t i = 0; i < HEAD_BYTES; i++)
        b->p[start + i] = (char)(length >> (8 * i) & 0xff);
}

/* --- decoding --------------------------------------------------------------------- */

struct input {
    struct str rest;
    struct arena *a;
    const char *absent; /* used for a text that is NULL */
    bool bad;
};

static size_t min_bytes_of(enum wire_type type);

static size_t min_bytes(const struct field *f)
{
    switch (f->type) {
    case FIELD_BOOL:
        return 1;
    case FIELD_U64:
    case FIELD_DOUBLE:
        return 8;
    case FIELD_PART:
        return min_bytes_of(f->part);
    default:
        return 4;
    }
}

/* Returns the minimum size of a record, whose texts are empty. */
static size_t min_bytes_of(enum wire_type type)
{
    size_t bytes = 0;

    for (size_t k = 0; k < types[type].count; k++)
        bytes += min_bytes(&types[type].fields[k]);
    return bytes;
}

static uint64_t take_number(struct input *in, size_t bytes)
{
    uint64_t v = 0;

    if (in->bad || in->rest.n < bytes) {
        in->bad = true;
        return 0;
    }
    for (size_t i = 0; i < bytes; i++)
        v |= (uint64_t)(unsigned char)in->rest.p[i] << (8 * i);
    in->rest = str_from_index(in->rest, bytes);
    return v;
}

/* Reads a count. Each item has at least `bytes` of the remaining input, which
 * limits the memory. */
static size_t take_count(struct input *in, size_t bytes)
{
    size_t count = take_number(in, 4);

    if (count > in->rest.n / bytes)
        in->bad = true;
    return in->bad ? 0 : count;
}

static const char *take_text(struct input *in, size_t *length)
{
    size_t n = take_number(in, 4);
    const char *text;

    *length = 0;
    if (in->bad || n == NO_TEXT)
        return in->absent;
    if (n > in->rest.n) {
        in->bad = true;
        return NULL;
    }
    text = arena_text(in->a, in->rest.p, n);
    in->rest = str_from_index(in->rest, n);
    *length = n;
    return text;
}

static const char *const *take_texts(struct input *in, size_t *count)
{
    const char **texts;
    size_t length;

    *count = take_count(in, 4);
    texts = arena_array(in->a, *count + 1, sizeof *texts);
    for (size_t i = 0; i < *count; i++) {
        texts[i] = take_text(in, &length);
        in->bad |= !texts[i];
    }
    return texts;
}

static void set(void *record, size_t offset, const void *value, size_t size)
{
    memcpy((char *)record + offset, value, size);
}

static void take_records(struct input *in, enum wire_type type, void *records,
                         size_t count);

static void take_parts(struct input *in, const struct field *f, void *record)
{
    size_t count = take_count(in, min_bytes_of(f->part));
    void *records = arena_array(in->a, count + 1, types[f->part].size);

    take_records(in, f->part, records, count);
    set(record, f->at, &records, sizeof records);
    set(record, f->count_at, &count, sizeof count);
}

static void take_field(struct input *in, const struct field *f, void *record)
{
    const void *p;
    size_t n = 0;
    uint64_t wide;
    uint32_t narrow;
    bool flag;

    switch (f->type) {
    case FIELD_TEXT:
    case FIELD_BLOB:
        p = take_text(in, &n);
        set(record, f->at, &p, sizeof p);
        if (f->type == FIELD_BLOB)
            set(record, f->count_at, &n, sizeof n);
        break;
    case FIELD_TEXTS:
        p = take_texts(in, &n);
        set(record, f->at, &p, sizeof p);
        set(record, f->count_at, &n, sizeof n);
        break;
    case FIELD_BOOL:
        flag = take_number(in, 1) != 0;
        set(record, f->at, &flag, sizeof flag);
        break;
    case FIELD_U32:
        narrow = (uint32_t)take_number(in, 4);
        set(record, f->at, &narrow, sizeof narrow);
        break;
    case FIELD_U64:
    case FIELD_DOUBLE:
        wide = take_number(in, 8);
        set(record, f->at, &wide, sizeof wide);
        break;
    case FIELD_PART:
        take_records(in, f->part, (char *)record + f->at, 1);
        break;
    case FIELD_PARTS:
        take_parts(in, f, record);
    }
}

static void take_records(struct input *in, enum wire_type type, void *records,
                         size_t count)
{
    for (size_t i = 0; i < count && !in->bad; i++)
        for (size_t k = 0; k < types[type].count; k++)
            take_field(in, &types[type].fields[k],
                       (char *)records + i * types[type].size);
}

bool wire_take(struct str body, struct arena *a, struct wire_message *out)
{
    struct input in = {.rest = body, .a = a};
    uint64_t kind = take_number(&in, 1), type = take_number(&in, 1);
    size_t count;

    if (in.bad || kind >= WIRE_KIND_COUNT || type >= WIRE_TYPE_COUNT)
        return false;
    in.absent = kind > WIRE_REPLY ? "" : NULL;
    count = take_count(&in, min_bytes_of((enum wire_type)type));
    if (in.bad)
        return false;
    *out = (struct wire_message){.kind = (enum wire_kind)kind,
                                 .type = (enum wire_type)type,
                                 .count = count};
    out->records = arena_array(a, count + 1, types[type].size);
    take_records(&in, out->type, out->records, count);
    return !in.bad && in.rest.n == 0;
}

/* --- the socket ---------------------------------------------------------------------- */

bool wire_send(int fd, const struct buf *b, struct err *e)
{
    struct str rest = buf_str(b);

    if (b->overflowed)
        return err_set(e, ERR_LIMIT, "a message of more than %u bytes",
                       WIRE_MAX_BYTES);
    while (rest.n) {
        ssize_t n = send(fd, rest.p, rest.n, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return err_errno(e, "send a message");
        rest = str_from_index(rest, (size_t)n);
    }
    return true;
}

static bool receive_all(int fd, char *p, size_t n, struct err *e)
{
    while (n) {
        ssize_t got = recv(fd, p, n, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno != ECONNRESET)
            return err_errno(e, "receive a message");
        if (got <= 0)
            return err_set(e, ERR_FAILED, "the other process has ended");
        p += got;
        n -= (size_t)got;
    }
    return true;
}

bool wire_receive(int fd, struct arena *a, struct wire_message *out,
                  struct err *e)
{
    CLEANUP(buf_done) struct buf body = {0};
    unsigned char head[HEAD_BYTES];
    size_t length = 0;

    if (!receive_all(fd, (char *)head, sizeof head, e))
        return false;
    for (size_t i = 0; i < sizeof head; i++)
        length |= (size_t)head[i] << (8 * i);
    buf_init(&body, WIRE_MAX_BYTES);
    if (!buf_reserve(&body, length))
        return err_set(e, ERR_FORMAT, "a message of %zu bytes", length);
    if (!receive_all(fd, body.p, length, e))
        return false;
    body.n = length;
    if (!wire_take(buf_str(&body), a, out))
        return err_set(e, ERR_FORMAT, "malformed message");
    return true;
}

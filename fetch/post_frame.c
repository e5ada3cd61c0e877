#include "post.h"

#define STATUS_MAX 999

static bool is_name_char(char c)
{
    return char_is_alpha(c) || char_is_digit(c) || c == '-' || c == '_';
}

/* Accepts printable ASCII only: a CR or LF would begin another header. */
static bool is_printable(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < 0x20 || s.p[i] > 0x7e)
            return false;
    return true;
}

bool post_header_is_good(struct str line)
{
    size_t colon = str_find(line, STR(": "));
    struct str value;

    if (colon == SIZE_MAX || colon == 0 || line.n > POST_HEADER_MAX_BYTES ||
        !is_printable(line))
        return false;
    for (size_t i = 0; i < colon; i++)
        if (!is_name_char(line.p[i]))
            return false;
    value = str_from_index(line, colon + 2);
    return value.n > 0 && str_trim(value).n == value.n;
}

static bool url_is_good(struct str url)
{
    struct str rest = url;
    size_t end;

    if (str_starts(url, STR("https://")))
        rest = str_from_index(url, 8);
    else if (str_starts(url, STR("http://")))
        rest = str_from_index(url, 7);
    else
        return false;
    if (url.n > POST_URL_MAX_BYTES || str_has_char(url, ' ') ||
        str_has_char(url, '#') || str_has_char(url, '\\') || !is_printable(url))
        return false;
    end = str_find_char(rest, '/');
    rest = str_slice(rest, 0, end);
    return rest.n > 0 && !str_has_char(rest, '@');
}

bool post_check(const struct fetch_post *in, struct err *e)
{
    if (!url_is_good(in->url)) {
        err_set(e, ERR_ORIGIN, "invalid URL of the API");
        return err_hint(e, "it begins with https://, or with http:// and a "
                           "name of this machine, and holds no blank, no user "
                           "and no \"#\"");
    }
    if (in->header_count > POST_HEADERS_MAX)
        return err_set(e, ERR_LIMIT, "more than %u headers", POST_HEADERS_MAX);
    for (size_t i = 0; i < in->header_count; i++)
        if (!post_header_is_good(in->headers[i]))
            return err_set(e, ERR_FAILED,
                           "a header of the request is no printable line");
    if (in->is_get && in->body.n)
        return err_set(e, ERR_FAILED, "a GET has no body");
    if (in->body.n > POST_BODY_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "the request has more than %u MiB",
                       POST_BODY_MAX_BYTES >> 20);
    if (in->max_bytes > POST_ANSWER_MAX_BYTES)
        return err_set(e, ERR_LIMIT, "an answer of more than %u MiB is allowed",
                       POST_ANSWER_MAX_BYTES >> 20);
    return true;
}

void post_write(struct buf *b, const struct fetch_post *in, uint64_t time_ms)
{
    size_t begun = frame_begin(b, FRAME_POST);

    frame_u8(b, in->is_get);
    frame_u8(b, in->public_only);
    frame_str(b, in->url);
    frame_u32(b, in->header_count);
    for (size_t i = 0; i < in->header_count; i++)
        frame_str(b, in->headers[i]);
    frame_str(b, in->body);
    frame_u32(b, in->max_bytes);
    frame_u32(b, time_ms);
    frame_end(b, begun);
}

bool post_read(struct str body, struct arena *a, struct fetch_post *out,
               uint64_t *time_ms)
{
    struct fields in = fields_of(body);
    struct err why = {0};
    struct str *headers;

    *out = (struct fetch_post){0};
    out->is_get = field_bool(&in);
    out->public_only = field_bool(&in);
    out->url = arena_str(a, field_str(&in, POST_URL_MAX_BYTES));
    out->header_count = field_u32(&in, POST_HEADERS_MAX);
    headers = arena_array(a, out->header_count, sizeof *headers);
    for (size_t i = 0; i < out->header_count; i++)
        headers[i] = arena_str(a, field_str(&in, POST_HEADER_MAX_BYTES));
    out->headers = headers;
    out->body = arena_str(a, field_str(&in, POST_BODY_MAX_BYTES));
    out->max_bytes = field_u32(&in, POST_ANSWER_MAX_BYTES);
    *time_ms = field_u32(&in, POST_MAX_MS);
    return fields_end(&in) && post_check(out, &why);
}

void post_write_reply(struct buf *b, const struct fetch_reply *in)
{
    size_t begun = frame_begin(b, FRAME_REPLY);

    frame_u32(b, (size_t)in->status);
    frame_u32(b, in->retry_after_s);
    frame_str(b, in->body);
    frame_str(b, in->condition);
    frame_str(b, in->location);
    frame_str(b, in->type);
    frame_end(b, begun);
}

bool post_read_reply(struct str body, size_t max_bytes, struct arena *a,
                     struct fetch_reply *out)
{
    struct fields in = fields_of(body);
    struct fetch_reply got = {0};

    got.status = (long)field_u32(&in, STATUS_MAX);
    got.retry_after_s = (unsigned)field_u32(&in, POST_RETRY_MAX_S);
    got.body = field_str(&in, max_bytes);
    got.condition = field_str(&in, POST_CONDITION_MAX_BYTES);
    got.location = field_str(&in, POST_URL_MAX_BYTES);
    got.type = field_str(&in, POST_TYPE_MAX_BYTES);
    if (!fields_end(&in) || got.status < 200 ||
        (got.condition.n && !post_header_is_good(got.condition)) ||
        (got.location.n && !url_is_good(got.location)) ||
        !is_printable(got.type))
        return false;
    got.body = arena_str(a, got.body);
    got.condition = arena_str(a, got.condition);
    got.location = arena_str(a, got.location);
    got.type = arena_str(a, got.type);
    *out = got;
    return true;
}

struct str post_shown(struct str url)
{
    return str_slice(url, 0, str_find_char(url, '?'));
}

bool post_late(struct str url, uint64_t time_ms, struct err *e)
{
    struct str shown = post_shown(url);

    return err_set(e, ERR_FETCH, "incomplete response from %.*s within %u s",
                   STR_ARG(shown), (unsigned)((time_ms + 999) / 1000));
}

#include "chat.h"

#include "base/json.h"
#include "base/text.h"

#define ANSWER_MAX_NODES    200000
#define ANSWER_MAX_DEPTH    64
#define COMPLAINT_MAX_CHARS 400
#define ESCAPE_CHARS        6 /* length of \u0000 */

/* --- the request ---------------------------------------------------------- */

static void write_messages(struct json_writer *w, struct str prompt)
{
    json_member_array(w, "messages");
    json_begin_object(w);
    json_member_string(w, "role", STR("user"));
    json_member_string(w, "content", prompt);
    json_end_object(w);
    json_end_array(w);
}

void chat_write(const struct chat_request *r, struct buf *out)
{
    struct json_writer w;

    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    json_member_string(&w, "model", r->model);
    json_member_number(&w,
                       r->is_openai ? "max_completion_tokens" : "max_tokens",
                       r->max_tokens);
    if (r->shape == CHAT_OPENAI)
        json_member_bool(&w, "stream", false);
    write_messages(&w, r->prompt);
    json_end_object(&w);
}

/* --- text that is almost JSON --------------------------------------------- */

/* Returns the number in "\u1234", or -1 if there is no such escape. */
static int32_t escape_at(struct str s, size_t at)
{
    int32_t v = 0;

    if (at + ESCAPE_CHARS > s.n || s.p[at] != '\\' || s.p[at + 1] != 'u')
        return -1;
    for (size_t i = at + 2; i < at + ESCAPE_CHARS; i++) {
        int digit = char_hex(s.p[i]);

        if (digit < 0)
            return -1;
        v = v * 16 + digit;
    }
    return v;
}

static bool is_high(int32_t c)
{
    return c >= 0xd800 && c <= 0xdbff;
}

static bool is_low(int32_t c)
{
    return c >= 0xdc00 && c <= 0xdfff;
}

/* Copies one escape starting at its backslash and returns its length; an
 * invalid one is replaced. */
static size_t repair_escape(struct buf *b, struct str s, size_t at)
{
    int32_t c = escape_at(s, at);
    size_t n = c >= 0 ? ESCAPE_CHARS : 2;

    if (is_high(c) && is_low(escape_at(s, at + ESCAPE_CHARS)))
        n = 2 * ESCAPE_CHARS;
    else if (is_high(c) || is_low(c)) {
        buf_text(b, "\\ufffd");
        return n;
    }
    buf_append(b, str_slice(s, at, at + n));
    return n;
}

/* Replaces unpaired surrogates, with which truncated answers may end. */
static void repair_escapes(struct buf *b, struct str s)
{
    size_t at = 0;

    while (at < s.n) {
        size_t next = str_find_char(str_from_index(s, at), '\\');

        if (next == SIZE_MAX)
            next = s.n - at;
        buf_append(b, str_slice(s, at, at + next));
        at += next;
        if (at < s.n)
            at += repair_escape(b, s, at);
    }
}

/* Some servers send a byte order mark first. */
static void repair_utf8(struct buf *b, struct str s)
{
    size_t at = str_starts(s, STR("\xef\xbb\xbf")) ? 3 : 0;

    if (text_is_utf8(s)) {
        buf_append(b, str_from_index(s, at));
        return;
    }
    while (at < s.n) {
        int32_t c = text_next(s, &at);

        text_put(b, c < 0 ? 0xfffd : c);
    }
}

static bool parse(struct str body, struct arena *a, const struct json **out,
                  struct err *e)
{
    CLEANUP(buf_done) struct buf bytes, text;
    const struct json_options options = {.max_depth = ANSWER_MAX_DEPTH,
                                         .max_nodes = ANSWER_MAX_NODES};

    buf_init(&bytes, 3 * body.n + 1); /* an invalid byte is replaced by three
                                       * bytes */
    buf_init(&text, 3 * body.n + 1);
    repair_utf8(&bytes, body);
    repair_escapes(&text, buf_str(&bytes));
    return json_parse(arena_str(a, buf_str(&text)), &options, a, out, NULL, e);
}

/* --- errors --------------------------------------------------------------- */

static struct str first_text(const struct json *const *from, size_t count)
{
    struct str s = {"", 0};

    for (size_t i = 0; i < count && s.n == 0; i++)
        if (from[i] && from[i]->kind == JSON_STRING)
            s = json_text(from[i]);
    return s;
}

/* {"error": {"message", "type"}}, {"error": "…"}, {"message"}, {"detail"} */
static struct str complaint_of(const struct json *root, struct arena *a)
{
    const struct json *error = json_get(root, "error");
    const struct json *const places[] = {json_get(error, "message"), error,
                                         json_get(root, "message"),
                                         json_get(root, "detail")};
    struct str type = json_text(json_get(error, "type"));
    struct str said = first_text(places, sizeof places / sizeof *places);

    if (type.n && said.n)
        said = arena_printf(a, "%.*s: %.*s", STR_ARG(type), STR_ARG(said));
    return said.n ? said : type;
}

static struct str shorten(struct str s, struct arena *a)
{
    struct str line = text_one_line(s, a);
    struct str cut = text_cut(line, COMPLAINT_MAX_CHARS);

    return cut.n < line.n ? str_join(cut, STR("\u2026"), a) : line;
}

struct str chat_complaint(struct str body, struct arena *a)
{
    const struct json *root = NULL;
    struct err ignored = {0};
    struct str text = str_trim(body);

    if (parse(body, a, &root, &ignored))
        return shorten(complaint_of(root, a), a);
    /* A line of text is shown as the reason; a page of HTML is not. */
    if (!text_is_utf8(text) || str_starts(text, STR("<")) ||
        text.n > 4 * COMPLAINT_MAX_CHARS)
        return str_make("", 0);
    return shorten(text, a);
}

/* --- the answer ----------------------------------------------------------- */

/* Joins the texts of blocks such as {"type": "text", "text": …}, ignoring
 * blocks of other types. */
static void join_blocks(struct buf *b, const struct json *blocks)
{
    for (const struct json *i = blocks->first; i; i = i->next)
        if (str_is(json_text(json_get(i, "type")), "text"))
            buf_append(b, json_text(json_get(i, "text")));
}

static struct str text_of(const struct json *content, struct arena *a)
{
    struct str text = json_text(content);
    struct buf b;

    if (content == NULL || content->kind != JSON_ARRAY)
        return text.p ? text : str_make("", 0);
    buf_init(&b, content->end - content->start + 1);
    join_blocks(&b, content);
    text = arena_str(a, buf_str(&b));
    buf_done(&b);
    return text;
}

static bool is_one_of(struct str s, const char *const *words)
{
    while (*words && !str_is(s, *words))
        words++;
    return *words != NULL;
}

/* `reason` is why generation stopped; only the known reasons may end an empty
 * answer. */
static bool read_stop_reason(struct str reason, struct chat_reply *out,
                             struct err *e)
{
    static const char *const cut[] = {"max_tokens", "length",
                                      "model_context_window_exceeded", NULL};
    static const char *const fine[] = {"", "end_turn", "stop_sequence", "stop",
                                       NULL};

    out->exhausted = is_one_of(reason, cut);
    if (out->text.n || out->exhausted || is_one_of(reason, fine))
        return true;
    if (str_is(reason, "refusal") || str_is(reason, "content_filter"))
        return err_set(e, ERR_FAILED, "the model refused to answer (%.*s)",
                       STR_ARG(reason));
    reason = text_cut(reason, 40);
    return err_set(e, ERR_FAILED, "the response contains no text (%.*s)",
                   STR_ARG(reason));
}

static bool is_strange(struct err *e, const char *what)
{
    err_set(e, ERR_FORMAT,
            "the response does not have the format of this API: %s", what);
    return err_hint(e, "check the address, and \"api\" in config.yaml");
}

static bool read_anthropic(const struct json *root, struct arena *a,
                           struct chat_reply *out, struct err *e)
{
    const struct json *content = json_get(root, "content");

    if (content == NULL || content->kind != JSON_ARRAY)
        return is_strange(e, "it has no list \"content\"");
    out->text = text_of(content, a);
    return read_stop_reason(json_text(json_get(root, "stop_reason")), out, e);
}

static bool read_openai(const struct json *root, struct arena *a,
                        struct chat_reply *out, struct err *e)
{
    const struct json *choices = json_get(root, "choices"), *message;

    if (choices == NULL || choices->kind != JSON_ARRAY || !choices->first)
        return is_strange(e, "it has no list \"choices\"");
    message = json_get(choices->first, "message");
    if (message == NULL || message->kind != JSON_OBJECT)
        return is_strange(e, "it has no \"message\"");
    out->text = text_of(json_get(message, "content"), a);
    if (out->text.n == 0)
        out->text = text_of(json_get(message, "refusal"), a);
    return read_stop_reason(
        json_text(json_get(choices->first, "finish_reason")), out, e);
}

bool chat_read(enum chat_shape shape, struct str body, struct arena *a,
               struct chat_reply *out, struct err *e)
{
    const struct json *root = NULL, *error;
    struct chat_reply got = {0};
    bool ok;

    if (!parse(body, a, &root, e)) {
        enum err_code code = e->code == ERR_LIMIT ? ERR_LIMIT : ERR_FORMAT;
        struct err why = *e;

        return err_set(e, code, "the response is not JSON: %s",
                       err_first(&why));
    }
    error = json_get(root, "error");
    if (error && error->kind != JSON_NULL) {
        struct str said = shorten(complaint_of(root, a), a);

        return err_set(e, ERR_FETCH, "the API reports an error%s%.*s",
                       said.n ? ": " : "", STR_ARG(said));
    }
    ok = shape == CHAT_ANTHROPIC ? read_anthropic(root, a, &got, e)
                                 : read_openai(root, a, &got, e);
    if (ok)
        *out = got;
    return ok;
}

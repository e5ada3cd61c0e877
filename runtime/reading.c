#include "reading.h"

#include "base/json.h"
#include "base/text.h"
#include "mapm/limits.h"

#include <string.h>

#define CHAR_MAX_BYTES  4
#define WHY_MAX_BYTES   2000
#define EVENT_MAX_NODES 200000
#define BAD             "\xef\xbf\xbd" /* U+FFFD */

/* --- the answer so far ---------------------------------------------------- */

/* Keeps one character more than the maximum of the answer, so that truncation
 * is detected. */
static void add_text(struct reading *r, struct str text)
{
    if (r->chars > r->max_chars)
        return;
    text = text_cut(text, r->max_chars + 1 - r->chars);
    r->chars += text_count(text);
    buf_append(&r->text, text);
}

static void clear_text(struct reading *r)
{
    buf_clear(&r->text);
    r->chars = 0;
}

static void add_turn(struct reading *r, struct str text)
{
    if (!text.n)
        return;
    if (r->new_turn || r->answered)
        clear_text(r);
    r->new_turn = r->answered = r->failed = false;
    add_text(r, text);
}

static void answer(struct reading *r, struct str text)
{
    clear_text(r);
    add_text(r, text);
    r->answered = true;
    r->failed = false;
}

static void note(struct reading *r, struct str why)
{
    buf_clear(&r->why);
    buf_append(&r->why, text_cut(why, WHY_MAX_BYTES / CHAR_MAX_BYTES));
}

/* --- turns ------------------------------------------------------------------ */

static void over_cap(struct reading *r)
{
    r->turns = r->cap;
    r->stop = r->exhausted = true;
}

static void begin_turn(struct reading *r)
{
    r->turns++;
    r->new_turn = true;
    if (r->cap && r->turns > r->cap)
        over_cap(r);
}

static void end_turn(struct reading *r)
{
    if (r->cap && r->turns >= r->cap)
        over_cap(r);
}

static void ensure_turn(struct reading *r)
{
    if (!r->speaking)
        begin_turn(r);
    r->speaking = true;
}

static void result_came(struct reading *r)
{
    r->speaking = false;
    if (r->calls && --r->calls == 0)
        end_turn(r);
}

/* FNV hash, to detect that an id differs from the last one. */
static uint64_t id_of(struct str text)
{
    uint64_t h = 14695981039346656037u;

    for (size_t i = 0; i < text.n; i++)
        h = (h ^ (unsigned char)text.p[i]) * 1099511628211u;
    return h;
}

static void turn(struct reading *r, const char *at, struct str id)
{
    if (at && r->turns && r->turn_id == id_of(id))
        return;
    r->turn_id = id_of(id);
    begin_turn(r);
    r->speaking = true;
}

static void set_turns(struct reading *r, struct str number)
{
    uint64_t n;

    if (str_number(number, 1000000, &n))
        r->turns = (unsigned)n;
}

/* --- paths in an event -------------------------------------------------------- */

/* Follows a path "a.b.c". If it contains "[]", stops before it and sets `*rest`
 * to the part after it. */
static const struct json *walk(const struct json *j, struct str path,
                               struct str *rest)
{
    struct str name;

    while (j && path.n && str_cut(&path, '.', &name)) {
        bool each = str_ends(name, STR("[]"));

        j = json_get_str(j, str_slice(name, 0, name.n - (each ? 2 : 0)));
        if (each) {
            *rest = path.p ? path : STR("");
            return j && j->kind == JSON_ARRAY ? j : NULL;
        }
        if (!path.p)
            break;
    }
    return j;
}

static struct str scalar(const struct json *j)
{
    if (!j)
        return STR("");
    if (j->kind == JSON_TRUE)
        return STR("true");
    if (j->kind == JSON_FALSE)
        return STR("false");
    return j->kind == JSON_STRING || j->kind == JSON_NUMBER ? j->text : STR("");
}

static bool is_there(const struct json *j, struct str path)
{
    struct str rest = {NULL, 0};

    j = walk(j, path, &rest);
    if (!j || j->kind == JSON_NULL)
        return false;
    return rest.p ? j->first != NULL : j->kind == JSON_OBJECT || scalar(j).n;
}

/* Returns the text at a path; texts of several elements are joined by line
 * ends. */
static struct str text_at(const struct json *j, struct str path,
                          struct arena *a)
{
    struct str rest = {NULL, 0}, none;
    CLEANUP(buf_done) struct buf all = {0};

    j = walk(j, path, &rest);
    if (!rest.p)
        return scalar(j);
    buf_init(&all, ANSWER_LINE_MAX_BYTES);
    for (j = j ? j->first : NULL; j; j = j->next) {
        struct str one = scalar(walk(j, rest, &none));

        if (one.n && all.n)
            buf_char(&all, '\n');
        buf_append(&all, one);
    }
    return arena_str(a, buf_str(&all));
}

static struct str text_of(const struct json *j, const char *at, struct arena *a)
{
    struct str paths = str_cstr(at), path, text = {"", 0};

    while (!text.n && paths.p && str_cut(&paths, '|', &path))
        text = text_at(j, path, a);
    return text;
}

/* --- rules ---------------------------------------------------------------------- */

static bool holds(const struct json *j, const char *condition)
{
    struct str c = str_cstr(condition), want = {NULL, 0}, none;
    bool negated = str_starts(c, STR("!")), is;
    size_t equals = str_find_char(c, '=');

    if (negated)
        c = str_from_index(c, 1);
    if (equals == SIZE_MAX) {
        is = is_there(j, c);
    } else {
        equals -= negated;
        want = str_from_index(c, equals + 1);
        is = str_eq(scalar(walk(j, str_slice(c, 0, equals), &none)), want);
    }
    return is != negated;
}

static bool rule_holds(const struct preset_rule *rule, const struct json *j)
{
    for (size_t i = 0; rule->when[i]; i++)
        if (!holds(j, rule->when[i]))
            return false;
    return true;
}

static void act(struct reading *r, const struct preset_rule *rule,
                struct str text)
{
    switch (rule->act) {
    case ACT_TURN:
        turn(r, rule->at, text);
        break;
    case ACT_CALL:
        r->calls++;
        ensure_turn(r);
        break;
    case ACT_SPEAK:
        ensure_turn(r);
        break;
    case ACT_RETURN:
        result_came(r);
        break;
    case ACT_MORE:
        end_turn(r);
        break;
    case ACT_TURNS:
        set_turns(r, text);
        break;
    case ACT_SAY:
        add_turn(r, text);
        break;
    case ACT_ANSWER:
        answer(r, text);
        break;
    case ACT_EXHAUSTED:
        r->exhausted = true;
        break;
    case ACT_FAIL:
        note(r, text);
        r->failed = true;
        break;
    case ACT_NOTE:
        note(r, text);
        break;
    case ACT_NONE:
    case ACT_SKIP:
        break;
    }
}

static void read_event(struct reading *r, const struct json *event,
                       struct arena *a)
{
    const struct preset_rule *rule = r->rules;

    r->had_event = true;
    for (; rule->act != ACT_NONE && !r->stop; rule++) {
        if (!rule_holds(rule, event))
            continue;
        if (rule->act == ACT_SKIP)
            return;
        act(r, rule, rule->at ? text_of(event, rule->at, a) : STR(""));
    }
}

/* --- lines -------------------------------------------------------------------- */

/* JavaScript writes "\ud83d" without its second half for text cut there; it
 * becomes U+FFFD, as invalid bytes do. */
static size_t escape_length(struct str s, size_t at, bool *is_bad)
{
    struct str c = str_from_index(s, at);
    bool high, low;

    *is_bad = false;
    if (c.n < 6 || c.p[1] != 'u')
        return c.n < 2 ? c.n : 2;
    if ((c.p[2] | 0x20) != 'd' || !strchr("89abcdefABCDEF", c.p[3]))
        return 6;
    high = strchr("89abAB", c.p[3]) != NULL;
    low = c.n >= 12 && c.p[6] == '\\' && c.p[7] == 'u' &&
          (c.p[8] | 0x20) == 'd' && strchr("cdefCDEF", c.p[9]);
    *is_bad = !high || !low;
    return *is_bad ? 6 : 12;
}

static struct str repair(struct str line, struct arena *a)
{
    struct buf b;
    size_t at = 0, n;
    bool is_bad;

    if (text_is_utf8(line) && str_find(line, STR("\\u")) == SIZE_MAX)
        return line;
    buf_init(&b, 3 * line.n + 1);
    while (at < line.n) {
        size_t from = at;

        if (line.p[at] == '\\') {
            n = escape_length(line, at, &is_bad);
            buf_append(&b, is_bad ? STR(BAD) : str_slice(line, at, at + n));
            at += n;
        } else if (text_next(line, &at) < 0) {
            buf_append(&b, STR(BAD));
        } else {
            buf_append(&b, str_slice(line, from, at));
        }
    }
    line = arena_str(a, buf_str(&b));
    buf_done(&b);
    return line;
}

static void read_line(struct reading *r)
{
    static const struct json_options options = {.max_nodes = EVENT_MAX_NODES};
    struct str line = str_trim(buf_str(&r->line));
    CLEANUP(arena_done) struct arena a = {0};
    const struct json *event;
    struct err why;

    if (r->skip_line || !line.n)
        return;
    /* Plain text before any event may be an error message for the user. */
    if (line.p[0] != '{' && !r->had_event)
        note(r, line);
    if (line.p[0] != '{')
        return;
    if (json_parse(repair(line, &a), &options, &a, &event, NULL, &why))
        read_event(r, event, &a);
}

static void feed_line(struct reading *r, struct str piece, bool ends)
{
    if (!r->skip_line)
        buf_append(&r->line, piece);
    r->skip_line |= r->line.overflowed;
    if (!ends)
        return;
    read_line(r);
    buf_clear(&r->line);
    r->skip_line = false;
}

/* Appends plain text; a block may end inside of a character. */
static void feed_text(struct reading *r, struct str block)
{
    size_t room = r->text.max - r->text.n;

    buf_append(&r->text, str_slice(block, 0, room));
}

void reading_init(struct reading *r, const struct preset_rule *rules,
                  unsigned cap, size_t max_chars)
{
    *r = (struct reading){.rules = rules, .cap = cap, .max_chars = max_chars};
    buf_init(&r->text, (max_chars + 1) * CHAR_MAX_BYTES);
    buf_init(&r->why, WHY_MAX_BYTES);
    buf_init(&r->line, ANSWER_LINE_MAX_BYTES);
}

void reading_done(struct reading *r)
{
    buf_done(&r->text);
    buf_done(&r->why);
    buf_done(&r->line);
}

void reading_feed(struct reading *r, struct str block)
{
    size_t end;

    r->bytes += block.n;
    if (r->bytes > ANSWER_OUTPUT_MAX_BYTES)
        r->flooded = r->stop = true;
    if (!r->rules) {
        feed_text(r, block);
        return;
    }
    while (block.n && !r->stop) {
        end = str_find_char(block, '\n');
        feed_line(r, str_slice(block, 0, end), end != SIZE_MAX);
        block = str_from_index(block, end == SIZE_MAX ? block.n : end + 1);
    }
}

void reading_end(struct reading *r)
{
    if (r->rules && !r->stop)
        feed_line(r, STR(""), true);
}

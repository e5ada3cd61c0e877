#include "base/hash.h"
#include "mapm/clients.h"
#include "mapm/limits.h"

#include <string.h>

#include "document.h"

/* Checks the body: its hash and size, hidden characters in the body and the
 * frontmatter, and references to files. Source: K7, K8, T11, T12, A5; THREATS
 * 1.4, row 7. */

#define POINTS_PER_TOKEN 4

static void report_hidden(const struct reader *r, enum level level,
                          const char *field, unsigned line, const char *what,
                          int32_t point)
{
    report_at(r, level, "hidden-characters", field, line,
              "%s%scontains U+%04X (%s), which is invisible: remove it", field,
              *field ? " " : "", (unsigned)point, what);
}

/* Returns the offset of the first control character that does not belong in
 * text, or SIZE_MAX. A lone CR is allowed in a file, where it ends a line, but
 * not in a value (`value`), where it comes from an escape and makes a terminal
 * overwrite the line. */
static size_t find_control(struct str text, bool value)
{
    for (size_t at = 0; at < text.n;) {
        size_t from = at;
        int32_t c = text_next(text, &at);

        if (c == '\r' && value && (at == text.n || text.p[at] != '\n'))
            return from;
        if ((c >= 0 && c < 0x20 && c != '\n' && c != '\r' && c != '\t') ||
            (c >= 0x7f && c < 0xa0))
            return from;
    }
    return SIZE_MAX;
}

bool check_hidden(const struct reader *r, enum level level, const char *field,
                  unsigned line, struct str text)
{
    size_t at = 0, control = find_control(text, *field);
    int32_t point = 0;
    enum text_hidden kind = text_find_hidden(text, &at, &point);

    if (control != SIZE_MAX)
        report_hidden(r, level, field, line, "control character",
                      text_next(text, &control));
    else if (kind == TEXT_HIDDEN_ZERO_WIDTH)
        report(r, "zero-width", field, line,
               "%s%scontains U+%04X, a character without width", field,
               *field ? " " : "", (unsigned)point);
    else if (kind != TEXT_HIDDEN_NONE)
        report_hidden(r, level, field, line, text_hidden_name(kind), point);
    return control != SIZE_MAX ||
           (kind != TEXT_HIDDEN_NONE && kind != TEXT_HIDDEN_ZERO_WIDTH);
}

/* --- frontmatter beside the fields that are judged by themselves ---------- */

static bool is_judged(struct str key)
{
    return str_is(key, "name") || str_is(key, "description") ||
           str_is(key, "version") || str_is(key, "scope");
}

static enum level body_level(const struct reader *r)
{
    return r->in->allow_hidden || r->in->in_place ? LEVEL_OFF : LEVEL_ERROR;
}

/* Checks the keys and values below one top-level field. Reports only the first
 * problem. */
static bool check_field(struct reader *r, const struct yaml *top)
{
    const struct yaml *stack[FRONTMATTER_MAX_DEPTH + 2];
    size_t depth = 0;
    const struct yaml *y = top;
    const char *field = str_dup0(top->key, r->a);
    size_t before = r->why->count;

    while (y) {
        if (check_hidden(r, body_level(r), field, y->line, y->key) ||
            (y->kind == YAML_SCALAR &&
             check_hidden(r, body_level(r), field, y->line, y->text)))
            return true;
        if (r->why->count > before)
            return false; /* report zero width characters once */
        if (y->first && depth < FRONTMATTER_MAX_DEPTH + 1) {
            stack[depth++] = y == top ? NULL : y->next;
            y = y->first;
        } else {
            y = y == top ? NULL : y->next;
        }
        while (!y && depth > 0)
            y = stack[--depth];
    }
    return false;
}

/* Check the parsed values for escaped characters and the raw text for
 * comments. */
void read_hidden(struct reader *r)
{
    size_t before = r->why->count, at = 0;
    int32_t point;

    for (const struct yaml *y = r->root ? r->root->first : NULL; y; y = y->next)
        if (!is_judged(y->key) && check_field(r, y))
            r->doc->hidden = true;
    if (r->why->count > before || r->doc->hidden ||
        text_find_hidden(r->source, &at, &point) <= TEXT_HIDDEN_NONE)
        return;
    for (size_t i = 0; i < r->why->count; i++)
        if (strcmp(r->why->items[i].code, "hidden-characters") == 0 ||
            strcmp(r->why->items[i].code, "zero-width") == 0)
            return;
    if (check_hidden(r, body_level(r), "", text_line_of(r->source, at) + 1,
                     r->source))
        r->doc->hidden = true;
}

/* --- the body ------------------------------------------------------------- */

static size_t count_lines(struct str text)
{
    size_t lines = 0, end;

    while ((end = str_find_char(text, '\n')) != SIZE_MAX) {
        text = str_from_index(text, end + 1);
        lines++;
    }
    return lines + (text.n > 0);
}

static void check_sizes(struct reader *r, struct str body, unsigned line)
{
    size_t points = text_count(body), lines = count_lines(body);

    r->doc->load_size_tokens =
        points < POINTS_PER_TOKEN ? 1 : points / POINTS_PER_TOKEN;
    if (r->in->kind != DOC_SKILL)
        return;
    if (r->doc->load_size_tokens > BODY_WARN_TOKENS)
        report(r, "body-tokens", "", line,
               "the body costs about %zu tokens, more than %d: move details "
               "into files that it names",
               r->doc->load_size_tokens, BODY_WARN_TOKENS);
    if (lines >= BODY_WARN_LINES)
        report(r, "body-lines", "", line,
               "the body has %zu lines: keep it under %d, move details into "
               "files that it names",
               lines, BODY_WARN_LINES);
    if (points > BODY_WARN_CHARS &&
        (r->doc->metaskill || r->in->profile == PROFILE_METASKILL))
        report(r, "body-truncated", "", line,
               "the body has %zu characters: hosts of metaskills may cut it "
               "at %d",
               points, BODY_WARN_CHARS);
}

static void check_input_keys(struct reader *r, struct str body, unsigned line)
{
    if (r->doc->metaskill &&
        str_find(str_lower(body, r->a), STR("input keys")) == SIZE_MAX)
        report(r, "metaskill-input-keys", "", line,
               "the body has no \"Input keys:\" list: say what the program "
               "reads from its input");
}

static bool names_path(struct reader *r, struct str body, unsigned line,
                       const char *const *paths, size_t count)
{
    for (size_t i = 0; i < count && paths[i]; i++) {
        size_t at = str_find(body, str_cstr(paths[i]));

        if (at == SIZE_MAX)
            continue;
        report(r, "body-client-path", "", line + text_line_of(body, at) - 1,
               "the body names %s, where one client looks: write "
               "<SKILL_DIR>/ for the skill's own folder",
               paths[i]);
        return true;
    }
    return false;
}

/* M31: reports paths of client folders in the body. The author of a skill
 * cannot know where a client installs it. */
static void check_client_paths(struct reader *r, struct str body, unsigned line)
{
    static const char *const common[] = {".agents/skills/", ".agents/agents/"};

    if ((str_find(body, STR("/skills/")) == SIZE_MAX &&
         str_find(body, STR("/agents/")) == SIZE_MAX) ||
        names_path(r, body, line, common, 2))
        return;
    for (size_t i = 0; i < clients_count; i++)
        if (names_path(r, body, line, clients_table[i].body_paths,
                       CLIENT_MAX_PATHS))
            return;
}

static void hash_body(struct reader *r, struct str body)
{
    char hex[HASH_HEX_CHARS + 1];
    struct hash h = hash_of(body);

    hash_format(&h, hex);
    memcpy(r->doc->skill_version, hex, sizeof r->doc->skill_version - 1);
}

void read_body(struct reader *r, const struct split *s)
{
    struct str unix_body;
    size_t at;
    int32_t point;
    unsigned line = s->body_line;

    r->doc->body = s->body;
    r->doc->body_line = s->body_line;
    if (r->in->skip_body)
        return;
    unix_body = text_unix_lines(s->body, r->a);
    hash_body(r, unix_body);
    check_sizes(r, unix_body, line);
    check_input_keys(r, unix_body, line);
    check_client_paths(r, unix_body, line);
    check_references(r, unix_body);
    if (text_find_hidden(s->body, &at, &point) == TEXT_HIDDEN_NONE)
        return;
    line += text_line_of(s->body, at) - 1;
    if (text_find_hidden(s->body, &at, &point) == TEXT_HIDDEN_ZERO_WIDTH) {
        report(r, "zero-width", "body", line,
               "the body contains U+%04X, a character without width",
               (unsigned)point);
        return;
    }
    r->doc->hidden = true;
    report_at(r, body_level(r), "hidden-characters", "body", line,
              "the body contains U+%04X (%s), which is invisible: remove it, "
              "or accept it with --allow-hidden",
              (unsigned)point,
              text_hidden_name(text_find_hidden(s->body, &at, &point)));
}


#include "mapm/limits.h"
#include "mapm/name.h"

#include <stddef.h>
#include <string.h>

#include "document.h"

/* Reads the fields of the frontmatter other than `name`, `dependencies` and
 * `metaskill`. Source: M4, M6 to M9, K6, T6 to T8, L2 to L7, A2, A3, X3, X5,
 * X6, X12, X16 to X18. */

bool is_null(const struct yaml *y)
{
    return !y || (y->kind == YAML_SCALAR && yaml_type_of(y) == YAML_TYPE_NULL);
}

bool is_text(const struct reader *r, const struct yaml *y)
{
    if (!y || y->kind != YAML_SCALAR)
        return false;
    return r->in->profile == PROFILE_SKILLS_REF || yaml_is_string(y);
}

/* Returns the type of a value for messages such as "… is a list, not text". */
static const char *what_is(const struct yaml *y)
{
    if (y->kind == YAML_MAPPING)
        return "a mapping";
    if (y->kind == YAML_SEQUENCE)
        return "a list";
    return yaml_type_name(yaml_type_of(y));
}

/* --- description ---------------------------------------------------------- */

/* K6: returns true if nothing remains of the text without its "<!-- … -->"
 * comments. */
static bool is_only_comments(struct str text)
{
    while (text.n) {
        size_t open = str_find(text, STR("<!--")), close;

        if (str_trim(str_slice(text, 0, open)).n)
            return false;
        if (open == SIZE_MAX)
            return true;
        close = str_find(str_from_index(text, open + 4), STR("-->"));
        if (close == SIZE_MAX)
            return false;
        text = str_from_index(text, open + 4 + close + 3);
    }
    return true;
}

static bool checks_comments(const struct reader *r)
{
    return r->in->profile == PROFILE_METASKILL ||
           r->in->profile == PROFILE_PUBLISH || r->doc->metaskill;
}

/* K6: returns true if the description says when to use the skill. Looks for
 * English words only; text in other scripts is accepted. */
static bool states_when(struct str description, struct arena *a)
{
    static const char *const words[] = {
        "when", "use ", "used ",   "using ", "if ",   "before ", "after ",
        "for ", "asks", "trigger", "during", "while", "need",    "invoke",
    };
    struct str text = str_lower(description, a);
    size_t foreign = 0;

    for (size_t i = 0; i < text.n; i++)
        foreign += (unsigned char)text.p[i] >= 0x80;
    if (foreign > text.n / 4)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_find(text, str_cstr(words[i])) != SIZE_MAX)
            return true;
    return false;
}

static void read_description(struct reader *r)
{
    const struct yaml *y = yaml_get(r->root, "description");
    unsigned line = y ? y->key_line : 1;
    struct str text = y && y->kind == YAML_SCALAR ? y->text : STR("");

    if (!y) {
        report(r, "description-missing", "description", line,
               "the description is missing: say in one sentence what it "
               "does and when to use it");
        return;
    }
    if (!is_text(r, y) && (y->kind != YAML_SCALAR || text.n)) {
        report(r, "description-type", "description", line,
               "the description is %s, not text: put it in quotes", what_is(y));
        return;
    }
    check_hidden(r, LEVEL_ERROR, "description", line, text);
    /* T6: strip the characters that Python strips */
    r->doc->description =
        r->in->profile == PROFILE_METIS ? text_strip(text) : str_trim(text);
    if (r->doc->description.n == 0 ||
        (checks_comments(r) && is_only_comments(text)))
        report(r, "description-empty", "description", line,
               "the description is empty: say in one sentence what it does "
               "and when to use it");
    if (text_count(text) > DESCRIPTION_MAX_CHARS)
        report(r, "description-too-long", "description", line,
               "the description has %zu characters, more than %d: move the "
               "details into the body",
               text_count(text), DESCRIPTION_MAX_CHARS);
    if (r->in->kind == DOC_SKILL && r->doc->description.n &&
        !yaml_get(r->root, "when_to_use") &&
        !states_when(r->doc->description, r->a))
        report(r, "description-when", "description", line,
               "the description does not say when to use it: a model chooses "
               "by that, as in \"Use it when ...\"");
}

/* --- plain text ----------------------------------------------------------- */

/* clang-format off */
static const struct text_field {
    const char *name;
    size_t offset; /* offset in struct document */
    const char *type, *empty, *too_long; /* codes of diagnostics; NULL if not
                                          * checked */
    size_t max;
} text_fields[] = {
    {"compatibility", offsetof(struct document, compatibility),
     "compatibility-type", "compatibility-empty", "compatibility-too-long",
     COMPATIBILITY_MAX_CHARS},
    {"license", offsetof(struct document, license), "license-type", NULL, NULL, 0},
    {"prereqs", offsetof(struct document, prereqs), "prereqs-type", NULL, NULL, 0},
    {"model",   offsetof(struct document, model),   NULL, NULL, NULL, 0},
    {"agent",   offsetof(struct document, agent),   NULL, NULL, NULL, 0},
    {"context", offsetof(struct document, context), NULL, NULL, NULL, 0},
};
/* clang-format on */

static void read_text(struct reader *r, const struct text_field *f)
{
    const struct yaml *y = yaml_get(r->root, f->name);
    struct str *out = (struct str *)((char *)r->doc + f->offset);

    if (!y)
        return;
    if (f->empty && y->kind == YAML_SCALAR && str_trim(y->text).n == 0)
        report(r, f->empty, f->name, y->key_line,
               "%s is empty: say something or leave it out", f->name);
    if (is_null(y))
        return;
    if (f->type && !is_text(r, y)) {
        report(r, f->type, f->name, y->key_line,
               "%s is %s, not text: put it in quotes", f->name, what_is(y));
        return;
    }
    if (y->kind != YAML_SCALAR)
        return;
    *out = str_trim(y->text);
    if (f->too_long && text_count(y->text) > f->max)
        report(r, f->too_long, f->name, y->key_line,
               "%s has %zu characters, more than %zu", f->name,
               text_count(y->text), f->max);
}

static void check_context(struct reader *r)
{
    const struct yaml *y = yaml_get(r->root, "context");

    if (is_null(y) || str_is(r->doc->context, "fork") ||
        str_is(r->doc->context, "inline"))
        return;
    report(r, "context-value", "context", y->key_line,
           "context is neither \"fork\" nor \"inline\" and is ignored");
    r->doc->context = STR("");
}

/* --- true and false ------------------------------------------------------- */

/* clang-format off */
static const struct bool_field {
    const char *name;
    size_t offset;
} bool_fields[] = {
    {"disable-model-invocation",
     offsetof(struct document, disable_model_invocation)},
    {"mode",    offsetof(struct document, is_mode)},
    {"is-mode", offsetof(struct document, is_mode)},
    {"is_mode", offsetof(struct document, is_mode)},
};
/* clang-format on */

static bool is_true(struct str word)
{
    return str_eq_nocase(word, STR("true")) ||
           str_eq_nocase(word, STR("yes")) || str_eq_nocase(word, STR("on"));
}

/* Reads a boolean field. The text "true" counts as true: its author wanted to
 * disable the model. */
static void read_bool(struct reader *r, const struct bool_field *f)
{
    const struct yaml *y = yaml_get(r->root, f->name);
    bool *out = (bool *)((char *)r->doc + f->offset);

    if (is_null(y))
        return;
    if (y->kind == YAML_SCALAR && is_true(y->text))
        *out = true;
    if (y->kind != YAML_SCALAR || yaml_type_of(y) != YAML_TYPE_BOOL)
        report(r, "bool-type", f->name, y->key_line,
               "%s is not true or false, without quotes", f->name);
}

/* --- version and scope ---------------------------------------------------- */

#define VERSION_MAX_BYTES 64

static void read_version(struct reader *r)
{
    const struct yaml *y = yaml_get(r->root, "version");
    struct version v;

    if (is_null(y)) {
        report(r, "version-missing", "version", y ? y->key_line : 1,
               "the version is missing: add \"version: 1.0.0\"");
        return;
    }
    if (y->kind == YAML_SCALAR) {
        check_hidden(r, LEVEL_ERROR, "version", y->key_line, y->text);
        if (y->text.n <= VERSION_MAX_BYTES && text_is_visible(y->text))
            r->doc->version = y->text;
    }
    if (is_text(r, y) && version_parse(y->text, &v))
        return;
    report(r, "version-format", "version", y->key_line,
           "the version %s%s%sis not three numbers, as in 1.0.0",
           y->kind == YAML_SCALAR ? "\"" : "",
           y->kind == YAML_SCALAR ? quoted(r, y->text) : "",
           y->kind == YAML_SCALAR ? "\" " : "");
}

static void read_scope(struct reader *r)
{
    const struct yaml *y = yaml_get(r->root, "scope");

    if (is_null(y))
        return;
    if (y->kind == YAML_SCALAR)
        check_hidden(r, LEVEL_ERROR, "scope", y->key_line, y->text);
    if (is_text(r, y) && name_scope_is_valid(y->text)) {
        r->doc->scope = y->text;
        return;
    }
    if (is_text(r, y) && text_count(y->text) > SCOPE_MAX_CHARS)
        report(r, "scope-too-long", "scope", y->key_line,
               "the scope is longer than %d characters", SCOPE_MAX_CHARS);
    else
        report(r, "scope-grammar", "scope", y->key_line,
               "the scope is not lower-case words joined by \"-\" and "
               "\".\", as in io.example");
}

/* --- lists of words -------------------------------------------------------- */

struct words {
    struct str *items;
    size_t count, capacity;
};

static void add_word(struct reader *r, struct words *l, struct str word)
{
    word = str_trim(word);
    if (word.n == 0)
        return;
    l->items =
        arena_grow(r->a, l->items, l->count, &l->capacity, sizeof *l->items);
    l->items[l->count++] = word;
}

/* --- metadata ------------------------------------------------------------- */

/* Returns true if a key is text. The tree has only the text of a key, so the
 * type is derived from its spelling in the source. */
static bool key_is_text(const struct reader *r, const struct yaml *y)
{
    struct yaml key = {
        .kind = YAML_SCALAR, .style = YAML_PLAIN, .text = y->key};
    char first = y->key_start < r->source.n ? r->source.p[y->key_start] : '"';

    return first == '"' || first == '\'' || first == '?' ||
           yaml_is_string(&key);
}

/* X12: numbers and booleans are accepted as text, as spelled in the file. */
static void check_metadata_value(struct reader *r, const struct yaml *y)
{
    const char *field =
        str_dup0(str_join(STR("metadata."), y->key, r->a), r->a);
    enum yaml_type type = yaml_type_of(y);

    if (y->kind != YAML_SCALAR || type == YAML_TYPE_NULL ||
        type == YAML_TYPE_TIMESTAMP)
        report(r, "metadata-value", field, y->key_line, "%s is %s, not text%s",
               quoted(r, str_cstr(field)), what_is(y),
               y->kind == YAML_SCALAR ? ": put it in quotes" : "");
    else if (type != YAML_TYPE_STRING)
        report(r, "metadata-scalar", field, y->key_line,
               "%s is %s and is read as the text \"%s\": put it in quotes",
               quoted(r, str_cstr(field)), what_is(y), quoted(r, y->text));
}

/* L3, L18: existing skills use a list, but the standard only allows text. */
static void read_tags(struct reader *r, const struct yaml *y)
{
    struct words list = {0};
    struct str rest, word;

    if (is_null(y) || y->kind == YAML_MAPPING)
        return;
    for (const struct yaml *m = y->first; m; m = m->next)
        if (m->kind == YAML_SCALAR)
            add_word(r, &list, text_one_line(m->text, r->a));
    rest = y->kind == YAML_SCALAR ? text_one_line(y->text, r->a) : STR("");
    while (rest.n && str_cut(&rest, ',', &word))
        add_word(r, &list, word);
    r->doc->tags = list.items;
    r->doc->tag_count = list.count;
}

static void read_metadata(struct reader *r)
{
    const struct yaml *y = yaml_get(r->root, "metadata");

    if (is_null(y))
        return;
    if (y->kind != YAML_MAPPING) {
        report(r, "metadata-type", "metadata", y->key_line,
               "metadata is %s: write \"key: value\" lines below it",
               what_is(y));
        return;
    }
    r->doc->metadata = y;
    for (const struct yaml *m = y->first; m; m = m->next) {
        if (!key_is_text(r, m))
            report(r, "metadata-key", "metadata", m->key_line,
                   "the key \"%s\" is not text: put it in quotes",
                   quoted(r, m->key));
        check_metadata_value(r, m);
    }
    read_tags(r, yaml_get(y, "tags"));
}

/* --- allowed-tools -------------------------------------------------------- */

/* X17: splits `text` at blanks and commas, but not inside parentheses as in
 * "Bash(git add *, git rm *)". Metis splits at blanks only (T8). */
static bool split_tools(struct reader *r, struct words *l, struct str text)
{
    bool metis = r->in->profile == PROFILE_METIS, commas = false;
    const char *between = metis ? " \t\r\n\v\f" : " \t\r\n,";
    size_t start = 0, depth = 0;

    for (size_t i = 0; i <= text.n; i++) {
        char c = i < text.n ? text.p[i] : ' ';

        if (c == '(' && !metis)
            depth++;
        else if (c == ')' && depth > 0)
            depth--;
        if (i < text.n && (depth > 0 || !strchr(between, c) || !c))
            continue;
        commas = commas || c == ',';
        add_word(r, l, str_slice(text, start, i));
        start = i + 1;
    }
    return commas;
}

static void list_tools(struct reader *r, struct words *l, const struct yaml *y)
{
    CLEANUP(buf_done) struct buf raw = {0};

    buf_init(&raw, FRONTMATTER_MAX_BYTES);
    for (const struct yaml *m = y->first; m; m = m->next) {
        if (m->kind != YAML_SCALAR) {
            report(r, "allowed-tools-type", "allowed-tools", m->line,
                   "an item of allowed-tools is %s, not text", what_is(m));
            continue;
        }
        add_word(r, l, m->text);
        buf_text(&raw, raw.n ? ", " : "");
        buf_append(&raw, m->text);
    }
    r->doc->allowed_tools = arena_str(r->a, buf_str(&raw));
}

static void read_tools(struct reader *r)
{
    const struct yaml *y = yaml_get(r->root, "allowed-tools");
    struct words list = {0};

    if (is_null(y))
        return;
    if (y->kind == YAML_SEQUENCE) {
        report(r, "allowed-tools-list", "allowed-tools", y->key_line,
               "allowed-tools is a list: write the tools on one line, with "
               "blanks between them");
        list_tools(r, &list, y);
    } else if (!is_text(r, y)) {
        report(r, "allowed-tools-type", "allowed-tools", y->key_line,
               "allowed-tools is %s: write the tools on one line, with "
               "blanks between them",
               what_is(y));
    } else {
        r->doc->allowed_tools = y->text;
        if (split_tools(r, &list, y->text) &&
            level_of(r, "allowed-tools-list") != LEVEL_OFF)
            report_at(r, LEVEL_WARNING, "allowed-tools-list", "allowed-tools",
                      y->key_line,
                      "allowed-tools has commas: the standard puts blanks "
                      "between the tools");
    }
    r->doc->tools = list.items;
    r->doc->tool_count = list.count;
}

/* --- unknown fields -------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *name;
    bool base; /* one of the six fields of the Agent Skills standard */
} known[] = {
    {"name", true},           {"description", true},   {"license", true},
    {"compatibility", true},  {"metadata", true},      {"allowed-tools", true},
    {"scope", false},         {"version", false},      {"prereqs", false},
    {"dependencies", false},  {"metaskill", false},
    {"metaskill_language", false},                     {"model", false},
    {"agent", false},         {"context", false},      {"mode", false},
    {"is-mode", false},       {"is_mode", false},
    {"disable-model-invocation", false},
    /* fields of Claude Code, which its documentation defines without prefix */
    {"argument-hint", false}, {"arguments", false},    {"effort", false},
    {"hooks", false},         {"paths", false},        {"shell", false},
    {"user-invocable", false},                         {"when_to_use", false},
};
/* clang-format on */

static bool is_known(struct str key, bool base_only)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_is(key, known[i].name))
            return known[i].base || !base_only;
    return !base_only && str_starts(key, STR("x_")); /* K12 */
}

/* Returns a text such as " (a package with it needs a version such as 1.0.0,
 * too)": it names what this package lacks that the rules of MetaAgents require
 * once it has a scope or dependencies. Returns "" if it lacks nothing. */
static const char *claim_lacks(const struct reader *r)
{
    const struct yaml *version = yaml_get(r->root, "version");
    struct version ignored;
    bool has_version = version && is_text(r, version) &&
                       version_parse(version->text, &ignored);

    if (r->metaagents || (has_version && !r->doc->name_differs))
        return "";
    return arena_printf(r->a, " (a package with it needs %s%s%s, too)",
                        has_version ? "" : "a version such as 1.0.0",
                        has_version || !r->doc->name_differs ? "" : " and ",
                        r->doc->name_differs ? "the name of its folder" : "")
        .p;
}

/* Tells whether `key` is the last part of `name`, as "tools" is of
 * "allowed-tools". */
static bool is_last_part(struct str key, struct str name)
{
    return name.n > key.n && str_ends(name, key) &&
           name.p[name.n - key.n - 1] == '-';
}

/* Returns the known field that `key` may stand for, or an empty string. */
static struct str nearest_known(struct str key, bool base_only)
{
    struct text_nearest near = {0};

    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct str name = str_cstr(known[i].name);

        if (base_only && !known[i].base)
            continue;
        if (is_last_part(key, name))
            return name;
        text_nearest_add(&near, key, name, 2);
    }
    return near.count ? near.found[0] : STR("");
}

/* Returns text such as "; did you mean "dependencies"?", or "". Where the
 * document has that field, too, renaming this one would give it twice. */
static const char *suggestion(struct reader *r, struct str key, bool base_only)
{
    struct str name = nearest_known(key, base_only);
    const struct yaml *there;
    const char *note = "";

    if (!name.n)
        return "";
    there = yaml_get(r->root, name.p);
    if (there)
        note =
            arena_printf(r->a, " (line %u has it: keep one)", there->key_line)
                .p;
    else if (str_is(name, "dependencies") || str_is(name, "scope"))
        note = claim_lacks(r);
    return arena_printf(r->a, "; did you mean \"%.*s\"?%s", STR_ARG(name), note)
        .p;
}

static void report_unknown(struct reader *r, enum level level,
                           const struct yaml *y, bool base_only,
                           const char *suggested)
{
    report_at(r, level, "unknown-field", str_dup0(y->key, r->a), y->key_line,
              "the field \"%s\" is not one of %s%s", quoted(r, y->key),
              base_only ? "the standard's six"
                        : "those that standards or clients define",
              *suggested  ? suggested
              : base_only ? ""
                          : "; a field of your own begins with x_");
}

static void check_unknown(struct reader *r)
{
    bool base_only = r->in->profile == PROFILE_SKILLS_REF;
    enum level level = level_of(r, "unknown-field");
    const struct yaml *first = NULL;
    struct str others = STR("");
    size_t count = 0;

    if (level <= LEVEL_HINT && r->in->strict)
        level = LEVEL_WARNING;
    if (level == LEVEL_OFF || !r->root)
        return;
    for (const struct yaml *y = r->root->first; y; y = y->next) {
        const char *suggested;

        if (is_known(y->key, base_only))
            continue;
        suggested = suggestion(r, y->key, base_only);
        if (level > LEVEL_HINT || *suggested) {
            report_unknown(r, level, y, base_only, suggested);
            continue;
        }
        first = count++ ? first : y;
        others =
            arena_join(others, ", ",
                       arena_printf(r->a, "\"%s\"", quoted(r, y->key)), r->a);
    }
    /* One hint for all: in many catalogs each document has the same ones. */
    if (count == 1)
        report_unknown(r, level, first, base_only, "");
    else if (count)
        report_at(r, level, "unknown-field", str_dup0(first->key, r->a),
                  first->key_line,
                  "the fields %.*s are not among those that standards or "
                  "clients define; fields of your own begin with x_",
                  STR_ARG(others));
}

static void check_agent(struct reader *r)
{
    const struct yaml *y = yaml_get(r->root, "prereqs");

    if (r->in->kind == DOC_AGENT && y)
        report(r, "prereqs-on-agent", "prereqs", y->key_line,
               "an agent has no prereqs: move them into the body, as a "
               "\"## Setup\" section");
}

void read_fields(struct reader *r)
{
    read_description(r);
    for (size_t i = 0; i < sizeof text_fields / sizeof *text_fields; i++)
        read_text(r, &text_fields[i]);
    check_context(r);
    for (size_t i = 0; i < sizeof bool_fields / sizeof *bool_fields; i++)
        read_bool(r, &bool_fields[i]);
    read_version(r);
    read_scope(r);
    read_metadata(r);
    read_tools(r);
    check_agent(r);
    check_unknown(r);
}

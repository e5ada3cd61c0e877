#include "mapm/limits.h"
#include "mapm/name.h"

#include "document.h"

/* Reads `name`. A package is installed under its name, independent of its
 * folder (X2); an invalid name is replaced by the name of the folder if that is
 * valid. Source: M2, M3, K5, T5, L1, A1, X1, X2. */

/* Returns a valid name similar to `text` for the message: "my-skill" for "My
 * Skill!". */
static const char *suggestion(const struct reader *r, struct str text)
{
    char out[NAME_MAX_CHARS + 1];
    struct str lower = str_lower(text_cut(text, NAME_MAX_CHARS), r->a);
    size_t n = 0;

    for (size_t i = 0; i < lower.n && n < NAME_MAX_CHARS; i++) {
        if (char_is_lower(lower.p[i]) || char_is_digit(lower.p[i]))
            out[n++] = lower.p[i];
        else if (n > 0 && out[n - 1] != '-')
            out[n++] = '-';
    }
    while (n > 0 && out[n - 1] == '-')
        n--;
    return n ? str_dup0(str_make(out, n), r->a) : "my-skill";
}

/* L1: LM-Kit only rejects hyphens at the start and the end. */
static const char *lm_kit_fault(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!char_is_lower(name.p[i]) && !char_is_digit(name.p[i]) &&
            name.p[i] != '-')
            return "has characters other than a-z, 0-9 and \"-\"";
    if (name.n && (name.p[0] == '-' || name.p[name.n - 1] == '-'))
        return "starts or ends with \"-\"";
    return NULL;
}

/* Ranges of characters beyond ASCII that no reader takes for letters or
 * digits. */
static const struct {
    int32_t from, to;
} no_letters[] = {
    {0x80, 0xa9},        {0xab, 0xb1},     {0xb4, 0xb4},     {0xb6, 0xb8},
    {0xbb, 0xbb},        {0xbf, 0xbf},     {0xd7, 0xd7},     {0xf7, 0xf7},
    {0x300, 0x36f},      {0x900, 0x903},   {0x93a, 0x93c},   {0x93e, 0x94f},
    {0x2000, 0x206f},    {0x20a0, 0x20ff}, {0x2190, 0x245f}, {0x2500, 0x2bff},
    {0x2e00, 0x2e7f},    {0x3000, 0x3004}, {0x3008, 0x3020}, {0x3030, 0x3030},
    {0xd800, 0xf8ff},    {0xfe00, 0xfe6f}, {0xfff0, 0xffff}, {0x1f000, 0x1faff},
    {0xe0000, 0x10ffff},
};

static bool is_letter(int32_t c)
{
    if (c < 0x80)
        return c > 0 && (char_is_alpha((char)c) || char_is_digit((char)c));
    for (size_t i = 0; i < sizeof no_letters / sizeof *no_letters; i++)
        if (c >= no_letters[i].from && c <= no_letters[i].to)
            return false;
    return true;
}

/* Returns true if case folding changes the letter, except for two small letters
 * that folding changes, too. */
static bool is_capital(struct str letter, struct arena *a)
{
    return !str_is(letter, "\xc3\x9f") && !str_is(letter, "\xcf\x82") &&
           !str_eq(text_fold(letter, a), letter);
}

/* A1: the reference validator accepts letters of any script. */
static const char *skills_ref_fault(struct str name, struct arena *a)
{
    struct str folded = text_nfkc(name, a);

    for (size_t at = 0, from = 0; at < folded.n; from = at) {
        int32_t c = text_next(folded, &at);

        if (is_capital(str_slice(folded, from, at), a))
            return "has upper-case letters";
        if (c != '-' && !is_letter(c))
            return "has characters other than letters, digits and \"-\"";
    }
    if (folded.n == 0)
        return "has no letters";
    if (folded.p[0] == '-' || folded.p[folded.n - 1] == '-')
        return "starts or ends with \"-\"";
    if (str_find(folded, STR("--")) != SIZE_MAX)
        return "contains \"--\"";
    return NULL;
}

static const char *grammar_fault(enum profile profile, struct str name,
                                 struct arena *a)
{
    if (profile == PROFILE_LM_KIT)
        return lm_kit_fault(name);
    if (profile == PROFILE_SKILLS_REF)
        return skills_ref_fault(name, a);
    return name_grammar_fault(name);
}

void document_check_name(enum profile profile, struct str name,
                         struct diagnostics *why)
{
    const struct manifest_input in = {.kind = DOC_SKILL, .profile = profile};
    const struct reader r = {.in = &in, .a = why->arena, .why = why};
    const char *fault = NULL;

    if (name.n == 0)
        report(&r, "name-empty", "name", 0, "the name is empty");
    else
        fault = grammar_fault(profile, name, why->arena);
    if (fault)
        report(&r, "name-grammar", "name", 0, "the name %s", fault);
    if (text_count(name) > NAME_MAX_CHARS)
        report(&r, "name-too-long", "name", 0,
               "the name is longer than %d characters", NAME_MAX_CHARS);
}

struct fault {
    const char *code;
    const char *why; /* text of the message after `name "x" ` */
};

/* Finds at most two faults: a name can violate the grammar and be too long. */
static size_t find_faults(const struct reader *r, const struct yaml *y,
                          struct str name, struct fault out[2])
{
    size_t n = 0;

    if (!y) {
        out[n++] = (struct fault){"name-missing", "is missing"};
    } else if (name.n == 0 && y->kind == YAML_SCALAR &&
               (y->text.n == 0 || is_text(r, y))) {
        out[n++] = (struct fault){"name-empty", "is empty"};
    } else if (!is_text(r, y)) {
        out[n++] = (struct fault){
            "name-type", "is not text: put it in quotes, if it is the name"};
    } else {
        const char *why = grammar_fault(r->in->profile, name, r->a);

        if (why)
            out[n++] = (struct fault){"name-grammar", why};
        if (text_count(name) > NAME_MAX_CHARS)
            out[n++] =
                (struct fault){"name-too-long", "is longer than 64 characters"};
    }
    return n;
}

static bool use_folder(struct reader *r, const struct fault *f, struct str raw,
                       unsigned line)
{
    if (r->in->profile != PROFILE_INSTALL || r->metaagents ||
        !name_is_kebab(r->in->folder))
        return false;
    report(r, "name-from-folder", "name", line,
           "the name %s%s%s%s; the folder's, \"%s\", is used",
           raw.n ? "\"" : "", quoted(r, raw), raw.n ? "\" " : "", f->why,
           quoted(r, r->in->folder));
    r->doc->name = r->in->folder;
    r->doc->name_replaced = true;
    return true;
}

static void report_faults(struct reader *r, const struct fault *faults,
                          size_t count, struct str raw, unsigned line)
{
    for (size_t i = 0; i < count; i++) {
        if (raw.n)
            report(r, faults[i].code, "name", line,
                   "the name \"%s\" %s; write it as \"%s\", for example",
                   quoted(r, raw), faults[i].why, suggestion(r, raw));
        else
            report(r, faults[i].code, "name", line,
                   "the name %s; add \"name: …\" with the folder's name",
                   faults[i].why);
    }
}

static bool is_folder(const struct reader *r, struct str name)
{
    if (r->in->profile == PROFILE_SKILLS_REF)
        return str_eq(text_nfkc(name, r->a), text_nfkc(r->in->folder, r->a));
    return str_eq(name, r->in->folder);
}

static void compare_folder(struct reader *r, struct str name, unsigned line)
{
    bool installs = level_of(r, "name-folder") == LEVEL_WARNING;

    if (r->in->folder.n == 0 || is_folder(r, name))
        return;
    r->doc->name_differs = true;
    report(r, "name-folder", "name", line,
           "the name \"%s\" is not that of its folder, \"%s\"%s",
           quoted(r, name), quoted(r, r->in->folder),
           !installs         ? ": rename one of them"
           : r->in->in_place ? "; it goes by its name"
                             : "; it is installed under its name");
}

void read_name(struct reader *r)
{
    const struct yaml *y = yaml_get(r->root, "name");
    unsigned line = y ? y->key_line : 1;
    struct str raw = y && y->kind == YAML_SCALAR ? y->text : STR("");
    struct str name =
        r->in->profile == PROFILE_SKILLS_REF ? str_trim(raw) : raw;
    struct fault faults[2];
    size_t count = find_faults(r, y, str_trim(name).n ? name : STR(""), faults);

    if (check_hidden(r, LEVEL_ERROR, "name", line, raw))
        return;
    if (count > 0 && use_folder(r, &faults[0], raw, line))
        return;
    report_faults(r, faults, count, raw, line);
    if (count > 0 && r->in->profile == PROFILE_INSTALL)
        return; /* there is no name to install it under */
    r->doc->name = name;
    if (name.n && is_text(r, y))
        compare_folder(r, name, line);
}

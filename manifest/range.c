#include "mapm/range.h"

#include "base/path.h"
#include "base/text.h"

#include <string.h>

/* --- versions --------------------------------------------------------------- */

/* Returns true if `s` is words of letters, digits and "-", separated by dots.
 * With `strict`, numbers must not have a leading zero. */
static bool words_are_valid(struct str s, bool strict)
{
    struct str rest = s, word;

    if (s.n == 0)
        return false;
    while (str_cut(&rest, '.', &word)) {
        if (word.n == 0 ||
            (strict && str_is_digits(word) && word.n > 1 && word.p[0] == '0'))
            return false;
        for (size_t i = 0; i < word.n; i++)
            if (!char_is_alpha(word.p[i]) && !char_is_digit(word.p[i]) &&
                word.p[i] != '-')
                return false;
    }
    return true;
}

bool semver_parse(struct str text, struct semver *out)
{
    size_t plus = str_find_char(text, '+'), minus;
    struct semver v = {.pre = {"", 0}};

    if (plus != SIZE_MAX &&
        !words_are_valid(str_from_index(text, plus + 1), false))
        return false;
    text = str_slice(text, 0, plus);
    minus = str_find_char(text, '-');
    if (minus != SIZE_MAX) {
        v.pre = str_from_index(text, minus + 1);
        if (!words_are_valid(v.pre, true))
            return false;
    }
    if (!version_parse(str_slice(text, 0, minus), &v.number))
        return false;
    *out = v;
    return true;
}

/* Compares numbers by value and words by bytes; numbers are lower than
 * words. */
static int word_cmp(struct str x, struct str y)
{
    bool is_x = str_is_digits(x), is_y = str_is_digits(y);

    if (is_x != is_y)
        return is_x ? -1 : 1;
    if (is_x && x.n != y.n)
        return (int)x.n - (int)y.n;
    return str_cmp(x, y);
}

static int pre_cmp(struct str x, struct str y)
{
    struct str one = {"", 0}, other = {"", 0};
    int order = 0;

    if (x.n == 0 || y.n == 0)
        return (x.n == 0) - (y.n == 0);
    while (order == 0) {
        bool has_one = str_cut(&x, '.', &one), has_other;

        has_other = str_cut(&y, '.', &other);
        if (!has_one || !has_other)
            return has_one - has_other;
        order = word_cmp(one, other);
    }
    return order;
}

int semver_cmp(const struct semver *x, const struct semver *y)
{
    int order = version_cmp(&x->number, &y->number);

    return order ? order : pre_cmp(x->pre, y->pre);
}

/* --- ranges ----------------------------------------------------------------- */

/* The lowest pre-release. As upper bound it excludes all pre-releases of the
 * version, too. */
#define LOWEST STR("0")

/* "1", "1.2", "1.2.3" or "1.2.3-pre" */
struct partial {
    struct semver v;
    size_t parts;
};

static bool partial_parse(struct str text, struct partial *out)
{
    struct str rest = text, part;
    struct partial p = {.v.pre = {"", 0}};

    if (semver_parse(text, &p.v) && !str_has_char(text, '+')) {
        for (size_t i = 0; i < 3; i++)
            if (p.v.number.part[i] == UINT64_MAX)
                return false;
        p.parts = 3;
        *out = p;
        return true;
    }
    p = (struct partial){.v.pre = {"", 0}};
    while (p.parts < 2 && str_cut(&rest, '.', &part)) {
        if ((part.n > 1 && part.p[0] == '0') ||
            !str_number(part, UINT64_MAX - 1, &p.v.number.part[p.parts++]))
            return false;
    }
    if (rest.p || p.parts == 0)
        return false;
    *out = p;
    return true;
}

/* Returns the lowest version above all that begin with the first `keep` numbers
 * of `p`. */
static struct semver next_after(const struct partial *p, size_t keep)
{
    struct semver v = {.pre = LOWEST};

    for (size_t i = 0; i < keep; i++)
        v.number.part[i] = p->v.number.part[i];
    v.number.part[keep] = p->v.number.part[keep] + 1;
    return v;
}

/* As in Cargo: returns the version with the next value of the first number that
 * is not 0. */
static struct semver caret_end(const struct partial *p)
{
    size_t keep = 0;

    while (keep + 1 < p->parts && p->v.number.part[keep] == 0)
        keep++;
    return next_after(p, keep);
}

static struct semver tilde_end(const struct partial *p)
{
    return next_after(p, p->parts > 1 ? 1 : 0);
}

static void add(struct range *r, enum comparison how, struct semver than)
{
    r->items[r->count++] = (struct comparator){how, than};
}

static void add_operator(struct range *r, const char *name, struct partial *p)
{
    struct semver end;

    if (p->parts < 3 && (!strcmp(name, ">") || !strcmp(name, "<="))) {
        end = next_after(p, p->parts - 1);
        if (name[0] == '>')
            end.pre = STR("");
        add(r, name[0] == '>' ? COMPARE_AT_LEAST : COMPARE_LESS, end);
    } else if (!strcmp(name, "^") || !strcmp(name, "~")) {
        add(r, COMPARE_AT_LEAST, p->v);
        add(r, COMPARE_LESS, name[0] == '^' ? caret_end(p) : tilde_end(p));
    } else if (!strcmp(name, "<")) {
        if (p->parts < 3)
            p->v.pre = LOWEST;
        add(r, COMPARE_LESS, p->v);
    } else {
        add(r,
            name[0] == '='   ? COMPARE_EQUAL
            : name[0] == '<' ? COMPARE_AT_MOST
            : name[1]        ? COMPARE_AT_LEAST
                             : COMPARE_MORE,
            p->v);
    }
}

static const char *const operators[] = {">=", "<=", ">", "<", "^", "~", "="};

static const char *take_operator(struct str *text)
{
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (str_starts(*text, str_cstr(operators[i]))) {
            *text = str_from_index(*text, strlen(operators[i]));
            return operators[i];
        }
    return NULL;
}

/* Returns a hint for range syntax of other package managers. */
static const char *hint_of(struct str text, const char *name, struct str rest)
{
    if (str_find(text, STR("||")) != SIZE_MAX)
        return "\"||\" is not supported: write one range";
    if (str_has_char(text, ' ') || str_has_char(text, '\t'))
        return "write it without blanks, \">=1.2,<2\" for two bounds";
    if (str_find(text, STR("==")) != SIZE_MAX)
        return "write the tag itself, or \"=1.2.3\" on the command line";
    if (rest.n && (rest.p[0] == 'v' || rest.p[0] == 'V'))
        return "write the numbers without \"v\"";
    if (str_has_char(rest, '+'))
        return "leave out what follows \"+\": it decides nothing";
    if (str_has_char(rest, 'x') || str_has_char(rest, 'X') ||
        str_has_char(rest, '*'))
        return "write \"^1\" for 1.x, \"~1.2\" for 1.2.x";
    if (name && name[0] == '=')
        return "an exact version has three numbers: \"=1.2.3\"";
    return "write ^1.2, ~1.2, >=1.2, <2 (with \",\" between them) or *";
}

static bool refuse(struct str text, const char *name, struct str rest,
                   struct err *e)
{
    err_set(e, ERR_ORIGIN, "\"%.*s\" is not a range of versions",
            (int)(text.n < RANGE_MAX_BYTES ? text.n : RANGE_MAX_BYTES), text.p);
    return err_hint(e, "%s", hint_of(text, name, rest));
}

static bool starts_as_version(struct str s)
{
    if (s.n && s.p[0] == 'v')
        s = str_from_index(s, 1);
    return s.n && char_is_digit(s.p[0]);
}

/* Returns true if `s` has characters that occur only in ranges, never in a
 * ref. */
static bool has_operator(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (strchr("^~<>*| ", s.p[i]))
            return true;
    return false;
}

bool range_is_meant(struct str text)
{
    return text.n && (strchr("^~<>*=", text.p[0]) ||
                      (starts_as_version(text) && has_operator(text)));
}

bool range_parse(struct str text, struct range *out, struct err *e)
{
    struct range r = {.count = 0};
    struct str rest = text, item;

    if (text.n > RANGE_MAX_BYTES)
        return refuse(text, NULL, STR(""), e);
    while (str_cut(&rest, ',', &item)) {
        struct str of = item;
        const char *name = take_operator(&of);
        struct partial p;

        if (str_is(item, "*"))
            continue;
        if (!name || r.count + 2 > RANGE_MAX_COMPARATORS ||
            !partial_parse(of, &p) || (name[0] == '=' && p.parts < 3))
            return refuse(text, name, of, e);
        add_operator(&r, name, &p);
    }
    if (text.n == 0)
        return refuse(text, NULL, STR(""), e);
    *out = r;
    return true;
}

bool range_is_exact(const struct range *r)
{
    return r->count == 1 && r->items[0].how == COMPARE_EQUAL;
}

static bool compare(const struct comparator *c, const struct semver *v)
{
    int order = semver_cmp(v, &c->than);

    switch (c->how) {
    case COMPARE_LESS:
        return order < 0;
    case COMPARE_AT_MOST:
        return order <= 0;
    case COMPARE_MORE:
        return order > 0;
    case COMPARE_AT_LEAST:
        return order >= 0;
    default:
        return order == 0;
    }
}

bool range_allows(const struct range *r, const struct semver *v)
{
    bool named = v->pre.n == 0;

    for (size_t i = 0; i < r->count; i++) {
        const struct semver *than = &r->items[i].than;

        if (!compare(&r->items[i], v))
            return false;
        named |= than->pre.n && version_cmp(&than->number, &v->number) == 0;
    }
    return named;
}

/* --- in an origin ----------------------------------------------------------- */

static const struct {
    struct str escape;
    char byte;
} escapes[] = {
    {STR_INIT("%5E"), '^'}, {STR_INIT("%7E"), '~'}, {STR_INIT("%3C"), '<'},
    {STR_INIT("%3E"), '>'}, {STR_INIT("%3D"), '='}, {STR_INIT("%2A"), '*'},
    {STR_INIT("%2C"), ','},
};
#define ESCAPE_CHARS 3

static char unescaped(struct str s)
{
    for (size_t i = 0; i < sizeof escapes / sizeof *escapes; i++)
        if (str_eq_nocase(s, escapes[i].escape))
            return escapes[i].byte;
    return '\0';
}

struct str range_unescape(struct str slot, struct arena *a)
{
    char *copy;
    size_t n = 0;

    if (!str_has_char(slot, '%'))
        return slot;
    copy = arena_alloc(a, slot.n + 1);
    for (size_t i = 0; i < slot.n; i++) {
        char byte = unescaped(str_slice(slot, i, i + ESCAPE_CHARS));

        copy[n++] = byte ? byte : slot.p[i];
        i += byte ? ESCAPE_CHARS - 1 : 0;
    }
    copy[n] = '\0';
    return str_make(copy, n);
}

struct str range_escape(struct str range, struct arena *a)
{
    struct str rest = range, item, out = {"", 0};

    if (!str_has_char(range, ','))
        return range;
    while (str_cut(&rest, ',', &item))
        out = arena_join(out, "%2C", item, a);
    return out;
}

/* --- several ---------------------------------------------------------------- */

bool range_set_parse(struct str text, struct arena *a, struct range_set *out,
                     struct err *e)
{
    struct str rest = text, one;
    struct range_set s = {.count = 0};
    size_t capacity = 0;

    while (rest.p && str_cut(&rest, ' ', &one)) {
        if (s.count >= RANGE_SET_MAX)
            return err_set(e, ERR_LIMIT, "more than %d ranges for one package",
                           RANGE_SET_MAX);
        s.items = arena_grow(a, s.items, s.count, &capacity, sizeof *s.items);
        if (!range_parse(one, &s.items[s.count++], e))
            return false;
    }
    *out = s;
    return true;
}

bool range_set_allows(const struct range_set *s, const struct semver *v)
{
    for (size_t i = 0; i < s->count; i++)
        if (!range_allows(&s->items[i], v))
            return false;
    return true;
}

/* --- tags ------------------------------------------------------------------- */

/* Forms of tags: the separator between the package's path or name and the
 * version. */
static const struct {
    const char *between;
    bool has_path, v, bare;
} forms[TAG_FORM_COUNT] = {
    {"/", true, true, false},   {"@", true, false, true},
    {"@", false, true, true},   {"--", false, true, false},
    {"-", false, true, false},  {"/", false, true, true},
    {"_", false, false, true},  {NULL, false, true, false},
    {NULL, false, false, true},
};

static bool take_words(struct str *rest, struct str words)
{
    if (!str_starts(*rest, words))
        return false;
    *rest = str_from_index(*rest, words.n);
    return true;
}

static bool fits_form(struct str tag, struct str path, unsigned form,
                      struct semver *out)
{
    struct str name = path_last(path);
    const char *between = forms[form].between;

    if (between &&
        (path.n == 0 || !take_words(&tag, forms[form].has_path ? path : name) ||
         !take_words(&tag, str_cstr(between))))
        return false;
    if (forms[form].v && str_starts(tag, STR("v")))
        return semver_parse(str_from_index(tag, 1), out);
    return forms[form].bare && semver_parse(tag, out);
}

bool tag_version(struct str tag, struct str path, struct semver *out,
                 unsigned *form)
{
    for (unsigned i = 0; i < TAG_FORM_COUNT; i++)
        if (fits_form(tag, path, i, out)) {
            *form = i;
            return true;
        }
    return false;
}

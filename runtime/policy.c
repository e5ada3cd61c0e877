#include "mapm/policy.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/path.h"
#include "base/yaml.h"

/*
 * Decides which commands may run. Rules are compared word by word: interpreting
 * the options of programs is error-prone, and a rule must not seem to promise
 * more than it does. Source: K25; THREATS row 19.
 */

void policy_init(struct policy *p, struct arena *a)
{
    *p = (struct policy){.arena = a};
}

static void put_rule(struct policy *p, const struct policy_rule *rule)
{
    p->rules = arena_grow(p->arena, p->rules, p->count, &p->capacity,
                          sizeof *p->rules);
    p->rules[p->count++] = *rule;
}

void policy_add_project(struct policy *p, const struct project *from,
                        const char *name, bool with_allow)
{
    for (size_t i = 0; i < from->rule_count; i++) {
        const struct project_rule *rule = &from->rules[i];

        if (rule->allow && !with_allow)
            continue;
        put_rule(p,
                 &(struct policy_rule){
                     .allow = rule->allow,
                     .words = rule->words,
                     .count = rule->count,
                     .from = arena_printf(p->arena, "%s:%u", name, rule->line),
                 });
    }
}

void policy_add_words(struct policy *p, const struct str *words, size_t count,
                      const char *from)
{
    put_rule(p, &(struct policy_rule){
                    .allow = true,
                    .words = words,
                    .count = count,
                    .from = arena_printf(p->arena, "%s", from),
                });
}

/* --- words ------------------------------------------------------------------ */

static bool is_star(struct str word)
{
    return word.n == 1 && word.p[0] == '*';
}

/* Reads the byte at `*at` of a rule's word and advances `*at`. Returns true for
 * a star. */
static bool take_byte(struct str word, size_t *at, char *c)
{
    *c = word.p[(*at)++];
    if (*c == '\\' && *at < word.n &&
        (word.p[*at] == '*' || word.p[*at] == '\\')) {
        *c = word.p[(*at)++];
        return false;
    }
    return *c == '*';
}

static bool has_star(struct str word)
{
    char c;

    for (size_t at = 0; at < word.n;)
        if (take_byte(word, &at, &c))
            return true;
    return false;
}

/* Reads the text from `*at` to the next star or the end. Returns true for a
 * star. */
static bool take_piece(struct str word, size_t *at, struct buf *piece)
{
    char c;

    buf_clear(piece);
    while (*at < word.n) {
        if (take_byte(word, at, &c))
            return true;
        buf_char(piece, c);
    }
    return false;
}

/* Matches each piece at its first occurrence, so the time is linear for any
 * pattern and text. */
static bool word_fits(struct str word, struct str text)
{
    CLEANUP(buf_done) struct buf piece = {0};
    size_t at = 0, found;

    if (!str_has_char(word, '*') && !str_has_char(word, '\\'))
        return str_eq(word, text);
    buf_init(&piece, SIZE_MAX / 2);
    if (!take_piece(word, &at, &piece))
        return str_eq(text, buf_str(&piece));
    if (!str_starts(text, buf_str(&piece)))
        return false;
    text = str_from_index(text, piece.n);
    while (take_piece(word, &at, &piece)) {
        found = str_find(text, buf_str(&piece));
        if (found == SIZE_MAX)
            return false;
        text = str_from_index(text, found + piece.n);
    }
    return str_ends(text, buf_str(&piece));
}

/* --- programs --------------------------------------------------------------- */

/* Returns the next component other than "." and "", or "" at the end. */
static struct str next_part(struct str path, size_t *at)
{
    while (*at < path.n) {
        size_t from = *at,
               length = str_find_char(str_from_index(path, from), '/');
        struct str part =
            str_slice(path, from, length == SIZE_MAX ? path.n : from + length);

        *at = length == SIZE_MAX ? path.n : from + length + 1;
        if (part.n && !str_is(part, "."))
            return part;
    }
    return STR("");
}

/* Compares two spellings of one path, such as "./x//y" and "x/y". ".." is not
 * resolved, since links may lead elsewhere. */
static bool is_same_path(struct str word, struct str path)
{
    size_t i = 0, k = 0;

    if (str_starts(word, STR("/")) != str_starts(path, STR("/")))
        return false;
    for (;;) {
        struct str x = next_part(word, &i), y = next_part(path, &k);

        if (x.n == 0 || y.n == 0)
            return x.n == y.n;
        if (str_is(y, "..") ? !str_is(x, "..") : !word_fits(x, y))
            return false;
    }
}

/* Returns the name of the file of a path, by text: "git" for "x/git/." and
 * "git/y/..". */
static struct str name_of(struct str path, struct arena *a)
{
    struct str whole = fs_normalize(fs_join(STR("/"), path, a), a);

    return path_last(whole);
}

/* A rule with a name does not allow a path, which may be another program. A
 * denied name denies every path to it. */
static bool program_fits(const struct policy_rule *rule, struct str program)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str word = rule->words[0];

    if (is_star(word))
        return true;
    if (!str_has_char(program, '/'))
        return word_fits(word, program);
    if (str_has_char(word, '/'))
        return is_same_path(word, program);
    return !rule->allow && word_fits(word, name_of(program, &a));
}

/* --- which rule counts ------------------------------------------------------ */

static bool rule_fits(const struct policy_rule *rule, const struct str *argv,
                      size_t argc)
{
    bool open = is_star(rule->words[rule->count - 1]);
    size_t fixed = rule->count - open;

    if (argc < fixed || (!open && argc != fixed))
        return false;
    if (fixed && !program_fits(rule, argv[0]))
        return false;
    for (size_t i = 1; i < fixed; i++)
        if (!word_fits(rule->words[i], argv[i]))
            return false;
    return true;
}

/* A word without a star outweighs any number of words with stars. */
static size_t weight_of(const struct policy_rule *rule)
{
    size_t weight = 0;

    for (size_t i = 0; i < rule->count; i++) {
        if (!has_star(rule->words[i]))
            weight += COMMAND_MAX_WORDS + 1;
        else if (!is_star(rule->words[i]))
            weight++;
    }
    return weight;
}

enum verdict policy_evaluate(const struct policy *p, const struct str *argv,
                             size_t argc, const struct policy_rule **rule)
{
    const struct policy_rule *best = NULL;
    size_t most = 0;

    for (size_t i = 0; argc && i < p->count; i++) {
        const struct policy_rule *r = &p->rules[i];
        size_t weight;

        if (!rule_fits(r, argv, argc))
            continue;
        weight = weight_of(r);
        if (best &&
            (weight < most || (weight == most && (r->allow || !best->allow))))
            continue;
        best = r;
        most = weight;
    }
    *rule = best;
    if (!best)
        return VERDICT_UNRULED;
    return best->allow ? VERDICT_ALLOW : VERDICT_DENY;
}

/* --- rules out of commands -------------------------------------------------- */

/* Escapes a word; a backslash is added only where it is needed. */
static struct str exact_word(struct str word, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    for (size_t i = 0; i < word.n; i++) {
        bool before =
            i + 1 < word.n && (word.p[i + 1] == '*' || word.p[i + 1] == '\\');

        if (word.p[i] == '*' || (word.p[i] == '\\' && before))
            buf_char(&b, '\\');
        buf_char(&b, word.p[i]);
    }
    return arena_str(a, buf_str(&b));
}

const struct str *policy_exact(const struct str *argv, size_t argc,
                               struct arena *a)
{
    struct str *words = arena_array(a, argc + 1, sizeof *words);

    for (size_t i = 0; i < argc; i++)
        words[i] = exact_word(argv[i], a);
    return words;
}

/* Programs that execute their arguments. */
static bool is_launcher(struct str program)
{
    static const char *const launchers[] = {
        "ash",         "bash",   "busybox", "chroot",  "csh",     "dash",
        "docker",      "doas",   "env",     "exec",    "find",    "fish",
        "flock",       "ionice", "ksh",     "nice",    "nohup",   "parallel",
        "podman",      "setsid", "sh",      "ssh",     "stdbuf",  "sudo",
        "systemd-run", "tcsh",   "time",    "timeout", "unshare", "watch",
        "xargs",       "zsh",
    };
    struct str name = path_last(program);

    return STR_IS_ONE_OF(name, launchers);
}

/* "diff", "run", "test:unit"; not "HEAD~1", "a.txt", "--all". */
static bool is_subcommand(struct str word)
{
    for (size_t i = 0; i < word.n; i++) {
        char c = word.p[i];

        if (!(c >= 'a' && c <= 'z') &&
            !(i &&
              (c == '-' || c == '_' || c == ':' || (c >= '0' && c <= '9'))))
            return false;
    }
    return word.n > 0;
}

#define SUBCOMMANDS_MAX 2

const struct str *policy_usual(const struct str *argv, size_t argc,
                               struct arena *a, size_t *count)
{
    struct str *words = arena_array(a, argc + 1, sizeof *words);
    size_t kept = 2; /* the program and its first argument */

    *count = argc;
    if (argc < 3 || !argv[1].n || argv[1].p[0] == '-' || is_launcher(argv[0]))
        return policy_exact(argv, argc, a);
    while (kept < argc && kept <= SUBCOMMANDS_MAX &&
           is_subcommand(argv[kept - 1]) && is_subcommand(argv[kept]))
        kept++;
    if (kept == argc)
        return policy_exact(argv, argc, a);
    for (size_t i = 0; i < kept; i++)
        words[i] = exact_word(argv[i], a);
    words[kept] = STR("*");
    *count = kept + 1;
    return words;
}

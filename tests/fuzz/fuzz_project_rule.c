/* A rule written into mapm.yaml: the first line has the words with tabs
 * between them, the rest is the file. A file that was good stays good and has
 * just that rule more, the last of its list, or is refused. [row 15]. */
#include "mapm/project.h"

#include <stdlib.h>

#include "outcome.h"

#define WORDS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool parse(struct str text, struct arena *a, struct project *p)
{
    struct err e = {0};

    return project_parse(text, PROJECT_WORKSPACE, "m", NULL, a, p, &e);
}

static bool is_rule(const struct project_rule *rule, bool allow,
                    const struct str *words, size_t count)
{
    if (rule->allow != allow || rule->count != count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!str_eq(rule->words[i], words[i]))
            return false;
    return true;
}

static size_t count_rule(const struct project *p, bool allow,
                         const struct str *words, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < p->rule_count; i++)
        n += is_rule(&p->rules[i], allow, words, count);
    return n;
}

static void check_add(struct str text, bool allow, const struct str *words,
                      size_t count, struct arena *a)
{
    struct str after, again;
    struct project p, q;
    bool was_good = parse(text, a, &p), was_there;
    struct err e = {0};

    if (!project_add_rule(text, allow, words, count, a, &after, &e)) {
        outcome_err(&e);
        if (e.code != ERR_FORMAT && e.code != ERR_LIMIT)
            abort();
        return;
    }
    outcome_str("", after);
    if (!project_add_rule(after, allow, words, count, a, &again, &e) ||
        !str_eq(again, after))
        abort();
    if (!was_good)
        return;
    was_there = count_rule(&p, allow, words, count) > 0;
    if (!parse(after, a, &q) || q.rule_count != p.rule_count + !was_there ||
        count_rule(&q, allow, words, count) == 0 || q.network != p.network ||
        q.root_count != p.root_count || (was_there && !str_eq(after, text)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str rest = str_make((const char *)data, size), line, word;
    struct str words[WORDS_MAX];
    size_t count = 0;

    if (size == 0 || !str_cut(&rest, '\n', &line))
        return 0;
    while (count < WORDS_MAX && str_cut(&line, '\t', &word))
        words[count++] = word;
    if (!rest.p)
        rest = STR("");
    check_add(rest, true, words, count, &a);
    check_add(rest, false, words, count, &a);
    return 0;
}

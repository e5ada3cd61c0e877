/* Words behind --allow: the first line is typed, the others are the words of a
 * command, one a line. What is typed is taken or refused; the line that a
 * command is shown as reads back as a rule for it, hides nothing, and so does
 * the suggestion. [row 7, row 19]. */
#include "base/text.h"
#include "mapm/policy.h"

#include <stdlib.h>

#define WORDS_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_visible(struct str line)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    text_visible(&b, line, false);
    if (!str_eq(buf_str(&b), line))
        abort();
}

static void check_typed(struct str typed, const struct str *argv, size_t argc,
                        struct arena *a)
{
    const struct policy_rule *rule;
    struct policy p;
    struct err e = {0};

    policy_init(&p, a);
    if (!policy_add_option(&p, typed, &e)) {
        if (e.code != ERR_USAGE || p.count)
            abort();
        return;
    }
    if (p.count != 1 || p.rules[0].count == 0)
        abort();
    (void)project_rule_text(p.rules[0].words, p.rules[0].count, a);
    if (policy_evaluate(&p, argv, argc, &rule) == VERDICT_DENY)
        abort();
}

static void check_command(const struct str *argv, size_t argc, struct arena *a)
{
    struct str line = policy_line(argv, argc, a);
    const struct policy_rule *rule;
    struct policy p;
    struct err e = {0};

    check_visible(line);
    check_visible(policy_suggest(argv, argc, a));
    for (size_t i = 0; i < argc; i++)
        if (str_has_char(argv[i], '\0'))
            return;
    policy_init(&p, a);
    policy_add_words(&p, policy_exact(argv, argc, a), argc, "x");
    if (policy_evaluate(&p, argv, argc, &rule) != VERDICT_ALLOW)
        abort();
    if (policy_evaluate(&p, argv, argc - 1, &rule) != VERDICT_UNRULED)
        abort();
    if (argv[0].n == 0 || str_has_char(argv[0], '*'))
        return;
    policy_init(&p, a);
    if (!policy_add_option(&p, line, &e) || p.rules[0].count != argc ||
        policy_evaluate(&p, argv, argc, &rule) != VERDICT_ALLOW)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str rest = str_make((const char *)data, size), typed, word;
    struct str argv[WORDS_MAX];
    size_t argc = 0;

    if (size == 0 || !str_cut(&rest, '\n', &typed))
        return 0;
    while (argc < WORDS_MAX && rest.p && str_cut(&rest, '\n', &word))
        argv[argc++] = word;
    check_typed(typed, argv, argc, &a);
    if (argc)
        check_command(argv, argc, &a);
    return 0;
}

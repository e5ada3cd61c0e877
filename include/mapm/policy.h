#ifndef MAPM_POLICY_H
#define MAPM_POLICY_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/project.h"

/* policy: which commands may run (DESIGN.md 3.1). */

enum verdict { VERDICT_UNRULED, VERDICT_ALLOW, VERDICT_DENY };

/*
 * One list of rules. A rule fits a command word by word (see struct
 * project_rule): never a word more, unless its last is "*", and in that order.
 * The first word names the program in full; of a path, "./" and "//" do not
 * matter, and a denied name is denied by any path, too.
 *
 * Of the rules that fit, the one with the most words without a star decides,
 * then the one with the most words that are not just a star, then deny. Rules
 * are about words: what a program makes of them (git diff --output=F, find
 * -exec, env, sh -c) is for the sandbox.
 */
struct policy {
    struct policy_rule *rules;
    size_t count, capacity;
    struct arena *arena;
};

struct policy_rule {
    bool allow;
    const struct str *words; /* as struct project_rule has them */
    size_t count;
    struct str from; /* "config.yaml:12", "--allow" */
};

void policy_init(struct policy *p, struct arena *a);
/* Rules of a file that count: for a workspace `allow` only when accepted. */
void policy_add_project(struct policy *p, const struct project *from,
                        const char *name, bool with_allow);
/*
 * "git diff *", as typed behind --allow: words as in a shell, with its quotes,
 * a star in which is just a star. "*" allows everything that is not denied.
 * Errors: ERR_USAGE.
 */
MUST_CHECK bool policy_add_option(struct policy *p, struct str words,
                                  struct err *e);
/* The words of one rule, allowed by `from`: of policy_exact or policy_usual,
 * borrowed. */
void policy_add_words(struct policy *p, const struct str *words, size_t count,
                      const char *from);
/* The rule that decides, NULL for none. */
enum verdict policy_evaluate(const struct policy *p, const struct str *argv,
                             size_t argc, const struct policy_rule **rule);

/* The words of the rule that is for just this command. In `a`. */
const struct str *policy_exact(const struct str *argv, size_t argc,
                               struct arena *a);
/*
 * The words of the rule for such commands: the program, the words behind it that
 * say what it is to do ("run test", "diff", a script), and "*" for further ones.
 * Just this command where none follow, where an option comes first, and of
 * programs that execute their arguments (env, sh, xargs ...). In `a`.
 */
const struct str *policy_usual(const struct str *argv, size_t argc,
                               struct arena *a, size_t *count);
/* Words of a command line as a person types them into a shell, on one line,
 * with nothing hidden in it; as --allow takes them. In `a`. */
struct str policy_line(const struct str *argv, size_t argc, struct arena *a);
/* --allow and the rule that lets just this through, for a shell:
 * "--allow 'git diff'". In `a`. */
struct str policy_suggest(const struct str *argv, size_t argc, struct arena *a);

#endif

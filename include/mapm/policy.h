#ifndef MAPM_POLICY_H
#define MAPM_POLICY_H

#include "base/arena.h"
#include "base/err.h"
#include "mapm/project.h"

/* policy: rules that allow or deny commands (DESIGN.md 3.1). */

enum verdict { VERDICT_UNRULED, VERDICT_ALLOW, VERDICT_DENY };

/*
 * One list of rules. A rule is compared with a command word by word (see struct
 * project_rule): all words must match in order, and further words are allowed
 * only if the last word of the rule is "*". The first word is the name of the
 * program; in a path, "./" and "//" are ignored, and a denied name also denies
 * every path to it.
 *
 * Of the matching rules, the one with the most words without a star decides,
 * then the one with the most words that are not just a star, then deny. Rules
 * apply to words only; the effects of a program's arguments (git diff
 * --output=F, find -exec, env, sh -c) are limited by the sandbox.
 */
struct policy {
    struct policy_rule *rules;
    size_t count, capacity;
    struct arena *arena;
};

struct policy_rule {
    bool allow;
    const struct str *words; /* as in struct project_rule */
    size_t count;
    struct str from; /* "config.yaml:12" or "--allow" */
};

void policy_init(struct policy *p, struct arena *a);
/* Adds the rules of a file; for a workspace, its allow rules only if
 * they were accepted. */
void policy_add_project(struct policy *p, const struct project *from,
                        const char *name, bool with_allow);
/* Adds an argument of --allow, "git diff *": words in shell syntax, where a
 * quoted star is an ordinary star. "*" allows everything that is not denied.
 * Errors: ERR_USAGE. */
MUST_CHECK bool policy_add_option(struct policy *p, struct str words,
                                  struct err *e);
/* Adds a rule, allowed by `from`, with the words of policy_exact or
 * policy_usual, which are borrowed. */
void policy_add_words(struct policy *p, const struct str *words, size_t count,
                      const char *from);
/* Evaluates a command; `*rule` is the deciding rule, or NULL. */
enum verdict policy_evaluate(const struct policy *p, const struct str *argv,
                             size_t argc, const struct policy_rule **rule);

/* Returns the words of the rule for exactly this command. Allocated in `a`. */
const struct str *policy_exact(const struct str *argv, size_t argc,
                               struct arena *a);
/*
 * Returns the words of a rule for similar commands: the program, the following
 * words that select its operation ("run test", "diff", a script), and "*" for
 * further arguments. Returns the rule for exactly this command if it has no
 * further arguments, if an option comes first, and for programs that execute
 * their arguments (env, sh, xargs, ...). Allocated in `a`.
 */
const struct str *policy_usual(const struct str *argv, size_t argc,
                               struct arena *a, size_t *count);
/* Returns a command line in shell syntax on one line, as --allow accepts it,
 * with hidden characters escaped. Allocated in `a`. */
struct str policy_line(const struct str *argv, size_t argc, struct arena *a);
/* Returns --allow with the rule for exactly this command, quoted for a shell:
 * "--allow 'git diff'". Allocated in `a`. */
struct str policy_suggest(const struct str *argv, size_t argc, struct arena *a);

#endif

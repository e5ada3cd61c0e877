#include "base/fs.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/authorize.h"

#include <string.h>

#define ACCEPT_WAY "mapm trust --workspace"

static bool has_terminal(const struct command_rules *c)
{
    return context_can_ask(c->cx);
}

/* --- rules of mapm.yaml, and their acceptance --------------------------- */

static struct trust_request request_of(const struct command_rules *c,
                                       const struct hash *digest)
{
    return (struct trust_request){
        .kind = STATE_TRUST_POLICY, .subject = c->workspace, .digest = *digest};
}

static bool accept(struct command_rules *c, const struct hash *digest,
                   struct err *e)
{
    const struct trust_request q = request_of(c, digest);

    if (!authorize_put(c->cx, c->store, &q, e))
        return err_wrap(e, "cannot record that mapm.yaml is accepted");
    c->accepted = true;
    return true;
}

static bool ask_to_accept(struct command_rules *c, const struct hash *digest,
                          struct err *e)
{
    struct arena *a = &c->cx->arena;
    struct str question;
    bool yes;

    if (!has_terminal(c))
        return true;
    if (*c->reason)
        context_note(c->cx, "mapm.yaml was accepted once: %s", c->reason);
    question = arena_printf(
        a, "%.*sAccept these rules for %.*s on this machine?",
        STR_ARG(
            authorize_kind(STATE_TRUST_POLICY)->describe(c->project, false, a)),
        STR_ARG(policy_line(&c->workspace, 1, a)));
    if (!context_confirm(c->cx, QUESTION_TRUST, question.p, &yes, e))
        return false;
    if (yes)
        return accept(c, digest, e);
    context_note(c->cx, "the rules are not used in this run");
    c->told = true;
    return true;
}

static bool check_accepted(struct command_rules *c, struct err *e)
{
    struct trust_request q;
    enum trust_state state;
    struct hash digest;

    c->accepted = !project_policy_digest(c->project, &digest);
    if (c->accepted)
        return true;
    q = request_of(c, &digest);
    if (!authorize_trust(c->cx, c->store, &q, &state, e))
        return err_wrap(e, "cannot determine whether mapm.yaml is accepted");
    c->accepted = state == TRUST_GIVEN;
    c->reason = authorize_reason(state);
    return c->accepted || ask_to_accept(c, &digest, e);
}

/* Reports once, at the first command, that the rules of mapm.yaml are not
 * accepted. Used without a terminal. */
static void report_unaccepted(struct command_rules *c)
{
    if (c->accepted || c->told)
        return;
    c->told = true;
    context_note(c->cx,
                 "the command rules of mapm.yaml are not accepted on this "
                 "machine and are ignored: " ACCEPT_WAY "%s%s",
                 *c->reason ? "\n  " : "", c->reason);
}

/* --- setup -------------------------------------------------------------- */

static bool add_options(const struct str_list *allow, struct policy *p,
                        struct err *e)
{
    for (size_t i = 0; i < allow->count; i++)
        if (!policy_add_option(p, allow->items[i], e))
            return false;
    return true;
}

static bool add_rules(struct command_rules *c, struct err *e)
{
    struct policy *both[] = {&c->own, &c->all};

    for (size_t i = 0; i < 2; i++) {
        policy_init(both[i], &c->cx->arena);
        policy_add_project(both[i], c->user, "config.yaml", true);
        if (!add_options(&c->allow, both[i], e))
            return false;
    }
    policy_add_project(&c->all, c->project, "mapm.yaml", c->accepted);
    return true;
}

/* Returns true if commands get the network. "network: false" takes effect
 * without acceptance, "network: true" of a workspace does not. */
static bool wants_network(const struct command_rules *c)
{
    const struct project *user = c->user, *own = c->project;

    if (user->network == PROJECT_FALSE || own->network == PROJECT_FALSE)
        return false;
    return user->network == PROJECT_TRUE ||
           (own->network == PROJECT_TRUE && c->accepted);
}

static enum sandbox sandbox_of(const struct command_rules *c)
{
    if (str_is(c->project->sandbox, "on"))
        return SANDBOX_ON;
    if (str_is(c->user->sandbox, "home"))
        return SANDBOX_HOME;
    return str_is(c->user->sandbox, "off") ? SANDBOX_OFF : SANDBOX_ON;
}

bool authorize_rules_init(struct command_rules *c, struct err *e)
{
    c->reason = "";
    err_clear(e);
    if (!check_accepted(c, e) || !add_rules(c, e))
        return false;
    c->sandbox = sandbox_of(c);
    c->network = wants_network(c);
    return true;
}

/* --- the verdict ----------------------------------------------------------------- */

static enum verdict evaluate(const struct policy *own, const struct policy *all,
                             const struct command *in,
                             const struct policy_rule **rule)
{
    if (policy_evaluate(own, in->argv, in->argc, rule) == VERDICT_DENY)
        return VERDICT_DENY;
    return policy_evaluate(all, in->argv, in->argc, rule);
}

/* Returns a copy of the policy with a rule for exactly this command, as --allow
 * would add. */
static struct policy with_command(const struct policy *p,
                                  const struct command *in, struct arena *a)
{
    struct policy copy;

    policy_init(&copy, a);
    copy.capacity = copy.count = p->count;
    copy.rules = arena_array(a, p->count + 1, sizeof *copy.rules);
    if (p->count)
        memcpy(copy.rules, p->rules, p->count * sizeof *p->rules);
    policy_add_words(&copy, policy_exact(in->argv, in->argc, a), in->argc,
                     "--allow");
    return copy;
}

static bool would_be_allowed(const struct command_rules *c,
                             const struct command *in, struct arena *a)
{
    const struct policy_rule *rule;
    struct policy own = with_command(&c->own, in, a);
    struct policy all = with_command(&c->all, in, a);

    return evaluate(&own, &all, in, &rule) == VERDICT_ALLOW;
}

/* Returns the rule of mapm.yaml that would allow the command if the rules were
 * accepted. */
static const struct policy_rule *find_pending(const struct command_rules *c,
                                              const struct command *in,
                                              struct arena *a)
{
    const struct policy_rule *rule = NULL;
    struct policy all = c->all;

    if (c->accepted)
        return NULL;
    policy_init(&all, a);
    policy_add_project(&all, c->user, "config.yaml", true);
    policy_add_project(&all, c->project, "mapm.yaml", true);
    return evaluate(&c->own, &all, in, &rule) == VERDICT_ALLOW ? rule : NULL;
}

/* --- no ---------------------------------------------------------------------------- */

static void refuse(const struct command *in, struct str why, struct str rule,
                   struct arena *a, struct command_result *out)
{
    struct str text =
        arena_printf(a, "error: not allowed: %.*s: %.*s",
                     STR_ARG(policy_line(in->argv, in->argc, a)), STR_ARG(why));

    *out = (struct command_result){
        .exit_code = -1,
        .result = text_cut(text, in->max_chars),
        .rule = rule,
    };
    out->truncated = out->result.n < text.n;
}

static void refuse_denied(struct command_rules *c, const struct command *in,
                          const struct policy_rule *rule, struct arena *a,
                          struct command_result *out)
{
    struct str text = project_rule_text(rule->words, rule->count, a);
    struct str name =
        arena_printf(a, "deny %.*s (%.*s)", STR_ARG(text), STR_ARG(rule->from));
    struct str line = policy_line(in->argv, in->argc, a);
    struct str allow = policy_suggest(in->argv, in->argc, a);

    if (would_be_allowed(c, in, a)) {
        context_note(c->cx, "not allowed: %.*s\n  %.*s\n  for one run: %.*s",
                     STR_ARG(line), STR_ARG(name), STR_ARG(allow));
        refuse(in,
               arena_printf(a, "%.*s; %.*s allows it", STR_ARG(name),
                            STR_ARG(allow)),
               name, a, out);
        return;
    }
    context_note(c->cx,
                 "not allowed: %.*s\n  %.*s\n  change that rule to allow it",
                 STR_ARG(line), STR_ARG(name));
    refuse(in,
           arena_printf(a, "%.*s; change that rule to allow it", STR_ARG(name)),
           name, a, out);
}

static void refuse_unruled(struct command_rules *c, const struct command *in,
                           struct arena *a, struct command_result *out)
{
    const struct policy_rule *pending = find_pending(c, in, a);
    struct str line = policy_line(in->argv, in->argc, a);
    struct str allow = policy_suggest(in->argv, in->argc, a);
    struct str rule =
        project_rule_text(policy_exact(in->argv, in->argc, a), in->argc, a);

    if (pending) {
        struct str name = arena_printf(
            a, "%.*s of %.*s is not accepted",
            STR_ARG(project_rule_text(pending->words, pending->count, a)),
            STR_ARG(pending->from));

        context_note(c->cx,
                     "not allowed: %.*s\n  %.*s: " ACCEPT_WAY
                     "\n  for one run: %.*s",
                     STR_ARG(line), STR_ARG(name), STR_ARG(allow));
        refuse(in,
               arena_printf(a, "%.*s; " ACCEPT_WAY " or %.*s allows it",
                            STR_ARG(name), STR_ARG(allow)),
               name, a, out);
        return;
    }
    context_note(
        c->cx,
        "not allowed: %.*s\n  no rule matches it\n  for one run: %.*s\n"
        "  from now on, in mapm.yaml or config.yaml: policy: {commands: "
        "{allow: [%.*s]}}",
        STR_ARG(line), STR_ARG(allow), STR_ARG(rule));
    refuse(
        in,
        arena_printf(a, "no rule matches it; %.*s allows it", STR_ARG(allow)),
        STR("no rule"), a, out);
}

/* --- always -------------------------------------------------------------------------- */

/* Adds a rule for the command to mapm.yaml and accepts the new rules. Fails if
 * the file has changed since it was read: the user accepted the rules of the
 * version that was read. */
static bool write_rule(struct command_rules *c, const struct str *words,
                       size_t count, struct err *e)
{
    struct arena *a = &c->cx->arena;
    CLEANUP_FD int fd = -1;
    struct project project;
    struct hash digest;
    struct str text;

    if (!fs_open_dir(str_dup0(c->workspace, a), &fd, e) ||
        !fs_read_optional_at(fd, "mapm.yaml", PROJECT_MAX_BYTES, a, &text, e))
        return false;
    if (!str_eq(text, c->yaml))
        return err_set(e, ERR_REFUSED, "it was changed since the run began");
    if (!project_add_rule(text, true, words, count, a, &text, e) ||
        !project_parse(text, PROJECT_WORKSPACE, "mapm.yaml", c->origins, a,
                       &project, e) ||
        !fs_replace_at(fd, "mapm.yaml", 0644, text, e))
        return false;
    c->yaml = text;
    return !project_policy_digest(&project, &digest) || accept(c, &digest, e);
}

/* Writes a rule for the command. The command is executed in any case, so a
 * failed write is only a warning. */
static void allow_always(struct command_rules *c, const struct str *words,
                         size_t count)
{
    struct str rule = project_rule_text(words, count, &c->cx->arena);
    struct err e = {0};

    if (write_rule(c, words, count, &e)) {
        context_note(c->cx, "mapm.yaml allows %.*s from now on", STR_ARG(rule));
        return;
    }
    context_warn(c->cx, "it is allowed in this run alone: mapm.yaml: %s",
                 err_first(&e));
}

/* --- the question ---------------------------------------------------------------------- */

enum answer_kind { ONCE, THIS_RUN, ALWAYS, NEVER };

static const char *conditions(const struct command_rules *c)
{
    bool off = c->sandbox == SANDBOX_OFF;

    if (c->network)
        return off ? " without a sandbox" : " with network";
    return off ? " without a sandbox" : "";
}

/* Asks the user whether to execute the command, which is shown in full
 * (SEP-1024). "always" would accept all rules of mapm.yaml, so it is not
 * offered after the user declined them. */
static bool prompt_user(struct command_rules *c, const struct command *in,
                        struct arena *a, enum answer_kind *out, struct err *e)
{
    static const char *const with[] = {"once", "this run", "always", "no"};
    static const char *const without[] = {"once", "this run", "no"};
    static const enum answer_kind kinds[] = {ONCE, THIS_RUN, NEVER};
    size_t chosen, count;
    const struct str *usual = policy_usual(in->argv, in->argc, a, &count);
    struct str always =
        c->accepted ? arena_printf(a, "\n\"always\" allows in mapm.yaml: %.*s",
                                   STR_ARG(project_rule_text(usual, count, a)))
                    : STR("");
    struct str question = arena_printf(
        a, "It wants to run%s, in %.*s:\n  %.*s%.*s\nMay it?", conditions(c),
        STR_ARG(policy_line(&c->workspace, 1, a)),
        STR_ARG(policy_line(in->argv, in->argc, a)), STR_ARG(always));

    if (!context_choose(c->cx, question.p, c->accepted ? with : without,
                        c->accepted ? 4 : 3, in->deadline_ms, &chosen, e))
        return false;
    *out = c->accepted ? (enum answer_kind)chosen : kinds[chosen];
    return true;
}

static void take_answer(struct command_rules *c, const struct command *in,
                        enum answer_kind answer)
{
    const char *from = answer == ALWAYS ? "mapm.yaml" : "this run";
    struct arena *a = &c->cx->arena;
    size_t count = in->argc;
    const struct str *words = answer == ALWAYS
                                  ? policy_usual(in->argv, in->argc, a, &count)
                                  : policy_exact(in->argv, in->argc, a);

    if (answer == ALWAYS)
        allow_always(c, words, count);
    if (answer == ALWAYS || answer == THIS_RUN) {
        policy_add_words(&c->own, words, count, from);
        policy_add_words(&c->all, words, count, from);
    }
}

bool authorize_command(struct command_rules *c, const struct command *in,
                       struct arena *a, bool *allowed,
                       struct command_result *out, struct err *e)
{
    const struct policy_rule *rule;
    enum answer_kind answer;

    *allowed = false;
    report_unaccepted(c);
    switch (evaluate(&c->own, &c->all, in, &rule)) {
    case VERDICT_ALLOW:
        *allowed = true;
        return true;
    case VERDICT_DENY:
        refuse_denied(c, in, rule, a, out);
        return true;
    case VERDICT_UNRULED:
        break;
    }
    if (!has_terminal(c)) {
        refuse_unruled(c, in, a, out);
        return true;
    }
    if (!prompt_user(c, in, a, &answer, e))
        return false;
    *allowed = answer != NEVER;
    if (*allowed)
        take_answer(c, in, answer);
    else
        refuse(in,
               proc_now_ms() < in->deadline_ms
                   ? STR("the user said no")
                   : STR("no answer before the time of the run was over"),
               STR("the user"), a, out);
    return true;
}

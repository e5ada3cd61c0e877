#include "base/text.h"
#include "mapm/clients.h"
#include "mapm/document.h"
#include "mapm/host_config.h"

#include <string.h>

#include "command.h"

#define NEAR_MAX_EDITS 2

static bool is_word_of(struct str words, struct str word)
{
    struct str head;

    while (str_cut(&words, ' ', &head))
        if (head.n && str_eq(head, word))
            return true;
    return false;
}

static struct str aliases_of(const struct subcommand *c)
{
    return str_cstr(c->aliases ? c->aliases : "");
}

const struct subcommand *command_find(struct str name)
{
    for (size_t i = 0; i < COMMAND_COUNT; i++)
        if (str_is(name, commands[i].name) ||
            is_word_of(aliases_of(&commands[i]), name))
            return &commands[i];
    return NULL;
}

/* "unistall" is similar to "install" but means the opposite. Returns true if
 * `name` begins with a negation and the rest is similar to `known`, or if they
 * are two words of which one is the opposite of the other. */
static bool is_opposite(struct str name, struct str known)
{
    static const char *const negations[] = {"un", "de", "dis", "no-", "not-"};
    static const char *const pairs[][2] = {
        {"export", "import"}, {"stop", "start"}, {"stop", "star"}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (str_is(name, pairs[i][0]) && str_is(known, pairs[i][1]))
            return true;
    for (size_t i = 0; i < sizeof negations / sizeof *negations; i++) {
        struct str negation = str_cstr(negations[i]);
        struct text_nearest near = {0};

        if (!str_starts(name, negation) || str_starts(known, negation))
            continue;
        text_nearest_add(&near, str_from_index(name, negation.n), known,
                         NEAR_MAX_EDITS);
        if (near.count)
            return true;
    }
    return false;
}

static void add_near(struct text_nearest *near, struct str name,
                     struct str known)
{
    if (!is_opposite(name, known))
        text_nearest_add(near, name, known, NEAR_MAX_EDITS);
}

bool has_option(const struct invocation *inv, enum option_id id)
{
    return inv->given[id].count > 0;
}

struct str option_value(const struct invocation *inv, enum option_id id)
{
    const struct values *v = &inv->given[id];

    return v->count ? v->items[v->count - 1] : (struct str){NULL, 0};
}

bool option_number(const struct invocation *inv, enum option_id id,
                   uint64_t max, uint64_t *out, struct err *e)
{
    struct str text = option_value(inv, id);
    uint64_t n = 0;

    if (!text.p)
        return true;
    if (!str_number(text, max, &n) || n == 0)
        return err_set(
            e, ERR_USAGE, "--%s: \"%.*s\" is not a number from 1 to %llu",
            options[id].name, STR_ARG(text), (unsigned long long)max);
    *out = n;
    return true;
}

struct str_list argument_list(const struct invocation *inv, size_t from)
{
    size_t count = inv->arguments.count;

    return from < count
               ? (struct str_list){inv->arguments.items + from, count - from}
               : (struct str_list){NULL, 0};
}

struct str argument(const struct invocation *inv, size_t at)
{
    return at < inv->arguments.count ? inv->arguments.items[at]
                                     : (struct str){NULL, 0};
}

struct str_list option_list(const struct invocation *inv, enum option_id id)
{
    return (struct str_list){inv->given[id].items, inv->given[id].count};
}

void values_add(struct values *v, struct str s, struct arena *a)
{
    v->items =
        arena_grow(a, v->items, v->count, &v->capacity, sizeof *v->items);
    v->items[v->count++] = s;
}

static bool takes_option(const struct subcommand *c, enum option_id id)
{
    for (size_t i = 0; i < common_option_count; i++)
        if (common_options[i] == id)
            return true;
    if (!c)
        return id == OPTION_VERSION;
    for (size_t i = 0; i < c->option_count; i++)
        if (c->options[i] == id)
            return true;
    return false;
}

struct str option_choices(const struct option *o, struct arena *a)
{
    if (o->kind == ARGUMENT_CLIENT)
        return clients_join_names(" ", a);
    if (o->kind == ARGUMENT_CLIENTS)
        return str_join(STR("all none "), clients_join_names(" ", a), a);
    if (o->kind == ARGUMENT_BACKEND)
        return str_join(clients_join_backends(" ", a), STR(" anthropic openai"),
                        a);
    if (o->kind == ARGUMENT_GIT_KIND)
        return git_host_kinds(" ", a);
    if (o->kind == ARGUMENT_PROFILE)
        return document_profile_names(" ", a);
    return str_make(o->choices, o->choices ? strlen(o->choices) : 0);
}

static bool unknown_option(const struct subcommand *c, struct str name,
                           struct err *e)
{
    struct text_nearest near = {0};

    err_set(e, ERR_USAGE, "unknown option --%.*s", STR_ARG(name));
    for (int i = 0; i < OPTION_COUNT; i++)
        if (takes_option(c, (enum option_id)i))
            add_near(&near, name, str_cstr(options[i].name));
    if (near.count)
        return err_hint(e, "did you mean --%.*s?", STR_ARG(near.found[0]));
    return err_hint(e, "mapm help%s%s", c ? " " : "", c ? c->name : "");
}

static bool find_long(const struct subcommand *c, struct str name,
                      enum option_id *id, struct err *e)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (str_is(name, options[i].name) &&
            takes_option(c, (enum option_id)i)) {
            *id = (enum option_id)i;
            return true;
        }
    return unknown_option(c, name, e);
}

static bool find_letter(const struct subcommand *c, char letter,
                        enum option_id *id, struct err *e)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (options[i].letter == letter && letter &&
            takes_option(c, (enum option_id)i)) {
            *id = (enum option_id)i;
            return true;
        }
    err_set(e, ERR_USAGE, "unknown option -%c", letter);
    return err_hint(e, "mapm help%s%s", c ? " " : "", c ? c->name : "");
}

static bool takes_names(const struct option *o)
{
    return o->kind == ARGUMENT_NAMES || o->kind == ARGUMENT_CLIENTS;
}

static bool add_option(struct invocation *inv, enum option_id id,
                       struct str value, struct err *e)
{
    const struct option *o = &options[id];
    struct str words = option_choices(o, &inv->cx.arena), head = value;
    bool is_list = takes_names(o);

    while (is_list ? str_cut(&value, ',', &head) : head.p != NULL) {
        if (is_list && !head.n)
            continue;
        if (words.n && o->kind != ARGUMENT_BACKEND && !is_word_of(words, head))
            return err_set(e, ERR_USAGE, "--%s: \"%.*s\" is not one of: %.*s",
                           o->name, STR_ARG(head), STR_ARG(words));
        values_add(&inv->given[id], head, &inv->cx.arena);
        if (!is_list)
            break;
    }
    return true;
}

/* The state of parsing argv. */
struct parse {
    struct invocation *inv;
    int argc, at;
    char *const *argv;
    bool only_arguments;     /* after "--" */
    enum option_id names_of; /* the NAMES option just read, or OPTION_COUNT */
};

static bool take_option(struct parse *p, enum option_id id, const char *inner,
                        struct err *e)
{
    const struct option *o = &options[id];

    if (!o->argument) {
        if (inner && o->kind == ARGUMENT_NONE)
            return err_set(e, ERR_USAGE, "--%s takes no argument", o->name);
        return add_option(p->inv, id, inner ? str_cstr(inner) : STR(""), e);
    }
    if (!inner) {
        if (p->at + 1 >= p->argc)
            return err_set(e, ERR_USAGE, "--%s needs an argument: %s", o->name,
                           o->argument);
        inner = p->argv[++p->at];
    }
    if (takes_names(o))
        p->names_of = id;
    return add_option(p->inv, id, str_cstr(inner), e);
}

static bool take_long(struct parse *p, const char *text, struct err *e)
{
    struct str name = str_cstr(text);
    size_t equals = str_find_char(name, '=');
    const char *inner = NULL;
    enum option_id id = OPTION_COUNT;

    if (equals != SIZE_MAX) {
        inner = text + equals + 1;
        name = str_slice(name, 0, equals);
    }
    return find_long(p->inv->command, name, &id, e) &&
           take_option(p, id, inner, e);
}

static bool take_letters(struct parse *p, const char *text, struct err *e)
{
    for (; *text; text++) {
        enum option_id id = OPTION_COUNT;

        if (!find_letter(p->inv->command, *text, &id, e))
            return false;
        if (options[id].argument)
            return take_option(p, id, text[1] ? text + 1 : NULL, e);
        if (!take_option(p, id, NULL, e))
            return false;
    }
    return true;
}

bool command_unknown(struct str name, struct err *e)
{
    struct text_nearest near = {0};

    err_set(e, ERR_USAGE, "unknown command \"%.*s\"", STR_ARG(name));
    if (str_is(name, "untrust"))
        return err_hint(e, "mapm trust --revoke revokes trust");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        struct str aliases = aliases_of(&commands[i]), alias;

        add_near(&near, name, str_cstr(commands[i].name));
        while (str_cut(&aliases, ' ', &alias))
            add_near(&near, name, alias);
    }
    if (near.count)
        return err_hint(e, "did you mean \"mapm %.*s\"?",
                        STR_ARG(near.found[0]));
    return err_hint(e, "mapm help lists the commands");
}

static bool take_word(struct parse *p, const char *text, struct err *e)
{
    struct invocation *inv = p->inv;
    struct str word = str_cstr(text);

    if (!inv->command) {
        inv->command = command_find(word);
        return inv->command || command_unknown(word, e);
    }
    /* `--skill a b`: arguments without "/" or ":" after such an option are
     * further values of it; an origin is not. */
    if (p->names_of != OPTION_COUNT && !str_has_char(word, '/') &&
        !str_has_char(word, ':'))
        return add_option(inv, p->names_of, word, e);
    values_add(&inv->arguments, word, &inv->cx.arena);
    return true;
}

struct str command_choices(const struct subcommand *c, struct arena *a)
{
    struct str words = str_cstr(c->choices);

    for (size_t i = 0; i < c->word_count; i++)
        if (i == 0 || strcmp(c->words[i].name, c->words[i - 1].name) != 0)
            words = arena_join(words, " ", str_cstr(c->words[i].name), a);
    return words;
}

static bool unknown_word(struct invocation *inv, struct err *e)
{
    const struct subcommand *c = inv->command;
    struct str word = argument(inv, 0), choices, head;
    struct text_nearest near = {0};

    choices = command_choices(c, &inv->cx.arena);
    err_set(e, ERR_USAGE, "mapm %s: \"%.*s\" is not one of: %.*s", c->name,
            STR_ARG(word), STR_ARG(choices));
    while (str_cut(&choices, ' ', &head))
        add_near(&near, word, head);
    return near.count && err_hint(e, "did you mean \"mapm %s %.*s\"?", c->name,
                                  STR_ARG(near.found[0]));
}

/* Checks that only options in `options` are given. */
static bool check_options(const struct invocation *inv, const struct word *word,
                          struct err *e)
{
    const struct subcommand *c = inv->command;

    for (size_t i = 0; i < c->option_count && word->options; i++) {
        const char *name = options[c->options[i]].name;

        if (has_option(inv, c->options[i]) &&
            !is_word_of(str_cstr(word->options), str_cstr(name)))
            return err_set(e, ERR_USAGE, "mapm %s %s has no option --%s",
                           c->name, word->name, name);
    }
    return true;
}

/* Checks the number of arguments from index `from` on. A `word` without a name
 * stands for the command itself. */
static bool check_count(const struct invocation *inv, const struct word *word,
                        size_t from, struct err *e)
{
    const char *command = inv->command->name;
    const char *before = word->name[0] ? " " : "";
    size_t count = inv->arguments.count - from;

    if (count < word->min_arguments)
        err_set(e, ERR_USAGE, "mapm %s%s%s needs %s", command, before,
                word->name, word->arguments);
    else if (count > word->max_arguments)
        err_set(e, ERR_USAGE, "mapm %s%s%s: too many arguments: \"%.*s\"",
                command, before, word->name,
                STR_ARG(argument(inv, from + word->max_arguments)));
    else
        return true;
    return err_hint(e, "usage: mapm %s [OPTION]...%s%s%s%s", command, before,
                    word->name, word->arguments[0] ? " " : "", word->arguments);
}

/* Takes the last row of the name, unless the number of arguments fits an
 * earlier one. */
static bool check_word(struct invocation *inv, struct err *e)
{
    const struct subcommand *c = inv->command;
    size_t count = inv->arguments.count - 1;
    const struct word *word = NULL;

    for (size_t i = 0; i < c->word_count; i++) {
        if (!str_is(argument(inv, 0), c->words[i].name))
            continue;
        word = &c->words[i];
        if (count >= word->min_arguments && count <= word->max_arguments)
            break;
    }
    inv->word = word;
    if (!word)
        return unknown_word(inv, e);
    return check_count(inv, word, 1, e) && check_options(inv, word, e);
}

static bool check_arguments(struct invocation *inv, struct err *e)
{
    const struct subcommand *c = inv->command;
    struct word all = {.name = ""};

    if (!c || has_option(inv, OPTION_HELP))
        return true;
    if (has_option(inv, OPTION_QUIET) && has_option(inv, OPTION_VERBOSE))
        return err_set(e, ERR_USAGE,
                       "--quiet and --verbose exclude each other: take one");
    all.arguments = c->arguments;
    all.min_arguments = c->min_arguments;
    all.max_arguments = c->max_arguments;
    return check_count(inv, &all, 0, e) &&
           (!c->word_count || !inv->arguments.count || check_word(inv, e));
}

bool invocation_parse(struct invocation *inv, int argc, char *const *argv,
                      struct err *e)
{
    struct parse p = {
        .inv = inv, .argc = argc, .argv = argv, .names_of = OPTION_COUNT};

    for (p.at = 1; p.at < argc; p.at++) {
        const char *text = argv[p.at];
        bool ok;

        if (p.only_arguments || text[0] != '-' || !text[1]) {
            ok = take_word(&p, text, e);
        } else if (strcmp(text, "--") == 0) {
            p.only_arguments = true;
            ok = true;
        } else {
            p.names_of = OPTION_COUNT;
            ok = text[1] == '-' ? take_long(&p, text + 2, e)
                                : take_letters(&p, text + 1, e);
        }
        if (!ok)
            return false;
    }
    return check_arguments(inv, e);
}

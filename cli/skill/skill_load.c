#include "base/json.h"
#include "base/text.h"
#include "mapm/skill_event.h"

#include "../command.h"
#include "skill.h"
#include "skill_session.h"

/*
 * Prints bodies, for agents that are started by hand: by name, by "/name
 * arguments" (L12) or by "$name" in a text (K18). All or none of them.
 */

struct load {
    struct skill_job *job;
    struct skill_session session;
    struct str *names;
    struct library_loaded *items;
    size_t count, capacity;
    bool has_arguments; /* "/name" was how it was named */
    struct str arguments;
};

/* --- which ----------------------------------------------------------------------------- */

static void add_name(struct load *l, struct str name)
{
    for (size_t i = 0; i < l->count; i++)
        if (str_eq(l->names[i], name))
            return;
    l->names = arena_grow(&l->job->inv->cx.arena, l->names, l->count,
                          &l->capacity, sizeof *l->names);
    l->names[l->count++] = name;
}

static bool add_mentions(struct load *l, struct str text, struct err *e)
{
    const struct library_skill **list;
    size_t count;

    list =
        library_mentions(l->job->library, text, &l->job->inv->cx.arena, &count);
    for (size_t i = 0; i < count; i++)
        add_name(l, list[i]->name);
    if (count)
        return true;
    err_set(e, ERR_NOT_FOUND, "no skill is mentioned in \"%.*s\"",
            STR_ARG(text_cut(text, 2 * NAME_MAX_CHARS)));
    return err_hint(e, "mapm skill list shows what is there");
}

/* "/name" takes the rest of the command line as its arguments. */
static void add_slash(struct load *l)
{
    struct skill_job *job = l->job;
    struct str text = words_join(job->words, job->count, &job->inv->cx.arena);
    struct str name, rest = STR("");
    const struct library_skill *s;

    s = library_slash(job->library, text, &rest);
    if (!s) {
        rest = str_from_index(text, 1);
        str_cut(&rest, ' ', &name);
        add_name(l, name); /* as any name that is not there */
        return;
    }
    l->has_arguments = true;
    l->arguments = rest;
    add_name(l, s->name);
}

static bool find_names(struct load *l, struct err *e)
{
    const struct skill_job *job = l->job;

    bool slash = !job->metis && str_starts(job->words[0], STR("/"));

    if (slash)
        add_slash(l);
    for (size_t i = 0; i < job->count && !slash; i++) {
        struct str word = job->words[i];

        if (job->metis || library_find(job->library, word) ||
            !str_has_char(word, '$'))
            add_name(l, word);
        else if (!add_mentions(l, word, e))
            return false;
    }
    return true;
}

/* All or none: on failure the session keeps its former state. */
static bool fail(struct load *l, size_t at, struct err *e)
{
    bool of_budget = e->code == ERR_LIMIT;

    skill_hint(l->job, l->names[at], e);
    if (of_budget && at > 0)
        err_hint(e, "the %zu before it were not loaded either: ask for fewer",
                 at);
    return false;
}

/* --- loading --------------------------------------------------------------------------- */

static bool load_all(struct load *l, struct err *e)
{
    struct skill_job *job = l->job;
    enum library_as as = LIBRARY_AS_TOOL;
    struct arena *a = &job->inv->cx.arena;

    library_as_find(option_value(job->inv, OPTION_AS), &as);
    l->items = arena_array(a, l->count, sizeof *l->items);
    for (size_t i = 0; i < l->count; i++)
        if (!library_load(job->library, l->names[i], as, false,
                          l->session.is_named ? &l->session.state : NULL, a,
                          &l->items[i], e))
            return fail(l, i, e);
    return true;
}

static bool put_events(struct load *l, struct err *e)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct library_loaded *one = &l->items[i];

        if (!one->already_loaded && !one->already_preloaded &&
            !skill_event_put(l->job->store, l->session.id, one,
                             SKILL_LOADED_ON_DEMAND, STR(""), e))
            return false;
    }
    return true;
}

/* The events of a session belong to its budget. Without one they are news, and
 * no reason to fail. */
static bool record(struct load *l, struct err *e)
{
    struct skill_job *job = l->job;
    struct err why = job->store_problem;

    if (l->session.is_named)
        return put_events(l, e) && skill_session_keep(job, &l->session, e);
    if (!job->store || !put_events(l, &why))
        term_warn(&job->inv->term, "this is not among the events: %s",
                  err_first(&why));
    return true;
}

/* --- output ------------------------------------------------------------- */

static void put_item(struct json_writer *w, const struct load *l, size_t i)
{
    const struct library_loaded *one = &l->items[i];

    json_begin_object(w);
    json_member_string(w, "skill_id", one->skill->name);
    json_member_string(w, "skill_version", str_cstr(one->skill_version));
    json_member_string(w, "source",
                       str_cstr(library_source_name(one->skill->source)));
    json_member_number(w, "load_size_tokens", one->load_size_tokens);
    if (one->already_loaded)
        json_member_bool(w, "already_loaded", true);
    if (one->already_preloaded)
        json_member_bool(w, "already_preloaded", true);
    if (l->has_arguments)
        json_member_string(w, "arguments", l->arguments);
    json_member_string(w, "text", one->text);
    json_end_object(w);
}

static void print_load_json(struct load *l)
{
    const struct library_session *s = &l->session.state;
    struct json_writer *w =
        print_json_begin(l->job->inv, "mapm.skill/1", l->job->word);

    json_key(w, "session");
    if (l->session.is_named) {
        json_begin_object(w);
        json_member_string(w, "id", l->session.id);
        json_member_number(w, "activations", s->loaded);
        json_member_number(w, "max_activations", s->max_activations);
        json_member_number(w, "tokens", s->tokens);
        json_member_number(w, "max_tokens", s->max_tokens);
        json_end_object(w);
    } else {
        json_null(w);
    }
    json_member_array(w, "loads");
    for (size_t i = 0; i < l->count; i++)
        put_item(w, l, i);
    json_end_array(w);
    print_json_end(l->job->inv);
}

static void print_load(struct load *l)
{
    struct term *t = &l->job->inv->term;

    for (size_t i = 0; i < l->count; i++) {
        if (i)
            term_print(t, "\n");
        skill_print_text(l->job, l->items[i].text);
    }
    if (l->arguments.n) {
        term_print(t, "\n");
        skill_print_text(l->job,
                         arena_printf(&l->job->inv->cx.arena, "Arguments: %.*s",
                                      STR_ARG(l->arguments)));
    }
}

static void warn(struct load *l)
{
    const struct library_session *s = &l->session.state;

    for (size_t i = 0; i < l->count; i++)
        if (l->items[i].warn)
            term_warn(&l->job->inv->term,
                      "this session has loaded %zu tokens of skills, at most "
                      "%zu are allowed",
                      s->tokens, s->max_tokens);
}

SKILL_WORD(skill_load)
{
    struct load l = {.job = job, .arguments = STR("")};

    if (!skill_session_open(job, &l.session, e) || !find_names(&l, e) ||
        !load_all(&l, e) || !record(&l, e))
        return false;
    warn(&l);
    if (has_option(job->inv, OPTION_JSON))
        print_load_json(&l);
    else
        print_load(&l);
    return true;
}

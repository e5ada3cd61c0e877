#include "base/json.h"
#include "mapm/skill_session.h"

#include "../command.h"
#include "skill.h"

/* mapm skill load: prints the bodies of skills. */

struct load {
    struct skill_job *job;
    struct skill_session session;
    struct skill_loads loads;
};

static void put_item(struct json_writer *w, const struct load *l, size_t i)
{
    const struct library_loaded *one = &l->loads.items[i];

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
    if (l->loads.has_arguments)
        json_member_string(w, "arguments", l->loads.arguments);
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
    for (size_t i = 0; i < l->loads.count; i++)
        put_item(w, l, i);
    json_end_array(w);
    print_json_end(l->job->inv);
}

static void print_load(struct load *l)
{
    struct term *t = &l->job->inv->term;

    for (size_t i = 0; i < l->loads.count; i++) {
        if (i)
            term_print(t, "\n");
        skill_print_text(l->job, l->loads.items[i].text);
    }
    if (l->loads.arguments.n) {
        term_print(t, "\n");
        skill_print_text(l->job,
                         arena_printf(&l->job->inv->cx.arena, "Arguments: %.*s",
                                      STR_ARG(l->loads.arguments)));
    }
}

static void warn(struct load *l)
{
    const struct library_session *s = &l->session.state;

    for (size_t i = 0; i < l->loads.count; i++)
        if (l->loads.items[i].warn)
            term_warn(&l->job->inv->term,
                      "this session has loaded %zu tokens of skills, at most "
                      "%zu are allowed",
                      s->tokens, s->max_tokens);
}

SKILL_WORD(skill_load)
{
    struct load l = {.job = job, .session = skill_session_of(job)};
    enum library_as as = LIBRARY_AS_TOOL;

    library_as_find(option_value(job->inv, OPTION_AS), &as);
    if (!skill_session_open(&l.session, e) ||
        !skill_session_load(&l.session, job->library, job->words, as, &l.loads,
                            e))
        return false;
    warn(&l);
    if (has_option(job->inv, OPTION_JSON))
        print_load_json(&l);
    else
        print_load(&l);
    return true;
}

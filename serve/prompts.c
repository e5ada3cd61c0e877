#include "base/text.h"
#include "mapm/input.h"

#include <stdlib.h>

#include "connection.h"

/*
 * Metaskills as prompts, which a person starts by name. Their arguments are
 * listed in the skill below "Input keys:" (K8). A skill that only persons may
 * start (L6) is a prompt, too, metaskill or not; requesting it enables it.
 */

#define KEY_MAX_CHARS 64
#define REST_ARGUMENT "arguments"
/* Maximum size of a SKILL.md that is searched for keys. */
#define LISTED_MAX_BYTES (64u * 1024)

bool serve_is_prompt(struct serve *s, const struct library_skill *skill)
{
    return !s->nested && (skill->disabled || serve_offers(s, skill));
}

/* --- the list ------------------------------------------------------------------------- */

/* Builds the prompts, at most LIBRARY_MAX_SKILLS. */
static void make_prompts(struct serve *s)
{
    static const struct mcp_argument rest = {
        .name = STR_INIT(REST_ARGUMENT),
        .description = STR_INIT("What to do it with."),
    };
    size_t count = library_count(s->library);

    s->prompts = arena_array(&s->snap, count + 1, sizeof *s->prompts);
    s->prompts_made = s->tools_made;
    s->prompt_count = 0;
    for (size_t i = 0; i < count; i++) {
        const struct library_skill *skill = library_at(s->library, i);

        if (serve_is_prompt(s, skill))
            s->prompts[s->prompt_count++] = (struct mcp_prompt){
                .name = skill->name,
                .description = skill->description,
                .arguments = &rest,
                .argument_count = 1,
            };
    }
}

void serve_forget_prompts(struct serve *s)
{
    arena_done(&s->snap);
    s->prompts = NULL;
}

/* The arguments of a metaskill are in its body. An unreadable one has none; a
 * request for it reports why. */
void serve_prompt_arguments(void *ctx, struct arena *a, struct mcp_prompt *p)
{
    CLEANUP(arena_done) struct arena reading = {0};
    struct serve *s = ctx;
    const struct library_skill *skill = library_find(s->library, p->name);
    struct library_loaded loaded;
    struct err ignored = {0};
    struct str text;

    if (!skill || !skill->metaskill)
        return;
    p->argument_count = 0;
    /* longer bodies take too long for hundreds of skills */
    if (library_text(s->library, skill, &reading, &text, &ignored) &&
        text.n <= LISTED_MAX_BYTES &&
        library_load(s->library, skill->name, LIBRARY_AS_TOOL, false, NULL,
                     &reading, &loaded, &ignored))
        p->arguments =
            serve_read_keys(loaded.document.body, a, &p->argument_count);
    serve_watch_given(s, p);
}

bool serve_prompts(void *ctx, struct arena *a, const struct mcp_prompt **out,
                   size_t *count)
{
    const struct mcp_tool *tools;
    struct serve *s = ctx;

    serve_tools(s, a, &tools, count); /* rebuilt if trust changed */
    if (s->prompts && s->prompts_made != s->tools_made)
        serve_forget_prompts(s);
    if (!s->prompts)
        make_prompts(s);
    *out = s->prompts;
    *count = s->prompt_count;
    return true;
}

/* --- one prompt -------------------------------------------------------------------------- */

/* Converts the arguments of a prompt, which are strings, to an input; strings
 * that are JSON are parsed. */
static bool input_of(const struct json *arguments, struct arena *a,
                     struct str *out, struct err *e)
{
    struct str *pairs = arena_array(a, arguments->count + 1, sizeof *pairs);
    size_t count = 0;
    bool given;

    for (const struct json *m = arguments->first; m; m = m->next) {
        if (m->kind != JSON_STRING)
            return err_set(e, ERR_USAGE, "%.*s is not a string",
                           STR_ARG(text_cut(m->key, KEY_MAX_CHARS)));
        if (m->text.n)
            pairs[count++] =
                arena_printf(a, "%.*s=%.*s", STR_ARG(m->key), STR_ARG(m->text));
    }
    return input_read(STR(""), pairs, count, a, out, &given, e);
}

static bool metaskill_text(struct str name, struct str activation,
                           const struct json *arguments, struct arena *a,
                           struct str *out, struct err *e)
{
    struct str input;

    if (!input_of(arguments, a, &input, e))
        return false;
    if (str_is(input, "{}"))
        *out = arena_printf(
            a,
            "Run the metaskill %.*s: call run_metaskill with this name and "
            "with the input keys that its instructions name. Then give its "
            "answer, or report the error.\n\n%.*s",
            STR_ARG(name), STR_ARG(activation));
    else
        *out = arena_printf(
            a,
            "Run the metaskill %.*s: call run_metaskill with "
            "{\"name\":\"%.*s\",\"input\":%.*s}. Then give its answer, or "
            "report the error.\n\n%.*s",
            STR_ARG(name), STR_ARG(name), STR_ARG(input), STR_ARG(activation));
    return true;
}

static struct str skill_text(struct str activation,
                             const struct json *arguments, struct arena *a)
{
    struct str rest = json_text(json_get(arguments, REST_ARGUMENT));

    if (!rest.n)
        return activation;
    return arena_printf(a, "%.*s\n\n%.*s", STR_ARG(activation), STR_ARG(rest));
}

static void answer_prompt(struct mcp_call *c, struct str description,
                          struct str text)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, SERVE_TEXT_MAX_BYTES, 0);
    json_member_string(&w, "description", description);
    serve_put_messages(&w, text);
    json_end_object(&w);
    mcp_call_result(c, serve_inside(&b));
}

void serve_prompt(void *ctx, struct str name, const struct json *arguments,
                  struct mcp_call *c)
{
    struct serve *s = ctx;
    struct arena *a = mcp_call_arena(c);
    const struct library_skill *known = library_find(s->library, name);
    struct library_loaded loaded;
    struct err e = {0};
    struct str text;
    bool ok;

    if (!known || !serve_is_prompt(s, known)) {
        mcp_call_error(c, MCP_PARAMS, STR(""), "There is no such prompt");
        return;
    }
    ok = library_load(s->library, known->name, LIBRARY_AS_USER, false, NULL, a,
                      &loaded, &e); /* K41 */
    if (ok && known->metaskill)
        ok = metaskill_text(known->name, loaded.text, arguments, a, &text, &e);
    else if (ok)
        text = skill_text(loaded.text, arguments, a);
    if (!ok) {
        mcp_call_error(c, e.code == ERR_USAGE ? MCP_PARAMS : MCP_INTERNAL,
                       STR(""), "%s", err_first(&e));
        return;
    }
    if (!serve_shows(s, known)) {
        map_put(&s->started, arena_str(&s->session_arena, known->name), s);
        serve_forget_resources(s);
        mcp_call_changed(c, MCP_RESOURCES);
    }
    answer_prompt(c, known->description, text);
}

/* --- completion ------------------------------------------------------------------------------ */

/* A completion: names that begin with the typed text first, then names that
 * contain it, ignoring case. */
struct completion {
    struct arena *a;
    struct str typed; /* folded */
    struct offers {
        struct str *items;
        size_t count, capacity;
    } first, rest;
};

static void offer(struct completion *k, struct str value)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str folded = text_fold(value, &a);
    struct offers *to;

    if (str_starts(folded, k->typed))
        to = &k->first;
    else if (str_find(folded, k->typed) != SIZE_MAX)
        to = &k->rest;
    else
        return;
    to->items =
        arena_grow(k->a, to->items, to->count, &to->capacity, sizeof value);
    to->items[to->count++] = value;
}

static struct str *all_offers(const struct completion *k, size_t *count)
{
    struct str *all =
        arena_array(k->a, k->first.count + k->rest.count + 1, sizeof *all);

    *count = 0;
    for (size_t i = 0; i < k->first.count; i++)
        all[(*count)++] = k->first.items[i];
    for (size_t i = 0; i < k->rest.count; i++)
        all[(*count)++] = k->rest.items[i];
    return all;
}

/* Returns the URI of the skill without its scheme. */
static struct str place_of(const struct library_skill *skill, struct arena *a)
{
    return str_from_index(serve_uri(skill, STR(""), a), sizeof "skill://" - 1);
}

static void offer_skills(struct serve *s, struct completion *k)
{
    for (size_t i = 0; i < library_count(s->library); i++) {
        const struct library_skill *skill = library_at(s->library, i);

        if (serve_shows(s, skill))
            offer(k, place_of(skill, k->a));
    }
}

static void offer_files(struct serve *s, struct completion *k,
                        const struct json *context)
{
    struct str place = json_text(json_get(context, "skill"));
    const struct library_skill *skill;
    struct library_file *files;
    struct err ignored = {0};
    struct str path;
    size_t count;

    if (!place.p ||
        !serve_uri_find(s->library,
                        arena_printf(k->a, "skill://%.*s", STR_ARG(place)),
                        k->a, &skill, &path) ||
        path.n || !serve_shows(s, skill) ||
        !library_files(s->library, skill->name, k->a, &files, &count, &ignored))
        return;
    offer(k, STR("SKILL.md"));
    for (size_t i = 0; i < count; i++)
        offer(k, files[i].path);
}

static bool is_template(struct str uri)
{
    const struct mcp_template *templates;
    size_t count;

    return serve_templates(NULL, NULL, &templates, &count) && count &&
           str_eq(uri, templates[0].uri);
}

bool serve_complete(void *ctx, const struct json *ref, struct str argument,
                    struct str typed, const struct json *context,
                    struct arena *a, struct str **out, size_t *count)
{
    struct serve *s = ctx;
    struct completion k = {.a = a, .typed = text_fold(typed, a)};
    struct str type = json_text(json_get(ref, "type"));

    if (str_is(type, "ref/prompt")) {
        struct str name = json_text(json_get(ref, "name"));
        const struct library_skill *skill = library_find(s->library, name);

        if (!skill || !serve_is_prompt(s, skill))
            return false;
    } else if (str_is(type, "ref/resource")) {
        if (!is_template(json_text(json_get(ref, "uri"))))
            return false;
        if (str_is(argument, "skill"))
            offer_skills(s, &k);
        else if (str_is(argument, "file"))
            offer_files(s, &k, context);
    } else {
        return false;
    }
    *out = all_offers(&k, count);
    return true;
}

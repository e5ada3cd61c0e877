#include "base/proc.h"
#include "base/text.h"

#include <string.h>

#include "connection.h"

/*
 * The tools, and those of them that answer at once. Their schemas, descriptions
 * and texts are those of the specifications, to the letter (K36, T16 to T22).
 */

enum {
    SEARCH_DEFAULT = 10,
    SEARCH_MAX = 50,
};

/* clang-format off */
#define SEARCH_INPUT                                                           \
    "{\"type\":\"object\",\"properties\":{"                                    \
    "\"query\":{\"type\":\"string\"},"                                         \
    "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":50,\"default\":10}}," \
    "\"required\":[\"query\"],\"additionalProperties\":false}"
#define SEARCH_OUTPUT                                                          \
    "{\"type\":\"object\",\"properties\":{"                                    \
    "\"query\":{\"type\":\"string\"},"                                         \
    "\"result_count\":{\"type\":\"integer\"},"                                 \
    "\"result_names\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"   \
    "\"results\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{" \
    "\"name\":{\"type\":\"string\"},\"source\":{\"type\":\"string\"},"         \
    "\"description\":{\"type\":\"string\"},\"metaskill\":{\"type\":\"boolean\"}}," \
    "\"required\":[\"name\",\"source\",\"description\",\"metaskill\"]}}},"     \
    "\"required\":[\"query\",\"result_count\",\"result_names\",\"results\"]}"
#define LOAD_INPUT                                                             \
    "{\"type\":\"object\",\"properties\":{"                                    \
    "\"name\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":64}},"        \
    "\"required\":[\"name\"],\"additionalProperties\":false}"
#define LOAD_OUTPUT                                                            \
    "{\"type\":\"object\",\"properties\":{"                                    \
    "\"text\":{\"type\":\"string\"},"                                          \
    "\"skill_id\":{\"type\":\"string\"},\"skill_version\":{\"type\":\"string\"}," \
    "\"source\":{\"type\":\"string\"},\"load_size_tokens\":{\"type\":\"integer\"}," \
    "\"already_loaded\":{\"type\":\"boolean\"},"                               \
    "\"already_preloaded\":{\"type\":\"boolean\"}},"                           \
    "\"required\":[\"text\",\"skill_id\",\"skill_version\",\"source\",\"load_size_tokens\"]}"
#define RESOURCE_INPUT                                                         \
    "{\"type\":\"object\",\"properties\":{"                                    \
    "\"operation\":{\"type\":\"string\",\"enum\":[\"list\",\"load\"]},"        \
    "\"skill\":{\"type\":\"string\",\"minLength\":1,\"maxLength\":64},"        \
    "\"path\":{\"type\":\"string\",\"description\":\"For load: a path that list shows.\"}}," \
    "\"required\":[\"operation\",\"skill\"],\"additionalProperties\":false}"
#define RESOURCE_OUTPUT                                                        \
    "{\"type\":\"object\",\"properties\":{"                                    \
    "\"skill\":{\"type\":\"string\"},\"path\":{\"type\":\"string\"},"          \
    "\"text\":{\"type\":\"string\"},\"truncated\":{\"type\":\"boolean\"},"     \
    "\"files\":{\"type\":\"array\",\"items\":{\"type\":\"object\",\"properties\":{" \
    "\"path\":{\"type\":\"string\"},\"kind\":{\"type\":\"string\"},"           \
    "\"size\":{\"type\":\"integer\"}},\"required\":[\"path\",\"kind\",\"size\"]}}}," \
    "\"required\":[\"skill\"]}"
/* one type per branch, because some clients do not support lists of types */
#define ANY_TYPE                                                               \
    "\"anyOf\":[{\"type\":\"string\"},{\"type\":\"number\"},"                    \
    "{\"type\":\"boolean\"},{\"type\":\"null\"},{\"type\":\"array\"},"            \
    "{\"type\":\"object\"}],"
#define RUN_OUTPUT                                                             \
    "{\"type\":\"object\",\"properties\":{"                                    \
    "\"untrusted\":{\"type\":\"string\"},"                                     \
    "\"status\":{" ANY_TYPE "\"description\":\"What the program calls its end; ok unless it says.\"}," \
    "\"answer\":{" ANY_TYPE "\"description\":\"The primary result.\"},"                    \
    "\"trace\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}},"         \
    "\"required\":[\"untrusted\",\"status\",\"answer\",\"trace\"]}"
#define READS  "{\"readOnlyHint\":true,\"destructiveHint\":false,\"idempotentHint\":true,\"openWorldHint\":false}"
#define ACTS   "{\"readOnlyHint\":false,\"destructiveHint\":true,\"idempotentHint\":false,\"openWorldHint\":true}"
/* clang-format on */

static void answer_wrong(struct serve *s, struct mcp_call *c, const char *why)
{
    serve_event_invalid(s, str_cstr(why), c);
    serve_answer(
        c, &(struct serve_result){.text = str_cstr(why), .is_error = true});
}

/* --- arguments: errors are results for the model ------------------------ */

static bool check_names(struct serve *s, const struct json *arguments,
                        const char *const *known, struct mcp_call *c)
{
    for (const struct json *m = arguments->first; m; m = m->next) {
        const char *const *k = known;

        while (*k && !str_is(m->key, *k))
            k++;
        if (*k)
            continue;
        answer_wrong(s, c,
                     arena_printf(mcp_call_arena(c),
                                  "there is no argument \"%.*s\"",
                                  STR_ARG(text_cut(m->key, 64)))
                         .p);
        return false;
    }
    return true;
}

static bool take_text(struct serve *s, const struct json *arguments,
                      const char *name, size_t most, struct mcp_call *c,
                      struct str *out)
{
    *out = json_text(json_get(arguments, name));
    if (!out->p) {
        answer_wrong(
            s, c,
            arena_printf(mcp_call_arena(c), "%s must be a string", name).p);
        return false;
    }
    if (most && (out->n == 0 || text_count(*out) > most)) {
        answer_wrong(s, c,
                     arena_printf(mcp_call_arena(c),
                                  "%s must have 1 to %zu characters", name,
                                  most)
                         .p);
        return false;
    }
    return true;
}

static bool take_limit(struct serve *s, const struct json *arguments,
                       struct mcp_call *c, size_t *out)
{
    const struct json *j = json_get(arguments, "limit");
    bool minus;
    uint64_t n;

    *out = SEARCH_DEFAULT;
    if (!j)
        return true;
    if (!json_whole(j, &minus, &n) || minus || n < 1 || n > SEARCH_MAX) {
        answer_wrong(s, c, "limit must be a whole number from 1 to 50");
        return false;
    }
    *out = (size_t)n;
    return true;
}

/* --- skill_search (T16, T17) --------------------------------------------------------- */

static void search_structured(struct str query, const struct library_hit *hits,
                              size_t count, struct arena *a,
                              struct serve_result *out)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, SERVE_TEXT_MAX_BYTES, 0);
    json_member_string(&w, "query", query);
    json_member_number(&w, "result_count", count);
    json_member_array(&w, "result_names");
    for (size_t i = 0; i < count; i++)
        json_string(&w, hits[i].skill->name);
    json_end_array(&w);
    json_member_array(&w, "results");
    for (size_t i = 0; i < count; i++) {
        const struct library_skill *skill = hits[i].skill;

        json_begin_object(&w);
        json_member_string(&w, "name", skill->name);
        json_member_string(&w, "source",
                           str_cstr(library_source_name(skill->source)));
        json_member_string(&w, "description", skill->description);
        json_member_bool(&w, "metaskill", skill->metaskill);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_end_object(&w);
    out->structured = arena_str(a, buf_str(&b));
    out->is_cut = b.overflowed;
}

static void search(struct serve *s, const struct json *arguments,
                   struct mcp_call *c)
{
    static const char *const names[] = {"query", "limit", NULL};
    struct arena *a = mcp_call_arena(c);
    struct serve_result r = {0};
    struct library_hit *hits;
    struct str query;
    size_t limit, count;

    if (!check_names(s, arguments, names, c) ||
        !take_text(s, arguments, "query", 0, c, &query) ||
        !take_limit(s, arguments, c, &limit))
        return;
    if (query.n > QUERY_MAX_BYTES) {
        answer_wrong(s, c, "query is longer than 65536 bytes");
        return;
    }
    hits = library_search(s->library, query, limit, true, a, &count);
    r.text = library_search_text(query, hits, count, a);
    if (serve_knows_structured(c))
        search_structured(query, hits, count, a, &r);
    serve_answer(c, &r);
}

/* --- skill_load (T18 to T23) ---------------------------------------------------------- */

static struct str load_structured(const struct library_loaded *l,
                                  struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, SERVE_TEXT_MAX_BYTES, 0);
    json_member_string(&w, "text", l->text);
    json_member_string(&w, "skill_id", l->skill->name);
    json_member_string(&w, "skill_version", str_cstr(l->skill_version));
    json_member_string(&w, "source",
                       str_cstr(library_source_name(l->skill->source)));
    json_member_number(&w, "load_size_tokens", l->load_size_tokens);
    if (l->already_loaded)
        json_member_bool(&w, "already_loaded", true);
    if (l->already_preloaded)
        json_member_bool(&w, "already_preloaded", true);
    json_end_object(&w);
    return arena_str(a, buf_str(&b));
}

static void load(struct serve *s, const struct json *arguments,
                 struct mcp_call *c)
{
    static const char *const names[] = {"name", NULL};
    struct arena *a = mcp_call_arena(c);
    struct library_loaded loaded;
    struct serve_result r = {0};
    struct err e = {0};
    struct str name;

    if (!check_names(s, arguments, names, c) ||
        !take_text(s, arguments, "name", NAME_MAX_CHARS, c, &name))
        return;
    if (!library_load(s->library, name, LIBRARY_AS_TOOL,
                      !map_has(&s->started, name), &s->session, a, &loaded,
                      &e)) {
        serve_answer_error(s, c, &e);
        return;
    }
    if (loaded.warn)
        context_warn(s->cx,
                     "this session has loaded %zu tokens of instructions",
                     s->session.tokens);
    if (!loaded.already_loaded && !loaded.already_preloaded)
        serve_event_loaded(s, &loaded, c);
    r.text = loaded.text;
    if (serve_knows_structured(c))
        r.structured = load_structured(&loaded, a);
    serve_answer(c, &r);
}

/* --- skill_resource (L14) --------------------------------------------------------------- */

static void put_file(struct json_writer *w, const struct library_file *f)
{
    json_begin_object(w);
    json_member_string(w, "path", f->path);
    json_member_string(w, "kind", str_cstr(library_kind_name(f->kind)));
    json_member_number(w, "size", f->size);
    json_end_object(w);
}

static void list_files(struct serve *s, struct str name, struct mcp_call *c)
{
    CLEANUP(buf_done) struct buf text = {0}, json = {0};
    struct library_file *files;
    struct json_writer w;
    struct err e = {0};
    size_t count;

    if (!library_files(s->library, name, mcp_call_arena(c), &files, &count,
                       &e)) {
        serve_answer_error(s, c, &e);
        return;
    }
    buf_init(&text, SERVE_TEXT_MAX_BYTES);
    json_open(&w, &json, SERVE_TEXT_MAX_BYTES, 0);
    json_member_string(&w, "skill", name);
    json_member_array(&w, "files");
    buf_printf(&text, "Files of skill '%.*s' (%zu):", STR_ARG(name), count);
    for (size_t i = 0; i < count; i++) {
        buf_text(&text, "\n- ");
        text_visible(&text, files[i].path, false);
        buf_printf(&text, " [%s, %llu bytes]", library_kind_name(files[i].kind),
                   (unsigned long long)files[i].size);
        put_file(&w, &files[i]);
    }
    json_end_array(&w);
    json_end_object(&w);
    serve_answer(c, &(struct serve_result){.text = buf_str(&text),
                                           .structured = buf_str(&json),
                                           .is_cut = text.overflowed ||
                                                     json.overflowed});
}

static void load_file(struct serve *s, struct str name, struct str path,
                      struct mcp_call *c)
{
    CLEANUP(buf_done) struct buf json = {0};
    struct json_writer w;
    struct err e = {0};
    struct str text;
    bool cut;

    if (!library_read_file(s->library, name, path, LIBRARY_FILE_MAX_BYTES,
                           mcp_call_arena(c), &text, &cut, &e)) {
        serve_answer_error(s, c, &e);
        return;
    }
    if (!text_is_utf8(text) || memchr(text.p, '\0', text.n)) {
        err_set(&e, ERR_FORMAT, "%.*s is not text", STR_ARG(path));
        serve_answer_error(s, c, &e);
        return;
    }
    json_open(&w, &json, SERVE_TEXT_MAX_BYTES, 0);
    json_member_string(&w, "skill", name);
    json_member_string(&w, "path", path);
    json_member_string(&w, "text", text);
    json_member_bool(&w, "truncated", cut);
    json_end_object(&w);
    serve_answer(c,
                 &(struct serve_result){
                     .text = text,
                     .more = cut ? STR("[truncated at 65536 bytes]") : STR(""),
                     .structured = buf_str(&json),
                     .is_cut = json.overflowed});
}

static void resource(struct serve *s, const struct json *arguments,
                     struct mcp_call *c)
{
    static const char *const names[] = {"operation", "skill", "path", NULL};
    const struct library_skill *skill;
    struct str operation, name, path;
    struct err e = {0};

    if (!check_names(s, arguments, names, c) ||
        !take_text(s, arguments, "operation", 0, c, &operation) ||
        !take_text(s, arguments, "skill", NAME_MAX_CHARS, c, &name))
        return;
    skill = library_find(s->library, name);
    if (skill && !serve_check_shown(s, skill, &e)) {
        serve_answer_error(s, c, &e);
        return;
    }
    if (str_is(operation, "list")) {
        list_files(s, name, c);
        return;
    }
    if (!str_is(operation, "load")) {
        answer_wrong(s, c, "operation must be \"list\" or \"load\"");
        return;
    }
    if (!take_text(s, arguments, "path", LIBRARY_PATH_MAX_BYTES, c, &path))
        return;
    while (str_starts(path, STR("./")))
        path = str_from_index(path, 2);
    if (str_is(path, "SKILL.md")) { /* T21: SKILL.md is loaded with
                                     * skill_load only, which counts it */
        err_set(&e, ERR_REFUSED,
                "SKILL.md of a skill is what skill_load gives");
        serve_answer_error(s, c, &e);
        return;
    }
    load_file(s, name, path, c);
}

/* --- the list ------------------------------------------------------------------------------ */

static void put_property(struct json_writer *w, const char *name,
                         const char *type, const char *description)
{
    json_member_object(w, name);
    json_member_string(w, "type", str_cstr(type));
    json_member_string(w, "description", str_cstr(description));
}

/* Returns the schema of the input (K36) with the names that can be run. */
static struct str run_input(const struct serve *s, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, SERVE_TEXT_MAX_BYTES, 0);
    json_member_string(&w, "type", STR("object"));
    json_member_object(&w, "properties");
    put_property(&w, "name", "string", "The metaskill name to execute.");
    if (s->name_count) {
        json_member_strings(&w, "enum", s->names, s->name_count);
    }
    json_end_object(&w);
    put_property(&w, "input", "object",
                 "Input data passed to the metaskill program.");
    json_end_object(&w);
    put_property(&w, "max_ask_calls", "integer", "Maximum nested model calls.");
    json_member_number(&w, "minimum", 1);
    json_end_object(&w);
    put_property(&w, "max_command_calls", "integer", "Maximum command calls.");
    json_member_number(&w, "minimum", 0);
    json_end_object(&w);
    json_end_object(&w);
    json_member_array(&w, "required");
    json_string(&w, STR("name"));
    json_string(&w, STR("input"));
    json_end_array(&w);
    json_end_object(&w);
    return arena_str(a, buf_str(&b));
}

static void find_names(struct serve *s)
{
    size_t count = library_count(s->library);

    s->names = arena_array(&s->tool_snap, count + 1, sizeof *s->names);
    s->runnable = arena_array(&s->tool_snap, count + 1, sizeof *s->runnable);
    s->name_count = s->runnable_count = 0;
    s->has_skills = false;
    for (size_t i = 0; i < count; i++) {
        const struct library_skill *skill = library_at(s->library, i);

        s->has_skills |= !skill->disabled;
        if (!skill->metaskill || skill->disabled)
            continue;
        s->runnable[s->runnable_count++] = skill;
        if (serve_offers(s, skill))
            s->names[s->name_count++] = skill->name;
    }
}

static struct mcp_tool run_tool(struct serve *s)
{
    return (struct mcp_tool){
        .name = STR("run_metaskill"),
        .title = STR("Run a metaskill"),
        .description = STR("Run a dynamic skill workflow by name."),
        .input_schema = run_input(s, &s->tool_snap),
        .output_schema = STR(RUN_OUTPUT),
        .annotations = STR(ACTS),
    };
}

static const struct mcp_tool quick_tools[] = {
    {.name = STR_INIT("skill_search"),
     .title = STR_INIT("Search skills"),
     .description = STR_INIT("Filter the discovery index by substring on "
                             "name + description."),
     .input_schema = STR_INIT(SEARCH_INPUT),
     .output_schema = STR_INIT(SEARCH_OUTPUT),
     .annotations = STR_INIT(READS)},
    {.name = STR_INIT("skill_load"),
     .title = STR_INIT("Load a skill"),
     .description = STR_INIT("Return the full SKILL.md body for a named "
                             "skill."),
     .input_schema = STR_INIT(LOAD_INPUT),
     .output_schema = STR_INIT(LOAD_OUTPUT),
     .annotations = STR_INIT(READS)},
    {.name = STR_INIT("skill_resource"),
     .title = STR_INIT("Files of a skill"),
     .description = STR_INIT("List the files of a skill, or load the text "
                             "of one."),
     .input_schema = STR_INIT(RESOURCE_INPUT),
     .output_schema = STR_INIT(RESOURCE_OUTPUT),
     .annotations = STR_INIT(READS)},
};

/*
 * Self-contained for clients that drop instructions (G4). Metis has its own
 * texts.
 */
static const struct str quick_descriptions[] = {
    STR_INIT("Search the skills installed here: instructions, scripts and "
             "reference files for particular tasks, such as a file format, "
             "a framework, a service or a way of working. Call it before "
             "you begin a task, with what the user asks for in plain "
             "words. The best comes first; read one that fits with "
             "skill_load. No result: no skill serves the request."),
    STR_INIT("Read the instructions of a skill that skill_search found or "
             "the user named, then follow them."),
    STR_INIT("List the files of a skill, or load the text of one, when the "
             "instructions of the skill name it."),
};

static void make_tools(struct serve *s)
{
    const size_t quick_count = sizeof quick_tools / sizeof *quick_tools;
    size_t n = 0;

    s->tools_made++;
    find_names(s);
    s->tools = arena_array(&s->tool_snap, quick_count + 1, sizeof *s->tools);
    if (s->name_count)
        s->tools[n++] = run_tool(s);
    for (size_t i = 0; i < quick_count; i++) {
        s->tools[n] = quick_tools[i];
        if (!s->options->metis)
            s->tools[n].description = quick_descriptions[i];
        s->tools[n++].is_unlisted = !s->has_skills; /* A4 */
    }
    if (!s->name_count && !s->nested) { /* a call is answered with the reason
                                         * (K34) */
        s->tools[n] = run_tool(s);
        s->tools[n++].is_unlisted = true;
    }
    s->tool_count = n;
}

void serve_forget_tools(struct serve *s)
{
    arena_done(&s->tool_snap);
    s->names = NULL;
    s->tools = NULL;
}

bool serve_tools(void *ctx, struct arena *a, const struct mcp_tool **out,
                 size_t *count)
{
    struct serve *s = ctx;

    (void)a;
    if (s->tools && serve_offers_others(s))
        serve_forget_tools(s);
    if (!s->tools)
        make_tools(s);
    *out = s->tools;
    *count = s->tool_count;
    return true;
}

void serve_call(void *ctx, struct str tool, const struct json *arguments,
                struct mcp_call *c)
{
    static const struct {
        const char *name;
        void (*run)(struct serve *s, const struct json *arguments,
                    struct mcp_call *c);
    } rows[] = {
        {"run_metaskill", serve_run},
        {"skill_search", search},
        {"skill_load", load},
        {"skill_resource", resource},
    };
    struct serve *s = ctx;

    s->call_ms = proc_now_ms();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(tool, rows[i].name)) {
            rows[i].run(s, arguments, c);
            return;
        }
    mcp_call_error(c, MCP_PARAMS, STR(""), "Unknown tool");
}

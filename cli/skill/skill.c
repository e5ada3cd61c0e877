#include "skill.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "mapm/open_store.h"
#include "mapm/skill_roots.h"

#include <string.h>

#include "../command.h"

/* In the order of the operations. */
static bool (*const functions[])(struct skill_job *job, struct err *e) = {
    skill_list, skill_search, skill_match, skill_load,
    skill_show, skill_files,  skill_index};

/* --- what all of them print ---------------------------------------------------------- */

/* Writes tags as one text, as in the frontmatter, and as a list (L3). */
static void put_tags(struct json_writer *w, struct str tags)
{
    CLEANUP(buf_done) struct buf joined = {0};
    struct str rest = tags, tag;

    buf_init(&joined, 2 * tags.n);
    while (rest.n && str_cut(&rest, '\n', &tag)) {
        buf_text(&joined, joined.n ? ", " : "");
        buf_append(&joined, tag);
    }
    json_member_optional(w, "tags", buf_str(&joined));
    json_member_array(w, "tags_list");
    while (tags.n && str_cut(&tags, '\n', &tag))
        json_string(w, tag);
    json_end_array(w);
}

void skill_put_json(struct json_writer *w, const struct library_skill *s)
{
    json_member_string(w, "name", s->name);
    json_member_string(w, "description", s->description);
    json_member_string(w, "source", str_cstr(library_source_name(s->source)));
    json_member_string(w, "folder", s->folder);
    json_member_optional(w, "version", s->version);
    put_tags(w, s->tags);
    json_member_bool(w, "metaskill", s->metaskill);
    json_member_bool(w, "mode", s->is_mode);
    json_member_bool(w, "disable_model_invocation", s->disabled);
}

void skill_print_text(struct skill_job *job, struct str text)
{
    struct term *t = &job->inv->term;

    term_content(t, text);
    if (text.n == 0 || text.p[text.n - 1] != '\n')
        term_print(t, "\n");
}

struct skill_session skill_session_of(const struct skill_job *job)
{
    return (struct skill_session){.cx = &job->inv->cx,
                                  .store = job->store,
                                  .store_problem = &job->store_problem,
                                  .metis = job->metis,
                                  .id = option_value(job->inv, OPTION_SESSION)};
}

/* --- the command ----------------------------------------------------------------------- */

static bool has_word(const char *list, const char *word)
{
    struct str rest = str_cstr(list), head;

    while (str_cut(&rest, ' ', &head))
        if (str_is(head, word))
            return true;
    return false;
}

/* Opens the store for its cache. Without it the library is read more slowly. */
static void open_cache(struct skill_job *job)
{
    struct invocation *inv = job->inv;

    if (open_store(&inv->cx, &job->store, &job->store_problem))
        return;
    job->store = NULL;
    if (has_option(inv, OPTION_VERBOSE))
        term_warn(&inv->term, "nothing is recorded: %s",
                  err_first(&job->store_problem));
}

/* Accepts "scope/name", as printed by mapm list, for names of skills. */
static void take_full_names(struct skill_job *job)
{
    size_t names = strcmp(job->word, "load") == 0 ? job->words.count : 1;
    struct str *own =
        arena_array(&job->inv->cx.arena, job->words.count + 1, sizeof *own);

    for (size_t i = 0; i < job->words.count; i++) {
        struct str name, scope, rest = own[i] = job->words.items[i];
        const struct library_skill *s;

        if (i >= names || !str_cut(&rest, '/', &scope) || !rest.p || !scope.n)
            continue;
        name = rest;
        s = library_find(job->library, name);
        if (s && str_eq(s->scope, scope))
            own[i] = name;
    }
    job->words.items = own;
}

bool skill_open(struct skill_job *job, struct err *e)
{
    /* the lines of a search do not mark metaskills (T17) */
    bool programs =
        strcmp(job->word, "search") != 0 || has_option(job->inv, OPTION_JSON);

    return skill_roots_open_library(&job->inv->cx, job->store, job->metis,
                                    programs ? SKILL_CHECK_PROGRAMS
                                             : SKILL_CHECK_DOCUMENTS,
                                    &job->library, e);
}

static bool run(struct skill_job *job, size_t word, struct err *e)
{
    static const char by_name[] = "load show files";

    if (functions[word] != skill_search && !skill_open(job, e))
        return false;
    if (has_word(by_name, job->word))
        take_full_names(job);
    return functions[word](job, e);
}

COMMAND(command_skill)
{
    struct skill_job job = {
        .inv = inv,
        .metis = str_is(option_value(inv, OPTION_SKILL_PROFILE), "metis"),
        .word = inv->word->name,
        .words = argument_list(inv, 1),
    };
    bool ok;

    open_cache(&job);
    ok = run(&job, (size_t)(inv->word - inv->command->words), e);
    library_close(job.library);
    close_store(&inv->cx, job.store);
    return ok;
}

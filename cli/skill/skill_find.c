#include "base/json.h"
#include "base/text.h"
#include "mapm/skill_roots.h"

#include <string.h>

#include "../command.h"
#include "skill.h"

/* mapm skill list, search, match and index. */

#define NAME_COLUMNS        40
#define DESCRIPTION_COLUMNS 100
#define SEARCH_DEFAULT      10        /* T16 */
#define MATCH_DEFAULT       5         /* L11 */
#define MATCH_LEAST         100000000 /* 0.1 */
#define SCORE_DIGITS        9
#define SCORE_UNIT          1000000000

/* --- list ----------------------------------------------------------------------------- */

/* Returns the marks of a skill; omits those that the Metis format lacks. */
static const char *marks_of(const struct library_skill *s, bool metis)
{
    if (metis)
        return "";
    if (s->disabled)
        return s->metaskill ? " (metaskill, yours alone)" : " (yours alone)";
    if (s->metaskill)
        return s->is_mode ? " (metaskill, mode)" : " (metaskill)";
    return s->is_mode ? " (mode)" : "";
}

static void print_row(struct skill_job *job, const struct library_skill *s,
                      size_t wide)
{
    struct invocation *inv = job->inv;
    CLEANUP(arena_done) struct arena a = {0};
    struct str text = text_one_line(s->description, &a), cut = text;
    size_t columns = text_width(s->name);

    if (!has_option(inv, OPTION_VERBOSE))
        cut = text_cut(text, DESCRIPTION_COLUMNS);
    term_print(&inv->term, "%.*s%*s  %-9s  %.*s%s%s\n", STR_ARG(s->name),
               (int)(columns < wide ? wide - columns : 0), "",
               library_source_name(s->source), STR_ARG(cut),
               cut.n < text.n ? "..." : "", marks_of(s, job->metis));
}

SKILL_WORD(skill_list)
{
    size_t count = library_count(job->library), wide = 0;
    struct json_writer *w;

    (void)e;
    if (has_option(job->inv, OPTION_JSON)) {
        w = print_json_begin(job->inv, "mapm.skill/1", job->word);
        json_member_array(w, "skills");
        for (size_t i = 0; i < count; i++) {
            json_begin_object(w);
            skill_put_json(w, library_at(job->library, i));
            json_end_object(w);
        }
        json_end_array(w);
        print_json_end(job->inv);
        return true;
    }
    for (size_t i = 0; i < count; i++) {
        size_t n = text_width(library_at(job->library, i)->name);

        if (n > wide && n <= NAME_COLUMNS)
            wide = n;
    }
    for (size_t i = 0; i < count; i++)
        print_row(job, library_at(job->library, i), wide);
    if (count == 0)
        term_note(&job->inv->term, "there are no skills here");
    return true;
}

/* --- search, match ------------------------------------------------------------------------ */

static void put_hits(struct json_writer *w, const struct library_hit *hits,
                     size_t count, bool match, struct arena *a)
{
    json_member_number(w, "result_count", count);
    json_member_array(w, "result_names");
    for (size_t i = 0; i < count; i++)
        json_string(w, hits[i].skill->name);
    json_end_array(w);
    json_member_array(w, "results");
    for (size_t i = 0; i < count; i++) {
        json_begin_object(w);
        skill_put_json(w, hits[i].skill);
        json_member_raw(w, "score", arena_printf(a, "%.4g", hits[i].score));
        if (match) {
            json_member_optional(w, "trigger", hits[i].words);
            json_member_bool(w, "explicit", hits[i].is_explicit);
        }
        json_end_object(w);
    }
    json_end_array(w);
}

/* The user also finds skills that models may not start (L6). A large library is
 * searched without reading it whole. */
SKILL_WORD(skill_search)
{
    struct context *cx = &job->inv->cx;
    struct arena *a = &cx->arena;
    struct str query = str_list_join(job->words, " ", a), text;
    struct library_hit *hits;
    struct json_writer *w;
    uint64_t limit = SEARCH_DEFAULT;
    size_t count;

    if (!option_number(job->inv, OPTION_HITS, SEARCH_MAX_HITS, &limit, e))
        return false;
    if (!skill_roots_search(cx, job->store, job->metis, query, limit, &hits,
                            &count)) {
        if (!skill_open(job, e))
            return false;
        hits = library_search(job->library, query, limit, false, a, &count);
    }
    if (has_option(job->inv, OPTION_JSON)) {
        w = print_json_begin(job->inv, "mapm.skill/1", job->word);
        json_member_string(w, "query", query);
        put_hits(w, hits, count, false, a);
        print_json_end(job->inv);
        return true;
    }
    text = library_search_text(query, hits, count, a);
    term_print(&job->inv->term, "%.*s\n", STR_ARG(text));
    return true;
}

static void print_hits(struct skill_job *job, const struct library_hit *hits,
                       size_t count)
{
    struct term *t = &job->inv->term;

    for (size_t i = 0; i < count; i++) {
        const struct library_hit *h = &hits[i];

        term_print(t, "%.2f  %.*s [%s]", h->score, STR_ARG(h->skill->name),
                   library_source_name(h->skill->source));
        if (h->is_explicit)
            term_print(t, "  named");
        else if (h->words.n)
            term_print(t, "  %.*s", STR_ARG(h->words));
        term_print(t, "\n");
    }
    if (count == 0)
        term_note(t, "no matching skill");
}

SKILL_WORD(skill_match)
{
    struct arena *a = &job->inv->cx.arena;
    struct str request = str_list_join(job->words, " ", a);
    struct str rest = STR("");
    struct str given = option_value(job->inv, OPTION_MIN_SCORE);
    bool is_slash = library_slash(job->library, request, &rest) != NULL;
    uint64_t least = MATCH_LEAST;
    struct library_hit *hits;
    struct json_writer *w;
    uint64_t limit = MATCH_DEFAULT;
    size_t count;

    if (given.p &&
        (!text_decimal(given, SCORE_DIGITS, 1, &least) || least > SCORE_UNIT))
        return err_set(e, ERR_USAGE,
                       "--min-score: \"%.*s\" is not a number from 0 to 1",
                       STR_ARG(given));
    if (!option_number(job->inv, OPTION_HITS, SEARCH_MAX_HITS, &limit, e))
        return false;
    hits = library_match(job->library, request, limit,
                         (double)least / SCORE_UNIT, a, &count);
    if (has_option(job->inv, OPTION_JSON)) {
        w = print_json_begin(job->inv, "mapm.skill/1", job->word);
        json_member_string(w, "request", request);
        json_key(w, "arguments"); /* L12: the text after "/name" */
        if (is_slash)
            json_string(w, rest);
        else
            json_null(w);
        put_hits(w, hits, count, true, a);
        print_json_end(job->inv);
    } else {
        print_hits(job, hits, count);
    }
    return true;
}

/* --- index ---------------------------------------------------------------------------------- */

#define INDEX_MAX_CHARS 100000000

static void put_index(struct json_writer *w, const struct library_block *block)
{
    size_t chars = text_count(block->text);

    json_member_string(w, "text", block->text);
    json_member_number(w, "chars", chars);
    json_member_number(w, "tokens", chars / 4);
    json_member_number(w, "left_out", block->left_out);
    json_member_array(w, "preloaded");
    for (size_t i = 0; i < block->preloaded_count; i++)
        json_string(w, block->preloaded[i]->name);
    json_end_array(w);
}

SKILL_WORD(skill_index)
{
    struct library_index o = {
        .preload = has_option(job->inv, OPTION_PRELOAD),
    };
    struct skill_session session = skill_session_of(job);
    struct library_block block;
    struct json_writer *w;
    uint64_t n = 0;

    if (!option_number(job->inv, OPTION_MAX_CHARS, INDEX_MAX_CHARS, &n, e))
        return false;
    o.max_chars = (size_t)n;
    if (!library_index_text(job->library, &o, &job->inv->cx.arena, &block, e) ||
        (has_option(job->inv, OPTION_SESSION) &&
         (!skill_session_open(&session, e) ||
          !skill_session_preload(&session, job->library, &block, e))))
        return false;
    if (has_option(job->inv, OPTION_JSON)) {
        w = print_json_begin(job->inv, "mapm.skill/1", job->word);
        put_index(w, &block);
        print_json_end(job->inv);
    } else if (block.text.n) {
        skill_print_text(job, block.text);
    } else {
        term_note(&job->inv->term, "there are no skills here");
    }
    return true;
}

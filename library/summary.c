#include "summary.h"

#include "base/map.h"
#include "base/text.h"
#include "mapm/limits.h"

#include <stdlib.h>

#define TOPICS_MAX      20
#define TOPIC_MIN_CHARS 3
#define MODES_MAX_CHARS 400
#define MODE_MAX_CHARS  80

/* --- topics ---------------------------------------------------------------------- */

struct topic {
    struct str word;
    size_t skills; /* number of skills whose names contain the word */
};

/* Returns false for words that do not describe the purpose of a skill. */
static bool is_topic(struct str word)
{
    static const char *const others[] = {
        "and",    "agent",  "assistant",  "best",  "builder",  "create",
        "expert", "for",    "from",       "guide", "helper",   "manager",
        "master", "new",    "patterns",   "pro",   "senior",   "setup",
        "skill",  "skills", "specialist", "the",   "tool",     "toolkit",
        "tools",  "use",    "using",      "with",  "workflow",
    };

    if (word.n < TOPIC_MIN_CHARS || char_is_digit(word.p[0]))
        return false;
    return !STR_IS_ONE_OF(word, others);
}

static void count_words(struct map *topics, struct str name, struct arena *a)
{
    struct str rest = name, word;

    while (rest.n && str_cut(&rest, '-', &word)) {
        struct map_entry *entry;
        struct topic *topic;

        if (!is_topic(word))
            continue;
        entry = map_entry(topics, word);
        if (!entry->value)
            entry->value = arena_new(a, struct topic);
        topic = entry->value;
        topic->word = word;
        topic->skills++;
    }
}

static int by_skills(const void *x, const void *y)
{
    const struct topic *a = *(struct topic *const *)x;
    const struct topic *b = *(struct topic *const *)y;

    if (a->skills != b->skills)
        return a->skills > b->skills ? -1 : 1;
    return str_cmp(a->word, b->word);
}

/* Adds the most frequent words of names that occur at least twice. */
static void add_topics(const struct library *l, const bool *shown,
                       struct buf *out, struct arena *a)
{
    struct topic **list;
    struct map topics;
    size_t n = 0;

    map_init(&topics, a);
    for (size_t i = 0; i < library_count(l); i++)
        if (shown[i])
            count_words(&topics, library_at(l, i)->name, a);
    list = arena_array(a, topics.count + 1, sizeof *list);
    for (size_t i = 0; i < topics.count; i++) {
        list[n] = topics.entries[i].value;
        n += list[n]->skills > 1;
    }
    if (n)
        qsort(list, n, sizeof *list, by_skills);
    for (size_t i = 0; i < n && i < TOPICS_MAX; i++) {
        buf_text(out, i ? ", " : "\nTopics: ");
        buf_append(out, list[i]->word);
    }
    if (n)
        buf_text(out, n > TOPICS_MAX ? " and others.\n" : ".\n");
}

/* --- modes ------------------------------------------------------------------------- */

static struct str mode_line(const struct library_skill *s, bool described,
                            struct arena *a)
{
    struct str text = text_one_line(s->description, a);
    struct str cut = text_cut(text, MODE_MAX_CHARS);

    return described ? arena_printf(a, "\n- %.*s: %.*s%s", STR_ARG(s->name),
                                    STR_ARG(cut), cut.n < text.n ? "..." : "")
                     : arena_printf(a, "\n- %.*s", STR_ARG(s->name));
}

static struct str mode_lines(const struct library *l, const bool *shown,
                             bool described, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, LIBRARY_MAX_BYTES);
    for (size_t i = 0; i < library_count(l); i++)
        if (shown[i] && library_at(l, i)->is_mode)
            buf_append(&b, mode_line(library_at(l, i), described, a));
    return arena_str(a, buf_str(&b));
}

/* Adds all modes, or only their number if they do not fit. */
static void add_modes(const struct library *l, const bool *shown,
                      struct buf *out, struct arena *a)
{
    struct str lines = mode_lines(l, shown, true, a);
    size_t count = 0;

    if (!lines.n)
        return;
    if (text_count(lines) > MODES_MAX_CHARS)
        lines = mode_lines(l, shown, false, a);
    buf_text(out, "\n## Mode Commands\n");
    if (text_count(lines) <= MODES_MAX_CHARS) {
        buf_append(out, lines);
        return;
    }
    for (size_t i = 0; i < library_count(l); i++)
        count += shown[i] && library_at(l, i)->is_mode;
    buf_printf(out, "\n%zu of the skills are modes.", count);
}

struct str summary_text(const struct library *l, const bool *shown,
                        struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    CLEANUP(arena_done) struct arena scratch = {0};
    size_t count = 0;

    for (size_t i = 0; i < library_count(l); i++)
        count += shown[i];
    buf_init(&b, LIBRARY_MAX_BYTES);
    buf_printf(&b,
               "## Available skills\n"
               "%zu skills are installed: instructions and files for "
               "particular tasks. Before you begin a task, call "
               "`skill_search(query)` with what the user asks for, in plain "
               "words. When a result fits, read it with `skill_load(name)` and "
               "follow it.\n",
               count);
    add_topics(l, shown, &b, &scratch);
    add_modes(l, shown, &b, &scratch);
    return text_strip(arena_str(a, buf_str(&b)));
}

#include "base/text.h"
#include "mapm/limits.h"

#include "catalog.h"
#include "summary.h"

/* The list of skills that a client shows to its model, one line per skill.
 * Source: T15, T26, T31, K15, L6, L7, X25, X28, G4. */

#define HEAD                                                                   \
    "## Available skills\n"                                                    \
    "Use `skill_search(query)` to filter and `skill_load(name)` to read a "    \
    "body.\n"
#define POINTS_PER_TOKEN 4

struct block {
    const struct library *l;
    struct arena *a;
    struct buf out;
    size_t chars;    /* code points in `out` */
    size_t left_out; /* number of skills that did not fit */
    bool any;        /* at least one skill was listed */
    bool marks;      /* at least one skill is marked as a metaskill */
    bool is_summary;
    size_t whole_max;    /* a longer list is replaced by a summary; 0 for no
                          * limit */
    bool cut;            /* truncate descriptions to their share */
    const bool *inlined; /* per skill; NULL if none */
    const enum library_entry *entries; /* per skill */
};

static void add(struct block *b, struct str text)
{
    buf_append(&b->out, text);
    b->chars += text_count(text);
}

/* --- one line a skill ---------------------------------------------------------------------- */

/* Returns whether a call would start the skill, as far as is known (K15,
 * X28). */
static bool is_marked(const struct block *b, size_t i)
{
    const struct library_skill *s = library_at(b->l, i);

    return s->metaskill && !s->broken && !b->l->options.metis &&
           b->entries[i] == LIBRARY_LISTED;
}

static struct str line_of(const struct block *b, size_t i)
{
    const struct library_skill *s = library_at(b->l, i);
    struct str description = text_one_line(s->description, b->a);

    if (b->cut)
        description = text_cut(description, DESCRIPTION_MAX_CHARS);
    return arena_printf(b->a, "\n- %.*s%s: %.*s%s", STR_ARG(s->name),
                        b->inlined && b->inlined[i] ? " [preloaded]" : "",
                        STR_ARG(description),
                        is_marked(b, i) ? " (metaskill: starlark)" : "");
}

/* Returns whether the skill is listed in the section of modes, or in the other
 * one. */
static bool is_listed(const struct block *b, size_t i, bool modes)
{
    const struct library_skill *s = library_at(b->l, i);

    return !s->disabled && b->entries[i] != LIBRARY_WITHHELD &&
           (s->is_mode && !b->l->options.metis) == modes;
}

/* The last line of a truncated list (T31). */
static struct str words_for_rest(size_t count, struct arena *a)
{
    return arena_printf(a, "\n- %zu more: use `skill_search(query)`", count);
}

/* Adds lines while there is room for them and for the number of omitted ones. A
 * line that is too long is omitted alone. */
static void add_lines(struct block *b, bool modes, size_t max_chars)
{
    size_t room = text_count(words_for_rest(library_count(b->l), b->a));
    bool any = false;

    for (size_t i = 0; i < library_count(b->l); i++) {
        struct str line;

        if (!is_listed(b, i, modes))
            continue;
        if (b->whole_max && b->chars > b->whole_max)
            return;
        line = line_of(b, i);
        if (!any && modes)
            line = arena_printf(b->a, "%s\n## Mode Commands\n%.*s",
                                b->any ? "\n" : "", STR_ARG(line));
        if (max_chars && b->chars + text_count(line) + room > max_chars) {
            b->left_out++;
            continue;
        }
        any = b->any = true;
        b->marks |= is_marked(b, i);
        add(b, line);
    }
}

/* Replaces the whole list by a summary; a list is never sent in part (G4). */
static void add_summary(struct block *b)
{
    bool *shown = arena_array(b->a, library_count(b->l) + 1, sizeof *shown);

    for (size_t i = 0; i < library_count(b->l); i++)
        shown[i] = is_listed(b, i, false) || is_listed(b, i, true);
    buf_clear(&b->out);
    b->chars = 0;
    b->marks = false;
    b->is_summary = true;
    add(b, summary_text(b->l, shown, b->a));
}

static void add_index(struct block *b, size_t max_chars)
{
    add(b, STR(HEAD));
    add_lines(b, false, max_chars);
    add_lines(b, true, max_chars);
    if (b->left_out)
        add(b, words_for_rest(b->left_out, b->a));
    if (b->whole_max && b->chars > b->whole_max)
        add_summary(b);
}

/* --- bodies (T26) ------------------------------------------------------------------------------ */

struct preload {
    struct str *segments; /* per skill; p is NULL if not included */
    bool *inlined;
    size_t count;
};

static bool has_room(size_t chars, size_t more)
{
    return chars + more <= (size_t)PRELOAD_MAX_TOKENS * POINTS_PER_TOKEN;
}

/* Chooses bodies by name, up to a size that suits a prompt cache; longer and
 * unreadable ones are skipped. */
static void choose_bodies(struct block *b, size_t chars, struct preload *p)
{
    size_t count = library_count(b->l);

    for (size_t i = 0; i < count; i++) {
        struct library_loaded loaded;
        struct err e = {0};
        size_t more;

        if (chars / POINTS_PER_TOKEN >= PRELOAD_ENOUGH_TOKENS ||
            !has_room(chars, PRELOAD_MIN_CHARS))
            return;
        if (library_at(b->l, i)->disabled ||
            b->entries[i] == LIBRARY_WITHHELD ||
            !library_load(b->l, library_at(b->l, i)->name, LIBRARY_AS_SYSTEM,
                          true, NULL, b->a, &loaded, &e))
            continue;
        more = text_count(loaded.text) + sizeof "\n [preloaded]";
        if (!has_room(chars, more))
            continue;
        chars += more;
        p->segments[i] = loaded.text;
        p->inlined[i] = true;
        p->count++;
    }
}

static const struct library_skill **add_bodies(struct block *b,
                                               const struct preload *p)
{
    const struct library_skill **skills =
        arena_array(b->a, p->count + 1, sizeof *skills);
    size_t n = 0;

    for (size_t i = 0; i < library_count(b->l); i++) {
        if (!p->inlined[i])
            continue;
        add(b, STR("\n\n"));
        add(b, str_slice(p->segments[i], 0, p->segments[i].n - 1));
        skills[n++] = library_at(b->l, i);
    }
    return skills;
}

/* Returns false if no skill is listed. */
static bool choose_entries(struct block *b, const struct library_index *o,
                           size_t *withheld)
{
    size_t count = library_count(b->l);
    enum library_entry *entries = arena_array(b->a, count + 1, sizeof *entries);
    bool any = false;

    for (size_t i = 0; i < count; i++) {
        const struct library_skill *s = library_at(b->l, i);

        entries[i] = o->entry ? o->entry(o->ctx, s) : LIBRARY_LISTED;
        if (s->disabled)
            continue;
        *withheld += entries[i] == LIBRARY_WITHHELD;
        any |= entries[i] != LIBRARY_WITHHELD;
    }
    b->entries = entries;
    return any;
}

static void block_done(struct block *b)
{
    buf_done(&b->out);
}

bool library_index_text(const struct library *l, const struct library_index *o,
                        struct arena *a, struct library_block *out,
                        struct err *e)
{
    CLEANUP(block_done)
    struct block b = {.l = l,
                      .a = a,
                      .whole_max = o->whole_max_chars,
                      .cut = o->max_chars > 0};
    struct preload p = {0};
    struct library_block done = {.text = STR("")};

    if (choose_entries(&b, o, &done.withheld)) {
        buf_init(&b.out, LIBRARY_MAX_BYTES);
        add_index(&b, o->max_chars);
        if (o->max_chars && b.chars > o->max_chars)
            return err_set(e, ERR_USAGE,
                           "the list needs %zu characters for its header",
                           b.chars);
        if (o->preload) {
            p.segments =
                arena_array(a, library_count(l) + 1, sizeof *p.segments);
            p.inlined = arena_array(a, library_count(l) + 1, sizeof *p.inlined);
            choose_bodies(&b, b.chars, &p);
            buf_clear(&b.out);
            b.chars = b.left_out = 0;
            b.any = b.marks = b.is_summary = false;
            b.inlined = p.inlined;
            add_index(&b, o->max_chars);
            done.preloaded = add_bodies(&b, &p);
            done.preloaded_count = p.count;
        }
        if (!buf_check(&b.out, "the list of skills", e))
            return false;
        done.text = arena_str(a, buf_str(&b.out));
        done.left_out = b.left_out;
        done.marks = b.marks;
        done.has_list = !b.is_summary;
    }
    *out = done;
    return true;
}

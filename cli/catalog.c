#include "base/text.h"
#include "mapm/discover.h"
#include "mapm/limits.h"
#include "mapm/open_store.h"

#include "catalog_command.h"

/* mapm catalog: add, remove, list and refresh the catalogs of the user. */

struct job {
    struct invocation *inv;
    struct store *store;
    struct layer user; /* the user's library, for its rules and limits */
    struct str_list words;
    int exit_code;
};

/* --- words --------------------------------------------------------------------------- */

static struct str date_of(uint64_t seconds, struct arena *a)
{
    char text[TEXT_TIME_BYTES];

    return arena_str(a, str_cstr(seconds ? text_utc((int64_t)seconds,
                                                    "%Y-%m-%d %H:%M UTC", text)
                                         : ""));
}

static void put_members(struct json_writer *w, const struct discover_catalog *c,
                        struct arena *a)
{
    json_member_string(w, "origin", c->origin);
    json_member_string(w, "type", str_cstr(discover_kind(c)));
    json_member_optional(w, "ref", c->ref);
    json_member_optional(w, "commit", c->commit);
    json_member_number(w, "packages", c->count);
    json_member_number(w, "left_out", c->left_out);
    json_member_optional(w, "refreshed", date_of(c->refreshed_s, a));
}

static void print_row(struct job *job, const struct discover_catalog *c)
{
    struct term *t = &job->inv->term;

    term_print(t, "%.*s  %zu package%s", STR_ARG(c->origin), c->count,
               c->count == 1 ? "" : "s");
    if (c->left_out)
        term_print(t, ", %zu left out as invalid", c->left_out);
    if (c->refreshed_s)
        term_print(t, "  refreshed %.*s",
                   STR_ARG(date_of(c->refreshed_s, &job->inv->cx.arena)));
    term_print(t, "\n");
}

/* --- list ------------------------------------------------------------------------------ */

static bool list(struct job *job, struct err *e)
{
    struct invocation *inv = job->inv;
    struct discover_catalog *all;
    struct json_writer *w;
    size_t count;

    if (!discover_list(&inv->cx, job->store, &all, &count, e))
        return false;
    if (has_option(inv, OPTION_JSON)) {
        w = print_json_begin(inv, "mapm.catalog/1", "list");
        json_member_array(w, "catalogs");
        for (size_t i = 0; i < count; i++) {
            json_begin_object(w);
            put_members(w, &all[i], &inv->cx.arena);
            json_end_object(w);
        }
        json_end_array(w);
        print_json_end(inv);
        return true;
    }
    for (size_t i = 0; i < count; i++)
        print_row(job, &all[i]);
    if (count == 0)
        term_note(&inv->term, "there is no catalog: mapm catalog add ORIGIN");
    return true;
}

/* --- add, refresh ------------------------------------------------------------------------ */

static void put_changes(struct job *job, const char *word,
                        const struct discover_change *changes, size_t count)
{
    struct invocation *inv = job->inv;
    struct json_writer *w = print_json_begin(inv, "mapm.catalog/1", word);

    json_member_array(w, "catalogs");
    for (size_t i = 0; i < count; i++) {
        const struct discover_change *c = &changes[i];

        json_begin_object(w);
        put_members(w, &c->catalog, &inv->cx.arena);
        json_member_bool(w, "changed", c->is_changed);
        json_member_optional(
            w, "error", c->failed ? str_cstr(err_first(c->failed)) : STR(""));
        json_end_object(w);
    }
    json_end_array(w);
    print_json_end(inv);
}

static void print_changes(struct job *job,
                          const struct discover_change *changes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct discover_change *c = &changes[i];

        if (c->failed)
            continue;
        if (c->is_changed)
            print_row(job, &c->catalog);
        else
            term_print(&job->inv->term, "%.*s  unchanged\n",
                       STR_ARG(c->catalog.origin));
    }
}

/* Sets one error that lists each catalog with its failure. */
static bool report_failures(const struct discover_change *changes, size_t count,
                            const char *what, struct err *e)
{
    size_t failed = 0;

    for (size_t i = 0; i < count; i++) {
        struct err why;

        if (!changes[i].failed)
            continue;
        why = *changes[i].failed;
        err_wrap(&why, "cannot %s %.*s", what,
                 STR_ARG(changes[i].catalog.origin));
        if (failed++ == 0 && count == 1)
            *e = why;
        else
            err_also_err(e, &why);
    }
    return failed == 0;
}

static bool read_catalogs(struct job *job, const char *word,
                          const struct discover_catalog *catalogs, size_t count,
                          struct err *e)
{
    struct invocation *inv = job->inv;
    struct discover_change *changes =
        arena_array(&inv->cx.arena, count + 1, sizeof *changes);

    if (!discover_refresh(&inv->cx, &job->user, job->store, catalogs, count,
                          changes, e))
        return false;
    if (!has_option(inv, OPTION_JSON)) {
        print_changes(job, changes, count);
        return report_failures(changes, count, word, e);
    }
    put_changes(job, word, changes, count);
    for (size_t i = 0; i < count; i++)
        if (changes[i].failed)
            job->exit_code = exit_code_of(changes[i].failed);
    return true;
}

static bool add(struct job *job, struct err *e)
{
    struct discover_catalog *new;
    size_t count;

    return discover_new(&job->inv->cx, &job->user.rules, job->store, job->words,
                        &new, &count, e) &&
           read_catalogs(job, "add", new, count, e);
}

static bool find_named(struct job *job, struct discover_catalog **out,
                       size_t *count, struct err *e)
{
    struct context *cx = &job->inv->cx;

    *out = arena_array(&cx->arena, job->words.count + 1, sizeof **out);
    *count = job->words.count;
    for (size_t i = 0; i < job->words.count; i++)
        if (!discover_find(cx, &job->user.rules, job->store,
                           job->words.items[i], &(*out)[i], e))
            return false;
    return true;
}

static bool refresh(struct job *job, struct err *e)
{
    struct context *cx = &job->inv->cx;
    struct discover_catalog *all;
    size_t count;

    if (job->words.count ? !find_named(job, &all, &count, e)
                         : !discover_list(cx, job->store, &all, &count, e))
        return false;
    return read_catalogs(job, "refresh", all, count, e);
}

static bool take_out(struct job *job, struct err *e)
{
    struct invocation *inv = job->inv;
    struct discover_catalog *all;
    struct json_writer *w;
    size_t count;

    if (!find_named(job, &all, &count, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!discover_remove(job->store, all[i].origin, e))
            return false;
    if (!has_option(inv, OPTION_JSON)) {
        for (size_t i = 0; i < count; i++)
            term_print(&inv->term, "removed %.*s\n", STR_ARG(all[i].origin));
        return true;
    }
    w = print_json_begin(inv, "mapm.catalog/1", "remove");
    json_member_array(w, "catalogs");
    for (size_t i = 0; i < count; i++)
        json_string(w, all[i].origin);
    json_end_array(w);
    print_json_end(inv);
    return true;
}

/* --- the command ---------------------------------------------------------------------------- */

/* Checks that the host of a git repository may be contacted. The host of an
 * index needs no check, since it is contacted for the index alone. */
static bool admit(struct job *job, struct err *e)
{
    for (size_t i = 0; i < job->words.count; i++)
        if (!discover_admit(&job->inv->cx, job->words.items[i], e))
            return false;
    return true;
}

/* In the order of the operations. `index` is missing because it needs neither
 * store nor network. */
static bool (*const functions[])(struct job *job, struct err *e) = {
    add, take_out, list, refresh};

COMMAND(command_catalog)
{
    size_t word = (size_t)(inv->word - inv->command->words);
    struct job job = {.inv = inv, .words = argument_list(inv, 1)};
    bool ok;

    if (word == sizeof functions / sizeof *functions)
        return has_option(inv, OPTION_MARKETPLACE)
                   ? catalog_write_marketplace(inv, job.words.items[0], e)
                   : catalog_write_index(inv, job.words.items[0], e);
    if ((functions[word] == add && !admit(&job, e)) ||
        !layer_open_global(&inv->cx, LAYER_READ, &job.user, e))
        return false;
    ok = open_store(&inv->cx, &job.store, e) && functions[word](&job, e);
    close_store(&inv->cx, job.store);
    layer_close(&job.user);
    *exit_code = job.exit_code;
    return ok;
}

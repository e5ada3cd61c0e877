#include "base/fs.h"
#include "base/json_record.h"
#include "base/text.h"
#include "mapm/open_store.h"
#include "mapm/workspace_collect.h"

#include "command.h"
#include "offline_show.h"
#include "store_push.h"

struct store_job {
    struct invocation *inv;
    struct store *store;
};

#define STORE_WORD(name)                                                       \
    static bool name(struct store_job *job,                                    \
                     __attribute__((unused)) int *exit_code,                   \
                     __attribute__((unused)) struct err *e)

STORE_WORD(show_path)
{
    struct str path =
        fs_join(store_home(job->store), STR("store"), &job->inv->cx.arena);
    struct json_writer *w;

    if (!has_option(job->inv, OPTION_JSON)) {
        term_print(&job->inv->term, "%.*s\n", STR_ARG(path));
        return true;
    }
    w = print_json_begin(job->inv, "mapm.store/1", "path");
    json_member_string(w, "path", path);
    print_json_end(job->inv);
    return true;
}

static const struct json_member stats_members[] = {
    JSON_MEMBER(struct store_stats, "objects", objects),
    JSON_MEMBER(struct store_stats, "bytes", bytes),
    JSON_MEMBER(struct store_stats, "packages", packages),
    JSON_MEMBER(struct store_stats, "workspaces", workspaces),
    JSON_MEMBER(struct store_stats, "incoming", incoming),
    JSON_MEMBER(struct store_stats, "damaged", damaged),
    JSON_MEMBER(struct store_stats, "damaged_bytes", damaged_bytes),
};
JSON_RECORD(stats, struct store_stats);

STORE_WORD(show_stats)
{
    struct term *t = &job->inv->term;
    struct store_stats stats;
    struct json_writer *w;
    char bytes[16], bad[16];

    if (!store_stats(job->store, &stats, e))
        return false;
    if (has_option(job->inv, OPTION_JSON)) {
        w = print_json_begin(job->inv, "mapm.store/1", "stats");
        json_member_string(w, "path", store_home(job->store));
        json_put_members(w, &stats_record, &stats);
        print_json_end(job->inv);
        return true;
    }
    term_print(t, "path        %.*s\n", STR_ARG(store_home(job->store)));
    term_print(t, "objects     %llu (%s)\n", (unsigned long long)stats.objects,
               text_bytes(stats.bytes, bytes));
    term_print(t, "packages    %llu\n", (unsigned long long)stats.packages);
    term_print(t, "workspaces  %llu\n", (unsigned long long)stats.workspaces);
    if (stats.damaged)
        term_print(t, "damaged     %llu (%s)\n",
                   (unsigned long long)stats.damaged,
                   text_bytes(stats.damaged_bytes, bad));
    return true;
}

static void print_damaged(void *ctx, const char *hex)
{
    struct store_job *job = ctx;

    if (!has_option(job->inv, OPTION_JSON))
        term_print(&job->inv->term, "damaged: %s (set aside)\n", hex);
}

STORE_WORD(verify)
{
    struct store_stats stats;
    struct json_writer *w;

    if (!store_verify(job->store, print_damaged, job, &stats, e))
        return false;
    *exit_code = stats.damaged ? EXIT_FINDINGS : EXIT_DONE;
    if (!has_option(job->inv, OPTION_JSON)) {
        term_note(&job->inv->term, "%llu objects hashed, %llu damaged",
                  (unsigned long long)stats.objects,
                  (unsigned long long)stats.damaged);
        return true;
    }
    w = print_json_begin(job->inv, "mapm.store/1", "verify");
    json_member_bool(w, "ok", stats.damaged == 0);
    json_member_number(w, "objects", stats.objects);
    json_member_number(w, "damaged", stats.damaged);
    print_json_end(job->inv);
    return true;
}

/* --- gc ------------------------------------------------------------------- */

STORE_WORD(collect)
{
    struct invocation *inv = job->inv;
    bool dry_run = has_option(inv, OPTION_DRY_RUN);
    struct store_stats removed;
    struct json_writer *w;
    char bytes[16];

    if (!workspace_collect(&inv->cx, job->store, dry_run, &removed, e))
        return false;
    if (!has_option(inv, OPTION_JSON)) {
        term_print(&inv->term, "%s %llu object%s (%s)\n",
                   dry_run ? "would remove" : "removed",
                   (unsigned long long)removed.objects,
                   removed.objects == 1 ? "" : "s",
                   text_bytes(removed.bytes, bytes));
        return true;
    }
    w = print_json_begin(inv, "mapm.store/1", "gc");
    json_member_bool(w, "dry_run", dry_run);
    json_member_number(w, "objects", removed.objects);
    json_member_number(w, "bytes", removed.bytes);
    print_json_end(inv);
    return true;
}

/* In the order of the operations of the command. */
static const struct {
    bool (*on_store)(struct store_job *job, int *exit_code, struct err *e);
    bool (*other)(struct invocation *inv, int *exit_code, struct err *e);
} functions[] = {
    {.on_store = show_path}, {.on_store = show_stats},
    {.on_store = verify},    {.other = store_check_remote},
    {.on_store = collect},   {.other = store_pull},
    {.other = store_push},
};

COMMAND(command_store)
{
    size_t word = (size_t)(inv->word - inv->command->words);
    struct store_job job = {.inv = inv};
    bool ok;

    if (functions[word].other)
        return functions[word].other(inv, exit_code, e);
    ok = open_store(&inv->cx, &job.store, e) &&
         functions[word].on_store(&job, exit_code, e);
    close_store(&inv->cx, job.store);
    return ok;
}

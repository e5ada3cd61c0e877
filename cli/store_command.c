#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "mapm/lock.h"
#include "mapm/open_store.h"
#include "mapm/patched.h"
#include "mapm/state.h"

#include "command.h"
#include "offline_show.h"
#include "store_push.h"

struct store_job {
    struct invocation *inv;
    struct store *store;
};

static bool show_path(struct store_job *job, int *exit_code, struct err *e)
{
    struct str path =
        fs_join(store_home(job->store), STR("store"), &job->inv->cx.arena);
    struct json_writer *w;

    (void)e;
    *exit_code = EXIT_DONE;
    if (!has_option(job->inv, OPTION_JSON)) {
        term_print(&job->inv->term, "%.*s\n", STR_ARG(path));
        return true;
    }
    w = print_json_begin(job->inv, "mapm.store/1", "path");
    json_member_string(w, "path", path);
    print_json_end(job->inv);
    return true;
}

static bool show_stats(struct store_job *job, int *exit_code, struct err *e)
{
    struct term *t = &job->inv->term;
    struct store_stats stats;
    struct json_writer *w;
    char bytes[16], bad[16];

    *exit_code = EXIT_DONE;
    if (!store_stats(job->store, &stats, e))
        return false;
    if (has_option(job->inv, OPTION_JSON)) {
        w = print_json_begin(job->inv, "mapm.store/1", "stats");
        json_member_string(w, "path", store_home(job->store));
        json_member_number(w, "objects", stats.objects);
        json_member_number(w, "bytes", stats.bytes);
        json_member_number(w, "packages", stats.packages);
        json_member_number(w, "workspaces", stats.workspaces);
        json_member_number(w, "incoming", stats.incoming);
        json_member_number(w, "damaged", stats.damaged);
        json_member_number(w, "damaged_bytes", stats.damaged_bytes);
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

static void tell_bad(void *ctx, const char *hex)
{
    struct store_job *job = ctx;

    if (!has_option(job->inv, OPTION_JSON))
        term_print(&job->inv->term, "damaged: %s (set aside)\n", hex);
}

static bool verify(struct store_job *job, int *exit_code, struct err *e)
{
    struct store_stats stats;
    struct json_writer *w;

    if (!store_verify(job->store, tell_bad, job, &stats, e))
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

struct keep {
    struct hash *digests;
    size_t count, capacity;
};

static void keep_digest(struct arena *a, struct keep *keep,
                        const struct hash *digest)
{
    keep->digests = arena_grow(a, keep->digests, keep->count, &keep->capacity,
                               sizeof *keep->digests);
    keep->digests[keep->count++] = *digest;
}

/* What was fetched, of an index as it was sent, too; with a patch its text, and
 * what it makes of that. */
static void keep_entry(struct store_job *job, const struct lock_entry *entry,
                       struct keep *keep)
{
    struct arena *a = &job->inv->cx.arena;
    struct err ignored = {0};
    struct hash digest;

    if (patched_parse_hash(entry->digest, &digest))
        keep_digest(a, keep, &digest);
    if (patched_parse_hash(entry->artifact, &digest))
        keep_digest(a, keep, &digest);
    if (!entry->patch.n)
        return;
    if (patched_parse_hash(entry->patch, &digest))
        keep_digest(a, keep, &digest);
    if (patched_installed(job->store, entry->digest, entry->patch, &digest,
                          &ignored))
        keep_digest(a, keep, &digest);
}

/* An unreadable lock stops gc: its packages are unknown. */
static bool keep_lock(struct store_job *job, int dirfd, struct str folder,
                      const char *name, struct keep *keep, struct err *e)
{
    struct arena *a = &job->inv->cx.arena;
    struct str text = {"", 0};
    struct lock lock;

    if (!fs_read_file_at(dirfd, name, LOCK_MAX_BYTES, a, &text, e)) {
        if (e->code != ERR_NOT_FOUND)
            return err_wrap(e, "%.*s/%s", STR_ARG(folder), name);
        err_clear(e);
        return true;
    }
    if (!lock_parse(text, name, a, &lock, e)) {
        err_wrap(e, "cannot tell what %.*s needs", STR_ARG(folder));
        return err_hint(e, "mend or remove %.*s/%s", STR_ARG(folder), name);
    }
    for (size_t i = 0; i < lock.count; i++)
        keep_entry(job, &lock.entries[i], keep);
    return true;
}

/* A workspace that was removed is forgotten; an unreadable one stops gc. */
static bool keep_workspace(struct store_job *job, struct str folder,
                           bool dry_run, struct keep *keep, struct err *e)
{
    struct arena *a = &job->inv->cx.arena;
    CLEANUP_FD int fd = -1;

    if (!fs_open_dir(str_dup0(folder, a), &fd, e)) {
        if (e->code != ERR_NOT_FOUND)
            return err_wrap(e, "%.*s", STR_ARG(folder));
        err_clear(e);
        return dry_run ||
               state_forget_workspace(store_state(job->store), folder, e);
    }
    return keep_lock(job, fd, folder, "mapm.lock", keep, e) &&
           keep_lock(job, fd, folder, "mapm.local.lock", keep, e);
}

static void say_waiting(void *ctx)
{
    struct store_job *job = ctx;
    struct str users = store_users(job->store, &job->inv->cx.arena);

    term_note(&job->inv->term, "waiting for %.*s that uses the store ...",
              STR_ARG(users.n ? users : STR("another mapm")));
}

static bool collect(struct store_job *job, int *exit_code, struct err *e)
{
    struct invocation *inv = job->inv;
    bool dry_run = has_option(inv, OPTION_DRY_RUN);
    struct keep keep = {0};
    struct store_stats removed;
    struct json_writer *w;
    struct str *folders;
    size_t count;
    char bytes[16];

    *exit_code = EXIT_DONE;
    /* First of all: an install that ends now may need more than before. */
    if (!store_lock_alone(job->store, STORE_WAIT_SECONDS * 1000, say_waiting,
                          job, e) ||
        !state_list_workspaces(store_state(job->store), &inv->cx.arena,
                               &folders, &count, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!keep_workspace(job, folders[i], dry_run, &keep, e))
            return false;
    if (!store_gc(job->store, keep.digests, keep.count, dry_run, &removed, e))
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

COMMAND(command_store)
{
    static const struct {
        const char *name;
        bool (*run)(struct store_job *job, int *exit_code, struct err *e);
    } jobs[] = {
        {"path", show_path},
        {"stats", show_stats},
        {"verify", verify},
        {"gc", collect},
    };
    struct store_job job = {.inv = inv};
    struct str name = inv->arguments.items[0];
    bool ok;

    if (str_is(name, "pull"))
        return store_pull(inv, exit_code, e);
    if (str_is(name, "push"))
        return store_push(inv, exit_code, e);
    if (str_is(name, "verify") && inv->arguments.count > 1)
        return store_check_remote(inv, exit_code, e);
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        if (!str_is(name, jobs[i].name))
            continue;
        if (inv->arguments.count > 1)
            return err_set(e, ERR_USAGE, "mapm store %s takes no argument",
                           jobs[i].name);
        if (!open_store(&inv->cx, &job.store, e))
            return false;
        ok = jobs[i].run(&job, exit_code, e);
        close_store(&inv->cx, job.store);
        return ok;
    }
    err_set(e, ERR_USAGE, "mapm store: unknown command \"%.*s\"",
            STR_ARG(name));
    return err_hint(e, "one of: path, stats, verify, gc, pull, push");
}

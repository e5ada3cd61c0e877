#include "base/fs.h"

#include <dirent.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/*
 * Folders are jobs on one stack that some threads share: each lists a folder,
 * judges the documents in it, and puts the folders below it back. A thread
 * writes into its own arena; the lock is held for the stack alone.
 */

struct job {
    const struct check_root *root;
    struct str folder; /* below the root */
    struct str name, parent;
    unsigned depth;
};

/* A folder without a document of its own, where there should be one. */
struct hollow {
    const struct check_root *root;
    struct str folder;
    struct str misspelt; /* "skill.md" */
    bool in_bucket;
    bool has_agents; /* an AGENTS.md that is perhaps a project's own */
    bool is_catalog;
};

struct crew {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct job *jobs; /* heap */
    size_t count, capacity, busy;
    size_t entries; /* seen so far; atomic */
    bool failed;
    struct err *e;
    const struct check_rules *rules;
};

struct worker {
    struct crew *crew;
    struct arena *arena;
    struct check_result **results;
    size_t count, capacity;
    struct hollow *hollows;
    size_t hollow_count, hollow_capacity;
    struct job *below; /* folders found in the current one */
    size_t below_count, below_capacity;
};

/* --- one folder ----------------------------------------------------------- */

/* `name` below the folder, as shown. */
static struct str shown(const struct check_root *root, struct str folder,
                        struct str name, struct arena *a)
{
    struct str path = root->shown;

    if (folder.n)
        path = path.n ? fs_join(path, folder, a) : folder;
    if (name.n)
        path = path.n ? fs_join(path, name, a) : name;
    return path.n ? arena_str(a, path) : STR(".");
}

static void add_result(struct worker *w, struct check_result *r)
{
    w->results = arena_grow(w->arena, w->results, w->count, &w->capacity,
                            sizeof *w->results);
    w->results[w->count++] = r;
}

static struct check_result *new_result(struct worker *w,
                                       const struct check_root *root,
                                       struct str folder, struct str file)
{
    struct check_result *r = arena_new(w->arena, struct check_result);

    *r = (struct check_result){
        .path = shown(root, folder, file, w->arena),
        .root = root,
        .folder = folder,
        .file = arena_str(w->arena, file),
    };
    complaints_init(&r->why, w->arena);
    return r;
}

static bool judge(struct worker *w, const struct check_root *root,
                  struct str folder, int dirfd, struct str file,
                  enum doc_kind kind, bool optional)
{
    struct check_result *r = new_result(w, root, folder, file);

    r->has_kind = true;
    r->kind = kind;
    if (!check_judge(w->crew->rules, dirfd, r, optional, w->arena))
        return false;
    add_result(w, r);
    return true;
}

static void cannot_open(struct worker *w, const struct job *job, bool error,
                        const char *why)
{
    struct check_result *r =
        new_result(w, job->root, job->folder, str_of("", 0));

    check_say(w->crew->rules, r, error, "unreadable-folder", "%s", why);
    add_result(w, r);
}

static void add_below(struct worker *w, const struct job *job, struct str name)
{
    struct job *next;

    /* git's own, and what mapm keeps of its work in a workspace. */
    if (str_is(name, ".git") || str_is(name, ".mapm"))
        return;
    w->below = arena_grow(w->arena, w->below, w->below_count,
                          &w->below_capacity, sizeof *w->below);
    next = &w->below[w->below_count++];
    *next = (struct job){
        .root = job->root,
        .folder = job->folder.n ? fs_join(job->folder, name, w->arena)
                                : arena_str(w->arena, name),
        .parent = job->name,
        .depth = job->depth + 1,
    };
    next->name = str_from_index(next->folder, next->folder.n - name.n);
}

static bool may_be_file(const struct fs_entry *entry)
{
    return entry->type != DT_DIR;
}

static bool is_bucket(struct str name)
{
    return str_is(name, "agents") || str_is(name, "skills") ||
           str_is(name, "mcps");
}

/* skills-ref takes this spelling, too (A3). */
static bool is_skill_anchor(const struct check_rules *rules, struct str name)
{
    return str_is(name, "SKILL.md") ||
           (rules->profile == PROFILE_SKILLS_REF && str_is(name, "skill.md"));
}

/* Where M1 puts one package a folder: in the buckets of what was named. */
static bool in_bucket(const struct job *job)
{
    bool first = job->depth == 1 && (str_is(job->parent, "skills") ||
                                     str_is(job->parent, "agents"));
    bool second = job->depth == 2 && (str_starts(job->folder, STR("skills/")) ||
                                      str_starts(job->folder, STR("agents/")));

    return (first || second) && job->name.n && job->name.p[0] != '.';
}

static void add_hollow(struct worker *w, const struct job *job, struct hollow h)
{
    h.root = job->root;
    h.folder = job->folder;
    h.in_bucket = in_bucket(job);
    if (job->depth > 0 && !h.in_bucket && !h.misspelt.n)
        return;
    h.misspelt = arena_str(w->arena, h.misspelt);
    w->hollows = arena_grow(w->arena, w->hollows, w->hollow_count,
                            &w->hollow_capacity, sizeof *w->hollows);
    w->hollows[w->hollow_count++] = h;
}

static void look_at(struct worker *w, const struct job *job, int dirfd,
                    const struct fs_entry *entry, struct hollow *h, bool *found)
{
    struct str name = entry->name;
    bool is_agent = str_is(job->parent, "agents");

    if (is_skill_anchor(w->crew->rules, name)) {
        *found |=
            judge(w, job->root, job->folder, dirfd, name, DOC_SKILL, false);
    } else if (str_is(name, "AGENTS.md") && (may_be_file(entry) || is_agent)) {
        h->has_agents = true;
        *found |=
            judge(w, job->root, job->folder, dirfd, name, DOC_AGENT, !is_agent);
    } else if (str_is(job->name, "mcps") && may_be_file(entry) &&
               name.p[0] != '.' && str_ends(name, STR(".json"))) {
        *found |= judge(w, job->root, job->folder, dirfd, name, DOC_MCP, false);
    } else if (may_be_file(entry) &&
               (str_eq_nocase(name, STR("SKILL.md")) ||
                (is_agent && str_eq_nocase(name, STR("AGENTS.md"))))) {
        h->misspelt = name;
    } else if (entry->type == DT_DIR) {
        h->is_catalog |= is_bucket(name);
        add_below(w, job, name);
    }
}

static bool count_entries(struct crew *crew, size_t count, struct err *e)
{
    if (__atomic_add_fetch(&crew->entries, count, __ATOMIC_RELAXED) <=
        CHECK_MAX_FILES)
        return true;
    err_set(e, ERR_LIMIT, "more than %d files and folders", CHECK_MAX_FILES);
    return err_hint(e, "check a part of the tree at a time");
}

/* False only when the whole check has to end. */
static bool look_into(struct worker *w, const struct job *job, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    CLEANUP_FD int fd = -1;
    struct hollow h = {0};
    struct fs_entry *entries;
    size_t count;
    bool found = is_bucket(job->name);

    if (job->depth > CHECK_MAX_DEPTH) {
        cannot_open(w, job, false, "nested too deep: not looked into");
        return true;
    }
    if (!fs_open_dir_at(job->root->fd, str_c(job->folder, &scratch), &fd, e) ||
        !fs_list_at(fd, ".", CHECK_MAX_FILES, &scratch, &entries, &count, e)) {
        if (e->code == ERR_LIMIT)
            return false;
        cannot_open(w, job, job->depth == 0, err_first(e));
        err_clear(e);
        return true;
    }
    if (!count_entries(w->crew, count, e))
        return false;
    for (size_t i = 0; i < count; i++)
        look_at(w, job, fd, &entries[i], &h, &found);
    if (!found)
        add_hollow(w, job, h);
    return true;
}

/* --- one file that was named ---------------------------------------------- */

static void look_at_file(struct worker *w, const struct check_root *root)
{
    struct str none = str_of("", 0);
    struct check_result *r;

    if (is_skill_anchor(w->crew->rules, root->only)) {
        judge(w, root, none, root->fd, root->only, DOC_SKILL, false);
    } else if (str_is(root->only, "AGENTS.md")) {
        judge(w, root, none, root->fd, root->only, DOC_AGENT, false);
    } else if (str_ends(root->only, STR(".json"))) {
        judge(w, root, none, root->fd, root->only, DOC_MCP, false);
    } else {
        r = new_result(w, root, none, root->only);
        check_say(w->crew->rules, r, true, "no-anchor",
                  "none of SKILL.md, AGENTS.md or the .json file of an MCP");
        add_result(w, r);
    }
}

/* --- threads -------------------------------------------------------------- */

static void push(struct crew *crew, const struct job *job)
{
    if (crew->count == crew->capacity) {
        crew->capacity = crew->capacity ? crew->capacity * 2 : 64;
        crew->jobs =
            heap_resize(crew->jobs, crew->capacity * sizeof *crew->jobs);
    }
    crew->jobs[crew->count++] = *job;
}

/* Waits for a job; false when there will be none. */
static bool take(struct crew *crew, struct job *job)
{
    while (!crew->failed && crew->count == 0 && crew->busy > 0)
        pthread_cond_wait(&crew->changed, &crew->lock);
    if (crew->failed || crew->count == 0)
        return false;
    *job = crew->jobs[--crew->count];
    crew->busy++;
    return true;
}

static void do_job(struct worker *w, const struct job *job, struct err *e,
                   bool *ok)
{
    *ok = true;
    w->below_count = 0;
    if (job->root->fd < 0)
        cannot_open(w, job, true, "it cannot be opened");
    else if (job->root->only.n)
        look_at_file(w, job->root);
    else
        *ok = look_into(w, job, e);
}

static void *work(void *ctx)
{
    struct worker *w = ctx;
    struct crew *crew = w->crew;
    struct err e = {0};
    struct job job;
    bool ok;

    pthread_mutex_lock(&crew->lock);
    while (take(crew, &job)) {
        pthread_mutex_unlock(&crew->lock);
        do_job(w, &job, &e, &ok);
        pthread_mutex_lock(&crew->lock);
        /* Last in, first out: backwards, so that they come in order. */
        for (size_t i = w->below_count; i > 0; i--)
            push(crew, &w->below[i - 1]);
        crew->busy--;
        if (!ok && !crew->failed) {
            crew->failed = true;
            *crew->e = e;
        }
        pthread_cond_broadcast(&crew->changed);
    }
    pthread_mutex_unlock(&crew->lock);
    return NULL;
}

static size_t thread_count(void)
{
    cpu_set_t set;
    int count = 1;

    if (sched_getaffinity(0, sizeof set, &set) == 0)
        count = CPU_COUNT(&set);
    if (count < 1)
        return 1;
    return count > CHECK_MAX_THREADS ? CHECK_MAX_THREADS : (size_t)count;
}

/* This thread works as well: that others cannot be had costs only time. */
static void run_crew(struct worker *workers, size_t count)
{
    pthread_t threads[CHECK_MAX_THREADS];
    size_t started = 0;

    while (started + 1 < count && pthread_create(&threads[started], NULL, work,
                                                 &workers[started + 1]) == 0)
        started++;
    work(&workers[0]);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
}

/* --- all together --------------------------------------------------------- */

static int by_path(const void *x, const void *y)
{
    const struct check_result *a = *(struct check_result *const *)x;
    const struct check_result *b = *(struct check_result *const *)y;
    int cmp = str_cmp(a->path, b->path);

    return cmp ? cmp : (a->kind > b->kind) - (a->kind < b->kind);
}

static bool is_within(const struct check_result *r, const struct hollow *h)
{
    return r->root == h->root &&
           (h->folder.n == 0 ||
            (str_starts(r->folder, h->folder) &&
             (r->folder.n == h->folder.n || r->folder.p[h->folder.n] == '/')));
}

/* The first result below the folder stands where its path would be sorted. */
static bool has_results(const struct check_results *all, const struct hollow *h,
                        struct str path)
{
    size_t low = 0, high = all->count;

    if (h->folder.n == 0) {
        for (size_t i = 0; i < all->count; i++)
            if (is_within(all->items[i], h))
                return true;
        return false;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (str_cmp(all->items[middle]->path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < all->count && str_starts(all->items[low]->path, path); low++)
        if (is_within(all->items[low], h))
            return true;
    return false;
}

static void complain_hollow(struct worker *w, const struct hollow *h,
                            bool has_some)
{
    bool named = h->folder.n == 0;
    struct check_result *r;

    if (named && !has_some && h->has_agents &&
        judge(w, h->root, h->folder, h->root->fd, STR("AGENTS.md"), DOC_AGENT,
              false))
        return;
    if (!h->misspelt.n && (has_some || (named && h->is_catalog)))
        return;
    r = new_result(w, h->root, h->folder, str_of("", 0));
    if (h->misspelt.n)
        check_say(w->crew->rules, r, (named && !has_some) || h->in_bucket,
                  "no-anchor",
                  "%.*s has to be spelled in the case of SKILL.md and "
                  "AGENTS.md",
                  STR_ARG(h->misspelt));
    else
        check_say(w->crew->rules, r, named, "no-anchor",
                  "there is no SKILL.md, AGENTS.md or MCP file %s",
                  named ? "here or below" : "in this folder");
    add_result(w, r);
}

static void complain_hollows(struct worker *workers, size_t count,
                             const struct check_results *all)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < workers[i].hollow_count; k++) {
            const struct hollow *h = &workers[i].hollows[k];
            struct str path =
                shown(h->root, h->folder, str_of("", 0), workers[0].arena);

            complain_hollow(&workers[0], h, has_results(all, h, path));
        }
}

static void gather(struct worker *workers, size_t count,
                   struct check_results *all, struct arena *a)
{
    size_t total = 0;

    for (size_t i = 0; i < count; i++)
        total += workers[i].count;
    all->items = arena_array(a, total, sizeof *all->items);
    all->count = 0;
    for (size_t i = 0; i < count; i++) {
        if (workers[i].count)
            memcpy(all->items + all->count, workers[i].results,
                   workers[i].count * sizeof *all->items);
        all->count += workers[i].count;
    }
    if (total)
        qsort(all->items, total, sizeof *all->items, by_path);
}

/* Named twice, or once by itself and once in its tree. */
static void drop_twins(struct check_results *all)
{
    size_t kept = 0;

    for (size_t i = 0; i < all->count; i++)
        if (kept == 0 || by_path(&all->items[i], &all->items[kept - 1]) != 0)
            all->items[kept++] = all->items[i];
    all->count = kept;
}

void check_results_done(struct check_results *r)
{
    for (size_t i = 0; i < r->arena_count; i++)
        arena_done(&r->arenas[i]);
    heap_free(r->arenas);
    *r = (struct check_results){0};
}

bool check_find(const struct check_root *roots, size_t count,
                const struct check_rules *rules, struct arena *a,
                struct check_results *out, struct err *e)
{
    size_t threads = thread_count();
    struct worker *workers = arena_array(a, threads, sizeof *workers);
    struct crew crew = {.e = e, .rules = rules};

    *out = (struct check_results){0};
    out->arenas = heap_alloc(threads * sizeof *out->arenas);
    out->arena_count = threads;
    pthread_mutex_init(&crew.lock, NULL);
    pthread_cond_init(&crew.changed, NULL);
    for (size_t i = 0; i < threads; i++)
        workers[i] = (struct worker){.crew = &crew, .arena = &out->arenas[i]};
    for (size_t i = 0; i < count; i++)
        push(&crew, &(struct job){.root = &roots[i],
                                  .name = roots[i].name,
                                  .parent = roots[i].parent});
    run_crew(workers, threads);
    heap_free(crew.jobs);
    pthread_cond_destroy(&crew.changed);
    pthread_mutex_destroy(&crew.lock);
    if (crew.failed)
        return false;
    gather(workers, threads, out, a);
    complain_hollows(workers, threads, out);
    gather(workers, threads, out, a);
    drop_twins(out);
    return true;
}

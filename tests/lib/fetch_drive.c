/*
 * fetch_drive: asks mapm-fetch, without the rest of mapm.
 *
 *     fetch_drive [OPTION…] INCOMING ORIGIN…
 *
 * Prints one line an event; an origin may carry "#commit:object" (pinned).
 *
 *     --closure    asks for every https:// address in a manifest, too
 *     --ref        resolves refs only          --catalog  what is offered
 *     --document   the document and names      --files    after its outline
 *     --kinds N    sum of 1 agent, 2 skill, 4 MCP
 *     --host H[,KIND[,TOKEN]]   one more host, of GitHub by default
 *     --store D    moves files to D
 *     --serial     one origin after the other
 *     --unproved   asks for proof of pinned commits, too     --verbose
 */
#include "base/fs.h"
#include "base/map.h"
#include "base/proc.h"
#include "mapm/fetch.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct drive {
    struct fetch *fetch;
    struct arena arena;
    struct map seen;
    struct origin_rules rules;
    struct host_config hosts[8];
    struct str store;
    const char **names;
    size_t count, capacity;
    enum fetch_what what;
    unsigned kinds;
    bool closure, verbose, unproved, serial;
    char **more; /* --serial: what is still to be asked */
    int incoming, kept;
};

/* --- a store of files: DIR/<oid> and DIR/<sha256> are the same ------------ */

static bool load(struct drive *d, struct str name, size_t max, struct arena *a,
                 struct str *out)
{
    struct err e = {0};

    return fs_read_file_at(d->kept, str_dup0(name, a), max, a, out, &e);
}

static bool find_blob(void *ctx, struct str oid, struct hash *h, uint64_t *size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str text;

    if (!load(ctx, oid, FILE_MAX_BYTES, &a, &text))
        return false;
    *h = hash_of(text);
    *size = text.n;
    return true;
}

static bool read_blob(void *ctx, const struct hash *h, size_t max,
                      struct arena *a, struct str *out)
{
    return load(ctx, hash_hex(h, a), max, a, out);
}

static bool find_trees(void *ctx, struct str repository, struct str commit,
                       struct arena *a, struct str *out)
{
    (void)repository;
    return load(ctx, arena_printf(a, "trees-%.*s", STR_ARG(commit)), 1u << 28,
                a, out);
}

static void save(struct drive *d, struct str name, struct str content)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err e = {0};

    if (!fs_exists_at(d->kept, str_dup0(name, &a)) &&
        !fs_create_at(d->kept, str_dup0(name, &a), 0600, content, &e))
        fprintf(stderr, "%s\n", err_first(&e));
}

static void put_trees(void *ctx, struct str repository, struct str commit,
                      struct str bytes)
{
    CLEANUP(arena_done) struct arena a = {0};

    (void)repository;
    save(ctx, arena_printf(&a, "trees-%.*s", STR_ARG(commit)), bytes);
}

static bool is_reachable(void *ctx, struct str repository, struct str commit)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct drive *d = ctx;

    (void)repository;
    return fs_exists_at(d->kept,
                        arena_printf(&a, "proved-%.*s", STR_ARG(commit)).p);
}

static void put_reachable(void *ctx, struct str repository, struct str commit)
{
    CLEANUP(arena_done) struct arena a = {0};

    (void)repository;
    save(ctx, arena_printf(&a, "proved-%.*s", STR_ARG(commit)), STR("yes"));
}

/* --- asking --------------------------------------------------------------- */

static void ask(struct drive *d, struct str text)
{
    struct fetch_want w = {.what = d->what, .kinds = d->kinds};
    size_t hash = str_find_char(text, '#');
    struct err e = {0};

    if (!map_put(&d->seen, arena_str(&d->arena, text), d))
        return;
    if (hash != SIZE_MAX) {
        struct str pin = str_from_index(text, hash + 1);

        w.assume_reachable = !d->unproved;
        str_cut(&pin, ':', &w.commit);
        w.object = pin.p ? pin : str_make("", 0);
        text = str_slice(text, 0, hash);
    }
    w.id = (unsigned)d->count;
    d->names = arena_grow(&d->arena, d->names, d->count, &d->capacity,
                          sizeof *d->names);
    d->names[d->count++] = str_dup0(text, &d->arena);
    if (!origin_parse_argument(text, STR("/"), STR(""), &d->rules, &d->arena,
                               &w.origin, &e) ||
        !fetch_ask(d->fetch, &w, &e)) {
        printf("FAILED %.*s: %s\n", STR_ARG(text), err_first(&e));
        exit(2);
    }
}

static void ask_dependencies(struct drive *d, struct str text)
{
    struct str line;

    while (str_line(&text, &line)) {
        size_t at = str_find(line, STR("- \"https://"));

        if (at == SIZE_MAX)
            continue;
        line = str_from_index(line, at + 3);
        ask(d, str_slice(line, 0, str_find_char(line, '"')));
    }
}

/* --- telling -------------------------------------------------------------- */

/* A file of its own, or of the parts. */
static bool read_fetched(struct drive *d, const struct fetch_file *f,
                         struct arena *a, struct str *text, struct err *e)
{
    uint64_t at = f->offset % PART_MAX_BYTES;
    char name[32];

    if (f->size >= PACK_OBJECT_MAX_BYTES)
        return fs_read_file_at(d->incoming, hash_hex(&f->hash, a).p,
                               FILE_MAX_BYTES, a, text, e);
    *text = STR("");
    if (f->size == 0)
        return true;
    snprintf(name, sizeof name, "part-%llu",
             (unsigned long long)(f->offset / PART_MAX_BYTES));
    if (!fs_read_file_at(d->incoming, name, PART_MAX_BYTES, a, text, e) ||
        at + f->size > text->n)
        return false;
    *text = str_slice(*text, (size_t)at, (size_t)(at + f->size));
    return true;
}

static bool check_file(struct drive *d, const struct fetch_file *f)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err e = {0};
    struct str text;
    struct hash h;

    if (f->stored ||
        (d->store.n && fs_exists_at(d->kept, hash_hex(&f->hash, &a).p)))
        return true;
    if (!read_fetched(d, f, &a, &text, &e))
        return false;
    h = hash_of(text);
    if (d->store.n) {
        save(d, f->oid, text);
        save(d, hash_hex(&h, &a), text);
        if (f->size >= PACK_OBJECT_MAX_BYTES)
            unlinkat(d->incoming, hash_hex(&f->hash, &a).p, 0);
    }
    return hash_eq(&h, &f->hash) && text.n == f->size;
}

static void show_files(struct drive *d, const struct fetch_event *ev)
{
    for (size_t i = 0; i < ev->file_count; i++) {
        const struct fetch_file *f = &ev->files[i];

        printf("  %s %.*s %llu%s%s%s\n", f->executable ? "755" : "644",
               STR_ARG(f->path), (unsigned long long)f->size,
               f->stored ? " stored" : "", f->is_lfs ? " lfs" : "",
               check_file(d, f) ? "" : " DAMAGED");
    }
}

static void show(struct drive *d, const struct fetch_event *ev)
{
    static const char *const names[] = {
        [FETCH_MANIFEST] = "MANIFEST", [FETCH_DONE] = "DONE",
        [FETCH_REF_FOUND] = "REF",     [FETCH_OFFERS] = "OFFERS",
        [FETCH_FAILED] = "FAILED",     [FETCH_OUTLINE] = "OUTLINE",
    };

    printf("%s %s", names[ev->kind], d->names[ev->id]);
    if (ev->kind == FETCH_FAILED) {
        printf(" [%s]", err_code_name(ev->err->code));
        for (const char *m = NULL; (m = err_next(ev->err, m)) != NULL;)
            printf(" | %s", m);
        printf("%s%s\n", ev->err->hint[0] ? " || " : "", ev->err->hint);
        return;
    }
    printf(" ref=%.*s commit=%.*s path=%.*s object=%.*s", STR_ARG(ev->ref),
           STR_ARG(ev->commit), STR_ARG(ev->path), STR_ARG(ev->object));
    if (ev->doc)
        printf(" %s", doc_kind_name(ev->doc));
    printf("\n");
    for (size_t i = 0; i < ev->note_count; i++)
        printf("  note: %.*s\n", STR_ARG(ev->notes[i]));
    for (size_t i = 0; i < ev->offer_count; i++)
        printf("  %s %.*s\n", doc_kind_name(ev->offers[i].kind),
               STR_ARG(ev->offers[i].path));
    if (d->verbose || ev->kind == FETCH_DONE)
        show_files(d, ev);
}

static int run(struct drive *d)
{
    struct err e = {0};
    struct fetch_progress p;
    bool failed = false;

    for (;;) {
        CLEANUP(arena_done) struct arena a = {0};
        struct fetch_event ev;

        if (!fetch_next(d->fetch, &a, &ev, &e)) {
            printf("ENDED [%s] %s || %s\n", err_code_name(e.code),
                   err_first(&e), e.hint);
            return e.code == ERR_INTERRUPTED ? 130 : 3;
        }
        if (ev.kind == FETCH_IDLE && d->more && *d->more) {
            ask(d, str_cstr(*d->more++));
            continue;
        }
        if (ev.kind == FETCH_IDLE)
            break;
        failed |= ev.kind == FETCH_FAILED;
        show(d, &ev);
        if (ev.kind == FETCH_MANIFEST && d->closure)
            ask_dependencies(d, ev.manifest);
    }
    fetch_get_progress(d->fetch, &p);
    printf("IDLE asked=%u done=%u requests=%llu connections=%llu bytes=%llu "
           "objects=%llu\n",
           p.asked, p.done, (unsigned long long)p.requests,
           (unsigned long long)p.connections, (unsigned long long)p.bytes,
           (unsigned long long)p.objects);
    return failed;
}

/* "https://127.0.0.1:80" --> "host-_https:__127.0.0.1:80" */
static struct str host_file(struct str place, struct arena *a)
{
    struct str out = STR("host-"), part;

    while (place.p && str_cut(&place, '/', &part))
        out = arena_printf(a, "%.*s_%.*s", STR_ARG(out), STR_ARG(part));
    return out;
}

static bool find_caps(void *ctx, struct str place, struct arena *a,
                      struct str *out)
{
    return load(ctx, host_file(place, a), FETCH_CAPS_MAX_BYTES, a, out);
}

static void put_caps(void *ctx, struct str place, struct str text)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct drive *d = ctx;
    struct err e = {0};

    if (!fs_replace_at(d->kept, host_file(place, &a).p, 0600, text, &e))
        fprintf(stderr, "%s\n", err_first(&e));
}

/* "git.example.com,gitlab,env:TOKEN" */
static void add_host(struct drive *d, struct str text)
{
    struct host_config *h = &d->hosts[d->rules.host_count++];
    struct str kind = {0}, token = {0};

    str_cut(&text, ',', &h->host);
    h->kind = &git_hosts[0];
    if (str_cut(&text, ',', &kind))
        h->kind = git_host_of_kind(kind);
    if (str_cut(&text, ',', &token) &&
        !host_token_parse(token, &h->token, &h->variable))
        abort();
}

/* Those of the environment, as mapm itself takes them. */
static void add_env_hosts(struct drive *d)
{
    struct str rest = str_cstr(getenv("MAPM_GITHUB_HOSTS")), word;

    while (str_cut(&rest, ',', &word))
        if (word.n)
            add_host(d, word);
}

static bool open_all(struct drive *d, const char *incoming)
{
    struct err e = {0};
    struct fetch_options o = {
        .incoming = str_cstr(incoming),
        .hosts = d->hosts,
        .host_count = d->rules.host_count,
        .verbose = d->verbose,
    };

    if (d->store.n) {
        o.store = (struct fetch_store){.find_blob = find_blob,
                                       .read_blob = read_blob,
                                       .find_trees = find_trees,
                                       .put_trees = put_trees,
                                       .is_reachable = is_reachable,
                                       .put_reachable = put_reachable,
                                       .find_caps = find_caps,
                                       .put_caps = put_caps,
                                       .ctx = d};
        if (!fs_open_dir(d->store.p, &d->kept, &e))
            return false;
    }
    return fs_open_dir(incoming, &d->incoming, &e) &&
           fetch_open(&o, &d->fetch, &e);
}

int main(int argc, char **argv)
{
    struct drive d = {.kinds = 7};
    int i = 1, status;

    proc_init();
    proc_catch_signals();
    setvbuf(stdout, NULL, _IOLBF, 0);
    map_init(&d.seen, &d.arena);
    d.rules.hosts = d.hosts;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (strcmp(argv[i], "--closure") == 0)
            d.closure = true;
        else if (strcmp(argv[i], "--ref") == 0)
            d.what = FETCH_REF;
        else if (strcmp(argv[i], "--catalog") == 0)
            d.what = FETCH_CATALOG;
        else if (strcmp(argv[i], "--document") == 0)
            d.what = FETCH_DOCUMENT;
        else if (strcmp(argv[i], "--files") == 0)
            d.what = FETCH_FILES;
        else if (strcmp(argv[i], "--verbose") == 0)
            d.verbose = true;
        else if (strcmp(argv[i], "--serial") == 0)
            d.serial = true;
        else if (strcmp(argv[i], "--unproved") == 0)
            d.unproved = true;
        else if (strcmp(argv[i], "--kinds") == 0 && i + 1 < argc)
            d.kinds = (unsigned)strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--store") == 0 && i + 1 < argc)
            d.store = str_cstr(argv[++i]);
        else if (strcmp(argv[i], "--host") == 0 && i + 1 < argc)
            add_host(&d, str_cstr(argv[++i]));
        else
            return 2;
    }
    add_env_hosts(&d);
    if (i >= argc || !open_all(&d, argv[i]))
        return 2;
    if (d.serial)
        d.more = argv + i + 1;
    for (i++; i < argc && !d.serial; i++)
        ask(&d, str_cstr(argv[i]));
    status = run(&d);
    fetch_close(d.fetch);
    arena_done(&d.arena);
    return status;
}

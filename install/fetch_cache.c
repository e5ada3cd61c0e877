#include "fetch_cache.h"

#include "mapm/state.h"

static bool find_blob(void *ctx, struct str oid, struct hash *h, uint64_t *size)
{
    return store_find_blob(ctx, oid, h, size);
}

static bool read_blob(void *ctx, const struct hash *h, size_t max_bytes,
                      struct arena *a, struct str *bytes)
{
    struct err ignored = {0};

    return store_read(ctx, h, max_bytes, a, bytes, &ignored);
}

static bool find_trees(void *ctx, struct str repository, struct str commit,
                       struct arena *a, struct str *bytes)
{
    return store_find_trees(ctx, repository, commit, a, bytes);
}

/* Errors are ignored, because the index is a cache and missing rows are fetched
 * again. */
static void put_trees(void *ctx, struct str repository, struct str commit,
                      struct str bytes)
{
    struct err ignored = {0};

    if (!store_put_trees(ctx, repository, commit, bytes, &ignored))
        err_clear(&ignored);
}

static bool is_reachable(void *ctx, struct str repository, struct str commit)
{
    return state_is_reachable(store_state(ctx), repository, commit);
}

static void put_reachable(void *ctx, struct str repository, struct str commit)
{
    struct err ignored = {0};

    if (!store_put_reachable(ctx, repository, commit, &ignored))
        err_clear(&ignored);
}

static bool find_caps(void *ctx, struct str place, struct arena *a,
                      struct str *text)
{
    return store_find_host(ctx, place, a, text);
}

static void put_caps(void *ctx, struct str place, struct str text)
{
    struct err ignored = {0};

    if (!store_put_host(ctx, place, text, &ignored))
        err_clear(&ignored);
}

struct fetch_store fetch_cache(struct store *store)
{
    return (struct fetch_store){.find_blob = find_blob,
                                .read_blob = read_blob,
                                .find_trees = find_trees,
                                .put_trees = put_trees,
                                .is_reachable = is_reachable,
                                .put_reachable = put_reachable,
                                .find_caps = find_caps,
                                .put_caps = put_caps,
                                .ctx = store};
}

struct fetch_store fetch_cache_hosts(struct store *store)
{
    return (struct fetch_store){
        .find_caps = find_caps, .put_caps = put_caps, .ctx = store};
}

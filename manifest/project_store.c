#include "base/hash.h"

#include "project_reader.h"

/* store: {remote: [oci://ghcr.io/acme/mapm], only: false} [S1] */

static bool read_url(struct project_reader *r, const struct yaml *item)
{
    enum team_remote_source source =
        r->role == PROJECT_USER ? TEAM_FROM_CONFIG : TEAM_FROM_WORKSPACE;
    struct team_remotes *list = &r->out.store;
    size_t before = list->count;
    struct team_remote t;
    struct err why = {0};

    if (!team_remote_parse(item->text, source, r->a, &t, &why) ||
        !team_remotes_add(list, &t, 1, r->a, &why)) {
        project_fail(r, item->line, "%s", err_first(&why));
        return err_hint(r->e, "%s", why.hint);
    }
    return list->count > before ||
           project_fail(r, item->line, "%.*s is listed twice", STR_ARG(t.url));
}

static bool read_remote(struct project_reader *r, const struct yaml *y)
{
    if (!project_want_texts(r, y, "a store"))
        return false;
    for (const struct yaml *item = y->first; item; item = item->next)
        if (!read_url(r, item))
            return false;
    return true;
}

static bool read_only(struct project_reader *r, const struct yaml *y)
{
    return project_want_bool(r, y, &r->out.store.only);
}

bool project_read_store(struct project_reader *r, const struct yaml *y)
{
    static const struct project_key keys[] = {
        {STR_INIT("remote"), IN_WORKSPACE | IN_USER, read_remote},
        {STR_INIT("only"), IN_WORKSPACE | IN_USER, read_only},
        {{0}, 0, NULL},
    };

    if (!project_read_keys(r, keys, y))
        return false;
    /* in config.yaml, `only` may refer to MAPM_STORE */
    return r->role == PROJECT_USER || r->out.store.count ||
           !r->out.store.only ||
           project_fail(r, y->key_line, "\"only\" without \"remote\"");
}

bool project_store_digest(const struct project *p, struct hash *out)
{
    struct hash_state state;

    if (p->store.count == 0)
        return false;
    hash_init(&state);
    hash_add(&state, STR("mapm store 1\n"));
    if (p->store.only)
        hash_add(&state, STR("only\n"));
    for (size_t i = 0; i < p->store.count; i++) {
        hash_add(&state, p->store.items[i].url);
        hash_add(&state, STR("\n"));
    }
    *out = hash_end(&state);
    return true;
}

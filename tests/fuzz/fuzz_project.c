/* mapm.yaml, mapm.local.yaml, config.yaml: the first byte says which. Bounded,
 * no crash; a workspace never gets hosts or a program to ask. [row 15]. */
#include "mapm/project.h"

#include <stdlib.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_workspace(const struct project *p)
{
    const struct project_ask *ask = &p->ask;

    if (p->host_count || ask->argc || ask->url.n || ask->key_env.n ||
        ask->key_file.n || str_is(ask->name, "anthropic") ||
        str_is(ask->name, "openai"))
        abort();
    if ((p->sandbox.n && !str_is(p->sandbox, "on")) ||
        str_is(p->metaskills, "all") || str_is(p->keep, "full"))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    enum project_role role;
    struct project p;
    struct hash digest;
    struct err e = {0};

    if (size == 0)
        return 0;
    role = (enum project_role)(data[0] % 3);
    if (!project_parse(str_make((const char *)data + 1, size - 1), role, "m",
                       NULL, &a, &p, &e)) {
        outcome_err(&e);
        if (e.code == ERR_NONE ||
            !str_starts(str_cstr(err_first(&e)), STR("m:")))
            abort();
        return 0;
    }
    if (role != PROJECT_USER)
        check_workspace(&p);
    (void)project_policy_digest(&p, &digest);
    for (size_t i = 0; i < p.root_count; i++)
        OUTCOME("%d %s\n", project_source_allowed(&p, &p.roots[i].origin),
                p.roots[i].origin.key.p);
    return 0;
}

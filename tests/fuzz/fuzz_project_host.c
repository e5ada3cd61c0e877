/* A host added to config.yaml, changed and taken out again: the file stays one
 * that can be read, with that host alone other than before, or nothing is
 * changed. [row 54]. */
#include "mapm/project.h"

#include <stdlib.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool parse(struct str text, struct arena *a, struct project *p)
{
    struct err e = {0};

    return project_parse(text, PROJECT_USER, "c", NULL, a, p, &e);
}

static void check(bool ok)
{
    if (!ok)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct host_config want = {.host = STR_INIT("b.example"),
                               .kind = &git_hosts[1],
                               .token = HOST_TOKEN_NONE,
                               .ports = {8443},
                               .port_count = 1};
    struct str text = str_make((const char *)data, size), after, again;
    const struct host_config *found;
    struct project p, q;
    struct err e = {0};
    bool was_there;

    if (!parse(text, &a, &p)) {
        check(!project_set_host(text, want.host, &want, &a, &after, &e));
        return 0;
    }
    if (!project_set_host(text, want.host, &want, &a, &after, &e))
        return 0;
    outcome_str("", after);
    was_there = host_config_find(want.host, p.hosts, p.host_count) != NULL;
    check(parse(after, &a, &q));
    check(q.host_count == p.host_count + !was_there);
    found = host_config_find(want.host, q.hosts, q.host_count);
    check(found && found->kind == want.kind && found->port_count == 1 &&
          found->token == want.token && found->port == 0);
    check(project_set_host(after, want.host, &want, &a, &again, &e) &&
          str_eq(again, after));
    if (project_set_host(after, want.host, NULL, &a, &again, &e))
        check(parse(again, &a, &q) && q.host_count == p.host_count - was_there);
    return 0;
}

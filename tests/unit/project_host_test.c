#include "mapm/project.h"

#include "tap.h"

/* A host in config.yaml added, changed, taken out: what must change does, and no
 * other byte. [row 47]. */

static struct arena arena;

static struct host_config gitlab(const char *host)
{
    return (struct host_config){.host = str_cstr(host),
                                .kind = git_host_of_kind(STR("gitlab"))};
}

static const char *set(const char *text, const char *host,
                       const struct host_config *want)
{
    struct str out = STR("untouched");
    struct err e = {0};

    if (!project_set_host(str_cstr(text), str_cstr(host), want, &arena, &out,
                          &e)) {
        CHECK(str_is(out, "untouched"));
        CHECK(e.code == ERR_FORMAT || e.code == ERR_LIMIT);
        return "refused";
    }
    return str_dup0(out, &arena);
}

#define I "{host: b.example, kind: gitlab}"

/* clang-format off */
static const struct {
    const char *before, *added, *removed; /* removed: from `added` */
} rows[] = {
    {"", "hosts:\n  - " I "\n", "hosts:\n"},
    {"# mine\n", "# mine\nhosts:\n  - " I "\n", "# mine\nhosts:\n"},
    {"ask: claude", "ask: claude\nhosts:\n  - " I, "ask: claude\nhosts:"},
    {"ask: claude\r\n", "ask: claude\r\nhosts:\r\n  - " I "\r\n", "ask: claude\r\nhosts:\r\n"},
    {"{ask: claude}\n", "{ask: claude, hosts: [" I "]}\n", "{ask: claude, hosts: []}\n"},
    {"{}\n", "{hosts: [" I "]}\n", "{hosts: []}\n"},
    {"hosts:\nask: claude\n", "hosts:\n  - " I "\nask: claude\n", "hosts:\nask: claude\n"},
    {"hosts: # none\n", "hosts: # none\n  - " I "\n", "hosts: # none\n"},
    {"hosts: null\n", "hosts: [" I "]\n", "hosts: []\n"},
    {"hosts: []\n", "hosts:\n  - " I "\n", "hosts:\n"},
    {"hosts: [a.example] # a\n", "hosts: [a.example, " I "] # a\n", "hosts: [a.example] # a\n"},
    {"hosts: [\n  a.example, # a\n]\n", "hosts: [\n  a.example, # a\n  " I ",\n]\n", "hosts: [\n  a.example, # a\n]\n"},
    {"hosts:\n- a.example # a\n# end\n", "hosts:\n- a.example # a\n- " I "\n# end\n", "hosts:\n- a.example # a\n# end\n"},
    {"hosts:\n  - host: a.example\n    kind: gitea\nask: claude\n", "hosts:\n  - host: a.example\n    kind: gitea\n  - " I "\nask: claude\n", "hosts:\n  - host: a.example\n    kind: gitea\nask: claude\n"},
    {"hosts: {a: b}\n", "refused", "refused"},
    {"hosts: [b.example.]\n", "refused", "refused"},
    {"hosts: [a.example, a.example]\n", "refused", "refused"},
    {"- a\n", "refused", "refused"},
    {"what: else\n", "refused", "refused"},
};

static const struct {
    const char *before, *after;
} changes[] = {
    {"hosts: [b.example]\n", "hosts: [{host: b.example, kind: gitlab, token: none}]\n"},
    {"hosts:\n  - b.example # b\n", "hosts:\n  - {host: b.example, kind: gitlab, token: none} # b\n"},
    {"hosts:\n  - {kind: gitlab, host: b.example} # b\n", "hosts:\n  - {kind: gitlab, host: b.example, token: none} # b\n"},
    {"hosts:\n  - host: b.example # b\n    # k\n    kind: gitea # g\n", "hosts:\n  - host: b.example # b\n    # k\n    kind: gitlab # g\n    token: none\n"},
    {"hosts:\n  - kind: gitlab\n    token: env:X # x\n    host: b.example\n", "hosts:\n  - kind: gitlab\n    token: none # x\n    host: b.example\n"},
    {"hosts:\n  - kind: gitlab # k\n    port: 1\n    host: b.example\n    token: none\n", "hosts:\n  - {host: b.example, kind: gitlab, token: none}\n"},
    {"hosts: [{host: b.example, kind: gitlab, ports: [1, 2]}]\n", "hosts: [{host: b.example, kind: gitlab, token: none}]\n"},
};
/* clang-format on */

TEST(a_host_comes_and_goes)
{
    struct host_config want = gitlab("b.example");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *added = set(rows[i].before, "b.example", &want);

        CHECK_STR(added, rows[i].added);
        CHECK_STR(set(added, "b.example", &want), added);
        CHECK_STR(set(added, "b.example", NULL), rows[i].removed);
    }
    arena_done(&arena);
}

TEST(a_host_is_changed_in_its_place)
{
    struct host_config want = gitlab("b.example");

    want.token = HOST_TOKEN_NONE;
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        CHECK_STR(set(changes[i].before, "b.example", &want), changes[i].after);
        CHECK_STR(set(changes[i].after, "b.example", &want), changes[i].after);
    }
    arena_done(&arena);
}

TEST(an_item_with_all_keys)
{
    struct host_config want = gitlab("b.example");
    struct host_config home = {.host = STR_INIT("github.com"),
                               .kind = &git_hosts[0]};

    want.transport = HOST_OVER_SSH;
    want.port = 2222;
    want.ports[want.port_count++] = 8443;
    want.ports[want.port_count++] = 9443;
    want.token = HOST_TOKEN_VARIABLE;
    want.variable = STR("B_TOKEN");
    CHECK_STR(set("", "b.example", &want),
              "hosts:\n  - {host: b.example, kind: gitlab, transport: ssh, "
              "port: 2222, token: env:B_TOKEN, ports: [8443, 9443]}\n");
    CHECK_STR(set("", "github.com", &home), "hosts:\n  - github.com\n");
    home.token = HOST_TOKEN_GIT;
    CHECK_STR(set("", "github.com", &home),
              "hosts:\n  - {host: github.com, token: git}\n");
    arena_done(&arena);
}

/* clang-format off */
static const struct {
    const char *host, *path, *kind; /* "": of several */
} shapes[] = {
    {"x.example", "g/r/-/tree/main/a", "gitlab"},
    {"x.example", "/g/s/r/-/blob/main/a?x#y", "gitlab"},
    {"x.example", "o/r/src/branch/main/x", "gitea"},
    {"x.example", "o/r/src/tag/v1", "gitea"},
    {"x.example", "projects/K/repos/r/browse/x", "bitbucket-dc"},
    {"x.example", "scm/K/r.git", "bitbucket-dc"},
    {"x.example", "tfs/C/P/_git/r?path=/x", "azure"},
    {"x.example", "r/+/refs/heads/main/x", "gitiles"},
    {"x.example", "o/r/tree/main/x", "github"},
    {"x.example", "o/r/blob/main/x/SKILL.md", "github"},
    {"x.example", "o/r", ""},
    {"x.example", "o/r.git", ""},
    {"x.example", "", ""},
};
/* clang-format on */

TEST(the_form_of_an_address_tells_the_kind)
{
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        const struct git_host *g = host_kind_by_shape(str_cstr(shapes[i].host),
                                                      str_cstr(shapes[i].path));

        CHECK_STR(g ? g->names[0] : "", shapes[i].kind);
    }
}

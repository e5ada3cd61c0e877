/* install_plan and install_apply with a host that is a table. */
#include "base/fs.h"
#include "base/proc.h"
#include "mapm/install.h"
#include "mapm/install_query.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "../lib/tap.h"

static char top[] = "/tmp/mapm-install-XXXXXX";

/* --- a workspace of its own ------------------------------------------------ */

static void put(const char *path, const char *text)
{
    struct arena a = {0};
    struct err e = {0};
    struct str file = arena_printf(&a, "%s/%s", top, path);
    struct str folder = str_slice(file, 0, str_find_last(file, '/'));
    FILE *out;

    if (!fs_make_dirs(str_dup0(folder, &a), 0755, &e))
        abort();
    out = fopen(file.p, "w");
    if (!out || fputs(text, out) < 0 || fclose(out) != 0)
        abort();
    arena_done(&a);
}

static bool is_there(const char *path)
{
    char file[256];

    snprintf(file, sizeof file, "%s/%s", top, path);
    return access(file, F_OK) == 0;
}

__attribute__((constructor)) static void set_up(void)
{
    char home[64];

    proc_init();
    if (!mkdtemp(top))
        abort();
    unsetenv("CI");
    unsetenv("XDG_CONFIG_HOME");
    snprintf(home, sizeof home, "%s/home", top);
    setenv("HOME", home, 1);
    setenv("MAPM_HOME", home, 1);
    put("a/SKILL.md", "---\nname: a\ndescription: Adds numbers.\n"
                      "version: 1.0.0\n---\nAdd.\n");
    put("acme_tool.json", "{\"_meta\": {\"name\": \"acme/tool\"}, \"type\": "
                          "\"stdio\", \"command\": \"tool\", \"args\": []}\n");
}

__attribute__((destructor)) static void tear_down(void)
{
    struct err e = {0};

    if (!fs_remove_tree_at(AT_FDCWD, top, &e))
        abort();
}

/* --- the host --------------------------------------------------------------- */

struct answers {
    bool yes;
    unsigned questions;
};

static bool answer(void *ctx, enum question_kind kind, const char *question,
                   bool *yes, struct err *e)
{
    struct answers *answers = ctx;

    (void)question, (void)e;
    CHECK(kind == QUESTION_CONSENT);
    answers->questions++;
    *yes = answers->yes;
    return true;
}

struct install_case {
    struct answers answers;
    struct host host;
    struct context cx;
    struct str argument;
    struct install_request request;
};

static void begin(struct install_case *c, const char *workspace,
                  const char *origin)
{
    char path[256];
    struct arena *a = &c->cx.arena;

    *c = (struct install_case){.host = {.confirm = answer}};
    c->host.ctx = &c->answers;
    c->cx.host = &c->host;
    snprintf(path, sizeof path, "%s/x", workspace);
    put(path, "");
    c->cx.cwd = arena_printf(a, "%s/%s", top, workspace);
    c->cx.home = arena_printf(a, "%s/home", top);
    c->argument = arena_printf(a, "file:%s/%s", top, origin);
    c->request.arguments = (struct str_list){&c->argument, 1};
}

static void end(struct install_case *c)
{
    arena_done(&c->cx.arena);
}

/* --- tests ------------------------------------------------------------------ */

TEST(a_plan_changes_nothing)
{
    struct install_plan *plan;
    struct err e = {0};
    struct install_case c;

    begin(&c, "one", "a");
    CHECK(install_plan(&c.cx, &c.request, &plan, &e));
    CHECK_STR(err_first(&e), "");
    CHECK(plan && plan->package_count == 1 && plan->change_count > 0);
    CHECK(str_is(plan->packages[0].package->fqn, "a"));
    CHECK(str_is(plan->packages[0].package->version, "1.0.0"));
    CHECK(plan->packages[0].action == INSTALL_ADD);
    CHECK(plan->packages[0].is_root && plan->packages[0].is_local);
    CHECK(plan->consent_count == 0 && plan->removed_count == 0);
    install_close(plan);
    CHECK(!is_there("one/.agents/skills/a"));
    CHECK(!is_there("one/mapm.local.yaml"));
    end(&c);
}

TEST(an_applied_plan_leaves_nothing_to_do)
{
    struct install_result result;
    struct install_plan *plan;
    struct err e = {0};
    struct install_case c;

    begin(&c, "two", "a");
    CHECK(install_plan(&c.cx, &c.request, &plan, &e) &&
          install_apply(plan, &result, &e));
    install_close(plan);
    CHECK(is_there("two/.agents/skills/a/SKILL.md"));
    CHECK(is_there("two/mapm.local.lock"));
    CHECK(c.answers.questions == 0);
    CHECK(install_plan(&c.cx, &c.request, &plan, &e));
    CHECK(plan && plan->package_count == 1 && plan->change_count == 0);
    CHECK(plan->packages[0].action == INSTALL_KEEP);
    install_close(plan);
    end(&c);
}

TEST(a_server_needs_consent_of_the_host)
{
    struct install_result result;
    struct install_plan *plan;
    struct err e = {0};
    struct install_case c;

    begin(&c, "three", "acme_tool.json");
    CHECK(install_plan(&c.cx, &c.request, &plan, &e));
    CHECK(plan && plan->consent_count == 1);
    CHECK(plan->packages[0].needs_consent);
    CHECK_STR(plan->packages[0].command, "tool");
    CHECK(!install_apply(plan, &result, &e) && e.code == ERR_REFUSED);
    CHECK(c.answers.questions == 1);
    CHECK(!is_there("three/.mcp.json"));
    err_clear(&e);
    c.answers.yes = true;
    CHECK(install_apply(plan, &result, &e));
    install_close(plan);
    CHECK(c.answers.questions == 2);
    CHECK(is_there("three/.mcp.json"));
    end(&c);
}

static bool is_cancelled(void *ctx)
{
    (void)ctx;
    return true;
}

/* Before the network is asked: mapm-fetch does not stand beside this test. */
TEST(a_host_that_cancels_interrupts_a_plan)
{
    struct install_plan *plan = NULL;
    struct err e = {0};
    struct install_case c;

    begin(&c, "cancelled", "a");
    c.host.cancelled = is_cancelled;
    c.argument = STR("https://github.com/acme/tools/tree/main/skills/x");
    CHECK(!install_plan(&c.cx, &c.request, &plan, &e));
    CHECK(plan == NULL && e.code == ERR_INTERRUPTED);
    CHECK(!is_there("cancelled/mapm.yaml"));
    end(&c);
}

TEST(consent_given_beforehand_asks_nobody)
{
    struct install_result result;
    struct install_plan *plan;
    struct err e = {0};
    struct install_case c;

    begin(&c, "four", "acme_tool.json");
    c.request.is_consented = true;
    c.cx.host = NULL;
    CHECK(install_plan(&c.cx, &c.request, &plan, &e) &&
          install_apply(plan, &result, &e));
    install_close(plan);
    CHECK(is_there("four/.mcp.json"));
    end(&c);
}

TEST(a_catalog_without_a_choice_is_an_offer)
{
    struct install_plan *plan;
    struct err e = {0};
    struct install_case c;

    put("catalog/skills/b/SKILL.md", "---\nname: b\ndescription: B.\n---\n.\n");
    begin(&c, "five", "catalog");
    CHECK(install_plan(&c.cx, &c.request, &plan, &e));
    CHECK(plan && plan->is_offer && plan->package_count == 0);
    CHECK(plan->catalog_count == 1 && plan->catalogs[0].offer_count == 1);
    CHECK(str_is(plan->catalogs[0].offers[0].name, "b"));
    install_close(plan);
    end(&c);
}

TEST(a_failed_plan_is_closed)
{
    struct install_plan *plan;
    struct err e = {0};
    struct install_case c;

    begin(&c, "six", "nothing");
    CHECK(!install_plan(&c.cx, &c.request, &plan, &e) && !plan);
    err_clear(&e);
    install_close(plan);
    c.argument = arena_printf(&c.cx.arena, "file:%s/a", top);
    CHECK(install_plan(&c.cx, &c.request, &plan, &e)); /* the lock is free */
    install_close(plan);
    end(&c);
}

TEST(verify_finds_an_edited_file)
{
    struct install_verification v;
    struct install_result result;
    struct install_plan *plan;
    struct err e = {0};
    struct install_case c;

    begin(&c, "seven", "a");
    CHECK(install_plan(&c.cx, &c.request, &plan, &e) &&
          install_apply(plan, &result, &e));
    install_close(plan);
    CHECK(install_verify(&c.cx, false, &v, &e));
    CHECK(v.count == 0 && v.package_count == 1 && v.digest_only_count == 1);
    put("seven/.agents/skills/a/SKILL.md", "edited\n");
    CHECK(install_verify(&c.cx, false, &v, &e));
    CHECK(v.count == 1 && v.differences[0].side == INSTALL_SIDE_WORKSPACE);
    CHECK_STR(v.count ? v.differences[0].how : "", "changed");
    end(&c);
}

#include "base/fs.h"
#include "base/json_record.h"
#include "mapm/install.h"
#include "mapm/layer.h"
#include "mapm/scaffold.h"

#include <unistd.h>

#include "command.h"

/* new: a package from a template. */

static const struct json_member package_members[] = {
    JSON_MEMBER_NAMED(struct scaffold_package, "type", kind, doc_kind_name),
    JSON_MEMBER(struct scaffold_package, "fqn", fqn),
    JSON_MEMBER(struct scaffold_package, "path", path),
    JSON_MEMBER(struct scaffold_package, "files", files),
};
JSON_RECORD(package, struct scaffold_package);

static void print_result(struct invocation *inv,
                         const struct scaffold_package *p)
{
    if (has_option(inv, OPTION_JSON)) {
        print_json_record(inv, "mapm.new/1", NULL, &package_record, p);
        return;
    }
    for (size_t i = 0; i < p->files.count; i++)
        term_print(&inv->term, "wrote %.*s\n", STR_ARG(p->files.items[i]));
    term_note(&inv->term, "next: %s", p->next);
}

static bool add_root(struct invocation *inv, struct str origin, struct err *e)
{
    struct install_request request = {.command = INSTALL_INSTALL,
                                      .arguments = {&origin, 1}};
    struct install_result result;
    struct install_plan *plan = NULL;
    bool ok = install_plan(&inv->cx, &request, &plan, e) &&
              install_apply(plan, &result, e);

    install_close(plan);
    if (!ok)
        return err_wrap(e, "cannot add %.*s to mapm.yaml", STR_ARG(origin));
    term_note(&inv->term, "%.*s stands in mapm.yaml, and is linked",
              STR_ARG(origin));
    return true;
}

/* An MCP file is not offered: the user has to write the command of its server
 * first. */
static bool offer_root(struct invocation *inv, const struct scaffold_package *p,
                       struct err *e)
{
    struct context *cx = &inv->cx;
    struct str origin = str_join(STR("./"), p->path, &cx->arena);
    struct str file =
        fs_join(layer_workspace(cx), STR("mapm.yaml"), &cx->arena);
    bool yes = false;

    if (has_option(inv, OPTION_JSON))
        return true;
    if (p->kind != DOC_MCP && context_can_ask(cx) &&
        access(file.p, F_OK) == 0) {
        if (!term_ask(&inv->term,
                      arena_printf(&cx->arena, "Add %.*s to mapm.yaml?",
                                   STR_ARG(origin))
                          .p,
                      &yes, e))
            return false;
        if (yes)
            return add_root(inv, origin, e);
    }
    term_note(&inv->term, "to use it here: mapm install %.*s", STR_ARG(origin));
    return true;
}

COMMAND(command_new)
{
    const struct scaffold_request request = {
        .word = inv->arguments.items[0],
        .name = inv->arguments.items[1],
        .scope = option_value(inv, OPTION_SCOPE),
        .description = option_value(inv, OPTION_DESCRIPTION)};
    struct scaffold_package p;

    if (!scaffold_package(&inv->cx, &request, &p, e))
        return false;
    print_result(inv, &p);
    return offer_root(inv, &p, e);
}

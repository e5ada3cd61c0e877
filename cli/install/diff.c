#include "diff.h"

#include "mapm/doc_kind.h"
#include "mapm/mcp_file.h"

#include <stdio.h>

#include "pager.h"

/* diff: prints local edits as a patch; for update --diff and diff NAME@REF, the
 * changes of an update. Lines that are not part of a patch begin with "# ",
 * which git apply and patch ignore. */

#define SHORT_COMMIT_CHARS 10
#define SHOWN_MAX_BYTES    ((size_t)64 * 1024 * 1024) /* of a file */

/* --- as a patch ------------------------------------------------------------- */

/* Returns the style of a line as in git: lines of a hunk by their sign, headers
 * in bold. */
static enum term_style style_of(struct str line, bool *in_hunk)
{
    if (str_starts(line, STR("@@"))) {
        *in_hunk = true;
        return TERM_CYAN;
    }
    *in_hunk &= !str_starts(line, STR("diff --git "));
    if (!*in_hunk)
        return TERM_BOLD;
    if (str_starts(line, STR("+")))
        return TERM_GREEN;
    return str_starts(line, STR("-")) ? TERM_RED : TERM_PLAIN;
}

/* Prints text with "# " before each line, so that it is not applied as a
 * patch. */
static void show_quoted(struct term *t, struct str text)
{
    struct str line;

    while (str_line(&text, &line))
        term_print(t, "#%s%.*s\n", line.n ? " " : "", STR_ARG(line));
}

void diff_show_patch(struct term *t, struct str patch)
{
    bool in_hunk = false;
    struct str line;

    if (!t->color_out) {
        term_content(t, patch);
        return;
    }
    while (patch.n && str_cut(&patch, '\n', &line)) {
        term_style_content(t, style_of(line, &in_hunk), line);
        term_write(t, STR("\n"));
    }
}

static void show_file(struct term *t, bool is_quoted,
                      const struct patch_file *f)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SHOWN_MAX_BYTES);
    patch_format(f, &b);
    if (is_quoted)
        show_quoted(t, buf_str(&b));
    else
        diff_show_patch(t, buf_str(&b));
}

/* Writes "1.2.0 (3f6c…)". Version or commit may be missing. */
static void put_version(struct buf *b, struct str version, struct str commit)
{
    buf_append(b, version);
    commit = str_slice(commit, 0, SHORT_COMMIT_CHARS);
    if (commit.n)
        buf_printf(b, version.n ? " (%.*s)" : "%.*s", STR_ARG(commit));
}

/* Prints "# skill acme/x: update 1.2.0 (3f6c…) -> 1.3.0 (8a01…)". */
static void show_title(struct term *t, const struct install_package_diff *p)
{
    CLEANUP(buf_done) struct buf old = {0}, new = {0};

    buf_init(&old, 4096);
    buf_init(&new, 4096);
    put_version(&old, p->old_version, p->old_commit);
    put_version(&new, p->version, p->commit);
    term_style_print(t, TERM_YELLOW, "# %s %.*s: %s %.*s%s%.*s\n",
                     doc_kind_name(p->kind), STR_ARG(p->name), p->action,
                     STR_ARG(buf_str(&old)), old.n && new.n ? " -> " : "",
                     STR_ARG(buf_str(&new)));
}

static bool is_remote(const char *command)
{
    return mcp_line_is_remote(str_cstr(command));
}

static void show_package(struct term *t, const struct install_package_diff *p)
{
    if (p->action)
        show_title(t, p);
    if (p->problem)
        term_print(t, "# %s\n", p->problem);
    if (p->old_command)
        term_style_print(t, TERM_RED, "# %s%s\n",
                         is_remote(p->old_command) ? "connected to: "
                                                   : "ran:  ",
                         p->old_command);
    if (p->command)
        term_style_print(
            t, TERM_GREEN, "# %s%s\n",
            is_remote(p->command) ? "connects to: " : "runs: ", p->command);
    show_quoted(t, p->changelog);
    for (size_t i = 0; i < p->count; i++)
        show_file(t, p->action && p->kind == DOC_MCP, &p->files[i]);
}

/* --- as JSON ---------------------------------------------------------------- */

static void json_mode(struct json_writer *w, const char *key,
                      const struct patch_side *side)
{
    char text[16];
    int n = snprintf(text, sizeof text, "%06o", side->mode);

    if (side->mode)
        json_member_string(w, key, str_make(text, (size_t)n));
}

static void json_file(struct json_writer *w, const struct patch_file *f)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SHOWN_MAX_BYTES);
    patch_format(f, &b);
    json_begin_object(w);
    json_member_string(w, "path", f->path);
    json_member_string(w, "change",
                       !f->before.mode  ? STR("added")
                       : !f->after.mode ? STR("removed")
                                        : STR("changed"));
    json_mode(w, "old_mode", &f->before);
    json_mode(w, "mode", &f->after);
    json_member_bool(w, "binary", patch_is_binary(f));
    json_member_string(w, "diff", buf_str(&b));
    json_end_object(w);
}

static void json_package(struct json_writer *w,
                         const struct install_package_diff *p)
{
    json_begin_object(w);
    json_member_string(w, "type", str_cstr(doc_kind_name(p->kind)));
    json_member_string(w, "name", p->name);
    json_member_string(w, "path", p->path);
    json_member_optional(w, "action", str_cstr(p->action));
    json_member_optional(w, "old_version", p->old_version);
    json_member_optional(w, "version", p->version);
    json_member_optional(w, "old_commit", p->old_commit);
    json_member_optional(w, "commit", p->commit);
    json_member_optional(w, "old_command", str_cstr(p->old_command));
    json_member_optional(w, "command", str_cstr(p->command));
    json_member_optional(w, "changelog", p->changelog);
    json_member_optional(w, "problem", str_cstr(p->problem));
    json_member_array(w, "files");
    for (size_t i = 0; i < p->count; i++)
        json_file(w, &p->files[i]);
    json_end_array(w);
    json_end_object(w);
}

static void print_diff_json(struct invocation *inv,
                            const struct install_diff *d)
{
    struct json_writer *w = print_json_begin(inv, "mapm.diff/1", NULL);

    json_member_string(w, "workspace", d->workspace);
    json_member_array(w, "packages");
    for (size_t i = 0; i < d->count; i++)
        json_package(w, &d->packages[i]);
    json_end_array(w);
    print_json_end(inv);
}

bool diff_show(struct invocation *inv, const struct install_diff *d,
               struct err *e)
{
    struct pager pager;

    if (has_option(inv, OPTION_JSON)) {
        print_diff_json(inv, d);
        return true;
    }
    if (d->count == 0)
        return true;
    pager_start(&pager, inv);
    for (size_t i = 0; i < d->count && inv->term.out_errno == 0; i++)
        show_package(&inv->term, &d->packages[i]);
    return pager_end(&pager, inv, e);
}

/* --- the command ------------------------------------------------------------ */

static bool has_ref(struct str argument)
{
    size_t at = str_find_char(argument, '@');

    return at != SIZE_MAX && at > 0;
}

/* Shows the changes to NAME@REF by a dry run of an install at that ref. */
static bool show_refs(struct invocation *inv, struct install_diff *d,
                      struct err *e)
{
    size_t count = inv->arguments.count;
    struct str *origins =
        arena_array(&inv->cx.arena, count + 1, sizeof *origins);
    struct install_request r = {
        .command = INSTALL_INSTALL,
        .arguments = {origins, count},
        .dry_run = true,
        .compares = true,
        .allow_hidden = has_option(inv, OPTION_ALLOW_HIDDEN),
    };
    struct install_plan *plan;
    bool ok;

    for (size_t i = 0; i < count; i++) {
        struct str name = inv->arguments.items[i];
        size_t at = str_find_char(name, '@');

        if (!install_origin_at(&inv->cx, str_slice(name, 0, at),
                               str_from_index(name, at + 1), &origins[i], e))
            return false;
    }
    if (!install_plan(&inv->cx, &r, &plan, e))
        return false;
    ok = install_diff_plan(plan, d, e) && diff_show(inv, d, e);
    install_close(plan);
    return ok;
}

COMMAND(command_diff)
{
    size_t refs = 0, count = inv->arguments.count;
    struct install_diff d;

    for (size_t i = 0; i < count; i++)
        refs += has_ref(inv->arguments.items[i]);
    if (refs && refs < count) {
        err_set(e, ERR_USAGE,
                "mapm diff takes names, or names with a ref: not both");
        return err_hint(e,
                        "usage: mapm diff NAME..., or mapm diff NAME@REF...");
    }
    if (refs ? !show_refs(inv, &d, e)
             : !install_diff_edits(
                   &inv->cx, (struct str_list){inv->arguments.items, count}, &d,
                   e) ||
                   !diff_show(inv, &d, e))
        return false;
    *exit_code = d.count && has_option(inv, OPTION_EXIT_CODE) ? EXIT_FINDINGS
                                                              : EXIT_DONE;
    return true;
}

#include "base/text.h"
#include "mapm/discover.h"
#include "mapm/doc_kind.h"
#include "mapm/install_info.h"
#include "mapm/mcp_file.h"
#include "mapm/origin.h"
#include "mapm/project.h"

#include <stdio.h>

#include "command.h"
#include "install/install_show.h"

/* info: what a package is, without installing it (G7). */

#define LABEL_WIDTH     12
#define FILES_MAX_SHOWN 20

/* Returns "" if the date is unknown. */
static const char *date_of(const struct install_info *p,
                           char out[TEXT_TIME_BYTES])
{
    return p->time ? text_utc((int64_t)p->time, "%Y-%m-%d", out) : "";
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* --- as JSON -------------------------------------------------------------- */

static const struct json_member file_members[] = {
    JSON_MEMBER(struct info_file, "path", path),
    JSON_MEMBER(struct info_file, "bytes", bytes),
    JSON_MEMBER(struct info_file, "executable", is_executable),
};
JSON_RECORD(file, struct info_file);

static const struct json_member need_members[] = {
    JSON_MEMBER_NAMED(struct install_link, "type", kind, doc_kind_name),
    JSON_MEMBER(struct install_link, "origin", origin),
};
JSON_RECORD(need, struct install_link);

static const struct json_member part_members[] = {
    JSON_MEMBER_NAMED(struct install_offer, "type", kind, doc_kind_name),
    JSON_MEMBER(struct install_offer, "name", name),
    JSON_MEMBER_OR_NULL(struct install_offer, "path", path),
    JSON_MEMBER_OR_NULL(struct install_offer, "description", description),
    JSON_MEMBER_OR_NULL(struct install_offer, "command", command),
    JSON_MEMBER(struct install_offer, "tokens", tokens),
    JSON_MEMBER_OR_NULL(struct install_offer, "problem", problem),
};
JSON_RECORD(part, struct install_offer);

static const struct json_member other_members[] = {
    JSON_MEMBER(struct plugin_other, "kind", kind),
    JSON_MEMBER(struct plugin_other, "count", count),
    JSON_MEMBER(struct plugin_other, "where", where),
};
JSON_RECORD(other, struct plugin_other);

static const struct json_member head_members[] = {
    JSON_MEMBER_NAMED(struct install_info, "type", kind, doc_kind_name),
    JSON_MEMBER(struct install_info, "name", name),
    JSON_MEMBER_OR_NULL(struct install_info, "version", version),
    JSON_MEMBER_OR_NULL(struct install_info, "description", description),
    JSON_MEMBER_OR_NULL(struct install_info, "license", license),
    JSON_MEMBER_OR_NULL(struct install_info, "license_file", license_file),
    JSON_MEMBER_OR_NULL(struct install_info, "license_text", license_text),
    JSON_MEMBER(struct install_info, "proprietary", is_proprietary),
};
JSON_RECORD(head, struct install_info);

static const struct json_member source_members[] = {
    JSON_MEMBER(struct install_info, "origin", origin),
    JSON_MEMBER_OR_NULL(struct install_info, "from", from),
    JSON_MEMBER_OR_NULL(struct install_info, "ref", ref),
    JSON_MEMBER_OR_NULL(struct install_info, "commit", commit),
};
JSON_RECORD(source, struct install_info);

static const struct json_member content_members[] = {
    JSON_MEMBER(struct install_info, "digest", digest),
    JSON_MEMBER_OR_NULL(struct install_info, "installed_as", installed_name),
    JSON_MEMBER_OR_NULL(struct install_info, "installed_commit",
                        installed_commit),
    JSON_MEMBER(struct install_info, "patched", is_patched),
    JSON_MEMBER(struct install_info, "without", without),
    JSON_MEMBER_RECORDS(struct install_info, "files", files, file_count,
                        file_record),
    JSON_MEMBER(struct install_info, "bytes", bytes),
    JSON_MEMBER(struct install_info, "tokens", tokens),
    JSON_MEMBER(struct install_info, "list_tokens", list_tokens),
    JSON_MEMBER_RECORDS(struct install_info, "needs", needs, need_count,
                        need_record),
    JSON_MEMBER_OR_NULL(struct install_info, "command", command),
    JSON_MEMBER_OR_NULL(struct install_info, "program", program),
    JSON_MEMBER_OR_NULL(struct install_info, "hooks", hooks),
    JSON_MEMBER_OR_NULL(struct install_info, "allowed_tools", tools),
    JSON_MEMBER_OR_NULL(struct install_info, "compatibility", compatibility),
    JSON_MEMBER_OR_NULL(struct install_info, "prereqs", prereqs),
    JSON_MEMBER(struct install_info, "hidden_characters", is_hidden),
    JSON_MEMBER(struct install_info, "disable_model_invocation", is_disabled),
    JSON_MEMBER_RECORDS(struct install_info, "parts", parts, part_count,
                        part_record),
    JSON_MEMBER_RECORDS(struct install_info, "not_installed", others,
                        other_count, other_record),
};
JSON_RECORD(content, struct install_info);

static void put_source(struct json_writer *w, const struct install_info *p)
{
    char date[TEXT_TIME_BYTES];

    json_put_members(w, &source_record, p);
    json_member_optional(w, "date", str_cstr(date_of(p, date)));
}

static void print_info_json(struct invocation *inv,
                            const struct install_info *p)
{
    struct json_writer *w = print_json_begin(inv, "mapm.info/1", NULL);

    if (p->is_catalog) {
        json_member_string(w, "type", STR("catalog"));
        put_source(w, p);
        install_put_offers(w, &p->catalog);
    } else {
        json_put_members(w, &head_record, p);
        put_source(w, p);
        json_put_members(w, &content_record, p);
        if (has_option(inv, OPTION_README))
            json_member_string(w, "readme", p->body);
    }
    print_json_end(inv);
}

/* --- as text -------------------------------------------------------------- */

static void show(struct term *t, const char *label, struct str text)
{
    CLEANUP(arena_done) struct arena a = {0};

    if (text.n == 0)
        return;
    term_style_print(t, TERM_DIM, "%-*s", LABEL_WIDTH, label);
    term_print(t, " %.*s\n", STR_ARG(text_one_line(text, &a)));
}

static void show_source(struct term *t, const struct install_info *p,
                        struct arena *a)
{
    char text[TEXT_TIME_BYTES];
    const char *date = date_of(p, text);

    show(t, "origin", p->origin);
    show(t, "from", p->from);
    if (p->commit.n)
        show(t, "commit",
             arena_printf(a, "%.*s%s%.*s%s%s%s", STR_ARG(p->commit),
                          p->ref.n || date[0] ? " (" : "", STR_ARG(p->ref),
                          p->ref.n && date[0] ? ", " : "", date,
                          p->ref.n || date[0] ? ")" : ""));
}

/* "Proprietary. LICENSE.txt has … (LICENSE.txt: proprietary)". */
static void show_license(struct term *t, const struct install_info *p,
                         struct arena *a)
{
    struct str file = {"", 0};

    if (p->license_file.n)
        file = arena_printf(a, "%s%.*s%s%.*s%s", p->license.n ? " (" : "",
                            STR_ARG(p->license_file),
                            p->license_text.n ? ": " : "",
                            STR_ARG(p->license_text), p->license.n ? ")" : "");
    show(t, "license",
         p->license.n || file.n ? str_join(p->license, file, a)
                                : STR("none is declared"));
    if (p->is_proprietary)
        term_style_print(t, TERM_YELLOW, "%-*s %s\n", LABEL_WIDTH, "",
                         "proprietary: read its terms before you use it");
}

static void show_installed(struct term *t, const struct install_info *p,
                           struct arena *a)
{
    bool differs =
        p->installed_commit.n && !str_eq(p->installed_commit, p->commit);

    if (p->is_installed)
        show(t, "installed",
             arena_printf(a, "as %.*s%s%.*s%s%s%.*s",
                          STR_ARG(p->installed_name),
                          differs ? ", at commit " : "",
                          STR_ARG(str_slice(
                              differs ? p->installed_commit : STR(""), 0, 10)),
                          p->is_patched ? ", with a patch" : "",
                          p->without.count ? ", without " : "",
                          STR_ARG(project_parts_text(p->without, a))));
}

static void show_tokens(struct term *t, const struct install_info *p,
                        struct arena *a)
{
    if (p->tokens)
        show(t, "tokens",
             arena_printf(
                 a, "about %zu when it is loaded%s", p->tokens,
                 p->list_tokens && !p->is_disabled
                     ? str_dup0(arena_printf(a, ", %zu in a client's list",
                                             p->list_tokens),
                                a)
                     : ""));
}

static void show_files(struct invocation *inv, const struct install_info *p)
{
    struct term *t = &inv->term;
    bool each = has_option(inv, OPTION_VERBOSE);
    char size[16];
    size_t programs = 0;

    for (size_t i = 0; i < p->file_count; i++)
        programs += p->files[i].is_executable;
    show(t, "files",
         arena_printf(&inv->cx.arena, "%zu (%s), %zu executable", p->file_count,
                      text_bytes(p->bytes, size), programs));
    for (size_t i = 0; i < p->file_count && (each || i < FILES_MAX_SHOWN); i++)
        term_print(t, "  %8s%s %.*s\n", text_bytes(p->files[i].bytes, size),
                   p->files[i].is_executable ? "*" : " ",
                   STR_ARG(text_shown(p->files[i].path, &inv->cx.arena)));
    if (!each && p->file_count > FILES_MAX_SHOWN)
        term_print(t, "  and %zu more (-v lists them)\n",
                   p->file_count - FILES_MAX_SHOWN);
}

static void show_part(struct term *t, const struct install_offer *part)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str text = part->kind == DOC_MCP ? part->command : part->description;

    term_print(t, "  %-5s %-24.*s ", doc_kind_name(part->kind),
               STR_ARG(text_shown(part->name, &a)));
    if (part->tokens)
        term_print(t, "%6zu tokens  ", part->tokens);
    term_print(t, "%.*s\n", STR_ARG(text_one_line(text, &a)));
    if (part->problem.n)
        term_style_print(t, TERM_YELLOW, "        left out: %.*s\n",
                         STR_ARG(text_one_line(part->problem, &a)));
}

static void show_parts(struct term *t, const struct install_info *p)
{
    CLEANUP(arena_done) struct arena a = {0};

    if (p->part_count)
        term_style_print(t, TERM_DIM, "parts\n");
    for (size_t i = 0; i < p->part_count; i++)
        show_part(t, &p->parts[i]);
    if (p->other_count)
        term_style_print(t, TERM_DIM, "not installed\n");
    for (size_t i = 0; i < p->other_count; i++)
        term_print(t, "  %zu %.*s in %.*s\n", p->others[i].count,
                   STR_ARG(text_shown(p->others[i].kind, &a)),
                   STR_ARG(text_shown(p->others[i].where, &a)));
}

static void show_package(struct invocation *inv, const struct install_info *p)
{
    struct arena *a = &inv->cx.arena;
    struct term *t = &inv->term;

    term_print(t, "%s ", doc_kind_name(p->kind));
    term_style_print(t, TERM_BOLD, "%.*s", STR_ARG(p->name));
    term_print(t, "%s%.*s\n", p->version.n ? " " : "",
               STR_ARG(text_shown(p->version, a)));
    if (p->description.n)
        term_print(t, "%.*s\n", STR_ARG(text_one_line(p->description, a)));
    term_print(t, "\n");
    show_source(t, p, a);
    show_license(t, p, a);
    show_installed(t, p, a);
    show(t, "needs by hand", p->prereqs);
    show(t, "works with", p->compatibility);
    for (size_t i = 0; i < p->need_count; i++)
        show(t, i ? "" : "needs",
             arena_printf(a, "%s %.*s", doc_kind_name(p->needs[i].kind),
                          STR_ARG(p->needs[i].origin)));
    show(t, mcp_line_is_remote(p->command) ? "connects to" : "runs",
         p->command);
    show(t, "program", p->program);
    show(t, "hooks",
         p->hooks.n ? arena_printf(a, "in %.*s%s", STR_ARG(p->hooks),
                                   p->kind == DOC_PLUGIN
                                       ? ""
                                       : ": clients that know them run them")
                    : STR(""));
    show(t, "tools", p->tools);
    show_tokens(t, p, a);
    show_files(inv, p);
    show_parts(t, p);
    if (p->is_hidden)
        term_warn(t, "its text has hidden characters: --readme shows them, and "
                     "an install refuses it without --allow-hidden");
}

static void show_catalog(struct invocation *inv, const struct install_info *p)
{
    const struct install_catalog *c = &p->catalog;
    struct term *t = &inv->term;
    size_t counts[3] = {0};

    for (size_t i = 0; i < c->offer_count; i++)
        counts[c->offers[i].kind == DOC_SKILL   ? 0
               : c->offers[i].kind == DOC_AGENT ? 1
                                                : 2]++;
    term_print(t, "catalog ");
    term_style_print(t, TERM_BOLD, "%.*s\n", STR_ARG(c->origin.text));
    term_print(
        t, "%zu skill%s, %zu agent%s, %zu MCP server%s, %zu plugin%s\n\n",
        counts[0], plural(counts[0]), counts[1], plural(counts[1]), counts[2],
        plural(counts[2]), c->plugin_count, plural(c->plugin_count));
    show_source(t, p, &inv->cx.arena);
    install_show_catalog(inv, c);
}

/* Finds the package, or else a package of this name in the results of `mapm
 * search`. */
static bool find_info(struct invocation *inv, struct info_request *r,
                      struct install_info *out, struct err *e)
{
    struct discover_hit hit;

    if (install_info(&inv->cx, r, out, e))
        return true;
    if ((e->code != ERR_NOT_FOUND && e->code != ERR_ORIGIN) || r->plugin.n ||
        str_has_char(r->word, '/') ||
        !discover_find_offered(&inv->cx, r->word, &hit, e))
        return false;
    err_clear(e);
    r->word = hit.origin;
    r->plugin = hit.entry;
    return install_info(&inv->cx, r, out, e);
}

COMMAND(command_info)
{
    struct info_request r = {
        .word = inv->arguments.items[0],
        .plugin = option_value(inv, OPTION_PLUGIN),
    };
    struct install_info p;

    if (!find_info(inv, &r, &p, e))
        return false;
    if (has_option(inv, OPTION_README) && p.is_catalog) {
        err_set(e, ERR_USAGE, "%.*s is a catalog: --readme prints one package",
                STR_ARG(p.origin));
        return err_hint(e, "mapm info without --readme lists its packages");
    }
    if (has_option(inv, OPTION_JSON))
        print_info_json(inv, &p);
    else if (has_option(inv, OPTION_README))
        term_print(&inv->term, "%.*s%s", STR_ARG(p.body),
                   str_ends(p.body, STR("\n")) ? "" : "\n");
    else if (p.is_catalog)
        show_catalog(inv, &p);
    else
        show_package(inv, &p);
    return true;
}

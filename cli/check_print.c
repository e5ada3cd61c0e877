#include "check_print.h"

#include "base/json.h"
#include "base/text.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/package_text.h"

#include "command.h"

/* Renders diagnostics as text and as JSON. */

#define TEXT_MAX_BYTES ((size_t)64 * 1024 * 1024)

/* --- JSON ----------------------------------------------------------------- */

static void put_number(struct json_writer *w, const char *key, size_t number)
{
    json_key(w, key);
    if (number)
        json_number(w, number);
    else
        json_null(w);
}

static void put_diagnostics(struct json_writer *w, const char *key,
                            const struct diagnostics *why, bool errors,
                            bool hints)
{
    json_member_array(w, key);
    for (size_t i = 0; i < why->count; i++) {
        const struct diagnostic *c = &why->items[i];

        if (c->error != errors || c->is_hint != hints)
            continue;
        json_begin_object(w);
        json_member_string(w, "code", str_cstr(c->code));
        json_member_optional(w, "field", c->field);
        json_member_optional(w, "file", c->file);
        put_number(w, "line", c->line);
        put_number(w, "column", c->column);
        json_member_string(w, "message", c->message);
        json_member_optional(w, "hint", c->hint);
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_result(struct json_writer *w, const struct check_result *r)
{
    json_begin_object(w);
    json_member_optional(w, "path", r->path);
    json_member_bool(w, "ok", r->why.errors == 0);
    put_diagnostics(w, "errors", &r->why, true, false);
    put_diagnostics(w, "warnings", &r->why, false, false);
    put_diagnostics(w, "hints", &r->why, false, true);
    json_member_optional(w, "type",
                         str_cstr(r->has_kind ? doc_kind_name(r->kind) : NULL));
    json_member_optional(w, "name", r->name);
    json_member_optional(w, "scope", r->scope);
    json_member_optional(w, "fqn", r->fqn);
    json_member_optional(w, "description", r->description);
    json_member_optional(w, "version", r->version);
    json_member_optional(w, "skill_version", str_cstr(r->skill_version));
    put_number(w, "load_size_tokens", r->load_size_tokens);
    json_member_strings(w, "allowed_tools", r->tools, r->tool_count);
    json_member_bool(w, "metaskill", r->metaskill);
    if (r->from.n)
        json_member_string(w, "from", r->from);
    json_end_object(w);
}

/* Written document by document, because a tree may contain 100,000. */
static void print_documents(struct invocation *inv,
                            const struct check_results *results)
{
    struct json_writer *w = print_json_begin(inv, "mapm.check/1", NULL);

    json_member_array(w, "documents");
    for (size_t i = 0; i < results->count; i++) {
        put_result(w, results->items[i]);
        term_write(&inv->term, buf_str(&inv->json_text));
        buf_clear(&inv->json_text);
    }
    json_end_array(w);
    print_json_end(inv);
}

/* --- words ---------------------------------------------------------------- */

/* Writes the path of a file in the same package as the document. */
static void add_path(struct buf *b, const struct check_result *r,
                     struct str file)
{
    struct str folder = r->path;

    if (file.n && r->file.n)
        folder = str_slice(folder, 0, folder.n - r->file.n);
    text_visible(b, folder, false);
    if (file.n && !r->file.n)
        buf_char(b, '/');
    text_visible(b, file, false);
}

/* Writes the position; if `c` is NULL, the whole document. */
static void add_place(struct buf *b, const struct check_result *r,
                      const struct diagnostic *c)
{
    if (r->is_name) {
        buf_char(b, '"');
        text_visible(b, r->name, false);
        buf_char(b, '"');
    } else {
        add_path(b, r, c ? c->file : STR(""));
    }
    if (c && c->line)
        buf_printf(b, ":%u", c->line);
    if (c && c->column)
        buf_printf(b, ":%u", c->column);
    buf_text(b, ": ");
}

/* Writes a message; indents all lines but the first. */
static void add_message(struct buf *b, struct str message)
{
    struct str line;
    bool first = true;

    while (str_line(&message, &line)) {
        buf_text(b, first ? " " : "\n    ");
        text_visible(b, line, false);
        first = false;
    }
}

static void add_hints(struct buf *b, struct str hints)
{
    struct str line;

    while (str_line(&hints, &line)) {
        buf_text(b, "    hint: ");
        text_visible(b, line, false);
        buf_char(b, '\n');
    }
}

static struct str source_of(const struct check_result *r, struct arena *a)
{
    return package_source(r->from, r->is_from_checkout, a);
}

static void print_diagnostic(struct invocation *inv,
                             const struct check_result *r,
                             const struct diagnostic *c)
{
    struct arena *a = &inv->cx.arena;
    struct term *t = &inv->term;
    CLEANUP(buf_done) struct buf place, rest;

    buf_init(&place, TEXT_MAX_BYTES);
    buf_init(&rest, TEXT_MAX_BYTES);
    add_place(&place, r, c);
    add_message(&rest, c->message);
    buf_printf(&rest, " [%s]%.*s\n", c->code, STR_ARG(source_of(r, a)));
    add_hints(&rest, c->hint);
    term_write(t, buf_str(&place));
    if (c->is_hint)
        term_style_print(t, TERM_DIM, "hint:");
    else
        term_style_print(t, c->error ? TERM_RED : TERM_YELLOW, "%s",
                         c->error ? "error:" : "warning:");
    term_write(t, buf_str(&rest));
}

static void print_result(struct invocation *inv, const struct check_result *r)
{
    CLEANUP(buf_done) struct buf b = {0};

    for (size_t i = 0; i < r->why.count; i++)
        print_diagnostic(inv, r, &r->why.items[i]);
    if (r->why.count || !has_option(inv, OPTION_VERBOSE))
        return;
    buf_init(&b, TEXT_MAX_BYTES);
    add_place(&b, r, NULL);
    term_write(&inv->term, buf_str(&b));
    term_style_print(&inv->term, TERM_GREEN, "ok");
    term_print(&inv->term, "%.*s\n", STR_ARG(source_of(r, &inv->cx.arena)));
}

static const char *ending(size_t count)
{
    return count == 1 ? "" : "s";
}

/* The author of the workspace cannot fix installed packages, so they are
 * counted without -v, and listed where their folder is named. */
static void print_installed(struct invocation *inv,
                            const struct check_totals *t)
{
    if (t->errors || t->warnings)
        term_print(&inv->term,
                   "%zu installed package%s: %zu error%s, %zu warning%s (-v "
                   "lists them)\n",
                   t->documents, ending(t->documents), t->errors,
                   ending(t->errors), t->warnings, ending(t->warnings));
}

static struct str hints_of(const struct check_totals *t, struct invocation *inv)
{
    return t->hints ? arena_printf(&inv->cx.arena, ", %zu hint%s", t->hints,
                                   ending(t->hints))
                    : STR("");
}

static void print_words(struct invocation *inv,
                        const struct check_results *results)
{
    const bool lists_installed = has_option(inv, OPTION_VERBOSE);
    struct check_totals all, installed;

    lint_count(results, &all, &installed);
    for (size_t i = 0; i < results->count; i++)
        if (lists_installed || !results->items[i]->is_installed)
            print_result(inv, results->items[i]);
    if (!lists_installed)
        print_installed(inv, &installed);
    if (!has_option(inv, OPTION_QUIET))
        term_print(&inv->term, "checked %zu: %zu error%s, %zu warning%s%.*s\n",
                   all.documents, all.errors, ending(all.errors), all.warnings,
                   ending(all.warnings), STR_ARG(hints_of(&all, inv)));
}

void check_print(struct invocation *inv, const struct check_results *results)
{
    for (size_t i = 0; i < results->count; i++)
        if (results->items[i]->note.n)
            term_note(&inv->term, "%.*s", STR_ARG(results->items[i]->note));
    if (has_option(inv, OPTION_JSON))
        print_documents(inv, results);
    else
        print_words(inv, results);
}

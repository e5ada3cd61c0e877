#include "mapm/doc_kind.h"

#include "install_show.h"

/* mapm import: prints the packages found, the action for each, and why others
 * are skipped. */

static const char *content_word(enum install_content content)
{
    static const char *const words[] = {
        [CONTENT_UNKNOWN] = NULL,
        [CONTENT_SAME] = "same content as locked",
        [CONTENT_CHANGED] = "changed since it was locked",
    };

    return words[content];
}

static struct str shown_place(const struct install_import *i, struct arena *a)
{
    return i->line ? arena_printf(a, "%.*s:%u", STR_ARG(i->file), i->line)
                   : i->file;
}

static void show_imported(struct term *t, const struct install_import *i,
                          struct arena *a)
{
    const char *content = content_word(i->content);

    term_note(t, "%.*s: %s %.*s: %s%s", STR_ARG(shown_place(i, a)),
              doc_kind_name(i->kind), STR_ARG(i->name),
              content ? content : "content not compared",
              !i->is_taken_over ? ""
              : i->kind == DOC_MCP
                  ? "; an equal server was there: mapm takes it over"
                  : "; an equal folder was there: mapm takes it over");
}

void install_show_imports(struct invocation *inv,
                          const struct install_plan *plan)
{
    struct arena *a = &inv->cx.arena;

    for (size_t i = 0; i < plan->import_count; i++) {
        const struct install_import *m = &plan->imports[i];

        if (!m->problem.n)
            show_imported(&inv->term, m, a);
    }
    for (size_t i = 0; i < plan->import_count; i++) {
        const struct install_import *m = &plan->imports[i];

        if (m->problem.n)
            term_warn(&inv->term, "%.*s: not imported: %.*s: %.*s",
                      STR_ARG(shown_place(m, a)), STR_ARG(m->name),
                      STR_ARG(m->problem));
    }
}

void install_put_imports(struct json_writer *w, const struct install_plan *plan)
{
    static const char *const words[] = {[CONTENT_UNKNOWN] = "unknown",
                                        [CONTENT_SAME] = "same",
                                        [CONTENT_CHANGED] = "changed"};

    json_member_array(w, "imports");
    for (size_t i = 0; i < plan->import_count; i++) {
        const struct install_import *m = &plan->imports[i];

        json_begin_object(w);
        json_member_string(w, "file", m->file);
        if (m->line)
            json_member_number(w, "line", m->line);
        json_member_string(w, "name", m->name);
        json_member_bool(w, "imported", !m->problem.n);
        json_member_optional(w, "origin", m->origin);
        json_member_optional(w, "commit", m->commit);
        if (m->problem.n) {
            json_member_string(w, "reason", m->problem);
        } else {
            json_member_string(w, "type", str_cstr(doc_kind_name(m->kind)));
            json_member_string(w, "content", str_cstr(words[m->content]));
            json_member_bool(w, "taken_over", m->is_taken_over);
        }
        json_end_object(w);
    }
    json_end_array(w);
}

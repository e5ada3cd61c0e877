#include "base/fs.h"
#include "base/json.h"
#include "base/text.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/layer.h"
#include "mapm/lock.h"

#include <unistd.h>

#include "../command.h"
#include "skill.h"

/* mapm skill show: prints all properties of a skill (L3 to L8): as text the
 * fields that it has, as JSON the whole record with its frontmatter. */

#define LABEL_COLUMNS 15

struct record {
    struct skill_job *job;
    const struct library_skill *skill;
    const struct document *document;
    const struct diagnostics *why;
    struct str version;              /* version of its body, T11 */
    size_t tokens;                   /* T12 */
    const struct lock_entry *locked; /* NULL if mapm did not install it */
};

/* --- frontmatter ------------------------------------------------------------------------- */

/* Writes a scalar as spelled in the file (X12). */
static void put_spelled(struct json_writer *w, const struct yaml *scalar)
{
    json_string(w, scalar->text);
}

static struct str metadata_of(const struct record *r, const char *key)
{
    const struct yaml *y =
        r->document->metadata ? yaml_get(r->document->metadata, key) : NULL;

    return y && y->kind == YAML_SCALAR ? y->text : STR("");
}

/* Returns metadata as spelled, or for Metis as Python prints it (T7, X12). */
static struct str metadata_text(const struct record *r,
                                const struct yaml *value)
{
    return library_metadata_text(r->job->library, value,
                                 &r->job->inv->cx.arena);
}

/* --- for programs ------------------------------------------------------------------------ */

static void put_dependencies(struct json_writer *w, const struct document *d)
{
    json_member_array(w, "dependencies");
    for (size_t i = 0; i < d->dep_count; i++) {
        json_begin_object(w);
        json_member_string(w, "type", str_cstr(doc_kind_name(d->deps[i].kind)));
        json_member_string(w, "origin", d->deps[i].origin->text);
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_warnings(struct json_writer *w, const struct diagnostics *why)
{
    json_member_array(w, "warnings");
    for (size_t i = 0; i < why->count; i++) {
        const struct diagnostic *c = &why->items[i];

        if (!diagnostic_is_for_user(c))
            continue;
        json_begin_object(w);
        json_member_string(w, "code", str_cstr(c->code));
        json_member_optional(w, "field", c->field);
        json_member_number(w, "line", c->line);
        json_member_string(w, "message", c->message);
        json_end_object(w);
    }
    json_end_array(w);
}

static void put_tools(struct json_writer *w, const struct document *d)
{
    json_member_optional(w, "allowed_tools", d->allowed_tools);
    json_key(w, "allowed_tools_list"); /* L8 */
    json_begin_array(w);
    for (size_t i = 0; i < d->tool_count; i++)
        json_string(w, d->tools[i]);
    json_end_array(w);
}

static void put_locked(struct json_writer *w, const struct lock_entry *entry)
{
    json_key(w, "locked");
    if (!entry) {
        json_null(w);
        return;
    }
    json_begin_object(w);
    json_member_string(w, "name", entry->name);
    json_member_string(w, "origin", entry->origin);
    json_member_optional(w, "commit", entry->commit);
    json_member_string(w, "digest", entry->digest);
    if (entry->patch.n)
        json_member_string(w, "patch", entry->patch);
    json_end_object(w);
}

static void put_metadata(struct json_writer *w, const struct record *r)
{
    const struct yaml *all = r->document->metadata;

    if (!all) {
        json_null(w);
    } else if (!r->job->metis) {
        yaml_put_json(all, w, put_spelled);
    } else { /* a valid skill has only scalar values here */
        json_begin_object(w);
        for (const struct yaml *y = all->first; y; y = y->next) {
            json_key_str(w, y->key);
            json_string(w, metadata_text(r, y));
        }
        json_end_object(w);
    }
}

static void print_record_json(const struct record *r)
{
    const struct document *d = r->document;
    struct json_writer *w =
        print_json_begin(r->job->inv, "mapm.skill/1", r->job->word);

    json_member_object(w, "skill");
    skill_put_json(w, r->skill);
    json_member_string(w, "root", r->skill->root);
    json_member_string(w, "skill_version", r->version);
    json_member_number(w, "load_size_tokens", r->tokens);
    json_member_bool(w, "over_body_token_warn", r->tokens > BODY_WARN_TOKENS);
    json_member_optional(w, "scope", d->scope);
    json_member_optional(w, "license", d->license);
    json_member_optional(w, "compatibility", d->compatibility);
    put_tools(w, d);
    json_member_optional(w, "model", d->model);
    json_member_optional(w, "agent", d->agent);
    json_member_optional(w, "context", d->context);
    json_member_optional(w, "author", metadata_of(r, "author"));
    json_member_optional(w, "prereqs", d->prereqs);
    json_member_optional(w, "program", r->skill->program);
    put_locked(w, r->locked);
    put_dependencies(w, d);
    json_key(w, "metadata");
    put_metadata(w, r);
    json_key(w, "frontmatter");
    if (d->frontmatter)
        yaml_put_json(d->frontmatter, w, put_spelled);
    else
        json_null(w);
    put_warnings(w, r->why);
    json_end_object(w);
    print_json_end(r->job->inv);
}

/* --- for a person ------------------------------------------------------------------------ */

static void row(struct term *t, const char *label, struct str value)
{
    struct str line;

    for (const char *name = label; value.n && str_line(&value, &line);
         name = "")
        term_print(t, "%-*s %.*s\n", LABEL_COLUMNS, name, STR_ARG(line));
}

/* Returns a list on one line; nested values are shown as "...". */
static struct str value_text(const struct record *r, const struct yaml *value)
{
    struct arena *a = &r->job->inv->cx.arena;
    CLEANUP(buf_done) struct buf b = {0};

    if (value->kind == YAML_SCALAR)
        return metadata_text(r, value);
    if (value->kind == YAML_MAPPING)
        return STR("...");
    buf_init(&b, FRONTMATTER_MAX_BYTES);
    for (const struct yaml *y = value->first; y; y = y->next) {
        buf_text(&b, b.n ? ", " : "");
        buf_append(&b, y->kind == YAML_SCALAR ? text_one_line(y->text, a)
                                              : STR("..."));
    }
    return arena_str(a, buf_str(&b));
}

static void print_metadata(const struct record *r)
{
    const struct yaml *all = r->document->metadata;
    struct arena *a = &r->job->inv->cx.arena;
    const char *label = "metadata";

    for (const struct yaml *y = all ? all->first : NULL; y; y = y->next) {
        row(&r->job->inv->term, label,
            arena_printf(a, "%.*s: %.*s", STR_ARG(y->key),
                         STR_ARG(value_text(r, y))));
        label = "";
    }
}

static void print_record(const struct record *r)
{
    const struct library_skill *s = r->skill;
    const struct document *d = r->document;
    struct arena *a = &r->job->inv->cx.arena;
    struct term *t = &r->job->inv->term;
    size_t told = 0;
    const struct {
        const char *label;
        struct str value;
    } rows[] = {
        {"name", s->name},
        {"description", s->description},
        {"source", str_cstr(library_source_name(s->source))},
        {"folder", s->folder},
        {"scope", d->scope},
        {"version", d->version},
        {"body",
         arena_printf(a, "%zu tokens, %.*s", r->tokens, STR_ARG(r->version))},
        {"license", d->license},
        {"compatibility", d->compatibility},
        {"allowed-tools", d->allowed_tools},
        {"model", d->model},
        {"agent", d->agent},
        {"context", d->context},
        {"invocation", s->disabled ? STR("by a person alone") : STR("")},
        {"mode", s->is_mode ? STR("yes") : STR("")},
        {"metaskill", s->program},
        {"prereqs", d->prereqs},
        {"origin", r->locked ? r->locked->origin : STR("")},
        {"commit", r->locked ? r->locked->commit : STR("")},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        row(t, rows[i].label, rows[i].value);
    print_metadata(r);
    for (size_t i = 0; i < d->dep_count; i++)
        row(t, i ? "" : "needs",
            arena_printf(a, "%s %.*s", doc_kind_name(d->deps[i].kind),
                         STR_ARG(d->deps[i].origin->text)));
    for (size_t i = 0; i < r->why->count; i++)
        if (diagnostic_is_for_user(&r->why->items[i]))
            row(t, told++ ? "" : "warnings",
                arena_printf(a, "SKILL.md:%u: %.*s", r->why->items[i].line,
                             STR_ARG(r->why->items[i].message)));
}

/* --- the lock ---------------------------------------------------------------------------- */

static bool open_layer(struct invocation *inv, enum library_source source,
                       struct layer *out, bool *there, struct err *e)
{
    struct str data;

    if (source == LIBRARY_WORKSPACE) {
        *there = true;
        return layer_open_workspace(&inv->cx, LAYER_READ, out, e);
    }
    *there = store_find_home(&inv->cx.arena, &data, e) &&
             access(fs_join(data, STR("global"), &inv->cx.arena).p, F_OK) == 0;
    return !*there || layer_open_global(&inv->cx, LAYER_READ, out, e);
}

/* Finds the lock entry of the skill. An unreadable lock is ignored, so that the
 * rest is still shown. */
static void find_locked(struct record *r, struct layer *layer)
{
    struct invocation *inv = r->job->inv;
    struct err e = {0};
    bool there;

    if (!open_layer(inv, r->skill->source, layer, &there, &e))
        term_warn(&inv->term, "its origin is unknown: %s", err_first(&e));
    else if (there)
        r->locked = layer_find_folder(layer, r->skill->folder);
}

SKILL_WORD(skill_show)
{
    struct library_loaded loaded;
    struct record r = {.job = job};
    struct layer layer = {0};

    if (!library_load(job->library, job->words.items[0], LIBRARY_AS_TOOL, false,
                      NULL, &job->inv->cx.arena, &loaded, e))
        return library_suggest(job->library, job->words.items[0], e);
    r.skill = loaded.skill;
    r.document = &loaded.document;
    r.why = &loaded.why;
    r.version = str_cstr(loaded.skill_version);
    r.tokens = loaded.load_size_tokens;
    find_locked(&r, &layer);
    if (has_option(job->inv, OPTION_JSON))
        print_record_json(&r);
    else
        print_record(&r);
    layer_close(&layer);
    return true;
}

#include "entry.h"

#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/name.h"
#include "mapm/well_known.h"

#include <stdio.h>
#include <stdlib.h>

#define FIELD_END       '\x1f'
#define FIELD_MAX_BYTES 1152 /* maximum length of an origin in an index */
#define TAGS_MAX_BYTES  1024
#define FIELDS          6
#define TOKEN_CHARS     4 /* characters per token (T12) */

/* --- data ------------------------------------------------------------------------- */

static void put_field(struct buf *out, struct str text)
{
    struct str cut = text_cut_bytes(text, FIELD_MAX_BYTES);

    if (out->n)
        buf_char(out, FIELD_END);
    for (size_t i = 0; i < cut.n; i++)
        buf_char(out, (unsigned char)cut.p[i] < ' ' ? ' ' : cut.p[i]);
}

static struct str format_data(const struct entry_data *d, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    char tokens[24];

    buf_init(&b, SIZE_MAX / 2);
    snprintf(tokens, sizeof tokens, "%zu", d->tokens);
    put_field(&b, d->kind);
    put_field(&b, d->version);
    put_field(&b, d->origin);
    put_field(&b, d->entry);
    put_field(&b, d->why);
    put_field(&b, str_cstr(tokens));
    return arena_str(a, buf_str(&b));
}

void entry_data_read(struct str text, struct entry_data *out)
{
    struct str fields[FIELDS] = {{0}}, rest = text;
    uint64_t tokens = 0;

    for (size_t i = 0; i < FIELDS; i++)
        if (!str_cut(&rest, FIELD_END, &fields[i]))
            fields[i] = str_make("", 0);
    if (!str_number(fields[5], UINT32_MAX, &tokens))
        tokens = 0;
    *out = (struct entry_data){.kind = fields[0],
                               .version = fields[1],
                               .origin = fields[2],
                               .entry = fields[3],
                               .why = fields[4],
                               .tokens = (size_t)tokens};
}

/* --- entries ------------------------------------------------------------------------ */

bool offered_add(struct offered *list, struct str name, struct str description,
                 struct str tags, const struct entry_data *data, struct err *e)
{
    struct arena *a = list->a;

    if (list->count >= SEARCH_MAX_ENTRIES)
        return err_set(e, ERR_LIMIT, "it offers more than %d packages",
                       SEARCH_MAX_ENTRIES);
    list->items = arena_grow(a, list->items, list->count, &list->capacity,
                             sizeof *list->items);
    list->items[list->count++] = (struct search_entry){
        .name = arena_str(a, text_cut_bytes(name, MCP_NAME_MAX_CHARS)),
        .description =
            arena_str(a, text_cut(description, DESCRIPTION_MAX_CHARS)),
        .tags = arena_str(a, text_cut_bytes(tags, TAGS_MAX_BYTES)),
        .data = format_data(data, a),
    };
    return true;
}

static struct str join_tags(const struct str *tags, size_t count,
                            struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    for (size_t i = 0; i < count; i++) {
        if (b.n)
            buf_char(&b, '\n');
        buf_append(&b, text_one_line(tags[i], a));
    }
    return arena_str(a, buf_str(&b));
}

struct str entry_version(const struct document *d)
{
    const struct yaml *y =
        d->metadata ? yaml_get(d->metadata, "version") : NULL;

    if (d->version.n || !y || y->kind != YAML_SCALAR)
        return d->version;
    return text_has_control(y->text) ? STR("") : y->text;
}

size_t entry_tokens(struct str text)
{
    return (text_count(text) + TOKEN_CHARS - 1) / TOKEN_CHARS;
}

static bool add_document(struct offered *list, const struct document *d,
                         struct str text, const struct origin *origin,
                         struct arena *scratch, struct err *e)
{
    struct entry_data data = {.kind = str_cstr(doc_kind_name(d->kind)),
                              .version = entry_version(d),
                              .origin = origin->text};
    struct str description = d->description;

    if (d->kind == DOC_SKILL)
        data.tokens = entry_tokens(text);
    if (d->kind == DOC_MCP)
        description = json_text(json_get(d->mcp, "description"));
    return offered_add(list, d->kind == DOC_MCP ? d->fqn : d->name, description,
                       join_tags(d->tags, d->tag_count, scratch), &data, e);
}

bool offered_add_document(struct offered *list, enum doc_kind kind,
                          struct str folder, struct str text,
                          const struct origin *origin, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct manifest_input in = {.kind = kind,
                                .text = text,
                                .folder = folder,
                                .profile = PROFILE_INSTALL,
                                .in_place = true,
                                .skip_body = true};
    struct diagnostics why;
    struct document d;

    diagnostics_init(&why, &scratch);
    manifest_read(&in, &scratch, &d, &why);
    if (why.errors == 0 && d.name.n)
        return add_document(list, &d, text, origin, &scratch, e);
    list->left_out++;
    return true;
}

static void put_tags(struct buf *b, const struct json *list, struct arena *a)
{
    for (const struct json *tag = list->first; tag; tag = tag->next) {
        if (tag->kind != JSON_STRING)
            continue;
        if (b->n)
            buf_char(b, '\n');
        buf_append(b, text_one_line(tag->text, a));
    }
}

static struct str market_tags(const struct json *entry, struct arena *a)
{
    static const char *const keys[] = {"tags", "keywords"};
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, TAGS_MAX_BYTES);
    for (size_t i = 0; i < 2; i++) {
        const struct json *list = json_get(entry, keys[i]);

        if (list)
            put_tags(&b, list, a);
    }
    return arena_str(a, buf_str(&b));
}

bool offered_add_market(struct offered *list, struct str text, struct str file,
                        struct str catalog, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct market m;

    if (!market_read(text, file, &scratch, &m, e))
        return false;
    list->left_out += m.unnamed;
    for (size_t i = 0; i < m.count; i++) {
        const struct market_entry *entry = &m.entries[i];
        struct entry_data data = {.kind = STR("plugin"),
                                  .version = entry->version,
                                  .origin = catalog,
                                  .entry = entry->name};

        if (entry->source == MARKET_NONE)
            data.why = str_cstr(entry->why);
        if (!offered_add(list, entry->name, entry->description,
                         market_tags(entry->json, &scratch), &data, e))
            return false;
    }
    return true;
}

static struct str index_tags(const struct json *entry, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    const struct json *list = json_get(entry, "tags");

    buf_init(&b, SIZE_MAX / 2);
    if (list && list->kind == JSON_ARRAY)
        put_tags(&b, list, a);
    return arena_str(a, buf_str(&b));
}

bool offered_add_index(struct offered *list, struct str text, struct str url,
                       struct str catalog, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct well_known_index index;

    if (!well_known_parse(text, url, &scratch, &index, e))
        return false;
    list->left_out += index.left_out;
    for (size_t i = 0; i < index.count; i++) {
        const struct well_known_skill *skill = &index.skills[i];
        struct entry_data data = {
            .kind = STR("skill"),
            .version = skill->version,
            .origin = origin_of_index(catalog, skill->name, &scratch),
            .tokens = skill->tokens};

        if (!offered_add(list, skill->name, skill->description,
                         index_tags(skill->json, &scratch), &data, e))
            return false;
    }
    return true;
}

static int by_name(const void *x, const void *y)
{
    const struct search_entry *a = x, *b = y;
    int order = str_cmp(a->name, b->name);

    return order ? order : str_cmp(a->data, b->data);
}

static bool is_copy(const struct search_entry *x, const struct search_entry *y)
{
    struct entry_data a, b;

    entry_data_read(x->data, &a);
    entry_data_read(y->data, &b);
    return str_eq(x->name, y->name) && str_eq(x->description, y->description) &&
           str_eq(a.kind, b.kind) && str_eq(a.version, b.version) &&
           a.tokens == b.tokens && a.tokens;
}

/* Of equal copies the one with the shortest path is kept. */
void offered_deduplicate(struct offered *list)
{
    size_t n = 0;

    if (list->count)
        qsort(list->items, list->count, sizeof *list->items, by_name);
    for (size_t i = 0; i < list->count; i++) {
        struct search_entry *last = n ? &list->items[n - 1] : NULL;

        if (!last || !is_copy(last, &list->items[i]))
            list->items[n++] = list->items[i];
        else if (list->items[i].data.n < last->data.n)
            *last = list->items[i];
    }
    list->count = n;
}

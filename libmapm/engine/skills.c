#include "base/yaml.h"
#include "mapm/skill_roots.h"

#include "engine.h"

static bool open_skills(struct engine *g, struct library **out, struct err *e)
{
    return engine_store(g, e) &&
           skill_roots_open_library(&g->cx, g->store, false,
                                    SKILL_CHECK_PROGRAMS, out, e);
}

static void close_skills(struct library **l)
{
    library_close(*l);
}

static struct mapm_skill skill_of(struct engine *g,
                                  const struct library_skill *s)
{
    return (struct mapm_skill){
        .name = engine_text(g, s->name),
        .description = engine_text(g, s->description),
        .version = engine_text(g, s->version),
        .source = library_source_name(s->source),
        .root = engine_text(g, s->root),
        .folder = engine_text(g, s->folder),
        .license = engine_text(g, s->license),
        .compatibility = engine_text(g, s->compatibility),
        .allowed_tools = engine_text(g, s->allowed_tools),
        .is_metaskill = s->metaskill,
        .is_mode = s->is_mode,
        .is_disabled = s->disabled,
        .trigger = "",
    };
}

bool engine_skills(struct engine *g, const struct wire_call *c, struct err *e)
{
    CLEANUP(close_skills) struct library *l = NULL;
    struct mapm_skill *list;
    size_t count;

    (void)c;
    if (!open_skills(g, &l, e))
        return false;
    count = library_count(l);
    list = arena_array(&g->cx.arena, count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = skill_of(g, library_at(l, i));
    return engine_send(g, WIRE_RESULT, WIRE_SKILL, list, count, e);
}

static bool send_hits(struct engine *g, const struct library_hit *hits,
                      size_t count, struct err *e)
{
    struct mapm_skill *list =
        arena_array(&g->cx.arena, count + 1, sizeof *list);

    for (size_t i = 0; i < count; i++) {
        list[i] = skill_of(g, hits[i].skill);
        list[i].score = hits[i].score;
        list[i].trigger = engine_text(g, hits[i].words);
        list[i].is_explicit = hits[i].is_explicit;
    }
    return engine_send(g, WIRE_RESULT, WIRE_SKILL, list, count, e);
}

static bool check_limit(uint64_t limit, struct err *e)
{
    return (limit >= 1 && limit <= SEARCH_MAX_HITS) ||
           err_set(e, ERR_USAGE, "the limit must be from 1 to %d",
                   SEARCH_MAX_HITS);
}

bool engine_search(struct engine *g, const struct wire_call *c, struct err *e)
{
    CLEANUP(close_skills) struct library *l = NULL;
    struct library_hit *hits;
    size_t count;

    if (!check_limit(c->limit, e) || !open_skills(g, &l, e))
        return false;
    hits = library_search(l, engine_str(c->text), (size_t)c->limit, false,
                          &g->cx.arena, &count);
    return send_hits(g, hits, count, e);
}

bool engine_match(struct engine *g, const struct wire_call *c, struct err *e)
{
    CLEANUP(close_skills) struct library *l = NULL;
    struct library_hit *hits;
    size_t count;

    if (!check_limit(c->limit, e) || !open_skills(g, &l, e))
        return false;
    hits = library_match(l, engine_str(c->text), (size_t)c->limit, c->score,
                         &g->cx.arena, &count);
    return send_hits(g, hits, count, e);
}

/* --- one skill ------------------------------------------------------------------------ */

static void put_tags(struct engine *g, const struct document *d,
                     struct mapm_loaded *out)
{
    const char **list =
        arena_array(&g->cx.arena, d->tag_count + 1, sizeof *list);

    for (size_t i = 0; i < d->tag_count; i++)
        list[out->tag_count++] = engine_text(g, d->tags[i]);
    out->tags = list;
}

static void put_metadata(struct engine *g, const struct library *l,
                         const struct yaml *all, struct mapm_loaded *out)
{
    struct mapm_metadata *list;

    if (!all)
        return;
    list = arena_array(&g->cx.arena, all->count + 1, sizeof *list);
    for (const struct yaml *y = all->first; y; y = y->next)
        if (y->kind == YAML_SCALAR)
            list[out->metadata_count++] = (struct mapm_metadata){
                engine_text(g, y->key),
                engine_text(g, library_metadata_text(l, y, &g->cx.arena))};
    out->metadata = list;
}

static bool put_resources(struct engine *g, const struct library *l,
                          struct str name, struct mapm_loaded *out,
                          struct err *e)
{
    struct arena *a = &g->cx.arena;
    struct mapm_resource *list;
    struct library_file *files;
    size_t count;

    if (!library_files(l, name, a, &files, &count, e))
        return false;
    list = arena_array(a, count + 1, sizeof *list);
    for (size_t i = 0; i < count; i++)
        list[i] = (struct mapm_resource){
            .path = engine_text(g, files[i].path),
            .kind = library_kind_name(files[i].kind),
            .size = files[i].size,
            .is_executable = files[i].executable,
            .is_text = files[i].is_text,
        };
    out->resources = list;
    out->resource_count = count;
    return true;
}

bool engine_load(struct engine *g, const struct wire_call *c, struct err *e)
{
    CLEANUP(close_skills) struct library *l = NULL;
    struct str name = engine_str(c->text);
    struct mapm_loaded out = {0};
    struct library_loaded loaded;

    if (!open_skills(g, &l, e) || !library_load(l, name, LIBRARY_AS_TOOL, false,
                                                NULL, &g->cx.arena, &loaded, e))
        return false;
    out.skill = skill_of(g, loaded.skill);
    out.text = engine_text(g, loaded.text);
    out.version = loaded.skill_version;
    out.tokens = loaded.load_size_tokens;
    put_metadata(g, l, loaded.document.metadata, &out);
    put_tags(g, &loaded.document, &out);
    return put_resources(g, l, name, &out, e) &&
           engine_send(g, WIRE_RESULT, WIRE_LOADED, &out, 1, e);
}

bool engine_read_resource(struct engine *g, const struct wire_call *c,
                          struct err *e)
{
    CLEANUP(close_skills) struct library *l = NULL;
    struct wire_blob blob;
    struct str text;
    bool cut;

    if (!open_skills(g, &l, e) ||
        !library_read_file(l, engine_str(c->text), engine_str(c->path),
                           LIBRARY_FILE_MAX_BYTES, &g->cx.arena, &text, &cut,
                           e))
        return false;
    if (cut)
        return err_set(e, ERR_LIMIT, "%s: %s has more than %u bytes", c->text,
                       c->path, (unsigned)LIBRARY_FILE_MAX_BYTES);
    blob = (struct wire_blob){text.n ? text.p : "", text.n};
    return engine_send(g, WIRE_RESULT, WIRE_BLOB, &blob, 1, e);
}

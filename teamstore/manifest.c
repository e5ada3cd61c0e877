#include "base/base64.h"
#include "base/digest.h"
#include "base/json.h"
#include "mapm/team_object.h"

#define MAX_DEPTH 8
#define MAX_NODES 200

/* --- writing -------------------------------------------------------------- */

void team_config_write(struct str what, const struct hash *tar, struct buf *out)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str diff_id = digest_format(tar, &a);
    struct json_writer w;

    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    json_member_string(&w, "architecture", STR("amd64"));
    json_member_string(&w, "os", STR("linux"));
    json_member_object(&w, "config");
    json_member_object(&w, "Labels");
    json_member_string(&w, "dev.mapm.package", what);
    json_end_object(&w);
    json_end_object(&w);
    json_member_object(&w, "rootfs");
    json_member_string(&w, "type", STR("layers"));
    json_member_strings(&w, "diff_ids", &diff_id, 1);
    json_end_object(&w);
    json_end_object(&w);
}

static void write_blob(struct json_writer *w, struct str type,
                       const struct team_blob *b)
{
    CLEANUP(arena_done) struct arena a = {0};

    json_begin_object(w);
    json_member_string(w, "mediaType", type);
    json_member_string(w, "digest", digest_format(&b->digest, &a));
    json_member_number(w, "size", b->size);
    json_end_object(w);
}

struct annotation {
    const char *name;
    struct str *value;
};

#define ANNOTATIONS 6
/* Lists the annotations in the order in which they are written. */
static void annotations_of(struct team_manifest *m,
                           struct annotation out[ANNOTATIONS])
{
    out[0] = (struct annotation){"dev.mapm.digest", &m->digest};
    out[1] = (struct annotation){"dev.mapm.type", &m->type};
    out[2] = (struct annotation){"org.opencontainers.image.title", &m->title};
    out[3] = (struct annotation){"org.opencontainers.image.source", &m->source};
    out[4] =
        (struct annotation){"org.opencontainers.image.revision", &m->revision};
    out[5] = (struct annotation){"dev.mapm.commit", &m->commit};
}

static void write_annotations(struct json_writer *w,
                              const struct team_manifest *m)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct annotation list[ANNOTATIONS];
    struct team_manifest copy = *m;

    copy.commit = m->commit.n > TEAM_COMMIT_MAX_BYTES
                      ? STR("")
                      : base64_format(m->commit, &a);
    annotations_of(&copy, list);
    json_member_object(w, "annotations");
    for (size_t i = 0; i < ANNOTATIONS; i++)
        if (list[i].value->n)
            json_member_string(w, list[i].name, *list[i].value);
    json_end_object(w);
}

void team_manifest_write(const struct team_manifest *m, struct buf *out)
{
    struct json_writer w;

    json_writer_init(&w, out, 0);
    json_begin_object(&w);
    json_member_number(&w, "schemaVersion", 2);
    json_member_string(&w, "mediaType", STR(TEAM_MANIFEST_TYPE));
    json_member_string(&w, "artifactType",
                       m->is_proof ? STR(TEAM_PROOF_TYPE)
                                   : STR(TEAM_PACKAGE_TYPE));
    json_key(&w, "config");
    write_blob(&w, STR(TEAM_CONFIG_TYPE), &m->config);
    json_member_array(&w, "layers");
    write_blob(&w, STR(TEAM_LAYER_TYPE), &m->layer);
    json_end_array(&w);
    write_annotations(&w, m);
    json_end_object(&w);
}

/* --- reading -------------------------------------------------------------- */

static bool not_ours(struct err *e, const char *why)
{
    return err_set(e, ERR_FORMAT, "not a mapm object: %s", why);
}

static bool is_text(const struct json *j, const char *text)
{
    return j && j->kind == JSON_STRING && str_is(j->text, text);
}

/* Returns true if the object has exactly the members `names`. */
static bool has_exactly(const struct json *j, const char *const *names)
{
    size_t count = 0;

    for (; names[count]; count++)
        if (!json_get(j, names[count]))
            return false;
    return j->count == count;
}

static bool parse_blob(const struct json *j, const char *type, uint64_t max,
                       struct team_blob *out, struct err *e)
{
    static const char *const names[] = {"mediaType", "digest", "size", NULL};
    const struct json *size = j ? json_get(j, "size") : NULL;
    bool minus;

    /* Other members are rejected: "urls" would redirect the download. */
    if (!j || j->kind != JSON_OBJECT || !has_exactly(j, names))
        return not_ours(e, "a blob is described by its type, digest and size, "
                           "and nothing else");
    if (!is_text(json_get(j, "mediaType"), type))
        return not_ours(e, "a blob is of another type");
    if (!digest_parse(json_text(json_get(j, "digest")), &out->digest))
        return not_ours(e, "a digest is not of SHA-256");
    if (!json_whole(size, &minus, &out->size) || minus || out->size > max)
        return not_ours(e, "the size of a blob is out of bounds");
    return true;
}

static bool parse_kind(const struct json *j, struct team_manifest *out,
                       struct err *e)
{
    const struct json *version = json_get(j, "schemaVersion");
    const struct json *type = json_get(j, "artifactType");

    if (j->kind != JSON_OBJECT || !version || version->kind != JSON_NUMBER ||
        !str_is(version->text, "2") ||
        !is_text(json_get(j, "mediaType"), TEAM_MANIFEST_TYPE))
        return not_ours(e, "no OCI image manifest");
    out->is_proof = is_text(type, TEAM_PROOF_TYPE);
    return out->is_proof || is_text(type, TEAM_PACKAGE_TYPE) ||
           not_ours(e, "its artifactType is another one");
}

/* Unknown annotations are allowed. */
static bool parse_annotations(const struct json *j, struct team_manifest *out,
                              struct err *e)
{
    struct annotation list[ANNOTATIONS];

    annotations_of(out, list);
    if (j->kind != JSON_OBJECT)
        return not_ours(e, "its annotations are no object");
    for (const struct json *m = j->first; m; m = m->next) {
        if (m->kind != JSON_STRING)
            return not_ours(e, "an annotation is not text");
        for (size_t i = 0; i < ANNOTATIONS; i++)
            if (str_is(m->key, list[i].name))
                *list[i].value = m->text;
    }
    return true;
}

bool team_manifest_parse(struct str text, struct arena *a,
                         struct team_manifest *out, struct err *e)
{
    static const struct json_options options = {
        .max_bytes = TEAM_MANIFEST_MAX_BYTES,
        .max_depth = MAX_DEPTH,
        .max_nodes = MAX_NODES,
    };
    static const char *const names[] = {
        "schemaVersion", "mediaType", "artifactType", "config", "layers",
        "annotations",   NULL};
    struct team_manifest m = {.is_proof = false};
    const struct json *j, *layers;

    if (!json_parse(text, &options, a, &j, NULL, e))
        return err_wrap(e, "not a mapm object");
    if (!parse_kind(j, &m, e))
        return false;
    if (!has_exactly(j, names))
        return not_ours(e, "its manifest has other members");
    layers = json_get(j, "layers");
    if (layers->kind != JSON_ARRAY || layers->count != 1)
        return not_ours(e, "it has not exactly one layer");
    if (!parse_blob(json_get(j, "config"), TEAM_CONFIG_TYPE,
                    TEAM_MANIFEST_MAX_BYTES, &m.config, e) ||
        !parse_blob(layers->first, TEAM_LAYER_TYPE, TEAM_OBJECT_MAX_BYTES,
                    &m.layer, e) ||
        !parse_annotations(json_get(j, "annotations"), &m, e))
        return false;
    *out = m;
    return true;
}

#include "mapm/well_known.h"

#include "base/digest.h"
#include "base/map.h"
#include "base/text.h"
#include "mapm/host_config.h"
#include "mapm/limits.h"
#include "mapm/name.h"
#include "mapm/origin.h"

/* --- addresses ------------------------------------------------------------------- */

static bool has_scheme(struct str url)
{
    size_t colon = str_find_char(url, ':');

    if (colon == SIZE_MAX || colon == 0 || !char_is_alpha(url.p[0]))
        return false;
    for (size_t i = 0; i < colon; i++)
        if (!char_is_alpha(url.p[i]) && !char_is_digit(url.p[i]) &&
            url.p[i] != '+' && url.p[i] != '-' && url.p[i] != '.')
            return false;
    return true;
}

struct str well_known_host(struct str url)
{
    size_t at = str_find(url, STR("://"));
    struct str rest = str_from_index(url, at == SIZE_MAX ? url.n : at + 3);

    return str_slice(rest, 0, str_find_char(rest, '/'));
}

/* Returns the text after the host. */
static struct str path_of(struct str url)
{
    struct str host = well_known_host(url);

    return str_from_index(url, (size_t)(host.p - url.p) + host.n);
}

/* Returns the number of dots in "." or "..", also if written as "%2e", which
 * servers decode; 0 for other names. */
static size_t count_dots(struct str part)
{
    size_t n = 0;

    for (; part.n; n++) {
        size_t one = part.p[0] == '.' ? 1 : 3;

        if (one == 3 && !str_eq_nocase(str_slice(part, 0, 3), STR("%2e")))
            return 0;
        part = str_from_index(part, one);
    }
    return n <= 2 ? n : 0;
}

/* Removes dot segments (RFC 3986, 5.2.4) from a path that begins with "/". */
static struct str remove_dots(struct str path, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct str rest = str_from_index(path, 1), part;
    size_t dots = 0;

    buf_init(&b, CATALOG_URL_MAX_BYTES);
    while (str_cut(&rest, '/', &part)) {
        dots = count_dots(part);
        if (dots == 0)
            buf_printf(&b, "/%.*s", STR_ARG(part));
        else if (dots == 2 && b.n)
            b.n = str_find_last(buf_str(&b), '/');
    }
    if (dots || b.n == 0)
        buf_char(&b, '/');
    return arena_str(a, buf_str(&b));
}

static struct str join_path(struct str base, struct str path, struct arena *a)
{
    size_t slash = str_find_last(base, '/');

    if (str_starts(path, STR("/")))
        return path;
    base = slash == SIZE_MAX ? STR("/") : str_slice(base, 0, slash + 1);
    return str_join(base, path, a);
}

bool well_known_read_host(struct str text, struct str *name, unsigned *port)
{
    size_t colon = str_starts(text, STR("[")) ? str_find(text, STR("]:"))
                                              : str_find_char(text, ':');

    *port = 0;
    if (colon != SIZE_MAX && text.p[0] == '[')
        colon++;
    *name = str_slice(text, 0, colon);
    return (host_name_is_valid(*name) || origin_host_is_loopback(*name)) &&
           (colon == SIZE_MAX ||
            host_port_parse(str_from_index(text, colon + 1), port));
}

/* Returns true if the URL is printable ASCII without blanks and fragment. */
static bool is_plain(struct str url)
{
    for (size_t i = 0; i < url.n; i++)
        if (url.p[i] <= ' ' || url.p[i] >= 0x7f || url.p[i] == '\\' ||
            url.p[i] == '#')
            return false;
    return url.n <= CATALOG_URL_MAX_BYTES;
}

static bool is_allowed(struct str url)
{
    struct str name;
    unsigned port;

    return is_plain(url) &&
           well_known_read_host(well_known_host(url), &name, &port) &&
           (str_starts(url, STR("https://")) ||
            (str_starts(url, STR("http://")) && origin_host_is_loopback(name)));
}

bool well_known_resolve(struct str base, struct str url, struct arena *a,
                        struct str *out)
{
    size_t at = str_find(base, STR("://"));
    struct str root, scheme, path, query;
    size_t question = str_find_char(url, '?');

    if (at == SIZE_MAX || url.n == 0 || url.n > CATALOG_URL_MAX_BYTES)
        return false;
    scheme = str_slice(base, 0, at + 1);
    base = str_slice(base, 0, str_find_char(base, '?'));
    path = str_slice(url, 0, question);
    query = str_from_index(url, question == SIZE_MAX ? url.n : question);
    if (str_starts(url, STR("//")))
        path = str_join(scheme, path, a);
    root = has_scheme(path) ? path : base;
    path = has_scheme(path) ? path_of(path) : join_path(path_of(base), path, a);
    root = str_slice(root, 0, root.n - path_of(root).n);
    *out = arena_printf(a, "%.*s%.*s%.*s", STR_ARG(root),
                        STR_ARG(remove_dots(path, a)), STR_ARG(query));
    return is_allowed(*out);
}

bool well_known_is_index(struct str text)
{
    static const struct str tail = STR_INIT(WELL_KNOWN_PATH);
    struct str path = path_of(text);

    if (!str_starts(text, STR("https://")) && !str_starts(text, STR("http://")))
        return false;
    return path.n <= 1 || str_ends(path, tail) ||
           (str_ends(path, STR("/index.json")) &&
            str_find(path, STR("/tree/")) == SIZE_MAX);
}

bool well_known_url(struct str text, struct arena *a, struct str *out,
                    struct err *e)
{
    struct str path = path_of(text);

    if (path.n <= 1)
        text = str_join(str_slice(text, 0, text.n - path.n),
                        STR(WELL_KNOWN_PATH), a);
    if (is_allowed(text)) {
        *out = text;
        return true;
    }
    err_set(e, ERR_ORIGIN, "\"%.*s\" is not an index URL", STR_ARG(text));
    return err_hint(e, "https://host, or the https URL of an index.json; http "
                       "is for this machine alone");
}

/* --- the index ---------------------------------------------------------------------- */

static size_t tokens_of(const struct json *entry)
{
    const struct json *tokens = json_get(entry, "tokens");
    uint64_t n = 0;
    bool minus = false;

    return tokens && json_whole(tokens, &minus, &n) && !minus && n <= UINT32_MAX
               ? (size_t)n
               : 0;
}

/* Reads an entry. Skips entries of another type (W2) and those that violate W3
 * to W5. */
static bool read_skill(const struct json *entry, struct str url,
                       struct arena *a, struct well_known_skill *out)
{
    struct str type = json_text(json_get(entry, "type"));

    *out = (struct well_known_skill){
        .name = json_text(json_get(entry, "name")),
        .description = json_text(json_get(entry, "description")),
        .digest = json_text(json_get(entry, "digest")),
        .version = json_text(json_get(entry, "version")),
        .tokens = tokens_of(entry),
        .is_archive = str_is(type, "archive"),
        .json = entry,
    };
    return (out->is_archive || str_is(type, "skill-md")) &&
           name_is_kebab(out->name) && out->description.n &&
           text_count(out->description) <= DESCRIPTION_MAX_CHARS &&
           digest_is_valid(out->digest) &&
           well_known_resolve(url, json_text(json_get(entry, "url")), a,
                              &out->url);
}

static bool check_schema(const struct json *top, struct err *e)
{
    struct str schema = json_text(json_get(top, "$schema"));

    if (str_is(schema, WELL_KNOWN_SCHEMA))
        return true;
    if (!json_get(top, "$schema")) {
        err_set(e, ERR_FORMAT,
                "it has no $schema, so it is of version 0.1.0, "
                "whose skills have no digest");
        return err_hint(e, "ask its publisher for an index of version 0.2.0");
    }
    return err_set(e, ERR_FORMAT, "its $schema \"%.*s\" is not known",
                   STR_ARG(str_slice(schema, 0, 200)));
}

bool well_known_parse(struct str text, struct str url, struct arena *a,
                      struct well_known_index *out, struct err *e)
{
    static const struct json_options options = {
        .max_bytes = AGENT_INDEX_MAX_BYTES,
        .max_nodes = AGENT_INDEX_MAX_NODES,
    };
    const struct json *top, *skills;
    struct well_known_skill *list;

    if (!json_parse(text, &options, a, &top, NULL, e) || !check_schema(top, e))
        return false;
    skills = json_get(top, "skills");
    if (!skills || skills->kind != JSON_ARRAY)
        return err_set(e, ERR_FORMAT, "its \"skills\" is no list");
    if (skills->count > AGENT_INDEX_MAX_ENTRIES)
        return err_set(e, ERR_LIMIT, "it has more than %d skills",
                       AGENT_INDEX_MAX_ENTRIES);
    *out = (struct well_known_index){0};
    out->skills = list = arena_array(a, skills->count + 1, sizeof *list);
    map_init(&out->by_name, a);
    for (const struct json *entry = skills->first; entry; entry = entry->next) {
        struct well_known_skill *next = &list[out->count];

        if (!read_skill(entry, url, a, next) ||
            map_has(&out->by_name, next->name)) {
            out->left_out++;
            continue;
        }
        map_put(&out->by_name, next->name, next);
        out->count++;
    }
    return true;
}

const struct well_known_skill *
well_known_find(const struct well_known_index *index, struct str name)
{
    return map_find(&index->by_name, name);
}

/* --- artifacts ---------------------------------------------------------------------- */

enum artifact_format well_known_format(struct str bytes)
{
    return str_starts(bytes, STR("PK"))         ? ARTIFACT_ZIP
           : str_starts(bytes, STR("\x1f\x8b")) ? ARTIFACT_TAR_GZ
                                                : ARTIFACT_SKILL_MD;
}

bool well_known_archive(struct str media_type, struct str url,
                        enum artifact_format *out)
{
    static const struct {
        const char *text;
        bool is_end; /* `text` is a suffix of the URL's path, else a media
                      * type */
        enum artifact_format format;
    } rows[] = {
        {"application/zip", false, ARTIFACT_ZIP},
        {"application/x-zip-compressed", false, ARTIFACT_ZIP},
        {"application/gzip", false, ARTIFACT_TAR_GZ},
        {"application/x-gzip", false, ARTIFACT_TAR_GZ},
        {"application/x-gtar", false, ARTIFACT_TAR_GZ},
        {"application/x-tgz", false, ARTIFACT_TAR_GZ},
        {"application/x-compressed-tar", false, ARTIFACT_TAR_GZ},
        {".zip", true, ARTIFACT_ZIP},
        {".tar.gz", true, ARTIFACT_TAR_GZ},
        {".tgz", true, ARTIFACT_TAR_GZ},
    };
    struct str type =
        str_trim(str_slice(media_type, 0, str_find_char(media_type, ';')));
    struct str path = str_slice(url, 0, str_find_char(url, '?'));

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct str text = str_cstr(rows[i].text);

        if (rows[i].is_end
                ? path.n < text.n ||
                      !str_eq_nocase(str_from_index(path, path.n - text.n),
                                     text)
                : !str_eq_nocase(type, text))
            continue;
        *out = rows[i].format;
        return true;
    }
    return false;
}

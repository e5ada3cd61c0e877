#include "connection.h"

/*
 * Addresses of skills: skill://scope/name/file. A scope is a prefix, so the
 * name is always the last part before the file, as the Skills extension wants
 * it. Files are escaped as parts of a URI are (RFC 3986).
 */

#define SCHEME        "skill://"
#define URI_MAX_BYTES (3 * (size_t)LIBRARY_PATH_MAX_BYTES + 512)

static bool is_plain(char c)
{
    return char_is_alpha(c) || char_is_digit(c) || c == '-' || c == '.' ||
           c == '_' || c == '~' || c == '/';
}

static void put_escaped(struct buf *b, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (is_plain(s.p[i]))
            buf_char(b, s.p[i]);
        else
            buf_printf(b, "%%%02X", (unsigned char)s.p[i]);
    }
}

struct str serve_uri(const struct library_skill *skill, struct str path,
                     struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, URI_MAX_BYTES);
    buf_text(&b, SCHEME);
    if (skill->scope.n) {
        put_escaped(&b, skill->scope);
        buf_char(&b, '/');
    }
    put_escaped(&b, skill->name);
    if (path.n) {
        buf_char(&b, '/');
        put_escaped(&b, path);
    }
    return arena_str(a, buf_str(&b));
}

static bool unescape(struct str s, struct arena *a, struct str *out)
{
    char *p = arena_text(a, s.p, s.n);
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '%') {
            p[n++] = s.p[i];
            continue;
        }
        if (i + 2 >= s.n || char_hex(s.p[i + 1]) < 0 ||
            char_hex(s.p[i + 2]) < 0)
            return false;
        p[n++] = (char)(char_hex(s.p[i + 1]) * 16 + char_hex(s.p[i + 2]));
        i += 2;
    }
    *out = str_make(p, n);
    return true;
}

/* Finds a skill with or without a scope. If a skill has the name of another
 * one's scope, the longer URI takes precedence. */
static const struct library_skill *find_skill(const struct library *l,
                                              struct str *rest)
{
    const struct library_skill *skill;
    struct str behind = *rest, first, second;

    str_cut(&behind, '/', &first);
    *rest = behind;
    if (behind.p && str_cut(&behind, '/', &second)) {
        skill = library_find(l, second);
        if (skill && skill->scope.n && str_eq(skill->scope, first)) {
            *rest = behind;
            return skill;
        }
    }
    skill = library_find(l, first);
    return skill && skill->scope.n == 0 ? skill : NULL;
}

bool serve_uri_find(const struct library *l, struct str uri, struct arena *a,
                    const struct library_skill **skill, struct str *path)
{
    struct str rest;

    if (uri.n > URI_MAX_BYTES || !str_starts(uri, STR(SCHEME)) ||
        !unescape(str_from_index(uri, sizeof SCHEME - 1), a, &rest))
        return false;
    *skill = find_skill(l, &rest);
    if (!*skill)
        return false;
    *path = rest.p ? rest : STR("");
    /* "x/" does not name "x", and "a/../b" names nothing */
    return !rest.p || library_path_is_served(rest);
}

/* --- media types -------------------------------------------------------- */

struct str serve_mime(struct str path, bool is_text)
{
    static const struct {
        const char *end, *mime;
    } rows[] = {
        {".md", "text/markdown"},      {".markdown", "text/markdown"},
        {".json", "application/json"}, {".yaml", "application/yaml"},
        {".yml", "application/yaml"},  {".toml", "application/toml"},
        {".csv", "text/csv"},          {".html", "text/html"},
        {".css", "text/css"},          {".js", "text/javascript"},
        {".py", "text/x-python"},      {".star", "text/x-python"},
        {".sh", "application/x-sh"},   {".xml", "application/xml"},
        {".svg", "image/svg+xml"},     {".png", "image/png"},
        {".jpg", "image/jpeg"},        {".jpeg", "image/jpeg"},
        {".gif", "image/gif"},         {".webp", "image/webp"},
        {".pdf", "application/pdf"},   {".zip", "application/zip"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_ends(path, str_cstr(rows[i].end)))
            return str_cstr(rows[i].mime);
    return is_text ? STR("text/plain") : STR("application/octet-stream");
}

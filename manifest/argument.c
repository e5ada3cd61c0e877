#include "mapm/git_host.h"
#include "mapm/limits.h"
#include "mapm/range.h"

#include <string.h>

#include "origin.h"

/* Parses origins as users type them: `owner/repo[/path][@ref]`, the URL of a
 * repository, or a path on this machine. Documents may contain none of these
 * forms. */

static bool is_local(struct str s)
{
    return str_starts(s, STR("/")) || str_starts(s, STR("./")) ||
           str_starts(s, STR("../")) || str_starts(s, STR("~/")) ||
           str_is(s, ".") || str_is(s, "..") || str_is(s, "~");
}

/* Returns the length of `path` without its last component ("/a" of "/a/b"). */
static size_t parent_length(const char *path, size_t n)
{
    while (n > 0 && path[n - 1] != '/')
        n--;
    return n > 0 ? n - 1 : 0;
}

/* Resolves `path` relative to `base`, with a "/" at the end, which
 * origin_take_path() drops. "." and ".." are resolved lexically, without looking
 * at the file system. */
static struct str resolve(struct str base, struct str path, struct arena *a)
{
    struct str rest = str_join(str_join(base, STR("/"), a), path, a), part;
    char *out = arena_alloc(a, rest.n + 2);
    size_t n = 0;

    while (str_cut(&rest, '/', &part)) {
        if (str_is(part, "..")) {
            n = parent_length(out, n);
        } else if (part.n && !str_is(part, ".")) {
            out[n++] = '/';
            memcpy(out + n, part.p, part.n);
            n += part.n;
        }
    }
    out[n++] = '/';
    return str_make(out, n);
}

static bool parse_local(struct str text, struct str cwd, struct str home,
                        struct arena *a, struct origin *out, struct err *e)
{
    struct str base = cwd, path = text;

    if (text.p[0] == '/') {
        base = STR("");
    } else if (text.p[0] == '~') {
        base = home;
        path = str_from_index(text, 1);
        if (!str_starts(home, STR("/")))
            return origin_refuse(text, "your home folder is not known", e);
    }
    return origin_take_path(text, resolve(base, path, a), a, out, e);
}

/* Returns the offset of the "@" before the ref: the first one that does not
 * begin a path component, as in "packages/@acme/x". The ref itself may contain
 * "@" ("x@1.0.0"). */
static size_t find_ref(struct str s)
{
    for (size_t i = 1; i < s.n; i++)
        if (s.p[i] == '@' && s.p[i - 1] != '/')
            return i;
    return SIZE_MAX;
}

static void set_short_texts(struct origin *o, struct arena *a)
{
    bool usual =
        str_is(o->host, git_hosts[0].homes[0]) && find_ref(o->path) == SIZE_MAX;
    struct str tail =
        arena_printf(a, "%s%.*s%s%.*s", o->ref.n ? "@" : "", STR_ARG(o->ref),
                     o->path.n ? "//" : "", STR_ARG(o->path));

    o->text =
        usual ? arena_printf(a, "%.*s%s%.*s%s%.*s", STR_ARG(o->repository),
                             o->path.n ? "/" : "", STR_ARG(o->path),
                             o->ref.n ? "@" : "", STR_ARG(o->ref))
              : arena_printf(a, "%s://%.*s%s%.*s/%.*s%.*s",
                             o->transport == HOST_OVER_SSH ? "ssh" : "https",
                             STR_ARG(o->user), o->user.n ? "@" : "",
                             STR_ARG(origin_authority(o, a)),
                             STR_ARG(o->repository), STR_ARG(tail));
    o->key = arena_printf(a, "%.*s%.*s", STR_ARG(origin_repository(o, a)),
                          STR_ARG(tail));
    o->is_short = true;
}

static const char *short_fault(const struct origin *o, bool has_ref)
{
    if (has_ref && !origin_ref_is_valid(o->ref))
        return "what follows \"@\" is not a ref that git allows";
    if (has_ref && origin_path_fault(o->ref))
        return "its ref cannot be written in a URL";
    if (o->path.n > PACKAGE_PATH_MAX_BYTES)
        return "its path is too long";
    return o->path.n ? origin_path_fault(o->path) : NULL;
}

static bool check_short(struct str text, const struct origin *o, bool has_ref,
                        struct err *e)
{
    bool is_range = range_is_meant(o->ref);
    const char *fault = short_fault(o, has_ref && !is_range);

    if (fault)
        return origin_refuse(text, fault, e);
    return !is_range || origin_check_range(text, o->ref, true, e);
}

/* Cuts "@ref", or npm's "#ref" and "#semver:^1.2", off the end of `*text` and
 * stores the ref in `*ref`. Returns false if there is no ref. */
static bool cut_ref(struct str *text, struct str *ref)
{
    size_t at = find_ref(*text), hash = str_find_char(*text, '#');
    bool is_hash = hash < at;

    if (is_hash)
        at = hash;
    *ref = STR("");
    if (at == SIZE_MAX)
        return false;
    *ref = str_from_index(*text, at + 1);
    if (is_hash && str_starts(*ref, STR("semver:")))
        *ref = str_from_index(*ref, strlen("semver:"));
    text->n = at;
    return true;
}

/* Owner names contain no dot, so the first component may be meant as a host. */
static bool hint_short(struct str text, struct err *e)
{
    if (str_has_char(str_slice(text, 0, str_find_char(text, '/')), '.'))
        return err_hint(e, "on a host other than %s write https://%.*s",
                        git_hosts[0].homes[0], STR_ARG(text_cut(text, 300)));
    return err_hint(e, "write owner/repo[/path][@ref], a full URL, or "
                       "./folder for a folder on this machine");
}

/* Parses "owner/repo[/path][@ref]" by prepending the default host and parsing
 * the result as a URL. */
static bool parse_short(struct str text, const struct origin_rules *rules,
                        struct arena *a, struct origin *out, struct err *e)
{
    struct origin o = {0};
    struct str head = text, ref, rest;
    bool has_ref = cut_ref(&head, &ref);

    rest = arena_printf(a, "%s/%.*s", git_hosts[0].homes[0], STR_ARG(head));
    if (!origin_take_repository(head, HOST_OVER_HTTPS, &rest, rules, a, &o, e))
        return hint_short(text, e);
    rest = str_from_index(rest, rest.n > 0);
    while (rest.n && rest.p[rest.n - 1] == '/')
        rest.n--;
    o.path = arena_str(a, rest);
    o.ref = arena_str(a, ref);
    if (has_ref && !ref.n)
        return origin_refuse(text, "has no ref behind \"@\"", e);
    if (str_is(o.ref, "HEAD"))
        o.ref = STR(""); /* the default branch */
    return origin_finish_short(text, &o, a, out, e);
}

struct str origin_typed(const struct origin *o, struct str path,
                        struct arena *a)
{
    struct origin at = *o;

    at.path = path;
    at.ref = STR("");
    set_short_texts(&at, a);
    return at.text;
}

bool origin_at_ref(const struct origin *o, struct str path, struct str ref,
                   struct str text, struct arena *a, struct origin *out,
                   struct err *e)
{
    struct origin at = *o;

    at.path = path;
    at.ref = ref;
    at.rest = at.part = (struct str){0};
    return check_short(text, &at, true, e) &&
           origin_finish_short(text, &at, a, out, e);
}

bool origin_finish_short(struct str text, const struct origin *o,
                         struct arena *a, struct origin *out, struct err *e)
{
    struct origin full = *o;

    if (!check_short(text, o, o->ref.n > 0, e))
        return false;
    set_short_texts(&full, a);
    *out = full;
    return true;
}

bool origin_parse_argument(struct str text, struct str cwd, struct str home,
                           const struct origin_rules *rules, struct arena *a,
                           struct origin *out, struct err *e)
{
    size_t colon = str_find_char(text, ':');

    if (text.n == 0 || text.n > ORIGIN_MAX_BYTES ||
        str_starts(text, STR("file:")))
        return origin_parse(text, rules, a, out, e);
    if (origin_is_of_index(text) || origin_is_index(text, rules))
        return origin_parse_index(text, a, out, e);
    if (is_local(text))
        return parse_local(text, cwd, home, a, out, e);
    if (colon != SIZE_MAX && colon < str_find_char(text, '/'))
        return origin_parse_pasted(text, rules, a, out, e);
    if (git_host_find(str_slice(text, 0, str_find_char(text, '/')),
                      rules ? rules->hosts : NULL,
                      rules ? rules->host_count : 0))
        return origin_parse_pasted(text, rules, a, out, e);
    if (!str_has_char(text, '/')) {
        origin_refuse(text, "neither a URL nor owner/repo", e);
        return err_hint(e,
                        "write owner/repo[/path][@ref], a full URL, or "
                        "./%.*s for a folder on this machine",
                        (int)(text.n < 60 ? text.n : 60), text.p);
    }
    return parse_short(text, rules, a, out, e);
}

#include "base/path.h"
#include "mapm/limits.h"

#include <stdio.h>
#include <string.h>

#include "origin.h"

/* Parses URLs that users paste: from a browser, from `git remote -v`, or as
 * other programs write them. The forms of each kind of host are in the table in
 * git_host.c. Source: H1; HOSTS 2, 3. */

struct pasted {
    struct str text; /* as typed, for messages */
    const struct origin_rules *rules;
    struct arena *a;
    struct origin o;

    bool is_clone;   /* a clone URL, in which "#" precedes a ref */
    bool is_name;    /* "github:o/r", which may be followed by a path */
    struct str path; /* after the host */
    struct str query, fragment;
    struct str below; /* after "//" */
    struct git_host_match found;

    /* Ref and path in the repository: together in `rest`, or in the two
     * others. */
    struct str rest, ref, in_path;
    bool has_path; /* in_path was given apart from `rest` */
};

static bool refuse(const struct pasted *p, const char *fault, struct err *e)
{
    return origin_refuse(p->text, fault, e);
}

/* --- forms ------------------------------------------------------------------ */

/* Rejects "codecommit::eu-west-1://n", for which git would execute a helper
 * program. */
static bool refuse_helper(const struct pasted *p, struct err *e)
{
    struct git_host_match found;
    size_t at = str_find(p->text, STR("://"));
    struct str host = str_slice(p->text, 0, at), path;

    refuse(p, "needs a helper program of git, and mapm runs none", e);
    if (at == SIZE_MAX)
        return false;
    path = str_from_index(p->text, at + 3);
    at = str_find_char(path, '@');
    path = str_from_index(path, at == SIZE_MAX ? 0 : at + 1);
    for (size_t i = 0; i < git_host_count; i++)
        if (git_host_match(&git_hosts[i], HOST_OVER_HTTPS, host, path, p->a,
                           &found) &&
            !str_eq(found.host, host))
            return err_hint(e, "write https://%.*s/%.*s", STR_ARG(found.host),
                            STR_ARG(found.repository));
    return false;
}

static bool refuse_scheme(const struct pasted *p, struct str scheme,
                          struct str rest, struct err *e)
{
    char fault[80];

    snprintf(fault, sizeof fault, "%.*s:// is not read",
             (int)(scheme.n < 40 ? scheme.n : 40), scheme.p);
    refuse(p, fault, e);
    if (str_is(scheme, "http") || str_is(scheme, "git"))
        return err_hint(e, "write https://%.*s", STR_ARG(text_cut(rest, 300)));
    return err_hint(e, "write https://<host>/<repository>");
}

/* Reads "github:o/r". */
static bool take_name(struct pasted *p, struct str name, struct str rest)
{
    const struct git_host *g = git_host_of_kind(name);

    if (!g || !g->homes[0])
        return false;
    p->is_clone = p->is_name = true;
    p->path = arena_printf(p->a, "%s/%.*s", g->homes[0], STR_ARG(rest));
    return true;
}

/* Reads "[user@]host:path". */
static bool take_scp(struct pasted *p, struct str host, struct str path)
{
    if (!str_has_char(host, '@') && !str_has_char(host, '.'))
        return false;
    while (path.n && path.p[0] == '/')
        path = str_from_index(path, 1);
    p->is_clone = true;
    p->o.transport = HOST_OVER_SSH;
    p->path = arena_printf(p->a, "%.*s/%.*s", STR_ARG(host), STR_ARG(path));
    return true;
}

/* Cuts "https://" and the like off the start and leaves "host/path". */
static bool read_form(struct pasted *p, struct err *e)
{
    static const char *const prefixes[] = {"git+", "git::"};
    struct str text = p->text, head;
    size_t colon;

    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        if (str_starts(text, str_cstr(prefixes[i]))) {
            text = str_from_index(text, strlen(prefixes[i]));
            p->is_clone = true;
        }
    colon = str_find_char(text, ':');
    head = str_slice(text, 0, colon);
    if (str_find_char(text, '/') < colon) { /* "github.com/o/r" */
        p->is_name = true;
        p->path = text;
        return true;
    }
    if (origin_url_start(text, &p->path, &p->o.transport)) {
        p->is_clone |= p->o.transport == HOST_OVER_SSH;
        return true;
    }
    if (str_starts(str_from_index(text, colon), STR("://")))
        return refuse_scheme(p, head, str_from_index(text, colon + 3), e);
    if (str_starts(str_from_index(text, colon), STR("::")))
        return refuse_helper(p, e);
    text = str_from_index(text, colon + 1);
    if (take_name(p, head, text) || take_scp(p, head, text))
        return true;
    return refuse(p, "is neither an https: URL nor a file: path", e);
}

/* Cuts `*s` at the first `mark` and returns the text after it. */
static struct str cut_behind(struct str *s, char mark)
{
    size_t at = str_find_char(*s, mark);
    struct str end = str_make("", 0);

    if (at != SIZE_MAX) {
        end = str_from_index(*s, at + 1);
        s->n = at;
    }
    return end;
}

static struct str trim_slashes(struct str s)
{
    while (s.n && s.p[0] == '/')
        s = str_from_index(s, 1);
    while (s.n && s.p[s.n - 1] == '/')
        s.n--;
    return s;
}

/* --- escapes ---------------------------------------------------------------- */

/* Decodes %-escapes once. With `keeps_slash`, "%2F" is kept. Invalid escapes
 * are kept, too; the origin is rejected later because of their "%". */
static struct str decode(struct str s, bool keeps_slash, struct arena *a)
{
    char *out = arena_text(a, s.p, s.n);
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        int high = s.p[i] == '%' && s.n - i > 2 ? char_hex(s.p[i + 1]) : -1;
        int low = high < 0 ? -1 : char_hex(s.p[i + 2]);
        char c = (char)(high * 16 + low);

        if (low < 0) {
            out[n++] = s.p[i];
            continue;
        }
        if (keeps_slash && c == '/') {
            memcpy(out + n, "%2F", 3);
            n += 3;
        } else {
            out[n++] = c;
        }
        i += 2;
    }
    out[n] = '\0';
    return str_make(out, n);
}

/* --- the repository ---------------------------------------------------------- */

/* Removes the user of "https://user@host". A URL with a password is rejected
 * later, because that is a secret. */
static void drop_user(struct pasted *p)
{
    struct str authority = str_slice(p->path, 0, str_find_char(p->path, '/'));
    size_t at = str_find_last(authority, '@');

    if (p->o.transport == HOST_OVER_SSH || at == SIZE_MAX ||
        str_has_char(str_slice(authority, 0, at), ':') ||
        str_has_char(str_slice(authority, 0, at), '@'))
        return;
    p->o.has_left_user_out = true;
    p->path = str_from_index(p->path, at + 1);
}

static void drop_www(struct origin *o)
{
    struct str rest = str_from_index(o->host, strlen("www."));

    if (str_starts(o->host, STR("www.")) && git_host_built_in(rest))
        o->host = rest;
}

/* Matches a path such as "r.git@v1" and stores the text after "@" as ref. */
static bool find_at(struct pasted *p, const struct git_host *g)
{
    struct str path = p->path;
    size_t at = 1;

    while (at < path.n && (path.p[at] != '@' || path.p[at - 1] == '/'))
        at++;
    if (at >= path.n ||
        !git_host_match(g, p->o.transport, p->o.host, str_slice(path, 0, at),
                        p->a, &p->found) ||
        p->found.page || (p->found.rest.n && !p->is_name))
        return false;
    p->ref = str_from_index(path, at + 1);
    return true;
}

static bool find_match(struct pasted *p, const struct git_host *g)
{
    p->ref = str_make("", 0);
    return find_at(p, g) || git_host_match(g, p->o.transport, p->o.host,
                                           p->path, p->a, &p->found);
}

static bool find_kind(struct pasted *p, struct err *e)
{
    const struct origin_rules *rules = p->rules;
    const struct git_host *g = git_host_find(
        p->o.host, rules ? rules->hosts : NULL, rules ? rules->host_count : 0);

    p->o.kind = g;
    if (!g && (!rules || !rules->any_host))
        return origin_refuse_host(p->text, &p->o, p->path, rules, e);
    if (!g) /* a guess, which the caller verifies */
        g = host_kind_by_shape(p->o.host, p->path);
    p->o.kind = g ? g : &git_hosts[git_host_count - 1];
    return true;
}

/* Replaces ssh with https if the host is known to serve the repository there,
 * so that all users have the same origin. */
static void set_transport(struct pasted *p)
{
    const struct origin_rules *rules = p->rules;
    bool is_known = git_host_find(p->o.host, rules ? rules->hosts : NULL,
                                  rules ? rules->host_count : 0);
    bool is_moved = !str_eq(p->o.host, p->found.host);

    if (p->o.transport != HOST_OVER_SSH ||
        !(is_moved ||
          (is_known && (p->o.port == 0 || p->o.port == p->o.kind->ssh_port))))
        return;
    p->o.was_ssh = true;
    p->o.has_left_user_out =
        p->o.user.n && !str_is(p->o.user, p->o.kind->ssh_user);
    p->o.transport = HOST_OVER_HTTPS;
    p->o.user = str_make("", 0);
    p->o.port = 0;
}

static bool refuse_other(struct pasted *p, struct err *e)
{
    char fault[64];

    snprintf(fault, sizeof fault, "is %s, and no package", p->found.page->name);
    return refuse(p, fault, e);
}

static bool refuse_address(struct pasted *p, struct err *e)
{
    char fault[80];

    snprintf(fault, sizeof fault, "is not the address of a repository on %s",
             p->o.kind->title);
    return refuse(p, fault, e);
}

static bool read_repository(struct pasted *p, struct err *e)
{
    struct str authority;
    const char *fault;

    drop_user(p);
    if (!str_cut(&p->path, '/', &authority))
        authority = p->path;
    fault = origin_read_authority(authority, &p->o, p->a);
    if (fault)
        return refuse(p, fault, e);
    drop_www(&p->o);
    p->path = trim_slashes(p->path);
    if (!find_kind(p, e))
        return false;
    if (!find_match(p, p->o.kind))
        return refuse_address(p, e);
    if (p->found.page && p->found.page->shows == GIT_PAGE_OTHER)
        return refuse_other(p, e);
    set_transport(p);
    p->o.host = p->found.host;
    p->o.repository = p->found.repository;
    if (!(p->rules && p->rules->any_host) &&
        !origin_host_is_known(&p->o, p->rules))
        return origin_refuse_host(p->text, &p->o, p->path, p->rules, e);
    return origin_check_repository(p->text, &p->o, e);
}

/* --- the place in it ---------------------------------------------------------- */

static void take_ref(struct pasted *p, const char *prefix, struct str ref)
{
    p->ref = prefix && *prefix ? str_join(str_cstr(prefix), ref, p->a) : ref;
}

static void take_path(struct pasted *p, struct str path)
{
    p->in_path = trim_slashes(path);
    p->has_path = true;
}

/* Splits "main/item/skills/x" into ref and path at the word page->until. */
static void split_at(struct pasted *p, const struct git_host_page *page,
                     struct str rest)
{
    struct str left = rest, part;

    while (str_cut(&left, '/', &part))
        if (str_is(part, page->until)) {
            take_path(p, left);
            rest = str_slice(rest, 0, (size_t)(part.p - rest.p));
            break;
        }
    take_ref(p, page->ref, trim_slashes(rest));
}

static void read_page(struct pasted *p)
{
    const struct git_host_page *page = p->found.page;
    struct str rest = decode(p->found.rest, true, p->a);

    switch (page->shows) {
    case GIT_PAGE_PATH:
        take_path(p, rest);
        return;
    case GIT_PAGE_REF:
        take_ref(p, page->ref, decode(rest, false, p->a));
        return;
    default:
        break;
    }
    if (page->until && rest.n)
        split_at(p, page, rest);
    else if (rest.n)
        p->rest = page->ref ? str_join(str_cstr(page->ref), rest, p->a) : rest;
}

/* Returns the text after the ref, assuming that the ref is one component. */
static struct str behind_ref(struct str rest)
{
    size_t slash = str_find_char(rest, '/');

    return slash == SIZE_MAX ? str_make("", 0) : str_from_index(rest, slash);
}

static void apply_query(struct pasted *p, const struct git_host_query *q,
                        struct str value)
{
    struct str from = str_from_index(value, strlen(q->value));

    switch (q->says) {
    case GIT_QUERY_PATH:
        take_path(p, from);
        break;
    case GIT_QUERY_REF:
        take_ref(p, q->ref, from);
        if (p->rest.n)
            take_path(p, behind_ref(p->rest));
        p->rest = str_make("", 0);
        break;
    case GIT_QUERY_REF_KIND:
        if (p->rest.n)
            p->rest = str_join(str_cstr(q->ref), p->rest, p->a);
        break;
    default:
        break;
    }
}

/* Query parameters that Terraform and Nix add. */
static const struct git_host_query clone_queries[] = {
    {GIT_QUERY_REF, "ref", "", ""},
    {GIT_QUERY_REF, "rev", "", ""},
    {GIT_QUERY_PATH, "dir", "", ""},
};

static bool use_query(struct pasted *p, const struct git_host_query *list,
                      size_t count, struct str name, struct str value)
{
    for (size_t i = 0; i < count && list[i].says; i++)
        if (str_is(name, list[i].name) &&
            str_starts(value, str_cstr(list[i].value))) {
            apply_query(p, &list[i], value);
            return true;
        }
    return false;
}

static void leave_out(struct pasted *p, const char *mark, struct str text)
{
    if (text.n)
        p->o.left_out = arena_printf(p->a, "%.*s%s%.*s", STR_ARG(p->o.left_out),
                                     mark, STR_ARG(text));
}

static void read_query(struct pasted *p)
{
    struct str rest = p->query, item;

    while (rest.n && str_cut(&rest, '&', &item)) {
        struct str value = item, name;

        str_cut(&value, '=', &name);
        value = decode(value, false, p->a);
        if (!use_query(p, p->o.kind->queries, GIT_HOST_MAX_QUERIES, name,
                       value) &&
            !(p->is_clone &&
              use_query(p, clone_queries,
                        sizeof clone_queries / sizeof *clone_queries, name,
                        value)))
            leave_out(p, "?", name); /* the value, which may be a token, is
                                      * not shown */
    }
}

/* Reads a fragment: "#v1", "#semver:^1.2", "#subdirectory=x", "#v1&path:/x". */
static void read_fragment(struct pasted *p)
{
    static const char *const paths[] = {"subdirectory=", "path:"};
    struct str rest = p->fragment, item;

    while (rest.n && str_cut(&rest, '&', &item)) {
        struct str value = decode(item, false, p->a);
        bool is_path = false;

        for (size_t i = 0; i < sizeof paths / sizeof *paths && !is_path; i++) {
            is_path = str_starts(value, str_cstr(paths[i]));
            if (is_path)
                take_path(p, str_from_index(value, strlen(paths[i])));
        }
        if (is_path)
            continue;
        if (str_starts(value, STR("semver:")))
            p->ref = str_from_index(value, strlen("semver:"));
        else if (p->is_clone)
            p->ref = value;
        else
            leave_out(p, "#", item);
    }
}

/* --- files -------------------------------------------------------------------- */

/* Replaces the path of an entry file with that of its folder. */
static struct str drop_document(struct str path)
{
    static const char *const names[] = {"SKILL.md", "AGENTS.md"};
    struct str last = path_last(path);

    return STR_IS_ONE_OF(last, names)
               ? trim_slashes(str_slice(path, 0, path.n - last.n))
               : path;
}

/* Rejects other files, with a hint that names their folder, which may be a
 * package. */
static bool refuse_file(struct pasted *p, struct err *e)
{
    struct origin folder = p->o;
    size_t slash = str_find_last(p->rest, '/');

    refuse(p, "shows one file, and no package", e);
    if (slash == SIZE_MAX)
        return false;
    folder.rest = str_slice(p->rest, 0, slash);
    origin_set_texts(&folder, STR(""), p->a);
    return err_hint(e, "its folder is %.*s", STR_ARG(folder.text));
}

static bool read_file(struct pasted *p, struct err *e)
{
    const struct git_host_page *page = p->found.page;
    struct str whole = p->rest;

    p->rest = drop_document(p->rest);
    p->in_path = drop_document(p->in_path);
    return !page || page->shows != GIT_PAGE_FILE || whole.n == 0 ||
           p->rest.n < whole.n || str_ends(whole, STR(".json")) ||
           refuse_file(p, e);
}

/* A link to HEAD shows the default branch. */
static void read_head(struct pasted *p)
{
    struct str below = p->rest, first;

    if (str_is(p->ref, "HEAD"))
        p->ref = STR("");
    if (!p->rest.n || !str_cut(&below, '/', &first) || !str_is(first, "HEAD"))
        return;
    take_path(p, below);
    p->rest = STR("");
}

/* --- all of it ------------------------------------------------------------------ */

static bool read_place(struct pasted *p, struct err *e)
{
    if (p->found.page)
        read_page(p);
    if (!p->found.page && p->found.rest.n) {
        if (!p->is_name || p->below.n)
            return origin_refuse_page(p->text, &p->o, e);
        take_path(p, p->found.rest);
    }
    if (p->below.n)
        take_path(p, decode(p->below, true, p->a));
    read_query(p);
    read_fragment(p);
    if (!read_file(p, e))
        return false;
    read_head(p);
    return true;
}

bool origin_parse_pasted(struct str text, const struct origin_rules *rules,
                         struct arena *a, struct origin *out, struct err *e)
{
    struct pasted p = {.text = text, .rules = rules, .a = a};
    size_t below;

    p.o = (struct origin){.scheme = ORIGIN_GIT};
    if (origin_byte_fault(text))
        return refuse(&p, origin_byte_fault(text), e);
    if (!read_form(&p, e))
        return false;
    p.fragment = cut_behind(&p.path, '#');
    p.query = cut_behind(&p.path, '?');
    below = str_find(p.path, STR("//"));
    if (below != SIZE_MAX && below > 0) {
        p.below = str_from_index(p.path, below + 2);
        p.path.n = below;
    }
    p.is_clone |= str_ends(trim_slashes(p.path), STR(".git"));
    p.path = arena_str(a, p.path);
    if (!read_repository(&p, e) || !read_place(&p, e))
        return false;
    if (p.rest.n && (p.has_path || p.ref.n))
        return refuse(&p, "its path has an empty part", e);
    p.o.is_spelled_out = str_starts(p.rest, STR("refs/"));
    if (p.rest.n)
        return origin_finish(text, &p.o, p.rest, false, a, out, e);
    p.o.ref = p.ref;
    p.o.path = p.in_path;
    return origin_finish_short(text, &p.o, a, out, e);
}

/* Removes a user and password from the URL. */
static struct str drop_secret(struct str url, struct arena *a)
{
    size_t start = str_find(url, STR("://")), at;
    struct str rest;

    if (start == SIZE_MAX || !str_starts(url, STR("https://")))
        return url;
    rest = str_from_index(url, start + 3);
    at = str_find_last(str_slice(rest, 0, str_find_char(rest, '/')), '@');
    return at == SIZE_MAX ? url
                          : str_join(str_slice(url, 0, start + 3),
                                     str_from_index(rest, at + 1), a);
}

struct str origin_of_remote(struct str url, struct arena *a)
{
    static const struct origin_rules any = {.any_host = true};
    struct err ignored = {0};
    struct origin o;

    if (url.n > ORIGIN_MAX_BYTES || !str_has_char(url, ':') ||
        !origin_parse_pasted(drop_secret(url, a), &any, a, &o, &ignored) ||
        !o.is_short || o.ref.n || o.path.n)
        return str_make("", 0);
    return origin_repository(&o, a);
}

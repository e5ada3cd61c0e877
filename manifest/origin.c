#include "origin.h"

#include "base/path.h"
#include "mapm/git_host.h"
#include "mapm/limits.h"
#include "mapm/range.h"

#include <stdio.h>
#include <string.h>

/* Parses origins with an allow-list: each byte must be allowed in a host name,
 * an owner, a repository or a path. Invalid origins are rejected, not repaired.
 * Source: M13 to M15, X13; THREATS row 10. */

#define PART_MAX_CHARS       100 /* of a component of a repository's path */
#define REPOSITORY_MAX_PARTS 20
#define USER_MAX_CHARS       64

/* Returns the start and end of "user:password@" in a URL, which is often a
 * token. */
static size_t find_secret(struct str text, size_t *end)
{
    size_t start = str_find(text, STR("://")), at;
    struct str who;

    if (start == SIZE_MAX)
        return SIZE_MAX;
    start += strlen("://");
    who = str_from_index(text, start);
    at = str_find_last(str_slice(who, 0, str_find_char(who, '/')), '@');
    if (at == SIZE_MAX || (str_starts(text, STR("ssh:")) &&
                           !str_has_char(str_slice(who, 0, at), ':')))
        return SIZE_MAX;
    *end = start + at;
    return start;
}

bool origin_refuse(struct str text, const char *fault, struct err *e)
{
    CLEANUP(buf_done) struct buf shown = {0};
    size_t end = 0, start = find_secret(text, &end);

    buf_init(&shown, 4 * ORIGIN_MAX_BYTES);
    if (start != SIZE_MAX) {
        text_visible(&shown, text_cut(str_slice(text, 0, start), 300), false);
        buf_text(&shown, "...");
        text = str_from_index(text, end);
    }
    text_visible(&shown, text_cut(text, 300), false);
    err_set(e, ERR_ORIGIN, "origin \"%s\": %s", shown.p ? shown.p : "", fault);
    return err_hint(e,
                    "an origin is https://%s/<owner>/<repo>/%s/<ref>[/path], "
                    "https://<host>/<repository>/%s/<ref>[/path] or "
                    "file:<absolute path>",
                    git_hosts[0].homes[0], git_hosts[0].tree,
                    git_hosts[git_host_count - 1].tree);
}

/* --- parts ---------------------------------------------------------------- */

static bool is_name_char(char c)
{
    return char_is_alpha(c) || char_is_digit(c) || c == '-' || c == '_';
}

static bool has_upper(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] >= 'A' && s.p[i] <= 'Z')
            return true;
    return false;
}

/* Removes one ".git" at the end, which belongs to the URL and not to the
 * name. */
static struct str drop_git(struct str repo)
{
    struct str end = str_from_index(repo, repo.n < 4 ? 0 : repo.n - 4);

    return str_eq_nocase(end, STR(".git")) ? str_slice(repo, 0, repo.n - 4)
                                           : repo;
}

static bool is_owner(struct str owner)
{
    if (owner.n == 0 || owner.n > PART_MAX_CHARS || owner.p[0] == '-')
        return false;
    for (size_t i = 0; i < owner.n; i++)
        if (!is_name_char(owner.p[i]))
            return false;
    return true;
}

/* Returns true if `s` can be a component of a repository's path, such as "~u"
 * and "My%20Project". */
static bool is_part(struct str s, bool is_plain)
{
    if (s.n == 0 || s.n > PART_MAX_CHARS || str_is(s, ".") || str_is(s, "..") ||
        str_is(s, "-") || str_eq_nocase(s, STR(".git")))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (is_name_char(s.p[i]) || s.p[i] == '.')
            continue;
        if (is_plain)
            return false;
        if (str_starts(str_from_index(s, i), STR("%20")))
            i += 2;
        else if (i > 0 || s.p[i] != '~')
            return false;
    }
    return true;
}

static bool repository_is_valid(struct str repository, const struct git_host *g)
{
    struct str rest = repository, part;
    size_t count = 0;

    if (repository.n == 0 || repository.p[0] == '-')
        return false;
    for (; str_cut(&rest, '/', &part); count++)
        if (count == REPOSITORY_MAX_PARTS || !is_part(part, g->parts))
            return false;
    return (g->parts == 0 || count == g->parts) &&
           (g->keeps_suffix || drop_git(part).n == part.n);
}

/* Returns true if `s` has only visible characters, without those that some file
 * systems do not allow or that have a meaning in a URL. */
static bool is_path_text(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (strchr("\\:*?\"<>|#%", s.p[i]))
            return false;
    return text_is_visible(s);
}

static bool is_path_segment(struct str s)
{
    return s.n > 0 && s.n <= 255 && s.p[0] != ' ' && s.p[s.n - 1] != ' ' &&
           s.p[s.n - 1] != '.' && !str_eq_nocase(s, STR(".git")) &&
           is_path_text(s);
}

const char *origin_path_fault(struct str path)
{
    struct str rest = path, part;

    while (str_cut(&rest, '/', &part)) {
        if (part.n == 0)
            return "its path has an empty part";
        if (str_is(part, ".") || str_is(part, ".."))
            return "its path has a \".\" or \"..\" in it";
        if (!is_path_segment(part))
            return "its path has characters that are not allowed";
    }
    return NULL;
}

static bool is_ref_byte(char c)
{
    return (unsigned char)c > 0x20 && c != 0x7f && !strchr("~^:?*[\\", c);
}

static bool is_ref_component(struct str s)
{
    return s.n > 0 && s.p[0] != '.' && !str_ends(s, STR(".lock"));
}

bool origin_ref_is_valid(struct str ref)
{
    struct str rest = ref, part;

    if (ref.n == 0 || ref.n > REF_MAX_BYTES || ref.p[0] == '-' ||
        str_is(ref, "@") || ref.p[ref.n - 1] == '.' ||
        str_find(ref, STR("..")) != SIZE_MAX ||
        str_find(ref, STR("@{")) != SIZE_MAX)
        return false;
    for (size_t i = 0; i < ref.n; i++)
        if (!is_ref_byte(ref.p[i]))
            return false;
    while (str_cut(&rest, '/', &part))
        if (!is_ref_component(part))
            return false;
    return text_is_utf8(ref) && !text_has_control(ref);
}

/* Returns true if the ref needs no escapes in a URL. */
static bool ref_is_plain(struct str ref)
{
    return origin_ref_is_valid(ref) && is_path_text(ref);
}

/* --- full URLs ------------------------------------------------------------ */

/* Decodes "%2F", the only escape allowed in an origin, to "/". */
static struct str unescape(struct str s, bool upper_only, struct arena *a)
{
    char *copy = arena_text(a, s.p, s.n);
    size_t n = 0;

    for (size_t i = 0; i < s.n; i++) {
        bool escape =
            s.n - i >= 3 && str_eq_nocase(str_slice(s, i, i + 3), STR("%2F"));

        if (escape && !upper_only) {
            copy[n++] = '/';
            i += 2;
        } else if (escape) {
            memcpy(copy + n, "%2F", 3);
            n += 3;
            i += 2;
        } else {
            copy[n++] = s.p[i];
        }
    }
    copy[n] = '\0';
    return str_make(copy, n);
}

static const char *rest_fault(struct str rest, struct arena *a)
{
    size_t slash = str_find_char(rest, '/');
    struct str first = str_slice(rest, 0, slash);
    struct str path = str_from_index(rest, slash == SIZE_MAX ? rest.n : slash);

    if (first.n == 0)
        return "the ref after /tree/ is missing";
    if (str_is(first, "@") && path.n) /* "@/x" is a ref, "@" is not */
        return origin_path_fault(str_from_index(path, 1));
    if (!ref_is_plain(str_has_char(first, '%') ? unescape(first, false, a)
                                               : first))
        return "the ref after /tree/ is not one that git allows";
    return path.n ? origin_path_fault(str_from_index(path, 1)) : NULL;
}

bool origin_check_range(struct str text, struct str range, bool may_be_exact,
                        struct err *e)
{
    struct range r;

    if (!range_parse(range, &r, e))
        return err_wrap(e, "origin \"%.*s\"", STR_ARG(text_cut(text, 300)));
    for (size_t i = 0; i < r.count; i++)
        if (r.items[i].how == COMPARE_EQUAL &&
            !(may_be_exact && range_is_exact(&r))) {
            origin_refuse(text, "\"=\" is no part of a range", e);
            return err_hint(e, "write the tag itself, as v1.2.3; alone on the "
                               "command line also =1.2.3");
        }
    return true;
}

/* Reads a range at the start of `text` and decodes its escapes ("%5E1.2/x" to
 * "^1.2/x"), so that each range has one spelling. Sets `*is` to false if the
 * text starts with a ref instead. */
static bool take_range(struct str text, struct str *rest, bool *is,
                       struct arena *a, struct err *e)
{
    size_t slash = str_find_char(*rest, '/');
    struct str slot = range_unescape(str_slice(*rest, 0, slash), a);
    struct str path =
        str_from_index(*rest, slash == SIZE_MAX ? rest->n : slash);
    const char *fault;

    *is = range_is_meant(slot);
    if (!*is)
        return true;
    if (!origin_check_range(text, slot, false, e))
        return false;
    fault = path.n ? origin_path_fault(str_from_index(path, 1)) : NULL;
    if (fault)
        return origin_refuse(text, fault, e);
    *rest = str_join(range_escape(slot, a), path, a);
    return true;
}

/* Returns why a URL is rejected, with a specific message for each case, or
 * NULL. */
static const char *url_fault(struct str text)
{
    if (str_has_char(text, '?'))
        return "has a query (\"?\")";
    if (str_has_char(text, '#'))
        return "has a fragment (\"#\")";
    return origin_byte_fault(text);
}

const char *origin_byte_fault(struct str text)
{
    if (str_has_char(text, '\\'))
        return "has a backslash";
    if (!text_is_utf8(text) || text_has_control(text))
        return "has control characters or is not UTF-8";
    return NULL;
}

/* --- hosts ---------------------------------------------------------------- */

/* Returns true for a host name or the loopback address, the only numeric
 * address allowed. */
static bool is_host(struct str host)
{
    size_t dot = str_find_last(host, '.');

    if (origin_host_is_loopback(host))
        return true;
    return host_name_is_valid(host) && /* excludes 169.254.1.1 and 0x7f000001 */
           !char_is_digit(host.p[dot == SIZE_MAX ? 0 : dot + 1]);
}

static bool is_user(struct str user)
{
    if (user.n == 0 || user.n > USER_MAX_CHARS)
        return false;
    for (size_t i = 0; i < user.n; i++)
        if (!is_name_char(user.p[i]) && (i == 0 || !strchr(".+", user.p[i])))
            return false;
    return user.p[0] != '-';
}

static const char *read_port(struct str text, struct origin *o)
{
    unsigned own = o->transport == HOST_OVER_SSH ? 22 : 443;
    unsigned port;

    if (!host_port_parse(text, &port))
        return "its port is not a number from 1 to 65535";
    o->port = port == own ? 0 : port;
    return NULL;
}

/* "[user@]host[:port]" */
const char *origin_read_authority(struct str text, struct origin *o,
                                  struct arena *a)
{
    size_t at = str_find_last(text, '@'), colon;

    o->user = STR("");
    if (at != SIZE_MAX) {
        o->user = str_slice(text, 0, at);
        text = str_from_index(text, at + 1);
        if (o->transport != HOST_OVER_SSH)
            return "has a user name or password: tokens go into the "
                   "environment or git's credential helpers";
        if (!is_user(o->user))
            return "has no user name that ssh may be given";
    }
    colon = str_starts(text, STR("[")) ? str_find(text, STR("]:"))
                                       : str_find_char(text, ':');
    if (colon != SIZE_MAX && text.p[0] == '[')
        colon++;
    o->host = str_slice(text, 0, colon);
    if (o->host.n == 0)
        return "has no host";
    if (has_upper(o->host))
        o->host = str_lower(o->host, a);
    if (!is_host(o->host))
        return "its host is not a host name with its domain";
    return colon == SIZE_MAX ? NULL
                             : read_port(str_from_index(text, colon + 1), o);
}

/* Adds the configuration lines that would allow the host as a hint: the author
 * of the document may have configured a host that this user trusts but has not
 * configured. */
bool origin_refuse_host(struct str text, const struct origin *o,
                        struct str path, const struct origin_rules *rules,
                        struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    const struct git_host *kind = host_kind_by_shape(o->host, path);
    const struct host_config *known =
        rules ? host_config_find(o->host, rules->hosts, rules->host_count)
              : NULL;
    struct host_config h = {.host = o->host, .kind = o->kind};
    bool is_port = o->kind && o->port;

    if (known)
        h = *known;
    if (!h.kind)
        h.kind = kind ? kind : &git_hosts[git_host_count - 1];
    host_config_allow(&h, o->transport, o->port);
    origin_refuse(text,
                  is_port ? "has a port that its host is not known for"
                          : "its host is neither built in nor one of `hosts` "
                            "in your own configuration",
                  e);
    return err_hint(e,
                    "if you trust it: %.*s, or these lines in "
                    "your own ~/.config/mapm/config.yaml:\n"
                    "hosts:\n  - %.*s",
                    STR_ARG(host_config_command(&h, is_port, &scratch)),
                    STR_ARG(host_config_item(&h, &scratch)));
}

static bool origin_refuse_name(struct str text, const struct origin *o,
                               const char *what, struct err *e)
{
    char fault[80];

    snprintf(fault, sizeof fault, "its %s is not a valid %s name", what,
             o->kind->title);
    return origin_refuse(text, fault, e);
}

bool origin_refuse_page(struct str text, const struct origin *o, struct err *e)
{
    char fault[80];

    snprintf(fault, sizeof fault, "has no /%s/ after the repository",
             o->kind->tree);
    return origin_refuse(text, fault, e);
}

bool origin_check_repository(struct str text, const struct origin *o,
                             struct err *e)
{
    size_t slash = str_find_char(o->repository, '/');

    if (o->kind->parts && !is_owner(str_slice(o->repository, 0, slash)))
        return origin_refuse_name(text, o, "owner", e);
    return repository_is_valid(o->repository, o->kind) ||
           origin_refuse_name(text, o, "repository", e);
}

bool origin_host_is_known(const struct origin *o,
                          const struct origin_rules *rules)
{
    const struct host_config *known;

    known = rules ? host_config_find(o->host, rules->hosts, rules->host_count)
                  : NULL;
    if (o->port == 0)
        return known || git_host_of_home(o->host);
    if (!known || o->port == known->port)
        return known;
    for (size_t i = 0; i < known->port_count; i++)
        if (known->ports[i] == o->port)
            return true;
    return false;
}

struct str origin_authority(const struct origin *o, struct arena *a)
{
    return o->port ? arena_printf(a, "%.*s:%u", STR_ARG(o->host), o->port)
                   : o->host;
}

bool origin_folds(const struct origin *o)
{
    return o->kind && o->kind->folds && git_host_is_home(o->kind, o->host);
}

static struct str folded_name(const struct origin *o, struct arena *a)
{
    struct str name = drop_git(o->repository);

    return origin_folds(o) && has_upper(name) ? str_lower(name, a) : name;
}

/* --- their texts ---------------------------------------------------------- */

static struct str take_text(struct str *rest, size_t skip, size_t n)
{
    struct str part = str_slice(*rest, skip, skip + n);

    *rest = str_from_index(*rest, skip + n);
    return part;
}

static struct str key_of(const struct origin *o, struct arena *a)
{
    const struct str parts[] = {STR("https://"), origin_authority(o, a),
                                STR("/"),        folded_name(o, a),
                                STR("/"),        str_cstr(o->kind->tree),
                                STR("/"),        unescape(o->rest, true, a)};

    return str_concat(parts, sizeof parts / sizeof *parts, a);
}

static bool is_joined(struct str text, const struct str *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (!str_starts(text, parts[i]))
            return false;
        text = str_from_index(text, parts[i].n);
    }
    return text.n == 0;
}

/* The parts of an origin point into one text. If the origin was written as its
 * key, `written` is used as that text and nothing is allocated. */
void origin_set_texts(struct origin *o, struct str written, struct arena *a)
{
    bool is_ssh = o->transport == HOST_OVER_SSH;
    struct str authority = origin_authority(o, a), rest;
    const struct str parts[] = {is_ssh ? STR("ssh://") : STR("https://"),
                                o->user,
                                o->user.n ? STR("@") : STR(""),
                                authority,
                                STR("/"),
                                o->repository,
                                STR("/"),
                                str_cstr(o->kind->tree),
                                STR("/"),
                                o->rest};
    size_t port = authority.n - o->host.n;

    if (!is_joined(written, parts, sizeof parts / sizeof *parts))
        written = str_concat(parts, sizeof parts / sizeof *parts, a);
    o->text = o->key = rest = written;
    take_text(&rest, parts[0].n, 0);
    o->user = take_text(&rest, 0, o->user.n);
    o->host = take_text(&rest, parts[2].n, o->host.n);
    o->repository = take_text(&rest, port + 1, o->repository.n);
    o->rest = take_text(&rest, strlen(o->kind->tree) + 2, o->rest.n);
    if (is_ssh || (origin_folds(o) && has_upper(o->repository)) ||
        drop_git(o->repository).n < o->repository.n ||
        str_has_char(o->rest, '%'))
        o->key = key_of(o, a);
}

static struct str drop_slashes(struct str s)
{
    while (s.n && s.p[s.n - 1] == '/')
        s.n--;
    return s;
}

bool origin_url_start(struct str text, struct str *rest,
                      enum host_transport *transport)
{
    static const struct {
        const char *scheme;
        enum host_transport transport;
    } schemes[] = {{"https://", HOST_OVER_HTTPS}, {"ssh://", HOST_OVER_SSH}};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++) {
        struct str scheme = str_cstr(schemes[i].scheme);

        if (!str_eq_nocase(str_slice(text, 0, scheme.n), scheme))
            continue;
        *rest = str_from_index(text, scheme.n);
        *transport = schemes[i].transport;
        return true;
    }
    return false;
}

/* Returns the offset of `words` in `s`, as whole components after a "/", or
 * SIZE_MAX. */
static size_t find_words(struct str s, const char *words)
{
    size_t n = strlen(words);

    for (size_t i = 0; i + n < s.n; i++)
        if (s.p[i] == '/' &&
            str_starts(str_from_index(s, i + 1), str_cstr(words)) &&
            (i + 1 + n == s.n || s.p[i + 1 + n] == '/'))
            return i;
    return SIZE_MAX;
}

/* Returns the length of the repository in "owner/repo/tree/...". */
static size_t repository_length(struct str path, const struct git_host *g)
{
    size_t end, parts = 0;

    if (g->parts) {
        for (end = 0; end < path.n; end++)
            if (path.p[end] == '/' && ++parts == g->parts)
                break;
        return end;
    }
    end = find_words(path, g->tree);
    parts = str_find(path, STR("//"));
    if (end == SIZE_MAX || (parts != SIZE_MAX && parts < end))
        end = parts;
    if (end != SIZE_MAX)
        return end;
    end = path.n;
    while (end && path.p[end - 1] == '/')
        end--;
    return end;
}

static const struct git_host *kind_of(const struct origin *o, struct str path,
                                      const struct origin_rules *rules)
{
    const struct git_host *g = git_host_find(
        o->host, rules ? rules->hosts : NULL, rules ? rules->host_count : 0);

    if (g || !rules || !rules->any_host)
        return g;
    g = host_kind_by_shape(o->host, path);
    return g ? g : &git_hosts[git_host_count - 1];
}

/* Replaces the host and repository with their canonical names if the host has
 * several names for a repository. */
static void make_canonical(struct origin *o, struct arena *a)
{
    struct git_host_match found;

    if (o->kind->parts ||
        !git_host_match(o->kind, HOST_OVER_HTTPS, o->host, o->repository, a,
                        &found) ||
        found.page || found.rest.n)
        return;
    if (!str_eq(o->host, found.host))
        o->transport = HOST_OVER_HTTPS, o->user = STR(""), o->port = 0;
    o->host = found.host;
    o->repository = found.repository;
}

bool origin_take_repository(struct str text, enum host_transport transport,
                            struct str *rest, const struct origin_rules *rules,
                            struct arena *a, struct origin *o, struct err *e)
{
    const char *fault = url_fault(text);
    struct str path = *rest, authority = {0};
    size_t n;

    *o = (struct origin){.scheme = ORIGIN_GIT, .transport = transport};
    if (fault)
        return origin_refuse(text, fault, e);
    str_cut(&path, '/', &authority);
    fault = origin_read_authority(authority, o, a);
    if (fault)
        return origin_refuse(text, fault, e);
    o->kind = kind_of(o, path, rules);
    if (!o->kind)
        return origin_refuse_host(text, o, path, rules, e);
    n = repository_length(path, o->kind);
    o->repository = str_slice(path, 0, n);
    *rest = str_from_index(path, n);
    if (!o->kind->keeps_suffix)
        o->repository = drop_git(o->repository);
    if (!origin_check_repository(text, o, e))
        return false;
    make_canonical(o, a);
    return (rules && rules->any_host) || origin_host_is_known(o, rules) ||
           origin_refuse_host(text, o, path, rules, e);
}

/* Cuts `words` off the start of `*rest` if they are whole path components. */
static bool take_words(struct str *rest, const char *words)
{
    size_t n = strlen(words);

    if (!str_starts(*rest, str_cstr(words)) ||
        (rest->n > n && rest->p[n] != '/'))
        return false;
    *rest = str_from_index(*rest, rest->n > n ? n + 1 : n);
    return true;
}

/* Cuts off "/tree/", which separates the repository and the ref. */
static bool take_tree(struct str text, struct str *rest, const struct origin *o,
                      struct arena *a, struct err *e)
{
    const struct git_host *g = o->kind;
    struct str fault;

    *rest = str_from_index(*rest, 1);
    if (rest->n == 0 || rest->p[0] == '/') {
        fault =
            arena_printf(a, "names a repository, but no /%s/<ref>", g->tree);
        return origin_refuse(text, fault.p, e);
    }
    for (size_t i = 0; g->pages[i].shows; i++)
        if (g->pages[i].shows == GIT_PAGE_FILE &&
            take_words(rest, g->pages[i].words)) {
            fault =
                arena_printf(a, "shows one file: write /%s/ where it says /%s/",
                             g->tree, g->pages[i].words);
            return origin_refuse(text, fault.p, e);
        }
    if (take_words(rest, g->tree))
        return true;
    return origin_refuse_page(text, o, e);
}

bool origin_finish(struct str text, const struct origin *o, struct str rest,
                   bool keeps_text, struct arena *a, struct origin *out,
                   struct err *e)
{
    struct origin full = *o;
    const char *fault;
    bool is_range = false;

    rest = drop_slashes(rest);
    if (!take_range(text, &rest, &is_range, a, e))
        return false;
    fault = is_range ? NULL : rest_fault(rest, a);
    if (fault)
        return origin_refuse(text, fault, e);
    full.rest = rest;
    origin_set_texts(&full, keeps_text ? text : STR(""), a);
    if (full.text.n > ORIGIN_MAX_BYTES) /* escapes make a range longer */
        return origin_refuse(text, "is longer than 2,048 bytes", e);
    *out = full;
    return true;
}

static bool parse_url(struct str text, struct str rest,
                      enum host_transport transport,
                      const struct origin_rules *rules, struct arena *a,
                      struct origin *out, struct err *e)
{
    struct origin o;

    if (!origin_take_repository(text, transport, &rest, rules, a, &o, e))
        return false;
    if (o.transport == HOST_OVER_SSH && git_host_built_in(o.host)) {
        origin_refuse(text, "its repository is written as it is over https", e);
        return err_hint(e, "write https://%.*s/...", STR_ARG(o.host));
    }
    return take_tree(text, &rest, &o, a, e) &&
           origin_finish(text, &o, rest, rules && rules->keeps_text, a, out, e);
}

/* --- file: ---------------------------------------------------------------- */

static const char *file_fault(struct str path)
{
    struct str rest = path, part;

    if (!str_starts(path, STR("/")))
        return "file: takes an absolute path";
    if (!text_is_visible(path))
        return "its path has control or hidden characters or is not UTF-8";
    while (str_cut(&rest, '/', &part))
        if (str_is(part, ".") || str_is(part, ".."))
            return "its path has a \".\" or \"..\" in it";
    return NULL;
}

/* Returns the path without repeated and final slashes: "/a/b" of "/a//b/". */
static struct str squeeze(struct str path, struct arena *a)
{
    char *copy = arena_text(a, path.p, path.n);
    size_t n = 0;

    for (size_t i = 0; i < path.n; i++)
        if (path.p[i] != '/' || n == 0 || copy[n - 1] != '/')
            copy[n++] = path.p[i];
    while (n > 1 && copy[n - 1] == '/')
        n--;
    copy[n] = '\0';
    return str_make(copy, n);
}

bool origin_take_path(struct str text, struct str path, struct arena *a,
                      struct origin *out, struct err *e)
{
    const char *fault = file_fault(path);

    if (fault)
        return origin_refuse(text, fault, e);
    path = squeeze(path, a);
    if (path.n < 2)
        return origin_refuse(text, "names the root folder of the machine", e);
    *out = (struct origin){.scheme = ORIGIN_FILE, .path = path};
    out->text = out->key = str_join(STR("file:"), path, a);
    return true;
}

static bool parse_file(struct str text, struct arena *a, struct origin *out,
                       struct err *e)
{
    struct str path = str_from_index(text, 5);

    if (str_starts(path, STR("//")) && !str_starts(path, STR("///")))
        return origin_refuse(text, "file: takes a path, and no host", e);
    return origin_take_path(text, path, a, out, e);
}

/* --- of the workspace itself ---------------------------------------------- */

bool origin_is_own(struct str text)
{
    return str_starts(text, STR("./"));
}

/* Returns true for paths in .agents: packages there are found without a root,
 * and .agents/.mapm belongs to mapm. */
static bool is_agents_folder(struct str path, struct arena *a)
{
    return str_is(text_fold(str_slice(path, 0, str_find_char(path, '/')), a),
                  ".agents");
}

static const char *own_fault(struct str path, struct arena *a, struct err *e)
{
    if (path.n == 0)
        return NULL;
    if (!path_check(path, PACKAGE_PATH_MAX_BYTES, e))
        return err_first(e);
    if (is_agents_folder(path, a))
        return "what lies in .agents is used from there, without a root";
    /* blanks separate the fields of records and links of a workspace */
    return str_has_char(path, ' ') ? "its path has a blank" : NULL;
}

bool origin_parse_own(struct str text, struct arena *a, struct origin *out,
                      struct err *e)
{
    struct str path = drop_slashes(str_from_index(text, strlen("./")));
    struct err why = {0};
    const char *fault = own_fault(path, a, &why);

    if (fault) {
        origin_refuse(text, fault, e);
        return err_hint(e, "a package of this workspace is ./<path>, without "
                           "\"..\", blanks and links");
    }
    *out = (struct origin){.scheme = ORIGIN_OWN,
                           .path = arena_str(a, path),
                           .text = str_join(STR("./"), path, a)};
    out->key = out->text;
    return true;
}

bool origin_parse(struct str text, const struct origin_rules *rules,
                  struct arena *a, struct origin *out, struct err *e)
{
    enum host_transport transport;
    struct str rest;

    if (text.n == 0)
        return origin_refuse(text, "it is empty", e);
    if (text.n > ORIGIN_MAX_BYTES)
        return origin_refuse(text, "is longer than 2,048 bytes", e);
    if (str_starts(text, STR("file:")))
        return parse_file(text, a, out, e);
    if (origin_is_of_index(text))
        return origin_parse_index(text, a, out, e);
    if (origin_url_start(text, &rest, &transport))
        return parse_url(text, rest, transport, rules, a, out, e);
    return origin_refuse(text, "is neither an https: URL nor a file: path", e);
}

bool origin_parse_here(struct str text, const struct origin_rules *rules,
                       struct arena *a, struct origin *out, struct err *e)
{
    return origin_is_own(text) ? origin_parse_own(text, a, out, e)
                               : origin_parse(text, rules, a, out, e);
}

/* --- values --------------------------------------------------------------- */

void origin_complete(const struct origin *o, struct str ref, struct str path,
                     struct arena *a, struct origin *out)
{
    struct origin full = *o;

    if (o->scheme != ORIGIN_GIT) {
        *out = *o;
        return;
    }
    if (range_is_meant(ref))
        ref = range_escape(ref, a);
    full.is_short = full.is_spelled_out = false;
    full.ref = full.path = full.part = (struct str){0};
    full.rest = path.n
                    ? arena_printf(a, "%.*s/%.*s", STR_ARG(ref), STR_ARG(path))
                    : arena_str(a, ref);
    origin_set_texts(&full, STR(""), a);
    *out = full;
}

bool origin_in_repository(const struct origin *o, struct str name,
                          struct arena *a, struct origin *out)
{
    struct origin moved = *o;

    if (o->scheme != ORIGIN_GIT || o->is_short || o->rest.n == 0 ||
        !repository_is_valid(name, o->kind))
        return false;
    moved.repository = name;
    moved.part = str_make("", 0);
    origin_set_texts(&moved, STR(""), a);
    *out = o->part.n ? origin_with_part(&moved, o->part, a) : moved;
    return true;
}

struct str origin_slot_range(struct str slot, struct arena *a)
{
    slot = str_slice(slot, 0, str_find_char(slot, '/'));
    return range_is_meant(slot) ? range_unescape(slot, a) : str_make("", 0);
}

struct str origin_range(const struct origin *o, struct arena *a)
{
    return origin_slot_range(o->rest.n ? o->rest : o->ref, a);
}

struct str origin_slot_path(const struct origin *o)
{
    static const char *const names[] = {"refs/heads/", "refs/tags/"};
    struct str rest = o->rest, ref;

    if (rest.n == 0)
        return o->path;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_starts(o->rest, str_cstr(names[i])))
            rest = str_from_index(o->rest, strlen(names[i]));
    str_cut(&rest, '/', &ref);
    return rest.n ? rest : str_make("", 0);
}

struct str origin_slot(const struct origin *o)
{
    size_t path = origin_slot_path(o).n;

    if (o->rest.n == 0)
        return o->ref;
    return str_slice(o->rest, 0, o->rest.n - (path ? path + 1 : 0));
}

bool origin_is_package_of(const struct origin *o, const struct origin *range,
                          struct arena *a)
{
    struct str path = origin_slot_path(range);

    if (o->scheme != ORIGIN_GIT ||
        !str_eq(origin_repository(o, a), origin_repository(range, a)))
        return false;
    if (origin_range(o, a).n || o->is_short)
        return str_eq(origin_slot_path(o), path);
    return path.n == 0 || str_ends(o->rest, str_join(STR("/"), path, a));
}

bool origin_is_remote(const struct origin *o)
{
    return o->scheme == ORIGIN_GIT || o->scheme == ORIGIN_INDEX;
}

bool origin_names_commit(const struct origin *o)
{
    struct str s = o->rest.n ? o->rest : o->ref;
    size_t i = 0;

    while (i < s.n && char_is_hex(s.p[i]))
        i++;
    return i == 40 && (s.n == 40 || s.p[40] == '/');
}

struct str origin_repository(const struct origin *o, struct arena *a)
{
    const struct str parts[] = {origin_authority(o, a), STR("/"),
                                folded_name(o, a)};

    return str_concat(parts, sizeof parts / sizeof *parts, a);
}

struct str origin_name(const struct origin *o)
{
    return drop_git(path_last(o->repository));
}

struct str origin_clone_url(const struct origin *o, struct arena *a)
{
    bool is_ssh = o->transport == HOST_OVER_SSH;
    const struct str parts[] = {is_ssh ? STR("ssh://") : STR("https://"),
                                o->user,
                                o->user.n ? STR("@") : STR(""),
                                origin_authority(o, a),
                                STR("/"),
                                o->repository,
                                str_cstr(o->kind->suffix)};

    return str_concat(parts, sizeof parts / sizeof *parts, a);
}

bool origin_host_is_loopback(struct str host)
{
    struct str rest = host, part;
    uint64_t byte;
    size_t n = 0;

    if (str_eq_nocase(host, STR("localhost")) || str_is(host, "[::1]"))
        return true;
    for (; str_cut(&rest, '.', &part); n++)
        if (!str_number(part, 255, &byte) || (n == 0 && byte != 127))
            return false;
    return n == 4;
}

#include "git_address.h"

/* Matches URLs of repositories and pages against the address templates in the
 * table of git hosts. */

#define MAX_PARTS 256
#define MAX_VARS  10

struct matching {
    const struct git_host *g;
    const struct git_host_address *address;
    struct str parts[MAX_PARTS]; /* components of the path */
    size_t count;
    struct str host, vars[MAX_VARS];
    size_t any_from, any_end; /* range of the parts that "**" matched */
    const struct git_host_page *page;
    size_t end, rest; /* index of the first part after the repository, and
                       * after the words of the page */
};

static bool is_variable(struct str word, size_t *at)
{
    *at = str_find_char(word, '$');
    return *at != SIZE_MAX && *at + 1 < word.n &&
           char_is_digit(word.p[*at + 1]);
}

/* Matches one component: literally ("v1"), or a pattern with a variable
 * ("$1.git" matches "r.git" and sets variable 1). */
static bool word_fits(struct matching *m, struct str word, struct str text)
{
    struct str end, value;
    size_t at;

    if (!is_variable(word, &at))
        return str_eq_nocase(word, text);
    end = str_from_index(word, at + 2);
    if (text.n <= at + end.n ||
        !str_eq_nocase(str_slice(word, 0, at), str_slice(text, 0, at)) ||
        !str_eq_nocase(end, str_from_index(text, text.n - end.n)))
        return false;
    value = str_slice(text, at, text.n - end.n);
    m->vars[word.p[at + 1] - '0'] = value;
    return !str_is(value, "-");
}

static bool host_fits(struct matching *m, struct str word)
{
    size_t at;

    if (str_is(word, "*"))
        return true;
    return word_fits(m, word, m->host) &&
           (!is_variable(word, &at) ||
            !str_has_char(m->vars[word.p[at + 1] - '0'], '.'));
}

static bool is_host_of(const char *address, struct str host)
{
    struct matching m = {.host = host, .count = 0};
    struct str from = str_cstr(address), word;

    return address && str_cut(&from, '/', &word) && !str_is(word, "*") &&
           host_fits(&m, word);
}

bool git_address_has_host(const struct git_host *g, struct str host)
{
    for (size_t i = 0; i < GIT_HOST_MAX_ADDRESSES && g->addresses[i].from; i++)
        if (is_host_of(g->addresses[i].from, host))
            return true;
    return is_host_of(g->ssh.to, host);
}

static struct str first_part(const char *address)
{
    struct str host = str_cstr(address);

    return str_slice(host, 0, str_find_char(host, '/'));
}

bool git_address_moves(const struct git_host *g, struct str host)
{
    for (size_t i = 0; i < GIT_HOST_MAX_ADDRESSES && g->addresses[i].from;
         i++) {
        const struct git_host_address *one = &g->addresses[i];

        if (is_host_of(one->from, host) &&
            !str_eq(first_part(one->from), first_part(one->to)))
            return true;
    }
    return false;
}

/* Returns the number of parts that `words` match at index `at`, or 0. */
static size_t words_at(const struct matching *m, const char *words, size_t at)
{
    struct str rest = str_cstr(words), word;
    size_t n = 0;

    for (; str_cut(&rest, '/', &word); n++)
        if (at + n >= m->count || !str_eq(m->parts[at + n], word))
            return 0;
    return n;
}

static bool find_page(struct matching *m, size_t at)
{
    /* The form of stored origins, which is the same for all kinds of hosts. */
    static const struct git_host_page stored = {.shows = GIT_PAGE_FOLDER};
    const char *hidden = m->address->page;
    size_t tree = hidden ? 0 : words_at(m, m->g->tree, at);

    for (size_t i = 0; m->g->pages[i].shows; i++) {
        const struct git_host_page *page = &m->g->pages[i];
        size_t n = hidden ? 0 : words_at(m, page->words, at);

        if (n == 0 && !(hidden && str_is(str_cstr(hidden), page->words)))
            continue;
        m->page = page;
        m->rest = at + n;
        return true;
    }
    m->page = &stored;
    m->rest = at + tree;
    return tree > 0;
}

static bool fits_from(struct matching *m, struct str pattern, size_t at,
                      bool is_open)
{
    struct str rest = pattern, word;

    if (!str_cut(&rest, '/', &word)) {
        m->end = at;
        if (find_page(m, at))
            return true;
        m->page = NULL;
        m->rest = at;
        return at == m->count || !is_open;
    }
    if (str_is(word, "**")) {
        for (size_t end = at; end <= m->count; end++) {
            m->any_from = at;
            m->any_end = end;
            if (fits_from(m, rest, end, true))
                return true;
        }
        return false;
    }
    return at < m->count && word_fits(m, word, m->parts[at]) &&
           fits_from(m, rest, at + 1, is_open);
}

static bool split(struct matching *m, struct str path)
{
    struct str part;

    m->count = 0;
    while (str_cut(&path, '/', &part)) {
        if (m->count == MAX_PARTS || part.n == 0)
            return false;
        m->parts[m->count++] = part;
    }
    return true;
}

static struct str join_parts(const struct matching *m, size_t from, size_t end,
                             struct arena *a)
{
    const char *first = from < end ? m->parts[from].p : "";
    const struct str *last = from < end ? &m->parts[end - 1] : NULL;

    return arena_str(
        a, str_make(first, last ? (size_t)(last->p + last->n - first) : 0));
}

static struct str fill_word(const struct matching *m, struct str word,
                            struct arena *a)
{
    size_t at;

    if (str_is(word, "*"))
        return m->host;
    if (str_is(word, "**"))
        return join_parts(m, m->any_from, m->any_end, a);
    if (!is_variable(word, &at))
        return word;
    return arena_printf(a, "%.*s%.*s%.*s", (int)at, word.p,
                        STR_ARG(m->vars[word.p[at + 1] - '0']),
                        STR_ARG(str_from_index(word, at + 2)));
}

static void fill(const struct matching *m, const char *pattern, struct arena *a,
                 struct str *host, struct str *out)
{
    struct str rest = str_cstr(pattern), word, path = {"", 0};

    str_cut(&rest, '/', &word);
    *host = fill_word(m, word, a);
    while (str_cut(&rest, '/', &word)) {
        word = fill_word(m, word, a);
        if (word.n)
            path = arena_join(path, "/", word, a);
    }
    *out = path;
}

static void set_match(const struct matching *m, struct arena *a,
                      struct git_host_match *out)
{
    struct str *name = &out->repository;

    out->page = m->page;
    out->by_address = m->address->tells;
    out->is_telling = m->address->tells || (m->page && m->page->tells);
    out->rest = join_parts(m, m->rest, m->count, a);
    out->host = arena_str(a, m->host);
    *name = join_parts(m, 0, m->end, a);
    if (m->address->to)
        fill(m, m->address->to, a, &out->host, name);
    if (!m->g->keeps_suffix && name->n > 4 &&
        str_eq_nocase(str_from_index(*name, name->n - 4), STR(".git")))
        name->n -= 4;
}

/* Returns true if the pattern matches the host and the whole path. */
static bool matches(struct matching *m, const char *pattern)
{
    struct str from = str_cstr(pattern), word;

    str_cut(&from, '/', &word);
    return host_fits(m, word) && fits_from(m, from, 0, false);
}

/* Converts an ssh address such as "ssh.dev.azure.com/v3/o/p/r" to the address
 * over https and matches that. */
static bool match_ssh(const struct matching *parts, struct arena *a,
                      struct git_host_match *out)
{
    const struct git_host_address address = {.from = parts->g->ssh.to,
                                             .to = parts->g->ssh.from};
    struct matching m = *parts;
    struct git_host_match again;

    m.address = &address;
    if (!address.from || !matches(&m, address.from))
        return false;
    set_match(&m, a, out);
    return git_host_match(m.g, HOST_OVER_HTTPS, out->host, out->repository, a,
                          &again) &&
           again.rest.n == 0;
}

bool git_host_match(const struct git_host *g, enum host_transport transport,
                    struct str host, struct str path, struct arena *a,
                    struct git_host_match *out)
{
    struct matching m = {.g = g, .host = host};

    if (!split(&m, path))
        return false;
    if (transport == HOST_OVER_SSH && match_ssh(&m, a, out))
        return true;
    for (size_t i = 0; i < GIT_HOST_MAX_ADDRESSES && g->addresses[i].from;
         i++) {
        m.address = &g->addresses[i];
        if (!matches(&m, m.address->from))
            continue;
        set_match(&m, a, out);
        return true;
    }
    return false;
}

struct str git_host_ssh_url(const struct git_host *g, struct str host,
                            struct str repository, unsigned port,
                            struct arena *a)
{
    struct matching m = {.g = g, .host = host, .address = &g->ssh};

    if (g->ssh.from && split(&m, repository) && matches(&m, g->ssh.from))
        fill(&m, g->ssh.to, a, &host, &repository);
    port = port ? port : g->ssh_port;
    return arena_printf(a, "ssh://%s%s%.*s%.*s/%.*s%s", g->ssh_user,
                        g->ssh_user[0] ? "@" : "", STR_ARG(host),
                        STR_ARG(port ? arena_printf(a, ":%u", port) : STR("")),
                        STR_ARG(repository), g->suffix);
}

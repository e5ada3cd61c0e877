#include "registry_auth.h"

#include "base/json.h"

#define ANSWER_MAX_NODES 1000
#define VALUE_MAX_BYTES  2048u

static bool is_token_char(char c)
{
    return char_is_alpha(c) || char_is_digit(c) ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static struct str take_word(struct str *rest)
{
    struct str word = str_make(rest->p, 0);

    while (word.n < rest->n && is_token_char(rest->p[word.n]))
        word.n++;
    *rest = str_from_index(*rest, word.n);
    return word;
}

static void skip(struct str *rest, const char *chars)
{
    while (rest->n && rest->p[0] && strchr(chars, rest->p[0]))
        *rest = str_from_index(*rest, 1);
}

/* Reads "a \"quoted\" text", after its opening quote. */
static bool take_quoted(struct str *rest, struct buf *out)
{
    while (rest->n && rest->p[0] != '"') {
        if (rest->p[0] == '\\')
            *rest = str_from_index(*rest, 1);
        if (rest->n == 0 || rest->p[0] < ' ' || rest->p[0] > '~')
            return false;
        buf_char(out, rest->p[0]);
        *rest = str_from_index(*rest, 1);
    }
    if (rest->n == 0 || out->overflowed)
        return false;
    *rest = str_from_index(*rest, 1);
    return true;
}

static bool take_value(struct str *rest, struct arena *a, struct str *out)
{
    CLEANUP(buf_done) struct buf b = {0};

    if (rest->n == 0 || rest->p[0] != '"') {
        *out = arena_str(a, take_word(rest));
        return out->n > 0 && out->n <= VALUE_MAX_BYTES;
    }
    *rest = str_from_index(*rest, 1);
    buf_init(&b, VALUE_MAX_BYTES);
    if (!take_quoted(rest, &b))
        return false;
    *out = arena_str(a, buf_str(&b));
    return true;
}

static void keep(struct registry_challenge *c, struct str name,
                 struct str value)
{
    if (str_eq_nocase(name, STR("realm")))
        c->realm = value;
    else if (str_eq_nocase(name, STR("service")))
        c->service = value;
    else if (str_eq_nocase(name, STR("scope")))
        c->scope = value;
}

/* Reads "name=value, …". A name without "=" begins another challenge. */
static bool take_values(struct str rest, struct arena *a,
                        struct registry_challenge *out)
{
    for (;;) {
        struct str name, value;

        skip(&rest, " \t,");
        if (rest.n == 0)
            return true;
        name = take_word(&rest);
        if (name.n == 0)
            return false;
        skip(&rest, " \t");
        if (rest.n == 0 || rest.p[0] != '=')
            return true;
        rest = str_from_index(rest, 1);
        skip(&rest, " \t");
        if (!take_value(&rest, a, &value))
            return false;
        keep(out, name, value);
    }
}

static struct registry_challenge read_line(struct str line, struct arena *a)
{
    struct registry_challenge c = {0};
    struct str scheme;

    skip(&line, " \t");
    scheme = take_word(&line);
    if (str_eq_nocase(scheme, STR("basic")))
        c.scheme = REGISTRY_BASIC;
    else if (str_eq_nocase(scheme, STR("bearer")) && take_values(line, a, &c) &&
             c.realm.n)
        c.scheme = REGISTRY_BEARER;
    return c;
}

void registry_challenge_parse(struct str lines, struct arena *a,
                              struct registry_challenge *out)
{
    struct str line;

    *out = (struct registry_challenge){0};
    if (lines.n > REGISTRY_CHALLENGE_MAX_BYTES)
        return;
    while (str_line(&lines, &line)) {
        struct registry_challenge c = read_line(line, a);

        if (c.scheme > out->scheme)
            *out = c;
    }
}

bool registry_token_parse(struct str body, struct arena *a, struct str *token)
{
    const struct json_options o = {.max_bytes = REGISTRY_ANSWER_MAX_BYTES,
                                   .max_nodes = ANSWER_MAX_NODES};
    const struct json *j;
    struct err ignored = {0};

    if (!json_parse(body, &o, a, &j, NULL, &ignored))
        return false;
    *token = json_text(json_get(j, "token"));
    if (token->n == 0)
        *token = json_text(json_get(j, "access_token"));
    for (size_t i = 0; i < token->n; i++)
        if (token->p[i] <= ' ' || token->p[i] > '~')
            return false;
    return token->n > 0 && token->n <= REGISTRY_TOKEN_MAX_BYTES;
}

bool registry_realm_is_good(const struct url *realm, const struct url *registry)
{
    if (realm->user.n || realm->password.n)
        return false;
    return url_is_secure(realm) ||
           (str_is(realm->scheme, "http") && !url_is_secure(registry) &&
            url_is_loopback(realm) && url_is_loopback(registry) &&
            str_eq(realm->host, registry->host));
}

struct str registry_scope(struct str named, struct str repository, bool pushes,
                          struct arena *a)
{
    struct str own = arena_printf(a, "repository:%.*s:", STR_ARG(repository));

    if (named.n && !(pushes && str_starts(named, own)))
        return named;
    return str_join(own, pushes ? STR("pull,push") : STR("pull"), a);
}

static void put_encoded(struct buf *b, struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];

        if (char_is_alpha(c) || char_is_digit(c) || (c && strchr("-._~:/", c)))
            buf_char(b, c);
        else
            buf_printf(b, "%%%02X", (unsigned char)c);
    }
}

static void put_field(struct buf *b, bool is_first, const char *name,
                      struct str value)
{
    if (value.n == 0)
        return;
    buf_printf(b, "%c%s=", is_first ? '?' : '&', name);
    put_encoded(b, value);
}

struct str registry_token_address(struct str realm, struct str service,
                                  struct str scope, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    bool has_query = str_has_char(realm, '?');

    buf_init(&b, 8 * VALUE_MAX_BYTES);
    buf_append(&b, realm);
    put_field(&b, !has_query, "service", service);
    put_field(&b, !has_query && service.n == 0, "scope", scope);
    return arena_str(a, buf_str(&b));
}

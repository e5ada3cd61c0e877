#include "base/base64.h"
#include "base/buf.h"
#include "base/json.h"

#include "registry_credential.h"

#define HELPER_NAME_MAX_BYTES 64
#define CONFIG_MAX_NODES      20000

bool registry_is_hub(struct str host)
{
    return str_is(host, "docker.io") || str_is(host, "index.docker.io") ||
           str_is(host, "registry-1.docker.io");
}

/*
 * Returns how well a key of the file matches the query: 0 if not at all, 1 for
 * the host alone, and more for a longer namespace.
 * "https://index.docker.io/v1/" counts as a host, too.
 */
static size_t fit(struct str key, const struct registry_query *q)
{
    struct str host, path = str_make("", 0);
    size_t slash;

    if (str_starts(key, STR("https://")))
        key = str_from_index(key, 8);
    else if (str_starts(key, STR("http://")))
        key = str_from_index(key, 7);
    slash = str_find_char(key, '/');
    host = str_slice(key, 0, slash);
    if (slash != SIZE_MAX)
        path = str_from_index(key, slash + 1);
    if (!str_eq_nocase(host, q->host) &&
        !(registry_is_hub(host) && registry_is_hub(q->host)))
        return 0;
    if (path.n == 0 || str_is(path, "v1/") || str_is(path, "v2/") ||
        str_is(path, "v1") || str_is(path, "v2"))
        return 1;
    if (!str_starts(q->repository, path) ||
        (q->repository.n > path.n && q->repository.p[path.n] != '/'))
        return 0;
    return 1 + path.n;
}

static const struct json *best(const struct json *members,
                               const struct registry_query *q)
{
    const struct json *found = NULL;
    size_t most = 0;

    if (!members || members->kind != JSON_OBJECT)
        return NULL;
    for (const struct json *m = members->first; m; m = m->next) {
        size_t n = fit(m->key, q);

        if (n > most) {
            most = n;
            found = m;
        }
    }
    return found;
}

static bool is_helper_name(struct str name)
{
    if (name.n == 0 || name.n > HELPER_NAME_MAX_BYTES)
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];

        if (!char_is_alpha(c) && !char_is_digit(c) && c != '.' && c != '_' &&
            c != '-')
            return false;
    }
    return true;
}

/* Rejects control characters, which could end a header line. */
static bool is_clean(struct str s, size_t max_bytes)
{
    for (size_t i = 0; i < s.n; i++)
        if ((unsigned char)s.p[i] < 0x20 || s.p[i] == 0x7f)
            return false;
    return s.n <= max_bytes;
}

static bool take_pair(struct str user, struct str secret, struct arena *a,
                      struct str *user_out, struct str *secret_out)
{
    if (secret.n == 0 || str_has_char(user, ':') ||
        !is_clean(user, REGISTRY_USER_MAX_BYTES) ||
        !is_clean(secret, REGISTRY_SECRET_MAX_BYTES))
        return false;
    *user_out = arena_str(a, user);
    *secret_out = arena_str(a, secret);
    return true;
}

static void read_auth(struct str text, struct arena *a,
                      struct registry_entry *out)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct str user, rest;

    buf_init(&b, REGISTRY_USER_MAX_BYTES + REGISTRY_SECRET_MAX_BYTES + 1);
    if (!base64_parse(text, &b))
        return;
    rest = buf_str(&b);
    /* Docker pads the text with NUL before it encodes it. */
    while (rest.n && rest.p[rest.n - 1] == '\0')
        rest.n--;
    if (!str_has_char(rest, ':') || !str_cut(&rest, ':', &user) || !rest.p)
        return;
    take_pair(user, rest, a, &out->user, &out->secret);
}

bool registry_config_parse(struct str text, const struct registry_query *q,
                           struct arena *a, struct registry_entry *out)
{
    const struct json_options o = {.max_bytes = REGISTRY_CONFIG_MAX_BYTES,
                                   .max_nodes = CONFIG_MAX_NODES};
    const struct json *file, *auth;
    struct err ignored = {0};

    *out = (struct registry_entry){0};
    if (!json_parse(text, &o, a, &file, NULL, &ignored) ||
        file->kind != JSON_OBJECT)
        return false;
    out->helper = json_text(best(json_get(file, "credHelpers"), q));
    if (!out->helper.n)
        out->helper = json_text(json_get(file, "credsStore"));
    if (!is_helper_name(out->helper))
        out->helper = str_make("", 0);
    auth = best(json_get(file, "auths"), q);
    if (!auth)
        return true;
    read_auth(json_text(json_get(auth, "auth")), a, out);
    out->has_identity =
        !out->secret.n && json_text(json_get(auth, "identitytoken")).n > 0;
    return true;
}

bool registry_helper_parse(struct str text, struct arena *a,
                           struct registry_secret *out)
{
    const struct json_options o = {.max_bytes = REGISTRY_CONFIG_MAX_BYTES,
                                   .max_nodes = 100};
    const struct json *j;
    struct err ignored = {0};
    struct str user;

    if (!json_parse(text, &o, a, &j, NULL, &ignored))
        return false;
    user = json_text(json_get(j, "Username"));
    if (!take_pair(user, json_text(json_get(j, "Secret")), a, &out->user,
                   &out->secret))
        return false;
    out->kind = REGISTRY_PASSWORD;
    return true;
}

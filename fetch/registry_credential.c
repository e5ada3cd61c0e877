#include "registry_credential.h"

#include "base/env.h"
#include "base/fs.h"
#include "base/proc.h"

#include <unistd.h>

#define OUTPUT_MAX_BYTES (64u * 1024)
#define HUB_KEY          "https://index.docker.io/v1/"

/* Validates MAPM_STORE_TOKEN, which is copied into a header verbatim. */
static bool is_token(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] <= ' ' || s.p[i] > '~')
            return false;
    return s.n > 0 && s.n <= REGISTRY_SECRET_MAX_BYTES;
}

static bool from_variable(const struct registry_query *q, struct arena *a,
                          struct registry_secret *out)
{
    struct str token = env_get("MAPM_STORE_TOKEN");

    if (token.n == 0 || !q->may_have_token)
        return false;
    out->source = STR("MAPM_STORE_TOKEN");
    if (!is_token(token)) {
        out->note = STR("MAPM_STORE_TOKEN is not sent: a token is one word of "
                        "printable ASCII");
        return true;
    }
    out->kind = REGISTRY_TOKEN;
    out->secret = arena_str(a, token);
    return true;
}

/* Returns the line for the helper's stdin: the name of the registry, or the URL
 * by which docker stores credentials for Docker Hub. */
static struct str helper_key(const struct registry_query *q)
{
    return registry_is_hub(q->host) ? STR(HUB_KEY) : q->host;
}

/* Runs the helper. Returns NULL, or why there is no output. */
static const char *run_helper(struct str program,
                              const struct registry_query *q, struct arena *a,
                              struct str *out)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct proc_result result = {0};
    struct err ignored = {0};
    char here[4096];
    struct str path;
    const char *argv[] = {NULL, "get", NULL};

    if (getcwd(here, sizeof here) == NULL || strcmp(here, "/") == 0)
        here[0] = '\0';
    if (!proc_find_program(str_dup0(program, &scratch), here[0] ? here : NULL,
                           &scratch, &path, &ignored))
        return "is not in PATH";
    argv[0] = str_dup0(path, &scratch);
    if (!proc_run(&(struct proc_options){.argv = argv,
                                         .dir = "/",
                                         .input = helper_key(q),
                                         .max_output_bytes = OUTPUT_MAX_BYTES,
                                         .timeout_ms = REGISTRY_HELPER_MS},
                  a, &result, &ignored) ||
        result.exit_code != 0)
        return "gives no login";
    *out = result.out;
    return NULL;
}

static bool from_helper(struct str name, const struct registry_query *q,
                        struct arena *a, struct registry_secret *out)
{
    struct registry_secret found = {0};
    const char *why;
    struct str text;

    if (name.n == 0)
        return false;
    found.source = arena_printf(a, "docker-credential-%.*s", STR_ARG(name));
    why = run_helper(found.source, q, a, &text);
    if (!why && !registry_helper_parse(text, a, &found))
        why = "gives no login";
    if (!why && str_is(found.user, "<token>"))
        why = "has an identity token, which is not sent";
    if (why) {
        out->note = arena_printf(a, "%.*s %s", STR_ARG(found.source), why);
        return false;
    }
    *out = found;
    return true;
}

static bool from_file(struct str path, const struct registry_query *q,
                      struct arena *a, struct registry_secret *out)
{
    struct registry_entry entry;
    struct err ignored = {0};
    struct str text;

    if (!str_starts(path, STR("/")) ||
        !fs_read_user_file(str_dup0(path, a), REGISTRY_CONFIG_MAX_BYTES, a,
                           &text, &ignored) ||
        !registry_config_parse(text, q, a, &entry))
        return false;
    if (from_helper(entry.helper, q, a, out))
        return true;
    if (entry.has_identity)
        out->note = arena_printf(a,
                                 "%.*s has an identity token, which is not "
                                 "sent",
                                 STR_ARG(path));
    if (entry.secret.n == 0)
        return false;
    *out = (struct registry_secret){REGISTRY_PASSWORD, entry.user, entry.secret,
                                    path, str_make("", 0)};
    return true;
}

static struct str docker_file(struct arena *a)
{
    struct str dir = env_get("DOCKER_CONFIG"), home = env_get("HOME");

    if (dir.n)
        return fs_join(dir, STR("config.json"), a);
    return home.n ? fs_join(home, STR(".docker/config.json"), a) : home;
}

static struct str containers_file(struct arena *a)
{
    struct str dir = env_get("XDG_RUNTIME_DIR");

    return dir.n ? fs_join(dir, STR("containers/auth.json"), a) : dir;
}

void registry_credential_find(const struct registry_query *q, struct arena *a,
                              struct registry_secret *out)
{
    *out = (struct registry_secret){0};
    if (!from_variable(q, a, out) && !from_file(docker_file(a), q, a, out))
        (void)from_file(containers_file(a), q, a, out);
}

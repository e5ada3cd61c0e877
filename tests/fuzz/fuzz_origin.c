/* manifest: origins of documents and of people. What is accepted is read
 * again from its own text as the same; what a URL must not hold is not in it.
 * [M13, M14, row 10]. */
#include "base/text.h"
#include "mapm/limits.h"
#include "mapm/name.h"
#include "mapm/origin.h"

#include <stdlib.h>
#include <string.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_parts(const struct origin *o)
{
    if (o->scheme == ORIGIN_FILE) {
        if (o->path.n < 2 || o->path.p[0] != '/' ||
            str_find(o->path, STR("/../")) != SIZE_MAX ||
            str_find(o->path, STR("//")) != SIZE_MAX)
            abort();
        return;
    }
    if (o->scheme == ORIGIN_INDEX) {
        if ((o->path.n && !name_is_kebab(o->path)) || !o->host.n ||
            !str_ends(o->repository, STR("index.json")) ||
            str_find(o->text, STR("/../")) != SIZE_MAX ||
            str_has_char(o->text, '#') || str_has_char(o->text, '\\') ||
            text_has_control(o->text))
            abort();
        return;
    }
    if (!git_host_of_home(o->host) || o->port || !o->kind ||
        o->repository.n == 0 || str_starts(o->repository, STR("-")) ||
        str_find(o->text, STR("/../")) != SIZE_MAX ||
        str_starts(o->rest, STR("-")) || str_starts(o->rest, STR("/")))
        abort();
    for (size_t i = 0; i < o->text.n; i++)
        if ((unsigned char)o->text.p[i] < 0x20 || strchr("?#\\", o->text.p[i]))
            abort();
}

static void check_document(struct str text, struct arena *a)
{
    struct origin o, again;
    struct err e = {0};

    if (!origin_parse(text, NULL, a, &o, &e)) {
        outcome_err(&e);
        if (e.code != ERR_ORIGIN || !e.hint[0])
            abort();
        return;
    }
    check_parts(&o);
    outcome_str("key", o.key);
    outcome_str("path", o.path);
    if (!origin_parse(o.text, NULL, a, &again, &e) ||
        !str_eq(o.key, again.key) || !str_eq(o.text, again.text))
        abort();
}

/* As where the host was typed: nothing that ssh or a shell could take for an
 * option or a command is in what is given to them. */
static void check_any_host(struct str text, struct arena *a)
{
    static const struct origin_rules any = {.any_host = true};
    struct origin o, again;
    struct err e = {0};
    struct str url;

    if (!origin_parse_argument(text, STR("/w/x"), STR("/home/u"), &any, a, &o,
                               &e)) {
        outcome_err(&e);
        return;
    }
    if (o.scheme != ORIGIN_GIT)
        return;
    if (!o.is_short && o.text.n <= ORIGIN_MAX_BYTES &&
        (!origin_parse(o.text, &any, a, &again, &e) ||
         !str_eq(o.key, again.key)))
        abort();
    url = origin_clone_url(&o, a);
    outcome_str("clone", url);
    if (str_starts(o.host, STR("-")) || str_starts(o.user, STR("-")) ||
        str_starts(o.repository, STR("-")))
        abort();
    for (size_t i = 0; i < url.n; i++)
        if ((unsigned char)url.p[i] <= 0x20 ||
            strchr("'\"`$!\\;&|<>()?#*", url.p[i]))
            abort();
}

static void check_own(struct str text, struct arena *a)
{
    struct origin o, again;
    struct err e = {0};

    if (!origin_is_own(text) || !origin_parse_own(text, a, &o, &e)) {
        outcome_err(&e);
        return;
    }
    outcome_str("own", o.path);
    if (str_is(o.path, "..") || str_starts(o.path, STR("../")) ||
        str_starts(o.path, STR("/")) ||
        !origin_parse_own(o.text, a, &again, &e) || !str_eq(o.key, again.key))
        abort();
}

static void check_argument(struct str text, struct arena *a)
{
    struct origin o, again, full;
    struct err e = {0};

    if (!origin_parse_argument(text, STR("/w/x"), STR("/home/u"), NULL, a, &o,
                               &e)) {
        outcome_err(&e);
        return;
    }
    outcome_str("argument", o.text);
    check_parts(&o);
    if (!origin_parse_argument(o.text, STR("/"), STR(""), NULL, a, &again,
                               &e) ||
        !str_eq(o.key, again.key))
        abort();
    /* "=1.2.3" stands for a tag that is not known yet. */
    if (!o.is_short || str_starts(o.ref, STR("=")))
        return;
    origin_complete(&o, o.ref.n ? o.ref : STR("main"), o.path, a, &full);
    if (full.text.n <= ORIGIN_MAX_BYTES &&
        (!origin_parse(full.text, NULL, a, &again, &e) ||
         !str_eq(full.key, again.key)))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct str text = str_make((const char *)data, size);

    if (size >= 1 << 20)
        return 0;
    check_document(text, &a);
    check_argument(text, &a);
    check_any_host(text, &a);
    check_own(text, &a);
    OUTCOME("%d\n", origin_ref_is_valid(text));
    return 0;
}

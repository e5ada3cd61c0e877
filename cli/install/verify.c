#include "base/json_record.h"
#include "base/text.h"
#include "mapm/install_query.h"

#include "../command.h"

/* verify: compares workspace, lock and store. Changes nothing. */

/* The hint for all differences of one kind; "%" is where commands have "-g". */
/* clang-format off */
static const struct {
    const char *name; /* name in JSON */
    const char *advice;
} sides[INSTALL_SIDE_COUNT] = {
    [INSTALL_SIDE_WORKSPACE] = {"workspace",
        "the workspace differs from the lock: mapm install% puts back what is "
        "missing; mapm diff% shows what was changed, mapm restore% NAME undoes "
        "it, mapm install% --force all of it"},
    [INSTALL_SIDE_EXTRA] = {"workspace",
        "extra files are no package's: mapm leaves them, delete them by hand"},
    [INSTALL_SIDE_MANIFEST] = {"manifest",
        "the lock lacks what mapm.yaml or the workspace has: take the lock from "
        "version control again, or run mapm install%"},
    [INSTALL_SIDE_LOCK] = {"lock",
        "the lock differs from the packages: take it from version control "
        "again, or remove these entries and run mapm install%"},
    [INSTALL_SIDE_PROOF] = {"proof",
        "mapm install% fetches the proofs, or names the line of the lock that is "
        "not what the commit holds"},
    [INSTALL_SIDE_STORE] = {"store",
        "mapm install% --force fetches objects missing from the store"},
    [INSTALL_SIDE_REMOTE] = {"remote",
        "mapm update% locks what the refs name now; of a ref that is gone, install "
        "the package from another one: mapm install% owner/repo/path@ref"},
};
/* clang-format on */

static const char *side_name(unsigned side)
{
    return sides[side].name;
}

static const struct json_member difference_members[] = {
    JSON_MEMBER(struct install_difference, "path", path),
    JSON_MEMBER(struct install_difference, "how", how),
    JSON_MEMBER_NAMED(struct install_difference, "differs", side, side_name),
};
JSON_RECORD(difference, struct install_difference);

static const struct json_member verified_members[] = {
    JSON_MEMBER_RECORDS(struct install_verification, "differences", differences,
                        count, difference_record),
    JSON_MEMBER_STRINGS(struct install_verification, "digest_only", digest_only,
                        digest_only_count),
    JSON_MEMBER_STRINGS(struct install_verification, "own", own, own_count),
    JSON_MEMBER_STRINGS(struct install_verification, "patched", patched,
                        patched_count),
};
JSON_RECORD(verified, struct install_verification);

static void print_findings_json(struct invocation *inv,
                                const struct install_verification *v)
{
    struct json_writer *w = print_json_begin(inv, "mapm.verify/1", NULL);

    json_member_string(w, "workspace", v->workspace);
    json_member_bool(w, "ok", v->count == 0);
    json_put_members(w, &verified_record, v);
    print_json_end(inv);
}

static struct str advice_of(unsigned side, bool is_global, struct arena *a)
{
    struct str rest = str_cstr(sides[side].advice), part, out = STR("");

    while (str_cut(&rest, '%', &part))
        out = str_join(out.n && is_global ? str_join(out, STR(" -g"), a) : out,
                       part, a);
    return out;
}

/* A lock that may be wrong comes first: it defines the content of the
 * workspace. And an install that fetches a proof fetches missing packages,
 * too. */
static void print_advice(struct invocation *inv,
                         const struct install_verification *v)
{
    bool given[INSTALL_SIDE_COUNT] = {false};

    for (size_t i = 0; i < v->count; i++)
        given[v->differences[i].side] = true;
    given[INSTALL_SIDE_WORKSPACE] &=
        !given[INSTALL_SIDE_LOCK] && !given[INSTALL_SIDE_PROOF];
    given[INSTALL_SIDE_MANIFEST] &= !given[INSTALL_SIDE_LOCK];
    given[INSTALL_SIDE_STORE] &= !given[INSTALL_SIDE_PROOF];
    for (unsigned i = 0; i < INSTALL_SIDE_COUNT; i++) {
        struct str advice = advice_of(i, inv->cx.use_global, &inv->cx.arena);

        if (given[i])
            term_note(&inv->term, "%.*s", STR_ARG(advice));
    }
}

static void print_findings(struct invocation *inv,
                           const struct install_verification *v)
{
    size_t count = v->package_count;

    for (size_t i = 0; i < v->count; i++) {
        struct str path = text_shown(v->differences[i].path, &inv->cx.arena);

        term_print(&inv->term, "%.*s: %s\n", STR_ARG(path),
                   v->differences[i].how);
    }
    for (size_t i = 0; i < v->digest_only_count; i++)
        term_print(&inv->term, "%.*s: digest only\n",
                   STR_ARG(v->digest_only[i]));
    for (size_t i = 0; i < v->own_count; i++)
        term_print(&inv->term, "%.*s: own\n", STR_ARG(v->own[i]));
    for (size_t i = 0; i < v->patched_count; i++)
        term_print(&inv->term, "%.*s: patched\n", STR_ARG(v->patched[i]));
    print_advice(inv, v);
    if (v->count == 0)
        term_note(&inv->term, "%zu package%s verified", count,
                  count == 1 ? "" : "s");
}

COMMAND(command_verify)
{
    struct install_verification v;

    if (!install_verify(&inv->cx, has_option(inv, OPTION_REMOTE), &v, e))
        return false;
    if (has_option(inv, OPTION_JSON))
        print_findings_json(inv, &v);
    else
        print_findings(inv, &v);
    *exit_code = v.count ? EXIT_FINDINGS : EXIT_DONE;
    return true;
}

#include "base/digest.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/map.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/doc_kind.h"
#include "mapm/lock.h"
#include "mapm/state.h"
#include "mapm/state_trust.h"

#include "../command.h"
#include "trust.h"

#define NEAR_MAX_EDITS 3

/* --- where it is installed ------------------------------------------------------ */

/* Two maps: from "acme/x sha256:…" to the first workspace whose lock contains
 * that entry, and from the digest of a consent to the name of its server. */
struct installed {
    struct trust_job *job;
    struct map by_package, servers;
};

static void add_server(struct installed *in, const struct lock_entry *entry)
{
    struct arena *a = &in->job->inv->cx.arena;
    struct str *name = arena_new(a, struct str);
    struct hash digest;

    if (!digest_parse(entry->digest, &digest))
        return;
    digest = authorize_request_server(STR(""), entry->place, &digest).digest;
    *name = entry->name;
    map_put(&in->servers, hash_hex(&digest, a), name);
}

static void add_lock(struct installed *in, int dirfd, const char *name,
                     struct str folder)
{
    struct arena *a = &in->job->inv->cx.arena;
    struct str *place = arena_new(a, struct str);
    struct err ignored = {0};
    struct str text;
    struct lock lock;

    *place = folder;
    if (!fs_read_file_at(dirfd, name, LOCK_MAX_BYTES, a, &text, &ignored) ||
        !lock_parse(text, name, a, &lock, &ignored))
        return;
    for (size_t i = 0; i < lock.count; i++) {
        const struct lock_entry *entry = &lock.entries[i];
        struct str key = arena_printf(a, "%.*s %.*s", STR_ARG(entry->name),
                                      STR_ARG(entry->digest));

        if (entry->kind == DOC_SKILL && !map_has(&in->by_package, key))
            map_put(&in->by_package, key, place);
        if (entry->kind == DOC_MCP && entry->place.n)
            add_server(in, entry);
    }
}

static void add_folder(struct installed *in, struct str folder)
{
    CLEANUP_FD int fd = -1;
    struct err ignored = {0};

    if (fs_open_dir(str_dup0(folder, &in->job->inv->cx.arena), &fd, &ignored))
        add_lock(in, fd, "mapm.lock", folder);
    if (fd >= 0)
        add_lock(in, fd, "mapm.local.lock", folder);
}

/* A package that cannot be read counts as not installed. */
static bool find_installed(struct trust_job *job, struct installed *in,
                           struct err *e)
{
    struct arena *a = &job->inv->cx.arena;
    struct str *folders;
    size_t count;

    in->job = job;
    map_init(&in->by_package, a);
    map_init(&in->servers, a);
    if (!state_list_workspaces(store_state(job->store), a, &folders, &count, e))
        return false;
    add_folder(in, fs_join(store_home(job->store), STR("global"), a));
    for (size_t i = 0; i < count; i++)
        add_folder(in, folders[i]);
    return true;
}

static struct str find_place(const struct installed *in,
                             const struct state_trust *t)
{
    struct arena *a = &in->job->inv->cx.arena;
    const struct str *place;

    if (authorize_kind(t->kind)->is_of_folder)
        return STR("");
    place = map_find(&in->by_package,
                     arena_printf(a, "%.*s sha256:%.*s", STR_ARG(t->subject),
                                  STR_ARG(hash_hex(&t->digest, a))));
    return place ? *place : STR("");
}

/* Of consent to a server; "" where no lock has it any more. */
static struct str find_server(const struct installed *in,
                              const struct state_trust *t)
{
    const struct str *name;

    if (t->kind != STATE_TRUST_SERVER)
        return STR("");
    name =
        map_find(&in->servers, hash_hex(&t->digest, &in->job->inv->cx.arena));
    return name ? *name : STR("");
}

/* --- the list --------------------------------------------------------------------- */

/* Whether it is of the folder that is at that path now. */
static bool is_valid(struct trust_job *job, const struct state_trust *t)
{
    const struct trust_request q = {
        .kind = t->kind, .subject = t->subject, .digest = t->digest};
    enum trust_state state;
    struct err ignored = {0};

    return authorize_trust(&job->inv->cx, job->store, &q, &state, &ignored) &&
           state == TRUST_GIVEN;
}

static void print_list_json(struct trust_job *job, const struct installed *in,
                            const struct state_trust *list, size_t count)
{
    struct arena *a = &job->inv->cx.arena;
    struct json_writer *w = print_json_begin(job->inv, "mapm.trust/1", "list");

    json_member_array(w, "trusted");
    for (size_t i = 0; i < count; i++) {
        struct str place = find_place(in, &list[i]);

        json_begin_object(w);
        trust_put_json(w, list[i].kind, list[i].subject, &list[i].digest, a);
        json_member_string(w, "since",
                           authorize_date(list[i].since_s, true, a));
        if (authorize_kind(list[i].kind)->is_of_host) {
            json_end_object(w);
            continue;
        }
        if (!authorize_kind(list[i].kind)->is_of_folder) {
            json_member_bool(w, "installed", place.n > 0);
            json_member_optional(w, "workspace", place);
        } else {
            json_member_bool(w, "valid", is_valid(job, &list[i]));
            json_member_optional(w, "server", find_server(in, &list[i]));
        }
        json_end_object(w);
    }
    json_end_array(w);
    print_json_end(job->inv);
}

static const char *state_of(const struct installed *in,
                            const struct state_trust *t)
{
    struct arena *a = &in->job->inv->cx.arena;
    struct str place = find_place(in, t), server = find_server(in, t);

    if (authorize_kind(t->kind)->is_of_host)
        return "";
    if (authorize_kind(t->kind)->is_of_folder && !is_valid(in->job, t))
        return "  another folder: asks again";
    if (server.n)
        return arena_printf(a, "  mcp %.*s", STR_ARG(server)).p;
    if (authorize_kind(t->kind)->is_of_folder && t->kind != STATE_TRUST_SERVER)
        return "";
    if (place.n)
        return arena_printf(a, "  in %.*s", STR_ARG(place)).p;
    return "  not installed";
}

static void print_list(struct trust_job *job, const struct installed *in,
                       const struct state_trust *list, size_t count)
{
    struct term *t = &job->inv->term;
    struct arena *a = &job->inv->cx.arena;
    size_t wide = 8;

    for (size_t i = 0; i < count; i++)
        if (list[i].subject.n > wide && list[i].subject.n < 48)
            wide = list[i].subject.n;
    for (size_t i = 0; i < count; i++) {
        struct str digest = hash_is_zero(&list[i].digest)
                                ? STR("-")
                                : authorize_short_digest(&list[i].digest, a);

        term_print(t, "%-9s  %-*.*s  %-19.*s  %.*s%s\n",
                   authorize_kind(list[i].kind)->name, (int)wide,
                   STR_ARG(list[i].subject), STR_ARG(digest),
                   STR_ARG(authorize_date(list[i].since_s, false, a)),
                   state_of(in, &list[i]));
    }
    if (count == 0)
        term_note(t, "nothing is trusted on this machine");
}

bool trust_list(struct trust_job *job, struct err *e)
{
    struct installed in;
    struct state_trust *list;
    size_t count;

    if (!find_installed(job, &in, e) ||
        !state_list_trust(store_state(job->store), &job->inv->cx.arena, &list,
                          &count, e))
        return false;
    if (job->is_json)
        print_list_json(job, &in, list, count);
    else
        print_list(job, &in, list, count);
    return true;
}

/* --- taking it back ----------------------------------------------------------------- */

/* Subjects to revoke: by trusted name, installed or not. */
struct subjects {
    const struct state_trust **items;
    size_t count;
};

static bool is_listed(const struct subjects *s, const struct state_trust *t)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->items[i]->kind == t->kind &&
            str_eq(s->items[i]->subject, t->subject))
            return true;
    return false;
}

static void add_subject(struct subjects *s, const struct state_trust *t)
{
    if (!is_listed(s, t))
        s->items[s->count++] = t;
}

static bool not_trusted(const struct state_trust *list, size_t count,
                        struct str name, struct err *e)
{
    struct text_nearest near = {0};

    err_set(e, ERR_NOT_FOUND, "\"%.*s\" is not trusted on this machine",
            STR_ARG(name));
    for (size_t i = 0; i < count; i++)
        if (!authorize_kind(list[i].kind)->is_of_folder)
            text_nearest_add_path(&near, name, list[i].subject, NEAR_MAX_EDITS);
    if (near.count)
        return err_hint(e, "did you mean %.*s?", STR_ARG(near.found[0]));
    return err_hint(e, "mapm trust --list shows what is");
}

/* By its full name, else by its short one where that is one program's. */
static bool add_named(struct subjects *s, const struct state_trust *list,
                      size_t count, struct str name, struct err *e)
{
    const struct state_trust *found = NULL;

    for (size_t i = 0; i < count; i++)
        if (!authorize_kind(list[i].kind)->is_of_folder &&
            str_eq(list[i].subject, name)) {
            add_subject(s, &list[i]);
            return true;
        }
    for (size_t i = 0; i < count; i++) {
        if (authorize_kind(list[i].kind)->is_of_folder ||
            !str_eq(path_last(list[i].subject), name))
            continue;
        if (found && !str_eq(found->subject, list[i].subject)) {
            err_set(e, ERR_USAGE, "\"%.*s\" could be several metaskills",
                    STR_ARG(name));
            err_also(e, "%.*s", STR_ARG(found->subject));
            err_also(e, "%.*s", STR_ARG(list[i].subject));
            return err_hint(e, "name one in full");
        }
        found = &list[i];
    }
    if (!found)
        return not_trusted(list, count, name, e);
    add_subject(s, found);
    return true;
}

static bool add_workspace(struct trust_job *job, struct subjects *s,
                          const struct state_trust *list, size_t count,
                          struct err *e)
{
    struct layer l;

    if (!layer_open(&job->inv->cx, LAYER_READ, &l, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (authorize_kind(list[i].kind)->is_of_folder &&
            str_eq(list[i].subject, l.path))
            add_subject(s, &list[i]);
    if (s->count == 0)
        err_set(e, ERR_NOT_FOUND, "the workspace %.*s is not trusted",
                STR_ARG(l.path));
    layer_close(&l);
    return s->count > 0;
}

static bool choose(struct trust_job *job, struct subjects *s,
                   const struct state_trust *list, size_t count, struct err *e)
{
    const struct values *names = &job->inv->arguments;

    if (has_option(job->inv, OPTION_WORKSPACE))
        return add_workspace(job, s, list, count, e);
    if (has_option(job->inv, OPTION_ALL_TRUST))
        for (size_t i = 0; i < count; i++)
            add_subject(s, &list[i]);
    for (size_t i = 0; i < names->count; i++)
        if (!add_named(s, list, count, names->items[i], e))
            return false;
    return true;
}

static bool forget(struct trust_job *job, const struct subjects *s,
                   struct err *e)
{
    struct json_writer *w = NULL;

    if (job->is_json) {
        w = print_json_begin(job->inv, "mapm.trust/1", "revoke");
        json_member_array(w, "revoked");
    }
    for (size_t i = 0; i < s->count; i++) {
        const struct state_trust *t = s->items[i];
        size_t versions;

        if (!state_forget_trust(store_state(job->store), t->kind, t->subject,
                                &versions, e))
            return err_wrap(e, "%.*s may still be trusted",
                            STR_ARG(t->subject));
        if (!w) {
            term_note(&job->inv->term, "%s %.*s is no longer trusted",
                      authorize_kind(t->kind)->name, STR_ARG(t->subject));
            continue;
        }
        json_begin_object(w);
        trust_put_json(w, t->kind, t->subject, NULL, &job->inv->cx.arena);
        json_member_number(w, "versions", versions);
        json_end_object(w);
    }
    if (w) {
        json_end_array(w);
        print_json_end(job->inv);
    } else if (s->count == 0) {
        term_note(&job->inv->term, "nothing is trusted on this machine");
    }
    return true;
}

bool trust_revoke(struct trust_job *job, struct err *e)
{
    struct arena *a = &job->inv->cx.arena;
    struct state_trust *list;
    struct subjects s = {0};
    size_t count;

    if (!state_list_trust(store_state(job->store), a, &list, &count, e))
        return false;
    s.items =
        arena_array(a, count + job->inv->arguments.count + 1, sizeof *s.items);
    return choose(job, &s, list, count, e) && forget(job, &s, e);
}

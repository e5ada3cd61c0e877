#include "base/fs.h"
#include "base/json.h"
#include "mapm/authorize.h"
#include "mapm/patched.h"
#include "mapm/provision.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>

/* --- the kinds ------------------------------------------------------------------- */

static struct str format_rule(const struct project_rule *rule, bool quoted,
                              struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    if (!quoted)
        return project_rule_text(rule->words, rule->count, a);
    buf_init(&b, PROJECT_MAX_BYTES * 8);
    json_writer_init(&w, &b, 0);
    json_begin_array(&w);
    for (size_t i = 0; i < rule->count; i++)
        json_string(&w, rule->words[i]);
    json_end_array(&w);
    return arena_str(a, buf_str(&b));
}

static void put_rules(struct buf *b, const struct project *p, bool allow,
                      bool quoted, struct arena *a)
{
    for (size_t i = 0; i < p->rule_count; i++)
        if (p->rules[i].allow == allow)
            buf_printf(b, "  %s %.*s   (mapm.yaml:%u)\n",
                       allow ? "allow" : "deny ",
                       STR_ARG(format_rule(&p->rules[i], quoted, a)),
                       p->rules[i].line);
}

/* Describes the policy completely, because the user accepts exactly the text
 * that was shown. */
static struct str describe_policy(const struct project *p, bool quoted,
                                  struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, SIZE_MAX / 2);
    buf_text(&b, "mapm.yaml pre-approves these commands:\n");
    put_rules(&b, p, true, quoted, a);
    put_rules(&b, p, false, quoted, a);
    if (p->network == PROJECT_TRUE)
        buf_text(&b, "  network: true, that is, with the network\n");
    return arena_str(a, buf_str(&b));
}

/* Describes the stores with complete URLs, because the user accepts exactly
 * these. */
static struct str describe_stores(const struct project *p, bool quoted,
                                  struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    (void)quoted; /* URLs of stores have no blanks */
    buf_init(&b, SIZE_MAX / 2);
    buf_text(&b, "mapm.yaml names these stores, to be asked for locked "
                 "packages before their hosts:\n");
    for (size_t i = 0; i < p->store.count; i++)
        buf_printf(&b, "  %.*s\n", STR_ARG(p->store.items[i].url));
    if (p->store.only)
        buf_text(&b, "  only: true, that is, no host is asked\n");
    return arena_str(a, buf_str(&b));
}

/* clang-format off */
static const struct trust_kind kinds[STATE_TRUST_KINDS] = {
    [STATE_TRUST_METASKILL] = {.name = "metaskill"},
    [STATE_TRUST_POLICY] = {.name = "policy", .is_of_folder = true,
                            .is_requested = project_policy_digest,
                            .describe = describe_policy},
    [STATE_TRUST_WORKSPACE] = {.name = "workspace", .is_of_folder = true},
    [STATE_TRUST_SERVER] = {.name = "server", .is_of_folder = true},
    [STATE_TRUST_STORE] = {.name = "store", .is_of_folder = true,
                           .is_requested = project_store_digest,
                           .describe = describe_stores},
    [STATE_TRUST_INDEX] = {.name = "index", .is_of_host = true},
};
/* clang-format on */

const struct trust_kind *authorize_kind(enum state_trust_kind kind)
{
    return &kinds[kind];
}

size_t authorize_requests(struct str path, const struct project *workspace,
                          struct trust_request out[STATE_TRUST_KINDS])
{
    const struct trust_request whole = {.kind = STATE_TRUST_WORKSPACE,
                                        .subject = path};
    size_t count = 0;

    for (size_t i = 0; i < STATE_TRUST_KINDS; i++) {
        struct trust_request q = {.kind = (enum state_trust_kind)i,
                                  .subject = path};

        if (kinds[i].is_requested &&
            kinds[i].is_requested(workspace, &q.digest))
            out[count++] = q;
    }
    out[count++] = whole;
    return count;
}

bool authorize_request_entry(struct store *store,
                             const struct lock_entry *entry,
                             struct trust_request *out, struct err *e)
{
    *out = (struct trust_request){.kind = STATE_TRUST_METASKILL,
                                  .subject = entry->name,
                                  .origin = entry->origin,
                                  .commit = entry->commit,
                                  .version = entry->version};
    return patched_installed(store, entry->digest, entry->patch, &out->digest,
                             e) ||
           err_wrap(e, "%.*s", STR_ARG(entry->name));
}

/* The request covers key and package: a lock that swaps the packages of two
 * keys has consent for neither. */
struct trust_request authorize_request_server(struct str path, struct str key,
                                              const struct hash *digest)
{
    struct hash_state s;

    hash_init(&s);
    hash_add(&s, str_make((const char *)digest->b, sizeof digest->b));
    hash_add(&s, key);
    return (struct trust_request){
        .kind = STATE_TRUST_SERVER, .subject = path, .digest = hash_end(&s)};
}

/* --- the folder ------------------------------------------------------------------ */

#define WANTED (STATX_INO | STATX_UID | STATX_BTIME)

/* Returns true if the file system reports a time of creation. Some report
 * 1970. */
static bool is_born(const struct statx *s)
{
    return (s->stx_mask & STATX_BTIME) &&
           (s->stx_btime.tv_sec || s->stx_btime.tv_nsec);
}

static bool format_identity(int fd, bool make, struct arena *a, struct str *out,
                            struct err *e)
{
    struct statx s;
    struct str id;

    if (statx(fd, "", AT_EMPTY_PATH, WANTED, &s) < 0)
        return err_errno(e, "examine the folder");
    if (is_born(&s)) {
        *out = arena_printf(a, "inode %" PRIu64 " owner %u born %lld.%09u",
                            (uint64_t)s.stx_ino, s.stx_uid,
                            (long long)s.stx_btime.tv_sec, s.stx_btime.tv_nsec);
        return true;
    }
    if (!provision_read_id(fd, make, a, &id, e))
        return false;
    *out = arena_printf(a, "inode %" PRIu64 " owner %u id %.*s",
                        (uint64_t)s.stx_ino, s.stx_uid, STR_ARG(id));
    return true;
}

/* Stores the identity of the folder in `out`. Opens the folder once: the owner
 * is checked and the identity is read through the same file descriptor. */
static bool identify(struct context *cx, const struct trust_request *q,
                     bool make, struct str *out, struct err *e)
{
    CLEANUP_FD int fd = -1;

    *out = STR("");
    return !kinds[q->kind].is_of_folder ||
           (fs_open_dir(str_dup0(q->subject, &cx->arena), &fd, e) &&
            authorize_file(cx, fd, q->subject, q->subject, e) &&
            format_identity(fd, make, &cx->arena, out, e));
}

/* --- lists -------------------------------------------------------------- */

bool authorize_trust(struct context *cx, struct store *store,
                     const struct trust_request *q, enum trust_state *out,
                     struct err *e)
{
    struct err ignored = {0}; /* on failure, no folder matches */
    struct str known, identity;

    *out = TRUST_NONE;
    err_clear(e);
    if (!state_find_trust(store_state(store), q->kind, q->subject, &q->digest,
                          &cx->arena, &known, e))
        return e->code == ERR_NONE;
    if (known.n == 0 && kinds[q->kind].is_of_folder)
        *out = TRUST_UNBOUND;
    else if (!identify(cx, q, false, &identity, &ignored) ||
             !str_eq(known, identity))
        *out = TRUST_REPLACED;
    else
        *out = TRUST_GIVEN;
    return true;
}

bool authorize_put(struct context *cx, struct store *store,
                   const struct trust_request *q, struct err *e)
{
    struct str identity;

    return identify(cx, q, true, &identity, e) &&
           state_put_trust(store_state(store), q->kind, q->subject, &q->digest,
                           identity, e);
}

const char *authorize_reason(enum trust_state state)
{
    static const char *const reasons[] = {
        [TRUST_REPLACED] = "the folder was replaced, or has another owner, "
                           "since it was trusted",
        [TRUST_UNBOUND] = "it was trusted by an older mapm, which did not "
                          "record which folder that was",
    };

    return state == TRUST_REPLACED || state == TRUST_UNBOUND ? reasons[state]
                                                             : "";
}

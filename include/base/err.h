#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * err: why something failed, from the innermost cause outwards.
 *
 *     err_set("HTTP 404") -> err_wrap("skills/outline") -> err_wrap("cannot …")
 *
 * A fallible function returns bool and takes `struct err *e` last; the
 * functions here return false, so failing is one line. An err owns nothing:
 * reporting needs no memory. What does not fit is cut, never lost silently
 * (the last message ends in "…").
 *
 * Source: STYLE.md 4, DESIGN.md 10, REQUIREMENTS.md M34.
 */

#define MUST_CHECK        __attribute__((warn_unused_result))
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define CLEANUP(function) __attribute__((cleanup(function)))
#define NORETURN          __attribute__((noreturn))

/* clang-format off */
/* Stable: programs may rely on the names (err_code_name). */
#define ERR_CODES(X) \
    X(NONE, "none") \
    X(FAILED, "failed") /* none of the others */ \
    X(USAGE, "usage") /* the command line is wrong; exit 2 */ \
    X(IO, "io") /* the operating system said no */ \
    X(NOT_FOUND, "not-found") \
    X(FORMAT, "format") /* a document breaks its grammar */ \
    X(FRONTMATTER, "frontmatter-invalid") /* M34 SkillFrontmatterError */ \
    X(NAME, "name-invalid") /* M34 SkillNameInvalidError */ \
    X(ORIGIN, "origin-invalid") /* M34 OriginParseError */ \
    X(MCP, "mcp-invalid") /* M34 McpInvalidJsonError */ \
    X(LIMIT, "limit") /* larger than limits.h allows */ \
    X(CYCLE, "cyclic-dependency") \
    X(CONFLICT, "origin-conflict") /* M34 SkillOriginConflictError */ \
    X(DEPENDENTS, "has-dependents") \
    X(IMMUTABLE, "immutable-origin") /* a pinned origin would change */ \
    X(STALE, "plan-stale") /* upstream moved between plan and install */ \
    X(LOCKED, "locked") /* mapm.yaml and mapm.lock disagree */ \
    X(EDITED, "edited") /* would destroy the user's own changes */ \
    X(BUSY, "busy") /* another mapm holds the lock */ \
    X(FETCH, "fetch") /* the other side or the network failed */ \
    X(HOST, "host-not-found") \
    X(TLS, "tls") \
    X(AUTH, "not-authorized") /* 401, 403 */ \
    X(REF, "ref-not-found") \
    X(PATH, "path-not-found") \
    X(OFFLINE, "offline") /* needs the network, and may not use it */ \
    X(DAMAGED, "damaged") /* bytes do not fit their hash */ \
    X(REFUSED, "refused") /* by policy, trust or safety; exit 4 */ \
    X(INTERRUPTED, "interrupted") /* exit 130 */ \
    X(PATCH, "patch-conflict") /* a patch does not fit what it changes */
/* clang-format on */

enum err_code {
#define ERR_ID(id, name) ERR_##id,
    ERR_CODES(ERR_ID)
#undef ERR_ID
};

#define ERR_TEXT_MAX_BYTES 6144
#define ERR_HINT_MAX_BYTES 512

struct err {
    enum err_code code;
    size_t used; /* bytes of text */
    /* Messages, innermost first: before each its role, after each a NUL. */
    char text[ERR_TEXT_MAX_BYTES];
    char hint[ERR_HINT_MAX_BYTES]; /* what to do next; "" = none */
};

/* Sets code and the only message; clears earlier messages and the hint. */
bool err_set(struct err *e, enum err_code code, const char *format, ...)
    PRINTF(3, 4);

/* ERR_IO (ERR_INTERRUPTED for EINTR), the message, ": ", strerror(errno). */
bool err_errno(struct err *e, const char *format, ...) PRINTF(2, 3);

/* Adds an outer message. */
bool err_wrap(struct err *e, const char *format, ...) PRINTF(2, 3);

/* Sets the hint. Returns false, too: `return err_hint(e, …)`. */
bool err_hint(struct err *e, const char *format, ...) PRINTF(2, 3);

/*
 * A list. Each of its members is an err_also(): below the message set so far, or
 * below the one that wraps them, where nothing was set (the caller sets e->code
 * then). What err_because() adds is the reason of the last member.
 */
bool err_also(struct err *e, const char *format, ...) PRINTF(2, 3);
bool err_because(struct err *e, const char *format, ...) PRINTF(2, 3);
/* A part of the last member, as an edge of a cycle. */
bool err_part(struct err *e, const char *format, ...) PRINTF(2, 3);
/* `why` as a member, with its reasons; code and hint are those of the first. */
bool err_also_err(struct err *e, const struct err *why);

void err_clear(struct err *e);

/* Borrowed from `e`. The innermost message; "" without one. */
const char *err_first(const struct err *e);

/* The message after `message`, outwards; NULL after the outermost. Start
 * with NULL for the innermost. */
const char *err_next(const struct err *e, const char *message);

/* The message before `message`, inwards; start with NULL for the outermost. */
const char *err_prev(const struct err *e, const char *message);

/* Whether the outermost message holds `name` already: said once is enough. */
bool err_names(const struct err *e, const char *name);

/* Of a message that err_next or err_prev gave. */
enum err_role {
    ERR_CAUSE, /* of the message outside of it */
    ERR_ITEM,
    ERR_ITEM_CAUSE,
    ERR_ITEM_PART,
};

enum err_role err_role(const char *message);
/* What it is below a member of another list, of which `e` becomes one. */
enum err_role err_role_within(const struct err *e, const char *message);

const char *err_code_name(enum err_code code);

/* The inverse; ERR_FAILED for an unknown name. */
enum err_code err_code_find(const char *name, size_t length);

#endif

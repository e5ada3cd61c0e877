#ifndef BASE_ERR_H
#define BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * err: the description of an error, from the innermost cause outwards.
 *
 *     err_set("HTTP 404") -> err_wrap("skills/outline") -> err_wrap("cannot …")
 *
 * A function that can fail returns bool and takes `struct err *e` as its last
 * argument. The functions here return false, so that failing is one line. A
 * struct err needs no allocation, so reporting works without memory. Text that
 * does not fit is truncated, and the last message then ends in "…".
 *
 * Source: STYLE.md 4, DESIGN.md 10, REQUIREMENTS.md M34.
 */

#define MUST_CHECK        __attribute__((warn_unused_result))
#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define CLEANUP(function) __attribute__((cleanup(function)))
#define NORETURN          __attribute__((noreturn))

/* clang-format off */
/* The names are stable: programs may rely on them (err_code_name). */
#define ERR_CODES(X) \
    X(NONE, "none") \
    X(FAILED, "failed") /* any other error */ \
    X(USAGE, "usage") /* the command line is wrong; exit 2 */ \
    X(IO, "io") /* the operating system reported an error */ \
    X(NOT_FOUND, "not-found") \
    X(FORMAT, "format") /* a document does not match its grammar */ \
    X(FRONTMATTER, "frontmatter-invalid") /* M34 SkillFrontmatterError */ \
    X(NAME, "name-invalid") /* M34 SkillNameInvalidError */ \
    X(ORIGIN, "origin-invalid") /* M34 OriginParseError */ \
    X(MCP, "mcp-invalid") /* M34 McpInvalidJsonError */ \
    X(LIMIT, "limit") /* a limit of limits.h is exceeded */ \
    X(CYCLE, "cyclic-dependency") \
    X(CONFLICT, "origin-conflict") /* M34 SkillOriginConflictError */ \
    X(DEPENDENTS, "has-dependents") \
    X(IMMUTABLE, "immutable-origin") /* a pinned origin would change */ \
    X(STALE, "plan-stale") /* upstream changed between plan and install */ \
    X(LOCKED, "locked") /* mapm.yaml and mapm.lock disagree */ \
    X(EDITED, "edited") /* would overwrite local edits of the user */ \
    X(BUSY, "busy") /* another mapm process holds the lock */ \
    X(FETCH, "fetch") /* the server or the network failed */ \
    X(HOST, "host-not-found") \
    X(TLS, "tls") \
    X(AUTH, "not-authorized") /* 401, 403 */ \
    X(REF, "ref-not-found") \
    X(PATH, "path-not-found") \
    X(OFFLINE, "offline") /* needs the network, which is not allowed */ \
    X(DAMAGED, "damaged") /* contents do not match their hash */ \
    X(REFUSED, "refused") /* by policy, trust or safety; exit 4 */ \
    X(INTERRUPTED, "interrupted") /* exit 130 */ \
    X(PATCH, "patch-conflict") /* a patch does not apply */
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
    /* Messages, innermost first; each is preceded by its role and followed by a
     * NUL. */
    char text[ERR_TEXT_MAX_BYTES];
    char hint[ERR_HINT_MAX_BYTES]; /* what the user can do; "" if unknown */
};

/* Sets the code and one message; clears earlier messages and the hint. */
bool err_set(struct err *e, enum err_code code, const char *format, ...)
    PRINTF(3, 4);

/* Sets ERR_IO (ERR_INTERRUPTED for EINTR) and the message, followed by ": " and
 * strerror(errno). */
bool err_errno(struct err *e, const char *format, ...) PRINTF(2, 3);

/* Adds an outer message. */
bool err_wrap(struct err *e, const char *format, ...) PRINTF(2, 3);

/* Sets the hint. Returns false as well: `return err_hint(e, …)`. */
bool err_hint(struct err *e, const char *format, ...) PRINTF(2, 3);

/* A list of errors. err_also() adds an item, either below the message that is
 * already set, or below the message that will wrap the list; in the latter case
 * the caller sets e->code. err_because() adds the cause of the last item. */
bool err_also(struct err *e, const char *format, ...) PRINTF(2, 3);
bool err_because(struct err *e, const char *format, ...) PRINTF(2, 3);
/* Adds a part of the last item, such as an edge of a cycle. */
bool err_part(struct err *e, const char *format, ...) PRINTF(2, 3);
/* Adds `why` as an item, with its causes. The first one sets code and hint of
 * `e`. */
bool err_also_err(struct err *e, const struct err *why);

void err_clear(struct err *e);

/* Returns the innermost message, borrowed from `e`; "" if there is none. */
const char *err_first(const struct err *e);

/* Returns the next outer message after `message`, NULL after the outermost;
 * with NULL the innermost one. */
const char *err_next(const struct err *e, const char *message);

/* Returns the next inner message before `message`, NULL after the innermost;
 * with NULL the outermost one. */
const char *err_prev(const struct err *e, const char *message);

/* Returns whether the outermost message contains `name`, so that it need not be
 * repeated. */
bool err_names(const struct err *e, const char *name);

/* Role of a message that err_next or err_prev returned. */
enum err_role {
    ERR_CAUSE, /* cause of the next outer message */
    ERR_ITEM,
    ERR_ITEM_CAUSE,
    ERR_ITEM_PART,
};

enum err_role err_role(const char *message);
/* Returns the role of `message` after `e` has become an item of another
 * list. */
enum err_role err_role_within(const struct err *e, const char *message);

const char *err_code_name(enum err_code code);

/* Returns the code of a name; ERR_FAILED if it is unknown. */
enum err_code err_code_find(const char *name, size_t length);

#endif

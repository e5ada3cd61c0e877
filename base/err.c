#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {
#define NAME(id, name) [ERR_##id] = (name),
    ERR_CODES(NAME)
#undef NAME
};

#define ELLIPSIS "\xe2\x80\xa6"

/* Do not store a message in less space. */
#define ROOM_MIN_BYTES 8

/* One byte more than fits, so that insert_message marks a truncated message. */
#define MESSAGE_BYTES (ERR_TEXT_MAX_BYTES + 1)

/* Each message is preceded by its role. */
enum { ROLE_BYTES = 1 };

/* Returns the number of bytes of `message` to keep, so that the ellipsis
 * follows a whole character. */
static size_t cut(const char *message, size_t room)
{
    size_t n = room - sizeof ELLIPSIS;

    while (n && ((unsigned char)message[n] & 0xc0) == 0x80)
        n--;
    return n;
}

static void insert_message(struct err *e, size_t at, enum err_role role,
                           const char *message)
{
    size_t room = sizeof e->text - e->used, n = strlen(message);
    const char *tail = "";
    char *gap = e->text + at;

    if (room < ROOM_MIN_BYTES)
        return;
    room -= ROLE_BYTES;
    if (n + 1 > room) {
        n = cut(message, room);
        tail = ELLIPSIS;
    }
    room = ROLE_BYTES + n + strlen(tail) + 1;
    memmove(gap + room, gap, e->used - at);
    *gap++ = (char)('0' + role);
    /* The tail, with its NUL, follows: NOLINTNEXTLINE(bugprone-not-null*) */
    memcpy(gap, message, n);
    memcpy(gap + n, tail, strlen(tail) + 1);
    e->used += room;
}

bool err_set(struct err *e, enum err_code code, const char *format, ...)
{
    char message[MESSAGE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    err_clear(e);
    e->code = code;
    insert_message(e, 0, ERR_CAUSE, message);
    return false;
}

bool err_errno(struct err *e, const char *format, ...)
{
    char message[MESSAGE_BYTES];
    int saved = errno;
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return err_set(e, saved == EINTR ? ERR_INTERRUPTED : ERR_IO, "%s: %s",
                   message, strerror(saved));
}

bool err_wrap(struct err *e, const char *format, ...)
{
    char message[MESSAGE_BYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    if (e->code == ERR_NONE)
        e->code = ERR_FAILED;
    insert_message(e, e->used, ERR_CAUSE, message);
    return false;
}

static bool PRINTF(3, 0) add_within(struct err *e, enum err_role role,
                                    const char *format, va_list args)
{
    char message[MESSAGE_BYTES];

    vsnprintf(message, sizeof message, format, args);
    if (e->code == ERR_NONE)
        e->code = ERR_FAILED;
    insert_message(e, 0, role, message);
    return false;
}

bool err_also(struct err *e, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_within(e, ERR_ITEM, format, args);
    va_end(args);
    return false;
}

bool err_because(struct err *e, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_within(e, ERR_ITEM_CAUSE, format, args);
    va_end(args);
    return false;
}

bool err_part(struct err *e, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    add_within(e, ERR_ITEM_PART, format, args);
    va_end(args);
    return false;
}

enum err_role err_role_within(const struct err *e, const char *message)
{
    size_t members = 0;

    for (const char *m = NULL; (m = err_next(e, m));)
        members += err_role(m) == ERR_ITEM;
    return err_role(message) == ERR_ITEM && members > 1 ? ERR_ITEM_PART
                                                        : ERR_ITEM_CAUSE;
}

bool err_also_err(struct err *e, const struct err *why)
{
    const char *outermost = err_prev(why, NULL);

    if (e->code == ERR_NONE) {
        e->code = why->code;
        memcpy(e->hint, why->hint, sizeof e->hint);
    }
    for (const char *m = outermost; m; m = err_prev(why, m))
        insert_message(e, 0,
                       m == outermost ? ERR_ITEM : err_role_within(why, m), m);
    return false;
}

bool err_hint(struct err *e, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(e->hint, sizeof e->hint, format, args);
    va_end(args);
    return false;
}

void err_clear(struct err *e)
{
    e->code = ERR_NONE;
    e->used = 0;
    e->text[0] = '\0';
    e->hint[0] = '\0';
}

const char *err_first(const struct err *e)
{
    return e->used ? e->text + ROLE_BYTES : "";
}

const char *err_next(const struct err *e, const char *message)
{
    if (!message)
        return e->used ? e->text + ROLE_BYTES : NULL;
    message += strlen(message) + 1;
    return message < e->text + e->used ? message + ROLE_BYTES : NULL;
}

const char *err_prev(const struct err *e, const char *message)
{
    const char *end = message ? message - ROLE_BYTES : e->text + e->used;

    if (end == e->text)
        return NULL;
    for (end--; end > e->text && end[-1] != '\0';)
        end--;
    return end + ROLE_BYTES;
}

bool err_names(const struct err *e, const char *name)
{
    const char *outermost = err_prev(e, NULL);

    return outermost && strstr(outermost, name);
}

enum err_role err_role(const char *message)
{
    return (enum err_role)(message[-ROLE_BYTES] - '0');
}

const char *err_code_name(enum err_code code)
{
    return (size_t)code < sizeof names / sizeof *names ? names[code]
                                                       : names[ERR_FAILED];
}

enum err_code err_code_find(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], name, length) == 0)
            return (enum err_code)i;
    return ERR_FAILED;
}

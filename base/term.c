#include "base/term.h"

#include "base/env.h"
#include "base/proc.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define WIDTH_DEFAULT    80
#define WIDTH_MIN        20
#define WIDTH_MAX        1000
#define OUT_FLUSH_BYTES  (64u * 1024)
#define TEXT_MAX_BYTES   ((size_t)256 * 1024 * 1024)
#define PROGRESS_EACH_MS 100
#define ANSWER_MAX_BYTES 64
#define CHOOSE_MAX_TRIES 3

static const char *const styles[] = {
    [TERM_PLAIN] = "",         [TERM_BOLD] = "\x1b[1m",
    [TERM_DIM] = "\x1b[2m",    [TERM_RED] = "\x1b[31m",
    [TERM_GREEN] = "\x1b[32m", [TERM_YELLOW] = "\x1b[33m",
    [TERM_CYAN] = "\x1b[36m",
};

static unsigned find_width(bool is_terminal)
{
    struct winsize size = {0};
    uint64_t width = 0;

    if (is_terminal && ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0)
        width = size.ws_col;
    if (width == 0 && !str_number(env_get("COLUMNS"), WIDTH_MAX, &width))
        width = 0;
    if (width == 0)
        return WIDTH_DEFAULT;
    if (width < WIDTH_MIN)
        return WIDTH_MIN;
    return width > WIDTH_MAX ? WIDTH_MAX : (unsigned)width;
}

void term_init(struct term *t, enum term_when color, bool quiet)
{
    struct str kind = env_get("TERM");
    bool may_color;

    *t = (struct term){
        .is_out = isatty(STDOUT_FILENO),
        .is_err = isatty(STDERR_FILENO),
        .is_in = isatty(STDIN_FILENO),
        .is_dumb = kind.n == 0 || str_is(kind, "dumb"),
        .quiet = quiet,
    };
    may_color = color == TERM_AUTO && env_get("NO_COLOR").n == 0 && !t->is_dumb;
    t->color_out = color == TERM_ALWAYS || (may_color && t->is_out);
    t->color_err = color == TERM_ALWAYS || (may_color && t->is_err);
    t->width = find_width(t->is_err);
    buf_init(&t->out, TEXT_MAX_BYTES);
}

/* Returns 0 or errno, because a struct err is too large to use for each
 * line. */
static int write_out(int fd, struct str s)
{
    while (s.n) {
        ssize_t n = write(fd, s.p, s.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno;
        s = str_from_index(s, (size_t)n);
    }
    return 0;
}

static void flush_out(struct term *t)
{
    if (t->out.overflowed && !t->out_errno)
        t->out_errno = EFBIG;
    if (!t->out_errno)
        t->out_errno = write_out(STDOUT_FILENO, buf_str(&t->out));
    buf_clear(&t->out);
}

bool term_flush(struct term *t, struct err *e)
{
    flush_out(t);
    errno = t->out_errno;
    return errno == 0 || err_errno(e, "write to standard output");
}

bool term_done(struct term *t, struct err *e)
{
    bool ok;

    term_progress_clear(t);
    ok = term_flush(t, e);
    buf_done(&t->out);
    return ok;
}

static void put_out(struct term *t, struct str s)
{
    term_progress_clear(t);
    buf_append(&t->out, s);
    if (t->out.n >= OUT_FLUSH_BYTES || t->out.overflowed)
        flush_out(t);
}

/* Writes in one call, after flushing stdout, so that lines stay
 * whole and in order. */
static void put_err(struct term *t, const struct buf *text)
{
    flush_out(t);
    (void)write_out(STDERR_FILENO, buf_str(text));
}

/* Escapes the formatted text, so that escape sequences in arguments
 * have no effect. */
static PRINTF(3, 0) void add_format(struct buf *out, bool lines,
                                    const char *format, va_list args)
{
    struct buf raw;
    va_list again;
    char *room;
    int n;

    buf_init(&raw, TEXT_MAX_BYTES);
    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, again);
    va_end(again);
    room = n < 0 ? NULL : buf_reserve(&raw, (size_t)n);
    if (room) {
        vsnprintf(room, (size_t)n + 1, format, args);
        raw.n = (size_t)n;
    }
    text_visible(out, buf_str(&raw), lines);
    buf_done(&raw);
}

static void add_styled(struct buf *out, bool color, enum term_style style,
                       const char *text)
{
    buf_text(out, color ? styles[style] : "");
    buf_text(out, text);
    buf_text(out, color && style != TERM_PLAIN ? "\x1b[0m" : "");
}

void term_print(struct term *t, const char *format, ...)
{
    struct buf b;
    va_list args;

    buf_init(&b, TEXT_MAX_BYTES);
    va_start(args, format);
    add_format(&b, true, format, args);
    va_end(args);
    put_out(t, buf_str(&b));
    buf_done(&b);
}

void term_style_print(struct term *t, enum term_style style, const char *format,
                      ...)
{
    bool color = t->color_out && style != TERM_PLAIN;
    struct buf b;
    va_list args;

    buf_init(&b, TEXT_MAX_BYTES);
    buf_text(&b, color ? styles[style] : "");
    va_start(args, format);
    add_format(&b, true, format, args);
    va_end(args);
    buf_text(&b, color ? "\x1b[0m" : "");
    put_out(t, buf_str(&b));
    buf_done(&b);
}

void term_content(struct term *t, struct str bytes)
{
    struct buf b;

    if (!t->is_out) {
        term_write(t, bytes);
        return;
    }
    buf_init(&b, TEXT_MAX_BYTES);
    text_visible(&b, bytes, true);
    put_out(t, buf_str(&b));
    buf_done(&b);
}

void term_style_content(struct term *t, enum term_style style, struct str bytes)
{
    bool color = t->color_out && style != TERM_PLAIN;

    if (color)
        term_write(t, str_cstr(styles[style]));
    term_content(t, bytes);
    if (color)
        term_write(t, STR("\x1b[0m"));
}

void term_write(struct term *t, struct str bytes)
{
    put_out(t, bytes);
}

static void end_line(struct buf *b)
{
    if (!str_ends(buf_str(b), STR("\n")))
        buf_char(b, '\n');
}

void term_note(struct term *t, const char *format, ...)
{
    struct buf b;
    va_list args;

    if (t->quiet)
        return;
    buf_init(&b, TEXT_MAX_BYTES);
    va_start(args, format);
    add_format(&b, true, format, args);
    va_end(args);
    end_line(&b);
    term_progress_clear(t);
    put_err(t, &b);
    buf_done(&b);
}

void term_warn(struct term *t, const char *format, ...)
{
    struct buf b;
    va_list args;

    buf_init(&b, TEXT_MAX_BYTES);
    add_styled(&b, t->color_err, TERM_YELLOW, "warning:");
    buf_char(&b, ' ');
    va_start(args, format);
    add_format(&b, false, format, args);
    va_end(args);
    end_line(&b);
    term_progress_clear(t);
    put_err(t, &b);
    buf_done(&b);
}

static void add_cause(const struct term *t, struct buf *b,
                      enum term_style style, const char *label,
                      const char *text)
{
    add_styled(b, t->color_err, style, label);
    buf_char(b, ' ');
    text_visible(b, str_cstr(text), false);
    buf_char(b, '\n');
}

/* Returns the label of a message; a single item of a list is labelled as the
 * cause of the message above it. */
static const char *label_of(const char *message, bool is_list, bool is_headed)
{
    static const char *const labels[][2] = {
        [ERR_CAUSE] = {"  because:", "  because:"},
        [ERR_ITEM] = {"  because:", "  -"},
        [ERR_ITEM_CAUSE] = {"  because:", "    because:"},
        [ERR_ITEM_PART] = {"  -", "    -"},
    };

    if (!is_headed && err_role(message) == ERR_ITEM)
        return "mapm:";
    return labels[err_role(message)][is_headed && is_list];
}

/* A hint may contain lines of a file, which are indented so that none of them
 * looks like a message. */
static void add_hint(const struct term *t, struct buf *b, const char *label,
                     const char *hint)
{
    struct str rest = str_cstr(hint), line;

    for (bool first = true; str_line(&rest, &line); first = false) {
        if (first)
            add_styled(b, t->color_err, TERM_CYAN, label);
        else
            buf_text(b, "       ");
        buf_char(b, ' ');
        text_visible(b, line, false);
        buf_char(b, '\n');
    }
}

void term_error(struct term *t, const struct err *e)
{
    const char *head = err_prev(e, NULL);
    bool is_headed = head && err_role(head) == ERR_CAUSE;
    size_t members = 0;
    struct buf b;

    buf_init(&b, TEXT_MAX_BYTES);
    for (const char *m = head; m; m = err_prev(e, m))
        members += err_role(m) == ERR_ITEM;
    if (!head)
        add_cause(t, &b, TERM_RED, "mapm:", err_code_name(e->code));
    for (const char *m = head; m; m = err_prev(e, m)) {
        const char *label =
            m == head ? "mapm:" : label_of(m, members > 1, is_headed);

        add_cause(t, &b, label[0] == ' ' ? TERM_PLAIN : TERM_RED, label, m);
    }
    if (e->hint[0])
        add_hint(t, &b, "  hint:", e->hint);
    term_progress_clear(t);
    put_err(t, &b);
    buf_done(&b);
}

void term_hint(struct term *t, const struct err *e)
{
    struct buf b;

    if (!e->hint[0])
        return;
    buf_init(&b, TEXT_MAX_BYTES);
    add_hint(t, &b, "hint:", e->hint);
    term_progress_clear(t);
    put_err(t, &b);
    buf_done(&b);
}

void term_progress(struct term *t, const char *format, ...)
{
    uint64_t now;
    struct buf b, line;
    va_list args;

    if (!t->is_err || t->is_dumb || t->quiet)
        return;
    now = proc_now_ms();
    if (t->progress_at_ms && now - t->progress_at_ms < PROGRESS_EACH_MS)
        return;
    buf_init(&b, TEXT_MAX_BYTES);
    buf_init(&line, TEXT_MAX_BYTES);
    va_start(args, format);
    add_format(&b, false, format, args);
    va_end(args);
    for (size_t i = 0; i < b.n; i++)
        if (b.p[i] == '\t') /* the width of a tab is unknown */
            b.p[i] = ' ';
    buf_text(&line, "\r\x1b[K");
    /* Leave one column free, because a full line would wrap and
     * could not be erased. */
    buf_append(&line, text_fit(buf_str(&b), t->width - 1));
    put_err(t, &line);
    buf_done(&line);
    buf_done(&b);
    t->progress_at_ms = now;
    t->has_progress = true;
}

void term_progress_clear(struct term *t)
{
    if (!t->has_progress)
        return;
    (void)write_out(STDERR_FILENO, STR("\r\x1b[K"));
    t->has_progress = false;
}

/* Waits for input; returns false at `deadline_ms` (0: none) or on error. */
static bool wait_input(uint64_t deadline_ms)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

    for (;;) {
        uint64_t now = proc_now_ms();
        uint64_t left = deadline_ms > now ? deadline_ms - now : 0;
        int n;

        if (proc_interrupted())
            return true;
        if (deadline_ms == 0 || left > INT_MAX)
            left = INT_MAX;
        n = poll(&in, 1, (int)left);
        if (n > 0 || (n < 0 && errno != EINTR))
            return true;
        if (n == 0 && deadline_ms && proc_now_ms() >= deadline_ms)
            return false;
    }
}

/* Reads the first bytes of a line of stdin and discards the rest of the line.
 * Empty at the end of input and at the deadline. */
static bool read_answer(char answer[ANSWER_MAX_BYTES], size_t *n,
                        uint64_t deadline_ms, struct err *e)
{
    ssize_t got;
    char byte;

    *n = 0;
    for (;;) {
        bool late = !wait_input(deadline_ms);

        if (proc_interrupted()) {
            (void)write_out(STDERR_FILENO, STR("\n"));
            return err_set(e, ERR_INTERRUPTED, "interrupted");
        }
        got = late ? 0 : read(STDIN_FILENO, &byte, 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_errno(e, "read the answer");
        if (got == 0) {
            (void)write_out(STDERR_FILENO, STR("\n"));
            *n = 0;
            return true;
        }
        if (byte == '\n')
            return true;
        if (*n < ANSWER_MAX_BYTES)
            answer[(*n)++] = byte;
    }
}

static bool put_question(struct term *t, const char *question,
                         const char *behind, struct err *e)
{
    struct buf b;

    if (!t->is_in || !t->is_err)
        return err_set(e, ERR_REFUSED, "cannot ask without a terminal: %s",
                       question);
    term_progress_clear(t);
    buf_init(&b, TEXT_MAX_BYTES);
    text_visible(&b, str_cstr(question), true);
    buf_printf(&b, " %s ", behind);
    put_err(t, &b);
    buf_done(&b);
    return true;
}

bool term_ask(struct term *t, const char *question, bool *yes, struct err *e)
{
    char answer[ANSWER_MAX_BYTES];
    struct str said;
    size_t n;

    if (!put_question(t, question, "[y/N]", e) ||
        !read_answer(answer, &n, 0, e))
        return false;
    said = str_trim(str_make(answer, n));
    *yes = str_eq_nocase(said, STR("y")) || str_eq_nocase(said, STR("yes"));
    return true;
}

/* Returns the index of the choice, or SIZE_MAX. */
static size_t find_choice(struct str said, const char *const *choices,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq_nocase(said, str_make(choices[i], 1)) ||
            str_eq_nocase(said, str_cstr(choices[i])))
            return i;
    return SIZE_MAX;
}

/* Appends "(o)nce, (n)o:". */
static void put_choices(struct buf *b, const char *const *choices, size_t count)
{
    for (size_t i = 0; i < count; i++)
        buf_printf(b, "%s(%c)%s", i ? ", " : "", choices[i][0], choices[i] + 1);
    buf_char(b, ':');
}

bool term_choose(struct term *t, const char *question,
                 const char *const *choices, size_t count, uint64_t deadline_ms,
                 size_t *chosen, struct err *e)
{
    CLEANUP(buf_done) struct buf b;
    char answer[ANSWER_MAX_BYTES];
    struct str said;
    size_t n;

    buf_init(&b, TEXT_MAX_BYTES);
    put_choices(&b, choices, count);
    if (t->is_in)
        (void)tcflush(STDIN_FILENO, TCIFLUSH);
    for (int i = 0; i < CHOOSE_MAX_TRIES; i++) {
        if (!put_question(t, i ? "One of these, please:" : question, b.p, e) ||
            !read_answer(answer, &n, deadline_ms, e))
            return false;
        said = str_trim(str_make(answer, n));
        *chosen = find_choice(said, choices, count);
        if (*chosen != SIZE_MAX)
            return true;
        if (said.n == 0)
            break;
    }
    *chosen = count - 1;
    return true;
}

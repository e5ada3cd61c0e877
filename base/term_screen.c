#include "base/term_screen.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_MIN  20
#define WIDTH_MAX  500
#define HEIGHT_MIN 5
#define HEIGHT_MAX 500
#define ESCAPE_MS  50 /* of a key that sends several bytes, at most */

/* --- the screen ----------------------------------------------------------- */

static unsigned clamp(unsigned n, unsigned min, unsigned max)
{
    return n < min ? min : n > max ? max : n;
}

void term_screen_size(unsigned *width, unsigned *height)
{
    struct winsize size = {0};

    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) < 0 || size.ws_col == 0) {
        size.ws_col = 80;
        size.ws_row = 24;
    }
    *width = clamp(size.ws_col, WIDTH_MIN, WIDTH_MAX);
    *height = clamp(size.ws_row, HEIGHT_MIN, HEIGHT_MAX);
}

void term_screen_write(struct str s)
{
    while (s.n) {
        ssize_t n = write(STDERR_FILENO, s.p, s.n);

        if (n < 0 && errno != EINTR)
            return;
        s = str_from_index(s, n > 0 ? (size_t)n : 0);
    }
}

bool term_screen_begin(struct term_screen *s, struct err *e)
{
    struct termios raw;

    if (tcgetattr(STDIN_FILENO, &s->before) < 0)
        return err_errno(e, "read the state of the terminal");
    raw = s->before;
    raw.c_iflag &= ~(tcflag_t)(ICRNL | INLCR | IXON | ISTRIP);
    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO | ISIG | IEXTEN);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) < 0)
        return err_errno(e, "set the state of the terminal");
    s->is_raw = true;
    term_screen_write(STR("\x1b[?1049h\x1b[2J"));
    return true;
}

void term_screen_end(struct term_screen *s)
{
    if (!s->is_raw)
        return;
    term_screen_write(STR("\x1b[?25h\x1b[?1049l"));
    (void)tcsetattr(STDIN_FILENO, TCSADRAIN, &s->before);
    s->is_raw = false;
}

/* --- keys ----------------------------------------------------------------- */

bool term_key_wait(int ms)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

    return poll(&in, 1, ms) > 0;
}

/* -1: there is none. */
static int read_byte(int ms)
{
    unsigned char c;

    return term_key_wait(ms) && read(STDIN_FILENO, &c, 1) == 1 ? c : -1;
}

/* Behind ESC "[" or "O": parameters, then one letter or "~". */
static enum term_key read_sequence(void)
{
    int c = read_byte(ESCAPE_MS), first = 0;

    for (int i = 0; i < 16 && c >= 0x20 && c < 0x40; i++) {
        first = i == 0 ? c : first;
        c = read_byte(ESCAPE_MS);
    }
    switch (c) {
    case 'A':
        return TERM_KEY_UP;
    case 'B':
        return TERM_KEY_DOWN;
    case 'H':
        return TERM_KEY_HOME;
    case 'F':
        return TERM_KEY_END;
    case '~':
        return first == '5'                   ? TERM_KEY_PAGE_UP
               : first == '6'                 ? TERM_KEY_PAGE_DOWN
               : first == '1' || first == '7' ? TERM_KEY_HOME
               : first == '4' || first == '8' ? TERM_KEY_END
                                              : TERM_KEY_NONE;
    default:
        return TERM_KEY_NONE;
    }
}

static enum term_key control_key(int c)
{
    switch (c) {
    case '\r':
    case '\n':
        return TERM_KEY_ENTER;
    case 3: /* ctrl-c */
        return TERM_KEY_INTERRUPT;
    case 4: /* ctrl-d */
        return TERM_KEY_ESCAPE;
    case 1: /* ctrl-a */
        return TERM_KEY_TOGGLE_ALL;
    case 14: /* ctrl-n */
        return TERM_KEY_DOWN;
    case 16: /* ctrl-p */
        return TERM_KEY_UP;
    case 21: /* ctrl-u */
        return TERM_KEY_CLEAR;
    case ' ':
    case '\t':
        return TERM_KEY_TOGGLE;
    case 8:
    case 0x7f:
        return TERM_KEY_BACKSPACE;
    default:
        return c < 0x20 ? TERM_KEY_NONE : TERM_KEY_TEXT;
    }
}

enum term_key term_key_read(char text[4], size_t *n)
{
    int c = read_byte(0);
    int more = c >= 0xf0 ? 3 : c >= 0xe0 ? 2 : c >= 0xc0 ? 1 : 0;
    enum term_key key;

    *n = 0;
    if (c < 0)
        return TERM_KEY_GONE;
    if (c == 0x1b) {
        int next = read_byte(ESCAPE_MS);

        return next < 0                     ? TERM_KEY_ESCAPE
               : next == '[' || next == 'O' ? read_sequence()
                                            : TERM_KEY_NONE;
    }
    key = control_key(c);
    if (key != TERM_KEY_TEXT)
        return key;
    text[(*n)++] = (char)c;
    for (; more > 0 && (c = read_byte(ESCAPE_MS)) >= 0; more--)
        text[(*n)++] = (char)c;
    return key;
}

#ifndef BASE_TERM_SCREEN_H
#define BASE_TERM_SCREEN_H

#include "base/err.h"
#include "base/str.h"

#include <termios.h>

/*
 * term_screen: the whole terminal, on stderr, and its keys one by one. Its normal
 * screen and state come back at the end; what is shown is the caller's.
 */

struct term_screen {
    struct termios before;
    bool is_raw;
};

MUST_CHECK bool term_screen_begin(struct term_screen *s, struct err *e);
/* Does nothing if the screen was not begun. */
void term_screen_end(struct term_screen *s);
/* Returns the size in columns and lines; 80 and 24 if it is unknown. */
void term_screen_size(unsigned *width, unsigned *height);
/* Writes the text unchanged, including escape sequences. */
void term_screen_write(struct str s);

enum term_key {
    TERM_KEY_NONE,
    TERM_KEY_GONE, /* the terminal is */
    TERM_KEY_UP,
    TERM_KEY_DOWN,
    TERM_KEY_PAGE_UP,
    TERM_KEY_PAGE_DOWN,
    TERM_KEY_HOME,
    TERM_KEY_END,
    TERM_KEY_ENTER,
    TERM_KEY_ESCAPE,
    TERM_KEY_INTERRUPT,
    TERM_KEY_TOGGLE,
    TERM_KEY_TOGGLE_ALL,
    TERM_KEY_BACKSPACE,
    TERM_KEY_CLEAR,
    TERM_KEY_TEXT, /* a character */
};

/* False when nothing is typed for `ms`. */
bool term_key_wait(int ms);
/* `text` gets the `n` bytes of a character of UTF-8. */
enum term_key term_key_read(char text[4], size_t *n);

#endif

#include <dlfcn.h>
#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "../command.h"
#include "star_job.h"

#define HISTORY_LINES 1000

/* The functions used of libedit. */
#define FUNCTIONS(F)                                                           \
    F(el_init)                                                                 \
    F(el_set)                                                                  \
    F(el_gets) F(el_resize) F(el_end) F(history_init) F(history) F(history_end)

struct star_line {
    struct term *term;
    void *library;
    EditLine *edit; /* NULL without libedit */
    History *past;
    HistEvent event;
#define F(name) __typeof__(&(name)) name;
    FUNCTIONS(F)
#undef F
};

/* Reads one byte from the terminal; 0 at its end, -1 after a signal. Signals
 * are blocked except during the wait, so that none is missed. */
static int read_byte(char *c)
{
    struct pollfd terminal = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t all, before;
    ssize_t n = -1;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    while (!star_job_signal()) {
        if (ppoll(&terminal, 1, NULL, &before) < 0 && errno == EINTR)
            continue;
        n = read(STDIN_FILENO, c, 1);
        if (n >= 0 || errno != EINTR)
            break;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return n < 0 && !star_job_signal() ? 0 : (int)n;
}

/* Finds a function of the library. POSIX permits the conversion from a data
 * pointer. */
static bool find(void *library, const char *name, void *function)
{
    void *found = dlsym(library, name);

    memcpy(function, &found, sizeof found);
    return found;
}

static bool find_functions(struct star_line *l)
{
#define F(name) find(l->library, #name, &l->name) &&
    return FUNCTIONS(F) true;
#undef F
}

static char first_prompt[] = ">>> ", next_prompt[] = "... ";

static char *show_first(EditLine *edit)
{
    (void)edit;
    return first_prompt;
}

static char *show_next(EditLine *edit)
{
    (void)edit;
    return next_prompt;
}

/* Reads the next character for libedit. */
static int read_character(EditLine *edit, wchar_t *out)
{
    mbstate_t state = {0};
    int n;
    char c;

    (void)edit;
    while ((n = read_byte(&c)) > 0) {
        size_t used = mbrtowc(out, &c, 1, &state);
        if (used == (size_t)-1) /* ignore a character that is not UTF-8 */
            state = (mbstate_t){0};
        else if (used != (size_t)-2)
            return 1;
    }
    return n;
}

/* A statically linked program cannot load libraries of the system's libc. */
static void load_library(struct star_line *l)
{
#ifndef MAPM_STATIC
    static const char *const names[] = {"libedit.so.2", "libedit.so.0"};

    for (size_t i = 0; !l->library && i < sizeof names / sizeof *names; i++)
        l->library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
#else
    (void)l;
#endif
}

static void start_editing(struct star_line *l)
{
    load_library(l);
    if (!l->library || !find_functions(l))
        return;
    setlocale(LC_CTYPE, "C.UTF-8"); /* input is UTF-8 */
    l->edit = l->el_init("mapm", stdin, stdout, stderr);
    if (!l->edit)
        return;
    l->el_set(l->edit, EL_EDITOR, "emacs");
    l->el_set(l->edit, EL_GETCFN, read_character);
    l->past = l->history_init();
    if (l->past) {
        l->history(l->past, &l->event, H_SETSIZE, HISTORY_LINES);
        l->history(l->past, &l->event, H_SETUNIQUE, 1);
        l->el_set(l->edit, EL_HIST, l->history, l->past);
    }
}

struct star_line *star_line_open(struct invocation *inv)
{
    struct star_line *l = arena_alloc(&inv->cx.arena, sizeof *l);

    *l = (struct star_line){.term = &inv->term};
    if (inv->term.is_out && !inv->term.is_dumb)
        start_editing(l);
    return l;
}

void star_line_close(struct star_line *l)
{
    if (!l)
        return;
    if (l->edit)
        l->el_end(l->edit);
    if (l->past)
        l->history_end(l->past);
    /* The library stays loaded: it and its dependencies keep state. */
}

static enum star_line_kind read_edited(struct star_line *l, bool more,
                                       struct buf *out)
{
    int count = 0;

    l->el_set(l->edit, EL_PROMPT, more ? show_next : show_first);
    l->el_resize(l->edit);
    /* Discard input that was typed before the prompt. */
    l->el_set(l->edit, EL_PREP_TERM, 1);
    const char *text = l->el_gets(l->edit, &count);
    if (star_job_signal())
        return LINE_INTERRUPTED;
    if (!text || count <= 0)
        return LINE_END;
    if (str_trim(str_make(text, (size_t)count)).n && l->past)
        l->history(l->past, &l->event, H_ENTER, text);
    buf_append(out, str_make(text, (size_t)count));
    return LINE_READ;
}

static enum star_line_kind read_plain(struct star_line *l, bool more,
                                      struct buf *out)
{
    struct err ignored = {0};
    size_t before = out->n;
    char c = '\0';

    term_write(l->term, str_cstr(more ? next_prompt : first_prompt));
    if (!term_flush(l->term, &ignored))
        return LINE_END;
    while (c != '\n') {
        int n = read_byte(&c);
        if (n < 0)
            return LINE_INTERRUPTED;
        if (n == 0)
            return out->n > before ? LINE_READ : LINE_END;
        buf_char(out, c);
    }
    return LINE_READ;
}

enum star_line_kind star_line_read(struct star_line *l, bool more,
                                   struct buf *out)
{
    return l->edit ? read_edited(l, more, out) : read_plain(l, more, out);
}

#include "base/text.h"
#include "mapm/limits.h"

#include <stdarg.h>
#include <stdio.h>

#include "scan.h"

void report_note(const struct library_options *o, enum library_note kind,
                 const char *format, ...)
{
    char text[LIBRARY_NOTE_MAX_BYTES + 8192];
    struct str shown;
    va_list args;

    if (!o->note)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    shown = str_cstr(text);
    while (!text_is_utf8(shown)) /* cut inside a character */
        shown.n--;
    o->note(o->ctx, kind, shown);
}

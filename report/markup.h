#ifndef REPORT_MARKUP_H
#define REPORT_MARKUP_H

#include "base/buf.h"

/*
 * markup: escapes text for HTML. Characters that are unsafe for a terminal
 * (base/text.h) appear as \xNN or \u{N}, special characters of HTML as
 * references, in quotes and out of them.
 */

/* Escapes for an element or a quoted attribute; LF is kept when `lines`. */
void markup_text(struct buf *out, struct str s, bool lines);

/* <bdi>text</bdi>: on one line, its direction stays inside. */
void markup_word(struct buf *out, struct str s);

/* What a page begins with, up to <main>. */
struct markup_page {
    struct str title;
    const char *about;  /* behind it in the title: " - skills" */
    const char *style;  /* its own sheet, which alone is allowed */
    const char *script; /* the same, or NULL: none */
    bool is_private;    /* not for the index of a search engine */
};
void markup_head(struct buf *out, const struct markup_page *p);

/* "sha256-…" for a Content-Security-Policy that allows just this `style`. */
void markup_source(struct buf *out, struct str style);

#endif

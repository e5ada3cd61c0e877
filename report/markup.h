#ifndef REPORT_MARKUP_H
#define REPORT_MARKUP_H

#include "base/buf.h"

/*
 * Escapes text for HTML. Characters that are unsafe for a terminal
 * (base/text.h) appear as \xNN or \u{N}; special characters of HTML as
 * references, inside and outside of quotes.
 */

/* Escapes for an element or a quoted attribute; keeps LF if `lines` is set. */
void markup_text(struct buf *out, struct str s, bool lines);

/* Writes <bdi>text</bdi> on one line, so that its text direction does not
 * affect the surroundings. */
void markup_word(struct buf *out, struct str s);

/* The start of a page, up to <main>. */
struct markup_page {
    struct str title;
    const char *about;  /* suffix of the title: " - skills" */
    const char *style;  /* its style sheet, the only one allowed */
    const char *script; /* its script, the only one allowed, or NULL */
    bool is_private;    /* excluded from search engines */
};
void markup_head(struct buf *out, const struct markup_page *p);

/* Writes "sha256-…" for a Content-Security-Policy that allows only this
 * `style`. */
void markup_source(struct buf *out, struct str style);

#endif

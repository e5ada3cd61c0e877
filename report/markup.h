#ifndef REPORT_MARKUP_H
#define REPORT_MARKUP_H

#include "base/buf.h"

/*
 * markup: text into HTML, so that it can only be read. What a terminal must not
 * get (base/text.h) appears as \xNN or \u{N}, and what means something to HTML
 * as a reference, in quotes and out of them.
 */

/* In an element or a quoted attribute; LF is kept when `lines`. */
void markup_text(struct buf *out, struct str s, bool lines);

/* <bdi>text</bdi>: on one line, its direction stays inside. */
void markup_word(struct buf *out, struct str s);

/* "sha256-…" for a Content-Security-Policy that allows just this `style`. */
void markup_source(struct buf *out, struct str style);

#endif

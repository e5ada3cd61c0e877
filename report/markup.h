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

/* "sha256-…" for a Content-Security-Policy that allows just this `style`. */
void markup_source(struct buf *out, struct str style);

#endif

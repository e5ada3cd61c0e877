#ifndef MANIFEST_ORIGIN_H
#define MANIFEST_ORIGIN_H

#include "base/text.h"
#include "mapm/origin.h"

/* What the two readers of origins share: documents' and people's. */

/* ERR_ORIGIN naming the origin, with the grammar as hint. */
bool origin_refuse(struct str text, const char *fault, struct err *e);

/* Why a path inside a repository is refused; NULL when it is fine. */
const char *origin_path_fault(struct str path);

/* ERR_ORIGIN unless the range can be read. "=1.2.3" is one on the command line
 * alone. */
MUST_CHECK bool origin_check_range(struct str text, struct str range,
                                   bool may_be_exact, struct err *e);

/* After "https://" and "ssh://", in any case. */
bool origin_url_start(struct str text, struct str *rest,
                      enum host_transport *transport);
/* "[user@]host[:port]" into `o`, whose transport is set: what is wrong with it;
 * NULL: nothing. */
const char *origin_read_authority(struct str text, struct origin *o,
                                  struct arena *a);
/* Bytes that no origin has, typed or not; NULL: none. */
const char *origin_byte_fault(struct str text);

/* ERR_ORIGIN. `path`: behind the host, which shows what it is. */
bool origin_refuse_host(struct str text, const struct origin *o,
                        struct str path, const struct origin_rules *rules,
                        struct err *e);
bool origin_refuse_name(struct str text, const struct origin *o,
                        const char *what, struct err *e);
bool origin_refuse_page(struct str text, const struct origin *o, struct err *e);
/* Errors: ERR_ORIGIN unless the repository of `o` is one of its kind. */
MUST_CHECK bool origin_check_repository(struct str text, const struct origin *o,
                                        struct err *e);

/* The repository of `o` with "<ref>[/path]", checked. `keeps_text`: see
 * origin_rules. */
MUST_CHECK bool origin_finish(struct str text, const struct origin *o,
                              struct str rest, bool keeps_text, struct arena *a,
                              struct origin *out, struct err *e);
/* The same with its ref and path, either of which may be "". */
MUST_CHECK bool origin_finish_short(struct str text, const struct origin *o,
                                    struct arena *a, struct origin *out,
                                    struct err *e);

/* A URL, "git@host:path" or "github:o/r". */
MUST_CHECK bool origin_parse_pasted(struct str text,
                                    const struct origin_rules *rules,
                                    struct arena *a, struct origin *out,
                                    struct err *e);

/* Sets text and key of one with `rest`. `written`: borrowed where it is that
 * text already. */
void origin_set_texts(struct origin *o, struct str written, struct arena *a);

/* Takes "[user@]host[:port]/repository" off `*rest`, which begins with "/" or
 * is empty then. Of `o` all is set that is about the repository. */
MUST_CHECK bool
origin_take_repository(struct str text, enum host_transport transport,
                       struct str *rest, const struct origin_rules *rules,
                       struct arena *a, struct origin *o, struct err *e);

/* A file: origin of an absolute path without "." and "..". */
MUST_CHECK bool origin_take_path(struct str text, struct str path,
                                 struct arena *a, struct origin *out,
                                 struct err *e);

#endif

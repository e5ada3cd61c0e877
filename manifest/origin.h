#ifndef MANIFEST_ORIGIN_H
#define MANIFEST_ORIGIN_H

#include "base/text.h"
#include "mapm/origin.h"

/* Declarations shared by the two parsers of origins: for documents and for user
 * input. */

/* Sets ERR_ORIGIN with the origin in the message and the grammar as hint.
 * Returns false. */
bool origin_refuse(struct str text, const char *fault, struct err *e);

/* Sets ERR_ORIGIN unless the range is valid. "=1.2.3" is allowed only on the
 * command line (`may_be_exact`). */
MUST_CHECK bool origin_check_range(struct str text, struct str range,
                                   bool may_be_exact, struct err *e);

/* Stores the text after "https://" or "ssh://" in `*rest`, ignoring case.
 * Returns false for other texts. */
bool origin_url_start(struct str text, struct str *rest,
                      enum host_transport *transport);
/* Parses "[user@]host[:port]" into `o`, whose transport the caller has set.
 * Returns a fault, or NULL. */
const char *origin_read_authority(struct str text, struct origin *o,
                                  struct arena *a);
/* Returns a fault if the text has bytes that no form of origin allows, or
 * NULL. */
const char *origin_byte_fault(struct str text);

/* Sets ERR_ORIGIN for a host that is not configured. `path`, the text after the
 * host, is used to guess the kind of the host. */
bool origin_refuse_host(struct str text, const struct origin *o,
                        struct str path, const struct origin_rules *rules,
                        struct err *e);
bool origin_refuse_page(struct str text, const struct origin *o, struct err *e);
/* Sets ERR_ORIGIN unless the repository of `o` has the form that its kind of
 * host requires. */
MUST_CHECK bool origin_check_repository(struct str text, const struct origin *o,
                                        struct err *e);

/* Completes an origin from the repository of `o` and "<ref>[/path]" in `rest`,
 * after checking them. For `keeps_text` see origin_rules. */
MUST_CHECK bool origin_finish(struct str text, const struct origin *o,
                              struct str rest, bool keeps_text, struct arena *a,
                              struct origin *out, struct err *e);
/* The same with the ref and path of `o`, either of which may be "". */
MUST_CHECK bool origin_finish_short(struct str text, const struct origin *o,
                                    struct arena *a, struct origin *out,
                                    struct err *e);

/* Parses a URL, "git@host:path" or "github:o/r". */
MUST_CHECK bool origin_parse_pasted(struct str text,
                                    const struct origin_rules *rules,
                                    struct arena *a, struct origin *out,
                                    struct err *e);

/* Sets text and key of an origin with `rest`. `written` is borrowed if it
 * equals that text. */
void origin_set_texts(struct origin *o, struct str written, struct arena *a);

/* Cuts "[user@]host[:port]/repository" off `*rest`, which is empty or begins
 * with "/" afterwards. Sets the members of `o` that describe the repository. */
MUST_CHECK bool
origin_take_repository(struct str text, enum host_transport transport,
                       struct str *rest, const struct origin_rules *rules,
                       struct arena *a, struct origin *o, struct err *e);

/* Builds a file: origin from an absolute path without "." and "..". */
MUST_CHECK bool origin_take_path(struct str text, struct str path,
                                 struct arena *a, struct origin *out,
                                 struct err *e);

#endif

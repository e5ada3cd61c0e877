#ifndef MAPM_WELL_KNOWN_H
#define MAPM_WELL_KNOWN_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/map.h"

/* well_known: parses the index of skills that a host publishes. Text
 * in, values out.
 * Source: .well-known/agent-skills 0.2.0 (draft of 2026-03-12), W1 to W6. */

#define WELL_KNOWN_PATH "/.well-known/agent-skills/index.json"
#define WELL_KNOWN_SCHEMA                                                      \
    "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

/* Returns whether `text` is "https://host", or a URL that ends in
 * "/index.json", and not a repository. */
bool well_known_is_index(struct str text);
/* Gets the URL of the index: https, or http for this machine.
 * Errors: ERR_ORIGIN. */
MUST_CHECK bool well_known_url(struct str text, struct arena *a,
                               struct str *out, struct err *e);
/* Returns "host[:port]", borrowed. */
struct str well_known_host(struct str url);
/* Splits "host[:port]" into the name, which must be a host name or this
 * machine, and the port (0 for the default). */
bool well_known_read_host(struct str text, struct str *name, unsigned *port);
/* Resolves a URL of the index at `base` (RFC 3986), without "." and "..";
 * returns false if it is not allowed. Allocated in `a`. */
bool well_known_resolve(struct str base, struct str url, struct arena *a,
                        struct str *out);

/* Detects the format of an artifact by its bytes: a SKILL.md does not begin
 * with the signature of an archive. */
enum artifact_format { ARTIFACT_SKILL_MD, ARTIFACT_ZIP, ARTIFACT_TAR_GZ };
enum artifact_format well_known_format(struct str bytes);
/* W6: determines the format of an archive by its media type, or else by the end
 * of its URL. Returns false if neither identifies an archive. */
bool well_known_archive(struct str media_type, struct str url,
                        enum artifact_format *out);

struct well_known_skill {
    struct str name, description, url; /* absolute URL */
    struct str digest;  /* "sha256:" and 64 hex digits of the artifact */
    struct str version; /* "" if none */
    size_t tokens;      /* 0 if not given */
    bool is_archive;
    const struct json *json; /* entry of the index */
};

struct well_known_index {
    const struct well_known_skill *skills;
    size_t count;
    struct map by_name; /* -> const struct well_known_skill * */
    /* Number of omitted entries: unknown type, violation of W3 to W5, or
     * a duplicate name. */
    size_t left_out;
};

/* Parses an index; relative URLs are resolved against its own `url`. Ownership:
 * allocated in `a`; borrows `text`. Errors: ERR_FORMAT, ERR_LIMIT. */
MUST_CHECK bool well_known_parse(struct str text, struct str url,
                                 struct arena *a, struct well_known_index *out,
                                 struct err *e);
/* Returns the skill of a name, or NULL. */
const struct well_known_skill *
well_known_find(const struct well_known_index *index, struct str name);

#endif

#ifndef MAPM_WELL_KNOWN_H
#define MAPM_WELL_KNOWN_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json.h"
#include "base/map.h"

/*
 * well_known: the index of skills that a host publishes. Text in, values out.
 * Source: .well-known/agent-skills 0.2.0 (draft of 2026-03-12), W1 to W6.
 */

#define WELL_KNOWN_PATH "/.well-known/agent-skills/index.json"
#define WELL_KNOWN_SCHEMA                                                      \
    "https://schemas.agentskills.io/discovery/0.2.0/schema.json"

/* "https://host", or a URL that ends in "/index.json": no repository. */
bool well_known_is_index(struct str text);
/* The address of the index: https, or http to this machine. ERR_ORIGIN. */
MUST_CHECK bool well_known_url(struct str text, struct arena *a,
                               struct str *out, struct err *e);
/* "host[:port]". Borrowed. */
struct str well_known_host(struct str url);
/* Of "host[:port]" the name, which is one, or that of this machine, and the port;
 * 0: its own. */
bool well_known_read_host(struct str text, struct str *name, unsigned *port);
/* A URL of the index, which is at `base` (RFC 3986), without "." and ".."; false
 * for one that mapm would not ask. In `a`. */
bool well_known_resolve(struct str base, struct str url, struct arena *a,
                        struct str *out);

/* What the bytes of an artifact are. A SKILL.md begins with neither mark of an
 * archive, so the bytes alone decide. */
enum artifact_format { ARTIFACT_SKILL_MD, ARTIFACT_ZIP, ARTIFACT_TAR_GZ };
enum artifact_format well_known_format(struct str bytes);
/* W6: an archive is what its media type says, else the end of its URL. False:
 * neither names an archive. */
bool well_known_archive(struct str media_type, struct str url,
                        enum artifact_format *out);

struct well_known_skill {
    struct str name, description, url; /* absolute */
    struct str digest;  /* "sha256:" and 64 hex: of the artifact */
    struct str version; /* "" = none */
    size_t tokens;      /* 0 = not said */
    bool is_archive;
    const struct json *json; /* all that the index says of it */
};

struct well_known_index {
    const struct well_known_skill *skills;
    size_t count;
    struct map by_name; /* -> const struct well_known_skill * */
    size_t left_out;    /* of another type, or against W3 to W5; of one name the
                      * first stays */
};

/* `url`: where the text came from, which relative URLs are resolved against.
 * Ownership: in `a`; borrows `text`. Errors: ERR_FORMAT, ERR_LIMIT. */
MUST_CHECK bool well_known_parse(struct str text, struct str url,
                                 struct arena *a, struct well_known_index *out,
                                 struct err *e);
/* NULL: it has none of that name. */
const struct well_known_skill *
well_known_find(const struct well_known_index *index, struct str name);

#endif

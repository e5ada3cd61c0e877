#ifndef PLUGIN_CHECK_H
#define PLUGIN_CHECK_H

#include "base/json.h"
#include "mapm/plugin_check.h"

/* State shared by the checks of plugins and marketplaces. */
struct checking {
    const struct plugin_disk *disk;
    struct arena *a;
    struct diagnostics *why;
    struct str file;  /* file that is checked */
    struct str rules; /* rules appended to messages, as "P28", or "" */
};

/* Reports a diagnostic at the line of `at`, or for the whole file if `at` is
 * NULL. */
void check_report(struct checking *c, const char *code, const struct json *at,
                  const char *format, ...) PRINTF(4, 5);

/* Parses a file as JSON. Returns NULL and reports `code` if it is invalid. */
const struct json *check_json(struct checking *c, struct str path,
                              size_t max_bytes, const char *code);

/* Truncates untrusted text for a message. */
struct str check_shown(struct str text);

bool check_is_text_list(const struct json *j, enum json_kind kind);
bool check_is_kind(const struct json *j, enum json_kind kind);
enum plugin_node check_find(const struct checking *c, struct str path);
struct str check_join(const struct checking *c, struct str folder,
                      struct str name);

/* P50: reports tokens of known services in plain text. */
void check_secrets(struct checking *c, const struct json *values,
                   const char *what);

#endif

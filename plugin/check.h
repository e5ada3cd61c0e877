#ifndef PLUGIN_CHECK_H
#define PLUGIN_CHECK_H

#include "base/json.h"
#include "mapm/plugin_check.h"

/* What the checks of plugins and marketplaces share. */
struct checking {
    const struct plugin_disk *disk;
    struct arena *a;
    struct diagnostics *why;
    struct str file;  /* the one that is judged */
    struct str rules; /* behind a message: "P28"; "" = none */
};

/* `at` NULL: the whole file. */
void check_say(struct checking *c, const char *code, const struct json *at,
               const char *format, ...) PRINTF(4, 5);

/* A file as JSON; NULL, and said as `code`, when it is none. */
const struct json *check_json(struct checking *c, struct str path,
                              size_t max_bytes, const char *code);

/* Text of outside in a message, short. */
struct str check_shown(struct str text);

bool check_is_text_list(const struct json *j, enum json_kind kind);
bool check_is_kind(const struct json *j, enum json_kind kind);
enum plugin_node check_look(const struct checking *c, struct str path);
struct str check_join(const struct checking *c, struct str folder,
                      struct str name);

/* P50: tokens of known services, in clear. */
void check_secrets(struct checking *c, const struct json *values,
                   const char *what);

#endif

#ifndef MANIFEST_PROJECT_READER_H
#define MANIFEST_PROJECT_READER_H

#include "mapm/origin.h"
#include "mapm/project.h"

#include "project.h"

/* project_reader: state and helpers for parsing mapm.yaml, mapm.local.yaml or
 * config.yaml. Tables have a row for each key: the files in which it is allowed
 * and the function that reads its value. */

#define IN_WORKSPACE (1u << PROJECT_WORKSPACE)
#define IN_LOCAL     (1u << PROJECT_LOCAL)
#define IN_USER      (1u << PROJECT_USER)

struct project_reader {
    enum project_role role;
    const char *name;
    struct str text;
    const struct origin_rules *rules;
    struct arena *a;
    struct err *e;
    struct project out;
    size_t root_capacity, setting_capacity, rule_capacity;
    size_t catalog_capacity;
};

struct project_key {
    struct str name; /* "" ends a table */
    unsigned roles;  /* files in which it is allowed */
    bool (*read)(struct project_reader *r, const struct yaml *y);
};

/* Sets ERR_FORMAT "mapm.yaml:7: …". Returns false. */
bool project_fail(struct project_reader *r, unsigned line, const char *format,
                  ...) PRINTF(3, 4);

/* Truncates a text for a message. */
struct str project_excerpt(struct str s);

/* Fails unless the value has this kind, MAPPING or SEQUENCE. A key without a
 * value counts as empty. */
MUST_CHECK bool project_want(struct project_reader *r, const struct yaml *y,
                             enum yaml_kind kind);
/* Fails unless the value is text of one line that is not empty. */
MUST_CHECK bool project_want_text(struct project_reader *r,
                                  const struct yaml *y, const char *what);
MUST_CHECK bool project_want_texts(struct project_reader *r,
                                   const struct yaml *list, const char *what);

/* Rule for the items of a list, which must be texts. */
struct project_item_rule {
    const char *what; /* name of the list for project_want_texts() */
    bool (*is_valid)(struct str item);
    const char *wrong; /* text of the message before the quoted item */
    const char *hint;  /* NULL: none */
};

MUST_CHECK bool project_want_each(struct project_reader *r,
                                  const struct yaml *list,
                                  const struct project_item_rule *rule);
MUST_CHECK bool project_want_bool(struct project_reader *r,
                                  const struct yaml *y, bool *out);

/* Returns the items of a list that project_want_texts() has accepted, allocated
 * in the arena. */
const struct str *project_texts(struct project_reader *r,
                                const struct yaml *list, size_t *count);

/* Reads each key of the mapping with the function of its row. Unknown keys are
 * rejected. */
MUST_CHECK bool project_read_keys(struct project_reader *r,
                                  const struct project_key *keys,
                                  const struct yaml *mapping);

/* Reads an origin. Only mapm.yaml may name packages of the workspace. */
MUST_CHECK bool project_read_origin(struct project_reader *r,
                                    const struct yaml *y, struct origin *out);

/* project_catalog.c: reads `catalogs:` below dependencies. */
bool project_read_catalogs(struct project_reader *r, const struct yaml *y);

/* project_without.c: reads `without:` of a plugin and sorts it. */
MUST_CHECK bool project_read_without(struct project_reader *r,
                                     const struct yaml *y,
                                     struct str_list *out);

/* project_host.c: reads `hosts:`. */
bool project_read_hosts(struct project_reader *r, const struct yaml *y);

/* project_listing.c: reads `listing:`. */
bool project_read_listing(struct project_reader *r, const struct yaml *y);

/* project_replace.c: reads `replace:`. */
bool project_read_replace(struct project_reader *r, const struct yaml *y);

/* project_store.c: reads `store:`. */
bool project_read_store(struct project_reader *r, const struct yaml *y);

/* project_run.c: read the keys for runs of metaskills. */
bool project_read_ask(struct project_reader *r, const struct yaml *y);
bool project_read_commands(struct project_reader *r, const struct yaml *y);
bool project_read_network(struct project_reader *r, const struct yaml *y);
bool project_read_server(struct project_reader *r, const struct yaml *y);
bool project_read_servers(struct project_reader *r, const struct yaml *y);
bool project_read_sandbox(struct project_reader *r, const struct yaml *y);
bool project_read_runtime(struct project_reader *r, const struct yaml *y);

#endif

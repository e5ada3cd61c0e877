#ifndef MANIFEST_PROJECT_READER_H
#define MANIFEST_PROJECT_READER_H

#include "mapm/origin.h"
#include "mapm/project.h"

#include "project.h"

/*
 * project_reader: one reading of mapm.yaml, mapm.local.yaml or config.yaml.
 * Each key is a row: the files that may have it, and the function that reads
 * its value.
 */

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
    struct str name; /* "" ends a table of them */
    unsigned roles;  /* files that may have it */
    bool (*read)(struct project_reader *r, const struct yaml *y);
};

/* ERR_FORMAT "mapm.yaml:7: …". False. */
bool project_fail(struct project_reader *r, unsigned line, const char *format,
                  ...) PRINTF(3, 4);

/* As much of a text as a message shows. */
struct str project_excerpt(struct str s);

/* MAPPING or SEQUENCE; a key with nothing behind it counts as empty. */
MUST_CHECK bool project_want(struct project_reader *r, const struct yaml *y,
                             enum yaml_kind kind);
/* Text of one line and more than nothing. */
MUST_CHECK bool project_want_text(struct project_reader *r,
                                  const struct yaml *y, const char *what);
MUST_CHECK bool project_want_texts(struct project_reader *r,
                                   const struct yaml *list, const char *what);

/* What each item of a list has to be besides text. */
struct project_item_rule {
    const char *what; /* for project_want_texts */
    bool (*is_valid)(struct str item);
    const char *wrong; /* the message, before the item in quotes */
    const char *hint;  /* NULL: none */
};

MUST_CHECK bool project_want_each(struct project_reader *r,
                                  const struct yaml *list,
                                  const struct project_item_rule *rule);
MUST_CHECK bool project_want_bool(struct project_reader *r,
                                  const struct yaml *y, bool *out);

/* A list that project_want_texts was content with. In the arena. */
const struct str *project_texts(struct project_reader *r,
                                const struct yaml *list, size_t *count);

/* Every key of the mapping by its row; unknown ones are refused. */
MUST_CHECK bool project_read_keys(struct project_reader *r,
                                  const struct project_key *keys,
                                  const struct yaml *mapping);

/* An origin of a manifest: packages of the workspace are mapm.yaml's alone. */
MUST_CHECK bool project_read_origin(struct project_reader *r,
                                    const struct yaml *y, struct origin *out);

/* `catalogs:` below dependencies, in project_catalog.c. */
bool project_read_catalogs(struct project_reader *r, const struct yaml *y);

/* `without:` of a plugin, in project_without.c. Sorted. */
MUST_CHECK bool project_read_without(struct project_reader *r,
                                     const struct yaml *y,
                                     struct str_list *out);

/* `hosts:`, in project_host.c. */
bool project_read_hosts(struct project_reader *r, const struct yaml *y);

/* `listing:`, in project_listing.c. */
bool project_read_listing(struct project_reader *r, const struct yaml *y);

/* `replace:`, in project_replace.c. */
bool project_read_replace(struct project_reader *r, const struct yaml *y);

/* `store:`, in project_store.c. */
bool project_read_store(struct project_reader *r, const struct yaml *y);

/* The keys about runs of metaskills: project_run.c. */
bool project_read_ask(struct project_reader *r, const struct yaml *y);
bool project_read_commands(struct project_reader *r, const struct yaml *y);
bool project_read_network(struct project_reader *r, const struct yaml *y);
bool project_read_server(struct project_reader *r, const struct yaml *y);
bool project_read_servers(struct project_reader *r, const struct yaml *y);
bool project_read_sandbox(struct project_reader *r, const struct yaml *y);
bool project_read_runtime(struct project_reader *r, const struct yaml *y);

#endif

#ifndef PLUGIN_PLUGIN_PARTS_H
#define PLUGIN_PLUGIN_PARTS_H

#include "base/map.h"
#include "mapm/plugin.h"

/* What the files of this module share while they read one plugin. */
struct reading {
    const struct plugin_input *in;
    const struct plugin_files *files;
    struct arena *a;
    struct plugin *out;
    int format;
    bool is_standard;
    const struct json *manifest; /* NULL: there is none */
    const struct json *entry;    /* of the marketplace; NULL: none */
    bool is_entry_at_root; /* C16: its source is the root of the marketplace */
    struct map by_path;    /* path -> index + 1 */
    struct map outside;    /* paths of PLUGIN_OUTSIDE_FILE */
    struct map seen;       /* kind and name of parts */
    size_t part_capacity, skipped_capacity, other_capacity, note_capacity;
    size_t warning_capacity;
    size_t need_capacity, entry_capacity;
    size_t skill_count, server_count, agent_count;
};

/* The index of a file; SIZE_MAX: there is none. */
size_t find_path(const struct reading *r, struct str path);
/* The first file below the folder; SIZE_MAX: there is none. "" is the root. */
size_t find_below(const struct reading *r, struct str folder);
bool is_below(struct str path, struct str folder, struct str *rest);
bool is_outside(const struct reading *r, size_t index);
/* JSON of a file that is there. */
bool read_json(const struct reading *r, size_t index, size_t max_bytes,
               const struct json **out, struct err *e);
bool parse_json(struct str text, struct arena *a, const struct json **out,
                struct err *e);

void add_part(struct reading *r, const struct plugin_part *part);
void skip_part(struct reading *r, enum doc_kind kind, struct str name,
               const char *format, ...) PRINTF(4, 5);
void add_other(struct reading *r, const char *kind, size_t count,
               struct str where);
void add_note(struct reading *r, const char *format, ...) PRINTF(2, 3);
void add_warning(struct reading *r, const char *format, ...) PRINTF(2, 3);

/* "./x/y/" as "x/y", "./" and "." as "": false with a reason for what leads
 * elsewhere. `bare`: without "./" it is taken, too. */
bool clean_path(struct str path, bool bare, struct arena *a, struct str *out,
                const char **fault);

/* A kebab name out of any text; "" when nothing is left. */
struct str make_name(struct str text, struct arena *a);

void read_servers(struct reading *r);
void read_agents(struct reading *r);
void read_skills(struct reading *r);
void read_others(struct reading *r);

#endif

#ifndef PLUGIN_PLUGIN_PARTS_H
#define PLUGIN_PLUGIN_PARTS_H

#include "base/map.h"
#include "mapm/plugin.h"

/* State shared by the files of this module while one plugin is read. */
struct reading {
    const struct plugin_input *in;
    const struct plugin_files *files;
    struct arena *a;
    struct plugin *out;
    int format;
    bool is_standard;
    const struct json *manifest; /* NULL if there is none */
    const struct json *entry;    /* entry of the marketplace, or NULL */
    bool is_entry_at_root; /* C16: the source of `entry` is the root of the
                            * marketplace */
    struct map by_path;    /* path -> index + 1 */
    struct map outside;    /* paths listed in PLUGIN_OUTSIDE_FILE */
    struct map seen;       /* keys of the parts and agent files found so far */
    size_t part_capacity, skipped_capacity, other_capacity, note_capacity;
    size_t warning_capacity;
    size_t need_capacity, entry_capacity;
    size_t skill_count, server_count, agent_count;
};

/* Returns the index of a file, or SIZE_MAX. */
size_t find_path(const struct reading *r, struct str path);
/* Returns the index of the first file below the folder, or SIZE_MAX. "" is the
 * root. */
size_t find_below(const struct reading *r, struct str folder);
bool is_below(struct str path, struct str folder, struct str *rest);
bool is_outside(const struct reading *r, size_t index);
/* Parses an existing file as JSON. */
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

/* Normalizes a path: "./x/y/" becomes "x/y", "./" and "." become "". Returns
 * false and sets `*fault` if it leads out of the plugin. With `bare`, "./" may
 * be missing. */
bool clean_path(struct str path, bool bare, struct arena *a, struct str *out,
                const char **fault);

/* Converts any text to a kebab-case name, or to "" if nothing is left. */
struct str make_name(struct str text, struct arena *a);

void read_servers(struct reading *r);
void read_agents(struct reading *r);
void read_skills(struct reading *r);
void read_others(struct reading *r);

#endif

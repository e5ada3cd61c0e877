#include "base/json.h"
#include "base/yaml.h"

#define DEPTH_MAX 80 /* yaml_parse rejects deeper trees */

static void close_one(struct json_writer *w, const struct yaml *y)
{
    if (y->kind == YAML_MAPPING)
        json_end_object(w);
    else
        json_end_array(w);
}

/* Iterates with an explicit stack of open nodes. */
void yaml_put_json(const struct yaml *root, struct json_writer *w,
                   void (*put_scalar)(struct json_writer *w,
                                      const struct yaml *scalar))
{
    const struct yaml *open[DEPTH_MAX];
    const struct yaml *y = root;
    size_t depth = 0;

    for (;;) {
        if (depth && open[depth - 1]->kind == YAML_MAPPING)
            json_key_str(w, y->key);
        if (y->kind == YAML_SCALAR || depth == DEPTH_MAX) {
            put_scalar(w, y);
        } else {
            if (y->kind == YAML_MAPPING)
                json_begin_object(w);
            else
                json_begin_array(w);
            open[depth++] = y;
            if (y->first) {
                y = y->first;
                continue;
            }
            close_one(w, open[--depth]);
        }
        while (depth && !y->next) {
            y = open[--depth];
            close_one(w, y);
        }
        if (!depth)
            return;
        y = y->next;
    }
}

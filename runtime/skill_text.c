#include "mapm/input.h"
#include "mapm/metaskill.h"

/* Texts about a skill for models and users (K7, K9, K41). */

struct str metaskill_activation(const struct skill *s, struct arena *a)
{
    struct str *files = arena_array(a, s->file_count + 1, sizeof *files);

    for (size_t i = 0; i < s->file_count; i++)
        files[i] = s->files[i].path;
    return manifest_activation(s->document.name, s->document.body, s->folder,
                               files, s->file_count, a);
}

struct str input_missing(const struct skill *s, struct arena *a)
{
    struct str text = metaskill_activation(s, a);

    return arena_printf(a,
                        "error: input is required. The instructions of the "
                        "skill say which keys it expects.\n\n%.*s\n\n"
                        "Retry run_metaskill with the correct input keys.",
                        STR_ARG(text));
}

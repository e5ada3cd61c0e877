#include "base/text.h"
#include "mapm/document.h"
#include "mapm/limits.h"

/* Builds the text of an activated skill that a model or a user reads (K7,
 * K41). */

#define FILES_MAX 50
/* Maximum size of the body, the file names and the text around them. */
#define TEXT_MAX_BYTES                                                         \
    (4 * BODY_WARN_CHARS + FILES_MAX * (4 * LIBRARY_PATH_MAX_BYTES + 8) + 16384)

/* Returns the body without "<!-- … -->" comments. A comment that is not closed
 * remains as text. */
static struct str without_comments(struct str body, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct str rest = body;
    size_t start, end;

    buf_init(&b, body.n);
    while ((start = str_find(rest, STR("<!--"))) != SIZE_MAX) {
        end = str_find(str_from_index(rest, start + 4), STR("-->"));
        if (end == SIZE_MAX)
            break;
        buf_append(&b, str_slice(rest, 0, start));
        rest = str_from_index(rest, start + 4 + end + 3);
    }
    buf_append(&b, rest);
    return arena_str(a, str_trim(buf_str(&b)));
}

static void add_body(struct buf *b, struct str text, struct arena *a)
{
    struct str body = without_comments(text, a);
    struct str cut = text_cut(body, BODY_WARN_CHARS);

    buf_append(b, cut);
    if (cut.n < body.n)
        buf_printf(b, "\n[truncated at %d characters]", BODY_WARN_CHARS);
}

static void add_files(struct buf *b, const struct str *files, size_t count)
{
    size_t shown = 0, more = 0;

    for (size_t i = 0; i < count; i++) {
        if (str_is(files[i], "SKILL.md"))
            continue;
        if (shown == FILES_MAX) {
            more++;
            continue;
        }
        buf_text(b, shown++ ? "\n- " : "\nSupporting files:\n- ");
        text_visible(b, files[i], false);
    }
    if (more)
        buf_printf(b, "\n- and %zu more", more);
}

struct str manifest_activation(struct str name, struct str body,
                               struct str folder, const struct str *files,
                               size_t count, struct arena *a)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, TEXT_MAX_BYTES);
    buf_printf(&b, "[Skill: %.*s activated]\n\n<skill-instructions>\n",
               STR_ARG(name));
    add_body(&b, body, a);
    buf_text(&b, "\n</skill-instructions>\n\nSkill directory: ");
    text_visible(&b, folder, false);
    add_files(&b, files, count);
    return arena_str(a, buf_str(&b));
}

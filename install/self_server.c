#include "self_server.h"

#include "mapm/doc_kind.h"
#include "mapm/mcp_file.h"
#include "mapm/project.h"
#include "mapm/store.h"

#include "install_session.h"

#define NAME "mapm/mcp"
#define KEY  "mapm"

/* By its name, so that the file can be committed. The time is that of a call in
 * milliseconds: some clients have less patience than a run may take. */
#define DOCUMENT_WITH(ARGS)                                                    \
    "{\n"                                                                      \
    "  \"_meta\": {\n"                                                         \
    "    \"name\": \"" NAME "\"\n"                                             \
    "  },\n"                                                                   \
    "  \"command\": \"mapm\",\n"                                               \
    "  \"args\": [\n" ARGS "  ],\n"                                            \
    "  \"timeout\": 300000\n"                                                  \
    "}\n"
#define DOCUMENT      DOCUMENT_WITH("    \"mcp\"\n")
#define USER_DOCUMENT DOCUMENT_WITH("    \"mcp\",\n    \"--global\"\n")

bool self_server_add(struct install_session *s, struct err *e)
{
    struct arena *a = &s->cx->arena;
    const char *between =
        s->yaml.n && s->yaml.p[s->yaml.n - 1] != '\n' ? "\n" : "";
    struct project project;
    struct str text;

    if (s->with_server)
        return true;
    text = arena_printf(a, "%.*s%sserver: true\n", STR_ARG(s->yaml), between);
    if (!project_parse(text, PROJECT_WORKSPACE, "mapm.yaml", &s->layer.rules, a,
                       &project, e) ||
        !project.server) {
        err_set(e, ERR_FORMAT, "mapm.yaml cannot be changed in place");
        return err_hint(e, "write \"server: true\" into it by hand");
    }
    s->yaml = text;
    s->with_server = true;
    return true;
}

bool self_server_is_name(struct str word)
{
    return str_is(word, KEY) || str_is(word, NAME);
}

/* The text without its line "server: …". */
static struct str without_line(struct str text, struct arena *a)
{
    CLEANUP(buf_done) struct buf out = {0};
    struct str rest = text, line;

    buf_init(&out, text.n + 1);
    while (rest.n && str_cut(&rest, '\n', &line)) {
        if (str_starts(line, STR("server:")))
            continue;
        buf_append(&out, line);
        if (rest.p)
            buf_char(&out, '\n');
    }
    return arena_str(a, buf_str(&out));
}

bool self_server_remove(struct install_session *s, struct err *e)
{
    struct arena *a = &s->cx->arena;
    struct str text = without_line(s->yaml, a);
    struct project project;

    if (!project_parse(text, PROJECT_WORKSPACE, "mapm.yaml", &s->layer.rules, a,
                       &project, e) ||
        project.server) {
        err_set(e, ERR_FORMAT, "mapm.yaml cannot be changed in place");
        return err_hint(e, "take \"server: true\" out of it by hand");
    }
    s->yaml = text;
    s->with_server = false;
    return true;
}

void self_server_fill(bool is_user, struct provision_item *out, struct arena *a)
{
    struct package_file *file = arena_new(a, struct package_file);
    struct str text;

    file->hash = hash_of(is_user ? STR(USER_DOCUMENT) : STR(DOCUMENT));
    file->path = mcp_file_name(STR(NAME), a);
    *out = (struct provision_item){
        .kind = DOC_MCP,
        .fqn = STR(NAME),
        .place = STR(KEY),
        .digest = store_listing_format(file, 1, a, &text),
        .files = file,
        .file_count = 1,
    };
}

bool self_server_read(const struct hash *h, struct arena *a, struct str *out)
{
    const struct str texts[] = {STR(DOCUMENT), STR(USER_DOCUMENT)};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct hash own = hash_of(texts[i]);

        if (!hash_eq(h, &own))
            continue;
        *out = arena_str(a, texts[i]);
        return true;
    }
    return false;
}

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
#define DOCUMENT                                                               \
    "{\n"                                                                      \
    "  \"_meta\": {\n"                                                         \
    "    \"name\": \"" NAME "\"\n"                                             \
    "  },\n"                                                                   \
    "  \"command\": \"mapm\",\n"                                               \
    "  \"args\": [\n"                                                          \
    "    \"mcp\"\n"                                                            \
    "  ],\n"                                                                   \
    "  \"timeout\": 300000\n"                                                  \
    "}\n"

bool self_server_add(struct install_session *s, struct err *e)
{
    struct arena *a = &s->cx->arena;
    const char *between =
        s->yaml.n && s->yaml.p[s->yaml.n - 1] != '\n' ? "\n" : "";
    struct project project;
    struct str text;

    if (s->layer.is_global) {
        err_set(e, ERR_USAGE, "--with-server is for a workspace");
        return err_hint(e, "mapm mcp --print-config CLIENT prints what belongs "
                           "in the client's own file");
    }
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

void self_server_fill(struct provision_item *out, struct arena *a)
{
    struct package_file *file = arena_new(a, struct package_file);
    struct str text;

    file->hash = hash_of(STR(DOCUMENT));
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
    struct hash own = hash_of(STR(DOCUMENT));

    if (!hash_eq(h, &own))
        return false;
    *out = arena_str(a, STR(DOCUMENT));
    return true;
}

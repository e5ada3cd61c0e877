#include "base/fs.h"
#include "mapm/clients.h"
#include "mapm/provision.h"

#include <stdio.h>
#include <string.h>

/*
 * client_table doc         the rows, as docs/clients.md has them
 * client_table files DIR   for each file of each row one with a server of each
 *                          kind, and a line that says what it is
 */

static const struct {
    const char *kind, *entry;
} servers[] = {
    {"local", "{\"type\": \"stdio\", \"command\": \"npx\", \"args\": [\"-y\", "
              "\"a: \\\"b\\\" # c\", \"yes\"], \"env\": {\"K-1\": \"v\\\\w\", "
              "\"N\": \"1.0\"}, \"timeout\": 1500}"},
    {"http", "{\"type\": \"http\", \"url\": \"https://h/?a=b#c\", \"headers\": "
             "{\"X-A\": \"b: c\"}}"},
    {"sse", "{\"type\": \"sse\", \"url\": \"https://h/s\"}"},
};

static const char *const known[] = {"observed", "source", "documented",
                                    "unverified"};

static const char *extension(const struct mcp_shape *s)
{
    return s->format == SHAPE_TOML   ? "toml"
           : s->format == SHAPE_YAML ? "yaml"
                                     : "json";
}

static bool write_one(const char *folder, const struct client *c,
                      const char *scope, const char *kind, const char *entry,
                      struct arena *a)
{
    struct str name, text;
    struct err e = {0};
    FILE *f;

    name = arena_printf(a, "%s.%s.%s.%s", c->name, scope, kind,
                        extension(c->mcp.shape));
    if (provision_format_server(c, STR("io-e-m"), str_cstr(entry), a, &text,
                                &e) &&
        (f = fopen(fs_join(str_cstr(folder), name, a).p, "w")) != NULL) {
        printf("%s\t%s\t%s\t%s\n", c->name, scope, kind, name.p);
        return fwrite(text.p, 1, text.n, f) == text.n && fclose(f) == 0;
    }
    fprintf(stderr, "%s: %s\n", name.p, err_first(&e));
    return false;
}

static bool write_all(const char *folder, const struct client *row,
                      const char *scope, struct arena *a)
{
    struct client c = *row;

    if (strcmp(scope, "user") == 0)
        c.mcp = row->mcp_user;
    for (size_t i = 0; c.mcp.shape && i < sizeof servers / sizeof *servers; i++)
        if (!(c.mcp.shape->is_local && i) &&
            !write_one(folder, &c, scope, servers[i].kind, servers[i].entry, a))
            return false;
    return true;
}

static int write_files(const char *folder)
{
    CLEANUP(arena_done) struct arena a = {0};

    for (size_t i = 0; i < clients_count; i++)
        if (!write_all(folder, &clients_table[i], "project", &a) ||
            !write_all(folder, &clients_table[i], "user", &a))
            return 1;
    return 0;
}

static void print_list(const char *const *items, size_t max, const char *before)
{
    bool any = false;

    for (size_t i = 0; i < max && items[i]; i++, any = true)
        printf("%s%s`%s%s`", any ? ", " : "", "", before, items[i]);
    printf("%s", any ? "" : "-");
}

static void print_file(const struct client_mcp *m, const char *before)
{
    const char *paths[CLIENT_MAX_OTHERS + 2] = {0};
    size_t n = 0;

    for (size_t i = 0; i < CLIENT_MAX_OTHERS && m->others[i]; i++)
        paths[n++] = m->others[i];
    if (m->path)
        paths[n++] = m->path;
    print_list(paths, n, before);
    if (m->unverified)
        printf(" (unverified)");
}

static void print_row(const struct client *c)
{
    const char *home[] = {c->agents_home, NULL};
    const char *agents[] = {c->agents, NULL};

    printf("| %s | %s, %s | ", c->name, known[c->known], c->seen);
    print_list(c->markers, CLIENT_MAX_MARKERS, "");
    printf(" | ");
    print_list(c->budget.workspace, CLIENT_MAX_FOLDERS, "");
    printf(" | ");
    print_list(c->budget.home, CLIENT_MAX_FOLDERS, "~/");
    printf(" | ");
    print_file(&c->mcp, "");
    printf(" | ");
    print_file(&c->mcp_user, "~/");
    printf(" | ");
    print_list(agents, 1, "");
    printf(" | ");
    print_list(home, 1, "~/");
    printf(" |\n");
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "files") == 0)
        return write_files(argv[2]);
    puts("| client | known | markers | skills | of the user | MCP file | of "
         "the user | sub-agents | of the user |\n"
         "| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (size_t i = 0; i < clients_count; i++)
        print_row(&clients_table[i]);
    return 0;
}

#include "base/embed.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/place.h"
#include "base/text.h"
#include "base/yaml.h"
#include "mapm/diagnostics.h"
#include "mapm/document.h"
#include "mapm/limits.h"
#include "mapm/mcp_file.h"
#include "mapm/name.h"
#include "mapm/scaffold.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#define PACKAGE_MAX_PARTS 6
#define TEXT_MAX_BYTES    (64 * 1024)
#define FIRST_VERSION     "0.1.0"

struct fresh {
    struct context *cx;
    struct arena *a;
    const struct model *model;
    struct str name, scope, description;
    struct place_file files[PACKAGE_MAX_PARTS]; /* entry file first */
    size_t count;
    struct str skill; /* for a plugin, the folder of its skill; else "" */
    struct str place; /* "skills/x" or "mcps/a_b.json" */
    struct str fqn;
};

static void add_file(struct fresh *f, const char *name, const struct buf *text)
{
    struct arena *a = f->a;

    f->files[f->count++] = (struct place_file){
        f->skill.n ? fs_join(f->skill, str_cstr(name), a).p : name,
        arena_str(a, buf_str(text))};
}

EMBED(new_program, "scaffold/templates/SKILL.star");
EMBED(new_skill, "scaffold/templates/skill.md");
EMBED(new_metaskill, "scaffold/templates/metaskill.md");
EMBED(new_agent, "scaffold/templates/agent.md");

static void write_head(struct fresh *f, struct buf *b)
{
    struct arena *a = f->a;

    buf_printf(b, "---\nname: %.*s\n", STR_ARG(yaml_quote(f->name, a)));
    if (f->scope.n)
        buf_printf(b, "scope: %.*s\n", STR_ARG(yaml_quote(f->scope, a)));
    buf_printf(b, "description: %.*s\nversion: " FIRST_VERSION "\n",
               STR_ARG(yaml_quote(f->description, a)));
}

static void write_changelog(struct fresh *f)
{
    CLEANUP(buf_done) struct buf b = {0};
    char date[TEXT_TIME_BYTES];

    buf_init(&b, TEXT_MAX_BYTES);
    buf_printf(&b,
               "# Changelog\n\n## " FIRST_VERSION " (%s)\n\n- First version.\n",
               text_local(time(NULL), "%Y-%m-%d", date));
    add_file(f, "CHANGELOG.md", &b);
}

static void write_markdown(struct fresh *f, const char *entry_file,
                           const char *fields, const char *body)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, TEXT_MAX_BYTES);
    write_head(f, &b);
    buf_printf(&b, "%s---\n\n# %.*s\n\n%s", fields, STR_ARG(f->name), body);
    add_file(f, entry_file, &b);
    write_changelog(f);
}

static void write_skill(struct fresh *f)
{
    write_markdown(f, "SKILL.md", "", new_skill);
}

/* Writes a line of the tape with prompt and answer. */
static void put_ask(struct buf *b, const char *purpose, const char *prompt,
                    const char *answer)
{
    struct json_writer w;

    json_writer_init(&w, b, 0);
    json_begin_object(&w);
    json_member_object(&w, "ask");
    json_member_string(&w, "prompt", str_cstr(prompt));
    json_member_object(&w, "opts");
    json_member_string(&w, "purpose", str_cstr(purpose));
    json_end_object(&w);
    json_end_object(&w);
    json_member_object(&w, "result");
    json_member_string(&w, "answer", str_cstr(answer));
    json_end_object(&w);
    json_end_object(&w);
    buf_char(b, '\n');
}

/* Writes a tape of a run in which the review finds nothing, as short as if
 * written by hand. */
static void write_tape(struct fresh *f)
{
    CLEANUP(buf_done) struct buf b;

    buf_init(&b, TEXT_MAX_BYTES);
    buf_printf(&b,
               "{\"tape\":1,\"name\":\"%.*s\",\"input\":{\"task\":"
               "\"Greet.\",\"checks\":[\"It is short.\"]}}\n",
               STR_ARG(f->name));
    put_ask(&b, "draft", "Greet.", "Hello.");
    put_ask(&b, "review",
            "Judge the result of a task by this list. Answer with OK alone "
            "when all of it holds, else say what does not.\n\n"
            "- It is short.\n\nThe task:\nGreet.\n\nThe result:\nHello.",
            "OK\n");
    buf_text(&b, "{\"envelope\":{\"status\":\"ok\",\"answer\":\"Hello.\"}}\n");
    add_file(f, "tests/accepted.jsonl", &b);
}

static void write_metaskill(struct fresh *f)
{
    write_markdown(f, "SKILL.md",
                   "metaskill: SKILL.star\nmetaskill_language: starlark\n",
                   new_metaskill);
    f->files[f->count++] =
        (struct place_file){"SKILL.star", str_cstr(new_program)};
    write_tape(f);
}

static void write_agent(struct fresh *f)
{
    write_markdown(f, "AGENTS.md", "dependencies:\n  skills: []\n  mcps: []\n",
                   new_agent);
}

/* The command has a name that is unlikely to be registered: `npx` could
 * download a package of a guessed name. */
static void write_mcp(struct fresh *f)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct str name = str_from_index(f->name, str_find_char(f->name, '/') + 1);
    struct json_writer w;

    json_open(&w, &b, TEXT_MAX_BYTES, 2);
    json_member_object(&w, "_meta");
    json_member_string(&w, "name", f->name);
    json_end_object(&w);
    if (f->description.n)
        json_member_string(&w, "description", f->description);
    json_member_string(&w, "type", STR("stdio"));
    json_member_string(&w, "command",
                       arena_printf(f->a, "%.*s-server", STR_ARG(name)));
    json_member_array(&w, "args");
    json_end_array(&w);
    json_end_object(&w);
    buf_char(&b, '\n');
    add_file(f, mcp_file_name(f->name, f->a).p, &b);
}

/* --- plugins ---------------------------------------------------------------- */

#define SCHEMAS "https://agent-plugins.org/schemas/1.0.0/"

/* With "schema" NULL, writes the manifest of Claude Code, which does not read
 * the standard one. */
static void write_manifest(struct fresh *f, const char *name,
                           const char *schema)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, TEXT_MAX_BYTES, 2);
    if (schema)
        json_member_string(&w, "$schema", str_cstr(schema));
    json_member_string(&w, "name", f->name);
    json_member_string(&w, "version", STR(FIRST_VERSION));
    json_member_string(&w, "description", f->description);
    json_end_object(&w);
    buf_char(&b, '\n');
    add_file(f, name, &b);
}

static void write_servers(struct fresh *f)
{
    CLEANUP(buf_done) struct buf b = {0};
    struct json_writer w;

    json_open(&w, &b, TEXT_MAX_BYTES, 2);
    json_member_string(&w, "$schema", STR(SCHEMAS "mcp.schema.json"));
    json_member_object(&w, "mcpServers");
    json_end_object(&w);
    json_end_object(&w);
    buf_char(&b, '\n');
    add_file(f, "mcp.json", &b);
}

static void write_plugin(struct fresh *f)
{
    f->skill = fs_join(STR("skills"), f->name, f->a);
    write_skill(f);
    f->skill = STR("");
    write_manifest(f, "plugin.json", SCHEMAS "plugin.schema.json");
    write_manifest(f, ".claude-plugin/plugin.json", NULL);
    write_servers(f);
    f->skill = fs_join(STR("skills"), f->name, f->a);
}

static const struct model {
    const char *word;
    enum doc_kind kind;
    const char *before, *after; /* description before and after the name */
    const char *next;
    void (*write)(struct fresh *f);
} models[] = {
    {"skill", DOC_SKILL, "Explains ",
     " step by step. Use it when that is asked for.",
     "say in the description what it does and when to use it, and how in the "
     "text",
     write_skill},
    {"metaskill", DOC_SKILL, "Runs ",
     ": does a task, reviews the result, mends it. Use it when a "
     "first draft is not good enough.",
     "change SKILL.star, and the description and input keys in SKILL.md with "
     "it; mapm test replays its tests, mapm run NAME runs it",
     write_metaskill},
    {"agent", DOC_AGENT, "Takes care of ",
     " from start to end. Call it when that is asked for.",
     "say in the description when to call it, and what it needs under "
     "dependencies",
     write_agent},
    {"mcp", DOC_MCP, NULL, NULL,
     "put the server's own command and arguments in, or a url with "
     "\"type\": \"http\"",
     write_mcp},
    {"plugin", DOC_PLUGIN, "Explains ",
     " step by step. Use it when that is asked for.",
     "write its skills in skills/NAME and its servers in mcp.json; mapm check "
     "--profile agent-plugin, or claude-plugin, says what clients would not "
     "load",
     write_plugin},
};

static bool find_model(struct fresh *f, struct str word, struct err *e)
{
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (str_is(word, models[i].word)) {
            f->model = &models[i];
            return true;
        }
    err_set(e, ERR_USAGE, "unknown kind \"%.*s\"", STR_ARG(word));
    return err_hint(e, "mapm new skill NAME; or metaskill, agent, mcp, plugin");
}

static bool check_name(const struct fresh *f, struct err *e)
{
    const char *fault = name_fault(f->name);

    if (f->model->kind == DOC_MCP) {
        if (name_mcp_is_valid(f->name))
            return true;
        err_set(e, ERR_NAME, "\"%.*s\" is not the name of an MCP",
                STR_ARG(f->name));
        return err_hint(e, "it is NAMESPACE/NAME, as in io.example/mcp");
    }
    if (!fault)
        return true;
    err_set(e, ERR_NAME, "the name \"%.*s\" %s", STR_ARG(f->name), fault);
    if (str_has_char(f->name, '/'))
        return err_hint(e, "the part before \"/\" goes to --scope");
    return err_hint(e, "words of a-z and 0-9, joined by \"-\"");
}

static bool check_scope(const struct fresh *f, struct err *e)
{
    if (!f->scope.p)
        return true;
    if (f->model->kind == DOC_MCP)
        return err_set(e, ERR_USAGE,
                       "--scope: an MCP has its namespace in its name");
    if (f->model->kind == DOC_PLUGIN)
        return err_set(e, ERR_USAGE,
                       "--scope: the name of a plugin is the scope of its "
                       "parts");
    if (name_scope_is_valid(f->scope))
        return true;
    err_set(e, ERR_NAME, "\"%.*s\" is not a scope", STR_ARG(f->scope));
    return err_hint(e, "as in acme or io.example, at most %d characters",
                    SCOPE_MAX_CHARS);
}

/* Provides the new files to the validation. */
static enum manifest_file read_part(void *ctx, struct str path,
                                    size_t max_bytes, struct arena *a,
                                    struct str *content)
{
    const struct fresh *f = ctx;

    if (f->skill.n)
        path = fs_join(f->skill, path, a);
    for (size_t i = 0; i < f->count; i++) {
        if (!str_is(path, f->files[i].name))
            continue;
        if (max_bytes && f->files[i].text.n > max_bytes)
            return MANIFEST_FILE_TOO_LARGE;
        *content = f->files[i].text;
        return MANIFEST_FILE_OK;
    }
    return MANIFEST_FILE_MISSING;
}

static bool validate(struct fresh *f, struct err *e)
{
    struct arena *a = f->a;
    const struct manifest_files files = {read_part, f};
    struct manifest_input in = {
        .kind = f->skill.n ? DOC_SKILL : f->model->kind,
        .text = f->files[0].text,
        .folder =
            f->model->kind == DOC_MCP ? str_cstr(f->files[0].name) : f->name,
        .files = f->model->kind == DOC_MCP ? NULL : &files,
        .profile = PROFILE_PUBLISH,
    };
    struct diagnostics why;
    struct document d;

    diagnostics_init(&why, a);
    manifest_read(&in, a, &d, &why);
    f->fqn = d.fqn;
    return why.errors == 0 ||
           diagnostics_fail(&why, in.kind, str_dup0(f->place, a), e);
}

static bool write_all(struct fresh *f, struct err *e)
{
    CLEANUP_FD int top = -1, bucket = -1;
    const char *plural = doc_kind_plural(f->model->kind);
    bool made, ok;

    if (!fs_open_dir(str_dup0(f->cx->cwd, f->a), &top, e))
        return false;
    made = !fs_exists_at(top, plural);
    ok = fs_make_dirs_at(top, plural, 0755, e) &&
         fs_open_dir_at(top, plural, &bucket, e) &&
         (f->model->kind == DOC_MCP
              ? place_file(bucket, f->files[0].name, f->files[0].text, e)
              : place_folder(bucket, str_dup0(f->name, f->a), f->files,
                             f->count, e));
    if (!ok && made)
        unlinkat(top, plural, AT_REMOVEDIR); /* fails if the folder is not
                                              * empty, which is intended */
    return ok;
}

static struct str path_of(const struct fresh *f, size_t i)
{
    if (f->model->kind == DOC_MCP)
        return f->place;
    return fs_join(f->place, str_cstr(f->files[i].name), f->a);
}

bool scaffold_package(struct context *cx, const struct scaffold_request *r,
                      struct scaffold_package *out, struct err *e)
{
    struct arena *a = &cx->arena;
    struct fresh f = {.cx = cx, .a = a, .name = r->name, .scope = r->scope};
    struct str *files;

    if (!find_model(&f, r->word, e) || !check_name(&f, e) ||
        !check_scope(&f, e))
        return false;
    f.description = str_trim(r->description);
    if (!r->description.p && f.model->before)
        f.description = arena_printf(a, "%s%.*s%s", f.model->before,
                                     STR_ARG(f.name), f.model->after);
    f.model->write(&f);
    f.place = arena_printf(a, "%s/%s", doc_kind_plural(f.model->kind),
                           f.model->kind == DOC_MCP ? f.files[0].name
                                                    : str_dup0(f.name, a));
    if (!validate(&f, e) || !write_all(&f, e))
        return err_wrap(e, "cannot write %.*s", STR_ARG(f.place));
    files = arena_array(a, f.count, sizeof *files);
    for (size_t i = 0; i < f.count; i++)
        files[i] = path_of(&f, i);
    *out = (struct scaffold_package){.kind = f.model->kind,
                                     .fqn = f.fqn,
                                     .path = f.place,
                                     .files = {files, f.count},
                                     .next = f.model->next};
    return true;
}

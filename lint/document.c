#include "mapm/document.h"

#include "base/fs.h"
#include "base/path.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/limits.h"
#include "mapm/lint.h"
#include "mapm/name.h"
#include "mapm/package_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program.h"

/* Checks one document in place: its bytes, the files beside it, its
 * diagnostics. */

struct str lint_folder(const struct check_result *result, struct arena *a)
{
    return fs_join(result->root->real, result->folder, a);
}

struct str lint_folder_name(const struct check_result *result)
{
    return result->folder.n ? path_last(result->folder) : result->root->name;
}

void lint_report(const struct check_rules *rules, struct check_result *result,
                 bool error, const char *code, const char *format, ...)
{
    char message[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    diagnostics_add(&result->why, error || rules->strict, code, "", 0, "%s",
                    message);
}

/* --- files ---------------------------------------------------------------- */

bool lint_is_below(struct str path, struct str folder)
{
    if (str_is(folder, "/"))
        return true;
    return str_starts(path, folder) &&
           (path.n == folder.n || path.p[folder.n] == '/');
}

/* Resolves links first, then opens the result without following links, so that
 * it cannot be replaced in between. */
enum manifest_file lint_read_resolved(struct str folder, struct str inside,
                                      struct str path, size_t max_bytes,
                                      struct arena *a, struct str *text)
{
    CLEANUP_FD int fd = -1;
    struct err ignored = {0};
    char real[PATH_MAX];
    struct stat st;

    if (!realpath(fs_join(folder, path, a).p, real))
        return errno == ENOENT ? MANIFEST_FILE_MISSING
                               : MANIFEST_FILE_UNREADABLE;
    if (!lint_is_below(str_cstr(real), inside))
        return MANIFEST_FILE_ESCAPES;
    if (!fs_open_file_at(AT_FDCWD, real, &fd, &st, &ignored))
        return MANIFEST_FILE_UNREADABLE;
    return package_file_read(fd, max_bytes, a, text);
}

enum manifest_file lint_read(const struct check_result *result, int dirfd,
                             struct str inside, struct str path,
                             size_t max_bytes, struct arena *a,
                             struct str *text)
{
    CLEANUP_FD int fd = -1;
    struct err e = {0};
    struct stat st;

    if (str_has_char(path, '\0'))
        return MANIFEST_FILE_MISSING;
    if (fs_open_file_at(dirfd, str_dup0(path, a), &fd, &st, &e))
        return package_file_read(fd, max_bytes, a, text);
    if (e.code == ERR_NOT_FOUND)
        return MANIFEST_FILE_MISSING;
    if (e.code != ERR_REFUSED)
        return MANIFEST_FILE_UNREADABLE;
    return lint_read_resolved(lint_folder(result, a), inside, path, max_bytes,
                              a, text);
}

/* Callbacks of manifest_read() for files beside the document. */
struct beside {
    const struct check_result *result;
    int dirfd;
};

static enum manifest_file read_beside(void *ctx, struct str path,
                                      size_t max_bytes, struct arena *a,
                                      struct str *content)
{
    const struct beside *b = ctx;

    return lint_read(b->result, b->dirfd, lint_folder(b->result, a), path,
                     max_bytes, a, content);
}

/* --- the verdict ---------------------------------------------------------- */

static bool read_document(const struct check_rules *rules, int dirfd,
                          struct check_result *r, struct arena *a,
                          struct str *text)
{
    size_t max = r->kind == DOC_MCP ? MCP_MAX_BYTES : ANCHOR_MAX_BYTES;

    switch (lint_read(r, dirfd, r->root->top, r->file, max, a, text)) {
    case MANIFEST_FILE_OK:
        return true;
    case MANIFEST_FILE_TOO_LARGE:
        lint_report(rules, r, true, "too-large", "larger than %zu bytes", max);
        return false;
    case MANIFEST_FILE_ESCAPES:
        lint_report(
            rules, r, true, "unreadable",
            "a symbolic link that leaves the %s: what is installed from "
            "here would not have it",
            r->root->in_git ? "repository" : "folder that was named");
        return false;
    case MANIFEST_FILE_MISSING:
        lint_report(rules, r, true, "unreadable",
                    "it leads to nothing, or was removed meanwhile");
        return false;
    default:
        lint_report(rules, r, true, "unreadable",
                    "not a regular file that can be read");
        return false;
    }
}

static bool has_frontmatter(struct str text)
{
    if (str_starts(text, STR("\xef\xbb\xbf")))
        text = str_from_index(text, 3);
    return str_starts(text, STR("---"));
}

/* Copies diagnostics from scratch memory into the result. */
static void keep(struct check_result *r, const struct document *d,
                 const struct diagnostics *why, struct arena *a)
{
    struct diagnostic *items = arena_array(a, why->count, sizeof *items);
    struct str *tools = arena_array(a, d->tool_count, sizeof *tools);
    struct check_need *needs = arena_array(a, d->dep_count, sizeof *needs);

    r->name = arena_str(a, d->name);
    r->scope = arena_str(a, d->scope);
    r->fqn = arena_str(a, d->fqn);
    r->description = arena_str(a, d->description);
    r->version = arena_str(a, d->version);
    memcpy(r->skill_version, d->skill_version, sizeof r->skill_version);
    r->load_size_tokens = d->load_size_tokens;
    r->metaskill = d->metaskill;
    for (size_t i = 0; i < d->tool_count; i++)
        tools[i] = arena_str(a, d->tools[i]);
    r->tools = tools;
    r->tool_count = d->tool_count;
    for (size_t i = 0; i < d->dep_count; i++)
        needs[i] = (struct check_need){d->deps[i].kind,
                                       arena_str(a, d->deps[i].origin->text)};
    r->needs = needs;
    r->need_count = d->dep_count;
    for (size_t i = 0; i < why->count; i++) {
        items[i] = why->items[i];
        items[i].field = arena_str(a, items[i].field);
        items[i].file = arena_str(a, items[i].file);
        items[i].message = arena_str(a, items[i].message);
        items[i].hint = arena_str(a, items[i].hint);
    }
    r->why = *why;
    r->why.arena = a;
    r->why.items = items;
    r->why.capacity = why->count;
}

/* --- what `mapm new` wrote ------------------------------------------------ */

/* A description with `before` at its start and `after` at its end. */
static const struct {
    const char *before, *after;
} fresh_descriptions[] = {
    {"Explains ", " step by step. Use it when that is asked for."},
    {"Runs ", ": does a task, reviews the result, mends it. Use it when a "
              "first draft is not good enough."},
    {"Takes care of ", " from start to end. Call it when that is asked for."},
};

static const char *const fresh_texts[] = {
    "Say here what an agent has to do, step by step, as you would tell a",
    "You are an agent with one job. Say here what it is, what you look at",
};

void lint_placeholders(const struct check_rules *rules, struct check_result *r,
                       struct str text)
{
    if (rules->profile != PROFILE_PUBLISH)
        return;
    for (size_t i = 0;
         i < sizeof fresh_descriptions / sizeof *fresh_descriptions; i++)
        if (str_starts(r->description,
                       str_cstr(fresh_descriptions[i].before)) &&
            str_ends(r->description, str_cstr(fresh_descriptions[i].after)))
            lint_report(
                rules, r, true, "placeholder",
                "the description is the one that mapm new wrote: say what "
                "it does, and when to use it");
    for (size_t i = 0; i < sizeof fresh_texts / sizeof *fresh_texts; i++)
        if (str_find(text, str_cstr(fresh_texts[i])) != SIZE_MAX)
            lint_report(rules, r, true, "placeholder",
                        "the text is the one that mapm new wrote: replace it");
    if (r->kind == DOC_MCP &&
        str_find(text, STR("-server\",\n  \"args\": []\n}")) != SIZE_MAX)
        lint_report(
            rules, r, true, "placeholder",
            "the command is the one that mapm new wrote: name that of the "
            "server");
}

bool lint_document(const struct check_rules *rules, int dirfd,
                   struct check_result *result, bool optional, struct arena *a)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct beside beside = {result, dirfd};
    const struct manifest_files files = {read_beside, &beside};
    struct manifest_input in = {
        .kind = result->kind,
        .files = result->kind == DOC_MCP ? NULL : &files,
        .rules = &rules->origins,
        .profile = rules->profile,
        .strict = rules->strict,
        .for_author = rules->for_author,
        .allow_own = rules->profile != PROFILE_PUBLISH,
        .allow_file = true,
    };
    struct diagnostics why;
    struct document d;

    diagnostics_init(&result->why, a);
    if (rules->fix && result->kind == DOC_MCP)
        lint_fix(result, dirfd, a);
    in.folder = in.kind == DOC_MCP ? result->file : lint_folder_name(result);
    if (!read_document(rules, dirfd, result, &scratch, &in.text))
        return !optional;
    if (optional && !has_frontmatter(in.text))
        return false;
    diagnostics_init(&why, &scratch);
    manifest_read(&in, &scratch, &d, &why);
    check_program(&in, &d, &why);
    keep(result, &d, &why, a);
    lint_placeholders(rules, result, in.text);
    return true;
}

/* --- a bare name ---------------------------------------------------------- */

struct check_result *lint_name(enum profile profile, struct str name,
                               struct arena *a)
{
    struct check_result *r = arena_new(a, struct check_result);

    *r = (struct check_result){.is_name = true, .name = name};
    diagnostics_init(&r->why, a);
    document_check_name(profile, name, &r->why);
    return r;
}

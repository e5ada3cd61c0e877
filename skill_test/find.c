#include "base/fs.h"
#include "base/path.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/layer.h"
#include "mapm/lint.h"
#include "mapm/name.h"
#include "mapm/origin.h"
#include "mapm/provision.h"
#include "mapm/skill_test.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

/* Finds the requested skills and their tapes. */

#define TAPES_MAX_FILES 10000

/* --- arguments ---------------------------------------------------------- */

static bool is_file(struct context *cx, struct str path)
{
    struct stat st;

    return stat(str_dup0(path, &cx->arena), &st) == 0 && S_ISREG(st.st_mode);
}

/* Returns the folder of a skill of the workspace by name, or "". */
static struct str named_folder(struct context *cx, struct str word)
{
    static const char *const places[] = {PROVISION_SKILLS, PROVISION_SEARCHED,
                                         "skills"};
    struct arena *a = &cx->arena;
    struct str root = layer_workspace(cx);

    if (!name_is_kebab(word))
        return STR("");
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        struct str folder = fs_join(str_cstr(places[i]), word, a);

        if (!str_eq(root, cx->cwd))
            folder = fs_join(root, folder, a);
        if (is_file(cx, fs_join(folder, STR("SKILL.md"), a)))
            return folder;
    }
    return STR("");
}

/* Returns the folder part of a path, "." if it has none. */
static struct str folder_of(struct str path)
{
    size_t slash = str_find_last(path, '/');

    if (slash == SIZE_MAX)
        return STR(".");
    return str_slice(path, 0, slash ? slash : 1);
}

/* Splits a path: "x/tests/one.jsonl" means this tape of x only, "x/SKILL.star"
 * means x. */
static bool take_apart(struct context *cx, struct str *path, struct str *only,
                       struct err *e)
{
    struct str last = path_last(*path), folder = folder_of(*path);
    struct str real =
        fs_normalize(fs_join(cx->cwd, *path, &cx->arena), &cx->arena);

    if (!is_file(cx, *path))
        return true;
    if (str_is(last, "SKILL.star")) {
        *path = folder;
    } else if (str_ends(last, STR(SKILL_TEST_ENDING))) {
        if (!str_is(path_last(folder_of(real)), SKILL_TEST_FOLDER))
            return err_set(e, ERR_USAGE,
                           "%.*s is in no folder %s of a metaskill",
                           STR_ARG(*path), SKILL_TEST_FOLDER);
        *only = last;
        *path = str_is(path_last(folder), SKILL_TEST_FOLDER)
                    ? folder_of(folder)
                    : fs_join(folder, STR(".."), &cx->arena);
    }
    return true;
}

static bool open_root(struct context *cx, struct str word,
                      struct check_root *root, struct str *only, struct err *e)
{
    struct str path = named_folder(cx, word);

    if (path.n == 0) {
        path = word;
        if (!take_apart(cx, &path, only, e))
            return false;
    }
    if (lint_root_open(path, root, &cx->arena, e))
        return true;
    if (e->code != ERR_NOT_FOUND || str_has_char(word, '/'))
        return false;
    err_set(e, ERR_NOT_FOUND, "there is no skill \"%.*s\"", STR_ARG(word));
    return err_hint(e, "its name as in .agents/skills or skills, or its path");
}

/* --- tapes ------------------------------------------------------------------- */

static bool is_tape(const struct fs_entry *entry)
{
    return entry->type != DT_DIR && entry->name.p[0] != '.' &&
           entry->name.n > sizeof SKILL_TEST_ENDING - 1 &&
           str_ends(entry->name, STR(SKILL_TEST_ENDING));
}

static bool find_tapes(struct context *cx, struct skill_test *s,
                       struct str only, struct err *e)
{
    CLEANUP_FD int fd = -1;
    struct arena *a = &cx->arena;
    struct fs_entry *entries;
    size_t count;

    if (!fs_open_dir_at(AT_FDCWD, fs_join(s->real, STR(SKILL_TEST_FOLDER), a).p,
                        &fd, e)) {
        if (e->code != ERR_NOT_FOUND)
            return err_wrap(e, "cannot read the tapes of %.*s",
                            STR_ARG(s->path));
        err_clear(e);
        return true;
    }
    if (!fs_list_at(fd, "", TAPES_MAX_FILES, a, &entries, &count, e))
        return err_wrap(e, "cannot read the tapes of %.*s", STR_ARG(s->path));
    s->tapes = arena_array(a, count, sizeof *s->tapes);
    for (size_t i = 0; i < count; i++) {
        if (!is_tape(&entries[i]) || (only.n && !str_eq(only, entries[i].name)))
            continue;
        s->tapes[s->count++].file =
            fs_join(STR(SKILL_TEST_FOLDER), entries[i].name, a);
    }
    return true;
}

/* --- skills -------------------------------------------------------------------- */

/* Returns diagnostics of the program only, "" if there are none; the others are
 * reported by mapm check. */
static struct str problem_of(const struct check_result *r, struct arena *a)
{
    for (size_t i = 0; i < r->why.count; i++) {
        const struct diagnostic *c = &r->why.items[i];

        if (c->error || (str_starts(str_cstr(c->code), STR("metaskill-")) &&
                         !str_is(str_cstr(c->code), "metaskill-input-keys")))
            return arena_str(a, c->message);
    }
    return STR("");
}

static struct str shown_folder(const struct check_result *r, struct arena *a)
{
    struct str path = str_slice(r->path, 0, r->path.n - path_last(r->path).n);

    if (path.n > 1)
        path = str_slice(path, 0, path.n - 1);
    return path.n ? arena_str(a, path) : STR(".");
}

static bool add_skill(struct context *cx, const struct check_result *r,
                      struct str only, struct skill_tests *out, struct err *e)
{
    struct arena *a = &cx->arena;
    struct skill_test s = {
        .path = shown_folder(r, a),
        .real = lint_folder(r, a),
        .name = arena_str(a, r->name.n ? r->name : lint_folder_name(r)),
    };

    if (!find_tapes(cx, &s, only, e))
        return false;
    if (!r->metaskill) {
        s.problem = s.count ? problem_of(r, a) : STR("");
        if (s.problem.n == 0)
            return true; /* a static skill; its tests/ may contain anything */
        s.count = 0;
    }
    out->items = arena_grow(a, out->items, out->count, &out->capacity,
                            sizeof *out->items);
    out->items[out->count++] = s;
    return true;
}

static bool is_named_itself(const struct check_result *r)
{
    return r->folder.n == 0 && r->has_kind && r->kind == DOC_SKILL;
}

static bool find_below(struct context *cx, const struct origin_rules *rules,
                       const struct check_root *root, struct str only,
                       struct skill_tests *out, struct err *e)
{
    CLEANUP(lint_results_done) struct check_results found = {0};
    struct check_rules how = {.profile = PROFILE_INSTALL, .origins = *rules};
    size_t before = out->count;

    if (!lint_find(root, 1, &how, &cx->arena, &found, e))
        return false;
    for (size_t i = 0; i < found.count; i++) {
        const struct check_result *r = found.items[i];

        if (!r->has_kind || r->kind != DOC_SKILL)
            continue;
        if (!add_skill(cx, r, only, out, e))
            return false;
        if (is_named_itself(r) && out->count == before) {
            struct str text = runtime_static(r->name, &cx->arena);

            err_set(e, ERR_NOT_FOUND, "%.*s",
                    STR_ARG(str_from_index(text, sizeof "error: " - 1)));
            return err_hint(e, "it has no program: mapm check %.*s",
                            STR_ARG(r->path));
        }
    }
    return true;
}

bool skill_test_find(struct context *cx, struct str_list words,
                     const struct origin_rules *rules, struct skill_tests *out,
                     struct err *e)
{
    struct str here = STR(".");

    if (words.count == 0)
        words = (struct str_list){&here, 1};
    for (size_t i = 0; i < words.count; i++) {
        struct check_root root;
        struct str only = STR("");

        if (!open_root(cx, words.items[i], &root, &only, e) ||
            !find_below(cx, rules, &root, only, out, e))
            return false;
    }
    return true;
}

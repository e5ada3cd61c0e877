#include "git.h"

#include "base/fs.h"

#define STDIN_MAX_BYTES ((size_t)512 * 1024 * 1024)
#define FOLDERS_MAX                                                            \
    32 /* number of folders passed to git; for more, all
                            * files are listed */

/* A repository above `top` is ignored. */
bool git_open(struct context *cx, struct str top, struct git *out,
              struct err *e)
{
    struct str above =
        fs_normalize(fs_join(top, STR(".."), &cx->arena), &cx->arena);

    *out = (struct git){.cx = cx, .top = top};
    if (git_run_open(cx, top, above, &out->run, e))
        return true;
    err_wrap(e, "--against needs git");
    return err_hint(e, "install git, or leave --against out");
}

static bool run(const struct git *g, const char *const *args,
                const struct str *folders, size_t folder_count,
                struct str input, struct proc_result *result, struct err *e)
{
    const char *words[GIT_RUN_MAX_WORDS + 1] = {"--literal-pathspecs"};
    bool all = folder_count > FOLDERS_MAX;
    size_t n = 1;

    for (; *args; args++)
        words[n++] = *args;
    for (size_t i = 0; i < folder_count; i++)
        all |= folders[i].n == 0;
    if (folder_count && !all) {
        words[n++] = "--";
        for (size_t i = 0; i < folder_count; i++)
            words[n++] =
                arena_printf(&g->cx->arena, "%.*s/", STR_ARG(folders[i])).p;
    }
    words[n] = NULL;
    return git_run(&g->run, words, input, result, e);
}

static bool run_well(const struct git *g, const char *const *args,
                     const struct str *folders, size_t folder_count,
                     struct str input, struct str *out, struct err *e)
{
    struct proc_result result = {0};

    if (!run(g, args, folders, folder_count, input, &result, e))
        return false;
    if (result.exit_code != 0)
        return git_run_failed(&result, args[0], e);
    *out = result.out;
    return true;
}

struct str git_text(const struct git *g, const char *const *args)
{
    struct err ignored = {0};
    struct str out = {0};

    if (!run_well(g, args, NULL, 0, str_make("", 0), &out, &ignored)) {
        err_clear(&ignored);
        return str_make("", 0);
    }
    return str_trim(out);
}

bool git_commit(const struct git *g, struct str ref, struct str *commit,
                struct err *e)
{
    struct arena *a = &g->cx->arena;
    const char *args[] = {"rev-parse", "--verify", "--end-of-options",
                          arena_printf(a, "%.*s^{commit}", STR_ARG(ref)).p,
                          NULL};
    struct proc_result result = {0};

    if (ref.n == 0)
        return err_set(e, ERR_USAGE, "--against: the ref is empty");
    if (!run(g, args, NULL, 0, str_make("", 0), &result, e))
        return false;
    if (result.exit_code == 0) {
        *commit = str_trim(result.out);
        return true;
    }
    if (str_find(result.err, STR("Needed a single revision")) == SIZE_MAX)
        return git_run_failed(&result, "rev-parse", e);
    err_set(e, ERR_REF, "%.*s has no commit \"%.*s\"", STR_ARG(g->top),
            STR_ARG(ref));
    return err_hint(e, "a branch, tag or commit that is here; git fetch "
                       "brings those of others");
}

/* Parses "100644 blob <id>\t<path>". */
static bool take_entry(struct str line, struct git_file *f)
{
    struct str rest = line, mode, type, id;

    if (!str_cut(&rest, ' ', &mode) || !str_cut(&rest, ' ', &type) ||
        !str_cut(&rest, '\t', &id) || rest.n == 0 || mode.n != 6)
        return false;
    f->mode = 0;
    for (size_t i = 0; i < mode.n; i++)
        f->mode = f->mode * 8 + (uint32_t)(mode.p[i] - '0');
    f->id = id;
    f->path = rest;
    return true;
}

static size_t count_ends(struct str text)
{
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\0';
    return n;
}

bool git_list(const struct git *g, struct str commit, const struct str *folders,
              size_t folder_count, struct git_file **out, size_t *count,
              struct err *e)
{
    struct arena *a = &g->cx->arena;
    const char *args[] = {"ls-tree", "-r", "-z", str_dup0(commit, a), NULL};
    struct str rest = {0}, line;
    size_t n = 0;

    if (!run_well(g, args, folders, folder_count, str_make("", 0), &rest, e))
        return false;
    *out = arena_array(a, count_ends(rest), sizeof **out);
    while (str_cut(&rest, '\0', &line) && line.n)
        if (!take_entry(line, &(*out)[n++]))
            return err_set(e, ERR_FAILED, "git ls-tree: cannot be understood");
    *count = n;
    STR_SORT_BY(*out, n, path);
    return true;
}

bool git_work_files(const struct git *g, const struct str *folders,
                    size_t folder_count, struct str **out, size_t *count,
                    struct err *e)
{
    static const char *const args[] = {
        "ls-files", "-z", "--cached", "--others", "--exclude-standard", NULL};
    struct str rest = {0}, line;
    struct str *paths;
    size_t n = 0, kept = 0;

    if (!run_well(g, args, folders, folder_count, str_make("", 0), &rest, e))
        return false;
    paths = arena_array(&g->cx->arena, count_ends(rest), sizeof *paths);
    while (str_cut(&rest, '\0', &line) && line.n)
        if (line.p[line.n - 1] != '/') /* a nested repository */
            paths[n++] = line;
    str_sort(paths, n);
    /* A file in conflict has several entries. */
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || !str_eq(paths[i], paths[kept - 1]))
            paths[kept++] = paths[i];
    *out = paths;
    *count = kept;
    return true;
}

/* Parses a path, either plain or a quoted C string. */
static void put_path(struct buf *b, struct str path)
{
    bool quote = path.p[0] == '"' || str_has_char(path, '\n');

    if (!quote) {
        buf_append(b, path);
        buf_char(b, '\n');
        return;
    }
    buf_char(b, '"');
    for (size_t i = 0; i < path.n; i++) {
        if (path.p[i] == '"' || path.p[i] == '\\')
            buf_char(b, '\\');
        if (path.p[i] == '\n')
            buf_text(b, "\\n");
        else
            buf_char(b, path.p[i]);
    }
    buf_text(b, "\"\n");
}

bool git_hash(const struct git *g, const struct str *paths, size_t count,
              struct str *ids, struct err *e)
{
    static const char *const args[] = {"hash-object", "--no-filters",
                                       "--stdin-paths", NULL};
    CLEANUP(buf_done) struct buf input = {0};
    struct str rest = {0};

    if (count == 0)
        return true;
    buf_init(&input, STDIN_MAX_BYTES);
    for (size_t i = 0; i < count; i++)
        put_path(&input, paths[i]);
    if (!buf_check(&input, "the paths of the work tree", e) ||
        !run_well(g, args, NULL, 0, buf_str(&input), &rest, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!str_line(&rest, &ids[i]))
            return err_set(e, ERR_FAILED, "git hash-object: too few ids");
    return true;
}

/* Parses "<id> <type> <size>\n<bytes>\n" or "<id> missing\n". */
static bool take_blob(struct str *rest, struct str *text)
{
    struct str line, id, type;
    uint64_t size;

    if (!str_line(rest, &line))
        return false;
    *text = str_make(NULL, 0);
    if (str_ends(line, STR(" missing")))
        return true;
    if (!str_cut(&line, ' ', &id) || !str_cut(&line, ' ', &type) ||
        !str_number(line, SIZE_MAX / 2, &size) || size >= rest->n)
        return false;
    *text = str_slice(*rest, 0, (size_t)size);
    *rest = str_from_index(*rest, (size_t)size + 1);
    return true;
}

bool git_read(const struct git *g, const struct str *ids, size_t count,
              struct str *texts, struct err *e)
{
    static const char *const args[] = {"cat-file", "--batch", NULL};
    CLEANUP(buf_done) struct buf input = {0};
    struct str rest = {0};

    if (count == 0)
        return true;
    buf_init(&input, STDIN_MAX_BYTES);
    for (size_t i = 0; i < count; i++) {
        buf_append(&input, ids[i]);
        buf_char(&input, '\n');
    }
    if (!buf_check(&input, "the ids of files", e) ||
        !run_well(g, args, NULL, 0, buf_str(&input), &rest, e))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!take_blob(&rest, &texts[i]))
            return err_set(e, ERR_FAILED, "git cat-file: cannot be understood");
    return true;
}

#include "base/fs.h"
#include "base/path.h"

#include <fcntl.h>
#include <unistd.h>

#include "protect_inner.h"

/*
 * Files that configure git, besides the rows of protect_table.c. The
 * settings of a repository name programs (core.fsmonitor, core.hooksPath,
 * filters, ...), and `git status` starts another one in each folder that its
 * index records as a repository. So settings and hooks of every repository
 * in the workspace are watched, and a new one may contain only what `git init`
 * and `git clone` create.
 */

#define CONFIG_MAX_BYTES  (256u << 10)
#define POINTER_MAX_BYTES 4096 /* maximum size of a file with "gitdir: ..." */
#define CHAIN_MAX                                                              \
    4 /* maximum chain of included files, or of
                                * common folders */
#define HOOKS_MAX_COUNT 1000

static struct str read_text(const struct protect *p, struct str path,
                            size_t max_bytes, struct arena *a)
{
    struct str text;
    struct err ignored = {0};

    return fs_read_file_at(p->fd, str_dup0(path, a), max_bytes, a, &text,
                           &ignored)
               ? text
               : STR("");
}

/* Returns the workspace-relative form of `path`, which a file in `folder`
 * contains. */
static bool resolve(const struct protect *p, struct str folder, struct str path,
                    struct arena *a, struct str *out)
{
    if (!path.n || str_has_char(path, '\0'))
        return false;
    return protect_inside(p, fs_join(fs_join(p->folder, folder, a), path, a), a,
                          out);
}

/* --- settings ------------------------------------------------------------------ */

struct setting {
    struct str section, key, value; /* section: without the quoted subsection */
};

enum line { LINE_END, LINE_SETTING, LINE_OTHER, LINE_ODD };

/* Parses [name] or [name "second"] with nothing after it. */
static bool read_section(struct str line, struct str *name)
{
    struct str rest = str_slice(line, 1, line.n - 1);
    size_t blank = 0;

    if (!str_ends(line, STR("]")))
        return false;
    while (blank < rest.n &&
           (char_is_alpha(rest.p[blank]) || char_is_digit(rest.p[blank])))
        blank++;
    *name = str_slice(rest, 0, blank);
    rest = str_trim(str_from_index(rest, blank));
    if (!rest.n)
        return true;
    if (rest.n < 2 || rest.p[0] != '"' || !str_ends(rest, STR("\"")))
        return false;
    rest = str_slice(rest, 1, rest.n - 1);
    return !str_has_char(rest, '"') && !str_has_char(rest, '\\');
}

/* Parses one line of the simple forms; git accepts further ones, which are
 * rare. */
static enum line next_line(struct str *text, struct setting *s)
{
    struct str line, rest;
    bool is_odd;

    if (!str_line(text, &line))
        return LINE_END;
    is_odd = str_ends(line, STR("\\"));
    for (size_t i = 0; i < line.n; i++)
        is_odd |= (unsigned char)line.p[i] < ' ' && line.p[i] != '\t';
    line = str_trim(line);
    if (is_odd)
        return LINE_ODD;
    if (!line.n || line.p[0] == '#' || line.p[0] == ';')
        return LINE_OTHER;
    if (line.p[0] == '[')
        return read_section(line, &s->section) ? LINE_OTHER : LINE_ODD;
    rest = line;
    (void)str_cut(&rest, '=', &s->key);
    s->key = str_trim(s->key);
    s->value = str_trim(rest);
    return LINE_SETTING;
}

static struct str unquoted(struct str value)
{
    if (value.n >= 2 && value.p[0] == '"' && str_ends(value, STR("\"")))
        return str_slice(value, 1, value.n - 1);
    return value;
}

/* --- a repository that is there --------------------------------------------------- */

/* Watches hooks and settings elsewhere in the workspace that the configuration
 * names. */
static bool watch_named(struct protect *p, struct str config, struct str tree,
                        enum watch_as as, struct err *e)
{
    struct arena *a = p->arena;
    struct str at = config, next, named;

    for (unsigned i = 0; at.n && i < CHAIN_MAX; i++, at = next) {
        struct str text = read_text(p, at, CONFIG_MAX_BYTES, a);
        struct setting s = {{0}, {0}, {0}};
        enum line kind;

        next = STR("");
        while ((kind = next_line(&text, &s)) != LINE_END) {
            bool is_include =
                s.section.n >= 7 &&
                str_eq_nocase(str_slice(s.section, 0, 7), STR("include"));

            if (kind != LINE_SETTING)
                continue;
            if (str_eq_nocase(s.key, STR("hookspath"))) {
                if (resolve(p, tree, unquoted(s.value), a, &named) && named.n &&
                    !protect_watch(p, named, PROTECT_TREE, as, e))
                    return false;
            } else if (is_include && str_eq_nocase(s.key, STR("path"))) {
                if (!resolve(p, path_folder(at), unquoted(s.value), a,
                             &named) ||
                    !named.n)
                    continue;
                if (!protect_watch(p, named, PROTECT_TREE, as, e))
                    return false;
                next = named;
            }
        }
    }
    return true;
}

/* `folder` contains config and hooks, `tree` the checked-out files. */
static bool watch_repository(struct protect *p, struct str folder,
                             struct str tree, enum watch_as as, struct err *e)
{
    static const struct {
        const char *name;
        unsigned how;
    } rows[] = {
        {"config", PROTECT_TREE},     {"config.worktree", PROTECT_TREE},
        {"hooks", PROTECT_TREE},      {"commondir", PROTECT_TREE},
        {"modules", PROTECT_GIT_DIR}, {"worktrees", PROTECT_GIT_DIR},
    };
    struct arena *a = p->arena;

    for (unsigned chain = 0; chain < CHAIN_MAX; chain++) {
        struct str common;

        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (!protect_watch(p, fs_join(folder, str_cstr(rows[i].name), a),
                               rows[i].how, as, e))
                return false;
        if (!watch_named(p, fs_join(folder, STR("config"), a), tree, as, e))
            return false;
        common = str_trim(read_text(p, fs_join(folder, STR("commondir"), a),
                                    POINTER_MAX_BYTES, a));
        if (!resolve(p, folder, common, a, &folder) ||
            str_is(folder, ".git")) /* already in the table */
            return true;
    }
    return true;
}

/* Watches a .git in `tree`, which may be a folder, a file or a link. */
static bool watch_dot_git(struct protect *p, struct str path, enum watch_as as,
                          struct err *e)
{
    struct arena *a = p->arena;
    struct str tree = path_folder(path), folder = path, text;
    struct stat st;

    if (!fs_stat_at(p->fd, str_dup0(path, a), &st))
        return true;
    if (!protect_watch(p, path, PROTECT_DIR_ONLY, as, e))
        return false;
    if (S_ISREG(st.st_mode)) {
        text = read_text(p, path, POINTER_MAX_BYTES, a);
        if (!str_starts(text, STR("gitdir:")) ||
            !resolve(p, tree, str_trim(str_from_index(text, 7)), a, &folder))
            return true;
    } else if (!protect_inside(p, fs_join(p->folder, path, a), a, &folder)) {
        return true;
    }
    /* Those of .git itself are in the table. */
    if (str_starts(folder, STR(".git/")))
        return true;
    if (folder.n && !protect_watch(p, folder, PROTECT_DIR_ONLY, as, e))
        return false;
    return watch_repository(p, folder, tree, as, e);
}

/* --- a repository that is new --------------------------------------------------------- */

static bool is_plain_setting(const struct setting *s)
{
    static const char *const plain[][2] = {
        {"core", "repositoryformatversion"},
        {"core", "filemode"},
        {"core", "bare"},
        {"core", "logallrefupdates"},
        {"core", "symlinks"},
        {"core", "ignorecase"},
        {"core", "precomposeunicode"},
        {"core", "autocrlf"},
        {"extensions", "objectformat"},
        {"extensions", "refstorage"},
        {"extensions", "partialclone"},
        {"remote", "url"},
        {"remote", "fetch"},
        {"remote", "tagopt"},
        {"remote", "promisor"},
        {"remote", "partialclonefilter"},
        {"branch", "remote"},
        {"branch", "merge"},
        {"branch", "rebase"},
        {"gc", "auto"},
        {"user", "name"},
        {"user", "email"},
        {"commit", "gpgsign"},
    };

    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (str_eq_nocase(s->section, str_cstr(plain[i][0])) &&
            str_eq_nocase(s->key, str_cstr(plain[i][1])))
            return true;
    return false;
}

static bool has_plain_config(const struct protect *p, struct str folder,
                             struct arena *a)
{
    struct str path = fs_join(folder, STR("config"), a), text;
    struct setting s = {{0}, {0}, {0}};
    struct err ignored = {0};
    enum line kind;

    if (!fs_exists_at(p->fd, path.p))
        return true;
    if (!fs_read_file_at(p->fd, path.p, CONFIG_MAX_BYTES, a, &text, &ignored))
        return false;
    while ((kind = next_line(&text, &s)) != LINE_END)
        if (kind == LINE_ODD || (kind == LINE_SETTING && !is_plain_setting(&s)))
            return false;
    return true;
}

static bool has_plain_hooks(const struct protect *p, struct str folder,
                            struct arena *a)
{
    struct str path = fs_join(folder, STR("hooks"), a);
    struct fs_entry *entries = NULL;
    size_t count = 0;
    struct err ignored = {0};

    if (!fs_exists_at(p->fd, path.p))
        return true;
    if (!fs_list_at(p->fd, path.p, HOOKS_MAX_COUNT, a, &entries, &count,
                    &ignored))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!str_ends(entries[i].name, STR(".sample")))
            return false;
    return true;
}

/* Returns true if nothing in the repository makes git start a program. */
static bool is_plain(const struct protect *p, struct str folder,
                     struct arena *a)
{
    static const char *const none[] = {"commondir", "config.worktree"};
    struct stat st;

    if (!fs_stat_at(p->fd, str_dup0(folder, a), &st) || !S_ISDIR(st.st_mode))
        return false;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        if (fs_exists_at(p->fd, fs_join(folder, str_cstr(none[i]), a).p))
            return false;
    return has_plain_config(p, folder, a) && has_plain_hooks(p, folder, a);
}

/* --- all of them -------------------------------------------------------------------------- */

static bool visit_known(void *ctx, struct str path, struct err *e)
{
    return watch_dot_git(ctx, path, WATCH_OPEN, e);
}

bool protect_git_scan(struct protect *p, struct err *e)
{
    if (!watch_dot_git(p, STR(".git"), WATCH_ROOT, e))
        return false;
    if (fs_exists_at(p->fd, "HEAD") &&
        !watch_repository(p, STR(""), STR(""), WATCH_ROOT, e))
        return false;
    return protect_walk(p, visit_known, p, e);
}

struct search {
    struct protect *p;
    struct arena *a;
    void (*found)(void *ctx, struct str path);
    void *ctx;
};

static bool visit_new(void *ctx, struct str path, struct err *e)
{
    struct search *s = ctx;

    (void)e;
    if (!map_has(&s->p->by_path, path) && !is_plain(s->p, path, s->a))
        s->found(s->ctx, arena_str(s->a, path));
    return true;
}

bool protect_git_new(struct protect *p, struct arena *a,
                     void (*found)(void *ctx, struct str path), void *ctx)
{
    struct search s = {.p = p, .a = a, .found = found, .ctx = ctx};
    struct err ignored = {0};

    return protect_walk_again(p, visit_new, &s, &ignored);
}

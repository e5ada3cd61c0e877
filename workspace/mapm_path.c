#include "mapm/mapm_path.h"

#include "base/fs.h"
#include "base/proc.h"

#include <unistd.h>

#define ENVIRONMENT_FILE      "/etc/environment"
#define ENVIRONMENT_MAX_BYTES (64u * 1024)
#define SESSION_DEFAULT       "/usr/local/bin:/usr/bin:/bin"

static struct str unquote(struct str s)
{
    if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0])
        return str_slice(s, 1, s.n - 1);
    return s;
}

static struct str read_session(struct arena *a)
{
    struct str path = STR(SESSION_DEFAULT), text, line;
    struct err ignored = {0};

    if (!fs_read_user_file(ENVIRONMENT_FILE, ENVIRONMENT_MAX_BYTES, a, &text,
                           &ignored))
        return path;
    while (str_line(&text, &line)) {
        line = str_trim(line);
        if (str_starts(line, STR("export ")))
            line = str_trim(str_from_index(line, 7));
        if (str_starts(line, STR("PATH=")))
            path = unquote(str_from_index(line, 5));
    }
    return path;
}

static bool is_in(struct str folders, struct arena *a)
{
    struct str folder;

    while (str_cut(&folders, ':', &folder))
        if (str_starts(folder, STR("/")) &&
            access(fs_join(folder, STR("mapm"), a).p, X_OK) == 0)
            return true;
    return false;
}

void mapm_path_find(struct arena *a, struct mapm_path *out)
{
    struct err ignored = {0};

    *out = (struct mapm_path){.found = STR(""), .session = read_session(a)};
    if (!proc_find_program("mapm", NULL, a, &out->found, &ignored))
        out->found = STR("");
    out->is_in_session = is_in(out->session, a);
}

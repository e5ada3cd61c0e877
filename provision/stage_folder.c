#include "base/fs.h"

#include <fcntl.h>
#include <sys/random.h>
#include <unistd.h>

#include "stage.h"
#include "stages.h"

void stage_folder_init(struct stage_folder *f)
{
    *f = (struct stage_folder){.mapm = -1, .stage = -1};
    for (size_t i = 0; i < STAGE_SPARE_COUNT; i++)
        f->spare[i] = -1;
}

void stage_folder_release(struct stage_folder *f)
{
    for (size_t i = 0; i < STAGE_SPARE_COUNT; i++)
        fs_close(&f->spare[i]);
}

void stage_folder_close(struct stage_folder *f)
{
    stage_folder_release(f);
    fs_close(&f->stage);
    fs_close(&f->mapm);
}

bool stage_folder_open(int root, struct stage_folder *f, struct err *e)
{
    f->made_agents = !fs_exists_at(root, ".agents");
    f->made_mapm = !fs_exists_at(root, STATE_FOLDER);
    if (!fs_make_dirs_at(root, STATE_FOLDER, 0755, e) ||
        !fs_open_dir_at(root, STATE_FOLDER, &f->mapm, e))
        return false;
    fs_repair_at(f->mapm, "state", S_IFREG, 0644);
    fs_repair_at(f->mapm, "backup", S_IFDIR, 0700);
    f->made_ignore = !fs_exists_at(f->mapm, ".gitignore");
    return !f->made_ignore ||
           fs_create_at(f->mapm, ".gitignore", 0644, STR("*\n"), e);
}

bool stage_folder_open_stage(struct stage_folder *f, struct arena *a,
                             struct err *e)
{
    uint64_t random;

    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        return err_errno(e, "draw a random number");
    f->name = arena_printf(a, "stage-%016llx", (unsigned long long)random);
    if (mkdirat(f->mapm, f->name.p, 0755) < 0)
        return err_errno(e, "create " STATE_FOLDER "/%s", f->name.p);
    if (!fs_open_dir_at(f->mapm, f->name.p, &f->stage, e))
        return false;
    f->exact_modes = stages_has_exact_modes(f->stage);
    for (size_t i = 0; i < STAGE_SPARE_COUNT; i++)
        if ((f->spare[i] = fcntl(f->stage, F_DUPFD_CLOEXEC, 0)) < 0)
            return err_errno(e, "keep a descriptor in reserve");
    return true;
}

void stage_folder_remove_stage(struct stage_folder *f)
{
    struct err ignored = {0};

    stage_folder_release(f);
    fs_close(&f->stage);
    /* Removing an empty stage needs no descriptor. Anything left is removed by
     * the next command. */
    if (f->name.p && unlinkat(f->mapm, f->name.p, AT_REMOVEDIR) < 0 &&
        !fs_remove_tree_at(f->mapm, f->name.p, &ignored))
        return;
}

void stage_folder_undo(int root, struct stage_folder *f)
{
    struct stat st;

    if (f->mapm >= 0 && fs_stat_at(f->mapm, "journal", &st) &&
        S_ISREG(st.st_mode))
        return; /* the next command continues there */
    if (f->mapm >= 0 && f->made_ignore)
        unlinkat(f->mapm, ".gitignore", 0);
    if (f->made_mapm)
        unlinkat(root, STATE_FOLDER, AT_REMOVEDIR);
    if (f->made_agents)
        unlinkat(root, ".agents", AT_REMOVEDIR);
}

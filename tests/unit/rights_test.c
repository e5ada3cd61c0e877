#include "base/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../fetch/worker/rights.h"
#include "tap.h"

/* What mapm-fetch gives up: [F2, row 14]; THREATS 1.2. */

#define FILE_MAX 1000

static char folder[] = "/tmp/mapm-rights-test-XXXXXX";

/* 0, or which of these was not so. */
static int look(void)
{
    char bytes[FILE_MAX + 1];
    struct settings none = {0};
    struct rlimit limit;
    struct err e = {0};
    int fd;

    memset(bytes, 'x', sizeof bytes);
    signal(SIGXFSZ, SIG_IGN);
    if (chdir(folder) < 0 || !rights_give_up(&none, folder, FILE_MAX, &e))
        return 1;
    if (getrlimit(RLIMIT_FSIZE, &limit) < 0 || limit.rlim_cur != FILE_MAX ||
        limit.rlim_max != FILE_MAX)
        return 2;
    if (getrlimit(RLIMIT_CORE, &limit) < 0 || limit.rlim_max != 0)
        return 3;
    fd = open("file", O_WRONLY | O_CREAT, 0600);
    if (fd < 0 || write(fd, bytes, FILE_MAX) != FILE_MAX)
        return 4;
    if (write(fd, bytes, 1) >= 0 || errno != EFBIG)
        return 5;
    if (confine_landlock_abi() && (open("/etc/shadow", O_RDONLY) >= 0 ||
                                   open("../x", O_CREAT, 0600) >= 0))
        return 6;
    return 0;
}

TEST(a_worker_writes_no_file_beyond_its_limit)
{
    int status = -1;
    pid_t child;

    CHECK(mkdtemp(folder) != NULL);
    child = fork();
    if (child == 0)
        _exit(look());
    waitpid(child, &status, 0);
    CHECK(status == 0);
    if (status)
        printf("# status %x\n", (unsigned)status);
    CHECK(chdir(folder) == 0 && unlink("file") == 0 && rmdir(folder) == 0);
}

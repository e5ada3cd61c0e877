#include "base/arena.h"
#include "base/confine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../sandbox_helper.h"

/* Implements mapm-cage, see sandbox_helper.h. The caller has cleaned the
 * environment and the descriptors; this program has no secrets and makes no
 * decisions. */

struct request {
    struct confine_rules rules;
    bool alone, open;
    char **program; /* path of the program, then its argv, terminated by NULL */
};

static NORETURN void fail(const char *what, const char *why)
{
    const struct str parts[] = {
        {HELPER_FAILED, sizeof HELPER_FAILED - 1},
        {what, strlen(what)},
        STR_INIT(": "),
        {why, strlen(why)},
        STR_INIT("\n"),
    };

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (write(STDOUT_FILENO, parts[i].p, parts[i].n) < 0)
            break;
    _exit(HELPER_EXIT);
}

static void read_request(int argc, char **argv, struct request *r)
{
    size_t room = (size_t)argc + 1;
    const char **read = heap_alloc(room * sizeof *read);
    const char **exec = heap_alloc(room * sizeof *exec);
    const char **write = heap_alloc(room * sizeof *write);
    struct confine_rules *rules = &r->rules;
    uint64_t number = 0;
    int option;

    while ((option = getopt(argc, argv, "+r:x:w:p:nao")) != -1) {
        switch (option) {
        case 'r':
            read[rules->read_count++] = optarg;
            break;
        case 'x':
            exec[rules->exec_count++] = optarg;
            break;
        case 'w':
            write[rules->write_count++] = optarg;
            break;
        case 'p':
            if (!str_number(str_cstr(optarg), UINT32_MAX, &number))
                fail(optarg, "not a number");
            rules->max_processes = number;
            break;
        case 'n':
            rules->network = true;
            break;
        case 'a':
            r->alone = true;
            break;
        case 'o':
            r->open = true;
            break;
        default:
            fail("usage", "see sandbox_helper.h");
        }
    }
    rules->read_paths = read;
    rules->exec_paths = exec;
    rules->write_paths = write;
    r->program = argv + optind;
}

static void restrict_self(struct request *r)
{
    struct confine_done done = {0};
    struct err e = {0};

    r->rules.calls = r->open ? CONFINE_CALLS_ANY : CONFINE_CALLS_COMMAND;
    r->rules.least_abi = r->open ? INT32_MAX : r->alone ? HELPER_ALONE_ABI : 2;
    r->rules.max_file_bytes = HELPER_MAX_FILE_BYTES;
    if (!confine_self(&r->rules, &done, &e))
        fail("cannot set up the isolation", err_first(&e));
    if (r->alone && (done.landlock_abi < HELPER_ALONE_ABI || !done.seccomp))
        fail("cannot set up the isolation", "Landlock and seccomp are needed");
}

int main(int argc, char **argv)
{
    struct request r = {0};

    read_request(argc, argv, &r);
    syscall(SYS_close_range, 3U, ~0U, 0U);
    restrict_self(&r);
    if (r.program[0] && !r.program[1])
        fail("usage", "see sandbox_helper.h");
    if (write(STDOUT_FILENO, HELPER_READY, sizeof HELPER_READY - 1) < 0)
        return HELPER_EXIT;
    if (!r.program[0])
        return 0;
    execv(r.program[0], r.program + 1);
    fail(r.program[0], strerror(errno));
}

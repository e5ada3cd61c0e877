#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Which functions of a program ran: tools/mutants links this into a build with
 * -finstrument-functions, so that a mutant meets only the tests that enter its
 * function.
 *
 * One byte for each address of the program, in ENTERED_DIR/NAME, where NAME is that
 * of the program: 1 at the beginning of a function that was entered. The file is
 * mapped before main, so that a process that confines itself, ends by _exit or is
 * killed needs no system call to leave its record.
 */

extern const char __executable_start, etext;
void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

static uint8_t *entered;

__attribute__((constructor)) static void map_record(void)
{
    size_t size = (size_t)(&etext - &__executable_start);
    char program[512] = "", path[1024];
    const char *name;
    void *map;
    int fd;

    if (readlink("/proc/self/exe", program, sizeof program - 1) <= 0)
        return;
    name = strrchr(program, '/');
    snprintf(path, sizeof path, "%s/%s", ENTERED_DIR,
             name ? name + 1 : program);
    fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0)
        return;
    fchmod(fd, 0666);
    if (ftruncate(fd, (off_t)size) == 0) {
        map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        entered = map == MAP_FAILED ? NULL : map;
    }
    close(fd);
}

void __cyg_profile_func_enter(void *function, void *caller)
{
    size_t at = (size_t)((const char *)function - &__executable_start);

    (void)caller;
    if (entered && at < (size_t)(&etext - &__executable_start))
        entered[at] = 1;
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function;
    (void)caller;
}

#include "rights.h"

#include "base/confine.h"

#include <netdb.h>
#ifdef MAPM_STATIC
#    include <nss.h>
#endif
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#define DATA_MAX_BYTES (4ull << 30)
#define FILES_MAX      1024

/* Files that name resolution and TLS read on various distributions. */
static const char *const readable[] = {
    "/etc/resolv.conf",
    "/etc/hosts",
    "/etc/host.conf",
    "/etc/nsswitch.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/ssl",
    "/etc/pki",
    "/etc/ca-certificates",
    "/etc/crypto-policies",
    "/usr/lib",
    "/usr/lib64",
    "/usr/local/lib",
    "/lib",
    "/lib64",
    "/usr/share/ca-certificates",
    "/usr/local/share/ca-certificates",
    "/run/systemd/resolve",
    "/run/resolvconf",
    "/run/NetworkManager",
    "/dev/null",
    "/dev/urandom",
};

#if defined(__SANITIZE_ADDRESS__)
#    define MEMORY_IS_BOUNDED false
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define MEMORY_IS_BOUNDED false
#    endif
#endif
#ifndef MEMORY_IS_BOUNDED
#    define MEMORY_IS_BOUNDED true
#endif

/* Loads the libraries of name resolution, which would otherwise be loaded at
 * its first use, when access may be denied. "localhost" needs no server. A
 * static program contains /etc/hosts and DNS lookup; other services in
 * nsswitch.conf are libraries for the libc of the machine. */
static void warm_up(void)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;

#ifdef MAPM_STATIC
    __nss_configure_lookup("hosts", "files dns");
#endif
    if (getaddrinfo("localhost", "443", &hints, &found) == 0)
        freeaddrinfo(found);
    tzset();
}

bool rights_give_up(const struct settings *s, const char *write_path,
                    uint64_t max_file_bytes, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t own = sizeof readable / sizeof *readable, folders;
    const char *const *ca = settings_ca_folders(s, &a, &folders);
    const char **paths = arena_array(&a, own + folders, sizeof *paths);
    struct confine_done done;

    memcpy(paths, readable, sizeof readable);
    for (size_t i = 0; i < folders; i++)
        paths[own + i] = ca[i];
    warm_up();
    return confine_self(
               &(struct confine_rules){
                   .read_paths = paths,
                   .read_count = own + folders,
                   .write_paths = &write_path,
                   .write_count = write_path ? 1 : 0,
                   .calls = CONFINE_CALLS_FETCH,
                   .network = true,
                   .max_data_bytes = MEMORY_IS_BOUNDED ? DATA_MAX_BYTES : 0,
                   .max_file_bytes = max_file_bytes,
                   .max_files = FILES_MAX,
               },
               &done, e) ||
           err_wrap(e, "cannot drop rights");
}

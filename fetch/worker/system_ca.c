#include "system_ca.h"

#include "base/fs.h"
#include "mapm/limits.h"

#include <fcntl.h>

#define HASH_CHARS 8

/* Matches names as "002c0b4f.0", by which OpenSSL looks up certificates. */
static bool is_by_hash(struct str name)
{
    if (name.n < HASH_CHARS + 2 || name.p[HASH_CHARS] != '.')
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool is_digit = c >= '0' && c <= '9';

        if (i != HASH_CHARS && !is_digit &&
            (i > HASH_CHARS || c < 'a' || c > 'f'))
            return false;
    }
    return true;
}

static size_t count_links(const struct fs_entry *entries, size_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        n += is_by_hash(entries[i].name);
    return n;
}

static size_t count_certificates(struct str pem)
{
    static const struct str begin = STR_INIT("-----BEGIN ");
    size_t n = 0, at;

    while ((at = str_find(pem, begin)) != SIZE_MAX) {
        pem = str_from_index(pem, at + begin.n);
        n++;
    }
    return n;
}

bool system_ca_is_in_folder(const char *bundle, const char *folder)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct err ignored = {0};
    struct fs_entry *entries;
    struct str pem;
    size_t count, certificates;

    if (!bundle || !folder ||
        !fs_list_at(AT_FDCWD, folder, CA_MAX_FILES, &a, &entries, &count,
                    &ignored) ||
        !fs_read_user_file(bundle, CA_MAX_BYTES, &a, &pem, &ignored))
        return false;
    certificates = count_certificates(pem);
    return certificates && certificates == count_links(entries, count);
}

const char *system_ca_bundle(const char *bundle)
{
    static const char *const others[] = {
        "/etc/ssl/certs/ca-certificates.crt", /* Debian, Arch, Alpine */
        "/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora */
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/ca-bundle.pem", /* openSUSE */
        "/etc/ssl/cert.pem",
    };

    if (!bundle || fs_exists_at(AT_FDCWD, bundle))
        return bundle;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (fs_exists_at(AT_FDCWD, others[i]))
            return others[i];
    return bundle;
}

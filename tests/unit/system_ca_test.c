/* [F9, row 13] When the folder of certificates stands for the bundle. */

#include "base/fs.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../fetch/worker/system_ca.h"
#include "tap.h"

static const char pem[] = "# one\n-----BEGIN CERTIFICATE-----\nMA==\n"
                          "-----END CERTIFICATE-----\n";

static void write_file(const char *folder, const char *name, unsigned times)
{
    char path[256];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    f = fopen(path, "we");
    for (unsigned i = 0; i < times; i++)
        fputs(pem, f);
    fclose(f);
}

TEST(the_folder_has_all_of_the_bundle)
{
    static const struct {
        const char *links[4];
        unsigned certificates;
        bool is_in_folder;
    } rows[] = {
        {{"0a1b2c3d.0", "00000000.0"}, 2, true},
        {{"0a1b2c3d.0", "0a1b2c3d.1"}, 2, true},
        {{"0a1b2c3d.0", "00000000.10", "own.pem"}, 2, true},
        {{"0a1b2c3d.0"}, 2, false}, /* one was added by hand */
        {{"0a1b2c3d.0", "00000000.0", "00000001.0"}, 2, false},
        {{"own.pem", "other.crt"}, 2, false}, /* no links by hash */
        {{"0A1B2C3D.0"}, 1, false},
        {{"0a1b2c3g.0"}, 1, false},
        {{"0a1b2c3d.r0"}, 1, false}, /* of revoked ones */
        {{"0a1b2c3d."}, 1, false},
        {{"0a1b2c3d0"}, 1, false},
        {{NULL}, 0, false},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char folder[] = "/tmp/mapm-ca.XXXXXX", bundle[64];
        struct err e = {0};

        CHECK(mkdtemp(folder) != NULL);
        write_file(folder, "bundle.crt", rows[i].certificates);
        for (size_t k = 0; k < 4 && rows[i].links[k]; k++)
            write_file(folder, rows[i].links[k], 1);
        snprintf(bundle, sizeof bundle, "%s/bundle.crt", folder);
        CHECK(system_ca_is_in_folder(bundle, folder) == rows[i].is_in_folder);
        CHECK(fs_remove_tree_at(AT_FDCWD, folder, &e));
        CHECK(!system_ca_is_in_folder(bundle, folder));
    }
}

/* [S7] A program that brings its libraries finds this machine's authorities. */
TEST(a_bundle_elsewhere_stands_for_one_that_is_missing)
{
    const char *found = system_ca_bundle("/nowhere/ca.crt");

    CHECK(system_ca_bundle(NULL) == NULL);
    CHECK(strcmp(system_ca_bundle("/dev/null"), "/dev/null") == 0);
    CHECK(strcmp(found, "/nowhere/ca.crt") == 0 || access(found, F_OK) == 0);
}

TEST(what_is_not_there_is_no_folder)
{
    CHECK(!system_ca_is_in_folder(NULL, "/etc"));
    CHECK(!system_ca_is_in_folder("/dev/null", NULL));
    CHECK(!system_ca_is_in_folder("/dev/null", "/nowhere"));
    CHECK(!system_ca_is_in_folder("/nowhere", "/"));
}

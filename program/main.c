#include "base/path.h"
#include "mapm/cli.h"
#include "mapm/libmapm_engine.h"

/* One file on disk for two programs that consist of the same code: mapm-engine
 * is a link to mapm. */
int main(int argc, char **argv)
{
    bool is_engine =
        argc > 0 && str_is(path_last(str_cstr(argv[0])), "mapm-engine");

    return is_engine ? libmapm_engine_main() : cli_main(argc, argv);
}

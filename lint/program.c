#include "program.h"

#include "mapm/diagnostics.h"
#include "mapm/document.h"
#include "mapm/metaskill.h"

void check_program(const struct manifest_input *in, const struct document *d,
                   struct diagnostics *why)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct diagnostics found;
    struct str program;

    if (!d->metaskill || !in->files ||
        in->files->read(in->files->ctx, d->program, PROGRAM_MAX_BYTES, &scratch,
                        &program) != MANIFEST_FILE_OK)
        return;
    diagnostics_init(&found, &scratch);
    metaskill_check_program(d->program, program, &found);
    diagnostics_grade(in, &found, why);
}

#include "base/text.h"
#include "mapm/library.h"

#define NEAR_MAX_EDITS 2

bool library_suggest(const struct library *l, struct str name, struct err *e)
{
    struct text_nearest near = {0};

    if (e->code != ERR_NOT_FOUND || library_find(l, name))
        return false;
    for (size_t i = 0; i < library_count(l); i++)
        text_nearest_add(&near, name, library_at(l, i)->name, NEAR_MAX_EDITS);
    if (near.count)
        return err_hint(e, "did you mean %.*s?", STR_ARG(near.found[0]));
    return err_hint(e, "mapm skill list shows what is there");
}

#include "mapm/install_query.h"

#include "engine.h"

bool engine_verify(struct engine *g, const struct wire_call *c, struct err *e)
{
    static const char *const sides[INSTALL_SIDE_COUNT] = {
        [INSTALL_SIDE_WORKSPACE] = "workspace",
        [INSTALL_SIDE_EXTRA] = "workspace",
        [INSTALL_SIDE_MANIFEST] = "manifest",
        [INSTALL_SIDE_LOCK] = "lock",
        [INSTALL_SIDE_PROOF] = "proof",
        [INSTALL_SIDE_STORE] = "store",
        [INSTALL_SIDE_REMOTE] = "remote",
    };
    struct install_verification v;
    struct mapm_finding *list;

    if (!install_verify(&g->cx, c->flag, &v, e))
        return false;
    list = arena_array(&g->cx.arena, v.count + 1, sizeof *list);
    for (size_t i = 0; i < v.count; i++)
        list[i] = (struct mapm_finding){
            .side = sides[v.differences[i].side],
            .path = engine_text(g, v.differences[i].path),
            .how = v.differences[i].how,
        };
    return engine_send(g, WIRE_RESULT, WIRE_FINDING, list, v.count, e);
}

#include "wire.h"

/* Phrases in error messages of servers that tell how to react. */
/* clang-format off */
static const struct {
    const char *words;
    enum wire_fault fault;
} sayings[] = {
    {"temporarily limiting", WIRE_BUSY},
    {"rate limit",           WIRE_BUSY},
    {"retry later",          WIRE_BUSY},
    {"not our ref",          WIRE_NO_OBJECT},
    {" not valid",           WIRE_NO_WANT}, /* JGit: "want … not valid" */
    {"filter '",             WIRE_NO_FILTER},
    {"tree filter",          WIRE_NO_FILTER},
    {"filtering not",        WIRE_NO_FILTER},
};
/* clang-format on */

enum wire_fault wire_classify(struct str words)
{
    for (size_t i = 0; i < sizeof sayings / sizeof *sayings; i++) {
        if (str_find(words, str_cstr(sayings[i].words)) != SIZE_MAX)
            return sayings[i].fault;
    }
    return WIRE_REMOTE;
}

bool wire_fail(enum wire_fault *fault, enum wire_fault why)
{
    *fault = why;
    return false;
}

bool wire_not_git(enum wire_fault *fault, const char *what, struct err *e)
{
    err_set(e, ERR_FETCH, "not a git server: %s", what);
    return wire_fail(fault, WIRE_NOT_GIT);
}

bool wire_next(struct pkt_reader *r, struct str *bytes, struct pkt *out,
               enum wire_fault *fault, struct err *e)
{
    if (!pkt_read(r, bytes, out, e))
        return wire_fail(fault, WIRE_NOT_GIT);
    if (out->kind == PKT_DATA && str_starts(out->data, STR("ERR "))) {
        struct str words = str_from_index(out->data, 4);

        pkt_remote_error(words, e);
        return wire_fail(fault, wire_classify(words));
    }
    return true;
}

bool wire_not_whole(const struct pkt_reader *r, enum wire_fault *fault,
                    struct err *e)
{
    if (*fault != WIRE_OK)
        return err_set(e, ERR_FETCH, "invalid response");
    if (!r->any) {
        err_set(e, ERR_FETCH, "the server's answer is empty");
        return wire_fail(fault, WIRE_EMPTY);
    }
    err_set(e, ERR_FETCH, "the server's answer ends early");
    return wire_fail(fault, WIRE_CUT);
}

#include "base/text.h"
#include "mapm/authorize.h"
#include "mapm/host_config.h"
#include "mapm/well_known.h"

/* Decides which hosts may serve skills of an index and their artifacts:
 * hosts in the user's config.yaml and those that the user confirmed on this
 * machine. */

struct trust_request authorize_request_index_host(struct str host,
                                                  struct arena *a)
{
    return (struct trust_request){.kind = STATE_TRUST_INDEX,
                                  .subject = str_lower(host, a)};
}

/* Returns true if the host is configured and its item allows the port. */
static bool is_configured(const struct origin *o,
                          const struct origin_rules *rules)
{
    return host_config_find(o->host, rules->hosts, rules->host_count) &&
           origin_host_is_known(o, rules);
}

static bool refuse(struct str host, struct str what, struct err *e)
{
    err_set(e, ERR_REFUSED,
            "%.*s: its host %.*s is neither in your own configuration nor "
            "trusted on this machine",
            STR_ARG(what), STR_ARG(host));
    return err_hint(e, "if you trust it: mapm trust --index %.*s",
                    STR_ARG(host));
}

bool authorize_index_host(struct context *cx, struct store *store,
                          const struct origin_rules *rules, struct str url,
                          struct str what, bool *is_public, struct err *e)
{
    struct arena *a = &cx->arena;
    struct str host = str_lower(well_known_host(url), a);
    struct trust_request q = authorize_request_index_host(host, a);
    enum trust_state state;
    struct origin o = {.transport = HOST_OVER_HTTPS};
    struct str question;
    bool yes = false;

    if (!well_known_read_host(host, &o.host, &o.port))
        return err_set(e, ERR_ORIGIN, "\"%.*s\" is not a host", STR_ARG(host));
    *is_public = !is_configured(&o, rules) && !origin_host_is_loopback(o.host);
    if (is_configured(&o, rules))
        return true;
    if (!authorize_trust(cx, store, &q, &state, e))
        return false;
    if (state == TRUST_GIVEN)
        return true;
    if (!context_can_ask(cx))
        return refuse(host, what, e);
    question = arena_printf(
        a,
        "%.*s comes from %.*s, which is new. Let skills of an index come "
        "from there, from now on?",
        STR_ARG(what), STR_ARG(host));
    if (!context_confirm(cx, QUESTION_TRUST, question.p, &yes, e))
        return false;
    return yes ? authorize_put(cx, store, &q, e) : refuse(host, what, e);
}

#include "base/proc.h"
#include "mapm/fetch.h"

#define HTTP_NOT_MODIFIED 304 /* may have an address, but does not lead there */

/* Follow redirects only to the same host, and never from https to http. */
static bool may_follow(struct str from, struct str to)
{
    return str_eq_nocase(well_known_host(from), well_known_host(to)) &&
           (str_starts(to, STR("https:")) || str_starts(from, STR("http:")));
}

bool fetch_document(const struct fetch_document *in, struct arena *a,
                    struct str *url, struct fetch_reply *out, struct err *e)
{
    struct str headers[2];
    struct fetch_post get = {.is_get = true,
                             .url = in->url,
                             .headers = headers,
                             .max_bytes = in->max_bytes,
                             .public_only = in->public_only};

    if (in->accept.n)
        headers[get.header_count++] = in->accept;
    if (in->condition.n)
        headers[get.header_count++] = in->condition;
    get.deadline_ms = proc_now_ms() + AGENT_INDEX_MAX_SECONDS * 1000;
    for (size_t i = 0; i <= AGENT_INDEX_MAX_REDIRECTS; i++) {
        if (!fetch_post(&get, a, out, e))
            return false;
        *url = get.url;
        if (out->status == HTTP_NOT_MODIFIED)
            out->location = str_make("", 0);
        if (out->location.n == 0 || !may_follow(get.url, out->location))
            return true;
        get.url = out->location;
    }
    return err_set(e, ERR_FETCH, "more than %d redirects",
                   AGENT_INDEX_MAX_REDIRECTS);
}

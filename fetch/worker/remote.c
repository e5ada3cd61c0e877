#include "base/proc.h"

#include <string.h>
#include <time.h>

#include "known_move.h"
#include "session.h"

#define REDIRECTS_MAX     5
#define RETRY_AFTER_MAX_S 60 /* for longer delays the user decides */
#define STATUS_SIGN_IN    203

static const char *shown(const struct exchange *x)
{
    return repo_shown(x->repo);
}

/* --- redirects ------------------------------------------------------------ */

static bool strip_service(const struct exchange *x, struct str *path)
{
    struct str end =
        x->kind == REQUEST_CAPS ? STR("/info/refs") : STR("/git-upload-pack");

    if (!str_ends(*path, end) || path->n == end.n)
        return false;
    path->n -= end.n;
    return true;
}

static struct str drop_git(struct str path)
{
    return str_ends(path, STR(".git")) ? str_slice(path, 0, path.n - 4) : path;
}

static void note_move(struct repo *r, struct str path)
{
    bool is_named =
        r->before.n && !r->is_foreign && str_starts(path, r->before);

    if (!r->kind->keeps_suffix)
        path = drop_git(path);
    r->moved = is_named ? str_from_index(path, r->before.n) : str_make("", 0);
    if (str_eq_nocase(drop_git(r->moved), drop_git(r->name)))
        r->moved = str_make("", 0); /* only ".git" was added */
    path = str_from_index(path, 1);
    if (str_eq_nocase(drop_git(path), drop_git(r->name)))
        return;
    r->moved_to = arena_printf(&r->arena, "%.*s has moved to %.*s",
                               STR_ARG(r->name), STR_ARG(path));
}

/* Redirects to another scheme, host or port are not followed: the user must
 * write the new URL. */
static enum outcome refuse_redirect(struct exchange *x, const struct url *to,
                                    struct err *e)
{
    struct repo *r = x->repo;

    err_set(e, ERR_REFUSED, "%s redirects to another %s, %.*s", shown(x),
            !str_eq(to->host, r->url.host)       ? "host"
            : !str_eq(to->scheme, r->url.scheme) ? "scheme"
                                                 : "port",
            STR_ARG(url_format(to, &r->arena)));
    err_hint(e, "nothing is sent there; if the repository is there now, write "
                "that address in place of the old one");
    return OUTCOME_DEAD;
}

/* Redirects are followed here, not by libcurl: a POST remains a POST, and
 * secrets are not sent elsewhere. */
static enum outcome evaluate_redirect(struct exchange *x, struct err *e)
{
    struct repo *r = x->repo;
    struct url to;

    if (++r->redirects > REDIRECTS_MAX) {
        err_set(e, ERR_FETCH, "%s redirects in a circle", shown(x));
        return OUTCOME_DEAD;
    }
    if (!url_parse(x->call.location, &r->arena, &to) ||
        !strip_service(x, &to.path)) {
        err_set(e, ERR_FETCH, "HTTP %ld from %s leads to no repository",
                x->call.status, shown(x));
        return OUTCOME_DEAD;
    }
    if (!url_same_place(&to, &r->url)) {
        if (!known_move(r->kind, &r->url, &to))
            return refuse_redirect(x, &to, e);
        r->is_foreign = true;
        r->secret = (struct secret){0};
    }
    to.user = to.password = str_make("", 0);
    if (!str_eq_nocase(drop_git(to.path), drop_git(r->url.path))) {
        note_move(r, to.path);
        if (r->place->secrets_of_paths) { /* valid for the old path only */
            r->secret = (struct secret){0};
            r->tried = 0;
        }
    }
    r->url = to;
    place_set(r);
    repo_join(r);
    return OUTCOME_AGAIN;
}

/* --- credentials ---------------------------------------------------------- */

static bool is_same_secret(const struct secret *x, const struct secret *y)
{
    return x->source && y->source && strcmp(x->source, y->source) == 0 &&
           str_eq(x->password, y->password) && str_eq(x->user, y->user);
}

/* Uses the credential that the checkout or git's helpers have for this
 * repository. */
static bool find_secret_of_path(struct exchange *x, bool *found, struct err *e)
{
    struct repo *r = x->repo;
    struct session *s = r->session;
    bool of_path;

    if (r->tried < SECRET_CHECKOUT)
        r->tried = SECRET_CHECKOUT;
    if (r->secret.source == NULL || is_same_secret(&r->secret, &x->secret)) {
        if (!secrets_next(&s->secrets, &s->link, &r->url, &r->tried, &r->arena,
                          &r->secret, &of_path, e))
            return false;
    }
    *found = r->secret.source != NULL;
    return true;
}

/* Uses the credential of another repository of the host, or continues the
 * search. Sets `*found` to false if there is none. */
static bool find_secret(struct exchange *x, bool *found, struct err *e)
{
    struct repo *r = x->repo;
    struct session *s = r->session;
    struct place *p = r->place;

    *found = false;
    if (r->is_foreign)
        return true;
    if (p->secrets_of_paths)
        return find_secret_of_path(x, found, e);
    if (p->secret.source == NULL || is_same_secret(&p->secret, &x->secret)) {
        if (!secrets_next(&s->secrets, &s->link, &r->url, &p->tried, &s->arena,
                          &p->secret, &p->secrets_of_paths, e))
            return false;
    }
    *found = p->secret.source != NULL;
    if (*found)
        r->secret = p->secret;
    if (p->secrets_of_paths) {
        r->tried = p->tried;
        p->secret = (struct secret){0};
    }
    return true;
}

static const char *way_in(struct repo *r)
{
    return str_dup0(secrets_way_in(&r->session->secrets, &r->url, &r->arena),
                    &r->arena);
}

/*
 * Hosts send 401, 403 or 404 for a repository that is private, absent, or
 * hidden from this token, and differ in their choice. So one message covers
 * all, and names the credential that was sent or could be.
 */
static void refuse_access(const struct exchange *x, struct err *e)
{
    struct repo *r = x->repo;
    const char *source = x->secret.source;
    enum err_code code = x->call.status == 404 ? ERR_NOT_FOUND : ERR_AUTH;

    if (x->call.status == 401 && source) {
        err_set(e, code, "HTTP 401 from %s: %s was not accepted", shown(x),
                source);
        err_hint(e,
                 "check the name, and renew or remove the token or password"
                 "%s%.*s",
                 r->refused.n ? "; refused before it: " : "",
                 STR_ARG(r->refused));
    } else if (source) {
        err_set(e, code,
                "HTTP %ld from %s: there is no such repository, or %s may not "
                "read it",
                x->call.status, shown(x), source);
        err_hint(e, "check the name, what the token may read, and its single "
                    "sign-on");
    } else {
        err_set(e, code,
                "HTTP %ld from %s: there is no such repository, or it is "
                "private",
                x->call.status, shown(x));
        err_hint(e, "check the name; for a private one %s", way_in(r));
    }
}

/* Records the rejected credential for the message, if the next one is rejected,
 * too. */
static void note_refused(struct exchange *x)
{
    struct repo *r = x->repo;

    if (x->secret.source)
        r->refused =
            arena_join(r->refused, ", ", str_cstr(x->secret.source), &r->arena);
}

static enum outcome evaluate_login(struct exchange *x, struct err *e)
{
    struct repo *r = x->repo;
    struct secret first;
    bool found;

    secrets_first(&r->session->secrets, &r->url, &r->arena, &first);
    if (first.source && is_same_secret(&first, &x->secret)) {
        refuse_access(x, e);
        return OUTCOME_DEAD;
    }
    if (!find_secret(x, &found, e))
        return OUTCOME_GONE;
    if (found) {
        note_refused(x);
        return OUTCOME_AGAIN;
    }
    refuse_access(x, e);
    return OUTCOME_DEAD;
}

/* --- rate limits and busy servers ----------------------------------------- */

enum outcome remote_evaluate_busy(struct exchange *x, struct err *e)
{
    bool found = false;

    if (x->secret.source == NULL && !find_secret(x, &found, e))
        return OUTCOME_GONE;
    if (found)
        return OUTCOME_AGAIN;
    if (x->call.retry_after_s <= RETRY_AFTER_MAX_S)
        return OUTCOME_LATER;
    err_hint(e, "the server asks to come back in %u seconds",
             x->call.retry_after_s);
    return OUTCOME_DEAD;
}

/* Returns "2026-11-22 15:04:05 UTC". gmtime_r would read the time zone file,
 * to which this process has no access. Algorithm: Howard Hinnant,
 * civil_from_days. */
static struct str format_utc(uint64_t s, struct arena *a)
{
    uint64_t z = s / 86400 + 719468, day = z % 146097;
    uint64_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    uint64_t of_year = day - (365 * year + year / 4 - year / 100);
    uint64_t month = (5 * of_year + 2) / 153;
    uint64_t of_month = of_year - (153 * month + 2) / 5 + 1;

    year += 400 * (z / 146097) + (month >= 10);
    month = month < 10 ? month + 3 : month - 9;
    return arena_printf(a, "%04u-%02u-%02u %02u:%02u:%02u UTC", (unsigned)year,
                        (unsigned)month, (unsigned)of_month,
                        (unsigned)(s / 3600 % 24), (unsigned)(s / 60 % 60),
                        (unsigned)(s % 60));
}

/* The rate limit of the host is exhausted until rate_reset_s. */
static enum outcome evaluate_rate_limit(struct exchange *x, struct err *e)
{
    struct arena *a = &x->repo->arena;
    uint64_t now = (uint64_t)time(NULL), reset = x->call.rate_reset_s;
    uint64_t wait = reset > now ? reset - now : 0;
    struct str until = reset ? format_utc(reset, a) : str_make("", 0);
    bool found = false;

    if (x->secret.source == NULL && !find_secret(x, &found, e))
        return OUTCOME_GONE;
    if (found)
        return OUTCOME_AGAIN;
    err_set(e, ERR_FETCH, "HTTP %ld from %s: rate limit exceeded%s%.*s%s%s",
            x->call.status, shown(x), reset ? ", until " : "", STR_ARG(until),
            x->secret.source ? ", for " : "",
            x->secret.source ? x->secret.source : "");
    if (wait < x->call.retry_after_s)
        wait = x->call.retry_after_s;
    if (wait <= RETRY_AFTER_MAX_S) {
        x->call.retry_after_s = (unsigned)wait;
        return OUTCOME_LATER;
    }
    err_hint(e, "%s%stry again %s", x->secret.source ? "" : way_in(x->repo),
             x->secret.source ? "" : " for a higher limit, or ",
             reset ? "after that" : "later");
    return OUTCOME_DEAD;
}

static bool is_page(const struct exchange *x)
{
    return str_starts(x->call.type, STR("text/html"));
}

/* Azure DevOps responds to an invalid token with a sign-in page. */
static enum outcome evaluate_sign_in(struct exchange *x, struct err *e)
{
    enum outcome v = evaluate_login(x, e);

    if (v != OUTCOME_DEAD)
        return v;
    err_set(
        e, ERR_AUTH,
        "HTTP %ld from %s: a page to sign in, in place of git's answer%s%s%s",
        x->call.status, shown(x), x->secret.source ? "; " : "",
        x->secret.source ? x->secret.source : "",
        x->secret.source ? " was not accepted" : "");
    err_hint(e, "%s", way_in(x->repo));
    return v;
}

/* Returns whether a server without version 2 may respond with this status. */
static bool is_no_v2(long status)
{
    return status == 400 || status == 404 || status == 405 || status == 415 ||
           status == 501;
}

static enum outcome evaluate_status(struct exchange *x, struct err *e)
{
    long status = x->call.status;

    if (status == 301 || status == 302 || status == 307 || status == 308)
        return evaluate_redirect(x, e);
    if (status == 401)
        return evaluate_login(x, e);
    /* Dumb servers send 404, too. */
    if (is_no_v2(status) && exchange_was_refused(x))
        return OUTCOME_AGAIN;
    if (status == 404) {
        refuse_access(x, e);
        return OUTCOME_DEAD;
    }
    if ((status == 403 || status == 429) && x->call.is_rate_limited)
        return evaluate_rate_limit(x, e);
    if (status == 403 && x->call.retry_after_s == 0)
        return evaluate_login(x, e);
    if (status == STATUS_SIGN_IN && is_page(x))
        return evaluate_sign_in(x, e);
    err_set(e, ERR_FETCH, "HTTP %ld from %s%s", status, shown(x),
            is_page(x) ? ", with a page in place of git's answer" : "");
    if (status == 403 || status == 429)
        return remote_evaluate_busy(x, e);
    return status >= 500 ? remote_evaluate_busy(x, e) : OUTCOME_DEAD;
}

/* --- responses of other types --------------------------------------------- */

/* Returns whether it is a file without an ending, as web servers send it. */
static bool is_file(const struct exchange *x)
{
    return x->call.type.n == 0 || str_starts(x->call.type, STR("text/plain")) ||
           str_find(x->call.type, STR("/octet-stream")) != SIZE_MAX;
}

static enum outcome evaluate_page(const struct exchange *x, struct err *e)
{
    if (x->kind == REQUEST_CAPS && is_file(x)) {
        err_set(e, ERR_FETCH,
                "%s is a \"dumb\" server: files without git's smart protocol",
                shown(x));
        err_hint(e, "it has to be served by git http-backend or the like");
    } else {
        err_set(e, ERR_FETCH, "%s is not a git server: it sent %s%.*s",
                shown(x), x->call.type.n ? "" : "no type of content",
                STR_ARG(x->call.type));
        err_hint(e,
                 "the login page of a network may have answered; or "
                 "the host wants one: %s",
                 way_in(x->repo));
    }
    return OUTCOME_DEAD;
}

enum outcome remote_evaluate(struct exchange *x, bool is_git, struct err *e)
{
    if (x->call.failure != 0 && !x->call.is_page_cut &&
        x->why.code == ERR_NONE) {
        http_fail(&x->call, e);
        err_wrap(e, "cannot reach %s", shown(x));
        if (!e->hint[0])
            err_hint(e, "check the connection and the proxy; --offline takes "
                        "what the store holds");
        return http_may_retry(&x->call) ? OUTCOME_LATER : OUTCOME_DEAD;
    }
    if (x->call.status != HTTP_STATUS_OK)
        return evaluate_status(x, e);
    return is_git ? OUTCOME_OK : evaluate_page(x, e);
}

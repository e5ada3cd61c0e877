#include "ssh_failure.h"

#include "base/text.h"

#define SSH_OWN_CODE       255
#define LINE_MAX_BYTES     300
#define NO_PROGRAM_CODE    127 /* exit code of a shell, remote or local */
#define UNPRINTABLE_BEFORE 0x20

enum hint {
    HINT_NONE,
    HINT_KNOW,
    HINT_CHANGED,
    HINT_KEY,
    HINT_IDENTITIES,
    HINT_NAME,
    HINT_CONFIG,
    HINT_CONNECTION,
};

/* clang-format off */
static const struct row {
    const char *words; /* text to find in stderr */
    bool is_own;       /* printed by ssh itself, not by the server */
    enum err_code code;
    bool may_retry;
    const char *message; /* followed by the host */
    enum hint hint;
} rows[] = {
    {"REMOTE HOST IDENTIFICATION HAS CHANGED", true, ERR_FETCH, false,
     "not the host key that ssh knows:", HINT_CHANGED},
    {"Host key verification failed", true, ERR_FETCH, false,
     "ssh does not know the host key of", HINT_KNOW},
    {"Too many authentication failures", true, ERR_AUTH, false,
     "too many keys were offered to", HINT_IDENTITIES},
    {"Permission denied", true, ERR_AUTH, false,
     "no key was accepted by", HINT_KEY},
    {"Could not resolve hostname", true, ERR_HOST, false,
     "no such host:", HINT_NONE},
    {"Bad configuration option", true, ERR_FETCH, false,
     "ssh refuses its configuration for", HINT_CONFIG},
    {"Bad owner or permissions on", true, ERR_FETCH, false,
     "ssh refuses its configuration for", HINT_CONFIG},
    {"Connection refused", true, ERR_FETCH, true,
     "cannot connect to", HINT_CONNECTION},
    {"Connection timed out", true, ERR_FETCH, true,
     "cannot connect to", HINT_CONNECTION},
    {"No route to host", true, ERR_FETCH, true,
     "cannot connect to", HINT_CONNECTION},
    {"Network is unreachable", true, ERR_FETCH, true,
     "cannot connect to", HINT_CONNECTION},
    {"Connection closed by", true, ERR_FETCH, true,
     "the connection was closed by", HINT_CONNECTION},
    {"Connection reset by", true, ERR_FETCH, true,
     "the connection was closed by", HINT_CONNECTION},
    {"git-upload-pack: not found", false, ERR_FETCH, false,
     "there is no git on", HINT_NONE},
    {"git-upload-pack: command not found", false, ERR_FETCH, false,
     "there is no git on", HINT_NONE},
    {"epository not found", false, ERR_NOT_FOUND, false,
     "no such repository, or no key that may read it, on", HINT_NAME},
    {"does not appear to be a git repository", false, ERR_NOT_FOUND, false,
     "no such repository, or no key that may read it, on", HINT_NAME},
    {"could not be found", false, ERR_NOT_FOUND, false,
     "no such repository, or no key that may read it, on", HINT_NAME},
    {"dubious ownership", false, ERR_FETCH, false,
     "the repository belongs to another user on", HINT_NONE},
};
/* clang-format on */

static const struct row *find_row(const struct ssh_failure *f)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].is_own == (f->exit_code == SSH_OWN_CODE) &&
            str_find(f->words, str_cstr(rows[i].words)) != SIZE_MAX)
            return &rows[i];
    return NULL;
}

static bool set_hint(enum hint hint, const struct ssh_failure *f,
                     struct arena *a, struct err *e)
{
    const char *place = ssh_address_place(f->to, a).p;
    const char *login =
        f->to->port
            ? arena_printf(a, "-p %u %.*s%s%.*s", f->to->port,
                           STR_ARG(f->to->user), f->to->user.n ? "@" : "",
                           STR_ARG(f->to->host))
                  .p
            : place;

    switch (hint) {
    case HINT_KNOW:
        return err_hint(e,
                        "run \"ssh -T %s\" once and compare the fingerprint "
                        "with the one that the host publishes",
                        login);
    case HINT_CHANGED:
        return err_hint(
            e, "this may be an attack on the connection: ask the host's "
               "administrator before you change known_hosts");
    case HINT_KEY:
        if (!f->has_agent && !f->may_prompt)
            return err_hint(e,
                            "no ssh agent is running, and nobody can be asked "
                            "for a passphrase: start ssh-agent and ssh-add a "
                            "key; \"ssh -T %s\" shows whether it is accepted",
                            login);
        return err_hint(e, "\"ssh -T %s\" shows whether a key is accepted",
                        login);
    case HINT_IDENTITIES:
        return err_hint(e, "in ~/.ssh/config, name the key for this host by "
                           "IdentityFile, with IdentitiesOnly yes");
    case HINT_NAME:
        return err_hint(e, "check the name, and what the key may read");
    case HINT_CONFIG:
        return err_hint(e, "correct ~/.ssh/config");
    case HINT_CONNECTION:
        return err_hint(e, "check the connection; --offline takes what the "
                           "store holds");
    case HINT_NONE:
        break;
    }
    return false;
}

/* --- stderr --------------------------------------------------------------- */

/* Removes control and invisible characters. */
static struct str clean(struct str line, struct arena *a)
{
    CLEANUP(buf_done) struct buf b;
    size_t at = 0;

    buf_init(&b, 2 * LINE_MAX_BYTES);
    line = text_cut_bytes(line, LINE_MAX_BYTES);
    while (at < line.n) {
        int32_t c = text_next(line, &at);

        if (c < 0)
            c = '?';
        if (c == '\t')
            c = ' ';
        if (c >= UNPRINTABLE_BEFORE && !(c >= 0x7f && c < 0xa0) &&
            !text_is_hidden(c))
            text_put(&b, c);
    }
    return str_trim(arena_str(a, buf_str(&b)));
}

/* Stores the last lines in `out` and returns their count. */
static size_t last_lines(struct str words, struct arena *a,
                         struct str out[SSH_SHOWN_LINES])
{
    struct str rest = words, line;
    size_t count = 0;

    while (str_line(&rest, &line)) {
        struct str shown = clean(line, a);

        if (shown.n == 0)
            continue;
        if (count == SSH_SHOWN_LINES)
            memmove(out, out + 1, --count * sizeof *out);
        out[count++] = shown;
    }
    return count;
}

static void set(struct err *e, bool *is_first, enum err_code code,
                struct str text)
{
    if (*is_first)
        err_set(e, code, "%.*s", STR_ARG(text));
    else
        err_wrap(e, "%.*s", STR_ARG(text));
    *is_first = false;
}

static struct str headline(const struct ssh_failure *f, const struct row *row,
                           struct arena *a)
{
    struct str place = ssh_address_place(f->to, a);

    switch (f->end) {
    case SSH_NO_ANSWER:
        return arena_printf(a, "no answer from %.*s by ssh within %u seconds",
                            STR_ARG(place), f->seconds);
    case SSH_SILENT:
        return arena_printf(a,
                            "less than 1000 bytes a second came from %.*s by "
                            "ssh, for %u s",
                            STR_ARG(place), f->seconds);
    default:
        break;
    }
    if (row)
        return arena_printf(a, "%s %.*s", row->message, STR_ARG(place));
    if (f->exit_code == NO_PROGRAM_CODE)
        return arena_printf(a,
                            "a program that was to run is missing, here or "
                            "on %.*s",
                            STR_ARG(place));
    if (f->exit_code == 0)
        return arena_printf(a, "%.*s ended the ssh connection early",
                            STR_ARG(place));
    return arena_printf(a, "ssh to %.*s ended with status %d", STR_ARG(place),
                        f->exit_code);
}

bool ssh_explain(const struct ssh_failure *f, struct arena *a, struct err *e)
{
    bool timed_out = f->end == SSH_NO_ANSWER || f->end == SSH_SILENT;
    const struct row *row = timed_out ? NULL : find_row(f);
    enum err_code code = row ? row->code : ERR_FETCH;
    struct str lines[SSH_SHOWN_LINES];
    size_t count = last_lines(f->words, a, lines);
    bool is_first = true;

    /* Errors print the last wrapped message first, so add the lines in
     * reverse. */
    while (count--)
        set(e, &is_first, code,
            arena_printf(a, "ssh: %.*s", STR_ARG(lines[count])));
    set(e, &is_first, code, headline(f, row, a));
    set_hint(row         ? row->hint
             : timed_out ? HINT_CONNECTION
                         : HINT_NONE,
             f, a, e);
    return row ? row->may_retry
               : f->end == SSH_SILENT ||
                     (f->end == SSH_HUNG_UP && f->exit_code == 0);
}

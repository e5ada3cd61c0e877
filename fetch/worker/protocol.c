#include "protocol.h"

#include "mapm/limits.h"

#include <stddef.h>

static bool put_ref(struct ref_list *refs, const struct ref *ref,
                    enum wire_fault *fault, struct err *e)
{
    return ref_list_put(refs, ref, e) || wire_fail(fault, WIRE_LIMIT);
}

/* Matches "name=value", or "name" alone with an empty value. */
static bool is_feature(struct str word, const char *name, struct str *value)
{
    struct str wanted = str_cstr(name);

    if (!str_starts(word, wanted))
        return false;
    *value = str_from_index(word, wanted.n);
    if (value->n == 0)
        return true;
    if (value->p[0] != '=')
        return false;
    *value = str_from_index(*value, 1);
    return true;
}

static bool has_word(struct str list, const char *word)
{
    struct str rest = list, one;

    while (str_cut(&rest, ' ', &one)) {
        if (str_is(one, word))
            return true;
    }
    return false;
}

/* --- capabilities --------------------------------------------------------- */

/* The words of version 0. In the store's format, the first of several words for
 * a capability is used. */
/* clang-format off */
static const struct {
    const char *word;
    size_t offset; /* offset of its member in struct caps */
} cap_words[] = {
    {"shallow",                      offsetof(struct caps, shallow)},
    {"filter",                       offsetof(struct caps, filter)},
    {"allow-any-sha1-in-want",       offsetof(struct caps, any_object)},
    {"allow-reachable-sha1-in-want", offsetof(struct caps, any_object)},
    {"multi_ack",                    offsetof(struct caps, multi_ack)},
    {"multi_ack_detailed",           offsetof(struct caps, multi_ack_detailed)},
    {"no-done",                      offsetof(struct caps, no_done)},
    {"ofs-delta",                    offsetof(struct caps, ofs_delta)},
    {"no-progress",                  offsetof(struct caps, no_progress)},
    {"side-band",                    offsetof(struct caps, side_band)},
    {"side-band-64k",                offsetof(struct caps, side_band_64k)},
};
/* clang-format on */
#define CAP_WORDS (sizeof cap_words / sizeof *cap_words)

static bool *cap_of(struct caps *caps, size_t i)
{
    return (bool *)((char *)caps + cap_words[i].offset);
}

static bool read_word(struct caps *caps, struct str word)
{
    for (size_t i = 0; i < CAP_WORDS; i++)
        if (str_is(word, cap_words[i].word))
            return *cap_of(caps, i) = true;
    return false;
}

bool caps_are_partial(const struct caps *caps)
{
    return caps->filter && caps->any_object;
}

struct str caps_format(const struct caps *caps, struct arena *a)
{
    struct caps left = *caps;
    struct str out = caps->version ? STR("2") : STR("0");

    for (size_t i = 0; i < CAP_WORDS; i++) {
        if (*cap_of(&left, i))
            out = arena_printf(a, "%.*s %s", STR_ARG(out), cap_words[i].word);
        *cap_of(&left, i) = false;
    }
    return arena_str(a, out);
}

bool caps_parse(struct str text, struct caps *out)
{
    struct caps caps = {.ls_refs = true, .fetch = true};
    struct str rest = text, word;

    if (!str_cut(&rest, ' ', &word) ||
        !(str_is(word, "2") || str_is(word, "0")))
        return false;
    caps.version = word.p[0] - '0';
    while (rest.p && str_cut(&rest, ' ', &word))
        if (!read_word(&caps, word))
            return false;
    *out = caps;
    return true;
}

/* --- advertisement -------------------------------------------------------- */

enum advert_state {
    ADVERT_START,   /* expects "# service=…", or "version 2" at once */
    ADVERT_SERVICE, /* expects the flush after the service */
    ADVERT_FIRST,   /* expects "version 2", or the first ref */
    ADVERT_CAPS,    /* in version 2: one capability per line */
    ADVERT_REFS,    /* in version 0: one ref per line */
    ADVERT_ENDED,
};

void advert_init(struct advert *a, struct ref_list *refs, bool service)
{
    *a = (struct advert){.refs = refs,
                         .state = service ? ADVERT_START : ADVERT_FIRST};
    pkt_reader_init(&a->pkt);
}

void advert_done(struct advert *a)
{
    pkt_reader_done(&a->pkt);
}

static void read_cap_v2(struct caps *caps, struct str line)
{
    struct str value;

    if (is_feature(line, "ls-refs", &value)) {
        caps->ls_refs = true;
    } else if (is_feature(line, "fetch", &value)) {
        caps->fetch = true;
        caps->shallow = has_word(value, "shallow");
        caps->filter = has_word(value, "filter");
    } else if (is_feature(line, "object-format", &value)) {
        caps->sha256 = !str_is(value, "sha1");
    }
}

/* Sets `*head` to the branch of "symref=HEAD:refs/heads/main". */
static void read_caps_v0(struct caps *caps, struct str words, struct str *head)
{
    struct str rest = words, word, value;

    while (str_cut(&rest, ' ', &word)) {
        if (is_feature(word, "symref", &value)) {
            if (str_starts(value, STR("HEAD:")))
                *head = str_from_index(value, 5);
        } else if (is_feature(word, "object-format", &value)) {
            caps->sha256 = !str_is(value, "sha1");
        } else {
            read_word(caps, word);
        }
    }
}

/* Parses "<oid> <name>"; a name with "^{}" gives the peeled id of the previous
 * ref. */
static bool read_ref_v0(struct advert *a, struct str line, struct str head,
                        struct err *e)
{
    struct str hex = str_slice(line, 0, OID_HEX_CHARS);
    struct str name = str_from_index(line, OID_HEX_CHARS + 1);
    struct ref ref = {.name = name};
    struct ref_list *refs = a->refs;

    if (str_starts(line, STR("shallow ")) || a->caps.sha256)
        return true; /* the caller refuses a repository of other ids by name */
    if (!oid_parse(hex, &ref.id) || name.n == 0 || line.p[OID_HEX_CHARS] != ' ')
        return wire_not_git(&a->fault, "a line that is no ref", e);
    ref.peeled = ref.id;
    if (str_is(name, "capabilities^{}"))
        return true; /* an empty repository */
    if (str_ends(name, STR("^{}"))) {
        struct ref *last = refs->count ? &refs->items[refs->count - 1] : NULL;

        if (last && str_eq(last->name, str_slice(name, 0, name.n - 3)))
            last->peeled = ref.id;
        return true;
    }
    if (str_is(name, "HEAD"))
        ref.target = head;
    return put_ref(refs, &ref, &a->fault, e);
}

static bool read_first_line(struct advert *a, struct str line, struct err *e)
{
    size_t nul = str_find_char(line, '\0');
    struct str head = {"", 0};

    if (str_is(line, "version 2")) {
        a->caps.version = 2;
        a->caps.any_object = true;
        a->state = ADVERT_CAPS;
        return true;
    }
    if (str_is(line, "version 1"))
        return true; /* continues like version 0 */
    a->state = ADVERT_REFS;
    if (nul == SIZE_MAX)
        return wire_not_git(&a->fault, "refs without capabilities", e);
    read_caps_v0(&a->caps, str_from_index(line, nul + 1), &head);
    return read_ref_v0(a, str_slice(line, 0, nul), head, e);
}

static bool read_advert_line(struct advert *a, struct str line, struct err *e)
{
    switch ((enum advert_state)a->state) {
    case ADVERT_START:
        if (str_is(line, "# service=git-upload-pack")) {
            a->state = ADVERT_SERVICE;
            return true;
        }
        if (!str_starts(line, STR("version ")))
            return wire_not_git(&a->fault, "no announcement of git-upload-pack",
                                e);
        a->state = ADVERT_FIRST;
        return read_first_line(a, line, e);
    case ADVERT_FIRST:
        return read_first_line(a, line, e);
    case ADVERT_CAPS:
        read_cap_v2(&a->caps, line);
        return true;
    case ADVERT_REFS:
        return read_ref_v0(a, line, STR(""), e);
    case ADVERT_SERVICE:
    case ADVERT_ENDED:
        break;
    }
    return wire_not_git(&a->fault, "a line where none belongs", e);
}

/* Refs are kept in memory, so their total size is bounded. */
static bool count_refs(size_t *sum, struct str bytes, enum wire_fault *fault,
                       struct err *e)
{
    *sum += bytes.n;
    if (*sum <= TRANSFER_MAX_REFS_BYTES)
        return true;
    err_set(e, ERR_LIMIT, "the server lists more than %u MiB of refs",
            TRANSFER_MAX_REFS_BYTES >> 20);
    return wire_fail(fault, WIRE_LIMIT);
}

bool advert_feed(struct advert *a, struct str bytes, struct err *e)
{
    struct pkt pkt;

    if (!count_refs(&a->bytes, bytes, &a->fault, e))
        return false;
    while (bytes.n) {
        if (!wire_next(&a->pkt, &bytes, &pkt, &a->fault, e))
            return false;
        if (pkt.kind == PKT_NONE)
            break;
        if (pkt.kind == PKT_DATA) {
            if (!read_advert_line(a, pkt_line(pkt.data), e))
                return false;
        } else if (pkt.kind == PKT_FLUSH && a->state == ADVERT_SERVICE) {
            a->state = ADVERT_FIRST;
        } else if (pkt.kind == PKT_FLUSH &&
                   (a->state == ADVERT_CAPS || a->state == ADVERT_REFS ||
                    a->state == ADVERT_FIRST)) {
            a->state = ADVERT_ENDED;
        } else {
            return wire_not_git(&a->fault, "a mark where none belongs", e);
        }
    }
    return true;
}

bool advert_is_whole(const struct advert *a)
{
    return a->state == ADVERT_ENDED;
}

bool advert_end(struct advert *a, struct err *e)
{
    return advert_is_whole(a) || wire_not_whole(&a->pkt, &a->fault, e);
}

/* --- ls-refs -------------------------------------------------------------- */

static void put_command(struct buf *out, const char *command)
{
    pkt_printf(out, "command=%s\n", command);
    pkt_printf(out, "agent=%s\n", AGENT);
    pkt_printf(out, "object-format=sha1\n");
    pkt_put_delim(out);
}

void ls_refs_request(struct buf *out, const struct str *prefixes, size_t count)
{
    put_command(out, "ls-refs");
    pkt_printf(out, "peel\n");
    pkt_printf(out, "symrefs\n");
    for (size_t i = 0; i < count; i++)
        pkt_printf(out, "ref-prefix %.*s\n", STR_ARG(prefixes[i]));
    pkt_put_flush(out);
}

void ls_refs_init(struct ls_refs_answer *r, struct ref_list *refs)
{
    *r = (struct ls_refs_answer){.refs = refs};
    pkt_reader_init(&r->pkt);
}

void ls_refs_done(struct ls_refs_answer *r)
{
    pkt_reader_done(&r->pkt);
}

/* Parses "<oid> <name>[ symref-target:<ref>][ peeled:<oid>]" or "unborn <name>
 * …". */
static bool read_ls_refs_line(struct ls_refs_answer *r, struct str line,
                              struct err *e)
{
    struct str rest = line, word;
    struct ref ref = {.target = STR_INIT("")};

    if (!str_cut(&rest, ' ', &word) || !rest.p ||
        !(oid_parse(word, &ref.id) || str_is(word, "unborn")) ||
        !str_cut(&rest, ' ', &ref.name) || ref.name.n == 0)
        return wire_not_git(&r->fault, "a line that is no ref", e);
    ref.peeled = ref.id;
    while (rest.p && str_cut(&rest, ' ', &word)) {
        if (str_starts(word, STR("symref-target:")))
            ref.target = str_from_index(word, 14);
        else if (str_starts(word, STR("peeled:")) &&
                 !oid_parse(str_from_index(word, 7), &ref.peeled))
            return wire_not_git(&r->fault, "a line that is no ref", e);
    }
    return put_ref(r->refs, &ref, &r->fault, e);
}

bool ls_refs_feed(struct ls_refs_answer *r, struct str bytes, struct err *e)
{
    struct pkt pkt;

    if (!count_refs(&r->bytes, bytes, &r->fault, e))
        return false;
    while (bytes.n) {
        if (r->ended)
            return wire_not_git(&r->fault, "more than one answer", e);
        if (!wire_next(&r->pkt, &bytes, &pkt, &r->fault, e))
            return false;
        if (pkt.kind == PKT_NONE)
            break;
        if (pkt.kind == PKT_FLUSH)
            r->ended = true;
        else if (pkt.kind != PKT_DATA)
            return wire_not_git(&r->fault, "a mark where none belongs", e);
        else if (!read_ls_refs_line(r, pkt_line(pkt.data), e))
            return false;
    }
    return true;
}

bool ls_refs_end(struct ls_refs_answer *r, struct err *e)
{
    return r->ended || wire_not_whole(&r->pkt, &r->fault, e);
}

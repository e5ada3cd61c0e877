#include "refs.h"

#include "base/path.h"
#include "base/text.h"
#include "mapm/limits.h"

#include <inttypes.h>
#include <string.h>

#define HEADS      STR("refs/heads/")
#define TAGS       STR("refs/tags/")
#define NEAR_EDITS 3 /* maximum edit distance of a similar name */

/* --- list of refs --------------------------------------------------------- */

void ref_list_init(struct ref_list *l, struct arena *a)
{
    *l = (struct ref_list){.arena = a};
}

static struct str short_name(const struct ref *r)
{
    if (str_starts(r->name, HEADS))
        return str_from_index(r->name, HEADS.n);
    if (str_starts(r->name, TAGS))
        return str_from_index(r->name, TAGS.n);
    return str_make("", 0);
}

bool ref_list_put(struct ref_list *l, const struct ref *r, struct err *e)
{
    if (++l->seen > TRANSFER_MAX_REFS)
        return err_set(e, ERR_LIMIT, "the repository lists more than %d refs",
                       TRANSFER_MAX_REFS);
    if (!str_is(r->name, "HEAD") && !ref_name_is_valid(short_name(r)))
        return true;
    l->items = arena_grow(l->arena, l->items, l->count, &l->capacity,
                          sizeof *l->items);
    l->items[l->count++] = (struct ref){
        .name = arena_str(l->arena, r->name),
        .id = r->id,
        .peeled = r->peeled,
        .target = arena_str(l->arena, r->target),
    };
    return true;
}

const struct ref *ref_list_find(const struct ref_list *l, struct str name)
{
    for (size_t i = 0; i < l->count; i++) {
        if (str_eq(l->items[i].name, name))
            return &l->items[i];
    }
    return NULL;
}

/* --- validation of names -------------------------------------------------- */

static bool component_is_valid(struct str s)
{
    return s.n > 0 && s.p[0] != '.' && !str_ends(s, STR(".lock"));
}

bool ref_name_is_valid(struct str name)
{
    struct str rest = name, component;

    if (name.n == 0 || name.n > ORIGIN_MAX_BYTES || name.p[0] == '-' ||
        name.p[name.n - 1] == '.' || str_is(name, "@"))
        return false;
    for (size_t i = 0; i < name.n; i++) {
        unsigned char c = (unsigned char)name.p[i];

        if (c <= ' ' || c == 0x7f || strchr("~^:?*[\\", c))
            return false;
    }
    if (str_find(name, STR("..")) != SIZE_MAX ||
        str_find(name, STR("@{")) != SIZE_MAX)
        return false;
    while (str_cut(&rest, '/', &component)) {
        if (!component_is_valid(component))
            return false;
    }
    return true;
}

bool ref_check_length(struct str name, struct err *e)
{
    return name.n <= REF_MAX_BYTES ||
           err_set(
               e, ERR_REF,
               "the name of the ref \"%.40s...\" has %zu bytes, more than %d",
               name.p, name.n, REF_MAX_BYTES);
}

/* The text after /tree/, with "%2F" decoded to "/". */
struct address {
    struct str raw;  /* without leading and trailing "/" */
    struct str text; /* decoded text */
    size_t *next;    /* next[n]: offset in `raw` where the path begins if a
                      * ref of n bytes of `text` is chosen; 0 if no segment
                      * ends there */
};

static bool is_escaped_slash(struct str s, size_t at)
{
    return s.n - at >= 3 && s.p[at] == '%' && s.p[at + 1] == '2' &&
           (s.p[at + 2] == 'F' || s.p[at + 2] == 'f');
}

static void address_read(struct str rest, struct arena *a, struct address *out)
{
    char *text;
    size_t n = 0;

    while (rest.n && rest.p[0] == '/')
        rest = str_from_index(rest, 1);
    while (rest.n && rest.p[rest.n - 1] == '/')
        rest.n--;
    text = arena_alloc(a, rest.n + 1);
    out->next = arena_array(a, rest.n + 1, sizeof *out->next);
    for (size_t i = 0; i < rest.n; i++) {
        if (is_escaped_slash(rest, i)) {
            text[n++] = '/';
            i += 2;
            continue;
        }
        if (rest.p[i] == '/')
            out->next[n] = i + 1;
        text[n++] = rest.p[i];
    }
    out->next[n] = rest.n;
    out->raw = rest;
    out->text = str_make(text, n);
}

static struct str first_segment(const struct address *at)
{
    size_t n = 0;

    while (n < at->text.n && at->next[n] == 0)
        n++;
    return str_slice(at->text, 0, n);
}

/* Returns the first segment of the ref's name, "v1" also for "refs/tags/v1/x",
 * as prefixes are requested without "refs/tags/". */
static struct str first_of_name(const struct address *at)
{
    size_t from = str_starts(at->text, HEADS)  ? HEADS.n
                  : str_starts(at->text, TAGS) ? TAGS.n
                                               : 0;
    size_t n = from;

    while (n < at->text.n && at->text.p[n] != '/')
        n++;
    return from ? str_slice(at->text, from, n) : first_segment(at);
}

static bool read_commit_id(struct str segment, struct arena *a, struct oid *out)
{
    return segment.n == OID_HEX_CHARS && oid_parse(str_lower(segment, a), out);
}

bool refs_first(struct str rest, struct arena *a, bool *is_commit,
                struct oid *commit, struct str *prefix, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct address at;
    struct str first;
    struct oid id;

    address_read(rest, &scratch, &at);
    first = first_of_name(&at);
    if (read_commit_id(first, &scratch, &id)) {
        *is_commit = true;
        *commit = id;
        *prefix = str_make("", 0);
        return true;
    }
    if (first.n && !ref_name_is_valid(first))
        return err_set(e, ERR_ORIGIN, "no branch or tag can be named \"%.*s\"",
                       STR_ARG(first));
    *is_commit = false;
    *prefix = arena_str(a, first);
    return true;
}

/* --- choice of the ref ---------------------------------------------------- */

static bool choose_default(const struct ref_list *refs, struct ref_choice *out,
                           struct err *e)
{
    const struct ref *head = ref_list_find(refs, STR("HEAD"));

    if (!head || oid_is_zero(&head->peeled))
        return err_set(e, ERR_REF,
                       "the repository is empty: it has no default branch");
    *out = (struct ref_choice){
        .name = head->target.n ? head->target : head->name,
        .commit = head->peeled,
        .path = STR_INIT(""),
        .is_default = true,
    };
    return true;
}

/* Returns whether `name` ends where a segment of the address ends. */
static bool fits(const struct address *at, struct str name)
{
    return name.n && str_starts(at->text, name) && at->next[name.n];
}

/* Returns the ref that the address names in full ("refs/…"), or NULL. */
static const struct ref *find_spelled_out(const struct ref_list *refs,
                                          const struct address *at)
{
    const struct ref *best = NULL;

    if (!str_starts(at->text, STR("refs/")))
        return NULL;
    for (size_t i = 0; i < refs->count; i++) {
        const struct ref *r = &refs->items[i];

        if (fits(at, r->name) && !oid_is_zero(&r->peeled) &&
            (!best || r->name.n > best->name.n))
            best = r;
    }
    return best;
}

/* Returns whether both a branch and a tag have the name. */
static bool is_twice(const struct ref_list *refs, struct str name,
                     struct arena *a)
{
    return ref_list_find(refs, str_join(HEADS, name, a)) &&
           ref_list_find(refs, str_join(TAGS, name, a));
}

/* Returns as many leading segments of the address as `name` has. */
static struct str same_depth(const struct address *at, struct str name)
{
    size_t depth = path_depth(name), n;

    for (n = 0; n < at->text.n; n++) {
        if (at->text.p[n] == '/' && --depth == 0)
            break;
    }
    return str_slice(at->text, 0, n);
}

static bool hint_near(const struct ref_list *refs, const struct address *at,
                      struct err *e)
{
    struct text_nearest near = {0};

    for (size_t i = 0; i < refs->count; i++) {
        struct str name = short_name(&refs->items[i]);
        size_t allowed = name.n / 3 < NEAR_EDITS ? name.n / 3 : NEAR_EDITS;
        struct str asked = same_depth(at, name);

        if (name.n && asked.n && asked.n <= name.n + NEAR_EDITS &&
            name.n <= asked.n + NEAR_EDITS)
            text_nearest_add(&near, asked, name, allowed ? allowed : 1);
    }
    if (near.count == 3)
        return err_hint(e, "did you mean \"%.*s\", \"%.*s\" or \"%.*s\"?",
                        STR_ARG(near.found[0]), STR_ARG(near.found[1]),
                        STR_ARG(near.found[2]));
    if (near.count == 2)
        return err_hint(e, "did you mean \"%.*s\" or \"%.*s\"?",
                        STR_ARG(near.found[0]), STR_ARG(near.found[1]));
    if (near.count == 1)
        return err_hint(e, "did you mean \"%.*s\"?", STR_ARG(near.found[0]));
    return false;
}

static bool looks_like_short_id(struct str segment, struct arena *a)
{
    struct str lower = str_lower(segment, a);

    return lower.n >= 4 && lower.n < OID_HEX_CHARS && str_is_hex(lower);
}

/* Suggests the range for "4.x" or "v4.1.x", which other package managers read
 * as a range, but which here is the name of a branch. */
static void hint_range(struct str ref, struct err *e)
{
    struct str numbers =
        str_starts(ref, STR("v")) ? str_from_index(ref, 1) : ref;
    size_t dots = 0;

    if (!str_ends(ref, STR(".x")) && !str_ends(ref, STR(".X")) &&
        !str_ends(ref, STR(".*")))
        return;
    numbers.n -= 2;
    for (size_t i = 0; i < numbers.n; i++) {
        dots += numbers.p[i] == '.';
        if (numbers.p[i] != '.' && !char_is_digit(numbers.p[i]))
            return;
    }
    if (numbers.n == 0 || dots > 1)
        return;
    err_hint(e, "as a range of versions that is \"%s%.*s\"", dots ? "~" : "^",
             STR_ARG(numbers));
}

/* Suggests the tag of the package for its version "1.2.3". */
static void hint_version(const struct ref_list *refs, const struct address *at,
                         struct str version, struct arena *a, struct err *e)
{
    struct semver asked;
    struct range_set exact;
    struct ref_choice choice;
    struct str newest, path = str_from_index(at->text, version.n);
    struct err ignored = {0};

    if (!semver_parse(version, &asked) ||
        !range_set_parse(str_join(STR("="), version, a), a, &exact, &ignored))
        return;
    if (path.n)
        path = str_from_index(path, 1);
    if (refs_choose_version(refs, path, &exact, &choice, &newest, &ignored))
        err_hint(e, "did you mean \"%.*s\"?",
                 STR_ARG(str_from_index(choice.name, TAGS.n)));
}

static bool refuse_unknown(const struct ref_list *refs,
                           const struct address *at, struct arena *a,
                           struct err *e)
{
    struct str first = first_segment(at);

    err_set(e, ERR_REF, "the repository has no branch or tag \"%.*s\"",
            STR_ARG(first));
    hint_range(first, e);
    if (!e->hint[0])
        hint_version(refs, at, first, a, e);
    if (!e->hint[0])
        hint_near(refs, at, e);
    if (!e->hint[0] && looks_like_short_id(first, a))
        err_hint(e, "a commit is named by its whole id: use all 40 digits");
    return false;
}

static bool cut_path(const struct address *at, size_t from, struct str *path,
                     struct err *e)
{
    *path = str_from_index(at->raw, from);
    for (size_t i = 0; i < path->n; i++) {
        if (is_escaped_slash(*path, i))
            return err_set(e, ERR_ORIGIN,
                           "\"%%2F\" may stand in the ref only, not in "
                           "the path \"%.*s\"",
                           STR_ARG(*path));
    }
    return true;
}

static bool choose(const struct ref_list *refs, struct str rest,
                   struct arena *a, struct ref_choice *out, struct err *e)
{
    struct address at;
    struct str first, best = {"", 0};
    struct ref_choice choice = {.name = STR_INIT("")};
    const struct ref *head = NULL, *tag = NULL, *full;

    address_read(rest, a, &at);
    if (at.text.n == 0)
        return choose_default(refs, out, e);
    first = first_segment(&at);
    if (read_commit_id(first, a, &choice.commit)) {
        if (!cut_path(&at, at.next[first.n], &choice.path, e))
            return false;
        *out = choice;
        return true;
    }
    for (size_t i = 0; i < refs->count; i++) {
        const struct ref *r = &refs->items[i];
        struct str name = short_name(r);

        if (!fits(&at, name) || name.n < best.n || oid_is_zero(&r->peeled))
            continue;
        if (name.n > best.n)
            head = tag = NULL;
        best = name;
        *(str_starts(r->name, HEADS) ? &head : &tag) = r;
    }
    full = head || tag ? NULL : find_spelled_out(refs, &at);
    if (full) {
        best = full->name;
        *(str_starts(full->name, HEADS) ? &head : &tag) = full;
        choice.is_spelled_out = is_twice(refs, short_name(full), a);
    }
    if (!head && !tag)
        return refuse_unknown(refs, &at, a, e);
    if (!cut_path(&at, at.next[best.n], &choice.path, e))
        return false;
    choice.name = head ? head->name : tag->name;
    choice.commit = head ? head->peeled : tag->peeled;
    choice.is_tag_too = head && tag;
    *out = choice;
    return true;
}

/* A lock does not record where the ref ends, so every split of ref and path is
 * tried; this limits their number. */
static bool check_segments(struct str name, struct err *e)
{
    if (str_starts(name, HEADS))
        name = str_from_index(name, HEADS.n);
    else if (str_starts(name, TAGS))
        name = str_from_index(name, TAGS.n);
    if (path_depth(name) <= REF_MAX_SEGMENTS)
        return true;
    err_set(e, ERR_LIMIT, "the name of its ref has more than %d segments",
            REF_MAX_SEGMENTS);
    return err_hint(e, "name the commit by its 40 digits, or another ref");
}

bool refs_choose(const struct ref_list *refs, struct str rest, struct arena *a,
                 struct ref_choice *out, struct err *e)
{
    return choose(refs, rest, a, out, e) && check_segments(out->name, e);
}

/* --- versions ------------------------------------------------------------- */

size_t refs_version_prefixes(struct str path, struct arena *a,
                             struct str out[REFS_MAX_PREFIXES])
{
    size_t slash = str_find_last(path, '/'), n = 0;

    out[n++] = STR("refs/tags/v");
    for (unsigned digit = 0; digit < 10; digit++)
        out[n++] = arena_printf(a, "refs/tags/%u", digit);
    if (path.n)
        out[n++] = str_join(TAGS, path, a);
    if (slash != SIZE_MAX)
        out[n++] = str_join(TAGS, str_from_index(path, slash + 1), a);
    return n;
}

/* A tag that is a version of the package. */
struct candidate {
    const struct ref *ref;
    struct semver version;
    unsigned form;
};

static bool read_candidate(const struct ref *r, struct str path,
                           struct candidate *out)
{
    *out = (struct candidate){.ref = r};
    return str_starts(r->name, TAGS) && !oid_is_zero(&r->peeled) &&
           tag_version(short_name(r), path, &out->version, &out->form);
}

/* Finds the first form of tag that occurs. Tags of no form belong to another
 * package. */
static bool find_form(const struct ref_list *refs, struct str path,
                      unsigned *form, struct err *e)
{
    size_t count = 0;
    struct candidate c;

    *form = TAG_FORM_COUNT;
    for (size_t i = 0; i < refs->count; i++) {
        if (!read_candidate(&refs->items[i], path, &c))
            continue;
        if (++count > PACKAGE_MAX_TAGS) {
            err_set(e, ERR_LIMIT, "more than %d tags are versions of it",
                    PACKAGE_MAX_TAGS);
            return err_hint(e, "name one tag instead of a range");
        }
        if (c.form < *form)
            *form = c.form;
    }
    return true;
}

/* Releases precede pre-releases: users expect a release as the newest
 * version. */
static bool is_newer(const struct candidate *x, const struct candidate *than)
{
    if (!than->ref || (x->version.pre.n == 0) != (than->version.pre.n == 0))
        return !than->ref || x->version.pre.n == 0;
    return semver_cmp(&x->version, &than->version) > 0;
}

/* Among tags of one version chooses the first by name, so that the choice does
 * not depend on the order of the server. */
static bool is_higher(const struct candidate *x, const struct candidate *than)
{
    int order = than->ref ? semver_cmp(&x->version, &than->version) : 1;

    return order > 0 ||
           (order == 0 && str_cmp(x->ref->name, than->ref->name) < 0);
}

/* Rejects two tags of one version on different commits: "v1.2.3" and
 * "1.2.3". */
static bool check_only(const struct ref_list *refs, struct str path,
                       const struct candidate *best, struct err *e)
{
    struct candidate c;

    for (size_t i = 0; i < refs->count; i++) {
        if (!read_candidate(&refs->items[i], path, &c) ||
            (c.form != best->form &&
             !(best->form == TAG_FORM_V && c.form == TAG_FORM_BARE)) ||
            semver_cmp(&c.version, &best->version) != 0 ||
            oid_eq(&c.ref->peeled, &best->ref->peeled))
            continue;
        err_set(e, ERR_REF,
                "the tags %.*s and %.*s are one version on two commits",
                STR_ARG(short_name(best->ref)), STR_ARG(short_name(c.ref)));
        return err_hint(e, "name one of the two tags instead of a range");
    }
    return true;
}

/* Returns whether the version is not in the ranges only because it is a
 * pre-release. */
static bool is_only_early(const struct candidate *c,
                          const struct range_set *ranges)
{
    struct semver release = c->version;

    release.pre = STR("");
    return c->version.pre.n && range_set_allows(ranges, &release);
}

static bool refuse_version(struct str path, const struct range_set *ranges,
                           const struct candidate *newest,
                           const struct candidate *early, struct err *e)
{
    struct str name = path_last(path);

    if (newest->ref) {
        err_set(e, ERR_REF, "no version of it is in %s; the newest is %.*s",
                ranges->count > 1 ? "all of these ranges" : "the range",
                STR_ARG(short_name(newest->ref)));
        if (early->ref)
            return err_hint(
                e,
                "%.*s is a pre-release: ^%" PRIu64 ".%" PRIu64 ".%" PRIu64
                "-0 allows it",
                STR_ARG(short_name(early->ref)), early->version.number.part[0],
                early->version.number.part[1], early->version.number.part[2]);
        return err_hint(e, "name another range, or a tag or branch");
    }
    err_set(e, ERR_REF, "no tag of the repository is a version of it");
    return err_hint(e,
                    "versions are tags like v1.2.3%s%.*s%s; without them name "
                    "a branch, tag or commit",
                    name.n ? " or " : "", STR_ARG(name),
                    name.n ? "-v1.2.3" : "");
}

bool refs_choose_version(const struct ref_list *refs, struct str path,
                         const struct range_set *ranges, struct ref_choice *out,
                         struct str *newest, struct err *e)
{
    struct candidate best = {0}, top = {0}, early = {0}, c;
    unsigned form;

    if (!find_form(refs, path, &form, e))
        return false;
    for (size_t i = 0; i < refs->count; i++) {
        if (!read_candidate(&refs->items[i], path, &c) || c.form != form)
            continue;
        if (is_newer(&c, &top))
            top = c;
        if (range_set_allows(ranges, &c.version) && is_higher(&c, &best))
            best = c;
        if (is_only_early(&c, ranges) && is_higher(&c, &early))
            early = c;
    }
    if (!best.ref)
        return refuse_version(path, ranges, &top, &early, e);
    if (!check_only(refs, path, &best, e))
        return false;
    *newest = short_name(top.ref);
    *out = (struct ref_choice){
        .name = best.ref->name, .commit = best.ref->peeled, .path = path};
    return true;
}

struct oid refs_tag_commit(const struct ref_list *refs, struct str tag)
{
    for (size_t i = 0; i < refs->count; i++) {
        const struct ref *r = &refs->items[i];

        if (str_starts(r->name, TAGS) && str_eq(short_name(r), tag))
            return r->peeled;
    }
    return (struct oid){0};
}

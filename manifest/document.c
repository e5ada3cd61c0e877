#include "document.h"

#include "mapm/limits.h"

/* Reads one document: converts its bytes to values and diagnostics. */

/* Returns false and reports why if the bytes are not text that can be
 * parsed. */
static bool check_bytes(struct reader *r)
{
    struct str text = r->in->text;
    size_t max = r->in->kind == DOC_MCP ? MCP_MAX_BYTES : ANCHOR_MAX_BYTES;
    size_t nul = str_find_char(text, '\0'), at = 0;

    if (text.n > max) {
        report(r, "too-large", "", 0, "larger than %zu bytes", max);
        return false;
    }
    if (!text_is_utf8(text)) {
        size_t from = 0;

        while (text_next(text, &at) >= 0)
            from = at;
        report(r, "not-utf8", "", text_line_of(text, from),
               "not UTF-8: save it in that encoding");
        return false;
    }
    if (nul != SIZE_MAX) {
        report(r, "nul-bytes", "", text_line_of(text, nul),
               "contains a NUL byte: remove it");
        return false;
    }
    return true;
}

static void report_split(struct reader *r, const struct split *s)
{
    if (!s->fault)
        return;
    if (str_starts(r->in->text, STR("version https://git-lfs.github.com/")))
        report(r, s->fault, "", 1,
               "it is a pointer to a file in git LFS, not the file: commit "
               "the text itself");
    else if (str_is(str_cstr(s->fault), "no-frontmatter"))
        report(
            r, s->fault, "", 1,
            "it does not start with a line \"---\": put \"---\", \"name: …\", "
            "\"description: …\"%s and \"---\" before the text, each on a "
            "line of its own",
            r->in->kind == DOC_AGENT ? ", \"version: 1.0.0\"" : "");
    else
        report(r, s->fault, "", 1,
               "the frontmatter is not closed: add a line \"---\" after it");
}

void manifest_check_file(enum manifest_file state, enum doc_kind kind,
                         struct diagnostics *why)
{
    const char *anchor =
        doc_entry_file(kind) ? doc_entry_file(kind) : "the file";

    if (state == MANIFEST_FILE_MISSING)
        diagnostics_add(why, true, "no-anchor", "", 0,
                        "%s is missing: a package has one, spelled just so",
                        anchor);
    else if (state == MANIFEST_FILE_TOO_LARGE)
        diagnostics_add(
            why, true, "too-large", "", 0, "%s is larger than %u KiB", anchor,
            (kind == DOC_MCP ? MCP_MAX_BYTES : ANCHOR_MAX_BYTES) / 1024);
    else if (state != MANIFEST_FILE_OK)
        diagnostics_add(why, true, "unreadable", "", 0,
                        state == MANIFEST_FILE_ESCAPES
                            ? "%s is a link that leaves the package"
                            : "%s is not a file that can be read",
                        anchor);
}

static bool is_ours(const struct yaml *dependencies)
{
    return yaml_get(dependencies, "skills") || yaml_get(dependencies, "mcps") ||
           yaml_get(dependencies, "agents");
}

/* §5, X3: sets r->metaagents for packages that must follow the rules of
 * MetaAgents when they are installed. */
static void find_claims(struct reader *r)
{
    if (r->in->in_place)
        return;
    r->metaagents = r->in->kind == DOC_AGENT ||
                    !is_null(yaml_get(r->root, "scope")) ||
                    is_ours(yaml_get(r->root, "dependencies"));
}

static void set_fqn(struct reader *r)
{
    struct document *d = r->doc;

    d->fqn = d->scope.n && d->name.n
                 ? arena_printf(r->a, "%.*s/%.*s", STR_ARG(d->scope),
                                STR_ARG(d->name))
                 : d->name;
}

static enum split_rule rule_of(enum profile p)
{
    if (p == PROFILE_SKILLS_REF)
        return SPLIT_ANYWHERE;
    return p == PROFILE_METIS ? SPLIT_STARTS : SPLIT_LINES;
}

static void read_markdown(struct reader *r)
{
    struct split s;

    frontmatter_split(r->in->text, rule_of(r->in->profile), &s);
    if (s.bom)
        report(r, "bom", "", 1,
               "it starts with a byte order mark, which some readers refuse: "
               "save it without");
    report_split(r, &s);
    if (s.fault || !frontmatter_parse(r, &s))
        return;
    r->doc->frontmatter = r->root;
    find_claims(r);
    read_name(r);
    read_metaskill(r);
    read_fields(r);
    read_dependencies(r);
    set_fqn(r);
    read_hidden(r);
    read_body(r, &s);
    read_changelog(r);
}

/* --- order ---------------------------------------------------------------- */

static bool comes_first(const struct diagnostic *x, const struct diagnostic *y)
{
    return x->line == y->line || (x->line && (!y->line || x->line < y->line));
}

static void merge(const struct diagnostic *from, size_t start, size_t middle,
                  size_t end, struct diagnostic *to)
{
    size_t i = start, j = middle;

    for (size_t n = start; n < end; n++) {
        bool left = i < middle && (j >= end || comes_first(&from[i], &from[j]));

        to[n] = left ? from[i++] : from[j++];
    }
}

/* Sorts diagnostics by line, those without a line last. A merge sort: it is
 * stable and fast for ten thousand items. */
static void sort(struct diagnostic *items, size_t count, struct arena *a)
{
    struct diagnostic *spare = arena_array(a, count, sizeof *items);
    struct diagnostic *from = items, *to = spare;

    for (size_t width = 1; width < count; width *= 2) {
        struct diagnostic *swap = from;

        for (size_t i = 0; i < count; i += 2 * width) {
            size_t middle = count - i < width ? count : i + width;
            size_t end = count - i < 2 * width ? count : i + 2 * width;

            merge(from, i, middle, end, to);
        }
        from = to;
        to = swap;
    }
    for (size_t i = 0; from != items && i < count; i++)
        items[i] = from[i];
}

/* Turns the warnings from `start` on into errors, except hints and unknown
 * fields (X6). */
static void harden(struct diagnostics *why, size_t start)
{
    for (size_t i = start; i < why->count; i++) {
        struct diagnostic *c = &why->items[i];

        if (c->error || c->is_hint ||
            str_is(str_cstr(c->code), "unknown-field"))
            continue;
        c->error = true;
        why->errors++;
        why->warnings--;
    }
}

void manifest_read(const struct manifest_input *in, struct arena *a,
                   struct document *out, struct diagnostics *why)
{
    struct reader r = {
        .in = in,
        .a = a,
        .doc = out,
        .why = why,
        .errors = why->errors,
        .warnings = why->warnings,
    };
    size_t start = why->count;

    *out = (struct document){.kind = in->kind};
    if (check_bytes(&r)) {
        if (in->kind == DOC_MCP)
            read_mcp(&r);
        else
            read_markdown(&r);
    }
    if (why->count - start > 1)
        sort(why->items + start, why->count - start, a);
    if (in->strict)
        harden(why, start);
}

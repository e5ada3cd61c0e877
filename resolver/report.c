#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "graph.h"

/* Of a longer chain, only the first and last names are shown. */
#define CHAIN_MAX_NAMES 8
#define CHAIN_MAX_BYTES 4096
#define LINE_MAX_BYTES  4096
/* The size of an err, less space for the messages that callers add. */
#define REPORT_MAX_BYTES (ERR_TEXT_MAX_BYTES - 1200)

static void report_cause(struct report *r);

/* Begins a problem of `lines` lines. Returns false if there is no space left,
 * so that the caller need not format them. */
static bool begin(struct report *r, size_t lines)
{
    report_cause(r);
    r->problems++;
    r->claimed = NULL;
    if (!r->more && r->lines < ERROR_MAX_LINES)
        return true;
    r->more += lines;
    return false;
}

/* Adds a line. The error code is that of the first line. */
static void PRINTF(4, 5) add_line(struct report *r, enum err_code code,
                                  enum err_role role, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list args;
    int n;

    if (r->more || r->lines >= ERROR_MAX_LINES) {
        r->more++;
        return;
    }
    va_start(args, format);
    n = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (r->lines && r->bytes + (size_t)n > REPORT_MAX_BYTES) {
        r->more++;
        return;
    }
    if (r->lines++ == 0) {
        err_clear(r->e);
        r->e->code = code;
    }
    (role == ERR_ITEM         ? err_also
     : role == ERR_ITEM_CAUSE ? err_because
                              : err_part)(r->e, "%s", line);
    r->bytes += (size_t)n + 1;
}

/* Adds a hint. As with the error code, the first one is kept. */
static void PRINTF(2, 3) add_hint(struct report *r, const char *format, ...)
{
    char hint[ERR_HINT_MAX_BYTES];
    va_list args;

    if (r->problems > 1)
        return;
    va_start(args, format);
    vsnprintf(hint, sizeof hint, format, args);
    va_end(args);
    err_hint(r->e, "%s", hint);
}

/* Returns `message` without the name of the package, which the line above has,
 * or NULL if nothing else is left. */
static const char *without_name(const struct report *r, const char *message)
{
    struct str name = r->unread, rest;

    if (str_starts(name, STR("file:")))
        name = str_from_index(name, 5);
    if (!name.n || !str_starts(str_cstr(message), name))
        return message;
    rest = str_from_index(str_cstr(message), name.n);
    if (str_starts(rest, STR(": ")))
        return rest.p + 2;
    return rest.n && !str_is(rest, " is refused") ? message : NULL;
}

/* Reports the reason why the last packages could not be read. */
static void report_cause(struct report *r)
{
    const bool is_full = r->more || r->lines >= ERROR_MAX_LINES;
    const char *message = NULL;

    /* The packages used all lines. Report the reason nevertheless. */
    if (is_full && r->why.used)
        err_because(r->e, "%.400s", err_first(&r->why));
    while (!is_full && (message = err_prev(&r->why, message))) {
        const char *cause = without_name(r, message);

        if (cause || message == err_first(&r->why))
            add_line(r, r->why.code, err_role_within(&r->why, message), "%s",
                     cause ? cause : message);
    }
    err_clear(&r->why);
}

static bool is_same(const struct err *a, const struct err *b)
{
    return a->code == b->code && a->used == b->used &&
           memcmp(a->text, b->text, a->used) == 0;
}

void report_end(struct report *r)
{
    report_cause(r);
    if (r->more)
        err_also(r->e, "\xe2\x80\xa6 and %zu more", r->more);
}

static const char *article(enum doc_kind kind)
{
    return kind == DOC_SKILL ? "a" : "an";
}

static void chain_name(struct buf *b, struct str name)
{
    if (b->n)
        buf_text(b, " -> ");
    buf_append(b, name);
}

/* Formats the chain "A -> B -> x" from the root to `n`, followed by `last`
 * unless it is empty. */
static const char *chain(const struct node *n, struct str last, struct buf *b)
{
    struct str names[CHAIN_MAX_NAMES]; /* the last names, from the end of the
                                        * chain */
    const size_t half = CHAIN_MAX_NAMES / 2;
    size_t total = 0;

    buf_init(b, CHAIN_MAX_BYTES);
    if (last.n)
        names[total++] = last;
    for (; n; n = n->parent) {
        if (total >= CHAIN_MAX_NAMES) /* keep the first half and shift the
                                       * second */
            for (size_t i = half; i + 1 < CHAIN_MAX_NAMES; i++)
                names[i] = names[i + 1];
        names[total < CHAIN_MAX_NAMES ? total : CHAIN_MAX_NAMES - 1] =
            n->package->fqn;
        total++;
    }
    for (size_t i = total < CHAIN_MAX_NAMES ? total : CHAIN_MAX_NAMES;
         i-- > 0;) {
        if (total > CHAIN_MAX_NAMES && i + 1 == half)
            buf_printf(b, " -> (%zu more)", total - CHAIN_MAX_NAMES);
        chain_name(b, names[i]);
    }
    return b->p ? b->p : "";
}

static const char *needed_by(const struct node *parent, struct buf *b)
{
    CLEANUP(buf_done) struct buf names = {0};

    buf_init(b, CHAIN_MAX_BYTES);
    if (parent)
        buf_printf(b, ", needed by %s", chain(parent, STR(""), &names));
    return b->p ? b->p : "";
}

void report_interrupt(struct report *r, const struct err *why)
{
    *r->e = *why;
    *r = (struct report){.e = r->e, .problems = 1};
}

void report_limit(struct report *r, const char *what, const struct limit *limit,
                  const struct node *at)
{
    CLEANUP(buf_done) struct buf by = {0};
    struct limit_words words;

    if (!begin(r, 1))
        return;
    add_line(r, ERR_LIMIT, ERR_ITEM, "more than %" PRIu64 " %s%s%s",
             limit->value, what, limit_words(limit, &words),
             needed_by(at, &by));
    if (r->problems == 1)
        limit_hint(limit, r->e);
}

void report_unread(struct report *r, const struct origin *o, enum doc_kind kind,
                   const struct node *parent, const struct err *why)
{
    CLEANUP(buf_done) struct buf by = {0};

    /* All packages of a missing repository fail with the same error. */
    if (is_same(&r->why, why)) {
        r->problems++;
    } else {
        if (!begin(r, 1))
            return;
        r->why = *why;
        r->unread = o->text;
    }
    add_line(r, why->code, ERR_ITEM, "%s %.*s%s", doc_kind_name(kind),
             STR_ARG(o->text), needed_by(parent, &by));
    if (why->hint[0])
        add_hint(r, "%s", why->hint);
}

static void add_claim(struct report *r, const struct package *p,
                      const char *names, bool is_root)
{
    add_line(r, ERR_CONFLICT, ERR_ITEM_PART, "%.*s%s%.*s, %s%s",
             STR_ARG(p->origin->text), p->commit.n ? " at " : "",
             STR_ARG(p->commit),
             is_root ? "asked for directly: " : "by way of ", names);
}

static const struct origin *root_of(const struct package *p,
                                    const struct node *parent)
{
    for (; parent; parent = parent->parent)
        p = parent->package;
    return p->origin;
}

/* Returns true if the origins name the same folder of a repository at different
 * refs. */
static bool is_same_folder(const struct origin *x, const struct origin *y)
{
    return x->scheme == ORIGIN_GIT && y->scheme == ORIGIN_GIT &&
           str_eq(x->host, y->host) && x->port == y->port &&
           str_eq(x->repository, y->repository) &&
           str_eq(origin_slot_path(x), origin_slot_path(y));
}

/* Returns the arguments of `mapm install` for an origin: an option instead of
 * the part after "?". */
static struct str typed(const struct origin *o, struct arena *a)
{
    struct str kind, name = o->part;

    if (!name.n || !str_cut(&name, '=', &kind) || !name.p)
        return origin_base(o->text);
    return arena_printf(a, "%.*s --%.*s %.*s", STR_ARG(origin_base(o->text)),
                        STR_ARG(kind), STR_ARG(name));
}

/* Returns the argument of `mapm remove` for a root. */
static struct str removable(const struct origin *o)
{
    struct str entry = origin_entry_name(o);

    return entry.p ? entry : origin_base(o->text);
}

static void hint_conflict(struct report *r, const struct node *first,
                          const struct package *second,
                          const struct node *parent)
{
    CLEANUP(arena_done) struct arena a = {0};
    const struct origin *one = root_of(first->package, first->parent);
    const struct origin *two = root_of(second, parent);

    if (is_same_folder(first->package->origin, second->origin))
        add_hint(r,
                 "let both name the same ref of it: mapm install %.*s, or "
                 "mapm update for what others need",
                 STR_ARG(typed(second->origin, &a)));
    else if (str_eq(one->key, two->key))
        add_hint(r, "both come with %.*s: leave it out, or tell its author",
                 STR_ARG(typed(one, &a)));
    else
        add_hint(r,
                 "take both: mapm install %.*s --as NAME; or keep one: leave "
                 "out %.*s (of a catalog with --skip PATH, or take others with "
                 "--skill PATH), or first mapm remove %.*s",
                 STR_ARG(typed(second->origin, &a)), STR_ARG(typed(two, &a)),
                 STR_ARG(removable(one)));
}

void report_conflict(struct report *r, const struct node *first,
                     const struct package *second, const struct node *parent)
{
    CLEANUP(buf_done) struct buf one = {0};
    CLEANUP(buf_done) struct buf two = {0};
    bool is_known = r->claimed == first; /* add one more claim to it */

    if (!is_known) {
        if (!begin(r, 3))
            return;
        r->claimed = first;
        add_line(r, ERR_CONFLICT, ERR_ITEM,
                 "different packages claim the name of %s %.*s",
                 doc_kind_name(second->kind), STR_ARG(second->fqn));
        add_claim(r, first->package, chain(first, STR(""), &one),
                  !first->parent);
    }
    add_claim(r, second, chain(parent, second->fqn, &two), !parent);
    if (!is_known)
        hint_conflict(r, first, second, parent);
}

void report_cycle(struct report *r, struct node *const *stack, size_t depth)
{
    CLEANUP(buf_done) struct buf names = {0};

    if (!begin(r, depth + 1))
        return;
    buf_init(&names, CHAIN_MAX_BYTES);
    for (size_t i = 0; i <= depth; i++) {
        if (depth > CHAIN_MAX_NAMES && i == CHAIN_MAX_NAMES / 2) {
            buf_printf(&names, " -> (%zu more)", depth - CHAIN_MAX_NAMES);
            i = depth - CHAIN_MAX_NAMES / 2;
        }
        chain_name(&names, stack[i % depth]->package->fqn);
    }
    add_line(r, ERR_CYCLE, ERR_ITEM, "a cycle of dependencies: %s", names.p);
    for (size_t i = 0; i < depth; i++) {
        const struct package *from = stack[i]->package;
        const struct node_link *edge = stack[i]->edges.last;

        add_line(r, ERR_CYCLE, ERR_ITEM_PART, "%s %.*s needs %s %.*s (%.*s)",
                 doc_kind_name(from->kind), STR_ARG(from->fqn),
                 doc_kind_name(edge->to->package->kind),
                 STR_ARG(edge->to->package->fqn), STR_ARG(edge->origin->text));
    }
    add_hint(r, "one of these packages must give up its dependency");
}

void report_kind(struct report *r, const struct package *p,
                 enum doc_kind expected, const struct node *parent)
{
    CLEANUP(buf_done) struct buf by = {0};

    if (!begin(r, 1))
        return;
    add_line(r, ERR_FORMAT, ERR_ITEM,
             "%.*s is %s %s, but it is listed under %s%s",
             STR_ARG(p->origin->text), article(p->kind), doc_kind_name(p->kind),
             doc_kind_plural(expected), needed_by(parent, &by));
    add_hint(r, "list it under %s", doc_kind_plural(p->kind));
}

void report_agent(struct report *r, const struct origin *o,
                  const struct node *parent)
{
    CLEANUP(buf_done) struct buf by = {0};

    if (!begin(r, 1))
        return;
    add_line(r, ERR_FORMAT, ERR_ITEM,
             "only an agent may depend on an agent: %.*s%s", STR_ARG(o->text),
             needed_by(parent, &by));
}

void report_leaf(struct report *r, const struct node *mcp)
{
    CLEANUP(buf_done) struct buf by = {0};

    if (!begin(r, 1))
        return;
    add_line(r, ERR_MCP, ERR_ITEM,
             "mcp %.*s has dependencies; MCP servers may not%s",
             STR_ARG(mcp->package->fqn), needed_by(mcp->parent, &by));
}

void report_file(struct report *r, const struct origin *o,
                 const struct package *by, const struct node *parent)
{
    CLEANUP(buf_done) struct buf names = {0};

    if (!begin(r, 1))
        return;
    add_line(r, ERR_REFUSED, ERR_ITEM,
             "%.*s comes from %.*s and may not name local paths: %.*s (%s)",
             STR_ARG(by->fqn), STR_ARG(by->origin->text), STR_ARG(o->text),
             chain(parent, by->fqn, &names));
    add_hint(r, "its author must publish that package and name it by URL");
}

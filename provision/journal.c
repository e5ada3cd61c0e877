#include "base/fs.h"
#include "base/invariant.h"
#include "base/map.h"
#include "mapm/member.h"

#include <inttypes.h>

#include "swap.h"
#include "writable.h"

#define HEAD         "mapm-journal "
#define STAGE_PREFIX "stage-"

bool swap_is_stage_name(struct str name)
{
    const size_t prefix = sizeof STAGE_PREFIX - 1;

    return str_starts(name, STR(STAGE_PREFIX)) && name.n == prefix + 16 &&
           str_is_hex(str_from_index(name, prefix));
}

static void put_node(struct buf *out, uint64_t ino, const struct hash *print)
{
    char hex[HASH_HEX_CHARS + 1];

    hash_format(print, hex);
    buf_printf(out, "%" PRIu64 " %s ", ino, hex);
}

/* Returns whether the path is in a member, such as
 * "apps/web/.agents/skills/x". */
static bool is_in_member(const struct client_scope *scope, struct str path,
                         bool (*fits)(const struct client_scope *, struct str))
{
    for (size_t i = 1; !scope->is_user && i < path.n; i++)
        if (path.p[i] == '/' && fits(scope, str_from_index(path, i + 1)) &&
            member_path_is_valid(str_slice(path, 0, i)))
            return true;
    return false;
}

static bool is_place(const struct client_scope *scope, struct str path)
{
    return place_is_known(scope, path) ||
           is_in_member(scope, path, place_is_known);
}

static bool has_members(const struct swap *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (!place_is_known(s->scope, s->ops[i].path))
            return true;
    return false;
}

static char version_of(const struct swap *s)
{
    if (s->lift_count)
        return '5';
    if (s->stage_count > 1)
        return '4';
    return s->scope->is_user ? '3' : has_members(s) ? '2' : '1';
}

static void put_head(const struct swap *s, struct buf *out)
{
    buf_printf(out, HEAD "%c\nstage %.*s\nbackup %u\n", version_of(s),
               STR_ARG(s->stage_name), s->backup);
    INVARIANT(swap_is_stage_name(s->stage_name));
    for (size_t i = 0; i < s->make_count; i++)
        buf_printf(out, "make %.*s\n", STR_ARG(s->make[i]));
    for (size_t i = 1; i < s->stage_count; i++)
        buf_printf(out, "beside %.*s\n", STR_ARG(s->stages[i].folder));
    for (size_t i = 0; i < s->lift_count; i++)
        buf_printf(out, "lift %" PRIu64 " %zu %.*s\n", s->lifts[i].ino,
                   s->lifts[i].stage, STR_ARG(s->lifts[i].path));
    INVARIANT(!s->lift_count || !s->count);
}

static void put_op(const struct swap *s, const struct swap_op *op,
                   struct buf *out)
{
    INVARIANT(op->stage < s->stage_count);
    INVARIANT(is_place(s->scope, op->path) && op->new_ino != op->old_ino);
    INVARIANT(!op->keep || (s->backup && op->old_ino));
    buf_text(out, "op ");
    put_node(out, op->new_ino, &op->new_print);
    put_node(out, op->old_ino, &op->old_print);
    buf_char(out, op->keep ? 'k' : '-');
    if (op->stage)
        buf_printf(out, "%zu", op->stage);
    buf_printf(out, " %.*s\n", STR_ARG(op->path));
}

bool journal_format(const struct swap *s, struct journal_at *at,
                    struct buf *out)
{
    size_t from = out->n;
    struct hash sum;
    char hex[HASH_HEX_CHARS + 1];

    if (!at->has_begun) {
        hash_init(&at->sum);
        put_head(s, out);
        at->has_begun = true;
    }
    while (at->op < s->count && out->n - from < JOURNAL_BLOCK_BYTES)
        put_op(s, &s->ops[at->op++], out);
    for (size_t i = 0; at->op == s->count && i < s->drop_count; i++)
        buf_printf(out, "drop %.*s\n", STR_ARG(s->drop[i]));
    hash_add(&at->sum, str_from_index(buf_str(out), from));
    if (at->op < s->count)
        return true;
    sum = hash_end(&at->sum);
    hash_format(&sum, hex);
    buf_printf(out, "end %s\n", hex);
    return false;
}

/* Splits "word " and the rest. */
static bool take_word(struct str line, const char *word, struct str *rest)
{
    struct str head;

    *rest = line;
    return str_cut(rest, ' ', &head) && rest->p && str_is(head, word);
}

static bool take_node(struct str *rest, uint64_t *ino, struct hash *print)
{
    struct str number, hex;

    return str_cut(rest, ' ', &number) && str_number(number, UINT64_MAX, ino) &&
           str_cut(rest, ' ', &hex) && hash_parse(hex, print);
}

/* "k" or "-", with the number of a stage behind it that is not the first. */
static bool read_flag(struct str flag, const struct swap *s, struct swap_op *op)
{
    struct str digits = str_from_index(flag, flag.n ? 1 : 0);
    uint64_t number = 0;

    if (!flag.n || (flag.p[0] != 'k' && flag.p[0] != '-'))
        return false;
    if (digits.n && (!str_number(digits, s->stage_count - 1, &number) ||
                     digits.p[0] == '0'))
        return false;
    op->keep = flag.p[0] == 'k';
    op->stage = (size_t)number;
    return true;
}

static bool read_op(struct str rest, struct arena *a, struct map *seen,
                    struct swap *s)
{
    struct swap_op op = {0};
    struct str flag;

    if (!take_node(&rest, &op.new_ino, &op.new_print) ||
        !take_node(&rest, &op.old_ino, &op.old_print) ||
        !str_cut(&rest, ' ', &flag) || !rest.p || !is_place(s->scope, rest))
        return false;
    if (!read_flag(flag, s, &op))
        return false;
    if ((!op.new_ino && !op.old_ino) || op.new_ino == op.old_ino)
        return false;
    if (op.keep && (!s->backup || !op.old_ino))
        return false;
    op.path = arena_str(a, rest);
    if (!map_put(seen, op.path, s))
        return false;
    s->ops = arena_grow(a, s->ops, s->count, &s->capacity, sizeof *s->ops);
    s->ops[s->count++] = op;
    return true;
}

static bool is_folder(const struct client_scope *scope, struct str path)
{
    return place_is_folder(scope, path) ||
           is_in_member(scope, path, place_is_folder);
}

/* Whether a journal may name `path` as the folder that holds a stage: "." is
 * the workspace itself. */
static bool swap_holds_stage(const struct client_scope *scope, struct str path)
{
    if (str_is(path, "."))
        return true;
    return scope->is_user
               ? place_is_of_user(path)
               : is_folder(scope, path) || member_path_is_valid(path);
}

static bool read_stage(struct str folder, struct arena *a, struct swap *s)
{
    if (s->count || s->stage_count == SWAP_MAX_STAGES ||
        !swap_holds_stage(s->scope, folder))
        return false;
    s->stages[s->stage_count++] =
        (struct swap_stage){arena_str(a, folder), -1, false};
    return true;
}

static bool read_lift(struct str rest, struct arena *a, struct swap *s)
{
    struct str ino, stage;
    struct swap_lift l = {0};
    uint64_t n;

    if (!str_cut(&rest, ' ', &ino) || !str_cut(&rest, ' ', &stage) || !rest.p ||
        !str_number(ino, UINT64_MAX, &l.ino) ||
        !str_number(stage, s->stage_count - 1, &n) || !is_place(s->scope, rest))
        return false;
    l.stage = (size_t)n;
    l.path = arena_str(a, rest);
    s->lifts = arena_grow(a, s->lifts, s->lift_count, &s->lift_capacity,
                          sizeof *s->lifts);
    s->lifts[s->lift_count++] = l;
    return true;
}

static bool read_line(struct str line, struct arena *a, struct map *seen,
                      struct swap *s)
{
    struct str rest;

    if (take_word(line, "beside", &rest))
        return read_stage(rest, a, s);
    if (take_word(line, "make", &rest) && is_folder(s->scope, rest)) {
        s->make = arena_grow(a, s->make, s->make_count, &s->make_capacity,
                             sizeof *s->make);
        s->make[s->make_count++] = arena_str(a, rest);
        return true;
    }
    if (take_word(line, "drop", &rest) && is_folder(s->scope, rest)) {
        s->drop = arena_grow(a, s->drop, s->drop_count, &s->drop_capacity,
                             sizeof *s->drop);
        s->drop[s->drop_count++] = arena_str(a, rest);
        return true;
    }
    if (take_word(line, "lift", &rest))
        return !s->count && read_lift(rest, a, s);
    return take_word(line, "op", &rest) && !s->lift_count &&
           read_op(rest, a, seen, s);
}

static bool read_head(struct str *text, struct arena *a, char *version,
                      struct swap *s)
{
    struct str line, rest;
    uint64_t backup;

    if (!str_cut(text, '\n', &line) || line.n != sizeof HEAD ||
        !str_starts(line, STR(HEAD)))
        return false;
    *version = line.p[line.n - 1];
    if (!str_cut(text, '\n', &line) || !take_word(line, "stage", &rest) ||
        !swap_is_stage_name(rest))
        return false;
    s->stage_name = arena_str(a, rest);
    if (!str_cut(text, '\n', &line) || !take_word(line, "backup", &rest) ||
        !str_number(rest, BACKUP_MAX_COUNT, &backup))
        return false;
    s->backup = (unsigned)backup;
    return true;
}

/* Cuts off the last line, which contains the hash of the others, and verifies
 * it. */
static bool check_sum(struct str *text)
{
    struct str line, hex;
    struct hash want, got;
    size_t at;

    if (!text->n || text->p[text->n - 1] != '\n')
        return false;
    line = str_slice(*text, 0, text->n - 1);
    at = str_find_last(line, '\n');
    if (at == SIZE_MAX)
        return false;
    line = str_from_index(line, at + 1);
    *text = str_slice(*text, 0, at + 1);
    got = hash_of(*text);
    return take_word(line, "end", &hex) && hash_parse(hex, &want) &&
           hash_eq(&got, &want);
}

bool journal_parse(struct str text, const struct client_scope *scope,
                   struct arena *a, struct swap *out)
{
    struct map seen;
    struct str line;
    char version;

    map_init(&seen, a);
    *out = (struct swap){.scope = scope, .root = -1, .mapm = -1};
    out->stages[out->stage_count++] = (struct swap_stage){STR(""), -1, false};
    if (!check_sum(&text) || !read_head(&text, a, &version, out))
        return false;
    while (str_cut(&text, '\n', &line))
        if (text.p && !read_line(line, a, &seen, out))
            return false;
    return version == version_of(out) || (scope->is_user && version == '1');
}

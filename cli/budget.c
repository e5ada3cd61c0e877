#include "base/fs.h"
#include "base/json.h"
#include "base/map.h"
#include "base/text.h"
#include "mapm/clients.h"
#include "mapm/layer.h"
#include "mapm/open_store.h"
#include "mapm/provision.h"
#include "mapm/serve.h"
#include "mapm/skill_roots.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

/*
 * The context that a workspace costs before the first prompt: for each client
 * the list of skills that it gives its model, compared with its limit, and the
 * instructions, in characters and tokens (T12).
 */

#define BIGGEST_MAX            5
#define NAME_COLUMNS           16
#define POINTS_PER_TOKEN       4
#define WINDOW_MAX_TOKENS      1000000000
#define INSTRUCTIONS_MAX_BYTES (16u << 20) /* larger than any prompt */

struct cost {
    struct str name, folder;
    size_t chars;
    size_t clients; /* how many list it */
};

struct instructions {
    struct str file;
    size_t chars;
};

struct reckoning {
    const struct client *client; /* NULL: mapm mcp */
    size_t limit;                /* of the list, in characters; 0: none */
    size_t skills, chars;        /* of the whole list … */
    size_t sent;                 /* … and of what the model gets of it */
    size_t searched, saved; /* skills that it does not list [G4], and how much
                             * more it would send with them */
    struct instructions texts[2 * CLIENT_MAX_TEXTS];
    size_t text_count, text_chars;
    /* skills that lose their line, or with `names_stay` their description */
    struct str *dropped;
    size_t dropped_count, dropped_capacity;
};

struct budget {
    struct invocation *inv;
    struct store *store;
    struct str workspace;
    size_t window;             /* tokens of the model's context */
    struct reckoning *clients; /* the table's, and mapm mcp */
    size_t count;
    struct map by_folder; /* -> struct cost */
    struct cost **biggest;
    size_t biggest_count;
};

static const char *name_of(const struct reckoning *r)
{
    return r->client ? r->client->name : "mapm mcp";
}

static size_t tokens_of(size_t chars)
{
    return chars == 0 || chars >= POINTS_PER_TOKEN ? chars / POINTS_PER_TOKEN
                                                   : 1;
}

static size_t start_tokens(const struct reckoning *r)
{
    return tokens_of(r->sent) + tokens_of(r->text_chars);
}

/* --- reckoning --------------------------------------------------------------------------- */

/* "- name" and its LF. */
static size_t name_chars(const struct library_skill *s)
{
    return text_count(s->name) + 3;
}

/* ": description": clients print other words of about the same length. */
static size_t description_chars(const struct client_budget *c,
                                const struct library_skill *s)
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t n = text_count(text_one_line(s->description, &a));

    return 2 + (c->description_max && n > c->description_max
                    ? c->description_max
                    : n);
}

/* The same folder by several links is one skill. */
static void note_cost(struct budget *b, const struct library_skill *s,
                      size_t chars)
{
    struct arena *a = &b->inv->cx.arena;
    struct err ignored = {0};
    struct str real;
    struct cost *c;

    if (!fs_real_path(str_dup0(s->folder, a), a, &real, &ignored))
        real = arena_str(a, s->folder);
    c = map_find(&b->by_folder, real);
    if (!c) {
        c = arena_new(a, struct cost);
        c->name = arena_str(a, s->name);
        c->folder = real;
        map_put(&b->by_folder, real, c);
    }
    if (chars > c->chars)
        c->chars = chars;
    c->clients++;
}

static void note_dropped(struct budget *b, struct reckoning *r, struct str name)
{
    struct arena *a = &b->inv->cx.arena;

    r->dropped = arena_grow(a, r->dropped, r->dropped_count,
                            &r->dropped_capacity, sizeof *r->dropped);
    r->dropped[r->dropped_count++] = arena_str(a, name);
}

/* By name, in the order of the list: what is beyond the limit is left out. */
static void add_up(struct budget *b, struct reckoning *r,
                   const struct library *l)
{
    const struct client_budget *c = &r->client->budget;

    r->limit = clients_list_limit(c, b->window);
    for (size_t i = 0; i < library_count(l) && c->names_stay; i++)
        if (!(c->hides && library_at(l, i)->disabled))
            r->sent += name_chars(library_at(l, i));
    for (size_t i = 0; i < library_count(l); i++) {
        const struct library_skill *s = library_at(l, i);
        size_t name = name_chars(s), rest = description_chars(c, s);
        size_t more = rest + (c->names_stay ? 0 : name);

        if (c->hides && s->disabled)
            continue;
        r->skills++;
        r->chars += name + rest;
        note_cost(b, s, name + rest);
        if (!r->limit || r->sent + more <= r->limit)
            r->sent += more;
        else
            note_dropped(b, r, s->name);
    }
}

static size_t add_roots(struct budget *b, struct library_root *roots,
                        size_t count, bool flat, enum library_source source,
                        struct str folder, const char *const *names)
{
    for (size_t i = 0; i < CLIENT_MAX_FOLDERS && names[i] && folder.n; i++) {
        roots[count] = (struct library_root){
            .source = source,
            .path = fs_join(folder, str_cstr(names[i]), &b->inv->cx.arena),
            .flat = flat,
            .allowed_link_root = STR("/"), /* clients follow any link */
        };
        count++;
    }
    return count;
}

static void note_text(struct reckoning *r, struct str file, struct str text)
{
    struct instructions *t = &r->texts[r->text_count++];

    *t = (struct instructions){file, text_count(text)};
    r->text_chars += t->chars;
}

/* A file that the user cannot read is not reported, as a client cannot read it
 * either. */
static void read_texts(struct budget *b, struct reckoning *r, struct str folder,
                       const char *const *names)
{
    struct arena *a = &b->inv->cx.arena;

    for (size_t i = 0; i < CLIENT_MAX_TEXTS && names[i] && folder.n; i++) {
        struct str rest = str_cstr(names[i]), name;

        while (str_cut(&rest, '|', &name)) {
            CLEANUP(arena_done) struct arena once = {0};
            struct str file = fs_join(folder, name, a), text;
            struct err ignored = {0};

            if (!fs_read_user_file(file.p, INSTRUCTIONS_MAX_BYTES, &once, &text,
                                   &ignored))
                continue;
            note_text(r, file, text);
            break;
        }
    }
}

static bool has_searched(struct str workspace, struct arena *a)
{
    return access(fs_join(workspace, STR(PROVISION_SEARCHED), a).p, F_OK) == 0;
}

/* What the list would be with the skills that `listing:` keeps out of it. */
static bool reckon_saving(struct budget *b, struct reckoning *r,
                          const struct library_root *roots, size_t count,
                          struct err *e)
{
    struct library_root all[2 * CLIENT_MAX_FOLDERS + 1];
    struct budget other = {.inv = b->inv, .window = b->window};
    struct reckoning with = {.client = r->client};
    struct library *l = NULL;

    if (!has_searched(b->workspace, &b->inv->cx.arena))
        return true;
    map_init(&other.by_folder, &b->inv->cx.arena);
    memcpy(all, roots, count * sizeof *all);
    all[count] = (struct library_root){
        .source = LIBRARY_WORKSPACE,
        .path =
            fs_join(b->workspace, STR(PROVISION_SEARCHED), &b->inv->cx.arena),
        .flat = true,
        .allowed_link_root = b->workspace,
    };
    if (!skill_roots_open(&b->inv->cx, b->store, false, false, all, count + 1,
                          &l, e))
        return false;
    add_up(&other, &with, l);
    library_close(l);
    r->searched = with.skills - r->skills;
    r->saved = with.sent > r->sent ? with.sent - r->sent : 0;
    return true;
}

static bool reckon(struct budget *b, struct reckoning *r, struct err *e)
{
    struct library_root roots[2 * CLIENT_MAX_FOLDERS];
    bool flat = !r->client->budget.nested;
    struct library *l = NULL;
    size_t count;

    count = add_roots(b, roots, 0, flat, LIBRARY_WORKSPACE, b->workspace,
                      r->client->budget.workspace);
    if (!str_eq(b->workspace, b->inv->cx.home))
        count = add_roots(b, roots, count, flat, LIBRARY_GLOBAL,
                          b->inv->cx.home, r->client->budget.home);
    if (!skill_roots_open(&b->inv->cx, b->store, false, false, roots, count, &l,
                          e))
        return err_wrap(e, "cannot look at the skills of %s", r->client->name);
    add_up(b, r, l);
    library_close(l);
    if (!reckon_saving(b, r, roots, count, e))
        return err_wrap(e, "cannot look at the skills of %s", r->client->name);
    read_texts(b, r, b->workspace, r->client->budget.workspace_texts);
    if (!str_eq(b->workspace, b->inv->cx.home))
        read_texts(b, r, b->inv->cx.home, r->client->budget.home_texts);
    return true;
}

/* The instructions of `mapm mcp`, besides the files that clients find. */
static bool reckon_server(struct budget *b, struct reckoning *r, struct err *e)
{
    struct library_index o = {0};
    struct library_block block;
    struct str text;
    bool runs = false;
    struct library_root *roots;
    struct library *l = NULL;
    size_t count;
    bool ok;

    if (!skill_roots_places(&b->inv->cx, false, &roots, &count, e) ||
        !skill_roots_open(&b->inv->cx, b->store, false, false, roots, count, &l,
                          e))
        return false;
    for (size_t i = 0; i < library_count(l); i++) {
        runs =
            runs || (library_at(l, i)->metaskill && !library_at(l, i)->broken);
        r->skills += !library_at(l, i)->disabled;
    }
    ok = serve_instructions(l, &o, false, runs, &b->inv->cx.arena, &block,
                            &text, e);
    if (ok)
        r->chars = r->sent = text_count(text);
    library_close(l);
    return ok;
}

static int by_size(const void *x, const void *y)
{
    const struct cost *a = *(struct cost *const *)x;
    const struct cost *b = *(struct cost *const *)y;

    if (a->chars != b->chars)
        return a->chars > b->chars ? -1 : 1;
    return str_cmp(a->folder, b->folder);
}

static void find_biggest(struct budget *b)
{
    size_t n = 0;

    b->biggest = arena_array(&b->inv->cx.arena, b->by_folder.count + 1,
                             sizeof *b->biggest);
    for (size_t i = 0; i < b->by_folder.count; i++)
        b->biggest[n++] = b->by_folder.entries[i].value;
    if (n)
        qsort(b->biggest, n, sizeof *b->biggest, by_size);
    b->biggest_count = n < BIGGEST_MAX ? n : BIGGEST_MAX;
}

/* One that is here or on this machine; with -v any that looks for skills. */
static bool is_told(const struct budget *b, const struct client *c, int root)
{
    if (!c->budget.workspace[0] && !c->budget.home[0])
        return false;
    return c->always || has_option(b->inv, OPTION_VERBOSE) ||
           clients_is_here(c, root) ||
           (clients_is_verified(c) &&
            clients_is_on_machine(c, b->inv->cx.home, NULL, NULL));
}

static bool reckon_all(struct budget *b, struct err *e)
{
    CLEANUP_FD int root = -1;
    struct reckoning *last;

    b->clients =
        arena_array(&b->inv->cx.arena, clients_count + 1, sizeof *b->clients);
    if (!fs_open_dir(b->workspace.p, &root, e))
        return false;
    for (size_t i = 0; i < clients_count; i++) {
        if (!is_told(b, &clients_table[i], root))
            continue;
        b->clients[b->count].client = &clients_table[i];
        if (!reckon(b, &b->clients[b->count++], e))
            return false;
    }
    last = &b->clients[b->count++];
    if (!reckon_server(b, last, e))
        return false;
    find_biggest(b);
    return true;
}

/* --- output ------------------------------------------------------------- */

static bool names_stay(const struct reckoning *r)
{
    return r->client && r->client->budget.names_stay;
}

static void put_client(struct json_writer *w, const struct reckoning *r)
{
    json_begin_object(w);
    json_member_string(w, "name", str_cstr(name_of(r)));
    json_member_optional(w, "seen",
                         r->client ? str_cstr(r->client->seen) : STR(""));
    json_key(w, "max_chars");
    if (r->limit)
        json_number(w, r->limit);
    else
        json_null(w);
    json_member_number(w, "skills", r->skills);
    json_member_number(w, "chars", r->chars);
    json_member_number(w, "sent_chars", r->sent);
    json_member_number(w, "tokens", tokens_of(r->sent));
    json_member_number(w, "search_only", r->searched);
    json_member_number(w, "saved_chars", r->saved);
    json_member_number(w, "saved_tokens", tokens_of(r->saved));
    json_member_strings(w, "dropped", r->dropped,
                        names_stay(r) ? 0 : r->dropped_count);
    json_member_strings(w, "undescribed", r->dropped,
                        names_stay(r) ? r->dropped_count : 0);
    json_member_array(w, "instructions");
    for (size_t i = 0; i < r->text_count; i++) {
        json_begin_object(w);
        json_member_string(w, "file", r->texts[i].file);
        json_member_number(w, "chars", r->texts[i].chars);
        json_member_number(w, "tokens", tokens_of(r->texts[i].chars));
        json_end_object(w);
    }
    json_end_array(w);
    json_member_number(w, "start_tokens", start_tokens(r));
    json_end_object(w);
}

static void print_budget_json(struct budget *b)
{
    struct json_writer *w = print_json_begin(b->inv, "mapm.budget/1", NULL);

    json_member_string(w, "workspace", b->workspace);
    json_member_array(w, "clients");
    for (size_t i = 0; i < b->count; i++)
        put_client(w, &b->clients[i]);
    json_end_array(w);
    json_member_array(w, "biggest");
    for (size_t i = 0; i < b->biggest_count; i++) {
        json_begin_object(w);
        json_member_string(w, "name", b->biggest[i]->name);
        json_member_string(w, "folder", b->biggest[i]->folder);
        json_member_number(w, "chars", b->biggest[i]->chars);
        json_member_number(w, "tokens", tokens_of(b->biggest[i]->chars));
        json_member_number(w, "clients", b->biggest[i]->clients);
        json_end_object(w);
    }
    json_end_array(w);
    print_json_end(b->inv);
}

static void print_dropped(struct term *t, const struct reckoning *r, bool all)
{
    size_t shown =
        all || r->dropped_count <= BIGGEST_MAX ? r->dropped_count : BIGGEST_MAX;

    if (r->dropped_count == 0)
        return;
    term_style_print(t, TERM_YELLOW, "    no room for%s",
                     names_stay(r) ? " the descriptions of" : "");
    for (size_t i = 0; i < shown; i++)
        term_print(t, "%s %.*s", i ? "," : "", STR_ARG(r->dropped[i]));
    if (shown < r->dropped_count)
        term_print(t, " and %zu more", r->dropped_count - shown);
    term_print(t, "\n");
}

static void print_budget(struct budget *b)
{
    bool all = has_option(b->inv, OPTION_VERBOSE);
    struct term *t = &b->inv->term;

    term_print(t, "%-*s %7s %11s %8s %13s %8s\n", NAME_COLUMNS, "client",
               "skills", "characters", "at most", "instructions", "tokens");
    for (size_t i = 0; i < b->count; i++) {
        const struct reckoning *r = &b->clients[i];

        char most[32] = "-";

        if (r->limit)
            snprintf(most, sizeof most, "%zu", r->limit);
        term_print(t, "%-*s %7zu %11zu %8s %13zu %8zu\n", NAME_COLUMNS,
                   name_of(r), r->skills, r->chars, most, r->text_chars,
                   start_tokens(r));
        print_dropped(t, r, all);
        if (r->searched)
            term_print(t,
                       "    without %zu skill%s for searches only, which saves "
                       "%zu characters (%zu tokens)\n",
                       r->searched, r->searched == 1 ? "" : "s", r->saved,
                       tokens_of(r->saved));
    }
    if (b->biggest_count)
        term_print(t, "\nthe biggest:\n");
    for (size_t i = 0; i < b->biggest_count; i++)
        term_print(t, "%7zu  %.*s  %.*s\n", b->biggest[i]->chars,
                   STR_ARG(b->biggest[i]->name),
                   STR_ARG(b->biggest[i]->folder));
}

static bool read_window(struct invocation *inv, size_t *out, struct err *e)
{
    struct str text = option_value(inv, OPTION_CONTEXT_WINDOW);
    uint64_t n = CLIENT_WINDOW_TOKENS;

    if (text.p && (!str_number(text, WINDOW_MAX_TOKENS, &n) || n == 0))
        return err_set(e, ERR_USAGE,
                       "--context-window: \"%.*s\" is no number from 1 to %d",
                       STR_ARG(text), WINDOW_MAX_TOKENS);
    *out = (size_t)n;
    return true;
}

COMMAND(command_budget)
{
    struct budget b = {
        .inv = inv,
        .workspace = arena_str(&inv->cx.arena, layer_workspace(&inv->cx)),
    };
    struct err ignored = {0};
    bool ok;

    if (!read_window(inv, &b.window, e))
        return false;
    map_init(&b.by_folder, &inv->cx.arena);
    if (!open_store(&inv->cx, &b.store, &ignored))
        b.store = NULL; /* only slower without it */
    ok = reckon_all(&b, e);
    close_store(&inv->cx, b.store);
    if (!ok)
        return false;
    if (has_option(inv, OPTION_JSON))
        print_budget_json(&b);
    else
        print_budget(&b);
    *exit_code = EXIT_DONE;
    for (size_t i = 0; i < b.count; i++)
        if (b.clients[i].dropped_count)
            *exit_code = EXIT_FINDINGS;
    return true;
}

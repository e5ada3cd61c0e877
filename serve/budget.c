#include "mapm/budget.h"

#include "base/fs.h"
#include "base/map.h"
#include "base/text.h"
#include "mapm/layer.h"
#include "mapm/open_store.h"
#include "mapm/provision.h"
#include "mapm/serve.h"
#include "mapm/skill_roots.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define POINTS_PER_TOKEN       4
#define INSTRUCTIONS_MAX_BYTES (16u << 20) /* larger than any prompt */

struct reckoning {
    struct context *cx;
    struct store *store; /* NULL if there is none */
    struct str workspace;
    size_t window; /* size of the model's context in tokens */
    bool all;      /* include clients that are not installed */
    struct client_choice choice;
    struct map by_folder; /* -> struct budget_skill */
    struct budget *out;
};

size_t budget_tokens(size_t chars)
{
    return chars == 0 || chars >= POINTS_PER_TOKEN ? chars / POINTS_PER_TOKEN
                                                   : 1;
}

/* Returns the size of "- name" with its LF. */
static size_t name_chars(const struct library_skill *s)
{
    return text_count(s->name) + 3;
}

/* Returns the size of ": description"; the exact words of clients differ, but
 * not their length. */
static size_t description_chars(const struct client_budget *c,
                                const struct library_skill *s)
{
    CLEANUP(arena_done) struct arena a = {0};
    size_t n = text_count(text_one_line(s->description, &a));

    return 2 + (c->description_max && n > c->description_max
                    ? c->description_max
                    : n);
}

/* Counts a skill once, although several links may lead to its folder. */
static void note_cost(struct reckoning *b, const struct library_skill *s,
                      size_t chars)
{
    struct arena *a = &b->cx->arena;
    struct err ignored = {0};
    struct str real;
    struct budget_skill *c;

    if (!fs_real_path(str_dup0(s->folder, a), a, &real, &ignored))
        real = arena_str(a, s->folder);
    c = map_find(&b->by_folder, real);
    if (!c) {
        c = arena_new(a, struct budget_skill);
        c->name = arena_str(a, s->name);
        c->folder = real;
        map_put(&b->by_folder, real, c);
    }
    if (chars > c->chars)
        c->chars = chars;
    c->clients++;
}

static void note_dropped(struct reckoning *b, struct budget_client *r,
                         struct str name)
{
    struct arena *a = &b->cx->arena;

    r->dropped = arena_grow(a, r->dropped, r->dropped_count,
                            &r->dropped_capacity, sizeof *r->dropped);
    r->dropped[r->dropped_count++] = arena_str(a, name);
}

/* Adds up the skills by name in the order of the list, up to the limit. */
static void add_up(struct reckoning *b, struct budget_client *r,
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

static size_t add_roots(struct reckoning *b, struct library_root *roots,
                        size_t count, bool flat, enum library_source source,
                        struct str folder, const char *const *names)
{
    for (size_t i = 0; i < CLIENT_MAX_FOLDERS && names[i] && folder.n; i++) {
        roots[count] = (struct library_root){
            .source = source,
            .path = fs_join(folder, str_cstr(names[i]), &b->cx->arena),
            .flat = flat,
            .allowed_link_root = STR("/"), /* clients follow all links */
        };
        count++;
    }
    return count;
}

static void note_text(struct budget_client *r, struct str file, struct str text)
{
    struct budget_text *t = &r->texts[r->text_count++];

    *t = (struct budget_text){file, text_count(text)};
    r->text_chars += t->chars;
}

/* Reads the instruction files; an unreadable one is not reported, because a
 * client cannot read it either. */
static void read_texts(struct reckoning *b, struct budget_client *r,
                       struct str folder, const char *const *names)
{
    struct arena *a = &b->cx->arena;

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

/* Computes the list with the skills that `listing:` removes from it. */
static bool reckon_saving(struct reckoning *b, struct budget_client *r,
                          const struct library_root *roots, size_t count,
                          struct err *e)
{
    struct library_root all[2 * CLIENT_MAX_FOLDERS + 1];
    struct reckoning other = {.cx = b->cx, .window = b->window};
    struct budget_client with = {.client = r->client};
    struct library *l = NULL;

    if (!has_searched(b->workspace, &b->cx->arena))
        return true;
    map_init(&other.by_folder, &b->cx->arena);
    memcpy(all, roots, count * sizeof *all);
    all[count] = (struct library_root){
        .source = LIBRARY_WORKSPACE,
        .path = fs_join(b->workspace, STR(PROVISION_SEARCHED), &b->cx->arena),
        .flat = true,
        .allowed_link_root = b->workspace,
    };
    if (!skill_roots_open(b->cx, b->store, false, false, all, count + 1, &l, e))
        return false;
    add_up(&other, &with, l);
    library_close(l);
    r->searched = with.skills - r->skills;
    r->saved = with.sent > r->sent ? with.sent - r->sent : 0;
    return true;
}

static bool reckon(struct reckoning *b, struct budget_client *r, struct err *e)
{
    struct library_root roots[2 * CLIENT_MAX_FOLDERS];
    bool flat = !r->client->budget.nested;
    struct library *l = NULL;
    size_t count;

    count = add_roots(b, roots, 0, flat, LIBRARY_WORKSPACE, b->workspace,
                      r->client->budget.workspace);
    if (!str_eq(b->workspace, b->cx->home))
        count = add_roots(b, roots, count, flat, LIBRARY_GLOBAL, b->cx->home,
                          r->client->budget.home);
    if (!skill_roots_open(b->cx, b->store, false, false, roots, count, &l, e))
        return err_wrap(e, "cannot look at the skills of %s", r->client->name);
    add_up(b, r, l);
    library_close(l);
    if (!reckon_saving(b, r, roots, count, e))
        return err_wrap(e, "cannot look at the skills of %s", r->client->name);
    read_texts(b, r, b->workspace, r->client->budget.workspace_texts);
    if (!str_eq(b->workspace, b->cx->home))
        read_texts(b, r, b->cx->home, r->client->budget.home_texts);
    return true;
}

/* Adds the instructions of `mapm mcp`. */
static bool reckon_server(struct reckoning *b, struct budget_client *r,
                          struct err *e)
{
    struct library_index o = {0};
    struct library_block block;
    struct str text;
    bool runs = false;
    struct library_root *roots;
    struct library *l = NULL;
    size_t count;
    bool ok;

    if (!skill_roots_places(b->cx, false, &roots, &count, e) ||
        !skill_roots_open(b->cx, b->store, false, false, roots, count, &l, e))
        return false;
    for (size_t i = 0; i < library_count(l); i++) {
        runs =
            runs || (library_at(l, i)->metaskill && !library_at(l, i)->broken);
        r->skills += !library_at(l, i)->disabled;
    }
    ok =
        serve_instructions(l, &o, false, runs, &b->cx->arena, &block, &text, e);
    if (ok)
        r->chars = r->sent = text_count(text);
    library_close(l);
    return ok;
}

static int by_size(const void *x, const void *y)
{
    const struct budget_skill *a = *(struct budget_skill *const *)x;
    const struct budget_skill *b = *(struct budget_skill *const *)y;

    if (a->chars != b->chars)
        return a->chars > b->chars ? -1 : 1;
    return str_cmp(a->folder, b->folder);
}

static void sort_skills(struct reckoning *b)
{
    const struct budget_skill **all =
        arena_array(&b->cx->arena, b->by_folder.count + 1, sizeof *all);
    size_t n = 0;

    for (size_t i = 0; i < b->by_folder.count; i++)
        all[n++] = b->by_folder.entries[i].value;
    if (n)
        qsort(all, n, sizeof *all, by_size);
    b->out->skills = all;
    b->out->skill_count = n;
}

/* Returns whether to report the client: `clients:` names it, it has files here
 * or is on this machine or, with `all`, reads skills. */
static bool is_reported(const struct reckoning *b, const struct client *c,
                        int root)
{
    if (!c->budget.workspace[0] && !c->budget.home[0])
        return false;
    return c->always || b->all || clients_is_here(c, root) ||
           clients_selection(&b->choice, c) == CLIENT_YES ||
           (clients_is_verified(c) &&
            clients_is_on_machine(c, b->cx->home, NULL, NULL));
}

static bool reckon_all(struct reckoning *b, struct err *e)
{
    struct budget *out = b->out;
    CLEANUP_FD int root = -1;

    out->clients =
        arena_array(&b->cx->arena, clients_count + 1, sizeof *out->clients);
    if (!fs_open_dir(b->workspace.p, &root, e))
        return false;
    for (size_t i = 0; i < clients_count; i++) {
        if (!is_reported(b, &clients_table[i], root))
            continue;
        out->clients[out->count].client = &clients_table[i];
        if (!reckon(b, &out->clients[out->count++], e))
            return false;
    }
    if (!reckon_server(b, &out->clients[out->count++], e))
        return false;
    sort_skills(b);
    return true;
}

bool budget_reckon(struct context *cx, size_t window, bool all,
                   struct budget *out, struct err *e)
{
    struct reckoning b = {
        .cx = cx,
        .workspace = arena_str(&cx->arena, layer_workspace(cx)),
        .window = window,
        .all = all,
        .out = out,
    };
    struct err ignored = {0};
    struct layer layer;
    bool has_layer, ok;

    *out = (struct budget){.workspace = b.workspace};
    map_init(&b.by_folder, &cx->arena);
    has_layer = layer_open_workspace(cx, LAYER_READ, &layer, &ignored);
    if (has_layer)
        b.choice = layer_clients(&layer, &cx->arena);
    if (!open_store(cx, &b.store, &ignored))
        b.store = NULL; /* only slower without it */
    ok = reckon_all(&b, e);
    close_store(cx, b.store);
    if (has_layer)
        layer_close(&layer);
    return ok;
}

#include "mapm/budget.h"

#include "base/json.h"

#include <stdio.h>

#include "command.h"

/* mapm budget: prints the figures of mapm/budget.h as a table or as JSON. */

#define BIGGEST_MAX       5
#define NAME_COLUMNS      16
#define WINDOW_MAX_TOKENS 1000000000

static const char *name_of(const struct budget_client *r)
{
    return r->client ? r->client->name : "mapm mcp";
}

static size_t start_tokens(const struct budget_client *r)
{
    return budget_tokens(r->sent) + budget_tokens(r->text_chars);
}

static size_t skills_shown(const struct budget *b)
{
    return b->skill_count < BIGGEST_MAX ? b->skill_count : BIGGEST_MAX;
}

static bool names_stay(const struct budget_client *r)
{
    return r->client && r->client->budget.names_stay;
}

static void put_client(struct json_writer *w, const struct budget_client *r)
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
    json_key(w, "max_tools");
    if (r->client && r->client->budget.max_tools)
        json_number(w, r->client->budget.max_tools);
    else
        json_null(w);
    json_member_number(w, "skills", r->skills);
    json_member_number(w, "chars", r->chars);
    json_member_number(w, "sent_chars", r->sent);
    json_member_number(w, "tokens", budget_tokens(r->sent));
    json_member_number(w, "search_only", r->searched);
    json_member_number(w, "saved_chars", r->saved);
    json_member_number(w, "saved_tokens", budget_tokens(r->saved));
    json_member_strings(w, "dropped", r->dropped,
                        names_stay(r) ? 0 : r->dropped_count);
    json_member_strings(w, "undescribed", r->dropped,
                        names_stay(r) ? r->dropped_count : 0);
    json_member_array(w, "instructions");
    for (size_t i = 0; i < r->text_count; i++) {
        json_begin_object(w);
        json_member_string(w, "file", r->texts[i].file);
        json_member_number(w, "chars", r->texts[i].chars);
        json_member_number(w, "tokens", budget_tokens(r->texts[i].chars));
        json_end_object(w);
    }
    json_end_array(w);
    json_member_number(w, "start_tokens", start_tokens(r));
    json_end_object(w);
}

static void print_budget_json(struct invocation *inv, const struct budget *b)
{
    struct json_writer *w = print_json_begin(inv, "mapm.budget/1", NULL);

    json_member_string(w, "workspace", b->workspace);
    json_member_array(w, "clients");
    for (size_t i = 0; i < b->count; i++)
        put_client(w, &b->clients[i]);
    json_end_array(w);
    json_member_array(w, "biggest");
    for (size_t i = 0; i < skills_shown(b); i++) {
        json_begin_object(w);
        json_member_string(w, "name", b->skills[i]->name);
        json_member_string(w, "folder", b->skills[i]->folder);
        json_member_number(w, "chars", b->skills[i]->chars);
        json_member_number(w, "tokens", budget_tokens(b->skills[i]->chars));
        json_member_number(w, "clients", b->skills[i]->clients);
        json_end_object(w);
    }
    json_end_array(w);
    print_json_end(inv);
}

static void print_dropped(struct term *t, const struct budget_client *r,
                          bool all)
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

static void print_budget(struct invocation *inv, const struct budget *b)
{
    bool all = has_option(inv, OPTION_VERBOSE);
    struct term *t = &inv->term;

    term_print(t, "%-*s %7s %11s %8s %13s %8s\n", NAME_COLUMNS, "client",
               "skills", "characters", "at most", "instructions", "tokens");
    for (size_t i = 0; i < b->count; i++) {
        const struct budget_client *r = &b->clients[i];

        char most[32] = "-";

        if (r->limit)
            snprintf(most, sizeof most, "%zu", r->limit);
        term_print(t, "%-*s %7zu %11zu %8s %13zu %8zu\n", NAME_COLUMNS,
                   name_of(r), r->skills, r->chars, most, r->text_chars,
                   start_tokens(r));
        print_dropped(t, r, all);
        if (r->client && r->client->budget.max_tools)
            term_print(t,
                       "    at most %u tools of all its servers, which are not "
                       "counted here\n",
                       r->client->budget.max_tools);
        if (r->searched)
            term_print(t,
                       "    without %zu skill%s for searches only, which saves "
                       "%zu characters (%zu tokens)\n",
                       r->searched, r->searched == 1 ? "" : "s", r->saved,
                       budget_tokens(r->saved));
    }
    if (skills_shown(b))
        term_print(t, "\nthe biggest:\n");
    for (size_t i = 0; i < skills_shown(b); i++)
        term_print(t, "%7zu  %.*s  %.*s\n", b->skills[i]->chars,
                   STR_ARG(b->skills[i]->name), STR_ARG(b->skills[i]->folder));
}

COMMAND(command_budget)
{
    struct budget b;
    uint64_t window = CLIENT_WINDOW_TOKENS;

    if (!option_number(inv, OPTION_CONTEXT_WINDOW, WINDOW_MAX_TOKENS, &window,
                       e) ||
        !budget_reckon(&inv->cx, (size_t)window,
                       has_option(inv, OPTION_VERBOSE), &b, e))
        return false;
    if (has_option(inv, OPTION_JSON))
        print_budget_json(inv, &b);
    else
        print_budget(inv, &b);
    for (size_t i = 0; i < b.count; i++)
        if (b.clients[i].dropped_count)
            *exit_code = EXIT_FINDINGS;
    return true;
}

#include "arrival.h"
#include "selection.h"

#define SHORT_COMMIT_CHARS 10

static const char *action_of(const struct sync_package *p)
{
    if (!p->before)
        return "add";
    return p->changed ? "update" : "keep";
}

static struct str short_commit(struct str commit)
{
    return str_slice(commit, 0, SHORT_COMMIT_CHARS);
}

/* "1.2.0 (3f6c…)", what is known of it. */
static struct str shown_version(struct str version, struct str commit,
                                struct arena *a)
{
    if (version.n && commit.n)
        return arena_printf(a, "%.*s (%.*s)", STR_ARG(version),
                            STR_ARG(short_commit(commit)));
    return version.n ? version : short_commit(commit);
}

static void show_prereqs(struct term *t, struct str prereqs)
{
    struct str rest = prereqs, line;

    while (str_line(&rest, &line))
        if (line.n)
            term_print(t, "      %.*s\n", STR_ARG(line));
}

static void show_package(struct sync *s, const struct sync_package *p)
{
    struct term *t = &s->inv->term;
    struct arena *a = &s->inv->arena;
    const struct package *package = p->step->package;
    struct str version = shown_version(p->node->version, p->node->commit, a);

    if (p->before && !p->changed && !p->placed)
        return;
    if (!p->before || !p->changed)
        term_style_print(t, TERM_GREEN, "  + ");
    else
        term_style_print(t, TERM_YELLOW, "  ~ ");
    term_print(t, "%s %.*s", doc_kind_name(package->kind),
               STR_ARG(package->fqn));
    if (p->before && p->changed) {
        struct str old =
            shown_version(p->before->version, p->before->commit, a);

        /* The same bytes of another origin: that is what is new. */
        if (str_eq(old, version) &&
            !str_eq(p->before->origin, p->node->origin.text)) {
            old = p->before->origin;
            version = p->node->origin.text;
        }
        term_print(t, " %.*s ->", STR_ARG(old));
    }
    term_print(t, " %.*s%s\n", STR_ARG(version),
               p->before && p->changed &&
                       str_eq(p->before->digest, p->node->package.content)
                   ? " (same content)"
                   : "");
    if (p->old_command)
        term_print(t, "      ran:  %s\n", p->old_command);
    if (p->command)
        term_print(t, "      runs: %s\n", p->command);
    if (p->node->prereqs.n)
        show_prereqs(t, p->node->prereqs);
}

/* Where it stands, as a change names it. */
static struct str place_of(const struct sync_package *p, struct arena *a)
{
    enum doc_kind kind = p->step->package->kind;

    if (kind == DOC_MCP)
        return str_join(STR(".mcp.json#"), p->place, a);
    return arena_printf(a, ".agents/%s/%.*s", doc_kind_plural(kind),
                        STR_ARG(p->place));
}

bool sync_mark_placed(struct sync *s, const struct provision_change *changes,
                      size_t count, struct err *e)
{
    CLEANUP(arena_done) struct arena scratch = {0};
    struct arena *a = &s->inv->arena;
    struct map added;

    map_init(&added, &scratch);
    for (size_t i = 0; i < count; i++)
        if (changes[i].kind == PROVISION_ADD)
            map_put(&added, changes[i].path, s);
    for (size_t i = 0; i < s->plan.count; i++) {
        struct sync_package *p = &s->packages[i];
        struct document d = {0};

        p->placed = map_has(&added, place_of(p, &scratch));
        if (!p->placed || !p->before || p->changed ||
            p->step->package->kind != DOC_MCP)
            continue;
        /* A lock does not hold what a person should know before it runs. */
        if (!document_read(&s->closure, p->node, a, &d, e))
            return false;
        p->command = str_c(mcp_command_line(&d, a), a);
    }
    return true;
}

void sync_show_plan(struct sync *s)
{
    struct term *t = &s->inv->term;

    if (!s->changed)
        return;
    for (size_t i = 0; i < s->plan.count; i++)
        show_package(s, &s->packages[i]);
    for (size_t i = 0; i < s->gone_count; i++) {
        term_style_print(t, TERM_RED, "  - ");
        term_print(t, "%s %.*s\n", doc_kind_name(s->gone[i]->kind),
                   STR_ARG(s->gone[i]->name));
    }
}

static void put_package(struct sync *s, struct json_writer *w,
                        const struct sync_package *p)
{
    const struct package *package = p->step->package;

    json_begin_object(w);
    json_member_string(w, "type", str_from(doc_kind_name(package->kind)));
    json_member_string(w, "name", package->fqn);
    json_member_string(w, "action", str_from(action_of(p)));
    json_member_optional(w, "version", p->node->version);
    json_member_optional(w, "old_version",
                         p->before ? p->before->version : STR(""));
    json_member_string(w, "origin", p->node->origin.text);
    json_member_optional(w, "commit", p->node->commit);
    json_member_optional(w, "old_commit",
                         p->before ? p->before->commit : STR(""));
    json_member_string(w, "digest", package->content);
    if (package->kind == DOC_MCP)
        json_member_string(w, "key", p->place);
    else
        json_member_string(w, "path", place_of(p, &s->inv->arena));
    json_member_bool(w, "root", p->step->is_root);
    json_member_bool(w, "local", p->is_local);
    json_member_bool(w, "metaskill", p->node->metaskill);
    json_member_optional(w, "prereqs", p->node->prereqs);
    if (p->command)
        json_member_string(w, "command", str_from(p->command));
    json_end_object(w);
}

static void put_gone(struct json_writer *w, const struct lock_entry *entry)
{
    json_begin_object(w);
    json_member_string(w, "type", str_from(doc_kind_name(entry->kind)));
    json_member_string(w, "name", entry->name);
    json_member_string(w, "action", STR("remove"));
    json_member_optional(w, "old_version", entry->version);
    json_member_string(w, "origin", entry->origin);
    json_member_optional(w, "old_commit", entry->commit);
    json_end_object(w);
}

static const char *change_name(enum provision_change_kind kind)
{
    if (kind == PROVISION_ADD)
        return "add";
    return kind == PROVISION_UPDATE ? "update" : "remove";
}

void sync_print_json(struct sync *s, const struct provision_change *changes,
                     size_t count)
{
    struct json_writer w;
    const struct str *kept;
    const struct provision_left *left;
    size_t kept_count, left_count;
    struct buf b;

    buf_init(&b, SIZE_MAX / 4);
    json_writer_init(&w, &b, 2);
    json_begin_object(&w);
    json_member_string(&w, "schema", STR("mapm.install/1"));
    json_member_string(&w, "command", str_from(s->command));
    json_member_string(&w, "workspace", s->layer.path);
    json_member_bool(&w, "dry_run", s->dry_run);
    json_member_bool(&w, "changed", s->changed);
    json_key(&w, "packages");
    json_begin_array(&w);
    for (size_t i = 0; i < s->plan.count; i++)
        put_package(s, &w, &s->packages[i]);
    for (size_t i = 0; i < s->gone_count; i++)
        put_gone(&w, s->gone[i]);
    json_end_array(&w);
    json_key(&w, "changes");
    json_begin_array(&w);
    for (size_t i = 0; i < count; i++) {
        json_begin_object(&w);
        json_member_string(&w, "action",
                           str_from(change_name(changes[i].kind)));
        json_member_string(&w, "path", changes[i].path);
        json_end_object(&w);
    }
    json_end_array(&w);
    json_key(&w, "kept");
    json_begin_array(&w);
    kept = provision_kept(s->layer.provision, &kept_count);
    for (size_t i = 0; i < kept_count; i++)
        json_string(&w, kept[i]);
    left = provision_left(s->layer.provision, &left_count);
    for (size_t i = 0; !s->keep_edited && i < left_count; i++)
        json_string(&w, left[i].what);
    json_end_array(&w);
    if (s->choice_count)
        selection_put(&w, s->choices, s->choice_count);
    json_member_number(&w, "requests", s->closure.progress.requests);
    json_member_number(&w, "bytes", s->closure.progress.bytes);
    json_member_number(&w, "warnings", notice_count(&s->closure.notices));
    json_end_object(&w);
    print_json(s->inv, &b);
    buf_done(&b);
}

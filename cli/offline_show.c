#include "offline_show.h"

#include "base/json_record.h"
#include "base/text.h"
#include "mapm/install_offline.h"

/* store pull, bundle, vendor: copy what the lock names, for use without a
 * network. */

static const struct json_member kept_members[] = {
    JSON_MEMBER_NAMED(struct install_kept, "type", kind, doc_kind_name),
    JSON_MEMBER(struct install_kept, "name", name),
    JSON_MEMBER(struct install_kept, "message", why),
};
JSON_RECORD(kept, struct install_kept);

static const struct json_member folder_members[] = {
    JSON_MEMBER(struct install_offline, "written", written),
    JSON_MEMBER(struct install_offline, "removed", removed),
    JSON_MEMBER(struct install_offline, "foreign", foreign),
};
JSON_RECORD(folder, struct install_offline);

static void print_json(struct invocation *inv, const char *schema,
                       const char *command, const struct install_offline *o,
                       bool is_folder)
{
    struct json_writer *w = print_json_begin(inv, schema, command);

    json_member_optional(w, "path", o->path);
    json_member_number(w, "packages", o->packages);
    json_member_number(w, "requests", o->requests);
    json_member_number(w, "bytes", o->path.n ? o->file_bytes : o->bytes);
    json_member_records(w, "left_out", &kept_record, o->kept, o->kept_count);
    if (is_folder)
        json_put_members(w, &folder_record, o);
    print_json_end(inv);
}

static void note_kept(struct invocation *inv, const struct install_offline *o)
{
    for (size_t i = 0; i < o->kept_count; i++)
        term_note(&inv->term, "left out: %s %.*s: %s",
                  doc_kind_name(o->kept[i].kind),
                  STR_ARG(text_shown(o->kept[i].name, &inv->cx.arena)),
                  o->kept[i].why);
}

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

COMMAND(store_pull)
{
    struct install_offline o;
    char bytes[16];

    if (!install_pull(&inv->cx, &o, e))
        return false;
    if (has_option(inv, OPTION_JSON)) {
        print_json(inv, "mapm.store/1", "pull", &o, false);
        return true;
    }
    note_kept(inv, &o);
    term_note(&inv->term, "%zu package%s in the store (%llu request%s, %s)",
              o.packages, plural(o.packages), (unsigned long long)o.requests,
              plural((size_t)o.requests), text_bytes(o.bytes, bytes));
    return true;
}

COMMAND(command_bundle)
{
    struct install_offline o;
    char bytes[16];

    if (!install_bundle(&inv->cx, inv->arguments.items[0], &o, e))
        return false;
    if (has_option(inv, OPTION_JSON)) {
        print_json(inv, "mapm.bundle/1", NULL, &o, false);
        return true;
    }
    note_kept(inv, &o);
    term_note(&inv->term, "%zu package%s in %.*s (%s)", o.packages,
              plural(o.packages),
              STR_ARG(text_shown(inv->arguments.items[0], &inv->cx.arena)),
              text_bytes(o.file_bytes, bytes));
    return true;
}

static void print_vendored(struct invocation *inv,
                           const struct install_offline *o)
{
    struct arena *a = &inv->cx.arena;

    for (size_t i = 0; i < o->removed.count; i++)
        term_note(&inv->term, "removed: %.*s",
                  STR_ARG(text_shown(o->removed.items[i], a)));
    for (size_t i = 0; i < o->foreign.count; i++)
        term_warn(&inv->term,
                  "%.*s/%.*s belongs to no package and was left alone",
                  STR_ARG(text_shown(o->path, a)),
                  STR_ARG(text_shown(o->foreign.items[i], a)));
    note_kept(inv, o);
    if (o->written.count + o->removed.count == 0)
        term_note(&inv->term, "nothing to do, %zu package%s in %.*s",
                  o->packages, plural(o->packages), STR_ARG(o->path));
    else
        term_note(&inv->term, "%zu package%s in %.*s: %zu file%s written",
                  o->packages, plural(o->packages), STR_ARG(o->path),
                  o->written.count, plural(o->written.count));
}

COMMAND(command_vendor)
{
    struct str folder =
        inv->arguments.count ? inv->arguments.items[0] : STR("");
    struct install_offline o;

    if (!install_vendor(&inv->cx, folder, &o, e))
        return false;
    if (has_option(inv, OPTION_JSON))
        print_json(inv, "mapm.vendor/1", NULL, &o, true);
    else
        print_vendored(inv, &o);
    return true;
}

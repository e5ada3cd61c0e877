#include "base/json.h"
#include "base/path.h"
#include "base/text.h"

#include "../command.h"
#include "skill.h"

/* mapm skill files: lists the files of a skill (L15), or prints one (L14). */

#define KIND_COLUMNS 9

/* Returns the extension of a path: "py"; "" if it has none. */
static struct str extension_of(struct str path)
{
    struct str name = path_last(path);
    size_t point = str_find_last(name, '.');

    return point == SIZE_MAX || point == 0 ? STR("")
                                           : str_from_index(name, point + 1);
}

static void put_file(struct json_writer *w, const struct library_file *f)
{
    json_begin_object(w);
    json_member_string(w, "path", f->path);
    json_member_string(w, "name", path_last(f->path));
    json_member_optional(w, "extension", extension_of(f->path));
    json_member_string(w, "type", str_cstr(library_kind_name(f->kind)));
    json_member_number(w, "size", f->size);
    json_member_bool(w, "executable", f->executable);
    json_member_bool(w, "text", f->is_text);
    json_end_object(w);
}

/* Prints one line per file, with its name escaped. */
static void print_line(struct term *t, const struct library_file *f)
{
    CLEANUP(buf_done) struct buf path = {0};
    char bytes[16];

    buf_init(&path, 8 * f->path.n + 16);
    text_visible(&path, f->path, false);
    term_print(t, "%-*s  %8s  %.*s%s\n", KIND_COLUMNS,
               library_kind_name(f->kind), text_bytes(f->size, bytes),
               STR_ARG(buf_str(&path)), f->executable ? " *" : "");
}

static bool list_files(struct skill_job *job, struct err *e)
{
    struct term *t = &job->inv->term;
    struct library_file *files;
    struct json_writer *w;
    size_t count;

    if (!library_files(job->library, job->words.items[0], &job->inv->cx.arena,
                       &files, &count, e))
        return library_suggest(job->library, job->words.items[0], e);
    if (has_option(job->inv, OPTION_JSON)) {
        w = print_json_begin(job->inv, "mapm.skill/1", job->word);
        json_member_string(w, "name", job->words.items[0]);
        json_member_array(w, "files");
        for (size_t i = 0; i < count; i++)
            put_file(w, &files[i]);
        json_end_array(w);
        print_json_end(job->inv);
        return true;
    }
    /* Files are sorted by kind, then by path. */
    for (int kind = LIBRARY_REFERENCE; kind <= LIBRARY_OTHER; kind++)
        for (size_t i = 0; i < count; i++)
            if ((int)files[i].kind == kind)
                print_line(t, &files[i]);
    if (count == 0)
        term_note(t, "it has no files besides SKILL.md");
    return true;
}

static bool print_file(struct skill_job *job, struct err *e)
{
    struct term *t = &job->inv->term;
    struct json_writer *w;
    struct str text;
    bool cut = false;

    if (!library_read_file(job->library, job->words.items[0],
                           job->words.items[1], LIBRARY_FILE_MAX_BYTES,
                           &job->inv->cx.arena, &text, &cut, e))
        return library_suggest(job->library, job->words.items[0], e);
    if (has_option(job->inv, OPTION_JSON)) {
        w = print_json_begin(job->inv, "mapm.skill/1", job->word);
        json_member_string(w, "name", job->words.items[0]);
        json_member_string(w, "path", job->words.items[1]);
        json_member_bool(w, "truncated", cut);
        json_member_string(w, "text", text);
        print_json_end(job->inv);
        return true;
    }
    if (t->is_out && (!text_is_utf8(text) || str_has_char(text, '\0'))) {
        err_set(e, ERR_FORMAT, "%.*s is not text",
                STR_ARG(job->words.items[1]));
        return err_hint(e,
                        "write it to a file: mapm skill files %.*s %.*s "
                        ">FILE",
                        STR_ARG(job->words.items[0]),
                        STR_ARG(job->words.items[1]));
    }
    term_content(t, text);
    if (cut)
        term_warn(t, "%.*s is longer: these are its first %u bytes",
                  STR_ARG(job->words.items[1]), (unsigned)text.n);
    return true;
}

SKILL_WORD(skill_files)
{
    return job->words.count == 1 ? list_files(job, e) : print_file(job, e);
}

#include "base/fs.h"
#include "base/path.h"
#include "base/text.h"
#include "mapm/limits.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "scan.h"

/* Validation of a SKILL.md into a record: of the frontmatter only (L9), or,
 * with the profile of Metis, of the whole file (T10, T12). */

#define BLOCK_BYTES 4096
/* Two changes in quick succession may have the same time on some file systems,
 * so a file that changed recently is read again by the next scan. */
#define YOUNG_SECONDS 1

struct validation {
    const struct skill_place *place;
    struct arena *a;
    struct str folder; /* resolved path */
    int fd;            /* the open folder */
    struct record *out;
    struct diagnostics why;
    struct str asked;   /* path of the program that the manifest declares */
    struct str program; /* text of the program */
};

static bool is_recently_changed(const struct skill_place *place,
                                const struct fingerprint *s)
{
    return !fingerprint_is_zero(s) && s->seconds >= place->now - YOUNG_SECONDS;
}

/* --- the program beside it ------------------------------------------------------- */

/* Resolves links, whose targets must be inside the skill (K10). */
static bool resolve(const struct validation *j, struct str path,
                    const char **inside, enum manifest_file *state)
{
    char folder[PATH_MAX], real[PATH_MAX];
    size_t n;

    *state = MANIFEST_FILE_UNREADABLE;
    if (!realpath(str_dup0(j->folder, j->a), folder) ||
        !realpath(fs_join(j->folder, path, j->a).p, real)) {
        if (errno == ENOENT)
            *state = MANIFEST_FILE_MISSING;
        return false;
    }
    n = strlen(folder);
    if (strncmp(folder, real, n) != 0 || real[n] != '/') {
        *state = MANIFEST_FILE_ESCAPES;
        return false;
    }
    *inside = str_dup0(str_cstr(real + n + 1), j->a);
    return true;
}

static bool open_beside(const struct validation *j, struct str path, int *fd,
                        struct stat *st, enum manifest_file *state)
{
    const char *inside;
    struct err e = {0};

    *state = MANIFEST_FILE_MISSING;
    if (str_has_char(path, '\0'))
        return false;
    if (fs_open_file_at(j->fd, str_dup0(path, j->a), fd, st, &e))
        return true;
    if (e.code == ERR_NOT_FOUND)
        return false;
    *state = MANIFEST_FILE_UNREADABLE;
    return e.code == ERR_REFUSED && resolve(j, path, &inside, state) &&
           fs_open_file_at(j->fd, inside, fd, st, &e);
}

/* Takes the fingerprint before the file is read, never afterwards. */
static void fingerprint_program(struct validation *j, struct str path)
{
    struct stat st;

    if (str_eq(path, j->place->fingerprinted) || str_has_char(path, '\0'))
        return;
    j->out->program = (struct fingerprint){0};
    if (fstatat(j->fd, str_dup0(path, j->a), &st, 0) == 0)
        j->out->program = fingerprint_of(&st);
}

/* Only the program is read; other files of the package are not needed here. */
static enum manifest_file read_beside(void *ctx, struct str path,
                                      size_t max_bytes, struct arena *a,
                                      struct str *content)
{
    CLEANUP_FD int fd = -1;
    struct validation *j = ctx;
    enum manifest_file state;
    struct err e = {0};
    struct stat st;

    if (max_bytes != PROGRAM_MAX_BYTES)
        return MANIFEST_FILE_MISSING;
    j->asked = path;
    fingerprint_program(j, path);
    if (!open_beside(j, path, &fd, &st, &state))
        return state;
    if ((uint64_t)st.st_size > max_bytes)
        return MANIFEST_FILE_TOO_LARGE;
    if (fs_read_fd(fd, max_bytes, a, content, &e)) {
        j->program = *content;
        return MANIFEST_FILE_OK;
    }
    return e.code == ERR_LIMIT ? MANIFEST_FILE_TOO_LARGE
                               : MANIFEST_FILE_UNREADABLE;
}

/* --- the frontmatter --------------------------------------------------------------- */

static bool next_line(struct str text, size_t *at, bool ended, struct str *line)
{
    size_t start = *at, end = start;

    while (end < text.n && text.p[end] != '\n' && text.p[end] != '\r')
        end++;
    if (start >= text.n || (end == text.n && !ended))
        return false;
    *line = str_slice(text, start, end);
    *at = end + (end < text.n);
    return true;
}

static bool is_fence(struct str line)
{
    return str_starts(line, STR("---")) &&
           str_trim(str_from_index(line, 3)).n == 0;
}

/* Returns the number of bytes up to the line that ends the frontmatter, or 0 if
 * more must be read. Without a first line "---" there is no frontmatter. */
static size_t frontmatter_bytes(struct str text, bool ended)
{
    size_t at = str_starts(text, STR("\xef\xbb\xbf")) ? 3 : 0;
    struct str line;

    if (!next_line(text, &at, ended, &line))
        return 0;
    if (!is_fence(line))
        return at;
    while (next_line(text, &at, ended, &line))
        if (is_fence(line))
            return at;
    return 0;
}

static bool read_frontmatter(int fd, struct arena *a, struct str *out,
                             struct err *e)
{
    size_t n = 0, end = 0;

    for (size_t room = BLOCK_BYTES; end == 0; room *= 4) {
        char *p = arena_alloc(a, room + 1);
        bool ended;

        if (n)
            memcpy(p, out->p, n);
        if (!fs_read_upto(fd, p, room, &n, e))
            return false;
        if (n > ANCHOR_MAX_BYTES)
            return err_set(e, ERR_LIMIT, "larger than %u bytes",
                           ANCHOR_MAX_BYTES);
        ended = n < room;
        *out = str_make(p, n);
        end = frontmatter_bytes(*out, ended);
        if (ended && end == 0)
            end = n; /* the frontmatter is not closed */
        if (ended)
            break;
    }
    *out = str_slice(*out, 0, end);
    return true;
}

static bool fail_text(struct validation *j, const struct err *e)
{
    if (e->code == ERR_LIMIT)
        manifest_check_file(MANIFEST_FILE_TOO_LARGE, DOC_SKILL, &j->why);
    else
        diagnostics_add(&j->why, true, "unreadable", "", 0, "%s", err_first(e));
    return false;
}

static bool read_text(struct validation *j, struct str *out)
{
    CLEANUP_FD int fd = -1;
    struct err e = {0};
    struct stat st;

    if (!folder_open(j->place->bounds, j->place->folder, j->a, &j->fd,
                     &j->folder, &e) ||
        !folder_id_of(j->fd, &j->out->in, &e) ||
        !fs_open_file_at(j->fd, "SKILL.md", &fd, &st, &e))
        return fail_text(j, &e);
    j->out->skill = fingerprint_of(&st);
    if ((uint64_t)st.st_size > ANCHOR_MAX_BYTES)
        err_set(&e, ERR_LIMIT, "too large");
    else if (j->place->metis ? fs_read_fd(fd, ANCHOR_MAX_BYTES, j->a, out, &e)
                             : read_frontmatter(fd, j->a, out, &e))
        return true;
    return fail_text(j, &e);
}

/* --- the verdict --------------------------------------------------------------------- */

/* Returns whether a warning is reported each time: of a skill under another
 * name, a large one, or one that does not run. Advice for its author is left to
 * check [D15]. */
static bool is_always_reported(const struct diagnostic *c)
{
    static const char *const codes[] = {"name-folder", "name-from-folder",
                                        "body-tokens"};

    return STR_IS_ONE_OF(str_cstr(c->code), codes) ||
           (str_starts(str_cstr(c->code), STR("metaskill-")) &&
            diagnostic_is_for_user(c));
}

/* T10: "e1; e2". */
static struct str note_of(const struct validation *j)
{
    CLEANUP(buf_done) struct buf b = {0};
    bool bad = j->why.errors > 0;

    buf_init(&b, SIZE_MAX / 2);
    for (size_t i = 0; i < j->why.count; i++) {
        const struct diagnostic *c = &j->why.items[i];

        if (bad ? !c->error : !is_always_reported(c))
            continue;
        if (b.n > LIBRARY_NOTE_MAX_BYTES)
            break;
        if (b.n)
            buf_text(&b, "; ");
        if (c->line && !j->place->metis)
            buf_printf(&b, "line %u: ", c->line);
        text_visible(&b, c->message, false);
    }
    return arena_str(j->a, text_cut_bytes(buf_str(&b), LIBRARY_NOTE_MAX_BYTES));
}

static struct str tags_of(const struct validation *j, const struct document *d)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, RECORD_TEXT_MAX_BYTES);
    for (size_t i = 0; i < d->tag_count; i++) {
        buf_text(&b, i ? "\n" : "");
        buf_append(&b, d->tags[i]);
    }
    return arena_str(j->a, buf_str(&b));
}

static bool is_broken(const struct validation *j, const struct document *d)
{
    const struct library_options *o = j->place->options;

    return d->metaskill && o->compiles &&
           !o->compiles(o->ctx, d->program, j->program);
}

static void take(struct validation *j, const struct document *d)
{
    struct record *r = j->out;
    const struct str fields[RECORD_FIELDS] = {
        [RECORD_FOLDER] = j->place->folder,
        [RECORD_NAME] = d->name,
        [RECORD_DESCRIPTION] = d->description,
        [RECORD_VERSION] = d->version,
        [RECORD_SCOPE] = d->scope,
        [RECORD_LICENSE] = d->license,
        [RECORD_COMPATIBILITY] = d->compatibility,
        [RECORD_TOOLS] = d->allowed_tools,
        [RECORD_MODEL] = d->model,
        [RECORD_AGENT] = d->agent,
        [RECORD_CONTEXT] = d->context,
        [RECORD_TAGS] = tags_of(j, d),
        [RECORD_PROGRAM] =
            str_eq(j->asked, record_program(NULL)) ? STR("") : j->asked,
        [RECORD_NOTE] = note_of(j),
    };

    memcpy(r->field, fields, sizeof fields);
    r->flags |=
        RECORD_VALID | (d->disable_model_invocation ? RECORD_DISABLED : 0) |
        (d->is_mode ? RECORD_MODE : 0) | (d->metaskill ? RECORD_METASKILL : 0) |
        (is_broken(j, d) ? RECORD_BROKEN : 0);
}

static void refuse(struct validation *j, struct str note)
{
    struct record *r = j->out;

    r->flags &= ~(uint32_t)(RECORD_VALID | RECORD_DISABLED | RECORD_MODE |
                            RECORD_METASKILL | RECORD_BROKEN);
    for (size_t i = 0; i < RECORD_FIELDS; i++)
        r->field[i] = STR("");
    r->field[RECORD_FOLDER] = j->place->folder;
    r->field[RECORD_NOTE] = note.n ? note : STR("it cannot be read");
}

static void validate_text(struct validation *j, struct str text)
{
    const struct manifest_files files = {read_beside, j};
    struct document d;
    struct manifest_input in = {
        .kind = DOC_SKILL,
        .text = text,
        .folder = path_last(j->place->folder),
        .files = &files,
        .profile = j->place->metis ? PROFILE_METIS : PROFILE_INSTALL,
        .in_place = true,
        .skip_body = !j->place->metis,
    };

    manifest_read(&in, j->a, &d, &j->why);
    j->out->warnings = (uint32_t)j->why.warnings;
    if (j->why.errors)
        refuse(j, note_of(j));
    else
        take(j, &d);
    if (!record_is_sound(j->out))
        refuse(j, STR("its frontmatter is not text"));
}

void skill_validate(const struct skill_place *place, struct arena *a,
                    struct record *out)
{
    struct validation j = {.place = place, .a = a, .fd = -1, .out = out};
    struct str text;

    *out = (struct record){.skill = place->skill, .program = place->program};
    diagnostics_init(&j.why, a);
    if (read_text(&j, &text)) {
        validate_text(&j, text);
    } else {
        refuse(&j, note_of(&j));
        out->flags |= RECORD_YOUNG; /* the file may have changed since */
    }
    if (is_recently_changed(place, &out->skill) ||
        is_recently_changed(place, &out->program))
        out->flags |= RECORD_YOUNG;
    fs_close(&j.fd);
}

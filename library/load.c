#include "base/fs.h"
#include "base/proc.h"
#include "base/text.h"
#include "mapm/limits.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "catalog.h"
#include "library_session.h"

/* Loading the body of a skill for a model or a user, within the budgets of a
 * session. Source: T11, T12, T18 to T22, T27, K7, K41, L6, L13. */

#define HOLD_BATCH 64 /* skills between two checks for a signal */

/* --- the file ---------------------------------------------------------------------------- */

static bool read_now(const struct library *l, const struct library_skill *s,
                     struct arena *a, struct str *out,
                     struct fingerprint *fingerprint, struct err *e)
{
    CLEANUP_FD int folder = -1;
    CLEANUP_FD int fd = -1;
    struct str real;
    struct stat st;

    if (!library_open_folder(l, s, a, &folder, &real, e) ||
        !fs_open_file_at(folder, "SKILL.md", &fd, &st, e) ||
        !fs_read_fd(fd, ANCHOR_MAX_BYTES, a, out, e))
        return err_wrap(e, "read %.*s/SKILL.md", STR_ARG(s->folder));
    *fingerprint = fingerprint_of(&st);
    return true;
}

static bool is_as_seen(const struct library *l, const struct library_skill *s,
                       const struct fingerprint *fingerprint)
{
    struct fingerprint known = catalog_record(l, s).skill;

    return fingerprint_eq(fingerprint, &known);
}

bool library_text(const struct library *l, const struct library_skill *s,
                  struct arena *a, struct str *out, struct err *e)
{
    const struct catalog *c = l->catalog;
    size_t i = catalog_index(l, s);
    struct fingerprint fingerprint;

    if (c->texts && c->texts[i].p) {
        *out = c->texts[i];
        return true;
    }
    if (!read_now(l, s, a, out, &fingerprint, e))
        return false;
    if (l->hold && !is_as_seen(l, s, &fingerprint)) {
        err_set(e, ERR_STALE,
                "skill '%.*s' was changed after this session "
                "began",
                STR_ARG(s->name));
        return err_hint(e, "start a fresh session to see what it says now");
    }
    return true;
}

/* Reports the size when the skill is loaded (T12); Metis reads the whole file
 * when it lists. */
static void report_size(const struct library *l, const struct library_skill *s,
                        const struct diagnostics *why)
{
    for (size_t i = 0; i < why->count && !l->options.metis; i++)
        if (strcmp(why->items[i].code, "body-tokens") == 0)
            report_note(&l->options, LIBRARY_WARNING, "skill '%.*s': %.*s",
                        STR_ARG(s->name), STR_ARG(why->items[i].message));
}

static unsigned line_of(struct str text, size_t at)
{
    unsigned line = 1;

    for (size_t i = 0; i < at; i++)
        line += text.p[i] == '\n';
    return line;
}

void library_warn_hidden(const struct library *l, struct str name,
                         struct str path, struct str text)
{
    size_t at;
    int32_t point;
    enum text_hidden kind = text_find_hidden(text, &at, &point);

    if (kind == TEXT_HIDDEN_NONE || kind == TEXT_HIDDEN_ZERO_WIDTH ||
        !catalog_warns_first(l, name, path))
        return;
    report_note(
        &l->options, LIBRARY_WARNING,
        "skill '%.*s': %.*s:%u contains U+%04X (%s), which is invisible",
        STR_ARG(name), STR_ARG(path), line_of(text, at), (unsigned)point,
        text_hidden_name(kind));
}

static bool read_document(const struct library *l,
                          const struct library_skill *s, struct arena *a,
                          struct library_loaded *out, struct err *e)
{
    struct document *d = &out->document;
    struct diagnostics *why = &out->why;
    struct manifest_input in = {
        .kind = DOC_SKILL,
        .folder = catalog_record(l, s).field[RECORD_FOLDER],
        .profile = l->options.metis ? PROFILE_METIS : PROFILE_INSTALL,
        .in_place = true,
    };

    if (!library_text(l, s, a, &in.text, e))
        return false;
    diagnostics_init(why, a);
    manifest_read(&in, a, d, why);
    if (why->errors)
        return diagnostics_fail(
            why, DOC_SKILL, str_dup0(fs_join(s->folder, STR("SKILL.md"), a), a),
            e);
    if (!str_eq(d->name, s->name)) {
        err_set(e, ERR_STALE, "skill '%.*s' has become '%.*s'",
                STR_ARG(s->name), STR_ARG(d->name));
        return err_hint(e, "look for skills again");
    }
    if (d->hidden)
        library_warn_hidden(l, s->name, STR("SKILL.md"), in.text);
    d->metaskill = s->metaskill; /* as found by the scan; not checked again */
    d->program = s->program;
    return true;
}

void library_keep(struct library *l)
{
    l->hold = true;
}

/* Reads a skill whose path contains no link and whose file is unchanged, as for
 * most skills, with four system calls; read_now() needs nine. */
static bool open_plain(int root, const struct record *r, struct catalog *c,
                       struct str *out)
{
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP_FD int fd = -1;
    struct str path = fs_join(r->field[RECORD_FOLDER], STR("SKILL.md"), &a);
    struct fingerprint fingerprint;
    struct err ignored = {0};
    struct stat st;
    ssize_t n;
    char *p;

    if (root < 0 || !fs_open_file_at(root, path.p, &fd, &st, &ignored))
        return false;
    fingerprint = fingerprint_of(&st);
    if (!fingerprint_eq(&fingerprint, &r->skill) ||
        fingerprint.size > ANCHOR_MAX_BYTES)
        return false;
    p = arena_alloc(&c->a, (size_t)fingerprint.size + 1);
    n = read(fd, p, (size_t)fingerprint.size + 1); /* one byte more, to
                                                    * detect the end of file */
    if (n < 0 || (size_t)n != fingerprint.size)
        return false;
    *out = str_make(p, (size_t)n);
    return true;
}

static void open_one(const struct library *l, size_t i, const int *roots,
                     const struct record *r)
{
    struct catalog *c = l->catalog;
    const struct library_skill *s = &c->skills[i];
    struct fingerprint fingerprint;
    struct err ignored = {0};

    if (!open_plain(roots[c->places[i].root], r, c, &c->texts[i]) &&
        (!read_now(l, s, &c->a, &c->texts[i], &fingerprint, &ignored) ||
         !is_as_seen(l, s, &fingerprint)))
        c->texts[i] = (struct str){0};
}

static bool open_all(const struct library *l, const int *roots, struct err *e)
{
    struct catalog *c = l->catalog;
    size_t bytes = 0;

    for (size_t i = 0; i < c->count; i++) {
        struct record r;

        if (i % HOLD_BATCH == 0 && proc_is_asked_to_end())
            return err_set(e, ERR_INTERRUPTED, "interrupted");
        if (c->texts[i].p)
            continue;
        r = catalog_record(l, &c->skills[i]);
        bytes += r.skill.size;
        if (bytes > LIBRARY_MAX_HELD_BYTES)
            break;
        open_one(l, i, roots, &r);
    }
    return true;
}

bool library_hold(struct library *l, struct err *e)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct catalog *c = l->catalog;
    size_t count = l->options.root_count;
    int *roots = arena_array(&a, count + 1, sizeof *roots);
    bool ok;

    library_keep(l);
    if (!c->texts)
        c->texts = arena_array(&c->a, c->count + 1, sizeof *c->texts);
    for (size_t i = 0; i < count; i++) {
        struct str real = c->batches[i].bounds.real;
        struct err ignored = {0};

        if (!real.n ||
            !fs_open_dir_at(AT_FDCWD, str_dup0(real, &a), &roots[i], &ignored))
            roots[i] = -1;
    }
    ok = open_all(l, roots, e);
    for (size_t i = 0; i < count; i++)
        fs_close(&roots[i]);
    return ok;
}

/* --- what a model reads ------------------------------------------------------------------ */

static struct str with_head(const struct library_skill *s, struct str text,
                            struct arena *a)
{
    return arena_printf(a, "# Skill: %.*s (source: %s)\n\n%.*s",
                        STR_ARG(s->name), library_source_name(s->source),
                        STR_ARG(text));
}

static struct str pointer_text(const struct library_skill *s, bool preloaded,
                               struct arena *a)
{
    struct str text =
        preloaded
            ? arena_printf(a,
                           "This skill's body is already loaded in the system "
                           "prompt (pre-activated at session start). Re-read "
                           "the system prompt section `### Skill: %.*s` for "
                           "its operating instructions.",
                           STR_ARG(s->name))
            : arena_printf(a,
                           "This skill is already loaded in the conversation "
                           "history (activated earlier this session). Re-read "
                           "the earlier `tool_result` for "
                           "`skill_load(\"%.*s\")` for its operating "
                           "instructions.",
                           STR_ARG(s->name));

    return with_head(s, text, a);
}

static bool activation_text(const struct library *l,
                            const struct library_skill *s, struct str body,
                            struct arena *a, struct str *out, struct err *e)
{
    struct library_file *files;
    struct str *paths;
    size_t count;

    if (!library_files(l, s->name, a, &files, &count, e))
        return false;
    paths = arena_array(a, count + 1, sizeof *paths);
    for (size_t i = 0; i < count; i++)
        paths[i] = files[i].path;
    *out = manifest_activation(s->name, body, s->folder, paths, count, a);
    return true;
}

static bool body_text(const struct library *l, const struct library_skill *s,
                      enum library_as as, struct str body, struct arena *a,
                      struct str *out, struct err *e)
{
    struct str stripped;

    if (as == LIBRARY_AS_USER)
        return activation_text(l, s, body, a, out, e);
    stripped = text_strip(body);
    *out = as == LIBRARY_AS_TOOL
               ? with_head(s, body, a)
               : arena_printf(a, "### Skill: %.*s\n\n%.*s\n", STR_ARG(s->name),
                              STR_ARG(stripped));
    return true;
}

static const char *const as_names[] = {
    [LIBRARY_AS_TOOL] = "tool",
    [LIBRARY_AS_USER] = "user",
    [LIBRARY_AS_SYSTEM] = "system",
};

bool library_as_find(struct str name, enum library_as *out)
{
    for (size_t i = 0; i < sizeof as_names / sizeof *as_names; i++) {
        if (!str_is(name, as_names[i]))
            continue;
        *out = (enum library_as)i;
        return true;
    }
    return false;
}

/* --- public -------------------------------------------------------------------------------- */

bool library_check_model(const struct library_skill *s, struct err *e)
{
    if (!s->disabled)
        return true;
    err_set(e, ERR_REFUSED, "skill '%.*s' can be started by the user only",
            STR_ARG(s->name));
    return err_hint(e,
                    "its SKILL.md says disable-model-invocation: ask the "
                    "user to call /%.*s",
                    STR_ARG(s->name));
}

static bool find(const struct library *l, struct str name, bool model,
                 const struct library_skill **out, struct err *e)
{
    return catalog_find(l, name, out, e) &&
           (!model || library_check_model(*out, e));
}

/* Returns the session's activation of this body. A body that can no longer be
 * read counts as unchanged. */
static const struct library_activation *
find_before(const struct library *l, const struct library_skill *s,
            const struct library_session *session, struct arena *a)
{
    const struct library_activation *last =
        session_find(session, s->name, NULL);
    struct library_loaded now = {0};
    struct err ignored = {0};

    if (!last || !read_document(l, s, a, &now, &ignored))
        return last;
    return session_find(session, s->name, now.document.skill_version);
}

static bool load_body(const struct library *l, const struct library_skill *s,
                      enum library_as as, struct library_session *session,
                      struct arena *a, struct library_loaded *out,
                      struct err *e)
{
    if (!read_document(l, s, a, out, e) ||
        (session &&
         !session_check(session, s->name, out->document.load_size_tokens, e)) ||
        !body_text(l, s, as, text_unix_lines(out->document.body, a), a,
                   &out->text, e))
        return false;
    report_size(l, s, &out->why);
    memcpy(out->skill_version, out->document.skill_version,
           sizeof out->skill_version);
    out->load_size_tokens = out->document.load_size_tokens;
    if (session) {
        struct library_activation new = {.name = s->name,
                                         .tokens = out->load_size_tokens};

        memcpy(new.skill_version, out->skill_version, sizeof new.skill_version);
        out->warn = library_session_put(session, &new);
    }
    return true;
}

bool library_load(const struct library *l, struct str name, enum library_as as,
                  bool model, struct library_session *session, struct arena *a,
                  struct library_loaded *out, struct err *e)
{
    const struct library_activation *before = NULL;
    struct library_loaded loaded = {0};

    if (!library_check(l, e) || !find(l, name, model, &loaded.skill, e))
        return false;
    if (session)
        before = find_before(l, loaded.skill, session, a);
    if (before) {
        loaded.already_preloaded = before->preloaded;
        loaded.already_loaded = !before->preloaded;
        loaded.text = pointer_text(loaded.skill, before->preloaded, a);
        loaded.load_size_tokens = before->tokens;
        memcpy(loaded.skill_version, before->skill_version,
               sizeof loaded.skill_version);
    } else if (!load_body(l, loaded.skill, as, session, a, &loaded, e)) {
        return false;
    }
    *out = loaded;
    return true;
}

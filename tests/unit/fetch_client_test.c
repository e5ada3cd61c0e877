/* The client side of the protocol with mapm-fetch: THREATS 1.2, [row 10, row
 * 30]. */

#include "base/fs.h"
#include "base/proc.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../fetch/client.h"
#include "../../fetch/worker/link.h"
#include "tap.h"

#define ID  "0123456789abcdef0123456789abcdef01234567"
#define ID2 "fedcba9876543210fedcba9876543210fedcba98"

/* --- frames --------------------------------------------------------------- */

TEST(fields_come_back)
{
    CLEANUP(buf_done) struct buf b;
    struct hash h = hash_of(STR("x")), back;
    struct err e = {0}, got;
    struct fields in;

    buf_init(&b, 10000);
    frame_u8(&b, 7);
    frame_u32(&b, 70000);
    frame_u64(&b, 1ull << 40);
    frame_str(&b, STR("text"));
    frame_raw(&b, h.b, sizeof h.b);
    err_set(&e, ERR_REF, "inner");
    err_wrap(&e, "outer");
    err_hint(&e, "do");
    frame_err(&b, &e);

    in = fields_of(buf_str(&b));
    CHECK(field_u8(&in, 7) == 7);
    CHECK(field_u32(&in, 70000) == 70000);
    CHECK(field_u64(&in) == 1ull << 40);
    CHECK(str_is(field_str(&in, 4), "text"));
    back = field_hash(&in);
    CHECK(hash_eq(&back, &h));
    field_err(&in, &got);
    CHECK(fields_end(&in));
    CHECK(got.code == ERR_REF);
    CHECK_STR(err_first(&got), "inner");
    CHECK_STR(err_next(&got, err_first(&got)), "outer");
    CHECK_STR(got.hint, "do");
}

TEST(fields_stay_within_their_limits) /* [row 30] */
{
    struct fields in = fields_of(STR("\x08"));

    CHECK(field_u8(&in, 7) == 0 && in.bad);
    in = fields_of(STR("\x05\0\0\0abcde"));
    CHECK(field_str(&in, 4).n == 0 && in.bad);
    in = fields_of(STR("\x06\0\0\0abcde"));
    CHECK(field_str(&in, 100).n == 0 && in.bad);
    in = fields_of(STR("\xff\xff\xff\xff"));
    CHECK(field_str(&in, SIZE_MAX).n == 0 && in.bad);
    in = fields_of(STR("\x01x"));
    CHECK(field_u8(&in, 1) == 1 && !fields_end(&in));
    in = fields_of(STR("\x02"));
    CHECK(!field_bool(&in) && in.bad);
    in = fields_of(STR("\0\0\0\0\0\0\0\0"));
    {
        struct err e;

        field_err(&in, &e); /* an error without a code */
        CHECK(in.bad);
    }
}

static void open_pair(struct channel *x, struct channel *y)
{
    int fd[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fd) < 0)
        abort();
    channel_init(x, fd[0], 1u << 30);
    channel_init(y, fd[1], 1u << 30);
}

TEST(a_channel_carries_frames_of_any_size)
{
    static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 5u << 20};
    CLEANUP(channel_done) struct channel x = {.fd = -1}, y = {.fd = -1};
    struct err e = {0};

    open_pair(&x, &y);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char *text = heap_alloc(sizes[i] + 1);
        size_t begun = frame_begin(&x.out, FRAME_EVENT);
        struct frame f = {0};

        memset(text, 'a' + (int)i, sizes[i]);
        frame_str(&x.out, str_make(text, sizes[i]));
        frame_end(&x.out, begun);
        while (f.type == 0) {
            CHECK(channel_flush(&x, &e));
            CHECK(channel_fill(&y, &e));
            CHECK(channel_next(&y, &f, &e));
            if (tap_failed)
                break;
        }
        CHECK(f.type == FRAME_EVENT && f.body.n == sizes[i] + 4);
        CHECK(f.body.n > 4 ? f.body.p[4] == 'a' + (int)i : true);
        heap_free(text);
    }
    CHECK(!channel_has_output(&x));
    channel_done(&x);
    CHECK(channel_fill(&y, &e) && y.closed);
    channel_done(&y);
    CHECK(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* no other is closed */
}

TEST(a_channel_refuses_impossible_lengths)
{
    static const struct str rows[] = {
        STR_INIT("\0\0\0\0"),
        STR_INIT("\x01\0\0\x06"), /* one byte more than FRAME_MAX_BYTES */
        STR_INIT("\xff\xff\xff\xff"),
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(channel_done) struct channel c;
        struct frame f;
        struct err e = {0};

        channel_init(&c, -1, 100);
        buf_append(&c.in, rows[i]);
        CHECK(!channel_next(&c, &f, &e));
    }
}

/* --- events --------------------------------------------------------------- */

/* A fetch that has asked: 0 a package, 1 one whose manifest came, 2 a ref,
 * 3 a catalog, 4 one that is over, 6 a document, 7 the files after it. */
static void make_fetch(struct fetch *f)
{
    static const enum fetch_what what[] = {
        FETCH_PACKAGE, FETCH_PACKAGE, FETCH_REF,      FETCH_CATALOG,
        FETCH_PACKAGE, FETCH_REACH,   FETCH_DOCUMENT, FETCH_FILES};

    *f = (struct fetch){.limits = limits_default};
    f->channel.fd = -1;
    f->asks = arena_array(&f->arena, 8, sizeof *f->asks);
    for (unsigned i = 0; i < 8; i++)
        f->asks[i] = (struct client_ask){
            .id = 100 + i, .what = what[i], .is_open = i != 4};
    f->asks[1].has_manifest = true;
    f->ask_count = 8;
    f->open_count = 7;
    map_init(&f->hosts, &f->arena);
    channel_init(&f->channel, -1, 1u << 20);
}

static void done_fetch(struct fetch *f)
{
    channel_done(&f->channel);
    arena_done(&f->arena);
}

/* Frames that mapm-fetch would send. */
static struct str body_of(struct link *l, uint32_t seq,
                          const struct fetch_event *ev)
{
    link_init(l, -1);
    link_event(l, seq, ev);
    return str_from_index(buf_str(&l->channel.out), FRAME_HEAD + 1);
}

static struct fetch_event done_event(struct fetch_file *file)
{
    *file = (struct fetch_file){.path = STR("SKILL.md"),
                                .oid = STR(ID),
                                .hash = hash_of(STR("x")),
                                .size = 12};
    return (struct fetch_event){.kind = FETCH_DONE,
                                .ref = STR("main"),
                                .commit = STR(ID),
                                .path = STR("skills/x"),
                                .object = STR(ID2),
                                .doc = DOC_SKILL,
                                .files = file,
                                .file_count = 1};
}

static bool takes(uint32_t seq, const struct fetch_event *ev)
{
    CLEANUP(link_done) struct link l;
    CLEANUP(done_fetch) struct fetch f;
    CLEANUP(arena_done) struct arena a = {0};
    struct fetch_event out = {0};
    struct str body = body_of(&l, seq, ev);
    bool ok;

    make_fetch(&f);
    ok = client_read_event(&f, body, &a, &out);
    for (size_t n = 0; n < body.n; n++) { /* none of its prefixes is valid */
        CLEANUP(done_fetch) struct fetch g;

        make_fetch(&g);
        if (client_read_event(&g, str_slice(body, 0, n), &a, &out))
            return !ok;
    }
    return ok;
}

TEST(an_event_comes_back_whole)
{
    CLEANUP(link_done) struct link l;
    CLEANUP(done_fetch) struct fetch f;
    CLEANUP(arena_done) struct arena a = {0};
    struct fetch_file file;
    struct fetch_event ev = done_event(&file), out = {0};
    struct str note = STR("moved");

    ev.notes = &note;
    ev.note_count = 1;
    file.executable = file.stored = file.is_lfs = file.is_outside = true;
    make_fetch(&f);
    CHECK(client_read_event(&f, body_of(&l, 1, &ev), &a, &out));
    CHECK(out.kind == FETCH_DONE && out.id == 101 && out.doc == DOC_SKILL);
    CHECK(str_is(out.ref, "main") && str_is(out.commit, ID) &&
          str_is(out.object, ID2) && str_is(out.path, "skills/x"));
    CHECK(out.file_count == 1 && out.files[0].executable &&
          out.files[0].stored && out.files[0].is_lfs &&
          out.files[0].is_outside && out.files[0].size == 12 &&
          str_is(out.files[0].path, "SKILL.md") &&
          hash_eq(&out.files[0].hash, &file.hash));
    CHECK(out.note_count == 1 && str_is(out.notes[0], "moved"));
    CHECK(f.open_count == 6 && f.progress.done == 1 && !f.asks[1].is_open);
}

TEST(an_event_must_answer_what_was_asked)
{
    struct fetch_file file;
    struct fetch_event done = done_event(&file), ev;
    struct err why = {0};

    CHECK(takes(1, &done));
    CHECK(!takes(0, &done)); /* before its manifest */
    CHECK(!takes(2, &done));
    CHECK(!takes(3, &done));
    CHECK(!takes(4, &done)); /* it is over */
    CHECK(!takes(8, &done)); /* never asked */
    ev = done;
    ev.file_count = 0;
    CHECK(!takes(1, &ev));
    ev.kind = FETCH_MANIFEST;
    CHECK(takes(0, &ev));
    CHECK(!takes(1, &ev)); /* twice */
    ev.doc = (enum doc_kind)3;
    CHECK(!takes(0, &ev));
    ev.kind = FETCH_REF_FOUND;
    ev.doc = (enum doc_kind)0;
    CHECK(takes(2, &ev));
    CHECK(!takes(0, &ev));
    ev.kind = FETCH_OFFERS;
    CHECK(takes(0, &ev));
    CHECK(takes(3, &ev));
    CHECK(!takes(2, &ev));
    ev.kind = FETCH_FAILED;
    CHECK(!takes(0, &ev)); /* without a reason */
    err_set(&why, ERR_TLS, "x");
    ev.err = &why;
    CHECK(takes(0, &ev));
    ev.kind = FETCH_IDLE; /* set by this side only */
    CHECK(!takes(0, &ev));
}

TEST(an_outline_answers_what_may_end_with_one) /* [F4] */
{
    struct fetch_file file;
    struct fetch_event outline = done_event(&file);

    outline.kind = FETCH_OUTLINE;
    CHECK(takes(0, &outline));  /* an AGENTS.md at the top */
    CHECK(!takes(1, &outline)); /* its manifest has arrived */
    CHECK(!takes(2, &outline));
    CHECK(!takes(3, &outline));
    CHECK(!takes(5, &outline));
    CHECK(takes(6, &outline));
    CHECK(!takes(7, &outline)); /* asked for all of it */
    outline.doc = (enum doc_kind)3;
    CHECK(!takes(6, &outline));
    outline.doc = DOC_SKILL;
    outline.file_count = 0;
    CHECK(!takes(6, &outline));
    outline.kind = FETCH_OFFERS;
    CHECK(!takes(5, &outline));
}

TEST(an_event_is_believed_nothing) /* [row 1, row 4] */
{
    static const struct str paths[] = {
        STR_INIT(""),       STR_INIT("/etc/passwd"), STR_INIT("../x"),
        STR_INIT("a/../b"), STR_INIT("a//b"),        STR_INIT("./a"),
        STR_INIT("a/"),     STR_INIT("a\0b"),
    };
    static const char *const ids[] = {
        "", "0123", ID "0", "0123456789ABCDEF0123456789abcdef01234567"};
    struct fetch_file file;
    struct fetch_offer offer = {DOC_SKILL, STR("skills/x"), true};
    struct fetch_event ev = done_event(&file);

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        file.path = paths[i];
        CHECK(!takes(1, &ev));
    }
    ev = done_event(&file);
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        file.oid = str_cstr(ids[i]);
        CHECK(!takes(1, &ev));
    }
    for (size_t i = 1; i < sizeof ids / sizeof *ids; i++)
        for (int which = 0; which < 3; which++) { /* no id is none */
            ev = done_event(&file);
            *(which == 0   ? &ev.commit
              : which == 1 ? &ev.tag_commit
                           : &ev.object) = str_cstr(ids[i]);
            CHECK(!takes(1, &ev));
        }
    ev = done_event(&file);
    file.size = FILE_MAX_BYTES;
    CHECK(takes(1, &ev));
    file.size++;
    CHECK(!takes(1, &ev));
    ev = (struct fetch_event){
        .kind = FETCH_OFFERS, .offers = &offer, .offer_count = 1};
    CHECK(takes(3, &ev));
    offer.path = STR("../x");
    CHECK(!takes(3, &ev));
    offer = (struct fetch_offer){(enum doc_kind)0, STR("x"), false};
    CHECK(!takes(3, &ev));
}

TEST(files_of_a_package_are_counted) /* [row 4] */
{
    struct fetch_file files[3], file;
    struct fetch_event ev = done_event(&file);

    for (size_t i = 0; i < 3; i++) {
        files[i] = file;
        files[i].size = FILE_MAX_BYTES;
    }
    ev.files = files;
    ev.file_count = 2;
    CHECK(takes(1, &ev)); /* 64 MiB */
    files[2].size = 1;
    ev.file_count = 3;
    CHECK(!takes(1, &ev));
}

/* --- answers -------------------------------------------------------------- */

static bool answers(struct fetch *f, enum frame_type type, const struct buf *b,
                    struct fields *reply)
{
    struct frame frame = {type, buf_str(b)};

    buf_clear(&f->channel.out);
    if (!client_answer(f, &frame))
        return false;
    *reply =
        fields_of(f->channel.out.n
                      ? str_from_index(buf_str(&f->channel.out), FRAME_HEAD + 1)
                      : str_make("", 0));
    return true;
}

/* Writes a program in place of git. It returns a password for each host. */
static void put_git(char *folder)
{
    static const char text[] = "#!/bin/sh\n"
                               "printf 'username=joe\\npassword=secret\\n'\n";
    CLEANUP(arena_done) struct arena a = {0};
    CLEANUP_FD int fd = -1;
    struct err e = {0};

    proc_init();
    CHECK(mkdtemp(folder) && fs_open_dir(folder, &fd, &e));
    CHECK(fs_create_at(fd, "git", 0755, str_cstr(text), &e));
    setenv("PATH", arena_printf(&a, "%s:/usr/bin:/bin", folder).p, 1);
}

TEST(a_credential_is_for_known_hosts_only) /* [row 10, row 13] */
{
    static const struct host_config hosts[] = {
        {.host = STR_INIT("none.example"), .token = HOST_TOKEN_NONE}};
    static const struct {
        const char *protocol, *host;
        bool has;
    } rows[] = {
        {"https", "github.com", true},
        {"https", "evil.example", false},
        {"http", "github.com", false}, /* known, but in clear */
        {"ftp", "github.com", false},
        {"https", "github.com.evil.example", false},
        {"https", "none.example", false}, /* known, but config.yaml */
    };
    CLEANUP(done_fetch) struct fetch f;
    char folder[] = "/tmp/mapm-client.XXXXXX";
    struct err e = {0};

    put_git(folder);
    make_fetch(&f);
    f.options.hosts = hosts;
    f.options.host_count = 1;
    map_put(&f.hosts, STR("github.com"), &f);
    map_put(&f.hosts, STR("none.example"), &f);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CLEANUP(buf_done) struct buf b;
        struct fields reply;

        buf_init(&b, 1000);
        frame_u8(&b, CREDENTIAL_HELPER);
        frame_str(&b, str_cstr(rows[i].protocol));
        frame_str(&b, str_cstr(rows[i].host));
        frame_str(&b, STR("acme/x.git"));
        CHECK(answers(&f, FRAME_NEED_CREDENTIAL, &b, &reply));
        CHECK(field_bool(&reply) == rows[i].has && !reply.bad);
    }
    CHECK(fs_remove_tree_at(AT_FDCWD, folder, &e));
}

static bool find_one(void *ctx, struct str oid, struct hash *h, uint64_t *size)
{
    *h = hash_of(STR("x"));
    *size = 1;
    return str_eq(oid, *(const struct str *)ctx);
}

static bool read_x(void *ctx, const struct hash *h, size_t max, struct arena *a,
                   struct str *out)
{
    (void)ctx;
    (void)h;
    (void)max;
    *out = arena_str(a, STR("x"));
    return true;
}

TEST(blobs_are_looked_up)
{
    CLEANUP(done_fetch) struct fetch f;
    CLEANUP(buf_done) struct buf b;
    struct str known = STR(ID);
    struct fields reply;
    struct oid ids[2];

    make_fetch(&f);
    CHECK(oid_parse(STR(ID), &ids[0]) && oid_parse(STR(ID2), &ids[1]));
    buf_init(&b, 1000);
    frame_u32(&b, 2);
    for (size_t i = 0; i < 2; i++) {
        frame_raw(&b, ids[i].b, sizeof ids[i].b);
        frame_u8(&b, true);
    }
    CHECK(answers(&f, FRAME_FIND_BLOBS, &b, &reply)); /* no store at all */
    CHECK(field_u32(&reply, 2) == 2 && !field_bool(&reply) &&
          !field_bool(&reply) && fields_end(&reply));
    f.options.store =
        (struct fetch_store){.find_blob = find_one, .ctx = &known};
    CHECK(answers(&f, FRAME_FIND_BLOBS, &b, &reply)); /* no text available */
    CHECK(field_u32(&reply, 2) == 2 && !field_bool(&reply) &&
          !field_bool(&reply) && fields_end(&reply));
    f.options.store.read_blob = read_x;
    CHECK(answers(&f, FRAME_FIND_BLOBS, &b, &reply));
    CHECK(field_u32(&reply, 2) == 2 && field_bool(&reply));
    field_hash(&reply);
    CHECK(field_u64(&reply) == 1 && str_is(field_str(&reply, 9), "x"));
    CHECK(!field_bool(&reply) && fields_end(&reply));
    b.n--;
    CHECK(!answers(&f, FRAME_FIND_BLOBS, &b, &reply));
}

TEST(unknown_questions_are_refused)
{
    CLEANUP(done_fetch) struct fetch f;
    CLEANUP(buf_done) struct buf b;
    struct fields reply;

    make_fetch(&f);
    buf_init(&b, 10);
    for (unsigned type = 0; type < 256; type++)
        CHECK(!answers(&f, (enum frame_type)type, &b, &reply));
}

/* After mapm-fetch has ended, each later call fails with the same reason. */
TEST(a_failure_is_for_good)
{
    struct fetch_options o = {.incoming = STR("/tmp")};
    CLEANUP(arena_done) struct arena a = {0};
    struct fetch_want want = {.what = FETCH_PACKAGE};
    struct err why = {0}, e = {0};
    struct fetch_event ev;
    struct fetch *f = NULL;

    CHECK(fetch_open(&o, &f, &e));
    err_set(&why, ERR_FETCH, "it is gone");
    f->dead = &why;
    CHECK(!fetch_next(f, &a, &ev, &e) && e.code == ERR_FETCH);
    CHECK_STR(err_first(&e), "it is gone");
    err_clear(&e);
    CHECK(!fetch_ask(f, &want, &e) && e.code == ERR_FETCH);
    CHECK(f->pid == 0);
    fetch_close(f);
}

TEST(nothing_is_started_before_the_first_ask)
{
    struct fetch_options o = {.incoming = STR("/tmp")};
    CLEANUP(arena_done) struct arena a = {0};
    struct fetch_event ev;
    struct fetch *f = NULL;
    struct err e = {0};

    CHECK(fetch_open(&o, &f, &e));
    CHECK(fetch_next(f, &a, &ev, &e) && ev.kind == FETCH_IDLE);
    CHECK(f->pid == 0);
    fetch_close(f);
    o.incoming = STR("relative");
    CHECK(!fetch_open(&o, &f, &e));
    fetch_close(NULL);
}

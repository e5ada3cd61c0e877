/*
 * star-serve: runs programs of the language, each in a fresh interpreter, for
 * fuzzers and differential tests. Not installed.
 *
 *     star-serve [--max-mem BYTES[K|M|G]] [--max-steps N] [--timeout SECONDS]
 *                [--max-source BYTES] [--max-output BYTES] [--json] [--verify]
 *
 * Standard input: for each program its length, then its text. Standard output:
 * for each program a status, 0 or 1; the length of what it printed, that; the
 * length of the report of its error, that. Lengths and status are 4 bytes,
 * big-endian. Exit 0 at the end of input; 1 when it ends inside a program, or
 * nobody reads the answers; 2 when the command line is wrong. With --verify, a
 * program whose instructions the verifier refuses is not run: the report says
 * why.
 */

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "star_verify.h"

#define FILE_NAME    "prog.star"
#define SOURCE_MAX   (64u << 20) /* longer ones are read and refused */
#define OUTPUT_MAX   (64u << 20)
#define READ_AT_ONCE (1u << 20)

struct bytes {
    char *p;
    size_t length, capacity;
};

static bool reserve(struct bytes *b, size_t more)
{
    size_t need = b->length + more;

    if (need <= b->capacity)
        return true;
    size_t capacity = need > 2 * b->capacity ? need : 2 * b->capacity;
    char *p = realloc(b->p, capacity);
    if (!p)
        return false;
    b->p = p;
    b->capacity = capacity;
    return true;
}

static bool add(struct bytes *b, const void *p, size_t length)
{
    if (!reserve(b, length))
        return false;
    if (length)
        memcpy(b->p + b->length, p, length);
    b->length += length;
    return true;
}

/* --- the protocol ----------------------------------------------------------------- */

/* How many bytes came: fewer than wanted at the end of input. */
static size_t read_up_to(void *p, size_t length)
{
    size_t done = 0;

    while (done < length) {
        ssize_t n = read(STDIN_FILENO, (char *)p + done, length - done);
        if (n > 0)
            done += (size_t)n;
        else if (n == 0 || errno != EINTR)
            break;
    }
    return done;
}

static bool write_all(const char *p, size_t length)
{
    while (length) {
        ssize_t n = write(STDOUT_FILENO, p, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        p += n;
        length -= (size_t)n;
    }
    return true;
}

static bool add_number(struct bytes *b, size_t n)
{
    const unsigned char bytes[4] = {(unsigned char)(n >> 24),
                                    (unsigned char)(n >> 16),
                                    (unsigned char)(n >> 8), (unsigned char)n};

    return add(b, bytes, sizeof bytes);
}

/* A program of `length` bytes; memory is taken as they come, not as announced.
 * What is too long is read to its end and left out. */
static bool read_program(struct bytes *program, size_t length)
{
    program->length = 0;
    while (length) {
        size_t part = length < READ_AT_ONCE ? length : READ_AT_ONCE;

        if (program->length >= SOURCE_MAX)
            program->length = SOURCE_MAX - part;
        if (!reserve(program, part) ||
            read_up_to(program->p + program->length, part) < part)
            return false;
        program->length += part;
        length -= part;
    }
    return true;
}

/* --- a program --------------------------------------------------------------------- */

static bool collect(void *ctx, const char *text, size_t length)
{
    struct bytes *out = ctx;

    return length <= OUTPUT_MAX - out->length && add(out, text, length);
}

struct server {
    struct star_options options;
    struct bytes out;
    bool verify;
};

static bool run(struct server *server, const struct bytes *program,
                struct bytes *answer)
{
    struct bytes *out = &server->out;
    struct star *s = star_open(&server->options);
    const char *report = "";
    char why[100] = "";
    bool ok = false;

    out->length = 0;
    if (s) {
        struct star_program *p = star_compile(
            s, FILE_NAME, program->p ? program->p : "", program->length);
        ok = p && (!server->verify || sl_verify(s, p->top, why)) &&
             star_run(s, p);
        if (!ok)
            report = *why ? why : star_error_report(s);
    }
    answer->length = 0;
    bool fits = add_number(answer, !ok) && add_number(answer, out->length) &&
                add(answer, out->p, out->length) &&
                add_number(answer, strlen(report)) &&
                add(answer, report, strlen(report));
    star_close(s);
    return fits;
}

static int serve(struct server *server)
{
    struct bytes program = {0}, answer = {0};
    unsigned char head[4];
    size_t got;
    bool ok = true;

    while (ok && (got = read_up_to(head, sizeof head)) == sizeof head) {
        size_t length = (size_t)head[0] << 24 | (size_t)head[1] << 16 |
                        (size_t)head[2] << 8 | head[3];
        ok = read_program(&program, length) && run(server, &program, &answer) &&
             write_all(answer.p, answer.length);
    }
    free(program.p);
    free(answer.p);
    return ok && got == 0 ? 0 : 1;
}

/* --- the command line ---------------------------------------------------------------- */

static void usage(const char *option, const char *what)
{
    fprintf(stderr,
            "star-serve: %s: %s\n"
            "usage: star-serve [--max-mem BYTES[K|M|G]] [--max-steps N] "
            "[--timeout SECONDS] [--max-source BYTES] [--max-output BYTES] "
            "[--json] [--verify]\n",
            option, what);
    exit(2);
}

static double number(const char *option, const char *text, const char *units)
{
    static const double factors[] = {1024.0, 1024.0 * 1024,
                                     1024.0 * 1024 * 1024};
    char *end;
    double n = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;

    if (end == text || !(n >= 0 && n < 1e18) || (*end && (!unit || end[1])))
        usage(option, "its number is wrong");
    return unit ? n * factors[unit - units] : n;
}

static void take_options(int argc, char **argv, struct server *server)
{
    struct star_options *o = &server->options;

    for (int i = 1; i < argc; i++) {
        const char *name = argv[i];

        if (strcmp(name, "--json") == 0) {
            o->json = true;
            continue;
        }
        if (strcmp(name, "--verify") == 0) {
            server->verify = true;
            continue;
        }
        if (i + 1 == argc)
            usage(name, "has no value, or is unknown");
        const char *text = argv[++i];
        if (strcmp(name, "--max-mem") == 0)
            o->limits.memory_bytes = (size_t)number(name, text, "KMG");
        else if (strcmp(name, "--max-steps") == 0)
            o->limits.steps = (uint64_t)number(name, text, "");
        else if (strcmp(name, "--timeout") == 0)
            o->limits.timeout_ms = (uint64_t)(number(name, text, "") * 1000);
        else if (strcmp(name, "--max-source") == 0)
            o->limits.source_bytes = (size_t)number(name, text, "KMG");
        else if (strcmp(name, "--max-output") == 0)
            o->limits.output_bytes = (size_t)number(name, text, "KMG");
        else
            usage(name, "unknown option");
    }
}

int main(int argc, char **argv)
{
    struct server server = {.options = {.print = collect}};

    server.options.ctx = &server.out;
    take_options(argc, argv, &server);
    signal(SIGPIPE, SIG_IGN);
    int code = serve(&server);
    free(server.out.p);
    return code;
}

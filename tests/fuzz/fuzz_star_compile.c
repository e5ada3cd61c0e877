/* starlark: any bytes become a program that the verifier accepts, or a report of
 * what is wrong with them, within small limits; what the report shows is clean. */
#include <stdlib.h>

#include "star_verify.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_report(const char *report)
{
    size_t length = 0;

    for (const unsigned char *p = (const unsigned char *)report; *p; p++) {
        if ((*p < ' ' && *p != '\n' && *p != '\t') || *p == 0x7f)
            abort();
        length++;
    }
    if (length == 0 || length > 65536)
        abort();
}

/* As many errors as there are, in the order of the source. */
static void check_errors(struct star *s, size_t size)
{
    struct star_error_info e;
    uint32_t line = 0;
    size_t i = 0;

    for (; star_error_at(s, i, &e); i++) {
        if (!*e.message || (e.hint && !*e.hint) || e.place.line < line ||
            (e.place.file && e.place.line > size + 1))
            abort();
        line = e.place.line;
    }
    if (i == 0)
        abort();
}

static void check_code(struct star *s, const struct star_program *p)
{
    char why[100];

    if (!sl_verify(s, p->top, why) && !strstr(why, "no memory left"))
        abort();
}

static void compile(const uint8_t *data, size_t size,
                    const struct star_options *options)
{
    struct star *s = star_open(options);
    struct star_program *p;
    struct star_place place;

    if (!s)
        return;
    if (!(p = star_compile(s, "fuzz.star", (const char *)data, size))) {
        enum star_error error = star_error(s);
        if (error == STAR_OK || error == STAR_ERROR_RUNTIME)
            abort();
        check_report(star_error_report(s));
        check_errors(s, size);
        if (star_error_place(s, &place) && error == STAR_ERROR_STATIC &&
            place.line > size + 1)
            abort();
    } else if (star_error(s) != STAR_OK) {
        abort();
    } else {
        check_code(s, p);
    }
    if (star_usage(s).memory_peak_bytes > options->limits.memory_bytes)
        abort();
    star_close(s);
}

static struct star_module *no_module(void *ctx, struct star *s,
                                     const char *name, size_t length)
{
    (void)ctx;
    (void)name;
    (void)length;
    star_fail(s, "no module");
    return NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > 100000)
        return 0;
    compile(data, size,
            &(struct star_options){.limits = {.memory_bytes = 8 << 20}});
    compile(data, size,
            &(struct star_options){
                .limits = {.memory_bytes = 1 << 18, .steps = 2000},
                .load = no_module,
                .interactive = true,
            });
    return 0;
}

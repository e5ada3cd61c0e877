/* starlark's JSON: what is read is written and reads back the same; laid out, it
 * is the same text again. Every refusal has a reason and a place. */
#include <stdlib.h>

#include "core/error.h"
#include "lib/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void expect(bool claim)
{
    if (!claim)
        abort();
}

static bool same_text(star_value a, star_value b)
{
    return a && b && sl_text_equal(a, b);
}

/* As json.indent does it; 0 when the text is refused. */
static star_value laid_out(struct star *s, const char *p, size_t n)
{
    struct sl_text t = {.s = s};
    struct sl_json_reader r;

    sl_json_open(&r, s, p, n);
    if (!sl_json_indent(&t, &r, star_string(s, "> ", 2),
                        star_string(s, "\t", 1)))
        t.failed = true;
    return sl_text_string(&t);
}

static void is_a_reason(struct star *s)
{
    enum star_error e = star_error(s);

    expect(e == STAR_ERROR_VALUE || e == STAR_ERROR_RUNTIME ||
           e == STAR_ERROR_DEPTH || e == STAR_ERROR_MEMORY ||
           e == STAR_ERROR_STEPS);
    expect(star_error_message(s)[0]);
}

static void check(struct star *s, const char *p, size_t n)
{
    star_value v = star_from_json(s, p, n), again, text, lines;

    if (!v) {
        is_a_reason(s);
        return;
    }
    if (!(text = star_to_json(s, v))) {
        is_a_reason(s);
        return;
    }
    expect(star_as_text(text, &p, &n));
    again = star_from_json(s, p, n);
    if (!again) {
        is_a_reason(s);
        expect(star_error(s) != STAR_ERROR_VALUE);
        return;
    }
    lines = star_to_json(s, again);
    expect(!lines || same_text(lines, text));
    if (!(lines = laid_out(s, p, n)))
        return;
    expect(star_as_text(lines, &p, &n));
    (void)p;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct star_options o = {.limits.memory_bytes = 32 << 20,
                             .limits.steps = 10000000};
    struct star *s;

    if (size >= 1 << 20 || !(s = star_open(&o)))
        return 0;
    check(s, (const char *)data, size);
    expect(star_usage(s).memory_peak_bytes <= 32 << 20);
    star_close(s);
    return 0;
}

#include "mapm/report.h"
#include "mapm/state_runs.h"

/*
 * Bars on a time axis, as SVG without a view box: lengths along the axis are
 * percentages and everything else is in pixels, so that text and lines keep
 * their size from phones to paper.
 */

#define BAR_MIN_HUNDREDTHS                                                     \
    60 /* in hundredths of a percent; short steps stay
                               * visible */
#define LANE_PIXELS 26
#define BAR_PIXELS  14
#define AXIS_PIXELS 22
#define MAX_TICKS   5

static void put_percent(struct buf *out, uint64_t hundredths)
{
    buf_printf(out, "%u.%02u%%", (unsigned)(hundredths / 100),
               (unsigned)(hundredths % 100));
}

/* Returns a position on the axis in hundredths of a percent. */
static uint64_t place(uint64_t ms, uint64_t span_ms)
{
    if (ms >= span_ms)
        return 10000;
    /* cannot overflow for any time below thousands of years */
    return ms * 10000 / span_ms;
}

static uint64_t end_of(const struct run_step *s, uint64_t span_ms)
{
    if (s->unfinished)
        return span_ms;
    return s->at_ms + s->took_ms;
}

#define TIME_MAX_MS ((uint64_t)1 << 40)

uint64_t report_chart_span(const struct state_run *run,
                           const struct run_detail *detail)
{
    uint64_t span = run->took_ms;

    for (size_t i = 0; i < detail->count; i++) {
        uint64_t end = end_of(&detail->steps[i], 0);

        if (end > span)
            span = end;
    }
    if (span > TIME_MAX_MS)
        return TIME_MAX_MS;
    return span ? span : 1;
}

/* Draws a bar between two times, or a dot for a step without duration. */
static void put_mark(struct buf *out, const struct run_step *s,
                     uint64_t span_ms, unsigned y, unsigned height)
{
    uint64_t from = place(s->at_ms, span_ms);
    uint64_t wide = place(end_of(s, span_ms), span_ms);

    wide = wide > from ? wide - from : 0;
    if (s->kind == STEP_TRACE || s->kind == STEP_PRINT) {
        buf_text(out, "<circle cx=\"");
        put_percent(out, from < 60 ? 60 : from > 9940 ? 9940 : from);
        buf_printf(out, "\" cy=\"%u\" r=\"%u\"/>", y + height / 2,
                   height > 10 ? 4 : 3);
        return;
    }
    if (wide < BAR_MIN_HUNDREDTHS)
        wide = BAR_MIN_HUNDREDTHS;
    if (from + wide > 10000)
        from = 10000 - wide;
    buf_text(out, "<rect x=\"");
    put_percent(out, from);
    buf_text(out, "\" width=\"");
    put_percent(out, wide);
    buf_printf(out, "\" y=\"%u\" height=\"%u\" rx=\"%u\"/>", y, height,
               height > 10 ? 3 : 2);
}

void report_chart_bar(const struct run_step *s, uint64_t span_ms,
                      struct buf *out)
{
    buf_text(out, "<svg class=\"bar\" width=\"100%\" height=\"8\" "
                  "aria-hidden=\"true\"><line class=\"rail\" x1=\"0\" "
                  "x2=\"100%\" y1=\"4\" y2=\"4\"/>");
    put_mark(out, s, span_ms, 0, 8);
    buf_text(out, "</svg>");
}

/* Returns the distance of ticks: 1, 2 or 5 times a power of ten, or a round
 * number of minutes or hours. */
static uint64_t tick_of(uint64_t span_ms)
{
    static const uint64_t minutes[] = {60000,   120000,   300000,
                                       600000,  1200000,  3600000,
                                       7200000, 14400000, 36000000};
    static const uint64_t parts[] = {1, 2, 5};
    uint64_t power = 1;

    for (; power <= 10000; power *= 10)
        for (size_t i = 0; i < 3; i++)
            if (parts[i] * power <= 30000 &&
                span_ms <= parts[i] * power * MAX_TICKS)
                return parts[i] * power;
    for (size_t i = 0; i < sizeof minutes / sizeof *minutes; i++)
        if (span_ms <= minutes[i] * MAX_TICKS)
            return minutes[i];
    return span_ms / MAX_TICKS + 1;
}

/* Writes a time such as "0", "20 s", "500 ms" or "2 min". */
static void put_time(struct buf *out, uint64_t ms, uint64_t tick)
{
    unsigned long long n = ms;

    if (ms == 0)
        buf_text(out, "0");
    else if (tick < 1000 && ms < 1000)
        buf_printf(out, "%llu ms", n);
    else if (tick < 1000)
        buf_printf(out, "%llu.%llu s", n / 1000, n / 100 % 10);
    else if (tick < 60000)
        buf_printf(out, "%llu s", n / 1000);
    else if (tick < 3600000)
        buf_printf(out, "%llu min", n / 60000);
    else
        buf_printf(out, "%llu h", n / 3600000);
}

static void put_axis(struct buf *out, uint64_t span_ms, unsigned height)
{
    uint64_t tick = tick_of(span_ms);

    for (uint64_t ms = 0; ms <= span_ms; ms += tick) {
        uint64_t x = place(ms, span_ms);

        buf_text(out, "<line class=\"grid\" x1=\"");
        put_percent(out, x);
        buf_text(out, "\" x2=\"");
        put_percent(out, x);
        buf_printf(out, "\" y1=\"0\" y2=\"%u\"/><text x=\"", height + 4);
        put_percent(out, x);
        buf_printf(out, "\" y=\"%u\" text-anchor=\"%s\">", height + 17,
                   x < 400    ? "start"
                   : x > 9200 ? "end"
                              : "middle");
        put_time(out, ms, tick);
        buf_text(out, "</text>");
    }
}

static const struct lane {
    enum step_kind kind;
    const char *name; /* name of the class; "s" forms the plural */
} lanes[] = {
    {STEP_ASK, "ask"},
    {STEP_COMMAND, "command"},
    {STEP_TRACE, "trace"},
    {STEP_PRINT, "print"},
};
#define LANES (sizeof lanes / sizeof *lanes)

static size_t count_of(const struct run_detail *detail, enum step_kind kind)
{
    size_t count = 0;

    for (size_t i = 0; i < detail->count; i++)
        count += detail->steps[i].kind == kind;
    return count;
}

static void put_lane(struct buf *out, const struct run_detail *detail,
                     const struct lane *lane, uint64_t span_ms, unsigned y)
{
    unsigned inset = (LANE_PIXELS - BAR_PIXELS) / 2;

    buf_printf(out, "<g class=\"%s\">", lane->name);
    for (size_t i = 0; i < detail->count; i++) {
        const struct run_step *s = &detail->steps[i];

        if (s->kind != lane->kind)
            continue;
        buf_printf(out, "<a href=\"#s%zu\" tabindex=\"-1\"%s>", i + 1,
                   run_step_failed(s) ? " class=\"bad\"" : "");
        put_mark(out, s, span_ms, y + inset, BAR_PIXELS);
        buf_text(out, "</a>");
    }
    buf_text(out, "</g>");
}

static void put_legend(struct buf *out, const struct run_detail *detail)
{
    buf_text(out, "<figcaption class=\"legend\">");
    for (size_t i = 0; i < LANES; i++) {
        size_t count = count_of(detail, lanes[i].kind);

        if (count)
            buf_printf(out, "<span class=\"%s\">%zu %s%s</span>\n",
                       lanes[i].name, count, lanes[i].name,
                       count == 1 ? "" : "s");
    }
    buf_text(out, "</figcaption>");
}

void report_chart(const struct run_detail *detail, uint64_t span_ms,
                  struct buf *out)
{
    unsigned height = 0, y = 0;

    for (size_t i = 0; i < LANES; i++)
        height += count_of(detail, lanes[i].kind) ? LANE_PIXELS : 0;
    buf_text(out, "<figure class=\"chart card\">");
    put_legend(out, detail);
    buf_printf(out, "<svg width=\"100%%\" height=\"%u\" aria-hidden=\"true\">",
               height + AXIS_PIXELS);
    put_axis(out, span_ms, height);
    for (size_t i = 0; i < LANES; i++) {
        if (!count_of(detail, lanes[i].kind))
            continue;
        put_lane(out, detail, &lanes[i], span_ms, y);
        y += LANE_PIXELS;
    }
    buf_text(out, "</svg></figure>\n");
}

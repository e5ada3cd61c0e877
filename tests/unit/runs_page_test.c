#include "mapm/report.h"
#include "mapm/run_history.h"
#include "mapm/state_runs.h"

#include <stdio.h>
#include <string.h>

#include "../../report/markup.h"
#include "page_check.h"
#include "tap.h"

/* [K42, row 7, row 22] the page of a run consists of what mapm writes, whatever
 * stands in it. */

static bool has(struct str s, const char *text)
{
    return str_find(s, str_cstr(text)) != SIZE_MAX;
}

/* --- markup ---------------------------------------------------------------------- */

TEST(text_is_only_text)
{
    static const struct {
        const char *text;
        bool lines;
        const char *markup;
    } rows[] = {
        {"", false, ""},
        {"plain", false, "plain"},
        {"<script>alert(1)</script>", false,
         "&lt;script&gt;alert(1)&lt;/script&gt;"},
        {"\" onload=\"x", false, "&quot; onload=&quot;x"},
        {"' onload='x", false, "&#39; onload=&#39;x"},
        {"&lt;b&gt;&amp;", false, "&amp;lt;b&amp;gt;&amp;amp;"},
        {"a\nb", true, "a\nb"},
        {"a\nb", false, "a\\x0ab"},
        {"\x1b[31m\x07\r", true, "\\x1b[31m\\x07\\x0d"},
        {"\xe2\x80\xae"
         "evil",
         false, "\\u{202e}evil"},
        {"\xe2\x80\xa8", true, "\\u{2028}"},
        {"\xf3\xa0\x81\x81", false, "\\u{e0041}"},
        {"\xff\xfe", false, "\\xff\\xfe"},
        {"+ADw-script+AD4-", false, "+ADw-script+AD4-"}, /* UTF-7 */
        {"\xc0\xbcscript", false, "\\xc0\\xbcscript"},   /* overlong */
        {"caf\xc3\xa9 \xf0\x9f\x91\x8d", false, "caf\xc3\xa9 \xf0\x9f\x91\x8d"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b;

        buf_init(&b, 1000);
        markup_text(&b, str_cstr(rows[i].text), rows[i].lines);
        CHECK_STR(b.n ? b.p : "", rows[i].markup);
        buf_done(&b);
    }
}

TEST(a_nul_shows)
{
    struct buf b;

    buf_init(&b, 100);
    markup_text(&b, str_make("a\0<", 3), true);
    CHECK_STR(b.p, "a\\x00&lt;");
    buf_done(&b);
}

TEST(a_style_sheet_is_named_by_its_hash)
{
    static const struct {
        const char *style, *source;
    } rows[] = {
        {"", "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="},
        {"abc", "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct buf b;

        buf_init(&b, 100);
        markup_source(&b, str_cstr(rows[i].style));
        CHECK_STR(b.p, rows[i].source);
        buf_done(&b);
    }
}

/* --- the page ----------------------------------------------------------------------- */

static struct str page_of(const struct state_run *run, const char *detail,
                          struct arena *a)
{
    struct run_detail d;
    struct err e = {0};
    struct str page;
    struct buf b;

    CHECK(run_detail_parse(str_cstr(detail), a, &d, &e));
    buf_init(&b, 64u << 20);
    report_page(run, &d, &b);
    CHECK(!b.overflowed);
    page = arena_str(a, buf_str(&b));
    buf_done(&b);
    return page;
}

static const char *const hostile[] = {
    "<script>alert(1)</script>",
    "</title><script>alert(1)</script>",
    "</style><script>alert(1)</script>",
    "\"><img src=x onerror=alert(1)>",
    "'><svg/onload=alert(1)>",
    "\" onmouseover=\"alert(1)",
    "javascript:alert(1)",
    "</pre></figure></details></main></body></html><script>alert(1)</script>",
    "<!--",
    "-->",
    "]]>",
    "<![CDATA[",
    "<?php",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<meta http-equiv=refresh content=0;url=http://evil.example/>",
    "<base href=http://evil.example/>",
    "<link rel=stylesheet href=http://evil.example/x.css>",
    "@import url(http://evil.example/x.css);",
    "<style>*{display:none}</style>",
    "<form action=http://evil.example><input name=x>",
    "<a href=data:text/html,<script>alert(1)</script>>click</a>",
    "&lt;script&gt;",
    "&#60;script&#62;",
    "&#x3c;script",
    "\\u003cscript\\u003e",
    "%3Cscript%3E",
    "{{7*7}}",
    "${7*7}",
};

/* Every place that a text from outside can get to. */
static struct str detail_with(struct str text, struct arena *a)
{
    struct json_writer w;
    struct str quoted, out;
    struct buf b, q;

    buf_init(&q, 1u << 20);
    json_writer_init(&w, &q, 0);
    json_string(&w, text);
    quoted = arena_str(a, buf_str(&q));
    buf_done(&q);
    buf_init(&b, 1u << 20);
#define T     "%.*s"
#define WHOLE "{\"bytes\":9,\"cut\":true,\"untrusted\":" T "}"
    buf_printf(
        &b,
        "{\"detail\":1,\"keep\":\"full\",\"input\":" WHOLE ",\"result\":" WHOLE
        ",\"report\":" WHOLE ",\"left_out\":2,\"steps\":["
        "{\"kind\":\"ask\",\"at_ms\":1,\"took_ms\":2,\"purpose\":" T
        ",\"prompt\":" WHOLE ",\"answer\":" WHOLE "},"
        "{\"kind\":\"command\",\"at_ms\":3,\"argv\":[" T "," T
        "],\"words\":9,\"rule\":" T ",\"result\":" WHOLE "},"
        "{\"kind\":\"trace\",\"at_ms\":4,\"name\":" T ",\"data\":{" T ":[" T
        "]}},{\"kind\":\"print\",\"at_ms\":5,\"text\":" WHOLE "}]}",
        STR_ARG(quoted), STR_ARG(quoted), STR_ARG(quoted), STR_ARG(quoted),
        STR_ARG(quoted), STR_ARG(quoted), STR_ARG(quoted), STR_ARG(quoted),
        STR_ARG(quoted), STR_ARG(quoted), STR_ARG(quoted), STR_ARG(quoted),
        STR_ARG(quoted), STR_ARG(quoted));
#undef WHOLE
#undef T
    out = arena_str(a, buf_str(&b));
    buf_done(&b);
    return out;
}

TEST(hostile_texts_stay_texts_everywhere)
{
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        struct arena a = {0};
        struct str text = str_cstr(hostile[i]), page;
        struct state_run run = {
            .id = 7,
            .name = text,
            .digest = text,
            .workspace = text,
            .status = text,
            .error = text,
            .backend = text,
            .took_ms = 9,
        };
        const char *wrong;

        page = page_of(&run, detail_with(text, &a).p, &a);
        wrong = page_check(page);
        if (wrong)
            printf("# %s: %s\n", hostile[i], wrong);
        CHECK(!wrong);
        CHECK(!has(page, "evil.example/x.css>"));
        arena_done(&a);
    }
}

/* Every byte, in pairs with what HTML looks at. */
TEST(every_byte_is_shown_or_named)
{
    struct arena a = {0};
    char all[512];
    struct state_run run = {.name = {all, sizeof all}, .error = {all, 512}};
    struct str page;

    for (int i = 0; i < 256; i++) {
        all[2 * i] = (char)i;
        all[2 * i + 1] = "<>&\"'\n a"[i % 8];
    }
    page = page_of(&run, detail_with(str_make(all, sizeof all), &a).p, &a);
    CHECK(!page_check(page));
    arena_done(&a);
}

TEST(the_check_itself_finds_what_it_looks_for)
{
    static const char *const bad[] = {
        "<style></style><script>",
        "<style></style><p onload=\"x\">",
        "<style></style><p class=x>",
        "<style></style>\x1b",
        "<style></style>\xe2\x80\xae",
        "<style></style>a>b",
        "no style",
        "<style></style><p class=\"",
        "<style></style>\xff",
    };

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(page_check(str_cstr(bad[i])));
    CHECK(!page_check(STR("<style>a > b</style><p class=\"x\">y</p>")));
}

/* [K42] a whole text is labelled, where it stands. */
TEST(whole_texts_are_labelled)
{
    struct arena a = {0};
    struct state_run run = {.name = STR("x"), .error = STR("error: y")};
    struct str page = page_of(&run, detail_with(STR("TEXT"), &a).p, &a), rest;
    size_t blocks = 0, labels = 0, at;

    for (rest = page; (at = str_find(rest, STR("<pre"))) != SIZE_MAX;
         rest = str_from_index(rest, at + 1))
        blocks++;
    for (rest = page;
         (at = str_find(rest, STR("<figcaption><span class=\"tag\">"
                                  "untrusted data</span>"))) != SIZE_MAX;
         rest = str_from_index(rest, at + 1))
        labels++;
    CHECK(blocks == 8 && labels == blocks);
    arena_done(&a);
}

TEST(a_long_command_is_whole_in_its_details)
{
    struct arena a = {0};
    struct state_run run = {.name = STR("x")};
    char detail[1000], word[301];
    struct str page;

    memset(word, 'w', 300);
    word[300] = '\0';
    snprintf(detail, sizeof detail,
             "{\"steps\":[{\"kind\":\"command\",\"argv\":[\"%s\"],"
             "\"words\":1}]}",
             word);
    page = page_of(&run, detail, &a);
    CHECK(has(page, "www</bdi>...</code>") && has(page, "</span> command"));
    CHECK(has(page, word));
    word[160] = '\0';
    snprintf(detail, sizeof detail,
             "{\"steps\":[{\"kind\":\"command\",\"argv\":[\"%s\"],"
             "\"words\":1}]}",
             word);
    page = page_of(&run, detail, &a);
    CHECK(has(page, "www</bdi></code>") && !has(page, "</span> command"));
    arena_done(&a);
}

TEST(the_page_allows_nothing_but_its_own_style)
{
    struct arena a = {0};
    struct state_run run = {.name = STR("x")};
    struct str page = page_of(&run, "", &a);

    CHECK(has(page, "default-src 'none'; style-src 'sha256-"));
    CHECK(has(page, "base-uri 'none'; form-action 'none'\""));
    CHECK(!has(page, "unsafe-inline") && !has(page, "http://"));
    CHECK(!has(page, "https://") && !has(page, "url(") &&
          !has(page, "@import"));
    CHECK(!has(str_cstr(runs_style), "<"));
    arena_done(&a);
}

TEST(a_run_without_steps_says_why)
{
    static const struct {
        const char *status, *detail, *text;
    } rows[] = {
        {"running", "", "It is still running"},
        {"interrupted", "", "Its steps are not known"},
        {"ok", "{\"steps\":[]}", "It asked nothing and ran no command"},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct arena a = {0};
        struct state_run run = {.name = STR("x"),
                                .status = str_cstr(rows[i].status)};

        CHECK(has(page_of(&run, rows[i].detail, &a), rows[i].text));
        arena_done(&a);
    }
}

/* --- the chart ------------------------------------------------------------------------- */

static struct str bar(struct run_step s, uint64_t span, struct arena *a)
{
    struct str out;
    struct buf b;

    buf_init(&b, 10000);
    report_chart_bar(&s, span, &b);
    out = arena_str(a, buf_str(&b));
    buf_done(&b);
    return out;
}

TEST(bars_are_in_proportion_and_on_the_axis)
{
    static const struct {
        uint64_t at, took, span;
        bool unfinished;
        const char *x, *width;
    } rows[] = {
        {0, 1000, 1000, false, "x=\"0.00%\"", "width=\"100.00%\""},
        {250, 500, 1000, false, "x=\"25.00%\"", "width=\"50.00%\""},
        {250, 0, 1000, true, "x=\"25.00%\"", "width=\"75.00%\""},
        {500, 0, 1000, false, "x=\"50.00%\"", "width=\"0.60%\""},
        {1000, 1, 1000, false, "x=\"99.40%\"", "width=\"0.60%\""},
        {5000, 9, 1000, false, "x=\"99.40%\"", "width=\"0.60%\""},
        {0, UINT64_MAX / 2, 1000, false, "x=\"0.00%\"", "width=\"100.00%\""},
    };
    struct arena a = {0};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct run_step s = {.kind = STEP_ASK,
                             .at_ms = rows[i].at,
                             .took_ms = rows[i].took,
                             .unfinished = rows[i].unfinished};
        struct str svg = bar(s, rows[i].span, &a);

        CHECK(has(svg, rows[i].x) && has(svg, rows[i].width));
    }
    CHECK(
        has(bar((struct run_step){.kind = STEP_TRACE, .at_ms = 500}, 1000, &a),
            "cx=\"50.00%\""));
    arena_done(&a);
}

TEST(the_axis_has_few_marks_and_ends_with_the_last_step)
{
    static const uint64_t spans[] = {
        0,     1,      3,       999,      1000,     12345,
        60000, 300000, 3600000, 86400000, 1u << 30, UINT64_MAX / 2};

    for (size_t i = 0; i < sizeof spans / sizeof *spans; i++) {
        struct run_step s = {.kind = STEP_ASK, .took_ms = spans[i]};
        struct run_detail d = {.steps = &s, .count = 1};
        struct state_run run = {.took_ms = 0};
        uint64_t span = report_chart_span(&run, &d);
        struct str rest;
        size_t marks = 0, at;
        struct buf b;

        CHECK(span >= 1 && (span >= spans[i] || spans[i] > UINT32_MAX));
        buf_init(&b, 100000);
        report_chart(&d, span, &b);
        for (rest = buf_str(&b);
             (at = str_find(rest, STR("<text"))) != SIZE_MAX;
             rest = str_from_index(rest, at + 1))
            marks++;
        if (marks < 1 || marks > 8)
            printf("# %zu marks for %llu ms\n", marks,
                   (unsigned long long)span);
        CHECK(marks >= 1 && marks <= 8);
        buf_done(&b);
    }
}

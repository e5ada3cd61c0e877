/* run/detail, report: any text as the detail of a run; the page of it
 * consists of what mapm writes. [row 7, row 22, K42]. */
#include "mapm/report.h"
#include "mapm/run_history.h"
#include "mapm/state_runs.h"

#include <stdio.h>
#include <stdlib.h>

#include "page_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_page(const struct run_detail *d, struct str any)
{
    struct state_run run = {
        .id = any.n,
        .name = any,
        .status = str_slice(any, any.n / 2, any.n),
        .took_ms = any.n,
    };
    const char *wrong;
    struct buf page;

    buf_init(&page, 256u << 20);
    report_page(&run, d, &page);
    wrong = page.overflowed ? "it is too long" : page_check(buf_str(&page));
    if (wrong) {
        fprintf(stderr, "the page: %s\n", wrong);
        abort();
    }
    buf_done(&page);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = {(const char *)data, size};
    struct run_detail d;
    struct arena a = {0};
    struct err e = {0};

    if (size > RUN_DETAIL_MAX_BYTES)
        return 0;
    if (run_detail_parse(text, &a, &d, &e)) {
        check_page(&d, str_slice(text, 0, 100));
        for (size_t i = 0; i < d.count; i++) {
            (void)run_step_label(&d.steps[i], &a);
            (void)run_step_outcome(&d.steps[i], &a);
        }
    }
    arena_done(&a);
    return 0;
}

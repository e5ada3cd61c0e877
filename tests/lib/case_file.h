#ifndef TESTS_CASE_FILE_H
#define TESTS_CASE_FILE_H

/*
 * Rows of a file in tests/cases. A row is a line: cells divided by a separator, the
 * last one up to the end of the line; one that is left out is empty. An escape
 * character (% or \\) and two digits are a byte.
 * Lines that begin with "#" and empty ones are none.
 */

#include "base/arena.h"
#include "base/fs.h"

#include <fcntl.h>
#include <stdlib.h>

#include "tap.h"

#define CASE_MAX_CELLS 8
#define CASE_MAX_BYTES (1u << 20)

struct case_row {
    unsigned line;
    struct str cells[CASE_MAX_CELLS]; /* each ends in a NUL, too */
};

static struct str case_cell(struct str text, char escape, struct arena *a)
{
    char *bytes = arena_alloc(a, text.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++) {
        unsigned byte = (unsigned char)text.p[i];

        if (text.p[i] == escape && i + 2 < text.n) {
            char digits[3] = {text.p[i + 1], text.p[i + 2], 0};

            byte = (unsigned)strtoul(digits, NULL, 16);
            i += 2;
        }
        bytes[n++] = (char)byte;
    }
    bytes[n] = 0;
    return str_make(bytes, n);
}

static struct str case_next(struct str *rest, struct str separator)
{
    size_t at = str_find(*rest, separator);
    struct str cell = *rest;

    if (at == SIZE_MAX) {
        *rest = STR("");
        return cell;
    }
    cell = str_slice(*rest, 0, at);
    *rest = str_slice(*rest, at + separator.n, rest->n);
    return cell;
}

/* The rows of `path`, below the root of the checkout, in `a`. */
static struct case_row *case_rows(const char *path, char escape,
                                  const char *separator, unsigned cells,
                                  struct arena *a, size_t *count)
{
    struct str text, line;
    struct err e = {0};
    struct case_row *rows;
    unsigned number = 0;

    *count = 0;
    if (!fs_read_user_file(path, CASE_MAX_BYTES, a, &text, &e)) {
        printf("# %s\n", err_first(&e));
        CHECK(!"the cases can be read");
        return NULL;
    }
    rows = arena_array(a, text.n, sizeof *rows);
    while (str_line(&text, &line)) {
        struct case_row *row = &rows[*count];

        number++;
        if (line.n == 0 || line.p[0] == '#')
            continue;
        row->line = number;
        for (unsigned i = 0; i + 1 < cells; i++)
            row->cells[i] =
                case_cell(case_next(&line, str_cstr(separator)), escape, a);
        row->cells[cells - 1] = case_cell(line, escape, a);
        ++*count;
    }
    return rows;
}

#endif

/* manifest: an MCP file. What is accepted is written for a client with no
 * placeholder left and reads again as JSON; layout is mended for good.
 * [M16, M17, M18, M19, M20, M21, M22, D20, row 5, row 8, row 9]. */
#include "base/text.h"
#include "mapm/diagnostics.h"
#include "mapm/doc_kind.h"
#include "mapm/document.h"
#include "mapm/limits.h"
#include "mapm/mcp_file.h"
#include "mapm/name.h"

#include <stdlib.h>
#include <string.h>

#include "outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct json_options options = {.max_depth = MCP_MAX_DEPTH,
                                            .max_nodes = 1000000};

static void check_pretty(struct str text, struct arena *a)
{
    struct str once, twice;
    struct err e = {0};

    if (!mcp_pretty(text, a, &once, &e)) {
        outcome_err(&e);
        return;
    }
    outcome_str("pretty", once);
    if (once.n <= MCP_MAX_BYTES &&
        (!mcp_pretty(once, a, &twice, &e) || !str_eq(once, twice)))
        abort();
}

static void check_written(const struct document *d, bool good, struct arena *a)
{
    const struct json *root;
    struct str out;
    struct err e = {0};

    if (!mcp_format(d, STR("/w"), STR("/s"), true, a, &out, &e)) {
        if (good)
            abort();
        outcome_err(&e);
        return;
    }
    outcome_str("written", out);
    if (str_find(out, STR("${")) != SIZE_MAX ||
        !json_parse(out, &options, a, &root, NULL, &e) ||
        root->kind != JSON_OBJECT)
        abort();
}

/* [D20] An entry for all machines has no placeholder and no member twice; what
 * is executed has none either. */
static void check_started(const struct document *d, struct arena *a)
{
    struct mcp_process process;
    const struct json *root;
    struct str out;
    struct err e = {0};

    if (mcp_format_start(d, STR("key"), STR(""), a, &out, &e) &&
        (!json_parse(out, &options, a, &root, NULL, &e) ||
         !str_is(json_text(json_get(root, "command")), "mapm")))
        abort();
    err_clear(&e);
    if (!mcp_read_process(d, STR("/w"), STR("/s"), a, &process, &e))
        return;
    for (const char *const *word = process.argv; *word; word++)
        if (strstr(*word, "${"))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(arena_done) struct arena a = {0};
    struct manifest_input in = {.kind = DOC_MCP,
                                .text = {(const char *)data, size}};
    struct diagnostics why;
    struct document d;

    if (size >= 1 << 20)
        return 0;
    diagnostics_init(&why, &a);
    manifest_read(&in, &a, &d, &why);
    for (size_t i = 0; i < why.count; i++) {
        if (!text_is_utf8(why.items[i].message))
            abort();
        OUTCOME("%s:%u ", why.items[i].code, why.items[i].line);
        outcome_str("", why.items[i].message);
    }
    if (d.mcp) {
        check_written(&d, why.errors == 0, &a);
        outcome_str("command", mcp_command_line(&d, &a));
        check_started(&d, &a);
    }
    if (why.errors == 0 &&
        (!name_mcp_is_valid(d.fqn) || mcp_key(d.fqn, &a).n > MCP_KEY_MAX_CHARS))
        abort();
    check_pretty(in.text, &a);
    return 0;
}

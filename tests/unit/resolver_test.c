#include "mapm/resolver.h"

#include <time.h>

#include "graph.h"
#include "tap.h"

#define A DOC_AGENT
#define S DOC_SKILL
#define M DOC_MCP

static struct arena arena;

/* All messages as one text, as `cli` prints them: outermost first. */
static const char *err_text(const struct err *e)
{
    CLEANUP(buf_done) struct buf b = {0};
    const char *message = NULL;

    buf_init(&b, 64 * 1024);
    while ((message = err_prev(e, message)))
        buf_printf(&b, "%s%s", b.n ? "\n" : "", message);
    return str_c(buf_str(&b), &arena);
}

/* `asked` is "a:X s:Y": the roots. */
static bool resolve(struct graph *g, const char *asked, struct plan *out,
                    struct err *e)
{
    struct resolver_source source = graph_source(g);
    struct root roots[64];
    struct str rest = str_from(asked), word;
    size_t count = 0;

    while (rest.n && str_cut(&rest, ' ', &word))
        roots[count++] =
            (struct root){.kind = graph_kind(word.p[0]),
                          .origin = graph_origin(str_from_index(word, 2))};
    return resolver_resolve(&source, roots, count, &arena, out, e);
}

/* "M B A(0,1)": each step with its needs. */
static const char *plan_text(const struct plan *p)
{
    CLEANUP(buf_done) struct buf b = {0};

    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < p->count; i++) {
        const struct plan_step *s = &p->steps[i];

        buf_printf(&b, "%s%.*s", i ? " " : "", STR_ARG(s->package->fqn));
        for (size_t k = 0; k < s->need_count; k++)
            buf_printf(&b, "%s%zu", k ? "," : "(", s->needs[k]);
        buf_text(&b, s->need_count ? ")" : "");
    }
    return str_c(buf_str(&b), &arena);
}

/* clang-format off */
static const struct {
    const char *what, *roots;
    struct graph_row rows[8];
    const char *plan;
} good[] = {
    {"nothing", "", {{0}}, ""},
    {"one", "s:A", {{"A", S, 0, 0, ""}}, "A"},
    {"mcps first, then skills, then itself (M24)", "a:X",
     {{"X", A, 0, 0, "s:B s:C m:N m:M"}, {"B", S, 0, 0, ""}, {"C", S, 0, 0, ""},
      {"N", M, 0, 0, ""}, {"M", M, 0, 0, ""}},
     "N M B C X(0,1,2,3)"},
    {"depth first (M24)", "a:X",
     {{"X", A, 0, 0, "s:B s:C m:M"}, {"B", S, 0, 0, "s:D m:N"},
      {"C", S, 0, 0, ""}, {"D", S, 0, 0, ""}, {"M", M, 0, 0, ""},
      {"N", M, 0, 0, ""}},
     "M N D B(1,2) C X(0,3,4)"},
    {"a diamond once (M24)", "s:A",
     {{"A", S, 0, 0, "s:B s:C"}, {"B", S, 0, 0, "s:D"}, {"C", S, 0, 0, "s:D"},
      {"D", S, 0, 0, ""}},
     "D B(0) C(0) A(1,2)"},
    {"roots in their order, one below another", "s:B s:A",
     {{"A", S, 0, 0, "s:B"}, {"B", S, 0, 0, ""}}, "B A(0)"},
    {"a need listed twice counts once", "s:A",
     {{"A", S, 0, 0, "s:B s:B"}, {"B", S, 0, 0, ""}}, "B A(0)"},
    {"types do not collide (M27, 3.5)", "a:X s:Y m:Z",
     {{"X", A, "acme/x", 0, ""}, {"Y", S, "acme/x", 0, ""},
      {"Z", M, "acme/x", 0, ""}}, "acme/x acme/x acme/x"},
    {"x and acme/x are two (M5)", "s:X s:Y",
     {{"X", S, "x", 0, ""}, {"Y", S, "acme/x", 0, ""}}, "x acme/x"},
    {"names compare by bytes (M27, 3.6)", "m:X m:Y",
     {{"X", M, "acme/x", 0, ""}, {"Y", M, "Acme/x", 0, ""}}, "acme/x Acme/x"},
    {"equal content from two origins is one (M27, 3.2)", "s:A s:B",
     {{"A", S, 0, 0, "s:X1"}, {"B", S, 0, 0, "s:X2"},
      {"X1", S, "x", "same", "s:D"}, {"X2", S, "x", "same", "s:D"},
      {"D", S, 0, 0, ""}},
     "D x(0) A(1) B(1)"},
    {"both origins of one content in one list", "s:A",
     {{"A", S, 0, 0, "s:X1 s:X2"}, {"X1", S, "x", "same", ""},
      {"X2", S, "x", "same", ""}}, "x A(0)"},
    {"a local package may name local ones (M15)", "s:file:/A",
     {{"file:/A", S, "a", 0, "s:file:/B s:C"}, {"file:/B", S, "b", 0, ""},
      {"C", S, 0, 0, ""}}, "b C a(0,1)"},
};

static const struct {
    const char *what, *roots;
    struct graph_row rows[8];
    enum err_code code;
    const char *text;
} bad[] = {
    {"a cycle (M25, row 11)", "s:A",
     {{"A", S, 0, 0, "s:B"}, {"B", S, 0, 0, "s:C"}, {"C", S, 0, 0, "s:A"}},
     ERR_CYCLE,
     "a cycle of dependencies: A -> B -> C -> A\n"
     "skill A needs skill B (B)\n"
     "skill B needs skill C (C)\n"
     "skill C needs skill A (A)"},
    {"a cycle below a root that is not in it (M25)", "a:X",
     {{"X", A, 0, 0, "s:A"}, {"A", S, 0, 0, "s:B"}, {"B", S, 0, 0, "s:A"}},
     ERR_CYCLE,
     "a cycle of dependencies: A -> B -> A\n"
     "skill A needs skill B (B)\n"
     "skill B needs skill A (A)"},
    {"itself (M25)", "s:A", {{"A", S, 0, 0, "s:A"}}, ERR_CYCLE,
     "a cycle of dependencies: A -> A\nskill A needs skill A (A)"},
    {"itself by another ref of the same content (M25)", "s:A1",
     {{"A1", S, "a", "same", "s:A2"}, {"A2", S, "a", "same", "s:A2"}},
     ERR_CYCLE,
     "a cycle of dependencies: a -> a\nskill a needs skill a (A2)"},
    {"not to be had: the chain (M26)", "a:X",
     {{"X", A, 0, 0, "s:B"}, {"B", S, 0, 0, "s:gone"}}, ERR_PATH,
     "skill gone, needed by X -> B\nno such path"},
    {"a root not to be had (M26)", "s:gone", {{0}}, ERR_PATH,
     "skill gone\nno such path"},
    {"all that is missing, each once (M26)", "s:A s:B",
     {{"A", S, 0, 0, "s:g1 s:g2"}, {"B", S, 0, 0, "s:g1 s:g3"}}, ERR_PATH,
     "skill g1, needed by A\nno such path\n"
     "skill g2, needed by A\nno such path\n"
     "skill g3, needed by B\nno such path"},
    {"conflict: both origins, both chains (M27)", "a:X",
     {{"X", A, 0, 0, "s:B s:C"}, {"B", S, 0, 0, "s:X1"},
      {"C", S, 0, 0, "s:X2"}, {"X1", S, "acme/x", "one", ""},
      {"X2", S, "acme/x", "two", ""}},
     ERR_CONFLICT,
     "two different packages claim the name of skill acme/x\n"
     "X1 at c0ffee, by way of X -> B -> acme/x\n"
     "X2 at c0ffee, by way of X -> C -> acme/x"},
    {"conflict of roots (M27)", "s:X1 s:X2",
     {{"X1", S, "x", "one", ""}, {"X2", S, "x", "two", ""}}, ERR_CONFLICT,
     "two different packages claim the name of skill x\n"
     "X1 at c0ffee, asked for directly: x\n"
     "X2 at c0ffee, asked for directly: x"},
    {"unknown content equals nothing (M27)", "s:X1 s:X2",
     {{"X1", S, "x", "", ""}, {"X2", S, "x", "", ""}}, ERR_CONFLICT,
     "two different packages claim the name of skill x\n"
     "X1 at c0ffee, asked for directly: x\n"
     "X2 at c0ffee, asked for directly: x"},
    {"MCPs are leaves (M28, M11)", "s:A",
     {{"A", S, 0, 0, "m:M"}, {"M", M, "acme/m", 0, "s:B"}}, ERR_MCP,
     "mcp acme/m has dependencies; MCP servers may not, needed by A"},
    {"an mcp under skills (M11)", "s:A",
     {{"A", S, 0, 0, "s:M"}, {"M", M, "acme/m", 0, ""}}, ERR_FORMAT,
     "M is an mcp, but it is listed under skills, needed by A"},
    {"an agent under skills (M11)", "s:A",
     {{"A", S, 0, 0, "s:X"}, {"X", A, "x", 0, ""}}, ERR_FORMAT,
     "X is an agent, but it is listed under skills, needed by A"},
    {"an agent as dependency (M11)", "s:A",
     {{"A", S, 0, 0, "a:X"}, {"X", A, "x", 0, ""}}, ERR_FORMAT,
     "an agent is no dependency: X, needed by A"},
    {"a root of another kind", "m:X", {{"X", S, 0, 0, ""}}, ERR_FORMAT,
     "X is a skill, but it is listed under mcps"},
    {"a fetched package names a local one (M15, row 10)", "a:X",
     {{"X", A, 0, 0, "s:B"}, {"B", S, 0, 0, "s:file:/etc"},
      {"file:/etc", S, "etc", 0, ""}}, ERR_REFUSED,
     "B comes from B and may not name local paths: file:/etc (X -> B)"},
    {"also when its local twin may (M15, row 10)", "s:file:/A s:A",
     {{"file:/A", S, "a", "same", "s:file:/B"},
      {"A", S, "a", "same", "s:file:/B"}, {"file:/B", S, "b", 0, ""}},
     ERR_REFUSED,
     "a comes from A and may not name local paths: file:/B (a)"},
    {"problems of all kinds at once", "s:A",
     {{"A", S, 0, 0, "m:gone s:B s:X1 s:X2"}, {"B", S, 0, 0, "s:A"},
      {"X1", S, "x", "one", ""}, {"X2", S, "x", "two", ""}}, ERR_PATH,
     "mcp gone, needed by A\nno such path\n"
     "a cycle of dependencies: A -> B -> A\n"
     "skill A needs skill B (B)\nskill B needs skill A (A)\n"
     "two different packages claim the name of skill x\n"
     "X1 at c0ffee, by way of A -> x\nX2 at c0ffee, by way of A -> x"},
};
/* clang-format on */

TEST(plans) /* M24, M27, M5, M15 */
{
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct graph g;
        struct plan plan = {0};
        struct err e = {0};

        graph_init(&g, &arena);
        graph_rows(&g, good[i].rows);
        CHECK(resolve(&g, good[i].roots, &plan, &e));
        CHECK_STR(err_text(&e), "");
        CHECK_STR(plan_text(&plan), good[i].plan);
    }
    arena_done(&arena);
}

TEST(problems) /* M11, M15, M25, M26, M27, M28; row 10, row 11 */
{
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct graph g;
        struct plan plan = {.count = 42};
        struct err e = {0};

        graph_init(&g, &arena);
        graph_rows(&g, bad[i].rows);
        CHECK(!resolve(&g, bad[i].roots, &plan, &e));
        CHECK_STR(err_text(&e), bad[i].text);
        CHECK_STR(err_code_name(e.code), err_code_name(bad[i].code));
        CHECK(plan.count == 42); /* untouched */
    }
    arena_done(&arena);
}

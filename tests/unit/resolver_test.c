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
    return str_dup0(buf_str(&b), &arena);
}

/* `asked` is "a:X s:Y": the roots. */
static bool resolve(struct graph *g, const char *asked, struct plan *out,
                    struct err *e)
{
    struct resolver_source source = graph_source(g);
    struct root roots[64];
    struct str rest = str_cstr(asked), word;
    size_t count = 0;

    while (rest.n && str_cut(&rest, ' ', &word))
        roots[count++] =
            (struct root){.kind = graph_kind(word.p[0]),
                          .origin = graph_origin(str_from_index(word, 2))};
    return resolver_resolve(&source, roots, count, &limits_default, &arena, out,
                            e);
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
    return str_dup0(buf_str(&b), &arena);
}

/* clang-format off */
static const struct {
    const char *what, *roots;
    struct graph_row rows[8];
    const char *plan;
} good[] = {
    {"nothing", "", {{0}}, ""},
    {"one", "s:A", {{"A", S, 0, 0, ""}}, "A"},
    {"mcps first, then skills, then itself [M24]", "a:X",
     {{"X", A, 0, 0, "s:B s:C m:N m:M"}, {"B", S, 0, 0, ""}, {"C", S, 0, 0, ""},
      {"N", M, 0, 0, ""}, {"M", M, 0, 0, ""}},
     "N M B C X(0,1,2,3)"},
    {"depth first [M24]", "a:X",
     {{"X", A, 0, 0, "s:B s:C m:M"}, {"B", S, 0, 0, "s:D m:N"},
      {"C", S, 0, 0, ""}, {"D", S, 0, 0, ""}, {"M", M, 0, 0, ""},
      {"N", M, 0, 0, ""}},
     "M N D B(1,2) C X(0,3,4)"},
    {"a diamond once [M24]", "s:A",
     {{"A", S, 0, 0, "s:B s:C"}, {"B", S, 0, 0, "s:D"}, {"C", S, 0, 0, "s:D"},
      {"D", S, 0, 0, ""}},
     "D B(0) C(0) A(1,2)"},
    {"roots in their order, one below another", "s:B s:A",
     {{"A", S, 0, 0, "s:B"}, {"B", S, 0, 0, ""}}, "B A(0)"},
    {"a need listed twice counts once", "s:A",
     {{"A", S, 0, 0, "s:B s:B"}, {"B", S, 0, 0, ""}}, "B A(0)"},
    {"types do not collide ([M27], 3.5)", "a:X s:Y m:Z",
     {{"X", A, "acme/x", 0, ""}, {"Y", S, "acme/x", 0, ""},
      {"Z", M, "acme/x", 0, ""}}, "acme/x acme/x acme/x"},
    {"x and acme/x are two [M5]", "s:X s:Y",
     {{"X", S, "x", 0, ""}, {"Y", S, "acme/x", 0, ""}}, "x acme/x"},
    {"names compare by bytes ([M27], 3.6)", "m:X m:Y",
     {{"X", M, "acme/x", 0, ""}, {"Y", M, "Acme/x", 0, ""}}, "acme/x Acme/x"},
    {"equal content from two origins is one ([M27], 3.2)", "s:A s:B",
     {{"A", S, 0, 0, "s:X1"}, {"B", S, 0, 0, "s:X2"},
      {"X1", S, "x", "same", "s:D"}, {"X2", S, "x", "same", "s:D"},
      {"D", S, 0, 0, ""}},
     "D x(0) A(1) B(1)"},
    {"both origins of one content in one list", "s:A",
     {{"A", S, 0, 0, "s:X1 s:X2"}, {"X1", S, "x", "same", ""},
      {"X2", S, "x", "same", ""}}, "x A(0)"},
    {"a local package may name local ones [M15]", "s:file:/A",
     {{"file:/A", S, "a", 0, "s:file:/B s:C"}, {"file:/B", S, "b", 0, ""},
      {"C", S, 0, 0, ""}}, "b C a(0,1)"},
};

static const struct {
    const char *what, *roots;
    struct graph_row rows[9];
    enum err_code code;
    const char *text, *hint;
} bad[] = {
    {"a cycle [M25, row 11]", "s:A",
     {{"A", S, 0, 0, "s:B"}, {"B", S, 0, 0, "s:C"}, {"C", S, 0, 0, "s:A"}},
     ERR_CYCLE,
     "a cycle of dependencies: A -> B -> C -> A\n"
     "skill A needs skill B (B)\n"
     "skill B needs skill C (C)\n"
     "skill C needs skill A (A)",
     "one of these packages must give up its dependency"},
    {"a cycle below a root that is not in it [M25]", "a:X",
     {{"X", A, 0, 0, "s:A"}, {"A", S, 0, 0, "s:B"}, {"B", S, 0, 0, "s:A"}},
     ERR_CYCLE,
     "a cycle of dependencies: A -> B -> A\n"
     "skill A needs skill B (B)\n"
     "skill B needs skill A (A)",
     "one of these packages must give up its dependency"},
    {"a cycle and a chain of eight are told whole [M25, M26]", "s:A s:P",
     {{"A", S, 0, 0, "s:B"}, {"B", S, 0, 0, "s:C"}, {"C", S, 0, 0, "s:D"},
      {"D", S, 0, 0, "s:E"}, {"E", S, 0, 0, "s:F"}, {"F", S, 0, 0, "s:G"},
      {"G", S, 0, 0, "s:H"}, {"H", S, 0, 0, "s:A s:gone"}}, ERR_CYCLE,
     "a cycle of dependencies: A -> B -> C -> D -> E -> F -> G -> H -> A\n"
     "skill A needs skill B (B)\nskill B needs skill C (C)\n"
     "skill C needs skill D (D)\nskill D needs skill E (E)\n"
     "skill E needs skill F (F)\nskill F needs skill G (G)\n"
     "skill G needs skill H (H)\nskill H needs skill A (A)\n"
     "skill gone, needed by A -> B -> C -> D -> E -> F -> G -> H\n"
     "skill P\nno such path",
     "one of these packages must give up its dependency"},
    {"itself [M25]", "s:A", {{"A", S, 0, 0, "s:A"}}, ERR_CYCLE,
     "a cycle of dependencies: A -> A\nskill A needs skill A (A)",
     "one of these packages must give up its dependency"},
    {"itself by another ref of the same content [M25]", "s:A1",
     {{"A1", S, "a", "same", "s:A2"}, {"A2", S, "a", "same", "s:A2"}},
     ERR_CYCLE,
     "a cycle of dependencies: a -> a\nskill a needs skill a (A2)",
     "one of these packages must give up its dependency"},
    {"not to be had: the chain [M26]", "a:X",
     {{"X", A, 0, 0, "s:B"}, {"B", S, 0, 0, "s:gone"}}, ERR_PATH,
     "skill gone, needed by X -> B\nno such path",
     "look again"},
    {"a root not to be had [M26]", "s:gone", {{0}}, ERR_PATH,
     "skill gone\nno such path",
     "look again"},
    {"all that is missing, each once [M26]", "s:A s:B",
     {{"A", S, 0, 0, "s:g1 s:g2"}, {"B", S, 0, 0, "s:g1 s:g3"}}, ERR_PATH,
     "skill g1, needed by A\nskill g2, needed by A\n"
     "skill g3, needed by B\nno such path",
     "look again"},
    {"conflict: both origins, both chains [M27]", "a:X",
     {{"X", A, 0, 0, "s:B s:C"}, {"B", S, 0, 0, "s:X1"},
      {"C", S, 0, 0, "s:X2"}, {"X1", S, "acme/x", "one", ""},
      {"X2", S, "acme/x", "two", ""}},
     ERR_CONFLICT,
     "different packages claim the name of skill acme/x\n"
     "X1 at c0ffee, by way of X -> B -> acme/x\n"
     "X2 at c0ffee, by way of X -> C -> acme/x",
     "let both name the same ref of it: mapm install X2, or mapm update for "
     "what others need"},
    {"conflict of roots [M27]", "s:X1 s:X2",
     {{"X1", S, "x", "one", ""}, {"X2", S, "x", "two", ""}}, ERR_CONFLICT,
     "different packages claim the name of skill x\n"
     "X1 at c0ffee, asked for directly: x\n"
     "X2 at c0ffee, asked for directly: x",
     "let both name the same ref of it: mapm install X2, or mapm update for "
     "what others need"},
    {"three packages of one name are one problem [M27]", "s:X1 s:X2 s:X3",
     {{"X1", S, "x", "one", ""}, {"X2", S, "x", "two", ""},
      {"X3", S, "x", "three", ""}}, ERR_CONFLICT,
     "different packages claim the name of skill x\n"
     "X1 at c0ffee, asked for directly: x\n"
     "X2 at c0ffee, asked for directly: x\n"
     "X3 at c0ffee, asked for directly: x",
     "let both name the same ref of it: mapm install X2, or mapm update for "
     "what others need"},
    {"unknown content equals nothing [M27]", "s:X1 s:X2",
     {{"X1", S, "x", "", ""}, {"X2", S, "x", "", ""}}, ERR_CONFLICT,
     "different packages claim the name of skill x\n"
     "X1 at c0ffee, asked for directly: x\n"
     "X2 at c0ffee, asked for directly: x",
     "let both name the same ref of it: mapm install X2, or mapm update for "
     "what others need"},
    {"MCPs are leaves [M28, M11]", "s:A",
     {{"A", S, 0, 0, "m:M"}, {"M", M, "acme/m", 0, "s:B"}}, ERR_MCP,
     "mcp acme/m has dependencies; MCP servers may not, needed by A",
     ""},
    {"an mcp under skills [M11]", "s:A",
     {{"A", S, 0, 0, "s:M"}, {"M", M, "acme/m", 0, ""}}, ERR_FORMAT,
     "M is an mcp, but it is listed under skills, needed by A",
     "list it under mcps"},
    {"an agent under skills [M11]", "s:A",
     {{"A", S, 0, 0, "s:X"}, {"X", A, "x", 0, ""}}, ERR_FORMAT,
     "X is an agent, but it is listed under skills, needed by A",
     "list it under agents"},
    {"an agent as dependency of a skill [M11, D12]", "s:A",
     {{"A", S, 0, 0, "a:X"}, {"X", A, "x", 0, ""}}, ERR_FORMAT,
     "only an agent may depend on an agent: X, needed by A",
     ""},
    {"a cycle of agents [M25, D12]", "a:A",
     {{"A", A, 0, 0, "a:B"}, {"B", A, 0, 0, "a:A"}}, ERR_CYCLE,
     "a cycle of dependencies: A -> B -> A\n"
     "agent A needs agent B (B)\nagent B needs agent A (A)",
     "one of these packages must give up its dependency"},
    {"one name for two agents [M27, D12]", "a:A",
     {{"A", A, 0, 0, "a:X1 a:X2"}, {"X1", A, "x", "one", ""},
      {"X2", A, "x", "two", ""}}, ERR_CONFLICT,
     "different packages claim the name of agent x\n"
     "X1 at c0ffee, by way of A -> x\n"
     "X2 at c0ffee, by way of A -> x",
     "let both name the same ref of it: mapm install X2, or mapm update for "
     "what others need"},
    {"a root of another kind", "m:X", {{"X", S, 0, 0, ""}}, ERR_FORMAT,
     "X is a skill, but it is listed under mcps",
     "list it under skills"},
    {"a fetched package names a local one [M15, row 10]", "a:X",
     {{"X", A, 0, 0, "s:B"}, {"B", S, 0, 0, "s:file:/etc"},
      {"file:/etc", S, "etc", 0, ""}}, ERR_REFUSED,
     "B comes from B and may not name local paths: file:/etc (X -> B)",
     "its author must publish that package and name it by URL"},
    {"also when its local twin may [M15, row 10]", "s:file:/A s:A",
     {{"file:/A", S, "a", "same", "s:C s:file:/B"},
      {"A", S, "a", "same", "s:C s:file:/B"}, {"file:/B", S, "b", 0, ""},
      {"C", S, 0, 0, ""}},
     ERR_REFUSED,
     "a comes from A and may not name local paths: file:/B (a)",
     "its author must publish that package and name it by URL"},
    {"problems of all kinds at once", "s:A",
     {{"A", S, 0, 0, "m:gone s:B s:X1 s:X2"}, {"B", S, 0, 0, "s:A"},
      {"X1", S, "x", "one", ""}, {"X2", S, "x", "two", ""}}, ERR_PATH,
     "mcp gone, needed by A\nno such path\n"
     "a cycle of dependencies: A -> B -> A\n"
     "skill A needs skill B (B)\nskill B needs skill A (A)\n"
     "different packages claim the name of skill x\n"
     "X1 at c0ffee, by way of A -> x\nX2 at c0ffee, by way of A -> x",
     "look again"},
};
/* clang-format on */

TEST(plans) /* [M24, M27, M5, M15] */
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

TEST(problems) /* [M11, M15, M25, M26, M27, M28, row 10, row 11] */
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
        CHECK_STR(e.hint, bad[i].hint);
        CHECK(plan.count == 42); /* untouched */
    }
    arena_done(&arena);
}

/* Of the first problem: what to do depends on the origins that led there. */
static const struct {
    const char *one, *two, *below; /* below: both come with this root */
    const char *hint;
} conflicts[] = {
    {"https://github.com/a/b/tree/v1/x", "https://github.com/a/b/tree/v2/x",
     NULL,
     "let both name the same ref of it: mapm install "
     "https://github.com/a/b/tree/v2/x, or mapm update for what others need"},
    {"https://github.com/a/b/tree/v1/x", "https://github.com/a/b/tree/v2/y",
     NULL,
     "take both: mapm install https://github.com/a/b/tree/v2/y --as NAME; or "
     "keep one: leave out https://github.com/a/b/tree/v2/y (of a catalog with "
     "--skip PATH, or take others with --skill PATH), or first mapm remove "
     "https://github.com/a/b/tree/v1/x"},
    {"https://github.com/a/b/tree/v1/x", "https://github.com/a/c/tree/v1/x",
     "https://github.com/r/r/tree/v1/r",
     "both come with https://github.com/r/r/tree/v1/r: leave it out, or tell "
     "its author"},
    {"https://github.com/a/b/tree/v1/x", "https://gitlab.com/a/b/-/tree/v1/x",
     NULL,
     "take both: mapm install https://gitlab.com/a/b/-/tree/v1/x --as "
     "NAME; or keep one: leave out https://gitlab.com/a/b/-/tree/v1/x (of "
     "a catalog with --skip PATH, or take others with --skill PATH), or first "
     "mapm remove https://github.com/a/b/tree/v1/x"},
    {"file:/p/x", "file:/q/x", NULL,
     "take both: mapm install file:/q/x --as NAME; or keep one: leave out "
     "file:/q/x (of a catalog with --skip PATH, or take others with --skill "
     "PATH), or first mapm remove file:/p/x"},
    {"https://github.com/a/b/tree/v1?plugin=p",
     "https://github.com/c/b/tree/v1?plugin=p", NULL,
     "take both: mapm install https://github.com/c/b/tree/v1 --plugin p --as "
     "NAME; or keep one: leave out https://github.com/c/b/tree/v1 --plugin p "
     "(of a catalog with --skip PATH, or take others with --skill PATH), or "
     "first mapm remove p"},
};

static void add_parsed(struct graph *g, const char *text, const char *fqn)
{
    struct graph_package *p =
        graph_add(g, str_cstr(text), S, str_cstr(fqn), str_cstr(text));
    struct origin *o = arena_new(&arena, struct origin);
    struct err e = {0};

    CHECK(origin_parse_part(str_cstr(text), &(struct origin_rules){0}, &arena,
                            o, &e));
    o->key = str_cstr(text);
    p->package.origin = o;
}

TEST(a_conflict_says_what_to_do) /* [M27] */
{
    for (size_t i = 0; i < sizeof conflicts / sizeof *conflicts; i++) {
        const char *below = conflicts[i].below;
        struct graph g;
        struct plan plan;
        struct err e = {0};

        graph_init(&g, &arena);
        add_parsed(&g, conflicts[i].one, "x");
        add_parsed(&g, conflicts[i].two, "x");
        if (below) {
            add_parsed(&g, below, "r");
            graph_need(&g, map_find(&g.packages, str_cstr(below)), S,
                       str_cstr(conflicts[i].one));
            graph_need(&g, map_find(&g.packages, str_cstr(below)), S,
                       str_cstr(conflicts[i].two));
        }
        CHECK(!resolve(&g,
                       below ? arena_printf(&arena, "s:%s", below).p
                             : arena_printf(&arena, "s:%s s:%s",
                                            conflicts[i].one, conflicts[i].two)
                                   .p,
                       &plan, &e));
        CHECK_STR(e.hint, conflicts[i].hint);
        arena_done(&arena);
    }
}

/* --- what a step holds ---------------------------------------------------- */

TEST(a_step_knows_who_asked_and_by_which_origins) /* [M27] */
{
    static const struct graph_row rows[] = {
        {"A", S, 0, 0, "s:X1 s:D"}, {"D", S, 0, 0, ""},
        {"X1", S, "x", "same", ""}, {"X2", S, "x", "same", ""},
        {"X3", S, "x", "same", ""}, {0},
    };
    const struct plan_step *x, *d;
    struct graph g;
    struct plan plan;
    struct err e = {0};

    graph_init(&g, &arena);
    graph_rows(&g, rows);
    CHECK(resolve(&g, "s:A s:X2 s:X3 s:X2", &plan, &e));
    CHECK_STR(plan_text(&plan), "x D A(0,1)");
    CHECK(g.reads == 5); /* once per origin */
    x = map_find(&plan.by_key, STR("X3"));
    d = map_find(&plan.by_key, STR("D"));
    CHECK(x == &plan.steps[0] && x == map_find(&plan.by_key, STR("X1")));
    CHECK(x->origin_count == 3 && str_is(x->origins[0], "X1") &&
          str_is(x->origins[1], "X2") && str_is(x->origins[2], "X3"));
    CHECK(x->by == 2 && x->is_root);
    CHECK(d->by == 2 && !d->is_root);
    CHECK(plan.steps[2].by == SIZE_MAX && plan.steps[2].is_root);
    CHECK(!map_find(&plan.by_key, STR("Y")));
    arena_done(&arena);
}

static bool interrupted(void *ctx, const struct origin *o,
                        enum doc_kind expected, const struct package **out,
                        struct err *e)
{
    struct graph *g = ctx;

    (void)o;
    (void)expected;
    (void)out;
    return err_set(e, g->reads++ < 2 ? ERR_FETCH : ERR_INTERRUPTED, "stop");
}

TEST(an_interrupt_ends_the_walk_at_once)
{
    struct graph g;
    struct resolver_source source = {.read = interrupted, .ctx = &g};
    struct root roots[5];
    struct plan plan;
    struct err e = {0};

    graph_init(&g, &arena);
    for (size_t i = 0; i < 5; i++)
        roots[i] = (struct root){
            .kind = S, .origin = graph_origin(arena_printf(&arena, "%zu", i))};
    CHECK(!resolver_resolve(&source, roots, 5, &limits_default, &arena, &plan,
                            &e));
    CHECK(e.code == ERR_INTERRUPTED && g.reads == 3);
    CHECK_STR(err_text(&e), "stop");
    arena_done(&arena);
}

TEST(causes_and_hint_of_the_first_problem_are_kept) /* [M26] */
{
    struct graph g;
    struct plan plan;
    struct err e = {0};

    graph_init(&g, &arena);
    CHECK(!resolve(&g, "s:gone", &plan, &e));
    CHECK_STR(e.hint, "look again");
    arena_done(&arena);
}

/* --- random graphs against a simple oracle -------------------------------- */

#define NODES_MAX 24

static uint32_t seed = 1;

static size_t below(size_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (size_t)((uint64_t)(seed >> 8) * n >> 24);
}

struct sample {
    size_t count, classes;
    size_t class_of[NODES_MAX]; /* of one content; its name is class % names */
    size_t names;
    bool missing[NODES_MAX];
    enum doc_kind kind[NODES_MAX];   /* of a class */
    bool edge[NODES_MAX][NODES_MAX]; /* class -> node */
    bool lies[NODES_MAX][NODES_MAX]; /* listed under another kind */
};

/* Mostly downwards, so that many samples have no cycle. */
static void sample_make(struct sample *s)
{
    size_t wild = below(4) == 0, twins = below(3) == 0, holes = below(4) == 0;
    size_t dense = 2 + below(8);

    *s = (struct sample){.count = 1 + below(NODES_MAX)};
    s->classes = twins ? 1 + s->count / 2 : s->count;
    s->names = below(5) ? NODES_MAX : 1 + s->classes / 2;
    for (size_t i = 0; i < s->count; i++) {
        s->class_of[i] = i < s->classes ? i : below(s->classes);
        s->missing[i] = holes && below(12) == 0;
    }
    for (size_t c = 0; c < s->classes; c++)
        s->kind[c] = c && below(4) == 0 ? M : S;
    for (size_t c = 0; c < s->classes; c++) {
        for (size_t n = 0; s->kind[c] == S && n < s->count; n++) {
            bool down = s->class_of[n] > c;

            s->edge[c][n] = below(dense) == 0 && (down || (wild && !below(6)));
            s->lies[c][n] = wild && below(40) == 0;
        }
    }
}

static struct str sample_key(size_t node)
{
    return arena_printf(&arena, "N%02zu", node);
}

/* In an order of arrival of its own; the same packages. */
static void sample_graph(const struct sample *s, size_t first, struct graph *g)
{
    graph_init(g, &arena);
    for (size_t k = 0; k < s->count; k++) {
        size_t node = (k + first) % s->count, c = s->class_of[node];
        struct graph_package *p;

        if (s->missing[node])
            continue;
        p = graph_add(g, sample_key(node), s->kind[c],
                      arena_printf(&arena, "n%zu", c % s->names),
                      arena_printf(&arena, "content %zu", c));
        for (size_t n = 0; n < s->count; n++)
            if (s->edge[c][n])
                graph_need(g, p,
                           (s->kind[s->class_of[n]] == M) != s->lies[c][n] ? M
                                                                           : S,
                           sample_key(n));
    }
}

struct oracle {
    const struct sample *s;
    bool read[NODES_MAX], done[NODES_MAX], open[NODES_MAX];
    size_t order[NODES_MAX], count;
    bool bad;
};

/* The specification, said in the shortest way: recursion and all. */
static void oracle_visit(struct oracle *o, size_t node)
{
    const struct sample *s = o->s;
    size_t c = s->class_of[node];

    o->read[node] = true;
    if (s->missing[node] || o->open[c]) {
        o->bad = true;
        return;
    }
    if (o->done[c])
        return;
    for (size_t other = 0; other < s->classes; other++)
        if (other != c && (o->done[other] || o->open[other]) &&
            other % s->names == c % s->names && s->kind[other] == s->kind[c])
            o->bad = true;
    o->open[c] = true;
    for (int pass = 0; pass < 2; pass++) {
        for (size_t n = 0; n < s->count; n++) {
            bool mcp = (s->kind[s->class_of[n]] == M) != s->lies[c][n];

            if (!s->edge[c][n] || mcp != (pass == 0))
                continue;
            if (s->lies[c][n])
                o->bad = true;
            else
                oracle_visit(o, n);
        }
    }
    o->open[c] = false;
    o->done[c] = true;
    o->order[o->count++] = c;
}

static void sample_check(const struct sample *s, size_t *planned,
                         size_t *refused)
{
    struct oracle o = {.s = s};
    struct plan plan, again;
    struct graph g;
    struct err e = {0}, second = {0};
    char roots[64];
    size_t two = below(s->count);
    bool ok;

    snprintf(roots, sizeof roots, "%c:N00 %c:N%02zu",
             s->kind[0] == M ? 'm' : 's',
             s->kind[s->class_of[two]] == M ? 'm' : 's', two);
    oracle_visit(&o, 0);
    oracle_visit(&o, two);

    sample_graph(s, 0, &g);
    ok = resolve(&g, roots, &plan, &e);
    sample_graph(s, below(s->count), &g);
    CHECK(resolve(&g, roots, &again, &second) == ok);
    CHECK_STR(err_text(&second), err_text(&e));
    CHECK(ok == !o.bad);
    *(ok ? planned : refused) += 1;
    if (!ok || o.bad)
        return;
    CHECK_STR(plan_text(&again), plan_text(&plan));
    CHECK(plan.count == o.count);
    for (size_t i = 0; i < plan.count && i < o.count; i++) {
        const struct plan_step *step = &plan.steps[i];
        struct str want = arena_printf(&arena, "content %zu", o.order[i]);

        CHECK(str_eq(step->package->content, want));
        for (size_t k = 0; k < step->need_count; k++)
            CHECK(step->needs[k] < i);
    }
}

TEST(random_graphs) /* [M24, M25, M26, M27, row 11] */
{
    size_t good_count = 0, bad_count = 0;

    for (seed = 1; seed && good_count + bad_count < 6000;) {
        struct sample s;

        sample_make(&s);
        sample_check(&s, &good_count, &bad_count);
        arena_done(&arena);
        if (tap_failed)
            break;
    }
    printf("# %zu with a plan, %zu with problems\n", good_count, bad_count);
    CHECK(good_count > 1000 && bad_count > 1000);
}

/* --- large graphs --------------------------------------------------------- */

static struct str number(const char *what, size_t i)
{
    return arena_printf(&arena, "%s%06zu", what, i);
}

static double milliseconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static struct graph_package *add_skill(struct graph *g, struct str key)
{
    return graph_add(g, key, S, key, key);
}

/* Every `i`th package of `count` needs the next `width` ones. */
static void add_ladder(struct graph *g, size_t count, size_t width)
{
    for (size_t i = 0; i < count; i++) {
        struct graph_package *p = add_skill(g, number("p", i));

        for (size_t k = i + 1; k <= i + width && k < count; k++)
            graph_need(g, p, S, number("p", k));
    }
}

static bool resolve_root(struct graph *g, const char *root, struct plan *plan,
                         struct err *e, double *ms)
{
    struct resolver_source source = graph_source(g);
    struct root r = {.kind = S, .origin = graph_origin(str_cstr(root))};
    double start = milliseconds();
    bool ok =
        resolver_resolve(&source, &r, 1, &limits_default, &arena, plan, e);

    *ms = milliseconds() - start;
    return ok;
}

TEST(a_thousand_levels_and_one_more) /* [row 11] */
{
    for (size_t more = 0; more < 2; more++) {
        struct graph g;
        struct plan plan;
        struct err e = {0};
        double ms;
        bool ok;

        graph_init(&g, &arena);
        add_ladder(&g, GRAPH_MAX_DEPTH + more, 1);
        ok = resolve_root(&g, "p000000", &plan, &e, &ms);
        CHECK(ok == !more);
        CHECK(!ok || plan.count == GRAPH_MAX_DEPTH);
        CHECK_STR(
            err_text(&e),
            ok ? ""
               : "more than 1000 levels of dependencies (graph_max_depth), "
                 "needed by "
                 "p000000 -> p000001 -> p000002 -> p000003 -> (992 more) -> "
                 "p000996 -> p000997 -> p000998 -> p000999");
        CHECK(e.code == (ok ? ERR_NONE : ERR_LIMIT));
        arena_done(&arena);
    }
}

/* 1,000 levels of which each needs the next 100: more ways than atoms. */
TEST(an_exponential_graph_is_linear) /* [row 11] */
{
    struct graph g;
    struct plan plan;
    struct err e = {0};
    double ms;

    graph_init(&g, &arena);
    add_ladder(&g, 1000, 100);
    CHECK(resolve_root(&g, "p000000", &plan, &e, &ms));
    CHECK(plan.count == 1000 && g.reads == 1000);
    CHECK(ms < 1000);
    printf("# 95,000 edges in %.1f ms\n", ms);
    arena_done(&arena);
}

TEST(ten_thousand_side_by_side) /* [row 11] */
{
    struct graph_package *root;
    struct graph g;
    struct plan plan;
    struct err e = {0};
    double ms;

    graph_init(&g, &arena);
    root = add_skill(&g, STR("root"));
    for (size_t i = 0; i < 10000; i++) {
        graph_need(&g, root, S, number("p", i));
        add_skill(&g, number("p", i));
    }
    CHECK(resolve_root(&g, "root", &plan, &e, &ms));
    CHECK(plan.count == 10001 && plan.steps[10000].need_count == 10000);
    CHECK(ms < 1000);
    printf("# 10,000 packages in %.1f ms\n", ms);
    arena_done(&arena);
}

TEST(too_many_packages_and_too_many_edges) /* [row 11] */
{
    struct graph_package *root;
    struct graph g;
    struct plan plan;
    struct err e = {0};
    double ms;

    graph_init(&g, &arena);
    root = add_skill(&g, STR("root"));
    for (size_t i = 0; i < GRAPH_MAX_PACKAGES; i++) {
        add_skill(&g, number("p", i));
        if (i + 1 < GRAPH_MAX_PACKAGES)
            graph_need(&g, root, S, number("p", i));
    }
    CHECK(resolve_root(&g, "root", &plan, &e, &ms));
    CHECK(plan.count == GRAPH_MAX_PACKAGES);
    graph_need(&g, root, S, number("p", GRAPH_MAX_PACKAGES - 1));
    CHECK(!resolve_root(&g, "root", &plan, &e, &ms));
    CHECK(e.code == ERR_LIMIT);
    CHECK_STR(err_text(&e),
              "more than 100000 packages (graph_max_packages), needed by root");
    arena_done(&arena);

    graph_init(&g, &arena);
    root = add_skill(&g, STR("root"));
    add_skill(&g, STR("p"));
    for (size_t i = 0; i < GRAPH_MAX_EDGES; i++)
        graph_need(&g, root, S, STR("p"));
    CHECK(resolve_root(&g, "root", &plan, &e, &ms));
    CHECK(plan.count == 2 && plan.steps[1].need_count == 1);
    graph_need(&g, root, S, STR("p"));
    CHECK(!resolve_root(&g, "root", &plan, &e, &ms));
    CHECK_STR(err_text(&e), "more than 1000000 dependencies in all "
                            "(graph_max_edges), needed by root");
    arena_done(&arena);
}

/* Each of the three, lowered: nothing else is read or reported. */
TEST(a_limit_ends_the_walk) /* [row 11] */
{
    static const struct graph_row rows[] = {
        {"A", S, 0, 0, "s:B s:gone"},
        {"B", S, 0, 0, "s:C s:gone"},
        {"C", S, 0, 0, "s:gone"},
        {0},
    };
    static const char *const want[] = {
        "more than 2 packages (graph_max_packages), needed by A -> B",
        "more than 2 levels of dependencies (graph_max_depth), needed by A -> "
        "B",
        "more than 2 dependencies in all (graph_max_edges), needed by A -> B "
        "-> C",
    };

    for (size_t i = 0; i < 3; i++) {
        struct limits limits = limits_default;
        struct resolver_source source;
        struct root roots[] = {
            {.kind = S, .origin = graph_origin(STR("A"))},
            {.kind = S, .origin = graph_origin(STR("lost"))}};
        struct graph g;
        struct plan plan;
        struct err e = {0};

        graph_init(&g, &arena);
        graph_rows(&g, rows);
        source = graph_source(&g);
        (&limits.graph_max_packages)[i].value = 2;
        CHECK(!resolver_resolve(&source, roots, 2, &limits, &arena, &plan, &e));
        CHECK_STR(err_text(&e), want[i]);
        CHECK(e.code == ERR_LIMIT && g.reads == (i == 0 ? 2 : 3));
        CHECK(str_starts(str_cstr(e.hint), STR("your own ~/.config/mapm")));
        arena_done(&arena);
    }
}

static size_t count_lines(const struct err *e)
{
    const char *message = NULL;
    size_t n = 0;

    while ((message = err_next(e, message)))
        n++;
    return n;
}

TEST(many_problems_are_twenty_lines_and_a_count) /* [M26, row 11] */
{
    struct graph_package *root;
    struct graph g;
    struct plan plan;
    struct err e = {0};
    double ms;

    graph_init(&g, &arena);
    root = add_skill(&g, STR("root"));
    for (size_t i = 0; i < 19000; i++)
        graph_need(&g, root, S, number("gone", i));
    CHECK(!resolve_root(&g, "root", &plan, &e, &ms));
    CHECK(count_lines(&e) == ERROR_MAX_LINES + 2); /* with what went wrong */
    CHECK_STR(err_next(&e, err_first(&e)), "no such path");
    CHECK_STR(err_first(&e), "\xe2\x80\xa6 and 18980 more");
    CHECK(ms < 1000);
    arena_done(&arena);
}

/* Behind twenty lines each problem counts the lines that it would have. */
TEST(lines_without_room_are_counted) /* [M26, row 11] */
{
    static const struct {
        const char *needs; /* of a package whose other 20 needs are missing */
        const char *count;
    } more[] = {
        {"s:gone", "1"},    /* fails as the others do */
        {"s:root", "3"},    /* a cycle of two edges */
        {"s:X1 s:X2", "3"}, /* a conflict and both origins */
        {"a:X1", "1"},      /* an agent below a skill */
        {"m:X1", "1"},      /* listed under another kind */
        {"m:M", "1"},       /* a server with dependencies */
        {"s:file:/X", "1"}, /* a local path */
        {"s:X1 s:X2 m:M", "4"},
    };

    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        struct graph_row rows[] = {
            {"last", S, 0, 0, more[i].needs},
            {"X1", S, "x", "one", ""},
            {"X2", S, "x", "two", ""},
            {"M", M, "m", 0, "s:X1"},
            {0},
        };
        struct graph_package *root;
        struct graph g;
        struct plan plan;
        struct err e = {0};
        double ms;

        graph_init(&g, &arena);
        graph_rows(&g, rows);
        root = add_skill(&g, STR("root"));
        for (size_t k = 0; k < ERROR_MAX_LINES; k++)
            graph_need(&g, root, S, number("gone", k));
        graph_need(&g, root, S, STR("last"));
        CHECK(!resolve_root(&g, "root", &plan, &e, &ms));
        CHECK_STR(
            err_first(&e),
            arena_printf(&arena, "\xe2\x80\xa6 and %s more", more[i].count).p);
        CHECK(count_lines(&e) == ERROR_MAX_LINES + 2);
        arena_done(&arena);
    }
}

TEST(a_cycle_of_a_thousand_is_told_in_twenty_lines) /* [M25, row 11] */
{
    struct graph g;
    struct plan plan;
    struct err e = {0};
    double ms;

    graph_init(&g, &arena);
    add_ladder(&g, 999, 1);
    graph_need(&g, add_skill(&g, number("p", 999)), S, number("p", 0));
    graph_need(&g, map_find(&g.packages, number("p", 998)), S,
               number("p", 999));
    CHECK(!resolve_root(&g, "p000000", &plan, &e, &ms));
    CHECK(e.code == ERR_CYCLE && count_lines(&e) == ERROR_MAX_LINES + 1);
    CHECK_STR(err_first(&e), "\xe2\x80\xa6 and 981 more");
    CHECK(str_starts(str_cstr(err_prev(&e, NULL)),
                     STR("a cycle of dependencies: p000000 -> p000001 -> "
                         "p000002 -> p000003 -> (992 more) -> p000996 -> ")));
    arena_done(&arena);
}

/* Lines as long as origins may be: they still leave room for the count. */
TEST(long_lines_are_counted_too) /* [row 11] */
{
    struct graph_package *root;
    struct graph g;
    struct plan plan;
    struct err e = {0};
    double ms;
    char *name = arena_alloc(&arena, ORIGIN_MAX_BYTES);

    memset(name, 'x', ORIGIN_MAX_BYTES);
    graph_init(&g, &arena);
    root = add_skill(&g, STR("root"));
    for (size_t i = 0; i < 50; i++)
        graph_need(&g, root, S,
                   str_join(number("", i), str_make(name, ORIGIN_MAX_BYTES - 6),
                            &arena));
    CHECK(!resolve_root(&g, "root", &plan, &e, &ms));
    CHECK_STR(err_first(&e), "\xe2\x80\xa6 and 48 more");
    CHECK(count_lines(&e) == 4);
    arena_done(&arena);
}

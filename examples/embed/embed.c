/*
 * embed: a program of yours with rules that others write.
 *
 *     cc -Iinclude examples/embed/embed.c build/libstarlark.a \
 *         -ltommath -lutf8proc -lm -o embed
 *     ./embed examples/embed/shipping.star
 *
 * The file has a function quote(order). It gets an order, may call weight(name)
 * and use the object shop, and its result is printed as JSON. No file can take
 * more than a megabyte, a million steps or a second.
 */
#include "mapm/starlark.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char order[] =
    "{\"to\": \"Zürich\", \"express\": true, \"items\": ["
    "{\"name\": \"lamp\", \"count\": 2}, {\"name\": \"desk\", \"count\": 1}]}";

/* --- a function and an object for the rules --------------------------------- */

struct stock {
    const char *name;
    int64_t grams;
};
static struct stock stock[] = {{"lamp", 1850}, {"desk", 23400}};

/* Argument `name` as one of the things, or NULL. */
static const struct stock *find(star_value name)
{
    const char *p;
    size_t length;

    if (!star_as_text(name, &p, &length))
        return NULL;
    for (size_t i = 0; i < sizeof stock / sizeof *stock; i++)
        if (strlen(stock[i].name) == length &&
            memcmp(stock[i].name, p, length) == 0)
            return &stock[i];
    return NULL;
}

/* weight(name, default=None): grams of one piece. */
static star_value weight(struct star *s, const struct star_args *args)
{
    star_value v[2], shown; /* as many as the pattern has names */
    const struct stock *thing;
    const char *name;
    size_t length;

    if (!star_unpack(s, args, "weight", "name, default?", v))
        return STAR_INVALID;
    if ((thing = find(v[0])))
        return star_int(s, thing->grams);
    if (v[1] != STAR_INVALID)
        return v[1];
    shown = star_str(s, v[0]);
    if (!star_as_text(shown, &name, &length))
        return STAR_INVALID;
    return star_fail(s, "weight: no such thing: %.*s", (int)length, name);
}

/* shop: an attribute, shop.currency, and a method, shop.has(name). */
static star_value shop_currency(struct star *s, void *data)
{
    return star_string(s, data, strlen(data));
}

static star_value shop_has(struct star *s, const struct star_args *args)
{
    star_value v[1];

    if (!star_unpack(s, args, "has", "name", v))
        return STAR_INVALID;
    return star_bool(find(v[0]));
}

static const struct star_member shop_members[] = {
    {"currency", shop_currency, NULL},
    {"has", NULL, shop_has},
    {NULL, NULL, NULL},
};
static const struct star_class shop_class = {"shop", shop_members, NULL};

/* What the rules print. */
static bool print(void *ctx, const char *text, size_t length)
{
    fputs("rules say: ", ctx);
    return fwrite(text, 1, length, ctx) == length;
}

/* --- the rules ------------------------------------------------------------------ */

/* The whole file, of less than `size` bytes. */
static bool read_file(const char *path, char *text, size_t size, size_t *length)
{
    FILE *f = fopen(path, "rb");
    bool ok;

    if (!f)
        return false;
    *length = fread(text, 1, size, f);
    ok = !ferror(f) && *length < size;
    fclose(f);
    return ok;
}

static bool print_json(struct star *s, star_value v)
{
    star_value json = star_to_json(s, v);
    const char *text;
    size_t length;

    if (!star_as_text(json, &text, &length))
        return false;
    printf("%.*s\n", (int)length, text);
    return true;
}

static bool quote(struct star *s, const char *path)
{
    static char text[65536];
    size_t length;
    struct star_module *rules;
    star_value function, in, out;

    if (!read_file(path, text, sizeof text, &length)) {
        star_fail(s, "%s cannot be read, or is larger than 64 KiB", path);
        return false;
    }
    rules = star_run(s, star_compile(s, path, text, length));
    if (!rules)
        return false;
    if (!(function = star_global(rules, "quote"))) {
        star_fail(s, "%s has no function quote", path);
        return false;
    }
    in = star_from_json(s, order, strlen(order));
    out = star_call(s, function, &in, 1, NULL, 0);
    return print_json(s, out);
}

int main(int argc, char **argv)
{
    struct star_options options = {.limits = {.memory_bytes = 1 << 20,
                                              .steps = 1000000,
                                              .timeout_ms = 1000},
                                   .print = print,
                                   .ctx = stdout};
    struct star *s = star_open(&options);
    static char currency[] = "EUR";
    bool ok = false;

    if (argc != 2 || !s) {
        fputs(s ? "usage: embed FILE\n" : "embed: no memory\n", stderr);
    } else {
        ok =
            star_register(s, "weight", weight, NULL) &&
            star_predeclare(s, "shop", star_object(s, &shop_class, currency)) &&
            quote(s, argv[1]);
        if (!ok)
            fprintf(stderr, "embed: %s error\n%s",
                    star_error_name(star_error(s)), star_error_report(s));
    }
    star_close(s);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

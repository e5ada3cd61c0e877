#include "base/json_record.h"

#include <stdio.h>
#include <string.h>

/* The value of a field of any type. */
struct field {
    struct str text;
    double real;
    uint64_t number;
    const void *items;
    size_t count;
};

static struct field read_field(const struct json_member *m, const char *value)
{
    const char *at = value + m->at;
    struct field f = {.text = {NULL, 0}};
    struct str_list list;
    unsigned word;

    switch (m->type) {
    case JSON_OF_STR:
        memcpy(&f.text, at, sizeof f.text);
        break;
    case JSON_OF_CHARS:
        f.text = str_cstr(*(const char *const *)(const void *)at);
        break;
    case JSON_OF_LIST:
        memcpy(&list, at, sizeof list);
        f.items = list.items;
        f.count = list.count;
        break;
    case JSON_OF_BOOL:
        f.number = *(const bool *)at;
        break;
    case JSON_OF_UNSIGNED:
    case JSON_OF_NAME:
        memcpy(&word, at, sizeof word);
        f.number = word;
        break;
    case JSON_OF_SIZE:
        f.number = *(const size_t *)(const void *)at;
        break;
    case JSON_OF_DOUBLE:
        f.real = *(const double *)(const void *)at;
        break;
    case JSON_OF_POINTED:
        memcpy(&f.items, at, sizeof f.items);
        break;
    case JSON_OF_TEXT:
        f.text = m->text(value);
        break;
    case JSON_OF_PART:
        f.items = at;
        break;
    case JSON_OF_STRINGS:
    case JSON_OF_RECORDS:
        memcpy(&f.items, at, sizeof f.items);
        memcpy(&f.count, value + m->count_at, sizeof f.count);
        break;
    }
    return f;
}

static void put_real(struct json_writer *w, double n)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%.4g", n);

    json_raw(w, str_make(text, (size_t)length));
}

static void put_scalar(struct json_writer *w, const struct json_member *m,
                       const struct field *f)
{
    if (m->type == JSON_OF_BOOL)
        json_bool(w, f->number);
    else if (m->type == JSON_OF_DOUBLE)
        put_real(w, f->real);
    else if (m->type == JSON_OF_UNSIGNED || m->type == JSON_OF_SIZE)
        json_number(w, f->number);
    else
        json_string(w,
                    m->name ? str_cstr(m->name((unsigned)f->number)) : f->text);
}

static void put_member(struct json_writer *w, const struct json_member *m,
                       const char *value)
{
    struct field f = read_field(m, value);
    bool is_empty = !f.text.n && !f.number && !f.count;

    if (is_empty && m->empty == JSON_EMPTY_LEFT)
        return;
    switch (m->type) {
    case JSON_OF_PART:
    case JSON_OF_POINTED:
        json_put_members(w, m->record, f.items);
        return;
    case JSON_OF_RECORDS:
        json_member_records(w, m->key, m->record, f.items, f.count);
        return;
    case JSON_OF_LIST:
    case JSON_OF_STRINGS:
        json_member_strings(w, m->key, f.items, f.count);
        return;
    default:
        json_key(w, m->key);
        if (is_empty && m->empty == JSON_EMPTY_NULL)
            json_null(w);
        else
            put_scalar(w, m, &f);
    }
}

void json_put_members(struct json_writer *w, const struct json_record *r,
                      const void *value)
{
    for (size_t i = 0; i < r->count; i++)
        put_member(w, &r->members[i], value);
}

void json_member_records(struct json_writer *w, const char *key,
                         const struct json_record *r, const void *items,
                         size_t count)
{
    const char *item = items;

    json_member_array(w, key);
    for (size_t i = 0; i < count; i++, item += r->size) {
        json_begin_object(w);
        json_put_members(w, r, item);
        json_end_object(w);
    }
    json_end_array(w);
}

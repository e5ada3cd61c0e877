#ifndef BASE_JSON_RECORD_H
#define BASE_JSON_RECORD_H

#include "base/json.h"

/*
 * json_record: the members of an object as rows, one a field of a structure.
 *
 *     static const struct json_member moved_members[] = {
 *         JSON_MEMBER(struct moved, "name", name),
 *         JSON_MEMBER_OR_NULL(struct moved, "version", version),
 *         JSON_MEMBER_NAMED(struct moved, "type", kind, doc_kind_name),
 *     };
 *     JSON_RECORD(moved, struct moved); -> moved_record
 *
 * The type of a value is derived from its field at compile time: a struct str,
 * a C string, a list of texts, a bool, an unsigned, a size_t, or a double, which
 * is written with four digits.
 */

enum json_member_type {
    JSON_OF_STR,
    JSON_OF_CHARS, /* NULL counts as empty */
    JSON_OF_LIST,
    JSON_OF_BOOL,
    JSON_OF_UNSIGNED,
    JSON_OF_SIZE,
    JSON_OF_DOUBLE,
    JSON_OF_TEXT,    /* what `text` makes of the whole structure */
    JSON_OF_NAME,    /* an enumeration, converted by `name` */
    JSON_OF_STRINGS, /* array of texts with its count */
    JSON_OF_RECORDS, /* array of structures described by `record` */
    JSON_OF_PART,    /* members of a structure inside */
    JSON_OF_POINTED, /* members of one behind a pointer */
};

/* How to write an empty value: an empty text or list, 0, or false. */
enum json_member_empty { JSON_EMPTY_WRITTEN, JSON_EMPTY_NULL, JSON_EMPTY_LEFT };

struct json_record {
    const struct json_member *members;
    size_t count, size; /* of the structure, in bytes */
};

struct json_member {
    const char *key;
    enum json_member_type type;
    enum json_member_empty empty;
    size_t at, count_at;
    const char *(*name)(unsigned value);
    const struct json_record *record;
    struct str (*text)(const void *value);
};

#define JSON_TYPE_OF(s, f)                                                     \
    _Generic(((s *)0)->f, struct str                                           \
             : JSON_OF_STR, const char *                                       \
             : JSON_OF_CHARS, struct str_list                                  \
             : JSON_OF_LIST, bool                                              \
             : JSON_OF_BOOL, unsigned                                          \
             : JSON_OF_UNSIGNED, size_t                                        \
             : JSON_OF_SIZE, double                                            \
             : JSON_OF_DOUBLE)

/* clang-format off */
#define JSON_MEMBER(s, key, f) \
    {key, JSON_TYPE_OF(s, f), JSON_EMPTY_WRITTEN, offsetof(s, f), 0, NULL, NULL, NULL}
/* Writes null if the field is empty. */
#define JSON_MEMBER_OR_NULL(s, key, f) \
    {key, JSON_TYPE_OF(s, f), JSON_EMPTY_NULL, offsetof(s, f), 0, NULL, NULL, NULL}
/* Omits the member if the field is empty. */
#define JSON_MEMBER_IF(s, key, f) \
    {key, JSON_TYPE_OF(s, f), JSON_EMPTY_LEFT, offsetof(s, f), 0, NULL, NULL, NULL}
/* Writes an enumeration by name; `function` returns the name of a value. */
#define JSON_MEMBER_NAMED(s, key, f, function) \
    {key, JSON_OF_NAME, JSON_EMPTY_WRITTEN, offsetof(s, f), 0, function, NULL, NULL}
/* A text that `function` makes of the structure. */
#define JSON_MEMBER_TEXT(key, function) \
    {key, JSON_OF_TEXT, JSON_EMPTY_WRITTEN, 0, 0, NULL, NULL, function}
#define JSON_MEMBER_TEXT_OR_NULL(key, function) \
    {key, JSON_OF_TEXT, JSON_EMPTY_NULL, 0, 0, NULL, NULL, function}
#define JSON_MEMBER_STRINGS(s, key, f, n) \
    {key, JSON_OF_STRINGS, JSON_EMPTY_WRITTEN, offsetof(s, f), offsetof(s, n), NULL, NULL, NULL}
#define JSON_MEMBER_STRINGS_IF(s, key, f, n) \
    {key, JSON_OF_STRINGS, JSON_EMPTY_LEFT, offsetof(s, f), offsetof(s, n), NULL, NULL, NULL}
#define JSON_MEMBER_RECORDS(s, key, f, n, of) \
    {key, JSON_OF_RECORDS, JSON_EMPTY_WRITTEN, offsetof(s, f), offsetof(s, n), NULL, &(of), NULL}
#define JSON_MEMBER_RECORDS_IF(s, key, f, n, of) \
    {key, JSON_OF_RECORDS, JSON_EMPTY_LEFT, offsetof(s, f), offsetof(s, n), NULL, &(of), NULL}
/* The members of `of`, for the structure `f`, or for the one that it points to. */
#define JSON_MEMBERS_IN(s, f, of) \
    {NULL, JSON_OF_PART, JSON_EMPTY_WRITTEN, offsetof(s, f), 0, NULL, &(of), NULL}
#define JSON_MEMBERS_AT(s, f, of) \
    {NULL, JSON_OF_POINTED, JSON_EMPTY_WRITTEN, offsetof(s, f), 0, NULL, &(of), NULL}
#define JSON_RECORD(id, s) \
    static const struct json_record id##_record = { \
        id##_members, sizeof id##_members / sizeof *id##_members, sizeof(s)}
/* clang-format on */

/* The members of `value` into an object that is open. */
void json_put_members(struct json_writer *w, const struct json_record *r,
                      const void *value);
/* An array of them. */
void json_member_records(struct json_writer *w, const char *key,
                         const struct json_record *r, const void *items,
                         size_t count);

#endif

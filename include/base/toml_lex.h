#ifndef BASE_TOML_LEX_H
#define BASE_TOML_LEX_H

#include "base/str.h"

/* toml_lex: the statements of a TOML file, one after the other. Values are
 * only passed over, so they may be of any depth up to TOML_MAX_DEPTH. */

#define TOML_MAX_DEPTH 64
#define TOML_PART_END  "\x1f"
#define TOML_KEY_PARTS 2 /* maximum nesting depth */

enum toml_kind {
    TOML_TABLE, /* [a.b] */
    TOML_LIST,  /* [[a.b]] */
    TOML_PAIR,  /* a.b = … */
};

struct toml_statement {
    enum toml_kind kind;
    struct str key[TOML_KEY_PARTS]; /* decoded */
    size_t depth;                   /* parts there are */
    struct str path;                /* all of them, TOML_PART_END behind each */
    struct str value;               /* PAIR: as written, blanks behind it too */
    size_t start, end;              /* bytes: whole lines, comment included */
    unsigned line;
};

struct toml_lexer {
    struct str text;
    size_t at;
    unsigned line;
    struct arena *arena;
};

void toml_lex_init(struct toml_lexer *l, struct str text, struct arena *a);

/* `*more` false at the end. ERR_FORMAT "line L: …". */
MUST_CHECK bool toml_lex_next(struct toml_lexer *l, struct toml_statement *out,
                              bool *more, struct err *e);

/* The text of a value that is a string of one line; false for any other
 * value. In the lexer's arena, or borrowed. */
bool toml_value_text(const struct toml_lexer *l, struct str value,
                     struct str *out);

#endif

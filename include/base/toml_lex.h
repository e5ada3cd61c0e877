#ifndef BASE_TOML_LEX_H
#define BASE_TOML_LEX_H

#include "base/str.h"

/* toml_lex: splits a TOML file into its statements. Values are skipped without
 * interpretation; they may be nested up to TOML_MAX_DEPTH. */

#define TOML_MAX_DEPTH 64
#define TOML_PART_END  "\x1f"
#define TOML_KEY_PARTS 2 /* components of a key that are stored */

enum toml_kind {
    TOML_TABLE, /* [a.b] */
    TOML_LIST,  /* [[a.b]] */
    TOML_PAIR,  /* a.b = … */
};

struct toml_statement {
    enum toml_kind kind;
    struct str key[TOML_KEY_PARTS]; /* decoded */
    size_t depth;                   /* number of components */
    struct str path;                /* all components, TOML_PART_END behind
                                       each */
    struct str value;               /* PAIR: as written, with trailing blanks */
    size_t start, end;              /* offsets of its lines, with comments */
    unsigned line;
};

struct toml_lexer {
    struct str text;
    size_t at;
    unsigned line;
    struct arena *arena;
};

void toml_lex_init(struct toml_lexer *l, struct str text, struct arena *a);

/* Reads the next statement; sets `*more` to false at the end. Errors:
 * ERR_FORMAT "line L: …". */
MUST_CHECK bool toml_lex_next(struct toml_lexer *l, struct toml_statement *out,
                              bool *more, struct err *e);

/* Gets the text of a value that is a single-line string, borrowed or allocated
 * in the lexer's arena; returns false for any other value. */
bool toml_value_text(const struct toml_lexer *l, struct str value,
                     struct str *out);

#endif

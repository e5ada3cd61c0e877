#ifndef MANIFEST_DOCUMENT_H
#define MANIFEST_DOCUMENT_H

#include "base/text.h"
#include "mapm/diagnostics.h"
#include "mapm/document.h"

/*
 * What the readers of a document share.
 *
 *     manifest_read() -> frontmatter_split(), frontmatter_parse()
 *                     -> read_fields(), read_dependencies(), read_metaskill(),
 *                        read_body(), read_changelog()    AGENTS.md, SKILL.md
 *                     -> read_mcp()                       MCP files
 *
 * Each calls report() with a code. level.c has one table with the severity of
 * each code under each profile.
 */

struct reader {
    const struct manifest_input *in;
    struct arena *a;
    struct document *doc;
    struct diagnostics *why;
    struct str source;       /* the YAML that was parsed */
    const struct yaml *root; /* its mapping, or NULL */
    bool metaagents; /* scope, dependencies, or an agent (§5, X2, X3) */
    size_t errors, warnings; /* of `why`, before this document */
};

enum level { LEVEL_OFF, LEVEL_WARNING, LEVEL_ERROR };

enum level level_of(const struct reader *r, const char *code);

/* Adds what level_of() says; nothing when that is LEVEL_OFF. Of each kind a
 * document gets at most DIAGNOSTICS_MAX. */
#define DIAGNOSTICS_MAX 1000

void report(const struct reader *r, const char *code, const char *field,
            unsigned line, const char *format, ...) PRINTF(5, 6);
void report_at(const struct reader *r, enum level level, const char *code,
               const char *field, unsigned line, const char *format, ...)
    PRINTF(6, 7);

/* Text of a document inside a message: short, and safe to print. */
const char *quoted(const struct reader *r, struct str text);

/* --- frontmatter.c -------------------------------------------------------- */

struct split {
    struct str yaml, body;
    unsigned yaml_line, body_line;
    bool bom;
    const char *fault; /* a diagnostic's code; NULL: both parts are there */
};

enum split_rule {
    SPLIT_LINES,    /* lines of "---" and blanks (X10) */
    SPLIT_STARTS,   /* lines that start with "---", as Metis reads (T3) */
    SPLIT_ANYWHERE, /* the first two "---", as the reference validator (A3) */
};
void frontmatter_split(struct str text, enum split_rule rule,
                       struct split *out);

/* Parses `s` and reports faults; `r->root` stays NULL when that fails. */
bool frontmatter_parse(struct reader *r, const struct split *s);

/* One-line top-level values that are no YAML, quoted (A4). True when that
 * made the text parse. `lines` gets the numbers, in order. */
bool yaml_repair(struct str text, unsigned first_line, struct arena *a,
                 struct str *out, const struct yaml **root, unsigned **lines,
                 size_t *count);
struct yaml_options frontmatter_options(unsigned first_line);

unsigned text_line_of(struct str text, size_t offset); /* from 1 */

/* One line off `*rest`, ended by LF, CR LF or CR; false at the end. */
bool text_take_line(struct str *rest, struct str *line);

/* --- the rest ------------------------------------------------------------- */

void read_name(struct reader *r);
void read_fields(struct reader *r);
void read_dependencies(struct reader *r);
void read_metaskill(struct reader *r);
/* reference.c: files that the body names (A5). */
void check_references(struct reader *r, struct str body);
void read_body(struct reader *r, const struct split *s);
void read_changelog(struct reader *r);
void read_hidden(struct reader *r);
void read_mcp(struct reader *r);

/* Complains about hidden characters of `text`; true when it found some that
 * are more than zero width. `level` is for those. */
bool check_hidden(const struct reader *r, enum level level, const char *field,
                  unsigned line, struct str text);

/* Is it text for the readers of this profile? (X18; StrictYAML: always) */
bool is_text(const struct reader *r, const struct yaml *y);
/* Absent, or there without a value. */
bool is_null(const struct yaml *y);

/* As name_fault(), but for the length. */
const char *name_grammar_fault(struct str name);

#endif

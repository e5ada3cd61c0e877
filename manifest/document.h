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
    struct str source;       /* YAML text that was parsed */
    const struct yaml *root; /* top-level mapping, or NULL */
    bool metaagents; /* declares a scope or dependencies, or is an agent (§5,
                      * X2, X3) */
    size_t errors, warnings; /* counts in `why` before this document */
};

enum level { LEVEL_OFF, LEVEL_HINT, LEVEL_WARNING, LEVEL_ERROR };

enum level level_of(const struct reader *r, const char *code);

/* Adds a diagnostic with the severity of level_of(), or nothing for LEVEL_OFF.
 * At most DIAGNOSTICS_MAX errors and as many warnings are kept per document. */
#define DIAGNOSTICS_MAX 1000

void report(const struct reader *r, const char *code, const char *field,
            unsigned line, const char *format, ...) PRINTF(5, 6);
void report_at(const struct reader *r, enum level level, const char *code,
               const char *field, unsigned line, const char *format, ...)
    PRINTF(6, 7);

/* Returns text of a document for use in a message: truncated and safe to
 * print. */
const char *quoted(const struct reader *r, struct str text);

/* --- frontmatter.c -------------------------------------------------------- */

struct split {
    struct str yaml, body;
    unsigned yaml_line, body_line;
    bool bom;
    const char *fault; /* code of a diagnostic; NULL if both parts were found */
};

enum split_rule {
    SPLIT_LINES,    /* fences are lines of "---" and blanks (X10) */
    SPLIT_STARTS,   /* fences are lines that start with "---", as in Metis
                     * (T3) */
    SPLIT_ANYWHERE, /* fences are the first two "---" anywhere, as in the
                     * reference validator (A3) */
};
void frontmatter_split(struct str text, enum split_rule rule,
                       struct split *out);

/* Parses the frontmatter of `s` and reports faults. If it fails, `r->root`
 * remains NULL. */
bool frontmatter_parse(struct reader *r, const struct split *s);

/* Quotes top-level values of one line that are not valid YAML (A4). Returns
 * true if the text can be parsed afterwards. `lines` receives the numbers of
 * the changed lines, in order. */
bool yaml_repair(struct str text, unsigned first_line, struct arena *a,
                 struct str *out, const struct yaml **root, unsigned **lines,
                 size_t *count);
struct yaml_options frontmatter_options(unsigned first_line);

unsigned text_line_of(struct str text, size_t offset); /* counted from 1 */

/* Cuts one line off `*rest`, which ends with LF, CR LF or CR. Returns false at
 * the end. */
bool text_take_line(struct str *rest, struct str *line);

/* --- the rest ------------------------------------------------------------- */

void read_name(struct reader *r);
void read_fields(struct reader *r);
void read_dependencies(struct reader *r);
void read_metaskill(struct reader *r);
/* reference.c: checks the files that the body refers to (A5). */
void check_references(struct reader *r, struct str body);
void read_body(struct reader *r, const struct split *s);
void read_changelog(struct reader *r);
void read_hidden(struct reader *r);
void read_mcp(struct reader *r);

/* Reports hidden characters in `text`. Returns true if there are others than
 * zero width characters; `level` is the severity of those. */
bool check_hidden(const struct reader *r, enum level level, const char *field,
                  unsigned line, struct str text);

/* Returns true if readers of this profile take the value for text (X18); with
 * StrictYAML every scalar is text. */
bool is_text(const struct reader *r, const struct yaml *y);
/* Returns true if the field is absent or has no value. */
bool is_null(const struct yaml *y);

/* Like name_fault(), but does not check the length. */
const char *name_grammar_fault(struct str name);

#endif

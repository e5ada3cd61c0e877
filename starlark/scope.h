#ifndef STARLARK_SCOPE_H
#define STARLARK_SCOPE_H

#include "ast.h"

/*
 * scope: which variable a name means, and where that variable lives.
 *
 * Each name of a source has one entry, which knows what it means at the point
 * of the walk; a scope that is entered puts its variables on top, and takes
 * them off again. A variable of an outer function is copied into the functions
 * between by a stand-in in each of them.
 *
 * Whether closures may hold copies of a variable's value, or need a cell that
 * they share, is known when its function has been walked: copies will do when
 * it surely had its value when each closure was made, and got no other since.
 * "Since" is told by numbers that count assignments and closures in the order
 * of the source; a closure made in a loop counts as made where the outermost
 * loop begins, because all of the loop comes after it once more.
 */

struct sl_name {
    value name;
    struct sl_variable_info *means; /* NULL: nothing of this source */
    value predeclared;              /* 0: not */
    bool looked_up, hinted, unsure;
    uint32_t call; /* the last call that has it as a named argument */
};

enum sl_variable_kind { VARIABLE_LOCAL, VARIABLE_GLOBAL, VARIABLE_FREE };

struct sl_variable_info {
    struct sl_name *name;
    struct sl_variable_info *shadowed;   /* what the name means outside */
    struct sl_variable_info *next;       /* of the same scope */
    struct sl_variable_info *next_local; /* of the same function */
    struct sl_variable_info *origin; /* of a stand-in: the variable itself */
    struct sl_block_scope *scope;
    struct sl_walk *walk; /* its function */
    struct sl_node *uses; /* chained by their `a` */
    struct sl_node *param;
    struct sl_captured *captured;
    struct sl_pos pos;
    uint32_t index;
    uint32_t assigned; /* number of the last assignment */
    uint32_t closed;   /* of the first closure; 0: none */
    uint8_t kind;
    bool is_set; /* surely, at this point of the walk */
    bool maybe_unset, needs_cell;
};

struct sl_captured { /* in one function, of one variable */
    struct sl_captured *next;
    struct sl_function_info *fn;
    uint32_t index;
};

struct sl_block_scope {
    struct sl_block_scope *outer;
    struct sl_variable_info *variables;
};

/* A function that is being walked. */
struct sl_walk {
    struct sl_walk *outer; /* NULL: the file */
    struct sl_function_info *info;
    struct sl_block_scope *scope; /* its own, not of a comprehension in it */
    struct sl_variable_info *first, **last; /* local ones */
    struct sl_capture_list *captures, **captures_end;
    uint32_t count;      /* of assignments and closures */
    uint32_t loops;      /* for statements around */
    uint32_t repeats;    /* the same, and comprehensions */
    uint32_t loop_began; /* the outermost one's number */
    uint32_t branches;   /* if statements around */
    bool dead;           /* what follows is never reached */
};

struct sl_capture_list {
    struct sl_capture_list *next;
    struct sl_capture c;
};

struct sl_variables { /* a growing array */
    struct sl_variable_info **p;
    size_t count, capacity;
};

struct sl_resolver {
    struct star *s;
    struct sl_arena *arena;
    struct sl_file *file;
    value universe;         /* a dict: what is predeclared */
    struct sl_name **names; /* open addressing; NULL: a free place */
    uint32_t name_count, name_mask;
    struct sl_block_scope *scope;
    struct sl_walk *walk;
    struct sl_variables globals;
    struct sl_variables set;     /* in the order they became is_set */
    struct sl_variables pending; /* set in the branches of an `if` so far */
    uint32_t calls, uses, searches;
    bool failed; /* a limit was reached */
    bool broken; /* in a statement that is wrong where it is */
    struct sl_variable_info spare_variable;
    struct sl_name spare_name;
};

bool sl_scope_open(struct sl_resolver *r);
/* Zeroed; NULL when memory ended. */
void *sl_scope_alloc(struct sl_resolver *r, size_t size);

struct sl_name *sl_scope_name(struct sl_resolver *r, value name);

void sl_scope_enter(struct sl_resolver *r, struct sl_block_scope *scope);
void sl_scope_leave(struct sl_resolver *r);
void sl_walk_enter(struct sl_resolver *r, struct sl_walk *walk,
                   struct sl_function_info *info, struct sl_block_scope *scope);
/* Decides where its variables live. */
void sl_walk_leave(struct sl_resolver *r);

/* A new variable of the innermost scope, or the one that it has. */
struct sl_variable_info *sl_declare(struct sl_resolver *r, value text,
                                    struct sl_pos pos, bool *is_new);
struct sl_variable_info *sl_declare_global(struct sl_resolver *r, value text,
                                           struct sl_pos pos);

/* `n` is an N_NAME that is read; an error when it means nothing. */
void sl_resolve_read(struct sl_resolver *r, struct sl_node *n);
/* It is assigned to: it was declared. */
void sl_resolve_write(struct sl_resolver *r, struct sl_node *n);

/* --- what is surely set ------------------------------------------------------------ */

void sl_mark_set(struct sl_resolver *r, struct sl_variable_info *v);
/* Forgets what became set since there were `count`. */
void sl_unset(struct sl_resolver *r, size_t count);
void sl_variables_add(struct sl_resolver *r, struct sl_variables *list,
                      struct sl_variable_info *v);

#endif

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
 * "Since" is decided by numbers that count assignments and closures in the order
 * of the source; a closure made in a loop counts as made where the outermost
 * loop begins, because all of the loop comes after it once more.
 */

struct sl_name {
    value name;
    struct sl_variable_info *means; /* current meaning; NULL if no variable
                                     * of this source */
    value predeclared;              /* predeclared value, or 0 */
    bool looked_up, hinted, unsure;
    uint32_t call; /* the last call with a named argument of this name */
};

enum sl_variable_kind { VARIABLE_LOCAL, VARIABLE_GLOBAL, VARIABLE_FREE };

struct sl_variable_info {
    struct sl_name *name;
    struct sl_variable_info *shadowed; /* meaning of the name in the outer
                                        * scope */
    struct sl_variable_info *next;     /* next variable of the same scope */
    struct sl_variable_info *next_in;  /* next variable of the same kind and
                                        * function */
    struct sl_variable_info *origin;   /* for a stand-in, the variable itself */
    struct sl_variable_info *from;     /* for a stand-in, the variable it
                                        * copies */
    struct sl_variable_info
        *stands; /* list of stand-ins that copy this variable */
    struct sl_block_scope *scope;
    struct sl_walk *walk; /* its function while that is being walked */
    struct sl_function_info *fn;
    struct sl_node *uses; /* list of uses, chained by `a` */
    struct sl_node *param;
    struct sl_pos pos;
    uint32_t index;
    uint32_t assigned; /* number of the last assignment */
    uint32_t closed;   /* number of the first closure; 0 if none */
    uint8_t kind;
    bool is_set; /* surely has a value at this point of the walk */
    bool maybe_unset, needs_cell;
};

struct sl_block_scope {
    struct sl_block_scope *outer;
    struct sl_variable_info *variables;
};

/* A function that is being walked. */
struct sl_walk {
    struct sl_walk *outer; /* enclosing function; NULL for the file */
    struct sl_function_info *info;
    struct sl_block_scope scope; /* its own variables, without those of
                                  * comprehensions */
    struct sl_variable_info *locals, **locals_end;
    struct sl_variable_info *captures, **captures_end;
    uint32_t count;      /* number of assignments and closures so far */
    uint32_t loops;      /* nesting of for statements */
    uint32_t repeats;    /* nesting of for statements and comprehensions */
    uint32_t loop_began; /* `count` at the start of the outermost loop */
    uint32_t branches;   /* nesting of if statements */
    bool dead;           /* the following statements are unreachable */
};

struct sl_variables { /* A growing array. */
    struct sl_variable_info **p;
    size_t count, capacity;
};

struct sl_resolver {
    struct star *s;
    struct sl_arena *arena;
    struct sl_file *file;
    value universe;         /* dict of predeclared names */
    struct sl_name **names; /* hash table, open addressing; NULL for an empty
                             * slot */
    uint32_t name_count, name_mask;
    struct sl_block_scope *scope;
    struct sl_walk *walk;
    struct sl_variables globals;
    struct sl_variables set;     /* variables in the order in which is_set
                                  * became true */
    struct sl_variables pending; /* variables set in the branches of an `if`
                                  * so far */
    uint32_t calls, uses, searches;
    bool failed; /* a limit was reached */
    bool broken; /* inside a statement that is an error at its position */
    struct sl_variable_info spare_variable;
    struct sl_name spare_name;
};

/* Returns zeroed memory, or NULL if memory is exhausted. */
void *sl_scope_alloc(struct sl_resolver *r, size_t size);
/* Makes room for more names; also called before the first. */
bool sl_scope_grow(struct sl_resolver *r);
struct sl_name *sl_scope_name(struct sl_resolver *r, value name);
void sl_variables_add(struct sl_resolver *r, struct sl_variables *list,
                      struct sl_variable_info *v);

void sl_scope_enter(struct sl_resolver *r, struct sl_block_scope *scope);
void sl_scope_leave(struct sl_resolver *r);
void sl_walk_enter(struct sl_resolver *r, struct sl_walk *walk,
                   struct sl_function_info *info);
/* Decides where the function's variables are stored. */
void sl_walk_leave(struct sl_resolver *r);

/* Returns the variable that the name has in the innermost scope, or NULL. */
struct sl_variable_info *sl_declared(struct sl_resolver *r, value name);
/* Declares a variable in the innermost scope. */
struct sl_variable_info *sl_declare(struct sl_resolver *r, value name,
                                    struct sl_pos pos,
                                    enum sl_variable_kind kind);

/* `n` is an N_NAME that is read; reports an undefined name. */
void sl_resolve_read(struct sl_resolver *r, struct sl_node *n);
/* `n` is an N_NAME that is assigned to, and declared. */
void sl_resolve_write(struct sl_resolver *r, struct sl_node *n);

/* Records that `v` surely has a value from here on. */
void sl_mark_set(struct sl_resolver *r, struct sl_variable_info *v);
/* Resets is_set of all variables after the first `count`. */
void sl_unset(struct sl_resolver *r, size_t count);

#endif

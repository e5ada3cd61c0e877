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
    struct sl_variable_info *means; /* NULL: nothing of this source */
    value predeclared;              /* 0: not */
    bool looked_up, hinted, unsure;
    uint32_t call; /* the last call that has it as a named argument */
};

enum sl_variable_kind { VARIABLE_LOCAL, VARIABLE_GLOBAL, VARIABLE_FREE };

struct sl_variable_info {
    struct sl_name *name;
    struct sl_variable_info *shadowed; /* what the name means outside */
    struct sl_variable_info *next;     /* of the same scope */
    struct sl_variable_info *next_in;  /* of the same kind and function */
    struct sl_variable_info *origin;   /* of a stand-in: the variable itself */
    struct sl_variable_info *from;     /* of a stand-in: the copied one */
    struct sl_variable_info
        *stands; /* a stand-in for it, chained by the same */
    struct sl_block_scope *scope;
    struct sl_walk *walk; /* its function, while that is walked */
    struct sl_function_info *fn;
    struct sl_node *uses; /* chained by their `a` */
    struct sl_node *param;
    struct sl_pos pos;
    uint32_t index;
    uint32_t assigned; /* number of the last assignment */
    uint32_t closed;   /* of the first closure; 0: none */
    uint8_t kind;
    bool is_set; /* surely, at this point of the walk */
    bool maybe_unset, needs_cell;
};

struct sl_block_scope {
    struct sl_block_scope *outer;
    struct sl_variable_info *variables;
};

/* A function that is being walked. */
struct sl_walk {
    struct sl_walk *outer; /* NULL: the file */
    struct sl_function_info *info;
    struct sl_block_scope scope; /* its own, not of a comprehension in it */
    struct sl_variable_info *locals, **locals_end;
    struct sl_variable_info *captures, **captures_end;
    uint32_t count;      /* of assignments and closures */
    uint32_t loops;      /* for statements around */
    uint32_t repeats;    /* the same, and comprehensions */
    uint32_t loop_began; /* the outermost one's number */
    uint32_t branches;   /* if statements around */
    bool dead;           /* the statements behind are never reached */
};

struct sl_variables { /* a growing array */
    struct sl_variable_info **p;
    size_t count, capacity;
};

struct sl_resolver {
    struct star *s;
    struct sl_arena *arena;
    struct sl_file *file;
    value universe;         /* a dict: predeclared names */
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

/* Zeroed; NULL when memory ended. */
void *sl_scope_alloc(struct sl_resolver *r, size_t size);
/* Makes room for more names; once before the first. */
bool sl_scope_grow(struct sl_resolver *r);
struct sl_name *sl_scope_name(struct sl_resolver *r, value name);
void sl_variables_add(struct sl_resolver *r, struct sl_variables *list,
                      struct sl_variable_info *v);

void sl_scope_enter(struct sl_resolver *r, struct sl_block_scope *scope);
void sl_scope_leave(struct sl_resolver *r);
void sl_walk_enter(struct sl_resolver *r, struct sl_walk *walk,
                   struct sl_function_info *info);
/* Decides where its variables live. */
void sl_walk_leave(struct sl_resolver *r);

/* What the name means if that is of the innermost scope, or NULL. */
struct sl_variable_info *sl_declared(struct sl_resolver *r, value name);
/* A new variable of the innermost scope. */
struct sl_variable_info *sl_declare(struct sl_resolver *r, value name,
                                    struct sl_pos pos,
                                    enum sl_variable_kind kind);

/* `n` is an N_NAME that is read; an error when it means nothing. */
void sl_resolve_read(struct sl_resolver *r, struct sl_node *n);
/* It is assigned to: it was declared. */
void sl_resolve_write(struct sl_resolver *r, struct sl_node *n);

/* It surely has a value from here on. */
void sl_mark_set(struct sl_resolver *r, struct sl_variable_info *v);
/* Forgets what became set since there were `count`. */
void sl_unset(struct sl_resolver *r, size_t count);

#endif

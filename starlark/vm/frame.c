#include "vm.h"

/* Frames and the segments of the value stack. */

/* Creates the frame after `last`; NULL for the outermost. */
static struct sl_frame *next_frame(struct star *s, struct sl_frame *last)
{
    struct sl_frame **at = last ? &last->next : &s->frames;

    if (!*at) {
        struct sl_frame *f = sl_storage(s, sizeof *f);
        if (!f)
            return NULL;
        *f = (struct sl_frame){.prev = last,
                               .depth = last ? last->depth + 1 : 1};
        *at = f;
    }
    return *at;
}

/* Returns the segment after the current one, with room for `count` values. */
static struct sl_segment *next_segment(struct star *s, size_t count)
{
    struct sl_segment *last = s->frame ? s->stack : NULL;
    struct sl_segment *next = last ? last->next : s->stack;
    size_t usual = s->stack ? SL_SEGMENT_VALUES : SL_FIRST_SEGMENT_VALUES;
    size_t room = count > usual ? count : usual;

    if (next && (size_t)(next->end - next->values) >= count)
        return next;
    size_t size = sizeof *next + room * sizeof(value);
    struct sl_segment *made = sl_storage(s, size);
    if (!made)
        return NULL;
    memset(made, 0, size);
    made->end = made->values + room;
    made->prev = last;
    made->next = next;
    if (next)
        next->prev = made;
    if (last)
        last->next = made;
    return made;
}

struct sl_frame *sl_push(struct star *s, struct sl_function *f, value *window,
                         const value *args, uint32_t count)
{
    struct sl_code *code = f->code;
    size_t need = code->register_count;
    struct sl_frame *frame = next_frame(s, s->frame);

    if (!frame)
        return NULL;
    if (frame->depth > s->limits.call_depth) {
        sl_fail_as(s, STAR_ERROR_DEPTH, "calls are nested more than %u deep",
                   s->limits.call_depth);
        return NULL;
    }
    /* The registers above the temporaries of a caller with that many locals are
     * far locals. */
    if (window && s->frame && s->frame->code->register_count > 0x10000)
        window = s->frame->top;
    frame->segment = !window || need > (size_t)(s->stack->end - window);
    if (frame->segment) {
        struct sl_segment *segment = next_segment(s, need);
        if (!segment)
            return NULL;
        s->stack = segment;
        window = segment->values;
    }
    if (count && window != args)
        memmove(window, args, count * sizeof *args);
    frame->code = code;
    frame->function = f;
    frame->pc = code->instructions;
    frame->base = window;
    frame->top = window + need;
    frame->entry = false;
    code->active = true;
    s->frame = frame;
    return frame;
}

/* --- leaving ------------------------------------------------------------------- */

void sl_report_frame(struct star *s, const struct sl_code *code, uint32_t pc,
                     const struct sl_pos *place)
{
    char name[200];
    const struct sl_string *text = sl_string(code->name);
    size_t length = text->length < sizeof name ? text->length : sizeof name - 1;

    memcpy(name, text->p, length);
    name[length] = '\0';
    sl_error_frame(s, &code->program->source, name,
                   place ? *place : sl_code_place(code, pc));
}

void sl_leave_failed(struct star *s, uint32_t pc, const struct sl_pos *place)
{
    struct sl_frame *f = s->frame;
    const struct sl_code *code = f->code;

    for (uint32_t i = 0; i < code->loop_count; i++) {
        const struct sl_loop *l = &code->loops[i];
        if (l->begin <= pc && pc < l->end && f->base[l->reg])
            sl_unlock(f->base[l->reg]);
    }
    sl_report_frame(s, code, pc, place);
    sl_pop(s, f);
}

/* --- what the collector asks ------------------------------------------------------ */

static void clear(value *from, const struct sl_segment *segment)
{
    memset(from, 0, (size_t)(segment->end - from) * sizeof *from);
}

/* Marks all windows and zeroes the words above them in each segment. A caller's
 * window may extend above its callee's. */
static void mark_stack(struct star *s, void (*mark)(struct star *s, value v))
{
    struct sl_segment *segment = s->stack;
    value *end = NULL;

    for (const struct sl_frame *f = s->frame; f; f = f->prev) {
        mark(s, sl_value(f->function));
        for (const value *v = f->base; v < f->top; v++)
            if (sl_is_object(*v))
                mark(s, *v);
        if (!end || f->top > end)
            end = f->top;
        if (f->segment) {
            clear(end, segment);
            segment = segment->prev;
            end = NULL;
        }
    }
    segment = s->frame ? s->stack->next : s->stack;
    for (; segment; segment = segment->next)
        clear(segment->values, segment);
}

void sl_vm_mark_roots(struct star *s, void (*mark)(struct star *s, value v))
{
    /* Reset before marking, which sets it. */
    for (struct star_program *p = s->programs; p; p = p->next)
        p->used = false;
    mark_stack(s, mark);
    for (const struct star_module *m = s->modules; m; m = m->next)
        mark(s, sl_value(m->globals));
    if (s->interactive_globals)
        mark(s, sl_value(s->interactive_globals));
    for (const struct star_program *p = s->programs; p; p = p->next)
        if (p->top)
            mark(s, sl_value(p->top));
}

void sl_stack_close(struct star *s)
{
    while (s->frames) {
        struct sl_frame *f = s->frames;
        s->frames = f->next;
        sl_storage_free(s, f, sizeof *f);
    }
    while (s->stack) {
        struct sl_segment *g = s->stack;
        s->stack = g->next;
        sl_storage_free(
            s, g, sizeof *g + (size_t)(g->end - g->values) * sizeof(value));
    }
}

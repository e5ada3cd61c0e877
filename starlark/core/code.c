#include "code.h"

#include "ops.h"

#define OP(name, a, b, c, text) {#name, #a #b #c, text},
const struct sl_opcode_info sl_opcodes[SL_OPCODE_COUNT] = {SL_OPCODES(OP)};
#undef OP

struct sl_pos sl_code_place(const struct sl_code *code, uint32_t pc)
{
    uint32_t low = 0, high = code->place_count; /* invariant: the first place
                                                 * behind pc is in [low,
                                                 * high] */

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (code->places[middle].pc <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? code->places[low - 1].pos : code->pos;
}

/* clang-format off */
const char *sl_operator_text(enum sl_operator op)
{
    static const char *const texts[] = { /* indexed by enum sl_operator */
        "+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>",
        "==", "!=", "<", "<=", ">", ">=", "in", "not in", "-", "+", "~", "not"};

    return texts[op];
}
/* clang-format on */

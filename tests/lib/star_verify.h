#ifndef TESTS_STAR_VERIFY_H
#define TESTS_STAR_VERIFY_H

#include "core/code.h"

/*
 * Whether the VM can execute `code`, and all code among its constants, without
 * harm: operands in range, jumps to instructions, every register written before
 * it is read. On failure `why` names the rule and the instruction. Charges
 * memory, but no steps.
 */
bool sl_verify(struct star *s, const struct sl_code *code,
               char why[static 100]);

#endif

#ifndef BASE_CONFINE_CALLS_H
#define BASE_CONFINE_CALLS_H

#include "base/confine.h"

/* The seccomp part of confine. Sets `*raised` to false if the kernel
 * does not support it. */
MUST_CHECK bool confine_calls(enum confine_calls calls, bool network,
                              bool *raised, struct err *e);

#endif

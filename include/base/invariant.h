#ifndef BASE_INVARIANT_H
#define BASE_INVARIANT_H

#include <assert.h>

/*
 * INVARIANT: what a module guarantees itself, whatever the input was: checked
 * in builds with AddressSanitizer (make san), no code in others. Conditions may
 * cost as much as the structure is large, and have no side effects. Never a
 * property of input: that is an error, with a message.
 *
 * Source: STYLE.md 6.
 */

#if defined(__SANITIZE_ADDRESS__)
#    define INVARIANTS 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#        define INVARIANTS 1
#    endif
#endif
#ifndef INVARIANTS
#    define INVARIANTS 0
#endif

#define INVARIANT(condition)                                                   \
    do {                                                                       \
        if (INVARIANTS)                                                        \
            assert(condition);                                                 \
    } while (0)

#endif

#ifndef BASE_INVARIANT_H
#define BASE_INVARIANT_H

#include <assert.h>

/*
 * INVARIANT: an assertion about the module's own data, which must hold for any
 * input. It is checked in builds with AddressSanitizer (make san) and compiles
 * to nothing otherwise. Conditions may take time linear in the size of the
 * structure and have no side effects. Never use it for a property of input:
 * that is an error with a message.
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

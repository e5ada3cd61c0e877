#ifndef BASE_EMBED_H
#define BASE_EMBED_H

/* embed: includes a file of the source tree as a string constant of the
 * program, with a NUL behind it. `path` is relative to the top of the tree,
 * where the compiler runs; the Makefile lists which object embeds which
 * file. EMBED_TWO includes one file after another. */
#define EMBED(name, path)                                                      \
    extern const char name[];                                                  \
    __asm__(".pushsection .rodata\n\t.globl " #name "\n" #name ":\n\t"         \
            ".incbin \"" path "\"\n\t.byte 0\n\t.popsection")
#define EMBED_TWO(name, path, next) EMBED(name, path "\"\n\t.incbin \"" next)

#endif

#ifndef BASE_EMBED_H
#define BASE_EMBED_H

/*
 * embed: a file of the source tree as a text of the program, with a NUL behind
 * it. The path starts at the top of the tree, where the compiler runs; the
 * Makefile says which object is made of which file.
 */
#define EMBED(name, path)                                                      \
    extern const char name[];                                                  \
    __asm__(".pushsection .rodata\n\t.globl " #name "\n" #name ":\n\t"         \
            ".incbin \"" path "\"\n\t.byte 0\n\t.popsection")

#endif

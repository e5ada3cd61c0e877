#ifndef MAPM_LIBMAPM_ENGINE_H
#define MAPM_LIBMAPM_ENGINE_H

/* libmapm_engine_main: the program `mapm-engine`, which performs one operation
 * for libmapm over the sockets that it inherits; returns its exit code. */
int libmapm_engine_main(void);

#endif

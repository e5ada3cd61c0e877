#ifndef MAPM_LIBMAPM_ENGINE_H
#define MAPM_LIBMAPM_ENGINE_H

/* libmapm_engine_main: the program `mapm-engine`: one operation for libmapm,
 * on the sockets that it inherits; the exit code. */
int libmapm_engine_main(void);

#endif

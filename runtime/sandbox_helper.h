#ifndef RUNTIME_SANDBOX_HELPER_H
#define RUNTIME_SANDBOX_HELPER_H

/*
 * sandbox_helper: arguments and handshake of mapm-cage, which restricts itself
 * and then executes the command:
 *
 *     mapm-cage OPTION… -- PATH ARGV0 [ARG]…
 *
 *     -r PATH  may be read     -x PATH  may be read and executed
 *     -w PATH  may be written
 *     -n       the network may be used
 *     -a       without bubblewrap: fail unless Landlock and seccomp work
 *     -o       no isolation, resource limits only
 *     -p N     at most N processes
 *
 * Before the first byte of the command it writes to stdout HELPER_READY, or
 * HELPER_FAILED and the reason. Without a path after "--" it starts nothing.
 */

#define HELPER_PROGRAM "mapm-cage"
#define HELPER_READY   "\0mapm-cage: go\n"
#define HELPER_FAILED  "\0mapm-cage: "
#define HELPER_EXIT    127

/* Minimum Landlock ABI without bubblewrap: 3 covers truncate. */
#define HELPER_ALONE_ABI 3

#define HELPER_MAX_FILE_BYTES                                                  \
    (UINT64_C(1) << 30) /* maximum size of a file that a command writes */

#endif

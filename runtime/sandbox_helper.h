#ifndef RUNTIME_CAGE_H
#define RUNTIME_CAGE_H

/*
 * cage: what mapm and mapm-cage say to each other. mapm-cage raises the inner
 * walls around itself and becomes the command:
 *
 *     mapm-cage OPTION… -- PATH ARGV0 [ARG]…
 *
 *     -r PATH  may be read     -x PATH  may be read and executed
 *     -w PATH  may be written
 *     -n       the network may be used
 *     -a       it stands alone: without Landlock and seccomp it starts nothing
 *     -o       no walls at all, limits only
 *     -p N     at most N processes
 *
 * On stdout it says CAGE_READY before the first byte of the command, or
 * CAGE_FAILED and why. No path after "--": it only says whether it could.
 */

#define CAGE_PROGRAM "mapm-cage"
#define CAGE_READY   "\0mapm-cage: go\n"
#define CAGE_FAILED  "\0mapm-cage: "
#define CAGE_EXIT    127

/* The least Landlock that is a wall by itself: ABI 3 watches truncate. */
#define CAGE_ALONE_ABI 3

#define CAGE_MAX_FILE_BYTES (UINT64_C(1) << 30) /* one file of a command */

#endif
